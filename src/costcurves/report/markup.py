"""Sentences with markup in which names are inert, neither interpreted as markup nor changing the text around them."""

from __future__ import annotations

import re
from typing import Any

import markupsafe

from costcurves._base.errors import FormatError
from costcurves._base.text import safe
from costcurves._base.validation import shown as quoted

# The parts of a page's contents that have markup, which is that of names and nothing else.
FRAGMENTS = ("why", "action", "lines", "where", "use", "overview", "said", "rows")
_TEXT = r"(?:[^<>&]|&(?:amp|lt|gt|#3[49]);)*"
_FRAGMENT = re.compile(rf"{_TEXT}(?:(?:<b><bdi>{_TEXT}</bdi></b>|<bdi>{_TEXT}</bdi>){_TEXT})*")


def shown(value: Any) -> Any:
    r"""Prepare a value for the page. In plain text, characters that affect the text around them are escaped.

    Examples
    --------
    >>> print(shown("a\u202eb"), shown(3), shown(markupsafe.Markup("<p>\n</p>")) == "<p>\n</p>")
    a\u202eb 3 True
    """
    return safe(value) if isinstance(value, str) and not isinstance(value, markupsafe.Markup) else value


class Markup(markupsafe.Markup):
    r"""Markup that escapes characters with an effect in the texts that are inserted into it.

    Examples
    --------
    >>> print(Markup("<b>{}</b>").format("<\u202e>"))
    <b>&lt;\u202e&gt;</b>
    """

    @classmethod
    def escape(cls, value: Any, /) -> Markup:
        """Convert a text to markup that displays it."""
        return super().escape(shown(value))


def marked(value: Any, inside: bool = False) -> Any:
    """Return the contents of a page with the markup that they may have, and refuse any other markup.

    Examples
    --------
    >>> marked({"use": "Use <b><bdi>a</bdi></b>", "title": "<p>"})
    {'use': Markup('Use <b><bdi>a</bdi></b>'), 'title': '<p>'}
    """
    if isinstance(value, dict):
        return {key: marked(one, inside or key in FRAGMENTS) for key, one in value.items() if key != "pictures"}
    if isinstance(value, list):
        return [marked(one, inside) for one in value]
    if not inside or not isinstance(value, str):
        return value
    if not _FRAGMENT.fullmatch(value):
        raise FormatError(f"`page` must have no markup but that of names, got {quoted(value)}")
    return Markup(value)
