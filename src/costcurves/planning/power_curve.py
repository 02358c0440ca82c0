"""The chance to find a difference in cost, against its size or against the size of the test set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.results import Result
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    FloatArray,
    check_choice,
    check_level,
    check_name,
    check_unit_array,
    frozen,
    number_array,
    shown,
)
from costcurves.conditions.cost_matrix import CostsLike
from costcurves.counting.confusion import JointConfusion
from costcurves.planning.sample_size import power


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PowerCurve(Result):
    """The chance that `bdeltacost` finds a difference, where the difference or the number of examples varies.

    Attributes
    ----------
    name : str
    over : {"difference", "n"}
        What varies.
    x, power : arrays of shape (points,)
        Its values, increasing, and the chance at each.
    level : float
        Confidence level of the test; at no difference the chance is about 1 - level.

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

    def __post_init__(self) -> None:
        """Check the arrays and set them read-only."""
        check_name("name", self.name)
        check_choice("over", self.over, ("difference", "n"))
        check_level(self.level)
        x, chance = np.array(number_array("x", self.x)), np.array(check_unit_array("power", self.power))
        if x.ndim != 1 or x.size == 0 or x.shape != chance.shape:
            raise InputError(f"`x` and `power` must be 1-D of one length, got shapes {x.shape} and {chance.shape}")
        object.__setattr__(self, "x", frozen(x))
        object.__setattr__(self, "power", frozen(chance))

    def _columns(self) -> dict[str, Any]:
        return {"name": [self.name] * self.x.size, self.over: self.x, "power": self.power}

    def __repr__(self) -> str:
        return (
            f"PowerCurve({self.name!r} over {self.over} from {self.x[0]:g} to {self.x[-1]:g}: "
            f"{self.power[0]:.3g} to {self.power[-1]:.3g} at level {self.level:g})"
        )


def power_curve(
    pilot: JointConfusion | npt.ArrayLike,
    costs: CostsLike,
    *,
    n: npt.ArrayLike,
    difference: npt.ArrayLike | None = None,
    level: float = DEFAULT_LEVEL,
    laplace: float = 0.0,
    name: str = "power",
) -> PowerCurve:
    """Return the chance to find a difference in expected cost, for several sizes of test set or of difference.

    Parameters
    ----------
    pilot : JointConfusion or array-like of shape (k, k, k)
        Counts [true, prediction of a, prediction of b] of a first test set.
    costs : CostMatrix or table
        Rows true, columns predicted.
    n : int, or increasing sequence of int
        Size of the planned test set.
    difference : float, or increasing sequence of float, optional
        The true difference; by default the pilot's own. One of `n` and `difference` is a sequence, not both.
    level, laplace
        As for `power`.
    name : str
        The name of the curve.

    Notes
    -----
    The figures of Margineantu & Dietterich (2000) have the difference (relative to the first classifier's cost) at
    n = 1,000; they estimate the chance by running the test 10 times per point; here it is computed.

    Examples
    --------
    >>> import costcurves as cc
    >>> joint = [[[45, 2], [3, 0]], [[0, 5], [9, 36]]]
    >>> curve = cc.power_curve(joint, [[0, 1], [5, 0]], n=1000, difference=[0, 0.1, 0.2])
    >>> curve.power.round(3).tolist()
    [0.049, 0.391, 0.92]
    """
    if np.ndim(n) == 0 and (difference is None or np.ndim(difference) == 0):
        raise InputError(f"one of `n` and `difference` must be a sequence, got {shown(n)} and {shown(difference)}")
    if np.ndim(n) > 0 and difference is not None and np.ndim(difference) > 0:
        raise InputError("only one of `n` and `difference` must be a sequence, got two")
    over, values = ("n", n) if np.ndim(n) > 0 else ("difference", difference)
    x = number_array(over, values, booleans=False)
    if x.ndim != 1 or x.size < 2 or not (np.diff(x) > 0).all():
        raise InputError(f"`{over}` must be increasing, with two values or more, got {shown(values)}")
    fixed = {"n": n, "difference": difference}
    chances = [power(pilot, costs, **(fixed | {over: value}), level=level, laplace=laplace) for value in x.tolist()]
    return PowerCurve(name, over, x, np.array(chances), check_level(level))
