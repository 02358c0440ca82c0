"""Limits of a paired difference of costs at a critical value, and the p-value at which they reach zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from costcurves._base.validation import BoolArray, FloatArray, IntArray
from costcurves.inference.kernel.distribution import exact_distribution, exact_quantiles
from costcurves.inference.kernel.joint import ZERO, SharedDraws, zero_tails
from costcurves.inference.kernel.strata import Stratum, moments
from costcurves.inference.paired.rates import discordant_interval, paired_rate_interval
from costcurves.inference.rates import Limits, mid_p_at, mover, pointwise_level

# The largest critical value that is tried for a p-value, which is then about 1e-32.
_FARTHEST = 12.0
# Critical values closer than this are equal.
_CLOSE = 1e-12
_HALVINGS = 30
# Positives that only a, and that only b, gets wrong; then negatives.
PairedErrors = tuple[FloatArray, ...]


def difference_strata(
    counts: PairedErrors, sizes: tuple[float, float], pc: FloatArray, sampling: str, laplace: float = 0.0
) -> list[Stratum]:
    """Return the strata of the paired difference: cells "only a wrong" and "only b wrong" of each class.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.kernel.strata import moments
    >>> from costcurves.inference.paired.limits import difference_strata
    >>> counts = tuple(np.array([float(k)]) for k in (5, 1, 1, 2))
    >>> moments(difference_strata(counts, (20, 10), np.array([0.5]), "stratified"))[0].round(3)
    array([0.05])
    """
    n_pos, n_neg = sizes
    up, down = pc / n_pos, (1 - pc) / n_neg
    cells = [c + laplace for c in counts]
    if sampling == "stratified":
        return [
            Stratum(int(n_pos), np.stack(cells[:2], 1) / (n_pos + 4 * laplace), np.stack([up, -up], 1)),
            Stratum(int(n_neg), np.stack(cells[2:], 1) / (n_neg + 4 * laplace), np.stack([down, -down], 1)),
        ]
    n = n_pos + n_neg
    return [Stratum(int(n), np.stack(cells, 1) / (n + 8 * laplace), np.stack([up, -up, down, -down], 1))]


def difference_limits(
    counts: PairedErrors,
    sizes: tuple[float, float],
    pc: FloatArray,
    z: FloatArray | float,
    method: str,
    sampling: str,
    laplace: float,
    limits: Limits = mid_p_at,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return estimate, lower and upper at critical value z.

    All operations are elementwise: counts may have any shape that ends in points, and z any shape that broadcasts with
    it (except for "exact"). `limits` are the limits of a rate that "mid-p" combines.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.paired.limits import difference_limits
    >>> counts = tuple(np.array([float(k)]) for k in (5, 1, 1, 2))
    >>> found = difference_limits(counts, (20, 10), np.array([0.5]), 1.645, "mid-p", "stratified", 0.0)
    >>> [float(x[0].round(3)) for x in found]
    [0.05, -0.149, 0.241]
    """
    n_pos, n_neg = sizes
    a, b, c, d = (k + laplace for k in counts)
    if sampling == "stratified":
        total = (n_pos + 4 * laplace, n_neg + 4 * laplace)
        weights = (pc, 1 - pc)
    else:
        n = n_pos + n_neg + 8 * laplace
        total = (n, n)
        weights = (pc * (n_pos + n_neg) / n_pos, (1 - pc) * (n_pos + n_neg) / n_neg)
    net = ((a - b) / total[0], (c - d) / total[1])
    estimate = weights[0] * net[0] + weights[1] * net[1]
    if method == "exact":
        return estimate, *_exact_limits(counts, sizes, pc, 0.5 * (1 - pointwise_level(float(z))), sampling, laplace)
    repel: FloatArray | float = 0.0
    if method == "mid-p" and sampling == "stratified":
        # Squares of distances add up if errors are smooth; the few values that a tiny class can take are not.
        repel = 0.5 / min(n_pos, n_neg)
    if sampling == "full":
        # Half an example more in each cell, so that the width is not zero for classifiers that always differ.
        moved = [((x - y) / (n + 2.5), (x + y + 1) / (n + 2.5)) for x, y in ((a, b), (c, d))]
        spread = [np.sqrt(both - one * one) for one, both in moved]
        repel = np.clip(-moved[0][0] * moved[1][0] / (spread[0] * spread[1]), -1.0, 1.0)
    if method == "mid-p":
        intervals = (discordant_interval(a, b, total[0], z, limits), discordant_interval(c, d, total[1], z, limits))
    else:
        intervals = (
            paired_rate_interval(a, b, total[0], z, method),
            paired_rate_interval(c, d, total[1], z, method),
        )
    low, high = mover(weights, net, intervals, repel)
    return estimate, low, high


def _shared(counts: PairedErrors, sizes: tuple[float, float], pc: FloatArray, laplace: float) -> SharedDraws:
    """Return the difference under full sampling, in which errors of both classes share the draws."""
    (whole,) = difference_strata(counts, sizes, pc, "full", laplace)
    return SharedDraws(whole.draws, whole.probabilities, pc / sizes[0], (1 - pc) / sizes[1])


def _exact_limits(
    counts: PairedErrors, sizes: tuple[float, float], pc: FloatArray, tail: float, sampling: str, laplace: float
) -> tuple[FloatArray, FloatArray]:
    """Return the limits that the exact bootstrap distribution exceeds with a probability of at most `tail`."""
    if sampling == "full":
        return _shared(counts, sizes, pc, laplace).limits(tail)
    strata = difference_strata(counts, sizes, pc, sampling, laplace)
    # Both limits are upper limits, of a - b and of b - a, so that exchanging a and b gives the same result.
    mirrored = [Stratum(s.draws, s.probabilities, -s.values) for s in strata]
    low, high = -exact_quantiles(mirrored, 1 - tail), exact_quantiles(strata, 1 - tail)
    near = ZERO * np.sqrt(moments(strata)[1])
    return np.where(np.abs(low) <= near, 0.0, low), np.where(np.abs(high) <= near, 0.0, high)


def _exact_tails(
    counts: PairedErrors, sizes: tuple[float, float], pc: FloatArray, sampling: str, laplace: float
) -> tuple[FloatArray, FloatArray]:
    """Return the probabilities of differences of at most and of at least zero."""
    if sampling == "full":
        return _shared(counts, sizes, pc, laplace).around_zero()
    strata = difference_strata(counts, sizes, pc, sampling, laplace)
    found = [zero_tails(exact_distribution([s.at(j) for s in strata])) for j in range(pc.size)]
    return np.array([below for below, _ in found]), np.array([above for _, above in found])


def no_difference(
    counts: PairedErrors,
    sizes: tuple[float, float],
    pc: FloatArray,
    method: str,
    sampling: str,
    laplace: float,
) -> FloatArray:
    """Return the p-value at each point: the smallest α at which the interval of level 1 - α excludes zero.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.paired.limits import no_difference
    >>> counts = tuple(np.array([float(k)]) for k in (5, 1, 1, 2))
    >>> no_difference(counts, (20, 10), np.array([0.9]), "mid-p", "stratified", 0.0).round(3)
    array([0.264])
    """
    if method == "exact":
        below, above = _exact_tails(counts, sizes, pc, sampling, laplace)
        return np.asarray(np.minimum(1.0, 2 * np.minimum(below, above)))
    estimate = difference_limits(counts, sizes, pc, 1.0, "gaussian", sampling, laplace)[0]

    def left(z: FloatArray, some: IntArray) -> FloatArray:
        """Return the distance of zero from the nearer limit; it is negative if zero is inside."""
        counted = tuple(c[some] for c in counts)
        _, lower, upper = difference_limits(counted, sizes, pc[some], z, method, sampling, laplace)
        return np.where(estimate[some] > 0, lower, -upper)

    return np.where(np.abs(estimate) < 1e-15, 1.0, _p_values(left, np.arange(pc.size), pc.size))


def _p_values(left: Callable[[FloatArray, IntArray], FloatArray], every: IntArray, number: int) -> FloatArray:
    """Return p-values: the smallest α at which limits exclude zero, for some of a number of points and 1 for the rest.

    Parameters
    ----------
    left : callable
        ``left(z, some)`` is the distance of zero from the nearer limit at the critical values z of some points; it is
        negative if zero is inside.
    every : array of int
        The points at which zero may be excluded.
    number : int
    """
    from scipy.special import ndtr

    # The width of the interval is nearly proportional to z. The z at which it reaches zero is found by secants (the
    # Illinois method) at all points at once, and by halving if they are slow: a limit may stay at zero from some z on.
    low, high = np.zeros(number), np.full(number, _FARTHEST)
    at_low, at_high = np.full((2, number), -1.0)
    at_low[every], at_high[every] = left(low[every], every), left(high[every], every)
    low[at_high > 0] = _FARTHEST
    open_points = np.flatnonzero((at_low > 0) & (at_high <= 0))
    side, before = np.zeros(number), np.full(number, np.inf)
    for turn in range(200):
        some = open_points[high[open_points] - low[open_points] > _CLOSE]
        if some.size == 0:
            break
        lo, hi, f, g = low[some], high[some], at_low[some], at_high[some]
        # Stay a little away from both ends, so that one more step next to a root closes the bracket.
        z = np.clip((lo * g - hi * f) / (g - f), lo + 0.5 * _CLOSE, hi - 0.5 * _CLOSE)
        if turn % 3 == 2:
            z = np.where(hi - lo > 0.25 * before[some], 0.5 * (lo + hi), z)
            before[some] = hi - lo
        value = left(z, some)
        outside = value > 0
        now = np.where(outside, 1.0, -1.0)
        again = side[some] == now
        # The value at an end that stayed twice is halved, so that this end moves too.
        at_low[some] = np.where(outside, value, np.where(again, 0.5 * f, f))
        at_high[some] = np.where(outside, np.where(again, 0.5 * g, g), value)
        low[some], high[some], side[some] = np.where(outside, z, lo), np.where(outside, hi, z), now
    return np.asarray(2 * ndtr(-low))


def no_difference_within(
    counts: PairedErrors,
    sizes: tuple[float, float],
    pc: FloatArray,
    method: str,
    sampling: str,
    laplace: float,
    errors: tuple[FloatArray | float, FloatArray | float],
) -> FloatArray:
    """Return the largest p-value that binning errors allow: that of limits which are wider by these errors.

    The cost of a can be too high by the first error, and that of b by the second.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.paired.limits import no_difference_within
    >>> counts = tuple(np.array([float(k)]) for k in (15, 1, 1, 2))
    >>> options = ((40, 30), np.array([0.9]), "score", "stratified", 0.0)
    >>> [no_difference_within(counts, *options, errors).round(3).item() for errors in ((0, 0), (0.1, 0), (0.4, 0))]
    [0.001, 0.01, 1.0]
    """
    estimate = difference_limits(counts, sizes, pc, 1.0, "gaussian", sampling, laplace)[0]
    first, second = (np.broadcast_to(error, pc.shape) for error in errors)

    def left(z: FloatArray, some: IntArray) -> FloatArray:
        """Return the distance of zero from the nearer of the wider limits; it is negative if zero is inside."""
        counted = tuple(c[some] for c in counts)
        _, lower, upper = difference_limits(counted, sizes, pc[some], z, method, sampling, laplace)
        return np.asarray(np.where(estimate[some] > 0, lower - first[some], -(upper + second[some])))

    def excluded(z: FloatArray) -> BoolArray:
        """Return where the wider limits exclude zero, for a method that takes one critical value at a time."""
        return np.array([left(z[j], np.array([j]))[0] > 0 for j in range(pc.size)])

    somewhere = (estimate > first) | (-estimate > second)
    return by_halving(excluded, somewhere) if method == "exact" else _p_values(left, np.flatnonzero(somewhere), pc.size)


def by_halving(excluded: Callable[[FloatArray], BoolArray], somewhere: BoolArray) -> FloatArray:
    """Return p-values: the smallest α at which limits exclude zero, to about nine digits of the critical value.

    Parameters
    ----------
    excluded : callable
        ``excluded(z)`` says where the limits at critical values z, one per point, exclude zero.
    somewhere : array of bool
        Where they do at some critical value; the p-value is 1 elsewhere.
    """
    from scipy.special import ndtr

    near, far = np.zeros(somewhere.size), np.full(somewhere.size, _FARTHEST)
    for _ in range(_HALVINGS):
        middle = 0.5 * (near + far)
        outside = excluded(middle)
        near, far = np.where(outside, middle, near), np.where(outside, far, middle)
    return np.where(somewhere, 2 * ndtr(-near), 1.0)
