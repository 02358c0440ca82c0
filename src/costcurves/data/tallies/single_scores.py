"""Which bins hold one score only, however often: nothing is hidden in those."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import BoolArray, IntArray

Array = npt.NDArray[Any]

MOST_BINS = 1 << 20  # so that the keys take little memory
MOST_MIXED = 1 << 10


class SingleScores:
    """The key of the one score in each bin, for as long as few bins are mixed.

    More than MOST_MIXED bins with several scores mean data without many ties, and `add` and `merge` return False: that
    depends on all of the data alone, so any order of adding and merging comes to the same.
    """

    def __init__(self, bins: int, integer: Any) -> None:
        self._none = np.iinfo(integer).min  # the key of no finite score
        self._held: Array = np.full(bins, self._none, integer)
        self._mixed = np.zeros(bins, np.bool_)

    def add(self, code: IntArray, key: Array) -> bool:
        """Look at the keys of scores in bins; return False where too many bins are mixed."""
        other = np.flatnonzero(self._held[code] != key)
        if not other.size:
            return True
        code, key = code[other], key[other]
        new = self._held[code] == self._none
        self._held[code[new]] = key[new]  # one of them, where a bin is met with several
        return self._mix(code[self._held[code] != key])

    def _mix(self, code: IntArray) -> bool:
        fresh = code[~self._mixed[code]]
        if fresh.size:
            self._mixed[fresh] = True
        return not fresh.size or int(np.count_nonzero(self._mixed)) <= MOST_MIXED

    def merge(self, other: SingleScores) -> bool:
        """Add what another part of the data has in its bins; return False where too many bins are mixed."""
        return self.fill(other.state())

    def single(self, code: IntArray) -> BoolArray:
        """Return which of some filled bins hold one score."""
        return ~self._mixed[code]

    def keys(self, code: IntArray) -> IntArray:
        """Return the key of the one score in some filled bins; of one of them where there are several."""
        return self._held[code].astype(np.int64)

    def state(self) -> dict[str, Array]:
        """Return the bins of one score with their keys, and those of several."""
        single = np.flatnonzero((self._held != self._none) & ~self._mixed)
        return {"single": single, "key": self._held[single], "mixed": np.flatnonzero(self._mixed)}

    def fill(self, state: dict[str, Array]) -> bool:
        """Add a state."""
        return self.add(state["single"], state["key"]) and self._mix(state["mixed"])
