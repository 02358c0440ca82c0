"""Limits for curves of the same cases that hold at all points together, from resamples of the cases of each class."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError
from costcurves._base.validation import BoolArray, FloatArray, IntArray


def class_resamples(positive: BoolArray, number: int, rng: np.random.Generator) -> FloatArray:
    """Return how often each case is drawn in each resample; every class keeps its size. The shape is (number, n).

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.resampled_curves import class_resamples
    >>> drawn = class_resamples(np.array([True, False, False]), 4, np.random.default_rng(0))
    >>> drawn[:, 0].tolist(), drawn[:, 1:].sum(axis=1).tolist()
    ([1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0])
    """
    drawn = np.empty((number, positive.size))
    for members in (positive, ~positive):
        n = int(members.sum())
        drawn[:, members] = rng.multinomial(n, np.full(n, 1 / n), number)
    return drawn


def joint_half_widths(deviations: FloatArray, least: float, level: float) -> FloatArray:
    """Return half the widths of limits that hold for all curves at all points together (sup-t).

    Parameters
    ----------
    deviations : array of shape (resamples, curves, points)
        The resampled minus the estimated values.
    least : float
        A standard error whose square is added to that of the resamples, which can be 0 where few cases matter.
    level : float

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.resampled_curves import joint_half_widths
    >>> draws = np.random.default_rng(0).normal(size=(4000, 1, 1))
    >>> joint_half_widths(draws, 0.0, 0.95).round(1)
    array([[1.9]])
    """
    errors = np.sqrt((deviations**2).mean(axis=0) + least**2)
    largest = np.abs(deviations / errors).max(axis=(1, 2))
    return np.asarray(np.quantile(largest, level, method="higher") * errors)


def pair_differences(values: FloatArray) -> FloatArray:
    """Return the differences of all pairs of curves, in the order of `itertools.combinations`.

    Curves lie along the last axis but one.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.resampled_curves import pair_differences
    >>> pair_differences(np.array([[1.0], [2.0], [4.0]])).tolist()
    [[-1.0], [-3.0], [-2.0]]
    """
    first, second = np.triu_indices(values.shape[-2], 1)
    return np.asarray(values[..., first, :] - values[..., second, :])


def smallness(positive: BoolArray, parts: list[IntArray]) -> float:
    """Return the factor by which resamples within the small classes of some parts deviate too little.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.resampled_curves import smallness
    >>> round(smallness(np.array([True, True, False, False, False]), [np.arange(5)]), 3)
    1.414
    """
    least = float(np.mean([min(positive[part].sum(), (~positive[part]).sum()) for part in parts]))
    if least < 2:
        raise DataError(f"`folds` must have at least 2 cases of each class on average to be resampled, got {least:.3g}")
    return float(np.sqrt(least / (least - 1)))


class Ranking(NamedTuple):
    """Cases from the highest score to the lowest, and the last case of each score."""

    order: IntArray
    last: IntArray

    @classmethod
    def of(cls, scores: npt.NDArray[np.generic]) -> Ranking:
        """Rank the cases."""
        order = np.argsort(scores, kind="stable")[::-1]
        ranked = scores[order]
        return cls(order, np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), scores.size - 1))

    def tpr(self, positive: BoolArray, drawn: FloatArray, fpr: FloatArray) -> FloatArray:
        """Return the true positive rate at some false positive rates if each case was drawn so often.

        Of several points with the same false positive rate the highest counts, and between points the curve is linear.
        """
        weight, kind = drawn[self.order], positive[self.order]
        tp = np.append(0.0, np.cumsum(weight * kind)[self.last])
        fp = np.append(0.0, np.cumsum(weight * ~kind)[self.last])
        highest = np.append(fp[1:] > fp[:-1], True)
        found: FloatArray = np.interp(fpr, fp[highest] / fp[-1], tp[highest] / tp[-1])
        return found
