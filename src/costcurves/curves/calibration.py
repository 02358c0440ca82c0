"""How often cases turn out positive, compared with the probabilities that their scores state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from costcurves._base.errors import InputError, UnsupportedError
from costcurves._base.results import Result
from costcurves._base.validation import FloatArray, check_integer, check_level, check_unit_array, shown
from costcurves.curves.roc import RocCurve
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

    @property
    def error(self) -> float:
        """The mean distance of the share from the score over all cases: the expected calibration error."""
        return float(np.average(np.abs(self.share - self.score), weights=self.count))

    def _columns(self) -> dict[str, Any]:
        names = ("low", "high", "count", "score", "share", "lower", "upper")
        return {"name": [self.name] * self.low.size} | {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        """Show the number of bins and the mean distance."""
        return f"Calibration({self.name!r}: {self.low.size} bins, off by {self.error:.3g} on average)"


def calibration_of(roc: RocCurve, bins: Any, level: float) -> Calibration:
    """Compare the mean score with the share of positives in each bin of scores that has cases."""
    level = check_level(level)
    if np.ndim(bins) == 0:
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
