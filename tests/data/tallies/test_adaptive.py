"""Bins that follow the data say the truth about every world, and are short in any order of the rows."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest

import costcurves as cc
from costcurves.data.tallies import adaptive_bins as adaptive
from costcurves.data.tallies import bins as binning
from laws import FUZZ_SEED, random_worlds

pytestmark = pytest.mark.usefixtures("way")

KINDS = ("normal", "probability", "near one", "one octave", "near 1e9", "skewed", "tied", "one heavy score", "float32")
ORDERS = ("shuffled", "sorted", "falling", "by class", "in blocks", "nearly sorted")


def world_scores(rng, y, kind):
    """Return scores of some kind that tell the classes apart a little."""
    z = rng.normal(1.2 * y, 1.0)
    return {
        "normal": lambda: z,
        "probability": lambda: 1 / (1 + np.exp(-z)),
        "near one": lambda: 1 - 10.0 ** (-6 - np.abs(z)),
        "one octave": lambda: 0.5 + np.minimum(0.4, np.abs(z) / 1e6),
        "near 1e9": lambda: 1e9 + z,
        "skewed": lambda: np.exp(8 * z),
        "tied": lambda: np.round(z, 1),
        "one heavy score": lambda: np.where(rng.random(y.size) < 0.6, 0.25, z),
        "float32": lambda: z.astype(np.float32),
    }[kind]()


def ordered(rng, y, scores, order):
    """Return the rows in some order."""
    rows = {
        "shuffled": lambda: rng.permutation(y.size),
        "sorted": lambda: np.argsort(scores, kind="stable"),
        "falling": lambda: np.argsort(-scores, kind="stable"),
        "by class": lambda: np.argsort(y, kind="stable"),
        "in blocks": lambda: np.argsort(scores > np.median(scores), kind="stable"),
        "nearly sorted": lambda: np.argsort(np.where(rng.random(y.size) < 0.02, rng.permutation(scores), scores)),
    }[order]()
    return y[rows], scores[rows]


def labels(rng, size):
    """Return labels of both classes, sometimes few of one."""
    y = rng.random(size) < rng.choice([0.5, 0.2, 0.03])
    y[rng.permutation(size)[:2]] = False, True
    return y


def tally_of(rng, y, scores, weights, resolution):
    """Return a tally made of random batches, of which some are counted apart, sent as bytes and merged."""
    parts = [cc.ScoreTally(resolution=resolution) for _ in range(rng.integers(1, 4))]
    cuts = np.sort(rng.integers(0, y.size + 1, rng.integers(0, 8)))
    for rows in np.split(np.arange(y.size), cuts):
        part = parts[rng.integers(len(parts))]
        part.update(y[rows], scores[rows], None if weights is None else weights[rows])
    first, *others = [pickle.loads(pickle.dumps(part)) if rng.random() < 0.3 else part for part in parts]
    for other in others:
        first.merge(other)
    return first


def least_costs(y, scores, weights, pc):
    """Return the cost of the best of all thresholds at each pc, by trying them all."""
    w = np.ones(y.size) if weights is None else weights
    cuts = np.append(np.unique(scores.astype(np.float64)), np.inf)
    predicted = scores.astype(np.float64)[None, :] >= cuts[:, None]
    fnr = (~predicted & y) @ w / w[y].sum()
    fpr = (predicted & ~y) @ w / w[~y].sum()
    return (np.outer(pc, fnr) + np.outer(1 - pc, fpr)).min(axis=1)


@pytest.fixture
def small(monkeypatch):
    """Let few bins be enough, and few rows be many."""
    monkeypatch.setattr(binning, "FEWEST", 4)
    monkeypatch.setattr(adaptive, "FEWEST_WAITING", 40)


@pytest.mark.law
def test_the_exact_cost_is_at_most_max_error_below_the_binned_one(small):
    errors = []
    for rng in random_worlds(200, stream=2801):
        kind, order = rng.choice(KINDS), rng.choice(ORDERS)
        y = labels(rng, int(rng.integers(2, 250)))
        y, scores = ordered(rng, y, world_scores(rng, y, kind), order)
        weights = rng.integers(1, 4, y.size).astype(float) if rng.random() < 0.2 else None
        resolution = int(rng.choice([4, 10, 33]))
        tally = tally_of(rng, y, scores, weights, resolution)
        curve = tally.to_roc_curve()
        table = tally._table.ranges
        assert table.size <= resolution
        assert (table.low <= table.high).all()
        assert (table.high[:-1] < table.low[1:]).all()
        steps = cc.CostCurve(curve)
        exact = cc.CostCurve(cc.RocCurve.from_predictions(y, scores, sample_weight=weights))
        pc = np.unique(np.concatenate((np.linspace(0, 1, 21), steps.breaks, exact.breaks)))
        gap = steps.evaluate(pc) - least_costs(y, scores, weights, pc)
        assert gap.min() >= -1e-12, (kind, order)
        assert gap.max() <= curve.max_error + 1e-12, (kind, order)
        errors.append(curve.max_error)
    assert FUZZ_SEED is not None or 0.2 < np.mean(np.array(errors) > 0) < 0.99


@pytest.mark.law
def test_points_of_bins_lie_on_the_true_curve_at_their_thresholds(small):
    for rng in random_worlds(100, stream=2802):
        y = labels(rng, int(rng.integers(2, 250)))
        y, scores = ordered(rng, y, world_scores(rng, y, rng.choice(KINDS)), rng.choice(ORDERS))
        curve = tally_of(rng, y, scores, None, int(rng.choice([4, 10, 33]))).to_roc_curve()
        for cut, fp, tp in zip(curve.thresholds[1:], curve.fp[1:], curve.tp[1:], strict=True):
            predicted = scores.astype(np.float64) >= cut
            assert ((predicted & ~y).sum(), (predicted & y).sum()) == (fp, tp)


@pytest.mark.parametrize("kind", KINDS)
def test_bins_are_short_in_any_order_of_the_rows(kind):
    rng = np.random.default_rng(28)
    y = rng.random(150_000) < 0.1
    scores = world_scores(rng, y, kind)
    errors = {}
    for order in ORDERS:
        first, second = ordered(rng, y, scores, order)
        tally = cc.ScoreTally(resolution=2**14)
        for rows in np.array_split(np.arange(y.size), 9):
            tally.update(first[rows], second[rows])
        errors[order] = tally.to_roc_curve().max_error
    assert max(errors.values()) < 1e-3, errors


def test_rare_positives_are_told_apart():
    rng = np.random.default_rng(29)
    y = rng.random(300_000) < 3e-4
    scores = rng.normal(3.0 * y, 1.0)
    assert cc.ScoreTally(resolution=2**14).update(y, scores).to_roc_curve().max_error < 1e-3


@pytest.mark.law
def test_scores_that_are_no_more_than_the_bins_have_no_error():
    for rng in random_worlds(8, stream=2803):
        y = labels(rng, 3000)
        scores = world_scores(rng, y, rng.choice(KINDS))
        curve = tally_of(rng, y, scores, None, 2**14).to_roc_curve()
        exact = cc.RocCurve.from_predictions(y, scores, points="hull")
        assert curve.max_error == 0
        assert curve.fp.tolist() == exact.fp.tolist()
        assert curve.thresholds.tolist() == exact.thresholds.tolist()


def test_ranges_join_only_within_a_dyadic_range():
    """Of rows that come later, few fall into one bin, although the first rows lie far from them."""
    rng = np.random.default_rng(30)
    first = np.concatenate((rng.random(200_000) * 0.1, rng.random(5)))  # a few of the first rows lie among the last
    scores = np.concatenate((first, 0.5 + rng.random(200_000) / 2))
    y = rng.random(scores.size) < scores
    tally = cc.ScoreTally(resolution=2**14)
    for rows in np.array_split(np.arange(y.size), 12):
        tally.update(y[rows], scores[rows])
    ranges = tally._table.ranges
    share = (ranges.neg + ranges.pos) / y.size
    assert share[ranges.high > ranges.low].max() < 1e-3


def test_lengths_in_bits_are_those_of_whole_numbers():
    values = [0, 1, 2, 3, 4, 2**53 - 1, 2**53, 2**53 + 1, 2**62 + 1, 2**63 - 1, 2**63, 2**64 - 1]
    assert adaptive._bit_length(np.array(values, np.uint64)).tolist() == [value.bit_length() for value in values]


@pytest.mark.law
def test_ranges_cover_what_was_counted(small):
    """Every count of a range is the number of rows between its ends, in whole numbers."""
    for rng in random_worlds(50, stream=2804):
        y = labels(rng, int(rng.integers(2, 250)))
        scores = world_scores(rng, y, rng.choice(KINDS)).astype(np.float64)
        tally = tally_of(rng, y, scores, None, int(rng.choice([4, 10, 33])))
        ranges = tally._table.ranges
        key = [Fraction(s) for s in scores.tolist()]
        low, high = (
            [Fraction(s) for s in binning.scores_of_keys(end, "float64").tolist()] for end in (ranges.low, ranges.high)
        )
        for i in range(ranges.size):
            inside = np.array([low[i] <= k <= high[i] for k in key])
            assert (inside & ~y).sum() == ranges.neg[i]
            assert (inside & y).sum() == ranges.pos[i]
