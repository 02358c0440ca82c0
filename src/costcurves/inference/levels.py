"""The level that a cost has in the bootstrap distribution of each of many test sets, by characteristic functions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import FloatArray
from costcurves.inference.kernel.lattice import bernstein, small_power

# The mass that a distribution may have outside the period, and the size at which terms of the series are negligible.
_OUTSIDE = 1e-9
_NEGLIGIBLE = 1e-6
# Terms of the series: most distributions need a few dozen; one with few large atoms is smoothed after this many.
_MOST_TERMS = 1 << 15
_BLOCK = 64


@dataclass(frozen=True, slots=True)
class Cells:
    """One stratum of many test sets: counts (sets, cells), the value of a draw (cells,), and λ as added to the cells.

    All sets have the same number of examples in the stratum, and that many are drawn.
    """

    counts: npt.NDArray[np.int64]
    values: FloatArray
    added: float | FloatArray = 0.0

    @property
    def draws(self) -> int:
        """The number of examples in the stratum."""
        return int(self.counts[0].sum())

    def rates(self) -> FloatArray:
        """Return the probabilities of the cells in every set."""
        weights = self.counts + self.added
        return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)


def bootstrap_levels(strata: list[Cells], x: float) -> FloatArray:
    """Return P(statistic < x) + P(statistic = x) / 2 over all resamples, for each test set.

    Parameters
    ----------
    strata : list of Cells
        Independent strata, all with the same number of sets.
    x : float
        The value asked about.

    Notes
    -----
    With ω = 2π/W and a period W so wide that x ± W/2 holds all but 1e-9 of the mass (Bernstein), the square wave of
    period W gives

        P(T < x) + P(T = x)/2 = 1/2 - (2/π) Σ_{k odd} Im E exp(iωk(T - x)) / k

    and the expectation is the product over strata of the n-th power of that of one draw. The series stops when all
    terms of all sets are below 1e-6; if atoms keep it from ending, the distribution is smoothed by a normal of about
    3e-5 of the period.
    """
    rates = [s.rates() for s in strata]
    mean, variance = np.zeros(rates[0].shape[0]), np.zeros(rates[0].shape[0])
    largest = 0.0
    for s, q in zip(strata, rates, strict=True):
        one = q @ s.values
        mean += s.draws * one
        variance += s.draws * np.maximum(q @ s.values**2 - one**2, 0.0)
        largest = max(largest, float(np.ptp(s.values)))
    reach = np.array([bernstein(float(v), largest, _OUTSIDE) for v in variance])
    half = np.maximum(np.abs(mean - x) + reach, np.abs(x) * 1e-12)
    out = np.empty(mean.size)
    # Sets that need a similar period go together.
    order = np.argsort(half, kind="stable")
    for start in range(0, order.size, _BLOCK):
        some = order[start : start + _BLOCK]
        out[some] = _block([(s, q[some]) for s, q in zip(strata, rates, strict=True)], x, 2 * float(half[some].max()))
    certain = variance == 0
    out[certain] = np.where(mean[certain] < x, 1.0, np.where(mean[certain] > x, 0.0, 0.5))
    return np.clip(out, 0.0, 1.0)


def _block(parts: list[tuple[Cells, FloatArray]], x: float, period: float) -> FloatArray:
    total = np.zeros(parts[0][1].shape[0])
    if period == 0:
        return total + 0.5
    first, terms = 0, 32
    while first < _MOST_TERMS:
        k = 2.0 * np.arange(first, first + terms) + 1.0
        omega = 2 * math.pi * k / period
        product: npt.NDArray[np.complex128] = np.broadcast_to(np.exp(-1j * omega * x), (total.size, k.size))
        for s, q in parts:
            turns = np.multiply.outer(s.values, omega)
            product = product * small_power(q @ np.cos(turns) + 1j * (q @ np.sin(turns)), s.draws)
        # The taper is 1 except for the last terms, which only distributions with atoms reach.
        weight = np.exp(-0.5 * (5.0 * k / (2.0 * _MOST_TERMS)) ** 2) / k
        total += product.imag @ weight
        if float((np.abs(product.real) + np.abs(product.imag)).max() * weight[0]) < _NEGLIGIBLE:
            break
        first, terms = first + terms, min(2 * terms, 256)
    return np.asarray(0.5 - 2 / math.pi * total)
