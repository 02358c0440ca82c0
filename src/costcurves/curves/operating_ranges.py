"""Where a classifier costs less than the trivial ones: its operating range, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from costcurves._base.results import Result
from costcurves._base.text import level_text
from costcurves._base.validation import BoolArray, FloatArray
from costcurves.curves.cost_function import EQUAL, CostFunction
from costcurves.curves.differences import Difference, PcIntervals, covered
from costcurves.inference.bands.results import Band


def below_trivial(curve: CostFunction) -> PcIntervals:
    """Return the range of pc in which a curve costs strictly less than both trivial classifiers."""
    ends, zero, one = np.array([0.0, 1.0]), np.zeros(1), np.ones(1)
    rates = {"always negative": (zero, one), "always positive": (one, zero)}
    trivial = [CostFunction(name, ends, *both, 0.0) for name, both in rates.items()]
    low, high = (
        np.concatenate(parts) for parts in zip(*(Difference(curve, t).negative() for t in trivial), strict=True)
    )
    return covered(low, high, times=2)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RangeLimits(Result):
    """The operating range of a classifier with limits that hold together at all points of a grid of pc.

    Attributes
    ----------
    estimate : PcIntervals
        Where the classifier costs less than both trivial classifiers on these data.
    surely : PcIntervals
        Where it is significantly cheaper than both. The ends are points of the grid.
    possibly : PcIntervals
        Where it is not shown to cost as much as one of them or more; elsewhere it should not be used. Each end of the
        operating range lies between the corresponding ends of `surely` and `possibly`.
    level : float
    max_error : float
        The most by which costs can be too high because scores were binned.

    Notes
    -----
    The limits are those of a simultaneous band of the cost at the thresholds in use. They say nothing about other
    thresholds: where the policy predicts the same class for every case, the classifier is not used, and the pc is in
    neither range. Share of data sets with useless scores of which some point was wrongly called cheaper, at a nominal
    5 %, with thresholds chosen on the same cases: 4.0 % with 30 positives and 30 negatives, 3.3 % with 50 and 500 (150
    data sets each, standard error 1.5 points). Without the critical value of useless scores it was 7 to 10 %. Scores
    that separate the classes at a single step were called cheaper wrongly in 8 % of 100 data sets (standard error 2.7
    points), at points where they are not.

    Examples
    --------
    >>> import costcurves as cc
    >>> roc = cc.RocCurve.from_confusion_matrix([[90, 10], [24, 76]], name="rules")
    >>> limits = cc.CostCurve(roc, policy=cc.thresholds.point(1)).operating_range_limits()
    >>> limits
    RangeLimits('rules' is useful for pc in (0.116, 0.789); 95 %: surely (0.21, 0.71), at most (0.06, 0.86))
    >>> limits.significant_at([0.15, 0.5]).tolist()
    [False, True]
    """

    name: str
    estimate: PcIntervals
    surely: PcIntervals
    possibly: PcIntervals
    level: float
    max_error: float = 0.0

    @classmethod
    def of(cls, curve: CostFunction, band: Band, known: BoolArray) -> RangeLimits:
        """Read the limits off a simultaneous band; `known` says where the curve is a trivial classifier itself."""
        trivial = np.minimum(band.pc, 1 - band.pc)
        surely = _runs(band.pc, (band.upper < trivial - EQUAL) & ~known)
        excluded = known | (band.lower > trivial + EQUAL) | (trivial <= EQUAL)
        # A range that may reach beyond the last point at which it is possible ends before the next point.
        wide = _runs(band.pc, ~excluded, beyond=True)
        return cls(curve.name, below_trivial(curve), surely, wide, band.level, band.max_error)

    def significant_at(self, pc: Any) -> Any:
        """Say whether the classifier is significantly cheaper than both trivial ones at each pc."""
        return self.surely.contains(pc)

    def _columns(self) -> dict[str, Any]:
        parts = {"estimate": self.estimate, "surely": self.surely, "possibly": self.possibly}
        rows = [(kind, low, high) for kind, intervals in parts.items() for low, high in intervals]
        return {
            "name": [self.name] * len(rows),
            "range": [row[0] for row in rows],
            "pc_low": np.array([row[1] for row in rows]),
            "pc_high": np.array([row[2] for row in rows]),
        }

    def __repr__(self) -> str:
        """Show the three ranges."""
        estimate, surely, possibly = (
            ", ".join(f"({low:.3g}, {high:.3g})" for low, high in part) or "none"
            for part in (self.estimate, self.surely, self.possibly)
        )
        error = f", max_error={self.max_error:.2g}" if self.max_error else ""
        sure = f"{level_text(self.level)}: surely {surely}, at most {possibly}"
        return f"RangeLimits({self.name!r} is useful for pc in {estimate}; {sure}{error})"


def _runs(pc: FloatArray, inside: BoolArray, *, beyond: bool = False) -> PcIntervals:
    """Return the runs of points inside; `beyond` extends them to the next points outside."""
    edge = np.diff(np.concatenate([[0], inside.astype(np.int8), [0]]))
    first, last = np.flatnonzero(edge == 1), np.flatnonzero(edge == -1) - 1
    if beyond:
        first, last = np.maximum(first - 1, 0), np.minimum(last + 1, pc.size - 1)
    return PcIntervals(pc[first], pc[last])
