"""Which bins hold a single score, however often it occurs: such bins hide no other threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import BoolArray, IntArray

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
