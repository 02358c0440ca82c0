"""For tools/mutants.py: note which functions each test reaches, and run chosen tests in a chosen order."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

PACKAGE = "/src/costcurves/"


class Noting:
    """Note the functions of the package that are called while a test file is read, and during each of its tests."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.seen: set[CodeType] = set()
        self.files: dict[str, list[str]] = {}
        self.tests: dict[str, dict[str, Any]] = {}

    def _call(self, frame: FrameType, event: str, arg: object) -> None:
        self.seen.add(frame.f_code)

    def _taken(self) -> list[str]:
        seen, self.seen = self.seen, set()
        return sorted(
            f"{code.co_filename.rsplit(PACKAGE, 1)[1]}:{code.co_qualname}"
            for code in seen
            if PACKAGE in code.co_filename
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[None]:
        self._start()
        report = yield
        sys.settrace(None)
        if isinstance(collector, pytest.Module):
            self.files[collector.nodeid] = self._taken()
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.seen = set()
        self._start()
        begin = time.process_time()
        done = yield
        sys.settrace(None)
        seconds = time.process_time() - begin
        self.tests[item.nodeid] = {"seconds": round(seconds, 4), "functions": self._taken()}
        return done

    def _start(self) -> None:
        threading.settrace(self._call)
        sys.settrace(self._call)

    def pytest_sessionfinish(self) -> None:
        threading.settrace(None)
        for name, test in self.tests.items():
            read = self.files.get(name.split("::", maxsplit=1)[0], [])
            test["functions"] = sorted({*test["functions"], *read})
        self.target.write_text(json.dumps(self.tests), encoding="utf-8")


class Chosen:
    """Run the tests of a list in its order, and no others."""

    def __init__(self, names: list[str]) -> None:
        self.place = {name: i for i, name in enumerate(names)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((i for i in items if i.nodeid in self.place), key=lambda i: self.place[i.nodeid])
