"""The options that commands share, and the operating conditions that they describe."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import costcurves as cc
from costcurves._base.files import is_standard_output
from costcurves._base.text import safe
from costcurves.cli._input import Predictions, read_predictions
from costcurves.cli._print import Problem, listing, number, quoted, say
from costcurves.cli._tables import existing, resolve

DATA, COSTS, HOW, GATES, OUT = "Data", "Operating condition", "Statistics", "Gates (exit code 1 if one fails)", "Output"

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A table: csv, parquet or json lines (also .gz, .zst), a glob or folder of them, BASE.duckdb:TABLE, or - "
        "for standard input. example:german_credit comes with the package.",
        show_default=False,
    ),
]
Label = Annotated[
    str | None, typer.Option("--label", metavar="COLUMN", help="Column of true labels.", rich_help_panel=DATA)
]
Positive = Annotated[
    str | None,
    typer.Option("--positive", metavar="LABEL", help="The label of the positive class.", rich_help_panel=DATA),
]
Score = Annotated[
    list[str] | None,
    typer.Option(
        "--score",
        metavar="COLUMN",
        help="Column of a classifier's scores, higher for positives. Repeat it for several.",
        show_default=False,
        rich_help_panel=DATA,
    ),
]
Pred = Annotated[
    list[str] | None,
    typer.Option(
        "--pred",
        metavar="COLUMN",
        help="Column of a classifier's predicted classes. Repeat it for several.",
        show_default=False,
        rich_help_panel=DATA,
    ),
]
Weight = Annotated[
    str | None, typer.Option("--weight", metavar="COLUMN", help="Column of row weights.", rich_help_panel=DATA)
]
DropMissing = Annotated[
    bool,
    typer.Option(
        "--drop-missing",
        metavar="",
        help="Leave out rows without a label or a score, instead of refusing.",
        rich_help_panel=DATA,
    ),
]
Prevalence = Annotated[
    str | None,
    typer.Option(
        "--prevalence",
        metavar="P",
        help="Share of positives where the classifier will be used: 0.01, or a range 0.005..0.02.",
        rich_help_panel=COSTS,
    ),
]
CostFn = Annotated[
    str | None,
    typer.Option("--cost-fn", metavar="MONEY", help="Cost of a miss: 500, or 300..900.", rich_help_panel=COSTS),
]
CostFp = Annotated[
    str | None,
    typer.Option("--cost-fp", metavar="MONEY", help="Cost of a false alarm: 10, or 5..20.", rich_help_panel=COSTS),
]
Pc = Annotated[
    str | None,
    typer.Option(
        "--pc",
        metavar="PC",
        help="Probability-cost of the positives instead of prevalence and costs: 0.3, or 0.2..0.6.",
        rich_help_panel=COSTS,
    ),
]
CostsFile = Annotated[
    Path | None,
    typer.Option("--costs", metavar="TOML", help="File of named scenarios (costs.toml).", rich_help_panel=COSTS),
]
ScenarioName = Annotated[
    list[str] | None,
    typer.Option(
        "--scenario",
        metavar="NAME",
        help="Only this scenario of the file. Repeat it for several.",
        show_default=False,
        rich_help_panel=COSTS,
    ),
]
MatrixFile = Annotated[
    Path,
    typer.Option(
        "--costs",
        metavar="TOML|CSV",
        help="The cost matrix: a [matrices.NAME] in costs.toml, or a csv with the true classes in its first column.",
        show_default=False,
        rich_help_panel=COSTS,
    ),
]
MatrixName = Annotated[
    str | None,
    typer.Option("--matrix", metavar="NAME", help="Which matrix of the file.", rich_help_panel=COSTS),
]


def _level(value: float) -> float:
    if not 0 < value < 1:
        raise Problem(f"--level must be in (0, 1), got {value:g}")
    return value


def finite(option: str) -> Callable[[float | None], float | None]:
    """Return the check of an option that must be a number: NaN compares with nothing, so no gate could judge by it."""

    def check(value: float | None) -> float | None:
        if value is not None and not math.isfinite(value):
            raise Problem(f"{option} must be a finite number, got {value:g}")
        return value

    return check


Level = Annotated[
    float, typer.Option("--level", metavar="L", help="Confidence level.", callback=_level, rich_help_panel=HOW)
]
PolicyName = Annotated[
    str,
    typer.Option(
        "--policy",
        metavar="RULE",
        help="How thresholds are set: optimal (best on these rows), crossfit (best on other folds of these rows), "
        "bayes (scores are probabilities), or one number.",
        rich_help_panel=HOW,
    ),
]
ThresholdsFrom = Annotated[
    Path | None,
    typer.Option(
        "--thresholds-from",
        metavar="FILE",
        help="Find the thresholds on this table (same columns) and judge them on FILE: an honest cost.",
        rich_help_panel=HOW,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", metavar="", help="Answer in JSON (see `costcurves schema`).", rich_help_panel=OUT)
]
Csv = Annotated[bool, typer.Option("--csv", metavar="", help="Answer as a CSV table.", rich_help_panel=OUT)]


def means_standard_output(path: Path) -> bool:
    """Return whether an output is a name of standard output, such as - or /dev/stdout."""
    return str(path) == "-" or is_standard_output(path)


def _not_standard_output(path: Path | None) -> Path | None:
    """Return no path where standard output is meant, which is where answers go without one."""
    return None if path is None or means_standard_output(path) else path


OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="PATH",
        help="Write the answer to this file instead; - is standard output.",
        callback=_not_standard_output,
        rich_help_panel=OUT,
    ),
]
Force = Annotated[bool, typer.Option("--force", metavar="", help="Replace an existing output.", rich_help_panel=OUT)]

Condition = cc.OperatingCondition | cc.OperatingRange


@dataclass(frozen=True, slots=True)
class Costs:
    """The conditions that were asked about, by name ('' where they came as options)."""

    cases: dict[str, Condition]
    currency: str = ""
    positive: Any = None

    def document(self) -> dict[str, Any]:
        """Return the currency for a JSON answer."""
        return {"currency": self.currency}

    def text(self, name: str) -> str:
        """Return a condition in words."""
        where = self.cases[name]
        head = f"{safe(name)}: " if name else ""
        pc = span_text(where.pc if isinstance(where.pc, tuple) else (where.pc, where.pc))
        if where.pc_only:
            return f"{head}pc {pc} (costs are shares of the cost of always being wrong)"
        prevalence, miss, alarm = (
            span_text(bounds if isinstance(bounds, tuple) else (bounds, bounds))
            for bounds in (where.prevalence, where.cost_fn, where.cost_fp)
        )
        unit = f" {safe(self.currency)}" if self.currency else ""
        return f"{head}prevalence {prevalence}, a miss costs {miss}{unit}, a false alarm {alarm}{unit} (pc {pc})"


def read_costs(
    prevalence: str | None,
    cost_fn: str | None,
    cost_fp: str | None,
    pc: str | None,
    costs: Path | None,
    scenario: list[str] | None,
    *,
    needed: bool = True,
) -> Costs:
    """Return the conditions that the options describe, in one of three ways: numbers, pc, or a file."""
    numbers = {"--prevalence": prevalence, "--cost-fn": cost_fn, "--cost-fp": cost_fp}
    given = [name for name, value in numbers.items() if value is not None]
    ways = [way for way, used in (("--costs", costs), ("--pc", pc)) if used is not None] + given[:1]
    if len(ways) > 1:
        raise Problem(f"{ways[0]} and {ways[1]} exclude each other: they say the same in different ways")
    if scenario and costs is None:
        raise Problem("--scenario needs the file of scenarios: --costs costs.toml")
    if costs is not None:
        known = cc.read_scenarios(existing(resolve(costs, ".toml")))
        names = list(dict.fromkeys(scenario or known.scenarios))
        if not names and needed:
            raise Problem(f"{safe(costs)} has no scenarios")
        for name in names:
            if name not in known.scenarios:
                there = listing([quoted(n) for n in known.scenarios]) if known.scenarios else "none"
                raise Problem(f"--scenario {quoted(name)}: the scenarios in {safe(costs)} are {there}")
        return Costs({name: known.scenario(name) for name in names}, known.currency, known.positive)
    if pc is not None:
        span = _bounds("--pc", pc)
        try:
            if isinstance(span, float):
                return Costs({"": cc.OperatingCondition.from_pc(span)})
            return Costs({"": cc.OperatingRange.from_pc(*span)})
        except cc.InputError as error:
            raise Problem(_as_options(error)) from None
    if not given and not needed:
        return Costs({})
    if missing := [name for name in numbers if name not in given]:
        what = "say what errors cost where the classifier will be used" if not given else f"{missing[0]} is missing"
        raise Problem(f"{what}: --prevalence, --cost-fn and --cost-fp, or --costs costs.toml, or --pc")
    parts: dict[str, Any] = {
        name.removeprefix("--").replace("-", "_"): _bounds(name, text or "") for name, text in numbers.items()
    }
    kind = cc.OperatingRange if any(isinstance(part, tuple) for part in parts.values()) else cc.OperatingCondition
    try:
        return Costs({"": kind(**parts)})
    except cc.InputError as error:
        raise Problem(_as_options(error)) from None


def _bounds(option: str, text: str) -> float | tuple[float, float]:
    """Return a number, or the two ends of LOW..HIGH."""
    try:
        if ".." in text:
            low, high = text.split("..")
            return float(low), float(high)
        return float(text)
    except ValueError:
        raise Problem(f"{option} must be a number or a range LOW..HIGH, got {quoted(text)}") from None


def _as_options(error: Exception) -> str:
    """Return a message of the library in the words of the command line."""
    return re.sub(r"`(prevalence|cost_fn|cost_fp|pc)`", lambda m: "--" + m[1].replace("_", "-"), str(error))


def span_text(bounds: tuple[float, float]) -> str:
    """Return the two ends of a range, or the one number that it is."""
    low, high = bounds
    return number(low, 3) if low == high else f"{number(low, 3)} to {number(high, 3)}"


def load(
    file: Path,
    *,
    label: str | None,
    positive: str | None,
    score: list[str] | None,
    weight: str | None,
    drop_missing: bool,
    costs: Costs | None = None,
) -> Predictions:
    """Return labels and scores, and say what was guessed about them."""
    known = None if costs is None else costs.positive
    data = read_predictions(
        file,
        label=label,
        positive=positive,
        scores=score or [],
        weight=weight,
        drop_missing=drop_missing,
        known_positive=known,
    )
    announce(data)
    return data


def announce(data: Any) -> None:
    """Say what was guessed about the columns."""
    if data.guessed:
        say(f"Guessed {'; '.join(data.guessed)}.")


def policies(rule: str, thresholds_from: Path | None, data: Predictions) -> Any:
    """Return the threshold policy of the options: one for all, or one for each classifier."""
    if thresholds_from is None:
        if rule in cc.thresholds.NAMED:
            return rule
        try:
            return float(rule)
        except ValueError:
            raise Problem(f"--policy must be optimal, crossfit, bayes or a number, got {quoted(rule)}") from None
    if rule != "optimal":
        raise Problem("--policy and --thresholds-from exclude each other")
    other = read_predictions(
        thresholds_from,
        label=data.label,
        positive=data.positive,
        scores=data.names,
        weight=data.weight_name,
        drop_missing=data.dropped > 0,
    )
    return {
        name: cc.thresholds.validation(
            cc.RocCurve.from_predictions(other.y_true, values, sample_weight=other.weight, name=name)
        )
        for name, values in other.scores.items()
    }


def policy_document(rule: str, thresholds_from: Path | None) -> dict[str, Any]:
    """Return how thresholds were set, for a JSON answer."""
    found_on = None if thresholds_from is None else thresholds_from.name
    return {"policy": "validation" if found_on else rule, "thresholds_from": found_on}
