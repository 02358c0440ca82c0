"""The examples on real data, in small form: what they claim holds there too."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    return importlib.import_module


def test_hybrid_is_nowhere_significantly_worse_than_its_best_member(example):
    text = example("hull_classifier").study(
        None, outer=3, inner=3, only=("breast cancer", "wine, 2 or not"), without=("forest", "logit")
    )
    assert "The hybrid is significantly worse than the best member in 0 of 20 rows." in text
    rows = [line for line in text.splitlines() if re.match(r"\| (breast|wine).*\| 0\.\d+ \|", line)]
    assert len(rows) == 2 * 10 + 2
    for line in rows[2:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        hybrid, best, upper = float(cells[2]), float(cells[4]), float(cells[5])
        assert hybrid <= upper
        assert best <= upper


def test_every_threshold_costs_no_more_than_a_grid(example):
    module = example("tuned_threshold")
    X, y = example("real_data").data_sets()["breast cancer"]
    result = module.compare(X, y, module.members()["bayes"])
    ours, grid = result["found"]
    assert (ours <= grid + 1e-12).all()
    assert (ours < grid - 1e-12).any()


def test_committed_reports_are_of_at_least_four_data_sets():
    hybrid = (ROOT / "docs" / "hull_classifier.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| (0\.\d+) \| 0\.", hybrid, flags=re.M)
    assert len({name for name, _ in rows}) >= 4
    assert all(sum(name == other for other, _ in rows) == 10 for name in {name for name, _ in rows})
    grid = (ROOT / "docs" / "tuned_threshold.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^\| .* of 9 \|", grid, flags=re.M)) >= 4
