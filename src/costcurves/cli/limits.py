"""`decide` under a limit instead of costs: the rule that finds most, or raises fewest false alarms, within it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any

from rich.console import Console

import costcurves.cli._answers as types
from costcurves._base.text import level_text, safe
from costcurves.cli._groups import given, option
from costcurves.cli._input import ScoreTable
from costcurves.cli._print import Output, Problem, heading, line, percent, quoted, working
from costcurves.curves.choices import TRIVIAL, Choice, LimitedChoice
from costcurves.decisions.recommend_within import FixedRule

PANEL = "A limit instead of costs"


def _share(name: str) -> Any:
    def check(value: float | None) -> float | None:
        if value is not None and not 0 < value < 1:
            raise Problem(f"{name} must be in (0, 1), got {value:g}")
        return value

    return check


def _option(name: str, metavar: str, text: str) -> Any:
    return option(PANEL, metavar, text, callback=_share(name))


@dataclass(frozen=True, slots=True)
class Limit:
    """The limit that was asked for."""

    option: str
    value: float
    prevalence: float | None
    confidence: float | None

    @property
    def text(self) -> str:
        """The limit in words."""
        share = percent(self.value)
        where = "" if self.prevalence is None else f" at prevalence {self.prevalence:g}"
        return {
            "--max-fpr": f"At most {share} of negatives are false alarms",
            "--min-tpr": f"At least {share} of positives are found",
            "--capacity": f"At most {share} of cases raise an alarm{where}",
            "--min-precision": f"At least {share} of alarms are right{where}",
        }[self.option]

    def answer(self, data: ScoreTable) -> LimitedChoice:
        """Return the choice under the limit."""
        hull = data.predictions.hull()
        if self.option == "--max-fpr":
            return hull.best_at_fpr(self.value, confidence=self.confidence)
        if self.option == "--min-tpr":
            return hull.best_at_tpr(self.value, confidence=self.confidence)
        if self.option == "--min-precision":
            assert self.prevalence is not None
            return hull.best_at_precision(self.value, prevalence=self.prevalence, confidence=self.confidence)
        where: float | str | None = self.prevalence
        if where is None:
            where = next(iter(hull.roc_curves().values())).prevalence if self.confidence is None else "sample"
        return hull.best_at_capacity(
            alarms=100 * self.value, population=100, prevalence=where, confidence=self.confidence
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits that may be asked for, one at a time."""

    max_fpr: Annotated[
        float | None,
        _option(
            "--max-fpr",
            "RATE",
            "Call at most this share of negatives positive, such as 0.05, and find as many positives as possible.",
        ),
    ] = None
    min_tpr: Annotated[
        float | None,
        _option(
            "--min-tpr",
            "RATE",
            "Find at least this share of positives, such as 0.9, with as few false alarms as possible.",
        ),
    ] = None
    capacity: Annotated[
        float | None,
        _option(
            "--capacity",
            "SHARE",
            "Raise alarms on at most this share of cases, such as 0.02, and find as many positives as possible. "
            "The share is that of the long run; single days vary around it. Without --prevalence, new cases are "
            "taken to have the class frequencies of FILE.",
        ),
    ] = None
    min_precision: Annotated[
        float | None,
        _option(
            "--min-precision",
            "SHARE",
            "Let at least this share of alarms be right, such as 0.8, at --prevalence; find as many as possible.",
        ),
    ] = None
    confidence: Annotated[
        float | None,
        _option(
            "--confidence",
            "C",
            "Keep the limit on new cases with this probability, such as 0.95. Without it, the limit holds only on the "
            "rows of FILE.",
        ),
    ] = None

    def read(self, prevalence: str | None, others: dict[str, Any]) -> Limit | None:
        """Return the limit, or None if there is none; `others` are given options that make no sense beside it."""
        limits = given(replace(self, confidence=None))
        if not limits:
            if self.confidence is not None:
                raise Problem("--confidence needs a limit: --max-fpr, --min-tpr, --capacity, --min-precision")
            return None
        name, *more = limits
        if more:
            raise Problem(f"{name} and {more[0]} exclude each other: ask for one limit at a time")
        if others:
            raise Problem(f"{name} and {next(iter(others))} exclude each other: a limit takes the place of costs")
        if prevalence is not None and name in ("--max-fpr", "--min-tpr"):
            raise Problem(f"{name} and --prevalence exclude each other: the rate of one class depends on no prevalence")
        if prevalence is None and name == "--min-precision":
            raise Problem(
                "--min-precision needs --prevalence: the share of positives where the classifier will be used"
            )
        share = None if prevalence is None else _one("--prevalence", prevalence)
        return Limit(name, limits[name], share, self.confidence)


def _one(option: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise Problem(f"{option} must be one number with a limit, got {quoted(text)}") from None
    if not 0 < value < 1:
        raise Problem(f"{option} must be in (0, 1), got {text}")
    return value


def use_text(choice: Choice | FixedRule | LimitedChoice, data: ScoreTable) -> str:
    """Return what to do, in words."""
    name = safe(choice.classifier)
    if choice.classifier in TRIVIAL or math.isinf(choice.threshold):
        label = data.negative if choice.fpr == choice.tpr == 0 else data.positive
        return f"Use no classifier: call every case {safe(label)}."
    return f"Use {name}: call a case {safe(data.positive)} where {name} >= {choice.threshold_text}."


def decide_within(limit: Limit, data: ScoreTable, out: Output) -> None:
    """Answer which rule is the best within a limit."""
    with working("deciding"):
        choice = limit.answer(data)

    def show(screen: Console) -> None:
        heading(screen, data.summary())
        screen.print(f"\n{limit.text}", style="bold")
        _show(choice, data, screen)

    decision: Any = {"scenario": None, **choice.to_dict()}
    document: types.Decide = {
        "schema": "costcurves/decide/1",
        "data": data.document(),
        "currency": "",
        "policy": "optimal",
        "calibrated_at": None,
        "thresholds_from": None,
        "decisions": [decision],
        "against": [],
        "gates": [],
    }
    out.emit(show, document, choice._columns())


def _show(choice: LimitedChoice, data: ScoreTable, screen: Console) -> None:
    line(screen, use_text(choice, data), "bold green" if choice.guarantee else "bold yellow")
    shares = f"it finds {percent(choice.tpr)} of positives, with {percent(choice.fpr)} false alarms among negatives"
    alarms = "" if math.isnan(choice.alarms) else f"; {percent(choice.alarms / 100)} of cases raise an alarm"
    right = "" if math.isnan(choice.precision) else f"; {percent(choice.precision)} of alarms are right"
    line(screen, f"On these rows {shares}{alarms}{right}.")
    if not choice.guarantee:
        line(screen, "The limit holds on these rows. On new cases it may well be broken: add --confidence 0.95.")
        return
    sure = f"{level_text(choice.confidence)}"
    if choice.classifier in TRIVIAL:
        line(
            screen, f"No threshold of a classifier is better and shown to keep the limit, with a confidence of {sure}."
        )
        return
    line(screen, f"{choice.guarantee[0].upper()}{choice.guarantee[1:]}.")
    means = f"This means: of samples drawn like these rows, at least {sure} lead to a rule that keeps the limit"
    line(screen, f"{means} on new cases from the same source, as long as these rows had no part in training.")
