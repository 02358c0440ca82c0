"""Pieces of pages: tables of rows, formatted numbers, and figures in the common style."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from replications.study import Outcome, Row

Outcomes = dict[str, Outcome]
Draw = Callable[[Outcomes], Any]


@dataclass(frozen=True, slots=True)
class Page:
    """The page of one paper, with its file, its text and its figures.

    Attributes
    ----------
    name, title : str
        The file without its ending, and the heading.
    studies : tuple of str
        The studies whose outcomes it needs.
    text : outcomes -> str
        The Markdown below the heading.
    figures : mapping of file name to function of the outcomes
        Each draws and returns one matplotlib figure.
    """

    name: str
    title: str
    studies: tuple[str, ...]
    text: Callable[[Outcomes], str]
    figures: dict[str, Draw] = field(default_factory=dict)


def number(value: float | str | None, digits: int = 4) -> str:
    """Format a number with few digits. A text is returned unchanged, and None becomes an empty string."""
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{value:.{digits}g}"


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Make a Markdown table. Vertical bars in cells are escaped."""
    cells = [" | ".join(cell.replace("|", "\\|") for cell in line) for line in lines]
    return "\n".join([f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {line} |" for line in cells)])


def rows_table(rows: Iterable[Row]) -> str:
    """Make a table with the paper's value, ours, the difference, our Monte-Carlo error and the verdict."""
    lines = []
    for row in rows:
        difference = "" if row.difference is None else f"{row.difference:+.3g}"
        error = f"{row.error:.2g}" if row.error else ""
        verdict = row.verdict + (f": {row.why}" if row.why else "")
        lines.append((row.item, row.what, number(row.paper), number(row.ours), difference, error, verdict))
    return table(("item", "what", "paper", "ours", "difference", "std. error", "verdict"), lines)


def settings_text(outcome: Outcome) -> str:
    """Describe how a study was run in one line."""
    plain = {k: v for k, v in outcome.settings.items() if isinstance(v, (int, float, str))}
    words = ", ".join(f"{k} {v:,}" if isinstance(v, int) else f"{k} {v}" for k, v in plain.items())
    head = f"`python -m replications run {outcome.study}`, {outcome.size} size, seed {outcome.seed}"
    return f"{head}: {words}." if words else f"{head}."


def image(file: str, text: str) -> str:
    """Include a figure in the page."""
    return f"![{text}](images/{file})"
