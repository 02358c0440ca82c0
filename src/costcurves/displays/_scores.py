"""Scores and predicted labels for displays, from estimators, cross-validations and arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from costcurves._base.errors import InputError
from costcurves._base.frames import columns_of
from costcurves._base.validation import IntArray, check_choice, check_name, check_unique, shown
from costcurves.counting import counts
from costcurves.counting.labels import binary_labels
from costcurves.curves.roc import RocCurve
from costcurves.data.predictions import Predictions, as_predictions
from costcurves.decisions.rows import Rows
from costcurves.displays._style import needed

RESPONSES = ("predict_proba", "decision_function")


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The answers (scores or labels) of one classifier on one test set. `index` holds the rows of the test set."""

    y_true: Any
    answer: Any
    sample_weight: Any = None
    index: IntArray | None = None


@dataclass(frozen=True, eq=False)
class Sample:
    """The answers of each classifier on one test set, or on one test set per fold."""

    parts: dict[str, tuple[Part, ...]]
    pos_label: Any = None
    checked: Rows | None = None

    @cached_property
    def _one_set(self) -> Rows | None:
        """The one test set of all classifiers, checked and counted once; None if there are several."""
        if self.checked is not None:
            return self.checked
        first = next(iter(self.parts.values()))[0]
        if any(len(parts) > 1 or parts[0].y_true is not first.y_true for parts in self.parts.values()):
            return None
        answers = {name: parts[0].answer for name, parts in self.parts.items()}
        return Rows(first.y_true, answers, self.pos_label, first.sample_weight)

    def folds(self, name: str) -> list[RocCurve]:
        """Return the ROC curve of each test set of one classifier."""
        if self._one_set is not None:
            return [self._one_set.roc(name, "all")]
        return [self._curve(name, part) for part in self.parts[name]]

    def curves(self) -> list[RocCurve]:
        """Return one ROC curve per classifier; the test examples of all folds are pooled."""
        if self._one_set is not None:
            return [self._one_set.roc(name, "all") for name in self.parts]
        # A fold may hold one class only: leave-one-out.
        return [self._curve(name, _all(parts)) for name, parts in self.parts.items()]

    def _curve(self, name: str, part: Part) -> RocCurve:
        return RocCurve.from_predictions(
            part.y_true, part.answer, pos_label=self.pos_label, sample_weight=part.sample_weight, name=name
        )

    def rows(self) -> Rows:
        """Return the scores of all classifiers for the same examples."""
        if self._one_set is not None:
            return self._one_set
        y_true, answers, weights = self.paired()
        return Rows(y_true, answers, self.pos_label, weights)

    def paired(self) -> tuple[Any, dict[str, Any], Any]:
        """Return labels, answers by name and weights of the same examples in the same order."""
        joined = {name: _joined(parts) for name, parts in self.parts.items()}
        first = next(iter(joined.values()))
        for name, part in joined.items():
            if part.index is not None and first.index is not None and not np.array_equal(part.index, first.index):
                raise InputError(
                    f"`cv_results` must test all classifiers on the same examples, got others for {shown(name)}"
                )
        return first.y_true, {name: part.answer for name, part in joined.items()}, first.sample_weight

    def predictions(self, names: Sequence[str]) -> Predictions:
        """Return some of the classifiers as predictions of the same examples, with their folds if there are several."""
        y_true, answers, weights = Sample({name: self.parts[name] for name in names}, self.pos_label).paired()
        chosen = {name: answers[name] for name in names}
        parts, folds = self.parts[names[0]], None
        if len(parts) > 1:
            order = np.argsort(np.concatenate([part.index for part in parts if part.index is not None]))
            folds = np.repeat(np.arange(len(parts)), [len(part.answer) for part in parts])[order]
        return Predictions(y_true, chosen, pos_label=self.pos_label, sample_weight=weights, folds=folds)


def _all(parts: tuple[Part, ...]) -> Part:
    """Concatenate the test sets of all folds. An example that is tested twice counts twice."""
    if len(parts) == 1:
        return parts[0]
    weights = [part.sample_weight for part in parts]
    return Part(
        np.concatenate([np.asarray(part.y_true) for part in parts]),
        np.concatenate([np.asarray(part.answer) for part in parts]),
        None if weights[0] is None else np.concatenate(weights),
        np.concatenate([part.index for part in parts if part.index is not None]),
    )


def _joined(parts: tuple[Part, ...]) -> Part:
    """Join the test sets of all folds in the order of the data."""
    part = _all(parts)
    index = part.index
    if len(parts) == 1 or index is None:
        return part
    if np.unique(index).size < index.size:
        raise InputError(
            "`cv_results` must test each example once for this display, "
            f"got {index.size} tests of {np.unique(index).size} examples (a repeated cross-validation?)"
        )
    order = np.argsort(index)
    weights = part.sample_weight
    return Part(part.y_true[order], part.answer[order], None if weights is None else weights[order], index[order])


# Where answers come from ------------------------------------------------------------------------------------


def of_predictions(
    y_true: Any, answers: Any, what: str, *, pos_label: Any = None, sample_weight: Any = None, name: Any = None
) -> Sample:
    """Make a sample from `Predictions`, from an array, or from a mapping (or dataframe) of names to arrays."""
    if isinstance(y_true, Predictions):
        return _of_whole(as_predictions(y_true, answers, pos_label=pos_label, sample_weight=sample_weight))
    if answers is None:
        raise InputError(f"`{what}` must be given unless `y_true` is Predictions, got None")
    if isinstance(answers, Mapping) or hasattr(answers, "columns") or hasattr(answers, "column_names"):
        named = _named(columns_of(what, answers), what, name)
    else:
        named = dict(columns_of(what, answers, alone=None if name is None else check_name("name", name)))
    return Sample({n: (Part(y_true, answer, sample_weight),) for n, answer in named.items()}, pos_label)


def _of_whole(predictions: Predictions) -> Sample:
    """Make a sample from predictions, with one part per fold if there are folds."""
    rows, folds = predictions.in_memory(), predictions.folds
    where = [np.flatnonzero(folds == k) for k in range(predictions.n_folds)] if folds is not None else [slice(None)]
    weights = rows.weights
    parts = {
        name: tuple(
            Part(rows.positive[k], scores[k], None if weights is None else weights[k], predictions.index[k])
            for k in where
        )
        for name, scores in rows.scores.items()
    }
    return Sample(parts, checked=rows if folds is None else None)


def of_estimators(
    estimator: Any,
    X: Any,
    y: Any,
    respond: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    name: Any = None,
) -> Sample:
    """Make a sample from a fitted estimator, or from a mapping (or list) of them. `respond` computes the answers."""
    if isinstance(estimator, Mapping):
        named = _named(estimator, "estimator", name)
    elif isinstance(estimator, (list, tuple)):
        check_unique([type(one).__name__ for one in estimator], "estimator")
        named = _named({type(one).__name__: one for one in estimator}, "estimator", name)
    else:
        named = {type(estimator).__name__ if name is None else check_name("name", name): estimator}
    return Sample({n: (Part(y, respond(one, X), sample_weight),) for n, one in named.items()}, pos_label)


def of_cv_results(
    cv_results: Any,
    X: Any,
    y: Any,
    respond: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    name: Any = None,
) -> Sample:
    """Make a sample from the output of `cross_validate`, or from a mapping of names to these outputs."""
    if not isinstance(cv_results, Mapping) or not cv_results:
        raise InputError(
            f"`cv_results` must be what cross_validate returns, got {shown(cv_results)} ({type(cv_results).__name__})"
        )
    if all(isinstance(value, Mapping) for value in cv_results.values()):
        named = _named(cv_results, "cv_results", name)
    else:
        named = {"" if name is None else check_name("name", name): cv_results}
    weights = None if sample_weight is None else counts.checked_weights(sample_weight, _size("y", y))
    parts = {}
    for key, results in named.items():
        estimators, tests = _check_cv(results, X, y)
        parts[key or type(estimators[0]).__name__] = tuple(
            Part(
                rows(y, test),
                respond(one, rows(X, test)),
                None if weights is None else weights[test],
                test,
            )
            for one, test in zip(estimators, tests, strict=True)
        )
    return Sample(parts, pos_label)


def _named(table: Mapping[str, Any], what: str, name: Any) -> dict[str, Any]:
    """Check several classifiers given by name."""
    if name is not None:
        raise InputError(f"`name` must be None if `{what}` has its own names, got {shown(name)}")
    if not table:
        raise InputError(f"`{what}` must not be empty, got 0 classifiers")
    return {check_name(what, key): value for key, value in table.items()}


def _check_cv(results: Mapping[str, Any], X: Any, y: Any) -> tuple[list[Any], list[IntArray]]:
    """Find the estimator and the test rows of each fold."""
    wanted = {"estimator": "return_estimator=True", "indices": "return_indices=True"}
    if missing := [key for key in wanted if key not in results]:
        raise InputError(
            f"`cv_results` must have 'estimator' and 'indices', got no {' and no '.join(map(repr, missing))}: "
            f"pass {' and '.join(wanted[key] for key in missing)} to cross_validate"
        )
    indices = results["indices"]
    if not isinstance(indices, Mapping) or "test" not in indices:
        raise InputError(f"`cv_results['indices']` must have the rows of 'test', got {shown(indices)}")
    estimators, tests = list(results["estimator"]), [np.asarray(test) for test in indices["test"]]
    if len(estimators) != len(tests) or not tests:
        raise InputError(f"`cv_results` must have one estimator per fold, got {len(estimators)} for {len(tests)} folds")
    for what, data in (("X", X), ("y", y)):
        size = _size(what, data)
        trained = [np.asarray(train) for train in indices.get("train", ())]
        needs = 1 + max(int(rows.max()) for rows in [*tests, *trained] if rows.size)
        if size < needs:
            raise InputError(f"`{what}` must be the data that was cross-validated, with {needs} rows, got {size}")
    return estimators, tests


def _size(what: str, data: Any) -> int:
    """The number of rows, also of a sparse matrix, which has no length."""
    if isinstance(data, (str, bytes, Mapping, Set)) or not getattr(data, "shape", hasattr(data, "__len__")):
        raise InputError(f"`{what}` must be the data that was cross-validated, got {shown(data)}")
    return int(data.shape[0] if hasattr(data, "shape") else len(data))


def rows(data: Any, index: IntArray) -> Any:
    """Select some rows of an array, a sparse matrix, a list or a dataframe."""
    if hasattr(data, "iloc"):
        return data.iloc[index]
    if hasattr(data, "take") and hasattr(data, "column_names"):
        return data.take(index)
    return np.asarray(data)[index] if isinstance(data, (list, tuple)) else data[index]


# What estimators answer -------------------------------------------------------------------------------------


def check_fitted(estimator: Any) -> Any:
    """Check that an estimator has been fitted, and return it."""
    validation, exceptions = needed("sklearn.utils.validation", "sklearn"), needed("sklearn.exceptions", "sklearn")
    if isinstance(estimator, type):
        raise InputError(f"`estimator` must be fitted, got the class {estimator.__name__}: make and fit one")
    if not hasattr(estimator, "fit"):
        raise InputError(f"`estimator` must be an estimator, got {shown(estimator)} ({type(estimator).__name__})")
    try:
        validation.check_is_fitted(estimator)
    except exceptions.NotFittedError:
        raise exceptions.NotFittedError(
            f"`estimator` must be fitted, got {type(estimator).__name__} before fit: call fit(X, y) first"
        ) from None
    return estimator


def scores(estimator: Any, X: Any, *, pos_label: Any = None, response_method: str = "auto") -> Any:
    """Compute scores for the positive class, by its probability or by the decision function with the right sign."""
    check_choice("response_method", response_method, ("auto", *RESPONSES))
    kind = type(check_fitted(estimator)).__name__
    wanted = RESPONSES if response_method == "auto" else (response_method,)
    method = next((one for one in wanted if hasattr(estimator, one)), None)
    if method is None:
        there = [one for one in RESPONSES if hasattr(estimator, one)]
        has = f"which has only {there[0]}" if there else "which has neither" if len(wanted) > 1 else "which does not"
        raise InputError(f"`estimator` must have {' or '.join(wanted)} to give scores, got {kind}, {has}")
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        raise InputError(f"`estimator` must be a classifier with `classes_`, got {kind}")
    if len(classes) != 2:
        raise InputError(
            f"`estimator` must have two classes for this display, got {kind} with {len(classes)}: "
            "for three classes see PriorSimplexDisplay"
        )
    positive = binary_labels(classes, pos_label)
    answer = np.asarray(getattr(estimator, method)(X))
    if method == "predict_proba":
        return answer[:, int(np.flatnonzero(positive)[0])]
    return answer if positive[1] else -answer


def labels(estimator: Any, X: Any) -> Any:
    """Let an estimator predict labels."""
    if not hasattr(check_fitted(estimator), "predict"):
        raise InputError(f"`estimator` must have predict, got {type(estimator).__name__}, which does not")
    return estimator.predict(X)
