"""scikit-learn's own checks of estimators, on each of our classifiers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import estimator_checks
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
    cc.RocHullClassifier([("bayes", GaussianNB()), ("tree", TREE)], {"fpr": 0.1}, cv=2, on_edge="random"),
    cc.CostThresholdClassifier(TREE, {"fpr": 0.1}, cv=2),
    cc.ReproportionedClassifier(TREE, 0.5),
    cc.ReproportionedClassifier(TREE, 0.4, how="resample", random_state=0),
    cc.MinimumExpectedCostClassifier(GaussianNB(), OneForEachError()),
    cc.MinimumExpectedCostClassifier(TREE, OneForEachError(), calibration="isotonic", cv=2),
]


# These checks have labels that do not say which class is positive, and no way to give `pos_label`.
NUMBERS = ("check_estimators_dtypes", "check_classifier_data_not_an_array", "check_fit2d_1feature")
LABELS = dict.fromkeys(
    ("check_classifiers_classes", *NUMBERS),
    "the positive class is not guessed: labels of the check are texts, or 1 and 2",
)


def expected_to_fail(estimator):
    """Return the checks that cannot pass, with the reason."""
    left_out = {"check_dtype_object": "the row with the bad value is among those that are left out"}
    more = left_out if getattr(estimator, "how", None) == "resample" else {}
    return LABELS | more if hasattr(estimator, "pos_label") else {}


# Two of the checks train members on infinite labels and on a class without weight, which divides by zero there.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@parametrize_with_checks(CLASSIFIERS, expected_failed_checks=expected_to_fail)
def test_scikit_learn_accepts_the_classifier(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("estimator", [one for one in CLASSIFIERS if hasattr(one, "pos_label")], ids=str)
@pytest.mark.parametrize("name", NUMBERS)
def test_checks_of_labels_1_and_2_pass_with_the_positive_class(estimator, name):
    getattr(estimator_checks, name)(type(estimator).__name__, clone(estimator).set_params(pos_label=2))
