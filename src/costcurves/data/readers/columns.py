"""Columns of tables: their roles, their conversion from Arrow to arrays, and counts of rows with missing values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import CostCurvesError, DataError, DroppedRowsWarning, InputError, MissingExtraError, warn
from costcurves._base.validation import check_column, shown
from costcurves.data.batches import Batch, Coded, column_said, without_position

Array = npt.NDArray[Any]

# Words in the names of columns, in lower case, by what such columns hold.
_WORDS = {
    "weight": frozenset(("weight", "weights", "wt", "wgt", "exposure")),
    "id": frozenset(
        (
            *("id", "ids", "uuid", "guid", "idx", "index", "key", "rownum", "rowid", "recno"),
            *("patient", "customer", "client", "user", "subject", "person", "account", "session", "household"),
            *("group", "cluster", "hospital", "merchant", "device"),
        )
    ),
    "fold": frozenset(("fold", "folds", "split", "cv")),
    "time": frozenset(("date", "time", "timestamp", "datetime", "year", "month", "day")),
}
# Names that are a role as a whole, but not as a part of a name: a classifier may be called "w 2".
_NAMES = {"w": "weight", "freq": "weight", "frequency": "weight", "row": "id", "nr": "id", "no": "id"}
# Whole numbers in a row are row numbers if there are at least this many.
_FEWEST_NUMBERED = 10


def arrow() -> Any:
    """Import pyarrow."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError('`scan` needs pyarrow: pip install "costcurves[files]"') from None
    return pyarrow


class Schema(dict[str, Any]):
    """Arrow types by column name. `repeated` holds the names that occur more than once."""

    repeated: frozenset[str]

    @classmethod
    def of(cls, schema: Any) -> Schema:
        """Take the types from an Arrow schema."""
        return cls.of_columns((field.name, field.type) for field in schema)

    @classmethod
    def of_columns(cls, columns: Iterable[tuple[str, Any]]) -> Schema:
        """Take the types from pairs of name and type. If a name occurs more than once, the first type is used."""
        listed = list(columns)
        types = cls(reversed(listed))
        types = cls((name, types[name]) for name, _ in listed)
        times = Counter(name for name, _ in listed)
        types.repeated = frozenset(name for name, count in times.items() if count > 1)
        return types


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of the columns."""

    label: str
    scores: tuple[str, ...] = ()
    predictions: tuple[str, ...] = ()
    weight: str | None = None
    group: str | None = None

    @property
    def names(self) -> list[str]:
        """The columns to read, without repetition."""
        more = [name for name in (self.weight, self.group) if name is not None]
        return list(dict.fromkeys([self.label, *self.scores, *self.predictions, *more]))

    def check(self, schema: Mapping[str, Any], where: str) -> None:
        """Refuse columns that do not exist, and types that are not allowed for the role."""
        for role, name in self.pairs():
            if name not in schema and f"/{name}=" in where:
                raise InputError(
                    f"`{role}` must name a column of {where}, got {shown(name)}, which occurs only in the path: "
                    "directory names are not columns, so scan each directory separately"
                )
            kind = schema[check_column(role, name, schema, where)]
            if name in getattr(schema, "repeated", ()):
                raise InputError(f"`{role}` must name one column, got {shown(name)}, which {where} has twice or more")
            if role in ("scores", "weight") and not _numeric(kind):
                raise DataError(f"`{role}` must be a numeric column, got {shown(name)} of type {kind} in {where}")
            if arrow().types.is_nested(kind):
                raise DataError(f"`{role}` must be a column of plain values, got {shown(name)} of type {kind}")

    def said(self, error: CostCurvesError) -> CostCurvesError:
        """Translate an error about the arrays of a batch into one about columns."""
        return said_of_columns(error, self.pairs())

    def pairs(self) -> list[tuple[str, str]]:
        """List the roles with the names of their columns."""
        pairs = [
            ("label", self.label),
            *(("scores", s) for s in self.scores),
            *(("predictions", p) for p in self.predictions),
        ]
        return pairs + [(r, n) for r, n in (("weight", self.weight), ("group", self.group)) if n is not None]


def said_of_columns(error: CostCurvesError, pairs: Sequence[tuple[str, str]]) -> CostCurvesError:
    """Translate an error about arrays into one about columns, which are given as pairs of role and name."""
    text = str(error)
    for role, name in pairs:
        argument = {"label": "`y_true`", "weight": "`sample_weight`"}.get(role, column_said(name))
        text = text.replace(argument, f"`{role}` {shown(name)}")
    return type(error)(without_position(text))


def _numeric(kind: Any) -> bool:
    types = arrow().types
    known = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(is_known(kind) for is_known in known)


@dataclass(slots=True)
class Missing:
    """The number of rows that were read, and how many of them lack a value in some column."""

    rows: int = 0
    dropped: int = 0
    by_column: dict[str, int] = field(default_factory=dict)

    def add(self, other: Missing) -> None:
        """Add the counts of another part."""
        self.rows += other.rows
        self.dropped += other.dropped
        for name, count in other.by_column.items():
            self.count(name, count)

    def count(self, name: str, values: int) -> None:
        """Count missing values of a column."""
        if values:
            self.by_column[name] = self.by_column.get(name, 0) + values

    def whole(self, table: Any, names: Sequence[str]) -> Any:
        """Return the rows of an Arrow table without missing values, and count the others."""
        self.rows += table.num_rows
        missing = {name: count for name in names if (count := missing_values(table.column(name)))}
        if not missing:
            return table
        compute = arrow().compute
        kept = None
        for name, count in missing.items():
            self.count(name, count)
            valid = compute.invert(is_missing(table.column(name)))
            kept = valid if kept is None else compute.and_(kept, valid)
        whole = table.filter(kept)
        self.dropped += table.num_rows - whole.num_rows
        return whole

    def listed(self) -> str:
        """Describe in words how many values each column lacks."""
        return ", ".join(f"{count} in {shown(name)}" for name, count in sorted(self.by_column.items()))

    def refuse(self) -> None:
        """Raise an error if there are missing values, with their number in each column."""
        if self.dropped:
            raise DataError(
                f"the data must not have missing values, got {self.listed()} ({self.dropped} of {self.rows} rows): "
                "fill them, or leave those rows out with on_null='drop'"
            )

    def need_rows(self, what: str) -> None:
        """Raise an error if no rows are left."""
        if self.rows == 0:
            raise DataError(f"{what} must hold at least one row, got none")
        if self.rows == self.dropped:
            raise DataError(f"{what} must have rows without missing values, got none of {self.rows}")

    def warn(self) -> None:
        """Warn of rows that were left out. The warning names the line of the user's code."""
        if self.dropped:
            warn(
                f"on_null='drop' left out {self.dropped} of {self.rows} rows for missing values: {self.listed()}",
                DroppedRowsWarning,
            )


def is_missing(column: Any) -> Any:
    """Mark the values of an Arrow column that are missing: null, NaN and empty strings."""
    compute = arrow().compute
    missing = compute.is_null(column, nan_is_null=_floating(column))
    if not _textual(column):
        return missing
    return compute.or_(missing, compute.fill_null(compute.equal(_texts(column), ""), False))


def _floating(column: Any) -> bool:
    return bool(arrow().types.is_floating(column.type))


def _textual(column: Any) -> bool:
    types = arrow().types
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    return any(is_text(kind) for is_text in (types.is_string, types.is_large_string, types.is_string_view))


def _texts(column: Any) -> Any:
    types = arrow().types
    return column.cast(column.type.value_type) if types.is_dictionary(column.type) else column


def missing_values(column: Any) -> int:
    """Count the values of an Arrow column that are missing: null, NaN and empty strings."""
    if not _floating(column) and not _textual(column):
        return int(column.null_count)
    # The smallest value is NaN if any value is. This check is several times faster than looking for each NaN.
    if (
        _floating(column)
        and not column.null_count
        and not any(len(c) and np.isnan(numbers(c).min()) for c in column.chunks)
    ):
        return 0
    return int(arrow().compute.sum(is_missing(column)).as_py() or 0)


def batch_of(table: Any, roles: Roles) -> Batch:
    """Make a batch from an Arrow table without missing values."""
    columns: dict[str, Any] = {name: numbers(table.column(name)) for name in roles.scores}
    columns |= {name: values_of(table.column(name)) for name in roles.predictions}
    return Batch(
        label_of(table.column(roles.label)) if not roles.predictions else values_of(table.column(roles.label)),
        columns,
        None if roles.weight is None else numbers(table.column(roles.weight)),
        None if roles.group is None else coded(table.column(roles.group)),
    )


def numbers(column: Any) -> Array:
    """Convert a numeric column to an array, without a copy if it has only one piece."""
    pa = arrow()
    piece = _one_piece(column)
    if not piece.null_count and (pa.types.is_integer(piece.type) or pa.types.is_floating(piece.type)):
        shared: Array = np.from_dlpack(piece)  # to_numpy would import pandas if it is installed
        return shared
    if pa.types.is_decimal(piece.type):
        piece = piece.cast(pa.string()).cast(pa.float64())  # the nearest float, which a direct cast often misses
    result: Array = piece.to_numpy(zero_copy_only=False)
    return result


def label_of(column: Any) -> Any:
    """Convert labels: numbers and booleans to an array, other values to codes."""
    kind = column.type
    types = arrow().types
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind):
        return numbers(column)
    return coded(column)


def values_of(column: Any) -> Array:
    """Convert a column to an array of plain values."""
    labels = label_of(column)
    return labels.decoded() if isinstance(labels, Coded) else labels


def coded(column: Any) -> Coded:
    """Convert a column to codes of its distinct values."""
    piece = _one_piece(column)
    if not arrow().types.is_dictionary(piece.type):
        piece = piece.dictionary_encode()
    values: list[Hashable] = piece.dictionary.to_pylist()
    small = np.int16 if len(values) < 2**15 else np.int64
    return Coded(piece.indices.to_numpy(zero_copy_only=False).astype(small, copy=False), values)


def _one_piece(column: Any) -> Any:
    if not hasattr(column, "num_chunks"):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def role_of(name: str, values: Array) -> str | None:
    """Return "id", "weight", "fold" or "time" if a column looks like one of these, and None if it may hold scores.

    Parameters
    ----------
    name : str
        The name of the column. It is split into words, so that ``patientID`` and ``patient_id`` are identifiers, and
        ``idealized`` is not.
    values : array
        Its values, missing ones as NaN. Weights must not be negative, and consecutive whole numbers in any order are
        row numbers, whatever the name is.

    Examples
    --------
    >>> import numpy as np
    >>> role_of("sample_weight", np.array([1.0, 2.5])), role_of("forest", np.array([0.1, 0.7]))
    ('weight', None)
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    words = re.findall(r"[^\W\d_]+", spaced.lower())
    role = _NAMES.get(name.strip().lower())
    for candidate, known in _WORDS.items():
        if role is None and known.intersection(words):
            role = candidate
    number = values.dtype.kind in "iuf"
    if role == "weight" and not (number and not (values < 0).any()):
        role = None
    return role or ("id" if number and _row_numbers(values) else None)


def _row_numbers(values: Array) -> bool:
    """Return whether values are consecutive whole numbers in any order."""
    n = values.size
    if n < _FEWEST_NUMBERED or (values.dtype.kind == "f" and not np.isfinite(values).all()):
        return False
    low = values.min()
    if values.max() - low != n - 1 or (values.dtype.kind == "f" and (values != np.floor(values)).any()):
        return False
    return bool(np.bincount((values - low).astype(np.int64), minlength=n).max() == 1)
