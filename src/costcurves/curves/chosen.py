"""What a comparison must allow for because thresholds were chosen on the cases by which they are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from costcurves._base.validation import FloatArray
from costcurves.counting.geometry import upper_hull
from costcurves.curves.cost_curve import CostCurve
from costcurves.inference.bands.results import SignedBand
from costcurves.inference.optimism import SHARE_FOUND, here_and_around


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
        # Sums of weights that differ by rounding, such as those of other units, have the same vertices and draws. Steps
        # between points are rounded, so that it does not matter from which end they are counted.
        steps = (np.round(np.diff(c) * (n / c[-1]), 6) for c, n in zip((kept.tp, kept.fp), sizes, strict=True))
        tp, fp = (np.concatenate([[0.0], part.cumsum()]) for part in steps)
        vertices = upper_hull(fp, tp)
        return cls(tp[vertices], fp[vertices], low, high)

    def at(self, pc: FloatArray) -> FloatArray:
        """Return by how much the cost may be too low at some points; 0 where no score is looked at.

        The result has shape (2, points): the second row is what is found on average at the points around.
        """
        found, some = np.zeros((2, pc.size)), (pc > self.low) & (pc <= self.high)
        if some.any():
            found[:, some] = here_and_around(self.tp, self.fp, pc[some]) / SHARE_FOUND
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
        """Return by how much the cost at the thresholds in use may be too low at some points, as `Optimism.at` does."""
        if self.optimism is None:
            return np.zeros((2, pc.size))
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


def looks_dearer(estimate: FloatArray, counts: Sequence[FloatArray], totals: tuple[float, float]) -> FloatArray:
    """Return the sign of a difference where both rules could be thresholds of one score; 0 elsewhere.

    That is so where one of the two calls no case positive that the other does not, as a score beside its own rounded
    values. Both then have much the same luck, and the score with more thresholds truly costs less at the best of them.

    Parameters
    ----------
    estimate : array of shape (points,)
    counts : four arrays of shape (points,)
        Positives that only the first, only the second gets wrong; then negatives.
    totals : (float, float)
        Of both classes. Sums of weights may not be exactly zero, by rounding.
    """
    pos_a, pos_b, neg_a, neg_b = (np.asarray(count) <= 1e-12 * totals[k // 2] for k, count in enumerate(counts))
    return np.where((pos_a & neg_b) | (pos_b & neg_a), np.sign(estimate), 0.0)


def allowance(both: Both, pc: FloatArray, dearer: FloatArray) -> tuple[FloatArray, tuple[FloatArray, FloatArray]]:
    """Return how far the reported difference is from that at the thresholds in use, and what its limits allow for.

    The limits go as far down and up as the difference would if both costs were corrected for their optimism, by
    resampling at this point, by resampling at the points around and by cross-fitting, and never the other way. Where
    both could be thresholds of one score (`looks_dearer`), the optimism of the one that looks dearer is not doubled:
    it has the fewer thresholds, of whose optimism resampling finds nearly all.
    """
    a, b = both
    moved = a.moved(pc) - b.moved(pc)
    resampled = np.where(dearer > 0, SHARE_FOUND, 1.0) * a.too_low(pc)
    resampled -= np.where(dearer < 0, SHARE_FOUND, 1.0) * b.too_low(pc)
    moves = np.vstack([resampled, moved, np.zeros(pc.size)])
    return moved, (0.0 - moves.min(axis=0), moves.max(axis=0))


def allowing(band: _SignedBand, both: Both, dearer: FloatArray) -> _SignedBand:
    """Return the band of the reported difference, with limits that allow for thresholds chosen on these cases."""
    if not chosen_here(both):
        return band
    return band.allowing(*allowance(both, band.pc, dearer))
