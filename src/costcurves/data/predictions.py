"""`Predictions`: labels and the scores of several classifiers for the same examples."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError, UnsupportedError
from costcurves._base.frames import AnyFrame, NamedColumns
from costcurves._base.results import Result, jsonable
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    BoolArray,
    Column,
    FloatArray,
    IntArray,
    OnNull,
    Rng,
    check_choice,
    check_flag,
    check_level,
    frozen,
    is_among,
    shown,
)
from costcurves.conditions.condition import ConditionLike, check_condition
from costcurves.conditions.range import RangeLike, check_range
from costcurves.counting.class_labels import Label
from costcurves.counting.folds import FoldCounts, fold_numbers
from costcurves.curves.averages import AveragedRoc, average_cost_curves, average_roc_curves
from costcurves.curves.chance import one_question
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.hull import RocHull
from costcurves.curves.roc import RocCurve
from costcurves.curves.threshold_sets import ThresholdSet
from costcurves.curves.thresholds import NamedPolicies, PolicyLike, as_policy, validation
from costcurves.data.checks import Findings, check_rows
from costcurves.data.frame_source import open_source
from costcurves.decisions.average_band import average_band
from costcurves.decisions.compare import compare_in
from costcurves.decisions.compare_many import ManyDifferences, compare_many_in
from costcurves.decisions.curve_difference import CurveDifference
from costcurves.decisions.ensembles import Ensemble, select_in
from costcurves.decisions.entrants import Entrants
from costcurves.decisions.promise import check_promise
from costcurves.decisions.promise_check import PromiseCheck
from costcurves.decisions.recommend import Recommendation, recommend_here
from costcurves.decisions.recommend_within import RangeRecommendation, recommend_over
from costcurves.decisions.rows import Rows, Source, curve_in, refuse_cross_fitting
from costcurves.decisions.significant_dominance import DominanceTest, dominance_in
from costcurves.inference.bands.results import Band


class Predictions(Result):
    """Labels and the scores of several classifiers for the same examples.

    Its methods give curves, the hull, comparisons, recommendations and a report. Labels and scores are checked once,
    and curves are kept. `evaluate` makes predictions from estimators and cross-validations, `scan` from files and
    databases, and `from_frame` from dataframes.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    scores : mapping of name to array-like of shape (n,), or dataframe
        The scores of each classifier, higher for the positive class.
    pos_label, sample_weight
        As for `RocCurve.from_predictions`.
    folds : array-like of shape (n,), optional
        The fold in which each example was tested, for methods that use folds and for ``policy="crossfit"``.

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
        The position of each example in the given data.
    pos_label : label
        The label of the positive class, or None if it was not given.

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
    RocHull(4 vertices from 1 of 2 classifiers: 'a'; never best: 'b')
    >>> predictions.recommend(cc.OperatingCondition(prevalence=0.5, cost_fp=1, cost_fn=2)).best
    Choice(a at score >= 0.3: fpr=0.333, tpr=1, cost 0.1667)
    """

    names: tuple[str, ...]
    pos_label: Any
    folds: IntArray | None
    _source: Source
    _index: IntArray | None
    _entrants: tuple[Any, Entrants] | None
    _points = "all"  # which points of a ROC curve are found unless somebody says so

    def __init__(
        self,
        y_true: Column,
        scores: NamedColumns,
        *,
        pos_label: Label | None = None,
        sample_weight: npt.ArrayLike | None = None,
        folds: npt.ArrayLike | None = None,
    ) -> None:
        self._start(Rows(y_true, scores, pos_label, sample_weight).owned(), pos_label, folds)

    def _start(self, source: Source, pos_label: Any = None, folds: Any = None, index: IntArray | None = None) -> None:
        self._set(_source=source, names=source.names, _index=index, _entrants=None)
        self._set(pos_label=pos_label.item() if isinstance(pos_label, np.generic) else pos_label)
        self._set(folds=None if folds is None else fold_numbers(folds, self.y_true.size))
        if self.folds is not None:
            source.rows().folds = self.folds

    def _set(self, **values: Any) -> None:
        vars(self).update(values)

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    @classmethod
    def from_frame(
        cls,
        frame: AnyFrame,
        *,
        label: str,
        scores: Sequence[str],
        weight: str | None = None,
        folds: str | None = None,
        pos_label: Label | None = None,
        on_null: OnNull = "refuse",
    ) -> Predictions:
        """Take predictions from the columns of a dataframe of any library. Lazy frames are read in passes.

        Parameters
        ----------
        frame, label, weight, pos_label, on_null
            As for `RocCurve.from_frame`.
        scores : sequence of str
            The columns of scores, one per classifier.
        folds : str, optional
            The column of folds, in which each example was tested. A lazy frame with folds is read into memory.

        Examples
        --------
        >>> import costcurves as cc
        >>> import pandas as pd
        >>> df = pd.DataFrame({"y": [0, 1, 0, 1], "p": [0.1, 0.35, 0.4, 0.8], "q": [0.3, 0.2, 0.1, 0.9]})
        >>> cc.Predictions.from_frame(df, label="y", scores=["p", "q"]).names
        ('p', 'q')
        """
        named: Any = {"label": label, "scores": {"scores": scores}, "weight": weight, "folds": folds}
        opened = open_source(frame, **named, pos_label=pos_label, on_null=on_null)
        made = cls.__new__(cls)
        made._start(opened.source, pos_label, opened.folds)
        made._set(_asked=opened.asked)
        return made

    @contextmanager
    def _asked(self) -> Iterator[None]:
        """Translate errors into the terms of the source of the predictions."""
        yield

    def in_memory(self) -> Rows:
        """Return the examples in memory. Files and lazy dataframes are read once."""
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
        return {name: frozen(values.view()) for name, values in self.in_memory().scores.items()}

    @property
    def sample_weight(self) -> FloatArray | None:
        """The weights of the examples."""
        weights = self.in_memory().weights
        return None if weights is None else frozen(weights.view())

    @property
    def index(self) -> IntArray:
        """Where each example stands in the data."""
        return frozen(np.arange(self.y_true.size)) if self._index is None else self._index

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return int(self._folds().max()) + 1

    def score(self, name: str) -> npt.NDArray[Any]:
        """The scores of one classifier."""
        scores: npt.NDArray[Any] = self.in_memory().scores[self._one(name)]
        return scores

    # Curves -----------------------------------------------------------------------------------------------------

    def roc_curve(self, name: str, *, points: str | None = None) -> RocCurve:
        """The ROC curve of one classifier.

        Parameters
        ----------
        name : str
        points : {"all", "hull"}, optional
            ``"hull"`` keeps only the vertices of the ROC convex hull, which is the default for data in files.
        """
        with self._asked(), one_question():
            return self._source.roc(self._one(name), self._wanted(points))

    def roc_curves(self, *, points: str | None = None) -> dict[Any, Any]:
        """The ROC curves of all classifiers by name. `points` is as for `roc_curve`."""
        return self._asked_for_curves(points)

    def _asked_for_curves(self, points: str | None) -> dict[Any, Any]:
        wanted = self._wanted(points)
        with self._asked(), one_question():
            return {name: self._source.roc(name, wanted) for name in self.names}

    def _wanted(self, points: str | None) -> str:
        return self._points if points is None else check_choice("points", points, ("all", "hull"))

    def curve(self, name: str, *, policy: PolicyLike = "optimal") -> CostCurve:
        """The cost curve of one classifier.

        Parameters
        ----------
        name : str
        policy : policy
            The rule for the threshold at each pc, as for `CostCurve`. With ``"crossfit"``, no example is judged at a
            threshold that its own fold has chosen. The folds are those of the predictions, if they have any.

        Notes
        -----
        With the best thresholds, the curve of more than 65,536 examples, or of weighted or binned ones in files, has
        only the points of its hull. Its band treats the cases between two of them as if they all had different scores.
        """
        with self._asked(), one_question():
            return curve_in(self._source, self._one(name), policy)

    def curves(self, *, policy: PolicyLike = "optimal") -> dict[Any, Any]:
        """The cost curves of all classifiers by name. `policy` is as for `curve`."""
        rule = as_policy(policy)
        with self._asked(), one_question():
            return {name: curve_in(self._source, name, rule) for name in self.names}

    def threshold_set(self, name: str, condition: ConditionLike, *, level: float = DEFAULT_LEVEL) -> ThresholdSet:
        """Return the thresholds of one classifier that may be the best ones; see `CostCurve.threshold_set`."""
        return CostCurve(self.roc_curve(name, points="all")).threshold_set(condition, level=level)

    def hull(self) -> RocHull:
        """The ROC convex hull: which classifiers can be best at all, and the decision at each condition."""
        with self._asked(), one_question():
            points = "all" if self._points == "all" or self._source.few() else "hull"
            return RocHull([self._source.roc(name, points) for name in self.names])

    # Comparisons and recommendations ----------------------------------------------------------------------------

    def compare(self, a: str, b: str, **options: Any) -> CurveDifference:
        """Compare the costs of two classifiers at every condition. The options are those of `compare`."""
        with self._asked(), one_question():
            if self._one(a) == self._one(b):
                raise InputError(f"`a` and `b` must be two classifiers, got {shown(a)} twice")
            return compare_in(self._source, a, b, **options)

    def compare_many(self, **options: Any) -> ManyDifferences:
        """Compare all pairs of classifiers with limits that hold jointly. The options are those of `compare_many`."""
        with self._asked(), one_question():
            return compare_many_in(self._source, **options)

    def significant_dominance(self, **options: Any) -> DominanceTest:
        """Test which classifiers are significantly better than others; options as for `significant_dominance`."""
        return dominance_in(self.in_memory(), self.folds, **options)

    def select(self, number: int, *, over: Any = None, n_folds: int = 5, rng: Rng = 0) -> Ensemble:
        """Choose the few classifiers whose hull costs least over a range, judged on other folds; see `Ensemble`."""
        rows = self.in_memory()
        return select_in(rows, number, over=over, folds=n_folds if rows.folds is None else rows.folds, rng=rng)

    def recommend(
        self,
        condition: ConditionLike,
        *,
        policy: NamedPolicies = "optimal",
        level: float = DEFAULT_LEVEL,
        given_choice: bool = False,
    ) -> Recommendation:
        """Recommend a classifier and a threshold at a condition, with the certainty of that choice. See `recommend`."""
        where, level = check_condition(condition), check_level(level)
        taken = check_flag("given_choice", given_choice)
        with self._asked(), one_question():
            return recommend_here(self._judged(policy), where, level, given_choice=taken)

    def recommend_within(
        self,
        over: RangeLike,
        *,
        policy: NamedPolicies = "optimal",
        level: float = DEFAULT_LEVEL,
        given_choice: bool = False,
    ) -> RangeRecommendation:
        """Recommend what to use if the condition is known only as a range. See `recommend_within`."""
        span, level = check_range(over), check_level(level)
        taken = check_flag("given_choice", given_choice)
        with self._asked(), one_question():
            self._source.rows().with_all_points()
            return recommend_over(self._judged(policy), span, level, given_choice=taken)

    def check(self, columns: Any = None) -> Findings:
        """Return what may be wrong with these predictions, and what to do about it.

        Scores may be reversed, suspiciously perfect, tied or not calibrated. Rows may be copies or depend on each
        other, and a class may have too few of them. Columns may be identifiers or weights instead of scores.

        Parameters
        ----------
        columns : mapping of name to array-like of shape (n,), or dataframe, optional
            Other columns of the same rows, such as patient numbers. Rows are copies only if they agree in these too,
            and rows with the same identifier may depend on each other.

        Notes
        -----
        Errors and warnings that follow from a statistical test are false alarms with a probability of at most about 1
        in 10,000.

        Examples
        --------
        >>> import costcurves as cc
        >>> y = [0] * 60 + [1] * 60
        >>> scores = [(7 * i) % 50 + 20 * label for i, label in enumerate(y)]
        >>> cc.Predictions(y, {"a": scores}).check({"patient": [i // 30 for i in range(120)]})
        Findings: 1 in 10 checks
          warning: Rows with the same 'patient' resemble each other: 120 rows have 4 values of it, and
            errors may vary as if there were only 4 independent rows.
        """
        return check_rows(self.in_memory(), columns)

    def check_promise(self, promise: Any, **options: Any) -> PromiseCheck:
        """Return whether these cases agree with what was promised before; options as for `check_promise`."""
        rows = self.in_memory()
        return check_promise(promise, rows.positive, rows.scores, sample_weight=rows.weights, **options)

    def _judged(self, policy: Any) -> Entrants:
        """Return the classifiers as they compete under a policy; the last ones are kept."""
        refuse_cross_fitting(policy)
        if self._entrants is not None and self._entrants[0] is policy:
            return self._entrants[1]
        judged = Entrants(self._source.rows(), policy)
        self._set(_entrants=(policy, judged))
        return judged

    def report(self, **options: Any) -> Any:
        """Make the interactive report. The options, such as `scenarios`, are those of `Report.from_predictions`."""
        # The report package comes later and uses this one, so it is imported by name.
        return importlib.import_module("costcurves.report.document").Report.from_predictions(self, **options)

    # Folds ------------------------------------------------------------------------------------------------------

    def fold_roc_curves(self, name: str) -> tuple[RocCurve, ...]:
        """The ROC curves of one classifier, one per fold.

        Examples
        --------
        >>> import costcurves as cc
        >>> predictions = cc.Predictions([0, 0, 1, 1], {"a": [0.1, 0.4, 0.35, 0.8]}, folds=[0, 1, 0, 1])
        >>> [curve.auc() for curve in predictions.fold_roc_curves("a")]
        [1.0, 1.0]
        """
        table = self._in_folds(name)
        return tuple(_roc(table, k, f"{name}, fold {k}") for k in range(self.n_folds))

    def fold_curves(self, name: str, *, policy: PolicyLike = "optimal") -> tuple[CostCurve, ...]:
        """The cost curves of one classifier, one per fold.

        Parameters
        ----------
        name : str
        policy : policy
            As for `CostCurve`. With ``"crossfit"``, each fold uses, at each condition, the threshold that is best on
            the other folds, so that no fold is evaluated at a threshold chosen on it.
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

    def averaged_curve(self, name: str, *, policy: PolicyLike = "optimal") -> CostCurve:
        """The mean cost over folds at every condition. The parameters are those of `fold_curves`."""
        return average_cost_curves(self.fold_curves(name, policy=policy), name=name)

    def averaged_roc(self, name: str, **options: Any) -> AveragedRoc:
        """The average of the folds' ROC curves, by default vertical. The options are those of `average_roc_curves`."""
        return average_roc_curves(self.fold_roc_curves(name), name=name, **options)

    def average_band(self, name: str, *, policy: PolicyLike = "crossfit", **options: Any) -> Band:
        """A band for the mean cost over folds, by default at the thresholds that are best on the other folds.

        Options are those of `average_band`; thresholds that a fold chose itself need ``given_choice=True``.
        """
        if as_policy(policy).cross_fits and options.get("kind", "both") == "both":
            options = {"together": self.curve(name, policy="crossfit"), **options}
        return average_band(self.fold_curves(name, policy=policy), **options)

    def _folds(self) -> IntArray:
        if self.folds is None:
            raise UnsupportedError("methods that use folds need predictions with `folds`, got none")
        return self.folds

    def _in_folds(self, name: str) -> FoldCounts:
        """Return the counts of one classifier's examples by fold."""
        rows, scores = self.in_memory(), self.score(name)
        return FoldCounts.of_cases(rows.positive, scores, rows.weights, self._folds(), self.n_folds)

    # As a result ------------------------------------------------------------------------------------------------

    def _one(self, name: str) -> str:
        if not is_among(name, self.names):
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
    """Convert labels and scores to predictions, unless they already are."""
    if not isinstance(y_true, Predictions):
        if scores is None:
            raise InputError(f"`scores` must be given unless `y_true` is Predictions, got None and {shown(y_true)}")
        return Predictions(y_true, scores, pos_label=pos_label, sample_weight=sample_weight)
    for name, value in (("scores", scores), ("pos_label", pos_label), ("sample_weight", sample_weight)):
        if value is not None:
            raise InputError(f"`{name}` must be None if `y_true` is Predictions, which contains it, got {shown(value)}")
    return y_true


def _roc(table: FoldCounts, k: int, title: str, *, others: bool = False) -> RocCurve:
    """Return the ROC curve of one fold, or of all others."""
    counted, effective = table.part(k, others=others)
    if not (counted.fp[-1] and counted.tp[-1]):
        raise DataError(f"`folds` must have both classes in every fold, got one class in {shown(title)}")
    return RocCurve._from_counts(counted, name=title, effective=effective, complete=True)
