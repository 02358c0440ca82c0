"""One classifier at its cheapest threshold: exact, never dearer than a grid, in any of scikit-learn's ways to split."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn
from hypothesis import given
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import costcurves as cc
from members import Column, Counting, NoScores, Remembering, breast_cancer
from worlds import predictions

X, Y = breast_cancer()
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
LOGIT = make_pipeline(StandardScaler(), LogisticRegression())


def cost_at(threshold, labels, scores, pc):
    """Return the normalized cost of one threshold, counted one by one."""
    predicted = scores >= threshold
    return pc * np.mean(~predicted[labels == 1]) + (1 - pc) * np.mean(predicted[labels == 0])


@given(predictions())
def test_no_threshold_costs_less_on_the_data(data):
    labels, scores = np.array(data[0]), np.array(data[1])
    table = scores[:, None]
    member = Column().fit(table, labels)
    for pc in (0.0, 0.2, 0.5, 0.7, 1.0):
        clf = cc.CostThresholdClassifier(member, pc, cv="prefit").fit(table, labels)
        best = min(cost_at(t, labels, scores, pc) for t in [*scores, np.inf])
        assert cost_at(clf.threshold_, labels, scores, pc) == pytest.approx(best, abs=1e-12)
        assert (clf.predict(table) == (scores >= clf.threshold_)).all()


@pytest.mark.parametrize("member", [GaussianNB(), LOGIT], ids=["bayes", "logit"])
@pytest.mark.parametrize("pc", [0.02, 0.3, 0.9])
def test_a_grid_of_thresholds_never_costs_less_on_the_same_out_of_fold_scores(member, pc):
    ours = cc.CostThresholdClassifier(member, pc, cv=FOLDS).fit(X, Y)
    scorer = make_scorer(cc.normalized_expected_cost, greater_is_better=False, condition=pc)
    grid = TunedThresholdClassifierCV(member, scoring=scorer, cv=FOLDS).fit(X, Y)
    scores = cross_val_predict(member, X, Y, cv=FOLDS, method="predict_proba")[:, 1]
    cost = cost_at(ours.threshold_, Y, scores, pc)
    assert cost <= cost_at(grid.best_threshold_, Y, scores, pc) + 1e-12
    assert cost == pytest.approx(cc.CostCurve(ours.roc_curve_).evaluate(pc))


def test_overconfident_scores_show_the_gap_of_a_grid():
    pc = 0.95
    ours = cc.CostThresholdClassifier(GaussianNB(), pc, cv=FOLDS).fit(X, Y)
    scorer = make_scorer(cc.normalized_expected_cost, greater_is_better=False, condition=pc)
    grid = TunedThresholdClassifierCV(GaussianNB(), scoring=scorer, cv=FOLDS).fit(X, Y)
    scores = cross_val_predict(GaussianNB(), X, Y, cv=FOLDS, method="predict_proba")[:, 1]
    assert cost_at(ours.threshold_, Y, scores, pc) < 0.9 * cost_at(grid.best_threshold_, Y, scores, pc)


def test_condition_changes_without_a_fit():
    Counting.fits.clear()
    clf = cc.CostThresholdClassifier(Counting(), 0.1, cv=3).fit(X, Y)
    cuts = [clf.set_params(condition=pc).threshold_ for pc in (0.0, 0.1, 0.5, 0.9, 1.0)]
    assert np.all(np.diff(cuts) <= 0)
    assert len(set(cuts)) > 3
    assert (clf.predict(X, condition=0.1) == (clf.estimator_.predict_proba(X)[:, 1] >= cuts[1])).all()
    assert len(Counting.fits) == 4


def test_limits_hold_on_the_out_of_fold_scores():
    clf = cc.CostThresholdClassifier(LOGIT, {"fpr": 0.05}, cv=FOLDS).fit(X, Y)
    scores = cross_val_predict(LOGIT, X, Y, cv=FOLDS, method="predict_proba")[:, 1]
    allowed = [t for t in scores if np.mean(scores[Y == 0] >= t) <= 0.05]
    assert np.mean(scores[Y == 1] >= clf.threshold_) == max(np.mean(scores[Y == 1] >= t) for t in allowed)
    assert np.mean(scores[Y == 0] >= clf.threshold_) <= 0.05
    found = clf.set_params(condition={"tpr": 0.95}).threshold_
    assert np.mean(scores[Y == 1] >= found) >= 0.95


def test_a_share_tests_on_one_split():
    train, test = train_test_split(np.arange(len(Y)), test_size=0.2, stratify=Y, random_state=1)
    clf = cc.CostThresholdClassifier(GaussianNB(), 0.3, cv=[(train, test)], refit=False).fit(X, Y)
    expected = GaussianNB().fit(X[train], Y[train]).predict_proba(X[test])[:, 1]
    assert clf.roc_curve_.auc() == cc.RocCurve.from_predictions(Y[test], expected).auc()
    share = cc.CostThresholdClassifier(GaussianNB(), 0.3, cv=0.2, random_state=1).fit(X, Y)
    assert share.roc_curve_.n_pos + share.roc_curve_.n_neg == 114
    assert share.estimator_.class_count_.sum() == 569


def test_prefit_estimators_are_used_as_they_are():
    member = GaussianNB().fit(X[::2], Y[::2])
    clf = cc.CostThresholdClassifier(member, 0.3, cv="prefit").fit(X[1::2], Y[1::2])
    assert clf.estimator_ is member
    with pytest.raises(NotFittedError, match=r"`estimator` must be fitted if cv='prefit'"):
        cc.CostThresholdClassifier(GaussianNB(), 0.3, cv="prefit").fit(X, Y)


def test_decision_functions_and_names_of_classes_work():
    names = np.where(Y == 1, "bad", "good")
    clf = cc.CostThresholdClassifier(RidgeClassifier(), 0.6, pos_label="bad").fit(X, names)
    plain = cc.CostThresholdClassifier(RidgeClassifier(), 0.6).fit(X, Y)
    assert ((clf.predict(X) == "bad") == (plain.predict(X) == 1)).all()
    assert clf.threshold_ == pytest.approx(plain.threshold_)


def test_clones_pickles_and_searches_work():
    clf = cc.CostThresholdClassifier(LOGIT, 0.3, cv=3).fit(X, Y)
    again = pickle.loads(pickle.dumps(clf))
    assert again.threshold_ == clf.threshold_
    assert not hasattr(clone(clf), "threshold_")
    grid = {"estimator__logisticregression__C": [1e-6, 1.0]}
    search = GridSearchCV(clone(clf), grid, cv=3, scoring=cc.expected_cost_scorer(0.3)).fit(X, Y)
    assert search.best_params_ == {"estimator__logisticregression__C": 1.0}


def test_routing_sends_weights_to_the_estimator():
    with sklearn.config_context(enable_metadata_routing=True):
        clf = cc.CostThresholdClassifier(Remembering().set_fit_request(sample_weight=True), 0.3, cv=3)
        Remembering.seen.clear()
        clf.fit(X, Y, sample_weight=np.full(len(Y), 2.0))
    assert all((weights == 2).all() for _, weights, _ in Remembering.seen)
    assert clf.roc_curve_.n_pos == 2 * Y.sum()


def test_unusable_estimators_are_refused():
    with pytest.raises(cc.InputError, match=r"`estimator` must be .* got a NoScores without predict_proba and dec"):
        cc.CostThresholdClassifier(NoScores(), 0.5).fit(X, Y)
    with pytest.raises(cc.InputError, match=r"`condition` must be an OperatingCondition"):
        cc.CostThresholdClassifier(GaussianNB(), "high").fit(X, Y)
    with pytest.raises(cc.DataError, match="Only binary classification is supported"):
        cc.CostThresholdClassifier(GaussianNB(), 0.5).fit(X, np.arange(len(Y)) % 3)
    for attribute in ("threshold_", "roc_curve_"):
        with pytest.raises(NotFittedError):
            getattr(cc.CostThresholdClassifier(GaussianNB(), 0.5), attribute)


def test_scores_are_those_of_the_classifier_inside():
    clf = cc.CostThresholdClassifier(GaussianNB(), 0.9, cv=3).fit(X[::2], Y[::2])
    np.testing.assert_array_equal(clf.predict_proba(X), clf.estimator_.predict_proba(X))
    np.testing.assert_array_equal(clf.predict_log_proba(X), clf.estimator_.predict_log_proba(X))
    assert not hasattr(clf, "decision_function")
    ridge = cc.CostThresholdClassifier(RidgeClassifier(), 0.9, cv=3).fit(X[::2], Y[::2])
    np.testing.assert_array_equal(ridge.decision_function(X), ridge.estimator_.decision_function(X))
    assert not hasattr(ridge, "predict_proba")
    ours = cross_val_score(cc.CostThresholdClassifier(GaussianNB(), 0.9, cv=3), X, Y, cv=FOLDS, scoring="roc_auc")
    np.testing.assert_array_equal(ours, cross_val_score(GaussianNB(), X, Y, cv=FOLDS, scoring="roc_auc"))
    with pytest.raises(NotFittedError):
        cc.CostThresholdClassifier(GaussianNB(), 0.9).predict_proba(X)
