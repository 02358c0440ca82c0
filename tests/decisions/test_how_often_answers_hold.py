"""A small form of the study of honesty: true costs lie within the limits about as often as they promise."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
from scipy import stats

from laws import random_worlds
from studies import honesty as study
from studies import limits as limits_study

SETS = 40


@pytest.mark.law
def test_true_costs_of_choices_lie_within_their_limits_and_no_verdict_is_false():
    cells = list(study.cells())
    for rng in random_worlds(2, stream=1810):
        cell = cells[int(rng.integers(len(cells)))]
        found = study.measure(cell, range(SETS), int(rng.integers(2**31)))
        # With the promised shares, more than this happens in one of 10^6 runs.
        assert found["above"] <= stats.binom.isf(1e-6, SETS, 0.025), cell
        assert found["above"] + found["below"] <= stats.binom.isf(1e-6, SETS, 0.05), cell
        assert found["false_sure"] <= stats.binom.isf(1e-6, SETS, 0.05), cell
        assert found["false_worse"] <= stats.binom.isf(1e-6, SETS, 0.05), cell


def test_the_truth_of_a_cell_is_what_many_new_cases_cost():
    for cell in (study.Cell(100, 1, 0.3, 0.4), study.Cell(100, 2, 0.3, 0.6, tails="t", spread=2.0)):
        large = study.Cell(**{**asdict(cell), "n": 400_000})
        y, scores = large.draw(np.random.default_rng(0))
        for cut in (-0.5, 0.3, 1.2):
            alarms = scores["0"] >= cut
            cost = cell.pc * (~alarms[y]).mean() + (1 - cell.pc) * alarms[~y].mean()
            assert cell.true_cost("0", cut) == pytest.approx(cost, abs=0.005)
            assert cell.least_costs()["0"] <= cell.true_cost("0", cut)


def test_the_recorded_page_is_that_of_the_recorded_numbers():
    assert study.PAGE.read_text(encoding="utf-8") == study.page(json.loads(study.RECORD.read_text()))


@pytest.mark.law
def test_default_limits_of_curves_and_comparisons_hold_about_as_often_as_they_promise():
    for rng in random_worlds(1, stream=1811):
        cell = limits_study.WORLDS[int(rng.integers(len(limits_study.WORLDS)))]
        start = int(rng.integers(2**31))
        found = limits_study.measure(cell, range(start, start + 20))
        assert found["above"] <= stats.binom.isf(1e-6, 20, 0.025), cell
        for names in (("above", "below"), ("joint_above", "joint_below"), ("apart",), ("joint_apart",)):
            # Joint limits of a difference are missed in up to 8 % of data sets where one score is coarser.
            assert sum(found[name] for name in names) <= stats.binom.isf(1e-6, 20, 0.08), (cell, names)
        assert found["false"] <= stats.binom.isf(1e-6, 20, 0.05), cell
        assert found["joint_false"] <= stats.binom.isf(1e-6, 20, 0.05), cell


def test_the_page_of_default_limits_shows_what_is_recorded():
    found = json.loads(limits_study.RECORD.read_text())
    assert limits_study.PAGE.read_text(encoding="utf-8") == limits_study.page(found)
