"""One classifier's cost on new cases at thresholds that were chosen for their cost on these cases.

The thresholds that look cheapest look cheaper than they are. How far the limits of their cost must move for that is
found as for a recommendation of this classifier alone: by choosing again in draws of the costs of all thresholds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from costcurves._base.validation import FloatArray
from costcurves.inference.competition import Competition, free_grid
from costcurves.inference.scored_rows import ScoredRows

# Of many operating points this many are studied; the shifts of the others lie between.
KNOTS = 25


class Shifts(NamedTuple):
    """What the choice of thresholds does at some operating points: arrays of shape (points,).

    `excess` is how much more than on these cases the classifier is expected to cost on new ones; `low` and `high` are
    the critical values of the limits, of which those of the lower ones are negative.
    """

    excess: FloatArray
    low: FloatArray
    high: FloatArray


def choice_shifts(rows: ScoredRows, pc: FloatArray, cuts: FloatArray, level: float) -> Shifts:
    """Return what the choice of thresholds does to the cost of a classifier and to its limits at each operating point.

    Parameters
    ----------
    rows : ScoredRows
        With one classifier.
    pc, cuts : arrays of shape (points,)
        Operating points, increasing, and the thresholds in use, which are scores of the rows.
    level : float
        At one or two operating points the answer is that of a recommendation. More of them share their draws, so that
        answers there may differ from it by the noise of a simulation.
    """
    if pc.size == 2:
        both = [choice_shifts(rows, pc[k : k + 1], cuts[k : k + 1], level) for k in (0, 1)]
        return Shifts(*(np.concatenate(values) for values in zip(*both, strict=True)))
    (name,) = rows.order
    competition = Competition(rows, {name: np.unique(free_grid(rows, name, cuts.tolist()))}, [name], [name])
    candidates, shared = competition.candidates, competition.shared_draws(pc.size)
    assert candidates is not None
    numbers = np.array([competition.number_at(name, cut) for cut in cuts.tolist()])
    observed = candidates.costs(numbers, pc)
    some = np.unique(np.rint(np.linspace(0, pc.size - 1, min(pc.size, KNOTS))).astype(np.int64))
    found = []
    for k in some.tolist():
        field = candidates.at(float(pc[k]), competition.allowed([numbers[k]]), shared=shared)
        used, everyone = int(np.searchsorted(field.number, numbers[k])), np.ones(field.owner.size, dtype=np.bool_)
        cost, low, high = field.shifts(used, level, everyone, min(pc[k], 1 - pc[k]), None)
        found.append((cost - observed[k], low, high))
    excess, low, high = (np.interp(pc, pc[some], values) for values in np.array(found).T)
    # As for a recommendation, the estimate is the mean of the draws' and of that of held-out cases.
    if competition.held_out is not None and everyone.size > 1:
        held_out = np.array([competition.held_out.costs(where, {})[0] for where in pc.tolist()])
        excess = 0.5 * (excess + held_out - observed)
    return Shifts(excess, low, high)
