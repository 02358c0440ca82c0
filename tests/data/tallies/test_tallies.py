"""Tallies of batches give what the functions of arrays give, bit for bit, for any split and any order of merging."""

from __future__ import annotations

import io
import json
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import costcurves as cc
from costcurves.data.tallies import bins as binning
from costcurves.data.tallies import distinct as scoring
from costcurves.data.tallies.base import part

TINY, HUGE = 5e-324, 1.7e308
VALUES = {
    "few": [0.1, 0.2, 0.3, 0.7],
    "signed zeros": [0.0, -0.0, TINY, -TINY, 2 * TINY, 1e-310],
    "huge": [HUGE, -HUGE, 1.0, -1.0, 0.0],
    "one bin": [0.5 + i * 2.0**-53 for i in range(40)],
    "far from zero": [1.7e9 + i * 2.0**-20 for i in range(60)],
    "integers": list(range(-20, 20)),
    "all tied": [0.25],
}
PC = np.linspace(0, 1, 41)
UNIVERSAL = cc.ScoreBins.universal("float64", 2**14)

pytestmark = pytest.mark.usefixtures("way")


@st.composite
def split_data(draw, largest=120):
    """Draw labels of both classes, scores of an awkward distribution, and the rows of each batch."""
    kind = draw(st.sampled_from([*VALUES, "normal", "float32"]))
    size = draw(st.integers(2, largest))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    y = rng.integers(0, 2, size)
    y[:2] = 0, 1
    if kind in VALUES:
        scores = rng.choice(VALUES[kind], size)
    else:
        scores = (rng.normal(size=size) + y).round(draw(st.sampled_from([1, 9])))
        scores = scores.astype(np.float32 if kind == "float32" else np.float64)
    rows = np.array_split(rng.permutation(size), draw(st.integers(1, 6)))
    return y, scores, rows


def merged(parts, shape):
    """Merge tallies one after the other, backwards, or as a tree, some of them sent as bytes."""
    parts = [pickle.loads(pickle.dumps(part)) for part in parts]
    if shape == "backwards":
        parts = parts[::-1]
    while len(parts) > 1:
        if shape == "tree":
            pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
            parts = [pair[0].merge(pair[1]) if len(pair) == 2 else pair[0] for pair in pairs]
        else:
            parts = [parts[0].merge(parts[1]), *parts[2:]]
    return parts[0]


SHAPES = st.sampled_from(["in order", "backwards", "tree"])


def same_curve(one, other):
    """Assert that two ROC curves are the same in every bit."""
    for name in ("fp", "tp", "thresholds", "below"):
        first, second = getattr(one, name), getattr(other, name)
        assert first.dtype == second.dtype
        assert first.tobytes() == second.tobytes(), name
    for name in ("n_neg", "n_pos", "made_from", "complete", "effective", "max_error"):
        assert getattr(one, name) == getattr(other, name), name


def passes(tally, y, scores, rows, shape, weights=None):
    """Read the batches as often as the tally asks for."""
    while True:
        parts = ((y[r], scores[r], None if weights is None else weights[r]) for r in rows)
        tally = merged([tally, *(tally.empty().update(*part) for part in parts)], shape)
        if tally.finished:
            return tally
        tally = tally.next_pass()


# --- scores, exactly ---------------------------------------------------------------------------------------------


@given(split_data(), SHAPES)
def test_an_exact_tally_is_the_curve_of_all_the_data(data, shape):
    y, scores, rows = data
    tally = merged([cc.ScoreTally().update(y[r], scores[r]) for r in rows], shape)
    same_curve(tally.to_roc_curve(), cc.RocCurve.from_predictions(y, scores))
    same_curve(tally.to_roc_curve(points="hull"), cc.RocCurve.from_predictions(y, scores, points="hull"))


@settings(max_examples=40)
@given(split_data(), SHAPES, st.integers(0, 2**32))
def test_whole_weights_add_to_the_last_bit(data, shape, seed):
    y, scores, rows = data
    weights = np.random.default_rng(seed).integers(0, 5, y.size)
    weights[:2] = 1
    tally = merged([cc.ScoreTally().update(y[r], scores[r], weights[r]) for r in rows], shape)
    same_curve(tally.to_roc_curve(), cc.RocCurve.from_predictions(y, scores, sample_weight=weights))


@settings(max_examples=40)
@given(split_data(), SHAPES, st.integers(0, 2**32))
def test_other_weights_add_to_rounding(data, shape, seed):
    y, scores, rows = data
    weights = np.random.default_rng(seed).random(y.size) + 0.01
    curve = merged([cc.ScoreTally().update(y[r], scores[r], weights[r]) for r in rows], shape).to_roc_curve()
    whole = cc.RocCurve.from_predictions(y, scores, sample_weight=weights)
    assert curve.thresholds.tolist() == whole.thresholds.tolist()
    np.testing.assert_allclose(curve.fp, whole.fp, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(curve.tp, whole.tp, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(curve.effective, whole.effective, rtol=1e-12)


@settings(max_examples=60)
@given(split_data(), SHAPES, st.integers(0, 2**32), st.sampled_from([0, 3, 20, 10**6]))
def test_a_hull_of_whole_weights_is_that_of_all_the_data(data, shape, seed, hold):
    y, scores, rows = data
    weights = np.random.default_rng(seed).integers(0, 5, y.size)
    weights[:2] = 1
    tally = passes(cc.HullTally(hold=hold, resolution=2**14), y, scores, rows, shape, weights)
    same_curve(tally.to_roc_curve(), cc.RocCurve.from_predictions(y, scores, sample_weight=weights, points="hull"))
    assert tally.kind == "weights"
    assert tally.passes == 1 or hold < np.unique(scores).size


@settings(max_examples=60)
@given(split_data(), SHAPES, st.integers(0, 2**32), st.sampled_from([0, 3, 20, 10**6]))
def test_a_hull_of_other_weights_is_that_of_all_the_data_but_for_rounding(data, shape, seed, hold):
    y, scores, rows = data
    weights = np.exp(np.random.default_rng(seed).normal(0, 3, y.size))
    hull = passes(cc.HullTally(hold=hold, resolution=2**14), y, scores, rows, shape, weights).to_roc_curve()
    every = cc.RocCurve.from_predictions(y, scores, sample_weight=weights)
    place = np.searchsorted(-every.thresholds, -hull.thresholds)
    assert every.thresholds[place].tolist() == hull.thresholds.tolist()
    np.testing.assert_allclose(hull.fp, every.fp[place], rtol=1e-13, atol=1e-13 * every.fp[-1])
    np.testing.assert_allclose(hull.tp, every.tp[place], rtol=1e-13, atol=1e-13 * every.tp[-1])
    np.testing.assert_allclose(hull.effective, every.effective, rtol=1e-12)
    np.testing.assert_allclose(cc.CostCurve(hull).evaluate(PC), cc.CostCurve(every).evaluate(PC), rtol=0, atol=1e-13)


@pytest.mark.parametrize("seed", [1, 2, 3, 189, 283, 299])
def test_thresholds_are_scores_and_costs_agree_even_if_weights_vanish_in_their_sums(seed, monkeypatch):
    monkeypatch.setattr(scoring, "PENDING", 100)
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 2_000)
    scores, weights = np.round(rng.normal(size=y.size), 3), np.exp(rng.normal(0, 12, y.size))
    rows = np.array_split(rng.permutation(y.size), 9)
    hull = passes(cc.HullTally(hold=50, resolution=2**14), y, scores, rows, "in order", weights).to_roc_curve()
    assert np.isin(hull.thresholds[1:], scores).all()
    whole = cc.CostCurve(cc.RocCurve.from_predictions(y, scores, sample_weight=weights))
    np.testing.assert_allclose(cc.CostCurve(hull).evaluate(PC), whole.evaluate(PC), rtol=0, atol=1e-13)


def test_weights_of_very_many_scores_are_added_in_bins_that_become_finer(monkeypatch):
    monkeypatch.setattr(scoring, "PENDING", 500)
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 60_000)
    scores, weights = y + rng.normal(size=y.size), rng.integers(0, 9, y.size)
    rows = np.array_split(np.arange(y.size), 25)
    tally = passes(cc.HullTally(hold=600, resolution=2**14), y, scores, rows, "in order", weights)
    assert tally.passes > 2
    same_curve(tally.to_roc_curve(), cc.RocCurve.from_predictions(y, scores, sample_weight=weights, points="hull"))
    again = (
        cc.HullTally(hold=0)
        .update([0, 1], [0.1, 0.3], [1, 1])
        .merge(cc.HullTally(hold=0).update([1, 0], [0.1, 0.3], [1, 2]))
    )
    changed = again.next_pass().update([0, 1, 1, 0], [0.1, 0.3, 0.1, 0.3], [1, 1, 1, 3])
    with pytest.raises(cc.DataError, match="the data must be the same in every pass"):
        _ = changed.finished
    with pytest.raises(cc.DataError, match="`sample_weight` must be given for all batches or for none"):
        again.update([0, 1], [0.1, 0.3])


def test_waiting_rows_are_counted_when_they_are_many(monkeypatch):
    monkeypatch.setattr(scoring, "PENDING", 3)
    rng = np.random.default_rng(5)
    y, scores = rng.integers(0, 2, 200), rng.integers(0, 30, 200) / 7
    tally = cc.ScoreTally()
    for i in range(200):
        tally.update(y[i : i + 1], scores[i : i + 1])
    same_curve(tally.to_roc_curve(), cc.RocCurve.from_predictions(y, scores))


def test_batches_are_copied_so_that_buffers_can_be_used_again():
    y, scores = np.array([False, True]), np.array([0.1, 0.2])
    tally = cc.ScoreTally().update(y, scores)
    y[:], scores[:] = True, 9.0
    assert tally.to_roc_curve().thresholds.tolist() == [np.inf, 0.2, 0.1]


def test_too_many_distinct_scores_are_refused_with_what_to_use_instead():
    tally = cc.ScoreTally(limit=3).update([0, 1, 0, 1], [1, 2, 3, 4.5])
    with pytest.raises(cc.UnsupportedError, match=r"`limit` of 3 distinct scores .* use cc.HullTally"):
        tally.to_roc_curve()


# --- the hull in passes ------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(split_data(), SHAPES, st.integers(0, 3), st.booleans())
def test_the_hull_of_ties_is_the_hull_of_all_the_data(data, shape, most, sent):
    """Bins that know their one score, until more than `most` bins have several; some tallies are sent as bytes."""
    y, scores, rows = data
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("costcurves.data.tallies.bin_table.MOST_MIXED", most)
        tally = cc.HullTally(ties=True, members=5, resolution=2**14)
        while True:
            parts = [tally.empty().update(y[some], scores[some]) for some in rows]
            parts = [cc.HullTally.from_bytes(part.to_bytes()) if sent else part for part in parts]
            tally = merged(parts, shape)
            if tally.finished:
                break
            tally = tally.next_pass()
    same_curve(tally.to_roc_curve(), cc.RocCurve.from_predictions(y, scores, points="hull"))


@pytest.mark.parametrize("decimals", [2, 3, 4])
def test_one_pass_finds_the_hull_of_scores_with_many_ties(decimals):
    rng = np.random.default_rng(decimals)
    y = rng.random(60_000) < 0.3
    scores = np.round(1 / (1 + np.exp(-rng.normal(y, 1.0))), decimals)
    tally = cc.HullTally(bins=cc.ScoreBins.from_sample(scores), ties=True, members=1)
    for some in np.array_split(np.arange(y.size), 7):
        tally.update(y[some], scores[some])
    assert tally.finished
    assert tally.passes == 1
    same_curve(tally.to_roc_curve(), cc.RocCurve.from_predictions(y, scores, points="hull"))
    by_first_rows = cc.HullTally(members=1).laid_out(scores[:5_000]).empty().update(y, scores)
    assert by_first_rows.left < 200  # scores that the first rows do not have share few bins


def test_scores_without_ties_take_as_many_passes_as_ever():
    rng = np.random.default_rng(1)
    y = rng.random(60_000) < 0.3
    scores = rng.normal(y, 1.0)
    first = cc.HullTally(ties=True).update(y, scores)
    assert first._counted._singles is None
    assert first.left == cc.HullTally().update(y, scores).left
    same_curve(
        first.next_pass().update(y, scores).to_roc_curve(), cc.RocCurve.from_predictions(y, scores, points="hull")
    )


@settings(max_examples=60)
@given(split_data(), SHAPES, st.sampled_from([1, 5, 10**6]), st.booleans())
def test_the_hull_in_passes_is_the_hull_of_all_the_data(data, shape, members, sampled):
    y, scores, rows = data
    bins = cc.ScoreBins.from_sample(scores[:3], 2**14) if sampled else None
    tally = cc.HullTally(members=members, resolution=2**14, bins=bins)
    same_curve(
        passes(tally, y, scores, rows, shape).to_roc_curve(), cc.RocCurve.from_predictions(y, scores, points="hull")
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("members", [50, 2000, 10**6])
def test_the_hull_of_many_scores_is_exact_whatever_memory_there_is(dtype, members):
    rng = np.random.default_rng(1)
    y = rng.random(60_000) < 0.3
    scores = (rng.normal(size=y.size) + y).astype(dtype)
    tally = passes(
        cc.HullTally(members=members, resolution=2**14), y, scores, np.array_split(np.arange(y.size), 7), "tree"
    )
    same_curve(tally.to_roc_curve(), cc.RocCurve.from_predictions(y, scores, points="hull"))
    assert (tally.passes > 2) == (members < 10**4)


@pytest.mark.parametrize("sample", [[0.25], [-3.0, 1e30], np.linspace(0, 1, 999)])
def test_bins_laid_out_by_any_sample_come_to_the_same_hull(sample):
    rng = np.random.default_rng(8)
    y = rng.random(20_000) < 0.3
    scores = rng.normal(y, 1.0).astype(np.float32)
    tally = cc.HullTally(dtype="float32").laid_out(sample)
    assert tally.laid_out([5.0]) is tally
    found = passes(tally, y, scores, np.array_split(np.arange(y.size), 3), "tree").to_roc_curve()
    same_curve(found, cc.RocCurve.from_predictions(y, scores, points="hull"))


def test_a_bin_holds_many_more_examples_than_a_byte_does():
    rng = np.random.default_rng(9)
    y = rng.random(5000) < 0.4
    scores = rng.choice([0.1, 0.5, 0.9], y.size)
    found = passes(cc.HullTally(), y, scores, np.array_split(np.arange(y.size), 3), "tree").to_roc_curve()
    same_curve(found, cc.RocCurve.from_predictions(y, scores, points="hull"))


def test_two_passes_look_at_few_of_the_examples_again():
    rng = np.random.default_rng(2)
    y = rng.random(100_000) < 0.3
    scores = rng.normal(size=y.size) + y
    tally = cc.HullTally(bins=cc.ScoreBins.from_sample(scores[:5000], 2**18)).update(y, scores)
    assert not tally.finished
    assert 0 < tally.left < 2000
    assert tally.next_pass().kind == "members"


def test_counts_beyond_the_products_of_an_int64_have_the_right_hull():
    y, scores = np.array([0, 1, 1, 0, 1, 0]), np.array([0.1, 0.4, 0.6, 0.6, 0.3, 0.2])
    after = cc.HullTally(members=1)  # which cuts bins finer until each is one score
    while True:
        after.update(y, scores)
        for _ in range(34):
            after.merge(pickle.loads(pickle.dumps(after)))
        if after.finished:
            break
        after = after.next_pass()
    small = cc.RocCurve.from_predictions(y, scores, points="hull")
    assert after.to_roc_curve().fp.tolist() == [n * 2**34 for n in small.fp.tolist()]
    assert after.to_roc_curve().thresholds.tolist() == small.thresholds.tolist()


def test_data_that_change_between_passes_are_noticed():
    y, scores = [0, 1, 0, 1], [0.1, 0.35, 0.4, 0.8]
    after = cc.HullTally().update(y, scores).next_pass()
    with pytest.raises(cc.DataError, match="the data must be the same in every pass, got 5 examples"):
        after.update(y, scores).update(y[:1], scores[:1]).finished  # noqa: B018
    after = cc.HullTally().update(y, scores).next_pass().update([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8])
    with pytest.raises(cc.DataError, match="the data must be the same in every pass"):
        after.to_roc_curve()


def test_a_curve_needs_all_passes():
    tally = cc.HullTally().update([0, 1], [0.1, 0.3])
    with pytest.raises(cc.UnsupportedError, match="`to_roc_curve` needs a finished tally, got 2 examples left"):
        tally.to_roc_curve()
    done = tally.next_pass().update([0, 1], [0.1, 0.3])
    with pytest.raises(cc.UnsupportedError, match="`next_pass` must not follow a finished tally"):
        done.next_pass()
    with pytest.raises(cc.InputError, match="`other` must be of the same pass"):
        done.merge(tally)


# --- scores in bins ----------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(split_data(), SHAPES)
def test_binned_counts_do_not_depend_on_batches(data, shape):
    y, scores, rows = data
    parts = merged([cc.ScoreTally(resolution=2**14).update(y[r], scores[r]) for r in rows], shape)
    same_curve(parts.to_roc_curve(), cc.ScoreTally(resolution=2**14).update(y, scores).to_roc_curve())


@given(split_data(), st.booleans())
def test_the_error_of_bins_is_within_its_bound(data, sampled):
    y, scores, _ = data
    bins = cc.ScoreBins.from_sample(scores[:3], 2**14) if sampled else cc.ScoreBins.universal("float64", 2**14)
    scores = scores if sampled else scores.astype(np.float64)
    curve = cc.ScoreTally(bins=bins).update(y, scores).to_roc_curve()
    true = cc.RocCurve.from_predictions(y, scores)
    pc = np.unique(np.concatenate((PC, cc.CostCurve(curve).breaks, cc.CostCurve(true).breaks)))
    error = cc.CostCurve(curve).evaluate(pc) - cc.CostCurve(true).evaluate(pc)
    assert error.max() <= curve.max_error
    assert error.min() >= -1e-15


@given(split_data())
def test_points_of_bins_lie_on_the_true_curve_at_their_thresholds(data):
    y, scores, _ = data
    scores = scores.astype(np.float64)
    curve = cc.ScoreTally(bins=UNIVERSAL).update(y, scores).to_roc_curve()
    for cut, fp, tp in zip(curve.thresholds[1:], curve.fp[1:], curve.tp[1:], strict=True):
        predicted = scores >= cut
        assert (predicted & (y == 0)).sum() == fp
        assert (predicted & (y == 1)).sum() == tp


def test_the_bound_is_reached_by_the_worst_order_within_a_bin():
    # All scores in one bin: positives above negatives inside it is the best curve there can be.
    scores = np.array([0.5 + 2.0**-50, 0.5, 0.5 + 2.0**-50, 0.5])
    curve = cc.ScoreTally(bins=UNIVERSAL).update([1, 0, 1, 0], scores).to_roc_curve()
    assert curve.max_error == pytest.approx(0.5, abs=1e-14)
    assert cc.CostCurve(cc.RocCurve.from_predictions([1, 0, 1, 0], scores)).evaluate(0.5) == 0


def test_bins_of_one_score_each_have_no_error():
    bins = cc.ScoreBins("float32", np.where(np.arange(4096) == 4096 // 2 + 0x3F0, 0, 20))
    scores = np.array([0.5, 0.50001, 0.5002], dtype=np.float32)
    assert cc.ScoreTally(bins=bins).update([0, 1, 0], scores).to_roc_curve().max_error == 0


@pytest.mark.parametrize("values", [np.arange(10) / 7, np.arange(-3, 5), [0.1, 1e-300, -0.0, 0.0, -1e300]])
@pytest.mark.parametrize("sampled", [False, True])
def test_a_few_tied_scores_have_no_error(values, sampled):
    rng = np.random.default_rng(5)
    y = rng.random(5000) < 0.4
    y[:2] = False, True
    scores = np.sort(values)[np.minimum(rng.integers(0, len(values), y.size) + y, len(values) - 1)]
    layout = {"bins": cc.ScoreBins.from_sample(scores, 2**14)} if sampled else {"resolution": 2**14}
    curve = cc.ScoreTally(**layout).update(y, scores).to_roc_curve()
    true = cc.RocCurve.from_predictions(y, scores, points="hull")
    pc = np.unique(np.concatenate((PC, cc.CostCurve(true).breaks)))
    error = cc.CostCurve(curve).evaluate(pc) - cc.CostCurve(true).evaluate(pc)
    assert curve.max_error == 0
    assert not error.any()


def test_only_bins_of_several_scores_count_in_the_error():
    rng = np.random.default_rng(6)
    y = rng.random(4000) < 0.5
    scores = rng.integers(0, 10, y.size) / 8.0 + y / 8.0
    scores[:40] = np.where(y[:40], 0.55 + 2.0**-40, 0.55)  # two scores, and one bin
    curve = cc.ScoreTally(bins=UNIVERSAL).update(y, scores).to_roc_curve()
    gap = cc.CostCurve(curve).evaluate(PC) - cc.CostCurve(cc.RocCurve.from_predictions(y, scores)).evaluate(PC)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("costcurves.data.tallies.bin_table.MOST_MIXED", 0)
        loose = cc.ScoreTally(bins=UNIVERSAL).update(y, scores).to_roc_curve()
    assert 0 < gap.max() <= curve.max_error < 0.02 < loose.max_error
    assert loose.fp.tolist() == curve.fp.tolist()


@settings(max_examples=40)
@given(split_data(), SHAPES, st.integers(0, 3), st.booleans())
def test_bins_of_one_score_are_the_same_for_any_batches(data, shape, most, sent):
    y, scores, rows = data
    scores = np.append(scores[:-2], [0.75, 0.75 + 2.0**-45]).astype(np.float64)[: y.size]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("costcurves.data.tallies.bin_table.MOST_MIXED", most)
        whole = cc.ScoreTally(bins=UNIVERSAL).update(y, scores)
        parts = [cc.ScoreTally(bins=UNIVERSAL).update(y[r], scores[r]) for r in rows]
        if sent:
            parts = [cc.ScoreTally.from_bytes(part.to_bytes()) for part in parts]
        found = merged(parts, shape)
    same_curve(found.to_roc_curve(), whole.to_roc_curve())
    assert {k: v.tolist() for k, v in found._state()[1].items()} == {
        k: v.tolist() for k, v in whole._state()[1].items()
    }


def test_more_bins_give_smaller_errors():
    rng = np.random.default_rng(3)
    y = rng.random(50_000) < 0.3
    scores = 1 / (1 + np.exp(-rng.normal(size=y.size) - y))
    layouts = [cc.ScoreBins.universal("float64", 2**k) for k in (14, 16, 18)]
    errors = [cc.ScoreTally(bins=layout).update(y, scores).to_roc_curve().max_error for layout in layouts]
    sampled = cc.ScoreTally(bins=cc.ScoreBins.from_sample(scores[:2000], 2**16)).update(y, scores).to_roc_curve()
    assert 0.01 > errors[0] > errors[1] > errors[2] > 0
    assert sampled.max_error < errors[1] / 5
    assert "max_error=" in repr(sampled)


@settings(max_examples=40)
@given(split_data(), st.integers(0, 2**32))
def test_binned_weights_keep_the_bound(data, seed):
    y, scores, rows = data
    weights = np.random.default_rng(seed).random(y.size) + 0.01
    parts = [cc.ScoreTally(resolution=2**14).update(y[r], scores[r], weights[r]) for r in rows]
    curve = merged(parts, "tree").to_roc_curve()
    true = cc.RocCurve.from_predictions(y, scores, sample_weight=weights)
    error = cc.CostCurve(curve).evaluate(PC) - cc.CostCurve(true).evaluate(PC)
    assert error.max() <= curve.max_error + 1e-13
    assert error.min() >= -1e-13


# --- bins --------------------------------------------------------------------------------------------------------

LAYOUTS = [cc.ScoreBins.universal(dtype, 2**power) for dtype in ("float32", "float64") for power in (14, 20)] + [
    cc.ScoreBins.from_sample(np.linspace(-1, 3, 50).astype(d), 2**16) for d in ("float32", "float64")
]


@pytest.mark.parametrize("bins", LAYOUTS, ids=repr)
def test_bins_are_ordered_ranges_of_keys(bins):
    rng = np.random.default_rng(4)
    real = binning.FLOATS[bins.dtype][0]
    largest, tiny = np.finfo(real).max, np.finfo(real).smallest_subnormal
    exponents = rng.integers(*((-36, 37) if bins.dtype == "float32" else (-300, 300)), 3000)
    drawn = np.concatenate(
        (rng.normal(size=3000) * 10.0**exponents, rng.random(3000), [largest, -largest, tiny, -tiny])
    )
    scores = np.sort(np.concatenate((drawn, [0.0, -0.0, 1.0, -1.0])).astype(real))
    keys = binning.ordered_keys(scores)
    assert (np.diff(keys.astype(object)) >= 0).all()
    assert ((np.diff(keys) == 0) == (np.diff(scores) == 0)).all()
    assert binning.scores_of_keys(keys.astype(np.int64), bins.dtype).tolist() == (scores.astype(float) + 0.0).tolist()
    code = binning.Coder(bins).codes_of_keys(keys).copy()
    assert (np.diff(code) >= 0).all()
    assert 0 <= code[0] <= code[-1] < len(bins)
    low, shift = bins.keys_of(code)
    assert (low <= keys).all()
    assert (keys.astype(object) < low.astype(object) + 2 ** shift.astype(object)).all()
    assert len(bins) <= 2**20


SPREADS = {
    "probabilities": lambda rng: rng.random(5000),
    "both signs": lambda rng: rng.normal(0, 2, 5000),
    "negative": lambda rng: -rng.random(5000) - 0.01,
    "skewed": lambda rng: rng.random(5000) ** 30,
    "signed and skewed": lambda rng: rng.normal(0, 1, 5000) ** 15,
    "far from zero": lambda rng: 1e6 + rng.random(5000),
    "two clusters": lambda rng: np.where(rng.random(5000) < 0.5, 1e-20, 1e10) * rng.random(5000),
}


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("kind", SPREADS)
def test_the_short_way_to_bins_ends_in_the_same_bins(kind, real):
    rng = np.random.default_rng(5)
    scores = SPREADS[kind](rng).astype(real)
    for bins in (
        cc.ScoreBins.from_sample(scores[::7], 2**17),
        cc.ScoreBins.from_sample(np.abs(scores[:9]), 2**14),
        cc.ScoreBins.universal(np.dtype(real).name, 2**18),
    ):
        coder = binning.Coder(bins)
        for some in (scores, np.abs(scores), np.append(scores, [0, -0.0, 1, -1, 2, 1e30]).astype(real)):
            found = coder.codes(some).copy()
            assert found.tolist() == coder.codes_of_keys(binning.ordered_keys(some)).tolist()
            labels = rng.random(some.size) < 0.5
            assert coder.codes(some, labels).tolist() == (2 * found + labels).tolist()


def test_most_scores_go_the_short_way():
    rng = np.random.default_rng(6)
    for scores, signed in ((rng.random(9000), False), (rng.normal(size=9000), True)):
        coder = binning.Coder(cc.ScoreBins.from_sample(scores, 2**18))
        assert coder._run is not None
        assert (coder._below is not None) == signed


def test_layouts_stay_within_their_number_of_bins():
    for dtype in ("float32", "float64"):
        for power in (14, 16, 20):
            assert 2 ** (power - 1) < len(cc.ScoreBins.universal(dtype, 2**power)) <= 2**power
        sample = np.random.default_rng(0).random(1000).astype(dtype)
        assert 2**16 / 4 < len(cc.ScoreBins.from_sample(sample, 2**16)) <= 2**16


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cc.ScoreTally(resolution=10), "`resolution` must be >= 16384, got 10"),
        (lambda: cc.ScoreTally(resolution=2**16, bins=LAYOUTS[0]), "`bins` and `resolution` must not both be given"),
        (lambda: cc.ScoreTally(bins=3), "`bins` must be ScoreBins, got int"),
        (lambda: cc.HullTally(bins=LAYOUTS[0], dtype="float64"), "`dtype` must be that of `bins`"),
        (lambda: cc.HullTally(dtype="int8"), "`dtype` must be one of 'float32', 'float64', got 'int8'"),
        (lambda: cc.HullTally(members=0), "`members` must be >= 1, got 0"),
        (lambda: cc.ScoreTally().merge(cc.HullTally()), "`other` must be a ScoreTally to be merged"),
        (lambda: cc.ScoreTally().merge(cc.ScoreTally(resolution=2**14)), "`other` must have the same resolution"),
        (
            lambda: cc.HullTally(bins=LAYOUTS[0]).merge(cc.HullTally(bins=LAYOUTS[1])),
            "`other` must have the same bins to be merged",
        ),
        (
            lambda: cc.HullTally().update([0], np.float32([1])).update([1], [0.5]),
            "`y_score` must be of one type in all batches, got float64 after float32: make the tally, or its bins,",
        ),
        (lambda: cc.ScoreTally().to_roc_curve(), "`y_true` must hold both classes, got 0 positive and 0 negative"),
        (lambda: cc.ScoreTally(resolution=2**14).to_roc_curve(), "`y_true` must hold both classes, got 0 positive"),
        (lambda: cc.HullTally().to_roc_curve(), "`y_true` must hold both classes, got 0 positive and 0 negative"),
        (lambda: cc.ScoreTally().update([0], [1]).to_roc_curve(), "both classes, got 0 positive and 1 negative"),
        (lambda: cc.ScoreTally().update([0], [1, 2]), "`y_score` and `y_true` must have the same length"),
        (lambda: cc.ScoreTally().update([0, 1], [1, np.nan]), "`y_score` must be finite, got 1 non-finite value"),
        (
            lambda: cc.ScoreTally().update([0], [1], [2]).update([1], [1]),
            "`sample_weight` must be given for all batches or for none",
        ),
    ],
)
def test_wrong_use_is_refused_with_the_rule(call, message):
    with pytest.raises(cc.CostCurvesError, match=message):
        call()


# --- labels across batches ----------------------------------------------------------------------------------------


def test_a_batch_may_hold_one_class_only():
    tally = cc.ScoreTally(pos_label="bad").update(["good", "good"], [1, 2]).update(["bad"], [3])
    same_curve(tally.to_roc_curve(), cc.RocCurve.from_predictions(["good", "good", "bad"], [1, 2, 3], pos_label="bad"))
    tally = cc.ScoreTally().update([1, 1], [1, 2]).update([-1], [3]).update([], [])
    same_curve(tally.to_roc_curve(), cc.RocCurve.from_predictions([1, 1, -1], [1, 2, 3]))


@pytest.mark.parametrize(
    ("first", "second", "pos_label", "message"),
    [
        ([0, 1], [-1, 1], None, "two classes in all batches together, got -1 and 0 besides the positive class"),
        (["a"], ["b"], "c", "two classes in all batches together, got 'a' and 'b' besides the positive class"),
        ([True], [1], None, "labels of one type in all batches, got booleans and numbers"),
        ([1], ["1"], 1, "labels of one type in all batches, got names and numbers"),
        ([2], [3], None, "`pos_label` must be given"),
    ],
)
def test_labels_of_all_batches_must_agree(first, second, pos_label, message):
    def tally():
        return cc.ScoreTally(pos_label=pos_label)

    with pytest.raises(cc.DataError, match=message):
        tally().update(first, [1] * len(first)).update(second, [1] * len(second))
    with pytest.raises(cc.DataError, match=message):
        tally().update(first, [1] * len(first)).merge(tally().update(second, [1] * len(second)))


def test_parts_must_mean_the_same_class():
    with pytest.raises(cc.DataError, match="`pos_label` must be the same in all parts, got 1 and 0"):
        cc.ScoreTally(pos_label=1).merge(cc.ScoreTally(pos_label=0))


# --- bytes -------------------------------------------------------------------------------------------------------


def test_bytes_of_another_tally_or_of_nothing_are_refused():
    with pytest.raises(cc.FormatError, match="`data` must be a HullTally of version 1, got ScoreTally of version 1"):
        cc.HullTally.from_bytes(cc.ScoreTally().to_bytes())
    with pytest.raises(cc.FormatError, match="`data` must be what to_bytes of a tally returns"):
        cc.HullTally.from_bytes(b"nothing")
    with pytest.raises(cc.UnsupportedError, match="labels must be strings, numbers or booleans"):
        cc.ScoreTally(pos_label=b"x").to_bytes()


def test_a_binned_tally_is_sent_without_its_empty_bins():
    tally = cc.HullTally(resolution=2**20).update([0, 1], [0.2, 0.4])
    assert len(tally.to_bytes()) < 8000


# --- pairs -------------------------------------------------------------------------------------------------------


@st.composite
def paired_data(draw):
    y, scores, rows = draw(split_data(largest=60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return y, scores, (rng.normal(size=y.size) + y).round(1), rows


def same_difference(one, other):
    """Assert that two differences are the same in every bit, at their points and anywhere."""
    for name in ("pc", "estimate", "lower", "upper", "p_value"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
    assert one.names == other.names


@settings(max_examples=12)
@given(paired_data(), SHAPES, st.booleans(), st.sampled_from(["optimal", 0.3]))
def test_paired_tallies_are_the_comparison_of_all_the_data(data, shape, simultaneous, policy):
    y, a, b, rows = data
    pc = [0.1, 0.3, 0.5, 0.8]
    curves = [
        cc.CostCurve(
            cc.RocCurve.from_predictions(y, s, name=n, points="hull" if policy == "optimal" else "all"), policy
        )
        for n, s in (("a", a), ("b", b))
    ]
    tally = merged([cc.PairedTally(*curves, pc=pc).update(y[r], a[r], b[r]) for r in rows], shape)
    whole = cc.compare(y, a, b, pc=pc, simultaneous=simultaneous, policy=policy)
    same_difference(tally.to_difference(simultaneous=simultaneous), whole)


def test_weighted_pairs_of_whole_weights_are_the_comparison():
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 300)
    a, b, w = y + rng.normal(size=300), y + rng.normal(size=300), rng.integers(1, 4, 300)
    curves = [cc.CostCurve(cc.ScoreTally().update(y, s, w).to_roc_curve(name=n)) for n, s in (("a", a), ("b", b))]
    parts = [cc.PairedTally(*curves).update(y[r], a[r], b[r], w[r]) for r in np.array_split(np.arange(300), 4)]
    same_difference(merged(parts, "tree").to_difference(), cc.compare(y, a, b, sample_weight=w))


def test_cells_count_examples_by_both_changes():
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 80)
    a, b = (y + rng.normal(size=80)).round(1), (y + rng.normal(size=80)).round(1)
    curves = [cc.CostCurve(cc.RocCurve.from_predictions(y, s, name=n)) for n, s in (("a", a), ("b", b))]
    pc = np.array([0.2, 0.4, 0.6, 0.8])
    tally = cc.PairedTally(*curves, pc=pc).update(y, a, b)
    for true_class, label in (("positive", 1), ("negative", 0)):
        expected = np.zeros((5, 5), int)
        cuts = [curve.cuts_at(pc) for curve in curves]
        for s, t in zip(a[y == label], b[y == label], strict=True):
            expected[int((cuts[0] > s).sum()), int((cuts[1] > t).sum())] += 1
        assert tally.cells(true_class).tolist() == expected.tolist()


def test_pairs_of_other_curves_are_not_merged():
    curves = [cc.CostCurve(cc.RocCurve.from_predictions([0, 1], [0, s], name=str(s))) for s in (1, 2, 3)]
    with pytest.raises(cc.InputError, match="`other` must be of the same curves at the same points"):
        cc.PairedTally(*curves[:2]).merge(cc.PairedTally(*curves[1:]))
    with pytest.raises(cc.InputError, match="`a` must be a CostCurve, got 3"):
        cc.PairedTally(3, curves[0])
    with pytest.raises(cc.DataError, match="`y_true` must hold both classes, got 0 positive and 2 negative"):
        cc.PairedTally(*curves[:2]).update([0, 0], [1, 2], [1, 2]).to_difference()


# --- tables ------------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(
    st.lists(st.tuples(*[st.sampled_from("abcd")] * 3), min_size=1, max_size=40),
    st.integers(1, 5),
    SHAPES,
    st.sampled_from([None, "dcbae"]),
    st.sampled_from([str, ord, lambda label: ord(label) / 2]),
)
def test_confusion_tallies_are_the_tables_of_all_the_data(rows, parts, shape, labels, of):
    labels = None if labels is None else [of(label) for label in labels]
    columns = np.array([[of(label) for label in row] for row in rows]).T
    split = np.array_split(np.arange(len(rows)), parts)
    pairs = merged([cc.ConfusionTally(labels).update(*columns[:2, r]) for r in split], shape).to_confusion()
    whole = cc.ConfusionMatrix.from_predictions(*columns[:2], labels=labels)
    assert (pairs.labels, pairs.counts.tolist()) == (whole.labels, whole.counts.tolist())
    joint = merged([cc.ConfusionTally(labels).update(*columns[:, r]) for r in split], shape).to_joint()
    expected = cc.JointConfusion.from_predictions(*columns, labels=labels)
    assert joint.labels == expected.labels
    for name in ("true", "a", "b", "counts"):
        assert getattr(joint, name).tolist() == getattr(expected, name).tolist()


def test_wrong_confusion_batches_are_refused():
    one, two = cc.ConfusionTally().update([1], [2]), cc.ConfusionTally().update([1], [2], [1])
    with pytest.raises(cc.DataError, match="`other` must be given for all batches or for none"):
        one.merge(two)
    with pytest.raises(cc.DataError, match="labels of one type in all batches, got int and text"):
        one.update(["1"], ["2"])
    with pytest.raises(cc.UnsupportedError, match="got two classifiers: use to_joint"):
        two.to_confusion()
    with pytest.raises(cc.DataError, match="at least one example, got 0"):
        cc.ConfusionTally().update([], []).to_confusion()
    with pytest.raises(cc.DataError, match="only the labels of `labels`"):
        cc.ConfusionTally([1, 2]).update([3], [1])


def test_whole_and_other_numbers_become_one_type_of_label():
    tally = cc.ConfusionTally().update([1, 2], [2, 2]).update([1.5], [1.0])
    assert tally.to_confusion().labels == cc.ConfusionMatrix.from_predictions([1, 2, 1.5], [2, 2, 1.0]).labels
    assert all(type(label) is float for label in tally.to_confusion().labels)


def test_the_bound_holds_in_exact_arithmetic():
    # Three bins, by hand: the corner of the middle one is the best point that binning can hide.
    curve = cc.ScoreTally(bins=UNIVERSAL).update([1, 0, 1, 0], [4.0, 1.0, 1.0 + 1e-9, 0.25]).to_roc_curve()
    costs = [Fraction(1, 2) * Fraction(1, 2)]  # at pc = 1/2 the curve's best point has fnr 1/2 or fpr 1/2
    assert curve.max_error == pytest.approx(float(costs[0]), abs=1e-14)


@settings(max_examples=60)
@given(split_data(), SHAPES, st.sampled_from([1, 20, 1000]))
def test_held_examples_have_the_same_hull_for_any_batches(data, shape, hold):
    y, scores, rows = data
    tally = passes(cc.HullTally(hold=hold, resolution=2**14), y, scores, rows, shape)
    same_curve(tally.to_roc_curve(), cc.RocCurve.from_predictions(y, scores, points="hull"))
    if hold == 1000:
        assert tally.passes == 1


@pytest.mark.parametrize("shifts", [[20] * 10, [21] * 4096, [-1] * 4096, [0] * 4096, [0.5] * 4096, [[20] * 4096]])
def test_layouts_that_would_lead_outside_the_table_are_refused(shifts):
    with pytest.raises(cc.InputError, match="`shifts` must"):
        cc.ScoreBins("float32", np.array(shifts))


def test_truth_values_of_any_bits_are_true():
    y = np.array([255, 0, 3, 0], np.uint8).view(np.bool_)
    curve = cc.ScoreTally(resolution=2**14).update(y, [0.3, 0.2, 0.4, 0.1]).to_roc_curve()
    assert (curve.fp.tolist(), curve.tp.tolist()) == ([0, 0, 2], [0, 2, 2])


TALLIES = {
    "exact": lambda: cc.ScoreTally().update([0, 1, 0], [0.1, 0.2, 0.3]),
    "weighted": lambda: cc.ScoreTally().update([0, 1, 0], [0.1, 0.2, 0.3], [1, 2, 3]),
    "fixed bins": lambda: cc.ScoreTally(bins=UNIVERSAL).update([0, 1, 0], [0.1, 0.2, 0.3]),
    "binned": lambda: cc.ScoreTally(resolution=2**14).update([0, 1, 0], [0.1, 0.2, 0.3]),
    "first pass": lambda: cc.HullTally(resolution=2**14).update([0, 1, 0], [0.1, 0.2, 0.3]),
    "ties": lambda: cc.HullTally(resolution=2**14, ties=True).update([0, 1, 0], [0.1, 0.2, 0.3]),
    "held": lambda: cc.HullTally(hold=9).update([0, 1, 0], [0.1, 0.2, 0.3]),
    "second pass": lambda: (
        cc.HullTally(resolution=2**14).update([0, 1, 0], [0.1, 0.2, 0.3]).next_pass().update([0, 1, 0], [0.1, 0.2, 0.3])
    ),
    "finer": lambda: (
        cc.HullTally(resolution=2**14, members=1)
        .update([0, 1, 0], [0.1, 0.2, 0.3])
        .next_pass()
        .update([0, 1, 0], [0.1, 0.2, 0.3])
    ),
    "pairs": lambda: cc.PairedTally(
        *(cc.CostCurve(cc.RocCurve.from_predictions([0, 1], s, name=str(s))) for s in ([0, 1], [1, 0])), pc=[0.5]
    ).update([0, 1], [0, 1], [1, 0]),
    "table": lambda: cc.ConfusionTally().update(["a", "b"], ["a", "a"]),
}


def changed_array(draw, array):
    """Return an array that is not what a tally wrote: of another type, shape or size, or with values it cannot have."""
    return draw(
        st.sampled_from(
            [
                array[:-1],
                np.concatenate((array, array)),
                array.reshape(1, 1, -1),
                np.full(array.shape, "x"),
                np.full(array.shape, np.nan),
                np.full(array.shape, -(2**40)),
                np.full(array.shape, 2**40),
            ]
        )
    )


@settings(max_examples=150)
@given(st.data(), st.sampled_from(list(TALLIES)))
def test_bytes_that_no_tally_wrote_are_refused(data, kind):
    tally = TALLIES[kind]()
    with np.load(io.BytesIO(tally.to_bytes())) as file:
        arrays = {name: file[name] for name in file.files}
    plain = json.loads(arrays.pop("__plain").tobytes())
    if data.draw(st.booleans()):
        name = data.draw(st.sampled_from(sorted(arrays)))
        if data.draw(st.booleans()):
            del arrays[name]
        else:
            arrays[name] = changed_array(data.draw, arrays[name])
    else:
        name = data.draw(st.sampled_from(sorted(plain)))
        if data.draw(st.booleans()):
            del plain[name]
        else:
            plain[name] = data.draw(st.sampled_from([[[]], {"x": 1}, 1e300, "other"]))
    buffer = io.BytesIO()
    np.savez(buffer, __plain=np.frombuffer(json.dumps(plain).encode(), np.uint8), **arrays)
    try:
        restored = type(tally).from_bytes(buffer.getvalue())
    except cc.FormatError:
        return
    # What cannot be told from a tally's own bytes is one: it can be used.
    assert type(restored) is type(tally)
    assert restored.to_bytes()
    assert repr(restored)


@pytest.mark.parametrize(("name", "value"), [("before_shift", -1), ("before_pos", 2**62), ("before_neg", 2**54)])
def test_chains_that_no_pass_leaves_are_refused(name, value):
    with np.load(io.BytesIO(TALLIES["second pass"]().to_bytes())) as file:
        arrays = {key: file[key] for key in file.files}
    arrays[name] = np.full_like(arrays[name], value)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    with pytest.raises(cc.FormatError, match="parts of a chain"):
        cc.HullTally.from_bytes(buffer.getvalue())


@pytest.mark.parametrize("data", [None, 3, "text", b"", pickle.dumps({"a": 1})])
def test_what_is_no_bytes_of_a_tally_is_refused(data):
    with pytest.raises(cc.FormatError, match="`data` must be what to_bytes of a tally returns"):
        cc.ScoreTally.from_bytes(data)


@pytest.mark.parametrize("pos_label", [np.int64(1), np.str_("a"), np.bool_(True)])
def test_positive_labels_of_numpy_stay_the_same_when_sent(pos_label):
    labels = {"int64": [0, 1], "str_": ["b", "a"]}.get(type(pos_label).__name__, [False, True])
    tally = cc.ScoreTally(pos_label=pos_label).update(labels, [0.1, 0.2])
    assert pickle.loads(pickle.dumps(tally)).merge(tally).to_roc_curve().n_pos == 2


def test_labels_that_bytes_cannot_hold_are_refused():
    with pytest.raises(cc.UnsupportedError, match="labels must be strings, numbers or booleans"):
        cc.ConfusionTally().update([(1, 2), (3, 4)], [(1, 2), (1, 2)]).to_bytes()


def test_a_merge_that_fails_changes_nothing():
    tally = cc.ScoreTally(limit=5).update([0, 1, 0], [1, 2, 3])
    before = tally.to_bytes()
    with pytest.raises(cc.UnsupportedError, match="distinct scores"):
        tally.merge(cc.ScoreTally(limit=9).update([0, 1, 0], [4, 5, 6]))
    assert tally.to_bytes() == before


@pytest.mark.parametrize("values", [[-1, 3], [3, -1], [0, 5], [7, 0]])
def test_a_state_with_one_number_out_of_range_is_refused(values):
    with pytest.raises(cc.DataError, match=f"place must be from 0 to 5, got {min(0, *values)} to {max(values)}"):
        part({"place": np.array(values)}, "place", "i", 2, most=5)
    assert part({"place": np.array([0, 4])}, "place", "i", 2, most=5).tolist() == [0, 4]


def test_bytes_with_one_negative_count_are_refused():
    tally = cc.ConfusionTally().update([0, 1, 1], [0, 1, 0])
    plain, arrays = tally._state()
    name = next(name for name, array in arrays.items() if array.size > 1 and array.dtype.kind == "i")
    for place in range(arrays[name].size):
        wrong = arrays[name].copy()
        wrong.flat[place] = -1
        with pytest.raises(cc.DataError):
            cc.ConfusionTally._restored(plain, arrays | {name: wrong})
