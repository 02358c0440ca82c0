"""The points of a ROC curve that can be best, from predictions, without sorting all of them.

Positives and negatives are counted in buckets that have the order of the scores. Only a bucket whose upper-left corner
lies strictly above the hull of the bucket boundaries can hold a vertex, so only the members of those buckets are
sorted. The result is exactly that of the full curve. All points are counted when somebody first asks for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from costcurves._base.validation import BoolArray, IntArray, frozen
from costcurves.counting import compiled
from costcurves.counting.counts import BLOCK, Array, ScoreCounts, count_packed, count_scores, countable, packed_scores
from costcurves.counting.geometry import blocks_above, upper_hull
from costcurves.counting.keys import CELL_BITS, CELLS, FLOATS, scores_of_keys

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
BUCKETS_TOGETHER = 4  # of which some are chosen first


def candidate_counts(positive: BoolArray, scores: Array) -> ScoreCounts | None:
    """Count the labels at the candidates only, as the full curve has them; None if counting all is as fast."""
    if scores.size < SMALLEST or countable(scores):
        return None
    low, high = float(scores.min()), float(scores.max())
    buckets = _bucketing(scores, low, high)
    if buckets is None:
        return None
    fast = compiled.loops()
    if fast is None:
        return _by_numpy(positive, scores, buckets, low, high)
    return _by_loops(fast, positive, scores, buckets, low, high)


def counts_in_buckets(
    positive: BoolArray, scores: Array, ends: tuple[float, float], choose: Callable[[ScoreCounts], BoolArray]
) -> ScoreCounts | None:
    """Count the labels at all scores of some buckets; None if counting all scores is as fast.

    `ends` are the lowest and the highest score. `choose` gets the counts between some buckets, from the highest scores
    down (as thresholds, these have the numbers of the buckets), and marks what it wants to be counted. It gets those
    between blocks of buckets first. The first and the last bucket are always counted.
    """
    buckets, fast = _bucketing(scores, *ends), compiled.loops()
    if buckets is None or fast is None:
        return None
    scores = scores if scores.dtype.kind == "f" else scores.astype(np.float64)
    layout, counts = buckets.layout(scores.dtype), compiled.ByteCounts(buckets.number)
    fast.count(scores, positive, layout, counts)
    by_bucket = counts.total().reshape(-1, 2)[::-1]
    fp, tp = (np.concatenate(([0], np.cumsum(by_bucket[:, label]))) for label in (0, 1))
    few = ScoreCounts(np.arange(fp.size, dtype=np.float64), fp, tp).near(choose, BUCKETS_TOGETHER)
    width = np.diff(few.thresholds).astype(np.int64)
    active = np.repeat(choose(few) & (width == 1), width)  # the others are blocks that were not chosen
    active[[0, -1]] = True
    held = by_bucket[active].sum(axis=0)
    if held.sum() > scores.size // 2:
        return None
    nothing = np.zeros(np.count_nonzero(active), np.int64)
    members, integer = compiled.Wanted(active[::-1], nothing, nothing), FLOATS[scores.dtype.name][1]
    keys = fast.gather(scores, positive, layout, members, [np.empty(size, integer) for size in held])
    inside = count_scores(np.repeat([False, True], held), scores_of_keys(np.concatenate(keys), scores.dtype.name))
    return _moved_to_place(inside, fp, tp, active)


def _with_ends(inner: ScoreCounts, low: float, high: float, at_low: IntArray, at_high: IntArray) -> ScoreCounts:
    """Add the lowest and the highest score, and their counts of both classes, to the counts of all between them."""
    fp, tp = (
        np.concatenate(([0], counts + above, [counts[-1] + above + below]))
        for counts, above, below in zip((inner.fp, inner.tp), at_high, at_low, strict=True)
    )
    low, high = low + 0.0, high + 0.0  # never -0.0
    assert inner.below is not None
    thresholds = np.concatenate(([np.inf, high], inner.thresholds[1:], [low]))
    return ScoreCounts(thresholds, fp, tp, np.concatenate(([high], inner.below[:-1], [low, -np.inf])))


def _by_numpy(positive: BoolArray, scores: Array, buckets: Buckets, low: float, high: float) -> ScoreCounts | None:
    """Find the counts at the candidates, or return None if too many examples are in buckets that may hold one."""
    # The buckets of some examples at a time are found, and found again when members are gathered: that takes no longer
    # than writing the codes of all examples into fresh memory and reading them again.
    size = max(BLOCK, -(-scores.size // PARTS))
    spans = [slice(start, start + size) for start in range(0, scores.size, size)]
    by_bucket = _counted_in_buckets(positive, scores, buckets, spans)
    ends = [np.bincount(positive[scores == end], minlength=2) for end in (low, high)]
    for code, there in zip(buckets.codes(np.array([low, high], scores.dtype)), ends, strict=True):
        by_bucket[code] -= there
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
        between = (values != low) & (values != high)
        chosen.append((positive[span][members[between]], values[between]))
    inside = count_scores(*(np.concatenate(parts) for parts in zip(*chosen, strict=True)))
    return _with_ends(_moved_to_place(inside, fp, tp, active).on_hull(), low, high, *ends)


def _by_loops(
    fast: compiled.Loops, positive: BoolArray, scores: Array, buckets: Buckets, low: float, high: float
) -> ScoreCounts | None:
    """Do the same with compiled loops."""
    if scores.dtype.kind != "f":
        scores = scores.astype(np.float64)
    layout = buckets.layout(scores.dtype)
    counts = compiled.ByteCounts(buckets.number)
    full = fast.count(scores, positive, layout, counts)
    # All members of the lowest and the highest bucket are wanted: the two ends are among them. The other buckets have
    # every candidate of theirs among the vertices of their own hull.
    lowest, highest = buckets.codes(np.array([low, high], scores.dtype)).tolist()
    if lowest == highest:
        return None
    in_lowest, in_highest = counts.take_out(lowest), counts.take_out(highest)
    code, neg, pos, wanted = fast.cut(counts, full)
    held = in_lowest + in_highest + [neg[wanted].sum(), pos[wanted].sum()]
    if held.sum() > scores.size // 2:
        return None
    inside = np.zeros(buckets.number, np.bool_)
    inside[code[wanted]] = inside[lowest] = inside[highest] = True
    written = np.zeros(np.count_nonzero(inside), np.int64)
    members = compiled.Wanted(inside, written, written)
    integer = FLOATS[scores.dtype.name][1]
    keys = fast.gather(scores, positive, layout, members, [np.empty(size, integer) for size in held])
    for some in keys:
        some.sort()
    least, most = min(some[0] for some in keys if some.size), max(some[-1] for some in keys if some.size)
    between = [np.searchsorted(some, [least + 1, most]) for some in keys]
    at_low = np.array([first for first, _ in between])
    at_high = held - [last for _, last in between]
    chain = []  # of the negatives and of the positives
    for label, middle in enumerate((neg, pos)):
        ends = in_highest[label] - at_high[label], in_lowest[label] - at_low[label]
        chain.append(np.concatenate((ends[:1], middle, ends[1:])))
    filled = (chain[0] + chain[1]) > 0
    if not filled.any():
        return None
    opened = np.concatenate(([1], wanted, [1]))[filled]
    inner_keys = [some[first:last] for some, (first, last) in zip(keys, between, strict=True)]
    found = fast.refine(None, opened, [values[filled] for values in chain], members, inner_keys)
    assert found is not None
    fp, tp, own, *_, following = found
    thresholds = scores_of_keys(own[1:], scores.dtype.name)
    below = scores_of_keys(following[:-1], scores.dtype.name)
    inner = ScoreCounts(np.append(np.inf, thresholds), fp, tp, np.append(below, -np.inf))
    return _with_ends(inner, low, high, at_low, at_high)


def _counted_in_buckets(positive: BoolArray, scores: Array, buckets: Buckets, spans: list[slice]) -> IntArray:
    """Count negatives and positives in each bucket, shape (buckets, 2)."""
    table = np.zeros(2 * buckets.number, dtype=np.int64)
    for span in spans:
        codes = buckets.codes(scores[span])
        codes <<= 1
        codes |= positive[span]
        table += np.bincount(codes, minlength=table.size)
    return table.reshape(-1, 2)


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
    number = 1 << max(10, min(bits - 3, 13 + scores.itemsize // 4 + 2 * (bits - 17) // 3))
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


class LateCounts:
    """The counts of labels at every distinct score, of which only the candidates are known so far.

    Parameters
    ----------
    positive, scores : arrays of shape (n,)
        They are copied or packed, unless they are read-only and belong to nobody else.
    candidates : ScoreCounts
        The counts that can be best, as `ScoreCounts.candidates` would select them from all counts.
    """

    __slots__ = ("_cases", "_ends", "_every", "_lock", "candidates")

    def __init__(self, positive: BoolArray, scores: Array, candidates: ScoreCounts) -> None:
        self.candidates = candidates
        self._ends = float(candidates.thresholds[-1]), float(candidates.thresholds[1])
        self._cases: compiled.Packed | tuple[BoolArray, Array] | None = _kept(positive, scores, self._ends)
        self._every: ScoreCounts | None = None
        self._lock = Lock()

    @property
    def every(self) -> ScoreCounts:
        """The counts at all scores. Threads that ask at the same time get the same object."""
        with self._lock:
            if self._every is None:
                self._every, self._cases = self._counted(), None
            return self._every

    def _counted(self) -> ScoreCounts:
        assert self._cases is not None
        return count_packed(self._cases) if isinstance(self._cases, compiled.Packed) else count_scores(*self._cases)

    @property
    def known(self) -> ScoreCounts:
        """The counts at all scores if they have been made, otherwise those of the candidates."""
        return self._every or self.candidates

    def near(self, choose: Callable[[ScoreCounts], BoolArray]) -> ScoreCounts:
        """Return the counts at all scores of some buckets, or of some blocks of scores (see `counts_in_buckets`)."""
        with self._lock:
            if self._cases is not None:
                positive, scores = self._cases.cases() if isinstance(self._cases, compiled.Packed) else self._cases
                if (found := counts_in_buckets(positive, scores, self._ends, choose)) is not None:
                    return found
        return self.every.near(choose)

    def __reduce__(self) -> Any:
        """Pickle and copy the counts at all scores."""
        return self.every.__reduce__()


def _kept(positive: BoolArray, scores: Array, ends: tuple[float, float]) -> compiled.Packed | tuple[BoolArray, Array]:
    """Return labels and scores in memory that nobody else writes to."""
    if _is_shared(scores) and (packed := packed_scores(positive, scores, ends)) is not None:
        return packed
    positive, scores = (frozen(np.array(values)) if _is_shared(values) else values for values in (positive, scores))
    return positive, scores


def _is_shared(values: Array) -> bool:
    return values.flags.writeable or not values.flags.owndata
