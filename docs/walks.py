"""Trace the modules through which some calls pass, in the order of first entry, and write them into a page.

``python docs/walks.py`` writes docs/walks.md, which the architecture page includes.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import costcurves as cc
from costcurves.cli import main

PACKAGE = Path(cc.__file__).parent
PAGE = Path(__file__).parent / "walks.md"


def modules_of(question: Callable[[], object]) -> list[str]:
    """Return the modules of costcurves that run while a question is answered, in the order of first entry."""
    found: dict[str, None] = {}

    def enter(frame, event, argument):
        if event == "call" and frame.f_code.co_name != "<module>":
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(PACKAGE) and path.suffix == ".py":
                name = path.relative_to(PACKAGE).with_suffix("").as_posix()
                found[name.replace("/", ".")] = None

    question()  # the first call does what is imported and compiled only once, which is not traced
    sys.setprofile(enter)
    try:
        question()
    finally:
        sys.setprofile(None)
    return [name for name in found if not name.endswith("__")]


def compare() -> object:
    """Compare two classifiers."""
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.4
    return cc.compare(
        y, y + rng.normal(0, 1, 200), y + rng.normal(0, 2, 200)
    ).significant()


SCORES = cc.example_path("german_credit_scores.csv")


def scan() -> object:
    """Find the hull of two classifiers in a file."""
    return cc.scan(
        SCORES, label="label", scores=["forest", "tree"], pos_label="bad"
    ).hull()


def report() -> object:
    """Make the report of the example on the command line."""
    with tempfile.TemporaryDirectory() as folder:
        page = str(Path(folder) / "report.html")
        common = [
            "--positive",
            "bad",
            "--prevalence",
            "0.3",
            "--cost-fn",
            "5",
            "--cost-fp",
            "1",
        ]
        return main(["report", "example:german_credit", *common, "-o", page])


WALKS = {
    "compare(y, a, b).significant()": compare,
    "scan(...).hull()": scan,
    "costcurves report": report,
}


def text() -> str:
    """Return the walks as Markdown."""
    parts = []
    for title, question in WALKS.items():
        steps = modules_of(question)
        helpers = sum(step.startswith("_base.") for step in steps)
        parts.append(
            f"**`{title}`** passes {len(steps) - helpers} modules, and {helpers} helpers of `_base`, which everything "
            "uses: " + " → ".join(f"`{step}`" for step in steps) + "."
        )
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
