"""The class of least expected cost: against a loop, with labels in any order, calibrated or not."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import costcurves as cc
from members import NoScores, Remembering

X, CODES = load_wine(return_X_y=True)
NAMES = np.array(["red", "amber", "white"])
Y = NAMES[CODES]  # sorted: amber, red, white
COSTS = cc.CostMatrix([[0, 1, 3], [20, 0, 20], [2, 1, 0]], labels=["red", "amber", "white"])


def one_for_each_error(classes):
    return 1 - np.eye(len(classes))


def test_predictions_minimise_the_expected_cost():
    clf = cc.MinimumExpectedCostClassifier(GaussianNB(), COSTS).fit(X, Y)
    probabilities = GaussianNB().fit(X, Y).predict_proba(X)
    order = ["amber", "red", "white"]
    for row, predicted in zip(probabilities, clf.predict(X), strict=True):
        expected = {p: sum(row[order.index(t)] * COSTS.cost(t, p) for t in order) for p in order}
        assert expected[predicted] == pytest.approx(min(expected.values()))
    assert clf.classes_.tolist() == order
    np.testing.assert_array_equal(clf.predict_proba(X), probabilities)


def test_equal_costs_predict_the_most_probable_class():
    clf = cc.MinimumExpectedCostClassifier(GaussianNB(), one_for_each_error).fit(X, Y)
    assert (clf.predict(X) == GaussianNB().fit(X, Y).predict(X)).all()


def test_order_of_the_labels_does_not_matter():
    frame = pd.DataFrame(COSTS.values, index=COSTS.labels, columns=COSTS.labels).loc[["white", "red", "amber"]]
    sorted_table = cc.CostMatrix(COSTS, labels=["amber", "red", "white"]).values
    expected = cc.MinimumExpectedCostClassifier(GaussianNB(), COSTS).fit(X, Y).predict(X)
    for costs in (frame, sorted_table, sorted_table.tolist(), lambda classes: COSTS):
        clf = cc.MinimumExpectedCostClassifier(GaussianNB(), costs).fit(X, Y)
        assert (clf.predict(X) == expected).all()
        assert clf.costs_.labels == ("amber", "red", "white")


def test_costs_that_matter_are_saved_out_of_fold():
    ours = cross_val_predict(cc.MinimumExpectedCostClassifier(GaussianNB(), COSTS), X, Y, cv=10)
    plain = cross_val_predict(GaussianNB(), X, Y, cv=10)
    assert cc.expected_cost(Y, ours, COSTS) <= cc.expected_cost(Y, plain, COSTS)


@pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
def test_calibration_is_scikit_learns(method):
    clf = cc.MinimumExpectedCostClassifier(GaussianNB(), COSTS, calibration=method, cv=3).fit(X, Y)
    expected = CalibratedClassifierCV(GaussianNB(), method=method, cv=3).fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(clf.predict_proba(X), expected)
    assert clf.predict(X).tolist() == cc.minimum_cost_predictions(expected, COSTS, classes=clf.classes_).tolist()


def test_calibration_makes_probabilities_of_decision_functions():
    with pytest.raises(cc.InputError, match=r"`estimator` must be .* got a LinearSVC without predict_proba"):
        cc.MinimumExpectedCostClassifier(LinearSVC(), COSTS).fit(X, Y)
    clf = cc.MinimumExpectedCostClassifier(RidgeClassifier(), COSTS, calibration="sigmoid").fit(X, Y)
    assert cc.expected_cost(Y, clf.predict(X), COSTS) < 1


def test_clones_pickles_and_searches_work():
    clf = cc.MinimumExpectedCostClassifier(GaussianNB(), COSTS).fit(X, Y)
    assert (pickle.loads(pickle.dumps(clf)).predict(X) == clf.predict(X)).all()
    grid = {"calibration": [None, "sigmoid"], "estimator__var_smoothing": [1e-9, 1.0]}
    scorer = cc.expected_cost_scorer(costs=COSTS)
    search = GridSearchCV(clone(clf), grid, scoring=scorer, cv=3).fit(X, Y)
    assert search.best_params_["estimator__var_smoothing"] == 1e-9
    assert search.best_score_ <= 0


@pytest.mark.parametrize("calibration", [None, "sigmoid"])
@pytest.mark.parametrize("routing", [False, True])
def test_weights_reach_the_classifier(calibration, routing):
    with sklearn.config_context(enable_metadata_routing=routing):
        member = Remembering().set_fit_request(sample_weight=True) if routing else Remembering()
        clf = cc.MinimumExpectedCostClassifier(member, COSTS, calibration=calibration, cv=2)
        Remembering.seen.clear()
        clf.fit(X, Y, sample_weight=np.full(len(Y), 2.0))
    assert Remembering.seen
    assert all((weights == 2).all() for _, weights, _ in Remembering.seen)


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (
            cc.CostMatrix(COSTS.values),
            r"`costs` must have the classes of `y` as labels \('amber', 'red', 'white'",
        ),
        (cc.CostMatrix([[0, 1], [1, 0]], labels=["red", "white"]), r"`costs` .* got 'red', 'white'"),
        ([[0, 1], [1, 0]], r"`costs` must have a row and a column for each .* got shape \(2, 2\)"),
        ([[0, 1, -1], [1, 0, 1], [1, 1, 0]], r"`costs` must be >= 0"),
    ],
)
def test_costs_of_other_classes_are_refused(costs, message):
    with pytest.raises(cc.CostCurvesError, match=message):
        cc.MinimumExpectedCostClassifier(GaussianNB(), costs).fit(X, Y)


def test_other_bad_input_is_refused():
    with pytest.raises(cc.InputError, match=r"`calibration` must be one of 'isotonic', 'sigmoid', got 'platt'"):
        cc.MinimumExpectedCostClassifier(GaussianNB(), COSTS, calibration="platt").fit(X, Y)
    with pytest.raises(cc.InputError, match=r"`estimator` must be .* got a NoScores without predict_proba"):
        cc.MinimumExpectedCostClassifier(NoScores(), COSTS).fit(X, Y)
    with pytest.raises(cc.DataError, match=r"`y` must hold two classes or more, got 1 class"):
        cc.MinimumExpectedCostClassifier(GaussianNB(), one_for_each_error).fit(X, np.full(len(Y), "red"))
    with pytest.raises(NotFittedError):
        cc.MinimumExpectedCostClassifier(GaussianNB(), COSTS).predict(X)
