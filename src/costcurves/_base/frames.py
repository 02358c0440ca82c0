"""Dataframes in and out: the only module that knows narwhals."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from costcurves._base.errors import DataError, InputError, MissingExtraError
from costcurves._base.validation import check_choice, is_missing_label, shown

BACKENDS = ("pandas", "polars", "pyarrow")


def pick_backend(backend: str | None) -> str:
    """Return the asked-for dataframe library, or the one the user already works with.

    Without a wish: what is imported already, then what is installed, pandas before polars before pyarrow.
    """
    if backend is not None:
        check_choice("backend", backend, BACKENDS)
        if importlib.util.find_spec(backend) is None:
            raise MissingExtraError(f"`backend={backend!r}` needs {backend}: pip install {backend}")
        return backend
    for name in BACKENDS:
        if name in sys.modules:
            return name
    for name in BACKENDS:
        if importlib.util.find_spec(name) is not None:
            return name
    raise MissingExtraError("`to_frame` needs a dataframe library: pip install pandas (or polars, or pyarrow)")


def columns_of(name: str, table: Any) -> Mapping[str, Any]:
    """Return the columns by name of a mapping or of a dataframe of any library."""
    if isinstance(table, Mapping):
        return table
    import narwhals as nw

    try:
        frame = nw.from_native(table, eager_only=True)
    except TypeError:
        kind = type(table).__name__
        raise InputError(
            f"`{name}` must map names to columns (a dict or a dataframe), got {kind}: "
            f'for one classifier pass {{"name": {name}}}'
        ) from None
    return {column: frame[column].to_numpy() for column in frame.columns}


@dataclass(frozen=True, slots=True)
class Frame:
    """A dataframe of any library: which one it is of, and what its columns are."""

    native: Any
    library: str  # such as "pandas", "polars", "duckdb", "pyspark"
    eager: bool  # whether its rows are in memory
    types: Mapping[str, str]
    numeric: frozenset[str]
    narrow: frozenset[str]  # the columns that float32 holds
    repeated: frozenset[str]  # names that several columns have

    def __str__(self) -> str:
        """Return what to call it in a message."""
        return f"the {self.library} frame"


def open_frame(frame: Any) -> Frame:
    """Return what is known of a dataframe without reading a row of it."""
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
        raise InputError(f"`frame` must have different names of columns, got: {shown(str(error), 120)}") from None
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
    """Return the names of a frame's columns in order; none of a lazy frame of polars, where they always differ."""
    names = () if hasattr(frame, "collect_schema") else getattr(frame, "column_names", getattr(frame, "columns", ()))
    return [name for name in names if isinstance(name, str)]


def whole_rows(frame: Any, names: Sequence[str]) -> tuple[dict[str, Any], int, dict[str, int]]:
    """Return columns of a frame in memory as arrays, of its rows without missing values.

    Also the number of all rows, and that of missing values (null, NaN, and empty texts) in each column that has some.
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
    """Return which values of a narwhals series are missing: null, NaN, and empty texts."""
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
    """Return some columns of a lazy frame in memory."""
    import narwhals as nw

    return nw.from_native(frame.native).lazy().select(*names).collect().to_native()


def curves_of_frames() -> Any:
    """Return the module that makes curves of dataframes.

    Classes of curves have a door for frames, but what reads frames in passes stands above curves and uses them. So this
    one module is called from below: by its name, when the door is used.
    """
    return importlib.import_module("costcurves.data.frame_source")


def make_frame(columns: Mapping[str, Any], backend: str | None = None) -> Any:
    """Return a native dataframe of the columns, in the wanted library."""
    import narwhals as nw

    library = importlib.import_module(pick_backend(backend))
    return nw.from_dict(dict(columns), backend=library).to_native()


def read_series(name: str, values: Any) -> tuple[Any, list[Any] | None] | None:
    """Return a dataframe column as NumPy values, or as (codes, categories); None when it is not a column.

    Numbers and truth values come as they are, with None for categories. Anything else comes as integer codes
    into a list of its distinct values. A missing value is refused.
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
    """Return a dataframe as (column names, columns, row labels or None); None when it is not a frame.

    Row labels are those of a pandas index. The columns are lists or arrays of plain values.
    """
    import narwhals as nw

    if not (hasattr(values, "columns") or hasattr(values, "column_names")):
        return None
    if hasattr(values, "iloc") and hasattr(values, "index"):
        # pandas keeps labels of any type, which narwhals would turn away.
        columns = [values.iloc[:, i].to_list() for i in range(values.shape[1])]
        return list(values.columns), columns, list(values.index)
    frame = nw.from_native(values, pass_through=True)
    if not isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
        return None
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return list(eager.columns), [eager[c].to_list() for c in eager.columns], None
