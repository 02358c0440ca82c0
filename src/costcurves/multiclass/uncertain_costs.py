"""Costs that are not known exactly: intervals and verdicts at every one of several cost matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from costcurves._base.errors import InputError
from costcurves._base.results import Result
from costcurves._base.validation import FloatArray, frozen, shown
from costcurves.conditions.cost_matrix import CostMatrix, as_cost_matrix


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostSpread(Result):
    """The expected cost of a classifier, or the difference of two, at each of several cost matrices.

    Attributes
    ----------
    estimates, lowers, uppers : arrays of shape (matrices,)
        The estimate and the limits at each matrix, each at the confidence level by itself.
    level : float
    names : (a, b) or None
        The two classifiers whose costs are subtracted, first minus second.
    weights : array of shape (matrices,)
        How likely each matrix is, equally by default.

    Examples
    --------
    A miss costs between 3 and 8 times as much as a false alarm. With costs that have no common unit, the default method
    takes about a second per matrix, and "mid-p" a few milliseconds.

    >>> import costcurves as cc
    >>> low, high = cc.CostMatrix([[0, 1], [3, 0]]), cc.CostMatrix([[0, 1], [8, 0]])
    >>> cc.bcost.over_costs([[90, 10], [4, 16]], [low, high])
    CostSpread: expected cost 0.1833 .. 0.35, 95 % in [0.1003, 0.7052] at each of 2 matrices
    >>> joint = [[[85, 5], [5, 5]], [[2, 2], [1, 15]]]
    >>> cc.bdeltacost.over_costs(joint, low.draws(high, 20), method="mid-p").shares
    {'a': 0.0, 'b': 0.0, 'undecided': 1.0}
    """

    estimates: FloatArray
    lowers: FloatArray
    uppers: FloatArray
    level: float
    names: tuple[str, str] | None
    weights: FloatArray

    @property
    def estimate(self) -> float:
        """The mean of the estimates: the expected cost if the matrices are as likely as their weights say."""
        return float(self.weights @ self.estimates)

    @property
    def lower(self) -> float:
        """The lowest of the lower limits."""
        return float(self.lowers.min())

    @property
    def upper(self) -> float:
        """The highest of the upper limits. Whichever matrix is true, its cost lies below it and above `lower`."""
        return float(self.uppers.max())

    @property
    def shares(self) -> dict[str, float]:
        """How likely matrices are at which the first is significantly cheaper, the second is, or neither."""
        if self.names is None:
            return {}
        below, above = self.uppers < 0, self.lowers > 0
        parts = (*zip(self.names, (below, above), strict=True), ("undecided", ~below & ~above))
        return {name: round(float(self.weights @ part), 12) for name, part in parts}

    def _columns(self) -> dict[str, Any]:
        return {"estimate": self.estimates, "lower": self.lowers, "upper": self.uppers, "weight": self.weights}

    def __repr__(self) -> str:
        what = "expected cost" if self.names is None else "cost of {!r} minus {!r}".format(*self.names)
        span = f"{self.estimates.min():.4g} .. {self.estimates.max():.4g}"
        told = f"{100 * self.level:g} % in [{self.lower:.4g}, {self.upper:.4g}] at each of {self.lowers.size} matrices"
        if self.names is None:
            return f"CostSpread: {what} {span}, {told}"
        first, second, neither = self.shares.values()
        parts = f"{self.names[0]!r} cheaper at {100 * first:.3g} %, {self.names[1]!r} at {100 * second:.3g} %"
        return f"CostSpread: {what} {span}, {told}; significantly {parts}, undecided at {100 * neither:.3g} %"


def spread_over(
    costs: Sequence[Any], answer: Callable[[CostMatrix], Any], weights: Any, names: tuple[str, str] | None
) -> CostSpread:
    """Return the answers at all matrices, in one result."""
    single = isinstance(costs, CostMatrix) or getattr(costs, "ndim", 1) == 0
    if single or not hasattr(costs, "__len__") or len(costs) == 0:
        raise InputError(f"`costs` must be a sequence of cost matrices, got {shown(costs)}")
    found = [answer(as_cost_matrix(one)) for one in costs]
    rule = f"`weights` must be {len(found)} numbers >= 0 with a finite sum, got {shown(weights)}"
    try:
        given = np.ones(len(found)) if weights is None else np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(rule) from None
    with np.errstate(over="ignore"):
        if given.shape != (len(found),) or not (given >= 0).all() or not 0 < given.sum() < np.inf:
            raise InputError(rule)
    columns = [frozen(np.array([getattr(one, name) for one in found])) for name in ("estimate", "lower", "upper")]
    estimates, lowers, uppers = columns
    return CostSpread(estimates, lowers, uppers, found[0].level, names, frozen(given / given.sum()))
