"""Operating conditions: prevalence and costs, what they reduce to, and ranges of them. No data here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from costcurves._base.errors import InputError
from costcurves._base.results import Result
from costcurves._base.validation import (
    FloatArray,
    check_choice,
    check_in_open_unit,
    check_in_unit,
    check_nonnegative,
    check_number,
    check_positive,
    check_unit_array,
    number_array,
    shown,
)

Bounds = float | Sequence[float]

# Steps between the operating points at which everything looks that is not told where: 0, 0.01, ..., 1.
_DEFAULT_STEPS = 100


def pc_to_slope(pc: float) -> float:
    """Return the slope (1 - pc) / pc of the iso-performance lines, in [0, inf]."""
    return math.inf if pc == 0 else (1.0 - pc) / pc


@dataclass(frozen=True, slots=True, eq=True, repr=False)
class OperatingCondition(Result):
    """One set of circumstances in which a classifier will work: how frequent positives are, and what errors cost.

    Parameters
    ----------
    prevalence : float in (0, 1)
        The probability of a positive where the classifier will be used.
    cost_fp, cost_fn : float >= 0, not both 0
        The cost of a false alarm and of a miss, in any currency, above the cost of the right decision.
    baseline : float, default 0
        The expected cost per case when every decision is right; `from_cost_matrix` fills it in.

    Attributes
    ----------
    pc : float
        Probability-cost of the positives, ``p·cost_fn / (p·cost_fn + (1-p)·cost_fp)``, the x axis of cost curves.
    slope : float
        Slope of the iso-performance lines in ROC space, ``(1-pc) / pc``.
    unit_cost : float
        Money per unit of normalized cost: ``p·cost_fn + (1-p)·cost_fp``, the cost of always being wrong.

    Notes
    -----
    The slope is that of Provost & Fawcett (1997), pc is equation 1 of Holte & Drummond (2005).

    Examples
    --------
    The two scenarios of the 1997 paper: negatives outnumber positives 10 to 1.

    >>> import costcurves as cc
    >>> cc.OperatingCondition(prevalence=1/11, cost_fp=1, cost_fn=1)
    OperatingCondition(prevalence=0.0909, cost_fp=1, cost_fn=1: pc=0.0909, slope=10)
    >>> round(cc.OperatingCondition(prevalence=1/11, cost_fp=1, cost_fn=100).slope, 12)
    0.1
    """

    prevalence: float
    cost_fp: float
    cost_fn: float
    baseline: float = 0.0
    _pc_only: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        """Check and normalise the numbers."""
        object.__setattr__(self, "prevalence", check_in_open_unit("prevalence", self.prevalence))
        object.__setattr__(self, "cost_fp", check_nonnegative("cost_fp", self.cost_fp))
        object.__setattr__(self, "cost_fn", check_nonnegative("cost_fn", self.cost_fn))
        object.__setattr__(self, "baseline", check_number("baseline", self.baseline))
        if self.cost_fp == self.cost_fn == 0:
            raise InputError(
                "`cost_fp` and `cost_fn` must not both be 0, got 0 and 0: nothing is at stake, and every choice costs 0"
            )
        if not 0 < self.unit_cost < math.inf:
            raise InputError(
                "`cost_fp` and `cost_fn` must stay finite and above 0 when weighted by the prevalence, "
                f"got {shown(self.cost_fp)} and {shown(self.cost_fn)}"
            )

    @property
    def pc_only(self) -> bool:
        """Whether only pc is known (`from_pc`): prevalence and costs then stand for all that give this pc.

        Costs are shares of the cost of always being wrong, and no amounts of money.
        """
        return self._pc_only

    @property
    def unit_cost(self) -> float:
        """Money per unit of normalized cost."""
        return self.prevalence * self.cost_fn + (1.0 - self.prevalence) * self.cost_fp

    @property
    def pc(self) -> float:
        """Probability-cost of the positives, in [0, 1]."""
        return self.prevalence * self.cost_fn / self.unit_cost

    @property
    def slope(self) -> float:
        """Slope of the iso-performance lines, in [0, inf]."""
        weight = self.prevalence * self.cost_fn
        return math.inf if weight == 0 else (1.0 - self.prevalence) * self.cost_fp / weight

    def money(self, normalized_cost: float) -> float:
        """Return the expected cost per case, in money, of a normalized cost.

        Examples
        --------
        >>> import costcurves as cc
        >>> round(cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5).money(0.2), 9)
        0.44
        """
        return self.baseline + check_number("normalized_cost", normalized_cost) * self.unit_cost

    def pc_at_prevalence(self, prevalence: Any) -> Any:
        """Return the pc of other prevalences at the same costs.

        Examples
        --------
        >>> import costcurves as cc
        >>> here = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)
        >>> here.pc_at_prevalence([0.0, 0.1, 0.5]).round(4).tolist()
        [0.0, 0.3571, 0.8333]
        """
        p = check_unit_array("prevalence", prevalence)
        if not (self.cost_fp > 0 and self.cost_fn > 0):
            raise InputError(
                "`cost_fp` and `cost_fn` must be > 0 for pc to follow the prevalence, "
                f"got {shown(self.cost_fp)} and {shown(self.cost_fn)}"
            )
        weight = p * self.cost_fn
        pc = weight / (weight + (1.0 - p) * self.cost_fp)
        return float(pc) if p.ndim == 0 else pc

    def pc_at_cost_ratio(self, ratio: Any) -> Any:
        """Return the pc of other cost ratios ``cost_fn / cost_fp`` at the same prevalence.

        Examples
        --------
        >>> import costcurves as cc
        >>> here = cc.OperatingCondition(prevalence=0.5, cost_fp=1, cost_fn=5)
        >>> here.pc_at_cost_ratio([0.25, 1.0, 4.0]).tolist()
        [0.2, 0.5, 0.8]
        """
        r = number_array("ratio", ratio, booleans=False)
        if not (np.isfinite(r) & (r >= 0)).all():
            raise InputError(f"`ratio` must be finite and >= 0, got {shown(ratio)}")
        pc = self.prevalence * r / (self.prevalence * r + (1.0 - self.prevalence))
        return float(pc) if r.ndim == 0 else pc

    def with_pc(self, pc: float, *, by: str) -> OperatingCondition:
        """Return the condition with this probability-cost that differs in one quantity only.

        Parameters
        ----------
        pc : float in (0, 1)
            The wanted probability-cost.
        by : {"prevalence", "cost_fn", "cost_fp"}
            What is changed to reach it; the other two stay. A cost that stays must not be 0.

        Examples
        --------
        How dear must a miss be, other things equal, until the probability-cost is one half?

        >>> import costcurves as cc
        >>> here = cc.OperatingCondition(prevalence=0.1, cost_fp=1, cost_fn=3)
        >>> round(here.with_pc(0.5, by="cost_fn").cost_fn, 9)
        9.0
        """
        pc = check_in_open_unit("pc", pc)
        check_choice("by", by, ("prevalence", "cost_fn", "cost_fp"))
        p, fp, fn = self.prevalence, self.cost_fp, self.cost_fn
        if by != "cost_fp":
            check_positive("cost_fp", fp)
        if by != "cost_fn":
            check_positive("cost_fn", fn)
        if by == "prevalence":
            return replace(self, prevalence=pc * fp / (pc * fp + (1.0 - pc) * fn))
        if by == "cost_fn":
            return replace(self, cost_fn=pc * (1.0 - p) * fp / ((1.0 - pc) * p))
        return replace(self, cost_fp=(1.0 - pc) * p * fn / (pc * (1.0 - p)))

    @classmethod
    def from_pc(cls, pc: float, *, prevalence: float = 0.5) -> OperatingCondition:
        """Return a condition with this probability-cost, with costs such that money equals normalized cost.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.OperatingCondition.from_pc(0.3).pc
        0.3
        """
        pc = check_in_unit("pc", pc)
        prevalence = check_in_open_unit("prevalence", prevalence)
        fp, fn = (1.0 - pc) / (1.0 - prevalence), pc / prevalence
        return cls(prevalence=prevalence, cost_fp=fp, cost_fn=fn, _pc_only=True)

    @classmethod
    def from_cost_matrix(cls, costs: Any, *, prevalence: float, pos_label: Any = None) -> OperatingCondition:
        """Return the condition of a full 2x2 cost matrix: rows true (negative, positive), columns predicted.

        The papers write the transpose, C(predicted, true). An error must not be cheaper than the right decision.

        Parameters
        ----------
        costs : array-like of shape (2, 2), or a pandas DataFrame whose index and columns are the labels
            Costs; a labelled frame is matched by name and needs `pos_label`.
        prevalence : float in (0, 1)
            The probability of a positive at deployment.
        pos_label : label, optional
            Which row and column are positive, for a labelled frame.

        Examples
        --------
        German credit: accepting a bad customer costs 5, refusing a good one costs 1.

        >>> import costcurves as cc
        >>> cc.OperatingCondition.from_cost_matrix([[0, 1], [5, 0]], prevalence=0.3)
        OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5: pc=0.682, slope=0.467)
        """
        if pos_label is not None:
            costs = matched_by_name("costs", costs, pos_label)
        table = number_array("costs", costs)
        if table.shape != (2, 2):
            raise InputError(f"`costs` must have shape (2, 2), got {table.shape}")
        if hasattr(costs, "index") and hasattr(costs, "columns") and pos_label is None:
            raise InputError("`pos_label` must name the positive class of a labelled `costs`, got None")
        if not np.isfinite(table).all():
            raise InputError(f"`costs` must be finite, got {shown(table.tolist())}")
        (tn, fp), (fn, tp) = table.tolist()
        for right, wrong, what in ((tn, fp, "negative"), (tp, fn, "positive")):
            if wrong < right:
                raise InputError(
                    f"`costs` must not make an error cheaper than the right decision, got {shown(wrong)} for an error "
                    f"and {shown(right)} for the right decision on a {what} "
                    "(rows are the true class, columns the predicted one: is it transposed?)"
                )
        prevalence = check_in_open_unit("prevalence", prevalence)
        return cls(
            prevalence=prevalence,
            cost_fp=fp - tn,
            cost_fn=fn - tp,
            baseline=prevalence * tp + (1.0 - prevalence) * tn,
        )

    def _columns(self) -> dict[str, Any]:
        names = ("prevalence", "cost_fp", "cost_fn", "baseline", "pc", "slope", "unit_cost")
        return {name: [getattr(self, name)] for name in names}

    def __repr__(self) -> str:
        """Return the condition and what it reduces to."""
        extra = f", baseline={self.baseline:.4g}" if self.baseline else ""
        return (
            f"OperatingCondition(prevalence={self.prevalence:.3g}, cost_fp={self.cost_fp:.6g}, "
            f"cost_fn={self.cost_fn:.6g}{extra}: pc={self.pc:.3g}, slope={self.slope:.3g})"
        )


def matched_by_name(name: str, matrix: Any, pos_label: Any) -> Any:
    """Return the values of a labelled frame with the positive class last."""
    if not (hasattr(matrix, "index") and hasattr(matrix, "columns")):
        raise InputError(f"`pos_label` goes with a labelled `{name}` (a pandas DataFrame), got a plain array")
    rows, columns = list(matrix.index), list(matrix.columns)
    if sorted(map(str, rows)) != sorted(map(str, columns)) or len(rows) != 2 or set(rows) != set(columns):
        raise InputError(f"`{name}` must have the same two labels as rows and columns, got {rows} and {columns}")
    if pos_label not in rows:
        raise InputError(f"`pos_label` must be one of the labels {rows}, got {shown(pos_label)}")
    order = [label for label in rows if label != pos_label] + [pos_label]
    values = np.asarray(matrix)
    return values[np.ix_([rows.index(label) for label in order], [columns.index(label) for label in order])]


def _check_bounds(name: str, bounds: Bounds, *, check: Any) -> tuple[float, float]:
    """Return (low, high) of a number or a pair."""
    if isinstance(bounds, (list, tuple)) or (isinstance(bounds, np.ndarray) and bounds.ndim > 0):
        if len(bounds) != 2:
            raise InputError(f"`{name}` must be a number or a pair (low, high), got {shown(bounds)}")
        low, high = check(name, bounds[0]), check(name, bounds[1])
    else:
        low = high = check(name, bounds)
    if low > high:
        raise InputError(f"`{name}` must be a pair (low, high) with low <= high, got {shown(bounds)}")
    return low, high


@dataclass(frozen=True, slots=True, eq=True, repr=False)
class OperatingRange(Result):
    """An interval for the prevalence and for each cost: what is known when they are not known exactly.

    Parameters
    ----------
    prevalence, cost_fp, cost_fn : float or (low, high)
        A number where it is known, a pair where only bounds are.

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

    prevalence: Any
    cost_fp: Any
    cost_fn: Any
    _pc_only: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        """Check and normalise the bounds."""
        object.__setattr__(self, "prevalence", _check_bounds("prevalence", self.prevalence, check=check_in_open_unit))
        object.__setattr__(self, "cost_fp", _check_bounds("cost_fp", self.cost_fp, check=check_nonnegative))
        object.__setattr__(self, "cost_fn", _check_bounds("cost_fn", self.cost_fn, check=check_nonnegative))
        _ = self.corners  # refuses costs that are both 0

    @property
    def corners(self) -> tuple[OperatingCondition, OperatingCondition]:
        """The conditions with the smallest and the largest probability-cost."""
        alike: Any = {"_pc_only": self._pc_only}
        low = OperatingCondition(self.prevalence[0], cost_fp=self.cost_fp[1], cost_fn=self.cost_fn[0], **alike)
        high = OperatingCondition(self.prevalence[1], cost_fp=self.cost_fp[0], cost_fn=self.cost_fn[1], **alike)
        return low, high

    @property
    def pc_only(self) -> bool:
        """Whether only the interval of pc is known (`from_pc`), as for `OperatingCondition.pc_only`."""
        return self._pc_only

    @property
    def pc(self) -> tuple[float, float]:
        """Smallest and largest probability-cost."""
        low, high = self.corners
        return low.pc, high.pc

    @property
    def slope(self) -> tuple[float, float]:
        """Smallest and largest slope of the iso-performance lines."""
        low, high = self.corners
        return high.slope, low.slope

    @classmethod
    def from_pc(cls, low: float, high: float) -> OperatingRange:
        """Return a range that spans these probability-costs, with costs that make money equal normalized cost.

        Examples
        --------
        >>> import costcurves as cc
        >>> [round(pc, 9) for pc in cc.OperatingRange.from_pc(0.2, 0.6).pc]
        [0.2, 0.6]
        """
        low, high = _check_bounds("pc", (low, high), check=check_in_unit)
        if low == 0 or high == 1:
            costs = {"cost_fp": (2 * (1 - high), 2 * (1 - low)), "cost_fn": (2 * low, 2 * high)}
            return cls(prevalence=0.5, **costs, _pc_only=True)
        return cls(prevalence=(low, high), cost_fp=1.0, cost_fn=1.0, _pc_only=True)

    def contains(self, condition: OperatingCondition) -> bool:
        """Return whether each part of the condition lies within its interval.

        Examples
        --------
        >>> import costcurves as cc
        >>> span = cc.OperatingRange(prevalence=(0.1, 0.3), cost_fp=1, cost_fn=(5, 10))
        >>> span.contains(cc.OperatingCondition(prevalence=0.2, cost_fp=1, cost_fn=7))
        True
        """
        if not isinstance(condition, OperatingCondition):
            raise InputError(f"`condition` must be an OperatingCondition, got {shown(condition)}")
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
        """Return the bounds and what they span."""

        def text(bounds: tuple[float, float]) -> str:
            low, high = bounds
            return f"{low:.3g}" if low == high else f"{low:.3g}..{high:.3g}"

        return (
            f"OperatingRange(prevalence={text(self.prevalence)}, cost_fp={text(self.cost_fp)}, "
            f"cost_fn={text(self.cost_fn)}: pc={text(self.pc)}, slope={text(self.slope)})"
        )


@dataclass(frozen=True, slots=True, eq=True)
class Beta(Result):
    """A Beta(a, b) distribution on [0, 1]: how likely each probability-cost (or prevalence) is.

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

    def _columns(self) -> dict[str, Any]:
        return {"a": [self.a], "b": [self.b], "mean": [self.mean]}


def bayes_threshold(condition: OperatingCondition, *, calibrated_at: float | None = None) -> float:
    """Return the score above which predicting positive is cheaper, when scores are probabilities.

    Parameters
    ----------
    condition : OperatingCondition
        Where the classifier will be used.
    calibrated_at : float in (0, 1), optional
        The prevalence for which the scores are calibrated, if not that of `condition`
        (for example the prevalence of the training data); the threshold is then moved accordingly.

    Returns
    -------
    float
        Predict positive iff score > threshold.

    Notes
    -----
    Decision analysis (Provost & Fawcett 1997): positive iff ``(1 - s)·cost_fp < s·cost_fn``, so the threshold is
    ``cost_fp / (cost_fp + cost_fn)``. For scores calibrated at prevalence q, the odds move by ``q(1-p) / (p(1-q))``.

    Examples
    --------
    >>> import costcurves as cc
    >>> cond = cc.OperatingCondition(prevalence=0.01, cost_fp=1, cost_fn=4)
    >>> cc.bayes_threshold(cond)
    0.2
    >>> round(cc.bayes_threshold(cond, calibrated_at=0.5), 4)
    0.9612
    """
    if not isinstance(condition, OperatingCondition):
        raise InputError(f"`condition` must be an OperatingCondition, got {shown(condition)}")
    if calibrated_at is None:
        return condition.cost_fp / (condition.cost_fp + condition.cost_fn)
    q = check_in_open_unit("calibrated_at", calibrated_at)
    pc = condition.pc
    return (1.0 - pc) * q / ((1.0 - pc) * q + pc * (1.0 - q))


def check_condition(condition: Any) -> OperatingCondition:
    """Return an operating condition; a bare number in [0, 1] is read as a pc."""
    if isinstance(condition, OperatingCondition):
        return condition
    if isinstance(condition, (float, int, np.floating, np.integer)) and not isinstance(condition, bool):
        return OperatingCondition.from_pc(check_in_unit("condition", condition))
    raise InputError(
        "`condition` must be an OperatingCondition (or a pc in [0, 1]), "
        f"got {shown(condition)} ({type(condition).__name__})"
    )


def pc_array(pc: Any) -> FloatArray:
    """Return pc as an array; an operating condition, alone or in a sequence, stands for its own."""
    if isinstance(pc, OperatingCondition):
        pc = pc.pc
    elif isinstance(pc, (list, tuple)):
        pc = [one.pc if isinstance(one, OperatingCondition) else one for one in pc]
    return check_unit_array("pc", pc)


def default_points(over: OperatingRange | None = None) -> FloatArray:
    """Return the operating points at which bands, comparisons and reports look unless told otherwise.

    They are 0, 0.01, ..., 1, or 101 evenly spaced points of a range.

    Examples
    --------
    >>> import costcurves as cc
    >>> from costcurves.conditions.condition import default_points
    >>> default_points()[:4].tolist(), default_points().size
    ([0.0, 0.01, 0.02, 0.03], 101)
    >>> default_points(cc.OperatingRange.from_pc(0.2, 0.3))[[0, 1, -1]].round(4).tolist()
    [0.2, 0.201, 0.3]
    """
    low, high = (0.0, 1.0) if over is None else over.pc
    points = low + (high - low) * (np.arange(_DEFAULT_STEPS + 1) / _DEFAULT_STEPS)
    return np.unique(np.minimum(np.append(points[:-1], high), high))


def check_range(over: Any) -> OperatingRange:
    """Return an operating range; a condition is a range of one point, None is all of pc."""
    if over is None:
        return OperatingRange.from_pc(0.0, 1.0)
    if isinstance(over, OperatingRange):
        return over
    if isinstance(over, OperatingCondition):
        return OperatingRange(over.prevalence, cost_fp=over.cost_fp, cost_fn=over.cost_fn, _pc_only=over.pc_only)
    raise InputError(
        f"`over` must be an OperatingRange (or an OperatingCondition), got {shown(over)} ({type(over).__name__})"
    )
