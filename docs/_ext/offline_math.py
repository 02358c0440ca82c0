"""Formulas as MathML, which browsers display themselves, so that the pages need no network and no script."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(
        f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>\n'
    )
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
