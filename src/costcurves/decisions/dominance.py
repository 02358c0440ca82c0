"""Comparisons of whole curves: which dominate, which are locally best, and what one choice everywhere would lose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from costcurves._base.errors import InputError, UnsupportedError
from costcurves._base.results import Result
from costcurves._base.validation import (
    BoolArray,
    FloatArray,
    check_choice,
    check_instance,
    check_unique,
    items_of,
    shown,
)
from costcurves.conditions.condition import EQUAL
from costcurves.conditions.range import OperatingRange, RangeLike, check_range, span_of
from costcurves.curves.averages import CostCurves, as_cost_curves, tpr_at
from costcurves.curves.cost_curve import CostCurve, CurveLike, as_cost_curve
from costcurves.curves.cost_function import CostFunction
from costcurves.curves.differences import Difference, trivial_costs
from costcurves.curves.hull import RocHull
from costcurves.curves.hull_points import check_not_trivial
from costcurves.curves.ranges import Ranges
from costcurves.curves.roc import RocCurve

Space = Literal["cost", "roc", "points"]


def dominates(a: CurveLike, b: CurveLike, *, space: Space = "cost", over: RangeLike = None) -> bool:
    """Say whether a is at least as good as b everywhere and better somewhere.

    Parameters
    ----------
    a, b : CostCurve, RocCurve, AveragedRoc or RocHull
        For ``space="roc"`` and ``"points"``, no CostCurve.
    space : {"cost", "roc", "points"}
        With ``"cost"``, a must cost no more than b at every operating condition; ROC curves are used with their best
        thresholds. With ``"roc"``, the ROC curve of a must lie nowhere below that of b, as the 1998 study defines it.
        That is stricter: a dent in the curve counts, although no condition would make anyone operate there. A ROC
        curve is here the function tpr(fpr) that `average_roc_curves` averages: the highest tpr if several points have
        the same fpr, and linear between points. With ``"points"``, which 2005 defines, points are compared with points:
        one dominates another if its tpr is higher and its fpr is lower, and a dominates b if each point of b is
        dominated by some point of a and no point of a by one of b. The trivial ends of the curves do not count.
    over : OperatingRange, OperatingCondition or (low, high), optional
        The conditions to consider; by default all. Not with ``"points"``. For ``space="roc"`` a pair is one of fpr:
        ``over=(0, 0.1)`` is the far left edge of ROC space, where few false alarms can be tolerated.

    Examples
    --------
    >>> import costcurves as cc
    >>> a, b = cc.RocCurve.from_rates(0.1, 0.7, name="a"), cc.RocCurve.from_rates(0.2, 0.6, name="b")
    >>> cc.dominates(a, b), cc.dominates(b, a)
    (True, False)
    >>> c = cc.RocCurve.from_rates([0.02, 0.5], [0.4, 0.8], name="c")
    >>> cc.dominates(a, c), cc.dominates(a, c, over=(0.3, 0.6)), cc.dominates(a, c, space="points")
    (False, True, False)
    """
    check_choice("space", space, get_args(Space))
    if space == "points":
        if over is not None:
            raise InputError(f"`over` must be None for space='points', got {shown(over)}")
        first, second = (_inner_points(curve, name) for name, curve in (("a", a), ("b", b)))
        return bool(second.size and _dominated(second, first).all() and not _dominated(first, second).any())
    if space == "roc":
        _, gaps = _gaps_in_roc(as_roc(a, "a"), as_roc(b, "b"), over)
        return bool((gaps >= -EQUAL).all() and (gaps > EQUAL).any())
    return _dominates_in_cost(as_cost_curve(a, "a"), as_cost_curve(b, "b"), check_range(over).pc)


def as_roc(curve: Any, what: str) -> RocCurve:
    """Return a ROC curve with all its points; a hull or an average becomes one."""
    roc: RocCurve = curve.to_roc_curve() if hasattr(curve, "to_roc_curve") else curve
    if not isinstance(roc, RocCurve):
        raise InputError(f"`{what}` must be a RocCurve, an average or a hull, got {type(curve).__name__}")
    if roc is curve:
        roc.need_all_points("dominates")
    return roc


def _inner_points(curve: Any, what: str) -> FloatArray:
    """Return the points (fpr, tpr) of a curve between its trivial ends."""
    roc = as_roc(curve, what)
    points = np.stack([roc.fpr, roc.tpr], axis=1)
    trivial = np.isin(points, (0.0, 1.0)).all(axis=1) & (points[:, 0] == points[:, 1])
    return np.asarray(points[~trivial])


def _dominated(points: FloatArray, by: FloatArray) -> BoolArray:
    """Return which points have a lower tpr and a higher fpr than some point of the other set."""
    order = np.argsort(by[:, 0], kind="stable")
    highest = np.concatenate([[-np.inf], np.maximum.accumulate(by[order, 1])])
    return np.asarray(highest[np.searchsorted(by[order, 0], points[:, 0], side="left")] > points[:, 1])


def _dominates_in_cost(a: CostCurve, b: CostCurve, span: tuple[float, float] = (0.0, 1.0)) -> bool:
    difference = Difference(a, b)
    gaps = difference.corners(*span)[1]
    if difference.max_error and gaps.max() <= a.max_error:
        raise UnsupportedError(
            f"`dominates` is not settled: binning error, costs can be up to {difference.max_error:.2g} too high"
        )
    return bool((gaps <= EQUAL).all() and (gaps < -EQUAL).any())


def _gaps_in_roc(a: RocCurve, b: RocCurve, over: RangeLike) -> tuple[FloatArray, FloatArray]:
    """Return false positive rates of a range between which two curves are linear, and how far a lies above b there."""
    low, high = (0.0, 1.0) if over is None else _fpr_range(over)
    # Both are linear between the points of either, so it is enough to look there.
    places = np.union1d(np.clip(np.union1d(a.fpr, b.fpr), low, high), [low, high])
    return places, tpr_at(a, places) - tpr_at(b, places)


def _fpr_range(over: Any) -> tuple[float, float]:
    """Return a range of false positive rates."""
    if not isinstance(over, (tuple, list, np.ndarray)) or len(items_of(over)) < 2:
        raise InputError(f"`over` must be a pair (low, high) of fpr for space='roc', got {shown(over)}")
    low, high = span_of((over[0], over[-1]))
    return low, high


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dominance(Result):
    """Which curves dominate, which are locally best, and which pairs cross.

    Attributes
    ----------
    names : tuple of str
        The classifiers compared.
    dominators : tuple of str
        The classifiers that are at least as good as every other one at every condition, in the order given. There may
        be none, one, or several that are equal.
    ranges : Ranges
        The local dominators (trivial classifiers included) in order of pc.
    pairs : tuple of (a, b, places)
        Every pair in which each is better somewhere, with the pc (for ``space="roc"`` the false positive rates) at
        which the better one changes. In ``space="points"``, pairs of which neither dominates have no places.
    dominated : tuple of (better, worse)
        Every pair in which one dominates the other.
    max_error : float
        The most by which costs can be too high because scores were binned. If it is not 0, nothing here is settled,
        because a threshold within a bin may make a curve better somewhere.
    space : str

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.dominance([cc.RocCurve.from_rates(0.1, 0.6, name="A"), cc.RocCurve.from_rates(0.3, 0.9, name="C")])
    No absolute dominator among 2 curves; locally best: 'A', 'C'
      'A' and 'C' cross at pc 0.4
    """

    names: tuple[str, ...]
    dominators: tuple[str, ...]
    ranges: Ranges
    pairs: tuple[tuple[str, str, tuple[float, ...]], ...]
    dominated: tuple[tuple[str, str], ...]
    max_error: float = 0.0
    space: Space = "cost"

    @property
    def dominator(self) -> str | None:
        """The first of the dominators, or None if no curve dominates."""
        return self.dominators[0] if self.dominators else None

    @property
    def local_dominators(self) -> tuple[str, ...]:
        """The classifiers that are best somewhere, in order of pc."""
        return tuple(name for name in self.ranges.candidates if name in self.names)

    def _columns(self) -> dict[str, Any]:
        rows = [(a, b, "cross", place) for a, b, places in self.pairs for place in places]
        rows += [(a, b, "dominates", float("nan")) for a, b in self.dominated]
        columns = list(zip(*rows, strict=True)) if rows else [(), (), (), ()]
        at = "fpr" if self.space == "roc" else "pc"
        return dict(zip(("a", "b", "relation", at), map(list, columns), strict=True))

    def __repr__(self) -> str:
        """Show the conclusion, then the pairs."""
        best = ", ".join(map(repr, self.local_dominators)) or "only the trivial classifiers"
        head = f"No absolute dominator among {len(self.names)} curves; locally best: {best}"
        if len(self.dominators) == 1:
            head = f"{self.dominator!r} dominates all {len(self.names)} curves"
        elif self.dominators:
            *others, last = map(repr, self.dominators)
            head = f"{', '.join(others)} and {last} are equal and dominate all {len(self.names)} curves"
        at, lines = "fpr" if self.space == "roc" else "pc", []
        for a, b, places in self.pairs:
            crossing = f"cross at {at} {', '.join(f'{place:.3g}' for place in places)}"
            lines.append(f"  {a!r} and {b!r} {crossing if places else 'do not dominate each other'}")
        lines += [f"  {a!r} dominates {b!r}" for a, b in self.dominated if a not in self.dominators]
        if self.max_error:
            lines.append(f"  not settled: binning error, costs are up to {self.max_error:.2g} too high")
        return "\n".join([head, *lines])


def dominance(curves: CostCurves, *, space: Space = "cost", over: RangeLike = None) -> Dominance:
    """Return which curves dominate absolutely, which are best locally, and which pairs cross.

    Parameters
    ----------
    curves : sequence, or mapping of name to curve
        ROC curves, averaged ROC curves and hulls, each with its best thresholds, or cost curves.
    space, over
        As for `dominates`. `ranges` is about costs in any space.

    Notes
    -----
    The question of the 1998 study: only a classifier that dominates can be called best without naming costs and
    class frequencies. As in the study, all other curves must lie beneath it or be equal to it, so that curves which are
    equal can dominate together. In `ranges`, the first by name stands for classifiers that tie. Whether a difference is
    significant is the question of `significant_dominance`.

    Examples
    --------
    >>> import costcurves as cc
    >>> a, b = cc.RocCurve.from_rates(0.1, 0.7, name="a"), cc.RocCurve.from_rates(0.02, 0.4, name="b")
    >>> cc.dominance([a, b])
    No absolute dominator among 2 curves; locally best: 'b', 'a'
      'a' and 'b' cross at pc 0.211
    >>> cc.dominance([a, b], over=(0.3, 1)).dominator
    'a'
    >>> cc.dominance([a, b], space="roc")
    No absolute dominator among 2 curves; locally best: 'b', 'a'
      'a' and 'b' cross at fpr 0.0607
    """
    check_choice("space", space, get_args(Space))
    if space == "points" and over is not None:
        raise InputError(f"`over` must be None for space='points', got {shown(over)}")
    named = _named(curves)
    costs = {name: as_cost_curve(curve).renamed(name) for name, curve in named.items()}
    better: set[tuple[str, str]] = set()
    equal: set[tuple[str, str]] = set()
    pairs = []
    for a, b in combinations(named, 2):
        above, below, places = _relation((named[a], named[b]), (costs[a], costs[b]), space, over)
        if above and below:
            pairs.append((a, b, places))
        elif above or below:
            better.add((a, b) if above else (b, a))
        else:
            equal |= {(a, b), (b, a)}
    absolute = tuple(
        a for a in named if all((a, other) in better or (a, other) in equal for other in named if other != a)
    )
    ranges = _ranges(named, list(costs.values()), None if space == "roc" else over)
    error = max(curve.max_error for curve in costs.values())
    return Dominance(tuple(named), absolute, ranges, tuple(pairs), tuple(sorted(better)), error, space)


def _named(curves: Any) -> dict[str, Any]:
    """Return curves by name."""
    if isinstance(curves, (RocCurve, CostCurve)):
        curves = [curves]
    several = isinstance(curves, Iterable) and getattr(curves, "shape", None) != ()
    given = dict(curves) if isinstance(curves, Mapping) else list(curves) if several else curves
    names = [curve.name for curve in as_cost_curves(given)]
    check_unique(names, "curves")
    check_not_trivial(names, "curves")
    return given if isinstance(given, dict) else dict(zip(names, given, strict=True))


def _relation(
    pair: tuple[Any, Any], costs: tuple[CostCurve, CostCurve], space: Space, over: RangeLike
) -> tuple[bool, bool, tuple[float, ...]]:
    """Return whether the first of a pair is better somewhere, whether it is worse, and where that changes."""
    if space == "cost":
        low, high = check_range(over).pc
        gaps = Difference(*costs).corners(low, high)[1]
        places = tuple(pc for pc in costs[0].crossings(costs[1]) if low <= pc <= high)
        return bool((gaps < -EQUAL).any()), bool((gaps > EQUAL).any()), places
    if space == "points":
        first, second = (_inner_points(curve, "curves") for curve in pair)
        if first.shape == second.shape and np.array_equal(first, second):
            return False, False, ()
        one, other = dominates(*pair, space="points"), dominates(*pair[::-1], space="points")
        return not other, not one, ()
    a, b = (as_roc(curve, "curves") for curve in pair)
    at, gaps = _gaps_in_roc(a, b, over)
    sign = np.where(np.abs(gaps) > EQUAL, np.sign(gaps), 0.0)
    told = np.flatnonzero(sign)
    change = np.diff(sign[told]) != 0
    before, after = told[:-1][change], told[1:][change]
    # Between neighbours the difference is linear; if it is zero for a while, the middle of that counts.
    root = at[before] + (at[after] - at[before]) * gaps[before] / (gaps[before] - gaps[after])
    where = np.where(after == before + 1, root, (at[before + 1] + at[after - 1]) / 2)
    return bool((sign > 0).any()), bool((sign < 0).any()), tuple(where.tolist())


def _ranges(named: dict[str, Any], costs: list[CostCurve], over: RangeLike) -> Ranges:
    """Return which curve is cheapest where: with thresholds if all are ROC curves, otherwise without."""
    if all(isinstance(curve, RocCurve) for curve in named.values()):
        hull = RocHull(named)
        return hull.ranges() if over is None else hull.within(over)
    span = check_range(over)
    low, high = span.pc
    rivals: list[CostFunction] = [*trivial_costs(), *sorted(costs, key=lambda curve: curve.name)]
    changes = [Difference(a, b).crossings().pc for a, b in combinations(rivals, 2)]
    breaks = np.unique(np.concatenate([*changes, *(curve.breaks for curve in rivals), [low, high]]))
    breaks = breaks[(breaks >= low) & (breaks <= high)]
    middle = (breaks[:-1] + breaks[1:]) / 2 if high > low else breaks
    values = np.array([curve.evaluate(middle) for curve in rivals])
    owner = np.argmax(values <= values.min(axis=0) + EQUAL, axis=0)
    first = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
    starts, stops = breaks[first], np.append(breaks[first[1:]], breaks[-1])
    unknown = np.full(first.size, np.nan)
    names = tuple(rivals[i].name for i in owner[first])
    error = max(curve.max_error for curve in costs)
    return Ranges(names, starts, stops, unknown, unknown.copy(), None if over is None else span, max_error=error)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Regret(Result):
    """What is lost by always using one classifier instead of the best of all, over a range of conditions.

    Attributes
    ----------
    largest, at_pc : float
        The largest loss of normalized cost in the range, and where it occurs.
    mean : float
        The mean loss over pc, uniform in the range.
    pc, loss : arrays
        The loss at every corner of the two curves within the range. It is linear between corners; a jump has two
        corners at the same pc. It is negative where a curve that is not one of the hull's costs less.
    max_error : float
        The most by which a loss can be wrong, either way, because scores were binned.

    Examples
    --------
    >>> import costcurves as cc
    >>> a, c = cc.RocCurve.from_rates(0.1, 0.6, name="A"), cc.RocCurve.from_rates(0.3, 0.9, name="C")
    >>> cc.regret(c, cc.RocHull([a, c]))
    Regret('C' instead of the hull for pc 0 .. 1: at most 0.075 (at pc 0.25), 0.00964 on average)
    """

    name: str
    over: OperatingRange
    largest: float
    at_pc: float
    mean: float
    pc: FloatArray
    loss: FloatArray
    max_error: float = 0.0
    _column_names = ("name", "pc", "loss")

    def __repr__(self) -> str:
        """Return the conclusion."""
        low, high = self.over.pc
        return (
            f"Regret({self.name!r} instead of the hull for pc {low:.3g} .. {high:.3g}: "
            f"at most {self.largest:.3g} (at pc {self.at_pc:.3g}), {self.mean:.3g} on average"
            + (f", max_error={self.max_error:.2g})" if self.max_error else ")")
        )


def regret(curve: CurveLike | str, hull: RocHull, *, over: RangeLike = None) -> Regret:
    """Return how much is lost by always using one classifier instead of the best on the hull.

    Parameters
    ----------
    curve : CostCurve, RocCurve or str
        The one classifier. A ROC curve is used with its best thresholds, and a name stands for the hull's curve.
    hull : RocHull
        All classifiers that could be used.
    over : OperatingRange, OperatingCondition or (low, high), optional
        The conditions to consider; a pair is one of pc. By default all conditions.

    Notes
    -----
    Figure 5 of Provost & Fawcett (1997): a classifier can be nearly optimal everywhere without being optimal
    everywhere. In money the loss at a condition is `loss` times its `unit_cost`.

    Examples
    --------
    >>> import costcurves as cc
    >>> a, c = cc.RocCurve.from_rates(0.1, 0.6, name="A"), cc.RocCurve.from_rates(0.12, 0.7, name="C")
    >>> round(cc.regret(c, cc.RocHull([a, c])).largest, 4)
    0.0024
    """
    check_instance("hull", hull, RocHull)
    span = check_range(over)
    low, high = span.pc
    one = as_cost_curve(hull.roc_curve(curve) if isinstance(curve, str) else curve, "curve")
    difference = Difference(one, CostCurve(hull))
    pc, loss = difference.corners(low, high)
    top = int(np.argmax(loss))
    area = float((np.diff(pc) * (loss[1:] + loss[:-1])).sum() / 2)
    mean = area / (high - low) if high > low else float(loss[top])
    return Regret(one.name, span, float(loss[top]), float(pc[top]), mean, pc, loss, difference.max_error)
