"""The interval methods of a band around the cost of one classifier.

A new method is a function here and its entry in `BAND_METHODS`; nothing else has to be changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from costcurves._base.validation import FloatArray, Rng
from costcurves.inference.bands.error_rates import ErrorRates, resampled_limits
from costcurves.inference.kernel.distribution import exact_quantiles
from costcurves.inference.kernel.joint import SharedDraws
from costcurves.inference.kernel.strata import Stratum
from costcurves.inference.rates import Limits, mover, pointwise_level

Band = tuple[FloatArray, FloatArray]


class Options(NamedTuple):
    """What some of the methods need besides rates and critical value.

    `limits` are those of a rate. `joint` says that they are combined for a band that holds at all points of a moving
    threshold (see `_combined`). `n_resamples` and `rng` say how to resample. `prevalence` is the critical value of an
    uncertain prevalence, if it differs from that of the rates.
    """

    limits: Limits
    n_resamples: int = 0
    rng: Rng = 0
    joint: bool = False
    prevalence: float | None = None


def wilson_limits(rates: ErrorRates, z: float | FloatArray, options: Options) -> Band:
    """Return the intervals of the two rates, combined by MOVER."""
    pc, share, cost = rates.pc, rates.share, rates.cost
    low, high = rates.prevalence_limits(float(np.max(z)) if options.prevalence is None else options.prevalence)
    if rates.sampling == "full":
        n = rates.n_pos + rates.n_neg + 4 * rates.laplace
        q, r = rates.fnr * share, rates.fpr * (1 - share)
        # Two cells of a multinomial are negatively correlated. Half an example more in each cell keeps the correlation
        # from -1 if all examples are wrong.
        soft_q, soft_r = (q * n + 0.5) / (n + 2), (r * n + 0.5) / (n + 2)
        repel = -np.sqrt(soft_q * soft_r / ((1 - soft_q) * (1 - soft_r)))
        lower, upper = _combined((pc / share, (1 - pc) / (1 - share)), (q, r), (n, n), z, options, repel)
    else:
        sizes = rates.n_pos + 2 * rates.laplace, rates.n_neg + 2 * rates.laplace
        # A prevalence that varies makes the variance of each term larger.
        _, variance = rates.prevalence_effect()
        grow = np.sqrt(1 + variance / share**2), np.sqrt(1 + variance / (1 - share) ** 2)
        lower, upper = _combined((pc, 1 - pc), (rates.fnr, rates.fpr), sizes, z, options, grow=grow)
    if rates.beta is None:
        return lower, upper
    return np.asarray(cost - np.hypot(cost - lower, low)), np.asarray(cost + np.hypot(upper - cost, high))


def _combined(
    weights: tuple[FloatArray, FloatArray],
    rates: tuple[FloatArray, FloatArray],
    sizes: tuple[float, float],
    z: float | FloatArray,
    options: Options,
    repel: FloatArray | float = 0.0,
    grow: tuple[float, float] = (1.0, 1.0),
) -> Band:
    """Return the limits of a weighted sum of two rates; `grow` multiplies the distances of rates from their limits.

    MOVER's lower limit stays away from zero at any critical value: if both limits of rates are 0, it is a + b - √(a² +
    b²), of two terms a and b. A few errors in both classes are then taken for certain, and a band that must hold along
    a whole curve needs a huge critical value, or none is large enough. So where the band is joint, a truth at which
    both rates are as low as their limits at z/√2 also counts as possible: it is as far from the data as one at which a
    single rate is at its limit at z.
    """

    def intervals(at: float | FloatArray) -> list[Band]:
        found = []
        for rate, size, factor in zip(rates, sizes, grow, strict=True):
            lower, upper = options.limits(rate * size, size, at)
            if factor != 1:
                lower, upper = rate - factor * (rate - lower), rate + factor * (upper - rate)
            found.append((lower, upper))
        return found

    lower, upper = mover(weights, rates, tuple(intervals(z)), repel)
    if options.joint:
        (first, _), (second, _) = intervals(z * math.sqrt(0.5))
        lower = np.minimum(lower, weights[0] * first + weights[1] * second)
    return lower, upper


def gaussian_limits(rates: ErrorRates, z: float, options: Options) -> Band:
    """Return the normal interval with the exact moments of the bootstrap."""
    pc, fnr, fpr, share = rates.pc, rates.fnr, rates.fpr, rates.share
    shift, variance = rates.prevalence_effect()
    if rates.sampling == "full":
        n = rates.n_pos + rates.n_neg
        second = pc**2 * fnr / share + (1 - pc) ** 2 * fpr / (1 - share)
        total = np.maximum(second - rates.cost**2, 0.0) / n
        if rates.beta is not None:
            total = total + (1 - 1 / n) * variance * shift**2
    else:
        pos, neg = pc**2 * fnr * (1 - fnr) / rates.n_pos, (1 - pc) ** 2 * fpr * (1 - fpr) / rates.n_neg
        if rates.beta is None:
            total = pos + neg
        else:
            pos, neg = pos * (1 + variance / share**2), neg * (1 + variance / (1 - share) ** 2)
            total = pos + neg + variance * shift**2
    sd = np.sqrt(total)
    return rates.cost - z * sd, rates.cost + z * sd


def exact_limits(rates: ErrorRates, z: float, options: Options) -> Band:
    """Return the values that the exact bootstrap distribution exceeds to either side with half of 1 - level."""
    tail = 0.5 * (1 - pointwise_level(z))
    n_pos, n_neg = int(rates.n_pos), int(rates.n_neg)
    strata = cost_strata(rates.pc, rates.fnr, rates.fpr, n_pos, n_neg, rates.sampling)
    if rates.sampling == "stratified":
        lower, upper = exact_quantiles(strata, [tail, 1 - tail])
        return lower, upper
    (whole,) = strata
    q = np.insert(whole.probabilities, [1, 2], 0.0, axis=1)  # no draw takes an error away
    return SharedDraws(whole.draws, q, rates.pc / n_pos, (1 - rates.pc) / n_neg).limits(tail)


def resample_limits(rates: ErrorRates, z: float, options: Options) -> Band:
    """Return percentile limits over resamples."""
    return resampled_limits(rates, pointwise_level(z), options.n_resamples, options.rng)


class BandMethod(NamedTuple):
    """An interval method: its limits at a critical value, and what it can deal with."""

    limits: Callable[[ErrorRates, float, Options], Band]
    whole_counts: bool = False  # it resamples whole examples, so that there must be no weights
    uncertain_prevalence: bool = True
    simulates_counts: bool = False  # its simultaneous critical values come from simulated counts


BAND_METHODS = {
    "wilson": BandMethod(wilson_limits, simulates_counts=True),
    "gaussian": BandMethod(gaussian_limits),
    "exact": BandMethod(exact_limits, whole_counts=True, uncertain_prevalence=False),
    "resample": BandMethod(resample_limits, whole_counts=True),
}
BandMethodName = Literal["wilson", "gaussian", "exact", "resample"]


def cost_strata(
    pc: FloatArray, fnr: FloatArray, fpr: FloatArray, n_pos: int, n_neg: int, sampling: str = "stratified"
) -> list[Stratum]:
    """Return the strata of the cost at each operating point: one per class, or a single one for full sampling.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.bands.methods import cost_strata
    >>> from costcurves.inference.kernel.distribution import exact_distribution
    >>> pc, fnr, fpr = np.array([0.5]), np.array([0.2]), np.array([0.4])
    >>> exact_distribution(cost_strata(pc, fnr, fpr, 20, 10))
    BootstrapDistribution(mean=0.3, std=0.0894, 41 atoms)
    """
    if sampling == "stratified":
        return [
            Stratum(n_pos, fnr[:, None], pc[:, None] / n_pos),
            Stratum(n_neg, fpr[:, None], (1 - pc[:, None]) / n_neg),
        ]
    n = n_pos + n_neg
    q = np.stack([fnr * n_pos / n, fpr * n_neg / n], axis=1)
    return [Stratum(n, q, np.stack([pc / n_pos, (1 - pc) / n_neg], axis=1))]
