"""The command line as a function: arguments in; exit code, stdout and stderr out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

import costcurves as cc
from costcurves.cli import main


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out)


Run = Callable[..., Done]


@pytest.fixture
def run(capsys, monkeypatch, tmp_path) -> Run:
    """Run the command line in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)

    def call(*arguments: object) -> Done:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return call


class StandIn:
    """What the command needs of a report: it remembers what it was made from."""

    made: ClassVar[list[dict[str, Any]]] = []

    @classmethod
    def from_predictions(cls, y_true: Any, scores: Any = None, **options: Any) -> StandIn:
        cls.made.append({"y_true": y_true, "scores": scores, **options})
        return cls()

    @classmethod
    def from_class_predictions(cls, y_true: Any, predictions: Any, costs: Any, **options: Any) -> StandIn:
        cls.made.append({"y_true": y_true, "predictions": predictions, "costs": costs, **options})
        return cls()

    def html(self) -> str:
        return "<!doctype html><title>page</title>"

    def write_html(self, path: Path, *, force: bool) -> None:
        Path(path).write_text(f"<!doctype html><title>{force}</title>", encoding="utf-8")


@pytest.fixture
def reports(monkeypatch) -> list[dict[str, Any]]:
    """Put a stand-in in the place of the report, which takes time, and return what it was asked for."""
    kind = type("Report", (StandIn,), {"made": []})
    monkeypatch.setattr(cc, "Report", kind, raising=False)
    return kind.made


@pytest.fixture
def table(tmp_path) -> Callable[[str, str], Path]:
    """Write a file of some text."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write
