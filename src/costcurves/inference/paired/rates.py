"""Intervals for paired differences of rates: two classifiers' errors on the same examples of one class."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.validation import FloatArray, check_choice
from costcurves.inference.rates import Limits, check_counts, mid_p_at

# In classes up to the first size, intervals exclude zero only if the exact conditional test rejects; from the second
# size on mid-P limits are used alone, and in between they take over gradually.
_EXACT, _MID_P = 25, 50


def paired_rate_interval(
    only_a: npt.ArrayLike, only_b: npt.ArrayLike, total: npt.ArrayLike, z: Any, method: str = "mid-p"
) -> tuple[FloatArray, FloatArray]:
    """Return an interval for (only_a - only_b) / total: two error rates compared on the same examples.

    Parameters
    ----------
    only_a, only_b : array_like
        Examples that only a, or only b, gets wrong; `only_a + only_b <= total`.
    total : array_like
        Examples of the class.
    z : float
        Normal critical value.
    method : {"mid-p", "score", "agresti-min", "bonett-price", "gaussian"}
        Mid-P intervals of the two discordant rates, combined (MOVER); Tango's score interval; Wald after
        adding ½ to each of the four cells; Wald after adding 1 to each discordant cell; plain Wald.

    Notes
    -----
    The default was chosen by summing trinomials over rates of 0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3 and 0.4 for each
    discordant cell (lowest coverage, mean coverage, mean width), at nominal 90 % and at the 99.8 % that a simultaneous
    band asks of each point:

    ============  ===================  ===================  ===================  ===================
    method        90 %, n = 10         90 %, n = 25         90 %, n = 100        99.8 %, n = 100
    ============  ===================  ===================  ===================  ===================
    mid-p         0.935  0.976  0.594  0.917  0.954  0.344  0.899  0.918  0.149  0.998  0.999  0.287
    score         0.882  0.955  0.543  0.865  0.919  0.315  0.870  0.906  0.148  0.997  0.999  0.299
    agresti-min   0.820  0.928  0.467  0.883  0.924  0.294  0.863  0.908  0.145  0.992  0.997  0.273
    bonett-price  0.889  0.963  0.546  0.892  0.937  0.321  0.898  0.922  0.150  0.992  0.998  0.281
    gaussian      0.096  0.740  0.398  0.220  0.822  0.273  0.631  0.881  0.142  0.634  0.978  0.267
    ============  ===================  ===================  ===================  ===================

    The coverage of mid-P hardly falls below its level, also at the higher one, and with 100 examples its intervals are
    no wider than others that hold their level. With few examples they are wider on purpose, because mid-P tests of a
    small class reject too often: if the classifiers disagree on all of five examples, all five favour the same one with
    probability 1/16. With up to 25 examples the interval therefore excludes zero only if McNemar's exact test, given
    the number of discordant examples, rejects as well; from 25 to 50 examples this condition is relaxed gradually.
    Beyond that the probability of a false rejection at α = 0.05 is at most 0.054, or 0.065 for classifiers that
    disagree on more than 95 % of all examples.

    Newcombe's interval is not offered, because it needs the concordant counts as well.

    Tango's interval contains all δ with (b - c - nδ)² <= z² · n · (2 q̃(δ) + δ (1 - δ)), q̃ the constrained
    maximum-likelihood rate of c; its limits are found by bisection.
    """
    interval = PAIRED_METHODS[check_choice("method", method, PAIRED_METHODS)]
    b, n = check_counts("only_a", only_a, total)
    c, n = check_counts("only_b", only_b, n)
    b, c, n = np.broadcast_arrays(b, c, n)
    if (b + c > n * (1 + 1e-12)).any():
        raise InputError("`only_a` + `only_b` must be at most `total`")
    return interval(b, c, n, z)


def discordant_interval(
    b: FloatArray, c: FloatArray, n: FloatArray | float, z: FloatArray | float, limits: Limits = mid_p_at
) -> tuple[FloatArray, FloatArray]:
    """Return an interval for (b - c) / n from intervals of the two rates, which are negatively correlated (MOVER).

    In small classes it excludes zero only if McNemar's exact test rejects too; see `paired_rate_interval`.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.paired.rates import discordant_interval
    >>> lower, upper = discordant_interval(np.array([9.0]), np.array([2.0]), 50.0, 1.96)
    >>> lower.round(3), upper.round(3)
    (array([0.01]), array([0.272]))
    """
    # Sums of weights can exceed their total, and fall below zero, by rounding.
    b, c = np.clip(b, 0.0, n), np.clip(c, 0.0, n)
    p, q = b / n, c / n
    (lp, up), (lq, uq) = limits(b, n, z), limits(c, n, z)
    # Half an example more in each cell: even if one of the two cells is empty, the other leaves it less room.
    soft_p, soft_q = (b + 0.5) / (n + 1.5), (c + 0.5) / (n + 1.5)
    repel = np.sqrt(soft_p * soft_q / ((1 - soft_p) * (1 - soft_q)))

    def length(x: FloatArray, y: FloatArray) -> FloatArray:
        return np.asarray(np.sqrt(x * x + y * y + 2 * repel * (x * y)))

    lower, upper = p - q - length(p - lp, uq - q), p - q + length(up - p, q - lq)
    part = np.clip((_MID_P - np.asarray(n)) / (_MID_P - _EXACT), 0.0, 1.0)
    if part.any():
        lower = lower - part * np.maximum(lower - _tested(b, c, n, z), 0.0)
        upper = upper + part * np.maximum(-_tested(c, b, n, z) - upper, 0.0)
    return np.clip(lower, -1, 1), np.clip(upper, -1, 1)


def _tested(b: FloatArray, c: FloatArray, n: FloatArray | float, z: FloatArray | float) -> FloatArray:
    """Return a lower limit of (b - c) / n, given b + c, that is above 0 iff McNemar's exact test rejects at this z.

    Of the b + c discordant examples a gets b wrong; the limit of that share is Clopper and Pearson's.
    """
    from scipy.special import betaincinv, ndtr

    tail = ndtr(-np.asarray(z, dtype=np.float64))
    most = int(min(np.max(n), _MID_P))
    whole = tail.ndim == 0 and b.size > (most + 1) ** 2 and bool((b == np.floor(b)).all() and (c == np.floor(c)).all())
    if whole and max(b.max(), c.max()) <= most:
        share = _share_limits(float(tail), most)[b.astype(np.intp), c.astype(np.intp)]
    else:
        share = np.where(b > 0, betaincinv(np.maximum(b, 1e-300), c + 1, tail), 0.0)
    return np.asarray((b + c) / n * (2 * share - 1))


@lru_cache(maxsize=64)
def _share_limits(tail: float, most: int) -> FloatArray:
    """Return Clopper and Pearson's lower limits of b out of b + c, for b and c up to `most`."""
    from scipy.special import betaincinv

    k = np.arange(most + 1.0)
    table = np.zeros((k.size, k.size))
    table[1:] = betaincinv(k[1:, None], k + 1, tail)
    return table


def _tango_variance(delta: FloatArray, b: FloatArray, c: FloatArray, n: FloatArray) -> FloatArray:
    """Return the variance of b - c where the rates differ by `delta` and are otherwise most likely."""
    linear = (2 * n - b + c) * delta - b - c
    root = np.sqrt(np.maximum(linear**2 + 8 * n * c * delta * (1 - delta), 0.0))
    q = np.clip((root - linear) / (4 * n), np.maximum(0.0, -delta), np.maximum((1 - delta) / 2, 0.0))
    return np.asarray(np.maximum(n * (2 * q + delta * (1 - delta)), 0.0))


def _tango(b: FloatArray, c: FloatArray, n: FloatArray, z: Any) -> tuple[FloatArray, FloatArray]:
    """Return Tango's score interval."""

    def lower(b: FloatArray, c: FloatArray) -> FloatArray:
        near, far = (b - c) / n, np.full(b.shape, -1.0)
        for _ in range(60):
            middle = 0.5 * (near + far)
            inside = (b - c - n * middle) ** 2 <= z * z * _tango_variance(middle, b, c, n)
            near, far = np.where(inside, middle, near), np.where(inside, far, middle)
        return near

    return lower(b, c), -lower(c, b)


def _wald(
    b: FloatArray, c: FloatArray, n: FloatArray, z: Any, *, extra: float, cells: float
) -> tuple[FloatArray, FloatArray]:
    """Return Wald's interval after adding `extra` to each discordant count and `cells` to the total."""
    size = n + cells
    p, q = (b + extra) / size, (c + extra) / size
    half = z * np.sqrt(np.maximum(p + q - (p - q) ** 2, 0.0) / size)
    d = (b - c) / n
    return np.clip(np.minimum(p - q - half, d), -1, 1), np.clip(np.maximum(p - q + half, d), -1, 1)


# A new method is a function of (only_a, only_b, total, z) and its entry here.
PAIRED_METHODS: dict[str, Callable[..., tuple[FloatArray, FloatArray]]] = {
    "mid-p": discordant_interval,
    "score": _tango,
    "agresti-min": partial(_wald, extra=0.5, cells=2.0),
    "bonett-price": partial(_wald, extra=1.0, cells=2.0),
    "gaussian": partial(_wald, extra=0.0, cells=0.0),
}
PairedMethodName = Literal["mid-p", "score", "agresti-min", "bonett-price", "gaussian", "exact", "resample"]
