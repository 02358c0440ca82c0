"""Distributions of sums of many draws, which are smooth: from the transform at few frequencies, with an error bound."""

from __future__ import annotations

import math

import numpy as np

from costcurves._base.validation import FloatArray
from costcurves.inference.kernel.lattice import Cells, bernstein, lagrange, lattice_error

# Frequencies at which the power of the transform is below exp(-NOTHING) are omitted.
NOTHING = 60.0
# The most frequencies, and exponentials for them.
MOST_FREQUENCIES = 1024
MOST_TERMS = 2**21
PLACES = 2**13
# The lattice of one draw for the bound: its points, and how many of them the values span.
LENGTH = 2**14
SPANNED = 2**11


def smooth_sum(cells: list[Cells]) -> tuple[FloatArray, FloatArray, float] | None:
    """Return grid, probabilities and error; None if the distribution is not smooth, or has too many values.

    Let V be one draw, V' another, σ² the variance of a draw, and W the length that Bernstein's inequality leaves of the
    line. The distribution is that of a circle of length W, and the power of the transform at frequencies 2πk/W gives it
    exactly. Few of these frequencies matter: |E exp(iωV)|² = E cos ω(V - V') <= 1 - ω²σ² + ω⁴ E(V - V')⁴/24, so that
    the modulus of the whole is at most exp(-ω² variance/4) up to ω² = 12 σ²/E(V - V')⁴, which is 6 over the squared
    range or more. Above, `_moduli` bounds it. Esseen's inequality bounds what follows for the distribution function.
    """
    span = max(float(v[-1] - v[0]) for _, _, v in cells)
    base = sum(n * float(v[0]) for n, _, v in cells)
    if not 1e-290 < span < 1e290 or not math.isfinite(base):
        return None
    cells = [(n, q, (v - v[0]) / span) for n, q, v in cells]  # so that powers neither overflow nor underflow
    mean = sum(n * float(q @ v) for n, q, v in cells)
    variance = sum(n * float(q @ (v - float(q @ v)) ** 2) for n, q, v in cells)
    reach = bernstein(variance, max(max(float(q @ v), v[-1] - float(q @ v)) for _, q, v in cells))
    low, high = max(0.0, mean - reach), min(sum(n * v[-1] for n, _, v in cells), mean + reach)
    around = high - low
    last = math.ceil(math.sqrt(4 * NOTHING / variance) * around / (2 * math.pi))
    if last > MOST_FREQUENCIES or last * sum(v.size for _, _, v in cells) > MOST_TERMS:
        return None
    quiet_until = math.inf  # the frequency up to which the bound by moments holds
    logs, angle = np.zeros(last), np.zeros(last)
    omega = 2 * np.pi / around * np.arange(1, last + 1)
    total = 0
    for n, q, v in cells:
        away = v - float(q @ v)
        second, fourth = float(q @ away**2), float(q @ away**4)
        quiet = math.sqrt(6) / v[-1]
        if fourth > 0:
            quiet = max(quiet, math.sqrt(12 * second / (2 * fourth + 6 * second**2)))
        quiet_until = min(quiet_until, quiet)
        turns = np.multiply.outer(omega, away)
        # One minus the real part is small, and its relative error is multiplied by n.
        lacking, imaginary = 2 * np.sin(0.5 * turns) ** 2 @ q, np.sin(turns) @ q
        squared = lacking * (lacking - 2) + imaginary**2  # |φ|² - 1
        logs += 0.5 * n * np.log1p(np.maximum(squared, -1 + 1e-15))
        angle += n * np.arctan2(imaginary, 1 - lacking)
        total += n
    if omega[-1] > quiet_until:
        return None
    product = np.zeros(PLACES // 2 + 1, np.complex128)
    product[0] = 1.0
    product[1 : last + 1] = np.exp(np.minimum(logs, 0.0)) * (np.cos(angle) - 1j * np.sin(angle))
    step = around / PLACES
    first = math.floor((low - mean) / step)
    mass = np.roll(np.fft.irfft(product, PLACES), -(first % PLACES))
    negative = float(-np.minimum(mass, 0.0).sum())
    mass = np.maximum(mass, 0.0)
    mass /= mass.sum()
    grid = base + span * (mean + step * (first + np.arange(PLACES)))
    density = float(mass.max()) / step
    above, bounds = _moduli(cells, quiet_until)
    esseen = 2 / np.pi * np.cumsum(bounds) + 24 * density / (np.pi * above)
    between = float(np.abs(np.diff(mass)).max()) / 8  # the distribution function is taken as linear between two places
    middle = math.exp(-NOTHING) * math.log(max(quiet_until / omega[-1], 1.0))
    moved = density * 4e-16 * (mean + (abs(base) + float(np.abs(grid).max())) / span)  # by rounding of the places
    error = float(esseen.min(initial=1.0)) + middle + negative + between + moved + 4e-16 * total + 2e-14
    return grid, mass, error


def _moduli(cells: list[Cells], start: float) -> tuple[FloatArray, FloatArray]:
    """Return frequencies above `start`, and for the stretch that ends at each a bound of the integral of |φ|/ω over it.

    φ is the transform of the whole sum. The transform of a draw is found on a lattice, and changes between two of its
    frequencies by no more than their distance times E|V - c|, for any c.
    """
    step = max(float(v[-1] - v[0]) for _, _, v in cells) / SPANNED
    turn = 2 * np.pi / LENGTH
    omega = turn * np.arange(LENGTH // 2 + 1, dtype=np.float64)  # in parts of 1 / step
    logs = np.zeros(omega.size)
    for n, q, v in cells:
        centre = v[np.searchsorted(np.cumsum(q), 0.5)]  # a median, for which E|V - c| is the least
        position = (v - centre) / step
        nearest = np.rint(position)
        weights = lagrange(position - nearest) * q
        where = (nearest.astype(np.int64) + np.arange(-2, 3)[:, None]) % LENGTH
        modulus = np.abs(np.fft.rfft(np.bincount(where.ravel(), weights=weights.ravel(), minlength=LENGTH)))
        between = 0.5 * turn * float(q @ np.abs(position))
        logs += n * np.log(np.minimum(modulus + lattice_error(omega) + between, 1.0))
    # A frequency stands for those half the distance to the next around it.
    used = np.flatnonzero(omega + 0.5 * turn > start * step)
    used = used[used > 0]
    ends: FloatArray = omega[used] + 0.5 * turn
    integrals: FloatArray = np.exp(logs[used]) * turn / np.maximum(ends - turn, start * step)
    return ends / step, integrals
