"""Differences of classifiers that were judged on different test sets: enumeration, formulas, laws, coverage."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

import costcurves as cc
from costcurves.inference.rates import critical
from costcurves.inference.unpaired import Judged, unpaired_band
from laws import random_worlds

REVERSED = slice(None, None, -1)


def judged(fn, n_pos, fp, n_neg, points=1, **more):
    return Judged.of(fn, n_pos, fp, n_neg, points, **more)


def every_outcome(rates, sizes):
    """Return all counts of independent binomials, and their probabilities."""
    counts = np.array(list(itertools.product(*(range(n + 1) for n in sizes))))
    return counts, np.prod([stats.binom.pmf(k, n, r) for k, n, r in zip(counts.T, sizes, rates, strict=True)], axis=0)


def test_the_gaussian_band_has_the_sum_of_four_binomial_variances():
    pc, (a, b) = np.array([0.3]), ((3, 17, 5, 40), (6, 25, 2, 11))
    band = unpaired_band((judged(*a), judged(*b)), pc, method="gaussian", level=0.9)
    variance = sum(
        w**2 * stats.binom(n, k / n).var() / n**2 for c in (a, b) for w, k, n in ((0.3, *c[:2]), (0.7, *c[2:]))
    )
    difference = 0.3 * (3 / 17 - 6 / 25) + 0.7 * (5 / 40 - 2 / 11)
    np.testing.assert_allclose(band.estimate, difference)
    np.testing.assert_allclose([band.lower[0], band.upper[0]], stats.norm(difference, variance**0.5).interval(0.9))
    np.testing.assert_allclose(band.p_values_at(pc), 2 * stats.norm.sf(abs(difference) / variance**0.5), rtol=1e-6)


def test_exact_limits_are_quantiles_of_all_resamples():
    a, b, w = (2, 5, 1, 4), (1, 3, 3, 6), 0.4
    sizes = (a[1], a[3], b[1], b[3])
    counts, chance = every_outcome((2 / 5, 1 / 4, 1 / 3, 3 / 6), sizes)
    rates = counts / sizes
    value = w * (rates[:, 0] - rates[:, 2]) + (1 - w) * (rates[:, 1] - rates[:, 3])
    order = np.argsort(value)
    value, below = value[order], np.cumsum(chance[order])
    band = unpaired_band((judged(*a), judged(*b)), [w], method="exact", level=0.9)
    assert band.lower[0] == pytest.approx(value[np.searchsorted(below, 0.05)], abs=1e-9)
    assert band.upper[0] == pytest.approx(value[np.searchsorted(below, 0.95)], abs=1e-9)
    tails = [chance[order][value <= 1e-12].sum(), chance[order][value >= -1e-12].sum()]
    assert band.p_values_at([w])[0] == pytest.approx(min(1, 2 * min(tails)), abs=1e-9)


@pytest.mark.parametrize("rates", [(0.05, 0.3, 0.1, 0.2), (0.0, 0.02, 0.5, 0.02), (0.3, 0.3, 0.3, 0.3)])
def test_pointwise_limits_hold_their_level_in_tiny_and_unequal_test_sets(rates):
    sizes, pc = (6, 9, 12, 5), np.array([0.0, 0.25, 0.6, 1.0])
    counts, chance = every_outcome(rates, sizes)
    counts, chance = counts[chance > 1e-9], chance[chance > 1e-9]
    true = pc * (rates[0] - rates[2]) + (1 - pc) * (rates[1] - rates[3])
    for j, w in enumerate(pc):
        fn_a, fp_a, fn_b, fp_b = counts.T
        pair = (judged(fn_a, 6, fp_a, 9, len(counts)), judged(fn_b, 12, fp_b, 5, len(counts)))
        band = unpaired_band(pair, np.full(len(counts), w), level=0.9)
        assert chance[(band.lower <= true[j]) & (true[j] <= band.upper)].sum() >= 0.895


def random_pair(rng, points):
    pair = []
    for _ in range(2):
        n, m = (int(k) for k in rng.integers(2, 40, 2))
        fn, fp = np.sort(rng.integers(0, n + 1, points))[REVERSED], np.sort(rng.integers(0, m + 1, points))
        known = (fn == n) & (fp == 0)
        pair.append(judged(fn, n, fp, m, points, known=known))
    return tuple(pair)


@pytest.mark.law
@pytest.mark.parametrize("simultaneous", [False, True])
def test_the_order_of_classifiers_and_of_classes_does_not_matter(simultaneous):
    for rng in random_worlds(6, stream=2610):
        pc = np.sort(rng.random(8))
        pair = random_pair(rng, pc.size)
        band = unpaired_band(pair, pc, simultaneous=simultaneous)
        other = unpaired_band(pair[::-1], pc, simultaneous=simultaneous)
        assert other.critical == band.critical
        assert np.array_equal(other.lower, -band.upper)
        assert np.array_equal(band.reversed().lower, other.lower)
        np.testing.assert_allclose(other.p_values_at(pc), band.p_values_at(pc), rtol=1e-9)
        turned = unpaired_band(tuple(j.other_class() for j in pair), (1 - pc)[REVERSED], simultaneous=simultaneous)
        np.testing.assert_allclose(turned.lower[REVERSED], band.lower, rtol=0, atol=1e-12)
        p, out = band.p_values_at(pc), (band.lower > 0) | (band.upper < 0)
        if not simultaneous:
            told = np.abs(p - 0.05) > 1e-6
            assert np.array_equal(out[told], (p <= 0.05)[told])


def test_a_known_cost_has_no_uncertainty():
    pc = np.array([0.2, 0.8])
    never = judged(10, 10, 0, 7, 2, known=True)
    band = unpaired_band((never, judged(0, 20, 20, 20, 2, known=True)), pc, simultaneous=True)
    assert np.array_equal(band.lower, band.upper)
    assert band.p_values_at(pc).tolist() == [0.0, 0.0]
    one = unpaired_band((judged(3, 10, 2, 8, 2), never), pc)
    alone = unpaired_band((judged(3, 10, 2, 8, 2), judged(30000, 30000, 0, 70000, 2)), pc)
    np.testing.assert_allclose(one.lower, alone.lower, atol=1e-3)


def test_the_same_errors_on_the_same_cases_have_narrower_limits():
    rng = np.random.default_rng(3)
    y = rng.random(300) < 0.4
    scores = {name: y + rng.normal(0, 0.8, 300) for name in "ab"}
    scores["b"] = 0.9 * scores["a"] + 0.1 * scores["b"]
    curves = [cc.CostCurve.from_predictions(y, s, name=name) for name, s in scores.items()]
    unpaired, paired = cc.compare.from_curves(*curves), cc.compare(y, scores["a"], scores["b"])
    np.testing.assert_allclose(unpaired.estimate, paired.estimate, atol=1e-12)
    assert np.mean(unpaired.upper - unpaired.lower) > 1.5 * np.mean(paired.upper - paired.lower)
    at = unpaired.at(0.333)
    assert at.lower < at.estimate < at.upper
    assert unpaired.reversed().at(0.333).upper == -at.lower
    assert not unpaired.significant().decided


def test_joint_limits_of_moving_thresholds_cover_about_as_often_as_they_say():
    rng, pc, mu = np.random.default_rng(11), np.linspace(0.05, 0.95, 19), 2.0
    cut = mu / 2 + np.log((1 - pc) / pc) / mu
    kept, runs = 0, 60

    def test_set(n, m):
        pos, neg = np.sort(rng.normal(mu, 1, n)), np.sort(rng.normal(0, 1, m))
        return judged(np.searchsorted(pos, cut), n, m - np.searchsorted(neg, cut), m, pc.size)

    for _ in range(runs):
        band = unpaired_band((test_set(25, 60), test_set(40, 20)), pc, simultaneous=True, level=0.8)
        assert band.critical > critical(0.8)
        kept += bool(((band.lower <= 0) & (band.upper >= 0)).all())
    assert stats.binomtest(kept, runs, 0.8, alternative="less").pvalue > 1e-3


def test_weights_count_by_their_effective_size_and_bad_calls_are_refused():
    roc = cc.RocCurve.from_predictions([0, 1] * 30, np.arange(60) % 7, sample_weight=[1.0, 3.0] * 30, name="w")
    plain = cc.RocCurve.from_predictions([0, 1] * 30, np.arange(60) % 7, name="p")
    twice = cc.compare.from_curves(cc.CostCurve(roc, 3.0), cc.CostCurve(plain, 3.0), pc=[0.5])
    assert twice.estimate[0] == pytest.approx(0)
    for bad, match in ((plain, "`a` must be a CostCurve"), (cc.CostCurve(cc.RocCurve.from_rates(0.1, 0.5)), "counts")):
        with pytest.raises(cc.CostCurvesError, match=match):
            cc.compare.from_curves(bad, cc.CostCurve(plain))
    with pytest.raises(cc.InputError, match="names"):
        cc.compare.from_curves(cc.CostCurve(plain), cc.CostCurve(plain))
    with pytest.raises(cc.InputError, match="method"):
        cc.compare.from_curves(cc.CostCurve(roc), cc.CostCurve(plain), method="score")
    uneven = cc.RocCurve.from_predictions([0, 1] * 30, np.arange(60) % 7, sample_weight=np.arange(1, 61), name="u")
    with pytest.raises(cc.InputError, match="whole counts"):
        cc.compare.from_curves(cc.CostCurve(uneven), cc.CostCurve(plain), method="exact")


def test_exact_limits_are_quantiles_of_the_distribution_that_has_the_p_value():
    y = [0] * 10 + [1] * 10
    first = cc.CostCurve.from_predictions(y, [0] * 10 + [1] * 10, policy=0.5, name="a")
    second = cc.CostCurve.from_predictions(y, [0] * 10 + [1] * 7 + [0] * 3, policy=0.5, name="b")
    found = cc.compare.from_curves(first, second, method="exact", simultaneous=False, pc=[0.5, 0.9])
    assert found.p_value.min() > 0.05
    assert found.upper.tolist() == [0.0, 0.0]
    assert found.distribution(0.9).quantile(0.975) == 0.0
