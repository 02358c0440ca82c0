"""Costs that differ from example to example: the interval of their mean, and the comparison of two classifiers."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, SmallSampleWarning
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    MOST_COST,
    MOST_POINTS,
    FloatArray,
    Rng,
    check_choice,
    check_integer,
    check_level,
    check_rng,
    number_array,
    shown,
)
from costcurves.inference.bands.resampled import order_limits
from costcurves.inference.bands.results import DifferenceInterval, Interval
from costcurves.inference.bands.shared_draws import zero_tails
from costcurves.inference.heavy_tails import MeanLimits, bootstrap_t_limits, doubts
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
    method: str = "bootstrap-t",
    n_resamples: int = 2000,
    rng: Rng = 0,
    largest: float | None = None,
) -> Interval:
    """Return the mean cost per example with its interval.

    Parameters
    ----------
    costs : array of shape (n,)
    level : float
    method : {"bootstrap-t", "exact", "t", "resample"}
        Student's t with the quantiles of its resampled distribution (`bootstrap_t_limits`), quantiles of the exact
        bootstrap distribution of the mean, Student's t, or quantiles of resamples.
    n_resamples, rng
        For "bootstrap-t" and "resample". By default "bootstrap-t" is seeded by the data.
    largest : float, optional
        What an example can cost at most; by default the largest cost that was seen. "bootstrap-t" allows for it where
        fewer than ten examples cost anything.

    Warns
    -----
    SmallSampleWarning
        If fewer than ten examples cost anything, or if the costs have a heavy tail.
    """
    array, level = _costs("costs", costs), check_level(level)
    most = max(float(array.max()), 0.0 if largest is None else largest)
    found = _limits(array, level, method, n_resamples, rng, (min(0.0, float(array.min())), most))
    return Interval(float(array.mean()), found.lower, found.upper, level)


def _limits(
    values: FloatArray, level: float, method: str, n_resamples: int, rng: Rng, possible: tuple[float, float]
) -> MeanLimits:
    """Return the limits and the p-value of a method, after a warning if no method can be trusted."""
    how = EXAMPLE_METHODS[check_choice("method", method, EXAMPLE_METHODS)]
    found = how(values, 0.5 * (1 - level), n_resamples, rng, possible)
    if (values != 0).any() or possible != (0.0, 0.0):
        why = doubts(values)
        if why is not None:
            warnings.warn(
                f"the interval may be too short: {why}; rare large costs may be missing from the data. "
                "If contracts cap what a case can cost, cap the costs",
                SmallSampleWarning,
                stacklevel=4,  # the caller of `example_cost` or `compare_example_cost`
            )
    return found


def _bootstrap_t(
    values: FloatArray, tail: float, n_resamples: int, rng: Rng, possible: tuple[float, float]
) -> MeanLimits:
    size = check_integer("n_resamples", n_resamples, 2, MOST_POINTS)
    return bootstrap_t_limits(values, tail, size, check_rng(rng), possible)


def _exact(values: FloatArray, tail: float, n_resamples: int, rng: Rng, possible: tuple[float, float]) -> MeanLimits:
    found = example_distribution(values)
    low, high = found.quantile([tail, 1 - tail])
    below, above = zero_tails(found)
    return MeanLimits(float(low), float(high), min(1.0, 2 * min(below, above)))


def _student(values: FloatArray, tail: float, n_resamples: int, rng: Rng, possible: tuple[float, float]) -> MeanLimits:
    from scipy.special import stdtr, stdtrit

    if values.size < 2:
        raise DataError(f"`costs` must hold two examples or more for 't', got {values.size}")
    mean, error = float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))
    half = float(stdtrit(values.size - 1, 1 - tail)) * error
    p = 1.0 if error == 0 and mean == 0 else 0.0
    if error > 0:
        p = 2 * float(stdtr(values.size - 1, -abs(mean) / error))
    return MeanLimits(mean - half, mean + half, p)


def _resampled(
    values: FloatArray, tail: float, n_resamples: int, rng: Rng, possible: tuple[float, float]
) -> MeanLimits:
    size = check_integer("n_resamples", n_resamples, 2, MOST_POINTS)
    low, high = order_limits(resample(_stratum(values), size, rng), 1 - 2 * tail)
    return MeanLimits(float(low), float(high), _exact(values, tail, 0, None, possible).p_value)


# A new method is a function of (values, tail, n_resamples, rng, possible) and its entry here.
EXAMPLE_METHODS = {"bootstrap-t": _bootstrap_t, "exact": _exact, "t": _student, "resample": _resampled}
ExampleMethodName = Literal["bootstrap-t", "exact", "t", "resample"]


def compare_example_costs(
    costs_a: npt.ArrayLike,
    costs_b: npt.ArrayLike,
    *,
    level: float = DEFAULT_LEVEL,
    method: str = "bootstrap-t",
    n_resamples: int = 2000,
    rng: Rng = 0,
    largest: float | None = None,
) -> DifferenceInterval:
    """Compare two classifiers by what each example cost with either of them.

    Parameters
    ----------
    costs_a, costs_b : arrays of shape (n,)
        Costs of the same examples.
    level, method, n_resamples, rng
        As in `example_cost_interval`.
    largest : float, optional
        The largest possible difference between the costs of an example; by default the largest that was seen.

    Returns
    -------
    DifferenceInterval
        Its p-value is twice the smaller tail at zero: of t over resamples, of the bootstrap distribution of the
        difference, or of Student's t.
    """
    a, b = _costs("costs_a", costs_a), _costs("costs_b", costs_b)
    if a.shape != b.shape:
        raise DataError(f"`costs_a` and `costs_b` must match, got {a.size} and {b.size} examples")
    gap, level = a - b, check_level(level)
    most = max(float(np.abs(gap).max()), 0.0 if largest is None else largest)
    found = _limits(gap, level, method, n_resamples, rng, (-most, most))
    interval = Interval(float(gap.mean()), found.lower, found.upper, level)
    return DifferenceInterval.of(interval, found.p_value)
