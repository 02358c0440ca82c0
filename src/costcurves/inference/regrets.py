"""What one rule for a whole range may lose on new cases, if it was chosen on the same rows that judge it.

The rule is the candidate whose largest loss over the range is smallest, so that its observed loss is too low. As in
`selection`, the costs of all candidates are drawn from a Gaussian field around the observed ones, here at all operating
points together, and the rule is chosen again in every draw. How far its loss in the field then exceeds the loss that is
seen in the draw tells how much higher the true loss may be.
"""

from __future__ import annotations

import numpy as np

from costcurves._base.validation import FloatArray, IntArray
from costcurves.inference.candidates import Candidates
from costcurves.inference.selection import DRAWS

# Drawing around the observed costs finds about two thirds of the optimism; so much more is allowed for.
MORE = 1.5
# The candidates that are drawn: those that come closest to the cheapest one at any of the operating points.
CLOSEST = 512


def loss_limit(
    candidates: Candidates, pc: FloatArray, unit: FloatArray, loss: float, level: float, rule: int | None
) -> float:
    """Return an upper limit of the largest loss over some operating points of the rule that loses least on these rows.

    The loss is against the cheapest candidate at each operating point, the two trivial classifiers among them.

    Parameters
    ----------
    candidates : Candidates
    pc, unit : arrays of shape (points,)
        The operating points, and what a normalized cost of 1 is worth at each of them.
    loss : float
        The observed loss of the rule, in the units of `unit`.
    level : float
        One-sided confidence level.
    rule : int or None
        The candidate in use if it was not chosen on these rows, -2 and -1 for the trivial classifiers; None if it was.
    """
    some = _closest(candidates, pc, rule)
    n_pos, n_neg = candidates.sizes
    fnr = np.concatenate([candidates.misses[some] / n_pos, [1.0, 0.0]])
    fpr = np.concatenate([candidates.alarms[some] / n_neg, [0.0, 1.0]])
    # The costs of the trivial classifiers are known, and do not vary.
    noise = [np.concatenate([found, np.zeros((2, DRAWS))]) for found in candidates.draws(some)]
    seen, true = np.full((fnr.size, DRAWS), -np.inf), np.full(fnr.size, -np.inf)
    for at, worth in zip(pc.tolist(), unit.tolist(), strict=True):
        cost = at * fnr + (1 - at) * fpr
        drawn = cost[:, None] + at * noise[0] + (1 - at) * noise[1]
        np.maximum(seen, worth * (drawn - drawn.min(axis=0)), out=seen)
        np.maximum(true, worth * (cost - cost.min()), out=true)
    if rule is not None and rule >= 0:
        rule = int(np.searchsorted(some, rule))
    chosen = seen.argmin(axis=0) if rule is None else np.full(DRAWS, rule)
    more = float(np.quantile(true[chosen] - seen[chosen, np.arange(DRAWS)], level))
    return loss + MORE * max(more, 0.0)


def _closest(candidates: Candidates, pc: FloatArray, rule: int | None) -> IntArray:
    """Return the numbers of the candidates that are drawn, increasing; the rule in use is one of them."""
    fnr, fpr = (errors / n for errors, n in zip((candidates.misses, candidates.alarms), candidates.sizes, strict=True))
    apart = np.full(fnr.size, np.inf)
    for at in pc.tolist():
        cost = at * fnr + (1 - at) * fpr
        np.minimum(apart, (cost - cost.min()) / candidates.spread(at), out=apart)
    if rule is not None and rule >= 0:
        apart[rule] = -1.0
    return np.sort(np.argsort(apart, kind="stable")[:CLOSEST])
