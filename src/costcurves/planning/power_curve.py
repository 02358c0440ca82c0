"""The chance to find a difference in cost, against its size or against the size of the test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.frames import TableLike
from costcurves._base.results import Result
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    FloatArray,
    Rng,
    check_choice,
    check_integer,
    check_level,
    check_name,
    check_rng,
    check_unit_array,
    frozen,
    number_array,
    shown,
)
from costcurves.conditions.cost_matrix import CostMatrix, CostsLike, as_cost_matrix
from costcurves.counting.confusion import ConfusionMatrix, JointConfusion
from costcurves.inference.kernel.strata import Stratum
from costcurves.inference.rates import critical
from costcurves.multiclass.options import counts_of, joint_of
from costcurves.planning.sample_size import one_draw, power, power_at
from costcurves.planning.studies import covers_cost

# What a curve of chances can vary.
OVER = ("difference", "n", "changed", "laplace")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PowerCurve(Result):
    """The chance that `bdeltacost` finds a difference, where the difference or the number of examples varies.

    Attributes
    ----------
    name : str
    over : {"difference", "n", "changed", "laplace"}
        What varies: the difference, the number of examples, the share of the second classifier's labels that are
        changed, or λ (`laplace_curve`).
    x, power : arrays of shape (points,)
        Its values, increasing, and the chance at each; the mean over cost matrices if there are several.
    level : float
        Confidence level of the test; at no difference the chance is about 1 - level.
    low, high : arrays of shape (points,)
        The smallest and the largest chance over the cost matrices.

    Examples
    --------
    >>> import costcurves as cc
    >>> joint = [[[45, 2], [3, 0]], [[0, 5], [9, 36]]]
    >>> cc.power_curve(joint, [[0, 1], [5, 0]], n=[100, 200, 400, 800])
    PowerCurve('power' over n from 100 to 800: 0.175 to 0.82 at level 0.95)
    """

    name: str
    over: str
    x: FloatArray
    power: FloatArray
    level: float
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, name: str, over: str, x: FloatArray, chances: FloatArray, level: float) -> PowerCurve:
        """Return the curve of chances of shape (matrices, points)."""
        chances = np.array(check_unit_array("chances", chances))
        if chances.ndim != 2 or not chances.size:
            raise InputError(f"`chances` must be of shape (matrices, points), got shape {chances.shape}")
        return cls(name, over, x, chances.mean(axis=0), level, chances.min(axis=0), chances.max(axis=0))

    def __post_init__(self) -> None:
        """Check the arrays and set them read-only."""
        check_name("name", self.name)
        check_choice("over", self.over, OVER)
        check_level(self.level)
        x, chance = np.array(number_array("x", self.x)), np.array(check_unit_array("power", self.power))
        if x.ndim != 1 or x.size == 0 or x.shape != chance.shape:
            raise InputError(f"`x` and `power` must be 1-D of one length, got shapes {x.shape} and {chance.shape}")
        object.__setattr__(self, "x", frozen(x))
        object.__setattr__(self, "power", frozen(chance))
        for name in ("low", "high"):
            object.__setattr__(self, name, frozen(np.array(check_unit_array(name, getattr(self, name)))))

    def _columns(self) -> dict[str, Any]:
        return {"name": [self.name] * self.x.size, self.over: self.x, "power": self.power}

    def __repr__(self) -> str:
        return (
            f"PowerCurve({self.name!r} over {self.over} from {self.x[0]:g} to {self.x[-1]:g}: "
            f"{self.power[0]:.3g} to {self.power[-1]:.3g} at level {self.level:g})"
        )


def power_curve(
    pilot: JointConfusion | npt.ArrayLike,
    costs: CostsLike | Sequence[CostMatrix],
    *,
    n: npt.ArrayLike,
    difference: npt.ArrayLike | None = None,
    changed: npt.ArrayLike | None = None,
    level: float = DEFAULT_LEVEL,
    laplace: float = 0.0,
    name: str = "power",
) -> PowerCurve:
    """Return the chance to find a difference in expected cost, for several sizes of test set or of difference.

    Parameters
    ----------
    pilot : JointConfusion or array-like of shape (k, k, k)
        Counts [true, prediction of a, prediction of b] of a first test set.
    costs : CostMatrix or table, or sequence of CostMatrix
        Rows true, columns predicted. Of several matrices, the curve has the mean and the range of the chances.
    n : int, or increasing sequence of int
        Size of the planned test set.
    difference : float, or increasing sequence of float, optional
        The true difference; by default the pilot's own. One of `n`, `difference` and `changed` is a sequence.
    changed : increasing sequence of float in [0, 1], optional
        The share of the second classifier's labels that are replaced by other labels, drawn at random: the difference
        is then that of the changed labels (`laplace` must be 0).
    level, laplace
        As for `power`.
    name : str
        The name of the curve.

    Notes
    -----
    Figures 3 to 5 of Margineantu & Dietterich (2000) have the difference (relative to the first classifier's cost) and
    the number of changed labels at n = 1,000; they estimate the chance by running the test 10 times per point, and the
    error bars of figure 5 are its range over cost matrices. Here the chance is computed, for a test whose limits are
    those of the normal distribution.

    Examples
    --------
    >>> import costcurves as cc
    >>> joint = [[[45, 2], [3, 0]], [[0, 5], [9, 36]]]
    >>> curve = cc.power_curve(joint, [[0, 1], [5, 0]], n=1000, difference=[0, 0.1, 0.2])
    >>> curve.power.round(3).tolist()
    [0.049, 0.391, 0.92]
    """
    given = {"n": n, "difference": difference, "changed": changed}
    for argument, value in given.items():
        if value is not None:
            number_array(argument, value, booleans=False)
    sequences = [key for key, value in given.items() if value is not None and np.ndim(value) > 0]
    if not sequences:
        raise InputError(f"one of `n` and `difference` must be a sequence, got {shown(n)} and {shown(difference)}")
    if len(sequences) > 1 or (changed is not None and (difference is not None or laplace)):
        raise InputError("only one of `n` and `difference` must be a sequence, got two")
    (over,) = sequences
    x = _increasing(over, given[over])
    several = _matrices(costs)
    if over == "changed":
        size, z = check_integer("n", n, 1), critical(level)
        chances = [
            [_changed_power(pilot, one, size, share, z) for share in check_unit_array(over, x)] for one in several
        ]
    else:
        fixed = {"n": n, "difference": difference, "level": level, "laplace": laplace}
        chances = [[power(pilot, one, **(fixed | {over: value})) for value in x.tolist()] for one in several]
    return PowerCurve.of(name, over, x, np.array(chances), check_level(level))


def _increasing(name: str, values: Any) -> FloatArray:
    x = number_array(name, values, booleans=False)
    if x.ndim != 1 or x.size < 2 or not (x[1:] > x[:-1]).all():
        raise InputError(f"`{name}` must be increasing, with two values or more, got {shown(values)}")
    return x


def _matrices(costs: Any) -> list[CostMatrix]:
    several = isinstance(costs, (list, tuple)) and len(costs) > 0 and isinstance(costs[0], CostMatrix)
    return [as_cost_matrix(one) for one in (costs if several else [costs])]


def _changed_power(pilot: Any, costs: CostMatrix, n: int, share: float, z: float) -> float:
    """Return the power if a share of the second classifier's labels is replaced by one of the others."""
    joint = joint_of(pilot, costs)
    k = len(costs.labels)
    rates = np.zeros((k, k, k))
    np.add.at(rates, (joint.true, joint.a, joint.b), joint.counts / joint.n)
    others = (rates.sum(axis=2, keepdims=True) - rates) / (k - 1)
    values = costs.values[:, :, None] - costs.values[:, None, :]
    stratum = Stratum(n, ((1 - share) * rates + share * others).ravel(), values.ravel() / n)
    q, v, mean, std = one_draw(stratum)
    return power_at(q, v, mean, std, n, mean, z) if std > 0 else 0.0


def laplace_curve(
    truth: ConfusionMatrix | TableLike,
    costs: CostsLike | Sequence[CostMatrix],
    *,
    n: int,
    laplace: npt.ArrayLike,
    level: float = DEFAULT_LEVEL,
    n_draws: int = 1000,
    rng: Rng = 0,
    name: str = "coverage",
) -> PowerCurve:
    """Return how often the interval of BCost (method "exact") holds the true cost, for several λ.

    Parameters
    ----------
    truth : ConfusionMatrix, or array-like of shape (k, k)
        Counts whose shares are taken as the true rates, rows true and columns predicted.
    costs : CostMatrix or table, or sequence of CostMatrix
        As for `power_curve`.
    n : int
        The number of examples in a test set.
    laplace : increasing sequence of float >= 0
    level : float, default 0.95
    n_draws : int, default 1000
        How many test sets are drawn, the same for all λ and all matrices.
    rng : numpy.random.Generator, int or None, default 0
    name : str

    Notes
    -----
    Figure 2 of Margineantu & Dietterich (2000).

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.laplace_curve([[880, 60], [20, 40]], [[0, 1], [50, 0]], n=100, laplace=[0, 0.1, 0.5])
    PowerCurve('coverage' over laplace from 0 to 0.5: 0.84 to 0.974 at level 0.95)
    """
    several = _matrices(costs)
    x = _increasing("laplace", laplace)
    counts = counts_of(truth, several[0]).counts
    size, sets = check_integer("n", n, 1), check_integer("n_draws", n_draws, 1)
    drawn = check_rng(rng).multinomial(size, (counts / counts.sum()).ravel(), sets).reshape(sets, *counts.shape)
    chances = [
        [
            covers_cost(drawn, one, float((counts * one.values).sum() / counts.sum()), level=level, method="exact",
                        laplace=value).mean()
            for value in x.tolist()
        ]
        for one in several
    ]  # fmt: skip
    return PowerCurve.of(name, "laplace", x, np.array(chances), check_level(level))
