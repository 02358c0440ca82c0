"""Intervals for rates and for weighted sums of rates that hold their level in small samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.validation import FloatArray, check_level, shown

# limits(count, total, z): lower and upper limit of a rate at a normal critical value.
Limits = Callable[[FloatArray, Any, Any], tuple[FloatArray, FloatArray]]


# From this count on, and up to this tail, normal limits are close enough to start from.
_MANY = 30
_FAR = 1e-6


def critical(level: float) -> float:
    """Return the two-sided normal critical value of a level."""
    from scipy.special import ndtri

    return float(ndtri(0.5 + 0.5 * check_level(level)))


def pointwise_level(z: float) -> float:
    """Return the two-sided level whose normal critical value is `z`."""
    from scipy.special import ndtr

    return float(1 - 2 * ndtr(-z))


def check_counts(name: str, count: npt.ArrayLike, total: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return counts and totals as broadcast floats with 0 <= count <= total and total > 0."""
    try:
        k, n = np.asarray(count, dtype=np.float64), np.asarray(total, dtype=np.float64)
        if n.ndim:
            k, n = np.broadcast_arrays(k, n)
    except (TypeError, ValueError):
        raise InputError(f"`{name}` must be numeric and match its total, got {shown(count)}") from None
    if not (n > 0).all() or not np.isfinite(n).all():
        raise InputError(f"`{name}` must come with a total > 0, got {shown(n.min(initial=0.0))}")
    most = n * (1 + 1e-12)
    sure = not n.ndim and k.size and k.min() >= 0 and k.max() <= most  # in two passes if there is a single total
    n = np.broadcast_to(n, k.shape)
    if not sure and (bad := ~((k >= 0) & (k <= most))).any():
        first = np.flatnonzero(bad.ravel())[0]
        raise InputError(
            f"`{name}` must be in [0, {shown(n.ravel()[first])}], got {shown(k.ravel()[first])} at position {first}"
        )
    return np.minimum(k, n), n


def _wilson(k: FloatArray, n: FloatArray, z: float) -> tuple[FloatArray, FloatArray]:
    """Return Wilson's score interval of a rate, of checked counts; fractions are effective counts of weighted data."""
    if k.ndim and n.size and not any(n.strides):
        n = n.ravel()[:1]  # a single total, for which some steps are taken once
    p = k / n
    shrink = 1 / (1 + z * z / n)
    center = (p + z * z / (2 * n)) * shrink
    half = z * shrink * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    lower = np.where(k == 0, 0.0, np.clip(center - half, 0.0, p))
    upper = np.where(k == n, 1.0, np.clip(center + half, p, 1.0))
    return lower, upper


def mended_wilson(count: npt.ArrayLike, total: npt.ArrayLike, z: float) -> tuple[FloatArray, FloatArray]:
    """Return Wilson's interval with the exact Poisson limit if a single example is wrong, or a single one right.

    Wilson's lower limit for one error in n at 90 % is 0.22/n, and at a rate of 0.22/n an error occurs in 20 % of all
    samples, not in 5 %: costs whose variance comes from such a class were covered in 87.4 %. The correction is that of
    Brown, Cai and DasGupta (2001). For effective counts between one and two the limit changes linearly.
    """
    from scipy.special import gammaincinv, ndtr

    k, n = check_counts("count", count, total)
    lower, upper = _wilson(k, n, z)

    def mended(k: FloatArray, limit: FloatArray) -> FloatArray:
        few = (k > 0) & (k < 2)
        out = np.array(limit)
        if few.any():
            count, found = k[few], out[few]
            part = np.clip(2 - count, 0.0, 1.0)
            exact = gammaincinv(np.clip(count, 1e-9, 1.0), ndtr(-z)) / n[few]
            out[few] = (1 - part) * found + part * np.minimum(found, exact)
        return out

    return mended(k, lower), 1 - mended(n - k, 1 - upper)


def vertex_limits(rate: FloatArray, size: float, level: float) -> tuple[FloatArray, FloatArray]:
    """Return limits of the error rates at the vertices of a classifier's hull, each at this confidence level.

    The first and the last vertex are the trivial classifiers, whose rates are known.
    """
    lower, upper = mended_wilson(rate * size, size, critical(level))
    lower[[0, -1]], upper[[0, -1]] = rate[[0, -1]], rate[[0, -1]]
    return lower, upper


def _wilson_lower(k: FloatArray, n: FloatArray, z: FloatArray) -> FloatArray:
    """Return the lower of Wilson's limits, unchecked."""
    p, square = k / n, z * z
    half = z * np.sqrt(p * (1 - p) / n + square / (4 * n * n))
    return np.asarray((p + square / (2 * n) - half) / (1 + square / n))


def _mid_p_lower(k: FloatArray, n: FloatArray, tail: FloatArray) -> FloatArray:
    """Return the rate at which P(K > k) + P(K = k) / 2 is `tail`; 0 where k = 0."""
    from scipy.special import betainc, betaincinv, ndtri

    out = np.zeros(k.shape)
    some = (k > 0) & (tail > 0)
    k, n, tail = k[some], n[some], tail[some]
    rest = n - k
    log_beta = _log_beta(k, rest + 1)
    # Newton's method starts from Clopper and Pearson's limit, which lies below: log tail is concave in log rate, so the
    # steps come from one side and do not overshoot. If both counts are large, Wilson's limit is as close and faster to
    # compute; if it lies above, the first step lands below.
    start = _wilson_lower(k, n, -ndtri(tail))
    few = (np.minimum(k, rest) < _MANY) | (tail < _FAR)
    start[few] = np.maximum(betaincinv(k[few], rest[few] + 1, tail[few]), 1e-300)
    found, left = np.log(start), np.arange(k.size)
    for _ in range(20):
        u = found[left]
        p = np.exp(u)
        log_rest = np.log1p(-np.minimum(p, 1 - 1e-16))
        at = np.exp(k * u + rest * log_rest - log_beta)  # k P(K = k), the slope of P(K >= k) in u
        above = at * np.exp(u - log_rest) * (rest / k)  # that of P(K > k)
        mass = np.maximum(betainc(k, rest + 1, p) - 0.5 * at / k, 1e-300)
        step = np.log(tail / mass) * mass / np.maximum(0.5 * (at + above), 1e-300)
        found[left] = u = np.minimum(u + step, np.log(k / n))
        # The remaining error is of the order of the square of the step; near a rate of 1, 1 - rate must be accurate.
        # Each rate takes the steps that it needs, so that its limit does not depend on what else is asked for.
        more = ~(np.abs(step) <= 1e-9 * -np.expm1(u))
        if not more.any():
            break
        k, n, rest, tail, log_beta, left = (x[more] for x in (k, n, rest, tail, log_beta, left))
    out[some] = np.exp(found)
    return out


def _log_beta(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return log B(a, b), without the cancellation that differences of log-gamma have if an argument is large."""
    from scipy.special import betaln, gammaln

    small, large = np.minimum(a, b), np.maximum(a, b)
    z = np.maximum(large, 20.0)

    def rest(x: FloatArray) -> FloatArray:
        """Return the remainder of Stirling's formula."""
        y = 1 / (x * x)
        return np.asarray((1 / 12 - y * (1 / 360 - y * (1 / 1260 - y / 1680))) / x)

    rise = (z + small - 0.5) * np.log1p(small / z) - small + small * np.log(z) + rest(z + small) - rest(z)
    return np.asarray(np.where(large >= 20, gammaln(small) - rise, betaln(a, b)))


def mover(
    weights: tuple[FloatArray, ...],
    estimates: tuple[FloatArray, ...],
    intervals: tuple[tuple[FloatArray, FloatArray], ...],
    correlation: FloatArray | float = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """Combine intervals of independent rates into one of their weighted sum (variance estimates recovery).

    Parameters
    ----------
    weights, estimates : tuples of arrays
        Nonnegative weights and the estimates they multiply.
    intervals : tuple of (lower, upper)
        An interval for each estimate, all at one critical value.
    correlation : array or float
        Correlation of the first two estimates (not 0 under full sampling, because errors share the n draws).

    Notes
    -----
    lower = Σ w e - sqrt(Σ (w (e - l))²), upper = Σ w e + sqrt(Σ (w (u - e))²): each one-sided distance is a
    variance estimate at the limit, where it matters, and not at the estimate (Zou and Donner 2008).
    """
    total = sum((w * e for w, e in zip(weights, estimates, strict=True)), np.zeros(()))
    below = [w * (e - low) for w, e, (low, _) in zip(weights, estimates, intervals, strict=True)]
    above = [w * (high - e) for w, e, (_, high) in zip(weights, estimates, intervals, strict=True)]

    def length(parts: list[FloatArray]) -> FloatArray:
        square = sum((p * p for p in parts), np.zeros(()))
        if len(parts) > 1:
            square = square + 2 * correlation * parts[0] * parts[1]
        return np.asarray(np.sqrt(np.maximum(square, 0.0)))

    return np.asarray(total - length(below)), np.asarray(total + length(above))


def mid_p_at(count: npt.ArrayLike, total: npt.ArrayLike, z: FloatArray | float) -> tuple[FloatArray, FloatArray]:
    """Return the mid-P interval of a rate: exact tails, in which the observed count is counted half.

    Its tails are right also at large critical values, where those of Wilson's interval are not: at a critical value of
    3, as simultaneous bands of moving thresholds use, Wilson's lower limit for one error in n is 0.09/n, and at a rate
    of 0.09/n an error occurs in 9 % of all samples, not in 0.1 %.

    Parameters
    ----------
    count, total : array_like
        Errors and examples; fractions are allowed.
    z : float or array
        Normal critical value.
    """
    from scipy.special import ndtr

    k, n, tail = np.broadcast_arrays(np.asarray(count, float), np.asarray(total, float), ndtr(-np.asarray(z)))
    # Few counts are different along a curve, and the equation is solved once for each of them.
    if not (any(n.strides) or any(tail.strides)):  # counts alone are sorted much faster
        few, where = np.unique(k.ravel(), return_inverse=True)
        size, tail = (np.full(few.size, x.flat[0] if x.size else 0.0) for x in (n, tail))
    else:
        rows, where = np.unique(np.stack([k.ravel(), n.ravel(), tail.ravel()]), axis=1, return_inverse=True)
        few, size, tail = rows
    lower, upper = (_mid_p_limit(few, size, tail, upper=side) for side in (False, True))
    return lower[where.ravel()].reshape(k.shape), upper[where.ravel()].reshape(k.shape)


def _mid_p_limit(k: FloatArray, n: FloatArray, tail: FloatArray, *, upper: bool) -> FloatArray:
    """Return one of the mid-P limits, unchecked."""
    if upper:
        return np.maximum(1 - _mid_p_lower(n - k, n, tail), k / n)
    return np.minimum(_mid_p_lower(k, n, tail), k / n)


def mid_p_cost_limit(
    counts: tuple[FloatArray, FloatArray], sizes: tuple[float, float], pc: float, z: FloatArray, *, upper: bool
) -> FloatArray:
    """Return the upper or the lower limit of normalized costs, from mid-P limits of misses and false alarms.

    It is one side of `mover` for arrays of misses and alarms, each with its own critical value.
    """
    from scipy.special import ndtr

    tail, sign = ndtr(-z), 1.0 if upper else -1.0
    total, square = np.zeros(()), np.zeros(())
    for k, n, weight in zip(counts, sizes, (pc, 1 - pc), strict=True):
        rate = k / n
        part = weight * (_mid_p_limit(k, np.full(k.shape, n), tail, upper=upper) - rate)
        total, square = total + weight * rate, square + part * part
    return np.asarray(total + sign * np.sqrt(square))


class SolvedOnce:
    """Limits of rates at one critical value that are solved once for each count, however often they are asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.rates import SolvedOnce, mid_p_at
    >>> limits, counts = SolvedOnce(mid_p_at), np.array([3.0, 7.0, 3.0])
    >>> bool((limits(counts, 20.0, 1.96)[0] == mid_p_at(counts, 20.0, 1.96)[0]).all())
    True
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._solved: dict[tuple[float, float], tuple[FloatArray, ...]] = {}  # counts, lower and upper

    def __call__(self, count: FloatArray, total: float, z: float) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper."""
        known, lower, upper = self._solved.get((total, z), (np.zeros(0),) * 3)
        missing = np.setdiff1d(count, known)
        if missing.size:
            more = (missing, *self._limits(missing, total, z))
            order = np.argsort(np.concatenate([known, missing]))
            known, lower, upper = (
                np.concatenate(both)[order] for both in zip((known, lower, upper), more, strict=True)
            )
            self._solved[total, z] = known, lower, upper
        at = np.searchsorted(known, count)
        return lower[at], upper[at]


def cells_interval(
    strata: Sequence[tuple[npt.NDArray[Any], FloatArray]], z: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return estimate and limits of a weighted sum of multinomial rates that hold even if cells are empty (MOVER).

    Parameters
    ----------
    strata : sequence of (counts, values)
        Independent strata: counts of shape (..., cells), and the value of a rate of 1 in each cell, of either sign.
    z : float
        Normal critical value.

    Notes
    -----
    Every rate has its mid-P limits. The distances from the rates to their limits, times the values, are combined like
    standard deviations, with the correlation -√(pq/((1-p)(1-q))) of two cells of a multinomial. So an empty cell adds
    to the width the possible cost of an error that was not seen.
    """
    total = np.zeros(())
    squares = [np.zeros(()), np.zeros(())]
    # In units of a power of two, which changes no bit, the squares of very small and very large values stay positive
    # and finite.
    _, unit = np.frexp(max(np.abs(values).max() for _, values in strata))
    for counts, large in strata:
        values = np.ldexp(large, -unit)
        n = counts.sum(axis=-1, keepdims=True).astype(np.float64)
        rate = counts / n
        low, high = mid_p_at(counts.astype(np.float64), n, z)
        # Cells of a multinomial are negatively correlated: r_i · r_j is the absolute value of their correlation.
        repel = np.sqrt(rate / np.maximum(1 - rate, 0.5 / n))
        total = total + (rate * values).sum(axis=-1)
        for side, (up, down) in enumerate(((rate - low, high - rate), (high - rate, rate - low))):
            part = np.where(values >= 0, values * up, values * down)
            together = (part * repel).sum(axis=-1) ** 2 - ((part * repel) ** 2).sum(axis=-1)
            squares[side] = squares[side] + np.maximum((part**2).sum(axis=-1) - together, 0.0)
    total, *widths = (np.ldexp(part, unit) for part in (total, *np.sqrt(squares)))
    return np.asarray(total), np.asarray(total - widths[0]), np.asarray(total + widths[1])
