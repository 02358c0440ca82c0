"""Hull vertices straight from predictions, without sorting them all.

Count positives and negatives in order-preserving buckets; take the hull of the bucket boundaries; only a bucket whose
upper-left corner lies strictly above that hull can hold a vertex, so only members of those buckets are sorted. The
result equals the hull of the full curve by construction.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._validation import BoolArray, IntArray
from costcurves.counts import ScoreCounts, count_scores, countable
from costcurves.geometry import blocks_above, upper_hull

Array = npt.NDArray[Any]

SMALLEST = 20_000  # below this one sort is faster
SAMPLE = 2_048
# Buckets help when a sampled example shares its bucket with at most this share of the data.
MOST_SHARED = 1 / 64
# Buckets by bits cost a little more to make: they must spread the sample so many times better.
CLEARLY = 1.5


def hull_counts(positive: BoolArray, scores: Array) -> ScoreCounts:
    """Return the counts at the hull's vertices only, with the thresholds the full curve has there."""
    codes = None if scores.size < SMALLEST or countable(scores) else _bucket_codes(scores)
    if codes is None:
        return on_hull(count_scores(positive, scores))
    table = np.bincount((codes << 1) | positive).astype(np.int64)
    if table.size % 2:
        table = np.append(table, 0)
    by_bucket = table.reshape(-1, 2)
    filled = np.flatnonzero(by_bucket.any(axis=1))[::-1]  # from the highest scores down
    fp = np.concatenate(([0], np.cumsum(by_bucket[filled, 0])))
    tp = np.concatenate(([0], np.cumsum(by_bucket[filled, 1])))
    hull = upper_hull(fp, tp)
    active = blocks_above(fp, tp, hull)
    active[hull[1:] - 1] = True  # their lowest score is a threshold
    wanted = np.zeros(by_bucket.shape[0], dtype=np.bool_)
    wanted[filled[active]] = True
    members = np.flatnonzero(wanted[codes])
    if members.size > scores.size // 2:
        return on_hull(count_scores(positive, scores))
    inside = count_scores(positive[members], scores[members])
    return on_hull(_moved_to_place(inside, fp, tp, active))


def on_hull(counts: ScoreCounts) -> ScoreCounts:
    """Return the counts at the vertices of their hull."""
    vertex = upper_hull(counts.fp, counts.tp)
    return ScoreCounts(counts.thresholds[vertex], counts.fp[vertex], counts.tp[vertex])


def _moved_to_place(inside: ScoreCounts, fp: IntArray, tp: IntArray, active: BoolArray) -> ScoreCounts:
    """Return the counts within active buckets, with what the skipped buckets above them hold added."""
    n_bucket = np.diff(fp) + np.diff(tp)
    ends = np.cumsum(np.where(active, n_bucket, 0))  # examples gathered up to and with each bucket
    rank = inside.fp + inside.tp
    bucket = np.searchsorted(ends, rank[1:], side="left")  # an active bucket: only there `ends` grows
    skipped_fp = np.concatenate(([0], np.cumsum(np.where(active, 0, np.diff(fp)))))[bucket]
    skipped_tp = np.concatenate(([0], np.cumsum(np.where(active, 0, np.diff(tp)))))[bucket]
    moved_fp, moved_tp = inside.fp.copy(), inside.tp.copy()
    moved_fp[1:] += skipped_fp
    moved_tp[1:] += skipped_tp
    return ScoreCounts(inside.thresholds.copy(), moved_fp, moved_tp)


def _bucket_codes(scores: Array) -> IntArray | None:
    """Return the bucket of each score (higher score, same or higher bucket), or None where buckets would not help.

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
    crowded = _crowding(((sample - low) * scale).astype(np.int64))
    if low >= 0 and scores.dtype.kind == "f":
        ends = _bits(np.array([low, high], dtype=scores.dtype))
        first, last = int(ends[0]), int(ends[1])
        unsigned = ends.dtype.type
        shift = unsigned(max(0, (last - first).bit_length() - buckets.bit_length() + 1))
        crowded_bits = _crowding((_bits(sample) - unsigned(first)) >> shift)
        if crowded_bits <= MOST_SHARED and crowded_bits < crowded / CLEARLY:
            codes: IntArray = ((_bits(scores) - unsigned(first)) >> shift).astype(np.int64)
            return codes
    if crowded > MOST_SHARED:
        return None
    even = scores - low
    even *= scale
    return even.astype(np.int64)


def _bits(scores: Array) -> Array:
    """Return the bits of non-negative floats, which order like the floats (-0.0 made 0.0)."""
    unsigned = np.uint64 if scores.dtype == np.float64 else np.uint32
    bits: Array = (scores + scores.dtype.type(0)).view(unsigned)
    return bits


def _crowding(codes: Array) -> float:
    """Return the chance that two different sampled scores share a bucket."""
    _, counts = np.unique(codes, return_counts=True)
    return float((counts * (counts - 1.0)).sum() / (codes.size * max(codes.size - 1.0, 1.0)))
