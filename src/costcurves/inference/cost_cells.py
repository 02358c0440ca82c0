"""What a table of counts and costs comes to for inference: cells, each with a count and what it adds to a cost.

Arrays only, no labels. One classifier has the k² cells of its confusion matrix, a difference the distinct differences
in cost. With class frequencies that are given, every class is a stratum of its own and carries its frequency as weight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import UnsupportedError
from costcurves._base.validation import FloatArray, IntArray
from costcurves.inference.kernel.strata import Stratum

# Up to this many differences of costs are listed one by one; beyond it they are put on a lattice.
_LISTED = 1 << 22
_LATTICE = 1 << 15
# How many examples the Laplace correction of one classifier adds in all, by default.
ADDED = 2.5


def default_laplace(k: int) -> float:
    """Return the λ of BCost for k classes: 2.5 examples in all cells together, which is the paper's 0.1 at its k = 5.

    What biases the interval is the weight of all cells together, λk², so that it must not grow with k. With fewer
    than five classes 0.1 is too little: at two classes, 100 examples and 5 % errors it covers 90 %, and 2.5/k² 96 %.

    Examples
    --------
    >>> default_laplace(2), default_laplace(5), default_laplace(20)
    (0.625, 0.1, 0.00625)
    """
    return ADDED / k**2


@dataclass(frozen=True, slots=True, eq=False)
class CostCells:
    """Counts and costs of one stratum; a count of 0 is a cost that may occur and was not seen.

    Attributes
    ----------
    counts, costs : arrays of shape (cells,)
        How many examples fell into each cell, and what one of them costs.
    copies : array of shape (cells,)
        How many cells of the whole table each stands for: a Laplace correction adds λ for every one of them.
    weight : float
        The frequency of the class, or 1 where all examples are one stratum.
    """

    counts: FloatArray
    costs: FloatArray
    copies: FloatArray
    weight: float = 1.0

    @classmethod
    def of(cls, counts: npt.NDArray[Any], costs: npt.NDArray[Any], weight: float = 1.0) -> CostCells:
        """Return the cells of a table of any shape, each of which stands for itself."""
        flat = np.asarray(counts, dtype=np.float64).ravel()
        return cls(flat, np.asarray(costs, dtype=np.float64).ravel(), np.ones(flat.size), weight)

    @property
    def draws(self) -> int:
        """The number of examples."""
        return round(float(self.counts.sum()))

    @property
    def values(self) -> FloatArray:
        """What a rate of one in each cell adds to the expected cost."""
        return np.asarray(self.weight * self.costs)

    @property
    def mean(self) -> float:
        """What the stratum adds to the expected cost, by its examples."""
        return float(self.counts @ self.values) / self.draws

    @property
    def variance(self) -> float:
        """The variance of the mean, with the rates that were seen."""
        return float(self.counts @ (self.values - self.mean) ** 2) / self.draws**2

    def pooled(self) -> CostCells:
        """Return cells of which those of equal cost are one, in ascending order.

        Examples
        --------
        >>> import numpy as np
        >>> cells = CostCells.of(np.array([5, 1, 0, 2]), np.array([0.0, 3.0, 9.0, 3.0])).pooled()
        >>> cells.counts.tolist(), cells.costs.tolist(), cells.copies.tolist()
        ([5.0, 3.0, 0.0], [0.0, 3.0, 9.0], [1.0, 2.0, 1.0])
        """
        costs, at = np.unique(self.costs, return_inverse=True)
        at = at.ravel()

        def total(x: FloatArray) -> FloatArray:
            return np.bincount(at, weights=x, minlength=costs.size).astype(np.float64, copy=False)

        return CostCells(total(self.counts), costs, total(self.copies), self.weight)

    def stratum(self, laplace: float = 0.0, *, weighted: bool = True) -> Stratum:
        """Return what a bootstrap draws from: probability (count + λ · copies) over its sum, value cost/n."""
        n = self.draws
        mass = self.counts + laplace * self.copies
        used = mass > 0
        costs = (self.values if weighted else self.costs)[used]
        return Stratum(n, mass[used] / (n + laplace * float(self.copies.sum())), costs / n)


def mean_of_cells(cells: Sequence[CostCells]) -> float:
    """Return the estimate: the sum of what the strata add."""
    return float(sum(one.mean for one in cells))


def spread_of_cells(cells: Sequence[CostCells]) -> float:
    """Return the standard error of the estimate, with the rates that were seen."""
    return math.sqrt(sum(one.variance for one in cells))


def cost_cells(counts: npt.NDArray[Any], costs: FloatArray, priors: FloatArray | None) -> list[CostCells]:
    """Return the cells of a k × k table of counts: one stratum, or one for each class with a prior."""
    if priors is None:
        return [CostCells.of(counts, costs)]
    return [CostCells.of(counts[t], costs[t], float(priors[t])) for t in np.flatnonzero(priors > 0)]


def difference_cells(
    true: IntArray,
    differences: FloatArray,
    counts: IntArray,
    costs: FloatArray,
    priors: FloatArray | None = None,
    *,
    every: bool = False,
) -> list[CostCells]:
    """Return the cells of a difference in cost: those seen, and the largest that may occur in either direction.

    Parameters
    ----------
    true, differences, counts : arrays of shape (m,)
        The class, the difference in cost and the count of each distinct triple that occurs.
    costs : array of shape (k, k)
    priors : array of shape (k,), optional
    every : bool
        Whether all differences that the costs allow are cells, with the number of the k³ triples that have them.
    """
    if every and priors is not None and (size := listed_differences(costs)) > _LISTED:
        raise UnsupportedError(
            f"`priors` must be None with this method and this many distinct cost differences ({size}), "
            "unless `laplace` is 0"
        )

    def cells(own: npt.NDArray[Any], rows: FloatArray, weight: float) -> CostCells:
        if every:
            more, copies = difference_histogram(rows)
        else:
            most = float(np.ptp(rows, axis=1).max())
            more, copies = np.array([-most, most]), np.ones(2)
        seen = CostCells(
            np.append(counts[own].astype(np.float64), np.zeros(more.size)),
            np.append(differences[own], more),
            np.append(np.zeros(int(np.count_nonzero(own))), copies),
            weight,
        )
        return seen.pooled()

    if priors is None:
        return [cells(np.ones(true.size, dtype=bool), costs, 1.0)]
    return [cells(true == t, costs[t : t + 1], float(priors[t])) for t in np.flatnonzero(priors > 0)]


def listed_differences(costs: FloatArray) -> int:
    """Return how many differences of distinct costs the rows of a cost matrix have."""
    ordered = np.sort(costs, axis=1)
    distinct = 1 + np.count_nonzero(np.diff(ordered, axis=1), axis=1)
    return int((distinct**2).sum())


def difference_histogram(costs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the values C[t, a] - C[t, b] over all t, a, b, and how many of the k³ cells have each.

    Rows with few distinct costs are listed: the square of their number. When all rows together have more than
    four million differences, each row is put on a lattice of 32,768 steps (a cost's mass shared between its
    two neighbours, which keeps its mean) and correlated with itself by one transform per row: memory is that
    of the lattice, and no difference moves by more than one step, 3e-5 of the range of costs.
    """
    if listed_differences(costs) <= _LISTED:
        parts = [np.unique(row, return_counts=True) for row in costs]
        values = np.concatenate([np.subtract.outer(u, u).ravel() for u, _ in parts])
        times = np.concatenate([np.multiply.outer(m, m).ravel() for _, m in parts]).astype(np.float64)
        distinct, at = np.unique(values, return_inverse=True)
        return distinct, np.bincount(at, weights=times).astype(np.float64, copy=False)
    from scipy.fft import irfft, rfft

    low = costs.min(axis=1, keepdims=True)
    step = float((costs - low).max()) / _LATTICE
    length = 2 * (_LATTICE + 1)
    power = np.zeros(length // 2 + 1, dtype=np.float64)
    smeared = 0.0
    for row in (costs - low) / step:
        place, repeats = np.unique(row, return_counts=True)
        left = np.minimum(place.astype(np.int64), _LATTICE - 1)
        share = place - left
        masses = np.bincount(left, repeats * (1 - share), length) + np.bincount(left + 1, repeats * share, length)
        power += np.abs(rfft(masses)) ** 2
        smeared += float((repeats**2 * share * (1 - share)).sum())
    correlation = np.roll(irfft(power, length), _LATTICE)[: 2 * _LATTICE + 1]
    # A cost minus itself is exactly zero: what sharing put one step to each side goes back to the middle.
    correlation[_LATTICE - 1 : _LATTICE + 2] += smeared * np.array([-1.0, 2.0, -1.0])
    correlation = np.where(correlation > 1e-12 * correlation.max(), correlation, 0.0)
    correlation *= costs.size * costs.shape[1] / correlation.sum()
    used = correlation > 0
    lags: FloatArray = step * np.arange(-_LATTICE, _LATTICE + 1, dtype=np.float64)
    return lags[used], np.asarray(correlation[used], dtype=np.float64)
