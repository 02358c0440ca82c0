"""Signs of progress: on a terminal, for what takes long, and nowhere else."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

import costcurves as cc
from costcurves._base import progress

WAYS = [
    lambda: progress.track(range(5), "resampling"),
    lambda: progress.track((i for i in range(5)), "resampling", total=5),
    lambda: progress.track((i for i in range(5)), "resampling"),
]
IDS = ["range", "generator", "unknown total"]


class Stream:
    """A standard error that keeps what is written to it, and is a terminal or not."""

    def __init__(self, terminal):
        self.text, self.terminal = "", terminal

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return self.terminal


@pytest.fixture
def clock(monkeypatch):
    """Return a function that lets so many seconds pass between two looks at the clock."""

    def tick(step):
        now = iter(np.arange(0, 10_000) * step)
        monkeypatch.setattr(progress, "time", type("Clock", (), {"monotonic": staticmethod(lambda: next(now))}))

    return tick


@pytest.mark.parametrize("steps", WAYS, ids=IDS)
def test_progress_shows_after_two_seconds_on_a_terminal(monkeypatch, clock, steps):
    terminal = Stream(terminal=True)
    monkeypatch.setattr(sys, "stderr", terminal)
    clock(1.5)
    assert list(steps()) == list(range(5))
    assert "resampling" in terminal.text


def test_progress_shows_in_a_notebook_too(monkeypatch, clock):
    output = type("OutStream", (Stream,), {"__module__": "ipykernel.iostream"})(False)
    monkeypatch.setattr(sys, "stderr", output)
    clock(1.5)
    assert list(progress.track(range(5), "resampling")) == list(range(5))
    assert "resampling" in output.text


@pytest.mark.parametrize("steps", WAYS, ids=IDS)
@pytest.mark.parametrize(("step", "terminal"), [(0.1, True), (1.5, False)], ids=["quick", "no terminal"])
def test_progress_is_silent_when_quick_or_unseen(monkeypatch, clock, steps, step, terminal):
    stream = Stream(terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    clock(step)
    assert list(steps()) == list(range(5))
    assert stream.text == ""


def test_progress_is_silent_when_unwanted(monkeypatch, clock):
    terminal = Stream(terminal=True)
    monkeypatch.setattr(sys, "stderr", terminal)
    clock(1.5)
    assert list(progress.track(range(5), "resampling", show=False)) == list(range(5))
    assert terminal.text == ""


def test_a_bar_on_request_is_drawn_at_once_and_wiped_out(monkeypatch, clock):
    stream = Stream(terminal=False)
    monkeypatch.setattr(sys, "stderr", stream)
    clock(1.5)
    with progress.Progress(4, "reading", show=True) as bar:
        assert stream.text == "\rreading [..............................]   0 %"
        bar.advance(3)
        assert stream.text.endswith("\rreading [######################........]  75 %")
    assert stream.text.endswith(f"\r{' ' * 46}\r")


def test_threads_advance_one_bar():
    with progress.Progress(8000, "counting", show=False) as bar:
        workers = [threading.Thread(target=lambda: [bar.advance() for _ in range(1000)]) for _ in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert bar._done == 8000


def test_an_error_wipes_the_bar_out(monkeypatch, clock):
    terminal = Stream(terminal=True)
    monkeypatch.setattr(sys, "stderr", terminal)
    clock(1.5)
    with pytest.raises(ZeroDivisionError):
        list(progress.track((1 // (3 - step) for step in range(5)), "resampling", total=5))
    assert "resampling" in terminal.text
    assert terminal.text.endswith(" \r")


@pytest.mark.parametrize("steps", WAYS, ids=IDS)
def test_progress_needs_no_standard_error(monkeypatch, clock, steps):
    monkeypatch.setattr(sys, "stderr", None)
    clock(1.5)
    assert list(steps()) == list(range(5))


def test_long_answers_write_nothing_to_a_log(monkeypatch, clock):
    log = Stream(terminal=False)
    monkeypatch.setattr(sys, "stderr", log)
    clock(1.5)
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.4
    a, b = (y + rng.normal(0, 1, 200) for _ in range(2))
    grid = np.linspace(0.1, 0.9, 9)
    cc.CostCurve.from_predictions(y, a).band(method="resample", n_resamples=50, rng=0, pc=grid)
    cc.CostCurve.from_predictions(y, a).band(reoptimise=True, n_resamples=20, rng=0, pc=grid)
    cc.compare(y, a, b, method="resample", n_resamples=50, rng=0, pc=grid, simultaneous=False)
    cc.Report.from_predictions(y, {"a": a, "b": b})
    assert log.text == ""
