"""Critical values against numerical integration and simulation of the bands themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from costcurves._base.errors import InputError
from costcurves.inference.bands.error_rates import nested_counts
from costcurves.inference.bands.one_curve import cost_band
from costcurves.inference.rates import critical, mid_p_at, mover
from costcurves.inference.simultaneous import (
    calibrated_critical,
    curve_covariance,
    line_coverage,
    line_critical,
    nested_covariance,
    process_critical,
    tabulated,
)
from joint_coverage import joint_coverage, needed


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


def binormal(mu: float, moving: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return fnr and fpr at the best thresholds, or at threshold 0, of the 2008 paper's scores (scale 3)."""
    t = 9 * np.log((1 - PC) / PC) / (2 * mu) if moving else np.zeros(99)
    return stats.norm.cdf(t, mu, 3), stats.norm.sf(t, -mu, 3)


def line_coverage_of(n: int, runs: int, seed: int, method: str = "wilson") -> float:
    """Return how often a simultaneous 95 % band holds the true line at all of 99 points."""
    rng = np.random.default_rng(seed)
    fnr, fpr = binormal(2.0, False)
    true = PC * fnr + (1 - PC) * fpr
    held = 0
    for fn, fp in zip(nested_counts(fnr, n, runs, rng), nested_counts(fpr, n, runs, rng), strict=True):
        band = cost_band(fn, n, fp, n, PC, level=0.95, method=method, simultaneous=True)
        held += bool(((band.lower <= true) & (true <= band.upper)).all())
    return held / runs


@pytest.mark.parametrize("n", [25, 250])
def test_simultaneous_band_of_a_line_holds_jointly(n):
    # Two standard errors of 1,500 runs are 1.1 points.
    assert line_coverage_of(n, 1500, 3) == pytest.approx(0.95, abs=0.02)


class Curves:
    """Error counts of many simulated data sets, judged at the best thresholds of each operating point."""

    def __init__(self, n: int, mu: float, runs: int, seed: int) -> None:
        self.n, self.rng = n, np.random.default_rng(seed)
        fnr, fpr = binormal(mu, True)
        self.true = PC * fnr + (1 - PC) * fpr
        self.fn, self.fp = nested_counts(fnr, n, runs, self.rng), nested_counts(fpr, n, runs, self.rng)

    def needed(self) -> np.ndarray:
        """Return the critical value that the band of each data set needs to hold."""
        table, n = tabulated(mid_p_at), self.n

        def covers(z: float, which: np.ndarray) -> np.ndarray:
            fn, fp = self.fn[which], self.fp[which]
            lower, upper = mover((PC, 1 - PC), (fn / n, fp / n), (table(fn, n, z), table(fp, n, z)))
            both = PC * table(fn, n, z / 2**0.5)[0] + (1 - PC) * table(fp, n, z / 2**0.5)[0]
            lower = np.minimum(lower, both)
            return ((lower <= self.true + 1e-12) & (self.true <= upper + 1e-12)).all(axis=1)

        return needed(covers, self.fn.shape[0])

    def critical_of(self, which: int) -> float:
        """Return the critical value of one of the data sets."""
        return cost_band(self.fn[which], self.n, self.fp[which], self.n, PC, simultaneous=True).critical


@pytest.mark.parametrize(("n", "mu"), [(250, 0.75), (250, 2.0), (1000, 3.0)])
def test_critical_values_of_curves_are_those_that_simulated_bands_need(n, mu):
    """A small form of the study below: the bands of a few data sets, judged by what many others need."""
    curves = Curves(n, mu, 5000, 8)
    need = curves.needed()
    assert np.mean([np.mean(need <= curves.critical_of(i)) for i in range(5)]) == pytest.approx(0.95, abs=0.015)


def test_the_same_counts_give_the_same_band():
    fn, fp = (np.rint(250 * r) for r in binormal(2.0, True))
    first, again = (cost_band(fn, 250, fp, 250, PC, simultaneous=True) for _ in range(2))
    assert first.critical == again.critical
    assert first.critical > line_critical(0.95)


@pytest.mark.parametrize(
    "options",
    [
        {"sampling": "full"},
        {"laplace": 0.5},
        {"effective": (180.5, 90.2)},
        {"prevalence_uncertainty": (30, 20)},
        {"prevalence_uncertainty": (30, 20), "sampling": "full"},
    ],
)
def test_every_variant_of_a_curve_has_a_critical_value(options):
    fn, fp = (np.rint(250 * r) for r in binormal(1.0, True))
    z = cost_band(fn, 250, fp, 250, PC, simultaneous=True, **options).critical
    assert critical(0.95) < z < 3.5


def test_calibration_finds_the_quantile_of_what_is_needed():
    need = np.random.default_rng(1).uniform(1, 4.6, 5000)
    slope = np.array([0.3, 2.0])  # the second point is always easier to cover
    for draws in (19, 5000):
        z = calibrated_critical(lambda z, which: slope * (z - need[which, None]) + [0.0, 0.1], draws, 0.9)
        rank = math.ceil(0.9 * (draws + 1) - 1e-9)
        assert z == pytest.approx(max(np.sort(need[:draws])[rank - 1], critical(0.9)), abs=1e-9)


def test_calibration_is_between_the_pointwise_value_and_three_more():
    easy, hopeless = (np.full((100, 2), room) for room in (0.0, -1.0))
    assert calibrated_critical(lambda z, which: easy[which], 100, 0.95) == critical(0.95)
    assert calibrated_critical(lambda z, which: hopeless[which], 100, 0.95) == critical(0.95) + 3


@pytest.mark.parametrize(("n", "offset"), [(7, 0.0), (90, 0.5), (40_000, 0.0)])
def test_tabulated_limits_are_those_of_the_method(n, offset):
    k = offset + np.unique(np.rint(np.linspace(0, n, 301)))
    total = n + 2 * offset
    for got, exact in zip(tabulated(mid_p_at, offset)(k, total, 3.0), mid_p_at(k, total, 3.0), strict=True):
        np.testing.assert_allclose(got - k / total, exact - k / total, rtol=5e-4, atol=1e-12)


def test_gaussian_simultaneous_band_of_a_line_misses_in_small_samples():
    assert line_coverage_of(25, 1500, 3, "gaussian") < 0.93


@pytest.mark.parametrize(("n_pos", "n_neg"), [(30, 30), (50, 500)])
def test_joint_bands_hold_for_well_separated_scores(n_pos, n_neg):
    """A few errors in both classes must not be taken for certain: with 30 per class, bands held in 0.90 of the sets."""
    rng = np.random.default_rng(614)
    cut = 2.19 + np.log((1 - PC) / PC) / 4.37  # AUC 0.999
    fnr, fpr, runs = stats.norm.cdf(cut - 4.37), stats.norm.sf(cut), 250
    true, held = PC * fnr + (1 - PC) * fpr, 0
    for fn, fp in zip(nested_counts(fnr, n_pos, runs, rng), nested_counts(fpr, n_neg, runs, rng), strict=True):
        band = cost_band(fn, n_pos, fp, n_neg, PC, simultaneous=True)
        held += bool(((band.lower <= true + 1e-12) & (true <= band.upper + 1e-12)).all())
    assert held / runs == pytest.approx(0.955, abs=0.035)


def test_points_with_one_threshold_have_one_rate():
    """Equal counts at one threshold need a smaller critical value than equal counts at many."""
    fn, fp = np.repeat([0.0, 2.0, 9.0], 33)[::-1], np.repeat([0.0, 3.0, 20.0], 33)
    one, many = (cost_band(fn, 50, fp, 80, PC, simultaneous=True, cuts=c) for c in (fp, None))
    assert one.critical < many.critical - 0.1
    assert (one.upper <= many.upper + 1e-12).all()


@pytest.mark.study
@pytest.mark.parametrize("n", [250, 1000])
def test_simultaneous_coverage_of_lines_in_full(n):
    assert line_coverage_of(n, 3000, 5) == pytest.approx(0.95, abs=0.015)


@pytest.mark.study
@pytest.mark.parametrize("mu", [0.75, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("n", [250, 1000, 2500])
def test_simultaneous_coverage_of_curves_in_full(n, mu):
    curves = Curves(n, mu, 12_000, 7)
    assert joint_coverage(curves.needed(), curves.critical_of, 150, curves.rng) == pytest.approx(0.95, abs=0.015)
