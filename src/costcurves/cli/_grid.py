"""Tables for a terminal of any width: names may break, numbers never do."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.table import Table

# A text may break at these spaces: not between a number and its sign, as in "90.3 %" and "< 0.001".
_BREAKS = re.compile(r"(?<!<)\s+(?!%)")
# Words longer than this are names, and may break inside.
_LONGEST_WORD = 18
# The indentation of values below the name of their row if columns do not fit side by side.
_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: titles of the columns, rows of texts, and which columns hold numbers.

    If there is room, columns are as wide as their texts. If not, they move closer together and break between words. If
    that is not enough, every row becomes a list of its own. A number never breaks.
    """

    heads: Sequence[str]
    numbers: Collection[int] = ()
    rows: list[tuple[str, ...]] = field(default_factory=list)

    def add_row(self, *cells: str) -> None:
        """Append a row."""
        self.rows.append(cells)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        """Lay the table out for the room that there is."""
        gaps = len(self.heads) - 1
        for gap, least in ((2, 0.5), (1, 0.0)):
            widths = self._widths(options.max_width - gap * gaps, least)
            if widths is not None:
                yield self._side_by_side(widths, gap)
                return
        yield from self._one_below_the_other()

    def _widths(self, room: int, least: float) -> list[int] | None:
        """Return the width of each column, at least this share of what it wants, or None if there is no room."""
        columns = [[head, *(row[i] for row in self.rows)] for i, head in enumerate(self.heads)]
        wanted = [max(cell_len(line) for cell in cells for line in cell.split("\n")) for cells in columns]
        widths = [
            max(_head_width(cells[0]), max((cell_len(cell) for cell in cells[1:]), default=0))
            if i in self.numbers
            else max(min(_LONGEST_WORD, _widest_word(cell)) for cell in cells)
            for i, cells in enumerate(columns)
        ]
        left = room - sum(widths)
        if left < 0:
            return None
        # Columns that need the least room come first, so that as few as possible have to break.
        for i in sorted(range(len(columns)), key=lambda i: wanted[i] - widths[i]):
            more = min(left, wanted[i] - widths[i])
            widths[i] += more
            left -= more
        enough = all(width >= least * wish for width, wish in zip(widths, wanted, strict=True))
        return widths if enough else None

    def _side_by_side(self, widths: Sequence[int], gap: int) -> Table:
        grid = Table(
            box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, gap - 1, 0, 0), header_style="bold"
        )
        for i, (head, width) in enumerate(zip(self.heads, widths, strict=True)):
            grid.add_column(head, justify="right" if i in self.numbers else "left", overflow="fold", width=width)
        for row in self.rows:
            grid.add_row(*row)
        return grid

    def _one_below_the_other(self) -> Iterator[Table]:
        titles = [" ".join(head.split()) for head in self.heads]
        for row in self.rows:
            grid = Table(box=None, pad_edge=False, show_header=False, padding=(0, 1, 0, 0))
            grid.add_column(overflow="fold")
            grid.add_column(overflow="fold")
            grid.add_row(f"{titles[0]} {row[0]}".strip(), style="bold")
            for title, cell in zip(titles[1:], row[1:], strict=True):
                if cell:
                    grid.add_row(_INDENT + title, cell)
            yield grid


def _widest_word(text: str) -> int:
    return max(cell_len(word) for word in _BREAKS.split(text))


def _head_width(head: str) -> int:
    return max(cell_len(word) for word in head.split() or [""])
