"""Training at the proportions of a condition: what it does to a generative model, and brute force over folds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import Perceptron
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import costcurves as cc

X, Y = make_classification(400, n_features=5, weights=[0.7], flip_y=0.1, random_state=0)
HERE = cc.OperatingCondition(prevalence=0.1, cost_fp=1, cost_fn=20)


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps what it was trained on."""

    def fit(self, X, y, sample_weight=None):
        self.classes_, self.X, self.y, self.weight = np.unique(y), X, y, sample_weight
        return self


@pytest.mark.parametrize("pc", [0.05, 0.5, 0.9])
def test_of_a_generative_model_only_the_prior_changes(pc):
    plain = GaussianNB().fit(X, Y)
    odds = np.diff(plain.predict_log_proba(X), axis=1)[:, 0]
    share = Y.mean()
    moved = odds + np.log(pc / (1 - pc)) - np.log(share / (1 - share)) > 0
    clf = cc.ReproportionedClassifier(GaussianNB(), pc).fit(X, Y)
    assert ((clf.predict(X) == 1) == moved).all()
    np.testing.assert_allclose(
        clf.predict_proba(X)[:, 1], 1 / (1 + (1 - pc) / pc * share / (1 - share) * np.exp(-odds))
    )


def test_classes_have_the_weight_of_the_condition_and_the_total_stays():
    weight = cc.ReproportionedClassifier(Recorder(), HERE).fit(X, Y).estimator_.weight
    assert weight[Y == 1].sum() / weight.sum() == pytest.approx(HERE.pc)
    assert weight.sum() == pytest.approx(Y.size)


@pytest.mark.parametrize("pc", [0.05, 0.3, 0.8])
def test_resampling_leaves_out_the_class_that_is_too_frequent(pc):
    clf = cc.ReproportionedClassifier(Recorder(), pc, how="resample", random_state=1)
    kept = clf.fit(X, Y).estimator_
    assert kept.y.mean() == pytest.approx(pc, abs=1 / kept.y.size)
    assert (kept.y == 1).sum() == Y.sum() or (kept.y == 0).sum() == (1 - Y).sum()
    assert len(np.unique(kept.X, axis=0)) == len(kept.X)
    again = clf.fit(X, Y).estimator_
    assert (again.X == kept.X).all()


def test_the_comparison_with_a_moved_threshold_is_out_of_fold():
    tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
    clf = cc.ReproportionedClassifier(tree, HERE, random_state=3)
    found = clf.compare_with_threshold(X, Y, cv=4)
    costs = []
    for member in (clf, cc.CostThresholdClassifier(tree, HERE)):
        called = np.zeros(Y.size, dtype=bool)
        for train, test in StratifiedKFold(4, shuffle=True, random_state=3).split(X, Y):
            called[test] = member.fit(X[train], Y[train]).predict(X[test]) == 1
        costs.append(HERE.pc * (~called[Y == 1]).mean() + (1 - HERE.pc) * called[Y == 0].mean())
    at = found.at(HERE)
    assert at.estimate == pytest.approx(costs[0] - costs[1])
    assert at.lower < at.estimate < at.upper
    assert found.names == ("reproportioned", "threshold moved")
    given = list(StratifiedKFold(4, shuffle=True, random_state=3).split(X, Y))
    assert clf.compare_with_threshold(X, Y, cv=given).at(HERE).estimate == at.estimate


def test_methods_are_those_of_the_learner():
    assert not hasattr(cc.ReproportionedClassifier(Perceptron(), 0.3), "predict_proba")
    clf = cc.ReproportionedClassifier(Perceptron(), 0.3).fit(X, Y)
    assert clf.decision_function(X).shape == Y.shape
    named = np.where(Y == 1, "bad", "good")
    assert set(cc.ReproportionedClassifier(GaussianNB(), 0.3, pos_label="bad").fit(X, named).predict(X)) == {
        "bad",
        "good",
    }


def test_versions_at_several_ratios_are_one_algorithm():
    ratios = {f"tree {pc}": pc for pc in (0.2, 0.5, 0.8)}
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    members = {name: cc.ReproportionedClassifier(tree, pc) for name, pc in ratios.items()}
    scored = cc.evaluate({**members, "bayes": GaussianNB()}, X, Y, cv=5, progress=False)
    asked = {"versions": {"tree": list(members), "bayes": "bayes"}, "n_points": 11, "n_resamples": 100}
    found = scored.significant_dominance(**asked)
    assert found.names == ("tree", "bayes")
    assert (found.lower <= found.advantage).all()


def test_reproportioning_refuses():
    for bad in (0, 1):
        with pytest.raises(cc.InputError, match="pc between 0 and 1"):
            cc.ReproportionedClassifier(GaussianNB(), bad).fit(X, Y)
    for strange in (np.array([[1]]), [], "x"):
        with pytest.raises(cc.DataError, match="`pos_label` must be one of the classes"):
            cc.ReproportionedClassifier(GaussianNB(), 0.5, pos_label=strange).fit(X, Y)
    with pytest.raises(cc.InputError, match="`how` must be one of"):
        cc.ReproportionedClassifier(GaussianNB(), 0.5, how="copy").fit(X, Y)
    with pytest.raises(cc.InputError, match="'resample' for a classifier whose `fit` has no `sample_weight`"):
        cc.ReproportionedClassifier(KNeighborsClassifier(), 0.5).fit(X, Y)
    cc.ReproportionedClassifier(KNeighborsClassifier(), 0.5, how="resample").fit(X, Y)
