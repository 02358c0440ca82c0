"""Text of unknown origin, made safe to show."""

from __future__ import annotations

import unicodedata

# Embeddings, overrides and isolates: characters that change the direction of what stands around them.
_DIRECTIONS = frozenset(("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"))


def safe(text: object) -> str:
    r"""Return text in which control and direction-changing characters are visible and do nothing.

    A name from a file may hold line breaks, terminal codes or right-to-left overrides.

    Examples
    --------
    >>> print(safe("two\nlines, \u202eover"))
    two\nlines, \u202eover
    """
    return "".join(_visible(character) for character in str(text))


def acts(character: str) -> bool:
    """Return whether a character does something to a terminal or to the text around it, instead of being shown."""
    kind = unicodedata.category(character)
    return kind in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(character) in _DIRECTIONS


def _visible(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii") if acts(character) else character
