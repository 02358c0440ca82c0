"""Costs of learning algorithms: classifiers of several training sets on one test set."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import costcurves as cc

COSTS = cc.CostMatrix([[0, 1, 4], [2, 0, 1], [8, 3, 0]], labels=["x", "y", "z"])


def predictions(rng, n=60, sets=4):
    """Return true labels and the predictions of several training sets."""
    truth = rng.choice(["x", "y", "z"], n)
    wrong = [rng.random(n) < rate for rate in rng.uniform(0.1, 0.4, sets)]
    return truth, [np.where(w, rng.choice(["x", "y", "z"], n), truth) for w in wrong]


def table(truth, predicted):
    """Return what each example costs, by looking each up."""
    return np.array([[COSTS.cost(t, p) for t, p in zip(truth, one, strict=True)] for one in predicted])


def test_limits_add_the_squares_of_both_sources():
    rng = np.random.default_rng(0)
    truth, predicted = predictions(rng)
    found = cc.bcost.over_training(truth, predicted, COSTS, method="gaussian", level=0.9)
    each = table(truth, predicted)
    assert found.estimate == pytest.approx(each.mean())
    np.testing.assert_allclose(found.costs, each.mean(axis=1))
    training = stats.t.ppf(0.95, 3) * stats.sem(each.mean(axis=1))
    test = stats.norm.ppf(0.95) * each.mean(axis=0).std(ddof=1) / np.sqrt(60)
    assert found.upper - found.estimate == pytest.approx(np.hypot(training, test))
    assert found.training_error == pytest.approx(stats.sem(each.mean(axis=1)))
    assert found.test_error == pytest.approx(each.mean(axis=0).std() / np.sqrt(60))
    _, others = predictions(rng)
    difference = cc.bdeltacost.over_training(truth, predicted, others, COSTS, method="gaussian", level=0.9)
    apart = each - table(truth, others)
    training = stats.t.ppf(0.95, 3) * stats.sem(apart.mean(axis=1))
    test = stats.norm.ppf(0.95) * apart.mean(axis=0).std(ddof=1) / np.sqrt(60)
    assert difference.estimate - difference.lower == pytest.approx(np.hypot(training, test))
    assert difference.names == ("a", "b")


@pytest.mark.parametrize("method", ["tilted", "mid-p", "gaussian", "exact"])
def test_without_variation_of_training_the_interval_is_that_of_one_classifier(method):
    truth, (one, other, *_) = predictions(np.random.default_rng(1))
    same, single = (
        cc.bcost.over_training(truth, [one, one, one], COSTS, method=method),
        cc.bcost(truth, one, COSTS, method=method),
    )
    assert (same.estimate, same.lower, same.upper) == pytest.approx(
        (single.estimate, single.lower, single.upper), rel=1e-6
    )
    same = cc.bdeltacost.over_training(truth, [one] * 3, [other] * 3, COSTS, method=method)
    single = cc.bdeltacost(truth, one, other, COSTS, method=method)
    assert (same.estimate, same.lower, same.upper) == pytest.approx(
        (single.estimate, single.lower, single.upper), rel=1e-6
    )


def test_limits_hold_the_cost_of_the_algorithm_where_those_of_one_classifier_do_not():
    rng = np.random.default_rng(2)
    runs, sets, n, held, single = 300, 4, 150, 0, 0
    for _ in range(runs):
        y = rng.integers(0, 2, n)
        rates = rng.choice([0.1, 0.5], sets)  # by training set
        wrong = [rng.random(n) < rate for rate in rates]
        predicted = [np.where(w, 1 - y, y) for w in wrong]
        found = cc.bcost.over_training(y, predicted, [[0, 1], [1, 0]], method="mid-p", level=0.9)
        held += found.lower <= 0.3 <= found.upper
        one = cc.bcost(y, predicted[0], [[0, 1], [1, 0]], method="mid-p", level=0.9)
        single += one.lower <= 0.3 <= one.upper
    assert held / runs > 0.85
    assert single / runs < 0.2


def test_predictions_of_fewer_than_two_training_sets_are_refused():
    truth, predicted = predictions(np.random.default_rng(3))
    for bad in (predicted[:1], "xyz"[:1], 3):
        with pytest.raises(cc.InputError, match="`predictions` must have the predictions of 2 training sets or more"):
            cc.bcost.over_training(truth, bad, COSTS)
    with pytest.raises(cc.InputError, match="`preds_b` must have as many training sets"):
        cc.bdeltacost.over_training(truth, predicted, predicted[:3], COSTS)
    with pytest.raises(cc.CostCurvesError, match="predictions"):
        cc.bcost.over_training(truth, [predicted[0], ["x"]], COSTS)
