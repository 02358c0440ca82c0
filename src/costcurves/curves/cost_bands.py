"""Bands around a cost curve, at thresholds that are taken as given or that were chosen on the same cases."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from costcurves._base.validation import FloatArray, frozen
from costcurves.curves.cost_measures import CostMeasures
from costcurves.curves.roc import RocCurve
from costcurves.inference.bands.one_curve import cost_band
from costcurves.inference.bands.results import Band, computed_by
from costcurves.inference.candidates import Shifts, choice_shifts
from costcurves.inference.rates import critical
from costcurves.inference.scored_rows import ScoredRows

# The most rows that are made up again from the points of a curve that has only some of them, and how many stand for
# each stretch of a larger one.
MOST_ROWS, PARTS = 1 << 20, 64
# The upper limits of a joint band move by this part of what those at one point do, whose excess is rarely largest where
# the errors are. With it, or with 0.5, 1 to 6 % of simulated bands had a true cost above them somewhere.
JOINT_SHARE = 0.6


def given_band(curve: CostMeasures, pc: FloatArray, options: dict[str, Any]) -> Band:
    """Return the band of a curve at thresholds that are taken as given, with the options of `cost_band`."""
    band = _given_at(curve, options, pc)
    if band.simultaneous:
        options = options | {"simultaneous": False, "critical_value": band.critical}
    return computed_by(band, partial(_given_at, curve, options), together=True)


def _given_at(curve: CostMeasures, options: dict[str, Any], pc: FloatArray) -> Band:
    """Return the band of a curve's error counts at some operating points."""
    n_pos, n_neg, effective = curve.sizes("band")
    fn, fp = curve.errors_at(pc)
    which = {"known": curve.trivial_at(pc), "cuts": curve.threshold_at(pc)}
    band = cost_band(fn, n_pos, fp, n_neg, pc, effective=effective, **which, **options)
    return band.with_error(curve.max_error)


class ChosenBand:
    """The band of a curve whose thresholds were chosen on the same cases, about its cost on new cases.

    Parameters
    ----------
    best : CostMeasures
        The curve at the best threshold for each condition.
    options : dict
        Those of `cost_band`.
    estimates : CostMeasures, optional
        Another curve of the same classifier, whose costs are the estimates, such as a cross-fitted one.
    """

    def __init__(self, best: CostMeasures, options: dict[str, Any], estimates: CostMeasures | None = None) -> None:
        self.best, self.estimates = best, estimates
        self.level, self.options = options["level"], options | {"method": "wilson", "simultaneous": False}

    def over(self, pc: FloatArray, *, simultaneous: bool) -> Band:
        """Return the band at some operating points; asked at another one, it answers for that one."""
        shifts = self._shifts(pc)
        return self._jointly(pc, shifts) if simultaneous else self._pointwise(pc, shifts)

    def both(self, pc: FloatArray) -> tuple[Band, Band]:
        """Return the pointwise and the joint band, which allow for the choice of thresholds by the same shifts."""
        shifts = self._shifts(pc)
        return self._pointwise(pc, shifts), self._jointly(pc, shifts)

    def _pointwise(self, pc: FloatArray, shifts: Shifts) -> Band:
        return computed_by(self._moved(pc, shifts), self._band_at)

    def _jointly(self, pc: FloatArray, shifts: Shifts) -> Band:
        joint = _given_at(self.best, self.options | {"simultaneous": True}, pc).critical
        return computed_by(self._moved(pc, shifts, joint), partial(self._band_at, joint=joint), together=True)

    def _band_at(self, pc: FloatArray, joint: float | None = None) -> Band:
        return self._moved(pc, self._shifts(pc), joint)

    def _shifts(self, pc: FloatArray) -> Shifts:
        """Return what the choice of thresholds does at each operating point; nothing where decisions are trivial."""
        unsure = ~self.best.trivial_at(pc)
        shifts = Shifts(np.zeros(pc.size), -np.ones(pc.size), np.ones(pc.size))
        if unsure.any():
            found = choice_shifts(self._rows, pc[unsure], self._cuts(pc[unsure]), self.level)
            for values, some in zip(shifts, found, strict=True):
                values[unsure] = some
        return shifts

    def _moved(self, pc: FloatArray, shifts: Shifts, joint: float | None = None) -> Band:
        """Return the band at the critical values of each operating point.

        `joint` is that of a joint band at given thresholds. Its upper limits move as far for the choice of thresholds
        as those at one point do, and its lower limits stay.
        """
        unsure, low, high = ~self.best.trivial_at(pc), -shifts.low, shifts.high
        if joint is not None:
            low, high = np.full(pc.size, joint), joint + JOINT_SHARE * (high - critical(self.level))
        more = {"critical_value": (low, high), "simultaneous": joint is not None}
        band = _given_at(self.best, self.options | more, pc)
        estimate = band.estimate + shifts.excess if self.estimates is None else self.estimates.evaluate(pc)
        return replace(
            band,
            estimate=frozen(np.clip(estimate, band.lower, band.upper)),
            method="chosen",
            critical=float(high.max(initial=0.0, where=unsure)),
        )

    @cached_property
    def _rows(self) -> ScoredRows:
        assert self.best.roc is not None
        return rows_of(self.best.roc)

    def _cuts(self, pc: FloatArray) -> FloatArray:
        """Return the thresholds in use, as scores of the rows."""
        roc = self.best.roc
        assert roc is not None
        if roc.complete and roc.has_thresholds:
            return np.asarray(self.best.threshold_at(pc))
        misses, alarms = self.best.errors_at(pc)
        # Both counts rise along the points, so that their sum tells which point it is.
        place = np.searchsorted(roc.fp + roc.tp, alarms + (roc.n_pos - misses))
        return np.asarray(-place, dtype=np.float64)


def rows_of(roc: RocCurve) -> ScoredRows:
    """Return rows with the counts of a ROC curve.

    A curve with all points has the scores themselves. Otherwise the j-th point is at a score of -j, and the cases
    between two points of a hull lie evenly between them, which is the order in which most thresholds compete; cases of
    a curve without thresholds are tied.
    """
    steps = [np.diff(roc.tp), np.diff(roc.fp)]
    whole = roc.made_from == "counts" and (roc.complete or roc.n_pos + roc.n_neg <= MOST_ROWS)
    at = roc.thresholds[1:] if roc.complete and roc.has_thresholds else -np.arange(1.0, roc.fp.size)
    scores, weights = [], []
    for step in steps:
        parts = 1 if roc.complete or not roc.has_thresholds else PARTS
        repeats = step.astype(np.int64) if whole else np.where(step > 0, parts, 0)
        one = np.repeat(at, repeats)
        if not roc.complete and roc.has_thresholds:
            first = np.repeat(np.cumsum(repeats) - repeats, repeats)
            one = one + (np.arange(one.size) - first) / np.repeat(repeats, repeats)
        scores.append(one)
        weights.append(np.repeat(step / np.maximum(repeats, 1), repeats))
    positive = np.repeat([True, False], [one.size for one in scores])
    sizes = roc.effective or ((float(roc.n_pos), float(roc.n_neg)) if not whole else None)
    weight = None if whole else np.concatenate(weights)
    return ScoredRows(positive, {roc.name: np.concatenate(scores)}, weight, [roc.name], effective=sizes)
