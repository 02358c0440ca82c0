"""Costs that differ from example to example: limits of their mean, when to distrust them, and the comparison of two."""

from __future__ import annotations

import math
import warnings
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, SmallSampleWarning
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    MOST_COST,
    FloatArray,
    Rng,
    check_choice,
    check_level,
    check_nonnegative,
    check_resampling,
    check_rng,
    number_array,
    shown,
)
from costcurves.inference.bands.error_rates import order_limits
from costcurves.inference.bands.results import DifferenceInterval, Interval
from costcurves.inference.cost_cells import CostCells
from costcurves.inference.kernel.distribution import BootstrapDistribution, exact_distribution
from costcurves.inference.kernel.joint import zero_tails
from costcurves.inference.kernel.strata import Stratum, resample
from costcurves.inference.tilted import tilted_limits, tilted_tails_at

# With fewer numbers other than zero than this, the largest possible ones are allowed for, and a warning is given.
FEW = 10
# From this tail index on, the variance is infinite, and no interval holds its level in samples of any usual size.
_HEAVY = 0.5
# With more numbers than this, an expansion replaces resampling.
_MANY = 20_000
# Resampled numbers that are held at a time.
_BLOCK = 2**21


class MeanLimits(NamedTuple):
    """Limits of a mean, and the p-value of the hypothesis that it is zero."""

    lower: float
    upper: float
    p_value: float


def bootstrap_t_limits(
    values: FloatArray, tail: float, n_resamples: int, rng: np.random.Generator, possible: tuple[float, float]
) -> MeanLimits:
    """Return the limits of a mean from the distribution of Student's t over resamples.

    Parameters
    ----------
    values : array of shape (n,)
    tail : float
        What each side may miss: 0.025 for a 95 % interval.
    n_resamples : int
    rng : numpy.random.Generator
    possible : (float, float)
        The smallest and the largest value that a case can have, whether it was seen or not. It matters only if fewer
        than ten values differ from zero: limits then are not beyond those of `tilted_limits` with these two values
        among the possible ones, which also stand where t cannot be computed. For costs, which are never negative, the
        lower limit is the tilted one.

    Notes
    -----
    Of a skewed sample, the mean and its standard error are both small if the rare large values are missing. Quantiles
    of the mean's own bootstrap distribution do not show that; the ratio t* = (mean* - mean)/se* of each resample does.
    The limits are mean - se · t*_{1-tail} and mean - se · t*_{tail}. Only values other than zero are drawn, after their
    number. With more than 20,000 of them the quantiles of t are those of Edgeworth's expansion, z - γ(2z² + 1)/(6√n)
    with the skewness γ.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.example_costs import bootstrap_t_limits
    >>> costs = np.concatenate([np.zeros(980), np.arange(1.0, 21.0)])
    >>> found = bootstrap_t_limits(costs, 0.025, 2000, np.random.default_rng(0), (0.0, 20.0))
    >>> found.lower < 0.15 < found.upper
    True
    """
    n, mean = values.size, float(values.mean())
    moved = values[values != 0]
    moved = moved[np.argsort(np.abs(moved), kind="stable")]  # the order of the cases does not matter
    lower, upper, p = -math.inf, math.inf, 1.0
    if moved.size > 1:
        error = float(values.std()) / math.sqrt(n)
        if error == 0:
            # All cases are alike. If the mean were zero, one in 1 + k would have the farthest value of the other sign.
            k = abs((possible[0] if mean > 0 else possible[1]) / mean)
            low, high = tilted_limits([_cells(values, possible)], tail)
            p = min(1.0, 2 * (k / (1 + k)) ** n)
            return MeanLimits(max(low, possible[0]), min(high, possible[1]), p)
        if moved.size > _MANY:
            low_t, high_t, p = _expanded(values, tail, mean / error)
        else:
            t = _resampled_t(moved, n, n_resamples, rng)
            low_t, high_t = (float(end) for end in order_limits(t, 1 - 2 * tail))
            extreme = min(int((t >= mean / error).sum()), int((t <= mean / error).sum()))
            p = min(1.0, 2 * (extreme + 1) / (n_resamples + 1))
        lower, upper = mean - error * high_t, mean - error * low_t
    if moved.size < FEW:
        low, high = tilted_limits([_cells(values, possible)], tail)
        lower, upper = low if possible[0] == 0 else max(lower, low), min(upper, high)
    return MeanLimits(max(lower, possible[0]), min(upper, possible[1]), p)


def _cells(values: FloatArray, possible: tuple[float, float]) -> CostCells:
    """Return the counts of all values, and of the two extreme ones even if they were not seen."""
    seen = np.concatenate([values, possible])
    return CostCells.of(np.append(np.ones(values.size), [0.0, 0.0]), seen).pooled()


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
    """Return t of resamples of n values, of which all but these are zero; infinite if a resample has no spread."""
    mean = float(moved.sum()) / n
    numbers = rng.binomial(n, moved.size / n, size) if moved.size < n else np.full(size, n)
    sums = np.zeros((2, size))
    block = max(1, _BLOCK // moved.size)
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


def doubts(values: FloatArray) -> str | None:
    """Return why no interval of the mean of these values can be trusted, or None if there is no reason.

    Notes
    -----
    The first reason is that fewer than ten values differ from zero. The second is a heavy tail: of m such values, the
    largest k are on average exp(h) times as large as the next, by their logarithms (Hill's estimate of the tail index
    h), with h + h/√k of at least 1/2 both for k = √m and for k = 2√m. With a tail index of 1/2 the variance is
    infinite, and much of the mean may come from values that are larger than any in the data; h/√k is the standard
    error of the estimate. Two sizes k are asked for because the step from cheap to expensive errors is no tail. A
    largest value that occurs three times or more is taken for a cap, beyond which there is nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.example_costs import doubts
    >>> doubts(np.arange(100.0)) is None
    True
    >>> doubts(np.append(np.zeros(500), [3.0, 8.0]))
    'only 2 of 502 cases cost anything'
    """
    sizes = np.sort(np.abs(values[values != 0]))
    if sizes.size < FEW:
        return f"only {sizes.size} of {values.size} cases cost anything"
    if sizes[-3] == sizes[-1]:
        return None
    index = _tail_index(sizes, 1.0)
    if index < _HEAVY:
        return None
    share = float(sizes[-1] / sizes.sum())
    return (
        f"costs have a heavy tail (tail index up to {index:.2f}), and the largest alone is {100 * share:.0f} % of them"
    )


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
    at_stake: npt.ArrayLike | None = None,
    max_cost: float | None = None,
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
    at_stake : array of shape (n,), optional
        What an error would cost in each example; by default what they cost. "bootstrap-t" allows for the largest where
        fewer than ten examples cost anything.
    max_cost : float, optional
        What an example can cost at most, if that is known.

    Warns
    -----
    SmallSampleWarning
        If fewer than ten examples cost anything, or if the costs have a heavy tail. If Hill's estimate of the tail
        index is 1/2 or more and there is no `max_cost`, "bootstrap-t" has no upper limit: it is infinite.
    """
    array, level = _costs("costs", costs), check_level(level)
    stake = array if at_stake is None else _costs("at_stake", at_stake)
    most = _most(float(max(array.max(), stake.max(), 0.0)), max_cost)
    found = _limits(array, stake, level, method, n_resamples, rng, (min(0.0, float(array.min())), most), max_cost)
    return Interval(float(array.mean()), found.lower, found.upper, level)


def _most(seen: float, max_cost: float | None) -> float:
    """Return what an example can cost at most: as stated, or as seen."""
    if max_cost is None:
        return seen
    stated = check_nonnegative("max_cost", max_cost)
    if stated < seen:
        raise DataError(f"`max_cost` must be at least the largest cost of the data, {seen:g}, got {stated:g}")
    return stated


def _limits(
    values: FloatArray,
    at_stake: FloatArray,
    level: float,
    method: str,
    n_resamples: int,
    rng: Rng,
    possible: tuple[float, float],
    max_cost: float | None,
) -> MeanLimits:
    """Return the limits and the p-value of a method, after a warning if no method can be trusted."""
    how = EXAMPLE_METHODS[check_choice("method", method, EXAMPLE_METHODS)]
    n_resamples = check_resampling(n_resamples, rng)
    tail = 0.5 * (1 - level)
    why = doubts(values) if (values != 0).any() or possible != (0.0, 0.0) else None
    if method == "bootstrap-t" and why is not None and max_cost is not None:
        return bounded_limits(values, tail, possible)
    found = how(values, tail, n_resamples, rng, possible)
    if why is None:
        return found
    says = "the interval may be too short"
    if method == "bootstrap-t":
        # Of a difference each side has its own tail: what a costs more in some cases, and what b does in others.
        open_below = possible[0] < 0 and has_no_limits(np.maximum(-values, 0.0), at_stake)
        open_above = has_no_limits(np.maximum(values, 0.0), at_stake)
        if open_below or open_above:
            says = "there is no limit that holds"
            lower, upper = -np.inf if open_below else found.lower, np.inf if open_above else found.upper
            found = MeanLimits(lower, upper, found.p_value if lower > 0 or upper < 0 else 1.0)
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
    return bootstrap_t_limits(values, tail, n_resamples, check_rng(rng), possible)


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
    at_stake: npt.ArrayLike | None = None,
    max_cost: float | None = None,
) -> DifferenceInterval:
    """Compare two classifiers by what each example cost with either of them.

    Parameters
    ----------
    costs_a, costs_b : arrays of shape (n,)
        Costs of the same examples.
    level, method, n_resamples, rng
        As in `example_cost_interval`.
    at_stake, max_cost
        As in `example_cost_interval`; the costs of an example can differ by as much. Without `max_cost`, the upper
        limit is infinite if what a costs more than b has a heavy tail, and the lower one if what b costs more has.

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
    stake = gap if at_stake is None else _costs("at_stake", at_stake)
    most = _most(float(max(np.abs(gap).max(), stake.max())), max_cost)
    found = _limits(gap, stake, level, method, n_resamples, rng, (-most, most), max_cost)
    interval = Interval(float(gap.mean()), found.lower, found.upper, level)
    return DifferenceInterval.of(interval, found.p_value)


def _tail_index(sizes: FloatArray, errors: float) -> float:
    """Return Hill's estimate of the tail index of sorted sizes, with so many standard errors added."""
    root = math.sqrt(sizes.size)
    tops = (math.ceil(root), min(math.ceil(2 * root), sizes.size - 1))
    logs = np.log(sizes)
    return min(float((logs[-k:] - logs[-k - 1]).mean()) * (1 + errors / math.sqrt(k)) for k in tops)


def has_no_limits(values: FloatArray, at_stake: FloatArray) -> bool:
    """Return whether data alone can give no limit that holds: Hill's estimate of the tail index is 1/2 or more.

    Parameters
    ----------
    values : array of shape (n,)
        What the cases cost. Fewer than ten of them that are not zero do not show their tail.
    at_stake : array of shape (n,)
        What errors would cost in all cases, which then shows it.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.example_costs import has_no_limits
    >>> has_no_limits(np.arange(100.0), np.arange(100.0)), has_no_limits(1.5 ** np.arange(100), np.arange(100.0))
    (False, True)
    """
    shown = next((one for one in (values, at_stake) if np.count_nonzero(one) >= FEW), None)
    if shown is None:
        return len(np.unique(at_stake)) > 2
    sizes = np.sort(np.abs(shown[shown != 0]))
    return bool(sizes[-3] != sizes[-1]) and _tail_index(sizes, 0.0) >= _HEAVY


def bounded_limits(values: FloatArray, tail: float, possible: tuple[float, float]) -> MeanLimits:
    """Return the limits of a mean whose values have stated bounds, by tilting, with both bounds among the values."""
    cells = [_cells(values, possible)]
    below, above = tilted_tails_at(cells, 0.0)
    return MeanLimits(*tilted_limits(cells, tail), min(1.0, 2 * min(below, above)))
