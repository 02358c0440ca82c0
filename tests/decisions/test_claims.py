"""A claim is shown, not shown or shown otherwise, and the number of cases that would show it mostly does."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import costcurves as cc
from costcurves.decisions.claims import NOT_SHOWN, OTHERWISE, SHOWN, claim_below, claim_saving
from laws import random_worlds


@pytest.mark.parametrize(
    ("limits", "verdict"),
    [
        ((-2.0, -3.0, -1.0), SHOWN),
        ((-2.0, -4.0, 0.0), NOT_SHOWN),
        ((0.0, 0.0, 0.0), NOT_SHOWN),
        ((2.0, 1.0, 3.0), OTHERWISE),
        (([-2.0, -2.0], [-3.0, -5.0], [-1.0, 1.0]), NOT_SHOWN),
        (([-2.0, 2.0], [-3.0, 1.0], [-1.0, 3.0]), OTHERWISE),
        (([-2.0, -9.0], [-3.0, -9.5], [-1.0, -8.0]), SHOWN),
    ],
)
def test_limits_decide_between_three_verdicts(limits, verdict):
    found = claim_below(*limits, 0.0, n=100, level=0.95)
    assert found.verdict == verdict
    assert (found.needed is not None) == (verdict == NOT_SHOWN and bool(np.all(np.asarray(limits[0]) < 0)))


@pytest.mark.law
def test_the_needed_cases_show_a_true_claim_with_a_chance_of_80_percent():
    for rng in random_worlds(80, stream=1810):
        level, n, spread = rng.uniform(0.5, 0.999), int(rng.integers(20, 5000)), rng.uniform(0.1, 10)
        z = stats.norm.ppf((1 + level) / 2)
        estimate = -rng.uniform(0.02, 1) * z * spread / np.sqrt(n)
        half = z * spread / np.sqrt(n)
        needed = claim_below(estimate, estimate - half, estimate + half, 0.0, n=n, level=level).needed
        # The mean of `needed` normal values lies below minus its half-width so often.
        chance = stats.norm.cdf(-z - estimate * np.sqrt(needed) / spread)
        assert chance >= 0.8 - 1e-9
        fewer = stats.norm.cdf(-z - estimate * np.sqrt(max(n, needed * 0.9)) / spread)
        assert fewer < 0.8 or needed <= 1.1 * n
    assert claim_below(0.0, -1.0, 1.0, 0.0, n=10, level=0.9).needed is None
    assert claim_below(-1e-9, -1.0, 1.0, 0.0, n=10, level=0.9).needed is None


def test_the_needed_cases_are_those_of_the_point_that_needs_most():
    both = claim_below([-2.0, -1.0], [-4.5, -4.0], [0.5, 2.0], 0.0, n=100, level=0.95)
    one = claim_below(-1.0, -4.0, 2.0, 0.0, n=100, level=0.95)
    assert both == one


@pytest.mark.law
def test_a_saving_is_shown_where_its_limits_say_so():
    for rng in random_worlds(8, stream=1811):
        y = rng.random(300) < 0.4
        predictions = cc.Predictions(y, {"a": y + rng.normal(size=300), "b": y + 2 * rng.normal(size=300)})
        answer = predictions.recommend(cc.OperatingCondition(prevalence=0.2, cost_fp=2, cost_fn=9))
        for name in answer.classifier:
            saving = answer.saving(name)
            assert (claim_saving(saving, 300).verdict == SHOWN) == saving.shown
            assert (claim_saving(saving, 300).verdict == OTHERWISE) == (saving.upper < 0)
