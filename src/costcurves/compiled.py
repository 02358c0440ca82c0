"""Compiled loops for very many scores, where the package was installed with a C compiler: see loops.c.

Everything works without them, by NumPy and with the same results bit for bit; they make scans of large data about twice
as fast. The environment variable COSTCURVES_COMPILED=0 turns them off.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._validation import BoolArray, IntArray

Array = npt.NDArray[Any]

SWITCH = "COSTCURVES_COMPILED"
VERSION = 1  # of the library
LIBRARY = Path(__file__).with_name("_loops.so")
# The arguments of each loop: p a pointer, n a whole number; after the arrow what it returns.
SIGNATURES = {
    "version": ">n",
    "count_float32": "ppnnpppp",
    "count_float64": "ppnnpppp",
    "find_float32": "pnnpppp>n",
    "find_float64": "pnnpppp>n",
    "upper_hull": "ppnp>n",
    "blocks_above": "pppnp",
    "merge": "pnpnppp>n",
}


@cache
def loops() -> Loops | None:
    """Return the compiled loops; None where there are none, or where they are turned off."""
    if os.environ.get(SWITCH, "1").strip().lower() in ("0", "no", "off", "false"):
        return None
    try:
        found = Loops(LIBRARY)
    except (OSError, AttributeError):  # not built, or of another machine
        return None
    return found if found.version == VERSION else None


class Loops:
    """The loops of a library, by arrays. None of them holds the interpreter's lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        library = ctypes.CDLL(str(path))
        kinds = {"p": ctypes.c_void_p, "n": ctypes.c_int64}
        for name, signature in SIGNATURES.items():
            arguments, _, answer = signature.partition(">")
            function = getattr(library, name)
            function.argtypes = [kinds[kind] for kind in arguments]
            function.restype = kinds[answer] if answer else None
        self._library = library
        self.version: int = library.version()

    def count(self, scores: Array, positive: BoolArray, layout: Layout, small: Array, carries: Array) -> None:
        """Count float scores in `small`, one byte a bin and class; `carries` counts how often a byte was full."""
        scores, positive = np.ascontiguousarray(scores), np.ascontiguousarray(positive)
        loop = self._library.count_float32 if scores.itemsize == 4 else self._library.count_float64
        loop(_at(scores), _at(positive), scores.size, *layout.arguments, _at(small), _at(carries))

    def find(self, scores: Array, layout: Layout, wanted: Array, place: IntArray) -> IntArray:
        """Return where the scores are whose bins are wanted; `wanted` has one bit a bin, in uint64.

        They are written to the buffer `place`, which must have room for one more than there are scores.
        """
        scores = np.ascontiguousarray(scores)
        loop = self._library.find_float32 if scores.itemsize == 4 else self._library.find_float64
        return place[: loop(_at(scores), scores.size, *layout.arguments, _at(wanted), _at(place))]

    def upper_hull(self, x: IntArray, y: IntArray) -> IntArray:
        """Return the indices of the hull's vertices, as `geometry.upper_hull` of counts."""
        x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
        vertex = np.empty(x.size, np.int64)
        return vertex[: self._library.upper_hull(_at(x), _at(y), x.size, _at(vertex))].copy()

    def blocks_above(self, x: IntArray, y: IntArray, hull: IntArray) -> BoolArray:
        """Return which blocks may hold a vertex, as `geometry.blocks_above` of counts."""
        x, y, hull = np.ascontiguousarray(x), np.ascontiguousarray(y), np.ascontiguousarray(hull)
        above = np.empty(x.size - 1, np.bool_)
        self._library.blocks_above(_at(x), _at(y), _at(hull), hull.size, _at(above))
        return above

    def merge(self, neg: IntArray, pos: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return the distinct of two sorted arrays of keys, and how often each is in the one and in the other."""
        neg, pos = np.ascontiguousarray(neg), np.ascontiguousarray(pos)
        found = np.empty((3, neg.size + pos.size), np.int64)
        size = self._library.merge(_at(neg), neg.size, _at(pos), pos.size, *map(_at, found))
        return found[0, :size], found[1, :size], found[2, :size]


class Layout:
    """A layout of bins as the loops read it."""

    def __init__(self, low_bits: int, shifts: Array, starts: IntArray) -> None:
        cells = shifts.size
        first_key = (np.arange(cells, dtype=np.int64) - cells // 2) << low_bits
        self._shifts = shifts.astype(np.int64)
        self._base = starts[:-1] - (first_key >> self._shifts)
        self.arguments = (low_bits, _at(self._shifts), _at(self._base))


def _at(array: Array) -> int:
    return array.ctypes.data
