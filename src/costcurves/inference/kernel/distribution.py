"""The exact distribution of a resampled cost: its probabilities and quantiles, without simulation.

This is the only module that knows how resampled costs are distributed; the others build strata and ask here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError, UnsupportedError
from costcurves._base.results import Result
from costcurves._base.validation import FloatArray, Rng, check_unit_array, frozen, number_array
from costcurves.inference.kernel.batches import (
    Scratch,
    batched_quantiles,
    integer_plan,
    integer_tables,
    lattice_quantiles,
)
from costcurves.inference.kernel.lattice import (
    SAME,
    Cells,
    Lattice,
    common_step,
    convolution_cdf,
    convolution_quantile,
    few_atoms,
    first_of_same,
    interpolated,
    lattice_of,
    lattice_power,
)
from costcurves.inference.kernel.smooth import smooth_sum
from costcurves.inference.kernel.strata import Stratum, check_strata, moments, points_of, resample

# The largest error of a distribution from few frequencies; if it is larger, a lattice may have a smaller one.
_SMOOTH = 2e-4


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BootstrapDistribution(Result):
    """The distribution of the statistic over all resamples: the limit of infinitely many, without simulation.

    Attributes
    ----------
    mean, std : float
        In closed form, for every method.
    method : {"atoms", "lattice", "convolution", "interpolated"}
        How the probabilities were found. "atoms": by summing over every reachable value. "lattice": all values are
        multiples of one step, and the power of the transform gives every atom. "convolution": the sum of two lattice
        variables, summed exactly on request. "interpolated": values without a common step, from the few frequencies of
        a smooth sum of many draws, or on a fine lattice that keeps the first four moments of each draw.
    error : float
        Bound on the error of `cdf`, at every x:
        F(x - resolution) - error <= cdf(x) <= F(x + resolution) + error.
    resolution : float
        0 except for "interpolated" distributions that have atoms too large to be smoothed over.

    Examples
    --------
    >>> from costcurves.inference.kernel.distribution import exact_distribution
    >>> from costcurves.inference.kernel.strata import Stratum
    >>> dist = exact_distribution([Stratum(20, [0.2], [0.025]), Stratum(10, [0.4], [0.05])])
    >>> dist
    BootstrapDistribution(mean=0.3, std=0.0894, 41 atoms)
    >>> float(dist.cdf(0.3).round(6)), float(dist.quantile(0.05).round(6))
    (0.56298, 0.15)
    """

    mean: float
    std: float
    method: str
    error: float
    resolution: float
    _grid: FloatArray = field(repr=False)
    _mass: FloatArray = field(repr=False)
    _parts: tuple[Lattice, ...] = field(repr=False)
    _strata: tuple[Stratum, ...] = field(repr=False)

    @property
    def support(self) -> FloatArray:
        """The values that the statistic can take (the grid points where `method` is "interpolated")."""
        if self.method == "convolution":
            raise UnsupportedError(
                "`support` must be small enough to list, got a sum of two lattices with "
                f"{self._parts[0].size} x {self._parts[1].size} atoms; use `cdf` and `quantile`"
            )
        return self._grid

    @property
    def probabilities(self) -> FloatArray:
        """The probability of each value of `support`."""
        return frozen(self.support * 0 + self._mass)

    def _total(self) -> FloatArray:
        total = np.concatenate([[0.0], np.cumsum(self._mass)])
        return np.asarray(total / total[-1])

    def cdf(self, x: npt.ArrayLike) -> FloatArray:
        """Return P(statistic <= x)."""
        x = number_array("x", x)
        if np.isnan(x).any():
            raise InputError("`x` must not be NaN")
        flat = x.ravel()
        if self.method == "convolution":
            out = convolution_cdf(flat, self._parts)
        elif self.method == "interpolated" and self.resolution == 0:
            half = 0.5 * (self._grid[1] - self._grid[0])
            total = self._total()
            out = np.interp(flat, np.append(self._grid - half, self._grid[-1] + half), total)
        else:
            total = self._total()
            slack = SAME * max(abs(self._grid[0]), abs(self._grid[-1]))
            slack = min(slack, 0.25 * float(np.diff(self._grid).min(initial=np.inf)))  # never as far as another value
            out = total[np.searchsorted(self._grid, flat + slack, side="right")]
        return np.clip(out, 0.0, 1.0).reshape(x.shape)

    def quantile(self, q: npt.ArrayLike) -> FloatArray:
        """Return the smallest x with `cdf(x) >= q` (q = 0 gives the smallest value)."""
        q = check_unit_array("q", q)
        flat = q.ravel()
        if self.method == "convolution":
            out = convolution_quantile(flat, self._parts, self.mean, self.std)
        elif self.method == "interpolated" and self.resolution == 0:
            half = 0.5 * (self._grid[1] - self._grid[0])
            total = self._total()
            out = np.interp(flat, total, np.append(self._grid - half, self._grid[-1] + half))
        else:
            total = self._total()[1:]
            # 1e-14: rounding must not keep a sum of probabilities from reaching q.
            at = np.searchsorted(total, flat - 1e-14, side="left")
            out = self._grid[np.minimum(at, self._grid.size - 1)]
        return out.reshape(q.shape)

    def sample(self, size: int, rng: Rng = 0) -> FloatArray:
        """Draw resamples of the statistic (exactly, from the counts, whatever `method` is)."""
        return resample(self._strata, size, rng)

    def _columns(self) -> dict[str, Any]:
        support = self.support
        return {"value": support, "probability": self._mass, "cdf": self.cdf(support)}

    def to_dict(self) -> dict[str, Any]:
        """Return moments, method, error bound and a table of quantiles as plain Python values."""
        levels = np.array([0.005, 0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975, 0.995])
        pairs = zip(levels.tolist(), self.quantile(levels).tolist(), strict=True)
        return {
            "mean": self.mean,
            "std": self.std,
            "method": self.method,
            "error": self.error,
            "resolution": self.resolution,
            "quantiles": {str(level): value for level, value in pairs},
        }

    def __repr__(self) -> str:
        size = "sum of two lattices" if self.method == "convolution" else f"{self._grid.size} atoms"
        if self.method == "interpolated":
            size = f"interpolated, error <= {self.error:.1g}"
        return f"BootstrapDistribution(mean={self.mean:.4g}, std={self.std:.3g}, {size})"


def exact_distribution(strata: Sequence[Stratum] | Stratum) -> BootstrapDistribution:
    """Return the distribution of the statistic over all resamples, at one operating point.

    Parameters
    ----------
    strata : sequence of Stratum
        Any number of cells, any real values, any number of draws.

    Notes
    -----
    Equal values are merged. Then the first of these that applies:

    1. few reachable values, or one binomial: all atoms by direct convolution of positive numbers;
    2. all values are multiples of one step (integer costs): `irfft(prod rfft(pmf) ** n)` is the distribution,
       window chosen by Bernstein's tail bound so that at most 1e-15 is folded over;
    3. two strata, each on its own lattice (NE and differences of NE under stratified sampling): the sum
       over one variable of the other's distribution function;
    4. values without a common step, if there are so many draws that few frequencies matter: the power of the transform
       at these. `error` bounds the rest by Esseen's smoothing inequality and is at most 2e-4 here, about
       0.004 / sqrt(n);
    5. other values without a common step: the mass of every value is put on the five nearest lattice points with
       Lagrange's weights. This keeps the first four moments of a draw (splitting it between two points keeps one, and
       adds up to n h²/4 of variance), and the scheme is stable: no power of its transform grows. `error` bounds the
       rest by Esseen's smoothing inequality.

    The transforms add about n · 1e-16 of rounding, which `error` includes.

    Examples
    --------
    >>> from costcurves.inference.kernel.distribution import exact_distribution
    >>> from costcurves.inference.kernel.strata import Stratum
    >>> dist = exact_distribution(Stratum(3, [0.5], [1.0]))
    >>> dist.support, dist.probabilities
    (array([0., 1., 2., 3.]), array([0.125, 0.375, 0.375, 0.125]))
    """
    strata = check_strata(strata)
    points = points_of(strata)
    if points is not None and points != 1:
        raise InputError(f"`strata` must describe one operating point, got {points}; see exact_quantiles")
    strata = tuple(s.at(0) for s in strata)
    mean, variance = (float(m) for m in moments(strata))
    std = math.sqrt(variance)
    cells = [_merged(s) for s in strata]
    offset = sum(n * v[0] for n, _, v in cells if v.size == 1)
    moving = [c for c in cells if c[2].size > 1]

    def build(
        method: str,
        grid: FloatArray,
        mass: FloatArray,
        error: float,
        parts: tuple[Lattice, ...] = (),
        resolution: float = 0.0,
    ) -> BootstrapDistribution:
        return BootstrapDistribution(mean, std, method, error, resolution, frozen(grid), frozen(mass), parts, strata)

    atoms = few_atoms(moving)
    if atoms is not None:
        return build("atoms", atoms[0] + offset, atoms[1], 1e-14)
    common = common_step(np.concatenate([v - v[0] for _, _, v in moving]))
    if common is not None:
        found = lattice_power(moving, common)
        if found is not None:
            base, mass, error = found
            grid = offset + base + common * np.arange(mass.size)
            keep = np.flatnonzero(mass > 1e-18)
            grid, mass = grid[keep[0] : keep[-1] + 1], mass[keep[0] : keep[-1] + 1]
            return build("lattice", grid, mass / mass.sum(), error)
    if len(moving) == 2:
        parts = [lattice_of(c) for c in moving]
        if parts[0] is not None and parts[1] is not None:
            first, second = sorted((p for p in parts if p is not None), key=lambda p: p.size)
            shifted = Lattice(first.base + offset, first.step, first.mass, first.error)
            error = first.error + second.error
            empty = np.empty(0)
            return build("convolution", empty, empty.copy(), error, parts=(shifted, second))
    smooth = smooth_sum(moving)
    if smooth is not None and smooth[2] <= _SMOOTH:
        return build("interpolated", smooth[0] + offset, smooth[1], smooth[2])
    grid, mass, error, resolution = interpolated(moving, variance)
    return build("interpolated", grid + offset, mass, error, resolution=resolution)


def _merged(s: Stratum) -> Cells:
    """Return draws, probabilities and sorted distinct values, with the remainder cell."""
    v = np.append(np.broadcast_to(s.values, s.probabilities.shape), 0.0)
    rest = 1.0 - float(s.probabilities.sum())
    q = np.append(s.probabilities, rest if rest > 4e-16 * s.probabilities.size else 0.0)
    used = q > 0
    q, v = q[used], v[used]
    order = np.argsort(v, kind="stable")
    q, v = q[order], v[order]
    starts = first_of_same(v)
    mass = np.add.reduceat(q, starts)
    return s.draws, mass / mass.sum(), v[starts]


def exact_quantiles(strata: Sequence[Stratum] | Stratum, q: npt.ArrayLike) -> FloatArray:
    """Return quantiles of the exact bootstrap distribution at every operating point, in one batch.

    Parameters
    ----------
    strata : sequence of Stratum
        With a points axis; cells may carry different probabilities and values at each point.
    q : float or array
        Levels in [0, 1].

    Notes
    -----
    If there are at most two strata, and the nonzero values of each are integer multiples of one step at each point (NE
    and its paired difference under stratified sampling), the probabilities of the atoms come from binomial ratios or
    batched transforms, and the quantile is an atom, found to 1e-9 standard deviations. Other strata (full sampling) are
    enumerated point by point if there are few atoms. Otherwise each distribution is put on a lattice of 4,096, 16,384
    or 65,536 points, the shortest that keeps this bound: a quantile x of level q has F(x - r) <= q + 0.001 and F(x + r)
    >= q - 0.001, where F is the exact distribution function and r the larger of 0.05 standard deviations and 2 % of the
    largest value that one draw can add. Points at which no lattice keeps it are left to `exact_distribution`, which
    states its own error.

    Examples
    --------
    >>> from costcurves.inference.kernel.distribution import exact_quantiles
    >>> from costcurves.inference.kernel.strata import Stratum
    >>> pc = [[0.0], [0.5], [1.0]]
    >>> positives = Stratum(20, [0.2], [[0 / 20], [0.5 / 20], [1 / 20]])
    >>> negatives = Stratum(10, [0.4], [[1 / 10], [0.5 / 10], [0 / 10]])
    >>> exact_quantiles([positives, negatives], [0.05, 0.95])
    array([[0.2 , 0.15, 0.05],
           [0.7 , 0.45, 0.35]])
    """
    strata = check_strata(strata)
    levels = check_unit_array("q", q)
    flat = levels.ravel()
    points = points_of(strata)
    if points is None:
        return exact_distribution(strata).quantile(levels)
    tables = [_expand(s, points) for s in strata]
    out = np.empty((flat.size, points))
    plans = [integer_plan(v) for _, _, v in tables]
    done = np.zeros(points, dtype=bool)
    if len(strata) <= 2 and all(p is not None for p in plans):
        block, scratch = 128, Scratch()
        for start in range(0, points, block):
            some = slice(start, min(points, start + block))
            rows = [
                integer_tables(n, qs[some], plan[0], plan[1][some])
                for (n, qs, _), plan in zip(tables, plans, strict=True)
                if plan is not None
            ]
            if any(r is None for r in rows):
                continue
            ready = [r for r in rows if r is not None]
            mean, variance = moments([Stratum(n, qs[some], v[some]) for n, qs, v in tables])
            out[:, some] = batched_quantiles(flat, ready, mean, np.sqrt(variance), scratch)
            done[some] = True
    small = math.prod(_compositions(n, qs.shape[1]) for n, qs, _ in tables) <= 4096
    rest = np.flatnonzero(~done)
    if rest.size and small:
        for point in rest.tolist():
            out[:, point] = exact_distribution([s.at(point) for s in strata]).quantile(flat)
    elif rest.size:
        for length in (2**12, 2**14, 2**16):
            open_points = np.flatnonzero(~done)
            for chunk in np.array_split(open_points, math.ceil(open_points.size / (2**19 // length))):
                part = [(n, qs[chunk], v[chunk]) for n, qs, v in tables]
                found, kept = lattice_quantiles(part, flat, *moments([Stratum(*cells) for cells in part]), length)
                out[:, chunk[kept]] = found[:, kept]
                done[chunk[kept]] = True
            if done.all():
                break
        for point in np.flatnonzero(~done).tolist():
            out[:, point] = exact_distribution([s.at(point) for s in strata]).quantile(flat)
    return out.reshape((*levels.shape, points))


def _compositions(n: int, cells: int) -> float:
    return float(math.comb(n + cells, cells)) if n + cells < 10_000 else math.inf


def _expand(s: Stratum, points: int) -> Cells:
    shape = (points, s.probabilities.shape[-1])
    q = np.broadcast_to(np.atleast_2d(s.probabilities), shape)
    v = np.broadcast_to(np.atleast_2d(s.values), shape)
    return s.draws, q, v
