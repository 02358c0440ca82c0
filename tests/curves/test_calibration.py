"""Calibration equals that of scikit-learn, on any scores and weights, and its limits are those of a share."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve

import costcurves as cc
from laws import random_worlds


def calibrated(y, p, bins, **options):
    return cc.CostCurve(cc.RocCurve.from_predictions(y, p, **options), policy="bayes").calibration(bins)


@pytest.mark.law
def test_bins_are_those_of_scikit_learn():
    for rng in random_worlds(30, stream=2718):
        n, bins = int(rng.integers(4, 300)), int(rng.integers(1, 15))
        y = rng.random(n) < rng.random()
        y[:2] = True, False
        p = np.round(rng.beta(1, 2, n), int(rng.integers(1, 4)))  # ties, and scores on edges
        found = calibrated(y, p, bins)
        share, score = calibration_curve(y, p, n_bins=bins)
        assert found.share == pytest.approx(share)
        assert found.score == pytest.approx(score)
        assert found.count.sum() == n
        at = int(rng.integers(found.share.size))
        if found.count[at] > 4:
            k = round(float(found.share[at] * found.count[at]))
            wilson = binomtest(k, round(float(found.count[at]))).proportion_ci(0.95, method="wilson")
            if 1 < k < found.count[at] - 1:
                assert (found.lower[at], found.upper[at]) == pytest.approx((wilson.low, wilson.high))
        edges = np.unique(np.concatenate([[0, 1], np.quantile(p, np.linspace(0, 1, bins + 1)[1:-1])]))
        by_rank = calibrated(y, p, edges)
        inside = np.searchsorted(edges[1:-1], p)
        assert by_rank.share == pytest.approx([y[inside == i].mean() for i in np.unique(inside)])


def test_a_weight_of_two_counts_as_two_cases_and_limits_follow_the_effective_size():
    rng = np.random.default_rng(4)
    p = rng.random(200)
    y = rng.random(200) < p
    w = rng.integers(1, 4, 200)
    weighted, repeated = calibrated(y, p, 5, sample_weight=w.astype(float)), calibrated(y.repeat(w), p.repeat(w), 5)
    for field in ("share", "score", "count"):
        assert getattr(weighted, field) == pytest.approx(getattr(repeated, field))
    assert (weighted.upper - weighted.lower > repeated.upper - repeated.lower).all()
    assert weighted.error == pytest.approx(np.average(np.abs(weighted.share - weighted.score), weights=weighted.count))


@pytest.mark.parametrize(
    ("scores", "bins", "message"),
    [
        ([0.1, 0.2], 0, "`bins` must be"),
        ([0.1, 0.2], [[0, 1], [2]], r"`bins` must be numeric, got \[\[0, 1\], \[2\]\]"),
        ([0.1, 0.2], [0, 0.5], "`bins` must be an integer or increasing edges from 0 to 1"),
        ([0.1, 0.2], [0, 0.5, 0.5, 1], "`bins` must be an integer or increasing edges from 0 to 1"),
    ],
)
def test_bad_bins_are_refused(scores, bins, message):
    with pytest.raises(cc.InputError, match=message):
        calibrated([0, 1], scores, bins)


def test_only_probabilities_have_a_calibration():
    with pytest.raises(cc.InputError, match=r"\[0, 1\]"):
        calibrated([0, 1], [1, 3], 10)
    rates = cc.RocCurve.from_rates([0, 0.1, 1], [0, 0.6, 1], thresholds=[np.inf, 0.5, 0.1])
    with pytest.raises(cc.UnsupportedError, match="needs the scores of counted cases"):
        cc.CostCurve(rates, policy=cc.thresholds.bayes(0.3)).calibration()
    with pytest.raises(cc.UnsupportedError, match="`calibration` needs policy='bayes'"):
        cc.CostCurve(cc.RocCurve.from_predictions([0, 1], [0.1, 0.3])).calibration()
