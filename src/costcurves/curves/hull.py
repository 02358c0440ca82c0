"""The ROC convex hull of several classifiers: which of them can be best, where, and at which threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.frames import AnyFrame, NamedColumns, columns_of, source_of_frame
from costcurves._base.results import Result
from costcurves._base.text import error_text
from costcurves._base.validation import Column, IntArray, OnNull, Points, check_choice, check_name, is_empty, shown
from costcurves.conditions.condition import EQUAL, ConditionLike, OperatingCondition, check_condition
from costcurves.conditions.range import OperatingRange, RangeLike, check_range
from costcurves.counting.class_labels import Label
from costcurves.counting.labels import checked_rows
from costcurves.curves.chance import one_question
from costcurves.curves.choices import Choice, Decision, as_cheap, cheapest_of, choice_at, runner_up_of, trivial_choices
from costcurves.curves.cost_curve import CostCurve, CurveLike, as_cost_curve
from costcurves.curves.differences import Difference, PcIntervals
from costcurves.curves.hull_limits import HullLimits
from costcurves.curves.hull_points import RocCurves, check_curves, check_not_trivial
from costcurves.curves.ranges import Ranges
from costcurves.curves.roc import LATER, RocCurve


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class RocHull(HullLimits):
    """The upper convex hull of the ROC points of some classifiers and of the two trivial ones.

    Only what lies on it can be optimal, whatever the costs and the class frequencies are.

    Parameters
    ----------
    curves : sequence of RocCurve, or mapping of name to RocCurve
        The classifiers; their names must differ. They may come from different test sets, from confusion matrices
        or from bare rates.

    Attributes
    ----------
    fpr, tpr : arrays of shape (v,)
        The vertices, from (0, 0) to (1, 1).
    owner, thresholds : tuple of str, array of shape (v,)
        The classifier that reaches each vertex, and its threshold there; of several classifiers the first by name.
    owners : tuple of tuples (name, threshold)
        All classifiers that reach each vertex.
    breaks : array of shape (v + 1,)
        Vertex i is best for pc in [breaks[i], breaks[i+1]].
    names : tuple of str
        The names of all classifiers, in the order given.
    never_best : tuple of str
        Classifiers without a vertex. They cannot be optimal, unless bins of their scores hide a better threshold
        (`Ranges.unsettled`), but they may be the runner-up.
    max_error : float
        The most by which the least cost can be too high at any pc because scores were binned: the largest of all
        curves.

    Notes
    -----
    Provost & Fawcett (1997). Which points are vertices is decided in exact integer arithmetic, so that the answer for
    equal and collinear points is well defined and does not depend on the order of the rows or of the classifiers.

    Examples
    --------
    >>> import costcurves as cc
    >>> hull = cc.RocHull([
    ...     cc.RocCurve.from_confusion_matrix([[90, 10], [4, 16]], name="rules"),
    ...     cc.RocCurve.from_rates(fpr=0.1, tpr=0.6, name="expert"),
    ... ])
    >>> hull
    RocHull(3 vertices from 1 of 2 classifiers: 'rules'; never best: 'expert')
    """

    def __init__(self, curves: RocCurves) -> None:
        members = tuple(check_curves(curves))
        names = tuple(curve.name for curve in members)
        check_not_trivial(names, "curves")
        self._assemble(names, tuple(curve.candidates() for curve in members), members)

    @classmethod
    @one_question()
    def from_predictions(
        cls,
        y_true: Column,
        scores: NamedColumns,
        *,
        pos_label: Label | None = None,
        sample_weight: npt.ArrayLike | None = None,
        points: Points = "all",
    ) -> RocHull:
        """Return the hull of several classifiers' scores on the same examples.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels.
        scores : mapping of name to array-like of shape (n,), dataframe, or array-like of shape (n,)
            The scores of each classifier. Every column of a dataframe is taken for the scores of a classifier. A single
            array or series is one classifier, called by the name of the series or "classifier".
        pos_label, sample_weight, points
            As for `RocCurve.from_predictions`; ``points="hull"`` takes less memory and is enough for decisions by cost.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.RocHull.from_predictions([0, 0, 1, 1], {"a": [0.1, 0.4, 0.35, 0.8], "b": [0.3, 0.2, 0.1, 0.1]})
        RocHull(4 vertices from 1 of 2 classifiers: 'a'; never best: 'b')
        """
        check_choice("points", points, ("all", "hull"))
        rows = checked_rows(y_true, columns_of("scores", scores), pos_label, sample_weight)
        kept = LATER if points == "all" else points
        return cls(
            [
                RocCurve.of_checked(rows.positive, values, rows.weights, name=check_name("scores", name), points=kept)
                for name, values in rows.scores.items()
            ]
        )

    @classmethod
    @one_question()
    def from_frame(
        cls,
        frame: AnyFrame,
        *,
        label: str,
        scores: Sequence[str],
        weight: str | None = None,
        pos_label: Label | None = None,
        points: Points = "all",
        on_null: OnNull = "refuse",
    ) -> RocHull:
        """Return the hull of several columns of scores, all counted in the same pass, from a dataframe of any library.

        Parameters
        ----------
        frame, label, weight, pos_label, points, on_null
            As for `RocCurve.from_frame`.
        scores : sequence of str
            The columns of scores, one per classifier.

        Examples
        --------
        >>> import costcurves as cc
        >>> import pandas as pd
        >>> df = pd.DataFrame({"y": [0, 0, 1, 1], "a": [0.1, 0.4, 0.35, 0.8], "b": [0.3, 0.2, 0.1, 0.1]})
        >>> cc.RocHull.from_frame(df, label="y", scores=["a", "b"])
        RocHull(4 vertices from 1 of 2 classifiers: 'a'; never best: 'b')
        """
        if isinstance(scores, str) or is_empty(scores):
            raise InputError(f"`scores` must be a list of columns, got {shown(scores)}")
        check_choice("points", points, ("all", "hull"))
        options: dict[str, Any] = {"weight": weight, "pos_label": pos_label, "on_null": on_null}
        return cls(
            list(source_of_frame(frame, label=label, scores={"scores": scores}, **options).rocs(points).values())
        )

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
        """Return which classifier is best where, over all conditions, with thresholds: Table 1 of the 1998 study.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="expert")])
        >>> [(name, round(low, 3), round(high, 3)) for name, low, high in hull.ranges()]
        [('always negative', 0.0, 0.143), ('expert', 0.143, 0.692), ('always positive', 0.692, 1.0)]
        """
        return self._ranges(0.0, 1.0, None)

    def within(self, over: RangeLike) -> Ranges:
        """Return which classifiers can be best within a range of conditions: the sensitivity analysis of 1997.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A"), cc.RocCurve.from_rates(0.4, 0.95, name="C")])
        >>> hull.within(cc.OperatingRange(prevalence=1/11, cost_fp=(5, 10), cost_fn=(500, 1000)))
        2 classifiers can be best on these cases for pc 0.833 .. 0.952: the choice is sensitive
        (recommend_within says how sure that is)
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

    def gain(self, curve: CurveLike | HasHull | str, *, over: RangeLike = None) -> Gain:
        """Return by how much a classifier lowers the least cost, over a range of conditions.

        Parameters
        ----------
        curve : RocCurve, CostCurve, AveragedRoc, RocHull, Predictions or str
            A classifier to add, with its best thresholds or those of a cost curve's policy. A hull or predictions stand
            for all their classifiers together, and the name of one of this hull's classifiers for what it adds to all
            others.
        over : OperatingRange, OperatingCondition or (low, high), optional
            The conditions to consider; a pair is one of pc. By default all conditions.

        Notes
        -----
        Provost & Fawcett (1997) propose to search for classifiers that extend the hull; this is the criterion of such a
        search. On the cases that the hull is made from, even a useless classifier adds a little by chance;
        `Predictions.select` judges additions on other cases.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A"), cc.RocCurve.from_rates(0.5, 0.9, name="B")])
        >>> hull.gain(cc.RocCurve.from_rates(0.2, 0.8, name="C"))
        Gain('C' lowers the cost for pc 0 .. 1 by 0.0149 on average, at most 0.0714 (at pc 0.571))
        >>> hull.gain("B", over=(0, 0.3)).mean
        0.0
        """
        if isinstance(curve, str):
            members = dict(self.roc_curves())
            if curve not in members or len(members) < 2:
                raise InputError(f"`curve` must be one of several classifiers of the hull, got {shown(curve)}")
            more = CostCurve(members.pop(curve))
            less = CostCurve(RocHull(list(members.values())))
        else:
            added: Any = curve.hull() if hasattr(curve, "hull") else curve
            less, more = CostCurve(self), as_cost_curve(added, "curve")
        span = check_range(over)
        low, high = span.pc
        difference = Difference(less, more)
        pc, saved = difference.corners(low, high)
        top = int(np.argmax(saved))
        largest = max(float(saved[top]), 0.0)
        # Of a piece that crosses zero, only a triangle counts.
        first, second, positive = saved[:-1], saved[1:], np.maximum(saved, 0.0)
        crosses = first * second < 0
        height = np.where(crosses, np.maximum(first, second) ** 2, positive[:-1] + positive[1:])
        area = float((np.diff(pc) * height / np.where(crosses, np.abs(second - first), 1.0)).sum() / 2)
        mean = area / (high - low) if high > low else largest
        where = PcIntervals(*Difference(more, less).negative())
        return Gain(more.name, span, mean, largest, float(pc[top]), where, difference.max_error)


class HasHull(Protocol):
    """What has a hull, such as `Predictions`."""

    def hull(self) -> RocHull:
        """Return the hull of all its classifiers."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Gain(Result):
    """What a classifier adds to a hull.

    Attributes
    ----------
    name : str
    over : OperatingRange
    mean : float
        By how much the least normalized cost falls, on average over pc, uniform in the range.
    largest, at_pc : float
        The largest fall in the range, and where it occurs.
    extends : PcIntervals
        Where, over all conditions, the classifier is cheaper than the hull without it.
    max_error : float
        The most by which a gain can be wrong because scores were binned.

    Examples
    --------
    >>> import costcurves as cc
    >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A")])
    >>> hull.gain(cc.RocCurve.from_rates(0.3, 0.5, name="F"))
    Gain('F' adds nothing to the hull for pc 0 .. 1)
    """

    name: str
    over: OperatingRange
    mean: float
    largest: float
    at_pc: float
    extends: PcIntervals
    max_error: float = 0.0

    _column_names = ("name", "mean", "largest", "at_pc", "max_error")

    def __repr__(self) -> str:
        span = "pc {:.3g} .. {:.3g}".format(*self.over.pc)
        error = error_text(self.max_error)
        if self.largest <= EQUAL:
            return f"Gain({self.name!r} adds nothing to the hull for {span}{error})"
        most = f"at most {self.largest:.3g} (at pc {self.at_pc:.3g})"
        return f"Gain({self.name!r} lowers the cost for {span} by {self.mean:.3g} on average, {most}{error})"
