"""Progress of long work: one bar on the terminal or in a notebook, for everything that takes more than two seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sized
from contextlib import AbstractContextManager
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 2.0  # seconds
REFRESH = 0.1
WIDTH = 30


def on_terminal() -> bool:
    """Return whether standard error is a terminal or the output of a notebook, where somebody may be looking."""
    try:
        in_notebook = type(sys.stderr).__module__.split(".")[0] == "ipykernel"
        return sys.stderr is not None and (in_notebook or sys.stderr.isatty())
    except ValueError:  # it has been closed
        return False


class Progress(AbstractContextManager["Progress"]):
    """A bar on standard error that says how much of some work is done; several threads may advance it.

    Parameters
    ----------
    total : int or None
        The number of steps; None if it is not known.
    what : str
        What is under way.
    show : bool, optional
        By default the bar is drawn on a terminal or in a notebook only, so that no log has it, once the work has taken
        two seconds. With True it is drawn at once, wherever standard error leads, and with False never.
    """

    def __init__(self, total: int | None, what: str, *, show: bool | None = None) -> None:
        self._total, self._what, self._show = total, what, show
        self._done, self._drawn = 0, 0
        self._lock = threading.Lock()
        self._next = time.monotonic() + (PATIENCE if show is None else 0.0)

    def __enter__(self) -> Progress:
        """Draw the bar if it is to be seen at once."""
        if self._show:
            self._draw()
        return self

    def __exit__(self, *_: object) -> None:
        """Wipe the bar out."""
        if self._drawn:
            sys.stderr.write(f"\r{' ' * self._drawn}\r")
            sys.stderr.flush()

    def advance(self, steps: int = 1) -> None:
        """Say that some more steps are done."""
        with self._lock:
            self._done += steps
            now = time.monotonic()
            if self._show is False or self._done == self._total or now < self._next:
                return
            self._next = now + REFRESH
            if self._show or on_terminal():
                self._draw()

    def _draw(self) -> None:
        if self._total:
            filled = WIDTH * self._done // self._total
            text = f"{self._what} [{'#' * filled:.<{WIDTH}}] {100 * self._done // self._total:3d} %"
        else:
            text = f"{self._what} …" + (f" {self._done:,}" if self._done else "")
        sys.stderr.write(f"\r{text:<{self._drawn}}")
        sys.stderr.flush()
        self._drawn = len(text)


def track(steps: Iterable[T], what: str, *, total: int | None = None, show: bool | None = None) -> Iterator[T]:
    """Yield the steps, and show how many are done; `total` is needed if they have no length.

    Examples
    --------
    >>> from costcurves._base.progress import track
    >>> list(track(range(3), "resampling"))
    [0, 1, 2]
    """
    size = len(steps) if total is None and isinstance(steps, Sized) else total
    with Progress(size, what, show=show) as progress:
        for step in steps:
            yield step
            progress.advance()
