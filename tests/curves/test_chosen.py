"""Comparisons of thresholds that were chosen on the same cases."""

from itertools import product

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

import costcurves as cc
from costcurves.curves.chosen import Told, allowance
from costcurves.inference.optimism import optimism_of
from laws import random_worlds


def expected_optimism(tp, fp, pc):
    """Return the mean over all resamples of two cells a class, with half an example more in each, by enumeration."""
    n_pos, n_neg = tp[-1], fp[-1]
    share_pos, share_neg = (tp[1] + 0.5) / (n_pos + 1), (fp[1] + 0.5) / (n_neg + 1)
    true = [pc, pc * (1 - share_pos) + (1 - pc) * share_neg, 1 - pc]
    total = 0.0
    for i, j in product(range(n_pos + 1), range(n_neg + 1)):
        seen = [pc, pc * (1 - i / n_pos) + (1 - pc) * j / n_neg, 1 - pc]
        best = seen.index(min(seen))
        chance = binom.pmf(i, n_pos, share_pos) * binom.pmf(j, n_neg, share_neg)
        total += chance * (true[best] - seen[best])
    return total


@pytest.mark.parametrize(("tp", "fp", "pc"), [([0, 3, 5], [0, 1, 4], 0.5), ([0, 2, 9], [0, 3, 12], 0.4)])
def test_optimism_is_the_mean_gap_between_the_cost_in_a_resample_and_in_the_data(tp, fp, pc):
    found = optimism_of(np.array(tp, float), np.array(fp, float), np.array([pc]))[0]
    assert found == pytest.approx(expected_optimism(tp, fp, pc), abs=0.012)


def test_few_resamples_find_the_mean_of_many_because_the_points_in_use_explain_them(monkeypatch):
    rng = np.random.default_rng(21)
    y = rng.random(50_000) < 0.3
    hull = cc.RocCurve.from_predictions(y, y + rng.normal(size=y.size)).on_hull()
    tp, fp, pc = hull.tp.astype(float), hull.fp.astype(float), np.array([0.3, 0.5, 0.7])
    found = []
    for k in range(40):
        monkeypatch.setattr("costcurves.inference.optimism.seeded_by", lambda *_, k=k: np.random.default_rng(k))
        found.append(optimism_of(tp, fp, pc))
    gaps = plain_gaps(tp, fp, pc, 4000, rng)
    error = gaps.std(axis=0) / np.sqrt(len(gaps))
    assert (np.abs(np.mean(found, axis=0) - gaps.mean(axis=0)) < 4 * error).all()
    assert (np.std(found, axis=0) < 0.8 * gaps.std(axis=0) / np.sqrt(300)).all()  # less than of 460 plain resamples


def plain_gaps(tp, fp, pc, draws, rng):
    """Return, for each resample, by how much the cheapest point (but the first) is cheaper than it is in the data."""
    shares = [(np.diff(counts) + 0.5) / (np.diff(counts) + 0.5).sum() for counts in (tp, fp)]
    seen = [
        np.cumsum(rng.multinomial(int(n), p, draws), axis=1) / n for n, p in zip((tp[-1], fp[-1]), shares, strict=True)
    ]
    gaps = []
    for weight in pc:
        costs = [weight * (1 - tpr) + (1 - weight) * fpr for tpr, fpr in (map(np.cumsum, shares), seen)]
        best = costs[1].argmin(axis=1)
        gaps.append(costs[0][best] - costs[1][np.arange(draws), best])
    return np.stack(gaps, axis=1)


def test_a_useless_score_is_not_shown_to_beat_a_constant_one():
    said = 0
    for k in range(150):
        rng = np.random.default_rng([18, k])
        y = np.arange(150) < 50
        noise = rng.normal(size=150)
        said += cc.compare(y, noise, np.zeros(150), pc=[0.5], simultaneous=False).p_value[0] <= 0.05
    assert said <= 15  # 8 are expected at the nominal 5 %; with thresholds taken as given it is every fifth


@pytest.mark.parametrize("policy", ["optimal", "crossfit"])
def test_equal_classifiers_are_rarely_called_different(policy):
    said = 0
    for k in range(80):
        rng = np.random.default_rng([19, k])
        y = np.arange(120) < 40
        a, b = y + rng.normal(size=(2, 120))
        said += cc.compare(y, a, b, policy=policy).significant().decided
    assert said <= 9  # more than 9 of 80 have a probability of 1 % at the nominal 5 %


@pytest.mark.law
def test_cross_fitted_limits_hold_the_others_and_their_own_estimate():
    for rng in random_worlds(10, stream=1818):
        y = np.arange(60) < 25
        a, b = rng.normal(y), np.round(rng.normal(y), 1)
        here, fitted = (cc.compare(y, a, b, policy=policy) for policy in ("optimal", "crossfit"))
        assert (fitted.lower <= here.lower).all()
        assert (fitted.upper >= here.upper).all()
        assert (fitted.lower <= fitted.estimate).all()
        assert (fitted.estimate <= fitted.upper).all()
        curves = [cc.CostCurve.from_predictions(y, scores, policy="crossfit") for scores in (a, b)]
        difference = curves[0].evaluate(fitted.pc) - curves[1].evaluate(fitted.pc)
        np.testing.assert_allclose(fitted.estimate, difference, atol=1e-12)
        for one in (here, fitted):
            turned = one.reversed()
            np.testing.assert_array_equal(turned.upper, -one.lower)
            point = cc.compare(y, a, b, pc=one.pc[20:80:7], simultaneous=False, policy="optimal")
            excluded = (point.lower > 0) | (point.upper < 0)
            np.testing.assert_array_equal(point.p_value <= 0.05, excluded)


def test_the_optimism_of_a_curve_that_is_its_own_mirror_image_is_symmetric_in_pc():
    pc, counts = np.array([0.1, 0.3, 0.5]), (np.array([0.0, 7, 10, 10]), np.array([0.0, 0, 3, 10]))
    np.testing.assert_array_equal(optimism_of(*counts, pc), optimism_of(*counts, 1 - pc))


def test_limits_of_weighted_cases_do_not_depend_on_which_class_is_called_positive():
    rng = np.random.default_rng(2)
    y, weight, pc = np.arange(300) < 90, rng.integers(1, 5, 300), np.array([0.2, 0.5, 0.9])
    a, b = np.round(2 * (y + rng.normal(size=(2, 300)))) / 2
    here = cc.compare(y, a, b, pc=pc, sample_weight=weight)
    turned = cc.compare(~y, -a, -b, pc=1 - pc[::-1], sample_weight=0.37 * weight)
    for one, other in ((here.lower, turned.lower), (here.upper, turned.upper)):
        np.testing.assert_allclose(one, other[::-1], atol=1e-9)


def test_thresholds_of_other_cases_leave_the_limits_as_they_are():
    rng = np.random.default_rng(20)
    y = np.arange(100) < 40
    a, b = y + rng.normal(size=(2, 100))
    rules = tuple(cc.thresholds.validation(cc.RocCurve.from_predictions(y, y + rng.normal(size=100))) for _ in "ab")
    assert cc.compare(y, a, b, policy=rules).band.allowed is None
    assert cc.compare(y, a, b).band.allowed is not None


def test_limits_hold_the_difference_of_a_score_from_its_own_rounded_values():
    above = 0
    for k in range(700):
        rng = np.random.default_rng([21, k])
        y = np.arange(2000) < 1000
        score = rng.logistic(1.5 * y)
        rounded = np.round(score)
        curves = [cc.CostCurve.from_predictions(y, one) for one in (score, rounded)]
        fine, coarse = (curve.threshold_at(np.array([0.5]))[0] for curve in curves)
        true = [0.5 * (expit(cut - 1.5) + expit(-cut)) for cut in (fine, np.ceil(coarse) - 0.5)]
        above += true[0] - true[1] > cc.compare(y, score, rounded, pc=[0.5], simultaneous=False).upper[0]
    # Nominally 18. It is 46 if each optimism is only what its own minimum shows.
    assert above <= 27


def test_zeros_that_limits_are_widened_by_have_no_sign():
    nothing = Told(None)
    _, widened = allowance((nothing, nothing), np.array([0.2, 0.5]), np.zeros(2))
    assert not np.signbit(widened).any()
