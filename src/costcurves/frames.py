"""Dataframes in and out: the only module that knows narwhals."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from typing import Any

from costcurves._validation import check_choice
from costcurves.errors import MissingExtraError

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


def make_frame(columns: Mapping[str, Any], backend: str | None = None) -> Any:
    """Return a native dataframe of the columns, in the wanted library."""
    import narwhals as nw

    name = pick_backend(backend)
    return nw.from_dict(dict(columns), backend=name).to_native()
