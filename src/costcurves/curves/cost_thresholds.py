"""What a cost curve says about the thresholds of its classifier: which may be the best, and which cost little more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from costcurves._base.validation import DEFAULT_LEVEL
from costcurves.curves.cost_measures import CostMeasures
from costcurves.curves.roc import RocCurve
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

    def threshold_set(self, condition: Any, *, level: float = DEFAULT_LEVEL) -> ThresholdSet:
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

    def threshold_sets(self, over: Any = None, *, level: float = DEFAULT_LEVEL) -> ThresholdSets:
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

    def thresholds_within(self, condition: Any, *, tolerance: float = 0.05) -> ThresholdSet:
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
