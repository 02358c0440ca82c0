"""Numbers for readers: three significant figures, separated thousands, and money with its currency."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from costcurves._base.text import safe

SYMBOLS = "$€£¥₹₩₽₺₴₿"
MINUS = "−"
SHORT = 22  # the most letters of a name in the pictures


def _decimals(value: float, figures: int) -> int:
    if value == 0 or not math.isfinite(value):
        return 0
    return max(0, min(12, figures - 1 - math.floor(math.log10(abs(value)))))


def number(value: float, figures: int = 3) -> str:
    """Format a number with a given number of figures, without an exponent unless it is tiny or huge.

    Examples
    --------
    >>> [number(x) for x in (0.51726, 1234567.0, -0.03, 2.0, 0.0, 1e-9, 12.349)]
    ['0.517', '1,234,567', '−0.03', '2', '0', '1e-09', '12.3']
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    if value != 0 and not 1e-6 <= abs(value) < 1e15:
        return f"{value:.{figures}g}".replace("-", MINUS, 1) if value < 0 else f"{value:.{figures}g}"
    text = f"{value:,.{_decimals(value, figures)}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", MINUS)


def with_minus(text: str) -> str:
    """Return a text of the library in which negative numbers have the minus sign of the page.

    Examples
    --------
    >>> with_minus("Thresholds from -0.47 to -1e-05"), with_minus("k-fold, at 2-3")
    ('Thresholds from −0.47 to −1e-05', 'k-fold, at 2-3')
    """
    return re.sub(r"(?<!\S)-(?=[\d.]|inf)", MINUS, text)


def rounded(value: float, figures: int = 3) -> str:
    """Format an estimate: other than `number`, it rounds large numbers to as many figures, too.

    Examples
    --------
    >>> [rounded(x) for x in (0.51726, 1234567.0, -4812.0)]
    ['0.517', '1,230,000', '−4,810']
    """
    return number(float(f"{value:.{figures}g}"), figures)


def percent(share: float, figures: int = 3) -> str:
    r"""Format a share as a percentage.

    Examples
    --------
    >>> percent(0.3).split("\N{NO-BREAK SPACE}"), percent(0.01234).split("\N{NO-BREAK SPACE}")
    (['30', '%'], ['1.23', '%'])
    """
    return f"{number(100 * share, figures)}\N{NO-BREAK SPACE}%"


def together(values: Sequence[float], figures: int = 3) -> list[str]:
    """Format several numbers with the same number of decimals, which is what the smallest nonzero one needs.

    Examples
    --------
    >>> together([0.517, 0.467, 0.5805])
    ['0.517', '0.467', '0.581']
    >>> together([1240.0, 3.25, 0.0])
    ['1,240.00', '3.25', '0']
    """
    sizes = [abs(value) for value in values if value != 0 and math.isfinite(value)]
    if not sizes or min(sizes) < 1e-6 or max(sizes) >= 1e15:
        return [number(value, figures) for value in values]
    decimals = min(_decimals(min(sizes), figures), max(2, _decimals(max(sizes), figures)))
    return [
        f"{value:,.{decimals}f}".replace("-", MINUS) if value != 0 and math.isfinite(value) else number(value)
        for value in values
    ]


def money(text: str, currency: str) -> str:
    r"""Combine a number with its currency, which comes before it if it is a symbol and after it if it is a word.

    Examples
    --------
    >>> money("0.52", "€"), money("0.52", "EUR") == "0.52\N{NO-BREAK SPACE}EUR", money("0.52", "")
    ('€0.52', True, '0.52')
    """
    if not currency:
        return text
    if currency in SYMBOLS:
        return f"{MINUS}{currency}{text[1:]}" if text.startswith(MINUS) else f"{currency}{text}"
    return f"{text}\N{NO-BREAK SPACE}{currency}"


def money_span(low: str, high: str, currency: str) -> str:
    """Format an interval of money. A currency symbol comes before both ends, a word after the last.

    Examples
    --------
    >>> money_span("1", "2", "€"), money_span("1", "2", "")
    ('€1 to €2', '1 to 2')
    """
    first = money(low, currency) if currency and currency in SYMBOLS else low
    return f"{first} to {money(high, currency)}"


def short(name: str, length: int = SHORT) -> str:
    r"""Shorten a name to one line for the pictures, and escape characters that have an effect.

    Examples
    --------
    >>> print(short("forest"), short("two\nlines"), len(short("x" * 300)))
    forest two\nlines 22
    """
    # Joiners are kept, because emoji and many scripts need them. Other invisible characters become spaces.
    kept = (c if c.isprintable() or c in "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}" else " " for c in safe(name))
    text = " ".join("".join(kept).split())
    if text == "__proto__":  # Vega uses names as keys of plain objects, in which this key is special
        text += "\N{WORD JOINER}"
    return text if len(text) <= length else text[: length - 1] + "…"


def isolated(name: str) -> str:
    """Isolate the text direction of a name from the text around it, for places where markup cannot be used."""
    return f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}"


def short_names(names: Sequence[str]) -> list[str]:
    """Shorten names so that they remain distinct.

    Examples
    --------
    >>> short_names(["x" * 30, "x" * 31, "forest"])
    ['xxxxxxxxxxxxxxxxxx… (1)', 'xxxxxxxxxxxxxxxxxx… (2)', 'forest']
    """
    first = [short(name) for name in names]
    result = []
    for i, text in enumerate(first):
        alike = [j for j, other in enumerate(first) if other == text]
        result.append(text if len(alike) == 1 else f"{short(names[i], SHORT - 3)} ({alike.index(i) + 1})")
    return result
