"""Predictions become counts: labels, scores and weights of every kind, and what is refused."""

from __future__ import annotations

import itertools
import math
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import costcurves as cc
import oracles
from costcurves.counting import counts
from costcurves.counting.counts import checked_scores, count_scores, count_weights
from costcurves.counting.geometry import upper_hull
from costcurves.counting.labels import binary_labels

Y, S = [0, 1, 1, 0], [0.1, 0.4, 0.8, 0.4]


def table(counts):
    return list(zip(counts.thresholds.tolist(), counts.fp.tolist(), counts.tp.tolist(), strict=True))


def counted(labels, scores):
    return table(count_scores(np.asarray(labels, dtype=bool), np.asarray(scores)))


# Exactness --------------------------------------------------------------------------------------------------


def test_a_hundred_thousand_tied_data_sets_have_the_brute_force_hull():
    for labels, scores in oracles.random_tied_sets(100_000, seed=2026, largest=9):
        counts = count_scores(np.array(labels, dtype=bool), np.array(scores))
        vertex = upper_hull(counts.fp, counts.tp)
        found = list(zip(counts.fp[vertex].tolist(), counts.tp[vertex].tolist(), strict=True))
        n_neg, n_pos = oracles.class_sizes(labels)
        # Brute force without counts: (fp, tp) of each threshold by looking at every example.
        points = {
            (
                sum(1 for label, score in zip(labels, scores, strict=True) if not label and score >= t),
                sum(1 for label, score in zip(labels, scores, strict=True) if label and score >= t),
            )
            for t in set(scores)
        }
        assert found == oracles.hull_by_wrapping(points, n_neg, n_pos)


def test_ten_thousand_tied_data_sets_through_the_public_door():
    for labels, scores in oracles.random_tied_sets(10_000, seed=7, largest=12):
        curve = cc.RocCurve.from_predictions(labels, scores, points="hull")
        found = list(zip(curve.fp.tolist(), curve.tp.tolist(), strict=True))
        points = [(fp, tp) for _, fp, tp in oracles.roc_points(labels, scores)]
        assert found == oracles.hull_by_wrapping(points, *oracles.class_sizes(labels))


FLOATS = st.one_of(
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308, 1.0, -1.0]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-3, 3).map(float),
)


@st.composite
def predictions(draw, scores=FLOATS, largest=25):
    labels = [0, 1, *draw(st.lists(st.integers(0, 1), max_size=largest))]
    return labels, draw(st.lists(scores, min_size=len(labels), max_size=len(labels)))


@given(predictions())
def test_counts_of_floats_of_any_sign_and_size_are_those_of_counting(data):
    assert counted(*data) == oracles.roc_points(*data)


@pytest.mark.parametrize("block", [1, 2, 3, 7])
@given(data=predictions(), short=st.booleans())
def test_counts_do_not_depend_on_how_many_examples_are_counted_at_once(block, data, short):
    labels, scores = data
    if short:
        scores = np.clip(scores, -1e38, 1e38).astype(np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts, "BLOCK", block)
        assert counted(labels, scores) == oracles.roc_points(labels, np.asarray(scores, dtype=np.float64).tolist())


def test_counting_takes_little_memory_beside_what_it_returns():
    rng = np.random.default_rng(0)
    positive = rng.random(400_000) < 0.3
    for dtype, digits in itertools.product((np.float64, np.float32), (16, 5, 1)):
        scores = rng.random(positive.size).round(digits).astype(dtype)
        tracemalloc.start()
        found = count_scores(positive, scores)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < (2 * 4 + scores.itemsize + 4) * positive.size
        arrays = (found.thresholds, found.fp, found.tp)
        held = {id(whole): whole.nbytes for whole in (a if a.base is None else a.base for a in arrays)}
        assert sum(held.values()) < 2 * sum(array.nbytes for array in arrays)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_curves_held_in_few_bytes_are_those_of_many(dtype, monkeypatch):
    rng = np.random.default_rng(1)
    y = rng.random(300_000) < 0.4
    scores = (np.round(rng.normal(y, 2.0), 4)).astype(dtype)  # products of counts are beyond an int32
    narrow = cc.RocCurve.from_predictions(y, scores)
    assert (narrow._every.fp.dtype, narrow._every.thresholds.dtype) == (np.int32, dtype)
    monkeypatch.setattr(counts, "MANY", y.size)
    wide = cc.RocCurve.from_predictions(y, scores)
    assert (wide._every.fp.dtype, wide._every.thresholds.dtype) == (np.int64, np.float64)
    for name in ("fp", "tp", "thresholds", "fpr", "tpr", "fnr"):
        found, expected = getattr(narrow, name), getattr(wide, name)
        assert (found.dtype, found.tobytes()) == (expected.dtype, expected.tobytes())
        assert not found.flags.writeable
    assert narrow.auc() == wide.auc()
    assert narrow.has_thresholds
    few = narrow.at([0, 5, 9])
    assert few._every.fp.dtype == np.int64
    assert few.to_dict() == wide.at([0, 5, 9]).to_dict()
    assert narrow.exact_rates(7) == wide.exact_rates(7)
    for one, other in ((narrow.on_hull(), wide.on_hull()), (cc.RocHull([narrow]), cc.RocHull([wide]))):
        assert one.to_dict() == other.to_dict()
    pc = np.linspace(0, 1, 101)
    band, expected = (cc.CostCurve(roc).band(pc=pc) for roc in (narrow, wide))
    assert band.lower.tobytes() == expected.lower.tobytes()


@given(predictions(st.floats(width=32, allow_nan=False, allow_infinity=False)))
def test_float32_gives_the_same_as_float64(data):
    labels, scores = data
    narrow = np.array(scores, dtype=np.float32)
    assert counted(labels, narrow) == counted(labels, narrow.astype(np.float64)) == oracles.roc_points(labels, scores)


@given(predictions(st.integers(-(2**53), 2**53)))
def test_long_ranges_of_integers_are_counted_exactly(data):
    labels, scores = data
    assert counted(labels, np.array(scores, dtype=np.int64)) == oracles.roc_points(labels, scores)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64, bool, np.float16, np.longdouble, ">f8"])
@given(data=predictions(st.integers(0, 1)))
def test_scores_of_every_dtype_are_counted_alike(data, dtype):
    labels, scores = data
    ready = checked_scores(np.array(scores).astype(dtype))
    assert counted(labels, ready) == oracles.roc_points(labels, scores)


@given(predictions(), st.randoms())
def test_the_order_of_rows_changes_nothing(data, rng):
    labels, scores = data
    rows = list(zip(labels, scores, strict=True))
    rng.shuffle(rows)
    assert counted(*zip(*rows, strict=True)) == counted(labels, scores)


@given(predictions(st.integers(-5, 5).map(float)))
def test_monotone_transforms_change_only_thresholds(data):
    labels, scores = data
    plain = [row[1:] for row in counted(labels, scores)]
    for transform in (lambda s: 2.0**s, lambda s: 1e300 * s, lambda s: s - 100, math.atan, lambda s: s**3):
        assert [row[1:] for row in counted(labels, [transform(s) for s in scores])] == plain


@given(predictions())
def test_duplicated_data_double_the_counts(data):
    labels, scores = data
    doubled = [(t, 2 * fp, 2 * tp) for t, fp, tp in counted(labels, scores)]
    assert counted(labels * 2, scores * 2) == doubled


def test_negative_zero_and_zero_are_one_score():
    assert counted([0, 1, 1], [0.0, -0.0, -1.0]) == [(math.inf, 0, 0), (0.0, 1, 1), (-1.0, 1, 2)]
    assert counted([0, 1], [-0.0, -0.0]) == [(math.inf, 0, 0), (0.0, 1, 1)]


def test_strided_and_read_only_arrays_are_taken_as_they_are():
    scores = np.arange(10.0)[::-2]
    scores.flags.writeable = False
    labels = np.array([0, 9, 1, 9, 0, 9, 1, 9, 0])[::2]
    assert counted(labels, scores) == oracles.roc_points(labels.tolist(), scores.tolist())
    assert scores.tolist() == [9.0, 7.0, 5.0, 3.0, 1.0]


# Weights ----------------------------------------------------------------------------------------------------


@given(predictions(), st.data())
def test_whole_weights_equal_repetition(data, draw):
    labels, scores = data
    weights = draw.draw(st.lists(st.integers(0, 4), min_size=len(labels), max_size=len(labels)))
    weights[0] = weights[1] = 1
    repeated = [i for i, weight in enumerate(weights) for _ in range(weight)]
    found = table(count_weights(np.array(labels, dtype=bool), np.array(scores), np.array(weights, dtype=float)))
    assert found == counted([labels[i] for i in repeated], [scores[i] for i in repeated])


@given(predictions(), st.data(), st.randoms())
def test_weighted_sums_do_not_depend_on_the_order_of_rows(data, draw, rng):
    labels, scores = data
    weights = draw.draw(st.lists(st.floats(0.01, 10), min_size=len(labels), max_size=len(labels)))
    rows = list(zip(labels, scores, weights, strict=True))
    shuffled = rng.sample(rows, len(rows))
    first, second = (
        table(count_weights(np.array(y, dtype=bool), np.array(s), np.array(w)))
        for y, s, w in (zip(*rows, strict=True), zip(*shuffled, strict=True))
    )
    assert first == second


# Labels -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "pos_label"),
    [
        ([False, True, True], None),
        ([True, False, False], False),
        ([0, 1, 1], None),
        ([0.0, 1.0, 1.0], None),
        ([-1, 1, 1], None),
        ([1, 2, 2], 2),
        ([2, 1, 1], 1),
        ([1, 0, 0], 0),
        (np.array([0, 1, 1], dtype=np.uint8), None),
        (["no", "yes", "yes"], "yes"),
        (np.array(["no", "yes", "yes"], dtype=object), "yes"),
        (np.array([b"n", b"y", b"y"]), b"y"),
        (np.array([0, 1, 1], dtype=object), None),
        (np.array([False, True, True], dtype=object), None),
        (pd.Series([0, 1, 1], index=[5, 3, 1]), None),
        (pd.Series(["a", "b", "b"], dtype="category"), "b"),
        (pd.array([0, 1, 1], dtype="Int64"), None),
        (pl.Series(["a", "b", "b"]), "b"),
        ((0, 1, 1), True),
    ],
)
def test_labels_of_every_kind_are_read(labels, pos_label):
    assert binary_labels(labels, pos_label).tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("labels", "pos_label", "message"),
    [
        ([1, 1], None, "`y_true` must hold both classes, got 2 positive and 0 negative examples"),
        ([0, 0], None, "`y_true` must hold both classes, got 0 positive and 2 negative examples"),
        ([-1, -1], None, "got 0 positive and 2 negative"),
        (["a", "a"], "a", "got 2 positive and 0 negative"),
        ([True, True], None, "got 2 positive and 0 negative"),
        ([], None, "`y_true` must not be empty, got 0 examples"),
        ([0, 1, 2], None, "`y_true` must hold two classes, got labels 0, 1, 2"),
        ([-1, 0, 1], None, "`y_true` must hold two classes, got labels -1, 0, 1"),
        ([0, 1, 2], 1, "`y_true` must hold two classes, got labels 0, 1, 2"),
        (["a", "b", "c"], "a", "`y_true` must hold two classes, got labels 'a', 'b', 'c'"),
        (list(range(8)), 1, r"got labels 0, 1, 2, 3, 4, … \(8 distinct\)"),
        ([1, 2], None, "`pos_label` must be given when `y_true` is not 0/1, -1/1 or boolean, got labels 1, 2"),
        (["a", "b"], None, "`pos_label` must be given when labels are names, .* got labels 'a', 'b'"),
        (["a", "b"], "c", "`pos_label` must be one of the labels in `y_true`, got 'c', labels are 'a', 'b'"),
        ([0, 1], 7, "`pos_label` must be one of the labels in `y_true`, got 7, labels are 0, 1"),
        ([0, 1], "1", "`pos_label` must be one of the labels in `y_true`, got '1' but labels are numbers"),
        ([False, True], 5, "`pos_label` must be True or False for boolean `y_true`, got 5"),
        ([False, True], "yes", "`pos_label` must be True or False for boolean `y_true`, got 'yes'"),
        ([0, 1], (0, 1), r"`pos_label` must be one label, got \(0, 1\)"),
        (np.array([0, None, 1], dtype=object), None, "must not have missing labels, got 1, the first at position 1"),
        ([0.0, math.nan], None, "`y_true` must be finite, got 1 non-finite value, the first is nan at position 1"),
        (np.array(["a", 1], dtype=object), "a", "`y_true` must hold labels of one type, got 1, 'a'"),
        (np.array([[0], [1]]), None, r"`y_true` must be 1-D, got shape \(2, 1\): pass a flat array"),
        ([0j, 1j], None, "`y_true` must hold booleans, numbers or strings, got dtype complex128"),
    ],
)
def test_labels_refuse(labels, pos_label, message):
    with pytest.raises(cc.DataError, match=message):
        cc.RocCurve.from_predictions(labels, np.arange(max(len(labels), 1)), pos_label=pos_label)


# Scores and weights -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1, 2, 3], "`y_score` and `y_true` must have the same length, got 3 and 4"),
        ([], "`y_score` must not be empty, got 0 examples"),
        ([1, math.nan, 2, math.inf], "must be finite, got 2 non-finite values, the first is nan at position 1"),
        ([1, 2, 3, -math.inf], "must be finite, got 1 non-finite value, the first is -inf at position 3"),
        (np.array([1, 2, 3, math.inf], dtype=np.float32), "must be finite, got 1 non-finite value"),
        (
            np.ones((4, 2)),
            r"`y_score` must be 1-D, got shape \(4, 2\): .* class, .*\[:, list\(model.classes_\).index\(pos_label\)\]",
        ),
        (np.ones((4, 1)), r"`y_score` must be 1-D, got shape \(4, 1\)"),
        (3.5, r"`y_score` must be 1-D, got shape \(\)"),
        (["1", "2", "3", "4"], "`y_score` must be numeric, got dtype <U1"),
        (np.array([1, "x", 2, 3], dtype=object), "`y_score` must be numeric, got 'x' at position 1"),
        ([1, 2, 3, None], "`y_score` must be (finite|numeric), got"),
        ([1, 2, 3, 2**60], r"at most 2\*\*53 in size, .* got 1152921504606846976: pass ranks instead"),
        ([1j, 2, 3, 4], "`y_score` must be numeric, got dtype complex128"),
        (np.ma.array([1.0, 2, 3, 4], mask=[0, 1, 0, 0]), "`y_score` must not have masked values, got 1"),
        ([[1], [2, 3], [4], [5]], "`y_score` must be 1-D, got rows of different lengths"),
    ],
)
def test_scores_refuse(scores, message):
    with pytest.raises(cc.DataError, match=message):
        cc.RocCurve.from_predictions(Y, scores)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1, 1, 1], "`sample_weight` must be >= 0, got -1.0 at position 1"),
        ([1, math.nan, 1, 1], "`sample_weight` must be finite, got 1 non-finite value, the first is nan at position 1"),
        ([1, math.inf, 1, 1], "`sample_weight` must be finite"),
        ([1, 1, 1], "`sample_weight` and `y_true` must have the same length, got 3 and 4"),
        ([0, 1, 1, 0], "`sample_weight` must give weight to both classes, got 2 for positives and 0 for negatives"),
        (["a"] * 4, "`sample_weight` must be numeric, got"),
        ([[1, 1, 1, 1]], r"`sample_weight` must be 1-D, got shape \(1, 4\)"),
    ],
)
def test_weights_refuse(weights, message):
    with pytest.raises(cc.DataError, match=message):
        cc.RocCurve.from_predictions(Y, S, sample_weight=weights)


def test_weights_whose_sum_overflows_are_refused():
    with pytest.raises(cc.DataError, match="`sample_weight` must have a sum in"):
        cc.RocCurve.from_predictions(Y, S, sample_weight=[1e308] * 4)


def test_counts_are_read_only():
    counts = count_scores(np.array([False, True]), np.array([1.0, 2.0])).candidates()
    for array in (counts.fp, counts.tp, counts.thresholds):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
