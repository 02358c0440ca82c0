"""The k nearest neighbours after Aha, Kibler & Albert's IBL, with votes of one over the distance."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from costcurves import InputError
from replications.learners.splits import Floats
from replications.learners.trees import checked

# Squared distances closer than this count as equal, because matrix products are accurate to about 1e-13.
SAME = 1e-9
# Scores are computed for blocks of examples, with tables of at most this many distances.
CHUNK = 4_000_000


class Neighbours:
    """The k nearest training examples vote, each with one over its distance.

    Parameters
    ----------
    k : int

    Notes
    -----
    The distance is Euclidean. A numeric column is scaled so that its training values span 0 to 1; two
    nominal values have distance 0 if they are equal and 1 if not. Missing values have the largest possible distance, as
    in IBL: 1 from another missing value and from every nominal value, and max(x, 1 - x) from a number x. All examples
    at the same distance as the k-th also vote, so the order of the examples does not matter. If there are neighbours at
    distance 0, only they vote.

    Squared distances are one matrix product: of columns made from the scored examples with columns made from the
    training examples.

    Examples
    --------
    >>> near = Neighbours(k=3).fit([[0.0], [1.0], [2.0], [10.0]], [False, True, True, False])
    >>> near.predict_proba([[1.5], [1.0]])[:, 1].round(3).tolist()
    [0.857, 1.0]
    """

    def __init__(self, k: int) -> None:
        if k < 1:
            raise InputError(f"`k` must be at least 1, got {k}")
        self.k = k

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, nominal: npt.ArrayLike | None = None) -> Neighbours:
        """Keep the examples and the scales. `nominal` marks the columns that hold codes 0, 1, ... of values."""
        features, self._positive, self._nominal = checked(X, y, nominal)
        numbers = features[:, ~self._nominal]
        known = ~np.isnan(numbers)
        self._low = np.where(known, numbers, np.inf).min(axis=0, initial=np.inf)
        span = np.where(known, numbers, -np.inf).max(axis=0, initial=-np.inf) - self._low
        # A column with fewer than two values has no information.
        self._scale = np.where(span > 0, 1 / np.where(span > 0, span, 1.0), 0.0)
        self._low = np.where(np.isfinite(self._low), self._low, 0.0)
        codes = features[:, self._nominal]
        self._levels = [int(np.nanmax(column, initial=-1)) + 1 for column in codes.T]
        self._train = self._scaled(features)
        self._right = self._columns(*self._train, scored=False)
        return self

    def predict_proba(self, X: npt.ArrayLike) -> Floats:
        """The shares of the votes for False and True, shape (examples, 2)."""
        numbers, codes = self._scaled(np.asarray(X, dtype=np.float64))
        count = self._positive.size
        size = max(1, CHUNK // count)
        found = np.empty(len(numbers))
        for start in range(0, len(numbers), size):
            part = slice(start, start + size)
            found[part] = self._votes(numbers[part], codes[part])
        return np.stack([1 - found, found], axis=1)

    def _votes(self, numbers: Floats, codes: Floats) -> Floats:
        squared = self._columns(numbers, codes, scored=True) @ self._right.T
        k = min(self.k, self._positive.size)
        last = np.partition(squared, k - 1, axis=1)[:, k - 1]
        row, near = np.nonzero(squared <= last[:, None] + SAME)
        # The distances of the few voters are computed again from the definition, because a product cannot distinguish 0
        # from 1e-14.
        exact = self._distance(numbers[row], codes[row], near)
        same = np.bincount(row, weights=exact == 0, minlength=len(numbers)) > 0
        weight = np.where(same[row], exact == 0, 1 / np.where(exact > 0, exact, 1.0))
        votes = np.bincount(row, weights=weight * self._positive[near], minlength=len(numbers))
        return np.asarray(votes / np.bincount(row, weights=weight, minlength=len(numbers)))

    def _distance(self, numbers: Floats, codes: Floats, near: npt.NDArray[np.intp]) -> Floats:
        """The distances of examples to one training example each."""
        others, other_codes = (table[near] for table in self._train)
        gap = np.abs(numbers - others)
        gap = np.where(np.isnan(others), _farthest(numbers), np.where(np.isnan(numbers), _farthest(others), gap))
        gap = np.where(np.isnan(gap), 1.0, gap)
        different = codes != other_codes  # a missing value differs from everything, including another missing value
        return np.asarray(np.sqrt((gap**2).sum(axis=1) + different.sum(axis=1)))

    def _scaled(self, features: Floats) -> tuple[Floats, Floats]:
        return (features[:, ~self._nominal] - self._low) * self._scale, features[:, self._nominal]

    def _columns(self, numbers: Floats, codes: Floats, *, scored: bool) -> Floats:
        """Make columns such that products of scored and training examples are the squared distances."""
        known = (~np.isnan(numbers)).astype(np.float64)
        value, far = np.nan_to_num(numbers), np.nan_to_num(_farthest(numbers) ** 2)
        # (a - b)² = a² - 2ab + b² if both are known, the square of the farthest distance if one is, and 1 if neither
        # is.
        if scored:
            parts = [value**2, value, known, 1 - known, far]
        else:
            parts = [known, -2 * value, value**2, far + 1 - known, 1 - known]
        for column, levels in zip(codes.T, self._levels, strict=True):
            equal = (column[:, None] == np.arange(levels)).astype(np.float64)
            parts.append(equal if scored else -equal)
        parts.append(np.full((len(numbers), 1), float(len(self._levels)) if scored else 1.0))
        return np.concatenate(parts, axis=1)


def _farthest(numbers: Floats) -> Floats:
    """The largest distance of a missing value from a scaled number."""
    return np.maximum(numbers, 1 - numbers)
