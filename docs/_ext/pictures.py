"""Pictures made by code: each function of docs/figures is drawn once for light and once for dark pages."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FOLDER = "_pictures"


def write_pictures(app: Sphinx) -> None:
    """Draw what is out of date: a picture is as old as the older of its two files."""
    figures = Path(app.srcdir) / "figures"
    sys.path.insert(0, str(figures))
    import pictures_of  # the list of all pictures, docs/figures/pictures_of.py

    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(exist_ok=True)
    newest = max(path.stat().st_mtime for path in figures.glob("*.py"))
    for name, draw in pictures_of.PICTURES.items():
        for theme in pictures_of.THEMES:
            path = folder / f"{name}-{theme}.svg"
            if path.exists() and path.stat().st_mtime > newest:
                continue
            text = io.StringIO()
            pictures_of.save(draw, theme, text)
            path.write_text(text.getvalue(), encoding="utf-8")


class Picture(SphinxDirective):
    """A picture with its caption: the light drawing on light pages, the dark one on dark pages."""

    required_arguments = 1
    has_content = True
    option_spec = {"alt": directives.unchanged_required}  # noqa: RUF012 (docutils wants a plain dict)

    def run(self) -> list[nodes.Node]:
        """Return a figure of two images, of which the theme shows one."""
        if "alt" not in self.options:
            raise self.error(
                "a picture needs :alt:, what somebody who cannot see it should know"
            )
        # The theme hides captions beside an image that it hides; a container keeps them apart.
        figure, both = nodes.figure(), nodes.container(classes=["picture"])
        figure += both
        for theme in ("light", "dark"):
            image = nodes.image(
                uri=f"/{FOLDER}/{self.arguments[0]}-{theme}.svg",
                alt=self.options["alt"],
            )
            image["classes"] = [f"only-{theme}"]
            both += image
        caption = nodes.caption()
        children, messages = self.parse_inline(" ".join(self.content))
        caption += children
        figure += caption
        return [figure, *messages]


def setup(app: Sphinx) -> dict[str, Any]:
    """Draw before Sphinx looks for sources."""
    app.connect("builder-inited", write_pictures)
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
