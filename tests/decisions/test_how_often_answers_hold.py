"""A small form of the study of honesty: true costs lie within the limits about as often as they promise."""

from __future__ import annotations

import json
import math
from dataclasses import asdict

import numpy as np
import pytest
from scipy import stats

from laws import random_worlds
from studies import honesty as study
from studies import limits as limits_study
from studies import limits_page, worlds

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
@pytest.mark.parametrize("name", list(limits_study.ANSWERS))
def test_default_answers_hold_about_as_often_as_they_promise(name):
    cheap = name in ("compare", "from_curves", "guarantees", "averages")
    rows, sets = [row for row in limits_page.ROWS if row.answer == name], 12 if cheap else 1
    for rng in random_worlds(1, stream=1811):
        world = str(rng.choice(list(limits_study.ANSWERS[name].worlds)))
        start = int(rng.integers(2**31))
        found = limits_study.measure(name, world, range(start, start + sets))
        assert found.pop("sets") == sets
        assert set(found) <= {row.part for row in rows}
        for row in rows:
            # Three times the nominal share: what is known to fail stands on the page.
            known = row.part == "given" or math.isnan(row.nominal)
            share = 0.6 if known else min(3 * row.nominal / 100, 0.3)
            assert found.get(row.part, 0) <= stats.binom.isf(1e-6, sets, share), (row, world)


def test_true_costs_of_the_worlds_are_those_of_many_cases():
    for k, (name, world) in enumerate(worlds.WORLDS.items()):
        y, scores = world.draw(np.random.default_rng(k), 100_000)
        for j, values in scores.items():
            cut = float(np.quantile(values, 0.6))
            seen = world.pc * np.mean(values[y] < cut) + (1 - world.pc) * np.mean(values[~y] >= cut)
            error = np.sqrt(0.25 / y.sum() + 0.25 / (~y).sum())
            assert world.cost(j, cut, world.pc) == pytest.approx(seen, abs=5 * error), name
            assert world.least(j, world.pc) <= world.cost(j, cut, world.pc) + 1e-9


def test_the_page_of_default_answers_shows_what_is_recorded():
    found = json.loads(limits_study.RECORD.read_text(encoding="utf-8"))
    assert limits_page.PAGE.read_text(encoding="utf-8") == limits_page.page(found)


def test_a_share_beyond_chance_is_marked_as_failing():
    row = limits_page.Row("", "", 5, "compare", "joint")
    assert not limits_page.fails(row, limits_page.Share("", 12, 150))
    assert limits_page.fails(row, limits_page.Share("", 15, 150))
    each = limits_page.shares(row, {"compare": {"a": {"sets": 10, "joint": 1}, "b": {"sets": 10, "joint": 4}}})
    assert limits_page.worst(each).world == "b"
