"""Two classifiers on the same examples: how many examples only one of them gets wrong, at all operating points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError
from costcurves._base.results import Result
from costcurves._base.validation import BoolArray, FloatArray, IntArray, check_choice, frozen, number_array, shown
from costcurves.counting import compiled
from costcurves.inference.simultaneous import check_joint

Array = npt.NDArray[Any]

# The size of the lookup table for thresholds, which fits into the processor's cache. Fewer scores are searched
# directly.
_BUCKETS = 2**15
_FEWER_BUCKETS = 2**14  # for compiled loops, which lose less time if a value shares its bucket with a threshold


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairedCounts(Result):
    """Discordant examples of one class at every operating point; counts of two parts of the data add.

    Attributes
    ----------
    only_a, only_b : arrays of shape (points,)
        Examples that only a, and that only b, gets wrong (sums of weights if there are weights).
    total : float
        Examples of the class (sum of weights).
    squares : float
        Sum of squared weights; `total**2 / squares` is the effective sample size.
    ranges : array of shape (points + 1, points + 1), or None
        Examples by the points at which they are discordant: above the diagonal, [i, j] counts those that only a gets
        wrong, at points i to j - 1; below it, [j, i] counts those that only b does; the diagonal counts those that are
        never discordant. Needed for simultaneous bands of moving thresholds.

    Examples
    --------
    >>> from costcurves.inference.paired.discordant import paired_counts
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
    _column_names = ("only_a", "only_b")

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

    def __repr__(self) -> str:
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
        Whether to count the examples also by the points at which they are discordant (points² numbers).

    Notes
    -----
    Thresholds fall with pc, so the prediction for an example changes once for each classifier, at j_a and at j_b, and
    the example is discordant exactly between the two. One lookup per example and classifier, and cumulated histograms
    of j_a, j_b and min(j_a, j_b), give all counts in O(n log m + m), without an n × m table.

    Examples
    --------
    >>> from costcurves.inference.paired.discordant import paired_counts
    >>> paired_counts("negative", [0.2, 0.6], [0.4, 0.1], [0.7, 0.5, 0.3], [0.7, 0.5, 0.3]).only_a
    array([0, 1, 1])
    """
    true_class = check_choice("true_class", true_class, ("positive", "negative"))
    a, b = _Changes("a", score_a, thresholds_a), _Changes("b", score_b, thresholds_b)
    m, size = a.points, a.scores.size
    if m != b.points:
        raise InputError(f"`thresholds_a` and `thresholds_b` must have one length, got {m} and {b.points}")
    if size != b.scores.size:
        raise DataError(f"`score_a` and `score_b` must have one length, got {size} and {b.scores.size}")
    if weights is None and not ranges:
        # Sums of integers do not depend on the order, and blocks of examples need no fresh memory.
        parts = [_histograms(*_in_order(true_class, a.of(some), b.of(some)), m, None) for some in _blocks(size)]
        return PairedCounts(*_discordant(np.sum(parts, axis=0)), float(size), float(size), None)
    side_a, side_b = a.of(slice(None)), b.of(slice(None))
    w = None
    if weights is not None:
        w = np.asarray(weights, dtype=np.float64)
        if w.shape != side_a.shape or not np.isfinite(w).all() or (w < 0).any():
            raise DataError(f"`weights` must be finite, >= 0 and one per example, got {shown(weights)}")
    return counts_of_changes(true_class, side_a, side_b, m, w, ranges=ranges)


def counts_of_both(
    positive: BoolArray, score_a: Array, score_b: Array, thresholds_a: FloatArray, thresholds_b: FloatArray
) -> tuple[PairedCounts, PairedCounts]:
    """Return the paired counts of the positives and of the negatives among examples, from finite scores."""
    fast = compiled.loops()
    if fast is None or positive.size < _BUCKETS:
        pos, neg = (
            # Selecting by index is three times as fast as by mask if the classes are mixed.
            paired_counts(true_class, score_a.take(members), score_b.take(members), thresholds_a, thresholds_b)
            for true_class, members in (
                ("positive", np.flatnonzero(positive)),
                ("negative", np.flatnonzero(~positive)),
            )
        )
        return pos, neg
    checked = [_check_thresholds(*one)[::-1] for one in (("a", thresholds_a), ("b", thresholds_b))]
    searches = [compiled_search(increasing, [np.arange(increasing.size, -1, -1)]) for increasing in checked]
    return counts_of_searches(fast, positive, (score_a, score_b), searches, thresholds_a.size)


def counts_of_searches(
    fast: compiled.Loops,
    positive: BoolArray,
    scores: Sequence[Array],
    searches: Sequence[compiled.Search],
    steps: int,
    cells: IntArray | None = None,
) -> tuple[PairedCounts, PairedCounts]:
    """Return the paired counts of the positives and of the negatives by compiled loops, which also add to `cells`."""
    table = np.zeros((2, 3, steps + 1), np.int64)
    whole = all(score.dtype == np.float64 and score.flags.c_contiguous for score in scores)
    for some in [slice(None)] if whole else _blocks(positive.size):  # so that converted scores need little memory
        both = [score[some].astype(np.float64, copy=False) for score in scores]
        fast.count_changes(both, positive[some], searches, table, cells)
    found = []
    for label, order in ((1, [1, 0, 2]), (0, [0, 1, 2])):  # a positive is wrong before its prediction changes
        size = float(table[label, 0].sum())
        found.append(PairedCounts(*_discordant(table[label, order]), size, size))
    return found[0], found[1]


def counts_of_changes(
    true_class: str,
    side_a: IntArray,
    side_b: IntArray,
    m: int,
    weights: FloatArray | None = None,
    *,
    ranges: bool = False,
) -> PairedCounts:
    """Return the paired counts of examples whose predictions by a and b change at these of m points (m means never)."""
    if ranges:
        check_joint(m)
    table = None
    if ranges:
        cells = np.bincount(side_a * (m + 1) + side_b, weights, (m + 1) ** 2)
        table = ranges_of(true_class, cells.reshape(m + 1, m + 1))
    histograms = _histograms(*_in_order(true_class, side_a, side_b), m, weights)
    total = float(side_a.size if weights is None else weights.sum())
    squares = float(side_a.size if weights is None else (weights * weights).sum())
    return PairedCounts(*_discordant(histograms, None if weights is None else total), total, squares, table)


def _in_order(true_class: str, side_a: IntArray, side_b: IntArray) -> tuple[IntArray, IntArray]:
    """Return the points at which a alone begins, and ceases, to be wrong: it misses a positive before the change."""
    return (side_b, side_a) if true_class == "positive" else (side_a, side_b)


def ranges_of(true_class: str, cells: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return `PairedCounts.ranges` from the counts by where a (rows) and b (columns) begin to predict positive.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.paired.discordant import ranges_of
    >>> ranges_of("positive", np.array([[5, 2], [1, 4]])).tolist()
    [[5, 1], [2, 4]]
    """
    return frozen(cells.T if true_class == "positive" else cells)


def _histograms(first: IntArray, last: IntArray, m: int, w: FloatArray | None) -> npt.NDArray[Any]:
    """Return how many examples begin, end, or do the first of both, at each of m points or never; shape (3, m + 1)."""
    return np.stack([np.bincount(x, w, m + 1) for x in (first, last, np.minimum(first, last))])


def _discordant(histograms: npt.NDArray[Any], weight: float | None = None) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the counts of first <= point < last, and of last <= point < first, at every point."""
    begun, ended, opened = np.cumsum(histograms, axis=1)[:, :-1]
    # An example that has begun or ended, but has not ended (or has not begun), has only begun (or only ended).
    found = opened - ended, opened - begun
    if weight is None:
        return frozen(found[0]), frozen(found[1])
    # Sums of weights that cancel leave rounding errors, which may be negative and are set to zero.
    small = 1e-12 * weight
    return frozen(np.where(found[0] > small, found[0], 0.0)), frozen(np.where(found[1] > small, found[1], 0.0))


def first_positive_point(which: str, score: npt.ArrayLike, thresholds: npt.ArrayLike) -> tuple[IntArray, int]:
    """Return, for each example, the first operating point at which it is predicted positive, and the number of points.

    Examples
    --------
    >>> from costcurves.inference.paired.discordant import first_positive_point
    >>> first_positive_point("a", [0.2, 0.6, 0.9], [0.7, 0.5, 0.3])
    (array([3, 1, 0]), 3)
    """
    changes = _Changes(which, score, thresholds)
    return changes.of(slice(None)), changes.points


def _check_thresholds(which: str, thresholds: npt.ArrayLike) -> FloatArray:
    """Return thresholds after checking that they do not increase."""
    t = np.atleast_1d(np.asarray(thresholds, dtype=np.float64))
    if t.ndim != 1 or t.size == 0 or np.isnan(t).any() or (t[1:] > t[:-1]).any():
        raise InputError(f"`thresholds_{which}` must be nonincreasing without NaN, got {shown(thresholds)}")
    return t


class _Changes:
    """Finds the first operating point at which scores are predicted positive, for some of the scores at a time."""

    def __init__(self, which: str, score: npt.ArrayLike, thresholds: npt.ArrayLike) -> None:
        s, t = np.asarray(score, dtype=np.float64), _check_thresholds(which, thresholds)
        if s.ndim != 1 or np.isnan(s).any():
            raise DataError(f"`score_{which}` must be one-dimensional without NaN, got {shown(score)}")
        self.scores, self.points = s, t.size
        self._search = _searcher(t[::-1], s.size)

    def of(self, some: slice) -> IntArray:
        """Return the points at which some of the predictions change; the number of points for those that never do."""
        return np.asarray(self.points - _searched(self._search, self.scores[some]))


def at_or_below(increasing: FloatArray, values: FloatArray) -> IntArray:
    """Return `numpy.searchsorted(increasing, values, side="right")`, by a lookup table where that is faster."""
    return _searched(_searcher(increasing, values.size), values)


def _searched(search: Callable[[FloatArray], IntArray], values: FloatArray) -> IntArray:
    """Return what a search finds, some values at a time."""
    found: IntArray = np.empty(values.size, dtype=np.int64)
    for some in _blocks(values.size):
        found[some] = search(values[some])
    return found


def _blocks(size: int) -> list[slice]:
    """Return slices of examples whose intermediate arrays stay in the processor's cache."""
    return [slice(start, start + _BUCKETS) for start in range(0, size, _BUCKETS)]


def _searcher(increasing: FloatArray, size: int) -> Callable[[FloatArray], IntArray]:
    """Return a function that counts the entries at or below each value; it will be called for `size` values in all."""
    buckets = None if size < _BUCKETS else _Buckets.of(increasing, _BUCKETS)
    if buckets is None:
        return lambda values: np.asarray(np.searchsorted(increasing, values, side="right"))
    below = buckets.below(increasing)
    shared = np.diff(below) > 0

    def search(values: FloatArray) -> IntArray:
        codes = buckets.codes(values)
        found: IntArray = below.take(codes)
        unsure = np.flatnonzero(shared.take(codes))
        found[unsure] = np.searchsorted(increasing, values[unsure], side="right")
        return found

    return search


@dataclass(frozen=True, slots=True)
class _Buckets:
    """Buckets of numbers by a nondecreasing function.

    An entry in a lower bucket than a value is below the value, and one in a higher bucket is above it, so only values
    that share their bucket with an entry must be searched for.
    """

    low: float
    scale: float
    number: int

    @classmethod
    def of(cls, increasing: FloatArray, number: int) -> _Buckets | None:
        """Return buckets between the lowest and the highest finite entry; None if these are the same."""
        finite = increasing[np.isfinite(increasing)]
        with np.errstate(over="ignore", divide="ignore"):
            scale = number / (finite[-1] - finite[0]) if finite.size else 0.0
        return cls(float(finite[0]), float(scale), number) if 0 < scale < np.inf else None

    def codes(self, x: FloatArray) -> IntArray:
        """Return the bucket of each, from 0 to the number of buckets plus 1."""
        with np.errstate(over="ignore"):  # infinities are clipped
            place = x - self.low
            place *= self.scale
        np.clip(place, -1.0, self.number, out=place)
        return np.asarray(place.astype(np.int64) + 1)

    def below(self, increasing: FloatArray) -> IntArray:
        """Return how many entries are in lower buckets than each, and how many there are."""
        held = np.bincount(self.codes(increasing), minlength=self.number + 2)
        return np.concatenate(([0], np.cumsum(held)))


def compiled_search(increasing: FloatArray, changes: Sequence[IntArray]) -> compiled.Search:
    """Return thresholds in the form in which compiled loops search them; `changes` are those of `compiled.Search`."""
    buckets = _Buckets.of(increasing, _FEWER_BUCKETS)
    if buckets is None:  # a single bucket
        return compiled.Search(0.0, 0.0, np.array([0, 0, increasing.size, increasing.size]), increasing, changes)
    return compiled.Search(buckets.low, buckets.scale, buckets.below(increasing), increasing, changes)


def overlap(ranges: FloatArray) -> FloatArray:
    """Return the examples discordant at both of two operating points, of shape (points, points), from `ranges`."""
    m = ranges.shape[0] - 1
    table = np.triu(ranges, 1) + np.tril(ranges, -1).T
    # [i, j]: begun at or before i, ended after j.
    within = np.cumsum(table, axis=0)[:m]
    within = np.triu(np.cumsum(within[:, ::-1], axis=1)[:, ::-1][:, 1:])
    return np.asarray(within + np.triu(within, 1).T)


def joint_counts(negatives: npt.ArrayLike, positives: npt.ArrayLike) -> tuple[PairedCounts, PairedCounts]:
    """Return the discordant negatives and positives of two fixed classifiers, from the joint table of each class.

    Rows are the predictions of a, columns those of b; index 0 is negative, 1 is positive.
    """
    tables = []
    for name, given in (("negatives", negatives), ("positives", positives)):
        table = number_array(name, given)
        if table.shape != (2, 2) or not np.isfinite(table).all() or (table < 0).any():
            raise InputError(f"`{name}` must hold 2 x 2 counts >= 0, got {shown(given)}")
        if table.sum() == 0:
            raise DataError(f"`{name}` must hold examples, got none")
        tables.append(table)
    neg, pos = tables
    wrong = ((neg[1, 0], neg[0, 1], neg.sum()), (pos[0, 1], pos[1, 0], pos.sum()))
    first, second = (PairedCounts(frozen(np.array([a])), frozen(np.array([b])), n, n) for a, b, n in wrong)
    return first, second
