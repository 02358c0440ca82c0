"""How much cheaper than a trivial classifier a useless score looks at thresholds that are chosen on the same cases."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import FloatArray, IntArray
from costcurves.inference.bands.error_rates import ErrorRates
from costcurves.inference.bands.methods import Options, wilson_limits
from costcurves.inference.rates import mid_p_at
from costcurves.inference.simultaneous import SIMULATIONS, calibrated_critical, seeded_by, tabulated

# Scores and operating points beyond these numbers are thinned out; neighbours have nearly the same costs.
_CELLS, _POINTS = 512, 101
_BLOCK = 100


def trivial_critical(cells: npt.ArrayLike, n_pos: int, pc: FloatArray, level: float) -> float:
    """Return the critical value at which useless scores are shown to be useful with probability 1 - level at most.

    Parameters
    ----------
    cells : array of shape (scores,)
        The number of examples with each distinct score, from the highest score to the lowest.
    n_pos : int
        How many of all examples are positive.
    pc : array of shape (points,)
    level : float

    Notes
    -----
    If a score says nothing, all ways to distribute the positives over the examples are equally likely. In 1,999 of them
    (seeded by the data) the best threshold is chosen at each operating point, and the value is the smallest at which in
    a share `level` of them the upper limit of the cost is nowhere below the cost of both trivial classifiers. Ties
    and class frequencies are those of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.trivial import trivial_critical
    >>> pc = np.linspace(0.1, 0.9, 9)
    >>> trivial_critical(np.ones(60, int), 20, pc, 0.95) > trivial_critical(np.array([30, 30]), 20, pc, 0.95)
    True
    """
    counts = np.asarray(cells, dtype=np.int64)
    ends = np.unique(np.linspace(0, counts.size, min(_CELLS, counts.size) + 1).astype(np.intp))
    counts = np.add.reduceat(counts, ends[:-1])
    some = pc[np.unique(np.linspace(0, pc.size - 1, min(_POINTS, pc.size)).astype(np.intp))]
    n_neg = int(counts.sum()) - n_pos
    rng = seeded_by(counts, np.array([n_pos]), some)
    total = np.concatenate([[0], np.cumsum(counts)])
    miss, alarm = np.empty((SIMULATIONS, some.size)), np.empty((SIMULATIONS, some.size))
    for start in range(0, SIMULATIONS, _BLOCK):
        rows = slice(start, min(start + _BLOCK, SIMULATIONS))
        drawn = rng.multivariate_hypergeometric(counts, n_pos, rows.stop - rows.start)
        hits = np.concatenate([np.zeros((drawn.shape[0], 1)), np.cumsum(drawn, axis=1)], axis=1)
        fnr, fpr = 1 - hits / n_pos, (total - hits) / n_neg
        best = (fnr[:, :, None] * some + fpr[:, :, None] * (1 - some)).argmin(axis=1)
        miss[rows], alarm[rows] = np.take_along_axis(fnr, best, 1), np.take_along_axis(fpr, best, 1)
    rates = ErrorRates(some, miss, alarm, n_pos, n_neg, "stratified", n_pos / (n_pos + n_neg), 0.0, None)
    known, trivial = (miss == 1) | (alarm == 1), np.minimum(some, 1 - some)
    options = Options(tabulated(mid_p_at), joint=True)

    def room(z: float, which: IntArray) -> FloatArray:
        _, upper = wilson_limits(rates._replace(fnr=miss[which], fpr=alarm[which]), z, options)
        return np.where(known[which], 0.0, upper - trivial)

    return calibrated_critical(room, SIMULATIONS, level)
