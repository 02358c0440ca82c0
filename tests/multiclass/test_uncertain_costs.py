"""Costs that are known as a range or a distribution: each matrix by itself, the ends of a range, the planned size."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import costcurves as cc

LOW, HIGH = cc.CostMatrix([[0, 1, 2], [3, 0, 1], [4, 2, 0]]), cc.CostMatrix([[0, 2, 2], [9, 0, 1], [8, 3, 0]])
TABLE = np.array([[40, 5, 3], [6, 30, 4], [2, 3, 20]])


def test_limits_at_the_ends_of_a_range_hold_for_every_matrix_between_them():
    ends = cc.bcost.over_costs(TABLE, [LOW, HIGH])
    assert (ends.lower, ends.upper) == (
        cc.bcost.from_confusion(TABLE, LOW).lower,
        cc.bcost.from_confusion(TABLE, HIGH).upper,
    )
    for one in LOW.draws(HIGH, 2, rng=3):
        found = cc.bcost.from_confusion(TABLE, one)
        assert ends.lower <= found.lower <= found.upper <= ends.upper
        assert found.estimate == pytest.approx((TABLE * one.values).sum() / TABLE.sum())


def test_the_mean_over_drawn_matrices_is_the_cost_at_their_mean():
    matrices = LOW.draws(HIGH, 30, rng=4)
    weights = np.arange(1, 31)
    spread = cc.bcost.over_costs(TABLE, matrices, weights=weights, method="gaussian")
    mean = np.average([one.values for one in matrices], axis=0, weights=weights)
    assert spread.estimate == pytest.approx((TABLE * mean).sum() / TABLE.sum())
    assert spread.shares == {}


def test_shares_of_verdicts_are_counted_matrix_by_matrix():
    rng = np.random.default_rng(1)
    joint = rng.multinomial(300, np.full(27, 1 / 27)).reshape(3, 3, 3)
    joint[:, 0, 1] += 25
    matrices = LOW.draws(HIGH, 25, rng=5)
    spread = cc.bdeltacost.over_costs(joint, matrices, names=("new", "old"), method="mid-p")
    found = [cc.bdeltacost.from_joint(joint, one, method="mid-p") for one in matrices]
    for name, cheaper in (("new", "a"), ("old", "b"), ("undecided", None)):
        assert spread.shares[name] == pytest.approx(np.mean([one.cheaper == cheaper for one in found]))
    assert sum(spread.shares.values()) == pytest.approx(1)
    weights = np.arange(25.0)
    weighted = cc.bdeltacost.over_costs(joint, matrices, names=("new", "old"), method="mid-p", weights=weights)
    new = [one.cheaper == "a" for one in found]
    assert weighted.shares["new"] == pytest.approx(np.average(new, weights=weights))
    assert weighted.estimate == pytest.approx(np.average([one.estimate for one in found], weights=weights))
    assert spread.to_frame().shape == (25, 4)


def test_draws_are_uniform_or_log_uniform_between_two_matrices():
    drawn = np.array([one.values for one in LOW.draws(HIGH, 3000, rng=6)])
    assert (drawn >= LOW.values).all()
    assert (drawn <= HIGH.values).all()
    assert stats.kstest(drawn[:, 1, 0], stats.uniform(3, 6).cdf).pvalue > 1e-4
    logs = np.array([one.cost(1, 0) for one in LOW.draws(HIGH, 3000, log=True, rng=6)])
    assert stats.kstest(np.log(logs), stats.uniform(np.log(3), np.log(3)).cdf).pvalue > 1e-4
    with pytest.raises(cc.InputError, match="at least as high"):
        HIGH.draws(LOW)
    with pytest.raises(cc.InputError, match="labels"):
        LOW.draws([[0, 1], [1, 0]])
    with pytest.raises(cc.InputError, match="sequence of cost matrices"):
        cc.bcost.over_costs(TABLE, LOW)


@pytest.mark.parametrize("classes", [2, 5, 20])
def test_the_planned_size_is_that_of_the_binomial_formula_for_any_number_of_classes(classes):
    pilot = 19 * np.eye(classes, dtype=int) + np.roll(np.eye(classes, dtype=int), 1, axis=1)
    plan = cc.plan_test_size(pilot, 1 - np.eye(classes), half_width=0.02)
    assert plan.n_normal == int(np.ceil(stats.norm.ppf(0.975) ** 2 * 0.05 * 0.95 / 0.02**2)) == 457
    lower, upper = stats.binom(plan.n, 0.05).ppf([0.025, 0.975]) / plan.n
    assert upper - lower <= 0.04 + 1e-12
    # A pilot without errors says nothing about their rate; λ stands for it.
    clean = cc.plan_test_size(20 * np.eye(classes, dtype=int), 1 - np.eye(classes), half_width=0.02)
    assert clean.n > 1
