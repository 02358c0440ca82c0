"""What a comparison must allow for because thresholds were chosen on the cases by which they are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from costcurves._base.validation import FloatArray
from costcurves.counting.geometry import upper_hull
from costcurves.curves.cost_curve import CostCurve
from costcurves.inference.bands.results import SignedBand
from costcurves.inference.optimism import SHARE_FOUND, optimism_of


@dataclass(frozen=True, slots=True, eq=False)
class Optimism:
    """How optimistic the cost of a curve is, from the points of its hull.

    Attributes
    ----------
    tp, fp : arrays
        Counts at the points of the hull; effective ones if weighted.
    low, high : float
        The thresholds look at scores for pc in (low, high].
    """

    tp: FloatArray
    fp: FloatArray
    low: float
    high: float

    @classmethod
    def of(cls, curve: CostCurve) -> Optimism | None:
        """Return the optimism of a curve, or None if its thresholds were not chosen on its own cases."""
        rule, roc = curve.policy, curve.roc
        if rule is None or roc is None or not rule.looks or roc.made_from == "rates":
            return None
        used = np.flatnonzero(~np.isinf(curve.thresholds))
        low = high = -1.0
        if used.size:
            low = -1.0 if used[0] == 0 else float(curve.breaks[used[0]])
            high = float(curve.breaks[used[-1] + 1])
        kept, sizes = roc.on_hull(), roc.effective or (float(roc.n_pos), float(roc.n_neg))
        # Sums of weights that differ by rounding, such as those of other units, have the same vertices and draws.
        tp, fp = (np.round(c * (n / c[-1]), 6) for c, n in zip((kept.tp, kept.fp), sizes, strict=True))
        vertices = upper_hull(fp, tp)
        return cls(tp[vertices], fp[vertices], low, high)

    def at(self, pc: FloatArray) -> FloatArray:
        """Return by how much the cost may be too low at some points; 0 where no score is looked at."""
        found, some = np.zeros(pc.size), (pc > self.low) & (pc <= self.high)
        if some.any():
            found[some] = optimism_of(self.tp, self.fp, pc[some]) / SHARE_FOUND
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {"tp": self.tp.tolist(), "fp": self.fp.tolist(), "low": self.low, "high": self.high}

    @classmethod
    def from_dict(cls, plain: dict[str, Any] | None) -> Optimism | None:
        """Restore what `to_dict` returned; None remains None."""
        if plain is None:
            return None
        counts = [np.array(plain[name], dtype=np.float64) for name in ("tp", "fp")]
        return cls(counts[0], counts[1], float(plain["low"]), float(plain["high"]))


class Told:
    """The optimism of a classifier at the thresholds in use, and the cost that is reported, which may be cross-fitted.

    Parameters
    ----------
    optimism : Optimism or None
        That of the thresholds in use.
    cross_fitted : (CostCurve, CostCurve), optional
        The curve at the thresholds in use and the cross-fitted one, if the latter is reported.
    """

    def __init__(self, optimism: Optimism | None, cross_fitted: tuple[CostCurve, CostCurve] | None = None) -> None:
        self.optimism, self.cross_fitted = optimism, cross_fitted
        self._last: tuple[bytes, FloatArray] | None = None

    def too_low(self, pc: FloatArray) -> FloatArray:
        """Return by how much the cost at the thresholds in use may be too low at some points."""
        if self.optimism is None:
            return np.zeros(pc.size)
        key = pc.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = key, self.optimism.at(pc)
        return self._last[1]

    def moved(self, pc: FloatArray) -> FloatArray:
        """Return by how much the cost that is reported exceeds the one at the thresholds in use."""
        if self.cross_fitted is None:
            return np.zeros(pc.size)
        used, told = self.cross_fitted
        return np.asarray(told.evaluate(pc) - used.evaluate(pc))


Both = tuple[Told, Told]
_SignedBand = TypeVar("_SignedBand", bound=SignedBand)


def chosen_here(both: Both) -> bool:
    """Return whether one of two classifiers has thresholds that were chosen on the cases by which it is judged."""
    return any(one.optimism is not None for one in both)


def allowance(both: Both, pc: FloatArray) -> tuple[FloatArray, tuple[FloatArray, FloatArray]]:
    """Return how far the reported difference is from that at the thresholds in use, and what its limits allow for.

    The limits go as far down and up as the difference would if both costs were corrected for their optimism, by
    resampling and by cross-fitting, and never the other way.
    """
    a, b = both
    moves = (a.too_low(pc) - b.too_low(pc), a.moved(pc) - b.moved(pc))
    below, above = (np.maximum(0.0, np.maximum(sign * moves[0], sign * moves[1])) for sign in (-1, 1))
    return moves[1], (below, above)


def allowing(band: _SignedBand, both: Both) -> _SignedBand:
    """Return the band of the reported difference, with limits that allow for thresholds chosen on these cases."""
    if not chosen_here(both):
        return band
    return band.allowing(*allowance(both, band.pc))
