"""The picture of cost curves that `curve -o` writes: the one place that knows how it is drawn."""

from __future__ import annotations

import io
import warnings
from typing import Any

import costcurves as cc
from costcurves.cli._options import Condition
from costcurves.cli._print import Problem, safe

ENDINGS = (".svg", ".png", ".pdf")
# Colour-blind-safe (Okabe and Ito 2008).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")


def draw_curves(curves: list[cc.CostCurve], bands: list[cc.Band], cases: dict[str, Condition], ending: str) -> bytes:
    """Return the picture of some cost curves as a file's bytes; the same input gives the same bytes."""
    if ending not in ENDINGS:
        raise Problem(f"--output must end in {', '.join(ENDINGS)} (or .json or .csv), got {ending or 'no ending'}")
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise cc.MissingExtraError('a picture needs matplotlib: pip install "costcurves[plot]"') from None
    import matplotlib

    settings: Any = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "costcurves"}
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # a letter that the font lacks is drawn as a box
        figure = Figure(figsize=(6.4, 4.4), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        axes.plot([0, 0.5, 1], [0, 0.5, 0], color="#666666", lw=1, ls=":", label="doing nothing, or always alarming")
        for i, (curve, band) in enumerate(zip(curves, bands, strict=True)):
            colour = COLOURS[i % len(COLOURS)]
            axes.fill_between(band.pc, band.lower, band.upper, color=colour, alpha=0.12, lw=0)
            axes.plot(*curve.vertices.T, color=colour, lw=1.6, label=_literal(curve.name))
        for i, (name, where) in enumerate(cases.items()):
            low, high = (where.pc, where.pc) if isinstance(where, cc.OperatingCondition) else where.pc
            axes.axvspan(low, high, color="#666666", alpha=0.12, lw=0)
            axes.axvline(low, color="#666666", lw=1, ls="--")
            axes.axvline(high, color="#666666", lw=1, ls="--")
            middle, height = (low + high) / 2, 0.99 - 0.05 * i
            axes.text(middle, height, _literal(name), transform=axes.get_xaxis_transform(), ha="center", va="top")
        axes.set(xlim=(0, 1), ylim=(0, 0.55), xlabel="probability-cost of the positives, pc")
        axes.set_ylabel("expected cost, of always being wrong")
        figure.legend(loc="outside lower center", ncols=3, frameon=False)
        buffer = io.BytesIO()
        metadata: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {"Software": None}}
        figure.savefig(buffer, format=ending.removeprefix("."), dpi=150, metadata=metadata[ending])
    return buffer.getvalue()


def _literal(name: str) -> str:
    """Return a name that matplotlib shows as it is: no formula between dollars, no hidden underscore."""
    text = safe(name).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text
