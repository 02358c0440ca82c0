"""The saving of a recommended or named choice against today's rule, with limits that allow for having chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from costcurves._base.errors import InputError
from costcurves._base.results import Result, jsonable
from costcurves._base.text import level_text
from costcurves._base.validation import check_number, shown
from costcurves.conditions.condition import OperatingCondition
from costcurves.curves.choices import TRIVIAL, Choice, as_cheap, trivial_choices
from costcurves.decisions.contest import Contest
from costcurves.decisions.entrants import Entrants


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Saving(Result):
    """What a choice saves on new cases against a baseline, such as the rule used today.

    Attributes
    ----------
    condition : OperatingCondition
    choice, baseline : Choice
        What is recommended, or the candidate that was named, and what it replaces, with their costs on these cases.
    estimate, lower, upper : float
        What the choice is expected to save on new cases, relative to getting every case wrong, with limits. They allow
        for the choice of the classifier and of its threshold; below 0 the choice would cost more. The lower limit is
        the one by which `recommend` calls a rival worse: each limit by itself holds with the probability
        `level`.
    money_estimate, money_lower, money_upper : float
        The same per case in money.
    shown : bool
        Whether the data show that the choice is cheaper: the lower limit is above 0.
    level : float
    given_choice : bool
        Whether the limits take the choice as given instead.

    Examples
    --------
    >>> import numpy as np
    >>> import costcurves as cc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(500) < 0.3
    >>> scores = {"new": y + rng.normal(0, 0.5, 500), "today": y + rng.normal(0, 1.0, 500)}
    >>> answer = cc.recommend(y, scores, cc.OperatingCondition(prevalence=0.1, cost_fp=1, cost_fn=9))
    >>> answer.saving("today", threshold=0.5)
    Saving of new at score >= 0.604 against today at score >= 0.5: shown
      0.248 per case expected on new cases, 95 % limits [0.16, 0.382]
    """

    condition: OperatingCondition
    choice: Choice
    baseline: Choice
    estimate: float
    lower: float
    upper: float
    level: float
    given_choice: bool

    @property
    def shown(self) -> bool:
        """Whether the data show that the choice is cheaper than the baseline."""
        return self.lower > 0

    @property
    def money_estimate(self) -> float:
        """The saving per case in money."""
        return self.estimate * self.condition.unit_cost

    @property
    def money_lower(self) -> float:
        """The lower limit in money."""
        return self.lower * self.condition.unit_cost

    @property
    def money_upper(self) -> float:
        """The upper limit in money."""
        return self.upper * self.condition.unit_cost

    def _columns(self) -> dict[str, Any]:
        names = ("estimate", "lower", "upper", "money_estimate", "money_lower", "money_upper", "shown", "level")
        rules = {"classifier": self.baseline.classifier, "threshold": self.baseline.threshold}
        return {name: [value] for name, value in rules.items()} | {name: [getattr(self, name)] for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Return the saving as plain Python values, together with the baseline."""
        plain = self._records()[0]
        del plain["classifier"], plain["threshold"]
        return {"baseline": jsonable(self.baseline), **plain, "given_choice": self.given_choice}

    def __repr__(self) -> str:
        """Return the saving in words."""
        unit = "of getting every case wrong" if self.condition.pc_only else "per case"
        head = f"Saving of {self.choice.rule} against {self.baseline.rule}: {'shown' if self.shown else 'not shown'}"
        limits = f"[{self.money_lower:.3g}, {self.money_upper:.3g}]"
        text = f"{self.money_estimate:.3g} {unit} expected on new cases, {level_text(self.level)} limits {limits}"
        return f"{head}\n  {text if self.lower < self.upper else f'{self.money_estimate:.3g} {unit}, exactly'}"


def check_known(argument: str, name: Any, names: tuple[str, ...]) -> str:
    """Return the checked name of a classifier, which may be one of the trivial ones."""
    known = (*names, *TRIVIAL)
    if not isinstance(name, str) or name not in known:
        raise InputError(f"`{argument}` must be one of {', '.join(known)}, got {shown(name)}")
    return name


def check_baseline(name: Any, threshold: Any, names: tuple[str, ...]) -> tuple[str, float | None]:
    """Return the checked name and threshold of a baseline."""
    name = check_known("baseline", name, names)
    if threshold is None:
        return name, None
    if name in TRIVIAL:
        raise InputError(f"`baseline_threshold` must be None for {name!r}, which looks at no score, got {threshold!r}")
    return name, check_number("baseline_threshold", threshold)


def saving_of(
    entrants: Entrants,
    choice: Choice,
    estimates: dict[str, float],
    where: OperatingCondition,
    level: float,
    baseline: tuple[str, float | None],
    *,
    given_choice: bool,
    at_most: float,
) -> Saving:
    """Return what a choice saves against a baseline.

    `estimates` are the costs that are expected of all competitors on new cases, with their own thresholds. `at_most` is
    the largest limit of what the cheaper of the two on these cases saves for sure. The limit that allows for the choice
    is the one on its side, so that both orders of two classifiers get the same verdict.
    """
    name, threshold = baseline
    if threshold is None:
        called, other = name, next((one for one in trivial_choices(where) if one.classifier == name), None)
        other = other or entrants.choice(name, where)
        expected = estimates[name]
    else:
        entrants, called = entrants.with_rule(name, threshold)
        other = replace(entrants.choice(called, where), classifier=name)
        expected = other.normalized_cost  # a threshold that was not chosen for its cost
    if (other.classifier, other.threshold) == (choice.classifier, choice.threshold):
        return Saving(where, choice, other, 0.0, 0.0, 0.0, level, given_choice)
    contest = Contest(entrants, [where.pc], given_choice=given_choice)
    if not as_cheap(choice.normalized_cost, other.normalized_cost):
        sure, most, luck = contest.saving(where, level, called, choice.classifier)
        lower, upper = -most, -min(sure, at_most)
    else:
        lower, upper, luck = contest.saving(where, level, choice.classifier, called)
        lower = min(lower, at_most)
    estimate = min(max(_without_luck(expected - estimates[choice.classifier], luck), lower), upper)
    return Saving(where, choice, other, estimate, lower, upper, level, given_choice)


def _without_luck(difference: float, error: float) -> float:
    """Return what is expected to remain of a difference that decided the choice: the estimate of James and Stein."""
    return difference - error**2 / difference if abs(difference) > error else 0.0
