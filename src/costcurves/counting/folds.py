"""Cases divided into folds, each class by itself, and the counts of every fold at each distinct score.

The fold of a case follows from its rank among the cases of its class, and a random division of the ranks whose seed is
the counts of both classes at all scores, or, of very many cases, at the vertices of their hull. Cases of one class with
the same score are exchangeable, so the counts of a fold follow from the counts of all cases: arrays, dataframes, files
and tallies of the same cases have the same folds, whatever the order of the rows, and a monotone transform of the
scores changes nothing.

The seed depends on the counts because one division for all data sets of a size would favour some ranks over others, and
so would be biased: with ten cases of each class, it was by 2 % of the cost. Ranks are not dealt out
evenly along the scores either: folds that resemble the whole would hide how much a threshold depends on the sample.
Very many cases are not sorted to find the hull without each fold: only some of their points are counted, which lie
where such a hull can have a vertex.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError
from costcurves._base.validation import BoolArray, FloatArray, IntArray, frozen, is_missing_label
from costcurves.counting import compiled
from costcurves.counting.counts import MANY, ScoreCounts, effective_number, wide
from costcurves.counting.geometry import blocks_above, upper_hull

Array = npt.NDArray[Any]

MOST_COMPILED = 255  # folds whose numbers a byte holds
MOST_OF_A_CLASS = np.iinfo(np.int32).max  # cases that the compiled loops count
TOGETHER = 1 << 13  # counts that are mixed at once, in the processor's cache
SEED = 20_001  # of all divisions, beside the counts
FACTORS = (0xD6E8FEB86659FD93, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15)  # odd, of many bits


@dataclass(frozen=True, slots=True, eq=False)
class ClassFolds:
    """The cases of one class, from the highest score down.

    Attributes
    ----------
    reached : array of int, shape (points,)
        How many of the cases have a score at or above each threshold.
    fold : array of int, shape (cases,)
        The fold of each case, by its rank.
    weights : array of shape (cases,), or None
    """

    reached: IntArray
    fold: Array
    weights: FloatArray | None = None

    def split(self, k: int) -> tuple[Array, Array]:
        """Return the counts (sums of weights) of fold k, and those of all other cases, at or above each threshold."""
        own = self.fold == k
        if self.weights is None:
            inside = _cumulated(own).take(self.reached)
            return inside, self.reached - inside
        # Both are summed by themselves, because a difference of two sums would leave rounding errors.
        parts = (np.where(own, self.weights, 0.0), np.where(own, 0.0, self.weights))
        inside, outside = (_cumulated(part)[self.reached] for part in parts)
        return inside, outside

    def inside(self, k: int, points: IntArray, outside: Array) -> Array:
        """Return the counts (sums of weights) of fold k at or above some points, given those of all other cases."""
        if self.weights is None:
            return np.asarray(self.reached[points] - outside)
        return _cumulated(np.where(self.fold == k, self.weights, 0.0))[self.reached[points]]

    def whole(self) -> Array:
        """Return the counts (sums of weights) of all cases at or above each threshold."""
        return self.reached if self.weights is None else _cumulated(self.weights).take(self.reached)

    def effective(self, kept: BoolArray) -> float | None:
        """Return the effective number of some of the cases, None without weights."""
        return None if self.weights is None else effective_number(self.weights[kept])


@dataclass(frozen=True, slots=True, eq=False)
class FoldCounts:
    """The cases of both classes in folds, and the distinct scores as thresholds, from inf down."""

    thresholds: FloatArray
    neg: ClassFolds
    pos: ClassFolds
    number: int

    @classmethod
    def of_counts(cls, counts: ScoreCounts, division: tuple[Array, Array], number: int) -> FoldCounts:
        """Return one division of the cases (see `divided`), with the counts of all of them at some thresholds."""
        neg, pos = (ClassFolds(*one) for one in zip((counts.fp, counts.tp), division, strict=True))
        return cls(counts.thresholds, neg, pos, number)

    @classmethod
    def of_cases(
        cls, positive: BoolArray, scores: Array, weights: FloatArray | None, fold: IntArray, number: int
    ) -> FoldCounts:
        """Return the counts of cases whose folds are known; cases of weight 0 say nothing and are left out."""
        ranked = RankedCases.of(positive, scores, weights)
        neg, pos = (
            ClassFolds(reached, fold[rows], None if weights is None else weights[rows])
            for rows, reached in zip(ranked.rows, ranked.reached, strict=True)
        )
        return cls(ranked.thresholds, neg, pos, number)

    def same_cases(self, thresholds: FloatArray, fp: Array, tp: Array) -> bool:
        """Return whether these are the counts of all cases at the same thresholds."""
        return np.array_equal(self.thresholds, thresholds) and all(
            np.allclose(one.whole(), counts, rtol=1e-9) for one, counts in ((self.neg, fp), (self.pos, tp))
        )

    def complements(self) -> Iterator[tuple[IntArray, Array, Array]]:
        """Yield the points of all cases but those of a fold, fold by fold.

        Each has the indices of the points and the counts of the other cases there. Scores that only the fold has are no
        thresholds of the others, which have one point for several of them.
        """
        for fp, tp in self._outside():
            new = np.flatnonzero(np.append(True, (fp[1:] != fp[:-1]) | (tp[1:] != tp[:-1])))
            yield new, wide(fp[new]), wide(tp[new])

    def near_hulls(self) -> BoolArray:
        """Mark between which neighbouring points the hull of all cases but those of a fold may have a vertex.

        As in `hull_vertices`, there is no vertex between two points if their upper-left corner is not above the hull of
        all points. The last score before a vertex is the threshold of the vertex.
        """
        near = np.zeros(self.thresholds.size - 1, np.bool_)
        for index, fp, tp in self.complements():
            hull = upper_hull(fp, tp)
            opened = blocks_above(fp, tp, hull)
            opened[hull[1:] - 1] = True
            near[index[1:][opened] - 1] = True  # nothing else has been counted since the point before
        return near

    def _outside(self) -> Iterator[tuple[Array, Array]]:
        """Yield the counts (sums of weights) of all cases but those of a fold at or above each threshold."""
        fast, both = compiled.loops(), (self.neg, self.pos)
        largest = max(one.fold.size for one in both)
        if fast is None or self.neg.weights is not None or self.number > MOST_COMPILED or largest > MOST_OF_A_CLASS:
            yield from ((self.neg.split(k)[1], self.pos.split(k)[1]) for k in range(self.number))
        else:
            # The narrower, the faster.
            narrow = [(one.reached.astype(np.int32), one.fold.astype(np.uint8, copy=False)) for one in both]
            found = [fast.outside_folds(*one, self.number) for one in narrow]
            yield from zip(*found, strict=True)

    def part(self, k: int, *, others: bool) -> tuple[ScoreCounts, tuple[float, float] | None]:
        """Return the counts of fold k, or of all others, at their own scores, and effective numbers if weighted."""
        fp, tp = (one.split(k)[others] for one in (self.neg, self.pos))
        own = np.append(True, (np.diff(fp) != 0) | (np.diff(tp) != 0))
        sizes = tuple(one.effective((one.fold == k) != others) for one in (self.pos, self.neg))
        effective = None if sizes[0] is None or sizes[1] is None else (sizes[0], sizes[1])
        return ScoreCounts(self.thresholds[own], fp[own], tp[own]), effective


def _cumulated(values: Array) -> Array:
    """Return the sums of the first 0, 1, ... values."""
    whole = np.int32 if values.size <= np.iinfo(np.int32).max else np.int64  # the narrower, the faster
    total = np.zeros(values.size + 1, np.float64 if values.dtype.kind == "f" else whole)
    np.cumsum(values, out=total[1:])
    return total


def divided(fp: Array, tp: Array, number: int, division: int) -> tuple[Array, Array]:
    """Return the fold of each rank of the negatives and of the positives.

    A class has as many cases in each fold as in any other, or one more, at random; in a class of very many cases, each
    has any fold with the same probability.

    Parameters
    ----------
    fp, tp : arrays of int, shape (points,)
        How many negatives and positives have a score at or above each threshold. Of very many cases, only the counts at
        the vertices of the hull matter.
    number : int
        The folds.
    division : int
        Which one of several divisions of the same cases.

    Notes
    -----
    The random numbers are those of a bit generator, whose stream NumPy keeps from version to version.
    """
    sizes = int(fp[-1]), int(tp[-1])
    if sum(sizes) >= MANY:
        vertex = upper_hull(wide(fp), wide(tp))
        fp, tp = fp[vertex], tp[vertex]
    seed = 0
    for start in range(0, fp.size, TOGETHER):
        x, y = (counts[start : start + TOGETHER].astype(np.uint64) for counts in (fp, tp))
        x *= np.uint64(FACTORS[0])
        x += y
        seed += int(_mixed(x).sum())
    seed %= 2**64
    neg, pos = (
        _fold_numbers(np.random.PCG64([SEED, which, division, seed]), size, number) for which, size in enumerate(sizes)
    )
    return neg, pos


def _fold_numbers(random: np.random.PCG64, size: int, number: int) -> Array:
    """Return folds of equal size, by the order of random numbers, or of very many cases just random folds."""
    if size >= MANY and number <= MOST_COMPILED:
        # Four folds from each number of 64 bits, whose lowest 16 come first on every machine.
        parts = random.random_raw(-(-size // 4)).astype("<u8", copy=False).view("<u2")[:size]
        fold = np.zeros(size, np.uint8)
        for k in range(1, number):
            fold += parts >= (k << 16) // number
        return fold
    drawn = random.random_raw(size)
    ends = np.arange(1, number) * size // number
    if not ends.size:
        return np.zeros(size, dtype=np.int64)
    return np.searchsorted(np.partition(drawn, ends)[ends], drawn, side="right")


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return numbers that look random, the same for the same values."""
    for factor in FACTORS[1:]:
        values += np.uint64(1)
        values *= np.uint64(factor)
        values ^= values >> np.uint64(29)
    return values


@dataclass(frozen=True, slots=True, eq=False)
class RankedCases:
    """The negatives and the positives that have weight, from the highest score down.

    Attributes
    ----------
    thresholds : array of shape (points,)
        inf, and the distinct scores.
    rows : (negatives, positives)
        Where each case stands in the data, by its rank.
    reached : (negatives, positives)
        How many cases have a score at or above each threshold.
    """

    thresholds: FloatArray
    rows: tuple[IntArray, IntArray]
    reached: tuple[IntArray, IntArray]

    @classmethod
    def of(cls, positive: BoolArray, scores: Array, weights: FloatArray | None) -> RankedCases:
        """Return the cases in order; those of one score are ordered by their weights."""
        keys = [key for key in (weights, scores) if key is not None]
        kept = np.ones(positive.size, dtype=np.bool_) if weights is None else weights > 0
        rows, ordered = [], []
        for members in (np.flatnonzero(~positive & kept), np.flatnonzero(positive & kept)):
            chosen = [key[members] for key in keys]
            order = np.lexsort(chosen) if len(chosen) > 1 else np.argsort(chosen[0], kind="stable")
            rows.append(members[order[::-1]])
            ordered.append(chosen[-1][order].astype(np.float64) + 0.0)  # -0.0 is 0.0
        distinct = np.unique(np.concatenate(ordered))[::-1]
        neg, pos = (np.append(0, one.size - np.searchsorted(one, distinct, side="left")) for one in ordered)
        return cls(np.append(np.inf, distinct), (rows[0], rows[1]), (neg, pos))


def case_folds(positive: BoolArray, scores: Array, weights: FloatArray | None, number: int, repeats: int) -> IntArray:
    """Return the fold of each case in some divisions, of shape (repeats, cases); 0 for cases without weight."""
    ranked = RankedCases.of(positive, scores, weights)
    folds = np.zeros((repeats, positive.size), dtype=np.int64)
    for division, fold in enumerate(folds):
        for rows, numbers in zip(ranked.rows, divided(*ranked.reached, number, division), strict=True):
            fold[rows] = numbers
    return folds


def class_sizes(positive: BoolArray, weights: FloatArray | None) -> tuple[int, int]:
    """Return how many positives and negatives there are, without those of weight 0."""
    kept = positive if weights is None else positive[weights > 0]
    n_pos = int(np.count_nonzero(kept))
    return n_pos, kept.size - n_pos


def largest_number(n_pos: int, n_neg: int, wanted: int) -> int:
    """Return how many folds there can be, each with cases of both classes: at most as many as were wanted."""
    fewest = min(n_pos, n_neg)
    if fewest < 2:
        small = "positive" if n_pos <= n_neg else "negative"
        raise DataError(
            "`y_true` must hold two examples or more of each class, so that others can choose the threshold of each, "
            f"got {n_pos} positive and {n_neg} negative: the {small} class has {fewest}"
        )
    return min(wanted, fewest)


def check_complements(table: FoldCounts) -> None:
    """Raise an error unless both classes have weight outside every fold."""
    for name, one in (("positive", table.pos), ("negative", table.neg)):
        held = np.bincount(one.fold, minlength=table.number)
        if (held == one.fold.size).any():
            raise DataError(
                "`folds` must leave examples of both classes outside every fold, to choose its thresholds, "
                f"got all {one.fold.size} {name} ones in fold {int(held.argmax())}"
            )


def fold_numbers(folds: npt.ArrayLike, size: int) -> IntArray:
    """Number the folds from 0."""
    try:
        values = np.asarray(folds)
    except ValueError:  # rows of different lengths
        values = np.empty(0)
    if values.shape != (size,):
        raise InputError(f"`folds` must have one entry per example, shape ({size},), got {values.shape}")
    lacking = [is_missing_label(value) for value in values.tolist()]
    if any(lacking):
        raise InputError(f"`folds` must not have missing values, got {sum(lacking)} of {size}")
    return frozen(np.unique(values, return_inverse=True)[1].astype(np.int64))
