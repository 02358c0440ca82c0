"""Square tables of numbers whose rows are true classes and whose columns are predicted classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError
from costcurves._base.frames import read_table
from costcurves._base.validation import LARGEST_WHOLE, FloatArray, IntArray, number_array, shown
from costcurves.counting.class_labels import Labels, check_labels, listed


def read_square(name: str, table: Any, labels: Any, *, partial: bool = False) -> tuple[FloatArray, Labels]:
    """Return a k × k table (rows true, columns predicted) and its labels.

    A dataframe is matched by name. Its rows are named by a pandas index or, when it has one column more than
    rows, by its first column; a frame of as many columns as rows and no index has its rows in the order of
    its columns. With `partial`, labels that the frame leaves out count as zeros.
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
    body = np.array(number_array(name, [list(c) for c in cells])).T if cells else np.zeros((0, 0))
    position = {label: i for i, label in enumerate(owner)}
    values = np.zeros((len(owner), len(owner)))
    values[np.ix_([position[x] for x in row_names], [position[x] for x in column_names])] = body
    return values, owner


def _match_texts(columns: list[Any], rows: list[Any]) -> list[Any]:
    """Return column names as row labels: frames name columns by text even where labels are numbers."""
    by_text = {str(row): row for row in rows}
    return [column if column in rows else by_text.get(str(column), column) for column in columns]


def _read_square_array(name: str, table: Any, labels: Labels | None) -> tuple[FloatArray, Labels]:
    values = np.array(number_array(name, table))
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise InputError(f"`{name}` must be square, rows true and columns predicted, got shape {values.shape}")
    k = values.shape[0]
    if labels is None:
        return values, tuple(range(k))
    if len(labels) != k:
        raise InputError(f"`labels` must name each of the {k} classes of `{name}`, got {len(labels)} labels")
    return values, labels


def check_counts(name: str, values: FloatArray) -> IntArray:
    """Return counts as integers: finite, whole, not negative, not all zero."""
    check_amounts(name, values)
    if (values != np.floor(values)).any():
        first = values[values != np.floor(values)][0]
        raise DataError(f"`{name}` must hold whole counts, got {shown(first)}; weighted counts cannot be resampled")
    if values.sum() > LARGEST_WHOLE:
        raise DataError(f"`{name}` must hold at most 2**53 examples, got {values.sum():g}")
    return values.astype(np.int64)


def check_amounts(name: str, values: FloatArray) -> FloatArray:
    """Return non-negative finite amounts that are not all zero."""
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        raise DataError(f"`{name}` must hold counts >= 0, got {shown(values[bad][0])}")
    if not values.any():
        raise DataError(f"`{name}` must hold at least one example, got 0")
    with np.errstate(over="ignore"):
        if not np.isfinite(values.sum()):
            raise DataError(f"`{name}` must have a finite sum, got an overflow")
    return values


def square_text(labels: Labels, values: npt.NDArray[Any]) -> str:
    """Return a table as aligned text: the first few rows and columns, and dots for the rest."""
    k = min(len(labels), 8)
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
