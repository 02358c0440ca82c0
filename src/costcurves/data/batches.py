"""Batches of rows from data that are read in pieces, and errors that refer to columns."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import CostCurvesError
from costcurves._base.validation import shown

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column with few distinct values, stored as the list of these values and the index of each row's value."""

    codes: Array
    values: list[Hashable]

    def __len__(self) -> int:
        return int(self.codes.size)

    def __getitem__(self, rows: Any) -> Coded:
        return Coded(self.codes[rows], self.values)

    def decoded(self) -> Array:
        """Return the values row by row."""
        listed = np.empty(len(self.values), dtype=object)
        listed[:] = self.values
        return listed[self.codes]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some rows of the data: labels, columns by name and, if there are any, weights and groups.

    Labels and groups may be `Coded`, so that strings need not be compared row by row.
    """

    label: Any
    columns: Mapping[str, Any]
    weight: Any = None
    group: Any = None

    def at(self, rows: Any) -> Batch:
        """Return some of the rows, which belong to one group."""
        return Batch(
            _rows(self.label, rows),
            {name: _rows(values, rows) for name, values in self.columns.items()},
            None if self.weight is None else _rows(self.weight, rows),
        )

    def compact(self) -> Batch:
        """Return the same rows with integer labels in as few bytes as they need."""
        label = self.label
        if isinstance(label, np.ndarray) and label.dtype.kind in "iu" and label.size:
            label = label.astype(np.result_type(np.min_scalar_type(label.min()), np.min_scalar_type(label.max())))
        return replace(self, label=label)

    @property
    def kinds(self) -> tuple[str, ...]:
        """What kind of values each column holds."""
        columns = (self.label, *self.columns.values(), self.weight, self.group)
        return tuple("coded" if isinstance(values, Coded) else np.asarray(values).dtype.kind for values in columns)

    @classmethod
    def joined(cls, batches: Sequence[Batch]) -> Batch:
        """Return the rows of several batches of the same kinds."""
        first = batches[0]
        return cls(
            _joined([batch.label for batch in batches]),
            {name: _joined([batch.columns[name] for batch in batches]) for name in first.columns},
            None if first.weight is None else _joined([batch.weight for batch in batches]),
            None if first.group is None else _joined([batch.group for batch in batches]),
        )

    def parts(self, size: int) -> Iterator[Batch]:
        """Split the rows into pieces of at most `size` rows."""
        if len(self.label) <= size:
            yield self
            return
        for start in range(0, len(self.label), size):
            rows = slice(start, start + size)
            yield replace(self.at(rows), group=None if self.group is None else _rows(self.group, rows))


@contextmanager
def about_column(name: str, *arguments: str) -> Iterator[None]:
    """Make errors about an argument name the column, so that `said_of_columns` can add what the column is for.

    A position in an array is removed from the message, because it is not the position of the row in the data.
    """
    try:
        yield
    except CostCurvesError as error:
        text = str(error)
        for argument in arguments:
            text = text.replace(f"`{argument}`", column_said(name))
        raise type(error)(without_position(text)) from None


def without_position(text: str) -> str:
    """Remove the position in an array from an error message."""
    return re.sub(r"(, the first)? at position \d+$", "", text)


def column_said(name: str) -> str:
    """Describe a column for the error messages of a pass."""
    return f"`column` {shown(name)}"


def _joined(columns: Sequence[Any]) -> Any:
    """Join columns. If they are coded, so is the result, with few bytes per row."""
    if not isinstance(columns[0], Coded):
        return np.concatenate(columns)
    place: dict[Hashable, int] = {}
    moved = [[place.setdefault(value, len(place)) for value in some.values] for some in columns]
    small = np.min_scalar_type(len(place))
    codes = [np.array(to, small)[some.codes] for to, some in zip(moved, columns, strict=True)]
    return Coded(np.concatenate(codes), list(place))


def _rows(values: Any, rows: Any) -> Any:
    return values[rows] if isinstance(values, Coded) else np.asarray(values)[rows]
