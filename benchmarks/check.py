"""A check for changes that make the package slower: the ratios by CPU of a new run beside the recorded ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Topics whose rows are checked. Files of 10⁸ rows and series are not checked.
TOPICS = ("roc", "bands", "classes", "imports")
SHARE = 0.7


@dataclass(frozen=True)
class Fall:
    """A row that has become slower relative to its peer."""

    key: str
    job: str
    kept: float
    found: float | None

    def __str__(self) -> str:
        """Describe the row with both speeds."""
        found = "not measured" if self.found is None else f"{self.found:.3g} times as fast as the peer"
        return f"{self.key} ({self.job}): {found}, was {self.kept:.3g}"


def speed(row: Mapping[str, Any]) -> float | None:
    """How many times as fast as the peer we are, by processor time, also for rows that give the inverse ratio."""
    ratio = row["ratio_of_cpu"]
    if ratio is None:
        return None
    return float(1 / ratio if row["at_most"] else ratio)


def falls(kept: Mapping[str, Any], found: Mapping[str, Any]) -> list[Fall]:
    """List the rows that fell below 70 % of the recorded speed or are gone. Rows with absent peers are ignored."""
    new = {row["key"]: row for row in found["rows"]}
    result = []
    for row in kept["rows"]:
        before = speed(row)
        if before is None:
            continue
        after = new.get(row["key"])
        now = None if after is None else speed(after)
        if after is not None and after["absent"]:
            continue
        if now is None or now < SHARE * before:
            result.append(Fall(row["key"], row["job"], before, now))
    return result


def better(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first document, with each row taken from the run in which it was faster."""
    again = {row["key"]: row for row in second["rows"]}
    rows = [max((row, again.get(row["key"], row)), key=lambda one: speed(one) or 0.0) for row in first["rows"]]
    return {**first, "rows": rows}


def verdict(fallen: Sequence[Fall]) -> str:
    """Describe the result of the check."""
    if not fallen:
        return f"bench-check: no ratio is below {100 * SHARE:.0f} % of the kept one"
    return "\n".join([f"bench-check: {len(fallen)} below {100 * SHARE:.0f} % of the kept ratio", *map(str, fallen)])
