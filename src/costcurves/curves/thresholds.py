"""Threshold policies: rules that choose the threshold at each operating condition.

For a ROC curve, a policy says which point is in use on each interval of pc, and so makes it a cost curve. Bands and
comparisons are conditional on these thresholds. A new policy is a class with its function here, and needs no change
anywhere else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from costcurves._base.errors import InputError, UnsupportedError
from costcurves._base.threshold_text import cut_text
from costcurves._base.validation import FloatArray, IntArray, check_in_open_unit, check_integer, check_number, shown
from costcurves.counting.geometry import upper_hull
from costcurves.curves.roc import RocCurve

# Thresholds that follow from costs are rounded, where they are shown, by at most this part of their size.
_ROUNDING = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Which point of a ROC curve is in use at each pc: point ``index[i]`` for pc in (breaks[i], breaks[i+1]].

    A threshold of inf means that no case is predicted positive, whatever its score, and -inf that every case is.
    """

    breaks: FloatArray
    index: IntArray
    thresholds: FloatArray

    @classmethod
    def of(cls, breaks: FloatArray, index: IntArray, thresholds: FloatArray) -> Steps:
        """Return the steps, leaving out those of width zero."""
        wide = np.diff(breaks) > 0
        return cls(np.append(breaks[:-1][wide], breaks[-1]), index[wide], thresholds[wide])


@dataclass(frozen=True, slots=True)
class Policy:
    """A rule that picks the threshold at each pc; see `optimal`, `validation`, `bayes` and `fixed`.

    Examples
    --------
    >>> from costcurves import thresholds
    >>> thresholds.fixed(0.5)
    fixed(0.5)
    """

    # What the rest of the package asks of a policy; each policy states where it differs.
    needs_all_points: ClassVar[bool] = True  # it may use points below the hull
    chosen_here: ClassVar[bool] = False  # thresholds are chosen on the data that they are judged by
    takes_probabilities: ClassVar[bool] = False  # scores must be probabilities
    of_one_classifier: ClassVar[bool] = False  # its thresholds mean nothing for another classifier's scores

    def steps(self, roc: RocCurve) -> Steps:
        """Return the points of the curve in use, by pc."""
        raise TypeError("use one of the policies in costcurves.thresholds")

    def threshold_at(self, roc: RocCurve, pc: FloatArray, of_step: Any) -> Any:
        """Return the thresholds at some pc, given those of the steps in use."""
        return of_step

    def score_below(self, roc: RocCurve, threshold: float) -> float:
        """Return the number below which a threshold must not be rounded; NaN if it must not be rounded at all."""
        return roc.score_below(threshold)

    def calibrated_at(self, roc: RocCurve) -> float:
        """Return the prevalence at which the scores are probabilities."""
        return roc.prevalence

    @property
    def in_words(self) -> str:
        """The policy as the text form of a cost curve shows it."""
        return repr(self)


@dataclass(frozen=True, slots=True)
class Optimal(Policy):
    """The threshold that minimises cost on the same data: the lower envelope of the cost lines, which is optimistic."""

    needs_all_points = False
    chosen_here = True

    def steps(self, roc: RocCurve) -> Steps:
        """Return the hull's vertices between the slopes of their edges."""
        vertex = upper_hull(roc.fp, roc.tp)
        cuts = roc.thresholds[vertex].copy()
        cuts[vertex == roc.fp.size - 1] = -np.inf  # every case is predicted positive, which needs no score
        return Steps.of(hull_breaks(roc, vertex), vertex, cuts)

    @property
    def in_words(self) -> str:
        """What the policy does."""
        return "best threshold by pc"

    def __repr__(self) -> str:
        """Return the name of the policy."""
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
        """Return the policy with its threshold."""
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
        """Return the policy with its point."""
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
        """Return the policy and the prevalence at which the scores are calibrated."""
        return "bayes()" if self.prevalence is None else f"bayes(prevalence={self.prevalence:g})"


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
        """Return the policy and whose thresholds it uses."""
        return f"validation({self.other.name!r})"


def hull_breaks(roc: RocCurve, vertex: IntArray) -> FloatArray:
    """Return 0, the pc at which each hull edge's two ends cost the same, and 1."""
    dx, dy = np.diff(roc.fp[vertex]), np.diff(roc.tp[vertex])
    run, rise = dx * float(roc.n_pos), dy * float(roc.n_neg)
    return np.concatenate(([0.0], run / (run + rise), [1.0]))


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
    if not isinstance(other, RocCurve):
        raise InputError(f"`other` must be a RocCurve, got {shown(other)} ({type(other).__name__})")
    if not other.has_thresholds:
        raise UnsupportedError(f"`other` must come from scores, got {other.name!r}, which has no thresholds")
    return Validation(other)


# The policies that a user may name instead of calling them.
NAMED = {"optimal": optimal, "bayes": bayes}


def as_policy(policy: Any) -> Policy:
    """Return the policy that a name, a number (one threshold) or a policy stands for."""
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
