"""Metrics of labels and scores: counted by hand, equal to the core's curves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

import costcurves as cc
from costcurves.decisions.metrics import mean_example_cost
from laws import random_worlds
from worlds import MIXED, predictions

HERE = cc.OperatingCondition(prevalence=0.2, cost_fp=3, cost_fn=50)


@given(predictions(), st.floats(0, 1))
def test_normalized_cost_is_the_weighted_mean_of_the_error_rates(data, pc):
    labels, scores = np.array(data[0]), np.array(data[1])
    guesses = (scores > 0.5).astype(int)
    fnr, fpr = np.mean(guesses[labels == 1] == 0), np.mean(guesses[labels == 0] == 1)
    assert cc.normalized_expected_cost(labels, guesses, pc) == pytest.approx(pc * fnr + (1 - pc) * fpr, abs=1e-12)


def test_labels_of_any_kind_are_taken():
    truth, guesses = np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 1, 0])
    expected = cc.normalized_expected_cost(truth, guesses, HERE)
    names = np.array(["good", "bad"])
    assert cc.normalized_expected_cost(names[truth], names[guesses], HERE, pos_label="bad") == expected
    assert cc.normalized_expected_cost(truth == 1, guesses == 1, HERE) == expected
    assert cc.normalized_expected_cost(2 * truth - 1, (2 * guesses - 1).tolist(), HERE) == expected
    assert cc.normalized_expected_cost(truth + 1, guesses + 1, HERE, pos_label=2) == expected


def test_constant_predictions_are_the_trivial_classifiers():
    assert cc.normalized_expected_cost(["a", "b"], ["a", "a"], 0.3, pos_label="b") == pytest.approx(0.3)
    assert cc.normalized_expected_cost(["a", "b"], ["b", "b"], 0.3, pos_label="b") == pytest.approx(0.7)


def test_weights_weight_the_rates():
    cost = cc.normalized_expected_cost([0, 0, 1, 1], [0, 1, 1, 0], 0.5, sample_weight=[1, 3, 1, 1])
    assert cost == pytest.approx(0.5 * 0.5 + 0.5 * 0.75)


@given(predictions())
def test_area_is_that_of_the_core(data):
    curve = cc.CostCurve(cc.RocCurve.from_predictions(*data))
    assert cc.cost_curve_area(*data) == curve.area()
    assert cc.cost_curve_area(*data, over=(0.2, 0.4), weight=cc.Beta(2, 3)) == curve.area(
        (0.2, 0.4), weight=cc.Beta(2, 3)
    )
    assert cc.cost_curve_area(*data, policy="bayes") == pytest.approx(
        cc.CostCurve(cc.RocCurve.from_predictions(*data), "bayes").area()
    )


# Thresholds that others have chosen -----------------------------------------------------------------------------


@pytest.mark.law
def test_cross_fitted_cost_is_that_of_the_cross_fitted_curve():
    for rng in random_worlds(20, stream=1604):
        y = np.append(rng.random(int(rng.integers(30, 80))) < 0.5, np.repeat([True, False], 10))
        scores, pc = np.round(rng.normal(y, 1), 1), rng.uniform()
        for folds, repeats in ((10, 5), (3, 1)):
            curve = cc.CostCurve.from_predictions(y, scores, policy=cc.thresholds.crossfit(folds, repeats))
            assert cc.cross_fitted_cost(y, scores, pc, n_folds=folds, n_repeats=repeats) == curve.evaluate(pc)
        assert cc.cross_fitted_cost(y, scores, pc) == cc.cross_fitted_cost(y, scores, pc, n_folds=10, n_repeats=5)


@pytest.mark.law
def test_cross_fitted_cost_depends_on_no_order_scale_or_row_without_weight():
    for rng in random_worlds(15, stream=1605):
        n = int(rng.integers(8, 80))
        y = np.append(rng.random(n) < rng.uniform(0.2, 0.8), [True, True, False, False])
        scores, weights = np.round(rng.normal(y, 1), int(rng.integers(0, 4))), rng.integers(1, 4, y.size).astype(float)
        pc, mixed = rng.uniform(0.05, 0.95), rng.permutation(y.size)
        for used in (None, weights):
            cost = cc.cross_fitted_cost(y, scores, pc, sample_weight=used)
            shuffled = None if used is None else used[mixed]
            assert cc.cross_fitted_cost(y[mixed], scores[mixed], pc, sample_weight=shuffled) == cost
            assert cc.cross_fitted_cost(y, np.arctan(scores) / 3, pc, sample_weight=used) == cost
            assert 0 <= cost <= 1
        more = np.append(y, [True, False]), np.append(scores, [-9, 9])
        assert cc.cross_fitted_cost(*more, pc, sample_weight=np.append(4 * weights, [0, 0])) == cost
        assert cc.cross_fitted_cost(np.where(y, "b", "a"), scores, pc, pos_label="b", sample_weight=weights) == cost


@pytest.mark.law
def test_cross_fitted_cost_is_what_the_chosen_threshold_costs_on_new_cases():
    # Two normals: what a threshold t costs on new cases is known exactly.
    cross_fitted, flattered, truth = [], [], []
    for rng in random_worlds(300, stream=1606):
        y = np.repeat([True, False], [30, 70])
        scores, fresh = (rng.normal(y, 1.0) for _ in range(2))
        kept = np.r_[0:27, 30:93]  # as many as nine of ten folds
        cut = cc.CostCurve.from_predictions(y[kept], fresh[kept]).threshold_at(0.6)
        truth.append(0.6 * ndtr(cut - 1) + 0.4 * ndtr(-cut))
        cross_fitted.append(cc.cross_fitted_cost(y, scores, 0.6))
        flattered.append(cc.CostCurve.from_predictions(y, scores).evaluate(0.6))
    noise = np.std(np.subtract(cross_fitted, truth)) / np.sqrt(len(truth))
    assert abs(np.mean(cross_fitted) - np.mean(truth)) < 4.5 * noise
    assert np.mean(flattered) < np.mean(truth) - 4.5 * noise


def test_separated_classes_cost_nothing_and_worthless_scores_no_less_than_doing_nothing():
    y = np.repeat([True, False], 20)
    assert cc.cross_fitted_cost(y, y + 0.0, 0.3) == 0.0
    assert cc.cross_fitted_cost(y, np.ones(40), 0.3) == pytest.approx(0.3)
    assert cc.cross_fitted_cost(y, np.ones(40), 0.7) == pytest.approx(0.3)


def test_costs_of_examples_are_averaged():
    cost = mean_example_cost([1, 1, 0, 0], [0, 1, 1, 0], cost_fp=2, cost_fn=[50, 80, 10, 10])
    assert cost == 13.0
    weighted = mean_example_cost(
        [1, 1, 0, 0], [0, 1, 1, 0], cost_fp=2, cost_fn=[50, 80, 10, 10], sample_weight=[1, 0, 0, 0]
    )
    assert weighted == 50.0
    # A fold may have one class only.
    assert mean_example_cost(["ok", "ok"], ["ok", "fraud"], cost_fp=2, cost_fn=9, pos_label="ok") == 4.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: cc.normalized_expected_cost([0, 1], [0, 2], 0.5),
            r"`y_pred` must hold the two labels of `y_true`, got 2",
        ),
        (
            lambda: cc.normalized_expected_cost([0, 1], [0, 1, 1], 0.5),
            r"`y_pred` and `y_true` must have the same length",
        ),
        (lambda: cc.normalized_expected_cost([0, 1], [[0], [1]], 0.5), r"`y_pred` must be 1-D, got shape \(2, 1\)"),
        (lambda: cc.normalized_expected_cost([1, 1], [1, 1], 0.5), r"`y_true` must hold both classes"),
        (lambda: cc.normalized_expected_cost(["a", "b"], ["a", "b"], 0.5), r"`pos_label` must be given"),
        (lambda: cc.normalized_expected_cost([0, 1], ["0", "1"], 0.5), r"`y_pred` must hold the two labels .* got '0'"),
        (lambda: cc.normalized_expected_cost([0, 1, 2], [0, 1, 2], 0.5), r"`y_true` must hold two classes"),
        (lambda: cc.normalized_expected_cost([0, 1], [0, 1], "dear"), r"`condition` must be an OperatingCondition"),
        (
            lambda: cc.cross_fitted_cost([0, 0, 1], [1, 2, 3], 0.5),
            r"`y_true` must hold two examples or more of each class, .* got 1 positive and 2 negative",
        ),
        (lambda: cc.cross_fitted_cost([0, 1], [1, 2, 3], 0.5), r"`y_score` and `y_true` must have the same length"),
        (lambda: cc.cost_curve_area(*MIXED, over=(0.5, 0.2)), r"`over` must be a pair \(low, high\)"),
        (
            lambda: mean_example_cost([0, 1], [0, 1], cost_fp=1),
            r"`cost_fn` must be given.*set_score_request\(cost_fn=True",
        ),
        (lambda: mean_example_cost([0, 1], [0, 1], cost_fn=[1, 2]), r"`cost_fp` must be given"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(cc.CostCurvesError, match=message):
        call()
