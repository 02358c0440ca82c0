"""The points of a ROC curve that can be best, from predictions, without sorting all of them.

Positives and negatives are counted in buckets that have the order of the scores. Only a bucket whose upper-left corner
lies strictly above the hull of the bucket boundaries can hold a vertex, so only the members of those buckets are
sorted. The result is exactly that of the full curve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import BoolArray, IntArray
from costcurves.counting import compiled
from costcurves.counting.counts import BLOCK, ScoreCounts, count_scores, countable, wide
from costcurves.counting.geometry import blocks_above, upper_hull
from costcurves.counting.keys import CELL_BITS, CELLS, FLOATS, scores_of_keys

Array = npt.NDArray[Any]

SMALLEST = 20_000  # with fewer examples, one sort is faster
SAMPLE = 2_048
# Buckets help if a sampled example shares its bucket with at most this share of the data.
MOST_SHARED = 1 / 64
# Buckets by bits take a little longer: they must spread the sample better by at least this factor.
CLEARLY = 1.5
# Other buckets are not tried if a sampled example shares its bucket with at most this many times the least share.
AS_GOOD = 2.0
# The number of parts in which large data are counted: with more, adding up the buckets takes longer than filling them.
PARTS = 8


def candidate_counts(positive: BoolArray, scores: Array) -> ScoreCounts | None:
    """Count the labels at `candidates` only, as the full curve has them; None if it is no faster than counting all."""
    if scores.size < SMALLEST or countable(scores):
        return None
    ends = _Ends.of(positive, scores)
    buckets = _bucketing(scores, ends.low, ends.high)
    if buckets is None:
        return None
    fast = compiled.loops()
    if fast is None:
        return _by_numpy(positive, scores, buckets, ends)
    return _by_loops(fast, positive, scores, buckets, ends)


def candidates(counts: ScoreCounts) -> ScoreCounts:
    """Select both ends, and the vertices of the hull of all points between them.

    Only these can be the cheapest points, and the cheapest of the points with some alarms but not all.
    """
    fp, tp = wide(counts.fp), wide(counts.tp)
    between = np.flatnonzero(((fp > 0) | (tp > 0)) & ((fp < fp[-1]) | (tp < tp[-1])))
    if between.size:
        between = between[upper_hull(fp[between], tp[between])]
    return counts.at(np.concatenate(([0], between, [fp.size - 1])))


@dataclass(frozen=True, slots=True)
class _Ends:
    """The lowest and the highest score, and how many negatives and positives have it."""

    low: float
    high: float
    at_low: IntArray
    at_high: IntArray

    @classmethod
    def of(cls, positive: BoolArray, scores: Array) -> _Ends:
        low, high = scores.min(), scores.max()
        there = []
        for end in (low, high):
            equal = scores == end
            number = np.count_nonzero(equal)
            equal &= positive
            n_pos = np.count_nonzero(equal)
            there.append(np.array([number - n_pos, n_pos]))
        return cls(float(low) + 0.0, float(high) + 0.0, *there)  # never -0.0

    def codes(self, buckets: Buckets, dtype: Any) -> list[int]:
        """Return the buckets of both."""
        codes: list[int] = buckets.codes(np.array([self.low, self.high], dtype)).tolist()
        return codes

    def around(self, inner: ScoreCounts) -> ScoreCounts:
        """Add both ends to counts of all examples between them, whose first entry is at no example."""
        fp, tp = (
            np.concatenate(([0], counts + above, [counts[-1] + above + below]))
            for counts, above, below in zip((inner.fp, inner.tp), self.at_high, self.at_low, strict=True)
        )
        assert inner.below is not None
        thresholds = np.concatenate(([np.inf, self.high], inner.thresholds[1:], [self.low]))
        return ScoreCounts(thresholds, fp, tp, np.concatenate(([self.high], inner.below[:-1], [self.low, -np.inf])))


def _by_numpy(positive: BoolArray, scores: Array, buckets: Buckets, ends: _Ends) -> ScoreCounts | None:
    """Find the counts at the candidates, or return None if too many examples are in buckets that may hold one."""
    # The buckets of some examples at a time are found, and found again when members are gathered: that takes no longer
    # than writing the codes of all examples into fresh memory and reading them again.
    size = max(BLOCK, -(-scores.size // PARTS))
    spans = [slice(start, start + size) for start in range(0, scores.size, size)]
    by_bucket = _counted_in_buckets(positive, scores, buckets, spans)
    lowest, highest = ends.codes(buckets, scores.dtype)
    by_bucket[lowest] -= ends.at_low
    by_bucket[highest] -= ends.at_high
    filled = np.flatnonzero(by_bucket[:, 0] | by_bucket[:, 1])[::-1]  # from the highest scores down
    if not filled.size:
        return None
    fp = np.concatenate(([0], np.cumsum(by_bucket[filled, 0])))
    tp = np.concatenate(([0], np.cumsum(by_bucket[filled, 1])))
    hull = upper_hull(fp, tp)
    active = blocks_above(fp, tp, hull)
    active[hull[1:] - 1] = True  # their lowest score is a threshold
    active[hull[:-1]] = True  # their highest score is the next lower one
    wanted = np.zeros(by_bucket.shape[0], dtype=np.bool_)
    wanted[filled[active]] = True
    if by_bucket[wanted].sum() > scores.size // 2:
        return None
    del by_bucket, filled
    chosen = []
    for span in spans:
        some = scores[span]
        members = np.flatnonzero(wanted[buckets.codes(some)])
        values = some[members]
        between = (values != ends.low) & (values != ends.high)
        chosen.append((positive[span][members[between]], values[between]))
    inside = count_scores(*(np.concatenate(parts) for parts in zip(*chosen, strict=True)))
    return ends.around(on_hull(_moved_to_place(inside, fp, tp, active)))


def _by_loops(
    fast: compiled.Loops, positive: BoolArray, scores: Array, buckets: Buckets, ends: _Ends
) -> ScoreCounts | None:
    """Do the same with compiled loops."""
    if scores.dtype.kind != "f":
        scores = scores.astype(np.float64)
    layout = buckets.layout(scores.dtype)
    counts = compiled.ByteCounts(buckets.number)
    fast.count(scores, positive, layout, counts)
    lowest, highest = ends.codes(buckets, scores.dtype)
    counts.take_out(lowest, ends.at_low)
    counts.take_out(highest, ends.at_high)
    code, neg, pos, wanted = fast.cut(counts)
    held = np.array([neg[wanted].sum(), pos[wanted].sum()])
    if not 0 < held.sum() <= scores.size // 2:
        return None
    inside = np.zeros(buckets.number, np.bool_)
    inside[code[wanted]] = True
    written = np.zeros(np.count_nonzero(wanted), np.int64)
    members = compiled.Wanted(inside, written, written)
    integer = FLOATS[scores.dtype.name][1]
    # Examples at both ends are gathered with the others of their buckets, and are at the ends of the sorted keys.
    below, above = ends.at_low * inside[lowest], ends.at_high * inside[highest]
    room = [np.empty(size, integer) for size in held + below + above]
    keys = []
    for some, low, high in zip(fast.gather(scores, positive, layout, members, room), below, above, strict=True):
        some.sort()
        keys.append(some[low : some.size - high])
    found = fast.refine(None, wanted.astype(np.int64), (neg, pos), members, keys)
    assert found is not None
    fp, tp, lowest_keys, *_, following = found
    thresholds = scores_of_keys(lowest_keys[1:], scores.dtype.name)
    next_lower = scores_of_keys(following[:-1], scores.dtype.name)
    inner = ScoreCounts(np.append(np.inf, thresholds), fp, tp, np.append(next_lower, -np.inf))
    return ends.around(inner)


def _counted_in_buckets(positive: BoolArray, scores: Array, buckets: Buckets, spans: list[slice]) -> IntArray:
    """Count negatives and positives in each bucket, shape (buckets, 2)."""
    table = np.zeros(2 * buckets.number, dtype=np.int64)
    for span in spans:
        codes = buckets.codes(scores[span])
        codes <<= 1
        codes |= positive[span]
        table += np.bincount(codes, minlength=table.size)
    return table.reshape(-1, 2)


def on_hull(counts: ScoreCounts) -> ScoreCounts:
    """Select the counts at the vertices of their hull."""
    vertex = upper_hull(wide(counts.fp), wide(counts.tp))
    return counts.at(vertex)


def _moved_to_place(inside: ScoreCounts, fp: IntArray, tp: IntArray, active: BoolArray) -> ScoreCounts:
    """Add the counts of the skipped buckets above each active bucket to the counts within active buckets."""
    index = np.flatnonzero(active)
    above = fp[index], tp[index]
    held = fp[index + 1] - above[0], tp[index + 1] - above[1]
    ends = np.cumsum(held[0] + held[1])  # examples gathered up to and with each active bucket
    bucket = np.searchsorted(ends, inside.fp[1:] + inside.tp[1:], side="left")
    moved = []
    for counts, before, own in zip((inside.fp, inside.tp), above, held, strict=True):
        skipped = before - (np.cumsum(own) - own)
        moved.append(np.concatenate((counts[:1], counts[1:] + skipped[bucket])))
    return ScoreCounts(inside.thresholds, *moved)


@dataclass(frozen=True, slots=True)
class _Evenly:
    """Buckets of one width between the lowest and the highest score."""

    low: float
    high: float
    scale: float
    number: int

    @classmethod
    def of(cls, scores: Array, low: float, high: float, number: int) -> _Evenly | None:
        """Make at most `number` buckets. Return None if scores are too far apart or too close together."""
        width = high - low
        scale = (number - 1) / width if width > 0 else np.inf
        largest = np.finfo(scores.dtype if scores.dtype.kind == "f" else np.float64).max
        if not max(width, scale) <= float(largest):
            return None
        highest = cls(low, high, scale, number).codes(scores.dtype.type([high]))
        return cls(low, high, scale, int(highest[0]) + 1)

    def codes(self, some: Array) -> IntArray:
        even = some - self.low
        even *= self.scale
        return even.astype(np.int64)

    def layout(self, dtype: Any) -> compiled.Layout:
        cells = np.zeros(CELLS, np.int64)  # not used, because no score lies outside the range
        even = compiled.Even(-np.inf, np.inf, self.scale, offset=self.low)
        return compiled.Layout(8 * dtype.itemsize - CELL_BITS, cells, cells, even)


@dataclass(frozen=True, slots=True)
class _ByBits:
    """Buckets by the leading bits of non-negative floats."""

    first: int
    shift: int
    number: int

    @classmethod
    def of(cls, dtype: Any, low: float, high: float, number: int) -> _ByBits:
        """Make at most `number` buckets."""
        first, last = (int(bits) for bits in _bits(np.array([low, high], dtype=dtype)))
        shift = max(0, (last - first).bit_length() - number.bit_length() + 1)
        return cls(first >> shift, shift, (last >> shift) - (first >> shift) + 1)

    def codes(self, some: Array) -> IntArray:
        bits = _bits(some)
        bits >>= bits.dtype.type(self.shift)
        bits -= bits.dtype.type(self.first)
        return bits.astype(np.int64)

    def layout(self, dtype: Any) -> compiled.Layout:
        shifts, base = np.full(CELLS, self.shift, np.int64), np.full(CELLS, -self.first, np.int64)
        return compiled.Layout(8 * dtype.itemsize - CELL_BITS, shifts, base, None)


Buckets = _Evenly | _ByBits


def _bucketing(scores: Array, low: float, high: float) -> Buckets | None:
    """Choose buckets in the order of the scores, or return None if buckets would not help.

    Evenly spaced buckets are the fastest, but fail for skewed scores; buckets by the leading bits of a float do not.
    A sample shows which spread the data better; if they are about equal, the faster ones are taken.
    """
    bits = int(scores.size).bit_length()
    # About eight examples per bucket, and more for large data, because buckets outside the cache take longer to reach.
    number = 1 << max(10, min(bits - 3, 14 + 2 * (bits - 17) // 3))
    sample = scores[:: max(1, scores.size // SAMPLE)]
    evenly = _Evenly.of(scores, low, high, number)
    if evenly is None:
        return None
    crowded = _crowding(evenly.codes(sample))
    if crowded * number > AS_GOOD and low >= 0 and scores.dtype.kind == "f":
        by_bits = _ByBits.of(scores.dtype, low, high, number)
        crowded_bits = _crowding(by_bits.codes(sample))
        if crowded_bits <= MOST_SHARED and crowded_bits < crowded / CLEARLY:
            return by_bits
    return None if crowded > MOST_SHARED else evenly


def _bits(scores: Array) -> Array:
    """The bits of non-negative floats, which have the order of the floats (-0.0 becomes 0.0)."""
    unsigned = np.uint64 if scores.dtype == np.float64 else np.uint32
    bits: Array = (scores + scores.dtype.type(0)).view(unsigned)
    return bits


def _crowding(codes: Array) -> float:
    """The probability that two different sampled scores share a bucket."""
    ordered = np.sort(codes)
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    shared = np.diff(ends, prepend=-1)
    return float((shared * (shared - 1.0)).sum() / (codes.size * max(codes.size - 1.0, 1.0)))
