"""Bands for the mean cost curve of several folds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError
from costcurves._base.validation import check_level, check_unit_array, frozen
from costcurves.inference.bands.one_curve import cost_band
from costcurves.inference.bands.results import Band, check_pc
from costcurves.inference.rates import check_counts


def between_folds_band(
    costs: npt.ArrayLike, pc: npt.ArrayLike, *, level: float = 0.95, max_error: npt.ArrayLike = 0.0
) -> Band:
    """Return the mean cost curve of k folds with Student's interval from how the folds differ.

    Answers: how much would the mean move with other training and test folds. Training sets of
    cross-validation overlap, so the folds are not independent and the interval is somewhat too narrow.

    Parameters
    ----------
    costs : array of shape (folds, points)
        NE of each fold's classifier on its own test fold.
    pc : array of shape (points,)
    level : float
    max_error : float, or array of shape (folds,)
        By how much the costs of each fold can be too high because scores were binned; the limits are wider by what
        that can do to the mean and to the spread of the folds.

    Examples
    --------
    >>> from costcurves.inference.bands.folds import between_folds_band
    >>> band = between_folds_band([[0.1, 0.2], [0.2, 0.2], [0.15, 0.2]], [0.3, 0.6], level=0.9)
    >>> band.lower.round(3), band.upper.round(3)
    (array([0.066, 0.2  ]), array([0.234, 0.2  ]))
    """
    from scipy.special import stdtrit

    level, points = check_level(level), check_pc(pc)
    table = check_unit_array("costs", costs)
    if table.ndim != 2 or table.shape[1] != points.size:
        raise InputError(f"`costs` must have shape (folds, {points.size}), got {table.shape}")
    k = table.shape[0]
    if k < 2:
        raise DataError(f"`costs` must hold two folds or more, got {k}")
    z = float(stdtrit(k - 1, 0.5 + 0.5 * level))
    mean = table.mean(axis=0)
    half = z * table.std(axis=0, ddof=1) / np.sqrt(k)
    lower, upper = (frozen(np.clip(x, 0.0, 1.0)) for x in (mean - half, mean + half))
    band = Band(frozen(points), frozen(mean), lower, upper, level, "between-folds", "folds", False, z)
    errors = np.broadcast_to(np.asarray(max_error, dtype=np.float64), (k,))
    # Numbers between 0 and E have a standard deviation of at most E/2 * sqrt(k / (k - 1)).
    return band.with_error(float(errors.mean()), spread=float(z * errors.max() / (2 * np.sqrt(k - 1))))


def within_folds_band(
    fn: npt.ArrayLike,
    n_pos: npt.ArrayLike,
    fp: npt.ArrayLike,
    n_neg: npt.ArrayLike,
    pc: npt.ArrayLike,
    **options: Any,
) -> Band:
    """Return the mean cost curve of k folds with the interval that the test examples alone give.

    Answers: how well do these test examples determine the mean cost of these k classifiers. The variation of
    training is not in it.

    Parameters
    ----------
    fn, fp : arrays of shape (folds, points)
        Errors of each fold at each operating point.
    n_pos, n_neg : arrays of shape (folds,)
    pc : array of shape (points,)
    **options
        `level`, `method` ("wilson" or "gaussian"), `simultaneous`, `known`, as in `cost_band`.

    Notes
    -----
    The mean of the fold rates has the variance of a rate from k² / Σ 1/n_i examples, which is the number of
    all examples where folds are equal in size; that number goes into the intervals of `cost_band`.

    Examples
    --------
    >>> from costcurves.inference.bands.folds import within_folds_band
    >>> band = within_folds_band([[2], [2]], [10, 10], [[1], [3]], [5, 5], [0.5], level=0.9)
    >>> band.at(0.5)
    Interval(0.3 in [0.1841, 0.4529], level=0.9)
    """
    points = check_pc(pc)
    rates, sizes = [], []
    for name, counts, totals in (("fn", fn, n_pos), ("fp", fp, n_neg)):
        total = np.atleast_1d(np.asarray(totals, dtype=np.float64))
        count = np.asarray(counts, dtype=np.float64)
        if count.ndim != 2 or total.shape != (count.shape[0],) or count.shape[1] not in (1, points.size):
            raise InputError(f"`{name}` must have shape (folds, {points.size}), got {count.shape}")
        count, _ = check_counts(name, count, total[:, None])
        rates.append(np.broadcast_to((count / total[:, None]).mean(axis=0), points.shape))
        sizes.append(float(total.size**2 / (1 / total).sum()))
    misses, alarms = (np.minimum(r, 1.0) * n for r, n in zip(rates, sizes, strict=True))
    band = cost_band(misses, sizes[0], alarms, sizes[1], points, effective=(sizes[0], sizes[1]), **options)
    return replace(band, method=f"within-folds {band.method}")
