"""How many errors a sample may show so that a limit on their rate is kept on new cases, by exact binomial tails."""

from __future__ import annotations

import math
from bisect import bisect_right

import numpy as np

# Panels of the integral end at these normal quantiles of both factors, and each has this many nodes.
_ENDS = np.arange(-8.0, 8.5, 1.0)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_MOST_CASES = 2**50


def cases_needed(rate: float, error: float) -> int:
    """Return how many cases without an error show that the rate is at most this, but for a probability `error`.

    It is 2⁵⁰ if more are needed, because their number could not be found exactly, and no data set has as many.

    Parameters
    ----------
    rate, error : float in (0, 1)

    Notes
    -----
    n cases at the rate r are all without an error with probability (1 - r)^n, so n >= log(error) / log(1 - r).

    Examples
    --------
    >>> cases_needed(0.05, 0.05), cases_needed(0.01, 0.05)
    (59, 299)
    """
    about = math.log(error) / math.log1p(-rate)
    if about > _MOST_CASES:
        return _MOST_CASES
    n = max(math.ceil(about), 1)
    while n > 1 and allowance(n - 1, rate, error) >= 0:  # rounding of the logarithms
        n -= 1
    while allowance(n, rate, error) < 0:
        n += 1
    return n


def allowance(n: int, rate: float, error: float) -> int:
    """Return the largest k such that at most k errors in n cases at this rate have at most the probability `error`.

    It is -1 where even a sample without any error has a larger probability.

    Examples
    --------
    >>> allowance(58, 0.05, 0.05), allowance(59, 0.05, 0.05), allowance(1000, 0.05, 0.05)
    (-1, 0, 38)
    """
    return bisect_right(range(n), error, key=lambda k: at_most(k, n, rate)) - 1


def at_most(count: int, n: int, rate: float) -> float:
    """Return the probability of at most `count` errors in n cases at a rate.

    Examples
    --------
    >>> round(at_most(0, 59, 0.05), 5)
    0.04849
    """
    from scipy.special import betaincc

    return 1.0 if count >= n else float(betaincc(count + 1, n - count, rate))


def largest_rate(count: int, n: int, error: float) -> float:
    """Return the rate at which at most `count` errors in n cases have just the probability `error`.

    It is the upper limit of Clopper and Pearson with all of `error` on one side.

    Examples
    --------
    >>> round(largest_rate(0, 59, 0.05), 5), largest_rate(59, 59, 0.05)
    (0.04951, 1.0)
    """
    from scipy.special import betainccinv

    return 1.0 if count >= n else float(betainccinv(count + 1, n - count, error))


def split_error(error: float, first: float, second: float) -> tuple[float, float]:
    """Return the parts of an error for two independent statements, in proportion to two positive weights.

    Both statements hold with the probability (1 - first part)(1 - second part) = 1 - error.

    Examples
    --------
    >>> [round(part, 4) for part in split_error(0.05, 3.0, 1.0)]
    [0.0377, 0.0127]
    """
    share = first / (first + second)
    whole = math.log1p(-error)
    return -math.expm1(share * whole), -math.expm1((1.0 - share) * whole)


def chance_of_ratio(false: int, n_neg: int, found: int, n_pos: int, ratio: float) -> float:
    """Return P(V <= ratio·U) for independent V ~ Beta(found, n_pos - found + 1), U ~ Beta(false + 1, n_neg - false).

    Of thresholds that are picked by negatives alone to have at most `false` false alarms in n_neg cases, it bounds the
    probability that at least `found` of n_pos positives are found although tpr < ratio·fpr.

    Parameters
    ----------
    false, n_neg, found, n_pos : int
        With 0 <= false < n_neg and 1 <= found <= n_pos.
    ratio : float > 0

    Notes
    -----
    The fpr of such a threshold is larger than u with at most the probability P(Bin(n_neg, u) <= false) = P(U > u), so
    it is stochastically at most U. At a tpr of at most ratio·u at least `found` positives are found with at most the
    probability P(Bin(n_pos, ratio·u) >= found) = P(V <= ratio·u), which rises with u and so may be averaged over U.

    Examples
    --------
    >>> round(chance_of_ratio(51, 700, 119, 300, 3.5), 5)
    0.00182
    """
    from scipy.special import betainc, betaincc, betainccinv, betaincinv, betaln, ndtr

    u, v = (false + 1, n_neg - false), (found, n_pos - found + 1)
    low, high = ndtr(_ENDS[_ENDS <= 0]), ndtr(-_ENDS[_ENDS > 0])
    ends = [
        inverse(*shape, tails) / scale
        for shape, scale in ((u, 1.0), (v, ratio))
        for inverse, tails in ((betaincinv, low), (betainccinv, high))
    ]
    top = min(float(ends[1].max()), 1.0 / ratio)
    edges = np.unique(np.clip(np.concatenate([*ends, [top]]), float(ends[0].min()), top))
    half = np.diff(edges)[:, None] / 2
    at = edges[:-1, None] + half * (1 + _NODES)
    density = np.exp((u[0] - 1) * np.log(at) + (u[1] - 1) * np.log1p(-at) - betaln(*u))
    inside = (half * _WEIGHTS * density * betainc(*v, np.minimum(ratio * at, 1.0))).sum()
    return float(min(inside + betaincc(*u, top), 1.0))
