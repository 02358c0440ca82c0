"""The distribution of resampled costs as the 2000 paper has it: drawn, with its order statistics as limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.results import Result
from costcurves._base.validation import FloatArray, Rng, check_rng, check_unit_array, frozen
from costcurves.inference.kernel.strata import Stratum, resample


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ResampledDistribution(Result):
    """The distribution of resampled statistics, as drawn.

    Attributes
    ----------
    values : ndarray
        The statistics in ascending order, read-only.

    Examples
    --------
    >>> from costcurves.inference.resampled_costs import ResampledDistribution
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
