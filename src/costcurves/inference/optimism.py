"""How much too low the cost of a threshold looks on the cases that it was chosen on."""

from __future__ import annotations

import numpy as np

from costcurves._base.validation import FloatArray
from costcurves.counting import compiled
from costcurves.inference.rates import critical
from costcurves.inference.simultaneous import exact_weights, seeded_by

# The fewest and the most resamples, and about how many counts are drawn in all: a curve of many points needs fewer of
# them, because the cost of the points that are cheapest on the data explains most of how they differ.
_DRAWS = (50, 300)
_COUNTS = 12_000
# Operating points at once, so that the memory is bounded.
_TOGETHER = 4096
# Of a useless score the bootstrap finds about half of the optimism, of a good one about two thirds.
SHARE_FOUND = 0.5
# Log-odds of the operating points, and the weights by which each of them counts for those around.
_STEP = 0.25
_LOG_ODDS = np.arange(-14.0, 14.0 + _STEP / 2, _STEP)
_WEIGHTS = np.exp(-2.0 * (_STEP * np.arange(-6, 7)) ** 2)


def optimism_of(tp: FloatArray, fp: FloatArray, pc: FloatArray) -> FloatArray:
    """Return by how much the cost of the cheapest of some ROC points is too low, by resampling the counts between them.

    Parameters
    ----------
    tp, fp : arrays of shape (m,)
        True and false positives from 0 to the totals (effective counts if weighted).
    pc : array of shape (points,)

    Notes
    -----
    In each resample the cheapest point is chosen again, and its cost in the resample is compared with its cost in the
    data. Half an example is added between any two points, so that points next to each other do not look settled
    because no example of a class lies between them.

    By how much the point that is cheapest in the data is cheaper in a resample has mean zero, and its mean over the
    resamples is subtracted. For 10⁶ cases this leaves a fifth of the standard error or less.

    Examples
    --------
    >>> import numpy as np
    >>> found = optimism_of(np.array([0.0, 20, 35, 45, 50]), np.array([0.0, 5, 15, 30, 50]), np.array([0.5]))
    >>> bool(0 < found[0] < 0.05)
    True
    """
    pc = exact_weights(pc)
    # The same draws, whichever of the two classes is called positive.
    pos, neg = (np.round(np.diff(counts), 6) for counts in (tp, fp))
    here, turned = [*pos, *neg], [*neg[::-1], *pos[::-1]]
    if turned < here:
        pos, neg, pc = neg[::-1], pos[::-1], 1 - pc
    elif turned == here:
        pc = np.minimum(pc, 1 - pc)
    tp, fp = (np.concatenate([[0.0], part.cumsum()]) for part in (pos, neg))
    rates, again = [], []
    rng = seeded_by(tp, fp)
    draws = int(np.clip(_COUNTS // tp.size, *_DRAWS))
    for counts in (tp, fp):
        size = max(round(float(counts[-1])), 1)
        share = np.maximum(np.diff(counts), 0.0) + 0.5
        share = share / share.sum()
        drawn = rng.multinomial(size, share, draws)
        rates.append(np.concatenate([[0.0], share.cumsum()]))
        again.append(np.hstack([np.zeros((draws, 1)), drawn.cumsum(axis=1) / size]))
    misses, alarms, known = 1 - again[0], again[1], (1 - rates[0], rates[1])
    means = misses.mean(axis=0), alarms.mean(axis=0)
    order, found = np.argsort(pc, kind="stable"), np.zeros(pc.size)
    for start in range(0, pc.size, _TOGETHER):
        some = order[start : start + _TOGETHER]
        found[some] = _too_low(misses, alarms, known, pc[some]).mean(axis=1)
        found[some] += _too_low(known[0][None], known[1][None], means, pc[some])[:, 0]
    return np.maximum(found, 0.0)


def here_and_around(tp: FloatArray, fp: FloatArray, pc: FloatArray) -> FloatArray:
    """Return what `optimism_of` finds at some operating points, and on average at those around: shape (2, points).

    A threshold that looks better than it is makes its own minimum look sharp, and so its optimism small. At the points
    around, other thresholds decide, and their optimism is much the same in proportion to pc(1 - pc).

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([0.0, 20, 35, 45, 50]), np.array([0.0, 5, 15, 30, 50])
    >>> here, around = here_and_around(*counts, np.array([0.2, 0.5, 1.0]))
    >>> here.round(4).tolist(), around.round(4).tolist()
    ([0.0159, 0.0182, 0.0], [0.0125, 0.0175, 0.0])
    """
    low = np.exp(-np.abs(_LOG_ODDS))
    low /= 1 + low
    found = optimism_of(tp, fp, np.concatenate([pc, np.where(_LOG_ODDS > 0, 1 - low, low)]))
    each = np.convolve(found[pc.size :] / (low * (1 - low)), _WEIGHTS / _WEIGHTS.sum(), mode="same")
    with np.errstate(divide="ignore"):
        at = np.log(pc) - np.log1p(-pc)
    return np.stack([found[: pc.size], pc * (1 - pc) * np.interp(at, _LOG_ODDS, each)])


def _too_low(
    misses: FloatArray, alarms: FloatArray, known: tuple[FloatArray, FloatArray], weights: FloatArray
) -> FloatArray:
    """Return by how much the cheapest point of each resample is cheaper than the same point of the data.

    The result has shape (weights, resamples). Misses fall and alarms rise from point to point, so that a point which
    costs more than a later one costs more at all larger weights too; the compiled loop uses that.
    """
    if (fast := compiled.loops()) is not None:
        return fast.least_sums(misses, alarms, known, weights)
    found = np.empty((weights.size, misses.shape[0]))
    for i, weight in enumerate(weights.tolist()):
        costs = weight * misses + (1 - weight) * alarms
        chosen = costs.argmin(axis=1)
        cost = weight * known[0] + (1 - weight) * known[1]
        found[i] = cost[chosen] - costs[np.arange(chosen.size), chosen]
    return found


def joint_level(level: float) -> float:
    """Return the level of a joint critical value for thresholds that were chosen on the same cases.

    The critical value is found as if the thresholds were given, and other cases would have had others.
    """
    return level + 0.25 * (1 - level)


def least_critical(level: float) -> float:
    """Return the smallest joint critical value for such thresholds: that of five separate statements.

    With few cases there are few thresholds on the curve, whose joint critical value is hardly larger than that of one.
    """
    return critical(1 - (1 - level) / 5)
