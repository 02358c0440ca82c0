"""Bands about the cost on new cases at thresholds that were chosen on the same cases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

import costcurves as cc
from costcurves._base.errors import InputError

POINTS = (0.2, 0.5, 0.8)


def world(seed: int, n: int = 240, shift: float = 1.0, decimals: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) < n // 3
    scores = rng.standard_normal(n) + shift * y
    return y, scores if decimals is None else np.round(scores, decimals)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("decimals", [None, 1])
def test_a_band_says_at_a_condition_what_a_recommendation_of_the_classifier_alone_says(seed, decimals):
    y, scores = world(seed, n=60 + 90 * seed, shift=0.4 + 0.4 * seed, decimals=decimals)
    band = cc.CostCurve.from_predictions(y, scores).band()
    for pc in POINTS:
        told, found = cc.recommend(y, {"a": scores}, pc), band.at(pc)
        if told.best.classifier == "a":
            expected = (told.estimate[0], told.lower[0], told.upper[0])
        else:
            expected = (told.best.normalized_cost,) * 3
        np.testing.assert_allclose((found.estimate, found.lower, found.upper), expected, rtol=1e-10)


def test_true_costs_lie_above_the_limits_no_more_often_than_they_should():
    """Of 160 data sets; with thresholds taken as given, about 10 % lie above where 2.5 % should."""
    above = {None: 0, "wilson": 0}
    for seed in range(160):
        y, scores = world(1000 + seed, n=150)
        curve = cc.CostCurve.from_predictions(y, scores)
        cut = float(curve.threshold_at(0.5))
        truth = 0.5 * norm.cdf(cut - 1) + 0.5 * norm.sf(cut)
        for method in above:
            above[method] += truth > curve.band(pc=0.5, method=method).upper[0]
    assert above[None] <= binom.ppf(0.999, 160, 0.025)
    assert above["wilson"] > binom.ppf(0.999, 160, 0.025)


def test_joint_bands_are_not_exceeded_anywhere_more_often_than_they_should_be():
    """Of 50 data sets; 5 % may be missed, all of them above, because a chosen threshold never looks too expensive."""
    above = 0
    for seed in range(50):
        y, scores = world(3000 + seed, n=150)
        curve = cc.CostCurve.from_predictions(y, scores)
        band = curve.band(simultaneous=True)
        cut = curve.threshold_at(band.pc)
        truth = np.where(
            curve.trivial_at(band.pc),
            np.minimum(band.pc, 1 - band.pc),
            band.pc * norm.cdf(cut - 1) + (1 - band.pc) * norm.sf(cut),
        )
        above += bool((truth > band.upper + 1e-12).any())
    assert above <= binom.ppf(0.999, 50, 0.05)


def test_limits_contain_the_observed_and_the_expected_cost_and_known_costs_have_none():
    y, scores = world(5, shift=0.3)
    curve = cc.CostCurve.from_predictions(y, scores)
    for band in (curve.band(), curve.band(simultaneous=True)):
        observed = curve.evaluate(band.pc)
        assert (band.lower <= observed + 1e-12).all()
        assert (observed <= band.upper + 1e-12).all()
        assert ((band.lower <= band.estimate) & (band.estimate <= band.upper)).all()
        known = curve.trivial_at(band.pc)
        assert known.any()
        assert (band.lower[known] == band.upper[known]).all()
    assert curve.band().method == "chosen"


def test_joint_upper_limits_are_above_those_at_one_point_and_those_that_take_thresholds_as_given():
    y, scores = world(8)
    curve = cc.CostCurve.from_predictions(y, scores)
    joint, each = curve.band(simultaneous=True), curve.band()
    given = curve.band(simultaneous=True, method="wilson")
    assert (joint.upper >= each.upper - 1e-9).all()
    assert (joint.upper >= given.upper - 1e-12).all()
    np.testing.assert_allclose(joint.lower, given.lower)


def test_along_a_curve_limits_differ_from_those_at_one_condition_by_noise_only():
    y, scores = world(11, n=900)
    band = cc.CostCurve.from_predictions(y, scores).band()
    for i in (15, 40, 62, 85):
        exact = band.at(float(band.pc[i]))
        width = exact.upper - exact.lower
        assert abs(band.lower[i] - exact.lower) < 0.06 * width
        assert abs(band.upper[i] - exact.upper) < 0.06 * width
        assert abs(band.estimate[i] - exact.estimate) < 0.06 * width


def test_a_cross_fitted_curve_has_the_same_limits_around_its_own_estimate():
    y, scores = world(3)
    crossfit = cc.CostCurve.from_predictions(y, scores, policy="crossfit")
    found, best = (curve.band().at(0.5) for curve in (crossfit, cc.CostCurve.from_predictions(y, scores)))
    assert (found.lower, found.upper) == (best.lower, best.upper)
    assert found.estimate == pytest.approx(float(crossfit.evaluate(0.5)))


def test_a_curve_of_hull_points_has_nearly_the_same_limits():
    y, scores = world(9, n=600)
    full = cc.RocCurve.from_predictions(y, scores, name="a")
    every, found = (cc.CostCurve(roc).band().at(0.5) for roc in (full, full.on_hull()))
    assert found.lower == pytest.approx(every.lower, rel=0.03)
    assert found.upper == pytest.approx(every.upper, rel=0.03)


def test_equal_weights_change_the_estimate_but_hardly_the_limits():
    y, scores = world(6, n=500)
    plain = cc.CostCurve.from_predictions(y, scores).band().at(0.5)
    weighted = cc.CostCurve.from_predictions(y, scores, sample_weight=np.full(y.size, 0.5)).band().at(0.5)
    assert weighted.lower == pytest.approx(plain.lower, rel=0.02)
    assert weighted.upper == pytest.approx(plain.upper, rel=0.02)


def test_an_uncertain_prevalence_and_full_sampling_widen_the_limits():
    y, scores = world(7)
    curve = cc.CostCurve.from_predictions(y, scores)
    here = cc.OperatingCondition(prevalence=0.25, cost_fp=1, cost_fn=3)
    plain = curve.band().at(here)
    uncertain = curve.band(prevalence_uncertainty=cc.Beta(25, 75)).at(here)
    assert uncertain.lower < plain.lower
    assert uncertain.upper > plain.upper
    assert curve.band(sampling="full").at(0.9).upper > curve.band().at(0.9).upper


def test_bands_refuse():
    y, scores = world(1)
    curve = cc.CostCurve.from_predictions(y, scores)
    with pytest.raises(InputError, match=r"`method` must be .*'chosen'.*'wilson'.* got 'z'"):
        curve.band(method="z")
    with pytest.raises(InputError, match=r"`method` 'chosen' must come with thresholds .* got fixed\(0\.5\)"):
        cc.CostCurve.from_predictions(y, scores, policy=0.5).band(method="chosen")
    with pytest.raises(InputError, match=r"`laplace` must be 0 unless .* got 1"):
        curve.band(laplace=1)
    assert curve.band(laplace=1, method="wilson").method == "wilson"
    assert cc.CostCurve.from_predictions(y, scores, policy=0.5).band().method == "wilson"
