"""Sets of thresholds in words: their intervals, and one sentence about all of them."""

from __future__ import annotations

import math

from costcurves._base.text import level_text

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
