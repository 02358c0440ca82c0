"""Intervals against SciPy, direct likelihoods and coverage summed over binomials and trinomials."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.special import gammaln, xlogy

from costcurves._base.errors import InputError
from costcurves.inference.paired.rates import PAIRED_METHODS, paired_rate_interval
from costcurves.inference.rates import _wilson, check_counts, critical, mended_wilson, mid_p_at, mover, vertex_limits


def wilson(count, total, z):
    return _wilson(*check_counts("count", count, total), z)


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 30), (3, 30), (30, 30), (70, 1000)])
def test_rate_intervals_equal_scipy(k, n):
    oracle = stats.binomtest(k, n)
    got, limits = wilson(k, n, critical(0.9)), oracle.proportion_ci(0.9, method="wilson")
    np.testing.assert_allclose([float(got[0]), float(got[1])], [limits.low, limits.high], atol=1e-12)


def binormal_rates(mu: float, pc: float) -> tuple[float, float]:
    """Return fnr and fpr at the best threshold for N(mu, 3) against N(-mu, 3): the 2008 experiment."""
    low, high = -200.0, 200.0
    # The cost falls while the threshold's likelihood ratio is on one side, so its minimum is a root.
    ratio = lambda t: stats.norm.logpdf(t, mu, 3) + np.log(pc) - stats.norm.logpdf(t, -mu, 3) - np.log(1 - pc)  # noqa: E731
    t = optimize.brentq(ratio, low, high)
    return float(stats.norm.cdf(t, mu, 3)), float(stats.norm.sf(t, -mu, 3))


def coverage(n: int, fnr: float, fpr: float, pc: float, method: str) -> float:
    """Return the exact coverage at nominal 90 %: the probability of the counts whose interval covers."""
    z = critical(0.9)
    tables = []
    for rate in (fnr, fpr):
        low, high = stats.binom.ppf([1e-10, 1 - 1e-10], n, rate)
        k = np.arange(max(low, 0), high + 1)
        tables.append((k, stats.binom.pmf(k, n, rate)))
    (a, p), (b, q) = tables
    r, f = np.broadcast_arrays(a[:, None] / n, b / n)
    if method == "wilson":
        (la, ua), (lb, ub) = mended_wilson(a, n, z), mended_wilson(b, n, z)
        low, high = mover((pc, 1 - pc), (r, f), ((la[:, None], ua[:, None]), (lb, ub)))
    else:
        half = z * np.sqrt((pc**2 * r * (1 - r) + (1 - pc) ** 2 * f * (1 - f)) / n)
        low, high = pc * r + (1 - pc) * f - half, pc * r + (1 - pc) * f + half
    true = pc * fnr + (1 - pc) * fpr
    return float(p @ ((low <= true) & (true <= high)) @ q)


# 10,000 a class and 2: at the ends one class has about a fifth of an error, where Wilson's own limits cover 0.874.
CASES = [(2, 10_000), (0.75, 25), (0.75, 1000), (1, 25), (1, 250), (2, 100), (3, 25), (3, 250), (5, 25), (5, 250)]
STUDY = [(mu, n) for mu in (0.75, 1, 2, 3, 5) for n in (25, 50, 100, 250, 1000, 2500, 10_000)]


def check_wilson_coverage(mu: float, n: int, points: np.ndarray) -> None:
    for pc in points:
        fnr, fpr = binormal_rates(mu, pc)
        covered = coverage(n, fnr, fpr, pc, "wilson")
        assert covered >= 0.875, (pc, covered)
        if n * min(fnr, fpr, 1 - fnr, 1 - fpr) >= 5:
            assert abs(covered - 0.90) <= 0.02, (pc, covered)


@pytest.mark.parametrize(("mu", "n"), CASES)
def test_wilson_band_holds_its_level_everywhere(mu, n):
    check_wilson_coverage(mu, n, np.arange(1, 100, 7) / 100)


@pytest.mark.study
@pytest.mark.parametrize(("mu", "n"), STUDY)
def test_wilson_band_holds_its_level_everywhere_in_full(mu, n):
    check_wilson_coverage(mu, n, np.arange(1, 100) / 100)


def test_mended_limits_are_wilsons_but_for_one_error():
    k = np.array([0, 1, 2, 7, 28, 29, 30])
    plain, mended = wilson(k, 30, 1.645), mended_wilson(k, 30, 1.645)
    few, many = k == 1, k == 29
    np.testing.assert_allclose(mended[0][~few], plain[0][~few], rtol=1e-12)
    np.testing.assert_allclose(mended[1][~many], plain[1][~many], rtol=1e-12)
    # A Poisson mean of 30 times the limit shows an error in 5 % of samples.
    assert -np.expm1(-30 * mended[0][few][0]) == pytest.approx(0.05, abs=1e-4)
    assert mended[1][many][0] == pytest.approx(1 - mended[0][few][0], abs=1e-12)


def test_limits_at_vertices_are_exact_at_the_trivial_ends():
    rate = np.array([0.0, 0.1, 0.5, 1.0])
    lower, upper = vertex_limits(rate, 30, 0.9)
    expected = mended_wilson(30 * rate, 30, critical(0.9))
    np.testing.assert_array_equal(lower, [0.0, *expected[0][1:3], 1.0])
    np.testing.assert_array_equal(upper, [0.0, *expected[1][1:3], 1.0])


def test_gaussian_band_breaks_as_the_2008_paper_reports():
    towards_the_end = [coverage(1000, *binormal_rates(0.75, pc), pc, "gaussian") for pc in (0.05, 0.1, 0.15, 0.2)]
    assert min(towards_the_end) < 0.05
    middle = coverage(1000, *binormal_rates(0.75, 0.5), 0.5, "gaussian")
    assert middle == pytest.approx(0.9, abs=0.01)
    # "For sample sizes of 25, only a very narrow range … on target."
    small = [coverage(25, *binormal_rates(3, pc), pc, "gaussian") for pc in np.arange(1, 100, 2) / 100]
    assert np.mean(np.abs(np.array(small) - 0.9) < 0.02) < 0.35


def tango_statistic(b: int, c: int, n: int, delta: float) -> float:
    """Return the score statistic with the constrained rate found by maximising the likelihood."""

    def loss(q: float) -> float:
        p, rest = q + delta, 1 - 2 * q - delta
        return -float(xlogy(b, max(p, 1e-300)) + xlogy(c, max(q, 1e-300)) + xlogy(n - b - c, max(rest, 1e-300)))

    best = optimize.minimize_scalar(
        loss, bounds=(max(0.0, -delta), (1 - delta) / 2), method="bounded", options={"xatol": 1e-13}
    ).x
    return (b - c - n * delta) / np.sqrt(n * (2 * best + delta * (1 - delta)))


@pytest.mark.parametrize(("b", "c", "n"), [(9, 2, 50), (1, 0, 44), (0, 0, 12), (30, 30, 70), (3, 7, 10)])
def test_score_interval_is_where_tangos_statistic_reaches_z(b, c, n):
    low, high = paired_rate_interval(b, c, n, 1.645, "score")
    assert tango_statistic(b, c, n, float(low)) == pytest.approx(1.645, abs=2e-4)
    assert tango_statistic(b, c, n, float(high)) == pytest.approx(-1.645, abs=2e-4)


def trinomial_coverage(n: int, p: float, q: float, method: str) -> tuple[float, float]:
    b, c = (a.ravel() for a in np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij"))
    b, c = b[b + c <= n], c[b + c <= n]
    logs = gammaln(n + 1) - gammaln(b + 1) - gammaln(c + 1) - gammaln(n - b - c + 1)
    mass = np.exp(logs + xlogy(b, p) + xlogy(c, q) + xlogy(n - b - c, 1 - p - q))
    low, high = paired_rate_interval(b, c, n, critical(0.9), method)
    inside = (low <= p - q + 1e-12) & (p - q - 1e-12 <= high)
    return float(mass[inside].sum()), float(mass @ (high - low))


RATES = [(0.01, 0.0), (0.02, 0.02), (0.05, 0.01), (0.1, 0.05), (0.2, 0.01), (0.2, 0.2), (0.4, 0.1)]


@pytest.mark.parametrize("n", [10, 25, 100])
def test_default_paired_interval_holds_its_level(n):
    found = {m: np.array([trinomial_coverage(n, p, q, m) for p, q in RATES]) for m in PAIRED_METHODS}
    # Small classes have wider intervals on purpose: they exclude zero only where the exact test rejects.
    assert found["mid-p"][:, 0].min() >= (0.9 if n <= 25 else 0.89)
    assert found["mid-p"][:, 1].mean() <= (1.15 if n <= 25 else 1.02) * found["bonett-price"][:, 1].mean()
    miss = {m: np.abs(f[:, 0] - 0.9).mean() for m, f in found.items()}
    assert miss["mid-p"] < miss["gaussian"]
    assert found["gaussian"][:, 0].min() < 0.7


def test_default_paired_interval_is_near_its_level_with_enough_discordant_pairs():
    for n, p, q in ((100, 0.05, 0.05), (100, 0.2, 0.1), (250, 0.02, 0.03), (250, 0.3, 0.02)):
        assert trinomial_coverage(n, p, q, "mid-p")[0] == pytest.approx(0.9, abs=0.02)


def test_other_paired_intervals_miss_where_the_default_does_not():
    assert trinomial_coverage(10, 0.15, 0.005, "agresti-min")[0] < 0.80
    assert trinomial_coverage(25, 0.2, 0.01, "score")[0] < 0.87
    assert min(trinomial_coverage(10, 0.15, 0.005, "mid-p")[0], trinomial_coverage(25, 0.2, 0.01, "mid-p")[0]) > 0.89


@pytest.mark.parametrize(("k", "n"), [(0, 9), (1, 9), (4, 30), (30, 30), (12, 4000)])
def test_mid_p_limits_leave_half_tails(k, n):
    low, high = (float(x) for x in mid_p_at(k, n, critical(0.9)))
    half = lambda p: stats.binom.sf(k, n, p) + 0.5 * stats.binom.pmf(k, n, p)  # noqa: E731
    assert (low == 0.0) if k == 0 else half(low) == pytest.approx(0.05, abs=1e-8)
    assert (high == 1.0) if k == n else half(high) == pytest.approx(0.95, abs=1e-8)


@pytest.mark.parametrize("method", PAIRED_METHODS)
def test_paired_intervals_are_possible_and_mirror(method):
    b, c = np.array([0, 5, 5, 0, 2]), np.array([0, 0, 3, 8, 2])
    low, high = paired_rate_interval(b, c, 8, 2.5, method)
    assert ((low >= -1) & (low <= (b - c) / 8) & ((b - c) / 8 <= high) & (high <= 1)).all()
    mirror = paired_rate_interval(c, b, 8, 2.5, method)
    np.testing.assert_allclose(low, -mirror[1], atol=1e-12)


def test_broken_counts_are_refused():
    with pytest.raises(InputError, match=r"`count` must be in \[0, 3.0\], got 4.0 at position 1"):
        wilson([1, 4], 3, 2.0)
    with pytest.raises(InputError, match="must be at most `total`"):
        paired_rate_interval(3, 3, 5, 2.0)
    with pytest.raises(InputError, match="total > 0"):
        wilson(0, 0, 2.0)


def test_mid_p_limits_of_one_total_are_those_of_the_same_totals_and_levels_one_by_one():
    k, z = np.array([[3.0, 0.0, 7.0], [7.0, 400.0, 3.0]]), 1.96
    for found, expected in zip(
        mid_p_at(k, 400, z), mid_p_at(k, np.full(k.shape, 400.0), np.full(k.shape, z)), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("k", "n"), [(1, 10**5), (5, 4_426_271), (12, 11_487_731), (900, 890_000_000), (7, 9), (40, 50)]
)
@pytest.mark.parametrize("tail", [0.025, 1e-6])
def test_mid_p_limits_reach_their_tail_also_where_errors_are_few_in_very_many(k, n, tail):
    lower, upper = mid_p_at(k, n, stats.norm.isf(tail))
    above = stats.binom.sf(k, n, float(lower)) + 0.5 * stats.binom.pmf(k, n, float(lower))
    assert above == pytest.approx(tail, rel=1e-9)
    below = stats.binom.cdf(k, n, float(upper)) - 0.5 * stats.binom.pmf(k, n, float(upper))
    assert below == pytest.approx(tail, rel=1e-7)


def test_one_count_is_checked_against_every_total():
    counts, totals = check_counts("fn", 1, [2, 4])
    assert counts.tolist() == [1, 1]
    assert totals.tolist() == [2, 4]
    with pytest.raises(InputError, match=r"`fn` must be in \[0, 2.0\], got 3.0 at position 1"):
        check_counts("fn", 3, [4, 2])
    with pytest.raises(InputError, match="`fn` must be numeric and match its total"):
        check_counts("fn", [1, 2, 3], [4, 5])
