"""Sums of weights in one pass: by distinct score as long as these are few, otherwise in bins."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import BoolArray, FloatArray
from costcurves.counting.keys import FLOATS, ordered_keys
from costcurves.data.tallies.bin_table import BinTable
from costcurves.data.tallies.bins import ScoreBins
from costcurves.data.tallies.distinct import DistinctCounts
from costcurves.data.tallies.finer_bins import Finder, Finer
from costcurves.data.tallies.key_ranges import Chain

Array = npt.NDArray[Any]

NO_LIMIT = sys.maxsize


class WeightSums:
    """The weights of examples or, after the first pass, of those in the open parts of a chain.

    Parameters
    ----------
    bins : ScoreBins
        The bins of the first pass.
    chain : Chain, optional
        What the pass before found.
    resolution : int
        The largest number of bins into which open parts are divided.
    hold : int
        The largest number of distinct scores to keep. If there are more, their weights are added in bins.
    """

    def __init__(self, bins: ScoreBins, chain: Chain | None, resolution: int, hold: int) -> None:
        self._bins, self._before, self._resolution, self._hold = bins, chain, resolution, hold
        self._finder = None if chain is None else Finder(bins, chain)
        self._sums: DistinctCounts | BinTable | Finer = DistinctCounts(True, NO_LIMIT)

    def add(self, positive: BoolArray, scores: Array, weights: FloatArray) -> None:
        """Add a batch."""
        kept = np.flatnonzero(weights > 0)
        if self._finder is not None:
            kept = kept[self._finder.places(scores[kept])]
        if kept.size:
            self._add(positive[kept], scores[kept], weights[kept])

    def _add(self, positive: BoolArray, scores: Array, weights: FloatArray) -> None:
        if isinstance(self._sums, Finer):
            self._sums.add_members(positive, scores, weights)
        else:
            self._sums.add(positive, scores, weights)
            self._spill()

    def _spill(self, always: bool = False) -> None:
        """Add up in bins if there are too many distinct scores to keep."""
        held = self._sums
        if not isinstance(held, DistinctCounts) or not (always or held.scores.size > self._hold):
            return
        held.settle()
        scores = held.scores.astype(FLOATS[self._bins.dtype][0])
        if self._before is None:
            self._sums = BinTable(self._bins, weighted=True)
        else:
            self._sums = Finer(self._bins, self._before, self._resolution)
        for label, sums in enumerate((held.neg, held.pos)):
            some = np.flatnonzero(sums)
            self._add(np.full(some.size, bool(label)), scores[some], sums[some])

    def merge(self, other: WeightSums) -> None:
        """Add the weights of another part of the data."""
        held = isinstance(self._sums, DistinctCounts), isinstance(other._sums, DistinctCounts)
        if held == (True, False):
            self._spill(always=True)
        if held == (False, True):
            other._spill(always=True)
        self._sums.merge(other._sums)  # type: ignore[arg-type]
        self._spill()

    def chain(self, before: Chain | None) -> Chain:
        """Return what is known after this pass."""
        if isinstance(self._sums, BinTable):
            return Chain.of_bins(self._sums)
        if isinstance(self._sums, Finer):
            assert before is not None
            return self._sums.refined(before)
        self._sums.settle()
        keys = ordered_keys(self._sums.scores.astype(FLOATS[self._bins.dtype][0])).astype(np.int64)
        found = keys, np.zeros_like(keys), self._sums.neg, self._sums.pos
        return Chain(*found) if before is None else before.replaced(*found)

    def state(self) -> dict[str, Array]:
        """Return the sums."""
        return self._sums.state()

    def fill(self, arrays: dict[str, Array]) -> None:
        """Set the sums to those of a state."""
        if "scores" in arrays:
            self._sums = DistinctCounts.restored(True, NO_LIMIT, arrays)
        else:
            self._spill(always=True)
            assert not isinstance(self._sums, DistinctCounts)
            self._sums.fill(arrays)
