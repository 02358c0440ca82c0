"""Simultaneous limits of paired differences with moving thresholds: what they need, find, and how often they hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import costcurves as cc
from costcurves._base.errors import InputError
from costcurves.counting import compiled
from costcurves.inference.paired.bands import difference_band
from costcurves.inference.paired.critical import Cells, difference_critical, drawn_discordant, smoothed_cells
from costcurves.inference.paired.discordant import PairedCounts, counts_of_changes, overlap, paired_counts
from costcurves.inference.paired.limits import difference_limits
from costcurves.inference.rates import critical, mid_p_at
from costcurves.inference.simultaneous import tabulated
from joint_coverage import joint_coverage, needed

PC = np.arange(1, 100) / 100


class World:
    """Binormal scores of two classifiers (scale 3, correlation rho), judged at thresholds that are best for mu."""

    def __init__(self, n: int, mu: float, rho: float, shift: float = 0.0) -> None:
        self.n, self.rho, self.means = n, rho, (mu + shift, mu)
        self.thresholds = 9 * np.log((1 - PC) / PC) / (2 * mu)
        miss = [stats.norm.cdf(self.thresholds, mean, 3) for mean in self.means]
        alarm = [stats.norm.sf(self.thresholds, -mean, 3) for mean in self.means]
        self.true = PC * (miss[0] - miss[1]) + (1 - PC) * (alarm[0] - alarm[1])

    def draw(self, rng: np.random.Generator) -> tuple[PairedCounts, PairedCounts]:
        """Return the discordant examples of one data set."""
        found = []
        for true_class, sign in (("positive", 1), ("negative", -1)):
            x, y = rng.standard_normal((2, self.n))
            y = self.rho * x + (1 - self.rho**2) ** 0.5 * y
            a, b = 3 * x + sign * self.means[0], 3 * y + sign * self.means[1]
            found.append(paired_counts(true_class, a, b, self.thresholds, self.thresholds, ranges=True))
        return found[0], found[1]

    def band(self, pos: PairedCounts, neg: PairedCounts, **options):
        """Return the simultaneous band of one data set."""
        return difference_band(
            pos.only_a, pos.only_b, self.n, neg.only_a, neg.only_b, self.n, PC,
            simultaneous=True, ranges=(pos.ranges, neg.ranges), **options,
        )  # fmt: skip

    def sides(self, runs: int, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return where the examples of many data sets begin to be predicted positive: (runs, n), a and b, by class."""
        found = []
        for sign in (1, -1):
            x, y = rng.standard_normal((2, runs * self.n))
            y = self.rho * x + (1 - self.rho**2) ** 0.5 * y
            pair = 3 * x + sign * self.means[0], 3 * y + sign * self.means[1]
            at = [PC.size - np.searchsorted(self.thresholds[::-1], s, side="right").reshape(runs, self.n) for s in pair]
            found.append((at[0], at[1]))
        return found

    def needed(self, sides: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """Return the critical value that the band of each data set needs to hold."""
        runs, width = sides[0][0].shape[0], PC.size + 1
        row, counts = np.arange(runs)[:, None] * width, []
        for true_class, pair in zip(("positive", "negative"), sides, strict=True):
            first, last = pair[::-1] if true_class == "positive" else pair
            # As in `paired_counts`: cumulated histograms of where examples begin and end to be discordant.
            begun, ended, opened = (
                np.cumsum(np.bincount((row + at).ravel(), minlength=runs * width).reshape(runs, -1), axis=1)[:, :-1]
                for at in (first, last, np.minimum(first, last))
            )
            counts += [(opened - ended).astype(float), (opened - begun).astype(float)]
        table = tabulated(mid_p_at)

        def covers(z: float, which: np.ndarray) -> np.ndarray:
            some = tuple(c[which] for c in counts)
            _, low, high = difference_limits(some, (self.n, self.n), PC, z, "mid-p", "stratified", 0.0, table)
            return ((low <= self.true + 1e-12) & (self.true <= high + 1e-12)).all(axis=1)

        return needed(covers, runs)

    def critical_of(self, sides: list[tuple[np.ndarray, np.ndarray]], which: int) -> float:
        """Return the critical value of one of the data sets."""
        pos, neg = (
            counts_of_changes(true_class, a[which], b[which], PC.size, ranges=True)
            for true_class, (a, b) in zip(("positive", "negative"), sides, strict=True)
        )
        return self.band(pos, neg).critical

    def joint_coverage(self, runs: int, look: int, seed: int) -> float:
        """Return how often the 95 % band of a data set holds the true difference at all 99 points."""
        rng = np.random.default_rng(seed)
        parts = [self.sides(1000, rng) for _ in range(runs // 1000)]
        need = np.concatenate([self.needed(part) for part in parts])
        return joint_coverage(need, lambda i: self.critical_of(parts[i // 1000], i % 1000), look, rng)


@pytest.mark.parametrize(("n", "mu", "rho"), [(250, 2.0, 0.6), (1000, 0.75, 0.9)])
def test_critical_values_are_those_that_simulated_differences_need(n, mu, rho):
    """A small form of the study below: the bands of a few data sets, judged by what many others need."""
    world = World(n, mu, rho)
    sides = world.sides(1500, np.random.default_rng(1))
    need = world.needed(sides)
    found = [world.critical_of(sides, i) for i in range(5)]
    assert np.mean([np.mean(need <= z) for z in found]) == pytest.approx(0.95, abs=0.02)


def test_the_same_data_and_the_other_order_have_the_same_critical_value():
    world = World(250, 2.0, 0.6)
    pos, neg = world.draw(np.random.default_rng(5))
    first = world.band(pos, neg)
    assert first.critical == world.band(pos, neg).critical
    mirrored = world.band(pos.reversed(), neg.reversed())
    assert mirrored.critical == first.critical
    np.testing.assert_allclose(mirrored.lower, -first.upper, atol=1e-15)
    assert 2.8 < first.critical < 3.3


@pytest.mark.parametrize(
    "options", [{"sampling": "full"}, {"laplace": 0.5}, {"effective": (180.5, 90.2)}, {"method": "gaussian"}]
)
def test_every_variant_of_a_difference_has_a_critical_value(options):
    world = World(250, 1.0, 0.6)
    assert critical(0.95) < world.band(*world.draw(np.random.default_rng(6)), **options).critical < 3.5


def test_identical_moving_classifiers_differ_by_exactly_nothing():
    rng = np.random.default_rng(7)
    y, score = rng.random(300) < 0.4, rng.normal(size=300)
    diff = cc.compare(y, score, score)
    np.testing.assert_array_equal(diff.estimate, 0.0)
    assert ((diff.lower <= 0) & (diff.upper >= 0)).all()
    assert not diff.significant().decided


@pytest.mark.parametrize(
    ("y", "a", "b"),
    [
        ([0, 1], [0.0, 1.0], [1.0, 0.0]),  # one case per class
        ([0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]),  # perfect against reversed
        ([0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 7]),  # both perfect
        ([0, 0, 0, 1, 1, 1], [1, 1, 1, 1, 1, 1], [1, 2, 4, 3, 5, 6]),  # all tied
    ],
)
def test_degenerate_moving_thresholds_give_finite_possible_limits(y, a, b):
    for options in (
        {},
        {"sampling": "full"},
        {"laplace": 1.0},
        {"pc": [0.5]},
        {"sample_weight": np.arange(len(y)) + 0.5},
    ):
        diff = cc.compare(y, a, b, **({"pc": np.linspace(0, 1, 11)} | options))
        for values in (diff.estimate, diff.lower, diff.upper):
            assert np.isfinite(values).all()
            # With class frequencies that vary, all cases may be of the class whose errors cost more.
            assert (np.abs(values) <= (2 if options.get("sampling") == "full" else 1)).all()


def test_cells_are_the_counts_with_half_an_example_more():
    pos, _ = World(250, 2.0, 0.6).draw(np.random.default_rng(8))
    used = np.array([0, 7, 31, 50, 98])
    cells = smoothed_cells(np.asarray(pos.ranges, dtype=float), used, 250)
    only_a, only_b = cells.rates(used.size)
    np.testing.assert_allclose(only_a * 251, pos.only_a[used] + 0.5)
    np.testing.assert_allclose(only_b * 251, pos.only_b[used] + 0.5)


@pytest.mark.parametrize("draws", [400, 40_000])  # one by one, and together
def test_drawn_counts_have_the_moments_of_a_multinomial(draws):
    rng = np.random.default_rng(9)
    first, last = np.array([0, 0, 1, 2, 0, 3]), np.array([2, 4, 3, 4, 3, 4])
    kind, p = np.array([True, True, True, False, False, True]), np.array([0.1, 0.05, 0.2, 0.1, 0.15, 0.002])
    a, b = drawn_discordant(Cells(first, last, kind, p), draws, 4, 20_000, rng)
    inside = (first[:, None] <= np.arange(4)) & (np.arange(4) < last[:, None])
    one = np.concatenate([inside & kind[:, None], inside & ~kind[:, None]], axis=1).astype(float)
    mean = p @ one
    drawn = np.concatenate([a, b], axis=1)
    np.testing.assert_allclose(drawn.mean(axis=0), draws * mean, rtol=0.02)
    covariance = draws * (one.T * p @ one - np.multiply.outer(mean, mean))
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.04 * covariance.max())


def test_rare_kinds_are_drawn_one_by_one_among_many():
    # Half an example expected at the last point: a rounded normal would leave it without one in half of the data sets.
    kinds = Cells(np.array([0, 2]), np.array([2, 3]), np.array([True, True]), np.array([0.3, 0.5 / 40_000]))
    a, _ = drawn_discordant(kinds, 40_000, 3, 4000, np.random.default_rng(11))
    assert np.mean(a[:, 2] == 0) == pytest.approx(np.exp(-0.5), abs=0.03)


def test_ranges_tell_counts_and_overlaps():
    pos, neg = World(60, 2.0, 0.3).draw(np.random.default_rng(10))
    for counts in (pos, neg):
        table, m = np.asarray(counts.ranges), PC.size
        at = np.arange(m)
        for i, j in ((0, 0), (20, 20), (30, 55), (70, 40)):
            low, high = min(i, j), max(i, j)
            both = table[: low + 1, high + 1 :].sum() + table[high + 1 :, : low + 1].sum()
            assert overlap(table)[i, j] == both
        np.testing.assert_array_equal([table[: k + 1, k + 1 :].sum() for k in at], counts.only_a)
        np.testing.assert_array_equal([table[k + 1 :, : k + 1].sum() for k in at], counts.only_b)


def test_moving_thresholds_need_ranges_of_the_same_points():
    counts = tuple(np.array(c, dtype=float) for c in ([1, 2], [0, 0], [0, 0], [1, 0]))
    with pytest.raises(InputError, match=r"`ranges` must have shape \(3, 3\)"):
        difference_critical(counts, (9, 9), np.array([0.2, 0.8]), 0.95, ranges=(np.zeros((2, 2)), np.zeros((2, 2))))


@pytest.mark.study
@pytest.mark.parametrize("rho", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("mu", [0.75, 2.0, 3.0])
@pytest.mark.parametrize("n", [250, 1000])
def test_simultaneous_coverage_of_differences_in_full(n, mu, rho):
    assert World(n, mu, rho).joint_coverage(12_000, 120, 3) == pytest.approx(0.95, abs=0.015)


@pytest.mark.study
@pytest.mark.parametrize(("n", "mu", "rho"), [(250, 2.0, 0.3), (250, 2.0, 0.9), (1000, 2.0, 0.6)])
def test_simultaneous_coverage_of_a_true_difference_in_full(n, mu, rho):
    assert World(n, mu, rho, shift=1.0).joint_coverage(12_000, 120, 4) == pytest.approx(0.95, abs=0.015)


def test_compiled_draws_are_those_of_numpy(monkeypatch):
    rng = np.random.default_rng(5)
    first = rng.integers(0, 6, 30)
    kinds = Cells(first, rng.integers(first + 1, 8), rng.random(30) < 0.5, rng.dirichlet(np.ones(31))[:30] * 0.4)
    monkeypatch.setattr(compiled, "loops", lambda: None)
    again = drawn_discordant(kinds, 400, 7, 50, np.random.default_rng(6))
    monkeypatch.undo()
    assert again[0].sum() > 0
    for one, other in zip(again, drawn_discordant(kinds, 400, 7, 50, np.random.default_rng(6)), strict=True):
        np.testing.assert_array_equal(one, other)
