"""The cheapest of several cost curves at every condition, whatever their policies, and what each one loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from costcurves._base.validation import FloatArray, IntArray
from costcurves.conditions.condition import EQUAL
from costcurves.curves.choices import ALWAYS_NEGATIVE, ALWAYS_POSITIVE, as_cheap
from costcurves.curves.cost_curve import CostCurve


def trivial_curves() -> tuple[CostCurve, CostCurve]:
    """Return the cost curves of the classifier that never alarms and of the one that always does."""
    ends = np.array([0.0, 1.0])
    return (
        CostCurve._from_pieces(ALWAYS_NEGATIVE, ends, np.zeros(1), np.ones(1)),
        CostCurve._from_pieces(ALWAYS_POSITIVE, ends, np.ones(1), np.zeros(1)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """Pieces of pc on which one curve is the cheapest and no threshold moves.

    `left` and `right` have shape (pieces,), `owner` the number of the cheapest curve; `fpr` and `fnr`, of shape
    (pieces, curves), are the rates of every curve there.
    """

    left: FloatArray
    right: FloatArray
    owner: IntArray
    fpr: FloatArray
    fnr: FloatArray

    @classmethod
    def of(cls, curves: Sequence[CostCurve], low: float, high: float) -> Envelope:
        """Return the lower envelope of some curves between two pc; of equal curves the first is taken."""
        inner = np.concatenate([curve.breaks for curve in curves])
        breaks = np.unique(np.concatenate([[low, high], inner[(inner > low) & (inner < high)]]))
        if low == high:
            breaks = np.array([low, high])
        middle = 0.5 * (breaks[:-1] + breaks[1:])
        steps = [curve.step_at(middle) for curve in curves]
        fpr = np.stack([curve.fpr[step] for curve, step in zip(curves, steps, strict=True)], axis=1)
        fnr = np.stack([curve.fnr[step] for curve, step in zip(curves, steps, strict=True)], axis=1)
        pieces: list[tuple[float, float, int, int]] = []
        for k, (left, right) in enumerate(zip(breaks[:-1].tolist(), breaks[1:].tolist(), strict=True)):
            pieces += [(a, b, owner, k) for a, b, owner in _lowest(left, right, fpr[k], fnr[k])]
        of = np.array([piece[3] for piece in pieces])
        return cls(
            np.array([piece[0] for piece in pieces]),
            np.array([piece[1] for piece in pieces]),
            np.array([piece[2] for piece in pieces]),
            fpr[of],
            fnr[of],
        )

    def losses(self) -> tuple[FloatArray, FloatArray]:
        """Return what each curve loses against the cheapest at the left and the right end of each piece."""
        every = np.arange(self.owner.size)

        def loss(pc: FloatArray) -> FloatArray:
            cost = pc[:, None] * self.fnr + (1 - pc[:, None]) * self.fpr
            lost = cost - cost[every, self.owner][:, None]
            return np.where(lost <= EQUAL * cost, 0.0, lost)  # what is less is rounding

        return loss(self.left), loss(self.right)

    def stretches(self, names: Sequence[str]) -> list[tuple[str, float, float]]:
        """Return (name, low, high) of the pieces, neighbours of one owner joined."""
        rows: list[tuple[str, float, float]] = []
        for left, right, owner in zip(self.left.tolist(), self.right.tolist(), self.owner.tolist(), strict=True):
            if rows and rows[-1][0] == names[owner]:
                rows[-1] = (names[owner], rows[-1][1], right)
            else:
                rows.append((names[owner], left, right))
        return rows


def _lowest(left: float, right: float, fpr: FloatArray, fnr: FloatArray) -> list[tuple[float, float, int]]:
    """Return which line is the lowest on each part of an interval."""
    slope, parts, at = fnr - fpr, [], left
    while True:
        value = at * fnr + (1 - at) * fpr
        lowest = np.flatnonzero(as_cheap(value, value.min()))
        ahead = (right * fnr + (1 - right) * fpr)[lowest]
        now = int(lowest[np.flatnonzero(as_cheap(ahead, ahead.min()))[0]])
        steeper = np.flatnonzero(slope < slope[now])
        cross = right
        if steeper.size:
            meet = (fpr[steeper] - fpr[now]) / (slope[now] - slope[steeper])
            meet = meet[meet > at * (1 + EQUAL)]
            cross = min(right, float(meet.min())) if meet.size else right
        parts.append((at, cross, now))
        if cross >= right:
            return parts
        at = cross
