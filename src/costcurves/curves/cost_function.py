"""Costs that are linear in pc between breaks: their values and integrals, and the thresholds behind them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from costcurves._base.errors import InputError, UnsupportedError
from costcurves._base.results import Result
from costcurves._base.validation import DEFAULT_LEVEL, FloatArray, check_threshold, frozen, shown
from costcurves.conditions.condition import EQUAL, ConditionLike, PcLike, check_condition, pc_array
from costcurves.conditions.range import Beta, RangeLike, span_of
from costcurves.curves.policy import AnySteps, CrossSteps, Policy
from costcurves.curves.roc import RocCurve
from costcurves.curves.threshold_sets import (
    ThresholdSet,
    ThresholdSets,
    threshold_set,
    threshold_sets,
    thresholds_within,
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostFunction(Result):
    """A normalized expected cost at every pc: on step i, ``pc·fnr[i] + (1-pc)·fpr[i]``.

    Step i is used for pc in (breaks[i], breaks[i+1]]; `max_error` is the most by which a value can be too high.
    """

    name: str
    breaks: FloatArray
    fpr: FloatArray
    fnr: FloatArray
    max_error: float

    def step_at(self, pc: PcLike) -> Any:
        """Return the index of the step that holds each pc."""
        return np.searchsorted(self.breaks[1:-1], pc_array(pc), side="left")

    @overload
    def evaluate(self, pc: ConditionLike) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def evaluate(self, pc: PcLike) -> FloatArray: ...
    def evaluate(self, pc: PcLike) -> Any:
        """Return the normalized expected cost at pc (a number, an array or an operating condition).

        Examples
        --------
        >>> import costcurves as cc
        >>> curve = cc.CostCurve(cc.RocCurve.from_rates(fpr=0.1, tpr=0.6))
        >>> curve.evaluate([0.0, 0.25, 0.5, 1.0]).round(4).tolist()
        [0.0, 0.175, 0.25, 0.0]
        """
        x = pc_array(pc)
        step = self.step_at(x)
        cost = x * self.fnr[step] + (1.0 - x) * self.fpr[step]
        return float(cost) if x.ndim == 0 else cost

    def expected_cost(self, condition: ConditionLike) -> float:
        """Return the expected cost per case in money at an operating condition.

        Examples
        --------
        >>> import costcurves as cc
        >>> curve = cc.CostCurve(cc.RocCurve.from_confusion_matrix([[90, 10], [4, 16]]))
        >>> round(curve.expected_cost(cc.OperatingCondition(prevalence=0.2, cost_fp=10, cost_fn=50)), 9)
        2.8
        """
        where = check_condition(condition)
        return where.money(float(self.evaluate(where.pc)))

    @property
    def vertices(self) -> FloatArray:
        """The corners (pc, cost), shape (v, 2), by increasing pc; a jump has two corners at the same pc."""
        left, right = self.breaks[:-1], self.breaks[1:]
        starts = left * self.fnr + (1 - left) * self.fpr
        ends = right * self.fnr + (1 - right) * self.fpr
        pc = np.stack([left, right], axis=1).ravel()
        cost = np.stack([starts, ends], axis=1).ravel()
        same = np.append((np.diff(pc) == 0) & (np.abs(np.diff(cost)) <= EQUAL), False)
        corners: FloatArray = np.stack([pc[~same], cost[~same]], axis=1)
        return frozen(corners)

    def area(self, over: RangeLike = None, *, weight: Beta | Callable[[Any], Any] | None = None) -> float:
        """Return the integral of the cost over pc, uniformly or weighted.

        Over all of pc this is the expected normalized cost when the condition is uncertain: uniform by default,
        Beta-distributed, or with any density.

        Parameters
        ----------
        over : OperatingRange or (low, high), optional
            The part of the axis to integrate over; a pair is one of pc. By default it is all of pc.
        weight : Beta, callable or an object with ``pdf``, optional
            Density of pc. A Beta is integrated in closed form, any other density by Gauss-Legendre quadrature.

        Examples
        --------
        >>> import costcurves as cc
        >>> curve = cc.CostCurve(cc.RocCurve.from_rates(fpr=0.1, tpr=0.6))
        >>> round(curve.area(), 6), round(curve.area(weight=cc.Beta(2, 2)), 6)
        (0.181319, 0.216061)
        """
        low, high = span_of(over)
        breaks = np.clip(self.breaks, low, high)
        left, right = breaks[:-1], breaks[1:]
        if weight is None:
            pieces = (right - left) * self.fpr + (right**2 - left**2) / 2 * (self.fnr - self.fpr)
            return float(pieces.sum())
        if isinstance(weight, Beta):
            return float(beta_integral(weight, left, right, self.fpr, self.fnr).sum())
        density = getattr(weight, "pdf", weight)
        if not callable(density):
            raise InputError(f"`weight` must be a Beta, a density or None, got {shown(weight)}")
        return _quadrature(density, left, right, self.fpr, self.fnr)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostLines(Result):
    """The cost line of every ROC point: `fpr` is its value at pc = 0, `fnr` at pc = 1.

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.CostCurve(cc.RocCurve.from_predictions([0, 1, 1], [0.1, 0.4, 0.8])).lines()
    CostLines(4 lines)
    """

    name: str
    thresholds: FloatArray
    fpr: FloatArray
    fnr: FloatArray

    def evaluate(self, pc: Any) -> FloatArray:
        """Return the cost of each line at each pc, shape (..., lines)."""
        x = pc_array(pc)[..., None]
        values: FloatArray = x * self.fnr + (1 - x) * self.fpr
        return values

    def _columns(self) -> dict[str, Any]:
        return {
            "name": [self.name] * self.fpr.size,
            "threshold": self.thresholds,
            "cost_at_pc0": self.fpr,
            "cost_at_pc1": self.fnr,
        }

    def __repr__(self) -> str:
        return f"CostLines({self.fpr.size} lines)"


def beta_integral(
    weight: Beta, left: FloatArray, right: FloatArray, at_zero: FloatArray, at_one: FloatArray
) -> FloatArray:
    """Return the Beta-weighted integral of each linear piece, given its line's values at 0 and at 1."""
    from scipy.special import betainc

    mass = betainc(weight.a, weight.b, right) - betainc(weight.a, weight.b, left)
    moment = weight.mean * (betainc(weight.a + 1, weight.b, right) - betainc(weight.a + 1, weight.b, left))
    pieces: FloatArray = at_zero * mass + (at_one - at_zero) * moment
    return pieces


def _quadrature(
    density: Callable[[Any], Any], left: FloatArray, right: FloatArray, at_zero: FloatArray, at_one: FloatArray
) -> float:
    """Return the weighted integral by 32-point Gauss-Legendre on pieces no wider than 1/32."""
    parts = np.maximum(1, np.ceil((right - left) * 32).astype(int))
    owner = np.repeat(np.arange(left.size), parts)
    step = ((right - left) / parts)[owner]
    start = left[owner] + step * (np.arange(owner.size) - np.repeat(np.cumsum(parts) - parts, parts))
    nodes, weights = np.polynomial.legendre.leggauss(32)
    x = start[:, None] + step[:, None] * (nodes + 1) / 2
    try:
        values = np.asarray(density(x), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"`weight` must be a density that takes arrays, got {shown(error)}") from error
    if values.shape != x.shape or not np.isfinite(values).all() or (values < 0).any():
        raise InputError("`weight` must be a density that takes arrays and returns finite values >= 0")
    cost = at_zero[owner, None] + x * (at_one - at_zero)[owner, None]
    return float((values * cost * weights * step[:, None] / 2).sum())


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class CostThresholds(CostFunction):
    """The cost of a classifier whose threshold follows a policy; `policy` and `roc` are None for an average."""

    policy: Policy | None
    roc: RocCurve | None
    thresholds: FloatArray
    _steps: AnySteps | None

    @overload
    def threshold_at(self, pc: ConditionLike) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def threshold_at(self, pc: PcLike) -> FloatArray: ...
    def threshold_at(self, pc: PcLike) -> Any:
        """Return the threshold used at pc (for the bayes policy, the probability to exceed).

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
        """Return the highest score of the data below a threshold of the curve, NaN if it is not known."""
        cut = check_threshold(threshold)
        return math.nan if self.policy is None or self.roc is None else self.policy.score_below(self.roc, cut)

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
        """Return the threshold used at each pc, as a score of the data."""
        roc = self._need_roc("cuts_at")
        if isinstance(self._steps, CrossSteps):
            raise UnsupportedError(
                f"`cuts_at` needs one threshold for all cases, got {self.name!r} with {self.policy!r}: "
                "compare cross-fitted classifiers with cc.compare or Predictions.compare"
            )
        if self._steps is None or not roc.has_thresholds:
            raise UnsupportedError(f"`cuts_at` needs a curve made from scores, got {self.name!r}")
        return self._steps.cuts(roc, pc_array(pc))

    def errors_at(self, pc: PcLike) -> tuple[FloatArray, FloatArray]:
        """Return misses and false alarms (counts, or sums of weights) at the threshold used at each pc."""
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
        """Return the thresholds whose cost on these cases exceeds the least cost by at most a given share.

        Parameters
        ----------
        condition : OperatingCondition, or a number read as pc
        tolerance : float
            0.05 means 5 % of the least cost of errors.

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

    def _need_roc(self, what: str) -> RocCurve:
        if self.roc is None:
            hint = ": use cc.average_band(folds)" if what == "band" else ""
            raise UnsupportedError(
                f"`{what}` needs one classifier's ROC points, got {self.name!r}, which is an average{hint}"
            )
        return self.roc
