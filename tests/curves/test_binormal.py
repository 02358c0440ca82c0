"""Binormal fits: two points are met exactly, known worlds are found, and no other curve is more likely."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import linregress

import costcurves as cc


def test_three_categories_are_fitted_exactly():
    rng = np.random.default_rng(1)
    for _ in range(10):
        y = np.repeat([0, 1], [200, 150])
        high, low = (rng.choice([0, 1, 2], y.size, p=p) for p in ([0.2, 0.3, 0.5], [0.5, 0.3, 0.2]))
        s = np.where(y == 1, high, low)
        roc = cc.RocCurve.from_predictions(y, s)
        fpr, tpr = roc.fpr[1:-1], roc.tpr[1:-1]
        b = np.diff(ndtri(tpr))[0] / np.diff(ndtri(fpr))[0]
        for method in ("likelihood", "least squares"):
            fit = cc.fit_binormal(roc, method=method)
            np.testing.assert_allclose(fit.tpr_at(fpr), tpr, rtol=1e-9)
            assert fit.b == pytest.approx(b, rel=1e-9)


def test_known_worlds_are_found():
    rng = np.random.default_rng(2)
    for mean, spread in ((1.0, 1.0), (2.0, 1.5), (1.2, 0.7)):
        y = np.arange(20000) % 2 == 0
        roc = cc.RocCurve.from_predictions(y, np.where(y, rng.normal(mean, spread, y.size), rng.normal(0, 1, y.size)))
        for method in ("likelihood", "least squares"):
            fit = cc.fit_binormal(roc, method=method)
            assert fit.a == pytest.approx(mean / spread, abs=0.08)
            assert fit.b == pytest.approx(1 / spread, abs=0.08)
            assert fit.auc() == pytest.approx(roc.auc(), abs=0.01)
            assert fit.to_roc_curve(2001).auc() == pytest.approx(fit.auc(), abs=1e-3)


def test_the_likelihood_is_largest_at_the_fit():
    # With four categories and given cuts, the likelihood of all a and b on a grid is nowhere above that of the fit.
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [80, 60])
    s = (y + rng.normal(0, 1, y.size)).round().clip(-1, 2)
    roc = cc.RocCurve.from_predictions(y, s)
    fit = cc.fit_binormal(roc)

    def log_likelihood(a, b):
        from scipy.optimize import minimize
        from scipy.stats import norm

        counts = [np.array([(s[y == k] == v).sum() for v in (2, 1, 0, -1)]) for k in (0, 1)]

        def loss(cuts):
            at = np.sort(cuts)
            shares = [np.diff(np.concatenate([[0], norm.cdf(z), [1]])) for z in (at, a + b * at)]
            return -sum(c @ np.log(np.maximum(p, 1e-12)) for c, p in zip(counts, shares, strict=True))

        start = ndtri(np.array([0.1, 0.4, 0.8]))
        exactly = {"xatol": 1e-7, "fatol": 1e-9, "maxiter": 4000}
        return -minimize(loss, start, method="Nelder-Mead", options=exactly).fun

    best = log_likelihood(fit.a, fit.b)
    for da in (-0.1, 0, 0.1):
        for db in (-0.1, 0, 0.1):
            if da or db:
                assert log_likelihood(fit.a + da, fit.b + db) < best


def test_least_squares_is_the_line_on_normal_deviate_axes():
    roc = cc.RocCurve.from_rates([0.05, 0.1, 0.3, 0.7], [0.3, 0.55, 0.7, 0.95], name="r")
    line = linregress(ndtri(roc.fpr[1:-1]), ndtri(roc.tpr[1:-1]))
    fit = cc.fit_binormal(roc, method="least squares")
    assert (fit.a, fit.b) == pytest.approx((line.intercept, line.slope))


def test_fits_refuse():
    with pytest.raises(cc.DataError, match="two or more rates"):
        cc.fit_binormal(cc.RocCurve.from_confusion_matrix([[6, 4], [4, 16]]))
    with pytest.raises(cc.InputError, match="'least squares'"):
        cc.fit_binormal(cc.RocCurve.from_rates([0.1, 0.3], [0.4, 0.8]))
    with pytest.raises(cc.InputError, match="`curve` must be a RocCurve"):
        cc.fit_binormal(3)
    with pytest.raises(cc.InputError, match="`method` must be"):
        cc.fit_binormal(cc.RocCurve.from_rates([0.1, 0.3], [0.4, 0.8]), method="eye")
