"""Thresholds as text with as few digits as possible, such that they still separate exactly the same scores."""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

import numpy as np

# This precision holds all digits of any float64.
_EXACT = Context(prec=1100, Emax=MAX_EMAX, Emin=MIN_EMIN)
# Numbers from the first limit on, and those below the second, are written with an exponent, as in JavaScript.
_HUGE, _TINY = 1e21, 1e-6
# Scores of these types are compared in their own type, so a threshold must separate them after rounding to it too.
_NARROW = (np.float32, np.float16)


def short_cut(threshold: float, below: float = math.nan) -> float:
    """Find the number with the fewest decimals that separates the same scores as a threshold.

    Parameters
    ----------
    threshold : float
        Cases with scores at or above it are predicted positive.
    below : float
        The highest score below the threshold, -inf if there is none, or NaN if it is not known.

    Returns
    -------
    float
        The largest number with the fewest decimals in ``(below, threshold]``, or the threshold itself if `below` is not
        known.

    Examples
    --------
    >>> short_cut(0.21136524, 0.20917), short_cut(0.9999999999999432, 0.98), short_cut(0.1057)
    (0.21, 0.99, 0.1057)
    """
    if not math.isfinite(threshold) or not below < threshold:
        return threshold
    exact = Decimal(threshold)
    # With fewer decimals there is no number between two ends of the same sign, or the text would not be shorter.
    decimals = _fewest_decimals(threshold)
    if below >= 0 or (threshold <= 0 and math.isfinite(below)):
        decimals = max(decimals, -Decimal(max(threshold, -below)).adjusted())
    while True:
        value = _rounded(exact, decimals, ROUND_HALF_EVEN)
        if value > threshold:
            value = _rounded(exact, decimals, ROUND_FLOOR)
        if below < value and not _lost(value, threshold, below):
            return value + 0.0  # not -0.0
        decimals += 1


def middle_cut(threshold: float, below: float) -> float:
    """Find the number with the fewest decimals in the middle half of the gap below a threshold.

    Of several such numbers it is the one nearest to the middle. The result is the threshold itself if there is no
    number in the gap or no score below.

    Examples
    --------
    >>> middle_cut(0.731, 0.598), middle_cut(7, 6), middle_cut(0.1, float("-inf"))
    (0.66, 6.5, 0.1)
    """
    middle, quarter = below / 2 + threshold / 2, threshold / 4 - below / 4
    if not below < middle <= threshold:
        return threshold
    decimals = _fewest_decimals(middle)
    while True:
        value = _rounded(Decimal(middle), decimals, ROUND_HALF_EVEN) + 0.0
        if abs(value - middle) <= quarter and not _lost(value, threshold, below):
            return value
        if value == middle:
            return threshold
        decimals += 1


def _fewest_decimals(value: float) -> int:
    """The smallest number of decimals that a text can have, which is negative for numbers with an exponent."""
    return 0 if abs(value) < _HUGE else -Decimal(value).adjusted()


def _rounded(exact: Decimal, decimals: int, rounding: str) -> float:
    return float(exact.quantize(Decimal((0, (1,), -decimals)), rounding, _EXACT))


def _lost(value: float, threshold: float, below: float) -> bool:
    """Whether scores of a narrower type would be separated differently after rounding to that type."""
    with np.errstate(over="ignore"):
        return any(
            float(kind(value)) <= below
            for kind in _NARROW
            if float(kind(threshold)) == threshold and float(kind(below)) == below
        )


def cut_text(threshold: float, below: float = math.nan) -> str:
    """Format a threshold as the shortest text that separates the same scores. `float` can parse it.

    Examples
    --------
    >>> cut_text(0.21136524, 0.20917), cut_text(655.37, 640.2), cut_text(1e-9), cut_text(-2.5, -2.7)
    ('0.21', '655', '1e-9', '-2.5')
    """
    value = short_cut(threshold, below) + 0.0
    if not math.isfinite(value):
        return str(value)
    digits = Decimal(repr(value)).normalize()
    if value == 0 or _TINY <= abs(value) < _HUGE:
        return f"{digits:f}"
    sign, (first, *rest), _ = digits.as_tuple()
    fraction = f".{''.join(map(str, rest))}" if rest else ""
    return f"{'-' if sign else ''}{first}{fraction}e{digits.adjusted():+d}"
