"""Validation functions that return the checked value. Their messages have the name, the rule and the value."""

from __future__ import annotations

import contextlib
import difflib
import math
import os
import sys
from collections.abc import Hashable, Iterable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import CostCurvesError, InputError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Column = npt.ArrayLike | Sequence[Hashable]  # labels or predicted classes: an array, a list, a column of a dataframe
Points = Literal["all", "hull"]
OnNull = Literal["refuse", "drop"]
ResponseMethod = Literal["auto", "predict_proba", "decision_function"]
Sampling = Literal["stratified", "full"]
Rng = np.random.Generator | int | None  # what `check_rng` takes: a generator, a seed, or None for fresh numbers

Choice = TypeVar("Choice", bound=str)
Instance = TypeVar("Instance")

# A float64 represents every integer up to this one exactly.
LARGEST_WHOLE = 2**53
# The largest number of points or draws that is allowed. More would not fit in memory.
MOST_POINTS = 10**8
MOST_LAPLACE = 1e6
# Squares of costs and products of weights must stay within the range of a float.
MOST_COST = 1e150
WEIGHT_RANGE = (1e-100, 1e100)
# The default confidence level of all intervals and bands.
DEFAULT_LEVEL = 0.95


def shown(value: object, limit: int = 60) -> str:
    """Shorten a value for an error message."""
    if isinstance(value, np.generic):
        value = value.item()
    try:
        text = repr(value) if isinstance(value, str) else str(value)
    except ValueError:  # an int with thousands of digits
        text = f"a {type(value).__name__} too long to show"
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def check_number(name: str, value: Any) -> float:
    """Return `value` as a finite float."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        if isinstance(value, np.ndarray) and value.ndim == 0:
            return check_number(name, value.item())
        raise InputError(
            f"`{name}` must be a number, got {shown(value)} ({type(value).__name__}){_percent_sign(value)}"
        )
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"`{name}` must be a number, got {shown(value)}") from None
    if not math.isfinite(number):
        raise InputError(f"`{name}` must be finite, got {shown(value)}")
    return number


def check_threshold(value: Any) -> float:
    """Return a threshold: a number that may be infinite, or NaN where it is not known."""
    return float(value) if isinstance(value, float | np.floating) else check_number("threshold", value)


def check_in_open_unit(name: str, value: Any) -> float:
    """Return `value` as a float in (0, 1)."""
    number = check_number(name, value)
    if not 0.0 < number < 1.0:
        hint = _percent(number, below=100) or (": 1 % is 0.01" if number == 1 else "")
        raise InputError(f"`{name}` must be in (0, 1), got {shown(value)}{hint}")
    return number


def check_in_unit(name: str, value: Any) -> float:
    """Return `value` as a float in [0, 1]."""
    number = check_number(name, value)
    if not 0.0 <= number <= 1.0:
        raise InputError(f"`{name}` must be in [0, 1], got {shown(value)}{_percent(number)}")
    return number


def _percent(number: float, *, below: float = 101) -> str:
    """Suggest a fraction where a number looks like a percentage."""
    return f": {number:g} % is {number / 100:g}" if 1 < number <= 100 and number < below else ""


def _percent_sign(value: Any) -> str:
    """Suggest a number where a text is one with a sign of percent."""
    if isinstance(value, str) and value.strip().endswith("%"):
        with contextlib.suppress(ValueError):
            return f": {value.strip()} is {float(value.strip()[:-1]) / 100:g}"
    return ""


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


def check_laplace(value: Any) -> float:
    """Return the number that is added to each cell, from 0 to a million."""
    number = check_nonnegative("laplace", value)
    if number > MOST_LAPLACE:
        raise InputError(f"`laplace` must be <= {MOST_LAPLACE:g}, got {shown(value)}")
    return number


def check_flag(name: str, value: Any) -> bool:
    """Return `value` if it is True or False. Other values that Python treats as true or false are refused."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"`{name}` must be True or False, got {shown(value)} ({type(value).__name__})")
    return bool(value)


def check_rng(rng: Rng) -> np.random.Generator:
    """Return the random generator that `rng` stands for.

    Wherever random numbers are drawn, `rng` is a generator or a seed. Its default is 0, so that the same question has
    the same answer each time; None draws fresh numbers.
    """
    try:
        if isinstance(rng, (bool, np.bool_)):
            raise TypeError
        return np.random.default_rng(rng)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"`rng` must be a numpy Generator, a seed >= 0 or None, got {shown(rng)}") from None


def seed_of(rng: Rng) -> int:
    """Return a seed that `rng` stands for: itself, or one that is drawn from it."""
    generator = check_rng(rng)
    return int(rng) if isinstance(rng, (int, np.integer)) else int(generator.integers(2**63))


def check_integer(name: str, value: Any, minimum: int, maximum: int = LARGEST_WHOLE) -> int:
    """Return `value` as an int from `minimum` to `maximum`."""
    number = check_number(name, value)
    if number != int(number):
        raise InputError(f"`{name}` must be a whole number, got {shown(value)}")
    if number < minimum:
        raise InputError(f"`{name}` must be >= {minimum}, got {shown(value)}")
    if number > maximum:
        raise InputError(f"`{name}` must be <= {maximum}, got {shown(value)}")
    return int(number)


def check_resampling(n_resamples: Any, rng: Rng) -> int:
    """Return how often to resample. Wrong values are refused by methods that do not resample, too."""
    check_rng(rng)
    return check_integer("n_resamples", n_resamples, 2, MOST_POINTS)


def check_index(index: Any, size: int) -> IntArray:
    """Return the places from 0 to `size` - 1 that an index selects: an int, a slice, or a list or array of ints."""
    try:
        places = np.atleast_1d(np.arange(size)[index])
    except (IndexError, TypeError, ValueError, OverflowError):
        places = np.empty(0, dtype=np.int64)
    if places.ndim != 1 or not places.size:
        raise InputError(f"`index` must select some of {size} points, got {shown(index)}")
    return places


def check_choice(name: str, value: Choice, choices: Iterable[str]) -> Choice:
    """Return `value` if it is one of the named choices."""
    choices = tuple(choices)
    given: object = value
    if not isinstance(given, str) or given not in choices:
        listed = ", ".join(repr(c) for c in choices)
        raise InputError(f"`{name}` must be one of {listed}, got {shown(value)}")
    return value


def is_among(value: Any, names: Iterable[str]) -> bool:
    """Whether a value is one of the names; values that cannot be compared with names are not."""
    return isinstance(value, str) and value in names


def check_instance(name: str, value: Instance, kind: type[Instance]) -> Instance:
    """Return an instance of a class."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIO" else "a"
        raise InputError(f"`{name}` must be {article} {kind.__name__}, got {shown(value)} ({type(value).__name__})")
    return value


def check_name(name: str, value: Any) -> str:
    """Return a non-empty string."""
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"`{name}` must be a non-empty string, got {shown(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"`{name}` must be text that UTF-8 can hold, got {value!a}") from None
    return value


def check_column(role: str, name: str, columns: Iterable[Any], where: object) -> str:
    """Return the name of a column that exists. The error message suggests similar names."""
    known = list(columns)
    if not is_among(name, known):
        folded = {str(column).casefold(): column for column in known}
        near = [folded[match] for match in difflib.get_close_matches(str(name).casefold(), folded, n=3)]
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"it has {shown(known, 200)}"
        raise InputError(f"`{role}` must name a column of {where}, got {shown(name)}: {hint}")
    return name


def check_path(path: Any) -> str | os.PathLike[str]:
    """Return a path. Whether the file exists is not checked."""
    with contextlib.suppress(UnicodeEncodeError):
        if isinstance(path, (str, os.PathLike)) and os.fsencode(path) and "\0" not in str(path):
            return path
    raise InputError(f"`path` must be a path, got {shown(path)} ({type(path).__name__})")


def check_two_names(names: Any) -> tuple[str, str]:
    """Return two different names."""
    if isinstance(names, str) or not isinstance(names, Sequence) or len(names) != 2:
        raise InputError(f"`names` must be a pair of names, got {shown(names)}")
    first, second = (check_name("names", name) for name in names)
    if first == second:
        raise InputError(f"`names` must differ, got {shown(first)} twice")
    return first, second


def items_of(values: Any) -> list[Any]:
    """Return what an iterable has, and nothing if values are not iterable, such as an array without dimensions."""
    return list(values) if hasattr(values, "__iter__") and getattr(values, "shape", None) != () else []


def is_empty(values: Any) -> bool:
    """Whether values have a length, and it is 0."""
    return hasattr(values, "__len__") and getattr(values, "shape", None) != () and len(values) == 0


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return True


def is_missing_label(value: Any) -> bool:
    """Whether a label is None, NaN, NaT, pandas' NA or an empty string."""
    return (isinstance(value, str) and not value) or is_missing(value)


def refuse_masked(name: str, values: Any, error: type[CostCurvesError]) -> None:
    """Refuse a NumPy array with masked values."""
    masked = sys.modules.get("numpy.ma")  # which NumPy loads only when it is used, because that takes a while
    if masked is not None and isinstance(values, masked.MaskedArray) and masked.is_masked(values):
        raise error(f"`{name}` must not have masked values, got {int(masked.getmaskarray(values).sum())}")


def number_array(
    name: str, values: Any, *, booleans: bool = True, error: type[CostCurvesError] = InputError
) -> FloatArray:
    """Convert `values` to a float64 array of any shape. Strings, dates, complex and masked numbers are refused.

    The array may share memory with `values`. NaN and infinities are allowed, and a missing value becomes NaN.
    """
    refuse_masked(name, values, error)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise error(f"`{name}` must be numeric, got {shown(values)}") from None
    if array.dtype.kind == "O":
        flat = [_as_float(name, value, booleans, error) for value in array.ravel().tolist()]
        return np.array(flat, dtype=np.float64).reshape(array.shape)
    if array.dtype.kind not in ("biuf" if booleans else "iuf"):
        raise error(f"`{name}` must be numeric, got {shown(values)} ({array.dtype})")
    with np.errstate(over="ignore"):
        return array.astype(np.float64, copy=False)


def _as_float(name: str, value: Any, booleans: bool, error: type[CostCurvesError]) -> float:
    """Convert one object to a float, or to NaN if it is missing."""
    if is_missing(value):
        return math.nan
    if not isinstance(value, (Real, Decimal)) or (isinstance(value, bool) and not booleans):
        raise error(f"`{name}` must be numeric, got {shown(value)} ({type(value).__name__})")
    try:
        return float(value)
    except (OverflowError, ValueError):
        raise error(f"`{name}` must be numbers that a float can hold, got {shown(value)}") from None


def check_thresholds(values: Any) -> FloatArray:
    """Return thresholds as a float64 array of any shape; infinities are allowed, NaN is not."""
    array = number_array("threshold", values, booleans=False)
    if np.isnan(array).any():
        raise InputError(f"`threshold` must not be NaN, got {shown(values)}")
    return array


def check_unit_array(name: str, values: Any) -> FloatArray:
    """Return `values` as a float64 array with every element in [0, 1] (any shape; NaN is refused)."""
    array = number_array(name, values, booleans=False)
    bad = ~((array >= 0.0) & (array <= 1.0))
    if bad.any():
        first = np.flatnonzero(bad.ravel())[0]
        value = float(array.ravel()[first])
        where = f" at position {first}" if array.ndim else ""
        raise InputError(f"`{name}` must be in [0, 1], got {shown(value)}{where}{_percent(value)}")
    return array


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Make an array read-only and return it."""
    array.flags.writeable = False
    return array


def check_unique(names: Sequence[str], what: str) -> None:
    """Raise an error if a name repeats."""
    for i, name in enumerate(names):
        if name in names[:i]:
            raise InputError(f"`{what}` must have different names, got {shown(name)} twice: pass name= to each")
