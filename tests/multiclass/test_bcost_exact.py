"""BCost and BDeltaCost against enumeration, resampling and laws."""

from __future__ import annotations

import itertools
import math
import warnings
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import costcurves as cc
from costcurves.inference.cost_cells import CostCells, difference_histogram
from costcurves.inference.cost_methods import COST_METHODS, Resampling
from costcurves.inference.kernel.strata import Stratum

EXPF5 = np.array([0.2102, 0.4473, 0.2568, 0.0016, 0.0841])


def quiet(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.SmallSampleWarning)
        return function(*args, **kwargs)


def compositions(total, parts):
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def enumerate_distribution(n, cells):
    """All outcomes of n draws from {value: probability}, in fractions: value of the mean → probability."""
    values = list(cells)
    out = defaultdict(Fraction)
    for counts in compositions(n, len(values)):
        chance = Fraction(math.factorial(n))
        for c, v in zip(counts, values, strict=True):
            chance = chance * cells[v] ** c / math.factorial(c)
        out[sum(c * v for c, v in zip(counts, values, strict=True)) / n] += chance
    return out


def assert_same_distribution(distribution, outcomes):
    points = sorted(outcomes)
    reached = 0.0
    for value in points:
        reached += float(outcomes[value])
        gap = 1e-6 * max(1.0, abs(float(value)))
        assert float(distribution.cdf(float(value) + gap)) == pytest.approx(reached, abs=1e-10)
        assert float(distribution.cdf(float(value) - gap)) == pytest.approx(reached - float(outcomes[value]), abs=1e-10)
    mean = sum(v * p for v, p in outcomes.items())
    assert distribution.mean == pytest.approx(float(mean), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("laplace", [0, Fraction(1, 10), 1])
@pytest.mark.parametrize(
    ("counts", "costs"),
    [
        ([[2, 1], [0, 3]], [[0, 1], [5, 0]]),
        ([[1, 0], [1, 1]], [[1, 2], [7, 0]]),
        ([[0, 1], [0, 0]], [[0, 3], [3, 0]]),
        ([[1, 1, 0], [0, 1, 0], [1, 0, 1]], [[0, 1, 2], [3, 0, 1], [10, 2, 0]]),
        ([[2, 0, 1], [0, 1, 0], [1, 0, 1]], [[0, 1, 1], [1, 0, 1], [4, 4, 0]]),
    ],
)
def test_bcost_is_the_enumeration_of_all_outcomes(counts, costs, laplace):
    k, n = len(counts), sum(map(sum, counts))
    cells = defaultdict(Fraction)
    for t, p in itertools.product(range(k), repeat=2):
        q = Fraction(counts[t][p] + laplace) / Fraction(n + laplace * k * k)
        if q:
            cells[Fraction(costs[t][p])] += q
    outcomes = enumerate_distribution(n, cells)
    ci = quiet(cc.bcost.from_confusion, counts, costs, laplace=float(laplace), level=0.8, method="exact")
    assert_same_distribution(ci.distribution, outcomes)
    total, lower, upper = Fraction(0), None, None
    for value in sorted(outcomes):
        total += outcomes[value]
        lower = value if lower is None and total >= Fraction(1, 10) else lower
        upper = value if upper is None and total >= Fraction(9, 10) else upper
    assert (ci.lower, ci.upper) == (pytest.approx(float(lower)), pytest.approx(float(upper)))


@pytest.mark.parametrize("laplace", [0, Fraction(1, 20)])
@pytest.mark.parametrize(("k", "seed"), [(2, 0), (2, 1), (3, 2), (3, 3)])
def test_bdeltacost_is_the_enumeration_of_all_outcomes(k, seed, laplace):
    rng = np.random.default_rng(seed)
    n = 5
    true, a, b = rng.integers(0, k, (3, n))
    costs = rng.integers(0, 3, (k, k))
    costs[0, k - 1] = 3
    cells = defaultdict(Fraction)
    for t, i, j in itertools.product(range(k), repeat=3):
        seen = int(((true == t) & (a == i) & (b == j)).sum())
        q = Fraction(seen + laplace) / Fraction(n + laplace * k**3)
        if q:
            cells[Fraction(int(costs[t, i] - costs[t, j]))] += q
    outcomes = enumerate_distribution(n, cells)
    cmp = cc.bdeltacost(true, a, b, costs, laplace=float(laplace), method="exact")
    assert_same_distribution(cmp.distribution, outcomes)
    low = sum(p for v, p in outcomes.items() if v <= 0)
    high = sum(p for v, p in outcomes.items() if v >= 0)
    assert cmp.p_value == pytest.approx(float(min(1, 2 * min(low, high))), abs=1e-9)


def test_deployment_priors_are_the_enumeration_of_both_classes():
    counts, costs, priors = [[2, 1], [1, 2]], [[0, 1], [5, 1]], [Fraction(3, 4), Fraction(1, 4)]
    parts = []
    for t in range(2):
        cells = defaultdict(Fraction)
        for p in range(2):
            cells[priors[t] * costs[t][p]] += (Fraction(counts[t][p]) + Fraction(1, 2)) / 4
        parts.append(enumerate_distribution(3, cells))
    outcomes = defaultdict(Fraction)
    for (v, p), (w, q) in itertools.product(parts[0].items(), parts[1].items()):
        outcomes[v + w] += p * q
    ci = quiet(cc.bcost.from_confusion, counts, costs, laplace=0.5, priors=[0.75, 0.25], method="exact")
    assert_same_distribution(ci.distribution, outcomes)
    assert ci.estimate == pytest.approx(0.75 / 3 + 0.25 * (5 + 2) / 3)


def expf5_confusion(rng, n=1000):
    rates = 0.9 * np.eye(5) + 0.1 * rng.dirichlet(np.ones(5), 5)
    return rng.multinomial(n, (EXPF5[:, None] * rates).ravel()).reshape(5, 5)


@pytest.mark.parametrize("model", [f"M{i}" for i in range(1, 10)])
def test_exact_distribution_agrees_with_very_many_resamples(model):
    resamples = 1_000_000 if model == "M6" else 100_000
    rng = np.random.default_rng(int(model[1]))
    C = cc.cost_models(model, EXPF5, rng=rng)
    M = expf5_confusion(rng)
    ci = quiet(cc.bcost.from_confusion, M, C, method="exact")
    q = (M.ravel() + 0.1) / (1000 + 2.5)
    draws = np.sort(rng.multinomial(1000, q, resamples) @ C.values.ravel() / 1000)
    x = draws[(np.linspace(0.005, 0.995, 50) * resamples).astype(int)]
    empirical = np.searchsorted(draws, x, side="right") / draws.size
    assert np.abs(ci.distribution.cdf(x) - empirical).max() < 4 * math.sqrt(0.25 / resamples)


def test_resampling_takes_the_papers_order_statistics():
    options = Resampling(0.0, 1000, np.random.default_rng(0), None)
    law = COST_METHODS["resample"].law([CostCells.of(np.ones(50), np.arange(50.0))], options)
    ordered = np.sort(law.distribution.values)
    assert law.limits(0.025, 0.025) == (ordered[25], ordered[974])
    assert law.limits((1 - 0.9) / 2, (1 - 0.9) / 2) == (ordered[50], ordered[949])
    C = cc.cost_models("M1", EXPF5, rng=0)
    M = expf5_confusion(np.random.default_rng(0))
    one = cc.bcost.from_confusion(M, C, method="resample", rng=3)
    again = cc.bcost.from_confusion(M, C, method="resample", rng=3)
    assert (one.lower, one.upper) == (again.lower, again.upper)
    assert one.lower == one.distribution.values[25]
    assert one.upper == one.distribution.values[974]
    exact = cc.bcost.from_confusion(M, C, method="exact")
    assert one.lower == pytest.approx(exact.lower, rel=0.05)
    assert one.upper == pytest.approx(exact.upper, rel=0.05)


def coverage(model, matrices, sets, rng):
    """Share of test sets whose interval holds the true cost, with the paper's class frequencies."""
    hits = 0
    for _ in range(matrices):
        C = cc.cost_models(model, EXPF5, rng=rng)
        rates = 0.93 * np.eye(5) + 0.07 * rng.dirichlet(np.ones(5), 5)
        joint = EXPF5[:, None] * rates
        truth = float((joint * C.values).sum())
        for M in rng.multinomial(1000, joint.ravel(), sets).reshape(sets, 5, 5):
            ci = quiet(cc.bcost.from_confusion, M, C, method="exact")
            hits += ci.lower <= truth <= ci.upper
    return hits / (matrices * sets)


def test_coverage_of_m1_is_nominal():
    """Of 240 test sets, intervals that hold in 87 % would be found out 99 times of 100; the study below has 10,000."""
    assert coverage("M1", 10, 24, np.random.default_rng(1)) == pytest.approx(0.95, abs=0.03)


def test_coverage_of_m6_is_above_99_percent():
    assert coverage("M6", 5, 24, np.random.default_rng(2)) > 0.99


@pytest.mark.study
def test_coverage_of_m1_and_m6_at_length():
    assert coverage("M1", 10, 1000, np.random.default_rng(3)) == pytest.approx(0.95, abs=0.015)
    assert coverage("M6", 10, 1000, np.random.default_rng(4)) > 0.99


def test_the_gaussian_interval_is_the_textbook_formula():
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 3, (2, 200))
    costs = np.array([[0, 1, 2], [3, 0, 1], [9, 2, 0]])
    each = costs[y, p]
    half = 1.959963984540054 * each.std(ddof=1) / np.sqrt(200)
    ci = cc.bcost(y, p, costs, method="gaussian")
    assert (ci.lower, ci.upper) == (pytest.approx(each.mean() - half), pytest.approx(each.mean() + half))


def test_the_gaussian_test_agrees_with_scipy():
    from scipy import stats

    rng = np.random.default_rng(1)
    y, a, b = rng.integers(0, 3, (3, 300))
    costs = np.array([[0, 1, 2], [3, 0, 1], [9, 2, 0]])
    d = costs[y, a] - costs[y, b]
    z = d.mean() / (d.std(ddof=1) / np.sqrt(300))
    cmp = cc.bdeltacost(y, a, b, costs, method="gaussian")
    assert cmp.p_value == pytest.approx(2 * stats.norm.sf(abs(z)))
    assert cmp.significant() == (cmp.p_value < 0.05)


def test_identical_classifiers_differ_by_exactly_nothing():
    y = [0, 1, 2, 0, 1, 2]
    a = [0, 1, 1, 0, 2, 2]
    costs = [[0, 1, 2], [3, 0, 1], [9, 2, 0]]
    for method in ("exact", "resample"):
        cmp = cc.bdeltacost(y, a, a, costs, method=method, rng=0)
        assert (cmp.estimate, cmp.lower, cmp.upper, cmp.p_value) == (0, 0, 0, 1)
        assert not cmp.significant()
        assert cmp.cheaper is None
    assert cc.bdeltacost(y, a, a, costs, method="gaussian").p_value == 1


def test_a_certain_difference_has_the_smallest_p():
    cmp = cc.bdeltacost([0] * 10, [0] * 10, [1] * 10, [[0, 2], [1, 0]], method="exact")
    assert (cmp.estimate, cmp.lower, cmp.upper) == (-2, -2, -2)
    assert cmp.p_value == cmp.smallest_p == 2e-14
    assert cmp.cheaper == "a"


def test_a_p_value_below_the_error_of_the_distribution_is_not_printed_as_a_number():
    y = np.repeat([0, 1, 2], 2_000)
    wrong = np.where(np.arange(y.size) % 5, y, (y + 1) % 3)
    C = [[0, 1, np.pi], [np.e, 0, 1], [2.5, np.sqrt(2), 0]]
    cmp = cc.bdeltacost(y, y, wrong, C, method="exact")
    assert cmp.p_value == cmp.smallest_p == 2 * cmp.distribution.error
    assert f"p < {2 * cmp.distribution.error:.2g}: a is cheaper" in repr(cmp)
    assert "p = 0.5" in repr(cc.bdeltacost([0, 1], [0, 1], [1, 1], [[0, 1], [1, 0]], method="exact"))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.integers(1, 40))
def test_interval_and_p_value_agree_about_zero(seed, k, n):
    rng = np.random.default_rng(seed)
    y, a, b = rng.integers(0, k, (3, n))
    C = rng.integers(0, 4, (k, k)) + np.eye(k)
    cmp = quiet(cc.bdeltacost, y, a, b, C, method="exact")
    if cmp.p_value < 0.05 - 1e-9:
        assert cmp.significant()
    if cmp.p_value > 0.05 + 1e-9:
        assert not cmp.significant()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_swapping_the_classifiers_mirrors_the_difference(seed, k):
    rng = np.random.default_rng(seed)
    y, a, b = rng.integers(0, k, (3, 30))
    C = rng.integers(0, 4, (k, k)) + np.eye(k)
    one, two = cc.bdeltacost(y, a, b, C, method="exact"), cc.bdeltacost(y, b, a, C, method="exact")
    assert one.estimate == pytest.approx(-two.estimate, abs=1e-12)
    assert one.p_value == pytest.approx(two.p_value, abs=1e-9)
    assert one.lower == pytest.approx(-two.upper, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.sampled_from([0.0, 0.1, 1.0]))
def test_order_of_labels_changes_nothing(seed, k, laplace):
    rng = np.random.default_rng(seed)
    y, a, b = rng.integers(0, k, (3, 40))
    C = cc.CostMatrix(rng.integers(0, 9, (k, k)) + np.eye(k))
    order = rng.permutation(k).tolist()
    D = cc.CostMatrix(C, order)
    one, two = (quiet(cc.bcost, y, a, M, laplace=laplace, method="exact") for M in (C, D))
    assert (one.estimate, one.lower, one.upper) == (
        pytest.approx(two.estimate),
        pytest.approx(two.lower),
        pytest.approx(two.upper),
    )
    assert {(r.true, r.predicted) for r in one.risks} == {(r.true, r.predicted) for r in two.risks}
    first, second = (cc.bdeltacost(y, a, b, M, laplace=laplace, method="exact") for M in (C, D))
    assert (first.lower, first.p_value) == (pytest.approx(second.lower), pytest.approx(second.p_value))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.sampled_from([0.001, 7.0, 1e6]))
def test_costs_in_other_money_scale_the_interval(seed, k, factor):
    rng = np.random.default_rng(seed)
    y, a = rng.integers(0, k, (2, 40))
    C = rng.integers(0, 9, (k, k)) + np.eye(k)
    one, two = quiet(cc.bcost, y, a, C, method="exact"), quiet(cc.bcost, y, a, factor * C, method="exact")
    assert two.lower == pytest.approx(factor * one.lower)
    assert two.upper == pytest.approx(factor * one.upper)
    assert len(one.risks) == len(two.risks)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.sampled_from([0.0, 0.2]))
def test_a_constant_added_to_a_row_changes_no_difference(seed, k, laplace):
    rng = np.random.default_rng(seed)
    y, a, b = rng.integers(0, k, (3, 40))
    C = rng.integers(0, 9, (k, k)) + np.eye(k)
    shifted = C + rng.integers(0, 20, (k, 1))
    one, two = (cc.bdeltacost(y, a, b, M, laplace=laplace, method="exact") for M in (C, shifted))
    assert (one.estimate, one.lower, one.upper) == (
        pytest.approx(two.estimate, abs=1e-12),
        pytest.approx(two.lower, abs=1e-9),
        pytest.approx(two.upper, abs=1e-9),
    )
    assert one.p_value == pytest.approx(two.p_value, abs=1e-9)


def test_uncertain_priors_leave_out_a_class_that_does_not_occur():
    priors, size, C = [0.75, 0.25, 0.0], 20.0, [[0, 1, 4], [5, 0, 2], [9, 9, 0]]
    found = []
    for last in ([0, 0, 9], [3, 4, 2]):
        M = [[30, 6, 4], [5, 20, 5], last]
        found.append(
            quiet(cc.bcost.from_confusion, M, C, priors=priors, priors_size=size, laplace=0, rng=0, method="exact")
        )
    assert (found[0].lower, found[0].upper) == (found[1].lower, found[1].upper)
    # The mean cost of a class is drawn with its examples, and the priors from a Dirichlet distribution of two classes.
    rng = np.random.default_rng(1)
    means = [
        rng.multinomial(40, np.array([30, 6, 4]) / 40, 20_000) @ np.array([0, 1, 4]) / 40,
        rng.multinomial(30, np.array([5, 20, 5]) / 30, 20_000) @ np.array([5, 0, 2]) / 30,
    ]
    drawn = (rng.dirichlet(size * np.array([0.75, 0.25]), 20_000) * np.stack(means, axis=1)).sum(axis=1)
    assert [found[0].lower, found[0].upper] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), rel=0.05)


def test_from_confusion_and_from_joint_equal_predictions():
    rng = np.random.default_rng(5)
    y, a, b = rng.integers(0, 3, (3, 100))
    C = cc.CostMatrix([[0, 1, 2], [3, 0, 1], [9, 2, 0]])
    table = np.zeros((3, 3, 3), dtype=int)
    np.add.at(table, (y, a, b), 1)
    one, two = (
        quiet(cc.bcost, y, a, C, method="exact"),
        quiet(cc.bcost.from_confusion, table.sum(axis=2), C, method="exact"),
    )
    assert (one.lower, one.upper, one.estimate) == (two.lower, two.upper, two.estimate)
    first, second = cc.bdeltacost(y, a, b, C, method="exact"), cc.bdeltacost.from_joint(table, C, method="exact")
    assert (first.lower, first.upper, first.p_value) == (second.lower, second.upper, second.p_value)
    paper = cc.bdeltacost.from_joint(np.moveaxis(np.moveaxis(table, 0, 2), 2, 0), C, method="exact")
    assert paper.estimate == first.estimate


@pytest.mark.parametrize("laplace", [0.0, 0.3])
def test_uncertain_priors_have_the_moments_of_the_mixture(laplace):
    M, C = np.array([[60, 20], [10, 30]]), np.array([[0.0, 1.0], [5.0, 0.0]])
    priors, size = np.array([0.7, 0.3]), 50.0
    ci = quiet(cc.bcost.from_confusion, M, C, priors=priors, priors_size=size, laplace=laplace, rng=0, method="exact")
    q = (M + laplace) / (M.sum(axis=1, keepdims=True) + 2 * laplace)
    mu = (q * C).sum(axis=1)
    var = ((q * C**2).sum(axis=1) - mu**2) / M.sum(axis=1)
    cov = (np.diag(priors) - np.outer(priors, priors)) / (size + 1)
    second = np.diag(cov) + priors**2
    assert ci.distribution.mean == pytest.approx(priors @ mu, rel=0.005)
    assert ci.distribution.std == pytest.approx(math.sqrt(second @ var + mu @ cov @ mu), rel=0.01)
    sure = quiet(cc.bcost.from_confusion, M, C, priors=priors, laplace=laplace, method="exact")
    assert ci.upper - ci.lower > sure.upper - sure.lower
    huge = quiet(cc.bcost.from_confusion, M, C, priors=priors, priors_size=1e9, laplace=laplace, rng=0, method="exact")
    assert huge.upper == pytest.approx(sure.upper, rel=0.02)


def test_priors_of_a_difference_weight_the_classes():
    y = np.repeat([0, 1], [80, 20])
    a, b = np.zeros(100, int), np.ones(100, int)
    C = [[0, 1], [5, 0]]
    assert cc.bdeltacost(y, a, b, C, method="exact").estimate == pytest.approx(-0.8 + 0.2 * 5)
    assert cc.bdeltacost(y, a, b, C, priors={0: 0.5, 1: 0.5}, method="exact").estimate == pytest.approx(-0.5 + 0.5 * 5)
    assert quiet(cc.bcost, y, a, C, priors=[1, 0], method="exact").estimate == 0


def test_the_difference_histogram_counts_every_cell():
    rng = np.random.default_rng(0)
    costs = rng.integers(0, 4, (5, 5)).astype(float)
    values, times = difference_histogram(costs)
    brute = defaultdict(int)
    for t, i, j in itertools.product(range(5), repeat=3):
        brute[costs[t, i] - costs[t, j]] += 1
    assert dict(zip(values.tolist(), times.tolist(), strict=True)) == brute


def test_many_distinct_differences_go_on_a_lattice_that_keeps_their_moments():
    rng = np.random.default_rng(0)
    costs = rng.uniform(0, 10, (170, 170))
    values, times = difference_histogram(costs)
    assert values.size < 70_000
    brute = np.concatenate([np.subtract.outer(row, row).ravel() for row in costs])
    assert times.sum() == pytest.approx(brute.size)
    assert times @ values == pytest.approx(0, abs=1e-3)
    assert (times @ values**2) / times.sum() == pytest.approx(brute.var(), rel=1e-7)
    x = np.linspace(-9, 9, 13)
    exact = np.searchsorted(np.sort(brute), x, side="right") / brute.size
    binned = np.array([times[values <= v].sum() for v in x]) / times.sum()
    assert np.abs(exact - binned).max() < 2e-4


def test_all_pairs_equal_single_comparisons():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 400)
    noisy = {f"c{i}": np.where(rng.random(400) < i * 0.15, rng.integers(0, 3, 400), y) for i in range(1, 4)}
    C = [[0, 1, 2], [3, 0, 1], [9, 2, 0]]
    many = cc.bdeltacost_many(y, noisy, C, method="exact")
    assert [p.names for p in many.pairs[:3]] == [("c1", "c2"), ("c1", "c3"), ("c2", "c3")]
    assert [p.names for p in many.pairs[3:]] == [(name, many.constant) for name in noisy]
    single = cc.bdeltacost(y, noisy["c1"], noisy["c3"], C, level=1 - 0.05 / 6, method="exact")
    assert many.pairs[1].p_value == single.p_value
    assert many.pairs[1].lower == single.lower
    assert many.costs.tolist() == pytest.approx([cc.expected_cost(y, p, C) for p in noisy.values()])
    assert many.best_name == "c1"
    assert "c1" not in {x for names in many.beats.values() for x in names}
    assert len(many.to_frame("pandas")) == 6


def test_family_wise_error_is_controlled():
    rng = np.random.default_rng(11)
    false = 0
    for _ in range(80):
        y = rng.integers(0, 2, 300)
        same = {name: np.where(rng.random(300) < 0.3, 1 - y, y) for name in "abcd"}
        false += bool(cc.bdeltacost_many(y, same, [[0, 1], [2, 0]], method="exact").significant()[:6].any())
    assert false / 80 <= 0.05 + 2.6 * math.sqrt(0.05 * 0.95 / 80)


def test_two_class_bcost_is_the_kernels_full_sampling():
    from costcurves.inference.kernel.distribution import exact_distribution

    # design: cost, full sampling: FN/n → cost_fn/n, FP/n → cost_fp/n.
    ci = cc.bcost.from_confusion([[900, 100], [40, 160]], [[0, 1], [5, 0]], laplace=0, method="exact")
    full = exact_distribution([Stratum(1200, [40 / 1200, 100 / 1200], [5 / 1200, 1 / 1200])])
    x = np.linspace(0.15, 0.4, 23)
    assert ci.distribution.cdf(x) == pytest.approx(full.cdf(x), abs=1e-12)


def test_two_class_bcost_is_the_full_sampling_of_the_cost_curve():
    table, fp, fn = [[880, 120], [40, 160]], 1.0, 5.0
    curve = cc.CostCurve(cc.RocCurve.from_confusion_matrix(table, name="rules"), policy=cc.thresholds.point(1))
    here = cc.OperatingCondition(prevalence=200 / 1200, cost_fp=fp, cost_fn=fn)
    full = curve.distribution(here, sampling="full")
    ci = cc.bcost.from_confusion(table, [[0, fp], [fn, 0]], laplace=0, method="exact")
    scale = ci.distribution.mean / full.mean
    levels = [0.01, 0.025, 0.25, 0.5, 0.75, 0.975, 0.99]
    assert scale * full.quantile(levels) == pytest.approx(ci.distribution.quantile(levels), rel=1e-9)
    assert scale * full.std == pytest.approx(ci.distribution.std, rel=1e-9)
    assert ci.estimate == pytest.approx(curve.expected_cost(here))


def test_two_class_bdeltacost_is_the_full_sampling_of_the_paired_comparison():
    joint, fp, fn = np.array([[[300, 25], [10, 65]], [[20, 30], [12, 138]]]), 1.0, 5.0
    n, positive = int(joint.sum()), int(joint[1].sum())
    here = cc.OperatingCondition(prevalence=positive / n, cost_fp=fp, cost_fn=fn)
    options = {"method": "exact", "sampling": "full", "simultaneous": False}
    curve = cc.compare.from_joint(negatives=joint[0], positives=joint[1], pc=[here.pc], **options)
    cmp = cc.bdeltacost.from_joint(joint, [[0, fp], [fn, 0]], method="exact")
    money = (positive * fn + (n - positive) * fp) / n
    assert cmp.estimate == pytest.approx(money * float(curve.estimate[0]))
    # Both ends are whole numbers of cost units over n; the batched quantiles promise 0.015 deviations.
    for ours, theirs in ((cmp.lower, curve.lower[0]), (cmp.upper, curve.upper[0])):
        assert ours == pytest.approx(money * float(theirs), abs=0.015 * cmp.distribution.std)


def test_rounding_does_not_put_an_end_beside_zero():
    rng = np.random.default_rng(728)
    y, a, b = rng.integers(0, 2, (3, 23))
    C = rng.integers(0, 4, (2, 2)) + np.eye(2)
    for factor in (1, 0.1, 1 / 3):
        cmp = cc.bdeltacost(y, a, b, factor * C, method="exact")
        assert cmp.upper == 0
        assert not cmp.significant()
    drawn = cc.bdeltacost(y, a, b, 0.1 * C, method="resample", rng=0, n_resamples=4000)
    assert drawn.p_value == pytest.approx(cmp.p_value, abs=0.03)


def test_priors_of_a_difference_give_the_moments_of_stratified_sampling():
    rng = np.random.default_rng(9)
    y, a, b = rng.integers(0, 3, (3, 200))
    C = np.array([[0, 1, 2], [3, 0, 1], [9, 2, 0]])
    priors = np.array([0.6, 0.3, 0.1])
    cmp = cc.bdeltacost(y, a, b, C, priors=priors, method="exact")
    each = C[y, a] - C[y, b]
    parts = [each[y == t] for t in range(3)]
    assert cmp.estimate == pytest.approx(sum(p * d.mean() for p, d in zip(priors, parts, strict=True)))
    assert cmp.distribution.mean == pytest.approx(cmp.estimate)
    variance = sum(p**2 * d.var() / d.size for p, d in zip(priors, parts, strict=True))
    assert cmp.distribution.std == pytest.approx(math.sqrt(variance))
    spread = cc.bdeltacost(y, a, b, C, priors=priors, priors_size=5, rng=0, method="exact")
    assert spread.upper - spread.lower > cmp.upper - cmp.lower


def test_joint_counts_are_matched_to_the_cost_matrix_by_label():
    rng = np.random.default_rng(10)
    y, a, b = rng.integers(0, 3, (3, 200))
    joint = cc.JointConfusion.from_predictions(y, a, b)
    C = cc.CostMatrix([[0, 1, 2, 4], [3, 0, 1, 4], [9, 2, 0, 4], [1, 1, 1, 0]], labels=[2, 0, 1, "new"])
    one, two = cc.bdeltacost.from_joint(joint, C, method="exact"), cc.bdeltacost(y, a, b, C, method="exact")
    assert (one.estimate, one.lower, one.p_value) == (two.estimate, two.lower, two.p_value)
    single = cc.ConfusionMatrix.from_predictions(y, a)
    assert quiet(cc.bcost.from_confusion, single, C, method="exact").estimate == pytest.approx(
        cc.expected_cost(y, a, C)
    )
    with pytest.raises(cc.DataError, match="`joint` must have only the labels"):
        cc.bdeltacost.from_joint(joint, [[0, 1], [1, 0]], method="exact")
    with pytest.raises(cc.DataError, match="`confusion` must have only the labels"):
        cc.bcost.from_confusion(single, [[0, 1], [1, 0]], method="exact")
