"""The interval methods of k-class costs and of their differences.

A method makes a law of the cells of a table: limits of the expected cost, and how plausible a given cost is. A new
method is a class here and its entry in `COST_METHODS`; nothing else has to be changed.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError
from costcurves._base.results import Result
from costcurves._base.validation import FloatArray, Rng, check_rng, check_unit_array, frozen
from costcurves.inference.cost_cells import CostCells, mean_of_cells
from costcurves.inference.kernel.distribution import exact_distribution
from costcurves.inference.kernel.strata import Stratum, bernstein_tail, resample
from costcurves.inference.rates import cells_interval
from costcurves.inference.tilted import tilted_limits, tilted_tail_bound, tilted_tails_at

# With uncertain priors the distribution is drawn; this many draws put the interval's ends within 1 % of their level.
_DIRICHLET_DRAWS = 100_000
# The smallest p-values of a normal and of a tilted test, and how many standard errors mid-P limits go.
_SMALLEST_P = 1e-300
_SMALLEST_TILTED = 1e-12
_FARTHEST = 8.0
# Mid-P limits are too narrow with at least this many different costs that have fewer examples than this each.
_MANY_COSTS = 4
_THIN = 2.5


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ResampledDistribution(Result):
    """The distribution of resampled statistics, as drawn.

    Attributes
    ----------
    values : ndarray
        The statistics in ascending order, read-only.

    Examples
    --------
    >>> from costcurves.inference.cost_methods import ResampledDistribution
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
        return f"ResampledDistribution(mean={self.mean:.4g}, std={self.std:.3g}, {self.values.size} resamples)"


def dirichlet_draws(
    strata: Sequence[Stratum], concentration: FloatArray, size: int, rng: np.random.Generator
) -> FloatArray:
    """Draw Σ π_t X_t with π from a Dirichlet distribution and X_t the resampled mean of stratum t."""
    means = np.stack([resample([s], size, rng) for s in strata], axis=1)
    shares = rng.dirichlet(concentration, size)
    return np.asarray((means * shares).sum(axis=1), dtype=np.float64)


class Resampling(NamedTuple):
    """What only the bootstrap methods take."""

    laplace: float
    n_resamples: int
    rng: np.random.Generator
    priors_size: float | None


class CostLaw(ABC):
    """What a method knows about an expected cost, or about a difference in cost."""

    @property
    def distribution(self) -> Any:
        """The bootstrap distribution, where the method has one, or None."""
        return None

    @property
    def doubt(self) -> str | None:
        """Why the limits may not hold for these data, or None."""
        return None

    @property
    @abstractmethod
    def smallest_p(self) -> float:
        """The smallest two-sided p-value that the method tells apart from 0."""

    @abstractmethod
    def limits(self, lower_tail: float, upper_tail: float) -> tuple[float, float]:
        """Return the limits that miss the expected cost with these probabilities."""

    @abstractmethod
    def tails(self, at: float) -> tuple[float, float]:
        """Return how plausible an expected cost of at most, and of at least, `at` is."""

    def bound(self, at: float) -> float:
        """Return a bound on the second of `tails` that is quick to compute, or that tail itself."""
        return self.tails(at)[1]


class TiltedLaw(CostLaw):
    """A cost is plausible unless the data lie in the tails of the bootstrap from the most likely rates that have it."""

    smallest_p = _SMALLEST_TILTED

    def __init__(self, cells: Sequence[CostCells], _: Resampling) -> None:
        """Pool cells of equal cost."""
        self._cells = [one.pooled() for one in cells]

    def limits(self, lower_tail: float, upper_tail: float) -> tuple[float, float]:
        """Return the costs at which the observed mean has just these tails."""
        return tilted_limits(self._cells, lower_tail, upper_tail)

    def tails(self, at: float) -> tuple[float, float]:
        """Return the tails of the observed mean where the expected cost is `at`."""
        below, above = tilted_tails_at(self._cells, at)
        return above, below

    def bound(self, at: float) -> float:
        """Return Bernstein's bound under the tilted rates."""
        return tilted_tail_bound(self._cells, at)


class BootstrapLaw(CostLaw):
    """The percentile bootstrap of the 2000 paper: the limits are quantiles of the resampled cost."""

    def __init__(self, cells: Sequence[CostCells], options: Resampling, *, drawn: bool = False) -> None:
        """Keep what is drawn from; uncertain priors are always drawn, other distributions are exact unless `drawn`."""
        self._cells, self._options, self._drawn = cells, options, drawn
        self._strata = [one.stratum(options.laplace, weighted=options.priors_size is None) for one in cells]
        self._signed = any((one.costs < 0).any() for one in cells)

    @cached_property
    def distribution(self) -> Any:
        """The distribution of the resampled cost."""
        options = self._options
        if options.priors_size is not None:
            size = options.n_resamples if self._drawn else _DIRICHLET_DRAWS
            concentration = options.priors_size * np.array([one.weight for one in self._cells])
            return ResampledDistribution.from_draws(dirichlet_draws(self._strata, concentration, size, options.rng))
        if self._drawn:
            return ResampledDistribution.from_draws(resample(self._strata, options.n_resamples, options.rng))
        return exact_distribution(self._strata)

    @property
    def smallest_p(self) -> float:
        """Two draws of all, or twice the error of the exact distribution."""
        found = self.distribution
        drawn = isinstance(found, ResampledDistribution)
        return 2.0 / found.values.size if drawn else 2.0 * float(found.error)

    @cached_property
    def _zero(self) -> float:
        """Up to which size a cost counts as zero: gains and losses that cancel leave rounding errors."""
        most = max(float(np.abs(one.costs[one.counts > 0]).max(initial=0.0)) for one in self._cells)
        return max(1e-12 * most, 1e-9 * float(self.distribution.std))

    def limits(self, lower_tail: float, upper_tail: float) -> tuple[float, float]:
        """Return the quantiles; those of draws are the paper's order statistics (its Table 2).

        With 1000 resamples and 95 % these are the 26th and the 975th. An end that differs from 0 by rounding only is 0.
        """
        if isinstance(self.distribution, ResampledDistribution):
            ordered = self.distribution.values
            # 1e-9: (1 - 0.9)/2 · 1000 is 49.999… in floating point and means 50.
            below, above = (math.floor(tail * ordered.size + 1e-9) for tail in (lower_tail, upper_tail))
            ends = (float(ordered[below]), float(ordered[ordered.size - 1 - above]))
        else:
            # 3e-14: where exactly the tail lies at an atom and beyond, the next atom is the end, on both sides alike.
            lower, upper = self.distribution.quantile([min(1.0, lower_tail + 3e-14), 1 - upper_tail])
            ends = (float(lower), float(upper))
        if not self._signed:
            return ends
        lower, upper = (0.0 if abs(end) <= self._zero else end for end in ends)
        return lower, upper

    def tails(self, at: float) -> tuple[float, float]:
        """Return the shares of resampled costs that are at most, and at least, `at`."""
        if self.distribution.std == 0:
            return float(self.distribution.mean <= at + self._zero), float(self.distribution.mean >= at - self._zero)
        below, at_most = self.distribution.cdf([at - self._zero, at + self._zero])
        return float(at_most), float(1.0 - below)

    def bound(self, at: float) -> float:
        """Return Bernstein's bound, which is of no use where priors are drawn."""
        return 1.0 if self._options.priors_size is not None else bernstein_tail(self._strata, at)


class GaussianLaw(CostLaw):
    """The normal-theory baseline: mean ± z·s/√n of the examples' costs."""

    smallest_p = _SMALLEST_P

    def __init__(self, cells: Sequence[CostCells], _: Resampling) -> None:
        """Find the mean and its standard error."""
        for one in cells:
            if one.draws < 2:
                raise DataError(f"a standard deviation needs at least 2 examples, got {one.draws}")
        self._mean = mean_of_cells(cells)
        self._error = math.sqrt(sum(one.variance * one.draws / (one.draws - 1) for one in cells))

    def limits(self, lower_tail: float, upper_tail: float) -> tuple[float, float]:
        """Return the mean, minus and plus standard errors."""
        from scipy.special import ndtri

        return self._mean + self._error * float(ndtri(lower_tail)), self._mean - self._error * float(ndtri(upper_tail))

    def tails(self, at: float) -> tuple[float, float]:
        """Return normal tails."""
        from scipy.special import ndtr

        if self._error == 0:
            return float(self._mean <= at), float(self._mean >= at)
        z = (at - self._mean) / self._error
        return float(ndtr(z)), float(ndtr(-z))


class MidPLaw(CostLaw):
    """Mid-P limits of the rate of each cost, combined like standard deviations (MOVER): for few different costs."""

    smallest_p = 0.0
    doubt: str | None = None

    def __init__(self, cells: Sequence[CostCells], _: Resampling) -> None:
        """Pool cells of equal cost."""
        from scipy.special import ndtr

        pooled = [one.pooled() for one in cells]
        self._strata = [(one.counts, one.values) for one in pooled]
        self._mean = mean_of_cells(pooled)
        self.smallest_p = 2 * float(ndtr(-_FARTHEST))
        self.doubt = _thin(pooled)

    def limits(self, lower_tail: float, upper_tail: float) -> tuple[float, float]:
        """Return the combined limits."""
        from scipy.special import ndtri

        below, above = (cells_interval(self._strata, -float(ndtri(tail))) for tail in (lower_tail, upper_tail))
        return float(below[1]), float(above[2])

    def tails(self, at: float) -> tuple[float, float]:
        """Return the tails at which a limit just reaches `at`."""
        from scipy.special import ndtr

        near, far = 0.0, _FARTHEST
        for _ in range(40):
            z = 0.5 * (near + far)
            _, lower, upper = cells_interval(self._strata, z)
            near, far = (near, z) if lower <= at <= upper else (z, far)
        tail = float(ndtr(-far))
        return (tail, 1 - tail) if at < self._mean else (1 - tail, tail)


def _thin(cells: Sequence[CostCells]) -> str | None:
    """Return a doubt where many different costs were seen about once each: mid-P limits then cover 85 to 92 %."""
    seen = [one.counts[(one.counts > 0) & (one.costs != 0)] for one in cells]
    costs, examples = sum(one.size for one in seen), sum(float(one.sum()) for one in seen)
    if costs < _MANY_COSTS or examples >= _THIN * costs:
        return None
    return f"{examples:.0f} costly examples have {costs} different costs"


def _resampled(cells: Sequence[CostCells], options: Resampling) -> BootstrapLaw:
    return BootstrapLaw(cells, options, drawn=True)


@dataclass(frozen=True, slots=True)
class CostMethod:
    """A method: what makes its law, and three properties.

    Attributes
    ----------
    law : function of cells and Resampling
    bootstrap : bool
        Whether it takes λ and `priors_size`.
    allows_unseen : bool
        Whether its limits allow for errors that were not seen.
    every_difference : bool
        Whether the cells of a difference are all differences that the cost matrix allows, or those that were seen and
        the largest in either direction.
    """

    law: Callable[[Sequence[CostCells], Resampling], CostLaw]
    bootstrap: bool = False
    allows_unseen: bool = False
    every_difference: bool = False


COST_METHODS: dict[str, CostMethod] = {
    "tilted": CostMethod(TiltedLaw, allows_unseen=True),
    "exact": CostMethod(BootstrapLaw, bootstrap=True),
    "resample": CostMethod(_resampled, bootstrap=True),
    "mid-p": CostMethod(MidPLaw, allows_unseen=True, every_difference=True),
    "gaussian": CostMethod(GaussianLaw),
}
CostMethodName = Literal["tilted", "exact", "resample", "mid-p", "gaussian"]
DEFAULT_METHOD: CostMethodName = "tilted"
