"""Every classifier at many thresholds as a candidate of a choice, with how the errors of all of them vary together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import BoolArray, FloatArray, IntArray
from costcurves.inference.selection import FieldAt, drawn_from

Cells = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Every classifier at every threshold that may be chosen, with its errors and how these vary together.

    Attributes
    ----------
    owner : array of shape (candidates,)
        The number of the classifier to which the threshold belongs.
    misses, alarms : arrays of shape (candidates,)
        Errors, in effective examples.
    sizes : (positives, negatives)
        Effective examples of each class.
    between : array of shape (candidates,)
        How many more thresholds lie between each candidate and the next one of its classifier.
    """

    owner: IntArray
    misses: FloatArray
    alarms: FloatArray
    sizes: tuple[float, float]
    between: FloatArray
    _covariances: tuple[FloatArray, FloatArray]

    @classmethod
    def of_cells(
        cls,
        cells: tuple[Sequence[Cells], Sequence[Cells]],
        numbers: Sequence[int],
        weights: tuple[FloatArray | None, FloatArray | None],
        rows: tuple[IntArray | None, IntArray | None],
        effective: tuple[float, float],
        between: Sequence[FloatArray] | None = None,
    ) -> Candidates:
        """Return the candidates of classifiers whose scores were sorted into cells.

        Parameters
        ----------
        cells : (positives, negatives), each a sequence of arrays of shape (rows,), one per classifier
            How many of the classifier's thresholds each score reaches.
        numbers : sequence of int
            How many thresholds each classifier has.
        weights : (positives, negatives), arrays or None
        rows : (positives, negatives), arrays or None
            Which rows the covariance is computed from; all if None.
        effective : (positives, negatives)
            Effective sample sizes.
        between : sequence of arrays, one per classifier, optional
            How many more thresholds lie between each one and the next; by default none.
        """
        owner = np.repeat(np.arange(len(numbers)), numbers)
        errors, covariances = [], []
        for which, (side, weight, some, size) in enumerate(zip(cells, weights, rows, effective, strict=True)):
            tables = [np.bincount(c, weight, number + 1) for c, number in zip(side, numbers, strict=True)]
            total = float(tables[0].sum())
            # Positives below a threshold are missed; negatives that reach it are false alarms.
            wrong = [t.cumsum()[:-1] if which == 0 else t[::-1].cumsum()[::-1][1:] for t in tables]
            rate = np.concatenate(wrong) / total
            errors.append(rate * size)
            covariances.append(_covariance(side, numbers, weight, some, rate, size, which == 0))
        more = np.zeros(owner.size) if between is None else np.concatenate(between)
        return cls(owner, errors[0], errors[1], effective, more, (covariances[0], covariances[1]))

    def spread(self, pc: float) -> FloatArray:
        """Return the standard errors of the costs of all candidates at an operating point."""
        pos, neg = (np.diagonal(c) for c in self._covariances)
        return np.asarray(np.sqrt(pc**2 * pos + (1 - pc) ** 2 * neg))

    def costs(self, some: IntArray, pc: float | FloatArray) -> FloatArray:
        """Return the costs of some candidates, at one operating point or each at its own."""
        n_pos, n_neg = self.sizes
        return np.asarray(pc * self.misses[some] / n_pos + (1 - pc) * self.alarms[some] / n_neg)

    def draws(self, some: IntArray) -> tuple[FloatArray, FloatArray]:
        """Draw errors of the miss rates and of the false-alarm rates of some candidates, independent of each other."""
        n = some.size
        pos, neg = (drawn_from(c[np.ix_(some, some)], slice(i * n, i * n + n)) for i, c in enumerate(self._covariances))
        return pos, neg

    def at(
        self, pc: float, allowed: BoolArray, *, given: bool = False, shared: tuple[FloatArray, FloatArray] | None = None
    ) -> FieldAt:
        """Return the candidates at an operating point; only those that are allowed there compete.

        `given` says that the choice was not made by these costs; `shared` has draws of all candidates (see `draws`).
        """
        some = np.flatnonzero(allowed)
        return FieldAt(
            pc,
            some,
            self.owner[some],
            self.misses[some],
            self.alarms[some],
            self.sizes,
            self.costs(some, pc),
            self._covariances,
            self.between[some],
            given,
            None if shared is None else (shared[0][some], shared[1][some]),
        )


def _covariance(
    side: Sequence[Cells],
    numbers: Sequence[int],
    weight: FloatArray | None,
    rows: IntArray | None,
    rate: FloatArray,
    size: float,
    positive: bool,
) -> FloatArray:
    """Return the covariance of the error rates of all candidates in one class.

    It is that of the cases and of one more, which is wrong for all candidates with probability one half and right for
    all of them otherwise, so that candidates without an error on these rows still vary, and vary together.
    """
    few = [c if rows is None else c[rows] for c in side]
    share = None if weight is None else (weight if rows is None else weight[rows])
    total = float(few[0].size) if share is None else float(share.sum())
    starts = np.concatenate([[0], np.cumsum(numbers)])
    both = np.empty((int(starts[-1]),) * 2)
    for a, b in combinations_with_replacement(range(len(few)), 2):
        block = _both_wrong(few[a], few[b], (numbers[a], numbers[b]), share, positive) / total
        both[starts[a] : starts[a + 1], starts[b] : starts[b + 1]] = block
        both[starts[b] : starts[b + 1], starts[a] : starts[a + 1]] = block.T
    both = (both * size + 0.5) / (size + 1)
    mean = np.diagonal(both)
    covariance = both - np.multiply.outer(mean, mean)
    # Where only some of the rows are counted, the variances are still those of all of them.
    smoothed = (rate * size + 0.5) / (size + 1)
    scale = np.sqrt(smoothed * (1 - smoothed) / np.diagonal(covariance))
    return np.asarray(covariance * np.multiply.outer(scale, scale) / size)


def _both_wrong(a: Cells, b: Cells, numbers: tuple[int, int], weight: FloatArray | None, positive: bool) -> FloatArray:
    """Return how many examples of one class two classifiers both get wrong, at each pair of their thresholds."""
    shape = (numbers[0] + 1, numbers[1] + 1)
    cell = a.astype(np.int64) * shape[1] + b
    table = np.bincount(cell, weight, shape[0] * shape[1]).reshape(shape)
    if positive:
        return np.asarray(table.cumsum(axis=0).cumsum(axis=1)[:-1, :-1], dtype=np.float64)
    return np.asarray(table[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1][1:, 1:], dtype=np.float64)
