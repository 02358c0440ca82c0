"""The contents of a report of k classes, computed by the core and collected in one frozen value."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from costcurves._base.errors import InputError, SmallSampleWarning
from costcurves._base.frames import columns_of
from costcurves._base.validation import DEFAULT_LEVEL, FloatArray, check_integer, check_level, is_among, shown
from costcurves.conditions.cost_matrix import CostMatrix, as_cost_matrix, check_priors
from costcurves.counting.class_labels import check_named
from costcurves.counting.confusion import ConfusionMatrix
from costcurves.multiclass.bcost import CostInterval, bcost
from costcurves.multiclass.comparison import CostComparison, bdeltacost_many
from costcurves.multiclass.priors import PriorHull, prior_hull


@dataclass(frozen=True, slots=True)
class ClassTurn:
    """The share of one class beyond which another choice is cheaper: a larger share if `above`, or a smaller one.

    Other classes keep their proportions. `now` is the share of the class, and `name` the other choice.
    """

    name: str
    label: str
    share: float
    now: float
    above: bool


def nearest_turn(hull: PriorHull, shares: FloatArray, best: str) -> ClassTurn | None:
    """Return the nearest change of one class's share, in log odds, at which another choice becomes cheaper.

    Along such a change every cost is linear in the share, so that two of them cross at most once.
    """
    assert hull.costs is not None
    i, found = hull.names.index(best), []
    for t in np.flatnonzero((shares > 0) & (shares < 1)).tolist():
        now = float(shares[t])
        others = np.delete(hull.costs, t, axis=1) @ np.delete(shares, t) / (1 - now)
        pure, rest = hull.costs[:, t] - hull.costs[i, t], others - others[i]
        for j in np.flatnonzero((pure < 0) != (rest < 0)).tolist():
            share = float(rest[j] / (rest[j] - pure[j]))
            above = bool(pure[j] < 0)
            if 0 < share < 1 and (share >= now if above else share <= now):
                distance = abs(math.log(share / (1 - share)) - math.log(now / (1 - now)))
                beyond = float(pure[j] if above else rest[j])
                found.append((distance, beyond, ClassTurn(hull.names[j], str(hull.labels[t]), share, now, above)))
    return min(found, key=lambda one: one[:2])[2] if found else None


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
    chosen : CostInterval or None
        The cost of the cheapest classifier, with limits that allow for having chosen it among all; None if always
        predicting one class is cheapest.
    turn : ClassTurn or None
        The nearest share of one class at which another choice is cheaper on these cases.
    baseline : str or None
        The classifier that is in use today.
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
    chosen: CostInterval | None
    turn: ClassTurn | None
    baseline: str | None
    n: int
    dropped: int
    level: float


def summarise_classes(
    y_true: Any,
    predictions: Any,
    costs: Any,
    *,
    priors: Any = None,
    baseline: str | None = None,
    level: float = DEFAULT_LEVEL,
    dropped: int = 0,
) -> ClassesSummary:
    """Compute the contents of a report of k classes; options are those of `Report.from_class_predictions`.

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
    names = check_named("predictions", columns)
    if baseline is not None and not is_among(baseline, names):
        raise InputError(f"`baseline` must be one of {', '.join(map(repr, names))}, got {shown(baseline)}")
    given = None if priors is None else check_priors("priors", priors, matrix.labels)[0]
    with warnings.catch_warnings():
        # The page itself names these risks beside the interval that they affect.
        warnings.simplefilter("ignore", SmallSampleWarning)
        intervals = tuple(bcost(y_true, columns[name], matrix, level=level, priors=priors) for name in names)
        comparison = bdeltacost_many(y_true, columns, matrix, level=level, priors=priors)
        best, chosen = comparison.best_name, None
        if best in names:
            # Limits that hold for all classifiers together hold for the one that was chosen among them.
            joint = 1 - (1 - level) / len(names)
            chosen = bcost(y_true, columns[best], matrix, level=joint, priors=priors)
    confusions = tuple(ConfusionMatrix.from_predictions(y_true, columns[name], labels=matrix.labels) for name in names)
    sizes = confusions[0].counts.sum(axis=1)
    hull = prior_hull(dict(zip(names, confusions, strict=True)), matrix) if sizes.all() else None
    frequencies = sizes / sizes.sum()
    return ClassesSummary(
        costs=matrix,
        names=names,
        confusions=confusions,
        intervals=intervals,
        comparison=comparison,
        hull=hull,
        regions=hull.regions() if hull is not None and len(matrix.labels) == 3 else {},
        frequencies=frequencies,
        priors=None if given is None else {str(x): float(p) for x, p in zip(matrix.labels, given, strict=True)},
        chosen=chosen,
        turn=None if hull is None else nearest_turn(hull, frequencies if given is None else given, best),
        baseline=baseline,
        n=int(sizes.sum()),
        dropped=dropped,
        level=level,
    )
