"""Bands around the difference of two costs, and who is better where."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError, UnsupportedError
from costcurves._base.results import Result
from costcurves._base.validation import FloatArray, IntArray, frozen, shown
from costcurves.conditions.condition import OperatingCondition, pc_array
from costcurves.inference.bands.results import Band

UNSETTLED = 2  # the side of a difference that its binning error could overturn


@dataclass(frozen=True, slots=True, eq=False)
class Verdict(Result):
    """A range of operating points and who is better there: "a", "b", "undecided", or "unsettled" by binning error.

    Examples
    --------
    >>> from costcurves.inference.bands.differences import Verdict
    >>> Verdict(0.7, 1.0, "a")
    Verdict(low=0.7, high=1.0, better='a')
    """

    low: float
    high: float
    better: str

    def _columns(self) -> dict[str, Any]:
        return {"low": [self.low], "high": [self.high], "better": [self.better]}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SignedBand(Band):
    """Cost of a minus cost of b with limits at each operating point; below zero, a is better.

    Attributes
    ----------
    errors : (float, float)
        The most by which the costs of a and of b can be too high because scores were binned; the limits are wider by
        both.
    """

    errors: tuple[float, float] = field(default=(0.0, 0.0), kw_only=True)

    def _largest(self) -> FloatArray:
        """Return the largest possible difference at each point."""
        return np.ones_like(self.pc)

    def with_errors(self, errors: tuple[float, float]) -> Self:
        """Return the band for costs that can be too high by these errors, of a and of b."""
        if not any(errors):
            return self
        largest = self._largest()
        lower, upper = np.maximum(self.lower - errors[0], -largest), np.minimum(self.upper + errors[1], largest)
        return replace(self, lower=frozen(lower), upper=frozen(upper), errors=errors, max_error=max(errors))

    def _turned(self) -> Self:
        """Return the estimates and limits of b minus a."""
        estimate, lower, upper = (frozen(-end) for end in (self.estimate, self.upper, self.lower))
        return replace(self, estimate=estimate, lower=lower, upper=upper, errors=self.errors[::-1])

    def _money(self, condition: OperatingCondition, values: tuple[float, float, float]) -> tuple[float, float, float]:
        first, second, third = (value * condition.unit_cost for value in values)  # the baseline cancels
        return first, second, third

    def significant(self) -> tuple[Verdict, ...]:
        """Return the ranges of pc in which a is better, b is better, or neither is shown to be.

        This needs a simultaneous band: a pointwise band excludes zero somewhere far more often than its level says.
        Ranges in which the band would exclude zero if scores had not been binned are "unsettled".
        """
        if not self.simultaneous:
            raise UnsupportedError(
                "`significant` must have a simultaneous band, got a pointwise one: pass simultaneous=True"
            )
        sign = _side(self.lower, self.upper)
        sign[(sign == 0) & (_side(self.lower + self.errors[0], self.upper - self.errors[1]) != 0)] = UNSETTLED
        # Only the points of the band were tested, so a range ends at the last of them that excludes zero; a range of
        # one point has no width and is left undecided.
        names = {-1: "a", 0: "undecided", 1: "b", UNSETTLED: "unsettled"}
        first = np.concatenate(([0], np.flatnonzero(np.diff(sign)) + 1))
        last = np.append(first[1:] - 1, sign.size - 1)
        told = [
            (i, j) for i, j in zip(first.tolist(), last.tolist(), strict=True) if sign[i] and (j > i or sign.size == 1)
        ]
        parts, end = [], float(self.pc[0])
        for i, j in told:
            low, high = float(self.pc[i]), float(self.pc[j])
            if low > end:
                parts.append(Verdict(end, low, names[0]))
            parts.append(Verdict(low, high, names[int(sign[i])]))
            end = high
        if end < self.pc[-1] or not parts:
            parts.append(Verdict(end, float(self.pc[-1]), names[0]))
        return tuple(parts)

    def _nearest(self, pc: npt.ArrayLike) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return operating points, the same as a flat array, and which point of the band is nearest to each."""
        wanted = pc_array(pc)
        flat = wanted.ravel()
        if ((flat < self.pc[0] - 1e-12) | (flat > self.pc[-1] + 1e-12)).any():
            raise InputError(f"`pc` must be in [{self.pc[0]:g}, {self.pc[-1]:g}], got {shown(pc)}")
        after = np.clip(np.searchsorted(self.pc, flat), 0, self.pc.size - 1)
        before = np.maximum(after - 1, 0)
        return wanted, flat, np.where(np.abs(self.pc[before] - flat) < np.abs(self.pc[after] - flat), before, after)


def _side(lower: FloatArray, upper: FloatArray) -> IntArray:
    """Return -1 if both limits lie below zero, 1 if both lie above, and 0 otherwise."""
    return np.where(upper < 0, -1, np.where(lower > 0, 1, 0))
