"""The picture that `curve -o` writes: the one place that knows how it is drawn."""

from __future__ import annotations

import warnings
from pathlib import Path

import costcurves as cc
from costcurves._base.text import safe
from costcurves.cli._options import Condition
from costcurves.cli._print import Problem
from costcurves.inference.bands.results import Band

ENDINGS = (".svg", ".png", ".pdf")


def save_curves(curves: list[cc.CostCurve], bands: list[Band], cases: dict[str, Condition], path: Path) -> None:
    """Draw some cost curves with their bands, mark the conditions, and write the picture whole or not at all."""
    if path.suffix.lower() not in ENDINGS:
        raise Problem(
            f"--output must end in {', '.join(ENDINGS)} (or .json or .csv), got {safe(path.suffix) or 'no ending'}"
        )
    # Between dollars matplotlib would read a formula.
    shown = [curve.renamed(safe(curve.name).replace("$", r"\$")) for curve in curves]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # a letter that the font lacks is drawn as a box
        display = cc.CostCurveDisplay(shown, bands={curve.name: band for curve, band in zip(shown, bands, strict=True)})
        display.plot(condition=list(cases.values()) or None).save(path)
    import matplotlib.pyplot as plt

    plt.close(display.figure_)
