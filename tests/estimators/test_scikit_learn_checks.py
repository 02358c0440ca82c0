"""scikit-learn's own checks of estimators, on each of our classifiers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import costcurves as cc


class OneForEachError:
    """Costs for any number of classes; the name of a test must not hold an address."""

    def __call__(self, classes):
        return 1 - np.eye(len(classes))

    def __repr__(self):
        return "OneForEachError()"


TREE = DecisionTreeClassifier(max_depth=5, random_state=0)
CLASSIFIERS = [
    cc.RocHullClassifier([("bayes", GaussianNB()), ("tree", TREE)], 0.5, cv=2),
    cc.CostThresholdClassifier(TREE, {"fpr": 0.1}, cv=2),
    cc.MinimumExpectedCostClassifier(GaussianNB(), OneForEachError()),
    cc.MinimumExpectedCostClassifier(TREE, OneForEachError(), calibration="isotonic", cv=2),
]


# Two of the checks train members on infinite labels and on a class without weight, which divides by zero there.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@parametrize_with_checks(CLASSIFIERS)
def test_scikit_learn_accepts_the_classifier(estimator, check):
    check(estimator)
