"""Errors that are expensive and too rare in the data to be judged from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.results import Result
from costcurves._base.validation import FloatArray, shown
from costcurves.conditions.cost_matrix import CostMatrix
from costcurves.counting.confusion import JointConfusion
from costcurves.inference.cost_cells import CostCells, cost_cells, spread_of_cells
from costcurves.inference.rates import critical

# A cell seen this often is judged from the data; below it, its rate is mostly unknown.
_FEW = 5
# A cell is a risk when it may add this many half-widths. An error that carries all of the cost by itself adds
# 1.9 half-widths when it was seen once, 1.55 when twice, 1.4 when three times: one or two are no basis.
_OUTWEIGHS = 1.5


@dataclass(frozen=True, slots=True)
class CellRisk(Result):
    """An error that is expensive and too rare in the data to be judged from them.

    Attributes
    ----------
    true, predicted : label
        The cell of the confusion matrix.
    cost : float
        What one such error costs.
    count : int
        How many were seen; of a difference, where the costs of the two classifiers differ.
    excess : float
        What the error may add to the expected cost: cost times (upper bound of its rate minus the rate seen).
    needed : int or None
        About how many examples would bring the excess below the width that the other errors give the interval, or
        below the advantage of a difference; None when no error was seen at all and nothing can be scaled.

    Examples
    --------
    >>> from costcurves.multiclass.risks import CellRisk
    >>> CellRisk(true="crash", predicted="safe", cost=1e6, count=0, excess=2995.7, needed=90_000)
    CellRisk(true='crash', predicted='safe', cost=1000000.0, count=0, excess=2995.7, needed=90000)
    """

    true: Any
    predicted: Any
    cost: float
    count: int
    excess: float
    needed: int | None

    _column_names = ("true", "predicted", "cost", "count", "excess", "needed")


Risks = tuple[CellRisk, ...]


def cost_risks(
    counts: npt.NDArray[Any], costs: CostMatrix, level: float, priors: FloatArray | None, rates: FloatArray
) -> Risks:
    """Return the errors of one classifier whose unseen part could outweigh all that was seen: 1.5 half-widths.

    Parameters
    ----------
    counts : array of shape (k, k)
    costs : CostMatrix
    level : float
    priors : array of shape (k,), optional
    rates : array of shape (k,)
        What one example of each class counts for.
    """
    limit = _OUTWEIGHS * critical(level) * spread_of_cells(cost_cells(counts, costs.values, priors))
    # The excess of an unseen cell falls as 1/n, the half-width as 1/√n.
    return _cell_risks(counts, costs.values, counts.sum(axis=1), costs, level, priors, rates, limit, 2)


def difference_risks(
    joint: JointConfusion,
    costs: CostMatrix,
    level: float,
    priors: FloatArray | None,
    cells: list[CostCells],
    ends: tuple[float, float],
) -> Risks:
    """Return the errors of the one that is shown to be cheaper whose unseen part could make up for its advantage.

    Such an error costs what it costs more than the cheapest prediction for its class. It counts as seen where the costs
    of the two differ. It is a risk when cost times (upper bound of its rate - rate) exceeds the limit of the advantage,
    and 1.5 half-widths as in `cost_risks`.
    """
    if ends[0] <= 0 <= ends[1]:
        return ()
    own, least = (joint.a, -ends[1]) if ends[1] < 0 else (joint.b, ends[0])
    k = len(costs.labels)
    differ = costs.values[joint.true, joint.a] != costs.values[joint.true, joint.b]
    seen = np.bincount((joint.true * k + own)[differ], weights=joint.counts[differ], minlength=k * k).reshape(k, k)
    sizes = np.bincount(joint.true, weights=joint.counts, minlength=k)
    shares = sizes / joint.n if priors is None else priors
    rates = np.where(sizes > 0, shares / np.maximum(sizes, 1), 0.0 if priors is not None else 1.0 / joint.n)
    more = costs.values - costs.values.min(axis=1, keepdims=True)
    wide = _OUTWEIGHS * critical(level) * spread_of_cells(cells)
    limit, growth = (least, 1) if least >= wide else (wide, 2)
    return _cell_risks(seen.astype(np.int64), more, sizes, costs, level, priors, rates, limit, growth)


def _cell_risks(
    counts: npt.NDArray[Any],
    extra: FloatArray,
    sizes: npt.NDArray[Any],
    costs: CostMatrix,
    level: float,
    priors: FloatArray | None,
    rates: FloatArray,
    limit: float,
    growth: int,
) -> Risks:
    """Return the cells whose unseen part could cost more than a limit.

    A cell seen m < 5 times may have a rate of up to U(m)/n (Poisson upper bound; U(0) = 3.0 at 95 %), but
    no more than its class. It is a risk when its extra cost times (bound - rate) exceeds the limit. With n times
    (excess/limit) to the power `growth` examples it would not.
    """
    from scipy.special import gammaincinv

    n = int(sizes.sum())
    few = (counts < _FEW) & (extra > 0) & (rates[:, None] > 0)
    upper = gammaincinv(np.arange(1, _FEW + 1), level)
    # Most tables have nothing to fear; the largest conceivable excess settles it without looking at cells.
    if not few.any() or float((rates * extra.max(axis=1)).max()) * float(upper[-1]) <= limit:
        return ()
    true, predicted = np.nonzero(few)
    seen = counts[true, predicted]
    most = gammaincinv(sizes + 1.0, level) if priors is None else sizes.astype(np.float64)
    excess = extra[true, predicted] * rates[true] * (np.minimum(upper[seen], most[true]) - seen)
    order = np.argsort(-excess, kind="stable")
    order = order[excess[order] > max(limit, 1e-12 * float(extra.max()))]
    return tuple(
        CellRisk(
            costs.labels[true[i]],
            costs.labels[predicted[i]],
            float(costs.values[true[i], predicted[i]]),
            int(seen[i]),
            float(excess[i]),
            math.ceil(n * (float(excess[i]) / limit) ** growth) if limit > 0 else None,
        )
        for i in order
    )


def risks_in_words(risks: Risks) -> str:
    """Return the errors that the data cannot judge, the first few by name."""
    cells = "; ".join(
        f"true {shown(r.true)} predicted {shown(r.predicted)} (cost {r.cost:g}, seen {r.count} times)"
        for r in risks[:3]
    )
    return cells + (f" and {len(risks) - 3} more" if len(risks) > 3 else "")


def how_many(risks: Risks) -> str:
    """Return "1 rare, expensive error" or "2 rare, expensive errors"."""
    return f"{len(risks)} rare, expensive error{'s' * (len(risks) != 1)}"


def interval_warning(risks: Risks, n: int) -> str:
    """Return the warning that an interval cannot be relied on."""
    most = risks[0].needed
    enough = f"about {most} examples would be needed" if most is not None else "no costly error was seen"
    return (
        f"{n} examples cannot support the interval: {risks_in_words(risks)} could outweigh the errors that were seen; "
        f"{enough}; method='tilted' allows for such errors"
    )


def difference_warning(risks: Risks, n: int) -> str:
    """Return the warning that a test of a difference cannot be relied on."""
    return (
        f"{n} examples cannot support the test: {risks_in_words(risks)} could make up for the advantage that was seen; "
        "method='tilted' allows for such errors"
    )
