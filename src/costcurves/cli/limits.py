"""`decide` under a limit instead of costs: the rule that finds most, or raises fewest false alarms, within it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.console import Console

import costcurves as cc
from costcurves._base.text import safe
from costcurves.cli import _options as opt
from costcurves.cli._input import Predictions
from costcurves.cli._print import Output, Problem, heading, line, percent, quoted, working
from costcurves.curves.choices import TRIVIAL, Choice, LimitedChoice
from costcurves.decisions.recommend_within import FixedRule

PANEL = "A limit instead of costs"


def _share(option: str) -> Any:
    def check(value: float | None) -> float | None:
        if value is not None and not 0 < value < 1:
            raise Problem(f"{option} must be in (0, 1), got {value:g}")
        return value

    return check


def _option(name: str, metavar: str, text: str) -> Any:
    return typer.Option(name, metavar=metavar, help=text, callback=_share(name), rich_help_panel=PANEL)


MaxFpr = Annotated[
    float | None, _option("--max-fpr", "RATE", "Call at most this share of negatives positive: 0.05. Find most.")
]
MinTpr = Annotated[
    float | None, _option("--min-tpr", "RATE", "Find at least this share of positives: 0.9. Raise fewest false alarms.")
]
Capacity = Annotated[
    float | None,
    _option(
        "--capacity",
        "SHARE",
        "Raise alarms on at most this share of cases: 0.02. Find most. Without --prevalence, new cases have the classes"
        " of FILE.",
    ),
]
MinPrecision = Annotated[
    float | None,
    _option("--min-precision", "SHARE", "At least this share of alarms is right: 0.8, at --prevalence. Find most."),
]
Confidence = Annotated[
    float | None,
    _option(
        "--confidence",
        "C",
        "Keep the limit on new cases with this probability: 0.95. Without it the limit holds on the rows of FILE only.",
    ),
]


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

    def answer(self, data: Predictions) -> LimitedChoice:
        """Return the choice under the limit."""
        hull = cc.RocHull.from_predictions(data.y_true, data.scores, sample_weight=data.weight)
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


def read_limit(
    limits: dict[str, float | None], prevalence: str | None, confidence: float | None, others: dict[str, Any]
) -> Limit | None:
    """Return the limit of the options, None without one; `others` are options that make no sense beside it."""
    given = [option for option, value in limits.items() if value is not None]
    if not given:
        if confidence is not None:
            raise Problem(f"--confidence needs a limit: {', '.join(limits)}")
        return None
    if len(given) > 1:
        raise Problem(f"{given[0]} and {given[1]} exclude each other: ask for one limit at a time")
    option, value = given[0], limits[given[0]]
    if used := [name for name, text in others.items() if text]:
        raise Problem(f"{option} and {used[0]} exclude each other: a limit takes the place of costs")
    if prevalence is not None and option in ("--max-fpr", "--min-tpr"):
        raise Problem(f"{option} and --prevalence exclude each other: the rate of one class depends on no prevalence")
    if prevalence is None and option == "--min-precision":
        raise Problem("--min-precision needs --prevalence: the share of positives where the classifier will be used")
    assert value is not None
    return Limit(option, value, None if prevalence is None else _one("--prevalence", prevalence), confidence)


def _one(option: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise Problem(f"{option} must be one number with a limit, got {quoted(text)}") from None
    if not 0 < value < 1:
        raise Problem(f"{option} must be in (0, 1), got {text}")
    return value


def use_text(choice: Choice | FixedRule | LimitedChoice, data: Predictions) -> str:
    """Return what to do, in words."""
    name = safe(choice.classifier)
    if choice.classifier in TRIVIAL or math.isinf(choice.threshold):
        label = data.negative if choice.fpr == choice.tpr == 0 else data.positive
        return f"Use no classifier: call every case {safe(label)}."
    return f"Use {name}: call a case {safe(data.positive)} where {name} >= {choice.threshold_text}."


def decide_within(limit: Limit, data: Predictions, out: Output) -> None:
    """Answer which rule is the best within a limit."""
    with working("deciding"):
        choice = limit.answer(data)

    def show(screen: Console) -> None:
        heading(screen, data.summary())
        screen.print(f"\n{limit.text}", style="bold")
        _show(choice, data, screen)

    document = {
        "schema": "costcurves/decide/1",
        "data": data.document(),
        "currency": "",
        **opt.policy_document("optimal", None),
        "decisions": [{"scenario": None, **choice.to_dict()}],
        "gates": [],
    }
    out.emit(show, document, choice._columns())


def _show(choice: LimitedChoice, data: Predictions, screen: Console) -> None:
    line(screen, use_text(choice, data), "bold green" if choice.guarantee else "bold yellow")
    shares = f"it finds {percent(choice.tpr)} of positives, with {percent(choice.fpr)} false alarms among negatives"
    alarms = "" if math.isnan(choice.alarms) else f"; {percent(choice.alarms / 100)} of cases raise an alarm"
    right = "" if math.isnan(choice.precision) else f"; {percent(choice.precision)} of alarms are right"
    line(screen, f"On these rows {shares}{alarms}{right}.")
    if not choice.guarantee:
        line(screen, "The limit holds on these rows. On new cases it may well be broken: add --confidence 0.95.")
        return
    sure = f"{100 * choice.confidence:g} %"
    if choice.classifier in TRIVIAL:
        line(
            screen, f"No threshold of a classifier is better and shown to keep the limit, with a confidence of {sure}."
        )
        return
    line(screen, f"{choice.guarantee[0].upper()}{choice.guarantee[1:]}.")
    means = f"This means: of samples drawn like these rows, at least {sure} lead to a rule that keeps the limit"
    line(screen, f"{means} on new cases from the same source, as long as these rows had no part in training.")
