"""Critical values of bands around the cost of one classifier that hold at all operating points jointly."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import FloatArray, IntArray
from costcurves.inference.bands.error_rates import ErrorRates, drawn_errors, drawn_weights, positive_share
from costcurves.inference.bands.methods import BandMethod, Options, wilson_limits
from costcurves.inference.rates import Limits, mid_p_at
from costcurves.inference.simultaneous import (
    SIMULATIONS,
    calibrated_critical,
    check_joint,
    curve_covariance,
    exact_weights,
    line_critical,
    moving_points,
    process_critical,
    seeded_by,
    tabulated,
)

# The lowest plausible rate at an end of the range is the lower limit at this critical value; if no error was seen, it
# is this part of half an error.
_FAR, _RARE = 1.96, 1e-3
# The rates to simulate at are those of one data set, so that the critical value is an estimate: it is that of a level
# which leaves out this part of what the wanted level leaves out. Without it joint coverage was 0.934 at 250 cases per
# class and an AUC of 0.92.
_REST = 0.1
# Scores and operating points beyond these numbers are thinned out; neighbours have nearly the same costs.
_CELLS, _POINTS = 512, 101
_BLOCK = 100


def fixed_critical(rates: ErrorRates, level: float) -> float:
    """Return the critical value of a fixed threshold, whose cost is a line, in closed form."""
    sizes = (rates.n_pos, rates.n_neg)
    soft = [softened(rate[:1], n)[0] for rate, n in zip((rates.fnr, rates.fpr), sizes, strict=True)]
    spread = [float(np.sqrt(rate * (1 - rate) / n)) for rate, n in zip(soft, sizes, strict=True)]
    return line_critical(level, (rates.pc[0], rates.pc[-1]), sd_pos=spread[0], sd_neg=spread[1])


def moving_critical(
    rates: ErrorRates, level: float, method: BandMethod, limits: Limits, cuts: npt.NDArray[Any]
) -> float:
    """Return the critical value of a moving threshold, by simulation.

    Parameters
    ----------
    rates : ErrorRates
        Before the Laplace correction.
    level : float
    method : BandMethod
    limits : callable
        The limits of a rate that the method combines.
    cuts : array of shape (points,)
        The thresholds, or anything else that is equal where they are.
    """
    check_joint(rates.pc.size)
    share = positive_share(rates.n_pos, rates.n_neg, rates.beta)
    rates, turned = rates._replace(pc=exact_weights(rates.pc), share=share).canonical()
    cuts = cuts[::-1] if turned else cuts
    if method.simulates_counts:
        fnr, fpr = (plug_in(r, n, cuts) for r, n in ((rates.fnr, rates.n_pos), (rates.fpr, rates.n_neg)))
        soft = rates._replace(fnr=fnr, fpr=fpr)
    else:
        found = rates.corrected()
        soft = rates._replace(fnr=softened(found.fnr, rates.n_pos), fpr=softened(found.fpr, rates.n_neg))
    sizes = (rates.n_pos, rates.n_neg)
    covariance = curve_covariance(soft.fnr, soft.fpr, soft.pc, *sizes, sampling=rates.sampling, share=rates.share)
    if rates.beta is not None:
        shift, variance = soft.prevalence_effect()
        covariance = covariance + variance * np.multiply.outer(shift, shift)
    if not method.simulates_counts:
        return process_critical(covariance, level)
    used = moving_points(covariance)
    return _calibrated(soft.at(used), level + _REST * (1 - level), method, limits)


def softened(rate: FloatArray, n: float) -> FloatArray:
    """Return rates after adding half an error and half a right decision."""
    return np.asarray(np.minimum((rate * n + 0.5) / (n + 1), 1.0))


def plug_in(rate: FloatArray, n: float, cuts: npt.NDArray[Any]) -> FloatArray:
    """Return the rates to simulate at: (k + ½)/(n + 1) after k errors of n, but changing where the threshold does.

    Points with the same errors at different thresholds have rates that lead, evenly in their log-odds, from the middle
    between theirs and the rate before to the middle between theirs and the next. At an end of the range they lead to
    the lowest rate that is plausible (to the highest if they rise): with a constant rate the simulation would miss that
    the true rate may be far lower there, so that a first error may come long before it is expected.

    Parameters
    ----------
    rate : array of shape (points,)
        The observed rates.
    n : float
    cuts : array of shape (points,)
        The threshold of each point, or anything else that is equal where the threshold is.
    """
    from scipy.special import expit, logit

    soft = softened(rate, n)
    starts = np.flatnonzero(np.append(True, rate[1:] != rate[:-1]))
    if starts.size == 1:
        return soft
    own = soft[starts]
    between = logit(0.5 * (own[:-1] + own[1:]))
    first = _plausible(rate[0] * n, n, low=own[0] < own[1])
    last = _plausible(rate[-1] * n, n, low=own[-1] < own[-2])
    ends = np.concatenate([[first], between, [last]])
    odds = logit(soft)
    moved = np.cumsum(np.append(True, cuts[1:] != cuts[:-1]))
    for i, stretch in enumerate(np.split(np.arange(rate.size), starts[1:])):
        step = moved[stretch] - moved[stretch[0]]
        if step[-1] == 0:
            continue
        way = (step + 0.5) / (step[-1] + 1)
        # At the ends of the range the outermost threshold has the plausible rate itself.
        if i == 0:
            way = (way - way[0]) / (1 - way[0])
        elif i == starts.size - 1:
            way = way / way[-1]
        odds[stretch] = np.interp(way, [0.0, 0.5, 1.0], [ends[i], odds[stretch[0]], ends[i + 1]])
    return np.asarray(expit(odds))


def _plausible(count: float, n: float, *, low: bool) -> float:
    """Return the log-odds of the lowest (or highest) rate that is plausible after this many errors."""
    from scipy.special import logit

    few = count if low else n - count
    limit = float(mid_p_at(few, n, _FAR)[0]) if few > 0 else _RARE * 0.5 / (n + 1)
    return float(logit(limit) if low else -logit(limit))


def _calibrated(rates: ErrorRates, level: float, method: BandMethod, limits: Limits) -> float:
    """Return the critical value at which the band covers in a share `level` of data sets drawn at these rates."""
    n_pos, n_neg = max(1, round(rates.n_pos)), max(1, round(rates.n_neg))
    rates = rates._replace(n_pos=n_pos, n_neg=n_neg, share=positive_share(n_pos, n_neg, rates.beta))
    rng = seeded_by(rates.fnr, rates.fpr)
    miss, alarm = drawn_errors(rates, SIMULATIONS, rng)
    drawn = rates._replace(fnr=miss, fpr=alarm).corrected()
    weight_pos, weight_neg = drawn_weights(rates, SIMULATIONS, rng)
    true = np.broadcast_to(weight_pos * rates.fnr + weight_neg * rates.fpr, miss.shape)
    options = Options(tabulated(limits, rates.laplace), joint=True)

    def room(z: float, which: IntArray) -> FloatArray:
        some = drawn._replace(fnr=drawn.fnr[which], fpr=drawn.fpr[which])
        lower, upper = method.limits(some, z, options)
        return np.minimum(true[which] - lower, upper - true[which])

    return calibrated_critical(room, SIMULATIONS, level)


def trivial_critical(cells: npt.ArrayLike, n_pos: int, pc: FloatArray, level: float) -> float:
    """Return the critical value at which useless scores are shown to be useful with probability 1 - level at most.

    Parameters
    ----------
    cells : array of shape (scores,)
        The number of examples with each distinct score, from the highest score to the lowest.
    n_pos : int
        How many of all examples are positive.
    pc : array of shape (points,)
    level : float

    Notes
    -----
    If a score says nothing, all ways to distribute the positives over the examples are equally likely. In 1,999 of them
    (seeded by the data) the best threshold is chosen at each operating point, and the value is the smallest at which in
    a share `level` of them the upper limit of the cost is nowhere below the cost of both trivial classifiers. Ties
    and class frequencies are those of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.bands.critical import trivial_critical
    >>> pc = np.linspace(0.1, 0.9, 9)
    >>> trivial_critical(np.ones(60, int), 20, pc, 0.95) > trivial_critical(np.array([30, 30]), 20, pc, 0.95)
    True
    """
    counts = np.asarray(cells, dtype=np.int64)
    ends = np.unique(np.linspace(0, counts.size, min(_CELLS, counts.size) + 1).astype(np.intp))
    counts = np.add.reduceat(counts, ends[:-1])
    some = pc[np.unique(np.linspace(0, pc.size - 1, min(_POINTS, pc.size)).astype(np.intp))]
    n_neg = int(counts.sum()) - n_pos
    rng = seeded_by(counts, np.array([n_pos]), some)
    total = np.concatenate([[0], np.cumsum(counts)])
    miss, alarm = np.empty((SIMULATIONS, some.size)), np.empty((SIMULATIONS, some.size))
    for start in range(0, SIMULATIONS, _BLOCK):
        rows = slice(start, min(start + _BLOCK, SIMULATIONS))
        drawn = rng.multivariate_hypergeometric(counts, n_pos, rows.stop - rows.start)
        hits = np.concatenate([np.zeros((drawn.shape[0], 1)), np.cumsum(drawn, axis=1)], axis=1)
        fnr, fpr = 1 - hits / n_pos, (total - hits) / n_neg
        best = (fnr[:, :, None] * some + fpr[:, :, None] * (1 - some)).argmin(axis=1)
        miss[rows], alarm[rows] = np.take_along_axis(fnr, best, 1), np.take_along_axis(fpr, best, 1)
    rates = ErrorRates(some, miss, alarm, n_pos, n_neg, "stratified", n_pos / (n_pos + n_neg), 0.0, None)
    known, trivial = (miss == 1) | (alarm == 1), np.minimum(some, 1 - some)
    options = Options(tabulated(mid_p_at), joint=True)

    def room(z: float, which: IntArray) -> FloatArray:
        _, upper = wilson_limits(rates._replace(fnr=miss[which], fpr=alarm[which]), z, options)
        return np.where(known[which], 0.0, upper - trivial)

    return calibrated_critical(room, SIMULATIONS, level)
