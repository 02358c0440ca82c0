"""Costs on held-out folds are those of choices made case by case, threshold by threshold, without the fold."""

from __future__ import annotations

import numpy as np
import pytest

from costcurves.inference.held_out import FOLDS, FoldCounts, HeldOut, dealt
from laws import random_worlds


def world(rng):
    """Return scores of two classifiers, the folds and the weights (or None) of the cases of each class."""
    sizes = rng.integers(2, 25, 2)
    repeats = int(rng.integers(1, 3))
    scores = [rng.integers(0, 6, (2, n)) + shift for n, shift in zip(sizes, (1, 0), strict=True)]
    folds = tuple(dealt(rng.integers(0, 2**63, n).astype(np.uint64), repeats) for n in sizes)
    weights = (None, None) if rng.random() < 0.5 else tuple(rng.integers(1, 4, n).astype(float) for n in sizes)
    return scores, folds, weights


def by_hand(scores, folds, weights, pc, members):
    """Return the mean held-out cost of the cheapest of some classifiers at any threshold, straight from its meaning."""
    weights = [np.ones(s.shape[1]) if w is None else w for s, w in zip(scores, weights, strict=True)]
    found = []
    for repeat in range(folds[0].shape[0]):
        total = 0.0
        for fold in range(FOLDS):
            train = [f[repeat] != fold for f in folds]
            best = None
            if len(members) == 2:  # doing nothing and always alarming compete too
                best = (min(pc, 1 - pc), 9, 9) if pc <= 1 - pc else (1 - pc, 9, -9)
            for member in members:
                for cut in range(1, 8):
                    miss, alarm = (
                        w[t & (s[member] < cut if side == 0 else s[member] >= cut)].sum()
                        for side, (s, w, t) in enumerate(zip(scores, weights, train, strict=True))
                    )
                    sizes = [w[t].sum() for w, t in zip(weights, train, strict=True)]
                    if min(sizes) == 0 or not 0 < sizes[0] - miss + alarm < sum(sizes):
                        continue
                    cost = pc * miss / sizes[0] + (1 - pc) * alarm / sizes[1]
                    if best is None or cost < best[0] - 1e-12:
                        best = (cost, member, cut)
            assert best is not None
            own = [~t for t in train]
            if best[1] == 9:
                wrong = [own[0], np.zeros(own[1].size, bool)] if best[2] > 0 else [np.zeros(own[0].size, bool), own[1]]
            else:
                wrong = [own[0] & (scores[0][best[1]] < best[2]), own[1] & (scores[1][best[1]] >= best[2])]
            total += pc * weights[0][wrong[0]].sum() / weights[0].sum()
            total += (1 - pc) * weights[1][wrong[1]].sum() / weights[1].sum()
        found.append(total)
    return np.mean(found)


@pytest.mark.law
def test_held_out_costs_are_those_of_choices_made_case_by_case():
    cuts = np.arange(1, 8)
    for rng in random_worlds(25, stream=1801):
        scores, folds, weights = world(rng)
        counts = {}
        for member in (0, 1):
            cells = tuple(np.searchsorted(cuts, s[member], side="right") for s in scores)
            counts[str(member)] = FoldCounts.of(cells, folds, weights, cuts.size)
        pc = float(rng.uniform(0.05, 0.95))
        overall, own = HeldOut(counts).costs(pc, {})
        assert overall == pytest.approx(by_hand(scores, folds, weights, pc, (0, 1)))
        for member in (0, 1):
            assert own[str(member)] == pytest.approx(by_hand(scores, folds, weights, pc, (member,)))


def test_a_threshold_that_is_given_is_judged_as_it_stands():
    rng = np.random.default_rng(4)
    scores, folds, _ = world(rng)
    cells = tuple(np.searchsorted([3], s[0], side="right") for s in scores)
    held = HeldOut({"a": FoldCounts.of(cells, folds, (None, None), 1)})
    own = held.costs(0.4, {"a": 0})[1]["a"]
    assert own == pytest.approx(0.4 * np.mean(scores[0][0] < 3) + 0.6 * np.mean(scores[1][0] >= 3))
    assert held.costs(0.4, {"a": None}) == (pytest.approx(0.4), {})


def test_a_classifier_without_thresholds_does_not_take_part():
    rng = np.random.default_rng(7)
    scores, folds, _ = world(rng)
    flat = tuple(np.zeros(s.shape[1], dtype=np.int64) for s in scores)
    cells = tuple(np.searchsorted([3], s[0], side="right") for s in scores)
    one = FoldCounts.of(cells, folds, (None, None), 1)
    both = HeldOut({"flat": FoldCounts.of(flat, folds, (None, None), 0), "a": one})
    assert both.costs(0.4, {}) == HeldOut({"a": one}).costs(0.4, {})
    assert HeldOut({"flat": both.counts["flat"]}).costs(0.4, {}) == (pytest.approx(0.4), {})


def test_folds_are_of_equal_size_and_do_not_depend_on_the_order_of_the_cases():
    rng = np.random.default_rng(5)
    keys = rng.integers(0, 2**63, 37).astype(np.uint64)
    found, order = dealt(keys, 3), rng.permutation(37)
    assert dealt(keys[order], 3).tolist() == found[:, order].tolist()
    for row in found:
        assert sorted(np.bincount(row, minlength=FOLDS).tolist()) == [3] * 3 + [4] * 7
    assert len({tuple(row) for row in found.tolist()}) == 3
