"""Resampled error counts of one score at many thresholds, and bands made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.progress import track
from costcurves._base.validation import (
    MOST_POINTS,
    FloatArray,
    IntArray,
    check_integer,
    check_level,
    check_positive,
    check_rng,
    frozen,
)
from costcurves.inference.bands.results import Band, check_pc
from costcurves.inference.rates import check_counts, critical
from costcurves.inference.symmetry import chosen


def positive_share(n_pos: float, n_neg: float, beta: tuple[float, float] | None) -> float:
    """Return the share of positives in the test set, or the mean of an uncertain prevalence."""
    if beta is None:
        return n_pos / (n_pos + n_neg)
    a, b = (check_positive("prevalence_uncertainty", x) for x in beta)
    return a / (a + b)


def nested_counts(rates: FloatArray, draws: int | IntArray, size: int, rng: np.random.Generator) -> FloatArray:
    """Return resampled error counts (size, points) of one score at several thresholds, jointly.

    Only the counts between neighbouring thresholds are drawn, so the points of one resample belong together.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.bands.resampled import nested_counts
    >>> nested_counts(np.array([0.5, 0.2]), 10, 2, np.random.default_rng(0)).shape
    (2, 2)
    """
    levels, where = np.unique(rates, return_inverse=True)
    steps = np.diff(levels, prepend=0.0)
    cells = np.append(steps, max(0.0, 1.0 - steps.sum()))
    # An array of draws (full sampling) holds one number a resample.
    drawn = rng.multinomial(draws, cells, size if isinstance(draws, int) else None)
    return np.asarray(np.cumsum(drawn[:, :-1], axis=1)[:, where], dtype=np.float64)


def drawn_errors(
    fnr: FloatArray,
    fpr: FloatArray,
    n_pos: int,
    n_neg: int,
    sampling: str,
    beta: tuple[float, float] | None,
    size: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Return rates of misses and false alarms (size, points) in simulated data sets.

    Under full sampling the class sizes vary; the rates are then counts divided by the expected class size.
    """
    if sampling == "stratified":
        return nested_counts(fnr, n_pos, size, rng) / n_pos, nested_counts(fpr, n_neg, size, rng) / n_neg
    n = n_pos + n_neg
    share = positive_share(n_pos, n_neg, beta)
    positives = rng.binomial(n, share if beta is None else rng.beta(*beta, size), size)
    # What a Laplace correction adds to a class may make more than all of it wrong.
    miss = nested_counts(np.minimum(fnr, 1.0), positives, size, rng)
    alarm = nested_counts(np.minimum(fpr, 1.0), n - positives, size, rng)
    return miss / (n * share), alarm / (n * (1 - share))


def drawn_weights(
    pc: FloatArray, beta: tuple[float, float] | None, sampling: str, size: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return what a miss rate and a false-alarm rate cost: pc and 1 - pc, or as the drawn prevalences have it.

    Under full sampling the drawn prevalences are in the class sizes already.
    """
    if beta is None or sampling == "full":
        return pc, 1 - pc
    mean = beta[0] / (beta[0] + beta[1])
    p = rng.beta(beta[0], beta[1], size)[:, None]
    return pc * p / mean, (1 - pc) * (1 - p) / (1 - mean)


def resampled_band(
    pc: FloatArray,
    fnr: FloatArray,
    fpr: FloatArray,
    n_pos: int,
    n_neg: int,
    level: float,
    sampling: str,
    beta: tuple[float, float] | None,
    size: int,
    rng: Any,
) -> tuple[FloatArray, FloatArray]:
    """Return percentile limits of NE over resamples, and over prevalences where they are uncertain."""
    forms = [(fnr, fpr, n_pos, n_neg, pc), (fpr[::-1], fnr[::-1], n_neg, n_pos, 1 - pc[::-1])]
    if chosen(forms) == 1:  # so that the same seed gives the same band in both orders of the classes
        turned = None if beta is None else (beta[1], beta[0])
        fnr, fpr, n_pos, n_neg, points = forms[1]
        low, high = _resampled(points, fnr, fpr, n_pos, n_neg, level, sampling, turned, size, rng)
        return low[::-1], high[::-1]
    return _resampled(pc, fnr, fpr, n_pos, n_neg, level, sampling, beta, size, rng)


def _resampled(
    pc: FloatArray,
    fnr: FloatArray,
    fpr: FloatArray,
    n_pos: int,
    n_neg: int,
    level: float,
    sampling: str,
    beta: tuple[float, float] | None,
    size: int,
    rng: Any,
) -> tuple[FloatArray, FloatArray]:
    generator = check_rng(rng)
    costs = np.empty((size, pc.size))
    block = max(1, min(size, 2**20 // pc.size))
    for start in track(range(0, size, block), "resampling"):
        some = slice(start, min(size, start + block))
        count = some.stop - some.start
        miss, alarm = drawn_errors(fnr, fpr, n_pos, n_neg, sampling, beta, count, generator)
        weight_pos, weight_neg = drawn_weights(pc, beta, sampling, count, generator)
        costs[some] = weight_pos * miss + weight_neg * alarm
    return order_limits(costs, level)


def order_limits(samples: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the percentile limits of resamples (first axis): of 100 at 90 %, the fifth lowest and highest.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.bands.resampled import order_limits
    >>> [float(x) for x in order_limits(np.arange(1.0, 101.0), 0.9)]
    [5.0, 96.0]
    """
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
    level: float = 0.95,
    n_resamples: int = 1000,
    rng: Any = None,
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
    Each resample is judged at its own best thresholds, so the band describes the variation of an optimistic
    estimate, not the cost at a threshold that somebody deployed. It is optimistic twice, once for the data and once
    for the resample, and so lies too low: for two normals one standard deviation apart, 100 examples a class, a 95 %
    band at pc = 0.5 covered the best possible cost in about 82 % of 120 runs, nearly all misses being too low. For
    the cost of thresholds in use take `cost_band`.

    Examples
    --------
    >>> from costcurves.inference.bands.resampled import reoptimised_band
    >>> reoptimised_band([0, 2, 10], 10, [10, 3, 0], 10, [0.3, 0.7], n_resamples=100, rng=0).method
    'reoptimised'
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
    points, estimate, lower, upper = (frozen(a) for a in (points, estimate, lower, upper))
    return Band(points, estimate, lower, upper, level, "reoptimised", "stratified", False, critical(level))


def _envelope(fnr: FloatArray, fpr: FloatArray, pc: FloatArray) -> FloatArray:
    lowest = np.full(pc.size, np.inf)
    for start in range(0, fnr.size, 1024):
        some = slice(start, start + 1024)
        lines = np.multiply.outer(fnr[some], pc) + np.multiply.outer(fpr[some], 1 - pc)
        lowest = np.minimum(lowest, lines.min(axis=0))
    return lowest
