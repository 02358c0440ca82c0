"""Operating conditions that are not known exactly: ranges of them, and Beta distributions of pc or prevalence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.results import Result
from costcurves._base.validation import (
    FloatArray,
    check_in_open_unit,
    check_in_unit,
    check_instance,
    check_nonnegative,
    check_positive,
    shown,
)
from costcurves.conditions.condition import OperatingCondition, PcLike, check_slope, marked

# Steps between the operating points that are used where none are given: 0, 0.01, ..., 1.
_DEFAULT_STEPS = 100
Bounds = float | Sequence[float] | npt.NDArray[np.floating | np.integer]  # a number, or a pair (low, high)


def _check_bounds(name: str, bounds: Any, *, check: Callable[[str, Any], float]) -> tuple[float, float]:
    """Return (low, high) for a number or a pair."""
    if isinstance(bounds, (list, tuple)) or (isinstance(bounds, np.ndarray) and bounds.ndim > 0):
        if len(bounds) != 2:
            raise InputError(f"`{name}` must be a number or a pair (low, high), got {shown(bounds)}")
        low, high = check(name, bounds[0]), check(name, bounds[1])
    else:
        low = high = check(name, bounds)
    if low > high:
        raise InputError(f"`{name}` must be a pair (low, high) with low <= high, got {shown(bounds)}")
    return low, high


@dataclass(frozen=True, slots=True, eq=True, repr=False, init=False)
class OperatingRange(Result):
    """An interval for the prevalence and for each cost, for when they are not known exactly.

    Parameters
    ----------
    prevalence, cost_fp, cost_fn : float or (low, high)
        A number if the quantity is known, a pair if only bounds are. Costs are given by name.

    Attributes
    ----------
    pc, slope : (low, high)
        The interval of probability-costs and of iso-performance slopes that the range spans.

    Examples
    --------
    The sensitivity analysis of the 1997 paper: a false alarm costs 5 to 10 dollars, a miss 500 to 1000, at 10 to 1.

    >>> import costcurves as cc
    >>> cc.OperatingRange(prevalence=1/11, cost_fp=(5, 10), cost_fn=(500, 1000))
    OperatingRange(prevalence=0.0909, cost_fp=5..10, cost_fn=500..1e+03: pc=0.833..0.952, slope=0.05..0.2)
    """

    prevalence: tuple[float, float]
    cost_fp: tuple[float, float]
    cost_fn: tuple[float, float]
    _pc_only: bool = field(default=False, init=False, compare=False)

    def __init__(self, prevalence: Bounds, *, cost_fp: Bounds, cost_fn: Bounds) -> None:
        """Check and normalise the bounds."""
        object.__setattr__(self, "prevalence", _check_bounds("prevalence", prevalence, check=check_in_open_unit))
        object.__setattr__(self, "cost_fp", _check_bounds("cost_fp", cost_fp, check=check_nonnegative))
        object.__setattr__(self, "cost_fn", _check_bounds("cost_fn", cost_fn, check=check_nonnegative))
        object.__setattr__(self, "_pc_only", False)
        _ = self.corners  # refuses costs that are both 0

    @property
    def corners(self) -> tuple[OperatingCondition, OperatingCondition]:
        """The conditions with the smallest and the largest probability-cost."""
        low = OperatingCondition(self.prevalence[0], cost_fp=self.cost_fp[1], cost_fn=self.cost_fn[0])
        high = OperatingCondition(self.prevalence[1], cost_fp=self.cost_fp[0], cost_fn=self.cost_fn[1])
        return marked(low, pc_only=self.pc_only), marked(high, pc_only=self.pc_only)

    @property
    def pc_only(self) -> bool:
        """Whether only the interval of pc is known (`from_pc`, `from_slope`); see `OperatingCondition.pc_only`."""
        return self._pc_only

    @property
    def pc(self) -> tuple[float, float]:
        """The smallest and the largest probability-cost."""
        low, high = self.corners
        return low.pc, high.pc

    @property
    def slope(self) -> tuple[float, float]:
        """The smallest and the largest slope of the iso-performance lines."""
        low, high = self.corners
        return high.slope, low.slope

    @classmethod
    def from_pc(cls, low: float, high: float) -> OperatingRange:
        """Make a range that spans these probability-costs, with costs such that money equals normalized cost.

        Examples
        --------
        >>> import costcurves as cc
        >>> [round(pc, 9) for pc in cc.OperatingRange.from_pc(0.2, 0.6).pc]
        [0.2, 0.6]
        """
        low, high = _check_bounds("pc", (low, high), check=check_in_unit)
        if low == 0 or high == 1:
            costs = {"cost_fp": (2 * (1 - high), 2 * (1 - low)), "cost_fn": (2 * low, 2 * high)}
            return marked(cls(prevalence=0.5, **costs), pc_only=True)
        return marked(cls(prevalence=(low, high), cost_fp=1.0, cost_fn=1.0), pc_only=True)

    @classmethod
    def from_slope(cls, low: float, high: float) -> OperatingRange:
        """Make a range that spans these slopes of iso-performance lines, from 0 to infinity.

        Parameters
        ----------
        low, high : float in [0, inf]
            The smallest and the largest slope; the largest slope belongs to the smallest pc.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.OperatingRange.from_slope(0.25, 4).pc
        (0.2, 0.8)
        """
        low, high = _check_bounds("slope", (low, high), check=check_slope)
        return cls.from_pc(1.0 / (1.0 + high), 1.0 / (1.0 + low))

    def contains(self, condition: OperatingCondition) -> bool:
        """Say whether prevalence and costs of a condition each lie within their interval.

        Examples
        --------
        >>> import costcurves as cc
        >>> span = cc.OperatingRange(prevalence=(0.1, 0.3), cost_fp=1, cost_fn=(5, 10))
        >>> span.contains(cc.OperatingCondition(prevalence=0.2, cost_fp=1, cost_fn=7))
        True
        """
        check_instance("condition", condition, OperatingCondition)
        return all(
            low <= getattr(condition, name) <= high
            for name, (low, high) in (
                ("prevalence", self.prevalence),
                ("cost_fp", self.cost_fp),
                ("cost_fn", self.cost_fn),
            )
        )

    def _columns(self) -> dict[str, Any]:
        names = ("prevalence", "cost_fp", "cost_fn", "pc", "slope")
        return {
            "quantity": list(names),
            "low": [getattr(self, name)[0] for name in names],
            "high": [getattr(self, name)[1] for name in names],
        }

    def __repr__(self) -> str:

        def text(bounds: tuple[float, float]) -> str:
            low, high = bounds
            return f"{low:.3g}" if low == high else f"{low:.3g}..{high:.3g}"

        return (
            f"OperatingRange(prevalence={text(self.prevalence)}, cost_fp={text(self.cost_fp)}, "
            f"cost_fn={text(self.cost_fn)}: pc={text(self.pc)}, slope={text(self.slope)})"
        )


@dataclass(frozen=True, slots=True, eq=True)
class Beta(Result):
    """A Beta(a, b) distribution on [0, 1], which says how likely each probability-cost (or prevalence) is.

    Parameters
    ----------
    a, b : float > 0
        The two shape parameters; the mean is a / (a + b).

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.Beta(2, 6).mean
    0.25
    """

    a: float
    b: float

    _column_names = ("a", "b", "mean")

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "a", check_positive("a", self.a))
        object.__setattr__(self, "b", check_positive("b", self.b))
        if not 0 < self.mean < 1:
            raise InputError(f"`a` and `b` must leave a mean inside (0, 1), got {shown(self.a)} and {shown(self.b)}")

    @property
    def mean(self) -> float:
        """The mean, a / (a + b)."""
        return self.a / (self.a + self.b)


def default_points(over: OperatingRange | None = None) -> FloatArray:
    """Return the operating points that bands, comparisons and reports use by default.

    They are 0, 0.01, ..., 1, or 101 evenly spaced points of a range.

    Examples
    --------
    >>> import costcurves as cc
    >>> from costcurves.conditions.range import default_points
    >>> default_points()[:4].tolist(), default_points().size
    ([0.0, 0.01, 0.02, 0.03], 101)
    >>> default_points(cc.OperatingRange.from_pc(0.2, 0.3))[[0, 1, -1]].round(4).tolist()
    [0.2, 0.201, 0.3]
    """
    low, high = (0.0, 1.0) if over is None else over.pc
    points = low + (high - low) * (np.arange(_DEFAULT_STEPS + 1) / _DEFAULT_STEPS)
    return np.unique(np.minimum(np.append(points[:-1], high), high))


# What stands for a range of conditions: a range, one condition, a pair (low, high) of pc, or None for all of pc.
RangeLike = OperatingRange | OperatingCondition | tuple[float, float] | Sequence[float] | None


# Operating points: pc or conditions, or a range that stands for 101 evenly spaced points of it.
GridLike = PcLike | OperatingRange


def check_range(over: RangeLike) -> OperatingRange:
    """Return an operating range.

    A condition is a range of one point, a pair (low, high) is a range of pc, and None is all of pc.
    """
    if over is None:
        return OperatingRange.from_pc(0.0, 1.0)
    if isinstance(over, OperatingRange):
        return over
    if isinstance(over, OperatingCondition):
        return marked(OperatingRange(over.prevalence, cost_fp=over.cost_fp, cost_fn=over.cost_fn), pc_only=over.pc_only)
    if _is_pair(over):
        return OperatingRange.from_pc(*span_of(over))
    raise InputError(
        "`over` must be an OperatingRange, an OperatingCondition or a pair (low, high) of pc, "
        f"got {shown(over)} ({type(over).__name__})"
    )


def span_of(over: RangeLike) -> tuple[float, float]:
    """Return the smallest and the largest pc of a range, given as for `check_range`."""
    if _is_pair(over):
        return _check_bounds("over", over, check=check_in_unit)
    return check_range(over).pc


def _is_pair(over: Any) -> bool:
    """Say whether something is a pair of values."""
    listed = isinstance(over, (tuple, list)) or (isinstance(over, np.ndarray) and over.ndim == 1)
    return listed and len(over) == 2 and not any(hasattr(value, "__len__") for value in over)
