"""The groups of options that commands share, and the operating conditions that they describe."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import costcurves as cc
import costcurves.cli._complete as complete
from costcurves._base.text import safe
from costcurves._base.validation import DEFAULT_LEVEL
from costcurves._base.validation import check_level as check_confidence_level
from costcurves.cli._groups import COSTS, DATA, GATES, HOW, option
from costcurves.cli._input import ScoreTable, read_scores
from costcurves.cli._print import Problem, detail, folded, listing, number, percent, quoted, say, shell_word
from costcurves.cli._tables import existing, refuse_missing, resolve

Label = Annotated[str | None, option(DATA, "COLUMN", "Column of true labels.", autocompletion=complete.columns)]
Pred = Annotated[
    list[str] | None,
    option(
        DATA,
        "COLUMN",
        "Column of a classifier's predicted classes. Repeat it for several.",
        show_default=False,
        autocompletion=complete.columns,
    ),
]
DropMissing = Annotated[
    bool, option(DATA, "", "Leave out rows without a label or a score, instead of refusing them.", "--drop-missing")
]
Strict = Annotated[
    bool, option(DATA, "", "Guess nothing: refuse the command if it leaves something open, for pipelines.", "--strict")
]
MatrixName = Annotated[
    str | None, option(COSTS, "NAME", "Which matrix of the file to use.", autocompletion=complete.matrices)
]
Candidate = Annotated[
    str | None,
    option(
        GATES,
        "NAME",
        "The classifier that the gates judge; by default the only one that is not the baseline.",
        autocompletion=complete.columns,
    ),
]
Condition = cc.OperatingCondition | cc.OperatingRange


def check_level(value: float) -> float:
    """Refuse what is no confidence level."""
    try:
        return check_confidence_level(value)
    except cc.InputError as error:
        raise Problem(as_options(error)) from None


Level = Annotated[float, option(HOW, "L", "Confidence level.", callback=check_level)]


def finite(name: str) -> Callable[[float | None], float | None]:
    """Return the check of an option that must be finite: NaN compares with nothing, so no gate could judge by it."""

    def check(value: float | None) -> float | None:
        if value is not None and not math.isfinite(value):
            raise Problem(f"{name} must be a finite number, got {value:g}")
        return value

    return check


@dataclass(frozen=True, slots=True)
class Costs:
    """The conditions that were asked about, by name ('' if they came as options)."""

    cases: dict[str, Condition]
    currency: str = ""
    positive: Any = None
    cases_per_year: float | None = None
    baseline: str | None = None
    baseline_threshold: float | None = None

    def text(self, name: str) -> str:
        """Return a condition in words."""
        where = self.cases[name]
        head = f"{safe(name)}: " if name else ""
        pc = span_text(where.pc if isinstance(where.pc, tuple) else (where.pc, where.pc))
        if where.pc_only:
            return f"{head}pc {pc} (costs are shares of the cost of getting every case wrong)"
        prevalence, miss, alarm = (
            span_text(bounds if isinstance(bounds, tuple) else (bounds, bounds))
            for bounds in (where.prevalence, where.cost_fn, where.cost_fp)
        )
        unit = f" {safe(self.currency)}" if self.currency else ""
        return f"{head}prevalence {prevalence}, a miss costs {miss}{unit}, a false alarm {alarm}{unit} (pc {pc})"


@dataclass(frozen=True, slots=True)
class Scores:
    """Which table to read, and which of its columns."""

    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A table: csv, parquet or json lines (also .gz, .zst), a glob or folder of them, BASE.duckdb:TABLE, "
            "or - for standard input. example:german_credit comes with the package.",
            show_default=False,
        ),
    ]
    label: Label = None
    positive: Annotated[str | None, option(DATA, "LABEL", "The label of the positive class.")] = None
    score: Annotated[
        list[str] | None,
        option(
            DATA,
            "COLUMN",
            "Column of a classifier's scores, higher for positives. Repeat it for several.",
            show_default=False,
            autocompletion=complete.columns,
        ),
    ] = None
    weight: Annotated[str | None, option(DATA, "COLUMN", "Column of row weights.", autocompletion=complete.columns)] = (
        None
    )
    drop_missing: DropMissing = False
    decimal_comma: Annotated[
        bool, option(DATA, "", "Numbers in text columns have decimal commas, such as 0,25.", "--decimal-comma")
    ] = False
    strict: Strict = False

    def look(self) -> None:
        """Refuse a file that is not there, before other options are judged."""
        refuse_missing(self.file)

    def load(self, costs: Costs | None = None) -> ScoreTable:
        """Return labels and scores, and say what was guessed about them and what may mislead."""
        data = self.read(costs)
        found = data.check(thorough=False)
        # Of reversed scores the library itself warns.
        serious = [one for one in found.serious if one.check != "reversed"]
        if serious:
            more = f" There {'are' if len(serious) > 2 else 'is'} {len(serious) - 1} more." if len(serious) > 1 else ""
            see = f"costcurves doctor {shell_word(str(self.file))}"
            say(f"Warning: {serious[0].message}{more} See what to do: {see}")
        return data

    def read(self, costs: Costs | None = None) -> ScoreTable:
        """Return labels and scores, and say what was guessed about them."""
        data = read_scores(
            self.file,
            label=self.label,
            positive=self.positive,
            scores=self.score or [],
            weight=self.weight,
            drop_missing=self.drop_missing,
            known_positive=None if costs is None else costs.positive,
            decimal_comma=self.decimal_comma,
            strict=self.strict,
        )
        announce(data)
        return data


@dataclass(frozen=True, slots=True)
class Conditions:
    """Where the classifier will be used: numbers, pc, slope, or a file of scenarios."""

    prevalence: Annotated[
        str | None,
        option(COSTS, "P", "Share of positives where the classifier will be used: 0.01, or a range 0.005..0.02."),
    ] = None
    cost_fn: Annotated[str | None, option(COSTS, "MONEY", "Cost of a miss: 500, or 300..900.")] = None
    cost_fp: Annotated[str | None, option(COSTS, "MONEY", "Cost of a false alarm: 10, or 5..20.")] = None
    pc: Annotated[
        str | None,
        option(COSTS, "PC", "Probability-cost of the positives instead of prevalence and costs: 0.3, or 0.2..0.6."),
    ] = None
    slope: Annotated[
        str | None,
        option(
            COSTS,
            "SLOPE",
            "Slope of the iso-performance lines in ROC space, (1 - pc) / pc, instead of pc: 2, or 0.5..2.",
        ),
    ] = None
    costs: Annotated[Path | None, option(COSTS, "TOML", "File of named scenarios (costs.toml).")] = None
    scenario: Annotated[
        list[str] | None,
        option(
            COSTS,
            "NAME",
            "Only this scenario of the file. Repeat it for several.",
            show_default=False,
            autocompletion=complete.scenarios,
        ),
    ] = None

    def read(self, *, needed: bool = True) -> Costs:
        """Return the conditions that the options describe, in one of four ways: numbers, pc, slope, or a file."""
        numbers = {"--prevalence": self.prevalence, "--cost-fn": self.cost_fn, "--cost-fp": self.cost_fp}
        used = [name for name, text in numbers.items() if text is not None]
        ways = {"--costs": self.costs, "--pc": self.pc, "--slope": self.slope}
        chosen = [name for name, value in ways.items() if value is not None] + used[:1]
        if len(chosen) > 1:
            raise Problem(f"{chosen[0]} and {chosen[1]} exclude each other: they say the same in different ways")
        if self.scenario and self.costs is None:
            raise Problem("--scenario needs the file of scenarios: --costs costs.toml")
        if self.costs is not None:
            return _scenarios(self.costs, self.scenario, needed)
        if not chosen and not needed:
            return Costs({})
        missing = [name for name in numbers if name not in used]
        if self.pc is None and self.slope is None and missing:
            what = f"{missing[0]} is missing" if used else "say what errors cost where the classifier will be used"
            raise Problem(f"{what}: --prevalence, --cost-fn and --cost-fp, or --costs costs.toml, or --pc or --slope")
        try:
            return Costs({"": self._condition(numbers)})
        except cc.InputError as error:
            raise Problem(as_options(error)) from None

    def _condition(self, numbers: dict[str, str | None]) -> Condition:
        if self.pc is not None:
            return _from_pc(_bounds("--pc", self.pc))
        if self.slope is not None:
            return _from_slope(_bounds("--slope", self.slope))
        parts: dict[str, Any] = {
            name.removeprefix("--").replace("-", "_"): _bounds(name, text or "") for name, text in numbers.items()
        }
        if any(isinstance(part, tuple) for part in parts.values()):
            return cc.OperatingRange(**parts)
        return cc.OperatingCondition(**parts)


ThresholdsFrom = Annotated[
    Path | None,
    option(
        HOW,
        "FILE",
        "Find the thresholds on this table (with the same columns) and judge them on FILE, for an honest cost.",
    ),
]


@dataclass(frozen=True, slots=True)
class Statistics:
    """How sure the answer shall be, and how thresholds are set."""

    level: Level = DEFAULT_LEVEL
    policy: Annotated[
        str,
        option(
            HOW,
            "RULE",
            "How thresholds are set: optimal (best on these rows), crossfit (best on other folds of these rows), bayes "
            "(scores are probabilities), or one number.",
            autocompletion=complete.policies,
        ),
    ] = "optimal"
    thresholds_from: ThresholdsFrom = None

    @property
    def found_on(self) -> str | None:
        """The name of the table on which the thresholds are found, for a JSON answer."""
        return None if self.thresholds_from is None else self.thresholds_from.name

    @property
    def policy_name(self) -> str:
        """How thresholds are set, for a JSON answer."""
        return self.policy if self.thresholds_from is None else "validation"

    def calibrated_at(self, data: ScoreTable) -> float | None:
        """Return the share of positives at which scores are taken for probabilities, or None if they are not."""
        if self.policy != "bayes" or self.thresholds_from is not None:
            return None
        return float(data.predictions.roc_curve(data.names[0]).prevalence)

    def note(self, data: ScoreTable) -> str:
        """Return what the policy takes for granted, as a sentence; it is empty if there is nothing."""
        share = self.calibrated_at(data)
        if share is None:
            return ""
        return f"Scores are taken for probabilities, calibrated where {percent(share)} are positive as in these rows."

    def rule(self, data: ScoreTable) -> Any:
        """Return the threshold policy: one for all classifiers, or a dictionary with one for each."""
        if self.thresholds_from is None:
            if self.policy == "bayes":
                _warn_of_calibration(data)
            if self.policy in cc.thresholds.NAMED:
                return self.policy
            try:
                return float(self.policy)
            except ValueError:
                raise Problem(
                    f"--policy must be optimal, crossfit, bayes or a number, got {quoted(self.policy)}"
                ) from None
        if self.policy != "optimal":
            raise Problem("--policy and --thresholds-from exclude each other")
        other = other_table(self.thresholds_from, data)
        return {name: cc.thresholds.validation(one) for name, one in other.predictions.roc_curves().items()}


def other_table(path: Path, data: ScoreTable) -> ScoreTable:
    """Return another table with the same columns."""
    return read_scores(
        path,
        label=data.label,
        positive=data.positive,
        scores=data.names,
        weight=data.weight,
        drop_missing=data.dropped > 0,
    )


def _warn_of_calibration(data: ScoreTable) -> None:
    """Say which scores are not the probabilities that a policy takes them for."""
    off = [one.column or "" for one in data.check(thorough=False).findings if one.check == "calibration"]
    if off:
        are = "is" if len(off) == 1 else "are"
        say(f"Warning: --policy bayes needs calibrated probabilities, and {folded(off)} {are} not calibrated.")


def _scenarios(costs: Path, wanted: list[str] | None, needed: bool) -> Costs:
    """Return the scenarios of a file, or those of them that were asked for."""
    file = existing(resolve(costs, ".toml"))
    if file.suffix.lower() == ".csv":
        raise Problem(
            f"--costs {quoted(costs)}: scenarios of two classes are in a .toml file; a cost matrix in a .csv file goes "
            "with bcost, bdeltacost and report --pred"
        )
    known = cc.read_scenarios(file)
    names = list(dict.fromkeys(wanted or known.scenarios))
    if not names and needed:
        raise Problem(f"{safe(costs)} has no scenarios")
    for name in names:
        if name not in known.scenarios:
            there = listing([quoted(n) for n in known.scenarios]) if known.scenarios else "none"
            raise Problem(f"--scenario {quoted(name)}: the scenarios in {safe(costs)} are {there}")
    today = (known.cases_per_year, known.baseline, known.baseline_threshold)
    return Costs({name: known.scenario(name) for name in names}, known.currency, known.positive, *today)


def _bounds(name: str, text: str) -> float | tuple[float, float]:
    """Return a number, or the two ends of LOW..HIGH."""
    try:
        if ".." in text:
            low, high = text.split("..")
            return float(low), float(high)
        return float(text)
    except ValueError:
        raise Problem(f"{name} must be a number or a range LOW..HIGH, got {quoted(text)}{_meant(text)}") from None


def _meant(text: str) -> str:
    """Say how to write a number that has a percent sign or a decimal comma."""
    for written in (text.replace(",", "."), text.removesuffix("%").rstrip().replace(",", ".")):
        try:
            number = float(written)
        except ValueError:
            continue
        return f": write {number / 100 if text.endswith('%') else number:.12g}"
    return ""


def _from_pc(pc: float | tuple[float, float]) -> Condition:
    return cc.OperatingRange.from_pc(*pc) if isinstance(pc, tuple) else cc.OperatingCondition.from_pc(pc)


def _from_slope(slope: float | tuple[float, float]) -> Condition:
    """Return the condition, or the range of them, of a slope of the iso-performance lines."""
    return cc.OperatingRange.from_slope(*slope) if isinstance(slope, tuple) else cc.OperatingCondition.from_slope(slope)


_NAMES = "level|prevalence|cost_fn|cost_fp|pc|slope|baseline|baseline_threshold|cases_per_year|slice|reference|title"


def as_options(error: Exception) -> str:
    """Return a message of the library in the words of the command line."""
    return re.sub(rf"`({_NAMES})s?`", lambda m: "--" + m[1].replace("_", "-"), str(error))


def span_text(bounds: tuple[float, float]) -> str:
    """Return the two ends of a range, or a single number if they are equal."""
    low, high = bounds
    return number(low, 3) if low == high else f"{number(low, 3)} to {number(high, 3)}"


def announce(data: Any) -> None:
    """Say what was guessed about the columns, in words to paste; why, only if asked."""
    if data.guesses:
        say(f"Guessed {' '.join(guess.text for guess in data.guesses)}")
    if isinstance(data, ScoreTable) and data.left:
        say(f"Not taken for scores: {listing(list(data.left))}. If one is a score, name all scores with --score.")
    for guess in data.guesses:
        detail(f"  {guess.text}: {guess.why}")
