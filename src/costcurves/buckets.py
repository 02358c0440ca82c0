"""Hull vertices straight from predictions, without sorting them all.

Count positives and negatives in order-preserving buckets; take the hull of the bucket boundaries; only a bucket whose
upper-left corner lies strictly above that hull can hold a vertex, so only members of those buckets are sorted. The
result equals the hull of the full curve by construction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._validation import BoolArray, IntArray
from costcurves.counts import BLOCK, ScoreCounts, count_scores, countable, wide
from costcurves.geometry import blocks_above, upper_hull

Array = npt.NDArray[Any]
Coding = Callable[[Array], IntArray]

SMALLEST = 20_000  # below this one sort is faster
SAMPLE = 2_048
# Buckets help when a sampled example shares its bucket with at most this share of the data.
MOST_SHARED = 1 / 64
# Buckets by bits cost a little more to make: they must spread the sample so many times better.
CLEARLY = 1.5
# Large data are counted in so many parts: with more, to add up their buckets would take longer than to fill them.
PARTS = 8


def hull_counts(positive: BoolArray, scores: Array) -> ScoreCounts:
    """Return the counts at the hull's vertices only, with the thresholds the full curve has there."""
    coding = None if scores.size < SMALLEST or countable(scores) else _bucketing(scores)
    if coding is None:
        return on_hull(count_scores(positive, scores))
    # Some examples at a time, and their buckets found anew when members are gathered: that takes no longer than to
    # write codes of all examples into fresh memory and to read them again.
    size = max(BLOCK, -(-scores.size // PARTS))
    spans = [slice(start, start + size) for start in range(0, scores.size, size)]
    by_bucket = _counted_in_buckets(positive, scores, coding, spans)
    filled = np.flatnonzero(by_bucket[:, 0] | by_bucket[:, 1])[::-1]  # from the highest scores down
    fp = np.concatenate(([0], np.cumsum(by_bucket[filled, 0])))
    tp = np.concatenate(([0], np.cumsum(by_bucket[filled, 1])))
    hull = upper_hull(fp, tp)
    active = blocks_above(fp, tp, hull)
    active[hull[1:] - 1] = True  # their lowest score is a threshold
    wanted = np.zeros(by_bucket.shape[0], dtype=np.bool_)
    wanted[filled[active]] = True
    if by_bucket[wanted].sum() > scores.size // 2:
        return on_hull(count_scores(positive, scores))
    del by_bucket, filled
    chosen = [(span, np.flatnonzero(wanted[coding(scores[span])])) for span in spans]
    inside = count_scores(
        np.concatenate([positive[span][members] for span, members in chosen]),
        np.concatenate([scores[span][members] for span, members in chosen]),
    )
    return on_hull(_moved_to_place(inside, fp, tp, active))


def _counted_in_buckets(positive: BoolArray, scores: Array, coding: Coding, spans: list[slice]) -> IntArray:
    """Return negatives and positives in each bucket, of shape (buckets, 2)."""
    highest = int(coding(scores.max(keepdims=True))[0])
    table = np.zeros(2 * (highest + 1), dtype=np.int64)
    for span in spans:
        codes = coding(scores[span])
        codes <<= 1
        codes |= positive[span]
        table += np.bincount(codes, minlength=table.size)
    return table.reshape(-1, 2)


def on_hull(counts: ScoreCounts) -> ScoreCounts:
    """Return the counts at the vertices of their hull."""
    vertex = upper_hull(wide(counts.fp), wide(counts.tp))
    return ScoreCounts(counts.thresholds[vertex], counts.fp[vertex], counts.tp[vertex]).wide()


def _moved_to_place(inside: ScoreCounts, fp: IntArray, tp: IntArray, active: BoolArray) -> ScoreCounts:
    """Return the counts within active buckets, with what the skipped buckets above them hold added."""
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


def _bucketing(scores: Array) -> Coding | None:
    """Return what finds the bucket of scores (higher score, same or higher bucket), None where buckets would not help.

    Evenly spaced buckets are the fastest and fail on skewed scores; buckets by the float's leading bits do not mind
    skewness in the tails. A sample tells which spreads the data better; nearly equal, the faster is taken.
    """
    buckets = 1 << max(10, int(scores.size).bit_length() - 4)
    sample = scores[:: max(1, scores.size // SAMPLE)]
    low, high = float(scores.min()), float(scores.max())
    width = high - low
    if width == 0:
        return None
    scale = (buckets - 1) / width
    largest = np.finfo(scores.dtype if scores.dtype.kind == "f" else np.float64).max
    if not max(width, scale) <= float(largest):
        return None

    def evenly(some: Array) -> IntArray:
        even = some - low
        even *= scale
        return even.astype(np.int64)

    crowded = _crowding(evenly(sample))
    if low >= 0 and scores.dtype.kind == "f":
        ends = _bits(np.array([low, high], dtype=scores.dtype))
        unsigned = ends.dtype.type
        first = unsigned(ends[0])
        shift = unsigned(max(0, int(ends[1] - ends[0]).bit_length() - buckets.bit_length() + 1))

        def by_bits(some: Array) -> IntArray:
            bits = _bits(some)
            bits -= first
            bits >>= shift
            return bits.astype(np.int64)

        crowded_bits = _crowding(by_bits(sample))
        if crowded_bits <= MOST_SHARED and crowded_bits < crowded / CLEARLY:
            return by_bits
    return None if crowded > MOST_SHARED else evenly


def _bits(scores: Array) -> Array:
    """Return the bits of non-negative floats, which order like the floats (-0.0 made 0.0)."""
    unsigned = np.uint64 if scores.dtype == np.float64 else np.uint32
    bits: Array = (scores + scores.dtype.type(0)).view(unsigned)
    return bits


def _crowding(codes: Array) -> float:
    """Return the chance that two different sampled scores share a bucket."""
    _, counts = np.unique(codes, return_counts=True)
    return float((counts * (counts - 1.0)).sum() / (codes.size * max(codes.size - 1.0, 1.0)))
