"""Thresholds as text: as few digits as separate the same scores, and never a number that separates others."""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

import numpy as np

# Any float64 has all its digits in here.
_EXACT = Context(prec=1100, Emax=MAX_EMAX, Emin=MIN_EMIN)
# From here on numbers are written with an exponent, and below the other one, too. JavaScript has the same limits.
_HUGE, _TINY = 1e21, 1e-6
# Scores of these types are compared in their own type, so a threshold must separate them after rounding to it, too.
_NARROW = (np.float32, np.float16)


def short_cut(threshold: float, below: float = math.nan) -> float:
    """Return the number with the fewest decimals that separates the same scores as a threshold does.

    Parameters
    ----------
    threshold : float
        Scores at or above it are called positive.
    below : float
        The highest score below the threshold; -inf where there is none, NaN where it is not known.

    Returns
    -------
    float
        The largest number of the fewest decimals in ``(below, threshold]``; the threshold itself where `below` is not
        known.

    Examples
    --------
    >>> short_cut(0.21136524, 0.20917), short_cut(0.9999999999999432, 0.98), short_cut(0.1057)
    (0.21, 0.99, 0.1057)
    """
    if not math.isfinite(threshold) or not below < threshold:
        return threshold
    exact = Decimal(threshold)
    # With fewer decimals there is no number between two ends of one sign, or the text would not be shorter.
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
    """Return the number with the fewest decimals in the middle half of the gap below a threshold.

    It is the nearest of them to the middle; the threshold itself where no number is in between, or no score below.

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
    """Return how many decimals a text needs at least: none, and for a number with an exponent even fewer."""
    return 0 if abs(value) < _HUGE else -Decimal(value).adjusted()


def _rounded(exact: Decimal, decimals: int, rounding: str) -> float:
    return float(exact.quantize(Decimal((0, (1,), -decimals)), rounding, _EXACT))


def _lost(value: float, threshold: float, below: float) -> bool:
    """Return whether scores of a type with fewer bits would be separated otherwise, for lack of these bits."""
    with np.errstate(over="ignore"):
        return any(
            float(kind(value)) <= below
            for kind in _NARROW
            if float(kind(threshold)) == threshold and float(kind(below)) == below
        )


def cut_text(threshold: float, below: float = math.nan) -> str:
    """Return a threshold as the shortest text that separates the same scores; `float` reads it.

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
