"""One pass over a source, with threads, progress, missing values, and a check that the data have not changed."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, Generic, TypeVar

from costcurves._base.errors import DataError, InputError
from costcurves._base.progress import Progress
from costcurves._base.validation import shown
from costcurves.data.passes import Counts, CurveCounts
from costcurves.data.readers.columns import Missing, Roles, batch_of
from costcurves.data.readers.duckdb import Relation
from costcurves.data.readers.grouping import group_scores
from costcurves.data.readers.sources import Feed, Source

PARTS = 4  # the number of parts if counts depend on the order of batches
PIECE = 1 << 20  # rows that are counted together, so that the counts of one classifier stay in the cache
MOST_THREADS = 8
GRACE = 1.0  # seconds within which a started thread begins to run

C = TypeVar("C", bound=Counts)
Advance = Callable[[int], None]


@dataclass(slots=True, eq=False)
class SourceReader:
    """A reader, as defined in `passes`, that reads all of a source into counts with several threads."""

    source: Source
    roles: Roles
    drop_missing: bool
    progress: Any
    threads: int
    missing: Missing = field(default_factory=Missing)
    rows: int | None = None  # of the first pass
    passes: int = 0

    def run(self, counts: C) -> C:
        """Read all batches once into parts made by `counts.empty`, and merge them."""
        self.source.check()
        self.passes += 1
        feed = self.source.feed(self.roles.names, self.roles.label)
        with progress_bar(self.progress, self.source.rows(), f"pass {self.passes}") as advance:
            # Bins that adapt to the data depend on the order of batches, which must not depend on the threads.
            turns = _Turns([counts.empty() for _ in range(PARTS)]) if counts.ordered else None
            workers = [_Counting(feed, turns or counts.empty(), self.roles, advance) for _ in range(self.threads)]
            _work(workers)
        self.source.check()
        found = Missing()
        for worker in workers:
            found.add(worker.missing)
        self._agree(found)
        first, *others = (worker.counts for worker in workers) if turns is None else turns.parts
        for other in others:
            first.merge(other)
        return first

    def run_grouped(self, counts: CurveCounts) -> CurveCounts | None:
        """Let DuckDB count the distinct scores of all rows. Return None if that is not possible."""
        relations = self.source.relations(self.threads, self.roles.names)
        if not relations:
            return None
        self.source.check()
        self.passes += 1
        with progress_bar(self.progress, self.source.rows(), f"pass {self.passes}") as advance:
            # DuckDB may lose an interrupt in the main thread, so the main thread waits here instead.
            worker = _Grouping(relations, self.roles, counts)
            _work([worker])
            found = worker.found
            if found is None:
                return None
            advance(found.rows)
        self.source.check()
        self._agree(found)
        return counts

    def _agree(self, found: Missing) -> None:
        agree(found, self.rows, self.drop_missing, "start a new scan")
        found.need_rows("the data")
        if self.rows is None:
            found.warn()
        self.rows, self.missing = found.rows, found


def agree(found: Missing, rows: int | None, drop_missing: bool, hint: str) -> None:
    """Refuse missing values unless they are dropped, and a pass whose number of rows differs from the first."""
    if not drop_missing:
        found.refuse()
    if rows not in (None, found.rows):
        raise DataError(f"the data must stay the same while they are read, got {found.rows} rows after {rows}: {hint}")


class _Worker(threading.Thread, ABC):
    """A thread that does the work, so that the calling thread can be interrupted."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.error: BaseException | None = None
        self.begun = threading.Event()
        self.done = threading.Event()
        self.stopped = threading.Event()

    def run(self) -> None:
        self.begun.set()
        try:
            self.work()
        except BaseException as error:  # passed on to the calling thread
            self.error = error
        finally:
            self.done.set()

    @abstractmethod
    def work(self) -> None:
        """Do all of the work, or as much as possible before `stop`."""

    def stop(self) -> None:
        """End the work early."""
        self.stopped.set()


class _Turns(Generic[C]):
    """Parts of counts. Pieces are added to each part in the order of the data, whichever thread reads them.

    Piece i is added to part i modulo the number of parts, so the counts do not depend on the number of threads.
    """

    def __init__(self, parts: Sequence[C]) -> None:
        self.parts = parts
        self._due = list(range(len(parts)))
        self._change = threading.Condition()

    def begin(self, number: int, stopped: threading.Event) -> C | None:
        """Wait for the turn of a piece and return the part for it, or None if the work has been stopped."""
        place = number % len(self.parts)
        with self._change:
            while self._due[place] != number:
                if stopped.is_set():
                    return None
                self._change.wait(0.05)
        return self.parts[place]

    def end(self, number: int) -> None:
        """Mark a piece as counted."""
        with self._change:
            self._due[number % len(self.parts)] += len(self.parts)
            self._change.notify_all()


class _Counting(_Worker, Generic[C]):
    """A thread that reads and counts pieces until none are left, in its own counts or taking turns with others."""

    def __init__(self, feed: Feed, counts: C | _Turns[C], roles: Roles, advance: Advance) -> None:
        super().__init__()
        self._turns = counts if isinstance(counts, _Turns) else None
        self.counts: Any = None if isinstance(counts, _Turns) else counts
        self.missing = Missing()
        self._feed, self._roles, self._advance = feed, roles, advance

    def work(self) -> None:
        current: int | None = None
        while not self.stopped.is_set() and (table := self._feed.next()) is not None:
            if self._turns is None:
                self._count(table, self.counts)
                continue
            number, more = self._feed.place()
            if current not in (None, number):
                self._turns.end(current)
            counts = self._turns.begin(number, self.stopped)
            if counts is None:
                return
            self._count(table, counts)
            current = number if more else None
            if not more:
                self._turns.end(number)
        if self._turns is not None and current is not None:
            self._turns.end(current)

    def _count(self, table: Any, counts: C) -> None:
        whole = self.missing.whole(table, self._roles.names)
        if whole.num_rows:
            for batch in batch_of(whole, self._roles).parts(PIECE):
                counts.update(batch)
        self._advance(table.num_rows)


class _Grouping(_Worker):
    """A thread in which DuckDB groups all rows."""

    def __init__(self, relations: list[Relation], roles: Roles, counts: CurveCounts) -> None:
        super().__init__()
        self.found: Missing | None = None
        self._relations, self._roles, self._counts = relations, roles, counts

    def work(self) -> None:
        self.found = group_scores(self._relations, self._roles, self._counts)

    def stop(self) -> None:
        super().stop()
        for relation in self._relations:
            relation.stop()


def _work(workers: Sequence[_Worker]) -> None:
    """Run all workers until they have finished. An error in one of them, or an interrupt, stops the others."""
    started: list[_Worker] = []
    try:
        for worker in workers:
            started.append(worker)  # before it starts, because an interrupt may come meanwhile
            worker.start()
        # `join` is not sufficient, because after an interrupt in it Python 3.11 believes that a running thread has
        # ended.
        while not all(worker.done.wait(0.05) for worker in workers):
            if any(worker.error is not None for worker in workers):
                break
    finally:
        for worker in started:
            if not worker.done.is_set():
                worker.stop()
        _wait_for(started)
    for worker in workers:
        if worker.error is not None:
            raise worker.error


def _wait_for(workers: Sequence[_Worker]) -> None:
    """Wait until all workers have ended, which takes a moment. Interrupts are raised again afterwards."""
    interrupt: KeyboardInterrupt | None = None
    left = list(workers)
    while left:
        try:
            if left[0].begun.wait(GRACE):
                left[0].done.wait()
                left[0].join()
            left.pop(0)
        except KeyboardInterrupt as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt


def check_threads(threads: Any) -> int:
    """Return how many threads to use: by default one per processor that the process may use."""
    if threads is None:
        return min(
            MOST_THREADS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        )
    if isinstance(threads, bool) or not isinstance(threads, Integral) or not 1 <= int(threads) <= 64:
        raise InputError(f"`threads` must be a whole number from 1 to 64, got {shown(threads)}")
    return int(threads)


def check_progress(progress: Any) -> Any:
    """Return how to show progress: by a bar or not (None: on a terminal only), or by a function of rows and total."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise InputError(f"`progress` must be True, False, None or a function, got {shown(progress)}")
    return progress


@contextmanager
def progress_bar(progress: Any, total: int | None, what: str) -> Iterator[Advance]:
    """Yield a function to call with the number of rows just read."""
    if callable(progress):
        yield _Teller(progress, total)
        return
    with Progress(total, what, show=progress) as bar:
        yield bar.advance


class _Teller:
    """Calls a user's function with the number of rows read so far and their total, from one thread at a time."""

    def __init__(self, tell: Callable[[int, int | None], object], total: int | None) -> None:
        self._tell, self._total, self._rows = tell, total, 0
        self._lock = threading.Lock()

    def __call__(self, rows: int) -> None:
        with self._lock:
            self._rows += rows
            self._tell(self._rows, self._total)
