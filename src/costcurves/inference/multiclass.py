"""Strata of k-class costs for the kernel: BCost, BDeltaCost, deployment priors. Arrays only, no labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import UnsupportedError
from costcurves._base.results import Result
from costcurves._base.validation import (
    FloatArray,
    IntArray,
    Rng,
    check_rng,
    check_unit_array,
    frozen,
)
from costcurves.inference.kernel.strata import Stratum, moments, resample

# Up to this many differences of costs are listed one by one; beyond it they are put on a lattice.
_LISTED = 1 << 22
_LATTICE = 1 << 15
# How many examples the Laplace correction of one classifier adds in all, by default.
ADDED = 2.5


def default_laplace(k: int) -> float:
    """Return the λ of BCost for k classes: 2.5 examples in all cells together, which is the paper's 0.1 at its k = 5.

    What biases the interval is the weight of all cells together, λk², so that it must not grow with k. With fewer
    than five classes 0.1 is too little: at two classes, 100 examples and 5 % errors it covers 90 %, and 2.5/k² 96 %.

    Examples
    --------
    >>> default_laplace(2), default_laplace(5), default_laplace(20)
    (0.625, 0.1, 0.00625)
    """
    return ADDED / k**2


def cost_strata(counts: npt.NDArray[Any], costs: FloatArray, laplace: float) -> list[Stratum]:
    """Return BCost as one stratum: n draws from k² cells of probability (M + λ)/(n + λk²) and value C/n."""
    n = int(counts.sum())
    if laplace == 0:
        seen = counts > 0
        return [Stratum(n, counts[seen] / n, costs[seen] / n)]
    q = (counts.ravel() + laplace) / (n + laplace * counts.size)
    return [Stratum(n, q, costs.ravel() / n)]


def cost_strata_by_class(
    counts: npt.NDArray[Any], costs: FloatArray, laplace: float, priors: FloatArray
) -> list[Stratum]:
    """Return BCost under given priors: each class t is drawn n_t times and its mean is weighted by π_t."""
    strata = []
    for t in np.flatnonzero(priors > 0):
        n = int(counts[t].sum())
        cells = (counts[t] > 0) if laplace == 0 else np.ones(counts[t].size, dtype=bool)
        q = (counts[t][cells] + laplace) / (n + laplace * cells.size)
        strata.append(Stratum(n, q, priors[t] * costs[t][cells] / n))
    return strata


def difference_strata(values: FloatArray, counts: IntArray, n: int, costs: FloatArray, laplace: float) -> list[Stratum]:
    """Return BDeltaCost as one stratum of n draws from the observed differences and the Laplace mass.

    With λ > 0 every one of the k³ cells gets λ; the cells enter through the histogram of their values, which
    is all that matters, and are never listed.
    """
    values, weights = _merged(values, counts.astype(np.float64))
    if laplace == 0:
        return [Stratum(n, weights / n, values / n)]
    every, times = difference_histogram(costs)
    total = n + laplace * float(costs.shape[0]) ** 3
    values, weights = _merged(np.append(values, every), np.append(weights, laplace * times))
    return [Stratum(n, weights / total, values / n)]


def difference_strata_by_class(
    true: IntArray,
    values: FloatArray,
    counts: IntArray,
    costs: FloatArray,
    laplace: float,
    priors: FloatArray,
) -> list[Stratum]:
    """Return BDeltaCost under given priors, one stratum a class."""
    if laplace > 0 and _listed_differences(costs) > _LISTED:
        raise UnsupportedError(
            f"`laplace` must be 0 with `priors` and this many distinct cost differences "
            f"({_listed_differences(costs)}), got {laplace:g}"
        )
    strata = []
    for t in np.flatnonzero(priors > 0):
        own = true == t
        n = int(counts[own].sum())
        v, w = _merged(values[own], counts[own].astype(np.float64))
        if laplace > 0:
            every, times = difference_histogram(costs[t : t + 1])
            v, w = _merged(np.append(v, every), np.append(w, laplace * times))
        strata.append(Stratum(n, w / w.sum(), priors[t] * v / n))
    return strata


def _merged(values: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the distinct values and their total weights."""
    if values.size <= 1:
        return values, weights
    distinct, codes = np.unique(values, return_inverse=True)
    return distinct, np.bincount(codes, weights=weights).astype(np.float64, copy=False)


def _listed_differences(costs: FloatArray) -> int:
    ordered = np.sort(costs, axis=1)
    distinct = 1 + np.count_nonzero(np.diff(ordered, axis=1), axis=1)
    return int((distinct**2).sum())


def difference_histogram(costs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the values C[t, a] - C[t, b] over all t, a, b, and how many of the k³ cells have each.

    Rows with few distinct costs are listed: the square of their number. When all rows together have more than
    four million differences, each row is put on a lattice of 32,768 steps (a cost's mass shared between its
    two neighbours, which keeps its mean) and correlated with itself by one transform a row: memory is that
    of the lattice, and no difference moves by more than one step, 3e-5 of the range of costs.
    """
    if _listed_differences(costs) <= _LISTED:
        parts = [np.unique(row, return_counts=True) for row in costs]
        values = np.concatenate([np.subtract.outer(u, u).ravel() for u, _ in parts])
        times = np.concatenate([np.multiply.outer(m, m).ravel() for _, m in parts]).astype(np.float64)
        return _merged(values, times)
    from scipy.fft import irfft, rfft

    low = costs.min(axis=1, keepdims=True)
    step = float((costs - low).max()) / _LATTICE
    length = 2 * (_LATTICE + 1)
    power = np.zeros(length // 2 + 1, dtype=np.float64)
    smeared = 0.0
    for row in (costs - low) / step:
        place, repeats = np.unique(row, return_counts=True)
        left = np.minimum(place.astype(np.int64), _LATTICE - 1)
        share = place - left
        masses = np.bincount(left, repeats * (1 - share), length) + np.bincount(left + 1, repeats * share, length)
        power += np.abs(rfft(masses)) ** 2
        smeared += float((repeats**2 * share * (1 - share)).sum())
    correlation = np.roll(irfft(power, length), _LATTICE)[: 2 * _LATTICE + 1]
    # A cost minus itself is exactly zero: what sharing put one step to each side goes back to the middle.
    correlation[_LATTICE - 1 : _LATTICE + 2] += smeared * np.array([-1.0, 2.0, -1.0])
    correlation = np.where(correlation > 1e-12 * correlation.max(), correlation, 0.0)
    correlation *= costs.size * costs.shape[1] / correlation.sum()
    used = correlation > 0
    lags: FloatArray = step * np.arange(-_LATTICE, _LATTICE + 1, dtype=np.float64)
    return lags[used], np.asarray(correlation[used], dtype=np.float64)


def limits(distribution: Any, lower_tail: float, upper_tail: float, zero: float = 0.0) -> tuple[float, float]:
    """Return the ends beyond which at most these tails of a distribution lie.

    Of draws they are the paper's order statistics (its Table 2): with 1000 resamples and 95 %, the 26th and the 975th.
    An end of at most `zero` is 0.
    """
    if isinstance(distribution, ResampledDistribution):
        ordered = distribution.values
        # 1e-9: (1 - 0.9)/2 · 1000 is 49.999… in floating point and means 50.
        below, above = (math.floor(tail * ordered.size + 1e-9) for tail in (lower_tail, upper_tail))
        ends = (float(ordered[below]), float(ordered[ordered.size - 1 - above]))
    else:
        # 3e-14: where exactly the tail lies at an atom and beyond, the next atom is the end, on both sides alike.
        lower, upper = distribution.quantile([min(1.0, lower_tail + 3e-14), 1 - upper_tail])
        ends = (float(lower), float(upper))
    lower, upper = (0.0 if abs(end) <= zero else end for end in ends)
    return lower, upper


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ResampledDistribution(Result):
    """The distribution of resampled statistics, as drawn.

    Attributes
    ----------
    values : ndarray
        The statistics in ascending order, read-only.

    Examples
    --------
    >>> from costcurves.inference.multiclass import ResampledDistribution
    >>> drawn = ResampledDistribution.from_draws([3.0, 1.0, 2.0])
    >>> drawn, float(drawn.cdf(2.0).round(3))
    (ResampledDistribution(mean=2, std=0.816, 3 resamples), 0.667)
    """

    values: FloatArray
    error: float = field(default=math.nan)

    @classmethod
    def from_draws(cls, draws: npt.ArrayLike) -> ResampledDistribution:
        """Return the distribution of some draws, with the 95 % bound of Dvoretzky, Kiefer and Wolfowitz."""
        values = np.sort(np.asarray(draws, dtype=np.float64))
        return cls(frozen(values), math.sqrt(math.log(2 / 0.05) / (2 * values.size)))

    @property
    def mean(self) -> float:
        """The mean of the draws."""
        return float(self.values.mean())

    @property
    def std(self) -> float:
        """The standard deviation of the draws."""
        return float(self.values.std())

    def cdf(self, x: npt.ArrayLike) -> FloatArray:
        """Return the share of draws <= x."""
        return np.asarray(np.searchsorted(self.values, x, side="right") / self.values.size, dtype=np.float64)

    def quantile(self, q: npt.ArrayLike) -> FloatArray:
        """Return the smallest draw x with `cdf(x) >= q`."""
        at = np.ceil(check_unit_array("q", q) * self.values.size - 1e-9).astype(np.int64) - 1
        return self.values[np.maximum(at, 0)]

    def sample(self, size: int, rng: Rng = 0) -> FloatArray:
        """Draw from the draws, with replacement."""
        return check_rng(rng).choice(self.values, size)

    def _columns(self) -> dict[str, Any]:
        return {"value": self.values, "cdf": np.arange(1, self.values.size + 1) / self.values.size}

    def __repr__(self) -> str:
        """Return the conclusion in words."""
        return f"ResampledDistribution(mean={self.mean:.4g}, std={self.std:.3g}, {self.values.size} resamples)"


def dirichlet_draws(
    strata: Sequence[Stratum], concentration: FloatArray, size: int, rng: np.random.Generator
) -> FloatArray:
    """Draw Σ π_t X_t with π from a Dirichlet distribution and X_t the resampled mean of stratum t."""
    means = np.stack([resample([s], size, rng) for s in strata], axis=1)
    shares = rng.dirichlet(concentration, size)
    return np.asarray((means * shares).sum(axis=1), dtype=np.float64)


def spread(strata: Sequence[Stratum]) -> float:
    """Return the standard deviation of the resampled statistic."""
    return math.sqrt(max(0.0, float(moments(strata)[1])))


def tails(distribution: Any, zero: float) -> tuple[float, float]:
    """Return P(D <= 0) and P(D >= 0), where a sum of at most `zero` is zero, whatever rounding leaves of it."""
    if distribution.std == 0:
        return float(distribution.mean <= zero), float(distribution.mean >= -zero)
    below, at_most = distribution.cdf([-zero, zero])
    return float(at_most), float(1.0 - below)


def smallest_p(distribution: Any) -> float:
    """Return the smallest two-sided p-value that a distribution tells apart from 0."""
    if isinstance(distribution, ResampledDistribution):
        return 2.0 / distribution.values.size
    return 2.0 * float(distribution.error)


def bernstein_quantile(strata: Sequence[Stratum], tail: float) -> float:
    """Return a bound that the statistic exceeds with probability at most `tail` (Bernstein's inequality)."""
    mean, variance, most = _bernstein(strata)
    log = -math.log(tail)
    part = most * log / 3
    return mean + part + math.sqrt(part * part + 2 * variance * log)


def bernstein_tail(strata: Sequence[Stratum]) -> float:
    """Return a bound on the probability that the statistic is at least 0 (Bernstein's inequality)."""
    mean, variance, most = _bernstein(strata)
    scale = 2 * (variance - most * mean / 3)
    return 1.0 if mean >= 0 else 0.0 if scale <= 0 else math.exp(-mean * mean / scale)


def _bernstein(strata: Sequence[Stratum]) -> tuple[float, float, float]:
    """Return the mean and the variance of the statistic, and what one draw can add to its own mean at most."""
    mean, variance = (float(m) for m in moments(strata))
    most = max(float(s.values.max(initial=0.0) - s.probabilities @ s.values) for s in strata)
    return mean, max(0.0, variance), max(0.0, most)
