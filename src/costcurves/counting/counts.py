"""Predictions become counts here: the only door. After it nothing knows where the data came from."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
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
    is_missing_label,
    number_array,
    refuse_masked,
    shown,
)

Array = npt.NDArray[Any]

# Integer scores become float thresholds, and a float64 holds every integer up to here.
LARGEST_EXACT_INTEGER = LARGEST_WHOLE
# A range of integer scores is counted instead of sorted when it is not much longer than the data.
COUNTING_FACTOR = 4
# Examples that are counted at once: what is needed for them stays in the processor's cache.
BLOCK = 1 << 15
MANY = 1 << 16  # scores whose counts are held in few bytes
# Whole numbers of more different values than this are hardly labels.
MOST_LABELS = 20
ASK_SWAPPED = ": are labels and scores swapped?"


@dataclass(frozen=True, slots=True, eq=False)
class ScoreCounts:
    """Cumulated counts at each distinct score, from the highest score down: predicted positive iff score >= threshold.

    `fp` and `tp` are counts, or float64 sums of weights. The first entry is (inf, 0, 0). What has very many entries may
    hold them in 4 bytes each; `wide` has float64 and int64. `below` are the next lower scores of the data, NaN where
    they are not known; None means that they are the thresholds of the next entries.
    """

    thresholds: FloatArray
    fp: Array
    tp: Array
    below: FloatArray | None = None

    def __post_init__(self) -> None:
        """Set the arrays read-only."""
        for array in (self.thresholds, self.fp, self.tp, self.below):
            if array is not None:
                frozen(array)

    def wide(self) -> ScoreCounts:
        """Return the same with thresholds of float64 and counts of int64."""
        return ScoreCounts(wide(self.thresholds), wide(self.fp), wide(self.tp), self.below)

    def at(self, index: IntArray) -> ScoreCounts:
        """Return some of the entries, wide, with the next lower scores."""
        if self.below is not None:
            below = self.below[index]
        else:
            below = wide(self.thresholds[np.minimum(index + 1, self.thresholds.size - 1)]).copy()
            below[index + 1 == self.thresholds.size] = -np.inf
        return ScoreCounts(self.thresholds[index], self.fp[index], self.tp[index], below).wide()


def wide(values: Array) -> Array:
    """Return floats as float64 and whole numbers as int64, for arithmetic; the array itself where it has the type."""
    kind = np.float64 if values.dtype.kind == "f" else np.int64
    return values if values.dtype == kind else frozen(values.astype(kind))


def binary_labels(y_true: Any, pos_label: Any = None) -> BoolArray:
    """Return which labels are positive, after checking that there are exactly two classes.

    Without `pos_label`, only labels that say it themselves are taken: booleans, 0/1 and -1/1.
    """
    rule = LabelRule(pos_label)
    positive = rule.positives(y_true)
    if rule.family == "names" and not positive.any():
        raise _not_a_label(pos_label, np.asarray(y_true))
    return positive


FAMILIES = (None, "booleans", "numbers", "names")


class LabelRule:
    """Which labels are positive, batch by batch: a batch may hold one class, but all of them together only two.

    `family` is what labels are ("booleans", "numbers" or "names") and `negative` the one other label, as far as seen.
    """

    __slots__ = ("family", "negative", "pos_label")

    def __init__(self, pos_label: Any = None, family: str | None = None, negative: tuple[Any, ...] = ()) -> None:
        if not isinstance(pos_label, Hashable) or isinstance(pos_label, (tuple, frozenset, range)):
            raise DataError(f"`pos_label` must be one label, got {shown(pos_label)}")
        self.pos_label = pos_label.item() if isinstance(pos_label, np.generic) else pos_label
        self.family, self.negative = family, negative

    def positives(self, y_true: Any) -> BoolArray:
        """Return which labels of a batch are positive, and remember what the others are."""
        labels = _one_dimensional("y_true", y_true)
        pos_label = self.pos_label
        if labels.dtype.kind in "US" and isinstance(y_true, (list, tuple)):
            labels = np.array(y_true, dtype=object)  # NumPy makes texts of numbers and NaN beside texts
        if labels.dtype.kind == "O":
            labels = _plain_objects(labels)
        kind = labels.dtype.kind
        if kind == "b":
            if pos_label is not None and pos_label not in (0, 1):
                raise DataError(f"`pos_label` must be True or False for boolean `y_true`, got {shown(pos_label)}")
            self._remember("booleans", ())
            return labels if pos_label is None or pos_label else ~labels
        if kind in "iuf":
            positive, negative = _numeric_positives(labels, pos_label)
            self._remember("numbers", negative)
        elif kind in "USTO":
            if kind in "UT" and (empty := np.flatnonzero(labels == "")).size:
                raise _missing_labels(empty)
            positive, negative = _named_positives(labels, pos_label)
            self._remember("names", negative)
        else:
            raise DataError(f"`y_true` must hold booleans, numbers or strings, got dtype {labels.dtype}")
        return positive

    def join(self, other: LabelRule) -> None:
        """Take over what another rule has seen, in other batches of the same data."""
        if type(self.pos_label) is not type(other.pos_label) or self.pos_label != other.pos_label:
            raise DataError(
                f"`pos_label` must be the same in all parts, got {shown(self.pos_label)} and {shown(other.pos_label)}"
            )
        if other.family is not None:
            self._remember(other.family, other.negative)

    def _remember(self, family: str, negative: tuple[Any, ...]) -> None:
        if self.family not in (None, family):
            first, second = sorted((str(self.family), family))
            raise DataError(f"`y_true` must hold labels of one type in all batches, got {first} and {second}")
        if self.negative and negative and self.negative != negative:
            found = sorted((*self.negative, *negative), key=str)
            raise DataError(
                "`y_true` must hold two classes in all batches together, got besides the positive class "
                f"{shown(found[0])} and {shown(found[1])}"
            )
        self.family, self.negative = family, self.negative or negative


def _numeric_positives(labels: Array, pos_label: Any) -> tuple[BoolArray, tuple[Any, ...]]:
    """Return the positives among integer or float labels, in a few passes and without a sort, and the other label."""
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise _non_finite("y_true", labels)
    low, high = labels.min(), labels.max()
    if labels.dtype.kind in "iu" and low == 0 and high == 1 and (pos_label is None or pos_label == 1):
        return labels != 0, (0,)  # the usual, in few passes
    if pos_label is None:
        if (high != 1 and not (low == high == 0 or low == high == -1)) or low not in (-1, 0, 1):
            if ((labels != low) & (labels != high)).any():
                raise _too_many_classes(labels)
            raise DataError(
                "`pos_label` must be given when `y_true` is not 0/1, -1/1 or boolean, "
                f"got labels {_some_values(labels)}"
            )
        pos_label = 1
    elif isinstance(pos_label, str):
        raise DataError(
            f"`pos_label` must be one of the labels in `y_true`, got {shown(pos_label)} but labels are numbers"
            f"{_swapped(labels)}"
        )
    positive: BoolArray = labels == pos_label
    n_pos = int(np.count_nonzero(positive))
    if n_pos == 0 and low != high:
        raise _not_a_label(pos_label, labels)
    negative_value = low if high == pos_label else high
    if n_pos < labels.size and n_pos + int(np.count_nonzero(labels == negative_value)) < labels.size:
        raise _too_many_classes(labels)
    return positive, () if n_pos == labels.size else (negative_value.item(),)


def _named_positives(labels: Array, pos_label: Any) -> tuple[BoolArray, tuple[Any, ...]]:
    """Return the positives among strings or other objects, compared value by value, and the other label."""
    if pos_label is None:
        raise DataError(
            "`pos_label` must be given when labels are names, because nothing says which class is positive, "
            f"got labels {_some_values(labels)}"
        )
    positive = np.asarray(labels == pos_label, dtype=np.bool_)
    if positive.shape != labels.shape:
        raise _not_a_label(pos_label, labels)
    others = labels[~positive]
    if others.size and not np.asarray(others == others[0], dtype=np.bool_).all():
        raise _too_many_classes(labels) if positive.any() else _not_a_label(pos_label, labels)
    return positive, tuple(others[:1].tolist())


def _plain_objects(labels: Array) -> Array:
    """Return object labels as booleans, numbers or strings where they all are; missing labels are refused."""
    values = labels.tolist()
    try:
        distinct = set(values)
    except TypeError:
        raise DataError("`y_true` must hold booleans, numbers or strings, got unhashable objects") from None
    if any(map(is_missing_label, distinct)):
        raise _missing_labels([i for i, v in enumerate(values) if is_missing_label(v)])
    kinds = {type(v) for v in distinct}
    if len(kinds) > 1 and not kinds <= {int, float, bool, np.int64, np.float64}:
        raise DataError(f"`y_true` must hold labels of one type, got {_some_values(labels)}")
    if kinds <= {bool, np.bool_}:
        return labels.astype(np.bool_)
    if all(issubclass(k, (int, float, np.number)) for k in kinds):
        return np.asarray(values)
    return labels


def score_of(classifier: str) -> str:
    """Return what to call the scores of one of several classifiers in a message."""
    return f"y_score of {shown(classifier)}"


def checked_scores(y_score: Any, name: str = "y_score") -> Array:
    """Return finite one-dimensional scores without converting floats or integers."""
    raw = _as_array(name, y_score)
    if raw.ndim == 2:
        raise DataError(
            f"`{name}` must be 1-D, got shape {raw.shape}: pass the scores of the positive class, "
            "for example predict_proba(X)[:, list(model.classes_).index(pos_label)]"
        )
    scores = _one_dimensional(name, raw)
    if scores.dtype.kind == "O":
        scores = _object_scores(scores, name)
    elif scores.dtype.kind == "f" and isinstance(y_score, (list, tuple)):
        _refuse_inexact(y_score, name)  # NumPy makes floats of whole numbers that fit no integer type together
    if scores.dtype.kind == "b":
        return scores.astype(np.uint8)
    if scores.dtype.kind in "iu":
        low, high = int(scores.min()), int(scores.max())
        if max(-low, high) > LARGEST_EXACT_INTEGER:
            raise DataError(
                f"`{name}` must hold integers of at most 2**53 in size, so that thresholds are exact, "
                f"got {low if -low > high else high}: pass ranks instead"
            )
        return scores
    if scores.dtype.kind != "f":
        hint = ": for predicted labels pass (predicted == positive_label)" if scores.dtype.kind in "UST" else ""
        raise DataError(f"`{name}` must be numeric, got dtype {scores.dtype}{hint}")
    if not np.isfinite(scores).all():
        raise _non_finite(name, scores)
    if scores.dtype == np.float16:
        return scores.astype(np.float32)
    if scores.dtype.itemsize > 8:
        return _narrowed(name, scores)
    return scores if scores.dtype.isnative else scores.astype(scores.dtype.newbyteorder("="))


def _narrowed(name: str, values: Array) -> FloatArray:
    """Return long doubles as float64, which must hold each of them: rounding could tie or reorder different values."""
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
    """Return object scores as float64; what is not a number is refused by position."""
    values = scores.tolist()
    _refuse_inexact(values, name)
    for position, value in enumerate(values):
        if not (isinstance(value, (Real, Decimal)) or is_missing(value)):
            raise DataError(f"`{name}` must be numeric, got {shown(value)} at position {position}")
    return number_array(name, scores, error=DataError)


def _refuse_inexact(values: Sequence[Any], name: str) -> None:
    """Refuse whole numbers that a float would round."""
    for value in values:
        if isinstance(value, int) and abs(value) > LARGEST_EXACT_INTEGER:
            raise DataError(
                f"`{name}` must hold integers of at most 2**53 in size, so that thresholds are exact, "
                f"got {shown(value)}: pass ranks instead"
            )


def checked_weights(sample_weight: Any, size: int) -> FloatArray:
    """Return finite, non-negative float64 weights, one for each example."""
    raw = _one_dimensional("sample_weight", sample_weight)
    if raw.dtype.kind == "f" and raw.dtype.itemsize > 8 and np.isfinite(raw).all():
        raw = _narrowed("sample_weight", raw)
    weights = number_array("sample_weight", raw, error=DataError)
    same_length("sample_weight", weights, "y_true", size)
    if not np.isfinite(weights).all():
        raise _non_finite("sample_weight", weights)
    if (weights < 0).any():
        first = int(np.flatnonzero(weights < 0)[0])
        raise DataError(f"`sample_weight` must be >= 0, got {shown(weights[first])} at position {first}")
    return weights


def effective_number(weights: FloatArray) -> float:
    """Return (Σw)²/Σw²: of whole weights exactly rounded, so that the order of summation does not matter."""
    if whole_weights(weights):
        return int(weights.sum()) ** 2 / int((weights**2).sum())
    shares = weights / weights.max()  # so that no square is too large or too small for a float
    return float(shares.sum() ** 2 / (shares**2).sum())


def whole_weights(weights: FloatArray) -> bool:
    """Return whether weights are whole numbers whose sum of squares, and so any sum of them, a float holds exactly."""
    with np.errstate(over="ignore"):
        return bool((weights**2).sum() <= LARGEST_WHOLE and (weights == np.floor(weights)).all())


def same_length(name: str, array: Array, other: str, size: int) -> None:
    """Refuse two arrays of different lengths."""
    if array.size != size:
        raise DataError(f"`{name}` and `{other}` must have the same length, got {array.size} and {size}")


def both_classes(positive: BoolArray, weights: FloatArray | None = None) -> None:
    """Refuse data without a positive or without a negative example (of any weight)."""
    n_pos = int(np.count_nonzero(positive))
    sums = None
    if weights is not None:
        with np.errstate(over="ignore"):
            sums = float(weights[positive].sum()), float(weights[~positive].sum())
    check_totals(n_pos, positive.size - n_pos, sums)


def check_totals(n_pos: int, n_neg: int, sums: tuple[float, float] | None = None) -> None:
    """Refuse numbers of examples, and sums of their weights, that leave a class without any."""
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
    """Return an array of any shape but a ragged one; masked values are refused."""
    refuse_masked(name, values, DataError)
    try:
        return np.asarray(values)
    except (TypeError, ValueError):
        raise DataError(f"`{name}` must be 1-D, got rows of different lengths") from None


def _one_dimensional(name: str, values: Any) -> Array:
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


def _non_finite(name: str, values: Array) -> DataError:
    """Return the error that counts what is not finite and says where it starts."""
    where = np.flatnonzero(~np.isfinite(values))
    plural = "value" if where.size == 1 else "values"
    return DataError(
        f"`{name}` must be finite, got {where.size} non-finite {plural}, "
        f"the first is {values[where[0]]} at position {where[0]}"
    )


def _not_a_label(pos_label: Any, labels: Array) -> DataError:
    """Return the error for a positive class that does not occur."""
    found = _some_values(labels)
    return DataError(
        f"`pos_label` must be one of the labels in `y_true`, got {shown(pos_label)}, labels are {found}"
        f"{_swapped(labels)}"
    )


def _missing_labels(where: Sequence[int] | IntArray) -> DataError:
    """Return the error for labels that are missing."""
    return DataError(f"`y_true` must not have missing labels, got {len(where)}, the first at position {where[0]}")


def _too_many_classes(labels: Array) -> DataError:
    """Return the error for more than two classes."""
    return DataError(f"`y_true` must hold two classes, got labels {_some_values(labels)}{_swapped(labels)}")


def _swapped(labels: Array) -> str:
    """Return a question, where labels look like scores: numbers with decimals, or very many different ones."""
    if labels.dtype.kind not in "iuf":
        return ""
    like_scores = bool((labels != np.floor(labels)).any()) or np.unique(labels).size > MOST_LABELS
    return ASK_SWAPPED if like_scores else ""


def _some_values(labels: Array, limit: int = 5) -> str:
    """Return a few of the distinct labels, for a message."""
    distinct = list(dict.fromkeys(labels.tolist()))
    distinct.sort(key=str)
    text = ", ".join(shown(v, 30) for v in distinct[:limit])
    return text if len(distinct) <= limit else f"{text}, … ({len(distinct)} distinct)"


def count_scores(positive: BoolArray, scores: Array) -> ScoreCounts:
    """Return the counts at every distinct score, by one sort of packed keys (or none for few integers).

    O(n log n); the label travels in the lowest bit of an order-preserving key, so that one SIMD sort orders
    scores and labels together and no index array is needed. Keys are made and sorted where the thresholds will be, and
    read block by block; of very many scores, thresholds are of the scores' type and counts take 4 bytes: at these sizes
    fresh memory costs as much as the arithmetic.
    """
    if scores.dtype.kind in "iu":
        if countable(scores):
            return _counted(positive, scores)
        scores = scores.astype(np.float64)  # exact: checked_scores has bounded them
    narrow = MANY < scores.size <= np.iinfo(np.int32).max
    thresholds = np.empty(scores.size + 1, scores.dtype if narrow else np.float64)
    # Keys have the end of that room and thresholds are written from its beginning, so no key is lost before it is read.
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
    del keys  # the only other view of what is made shorter
    for array in (thresholds, fp, tp):
        array.resize(points, refcheck=False)
    return ScoreCounts(thresholds, fp, tp)


def count_weights(positive: BoolArray, scores: Array, weights: FloatArray) -> ScoreCounts:
    """Return the cumulated sums of weights at every distinct score; the order of the rows changes no bit of them."""
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

    A float of known sign has one bit to spare, which holds the label: a key is ``(bits ^ flip) << 1 | label``, with the
    `flip` that makes higher scores smaller keys. Scores of both signs make two parts, the non-negative first.
    """
    sign = keys.dtype.type(1 << (8 * keys.itemsize - 1))
    bits = np.ascontiguousarray(scores).view(keys.dtype)
    negative = np.signbit(scores)
    chosen: list[tuple[Any, Any]] = [(slice(None), ~sign)]
    if negative.any():
        negative &= scores != 0  # -0.0 and 0.0 are one score
        chosen = [(~negative, ~sign), (negative, sign)]
    parts, start = [], 0
    for mask, flip in chosen:
        some = bits[mask]
        if some.size == 0:
            continue
        part = keys[start : start + some.size]
        np.bitwise_xor(some, flip, out=part)
        part <<= 1  # the sign falls off the top
        part |= positive[mask]
        part.sort()
        parts.append((start, start + some.size, flip))
        start += some.size
    return parts


def _last_of_scores(keys: Array, low: int, high: int, end: int) -> IntArray:
    """Return where in ``keys[low:high]`` a key is the last one of its score; at `end` all are over."""
    change = np.ones(high - low, dtype=np.bool_)
    np.greater(keys[low : high - 1] ^ keys[low + 1 : high], 1, out=change[:-1])  # not only the labels differ
    if high < end:
        change[-1] = keys[high - 1] ^ keys[high] > 1
    return np.flatnonzero(change)


def countable(scores: Array) -> bool:
    """Return whether scores are integers of so short a range that they are counted faster than sorted."""
    return scores.dtype.kind in "iu" and int(scores.max()) - int(scores.min()) < COUNTING_FACTOR * scores.size + 256


def _counted(positive: BoolArray, scores: Array) -> ScoreCounts:
    """Return the counts of integer scores of a short range, without a sort."""
    low, high = int(scores.min()), int(scores.max())
    codes = scores.astype(np.int64) - low
    codes *= 2
    codes += positive
    table = np.bincount(codes, minlength=2 * (high - low + 1)).reshape(-1, 2)[::-1]
    present = table.any(axis=1)
    cumulated = np.cumsum(table[present], axis=0)
    thresholds = np.arange(high, low - 1, -1, dtype=np.float64)[present]
    return ScoreCounts(
        np.concatenate(([np.inf], thresholds)),
        np.concatenate(([0], cumulated[:, 0])),
        np.concatenate(([0], cumulated[:, 1])),
    )
