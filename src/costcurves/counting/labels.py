"""From labels of any type to booleans: which cases are positive, in one batch or in many."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from costcurves._base.errors import DataError
from costcurves._base.validation import (
    BoolArray,
    FloatArray,
    IntArray,
    is_missing_label,
    shown,
)
from costcurves.counting import counts
from costcurves.counting.counts import ASK_SWAPPED, Array, non_finite, one_dimensional

UNNAMED = "classifier"  # what a classifier is called if nobody says so
# Integers with more different values than this are hardly labels.
MOST_LABELS = 20


def checked_cases(
    y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any, name: str = UNNAMED
) -> tuple[BoolArray, Array, FloatArray | None]:
    """Return which cases are positive, the scores that a classifier gives them, and their weights."""
    positive = binary_labels(y_true, pos_label)
    said = "y_score" if name == UNNAMED else counts.score_of(name)
    scores = counts.checked_scores(y_score, said)
    counts.same_length(said, scores, "y_true", positive.size)
    weights = None if sample_weight is None else counts.checked_weights(sample_weight, positive.size)
    counts.both_classes(positive, weights)
    return positive, scores, weights


def binary_labels(y_true: Any, pos_label: Any = None) -> BoolArray:
    """Return which labels are positive, after checking that there are exactly two classes.

    If `pos_label` is None, labels must be booleans, 0/1 or -1/1, for which the positive class is clear.
    """
    rule = LabelRule(pos_label)
    positive = rule.positives(y_true)
    if rule.family == "names" and not positive.any():
        raise _not_a_label(pos_label, np.asarray(y_true))
    return positive


FAMILIES = (None, "booleans", "numbers", "names")


class LabelRule:
    """Decides which labels are positive, batch by batch.

    A batch may hold a single class; all batches together must hold at most two.

    `family` says what the labels seen so far are ("booleans", "numbers" or "names"); `negative` holds the other label.
    """

    __slots__ = ("family", "negative", "pos_label")

    def __init__(self, pos_label: Any = None, family: str | None = None, negative: tuple[Any, ...] = ()) -> None:
        if not isinstance(pos_label, Hashable) or isinstance(pos_label, (tuple, frozenset, range)):
            raise DataError(f"`pos_label` must be one label, got {shown(pos_label)}")
        self.pos_label = pos_label.item() if isinstance(pos_label, np.generic) else pos_label
        self.family, self.negative = family, negative

    def positives(self, y_true: Any) -> BoolArray:
        """Return which labels of a batch are positive, and remember what the others are."""
        labels = one_dimensional("y_true", y_true)
        pos_label = self.pos_label
        if labels.dtype.kind in "US" and isinstance(y_true, (list, tuple)):
            labels = np.array(y_true, dtype=object)  # NumPy would turn numbers and NaN beside texts into texts
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
        """Add what another rule has seen in other batches of the same data."""
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
    """Return which integer or float labels are positive, without a sort, and the other label."""
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise non_finite("y_true", labels)
    low, high = labels.min(), labels.max()
    if labels.dtype.kind in "iu" and low == 0 and high == 1 and (pos_label is None or pos_label == 1):
        return labels != 0, (0,)  # the most frequent case, in few passes
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
    """Return which strings or other objects are positive, and the other label."""
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
    """Return object labels as booleans or numbers if all of them are; missing labels are refused."""
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
    """Return a hint if labels look like scores: numbers with decimals, or very many different ones."""
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
