"""The distribution of a sum of draws at one operating point: by its atoms, on a lattice, or interpolated on one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import FloatArray, IntArray

# The mass that a window may leave outside; double precision cannot show less.
TAIL = 1e-15
# Largest table of atoms that is enumerated, and longest lattice for one distribution.
MAX_ATOMS = 2**18
LATTICE = 2**18
_LONGEST = 2**20  # the most points of a lattice whose power is found
# Powers of transforms below exp(-NOTHING) are taken for zero.
NOTHING = 80.0
# Floats that differ by less than this part of their scale are the same value (0.1 + 0.2 and 0.3).
SAME = 1e-12

# Draws, probabilities and sorted distinct values of one stratum.
Cells = tuple[int, FloatArray, FloatArray]


def few_atoms(cells: list[Cells]) -> tuple[FloatArray, FloatArray] | None:
    """Return all atoms by convolving positive numbers, or None when there are too many."""
    values, mass = np.zeros(1), np.ones(1)
    for n, q, v in cells:
        if v.size == 2:
            part = binomial_atoms(n, q, v)
        elif n < 2000 and math.comb(n + v.size - 1, n) <= MAX_ATOMS:
            part = composition_atoms(n, q, v)
        else:
            part = power_atoms(n, q, v)
        if part is None or part[0].size * values.size > MAX_ATOMS:
            return None
        values, mass = convolve(values, mass, *part)
    return values, mass


def binomial_atoms(n: int, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return the values of a sum of two-valued draws and their probabilities, or None if there are too many."""
    k, mass = binomial_window(n, float(q[1]))
    return (n * v[0] + (v[1] - v[0]) * k, mass) if k.size <= MAX_ATOMS * 4 else None


def binomial_window(n: int, p: float) -> tuple[FloatArray, FloatArray]:
    """Return counts and probabilities of a binomial, without tails of less than about 1e-17."""
    from scipy.special import gammaln, xlog1py, xlogy

    low, high = 0, n
    if n > 4096:
        reach = bernstein(n * p * (1 - p), 1.0, 1e-17)
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


def composition_atoms(n: int, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the atoms of a multinomial by listing all its counts."""
    from scipy.special import gammaln

    rest, logs, values = np.array([n]), np.full(1, float(gammaln(n + 1))), np.zeros(1)
    for p, x in zip(q[:-1], v[:-1], strict=True):
        # Each partial list continues with every count that is left for the next cell.
        often = rest + 1
        back = np.repeat(np.arange(rest.size), often)
        k = np.arange(back.size) - np.repeat(np.cumsum(often) - often, often)
        rest, values = rest[back] - k, values[back] + k * x
        logs = logs[back] + k * math.log(p) - gammaln(k + 1)
    logs = logs + rest * math.log(q[-1]) - gammaln(rest + 1)
    values = values + rest * v[-1]
    order = np.argsort(values, kind="stable")
    values, mass = values[order], np.exp(logs[order])
    values, mass = merge_sorted(values, mass)
    return values, mass / mass.sum()


def merge_sorted(v: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return sorted values and their masses, with values that are equal up to rounding merged."""
    starts = first_of_same(v)
    return v[starts], np.add.reduceat(q, starts)


def first_of_same(v: FloatArray) -> IntArray:
    """Return the first position of each group of sorted values that are equal up to rounding.

    A long run of values, each close to the next, may span more than rounding: such runs are not merged.
    """
    near = SAME * max(abs(v[0]), abs(v[-1]))
    new = np.concatenate([[True], np.diff(v) > near])
    starts = np.flatnonzero(new)
    sizes = np.diff(np.append(starts, v.size))
    wide = v[starts + sizes - 1] - v[starts] > 4 * near
    if wide.any():
        starts = np.flatnonzero(new | np.repeat(wide, sizes))
    return starts


def power_atoms(n: int, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return the atoms of n draws by squaring, or None when there are too many: at least n (values - 1) + 1."""
    if n * (v.size - 1) >= MAX_ATOMS:
        return None
    out: tuple[FloatArray, FloatArray] | None = None
    square = (v, q)
    while True:
        if n & 1:
            if out is not None and out[0].size * square[0].size > MAX_ATOMS:
                return None
            out = square if out is None else convolve(*out, *square)
        n >>= 1
        if n == 0:
            return out
        if square[0].size ** 2 > MAX_ATOMS:
            return None
        square = convolve(*square, *square)


def convolve(v1: FloatArray, q1: FloatArray, v2: FloatArray, q2: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the distribution of the sum of two independent variables given by their atoms."""
    if v1.size == 1:
        return v2 + v1[0], q2 * q1[0]
    v = np.add.outer(v1, v2).ravel()
    q = np.multiply.outer(q1, q2).ravel()
    order = np.argsort(v, kind="stable")
    return merge_sorted(v[order], q[order])


def bernstein(variance: float, largest: float, tail: float = TAIL) -> float:
    """Return t with P(|X - mean| > t) <= tail for a sum of independent draws that stray at most `largest`."""
    log = math.log(2 / tail)
    return largest * log / 3 + math.sqrt((largest * log / 3) ** 2 + 2 * variance * log)


def common_step(differences: FloatArray) -> float | None:
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
        if step < 1e-9 * scale:
            return None
    step = scale / round(scale / step)
    multiples = d / step
    if np.abs(multiples - np.rint(multiples)).max() > 1e-11 * multiples[-1]:
        return None
    return step


def power(transform: npt.NDArray[np.complex128], n: int) -> npt.NDArray[np.complex128]:
    """Return transform**n without overflow, underflow or a wrong branch, for any n."""
    out = np.zeros_like(transform)
    size = np.abs(transform)
    used = size > math.exp(-NOTHING / n)
    logs, angle = n * np.log(size[used]), n * np.angle(transform[used])
    out[used] = np.exp(np.minimum(logs, 0.0)) * (np.cos(angle) + 1j * np.sin(angle))
    return out


def small_power(z: npt.NDArray[np.complex128], n: int) -> npt.NDArray[np.complex128]:
    """Return z**n for |z| <= 1 by squaring `z` in place, several times faster than with logarithms and angles."""
    out = z.copy() if n & 1 else np.ones_like(z)
    while n := n >> 1:
        z *= z
        if n & 1:
            out *= z
    return out


def lattice_power(cells: list[Cells], step: float) -> tuple[float, FloatArray, float] | None:
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
    reach = bernstein(variance, largest)
    first, last = max(low, math.floor(center - reach)), min(high, math.ceil(center + reach))
    size = last - first + 1
    if size > _LONGEST:
        return None
    length = 1 << max(1, int(size - 1).bit_length())
    product: Any = 1.0
    base = 0.0
    for (n, q, v), k in zip(cells, multiples, strict=True):
        pmf = np.bincount(k.astype(np.int64) % length, weights=q, minlength=length)
        product = product * power(np.fft.rfft(pmf), n)
        base += n * v[0]
    folded = np.fft.irfft(product, length)
    mass = np.maximum(np.roll(folded, -(int(first) % length))[: int(size)], 0.0)
    return base + step * first, mass / mass.sum(), 4e-16 * total + 1e-14


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """A variable base + step·k with probabilities of k = 0, 1, …"""

    base: float
    step: float
    mass: FloatArray
    error: float

    @property
    def size(self) -> int:
        """Return the number of points."""
        return self.mass.size


def lattice_of(cells: Cells) -> Lattice | None:
    """Return the lattice that holds the distribution of the cells, or None if there is no small one."""
    n, q, v = cells
    if v.size == 2:
        k, mass = binomial_window(n, float(q[1]))
        step = v[1] - v[0]
        return Lattice(n * v[0] + step * k[0], step, mass, 1e-15)
    step = common_step(v - v[0])
    found = None if step is None else lattice_power([cells], step)
    if step is None or found is None:
        return None
    return Lattice(found[0], step, found[1], found[2])


def below(x: FloatArray, first: Lattice, second: Lattice) -> tuple[FloatArray, IntArray]:
    """Return, for each x and each atom of the first part, how far the second may go (as a float index)."""
    i = np.arange(first.size)
    room = (x[:, None] - first.base - second.base - first.step * i) / second.step
    slack = 1e-9 + 8e-16 * np.abs(room)
    return np.floor(room + slack), i


def convolution_cdf(x: FloatArray, parts: tuple[Lattice, ...]) -> FloatArray:
    """Return the distribution function of the sum of two lattices at the points `x`."""
    first, second = parts
    total = np.concatenate([[0.0], np.cumsum(second.mass)])
    total[-1] = 1.0
    out = np.empty(x.size)
    block = max(1, 2**22 // first.size)
    for start in range(0, x.size, block):
        some = np.clip(x[start : start + block], -1e300, 1e300)
        index, _ = below(some, first, second)
        out[start : start + block] = total[np.clip(index + 1, 0, second.size).astype(np.intp)] @ first.mass
    return out


def convolution_quantile(q: FloatArray, parts: tuple[Lattice, ...], mean: float, std: float) -> FloatArray:
    """Return the quantiles `q` of the sum of two lattices."""
    first, second = parts
    low = np.full(q.size, first.base + second.base)
    high = low + first.step * (first.size - 1) + second.step * (second.size - 1)
    low = low - first.step - second.step
    target = q - 1e-14
    while (high - low).max(initial=0.0) > 1e-12 * max(abs(mean), std) + 1e-13 * std:
        middle = 0.5 * (low + high)
        if ((middle <= low) | (middle >= high)).all():
            break
        reached = convolution_cdf(middle, parts) >= target
        high, low = np.where(reached, middle, high), np.where(reached, low, middle)
    return snap(high, first, second)


def snap(x: FloatArray, first: Lattice, second: Lattice) -> FloatArray:
    """Return the largest atom that is not above x."""
    index, i = below(x, first, second)
    index = np.minimum(index, second.size - 1)
    atoms = np.where(index >= 0, first.base + second.base + first.step * i + second.step * index, -np.inf)
    best: FloatArray = atoms.max(axis=1)
    return np.where(np.isfinite(best), best, first.base + second.base)


def lagrange(fraction: FloatArray) -> FloatArray:
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


def lattice_error(omega: FloatArray) -> FloatArray:
    """Return the most by which Lagrange's five weights change exp(iωv), ω in parts of one over the step.

    It is |f(1-f²)(4-f²)|/120 at f = 1/2, times ω⁵.
    """
    square = omega * omega
    error: FloatArray = np.minimum(square * square * omega * (1.40625 / 120), 2.0)
    return error


def interpolated(cells: list[Cells], variance: float) -> tuple[FloatArray, FloatArray, float, float]:
    """Return grid, probabilities, error and resolution for values without a common step."""
    length = LATTICE
    center = sum(n * float(q @ v) for n, q, v in cells)
    largest = max(max(float(q @ v) - v[0], v[-1] - float(q @ v)) for _, q, v in cells)
    reach = bernstein(variance, largest)
    low = max(sum(n * v[0] for n, _, v in cells), center - reach)
    high = min(sum(n * v[-1] for n, _, v in cells), center + reach)
    step = (high - low) / (length - 16)
    log_size = np.zeros(length // 2 + 1)
    product: Any = 1.0
    base, total, draws = 0.0, 0, 0
    omega = np.arange(length // 2 + 1, dtype=np.float64) * (2 * np.pi / length)
    wrong = lattice_error(omega)
    for n, q, v in cells:
        # The most probable value is put on a lattice point, so that its atoms stay atoms.
        anchor = v[np.argmax(q)]
        position = (v - anchor) / step
        nearest = np.rint(position)
        weights = lagrange(position - nearest) * q
        where = (nearest.astype(np.int64) + np.arange(-2, 3)[:, None]) % length
        pmf = np.bincount(where.ravel(), weights=weights.ravel(), minlength=length)
        transform = np.fft.rfft(pmf)
        product = product * power(transform, n)
        log_size += _log_power(np.abs(transform) + wrong, n)
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
    gap = np.minimum(total * wrong * _exp(log_size * (1 - 1 / draws)), 2.0)
    parts = gap[1:] / np.arange(1, gap.size)
    # Esseen: sup |F - G| <= 1/π ∫ gap/ω over (0, T) twice sided + 24 · density / (π T), for the best T.
    bounds = 2 / np.pi * np.cumsum(parts) + 24 * float(mass.max()) / (np.pi * omega[1:])
    moved = float(mass.max()) / step * 4e-16 * (abs(base) + float(np.abs(grid).max()))  # by rounding of the places
    rounding = 4e-16 * total + 2e-14 + moved
    smooth = float(bounds.min()) + negative + rounding
    if smooth <= 1e-3:
        return grid, mass, smooth, 0.0
    # Atoms: compare after smoothing both sides with the narrowest Gaussian that leaves a small difference;
    # eight of its standard deviations on each side are the resolution.
    atomic, width = math.inf, 1.5
    while atomic > 1e-4 and width < length / 1024:
        width *= 2
        kernel = np.exp(-0.5 * (width * omega) ** 2)
        atomic = float((parts * kernel[1:]).sum()) / np.pi
    return grid, mass, atomic + 2 * negative + rounding, 16 * width * step


def _log_power(size: FloatArray, n: int) -> FloatArray:
    """Return n log min(size, 1), raised to -NOTHING if it is below, so that few logarithms are needed."""
    out = np.full(size.size, -NOTHING)
    large = np.flatnonzero(size > math.exp(-NOTHING / n))
    out[large] = n * np.log(np.minimum(size[large], 1.0))
    return out


def _exp(logs: FloatArray) -> FloatArray:
    """Return exp(logs), or exp(-NOTHING / 2) if that is more, as an upper bound."""
    out = np.full(logs.size, math.exp(-NOTHING / 2))
    large = np.flatnonzero(logs > -NOTHING / 2)
    out[large] = np.exp(logs[large])
    return out
