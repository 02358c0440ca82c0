"""`Predictions`: labels and several classifiers' scores of the same examples, and every question about them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError, UnsupportedError
from costcurves._base.results import Result, jsonable
from costcurves._base.validation import (
    BoolArray,
    FloatArray,
    IntArray,
    check_choice,
    check_flag,
    check_level,
    frozen,
    shown,
)
from costcurves.conditions.condition import check_condition, check_range
from costcurves.counting.folds import FoldCounts
from costcurves.curves.chance import one_question
from costcurves.curves.cost_averages import average_cost_curves
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.hull import RocHull
from costcurves.curves.roc import RocCurve
from costcurves.curves.roc_averages import AveragedRoc, average_roc_curves
from costcurves.curves.thresholds import as_policy, validation
from costcurves.data.frame_source import open_source
from costcurves.decisions.average_band import average_band
from costcurves.decisions.compare import compare_in
from costcurves.decisions.compare_many import ManyDifferences, compare_many_in
from costcurves.decisions.contest import Entrants
from costcurves.decisions.curve_difference import CurveDifference
from costcurves.decisions.recommend import Recommendation, recommend_here
from costcurves.decisions.recommend_within import RangeRecommendation, recommend_over
from costcurves.decisions.rows import Rows, Source, curve_in, refuse_cross_fitting
from costcurves.inference.bands.results import Band


class Predictions(Result):
    """Labels and the scores of several classifiers for the same examples, checked once; curves are kept.

    Every question can be asked of it: curves, the hull, comparisons, recommendations, a report. `evaluate` makes
    predictions of estimators and cross-validations, `scan` of files and databases, `from_frame` of dataframes.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    scores : mapping of name to array-like of shape (n,), or dataframe
        The scores of each classifier, higher for the positive class.
    pos_label, sample_weight
        As for `RocCurve.from_predictions`.
    folds : array-like of shape (n,), optional
        The fold in which each example was tested, for the questions about folds and for ``policy="crossfit"``.

    Attributes
    ----------
    names : tuple of str
        The classifiers.
    y_true : array of bool, shape (n,)
        Which examples are positive.
    scores : dict of name to array of shape (n,)
    sample_weight : array of shape (n,), or None
    folds : array of int, shape (n,), or None
        The fold of each example, from 0 on.
    index : array of int, shape (n,)
        Where each example stands in the data that was given.
    pos_label : label
        What the positive class is called; None if nobody said so.

    Examples
    --------
    >>> import costcurves as cc
    >>> scores = {"a": [0.1, 0.4, 0.35, 0.8, 0.2, 0.7], "b": [0.3, 0.2, 0.6, 0.4, 0.5, 0.1]}
    >>> predictions = cc.Predictions([0, 0, 1, 1, 0, 1], scores)
    >>> predictions
    Predictions: 6 examples (3 positive)
      'a'  auc 0.889, area under the cost curve 0.083
      'b'  auc 0.556, area under the cost curve 0.194
    >>> predictions.hull()
    RocHull(4 vertices from 1 of 2 classifiers: 'a'; dropped: 'b')
    >>> predictions.recommend(cc.OperatingCondition(prevalence=0.5, cost_fp=1, cost_fn=1)).best
    Choice(a at score >= 0.35: fpr=0.333, tpr=1, cost 0.1667)
    """

    _points = "all"  # which points of a ROC curve are found unless somebody says so

    def __init__(
        self, y_true: Any, scores: Any, *, pos_label: Any = None, sample_weight: Any = None, folds: Any = None
    ) -> None:
        self._start(Rows(y_true, scores, pos_label, sample_weight), pos_label, folds)

    def _start(self, source: Source, pos_label: Any = None, folds: Any = None, index: IntArray | None = None) -> None:
        self._source, self.names = source, source.names
        self.pos_label = pos_label.item() if isinstance(pos_label, np.generic) else pos_label
        self.folds = None if folds is None else _fold_numbers(folds, self.y_true.size)
        if self.folds is not None:
            source.rows().folds = self.folds
        self._index = index
        self._entrants: tuple[Any, Entrants] | None = None

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        label: str,
        scores: Sequence[str],
        weight: str | None = None,
        pos_label: Any = None,
        on_null: str = "refuse",
    ) -> Predictions:
        """Return the predictions in columns of a dataframe of any library; what is not in memory is read in passes.

        Parameters
        ----------
        frame, label, weight, pos_label, on_null
            As for `RocCurve.from_frame`.
        scores : sequence of str
            The columns of scores, one per classifier.

        Examples
        --------
        >>> import costcurves as cc
        >>> import pandas as pd
        >>> df = pd.DataFrame({"y": [0, 1, 0, 1], "p": [0.1, 0.35, 0.4, 0.8], "q": [0.3, 0.2, 0.1, 0.9]})
        >>> cc.Predictions.from_frame(df, label="y", scores=["p", "q"]).names
        ('p', 'q')
        """
        opened = open_source(
            frame, label=label, scores={"scores": scores}, weight=weight, pos_label=pos_label, on_null=on_null
        )
        made = cls.__new__(cls)
        made._start(opened.source, pos_label)
        made._asked = opened.asked  # type: ignore[method-assign]
        return made

    @contextmanager
    def _asked(self) -> Iterator[None]:
        """Say errors in the words of where the predictions come from."""
        yield

    def in_memory(self) -> Rows:
        """Return the examples in memory; files and lazy dataframes are read once."""
        with self._asked():
            return self._source.rows()

    # The examples themselves ------------------------------------------------------------------------------------

    @property
    def y_true(self) -> BoolArray:
        """Which examples are positive."""
        return frozen(self.in_memory().positive)

    @property
    def scores(self) -> dict[str, npt.NDArray[Any]]:
        """The scores by classifier."""
        return dict(self.in_memory().scores)

    @property
    def sample_weight(self) -> FloatArray | None:
        """The weights of the examples."""
        return self.in_memory().weights

    @property
    def index(self) -> IntArray:
        """Where each example stands in the data."""
        return np.arange(self.y_true.size) if self._index is None else self._index

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return int(self._folds().max()) + 1

    def score(self, name: str) -> npt.NDArray[Any]:
        """Return the scores of one classifier."""
        scores: npt.NDArray[Any] = self.in_memory().scores[self._one(name)]
        return scores

    # Curves -----------------------------------------------------------------------------------------------------

    def roc_curve(self, name: str, *, points: str | None = None) -> RocCurve:
        """Return the ROC curve of one classifier.

        Parameters
        ----------
        name : str
        points : {"all", "hull"}, optional
            ``"hull"`` keeps the vertices of the ROC convex hull only, which is the default for data in files.
        """
        curve: RocCurve = self._asked_for_curves(points)[self._one(name)]
        return curve

    def roc_curves(self, *, points: str | None = None) -> dict[Any, Any]:
        """Return the ROC curve of every classifier by name; `points` as for `roc_curve`."""
        return self._asked_for_curves(points)

    def _asked_for_curves(self, points: str | None) -> dict[Any, Any]:
        wanted = self._points if points is None else check_choice("points", points, ("all", "hull"))
        with self._asked(), one_question():
            return {name: self._source.roc(name, wanted) for name in self.names}

    def curve(self, name: str, *, policy: Any = "optimal") -> CostCurve:
        """Return the cost curve of one classifier.

        Parameters
        ----------
        name : str
        policy : policy
            How the threshold follows pc, as for `CostCurve`. With ``"crossfit"`` no example is judged at a threshold
            that its own fold has chosen; the folds are those of the predictions, if they have any.
        """
        with self._asked(), one_question():
            return curve_in(self._source, self._one(name), policy)

    def curves(self, *, policy: Any = "optimal") -> dict[Any, Any]:
        """Return the cost curve of every classifier by name; `policy` as for `curve`."""
        rule = as_policy(policy)
        with self._asked(), one_question():
            return {name: curve_in(self._source, name, rule) for name in self.names}

    def hull(self) -> RocHull:
        """Return the ROC convex hull: who can be best at all, and the decision at each condition."""
        return RocHull(list(self._asked_for_curves(None).values()))

    # Comparisons and recommendations ----------------------------------------------------------------------------

    def compare(self, a: str, b: str, **options: Any) -> CurveDifference:
        """Return the difference of two classifiers' costs at every condition; options as for `compare`."""
        if a == b:
            raise InputError(f"`a` and `b` must be two classifiers, got {shown(a)} twice")
        with self._asked(), one_question():
            return compare_in(self._source, self._one(a), self._one(b), **options)

    def compare_many(self, **options: Any) -> ManyDifferences:
        """Return all pairs of classifiers with limits that hold jointly; options as for `compare_many`."""
        with self._asked(), one_question():
            return compare_many_in(self._source, **options)

    def recommend(
        self, condition: Any, *, policy: Any = "optimal", level: float = 0.95, given_choice: bool = False
    ) -> Recommendation:
        """Return which classifier to use at a condition, at which threshold, and how sure that is; see `recommend`."""
        where, level = check_condition(condition), check_level(level)
        taken = check_flag("given_choice", given_choice)
        with self._asked(), one_question():
            return recommend_here(self._judged(policy), where, level, given_choice=taken)

    def recommend_within(
        self, over: Any, *, policy: Any = "optimal", level: float = 0.95, given_choice: bool = False
    ) -> RangeRecommendation:
        """Return what to use when the condition is only known as a range; see `recommend_within`."""
        span, level = check_range(over), check_level(level)
        taken = check_flag("given_choice", given_choice)
        with self._asked(), one_question():
            return recommend_over(self._judged(policy), span, level, given_choice=taken)

    def _judged(self, policy: Any) -> Entrants:
        """Return the classifiers as they compete under a policy; the last ones are kept."""
        refuse_cross_fitting(policy)
        if self._entrants is None or self._entrants[0] is not policy:
            self._entrants = policy, Entrants(self._source.rows(), policy)
        return self._entrants[1]

    def report(self, **options: Any) -> Any:
        """Return the interactive report; options as for `Report.from_predictions`, such as `scenarios`."""
        # The report stands above the data and uses them, so it is called by its name.
        return importlib.import_module("costcurves.report.document").Report.from_predictions(self, **options)

    # Folds ------------------------------------------------------------------------------------------------------

    def fold_roc_curves(self, name: str) -> tuple[RocCurve, ...]:
        """Return the ROC curve of each fold of one classifier.

        Examples
        --------
        >>> import costcurves as cc
        >>> predictions = cc.Predictions([0, 0, 1, 1], {"a": [0.1, 0.4, 0.35, 0.8]}, folds=[0, 1, 0, 1])
        >>> [curve.auc() for curve in predictions.fold_roc_curves("a")]
        [1.0, 1.0]
        """
        table = self._in_folds(self._one(name))
        return tuple(_roc(table, k, f"{name}, fold {k}") for k in range(self.n_folds))

    def fold_curves(self, name: str, *, policy: Any = "optimal") -> tuple[CostCurve, ...]:
        """Return the cost curve of each fold of one classifier.

        Parameters
        ----------
        name : str
        policy : policy
            As for `CostCurve`; ``"crossfit"`` takes, at each condition, the threshold that is best on the other folds,
            so that no fold chooses the threshold it is judged by.
        """
        if not as_policy(policy).cross_fits:
            return tuple(CostCurve(roc, policy) for roc in self.fold_roc_curves(name))
        table = self._in_folds(name)
        if self.n_folds < 2:
            raise UnsupportedError("`policy='crossfit'` needs two folds or more, got 1")
        return tuple(
            CostCurve(
                _roc(table, k, f"{name}, fold {k}"), validation(_roc(table, k, f"{name}, but fold {k}", others=True))
            )
            for k in range(self.n_folds)
        )

    def averaged_curve(self, name: str, *, policy: Any = "optimal") -> CostCurve:
        """Return the mean cost over folds at every condition; parameters as for `fold_curves`."""
        return average_cost_curves(self.fold_curves(name, policy=policy), name=name)

    def averaged_roc(self, name: str, *, n_points: int = 100, level: float = 0.95) -> AveragedRoc:
        """Return the vertical average of the folds' ROC curves, as the 1998 study does."""
        return average_roc_curves(self.fold_roc_curves(name), n_points=n_points, level=level, name=name)

    def average_band(self, name: str, *, policy: Any = "optimal", **options: Any) -> Band:
        """Return a band for the mean cost over folds; options as for `average_band`."""
        return average_band(self.fold_curves(name, policy=policy), **options)

    def _folds(self) -> IntArray:
        if self.folds is None:
            raise UnsupportedError("questions about folds need predictions with `folds`, got none")
        return self.folds

    def _in_folds(self, name: str) -> FoldCounts:
        """Return the counts of one classifier's examples by fold."""
        rows = self.in_memory()
        return FoldCounts.of_cases(rows.positive, rows.scores[name], rows.weights, self._folds(), self.n_folds)

    # As a result ------------------------------------------------------------------------------------------------

    def _one(self, name: str) -> str:
        if name not in self.names:
            raise InputError(f"the classifier must be one of {', '.join(self.names)}, got {shown(name)}")
        return name

    def to_dict(self) -> dict[str, Any]:
        """Return the predictions as plain Python values, scores included."""
        listed = ("names", "y_true", "folds", "index", "sample_weight", "pos_label", "scores")
        return {name: jsonable(getattr(self, name)) for name in listed}

    def _columns(self) -> dict[str, Any]:
        rows, k = self.in_memory(), len(self.names)
        columns: dict[str, Any] = {
            "name": [name for name in self.names for _ in range(rows.positive.size)],
            "row": np.tile(self.index, k),
            **({} if self.folds is None else {"fold": np.tile(self.folds, k)}),
            "y_true": np.tile(rows.positive, k),
            "score": np.concatenate([rows.scores[name] for name in self.names]),
        }
        if rows.weights is not None:
            columns["sample_weight"] = np.tile(rows.weights, k)
        return columns

    def __repr__(self) -> str:
        """Return the sizes and, for each classifier, two areas."""
        size = f"{self.y_true.size} examples ({int(self.y_true.sum())} positive)"
        if self.folds is not None:
            size += f" in {self.n_folds} fold{'s' if self.n_folds > 1 else ''}"
        wide = max(len(repr(name)) for name in self.names)
        lines = [
            f"  {name!r:<{wide}}  auc {roc.auc():.3f}, area under the cost curve {CostCurve(roc).area():.3f}"
            for name, roc in self.roc_curves(points="all").items()
        ]
        return "\n".join([f"Predictions: {size}", *lines])


def as_predictions(y_true: Any, scores: Any, *, pos_label: Any = None, sample_weight: Any = None) -> Predictions:
    """Return predictions, given as such or as labels and scores."""
    if not isinstance(y_true, Predictions):
        if scores is None:
            raise InputError(f"`scores` must be given unless `y_true` is Predictions, got None and {shown(y_true)}")
        return Predictions(y_true, scores, pos_label=pos_label, sample_weight=sample_weight)
    for name, value in (("scores", scores), ("pos_label", pos_label), ("sample_weight", sample_weight)):
        if value is not None:
            raise InputError(f"`{name}` must be None where `y_true` is Predictions, which have it, got {shown(value)}")
    return y_true


def _roc(table: FoldCounts, k: int, title: str, *, others: bool = False) -> RocCurve:
    """Return the ROC curve of one fold, or of all others."""
    counted, effective = table.part(k, others=others)
    if not (counted.fp[-1] and counted.tp[-1]):
        raise DataError(f"`folds` must have both classes in every fold, got one class in {shown(title)}")
    return RocCurve._from_counts(counted, name=title, effective=effective, complete=True)


def _fold_numbers(folds: Any, size: int) -> IntArray:
    """Return folds as numbers from 0 on."""
    values = np.asarray(folds)
    if values.shape != (size,):
        raise InputError(f"`folds` must have one entry per example, shape ({size},), got {values.shape}")
    return frozen(np.unique(values, return_inverse=True)[1].astype(np.int64))


def tested_predictions(
    labels: npt.NDArray[Any],
    pos_label: Any,
    tested: IntArray,
    folds: IntArray,
    scores: Mapping[str, FloatArray],
    sample_weight: FloatArray | None,
) -> Predictions:
    """Return the predictions for the rows that were tested, put in the order of the data."""
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
