"""Threshold policies: rules that choose the threshold at each operating condition.

Applied to a ROC curve, a policy selects the point that is used on each interval of pc, which makes a cost curve. Bands
and comparisons are conditional on these thresholds. A new policy is a class with its function here, and needs no change
anywhere else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np

from costcurves._base.errors import InputError, UnsupportedError
from costcurves._base.text import cut_text
from costcurves._base.validation import (
    FloatArray,
    IntArray,
    check_in_open_unit,
    check_instance,
    check_integer,
    check_number,
    shown,
)
from costcurves.curves.crossfit import Crossfit
from costcurves.curves.policy import Policy, Steps, best_steps
from costcurves.curves.roc import RocCurve

# Thresholds that follow from costs are rounded, where they are shown, by at most this part of their size.
_ROUNDING = 1e-3
# Where a rule of pc is looked at before halving.
_GRID = np.linspace(0.0, 1.0, 2049)


@dataclass(frozen=True, slots=True)
class Optimal(Policy):
    """The threshold that minimises cost on the same data: the lower envelope of the cost lines, which is optimistic."""

    needs_all_points = False
    chosen_here = True
    looks = True

    def steps(self, roc: RocCurve) -> Steps:
        """Return the hull's vertices between the slopes of their edges."""
        return best_steps(roc._known)

    @property
    def in_words(self) -> str:
        """What the policy does."""
        return "best threshold by pc"

    def __repr__(self) -> str:
        return "optimal()"


@dataclass(frozen=True, slots=True)
class Fixed(Policy):
    """The same threshold at every pc: a straight cost line."""

    threshold: float

    def steps(self, roc: RocCurve) -> Steps:
        """Return the point that the threshold reaches."""
        if not roc.complete and self.threshold not in roc.thresholds:
            roc.need_all_points("policy")
        index = np.array([int(roc.index_of(self.threshold))])
        return Steps(np.array([0.0, 1.0]), index, np.array([self.threshold]))

    def __repr__(self) -> str:
        return f"fixed({cut_text(self.threshold)})"

    def score_below(self, roc: RocCurve, threshold: float) -> float:
        """Return NaN: the threshold is shown as it was given."""
        return math.nan


@dataclass(frozen=True, slots=True)
class Point(Policy):
    """The same point of the curve at every pc: a straight cost line, also for classifiers without a threshold."""

    index: int

    def steps(self, roc: RocCurve) -> Steps:
        """Return that point."""
        if self.index >= roc.fp.size:
            raise InputError(f"`index` must be below the curve's {roc.fp.size} points, got {self.index}")
        index = np.array([self.index])
        return Steps(np.array([0.0, 1.0]), index, roc.thresholds[index].copy())

    def __repr__(self) -> str:
        return f"point({self.index})"


@dataclass(frozen=True, slots=True)
class Bayes(Policy):
    """Scores taken for probabilities: predict positive iff (1 - score)·cost_fp < score·cost_fn."""

    prevalence: float | None = None
    takes_probabilities = True

    def steps(self, roc: RocCurve) -> Steps:
        """Return every point, from the pc at which its score becomes the threshold to that of the next score."""
        roc.need_all_points("policy='bayes'")
        if not roc.has_thresholds:
            raise UnsupportedError(f"`policy='bayes'` needs a curve made from scores, got {roc.name!r}")
        scores = roc.thresholds[1:]
        if scores.max() > 1 or scores.min() < 0:
            bad = scores.max() if scores.max() > 1 else scores.min()
            raise InputError(
                f"`policy='bayes'` needs scores that are probabilities in [0, 1], got {shown(bad)} in {roc.name!r}"
            )
        prevalence = self.calibrated_at(roc)
        if np.isnan(prevalence):
            raise InputError(f"`prevalence` must be given for policy='bayes' on rates, got None for {roc.name!r}")
        breaks = np.concatenate(([0.0], swap_axis(scores, prevalence), [1.0]))
        cost_share = swap_axis(breaks[:-1], prevalence)  # the threshold at the left end of each step
        return Steps.of(breaks, np.arange(roc.fp.size), cost_share)

    def threshold_at(self, roc: RocCurve, pc: FloatArray, of_step: Any) -> Any:
        """Return the probability at which both decisions cost the same."""
        return swap_axis(pc, self.calibrated_at(roc))

    def calibrated_at(self, roc: RocCurve) -> float:
        """Return the prevalence that was given, or that of the data."""
        return roc.prevalence if self.prevalence is None else self.prevalence

    def score_below(self, roc: RocCurve, threshold: float) -> float:
        """Let the threshold be rounded by a small part of its size only: it means something by itself."""
        return max(roc.score_below(threshold), threshold * (1.0 - _ROUNDING))

    def __repr__(self) -> str:
        return "bayes()" if self.prevalence is None else f"bayes(prevalence={self.prevalence:g})"


@dataclass(frozen=True, slots=True)
class Product(Policy):
    """The point with the largest (1 - fpr)·tpr at every pc: the largest rectangle under the ROC curve."""

    looks = True

    def steps(self, roc: RocCurve) -> Steps:
        """Return that point; of several, the one with the fewest alarms."""
        roc.need_all_points("policy=product()")
        index = np.array([int(np.argmax((1 - roc.fpr) * roc.tpr))])
        return Steps(np.array([0.0, 1.0]), index, roc.thresholds[index].astype(np.float64))

    def __repr__(self) -> str:
        return "product()"


@dataclass(frozen=True, slots=True)
class Rule(Policy):
    """Any threshold t(pc) that a function gives."""

    function: Callable[[FloatArray], Any]

    def steps(self, roc: RocCurve) -> Steps:
        """Return the points that the thresholds reach, between the pc at which they pass a score."""
        roc.need_all_points("policy=rule(...)")

        def point(pc: FloatArray) -> tuple[IntArray, FloatArray]:
            cuts = np.asarray(self._asked(pc), dtype=np.float64)
            return np.asarray(roc.index_of(cuts)), cuts

        index, cuts = point(_GRID)
        moved = np.diff(index)
        change = np.flatnonzero((moved != 0) | (np.isinf(cuts[1:]) != np.isinf(cuts[:-1])))
        # One entry for each score that is passed within a cell of the grid, in the order in which it is.
        sizes = np.maximum(np.abs(moved[change]), 1)
        cell, way = np.repeat(change, sizes), np.repeat(np.sign(moved[change]), sizes)
        wanted = index[cell] + way * (np.arange(cell.size) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1)
        low, high = _GRID[cell], _GRID[cell + 1]
        for _ in range(45 if cell.size else 0):  # halving, until floats end
            middle = 0.5 * (low + high)
            here, cut = point(middle)
            passed = np.where(way == 0, np.isinf(cut) == np.isinf(cuts[cell + 1]), way * (here - wanted) >= 0)
            low, high = np.where(passed, low, middle), np.where(passed, middle, high)
        breaks = np.concatenate([[0.0], np.maximum.accumulate(low), [1.0]])
        used = np.concatenate([index[:1], np.where(way == 0, index[cell + 1], wanted)])
        long = np.diff(breaks) > 0  # scores that are passed at the same pc make one step
        breaks, used = np.append(breaks[:-1][long], 1.0), used[long]
        return Steps.of(breaks, used, point(0.5 * (breaks[:-1] + breaks[1:]))[1])

    def _asked(self, pc: FloatArray) -> FloatArray:
        """Return the function's thresholds, checked."""
        try:
            found = np.asarray(self.function(pc), dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"`function` must return one threshold per pc, got no numbers: {error}") from None
        if found.shape != pc.shape or np.isnan(found).any():
            raise InputError(f"`function` must return one threshold per pc, got shape {found.shape} for {pc.shape}")
        return found

    def threshold_at(self, roc: RocCurve, pc: FloatArray, of_step: Any) -> Any:
        """Return the thresholds of the function."""
        return self._asked(np.atleast_1d(pc)).reshape(np.shape(pc))

    def score_below(self, roc: RocCurve, threshold: float) -> float:
        """Return NaN: the threshold is shown as the function gives it."""
        return math.nan

    def __repr__(self) -> str:
        return f"rule({getattr(self.function, '__name__', type(self.function).__name__)})"


@dataclass(frozen=True, slots=True, eq=False)
class Validation(Policy):
    """Thresholds that were optimal on other data; the cost is measured here."""

    other: RocCurve
    of_one_classifier = True

    def steps(self, roc: RocCurve) -> Steps:
        """Return the points that the other curve's optimal thresholds reach on this one."""
        roc.need_all_points("policy=validation(...)")
        chosen = Optimal().steps(self.other)
        return Steps(chosen.breaks, roc.index_of(chosen.thresholds), chosen.thresholds)

    def score_below(self, roc: RocCurve, threshold: float) -> float:
        """Return the higher of the two next scores: cases of both data sets must be separated in the same way."""
        return max(self.other.score_below(threshold), roc.score_below(threshold))

    def __repr__(self) -> str:
        return f"validation({self.other.name!r})"


def swap_axis(value: Any, prevalence: float) -> FloatArray:
    """Return pc of a cost share cost_fp / (cost_fp + cost_fn) at a prevalence, or the cost share of a pc.

    The map ``x -> (1-x)·p / ((1-x)·p + x·(1-p))`` is its own inverse, and decreasing.
    """
    x = np.asarray(value, dtype=np.float64)
    positive = (1.0 - x) * prevalence
    result: FloatArray = positive / (positive + x * (1.0 - prevalence))
    return result


def optimal() -> Policy:
    """Return the policy that minimises cost on the same data: the lower envelope, which is optimistic.

    Examples
    --------
    >>> import costcurves as cc
    >>> roc = cc.RocCurve.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> cc.CostCurve(roc, policy=cc.thresholds.optimal()).evaluate(0.5)
    0.25
    """
    return Optimal()


def crossfit(n_folds: int | None = None, n_repeats: int = 1) -> Policy:
    """Return the policy that judges each case at the threshold that is best, at each pc, without the case's fold.

    No case influences the threshold by which it is judged, so the cost is not too low, as that of ``"optimal"`` is. It
    estimates the cost, on new cases, of thresholds that were chosen on (n_folds - 1) / n_folds of these cases.
    `CostCurve.threshold_at` still returns the threshold chosen on all cases, which is the one to deploy.

    Parameters
    ----------
    n_folds : int, optional
        The number of folds, 2 or more. By default the folds of the predictions, if they have any
        (`Predictions(..., folds=...)`, `evaluate`), and otherwise 5.
    n_repeats : int
        How many divisions into folds there are; their costs are averaged, which reduces the noise of the division.

    Notes
    -----
    Errors of all folds are added, ``fnr(pc) = Σ_f FN_f(t_f(pc)) / P`` and likewise fpr, where t_f is optimal on all
    cases outside fold f. Each class is divided separately, at random, by the ranks of the scores, and the seed follows
    from the counts at all scores (of 65,536 cases or more, from those at the vertices of the hull; each case of a class
    of that size has any fold with the same probability, so that folds differ a little in size). So neither the order of
    the rows nor a monotone transform of the scores matters, and arrays, dataframes, files and tallies have the same
    curve. Where a class has fewer cases than there are folds, there are fewer folds, with a `FewerFoldsWarning`. If
    scores were binned, thresholds lie at the boundaries of bins, and the curve is exactly what such thresholds cost;
    its `max_error` is 0 because nothing else is claimed.

    One count serves all folds, because counts subtract: the cost of a curve is about that of a hull for each fold.

    Measured on binormal scores (6,000 data sets each), the mean error of the cost was -0.0007, -0.0004, 0.0003 and
    0.0003 (standard errors 0.0015, 0.0010, 0.0008 and 0.0003) with 10/10, 10/20, 25/50 and 100/200 positives and
    negatives, against the true cost of thresholds from four fifths of the cases; that of "optimal" was -0.108, -0.072,
    -0.059 and -0.020, of costs between 0.26 and 0.34.

    An interval of the cost (`CostCurve.band`) takes the counts as they are. The cost of a threshold that is chosen once
    more, on all cases, varies a little more than that: see `recommend` for limits that allow for it.

    Examples
    --------
    >>> import numpy as np
    >>> import costcurves as cc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(200) < 0.3
    >>> roc = cc.RocCurve.from_predictions(y, y + rng.normal(size=200))
    >>> round(cc.CostCurve(roc).evaluate(0.5), 3), round(cc.CostCurve(roc, policy="crossfit").evaluate(0.5), 3)
    (0.241, 0.27)
    """
    number = None if n_folds is None else check_integer("n_folds", n_folds, 2)
    return Crossfit(number, check_integer("n_repeats", n_repeats, 1))


def fixed(threshold: float) -> Policy:
    """Return the policy that uses the same threshold at every pc; its cost curve is a straight line.

    Examples
    --------
    >>> import costcurves as cc
    >>> roc = cc.RocCurve.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> cc.CostCurve(roc, policy=cc.thresholds.fixed(0.5)).evaluate([0, 0.5, 1]).tolist()
    [0.0, 0.25, 0.5]
    """
    return Fixed(check_number("threshold", threshold))


def point(index: int = 1) -> Policy:
    """Return the policy that uses the same ROC point at every pc, for example that of a classifier without a threshold.

    Parameters
    ----------
    index : int
        The number of the point on the curve. Point 0 is (0, 0), so that 1 is the point of a confusion matrix.

    Examples
    --------
    >>> import costcurves as cc
    >>> roc = cc.RocCurve.from_confusion_matrix([[6, 4], [4, 16]])
    >>> cc.CostCurve(roc, policy=cc.thresholds.point()).evaluate([0, 1]).tolist()
    [0.4, 0.2]
    """
    return Point(check_integer("index", index, 0))


def bayes(prevalence: float | None = None) -> Policy:
    """Return the policy that takes scores for probabilities and cuts where both decisions cost the same.

    Parameters
    ----------
    prevalence : float in (0, 1), optional
        The prevalence at which the scores are calibrated; by default that of the data.

    Notes
    -----
    In terms of pc the threshold is ``(1-pc)·q / ((1-pc)·q + pc·(1-q))`` with q the calibration prevalence, whatever
    the deployment prevalence is: a change of the prior and a change of the costs move it in the same way. The curve is
    a Brier curve: twice its area over cost shares is the Brier score.

    Examples
    --------
    >>> import costcurves as cc
    >>> roc = cc.RocCurve.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> round(cc.CostCurve(roc, policy=cc.thresholds.bayes()).brier_score(), 6)
    0.158125
    """
    return Bayes(None if prevalence is None else check_in_open_unit("prevalence", prevalence))


def validation(other: RocCurve) -> Policy:
    """Return the policy that uses the thresholds that are optimal on another curve, such as that of a validation set.

    If "always positive" is optimal there, the policy predicts positive for every score, also for lower ones than the
    other curve has.

    Examples
    --------
    >>> import costcurves as cc
    >>> found_on = cc.RocCurve.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], name="validation")
    >>> judged_on = cc.RocCurve.from_predictions([0, 0, 1, 1], [0.2, 0.5, 0.3, 0.7], name="test")
    >>> cc.CostCurve(judged_on, policy=cc.thresholds.validation(found_on)).evaluate(0.5)
    0.5
    """
    if not check_instance("other", other, RocCurve).has_thresholds:
        raise UnsupportedError(f"`other` must come from scores, got {other.name!r}, which has no thresholds")
    return Validation(other)


def product() -> Policy:
    """Return the policy that uses the point with the largest (1 - fpr)·tpr at every pc, as some of the literature does.

    Provost & Fawcett (1997) mention it as a rule for costs that are completely unknown. It is here as a baseline to
    compare with. The point is chosen on the same cases, so that its cost is optimistic.

    Examples
    --------
    >>> import costcurves as cc
    >>> roc = cc.RocCurve.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> cc.CostCurve(roc, policy=cc.thresholds.product()).evaluate([0, 0.5, 1]).tolist()
    [0.0, 0.25, 0.5]
    """
    return Product()


def rule(function: Callable[[FloatArray], Any]) -> Policy:
    """Return the policy whose threshold is any function of pc.

    Parameters
    ----------
    function : callable
        Takes an array of pc and returns a threshold for each; inf predicts no case positive, -inf every case. Where the
        threshold passes each score is found by halving between 2,049 points, so that between two neighbours of these
        it should only rise or only fall.

    Examples
    --------
    >>> import costcurves as cc
    >>> roc = cc.RocCurve.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve = cc.CostCurve(roc, policy=cc.thresholds.rule(lambda pc: 1 - pc))
    >>> curve.breaks.round(6).tolist(), curve.evaluate(0.5)
    ([0.0, 0.2, 0.6, 0.65, 0.9, 1.0], 0.25)
    """
    if not callable(function):
        raise InputError(f"`function` must be callable, got {shown(function)} ({type(function).__name__})")
    return Rule(function)


# The policies that a user may name instead of calling them.
NAMED = {"optimal": optimal, "crossfit": crossfit, "bayes": bayes}


# One threshold is a policy, too.
PolicyLike = Policy | Literal["optimal", "crossfit", "bayes"] | float
PairOfPolicies = PolicyLike | Sequence[PolicyLike]  # one for both of two classifiers, or one for each
NamedPolicies = PolicyLike | Mapping[str, PolicyLike]  # one for all classifiers, or one for each name


def as_policy(policy: PolicyLike) -> Policy:
    """Return a policy from its name, from a number (one threshold) or from a policy."""
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, str):
        if policy in NAMED:
            return NAMED[policy]()
    elif isinstance(policy, Real) and not isinstance(policy, bool):
        return Fixed(check_number("policy", policy))
    raise InputError(
        f"`policy` must be {', '.join(map(repr, NAMED))}, a number (one threshold), or from "
        f"costcurves.thresholds (validation(other), ...), got {shown(policy)}"
    )
