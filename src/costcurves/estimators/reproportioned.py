"""A classifier that is trained on classes in the proportions of a target condition, instead of moving a threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import StratifiedKFold, check_cv, cross_val_predict
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from costcurves._base.errors import InputError
from costcurves._base.validation import DEFAULT_LEVEL, Column, check_choice, shown
from costcurves.conditions.condition import ConditionLike, check_condition
from costcurves.counting.class_labels import Label
from costcurves.curves.thresholds import fixed
from costcurves.data.predictions import Predictions
from costcurves.decisions.curve_difference import CurveDifference
from costcurves.estimators._members import WrappedScores, take_features, takes_what, two_classes
from costcurves.estimators.threshold import CostThresholdClassifier

HOW = ("weight", "resample")


class ReproportionedClassifier(WrappedScores, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier trained as if the classes had the proportions of a target condition (1998, section 3.1).

    With the share pc of positives, the most accurate classifier of the transformed data is the cheapest one at the
    condition. Whether that is better than training on the data as they are and moving the threshold depends on the
    learner; `compare_with_threshold` shows it. Versions at several pc are compared as one algorithm by
    `significant_dominance`.

    Parameters
    ----------
    estimator : estimator
        A classifier of two classes.
    condition : OperatingCondition, or a number read as pc
        The target, with pc between 0 and 1. At a pc of 0.5 both classes have the same weight in training.
    how : {"weight", "resample"}
        Whether examples are weighted by `sample_weight` of the classifier's `fit`, or examples of the class that is too
        frequent are left out at random.
    pos_label : label, optional
        The positive class, which is required unless labels are booleans, 0/1 or -1/1.
    random_state : int, RandomState or None
        Chooses the examples that are left out, and the folds of `compare_with_threshold`.

    Attributes
    ----------
    estimator_ : estimator
        The trained classifier. Its scores are those of this one; probabilities refer to the changed proportions.
    classes_, pos_label_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> import costcurves as cc
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)  # 0 is malignant
    >>> today = cc.OperatingCondition(prevalence=0.37, cost_fp=1, cost_fn=10)
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    >>> clf = cc.ReproportionedClassifier(tree, today, pos_label=0, random_state=0)
    >>> int((clf.fit(X, y).predict(X) == 0).sum()), int((tree.fit(X, y).predict(X) == 0).sum())
    (237, 208)
    >>> clf.compare_with_threshold(X, y).at(today)  # doctest: +ELLIPSIS
    DifferenceInterval(...)
    """

    def __init__(
        self,
        estimator: Any,
        condition: ConditionLike,
        *,
        how: str = "weight",
        pos_label: Label | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.condition = condition
        self.how = how
        self.pos_label = pos_label
        self.random_state = random_state

    def _pc(self) -> float:
        pc = check_condition(self.condition).pc
        if not 0 < pc < 1:
            raise InputError(f"`condition` must have a pc between 0 and 1, or a class has no weight, got {pc:g}")
        return pc

    def fit(self, X: Any, y: Column) -> ReproportionedClassifier:
        """Train the classifier on classes in the proportions of the condition.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, features), or dataframe
        y : array-like of shape (n,)
            Labels of two classes.
        """
        pc = self._pc()
        check_choice("how", self.how, HOW)
        if self.how == "weight" and not has_fit_parameter(self.estimator, "sample_weight"):
            raise InputError(
                f"`how` must be 'resample' for a classifier whose `fit` has no `sample_weight`, got {shown(self.how)} "
                f"for {type(self.estimator).__name__}"
            )
        labels, self.classes_, self.pos_label_ = two_classes(y, self.pos_label)
        X, _ = indexable(X, labels)
        positive = labels == self.pos_label_
        if self.how == "weight":
            weight = np.where(positive, pc / positive.mean(), (1 - pc) / (1 - positive.mean()))
            self.estimator_ = clone(self.estimator).fit(X, labels, sample_weight=weight)
        else:
            kept = self._kept(positive, pc)
            self.estimator_ = clone(self.estimator).fit(_safe_indexing(X, kept), labels[kept])
        take_features(self, self.estimator_)
        return self

    def _kept(self, positive: npt.NDArray[np.bool_], pc: float) -> npt.NDArray[np.intp]:
        """Return the examples that are left if the class that is too frequent is reduced."""
        n_pos, n_neg = int(positive.sum()), int((~positive).sum())
        wanted = min(n_pos, round(n_neg * pc / (1 - pc))), min(n_neg, round(n_pos * (1 - pc) / pc))
        rng = check_random_state(self.random_state)
        parts = [
            rng.permutation(np.flatnonzero(kind))[: max(1, number)]
            for kind, number in zip((positive, ~positive), wanted, strict=True)
        ]
        return np.sort(np.concatenate(parts))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict labels by the trained classifier's own rule.

        Parameters
        ----------
        X : array-like of shape (n, features)
        """
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict(X))

    def compare_with_threshold(
        self, X: Any, y: Column, *, cv: Any = 5, level: float = DEFAULT_LEVEL, n_jobs: int | None = None
    ) -> CurveDifference:
        """Compare the cost at the condition with that of the same learner with a moved threshold, out of fold.

        Parameters
        ----------
        X, y
            As for `fit`. This classifier need not be fitted.
        cv : int, splitter or iterable, default 5
            The folds. The threshold of the other one (`CostThresholdClassifier`) is found within the training folds.
        level : float in (0, 1)
        n_jobs : int, optional
            The number of parallel fits.

        Returns
        -------
        CurveDifference
            The cost of "reproportioned" minus that of "threshold moved" at the condition, with limits and a p-value
            (``.at(condition)``). The limits are about the classifiers of these folds.
        """
        pc = self._pc()
        labels, _, positive = two_classes(y, self.pos_label)
        moved = CostThresholdClassifier(self.estimator, self.condition, pos_label=positive)
        members = {"reproportioned": clone(self).set_params(pos_label=positive), "threshold moved": moved}
        if isinstance(cv, (int, np.integer)):
            folds: Any = StratifiedKFold(int(cv), shuffle=True, random_state=self.random_state)
        else:
            folds = check_cv(cv, labels, classifier=True)
        splits = list(folds.split(np.zeros((labels.size, 1)), labels))
        called = {
            name: (cross_val_predict(one, X, labels, cv=splits, n_jobs=n_jobs) == positive).astype(float)
            for name, one in members.items()
        }
        return Predictions(labels == positive, called).compare(*members, policy=fixed(0.5), pc=[pc], level=level)

    def __sklearn_tags__(self) -> Any:
        """Return the tags, which describe the input that the classifier accepts."""
        tags = takes_what(super().__sklearn_tags__(), [self.estimator])
        tags.classifier_tags.multi_class = False
        return tags
