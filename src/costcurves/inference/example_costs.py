"""Costs that differ from example to example: limits of their mean, how large one may be, and the comparison of two."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, SmallSampleWarning
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    MOST_COST,
    BoolArray,
    FloatArray,
    Rng,
    check_choice,
    check_level,
    check_nonnegative,
    check_resampling,
    number_array,
    shown,
)
from costcurves.inference.bands.error_rates import order_limits
from costcurves.inference.bands.results import DifferenceInterval, Interval, p_beside
from costcurves.inference.dirichlet_means import Weighted, chance_below, lower_limit
from costcurves.inference.kernel.distribution import BootstrapDistribution, exact_distribution
from costcurves.inference.kernel.joint import zero_tails
from costcurves.inference.kernel.strata import Stratum, resample

# Fewer costs than this do not show how large others may be.
_FEW_COSTS = 20
# So many standard errors are added to the tail index that is estimated for a mean cost, none for a difference.
_ERRORS = 2.0
# With fewer cases than this that cost anything, quantiles of resampled means are too close to the mean.
_FEW_CASES = 10
# Bootstrap-t is used only if at least this many cases cost anything, and the tail index is below this one.
_ENOUGH, _HEAVY = 20, 0.6
# The tail that bootstrap-t is asked for, as a share of the nominal one: of skewed costs it misses too often.
_ASKED = 0.4
# With more values than this, quantiles of t come from their expansion.
_MANY = 20_000
# Values that are drawn at a time.
_DRAWN = 2**21


class MeanLimits(NamedTuple):
    """Limits of a mean, and the p-value of the hypothesis that it is zero."""

    lower: float
    upper: float
    p_value: float


def dirichlet_limits(values: FloatArray, tail: float, possible: tuple[float, float]) -> MeanLimits:
    """Return the limits of a mean by random weights of the values and of one more case with an extreme value.

    Parameters
    ----------
    values : array of shape (n,)
    tail : float
        What each side may miss: 0.025 for a 95 % interval.
    possible : (float, float)
        The smallest and the largest value that a case can have, whether it was seen or not. If one is infinite, so is
        the limit on its side.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.example_costs import dirichlet_limits
    >>> costs = np.concatenate([np.zeros(97), [5.0, 5.0, 5.0]])
    >>> found = dirichlet_limits(costs, 0.025, (0.0, 5.0))  # 5 times the limits of Clopper and Pearson for 3 of 100
    >>> round(found.lower, 4), round(found.upper, 4)
    (0.0311, 0.4259)
    """
    cases, ends, zero = Weighted.of(values), [], []
    for one, extreme in ((cases, possible[0]), (cases.mirrored(), -possible[1])):
        open_end = math.isinf(extreme)
        ends.append(-math.inf if open_end else lower_limit(one, extreme, tail))
        zero.append(1.0 if open_end else chance_below(one.with_extreme(extreme), 0.0))
    limits = (ends[0], 0.0 - ends[1])
    return MeanLimits(*limits, p_beside(limits, min(1.0, 2 * min(zero)), 0.0, 2 * tail))


def bootstrap_t_limits(values: FloatArray, tail: float, n_resamples: int, rng: np.random.Generator) -> MeanLimits:
    """Return the limits of a mean from the ratio of its error to its standard error in resamples.

    Parameters
    ----------
    values : array of shape (n,)
        Not all equal.
    tail : float
        What each side may miss.
    n_resamples : int
    rng : numpy.random.Generator

    Notes
    -----
    Of a skewed sample, the mean and its standard error are both small if the large values are missing. Quantiles of the
    mean's own bootstrap distribution do not show that; the ratio t* = (mean* - mean)/se* of each resample does. The
    limits are mean - se · t*_{1-q} and mean - se · t*_{q}. In simulations they missed up to 1.8 times as often as they
    should, so q is two fifths of `tail`, and the p-value is larger in proportion. Only values other than zero are
    drawn, after their number. With more than 20,000 of them the quantiles of t are those of Edgeworth's expansion,
    z - γ(2z² + 1)/(6√n) with the skewness γ.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.example_costs import bootstrap_t_limits
    >>> costs = np.concatenate([np.zeros(960), np.arange(1.0, 41.0)])
    >>> found = bootstrap_t_limits(costs, 0.025, 2000, np.random.default_rng(0))
    >>> found.lower < 0.82 < found.upper
    True
    """
    values = np.sort(values)  # neither the order of the cases matters, nor which of two classifiers comes first
    turned = -values[::-1]
    apart = np.flatnonzero(values != turned)
    if apart.size and values[apart[0]] > turned[apart[0]]:
        lower, upper, p = bootstrap_t_limits(turned, tail, n_resamples, rng)
        return MeanLimits(-upper, -lower, p)
    n, mean, asked = values.size, float(values.mean()), _ASKED * tail
    error = float(values.std()) / math.sqrt(n)
    moved = values[values != 0]
    if moved.size > _MANY:
        low, high, p = _expanded(values, asked, mean / error)
    else:
        t = _resampled_t(moved, n, n_resamples, rng)
        low, high = (float(end) for end in order_limits(t, 1 - 2 * asked))
        extreme = min(int((t >= mean / error).sum()), int((t <= mean / error).sum()))
        p = 2 * (extreme + 1) / (n_resamples + 1)
    limits = (mean - error * high, mean - error * low)
    return MeanLimits(*limits, p_beside(limits, min(1.0, p / _ASKED), 0.0, 2 * tail))


def _expanded(values: FloatArray, tail: float, observed: float) -> tuple[float, float, float]:
    """Return the quantiles of t and the p-value by Edgeworth's expansion, which has converged in large samples."""
    from scipy.special import ndtr, ndtri

    away = values - values.mean()
    lean = float((away**3).mean()) / float((away**2).mean()) ** 1.5 / (6 * math.sqrt(values.size))
    z = float(ndtri(1 - tail))
    move = lean * (2 * z * z + 1)
    below = float(ndtr(observed)) + lean * (2 * observed**2 + 1) * math.exp(-0.5 * observed**2) / math.sqrt(2 * math.pi)
    return -z - move, z - move, min(1.0, max(0.0, 2 * min(below, 1 - below)))


def _resampled_t(moved: FloatArray, n: int, size: int, rng: np.random.Generator) -> FloatArray:
    """Return t of resamples of n values, all zero but for the given ones; t is infinite in resamples without spread."""
    mean = float(moved.sum()) / n
    numbers = rng.binomial(n, moved.size / n, size) if moved.size < n else np.full(size, n)
    sums = np.zeros((2, size))
    block = max(1, _DRAWN // moved.size)
    for start in range(0, size, block):
        some = numbers[start : start + block]
        drawn = moved[rng.integers(0, moved.size, int(some.sum()))]
        ends = np.cumsum(some)
        for row, part in enumerate((drawn, drawn * drawn)):
            total = np.append(0.0, np.cumsum(part))
            sums[row, start : start + block] = total[ends] - total[ends - some]
    means = sums[0] / n
    error = np.sqrt(np.maximum(sums[1] / n - means**2, 0.0) / n)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (means - mean) / error
    flat = error <= 1e-12 * np.abs(moved).max()
    return np.where(flat, np.where(means < mean, -np.inf, np.inf), t)


class Largest(NamedTuple):
    """How large a cost may be that was not seen, the tail index behind that, and why it may be infinite."""

    cost: float
    tail_index: float
    why: str


def largest_possible(at_stake: Sequence[FloatArray], errors: float = _ERRORS) -> Largest:
    """Return how large a cost may be that was not seen, which may be infinite.

    Parameters
    ----------
    at_stake : sequence of arrays
        What errors would cost in the cases, for each kind of errors. A number is what all errors of a kind cost.
    errors : float
        How many standard errors are added to the tail index.

    Notes
    -----
    Costs that are larger than the largest of m known ones are on average x/(1 - h) if that is x and h is the index of
    a tail like Pareto's. The k = 2√m largest show h: by their logarithms, they are on average h above the next one
    (Hill's estimate). Standard errors, h/√k each, are added. With an index of one, the mean itself is infinite. A
    largest cost that occurs three times or more is taken for a cap, beyond which there is nothing, and fewer than
    twenty costs do not show their tail.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.example_costs import largest_possible
    >>> round(largest_possible([np.arange(1.0, 101.0), np.array(5.0)]).cost)
    121
    >>> largest_possible([1.2 ** np.arange(100)]).why
    'costs have a heavy tail (tail index up to 2.77)'
    """
    kinds = [_largest_of(one, errors) for one in at_stake]
    farthest = max(kinds, key=lambda one: one.cost)
    return Largest(farthest.cost, max(one.tail_index for one in kinds), farthest.why)


def _largest_of(costs: FloatArray, errors: float) -> Largest:
    """Return how large a cost of one kind may be."""
    if costs.ndim == 0:
        return Largest(float(costs), 0.0, "")
    sizes = np.sort(costs[costs > 0])
    if sizes.size == 0 and costs.size >= _FEW_COSTS:
        return Largest(0.0, 0.0, "")
    if sizes.size >= 3 and sizes[-3] == sizes[-1]:
        return Largest(float(sizes[-1]), 0.0, "")
    if sizes.size < _FEW_COSTS:
        return Largest(math.inf, math.inf, f"costs of {sizes.size} cases do not show how large others may be")
    k = math.ceil(2 * math.sqrt(sizes.size))
    logs = np.log(sizes[-k - 1 :])
    index = float((logs[1:] - logs[0]).mean()) * (1 + errors / math.sqrt(k))
    if index >= 1:
        return Largest(math.inf, index, f"costs have a heavy tail (tail index up to {index:.2f})")
    return Largest(float(sizes[-1]) / (1 - index), index, "")


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


def costs_at_stake(positive: BoolArray, cost_fp: npt.ArrayLike, cost_fn: npt.ArrayLike) -> list[FloatArray]:
    """Return what false alarms would cost in the negatives, and misses in the positives: one number, or for each."""
    kinds = (("cost_fp", cost_fp, ~positive), ("cost_fn", cost_fn, positive))
    prices = [(checked_costs(name, cost, positive.shape), cases) for name, cost, cases in kinds]
    return [price if price.ndim == 0 else price[cases] for price, cases in prices]


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
    at_stake: Sequence[FloatArray] | None = None,
    max_cost: float | None = None,
) -> Interval:
    """Return the mean cost per example with its interval. Methods, options and warnings are those of `example_cost`.

    `at_stake` has what errors would cost, for each kind of errors (`largest_possible`); by default, what the examples
    cost. Limits of methods that give finite ones may be too low if fewer than ten examples cost anything.
    """
    array, level = _costs("costs", costs), check_level(level)
    stake = [array] if at_stake is None else at_stake
    seen = max(0.0, float(array.max()), *(float(one.max(initial=0.0)) for one in stake))
    found = _limits(array, stake, level, method, n_resamples, rng, _stated(seen, max_cost), signed=False)
    return Interval(_mean(array), found.lower, found.upper, level)


def _mean(values: FloatArray) -> float:
    """Return the mean, which is the same for every order of the cases."""
    return float(np.sort(values).mean())


def _stated(seen: float, max_cost: float | None) -> float | None:
    """Return what an example can cost at most, if that is stated."""
    if max_cost is None:
        return None
    stated = check_nonnegative("max_cost", max_cost)
    if stated < seen:
        raise DataError(f"`max_cost` must be at least the largest cost of the data, {seen:g}, got {stated:g}")
    return stated


def _limits(
    values: FloatArray,
    at_stake: Sequence[FloatArray],
    level: float,
    method: str,
    n_resamples: int,
    rng: Rng,
    stated: float | None,
    *,
    signed: bool,
) -> MeanLimits:
    """Return the limits and the p-value of a method, after a warning if there are none that can be trusted."""
    check_choice("method", method, EXAMPLE_METHODS)
    n_resamples = check_resampling(n_resamples, rng)
    # Errors of either classifier decide a difference, in both directions, and the index alone is wide enough there.
    largest = largest_possible(at_stake, 0.0 if signed else _ERRORS)
    most, why = (largest.cost, largest.why) if stated is None else (stated, "")
    many = int(np.count_nonzero(values))
    known = all(one.ndim == 0 for one in at_stake) or not np.ptp(values)  # what errors cost, or all cases are alike
    if method == "bootstrap-t" and (known or many < _ENOUGH or largest.tail_index >= _HEAVY):
        method = "dirichlet"
    found = EXAMPLE_METHODS[method](values, 0.5 * (1 - level), n_resamples, rng, (-most if signed else 0.0, most))
    holds = method in ("bootstrap-t", "dirichlet")
    says = "there is no limit that holds" if holds else "the interval may be too short"
    if not holds and many < _FEW_CASES and most > 0:
        why = f"only {many} of {values.size} cases cost anything"
    if why:
        warnings.warn(
            f"{says}: {why}; rare large costs may be missing from the data. "
            "If it is known what a case can cost at most, pass it as `max_cost`",
            SmallSampleWarning,
            stacklevel=4,  # the caller of `example_cost` or `compare_example_cost`
        )
    return found


def _bootstrap_t(
    values: FloatArray, tail: float, n_resamples: int, rng: Rng, possible: tuple[float, float]
) -> MeanLimits:
    found = bootstrap_t_limits(values, tail, n_resamples, np.random.default_rng(rng))
    return found._replace(lower=max(found.lower, possible[0]), upper=min(found.upper, possible[1]))


def _dirichlet(
    values: FloatArray, tail: float, n_resamples: int, rng: Rng, possible: tuple[float, float]
) -> MeanLimits:
    return dirichlet_limits(values, tail, possible)


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
    low, high = order_limits(resample(_stratum(values), n_resamples, rng), 1 - 2 * tail)
    return MeanLimits(float(low), float(high), _exact(values, tail, 0, None, possible).p_value)


# A new method is a function of (values, tail, n_resamples, rng, possible) and its entry here.
EXAMPLE_METHODS = {
    "bootstrap-t": _bootstrap_t,
    "dirichlet": _dirichlet,
    "exact": _exact,
    "t": _student,
    "resample": _resampled,
}
ExampleMethodName = Literal["bootstrap-t", "dirichlet", "exact", "t", "resample"]


def compare_example_costs(
    costs_a: npt.ArrayLike,
    costs_b: npt.ArrayLike,
    *,
    level: float = DEFAULT_LEVEL,
    method: str = "bootstrap-t",
    n_resamples: int = 2000,
    rng: Rng = 0,
    at_stake: Sequence[FloatArray] | None = None,
    max_cost: float | None = None,
) -> DifferenceInterval:
    """Compare two classifiers by what each example cost with either of them; options as for `example_cost_interval`.

    With `at_stake` or `max_cost`, the costs of an example can differ by as much, in either direction. The p-value is
    twice the smaller tail at zero: of the randomly weighted mean, of the bootstrap distribution of the difference, or
    of Student's t.
    """
    a, b = _costs("costs_a", costs_a), _costs("costs_b", costs_b)
    if a.shape != b.shape:
        raise DataError(f"`costs_a` and `costs_b` must match, got {a.size} and {b.size} examples")
    gap, level = a - b, check_level(level)
    stake = [np.abs(gap)] if at_stake is None else at_stake
    seen = max(float(np.abs(gap).max()), *(float(one.max(initial=0.0)) for one in stake))
    found = _limits(gap, stake, level, method, n_resamples, rng, _stated(seen, max_cost), signed=True)
    interval = Interval(_mean(gap), found.lower, found.upper, level)
    return DifferenceInterval.of(interval, found.p_value)
