"""Differences of piecewise linear cost curves: where one is cheaper, by how much, and where a classifier is useful."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from costcurves._base.results import Result, jsonable
from costcurves._base.text import error_text, level_text
from costcurves._base.validation import BoolArray, FloatArray
from costcurves.conditions.condition import EQUAL, PcLike, pc_array, slopes_of
from costcurves.curves.cost_function import CostFunction
from costcurves.inference.bands.results import Band


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PcIntervals(Result):
    """Disjoint intervals of pc, in increasing order; iterating over them gives (low, high) pairs.

    Attributes
    ----------
    low, high : arrays
        The ends of each interval in probability-cost.
    slope_low, slope_high : arrays
        The same ends as slopes of iso-performance lines. The largest slope belongs to the smallest pc.

    Examples
    --------
    >>> import costcurves as cc
    >>> curve = cc.CostCurve(cc.RocCurve.from_confusion_matrix([[90, 10], [4, 16]]))
    >>> curve.operating_range()
    PcIntervals((0.111, 0.818))
    >>> [(round(low, 3), round(high, 3)) for low, high in curve.operating_range()]
    [(0.111, 0.818)]
    >>> curve.operating_range().slope_low.round(3), curve.operating_range().slope_high.round(3)
    (array([0.222]), array([8.]))
    """

    low: FloatArray
    high: FloatArray

    @property
    def slope_low(self) -> FloatArray:
        """The smallest slope of each interval, at its largest pc."""
        return slopes_of(self.high)

    @property
    def slope_high(self) -> FloatArray:
        """The largest slope of each interval, at its smallest pc."""
        return slopes_of(self.low)

    def __iter__(self) -> Iterator[tuple[float, float]]:
        return iter(list(zip(self.low.tolist(), self.high.tolist(), strict=True)))

    def __len__(self) -> int:
        return self.low.size

    def contains(self, pc: PcLike) -> Any:
        """Say whether each pc lies in one of the intervals, whose ends belong to them."""
        values = pc_array(pc)
        inside = ((values[..., None] >= self.low) & (values[..., None] <= self.high)).any(axis=-1)
        return bool(inside) if values.ndim == 0 else inside

    @property
    def width(self) -> float:
        """The total length of the intervals."""
        return float((self.high - self.low).sum())

    def _columns(self) -> dict[str, Any]:
        ends = {"pc_low": self.low, "pc_high": self.high}
        return ends | {"slope_low": self.slope_low, "slope_high": self.slope_high}

    def to_dict(self) -> dict[str, Any]:
        """Return the intervals as plain Python values, in pc and in slopes."""
        return {name: jsonable(getattr(self, name)) for name in ("low", "high", "slope_low", "slope_high")}

    def __repr__(self) -> str:
        return f"PcIntervals({', '.join(f'({low:.3g}, {high:.3g})' for low, high in self) or 'none'})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Advantage(Result):
    """Where one curve costs less than another, and by how much: `low`, `high`, `largest`, `mean` for each interval.

    If scores were binned, each difference of costs can be wrong by up to `max_error`.

    Examples
    --------
    >>> import costcurves as cc
    >>> a = cc.CostCurve(cc.RocCurve.from_rates(0.04, 0.4, name="careful"))
    >>> b = cc.CostCurve(cc.RocCurve.from_rates(0.3, 0.8, name="bold"))
    >>> a.better_than(b)
    Advantage('careful' costs less than 'bold' for pc in (0.0909, 0.394): 0.08 at most, 0.04 on average)
    """

    name: str
    other: str
    low: FloatArray
    high: FloatArray
    largest: FloatArray
    mean: FloatArray
    max_error: float = 0.0

    @property
    def intervals(self) -> PcIntervals:
        """The intervals alone."""
        return PcIntervals(self.low.copy(), self.high.copy())

    def __iter__(self) -> Iterator[tuple[float, float]]:
        return iter(self.intervals)

    def __len__(self) -> int:
        return self.low.size

    def _columns(self) -> dict[str, Any]:
        size = self.low.size
        return {
            "name": [self.name] * size,
            "other": [self.other] * size,
            "pc_low": self.low,
            "pc_high": self.high,
            "largest": self.largest,
            "mean": self.mean,
        }

    def __repr__(self) -> str:
        if not self.low.size:
            return f"Advantage({self.name!r} nowhere costs less than {self.other!r})"
        parts = ", ".join(
            f"({low:.3g}, {high:.3g}): {most:.2g} at most, {mean:.2g} on average"
            for low, high, most, mean in zip(self.low, self.high, self.largest, self.mean, strict=True)
        )
        return f"Advantage({self.name!r} costs less than {self.other!r} for pc in {parts}{error_text(self.max_error)})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Crossings(Result):
    """The operating points at which the cheaper of two curves changes, and which of them is cheaper before and after.

    Attributes
    ----------
    pc : array
        The probability-cost of each crossing.
    slope : array
        The same as slopes of iso-performance lines, which decrease where pc increases.
    before, after : tuple of str
        Which curve is cheaper just below and just above the pc of each crossing.
    max_error : float
        The most by which the difference of the costs can be wrong because scores were binned.

    Examples
    --------
    >>> import costcurves as cc
    >>> a = cc.CostCurve(cc.RocCurve.from_rates(0.04, 0.4, name="careful"))
    >>> b = cc.CostCurve(cc.RocCurve.from_rates(0.3, 0.8, name="bold"))
    >>> a.crossings(b)
    Crossings(at pc 0.394 (slope 1.54) from 'careful' to 'bold')
    """

    pc: FloatArray
    before: tuple[str, ...]
    after: tuple[str, ...]
    max_error: float = 0.0

    _column_names = ("pc", "slope", "before", "after")

    @property
    def slope(self) -> FloatArray:
        """The slopes of the iso-performance lines at the crossings."""
        return slopes_of(self.pc)

    def __iter__(self) -> Iterator[float]:
        return iter(self.pc.tolist())

    def __len__(self) -> int:
        return self.pc.size

    def to_dict(self) -> dict[str, Any]:
        """Return the crossings as plain Python values, in pc and in slopes."""
        return Result.to_dict(self) | {"slope": jsonable(self.slope)}

    def __repr__(self) -> str:
        points = zip(self.pc, self.slope, self.before, self.after, strict=True)
        parts = ", ".join(f"{pc:.3g} (slope {slope:.3g}) from {a!r} to {b!r}" for pc, slope, a, b in points)
        return f"Crossings({f'at pc {parts}' if parts else 'none'}{error_text(self.max_error)})"


class Difference:
    """The difference a - b of two piecewise linear curves on their common refinement."""

    def __init__(self, a: CostFunction, b: CostFunction) -> None:
        self.a, self.b = a, b
        self.max_error = max(a.max_error, b.max_error)  # both can only be too high
        breaks = np.union1d(a.breaks, b.breaks)
        self.left, self.right = breaks[:-1], breaks[1:]
        middle = (self.left + self.right) / 2
        i, j = a.step_at(middle), b.step_at(middle)
        at0, at1 = a.fpr[i] - b.fpr[j], a.fnr[i] - b.fnr[j]
        self.start = _snapped(self.left * at1 + (1 - self.left) * at0)
        self.end = _snapped(self.right * at1 + (1 - self.right) * at0)

    def negative(self) -> tuple[FloatArray, FloatArray]:
        """Return the merged intervals (low, high) on which a costs strictly less than b."""
        root = self._root()
        low = np.where(self.start >= 0, root, self.left)
        high = np.where(self.end >= 0, root, self.right)
        inside = ((self.start < 0) | (self.end < 0)) & (high > low)
        merged = covered(low[inside], high[inside], times=1)
        return merged.low, merged.high

    def _root(self) -> FloatArray:
        """Return where each piece is zero; its left end if it is zero nowhere."""
        gap = self.start - self.end
        safe = np.where(gap == 0, 1.0, gap)
        root: FloatArray = self.left + (self.right - self.left) * np.clip(self.start / safe, 0.0, 1.0)
        # Rounding may move the sum past the right end, but neighbours must meet.
        return np.where(self.end == 0, self.right, np.minimum(root, self.right))

    def crossings(self) -> Crossings:
        """Return the changes of sign; stretches on which both cost the same are ignored."""
        pc = np.stack([self.left, self.right], axis=1).ravel()
        sign = np.sign(np.stack([self.start, self.end], axis=1).ravel())
        told = np.flatnonzero(sign)
        change = np.flatnonzero(np.diff(sign[told]) != 0)
        first, second = told[change], told[change + 1]
        inside_one_piece = (first // 2 == second // 2) & (first % 2 == 0)
        # Otherwise there are zeros (or a jump) between the two ends: take the middle of the zeros.
        between = (pc[np.minimum(first + 1, pc.size - 1)] + pc[second - 1]) / 2
        where = np.where(inside_one_piece, self._root()[first // 2], between)
        names = {-1.0: self.a.name, 1.0: self.b.name}
        return Crossings(
            where,
            tuple(names[s] for s in sign[first].tolist()),
            tuple(names[s] for s in sign[second].tolist()),
            self.max_error,
        )

    def advantage(self) -> Advantage:
        """Return where and by how much a costs less."""
        low, high = self.negative()
        saved = np.maximum(0.0, -np.stack([self.start, self.end], axis=1))
        root = self._root()
        width = np.where(self.start < 0, np.where(self.end < 0, self.right, root) - self.left, self.right - root)
        inside = (self.start < 0) | (self.end < 0)
        area = np.where(inside, saved.sum(axis=1) / 2 * width, 0.0)
        owner = np.searchsorted(high, np.where(self.start < 0, self.left, self.right), side="left")
        owner = np.minimum(owner, max(low.size - 1, 0))
        largest, total = np.zeros(low.size), np.zeros(low.size)
        if low.size:
            np.maximum.at(largest, owner[inside], saved.max(axis=1)[inside])
            np.add.at(total, owner[inside], area[inside])
        mean = total / np.maximum(high - low, EQUAL)
        return Advantage(self.a.name, self.b.name, low.copy(), high.copy(), largest, mean, self.max_error)

    def corners(self, low: float, high: float) -> tuple[FloatArray, FloatArray]:
        """Return (pc, a - b) at both ends of every piece within [low, high]; only the right end belongs to a piece."""
        inside = (self.right >= low) & ((self.left < high) | (self.left == 0))
        left, right = np.clip(self.left[inside], low, high), np.clip(self.right[inside], low, high)
        width = np.where(self.right > self.left, self.right - self.left, 1.0)[inside]
        slope = (self.end - self.start)[inside] / width
        start = self.start[inside] + slope * (left - self.left[inside])
        end = self.start[inside] + slope * (right - self.left[inside])
        pc, value = np.stack([left, right], axis=1).ravel(), np.stack([start, end], axis=1).ravel()
        repeated = np.append(False, (np.diff(pc) == 0) & (np.abs(np.diff(value)) <= EQUAL))
        return pc[~repeated], value[~repeated]


def _snapped(values: FloatArray) -> FloatArray:
    """Return differences in which rounding errors are set to zero."""
    result: FloatArray = np.where(np.abs(values) <= EQUAL, 0.0, values)
    return result


def covered(low: FloatArray, high: FloatArray, *, times: int) -> PcIntervals:
    """Return the intervals of pc that lie in at least `times` of the given ones; adjacent ones are joined."""
    points = np.concatenate([low, high])
    change = np.concatenate([np.ones(low.size), -np.ones(high.size)])
    order = np.lexsort(
        (-change, points)
    )  # at the same pc intervals open before others close, so that neighbours are joined
    points, depth = points[order], np.cumsum(change[order])
    before = np.concatenate(([0.0], depth[:-1]))
    starts = points[(depth >= times) & (before < times)]
    ends = points[(depth < times) & (before >= times)]
    wide = ends > starts
    return PcIntervals(starts[wide], ends[wide])


def trivial_costs() -> list[CostFunction]:
    """Return the costs of always predicting negative, and of always predicting positive."""
    ends, zero, one = np.array([0.0, 1.0]), np.zeros(1), np.ones(1)
    rates = {"always negative": (zero, one), "always positive": (one, zero)}
    return [CostFunction(name, ends, *both, 0.0) for name, both in rates.items()]


def below_trivial(curve: CostFunction) -> PcIntervals:
    """Return the range of pc in which a curve costs strictly less than both trivial classifiers."""
    low, high = (
        np.concatenate(parts) for parts in zip(*(Difference(curve, t).negative() for t in trivial_costs()), strict=True)
    )
    return covered(low, high, times=2)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RangeLimits(Result):
    """The operating range of a classifier with limits that hold together at all points of a grid of pc.

    Attributes
    ----------
    estimate : PcIntervals
        Where the classifier costs less than both trivial classifiers on these data.
    surely : PcIntervals
        Where it is significantly cheaper than both. The ends are points of the grid.
    possibly : PcIntervals
        Where it is not shown to cost as much as one of them or more; elsewhere it should not be used. Each end of the
        operating range lies between the corresponding ends of `surely` and `possibly`.
    level : float
    max_error : float
        The most by which costs can be too high because scores were binned.

    Notes
    -----
    The limits are those of a simultaneous band of the cost at the thresholds of the policy. They do not cover other
    thresholds: where the policy predicts the same class for every case, the classifier is not used, and the pc is in
    neither range. Share of data sets with useless scores of which some point was wrongly called cheaper, at a nominal
    5 %, with thresholds chosen on the same cases: 4.0 % with 30 positives and 30 negatives, 3.3 % with 50 and 500 (150
    data sets each, standard error 1.5 points). Without the critical value of useless scores it was 7 to 10 %. Scores
    that separate the classes at a single step were called cheaper wrongly in 8 % of 100 data sets (standard error 2.7
    points), at points where they are not.

    Examples
    --------
    >>> import costcurves as cc
    >>> roc = cc.RocCurve.from_confusion_matrix([[90, 10], [24, 76]], name="rules")
    >>> limits = cc.CostCurve(roc, policy=cc.thresholds.point(1)).operating_range_limits()
    >>> limits
    RangeLimits('rules' is useful for pc in (0.116, 0.789); 95 %: surely (0.21, 0.71), at most (0.06, 0.86))
    >>> limits.significant_at([0.15, 0.5]).tolist()
    [False, True]
    """

    name: str
    estimate: PcIntervals
    surely: PcIntervals
    possibly: PcIntervals
    level: float
    max_error: float = 0.0

    @classmethod
    def of(cls, curve: CostFunction, band: Band, known: BoolArray) -> RangeLimits:
        """Read the limits off a simultaneous band; `known` says where the curve is a trivial classifier itself."""
        trivial = np.minimum(band.pc, 1 - band.pc)
        surely = _runs(band.pc, (band.upper < trivial - EQUAL) & ~known)
        excluded = known | (band.lower > trivial + EQUAL) | (trivial <= EQUAL)
        # A range that may reach beyond the last point at which it is possible ends before the next point.
        wide = _runs(band.pc, ~excluded, beyond=True)
        return cls(curve.name, below_trivial(curve), surely, wide, band.level, band.max_error)

    def significant_at(self, pc: Any) -> Any:
        """Say whether the classifier is significantly cheaper than both trivial ones at each pc."""
        return self.surely.contains(pc)

    def _columns(self) -> dict[str, Any]:
        parts = {"estimate": self.estimate, "surely": self.surely, "possibly": self.possibly}
        rows = [(kind, low, high) for kind, intervals in parts.items() for low, high in intervals]
        return {
            "name": [self.name] * len(rows),
            "range": [row[0] for row in rows],
            "pc_low": np.array([row[1] for row in rows]),
            "pc_high": np.array([row[2] for row in rows]),
        }

    def __repr__(self) -> str:
        estimate, surely, possibly = (
            ", ".join(f"({low:.3g}, {high:.3g})" for low, high in part) or "none"
            for part in (self.estimate, self.surely, self.possibly)
        )
        sure = f"{level_text(self.level)}: surely {surely}, at most {possibly}"
        return f"RangeLimits({self.name!r} is useful for pc in {estimate}; {sure}{error_text(self.max_error)})"


def _runs(pc: FloatArray, inside: BoolArray, *, beyond: bool = False) -> PcIntervals:
    """Return the runs of points inside; `beyond` extends them to the next points outside."""
    edge = np.diff(np.concatenate([[0], inside.astype(np.int8), [0]]))
    first, last = np.flatnonzero(edge == 1), np.flatnonzero(edge == -1) - 1
    if beyond:
        first, last = np.maximum(first - 1, 0), np.minimum(last + 1, pc.size - 1)
    return PcIntervals(pc[first], pc[last])
