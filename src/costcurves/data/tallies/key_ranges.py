"""What is known of a ROC curve after a pass: ranges of keys, their counts, and which may hold a vertex of the hull.

A range can hold a vertex only if its upper-left corner lies strictly above the hull of the boundaries of the ranges, or
if it ends at a vertex of that hull. A range that begins at a vertex holds the next lower score below its threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError
from costcurves._base.validation import LARGEST_WHOLE, BoolArray, IntArray
from costcurves.counting import compiled
from costcurves.counting.counts import cumulated, wide
from costcurves.counting.geometry import blocks_above, upper_hull
from costcurves.counting.keys import CELL_BITS
from costcurves.data.tallies.base import part
from costcurves.data.tallies.bin_table import BinTable
from costcurves.data.tallies.bins import ScoreBins

Array = npt.NDArray[Any]

ROUNDING = 2.0**-40  # sums of the same weights in another order differ by less than this share of all weights
CLOSED = -1  # the shift of parts that hold no vertex, neither inside nor at their end


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Ranges of keys from the highest down, with the examples of each: what is known of a curve after a pass.

    A part spans 2**shift keys from `low`, which is a single score if shift is 0. Closed parts have no vertex and no
    range. Once all vertices are known, the `low` of a closed part that begins at a vertex is the key of its highest
    score.
    """

    low: IntArray
    shift: IntArray
    neg: Array  # counts, or sums of weights
    pos: Array

    @classmethod
    def of_bins(cls, table: BinTable) -> Chain:
        """Return the chain of filled bins; bins that hold no vertex are closed and joined."""
        fast = compiled.loops()
        if fast is not None and table.byte_counts is not None:
            code, neg, pos, wanted = fast.cut(table.byte_counts)
        else:
            code, neg, pos = table.filled()
            wanted, first = _cuts(neg, pos)
            code, wanted = code[first], wanted[first]
            neg, pos = _joined(first, neg, pos)
        low, shift = table.keys_of(code)
        return cls(low, np.where(wanted, shift, CLOSED), neg, pos)

    @classmethod
    def of_vertices(cls, x: IntArray, y: IntArray, low: IntArray, shift: IntArray, *rest: IntArray) -> Chain:
        """Return the chain of the vertices that compiled loops found; between two vertices there is one closed part.

        Each vertex comes with the examples down to it, the part that ends there (low, shift, neg, pos), and the lowest
        key of the part that follows. The first is the origin, at which no part ends.
        """
        neg, pos, following = rest
        between = [np.diff(values) - own[1:] for values, own in ((x, neg), (y, pos))]
        kept = np.stack(((between[0] > 0) | (between[1] > 0), np.ones(x.size - 1, np.bool_)), axis=1).ravel()
        parts = (
            (following[:-1], low[1:]),
            (np.full(x.size - 1, CLOSED), shift[1:]),
            (between[0], neg[1:]),
            (between[1], pos[1:]),
        )
        return cls(*(np.stack(both, axis=1).ravel()[kept] for both in parts))

    @classmethod
    def restored(cls, arrays: dict[str, Array], bins: ScoreBins | None) -> Chain:
        """Return the chain of a tally's state."""
        low, shift = (arrays[f"before_{name}"] for name in ("low", "shift"))
        neg, pos = (part(arrays, f"before_{name}", "if", low.size) for name in ("neg", "pos"))
        weighted = "f" in (neg.dtype.kind, pos.dtype.kind)
        chain = cls(*(array.astype(np.int64) for array in (low, shift)), *(wide(array) for array in (neg, pos)))
        if (
            bins is None
            or low.ndim != 1
            or any(array.dtype.kind != "i" or array.size != low.size for array in (low, shift))
        ):
            raise DataError("parts of a chain must be integers, with one value of each kind per part")
        most = 1 << (bins.low_bits + CELL_BITS - 1)
        falls = (chain.low[1:] < chain.low[:-1]).all() and (shift >= CLOSED).all() and (shift <= bins.low_bits).all()
        if (
            not falls
            or (chain.low < -most).any()
            or (chain.low >= most).any()
            or (neg + pos < (0 if weighted else 1)).any()
        ):
            raise DataError("parts of a chain must hold examples, and go from the highest keys down")
        if weighted:
            return chain
        if float(neg.sum(dtype=np.float64) + pos.sum(dtype=np.float64)) > LARGEST_WHOLE:
            raise DataError("parts of a chain must hold fewer examples")
        table = cumulated(np.empty(0), chain.neg, chain.pos)
        if (chain.shift[upper_hull(table.fp, table.tp)[1:] - 1] < 0).any():
            raise DataError("parts of a chain that end at a vertex must be open or known")
        return chain

    def state(self) -> dict[str, Array]:
        """Return the arrays that `restored` reads."""
        return {f"before_{name}": getattr(self, name) for name in Chain.__slots__}

    def same(self, other: Chain) -> bool:
        """Whether two chains are the same."""
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in Chain.__slots__)

    def part(self, start: int, end: int) -> Chain:
        """Return some neighbouring parts."""
        return Chain(*(getattr(self, name)[start:end] for name in Chain.__slots__))

    @staticmethod
    def joined(chains: list[Chain]) -> Chain:
        """Return consecutive chains as a single one."""
        return Chain(*(np.concatenate([getattr(chain, name) for chain in chains]) for name in Chain.__slots__))

    def reduced(self) -> Chain:
        """Return the chain with all neighbouring parts that hold no vertex of the hull closed and joined."""
        wanted, first = _cuts(self.neg, self.pos, self.shift > 0)
        shift = np.where(wanted[first], self.shift[first], CLOSED)
        return Chain(self.low[first], shift, *_joined(first, self.neg, self.pos))

    @property
    def open(self) -> IntArray:
        """The parts that may hold vertices not yet known, from the lowest keys up."""
        return np.flatnonzero(self.shift > 0)[::-1]

    @property
    def left(self) -> int:
        """How many examples, or what weight, are in open parts."""
        parts = self.open
        return int(self.neg[parts].sum() + self.pos[parts].sum())

    def replaced(self, low: IntArray, shift: IntArray, neg: Array, pos: Array) -> Chain:
        """Return the chain with its open parts replaced by finer ones, given from the highest keys down.

        The finer parts of an open part must together hold the same examples as that part.
        """
        parts = self.open
        # Both go by keys, so that looking for the few parts among the many finer ones is enough.
        ends = low.size - np.searchsorted(low[::-1], self.low[parts[::-1]], side="left")
        inside = np.repeat(parts[::-1], np.diff(ends, prepend=0))
        found = [np.bincount(inside, weights=n, minlength=self.low.size)[parts] for n in (neg, pos)]
        rounding = 0.0 if self.neg.dtype.kind == "i" else ROUNDING
        if any(
            (abs(f - n[parts]) > rounding * n.sum()).any() for f, n in zip(found, (self.neg, self.pos), strict=True)
        ):
            raise self.other_members(int(sum(f.sum() for f in found)))
        kept = np.flatnonzero(self.shift <= 0)
        order = np.argsort(np.concatenate((kept, inside)), kind="stable")
        both = ((self.low, low), (self.shift, shift), (self.neg, neg), (self.pos, pos))
        return Chain(*(np.concatenate((old[kept], new))[order] for old, new in both))

    def other_members(self, found: int) -> DataError:
        """Return the error for a pass in which the open parts have other members than before."""
        return DataError(
            f"the data must be the same in every pass, got {found} examples where the pass before had {self.left} "
            "(or other scores or weights): read all batches exactly once in each pass"
        )


def _cuts(neg: Array, pos: Array, divisible: BoolArray | bool = True) -> tuple[BoolArray, IntArray]:
    """Return which parts may hold a vertex (at their end, or inside if divisible), and where joined parts begin.

    Parts that begin at a vertex are wanted as well.
    """
    table = cumulated(np.empty(0), neg, pos)
    hull = upper_hull(table.fp, table.tp)
    wanted = np.zeros(neg.size, np.bool_)
    if neg.size:
        end = hull[-1]  # the last point, unless weights vanish in the sums
        wanted[:end] = blocks_above(table.fp[: end + 1], table.tp[: end + 1], hull)
        wanted &= divisible
    wanted[hull[1:] - 1] = wanted[hull[hull < neg.size]] = True
    return wanted, np.flatnonzero(wanted | np.append(True, wanted[:-1]))


def _joined(first: IntArray, *counted: Array) -> list[Array]:
    """Return the sums of counts from each first part to the next."""
    return [np.add.reduceat(values, first) if first.size else values for values in counted]
