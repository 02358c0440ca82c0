"""Decisions by cost on a ROC convex hull: who is best at a condition, and who can be best within a range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from costcurves._base.errors import InputError
from costcurves._base.validation import (
    IntArray,
)
from costcurves.conditions.condition import ConditionLike, OperatingCondition, check_condition
from costcurves.conditions.range import OperatingRange, RangeLike, check_range
from costcurves.curves.choices import (
    Choice,
    Decision,
    as_cheap,
    cheapest_of,
    choice_at,
    runner_up_of,
    trivial_choices,
)
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.differences import Difference
from costcurves.curves.hull_points import HullPoints
from costcurves.curves.ranges import Ranges


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class HullDecisions(HullPoints):
    """The questions to `RocHull` that are answered by cost."""

    def best(self, condition: ConditionLike) -> Decision:
        """Return the cheapest classifier and threshold at an operating condition.

        Parameters
        ----------
        condition : OperatingCondition, or a number read as pc
            The condition under which the classifier will be used. For an OperatingRange see `within`.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="expert")])
        >>> decision = hull.best(cc.OperatingCondition(prevalence=0.09, cost_fp=1, cost_fn=100))
        >>> decision.classifier, round(decision.expected_cost, 4)
        ('always positive', 0.91)
        """
        if isinstance(condition, OperatingRange):
            raise InputError(f"`condition` must be one condition; `within` takes ranges, got {condition!r}")
        where = check_condition(condition)
        cost = where.pc * (1.0 - self.tpr) + (1.0 - where.pc) * self.fpr
        first, *ties = cheapest_of(
            self._choice(name, threshold, float(self.fpr[i]), float(self.tpr[i]), where)
            for i in np.flatnonzero(as_cheap(cost, cost.min()))
            for name, threshold in self.owners[i]
        )
        rivals = [*trivial_choices(where), *self._cheapest_other(first.classifier, where)]
        least = self._least_possible(where.pc)
        return Decision(
            condition=where,
            classifier=first.classifier,
            threshold=first.threshold,
            fpr=first.fpr,
            tpr=first.tpr,
            normalized_cost=first.normalized_cost,
            expected_cost=first.expected_cost,
            ties=tuple(ties),
            runner_up=runner_up_of(rivals, first.classifier),
            max_error=max([0.0, *(first.normalized_cost - cost for cost in least.values())]),
            unsettled=tuple(
                name for name, cost in least.items() if name != first.classifier and cost < first.normalized_cost
            ),
            _below=first._below,
        )

    def _cheapest_other(self, winner: str, where: OperatingCondition) -> list[Choice]:
        """Return the cheapest points, with some alarms but not all, of all classifiers but the winner."""
        points = self._points
        if winner in self.names:
            points = points.at(points.owner != self.names.index(winner))
        if not points.fpr.size:
            return []
        cost = points.cost(slice(None), where.pc)
        return [
            self._choice(self.names[owner], threshold, fpr, tpr, where)
            for fpr, tpr, threshold, owner in zip(
                *(array[as_cheap(cost, cost.min())].tolist() for array in points), strict=True
            )
        ]

    def _choice(self, name: str, threshold: float, fpr: float, tpr: float, where: OperatingCondition) -> Choice:
        """Return one of the points as a choice at a condition."""
        return choice_at(name, threshold, fpr, tpr, where, self._score_below(name, threshold))

    def _least_possible(self, pc: float) -> dict[str, float]:
        """Return the least that each classifier whose scores were binned can cost at pc."""
        binned = (curve for curve in self._known if curve.max_error)
        return {
            curve.name: max(float((pc * (1.0 - curve.tpr) + (1.0 - pc) * curve.fpr).min()) - curve.max_error, 0.0)
            for curve in binned
        }

    def ranges(self) -> Ranges:
        """Return who is best where, over all conditions, with thresholds: this is Table 1 of the 1998 study.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="expert")])
        >>> [(name, round(low, 3), round(high, 3)) for name, low, high in hull.ranges()]
        [('always negative', 0.0, 0.143), ('expert', 0.143, 0.692), ('always positive', 0.692, 1.0)]
        """
        return self._ranges(0.0, 1.0, None)

    def within(self, over: RangeLike) -> Ranges:
        """Return who can be best within a range of conditions, and where: the sensitivity analysis of 1997.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A"), cc.RocCurve.from_rates(0.4, 0.95, name="C")])
        >>> hull.within(cc.OperatingRange(prevalence=1/11, cost_fp=(5, 10), cost_fn=(500, 1000)))
        2 classifiers can be best for pc 0.833 .. 0.952: the choice is sensitive
          pc 0.833 .. 0.923 slope 0.0833 .. 0.2     C
          pc 0.923 .. 0.952 slope 0.05 .. 0.0833    always positive
        """
        span = check_range(over)
        low, high = span.pc
        return self._ranges(low, high, span)

    def segment(self, over: RangeLike) -> slice:
        """Return which vertices can be best within a range of conditions: the segment that a range of slopes selects.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A"), cc.RocCurve.from_rates(0.4, 0.95, name="C")])
        >>> part = hull.segment(cc.OperatingRange(prevalence=1/11, cost_fp=(5, 10), cost_fn=(500, 1000)))
        >>> hull.owner[part]
        ('C', 'always positive')
        """
        used = self._used(*check_range(over).pc)
        return slice(int(used[0]), int(used[-1]) + 1)

    def _used(self, low: float, high: float) -> IntArray:
        """Return the vertices that are best for some pc in [low, high]."""
        start, end = np.clip(self.breaks[:-1], low, high), np.clip(self.breaks[1:], low, high)
        used = np.flatnonzero(end > start)
        if not used.size:  # the range is a single point: take the vertex that is best there
            used = np.array([int(np.searchsorted(self.breaks[1:-1], low, side="left"))])
        return used

    def _ranges(self, low: float, high: float, over: Any) -> Ranges:
        """Return the stretches of pc within [low, high]; consecutive vertices of the same owner make one stretch."""
        start, end = np.clip(self.breaks[:-1], low, high), np.clip(self.breaks[1:], low, high)
        used = self._used(low, high)
        rows: list[tuple[str, float, float, float, float]] = []
        for i in used.tolist():
            name, cut = self.owner[i], float(self.thresholds[i])
            if rows and rows[-1][0] == name:
                _, first, _, cut_low, cut_high = rows[-1]
                rows[-1] = (name, first, float(end[i]), min(cut_low, cut), max(cut_high, cut))
            else:
                rows.append((name, float(start[i]), float(end[i]), cut, cut))
        low_pc, high_pc, low_cut, high_cut = np.array([row[1:] for row in rows]).T.copy()
        below = tuple((self._score_below(name, low), self._score_below(name, high)) for name, _, _, low, high in rows)
        names = tuple(row[0] for row in rows)
        unsettled = self._unsettled(low, high, names)
        return Ranges(names, low_pc, high_pc, low_cut, high_cut, over, below, self.max_error, unsettled)

    def _unsettled(self, low: float, high: float, found: Sequence[str]) -> tuple[str, ...]:
        """Return the other classifiers that could be best somewhere between two pc if bins hide a better threshold."""
        binned = [curve for curve in self._known if curve.max_error and curve.name not in found]
        if not binned:
            return ()
        best = CostCurve(self)
        gaps = {curve.name: Difference(CostCurve(curve), best).corners(low, high)[1].min() for curve in binned}
        return tuple(curve.name for curve in binned if gaps[curve.name] < curve.max_error)
