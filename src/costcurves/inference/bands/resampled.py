"""Resampled error counts of one score at many thresholds, and percentile bands made from them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.progress import track
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    MOST_POINTS,
    FloatArray,
    IntArray,
    Rng,
    check_integer,
    check_level,
    check_rng,
)
from costcurves.inference.bands.error_rates import ErrorRates
from costcurves.inference.bands.results import Band, check_pc
from costcurves.inference.rates import check_counts, critical
from costcurves.inference.simultaneous import chosen


def nested_counts(rates: FloatArray, draws: int | IntArray, size: int, rng: np.random.Generator) -> FloatArray:
    """Return resampled error counts (size, points) of one score at several thresholds, jointly.

    Only the counts between neighbouring thresholds are drawn, so the points of one resample belong together.
    """
    levels, where = np.unique(rates, return_inverse=True)
    steps = np.diff(levels, prepend=0.0)
    cells = np.append(steps, max(0.0, 1.0 - steps.sum()))
    # An array of draws (full sampling) holds one number per resample.
    drawn = rng.multinomial(draws, cells, size if isinstance(draws, int) else None)
    return np.asarray(np.cumsum(drawn[:, :-1], axis=1)[:, where], dtype=np.float64)


def drawn_errors(rates: ErrorRates, size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return rates of misses and false alarms (size, points) in simulated data sets.

    Under full sampling the class sizes vary; the rates are then counts divided by the expected class size.
    """
    n_pos, n_neg, share = int(rates.n_pos), int(rates.n_neg), rates.share
    if rates.sampling == "stratified":
        return nested_counts(rates.fnr, n_pos, size, rng) / n_pos, nested_counts(rates.fpr, n_neg, size, rng) / n_neg
    n = n_pos + n_neg
    positives = rng.binomial(n, share if rates.beta is None else rng.beta(*rates.beta, size), size)
    # With a Laplace correction the expected errors of a class may be more than its examples.
    miss = nested_counts(np.minimum(rates.fnr, 1.0), positives, size, rng)
    alarm = nested_counts(np.minimum(rates.fpr, 1.0), n - positives, size, rng)
    return miss / (n * share), alarm / (n * (1 - share))


def drawn_weights(rates: ErrorRates, size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return the cost of a miss rate and of a false-alarm rate: pc and 1 - pc, or those of drawn prevalences.

    Under full sampling the class sizes already have the drawn prevalences.
    """
    pc, beta = rates.pc, rates.beta
    if beta is None or rates.sampling == "full":
        return pc, 1 - pc
    mean = beta[0] / (beta[0] + beta[1])
    p = rng.beta(beta[0], beta[1], size)[:, None]
    return pc * p / mean, (1 - pc) * (1 - p) / (1 - mean)


def resampled_limits(rates: ErrorRates, level: float, size: int, rng: Rng) -> tuple[FloatArray, FloatArray]:
    """Return percentile limits of the cost over resamples, and over prevalences if these are uncertain."""
    rates, turned = rates.canonical()  # so that the same seed gives the same band in both orders of the classes
    generator = check_rng(rng)
    costs = np.empty((size, rates.pc.size))
    block = max(1, min(size, 2**20 // rates.pc.size))
    for start in track(range(0, size, block), "resampling"):
        some = slice(start, min(size, start + block))
        miss, alarm = drawn_errors(rates, some.stop - some.start, generator)
        weight_pos, weight_neg = drawn_weights(rates, some.stop - some.start, generator)
        costs[some] = weight_pos * miss + weight_neg * alarm
    low, high = order_limits(costs, level)
    return (low[::-1], high[::-1]) if turned else (low, high)


def order_limits(samples: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the percentile limits of resamples (first axis): of 100 at 90 %, the fifth lowest and highest."""
    size = samples.shape[0]
    rank = max(1, int(np.ceil(size * 0.5 * (1 - level) - 1e-9)))
    part = np.partition(samples, (rank - 1, size - rank), axis=0)
    return np.asarray(part[rank - 1]), np.asarray(part[size - rank])


def reoptimised_band(
    fn: npt.ArrayLike,
    n_pos: int,
    fp: npt.ArrayLike,
    n_neg: int,
    pc: npt.ArrayLike,
    *,
    level: float = DEFAULT_LEVEL,
    n_resamples: int = 1000,
    rng: Rng = 0,
) -> Band:
    """Return a band whose threshold is chosen anew in every resample (the lower envelope of each).

    Parameters
    ----------
    fn, fp : arrays of shape (thresholds,)
        Misses and false alarms at every threshold that may be chosen, in the order of the thresholds.
    n_pos, n_neg, pc, level, n_resamples, rng
        As in `cost_band`.

    Notes
    -----
    Each resample is judged at its own best thresholds, so the band describes how an optimistic estimate varies, and not
    the cost of a threshold that is in use, for which see `cost_band`. It is optimistic twice, for the data and for the
    resample, and so lies too low: for two normals one standard deviation apart and 100 examples per class, a 95 % band
    at pc = 0.5 covered the best possible cost in about 82 % of 120 runs, and lay below it in nearly all others.
    """
    level, points = check_level(level), check_pc(pc)
    n_pos, n_neg = check_integer("n_pos", n_pos, 1), check_integer("n_neg", n_neg, 1)
    miss, alarm = (np.atleast_1d(check_counts(m, c, n)[0]) for m, c, n in (("fn", fn, n_pos), ("fp", fp, n_neg)))
    if miss.shape != alarm.shape or miss.ndim != 1:
        raise InputError(f"`fn` and `fp` must match, got shapes {miss.shape} and {alarm.shape}")
    size = check_integer("n_resamples", n_resamples, 2, MOST_POINTS)
    generator = check_rng(rng)
    costs = np.empty((size, points.size))
    sides = [(miss / n_pos, n_pos), (alarm / n_neg, n_neg)]
    # Which class is drawn first does not depend on which is called positive.
    forms = [(n_pos, n_neg, miss, alarm, points), (n_neg, n_pos, alarm[::-1], miss[::-1], 1 - points[::-1])]
    first = chosen(forms)
    for b in track(range(size), "resampling"):
        drawn = {side: nested_counts(*sides[side], 1, generator)[0] / sides[side][1] for side in (first, 1 - first)}
        costs[b] = _envelope(drawn[0], drawn[1], points)
    estimate = _envelope(miss / n_pos, alarm / n_neg, points)
    lower, upper = order_limits(costs, level)
    return Band(points, estimate, lower, upper, level, "reoptimised", "stratified", False, critical(level))


def _envelope(fnr: FloatArray, fpr: FloatArray, pc: FloatArray) -> FloatArray:
    lowest = np.full(pc.size, np.inf)
    for start in range(0, fnr.size, 1024):
        some = slice(start, start + 1024)
        lines = np.multiply.outer(fnr[some], pc) + np.multiply.outer(fpr[some], 1 - pc)
        lowest = np.minimum(lowest, lines.min(axis=0))
    return lowest
