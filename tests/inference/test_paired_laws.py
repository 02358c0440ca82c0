"""Laws of paired differences: p-values and limits agree, no order matters, and small classes keep their level."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

import numpy as np
import pytest
from scipy import stats

import costcurves as cc
from costcurves.inference.bands.one_curve import cost_band
from costcurves.inference.paired.bands import BOOTSTRAPS, difference_band
from costcurves.inference.paired.discordant import paired_counts
from costcurves.inference.paired.limits import difference_limits
from costcurves.inference.paired.rates import PAIRED_METHODS
from costcurves.inference.rates import critical
from laws import random_worlds

DIFFERENCE_METHODS = (*PAIRED_METHODS, *BOOTSTRAPS)

SAMPLINGS = ("stratified", "full")
REVERSED = slice(None, None, -1)


def random_tables(rng, most=60, tables=40):
    """Return class sizes, counts of four kinds of discordant examples of many tables, and a different pc for each."""
    sizes = [int(n) for n in np.exp(rng.uniform(0, np.log(most), 2)).round()]
    pc = np.unique(np.where(rng.random(tables) < 0.3, rng.integers(0, 11, tables) / 10, rng.random(tables)))
    counts = []
    for n in sizes:
        shares = [rng.dirichlet(rng.choice([0.2, 1.0], 3)) for _ in pc]
        counts += list(np.array([rng.multinomial(n, share) for share in shares]).T[:2])
    return sizes, counts, pc


def bands(sizes, counts, pc, **options):
    a, b, c, d = counts
    return difference_band(a, b, sizes[0], c, d, sizes[1], pc, n_resamples=200, rng=7, **options)


def worlds_for(method, sampling):
    """Return how many worlds of about 40 tables there are: fewer where an answer takes longer."""
    worlds = {"mid-p": 5, "score": 3, "exact": 2 if sampling == "full" else 5, "resample": 4}.get(method, 20)
    return random_worlds(worlds, stream=2300 + DIFFERENCE_METHODS.index(method))


@pytest.mark.law
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("method", DIFFERENCE_METHODS)
def test_p_is_at_most_alpha_iff_the_interval_excludes_zero(method, sampling):
    for rng in worlds_for(method, sampling):
        tables = random_tables(rng)
        p = bands(*tables, method=method, sampling=sampling).p_values_at(tables[-1])
        near = float(np.clip(rng.choice(p), 1e-6, 0.99))
        for alpha in (0.01, 0.05, 0.1, float(rng.random()), near * (1 - 1e-6), near * (1 + 1e-6)):
            band = bands(*tables, method=method, sampling=sampling, level=1 - alpha)
            excluded = (band.lower > 0) | (band.upper < 0)
            told = np.abs(p - alpha) > 1e-9  # closer, rounding of the level decides
            assert np.array_equal(excluded[told], (p <= alpha)[told])


@pytest.mark.law
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("method", DIFFERENCE_METHODS)
def test_the_order_of_classifiers_and_of_classes_does_not_matter(method, sampling):
    # Swapping classifiers negates to the last bit; swapping classes rounds 1 - pc, hence 1e-12 there.
    for rng in worlds_for(method, sampling):
        sizes, (a, b, c, d), pc = random_tables(rng)
        options = {"method": method, "sampling": sampling, "level": float(rng.uniform(0.5, 0.999))}
        band = bands(sizes, (a, b, c, d), pc, **options)
        other = bands(sizes, (b, a, d, c), pc, **options)
        for one, two in ((band.lower, other.upper), (band.upper, other.lower), (band.estimate, other.estimate)):
            assert np.array_equal(one, -two)
        p = band.p_values_at(pc)
        np.testing.assert_allclose(other.p_values_at(pc), p, rtol=0, atol=1e-12)
        turned = [count[REVERSED] for count in (c, d, a, b)]
        swapped = bands(sizes[::-1], turned, (1 - pc)[REVERSED], **options)
        for name in ("estimate", "lower", "upper"):
            np.testing.assert_allclose(getattr(swapped, name)[REVERSED], getattr(band, name), rtol=0, atol=1e-12)
        np.testing.assert_allclose(swapped.p_values_at(swapped.pc)[REVERSED], p, rtol=0, atol=1e-11)


def moving_world(rng):
    """Return scores of both classes and thresholds of two classifiers that fall with pc."""
    n, m, points = (int(k) for k in rng.integers((3, 3, 2), (25, 25, 12)))
    pos, neg = rng.normal(0.5, 1, (n, 2)).round(1), rng.normal(-0.5, 1, (m, 2)).round(1)
    cuts = [np.sort(rng.normal(0, 1, points).round(1) + 0.05)[REVERSED] for _ in range(2)]
    return pos, neg, cuts, np.sort(rng.random(points))


def moving_band(pos, neg, cuts, pc, **options):
    counts = [paired_counts(which, s[:, 0], s[:, 1], *cuts, ranges=True) for which, s in
              (("positive", pos), ("negative", neg))]  # fmt: skip
    p, q = counts
    return difference_band(
        p.only_a, p.only_b, len(pos), q.only_a, q.only_b, len(neg), pc, ranges=(p.ranges, q.ranges), **options
    )


@pytest.mark.law
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("method", ["mid-p", "gaussian"])
def test_simultaneous_bands_do_not_depend_on_any_order(method, sampling):
    for rng in random_worlds(4, stream=2320):
        pos, neg, cuts, pc = moving_world(rng)
        options = {"method": method, "sampling": sampling, "simultaneous": True}
        band = moving_band(pos, neg, cuts, pc, **options)
        rows = moving_band(rng.permutation(pos), rng.permutation(neg), cuts, pc, **options)
        assert np.array_equal(rows.lower, band.lower)
        assert np.array_equal(rows.upper, band.upper)
        other = moving_band(pos[:, ::-1], neg[:, ::-1], cuts[::-1], pc, **options)
        assert np.array_equal(other.lower, -band.upper)
        # A score that is negated is high for the other class, and its thresholds fall with that class's pc.
        turned = moving_band(-neg, -pos, [-cut[REVERSED] for cut in cuts], (1 - pc)[REVERSED], **options)
        assert turned.critical == band.critical
        np.testing.assert_allclose(turned.lower[REVERSED], band.lower, rtol=0, atol=1e-12)
        np.testing.assert_allclose(turned.upper[REVERSED], band.upper, rtol=0, atol=1e-12)


@pytest.mark.law
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("method", ["wilson", "gaussian", "exact", "resample"])
def test_bands_of_one_curve_are_the_same_in_both_orders_of_the_classes(method, sampling):
    for rng in random_worlds(4, stream=2330):
        n, m, points = (int(k) for k in rng.integers((2, 2, 2), (25, 25, 10)))
        fn, fp = np.sort(rng.integers(0, n + 1, points))[REVERSED], np.sort(rng.integers(0, m + 1, points))
        pc = np.sort(rng.random(points))
        beta = (3.0, 5.0) if method in ("wilson", "gaussian", "resample") and rng.random() < 0.5 else None
        for simultaneous in (False, True):
            options = {"method": method, "sampling": sampling, "simultaneous": simultaneous, "n_resamples": 100}
            band = cost_band(fn, n, fp, m, pc, **options, prevalence_uncertainty=beta, rng=3)
            turned = cost_band(
                fp[REVERSED], m, fn[REVERSED], n, (1 - pc)[REVERSED], **options,
                prevalence_uncertainty=beta and beta[::-1], rng=3,
            )  # fmt: skip
            for name in ("estimate", "lower", "upper"):
                np.testing.assert_allclose(getattr(turned, name)[REVERSED], getattr(band, name), rtol=0, atol=1e-12)


@pytest.mark.law
def test_families_do_not_depend_on_names_or_orders():
    for rng in random_worlds(3, stream=2340):
        n = int(rng.integers(20, 60))
        y = np.append([0, 1], rng.integers(0, 2, n))
        scores = {name: np.round(y + rng.normal(0, 1.2, n + 2), 1) for name in "abcd"}
        scores["copy"] = scores["a"].copy()
        pc = np.sort(rng.random(9))
        many = cc.compare_many(y, scores, pc=pc)
        renamed = dict(zip(scores, rng.permutation(["v", "w", "x", "y", "z"]), strict=True))
        order = rng.permutation(list(scores))
        rows = rng.permutation(y.size)
        again = cc.compare_many(y[rows], {renamed[name]: scores[name][rows] for name in order}, pc=pc)
        for one in many.pairs:
            two = again.pair(*(renamed[name] for name in one.names))
            assert np.array_equal(one.lower, two.lower)
            assert np.array_equal(one.upper, two.upper)
        turned = cc.compare_many(1 - y, {name: -s for name, s in scores.items()}, pc=(1 - pc)[REVERSED])
        for one, two in zip(many.pairs, turned.pairs, strict=True):
            np.testing.assert_allclose(two.lower[REVERSED], one.lower, rtol=0, atol=1e-12)


def test_resampled_differences_answer_every_question_from_the_same_resamples():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 80)
    a, b = (y + rng.normal(0, 1, 80) for _ in range(2))
    diff = cc.compare(y, a, b, method="resample", simultaneous=False)
    assert diff.at(0.37).lower == diff.lower[37]
    other = diff.reversed()
    assert np.array_equal(other.p_value, diff.p_value)
    excluded = (diff.lower > 0) | (diff.upper < 0)
    assert np.array_equal(excluded, diff.p_value <= 0.05)


def full_distribution(counts, sizes, pc):
    """Return the differences and probabilities of all resamples of all examples together, in fractions."""
    n = sum(sizes)
    shares = [Fraction(int(k), n) for k in counts]
    shares.append(1 - sum(shares))
    found = {}

    def draw(left, cells, value, mass):
        if len(cells) == 1:
            mass *= cells[0][0] ** left / Fraction(factorial(left))
            found[value] = found.get(value, 0) + mass
            return
        (share, worth), *rest = cells
        for k in range(left + 1 if share else 1):
            draw(left - k, rest, value + k * worth, mass * share**k / factorial(k))

    worths = [pc / sizes[0], -pc / sizes[0], (1 - pc) / sizes[1], -(1 - pc) / sizes[1], Fraction(0)]
    draw(n, list(zip(shares, worths, strict=True)), Fraction(0), Fraction(factorial(n)))
    values = sorted(found)
    return values, [found[v] for v in values]


@pytest.mark.law
def test_exact_limits_of_full_sampling_are_those_of_all_resamples():
    for rng in random_worlds(25, stream=2350):
        sizes = [int(k) for k in rng.integers(1, 5, 2)]
        counts = [k for n in sizes for k in rng.multinomial(n, rng.dirichlet([1, 1, 1]))[:2]]
        pc = Fraction(int(rng.integers(0, 21)), 20)
        values, masses = full_distribution(counts, sizes, pc)
        # Also levels whose tail is nearly reached by a value, or nearly passed.
        reached = float(sum(masses[: int(rng.integers(len(masses))) + 1]) + Fraction(int(rng.choice([-1, 1])), 3000))
        level = float(rng.choice([0.5, 0.8, 0.9, 0.95, np.clip(1 - 2 * reached, 0.01, 0.99)]))
        tail = Fraction((1 - level) / 2) + Fraction(1, 10**13)
        lower = max(v for v in values if sum(m for w, m in zip(values, masses, strict=True) if w < v) <= tail)
        upper = min(v for v in values if sum(m for w, m in zip(values, masses, strict=True) if w > v) <= tail)
        tails = [sum(m for v, m in zip(values, masses, strict=True) if s * v <= 0) for s in (1, -1)]
        a, b, c, d = counts
        band = difference_band(
            a, b, sizes[0], c, d, sizes[1], [float(pc)], method="exact", sampling="full", level=level
        )
        assert band.lower[0] == pytest.approx(float(lower), abs=1e-12)
        assert band.upper[0] == pytest.approx(float(upper), abs=1e-12)
        assert band.p_values_at(float(pc)) == pytest.approx(min(1.0, 2 * float(min(tails))), abs=1e-12)


def test_limits_of_full_sampling_that_contradicted_their_p_value():
    band = difference_band(13, 4, 55, 1, 0, 1, [0.0121], method="exact", sampling="full")
    assert band.p_values_at(0.0121) < 0.05
    assert band.lower[0] > 0


def outcomes(n):
    """Return every count of examples that only a, only b gets wrong, as two columns."""
    return np.array([(a, b) for a in range(n + 1) for b in range(n + 1 - a)], dtype=float)


def chances(counts, n, only_a, only_b):
    """Return the probability of each outcome (columns) at each pair of rates (rows)."""
    cells = np.column_stack([counts, n - counts.sum(axis=1)]).astype(int)
    rates = np.clip(np.column_stack([only_a, only_b, 1 - only_a - only_b]), 0, 1)
    return np.array([stats.multinomial(n, rate / rate.sum()).pmf(cells) for rate in rates])


FINE = np.unique([*np.linspace(0, 1, 9), 0.01, 0.05, 0.92])
NULL = np.array([(p, q) for p in FINE for q in FINE if p + q <= 1 + 1e-12])


def largest_error(n_pos, n_neg, pc, alphas):
    """Return, for each alpha, the largest chance of p <= alpha over rates at which both classifiers cost the same."""
    pos, neg = outcomes(n_pos), outcomes(n_neg)
    grid = [np.repeat(pos, len(neg), axis=0), np.tile(neg, (len(pos), 1))]
    counts = tuple(np.ascontiguousarray(table[:, k]) for table in grid for k in (0, 1))
    net = -pc / (1 - pc) * (NULL[:, 0] - NULL[:, 1]) if pc < 1 else np.where(NULL[:, 0] == NULL[:, 1], 0.0, 2.0)
    rates, net = NULL[np.abs(net) <= 1], net[np.abs(net) <= 1]
    of_pos = chances(pos, n_pos, rates[:, 0], rates[:, 1])
    parts = []
    for share in (0.0, 0.02, 0.1, 0.25, 0.5, 0.75, 1.0):  # of the examples that may be discordant beyond the net
        total = np.abs(net) + share * (1 - np.abs(net))
        parts.append(chances(neg, n_neg, (total + net) / 2, (total - net) / 2))
    worst = []
    for alpha in alphas:
        where = np.full(counts[0].size, pc)
        _, low, high = difference_limits(counts, (n_pos, n_neg), where, critical(1 - alpha), "mid-p", "stratified", 0.0)
        rejected = ((low > 0) | (high < 0)).reshape(len(pos), len(neg))
        told = of_pos @ rejected
        worst.append(max(float((told * part).sum(axis=1).max()) for part in parts))
    return worst


@pytest.mark.parametrize(
    ("n_pos", "n_neg"), [(1, 1), (2, 2), (1, 6), (3, 3), (5, 5), (3, 8), (8, 8), (2, 12), (10, 10), (1, 25), (3, 25)]
)
def test_small_classes_are_not_called_different_too_often(n_pos, n_neg):
    alphas = (0.01, 0.05, 0.1)
    for pc in (0.05, 0.3, 0.5, 0.6, 0.9, 1.0):
        for alpha, found in zip(alphas, largest_error(n_pos, n_neg, pc, alphas), strict=True):
            assert found <= alpha


@pytest.mark.law
def test_one_small_class_is_judged_no_less_strictly_than_by_mcnemars_exact_test():
    for rng in random_worlds(15, stream=2410):
        n = int(rng.integers(1, 26))
        a, b = rng.multinomial(n, rng.dirichlet([1, 1, 1]))[:2]
        m = int(rng.integers(1, 100))
        c, d = rng.multinomial(m, rng.dirichlet([1, 1, 1]))[:2]
        p = float(difference_band(a, b, n, c, d, m, [1.0]).p_values_at(1.0))
        exact = stats.binomtest(int(a), int(a + b)).pvalue if a + b else 1.0
        assert p >= exact - 1e-9


def test_five_of_five_all_one_way_are_mcnemars_p():
    assert float(difference_band(5, 0, 5, 0, 0, 5, [1.0]).p_values_at(1.0)) == pytest.approx(0.0625, abs=1e-9)


@pytest.mark.parametrize("method", ["mid-p", "score", "bonett-price", "gaussian"])
@pytest.mark.parametrize("counts", [(4000, 500, 500, 6000), (4000, 500, 6000, 500), (300, 2500, 2500, 300)])
def test_limits_of_large_full_samples_have_the_width_of_the_multinomial_distribution(method, counts):
    # The errors of both classes share the draws, so the two differences are correlated.
    sizes, pc = (5000, 7000), 0.4
    n = sum(sizes)
    worth = np.array([1, -1, 1, -1]) * np.repeat([pc * n / sizes[0], (1 - pc) * n / sizes[1]], 2)
    share = np.array(counts) / n
    spread = np.sqrt((share @ worth**2 - (share @ worth) ** 2) / n)
    cells = tuple(np.array([float(k)]) for k in counts)
    estimate, low, high = difference_limits(cells, sizes, np.array([pc]), 1.96, method, "full", 0.0)
    assert estimate[0] == pytest.approx(share @ worth)
    assert high[0] - low[0] == pytest.approx(2 * 1.96 * spread, rel=0.02)
