"""Counts of labels: confusion matrices of one classifier and joint tables of two.

Rows are true classes and columns are predicted classes, as in scikit-learn. This module does not deal with costs.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError
from costcurves._base.frames import read_series, read_table
from costcurves._base.results import Result
from costcurves._base.validation import (
    LARGEST_WHOLE,
    FloatArray,
    IntArray,
    frozen,
    is_missing_label,
    number_array,
    refuse_masked,
    shown,
)

Label = Hashable
Labels = tuple[Label, ...]

# A lookup table of labels takes memory. Up to this many entries it is faster than searching.
_LOOKUP_ENTRIES = 1 << 22
_NUMBER_KINDS = "biuf"


def listed(labels: Sequence[object], limit: int = 5) -> str:
    """List the first few labels for a message, and the number of further ones."""
    text = ", ".join(shown(label) for label in labels[:limit])
    return text if len(labels) <= limit else f"{text} and {len(labels) - limit} more"


def check_labels(name: str, labels: Any) -> Labels:
    """Check that labels are distinct and not missing, and return them as a tuple of plain Python values."""
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


# --- coding: labels → positions in a list of labels -------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """A column of labels, stored as numbers or as codes that index the distinct values."""

    name: str
    values: npt.NDArray[Any]
    categories: list[Any] | None

    def __len__(self) -> int:
        """Return the number of examples."""
        return int(self.values.size)

    def distinct(self) -> list[Any]:
        """The distinct labels in no particular order."""
        if self.categories is not None:
            used = np.bincount(self.values, minlength=len(self.categories)) > 0
            return [c for c, u in zip(self.categories, used, strict=True) if u]
        return list(np.unique(self.values).tolist())

    def codes(self, labels: Labels, owner: str) -> IntArray:
        """Return the position of each example's label in `labels`. Unknown labels are an error."""
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
    """Code numbers by a lookup table if it is small, otherwise by binary search. Unknown numbers become -1."""
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
    """Code any hashable values with a dictionary of the distinct ones."""
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
    """Read labels from an array, a list or a column of a dataframe."""
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
    # Hashing Python strings is faster than sorting NumPy's fixed-width strings.
    return _column_of_objects(name, array.tolist())


def read_columns(columns: Mapping[str, Any]) -> list[_Column]:
    """Read columns of labels, which must not be empty and must have equal lengths."""
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
    """Return the labels and the codes of each column. If `labels` is None, the sorted labels that occur are used."""
    read = read_columns(columns)
    if labels is None:
        names = sorted_labels(dict.fromkeys(label for column in read for label in column.distinct()))
    else:
        names = check_labels("labels", labels)
    return names, [column.codes(names, owner) for column in read]


def sorted_labels(labels: Iterable[Label]) -> Labels:
    """Sort labels, or sort them by type and text if they cannot be compared."""
    found = list(labels)
    try:
        return tuple(sorted(found))  # type: ignore[type-var]
    except TypeError:
        return tuple(sorted(found, key=lambda label: (type(label).__name__, str(label))))


def check_weights(sample_weight: Any, n: int) -> FloatArray | None:
    """Check the weights of examples, which must be finite, non-negative and not all zero."""
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


def check_named(name: str, tables: Any, least: int) -> tuple[str, ...]:
    """Return the names of a mapping, which must have at least `least` classifiers."""
    if not isinstance(tables, Mapping) or len(tables) < least:
        raise InputError(f"`{name}` must map at least {least} names to classifiers, got {shown(tables)}")
    for key in tables:
        if not isinstance(key, str) or not key:
            raise InputError(f"`{name}` must have strings as names, got {shown(key)}")
    return tuple(tables)


# --- square tables of numbers with labels ------------------------------------------------------------------


def read_square(name: str, table: Any, labels: Any, *, partial: bool = False) -> tuple[FloatArray, Labels]:
    """Read a k × k table (rows true, columns predicted) and its labels.

    The rows and columns of a dataframe are matched by name. Row names come from a pandas index or, if there is one
    column more than rows, from the first column. If a frame without an index has as many columns as rows, its rows are
    in the order of its columns. If `partial` is true, labels that the frame leaves out have zeros.
    """
    given = None if labels is None else check_labels("labels", labels)
    read = read_table(table)
    if read is None:
        return _read_square_array(name, table, given)
    columns, cells, rows = read
    if cells and len(columns) == len(cells[0]) + 1 and not (partial and rows is not None and columns[0] in rows):
        rows = cells[0]
        columns, cells = _match_texts(columns[1:], rows), cells[1:]
    elif rows is None:
        rows = list(columns)
    row_names = check_labels(f"{name} row labels", rows)
    column_names = check_labels(f"{name} column labels", columns)
    owner = given
    if owner is None:
        owner = row_names
        if partial:
            owner = tuple(dict.fromkeys((*row_names, *column_names)))
    for what, names in (("row", row_names), ("column", column_names)):
        extra = [label for label in names if label not in set(owner)]
        missing = [] if partial else [label for label in owner if label not in set(names)]
        if extra or missing:
            raise DataError(
                f"`{name}` must have the same labels in rows and columns"
                f"{'' if given is None else ' as `labels`'} ({listed(owner)}); "
                f"its {what}s " + (f"have {listed(extra)}" if extra else f"lack {listed(missing)}")
            )
    if cells and len(cells[0]) != len(row_names):
        raise InputError(
            f"`{name}` must be square, rows true and columns predicted, got shape ({len(cells[0])}, {len(cells)})"
        )
    body = _numbers(name, [list(c) for c in cells]).T if cells else np.zeros((0, 0))
    position = {label: i for i, label in enumerate(owner)}
    values = np.zeros((len(owner), len(owner)))
    values[np.ix_([position[x] for x in row_names], [position[x] for x in column_names])] = body
    return values, owner


def _match_texts(columns: list[Any], rows: list[Any]) -> list[Any]:
    """Convert column names to row labels, because frames name columns by strings even if labels are numbers."""
    by_text = {str(row): row for row in rows}
    return [column if column in rows else by_text.get(str(column), column) for column in columns]


def _numbers(name: str, values: Any) -> FloatArray:
    return np.array(number_array(name, values))


def _read_square_array(name: str, table: Any, labels: Labels | None) -> tuple[FloatArray, Labels]:
    values = _numbers(name, table)
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise InputError(f"`{name}` must be square, rows true and columns predicted, got shape {values.shape}")
    k = values.shape[0]
    if labels is None:
        return values, tuple(range(k))
    if len(labels) != k:
        raise InputError(f"`labels` must name each of the {k} classes of `{name}`, got {len(labels)} labels")
    return values, labels


def check_counts(name: str, values: FloatArray) -> IntArray:
    """Convert counts to integers. They must be finite, whole, non-negative and not all zero."""
    check_amounts(name, values)
    if (values != np.floor(values)).any():
        first = values[values != np.floor(values)][0]
        raise DataError(f"`{name}` must hold whole counts, got {shown(first)}; weighted counts cannot be resampled")
    if values.sum() > LARGEST_WHOLE:
        raise DataError(f"`{name}` must hold at most 2**53 examples, got {values.sum():g}")
    return values.astype(np.int64)


def check_amounts(name: str, values: FloatArray) -> FloatArray:
    """Check that amounts are finite, non-negative and not all zero."""
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        raise DataError(f"`{name}` must hold counts >= 0, got {shown(values[bad][0])}")
    if not values.any():
        raise DataError(f"`{name}` must hold at least one example, got 0")
    with np.errstate(over="ignore"):
        if not np.isfinite(values.sum()):
            raise DataError(f"`{name}` must have a finite sum, got an overflow")
    return values


# --- the counts ---------------------------------------------------------------------------------------------


def pair_counts(true: IntArray, predicted: IntArray, k: int, weights: FloatArray | None = None) -> npt.NDArray[Any]:
    """Count coded pairs, or sum their weights, in a k × k table in one pass."""
    return np.bincount(true * k + predicted, weights=weights, minlength=k * k).reshape(k, k)


def triple_counts(true: IntArray, a: IntArray, b: IntArray, k: int) -> tuple[IntArray, IntArray]:
    """Find the distinct coded triples as ascending keys (true·k² + a·k + b), and their counts.

    A dense table is used if it is no larger than the data. Otherwise the keys are sorted, so that only triples that
    occur are held in memory.
    """
    keys = (true * k + a) * k + b
    if k**3 <= max(4 * keys.size, 1 << 16):
        counts = np.bincount(keys, minlength=k**3)
        present = np.flatnonzero(counts)
        return present, counts[present].astype(np.int64, copy=False)
    keys.sort()
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    return keys[starts], np.diff(np.append(starts, keys.size))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConfusionMatrix(Result):
    """Counts of (true class, predicted class): rows true, columns predicted, as in scikit-learn.

    Attributes
    ----------
    labels : tuple
        The k classes, in the order of rows and columns.
    counts : ndarray of int, shape (k, k)
        The number of examples with each true class (row) and prediction (column). Read-only.

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.ConfusionMatrix.from_predictions(["a", "b", "b"], ["a", "a", "b"])
    ConfusionMatrix of 3 examples, 2 classes (rows true, columns predicted)
             a  b
      a      1  0
      b      1  1
    """

    labels: Labels
    counts: IntArray

    @classmethod
    def from_predictions(cls, y_true: Any, y_pred: Any, labels: Any = None) -> ConfusionMatrix:
        """Count the examples of each true and predicted class in one pass.

        Parameters
        ----------
        y_true, y_pred : sequence of labels, shape (n,)
            Arrays, lists or columns of a dataframe that hold numbers, strings, booleans or categories.
        labels : sequence, optional
            The classes in order. Other labels are an error. By default, the labels that occur are used.
        """
        names, (true, predicted) = code_columns({"y_true": y_true, "y_pred": y_pred}, labels)
        return cls(names, frozen(pair_counts(true, predicted, len(names))))

    @classmethod
    def from_table(cls, table: Any, labels: Any = None) -> ConfusionMatrix:
        """Take counts from an array, or from a labelled frame, which is matched by name.

        Parameters
        ----------
        table : array-like of shape (k, k), or dataframe
            Rows are true classes, columns are predicted classes. A frame may leave out labels that have no examples, as
            `pandas.crosstab` does.
        labels : sequence, optional
            The classes in order. By default, those of the frame, or 0, 1, …, k-1 for an array.
        """
        if isinstance(table, ConfusionMatrix):
            return table if labels is None else table.aligned(labels)
        values, names = read_square("confusion", table, labels, partial=True)
        return cls(names, frozen(check_counts("confusion", values)))

    def aligned(self, labels: Any, owner: str = "`labels`") -> ConfusionMatrix:
        """Return the counts in the order of other labels. New labels have zeros, and losing a label is an error."""
        names = check_labels("labels", labels)
        if names == self.labels:
            return self
        lost = [x for x in self.labels if x not in set(names)]
        if lost:
            raise DataError(f"`confusion` must have only the labels of {owner} ({listed(names)}), got {listed(lost)}")
        at = [names.index(x) for x in self.labels]
        counts = np.zeros((len(names), len(names)), dtype=np.int64)
        counts[np.ix_(at, at)] = self.counts
        return ConfusionMatrix(names, frozen(counts))

    @property
    def n(self) -> int:
        """The number of examples."""
        return int(self.counts.sum())

    def _columns(self) -> dict[str, Any]:
        true, predicted = np.nonzero(self.counts)
        return {
            "true": [self.labels[i] for i in true],
            "predicted": [self.labels[i] for i in predicted],
            "count": self.counts[true, predicted],
        }

    def __repr__(self) -> str:
        """Return the conclusion in words."""
        head = f"ConfusionMatrix of {self.n} examples, {len(self.labels)} classes (rows true, columns predicted)"
        return head + "\n" + square_text(self.labels, self.counts)


def square_text(labels: Labels, values: npt.NDArray[Any], limit: int = 8) -> str:
    """Format the first rows and columns of a table as aligned text, with dots for the rest."""
    k = min(len(labels), limit)
    names = [str(label) for label in labels[:k]]
    cells = [[f"{value:.6g}" for value in row[:k]] for row in values[:k]]
    more = ["…"] if len(labels) > k else []
    widths = [max(len(names[j]), *(len(row[j]) for row in cells)) for j in range(k)]
    left = max(len(name) for name in names)
    lines = [" " * (left + 2) + "".join(f"  {n:>{w}}" for n, w in zip(names, widths, strict=True))]
    lines += [
        f"  {name:<{left}}" + "".join(f"  {c:>{w}}" for c, w in zip(row, widths, strict=True))
        for name, row in zip(names, cells, strict=True)
    ]
    return "\n".join(line + ("  …" if more else "") for line in lines) + ("\n  …" if more else "")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JointConfusion(Result):
    """Counts of the triples (true class, prediction of a, prediction of b) that occur on the same examples.

    Attributes
    ----------
    labels : tuple
        The k classes.
    true, a, b : ndarray of int, shape (m,)
        Positions in `labels` of the m distinct triples that occur. Read-only.
    counts : ndarray of int, shape (m,)
        The number of examples with each triple. Read-only.

    Examples
    --------
    >>> import costcurves as cc
    >>> joint = cc.JointConfusion.from_predictions([0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 0])
    >>> joint
    JointConfusion(4 examples, 2 classes, 4 distinct triples, 2 examples with different predictions)
    >>> joint.first
    ConfusionMatrix of 4 examples, 2 classes (rows true, columns predicted)
               0  1
      0        1  1
      1        0  2
    """

    labels: Labels
    true: IntArray
    a: IntArray
    b: IntArray
    counts: IntArray

    @classmethod
    def from_predictions(cls, y_true: Any, pred_a: Any, pred_b: Any, labels: Any = None) -> JointConfusion:
        """Count the triples of a true class and two predictions.

        Parameters
        ----------
        y_true, pred_a, pred_b : sequence of labels, shape (n,)
            The same examples in the same order.
        labels : sequence, optional
            The classes in order. By default those that occur.
        """
        columns = {"y_true": y_true, "pred_a": pred_a, "pred_b": pred_b}
        names, (true, a, b) = code_columns(columns, labels)
        return cls._from_codes(names, true, a, b)

    @classmethod
    def _from_codes(cls, labels: Labels, true: IntArray, a: IntArray, b: IntArray) -> JointConfusion:
        keys, counts = triple_counts(true, a, b, len(labels))
        return cls._from_keys(labels, keys, counts)

    @classmethod
    def _from_keys(cls, labels: Labels, keys: IntArray, counts: IntArray) -> JointConfusion:
        pairs, b = np.divmod(keys, len(labels))
        true, a = np.divmod(pairs, len(labels))
        return cls(labels, frozen(true), frozen(a), frozen(b), frozen(counts))

    @classmethod
    def from_table(cls, table: Any, labels: Any = None) -> JointConfusion:
        """Take counts from a k × k × k array indexed [true, prediction of a, prediction of b].

        Parameters
        ----------
        table : array-like of shape (k, k, k)
            Counts. The 2000 paper uses the order [a, b, true]; convert it with `np.moveaxis(paper, 2, 0)`.
        labels : sequence, optional
            The classes in order. By default 0, 1, …, k-1.
        """
        if isinstance(table, JointConfusion):
            return table if labels is None else table.aligned(labels)
        values = _numbers("joint", table)
        if values.ndim != 3 or len(set(values.shape)) != 1:
            raise InputError(f"`joint` must be k × k × k, [true, a, b], got shape {values.shape}")
        k = values.shape[0]
        names: Labels = tuple(range(k)) if labels is None else check_labels("labels", labels)
        if len(names) != k:
            raise InputError(f"`labels` must name each of the {k} classes of `joint`, got {len(names)} labels")
        counts = check_counts("joint", values).ravel()
        keys = np.flatnonzero(counts)
        return cls._from_keys(names, keys, counts[keys])

    def aligned(self, labels: Any, owner: str = "`labels`") -> JointConfusion:
        """Return the counts for other labels. New labels have no examples, and losing a label is an error."""
        names = check_labels("labels", labels)
        if names == self.labels:
            return self
        lost = [x for x in self.labels if x not in set(names)]
        if lost:
            raise DataError(f"`joint` must have only the labels of {owner} ({listed(names)}), got {listed(lost)}")
        at = np.array([names.index(x) for x in self.labels], dtype=np.int64)
        keys = (at[self.true] * len(names) + at[self.a]) * len(names) + at[self.b]
        order = np.argsort(keys)
        return self._from_keys(names, keys[order], self.counts[order])

    @property
    def n(self) -> int:
        """The number of examples."""
        return int(self.counts.sum())

    @property
    def first(self) -> ConfusionMatrix:
        """The confusion matrix of classifier a."""
        return self._margin(self.a)

    @property
    def second(self) -> ConfusionMatrix:
        """The confusion matrix of classifier b."""
        return self._margin(self.b)

    def _margin(self, predicted: IntArray) -> ConfusionMatrix:
        k = len(self.labels)
        counts = np.zeros(k * k, dtype=np.int64)
        np.add.at(counts, self.true * k + predicted, self.counts)
        return ConfusionMatrix(self.labels, frozen(counts.reshape(k, k)))

    def _columns(self) -> dict[str, Any]:
        return {
            "true": [self.labels[i] for i in self.true],
            "a": [self.labels[i] for i in self.a],
            "b": [self.labels[i] for i in self.b],
            "count": self.counts,
        }

    def __repr__(self) -> str:
        """Return the conclusion in words."""
        differ = int(self.counts[self.a != self.b].sum())
        return (
            f"JointConfusion({self.n} examples, {len(self.labels)} classes, "
            f"{self.counts.size} distinct triples, {differ} examples with different predictions)"
        )
