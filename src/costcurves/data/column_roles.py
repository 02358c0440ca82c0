"""What columns of a table are likely to hold, by their names and values: identifiers, weights, folds or dates."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

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


def role_of(name: str, values: npt.NDArray[Any]) -> str | None:
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


def _row_numbers(values: npt.NDArray[Any]) -> bool:
    """Return whether values are consecutive whole numbers in any order."""
    n = values.size
    if n < _FEWEST_NUMBERED or (values.dtype.kind == "f" and not np.isfinite(values).all()):
        return False
    low = values.min()
    if values.max() - low != n - 1 or (values.dtype.kind == "f" and (values != np.floor(values)).any()):
        return False
    return bool(np.bincount((values - low).astype(np.int64), minlength=n).max() == 1)
