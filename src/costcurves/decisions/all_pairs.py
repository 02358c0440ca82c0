"""What only one of two classifiers gets wrong, for all pairs of several classifiers on the same examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import BoolArray, FloatArray, IntArray
from costcurves.curves.cost_curve import CostCurve
from costcurves.inference.paired.discordant import PairedCounts, first_positive_point

Array = npt.NDArray[Any]
# How many pairs' steps are kept between two questions.
_KEPT = 256


class PairedSteps(NamedTuple):
    """The steps of pc between which no threshold of two classifiers moves, with their counts on each.

    `known` says where both predict the same class for every case, whatever its score: their difference is known there.
    """

    breaks: FloatArray
    known: BoolArray
    pos: PairedCounts
    neg: PairedCounts


class AllPairs:
    """The counts of all pairs of some curves.

    Parameters
    ----------
    curves : sequence of CostCurve
    count : callable
        Returns the steps of two of the curves, the first of which comes before the second. It is called when they are
        asked for.
    weighted : bool
    """

    def __init__(
        self, curves: Sequence[CostCurve], count: Callable[[CostCurve, CostCurve], PairedSteps], *, weighted: bool
    ) -> None:
        self.curves, self.weighted = tuple(curves), weighted
        self._count = count
        self._kept: dict[tuple[int, int], PairedSteps] = {}

    def steps(self, i: int, j: int) -> PairedSteps:
        """Return the counts of classifiers i < j on the steps of pc; the last ones are kept."""
        if (i, j) not in self._kept:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[i, j] = self._count(self.curves[i], self.curves[j])
        return self._kept[i, j]

    @property
    def totals(self) -> tuple[float, float]:
        """The positives and negatives, or sums of their weights."""
        first = self.steps(0, 1)
        return first.pos.total, first.neg.total

    @property
    def sizes(self) -> tuple[float, float]:
        """The numbers of positives and negatives, which are effective ones if there are weights."""
        if not self.weighted:
            return self.totals
        first = self.steps(0, 1)
        return first.pos.effective, first.neg.effective

    def counts(self, i: int, pc: FloatArray) -> tuple[tuple[Array, ...], BoolArray]:
        """Return what only classifier i, or only a later one, gets wrong at some points; shapes (later ones, points).

        These are the positives that only i, and that only the other, gets wrong, then the negatives. The second value
        says where the difference is known.
        """
        found = [self.steps(i, j) for j in range(i + 1, len(self.curves))]
        at = [np.searchsorted(one.breaks[1:-1], pc, side="left") for one in found]
        kinds = [(one.pos.only_a, one.pos.only_b, one.neg.only_a, one.neg.only_b, one.known) for one in found]
        *counted, known = (
            np.stack([kind[step] for kind, step in zip(each, at, strict=True)]) for each in zip(*kinds, strict=True)
        )
        return tuple(counted), known


class PairsInMemory(AllPairs):
    """The same for unweighted examples in memory whose thresholds are those of all examples, without their steps.

    Parameters
    ----------
    curves, count
        As for `AllPairs`.
    positive : array of bool, shape (n,)
    scores : mapping of name to array of shape (n,)
        Nobody else may change these arrays.

    Notes
    -----
    Thresholds fall with pc, so that a prediction changes once, and two classifiers both miss a positive up to the
    earlier of their changes. The histogram of these, over the examples, has the counts at all points.
    """

    def __init__(
        self,
        curves: Sequence[CostCurve],
        count: Callable[[CostCurve, CostCurve], PairedSteps],
        positive: BoolArray,
        scores: dict[str, Array],
    ) -> None:
        super().__init__(curves, count, weighted=False)
        self._members = np.flatnonzero(positive), np.flatnonzero(~positive)
        self._scores = scores
        self._changes: tuple[bytes, list[Array]] = (b"", [])

    @property
    def totals(self) -> tuple[float, float]:
        """The positives and negatives."""
        return float(self._members[0].size), float(self._members[1].size)

    def counts(self, i: int, pc: FloatArray) -> tuple[tuple[Array, ...], BoolArray]:
        """Return what only classifier i, or only a later one, gets wrong at some points, as `AllPairs.counts` does."""
        out: list[Array] = []
        both_of = _both_at_one_point if pc.size == 1 else _both
        for kind, changes in enumerate(self._changes_at(pc)):
            alone, both = both_of(changes, i, pc.size, before=kind == 0)
            out += (alone[0] - both, alone[1:] - both)
        trivial = [curve.trivial_at(pc) for curve in self.curves[i:]]
        return tuple(out), np.stack([trivial[0] & other for other in trivial[1:]])

    def _changes_at(self, pc: FloatArray) -> list[Array]:
        """Return the points at which predictions become positive, (classifiers, examples), for each class."""
        key = pc.tobytes()
        if self._changes[0] != key:
            small = np.min_scalar_type(pc.size)
            found = [np.empty((len(self.curves), members.size), small) for members in self._members]
            for row, curve in enumerate(self.curves):
                change = first_positive_point(curve.name, self._scores[curve.name], curve.cuts_at(pc))[0].astype(small)
                for table, members in zip(found, self._members, strict=True):
                    table[row] = change[members]
            self._changes = key, found
        return self._changes[1]


def _both(changes: Array, i: int, m: int, *, before: bool) -> tuple[IntArray, IntArray]:
    """Return how many examples classifier i and each later one get wrong at each point, and how many both i and it do.

    A positive is wrong before its change, a negative from its change on.
    """
    first = np.minimum if before else np.maximum

    def wrong(change: Array) -> IntArray:
        changed = np.cumsum(np.bincount(change, minlength=m + 1))[:m]
        return change.size - changed if before else changed

    alone = np.stack([wrong(change) for change in changes[i:]])
    return alone, np.stack([wrong(first(changes[i], change)) for change in changes[i + 1 :]])


def _both_at_one_point(changes: Array, i: int, m: int, *, before: bool) -> tuple[IntArray, IntArray]:
    """Return the same at a single point, from one bit per example."""
    wrong = changes[i:] == (m if before else 0)
    bits = np.packbits(wrong, axis=1)
    padded = np.zeros((bits.shape[0], -(-bits.shape[1] // 8) * 8), np.uint8)
    padded[:, : bits.shape[1]] = bits
    words = padded.view(np.uint64)
    both = np.bitwise_count(words[0] & words[1:]).sum(axis=1, dtype=np.int64)
    return np.count_nonzero(wrong, axis=1)[:, None], both[:, None]
