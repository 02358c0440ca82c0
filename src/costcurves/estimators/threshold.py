"""A classifier with the cheapest of all thresholds on out-of-fold scores."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from costcurves._base.validation import Column, ResponseMethod
from costcurves.counting.class_labels import Label
from costcurves.curves.choices import Mixture
from costcurves.curves.roc import RocCurve
from costcurves.estimators._members import WrappedScores
from costcurves.estimators.hull_classifier import Goal, HullBase, choose

MEMBER = "estimator"


class CostThresholdClassifier(WrappedScores, HullBase):
    """A classifier with the threshold that costs least at an operating condition, on out-of-fold scores.

    Every distinct score is a candidate, with exact counts and after a single sort. As with `RocHullClassifier`, the
    condition can be changed without another fit, by ``set_params(condition=...)`` or ``predict(X, condition=...)``. Its
    scores (`predict_proba`, `predict_log_proba` and `decision_function`, if the wrapped classifier has them) are those
    of the wrapped classifier.

    Parameters
    ----------
    estimator : estimator
        A classifier with `predict_proba` or `decision_function`.
    condition : OperatingCondition, number read as pc, or mapping
        The condition under which the classifier is used. A mapping is a limit such as ``{"fpr": 0.05}``, or a limit
        that is kept on new cases such as ``{"fpr": 0.05, "confidence": 0.95}``; see `RocHullClassifier`.
    cv, response_method, pos_label, refit, n_jobs, random_state
        As for `RocHullClassifier`.

    Attributes
    ----------
    threshold_ : float
        The threshold for the current `condition`. Cases whose score is at least this high are predicted positive. It is
        inf if all cases are predicted negative, -inf if all are predicted positive, and otherwise about halfway between
        two neighbouring out-of-fold scores.
    roc_curve_ : RocCurve
        The ROC curve of the out-of-fold scores.
    estimator_ : estimator
        The classifier, trained on all data (see `refit`).
    hull_ : RocHull
        The hull of `roc_curve_`, for decisions and ranges.
    classes_, pos_label_, n_features_in_, feature_names_in_
        As for `RocHullClassifier`.

    Notes
    -----
    scikit-learn's `TunedThresholdClassifierCV` tries 100 evenly spaced thresholds, and averages its metric
    over folds after interpolating it between them. Here folds are pooled and every threshold is considered, so no
    threshold costs less on the pooled out-of-fold scores.

    Examples
    --------
    >>> import costcurves as cc
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)  # 0 is malignant
    >>> today = cc.OperatingCondition(prevalence=0.37, cost_fp=1, cost_fn=10)
    >>> clf = cc.CostThresholdClassifier(GaussianNB(), today, pos_label=0).fit(X, y)
    >>> clf.roc_curve_
    RocCurve('estimator': 569 examples (212 positive), 427 points, auc=0.985)
    >>> clf.threshold_ < 0.01
    True
    """

    def __init__(
        self,
        estimator: Any,
        condition: Goal,
        *,
        cv: Any = 5,
        response_method: ResponseMethod = "auto",
        pos_label: Label | None = None,
        refit: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.condition = condition
        self.cv = cv
        self.response_method = response_method
        self.pos_label = pos_label
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _named(self) -> dict[str, Any]:
        return {MEMBER: self.estimator}

    def fit(self, X: Any, y: Column, **params: Any) -> CostThresholdClassifier:
        """Train the classifier and find the ROC curve of its out-of-fold scores.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, features), or dataframe
        y : array-like of shape (n,)
            Labels of two classes.
        **params
            As for `RocHullClassifier.fit`.
        """
        self.estimator_ = self._fit_hull(X, y, params)[MEMBER]
        return self

    @property
    def roc_curve_(self) -> RocCurve:
        """The ROC curve of the out-of-fold scores."""
        check_is_fitted(self, "hull_")
        return self.hull_.roc_curve(MEMBER)

    @property
    def threshold_(self) -> float:
        """The threshold for the current condition."""
        check_is_fitted(self, "hull_")
        return self._choose(self.condition).first_threshold

    def _choose(self, condition: Any) -> Mixture:
        return choose(self.hull_, self._goal(condition))

    def _fitted(self) -> dict[str, Any]:
        return {MEMBER: self.estimator_}
