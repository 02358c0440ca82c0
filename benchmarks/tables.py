"""Results as text: the table at the end of a run, and the words that it shares with the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

HEADER = ("job", "ours", "peer", "ours [s]", "median", "peer [s]", "median", "ratio", "by CPU", "floor", "")


def text(document: Mapping[str, Any]) -> str:
    """Format rows, memory, growth and series of a topic as aligned text."""
    parts = []
    if document["rows"]:
        parts.append(aligned([HEADER, *map(cells, document["rows"])]))
    if document["memory"]:
        head = ("peak memory", "of", "bytes per row", "of the input", "limit", "")
        parts.append(aligned([head, *map(memory_cells, document["memory"])]))
    for one in document["growth"]:
        parts += [aligned(growth_cells(one["job"], "n", one["sizes"], one["seconds"]))]
    for one in document["series"]:
        parts += [aligned(growth_cells(one["title"], one["axis"], one["values"], one["seconds"]))]
    return "\n\n".join(parts)


def cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    """One row of the table of ratios."""
    ours, peer = row["ours"], row["peer"]
    names = (row["job"], ours["name"], peer["name"])
    if row["absent"]:
        return (*names, "", "", "", "", "", "", bound(row), f"absent: {row['absent']}")
    by_cpu = "" if row["ratio_of_cpu"] is None else times(row["ratio_of_cpu"])
    note = f" (from {peer['part']})" if peer["part"] else ""
    return (
        *names,
        *(seconds(side[which]) for side in (ours, peer) for which in ("min_s", "median_s")),
        times(row["ratio"]),
        by_cpu,
        bound(row),
        judged(row["met"]) + note,
    )


def memory_cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    """One row of the table of peaks."""
    multiple = row["multiple_of_input"]
    limit = "" if row["limit"] is None else f"<= {row['limit']:g} times the input"
    if row["limit_bytes"] is not None:
        limit = f"<= {row['limit_bytes'] / 2**20:.0f} MiB (took {row['peak_bytes'] / 2**20:.0f})"
    return (
        row["job"],
        row["side"],
        f"{row['bytes_per_row']:.3g}",
        "" if multiple is None else times(multiple),
        limit,
        judged(row["met"]),
    )


def growth_cells(
    job: str, axis: str, sizes: Sequence[int], times_of: Mapping[str, Sequence[float]]
) -> list[tuple[str, ...]]:
    """Times at several sizes, with one line per side."""
    head = (f"{job}: seconds at", *(f"{axis} = {size:,}" for size in sizes))
    return [head, *((name, *map(seconds, values)) for name, values in times_of.items())]


def bound(row: Mapping[str, Any]) -> str:
    """Describe the floor in words."""
    return "" if row["floor"] is None else f"{'<=' if row['at_most'] else '>='} {row['floor']:,g} x"


def judged(met: bool | None) -> str:
    """Say in one word whether a floor is reached."""
    return {True: "reached", False: "MISSED", None: ""}[met]


def times(ratio: float) -> str:
    """Format a ratio with three digits."""
    return f"{ratio:,.0f} x" if ratio >= 100 else f"{ratio:.3g} x"


def seconds(value: float) -> str:
    """Format seconds with three digits, in a suitable unit."""
    if value >= 100:
        return f"{value:,.0f} s"
    if value >= 1:
        return f"{value:.3g} s"
    return f"{value * 1e3:.3g} ms" if value >= 1e-3 else f"{value * 1e6:.3g} µs"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Align cells in columns."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows)
