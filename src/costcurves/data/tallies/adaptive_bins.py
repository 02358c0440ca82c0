"""Bins that follow the data: as short as their number allows, for any scores and any order of the rows.

A bin is the range of keys from the lowest to the highest score that it holds. If there are too many bins, those of a
dyadic range (all keys that share their leading bits) are joined if together they hold little of either class. Two
dyadic ranges are nested or disjoint, so the bins of two parts of the data can be merged: a bin that overlaps others
absorbs them, and never grows beyond its own dyadic range. Bins are joined and never split, so the counts at their lower
ends stay exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError
from costcurves._base.validation import BoolArray, FloatArray, IntArray
from costcurves.counting import compiled, counts
from costcurves.counting.keys import ordered_keys, scores_of_keys
from costcurves.data.tallies.base import part
from costcurves.data.tallies.bin_table import BinTable
from costcurves.data.tallies.bins import CHUNK, FEWEST, MOST, Coder, ScoreBins

Array = npt.NDArray[Any]

SIGN = np.uint64(1 << 63)
BITS = 64
# Rows wait to be counted together: this many times the number of bins, within these limits.
WAITING, FEWEST_WAITING, MOST_WAITING = 4, 1 << 16, 1 << 20
# Bins of a fixed layout that hold more than this many times the fair share are looked into.
CROWDED = 3.0
# A fixed layout is given up if the share of a batch in bins that must be looked into grows by more than this.
STRANGE = 0.125
MOST_TAKEN = 0.5
FINER = 2  # how many times more bins the fixed layout has


class Ranges:
    """Disjoint ranges of keys in increasing order, with negatives and positives of each."""

    __slots__ = ("high", "low", "neg", "pos")

    def __init__(self, low: IntArray, high: IntArray, neg: Array, pos: Array) -> None:
        self.low, self.high, self.neg, self.pos = low, high, neg, pos

    @classmethod
    def none(cls, weighted: bool) -> Ranges:
        """Return an empty list of ranges."""
        kind = np.float64 if weighted else np.int64
        return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, kind), np.empty(0, kind))

    @classmethod
    def of_rows(cls, positive: BoolArray, scores: FloatArray, weights: FloatArray | None) -> Ranges:
        """Return a range for each distinct score."""
        if weights is None:
            table = counts.count_scores(positive, scores).wide()
        else:
            table = counts.count_weights(positive, scores, weights)
        key = ordered_keys(table.thresholds[:0:-1]).astype(np.int64, copy=False)
        return cls(key, key, np.diff(table.fp)[::-1], np.diff(table.tp)[::-1])

    @property
    def size(self) -> int:
        """The number of ranges."""
        return int(self.low.size)

    def joined(self, other: Ranges) -> Ranges:
        """Return the ranges of both; those that overlap are joined."""
        if not self.size or not other.size:
            return self if self.size else other
        low, high, neg, pos = (
            np.concatenate((getattr(self, name), getattr(other, name))) for name in ("low", "high", "neg", "pos")
        )
        order = np.argsort(low, kind="stable")  # which merges the two lists
        low, neg, pos = low[order], neg[order], pos[order]
        reach = np.maximum.accumulate(high[order])
        return Ranges(low, reach, neg, pos)._united(np.append(True, low[1:] > reach[:-1]))

    def _united(self, begins: BoolArray) -> Ranges:
        """Return the ranges after adding each that does not begin a new one to the one before it."""
        first = np.flatnonzero(begins)
        last = np.append(first[1:], begins.size) - 1
        return Ranges(
            self.low[first], self.high[last], np.add.reduceat(self.neg, first), np.add.reduceat(self.pos, first)
        )

    def mass(self, totals: tuple[float, float]) -> FloatArray:
        """Return the share of the negatives plus the share of the positives that each range holds."""
        neg, pos = totals
        share: FloatArray = self.neg / (neg or 1.0) + self.pos / (pos or 1.0)
        return share

    def coverage(self, most: int) -> int:
        """Return log2 of the length of the shortest dyadic ranges of which at most `most` hold examples."""
        low = self.low.view(np.uint64) ^ SIGN
        apart = np.bincount(_bit_length(low[1:] ^ low[:-1]), minlength=BITS + 1)
        beyond = np.cumsum(apart[::-1])[::-1]  # neighbours that differ in this bit or a higher one
        return int(np.flatnonzero(np.append(beyond[1:], 0) + 1 <= most)[0])

    def reduced(self, most: int, totals: tuple[float, float]) -> Ranges:
        """Return at most `most` ranges, by joining those whose dyadic range is short and holds little."""
        if self.size <= most:
            return self
        # Half of the bins are spread over all places that have scores, so that later rows find short bins there; the
        # others are for places with many scores.
        level, mass = self.coverage(most // 2), self.mass(totals)
        light = 2.0 / most  # the total mass is 2
        while True:
            begins = self._begins(level, mass, light)
            found = int(np.count_nonzero(begins))
            if found <= most:
                return self._united(begins)
            light *= max(1.5, 1.2 * found / most)

    def _begins(self, level: int, mass: FloatArray, light: float) -> BoolArray:
        """Return which ranges begin a new one if those in a dyadic range of little mass are joined."""
        low = self.low.view(np.uint64) ^ SIGN
        own = _bit_length(low ^ (self.high.view(np.uint64) ^ SIGN))
        apart = np.append(BITS + 1, _bit_length(low[1:] ^ low[:-1]))  # from the one before
        below = np.append(0.0, np.cumsum(mass))
        begins = np.ones(self.size, np.bool_)
        left = np.arange(self.size)
        while left.size:
            left = left[own[left] <= level]  # longer ones stay as they are
            if not left.size:
                break
            new = apart[left] > level
            new[1:] |= left[1:] != left[:-1] + 1
            new[0] = True
            first = np.flatnonzero(new)
            after = np.append(first[1:], left.size)
            few = below[left[after - 1] + 1] - below[left[first]] <= light
            inside = np.repeat(few, after - first)
            begins[left[inside & ~new]] = False
            left = left[np.repeat(~few & (after - first > 1), after - first)]
            level -= 1
        return begins


def _bit_length(values: npt.NDArray[np.uint64]) -> IntArray:
    """Return the number of bits of integers, which is 0 for zero."""
    top = values & ~(values >> np.uint64(1))  # keeps the highest bit, and what is left does not round up as a float
    return np.frexp(top.astype(np.float64))[1].astype(np.int64)


class AdaptiveTable:
    """Counts (or sums of weights) of negatives and positives in at most `most` bins, which follow the data.

    Rows like those before are counted in a fixed layout of bins, which is fast; only rows in bins that are too long or
    too full are looked at one by one.
    """

    def __init__(self, most: int, weighted: bool = False) -> None:
        self.most, self._weighted = most, weighted
        self._piece = min(max(WAITING * most, FEWEST_WAITING), MOST_WAITING)
        self._ranges = Ranges.none(weighted)
        self._waiting: list[tuple[BoolArray, FloatArray, FloatArray | None]] = []
        self._rows = 0
        self._fixed: _Fixed | None = None

    def add(self, positive: BoolArray, scores: Array, weights: FloatArray | None = None) -> None:
        """Take a batch; its arrays must not change afterwards."""
        self._waiting.append((positive, scores.astype(np.float64, copy=False), weights))
        self._rows += scores.size
        if self._rows >= self._piece:
            self._count()

    def merge(self, other: AdaptiveTable) -> None:
        """Add the counts of another part of the data."""
        self._join(other.ranges)

    @property
    def ranges(self) -> Ranges:
        """The bins with all that was counted."""
        self._settle()
        return self._ranges

    def _count(self) -> None:
        """Count the rows that wait."""
        if not self._waiting:
            return
        positive, scores = (np.concatenate([batch[i] for batch in self._waiting]) for i in (0, 1))
        given = [batch[2] for batch in self._waiting if batch[2] is not None]
        self._waiting, self._rows = [], 0
        if self._fixed is None or not self._fixed.add(positive, scores):
            self._leave()
            if scores.size >= self._piece and not self._weighted:
                fixed = _Fixed(positive, scores, self.most)
                self._fixed = fixed if fixed.suits else None
            if self._fixed is None:
                weights = np.concatenate(given) if given else None
                self._join(Ranges.of_rows(positive, scores, weights))
        if self._fixed is not None and self._fixed.held >= self._piece:
            self._join(self._fixed.taken())

    def _leave(self) -> None:
        """Give up the fixed layout, and keep what was counted in it."""
        if self._fixed is not None:
            self._join(self._fixed.taken())
            self._join(self._fixed.counted())
            self._fixed = None

    def _settle(self) -> None:
        self._count()
        self._leave()

    def _join(self, ranges: Ranges) -> None:
        self._ranges = self._ranges.joined(ranges)
        totals = float(self._ranges.neg.sum()), float(self._ranges.pos.sum())
        self._ranges = self._ranges.reduced(self.most, totals)

    def state(self) -> dict[str, Array]:
        """Return the bins and their counts."""
        ranges = self.ranges
        return {"low": ranges.low, "high": ranges.high, "neg": ranges.neg, "pos": ranges.pos}

    @classmethod
    def restored(cls, most: int, weighted: bool, arrays: dict[str, Array]) -> AdaptiveTable:
        """Restore a table from a state."""
        low, high = arrays["low"], arrays["high"]
        if low.ndim != 1 or low.dtype != np.int64 or high.dtype != np.int64 or high.shape != low.shape:
            raise DataError("bins must have the lowest and the highest key of each")
        if low.size > most or (low > high).any() or (low[1:] <= high[:-1]).any():
            raise DataError(f"bins must be at most {most} ranges in increasing order")
        table = cls(most, weighted)
        kind = table._ranges.neg.dtype
        neg, pos = (part(arrays, name, kind.kind, low.size).astype(kind) for name in ("neg", "pos"))
        table._ranges = Ranges(low, high, neg, pos)
        return table


class _Fixed:
    """Counts in a layout that suits some rows; keys of rows in bins that are too long or too full are kept apart."""

    def __init__(self, positive: BoolArray, scores: FloatArray, most: int) -> None:
        self.bins = ScoreBins.from_sample(scores, min(max(FINER * most, FEWEST), MOST))
        self._table = BinTable(self.bins)
        self._coder = Coder(self.bins)
        self._table.add(positive, scores)
        code, neg, pos = (array[::-1] for array in self._table.filled())
        low, shift = self.bins.keys_of(code)
        filled = Ranges(low, low, neg, pos)
        full = filled.mass((float(neg.sum()), float(pos.sum()))) > 2 * CROWDED / most
        level = filled.coverage(most // 2)
        self._taken = np.repeat(self.bins.shifts > level, np.diff(self.bins.starts))
        self._taken[code[full & (shift > 0)]] = True
        inside = self._taken[code]
        self._usual = float((neg + pos)[inside].sum() / scores.size)
        self._wanted: compiled.Wanted | None = None
        self._keys: tuple[list[Array], list[Array]] = ([], [])
        self.held = 0
        if self.suits:
            self._keep(self._found(positive, scores))

    @property
    def suits(self) -> bool:
        """Whether few rows have to be kept apart."""
        return self._usual <= MOST_TAKEN

    def add(self, positive: BoolArray, scores: FloatArray) -> bool:
        """Count rows; if they are not like those of the layout, return False and count nothing."""
        found = self._found(positive, scores)
        if found[0].size + found[1].size > (self._usual + STRANGE) * scores.size:
            return False
        self._table.add(positive, scores)
        self._keep(found)
        return True

    def _keep(self, found: tuple[Array, Array]) -> None:
        for kept, keys in zip(self._keys, found, strict=True):
            kept.append(keys)
            self.held += keys.size

    def _found(self, positive: BoolArray, scores: FloatArray) -> tuple[Array, Array]:
        """Return the keys of the negatives and of the positives that are kept apart."""
        fast = compiled.loops()
        if fast is not None:
            if self._wanted is None:
                none = np.zeros(np.count_nonzero(self._taken), np.int64)
                self._wanted = compiled.Wanted(self._taken, none, none)
            room = [np.empty(scores.size, np.int64) for _ in range(2)]
            neg, pos = fast.gather(scores, positive, self.bins.layout, self._wanted, room)
            return neg.copy(), pos.copy()
        place = []
        for start in range(0, scores.size, CHUNK):
            code = self._coder.codes(scores[start : start + CHUNK])
            place.append(np.flatnonzero(self._taken[code]) + start)
        rows = np.concatenate(place)
        keys, label = ordered_keys(scores[rows]), positive[rows]
        return keys[~label], keys[label]

    def taken(self) -> Ranges:
        """Return the rows that were kept apart, and forget them here."""
        if not self.held:
            return Ranges.none(weighted=False)
        neg, pos = (np.concatenate(keys) for keys in self._keys)
        self._keys, self.held = ([], []), 0
        label = np.zeros(neg.size + pos.size, np.bool_)
        label[neg.size :] = True
        return Ranges.of_rows(label, scores_of_keys(np.concatenate((neg, pos)), "float64"), None)

    def counted(self) -> Ranges:
        """Return the bins of all other rows."""
        code, neg, pos = self._table.filled()
        kept = np.flatnonzero(~self._taken[code])[::-1]
        low, shift = self.bins.keys_of(code[kept])
        return Ranges(low, low + ((np.int64(1) << shift) - 1), neg[kept], pos[kept])
