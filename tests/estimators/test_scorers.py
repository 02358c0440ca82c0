"""Scorers in cross-validation and searches: minus the cost, with the core's numbers and with costs of examples."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import costcurves as cc
from members import breast_cancer

SHARED = Path(__file__).parents[3] / "shared" / "data"
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
    assert cc.expected_cost_scorer(HERE, policy="predict")(BAYES, X, Y) == pytest.approx(-expected)
    normalized = cc.expected_cost_scorer(HERE, policy="predict", normalized=True)(BAYES, X, Y)
    assert normalized == pytest.approx(-(HERE.pc * fnr + (1 - HERE.pc) * fpr))
    named = GaussianNB().fit(X, NAMES)
    scorer = cc.expected_cost_scorer(HERE, policy="predict", pos_label="bad")
    assert scorer(named, X, NAMES) == pytest.approx(-expected)


@pytest.mark.parametrize("model", [BAYES, RidgeClassifier().fit(X, Y)], ids=["probabilities", "decision function"])
def test_a_condition_judges_scores_at_thresholds_that_suit_it(model):
    scores = model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else model.decision_function(X)
    for policy in (None, "crossfit"):
        cost = cc.cross_fitted_cost(Y, scores, HERE)
        assert cc.expected_cost_scorer(HERE, policy=policy, normalized=True)(model, X, Y) == -cost
        assert cc.expected_cost_scorer(HERE, policy=policy)(model, X, Y) == -HERE.money(cost)
        # Of the other class the same model is judged at the condition with the classes exchanged.
        named = type(model)().fit(X, NAMES)
        assert cc.expected_cost_scorer(HERE, pos_label="bad")(named, X, NAMES) == pytest.approx(-HERE.money(cost))
    for policy in ("optimal", 0.3, cc.thresholds.fixed(0.1)):
        curve = cc.CostCurve.from_predictions(Y, scores, policy=policy)
        assert cc.expected_cost_scorer(HERE, policy=policy)(model, X, Y) == -curve.expected_cost(HERE)


def test_bayes_takes_probabilities_for_what_they_are():
    curve = cc.CostCurve.from_predictions(Y, BAYES.predict_proba(X)[:, 1], policy="bayes")
    scorer = cc.expected_cost_scorer(HERE, policy="bayes")
    assert scorer(BAYES, X, Y) == -curve.expected_cost(HERE)
    with pytest.raises(cc.InputError, match=r"`policy` must be 'crossfit' or 'predict' for .*, got bayes\(\)"):
        scorer(RidgeClassifier().fit(X, Y), X, Y)


@pytest.mark.parametrize("labels", [Y, 2 * Y - 1, Y == 1, NAMES], ids=["0/1", "-1/1", "boolean", "names"])
def test_estimators_without_scores_are_judged_by_what_they_predict(labels):
    given = {"pos_label": "bad"} if labels is NAMES else {}
    hull = cc.RocHullClassifier({"bayes": GaussianNB()}, HERE, **given).fit(X, labels)
    cost = HERE.money(cc.normalized_expected_cost(labels, hull.predict(X), HERE, **given))
    for policy in (None, "crossfit", "predict"):
        assert cc.expected_cost_scorer(HERE, policy=policy, **given)(hull, X, labels) == -cost
    with pytest.raises(cc.InputError, match=r"`policy` must be 'crossfit' or 'predict' .* got fixed\(0.3\)"):
        cc.expected_cost_scorer(HERE, policy=0.3, **given)(hull, X, labels)


def skewed(rng, n):
    """Return a logistic world whose features have very different scales, so that a penalty spoils the ranking."""
    Z = rng.normal(size=(n, 8))
    return Z * np.geomspace(1, 0.03, 8), (rng.random(n) < 1 / (1 + np.exp(2.5 - 1.6 * Z.sum(axis=1)))).astype(int)


def test_a_search_orders_models_by_what_they_cost_at_the_right_threshold():
    # A false alarm costs 20 misses. At 0.5 the model that calls almost nothing positive looks best, and is the worst.
    rng = np.random.default_rng(0)
    (A, a), (B, b) = skewed(rng, 2500), skewed(rng, 40_000)
    here = cc.OperatingCondition(prevalence=0.3, cost_fp=20, cost_fn=1)
    strengths = [0.001, 0.1, 10.0]
    models = [LogisticRegression(C=strength).fit(A, a) for strength in strengths]
    truth = [cc.CostCurve.from_predictions(b, one.decision_function(B)).evaluate(here) for one in models]
    scoring = {policy: cc.expected_cost_scorer(here, policy=policy) for policy in ("crossfit", "predict")}
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    grid = {"C": strengths}
    search = GridSearchCV(LogisticRegression(), grid, scoring=scoring, refit="crossfit", cv=folds).fit(A, a)
    found = {policy: np.argsort(-search.cv_results_[f"mean_test_{policy}"]).tolist() for policy in scoring}
    assert np.argsort(truth).tolist() == found["crossfit"] == [2, 1, 0]
    assert found["predict"][0] == 0
    assert search.best_params_ == {"C": 10.0}


@pytest.mark.study
@pytest.mark.skipif(not SHARED.is_dir(), reason="adult is not in ../shared/data")
def test_adults_are_searched_by_cost():
    # The table of docs/howto/cross-validation.md, without the reweighted models: regret in percent.
    table = pd.read_csv(SHARED / "adult.csv.gz")
    y = (table.pop("target") == ">50K").to_numpy().astype(int)
    nominal = table.select_dtypes(exclude="number").columns
    table[nominal] = table[nominal].fillna("?")
    encode = make_column_transformer(
        (StandardScaler(), table.select_dtypes("number").columns),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), nominal),
    )
    families = (
        [LogisticRegression(C=c, max_iter=2000) for c in (1e-4, 1e-3, 1e-2, 0.1, 1, 10)],
        [DecisionTreeClassifier(min_samples_leaf=k, random_state=0) for k in (1, 3, 10, 30, 100, 300)],
    )
    regret = {policy: [] for policy in ("predict", "bayes", "crossfit", "optimal")}
    for seed in range(12):
        rows = np.random.default_rng(seed).permutation(len(y))
        few, many = rows[:2500], rows[2500:]
        A, B = encode.fit_transform(table.iloc[few]), encode.transform(table.iloc[many])
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        conditions = [
            cc.OperatingCondition(y[many].mean(), cost_fp=fp, cost_fn=fn)
            for fp, fn in ((1, 20), (1, 5), (1, 1), (20, 1))
        ]
        scoring = {(i, p): cc.expected_cost_scorer(c, policy=p) for i, c in enumerate(conditions) for p in regret}
        for models in families:
            curves = [cc.CostCurve.from_predictions(y[many], m.fit(A, y[few]).predict_proba(B)[:, 1]) for m in models]
            named = {str(key): scorer for key, scorer in scoring.items()}
            found = [cross_validate(m, A, y[few], cv=folds, scoring=named) for m in models]
            for i, policy in scoring:
                truth = np.array([curve.evaluate(conditions[i]) for curve in curves])
                chosen = np.argmax([one[f"test_{(i, policy)}"].mean() for one in found])
                regret[policy].append(100 * (truth[chosen] / truth.min() - 1))
    means = {policy: np.mean(values) for policy, values in regret.items()}
    assert means["optimal"] < means["crossfit"] < means["predict"] / 2


def test_cost_of_a_matrix_is_that_of_the_data():
    wine, kinds = load_wine(return_X_y=True)
    names = np.array(["red", "white", "rose"])[kinds]
    costs = cc.CostMatrix([[0, 1, 2], [5, 0, 9], [3, 3, 0]], labels=["rose", "red", "white"])
    clf = GaussianNB().fit(wine, names)
    scorer = cc.expected_cost_scorer(costs=costs)
    assert scorer(clf, wine, names) == -cc.expected_cost(names, clf.predict(wine), costs)
    assert cross_val_score(GaussianNB(), wine, names, scoring=scorer).max() <= 0
    with pytest.raises(cc.DataError, match=r"`y_true` must hold only the labels of the cost matrix"):
        cc.expected_cost_scorer(costs=[[0, 1], [1, 0]])(clf, wine, names)


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
    scores = GaussianNB().fit(X[:300], Y[:300]).predict_proba(X[300:])[:, 1]
    expected = cc.cross_fitted_cost(Y[300:], scores, 0.5, sample_weight=weights[300:])
    assert results["test_score"].tolist() == [-expected]


def test_costs_of_examples_that_did_not_arrive_are_missed(routing):
    with pytest.raises(cc.InputError, match=r"`cost_fn` must be given, .* set_score_request\(cost_fn=True\)"):
        cross_validate(GaussianNB(), X, Y, scoring=cc.expected_cost_scorer(cost_fp=1), error_score="raise")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"condition": 0.5, "costs": [[0, 1], [1, 0]]}, r"`condition`, `costs` and costs .* together"),
        (
            {"condition": 0.5, "cost_fn": 3},
            r"`condition`, `costs` and costs of examples must not be given together",
        ),
        ({"condition": "dear"}, r"`condition` must be an OperatingCondition"),
        ({"costs": [[0, 1], [1, 0]], "pos_label": 1}, r"`pos_label` must not come with `costs`, got 1"),
        ({"costs": [[0, 1]]}, r"`costs` must be square"),
        ({"normalized": True}, r"`normalized` must come with `condition`, got None"),
        ({"condition": 0.5, "policy": "best"}, r"`policy` must be 'optimal', 'crossfit', 'bayes'"),
        ({"cost_fp": 1, "policy": "bayes"}, r"`policy` must be 'predict' without a `condition`, got 'bayes'"),
        ({"costs": [[0, 1], [1, 0]], "policy": 0.5}, r"`policy` must be 'predict' without a `condition`"),
    ],
)
def test_contradictory_scorers_are_refused(options, message):
    with pytest.raises(cc.InputError, match=message):
        cc.expected_cost_scorer(**options)


@pytest.mark.parametrize("over", [(1, 0), 0.5, (0, 2), "ab"])
def test_a_part_of_the_axis_that_is_none_is_refused_at_once(over):
    with pytest.raises(cc.InputError, match="`over` must be"):
        cc.cost_curve_area_scorer(over=over)
