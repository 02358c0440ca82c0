"""A hull to which classifiers are added one after another, and which remembers only points that can still matter.

The vertices are exact fractions. Each added point is placed among them by a binary search, and only the vertices that
it removes are looked at again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from costcurves._base.validation import BoolArray, FloatArray, IntArray
from costcurves.curves.choices import TRIVIAL
from costcurves.curves.roc import RocCurve
from costcurves.curves.standings import Points, Standings

Rates = tuple[Fraction, Fraction]
Claim = tuple[str, float]

# If twice the area between a point and the edge above it is larger than this, floats show that the point lies below.
CLEARLY = 1e-14


def by_name(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Return the claims on a vertex, those of trivial classifiers first and the others by name."""
    return (
        tuple(claims)
        if len(claims) == 1
        else tuple(sorted(claims, key=lambda claim: (claim[0] not in TRIVIAL, claim[0])))
    )


def points_of(curve: RocCurve, owner: int) -> Points:
    """Return the points of a curve between its two ends."""
    size = curve.fp.size - 2
    return Points(curve.fpr[1:-1], curve.tpr[1:-1], curve.thresholds[1:-1], np.full(size, owner, dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Vertices:
    """The vertices of a hull in exact rates: who reaches each of them, and which points (by id) do."""

    rates: Sequence[Rates]
    owners: tuple[tuple[Claim, ...], ...]
    claims: Sequence[tuple[int, ...]]
    owner: tuple[str, ...]
    thresholds: FloatArray
    fpr: FloatArray
    tpr: FloatArray
    breaks: FloatArray

    def with_curve(self, curve: RocCurve, ids: IntArray) -> tuple[Vertices, set[int], set[int]]:
        """Return the vertices after one more classifier, and the ids of the points that became or ceased to be one."""
        rates, owners, claims = list(self.rates), list(self.owners), list(self.claims)
        head = tail = len(rates)  # how many vertices at the beginning and at the end stay as they are
        came: set[int] = set()
        left: set[int] = set()
        for k in np.flatnonzero(~self._clearly_below(curve.fpr[1:-1], curve.tpr[1:-1])).tolist():
            point, claim = curve.exact_rates(k + 1), (curve.name, float(curve.thresholds[k + 1]))
            i = bisect_left(rates, point)
            if rates[i] == point:
                low, high, others, ids_there = i, i + 1, owners[i], claims[i]
            elif _turns_right(rates[i - 1], point, rates[i]):
                low, high, others, ids_there = i, i, (), ()
                while low > 1 and not _turns_right(rates[low - 2], rates[low - 1], point):
                    low -= 1
                while high < len(rates) - 1 and not _turns_right(point, rates[high], rates[high + 1]):
                    high += 1
                left.update(*claims[low:high])
            else:
                continue
            head, tail = min(head, low), min(tail, len(rates) - high)
            rates[low:high] = [point]
            owners[low:high] = [by_name((*others, claim))]
            claims[low:high] = [(*ids_there, int(ids[k]))]
            came.add(int(ids[k]))
        if not came:
            return self, came, left
        before, end = len(self.rates) - tail, len(rates) - tail
        bends = [_bend(a, b) for a, b in pairwise(rates[head - 1 : end + 1])]
        first = [there[0] for there in owners[head:end]]
        grown = Vertices(
            rates=rates,
            owners=tuple(owners),
            claims=claims,
            owner=(*self.owner[:head], *(name for name, _ in first), *self.owner[before:]),
            thresholds=_spliced(self.thresholds, head, [threshold for _, threshold in first], before),
            fpr=_spliced(self.fpr, head, [float(x) for x, _ in rates[head:end]], before),
            tpr=_spliced(self.tpr, head, [float(y) for _, y in rates[head:end]], before),
            breaks=_spliced(self.breaks, head, bends, before + 1),
        )
        return grown, came - left, left

    def _clearly_below(self, fpr: FloatArray, tpr: FloatArray) -> BoolArray:
        """Return which points lie so far below the hull that floats are enough to show it."""
        right = np.searchsorted(self.fpr, fpr, side="right")
        right = np.minimum(right, self.fpr.size - 1)
        x, y, dx, dy = (
            self.fpr[right - 1],
            self.tpr[right - 1],
            np.diff(self.fpr)[right - 1],
            np.diff(self.tpr)[right - 1],
        )
        # Rounding keeps the order, so a point between two floats lies between the rates that they stand for.
        between = (fpr > x) & (fpr < x + dx)
        below: BoolArray = between & ((tpr - y) * dx - (fpr - x) * dy < -CLEARLY)
        return below


def _spliced(values: FloatArray, head: int, new: list[float], tail: int) -> FloatArray:
    """Return the values with those from `head` up to `tail` replaced."""
    return np.concatenate([values[:head], new, values[tail:]])


def _turns_right(a: Rates, b: Rates, c: Rates) -> bool:
    """Return whether b lies strictly above the line from a to c, all in order."""
    return (b[1] - a[1]) * (c[0] - a[0]) > (b[0] - a[0]) * (c[1] - a[1])


def _bend(a: Rates, b: Rates) -> float:
    """Return the pc at which two vertices cost the same."""
    right, up = b[0] - a[0], b[1] - a[1]
    return float(right / (right + up))


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """What a hull remembers of its classifiers, by name: the points that can matter.

    These are the points at vertices, and the points that are the runner-up at some condition. `ids` holds, for each
    classifier, the ids of the points of its curve between the two ends.
    """

    names: tuple[str, ...]
    vertices: Vertices
    standings: Standings
    curves: Mapping[str, RocCurve]
    ids: Mapping[str, IntArray]
    next_id: int

    @classmethod
    def of(cls, names: tuple[str, ...], curves: Sequence[RocCurve], vertices: Vertices) -> Growth:
        """Return what is remembered of classifiers, given all their candidate points, whose ids count from 0."""
        at_vertices = {point for ids in vertices.claims for point in ids}
        found = cls(names, vertices, Standings.of_nobody(), {}, {}, 0)
        for curve in curves:
            ids = np.arange(found.next_id, found.next_id + curve.fp.size - 2)
            pinned = _pinned(curve, ids, at_vertices)
            found = found._remembering(curve, names.index(curve.name), ids, pinned)
        return found

    def with_curve(self, curve: RocCurve) -> Growth:
        """Return what is remembered after one more classifier is added."""
        candidates = curve.candidates()
        ids = np.arange(self.next_id, self.next_id + candidates.fp.size - 2)
        vertices, came, left = self.vertices.with_curve(candidates, ids)
        pinned = _pinned(candidates, ids, came)
        named = replace(self, names=(*self.names, curve.name), vertices=vertices)
        return named._remembering(candidates, len(self.names), ids, pinned, sorted(left))

    def _remembering(
        self, curve: RocCurve, place: int, ids: IntArray, pinned: BoolArray, unpinned: Sequence[int] = ()
    ) -> Growth:
        """Return what is remembered after adding a classifier whose name and vertices are already listed."""
        whole = self.standings.with_classifier(points_of(curve, place), ids, pinned, self.names)
        standings, forgotten = whole.without(unpinned)
        curves, known = {**self.curves, curve.name: curve}, {**self.ids, curve.name: ids}
        gone = whole.ids[forgotten]
        for owner in np.unique(whole.points.owner[forgotten]).tolist():
            name = self.names[owner]
            left = np.flatnonzero(~np.isin(known[name], gone))
            known[name] = known[name][left]
            curves[name] = curves[name].at(np.concatenate(([0], 1 + left, [curves[name].fp.size - 1])))
            if not left.size and not curves[name].max_error:
                del known[name], curves[name]
        if not ids.size and not curve.max_error:
            del known[curve.name], curves[curve.name]
        return replace(self, standings=standings, curves=curves, ids=known, next_id=self.next_id + ids.size)


def _pinned(curve: RocCurve, ids: IntArray, at_vertices: set[int]) -> BoolArray:
    """Return which points must not be forgotten: those at vertices, and all points if bins may hide a better one."""
    if curve.max_error:
        return np.ones(ids.size, dtype=np.bool_)
    return np.array([one in at_vertices for one in ids.tolist()], dtype=np.bool_)
