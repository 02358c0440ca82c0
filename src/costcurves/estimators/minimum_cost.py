"""A classifier for any number of classes that predicts the class with the least expected cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils import column_or_1d
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from costcurves._base.errors import DataError, InputError
from costcurves._base.validation import Column, check_choice
from costcurves.conditions.cost_matrix import CostMatrix, CostsLike, minimum_cost_predictions
from costcurves.counting.class_labels import listed
from costcurves.estimators._members import score_method, take_features, takes_what

CALIBRATIONS = ("isotonic", "sigmoid")


class MinimumExpectedCostClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of k classes that predicts the class with the least expected cost, given its probabilities.

    Parameters
    ----------
    estimator : estimator
        A classifier with `predict_proba` (with `calibration`, `decision_function` is enough).
    costs : CostMatrix, labelled frame, table of shape (k, k), or callable
        Rows are true classes, columns are predicted classes. A `CostMatrix` or a labelled frame is matched by its
        labels, and a plain table has the order of the sorted classes. For costs that follow a rule, a callable takes
        the classes and returns any of these.
    calibration : {None, "isotonic", "sigmoid"}, default None
        Whether to calibrate the probabilities by cross-validation first (with scikit-learn's `CalibratedClassifierCV`).
        The decisions are only as good as the probabilities.
    cv : int, splitter or iterable, default 5
        The folds of the calibration.
    n_jobs : int, optional
        The number of parallel fits of the calibration.

    Attributes
    ----------
    classes_ : array of shape (k,)
    costs_ : CostMatrix
        The costs with the classes as labels, in their order.
    estimator_ : estimator
        The fitted classifier, which is a `CalibratedClassifierCV` if `calibration` is not None.

    Notes
    -----
    The prediction is the class p with the least Σ_t P(t|x) costs[t, p], and the first of several such classes.
    The probabilities refer to the class frequencies of the training data.

    Examples
    --------
    Mistaking a wine of class 1 for another costs ten times as much as the other errors:

    >>> import costcurves as cc
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_wine(return_X_y=True)
    >>> costs = cc.CostMatrix([[0, 1, 1], [10, 0, 10], [1, 1, 0]])
    >>> clf = cc.MinimumExpectedCostClassifier(GaussianNB(), costs).fit(X[::2], y[::2])
    >>> plain = GaussianNB().fit(X[::2], y[::2])
    >>> [round(cc.expected_cost(y[1::2], one.predict(X[1::2]), costs), 3) for one in (clf, plain)]
    [0.157, 0.27]
    """

    def __init__(
        self,
        estimator: Any,
        costs: CostsLike,
        *,
        calibration: str | None = None,
        cv: Any = 5,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.calibration = calibration
        self.cv = cv
        self.n_jobs = n_jobs

    def _inner(self) -> Any:
        """The estimator that will be trained, which is the classifier or its calibration."""
        if self.calibration is None:
            score_method("estimator", self.estimator, "predict_proba")
            return clone(self.estimator)
        check_choice("calibration", self.calibration, CALIBRATIONS)
        score_method("estimator", self.estimator, "auto")
        inner = CalibratedClassifierCV(clone(self.estimator), method=self.calibration, cv=self.cv, n_jobs=self.n_jobs)
        if sklearn.get_config()["enable_metadata_routing"]:
            inner.set_fit_request(sample_weight=True)  # it passes the weights on if the classifier requests them
        return inner

    def fit(self, X: Any, y: Column, **params: Any) -> MinimumExpectedCostClassifier:
        """Train the classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, features), or dataframe
        y : array-like of shape (n,)
            Class labels, all of which must be in the cost matrix.
        **params
            Parameters of the classifier's `fit`, such as `sample_weight`. If metadata routing is enabled, those that it
            has requested.
        """
        inner = self._inner()
        labels = column_or_1d(y, warn=True)
        check_classification_targets(labels)
        classes = np.unique(labels)
        if classes.size < 2:
            raise DataError(f"`y` must hold two classes or more, got {classes.size} class: {classes.tolist()}")
        self.costs_ = matrix_of(self.costs, classes)
        if sklearn.get_config()["enable_metadata_routing"]:
            params = process_routing(self, "fit", **params)["estimator"]["fit"]
        self.classes_ = classes
        self.estimator_ = inner.fit(X, labels, **params)
        take_features(self, self.estimator_)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class with the least expected cost for each example.

        Parameters
        ----------
        X : array-like of shape (n, features)
        """
        check_is_fitted(self, "estimator_")
        chosen = minimum_cost_predictions(self.estimator_.predict_proba(X), self.costs_, classes=self.classes_.tolist())
        return chosen.astype(self.classes_.dtype, copy=False)

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probabilities on which the decisions are based, with one column for each of `classes_`.

        Parameters
        ----------
        X : array-like of shape (n, features)
        """
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict_proba(X))

    def get_metadata_routing(self) -> Any:
        """Return the metadata routing to the classifier's `fit`."""
        return MetadataRouter(owner=type(self).__name__).add(
            estimator=self._inner(), method_mapping=MethodMapping().add(caller="fit", callee="fit")
        )

    def __sklearn_tags__(self) -> Any:
        """Return the tags, which describe the input that the classifier accepts."""
        return takes_what(super().__sklearn_tags__(), [self.estimator])


def matrix_of(costs: Any, classes: npt.NDArray[Any]) -> CostMatrix:
    """Return the costs with the classes as labels, in their order. Labels that do not match the classes are refused."""
    names = classes.tolist()
    table = costs(classes) if callable(costs) else costs
    labelled = isinstance(table, CostMatrix) or hasattr(table, "columns") or hasattr(table, "column_names")
    if not labelled and np.shape(table) != (len(names), len(names)):
        raise InputError(
            f"`costs` must have a row and a column for each of the classes of `y` ({listed(names)}), "
            f"got shape {np.shape(table)}"
        )
    matrix = CostMatrix(table) if labelled else CostMatrix(table, labels=names)
    if set(matrix.labels) != set(names):
        raise DataError(
            f"`costs` must have the classes of `y` as labels ({listed(names)}), got {listed(matrix.labels)}"
        )
    return CostMatrix(matrix, labels=names)
