"""The gallery: its order, from the first idea to the last, and figures that are large enough for a screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

ORDER = (
    "roc_hull",
    "cost_curves",
    "duality",
    "threshold",
    "dominance",
    "averaged_roc",
    "cost_difference",
    "exact_bootstrap",
    "coverage",
    "bcost",
    "bdeltacost",
    "prior_simplex",
    "power",
)


def place(name: str) -> int:
    """The position of an example. An example that is not in the list is an error."""
    return ORDER.index(Path(name).stem.removeprefix("plot_"))


def enlarge(gallery_conf: dict[str, Any], name: str) -> None:
    """Draw figures that have the width of a column with more points per inch."""
    import matplotlib

    matplotlib.rcParams["savefig.dpi"] = 150
