"""Where everybody is predicted to be of the same class, whatever the score, the cost is known, and all say so."""

from __future__ import annotations

import numpy as np
import pytest

import costcurves as cc
from laws import FUZZ_SEED, random_worlds

METHODS = ("wilson", "gaussian", "exact", "resample")


def random_curve(rng):
    """Return the optimal cost curve of a confusion matrix or of scores with many ties."""
    if rng.random() < 0.5:
        table = rng.integers(0, 8, (2, 2)) + np.eye(2, dtype=int)
        return cc.CostCurve(cc.RocCurve.from_confusion_matrix(table))
    n = int(rng.integers(4, 30))
    y = np.append([0, 1], rng.integers(0, 2, n))
    return cc.CostCurve.from_predictions(y, np.round(y + rng.normal(0, 1.5, n + 2)))


def trivial_cost(curve, pc):
    """Return the known costs: pc below the first break where nobody is called positive, 1 - pc where everybody is."""
    fpr, fnr = curve.fpr[curve.step_at(pc)], curve.fnr[curve.step_at(pc)]
    nobody, everybody = (fpr == 0) & (fnr == 1), (fpr == 1) & (fnr == 0)
    return np.where(nobody, pc, np.where(everybody, 1 - pc, np.nan))


@pytest.mark.law
@pytest.mark.parametrize("method", METHODS)
def test_every_band_is_exact_where_the_policy_needs_no_score(method):
    seen = 0
    for rng in random_worlds(25, stream=401):
        curve = random_curve(rng)
        pc = np.unique(np.concatenate([[0.001, 0.02, 0.98, 0.999], rng.random(6)]))
        cost = trivial_cost(curve, pc)
        known = np.isfinite(cost)
        assert np.array_equal(curve.trivial_at(pc), known)
        options = {
            "sampling": str(rng.choice(["stratified", "full"])),
            "laplace": float(rng.choice([0.0, 0.5])),
            "simultaneous": bool(rng.random() < 0.3),
            "level": float(rng.uniform(0.5, 0.99)),
        }
        band = curve.band(method=method, pc=pc, n_resamples=20, rng=0, **options)
        for found in (band.estimate, band.lower, band.upper):
            np.testing.assert_allclose(found[known], cost[known], rtol=0, atol=1e-15)
        for at in pc[known][:1]:
            one = band.at(float(at))
            assert one.lower == one.estimate == one.upper
            del options["simultaneous"], options["level"]
            dist = curve.distribution(float(at), **options)
            assert dist.std == 0
            assert dist.quantile([0.0, 0.5, 1.0]) == pytest.approx([one.estimate] * 3, abs=1e-15)
            assert cc.coverage(curve, n_pos=4, n_neg=3, pc=[float(at)]).worst == 1.0
        seen += int(known.sum())
    assert FUZZ_SEED is not None or seen > 40


def test_the_confusion_matrix_of_2005_is_not_in_doubt_where_it_is_not_used():
    curve = cc.CostCurve(cc.RocCurve.from_confusion_matrix([[6, 4], [4, 16]]))
    for method in METHODS:
        one = curve.band(level=0.9, method=method).at(0.05)
        assert (one.lower, one.estimate, one.upper) == (0.05, 0.05, 0.05)


def test_a_threshold_that_raises_no_alarm_here_may_raise_one_elsewhere():
    y, s = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    high = cc.CostCurve.from_predictions(y, s, policy=0.9)
    assert not high.trivial_at(0.5)
    assert high.band().at(0.5).lower < 0.5 < high.band().at(0.5).upper
    low = cc.CostCurve.from_predictions(y, s, policy=0.1)
    assert not low.trivial_at(0.5)
    bayes = cc.CostCurve.from_predictions(y, s, policy="bayes")
    assert not bayes.trivial_at([0.01, 0.99]).any()
    # Nor are they known in a comparison.
    other = [0.2, 0.1, 0.3, 0.6]
    one = cc.compare(y, s, other, policy=0.9).at(0.5)
    assert one.estimate == 0
    assert one.lower < 0 < one.upper


def test_an_uncertain_prevalence_leaves_only_its_own_uncertainty():
    curve = cc.CostCurve(cc.RocCurve.from_confusion_matrix([[6, 4], [4, 16]]))
    prevalence = cc.Beta(3, 7)
    from scipy.stats import beta

    expected = 0.05 * beta(3, 7).ppf([0.025, 0.975]) / 0.3  # always negative misses each positive
    for method in ("wilson", "gaussian", "resample"):
        for sampling in ("stratified", "full"):
            band = curve.band(
                method=method, sampling=sampling, prevalence_uncertainty=prevalence, n_resamples=20, rng=0
            )
            assert [band.at(0.05).lower, band.at(0.05).upper] == pytest.approx(expected, abs=1e-12)


@pytest.mark.law
@pytest.mark.parametrize("method", ["mid-p", "gaussian", "exact", "resample"])
def test_two_classifiers_that_need_no_score_do_not_differ_or_differ_as_known(method):
    for rng in random_worlds(10, stream=402):
        n = int(rng.integers(6, 30))
        y = np.append([0, 1], rng.integers(0, 2, n))
        a, b = (np.round(y + rng.normal(0, 1.5, n + 2)) for _ in range(2))
        curves = [cc.CostCurve.from_predictions(y, s, name=name) for name, s in (("a", a), ("b", b))]
        pc = np.unique(np.concatenate([[0.001, 0.05, 0.95, 0.999], rng.random(5)]))
        costs = [trivial_cost(curve, pc) for curve in curves]
        known = np.isfinite(costs[0]) & np.isfinite(costs[1])
        sampling = str(rng.choice(["stratified", "full"]))
        diff = cc.compare(y, a, b, pc=pc, method=method, sampling=sampling, n_resamples=20, rng=0)
        tally = cc.PairedTally(*curves, pc=pc).update(y, a, b)
        again = (
            type(tally)
            .from_bytes(tally.to_bytes())
            .to_difference(method=method, sampling=sampling, n_resamples=20, rng=0)
        )
        for found in (diff.estimate, diff.lower, diff.upper, again.lower, again.upper):
            np.testing.assert_allclose(found[known], (costs[0] - costs[1])[known], rtol=0, atol=1e-15)
        p = diff.p_value
        assert (p[known & (costs[0] == costs[1])] == 1).all()
        assert (p[known & (costs[0] != costs[1])] == 0).all()


def test_folds_that_need_no_score_have_a_known_mean():
    tables = [[[80, 20], [5, 15]], [[90, 10], [8, 12]]]
    folds = [cc.RocCurve.from_confusion_matrix(table) for table in tables]
    one = cc.average_band(folds, given_choice=True).at(0.02)
    assert (one.lower, one.upper) == (0.02, 0.02)
