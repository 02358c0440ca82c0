"""Ratios in one run: our job and its peer take turns, so that a noisy machine disturbs both alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Job:
    """One comparison: what is done, by us and by a peer, and the ratio to reach."""

    name: str
    ours: Callable[[], object]
    peer_name: str
    peer: Callable[[], object]
    floor: float
    at_most: bool = False  # the floor is an upper bound on our time over the peer's


@dataclass(frozen=True)
class Outcome:
    """Times in seconds and the ratio of the fastest ones."""

    name: str
    peer_name: str
    ours_min: float
    ours_median: float
    peer_min: float
    peer_median: float
    ratio: float
    floor: float
    at_most: bool

    @property
    def reached(self) -> bool:
        """Whether the floor is reached."""
        return self.ratio <= self.floor if self.at_most else self.ratio >= self.floor


def measure(job: Job, repeats: int) -> Outcome:
    """Return the outcome of interleaved repeats; the first turn of each is not counted."""
    ours: list[float] = []
    peer: list[float] = []
    for turn in range(repeats + 1):
        for call, times in ((job.ours, ours), (job.peer, peer)):
            start = time.perf_counter()
            call()
            if turn:
                times.append(time.perf_counter() - start)
    ratio = min(ours) / min(peer) if job.at_most else min(peer) / min(ours)
    return Outcome(
        job.name,
        job.peer_name,
        min(ours),
        statistics.median(ours),
        min(peer),
        statistics.median(peer),
        ratio,
        job.floor,
        job.at_most,
    )


def table(outcomes: list[Outcome]) -> str:
    """Return the outcomes as an aligned text table."""
    rows = [("job", "peer", "ours [ms]", "peer [ms]", "ratio", "floor", "")]
    for o in outcomes:
        bound = f"{'<=' if o.at_most else '>='} {o.floor:g} x"
        verdict = "reached" if o.reached else "MISSED"
        rows.append(
            (
                o.name,
                o.peer_name,
                f"{o.ours_min * 1e3:.2f}",
                f"{o.peer_min * 1e3:.2f}",
                f"{o.ratio:.2f} x",
                bound,
                verdict,
            )
        )
    widths = [max(len(row[k]) for row in rows) for k in range(7)]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows)
