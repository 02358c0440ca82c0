"""Tables as CSV text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from costcurves._base.results import jsonable

# Characters with which a spreadsheet formula can begin, also after the program has removed a leading blank.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def csv_text(columns: Mapping[str, Any], *, for_spreadsheets: bool = False) -> str:
    """Format columns as CSV text with numbers in full precision. Missing values are empty fields.

    For spreadsheets, a string that would be interpreted as a formula is preceded by an apostrophe. Numbers are
    unchanged.

    Examples
    --------
    >>> table = {"name": ["a", "b, c", "=1+1"], "pc": [0.5, None, -float("inf")], "sure": [True, False, True]}
    >>> print(csv_text(table), end="")
    name,pc,sure
    a,0.5,true
    "b, c",,false
    =1+1,-inf,true
    >>> print(csv_text({"name": ["=1+1"], "difference": [-1]}, for_spreadsheets=True), end="")
    name,difference
    '=1+1,-1
    """
    rows = [list(columns), *zip(*(list(values) for values in columns.values()), strict=True)]
    return "".join(",".join(_field(value, for_spreadsheets) for value in row) + "\n" for row in rows)


def _field(value: Any, for_spreadsheets: bool) -> str:
    if isinstance(value, str):
        text = f"'{value}" if for_spreadsheets and value.startswith(FORMULA) else value
    else:
        plain = jsonable(value)
        text = "" if plain is None else str(plain).lower() if isinstance(plain, bool) else str(plain)
    # Python's csv writer does not quote a single carriage return, and readers then see two rows.
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\r\n') else text
