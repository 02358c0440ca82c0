"""Means of skewed costs: bootstrap-t against enumeration, coverage in fresh worlds, and warnings where it fails."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from scipy import special
from scipy.stats import binom

import costcurves as cc
from costcurves.inference.example_costs import (
    _resampled_t,
    bootstrap_t_limits,
    compare_example_costs,
    doubts,
    example_cost_interval,
)
from costcurves.inference.rates import critical, mid_p_at
from laws import random_worlds


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


def covered(draw, share: float, n: int, runs: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return how often the interval held the true mean, and how often it missed it without a warning."""
    truth = share * float(draw(np.random.default_rng(0), 4_000_000).mean())
    held = unwarned = 0
    for _ in range(runs):
        costs = np.where(rng.random(n) < share, draw(rng, n), 0.0)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = example_cost_interval(costs, n_resamples=600)
        held += truth in found
        unwarned += truth not in found and not told
    return held / runs, unwarned / runs


@pytest.mark.law
@pytest.mark.parametrize(
    "draw",
    [lambda r, n: r.lognormal(0, 0.5, n), lambda r, n: r.gamma(2.0, 1.0, n), lambda r, n: r.uniform(1, 9, n)],
    ids=["lognormal", "gamma", "uniform"],
)
def test_intervals_of_moderately_skewed_costs_hold(draw):
    for rng in random_worlds(1, stream=621):
        held, _ = covered(draw, 0.05, 1000, 200, rng)
        assert held == pytest.approx(0.955, abs=0.045)


@pytest.mark.law
def test_an_interval_of_heavy_tailed_costs_that_misses_comes_with_a_warning():
    """Lognormal with sigma 2 and 1 % of errors: 0.44 were held by the bootstrap of the mean, without a word."""
    for rng in random_worlds(1, stream=622):
        held, unwarned = covered(lambda r, n: r.lognormal(0, 2, n), 0.02, 1000, 150, rng)
        assert held > 0.7
        assert unwarned < 0.05


def test_equal_costs_of_few_errors_have_the_limits_of_their_rate():
    costs = np.append(np.zeros(97), [5.0, 5.0, 5.0])
    with pytest.warns(cc.SmallSampleWarning, match="only 3 of 100 cases cost anything"):
        found = example_cost_interval(costs)
    low, high = mid_p_at(3, 100, critical(0.95))
    assert 5 * low <= found.lower + 1e-6
    assert found.upper <= 5 * high + 1e-6
    assert found.lower < 0.15 < found.upper


def test_no_error_at_all_does_not_mean_no_cost():
    y, score = np.arange(100) % 2, np.arange(100) % 2
    with pytest.warns(cc.SmallSampleWarning, match="only 0 of 100 cases cost anything"):
        found = cc.example_cost(y, score, cost_fp=1, cost_fn=40, policy=0.5)
    assert (found.estimate, found.lower) == (0, 0)
    # Half the chance of no error in 100 cases is 2.5 %, and it may be of the expensive kind.
    assert found.upper == pytest.approx(40 * (1 - 0.05**0.01), rel=1e-4)


def test_costs_that_cannot_differ_from_zero_have_no_width_and_others_do():
    rng = np.random.default_rng(0)
    assert tuple(bootstrap_t_limits(np.zeros(50), 0.025, 100, rng, (0.0, 0.0))) == (0.0, 0.0, 1.0)
    # No case of 50 in which an error costs 3 or -3: the limit is that of a rate of which nothing was seen.
    reach = 3 * (1 - 0.05 ** (1 / 50))
    above = bootstrap_t_limits(np.zeros(50), 0.025, 100, rng, (0.0, 3.0))
    assert (above.lower, above.p_value) == (0.0, 1.0)
    assert above.upper == pytest.approx(reach, rel=1e-3)
    below = bootstrap_t_limits(np.zeros(50), 0.025, 100, rng, (-3.0, 0.0))
    assert (below.upper, below.p_value) == (0.0, 1.0)
    assert below.lower == pytest.approx(-reach, rel=1e-3)


def test_exchanged_classifiers_and_cases_give_the_same_limits():
    rng = np.random.default_rng(3)
    a, b = rng.gamma(2, 1, 80), rng.gamma(2, 1.2, 80)
    found, turned = compare_example_costs(a, b), compare_example_costs(b, a)
    assert (turned.lower, turned.upper) == pytest.approx((-found.upper, -found.lower))
    assert turned.p_value == found.p_value
    order = rng.permutation(80)
    again = compare_example_costs(a[order], b[order])
    assert (again.lower, again.upper) == pytest.approx((found.lower, found.upper))


def test_the_expansion_of_large_samples_agrees_with_resampling(monkeypatch):
    costs = np.where(np.random.default_rng(4).random(9000) < 0.5, np.random.default_rng(5).gamma(1.0, 1.0, 9000), 0.0)
    drawn = bootstrap_t_limits(costs, 0.025, 8000, np.random.default_rng(6), (0.0, 99.0))
    monkeypatch.setattr("costcurves.inference.example_costs._MANY", 100)
    expanded = bootstrap_t_limits(costs, 0.025, 8000, None, (0.0, 99.0))
    width = expanded.upper - expanded.lower
    assert (drawn.lower, drawn.upper) == pytest.approx((expanded.lower, expanded.upper), abs=0.02 * width)


@pytest.mark.parametrize("z", [-3.0, -1.0, 0.5, 2.0])
def test_p_values_of_large_samples_are_nearly_normal(monkeypatch, z):
    monkeypatch.setattr("costcurves.inference.example_costs._MANY", 100)
    values = np.random.default_rng(8).normal(size=20_000)
    values += z * values.std() / np.sqrt(values.size) - values.mean()
    found = bootstrap_t_limits(values, 0.025, 2000, None, (-99.0, 99.0))
    assert found.p_value == pytest.approx(2 * special.ndtr(-abs(z)), abs=2e-3)


def test_a_tail_of_infinite_variance_is_named_and_a_light_one_is_not():
    rng = np.random.default_rng(7)
    assert "heavy tail" in doubts(1 + rng.pareto(1.2, 400))
    assert doubts(rng.uniform(1, 9, 400)) is None
    assert doubts(np.minimum(1 + rng.pareto(1.2, 400), 10.0)) is None  # capped
    assert doubts(np.repeat([1.0, 500.0], [300, 60])) is None  # two kinds of errors
    assert doubts(np.ones(50)) is None
    assert "heavy tail" in doubts(np.append(np.full(300, 5e-324), np.arange(1.0, 10.0)))  # ratios overflow


@pytest.mark.filterwarnings("ignore::costcurves.SmallSampleWarning")
@pytest.mark.parametrize(("sigma", "rate", "sets"), [(0.5, 0.1, 100), (2.0, 0.1, 100), (2.0, 0.01, 25)])
def test_a_mean_of_heavy_tailed_costs_is_rarely_outside_its_limits(sigma, rate, sets):
    truth, outside = rate * np.exp(sigma**2 / 2), 0
    for k in range(sets):
        rng = np.random.default_rng([181, k])
        amount = rng.lognormal(0, sigma, 500)
        costs = np.where(rng.random(500) < rate, amount, 0.0)
        found = example_cost_interval(costs, at_stake=amount, n_resamples=300)
        outside += truth not in found
    assert outside <= binom.ppf(0.99, sets, 0.05)


def test_a_heavy_tail_has_an_upper_limit_only_with_the_largest_possible_cost():
    rng = np.random.default_rng(182)
    amount = rng.lognormal(0, 2, 800)
    wrong = rng.random((2, 800)) < 0.15
    a, b = np.where(wrong, amount, 0.0)
    with pytest.warns(cc.SmallSampleWarning, match="there is no limit that holds.*max_cost"):
        assert example_cost_interval(a).upper == np.inf
    with pytest.warns(cc.SmallSampleWarning):
        difference = compare_example_costs(a, b)
    assert (difference.lower, difference.upper, difference.p_value) == (-np.inf, np.inf, 1.0)
    stated = [example_cost_interval(a, max_cost=most) for most in (1_000, 5_000)]
    assert a.mean() < stated[0].upper < stated[1].upper < 5_000
    assert stated[0].lower == pytest.approx(stated[1].lower)
    both = compare_example_costs(a, b, max_cost=1_000)
    assert -1_000 < both.lower < a.mean() - b.mean() < both.upper < 1_000
    assert both.significant() == (both.p_value <= 0.05)
    with pytest.raises(cc.DataError, match="`max_cost` must be at least the largest cost of the data"):
        example_cost_interval(a, max_cost=1.0)


def test_what_can_only_cost_more_for_one_side_still_decides():
    rng = np.random.default_rng(183)
    base = rng.uniform(1, 2, 600)
    worse = base + np.where(rng.random(600) < 0.3, rng.lognormal(1, 2, 600), 0.0)
    with pytest.warns(cc.SmallSampleWarning):
        found = compare_example_costs(base, worse, at_stake=base)
    assert found.lower == -np.inf
    assert found.upper < 0
    assert found.p_value <= 0.05
