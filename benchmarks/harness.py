"""Ratios within one run, in which our job and its peers take turns, so that a noisy machine affects all alike."""

from __future__ import annotations

import resource
import statistics
import subprocess
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Call = Callable[[], object]

# A turn is one call, or several calls if they take less than this many seconds.
SHORT_TURN = 0.1
MOST_CALLS = 10


@dataclass(frozen=True)
class Timing:
    """Elapsed seconds, and processor seconds of all threads and child processes."""

    wall: float
    cpu: float


def clocked(call: Call) -> Timing:
    """Measure how long a call takes."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu, wall = time.process_time(), time.perf_counter()
    call()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Timing(wall, cpu + after.ru_utime - children.ru_utime + after.ru_stime - children.ru_stime)


@dataclass(frozen=True)
class Side:
    """One way to do a job.

    `does` describes what is computed, so that nobody compares different things unknowingly. A call that returns a
    `Timing` has measured itself in another process. `factor` is for work that would take too long: only a part is
    measured, and its time is multiplied by the factor; `part` describes that part. `turns` is the largest number of
    counted turns, and 1 also omits the first, uncounted turn. If there is nothing to call, `missing` says why, and so
    do the rows with this side.
    """

    name: str
    does: str
    call: Call | None
    factor: float = 1.0
    part: str = ""
    turns: int | None = None
    missing: str = ""

    def turn(self) -> list[Timing]:
        """Measure one turn. A quick job is done several times, so that it too finds a warm cache."""
        times = [self.time()]
        while len(times) < MOST_CALLS and sum(timing.wall for timing in times) < SHORT_TURN:
            times.append(self.time())
        return times

    def time(self) -> Timing:
        """Measure one call, scaled to the whole work."""
        assert self.call is not None
        answer: list[object] = []
        timing = clocked(lambda: answer.append(self.call()))  # type: ignore[misc]
        if isinstance(answer[0], Timing):
            timing = answer[0]
        return Timing(timing.wall * self.factor, timing.cpu * self.factor)


@dataclass(frozen=True)
class Row:
    """A line of the table, which compares one of our sides with a peer and gives the ratio to reach.

    The ratio is the peer's time divided by ours and should be at least `floor`. With `at_most`, it is our time divided
    by the peer's and should be at most `floor`. Without a floor, the ratio is only reported.
    """

    key: str
    job: str
    ours: str
    peer: str
    floor: float | None = None
    at_most: bool = False


@dataclass(frozen=True)
class Memory:
    """The peak memory that a side may take, in multiples of the input. None means that it is only reported."""

    side: str
    rows: int
    input_bytes: int
    limit: float | None = None
    limit_bytes: int | None = None


@dataclass(frozen=True)
class Growth:
    """The same sides at other sizes."""

    sizes: Sequence[int]
    sides: Callable[[int], Mapping[str, Call]]


@dataclass(frozen=True)
class Race:
    """Sides that take turns on the same data, and the rows that compare them."""

    sides: Sequence[Side]
    rows: Sequence[Row]
    memory: Sequence[Memory] = ()
    growth: Growth | None = None
    repeats: int | None = None

    def side(self, name: str) -> Side:
        """Return a side by its name."""
        return next(side for side in self.sides if side.name == name)


@dataclass
class Outcome:
    """The results of the races of one topic, as plain values."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    memory: list[dict[str, Any]] = field(default_factory=list)
    growth: list[dict[str, Any]] = field(default_factory=list)
    series: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, race: Race, repeats: int) -> None:
        """Run a race and keep its results."""
        times = interleaved(race.sides, race.repeats or repeats)
        self.rows += [compared(race, row, times) for row in race.rows]
        self.memory += [peak_of(race, memory) for memory in race.memory if race.side(memory.side).call]
        if race.growth is not None:
            self.growth.append(grown(race, race.growth))


def interleaved(sides: Sequence[Side], repeats: int) -> dict[str, list[Timing]]:
    """Measure sides that take turns. The first turn of each is not counted."""
    times: dict[str, list[Timing]] = {side.name: [] for side in sides}
    for turn in range(repeats + 1):
        for side in sides:
            if side.call is None or turn > (side.turns or repeats) or (turn > 0 and side.turns == 1):
                continue
            found = side.turn()
            if turn or side.turns == 1:
                times[side.name] += found
    return times


def compared(race: Race, row: Row, times: Mapping[str, Sequence[Timing]]) -> dict[str, Any]:
    """Return the times and ratios of one row, or the reason why it has none."""
    sides = {"ours": race.side(row.ours), "peer": race.side(row.peer)}
    result: dict[str, Any] = {"key": row.key, "job": row.job, "floor": row.floor, "at_most": row.at_most}
    for role, side in sides.items():
        result[role] = {"name": side.name, "does": side.does, "part": side.part, **summary(times[side.name])}
    missing = "; ".join(side.missing for side in sides.values() if side.call is None)
    if missing:
        return result | {"absent": missing, "ratio": None, "ratio_of_cpu": None, "met": None}
    for name, statistic in (("ratio", "min_s"), ("ratio_of_medians", "median_s"), ("ratio_of_cpu", "cpu_s")):
        ours, peer = (max(result[role][statistic], 1e-9) for role in ("ours", "peer"))
        result[name] = ours / peer if row.at_most else peer / ours
    return result | {"absent": None, "met": reached(result)}


def summary(times: Sequence[Timing]) -> dict[str, float | int]:
    """The minimum and median elapsed time, the least processor time, and the number of counted calls."""
    if not times:
        return {}
    wall = [timing.wall for timing in times]
    return {
        "min_s": min(wall),
        "median_s": statistics.median(wall),
        "cpu_s": min(timing.cpu for timing in times),
        "calls": len(times),
    }


def reached(row: Mapping[str, Any]) -> bool | None:
    """Whether the ratios of the shortest times and by CPU (if known) both reach the floor, or None if there is none."""
    if row["floor"] is None:
        return None
    ratios = [row[name] for name in ("ratio", "ratio_of_cpu") if row[name] is not None]
    return all(ratio <= row["floor"] if row["at_most"] else ratio >= row["floor"] for ratio in ratios)


def traced_peak(call: Call) -> int:
    """Measure the largest number of bytes that a call has allocated at one time, including results and NumPy arrays."""
    tracemalloc.start()
    try:
        kept = call()  # kept until the peak is read, so that results count
        peak = tracemalloc.get_traced_memory()[1]
        del kept
    finally:
        tracemalloc.stop()
    return peak


def peak_of(race: Race, memory: Memory) -> dict[str, Any]:
    """Measure the peak of one side, per row and in multiples of its input."""
    call = race.side(memory.side).call
    assert call is not None
    peak = traced_peak(call)
    multiple = peak / memory.input_bytes
    limits = [part <= most for part, most in ((multiple, memory.limit), (peak, memory.limit_bytes)) if most is not None]
    return {
        "job": race.rows[0].job,
        "side": memory.side,
        "bytes_per_row": peak / memory.rows,
        "multiple_of_input": multiple,
        "peak_bytes": peak,
        "limit": memory.limit,
        "limit_bytes": memory.limit_bytes,
        "met": all(limits) if limits else None,
    }


def grown(race: Race, growth: Growth) -> dict[str, Any]:
    """Measure times at several sizes, as the best of three turns, or one turn if it takes longer than a second."""
    seconds: dict[str, list[float]] = {}
    for size in growth.sizes:
        for name, call in growth.sides(size).items():
            seconds.setdefault(name, []).append(best_of_three(call))
    return {"job": race.rows[0].job, "sizes": list(growth.sizes), "seconds": seconds}


def best_of_three(call: Call) -> float:
    """Measure the least time of three turns, or of one turn if it takes longer than a second."""
    best = float("inf")
    for _ in range(3):
        best = min(best, clocked(call).wall)
        if best > 1:
            break
    return best


def in_process(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Call:
    """Make a call that runs a command in its own process, by default with the variables of this one."""
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
