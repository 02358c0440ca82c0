"""How many errors a limit allows: exact tails, as sums of binomial probabilities say."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special, stats

from costcurves.inference.allowances import (
    allowance,
    at_most,
    cases_needed,
    chance_of_ratio,
    largest_rate,
    split_error,
)
from laws import random_worlds


def summed_tails(n, rate):
    """Return P(Bin(n, rate) <= k) for k = 0 .. n, by adding up probabilities that the recursion of Pascal gives."""
    mass = np.array([1.0])
    for _ in range(n):
        mass = np.append(mass * (1 - rate), 0) + np.append(0, mass * rate)
    return np.cumsum(mass)


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.1])
@pytest.mark.parametrize("error", [0.01, 0.05, 0.1, 0.5])
def test_the_allowance_is_the_largest_that_keeps_the_error_for_every_size(rate, error):
    before = -1
    for n in range(1, 301):
        tails, k = stats.binom(n, rate).cdf(np.arange(n + 1)), allowance(n, rate, error)
        assert k < 0 or tails[k] <= error
        assert tails[k + 1] > error
        assert before <= k <= before + 1
        before = k


def test_violations_of_continuous_scores_are_at_most_nominal_for_every_size():
    # The rate of "above the (k+1)-th largest of n uniforms" breaks the limit if at most k uniforms lie in its top part.
    worst = 0.0
    for rate in (0.01, 0.05, 0.1):
        for n in range(1, 301):
            k = allowance(n, rate, 0.05)
            if k >= 0:
                exact = stats.beta(k + 1, n - k).sf(rate)
                assert exact == pytest.approx(summed_tails(n, rate)[k], rel=1e-9)
                assert exact <= 0.05
                assert stats.beta(k + 2, n - k - 1).sf(rate) > 0.05
                worst = max(worst, exact)
    assert worst > 0.0495  # and little is given away where a size happens to fit


@pytest.mark.law
def test_allowances_fall_with_every_demand():
    for rng in random_worlds(100, stream=7101):
        n, rate, error = int(rng.integers(1, 5000)), float(rng.random()), float(rng.random())
        k = allowance(n, rate, error)
        assert -1 <= k < n
        assert allowance(n, rate / 2, error) <= k <= allowance(n + 1, rate, error)
        assert allowance(n, rate, error / 2) <= k
        if k >= 0:
            bound = largest_rate(k, n, error)
            assert bound <= rate * (1 + 1e-12)
            assert stats.binom(n, bound).cdf(k) == pytest.approx(error, rel=1e-8)


def test_tails_are_exact_fractions():
    for n, k, rate in ((5, 0, 0.25), (9, 4, 0.5), (20, 19, 0.75), (3, 3, 0.1)):
        p = Fraction(rate)
        exact = sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))
        assert at_most(k, n, rate) == pytest.approx(float(exact), rel=1e-13)


@pytest.mark.parametrize("rate", [1e-6, 0.001, 0.01, 0.05, 0.1, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("error", [1e-6, 0.01, 0.05, 0.1, 0.5])
def test_the_cases_needed_are_just_enough(rate, error):
    n = cases_needed(rate, error)
    assert allowance(n, rate, error) >= 0
    assert n == 1 or allowance(n - 1, rate, error) == -1
    assert n == pytest.approx(math.log(error) / math.log1p(-rate), abs=1)


def test_two_parts_of_an_error_make_the_whole():
    first, second = split_error(0.05, 3.0, 1.0)
    assert first / second == pytest.approx(3, rel=0.02)
    assert (1 - first) * (1 - second) == pytest.approx(0.95, rel=1e-14)


@pytest.mark.law
def test_the_chance_of_a_ratio_is_its_integral():
    parts = (np.arange(40_000) + 0.5) / 40_000
    for rng in random_worlds(20, stream=7102):
        n_neg, n_pos = (int(n) for n in np.exp(rng.uniform(0.7, 9, 2)))
        false, found = int(rng.integers(0, n_neg)), int(rng.integers(1, n_pos + 1))
        ratio = float(np.exp(rng.uniform(-1, 1)) * found / n_pos * n_neg / (false + 1))
        # Over the quantiles of U instead of its values.
        u = special.betaincinv(false + 1, n_neg - false, parts)
        mean = special.betainc(found, n_pos - found + 1, np.minimum(ratio * u, 1)).mean()
        assert chance_of_ratio(false, n_neg, found, n_pos, ratio) == pytest.approx(mean, rel=1e-4, abs=3e-5)


def test_the_chance_of_a_ratio_covers_every_fixed_rule():
    # A rule with tpr = ratio·fpr that shows few false alarms and finds many, as exact products of tails say.
    for n_neg, n_pos, false, found, ratio in ((30, 12, 2, 8, 3.0), (200, 50, 5, 20, 6.0), (9, 9, 0, 9, 2.0)):
        rates = np.linspace(0, 1 / ratio, 400)
        both = stats.binom(n_neg, rates).cdf(false) * stats.binom(n_pos, ratio * rates).sf(found - 1)
        assert 0 < both.max() <= chance_of_ratio(false, n_neg, found, n_pos, ratio)
