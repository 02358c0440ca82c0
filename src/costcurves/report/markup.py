"""Sentences with markup in which names are inert, neither interpreted as markup nor changing the text around them."""

from __future__ import annotations

from typing import Any

import markupsafe

from costcurves._base.text import safe


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
