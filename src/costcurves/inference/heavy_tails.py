"""The mean of skewed numbers, such as costs of single cases: bootstrap-t limits, and when no limits can be trusted."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from costcurves._base.validation import FloatArray
from costcurves.inference.bands.resampled import order_limits
from costcurves.inference.cost_cells import CostCells
from costcurves.inference.tilted import tilted_limits

# With fewer numbers other than zero than this, the largest possible ones are allowed for, and a warning is given.
FEW = 10
# From this tail index on, the variance is infinite, and no interval holds its level in samples of any usual size.
_HEAVY = 0.5
# With more numbers than this, an expansion replaces resampling.
_MANY = 20_000
# Resampled numbers that are held at a time.
_BLOCK = 2**21


class MeanLimits(NamedTuple):
    """Limits of a mean, and the p-value of the hypothesis that it is zero."""

    lower: float
    upper: float
    p_value: float


def bootstrap_t_limits(
    values: FloatArray, tail: float, n_resamples: int, rng: np.random.Generator, possible: tuple[float, float]
) -> MeanLimits:
    """Return the limits of a mean from the distribution of Student's t over resamples.

    Parameters
    ----------
    values : array of shape (n,)
    tail : float
        What each side may miss: 0.025 for a 95 % interval.
    n_resamples : int
    rng : numpy.random.Generator
    possible : (float, float)
        The smallest and the largest value that a case can have, whether it was seen or not. It matters only if fewer
        than ten values differ from zero: limits then are not beyond those of `tilted_limits` with these two values
        among the possible ones, which also stand where t cannot be computed. For costs, which are never negative, the
        lower limit is the tilted one.

    Notes
    -----
    Of a skewed sample, the mean and its standard error are both small if the rare large values are missing. Quantiles
    of the mean's own bootstrap distribution do not show that; the ratio t* = (mean* - mean)/se* of each resample does.
    The limits are mean - se · t*_{1-tail} and mean - se · t*_{tail}. Only values other than zero are drawn, after their
    number. With more than 20,000 of them the quantiles of t are those of Edgeworth's expansion, z - γ(2z² + 1)/(6√n)
    with the skewness γ.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.heavy_tails import bootstrap_t_limits
    >>> costs = np.concatenate([np.zeros(980), np.arange(1.0, 21.0)])
    >>> found = bootstrap_t_limits(costs, 0.025, 2000, np.random.default_rng(0), (0.0, 20.0))
    >>> found.lower < 0.15 < found.upper
    True
    """
    n, mean = values.size, float(values.mean())
    moved = values[values != 0]
    moved = moved[np.argsort(np.abs(moved), kind="stable")]  # the order of the cases does not matter
    if moved.size == 0 and possible == (0.0, 0.0):
        return MeanLimits(0.0, 0.0, 1.0)
    lower, upper, p = -math.inf, math.inf, 1.0
    if moved.size > 1:
        error = float(values.std()) / math.sqrt(n)
        if error == 0:
            return MeanLimits(mean, mean, 0.0)
        if moved.size > _MANY:
            low_t, high_t, p = _expanded(values, tail, mean / error)
        else:
            t = _resampled_t(moved, n, n_resamples, rng)
            low_t, high_t = (float(end) for end in order_limits(t, 1 - 2 * tail))
            extreme = min(int((t >= mean / error).sum()), int((t <= mean / error).sum()))
            p = min(1.0, 2 * (extreme + 1) / (n_resamples + 1))
        lower, upper = mean - error * high_t, mean - error * low_t
    if moved.size < FEW:
        low, high = tilted_limits([_cells(values, possible)], tail)
        lower, upper = low if possible[0] == 0 else max(lower, low), min(upper, high)
    return MeanLimits(max(lower, possible[0]), min(upper, possible[1]), p)


def _cells(values: FloatArray, possible: tuple[float, float]) -> CostCells:
    """Return the counts of all values, and of the two extreme ones even if they were not seen."""
    seen = np.concatenate([values, possible])
    return CostCells.of(np.append(np.ones(values.size), [0.0, 0.0]), seen).pooled()


def _expanded(values: FloatArray, tail: float, observed: float) -> tuple[float, float, float]:
    """Return the quantiles of t and the p-value by Edgeworth's expansion, which has converged in large samples."""
    from scipy.special import ndtr, ndtri

    away = values - values.mean()
    lean = float((away**3).mean()) / float((away**2).mean()) ** 1.5 / (6 * math.sqrt(values.size))
    z = float(ndtri(1 - tail))
    move = lean * (2 * z * z + 1)
    below = float(ndtr(observed)) + lean * (2 * observed**2 + 1) * math.exp(-0.5 * observed**2) / math.sqrt(2 * math.pi)
    return -z - move, z - move, min(1.0, max(0.0, 2 * min(below, 1 - below)))


def _resampled_t(moved: FloatArray, n: int, size: int, rng: np.random.Generator) -> FloatArray:
    """Return t of resamples of n values, of which all but these are zero; infinite if a resample has no spread."""
    mean = float(moved.sum()) / n
    numbers = rng.binomial(n, moved.size / n, size) if moved.size < n else np.full(size, n)
    sums = np.zeros((2, size))
    block = max(1, _BLOCK // moved.size)
    for start in range(0, size, block):
        some = numbers[start : start + block]
        drawn = moved[rng.integers(0, moved.size, int(some.sum()))]
        ends = np.cumsum(some)
        for row, part in enumerate((drawn, drawn * drawn)):
            total = np.append(0.0, np.cumsum(part))
            sums[row, start : start + block] = total[ends] - total[ends - some]
    means = sums[0] / n
    error = np.sqrt(np.maximum(sums[1] / n - means**2, 0.0) / n)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (means - mean) / error
    flat = error <= 1e-12 * np.abs(moved).max()
    return np.where(flat, np.where(means < mean, -np.inf, np.inf), t)


def doubts(values: FloatArray) -> str | None:
    """Return why no interval of the mean of these values can be trusted, or None if there is no reason.

    Notes
    -----
    The first reason is that fewer than ten values differ from zero. The second is a heavy tail: of m such values, the
    largest k are on average exp(h) times as large as the next, by their logarithms (Hill's estimate of the tail index
    h), with h + h/√k of at least 1/2 both for k = √m and for k = 2√m. With a tail index of 1/2 the variance is
    infinite, and much of the mean may come from values that are larger than any in the data; h/√k is the standard
    error of the estimate. Two sizes k are asked for because the step from cheap to expensive errors is no tail. A
    largest value that occurs three times or more is taken for a cap, beyond which there is nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.heavy_tails import doubts
    >>> doubts(np.arange(100.0)) is None
    True
    >>> doubts(np.append(np.zeros(500), [3.0, 8.0]))
    'only 2 of 502 cases cost anything'
    """
    sizes = np.sort(np.abs(values[values != 0]))
    if sizes.size < FEW:
        return f"only {sizes.size} of {values.size} cases cost anything"
    if sizes[-3] == sizes[-1]:
        return None
    root = math.sqrt(sizes.size)
    tops = (math.ceil(root), min(math.ceil(2 * root), sizes.size - 1))
    index = min(float(np.log(sizes[-k:] / sizes[-k - 1]).mean()) * (1 + 1 / math.sqrt(k)) for k in tops)
    if index < _HEAVY:
        return None
    share = float(sizes[-1] / sizes.sum())
    return (
        f"costs have a heavy tail (tail index up to {index:.2f}), and the largest alone is {100 * share:.0f} % of them"
    )
