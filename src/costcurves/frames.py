"""Dataframes in and out: the only module that knows narwhals."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Mapping
from typing import Any

from costcurves._validation import check_choice
from costcurves.errors import DataError, InputError, MissingExtraError

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
        raise InputError(f"`{name}` must map names to columns (a dict or a dataframe), got {kind}") from None
    return {column: frame[column].to_numpy() for column in frame.columns}


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
    missing = int(series.null_count())
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
