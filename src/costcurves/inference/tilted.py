"""Limits of an expected cost by tilting: mid-P tails under the most likely rates that have a given cost.

For every cost that the truth may have there are rates of the cells, errors that were not seen among them, which make
the data most likely. A cost is inside the interval if the observed mean is not in the tails of the bootstrap from those
rates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from costcurves._base.validation import FloatArray
from costcurves.inference.cost_cells import CostCells, mean_of_cells, spread_of_cells
from costcurves.inference.kernel.distribution import exact_distribution
from costcurves.inference.kernel.strata import Stratum, bernstein_tail

# Limits are found to this part of the range of tilts; their tails are then right to about as much.
_ACCURACY = 1e-6


def tilted_rates(cells: CostCells, tilt: float) -> FloatArray:
    """Return the rates that are most likely among those of their mean: counts over (η + tilt · value).

    A negative tilt raises the mean. η makes the sum one; where the seen cells cannot reach that while all
    denominators are positive, what is left is the rate of the extreme value, which was not seen.

    Parameters
    ----------
    cells : CostCells
        Pooled, so that values are distinct and ascending.
    tilt : float
    """
    n = cells.draws
    if tilt == 0:
        return np.asarray(cells.counts / n)
    extreme = 0 if tilt > 0 else -1
    values = cells.values
    with np.errstate(over="ignore"):  # an infinite height has no share, as it should
        heights = tilt * (values - values[extreme])  # 0 at the extreme, positive elsewhere
    seen = cells.counts > 0
    counts, above = cells.counts[seen], heights[seen]
    out = np.zeros(cells.counts.size)
    if not seen[extreme] and float((counts / above).sum()) <= 1:
        out[seen] = counts / above
        out[extreme] = max(0.0, 1 - float(out.sum()))
        return out
    # The sum of counts/(η + height) falls in η from at least 1 here to at most 1 at η = n. It is convex, so Newton's
    # steps come from one side.
    eta, high = float(cells.counts[extreme]), float(n)
    for _ in range(200):
        parts = counts / (eta + above)
        step = (float(parts.sum()) - 1) / float((parts / (eta + above)).sum())
        eta = min(high, eta + step)
        if abs(step) <= 1e-13 * high:
            break
    out[seen] = counts / (eta + above)
    return np.asarray(out / out.sum())


def mean_of(cells: Sequence[CostCells], tilt: float) -> float:
    """Return the mean of the statistic under tilted rates."""
    return float(sum(tilted_rates(one, tilt) @ one.values for one in cells))


def _strata(cells: Sequence[CostCells], tilt: float) -> list[Stratum]:
    return [Stratum(one.draws, tilted_rates(one, tilt), one.values / one.draws) for one in cells]


def tilted_tails(cells: Sequence[CostCells], tilt: float) -> tuple[float, float]:
    """Return the probabilities of less and of more than the observed statistic under tilted rates; ties count half."""
    observed = mean_of_cells(cells)
    distribution = exact_distribution(_strata(cells, tilt))
    if distribution.std <= 1e-12 * max(float(np.abs(one.values).max()) for one in cells):
        return 0.5, 0.5
    near = max(1e-9 * distribution.std, 4e-12 * abs(observed))
    below, at_most = distribution.cdf([observed - near, observed + near])
    middle = 0.5 * float(below + at_most)
    return middle, 1 - middle


def _scale(cells: Sequence[CostCells]) -> float:
    """Return a tilt that moves the mean by about one standard error."""
    widest = max(float(np.ptp(one.values)) / one.draws for one in cells)
    return 1 / max(spread_of_cells(cells), widest, 1e-300)


def tilted_limits(
    cells: Sequence[CostCells], lower_tail: float, upper_tail: float | None = None
) -> tuple[float, float]:
    """Return the means at which the observed statistic has just these tails above and below it.

    Parameters
    ----------
    cells : sequence of CostCells
        Independent strata, pooled.
    lower_tail, upper_tail : float
        How often each limit may miss, 0.025 for a 95 % interval; by default both alike.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.rates import critical, mid_p_at
    >>> cells = [CostCells.of(np.array([97, 3]), np.array([0.0, 1.0]))]
    >>> np.round(tilted_limits(cells, 0.025), 5), np.round(mid_p_at(3, 100, critical(0.95)), 5)
    (array([0.00769, 0.07945]), array([0.00769, 0.07945]))
    """
    return _limit(cells, lower_tail, 1), _limit(cells, lower_tail if upper_tail is None else upper_tail, -1)


def _limit(cells: Sequence[CostCells], tail: float, side: int) -> float:
    """Return the lower limit (side 1, positive tilts) or the upper one (side -1)."""
    from scipy.optimize import brentq
    from scipy.special import ndtri

    extreme = float(sum(one.values[0 if side > 0 else -1] for one in cells))
    observed = mean_of_cells(cells)
    if abs(observed - extreme) <= 1e-12 * max(abs(observed), abs(extreme)):
        return extreme
    z = float(ndtri(tail))

    def excess(tilt: float) -> float:
        # As a normal quantile the tail is nearly linear in the tilt, so the search takes few steps.
        below, above = tilted_tails(cells, side * tilt)
        return float(ndtri(max(above if side > 0 else below, 1e-300))) - z

    if excess(0.0) <= 0:
        return observed  # at a level so low that even the observed mean leaves too little beyond it
    near, far = 0.0, max(-1.2 * z, 1e-3) * _scale(cells)
    while excess(far) > 0:
        near, far = far, 2 * far
        if not math.isfinite(far):
            return extreme
    return mean_of(cells, side * float(brentq(excess, near, far, xtol=_ACCURACY * far, rtol=_ACCURACY)))


def _tilt_of(cells: Sequence[CostCells], mean: float) -> float | None:
    """Return the tilt at which the rates have a given mean; None where no tilt moves them so far."""
    from scipy.optimize import brentq

    observed = mean_of_cells(cells)
    if mean == observed:
        return 0.0
    side = 1 if mean < observed else -1
    far = _scale(cells)
    while side * (mean_of(cells, side * far) - mean) > 0:
        far *= 2
        if not math.isfinite(far):
            return None
    return side * float(brentq(lambda t: mean_of(cells, side * t) - mean, 0.0, far, xtol=1e-12 * far, rtol=1e-12))


def tilted_tails_at(cells: Sequence[CostCells], mean: float) -> tuple[float, float]:
    """Return how likely less and more than the observed statistic is where its mean is a given one.

    Examples
    --------
    >>> import numpy as np
    >>> cells = [CostCells.of(np.array([97, 3]), np.array([0.0, 1.0]))]
    >>> np.round(tilted_tails_at(cells, 0.07945), 4)
    array([0.025, 0.975])
    """
    tilt = _reachable_tilt(cells, mean)
    if tilt is not None:
        return tilted_tails(cells, tilt)
    observed = mean_of_cells(cells)
    return (0.5, 0.5) if mean == observed else (1.0, 0.0) if mean < observed else (0.0, 1.0)


def tilted_tail_bound(cells: Sequence[CostCells], mean: float) -> float:
    """Return a bound on the chance of at most the observed statistic where its mean is a higher one (Bernstein)."""
    tilt = _reachable_tilt(cells, mean)
    if tilt is None or tilt >= 0:
        return 0.0 if mean > mean_of_cells(cells) else 1.0
    mirrored = [Stratum(s.draws, s.probabilities, -s.values) for s in _strata(cells, tilt)]
    return bernstein_tail(mirrored, -mean_of_cells(cells))


def _reachable_tilt(cells: Sequence[CostCells], mean: float) -> float | None:
    """Return the tilt of a mean, or None where no rates have that mean."""
    lowest, highest = (float(sum(one.values[end] for one in cells)) for end in (0, -1))
    return _tilt_of(cells, mean) if lowest < mean < highest else None
