"""Limits of an expected cost by tilting: mid-P tails under the most likely rates that have a given cost.

For every cost that the truth may have there are rates of the cells, errors that were not seen among them, which make
the data most likely. A cost is inside the interval if the observed mean is not in the tails of the bootstrap from those
rates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import FloatArray, frozen
from costcurves.inference.kernel.distribution import exact_distribution
from costcurves.inference.kernel.strata import Stratum

# Limits are found to this part of the range of tilts; their tails are then right to about as much.
_ACCURACY = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class TiltCells:
    """Counts of the values of one stratum; a count of 0 is a value that may occur and was not seen.

    Attributes
    ----------
    counts, values : arrays of shape (cells,)
        Distinct values, ascending; what a rate of one in each cell is worth.
    """

    counts: FloatArray
    values: FloatArray

    @classmethod
    def pooled(cls, counts: npt.NDArray[Any], values: FloatArray) -> TiltCells:
        """Return cells of which those of equal value are one.

        Examples
        --------
        >>> import numpy as np
        >>> cells = TiltCells.pooled(np.array([5, 1, 0, 2]), np.array([0.0, 3.0, 9.0, 3.0]))
        >>> cells.counts.tolist(), cells.values.tolist()
        ([5.0, 3.0, 0.0], [0.0, 3.0, 9.0])
        """
        distinct, at = np.unique(values.ravel(), return_inverse=True)
        merged = np.bincount(at.ravel(), weights=counts.ravel(), minlength=distinct.size)
        return cls(frozen(merged), frozen(distinct))

    @property
    def draws(self) -> int:
        """The number of examples."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """The mean of the examples' values."""
        return float(self.counts @ self.values) / self.draws

    def rates(self, tilt: float) -> FloatArray:
        """Return the rates that are most likely among those of their mean: counts over (η + tilt · value).

        A negative tilt raises the mean. η makes the sum one; where the seen cells cannot reach that while all
        denominators are positive, what is left is the rate of the extreme value, which was not seen.
        """
        if tilt == 0:
            return np.asarray(self.counts / self.draws)
        heights = tilt * (self.values - self.values[0 if tilt > 0 else -1])  # 0 at the extreme, positive elsewhere
        extreme = 0 if tilt > 0 else -1
        seen = self.counts > 0
        counts, above = self.counts[seen], heights[seen]
        out = np.zeros(self.counts.size)
        if not seen[extreme] and float((counts / above).sum()) <= 1:
            out[seen] = counts / above
            out[extreme] = max(0.0, 1 - float(out.sum()))
            return out
        # The sum of counts/(η + height) falls in η from at least 1 here to at most 1 at η = n. In log η Newton's
        # steps from the left come from one side; the sum is convex.
        low, high = float(max(self.counts[extreme], 0.0)), float(self.draws)
        eta = low
        for _ in range(200):
            parts = counts / (eta + above)
            excess = float(parts.sum()) - 1
            slope = float((parts / (eta + above)).sum())
            step = excess / slope
            eta = min(high, eta + step)
            if abs(step) <= 1e-13 * high:
                break
        out[seen] = counts / (eta + above)
        return np.asarray(out / out.sum())


def mean_of(cells: Sequence[TiltCells], tilt: float) -> float:
    """Return the mean of the statistic under tilted rates."""
    return float(sum(one.rates(tilt) @ one.values for one in cells))


def tilted_tails(cells: Sequence[TiltCells], tilt: float) -> tuple[float, float]:
    """Return how likely less and more than the observed statistic is under tilted rates; what is equal counts half."""
    observed = sum(one.mean for one in cells)
    strata = [Stratum(one.draws, one.rates(tilt), one.values / one.draws) for one in cells]
    distribution = exact_distribution(strata)
    if distribution.std <= 1e-12 * max(float(np.abs(one.values).max()) for one in cells):
        return 0.5, 0.5
    near = max(1e-9 * distribution.std, 4e-12 * abs(observed))
    below, at_most = distribution.cdf([observed - near, observed + near])
    middle = 0.5 * float(below + at_most)
    return middle, 1 - middle


def _scale(cells: Sequence[TiltCells]) -> float:
    """Return a tilt that moves the mean by about one standard error."""
    variance = sum((one.counts @ (one.values - one.mean) ** 2) / one.draws**2 for one in cells)
    widest = max(float(np.ptp(one.values)) / one.draws for one in cells)
    return 1 / max(math.sqrt(float(variance)), widest, 1e-300)


def tilted_limits(cells: Sequence[TiltCells], tail: float) -> tuple[float, float]:
    """Return the means at which the observed statistic has just so much in its lower and in its upper tail.

    Parameters
    ----------
    cells : sequence of TiltCells
        Independent strata.
    tail : float
        What each side may miss, 0.025 for a 95 % interval.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.rates import critical, mid_p_at
    >>> cells = [TiltCells.pooled(np.array([97, 3]), np.array([0.0, 1.0]))]
    >>> np.round(tilted_limits(cells, 0.025), 5), np.round(mid_p_at(3, 100, critical(0.95)), 5)
    (array([0.00769, 0.07945]), array([0.00769, 0.07945]))
    """
    lower = _limit(cells, tail, 1)
    return lower, _limit(cells, tail, -1)


def _limit(cells: Sequence[TiltCells], tail: float, side: int) -> float:
    """Return the lower limit (side 1, positive tilts) or the upper one (side -1)."""
    from scipy.optimize import brentq

    extreme = float(sum(one.values[0 if side > 0 else -1] for one in cells))
    observed = float(sum(one.mean for one in cells))
    if abs(observed - extreme) <= 1e-12 * max(abs(observed), abs(extreme)):
        return extreme

    def excess(tilt: float) -> float:
        below, above = tilted_tails(cells, side * tilt)
        return math.log(max(above if side > 0 else below, 1e-300) / tail)

    near, far = 0.0, 2 * _scale(cells)
    while excess(far) > 0:
        near, far = far, 2 * far
        if not math.isfinite(far):
            return extreme
    return mean_of(cells, side * float(brentq(excess, near, far, xtol=_ACCURACY * far, rtol=_ACCURACY)))


def tilted_tails_at(cells: Sequence[TiltCells], mean: float) -> tuple[float, float]:
    """Return how likely less and more than the observed statistic is where its mean is a given one.

    Examples
    --------
    >>> import numpy as np
    >>> cells = [TiltCells.pooled(np.array([97, 3]), np.array([0.0, 1.0]))]
    >>> np.round(tilted_tails_at(cells, 0.07945), 4)
    array([0.025, 0.975])
    """
    from scipy.optimize import brentq

    observed = float(sum(one.mean for one in cells))
    lowest, highest = (float(sum(one.values[end] for one in cells)) for end in (0, -1))
    if not lowest < mean < highest:
        inside = mean == observed
        return (0.5, 0.5) if inside else (1.0, 0.0) if mean <= lowest else (0.0, 1.0)
    side = 1 if mean < observed else -1
    if mean == observed:
        return tilted_tails(cells, 0.0)
    far = _scale(cells)
    while side * (mean_of(cells, side * far) - mean) > 0:
        far *= 2
        if not math.isfinite(far):
            return (1.0, 0.0) if side > 0 else (0.0, 1.0)
    tilt = brentq(lambda t: mean_of(cells, side * t) - mean, 0.0, far, xtol=1e-12 * far, rtol=1e-12)
    return tilted_tails(cells, side * float(tilt))
