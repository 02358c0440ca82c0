"""Checks that return what they checked; each message has the name, the rule and the value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves.errors import InputError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


def shown(value: object, limit: int = 60) -> str:
    """Return a short form of a value for an error message."""
    if isinstance(value, np.generic):
        value = value.item()
    text = repr(value) if isinstance(value, str) else str(value)
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def check_number(name: str, value: Any) -> float:
    """Return `value` as a finite float."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (Real, np.generic)):
        if isinstance(value, np.ndarray) and value.ndim == 0:
            return check_number(name, value.item())
        raise InputError(f"`{name}` must be a number, got {shown(value)} ({type(value).__name__})")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"`{name}` must be a number, got {shown(value)}") from None
    if not math.isfinite(number):
        raise InputError(f"`{name}` must be finite, got {shown(value)}")
    return number


def check_in_open_unit(name: str, value: Any) -> float:
    """Return `value` as a float in (0, 1)."""
    number = check_number(name, value)
    if not 0.0 < number < 1.0:
        raise InputError(f"`{name}` must be in (0, 1), got {shown(value)}")
    return number


def check_in_unit(name: str, value: Any) -> float:
    """Return `value` as a float in [0, 1]."""
    number = check_number(name, value)
    if not 0.0 <= number <= 1.0:
        raise InputError(f"`{name}` must be in [0, 1], got {shown(value)}")
    return number


def check_nonnegative(name: str, value: Any) -> float:
    """Return `value` as a finite float >= 0."""
    number = check_number(name, value)
    if number < 0:
        raise InputError(f"`{name}` must be >= 0, got {shown(value)}")
    return number


def check_positive(name: str, value: Any) -> float:
    """Return `value` as a finite float > 0."""
    number = check_number(name, value)
    if number <= 0:
        raise InputError(f"`{name}` must be > 0, got {shown(value)}")
    return number


def check_level(level: Any) -> float:
    """Return a confidence level in (0, 1)."""
    return check_in_open_unit("level", level)


def check_integer(name: str, value: Any, minimum: int) -> int:
    """Return `value` as an int >= `minimum`."""
    number = check_number(name, value)
    if number != int(number):
        raise InputError(f"`{name}` must be a whole number, got {shown(value)}")
    if number < minimum:
        raise InputError(f"`{name}` must be >= {minimum}, got {shown(value)}")
    return int(number)


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return `value` if it is one of the named choices."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(c) for c in choices)
        raise InputError(f"`{name}` must be one of {listed}, got {shown(value)}")
    return value


def check_name(name: str, value: Any) -> str:
    """Return a non-empty text."""
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"`{name}` must be a non-empty string, got {shown(value)}")
    return value


def check_unit_array(name: str, values: Any) -> FloatArray:
    """Return `values` as a float64 array with every element in [0, 1] (any shape; NaN is refused)."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"`{name}` must be numeric, got {shown(values)}") from None
    bad = ~((array >= 0.0) & (array <= 1.0))
    if bad.any():
        first = np.flatnonzero(bad.ravel())[0]
        raise InputError(f"`{name}` must be in [0, 1], got {shown(array.ravel()[first])} at position {first}")
    return array


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array, set read-only (the caller gives up writing to it)."""
    array.flags.writeable = False
    return array
