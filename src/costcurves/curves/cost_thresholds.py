"""The thresholds behind a cost curve: which are in use and with what errors, and which others may be as good."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from costcurves._base.errors import UnsupportedError
from costcurves._base.validation import DEFAULT_LEVEL, FloatArray
from costcurves.conditions.condition import ConditionLike, PcLike, pc_array
from costcurves.conditions.range import RangeLike
from costcurves.curves.cost_measures import CostMeasures
from costcurves.curves.roc import RocCurve
from costcurves.curves.steps import AnySteps
from costcurves.curves.threshold_sets import (
    ThresholdSet,
    ThresholdSets,
    threshold_set,
    threshold_sets,
    thresholds_within,
)


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class CostThresholds(CostMeasures):
    """A cost curve whose classifier is cut anywhere on its scores."""

    thresholds: FloatArray
    _steps: AnySteps | None

    @overload
    def threshold_at(self, pc: ConditionLike) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def threshold_at(self, pc: PcLike) -> FloatArray: ...
    def threshold_at(self, pc: PcLike) -> Any:
        """Return the threshold in use at pc (for the bayes policy, the probability to exceed).

        Parameters
        ----------
        pc : float, array or OperatingCondition

        Examples
        --------
        >>> import costcurves as cc
        >>> curve = cc.CostCurve.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        >>> curve.threshold_at(cc.OperatingCondition(prevalence=0.2, cost_fp=1, cost_fn=3))
        0.8
        """
        x = pc_array(pc)
        cut: Any = self.thresholds[self.step_at(x)]
        if self.policy is not None and self.roc is not None:
            cut = self.policy.threshold_at(self.roc, x, cut)
        return float(cut) if x.ndim == 0 else cut

    def score_below(self, threshold: float) -> float:
        """Return the highest score of the data below a threshold in use, NaN if it is not known."""
        if self.policy is None or self.roc is None:
            return math.nan
        return self.policy.score_below(self.roc, threshold)

    def trivial_at(self, pc: PcLike) -> Any:
        """Return whether, at each pc, the policy predicts the same class for every case, whatever its score.

        The cost is then known: pc if no case is predicted positive, 1 - pc if every case is.

        Examples
        --------
        >>> import costcurves as cc
        >>> curve = cc.CostCurve(cc.RocCurve.from_confusion_matrix([[6, 4], [4, 16]]))
        >>> curve.trivial_at([0.05, 0.5, 0.95]).tolist()
        [True, False, True]
        """
        step = self.step_at(pc)
        return np.zeros(np.shape(step), dtype=np.bool_) if self._steps is None else self._steps.known[step]

    def cuts_at(self, pc: PcLike) -> FloatArray:
        """Return the threshold in use at each pc, as a score of the data."""
        cuts = self.fold_cuts_at(pc)
        if cuts.shape[:2] != (1, 1):
            raise UnsupportedError(
                f"`cuts_at` needs one threshold for all cases, got {self.name!r} with {self.policy!r}: "
                "compare cross-fitted classifiers with cc.compare or Predictions.compare"
            )
        one: FloatArray = cuts[0, 0]
        return one

    def fold_cuts_at(self, pc: PcLike) -> FloatArray:
        """Return the threshold in use at each pc for the cases of each fold, of shape (divisions, folds, points)."""
        roc = self._need_roc("cuts_at")
        if self._steps is None or not roc.has_thresholds:
            raise UnsupportedError(f"`cuts_at` needs a curve made from scores, got {self.name!r}")
        return self._steps.cuts(roc, pc_array(pc))

    def errors_at(self, pc: PcLike) -> tuple[FloatArray, FloatArray]:
        """Return misses and false alarms (counts, or sums of weights) at the threshold in use at each pc."""
        roc = self._need_roc("errors_at")
        if roc.made_from == "rates" or self._steps is None:
            raise UnsupportedError(f"`errors_at` needs counts, got {self.name!r} made from rates")
        step = self.step_at(pc)
        misses, alarms = self._steps.errors(roc)
        return misses[step], alarms[step]

    def sizes(self, what: str) -> tuple[float, float, tuple[float, float] | None]:
        """Return positives, negatives and, for weighted data, their effective numbers."""
        roc = self._need_roc(what)
        if roc.made_from == "rates":
            raise UnsupportedError(f"`{what}` needs counts, got {self.name!r} made from rates")
        return roc.n_pos, roc.n_neg, roc.effective

    def threshold_set(self, condition: ConditionLike, *, level: float = DEFAULT_LEVEL) -> ThresholdSet:
        """Return the thresholds that are not shown to cost more than the best threshold at a condition.

        Parameters
        ----------
        condition : OperatingCondition, or a number read as pc
        level : float in (0, 1)
            The truly best threshold of this classifier is in the set with at least this probability.

        Notes
        -----
        A threshold is excluded if among the cases with scores next below it, or next above it, there are too many of
        the class that it gets wrong, whichever number of cases one looks at. The set is the same for all policies. It
        is finest where all ROC points are known: ``cc.CostCurve(cc.RocCurve.from_predictions(...))``. Thresholds
        between two known (or, of very many, two tested) points are in the set unless both points are excluded.

        Examples
        --------
        >>> import costcurves as cc
        >>> roc = cc.RocCurve.from_predictions([0] * 40 + [1] * 40, [*range(40), *range(25, 65)])
        >>> cc.CostCurve(roc).threshold_set(0.5).threshold_text
        ('score >= 20 .. 45',)
        """
        return threshold_set(self._all_thresholds("threshold_set"), condition, level)

    def threshold_sets(self, over: RangeLike = None, *, level: float = DEFAULT_LEVEL) -> ThresholdSets:
        """Return the sets of thresholds at all conditions of a range, which hold jointly.

        Parameters
        ----------
        over : OperatingRange, optional
            By default all of pc.
        level : float in (0, 1)
            At every condition of the range at once, the truly best threshold is in its set with at least this
            probability. The sets are therefore wider than that of `threshold_set` at one condition.
        """
        return threshold_sets(self._all_thresholds("threshold_sets"), over, level)

    def thresholds_within(self, condition: ConditionLike, *, tolerance: float = 0.05) -> ThresholdSet:
        """Return the thresholds whose cost on these cases exceeds the least one by at most a share of it.

        Parameters
        ----------
        condition : OperatingCondition, or a number read as pc
        tolerance : float
            0.05 stands for 5 % of the least cost of errors.

        Examples
        --------
        >>> import costcurves as cc
        >>> roc = cc.RocCurve.from_predictions([0] * 40 + [1] * 40, [*range(40), *range(25, 65)])
        >>> cc.CostCurve(roc).thresholds_within(0.5, tolerance=0.1).threshold_text
        ('score >= 24 .. 41',)
        """
        return thresholds_within(self._all_thresholds("thresholds_within"), condition, tolerance)

    def _all_thresholds(self, what: str) -> RocCurve:
        """Return the ROC curve, refused unless it has every threshold."""
        roc = self._need_roc(what)
        roc.need_all_points(what)
        return roc
