"""A list of all modules, each with the first sentence of its docstring. The architecture page ends with it.

``python docs/_ext/rooms.py`` prints the same list.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import costcurves

PACKAGE = Path(costcurves.__file__).parent


def rooms() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each package with its modules and what they say of themselves."""
    for start in sorted(PACKAGE.rglob("__init__.py")):
        folder = start.parent
        modules = sorted(path for path in folder.glob("*.py") if path != start)
        if folder != PACKAGE:
            name = folder.relative_to(PACKAGE).as_posix()
            yield name, {path.name: first_line(path) for path in modules}


def first_line(path: Path) -> str:
    """Return the first line of the docstring of a module."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    return (text or "").split("\n")[0]


class Rooms(SphinxDirective):
    """The list of all modules."""

    def run(self) -> list[nodes.Node]:
        """Make a definition of each package: a list of its modules."""
        packages = nodes.definition_list()
        for name, modules in rooms():
            listed = nodes.bullet_list()
            for module, text in modules.items():
                said, _ = self.parse_inline(text)
                line = nodes.paragraph(
                    "", "", nodes.literal(text=module), nodes.Text(": "), *said
                )
                listed += nodes.list_item("", line)
            term = nodes.term("", "", nodes.literal(text=name))
            packages += nodes.definition_list_item(
                "", term, nodes.definition("", listed)
            )
        return [packages]


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive."""
    app.add_directive("rooms", Rooms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    for package, found in rooms():
        for room, sentence in found.items():
            print(f"{package}/{room}: {sentence}")
