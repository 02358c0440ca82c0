"""Conversion from and to dataframes. This is the only module that uses narwhals."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError, MissingExtraError
from costcurves._base.validation import check_choice, is_missing_label, shown

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

    AnyFrame = IntoFrame
else:
    AnyFrame = Any  # narwhals is imported when it is first used

TableLike = npt.ArrayLike | AnyFrame
NamedColumns = (
    Mapping[str, npt.ArrayLike] | npt.ArrayLike | AnyFrame
)  # such as the scores of several classifiers, or of one
ALONE = "classifier"  # the name of a single classifier that nobody has named
BACKENDS = ("pandas", "polars", "pyarrow")


def pick_backend(backend: str | None) -> str:
    """Return the requested dataframe library, or the one that the user already works with.

    If `backend` is None, a library that is already imported is preferred to one that is only installed, and among these
    pandas to polars to pyarrow.
    """
    if backend is not None:
        check_choice("backend", backend, BACKENDS)
        if importlib.util.find_spec(backend) is None:
            raise MissingExtraError(f"`backend={backend!r}` needs {backend}: pip install {backend}")
        return backend
    known = [name for name in BACKENDS if name in sys.modules]
    known = known or [name for name in BACKENDS if importlib.util.find_spec(name) is not None]
    if not known:
        raise MissingExtraError("`to_frame` needs a dataframe library: pip install pandas (or polars, or pyarrow)")
    return known[0]


def columns_of(name: str, table: Any, *, alone: str | None = None) -> Mapping[str, Any]:
    """Return the columns of a mapping or of a dataframe of any library by name.

    A single column (an array, a list or a series) is called `alone`, or else by the name of the series, if it has one.
    """
    if isinstance(table, Mapping):
        return table
    import narwhals as nw

    try:
        frame = nw.from_native(table, eager_only=True)
    except TypeError:
        return {alone or _name_of(table): _single_column(name, table)}
    except nw.exceptions.DuplicateError:
        raise InputError(f"`{name}` must have different column names, got {list(table.columns)}") from None
    return {column: frame.get_column(column).to_numpy() for column in frame.columns}


def _single_column(name: str, values: Any) -> Any:
    """Return values that are one column; others are refused."""
    try:
        shape: tuple[Any, ...] = np.shape(values)
    except ValueError:  # rows of different lengths
        shape = (len(values), "different lengths")
    if not shape:
        raise InputError(
            f"`{name}` must map names to columns (a dict or a dataframe), or be one column, got {type(values).__name__}"
        )
    if len(shape) > 1:
        raise InputError(
            f"`{name}` must be 1-D, or map names to 1-D, got shape {shape}: "
            "of predicted probabilities pass the column of the positive class"
        )
    return values


def _name_of(values: Any) -> str:
    name = getattr(values, "name", None)
    return name if isinstance(name, str) and name.strip() else ALONE


@dataclass(frozen=True, slots=True)
class Frame:
    """A dataframe of any library, with the name of that library and the types of its columns."""

    native: Any
    library: str  # such as "pandas", "polars", "duckdb", "pyspark"
    eager: bool  # whether its rows are in memory
    types: Mapping[str, str]
    numeric: frozenset[str]
    narrow: frozenset[str]  # the columns of type float32
    repeated: frozenset[str]  # names that occur more than once

    def __str__(self) -> str:
        return f"the {self.library} frame"


def open_frame(frame: Any) -> Frame:
    """Find out about a dataframe without reading its rows."""
    import narwhals as nw

    try:
        opened = nw.from_native(frame)
        schema = opened.collect_schema()
    except TypeError:
        kind = type(frame).__name__
        raise InputError(
            "`frame` must be a dataframe (pandas, polars, pyarrow, DuckDB, ibis, Dask, Spark or another that narwhals "
            f"reads), got {kind}: for arrays use from_predictions"
        ) from None
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"`frame` must have distinct column names, got: {shown(str(error), 120)}") from None
    return Frame(
        frame,
        opened.implementation.value,
        isinstance(opened, nw.DataFrame),
        {name: str(kind) for name, kind in schema.items()},
        frozenset(name for name, kind in schema.items() if kind.is_numeric() or kind == nw.Boolean),
        frozenset(name for name, kind in schema.items() if kind == nw.Float32),
        frozenset(name for name, times in Counter(_names(frame)).items() if times > 1),
    )


def _names(frame: Any) -> list[str]:
    """List the column names in order; for lazy polars frames, whose names are always distinct, the list is empty."""
    names = () if hasattr(frame, "collect_schema") else getattr(frame, "column_names", getattr(frame, "columns", ()))
    return [name for name in names if isinstance(name, str)]


def whole_rows(frame: Any, names: Sequence[str]) -> tuple[dict[str, Any], int, dict[str, int]]:
    """Return columns of an eager frame as arrays, without the rows that have missing values.

    Also return the number of all rows, and the number of missing values (null, NaN and empty strings) in each column
    that has any.
    """
    import narwhals as nw

    chosen = nw.from_native(frame, eager_only=True).select(*names)
    missing: dict[str, int] = {}
    lacking: Any = None
    for name in names:
        holes = _missing_values(chosen[name])
        count = int(holes.sum())
        if count:
            missing[name] = count
            lacking = holes if lacking is None else lacking | holes
    whole = chosen.filter(~lacking) if missing else chosen
    return {name: whole[name].to_numpy() for name in names}, len(chosen), missing


def _missing_values(series: Any) -> Any:
    """Mark the values of a narwhals series that are missing: null, NaN and empty strings."""
    import narwhals as nw

    holes = series.is_null()
    if series.dtype.is_float():
        return holes | series.is_nan().fill_null(False)
    if isinstance(series.dtype, (nw.Categorical, nw.Enum)):
        if "" not in series.unique().to_list():
            return holes
        series = series.cast(nw.String())
    if series.dtype == nw.String:
        return holes | (series == "").fill_null(False)
    if series.dtype == nw.Object:
        empty = [is_missing_label(value) for value in series.to_list()]
        return holes | nw.new_series("empty", empty, nw.Boolean(), backend=series.implementation)
    return holes


def collected(frame: Frame, names: Sequence[str]) -> Any:
    """Collect some columns of a lazy frame into memory."""
    import narwhals as nw

    return nw.from_native(frame.native).lazy().select(*names).collect().to_native()


def source_of_frame(frame: Any, **columns: Any) -> Any:
    """Open a dataframe as a source of curves; see `data.frame_source.open_source`.

    Curve classes have a constructor for frames, but the code that reads frames in passes belongs to a later package
    that uses curves. Therefore its module is imported by name when that constructor is called.
    """
    return importlib.import_module("costcurves.data.frame_source").open_source(frame, **columns)


def make_frame(columns: Mapping[str, Any], backend: str | None = None) -> Any:
    """Make a native dataframe of the requested library from columns."""
    import narwhals as nw

    library = importlib.import_module(pick_backend(backend))
    return nw.from_dict(dict(columns), backend=library).to_native()


def read_series(name: str, values: Any) -> tuple[Any, list[Any] | None] | None:
    """Convert a dataframe column to NumPy values, or to codes and categories. Return None if it is not a column.

    Numbers and booleans are returned unchanged, with None for the categories. Other values are returned as integer
    codes that index a list of the distinct values. Missing values are refused.
    """
    import narwhals as nw

    series = nw.from_native(values, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return None
    missing = int(_missing_values(series).sum())
    if missing:
        raise DataError(f"`{name}` must not hold missing labels, got {missing} of {len(series)}")
    if series.dtype == nw.Boolean or series.dtype.is_numeric():
        return series.to_numpy(), None
    native = series.to_native()
    if isinstance(series.dtype, (nw.Categorical, nw.Enum)):
        if hasattr(native, "cat") and hasattr(native.cat, "codes"):
            return native.cat.codes.to_numpy(), list(native.cat.categories)
        series = series.cast(nw.String())
    categories = series.unique().to_list()
    codes = series.replace_strict(categories, list(range(len(categories))), return_dtype=nw.Int64())
    return codes.to_numpy(), categories


def read_table(values: Any) -> tuple[list[Any], list[Any], list[Any] | None] | None:
    """Return the column names, the columns and the row labels (or None) of a dataframe, or None if it is not one.

    Row labels come from a pandas index. The columns are lists or arrays of plain values.
    """
    import narwhals as nw

    if not (hasattr(values, "columns") or hasattr(values, "column_names")):
        return None
    if hasattr(values, "iloc") and hasattr(values, "index"):
        # pandas allows labels of any type, which narwhals would refuse.
        columns = [values.iloc[:, i].to_list() for i in range(values.shape[1])]
        return list(values.columns), columns, list(values.index)
    frame = nw.from_native(values, pass_through=True)
    if not isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
        return None
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return list(eager.columns), [eager[c].to_list() for c in eager.columns], None
