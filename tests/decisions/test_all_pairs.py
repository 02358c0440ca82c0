"""All pairs at once answer as each pair does by itself."""

from __future__ import annotations

import pickle
from itertools import combinations

import numpy as np
import pytest

import costcurves as cc
from costcurves.decisions.all_pairs import AllPairs, PairsInMemory
from costcurves.decisions.compare_many import ManyDifferences, compare_many_in
from costcurves.decisions.rows import Rows, curve_in
from costcurves.inference.paired.bands import difference_band
from tests.laws import random_worlds


def world(rng, k=5):
    n = int(rng.integers(4, 90))
    y = np.append([0, 1], rng.random(n) < rng.uniform(0.1, 0.9)).astype(int)
    digits = int(rng.integers(0, 3))
    return y, {f"m{i}": np.round(rng.normal(y, rng.uniform(0.3, 3)), digits) for i in range(k)}


@pytest.mark.law
def test_counts_of_all_pairs_are_those_of_counting_by_hand():
    for rng in random_worlds(12, stream=7711):
        y, scores = world(rng)
        rows = Rows(y, scores)
        curves = [curve_in(rows, name, "optimal") for name in rows.names]
        breaks = np.unique(np.concatenate([curve.breaks for curve in curves]))
        grids = (np.unique(np.append(rng.random(7), breaks)), rng.random(1), breaks[:1], rng.choice(breaks, 1))
        pairs, _ = rows.co_errors(curves, curves, np.array([0.5]))
        assert isinstance(pairs, PairsInMemory)
        slow = AllPairs(curves, rows._steps, weighted=False)
        assert pairs.sizes == slow.sizes == (float(y.sum()), float((1 - y).sum()))
        for pc in grids:
            for i in range(len(curves) - 1):
                counts, known = pairs.counts(i, pc)
                expected, surely = slow.counts(i, pc)
                np.testing.assert_array_equal(counts, expected)
                np.testing.assert_array_equal(known, surely)
                wrong = [(scores[c.name][:, None] >= c.cuts_at(pc)) != (y[:, None] == 1) for c in curves]
                for j in range(i + 1, len(curves)):
                    by_hand = [
                        (one & ~other)[y == label].sum(axis=0)
                        for label in (1, 0)
                        for one, other in ((wrong[i], wrong[j]), (wrong[j], wrong[i]))
                    ]
                    np.testing.assert_array_equal([c[j - i - 1] for c in counts], by_hand)


@pytest.mark.law
@pytest.mark.parametrize("policy", [0.3, "optimal"])
@pytest.mark.parametrize("method", ["mid-p", "score", "exact", "resample"])
def test_bands_and_p_values_of_all_pairs_are_those_of_each_pair(method, policy):
    wider = []
    for rng in random_worlds(3, stream=7712):
        y, scores = world(rng, 4)
        pc = np.array([0.1, 0.35, 0.5, 0.8])
        many = cc.compare_many(y, scores, method=method, pc=pc, policy=policy)
        assert len(many.pairs) == 6
        z = many.pairs[0].band.critical
        tests = many.at(0.35)
        for i, (a, b) in enumerate(combinations(scores, 2)):
            one = many.pairs[i]
            assert one.names == (a, b) == tests.pairs[i]
            pos, neg = one._discordant.counted[2:]
            step = np.searchsorted(one._discordant.counted.breaks[1:-1], pc, side="left")
            counts = pos.only_a[step], pos.only_b[step], pos.total, neg.only_a[step], neg.only_b[step], neg.total, pc
            how = {"method": method, "known": one._discordant.counted.known[step]}
            band = difference_band(*counts, critical_value=z, **how)
            np.testing.assert_array_equal(one.estimate, band.estimate)
            down, up = band.lower - one.lower, one.upper - band.upper
            assert (down >= 0).all()
            assert (up >= 0).all()
            # Thresholds that were chosen on these cases make limits wider, on the side of the more optimistic one.
            wider += [bool(down.any() or up.any())]
            alone = cc.compare(y, scores[a], scores[b], method=method, pc=pc, simultaneous=False, policy=policy)
            flat = difference_band(*counts, critical_value=alone.band.critical, **how)
            np.testing.assert_allclose(flat.lower - alone.lower, down, atol=1e-12)
            np.testing.assert_allclose(alone.upper - flat.upper, up, atol=1e-12)
            assert tests.estimate[i] == alone.estimate[1]
            assert tests.p_value[i] == alone.at(0.35).p_value == one.at(0.35).p_value
    assert all(wider) if policy == "optimal" else not any(wider)


def test_pairs_are_a_sequence_that_keeps_its_data():
    rng = np.random.default_rng(1)
    y = rng.random(60) < 0.4
    scores = {name: rng.normal(y, 1) for name in "abcd"}
    many = cc.compare_many(y, scores, pc=[0.3, 0.5])
    expected = many.to_dict()
    scores["b"][:] = 0.0  # pairs that have not been asked for yet do not change either
    again = cc.compare_many(y, {name: scores[name] for name in "abcd"}, pc=[0.3, 0.5])
    fresh = pickle.loads(pickle.dumps(many))
    assert fresh.to_dict() == expected != again.to_dict()
    assert [one.names for one in many.pairs[-2:]] == [("b", "d"), ("c", "d")]
    assert many.pairs[-1].names == many.pairs[5].names == ("c", "d")
    assert many.pair("d", "a").names == ("d", "a")
    np.testing.assert_array_equal(many.pair("d", "a").lower, -many.pair("a", "d").upper)
    with pytest.raises(IndexError):
        many.pairs[6]
    with pytest.raises(cc.InputError, match="two of a, b, c, d"):
        many.pair("a", "a")


def test_a_large_family_has_the_critical_value_of_a_sample(monkeypatch):
    rng = np.random.default_rng(2)
    y = rng.random(400) < 0.4
    common = rng.normal(0, 0.7, 400)
    scores = {f"m{i}": y + common + rng.normal(0, 0.7, 400) for i in range(12)}
    pc = np.linspace(0.2, 0.8, 7)
    whole = cc.compare_many(y, scores, pc=pc).pairs[0].band.critical
    monkeypatch.setattr("costcurves.decisions.compare_many.MOST_SAMPLED", 6)
    sampled = cc.compare_many(y, scores, pc=pc).pairs[0].band.critical
    assert whole - 0.01 <= sampled <= whole + 0.15
    turned = dict(reversed(scores.items()))
    assert cc.compare_many(y, turned, pc=pc).pairs[0].band.critical == sampled
    other = compare_many_in(Rows(~y, {name: -s for name, s in scores.items()}), pc=(1 - pc)[::-1])
    assert other.pairs[0].band.critical == pytest.approx(sampled, abs=0.02)


def test_some_pairs_keep_the_limits_of_all():
    rng = np.random.default_rng(4)
    y = rng.random(90) < 0.4
    many = cc.compare_many(y, {name: rng.normal(y, 1) for name in "abcd"}, pc=[0.3, 0.5])
    few = ManyDifferences(many.names, many.pairs.some([(0, 2), (1, 3)]), many.level)
    assert [one.names for one in few.pairs] == [("a", "c"), ("b", "d")] == list(few.at(0.5).pairs)
    np.testing.assert_array_equal(few.pairs[1].lower, many.pair("b", "d").lower)
    assert few.at(0.5).p_value.tolist() == [many.pair(*names).at(0.5).p_value for names in few.at(0.5).pairs]


@pytest.mark.filterwarnings("ignore::costcurves.CostCurvesWarning")
def test_weighted_classifiers_of_which_none_errs_by_chance_can_be_compared():
    y = np.arange(80) % 2 == 0
    for seed in range(20):
        weights = np.random.default_rng([1911, seed]).exponential(size=80)
        predictions = cc.Predictions(y, {"flat": np.ones(80), "right": y, "wrong": ~y}, sample_weight=weights)
        many = predictions.compare_many(pc=[0.2, 0.5, 0.8])
        assert many.pair("flat", "right").band.lower.max() > 0
        assert predictions.significant_dominance().names == ("flat", "right", "wrong")
