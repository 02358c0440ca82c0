"""Bands for the mean cost curve of several folds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError
from costcurves._base.validation import DEFAULT_LEVEL, check_level, check_unit_array, frozen
from costcurves.inference.bands.one_curve import cost_band
from costcurves.inference.bands.results import Band, check_pc
from costcurves.inference.rates import check_counts


def between_folds_band(
    costs: npt.ArrayLike, pc: npt.ArrayLike, *, level: float = DEFAULT_LEVEL, max_error: npt.ArrayLike = 0.0
) -> Band:
    """Return the mean cost curve of k folds with Student's interval from how the folds differ.

    It answers how much the mean would change with other training and test folds. The training sets of a
    cross-validation overlap, so the folds are not independent and the interval is somewhat too narrow.

    Parameters
    ----------
    costs : array of shape (folds, points)
        NE of each fold's classifier on its own test fold.
    pc : array of shape (points,)
    level : float
    max_error : float, or array of shape (folds,)
        The most by which the costs of each fold can be too high because scores were binned; the limits are wider by its
        effect on the mean and on the spread of the folds.
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
    """Return the mean cost curve of k folds with an interval for the randomness of the test examples alone.

    It answers how well these test examples determine the mean cost of these k classifiers. The variation between
    training sets is not included.

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
    The mean of the fold rates has the variance of a rate from k² / Σ 1/n_i examples, which is the number of all
    examples if the folds have the same size; the intervals of `cost_band` use that number.
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
