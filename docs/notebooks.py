"""Write the pages of docs/start as notebooks without outputs: python docs/notebooks.py."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
PAGES = sorted(page for page in (DOCS / "start").glob("*.md") if page.stem != "index")
SITE = "https://costcurves.github.io/costcurves/stable"
INSTALL = """# Colab has most of what is needed, but not costcurves.
import importlib.util

if importlib.util.find_spec("costcurves") is None:
    %pip install -q "costcurves[plot,sklearn] @ git+https://github.com/costcurves/costcurves"
"""
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n", flags=re.S | re.M)


def notebook_of(page: Path) -> str:
    """Return a page as a notebook: its text, its Python code, and a cell that installs the package."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"^\[!\[Open in Colab\].*\n\n", "", text, flags=re.M)
    cells: list[tuple[str, str]] = []
    at = 0
    for block in _BLOCK.finditer(text):
        cells.append(("markdown", _linked(text[at : block.start()], page)))
        if block[1] == "python":
            cells.append(("code", block[2]))
        at = block.end()
    cells.append(("markdown", _linked(text[at:], page)))
    cells.insert(1, ("code", INSTALL))
    kept = [
        _cell(i, kind, source.strip())
        for i, (kind, source) in enumerate(cells)
        if source.strip()
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {
        "cells": kept,
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _linked(text: str, page: Path) -> str:
    """Point links to other pages at the published site, and give those without words the title of the page."""

    def link(found: re.Match[str]) -> str:
        target = (page.parent / found[2]).resolve()
        words = found[1] or target.read_text(encoding="utf-8").splitlines()[
            0
        ].removeprefix("# ")
        return f"[{words}]({SITE}/{target.relative_to(DOCS.resolve()).with_suffix('.html').as_posix()})"

    return re.sub(r"\[([^\]]*)\]\(([\w./-]+\.md)\)", link, text)


def _cell(number: int, kind: str, source: str) -> dict[str, Any]:
    lines = source.splitlines(keepends=True)
    run = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {
        "cell_type": kind,
        "id": f"cell-{number}",
        "metadata": {},
        **run,
        "source": lines,
    }


if __name__ == "__main__":
    (DOCS / "notebooks").mkdir(exist_ok=True)
    for page in PAGES:
        (DOCS / "notebooks" / f"{page.stem}.ipynb").write_text(
            notebook_of(page), encoding="utf-8"
        )
