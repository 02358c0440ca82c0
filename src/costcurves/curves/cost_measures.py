"""Measures of other fields, computed from a cost curve: H-measure, Brier score, calibration, net benefit and AUC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError, UnsupportedError
from costcurves._base.results import Result
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    FloatArray,
    check_in_open_unit,
    check_instance,
    check_integer,
    check_level,
    check_unit_array,
    shown,
)
from costcurves.conditions.range import Beta
from costcurves.curves.cost_function import CostThresholds, beta_integral
from costcurves.curves.roc import RocCurve
from costcurves.curves.thresholds import swap_axis
from costcurves.inference.rates import critical, mended_wilson


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Calibration(Result):
    """The share of positives among cases with similar scores, which are meant to be probabilities.

    Attributes
    ----------
    name : str
    level : float
    low, high : array of shape (bins,)
        The scores of each bin with cases: above `low` (the first bin: from it) and up to `high`.
    count : array
        The number of cases, or their weight.
    score : array
        The mean score.
    share : array
        The share of positives, which equals the mean score if scores are calibrated.
    lower, upper : array
        The limits of the share at this confidence level, in each bin.

    Examples
    --------
    >>> import costcurves as cc
    >>> roc = cc.RocCurve.from_predictions([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.2, 0.7, 0.8, 0.9])
    >>> found = cc.CostCurve(roc, policy="bayes").calibration(bins=2)
    >>> found.count.tolist(), round(found.error, 3)
    ([3.0, 3.0], 0.15)
    """

    name: str
    level: float
    low: FloatArray
    high: FloatArray
    count: FloatArray
    score: FloatArray
    share: FloatArray
    lower: FloatArray
    upper: FloatArray

    _column_names = ("name", "low", "high", "count", "score", "share", "lower", "upper")

    @property
    def error(self) -> float:
        """The mean distance of the share from the score over all cases: the expected calibration error."""
        return float(np.average(np.abs(self.share - self.score), weights=self.count))

    def __repr__(self) -> str:
        return f"Calibration({self.name!r}: {self.low.size} bins, off by {self.error:.3g} on average)"


def calibration_of(roc: RocCurve, bins: Any, level: float) -> Calibration:
    """Compare the mean score with the share of positives in each bin of scores that has cases."""
    level = check_level(level)
    if np.asarray(bins, dtype=object).ndim == 0:
        edges = np.linspace(0.0, 1.0, check_integer("bins", bins, 1) + 1)
    else:
        edges = check_unit_array("bins", bins)
        if edges.size < 2 or (np.diff(edges) <= 0).any() or edges[0] > 0 or edges[-1] < 1:
            raise InputError(f"`bins` must be an integer or increasing edges from 0 to 1, got {shown(bins)}")
    roc.need_all_points("calibration")
    if roc.made_from == "rates" or not roc.has_thresholds:
        raise UnsupportedError(f"`calibration` needs the scores of counted cases, got {roc.name!r}")
    scores = roc.thresholds[1:]
    positives, negatives = np.diff(roc.tp).astype(np.float64), np.diff(roc.fp).astype(np.float64)
    into = np.searchsorted(edges[1:-1], scores)

    def summed(values: FloatArray) -> FloatArray:
        totals: FloatArray = np.bincount(into, weights=values, minlength=edges.size - 1).astype(np.float64)
        return totals

    count = summed(positives + negatives)
    used = np.flatnonzero(count > 0)
    share = (summed(positives) / np.where(count > 0, count, 1))[used]
    size_pos, size_neg = roc.effective or (roc.n_pos, roc.n_neg)
    size = summed(positives * (size_pos / roc.n_pos) + negatives * (size_neg / roc.n_neg))[used]
    lower, upper = mended_wilson(share * size, size, critical(level))
    return Calibration(
        name=roc.name,
        level=level,
        low=edges[used],
        high=edges[used + 1],
        count=count[used],
        score=summed(scores * (positives + negatives))[used] / count[used],
        share=share,
        lower=lower,
        upper=upper,
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class CostMeasures(CostThresholds):
    """The questions to `CostCurve` that other fields ask."""

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
        weight = Beta(2, 1 + (1 - share) / share) if severity is None else check_instance("severity", severity, Beta)
        loss = self._cost_share_integral(share, weight)
        left, right = np.array([0.0, share]), np.array([share, 1.0])
        trivial = beta_integral(weight, left, right, np.array([0.0, share]), np.array([1.0 - share, 0.0]))
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
        self._need_probabilities("brier_score")
        share = self._prevalence(None)
        if self._calibrated_at() != share:
            raise UnsupportedError(
                "`brier_score` needs scores calibrated at the prevalence of the data, "
                f"got {self.policy!r} and {share:g}"
            )
        return 2.0 * self._cost_share_integral(share, Beta(1, 1))

    def calibration(self, bins: Any = 10, *, level: float = DEFAULT_LEVEL) -> Calibration:
        """Return the share of positives among cases with similar scores (policy "bayes" only).

        Parameters
        ----------
        bins : int or array of increasing edges from 0 to 1
            The number of bins of equal width, or their edges, such as quantiles of the scores. A score that equals an
            edge belongs to the bin below it. Bins without cases are left out.
        level : float in (0, 1)
            The confidence level of the limits of each share, which are those of the cost (Wilson).

        Examples
        --------
        >>> import costcurves as cc
        >>> roc = cc.RocCurve.from_predictions([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.2, 0.7, 0.8, 0.9])
        >>> found = cc.CostCurve(roc, policy="bayes").calibration(bins=2)
        >>> found
        Calibration('classifier': 2 bins, off by 0.15 on average)
        >>> found.share.round(3).tolist()
        [0.333, 0.667]
        """
        self._need_probabilities("calibration")
        return calibration_of(self._need_roc("calibration"), bins, level)

    def net_benefit(self, threshold: npt.ArrayLike, *, prevalence: float | None = None) -> Any:
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
        treat a case if its score is at least t, whatever the prevalence p is; see `recalibrated_net_benefit` for scores
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
        calibrated_at = self._calibrated_at()
        return self._net_benefit(threshold, share, share if calibrated_at is None else calibrated_at)

    def recalibrated_net_benefit(self, threshold: npt.ArrayLike, *, prevalence: float) -> Any:
        """Return the net benefit if scores are corrected for another prevalence before they are compared with t.

        Parameters
        ----------
        threshold : float or array in (0, 1)
            As for `net_benefit`.
        prevalence : float in (0, 1)
            The share of positives among the cases on which the classifier will be used.

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
        self._need_probabilities("recalibrated_net_benefit")
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

    def _cost_share_integral(self, prevalence: float, weight: Beta) -> float:
        """Return the mean over cost shares c of ``c·(1-p)·fpr + (1-c)·p·fnr``."""
        shares = swap_axis(self.breaks, prevalence)
        at_zero, at_one = prevalence * self.fnr, (1.0 - prevalence) * self.fpr
        return float(beta_integral(weight, shares[1:], shares[:-1], at_zero, at_one).sum())

    def _calibrated_at(self) -> float | None:
        """Return the prevalence at which the scores are probabilities; None if the policy does not take them so."""
        if self.policy is None or self.roc is None or not self.policy.takes_probabilities:
            return None
        return self._prevalence(self.policy.calibrated_at(self.roc))

    def _need_probabilities(self, what: str) -> None:
        if self._calibrated_at() is None:
            raise UnsupportedError(f"`{what}` needs policy='bayes', got {self.policy!r}")

    def _prevalence(self, given: float | None) -> float:
        if given is not None:
            return check_in_open_unit("prevalence", given)
        share = float("nan") if self.roc is None else self.roc.prevalence
        if np.isnan(share):
            raise InputError(f"`prevalence` must be given if the counts are not known, got None for {self.name!r}")
        return share
