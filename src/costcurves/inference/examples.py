"""Costs that differ from example to example: the interval of their mean, and the comparison of two classifiers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    MOST_COST,
    MOST_POINTS,
    FloatArray,
    Rng,
    check_choice,
    check_integer,
    check_level,
    number_array,
    shown,
)
from costcurves.inference.bands.resampled import order_limits
from costcurves.inference.bands.results import DifferenceInterval, Interval
from costcurves.inference.kernel.distribution import BootstrapDistribution, exact_distribution
from costcurves.inference.kernel.strata import Stratum, resample


def incurred_costs(
    y_true: npt.ArrayLike, y_pred: npt.ArrayLike, cost_fp: npt.ArrayLike, cost_fn: npt.ArrayLike
) -> FloatArray:
    """Return what each example cost: `cost_fn` where a positive was missed, `cost_fp` for a false alarm.

    Parameters
    ----------
    y_true, y_pred : arrays of shape (n,)
        True and predicted class, as booleans or 0 and 1.
    cost_fp, cost_fn : float or array of shape (n,)
    """
    truth, guess = number_array("y_true", y_true, error=DataError), number_array("y_pred", y_pred, error=DataError)
    if truth.shape != guess.shape or truth.ndim != 1:
        raise DataError(f"`y_true` and `y_pred` must match, got shapes {truth.shape} and {guess.shape}")
    for name, labels in (("y_true", truth), ("y_pred", guess)):
        if not np.isin(labels, (0, 1)).all():
            raise DataError(f"`{name}` must hold 0 and 1, got {shown(labels)}")
    missed, alarmed = (truth > guess), (guess > truth)
    alarm, miss = checked_costs("cost_fp", cost_fp, truth.shape), checked_costs("cost_fn", cost_fn, truth.shape)
    return np.where(missed, miss, np.where(alarmed, alarm, 0.0))


def checked_costs(name: str, cost: npt.ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """Return the cost of an error, finite and >= 0: one number, or one per example."""
    price = number_array(name, cost, booleans=False, error=DataError)
    if price.shape not in ((), shape):
        raise DataError(f"`{name}` must be a number or one per example ({shape[0]}), got shape {price.shape}")
    bad = ~((price >= 0) & (price <= MOST_COST))
    if bad.any():
        raise DataError(f"`{name}` must be in [0, {MOST_COST:g}], got {shown(price[bad][0])}")
    return price


def _costs(name: str, values: npt.ArrayLike) -> FloatArray:
    array = number_array(name, values, error=DataError)
    if array.ndim != 1 or array.size == 0 or not np.isfinite(array).all():
        raise DataError(f"`{name}` must be one finite number per example, got {shown(values)}")
    return array


def example_distribution(costs: npt.ArrayLike) -> BootstrapDistribution:
    """Return the exact bootstrap distribution of the mean cost: each example is a cell of the multinomial.

    Parameters
    ----------
    costs : array of shape (n,)
        What each example cost (or the difference of what it cost with two classifiers).
    """
    return exact_distribution(_stratum(_costs("costs", costs)))


def _stratum(costs: FloatArray) -> Stratum:
    """Return the draws of as many examples as there are, each of which adds its part of the mean."""
    values, counts = np.unique(costs, return_counts=True)
    return Stratum(costs.size, counts / costs.size, values / costs.size)


def example_cost_interval(
    costs: npt.ArrayLike,
    *,
    level: float = DEFAULT_LEVEL,
    method: str = "exact",
    n_resamples: int = 2000,
    rng: Rng = 0,
) -> Interval:
    """Return the mean cost per example with its interval.

    Parameters
    ----------
    costs : array of shape (n,)
    level : float
    method : {"exact", "t", "resample"}
        Quantiles of the exact bootstrap distribution, Student's t, or quantiles of resamples.
    n_resamples, rng
        For "resample" only.
    """
    array, level = _costs("costs", costs), check_level(level)
    limits = EXAMPLE_METHODS[check_choice("method", method, EXAMPLE_METHODS)]
    lower, upper = limits(array, level, n_resamples, rng)
    return Interval(float(array.mean()), lower, upper, level)


def _exact_limits(costs: FloatArray, level: float, n_resamples: int, rng: Rng) -> tuple[float, float]:
    tail = 0.5 * (1 - level)
    low, high = example_distribution(costs).quantile([tail, 1 - tail])
    return float(low), float(high)


def _t_limits(costs: FloatArray, level: float, n_resamples: int, rng: Rng) -> tuple[float, float]:
    from scipy.special import stdtrit

    if costs.size < 2:
        raise DataError(f"`costs` must hold two examples or more for 't', got {costs.size}")
    tail = 0.5 * (1 - level)
    half = float(stdtrit(costs.size - 1, 1 - tail) * costs.std(ddof=1) / np.sqrt(costs.size))
    return float(costs.mean()) - half, float(costs.mean()) + half


def _resampled_limits(costs: FloatArray, level: float, n_resamples: int, rng: Rng) -> tuple[float, float]:
    size = check_integer("n_resamples", n_resamples, 2, MOST_POINTS)
    low, high = order_limits(resample(_stratum(costs), size, rng), level)
    return float(low), float(high)


# A new method is a function of (costs, level, n_resamples, rng) and its entry here.
EXAMPLE_METHODS = {"exact": _exact_limits, "t": _t_limits, "resample": _resampled_limits}


def compare_example_costs(
    costs_a: npt.ArrayLike,
    costs_b: npt.ArrayLike,
    *,
    level: float = DEFAULT_LEVEL,
    method: str = "exact",
    n_resamples: int = 2000,
    rng: Rng = 0,
) -> DifferenceInterval:
    """Compare two classifiers by what each example cost with either of them.

    Parameters
    ----------
    costs_a, costs_b : arrays of shape (n,)
        Costs of the same examples.
    level, method, n_resamples, rng
        As in `example_cost_interval`.

    Returns
    -------
    DifferenceInterval
        Its p-value is the level at which the interval reaches zero: twice the smaller tail of the bootstrap
        distribution at zero, or that of Student's t.

    Examples
    --------
    >>> from costcurves.inference.examples import compare_example_costs
    >>> compare_example_costs([5.0, 0.0, 0.0, 1.0], [5.0, 9.0, 9.0, 1.0], level=0.9)
    DifferenceInterval(a - b = -4.5 in [-9, 0], level=0.9, p=0.125)
    """
    a, b = _costs("costs_a", costs_a), _costs("costs_b", costs_b)
    if a.shape != b.shape:
        raise DataError(f"`costs_a` and `costs_b` must match, got {a.size} and {b.size} examples")
    gap = a - b
    interval = example_cost_interval(gap, level=level, method=method, n_resamples=n_resamples, rng=rng)
    if method == "t":
        from scipy.special import stdtr

        error = float(gap.std(ddof=1) / np.sqrt(gap.size))
        p = 1.0 if error == 0 and gap.mean() == 0 else 0.0
        if error > 0:
            p = 2 * float(stdtr(gap.size - 1, -abs(float(gap.mean())) / error))
    else:
        dist = example_distribution(gap)
        below, above = float(dist.cdf(0.0)), 1 - float(dist.cdf(-1e-9 * max(dist.std, 1e-300)))
        p = min(1.0, 2 * min(below, above))
    return DifferenceInterval.of(interval, p)
