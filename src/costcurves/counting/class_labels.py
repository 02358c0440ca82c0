"""Class labels of any kind become codes: positions in a list of labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError
from costcurves._base.frames import read_series
from costcurves._base.validation import FloatArray, IntArray, is_missing_label, number_array, refuse_masked, shown

Label = Hashable
Labels = tuple[Label, ...]
LabelsLike = Iterable[Label]

# A table of labels by value costs memory; up to this many entries it is cheaper than searching.
_LOOKUP_ENTRIES = 1 << 22
_NUMBER_KINDS = "biuf"


def listed(labels: Sequence[object], limit: int = 5) -> str:
    """Return labels for a message: the first few, and how many more."""
    text = ", ".join(shown(label) for label in labels[:limit])
    return text if len(labels) <= limit else f"{text} and {len(labels) - limit} more"


def check_labels(name: str, labels: Any) -> Labels:
    """Return distinct, present labels as a tuple of plain Python values."""
    if isinstance(labels, (str, bytes)) or not hasattr(labels, "__iter__"):
        raise InputError(f"`{name}` must be a sequence of labels, got {shown(labels)}")
    if isinstance(labels, np.ndarray) and labels.ndim == 0:
        raise InputError(f"`{name}` must be a sequence of labels, got {shown(labels)}")
    plain = tuple(value.item() if isinstance(value, np.generic) else value for value in labels)
    seen: set[object] = set()
    for label in plain:
        if not isinstance(label, Hashable):
            raise InputError(f"`{name}` must be hashable, got {shown(label)}")
        if is_missing_label(label):
            raise InputError(f"`{name}` must not hold missing labels, got {shown(label)}")
        if label in seen:
            raise InputError(f"`{name}` must be distinct, got {shown(label)} twice")
        seen.add(label)
    return plain


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """One column of labels: numbers as they are, or codes into the distinct values."""

    name: str
    values: npt.NDArray[Any]
    categories: list[Any] | None

    def __len__(self) -> int:
        return int(self.values.size)

    def distinct(self) -> list[Any]:
        """Return the distinct labels in no particular order."""
        if self.categories is not None:
            used = np.bincount(self.values, minlength=len(self.categories)) > 0
            return [c for c, u in zip(self.categories, used, strict=True) if u]
        return list(np.unique(self.values).tolist())

    def codes(self, labels: Labels, owner: str) -> IntArray:
        """Return each example's position in `labels`; a label that is not there is an error."""
        if self.categories is None:
            codes = _codes_of_numbers(self.values, labels)
        else:
            index = {label: i for i, label in enumerate(labels)}
            table = np.array([index.get(c, -1) for c in self.categories] or [0], dtype=np.int64)
            codes = table[self.values]
        if codes.size and codes.min() < 0:
            raise self._unknown(codes < 0, labels, owner)
        return codes

    def _unknown(self, unknown: npt.NDArray[np.bool_], labels: Labels, owner: str) -> DataError:
        values = self.values[unknown]
        first = values[0]
        times = int(np.count_nonzero(values == first))
        label = first.item() if self.categories is None else self.categories[int(first)]
        others = values.size - times
        more = f" (and {others} examples with other unknown labels)" if others else ""
        alike = [x for x in labels if str(x) == str(label)]
        hint = f"; there it is a {type(alike[0]).__name__}, not a {type(label).__name__}" if alike else ""
        return DataError(
            f"`{self.name}` must hold only the labels of {owner} ({listed(labels)}), "
            f"got {shown(label)} in {times} example{'s' if times != 1 else ''}{more}{hint}"
        )


def _codes_of_numbers(values: npt.NDArray[Any], labels: Labels) -> IntArray:
    """Return the code of each number, from a table if that is small and otherwise by binary search; -1 if unknown."""
    if values.size == 0:
        return np.zeros(0, dtype=np.int64)
    if values.dtype.kind == "b":
        values = values.view(np.uint8)
    k = len(labels)
    numbers = {x: i for i, x in enumerate(labels) if isinstance(x, (bool, int, float))}
    low, high = values.min(), values.max()
    whole = values.dtype.kind != "f"
    if whole and low >= 0 and high < k and all(numbers.get(i) == i for i in range(k)):
        return values.astype(np.int64, copy=False)
    inside = sorted(x for x in numbers if low <= x <= high)
    if not inside:
        return np.full(values.size, -1, dtype=np.int64)
    positions = np.array([numbers[x] for x in inside], dtype=np.int64)
    if whole and int(high) - int(low) < _LOOKUP_ENTRIES:
        table = np.full(int(high) - int(low) + 1, -1, dtype=np.int64)
        for x, position in zip(inside, positions, strict=True):
            if x == int(x):
                table[int(x) - int(low)] = position
        return table[values.astype(np.int64) - int(low)]
    keys = np.array(inside, dtype=np.float64 if not whole else None)
    at = np.minimum(np.searchsorted(keys, values), keys.size - 1)
    return np.where(keys[at] == values, positions[at], -1)


def _column_of_objects(name: str, values: list[Any]) -> _Column:
    """Code any hashable values through a dictionary of the distinct ones."""
    try:
        distinct = list(dict.fromkeys(values))
    except TypeError:
        raise InputError(f"`{name}` must hold one label per example, got {shown(values[0])}") from None
    for label in distinct:
        if is_missing_label(label):
            missing = sum(map(is_missing_label, values))
            raise DataError(f"`{name}` must not hold missing labels, got {missing} of {len(values)}")
    plain = [label.item() if isinstance(label, np.generic) else label for label in distinct]
    index = {label: i for i, label in enumerate(distinct)}
    codes = np.fromiter(map(index.__getitem__, values), dtype=np.int64, count=len(values))
    return _Column(name, codes, plain)


def read_column(name: str, values: Any) -> _Column:
    """Return labels given as an array, a list, or a column of a dataframe."""
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__len__"):
        raise InputError(f"`{name}` must be a sequence of labels, one per example, got {shown(values)}")
    refuse_masked(name, values, DataError)
    if isinstance(values, (list, tuple)):
        numeric = all(issubclass(kind, (bool, int, float, np.number, np.bool_)) for kind in set(map(type, values)))
        if not numeric:
            return _column_of_objects(name, list(values))
        array = np.asarray(values)
    elif isinstance(values, np.ndarray):
        array = values
    elif hasattr(values, "codes") and hasattr(values, "categories"):
        codes = np.asarray(values.codes)
        lacking = [-1, *(i for i, label in enumerate(values.categories) if is_missing_label(label))]
        missing = int(np.count_nonzero(np.isin(codes, lacking)))
        if missing:
            raise DataError(f"`{name}` must not hold missing labels, got {missing} of {codes.size}")
        return _Column(name, codes, list(values.categories))
    else:
        read = read_series(name, values)
        if read is not None and read[1] is not None:
            return _Column(name, np.asarray(read[0]), read[1])
        array = np.asarray(values if read is None else read[0])
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(f"`{name}` must be one-dimensional, one label per example, got shape {array.shape}")
    if array.dtype.kind == "f":
        missing = int(np.count_nonzero(np.isnan(array)))
        if missing:
            raise DataError(f"`{name}` must not hold missing labels, got {missing} NaN of {array.size}")
    if array.dtype.kind in _NUMBER_KINDS:
        return _Column(name, array, None)
    # Hashing Python's texts beats sorting NumPy's fixed-width ones.
    return _column_of_objects(name, array.tolist())


def read_columns(columns: Mapping[str, Any]) -> list[_Column]:
    """Return columns of labels, checked to be non-empty and of equal length."""
    read = [read_column(name, values) for name, values in columns.items()]
    first = read[0]
    for column in read:
        if len(column) != len(first):
            raise DataError(
                f"`{column.name}` must be as long as `{first.name}`, got {len(column)} and {len(first)} examples"
            )
    if len(first) == 0:
        raise DataError(f"`{first.name}` must hold at least one example, got 0")
    return read


def code_columns(columns: Mapping[str, Any], labels: Any, owner: str = "`labels`") -> tuple[Labels, list[IntArray]]:
    """Return the labels and each column's codes; without labels, those that occur, sorted."""
    read = read_columns(columns)
    if labels is None:
        names = sorted_labels(dict.fromkeys(label for column in read for label in column.distinct()))
    else:
        names = check_labels("labels", labels)
    return names, [column.codes(names, owner) for column in read]


def sorted_labels(labels: Iterable[Label]) -> Labels:
    """Return labels in order; by type and text where they have no order among them."""
    found = list(labels)
    try:
        return tuple(sorted(found))  # type: ignore[type-var]
    except TypeError:
        return tuple(sorted(found, key=lambda label: (type(label).__name__, str(label))))


def check_weights(sample_weight: Any, n: int) -> FloatArray | None:
    """Return weights of examples: one each, finite, not negative, not all zero."""
    if sample_weight is None:
        return None
    weights = number_array("sample_weight", sample_weight)
    if weights.shape != (n,):
        raise DataError(f"`sample_weight` must have one weight per example ({n}), got shape {weights.shape}")
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        raise DataError(f"`sample_weight` must be finite and >= 0, got {shown(weights[first])} at position {first}")
    if not weights.any():
        raise DataError("`sample_weight` must not be all zero")
    with np.errstate(over="ignore"):
        if not np.isfinite(weights.sum()):
            raise DataError("`sample_weight` must have a finite sum, got an overflow")
    return weights


def check_named(name: str, tables: Any) -> tuple[str, ...]:
    """Return the names of a mapping of one classifier or more."""
    if not isinstance(tables, Mapping) or not tables:
        raise InputError(f"`{name}` must map names to classifiers, at least one, got {shown(tables)}")
    for key in tables:
        if not isinstance(key, str) or not key:
            raise InputError(f"`{name}` must have strings as names, got {shown(key)}")
    return tuple(tables)
