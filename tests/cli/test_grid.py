"""Tables fit terminals of any width, and no number in them is broken."""

from __future__ import annotations

import io
import re

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from costcurves.cli._grid import Grid
from laws import law

NUMBER = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: f"{x:.4g}")
SHARE = st.floats(0, 1).map(lambda x: f"{100 * x:.3g} %")
SPAN = st.tuples(NUMBER, NUMBER).map(" to ".join)
CHANCE = st.sampled_from(["< 0.001", "0.079", "1", ""])
NAME = st.text("abc xyz_[]é漢", min_size=1, max_size=40).map(str.strip).filter(bool)
COLUMNS = {"name": NAME, "number": NUMBER, "share": SHARE, "span": SPAN, "chance": CHANCE}
HEADS = st.sampled_from(["", "cost", "score >=", "false\nalarms", "95 % interval", "a - b per case (EUR)"])


@st.composite
def grids(draw) -> tuple[Grid, list[str]]:
    """Return a table and the kinds of its columns."""
    kinds = ["name", *draw(st.lists(st.sampled_from(list(COLUMNS)), min_size=1, max_size=8))]
    grid = Grid([draw(HEADS) for _ in kinds], [i for i, kind in enumerate(kinds) if kind in ("number", "share")])
    for _ in range(draw(st.integers(0, 6))):
        grid.add_row(*(draw(COLUMNS[kind]) for kind in kinds))
    return grid, kinds


def shown(grid: Grid, width: int) -> str:
    """Return what a terminal of this width shows."""
    page = io.StringIO()
    Console(file=page, width=width, markup=False, emoji=False, highlight=False).print(grid)
    return page.getvalue()


@law(200)
@given(grids(), st.integers(36, 140))
def test_no_number_is_broken_at_any_width(made, width):
    grid, kinds = made
    text = shown(grid, width)
    assert all(cell_len(line) <= width for line in text.splitlines())
    left = text
    # The longest first, so that no number is found inside another one.
    atoms = [
        piece
        for row in grid.rows
        for kind, cell in zip(kinds, row, strict=True)
        if kind != "name" and cell
        for piece in (cell.split(" to ") if kind == "span" else [cell])
    ]
    for piece in sorted(atoms, key=len, reverse=True):
        found = re.search(rf"(?<!\S){re.escape(piece)}(?!\S)", left)
        assert found, (piece, text)
        left = left[: found.start()] + "\x00" * len(piece) + left[found.end() :]


@law(40)
@given(grids())
def test_with_room_every_row_is_one_line(made):
    grid, _ = made
    lines = shown(grid, 400).splitlines()
    title = max((head.count("\n") + 1 for head in grid.heads), default=1)
    assert len(lines) == title + 1 + len(grid.rows)
