"""A real browser for the pages that costcurves writes: headless Chromium with an empty profile and nothing to reach."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
]


def _give_up(reason: str) -> NoReturn:
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"CI must run the tests in a browser, but {reason}")
    pytest.skip(f"no test in a browser: {reason}")


def _executable() -> str:
    found = [path for path in map(shutil.which, NAMES) if path]
    if not found:
        _give_up(f"none of {', '.join(NAMES)} is on the PATH")
    return found[0]


@contextmanager
def browser() -> Iterator[Any]:
    """Start a browser for some tests and end it after them."""
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        _give_up("playwright is not installed")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=_executable(), args=ARGUMENTS)
        try:
            yield running
        finally:
            running.close()


@dataclass
class Tab:
    """A page that was opened from a file, and everything it complained about or asked for."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def go(self, path: Path) -> None:
        """Open a file and wait until its pictures are drawn."""
        self.page.goto(path.as_uri())
        self.ready()

    def ready(self) -> None:
        """Wait until the pictures are drawn."""
        self.page.wait_for_selector("html[data-ready=yes]", state="attached", timeout=600_000)

    def until(self, condition: str, timeout: float = 300.0) -> None:
        """Wait until an expression is true. Playwright's own way runs text as code, which the page's policy forbids."""
        end = time.monotonic() + timeout
        while not self.page.evaluate(condition):
            assert time.monotonic() < end, condition
            self.page.wait_for_timeout(25)

    def enter(self, selector: str, value: object) -> None:
        """Give an input a value, as its user would."""
        script = "(e, v) => { e.value = v; e.dispatchEvent(new Event('input', {bubbles: true})); }"
        self.page.eval_on_selector(selector, script, str(value))
        self.settle()

    def settle(self) -> None:
        """Wait until the pictures have followed."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30)))")

    def point(self, box: dict[str, float], x: float, y: float) -> None:
        """Move the mouse to a place in a box, and wait for the two frames in which the tooltip follows."""
        self.page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def open_tab(running: Any, **options: Any) -> Tab:
    """Return a new tab whose every request is recorded, and refused unless it is for a file."""
    page = running.new_page(**{"viewport": {"width": 1280, "height": 900}, **options})
    tab = Tab(page)

    def decide(route: Any) -> None:
        tab.requests.append(route.request.url)
        if route.request.url.startswith("file:"):
            route.continue_()
        else:
            route.abort()

    page.route("**/*", decide)
    page.on("console", lambda message: tab.complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: tab.complaints.append(str(error)))
    return tab
