"""Make text of unknown origin safe to display."""

from __future__ import annotations

import unicodedata
from decimal import Decimal

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


def acts(character: str) -> bool:
    """Whether a character affects the terminal or the text around it instead of being displayed."""
    kind = unicodedata.category(character)
    return kind in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(character) in _DIRECTIONS


def _visible(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii") if acts(character) else character
