"""The cost-weighted multinomial: strata of independent draws, the moments of their sum, and resamples of it.

Every bootstrap of the five papers is a sum over independent strata: in each of them a number of examples is drawn from
cells with given probabilities, and each draw adds the value of its cell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.validation import (
    MOST_POINTS,
    FloatArray,
    Rng,
    check_integer,
    check_rng,
    frozen,
    number_array,
    shown,
)


@dataclass(frozen=True, slots=True, eq=False)
class Stratum:
    """Independent draws from cells, each of which adds a value; the remaining probability adds nothing.

    Parameters
    ----------
    draws : int
        Number of draws, at least 1.
    probabilities : array of shape (cells,) or (points, cells)
        Probability of each cell, nonnegative, with sum at most 1; the remainder is a cell of value 0.
    values : array of shape (cells,) or (points, cells)
        What one draw of the cell adds to the statistic.

    Examples
    --------
    >>> from costcurves.inference.kernel.strata import Stratum, moments
    >>> positives = Stratum(draws=20, probabilities=[4 / 20], values=[0.5 / 20])
    >>> mean, variance = moments([positives])
    >>> float(mean.round(6)), float(variance.round(6))
    (0.1, 0.002)
    """

    draws: int
    probabilities: FloatArray
    values: FloatArray

    def __init__(self, draws: int, probabilities: npt.ArrayLike, values: npt.ArrayLike) -> None:
        """Check the cells and keep them read-only."""
        q, v = _numeric("probabilities", probabilities), _numeric("values", values)
        try:
            shape = np.broadcast_shapes(q.shape, v.shape)
        except ValueError:
            raise InputError(f"`probabilities` and `values` must have one shape, got {q.shape} and {v.shape}") from None
        if len(shape) not in (1, 2) or shape[-1] == 0:
            raise InputError(f"`probabilities` must have shape (cells,) or (points, cells), got {q.shape}")
        if q.size and q.min() < 0:
            raise InputError(f"`probabilities` must be >= 0, got {shown(q.min())}")
        if q.shape[-1] != shape[-1]:
            q = np.broadcast_to(q, (*q.shape[:-1], shape[-1]))
        total = q.sum(axis=-1)
        if total.size and total.max() > 1 + 1e-9:
            raise InputError(f"`probabilities` must have a sum of at most 1, got {shown(total.max())}")
        object.__setattr__(self, "draws", check_integer("draws", draws, 1))
        object.__setattr__(self, "probabilities", frozen(q / np.maximum(total, 1.0)[..., None]))
        object.__setattr__(self, "values", frozen(v.copy()))

    @property
    def points(self) -> int | None:
        """Number of operating points, or None if the stratum describes one point."""
        shape = np.broadcast_shapes(self.probabilities.shape, self.values.shape)
        return shape[0] if len(shape) == 2 else None

    def at(self, point: int) -> Stratum:
        """Return the stratum at one operating point."""
        q, v = self.probabilities, self.values
        return Stratum(self.draws, _row(q, point), _row(v, point))

    def __repr__(self) -> str:
        points = "" if self.points is None else f", {self.points} points"
        return f"Stratum({self.draws} draws, {self.probabilities.shape[-1]} cells{points})"


def _row(array: FloatArray, point: int) -> FloatArray:
    return array if array.ndim == 1 else array[0 if array.shape[0] == 1 else point]


def _numeric(name: str, values: npt.ArrayLike) -> FloatArray:
    array = number_array(name, values)
    if not np.isfinite(array).all():
        raise InputError(f"`{name}` must be finite, got {shown(array[~np.isfinite(array)][0])}")
    return np.atleast_1d(array)


def check_strata(strata: Sequence[Stratum] | Stratum) -> tuple[Stratum, ...]:
    """Return the strata, at least one, which must describe the same operating points."""
    strata = (strata,) if isinstance(strata, Stratum) else tuple(strata)
    if not strata or not all(isinstance(s, Stratum) for s in strata):
        raise InputError(f"`strata` must be Stratum objects, at least one, got {shown(strata)}")
    sizes = {s.points for s in strata} - {None, 1}
    if len(sizes) > 1:
        raise InputError(f"`strata` must agree in the number of points, got {shown(sorted(sizes))}")  # type: ignore[type-var]
    return strata


def points_of(strata: tuple[Stratum, ...]) -> int | None:
    """Return the number of operating points, or None if the strata describe one point."""
    sizes = [s.points for s in strata if s.points is not None]
    return max(sizes) if sizes else None


def moments(strata: Sequence[Stratum] | Stratum) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of the resampled statistic at every operating point, in closed form.

    Notes
    -----
    mean = Σ n_s Σ q v and variance = Σ n_s (Σ q v² - (Σ q v)²): with the strata of the 2008 paper these are
    its equations 4-5 (stratified), 7-8 (difference), 9-10 (full) and 12-13. The variance is summed around
    the mean, so that it does not cancel.
    """
    mean: Any = 0.0
    variance: Any = 0.0
    for s in check_strata(strata):
        one = (s.probabilities * s.values).sum(axis=-1)
        spread = (s.probabilities * (s.values - one[..., None]) ** 2).sum(axis=-1)
        rest = np.maximum(1.0 - s.probabilities.sum(axis=-1), 0.0)
        mean = mean + s.draws * one
        variance = variance + s.draws * (spread + rest * one**2)
    return np.asarray(mean, dtype=np.float64), np.asarray(variance, dtype=np.float64)


def bernstein_tail(strata: Sequence[Stratum], at: float) -> float:
    """Return a bound on the probability that the resampled statistic is at least `at` (Bernstein's inequality)."""
    mean, variance = (float(m) for m in moments(strata))
    away = at - mean
    if away <= 0:
        return 1.0
    most = max(float(s.values.max(initial=0.0) - s.probabilities @ s.values) for s in strata)
    scale = 2 * (max(variance, 0.0) + max(most, 0.0) * away / 3)
    return 0.0 if scale <= 0 else math.exp(-away * away / scale)


def resample(strata: Sequence[Stratum] | Stratum, size: int, rng: Rng = 0) -> FloatArray:
    """Draw the resampled statistic. Counts are drawn, not examples, so the time does not grow with n.

    Parameters
    ----------
    strata : sequence of Stratum
    size : int
        Number of resamples.
    rng : numpy.random.Generator, int or None, default 0

    Returns
    -------
    array of shape (size, points), or (size,) if the strata describe one point
        The points are drawn independently of each other.
    """
    strata = check_strata(strata)
    size = check_integer("size", size, 1, MOST_POINTS)
    rng = check_rng(rng)
    points = points_of(strata)
    if points is None:
        return sum((_draw(s.draws, s.probabilities, s.values, size, rng) for s in strata), np.zeros(size))
    out = np.zeros((size, points))
    for s in strata:
        if s.probabilities.shape[-1] == 1:
            rates = np.broadcast_to(np.atleast_2d(s.probabilities)[:, 0], (points,))
            out += rng.binomial(s.draws, np.minimum(rates, 1.0), size=(size, points)) * s.values[..., 0]
            continue
        for j in range(points):
            out[:, j] += _draw(s.draws, _row(s.probabilities, j), _row(s.values, j), size, rng)
    return out


def _draw(draws: int, q: FloatArray, v: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
    used = (q > 0) & (v != 0)
    q, v = np.broadcast_to(q, v.shape)[used], v[used]
    if q.size == 0:
        return np.zeros(size)
    if q.size == 1:
        return np.asarray(rng.binomial(draws, min(float(q[0]), 1.0), size) * v[0], dtype=np.float64)
    # numpy.random.multinomial gives what is left to the last cell, so the remainder comes last.
    full = np.append(q, max(0.0, 1.0 - q.sum()))
    full /= max(full.sum(), 1.0)
    out = np.empty(size)
    block = max(1, 2**22 // full.size)
    for start in range(0, size, block):
        stop = min(size, start + block)
        out[start:stop] = rng.multinomial(draws, full, stop - start)[:, :-1] @ v
    return out
