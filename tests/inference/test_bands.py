"""Bands of one classifier: papers' equations, enumeration, degenerate counts, weights, folds, examples."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import costcurves as cc
from costcurves._base.errors import DataError, InputError
from costcurves.inference.bands.error_rates import ErrorRates, order_limits
from costcurves.inference.bands.methods import BAND_METHODS, gaussian_limits
from costcurves.inference.bands.one_curve import (
    between_folds_band,
    cost_band,
    cost_distribution,
    reoptimised_band,
    within_folds_band,
)
from costcurves.inference.example_costs import (
    compare_example_costs,
    example_cost_interval,
    example_distribution,
    incurred_costs,
)
from laws import random_worlds

PC = np.linspace(0, 1, 21)


def test_gaussian_stratified_band_is_equations_4_and_5():
    band = cost_band(16, 20, 4, 10, PC, level=0.9, method="gaussian")
    mean = PC * 0.8 + (1 - PC) * 0.4
    sd = np.sqrt(PC**2 * 0.8 * 0.2 / 20 + (1 - PC) ** 2 * 0.4 * 0.6 / 10)
    np.testing.assert_allclose(band.estimate, mean, rtol=1e-14)
    np.testing.assert_allclose(band.lower, np.clip(mean - 1.6448536269514722 * sd, 0, 1), rtol=1e-12)


def test_gaussian_full_band_has_the_moments_of_whole_resamples():
    # Every resample of 2 positives (1 missed) and 2 negatives (1 false alarm): 4^4 of them.
    pc = Fraction(3, 10)
    values = [pc / 2, Fraction(0), (1 - pc) / 2, Fraction(0)]
    sums = [sum(picked, Fraction(0)) for picked in itertools.product(values, repeat=4)]
    mean = sum(sums) / len(sums)
    variance = sum((s - mean) ** 2 for s in sums) / len(sums)
    band = cost_band(1, 2, 1, 2, [0.3], level=0.5, method="gaussian", sampling="full")
    assert band.estimate[0] == pytest.approx(float(mean), abs=1e-14)
    half = stats.norm.ppf(0.75) * float(variance) ** 0.5
    assert band.upper[0] - band.estimate[0] == pytest.approx(half, abs=1e-12)


def test_exact_band_has_the_quantiles_of_all_resamples():
    pc = 0.3
    a = np.arange(5)
    p, q = stats.binom.pmf(a, 4, 0.25), stats.binom.pmf(a, 4, 0.5)
    cost = np.add.outer(pc * a / 4, (1 - pc) * a / 4).ravel()
    order = np.argsort(cost)
    total = np.cumsum(np.multiply.outer(p, q).ravel()[order])
    band = cost_band(1, 4, 2, 4, [pc], level=0.8, method="exact")
    assert band.lower[0] == pytest.approx(cost[order][np.searchsorted(total, 0.1)])
    assert band.upper[0] == pytest.approx(cost[order][np.searchsorted(total, 0.9)])


@pytest.mark.parametrize("sampling", ["stratified", "full"])
def test_resampled_band_tends_to_the_exact_one(sampling):
    fn, fp = np.linspace(40, 5, 21).round(), np.linspace(2, 60, 21).round()
    exact = cost_band(fn, 100, fp, 120, PC, level=0.9, method="exact", sampling=sampling)
    drawn = cost_band(fn, 100, fp, 120, PC, level=0.9, method="resample", sampling=sampling, n_resamples=20_000, rng=1)
    np.testing.assert_allclose(drawn.lower, exact.lower, atol=0.011)
    np.testing.assert_allclose(drawn.upper, exact.upper, atol=0.011)
    again = cost_band(fn, 100, fp, 120, PC, level=0.9, method="resample", sampling=sampling, n_resamples=20_000, rng=1)
    np.testing.assert_array_equal(drawn.lower, again.lower)


def test_2005_example_band():
    # 16 of 20 positives and 6 of 10 negatives right (section 8); fn = 4, fp = 4.
    resampled = cost_band(4, 20, 4, 10, PC, level=0.9, method="resample", n_resamples=20_000, rng=2)
    exact = cost_band(4, 20, 4, 10, PC, level=0.9, method="exact")
    wilson = cost_band(4, 20, 4, 10, PC, level=0.9)
    assert exact.lower[0] == pytest.approx(0.2)
    assert exact.upper[0] == pytest.approx(0.7)
    assert exact.lower[-1] == pytest.approx(0.05)
    assert exact.upper[-1] == pytest.approx(0.35)
    np.testing.assert_allclose(resampled.lower, exact.lower, atol=0.02)
    # The corrected interval is not around the estimate: it leans away from the border that is near.
    assert wilson.upper[-1] - 0.2 > 0.2 - wilson.lower[-1]


@pytest.mark.parametrize("method", BAND_METHODS)
@pytest.mark.parametrize("sampling", ["stratified", "full"])
@pytest.mark.parametrize("simultaneous", [False, True])
@pytest.mark.parametrize(
    ("fn", "n_pos", "fp", "n_neg"),
    [(0, 20, 0, 20), (20, 20, 20, 20), (0, 1, 1, 1), (1, 1, 0, 1), (0, 1, 3, 500), (20, 20, 0, 20)],
)
def test_degenerate_counts_give_finite_possible_limits(method, sampling, simultaneous, fn, n_pos, fp, n_neg):
    band = cost_band(
        fn,
        n_pos,
        fp,
        n_neg,
        PC,
        method=method,
        sampling=sampling,
        simultaneous=simultaneous,
        n_resamples=50,
        rng=0,
    )
    # With other class frequencies, all cases may be of the class whose errors cost more.
    n = n_pos + n_neg
    most = np.maximum(PC * n / n_pos, (1 - PC) * n / n_neg) if sampling == "full" else 1.0
    for a in (band.estimate, band.lower, band.upper):
        assert np.isfinite(a).all()
        assert ((a >= 0) & (a <= most + 1e-12)).all()
    if method in ("wilson", "gaussian"):
        assert (band.lower <= band.estimate + 1e-12).all()
        assert (band.estimate <= band.upper + 1e-12).all()
    if method == "wilson":
        assert (band.upper > band.lower).all()


@settings(max_examples=60, deadline=None)
@given(
    n_pos=st.integers(1, 3000),
    n_neg=st.integers(1, 3000),
    part=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    level=st.floats(0.5, 0.999),
    laplace=st.sampled_from([0.0, 0.1, 1.0]),
)
def test_bands_nest_in_the_level_and_swap_with_the_classes(n_pos, n_neg, part, level, laplace):
    fn, fp = round(part[0] * n_pos), round(part[1] * n_neg)
    narrow = cost_band(fn, n_pos, fp, n_neg, PC, level=level * 0.9, laplace=laplace)
    wide = cost_band(fn, n_pos, fp, n_neg, PC, level=level, laplace=laplace)
    assert (wide.lower <= narrow.lower + 1e-12).all()
    assert (wide.upper >= narrow.upper - 1e-12).all()
    swapped = cost_band(fp, n_neg, fn, n_pos, PC, level=level, laplace=laplace)
    np.testing.assert_allclose(swapped.lower[::-1], wide.lower, atol=1e-12)


def test_simultaneous_band_holds_the_pointwise_one():
    for fn, fp in ((4, 4), (np.arange(20, -1, -1), np.arange(21))):
        one = cost_band(fn, 40, fp, 40, PC)
        joint = cost_band(fn, 40, fp, 40, PC, simultaneous=True)
        assert joint.critical > one.critical
        assert (joint.lower <= one.lower + 1e-12).all()
        inner = slice(2, -2)
        assert (joint.upper[inner] >= one.upper[inner]).all()


def test_prevalence_uncertainty_adds_its_variance():
    rng = np.random.default_rng(3)
    a, b, n = 6.0, 14.0, 400_000
    p = rng.beta(a, b, n)
    fnr, fpr = rng.binomial(30, 0.3, n) / 30, rng.binomial(50, 0.1, n) / 50
    pc = 0.6
    cost = p / 0.3 * pc * fnr + (1 - p) / 0.7 * (1 - pc) * fpr
    got = cost_band(9, 30, 5, 50, [pc], level=0.9, method="gaussian", prevalence_uncertainty=(a, b))
    sd = (got.upper[0] - got.estimate[0]) / stats.norm.ppf(0.95)
    assert sd == pytest.approx(cost.std(), rel=0.01)
    drawn = cost_band(
        9,
        30,
        5,
        50,
        [pc],
        level=0.9,
        method="resample",
        prevalence_uncertainty=(a, b),
        n_resamples=50_000,
        rng=1,
    )
    np.testing.assert_allclose([drawn.lower[0], drawn.upper[0]], np.quantile(cost, [0.05, 0.95]), atol=0.01)
    wilson = cost_band(9, 30, 5, 50, [pc], level=0.9, prevalence_uncertainty=(a, b))
    plain = cost_band(9, 30, 5, 50, [pc], level=0.9)
    assert wilson.lower[0] < plain.lower[0] < plain.upper[0] < wilson.upper[0]
    nearly = cost_band(9, 30, 5, 50, [pc], level=0.9, prevalence_uncertainty=(6e9, 14e9))
    np.testing.assert_allclose(nearly.upper, plain.upper, atol=1e-4)


def test_equal_weights_change_nothing_and_refuse_resampling():
    plain = cost_band(4, 20, 4, 10, PC)
    weighted = cost_band(4 * 2.5, 20 * 2.5, 4 * 0.1, 10 * 0.1, PC, effective=(20, 10))
    np.testing.assert_allclose(weighted.lower, plain.lower, atol=1e-12)
    for method in ("exact", "resample"):
        with pytest.raises(InputError, match=r"`method` must be 'wilson' or 'gaussian' for weighted data"):
            cost_band(4, 20, 4, 10, PC, effective=(20, 10), method=method)
        with pytest.raises(InputError, match="whole counts"):
            cost_band(4.5, 20, 4, 10, PC, method=method)


def test_laplace_moves_rates_from_the_border():
    band = cost_band(0, 20, 0, 10, [0.0, 1.0], laplace=1.0, method="gaussian")
    np.testing.assert_allclose(band.estimate, [1 / 12, 1 / 22])
    assert (band.upper > band.lower).all()


def test_band_is_a_frozen_result_with_frame_and_json():
    band = cost_band(4, 20, 4, 10, PC)
    assert band.to_frame("pandas").shape == (21, 4)
    assert json.loads(json.dumps(band.to_dict()))["level"] == 0.95
    assert 0.2 in band.at(1.0)
    with pytest.raises(ValueError, match="read-only"):
        band.lower[0] = 0
    with pytest.raises(InputError, match=r"`condition` must have a pc in \[0.2, 0.4\], got 0.5"):
        cost_band(4, 20, 4, 10, [0.2, 0.4]).at(0.5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fn": 21}, r"`fn` must be in \[0, 20.0\], got 21.0 at position 0"),
        ({"n_pos": 0}, "`n_pos` must be > 0, got 0"),
        ({"pc": [0.5, 0.1]}, "`pc` must be increasing"),
        ({"fn": [1, 2]}, "`fn` must be a number or match `pc`"),
        ({"method": "magic"}, "`method` must be one of"),
        ({"method": "exact", "prevalence_uncertainty": (1, 2)}, "`prevalence_uncertainty` must not come with 'exact'"),
        ({"prevalence_uncertainty": (0, 2)}, "`prevalence_uncertainty` must be > 0, got 0"),
    ],
)
def test_broken_arguments_are_named(change, message):
    arguments = {"fn": 4, "n_pos": 20, "fp": 4, "n_neg": 10, "pc": [0.1, 0.5, 0.9], **change}
    with pytest.raises(InputError, match=message):
        cost_band(**arguments)


def test_reoptimised_resamples_are_cheaper_than_the_estimate_on_average():
    rng = np.random.default_rng(5)
    pos, neg = rng.normal(1, 1, 60), rng.normal(-1, 1, 60)
    t = np.sort(np.concatenate([pos, neg, [9.0]]))
    fn, fp = (pos[None] < t[:, None]).sum(1), (neg[None] >= t[:, None]).sum(1)
    band = reoptimised_band(fn, 60, fp, 60, [0.3, 0.5, 0.7], n_resamples=400, rng=0)
    assert ((band.lower <= band.estimate) & (band.estimate <= band.upper)).all()
    assert (band.estimate - band.lower > band.upper - band.estimate - 0.05).all()


def test_fold_bands_answer_two_questions():
    rng = np.random.default_rng(0)
    fn, fp = rng.binomial(50, 0.2, (10, 1)), rng.binomial(50, 0.3, (10, 1))
    costs = 0.5 * fn / 50 + 0.5 * fp / 50
    between = between_folds_band(costs, [0.5], level=0.9)
    oracle = stats.t.interval(0.9, 9, costs.mean(), stats.sem(costs[:, 0]))
    np.testing.assert_allclose([between.lower[0], between.upper[0]], oracle, rtol=1e-12)
    within = within_folds_band(fn, [50] * 10, fp, [50] * 10, [0.5], level=0.9)
    pooled = cost_band(fn.sum(), 500, fp.sum(), 500, [0.5], level=0.9)
    assert within.at(0.5).lower == pytest.approx(pooled.at(0.5).lower, abs=1e-12)
    with pytest.raises(DataError, match="two folds"):
        between_folds_band([[0.1]], [0.5])


@pytest.mark.filterwarnings("ignore::costcurves.SmallSampleWarning")
def test_example_costs_have_the_distribution_of_all_resamples():
    costs = [0.0, 2.0, 2.0, 11.0]
    sums = np.array([sum(p) / 4 for p in itertools.product(costs, repeat=4)])
    dist = example_distribution(costs)
    for x in np.unique(sums):
        assert float(dist.cdf(x)) == pytest.approx(np.mean(sums <= x), abs=1e-13)
    interval = example_cost_interval(costs, level=0.8, method="exact")
    assert interval.lower == pytest.approx(np.quantile(sums, 0.1, method="inverted_cdf"))
    drawn = example_cost_interval(costs, level=0.8, method="resample", n_resamples=5000, rng=0)
    assert drawn.lower == pytest.approx(interval.lower, abs=0.51)


def test_many_different_costs_are_quick_and_gaussian():
    costs = np.random.default_rng(1).lognormal(0, 1, 50_000)
    exact = example_cost_interval(costs, level=0.9, method="exact")
    student = example_cost_interval(costs, level=0.9, method="t")
    weighted = example_cost_interval(costs, level=0.9, method="dirichlet")
    # Resampled t is asked for two fifths of the tails, and moves to the side on which large costs may be missing.
    expanded, wider = example_cost_interval(costs, level=0.9), example_cost_interval(costs, level=0.96, method="t")
    assert wider.lower < expanded.lower < student.lower
    assert wider.upper < expanded.upper < wider.upper + 0.1 * (wider.upper - wider.lower)
    assert weighted.lower == pytest.approx(student.lower, rel=2e-3)
    assert student.upper < weighted.upper < student.upper + 0.2 * (student.upper - student.lower)
    assert exact.lower == pytest.approx(student.lower, rel=2e-3)
    assert exact.upper == pytest.approx(student.upper, rel=2e-3)


@pytest.mark.filterwarnings("ignore::costcurves.SmallSampleWarning")
def test_paired_example_costs():
    rng = np.random.default_rng(2)
    y, fn = rng.random(400) < 0.3, rng.lognormal(2, 0.3, 400)
    good, bad = np.where(rng.random(400) < 0.1, ~y, y), np.where(rng.random(400) < 0.3, ~y, y)
    a, b = (incurred_costs(y, p, 1.0, fn) for p in (good, bad))
    assert compare_example_costs(a, b).significant()
    assert compare_example_costs(a, b).upper < 0
    same = compare_example_costs(a, a)
    assert (same.estimate, same.lower, same.upper, same.p_value) == (0.0, 0.0, 0.0, 1.0)
    student = compare_example_costs(a, b, method="t")
    assert student.p_value == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-9)
    with pytest.raises(DataError, match="`cost_fn` must be in"):
        incurred_costs(y, good, 1.0, -fn)


def test_percentile_limits_are_the_papers_order_statistics():
    samples = np.random.default_rng(0).permutation(np.arange(1.0, 101.0))
    assert [float(x) for x in order_limits(samples, 0.9)] == [5.0, 96.0]  # fifth lowest and highest


@pytest.mark.parametrize("pc", [0.1, 0.5, 0.9])
def test_prevalence_uncertainty_has_the_variance_of_the_product(pc):
    # P is uniform; miss and alarm rates are 1/2 from one draw each: E[X²] over the eight corners' integrals.
    p, w = np.polynomial.legendre.leggauss(20)
    p, w = (p + 1) / 2, w / 2
    mean = second = 0.0
    for miss, alarm in itertools.product((0.0, 1.0), (0.0, 1.0)):
        cost = p / 0.5 * pc * miss + (1 - p) / 0.5 * (1 - pc) * alarm
        mean, second = mean + w @ cost / 4, second + w @ cost**2 / 4
    half = np.array([0.5])
    rates = ErrorRates(np.array([pc]), half, half, 1, 1, "stratified", 0.5, 0.0, (1.0, 1.0))
    lower, upper = gaussian_limits(rates, 1.0, None)
    assert (upper - lower)[0] / 2 == pytest.approx((second - mean**2) ** 0.5, rel=1e-12)


def test_prevalence_uncertainty_under_full_sampling_is_that_of_new_samples():
    # 60 examples from where the prevalence is Beta(3, 5); the test set's own share of positives does not matter.
    rng = np.random.default_rng(4)
    a, b, n, pc, fnr, fpr = 3.0, 5.0, 60, 0.6, 0.3, 0.1
    p = rng.beta(a, b, 400_000)
    positives = rng.binomial(n, p)
    miss, alarm = rng.binomial(positives, fnr), rng.binomial(n - positives, fpr)
    cost = pc / 0.375 * miss / n + (1 - pc) / 0.625 * alarm / n
    options = {"level": 0.9, "sampling": "full", "prevalence_uncertainty": (a, b)}
    gaussian = cost_band(6, 20, 4, 40, [pc], method="gaussian", **options)
    assert gaussian.estimate[0] == pytest.approx(pc * fnr + (1 - pc) * fpr, abs=1e-12)
    assert (gaussian.upper[0] - gaussian.estimate[0]) / stats.norm.ppf(0.95) == pytest.approx(cost.std(), rel=0.01)
    drawn = cost_band(6, 20, 4, 40, [pc], method="resample", n_resamples=50_000, rng=1, **options)
    np.testing.assert_allclose([drawn.lower[0], drawn.upper[0]], np.quantile(cost, [0.05, 0.95]), atol=0.006)
    wilson = cost_band(6, 20, 4, 40, [pc], **options)
    assert (wilson.upper - wilson.lower)[0] == pytest.approx((drawn.upper - drawn.lower)[0], rel=0.15)


def test_a_nearly_certain_prevalence_is_that_of_the_test_set():
    for method in ("wilson", "gaussian"):
        for simultaneous in (False, True):
            options = {"method": method, "sampling": "full", "simultaneous": simultaneous}
            fn, fp = np.arange(20, -1, -1), np.arange(21)
            sure = cost_band(fn, 40, fp, 60, PC, prevalence_uncertainty=(4e9, 6e9), **options)
            plain = cost_band(fn, 40, fp, 60, PC, **options)
            # A simultaneous critical value has the noise of its 1,999 simulated data sets.
            assert sure.critical == pytest.approx(plain.critical, abs=0.15 * simultaneous)
            same = cost_band(fn, 40, fp, 60, PC, critical_value=sure.critical, **options)
            np.testing.assert_allclose(sure.lower, (same if simultaneous else plain).lower, atol=1e-4)
            np.testing.assert_allclose(sure.upper, (same if simultaneous else plain).upper, atol=1e-4)


@pytest.mark.parametrize("sampling", ["stratified", "full"])
def test_all_methods_agree_in_large_samples(sampling):
    n = 4_000_000
    found = [
        cost_band(n // 4, n, n // 3, 2 * n, [0.2, 0.7], method=m, sampling=sampling, level=0.9)
        for m in ("wilson", "gaussian", "exact")
    ]
    sd = (found[1].upper - found[1].estimate) / 1.645
    for band in (found[0], found[2]):
        np.testing.assert_allclose((band.lower - found[1].lower) / sd, 0.0, atol=0.02)
        np.testing.assert_allclose((band.upper - found[1].upper) / sd, 0.0, atol=0.02)


def test_folds_of_unequal_size_have_the_variance_of_their_mean():
    sizes = np.array([100_000, 400_000])
    band = within_folds_band(
        np.array([[20_000], [80_000]]),
        sizes,
        np.array([[0], [0]]),
        sizes,
        [1.0],
        level=0.9,
        method="gaussian",
    )
    sd = np.sqrt((0.2 * 0.8 / sizes).sum()) / 2
    assert band.upper[0] - band.estimate[0] == pytest.approx(stats.norm.ppf(0.95) * sd, rel=1e-9)


@pytest.mark.parametrize("options", [{"sampling": "full"}, {"prevalence_uncertainty": (3.0, 97.0)}])
@pytest.mark.parametrize("method", ["wilson", "gaussian", "resample"])
def test_limits_reach_beyond_one_where_there_may_be_more_expensive_cases(method, options):
    # Three positives of a hundred, all missed, and misses are nearly all of the cost: twice as many cost twice as much.
    band = cost_band(3, 3, 0, 97, [0.95], method=method, n_resamples=2000, rng=1, **options)
    assert band.estimate[0] == pytest.approx(0.95)
    assert 1.3 < band.upper[0] < 0.95 / 0.03
    assert cost_band(3, 3, 0, 97, [0.95], method=method, n_resamples=50, rng=1).upper[0] <= 1


def test_no_limit_is_above_the_cost_of_getting_only_expensive_cases_all_wrong():
    band = cost_band(9, 10, 1, 2, [0.01, 0.5, 0.99], sampling="full", level=0.999)
    np.testing.assert_array_less(band.upper, np.array([0.99 * 6, 0.5 * 6, 0.99 * 1.2]) + 1e-12)
    assert band.with_error(0.001).upper.tolist() == band.upper.tolist()


@pytest.mark.law
def test_full_sampling_covers_the_cost_at_fixed_prices_of_classifiers_near_the_trivial_ones():
    """Prices are fixed and class frequencies are drawn, so that the cost can be above 1 in the units of a test set."""
    for rng in random_worlds(3, stream=611):
        n, share, fnr, fpr, pc = 200, 0.1, rng.uniform(0.9, 0.98), rng.uniform(0.0, 0.02), rng.uniform(0.9, 0.99)
        price = pc / share, (1 - pc) / (1 - share)
        true, held, runs = pc * fnr + (1 - pc) * fpr, 0, 600
        for _ in range(runs):
            positives = max(1, rng.binomial(n, share))
            fn, fp = rng.binomial(positives, fnr), rng.binomial(n - positives, fpr)
            unit = (positives * price[0] + (n - positives) * price[1]) / n
            band = cost_band(fn, positives, fp, n - positives, [positives * price[0] / n / unit], sampling="full")
            held += band.lower[0] * unit <= true <= band.upper[0] * unit
        assert held / runs == pytest.approx(0.95, abs=0.035)


@pytest.mark.law
def test_exact_bands_of_full_sampling_are_the_quantiles_of_all_resamples():
    """Every multinomial outcome of tiny test sets, and `distribution`, which is asked in another way."""
    for rng in random_worlds(12, stream=612):
        n_pos, n_neg = (int(k) for k in rng.integers(1, 9, 2))
        fn, fp = int(rng.integers(0, n_pos + 1)), int(rng.integers(0, n_neg + 1))
        pc, tail, n = float(rng.random()), float(rng.choice([0.025, 0.05, 0.11])), n_pos + n_neg
        outcomes = [(i, j) for i in range(n + 1) for j in range(n + 1 - i)]
        mass = stats.multinomial.pmf([[i, j, n - i - j] for i, j in outcomes], n, [fn / n, fp / n, (n - fn - fp) / n])
        cost = np.array([pc * i / n_pos + (1 - pc) * j / n_neg for i, j in outcomes])
        band = cost_band(fn, n_pos, fp, n_neg, [pc], method="exact", sampling="full", level=1 - 2 * tail)
        below, above = mass[cost < band.lower[0] - 1e-9].sum(), mass[cost > band.upper[0] + 1e-9].sum()
        assert max(below, above) <= tail + 1e-9
        assert mass[cost <= band.lower[0] + 1e-9].sum() > tail - 1e-9
        assert mass[cost >= band.upper[0] - 1e-9].sum() > tail - 1e-9
        found = cost_distribution(fn, fp, n_pos, n_neg, [pc], sampling="full")
        assert found.quantile([tail, 1 - tail]) == pytest.approx([band.lower[0], band.upper[0]], abs=1e-9)


@pytest.mark.parametrize(("fn", "n_pos", "fp", "n_neg", "pc"), [(90, 900, 31, 2100, 0.3), (5, 3000, 700, 5000, 0.77)])
def test_exact_bands_of_full_sampling_are_those_of_many_multinomial_resamples(fn, n_pos, fp, n_neg, pc):
    n = n_pos + n_neg
    draws = np.random.default_rng(3).multinomial(n, [fn / n, fp / n, 1 - (fn + fp) / n], 1_000_000)
    cost = pc * draws[:, 0] / n_pos + (1 - pc) * draws[:, 1] / n_neg
    band = cost_band(fn, n_pos, fp, n_neg, [pc], method="exact", sampling="full", level=0.9)
    found = cost_distribution(fn, fp, n_pos, n_neg, [pc], sampling="full")
    # Four standard errors of a level are 0.0009.
    for at, level in ((band.lower[0], 0.05), (band.upper[0], 0.95)):
        assert np.mean(cost < at - 1e-9) <= level + 0.001
        assert np.mean(cost <= at + 1e-9) >= level - 0.001
        assert float(found.cdf(at)) == pytest.approx(np.mean(cost <= at + 1e-9), abs=0.0025)


def test_costs_of_full_samples_in_units_of_the_larger_cost_are_those_of_all_resamples():
    # Four examples: a miss, a hit, a false alarm and a correct rejection; equations 9 and 10 of the 2008 paper.
    pc, p, n = 0.3, 0.5, 4
    cost_fn, cost_fp = pc / p, (1 - pc) / (1 - p)
    each = np.array([cost_fn, 0.0, cost_fp, 0.0])
    costs = np.array([each[list(drawn)].sum() for drawn in itertools.product(range(n), repeat=n)])
    costs /= n * max(cost_fn, cost_fp)
    roc = cc.RocCurve.from_confusion_matrix([[1, 1], [1, 1]])
    band = cc.CostCurve(roc, policy=cc.thresholds.point(1)).band(method="gaussian", sampling="full", pc=[pc], level=0.9)
    found = band.per_largest_cost(p)
    assert found.estimate[0] == pytest.approx(costs.mean())
    half = 1.6448536269514722 * costs.std()
    expected = [max(costs.mean() - half, 0.0), costs.mean() + half]
    assert [found.lower[0], found.upper[0]] == pytest.approx(expected)
    with pytest.raises(cc.InputError, match="`prevalence` must be in"):
        band.per_largest_cost(1.0)
    rare = band.per_largest_cost(5e-324)  # a miss costs more than a float can hold
    assert [rare.lower[0], rare.estimate[0], rare.upper[0]] == [0.0, 0.0, 0.0]


@pytest.mark.law
def test_a_reoptimised_band_does_not_depend_on_which_class_is_called_positive():
    for rng in random_worlds(10, stream=271):
        n, steps = int(rng.integers(3, 12)), int(rng.integers(3, 6))
        fn = -np.sort(-np.r_[0, rng.integers(0, n + 1, steps), n])
        fp = np.sort(np.r_[0, rng.integers(0, n + 1, steps), n])
        pc, options = np.array([0.2, 0.35, 0.9]), {"n_resamples": 40, "rng": 3}
        one = reoptimised_band(fn, n, fp, n, pc, **options)
        other = reoptimised_band(fp[::-1], n, fn[::-1], n, 1 - pc[::-1], **options)
        np.testing.assert_allclose(other.lower[::-1], one.lower, rtol=0, atol=1e-12)
        np.testing.assert_allclose(other.upper[::-1], one.upper, rtol=0, atol=1e-12)
