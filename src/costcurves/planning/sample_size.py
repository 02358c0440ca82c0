"""The number of test examples for a wanted half-width, for finding a difference, or for seeing a rare error.

The 2000 paper leaves open how the range of costs relates to the needed test-set size. With costs in [0, R]
and expected cost μ the variance of one example's cost is at most μ(R - μ), reached when an error costs R or
nothing. So an interval of half-width h needs up to z²μ(R - μ)/h² examples: the square of the range for an
absolute width where μ grows with R, and (z/ε)²·(R/μ - 1), linear in the ratio of the range to the expected
cost, for a relative width h = εμ. That ratio is about one over the rate of the most expensive error, so the
rule is the same as asking that this error be seen (z/ε)² times.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError
from costcurves._base.frames import TableLike
from costcurves._base.results import Result
from costcurves._base.text import level_text
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    LARGEST_WHOLE,
    FloatArray,
    check_in_open_unit,
    check_in_unit,
    check_integer,
    check_laplace,
    check_level,
    check_number,
    check_positive,
    shown,
)
from costcurves.conditions.cost_matrix import CostMatrix, CostsLike, as_cost_matrix
from costcurves.counting.confusion import ConfusionMatrix, JointConfusion
from costcurves.inference.cost_cells import CostCells, default_laplace, difference_cells
from costcurves.inference.kernel.distribution import exact_distribution
from costcurves.inference.kernel.strata import Stratum
from costcurves.inference.tilted import tilted_limits
from costcurves.multiclass.bdeltacost import differences
from costcurves.multiclass.options import counts_of, joint_of

# Beyond this the distribution of the mean cost is normal for every rate that a pilot can show.
_LARGEST_EXACT = 10**8
_RARE_LISTED = 10


@dataclass(frozen=True, slots=True)
class RareError(Result):
    """A kind of error that a test set of the planned size may not contain.

    Attributes
    ----------
    true, predicted : label
    cost : float
    rate : float
        Its share of all examples, by the (corrected) pilot.
    chance_missed : float
        The chance that the planned test set contains none.

    Examples
    --------
    >>> from costcurves.planning.sample_size import RareError
    >>> RareError(true="crash", predicted="safe", cost=1e6, rate=1e-4, chance_missed=0.37)
    RareError(true='crash', predicted='safe', cost=1000000.0, rate=0.0001, chance_missed=0.37)
    """

    true: Any
    predicted: Any
    cost: float
    rate: float
    chance_missed: float

    _column_names = ("true", "predicted", "cost", "rate", "chance_missed")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SizePlan(Result):
    """How many test examples a goal needs.

    Attributes
    ----------
    n : int
        The number of examples: the normal approximation's, or more where the exact distribution of the mean
        cost asks for more.
    goal : {"half_width", "difference"}
    target : float
        The wanted half-width, or the difference to be found.
    level : float
    power : float or None
        The chance to find the difference; None for a half-width.
    n_normal : int
        The number by the normal approximation.
    n_range : int
        The number by the range of costs alone, which is enough for any rates of the errors (by the normal
        approximation).
    std : float
        Standard deviation of one example's cost (or difference of costs) by the pilot.
    rare : tuple of RareError
        The errors that matter most among those that n examples miss with a chance above 5 %.

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.plan_test_size([[90, 10], [4, 16]], [[0, 1], [5, 0]], half_width=0.05)
    SizePlan: 1323 examples for a half-width of 0.05 at 95 % (by the range of costs alone: 9604)
    """

    n: int
    goal: str
    target: float
    level: float
    power: float | None
    n_normal: int
    n_range: int
    std: float
    rare: tuple[RareError, ...]

    _column_names = ("n", "goal", "target", "level", "power", "n_normal", "n_range", "std")

    def __repr__(self) -> str:
        goal = (
            f"a half-width of {self.target:g} at {level_text(self.level)}"
            if self.goal == "half_width"
            else f"a chance of {100 * (self.power or 0):g} % to find a difference of {self.target:g} "
            f"at {level_text(self.level)}"
        )
        text = f"SizePlan: {self.n} examples for {goal} (by the range of costs alone: {self.n_range})"
        for error in self.rare:
            text += (
                f"\n  they may miss true {shown(error.true)} predicted {shown(error.predicted)} "
                f"(cost {error.cost:g}) with a chance of {100 * error.chance_missed:.0f} %"
            )
        return text


def _z(probability: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(probability))


def _size(name: str, ratio: float, target: float) -> int:
    """Return the square of a ratio of widths as a number of examples; one that nobody can gather is refused."""
    if not ratio <= math.sqrt(LARGEST_WHOLE):
        raise InputError(f"`{name}` must be reachable with 2**53 examples, got {shown(target)}")
    return max(1, math.ceil(ratio**2))


def _smallest(enough: Callable[[int], bool], start: int) -> int:
    """Return the smallest n >= start that is enough, by growing steps and bisection.

    The search never goes below the start. A test set so small that it mostly misses a rare, expensive error
    has a narrow bootstrap interval, which is no merit.
    """
    low, high, step = start - 1, start, max(1, start // 64)
    while not enough(high):
        low, high, step = high, high + step, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def one_draw(stratum: Stratum) -> tuple[FloatArray, FloatArray, float, float]:
    """Return probabilities, values, mean and standard deviation of one example's cost."""
    q, v = stratum.probabilities, stratum.values * stratum.draws
    # Equal values are one cell: bisection builds the distribution many times.
    values, codes = np.unique(v, return_inverse=True)
    q = np.bincount(codes, weights=q).astype(np.float64, copy=False)
    mean = float(q @ values)
    return q, values, mean, math.sqrt(max(0.0, float(q @ (values - mean) ** 2)))


def _check_spread(std: float, what: str) -> None:
    if std == 0:
        raise DataError(f"`pilot` must show {what} that differ, got a standard deviation of 0; use laplace > 0")


def plan_test_size(
    pilot: ConfusionMatrix | JointConfusion | TableLike,
    costs: CostsLike,
    *,
    half_width: float | None = None,
    difference: float | None = None,
    power: float = 0.8,
    level: float = DEFAULT_LEVEL,
    laplace: float | None = None,
) -> SizePlan:
    """Return how many test examples are needed for a wanted half-width or a difference to be found.

    Parameters
    ----------
    pilot : ConfusionMatrix or (k, k) counts; JointConfusion or (k, k, k) counts for `difference`
        A first, small test set: rows true, columns predicted; [true, a, b] for two classifiers.
    costs : CostMatrix or table
        Rows true, columns predicted.
    half_width : float, optional
        Wanted half-width of the default interval of `bcost`, or of its bootstrap (method "exact") if `laplace` is
        given.
    difference : float, optional
        Difference in expected cost that `bdeltacost` should find. Give this or `half_width`.
    power : float, default 0.8
        Wanted chance to find the difference.
    level : float, default 0.95
    laplace : float, optional
        λ, added to each cell of the pilot; 0 by default for a difference. For a half-width, by default the λ of `bcost`
        is added only to errors that were not seen and cost more than any that was seen. Others would add errors that
        need not exist.

    Returns
    -------
    SizePlan

    Notes
    -----
    The normal formulas are (zσ/h)² and ((z + z_power)σ/δ)²; the answer is corrected with the exact
    distribution of the mean of n draws. The range R of costs alone gives (zR/2h)² and ((z + z_power)R/δ)²,
    with R the largest range within a row for a difference, because ``|costs[t, a] - costs[t, b]| <= R``. Half of the
    answer to "how large must a test set be" is thus a number that needs no pilot.

    Examples
    --------
    >>> import costcurves as cc
    >>> plan = cc.plan_test_size([[90, 10], [4, 16]], [[0, 1], [5, 0]], half_width=0.05)
    >>> plan.n, plan.n_range
    (1323, 9604)
    """
    costs, level = as_cost_matrix(costs), check_level(level)
    if (half_width is None) == (difference is None):
        given = "neither" if half_width is None else "both"
        raise InputError(f"one of `half_width` and `difference` must be given, got {given}")
    if half_width is not None:
        return _plan_half_width(pilot, costs, check_positive("half_width", half_width), level, laplace)
    assert difference is not None
    target = abs(check_number("difference", difference))
    check_positive("difference", target)
    wanted = check_in_open_unit("power", power)
    return _plan_difference(pilot, costs, target, wanted, level, 0.0 if laplace is None else laplace)


def _plan_half_width(pilot: Any, costs: CostMatrix, half_width: float, level: float, laplace: float | None) -> SizePlan:
    usual = default_laplace(len(costs.labels))
    if isinstance(pilot, JointConfusion):
        raise InputError(
            "`pilot` must be a confusion matrix for `half_width`, got a joint table: use .first or .second"
        )
    counts = counts_of(pilot, costs).counts
    if laplace is None:
        dearer = (counts == 0) & (costs.values > costs.values[counts > 0].max())
        cells = counts + usual * dearer
    else:
        usual = check_laplace(laplace)
        cells = counts + usual
    size = int(counts.sum())
    q, v, _, std = one_draw(Stratum(size, (cells / cells.sum()).ravel(), costs.values.ravel() / size))
    _check_spread(std, "costs")
    z = _z((1 + level) / 2)
    n_normal = _size("half_width", z * std / half_width, half_width)
    tails = [(1 - level) / 2, (1 + level) / 2]

    def enough(n: int) -> bool:
        if laplace is None:
            lower, upper = tilted_limits([CostCells.of(n * q, v)], tails[0])
        else:
            lower, upper = exact_distribution([Stratum(n, q, v / n)]).quantile(tails)
        return float(upper - lower) <= 2 * half_width * (1 + 1e-12)

    n = _smallest(enough, n_normal) if n_normal <= _LARGEST_EXACT else n_normal
    spread = float(costs.values.max() - costs.values.min())
    return SizePlan(
        n,
        "half_width",
        half_width,
        level,
        None,
        n_normal,
        _size("half_width", z * spread / (2 * half_width), half_width),
        std,
        _rare(counts, costs, usual, n),
    )


def _rare(counts: Any, costs: CostMatrix, laplace: float, n: int) -> tuple[RareError, ...]:
    """Return the costly cells that n examples are likely to miss, by what they add to the expected cost."""
    rates = (counts + laplace) / (counts.sum() + laplace * counts.size)
    missed = np.exp(n * np.log1p(-np.minimum(rates, 1 - 1e-16)))
    off = (missed > 0.05) & (rates > 0) & (costs.values > 0)
    true, predicted = np.nonzero(off)
    order = np.argsort(-(rates * costs.values)[true, predicted], kind="stable")[:_RARE_LISTED]
    return tuple(
        RareError(costs.labels[t], costs.labels[p], float(costs.values[t, p]), float(rates[t, p]), float(missed[t, p]))
        for t, p in zip(true[order], predicted[order], strict=True)
    )


def _plan_difference(
    pilot: Any, costs: CostMatrix, difference: float, wanted: float, level: float, laplace: float
) -> SizePlan:
    q, v, mean, std = _paired_draw(pilot, costs, laplace)
    _check_spread(std, "differences in cost")
    z, z_power = _z((1 + level) / 2), _z(wanted)
    reach = max(z + z_power, 0.0)
    n_normal = _size("difference", reach * std / difference, difference)

    def enough(n: int) -> bool:
        return power_at(q, v, mean, std, n, difference, z) >= wanted

    n = _smallest(enough, n_normal) if n_normal <= _LARGEST_EXACT else n_normal
    spread = float((costs.values.max(axis=1) - costs.values.min(axis=1)).max())
    n_range = _size("difference", reach * spread / difference, difference)
    return SizePlan(n, "difference", difference, level, wanted, n_normal, n_range, std, ())


def _paired_draw(pilot: Any, costs: CostMatrix, laplace: float) -> tuple[FloatArray, FloatArray, float, float]:
    if isinstance(pilot, ConfusionMatrix):
        raise InputError(
            "`pilot` must be a JointConfusion or a k x k x k table of two classifiers to plan for a difference, "
            "got the ConfusionMatrix of one"
        )
    joint = joint_of(pilot, costs)
    laplace = check_laplace(laplace)
    (cells,) = difference_cells(joint.true, differences(joint, costs), joint.counts, costs.values, every=laplace > 0)
    return one_draw(cells.stratum(laplace))


def power_at(q: FloatArray, v: FloatArray, mean: float, std: float, n: int, difference: float, z: float) -> float:
    """Return the chance to find a difference, from the distribution of one example's difference."""
    critical = z * std / math.sqrt(n)
    shift = difference - mean
    distribution = exact_distribution([Stratum(n, q, v / n)])
    below, above = distribution.cdf([-critical - shift, critical - shift])
    return float(below + 1.0 - above)


def power(
    pilot: JointConfusion | npt.ArrayLike,
    costs: CostsLike,
    n: int,
    *,
    difference: float | None = None,
    level: float = DEFAULT_LEVEL,
    laplace: float = 0.0,
) -> float:
    """Return the chance that `bdeltacost` on n examples finds a difference in expected cost.

    Parameters
    ----------
    pilot : JointConfusion or array-like of shape (k, k, k)
        Counts [true, prediction of a, prediction of b] of a first test set.
    costs : CostMatrix or table
        Rows true, columns predicted.
    n : int
        Size of the planned test set.
    difference : float, optional
        The true difference. By default the pilot's own, which is optimistic when it was selected for being
        large.
    level : float, default 0.95
    laplace : float, default 0.0

    Returns
    -------
    float

    Notes
    -----
    The mean difference of n examples follows the exact distribution of the pilot's differences, shifted to
    the given one; it is found when it is further from zero than z·σ/√n.

    Examples
    --------
    >>> import costcurves as cc
    >>> joint = [[[45, 2], [3, 0]], [[0, 5], [9, 36]]]
    >>> round(cc.power(joint, [[0, 1], [5, 0]], n=500), 3)
    0.616
    """
    costs, level = as_cost_matrix(costs), check_level(level)
    n = check_integer("n", n, 1)
    q, v, mean, std = _paired_draw(pilot, costs, laplace)
    target = mean if difference is None else check_number("difference", difference)
    if std == 0:
        return 0.0 if target == 0 else 1.0
    return power_at(q, v, mean, std, n, target, _z((1 + level) / 2))


def chance_of_missing(rate: float, n: int, *, times: int = 1) -> float:
    """Return the chance that n examples contain an error of some rate fewer than `times` times.

    Parameters
    ----------
    rate : float
        Share of all examples on which the error happens.
    n : int
        Size of the test set.
    times : int, default 1
        How often the error must be seen; 1 gives the chance of none, (1 - rate)^n.

    Examples
    --------
    >>> import costcurves as cc
    >>> round(cc.chance_of_missing(0.001, 1000), 3)
    0.368
    """
    from scipy.special import bdtr

    rate = check_in_unit("rate", rate)
    n, times = check_integer("n", n, 0), check_integer("times", times, 1)
    return 1.0 if times > n else float(bdtr(times - 1, n, rate))


def examples_to_see(rate: float, *, times: int = 1, probability: float = 0.95) -> int:
    """Return how many examples contain an error of some rate at least `times` times, with a given probability.

    Parameters
    ----------
    rate : float
        Share of all examples on which the error happens, > 0.
    times : int, default 1
    probability : float, default 0.95

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.examples_to_see(0.001)
    2995
    """
    rate = check_positive("rate", check_in_unit("rate", rate))
    probability = check_in_open_unit("probability", probability)
    times = check_integer("times", times, 1)
    from scipy.special import gammaincinv

    if not gammaincinv(times, probability) <= rate * LARGEST_WHOLE / 2:
        raise InputError(f"`rate` must be large enough for 2**53 examples to show the error, got {shown(rate)}")
    return _smallest(lambda n: chance_of_missing(rate, n, times=times) <= 1 - probability, times)
