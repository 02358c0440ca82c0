"""Warnings on the command line: one plain line on stderr, whatever the answer needs the data for."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

COMMANDS = {
    "decide": ("decide", "scores.csv", "--pc", "0.5"),
    "decide, JSON": ("decide", "scores.csv", "--pc", "0.5", "--json"),
    "decide, range": ("decide", "scores.csv", "--pc", "0.4..0.6"),
    "ranges": ("ranges", "scores.csv"),
    "compare": ("compare", "scores.csv"),
    "curve": ("curve", "scores.csv", "--score", "flipped"),
    "hull add": ("hull", "add", "hull.json", "scores.csv"),
}


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    good = y + rng.normal(0, 0.5, 300)
    pd.DataFrame({"label": y.astype(int), "fine": good, "flipped": -good}).to_csv(tmp_path / "scores.csv", index=False)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
def test_a_classifier_worse_than_chance_is_told_of_once(run, scores, command):
    done = run(*command)
    assert done.code == 0, done.err
    lines = [line for line in done.err.splitlines() if "worse than chance" in line]
    assert len(lines) == 1
    assert lines[0].startswith("Warning: 'flipped' is worse than chance: its AUC is 0.0")
    assert "worse than chance" not in done.out
    assert ".py:" not in done.err
    if "--json" in command:
        json.loads(done.out)
