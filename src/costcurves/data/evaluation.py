"""Several classifiers on the same out-of-fold examples: scores, folds, and the curves and comparisons made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError, UnsupportedError
from costcurves._base.results import Result, jsonable
from costcurves._base.validation import BoolArray, FloatArray, IntArray, frozen, shown
from costcurves.curves.chance import no_question
from costcurves.curves.cost_curve import CostCurve, average_cost_curves
from costcurves.curves.hull import RocHull
from costcurves.curves.roc import AveragedRoc, RocCurve, average_roc_curves
from costcurves.curves.thresholds import validation
from costcurves.decisions.comparison import CurveDifference, ManyDifferences, average_band, compare, compare_many
from costcurves.inference.bands.results import Band


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluation(Result):
    """Out-of-fold scores of several classifiers, and the curves of each fold, pooled and averaged; see `evaluate`.

    Displays of scores draw it (``CostCurveDisplay.from_evaluation(result)``); a report of it is
    ``Report.from_predictions(result.y_true, result.scores)``.

    Attributes
    ----------
    names : tuple of str
        The classifiers, in the order given.
    y_true : array of bool, shape (n,)
        Which examples are positive.
    folds : array of int, shape (n,)
        The fold in which each example was tested.
    rows : array of int, shape (n,)
        Where each example stands in the data.
    scores : dict of name to array of shape (n,)
        Scores from models that had not seen the example.
    sample_weight : array of shape (n,), or None
    pos_label : label
        What the positive class is called.

    Examples
    --------
    >>> import costcurves as cc
    >>> scores = {"a": [0.1, 0.4, 0.35, 0.8, 0.2, 0.7], "b": [0.3, 0.2, 0.6, 0.4, 0.5, 0.1]}
    >>> result = cc.evaluate(scores, None, [0, 0, 1, 1, 0, 1], cv=3)
    >>> result
    Evaluation: 6 examples (3 positive) in 3 folds
      'a'  auc 0.889, area under the cost curve 0.083
      'b'  auc 0.556, area under the cost curve 0.194
    >>> result.hull()
    RocHull(4 vertices from 1 of 2 classifiers: 'a'; dropped: 'b')
    """

    names: tuple[str, ...]
    y_true: BoolArray
    folds: IntArray
    rows: IntArray
    sample_weight: FloatArray | None
    pos_label: Any
    _scores: tuple[FloatArray, ...]

    def __post_init__(self) -> None:
        """Set the arrays read-only."""
        for array in (self.y_true, self.folds, self.rows, *self._scores):
            frozen(array)
        if self.sample_weight is not None:
            frozen(self.sample_weight)

    @property
    def scores(self) -> dict[str, FloatArray]:
        """The out-of-fold scores by classifier, as `compare_many` takes them."""
        return dict(zip(self.names, self._scores, strict=True))

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return int(self.folds.max()) + 1

    def score(self, name: str) -> FloatArray:
        """Return the out-of-fold scores of one classifier."""
        if name not in self.names:
            raise InputError(f"`name` must be one of {', '.join(self.names)}, got {shown(name)}")
        return self._scores[self.names.index(name)]

    def curves(self, name: str) -> tuple[RocCurve, ...]:
        """Return the ROC curve of each fold of one classifier.

        Examples
        --------
        >>> import costcurves as cc
        >>> result = cc.evaluate({"a": [0.1, 0.4, 0.35, 0.8]}, None, [0, 0, 1, 1], cv=2)
        >>> [curve.auc() for curve in result.curves("a")]
        [1.0, 1.0]
        """
        scores = self.score(name)
        return tuple(self._curve(scores, self.folds == k, f"{name}, fold {k}") for k in range(self.n_folds))

    def cost_curves(self, name: str, *, policy: Any = "optimal") -> tuple[CostCurve, ...]:
        """Return the cost curve of each fold of one classifier.

        Parameters
        ----------
        name : str
        policy : policy or "validation"
            As for `CostCurve`; ``"validation"`` takes, at each condition, the threshold that is best on the other
            folds, so that no fold chooses the threshold it is judged by.
        """
        curves = self.curves(name)
        if not (isinstance(policy, str) and policy == "validation"):
            return tuple(CostCurve(curve, policy) for curve in curves)
        if len(curves) < 2:
            raise UnsupportedError("`policy='validation'` needs two folds or more, got 1")
        scores = self.score(name)
        others = (self._curve(scores, self.folds != k, f"{name}, but fold {k}") for k in range(self.n_folds))
        return tuple(
            CostCurve(curve, validation(other), name=curve.name) for curve, other in zip(curves, others, strict=True)
        )

    def pooled(self, name: str) -> RocCurve:
        """Return the ROC curve of all folds' scores together, as if they meant the same in every fold."""
        return self._curve(self.score(name), np.ones(self.y_true.size, dtype=np.bool_), name)

    def averaged(self, name: str, *, policy: Any = "optimal") -> CostCurve:
        """Return the mean cost over folds at every condition; parameters as for `cost_curves`."""
        return average_cost_curves(self.cost_curves(name, policy=policy), name=name)

    def averaged_roc(self, name: str, *, n_points: int = 100, level: float = 0.95) -> AveragedRoc:
        """Return the vertical average of the folds' ROC curves, as the 1998 study does."""
        return average_roc_curves(self.curves(name), n_points=n_points, level=level, name=name)

    def average_band(self, name: str, *, policy: Any = "optimal", **options: Any) -> Band:
        """Return a band for the mean cost over folds; options as for `average_band`."""
        return average_band(self.cost_curves(name, policy=policy), **options)

    def hull(self) -> RocHull:
        """Return the ROC convex hull of all classifiers' pooled scores."""
        return RocHull([self.pooled(name) for name in self.names])

    def compare(self, a: str, b: str, **options: Any) -> CurveDifference:
        """Return the difference of two classifiers' costs at every condition; options as for `compare`."""
        options = {"sample_weight": self.sample_weight} | options
        return compare(self.y_true, self.score(a), self.score(b), names=(a, b), **options)

    def compare_many(self, **options: Any) -> ManyDifferences:
        """Return all pairs with limits that hold jointly; options as for `compare_many`."""
        options = {"sample_weight": self.sample_weight} | options
        return compare_many(self.y_true, self.scores, **options)

    def _curve(self, scores: FloatArray, where: BoolArray, name: str) -> RocCurve:
        weights = None if self.sample_weight is None else self.sample_weight[where]
        if np.unique(self.y_true[where]).size < 2:
            raise DataError(f"`cv` must leave both classes in every fold, got one class in {shown(name)}")
        with no_question():  # `evaluate` has warned
            return RocCurve.from_predictions(self.y_true[where], scores[where], sample_weight=weights, name=name)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain Python values, scores included."""
        return Result.to_dict(self) | {"scores": jsonable(self.scores)}

    def _columns(self) -> dict[str, Any]:
        k = len(self.names)
        columns: dict[str, Any] = {
            "name": [name for name in self.names for _ in range(self.y_true.size)],
            "row": np.tile(self.rows, k),
            "fold": np.tile(self.folds, k),
            "y_true": np.tile(self.y_true, k),
            "score": np.concatenate(self._scores),
        }
        if self.sample_weight is not None:
            columns["sample_weight"] = np.tile(self.sample_weight, k)
        return columns

    def __repr__(self) -> str:
        """Return the sizes and, for each classifier, two areas."""
        size = f"{self.y_true.size} examples ({int(self.y_true.sum())} positive)"
        folds = f"{self.n_folds} fold{'s' if self.n_folds > 1 else ''}"
        wide = max(len(repr(name)) for name in self.names)
        lines = []
        for name in self.names:
            roc = self.pooled(name)
            area = CostCurve(roc).area()
            lines.append(f"  {name!r:<{wide}}  auc {roc.auc():.3f}, area under the cost curve {area:.3f}")
        return "\n".join([f"Evaluation: {size} in {folds}", *lines])


def make_evaluation(
    labels: npt.NDArray[Any],
    pos_label: Any,
    rows: IntArray,
    folds: IntArray,
    scores: Mapping[str, FloatArray],
    sample_weight: Any,
) -> Evaluation:
    """Return the evaluation of tested rows, put in the order of the data."""
    if np.unique(rows).size < rows.size:
        raise InputError(
            "`cv` must test each example at most once, or comparisons would count it twice, "
            f"got {rows.size} tests of {np.unique(rows).size} examples: evaluate each repetition by itself"
        )
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    return Evaluation(
        names=tuple(scores),
        y_true=labels[rows] == pos_label,
        folds=folds[order],
        rows=rows,
        sample_weight=None if sample_weight is None else np.array(sample_weight, dtype=np.float64)[rows],
        pos_label=pos_label.item() if isinstance(pos_label, np.generic) else pos_label,
        _scores=tuple(values[order] for values in scores.values()),
    )
