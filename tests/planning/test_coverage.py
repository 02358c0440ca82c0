"""Coverage against enumeration of every data set and against SciPy's binomials; power curves against `power`."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, optimize, stats

import costcurves as cc
from costcurves.inference.bands.one_curve import cost_band
from laws import random_worlds

JOINT = [[[45, 2], [3, 0]], [[0, 5], [9, 36]]]
COSTS = [[0, 1], [5, 0]]


@pytest.mark.parametrize("method", ["wilson", "gaussian"])
@pytest.mark.parametrize("sampling", ["stratified", "full"])
@pytest.mark.parametrize(("fpr", "tpr"), [(0.2, 0.7), (0.0, 0.5), (0.5, 1.0), (0.0, 1.0)])
def test_coverage_is_the_probability_of_every_pattern_of_errors_whose_band_holds_the_truth(method, sampling, fpr, tpr):
    n_pos, n_neg, pc, level = 4, 3, 0.35, 0.8
    truth = cc.CostCurve(cc.RocCurve.from_rates(fpr, tpr), policy=cc.thresholds.point(1))
    true = pc * (1 - tpr) + (1 - pc) * fpr
    chance = 0.0
    for wrong in itertools.product([0, 1], repeat=n_pos + n_neg):
        fn, fp = sum(wrong[:n_pos]), sum(wrong[n_pos:])
        # The counts themselves: a curve takes a classifier that calls all cases alike for a trivial one.
        band = cost_band(fn, n_pos, fp, n_neg, [pc], level=level, method=method, sampling=sampling)
        if band.lower[0] - 1e-12 <= true <= band.upper[0] + 1e-12:
            chance += math.prod(
                rate if bad else 1 - rate for bad, rate in zip(wrong, [1 - tpr] * n_pos + [fpr] * n_neg, strict=True)
            )
    found = cc.coverage(truth, n_pos=n_pos, n_neg=n_neg, level=level, method=method, sampling=sampling, pc=pc)
    assert found.probability[0] == pytest.approx(chance, abs=1e-11)


def test_coverage_of_many_examples_agrees_with_drawn_test_sets():
    fnr, fpr, pc, draws = 0.15, 0.04, 0.6, 20_000
    truth = cc.CostCurve(cc.RocCurve.from_rates(fpr, 1 - fnr), policy=cc.thresholds.point(1))
    rng = np.random.default_rng(1)
    miss, alarm = rng.binomial(80, fnr, draws) / 80, rng.binomial(120, fpr, draws) / 120
    half = 1.6448536 * np.sqrt(pc**2 * miss * (1 - miss) / 80 + (1 - pc) ** 2 * alarm * (1 - alarm) / 120)
    share = np.mean(np.abs(pc * (miss - fnr) + (1 - pc) * (alarm - fpr)) <= half)
    found = cc.coverage(truth, n_pos=80, n_neg=120, level=0.9, method="gaussian", pc=pc).probability[0]
    assert found == pytest.approx(share, abs=4 * math.sqrt(0.09 / draws))


@pytest.mark.law
@pytest.mark.parametrize("method", ["wilson", "gaussian"])
def test_coverage_of_test_sets_of_random_class_sizes_is_that_of_drawn_ones(method):
    for rng in random_worlds(6, stream=613):
        n = int(rng.choice([12, 40, 300]))
        n_pos = int(rng.integers(1, n))
        fnr, fpr = (float(rng.choice([0.02, 0.5, 0.97, rng.random()])) for _ in range(2))
        share, pc, runs, held, seen = n_pos / n, float(rng.random()), 1500, 0, 0
        price = pc / share, (1 - pc) / (1 - share)
        for positives in rng.binomial(n, share, runs):
            if positives in (0, n):
                continue
            fn, fp = rng.binomial(positives, fnr), rng.binomial(n - positives, fpr)
            unit = (positives * price[0] + (n - positives) * price[1]) / n
            at = [positives * price[0] / n / unit]
            band = cost_band(fn, positives, fp, n - positives, at, method=method, sampling="full")
            true = (pc * fnr + (1 - pc) * fpr) / unit
            held, seen = held + (band.lower[0] - 1e-12 <= true <= band.upper[0] + 1e-12), seen + 1
        truth = cc.CostCurve(cc.RocCurve.from_rates(fpr, 1 - fnr), policy=cc.thresholds.point(1))
        options = {"n_pos": n_pos, "n_neg": n - n_pos, "method": method, "pc": pc}
        found = cc.coverage(truth, **options, sampling="full", test_sets="full").probability[0]
        assert found == pytest.approx(held / seen, abs=4.5 * math.sqrt(max(found * (1 - found), 0.01) / seen))


def test_coverage_counts_test_sets_with_more_errors_than_a_class_has_examples_on_average():
    # Always missing the single expected positive: no one pair of class sizes holds all of these counts.
    truth = cc.CostCurve(cc.RocCurve.from_rates(0.4, 0.0), policy=cc.thresholds.point(1))
    found = cc.coverage(truth, n_pos=1, n_neg=30, pc=[0.5], sampling="full", test_sets="full").probability[0]
    assert 0.9 < found < 1.0
    rates = {"positives": (0.9, 0.0), "negatives": (0.0, 0.5), "n_pos": 2, "n_neg": 30, "pc": [0.5]}
    drawn = cc.difference_coverage(**rates, sampling="full", test_sets="full", n_draws=2000, rng=0).probability[0]
    assert drawn > 0.9


def test_a_curve_is_covered_at_the_thresholds_it_uses():
    roc = cc.RocCurve.from_predictions([0, 0, 1, 1, 0, 1, 1, 0], [0.1, 0.4, 0.35, 0.8, 0.5, 0.45, 0.9, 0.2])
    curve, points = cc.CostCurve(roc), [0.2, 0.5, 0.7]
    found = cc.coverage(roc, n_pos=30, n_neg=30, pc=points)
    for pc, probability in zip(points, found.probability, strict=True):
        step = int(curve.step_at(pc))
        line = cc.CostCurve(cc.RocCurve.from_rates(curve.fpr[step], 1 - curve.fnr[step]), policy=cc.thresholds.point(1))
        assert cc.coverage(line, n_pos=30, n_neg=30, pc=pc).probability[0] == pytest.approx(probability, abs=1e-12)
    assert found.name == "classifier"
    assert cc.coverage(roc, n_pos=3, n_neg=3, pc=0.5, name="truth").name == "truth"


@pytest.mark.parametrize("pc", [0.02, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("shift", [0.75, 3, 5])
def test_binormal_rates_are_those_of_the_cheapest_threshold(shift, pc):
    def cost(t: float) -> float:
        return pc * stats.norm.cdf(t, shift, 3) + (1 - pc) * stats.norm.sf(t, -shift, 3)

    best = optimize.minimize_scalar(cost, bracket=(-1, 1), tol=1e-12)
    fnr, fpr = cc.Binormal(shift, 3).rates(pc)
    assert pc * fnr + (1 - pc) * fpr == pytest.approx(best.fun, abs=1e-10)
    positive = integrate.quad(lambda x: stats.norm.pdf(x, shift, 3), -60, stats.norm.ppf(fnr, shift, 3), limit=200)[0]
    assert positive == pytest.approx(float(fnr), abs=1e-8)
    at_the_ends = cc.Binormal(shift, 3).rates([0.0, 1.0])
    assert [rates.tolist() for rates in at_the_ends] == [[1.0, 0.0], [0.0, 1.0]]


def test_the_gaussian_band_breaks_at_the_ends_and_wilsons_does_not():
    world = cc.Binormal(0.75, 3)
    gaussian, wilson = (
        cc.coverage(world, n_pos=250, n_neg=250, level=0.9, method=method, pc=np.arange(1, 100, 7) / 100)
        for method in ("gaussian", "wilson")
    )
    assert gaussian.worst < 0.01
    assert wilson.worst > 0.875
    assert gaussian.probability[7] == pytest.approx(0.9, abs=0.01)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"truth": 3}, r"`truth` must be a curve or a Binormal, got 3 \(int\)"),
        ({"n_pos": 0}, "`n_pos` must be >= 1, got 0"),
        ({"n_neg": 10**6}, "`n_neg` must be <= 100000"),
        ({"method": "exact"}, "`method` must be one of 'wilson', 'gaussian', got 'exact'"),
        ({"sampling": "some"}, "`sampling` must be one of"),
        ({"pc": [0.5, 0.2]}, "`pc` must be increasing"),
        ({"name": ""}, "`name` must be a non-empty string"),
    ],
)
def test_what_has_no_coverage_is_refused(arguments, message):
    with pytest.raises(cc.InputError, match=message):
        cc.coverage(**{"truth": cc.Binormal(1, 3), "n_pos": 5, "n_neg": 5, "pc": 0.5, **arguments})


def test_a_measured_coverage_can_be_told_as_a_result():
    told = cc.Coverage("mine", [0.1, 0.5], [0.9, 0.93], 0.9, "resample", "full", 1000, 1000)
    assert told.worst == 0.9
    with pytest.raises(cc.InputError, match="`probability` must have one value for each pc, got 1 for 2"):
        cc.Coverage("mine", [0.1, 0.5], [0.9], 0.9, "resample", "full", 1000, 1000)


@pytest.mark.parametrize("varied", [{"n": [50, 100, 700]}, {"n": 300, "difference": [-0.1, 0.0, 0.2]}])
def test_a_power_curve_is_the_power_at_each_point(varied):
    curve = cc.power_curve(JOINT, COSTS, **varied, level=0.9, name="M1")
    over = "difference" if "difference" in varied else "n"
    expected = [cc.power(JOINT, COSTS, **{"n": 0, **varied, over: x}, level=0.9) for x in varied[over]]
    assert curve.over == over
    assert curve.x.tolist() == varied[over]
    assert curve.power.tolist() == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 100}, "one of `n` and `difference` must be a sequence, got 100 and None"),
        ({"n": [1, 2], "difference": [0.1, 0.2]}, "only one of `n` and `difference` must be a sequence"),
        ({"n": [200, 100]}, "`n` must be increasing, with two values or more"),
        ({"n": 10, "difference": [0.1]}, "`difference` must be increasing, with two values or more"),
        ({"n": [1.5, 2]}, "`n` must be a whole number, got 1.5"),
    ],
)
def test_what_is_no_power_curve_is_refused(arguments, message):
    with pytest.raises(cc.InputError, match=message):
        cc.power_curve(JOINT, COSTS, **arguments)


def test_coverage_within_the_range_of_the_scores_is_a_conditional_sum():
    world, n_pos, n_neg, pc = cc.Binormal(1.0, 3.0), 7, 9, 0.2
    found = cc.coverage(
        world, n_pos=n_pos, n_neg=n_neg, level=0.9, method="gaussian", pc=[0.0001, pc], within_scores=True
    )
    assert found.pc.tolist() == [pc]  # at the other, hardly any test set has a score beyond the threshold
    fnr, fpr = (float(rate) for rate in world.rates(pc))
    held = given = 0.0
    for fn in range(n_pos + 1):
        for fp in range(n_neg + 1):
            chance = stats.binom.pmf(fn, n_pos, fnr) * stats.binom.pmf(fp, n_neg, fpr)
            if 0 < n_pos - fn + fp < n_pos + n_neg:
                a, b = fn / n_pos, fp / n_neg
                error = 1.6448536269514722 * np.sqrt(pc**2 * a * (1 - a) / n_pos + (1 - pc) ** 2 * b * (1 - b) / n_neg)
                given += chance
                held += chance * (abs(pc * (a - fnr) + (1 - pc) * (b - fpr)) <= error + 1e-12)
    assert found.probability[0] == pytest.approx(held / given, abs=1e-9)


def test_coverage_after_validation_is_that_of_chosen_thresholds():
    world, n, m, pc, runs = cc.Binormal(1.5, 3.0), 30, 12, np.array([0.2, 0.6]), 4000
    options = {"n_pos": n, "n_neg": n, "level": 0.9, "method": "gaussian", "pc": pc}
    found = cc.coverage(world, validation=(m, m), n_draws=runs, **options)
    # The same by scores alone: thresholds by trying all, and rates of the population by the normal distribution.
    rng = np.random.default_rng(5)
    held = np.zeros(2)
    for _ in range(runs):
        high, low = rng.normal(1.5, 3, m), rng.normal(-1.5, 3, m)
        cuts = np.append(np.sort(np.concatenate([high, low])), np.inf)
        costs = pc * (high < cuts[:, None, None]).mean(axis=2) + (1 - pc) * (low >= cuts[:, None, None]).mean(axis=2)
        # Of several cheapest thresholds, the highest is taken where misses count less.
        chosen = np.array([cuts[np.flatnonzero(c <= c.min() + 1e-12)].max() for c in costs.T])
        fnr, fpr = stats.norm.cdf(chosen, 1.5, 3), stats.norm.sf(chosen, -1.5, 3)
        a, b = rng.binomial(n, fnr) / n, rng.binomial(n, fpr) / n
        error = stats.norm.ppf(0.95) * np.sqrt(pc**2 * a * (1 - a) / n + (1 - pc) ** 2 * b * (1 - b) / n)
        held += np.abs(pc * (a - fnr) + (1 - pc) * (b - fpr)) <= error + 1e-12
    assert np.abs(found.probability - held / runs).max() < 4 * np.sqrt(2 * 0.25 / runs)
    # An endless validation set finds the best thresholds.
    large = cc.coverage(world, validation=(4000, 4000), n_draws=1000, **options)
    assert np.abs(large.probability - cc.coverage(world, **options).probability).max() < 0.06
    for wrong in ({"validation": (0, 3)}, {"validation": (3, 3), "within_scores": True}):
        with pytest.raises(cc.InputError, match=r"`validation` must|`within_scores` must"):
            cc.coverage(world, **options, **wrong)
    with pytest.raises(cc.InputError, match="`validation` must come with a Binormal"):
        cc.coverage(cc.RocCurve.from_rates(0.1, 0.6), validation=(5, 5), **options)
