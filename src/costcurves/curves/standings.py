"""The cheapest and the second cheapest classifier at every pc, and the points at which they are so cheap.

A hull that grows keeps these points and forgets all others: the best two of all classifiers are always among the best
two of those known so far and the one that is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from costcurves._base.validation import BoolArray, FloatArray, IntArray

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
    def of_nobody(cls) -> Standings:
        """Return the standings of the two trivial classifiers alone."""
        corners, nobody, order = np.array([0.0, 1.0]), np.array([-2, -1]), np.array([0, 1])
        points = Points(corners, corners, np.array([np.inf, -np.inf]), nobody)
        return cls(points, nobody, np.ones(2, dtype=np.bool_), np.array([0.0, 0.5, 1.0]), order, order[::-1])

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
        lines = (
            self.first[stretch],
            self.second[stretch],
            start + np.searchsorted(own, cuts[:-1], side="right"),
        )
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
            self.points.at(used),
            self.ids[used],
            pinned[used],
            self.breaks,
            place[self.first],
            place[self.second],
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
