"""Progress bars for work that takes more than two seconds, only on a terminal, so that logs do not contain them."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")
PATIENCE = 2.0


def on_terminal() -> bool:
    """Whether standard error is a terminal."""
    try:
        return sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # it has been closed
        return False


def track(steps: range, what: str) -> Iterator[int]:
    """Yield the steps and, after two seconds, show progress on the terminal.

    Examples
    --------
    >>> from costcurves._base.progress import track
    >>> list(track(range(3), "resampling"))
    [0, 1, 2]
    """
    started, shown_any = time.monotonic(), False
    total = len(steps)
    for done, step in enumerate(steps):
        if done and time.monotonic() - started > PATIENCE and on_terminal():
            shown_any = True
            filled = 30 * done // total
            sys.stderr.write(f"\r{what} [{'#' * filled}{'.' * (30 - filled)}] {100 * done // total:3d} %")
            sys.stderr.flush()
        yield step
    if shown_any:
        sys.stderr.write(f"\r{what} [{'#' * 30}] 100 %\n")


def watched(steps: Iterable[T], total: int, what: str, *, show: bool) -> Iterator[T]:
    """Yield the steps. After two seconds, show how many are done if rich is installed."""
    started, bar, task = time.monotonic(), None, None
    try:
        for done, step in enumerate(steps, start=1):
            if bar is None and show and done < total and time.monotonic() - started > PATIENCE:
                show = on_terminal() and importlib.util.find_spec("rich") is not None
                bar = _open_bar() if show else None
                task = None if bar is None else bar.add_task(what, total=total)
            if bar is not None:
                bar.update(task, completed=done)
            yield step
    finally:
        if bar is not None:
            bar.stop()


def _open_bar() -> Any:
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    bar.start()
    return bar
