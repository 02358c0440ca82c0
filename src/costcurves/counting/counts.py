"""From predictions to counts: scores and weights are checked, and cases are counted at each distinct score."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError
from costcurves._base.validation import (
    LARGEST_WHOLE,
    WEIGHT_RANGE,
    BoolArray,
    FloatArray,
    IntArray,
    frozen,
    is_missing,
    number_array,
    refuse_masked,
    shown,
)
from costcurves.counting import compiled
from costcurves.counting.geometry import upper_hull

Array = npt.NDArray[Any]

# A range of integer scores is counted instead of sorted when it is not much longer than the data.
COUNTING_FACTOR = 4
# How many examples are counted at once, so that their intermediate arrays stay in the processor's cache.
BLOCK = 1 << 15
MANY = 1 << 16  # from this number of scores on, counts take 4 bytes
# Counts of at most this many examples fit into 4 bytes.
MOST_NARROW = 2**31 - 1
UNNAMED = "classifier"  # what a classifier is called that was given no name
ASK_SWAPPED = ": are labels and scores swapped?"


@dataclass(frozen=True, slots=True, eq=False)
class ScoreCounts:
    """Cumulated counts at each distinct score, from the highest score down: predicted positive iff score >= threshold.

    `fp` and `tp` are counts, or float64 sums of weights. The first entry is (inf, 0, 0). If there are very many
    entries, each may take 4 bytes; `wide` returns them as float64 and int64. `below` has the next lower score of the
    data for each entry, NaN if it is not known; None means that it is the threshold of the next entry.
    """

    thresholds: FloatArray
    fp: Array
    tp: Array
    below: FloatArray | None = None

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for array in (self.thresholds, self.fp, self.tp, self.below):
            if array is not None:
                frozen(array)

    def __reduce__(self) -> Any:
        """Make the arrays of copies read-only too."""
        return ScoreCounts, (self.thresholds, self.fp, self.tp, self.below)

    @property
    def every(self) -> ScoreCounts:
        """The counts themselves; see `LateCounts`."""
        return self

    @property
    def known(self) -> ScoreCounts:
        """The counts themselves; see `LateCounts`."""
        return self

    def near(self, choose: Callable[[ScoreCounts], BoolArray], together: int = 16) -> ScoreCounts:
        """Return the entries of some blocks, with those before and after each, and the first and the last of all.

        `choose` gets the entries at the ends of all blocks, which are `together` apart, and marks the blocks.
        """
        last = self.fp.size - 1
        ends = np.append(np.arange(0, last, together), last)
        inside = np.repeat(choose(ScoreCounts(self.thresholds[ends], self.fp[ends], self.tp[ends])), np.diff(ends))
        kept = np.append(True, inside)
        kept[:-1] |= inside
        kept[-1] = True
        index = np.flatnonzero(kept)
        return ScoreCounts(self.thresholds[index], self.fp[index], self.tp[index])

    def first_below(self, threshold: float) -> int:
        """Find the first entry whose threshold is lower, without a copy of the thresholds, which may be very many."""
        return bisect_right(self.thresholds, -threshold, key=lambda cut: -float(cut))

    def wide(self) -> ScoreCounts:
        """Return the same counts as int64, with thresholds as float64."""
        return ScoreCounts(wide(self.thresholds), wide(self.fp), wide(self.tp), self.below)

    def at(self, index: IntArray) -> ScoreCounts:
        """Return some of the entries, wide, with the next lower scores."""
        if self.below is not None:
            below = self.below[index]
        else:
            below = wide(self.thresholds[np.minimum(index + 1, self.thresholds.size - 1)]).copy()
            below[index + 1 == self.thresholds.size] = -np.inf
        return ScoreCounts(self.thresholds[index], self.fp[index], self.tp[index], below).wide()

    def on_hull(self) -> ScoreCounts:
        """Return the counts at the vertices of their hull."""
        return self.at(upper_hull(wide(self.fp), wide(self.tp)))

    def candidates(self) -> ScoreCounts:
        """Return both ends, and the vertices of the hull of all points between them.

        Only these can be the cheapest points, and the cheapest of the points with some alarms but not all.
        """
        fp, tp = wide(self.fp), wide(self.tp)
        between = np.flatnonzero(((fp > 0) | (tp > 0)) & ((fp < fp[-1]) | (tp < tp[-1])))
        if between.size:
            between = between[upper_hull(fp[between], tp[between])]
        return self.at(np.concatenate(([0], between, [fp.size - 1])))


def wide(values: Array) -> Array:
    """Convert floats to float64 and integers to int64 for arithmetic, without a copy if they already have that type."""
    kind = np.float64 if values.dtype.kind == "f" else np.int64
    return values if values.dtype == kind else frozen(values.astype(kind))


def cumulated(thresholds: FloatArray, neg: Array, pos: Array) -> ScoreCounts:
    """Return cumulated counts from the counts at each threshold, from the highest down."""
    zero = np.zeros(1, neg.dtype)
    return ScoreCounts(
        np.concatenate(([np.inf], thresholds)),
        np.concatenate((zero, np.cumsum(neg))),
        np.concatenate((zero, np.cumsum(pos))),
    )


def score_of(classifier: str) -> str:
    """Return what to call the scores of a classifier in a message."""
    return "y_score" if classifier == UNNAMED else f"y_score of {shown(classifier)}"


def checked_scores(y_score: Any, name: str = "y_score") -> Array:
    """Check that scores are finite and one-dimensional, without converting floats or integers."""
    raw = _as_array(name, y_score)
    if raw.ndim == 2:
        raise DataError(
            f"`{name}` must be 1-D, got shape {raw.shape}: pass the scores of the positive class, "
            "for example predict_proba(X)[:, list(model.classes_).index(pos_label)]"
        )
    scores = one_dimensional(name, raw)
    if scores.dtype.kind == "O":
        scores = _object_scores(scores, name)
    elif scores.dtype.kind == "f" and isinstance(y_score, (list, tuple)):
        _refuse_inexact(y_score, name)  # NumPy makes floats of integers that do not fit into the same integer type
    if scores.dtype.kind == "b":
        return scores.astype(np.uint8)
    if scores.dtype.kind in "iu":
        low, high = int(scores.min()), int(scores.max())
        if max(-low, high) > LARGEST_WHOLE:
            raise DataError(
                f"`{name}` must hold integers of at most 2**53 in size, so that thresholds are exact, "
                f"got {low if -low > high else high}: pass ranks instead"
            )
        return scores
    if scores.dtype.kind != "f":
        hint = ": for predicted labels pass (predicted == positive_label)" if scores.dtype.kind in "UST" else ""
        raise DataError(f"`{name}` must be numeric, got dtype {scores.dtype}{hint}")
    if not np.isfinite(scores).all():
        raise non_finite(name, scores)
    if scores.dtype == np.float16:
        return scores.astype(np.float32)
    if scores.dtype.itemsize > 8:
        return _narrowed(name, scores)
    return scores if scores.dtype.isnative else scores.astype(scores.dtype.newbyteorder("="))


def _narrowed(name: str, values: Array) -> FloatArray:
    """Convert long doubles to float64. Values that would be rounded are refused, because that could create ties."""
    with np.errstate(over="ignore"):
        narrow: FloatArray = values.astype(np.float64)
    lost = np.flatnonzero(narrow != values)
    if lost.size:
        raise DataError(
            f"`{name}` must hold numbers that float64 holds, got {lost.size} of {values.dtype} that it would round, "
            f"the first is {values[lost[0]]!s} at position {lost[0]}: round them yourself with astype(np.float64)"
        )
    return narrow


def _object_scores(scores: Array, name: str) -> Array:
    """Convert object scores to float64. The error for a value that is not a number gives its position."""
    values = scores.tolist()
    _refuse_inexact(values, name)
    for position, value in enumerate(values):
        if not (isinstance(value, (Real, Decimal)) or is_missing(value)):
            raise DataError(f"`{name}` must be numeric, got {shown(value)} at position {position}")
    return number_array(name, scores, error=DataError)


def _refuse_inexact(values: Sequence[Any], name: str) -> None:
    """Raise an error for integers that a float would round."""
    for value in values:
        if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
            raise DataError(
                f"`{name}` must hold integers of at most 2**53 in size, so that thresholds are exact, "
                f"got {shown(value)}: pass ranks instead"
            )


def checked_weights(sample_weight: Any, size: int) -> FloatArray:
    """Check that weights are finite and non-negative, with one per example, and convert them to float64."""
    raw = one_dimensional("sample_weight", sample_weight)
    if raw.dtype.kind == "f" and raw.dtype.itemsize > 8 and np.isfinite(raw).all():
        raw = _narrowed("sample_weight", raw)
    weights = number_array("sample_weight", raw, error=DataError)
    same_length("sample_weight", weights, "y_true", size)
    if not np.isfinite(weights).all():
        raise non_finite("sample_weight", weights)
    if (weights < 0).any():
        first = int(np.flatnonzero(weights < 0)[0])
        raise DataError(f"`sample_weight` must be >= 0, got {shown(weights[first])} at position {first}")
    return weights


def effective_number(weights: FloatArray) -> float:
    """Compute (Σw)²/Σw², correctly rounded for integer weights, so that the order of summation does not matter."""
    if whole_weights(weights):
        return int(weights.sum()) ** 2 / int((weights**2).sum())
    shares = weights / weights.max()  # so that no square is too large or too small for a float
    return float(shares.sum() ** 2 / (shares**2).sum())


def effective_sizes(positive: BoolArray, weights: FloatArray) -> tuple[float, float]:
    """The effective numbers of positives and of negatives."""
    return effective_number(weights[positive]), effective_number(weights[~positive])


def whole_weights(weights: FloatArray) -> bool:
    """Whether weights are integers so small that a float holds the sum of their squares exactly."""
    with np.errstate(over="ignore"):
        return bool((weights**2).sum() <= LARGEST_WHOLE and (weights == np.floor(weights)).all())


def same_length(name: str, array: Array, other: str, size: int) -> None:
    """Raise an error if two arrays have different lengths."""
    if array.size != size:
        raise DataError(f"`{name}` and `{other}` must have the same length, got {array.size} and {size}")


def both_classes(positive: BoolArray, weights: FloatArray | None = None) -> None:
    """Raise an error unless there are positive and negative examples, and both have weight."""
    n_pos = int(np.count_nonzero(positive))
    sums = None
    if weights is not None:
        with np.errstate(over="ignore"):
            sums = float(weights[positive].sum()), float(weights[~positive].sum())
    check_totals(n_pos, positive.size - n_pos, sums)


def check_totals(n_pos: int, n_neg: int, sums: tuple[float, float] | None = None) -> None:
    """Raise an error if a class has no examples, or if the sum of its weights is zero or out of range."""
    if n_pos == 0 or n_neg == 0:
        raise DataError(f"`y_true` must hold both classes, got {n_pos} positive and {n_neg} negative examples")
    if sums is not None:
        w_pos, w_neg = sums
        if w_pos <= 0 or w_neg <= 0:
            raise DataError(
                "`sample_weight` must give weight to both classes, "
                f"got {w_pos:g} for positives and {w_neg:g} for negatives"
            )
        low, high = WEIGHT_RANGE
        if not (low <= min(w_pos, w_neg) and max(w_pos, w_neg) <= high):
            raise DataError(
                f"`sample_weight` must have a sum in [{low:g}, {high:g}] for each class, "
                f"got {w_pos:g} for positives and {w_neg:g} for negatives"
            )


def _as_array(name: str, values: Any) -> Array:
    """Convert values to an array of any shape. Ragged rows and masked values are refused."""
    refuse_masked(name, values, DataError)
    try:
        return np.asarray(values)
    except (TypeError, ValueError):
        raise DataError(f"`{name}` must be 1-D, got rows of different lengths") from None


def one_dimensional(name: str, values: Any) -> Array:
    """Return a non-empty 1-D array."""
    if isinstance(values, Mapping):
        raise DataError(f"`{name}` must be 1-D, got a {type(values).__name__}{ASK_SWAPPED}")
    array = _as_array(name, values)
    if array.ndim != 1:
        hint = ": pass a flat array, for example y.ravel()" if array.ndim == 2 and 1 in array.shape else ""
        raise DataError(f"`{name}` must be 1-D, got shape {array.shape}{hint}")
    if array.size == 0:
        raise DataError(f"`{name}` must not be empty, got 0 examples")
    return array


def non_finite(name: str, values: Array) -> DataError:
    """Make an error that counts the non-finite values and gives the position of the first."""
    where = np.flatnonzero(~np.isfinite(values))
    plural = "value" if where.size == 1 else "values"
    return DataError(
        f"`{name}` must be finite, got {where.size} non-finite {plural}, "
        f"the first is {values[where[0]]} at position {where[0]}"
    )


def count_scores(positive: BoolArray, scores: Array) -> ScoreCounts:
    """Count the labels at every distinct score, by a sort of packed keys (integers of a short range need no sort).

    It takes O(n log n). The label is the lowest bit of a key that has the order of the scores, so that one SIMD sort
    orders scores and labels together, without an index array. The keys are made and sorted in the memory of the
    thresholds, and read block by block. If there are very many scores, thresholds have the type of the scores and
    counts take 4 bytes, because at these sizes fresh memory costs as much as the arithmetic.
    """
    if scores.dtype.kind in "iu":
        if countable(scores):
            return _counted(positive, scores)
        scores = scores.astype(np.float64)  # exact: checked_scores has bounded them
    if (packed := packed_scores(positive, scores, (float(scores.min()), float(scores.max())))) is not None:
        return count_packed(packed)
    narrow = MANY < scores.size <= MOST_NARROW
    thresholds = np.empty(scores.size + 1, scores.dtype if narrow else np.float64)
    # Keys take the end of that memory and thresholds are written from its beginning, so no key is lost before it is
    # read.
    keys: Array = thresholds.view(np.uint64 if scores.dtype == np.float64 else np.uint32)[-scores.size :]
    parts = _sort_keys(positive, scores, keys)
    fp, tp = (np.empty(thresholds.size, np.int32 if narrow else np.int64) for _ in range(2))
    thresholds[0], fp[0], tp[0] = np.inf, 0, 0
    signed = np.dtype(f"i{keys.itemsize}")
    points, n_pos = 1, np.int64(0)
    for start, end, flip in parts:
        for low in range(start, end, BLOCK):
            high = min(low + BLOCK, end)
            last = _last_of_scores(keys, low, high, end)
            labels = (keys[low:high] & 1).view(signed)
            found = np.add.accumulate(labels, out=labels)
            bits = (keys[low:high].take(last) >> 1) ^ flip
            span = slice(points, points + last.size)
            np.add(found.take(last), n_pos, out=tp[span])
            np.subtract(last + (low + 1), tp[span], out=fp[span])
            thresholds[span] = bits.view(scores.dtype)
            points, n_pos = points + last.size, n_pos + found[-1]
    del keys  # it is a view of an array that is shortened now
    for array in (thresholds, fp, tp):
        array.resize(points, refcheck=False)
    return ScoreCounts(thresholds, fp, tp)


def packed_scores(positive: BoolArray, scores: Array, ends: tuple[float, float]) -> compiled.Packed | None:
    """Pack float scores and labels to be counted by compiled loops; None if these are missing or cannot count them.

    `ends` are the lowest and the highest score.
    """
    fast = compiled.loops()
    if fast is None or scores.dtype.kind != "f" or scores.size > MOST_NARROW:
        return None
    return fast.packed(scores, positive, max(abs(end) for end in ends))


def count_packed(packed: compiled.Packed) -> ScoreCounts:
    """Count the labels at every distinct score, as `count_scores` does, in the memory of the packed scores."""
    fast, many = compiled.loops(), packed.room.size - 1 > MANY
    assert fast is not None
    table = ScoreCounts(*fast.unpacked(packed))
    return table if many else table.wide()


def count_weights(positive: BoolArray, scores: Array, weights: FloatArray) -> ScoreCounts:
    """Sum the weights at and above every distinct score. The sums do not depend on the order of the rows."""
    kept = weights > 0
    scores, positive, weights = scores[kept].astype(np.float64) + 0.0, positive[kept], weights[kept]
    order = np.lexsort((weights, positive, scores))[::-1]
    scores, positive, weights = scores[order], positive[order], weights[order]
    last = np.append(scores[1:] != scores[:-1], True)
    tp = np.cumsum(np.where(positive, weights, 0.0))[last]
    fp = np.cumsum(np.where(positive, 0.0, weights))[last]
    return ScoreCounts(
        np.concatenate(([np.inf], scores[last].astype(np.float64))),
        np.concatenate(([0.0], fp)),
        np.concatenate(([0.0], tp)),
    )


def _sort_keys(positive: BoolArray, scores: Array, keys: Array) -> list[tuple[int, int, Any]]:
    """Fill `keys` with sorted unsigned keys of float scores, the highest score first; return (start, end, flip).

    If the sign of a float is known, its bit is free for the label: a key is ``(bits ^ flip) << 1 | label``, with the
    `flip` that makes higher scores smaller keys. Scores of both signs make two parts, the non-negative ones first.
    """
    sign = keys.dtype.type(1 << (8 * keys.itemsize - 1))
    bits = np.ascontiguousarray(scores).view(keys.dtype)
    negative = np.signbit(scores)
    chosen: list[tuple[Any, Any]] = [(slice(None), ~sign)]
    if negative.any():
        negative &= scores != 0  # -0.0 and 0.0 are the same score
        chosen = [(~negative, ~sign), (negative, sign)]
    parts, start = [], 0
    for mask, flip in chosen:
        some = bits[mask]
        if some.size == 0:
            continue
        part = keys[start : start + some.size]
        np.bitwise_xor(some, flip, out=part)
        part <<= 1  # drops the sign
        part |= positive[mask]
        part.sort()
        parts.append((start, start + some.size, flip))
        start += some.size
    return parts


def _last_of_scores(keys: Array, low: int, high: int, end: int) -> IntArray:
    """Find the positions in ``keys[low:high]`` of keys that are the last of their score. The keys end at `end`."""
    change = np.ones(high - low, dtype=np.bool_)
    np.greater(keys[low : high - 1] ^ keys[low + 1 : high], 1, out=change[:-1])  # more than the labels differ
    if high < end:
        change[-1] = keys[high - 1] ^ keys[high] > 1
    return np.flatnonzero(change)


def countable(scores: Array) -> bool:
    """Whether scores are integers of so short a range that counting them is faster than sorting."""
    return scores.dtype.kind in "iu" and int(scores.max()) - int(scores.min()) < COUNTING_FACTOR * scores.size + 256


def _counted(positive: BoolArray, scores: Array) -> ScoreCounts:
    """Count integer scores of a short range without a sort."""
    low, high = int(scores.min()), int(scores.max())
    codes = scores.astype(np.int64) - low
    codes *= 2
    codes += positive
    table = np.bincount(codes, minlength=2 * (high - low + 1)).reshape(-1, 2)[::-1]
    present = table.any(axis=1)
    return cumulated(np.arange(high, low - 1, -1, dtype=np.float64)[present], *table[present].T)
