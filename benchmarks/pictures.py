"""The pictures of the page: ratios with their floors, and times against sizes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import check

# Okabe and Ito's colours, with dashes and marks, so that lines are distinguishable in greyscale.
STYLES = (
    ("#0072B2", "-", "o"),
    ("#D55E00", "--", "s"),
    ("#009E73", "-.", "^"),
    ("#6b6b6b", ":", "v"),
    ("#CC79A7", (0, (5, 1, 1, 1)), "D"),
)
SETTINGS = {
    "font.size": 9,
    "font.family": "DejaVu Sans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "costcurves",
    "svg.fonttype": "none",  # text is kept as text, which gives small files that can be searched
    "figure.constrained_layout.use": True,
}


def slug(title: str) -> str:
    """Convert a title to a part of a file name."""
    return re.sub(r"[^a-z0-9]+", "-", title.split(",")[0].lower()).strip("-")


def of(documents: Mapping[str, Mapping[str, Any]]) -> dict[str, Callable[[Path], None]]:
    """Return, by name, the functions that draw each picture into a file."""
    rows = [row for document in documents.values() for row in document["rows"] if row["ratio"] is not None]
    found: dict[str, Callable[[Path], None]] = {"ratios": partial(_ratios, rows)} if rows else {}
    for one in documents.get("scaling", {"series": []})["series"]:
        found[slug(one["title"])] = partial(_series, one)
    return found


def _ratios(rows: list[Mapping[str, Any]], path: Path) -> None:
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    with mpl.rc_context(SETTINGS):
        figure, ax = plt.subplots(figsize=(8.4, 0.9 + 0.24 * len(rows)))
        for y, row in enumerate(reversed(rows)):
            speed = check.speed(row)
            colour = "#D55E00" if row["met"] is False else "#0072B2"
            ax.plot([1, speed], [y, y], color="#d8d8d8", linewidth=1.5, zorder=1)
            ax.plot(
                speed, y, "o", color=colour, markerfacecolor="white" if row["met"] is False else colour, markersize=5
            )
            if row["floor"] is not None:
                floor = 1 / row["floor"] if row["at_most"] else row["floor"]
                ax.plot([floor, floor], [y - 0.35, y + 0.35], color="#111111", linewidth=1.5)
        ax.set_yticks(range(len(rows)), [f"{row['job']} / {row['peer']['name']}" for row in reversed(rows)], fontsize=7)
        ax.axvline(1, color="#6b6b6b", linewidth=0.8)
        ax.set_xscale("log")
        ax.set_ylim(-0.7, len(rows) - 0.3)
        ax.set_xlabel("times as fast as the peer")
        ax.tick_params(axis="y", length=0)
        _save(figure, path)


def _series(one: Mapping[str, Any], path: Path) -> None:
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    with mpl.rc_context(SETTINGS):
        figure, ax = plt.subplots(figsize=(6.4, 3.6))
        for (name, values), (colour, dash, mark) in zip(one["seconds"].items(), STYLES, strict=False):
            ax.plot(one["values"], values, color=colour, linestyle=dash, marker=mark, markersize=4, label=name)
        ax.set_xscale("log")
        ax.set_yscale("log")
        if one["axis"] != "examples":  # examples are powers of ten
            ax.set_xticks(one["values"], [f"{value:,}" for value in one["values"]])
            ax.minorticks_off()
        ax.set_xlabel(one["axis"])
        ax.set_ylabel("seconds")
        ax.grid(alpha=0.25, linewidth=0.6)
        ax.legend(frameon=False, fontsize=8)
        _save(figure, path)


def _save(figure: Any, path: Path) -> None:
    import matplotlib.pyplot as plt

    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
