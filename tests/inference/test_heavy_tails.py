"""Means of skewed costs: resampled t and random weights against enumeration, coverage, and limits that are refused."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import beta, binom

import costcurves as cc
from costcurves.inference.dirichlet_means import Weighted, chance_below, lower_limit
from costcurves.inference.example_costs import (
    _resampled_t,
    bootstrap_t_limits,
    compare_example_costs,
    dirichlet_limits,
    example_cost_interval,
    largest_possible,
)


def spacings(values: list[int], at: Fraction) -> Fraction:
    """Return the chance that the randomly weighted mean of distinct values is at most a number, as a fraction."""
    total = Fraction(0)
    for i, one in enumerate(values):
        if one > at:
            others = math.prod(Fraction(one - other) for j, other in enumerate(values) if j != i)
            total += (one - at) ** (len(values) - 1) / others
    return 1 - total


@pytest.mark.parametrize("values", [[0, 1, 5], [0, 2, 3, 50], [-4, -1, 0, 7, 1000], [0, 1, 2, 3, 4, 5, 6, 90]])
def test_chances_of_weighted_means_agree_with_exact_fractions(values):
    cases = Weighted.of(np.array(values, dtype=float))
    for share in (0.02, 0.1, 0.3, 0.5, 0.8, 0.97):
        at = Fraction(values[0]) + Fraction(share) * (values[-1] - values[0])
        assert chance_below(cases, float(at)) == pytest.approx(float(spacings(values, at)), rel=1e-8, abs=1e-12)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (1, 0), (20, 3), (97, 96), (1000, 1), (10**6, 7), (10**5, 40_000)])
def test_limits_of_one_amount_are_those_of_clopper_and_pearson(n, k):
    values = np.repeat([0.0, 7.0], [n - k, k])
    found = dirichlet_limits(values, 0.025, (0.0, 7.0))
    low, high = (7 * beta.ppf(0.025, k, n - k + 1) if k else 0.0), (7 * beta.ppf(0.975, k + 1, n - k) if k < n else 7.0)
    assert (found.lower, found.upper) == pytest.approx((low, high), rel=1e-7)


def test_limits_cover_in_every_world_of_three_amounts():
    """All samples of four cases are enumerated, for many distributions of the amounts 0, 1 and 10."""
    samples = [np.array(s) for s in itertools.combinations_with_replacement([0.0, 1.0, 10.0], 4)]
    limits = [dirichlet_limits(s, 0.1, (0.0, 10.0)) for s in samples]
    for p, q in itertools.product(np.linspace(0.01, 0.98, 12), repeat=2):
        if p + q > 1:
            continue
        truth, below, above = q + 10 * (1 - p - q), 0.0, 0.0
        for sample, found in zip(samples, limits, strict=True):
            counts = [int((sample == x).sum()) for x in (0.0, 1.0, 10.0)]
            ways = math.factorial(4) / math.prod(math.factorial(c) for c in counts)
            chance = ways * p ** counts[0] * q ** counts[1] * (1 - p - q) ** counts[2]
            below += chance * (found.lower > truth + 1e-9)
            above += chance * (found.upper < truth - 1e-9)
        assert below <= 0.1 + 1e-9
        assert above <= 0.1 + 1e-9


def test_pooling_many_values_hardly_moves_a_limit(monkeypatch):
    values = np.random.default_rng(5).lognormal(0, 1, 6000)
    pooled = lower_limit(Weighted.of(values), 0.0, 0.025)
    monkeypatch.setattr("costcurves.inference.dirichlet_means._MOST_VALUES", 10_000)
    assert pooled == pytest.approx(lower_limit(Weighted.of(values), 0.0, 0.025), rel=1e-7)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_p_values_say_what_limits_say(level):
    outcomes = set()
    for k in range(40):
        rng = np.random.default_rng([31, k])
        gap = np.where(rng.random(60) < 0.4, rng.normal(0.2, 1, 60), 0.0)
        found = compare_example_costs(np.maximum(gap, 0), np.maximum(-gap, 0), level=level, max_cost=4.0)
        assert found.significant() == (found.p_value <= 1 - level)
        outcomes.add(found.significant())
    assert level > 0.5 or outcomes == {True, False}


def test_resampled_t_has_the_distribution_of_all_resamples():
    costs = np.array([0.0, 0.0, 1.0, 5.0])
    samples = np.array(list(itertools.product(costs, repeat=4)))
    error = samples.std(axis=1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        every = np.where(
            error > 0, (samples.mean(axis=1) - 1.5) / error, np.where(samples[:, 0] < 1.5, -np.inf, np.inf)
        )
    drawn = _resampled_t(costs[2:], 4, 40_000, np.random.default_rng(1))
    for at in (-2.0, -0.5, 0.0, 0.7, 1.5):
        assert np.mean(drawn <= at) == pytest.approx(np.mean(every <= at), abs=0.01)


def test_the_expansion_of_large_samples_agrees_with_resampling(monkeypatch):
    costs = np.where(np.random.default_rng(4).random(9000) < 0.5, np.random.default_rng(5).gamma(1.0, 1.0, 9000), 0.0)
    drawn = bootstrap_t_limits(costs, 0.025, 8000, np.random.default_rng(6))
    monkeypatch.setattr("costcurves.inference.example_costs._MANY", 100)
    expanded = bootstrap_t_limits(costs, 0.025, 8000, np.random.default_rng(6))
    width = expanded.upper - expanded.lower
    assert (drawn.lower, drawn.upper) == pytest.approx((expanded.lower, expanded.upper), abs=0.02 * width)


@pytest.mark.parametrize("z", [-3.0, -1.0, 0.5, 2.5])
def test_p_values_of_large_samples_are_two_and_a_half_times_the_normal_ones(monkeypatch, z):
    monkeypatch.setattr("costcurves.inference.example_costs._MANY", 100)
    values = np.random.default_rng(8).normal(size=20_000)
    values += z * values.std() / np.sqrt(values.size) - values.mean()
    found = bootstrap_t_limits(values, 0.025, 2000, np.random.default_rng(0))
    assert found.p_value == pytest.approx(min(1.0, 2.5 * 2 * ndtr(-abs(z))), abs=5e-3)


def test_few_or_heavy_tailed_costs_get_limits_that_allow_for_another_case():
    rng = np.random.default_rng(11)
    stake = rng.gamma(9.0, 1.0, 300)
    for wrong, stands_in in ((19, True), (20, False)):
        costs = np.where(np.arange(300) < wrong, stake, 0.0)
        found = [example_cost_interval(costs, method=how, at_stake=[stake]) for how in ("bootstrap-t", "dirichlet")]
        assert (found[0].upper == found[1].upper) == stands_in
    heavy = 1 + rng.pareto(1.25, 2000)  # a tail index of 0.8: the mean is finite, the variance is not
    found = [example_cost_interval(heavy, method=how) for how in ("bootstrap-t", "dirichlet")]
    assert found[0].upper == found[1].upper < np.inf


def test_exchanged_classifiers_and_cases_give_the_same_limits():
    rng = np.random.default_rng(3)
    a, b = rng.gamma(2, 1, 80), rng.gamma(2, 1.2, 80)
    found, turned = compare_example_costs(a, b), compare_example_costs(b, a)
    assert (turned.lower, turned.upper) == pytest.approx((-found.upper, -found.lower))
    assert turned.p_value == pytest.approx(found.p_value)
    order = rng.permutation(80)
    again = compare_example_costs(a[order], b[order])
    assert (again.estimate, again.lower, again.upper, again.p_value) == (
        found.estimate,
        found.lower,
        found.upper,
        found.p_value,
    )


def test_no_error_at_all_does_not_mean_no_cost():
    y, score = np.arange(100) % 2, np.arange(100) % 2
    found = cc.example_cost(y, score, cost_fp=1, cost_fn=40, policy=0.5)
    assert (found.estimate, found.lower) == (0, 0)
    # No error in 100 cases has a chance of 2.5 %, and an error may be of the expensive kind.
    assert found.upper == pytest.approx(40 * (1 - 0.025**0.01), rel=1e-6)


def test_costs_that_cannot_differ_from_zero_have_no_width_and_others_do():
    assert tuple(dirichlet_limits(np.zeros(50), 0.025, (0.0, 0.0))) == (0.0, 0.0, 1.0)
    reach = 3 * (1 - 0.025 ** (1 / 50))
    found = dirichlet_limits(np.zeros(50), 0.025, (-3.0, 3.0))
    assert tuple(found) == pytest.approx((-reach, reach, 1.0))


def test_the_largest_possible_cost_follows_the_tail():
    rng = np.random.default_rng(7)
    heavy = 1 + rng.pareto(1.2, 400)
    most = largest_possible([heavy])
    assert most.cost == np.inf
    assert most.tail_index >= 1
    assert "heavy tail" in most.why
    assert largest_possible([np.minimum(heavy, 10.0)]) == (10.0, 0.0, "")  # capped
    assert largest_possible([np.array(500.0), np.ones(3)]) == (500.0, 0.0, "")  # one number for each kind
    light = rng.uniform(1, 9, 400)
    assert light.max() < largest_possible([light]).cost < 2 * light.max()
    assert largest_possible([light[:19]]).why == "costs of 19 cases do not show how large others may be"
    assert largest_possible([np.zeros(20)]) == (0.0, 0.0, "")
    # Cheap errors of the other kind do not hide a heavy tail, which they did when kinds were pooled.
    assert largest_possible([np.array(1.0), heavy[:60]]).cost == np.inf
    tiny = np.append(np.full(300, 5e-324), np.arange(1.0, 10.0))  # ratios overflow
    assert "heavy tail" in largest_possible([tiny]).why


def test_the_largest_possible_cost_is_the_mean_beyond_the_largest_of_a_pareto_tail():
    """With a million costs the estimate is that of the tail itself: x/(1 - h) for the index h = 1/3."""
    costs = 1 + np.random.default_rng(9).pareto(3.0, 10**6)
    assert largest_possible([costs]).cost == pytest.approx(costs.max() / (1 - 1 / 3), rel=0.06)


@pytest.mark.filterwarnings("ignore::costcurves.SmallSampleWarning")
@pytest.mark.parametrize(("sigma", "share"), [(0.5, 0.3), (1.0, 0.1), (2.0, 0.03)])
def test_a_mean_of_rare_skewed_costs_beside_cheap_ones_is_rarely_outside_its_limits(sigma, share):
    """Cheap false alarms beside rare misses with lognormal amounts: with σ = 2, a third of limits were too low."""
    sets, n, below, above = 100, 400, 0, 0
    truth = share * 0.4 * 5 * np.exp(sigma**2 / 2) + (1 - share) * 0.2
    for k in range(sets):
        rng = np.random.default_rng([181, k])
        y = rng.random(n) < share
        score = np.where(rng.random(n) < np.where(y, 0.4, 0.2), ~y, y).astype(float)
        if y.all() or not y.any():
            continue
        found = cc.example_cost(y, score, cost_fp=1.0, cost_fn=rng.lognormal(np.log(5), sigma, n), policy=0.5)
        below, above = below + (found.upper < truth), above + (found.lower > truth)
    assert below <= binom.ppf(0.995, sets, 0.025)
    assert above <= binom.ppf(0.995, sets, 0.025)


def test_a_heavy_tail_has_an_upper_limit_only_with_the_largest_possible_cost():
    rng = np.random.default_rng(182)
    amount = rng.lognormal(0, 2, 800)
    wrong = rng.random((2, 800)) < 0.15
    a, b = np.where(wrong, amount, 0.0)
    with pytest.warns(cc.SmallSampleWarning, match="there is no limit that holds.*max_cost"):
        assert example_cost_interval(a).upper == np.inf
    rising = 1.5 ** np.arange(100.0)
    with pytest.warns(cc.SmallSampleWarning):
        difference = compare_example_costs(rising, 2 * rising)
    assert (difference.lower, difference.upper, difference.p_value) == (-np.inf, np.inf, 1.0)
    stated = [example_cost_interval(a, max_cost=most) for most in (1_000, 5_000)]
    assert a.mean() < stated[0].upper < stated[1].upper < 5_000
    assert stated[0].lower == pytest.approx(stated[1].lower)
    both = compare_example_costs(a, b, max_cost=1_000)
    assert -1_000 < both.lower < a.mean() - b.mean() < both.upper < 1_000
    with pytest.raises(cc.DataError, match="`max_cost` must be at least the largest cost of the data"):
        example_cost_interval(a, max_cost=1.0)


@pytest.mark.parametrize("method", ["exact", "t", "resample"])
def test_other_methods_warn_where_they_cannot_be_trusted(method):
    costs = np.append(np.zeros(97), [5.0, 5.0, 5.0])
    with pytest.warns(cc.SmallSampleWarning, match="only 3 of 100 cases cost anything"):
        example_cost_interval(costs, method=method)
    with pytest.warns(cc.SmallSampleWarning, match="the interval may be too short: costs have a heavy tail"):
        example_cost_interval(1.5 ** np.arange(100.0), method=method)
