"""Critical values against numerical integration and simulation of the bands themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from costcurves.errors import InputError
from costcurves.inference.bands import cost_band
from costcurves.inference.intervals import critical
from costcurves.inference.simultaneous import (
    curve_covariance,
    line_coverage,
    line_critical,
    nested_covariance,
    process_critical,
)


@pytest.mark.parametrize("c", [0.5, 1.645, 2.3516, 3.5])
def test_whole_range_has_the_closed_form(c):
    by_hand = 0.5 * (1 - math.exp(-c * c / 2)) + 0.5 * (2 * stats.norm.cdf(c) - 1) ** 2
    assert line_coverage(c) == pytest.approx(by_hand, abs=1e-12)
    assert line_coverage(c, angle=0.0) == pytest.approx(2 * stats.norm.cdf(c) - 1, abs=1e-12)


@pytest.mark.parametrize(("low", "high", "sd_pos", "sd_neg"), [(0, 1, 1, 1), (0.2, 0.6, 1, 3), (0.5, 1, 2, 0.5)])
def test_line_critical_value_covers_simulated_projections(low, high, sd_pos, sd_neg):
    c = line_critical(0.9, (low, high), sd_pos=sd_pos, sd_neg=sd_neg)
    x, y = np.random.default_rng(2).standard_normal((2, 200_000))
    top = np.zeros(x.size)
    for pc in np.linspace(low, high, 101):
        a, b = pc * sd_pos, (1 - pc) * sd_neg
        np.maximum(top, np.abs(a * x + b * y) / math.hypot(a, b), out=top)
    assert np.mean(top <= c) == pytest.approx(0.9, abs=0.003)


def test_critical_value_grows_with_the_range():
    values = [line_critical(0.95, (0.5 - w, 0.5 + w)) for w in (0.0, 0.1, 0.3, 0.5)]
    assert values == sorted(values)
    assert values[0] == pytest.approx(critical(0.95), abs=1e-9)
    assert values[-1] == pytest.approx(2.3516, abs=5e-5)
    assert line_critical(0.95, sd_pos=0.0) == pytest.approx(critical(0.95), abs=1e-9)


def test_process_of_a_line_has_the_closed_form_value():
    pc = np.linspace(0, 1, 1001)
    c = process_critical(curve_covariance(0 * pc + 0.2, 0 * pc + 0.3, pc, 100, 50), 0.95)
    assert c == pytest.approx(line_critical(0.95), abs=0.03)


def test_nested_covariance_is_that_of_indicators():
    u = np.random.default_rng(0).random((20_000, 50))
    rates = np.stack([(u < r).mean(axis=1) for r in (0.1, 0.4, 0.7)])
    np.testing.assert_allclose(np.cov(rates), nested_covariance([0.1, 0.4, 0.7], 50), atol=1.2e-4)


def test_full_sampling_covariance_is_that_of_whole_samples():
    rng = np.random.default_rng(1)
    n, share, pc = 60, 1 / 3, np.array([0.2, 0.7])
    fnr, fpr = np.array([0.5, 0.2]), np.array([0.1, 0.4])
    positive, u = rng.random((30_000, n)) < share, rng.random((30_000, n))
    cost = np.stack(
        [
            (pc[j] / share * (positive & (u < fnr[j])) + (1 - pc[j]) / (1 - share) * (~positive & (u < fpr[j]))).mean(
                axis=1
            )
            for j in range(2)
        ]
    )
    np.testing.assert_allclose(np.cov(cost), curve_covariance(fnr, fpr, pc, 20, 40, sampling="full"), rtol=0.05)


def test_process_without_variance_falls_back_to_one_point():
    assert process_critical(np.zeros((3, 3)), 0.9) == critical(0.9)
    with pytest.raises(InputError, match="square"):
        process_critical(np.zeros((3, 2)), 0.9)


PC = np.arange(1, 100) / 100


def binormal(mu: float, moving: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    t = 9 * np.log((1 - PC) / PC) / (2 * mu) if moving else np.zeros(99)
    return t, stats.norm.cdf(t, mu, 3), stats.norm.sf(t, -mu, 3)


def joint_coverage(n: int, moving: bool, runs: int, seed: int, method: str = "wilson", **options) -> float:
    """Return how often a simultaneous 95 % band holds the true curve at all of 99 points."""
    rng = np.random.default_rng(seed)
    t, fnr, fpr = binormal(2.0, moving)
    true = PC * fnr + (1 - PC) * fpr
    held = 0
    for _ in range(runs):
        pos, neg = np.sort(rng.normal(2, 3, n)), np.sort(rng.normal(-2, 3, n))
        fn, fp = np.searchsorted(pos, t), n - np.searchsorted(neg, t)
        band = cost_band(fn, n, fp, n, PC, level=0.95, method=method, simultaneous=True, **options)
        held += bool(((band.lower <= true) & (true <= band.upper)).all())
    return held / runs


@pytest.mark.parametrize("n", [25, 250])
def test_simultaneous_band_of_a_line_holds_jointly(n):
    # Two standard errors of 1,500 runs are 1.1 points.
    assert joint_coverage(n, False, 1500, 3) == pytest.approx(0.95, abs=0.02)


def test_simultaneous_band_of_a_curve_holds_jointly():
    c = process_critical(curve_covariance(*binormal(2.0, True)[1:], PC, 250, 250), 0.95)
    assert joint_coverage(250, True, 800, 4, critical_value=c) == pytest.approx(0.95, abs=0.023)


def test_critical_value_of_a_curve_is_found_from_its_counts():
    _, fnr, fpr = binormal(2.0, True)
    true = process_critical(curve_covariance(fnr, fpr, PC, 1000, 1000), 0.95)
    band = cost_band(np.rint(1000 * fnr), 1000, np.rint(1000 * fpr), 1000, PC, simultaneous=True)
    assert band.critical == pytest.approx(true, abs=0.15)
    assert band.critical > line_critical(0.95)


def test_gaussian_simultaneous_band_of_a_line_misses_in_small_samples():
    assert joint_coverage(25, False, 1500, 3, "gaussian") < 0.93


@pytest.mark.study
@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("n", [250, 1000])
def test_simultaneous_coverage_in_full(moving, n):
    assert joint_coverage(n, moving, 3000, 5) == pytest.approx(0.95, abs=0.015)
