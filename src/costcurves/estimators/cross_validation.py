"""Evaluation of estimators, scores and results of scikit-learn's `cross_validate` on the same folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import indexable
from sklearn.utils.validation import _num_samples

from costcurves._base.errors import CostCurvesWarning, DataError, InputError, warn
from costcurves._base.frames import ALONE, columns_of
from costcurves._base.validation import (
    Column,
    FloatArray,
    IntArray,
    ResponseMethod,
    check_flag,
    check_name,
    frozen,
    shown,
)
from costcurves.counting import counts
from costcurves.counting.class_labels import Label
from costcurves.counting.labels import binary_labels
from costcurves.curves.choices import TRIVIAL
from costcurves.data.predictions import Predictions
from costcurves.decisions.rows import Rows
from costcurves.estimators import _members


def evaluate(
    classifiers: Any,
    X: Any,
    y: Column,
    *,
    cv: Any = 5,
    pos_label: Label | None = None,
    sample_weight: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    response_method: ResponseMethod = "auto",
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: bool = True,
) -> Predictions:
    """Evaluate several classifiers by out-of-fold scores on the same folds, for curves and comparisons.

    Parameters
    ----------
    classifiers : mapping of name to estimator, scores or cross-validation results (or a dataframe of scores)
        An estimator scores each fold after training on the others. Scores are an array of shape (n,) from models that
        were not trained on the examples they score. Results are the dictionary that scikit-learn's
        ``cross_validate(..., return_estimator=True, return_indices=True)`` returns; its folds are then used for all
        classifiers. A single estimator or its results need no mapping and are called by the estimator's class.
    X : array-like of shape (n, features), or None
        Not needed if there are only scores.
    y : array-like of shape (n,)
        True labels of two classes.
    cv : int, float, splitter, iterable or "prefit", default 5
        The number of stratified folds (which keep `groups` together), the share of examples to test on in a single
        split, or a scikit-learn splitter that tests no example twice. With "prefit", the estimators are already fitted
        and all of X is one fold that they were not trained on.
    pos_label : label, optional
        The positive class, which is required unless labels are booleans, 0/1 or -1/1.
    sample_weight : array-like of shape (n,), optional
        Weights for training and for the curves.
    groups : array-like of shape (n,), optional
        Groups for the splitter. The examples of a group are all in the training set or all in the test set.
    response_method : {"auto", "predict_proba", "decision_function"}
        The method that gives the scores of estimators. "auto" uses the first of them that an estimator has.
    n_jobs : int, optional
        The number of parallel fits.
    random_state : int, RandomState or None
        Shuffles the folds if `cv` is a number. They are not shuffled if it is None.
    progress : bool, default True
        Show progress on a terminal if it takes more than two seconds.

    Returns
    -------
    Predictions

    Warns
    -----
    CostCurvesWarning
        If scores of several folds are values of a decision function, such as the margins of a support vector machine:
        a threshold need not mean the same in each fold, as it does for probabilities.

    Notes
    -----
    For more than two classes, use `cross_val_predict` and compare its predictions with `bdeltacost_many`.

    Examples
    --------
    >>> import costcurves as cc
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> members = {"bayes": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1, random_state=0)}
    >>> result = cc.evaluate(members, X, y, pos_label=0, cv=10)
    >>> result
    Predictions: 569 examples (212 positive) in 10 folds
      'bayes'  auc 0.987, area under the cost curve 0.040
      'stump'  auc 0.881, area under the cost curve 0.105
    >>> result.compare("bayes", "stump").at(0.5).upper < 0
    True
    """
    named = _named(classifiers)
    labels, pos_label = _labels(y, pos_label)
    estimators = {name: value for name, value in named.items() if hasattr(value, "fit")}
    done = {name: value for name, value in named.items() if isinstance(value, Mapping)}
    given = {name: value for name, value in named.items() if name not in estimators and name not in done}
    if X is None:
        if estimators or done:
            raise InputError(f"`X` must be given for estimators, got None for {next(iter(estimators or done))!r}")
        X = np.zeros((labels.size, 1))
    X, _ = indexable(X, labels)
    weights = None if sample_weight is None else counts.checked_weights(sample_weight, labels.size)
    routed = _members.route(_Router(estimators, cv), estimators, {"sample_weight": sample_weight, "groups": groups})
    folds = _shared_folds(done, labels.size) or _members.make_folds(cv, X, labels, routed.split, random_state)
    tested = _members.out_of_fold(
        estimators,
        X,
        labels,
        folds,
        fit_params=routed.fit,
        response_method=response_method,
        pos_label=pos_label,
        n_jobs=n_jobs,
        progress=check_flag("progress", progress),
    )
    if len(folds) > 1:
        _warn_of_margins(estimators, done, response_method)
    scores = tested.scores | {
        name: _scores_of_results(name, results, X, pos_label, response_method) for name, results in done.items()
    }
    for name, values in given.items():
        checked = counts.checked_scores(values, name)
        counts.same_length(name, checked, "y", labels.size)
        scores[name] = checked[tested.rows].astype(np.float64)
    result = _out_of_fold(labels, pos_label, tested.rows, tested.folds, {name: scores[name] for name in named}, weights)
    for name in given:  # a curve warns if scores may be those of the other class, which cannot happen with estimators
        result.roc_curve(name)
    return result


def _warn_of_margins(
    estimators: Mapping[str, Any], done: Mapping[str, Mapping[str, Any]], response_method: str
) -> None:
    """Warn of scores whose scale may differ from fold to fold."""
    models = {**estimators, **{name: results["estimator"][0] for name, results in done.items()}}
    used = {name: _members.score_method(name, model, response_method) for name, model in models.items()}
    if margins := [shown(name) for name, method in used.items() if method == "decision_function"]:
        warn(
            f"scores of {', '.join(margins)} are values of a decision function, whose scale may differ from fold to "
            "fold, and one threshold is taken for all folds: calibrate them, for example with scikit-learn's "
            "CalibratedClassifierCV, or average the curves of the folds",
            CostCurvesWarning,
        )


class _Router:
    """Routes metadata to estimators that are not part of a meta-estimator."""

    def __init__(self, members: Mapping[str, Any], cv: Any) -> None:
        self.members, self.cv = members, cv

    def get_metadata_routing(self) -> Any:
        """Return the metadata routing."""
        return _members.members_router(self, self.members, self.cv)


def _named(classifiers: Any) -> dict[str, Any]:
    """Return the classifiers by name. Names must be strings other than those of the trivial classifiers."""
    if isinstance(classifiers, (list, tuple)) and any(
        hasattr(one, "fit") or isinstance(one, tuple) for one in classifiers
    ):
        kind = type(classifiers).__name__
        raise InputError(f"`classifiers` must map names to classifiers, got a {kind} of estimators: pass a dict")
    if isinstance(classifiers, Mapping) and {"fit_time", "score_time"} <= classifiers.keys():
        fitted = classifiers.get("estimator")
        named = {type(fitted[0]).__name__ if isinstance(fitted, Sequence) and fitted else ALONE: classifiers}
    elif not isinstance(classifiers, Mapping) and hasattr(classifiers, "fit"):
        named = {type(classifiers).__name__: classifiers}
    else:
        named = dict(columns_of("classifiers", classifiers))
    if not named:
        raise InputError("`classifiers` must not be empty, got 0 classifiers")
    for name in named:
        if check_name("classifiers", name) in TRIVIAL:
            raise InputError(f"`classifiers` must not use the names of the trivial classifiers, got {shown(name)}")
    return named


def _labels(y: Any, pos_label: Any) -> tuple[Any, Any]:
    """Return the labels as an array, and the positive label. The error for more than two classes gives advice."""
    try:
        labels = np.asarray(y)
    except ValueError:  # rows of different lengths
        raise InputError(f"`y` must be one-dimensional, got {shown(y)}") from None
    names = labels.ndim == 1 and (labels.dtype.kind in "iuUS" or all(isinstance(label, str) for label in labels))
    if names and np.unique(labels).size > 2:
        raise DataError(
            f"`y` must hold two classes, got {np.unique(labels).size}: for more, compare the predictions of "
            "cross_val_predict with cc.bdeltacost_many"
        )
    positive = binary_labels(labels, pos_label)
    counts.both_classes(positive)
    return labels, labels[positive][0]


def _shared_folds(done: Mapping[str, Mapping[str, Any]], n: int) -> list[_members.Fold]:
    """Find the folds of cross-validation results, which must be the same for all of them."""
    shared: list[_members.Fold] = []
    for name, results in done.items():
        for key, option in (("indices", "return_indices"), ("estimator", "return_estimator")):
            if key not in results:
                raise InputError(
                    f"`{name}` must be the result of cross_validate(..., return_estimator=True, return_indices=True), "
                    f"got one without {key!r}: pass {option}=True"
                )
        indices = results["indices"]
        train_and_test = [indices.get(part) for part in ("train", "test")] if isinstance(indices, Mapping) else [None]
        parts = [results["estimator"], *train_and_test]
        if not all(isinstance(part, Sequence) for part in parts) or not parts[0] or len(set(map(len, parts))) > 1:
            raise InputError(
                f"`{name}` must have an estimator and the indices of 'train' and 'test' for each fold, as "
                f"cross_validate returns them, got estimators {shown(parts[0])} and indices {shown(indices)}"
            )
        folds: list[_members.Fold] = [
            (_members.as_rows(train, n), _members.as_rows(test, n))
            for train, test in zip(indices["train"], indices["test"], strict=True)
        ]
        if shared and not (
            len(folds) == len(shared) and all(np.array_equal(a[1], b[1]) for a, b in zip(folds, shared, strict=True))
        ):
            raise InputError(f"`{name}` must have the same test folds as the results before it, got others")
        shared = folds
    return shared


def _scores_of_results(
    name: str, results: Mapping[str, Any], X: Any, pos_label: Any, response_method: str
) -> FloatArray:
    """Compute the scores that the estimator of each fold gives to its test rows."""
    n = _num_samples(X)
    return np.concatenate(
        [
            _members.positive_scores(
                name,
                estimator,
                _members.rows_of(X, _members.as_rows(test, n), n),
                _members.score_method(name, estimator, response_method),
                pos_label,
            )
            for estimator, test in zip(results["estimator"], results["indices"]["test"], strict=True)
        ]
    )


def _out_of_fold(
    labels: npt.NDArray[Any],
    pos_label: Any,
    tested: IntArray,
    folds: IntArray,
    scores: Mapping[str, FloatArray],
    sample_weight: FloatArray | None,
) -> Predictions:
    """Make predictions from the rows that were tested, in the order of the data."""
    if np.unique(tested).size < tested.size:
        raise InputError(
            "`cv` must test each example at most once, or comparisons would count it twice, "
            f"got {tested.size} tests of {np.unique(tested).size} examples: evaluate each repetition by itself"
        )
    order = np.argsort(tested, kind="stable")
    tested = frozen(tested[order])
    weights = None if sample_weight is None else sample_weight[tested]
    made = Predictions.__new__(Predictions)
    ordered = {name: values[order] for name, values in scores.items()}
    made._start(Rows(labels[tested] == pos_label, ordered, None, weights), pos_label, folds[order], tested)
    return made
