"""Two classifiers on the same examples: who is wrong alone, counted at all operating points at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._results import Result
from costcurves._validation import FloatArray, IntArray, check_choice, frozen, number_array, shown
from costcurves.errors import DataError, InputError

# Buckets of the lookup table for thresholds: small enough for the processor's cache. Fewer scores are searched for.
_BUCKETS = 2**15


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairedCounts(Result):
    """Discordant examples of one class at every operating point; counts of two parts of the data add.

    Attributes
    ----------
    only_a, only_b : arrays of shape (points,)
        Examples that only a, only b gets wrong (sums of weights where there are weights).
    total : float
        Examples of the class (sum of weights).
    squares : float
        Sum of squared weights; `total**2 / squares` is the effective sample size.
    ranges : array of shape (points + 1, points + 1), or None
        Examples by where they are discordant: above the diagonal, [i, j] counts those that only a gets wrong, at
        points i to j - 1; below it, [j, i] those that only b does; on it, those that are never discordant.
        Needed for simultaneous bands of moving thresholds.

    Examples
    --------
    >>> from costcurves.inference.discordant import paired_counts
    >>> half = paired_counts("positive", [0.2, 0.9], [0.8, 0.1], [0.7, 0.5, 0.1], [0.7, 0.5, 0.1])
    >>> half.only_a, half.only_b
    (array([1, 1, 0]), array([1, 1, 0]))
    >>> (half + half).only_a
    array([2, 2, 0])
    """

    only_a: npt.NDArray[Any]
    only_b: npt.NDArray[Any]
    total: float
    squares: float
    ranges: npt.NDArray[Any] | None = None

    @property
    def effective(self) -> float:
        """Effective sample size (Σw)²/Σw²."""
        return self.total**2 / self.squares if self.squares else 0.0

    def reversed(self) -> PairedCounts:
        """Return the counts with a and b in the other order."""
        ranges = None if self.ranges is None else frozen(self.ranges.T)
        return replace(self, only_a=self.only_b, only_b=self.only_a, ranges=ranges)

    def __add__(self, other: PairedCounts) -> PairedCounts:
        """Return the counts of both parts."""
        if not isinstance(other, PairedCounts):
            return NotImplemented
        if self.only_a.shape != other.only_a.shape or (self.ranges is None) != (other.ranges is None):
            raise InputError("paired counts must be of the same operating points to be added")
        ranges = None
        if self.ranges is not None and other.ranges is not None:
            ranges = frozen(self.ranges + other.ranges)
        return PairedCounts(
            frozen(self.only_a + other.only_a),
            frozen(self.only_b + other.only_b),
            self.total + other.total,
            self.squares + other.squares,
            ranges,
        )

    def _columns(self) -> dict[str, Any]:
        return {"only_a": self.only_a, "only_b": self.only_b}

    def __repr__(self) -> str:
        """Return a short form."""
        return f"PairedCounts({self.only_a.size} points, {self.total:g} examples)"


def paired_counts(
    true_class: str,
    score_a: npt.ArrayLike,
    score_b: npt.ArrayLike,
    thresholds_a: npt.ArrayLike,
    thresholds_b: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    ranges: bool = False,
) -> PairedCounts:
    """Count the examples of one class that only one classifier gets wrong, at every operating point.

    Parameters
    ----------
    true_class : {"positive", "negative"}
        The class of all these examples.
    score_a, score_b : arrays of shape (n,)
        Scores of the same examples; score >= threshold is predicted positive.
    thresholds_a, thresholds_b : arrays of shape (points,)
        Threshold at each operating point, nonincreasing (a larger pc never asks for a higher threshold).
        Infinite thresholds are allowed.
    weights : array of shape (n,), optional
    ranges : bool
        Whether to count the examples by the points at which they are discordant (points² numbers).

    Returns
    -------
    PairedCounts

    Notes
    -----
    Thresholds fall with pc, so each example changes sides once for each classifier, at j_a and j_b, and is
    discordant exactly between the two. One lookup an example and classifier and cumulated histograms of j_a, j_b
    and min(j_a, j_b) give all counts in O(n log m + m), without an n × m table.

    Examples
    --------
    >>> from costcurves.inference.discordant import paired_counts
    >>> paired_counts("negative", [0.2, 0.6], [0.4, 0.1], [0.7, 0.5, 0.3], [0.7, 0.5, 0.3]).only_a
    array([0, 1, 1])
    """
    true_class = check_choice("true_class", true_class, ("positive", "negative"))
    side_a, m = first_positive_point("a", score_a, thresholds_a)
    side_b, other = first_positive_point("b", score_b, thresholds_b)
    if m != other:
        raise InputError(f"`thresholds_a` and `thresholds_b` must have one length, got {m} and {other}")
    if side_a.shape != side_b.shape:
        raise DataError(f"`score_a` and `score_b` must have one length, got {side_a.size} and {side_b.size}")
    w = None
    if weights is not None:
        w = np.asarray(weights, dtype=np.float64)
        if w.shape != side_a.shape or not np.isfinite(w).all() or (w < 0).any():
            raise DataError(f"`weights` must be finite, >= 0 and one an example, got {shown(weights)}")
    return counts_of_changes(true_class, side_a, side_b, m, w, ranges=ranges)


def counts_of_changes(
    true_class: str,
    side_a: IntArray,
    side_b: IntArray,
    m: int,
    weights: FloatArray | None = None,
    *,
    ranges: bool = False,
) -> PairedCounts:
    """Return the paired counts of examples that change sides at these of m points (m: never), for a and for b."""
    table = None
    if ranges:
        cells = np.bincount(side_a * (m + 1) + side_b, weights, (m + 1) ** 2)
        table = ranges_of(true_class, cells.reshape(m + 1, m + 1))
    # A positive is wrong before its change, a negative after it.
    first, last = (side_b, side_a) if true_class == "positive" else (side_a, side_b)
    total = float(side_a.size if weights is None else weights.sum())
    squares = float(side_a.size if weights is None else (weights * weights).sum())
    return PairedCounts(*_discordant(first, last, m, weights), total, squares, table)


def ranges_of(true_class: str, cells: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return `PairedCounts.ranges` from the counts by where a (rows) and b (columns) begin to predict positive.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.discordant import ranges_of
    >>> ranges_of("positive", np.array([[5, 2], [1, 4]])).tolist()
    [[5, 1], [2, 4]]
    """
    return frozen(cells.T if true_class == "positive" else cells)


def _discordant(
    first: IntArray, last: IntArray, m: int, w: FloatArray | None
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the counts of first <= point < last, and of last <= point < first, at every point."""
    begun, ended, opened = (np.cumsum(np.bincount(x, w, m + 1))[:m] for x in (first, last, np.minimum(first, last)))
    # Those that either has begun, less those that only one of them has, are begun and ended.
    found = opened - ended, opened - begun
    if w is None:
        return frozen(found[0]), frozen(found[1])
    # Weights that came and went leave rounding errors, which may be negative: they are nothing.
    small = 1e-12 * w.sum()
    return frozen(np.where(found[0] > small, found[0], 0.0)), frozen(np.where(found[1] > small, found[1], 0.0))


def first_positive_point(which: str, score: npt.ArrayLike, thresholds: npt.ArrayLike) -> tuple[IntArray, int]:
    """Return, for each example, the first operating point at which it is predicted positive, and the number of points.

    Examples
    --------
    >>> from costcurves.inference.discordant import first_positive_point
    >>> first_positive_point("a", [0.2, 0.6, 0.9], [0.7, 0.5, 0.3])
    (array([3, 1, 0]), 3)
    """
    s, t = np.asarray(score, dtype=np.float64), np.atleast_1d(np.asarray(thresholds, dtype=np.float64))
    if s.ndim != 1 or np.isnan(s).any():
        raise DataError(f"`score_{which}` must be one-dimensional without NaN, got {shown(score)}")
    if t.ndim != 1 or t.size == 0 or np.isnan(t).any() or (t[1:] > t[:-1]).any():
        raise InputError(f"`thresholds_{which}` must be nonincreasing without NaN, got {shown(thresholds)}")
    return t.size - at_or_below(t[::-1], s), t.size


def at_or_below(increasing: FloatArray, values: FloatArray) -> IntArray:
    """Return `numpy.searchsorted(increasing, values, side="right")`, by a lookup table where that is faster.

    Both sides fall into buckets by a nondecreasing function. An entry in a lower bucket than a value is below it, one
    in a higher bucket above; so only values that share their bucket with an entry are searched for.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.discordant import at_or_below
    >>> at_or_below(np.array([0.1, 0.5, 0.5]), np.array([0.5, 0.2]))
    array([3, 1])
    """
    finite = increasing[np.isfinite(increasing)]
    with np.errstate(over="ignore", divide="ignore"):
        scale = _BUCKETS / (finite[-1] - finite[0]) if finite.size else 0.0
    if values.size < _BUCKETS or not 0 < scale < np.inf:
        return np.asarray(np.searchsorted(increasing, values, side="right"))
    low = finite[0]

    def bucket(x: FloatArray) -> IntArray:
        with np.errstate(over="ignore"):  # infinite is far out, and clipped
            place = x - low
            place *= scale
        np.clip(place, -1.0, _BUCKETS, out=place)
        return np.asarray(place.astype(np.int64) + 1)

    taken = bucket(increasing)
    below = np.searchsorted(taken, np.arange(_BUCKETS + 2))
    shared = np.zeros(_BUCKETS + 2, dtype=np.bool_)
    shared[taken] = True
    codes = bucket(values)
    found: IntArray = below[codes]
    unsure = np.flatnonzero(shared[codes])
    found[unsure] = np.searchsorted(increasing, values[unsure], side="right")
    return found


def overlap(ranges: FloatArray) -> FloatArray:
    """Return the examples discordant at both of two operating points, of shape (points, points), from `ranges`.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.discordant import overlap
    >>> overlap(np.array([[5, 1, 2], [0, 4, 0], [0, 3, 0]]))
    array([[3, 2],
           [2, 5]])
    """
    m = ranges.shape[0] - 1
    table = np.triu(ranges, 1) + np.tril(ranges, -1).T
    # [i, j]: begun at or before i, ended after j.
    within = np.cumsum(table, axis=0)[:m]
    within = np.triu(np.cumsum(within[:, ::-1], axis=1)[:, ::-1][:, 1:])
    return np.asarray(within + np.triu(within, 1).T)


def joint_counts(joint: npt.ArrayLike) -> tuple[PairedCounts, PairedCounts]:
    """Return the discordant negatives and positives of a joint table of two fixed classifiers.

    Examples
    --------
    >>> from costcurves.inference.discordant import joint_counts
    >>> neg, pos = joint_counts([[[5, 1], [2, 3]], [[3, 1], [4, 15]]])
    >>> float(neg.only_a[0]), float(neg.only_b[0]), float(pos.only_a[0]), float(pos.only_b[0])
    (2.0, 1.0, 1.0, 4.0)
    """
    table = number_array("joint", joint)
    if table.shape != (2, 2, 2) or not np.isfinite(table).all() or (table < 0).any():
        raise InputError(f"`joint` must hold 2 x 2 x 2 counts >= 0, got {shown(joint)}")
    neg, pos = table
    if pos.sum() == 0 or neg.sum() == 0:
        raise DataError("`joint` must hold examples of both classes")
    wrong = ((neg[1, 0], neg[0, 1], neg.sum()), (pos[0, 1], pos[1, 0], pos.sum()))
    first, second = (PairedCounts(frozen(np.array([a])), frozen(np.array([b])), n, n) for a, b, n in wrong)
    return first, second
