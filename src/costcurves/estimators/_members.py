"""Code shared by the classifiers and `evaluate`: named members, their scores, metadata and folds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
import sklearn
from scipy.sparse import issparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, StratifiedShuffleSplit, check_cv
from sklearn.utils import _safe_indexing, column_or_1d
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, check_is_fitted, has_fit_parameter

from costcurves._base.errors import DataError, InputError
from costcurves._base.progress import track
from costcurves._base.validation import (
    FloatArray,
    IntArray,
    check_choice,
    check_flag,
    check_name,
    check_unique,
    is_missing,
    shown,
)
from costcurves.counting.labels import binary_labels
from costcurves.curves.choices import TRIVIAL

Fold = tuple[IntArray | None, IntArray]
METHODS = {
    "auto": ("predict_proba", "decision_function"),
    "predict_proba": ("predict_proba",),
    "decision_function": ("decision_function",),
}


def named_members(estimators: Any) -> dict[str, Any]:
    """Return members by name, from a mapping or from pairs (name, estimator). Names must be valid and distinct."""
    if isinstance(estimators, Mapping):
        pairs: list[Any] = list(estimators.items())
    elif isinstance(estimators, Sequence) and not isinstance(estimators, str):
        pairs = list(estimators)
    else:
        raise InputError(
            "`estimators` must be pairs (name, estimator) or a mapping of name to estimator, "
            f"got {shown(estimators)} ({type(estimators).__name__})"
        )
    if not pairs:
        raise InputError("`estimators` must not be empty, got 0 members")
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InputError(f"`estimators` must be pairs (name, estimator), got {shown(pair)}")
        if check_name("estimators", pair[0]) in TRIVIAL or "__" in pair[0]:
            raise InputError(
                "`estimators` must have names without '__' that are not those of the trivial classifiers, "
                f"got {shown(pair[0])}"
            )
    check_unique([name for name, _ in pairs], "estimators")
    return dict(pairs)


def score_method(name: str, estimator: Any, response_method: str) -> str:
    """Find the method that gives a classifier's scores. If there is none, the error says which methods are missing."""
    wanted = METHODS[check_choice("response_method", response_method, METHODS)]
    kind = type(estimator).__name__
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise InputError(f"`{name}` must be an estimator, got {shown(estimator)} ({kind})")
    for method in wanted:
        if hasattr(estimator, method):
            return method
    missing = " and ".join(wanted)
    raise InputError(f"`{name}` must be a classifier with scores, got a {kind} without {missing}")


def positive_scores(name: str, estimator: Any, X: Any, method: str, pos_label: Any) -> FloatArray:
    """Compute the scores of a fitted two-class classifier for the positive class."""
    classes = list(getattr(estimator, "classes_", ()))
    if len(classes) != 2 or pos_label not in classes:
        raise DataError(
            f"`{name}` must be fitted on two classes, one of them {shown(pos_label)}, got classes {shown(classes)}"
        )
    values = np.asarray(getattr(estimator, method)(X), dtype=np.float64)
    last = classes[1] == pos_label
    if method == "predict_proba":
        values = values[:, int(last)]
    elif not last:
        values = -values
    if not np.isfinite(values).all():
        raise DataError(f"`{name}` must give finite scores, got {int((~np.isfinite(values)).sum())} that are not")
    return np.ascontiguousarray(values)


def two_classes(y: Any, pos_label: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Any]:
    """Return the labels as a flat array, the two classes in order, and the positive class.

    If `pos_label` is None, labels must be booleans, 0/1 or -1/1, for which the positive class is clear.
    """
    labels = column_or_1d(y, warn=True)
    kind = type_of_target(labels, input_name="y")
    if kind == "unknown":
        raise DataError(f"Unknown label type: `y` must hold booleans, numbers or strings, got {shown(labels[0])}")
    if kind != "binary":
        found = f", got {np.unique(labels).size} classes" if kind == "multiclass" else ""
        raise DataError(f"Only binary classification is supported. The type of the target is {kind}{found}")
    classes = np.unique(labels)
    if classes.size != 2:
        raise DataError(f"`y` must hold two classes, got {classes.size} class: {shown(classes.tolist())}")
    if pos_label is None:
        try:
            return labels, classes, labels[binary_labels(labels)][0]
        except DataError as error:
            raise DataError(str(error).replace("`y_true`", "`y`")) from None
    if np.asarray(pos_label, dtype=object).ndim or pos_label not in classes.tolist():
        raise DataError(f"`pos_label` must be one of the classes {classes.tolist()}, got {shown(pos_label)}")
    return labels, classes, pos_label


def has_missing(X: Any) -> bool:
    """Whether X, which is an array, a sparse matrix, a list or a dataframe, has missing values."""
    if issparse(X):
        X = X.data
    elif hasattr(X, "isna"):
        return bool(np.asarray(X.isna()).any())
    try:
        values = np.asarray(X)
    except ValueError:
        raise DataError(f"`X` must be a table with rows of one length, got {shown(X)}") from None
    if values.dtype.kind == "O":
        return any(is_missing(value) for value in values.ravel().tolist())
    return values.dtype.kind in "fc" and bool(np.isnan(values).any())


def takes_missing(estimator: Any) -> bool:
    """Whether an estimator declares that it accepts missing values."""
    try:
        from sklearn.utils import get_tags  # not in scikit-learn 1.5

        return bool(get_tags(estimator).input_tags.allow_nan)
    except (ImportError, AttributeError, TypeError):
        return False


def takes_what(tags: Any, estimators: Sequence[Any]) -> Any:
    """Return tags that say which input all of some estimators accept."""
    from sklearn.utils import get_tags  # scikit-learn 1.5 has neither this nor tags

    inputs = [get_tags(one).input_tags for one in estimators]
    tags.input_tags.sparse = all(one.sparse for one in inputs)
    tags.input_tags.allow_nan = all(one.allow_nan for one in inputs)
    return tags


def take_features(owner: Any, fitted: Any) -> None:
    """Copy the number and the names of the features from a trained classifier, if it has them."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(fitted, name):
            setattr(owner, name, getattr(fitted, name))


def _has(method: str) -> Callable[[Any], bool]:
    """Make a check for whether the wrapped classifier has a method."""
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator), method)


class WrappedScores:
    """The scores of a classifier that wraps another one, `estimator`, are those of the wrapped one, if it has them."""

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probabilities of the wrapped classifier.

        Parameters
        ----------
        X : array-like of shape (n, features)
        """
        return self._wrapped("predict_proba", X)

    @available_if(_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The logarithms of the probabilities of the wrapped classifier; `X` is as for `predict_proba`."""
        return self._wrapped("predict_log_proba", X)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """The decision function of the wrapped classifier; `X` is as for `predict_proba`."""
        return self._wrapped("decision_function", X)

    def _wrapped(self, method: str, X: Any) -> npt.NDArray[np.float64]:
        check_is_fitted(self, "estimator_")
        fitted: Any = self
        return np.asarray(getattr(fitted.estimator_, method)(X))


# Metadata ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Routed:
    """The metadata for each member's `fit` and for the splitter's `split`."""

    fit: dict[str, dict[str, Any]]
    split: dict[str, Any]


def members_router(owner: Any, members: Mapping[str, Any], cv: Any) -> Any:
    """Make the metadata router of `fit` for the members and, under the name "cv", for the splitter."""
    router = MetadataRouter(owner=type(owner).__name__)
    for name, member in members.items():
        router.add(**{name: member}, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
    splitter = cv if hasattr(cv, "split") else StratifiedKFold()
    return router.add(cv=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))


def route(owner: Any, members: Mapping[str, Any], params: Mapping[str, Any]) -> Routed:
    """Decide where each parameter of `fit` is passed.

    With scikit-learn's metadata routing, members and splitter get what they have requested. Otherwise `sample_weight`
    goes to every member and `groups` to the splitter.
    """
    given = {name: value for name, value in params.items() if value is not None}
    if sklearn.get_config()["enable_metadata_routing"]:
        routed = process_routing(owner, "fit", **given)
        return Routed({name: dict(routed[name]["fit"]) for name in members}, dict(routed["cv"]["split"]))
    if strange := sorted(set(given) - {"sample_weight", "groups"}):
        raise InputError(
            "`fit` must have no metadata except sample_weight and groups unless metadata routing is enabled "
            f"(sklearn.set_config(enable_metadata_routing=True)), got {', '.join(strange)}"
        )
    weights = {"sample_weight": given["sample_weight"]} if "sample_weight" in given else {}
    for name, member in members.items():
        if weights and not has_fit_parameter(member, "sample_weight"):
            raise InputError(
                f"`sample_weight` must be taken by every member's fit, got {shown(name)} "
                f"({type(member).__name__}), which has no such parameter: enable scikit-learn's metadata routing"
            )
    groups = {"groups": given["groups"]} if "groups" in given else {}
    return Routed({name: dict(weights) for name in members}, groups)


# Folds -------------------------------------------------------------------------------------------------------


def make_folds(cv: Any, X: Any, y: Any, split_params: Mapping[str, Any], random_state: Any = None) -> list[Fold]:
    """Return the training and test rows of each fold. ``"prefit"`` has one fold without training rows.

    If `cv` is a number, folds are stratified, shuffled if there is a random state, and keep groups together.
    """
    n = _num_samples(X)
    if isinstance(cv, str):
        if cv != "prefit":
            raise InputError(f"`cv` must be a number of folds, a share, a splitter or 'prefit', got {shown(cv)}")
        return [(None, np.arange(n))]
    if isinstance(cv, Real) and not isinstance(cv, Integral):
        if not 0 < float(cv) < 1:
            raise InputError(f"`cv` must be in (0, 1) if it is the share to test on, got {shown(cv)}")
        splitter: Any = StratifiedShuffleSplit(n_splits=1, test_size=float(cv), random_state=random_state)
    elif isinstance(cv, Integral):
        if int(cv) < 2:
            raise InputError(f"`cv` must be >= 2 if it is the number of folds, got {shown(cv)}")
        kind = StratifiedGroupKFold if split_params.get("groups") is not None else StratifiedKFold
        splitter = kind(int(cv), shuffle=random_state is not None, random_state=random_state)
    else:
        splitter = check_cv(cv, y, classifier=True)
    folds: list[Fold] = [(as_rows(train, n), as_rows(test, n)) for train, test in splitter.split(X, y, **split_params)]
    if not folds:
        raise InputError("`cv` must give at least one fold, got 0")
    if empty := [k for k, (_, test) in enumerate(folds) if not test.size]:
        raise InputError(f"`cv` must leave examples to test on in every fold, got none in fold {empty[0]}")
    return folds


def as_rows(chosen: Any, n: int) -> IntArray:
    """Return row numbers from row numbers or from a mask, both of which scikit-learn accepts. All rows must exist."""
    array = np.asarray(chosen)
    if array.dtype.kind == "b" and array.shape == (n,):
        array = np.flatnonzero(array)
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(f"`cv` must give row numbers, or masks of {n} rows, got {shown(chosen)}")
    if array.min() < 0 or array.max() >= n:
        strange = array[(array < 0) | (array >= n)][0]
        raise InputError(f"`cv` must give row numbers from 0 to {n - 1}, got {strange}")
    return array.astype(np.int64)


def rows_of(values: Any, rows: IntArray | None, n: int) -> Any:
    """Select the values of some rows. Anything that does not have one value per row is returned unchanged."""
    if rows is None or values is None or isinstance(values, (str, Mapping)):
        return values
    return _safe_indexing(values, rows) if hasattr(values, "__len__") and len_of(values) == n else values


def len_of(values: Any) -> int:
    """The number of rows of an array-like."""
    return int(values.shape[0]) if getattr(values, "shape", ()) else len(values)


def _train(estimator: Any, X: Any, y: Any, rows: IntArray | None, params: Mapping[str, Any]) -> Any:
    """Train the estimator on some rows with their metadata."""
    n = _num_samples(X)
    chosen = {name: rows_of(value, rows, n) for name, value in params.items()}
    return estimator.fit(rows_of(X, rows, n), rows_of(y, rows, n), **chosen)


def _score_fold(task: _Task, X: Any, y: Any) -> tuple[FloatArray, Any]:
    """Compute the scores of one member for the test rows of one fold. Also return the trained member if it is kept."""
    train, test = task.fold
    fitted = task.estimator if train is None else _train(clone(task.estimator), X, y, train, task.params)
    scores = positive_scores(task.name, fitted, rows_of(X, test, _num_samples(X)), task.method, task.pos_label)
    return scores, fitted if task.keep else None


@dataclass(frozen=True, slots=True)
class _Task:
    """One member on one fold."""

    name: str
    estimator: Any
    fold: Fold
    params: Mapping[str, Any]
    method: str
    pos_label: Any
    keep: bool


@dataclass(frozen=True, slots=True)
class OutOfFold:
    """Scores from models that were not trained on the scored rows, fold by fold.

    If there is only one fold, `fitted` holds the members that gave the scores.
    """

    rows: IntArray
    folds: IntArray
    scores: dict[str, FloatArray]
    fitted: dict[str, Any]


def out_of_fold(
    members: Mapping[str, Any],
    X: Any,
    y: Any,
    folds: list[Fold],
    *,
    fit_params: Mapping[str, Mapping[str, Any]],
    response_method: str,
    pos_label: Any,
    n_jobs: Any = None,
    progress: bool = False,
) -> OutOfFold:
    """Compute the scores of every member for the test rows of every fold."""
    methods = {name: score_method(name, member, response_method) for name, member in members.items()}
    for name, member in members.items():
        if not is_classifier(member):
            raise InputError(f"`{name}` must be a classifier, got a {type(member).__name__}")
        if folds[0][0] is None:
            check_fitted(name, member)
    for k, (train, _) in enumerate(folds):
        if members and train is not None and np.unique(rows_of(y, train, _num_samples(X))).size < 2:
            found = f"only {shown(y[train[0]])}" if train.size else "no example"
            raise DataError(f"`cv` must leave both classes to train on in every fold, got {found} in fold {k}")
    tasks = [
        _Task(name, member, fold, fit_params[name], methods[name], pos_label, keep=len(folds) == 1)
        for name, member in members.items()
        for fold in folds
    ]
    # By default tasks run one after the other, because only a generator can report progress.
    done = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(_score_fold)(task, X, y) for task in tasks)
    results = list(track(done, "Training and scoring", total=len(tasks), show=None if progress else False))
    by_name = {name: results[i * len(folds) : (i + 1) * len(folds)] for i, name in enumerate(members)}
    return OutOfFold(
        rows=np.concatenate([test for _, test in folds]),
        folds=np.repeat(np.arange(len(folds)), [test.size for _, test in folds]),
        scores={name: np.concatenate([scores for scores, _ in parts]) for name, parts in by_name.items()},
        fitted={name: parts[0][1] for name, parts in by_name.items()},
    )


def check_fitted(name: str, estimator: Any) -> None:
    """Raise an error if an estimator has not been fitted."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        kind = type(estimator).__name__
        raise NotFittedError(f"`{name}` must be fitted if cv='prefit', got an unfitted {kind}") from None


def final_members(
    members: Mapping[str, Any],
    X: Any,
    y: Any,
    tested: OutOfFold,
    *,
    cv: Any,
    refit: Any,
    fit_params: Mapping[str, Mapping[str, Any]],
    n_jobs: Any,
) -> dict[str, Any]:
    """Return the members that will predict: those given (prefit), those of the only fold, or trained on all data."""
    several = tested.folds[-1] > 0
    if not check_flag("refit", refit) and several:
        raise InputError("`refit` must be True if `cv` has several folds, got False")
    if (isinstance(cv, str) and cv == "prefit") or not refit:
        return tested.fitted
    trained = Parallel(n_jobs=n_jobs)(
        delayed(_train)(clone(member), X, y, None, fit_params[name]) for name, member in members.items()
    )
    return dict(zip(members, trained, strict=True))
