"""Cost curves: normalized expected cost against the operating condition, and what can be read off them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._results import Result
from costcurves._validation import (
    FloatArray,
    check_in_open_unit,
    check_in_unit,
    check_name,
    check_unit_array,
    frozen,
    shown,
)
from costcurves.conditions import Beta, check_condition
from costcurves.errors import InputError, UnsupportedError
from costcurves.roc import RocCurve
from costcurves.thresholds import Bayes, Policy, Steps, as_policy, swap_axis

# Differences of normalized cost below this are rounding, not performance: they count as equal.
EQUAL = 1e-12


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PcIntervals(Result):
    """Disjoint intervals of pc, in increasing order; iterate over them as (low, high) pairs.

    Examples
    --------
    >>> import costcurves as cc
    >>> curve = cc.CostCurve(cc.RocCurve.from_confusion_matrix([[90, 10], [4, 16]]))
    >>> curve.operating_range()
    PcIntervals((0.111, 0.818))
    >>> [(round(low, 3), round(high, 3)) for low, high in curve.operating_range()]
    [(0.111, 0.818)]
    """

    low: FloatArray
    high: FloatArray

    def __post_init__(self) -> None:
        """Set the arrays read-only."""
        frozen(self.low)
        frozen(self.high)

    def __iter__(self) -> Iterator[tuple[float, float]]:
        """Iterate over (low, high)."""
        return iter(list(zip(self.low.tolist(), self.high.tolist(), strict=True)))

    def __len__(self) -> int:
        """Return the number of intervals."""
        return self.low.size

    def contains(self, pc: Any) -> Any:
        """Return whether each pc lies in one of the intervals (bounds included)."""
        values = check_unit_array("pc", pc)
        inside = ((values[..., None] >= self.low) & (values[..., None] <= self.high)).any(axis=-1)
        return bool(inside) if values.ndim == 0 else inside

    @property
    def width(self) -> float:
        """The length of pc they cover together."""
        return float((self.high - self.low).sum())

    def _columns(self) -> dict[str, Any]:
        return {"pc_low": self.low, "pc_high": self.high}

    def __repr__(self) -> str:
        """Return the intervals, rounded."""
        return f"PcIntervals({', '.join(f'({low:.3g}, {high:.3g})' for low, high in self) or 'none'})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Advantage(Result):
    """Where one curve costs less than another, and by how much: `low`, `high`, `largest`, `mean` for each interval.

    Examples
    --------
    >>> import costcurves as cc
    >>> a = cc.CostCurve(cc.RocCurve.from_rates(0.04, 0.4, name="careful"))
    >>> b = cc.CostCurve(cc.RocCurve.from_rates(0.3, 0.8, name="bold"))
    >>> a.better_than(b)
    Advantage('careful' costs less than 'bold' for pc in (0.0909, 0.394): 0.082 at most, 0.047 on average)
    """

    name: str
    other: str
    low: FloatArray
    high: FloatArray
    largest: FloatArray
    mean: FloatArray

    def __post_init__(self) -> None:
        """Set the arrays read-only."""
        for array in (self.low, self.high, self.largest, self.mean):
            frozen(array)

    @property
    def intervals(self) -> PcIntervals:
        """The intervals alone."""
        return PcIntervals(self.low.copy(), self.high.copy())

    def __iter__(self) -> Iterator[tuple[float, float]]:
        """Iterate over (low, high)."""
        return iter(self.intervals)

    def __len__(self) -> int:
        """Return the number of intervals."""
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
        """Return the conclusion."""
        if not self.low.size:
            return f"Advantage({self.name!r} nowhere costs less than {self.other!r})"
        parts = ", ".join(
            f"({low:.3g}, {high:.3g}): {most:.2g} at most, {mean:.2g} on average"
            for low, high, most, mean in zip(self.low, self.high, self.largest, self.mean, strict=True)
        )
        return f"Advantage({self.name!r} costs less than {self.other!r} for pc in {parts})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Crossings(Result):
    """The pc at which the cheaper of two curves changes, and which is cheaper to the right of each.

    Examples
    --------
    >>> import costcurves as cc
    >>> a = cc.CostCurve(cc.RocCurve.from_rates(0.04, 0.4, name="careful"))
    >>> b = cc.CostCurve(cc.RocCurve.from_rates(0.3, 0.8, name="bold"))
    >>> a.crossings(b)
    Crossings(at pc 0.394 from 'careful' to 'bold')
    """

    pc: FloatArray
    before: tuple[str, ...]
    after: tuple[str, ...]

    def __post_init__(self) -> None:
        """Set the array read-only."""
        frozen(self.pc)

    def __iter__(self) -> Iterator[float]:
        """Iterate over the pc of the crossings."""
        return iter(self.pc.tolist())

    def __len__(self) -> int:
        """Return the number of crossings."""
        return self.pc.size

    def _columns(self) -> dict[str, Any]:
        return {"pc": self.pc, "before": list(self.before), "after": list(self.after)}

    def __repr__(self) -> str:
        """Return where the better one changes."""
        parts = ", ".join(
            f"{pc:.3g} from {a!r} to {b!r}" for pc, a, b in zip(self.pc, self.before, self.after, strict=True)
        )
        return f"Crossings(at pc {parts})" if parts else "Crossings(none)"


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
        x = check_unit_array("pc", pc)[..., None]
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
        """Return the number of lines."""
        return f"CostLines({self.fpr.size} lines)"


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class CostCurve(Result):
    """Normalized expected cost of a classifier at every operating condition, under a threshold policy.

    The curve is linear in pc between breaks: on step i it is ``pc·fnr[i] + (1-pc)·fpr[i]``.

    Parameters
    ----------
    source : RocCurve, or anything with ``to_curve()`` (a RocHull, an averaged ROC curve)
        The ROC points.
    policy : "optimal", "bayes", a number, or a policy from `costcurves.thresholds`
        How the threshold follows pc. ``"optimal"`` is the lower envelope of all cost lines on the same data.
    name : str, optional
        By default the name of the source.

    Attributes
    ----------
    breaks : array of shape (m + 1,)
        Where the threshold changes, from 0 to 1; step i is used for pc in (breaks[i], breaks[i+1]].
    fpr, fnr, thresholds : arrays of shape (m,)
        Rates and threshold of each step.

    Notes
    -----
    Holte & Drummond (2005). A ROC point (fpr, tpr) is the line from (0, fpr) to (1, 1 - tpr); the ROC convex hull is
    the lower envelope of the lines.

    Examples
    --------
    >>> import costcurves as cc
    >>> roc = cc.RocCurve.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], name="forest")
    >>> curve = cc.CostCurve(roc)
    >>> curve
    CostCurve('forest': 4 vertices, best threshold by pc, area=0.146)
    >>> curve.vertices.round(4).tolist()
    [[0.0, 0.0], [0.5, 0.25], [1.0, 0.0]]
    """

    name: str
    policy: Policy | None
    breaks: FloatArray
    fpr: FloatArray
    fnr: FloatArray
    thresholds: FloatArray
    roc: RocCurve | None
    _index: npt.NDArray[np.int64] | None

    def __init__(self, source: Any, policy: Any = "optimal", *, name: str | None = None) -> None:
        rule = as_policy(policy)
        roc = source.to_curve() if hasattr(source, "to_curve") else source
        if not isinstance(roc, RocCurve):
            raise InputError(f"`source` must be a RocCurve or a RocHull, got {shown(source)} ({type(source).__name__})")
        steps = rule.steps(roc)
        self._set(roc.name if name is None else name, rule, steps, roc)

    def _set(self, name: str, policy: Policy | None, steps: Steps, roc: RocCurve) -> None:
        fpr = roc.fp[steps.index] / roc.n_neg
        fnr = (roc.n_pos - roc.tp[steps.index]) / roc.n_pos
        self._fill(name, policy, steps.breaks, fpr, fnr, steps.thresholds, roc, steps.index)

    def _fill(
        self,
        name: str,
        policy: Policy | None,
        breaks: FloatArray,
        fpr: FloatArray,
        fnr: FloatArray,
        thresholds: FloatArray,
        roc: RocCurve | None,
        index: npt.NDArray[np.int64] | None,
    ) -> None:
        """Set the fields of the frozen value; the arrays become read-only."""
        values = {
            "name": check_name("name", name),
            "policy": policy,
            "breaks": frozen(breaks),
            "fpr": frozen(fpr),
            "fnr": frozen(fnr),
            "thresholds": frozen(thresholds),
            "roc": roc,
            "_index": index,
        }
        for field, value in values.items():
            object.__setattr__(self, field, value)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        pos_label: Any = None,
        sample_weight: Any = None,
        name: str = "classifier",
        policy: Any = "optimal",
    ) -> CostCurve:
        """Return the cost curve of labels and scores; for the optimal policy without sorting all scores.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.CostCurve.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).evaluate(0.5)
        0.25
        """
        rule = as_policy(policy)
        roc = RocCurve.from_predictions(
            y_true,
            y_score,
            pos_label=pos_label,
            sample_weight=sample_weight,
            name=name,
            points="all" if rule.needs_all_points else "hull",
        )
        return cls(roc, rule)

    @classmethod
    def _from_pieces(cls, name: str, breaks: FloatArray, fpr: FloatArray, fnr: FloatArray) -> CostCurve:
        """Return a curve that is not one classifier's, such as an average."""
        curve = cls.__new__(cls)
        curve._fill(name, None, breaks, fpr, fnr, np.full(fpr.size, np.nan), None, None)
        return curve

    def renamed(self, name: str) -> CostCurve:
        """Return the same curve under another name."""
        curve = CostCurve.__new__(CostCurve)
        curve._fill(
            name, self.policy, self.breaks, self.fpr, self.fnr, self.thresholds, self.roc, self._index
        )
        return curve

    def step_at(self, pc: Any) -> Any:
        """Return the index of the step in use at each pc."""
        return np.searchsorted(self.breaks[1:-1], check_unit_array("pc", pc), side="left")

    def evaluate(self, pc: Any) -> Any:
        """Return the normalized expected cost at pc (a number or an array).

        Examples
        --------
        >>> import costcurves as cc
        >>> curve = cc.CostCurve(cc.RocCurve.from_rates(fpr=0.1, tpr=0.6))
        >>> curve.evaluate([0.0, 0.25, 0.5, 1.0]).round(4).tolist()
        [0.0, 0.175, 0.25, 0.0]
        """
        x = check_unit_array("pc", pc)
        step = self.step_at(x)
        cost = x * self.fnr[step] + (1.0 - x) * self.fpr[step]
        return float(cost) if x.ndim == 0 else cost

    def threshold_at(self, pc: Any) -> Any:
        """Return the threshold in use at pc (for the bayes policy, the probability to exceed)."""
        x = check_unit_array("pc", pc)
        if isinstance(self.policy, Bayes) and self.roc is not None:
            prevalence = self.roc.prevalence if self.policy.prevalence is None else self.policy.prevalence
            cut: Any = swap_axis(x, prevalence)
        else:
            cut = self.thresholds[self.step_at(x)]
        return float(cut) if x.ndim == 0 else cut

    def expected_cost(self, condition: Any) -> float:
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
        """The corners (pc, cost), shape (v, 2), by increasing pc; a jump has two corners at one pc."""
        left, right = self.breaks[:-1], self.breaks[1:]
        starts = left * self.fnr + (1 - left) * self.fpr
        ends = right * self.fnr + (1 - right) * self.fpr
        pc = np.stack([left, right], axis=1).ravel()
        cost = np.stack([starts, ends], axis=1).ravel()
        same = np.append((np.diff(pc) == 0) & (np.abs(np.diff(cost)) <= EQUAL), False)
        corners: FloatArray = np.stack([pc[~same], cost[~same]], axis=1)
        return frozen(corners)

    def lines(self) -> CostLines:
        """Return the cost lines of all ROC points behind the curve."""
        roc = self._need_roc("lines")
        return CostLines(self.name, roc.thresholds, roc.fpr, roc.fnr)

    def operating_range(self) -> PcIntervals:
        """Return the pc at which the classifier costs strictly less than both trivial ones.

        Outside it, always predicting one class is at least as good, and the classifier should not be used.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.CostCurve(cc.RocCurve.from_rates(fpr=0.1, tpr=0.6)).operating_range()
        PcIntervals((0.143, 0.692))
        """
        never = CostCurve._from_pieces("always negative", np.array([0.0, 1.0]), np.zeros(1), np.ones(1))
        always = CostCurve._from_pieces("always positive", np.array([0.0, 1.0]), np.ones(1), np.zeros(1))
        low = np.concatenate([_Difference(self, t).negative()[0] for t in (never, always)])
        high = np.concatenate([_Difference(self, t).negative()[1] for t in (never, always)])
        return _covered(low, high, times=2)

    def crossings(self, other: CostCurve) -> Crossings:
        """Return the pc at which the cheaper of the two curves changes.

        Touching without changing sides is no crossing; costs closer than 1e-12 count as equal. Where the curves
        coincide between two stretches of different winners, the crossing is the middle of that stretch.
        """
        return _Difference(self, _check_cost_curve("other", other)).crossings()

    def better_than(self, other: CostCurve) -> Advantage:
        """Return where this curve costs less than the other, and by how much."""
        return _Difference(self, _check_cost_curve("other", other)).advantage()

    def area(self, pc: tuple[float, float] = (0.0, 1.0), *, weight: Beta | Callable[[Any], Any] | None = None) -> float:
        """Return the integral of the cost over pc, uniformly or weighted.

        Over all of pc this is the expected normalized cost when the condition is uncertain: uniform by default,
        Beta-distributed, or with any density.

        Parameters
        ----------
        pc : (low, high)
            The part of the axis to integrate over.
        weight : Beta, callable or an object with ``pdf``, optional
            Density of pc; a Beta is integrated in closed form, others by Gauss-Legendre on each linear piece.

        Examples
        --------
        >>> import costcurves as cc
        >>> curve = cc.CostCurve(cc.RocCurve.from_rates(fpr=0.1, tpr=0.6))
        >>> round(curve.area(), 6), round(curve.area(weight=cc.Beta(2, 2)), 6)
        (0.142637, 0.183286)
        """
        low, high = _check_span(pc)
        breaks = np.clip(self.breaks, low, high)
        left, right = breaks[:-1], breaks[1:]
        if weight is None:
            pieces = (right - left) * self.fpr + (right**2 - left**2) / 2 * (self.fnr - self.fpr)
            return float(pieces.sum())
        if isinstance(weight, Beta):
            return float(_beta_integral(weight, left, right, self.fpr, self.fnr).sum())
        density = getattr(weight, "pdf", weight)
        if not callable(density):
            raise InputError(f"`weight` must be a Beta, a density or None, got {shown(weight)}")
        return _quadrature(density, left, right, self.fpr, self.fnr)

    def h_measure(self, *, severity: Beta | None = None, prevalence: float | None = None) -> float:
        """Return Hand's H-measure: 1 minus the expected minimum loss relative to that of the trivial classifiers.

        Parameters
        ----------
        severity : Beta, optional
            Distribution of the cost share ``cost_fp / (cost_fp + cost_fn)``. By default Beta(π₁ + 1, π₀ + 1)
            of Hand & Anagnostopoulos (2014), with π₁ the share of positives.
        prevalence : float in (0, 1), optional
            By default the share of positives in the data.

        Examples
        --------
        >>> import costcurves as cc
        >>> roc = cc.RocCurve.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        >>> round(cc.CostCurve(roc).h_measure(severity=cc.Beta(2, 2)), 6)
        0.363636
        """
        share = self._prevalence(prevalence)
        weight = Beta(1 + share, 2 - share) if severity is None else severity
        if not isinstance(weight, Beta):
            raise InputError(f"`severity` must be a Beta, got {shown(weight)}")
        loss = self._cost_share_integral(share, weight)
        left, right = np.array([0.0, share]), np.array([share, 1.0])
        trivial = _beta_integral(weight, left, right, np.array([0.0, share]), np.array([1.0 - share, 0.0]))
        return 1.0 - loss / float(trivial.sum())

    def brier_score(self) -> float:
        """Return the Brier score: twice the area under the curve over cost shares (policy "bayes" only).

        Examples
        --------
        >>> import costcurves as cc
        >>> roc = cc.RocCurve.from_predictions([0, 1, 1], [0.2, 0.7, 0.9])
        >>> round(cc.CostCurve(roc, policy="bayes").brier_score(), 6)
        0.046667
        """
        if not isinstance(self.policy, Bayes):
            raise UnsupportedError(f"`brier_score` needs policy='bayes', got {self.policy!r}")
        share = self._prevalence(None)
        if self.policy.prevalence is not None and self.policy.prevalence != share:
            raise UnsupportedError(
                "`brier_score` needs scores calibrated at the prevalence of the data, "
                f"got bayes(prevalence={self.policy.prevalence:g}) and {share:g}"
            )
        return 2.0 * self._cost_share_integral(share, Beta(1, 1))

    def net_benefit(self, threshold: Any, *, prevalence: float | None = None) -> Any:
        """Return the net benefit of decision-curve analysis at a probability threshold.

        Parameters
        ----------
        threshold : float or array in (0, 1)
            The probability at which both decisions are worth the same, ``cost_fp / (cost_fp + cost_fn)``.
        prevalence : float in (0, 1), optional
            By default the share of positives in the data.

        Notes
        -----
        ``tpr·p - fpr·(1-p)·t / (1-t)`` at the point the policy uses there: with policy "bayes" the decision curve of
        Vickers & Elkin (2006), with "optimal" the best that any threshold on the score could reach.

        Examples
        --------
        >>> import costcurves as cc
        >>> roc = cc.RocCurve.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        >>> cc.CostCurve(roc, policy="bayes").net_benefit(0.5)
        0.25
        """
        t = check_unit_array("threshold", threshold)
        if ((t <= 0) | (t >= 1)).any():
            raise InputError(f"`threshold` must be in (0, 1), got {shown(threshold)}")
        share = self._prevalence(prevalence)
        step = self.step_at(swap_axis(t, share))
        benefit = share * (1.0 - self.fnr[step]) - (1.0 - share) * self.fpr[step] * t / (1.0 - t)
        return float(benefit) if t.ndim == 0 else benefit

    def auc(self) -> float:
        """Return the area under the ROC curve behind this cost curve."""
        return self._need_roc("auc").auc()

    def _cost_share_integral(self, prevalence: float, weight: Beta) -> float:
        """Return the mean over cost shares c of ``c·(1-p)·fpr + (1-c)·p·fnr``."""
        shares = swap_axis(self.breaks, prevalence)
        at_zero, at_one = prevalence * self.fnr, (1.0 - prevalence) * self.fpr
        return float(_beta_integral(weight, shares[1:], shares[:-1], at_zero, at_one).sum())

    def _prevalence(self, given: float | None) -> float:
        if given is not None:
            return check_in_open_unit("prevalence", given)
        share = float("nan") if self.roc is None else self.roc.prevalence
        if np.isnan(share):
            raise InputError(f"`prevalence` must be given where the counts are not known, got None for {self.name!r}")
        return share

    def _need_roc(self, what: str) -> RocCurve:
        if self.roc is None:
            raise UnsupportedError(f"`{what}` needs one classifier's ROC points, got {self.name!r}, which is an average")
        return self.roc

    def _columns(self) -> dict[str, Any]:
        return {
            "name": [self.name] * self.fpr.size,
            "pc_low": self.breaks[:-1],
            "pc_high": self.breaks[1:],
            "fpr": self.fpr,
            "fnr": self.fnr,
            "threshold": self.thresholds,
            "cost_low": self.breaks[:-1] * self.fnr + (1 - self.breaks[:-1]) * self.fpr,
            "cost_high": self.breaks[1:] * self.fnr + (1 - self.breaks[1:]) * self.fpr,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the steps as plain Python values that `json.dumps` takes."""
        from costcurves._results import jsonable

        table = self._columns()
        del table["name"]
        return {"name": self.name, "policy": repr(self.policy), "steps": jsonable(table)}

    def __repr__(self) -> str:
        """Return name, size, policy and area."""
        how = "average" if self.policy is None else {"optimal()": "best threshold by pc"}.get(repr(self.policy), repr(self.policy))
        return f"CostCurve({self.name!r}: {self.vertices.shape[0]} vertices, {how}, area={self.area():.3g})"


class _Difference:
    """The difference a - b of two piecewise linear curves on their common refinement."""

    def __init__(self, a: CostCurve, b: CostCurve) -> None:
        self.a, self.b = a, b
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
        merged = _covered(low[inside], high[inside], times=1)
        return merged.low, merged.high

    def _root(self) -> FloatArray:
        """Return where each piece is zero (its left end where it is not)."""
        gap = self.start - self.end
        safe = np.where(gap == 0, 1.0, gap)
        root: FloatArray = self.left + (self.right - self.left) * np.clip(self.start / safe, 0.0, 1.0)
        return root

    def crossings(self) -> Crossings:
        """Return the changes of sign, ignoring stretches of equality."""
        pc = np.stack([self.left, self.right], axis=1).ravel()
        sign = np.sign(np.stack([self.start, self.end], axis=1).ravel())
        told = np.flatnonzero(sign)
        change = np.flatnonzero(np.diff(sign[told]) != 0)
        first, second = told[change], told[change + 1]
        inside_one_piece = (first // 2 == second // 2) & (first % 2 == 0)
        # Otherwise both ends are at zeros (or a jump) in between: take the middle of the zeros.
        between = (pc[np.minimum(first + 1, pc.size - 1)] + pc[second - 1]) / 2
        where = np.where(inside_one_piece, self._root()[first // 2], between)
        names = {-1.0: self.a.name, 1.0: self.b.name}
        return Crossings(
            where,
            tuple(names[s] for s in sign[first].tolist()),
            tuple(names[s] for s in sign[second].tolist()),
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
        return Advantage(self.a.name, self.b.name, low.copy(), high.copy(), largest, total / np.maximum(high - low, EQUAL))

    def largest(self, low: float, high: float) -> tuple[float, float, float]:
        """Return (largest a - b, where, mean) over pc in [low, high]."""
        inside = (self.right >= low) & (self.left <= high)
        left, right = np.clip(self.left[inside], low, high), np.clip(self.right[inside], low, high)
        width = np.where(self.right > self.left, self.right - self.left, 1.0)[inside]
        slope = (self.end - self.start)[inside] / width
        start = self.start[inside] + slope * (left - self.left[inside])
        end = self.start[inside] + slope * (right - self.left[inside])
        pc, value = np.concatenate([left, right]), np.concatenate([start, end])
        top = int(np.argmax(value))
        mean = float(((start + end) / 2 * (right - left)).sum() / (high - low)) if high > low else float(value[top])
        return float(value[top]), float(pc[top]), mean

    def never_positive(self) -> bool:
        """Return whether a costs at most as much as b everywhere."""
        return bool((self.start <= 0).all() and (self.end <= 0).all())

    def somewhere_negative(self) -> bool:
        """Return whether a costs less than b somewhere."""
        return bool((self.start < 0).any() or (self.end < 0).any())


def _snapped(values: FloatArray) -> FloatArray:
    """Return differences with those that are only rounding set to zero."""
    result: FloatArray = np.where(np.abs(values) <= EQUAL, 0.0, values)
    return result


def _covered(low: FloatArray, high: FloatArray, *, times: int) -> PcIntervals:
    """Return the intervals of pc that lie in at least `times` of the given ones, neighbours joined."""
    points = np.concatenate([low, high])
    change = np.concatenate([np.ones(low.size), -np.ones(high.size)])
    order = np.lexsort((-change, points))  # at one pc, open before closing, so that neighbours join
    points, depth = points[order], np.cumsum(change[order])
    before = np.concatenate(([0.0], depth[:-1]))
    starts = points[(depth >= times) & (before < times)]
    ends = points[(depth < times) & (before >= times)]
    wide = ends > starts
    return PcIntervals(starts[wide], ends[wide])


def _check_span(pc: Any) -> tuple[float, float]:
    try:
        low, high = pc
    except (TypeError, ValueError):
        raise InputError(f"`pc` must be a pair (low, high), got {shown(pc)}") from None
    low, high = check_in_unit("pc", low), check_in_unit("pc", high)
    if low > high:
        raise InputError(f"`pc` must be a pair (low, high) with low <= high, got {shown(pc)}")
    return low, high


def _beta_integral(weight: Beta, left: FloatArray, right: FloatArray, at_zero: FloatArray, at_one: FloatArray) -> FloatArray:
    """Return the Beta-weighted integral of each linear piece, given its line's values at 0 and at 1."""
    from scipy.special import betainc

    mass = betainc(weight.a, weight.b, right) - betainc(weight.a, weight.b, left)
    moment = weight.mean * (betainc(weight.a + 1, weight.b, right) - betainc(weight.a + 1, weight.b, left))
    pieces: FloatArray = at_zero * mass + (at_one - at_zero) * moment
    return pieces


def _quadrature(density: Callable[[Any], Any], left: FloatArray, right: FloatArray, at_zero: FloatArray, at_one: FloatArray) -> float:
    """Return the weighted integral by 32-point Gauss-Legendre on pieces no wider than 1/32."""
    parts = np.maximum(1, np.ceil((right - left) * 32).astype(int))
    owner = np.repeat(np.arange(left.size), parts)
    step = ((right - left) / parts)[owner]
    start = left[owner] + step * (np.arange(owner.size) - np.repeat(np.cumsum(parts) - parts, parts))
    nodes, weights = np.polynomial.legendre.leggauss(32)
    x = start[:, None] + step[:, None] * (nodes + 1) / 2
    values = np.asarray(density(x), dtype=np.float64)
    if values.shape != x.shape or not np.isfinite(values).all() or (values < 0).any():
        raise InputError("`weight` must be a density that takes arrays and returns finite values >= 0")
    cost = at_zero[owner, None] + x * (at_one - at_zero)[owner, None]
    return float((values * cost * weights * step[:, None] / 2).sum())


def _check_cost_curve(name: str, curve: Any) -> CostCurve:
    if not isinstance(curve, CostCurve):
        raise InputError(f"`{name}` must be a CostCurve, got {shown(curve)} ({type(curve).__name__})")
    return curve


def as_cost_curve(curve: Any, what: str = "curves") -> CostCurve:
    """Return a cost curve; ROC curves and hulls become their envelope."""
    if isinstance(curve, CostCurve):
        return curve
    if isinstance(curve, RocCurve) or hasattr(curve, "to_curve"):
        return CostCurve(curve)
    raise InputError(f"`{what}` must be cost curves or ROC curves, got {shown(curve)} ({type(curve).__name__})")


def as_cost_curves(curves: Any) -> list[CostCurve]:
    """Return cost curves from a sequence, or from a mapping whose keys are their names."""
    if isinstance(curves, dict):
        return [as_cost_curve(c).renamed(n) for n, c in curves.items()]
    try:
        listed = [as_cost_curve(curve) for curve in curves]
    except TypeError:
        raise InputError(f"`curves` must be a sequence of curves, got {shown(curves)}") from None
    if not listed:
        raise InputError("`curves` must not be empty, got 0 curves")
    return listed


def average_cost_curves(curves: Any, *, name: str = "average") -> CostCurve:
    """Return the mean cost at every operating condition: the vertical average of cost curves.

    Parameters
    ----------
    curves : sequence of CostCurve or RocCurve
        For example one for each fold; ROC curves are taken with their optimal thresholds.
    name : str
        The name of the average.

    Notes
    -----
    This is the average performance (Holte & Drummond 2005, section 7). The averages of ROC curves, vertical or
    horizontal, are not: their performance is worse than the average performance.

    Examples
    --------
    >>> import costcurves as cc
    >>> folds = [cc.RocCurve.from_rates(0.04, 0.4), cc.RocCurve.from_rates(0.3, 0.8)]
    >>> round(cc.average_cost_curves(folds).evaluate(0.5), 6)
    0.285
    """
    listed = as_cost_curves(curves)
    breaks = np.unique(np.concatenate([curve.breaks for curve in listed]))
    middle = (breaks[:-1] + breaks[1:]) / 2
    fpr = np.mean([curve.fpr[curve.step_at(middle)] for curve in listed], axis=0)
    fnr = np.mean([curve.fnr[curve.step_at(middle)] for curve in listed], axis=0)
    return CostCurve._from_pieces(check_name("name", name), breaks, fpr, fnr)
