"""Named operating conditions, ranges and cost matrices from a TOML file, with errors that name the line."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from costcurves._base.errors import CostCurvesError, FormatError, InputError
from costcurves._base.results import Result, jsonable
from costcurves._base.validation import check_name, check_number, check_path, check_positive, is_among, shown
from costcurves.conditions.condition import OperatingCondition
from costcurves.conditions.cost_matrix import CostMatrix
from costcurves.conditions.range import OperatingRange

Keys = tuple[str, ...]
_PARTS = ("prevalence", "cost_fp", "cost_fn")
_TOP = ("currency", "positive", "cases_per_year", "baseline", "baseline_threshold", "scenarios", "matrices")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scenarios(Result):
    """Named conditions and ranges, cost matrices, and the currency that all of them are in.

    Attributes
    ----------
    scenarios : mapping of name to OperatingCondition or OperatingRange
        A scenario is a range if its prevalence or any of its costs is one.
    matrices : mapping of name to CostMatrix
        Labels are strings.
    currency : str
        The unit of all costs; empty if the file does not name it.
    positive : str, int, float, bool or None
        The label of the positive class, if the file names it. A miss, which costs `cost_fn`, is a case of this class.
    cases_per_year : float or None
        The number of cases per year, with which a report states costs and savings per year.
    baseline : str or None
        The classifier used today, or ``"always negative"`` or ``"always positive"``.
    baseline_threshold : float or None
        The threshold at which the baseline is used today.

    Examples
    --------
    >>> import costcurves as cc
    >>> known = cc.read_scenarios(cc.example_path("german_credit_costs.toml"))
    >>> known
    Scenarios(2 scenarios: 'documented', 'uncertain'; positive 'bad')
    >>> known.scenario("documented")
    OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5: pc=0.682, slope=0.467)
    """

    scenarios: Mapping[str, OperatingCondition | OperatingRange]
    matrices: Mapping[str, CostMatrix]
    currency: str = ""
    positive: Any = None
    cases_per_year: float | None = None
    baseline: str | None = None
    baseline_threshold: float | None = None

    def __post_init__(self) -> None:
        """Set the mappings read-only."""
        object.__setattr__(self, "scenarios", MappingProxyType(dict(self.scenarios)))
        object.__setattr__(self, "matrices", MappingProxyType(dict(self.matrices)))

    def scenario(self, name: str) -> OperatingCondition | OperatingRange:
        """Return one scenario by its name."""
        return self.scenarios[_named("scenario", name, self.scenarios)]

    def matrix(self, name: str) -> CostMatrix:
        """Return one cost matrix by its name."""
        return self.matrices[_named("matrix", name, self.matrices)]

    def _columns(self) -> dict[str, Any]:
        rows = []
        for name, where in self.scenarios.items():
            bounds = [
                value if isinstance(value, tuple) else (value, value)
                for value in (getattr(where, part) for part in (*_PARTS, "pc"))
            ]
            rows.append((name, *(end for pair in bounds for end in pair)))
        heads = ("scenario", *(f"{part}_{end}" for part in (*_PARTS, "pc") for end in ("low", "high")))
        return {head: [row[k] for row in rows] for k, head in enumerate(heads)}

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the file as plain Python values."""
        return {
            "currency": self.currency,
            "positive": self.positive,
            "cases_per_year": self.cases_per_year,
            "baseline": self.baseline,
            "baseline_threshold": self.baseline_threshold,
            "scenarios": jsonable(dict(self.scenarios)),
            "matrices": jsonable(dict(self.matrices)),
        }

    def __repr__(self) -> str:
        parts = []
        counted = ((("scenario", "scenarios"), self.scenarios), (("matrix", "matrices"), self.matrices))
        for words, names in counted:
            if names:
                word = words[len(names) > 1]
                some = ", ".join(map(repr, list(names)[:4])) + (", …" if len(names) > 4 else "")
                parts.append(f"{len(names)} {word}: {some}")
        if self.positive is not None:
            parts.append(f"positive {self.positive!r}")
        if self.currency:
            parts.append(f"in {self.currency}")
        if self.cases_per_year is not None:
            parts.append(f"{self.cases_per_year:,.6g} cases per year")
        if self.baseline is not None:
            parts.append(f"today {self.baseline!r}")
        return f"Scenarios({'; '.join(parts)})"


def in_use(known: Any, baseline: str | None, threshold: float | None) -> tuple[str | None, float | None]:
    """Return the baseline and its threshold: those that are given, or else those of the scenario file."""
    if threshold is None and baseline in (None, known.baseline):
        threshold = known.baseline_threshold
    return known.baseline if baseline is None else baseline, threshold


def _named(what: str, name: str, known: Mapping[str, Any]) -> str:
    if is_among(name, known):
        return name
    plural = {"scenario": "scenarios", "matrix": "matrices"}[what]
    raise InputError(
        f"`{what}` must be one of the {plural} {', '.join(map(repr, known)) or '(there are none)'}, got {shown(name)}"
    )


def read_scenarios(path: str | os.PathLike[str]) -> Scenarios:
    """Return the scenarios, cost matrices and currency of a TOML file.

    Parameters
    ----------
    path : path
        A file such as ::

            currency = "EUR"
            positive = "fraud"          # optional: the label that cost_fn is about
            cases_per_year = 250000     # optional: to state costs and savings per year
            baseline = "tree"           # optional: the classifier used today,
            baseline_threshold = 0.5    # and its threshold

            [scenarios.today]
            prevalence = 0.01
            cost_fn = 500               # a miss
            cost_fp = 10                # a false alarm

            [scenarios.next-year]
            prevalence = [0.005, 0.02]  # known only as a range
            cost_fn = [300, 900]
            cost_fp = 10

            [matrices.triage]           # true class = { predicted class = cost }
            benign = { watch = 1, urgent = 20 }
            watch  = { benign = 1, urgent = 5 }
            urgent = { benign = 50, watch = 10 }

        A correct decision costs nothing unless the matrix lists a cost for it.

    Returns
    -------
    Scenarios

    Raises
    ------
    FormatError
        If the file is not TOML, or a value breaks its rule; the message has the line:
        ``costs.toml:7: scenario 'rush': `prevalence` must be in (0, 1), got 1.4: 1.4 % is 0.014``.

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.read_scenarios(cc.example_path("vehicle_costs.toml")).matrix("toll").cost("van", "bus")
    10.0
    """
    file = Path(check_path(path))
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = file.read_bytes()[: error.start].count(b"\n") + 1
        raise FormatError(f"{file.name}:{line}: must be UTF-8 text") from None
    return _Reader(file.name, text.removeprefix("\ufeff")).scenarios()


class _Reader:
    """A parsed file, and the line of each of its keys."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        try:
            self.content = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            at_end = max(1, text.rstrip("\n").count("\n") + 1)
            found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
            reason = str(error).split(" (at ")[0]
            column = f", column {found[2]}" if found else ""
            raise FormatError(f"{name}:{found[1] if found else at_end}: not TOML{column}: {reason}") from None
        self.lines = dict(_key_lines(text))

    def fail(self, path: Keys, message: str) -> NoReturn:
        """Raise an error with the line of a key, or of the nearest table that exists."""
        while path and path not in self.lines:
            path = path[:-1]
        raise FormatError(f"{self.name}:{self.lines.get(path, 1)}: {message}")

    def scenarios(self) -> Scenarios:
        """Return the checked content."""
        for key in self.content:
            if key not in _TOP:
                self.unknown((key,), "", key, _TOP)
        currency, positive = self.content.get("currency", ""), self.content.get("positive")
        if not isinstance(currency, str) or not currency.isprintable() or len(currency) > 12:
            self.fail(("currency",), f'`currency` must be a short text such as "EUR", got {shown(currency)}')
        if positive is not None and not isinstance(positive, (str, int, float, bool)):
            self.fail(("positive",), f"`positive` must be one label, got {shown(positive)}")
        today = self.today()
        conditions = {name: self.condition(name, table) for name, table in self.tables("scenarios")}
        matrices = {name: self.matrix(name, table) for name, table in self.tables("matrices")}
        if not conditions and not matrices:
            raise FormatError(f"{self.name}:1: must have a [scenarios.NAME] or a [matrices.NAME], got neither")
        return Scenarios(conditions, matrices, currency, positive, **today)

    def today(self) -> dict[str, Any]:
        """Return the cases per year, and the baseline with its threshold."""
        checks: dict[str, Callable[[Any], Any]] = {
            "cases_per_year": partial(check_positive, "cases_per_year"),
            "baseline": partial(check_name, "baseline"),
            "baseline_threshold": partial(check_number, "baseline_threshold"),
        }
        found = {}
        for key, check in checks.items():
            if key in self.content:
                try:
                    found[key] = check(self.content[key])
                except InputError as error:
                    self.fail((key,), str(error))
        if "baseline_threshold" in found and "baseline" not in found:
            self.fail(
                ("baseline_threshold",), "`baseline_threshold` needs `baseline`, the classifier that is used at it"
            )
        return found

    def tables(self, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the named tables of one kind."""
        group = self.content.get(kind, {})
        if not isinstance(group, dict):
            self.fail((kind,), f"`{kind}` must be tables such as [{kind}.today], got {shown(group)}")
        for name, table in group.items():
            if not isinstance(table, dict):
                self.fail((kind, name), f"`{kind}` must be tables such as [{kind}.today], got {name} = {shown(table)}")
            yield name, table

    def unknown(self, path: Keys, where: str, key: str, known: Sequence[str]) -> NoReturn:
        """Refuse a key, and suggest the one that was probably meant."""
        near = difflib.get_close_matches(key, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
        self.fail(path, f"{where}unknown key {key!r}; {hint}")

    def condition(self, name: str, table: dict[str, Any]) -> OperatingCondition | OperatingRange:
        """Return one scenario."""
        path, where = ("scenarios", name), f"scenario {name!r}: "
        for key in table:
            if key not in _PARTS:
                self.unknown((*path, key), where, key, _PARTS)
        if missing := [part for part in _PARTS if part not in table]:
            self.fail(path, f"{where}`{missing[0]}` must be given, a number or a range [low, high]")
        kind = OperatingRange if any(isinstance(value, list) for value in table.values()) else OperatingCondition
        try:
            return kind(**table)
        except InputError as error:
            part = re.match(r"`(\w+)`", str(error))
            self.fail((*path, part[1]) if part else path, f"{where}{error}")

    def matrix(self, name: str, table: dict[str, Any]) -> CostMatrix:
        """Return one cost matrix; a row leaves out at most its own class."""
        path, where = ("matrices", name), f"matrix {name!r}: "
        labels = list(table)
        values = []
        for true, row in table.items():
            if not isinstance(row, dict):
                self.fail((*path, true), f"{where}row {true!r} must be {{ predicted class = cost }}, got {shown(row)}")
            for predicted in row:
                if predicted not in table:
                    self.unknown((*path, true, predicted), f"{where}row {true!r}: ", predicted, labels)
            if lacking := [label for label in labels if label not in row and label != true]:
                self.fail((*path, true), f"{where}row {true!r} must have a cost for {lacking[0]!r}")
            for predicted, cost in row.items():
                if isinstance(cost, bool) or not isinstance(cost, (int, float)):
                    self.fail(
                        (*path, true, predicted),
                        f"{where}cost of {true!r} predicted {predicted!r} must be a number, got {shown(cost)}",
                    )
            values.append([row.get(label, 0) for label in labels])
        try:
            return CostMatrix(values, labels)
        except CostCurvesError as error:
            found = re.search(r"for true '(.*)', predicted '(.*)'$", str(error))
            self.fail((*path, *(found.groups() if found else ())), f"{where}{error}")


def _key_lines(text: str) -> Iterator[tuple[Keys, int]]:
    """Yield every key of a valid TOML text with the line on which its statement begins.

    tomllib does not report line numbers. Lines are added one by one until tomllib accepts them as a statement, so
    whatever quoting and nesting TOML allows is read as TOML reads it.
    """
    table: Keys = ()
    chunk, start = "", 1
    for number, line in enumerate(text.split("\n"), start=1):
        start = number if not chunk else start
        chunk += line + "\n"
        try:
            parsed = tomllib.loads(chunk)
        except tomllib.TOMLDecodeError:
            continue
        if chunk.lstrip().startswith("["):
            table = _chain(parsed)
            yield table, start
        else:
            for path in _all_keys(parsed):
                yield (*table, *path), start
        chunk = ""


def _chain(parsed: Any) -> Keys:
    """Return the path that a table header names."""
    path: Keys = ()
    while parsed:
        parsed = parsed[0] if isinstance(parsed, list) else parsed
        if not parsed:
            break
        ((key, parsed),) = parsed.items()
        path = (*path, key)
    return path


def _all_keys(parsed: dict[str, Any], above: Keys = ()) -> Iterator[Keys]:
    """Yield the path of every key, including those of inline tables."""
    for key, value in parsed.items():
        yield (*above, key)
        if isinstance(value, dict):
            yield from _all_keys(value, (*above, key))
