"""Counts of negatives and positives in the bins of a layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError
from costcurves._base.validation import BoolArray, FloatArray, IntArray
from costcurves.counting import compiled
from costcurves.counting.keys import ordered_keys
from costcurves.data.tallies.base import part
from costcurves.data.tallies.bins import CHUNK, Coder, ScoreBins

Array = npt.NDArray[Any]
MOST_BINS = 1 << 20  # with more bins the keys would take too much memory
MOST_MIXED = 1 << 10


class SingleScores:
    """The key of the single score in each bin, as long as few bins are mixed.

    If more than MOST_MIXED bins hold several scores, the data have few ties, and `add` and `merge` return False. That
    depends only on all of the data, and not on the order of adding and merging.
    """

    def __init__(self, bins: int, integer: Any) -> None:
        self._none = np.iinfo(integer).min  # the key of no finite score
        self._held: Array = np.full(bins, self._none, integer)
        self._mixed = np.zeros(bins, np.bool_)

    def add(self, code: IntArray, key: Array) -> bool:
        """Add the keys of scores in bins; return False if too many bins are mixed."""
        other = np.flatnonzero(self._held[code] != key)
        if not other.size:
            return True
        code, key = code[other], key[other]
        new = self._held[code] == self._none
        self._held[code[new]] = key[new]  # any one of them, if a bin occurs several times
        return self._mix(code[self._held[code] != key])

    def _mix(self, code: IntArray) -> bool:
        fresh = code[~self._mixed[code]]
        if fresh.size:
            self._mixed[fresh] = True
        return not fresh.size or int(np.count_nonzero(self._mixed)) <= MOST_MIXED

    def merge(self, other: SingleScores) -> bool:
        """Add the bins of another part of the data; return False if too many bins are mixed."""
        return self.fill(other.state())

    def single(self, code: IntArray) -> BoolArray:
        """Return which of some filled bins hold a single score."""
        return ~self._mixed[code]

    def keys(self, code: IntArray) -> IntArray:
        """Return the key of the score in some filled bins; if there are several scores, that of any one of them."""
        return self._held[code].astype(np.int64)

    def state(self) -> dict[str, Array]:
        """Return the bins of a single score with their keys, and the bins of several scores."""
        single = np.flatnonzero((self._held != self._none) & ~self._mixed)
        return {"single": single, "key": self._held[single], "mixed": np.flatnonzero(self._mixed)}

    def fill(self, state: dict[str, Array]) -> bool:
        """Add a state."""
        return self.add(state["single"], state["key"]) and self._mix(state["mixed"])


class BinTable:
    """Counts (or sums of weights) of negatives and positives in the bins of a layout.

    On request, and as long as scores have many ties, it knows which bins hold a single score.
    """

    def __init__(self, bins: ScoreBins, weighted: bool = False, ties: bool = False) -> None:
        self.bins = bins
        self._singles = SingleScores(bins.size, bins.integer) if ties and bins.size <= MOST_BINS else None
        self._weighted = weighted
        self._rows = 0
        self._coder: Coder | None = None
        self._table: Array | None = None
        self._bytes: compiled.ByteCounts | None = None  # counts that are not yet in the table

    def add(self, positive: BoolArray, scores: Array, weights: FloatArray | None = None) -> None:
        """Count a batch of scores of the layout's type."""
        self._room(scores.size)
        fast = compiled.loops() if weights is None else None
        if fast is not None:
            if self._bytes is None:
                self._bytes = compiled.ByteCounts(self.bins.size)
            fast.count(scores, positive, self.bins.layout, self._bytes)
        else:
            self._add_by_numpy(positive, scores, weights)
        for start in range(0, scores.size, CHUNK):
            if self._singles is None:
                break
            some = scores[start : start + CHUNK]
            if not self._singles.add(self._codes(some), ordered_keys(some)):
                self._singles = None

    def _add_by_numpy(self, positive: BoolArray, scores: Array, weights: FloatArray | None) -> None:
        table = self.table
        one = table.dtype.type(1)
        for start in range(0, scores.size, CHUNK):
            span = slice(start, start + CHUNK)
            np.add.at(table, self._codes(scores[span], positive[span]), one if weights is None else weights[span])

    def _codes(self, scores: Array, positive: BoolArray | None = None) -> IntArray:
        if self._coder is None:
            self._coder = Coder(self.bins)
        return self._coder.codes(scores, positive)

    @property
    def table(self) -> Array:
        """The counts of all bins, negatives and positives in turn."""
        if self._table is None:
            self._table = np.zeros(2 * self.bins.size, self._kind())
        if self._bytes is not None:
            self._bytes.add_to(self._table)
            self._bytes = None
        return self._table

    @property
    def byte_counts(self) -> compiled.ByteCounts | None:
        """The counts in the form of the compiled loops, if there are no others."""
        return self._bytes if self._table is None else None

    def merge(self, other: BinTable) -> None:
        """Add the counts of another table of the same layout."""
        self._room(other._rows)
        fast = compiled.loops()
        if fast is not None and other.byte_counts is not None:
            if self._bytes is None:
                self._bytes = compiled.ByteCounts(self.bins.size)
            fast.add_counts(self._bytes, other.byte_counts)
        else:
            table = self.table
            table += other.table  # the type follows from the rows of both, so that it holds the sums
        if other._singles is None or (self._singles is not None and not self._singles.merge(other._singles)):
            self._singles = None

    def _kind(self) -> Any:
        """Return the type of the counts; the smaller it is, the more of the table stays in the cache."""
        if self._weighted:
            return np.float64
        return np.uint32 if self._rows <= np.iinfo(np.uint32).max else np.int64

    def _room(self, rows: int) -> None:
        """Make room for the counts of more rows, before any of them can overflow."""
        self._rows += rows
        if self._table is not None:
            self._table = self._table.astype(self._kind(), copy=False)

    def filled(self) -> tuple[IntArray, Array, Array]:
        """Return the bins that hold examples, from the highest scores down, with negatives and positives of each."""
        pairs = self.table.reshape(-1, 2)
        code = np.flatnonzero((pairs[:, 0] != 0) | (pairs[:, 1] != 0))[::-1]
        kind = np.float64 if self.table.dtype.kind == "f" else np.int64
        neg, pos = (pairs[code, i].astype(kind, copy=False) for i in (0, 1))
        return code, neg, pos

    def single(self, code: IntArray) -> BoolArray:
        """Return which of some filled bins are known to hold a single score."""
        return np.zeros(code.size, np.bool_) if self._singles is None else self._singles.single(code)

    def keys_of(self, code: IntArray) -> tuple[IntArray, IntArray]:
        """Return the lowest key of some filled bins, and log2 of their length, which is 0 if they hold one score."""
        low, shift = self.bins.keys_of(code)
        if self._singles is None:
            return low, shift
        single = self._singles.single(code)
        return np.where(single, self._singles.keys(code), low), np.where(single, 0, shift)

    def state(self) -> dict[str, Array]:
        """Return the layout and the counts that are not zero."""
        place = np.flatnonzero(self.table)
        ties = {} if self._singles is None else self._singles.state()
        return {"shifts": self.bins.shifts, "place": place, "counts": self.table[place], **ties}

    @classmethod
    def restored(cls, dtype: str, arrays: dict[str, Array]) -> BinTable:
        """Restore a table from a state."""
        table = cls(ScoreBins(dtype, arrays["shifts"]), arrays["counts"].dtype.kind == "f", "single" in arrays)
        table.fill(arrays)
        if table._singles is not None:
            single = part(arrays, "single", "iu", most=table.bins.size)
            mixed = part(arrays, "mixed", "iu", most=table.bins.size)
            key = arrays["key"]
            if key.dtype != table.bins.integer or key.shape != single.shape:
                raise DataError("key must have one value per bin of a single score")
            table._singles.fill({"single": single, "key": key, "mixed": mixed})
        return table

    def fill(self, arrays: dict[str, Array]) -> None:
        """Set the counts of an empty table to those of a state."""
        place = part(arrays, "place", "iu", most=2 * self.bins.size)
        found = part(arrays, "counts", "f" if self._weighted else "iu", place.size)
        if found.dtype.kind != "f":
            self._room(int(found.sum()))
        self.table[place] = found
