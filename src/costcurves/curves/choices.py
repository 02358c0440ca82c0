"""Recommendations as values: what to use, where, at which threshold, and what the next best would lose."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

import numpy as np

from costcurves._base.results import Result
from costcurves._base.text import safe
from costcurves._base.threshold_text import cut_text
from costcurves._base.validation import FloatArray, frozen
from costcurves.conditions.condition import OperatingCondition, OperatingRange, pc_to_slope
from costcurves.counting.geometry import upper_hull
from costcurves.curves.differences import EQUAL
from costcurves.curves.roc import RocCurve

ALWAYS_NEGATIVE = "always negative"
ALWAYS_POSITIVE = "always positive"
TRIVIAL = (ALWAYS_NEGATIVE, ALWAYS_POSITIVE)


def rule_text(classifier: str, threshold_text: str) -> str:
    """Return how to use a classifier, in words: ``forest at score >= 0.25``."""
    return f"{safe(classifier)} at score >= {threshold_text}" if threshold_text else safe(classifier)


def threshold_text(classifier: str, threshold: float, below: float = math.nan) -> str:
    """Return the threshold of a classifier as text that separates the same scores; nothing where it has none."""
    return "" if classifier in TRIVIAL or math.isnan(threshold) else cut_text(threshold, below)


class Rule(Result):
    """What results that name one classifier and its threshold have in common.

    `_below` is the next lower score of the data, NaN where it is not known.
    """

    __slots__ = ()

    classifier: str
    threshold: float
    _below: float

    @property
    def threshold_text(self) -> str:
        """The threshold in the fewest decimals that separate the same scores; nothing where there is none."""
        return threshold_text(self.classifier, self.threshold, self._below)

    @property
    def rule(self) -> str:
        """How to use the classifier, in words."""
        return rule_text(self.classifier, self.threshold_text)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Choice(Rule):
    """One classifier at one threshold, and what it costs at the condition it was asked for.

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

    def _columns(self) -> dict[str, Any]:
        return {name: [getattr(self, name)] for name in _CHOICE}

    def __repr__(self) -> str:
        """Return the rule and its cost."""
        return f"Choice({self.rule}: fpr={self.fpr:.3g}, tpr={self.tpr:.3g}, cost {self.expected_cost:.4g})"


_CHOICE = tuple(field.name for field in fields(Choice) if not field.name.startswith("_"))


def choice_at(
    name: str, threshold: float, fpr: float, tpr: float, condition: OperatingCondition, below: float = math.nan
) -> Choice:
    """Return a classifier at one of its thresholds, with what it costs at a condition.

    `below` is the next lower score of the data, NaN if it is not known.
    """
    cost = condition.pc * (1.0 - tpr) + (1.0 - condition.pc) * fpr
    return Choice(name, threshold, fpr, tpr, cost, condition.money(cost), below)


def as_cheap(cost: Any, least: float) -> Any:
    """Return whether costs are equal to the least one but for rounding: 1e-12 of them, however small they are."""
    return cost - least <= EQUAL * cost


def trivial_choices(condition: OperatingCondition) -> tuple[Choice, Choice]:
    """Return the two classifiers that look at no score: the one that never alarms and the one that always does."""
    return (
        choice_at(ALWAYS_NEGATIVE, math.inf, 0.0, 0.0, condition),
        choice_at(ALWAYS_POSITIVE, -math.inf, 1.0, 1.0, condition),
    )


def with_alarms_between(curve: RocCurve) -> RocCurve:
    """Return the curve with only those points that can be the cheapest of all with some alarms, but not all.

    They are the vertices of the upper hull of the points between (0, 0) and (1, 1), and these two ends.
    """
    fp, tp = curve.fp, curve.tp
    between = np.flatnonzero(((fp > 0) | (tp > 0)) & ((fp < curve.n_neg) | (tp < curve.n_pos)))
    if between.size:
        between = between[upper_hull(fp[between], tp[between])]
    kept = np.concatenate(([0], between, [fp.size - 1]))
    return curve if kept.size == fp.size else curve.at(kept)


def cheapest_with_alarms(curve: RocCurve, condition: OperatingCondition) -> Choice | None:
    """Return the cheapest threshold of a classifier that raises some alarms, but not all; None if it has none.

    A classifier that never alarms, or always does, is one of the trivial ones: it is left to them. Of thresholds
    that cost the same the one with the fewest false alarms is taken, then the one that finds most.
    """
    points = with_alarms_between(curve)
    fpr, tpr = points.fpr[1:-1], points.tpr[1:-1]
    if not fpr.size:
        return None
    cost = condition.pc * (1.0 - tpr) + (1.0 - condition.pc) * fpr
    tied = np.flatnonzero(as_cheap(cost, cost.min()))
    i = int(tied[fpr[tied] == fpr[tied[0]]][-1])
    cut = float(points.thresholds[1 + i])
    return choice_at(curve.name, cut, float(fpr[i]), float(tpr[i]), condition, curve.score_below(cut))


def cheapest_of(choices: Iterable[Choice]) -> list[Choice]:
    """Return the choices that cost least (but for rounding), the one to prefer first.

    Of equal costs a trivial classifier comes first, because it needs no model, then the first by name, then the one
    with the fewest false alarms, then the one that finds most.
    """
    listed = list(choices)
    least = min(choice.normalized_cost for choice in listed)
    tied = (choice for choice in listed if as_cheap(choice.normalized_cost, least))
    return sorted(tied, key=lambda one: (one.classifier not in TRIVIAL, one.classifier, one.fpr, -one.tpr))


def runner_up_of(choices: Iterable[Choice], winner: str) -> Choice:
    """Return the next best to the winner: the cheapest choice of any other classifier.

    The two trivial classifiers are classifiers of their own, so `choices` must hold both (`trivial_choices`). Any
    other classifier stands for itself only where it raises some alarms, but not all (`cheapest_with_alarms`): a choice
    of it that never alarms, or always does, is passed over. Of equal costs a trivial classifier comes last, because
    another one says more, then the first by name, then the one with the fewest false alarms, then the one that finds
    most.

    Parameters
    ----------
    choices : iterable of Choice
        What could be used at one condition; any number for each classifier.
    winner : str
        The name of the classifier that is used; its choices are passed over.

    Examples
    --------
    >>> import costcurves as cc
    >>> from costcurves.curves.choices import cheapest_with_alarms, runner_up_of, trivial_choices
    >>> rules = cc.RocCurve.from_rates(0.01, 0.3, name="rules")
    >>> rare = cc.OperatingCondition(prevalence=0.01, cost_fp=1, cost_fn=1)
    >>> runner_up_of([*trivial_choices(rare), cheapest_with_alarms(rules, rare)], "always negative")
    Choice(rules: fpr=0.01, tpr=0.3, cost 0.0169)
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
        What to use: predict positive iff score >= threshold (NaN for a classifier without scores).
    fpr, tpr : float
        Its rates.
    normalized_cost, expected_cost : float
        Its cost relative to always being wrong, and per case in money.
    ties : tuple of Choice
        Others of the same cost (to 12 digits): co-owners of the point, and the other end of the hull's edge. Of
        equal costs a trivial classifier is preferred, then the first by name.
    runner_up : Choice
        The cheapest choice of any *other* classifier. The trivial ones are classifiers of their own; each other one
        stands there with the cheapest threshold that raises some alarms, but not all. Of equal costs a trivial
        classifier comes last, then the first by name is taken.
    regret, money_regret : float
        What using the runner-up instead would lose, normalized and per case in money.
    max_error : float
        By how much the least normalized cost can be too high because scores were binned. What the threshold costs in
        these data is exact; a better one may lie within a bin.
    unsettled : tuple of str
        Other classifiers that could be the best, because the bins may hide a better threshold of theirs.

    Examples
    --------
    >>> import costcurves as cc
    >>> expert = cc.RocCurve.from_rates(0.1, 0.6, name="expert")
    >>> hull = cc.RocHull([expert, cc.RocCurve.from_rates(0.3, 0.8, name="rules")])
    >>> hull.best(cc.OperatingCondition(prevalence=0.1, cost_fp=1, cost_fn=20))
    Decision at pc=0.69 (prevalence 0.1, cost_fp 1, cost_fn 20)
      use        rules: fpr 0.3, tpr 0.8
      cost       0.67 per case, 0.231 of always being wrong
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
        """Normalized cost lost by using the runner-up."""
        return self.runner_up.normalized_cost - self.normalized_cost

    @property
    def money_regret(self) -> float:
        """Money per case lost by using the runner-up."""
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
        return table | {name: [getattr(row, name) for _, row in rows] for name in _CHOICE}

    def __repr__(self) -> str:
        """Return the decision in words."""
        c = self.condition
        where = f"prevalence {c.prevalence:.3g}, cost_fp {c.cost_fp:.6g}, cost_fn {c.cost_fn:.6g}"
        lines = [
            f"Decision at pc={c.pc:.3g} ({where})",
            f"  use        {self.rule}: fpr {self.fpr:.3g}, tpr {self.tpr:.3g}",
            f"  cost       {self.expected_cost:.4g} per case, {self.normalized_cost:.3g} of always being wrong",
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
class Ranges(Result):
    """Who is best where: one row for each stretch of pc, in increasing pc (so in decreasing slope).

    Attributes
    ----------
    classifier : tuple of str
        The owner of each stretch; the trivial classifiers are ``"always negative"`` and ``"always positive"``.
    pc_low, pc_high, slope_low, slope_high : arrays
        The stretch in probability-cost and in slope of the iso-performance lines.
    threshold_low, threshold_high : arrays
        The thresholds the owner uses within the stretch.
    threshold_text : tuple of (low, high)
        The same as texts, in the fewest decimals that separate the same scores; empty where there is no threshold.
    max_error : float
        By how much the least cost can be too high somewhere because scores were binned.
    unsettled : tuple of str
        Other classifiers that could be best somewhere, because the bins may hide a better threshold of theirs.

    Notes
    -----
    Table 1 of Provost, Fawcett & Kohavi (1998), with thresholds and with the strategies of doing nothing and of
    always alarming.

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="expert")]).ranges()
    Who is best where
      pc 0 .. 0.143     slope 6 .. inf      always negative
      pc 0.143 .. 0.692 slope 0.444 .. 6    expert
      pc 0.692 .. 1     slope 0 .. 0.444    always positive
    """

    classifier: tuple[str, ...]
    pc_low: FloatArray
    pc_high: FloatArray
    threshold_low: FloatArray
    threshold_high: FloatArray
    over: OperatingRange | None = None
    _below: tuple[tuple[float, float], ...] = ()
    max_error: float = 0.0
    unsettled: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Set the arrays read-only."""
        for array in (self.pc_low, self.pc_high, self.threshold_low, self.threshold_high):
            frozen(array)

    @property
    def threshold_text(self) -> tuple[tuple[str, str], ...]:
        """The lowest and the highest threshold of each stretch as texts that separate the same scores."""
        ends = zip(self.threshold_low.tolist(), self.threshold_high.tolist(), strict=True)
        below = self._below or ((math.nan, math.nan),) * len(self)
        return tuple(
            (threshold_text(name, low, low_below), threshold_text(name, high, high_below))
            for name, (low, high), (low_below, high_below) in zip(self.classifier, ends, below, strict=True)
        )

    @property
    def slope_low(self) -> FloatArray:
        """Smallest slope of each stretch."""
        return frozen(np.array([pc_to_slope(pc) for pc in self.pc_high.tolist()]))

    @property
    def slope_high(self) -> FloatArray:
        """Largest slope of each stretch."""
        return frozen(np.array([pc_to_slope(pc) for pc in self.pc_low.tolist()]))

    @property
    def candidates(self) -> tuple[str, ...]:
        """Who can be best, each once, in order of appearance."""
        return tuple(dict.fromkeys(self.classifier))

    @property
    def sensitive(self) -> bool:
        """Whether the choice of classifier depends on the condition within the range."""
        return len(self.candidates) > 1

    def __len__(self) -> int:
        """Return the number of stretches."""
        return len(self.classifier)

    def __iter__(self) -> Iterator[tuple[str, float, float]]:
        """Iterate over (classifier, pc_low, pc_high)."""
        return iter(list(zip(self.classifier, self.pc_low.tolist(), self.pc_high.tolist(), strict=True)))

    def where(self, classifier: str) -> list[tuple[float, float]]:
        """Return the stretches (pc_low, pc_high) of one classifier."""
        return [(low, high) for name, low, high in self if name == classifier]

    def _columns(self) -> dict[str, Any]:
        return {
            "classifier": list(self.classifier),
            "pc_low": self.pc_low,
            "pc_high": self.pc_high,
            "slope_low": self.slope_low,
            "slope_high": self.slope_high,
            "threshold_low": self.threshold_low,
            "threshold_high": self.threshold_high,
        }

    def __repr__(self) -> str:
        """Return the table and, for a range of conditions, the conclusion."""
        rows, texts = [], self.threshold_text
        for i, (name, low, high) in enumerate(self):
            pc = f"pc {low:.3g} .. {high:.3g}"
            slope = f"slope {self.slope_low[i]:.3g} .. {self.slope_high[i]:.3g}"
            ends = " .. ".join(dict.fromkeys(texts[i]))
            cut = f"score >= {ends}" if ends else ""
            rows.append((pc, slope, name, cut))
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        body = [
            f"  {pc:<{widths[0]}} {slope:<{widths[1] + 3}} {name:<{widths[2]}}  {cut}".rstrip()
            for pc, slope, name, cut in rows
        ]
        if self.max_error:
            body.append(f"  bins may hide thresholds that cost up to {self.max_error:.2g} less, and move these limits")
        if self.unsettled:
            body.append(f"  not settled: binning error may hide that {_listed(self.unsettled)} is best somewhere")
        if self.over is None:
            return "\n".join(["Who is best where", *body])
        span = "{:.3g} .. {:.3g}".format(*self.over.pc)
        if self.unsettled:
            head = f"not settled who can be best for pc {span}"
        elif self.sensitive:
            head = f"{len(self.candidates)} classifiers can be best for pc {span}: the choice is sensitive"
        else:
            head = f"{self.candidates[0]} is best throughout pc {span}: the choice is not sensitive"
        return "\n".join([head, *body])


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
        """Both thresholds in the fewest decimals that separate the same scores; nothing where there is none."""
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
        """Return the recipe and what it reaches."""
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
    """Return a bound in three digits, so that it still holds."""
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
        The best random choice between two points of the convex hull. It never finds less, and where all of the limit
        gains nothing more than a part of it, it uses that part. With a confidence it is the single point.
    alarms : float
        Expected alarms, where the limit is a capacity; NaN otherwise.
    precision : float
        The share of alarms that are right, where the limit is one on it; NaN otherwise, or without alarms.
    confidence : float
        The probability with which the limit is kept on new cases; NaN where it only holds on the cases of the curves.
    bound : float
        What is guaranteed of the limited rate (a capacity as a share of cases) with this confidence: the limit, or
        better where the next case more would break it. NaN without a confidence, and of a precision without alarms.
    guarantee : str
        The same in words; empty without a confidence.

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="expert")]).best_at_fpr(0.2)
    LimitedChoice(fpr <= 0.2: expert, fpr=0.1, tpr=0.6; by chance up to tpr=0.644)
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

    @property
    def guarantee(self) -> str:
        """What holds on new cases, in words; empty without a confidence."""
        if math.isnan(self.confidence):
            return ""
        if math.isnan(self.bound):
            return "no alarm is raised, so none is wrong"
        return f"with a confidence of {100 * self.confidence:g} %, {self._kept(1, 100)}"

    def _kept(self, form: int, times: int) -> str:
        """Return the bound, in percent where it is multiplied by 100, in one of the forms of words."""
        text = _KEPT[self.limit.split()[0]][form]
        percent = " %" if times == 100 else ""
        bound = float(Decimal(repr(self.bound)) * times)
        return text.format(_rounded(bound, "<=" in text or "most" in text) + percent)

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as plain Python values, with its guarantee in words."""
        return Result.to_dict(self) | {"guarantee": self.guarantee}

    def _columns(self) -> dict[str, Any]:
        names = ("limit", "classifier", "threshold", "fpr", "tpr", "alarms", "precision", "confidence", "bound")
        return {name: [getattr(self, name)] for name in names}

    def __repr__(self) -> str:
        """Return the choice, and what randomising adds or what is guaranteed."""
        used = "" if math.isnan(self.alarms) else f", {self.alarms:.4g} alarms"
        used += "" if math.isnan(self.precision) else f", precision {self.precision:.3g}"
        more = f"by chance up to tpr={self.mixture.tpr:.3g}"
        if self.limit.startswith("tpr"):
            more = f"by chance down to fpr={self.mixture.fpr:.3g}"
        if not math.isnan(self.confidence):
            kept = "no alarms" if math.isnan(self.bound) else self._kept(0, 1)
            more = f"with confidence {self.confidence:g} {kept}"
        return f"LimitedChoice({self.limit}: {self.rule}, fpr={self.fpr:.3g}, tpr={self.tpr:.3g}{used}; {more})"
