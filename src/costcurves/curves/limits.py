"""The best single point of all classifiers under a limit, by a binary search along each curve."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from costcurves.curves.choices import ALWAYS_NEGATIVE, ALWAYS_POSITIVE, TRIVIAL
from costcurves.curves.cost_function import EQUAL
from costcurves.curves.roc import RocCurve

# Shares of alarms in floats that differ by more than this differ in fractions too.
DOUBT = 1e-14


class Point(NamedTuple):
    """One point of a classifier in exact rates; with no alarms, or with all, it is the trivial classifier's."""

    fpr: Fraction
    tpr: Fraction
    name: str
    threshold: float

    @classmethod
    def of(cls, curve: RocCurve, index: int) -> Point:
        """Return one of the points of a curve."""
        fpr, tpr = curve.exact_rates(index)
        if fpr == tpr == 0:
            return cls(fpr, tpr, ALWAYS_NEGATIVE, math.inf)
        if fpr == tpr == 1:
            return cls(fpr, tpr, ALWAYS_POSITIVE, -math.inf)
        return cls(fpr, tpr, curve.name, float(curve.thresholds[index]))

    @property
    def rank(self) -> tuple[bool, str]:
        """The order of preference among equal points: a trivial classifier comes last, otherwise the first by name."""
        return self.name in TRIVIAL, self.name

    def load(self, prevalence: Fraction) -> Fraction:
        """Return the share of all cases that are alarms."""
        return prevalence * self.tpr + (1 - prevalence) * self.fpr

    def precision(self, prevalence: float) -> float:
        """Return the share of alarms that are right, NaN if there are none."""
        alarms = self.load(Fraction(prevalence))
        return float(Fraction(prevalence) * self.tpr / alarms) if alarms else math.nan


def most_found(curves: Sequence[RocCurve], last_within: Callable[[RocCurve], int]) -> Point:
    """Return the highest tpr within a limit that `last_within` applies; among equals, the lowest fpr.

    Both rates rise along a curve, so the last of its points within the limit finds most, and the first point that finds
    as much is the left end of a horizontal run.
    """
    points = []
    for curve in curves:
        most = curve.tp[last_within(curve)]
        points.append(Point.of(curve, int(np.searchsorted(curve.tp, most, side="left"))))
    return min(points, key=lambda point: (-point.tpr, point.fpr, *point.rank))


def fewest_false_alarms(curves: Sequence[RocCurve], first_within: Callable[[RocCurve], int]) -> Point:
    """Return the lowest fpr within a limit; among equals, the highest tpr."""
    points = []
    for curve in curves:
        fewest = curve.fp[first_within(curve)]
        points.append(Point.of(curve, int(np.searchsorted(curve.fp, fewest, side="right")) - 1))
    return min(points, key=lambda point: (point.fpr, -point.tpr, *point.rank))


def first_within_tpr(curve: RocCurve, floor: float) -> int:
    """Return the first point with tpr at least `floor`."""
    return int(np.searchsorted(curve.tpr, floor, side="left"))


def last_within_fpr(curve: RocCurve, limit: float) -> int:
    """Return the last point with fpr at most `limit`."""
    return int(np.searchsorted(curve.fpr, limit, side="right")) - 1


def last_within_load(curve: RocCurve, prevalence: Fraction, limit: Fraction) -> int:
    """Return the last point whose alarms are at most a share of all cases, compared in fractions if it is close."""
    share, near = float(prevalence), float(limit)
    load = share * curve.tpr + (1.0 - share) * curve.fpr
    low, high = (int(np.searchsorted(load, near + side, side="right")) for side in (-DOUBT, DOUBT))
    return low + bisect_right(range(low, high), limit, key=lambda i: Point.of(curve, i).load(prevalence)) - 1


def last_within_precision(curve: RocCurve, prevalence: float, floor: float) -> int:
    """Return the last point whose precision is at least `floor`, or below it by no more than rounding."""
    right, wrong = prevalence * curve.tpr, (1.0 - prevalence) * curve.fpr
    return int(np.flatnonzero(right - floor * (right + wrong) >= -EQUAL * (right + wrong))[-1])
