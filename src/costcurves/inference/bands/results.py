"""Bands and intervals: costs and differences of costs with limits, at many operating points or at one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError, UnsupportedError
from costcurves._base.results import Result
from costcurves._base.text import error_text, level_text
from costcurves._base.validation import FloatArray, IntArray, check_in_open_unit, frozen, shown
from costcurves.conditions.condition import OperatingCondition, PcLike, check_condition, pc_array
from costcurves.conditions.range import GridLike, OperatingRange, default_points
from costcurves.inference.bands.error_rates import largest_cost

SAMPLINGS = ("stratified", "full")
UNSETTLED = 2  # the side of a difference that its binning error could overturn


@dataclass(frozen=True, slots=True, eq=False)
class Interval(Result):
    """An estimate with its limits.

    Attributes
    ----------
    estimate, lower, upper, level : float
    money : Interval or None
        The same per case in money, if the interval was requested at an operating condition.
    max_error : float
        The most by which the estimate can be wrong because scores were binned; the limits are wider by it.

    Examples
    --------
    >>> from costcurves.inference.bands.results import Interval
    >>> interval = Interval(estimate=0.3, lower=0.2, upper=0.45, level=0.9)
    >>> interval
    Interval(0.3 in [0.2, 0.45], level=0.9)
    >>> 0.25 in interval
    True
    """

    estimate: float
    lower: float
    upper: float
    level: float
    money: Interval | None = None
    max_error: float = 0.0

    def _columns(self) -> dict[str, Any]:
        columns = {
            "estimate": [self.estimate],
            "lower": [self.lower],
            "upper": [self.upper],
            "level": [self.level],
        }
        if self.money is not None:
            columns |= {f"money_{name}": [getattr(self.money, name)] for name in ("estimate", "lower", "upper")}
        return columns

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper

    def __repr__(self) -> str:
        error = error_text(self.max_error)
        return f"Interval({self.estimate:.4g} in [{self.lower:.4g}, {self.upper:.4g}], level={self.level:g}{error})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DifferenceInterval(Interval):
    """The cost of a minus the cost of b with its limits, and the p-value of equal costs; below zero, a is cheaper.

    Attributes
    ----------
    estimate, lower, upper, level : float
    money : DifferenceInterval or None
        The same per case in money, if the interval was requested at an operating condition.
    max_error : float
        The most by which the estimate can be wrong because scores were binned; the limits are wider by it.
    p_value : float
        The two-sided p-value of equal costs here, without any adjustment for other comparisons or conditions.
    joint : bool
        Whether the limits hold at all conditions together. They are then wider than the p-value, which is about this
        condition alone, suggests.

    Examples
    --------
    >>> from costcurves.inference.bands.results import DifferenceInterval
    >>> found = DifferenceInterval(estimate=-0.1, lower=-0.2, upper=-0.03, level=0.95, p_value=0.01)
    >>> found
    DifferenceInterval(a - b = -0.1 in [-0.2, -0.03], level=0.95, p=0.01)
    >>> found.significant()
    True
    """

    p_value: float = field(kw_only=True)
    joint: bool = field(default=False, kw_only=True)

    @classmethod
    def of(cls, interval: Interval, p_value: float, *, joint: bool = False) -> DifferenceInterval:
        """Add a p-value to the interval of a difference."""
        money = None if interval.money is None else cls.of(interval.money, p_value, joint=joint)
        limits = (interval.estimate, interval.lower, interval.upper, interval.level)
        return cls(*limits, money, interval.max_error, p_value=p_value, joint=joint)

    def significant(self) -> bool:
        """Say whether the interval leaves out zero."""
        return self.lower > 0 or self.upper < 0

    def _columns(self) -> dict[str, Any]:
        return Interval._columns(self) | {"p_value": [self.p_value], "significant": [self.significant()]}

    def __repr__(self) -> str:
        where = (" at all conditions", " at this one") if self.joint else ("", "")
        return (
            f"DifferenceInterval(a - b = {self.estimate:.4g} in [{self.lower:.4g}, {self.upper:.4g}], "
            f"level={self.level:g}{where[0]}, p={self.p_value:.3g}{where[1]}{error_text(self.max_error)})"
        )


def p_beside(ends: tuple[float, float], p: float, smallest: float, alpha: float) -> float:
    """Return a p-value that says what its interval says: at most alpha exactly where zero lies outside.

    Both come from one law, so that only rounding is put right here, and p-values that are too small to be computed.
    """
    p = max(p, smallest)
    outside = ends[0] > 0 or ends[1] < 0
    return min(p, alpha) if outside else max(p, math.nextafter(alpha, 1.0))


def _among(band_at: Callable[[FloatArray], Band], points: FloatArray, more: FloatArray) -> Band:
    """Return a band at some points and at more of them."""
    return band_at(np.union1d(points, more))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Band(Result):
    """Normalized expected cost with limits at each operating point.

    Attributes
    ----------
    pc, estimate, lower, upper : arrays of shape (points,)
    level : float
        Confidence level: at each point, or at all points jointly if `simultaneous`.
    method, sampling : str
    simultaneous : bool
    critical : float
        The normal critical value that was used; larger than the pointwise one if `simultaneous`.
    prevalence : float or None
        The mean of an uncertain prevalence; conditions that the band is asked about must have this prevalence.
    max_error : float
        The most by which the estimate can be too high because scores were binned. The lower limits are lower by it, so
        that the band also contains the cost of the best threshold on these data, which may lie within a bin.

    Examples
    --------
    >>> from costcurves.inference.bands.one_curve import cost_band
    >>> band = cost_band(4, 20, 4, 10, [0.0, 0.5, 1.0], level=0.9)
    >>> band
    Band(3 points in pc [0, 1], wilson, stratified, 90 % pointwise)
    >>> band.at(0.5)
    Interval(0.3 in [0.1841, 0.4529], level=0.9)
    """

    pc: FloatArray
    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray
    level: float
    method: str
    sampling: str
    simultaneous: bool
    critical: float
    prevalence: float | None = field(default=None, kw_only=True)
    max_error: float = field(default=0.0, kw_only=True)
    _band_at: Callable[[FloatArray], Band] | None = field(default=None, kw_only=True)  # the band at other points

    _column_names = ("pc", "estimate", "lower", "upper")

    def at(self, condition: Any) -> Interval:
        """Return estimate and limits at one operating condition (or pc), and in money at a condition.

        A band that was made from a curve is computed anew at that point; otherwise it is linear between its points.
        """
        where = check_condition(condition)
        pc = where.pc
        mean = self.prevalence
        if mean is not None and isinstance(condition, OperatingCondition) and abs(where.prevalence - mean) > 1e-9:
            raise InputError(
                "`condition` must have the mean of `prevalence_uncertainty` as its prevalence, "
                f"{mean:g}, got {where.prevalence:g}"
            )
        if not self.pc[0] <= pc <= self.pc[-1]:
            raise InputError(f"`condition` must have a pc in [{self.pc[0]:g}, {self.pc[-1]:g}], got {shown(pc)}")
        band = self if self._band_at is None else self._band_at(np.array([pc]))
        value, low, high = (float(np.interp(pc, band.pc, a)) for a in (band.estimate, band.lower, band.upper))
        money = None
        if isinstance(condition, OperatingCondition):
            in_money = self.max_error * condition.unit_cost
            money = Interval(*self._money(condition, (value, low, high)), self.level, max_error=in_money)
        return Interval(value, low, high, self.level, money, self.max_error)

    def _money(self, condition: OperatingCondition, values: tuple[float, float, float]) -> tuple[float, float, float]:
        first, second, third = (condition.money(value) for value in values)
        return first, second, third

    def with_error(self, max_error: float, spread: float = 0.0) -> Band:
        """Return the band of costs that can be too high by `max_error`, and whose limits can be wider by `spread`.

        Examples
        --------
        >>> from costcurves.inference.bands.one_curve import cost_band
        >>> cost_band(4, 20, 4, 10, [0.5], level=0.9).with_error(0.01).at(0.5)
        Interval(0.3 in [0.1741, 0.4529], level=0.9, max_error=0.01)
        """
        if not max_error:
            return self
        lower = frozen(np.maximum(self.lower - (max_error + spread), 0.0))
        upper = np.minimum(self.upper + spread, np.maximum(self.upper, 1.0))
        return replace(self, lower=lower, upper=frozen(upper), max_error=max_error)

    def per_largest_cost(self, prevalence: float) -> PerLargestCost:
        """Return the band in units of the more expensive of the two errors, as in section 4 of the 2008 paper.

        Parameters
        ----------
        prevalence : float in (0, 1)
            The class frequency at which each pc has its costs, such as that of the test set.

        Examples
        --------
        >>> import costcurves as cc
        >>> roc = cc.RocCurve.from_confusion_matrix([[6, 4], [4, 16]])
        >>> band = cc.CostCurve(roc, policy=cc.thresholds.point(1)).band(sampling="full", pc=[0.4, 0.8])
        >>> band.per_largest_cost(roc.prevalence).estimate.round(4).tolist()
        [0.1778, 0.2]
        """
        p = check_in_open_unit("prevalence", prevalence)
        # One example costs pc / p if it is a miss and (1 - pc) / (1 - p) if it is a false alarm, in units of NE.
        with np.errstate(over="ignore"):
            largest = largest_cost(self.pc, p)
        estimate, lower, upper = (ends / largest for ends in (self.estimate, self.lower, self.upper))
        return PerLargestCost(self.pc, estimate, lower, upper, self.level, p)

    def __repr__(self) -> str:
        kind = "simultaneous" if self.simultaneous else "pointwise"
        return (
            f"{type(self).__name__}({self.pc.size} points in pc [{self.pc[0]:g}, {self.pc[-1]:g}], "
            f"{self.method}, {self.sampling}, {level_text(self.level)} {kind}{error_text(self.max_error)})"
        )


def computed_by(band: Band, band_at: Callable[[FloatArray], Band], *, together: bool = False) -> Band:
    """Return the same band, computed anew by `band_at` at points between those that it has.

    Where limits depend on all points, such as those of a joint band, the new points are asked `together` with them.
    """
    return replace(band, _band_at=partial(_among, band_at, band.pc) if together else band_at)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PerLargestCost(Result):
    """A band in units of the more expensive error, max(cost_fn, cost_fp), at one prevalence.

    Attributes
    ----------
    pc, estimate, lower, upper : arrays of shape (points,)
    level, prevalence : float

    Notes
    -----
    Dugas & Gadoury (2008) divide costs of full samples by c_max, because the share of positives, and with it the cost
    of getting every case wrong, varies. The largest cost of a case does not.

    Examples
    --------
    >>> import costcurves as cc
    >>> roc = cc.RocCurve.from_confusion_matrix([[6, 4], [4, 16]])
    >>> cc.CostCurve(roc).band(sampling="full", level=0.9).per_largest_cost(0.5)
    PerLargestCost(101 points, 90 %, prevalence 0.5)
    """

    pc: FloatArray
    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray
    level: float
    prevalence: float
    _column_names = ("pc", "estimate", "lower", "upper")

    def __repr__(self) -> str:
        """Return the number of points, the level and the prevalence."""
        return f"PerLargestCost({self.pc.size} points, {level_text(self.level)}, prevalence {self.prevalence:g})"


def operating_points(pc: GridLike | None) -> FloatArray:
    """Return operating points, given as values of pc, as a condition, as a range, or as None for all of pc."""
    if pc is None or isinstance(pc, OperatingRange):
        return default_points(pc)
    return check_pc(pc.pc if isinstance(pc, OperatingCondition) else pc)


def check_pc(pc: PcLike) -> FloatArray:
    """Return operating points as an increasing array in [0, 1]; a condition stands for its pc."""
    points = np.atleast_1d(pc_array(pc))
    if points.ndim != 1 or points.size == 0:
        raise InputError(f"`pc` must be one-dimensional and not empty, got shape {points.shape}")
    if (np.diff(points) < 0).any():
        raise InputError("`pc` must be increasing")
    return np.array(points)


@dataclass(frozen=True, slots=True, eq=False)
class Verdict(Result):
    """A range of operating points and who is better there: "a", "b", "undecided", or "unsettled" by binning error.

    Examples
    --------
    >>> from costcurves.inference.bands.results import Verdict
    >>> Verdict(0.7, 1.0, "a")
    Verdict(low=0.7, high=1.0, better='a')
    """

    low: float
    high: float
    better: str

    _column_names = ("low", "high", "better")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SignedBand(Band):
    """Cost of a minus cost of b with limits at each operating point; below zero, a is better.

    Attributes
    ----------
    errors : (float, float)
        The most by which the costs of a and of b can be too high because scores were binned; the limits are wider by
        both.
    allowed : (array, array) or None
        By how much the lower limits are lower and the upper ones higher because thresholds were chosen on these cases.
    """

    errors: tuple[float, float] = field(default=(0.0, 0.0), kw_only=True)
    allowed: tuple[FloatArray, FloatArray] | None = field(default=None, kw_only=True)

    def _largest(self) -> FloatArray:
        """Return the largest possible difference at each point."""
        return np.ones_like(self.pc)

    def with_errors(self, errors: tuple[float, float]) -> Self:
        """Return the band for costs that can be too high by these errors, of a and of b."""
        if not any(errors):
            return self
        largest = self._largest()
        lower, upper = np.maximum(self.lower - errors[0], -largest), np.minimum(self.upper + errors[1], largest)
        return replace(self, lower=frozen(lower), upper=frozen(upper), errors=errors, max_error=max(errors))

    def allowing(self, moved: FloatArray, allowed: tuple[FloatArray, FloatArray]) -> Self:
        """Return the band with estimates that are moved, and with limits that allow for chosen thresholds."""
        largest = self._largest()
        ends = (self.estimate + moved, self.lower - allowed[0], self.upper + allowed[1])
        estimate, lower, upper = (frozen(np.clip(end, -largest, largest)) for end in ends)
        return replace(self, estimate=estimate, lower=lower, upper=upper, allowed=allowed)

    def _widened(self, near: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return by how much both limits are wider for binning errors and chosen thresholds, at some points."""
        none = np.zeros(self.pc.size)
        below, above = self.allowed or (none, none)
        return below[near] + self.errors[0], above[near] + self.errors[1]

    def _turned(self) -> Self:
        """Return the estimates and limits of b minus a."""
        estimate, lower, upper = (frozen(-end) for end in (self.estimate, self.upper, self.lower))
        allowed = self.allowed and self.allowed[::-1]
        return replace(self, estimate=estimate, lower=lower, upper=upper, errors=self.errors[::-1], allowed=allowed)

    def _money(self, condition: OperatingCondition, values: tuple[float, float, float]) -> tuple[float, float, float]:
        first, second, third = (value * condition.unit_cost for value in values)  # the baseline cancels
        return first, second, third

    def significant(self) -> tuple[Verdict, ...]:
        """Return the ranges of pc in which a is better, b is better, or neither is shown to be.

        This needs a simultaneous band: a pointwise band excludes zero somewhere far more often than its level says.
        Ranges in which the band would exclude zero if scores had not been binned are "unsettled".
        """
        if not self.simultaneous:
            raise UnsupportedError(
                "`significant` must have a simultaneous band, got a pointwise one: pass simultaneous=True"
            )
        sign = _side(self.lower, self.upper)
        sign[(sign == 0) & (_side(self.lower + self.errors[0], self.upper - self.errors[1]) != 0)] = UNSETTLED
        # Only the points of the band were tested, so a range ends at the last of them that excludes zero; a range of
        # one point has no width and is left undecided.
        names = {-1: "a", 0: "undecided", 1: "b", UNSETTLED: "unsettled"}
        first = np.concatenate(([0], np.flatnonzero(np.diff(sign)) + 1))
        last = np.append(first[1:] - 1, sign.size - 1)
        told = [
            (i, j) for i, j in zip(first.tolist(), last.tolist(), strict=True) if sign[i] and (j > i or sign.size == 1)
        ]
        parts, end = [], float(self.pc[0])
        for i, j in told:
            low, high = float(self.pc[i]), float(self.pc[j])
            if low > end:
                parts.append(Verdict(end, low, names[0]))
            parts.append(Verdict(low, high, names[int(sign[i])]))
            end = high
        if end < self.pc[-1] or not parts:
            parts.append(Verdict(end, float(self.pc[-1]), names[0]))
        return tuple(parts)

    def _nearest(self, pc: npt.ArrayLike) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return operating points, the same as a flat array, and which point of the band is nearest to each."""
        wanted = pc_array(pc)
        flat = wanted.ravel()
        if ((flat < self.pc[0] - 1e-12) | (flat > self.pc[-1] + 1e-12)).any():
            raise InputError(f"`pc` must be in [{self.pc[0]:g}, {self.pc[-1]:g}], got {shown(pc)}")
        after = np.clip(np.searchsorted(self.pc, flat), 0, self.pc.size - 1)
        before = np.maximum(after - 1, 0)
        return wanted, flat, np.where(np.abs(self.pc[before] - flat) < np.abs(self.pc[after] - flat), before, after)


def _side(lower: FloatArray, upper: FloatArray) -> IntArray:
    """Return -1 if both limits lie below zero, 1 if both lie above, and 0 otherwise."""
    return np.where(upper < 0, -1, np.where(lower > 0, 1, 0))
