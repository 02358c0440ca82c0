"""What one rule for a range may lose on new cases, beside what it loses on the cases that chose it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import costcurves as cc
from costcurves.inference.candidates import Candidates
from costcurves.inference.regrets import MORE, loss_limit
from laws import random_worlds
from studies import range_losses as study

SPAN = cc.OperatingRange(prevalence=(0.2, 0.4), cost_fp=1, cost_fn=(1, 4))


def scores_of(rng, n, strength=1.0):
    y = np.arange(n) < n // 3
    return y, {name: strength * y + rng.standard_normal(n) for name in ("a", "b")}


def test_a_rule_that_was_not_chosen_here_loses_more_by_chance_alone():
    # Two candidates, one point: the loss of the first is the difference of both costs, which is normal.
    rng = np.random.default_rng(3)
    sizes = (4000, 6000)
    cells = tuple([rng.integers(0, 2, n).astype(np.int32) for _ in range(2)] for n in sizes)
    candidates = Candidates.of_cells(cells, [1, 1], (None, None), (None, None), tuple(map(float, sizes)))
    pc = np.array([0.5])
    wrong = [np.stack(side)[:, :] == which for side, which in zip(cells, (0, 1), strict=True)]
    cost = 0.5 * wrong[0].mean(axis=1) + 0.5 * wrong[1].mean(axis=1)
    worse = int(np.argmax(cost))
    loss = float(cost.max() - cost.min())
    spread = 0.5 * np.sqrt(sum(np.var(w[0].astype(float) - w[1]) / w.shape[1] for w in wrong))
    found = loss_limit(candidates, pc, np.ones(1), loss, 0.95, worse)
    # The loss that is seen is |difference| where the other one is cheaper in the draw, and 0 otherwise.
    draws = loss + spread * np.random.default_rng(4).standard_normal(200_000)
    expected = loss + MORE * np.quantile(loss - np.maximum(draws, 0.0), 0.95)
    assert found == pytest.approx(expected, abs=0.12 * spread)


@pytest.mark.parametrize(("rule", "pc"), [(-2, 0.3), (-1, 0.7), (-2, 0.5), (-1, 0.5)])
def test_doing_nothing_and_alarming_always_lose_what_a_classifier_would_save(rule, pc):
    # The cost of the rule in use is known, pc or 1 - pc, and that of the only candidate is normal.
    rng = np.random.default_rng(5)
    sizes = (3000, 5000)
    cells = ([(rng.random(3000) < 0.6).astype(np.int32)], [(rng.random(5000) < 0.3).astype(np.int32)])
    candidates = Candidates.of_cells(cells, [1], (None, None), (None, None), tuple(map(float, sizes)))
    fnr, fpr = float(candidates.misses[0] / 3000), float(candidates.alarms[0] / 5000)
    cost = pc * fnr + (1 - pc) * fpr
    spread = np.sqrt(pc**2 * fnr * (1 - fnr) / 3000 + (1 - pc) ** 2 * fpr * (1 - fpr) / 5000)
    known = {-2: pc, -1: 1 - pc}[rule]
    cheapest = min(pc, 1 - pc)
    loss = known - min(cost, cheapest)
    drawn = known - np.minimum(cost + spread * np.random.default_rng(4).standard_normal(200_000), cheapest)
    expected = loss + MORE * max(np.quantile(loss - drawn, 0.95), 0.0)
    found = loss_limit(candidates, np.array([pc]), np.ones(1), loss, 0.95, rule)
    assert found == pytest.approx(expected, abs=0.12 * spread)


@pytest.mark.law
def test_the_limit_of_a_loss_is_above_it_and_shrinks_with_the_cases():
    for rng in random_worlds(3, stream=1831):
        limits = []
        for n in (60, 6000):
            y, scores = scores_of(rng, n)
            rule = cc.recommend_within(y, scores, SPAN).rule
            assert rule.money_upper >= rule.money
            limits.append(rule.money_upper - rule.money)
        assert limits[1] < limits[0]


def test_copies_of_a_classifier_leave_the_limit_of_its_loss_alone():
    y, scores = scores_of(np.random.default_rng(1), 150)
    alone = cc.recommend_within(y, scores, SPAN).rule
    twice = cc.recommend_within(y, scores | {"copy": scores["a"]}, SPAN).rule
    assert (twice.money, twice.money_upper) == (alone.money, alone.money_upper)


def test_a_rule_that_is_taken_as_given_has_a_lower_limit():
    y, scores = scores_of(np.random.default_rng(2), 150)
    chosen, given = (cc.recommend_within(y, scores, SPAN, given_choice=taken).rule for taken in (False, True))
    assert chosen.money == given.money <= given.money_upper < chosen.money_upper


def test_doing_nothing_may_lose_too():
    y, scores = scores_of(np.random.default_rng(5), 60, strength=0.0)
    span = cc.OperatingRange(prevalence=(0.01, 0.02), cost_fp=1, cost_fn=(1, 2))
    rule = cc.recommend_within(y, scores, span).rule
    assert rule.classifier == "always negative"
    assert 0.0 == rule.money < rule.money_upper


@pytest.mark.law
def test_true_losses_lie_below_their_limits_as_often_as_promised():
    worlds = list(study.WORLDS.values())
    for rng in random_worlds(1, stream=1832):
        cell, ranges = worlds[int(rng.integers(len(worlds)))]
        found = study.measure(cell, ranges, 12, int(rng.integers(2**31)))
        assert found["above"] * 12 <= stats.binom.isf(1e-6, 12, 0.05), cell


def test_the_recorded_page_is_that_of_the_recorded_numbers():
    import json

    assert study.PAGE.read_text(encoding="utf-8") == study.page(json.loads(study.RECORD.read_text()))
