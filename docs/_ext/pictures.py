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

import costcurves

FOLDER = "_pictures"


def write_pictures(app: Sphinx) -> None:
    """Draw pictures that are older than their code, the package, or the tutorial, whose code one of them runs."""
    figures, folder = Path(app.srcdir) / "figures", Path(app.srcdir) / FOLDER
    sys.path.insert(0, str(figures))
    import pictures_of  # the list of all pictures, docs/figures/pictures_of.py

    folder.mkdir(exist_ok=True)
    package = Path(costcurves.__file__).parent
    sources = [
        *figures.glob("*.py"),
        *package.rglob("*.py"),
        Path(app.srcdir) / "tutorial.md",
    ]
    newest = max(path.stat().st_mtime for path in sources)
    for name, draw in pictures_of.PICTURES.items():
        paths = {theme: folder / f"{name}-{theme}.svg" for theme in pictures_of.THEMES}
        if all(
            path.exists() and path.stat().st_mtime > newest for path in paths.values()
        ):
            continue
        for theme, path in paths.items():
            if not app.config.pictures_in_light_only or theme == "light":
                text = io.StringIO()
                pictures_of.save(draw, theme, text)
            path.write_text(text.getvalue(), encoding="utf-8")


class Picture(SphinxDirective):
    """A picture with its caption: the light drawing on light pages, the dark one on dark pages."""

    required_arguments = 1
    has_content = True
    option_spec = {"alt": directives.unchanged_required}  # noqa: RUF012 (docutils wants a plain dict)

    def run(self) -> list[nodes.Node]:
        """Make a figure with two images, of which the theme shows one."""
        if "alt" not in self.options:
            raise self.error(
                "a picture needs :alt:, a description for readers who cannot see it"
            )
        # The theme hides captions next to an image that it hides, so a container separates them.
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
    app.add_config_value("pictures_in_light_only", False, "")
    app.connect("builder-inited", write_pictures)
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
