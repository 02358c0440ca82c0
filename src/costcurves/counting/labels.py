"""From labels of any type to booleans: which cases are positive, in one batch or in many."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from costcurves._base.errors import DataError
from costcurves._base.validation import BoolArray, FloatArray, IntArray, check_name, is_missing_label, shown
from costcurves.counting import compiled
from costcurves.counting.counts import (
    ASK_SWAPPED,
    UNNAMED,
    Array,
    both_classes,
    checked_scores,
    checked_weights,
    non_finite,
    one_dimensional,
    same_length,
    score_of,
)

# Integers with more different values than this are hardly labels.
MOST_LABELS = 20


def binary_labels(y_true: Any, pos_label: Any = None) -> BoolArray:
    """Mark the positive labels, after checking that there are exactly two classes.

    If `pos_label` is None, labels must be booleans, 0/1 or -1/1, for which the positive class is clear.
    """
    rule = LabelRule(pos_label)
    positive = rule.positives(y_true)
    if rule.family == "names" and not positive.any():
        raise _not_a_label(pos_label, np.asarray(y_true))
    return positive


class CheckedRows(NamedTuple):
    """Which examples are positive, the scores of each classifier, and the weights of the examples or None."""

    positive: BoolArray
    scores: dict[str, Array]
    weights: FloatArray | None


def checked_rows(
    y_true: Any, scores: Mapping[str, Any], pos_label: Any = None, sample_weight: Any = None
) -> CheckedRows:
    """Return labels, scores and weights of the same examples after checking each of them once."""
    positive = binary_labels(y_true, pos_label)
    checked = {}
    for name, values in scores.items():
        checked[name] = checked_scores(values, score_of(name))
        same_length(score_of(name), checked[name], "y_true", positive.size)
    weights = None if sample_weight is None else checked_weights(sample_weight, positive.size)
    both_classes(positive, weights)
    return CheckedRows(positive, checked, weights)


def checked_cases(
    y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any, name: str = UNNAMED
) -> tuple[BoolArray, Array, FloatArray | None]:
    """Return which cases are positive, the scores that one classifier gives them, and their weights, all checked."""
    rows = checked_rows(y_true, {check_name("name", name): y_score}, pos_label, sample_weight)
    return rows.positive, rows.scores[name], rows.weights


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
        """Mark the positive labels of a batch, and remember the other label."""
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
        """Add the labels that another rule has seen in other batches of the same data."""
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
                "`y_true` must hold two classes in all batches together, got "
                f"{shown(found[0])} and {shown(found[1])} besides the positive class"
            )
        self.family, self.negative = family, self.negative or negative


def _numeric_positives(labels: Array, pos_label: Any) -> tuple[BoolArray, tuple[Any, ...]]:
    """Mark the positive integer or float labels without a sort, and find the other label."""
    if labels.dtype == np.int64 and (pos_label is None or pos_label == 1) and (fast := compiled.loops()) is not None:
        ones = fast.zeros_and_ones(labels)
        if ones is not None:
            return ones, (0,)
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
    """Mark the positive strings or other objects, and find the other label."""
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
    """Convert object labels to booleans or numbers if all of them are. Missing labels are refused."""
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
    """Make the error for a positive class that does not occur."""
    found = _some_values(labels)
    return DataError(
        f"`pos_label` must be one of the labels in `y_true`, got {shown(pos_label)}, labels are {found}"
        f"{_swapped(labels)}"
    )


def _missing_labels(where: Sequence[int] | IntArray) -> DataError:
    """Make the error for missing labels."""
    return DataError(f"`y_true` must not have missing labels, got {len(where)}, the first at position {where[0]}")


def _too_many_classes(labels: Array) -> DataError:
    """Make the error for more than two classes."""
    return DataError(f"`y_true` must hold two classes, got labels {_some_values(labels)}{_swapped(labels)}")


def _swapped(labels: Array) -> str:
    """Give a hint if labels look like scores, which have decimals or very many different values."""
    if labels.dtype.kind not in "iuf":
        return ""
    like_scores = bool((labels != np.floor(labels)).any()) or np.unique(labels).size > MOST_LABELS
    return ASK_SWAPPED if like_scores else ""


def _some_values(labels: Array) -> str:
    """List a few of the distinct labels for a message."""
    distinct = list(dict.fromkeys(labels.tolist()))
    distinct.sort(key=str)
    text = ", ".join(shown(v, 30) for v in distinct[:5])
    return text if len(distinct) <= 5 else f"{text}, … ({len(distinct)} distinct)"
