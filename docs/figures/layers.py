"""The picture of the layers, which is drawn from the imports in the code, so that it cannot be out of date."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

import costcurves

PACKAGE = Path(costcurves.__file__).parent
# Nearly everything imports these; lines to them would hide all others.
GROUND = ("_base", "_version")


def room(name: str) -> str:
    """Return the module or package directly below costcurves that a dotted name lies in, or nothing."""
    parts = name.split(".")
    if parts[0] != "costcurves" or len(parts) == 1:
        return ""
    return costcurves._HOME.get(parts[1], f"costcurves.{parts[1]}").split(".")[1]


def imports_of(path: Path) -> set[str]:
    """Return the rooms that a source file imports from, and those of the names it takes as ``cc.Name``."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names: set[str] = set()
    whole: set[str | None] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
            whole |= {
                alias.asname for alias in node.names if alias.name == "costcurves"
            }
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in whole
        ):
            names.add(f"costcurves.{node.attr}")
    return {room(name) for name in names}


def graph() -> dict[str, set[str]]:
    """Return each room with the rooms it imports, leaving out the package itself."""
    files = {
        path: room(
            f"costcurves.{path.relative_to(PACKAGE).with_suffix('').as_posix().replace('/', '.')}"
        )
        for path in sorted(PACKAGE.rglob("*.py"))
    }
    rooms = sorted(set(files.values()) - {"__init__", "__main__"})
    uses: dict[str, set[str]] = {name: set() for name in rooms}
    for path, name in files.items():
        if name in uses:
            uses[name] |= (imports_of(path) & set(rooms)) - {name}
    return uses


def heights(uses: dict[str, set[str]]) -> dict[str, int]:
    """The height of each package above the ground, which is one more than the highest package that it imports."""
    known = dict.fromkeys(GROUND, 0)
    waiting = set(uses) - set(known)
    while waiting:
        ready = {name for name in waiting if uses[name] <= set(known)}
        if not ready:
            raise ValueError(f"imports go in a circle among {sorted(waiting)}")
        known |= {
            name: 1 + max((known[other] for other in uses[name]), default=0)
            for name in ready
        }
        waiting -= ready
    return known


def direct(uses: dict[str, set[str]]) -> list[tuple[str, str]]:
    """The imports that do not follow from others, without those of the ground."""
    below = {
        name: {other for other in others if other not in GROUND}
        for name, others in uses.items()
    }

    def reached(name: str) -> set[str]:
        return below[name].union(*(reached(other) for other in below[name]))

    return [
        (name, other)
        for name in below
        for other in sorted(below[name])
        if name not in GROUND
        and not any(other in reached(third) for third in below[name] - {other})
    ]


def places(
    level: dict[str, int], lines: list[tuple[str, str]]
) -> dict[str, tuple[float, float]]:
    """Place the packages in rows by height, each row ordered so that lines stay short."""
    rows: dict[int, list[str]] = {}
    for name in sorted(level):
        if name not in GROUND:
            rows.setdefault(level[name], []).append(name)
    spot: dict[str, float] = {}
    for height in sorted(rows):
        wish = {
            name: [spot[other] for one, other in lines if one == name and other in spot]
            for name in rows[height]
        }
        ordered = sorted(
            rows[height],
            key=lambda name: (
                sum(wish[name]) / len(wish[name]) if wish[name] else 0.5,
                name,
            ),
        )
        for index, name in enumerate(ordered):
            spot[name] = (index + 0.5) / len(ordered)
    return {name: (spot[name], float(level[name])) for name in spot}


def layers(theme: Any) -> Any:
    """Draw the rooms from the ground up and the imports between them."""
    uses = graph()
    level = heights(uses)
    lines = direct(uses)
    where = places(level, lines)
    top = max(level.values())
    figure, ax = plt.subplots(figsize=(9.2, 0.62 * top + 1.2))
    half = 0.062
    for upper, lower in lines:
        (x1, y1), (x0, y0) = where[upper], where[lower]
        ax.annotate(
            "",
            (x0, y0 + 0.26),
            (x1, y1 - 0.26),
            arrowprops={
                "arrowstyle": "-|>",
                "color": theme.grey,
                "lw": 0.7,
                "mutation_scale": 7,
            },
        )
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    for name, (x, y) in where.items():
        colour = theme.blue if name in packages else theme.grey
        ax.add_patch(
            FancyBboxPatch(
                (x - half, y - 0.2),
                2 * half,
                0.4,
                boxstyle="round,pad=0.004",
                fc=theme.pale,
                ec=colour,
                lw=1.4 if name in packages else 0.8,
                zorder=3,
            )
        )
        ax.text(
            x,
            y,
            name,
            ha="center",
            va="center",
            fontsize=7.4,
            zorder=4,
            weight="bold" if name in packages else "normal",
        )
    ax.add_patch(
        FancyBboxPatch(
            (0.0, -0.2),
            1.0,
            0.4,
            boxstyle="round,pad=0.004",
            fc=theme.pale,
            ec=theme.grey,
            lw=0.8,
        )
    )
    ax.text(
        0.5,
        0,
        "used by all:  " + "   ".join(name for name in GROUND if name in uses),
        ha="center",
        va="center",
        fontsize=7.4,
    )
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.4, top + 0.4))
    ax.axis("off")
    return figure


PICTURES = (layers,)
