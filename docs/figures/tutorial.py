"""The picture of the tutorial, drawn from the results of the tutorial's own code."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

import costcurves as cc

DOCS = Path(__file__).resolve().parent.parent


@cache
def found() -> dict[str, Any]:
    """Run the tutorial's blocks as far as the decision, and return their names."""
    page = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    before, _, _ = page.partition("## The picture")
    scope: dict[str, Any] = {}
    here = Path.cwd()
    os.chdir(DOCS.parent)
    try:
        for block in re.findall(r"^```python\n(.*?)^```", before, flags=re.S | re.M):
            exec(block.replace("print(", "str("), scope)
    finally:
        os.chdir(here)
    return scope


def tutorial_curves(theme: Any) -> Any:
    """Draw the display of the tutorial. Displays have a white background, also on dark pages."""
    with plt.style.context("default"), cc.figure_style():
        figure, ax = plt.subplots(figsize=(6.0, 3.8), layout="constrained")
        names = found()
        curves, here = names["evaluation"].hull().roc_curves(), names["here"]
        cc.CostCurveDisplay.from_results(curves, condition=here, ax=ax)
    return figure


PICTURES = (tutorial_curves,)
