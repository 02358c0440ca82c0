"""The ROC convex hull of several classifiers: which can be best, where, and the decision at a condition."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from costcurves._base.errors import FormatError, InputError, UnsupportedError
from costcurves._base.files import write_atomically
from costcurves._base.frames import columns_of, curves_of_frames
from costcurves._base.results import Result, jsonable
from costcurves._base.validation import (
    FloatArray,
    IntArray,
    check_choice,
    check_in_open_unit,
    check_in_unit,
    check_nonnegative,
    check_path,
    check_positive,
    frozen,
    shown,
)
from costcurves.conditions.condition import OperatingCondition, OperatingRange, check_condition, check_range, pc_array
from costcurves.counting.geometry import common_integers, hull_of_integers
from costcurves.curves.chance import one_question
from costcurves.curves.choices import (
    ALWAYS_NEGATIVE,
    ALWAYS_POSITIVE,
    TRIVIAL,
    Choice,
    Decision,
    LimitedChoice,
    Mixture,
    Ranges,
    as_cheap,
    cheapest_of,
    choice_at,
    runner_up_of,
    threshold_text,
    trivial_choices,
    with_alarms_between,
)
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.differences import EQUAL, Difference
from costcurves.curves.growing_hull import Claim, Growth, Vertices, by_name, points_of
from costcurves.curves.guarantees import (
    Asked,
    Assured,
    assured_alarms,
    assured_fpr,
    assured_load,
    assured_precision,
    assured_tpr,
    check_counted,
)
from costcurves.curves.hull_json import hull_text, parts_of_text
from costcurves.curves.limits import (
    Point,
    fewest_false_alarms,
    first_within_tpr,
    last_within_fpr,
    last_within_load,
    last_within_precision,
    most_found,
)
from costcurves.curves.roc import RocCurve, check_curves, check_unique
from costcurves.curves.standings import Points


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class RocHull(Result):
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
        Whose point each vertex is and at which threshold; of several owners the first by name.
    owners : tuple of tuples (name, threshold)
        All that reach each vertex.
    breaks : array of shape (v + 1,)
        Vertex i is best for pc in [breaks[i], breaks[i+1]].
    names : tuple of str
        The names of all classifiers, in the order given.
    curves : tuple of RocCurve
        The classifiers as they were given; a hull that was added to or read from JSON does not have them.
    dropped : tuple of str
        Classifiers without a vertex: they cannot be optimal, unless bins of their scores hide a better threshold
        (`Ranges.unsettled`), but may be the runner-up.
    max_error : float
        By how much the least cost can be too high at any pc because scores were binned: the largest of all curves.

    Notes
    -----
    Provost & Fawcett (1997). Which points are vertices is decided in integers, so equal and collinear points have
    one answer, and neither the order of the rows nor of the classifiers changes it.

    Examples
    --------
    >>> import costcurves as cc
    >>> hull = cc.RocHull([
    ...     cc.RocCurve.from_confusion_matrix([[90, 10], [4, 16]], name="rules"),
    ...     cc.RocCurve.from_rates(fpr=0.1, tpr=0.6, name="expert"),
    ... ])
    >>> hull
    RocHull(3 vertices from 1 of 2 classifiers: 'rules'; dropped: 'expert')
    """

    names: tuple[str, ...]
    fpr: FloatArray
    tpr: FloatArray
    owner: tuple[str, ...]
    thresholds: FloatArray
    owners: tuple[tuple[Claim, ...], ...]
    breaks: FloatArray
    _curves: tuple[RocCurve, ...] | None  # whole, or not at hand
    _candidates: tuple[RocCurve, ...]  # each with those of its points that can be best or the runner-up
    _points: Points
    _lattice: tuple[tuple[int, int], ...]  # the vertices in integers, of which the last is (1, 1); or empty
    _claims: tuple[tuple[int, ...], ...]  # the points at each vertex, by their place among all; or empty
    _sizes: tuple[int, int] | None  # negatives and positives, where all classifiers are counted on the same numbers
    _growth: Growth | None  # instead of the two, where classifiers were added

    def __init__(self, curves: Any) -> None:
        members = tuple(check_curves(curves))
        names = tuple(curve.name for curve in members)
        _check_not_trivial(names, "curves")
        self._assemble(names, tuple(with_alarms_between(curve) for curve in members), members)

    def _assemble(
        self, names: tuple[str, ...], candidates: tuple[RocCurve, ...], curves: tuple[RocCurve, ...] | None
    ) -> None:
        """Find the hull of all candidates at once."""
        x, y, who = _integer_points(candidates)
        vertices = hull_of_integers(x, y)
        right, top = x[1], y[1]  # the second point is (1, 1)
        at_point: dict[tuple[int, int], list[int]] = {}
        for i, place in enumerate(zip(x, y, strict=True)):
            at_point.setdefault(place, []).append(i)
        claims = [at_point[x[i], y[i]] for i in vertices]
        owners = tuple(by_name(who[i] for i in points) for points in claims)
        dx = [(x[b] - x[a]) * top for a, b in pairwise(vertices)]
        dy = [(y[b] - y[a]) * right for a, b in pairwise(vertices)]
        order = {name: i for i, name in enumerate(names)}
        self._set(
            names=names,
            fpr=np.array([x[i] / right for i in vertices]),
            tpr=np.array([y[i] / top for i in vertices]),
            owner=tuple(there[0][0] for there in owners),
            thresholds=np.array([there[0][1] for there in owners]),
            owners=owners,
            breaks=np.array([0.0, *(a / (a + b) for a, b in zip(dx, dy, strict=True)), 1.0]),
            _curves=curves,
            _candidates=candidates,
            _points=Points.joined([points_of(curve, order[curve.name]) for curve in candidates]),
            _lattice=tuple((x[i], y[i]) for i in vertices),
            _claims=tuple(tuple(i - 2 for i in points if i > 1) for points in claims),
            _sizes=_common_sizes(candidates),
            _growth=None,
        )

    def _set(self, **values: Any) -> None:
        """Set all fields, arrays read-only."""
        for field, value in values.items():
            object.__setattr__(self, field, frozen(value) if isinstance(value, np.ndarray) else value)

    @classmethod
    @one_question()
    def from_predictions(
        cls,
        y_true: Any,
        scores: Mapping[str, Any],
        *,
        pos_label: Any = None,
        sample_weight: Any = None,
        points: str = "all",
    ) -> RocHull:
        """Return the hull of several classifiers' scores on the same examples.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels.
        scores : mapping of name to array-like of shape (n,), or dataframe
            The scores of each classifier; of a dataframe, every column.
        pos_label, sample_weight, points
            As for `RocCurve.from_predictions`; ``points="hull"`` is faster and enough for decisions by cost.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.RocHull.from_predictions([0, 0, 1, 1], {"a": [0.1, 0.4, 0.35, 0.8], "b": [0.3, 0.2, 0.1, 0.1]})
        RocHull(4 vertices from 1 of 2 classifiers: 'a'; dropped: 'b')
        """
        scores = columns_of("scores", scores)
        return cls(
            [
                RocCurve.from_predictions(
                    y_true, score, pos_label=pos_label, sample_weight=sample_weight, name=name, points=points
                )
                for name, score in scores.items()
            ]
        )

    @classmethod
    @one_question()
    def from_frame(
        cls,
        frame: Any,
        *,
        label: str,
        scores: Sequence[str],
        weight: str | None = None,
        pos_label: Any = None,
        points: str = "all",
        on_null: str = "refuse",
    ) -> RocHull:
        """Return the hull of several score columns of a dataframe, of any library; all are counted in the same pass.

        Parameters
        ----------
        frame, label, weight, pos_label, points, on_null
            As for `RocCurve.from_frame`.
        scores : sequence of str
            The columns of scores, one a classifier.

        Examples
        --------
        >>> import costcurves as cc
        >>> import pandas as pd
        >>> df = pd.DataFrame({"y": [0, 0, 1, 1], "a": [0.1, 0.4, 0.35, 0.8], "b": [0.3, 0.2, 0.1, 0.1]})
        >>> cc.RocHull.from_frame(df, label="y", scores=["a", "b"])
        RocHull(4 vertices from 1 of 2 classifiers: 'a'; dropped: 'b')
        """
        if isinstance(scores, str) or not scores:
            raise InputError(f"`scores` must be a list of columns, got {shown(scores)}")
        curves = curves_of_frames().roc_curves(
            frame, label=label, scores=scores, weight=weight, pos_label=pos_label, points=points, on_null=on_null
        )
        return cls(list(curves.values()))

    @property
    def curves(self) -> tuple[RocCurve, ...]:
        """The classifiers as they were given; a hull that was added to or read from JSON does not have them."""
        return self._whole("curves")

    @property
    def has_curves(self) -> bool:
        """Whether the whole curves are at hand: not in a hull that was added to or read from JSON."""
        return self._curves is not None

    def _whole(self, what: str) -> tuple[RocCurve, ...]:
        if self._curves is None:
            raise UnsupportedError(
                f"`{what}` needs the whole curves of all classifiers, got a hull that was added to or read from JSON, "
                "which keeps only points that can be best or the runner-up: use cc.RocHull(curves)"
            )
        return self._curves

    @property
    def name(self) -> str:
        """What the hull is called in pictures."""
        return "hull"

    def curve(self, name: str) -> RocCurve:
        """Return one of the classifiers by its name.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A")]).curve("A")
        RocCurve('A': fpr=0.1, tpr=0.6)
        """
        for curve in self.curves:
            if curve.name == name:
                return curve
        raise InputError(f"`name` must be one of {', '.join(self.names)}, got {shown(name)}")

    def points_of(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Return (fpr, tpr) of those points of a classifier that can be best or the runner-up somewhere.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A")])
        >>> hull.add(cc.RocCurve.from_rates(0.2, 0.5, name="B")).points_of("A")
        (array([0.1]), array([0.6]))
        """
        if name not in self.names:
            raise InputError(f"`name` must be one of {', '.join(self.names)}, got {shown(name)}")
        own = self._points.at(self._points.owner == self.names.index(name))
        return frozen(own.fpr), frozen(own.tpr)

    @property
    def contributors(self) -> tuple[str, ...]:
        """Classifiers that own a vertex (alone or with others), in the order given."""
        on_hull = {name for claims in self.owners for name, _ in claims}
        return tuple(name for name in self.names if name in on_hull)

    @property
    def max_error(self) -> float:
        """By how much the least cost can be too high at any pc because scores were binned."""
        return max((curve.max_error for curve in self._known), default=0.0)

    @property
    def _known(self) -> tuple[RocCurve, ...]:
        """What is kept of each classifier's curve."""
        return self._candidates if self._growth is None else tuple(self._growth.curves.values())

    def _least_possible(self, pc: float) -> dict[str, float]:
        """Return the least that each classifier whose scores were binned can cost at pc."""
        binned = (curve for curve in self._known if curve.max_error)
        return {
            curve.name: max(float((pc * (1.0 - curve.tpr) + (1.0 - pc) * curve.fpr).min()) - curve.max_error, 0.0)
            for curve in binned
        }

    def _unsettled(self, low: float, high: float, found: Sequence[str]) -> tuple[str, ...]:
        """Return who else could be best somewhere between two pc, because bins may hide a better threshold."""
        binned = [curve for curve in self._known if curve.max_error and curve.name not in found]
        if not binned:
            return ()
        best = CostCurve(self)
        gaps = {curve.name: Difference(CostCurve(curve), best).corners(low, high)[1].min() for curve in binned}
        return tuple(curve.name for curve in binned if gaps[curve.name] < curve.max_error)

    @property
    def dropped(self) -> tuple[str, ...]:
        """Classifiers that cannot be optimal, in the order given."""
        contributors = self.contributors
        return tuple(name for name in self.names if name not in contributors)

    def evaluate(self, pc: Any) -> Any:
        """Return the normalized cost of the best vertex at pc.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6)]).evaluate(0.5)
        0.25
        """
        x = pc_array(pc)
        vertex = np.searchsorted(self.breaks[1:-1], x, side="left")
        cost = x * (1.0 - self.tpr[vertex]) + (1.0 - x) * self.fpr[vertex]
        return float(cost) if x.ndim == 0 else cost

    def to_curve(self) -> RocCurve:
        """Return the vertices as one ROC curve (of counts where all classifiers share a test set, else of rates)."""
        cuts = np.full(self.fpr.size, np.nan)
        cuts[0], cuts[-1] = np.inf, -np.inf
        options: dict[str, Any] = {"complete": False, "max_error": self.max_error}
        if self._sizes is None:
            return RocCurve("hull", self.fpr, self.tpr, 1.0, 1.0, cuts, "rates", **options)
        n_neg, n_pos = self._sizes
        fp, tp = (np.rint(rates * n).astype(np.int64) for rates, n in ((self.fpr, n_neg), (self.tpr, n_pos)))
        return RocCurve("hull", fp, tp, n_neg, n_pos, cuts, "counts", **options)

    def best(self, condition: Any) -> Decision:
        """Return the cheapest classifier and threshold at an operating condition.

        Parameters
        ----------
        condition : OperatingCondition, or a number read as pc
            Where the classifier will be used. For an OperatingRange ask `within`.

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
        """Return the cheapest points, with some alarms but not all, of the classifiers that are not the winner."""
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

    @property
    def threshold_text(self) -> tuple[str, ...]:
        """The thresholds in the fewest decimals that separate the same scores; nothing where there is none."""
        return tuple(
            threshold_text(name, threshold, self._score_below(name, threshold))
            for name, threshold in zip(self.owner, self.thresholds.tolist(), strict=True)
        )

    def _score_below(self, name: str, threshold: float) -> float:
        """Return the next lower score below a classifier's threshold, NaN where it is not known."""
        curve = next((curve for curve in self._known if curve.name == name), None)
        return math.nan if curve is None else curve.score_below(threshold)

    def ranges(self) -> Ranges:
        """Return who is best where, over all conditions: the 1998 study's Table 1, with thresholds.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="expert")])
        >>> [(name, round(low, 3), round(high, 3)) for name, low, high in hull.ranges()]
        [('always negative', 0.0, 0.143), ('expert', 0.143, 0.692), ('always positive', 0.692, 1.0)]
        """
        return self._ranges(0.0, 1.0, None)

    def within(self, over: Any) -> Ranges:
        """Return who can be best within a range of conditions, and where: the 1997 sensitivity analysis.

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

    def segment(self, over: Any) -> slice:
        """Return which vertices can be best within a range of conditions: the segment that a slope range picks.

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
        if not used.size:  # the range is one point: whoever is best there
            used = np.array([int(np.searchsorted(self.breaks[1:-1], low, side="left"))])
        return used

    def _ranges(self, low: float, high: float, over: Any) -> Ranges:
        """Return the stretches of pc within [low, high], consecutive vertices of one owner joined."""
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

    def best_at_fpr(self, fpr: float, *, confidence: float | None = None) -> LimitedChoice:
        """Return the highest tpr with fpr at most this: the Neyman-Pearson observer, on the non-decreasing hull.

        Of points with the same tpr the one with the lowest fpr is taken.

        Parameters
        ----------
        fpr : float in [0, 1]
            The limit; with a confidence in (0, 1).
        confidence : float in (0, 1), optional
            Without it the limit holds on the cases of the curves, and on new cases about every second choice breaks it.
            With it the choice keeps the limit on new cases with at least this probability, over random samples of cases
            that had no part in training. It is a single threshold: `mixture` is the choice itself.

        Notes
        -----
        With a confidence 1 - δ and m classifiers, a threshold may alarm on at most
        ``k = max {k : P(Bin(n, fpr) <= k) <= δ/m}`` of n negatives: the umbrella algorithm of Tong, Feng & Li (2018),
        with the error split evenly over the classifiers. It needs ``n >= log(δ/m) / log(1 - fpr)``.

        Ties do no harm. The thresholds that break the limit are all those up to some t0, at which the true rate is at
        least `fpr`. If one of them has at most k false alarms, then so has t0, since it is no lower; but the false
        alarms of t0 are binomial, and at most k of them have at most the probability δ/m. For the same reason all
        thresholds with at most k false alarms keep the limit at once, so points="hull" and bins only leave thresholds
        out. Weighted cases and bare rates are refused.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="expert")]).best_at_fpr(0.05).classifier
        'always negative'
        >>> hull = cc.RocHull([cc.RocCurve.from_confusion_matrix([[97, 3], [4, 16]], name="rules")])
        >>> hull.best_at_fpr(0.1, confidence=0.95)
        LimitedChoice(fpr <= 0.1: rules, fpr=0.03, tpr=0.8; with confidence 0.95 fpr <= 0.0892)
        """
        if confidence is not None:
            limit = check_in_open_unit("fpr", fpr)
            asked = self._asked(f"fpr <= {limit:g}", confidence)
            return self._assured(asked, assured_fpr(self._counted(), limit, asked))
        limit = check_in_unit("fpr", fpr)
        chosen = most_found(self._complete("best_at_fpr"), lambda curve: last_within_fpr(curve, limit))
        enough = float(self.fpr[np.searchsorted(self.tpr, 1.0, side="left")])  # more false alarms find no more
        return self._limited(f"fpr <= {limit:g}", chosen, self.interpolate(fpr=min(limit, enough)))

    def best_at_tpr(self, tpr: float, *, confidence: float | None = None) -> LimitedChoice:
        """Return the lowest fpr with tpr at least this.

        Of points with the same fpr the one with the highest tpr is taken.

        Parameters
        ----------
        tpr : float in [0, 1]
            The limit; with a confidence in (0, 1).
        confidence : float in (0, 1), optional
            The probability with which the choice keeps the limit on new cases, as for `best_at_fpr`.

        Notes
        -----
        With a confidence 1 - δ and m classifiers a threshold may miss at most
        ``k = max {k : P(Bin(n, 1 - tpr) <= k) <= δ/m}`` of n positives.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="expert")]).best_at_tpr(0.5)
        LimitedChoice(tpr >= 0.5: expert, fpr=0.1, tpr=0.6; by chance down to fpr=0.0833)
        """
        if confidence is not None:
            floor = check_in_open_unit("tpr", tpr)
            asked = self._asked(f"tpr >= {floor:g}", confidence)
            return self._assured(asked, assured_tpr(self._counted(), floor, asked))
        floor = check_in_unit("tpr", tpr)
        chosen = fewest_false_alarms(self._complete("best_at_tpr"), lambda curve: first_within_tpr(curve, floor))
        free = float(self.tpr[np.searchsorted(self.fpr, 0.0, side="right") - 1])  # found without a false alarm
        return self._limited(f"tpr >= {floor:g}", chosen, self.interpolate(tpr=max(floor, free)))

    def best_at_capacity(
        self, *, alarms: float, population: float, prevalence: float | str, confidence: float | None = None
    ) -> LimitedChoice:
        """Return the highest tpr that raises at most so many alarms: what a workforce of that size can handle.

        Parameters
        ----------
        alarms : float >= 0
            How many alarms can be handled.
        population : float > 0
            Out of how many cases.
        prevalence : float in (0, 1), or "sample"
            The share of positives among them. With a confidence it may be "sample": the cases of the curves were drawn
            as those to come are, so that their classes have the right shares but for chance.
        confidence : float in (0, 1), optional
            The probability with which the choice keeps the limit on new cases, as for `best_at_fpr`. What is kept is
            the share ``alarms / population`` in the long run; the alarms of one day still vary around it.

        Notes
        -----
        The limit is the line ``tpr·P + fpr·N = alarms`` with P and N the positives and negatives in the population.
        A point counts as within it if it exceeds it by no more than rounding, 1e-12 of the population. Of points with
        the same tpr the one with the lowest fpr is taken.

        With a confidence and the prevalence of the sample all cases count alike, and the share of alarms among them is
        limited as fpr is among negatives by `best_at_fpr`. With a stated prevalence the limit must hold of the sum of
        the exact upper limits of both rates, which share the error.

        Examples
        --------
        >>> import costcurves as cc
        >>> strict = cc.RocCurve.from_rates(0.01, 0.2, name="strict")
        >>> hull = cc.RocHull([strict, cc.RocCurve.from_rates(0.1, 0.6, name="expert")])
        >>> hull.best_at_capacity(alarms=200, population=10_000, prevalence=0.05)
        LimitedChoice(at most 200 alarms of 10000: strict, fpr=0.01, tpr=0.2, 195 alarms; by chance up to tpr=0.202)
        """
        most = check_nonnegative("alarms", alarms)
        population = check_positive("population", population)
        if confidence is not None:
            return self._assured_capacity(most, population, prevalence, confidence)
        share = check_in_open_unit("prevalence", prevalence)
        limit = min(Fraction(most) / Fraction(population), Fraction(1))
        chosen = most_found(
            self._complete("best_at_capacity"),
            lambda curve: last_within_load(curve, Fraction(share), limit + Fraction(EQUAL)),
        )
        load = share * self.tpr + (1.0 - share) * self.fpr
        goal = min(float(limit), float(load[np.searchsorted(self.tpr, 1.0, side="left")]))
        i = min(int(np.searchsorted(load[1:], goal, side="right")), load.size - 2)
        gap = float(load[i + 1] - load[i])
        mixture = self._mixture(i, min((goal - float(load[i])) / gap, 1.0) if gap else 1.0)
        used = population * float(chosen.load(Fraction(share)))
        return self._limited(f"at most {most:.10g} alarms of {population:.10g}", chosen, mixture, alarms=used)

    def _assured_capacity(self, most: float, population: float, prevalence: Any, confidence: Any) -> LimitedChoice:
        """Return the choice that raises at most so many alarms on new cases."""
        if not 0.0 < most < population:
            raise InputError(f"`alarms` must be > 0 and < `population` with a confidence, got {most:g}")
        asked = self._asked(f"at most {most:.10g} alarms of {population:.10g}", confidence)
        curves, limit = self._counted(), most / population
        if isinstance(prevalence, str):
            check_choice("prevalence", prevalence, ("sample",))
            found = assured_alarms(curves, limit, asked)
            shares = {curve.name: Fraction(int(curve.n_pos), int(curve.n_pos + curve.n_neg)) for curve in curves}
            share = shares.get(found.point.name, Fraction(0))  # without alarms it does not matter
        else:
            share = Fraction(check_in_open_unit("prevalence", prevalence))
            found = assured_load(curves, limit, float(share), asked)
        return self._assured(asked, found, alarms=population * float(found.point.load(share)))

    def best_at_precision(
        self, precision: float, *, prevalence: float, confidence: float | None = None
    ) -> LimitedChoice:
        """Return the highest tpr whose alarms are right in at least this share: the positive predictive value.

        Of points with the same tpr the one with the lowest fpr is taken. Where no threshold keeps the limit it is
        ``"always negative"``, which raises no alarm.

        Parameters
        ----------
        precision : float in (0, 1)
            The least share of true alarms.
        prevalence : float in (0, 1)
            The share of positives among the cases to come.
        confidence : float in (0, 1), optional
            The probability with which the choice keeps the limit on new cases, as for `best_at_fpr`, if the prevalence
            is as stated. It needs all points of the curves.

        Notes
        -----
        The limit is the line ``tpr = r·fpr`` with ``r = precision·(1 - prevalence) / ((1 - precision)·prevalence)``.
        A point counts as within it if it misses it by no more than rounding.

        Precision may rise and fall along a curve, so a confidence needs a bound for several thresholds at once. About
        ``4.5·log(n/r)`` allowances of false alarms, fixed beforehand, pick candidates from the n negatives alone; an
        exact test of ``tpr >= r·fpr`` judges each of them, and they share the error evenly.

        Examples
        --------
        >>> import costcurves as cc
        >>> strict = cc.RocCurve.from_rates(0.01, 0.2, name="strict")
        >>> hull = cc.RocHull([strict, cc.RocCurve.from_rates(0.1, 0.6, name="expert")])
        >>> hull.best_at_precision(0.5, prevalence=0.1)
        LimitedChoice(precision >= 0.5: strict, fpr=0.01, tpr=0.2, precision 0.69; by chance up to tpr=0.307)
        """
        floor, share = check_in_open_unit("precision", precision), check_in_open_unit("prevalence", prevalence)
        limit, curves = f"precision >= {floor:g}", self._complete("best_at_precision")
        if confidence is not None:
            check_counted(curves)
            asked = self._asked(limit, confidence)
            found = assured_precision(curves, floor, share, asked)
            return self._assured(asked, found, precision=found.point.precision(share))
        chosen = most_found(curves, lambda curve: last_within_precision(curve, share, floor))
        over = (1.0 - floor) * share * self.tpr - floor * (
            1.0 - share
        ) * self.fpr  # >= 0 up to a point, as the hull bends
        i = min(int(np.searchsorted(over[1:] < 0, True)), over.size - 2)
        gap = float(over[i] - over[i + 1])
        mixture = self._mixture(i, min(float(over[i]) / gap, 1.0) if gap > 0 else 1.0)
        return self._limited(limit, chosen, mixture, precision=chosen.precision(share))

    def interpolate(self, *, fpr: float | None = None, tpr: float | None = None) -> Mixture:
        """Return which two classifiers to choose between, with what probability, to reach a point on the hull.

        Parameters
        ----------
        fpr, tpr : float in [0, 1]
            One of them: the rate to reach. The other is then the best possible.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A"), cc.RocCurve.from_rates(0.4, 0.9, name="C")])
        >>> hull.interpolate(fpr=0.2)
        Mixture(C with probability 0.3333, else A: fpr=0.2, tpr=0.7)
        """
        if (fpr is None) == (tpr is None):
            raise InputError(f"`interpolate` must have one of `fpr` and `tpr`, got fpr={fpr} and tpr={tpr}")
        if fpr is not None:
            goal, along = check_in_unit("fpr", fpr), self.fpr
            i = int(np.searchsorted(along, goal, side="right")) - 1  # the top of a vertical edge
        else:
            goal, along = check_in_unit("tpr", tpr), self.tpr
            i = int(np.searchsorted(along, goal, side="left")) - 1  # the left of a horizontal edge
        i = min(max(i, 0), along.size - 2)
        gap = float(along[i + 1] - along[i])
        share = (goal - float(along[i])) / gap if gap else float(fpr is not None)
        return self._mixture(i, min(max(share, 0.0), 1.0))

    def _mixture(self, i: int, share: float) -> Mixture:
        """Return the mixture of vertices i and i + 1, with `share` the probability of the second."""
        return Mixture(
            first=self.owner[i],
            first_threshold=float(self.thresholds[i]),
            second=self.owner[i + 1],
            second_threshold=float(self.thresholds[i + 1]),
            probability=share,
            fpr=float((1 - share) * self.fpr[i] + share * self.fpr[i + 1]),
            tpr=float((1 - share) * self.tpr[i] + share * self.tpr[i + 1]),
            _below=(
                self._score_below(self.owner[i], float(self.thresholds[i])),
                self._score_below(self.owner[i + 1], float(self.thresholds[i + 1])),
            ),
        )

    def _limited(self, limit: str, point: Point, mixture: Mixture, **more: float) -> LimitedChoice:
        """Return the best point under a limit as a result."""
        below = math.nan
        if point.name not in TRIVIAL:
            curves = self._known if self._curves is None else self._curves
            below = next(curve for curve in curves if curve.name == point.name).score_below(point.threshold)
        rates = float(point.fpr), float(point.tpr)
        return LimitedChoice(limit, point.name, point.threshold, *rates, mixture, _below=below, **more)

    def _asked(self, limit: str, confidence: Any) -> Asked:
        """Return what is to be guaranteed; one of all classifiers ever seen will be picked."""
        return Asked(limit, check_in_open_unit("confidence", confidence), len(self.names))

    def _counted(self) -> tuple[RocCurve, ...]:
        """Return the curves, or what is left of them, refused unless they are counts of cases."""
        curves = self._known if self._curves is None else self._curves
        check_counted(curves)
        return curves

    def _assured(self, asked: Asked, found: Assured, **more: float) -> LimitedChoice:
        """Return a guaranteed choice as a result, without any random choice."""
        name, cut, rates = found.point.name, found.point.threshold, (float(found.point.fpr), float(found.point.tpr))
        alone = Mixture(name, cut, name, cut, 0.0, *rates)
        choice = self._limited(asked.limit, found.point, alone, confidence=asked.confidence, bound=found.bound, **more)
        return replace(choice, mixture=replace(alone, _below=(choice._below, choice._below)))

    def _complete(self, what: str) -> tuple[RocCurve, ...]:
        """Return the curves, refused unless all of them have all their points."""
        curves = self._whole(what)
        for curve in curves:
            curve.need_all_points(what)
        return curves

    def add(self, another: Any) -> RocHull:
        """Return a new hull with one more classifier (or several), without looking at the others again.

        Each added point is placed by a binary search, and only the vertices that it removes are looked at. The new hull
        keeps those points that can be best, or the runner-up of the best, at some condition. All decisions by cost are
        those of `RocHull` of all curves; only where several runners-up cost the same may it name another of them. Of
        the other classifiers only the names are kept. So it has no `curves`, and cannot be asked for the best choice
        under a limit.

        Parameters
        ----------
        another : RocCurve, sequence of RocCurve, or mapping of name to RocCurve
            The classifiers to add, under names that the hull does not have.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A")])
        >>> hull.add(cc.RocCurve.from_rates(0.3, 0.5, name="F"))
        RocHull(3 vertices from 1 of 2 classifiers: 'A'; dropped: 'F')
        """
        added = check_curves(another, "another")
        _check_not_trivial([curve.name for curve in added], "another")
        growth, sizes = self._grown(), self._sizes
        for curve in added:
            if curve.name in self.names:
                check_unique([*self.names, curve.name], "another")
            growth = growth.with_curve(curve)
            sizes = sizes if sizes == _common_sizes([curve]) else None
        vertices, grown = growth.vertices, object.__new__(RocHull)
        grown._set(
            names=growth.names,
            fpr=vertices.fpr,
            tpr=vertices.tpr,
            owner=vertices.owner,
            thresholds=vertices.thresholds,
            owners=vertices.owners,
            breaks=vertices.breaks,
            _curves=None,
            _candidates=tuple(growth.curves.values()),
            _points=growth.standings.points.at(slice(2, None)),
            _lattice=(),
            _claims=(),
            _sizes=sizes,
            _growth=growth,
        )
        return grown

    def _grown(self) -> Growth:
        """Return what is worth remembering of the classifiers."""
        if self._growth is not None:
            return self._growth
        right, top = self._lattice[-1]
        rates = [(Fraction(x, right), Fraction(y, top)) for x, y in self._lattice]
        vertices = Vertices(
            rates, self.owners, self._claims, self.owner, self.thresholds, self.fpr, self.tpr, self.breaks
        )
        return Growth.of(self.names, self._candidates, vertices)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the hull as JSON text, and write it to a file if a path is given (whole or not at all).

        The text has the points that can be best, or the runner-up of the best, at some condition, and the names of all
        classifiers: its size is that of the hull. Rates and counts survive exactly. The hull that is read back is like
        one that was added to: it decides by cost as this one does, but has no `curves` and no choices under a limit.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A")])
        >>> cc.RocHull.from_json_text(hull.to_json()).best(0.5).classifier
        'A'
        """
        curves = self._candidates if self._curves is None else tuple(self._grown().curves.values())
        text = hull_text(self.names, curves)
        if path is not None:
            write_atomically(check_path(path), text)
        return text

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> RocHull:
        """Return the hull that `to_json` wrote to a file (for JSON text see `from_json_text`)."""
        if isinstance(path, str) and path.lstrip().startswith("{"):
            raise InputError("`path` must be the path of a file, got JSON text: use RocHull.from_json_text")
        check_path(path)
        try:
            text = Path(path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise FormatError(f"`path` must be a UTF-8 text file, got {shown(str(path))}") from None
        return cls.from_json_text(text)

    @classmethod
    def from_json_text(cls, text: str) -> RocHull:
        """Return the hull of JSON text that `to_json` returned."""
        if not isinstance(text, str):
            raise InputError(f"`text` must be a string, got {type(text).__name__}")
        names, curves = parts_of_text(text)
        try:
            _check_not_trivial(names, "names")
        except InputError as error:
            raise FormatError(str(error)) from None
        hull = object.__new__(cls)
        hull._assemble(names, tuple(with_alarms_between(curve) for curve in curves), None)
        return hull

    def to_dict(self) -> dict[str, Any]:
        """Return the vertices and the dropped names as plain Python values."""
        table = self._columns()
        return {"vertices": jsonable(table), "dropped": list(self.dropped), "max_error": self.max_error}

    def _columns(self) -> dict[str, Any]:
        return {
            "classifier": list(self.owner),
            "threshold": self.thresholds,
            "fpr": self.fpr,
            "tpr": self.tpr,
            "pc_low": self.breaks[:-1],
            "pc_high": self.breaks[1:],
        }

    def __repr__(self) -> str:
        """Return the size and who is on it."""
        names = ", ".join(repr(name) for name in self.contributors) or "none"
        dropped = f"; dropped: {', '.join(map(repr, self.dropped))}" if self.dropped else ""
        dropped += f"; max_error={self.max_error:.2g}" if self.max_error else ""
        return (
            f"RocHull({self.fpr.size} vertices from {len(self.contributors)} of {len(self.names)} classifiers: "
            f"{names}{dropped})"
        )


def _common_sizes(curves: Sequence[RocCurve]) -> tuple[int, int] | None:
    """Return the numbers of negatives and positives, if all curves are counts out of the same ones."""
    sizes = {(curve.made_from, curve.n_neg, curve.n_pos) for curve in curves}
    if len(sizes) == 1 and curves[0].made_from == "counts":
        return int(curves[0].n_neg), int(curves[0].n_pos)
    return None


def _integer_points(candidates: tuple[RocCurve, ...]) -> tuple[list[int], list[int], list[tuple[str, float]]]:
    """Return all points in common integer coordinates with their owners: (0, 0) first, then (1, 1), then the rest."""
    who = [(ALWAYS_NEGATIVE, math.inf), (ALWAYS_POSITIVE, -math.inf)]
    for curve in candidates:
        who += [(curve.name, threshold) for threshold in curve.thresholds[1:-1].tolist()]
    if (sizes := _common_sizes(candidates)) is not None:
        x, y = [0, sizes[0]], [0, sizes[1]]
        for curve in candidates:
            x += curve.fp[1:-1].tolist()
            y += curve.tp[1:-1].tolist()
        return x, y, who
    rates = [curve.exact_rates(i) for curve in candidates for i in range(1, curve.fp.size - 1)]
    x = common_integers([Fraction(0), Fraction(1), *(rate[0] for rate in rates)])
    y = common_integers([Fraction(0), Fraction(1), *(rate[1] for rate in rates)])
    return x, y, who


def _check_not_trivial(names: Sequence[str], what: str) -> None:
    for name in names:
        if name in TRIVIAL:
            raise InputError(f"`{what}` must not use the names of the trivial classifiers, got {shown(name)}")
