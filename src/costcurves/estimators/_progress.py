"""A progress bar for what takes more than two seconds, on a terminal, where rich is installed; otherwise nothing."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")
PATIENCE = 2.0


def watched(steps: Iterable[T], total: int, what: str, *, show: bool) -> Iterator[T]:
    """Yield the steps; when they have taken two seconds and are not done, show how many are."""
    started, bar, task = time.monotonic(), None, None
    try:
        for done, step in enumerate(steps, start=1):
            if bar is None and show and done < total and time.monotonic() - started > PATIENCE:
                show = can_be_shown()
                bar = _open_bar() if show else None
                task = None if bar is None else bar.add_task(what, total=total)
            if bar is not None:
                bar.update(task, completed=done)
            yield step
    finally:
        if bar is not None:
            bar.stop()


def can_be_shown() -> bool:
    """Return whether somebody looks at a terminal and rich is there to draw on it."""
    return sys.stderr is not None and sys.stderr.isatty() and importlib.util.find_spec("rich") is not None


def _open_bar() -> Any:
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    bar.start()
    return bar
