"""Sentences with markup, in which names can do nothing: neither as markup nor by characters that act on the text."""

from __future__ import annotations

from typing import Any

import markupsafe

from costcurves._base.text import safe


def shown(value: Any) -> Any:
    r"""Return a value for the page: in plain text, characters that act on the text around them are written out.

    Examples
    --------
    >>> print(shown("a\u202eb"), shown(3), shown(markupsafe.Markup("<p>\n</p>")) == "<p>\n</p>")
    a\u202eb 3 True
    """
    return safe(value) if isinstance(value, str) and not isinstance(value, markupsafe.Markup) else value


class Markup(markupsafe.Markup):
    r"""Markup that writes out what acts in the texts that are put into it.

    Examples
    --------
    >>> print(Markup("<b>{}</b>").format("<\u202e>"))
    <b>&lt;\u202e&gt;</b>
    """

    @classmethod
    def escape(cls, value: Any, /) -> Markup:
        """Return a text as markup that shows it."""
        return super().escape(shown(value))
