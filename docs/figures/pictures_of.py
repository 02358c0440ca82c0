"""The list of the pictures of the explanation pages, their colours, and how they are written as SVG files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TextIO

import matplotlib as mpl

mpl.use("Agg")
import certainty
import layers
import matplotlib.pyplot as plt
import spaces
import tutorial


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours that keep their contrast on the page: ink for what matters, grey for what helps, three for curves."""

    ink: str
    grey: str
    pale: str
    blue: str
    orange: str
    green: str
    purple: str


# Okabe and Ito's colours, which are distinguishable with every common kind of colour blindness, lighter on dark pages.
THEMES = {
    "light": Theme(
        "#111111", "#6b6b6b", "#ececec", "#0072B2", "#D55E00", "#009E73", "#CC79A7"
    ),
    "dark": Theme(
        "#eeeeee", "#a8a8a8", "#2f3640", "#56B4E9", "#E69F00", "#2FC79B", "#E3A5C7"
    ),
}
PICTURES: dict[str, Callable[[Any], Any]] = {
    draw.__name__.replace("_", "-"): draw
    for module in (spaces, certainty, layers, tutorial)
    for draw in module.PICTURES
}


def save(draw: Callable[[Any], Any], theme: str, file: TextIO) -> None:
    """Draw in the colours of a theme and write SVG. The same code gives the same bytes."""
    colours = THEMES[theme]
    settings = {
        "font.size": 9,
        "font.family": "DejaVu Sans",
        "axes.titlesize": 9.5,
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": colours.grey,
        "axes.labelcolor": colours.ink,
        "axes.titlecolor": colours.ink,
        "axes.linewidth": 0.8,
        "text.color": colours.ink,
        "xtick.color": colours.grey,
        "ytick.color": colours.grey,
        "xtick.labelcolor": colours.ink,
        "ytick.labelcolor": colours.ink,
        "legend.frameon": False,
        "legend.fontsize": 8.5,
        "lines.linewidth": 1.6,
        "svg.hashsalt": "costcurves",
        "figure.constrained_layout.use": True,
        "figure.figsize": (8.4, 3.9),
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.facecolor": "auto",
    }
    with plt.rc_context(settings):
        figure = draw(colours)
        figure.savefig(
            file,
            format="svg",
            metadata={"Date": None, "Creator": None},
        )
        plt.close(figure)
