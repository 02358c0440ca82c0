"""The compiled loops of loops.c for very many scores, if the package was installed with a C compiler.

Everything works without them, by NumPy and with the same results bit for bit; they make hulls and scans of large data
about twice as fast. The environment variable COSTCURVES_COMPILED=0 turns them off.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import BoolArray, FloatArray, IntArray

Array = npt.NDArray[Any]

SWITCH = "COSTCURVES_COMPILED"
VERSION = 14  # of the library
WRITTEN = np.iinfo(np.int64).min  # the slot of bins whose members are written, not counted
FEW = 4096  # NumPy sorts up to this many keys faster
BINS_TOGETHER = 16  # the number of bins in a block of `cut`
LIBRARY = Path(__file__).with_name("_loops" + {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so"))
# The arguments of each loop: p is a pointer, n an integer and d a double; what it returns comes after the arrow.
SIGNATURES = {
    "version": ">n",
    "count_float32": "ppnpnpp>n",
    "count_float64": "ppnpnpp>n",
    "add_counts": "ppppn",
    "gather_float32": "ppnppppp",
    "gather_float64": "ppnppppp",
    "cut": "ppnppppppppp>n",
    "refine_float32": "ppppnpnpppnpnp>n",
    "refine_float64": "ppppnpnpppnpnp>n",
    "zeros_and_ones": "pnp>n",
    "pack_float32": "ppndp>n",
    "pack_float64": "ppndp>n",
    "sort_float32": "ppn>n",
    "sort_float64": "ppn>n",
    "unpack_float32": "pnnpp>n",
    "unpack_float64": "pnnpp>n",
    "count_lasting": "ppnppnp",
    "count_changes": "pppnpppnpnp",
    "reach": "ppnnnpppp",
    "least_sums": "ppppnnpnpp",
    "upper_hull": "ppnp>n",
    "blocks_above": "pppnp",
    "outside_folds": "ppnnp",
}


@cache
def loops() -> Loops | None:
    """Load the compiled loops. Return None if they were not built or are turned off."""
    if os.environ.get(SWITCH, "1").strip().lower() in ("0", "no", "off", "false"):
        return None
    try:
        found = Loops(LIBRARY)
    except (OSError, AttributeError):  # not built, or built for another machine
        return None
    return found if found.version == VERSION else None


class Loops:
    """The loops of a library, called with arrays. They release the lock of the interpreter."""

    def __init__(self, path: Path) -> None:
        self.path = path
        library = ctypes.CDLL(str(path))
        kinds = {"p": ctypes.c_void_p, "n": ctypes.c_int64, "d": ctypes.c_double}
        for name, signature in SIGNATURES.items():
            arguments, _, answer = signature.partition(">")
            function = getattr(library, name)
            function.argtypes = [kinds[kind] for kind in arguments]
            function.restype = kinds[answer] if answer else None
        self._library = library
        self.version: int = library.version()

    def count(self, scores: Array, positive: BoolArray, layout: Layout, counts: ByteCounts) -> int:
        """Count float scores in bins, and return how many bytes overflowed."""
        scores, positive = _plain(scores), _plain(positive)
        loop, bins = self._loop("count", scores), counts.small.size // 2
        full: int = loop(_at(scores), _at(positive), scores.size, layout.address, bins, *counts.addresses)
        return full

    def add_counts(self, counts: ByteCounts, other: ByteCounts) -> None:
        """Add counts to others that have the same number of places."""
        self._library.add_counts(*counts.addresses, *other.addresses, counts.small.size)

    def gather(
        self, scores: Array, positive: BoolArray, layout: Layout, wanted: Wanted, keys: Sequence[Array]
    ) -> tuple[Array, Array]:
        """Count members of wanted bins by key, and return the keys of the negatives and positives that are not counted.

        The keys are written to the two buffers `keys`, each of which must have room for all scores.
        """
        scores, positive = _plain(scores), _plain(positive)
        found = np.empty(2, np.int64)
        loop = self._loop("gather", scores)
        loop(_at(scores), _at(positive), scores.size, layout.address, wanted.address, *map(_at, keys), _at(found))
        return keys[0][: found[0]], keys[1][: found[1]]

    def cut(self, counts: ByteCounts, full: int = 1) -> tuple[IntArray, IntArray, IntArray, BoolArray]:
        """Find the parts of the chain of filled bins: highest bin, negatives, positives, and whether it is wanted.

        `full` may be 0 if no byte overflowed.
        """
        bins = counts.small.size // 2
        # Most of this memory is never touched, and so is never really allocated.
        room, wanted = np.empty((6, bins + 1), np.int64), np.empty(bins, np.bool_)
        blocks = np.empty((2, bins // BINS_TOGETHER + 1), np.int64)
        small, carries = counts.addresses
        rows = *_rows_at(room), *_rows_at(blocks)
        parts = self._library.cut(small, carries if full else None, bins, *rows, _at(wanted))
        code, neg, pos = room[3:6, :parts].copy()
        return code, neg, pos, wanted[:parts].copy()

    def refine(
        self, low: IntArray | None, shift: IntArray, counts: Sequence[IntArray], wanted: Wanted, keys: Sequence[Array]
    ) -> tuple[IntArray, ...] | None:
        """Find the vertices of the hull of a chain whose open parts are replaced by their members.

        The chain is given by the lowest key, the shift and the counts of negatives and positives of its parts. `keys`
        holds the sorted keys of negatives and of positives that were not counted by key; if `low` is None, no member
        was, and each open part takes as many keys as it has members. For the origin and then for each vertex, the
        result has x, y, low, shift, neg, pos and the lowest key of the part after it (for the origin only x, y and that
        key matter). It is None if a part has other members than the chain says.
        """
        neg, pos = keys
        room = np.empty((7, shift.size + wanted.slots + neg.size + pos.size + 1), np.int64)
        edges = np.empty((2, shift.size + 1), np.int64)
        rows = (ctypes.c_void_p * 9)(*_rows_at(room), *_rows_at(edges))
        parts = [_plain(values) for values in (shift, *counts)]
        lowest = None if low is None else _plain(low)
        size = self._loop("refine", neg)(
            None if lowest is None else _at(lowest),
            *map(_at, parts),
            shift.size,
            _at(wanted.slot),
            wanted.slot.size,
            *wanted.counts.addresses,
            _at(neg),
            neg.size,
            _at(pos),
            pos.size,
            ctypes.addressof(rows),
        )
        return None if size < 0 else tuple(room[:, :size].copy())

    def zeros_and_ones(self, labels: IntArray) -> BoolArray | None:
        """Mark the ones of int64 labels; None unless all labels are 0 or 1 and both occur."""
        labels = _plain(labels)
        positive = np.empty(labels.size, np.bool_)
        return positive if self._library.zeros_and_ones(_at(labels), labels.size, _at(positive)) == 1 else None

    def packed(self, scores: Array, positive: BoolArray, largest: float) -> Packed | None:
        """Pack scores and labels; None if the sizes of scores are so far apart that a key has no room for the label.

        `largest` is the largest absolute value of the scores.
        """
        scores, positive = _plain(scores), _plain(positive)
        room = np.empty(scores.size + 1, scores.dtype)
        loop = self._loop("pack", scores)
        offset = loop(_at(scores), _at(positive), scores.size, largest, _at(room) + room.itemsize)
        return None if offset < 0 else Packed(room, offset)

    def sort(self, keys: Array, room: Array) -> None:
        """Sort at most 2^31 - 1 keys (int32 or int64) in place. `room` is overwritten, and must not be smaller."""
        loop = self._loop("sort", keys)
        if keys.size < FEW or not loop(_at(keys), _at(room), keys.size):
            keys.sort()

    def unpacked(self, packed: Packed) -> tuple[Array, Array, Array]:
        """Find the distinct scores from the highest down, and the negatives and positives at and above each (int32).

        The first entry is inf, at no examples. The memory of the packed scores becomes that of the distinct ones.
        """
        room, offset = packed
        keys = room.view(f"i{room.itemsize}")
        both = np.empty((2, room.size), np.int32)  # fresh memory is found much faster for one large array than for two
        self.sort(keys[1:], both)
        size = self._loop("unpack", room)(_at(keys), keys.size - 1, offset, *_rows_at(both))
        room[0] = np.inf
        del keys  # it is a view of an array that is shortened now
        neg, pos = both[:, :size] if 2 * size > room.size else both[:, :size].copy()
        room.resize(size, refcheck=False)
        return room, neg, pos

    def upper_hull(self, x: IntArray, y: IntArray) -> IntArray:
        """Find the indices of the hull's vertices, as `geometry.upper_hull` does for counts."""
        x, y = _plain(x), _plain(y)
        vertex = np.empty(x.size, np.int64)
        return vertex[: self._library.upper_hull(_at(x), _at(y), x.size, _at(vertex))].copy()

    def blocks_above(self, x: IntArray, y: IntArray, hull: IntArray) -> BoolArray:
        """Mark the blocks that may hold a vertex, as `geometry.blocks_above` does for counts."""
        x, y, hull = _plain(x), _plain(y), _plain(hull)
        above = np.empty(x.size - 1, np.bool_)
        self._library.blocks_above(_at(x), _at(y), _at(hull), hull.size, _at(above))
        return above

    def outside_folds(self, reached: Array, fold: Array, folds: int) -> Array:
        """Count the cases outside each fold, at and above each point, of shape (folds, points).

        `reached` (int32) has the cases at and above each point, and `fold` (uint8) the folds of the ranked cases.
        """
        outside = np.empty((folds, reached.size), np.int32)
        self._library.outside_folds(_at(reached), _at(fold), reached.size, folds, _at(outside))
        return outside

    def count_lasting(self, values: FloatArray, draws: IntArray, search: Search, points: int) -> IntArray:
        """Count the draws of each row at each point, of shape (rows, points); a draw lasts from one point to another.

        `values` are those of `draws[0]` draws of the first row, `draws[1]` of the second, and so on. The two lists of
        changes of `search` have the point at which a draw begins, and the point before which it ends.
        """
        values, draws = _plain(values), _plain(draws)
        counts = np.zeros((draws.size, points), np.int64)
        ends = (ctypes.c_void_p * 2)(*map(_at, search.changes))
        where = search.address, ctypes.addressof(ends)
        self._library.count_lasting(_at(values), _at(draws), draws.size, *where, points, _at(counts))
        return counts

    def count_changes(
        self,
        scores: Sequence[FloatArray],
        positive: BoolArray,
        searches: Sequence[Search],
        table: IntArray,
        cells: IntArray | None = None,
    ) -> None:
        """Add to `table` at which steps two classifiers begin to predict examples positive.

        It has shape (2, 3, steps + 1): for negatives and for positives, the steps at which the first classifier, the
        second, and the earlier of the two begin; the last entry counts the examples for which that never happens. If
        `cells` is given, of shape (2, points + 1, points + 1), add to it the examples by the second list of changes of
        both classifiers.
        """
        a, b = (_plain(some) for some in scores)
        positive = _plain(positive)
        lists = [search.changes for search in searches]
        changes = (ctypes.c_void_p * 4)(*(_at(of[i]) for i in range(len(lists[0])) for of in lists))
        where = *(search.address for search in searches), ctypes.addressof(changes)
        last = 0 if cells is None else cells.shape[2] - 1, None if cells is None else _at(cells)
        self._library.count_changes(
            _at(a), _at(b), _at(positive), a.size, *where, table.shape[2] - 1, _at(table), *last
        )

    def reach(
        self,
        room: FloatArray,
        place: FloatArray,
        row: IntArray,
        total: FloatArray,
        reached: IntArray,
        values: FloatArray | None = None,
    ) -> None:
        """Write how many atoms of a second variable are reached at `room + place`, at most the columns of `total`.

        If `values` is given, also write the distribution function of the second variable there, from a `row` of
        `total`. Arrays must be contiguous; `room`, `reached` and `values` have one row per point and one column per
        atom of the first variable.
        """
        self._library.reach(
            _at(room),
            _at(place),
            *room.shape,
            total.shape[1] - 1,
            _at(reached),
            _at(row),
            _at(total),
            None if values is None else _at(values),
        )

    def least_sums(
        self, falling: FloatArray, rising: FloatArray, known: Sequence[FloatArray], weights: FloatArray
    ) -> FloatArray:
        """Return how much less the least of ``weight * falling + (1 - weight) * rising`` is than `known` values say.

        The result has shape (weights, rows). Rows of `falling` never rise, those of `rising` never fall, `known` has
        one value of both for each column, and all are in [0, 1]; weights increase.
        """
        tables = [_plain(values) for values in (falling, rising, *known)]
        weights, room = _plain(weights), np.empty(falling.shape[1])
        less = np.empty((weights.size, falling.shape[0]))
        self._library.least_sums(*map(_at, tables), *falling.shape, _at(weights), weights.size, _at(room), _at(less))
        return less

    def _loop(self, name: str, values: Array) -> Any:
        return getattr(self._library, f"{name}_float{8 * values.itemsize}")


class Packed(NamedTuple):
    """Scores and labels in one integer each, from the second place of `room` on, in the order of the examples."""

    room: Array
    offset: int

    def cases(self) -> tuple[BoolArray, Array]:
        """Return the labels and the scores, before `Loops.unpacked` takes the memory."""
        keys = self.room[1:].view(f"i{self.room.itemsize}")
        positive = np.bitwise_and(keys, 1, out=np.empty(keys.size, np.bool_), casting="unsafe")
        sizes = keys >> 1  # negative where the score is positive
        below = sizes > 0
        np.abs(sizes, out=sizes)
        if self.offset:
            np.add(sizes, sizes.dtype.type(self.offset), out=sizes, where=sizes != 0)
        scores = sizes.view(self.room.dtype)
        np.negative(scores, out=scores, where=below)
        return positive, scores


class ByteCounts:
    """Counts of negatives and positives at several places: one byte each, and how often each byte overflowed."""

    def __init__(self, places: int) -> None:
        self.small = np.zeros(2 * places, np.uint8)
        self.carries = np.zeros(2 * places, np.uint32)
        self.addresses = (_at(self.small), _at(self.carries))

    def take_out(self, place: int) -> IntArray:
        """Set the counts of a place to 0, and return those of negatives and positives that it had."""
        both = slice(2 * place, 2 * place + 2)
        counts: IntArray = self.small[both] + (self.carries[both].astype(np.int64) << 8)
        self.small[both], self.carries[both] = 0, 0
        return counts

    def add_to(self, table: Array) -> None:
        """Add the counts to a table of the same size."""
        table += self.small
        full = np.flatnonzero(self.carries)
        table[full] += self.carries[full].astype(table.dtype) << 8

    def total(self) -> IntArray:
        """Return the counts of all places, negatives and positives in turn."""
        table = np.zeros(self.small.size, np.int64)
        self.add_to(table)
        return table


class _LayoutFields(ctypes.Structure):
    _fields_ = (
        ("low_bits", ctypes.c_int64),
        ("shifts", ctypes.c_void_p),
        ("base", ctypes.c_void_p),
        ("lowest", ctypes.c_double),
        ("highest", ctypes.c_double),
        ("sign", ctypes.c_double),
        ("offset", ctypes.c_double),
        ("scale", ctypes.c_double),
        ("above", ctypes.c_int64),
        ("below", ctypes.c_int64),
    )


@dataclass(frozen=True, slots=True)
class Even:
    """A range of absolute values of scores in which all bins have the same length.

    The bin is floor((score - offset) * scale) + above, or + below for negative scores; for float32 scores it may be
    computed in float32.
    """

    lowest: float  # -inf if all scores are in the range, so that none need be checked
    highest: float
    scale: float
    above: int = 0
    below: int = 0
    sign: float = 1.0  # -1 if the same holds for negative scores of these sizes
    offset: float = 0.0


class Layout:
    """A layout of bins in the form that the loops read.

    Parameters
    ----------
    low_bits : int
        The bits of a key below its cell, of which there are 4096.
    shifts, base : arrays of int64, one value per cell
        The bin of a key is ``(key >> shift) + base``.
    even : Even, optional
        A range of scores whose bins are found faster.
    """

    def __init__(self, low_bits: int, shifts: IntArray, base: IntArray, even: Even | None) -> None:
        self._shifts, self._base = _plain(shifts), _plain(base)
        where = Even(1.0, 0.0, 0.0) if even is None else even
        in_range = (where.lowest, where.highest, where.sign, where.offset, where.scale, where.above, where.below)
        self._fields = _LayoutFields(low_bits, _at(self._shifts), _at(self._base), *in_range)
        self.address = ctypes.addressof(self._fields)


class _WantedFields(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_void_p) for name in ("wanted", "before", "slot", "small", "carries"))


class Wanted:
    """Bins whose members are wanted, and the counts of those that are counted by key.

    Parameters
    ----------
    bins : array of bool
        Which bins are wanted.
    low, keys : arrays of int64
        For each wanted bin, from the lowest up: its lowest key, and the number of its keys if its members are to be
        counted by key, or 0 if their keys are to be written.
    """

    def __init__(self, bins: BoolArray, low: IntArray, keys: IntArray) -> None:
        packed = np.zeros(8 * -(-bins.size // 64), np.uint8)
        packed[: -(-bins.size // 8)] = np.packbits(bins, bitorder="little")
        self._bits = packed.view("<u8").astype(np.uint64, copy=False)
        wanted = np.bitwise_count(self._bits).astype(np.int64)
        self._before = np.cumsum(wanted) - wanted
        self.slots = int(keys.sum())
        self._start = np.cumsum(keys) - keys
        self.slot = np.where(keys > 0, self._start - low, WRITTEN)
        self.counts = ByteCounts(self.slots)
        parts = (self._bits, self._before, self.slot, self.counts.small, self.counts.carries)
        self._fields = _WantedFields(*map(_at, parts))
        self.address = ctypes.addressof(self._fields)

    @property
    def examples(self) -> int:
        """How many examples were counted by key."""
        return int(self.counts.total().sum())

    def keys(self, label: int) -> IntArray:
        """Return the counted keys of one class, each repeated as often as it was counted."""
        times = self.counts.total()[label::2]
        place = np.flatnonzero(times)
        counted = np.flatnonzero(self.slot != WRITTEN)
        bin_of = counted[np.searchsorted(self._start[counted], place, side="right") - 1]
        return np.repeat(place - self.slot[bin_of], times[place])


class _SearchFields(ctypes.Structure):
    _fields_ = (
        ("low", ctypes.c_double),
        ("scale", ctypes.c_double),
        ("buckets", ctypes.c_double),
        ("below", ctypes.c_void_p),
        ("entries", ctypes.c_void_p),
    )


class Search:
    """Sorted entries (non-decreasing), to be searched by buckets.

    Parameters
    ----------
    low, scale : float
        The bucket of a value is the integer part of ``(value - low) * scale``, clipped to -1 .. `buckets`, plus 1.
    below : array of shape (buckets + 3,)
        How many entries are in lower buckets than each, and how many there are.
    entries : array of float
    changes : sequence of arrays of shape (entries + 1,)
        For each of one or two lists of points, and by the number of entries at or below a score: the point at which
        the score begins to be predicted positive.
    """

    def __init__(
        self, low: float, scale: float, below: IntArray, entries: FloatArray, changes: Sequence[IntArray]
    ) -> None:
        self._below, self._entries = below.astype(np.int32), _plain(entries)
        self.changes = [some.astype(np.int32) for some in changes]
        self._fields = _SearchFields(low, scale, below.size - 3, _at(self._below), _at(self._entries))
        self.address = ctypes.addressof(self._fields)


def _plain(array: Array) -> Array:
    """Return a contiguous and aligned array."""
    return array if array.flags.c_contiguous and array.flags.aligned else np.array(array, order="C")


def _at(array: Array) -> int:
    """Return the address of the data of an array."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array.data))  # takes half the time of the line below
    except (TypeError, ValueError):  # read-only or empty
        return array.ctypes.data


def _rows_at(array: Array) -> list[int]:
    """Return the addresses of the rows of a table."""
    first, step = _at(array), array.strides[0]
    return [first + i * step for i in range(array.shape[0])]
