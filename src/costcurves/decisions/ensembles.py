"""Which few of many classifiers to keep: a greedy selection by what each adds to the hull, judged on other cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from costcurves._base.errors import InputError
from costcurves._base.results import Result
from costcurves._base.validation import FloatArray, IntArray, check_integer, check_rng, frozen, shown
from costcurves.conditions.range import OperatingRange, RangeLike, check_range
from costcurves.curves.choices import TRIVIAL
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.hull import RocHull
from costcurves.decisions.rows import Rows

# Costs are averaged over this many evenly spaced pc of a range.
_POINTS = 501


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ensemble(Result):
    """Classifiers in the order in which they lower the cost of the hull most, and what each adds.

    `Predictions.select` makes it. Folds are those of the predictions, if they have any; otherwise a number of folds
    (``n_folds``) is drawn by ``rng`` within each class.

    Attributes
    ----------
    names : tuple of str
        The classifiers chosen, the most useful first.
    gain : array of shape (k,)
        By how much each lowers the normalized cost of the hull of those before it, on average over the range, on the
        cases that it was chosen by. The first is compared with the trivial classifiers.
    cost : array of shape (k,)
        The mean cost over the range of the hull of the first 1, 2, ..., k on the same cases, which is too low.
    cost_held_out : array of shape (k,)
        The mean cost of choosing in the same way without a fold, both the classifiers and for each pc one of them and
        its threshold, on that fold. It shows whether another classifier really helps, and has no selection bias except
        that it is about choices made from a part of the cases.
    share_chosen : array of shape (k,)
        The share of folds without which each of the classifiers was among the first k as well.
    over : OperatingRange
    n_folds : int

    Examples
    --------
    >>> import numpy as np
    >>> import costcurves as cc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(400) < 0.4
    >>> scores = {"good": y + rng.normal(0, 0.7, 400), "fair": y + rng.normal(0, 1, 400), "noise": rng.random(400)}
    >>> chosen = cc.Predictions(y, scores).select(2)
    >>> chosen.names
    ('good', 'fair')
    """

    names: tuple[str, ...]
    gain: FloatArray
    cost: FloatArray
    cost_held_out: FloatArray
    share_chosen: FloatArray
    over: OperatingRange
    n_folds: int

    def _columns(self) -> dict[str, Any]:
        return {
            "classifier": list(self.names),
            "gain": self.gain,
            "cost": self.cost,
            "cost_held_out": self.cost_held_out,
            "share_chosen": self.share_chosen,
        }

    def __repr__(self) -> str:
        """Show the order and both costs."""
        low, high = self.over.pc
        rows = zip(self.names, self.cost, self.cost_held_out, strict=True)
        told = "; ".join(f"{name!r} {cost:.4g} ({held:.4g})" for name, cost, held in rows)
        return f"Ensemble(mean cost for pc {low:.3g} .. {high:.3g} here (on other folds) with each more: {told})"


def greedy(costs: FloatArray, number: int) -> tuple[list[int], FloatArray]:
    """Return which rows lower the mean of the minimum most, one after another, and the means.

    Parameters
    ----------
    costs : array of shape (classifiers, points)
        The lowest cost of each classifier at each operating point; the lower envelope of several is that of their hull.
    number : int

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.decisions.ensembles import greedy
    >>> greedy(np.array([[0.2, 0.9], [0.5, 0.5], [0.9, 0.1]]), 2)
    ([1, 2], array([0.5, 0.3]))
    """
    best = np.full(costs.shape[1], np.inf)
    order: list[int] = []
    means = []
    for _ in range(number):
        lowered = np.minimum(best, costs).mean(axis=1)
        lowered[order] = np.inf
        order.append(int(np.argmin(lowered)))
        best = np.minimum(best, costs[order[-1]])
        means.append(best.mean())
    return order, np.array(means)


def select_in(
    rows: Rows, number: int, *, over: RangeLike = None, folds: Sequence[int] | IntArray | int = 5, rng: Any = 0
) -> Ensemble:
    """Return the `number` classifiers that together cost least over a range, chosen one after another.

    `folds` is the fold of each case, or a number of folds that are drawn at random within each class.
    """
    number = check_integer("number", number, 1, len(rows.names))
    span = check_range(over)
    pc = np.linspace(*span.pc, _POINTS) if span.pc[1] > span.pc[0] else np.array([span.pc[0]])
    fold = _folds(rows.positive, folds, rng)
    order, cost = greedy(_lowest(rows, pc), number)
    held, again = np.zeros(number), np.zeros((len(rows.names),))
    parts = np.unique(fold)
    weight = np.ones(rows.positive.size) if rows.weights is None else rows.weights
    n_pos, n_neg = weight[rows.positive].sum(), weight[~rows.positive].sum()
    for part in parts:
        out = fold == part
        rest, left = rows.some(~out), rows.some(out)
        chosen, _ = greedy(_lowest(rest, pc), number)
        again[chosen] += 1
        for k in range(number):
            hull = RocHull([rest.roc(rows.names[i], "hull") for i in chosen[: k + 1]])
            misses, alarms = _errors_of(hull, left, pc)
            held[k] += (pc * misses / n_pos + (1 - pc) * alarms / n_neg).mean()
    trivial = np.minimum(pc, 1 - pc).mean()
    gain = np.maximum(-np.diff(np.concatenate([[trivial], cost])), 0.0)
    names = tuple(rows.names[i] for i in order)
    share = again[order] / parts.size
    return Ensemble(names, frozen(gain), frozen(cost), frozen(held), frozen(share), span, int(parts.size))


def _folds(positive: Any, folds: Any, rng: Any) -> IntArray:
    """Return the fold of each case; of a number of folds, drawn at random within each class."""
    if isinstance(folds, (list, tuple)) or np.ndim(folds):
        found = np.asarray(folds, dtype=object if isinstance(folds, (list, tuple)) else None)
        if found.shape != positive.shape or np.unique(found).size < 2:
            raise InputError(f"`folds` must have the fold of each of {positive.size} cases, two or more folds")
        return np.asarray(np.unique(found, return_inverse=True)[1])
    few = int(min(positive.sum(), (~positive).sum()))
    number = check_integer("n_folds", folds, 2)
    if few < number:
        raise InputError(f"`n_folds` must be at most the cases of the rarer class, {few}, got {shown(folds)}")
    generator, fold = check_rng(rng), np.empty(positive.size, dtype=np.int64)
    for kind in (positive, ~positive):
        fold[kind] = generator.permutation(np.arange(kind.sum()) % number)
    return fold


def _lowest(rows: Rows, pc: FloatArray) -> FloatArray:
    """Return the cost of each classifier at its best threshold for each pc."""
    return np.array([CostCurve(rows.roc(name, "hull")).evaluate(pc) for name in rows.names])


def _errors_of(hull: RocHull, rows: Rows, pc: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return misses and false alarms on other cases of what a hull uses at each pc."""
    vertex = np.minimum(np.searchsorted(hull.breaks[1:-1], pc, side="left"), len(hull.owner) - 1)
    misses, alarms = np.zeros(len(hull.owner)), np.zeros(len(hull.owner))
    positive, weight = rows.positive, 1.0 if rows.weights is None else rows.weights
    for i in np.unique(vertex):
        name = hull.owner[i]
        if name in TRIVIAL:
            called = np.full(positive.size, hull.fpr[i] == 1.0)
        else:
            called = np.asarray(rows.scores[name]) >= hull.thresholds[i]
        misses[i], alarms[i] = (weight * (positive & ~called)).sum(), (weight * (called & ~positive)).sum()
    return misses[vertex], alarms[vertex]
