"""The contents of a report of k classes, computed by the core and collected in one frozen value."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from costcurves._base.errors import SmallSampleWarning
from costcurves._base.frames import columns_of
from costcurves._base.validation import DEFAULT_LEVEL, FloatArray, check_integer, check_level
from costcurves.conditions.cost_matrix import CostMatrix, as_cost_matrix, check_priors
from costcurves.counting.class_labels import check_named
from costcurves.counting.confusion import ConfusionMatrix
from costcurves.multiclass.bcost import CostInterval, bcost
from costcurves.multiclass.comparison import CostComparison, bdeltacost_many
from costcurves.multiclass.priors import PriorHull, prior_hull


@dataclass(frozen=True, slots=True, eq=False)
class ClassesSummary:
    """The contents of a report of k classes.

    Attributes
    ----------
    costs : CostMatrix
    names : tuple of str
    confusions : tuple of ConfusionMatrix
        One per classifier.
    intervals : tuple of CostInterval
        The BCost interval of each classifier.
    comparison : CostComparison
        BDeltaCost for all pairs, and for each classifier against always predicting one class.
    hull : PriorHull or None
        Which classifiers can be cheapest under which priors, or None if a class has no examples.
    regions : dict of name to array
        The polygons of the prior simplex, for three classes.
    frequencies : array of shape (k,)
        Class frequencies of the data.
    priors : mapping or None
        Class frequencies that were given instead.
    n, dropped : int
        The number of rows evaluated, and the number left out before.
    level : float
    """

    costs: CostMatrix
    names: tuple[str, ...]
    confusions: tuple[ConfusionMatrix, ...]
    intervals: tuple[CostInterval, ...]
    comparison: CostComparison
    hull: PriorHull | None
    regions: dict[str, FloatArray]
    frequencies: FloatArray
    priors: dict[str, float] | None
    n: int
    dropped: int
    level: float


def summarise_classes(
    y_true: Any,
    predictions: Any,
    costs: Any,
    *,
    priors: Any = None,
    level: float = DEFAULT_LEVEL,
    dropped: int = 0,
) -> ClassesSummary:
    """Compute the contents of a report of k classes.

    Parameters
    ----------
    y_true : sequence of labels, shape (n,)
    predictions : mapping of name to sequence of labels, or dataframe
    costs : CostMatrix or table
        Rows are true classes, columns are predicted classes.
    priors : mapping of label to probability, optional
        Class frequencies in deployment, instead of those of the data.
    level : float in (0, 1)
    dropped : int
        The number of rows that were left out before, which the report states.

    Examples
    --------
    >>> import costcurves as cc
    >>> from costcurves.report.classes import summarise_classes
    >>> y = ["a", "b", "c"] * 30
    >>> guess = ["a", "b", "b"] * 30
    >>> costs = cc.CostMatrix([[0, 1, 2], [1, 0, 1], [2, 1, 0]], labels=["a", "b", "c"])
    >>> round(summarise_classes(y, {"rules": guess}, costs).intervals[0].estimate, 4)
    0.3333
    """
    level, dropped = check_level(level), check_integer("dropped", dropped, 0)
    matrix = as_cost_matrix(costs)
    columns = columns_of("predictions", predictions)
    names = check_named("predictions", columns, 1)
    given = None if priors is None else check_priors("priors", priors, matrix.labels)[0]
    with warnings.catch_warnings():
        # The page itself names these risks beside the interval that they affect.
        warnings.simplefilter("ignore", SmallSampleWarning)
        intervals = tuple(bcost(y_true, columns[name], matrix, level=level, priors=priors) for name in names)
        comparison = bdeltacost_many(y_true, columns, matrix, level=level, priors=priors)
    confusions = tuple(ConfusionMatrix.from_predictions(y_true, columns[name], labels=matrix.labels) for name in names)
    sizes = confusions[0].counts.sum(axis=1)
    hull = prior_hull(dict(zip(names, confusions, strict=True)), matrix) if sizes.all() else None
    return ClassesSummary(
        costs=matrix,
        names=names,
        confusions=confusions,
        intervals=intervals,
        comparison=comparison,
        hull=hull,
        regions=hull.regions() if hull is not None and len(matrix.labels) == 3 else {},
        frequencies=sizes / sizes.sum(),
        priors=None if given is None else {str(x): float(p) for x, p in zip(matrix.labels, given, strict=True)},
        n=int(sizes.sum()),
        dropped=dropped,
        level=level,
    )
