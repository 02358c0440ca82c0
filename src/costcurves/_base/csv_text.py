"""Tables as CSV text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from costcurves._base.results import jsonable


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
