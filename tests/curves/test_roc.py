"""ROC curves: from predictions, matrices and rates; pooling and averaging."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import costcurves as cc
import oracles
import peers
import r_bridge
from costcurves.curves.averages import tpr_at
from worlds import ALL_TIED, MIXED, NAMED, PERFECT, REVERSED, TWO, curve_of, folds, predictions


def points(curve):
    return list(zip(curve.thresholds.tolist(), curve.fp.tolist(), curve.tp.tolist(), strict=True))


@given(predictions())
def test_points_are_those_of_scikit_learn(data):
    curve = curve_of(data)
    assert list(zip(curve.thresholds, curve.fpr, curve.tpr, strict=True)) == peers.sklearn_roc(*data)


@given(predictions())
def test_auc_is_the_share_of_pairs_in_the_right_order(data):
    curve = curve_of(data)
    assert curve.auc() == float(oracles.auc_by_pairs(*data))
    assert curve.auc() == pytest.approx(peers.sklearn_auc(*data), abs=1e-12)


@given(predictions(), st.data())
def test_weighted_rates_and_auc_are_those_of_scikit_learn(data, draw):
    from sklearn.metrics import roc_auc_score, roc_curve

    labels, scores = data
    weights = draw.draw(st.lists(st.floats(0.1, 5), min_size=len(labels), max_size=len(labels)))
    curve = curve_of(data, sample_weight=weights)
    fpr, tpr, _ = roc_curve(labels, scores, sample_weight=weights, drop_intermediate=False)
    assert curve.fpr == pytest.approx(fpr, abs=1e-12)
    assert curve.tpr == pytest.approx(tpr, abs=1e-12)
    assert curve.auc() == pytest.approx(roc_auc_score(labels, scores, sample_weight=weights), abs=1e-12)
    assert curve.made_from == "weights"


@given(predictions())
def test_swapping_the_classes_mirrors_the_curve(data):
    labels, scores = data
    curve = curve_of(data)
    swapped = curve_of(([1 - label for label in labels], [-score for score in scores]))
    assert swapped.auc() == curve.auc()
    assert sorted(zip(curve.n_pos - curve.tp, curve.n_neg - curve.fp, strict=True)) == list(
        zip(swapped.fp, swapped.tp, strict=True)
    )


@given(predictions())
def test_the_hull_of_a_curve_holds_its_vertices_and_their_thresholds(data):
    curve = curve_of(data)
    sizes = oracles.class_sizes(data[0])
    expected = oracles.hull_by_definition([(fp, tp) for _, fp, tp in oracles.roc_points(*data)], *sizes)
    kept = [row for row in points(curve) if row[1:] in expected]
    assert points(curve.on_hull()) == points(curve_of(data, points="hull")) == kept
    assert points(curve.on_hull().on_hull()) == kept


def test_hulls_of_named_cases():
    assert [row[1:] for row in points(curve_of(PERFECT).on_hull())] == [(0, 0), (0, 2), (2, 2)]
    assert [row[1:] for row in points(curve_of(REVERSED).on_hull())] == [(0, 0), (2, 2)]
    assert points(curve_of(ALL_TIED).on_hull()) == [(math.inf, 0, 0), (1.0, 2, 2)]
    assert points(curve_of(TWO)) == [(math.inf, 0, 0), (1.0, 0, 1), (0.0, 1, 1)]


def test_rocr_finds_the_same_hulls():
    sets = [*NAMED.values(), *oracles.random_tied_sets(80, seed=31)]
    for data, found in zip(sets, r_bridge.rocr_rch(sets), strict=True):
        hull = curve_of(data).on_hull()
        vertices = list(zip(hull.fpr.tolist(), hull.tpr.tolist(), strict=True))
        # ROCR works on rounded rates and may keep a point of an edge; it loses no vertex.
        assert [vertex for vertex in found if vertex in vertices] == vertices
        for fpr, tpr in set(found) - set(vertices):
            assert tpr == pytest.approx(np.interp(fpr, hull.fpr, hull.tpr), abs=1e-12)


@given(predictions())
def test_a_threshold_leads_to_the_point_of_counting(data):
    labels, scores = data
    curve = curve_of(data)
    for cut in (-1.0, 0.0, 0.17, 0.5, 1.0, 2.0, *scores):
        for above in (False, True):
            called = [score > cut if above else score >= cut for score in scores]
            fp = sum(c and not label for c, label in zip(called, labels, strict=True))
            tp = sum(c and label for c, label in zip(called, labels, strict=True))
            i = int(curve.index_of(cut, above=above))
            assert (curve.fp[i], curve.tp[i]) == (fp, tp)


@pytest.mark.parametrize("index", range(6))
def test_one_point_of_a_curve_is_a_curve_of_one_point(index):
    curve = curve_of(MIXED)
    assert points(curve.at(index)) == points(curve)[index : index + 1]
    assert curve.at(index).below.tolist() == [*curve.thresholds[1:], -math.inf][index : index + 1]


def test_a_curve_says_what_it_was_made_from():
    assert curve_of(MIXED).made_from == "counts"
    assert curve_of(MIXED).fp.dtype == np.int64
    assert curve_of(MIXED, sample_weight=[1, 2, 1, 1, 1, 1]).made_from == "weights"
    assert cc.RocCurve.from_confusion_matrix([[90, 10], [4, 16]]).made_from == "counts"
    assert cc.RocCurve.from_confusion_matrix([[90.5, 10], [4, 16]]).made_from == "weights"
    assert cc.RocCurve.from_rates(0.1, 0.6).made_from == "rates"
    assert cc.RocCurve.from_confusion_matrix([[90, 10], [4, 16]]).prevalence == 20 / 120
    assert math.isnan(cc.RocCurve.from_rates(0.1, 0.6).prevalence)


def test_a_confusion_matrix_has_rows_true_and_columns_predicted():
    curve = cc.RocCurve.from_confusion_matrix([[90, 10], [4, 16]])
    assert (curve.fpr[1], curve.tpr[1], curve.fnr[1]) == (0.1, 0.8, 0.2)
    assert (curve.n_neg, curve.n_pos) == (100, 20)


@pytest.mark.parametrize(
    ("table", "inner"),
    [
        ([[9, 0], [3, 0]], []),
        ([[0, 9], [0, 3]], []),
        ([[9, 0], [0, 3]], [(0, 3)]),
        ([[0, 9], [3, 0]], [(9, 0)]),
    ],
)
def test_matrices_of_trivial_and_extreme_classifiers_keep_only_points_of_their_own(table, inner):
    curve = cc.RocCurve.from_confusion_matrix(table)
    assert [row[1:] for row in points(curve)][1:-1] == inner
    assert not curve.has_thresholds
    assert repr(curve).startswith("RocCurve('classifier': 12 examples (3 positive), ")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[1, 2, 3], [4, 5, 6]], "`confusion` must be a 2x2 table of counts"),
        ([[1, 2], [3]], "`confusion` must be a 2x2 table of counts"),
        ([["a", "b"], ["c", "d"]], "`confusion` must be a 2x2 table of counts"),
        ([[1, -2], [3, 4]], r"`confusion` must hold finite counts >= 0, got \[\[1, -2\], \[3, 4\]\]"),
        ([[1, math.nan], [3, 4]], "`confusion` must hold finite counts >= 0"),
        ([[0, 0], [3, 4]], "`confusion` must hold both classes, got 7 positive and 0 negative examples"),
        ([[3, 4], [0, 0]], "`confusion` must hold both classes, got 0 positive and 7 negative examples"),
    ],
)
def test_confusion_matrices_refuse(table, message):
    with pytest.raises(cc.DataError, match=message):
        cc.RocCurve.from_confusion_matrix(table)


def test_published_curves_come_in_any_row_order():
    curve = cc.RocCurve.from_rates([0.5, 0.1, 0.1, 1], [0.9, 0.6, 0.3, 1], thresholds=[1, 2, 3, 0.5], name="paper")
    assert points(curve) == [(math.inf, 0, 0), (3, 0.1, 0.3), (2, 0.1, 0.6), (1, 0.5, 0.9), (0.5, 1, 1)]
    assert curve.has_thresholds
    assert curve.index_of(0.5) == 4
    assert curve.index_of(0.75) == 3


def test_rates_with_the_thresholds_of_a_curve_make_the_same_cost_curves():
    roc = curve_of(MIXED)
    again = cc.RocCurve.from_rates(roc.fpr, roc.tpr, thresholds=roc.thresholds)
    assert again.thresholds.tolist() == roc.thresholds.tolist()
    pc = np.linspace(0, 1, 21)
    for policy in ("optimal", 0.6, 0.1, 0.0, cc.thresholds.bayes(prevalence=0.3)):
        assert cc.CostCurve(again, policy).evaluate(pc) == pytest.approx(cc.CostCurve(roc, policy).evaluate(pc))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"fpr": 1.1, "tpr": 0.5}, r"`fpr` must be in \[0, 1\], got 1.1: 1.1 % is 0.011"),
        ({"fpr": 0.1, "tpr": math.nan}, r"`tpr` must be in \[0, 1\], got nan"),
        ({"fpr": "x", "tpr": 0.5}, "`fpr` must be numeric, got 'x'"),
        ({"fpr": [0.1, 0.2], "tpr": 0.5}, r"must be numbers or 1-D of the same length, got shapes \(2,\) and \(1,\)"),
        ({"fpr": [], "tpr": []}, "must be numbers or 1-D of the same length"),
        ({"fpr": [0.1, 0.2], "tpr": [0.5, 0.4]}, r"`tpr` must not fall .* got \(0.1, 0.5\) and \(0.2, 0.4\)"),
        (
            {"fpr": [0.1, 0.2], "tpr": [0.4, 0.5], "thresholds": [1]},
            "`thresholds` must be as many as `fpr`, got 1 and 2",
        ),
        ({"fpr": [0.1, 0.2], "tpr": [0.4, 0.5], "thresholds": [1, 2]}, "`thresholds` must not rise .* got 1 and 2"),
        ({"fpr": 0.1, "tpr": 0.4, "thresholds": math.nan}, "`thresholds` must not be NaN, got 1 of 1"),
        ({"fpr": 0.1, "tpr": 0.4, "thresholds": "high"}, "`thresholds` must be numeric, got 'high'"),
        ({"fpr": 0.1, "tpr": 0.4, "name": " "}, "`name` must be a non-empty string, got ' '"),
        ({"fpr": 0.1, "tpr": 0.4, "name": None}, "`name` must be a non-empty string, got None"),
    ],
)
def test_rates_refuse(arguments, message):
    with pytest.raises(cc.InputError, match=message):
        cc.RocCurve.from_rates(**arguments)


def test_what_needs_all_points_or_thresholds_says_so():
    hull = curve_of(MIXED, name="kept", points="hull")
    with pytest.raises(cc.UnsupportedError, match="`auc` needs every point of the ROC curve, got 'kept'"):
        hull.auc()
    with pytest.raises(cc.UnsupportedError, match="`pool_examples` needs every point"):
        cc.pool_examples([hull])
    with pytest.raises(cc.UnsupportedError, match="`threshold` needs a curve made from scores, got 'expert'"):
        cc.RocCurve.from_rates(0.1, 0.6, name="expert").index_of(0.5)
    with pytest.raises(cc.InputError, match="`points` must be one of 'all', 'hull', got 'some'"):
        curve_of(MIXED, points="some")


# Pooling and averaging --------------------------------------------------------------------------------------


@given(st.lists(predictions(), min_size=1, max_size=4))
def test_pooling_is_counting_all_examples_together(sets):
    pooled = cc.pool_examples([curve_of(data) for data in sets])
    together = ([y for labels, _ in sets for y in labels], [s for _, scores in sets for s in scores])
    assert points(pooled) == oracles.roc_points(*together)
    assert pooled.fp.dtype == np.int64


def test_pooling_weights_gives_weights():
    first = curve_of(MIXED)
    second = curve_of(MIXED, sample_weight=[0.5] * 6)
    pooled = cc.pool_examples({"one": first, "two": second})
    assert pooled.made_from == "weights"
    assert pooled.tpr == pytest.approx(first.tpr)


@pytest.mark.parametrize(
    ("curves", "error", "message"),
    [
        ([], cc.InputError, "`curves` must not be empty, got 0 curves"),
        (5, cc.InputError, "`curves` must be RocCurves, got 5"),
        ([1], cc.InputError, r"`curves` must be RocCurves, got 1 \(int\)"),
        (
            [cc.RocCurve.from_rates(0.1, 0.2, name="e")],
            cc.UnsupportedError,
            "must come from scores .* 'e' made from rates",
        ),
        ([cc.RocCurve.from_confusion_matrix([[1, 1], [1, 1]])], cc.UnsupportedError, "without thresholds"),
        ([cc.RocCurve.from_confusion_matrix([[1, 0], [1, 0]])], cc.UnsupportedError, "without thresholds"),
    ],
)
def test_pooling_refuses(curves, error, message):
    with pytest.raises(error, match=message):
        cc.pool_examples(curves)


@given(st.lists(predictions(), min_size=1, max_size=4), st.integers(2, 30))
def test_averaged_roc_curves_are_those_of_the_1998_study(sets, n_points):
    average = cc.average_roc_curves([curve_of(data) for data in sets], n_points=n_points)
    exact_grid = [Fraction(i, n_points - 1) for i in range(n_points)]
    expected = oracles.averaged_roc(sets, exact_grid)
    # A vertical step exactly at a grid point is a jump; a rounded grid may fall on either side of it.
    steps = {fpr for data in sets for fpr, _ in oracles.roc_rates(*data)}
    for fpr, exact, found, want in zip(exact_grid, average.fpr, average.tpr, expected, strict=True):
        if fpr not in steps or Fraction(exact) == fpr:
            assert found == pytest.approx(float(want), abs=1e-9)
    average.to_roc_curve()


def test_the_interval_of_an_averaged_roc_curve_is_the_binomial_one():
    from scipy.stats import norm

    sets, curves = folds(6, seed=3)
    asked = {"interval": "binomial", "level": 0.9, "n_points": 11}
    average = cc.average_roc_curves(curves, **asked)
    trials = sum(sum(labels) for labels, _ in sets)
    half = norm.ppf(0.95) * np.sqrt(average.tpr * (1 - average.tpr) / trials)
    assert average.upper == pytest.approx(np.minimum(average.tpr + half, 1))
    assert average.lower == pytest.approx(np.maximum(average.tpr - half, 0))
    few = [([1, 0, 0, 1, 0, 0, 0], range(7)), ([0, 1, 0, 0, 0], [3, 5, 1, 6, 2])]
    across = cc.average_roc_curves([curve_of(one) for one in few], kind="horizontal", **asked)
    trials = sum(len(labels) - sum(labels) for labels, _ in few)
    half = norm.ppf(0.95) * np.sqrt(across.fpr * (1 - across.fpr) / trials)
    assert across.upper == pytest.approx(np.minimum(across.fpr + half, 1))
    assert np.isnan(cc.average_roc_curves([cc.RocCurve.from_rates(0.1, 0.5)], interval="binomial").lower).all()


def test_an_averaged_roc_curve_has_limits_only_if_they_are_asked_for():
    average = cc.average_roc_curves(folds(6, seed=3)[1])
    assert np.isnan(average.lower).all()
    assert np.isnan(average.upper).all()


def test_averages_refuse_bad_options():
    curves = [curve_of(MIXED)]
    with pytest.raises(cc.InputError, match="`n_points` must be >= 2, got 1"):
        cc.average_roc_curves(curves, n_points=1)
    with pytest.raises(cc.InputError, match=r"`n_points` must be a whole number, got 2\.5"):
        cc.average_roc_curves(curves, n_points=2.5)
    with pytest.raises(cc.InputError, match=r"`level` must come with interval='binomial', got 0\.9"):
        cc.average_roc_curves(curves, level=0.9)
    with pytest.raises(cc.InputError, match="`interval` must be one of 'binomial', got 'wilson'"):
        cc.average_roc_curves(curves, interval="wilson")


def test_of_several_points_at_one_fpr_the_highest_is_interpolated():
    curve = curve_of(([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0]))
    assert tpr_at(curve, [0, 0.25, 0.5, 1]).tolist() == [0.5, 0.75, 1, 1]


def test_horizontal_averages_are_vertical_averages_of_the_mirrored_curves():
    rng = np.random.default_rng(4)
    for _ in range(20):
        parts = folds(3, seed=int(rng.integers(1000)))[1]
        # Mirrored at the falling diagonal: negated scores of the other class, so that tpr and fpr change places.
        mirrored = [cc.RocCurve.from_rates(1 - c.tpr[::-1], 1 - c.fpr[::-1]) for c in parts]
        across = cc.average_roc_curves(parts, kind="horizontal", n_points=21)
        up = cc.average_roc_curves(mirrored, n_points=21)
        np.testing.assert_allclose(1 - across.fpr[::-1], up.tpr, atol=1e-12)
        assert across.kind == "horizontal"
    two = [cc.RocCurve.from_rates(0.04, 0.4), cc.RocCurve.from_rates(0.3, 0.8)]
    # At tpr 0.4: 0.04 on one curve, half the way to 0.3 on the other.
    assert cc.average_roc_curves(two, kind="horizontal", n_points=6).fpr[2] == pytest.approx((0.04 + 0.15) / 2)


@pytest.mark.parametrize("kind", ["vertical", "horizontal", "threshold", "points"])
def test_the_area_under_an_average_is_that_of_the_whole_curve(kind):
    # The horizontal average of the second pair reaches a tpr of 1 at an fpr of 0.5, with half of the area beyond.
    same = {"fpr": [0.1, 0.3], "thresholds": [2.0, 1.0]}
    for tpr in ([[0.4, 0.7], [0.5, 0.9]], [[0.4, 1.0], [0.5, 1.0]]):
        average = cc.average_roc_curves([cc.RocCurve.from_rates(tpr=one, **same) for one in tpr], kind=kind)
        x, y = np.append(average.fpr, 1.0), np.append(average.tpr, 1.0)
        assert average.auc() == pytest.approx(np.trapezoid(y, x), abs=1e-12)
        assert average.auc() == pytest.approx(
            np.mean([np.trapezoid([0, *t, 1], [0, 0.1, 0.3, 1]) for t in tpr]), abs=0.03
        )


def test_threshold_averages_are_mean_rates_at_the_same_thresholds():
    rng = np.random.default_rng(1)
    samples = [(np.append([0, 1], rng.integers(0, 2, 20)), rng.integers(0, 6, 22)) for _ in range(3)]
    curves = [cc.RocCurve.from_predictions(y, s) for y, s in samples]
    average = cc.average_roc_curves(curves, kind="threshold")
    for cut, fpr, tpr in zip(average.thresholds, average.fpr, average.tpr, strict=True):
        assert fpr == pytest.approx(np.mean([(s[y == 0] >= cut).mean() for y, s in samples]))
        assert tpr == pytest.approx(np.mean([(s[y == 1] >= cut).mean() for y, s in samples]))
    assert average.to_roc_curve().auc() == pytest.approx(average.auc())
    assert "threshold" in average.to_frame().columns
    with pytest.raises(cc.UnsupportedError, match="thresholds"):
        cc.average_roc_curves([cc.RocCurve.from_rates(0.1, 0.4)], kind="threshold")


def test_the_ith_points_are_averaged_only_if_there_are_as_many():
    a, b = cc.RocCurve.from_rates([0.1, 0.3], [0.5, 0.9]), cc.RocCurve.from_rates([0.2, 0.4], [0.7, 0.8])
    average = cc.average_roc_curves([a, b], kind="points")
    np.testing.assert_allclose(average.fpr, [0, 0.15, 0.35, 1])
    np.testing.assert_allclose(average.tpr, [0, 0.6, 0.85, 1])
    with pytest.raises(cc.DataError, match=r"same number of points.*\[3, 4\]"):
        cc.average_roc_curves([a, cc.RocCurve.from_rates(0.1, 0.4)], kind="points")
    with pytest.raises(cc.InputError, match="kind"):
        cc.average_roc_curves([a, b], kind="diagonal")


def test_rates_that_end_at_always_positive_keep_all_their_points():
    curve = cc.RocCurve.from_rates([0.1, 0.2, 0.3, 1.0], [0.3, 0.5, 0.8, 1.0], thresholds=[4, 3, 2, 1])
    assert curve.fpr.tolist() == [0.0, 0.1, 0.2, 0.3, 1.0]
    assert curve.thresholds[1:4].tolist() == [4, 3, 2]
