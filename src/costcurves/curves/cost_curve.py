"""Cost curves: normalized expected cost against the operating condition, and what can be read off them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError, UnsupportedError
from costcurves._base.frames import curves_of_frames
from costcurves._base.results import Result, jsonable
from costcurves._base.validation import (
    FloatArray,
    check_flag,
    check_in_open_unit,
    check_in_unit,
    check_name,
    check_unit_array,
    frozen,
    shown,
)
from costcurves.conditions.condition import Beta, OperatingRange, check_condition, pc_array
from costcurves.curves.differences import EQUAL, Advantage, Crossings, Difference, PcIntervals, covered
from costcurves.curves.roc import FROM_SCORES, UNNAMED, RocCurve
from costcurves.curves.thresholds import Bayes, Optimal, Policy, Steps, as_policy, swap_axis
from costcurves.inference.bands.one_curve import cost_band, cost_distribution
from costcurves.inference.bands.resampled import reoptimised_band
from costcurves.inference.bands.results import Band, operating_points
from costcurves.inference.kernel.distribution import BootstrapDistribution


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
    policy : "optimal", "bayes", a number, or a policy from `costcurves.curves.thresholds`
        How the threshold follows pc. ``"optimal"`` is the lower envelope of all cost lines on the same data.
    name : str, optional
        By default the name of the source.

    Attributes
    ----------
    breaks : array of shape (m + 1,)
        Where the threshold changes, from 0 to 1; step i is used for pc in (breaks[i], breaks[i+1]].
    fpr, fnr, thresholds : arrays of shape (m,)
        Rates and threshold of each step.
    max_error : float
        The most by which a cost can be too high at any pc, because scores were binned and a better threshold may lie
        within a bin; 0 where they were not, and for policies that do not look for the best threshold in these data.
        The rates at the thresholds in use are exact.

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
    CostCurve('forest': 3 vertices, best threshold by pc, area=0.125)
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
    max_error: float
    _index: npt.NDArray[np.int64] | None

    def __init__(self, source: Any, policy: Any = "optimal", *, name: str | None = None) -> None:
        roc = source.to_curve() if hasattr(source, "to_curve") else source
        if not isinstance(roc, RocCurve):
            raise InputError(
                f"`source` must be a RocCurve or a RocHull, got {shown(source)} ({type(source).__name__}){FROM_SCORES}"
            )
        rule = as_policy(policy)
        steps = rule.steps(roc)
        self._set(roc.name if name is None else name, rule, steps, roc)

    def _set(self, name: str, policy: Policy | None, steps: Steps, roc: RocCurve) -> None:
        fpr = roc.fp[steps.index] / roc.n_neg
        fnr = (roc.n_pos - roc.tp[steps.index]) / roc.n_pos
        error = roc.max_error if isinstance(policy, Optimal) else 0.0
        self._fill(name, policy, steps.breaks, fpr, fnr, steps.thresholds, roc, steps.index, error)

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
        max_error: float,
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
            "max_error": max_error,
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
        name: str = UNNAMED,
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
    def from_frame(
        cls,
        frame: Any,
        *,
        label: str,
        score: str,
        weight: str | None = None,
        pos_label: Any = None,
        name: str | None = None,
        policy: Any = "optimal",
        on_null: str = "refuse",
    ) -> CostCurve:
        """Return the cost curve of two columns of a dataframe, of any library.

        Parameters
        ----------
        frame, label, score, weight, pos_label, name, on_null
            As for `RocCurve.from_frame`.
        policy : policy
            As for `CostCurve`. The optimal one takes bounded memory; others need all distinct scores.

        Examples
        --------
        >>> import costcurves as cc
        >>> import polars as pl
        >>> df = pl.LazyFrame({"y": [0, 0, 1, 1], "p": [0.1, 0.4, 0.35, 0.8]})
        >>> cc.CostCurve.from_frame(df, label="y", score="p").evaluate(0.5)
        0.25
        """
        rule = as_policy(policy)
        roc = curves_of_frames().roc_curve(
            frame,
            label=label,
            score=score,
            weight=weight,
            pos_label=pos_label,
            name=name,
            points="all" if rule.needs_all_points else "hull",
            on_null=on_null,
        )
        return cls(roc, rule)

    @classmethod
    def _from_pieces(
        cls, name: str, breaks: FloatArray, fpr: FloatArray, fnr: FloatArray, max_error: float = 0.0
    ) -> CostCurve:
        """Return a curve that is not one classifier's, such as an average."""
        curve = cls.__new__(cls)
        curve._fill(name, None, breaks, fpr, fnr, np.full(fpr.size, np.nan), None, None, max_error)
        return curve

    def renamed(self, name: str) -> CostCurve:
        """Return the same curve under another name."""
        curve = CostCurve.__new__(CostCurve)
        pieces = (self.breaks, self.fpr, self.fnr, self.thresholds)
        curve._fill(name, self.policy, *pieces, self.roc, self._index, self.max_error)
        return curve

    def step_at(self, pc: Any) -> Any:
        """Return the index of the step in use at each pc."""
        return np.searchsorted(self.breaks[1:-1], pc_array(pc), side="left")

    def evaluate(self, pc: Any) -> Any:
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

    def threshold_at(self, pc: Any) -> Any:
        """Return the threshold in use at pc (for the bayes policy, the probability to exceed).

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
        if isinstance(self.policy, Bayes) and self.roc is not None:
            prevalence = self.roc.prevalence if self.policy.prevalence is None else self.policy.prevalence
            cut: Any = swap_axis(x, prevalence)
        else:
            cut = self.thresholds[self.step_at(x)]
        return float(cut) if x.ndim == 0 else cut

    def score_below(self, threshold: float) -> float:
        """Return the next lower score below a threshold in use: no score is in between (NaN where it is not known)."""
        if self.policy is None or self.roc is None:
            return math.nan
        return self.policy.score_below(self.roc, threshold)

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
        low = np.concatenate([Difference(self, t).negative()[0] for t in (never, always)])
        high = np.concatenate([Difference(self, t).negative()[1] for t in (never, always)])
        return covered(low, high, times=2)

    def crossings(self, other: CostCurve) -> Crossings:
        """Return the pc at which the cheaper of the two curves changes.

        Touching without changing sides is no crossing; costs closer than 1e-12 count as equal. Where the curves
        coincide between two stretches of different winners, the crossing is the middle of that stretch.
        """
        return Difference(self, _check_cost_curve("other", other)).crossings()

    def better_than(self, other: CostCurve) -> Advantage:
        """Return where this curve costs less than the other, and by how much."""
        return Difference(self, _check_cost_curve("other", other)).advantage()

    def area(
        self,
        pc: tuple[float, float] | OperatingRange = (0.0, 1.0),
        *,
        weight: Beta | Callable[[Any], Any] | None = None,
    ) -> float:
        """Return the integral of the cost over pc, uniformly or weighted.

        Over all of pc this is the expected normalized cost when the condition is uncertain: uniform by default,
        Beta-distributed, or with any density.

        Parameters
        ----------
        pc : (low, high) or OperatingRange
            The part of the axis to integrate over.
        weight : Beta, callable or an object with ``pdf``, optional
            Density of pc; a Beta is integrated in closed form, others by Gauss-Legendre on each linear piece.

        Examples
        --------
        >>> import costcurves as cc
        >>> curve = cc.CostCurve(cc.RocCurve.from_rates(fpr=0.1, tpr=0.6))
        >>> round(curve.area(), 6), round(curve.area(weight=cc.Beta(2, 2)), 6)
        (0.181319, 0.216061)
        """
        low, high = check_span(pc)
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
            Distribution of the cost share ``cost_fp / (cost_fp + cost_fn)``. By default Beta(2, 1 + n_neg / n_pos),
            the default of the hmeasure packages: its mode is the share of positives. Hand & Anagnostopoulos (2014)
            advise ``Beta(1 + p, 2 - p)`` with p the share of positives.
        prevalence : float in (0, 1), optional
            By default the share of positives in the data.

        Examples
        --------
        >>> import costcurves as cc
        >>> roc = cc.RocCurve.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        >>> round(cc.CostCurve(roc).h_measure(severity=cc.Beta(2, 2)), 6)
        0.5
        """
        share = self._prevalence(prevalence)
        weight = Beta(2, 1 + (1 - share) / share) if severity is None else severity
        if not isinstance(weight, Beta):
            raise InputError(f"`severity` must be a Beta, got {shown(weight)}")
        loss = self._cost_share_integral(share, weight)
        left, right = np.array([0.0, share]), np.array([share, 1.0])
        trivial = _beta_integral(weight, left, right, np.array([0.0, share]), np.array([1.0 - share, 0.0]))
        largest = float(trivial.sum())
        if not largest > 0:
            raise InputError(f"`severity` must not put all weight on free errors, got {weight!r}")
        return 1.0 - loss / largest

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
        ``tpr·p - fpr·(1-p)·t / (1-t)``. With policy "bayes" this is the decision curve of Vickers & Elkin (2006), who
        treat where the score is at least t, whatever the prevalence p is; see `recalibrated_net_benefit` for scores
        that are corrected for another prevalence first. With "optimal" it is the best that any threshold on the score
        could reach at that prevalence.

        Examples
        --------
        >>> import costcurves as cc
        >>> roc = cc.RocCurve.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        >>> curve = cc.CostCurve(roc, policy="bayes")
        >>> curve.net_benefit(0.5), round(curve.net_benefit(0.5, prevalence=0.2), 6)
        (0.25, 0.1)
        """
        share = self._prevalence(prevalence)
        calibrated_at = share
        if isinstance(self.policy, Bayes):
            calibrated_at = self._prevalence(self.policy.prevalence)
        return self._net_benefit(threshold, share, calibrated_at)

    def recalibrated_net_benefit(self, threshold: Any, *, prevalence: float) -> Any:
        """Return the net benefit where scores are corrected for another prevalence before they are compared with t.

        Parameters
        ----------
        threshold : float or array in (0, 1)
            As for `net_benefit`.
        prevalence : float in (0, 1)
            Where the classifier will be used.

        Notes
        -----
        Policy "bayes" only. Scores that are probabilities at prevalence q have their odds multiplied by
        ``p(1-q) / (q(1-p))``, by Bayes' rule, so that they are probabilities at prevalence p. This is the same as
        moving the threshold on the score.

        Examples
        --------
        >>> import costcurves as cc
        >>> roc = cc.RocCurve.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        >>> curve = cc.CostCurve(roc, policy="bayes")
        >>> round(curve.net_benefit(0.3, prevalence=0.2), 6), curve.recalibrated_net_benefit(0.3, prevalence=0.2)
        (0.028571, 0.1)
        """
        if not isinstance(self.policy, Bayes):
            raise UnsupportedError(f"`recalibrated_net_benefit` needs policy='bayes', got {self.policy!r}")
        share = check_in_open_unit("prevalence", prevalence)
        return self._net_benefit(threshold, share, share)

    def _net_benefit(self, threshold: Any, prevalence: float, step_at: float) -> Any:
        """Return the net benefit of the step in use at cost share `threshold` and prevalence `step_at`."""
        t = check_unit_array("threshold", threshold)
        if ((t <= 0) | (t >= 1)).any():
            raise InputError(f"`threshold` must be in (0, 1), got {shown(threshold)}")
        step = np.searchsorted(self.breaks[1:-1], swap_axis(t, step_at), side="right")
        benefit = prevalence * (1.0 - self.fnr[step]) - (1.0 - prevalence) * self.fpr[step] * t / (1.0 - t)
        return float(benefit) if t.ndim == 0 else benefit

    def auc(self) -> float:
        """Return the area under the ROC curve behind this cost curve."""
        return self._need_roc("auc").auc()

    def band(
        self,
        *,
        level: float = 0.95,
        method: str = "wilson",
        sampling: str = "stratified",
        simultaneous: bool = False,
        pc: Any = None,
        laplace: float = 0.0,
        prevalence_uncertainty: Beta | None = None,
        reoptimise: bool = False,
        n_resamples: int = 2000,
        rng: Any = None,
    ) -> Band:
        """Return a confidence band for the cost at each condition, given the policy's thresholds.

        Parameters
        ----------
        level : float in (0, 1)
            Confidence level: at each pc, or over all of `pc` together where `simultaneous`.
        method : {"wilson", "gaussian", "exact", "resample"}
            Wilson intervals of the two rates combined, which stays honest where there are few errors; the normal
            interval of the 2008 paper; quantiles of the exact bootstrap distribution; resampling as in 2005.
        sampling : {"stratified", "full"}
            Whether class frequencies are fixed, or vary as in another sample of this size.
        simultaneous : bool
            Whether the band shall hold at all pc jointly.
        pc : array-like, OperatingRange or OperatingCondition, optional
            Operating points, increasing; by default 0, 0.01, ..., 1. A range stands for 101 evenly spaced points of it.
        laplace : float
            Added to each cell of the counts.
        prevalence_uncertainty : Beta, optional
            The deployment prevalence is not known exactly (not with "exact"; ``sampling="full"`` then describes a
            sample of this size from where the classifier will be used). Each pc then stands for the costs that give
            it at the mean of the Beta; limits are those of the cost per case, in units of what always being wrong
            costs at that mean. Conditions that the band is asked about must have that mean as their prevalence.
        reoptimise : bool
            Choose the threshold anew in every resample (policy "optimal" only). This shows how an optimistic estimate
            varies; it is not a more honest interval and lies too low.
        n_resamples, rng
            For resampling.

        Notes
        -----
        The band is conditional on the thresholds. With policy "optimal" these were chosen on the same data, so the
        estimate is optimistic and the band does not cover that optimism: for an honest answer choose thresholds on
        other data, ``policy=cc.thresholds.validation(other)``. Where scores were binned, a threshold within a bin may
        cost up to `max_error` less in these data; the lower limits are lower by that.

        Where the policy never predicts positive, or always does, whatever the score (`trivial_at`), nothing is
        estimated: both limits are the cost (with `prevalence_uncertainty`, only the prevalence is uncertain there). A
        threshold that raises no alarm on these data may still raise one on others, and has limits.

        Examples
        --------
        The confusion matrix of Holte & Drummond (2005): 16 of 20 positives and 6 of 10 negatives right.

        >>> import costcurves as cc
        >>> roc = cc.RocCurve.from_confusion_matrix([[6, 4], [4, 16]], name="tree")
        >>> band = cc.CostCurve(roc, policy=cc.thresholds.point(1)).band(level=0.9)
        >>> band.at(0.5)
        Interval(0.3 in [0.1841, 0.4529], level=0.9)
        >>> band.at(cc.OperatingCondition(prevalence=0.5, cost_fp=10, cost_fn=10)).money
        Interval(3 in [1.841, 4.529], level=0.9)

        With the best threshold for each condition, nobody is predicted positive at pc = 0.05:

        >>> cc.CostCurve(roc).band(level=0.9).at(0.05)
        Interval(0.05 in [0.05, 0.05], level=0.9)
        """
        points = operating_points(pc)
        n_pos, n_neg, effective = self._sizes("band")
        options: dict[str, Any] = {"level": level, "n_resamples": n_resamples, "rng": rng}
        simultaneous = check_flag("simultaneous", simultaneous)
        if check_flag("reoptimise", reoptimise):
            roc = self._need_roc("band")
            if repr(self.policy) != "optimal()" or effective is not None:
                raise InputError(f"`reoptimise` must come with policy='optimal' and whole counts, got {self.policy!r}")
            if roc.max_error:
                raise UnsupportedError(
                    f"`reoptimise` needs scores that were not binned, got {self.name!r} with "
                    f"max_error {roc.max_error:.2g}"
                )
            return reoptimised_band(roc.n_pos - roc.tp, int(n_pos), roc.fp, int(n_neg), points, **options)
        if prevalence_uncertainty is not None and not isinstance(prevalence_uncertainty, Beta):
            raise InputError(f"`prevalence_uncertainty` must be a Beta, got {shown(prevalence_uncertainty)}")
        beta = None if prevalence_uncertainty is None else (prevalence_uncertainty.a, prevalence_uncertainty.b)
        options |= {
            "method": method,
            "sampling": sampling,
            "laplace": laplace,
            "prevalence_uncertainty": beta,
        }

        band = _band_at(self, options | {"simultaneous": simultaneous}, points)
        if simultaneous:
            options["critical_value"] = band.critical
        return band.evaluated_by(partial(_band_including, self, options, band.pc))

    def distribution(
        self, condition: Any, *, sampling: str = "stratified", laplace: float = 0.0
    ) -> BootstrapDistribution:
        """Return the exact bootstrap distribution of the normalized cost at a condition, at the threshold in use.

        Examples
        --------
        >>> import costcurves as cc
        >>> roc = cc.RocCurve.from_confusion_matrix([[6, 4], [4, 16]], name="tree")
        >>> dist = cc.CostCurve(roc, policy=cc.thresholds.point(1)).distribution(0.5)
        >>> dist
        BootstrapDistribution(mean=0.3, std=0.0894, 41 atoms)
        >>> dist.quantile([0.05, 0.95]).round(3).tolist()
        [0.15, 0.45]
        """
        where = np.array([check_condition(condition).pc])
        n_pos, n_neg, effective = self._sizes("distribution")
        if effective is not None:
            raise UnsupportedError(f"`distribution` needs whole counts, got {self.name!r} made from weights")
        fn, fp = self.errors_at(where)
        known = bool(self.trivial_at(where)[0])
        return cost_distribution(fn, fp, int(n_pos), int(n_neg), where, sampling=sampling, laplace=laplace, known=known)

    def trivial_at(self, pc: Any) -> Any:
        """Return whether, at each pc, the policy predicts the same for everybody, whatever the score.

        Its cost is then known: pc if nobody is predicted positive, 1 - pc if everybody is.

        Examples
        --------
        >>> import costcurves as cc
        >>> curve = cc.CostCurve(cc.RocCurve.from_confusion_matrix([[6, 4], [4, 16]]))
        >>> curve.trivial_at([0.05, 0.5, 0.95]).tolist()
        [True, False, True]
        """
        return np.isinf(self.thresholds[self.step_at(pc)])

    def cuts_at(self, pc: Any) -> FloatArray:
        """Return, as a score of the data, the threshold in use at each pc: score >= cut is what the policy predicts."""
        roc = self._need_roc("cuts_at")
        if self._index is None or not roc.has_thresholds:
            raise UnsupportedError(f"`cuts_at` needs a curve made from scores, got {self.name!r}")
        step = self.step_at(pc)
        cuts, own = roc.thresholds[self._index[step]], self.thresholds[step]
        # A threshold above all scores is no infinite one, which would be that of a policy that needs no score.
        with np.errstate(over="ignore"):
            above: FloatArray = np.where(np.isinf(cuts), np.nextafter(roc.thresholds[1], np.inf), cuts)
        return np.where(np.isinf(own), own, above)

    def errors_at(self, pc: Any) -> tuple[FloatArray, FloatArray]:
        """Return misses and false alarms (counts, or sums of weights) at the threshold in use at each pc."""
        roc = self._need_roc("errors_at")
        if roc.made_from == "rates" or self._index is None:
            raise UnsupportedError(f"`errors_at` needs counts, got {self.name!r} made from rates")
        point = self._index[self.step_at(pc)]
        return roc.n_pos - roc.tp[point], roc.fp[point]

    def _sizes(self, what: str) -> tuple[float, float, tuple[float, float] | None]:
        """Return positives, negatives and, for weighted data, their effective numbers."""
        roc = self._need_roc(what)
        if roc.made_from == "rates":
            raise UnsupportedError(f"`{what}` needs counts, got {self.name!r} made from rates")
        return roc.n_pos, roc.n_neg, roc.effective

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
            hint = ": use cc.average_band(folds)" if what == "band" else ""
            raise UnsupportedError(
                f"`{what}` needs one classifier's ROC points, got {self.name!r}, which is an average{hint}"
            )
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
        table = self._columns()
        del table["name"]
        return {
            "name": self.name,
            "policy": None if self.policy is None else repr(self.policy),
            "steps": jsonable(table),
            "max_error": self.max_error,
        }

    def __repr__(self) -> str:
        """Return name, size, policy and area."""
        how = (
            "average"
            if self.policy is None
            else {"optimal()": "best threshold by pc"}.get(repr(self.policy), repr(self.policy))
        )
        error = f", max_error={self.max_error:.2g}" if self.max_error else ""
        return f"CostCurve({self.name!r}: {self.vertices.shape[0]} vertices, {how}, area={self.area():.3g}{error})"


def _band_at(curve: CostCurve, options: dict[str, Any], pc: Any) -> Band:
    """Return the band of a curve's error counts at some operating points."""
    n_pos, n_neg, effective = curve._sizes("band")
    fn, fp = curve.errors_at(pc)
    band = cost_band(fn, n_pos, fp, n_neg, pc, effective=effective, known=curve.trivial_at(pc), **options)
    return band.with_error(curve.max_error)


def _band_including(curve: CostCurve, options: dict[str, Any], points: FloatArray, pc: float) -> tuple[float, ...]:
    """Return (estimate, lower, upper) at one pc of the band over some points, as if it had been among them."""
    band = _band_at(curve, options, np.union1d(points, [pc]))
    i = int(np.searchsorted(band.pc, pc))
    return float(band.estimate[i]), float(band.lower[i]), float(band.upper[i])


def check_span(pc: Any) -> tuple[float, float]:
    """Return the two ends of a part of the axis of pc; an operating range stands for the part that it spans."""
    if isinstance(pc, OperatingRange):
        return pc.pc
    try:
        low, high = pc
    except (TypeError, ValueError):
        raise InputError(f"`pc` must be a pair (low, high), got {shown(pc)}") from None
    low, high = check_in_unit("pc", low), check_in_unit("pc", high)
    if low > high:
        raise InputError(f"`pc` must be a pair (low, high) with low <= high, got {shown(pc)}")
    return low, high


def _beta_integral(
    weight: Beta, left: FloatArray, right: FloatArray, at_zero: FloatArray, at_one: FloatArray
) -> FloatArray:
    """Return the Beta-weighted integral of each linear piece, given its line's values at 0 and at 1."""
    from scipy.special import betainc

    mass = betainc(weight.a, weight.b, right) - betainc(weight.a, weight.b, left)
    moment = weight.mean * (betainc(weight.a + 1, weight.b, right) - betainc(weight.a + 1, weight.b, left))
    pieces: FloatArray = at_zero * mass + (at_one - at_zero) * moment
    return pieces


def _quadrature(
    density: Callable[[Any], Any],
    left: FloatArray,
    right: FloatArray,
    at_zero: FloatArray,
    at_one: FloatArray,
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
        listed = [as_cost_curve(c).renamed(n) for n, c in curves.items()]
    else:
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
    error = float(np.mean([curve.max_error for curve in listed]))
    return CostCurve._from_pieces(check_name("name", name), breaks, fpr, fnr, error)
