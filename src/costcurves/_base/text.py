"""Text for people: names of unknown origin made safe to display, levels, thresholds, and sets of thresholds."""

from __future__ import annotations

import math
import unicodedata
from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

import numpy as np

# Embeddings, overrides and isolates, which change the direction of the text around them.
_DIRECTIONS = frozenset(("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"))


def safe(text: object) -> str:
    r"""Replace control characters and characters that change the text direction by visible escapes.

    A name from a file may contain line breaks, terminal codes or right-to-left overrides.

    Examples
    --------
    >>> print(safe("two\nlines, \u202eover"))
    two\nlines, \u202eover
    """
    return "".join(_visible(character) for character in str(text))


def level_text(level: float) -> str:
    """Return a confidence level in per cent, with as many digits as tell it from 100 %.

    Examples
    --------
    >>> level_text(0.95), level_text(0.9999999999)
    ('95 %', '99.99999999 %')
    """
    text = f"{100 * level:g}"
    return f"{(100 * Decimal(repr(float(level)))).normalize():f} %" if text == "100" else f"{text} %"


def error_text(max_error: float) -> str:
    """Return the end of a result's text: by how much binned scores can have made it wrong, if they can."""
    return f", max_error={max_error:.2g}" if max_error else ""


def acts(character: str) -> bool:
    """Whether a character affects the terminal or the text around it instead of being displayed."""
    kind = unicodedata.category(character)
    return kind in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(character) in _DIRECTIONS


def _visible(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii") if acts(character) else character


def is_number(text: str) -> bool:
    """Say whether a text can be read as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


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
        # The quarter of a gap of the smallest floats is rounded.
        if abs(value - middle) <= quarter and below < value <= threshold and not _lost(value, threshold, below):
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


# No more intervals than these are written out.
SHOWN = 3

Texts = tuple[str, str]
Ends = tuple[float, float]


def rule_in_words(text: str) -> str:
    """Return when a case is called positive; an empty text stands for a threshold above all scores."""
    return f"score >= {text}" if text else "no alarm"


def interval_in_words(low: str, high: str) -> str:
    """Return an interval of cuts in words; an empty end stands for a threshold above all scores."""
    if not high:
        return "no alarm" if not low else f"score >= {low} or higher, up to no alarm"
    return rule_in_words(low) if low == high else f"{rule_in_words(low)} .. {high}"


def largest(sizes: list[int]) -> list[int]:
    """Return the places of the intervals that are written out: those with the most thresholds, in their order.

    Examples
    --------
    >>> largest([5, 1, 7, 2])
    [0, 2, 3]
    """
    return sorted(sorted(range(len(sizes)), key=lambda i: -sizes[i])[:SHOWN])


def sentence(
    ends: list[Ends], texts: tuple[Texts, ...], sizes: list[int], level: float | None, tolerance: float | None
) -> str:
    """Return what is known of the thresholds in some intervals, and thereby of all others.

    Parameters
    ----------
    ends : list of (low, high)
        The intervals, from the highest down.
    texts : pairs of the lowest and the highest threshold of each interval as text, which is empty above all scores
    sizes : list of int
        The numbers of thresholds that decide differently, for each interval.
    level, tolerance : float or None
        The confidence that the best threshold is in the set, or the share by which the cost exceeds the least one.

    Examples
    --------
    >>> sentence([(0.3, math.inf), (0.1, 0.2)], (("0.4", ""), ("0.15", "0.2")), [2, 3], 0.95, None)
    'Thresholds from 0.15 to 0.2 and from 0.4 up are not shown to cost more, at 95 %.'
    >>> sentence([(0.1, 0.2)], (("0.2", "0.2"),), [1], None, 0.05)
    'Every other threshold costs over 5 % more than the best one, on these cases.'
    """
    inside, outside, how = "are not shown to cost more", "is shown to cost more", ""
    if level is not None:
        how = f", at {level_text(level)}"
    elif tolerance is not None:
        more = f"{100 * tolerance:g} % more than the best one"
        inside, outside, how = f"cost at most {more}", f"costs over {more}", ", on these cases"
    if ends == [(-math.inf, math.inf)]:
        return f"No threshold {outside}{how}."
    if sizes == [1]:
        return f"Every other threshold {outside}{how}."
    places = largest(sizes)
    parts = [_place(ends[i], texts[i]) for i in reversed(places)]
    if rest := len(sizes) - len(places):
        parts.append(f"in {rest} smaller {'interval' if rest == 1 else 'intervals'}")
    listed = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    return f"Thresholds {listed} {inside}{how}."


def _place(ends: Ends, texts: Texts) -> str:
    """Return where the thresholds of one interval lie."""
    low, high = texts
    if not low:
        return "above all scores"
    if ends[0] == -math.inf:
        return f"up to {high}"
    if not high:
        return f"from {low} up"
    return f"at {low}" if low == high else f"from {low} to {high}"
