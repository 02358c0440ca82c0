"""Significant dominance: all resamples of a tiny set, brute force over folds, and equal classifiers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import costcurves as cc
from costcurves.curves.averages import tpr_at
from costcurves.inference.resampled_curves import Ranking

GRID = np.linspace(0, 1, 41)


def made(rng, n_pos=40, n_neg=60, shifts=(1.2, 1.2), folds=4, decimals=6):
    y = np.repeat([True, False], [n_pos, n_neg])
    fold = np.concatenate([rng.permutation(n_pos) % folds, rng.permutation(n_neg) % folds])
    base = rng.normal(size=y.size)
    scores = {f"c{i}": (shift * y + base + rng.normal(size=y.size)).round(decimals) for i, shift in enumerate(shifts)}
    return y, scores, fold


def test_a_resampled_curve_is_that_of_repeated_cases():
    rng = np.random.default_rng(1)
    for _ in range(50):
        y, s = np.append([0, 1], rng.integers(0, 2, 12)).astype(bool), rng.integers(0, 5, 14)
        drawn = np.append([1, 1], rng.integers(0, 4, 12))
        repeated = cc.RocCurve.from_predictions(np.repeat(y, drawn), np.repeat(s, drawn))
        np.testing.assert_allclose(Ranking.of(s).tpr(y, drawn.astype(float), GRID), tpr_at(repeated, GRID))


def test_the_rule_of_the_study_is_that_intervals_do_not_overlap():
    for seed in range(5):
        y, scores, fold = made(np.random.default_rng(seed), 60, 80, (0.6, 1.6, 1.5), decimals=1)
        predictions = cc.Predictions(y, scores, folds=fold)
        found = predictions.significant_dominance(space="roc", test="intervals", n_points=101)
        averages = {name: predictions.averaged_roc(name, n_points=101, interval="binomial") for name in scores}
        for a, b in itertools.permutations(scores, 2):
            apart = (averages[a].lower > averages[b].upper)[:-1]
            inside = np.zeros(100, dtype=bool)
            for low, high in found.where(a, b):
                inside |= (found.points >= low) & (found.points <= high)
            np.testing.assert_array_equal(inside, apart)


def test_limits_in_roc_space_are_those_of_all_resamples():
    y = np.array([True, True, True, False, False, False])
    scores = {"a": np.array([5.0, 4, 1, 3, 2, 0]), "b": np.array([3.0, 1, 5, 4, 2, 0])}
    points = np.linspace(0.35, 0.6, 4)

    def difference(rows):
        one, other = (cc.RocCurve.from_predictions(y[rows], s[rows]) for s in scores.values())
        return tpr_at(one, points) - tpr_at(other, points)

    once = difference(np.arange(6))
    draws = itertools.product(itertools.product(range(3), repeat=3), itertools.product(range(3, 6), repeat=3))
    deviations = np.array([difference([*pos, *neg]) - once for pos, neg in draws]) * np.sqrt(3 / 2)
    errors = np.sqrt((deviations**2).mean(axis=0) + (1 / 3) ** 2)
    half = np.quantile(np.abs(deviations / errors).max(axis=1), 0.8) * errors
    asked = {"space": "roc", "over": (0.35, 0.6), "n_points": 4, "level": 0.8, "n_resamples": 6000}
    found = cc.significant_dominance(y, scores, **asked)
    np.testing.assert_allclose(found.advantage[0], once)
    np.testing.assert_allclose(found.upper[0] - found.advantage[0], half, rtol=0.04)
    np.testing.assert_allclose(found.advantage - found.lower, found.upper - found.advantage)


def test_a_composite_is_judged_by_the_version_and_threshold_that_other_folds_choose():
    rng = np.random.default_rng(3)
    y, scores, fold = made(rng, 20, 30, (0.5, 1.0, 1.5), folds=3, decimals=1)
    versions, pc = {"A": ["c0", "c2"], "B": "c1"}, np.linspace(0.2, 0.7, 6)
    found = cc.significant_dominance(y, scores, folds=fold, versions=versions, over=(0.2, 0.7), n_points=6)
    cost = {}
    for name, group in (("A", ["c0", "c2"]), ("B", ["c1"])):
        cost[name] = np.zeros(6)
        for k, x in itertools.product(range(3), range(6)):
            out = fold == k
            best = np.inf
            for one in group:  # the first of equally cheap ones, from the highest threshold
                for cut in [np.inf, *np.unique(scores[one])[::-1]]:
                    called = scores[one] >= cut
                    price = pc[x] * (~called[y & ~out]).mean() + (1 - pc[x]) * called[~y & ~out].mean()
                    if price < best - 1e-12:
                        best, chosen = price, called
            cost[name][x] += pc[x] * (y & ~chosen & out).sum() / 20 + (1 - pc[x]) * (~y & chosen & out).sum() / 30
    np.testing.assert_allclose(found.advantage[0], cost["B"] - cost["A"], atol=1e-12)


def test_cost_space_is_the_comparison_of_all_pairs():
    y, scores, fold = made(np.random.default_rng(4), shifts=(0.5, 1.5, 2.5))
    found = cc.significant_dominance(y, scores, folds=fold, over=(0.2, 0.8), n_points=13)
    many = cc.compare_many(y, scores, pc=np.linspace(0.2, 0.8, 13))
    for i, pair in enumerate(many.pairs):
        assert found.pairs[i] == pair.names
        np.testing.assert_allclose(found.lower[i], -pair.upper)
        np.testing.assert_allclose(found.upper[i], -pair.lower)


def test_a_clear_dominator_is_found_and_equal_ones_are_not_told_apart():
    rng, claims = np.random.default_rng(5), 0
    for _ in range(25):
        y, scores, fold = made(rng, 40, 60)
        for more in ({"space": "roc"}, {"versions": {"one": "c0", "other": "c1"}}):
            found = cc.significant_dominance(y, scores, folds=fold, n_points=21, n_resamples=150, **more)
            claims += "undecided" not in {found.relation(*pair) for pair in itertools.permutations(found.names)}
            assert not found.dominators
    assert claims <= 6  # of 50, at a nominal 5 % of each
    y, scores, fold = made(rng, 300, 300, (4.0, 0.5, 0.4))
    found = cc.significant_dominance(y, scores, folds=fold, space="roc", over=(0.02, 0.3), n_resamples=200)
    assert found.dominators == found.unrefuted == ("c0",)
    assert found.most_worse("c0", "c1") == 0
    assert found.most_worse("c1", "c0") > 0.3
    assert "'c0' is better than 'c1' everywhere" in repr(found)
    whole = cc.significant_dominance(y, scores, folds=fold, space="roc", n_resamples=200)
    assert whole.relation("c0", "c1") == "somewhere"
    assert whole.dominators == ()
    assert whole.unrefuted == ("c0",)


def test_curves_that_cross_are_better_each_somewhere():
    rng = np.random.default_rng(6)
    y = np.repeat([True, False], [600, 600])
    # Positives of "left" are half surely found, half not at all; "right" excludes half of the negatives for sure.
    left = np.where(y & (rng.random(1200) < 0.5), 5.0, 0.0) + rng.normal(size=1200)
    right = np.where(~y & (rng.random(1200) < 0.5), -5.0, 0.0) + rng.normal(size=1200)
    fold = np.arange(1200) % 5
    for space in ("roc", "cost"):
        found = cc.significant_dominance(y, {"left": left, "right": right}, folds=fold, space=space, n_resamples=200)
        assert found.relation("left", "right") == found.relation("right", "left") == "each somewhere"
        assert found.unrefuted == ()
    frame = found.to_frame()
    assert list(frame)[:3] == ["a", "b", "pc"]


def test_significant_dominance_refuses():
    y, scores, fold = made(np.random.default_rng(7))
    bad = [
        ({"space": "points"}, "`space` must be"),
        ({"test": "guess"}, "`test` must be"),
        ({"test": "intervals"}, "space='roc'"),
        ({"over": (1, 1)}, "`over` must have points"),
        ({"versions": {"A": "c0"}}, "`versions` must map two names"),
        ({"versions": {"A": "c0", "B": "z"}}, "must be some of c0, c1, got 'z'"),
        ({"versions": {"A": "c0", "B": []}}, "must be some of"),
        ({"versions": {"A": "c0", "B": 5}}, "`versions` of 'B' must be some of c0, c1, got 5"),
        ({"versions": {"A": "c0", "B": [["c1"]]}}, "must be some of c0, c1, got "),
        ({"versions": {"A": "c0", 5: "c1"}}, "`versions` must be a non-empty string, got 5"),
        ({"versions": {"A": "c0", "B": "c1"}, "space": "roc"}, "space='cost'"),
        ({"n_resamples": 5}, "`n_resamples`"),
    ]
    for options, match in bad:
        with pytest.raises(cc.InputError, match=match):
            cc.significant_dominance(y, scores, folds=fold, **options)
    with pytest.raises(cc.UnsupportedError, match="folds"):
        cc.significant_dominance(y, scores, versions={"A": "c0", "B": "c1"})
    with pytest.raises(cc.InputError, match="two classifiers"):
        cc.significant_dominance(y, {"c0": scores["c0"]}, space="roc")
    weighted = cc.Predictions(y, scores, sample_weight=np.linspace(1, 2, y.size), folds=fold)
    with pytest.raises(cc.UnsupportedError, match="whole cases"):
        weighted.significant_dominance(space="roc")
    with pytest.raises(cc.DataError, match="both classes"):
        cc.significant_dominance(y, scores, folds=y.astype(int), space="roc")
    with pytest.raises(cc.DataError, match=r"rates that folds can show, 0\.0667"):
        cc.significant_dominance(y, scores, folds=fold, space="roc", over=(0, 0.05))
    with pytest.raises(cc.InputError, match="two of"):
        cc.significant_dominance(y, scores, n_points=5).relation("c0", "z")
