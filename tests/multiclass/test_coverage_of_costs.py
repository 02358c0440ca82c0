"""How often the intervals of k-class costs hold, and the tilted limits against oracles."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

import costcurves as cc
from costcurves.inference.cost_cells import CostCells
from costcurves.inference.rates import critical, mid_p_at
from costcurves.inference.tilted import mean_of, tilted_limits, tilted_rates, tilted_tail_bound, tilted_tails_at
from laws import random_worlds
from studies import k_classes

KINDS = ("graded", "uniform", "heavy")


def setting(k, kind, accuracy):
    """Return the rates of a classifier that errs evenly, and costs of a kind."""
    at = np.arange(k)
    rates = np.full((k, k), (1 - accuracy) / (k - 1) / k)
    rates[at, at] = accuracy / k
    rng = np.random.default_rng(k)
    costs = {
        "graded": np.abs(np.subtract.outer(at, at)).astype(float),
        "uniform": rng.uniform(0, 10, (k, k)),
        "heavy": np.exp(2 * rng.normal(size=(k, k))),
    }[kind] * (1 - np.eye(k))
    return rates, costs


def covered(cells, cost, tail=0.025):
    """Return whether the tilted interval holds a cost."""
    return min(tilted_tails_at(cells, cost)) >= tail


@pytest.mark.parametrize("k", [2, 5, 10, 20, 50, 1000])
@pytest.mark.parametrize("accuracy", [0.8, 0.95])
def test_bcost_covers_the_error_rate_whatever_the_number_of_classes(k, accuracy):
    """Of costs of 0 and 1 the coverage is a sum of binomials; the ends are checked against `bcost` itself."""
    costs = cc.CostMatrix(1 - np.eye(min(k, 50)))
    for n in (100, 500, 2000):
        added = 2.5 / k**2
        wrong = np.arange(n + 1)
        rate = (wrong + added * k * (k - 1)) / (n + added * k**2)
        lower, upper = stats.binom.ppf(0.025, n, rate), stats.binom.ppf(0.975, n, rate)
        mean = n * (1 - accuracy)
        held = stats.binom.pmf(wrong, n, 1 - accuracy)[(lower <= mean + 1e-9) & (mean <= upper + 1e-9)].sum()
        assert 0.94 <= held <= 0.985
        for errors in (int(mean), int(mean) + 5) if k <= 50 else ():
            table = np.zeros((k, k), dtype=int)
            table[0, 0], table[0, 1] = n - errors, errors
            found = cc.bcost.from_confusion(table, costs, method="exact")
            assert (found.lower * n, found.upper * n) == pytest.approx((lower[errors], upper[errors]))
            assert found.lower <= found.estimate <= found.upper


def test_a_laplace_correction_that_moves_the_interval_is_told():
    table = np.diag(np.full(20, 24)) + np.roll(np.eye(20, dtype=int), 1, axis=1)
    with pytest.warns(cc.SmallSampleWarning, match="`laplace` = 0.1 adds 40 examples to 500 and moves .* is 0.00625"):
        off = cc.bcost.from_confusion(table, 1 - np.eye(20), laplace=0.1, method="exact")
    assert off.lower > off.estimate
    found = cc.bcost.from_confusion(table, 1 - np.eye(20), method="exact")
    assert found.laplace == 2.5 / 400
    assert found.lower < found.estimate < found.upper


def graded_coverage(sets, k, n, kind, accuracy, seed):
    """Return how often `bcost`, its mid-P and its tilted interval hold the true cost."""
    rates, costs = setting(k, kind, accuracy)
    cost = float((rates * costs).sum())
    tables = np.random.default_rng(seed).multinomial(n, rates.ravel(), sets).reshape(-1, k, k)
    tilted = np.mean([covered([CostCells.of(table, costs).pooled()], cost) for table in tables])
    return float(cc.covers_cost(tables, costs, cost, method="exact").mean()), float(tilted)


@pytest.mark.parametrize("name", list(k_classes.WORLDS))
@pytest.mark.parametrize("k", k_classes.CLASSES)
def test_the_default_interval_covers_in_the_worlds_of_the_study(name, k):
    """A small form of studies/k_classes.py, with other seeds; rare errors are so few that coverage goes up in steps."""
    sets = 40 if "own cost" in name else 80
    held = k_classes.coverage(name, k, sets, seed=11, methods=("tilted",))["tilted"]
    assert held >= 0.95 - 3.3 * np.sqrt(0.95 * 0.05 / sets)


@pytest.mark.parametrize("rate", k_classes.RARE)
def test_the_default_test_keeps_its_level_with_a_rare_expensive_error(rate):
    found = k_classes.false_verdicts(rate, 60, seed=12, methods=("tilted", "exact"))
    assert found["tilted"] <= 0.05
    assert found["exact"] > 0.05


@pytest.mark.parametrize("name", list(k_classes.ALIKE))
def test_the_default_test_keeps_its_level_between_equal_classifiers(name):
    found = k_classes.false_verdicts_alike(name, 60, seed=13, methods=("tilted",))
    assert found["tilted"] <= 0.05 + 3.3 * np.sqrt(0.05 * 0.95 / 60)


@pytest.mark.law
def test_the_quick_bound_of_a_tilted_tail_is_above_the_tail():
    for rng in random_worlds(25, stream=623):
        cells = []
        for _ in range(int(rng.integers(1, 3))):
            values = rng.integers(-6, 12, 5) * rng.choice([1.0, np.pi])
            counts = rng.multinomial(int(rng.integers(2, 60)), rng.dirichlet(np.ones(5)))
            cells.append(CostCells.of(counts, values).pooled())
        observed, top = sum(one.mean for one in cells), sum(one.values[-1] for one in cells)
        for share in (0.0, 0.2, 0.7, 1.0, 1.5):
            at = observed + share * (top - observed)
            assert tilted_tail_bound(cells, at) >= tilted_tails_at(cells, at)[0] - 1e-9


@pytest.mark.parametrize(("k", "kind"), [(5, "graded"), (10, "uniform")])
def test_intervals_of_graded_costs_cover(k, kind):
    exact, tilted = graded_coverage(120, k, 200, kind, 0.9, 1)
    assert 0.89 <= exact <= 1
    assert 0.89 <= tilted <= 1


@pytest.mark.study
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [2, 5, 10, 20, 50])
@pytest.mark.parametrize("n", [100, 500, 2000])
def test_intervals_of_graded_costs_cover_at_length(k, kind, n):
    sets = 2000
    exact, tilted = graded_coverage(sets, k, n, kind, 0.95, 2)
    slack = 3 * np.sqrt(0.95 * 0.05 / sets)
    assert 0.93 - slack <= tilted <= 0.985 + slack
    if kind != "heavy":  # a percentile bootstrap cannot see rare costs far beyond the others; there it warns
        assert 0.93 - slack <= exact <= 0.985 + slack


@pytest.mark.law
def test_tilted_rates_are_the_most_likely_of_their_mean():
    """No feasible direction that keeps sum and mean improves the likelihood."""
    for rng in random_worlds(100, stream=620):
        size = int(rng.integers(3, 8))
        values = np.unique(rng.integers(-6, 12, size)).astype(float)
        counts = rng.poisson(rng.choice([0.5, 3.0, 40.0]), values.size).astype(float)
        counts[rng.integers(values.size)] += 1
        cells = CostCells.of(counts, values).pooled()
        tilt = float(rng.normal() * cells.draws * rng.choice([0.01, 0.1, 1.0]))
        rates = tilted_rates(cells, tilt)
        assert rates.sum() == pytest.approx(1)
        assert (rates >= 0).all()
        seen = counts > 0

        def likelihood(p, seen=seen, counts=counts):
            return float(counts[seen] @ np.log(np.maximum(p[seen], 1e-300)))

        constraints = np.stack([np.ones(values.size), values])
        for _ in range(10):
            step = rng.normal(size=values.size)
            step -= np.linalg.lstsq(constraints, constraints @ step, rcond=None)[0]
            if np.abs(step).max() < 1e-6:
                continue
            other = rates + 1e-3 * rates.min(initial=1, where=rates > 0) * step / np.abs(step).max(initial=1e-9)
            if (other >= 0).all():
                assert likelihood(other) <= likelihood(rates) + 1e-9 * abs(likelihood(rates))


@pytest.mark.law
def test_tilted_limits_of_one_kind_of_error_are_mid_p_limits():
    for rng in random_worlds(25, stream=621):
        n = int(rng.integers(1, 200))
        errors = int(rng.integers(0, n + 1))
        level = float(rng.choice([0.8, 0.95, 0.99]))
        cost = float(rng.choice([0.01, 1.0, 1e6]))
        cells = [CostCells.of(np.array([n - errors, errors]), np.array([0.0, cost]))]
        lower, upper = mid_p_at(errors, n, critical(level))
        assert tilted_limits(cells, (1 - level) / 2) == pytest.approx((cost * lower, cost * upper), rel=1e-5)


@pytest.mark.law
def test_tilted_limits_have_the_tails_that_enumeration_gives():
    """All outcomes of a few draws are listed under the rates found, in place of the kernel."""
    for rng in random_worlds(20, stream=622):
        n, values = int(rng.integers(2, 7)), np.sort(rng.choice(np.arange(-5, 9), 4, replace=False)).astype(float)
        counts = rng.multinomial(n, rng.dirichlet(np.ones(4))).astype(float)
        cells = CostCells.of(counts, values).pooled()
        observed = counts @ values
        for mean in tilted_limits([cells], 0.1):
            below, above = tilted_tails_at([cells], mean)
            if not values[0] < mean < values[-1]:
                continue
            side = 1 if mean < observed / n else -1
            low, high = 0.0, 1e6
            for _ in range(200):
                middle = 0.5 * (low + high)
                inside = side * (mean_of([cells], side * middle) - mean) > 0
                low, high = (middle, high) if inside else (low, middle)
            rates = tilted_rates(cells, side * low)
            total = 0.0
            for draw in itertools.product(range(4), repeat=n):
                chance = np.prod(rates[list(draw)])
                amount = values[list(draw)].sum()
                total += chance * (1.0 if amount < observed - 1e-9 else 0.5 if amount < observed + 1e-9 else 0.0)
            assert below == pytest.approx(total, abs=1e-6)
            assert min(below, above) == pytest.approx(0.1, abs=1e-4)


def test_tilted_tests_mirror_and_agree_with_their_p_value():
    rng = np.random.default_rng(3)
    for _ in range(8):
        y, a, b = rng.integers(0, 3, (3, 60))
        costs = rng.integers(0, 6, (3, 3)) + np.eye(3)
        priors = rng.dirichlet(np.ones(3)) if rng.random() < 0.5 else None
        one = cc.bdeltacost(y, a, b, costs, priors=priors)
        two = cc.bdeltacost(y, b, a, costs, priors=priors)
        assert (one.lower, one.upper) == pytest.approx((-two.upper, -two.lower), rel=1e-4, abs=1e-6)
        assert one.p_value == pytest.approx(two.p_value, rel=1e-4)
        assert one.significant() == (one.p_value <= 0.05)
        assert one.estimate == pytest.approx(cc.bdeltacost(y, a, b, costs, priors=priors).estimate)
        assert one.lower <= one.estimate <= one.upper


def test_priors_of_mid_p_and_tilted_intervals_weight_the_classes():
    table, costs, priors = [[90, 10], [4, 16]], [[0, 1], [5, 0]], [0.95, 0.05]
    found = [cc.bcost.from_confusion(table, costs, method=method, priors=priors) for method in ("mid-p", "tilted")]
    for one in found:
        assert one.estimate == pytest.approx(0.95 * 0.1 + 0.05 * 5 * 0.2)
        assert one.lower < one.estimate < one.upper
    assert found[0].upper == pytest.approx(found[1].upper, rel=0.1)
    with pytest.raises(cc.DataError, match=r"must be 0 for a class without examples, got 0\.5 for 1"):
        cc.bcost.from_confusion([[5, 1], [0, 0]], costs, priors=[0.5, 0.5])


def test_degenerate_counts_have_limits():
    for table in ([[1, 0], [0, 0]], [[0, 1], [0, 0]], [[7, 0], [0, 5]]):
        found = cc.bcost.from_confusion(table, [[0, 1], [5, 0]])
        assert 0 <= found.lower <= found.estimate <= found.upper <= 5
    same = cc.bdeltacost([0, 1], [0, 1], [0, 1], [[0, 1], [5, 0]])
    assert (same.estimate, same.significant()) == (0, False)
    assert same.lower < 0 < same.upper
