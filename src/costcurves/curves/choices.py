"""The results of a choice: which classifier to use at which threshold, at what cost, and what the next best loses."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

import numpy as np

from costcurves._base.results import Result
from costcurves._base.text import cut_text, level_text, safe
from costcurves.conditions.condition import EQUAL, OperatingCondition
from costcurves.curves.roc import RocCurve

ALWAYS_NEGATIVE = "always negative"
ALWAYS_POSITIVE = "always positive"
TRIVIAL = (ALWAYS_NEGATIVE, ALWAYS_POSITIVE)


def rule_text(classifier: str, threshold_text: str) -> str:
    """Return in words how to use a classifier: ``forest at score >= 0.25``."""
    return f"{safe(classifier)} at score >= {threshold_text}" if threshold_text else safe(classifier)


def threshold_text(classifier: str, threshold: float, below: float = math.nan) -> str:
    """Return the threshold of a classifier as a text that separates the same scores; empty if it has none."""
    return "" if classifier in TRIVIAL or math.isnan(threshold) else cut_text(threshold, below)


class Rule(Result):
    """Base of the results that name one classifier and its threshold.

    `_below` is the next lower score of the data, NaN if it is not known.
    """

    __slots__ = ()

    classifier: str
    threshold: float
    _below: float

    @property
    def threshold_text(self) -> str:
        """The threshold in the fewest decimals that separate the same scores; empty if there is no threshold."""
        return threshold_text(self.classifier, self.threshold, self._below)

    @property
    def rule(self) -> str:
        """How to use the classifier, in words."""
        return rule_text(self.classifier, self.threshold_text)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Choice(Rule):
    """A classifier at one of its thresholds, and what it costs at a condition.

    Examples
    --------
    >>> import costcurves as cc
    >>> expert = cc.RocCurve.from_rates(0.1, 0.6, name="expert")
    >>> hull = cc.RocHull([expert, cc.RocCurve.from_rates(0.3, 0.7, name="rules")])
    >>> hull.best(0.5).runner_up
    Choice(rules: fpr=0.3, tpr=0.7, cost 0.3)
    """

    classifier: str
    threshold: float
    fpr: float
    tpr: float
    normalized_cost: float
    expected_cost: float
    _below: float = math.nan
    _column_names = ("classifier", "threshold", "fpr", "tpr", "normalized_cost", "expected_cost")

    def __repr__(self) -> str:
        return f"Choice({self.rule}: fpr={self.fpr:.3g}, tpr={self.tpr:.3g}, cost {self.expected_cost:.4g})"


def choice_at(
    name: str, threshold: float, fpr: float, tpr: float, condition: OperatingCondition, below: float = math.nan
) -> Choice:
    """Return a classifier at one of its thresholds, with what it costs at a condition.

    `below` is the next lower score of the data, NaN if it is not known.
    """
    cost = condition.pc * (1.0 - tpr) + (1.0 - condition.pc) * fpr
    return Choice(name, threshold, fpr, tpr, cost, condition.money(cost), below)


def as_cheap(cost: Any, least: Any) -> Any:
    """Return whether costs equal the least one up to rounding, which is 1e-12 of them."""
    return cost - least <= EQUAL * cost


def trivial_choices(condition: OperatingCondition) -> tuple[Choice, Choice]:
    """Return the two classifiers that look at no score: the one that never alarms, and the one that always does."""
    return (
        choice_at(ALWAYS_NEGATIVE, math.inf, 0.0, 0.0, condition),
        choice_at(ALWAYS_POSITIVE, -math.inf, 1.0, 1.0, condition),
    )


def cheapest_with_alarms(curve: RocCurve, condition: OperatingCondition) -> Choice | None:
    """Return the cheapest threshold of a classifier that raises some alarms, but not all; None if there is none.

    A classifier that never alarms, or always does, is one of the trivial ones and is not considered here. If several
    thresholds cost the same, the one with the fewest false alarms is taken, then the one that finds most.
    """
    points = curve.candidates()
    fpr, tpr = points.fpr[1:-1], points.tpr[1:-1]
    if not fpr.size:
        return None
    cost = condition.pc * (1.0 - tpr) + (1.0 - condition.pc) * fpr
    tied = np.flatnonzero(as_cheap(cost, cost.min()))
    i = int(tied[fpr[tied] == fpr[tied[0]]][-1])
    cut = float(points.thresholds[1 + i])
    return choice_at(curve.name, cut, float(fpr[i]), float(tpr[i]), condition, curve.score_below(cut))


def cheapest_of(choices: Iterable[Choice]) -> list[Choice]:
    """Return the choices that cost least (up to rounding), in order of preference.

    Among equal costs a trivial classifier comes first, because it needs no model, then the first by name, then the one
    with the fewest false alarms, then the one that finds most.
    """
    listed = list(choices)
    least = min(choice.normalized_cost for choice in listed)
    tied = (choice for choice in listed if as_cheap(choice.normalized_cost, least))
    return sorted(tied, key=lambda one: (one.classifier not in TRIVIAL, one.classifier, one.fpr, -one.tpr))


def runner_up_of(choices: Iterable[Choice], winner: str) -> Choice:
    """Return the next best to the winner: the cheapest choice of any other classifier.

    The two trivial classifiers compete like any other, so `choices` must hold both (`trivial_choices`). A choice of
    another classifier that never alarms, or always does, is ignored, because it is the trivial one's
    (`cheapest_with_alarms`). Among equal costs a trivial classifier comes last, because another one is more
    informative; then the first by name is taken, then the one with the fewest false alarms, then the one that finds
    most.

    Parameters
    ----------
    choices : iterable of Choice
        What could be used at one condition; any number of choices per classifier.
    winner : str
        The name of the classifier that is used; its choices are ignored.
    """
    corners = ((0.0, 0.0), (1.0, 1.0))
    others = [
        one
        for one in choices
        if one.classifier != winner and (one.classifier in TRIVIAL or (one.fpr, one.tpr) not in corners)
    ]
    least = min(one.normalized_cost for one in others)
    tied = (one for one in others if as_cheap(one.normalized_cost, least))
    return min(tied, key=lambda one: (one.classifier in TRIVIAL, one.classifier, one.fpr, -one.tpr))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decision(Rule):
    """The best classifier and threshold at one operating condition.

    Attributes
    ----------
    classifier, threshold : str, float
        What to use: predict positive if and only if score >= threshold (NaN for a classifier without scores).
    fpr, tpr : float
        Its rates.
    normalized_cost, expected_cost : float
        Its cost relative to getting every case wrong, and per case in money.
    ties : tuple of Choice
        Other choices of the same cost (to 12 digits): other classifiers at the same point, and the other end of the
        hull's edge. Among equal costs a trivial classifier is preferred, then the first by name.
    runner_up : Choice
        The cheapest choice of any *other* classifier: a trivial classifier, or another one at its cheapest threshold
        that raises some alarms, but not all. Among equal costs a trivial classifier comes last, then the first by name
        is taken.
    regret, money_regret : float
        How much more the runner-up would cost, normalized and per case in money.
    max_error : float
        The most by which the least normalized cost can be too high because scores were binned. The cost of the
        threshold on these data is exact, but a better threshold may lie within a bin.
    unsettled : tuple of str
        Other classifiers that could be the best, because bins may hide a better threshold of theirs.

    Examples
    --------
    >>> import costcurves as cc
    >>> expert = cc.RocCurve.from_rates(0.1, 0.6, name="expert")
    >>> hull = cc.RocHull([expert, cc.RocCurve.from_rates(0.3, 0.8, name="rules")])
    >>> hull.best(cc.OperatingCondition(prevalence=0.1, cost_fp=1, cost_fn=20))
    Decision at pc=0.69 (prevalence 0.1, cost_fp 1, cost_fn 20)
      use        rules: fpr 0.3, tpr 0.8
      cost       0.67 per case on these cases, 23.1 % of the cost of getting every case wrong
      runner-up  expert: 0.89 per case, 0.22 (32.8 %) more
    """

    condition: OperatingCondition
    classifier: str
    threshold: float
    fpr: float
    tpr: float
    normalized_cost: float
    expected_cost: float
    ties: tuple[Choice, ...]
    runner_up: Choice
    max_error: float = 0.0
    unsettled: tuple[str, ...] = ()
    _below: float = math.nan

    @property
    def regret(self) -> float:
        """How much more the runner-up would cost, normalized."""
        return self.runner_up.normalized_cost - self.normalized_cost

    @property
    def money_regret(self) -> float:
        """How much more the runner-up would cost per case, in money."""
        return self.runner_up.expected_cost - self.expected_cost

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as plain Python values, regret included."""
        return Result.to_dict(self) | {"regret": self.regret, "money_regret": self.money_regret}

    def _columns(self) -> dict[str, Any]:
        rows: list[tuple[str, Any]] = [
            ("best", self),
            *(("tie", tie) for tie in self.ties),
            ("runner-up", self.runner_up),
        ]
        table = {"role": [role for role, _ in rows]}
        return table | {name: [getattr(row, name) for _, row in rows] for name in Choice._column_names}

    def __repr__(self) -> str:
        c = self.condition
        where = f"prevalence {c.prevalence:.3g}, cost_fp {c.cost_fp:.6g}, cost_fn {c.cost_fn:.6g}"
        share = f"{100 * self.normalized_cost:.3g} % of the cost of getting every case wrong"
        lines = [
            f"Decision at pc={c.pc:.3g} ({where})",
            f"  use        {self.rule}: fpr {self.fpr:.3g}, tpr {self.tpr:.3g}",
            f"  cost       {self.expected_cost:.4g} per case on these cases, {share}",
        ]
        lines += [f"  as good    {t.rule}: fpr {t.fpr:.3g}, tpr {t.tpr:.3g}" for t in self.ties]
        r = self.runner_up
        more = f" ({self.money_regret / self.expected_cost:.1%})".replace("%", " %") if self.expected_cost > 0 else ""
        lines.append(f"  runner-up  {r.rule}: {r.expected_cost:.4g} per case, {self.money_regret:.3g}{more} more")
        if self.max_error:
            less = self.max_error * c.unit_cost
            lines.append(f"  bins       may hide a threshold that costs up to {less:.2g} less per case")
        if self.unsettled:
            lines.append(f"  not settled: binning error may hide that {_listed(self.unsettled)} costs less")
        return "\n".join(lines)


def _listed(names: tuple[str, ...]) -> str:
    """Return names as a list in words."""
    return " or ".join(", ".join(names).rsplit(", ", 1)) if len(names) < 4 else f"{', '.join(names[:3])} or another"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Mixture(Result):
    """A random choice between the two ends of a hull edge: use `second` with the given probability, else `first`.

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="expert")]).interpolate(fpr=0.55)
    Mixture(always positive with probability 0.5, else expert: fpr=0.55, tpr=0.8)
    """

    first: str
    first_threshold: float
    second: str
    second_threshold: float
    probability: float
    fpr: float
    tpr: float
    _below: tuple[float, float] = (math.nan, math.nan)

    @property
    def threshold_text(self) -> tuple[str, str]:
        """Both thresholds in the fewest decimals that separate the same scores; empty if there is no threshold."""
        return (
            threshold_text(self.first, self.first_threshold, self._below[0]),
            threshold_text(self.second, self.second_threshold, self._below[1]),
        )

    def _columns(self) -> dict[str, Any]:
        return {
            "classifier": [self.first, self.second],
            "threshold": [self.first_threshold, self.second_threshold],
            "probability": [1.0 - self.probability, self.probability],
        }

    def __repr__(self) -> str:
        first, second = map(rule_text, (self.first, self.second), self.threshold_text)
        recipe = f"{second} with probability {self.probability:.4g}, else {first}"
        if self.probability in (0.0, 1.0):
            recipe = second if self.probability else first
        return f"Mixture({recipe}: fpr={self.fpr:.3g}, tpr={self.tpr:.3g})"


# What a guarantee says, by the first word of the limit.
_KEPT = {
    "fpr": ("fpr <= {}", "at most {} of new negatives are false alarms"),
    "tpr": ("tpr >= {}", "at least {} of new positives are found"),
    "at": ("alarms <= {} of cases", "at most {} of new cases raise an alarm"),
    "precision": ("precision >= {}", "at least {} of new alarms are right"),
}


def _rounded(bound: float, up: bool) -> str:
    """Return a bound with three digits, rounded so that it still holds."""
    exact = Decimal(repr(bound))
    places = Decimal((0, (1,), exact.adjusted() - 2))
    return f"{float(exact.quantize(places, ROUND_CEILING if up else ROUND_FLOOR)):g}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LimitedChoice(Rule):
    """The best single classifier and threshold under a limit, and the random choice that uses the limit up.

    Attributes
    ----------
    limit : str
        The limit in words.
    classifier, threshold, fpr, tpr
        The best single point of all, whether on the convex hull or not.
    mixture : Mixture
        The best random choice between two points of the convex hull. It never finds less than the single point. If
        using the whole limit gains nothing over using part of it, the mixture uses only that part. With a confidence it
        is the single point.
    alarms : float
        The expected number of alarms if the limit is a capacity; NaN otherwise.
    precision : float
        The share of alarms that are right if that is what is limited; NaN otherwise, and if there are no alarms.
    confidence : float
        The probability with which the limit is kept on new cases; NaN if it only holds on the cases of the curves.
    bound : float
        What is guaranteed of the limited rate with this confidence; a capacity counts as a share of cases. It may be
        better than the limit, because cases are whole numbers. NaN without a confidence, and for the precision of a
        choice without alarms.
    guarantee : str
        The guarantee in words; empty without a confidence.

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="expert")]).best_at_fpr(0.2)
    LimitedChoice(fpr <= 0.2 on these cases: expert, fpr=0.1, tpr=0.6; randomising between two thresholds reaches
    tpr 0.644)
    >>> rules = cc.RocCurve.from_confusion_matrix([[97, 3], [4, 16]], name="rules")
    >>> cc.RocHull([rules]).best_at_fpr(0.1, confidence=0.95).guarantee
    'with a confidence of 95 %, at most 8.92 % of new negatives are false alarms'
    """

    limit: str
    classifier: str
    threshold: float
    fpr: float
    tpr: float
    mixture: Mixture
    alarms: float = math.nan
    _below: float = math.nan
    precision: float = math.nan
    confidence: float = math.nan
    bound: float = math.nan

    _column_names = ("limit", "classifier", "threshold", "fpr", "tpr", "alarms", "precision", "confidence", "bound")

    @property
    def guarantee(self) -> str:
        """What holds on new cases, in words; empty without a confidence."""
        if math.isnan(self.confidence):
            return ""
        if math.isnan(self.bound):
            return "no alarm is raised, so none is wrong"
        return f"with a confidence of {level_text(self.confidence)}, {self._kept(1, 100)}"

    def _kept(self, form: int, times: int) -> str:
        """Return the bound in words, in percent if it is multiplied by 100."""
        text = _KEPT[self.limit.split()[0]][form]
        percent = " %" if times == 100 else ""
        bound = float(Decimal(repr(self.bound)) * times)
        return text.format(_rounded(bound, "<=" in text or "most" in text) + percent)

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as plain Python values, with its guarantee in words."""
        return Result.to_dict(self) | {"guarantee": self.guarantee}

    def __repr__(self) -> str:
        used = "" if math.isnan(self.alarms) else f", {self.alarms:.4g} alarms"
        used += "" if math.isnan(self.precision) else f", precision {self.precision:.3g}"
        known = "on these cases" if self.limit.startswith(("fpr", "tpr")) else "at these rates"
        limit = f"{self.limit} {known}"
        more = f"randomising between two thresholds reaches tpr {self.mixture.tpr:.3g}"
        if self.limit.startswith("tpr"):
            more = f"randomising between two thresholds reaches fpr {self.mixture.fpr:.3g}"
        if not math.isnan(self.confidence):
            kept = "no alarms" if math.isnan(self.bound) else self._kept(0, 1)
            limit, more = self.limit, f"with confidence {self.confidence:g} {kept}"
        return f"LimitedChoice({limit}: {self.rule}, fpr={self.fpr:.3g}, tpr={self.tpr:.3g}{used};\n    {more})"
