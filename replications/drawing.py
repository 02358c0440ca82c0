"""The looks of lines and the panels of the pages' figures, into which displays draw."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import costcurves as cc

# Nine looks that colour-blind readers can distinguish by colour and dashes together.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7A4FA3", "#8C6D31")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.2)), (0, (1.5, 1)), (0, (6, 1.2, 1.2, 1.2)))


def look(index: int) -> dict[str, Any]:
    """The colour and dashes of the line at a position."""
    return {"color": COLOURS[index % 9], "linestyle": DASHES[index % 4]}


@contextmanager
def panels(columns: int, width: float = 3.4, height: float = 2.8, rows: int = 1, **options: Any) -> Iterator[Any]:
    """Provide a figure and the list of its axes, in the style of the displays."""
    from matplotlib import pyplot

    with cc.figure_style():
        figure, axes = pyplot.subplots(
            rows, columns, figsize=(width * columns, height * rows), layout="constrained", squeeze=False, **options
        )
        yield figure, axes.ravel().tolist()
