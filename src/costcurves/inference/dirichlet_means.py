"""Limits of a mean whose values have a known extreme: means of the values under random (Dirichlet) weights.

Give every case, and one more case with the extreme value, a weight, all weights being exponential variables divided by
their sum. The quantiles of the weighted mean limit the expected value: the lower one if the extreme is the smallest
possible value, the upper one if it is the largest. Where cases have only two values, these are the limits of Clopper
and Pearson.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from costcurves._base.validation import FloatArray

# With more distinct values than this, neighbours in the middle are replaced by their mean.
_MOST_VALUES = 4096
# The steps of the integral, as hyperbolic sines, the farthest, and the terms that are computed at a time.
_STEP, _FAR, _BLOCK = 0.04, 25.0, 200_000


class Weighted(NamedTuple):
    """Distinct values and how many cases have them."""

    values: FloatArray
    counts: FloatArray

    @classmethod
    def of(cls, values: FloatArray) -> Weighted:
        """Return the distinct values in ascending order."""
        found, many = np.unique(values, return_counts=True)
        counts = many.astype(np.float64)
        if found.size <= _MOST_VALUES:
            return cls(found, counts)
        ends = _MOST_VALUES // 4
        cuts = np.linspace(ends, found.size - ends, 2 * ends + 1).astype(np.int64)[:-1]
        starts = np.concatenate([np.arange(ends), cuts, np.arange(found.size - ends, found.size)])
        pooled = np.add.reduceat(counts, starts)
        return cls(np.add.reduceat(found * counts, starts) / pooled, pooled)

    def with_extreme(self, extreme: float) -> Weighted:
        """Return the values with one more case."""
        same = self.values == extreme
        if same.any():
            return Weighted(self.values, self.counts + same)
        return Weighted(np.append(self.values, extreme), np.append(self.counts, 1.0))

    @property
    def mean(self) -> float:
        """The mean of the values."""
        return float(self.values @ self.counts / self.counts.sum())

    def mirrored(self) -> Weighted:
        """Return the values with the other sign, in ascending order."""
        return Weighted(-self.values[::-1], self.counts[::-1])


def chance_below(cases: Weighted, at: float) -> float:
    """Return how likely the randomly weighted mean is at most a number.

    Notes
    -----
    The mean is at most m where Σ (x - m) G is not positive, with a gamma variable G for each distinct value x, whose
    shape is the number of cases. That chance is an integral of the moment generating function over a line through its
    saddle point, by the trapezoidal rule in hyperbolic sines.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import betainc
    >>> from costcurves.inference.dirichlet_means import Weighted, chance_below
    >>> cases = Weighted(np.array([0.0, 1.0]), np.array([97.0, 4.0]))
    >>> bool(np.isclose(chance_below(cases, 0.05), betainc(4, 97, 0.05)))
    True
    """
    away = cases.values - at
    size = float(np.abs(away).max())
    if away.max() <= 0:
        return 1.0
    if away.min() >= 0:
        return 0.0
    away = away / size
    above = float(cases.counts @ away) < 0  # the smaller of the two tails is computed
    tail = _tail(away if above else -away, cases.counts)
    return 1 - tail if above else tail


def _tail(away: FloatArray, counts: FloatArray) -> float:
    """Return the chance of a positive sum of gamma variables times numbers of both signs."""
    low, high = 0.0, 1 / float(away.max())
    at = 0.5 * high
    for _ in range(200):  # Newton's method for the saddle point, with bisection where it leaves the bracket
        ratio = away / (1 - at * away)
        slope = float(counts @ ratio) - 1 / at
        low, high = (low, at) if slope > 0 else (at, high)
        new = at - slope / (float(counts @ ratio**2) + 1 / at**2)
        new = new if low < new < high else 0.5 * (low + high)
        done, at = abs(new - at) <= 1e-10 * at, new
        if done:
            break
    rest = 1 - at * away
    ratio = away / rest
    width = 1 / math.sqrt(float(counts @ ratio**2) + 1 / at**2)
    points = np.arange(0, _FAR, _STEP)
    total, first, block = 0.0, 0.0, max(1, _BLOCK // away.size)
    for start in range(0, points.size, block):
        here = points[start : start + block]
        step = width * np.sinh(here)
        turned = step[:, None] * ratio
        logs = -0.5 * (np.log1p(turned**2) @ counts) + 1j * (np.arctan(turned) @ counts)
        terms = np.exp(logs) / (at + 1j * step) * width * np.cosh(here)
        if start == 0:
            first = abs(terms[0])
            terms[0] *= 0.5
        total += float(terms.real.sum())
        if abs(terms[-1]) < 1e-12 * first:
            break
    height = -float(counts @ np.log(rest))
    return min(1.0, max(0.0, math.exp(height) * total * _STEP / math.pi))


def lower_limit(cases: Weighted, smallest: float, tail: float) -> float:
    """Return the lower limit of the expected value, which is above it in at most this share of data sets.

    Parameters
    ----------
    cases : Weighted
    smallest : float
        The smallest value that is possible, whether it was seen or not.
    tail : float

    Notes
    -----
    That the limit holds for all distributions with that smallest value was conjectured by Gaffke (2005) and has
    not been refuted; Learned-Miller and Thomas (2019) compare it with limits that are proven, which are wider.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.dirichlet_means import Weighted, lower_limit
    >>> from scipy.stats import binomtest
    >>> limit = lower_limit(Weighted(np.array([0.0, 1.0]), np.array([97.0, 3.0])), 0.0, 0.025)
    >>> bool(np.isclose(limit, binomtest(3, 100).proportion_ci(0.95).low))
    True
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    mean, more = cases.mean, cases.with_extreme(smallest)
    if mean <= smallest:
        return mean
    z = float(ndtri(tail))

    def excess(at: float) -> float:
        # As a normal quantile the tail is nearly linear, so the search takes few steps.
        return float(ndtri(max(chance_below(more, at), 1e-300))) - z

    if excess(mean) <= 0:
        return mean  # at a level so low that even the mean leaves too little below it
    spread = math.sqrt(float(cases.counts @ (cases.values - mean) ** 2)) / float(cases.counts.sum())
    step = max(2 * spread, 1e-6 * (mean - smallest))
    low = mean - step
    while low > smallest and excess(low) > 0:
        step *= 2
        low = mean - step
    low = max(low, smallest)
    return float(brentq(excess, low, mean, xtol=1e-9 * (mean - low), rtol=1e-12))
