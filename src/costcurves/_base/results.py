"""The base class of all results, with `to_frame()` and a JSON form."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar

import numpy as np

from costcurves._base.frames import make_frame
from costcurves._base.text import safe
from costcurves._base.validation import frozen


def jsonable(value: Any) -> Any:
    """Convert a value to plain Python for strict JSON, with infinities as "inf" and "-inf" and NaN as None."""
    if isinstance(value, np.ndarray):
        return [jsonable(v) for v in value.tolist()]
    if isinstance(value, np.generic):
        return jsonable(float(value) if isinstance(value, np.floating) else value.item())
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, dict):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, Sequence):
        return [jsonable(v) for v in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: jsonable(getattr(value, f.name)) for f in fields(value) if not f.name.startswith("_")}
    return str(value)


SHOWN_ROWS = 12  # of a table in a notebook


def _cell(value: Any) -> str:
    """Return a value as the text of a cell: numbers with four figures, and names that cannot act as markup."""
    plain = jsonable(value)
    return html.escape("" if plain is None else f"{plain:.4g}" if isinstance(plain, float) else safe(str(plain)))


class Result:
    """Base class of all results: frozen values with `to_frame()` (long format) and `to_dict()` (ready for JSON)."""

    __slots__ = ()

    # The attributes that are the columns of the table, for classes that do not define `_columns`.
    _column_names: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for field in fields(self):  # type: ignore[arg-type]
            if isinstance(value := getattr(self, field.name), np.ndarray):
                frozen(value)

    def _set(self, **values: Any) -> None:
        """Set fields of the frozen value while it is being created. Arrays become read-only."""
        for name, value in values.items():
            object.__setattr__(self, name, frozen(value) if isinstance(value, np.ndarray) else value)

    def _columns(self) -> dict[str, Any]:
        """Return the columns of the table in long format; a single value is repeated in all rows."""
        values = {name: getattr(self, name) for name in self._column_names}
        several = {name: value for name, value in values.items() if isinstance(value, (np.ndarray, tuple))}
        size = max(map(len, several.values()), default=1)
        listed = {name: list(value) if isinstance(value, tuple) else value for name, value in several.items()}
        return {name: listed.get(name, [value] * size) for name, value in values.items()}

    def _records(self) -> list[Any]:
        """Return the rows of the table as plain Python values."""
        plain = jsonable(self._columns())
        return [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the result as a dataframe, with one row per part.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame. By default, one that is already imported is used, or else one that is installed.
        """
        return make_frame(self._columns(), backend)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain Python values that `json.dumps` accepts."""
        return {f.name: jsonable(getattr(self, f.name)) for f in fields(self) if not f.name.startswith("_")}  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        """Return a table of the first rows for notebooks, with the short form as its caption."""
        columns = {name: np.asarray(values, dtype=object).tolist() for name, values in self._columns().items()}
        rows = list(zip(*columns.values(), strict=True))
        parts = ["".join(f"<td>{_cell(value)}</td>" for value in row) for row in rows[:SHOWN_ROWS]]
        if len(rows) > SHOWN_ROWS:
            parts.append(f'<td colspan="{len(columns)}">and {len(rows) - SHOWN_ROWS:,} more rows: see to_frame()</td>')
        head = "".join(f'<th scope="col">{html.escape(safe(name))}</th>' for name in columns)
        body = "".join(f"<tr>{part}</tr>" for part in parts)
        caption = html.escape(safe(repr(self)))
        return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def csv_text(columns: Mapping[str, Any]) -> str:
    """Format columns as CSV text with numbers in full precision. Missing values are empty fields.

    Examples
    --------
    >>> table = {"name": ["a", "b, c", "=1+1"], "pc": [0.5, None, -float("inf")], "sure": [True, False, True]}
    >>> print(csv_text(table), end="")
    name,pc,sure
    a,0.5,true
    "b, c",,false
    =1+1,-inf,true
    """
    rows = [list(columns), *zip(*(list(values) for values in columns.values()), strict=True)]
    return "".join(",".join(_field(value) for value in row) + "\n" for row in rows)


def _field(value: Any) -> str:
    if isinstance(value, str):
        text = value
    else:
        plain = jsonable(value)
        text = "" if plain is None else str(plain).lower() if isinstance(plain, bool) else str(plain)
    # Python's csv writer does not quote a single carriage return, and readers then see two rows.
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\r\n') else text
