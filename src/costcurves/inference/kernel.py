"""The cost-weighted multinomial: the one place that knows how resampled costs are distributed.

Every bootstrap of the five papers is a sum over independent strata: `draws` examples are drawn from cells
with given probabilities, and each draw adds its cell's value. All else builds strata and asks here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._results import Result
from costcurves._validation import FloatArray, IntArray, check_integer, check_unit_array, frozen, shown
from costcurves.errors import InputError, UnsupportedError

# Mass that a window may leave outside: below it, double precision cannot tell the difference.
_TAIL = 1e-15
# Largest table of atoms that is enumerated, and longest lattice for one distribution.
_MAX_ATOMS = 2**18
_LATTICE = 2**18
# Floats that differ by less than this part of their scale are one value (0.1 + 0.2 and 0.3).
_SAME = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Stratum:
    """Independent draws from cells that each add a value; what is left of probability one adds nothing.

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
    >>> from costcurves.inference.kernel import Stratum, moments
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
            raise InputError(
                f"`probabilities` and `values` must have one shape, got {q.shape} and {v.shape}"
            ) from None
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
        """Number of operating points, or None where the stratum describes one point."""
        shape = np.broadcast_shapes(self.probabilities.shape, self.values.shape)
        return shape[0] if len(shape) == 2 else None

    def at(self, point: int) -> Stratum:
        """Return the stratum at one operating point."""
        q, v = self.probabilities, self.values
        return Stratum(self.draws, _row(q, point), _row(v, point))

    def __repr__(self) -> str:
        """Return a short form."""
        points = "" if self.points is None else f", {self.points} points"
        return f"Stratum({self.draws} draws, {self.probabilities.shape[-1]} cells{points})"


def _row(array: FloatArray, point: int) -> FloatArray:
    return array if array.ndim == 1 else array[0 if array.shape[0] == 1 else point]


def _numeric(name: str, values: npt.ArrayLike) -> FloatArray:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"`{name}` must be numeric, got {shown(values)}") from None
    if not np.isfinite(array).all():
        raise InputError(f"`{name}` must be finite, got {shown(array[~np.isfinite(array)][0])}")
    return np.atleast_1d(array)


def _check_strata(strata: Sequence[Stratum] | Stratum) -> tuple[Stratum, ...]:
    strata = (strata,) if isinstance(strata, Stratum) else tuple(strata)
    if not strata or not all(isinstance(s, Stratum) for s in strata):
        raise InputError(f"`strata` must be Stratum objects, at least one, got {shown(strata)}")
    sizes = {s.points for s in strata} - {None, 1}
    if len(sizes) > 1:
        raise InputError(f"`strata` must agree in the number of points, got {shown(sorted(sizes))}")  # type: ignore[type-var]
    return strata


def _points(strata: tuple[Stratum, ...]) -> int | None:
    sizes = [s.points for s in strata if s.points is not None]
    return max(sizes) if sizes else None


def moments(strata: Sequence[Stratum] | Stratum) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of the resampled statistic at every operating point, in closed form.

    Parameters
    ----------
    strata : sequence of Stratum

    Returns
    -------
    mean, variance : arrays of shape (points,), or 0-d where the strata describe one point

    Notes
    -----
    mean = Σ n_s Σ q v and variance = Σ n_s (Σ q v² - (Σ q v)²): with the strata of the 2008 paper these are
    its equations 4-5 (stratified), 7-8 (difference), 9-10 (full) and 12-13. The variance is summed around
    the mean, so that it does not cancel.

    Examples
    --------
    >>> from costcurves.inference.kernel import Stratum, moments
    >>> mean, variance = moments([Stratum(20, [0.2], [[0.0], [0.025]]), Stratum(10, [0.4], [[0.1], [0.05]])])
    >>> mean
    array([0.4, 0.3])
    """
    mean: Any = 0.0
    variance: Any = 0.0
    for s in _check_strata(strata):
        one = (s.probabilities * s.values).sum(axis=-1)
        spread = (s.probabilities * (s.values - one[..., None]) ** 2).sum(axis=-1)
        rest = np.maximum(1.0 - s.probabilities.sum(axis=-1), 0.0)
        mean = mean + s.draws * one
        variance = variance + s.draws * (spread + rest * one**2)
    return np.asarray(mean, dtype=np.float64), np.asarray(variance, dtype=np.float64)


def resample(strata: Sequence[Stratum] | Stratum, size: int, rng: Any = None) -> FloatArray:
    """Draw the resampled statistic: counts are drawn, never examples, so the cost does not grow with n.

    Parameters
    ----------
    strata : sequence of Stratum
    size : int
        Number of resamples.
    rng : numpy.random.Generator or seed, optional

    Returns
    -------
    array of shape (size, points), or (size,) where the strata describe one point
        The points are drawn independently of each other.

    Examples
    --------
    >>> from costcurves.inference.kernel import Stratum, resample
    >>> resample([Stratum(20, [0.2], [0.025]), Stratum(10, [0.4], [0.05])], size=3, rng=0).shape
    (3,)
    """
    strata = _check_strata(strata)
    size = check_integer("size", size, 1)
    rng = np.random.default_rng(rng)
    points = _points(strata)
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
    # numpy.random.multinomial gives the last cell what is left, so the remainder cell goes last.
    full = np.append(q, max(0.0, 1.0 - q.sum()))
    full /= max(full.sum(), 1.0)
    out = np.empty(size)
    block = max(1, 2**22 // full.size)
    for start in range(0, size, block):
        stop = min(size, start + block)
        out[start:stop] = rng.multinomial(draws, full, stop - start)[:, :-1] @ v
    return out


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BootstrapDistribution(Result):
    """The distribution of the statistic over all resamples: the limit of infinitely many, without simulation.

    Attributes
    ----------
    mean, std : float
        In closed form, whatever the method.
    method : {"atoms", "lattice", "convolution", "interpolated"}
        How the probabilities were found. "atoms": by summing over every reachable value; "lattice": all
        values are multiples of one step and the power of the transform gives every atom; "convolution": the
        sum of two lattice variables, summed exactly when asked; "interpolated": values without a common
        step, put on a fine lattice that keeps the first four moments of each draw.
    error : float
        Bound on the error of `cdf`, at every x:
        F(x - resolution) - error <= cdf(x) <= F(x + resolution) + error.
    resolution : float
        0 except for "interpolated" distributions that have atoms too large to be smoothed over.

    Examples
    --------
    >>> from costcurves.inference.kernel import Stratum, exact_distribution
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
    _parts: tuple[_Lattice, ...] = field(repr=False)
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
        return self.support * 0 + self._mass

    def cdf(self, x: npt.ArrayLike) -> FloatArray:
        """Return P(statistic <= x)."""
        x = _numeric_any("x", x)
        flat = x.ravel()
        if self.method == "convolution":
            out = _convolution_cdf(flat, self._parts)
        elif self.method == "interpolated" and self.resolution == 0:
            half = 0.5 * (self._grid[1] - self._grid[0])
            total = np.concatenate([[0.0], np.cumsum(self._mass)])
            out = np.interp(flat, np.append(self._grid - half, self._grid[-1] + half), total)
        else:
            total = np.concatenate([[0.0], np.cumsum(self._mass)])
            slack = _SAME * max(abs(self._grid[0]), abs(self._grid[-1]))
            out = total[np.searchsorted(self._grid, flat + slack, side="right")]
        return np.clip(out, 0.0, 1.0).reshape(x.shape)

    def quantile(self, q: npt.ArrayLike) -> FloatArray:
        """Return the smallest x with `cdf(x) >= q` (q = 0 gives the smallest value)."""
        q = check_unit_array("q", q)
        flat = q.ravel()
        if self.method == "convolution":
            out = _convolution_quantile(flat, self._parts, self.mean, self.std)
        elif self.method == "interpolated" and self.resolution == 0:
            half = 0.5 * (self._grid[1] - self._grid[0])
            total = np.concatenate([[0.0], np.cumsum(self._mass)])
            out = np.interp(flat * total[-1], total, np.append(self._grid - half, self._grid[-1] + half))
        else:
            total = np.cumsum(self._mass)
            # 1e-14: a sum of probabilities that should reach q must not miss it by rounding.
            at = np.searchsorted(total, flat * total[-1] - 1e-14, side="left")
            out = self._grid[np.minimum(at, self._grid.size - 1)]
        return out.reshape(q.shape)

    def sample(self, size: int, rng: Any = None) -> FloatArray:
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
        """Return a short form."""
        size = "sum of two lattices" if self.method == "convolution" else f"{self._grid.size} atoms"
        if self.method == "interpolated":
            size = f"interpolated, error <= {self.error:.1g}"
        return f"BootstrapDistribution(mean={self.mean:.4g}, std={self.std:.3g}, {size})"


def _numeric_any(name: str, values: npt.ArrayLike) -> FloatArray:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"`{name}` must be numeric, got {shown(values)}") from None
    if np.isnan(array).any():
        raise InputError(f"`{name}` must not be NaN")
    return array


def exact_distribution(strata: Sequence[Stratum] | Stratum) -> BootstrapDistribution:
    """Return the distribution of the statistic over all resamples, at one operating point.

    Parameters
    ----------
    strata : sequence of Stratum
        Any number of cells, any real values, any number of draws.

    Returns
    -------
    BootstrapDistribution

    Notes
    -----
    Equal values are merged. Then the first of these that applies:

    1. few reachable values, or one binomial: all atoms by direct convolution of positive numbers;
    2. all values are multiples of one step (integer costs): `irfft(prod rfft(pmf) ** n)` is the distribution,
       window chosen by Bernstein's tail bound so that at most 1e-15 is folded over;
    3. two strata, each on its own lattice (NE and differences of NE under stratified sampling): the sum
       over one variable of the other's distribution function;
    4. values without a common step: every value's mass is put on the five nearest lattice points with
       Lagrange's weights. This keeps the first four moments of a draw (splitting between two points keeps
       one, and adds up to n h²/4 of variance), and the scheme is stable: no power of its transform
       grows. `error` bounds what is left by Esseen's smoothing inequality.

    The transforms add about n · 1e-16 of rounding, which `error` includes.

    Examples
    --------
    >>> from costcurves.inference.kernel import Stratum, exact_distribution
    >>> dist = exact_distribution(Stratum(3, [0.5], [1.0]))
    >>> dist.support, dist.probabilities
    (array([0., 1., 2., 3.]), array([0.125, 0.375, 0.375, 0.125]))
    """
    strata = _check_strata(strata)
    points = _points(strata)
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
        parts: tuple[_Lattice, ...] = (),
        resolution: float = 0.0,
    ) -> BootstrapDistribution:
        return BootstrapDistribution(
            mean, std, method, error, resolution, frozen(grid), frozen(mass), parts, strata
        )

    atoms = _few_atoms(moving)
    if atoms is not None:
        return build("atoms", atoms[0] + offset, atoms[1], 1e-14)
    common = _common_step(np.concatenate([v - v[0] for _, _, v in moving]))
    if common is not None:
        found = _lattice_power(moving, common)
        if found is not None:
            base, mass, error = found
            grid = offset + base + common * np.arange(mass.size)
            keep = np.flatnonzero(mass > 1e-18)
            grid, mass = grid[keep[0] : keep[-1] + 1], mass[keep[0] : keep[-1] + 1]
            return build("lattice", grid, mass / mass.sum(), error)
    if len(moving) == 2:
        parts = [_lattice_of(c) for c in moving]
        if parts[0] is not None and parts[1] is not None:
            first, second = sorted((p for p in parts if p is not None), key=lambda p: p.size)
            shifted = _Lattice(first.base + offset, first.step, first.mass, first.error)
            error = first.error + second.error
            empty = np.empty(0)
            return build("convolution", empty, empty.copy(), error, parts=(shifted, second))
    grid, mass, error, resolution = _interpolated(moving, variance)
    return build("interpolated", grid + offset, mass, error, resolution=resolution)


_Cells = tuple[int, FloatArray, FloatArray]


def _merged(s: Stratum) -> _Cells:
    """Return draws, probabilities and sorted distinct values, with the remainder cell."""
    v = np.append(np.broadcast_to(s.values, s.probabilities.shape), 0.0)
    rest = 1.0 - float(s.probabilities.sum())
    q = np.append(s.probabilities, rest if rest > 4e-16 * s.probabilities.size else 0.0)
    used = q > 0
    q, v = q[used], v[used]
    order = np.argsort(v, kind="stable")
    q, v = q[order], v[order]
    new = np.concatenate([[True], np.diff(v) > _SAME * np.abs(v).max()])
    starts = np.flatnonzero(new)
    mass = np.add.reduceat(q, starts)
    return s.draws, mass / mass.sum(), v[starts]


def _few_atoms(cells: list[_Cells]) -> tuple[FloatArray, FloatArray] | None:
    """Return all atoms by convolving positive numbers, or None when there are too many."""
    values, mass = np.zeros(1), np.ones(1)
    for n, q, v in cells:
        part = _binomial_atoms(n, q, v) if v.size == 2 else _power_atoms(n, q, v)
        if part is None or part[0].size * values.size > _MAX_ATOMS:
            return None
        values, mass = _convolve(values, mass, *part)
    return values, mass


def _binomial_atoms(n: int, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    k, mass = _binomial_window(n, float(q[1]))
    return (n * v[0] + (v[1] - v[0]) * k, mass) if k.size <= _MAX_ATOMS * 4 else None


def _binomial_window(n: int, p: float) -> tuple[FloatArray, FloatArray]:
    """Return counts and probabilities of a binomial, without tails of less than about 1e-17."""
    from scipy.special import gammaln, xlog1py, xlogy

    low, high = 0, n
    if n > 4096:
        reach = _bernstein(n * p * (1 - p), 1.0, 1e-17)
        low, high = max(0, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach))
    k = np.arange(low, high + 1, dtype=np.float64)
    if n <= 4096:
        logs = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + xlogy(k, p) + xlog1py(n - k, -p)
        mass = np.exp(logs)
    else:
        # The ratio of neighbours is free of the cancellation that log-gamma has at n = 10^9.
        ratio = np.log((n - k[:-1]) / (k[:-1] + 1)) + math.log(p) - math.log1p(-p)
        logs = np.concatenate([[0.0], np.cumsum(ratio)])
        mass = np.exp(logs - logs.max())
    return k, mass / mass.sum()


def _power_atoms(n: int, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    out: tuple[FloatArray, FloatArray] | None = None
    square = (v, q)
    while True:
        if n & 1:
            if out is not None and out[0].size * square[0].size > _MAX_ATOMS:
                return None
            out = square if out is None else _convolve(*out, *square)
        n >>= 1
        if n == 0:
            return out
        if square[0].size ** 2 > _MAX_ATOMS:
            return None
        square = _convolve(*square, *square)


def _convolve(
    v1: FloatArray, q1: FloatArray, v2: FloatArray, q2: FloatArray
) -> tuple[FloatArray, FloatArray]:
    if v1.size == 1:
        return v2 + v1[0], q2 * q1[0]
    v = np.add.outer(v1, v2).ravel()
    q = np.multiply.outer(q1, q2).ravel()
    order = np.argsort(v, kind="stable")
    v, q = v[order], q[order]
    starts = np.flatnonzero(np.concatenate([[True], np.diff(v) > _SAME * max(abs(v[0]), abs(v[-1]))]))
    return v[starts], np.add.reduceat(q, starts)


def _bernstein(variance: float, largest: float, tail: float = _TAIL) -> float:
    """Return t with P(|X - mean| > t) <= tail for a sum of independent draws that stray at most `largest`."""
    log = math.log(2 / tail)
    return largest * log / 3 + math.sqrt((largest * log / 3) ** 2 + 2 * variance * log)


def _common_step(differences: FloatArray, longest: float = 2.0**40) -> float | None:
    """Return the largest step of which all differences are whole multiples, or None."""
    d = np.unique(np.abs(differences[differences != 0]))
    if d.size == 0:
        return None
    scale = float(d[-1])
    step = float(d[0])
    for x in d[1:] if d.size <= 4096 else d[np.linspace(1, d.size - 1, 4096).astype(int)]:
        a, b = float(x), step
        while b > 1e-10 * scale:
            a, b = b, abs(a - b * round(a / b))
        step = a
        if step < 1e-9 * scale or scale / step > longest:
            return None
    step = scale / round(scale / step)
    multiples = d / step
    if np.abs(multiples - np.rint(multiples)).max() > 1e-11 * multiples[-1]:
        return None
    return step


def _power(transform: npt.NDArray[np.complex128], n: int) -> npt.NDArray[np.complex128]:
    """Return transform**n without overflow, underflow or a wrong branch, for any n."""
    out = np.zeros_like(transform)
    size = np.abs(transform)
    with np.errstate(divide="ignore"):
        logs = n * np.log(size)
    used = logs > -80.0
    angle = n * np.angle(transform[used])
    out[used] = np.exp(np.minimum(logs[used], 0.0)) * (np.cos(angle) + 1j * np.sin(angle))
    return out


def _lattice_power(
    cells: list[_Cells], step: float, longest: int = 2**20
) -> tuple[float, FloatArray, float] | None:
    """Return base value, probabilities on the lattice base + step·k, and error; None where it is too long."""
    center = variance = largest = low = high = 0.0
    total = 0
    multiples = []
    for n, q, v in cells:
        k = np.rint((v - v[0]) / step)
        multiples.append(k)
        m = float(q @ k)
        center += n * m
        variance += n * float(q @ (k - m) ** 2)
        largest = max(largest, m, float(k[-1]) - m)
        high += n * float(k[-1])
        total += n
    reach = _bernstein(variance, largest)
    first, last = max(low, math.floor(center - reach)), min(high, math.ceil(center + reach))
    size = last - first + 1
    if size > longest:
        return None
    length = 1 << max(1, int(size - 1).bit_length())
    product: Any = 1.0
    base = 0.0
    for (n, q, v), k in zip(cells, multiples, strict=True):
        pmf = np.bincount(k.astype(np.int64) % length, weights=q, minlength=length)
        product = product * _power(np.fft.rfft(pmf), n)
        base += n * v[0]
    folded = np.fft.irfft(product, length)
    mass = np.maximum(np.roll(folded, -(int(first) % length))[: int(size)], 0.0)
    return base + step * first, mass / mass.sum(), 4e-16 * total + 1e-14


@dataclass(frozen=True, slots=True, eq=False)
class _Lattice:
    """A variable base + step·k with probabilities of k = 0, 1, …"""

    base: float
    step: float
    mass: FloatArray
    error: float

    @property
    def size(self) -> int:
        return self.mass.size


def _lattice_of(cells: _Cells) -> _Lattice | None:
    n, q, v = cells
    if v.size == 2:
        k, mass = _binomial_window(n, float(q[1]))
        step = v[1] - v[0]
        return _Lattice(n * v[0] + step * k[0], step, mass, 1e-15)
    step = _common_step(v - v[0])
    found = None if step is None else _lattice_power([cells], step)
    if step is None or found is None:
        return None
    return _Lattice(found[0], step, found[1], found[2])


def _below(x: FloatArray, first: _Lattice, second: _Lattice) -> tuple[FloatArray, IntArray]:
    """Return, for each x and each atom of the first part, how far the second may go (as a float index)."""
    i = np.arange(first.size)
    room = (x[:, None] - first.base - second.base - first.step * i) / second.step
    slack = 1e-9 + 8e-16 * np.abs(room)
    return np.floor(room + slack), i


def _convolution_cdf(x: FloatArray, parts: tuple[_Lattice, ...]) -> FloatArray:
    first, second = parts
    total = np.concatenate([[0.0], np.cumsum(second.mass)])
    total[-1] = 1.0
    out = np.empty(x.size)
    block = max(1, 2**22 // first.size)
    for start in range(0, x.size, block):
        some = np.clip(x[start : start + block], -1e300, 1e300)
        index, _ = _below(some, first, second)
        out[start : start + block] = total[np.clip(index + 1, 0, second.size).astype(np.intp)] @ first.mass
    return out


def _convolution_quantile(q: FloatArray, parts: tuple[_Lattice, ...], mean: float, std: float) -> FloatArray:
    first, second = parts
    low = np.full(q.size, first.base + second.base)
    high = low + first.step * (first.size - 1) + second.step * (second.size - 1)
    low = low - first.step - second.step
    target = q - 1e-14
    while (high - low).max(initial=0.0) > 1e-12 * max(abs(mean), std) + 1e-13 * std:
        middle = 0.5 * (low + high)
        if ((middle <= low) | (middle >= high)).all():
            break
        reached = _convolution_cdf(middle, parts) >= target
        high, low = np.where(reached, middle, high), np.where(reached, low, middle)
    return _snap(high, first, second)


def _snap(x: FloatArray, first: _Lattice, second: _Lattice) -> FloatArray:
    """Return the largest atom that is not above x."""
    index, i = _below(x, first, second)
    index = np.minimum(index, second.size - 1)
    atoms = np.where(index >= 0, first.base + second.base + first.step * i + second.step * index, -np.inf)
    best: FloatArray = atoms.max(axis=1)
    return np.where(np.isfinite(best), best, first.base + second.base)


def _lagrange(fraction: FloatArray) -> FloatArray:
    """Return weights on the lattice points -2 … 2 that keep four moments of a value at `fraction`."""
    f = fraction
    return np.stack(
        [
            f * (f - 1) * (f + 1) * (f - 2) / 24,
            -f * (f - 1) * (f + 2) * (f - 2) / 6,
            (f - 1) * (f + 1) * (f + 2) * (f - 2) / 4,
            -f * (f + 1) * (f + 2) * (f - 2) / 6,
            f * (f - 1) * (f + 1) * (f + 2) / 24,
        ]
    )


def _interpolated(cells: list[_Cells], variance: float) -> tuple[FloatArray, FloatArray, float, float]:
    """Return grid, probabilities, error and resolution for values without a common step."""
    length = _LATTICE
    center = sum(n * float(q @ v) for n, q, v in cells)
    largest = max(max(float(q @ v) - v[0], v[-1] - float(q @ v)) for _, q, v in cells)
    reach = _bernstein(variance, largest)
    low = max(sum(n * v[0] for n, _, v in cells), center - reach)
    high = min(sum(n * v[-1] for n, _, v in cells), center + reach)
    step = (high - low) / (length - 16)
    log_size = np.zeros(length // 2 + 1)
    product: Any = 1.0
    base, total, draws = 0.0, 0, 0
    omega = 2 * np.pi * np.arange(length // 2 + 1) / length
    # Largest error of the five weights on exp(iωv): |f(1-f²)(4-f²)|/120 at f = 1/2, times (ωh)^5.
    wrong = np.minimum(1.40625 / 120 * omega**5, 2.0)
    for n, q, v in cells:
        # The most probable value is put on a lattice point, so that its atoms stay atoms.
        anchor = v[np.argmax(q)]
        position = (v - anchor) / step
        nearest = np.rint(position)
        weights = _lagrange(position - nearest) * q
        where = (nearest.astype(np.int64) + np.arange(-2, 3)[:, None]) % length
        pmf = np.bincount(where.ravel(), weights=weights.ravel(), minlength=length)
        transform = np.fft.rfft(pmf)
        product = product * _power(transform, n)
        log_size += n * np.log(np.minimum(np.abs(transform) + wrong, 1.0))
        base += n * anchor
        total += n
        draws = max(draws, n)
    folded = np.fft.irfft(product, length)
    first = math.floor((low - base) / step) - 8
    mass = np.roll(folded, -(first % length))
    negative = float(-np.minimum(mass, 0.0).sum())
    mass = np.maximum(mass, 0.0)
    mass /= mass.sum()
    grid = base + step * (first + np.arange(length))
    # |φ_F - φ_G| <= n · wrong · max(|φ|)^(n-1); the bounded ratio keeps (n-1)/n of the exponent.
    gap = np.minimum(total * wrong * np.exp(log_size * (1 - 1 / draws)), 2.0)
    # Esseen: sup |F - G| <= 1/π ∫ gap/ω over (0, T) twice sided + 24 · density / (π T), for the best T.
    bounds = 2 / np.pi * np.cumsum(gap[1:] / np.arange(1, gap.size)) + 24 * float(mass.max()) / (
        np.pi * omega[1:]
    )
    rounding = 4e-16 * total + 2e-14
    smooth = float(bounds.min()) + negative + rounding
    if smooth <= 1e-3:
        return grid, mass, smooth, 0.0
    # Atoms: compare after smoothing both sides with the narrowest Gaussian that leaves a small difference;
    # eight of its standard deviations on each side are the resolution.
    atomic, width = math.inf, 1.5
    while atomic > 1e-4 and width < length / 1024:
        width *= 2
        kernel = np.exp(-0.5 * (width * omega) ** 2)
        atomic = float((gap[1:] * kernel[1:] / np.arange(1, gap.size)).sum()) / np.pi
    return grid, mass, atomic + 2 * negative + rounding, 16 * width * step


def exact_quantiles(strata: Sequence[Stratum] | Stratum, q: npt.ArrayLike) -> FloatArray:
    """Return quantiles of the exact bootstrap distribution at every operating point, in one batch.

    Parameters
    ----------
    strata : sequence of Stratum
        With a points axis; cells may carry different probabilities and values at each point.
    q : float or array
        Levels in [0, 1].

    Returns
    -------
    array of shape (levels, points); (points,) for one level

    Notes
    -----
    Where there are at most two strata, and the nonzero values of each are whole multiples of one step at each
    point (NE and its paired difference under stratified sampling), the atoms' probabilities come from batched
    transforms, and the quantile is an atom, found to 1e-9 standard deviations. Other strata
    (full sampling) are enumerated point by point while atoms are few; beyond that they are put on a lattice
    of 4,096 points a distribution, and a quantile is then within three steps (below 0.015 standard
    deviations) of an exact one.

    Examples
    --------
    >>> from costcurves.inference.kernel import Stratum, exact_quantiles
    >>> pc = [[0.0], [0.5], [1.0]]
    >>> positives = Stratum(20, [0.2], [[0 / 20], [0.5 / 20], [1 / 20]])
    >>> negatives = Stratum(10, [0.4], [[1 / 10], [0.5 / 10], [0 / 10]])
    >>> exact_quantiles([positives, negatives], [0.05, 0.95])
    array([[0.2 , 0.15, 0.05],
           [0.7 , 0.45, 0.35]])
    """
    strata = _check_strata(strata)
    levels = check_unit_array("q", q)
    flat = levels.ravel()
    points = _points(strata)
    if points is None:
        return exact_distribution(strata).quantile(levels)
    tables = [_expand(s, points) for s in strata]
    out = np.empty((flat.size, points))
    plans = [_integer_plan(v) for _, _, v in tables]
    done = np.zeros(points, dtype=bool)
    if len(strata) <= 2 and all(p is not None for p in plans):
        block = 128
        for start in range(0, points, block):
            some = slice(start, min(points, start + block))
            rows = [
                _integer_tables(n, qs[some], plan[0], plan[1][some])
                for (n, qs, _), plan in zip(tables, plans, strict=True)
                if plan is not None
            ]
            if any(r is None for r in rows):
                continue
            ready = [r for r in rows if r is not None]
            mean, variance = moments([Stratum(n, qs[some], v[some]) for n, qs, v in tables])
            for j, level in enumerate(flat):
                out[j, some] = _batched_quantile(level, ready, mean, np.sqrt(variance))
            done[some] = True
    small = math.prod(_compositions(n, qs.shape[1]) for n, qs, _ in tables) <= 4096
    rest = np.flatnonzero(~done)
    if rest.size and small:
        for point in rest.tolist():
            out[:, point] = exact_distribution([s.at(point) for s in strata]).quantile(flat)
    elif rest.size:
        for chunk in np.array_split(rest, math.ceil(rest.size / 128)):
            out[:, chunk] = _lattice_quantiles([(n, qs[chunk], v[chunk]) for n, qs, v in tables], flat)
    return out.reshape((*levels.shape, points))


def _compositions(n: int, cells: int) -> float:
    return float(math.comb(n + cells, cells)) if n + cells < 10_000 else math.inf


def _expand(s: Stratum, points: int) -> _Cells:
    shape = (points, s.probabilities.shape[-1])
    q = np.broadcast_to(np.atleast_2d(s.probabilities), shape)
    v = np.broadcast_to(np.atleast_2d(s.values), shape)
    return s.draws, q, v


def _integer_plan(values: FloatArray) -> tuple[IntArray, FloatArray] | None:
    """Return whole multiples (cells,) and a step (points,) with values = step · multiples, or None."""
    row = values[np.argmax(np.abs(values).max(axis=1))]
    nonzero = row[row != 0]
    if nonzero.size == 0:
        return np.zeros(row.size, dtype=np.int64), np.ones(values.shape[0])
    step = _common_step(nonzero)
    if step is None:
        return None
    whole = np.rint(row / step)
    if np.abs(whole).max() > 64:
        return None
    steps = values @ whole / (whole @ whole)
    if np.abs(values - steps[:, None] * whole).max() > 1e-13 * np.abs(row).max() or steps.min() < 0:
        return None
    return whole.astype(np.int64), steps


def _integer_tables(n: int, q: FloatArray, whole: IntArray, steps: FloatArray) -> Any:
    """Return steps, first atoms (points,) and probabilities (points, window) of Σ whole · counts."""
    mean = n * (q @ whole)
    variance = n * (q @ whole.astype(np.float64) ** 2 - (q @ whole) ** 2)
    largest = float(np.abs(whole).max()) + float(np.abs(q @ whole).max())
    low, high = n * min(0, int(whole.min())), n * max(0, int(whole.max()))
    reach = _bernstein(float(variance.max(initial=0.0)), largest)
    size = min(2 * math.ceil(reach) + 2, high - low + 1)
    if size > 2**14:
        return None
    length = 1 << max(1, (size - 1).bit_length())
    pmf = np.zeros((q.shape[0], length))
    pmf[:, 0] = np.maximum(1.0 - q.sum(axis=1), 0.0)
    for c, k in enumerate(whole.tolist()):
        pmf[:, k % length] += q[:, c]
    folded = np.fft.irfft(_power(np.fft.rfft(pmf, axis=1), n), length, axis=1)
    first = np.clip(np.floor(mean) - math.ceil(reach), low, max(low, high - size + 1)).astype(np.int64)
    columns = (first[:, None] + np.arange(size)) % length
    mass = np.maximum(np.take_along_axis(folded, columns, axis=1), 0.0)
    return steps, first, mass / mass.sum(axis=1, keepdims=True)


def _batched_quantile(level: float, rows: list[Any], mean: FloatArray, std: FloatArray) -> FloatArray:
    """Return one quantile a point of the sum of one or two scaled integer variables."""
    if len(rows) == 1:
        rows = [*rows, (np.zeros_like(rows[0][0]), np.zeros_like(rows[0][1]), np.ones((mean.size, 1)))]
    (a, i0, p1), (b, j0, p2) = sorted(rows, key=lambda r: r[2].shape[1])
    # A stratum of value zero at this point (pc = 0 or 1) has no step; any step with one atom at 0 will do.
    flat2 = b == 0
    b = np.where(flat2, 1.0, b)
    j0 = np.where(flat2, 0, j0)
    total = np.concatenate([np.zeros((mean.size, 1)), np.cumsum(p2, axis=1)], axis=1)
    total[flat2, 1:] = 1.0
    top = np.where(flat2, 1, p2.shape[1])[:, None]
    # Columns that carry no mass anywhere are not summed.
    used = np.flatnonzero(p1.max(axis=0) > 1e-17)
    p1 = np.ascontiguousarray(p1[:, used])
    shift = (a * i0)[:, None] + a[:, None] * used + (b * j0)[:, None]
    offset = np.arange(mean.size)[:, None] * total.shape[1]
    flat = total.ravel()

    def room(x: FloatArray) -> FloatArray:
        return np.asarray(np.floor((x[:, None] - shift) / b[:, None] + 1e-9))

    def cdf(x: FloatArray) -> FloatArray:
        index = np.clip(room(x) + 1, 0, top).astype(np.intp)
        return np.asarray(np.einsum("ij,ij->i", flat[index + offset], p1))

    low = shift.min(axis=1) - b
    high = shift.max(axis=1) + b * (top[:, 0] - 1)
    target = level - 1e-13
    certain = std <= 1e-12 * np.maximum(np.abs(low), np.abs(high))
    width = np.where(certain, 1.0, std)
    from scipy.special import ndtri

    def probit(p: FloatArray | float) -> FloatArray:
        return np.asarray(ndtri(np.clip(p, 1e-15, 1 - 1e-15)))

    # On the normal scale the distribution function is nearly a line, so secants close in within a few turns.
    aim = probit(target)
    y_low, y_high = np.full(mean.size, -8.0), np.full(mean.size, 8.0)
    close = 1e-5 * width
    x = np.clip(mean + width * aim, low, high)
    for turn in range(200):
        value = cdf(x)
        reached, y = value >= target, probit(value)
        high, y_high = np.where(reached, x, high), np.where(reached, y, y_high)
        low, y_low = np.where(reached, low, x), np.where(reached, y_low, y)
        if (certain | (high - low <= close)).all():
            break
        # Where atoms are far apart no bracket closes quickly, and none needs to: few atoms are in it.
        if turn % 6 == 5 and (np.clip(room(high), -1, top) - np.clip(room(low), -1, top)).sum() < 2**17:
            break
        guess = low + (high - low) * np.clip((aim - y_low) / np.maximum(y_high - y_low, 1e-9), 0.0, 1.0)
        # Aim past the root by a little, towards the end that is still far, so that it comes near as well.
        past = np.where(high - guess > guess - low, 1.0, -1.0) * 0.4 * close
        middle = 0.5 * (low + high)
        x = guess + past if turn % 4 != 3 else middle
        x = np.where((x <= low) | (x >= high), middle, x)
    return np.asarray(
        np.where(certain, mean, _first_atom(low, high, target - cdf(low), b, shift, top, p1, p2, flat2))
    )


def _first_atom(
    low: FloatArray,
    high: FloatArray,
    missing: FloatArray,
    step: FloatArray,
    shift: FloatArray,
    top: npt.NDArray[Any],
    p1: FloatArray,
    p2: FloatArray,
    flat2: npt.NDArray[np.bool_],
) -> FloatArray:
    """Return, for each point, the first atom in (low, high] at which the missing probability is reached."""

    def last(x: FloatArray) -> npt.NDArray[np.int64]:
        room = np.floor((x[:, None] - shift) / step[:, None] + 1e-9)
        return np.clip(room, -1, top - 1).astype(np.int64)

    before = last(low)
    count = last(high) - before
    row, column = np.nonzero(count)
    often = count[row, column]
    row, column = np.repeat(row, often), np.repeat(column, often)
    index = np.arange(row.size) - np.repeat(np.cumsum(often) - often, often) + before[row, column] + 1
    value = shift[row, column] + step[row] * index
    mass = p1[row, column] * np.where(flat2[row], 1.0, p2[row, np.minimum(index, p2.shape[1] - 1)])
    order = np.lexsort((value, row))
    row, value, mass = row[order], value[order], mass[order]
    total = np.cumsum(mass)
    start = np.searchsorted(row, np.arange(low.size))
    begun = np.concatenate([[0.0], total])[start]
    # Rounding may leave the last atom a little short; it is the answer all the same.
    enough = np.flatnonzero(total - begun[row] >= missing[row] - 1e-13)
    found = high.copy()
    found[row[enough[::-1]]] = value[enough[::-1]]
    return found


def _lattice_quantiles(tables: list[_Cells], q: FloatArray, length: int = 4096) -> FloatArray:
    """Return quantiles (levels, points) from one interpolated lattice a point, in batched transforms."""
    mean, variance = moments([Stratum(n, qs, v) for n, qs, v in tables])
    largest = np.zeros(mean.size)
    low, high = np.zeros(mean.size), np.zeros(mean.size)
    for n, qs, v in tables:
        one = (qs * v).sum(axis=1)
        bottom, top = np.minimum(v.min(axis=1), 0.0), np.maximum(v.max(axis=1), 0.0)
        largest = np.maximum(largest, np.maximum(one - bottom, top - one))
        low, high = low + n * bottom, high + n * top
    log = math.log(2 / _TAIL)
    reach = largest * log / 3 + np.sqrt((largest * log / 3) ** 2 + 2 * variance * log)
    low, high = np.maximum(low, mean - reach), np.minimum(high, mean + reach)
    step = np.maximum((high - low) / (length - 16), 1e-300)
    product: Any = 1.0
    for n, qs, v in tables:
        pmf = np.zeros((mean.size, length))
        pmf[:, 0] = np.maximum(1.0 - qs.sum(axis=1), 0.0)
        rows = np.arange(mean.size)
        for c in range(qs.shape[1]):
            position = v[:, c] / step
            nearest = np.rint(position)
            weights = _lagrange(position - nearest) * qs[:, c]
            for offset in range(-2, 3):
                pmf[rows, (nearest.astype(np.int64) + offset) % length] += weights[offset + 2]
        product = product * _power(np.fft.rfft(pmf, axis=1), n)
    folded = np.fft.irfft(product, length, axis=1)
    first = np.floor(low / step).astype(np.int64) - 8
    columns = (first[:, None] + np.arange(length)) % length
    mass = np.maximum(np.take_along_axis(folded, columns, axis=1), 0.0)
    total = np.cumsum(mass, axis=1)
    total /= total[:, -1:]
    out = np.empty((q.size, mean.size))
    for j, level in enumerate(q):
        at = np.minimum((total < level - 1e-13).sum(axis=1), length - 1)
        above = np.take_along_axis(total, at[:, None], axis=1)[:, 0]
        below = np.where(at > 0, np.take_along_axis(total, np.maximum(at - 1, 0)[:, None], axis=1)[:, 0], 0.0)
        part = np.where(above > below, (level - below) / np.maximum(above - below, 1e-300), 1.0)
        # A large step of the distribution function is an atom: its place, not a point on the way to it.
        atom = above - below > 0.02
        out[j] = step * (first + at + np.where(atom, 0.0, np.clip(part, 0.0, 1.0) - 0.5))
    return np.where(variance > 0, out, mean)
