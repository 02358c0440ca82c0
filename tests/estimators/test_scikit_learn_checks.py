"""scikit-learn's own checks of estimators, on each of our classifiers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

import costcurves as cc


def one_for_each_error(classes):
    return 1 - np.eye(len(classes))


CLASSIFIERS = [
    cc.RocHullClassifier([("bayes", GaussianNB()), ("logit", LogisticRegression())], 0.5, cv=3),
    cc.RocHullClassifier({"logit": LogisticRegression()}, {"fpr": 0.1}, cv=3),
    cc.CostThresholdClassifier(LogisticRegression(), 0.5, cv=3),
    cc.MinimumExpectedCostClassifier(LogisticRegression(), one_for_each_error),
    cc.MinimumExpectedCostClassifier(GaussianNB(), one_for_each_error, calibration="sigmoid", cv=2),
]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(CLASSIFIERS)
def test_scikit_learn_accepts_the_classifier(estimator, check):
    check(estimator)
