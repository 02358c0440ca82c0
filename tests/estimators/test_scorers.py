"""Scorers in cross-validation and searches: minus the cost, with the core's numbers and with costs of examples."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_wine
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import costcurves as cc
from members import breast_cancer

X, Y = breast_cancer()
NAMES = np.where(Y == 1, "bad", "good")
HERE = cc.OperatingCondition.from_cost_matrix([[1, 3], [40, 2]], prevalence=0.1)
FOLDS = StratifiedKFold(4)
BAYES = GaussianNB().fit(X, Y)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_cost_at_a_condition_is_that_of_its_prevalence():
    fpr, fnr = np.mean(BAYES.predict(X)[Y == 0]), np.mean(BAYES.predict(X)[Y == 1] == 0)
    expected = 0.9 * (1 + fpr * 2) + 0.1 * (2 + fnr * 38)
    assert cc.expected_cost_scorer(HERE)(BAYES, X, Y) == pytest.approx(-expected)
    normalized = cc.expected_cost_scorer(HERE, normalized=True)(BAYES, X, Y)
    assert normalized == pytest.approx(-(HERE.pc * fnr + (1 - HERE.pc) * fpr))
    named = GaussianNB().fit(X, NAMES)
    assert cc.expected_cost_scorer(HERE, pos_label="bad")(named, X, NAMES) == pytest.approx(-expected)


def test_cost_of_a_matrix_is_that_of_the_data():
    wine, kinds = load_wine(return_X_y=True)
    names = np.array(["red", "white", "rose"])[kinds]
    costs = cc.CostMatrix([[0, 1, 2], [5, 0, 9], [3, 3, 0]], labels=["rose", "red", "white"])
    clf = GaussianNB().fit(wine, names)
    scorer = cc.expected_cost_scorer(cost_matrix=costs)
    assert scorer(clf, wine, names) == -cc.expected_cost(names, clf.predict(wine), costs)
    assert cross_val_score(GaussianNB(), wine, names, scoring=scorer).max() <= 0
    with pytest.raises(cc.DataError, match=r"`y_true` must hold only the labels of the cost matrix"):
        cc.expected_cost_scorer(cost_matrix=[[0, 1], [1, 0]])(clf, wine, names)


def test_area_scores_probabilities_and_decision_functions():
    scorer = cc.cost_curve_area_scorer(weight=cc.Beta(2, 2))
    expected = cc.cost_curve_area(Y, BAYES.predict_proba(X)[:, 1], weight=cc.Beta(2, 2))
    assert scorer(BAYES, X, Y) == -expected
    ridge = RidgeClassifier().fit(X, NAMES)
    area = cc.cost_curve_area(NAMES, -ridge.decision_function(X), pos_label="bad")
    assert cc.cost_curve_area_scorer(pos_label="bad")(ridge, X, NAMES) == -area


def test_bayes_area_needs_probabilities():
    scorer = cc.cost_curve_area_scorer(policy="bayes")
    curve = cc.CostCurve.from_predictions(Y, BAYES.predict_proba(X)[:, 1], policy="bayes")
    assert scorer(BAYES, X, Y) == -curve.area()
    with pytest.raises(AttributeError, match="predict_proba"):
        scorer(LinearSVC(dual=False).fit(X, Y), X, Y)


def test_searches_prefer_what_costs_less():
    scoring = {"cost": cc.expected_cost_scorer(HERE), "area": cc.cost_curve_area_scorer()}
    grid = {"max_depth": [1, 4], "random_state": [0]}
    search = GridSearchCV(DecisionTreeClassifier(), grid, scoring=scoring, refit="cost", cv=FOLDS).fit(X, Y)
    means = search.cv_results_["mean_test_cost"]
    assert search.best_index_ == np.argmax(means)
    assert (means < 0).all()
    assert search.cv_results_["mean_test_area"].max() < 0


def test_scorers_can_be_pickled():
    scorer = pickle.loads(pickle.dumps(cc.expected_cost_scorer(HERE)))
    assert scorer(BAYES, X, Y) == cc.expected_cost_scorer(HERE)(BAYES, X, Y)


# Costs of each example ------------------------------------------------------------------------------------------

AMOUNTS = np.random.default_rng(0).uniform(1, 100, len(Y))


def by_hand(folds):
    """Return minus the mean cost of each fold, with a false alarm at 5 and a miss at the example's amount."""
    scores = []
    for train, test in folds.split(X, Y):
        guesses = GaussianNB().fit(X[train], Y[train]).predict(X[test])
        costs = np.where(guesses == Y[test], 0, np.where(Y[test] == 1, AMOUNTS[test], 5))
        scores.append(-costs.mean())
    return scores


def test_costs_of_examples_travel_through_cross_validation(routing):
    scorer = cc.expected_cost_scorer(cost_fp=5).set_score_request(cost_fn=True)
    results = cross_validate(GaussianNB(), X, Y, cv=FOLDS, scoring=scorer, params={"cost_fn": AMOUNTS})
    assert results["test_score"] == pytest.approx(by_hand(FOLDS))


def test_costs_of_examples_travel_through_searches_under_another_name(routing):
    scorer = cc.expected_cost_scorer(cost_fp=5).set_score_request(cost_fn="amount")
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}, scoring=scorer, cv=FOLDS)
    search.fit(X, Y, amount=AMOUNTS)
    assert search.best_score_ == pytest.approx(np.mean(by_hand(FOLDS)))


def test_weights_travel_to_scorers(routing):
    scorer = cc.expected_cost_scorer(0.5).set_score_request(sample_weight=True)
    weights = np.where(np.arange(len(Y)) % 2, 1.0, 3.0)
    results = cross_validate(
        GaussianNB().set_fit_request(sample_weight=False),
        X,
        Y,
        cv=[(np.arange(300), np.arange(300, 569))],
        scoring=scorer,
        params={"sample_weight": weights},
    )
    guesses = GaussianNB().fit(X[:300], Y[:300]).predict(X[300:])
    expected = cc.normalized_expected_cost(Y[300:], guesses, 0.5, sample_weight=weights[300:])
    assert results["test_score"].tolist() == [-expected]


def test_costs_of_examples_that_did_not_arrive_are_missed(routing):
    with pytest.raises(cc.InputError, match=r"`cost_fn` must be given, .* set_score_request\(cost_fn=True\)"):
        cross_validate(GaussianNB(), X, Y, scoring=cc.expected_cost_scorer(cost_fp=1), error_score="raise")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"condition": 0.5, "cost_matrix": [[0, 1], [1, 0]]}, r"`condition`, `cost_matrix` and costs .* together"),
        ({"condition": 0.5, "cost_fn": 3}, r"`condition`, `cost_matrix` and costs of examples must not come together"),
        ({"condition": "dear"}, r"`condition` must be an OperatingCondition"),
        ({"cost_matrix": [[0, 1], [1, 0]], "pos_label": 1}, r"`pos_label` must not come with `cost_matrix`, got 1"),
        ({"cost_matrix": [[0, 1]]}, r"`costs` must be square"),
        ({"normalized": True}, r"`normalized` must come with `condition`, got None"),
    ],
)
def test_contradictory_scorers_are_refused(options, message):
    with pytest.raises(cc.InputError, match=message):
        cc.expected_cost_scorer(**options)


@pytest.mark.parametrize("pc", [(1, 0), 0.5, (0, 2), "ab"])
def test_a_part_of_the_axis_that_is_none_is_refused_at_once(pc):
    with pytest.raises(cc.InputError, match="`pc` must be"):
        cc.cost_curve_area_scorer(pc=pc)
