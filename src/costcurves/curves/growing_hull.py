"""A hull to which classifiers are added one after another, and which remembers only points that can still matter.

The vertices are exact fractions. Each added point is placed among them by a binary search, and only the vertices that
it removes are looked at again. Beside the vertices, the hull keeps the points of the cheapest and of the second
cheapest classifier at every pc: the best two of all classifiers are always among the best two of those known so far and
the one that is added.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from costcurves._base.validation import BoolArray, FloatArray, IntArray
from costcurves.curves.choices import TRIVIAL
from costcurves.curves.roc import RocCurve

Rates = tuple[Fraction, Fraction]
Claim = tuple[str, float]

# If twice the area between a point and the edge above it is larger than this, floats show that the point lies below.
CLEARLY = 1e-14
# A stretch of pc that is narrower than this, relative to its end, is a rounding error.
NARROW = 1e-12


class Points(NamedTuple):
    """Points of several classifiers: their rates and thresholds, and the position of each owner in a list of names."""

    fpr: FloatArray
    tpr: FloatArray
    thresholds: FloatArray
    owner: IntArray

    @classmethod
    def joined(cls, parts: Sequence[Points]) -> Points:
        """Return all points of several parts."""
        if not parts:
            return cls(np.empty(0), np.empty(0), np.empty(0), np.empty(0, dtype=np.int64))
        return cls(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def at(self, index: Any) -> Points:
        """Return some of the points."""
        return Points(*(array[index] for array in self))

    def cost(self, index: Any, pc: Any) -> Any:
        """Return the normalized costs of some of the points."""
        return pc * (1.0 - self.tpr[index]) + (1.0 - pc) * self.fpr[index]


@dataclass(frozen=True, slots=True, eq=False)
class Standings:
    """Which point costs least between two breaks, and which is the cheapest of the other classifiers' points there.

    Between breaks[i] and breaks[i+1] they are points first[i] and second[i]. Points 0 and 1 are those of the trivial
    classifiers. `ids` identify the points for as long as they are known; points that are `pinned` are never forgotten.
    """

    points: Points
    ids: IntArray
    pinned: BoolArray
    breaks: FloatArray
    first: IntArray
    second: IntArray

    @classmethod
    def of_none(cls) -> Standings:
        """Return the standings of the two trivial classifiers alone."""
        corners, owner, order = np.array([0.0, 1.0]), np.array([-2, -1]), np.array([0, 1])
        points = Points(corners, corners, np.array([np.inf, -np.inf]), owner)
        return cls(points, owner, np.ones(2, dtype=np.bool_), np.array([0.0, 0.5, 1.0]), order, order[::-1])

    def with_classifier(self, points: Points, ids: IntArray, pinned: BoolArray, names: Sequence[str]) -> Standings:
        """Return the standings with one more classifier, whose points are the vertices of an upper hull, in order.

        If two classifiers have the same point, the first by name, according to `names`, comes first.
        """
        if not ids.size:
            return self
        right, up = np.diff(points.fpr), np.diff(points.tpr)
        both = np.where(right + up == 0, 1.0, right + up)  # equal floats: only exact rates tell such points apart
        own = np.maximum.accumulate(right / both)  # the pc up to which each point is the best of the classifier
        start, rivals = self.points.fpr.size, Points.joined([self.points, points])
        cuts = np.union1d(self.breaks, own)
        stretch = np.searchsorted(self.breaks, cuts[:-1], side="right") - 1
        lines = (self.first[stretch], self.second[stretch], start + np.searchsorted(own, cuts[:-1], side="right"))
        crossings = np.concatenate([_crossings(rivals, line, lines[2], cuts) for line in lines[:2]])
        finer = np.union1d(cuts, crossings)
        within = np.searchsorted(cuts, finer[:-1], side="right") - 1
        one, two, new = (line[within] for line in lines)
        middle = (finer[:-1] + finer[1:]) / 2
        before_one, before_two = (_before(rivals, new, line, middle, names) for line in (one, two))
        first = np.where(before_one, new, one)
        second = np.where(before_one, one, np.where(before_two, new, two))
        wide = np.diff(finer) > NARROW * finer[1:]
        wide[0] |= not wide.any()
        first, second, left = first[wide], second[wide], finer[:-1][wide]
        changed = np.append(True, (np.diff(first) != 0) | (np.diff(second) != 0))
        breaks = np.append(left[changed], 1.0)
        breaks[0] = 0.0
        return Standings(
            rivals,
            np.concatenate([self.ids, ids]),
            np.concatenate([self.pinned, pinned]),
            breaks,
            first[changed],
            second[changed],
        )

    def without(self, unpinned: Sequence[int]) -> tuple[Standings, IntArray]:
        """Return the standings with only the points that they name, and the positions of the points that are forgotten.

        The points with the ids `unpinned` are no longer pinned.
        """
        pinned = self.pinned.copy()
        pinned[np.searchsorted(self.ids, np.array(unpinned, dtype=np.int64))] = False
        used = pinned.copy()
        used[self.first] = used[self.second] = True
        place = np.cumsum(used) - 1
        kept = Standings(
            self.points.at(used), self.ids[used], pinned[used], self.breaks, place[self.first], place[self.second]
        )
        return kept, np.flatnonzero(~used)


def _crossings(points: Points, line: IntArray, other: IntArray, cuts: FloatArray) -> FloatArray:
    """Return the pc at which two points cost the same, if it lies inside their stretch."""
    dx, dy = points.fpr[other] - points.fpr[line], points.tpr[other] - points.tpr[line]
    total = dx + dy
    pc = np.where(total == 0, -1.0, dx / np.where(total == 0, 1.0, total))
    inside: BoolArray = (pc > cuts[:-1]) & (pc < cuts[1:])
    found: FloatArray = pc[inside]
    return found


def _before(points: Points, new: IntArray, line: IntArray, pc: FloatArray, names: Sequence[str]) -> BoolArray:
    """Return where the new classifier's point costs less than another's, or is the same and comes first by name."""
    before: BoolArray = points.cost(new, pc) < points.cost(line, pc)
    same = np.flatnonzero((points.fpr[new] == points.fpr[line]) & (points.tpr[new] == points.tpr[line]))
    mine = names[int(points.owner[new[0]])]
    before[same] = [mine < names[owner] for owner in points.owner[line[same]].tolist()]
    return before


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
    """The vertices of a hull in exact rates, and the classifiers and points (by id) that reach each of them."""

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
        found = cls(names, vertices, Standings.of_none(), {}, {}, 0)
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
