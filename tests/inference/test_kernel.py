"""The kernel against full enumeration of resamples, closed forms, binomials of SciPy and simulation."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from costcurves._base.errors import InputError, UnsupportedError
from costcurves.inference.kernel import smooth as _smooth
from costcurves.inference.kernel.batches import binomial_rows
from costcurves.inference.kernel.distribution import exact_distribution, exact_quantiles
from costcurves.inference.kernel.lattice import Lattice, bernstein, convolution_quantile, lattice_power, power
from costcurves.inference.kernel.smooth import smooth_sum
from costcurves.inference.kernel.strata import Stratum, moments, resample
from laws import law, random_worlds


def enumerate_resamples(strata: list[tuple[list[Fraction], int]]) -> dict[Fraction, Fraction]:
    """Return value → probability over every ordered resample; a stratum is its examples' values and draws."""
    total: dict[Fraction, Fraction] = {Fraction(0): Fraction(1)}
    for examples, draws in strata:
        part: dict[Fraction, int] = defaultdict(int)
        for picked in itertools.product(examples, repeat=draws):
            part[sum(picked, Fraction(0))] += 1
        size = len(examples) ** draws
        joined: dict[Fraction, Fraction] = defaultdict(Fraction)
        for v, p in total.items():
            for w, k in part.items():
                joined[v + w] += p * Fraction(k, size)
        total = dict(joined)
    return {v: p for v, p in sorted(total.items()) if p}


def assert_equals_enumeration(dist, oracle: dict[Fraction, Fraction]) -> None:
    values = np.array([float(v) for v in oracle])
    masses = np.array([float(p) for p in oracle.values()])
    assert dist.method in ("atoms", "lattice")
    used = dist.probabilities > 1e-15
    np.testing.assert_allclose(dist.support[used], values, atol=1e-13)
    np.testing.assert_allclose(dist.probabilities[used], masses, rtol=1e-11, atol=1e-15)
    np.testing.assert_allclose(dist.cdf(values), np.cumsum(masses), atol=1e-13)
    mean = sum(v * p for v, p in oracle.items())
    variance = sum((v - mean) ** 2 * p for v, p in oracle.items())
    assert dist.mean == pytest.approx(float(mean), abs=1e-13)
    assert dist.std**2 == pytest.approx(float(variance), rel=1e-12, abs=1e-15)


PCS = [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(7, 10), Fraction(1)]


@pytest.mark.parametrize("pc", PCS)
@pytest.mark.parametrize(("n_pos", "fn"), [(1, 0), (1, 1), (3, 1), (5, 2), (5, 5)])
@pytest.mark.parametrize(("n_neg", "fp"), [(1, 1), (4, 1), (5, 0), (5, 3)])
def test_stratified_cost_equals_enumeration(pc, n_pos, fn, n_neg, fp):
    up, down = pc / n_pos, (1 - pc) / n_neg
    oracle = enumerate_resamples(
        [
            ([up] * fn + [Fraction(0)] * (n_pos - fn), n_pos),
            ([down] * fp + [Fraction(0)] * (n_neg - fp), n_neg),
        ]
    )
    strata = [Stratum(n_pos, [fn / n_pos], [float(up)]), Stratum(n_neg, [fp / n_neg], [float(down)])]
    assert_equals_enumeration(exact_distribution(strata), oracle)


@pytest.mark.parametrize("costs", [(1, 1), (1, 10), (3, 7)])
@pytest.mark.parametrize(("n", "fn", "fp"), [(2, 1, 1), (6, 1, 2), (6, 0, 3), (6, 2, 2)])
def test_full_sampling_cost_equals_enumeration(costs, n, fn, fp):
    cost_fn, cost_fp = costs
    top = Fraction(n * max(costs))
    examples = [cost_fn / top] * fn + [cost_fp / top] * fp + [Fraction(0)] * (n - fn - fp)
    stratum = Stratum(n, [fn / n, fp / n], [float(cost_fn / top), float(cost_fp / top)])
    assert_equals_enumeration(exact_distribution(stratum), enumerate_resamples([(examples, n)]))


@pytest.mark.parametrize("pc", PCS)
@pytest.mark.parametrize("pos", [(5, 2, 1), (4, 0, 2), (3, 0, 0)])
@pytest.mark.parametrize("neg", [(5, 1, 1), (4, 3, 0)])
def test_stratified_difference_equals_enumeration(pc, pos, neg):
    oracle, strata = [], []
    for (n, a, b), value in ((pos, pc / pos[0]), (neg, (1 - pc) / neg[0])):
        oracle.append(([value] * a + [-value] * b + [Fraction(0)] * (n - a - b), n))
        strata.append(Stratum(n, [a / n, b / n], [float(value), -float(value)]))
    assert_equals_enumeration(exact_distribution(strata), enumerate_resamples(oracle))


def test_full_difference_equals_enumeration():
    n, counts = 6, (1, 1, 1, 2)
    values = [Fraction(5, 35), Fraction(-5, 35), Fraction(2, 35), Fraction(-2, 35)]
    examples = [v for v, k in zip(values, counts, strict=True) for _ in range(k)] + [Fraction(0)]
    stratum = Stratum(n, [k / n for k in counts], [float(v) for v in values])
    assert_equals_enumeration(exact_distribution(stratum), enumerate_resamples([(examples, n)]))


def class_outcomes(n: int, a: int, b: int) -> dict[int, Fraction]:
    """Return the distribution of (only a wrong) - (only b wrong) over every ordered resample of one class."""
    signs = [1] * a + [-1] * b + [0] * (n - a - b)
    out: dict[int, int] = defaultdict(int)
    for picked in itertools.product(signs, repeat=n):
        out[sum(picked)] += 1
    return {k: Fraction(c, n**n) for k, c in out.items()}


def test_every_stratified_set_of_at_most_five_a_class_equals_enumeration():
    sets = [(n, a, b) for n in range(1, 6) for a in range(n + 1) for b in range(n + 1 - a)]
    classes = {s: class_outcomes(*s) for s in sets}
    pc = Fraction(3, 7)
    for pos, neg in itertools.product(sets, sets):
        oracle: dict[Fraction, Fraction] = defaultdict(Fraction)
        for (i, p), (j, q) in itertools.product(classes[pos].items(), classes[neg].items()):
            oracle[pc * i / pos[0] + (1 - pc) * j / neg[0]] += p * q
        up, down = float(pc) / pos[0], float(1 - pc) / neg[0]
        strata = [
            Stratum(pos[0], [pos[1] / pos[0], pos[2] / pos[0]], [up, -up]),
            Stratum(neg[0], [neg[1] / neg[0], neg[2] / neg[0]], [down, -down]),
        ]
        dist = exact_distribution(strata)
        values = sorted(oracle)
        np.testing.assert_allclose(dist.support, [float(v) for v in values], atol=1e-13)
        np.testing.assert_allclose(dist.probabilities, [float(oracle[v]) for v in values], rtol=1e-11)


def test_bcost_with_laplace_equals_the_multinomial_sum():
    n, lam = 5, Fraction(1, 10)
    matrix = [3, 0, 1, 0, 1, 0, 0, 0, 0]
    cost = [Fraction(c, n) for c in (0, 2, 7, 1, 0, 3, 5, 11, 0)]
    q = [(m + lam) / (n + lam * 9) for m in matrix]
    oracle: dict[Fraction, Fraction] = defaultdict(Fraction)
    for picked in itertools.combinations_with_replacement(range(9), n):
        ways = math.factorial(n)
        p = Fraction(1)
        for c in set(picked):
            k = picked.count(c)
            ways //= math.factorial(k)
            p *= q[c] ** k
        oracle[sum((cost[c] for c in picked), Fraction(0))] += ways * p
    dist = exact_distribution(Stratum(n, [float(x) for x in q], [float(c) for c in cost]))
    assert_equals_enumeration(dist, dict(sorted(oracle.items())))


def test_bdeltacost_merges_equal_values():
    n = 4
    values = [0.1 + 0.2, 0.3, -0.3, 0.0]  # the first two are one cost
    dist = exact_distribution(Stratum(n, [0.25] * 4, values))
    oracle = enumerate_resamples([([Fraction(3, 10)] * 2 + [Fraction(-3, 10), Fraction(0)], n)])
    assert_equals_enumeration(dist, oracle)


def test_example_dependent_costs_equal_enumeration():
    costs = [Fraction(c, 5) for c in (0, 3, 17, 4, 9)]
    dist = exact_distribution(Stratum(5, [0.2] * 5, [float(c) for c in costs]))
    assert_equals_enumeration(dist, enumerate_resamples([(costs, 5)]))


@settings(max_examples=60, deadline=None)
@given(
    draws=st.lists(st.integers(1, 10**6), min_size=1, max_size=3),
    data=st.data(),
)
def test_moments_equal_the_closed_form(draws, data):
    strata, mean, variance = [], Fraction(0), Fraction(0)
    for n in draws:
        raw = data.draw(st.lists(st.integers(0, 50), min_size=1, max_size=4))
        whole = sum(raw) + data.draw(st.integers(1, 100))
        values = data.draw(st.lists(st.integers(-64, 64), min_size=len(raw), max_size=len(raw)))
        q, v = [Fraction(r, whole) for r in raw], [Fraction(x, 64) for x in values]
        one = sum((a * b for a, b in zip(q, v, strict=True)), Fraction(0))
        mean += n * one
        variance += n * (sum((a * b * b for a, b in zip(q, v, strict=True)), Fraction(0)) - one**2)
        strata.append(Stratum(n, [float(x) for x in q], [float(x) for x in v]))
    got = moments(strata)
    scale = sum(draws)
    assert float(got[0]) == pytest.approx(float(mean), rel=1e-12, abs=1e-12 * scale)
    assert float(got[1]) == pytest.approx(float(variance), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("n", [1, 7, 5000, 10**5, 10**9])
def test_one_binomial_equals_scipy(n):
    rate = 0.003 if n > 100 else 0.3
    dist = exact_distribution(Stratum(n, [rate], [1.0]))
    oracle = stats.binom(n, rate)
    k = np.unique(np.rint(oracle.ppf([1e-6, 0.01, 0.3, 0.5, 0.9, 1 - 1e-6])))
    np.testing.assert_allclose(dist.cdf(k), oracle.cdf(k), rtol=1e-7 if n > 1e6 else 1e-10)
    q = np.array([0.05, 0.5, 0.95])
    np.testing.assert_array_equal(np.rint(dist.quantile(q)), oracle.ppf(q))


def test_sum_of_two_binomials_equals_a_sum_over_one():
    n, m, a, b = 30_000, 20_000, 1 / 30_000, math.pi / 60_000
    dist = exact_distribution([Stratum(n, [0.1], [a]), Stratum(m, [0.2], [b])])
    assert dist.method == "convolution"
    i = np.arange(n + 1)
    for x in dist.mean + dist.std * np.array([-3.0, -1.0, 0.0, 0.7, 2.5]):
        direct = float(stats.binom.pmf(i, n, 0.1) @ stats.binom.cdf(np.floor((x - a * i) / b), m, 0.2))
        assert float(dist.cdf(x)) == pytest.approx(direct, abs=1e-11)
    with pytest.raises(UnsupportedError, match="support"):
        _ = dist.support


def test_quantile_is_the_smallest_value_that_reaches_the_level():
    dist = exact_distribution([Stratum(30_000, [0.1], [1.0]), Stratum(20_000, [0.2], [math.pi / 2])])
    q = np.array([1e-6, 0.025, 0.5, 0.8, 0.975])
    x = dist.quantile(q)
    assert (dist.cdf(x) >= q - 1e-12).all()
    assert (dist.cdf(x - 1e-7) < q).all()


SKEWED = np.random.default_rng(5).gamma(0.7, 3.0, 40)


@pytest.mark.parametrize("n", [200, 5000])
def test_interpolated_lattice_agrees_with_very_many_resamples(n):
    q = np.random.default_rng(6).dirichlet(np.ones(41))[:40]
    dist = exact_distribution(Stratum(n, q, SKEWED / n))
    assert dist.method == "interpolated"
    draws = dist.sample(250_000, 7)
    x = np.quantile(draws, np.linspace(0.005, 0.995, 50))
    empirical = np.searchsorted(np.sort(draws), x, side="right") / 250_000
    assert np.abs(dist.cdf(x) - empirical).max() < 4.4e-3 + dist.error
    assert np.abs(dist.cdf(x) - empirical).max() < 4.4e-3  # 4.4 standard errors at the worst place


def test_interpolated_lattice_stays_within_its_stated_bound():
    # A common step exists, but the method is not told: one value is moved by less than any lattice sees.
    n, q = 300, [0.2, 0.1, 0.05]
    exact = exact_distribution(Stratum(n, q, np.array([1.0, 3.0, 7.0])))
    other = exact_distribution(Stratum(n, q, np.array([1.0, 3.0 + 1e-7 * math.pi, 7.0 + 1e-7 * math.e])))
    assert (exact.method, other.method) == ("lattice", "interpolated")
    x = exact.mean + exact.std * np.linspace(-4, 4, 401)
    r = other.resolution + 1e-4
    assert (other.cdf(x) <= exact.cdf(x + r) + other.error + 1e-12).all()
    assert (other.cdf(x) >= exact.cdf(x - r) - other.error - 1e-12).all()


def whole_values(strata):
    """Return draws, probabilities and whole values of strata, as the kernel hands them to a method."""
    cells = []
    for n, size, seed in strata:
        rng = np.random.default_rng(seed)
        q = np.append(0.7, 0.3 * rng.dirichlet(np.ones(size)))
        cells.append((n, q, np.append(0.0, np.sort(rng.choice(np.arange(1.0, 900.0), size, replace=False)))))
    return cells


@pytest.mark.parametrize("strata", [[(500, 300, 0)], [(2_000, 60, 1)], [(900, 200, 2), (400, 80, 3)]])
def test_sums_from_few_frequencies_stay_within_their_bound_of_every_atom(strata):
    # Values have the step 1, of which the method knows nothing: every atom of the sum is known from a transform.
    cells = whole_values(strata)
    grid, mass, error = smooth_sum(cells)
    base, exact, _ = lattice_power(cells, 1.0)
    atoms, total = base + np.arange(exact.size), np.cumsum(exact)
    half = 0.5 * (grid[1] - grid[0])
    ends, reached = np.append(grid - half, grid[-1] + half), np.concatenate(([0.0], np.cumsum(mass)))
    for place, value in ((atoms, total), (atoms - 1e-6, total - exact)):  # at every atom, and just before
        assert np.abs(np.interp(place, ends, reached) - value).max() <= error
    assert error < 1e-3
    assert 10 * np.abs(np.interp(atoms - 0.5, ends, reached) - (total - exact)).max() < error  # between atoms


@pytest.mark.parametrize("n", [10**5, 10**6, 10**9])
def test_sums_from_few_frequencies_have_the_quantiles_of_edgeworth(n):
    q = 0.3 * np.random.default_rng(8).dirichlet(np.ones(40))
    dist = exact_distribution(Stratum(n, q, SKEWED / n))
    assert dist.method == "interpolated"
    assert dist.error < 2e-4
    assert dist.support.size == _smooth.PLACES
    mean = q @ SKEWED
    moments_ = [float(q @ (SKEWED - mean) ** k + (1 - q.sum()) * (-mean) ** k) for k in (2, 3, 4)]
    skew = moments_[1] / moments_[0] ** 1.5 / math.sqrt(n)
    excess = (moments_[2] / moments_[0] ** 2 - 3) / n
    z = stats.norm.ppf([0.001, 0.025, 0.5, 0.975, 0.999])
    wanted = z + skew * (z**2 - 1) / 6 + excess * (z**3 - 3 * z) / 24 - skew**2 * (2 * z**3 - 5 * z) / 36
    found = (dist.quantile(stats.norm.cdf(z)) - dist.mean) / dist.std
    np.testing.assert_allclose(found, wanted, atol=5e-6 + 20 * n**-1.5)


@pytest.mark.parametrize("scale", [1e-150, 1e-90, 1e-20, 1.0, 1e20, 1e80, 1e140])
def test_the_unit_of_values_changes_nothing(scale):
    p, v = [0.2, 0.3, 0.1, 0.15], np.array([1.0, math.pi, 2 * math.e, -math.sqrt(7)])
    one, other = (exact_distribution(Stratum(10**4, p, v * unit)) for unit in (1.0, scale))
    z = np.array([-3.0, -1.0, 0.0, 2.0])
    np.testing.assert_allclose(other.cdf(other.mean + z * other.std), one.cdf(one.mean + z * one.std), atol=1e-9)
    both = exact_distribution([Stratum(10**5, p, v), Stratum(10**5, p, v * 1e-90)])  # one that adds nothing
    alone = exact_distribution(Stratum(10**5, p, v))
    np.testing.assert_allclose(both.quantile([0.1, 0.9]), alone.quantile([0.1, 0.9]), rtol=1e-7)


@pytest.mark.parametrize(("n", "offset"), [(100, 2.0**29), (10**4, 2.0**29), (10**6, 2.0**29), (10**7, 2.0**26)])
def test_a_constant_added_to_all_values_moves_the_distribution_within_the_stated_errors(n, offset):
    # Sixteen values that a float adds exactly, of equal chances, so that every place is exact.
    values, q = np.arange(16) ** 2 / 256, np.full(16, 1 / 16)
    plain, moved = (exact_distribution(Stratum(n, q, values + by)) for by in (0.0, offset))
    x = np.round(plain.mean + plain.std * np.linspace(-3, 3, 25)) + 1 / 1024
    room = plain.error + moved.error
    r = plain.resolution + moved.resolution + 1e-3
    assert (moved.cdf(x + n * offset) <= plain.cdf(x + r) + room).all()
    assert (moved.cdf(x + n * offset) >= plain.cdf(x - r) - room).all()


def test_what_is_not_smooth_is_left_to_a_lattice():
    few = exact_distribution(Stratum(30, [0.1, 0.05, 0.02], [1.0, math.pi, math.e * 7]))
    rare = exact_distribution(Stratum(10**6, [2e-6, 3e-6, 1e-6], [1.0, math.pi, math.e * 7]))
    for dist in (few, rare):
        assert dist.method == "atoms" or dist.support.size > _smooth.PLACES


def test_mass_splitting_keeps_mean_and_variance():
    n = 10_000
    q = np.random.default_rng(6).dirichlet(np.ones(41))[:40]
    dist = exact_distribution(Stratum(n, q, SKEWED / n))
    mean = float(dist.support @ dist.probabilities)
    variance = float((dist.support - mean) ** 2 @ dist.probabilities)
    assert mean == pytest.approx(dist.mean, rel=1e-9)
    assert variance == pytest.approx(dist.std**2, rel=1e-6)


@pytest.mark.parametrize("n", [10**7, 10**9])
def test_huge_samples_tend_to_the_gaussian(n):
    dist = exact_distribution(Stratum(n, [0.2, 0.1, 0.3], [1.0, math.pi, -math.e]))
    z = np.array([-3.0, -1.0, 0.0, 1.0, 3.0])
    np.testing.assert_allclose(dist.cdf(dist.mean + z * dist.std), stats.norm.cdf(z), atol=5e-4)


def test_a_rare_expensive_cell_is_resolved():
    n = 1000
    dist = exact_distribution(Stratum(n, [2 / n, 0.1, 0.2], [math.e * 500, 1.0, math.sqrt(2)]))
    # P(no expensive error) separates the distribution: between the clusters the CDF is known.
    for k in range(4):
        x = 500 * math.e * k + 0.1 * n + 0.2 * n * math.sqrt(2) + 500
        assert float(dist.cdf(x)) == pytest.approx(stats.binom.cdf(k, n, 2 / n), abs=1e-9)


def test_batched_quantiles_equal_single_ones_stratified():
    pc = np.linspace(0, 1, 21)[:, None]
    fn, fp = 0.3 * (1 - pc), 0.4 * pc
    for n_pos, n_neg in ((7, 4), (500, 130), (40_000, 25_000)):
        strata = [Stratum(n_pos, fn, pc / n_pos), Stratum(n_neg, fp, (1 - pc) / n_neg)]
        got = exact_quantiles(strata, [0.05, 0.5, 0.95])
        for j in range(21):
            one = exact_distribution([s.at(j) for s in strata])
            np.testing.assert_allclose(got[:, j], one.quantile([0.05, 0.5, 0.95]), atol=1e-8 * one.std + 1e-15)


@pytest.mark.parametrize("n", [3, 60, 900, 50_000])
def test_batched_quantiles_are_right_where_atoms_lie_on_each_other(n):
    # Equal classes, costs in simple ratios, and classes that are never or always wrong; far levels too.
    pc = np.array([[0.0], [1 / 4], [1 / 3], [1 / 2], [1 / 2], [1 / 2], [2 / 3], [0.999], [1.0]])
    fn = np.array([[0.3], [0.3], [0.2], [0.2], [0.0], [1.0], [1 / n], [0.1], [0.4]])
    fp = np.array([[0.1], [0.2], [0.4], [0.2], [0.3], [0.5], [0.7], [1.0], [0.2]])
    strata = [Stratum(n, fn, pc / n), Stratum(n, fp, (1 - pc) / n)]
    levels = np.array([1e-6, 0.025, 0.5, 0.9, 0.999])
    got = exact_quantiles(strata, levels)
    for j in range(pc.size):
        one = exact_distribution([s.at(j) for s in strata])
        np.testing.assert_allclose(got[:, j], one.quantile(levels), atol=1e-8 * one.std + 1e-15)


def test_binomials_of_many_rows_are_those_of_scipy():
    n, p, first = 5000, np.array([0.0, 1e-4, 0.2, 0.21, 0.9999, 1.0]), np.array([0, 0, 700, 750, 4400, 4400])
    rows = binomial_rows(n, p, first, 601)
    rows /= rows.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(rows, stats.binom.pmf(first[:, None] + np.arange(601), n, p[:, None]), atol=2e-13)


def test_batched_quantiles_equal_single_ones_for_differences():
    pc = np.linspace(0, 1, 11)[:, None]
    for n in (6, 900):
        strata = [
            Stratum(n, np.hstack([0.1 + 0 * pc, 0.2 * pc]), np.hstack([pc, -pc]) / n),
            Stratum(n, np.hstack([0.1 * (1 - pc), 0.05 + 0 * pc]), np.hstack([1 - pc, pc - 1]) / n),
        ]
        got = exact_quantiles(strata, [0.025, 0.975])
        for j in range(11):
            one = exact_distribution([s.at(j) for s in strata])
            np.testing.assert_allclose(got[:, j], one.quantile([0.025, 0.975]), atol=1e-8 * one.std + 1e-14)


@pytest.mark.parametrize("n", [30, 3000])
def test_batched_quantiles_for_full_sampling_are_close(n):
    pc = np.linspace(0.05, 0.95, 7)[:, None]
    stratum = Stratum(n, np.hstack([0.1 + 0 * pc, 0.2 * pc]), np.hstack([pc, 1 - pc]) * 2 / n)
    got = exact_quantiles(stratum, [0.05, 0.95])
    for j in range(7):
        one = exact_distribution(stratum.at(j))
        np.testing.assert_allclose(got[:, j], one.quantile([0.05, 0.95]), atol=0.03 * one.std)


def test_resampled_counts_have_the_right_moments():
    strata = [Stratum(50, [0.2, 0.3], [1.0, -2.0]), Stratum(20, [0.5], [0.25])]
    draws = resample(strata, 200_000, 11)
    mean, variance = moments(strata)
    assert draws.mean() == pytest.approx(float(mean), abs=4 * math.sqrt(float(variance) / 200_000))
    assert draws.var() == pytest.approx(float(variance), rel=0.02)
    points = resample([Stratum(50, [[0.2], [0.4]], [1.0])], 1000, 1)
    assert points.shape == (1000, 2)
    np.testing.assert_array_equal(points, resample([Stratum(50, [[0.2], [0.4]], [1.0])], 1000, 1))


@settings(max_examples=50, deadline=None)
@given(
    n=st.integers(1, 400),
    q=st.lists(st.floats(0.0, 0.3), min_size=1, max_size=3),
    v=st.lists(st.floats(-10, 10).filter(lambda x: x == 0 or abs(x) > 1e-3), min_size=3, max_size=3),
    x=st.lists(st.floats(-5000, 5000), min_size=2, max_size=6),
    level=st.floats(0.001, 0.999),
)
def test_cdf_and_quantile_obey_their_laws(n, q, v, x, level):
    dist = exact_distribution(Stratum(n, q, v[: len(q)]))
    f = dist.cdf(np.sort(x))
    assert ((f >= 0) & (f <= 1)).all()
    assert (np.diff(f) >= -1e-12).all()
    at = dist.quantile(level)
    assert float(dist.cdf(at)) >= level - dist.error - 1e-9
    assert float(dist.cdf(1e6)) == pytest.approx(1.0, abs=1e-12)
    assert float(dist.cdf(-1e6)) == 0.0


def test_certain_outcomes_are_one_atom():
    for q, v, value in (([0.0], [1.0], 0.0), ([1.0], [0.25], 1.0), ([0.5, 0.5], [0.25, 0.25], 1.0)):
        dist = exact_distribution(Stratum(4, q, v))
        assert dist.support.tolist() == [value]
        assert dist.std == pytest.approx(0.0, abs=1e-12)
        assert float(dist.quantile(0.5)) == value


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, [0.5], [1.0]), "`draws` must be >= 1, got 0"),
        ((3, [-0.1], [1.0]), "`probabilities` must be >= 0, got -0.1"),
        ((3, [0.6, 0.6], [1.0, 2.0]), "`probabilities` must have a sum of at most 1, got 1.2"),
        ((3, [0.6, 0.1, 0.1], [1.0, 2.0]), "must have one shape"),
        ((3, [0.6], [float("nan")]), "`values` must be finite, got nan"),
    ],
)
def test_broken_strata_are_refused(arguments, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        Stratum(*arguments)


def test_strata_and_results_cannot_be_changed():
    s = Stratum(3, [0.5], [1.0])
    dist = exact_distribution(s)
    with pytest.raises(ValueError, match="read-only"):
        s.values[0] = 2
    with pytest.raises(ValueError, match="read-only"):
        dist.support[0] = 2


def test_distribution_has_frame_and_dict():
    dist = exact_distribution(Stratum(3, [0.5], [1.0]))
    frame = dist.to_frame("pandas")
    assert frame.columns.tolist() == ["value", "probability", "cdf"]
    assert dist.to_dict()["quantiles"]["0.5"] == 1.0


def trinomial_cdf(x: float, n: int, q: np.ndarray, v: np.ndarray) -> float:
    """Return P(v₁ K₁ + v₂ K₂ <= x) by summing over every K₁."""
    k = np.arange(n + 1)
    most = np.floor((x - v[0] * k) / v[1] + 1e-9)
    return float(stats.binom.pmf(k, n, q[0]) @ stats.binom.cdf(most, n - k, q[1] / (1 - q[0])))


@pytest.mark.parametrize("n", [800, 6000])
def test_batched_quantiles_of_full_samples_keep_their_stated_bound(n):
    # From hardly an error to nearly all wrong, so that all lengths of the lattice are needed.
    t = np.linspace(3.2, -3.2, 13)
    pc = np.linspace(0.003, 0.997, 13)
    q = np.stack([0.375 * stats.norm.cdf(t - 1), 0.625 * stats.norm.sf(t + 1)], axis=1)
    stratum = Stratum(n, q, np.stack([pc / (0.375 * n), (1 - pc) / (0.625 * n)], axis=1))
    levels = [0.025, 0.5, 0.975]
    got, sd = exact_quantiles(stratum, levels), np.sqrt(moments(stratum)[1])
    for j in range(13):
        v = stratum.values[j]
        room = max(0.05 * sd[j], 0.02 * v.max())
        for level, x in zip(levels, got[:, j], strict=True):
            assert trinomial_cdf(x - room, n, q[j], v) <= level + 1e-3
            assert trinomial_cdf(x + room, n, q[j], v) >= level - 1e-3


@law(200)
@given(st.floats(0, 1e6), st.floats(1e-6, 1e3), st.floats(1e-15, 0.5))
def test_bernsteins_bound_is_where_his_inequality_leaves_the_tail(variance, largest, tail):
    # P(|X - mean| >= t) <= 2 exp(-t² / (2 (variance + largest t / 3))), which is the tail at the t returned.
    t = bernstein(variance, largest, tail)
    assert 2 * math.exp(-t * t / (2 * (variance + largest * t / 3))) == pytest.approx(tail, rel=1e-9)


@pytest.mark.parametrize("strata", [[], ["text"], [Stratum(3, [1.0], [0.5]), None]])
def test_strata_are_at_least_one_and_nothing_else(strata):
    with pytest.raises(InputError, match="`strata` must be Stratum objects, at least one, got"):
        moments(strata)


@pytest.mark.parametrize("n", [1, 7, 10**6, 2**53])
def test_rounding_of_a_transform_does_not_grow_in_its_power(n):
    above = np.array([1.0, 1 + 2.0**-52, (1 + 2.0**-52) * 1j, -1 - 2.0**-52])
    assert np.abs(power(above, n)).max() <= 1 + 1e-15
    inside = np.array([0.3 + 0.4j, 0.5, 1 - 1e-3])
    if n < 100:
        np.testing.assert_allclose(power(inside, n), inside**n, rtol=1e-13)


@pytest.mark.law
def test_quantiles_of_the_sum_of_two_lattices_are_those_of_all_pairs():
    for rng in random_worlds(20, stream=1907):
        parts = tuple(
            Lattice(float(rng.normal()), float(step), rng.dirichlet(np.ones(size)), 0.0)
            for step, size in zip(rng.choice([0.3, 1.0, 7.1], 2), rng.integers(1, 7, 2), strict=True)
        )
        values = [part.base + part.step * np.arange(part.mass.size) for part in parts]
        atoms = np.add.outer(*values).ravel()
        mass = np.multiply.outer(parts[0].mass, parts[1].mass).ravel()
        order = np.argsort(atoms)
        reached = np.cumsum(mass[order])
        levels = np.append((np.append(0.0, reached[:-1]) + reached) / 2, 1e-12)  # between the steps
        expected = atoms[order][np.append(np.arange(atoms.size), 0)]
        mean = float(mass @ atoms)
        std = float(np.sqrt(mass @ (atoms - mean) ** 2)) or 1.0
        np.testing.assert_allclose(convolution_quantile(levels, parts, mean, std), expected, atol=1e-9)
