"""Critical values of bands around the cost of one classifier that hold at all operating points jointly."""

from __future__ import annotations

import numpy as np

from costcurves._base.validation import BoolArray, FloatArray, IntArray
from costcurves.inference.bands.error_rates import ErrorRates, positive_share
from costcurves.inference.bands.methods import BandMethod, Options
from costcurves.inference.bands.resampled import drawn_errors, drawn_weights
from costcurves.inference.rates import Limits
from costcurves.inference.simultaneous import (
    SIMULATIONS,
    calibrated_critical,
    curve_covariance,
    line_critical,
    moving_points,
    process_critical,
    seeded_by,
    tabulated,
)
from costcurves.inference.symmetry import exact_weights


def fixed_critical(rates: ErrorRates, level: float) -> float:
    """Return the critical value of a fixed threshold, whose cost is a line, in closed form."""
    sizes = (rates.n_pos, rates.n_neg)
    soft = [_softened(rate[:1], n)[0] for rate, n in zip((rates.fnr, rates.fpr), sizes, strict=True)]
    spread = [float(np.sqrt(rate * (1 - rate) / n)) for rate, n in zip(soft, sizes, strict=True)]
    return line_critical(level, (rates.pc[0], rates.pc[-1]), sd_pos=spread[0], sd_neg=spread[1])


def moving_critical(rates: ErrorRates, level: float, method: BandMethod, limits: Limits) -> float:
    """Return the critical value of a moving threshold, by simulation.

    Parameters
    ----------
    rates : ErrorRates
        Before the Laplace correction.
    level : float
    method : BandMethod
    limits : callable
        The limits of a rate that the method combines.
    """
    share = positive_share(rates.n_pos, rates.n_neg, rates.beta)
    rates, _ = rates._replace(pc=exact_weights(rates.pc), share=share).canonical()
    if method.simulates_counts:
        soft = rates._replace(fnr=_plug_in(rates.fnr, rates.n_pos), fpr=_plug_in(rates.fpr, rates.n_neg))
    else:
        found = rates.corrected()
        soft = rates._replace(fnr=_softened(found.fnr, rates.n_pos), fpr=_softened(found.fpr, rates.n_neg))
    sizes = (rates.n_pos, rates.n_neg)
    covariance = curve_covariance(soft.fnr, soft.fpr, soft.pc, *sizes, sampling=rates.sampling, share=rates.share)
    if rates.beta is not None:
        shift, variance = soft.prevalence_effect()
        covariance = covariance + variance * np.multiply.outer(shift, shift)
    if not method.simulates_counts:
        return process_critical(covariance, level)
    used = moving_points(covariance)
    return _calibrated(soft.at(used), level, method, limits)


def _softened(rate: FloatArray, n: float) -> FloatArray:
    """Return rates with half an error and half a right decision more."""
    return np.asarray(np.minimum((rate * n + 0.5) / (n + 1), 1.0))


def _plug_in(rate: FloatArray, n: float) -> FloatArray:
    """Return the rates to simulate at: (k + ½)/(n + 1), and less if a moving threshold leaves no (or every) case wrong.

    At an end of the range where no error was seen, the rate falls to a thousandth of that value, evenly in its
    logarithm: with a constant rate the simulation would miss that a first error may come long before it is expected.
    """
    soft = _softened(rate, n)
    for edge in (0.0, 1.0):
        at = np.flatnonzero(rate == edge)
        if 1 < at.size < rate.size:
            rare = np.geomspace(1.0, 1e-3, at.size)[:: -1 if at[0] == 0 else 1] * 0.5 / (n + 1)
            soft[at] = np.abs(edge - rare)
    return soft


def _calibrated(rates: ErrorRates, level: float, method: BandMethod, limits: Limits) -> float:
    """Return the critical value at which the band covers in a share `level` of data sets drawn at these rates."""
    n_pos, n_neg = max(1, round(rates.n_pos)), max(1, round(rates.n_neg))
    rates = rates._replace(n_pos=n_pos, n_neg=n_neg, share=positive_share(n_pos, n_neg, rates.beta))
    rng = seeded_by(rates.fnr, rates.fpr)
    miss, alarm = drawn_errors(rates, SIMULATIONS, rng)
    drawn = rates._replace(fnr=miss, fpr=alarm).corrected()
    weight_pos, weight_neg = drawn_weights(rates, SIMULATIONS, rng)
    true = np.broadcast_to(weight_pos * rates.fnr + weight_neg * rates.fpr, miss.shape)
    options = Options(tabulated(limits, rates.laplace), 0, None)

    def covers(z: float, which: IntArray) -> BoolArray:
        some = drawn._replace(fnr=drawn.fnr[which], fpr=drawn.fpr[which])
        lower, upper = method.limits(some, z, options)
        return np.asarray(((lower <= true[which] + 1e-12) & (true[which] <= upper + 1e-12)).all(axis=1))

    return calibrated_critical(covers, SIMULATIONS, level)
