"""Statements about dominance from the simultaneous bands of a group's pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from replications.paper1998.analysis import best_at
from replications.study import Part

# An area of conditions is a tenth of all pc.
AREA = 0.1
_PC = (np.arange(200) + 0.5) / 200


def surely_better(group: Part, one: str, other: str) -> list[list[float]]:
    """The intervals of pc in which one of a pair costs significantly less than the other."""
    for a, b, first, second in group["pairs"]:
        if (a, b) == (one, other):
            return list(first)
        if (b, a) == (one, other):
            return list(second)
    raise KeyError((one, other))


def members(group: Part) -> list[str]:
    """The names of a group, in order."""
    return list(dict.fromkeys(name for pair in group["pairs"] for name in pair[:2]))


def sure_dominator(group: Part) -> str | None:
    """Find the member that is significantly better than each other somewhere and worse nowhere, or None."""
    names = members(group)
    for one in names:
        others = [name for name in names if name != one]
        wins = all(surely_better(group, one, other) for other in others)
        if wins and not any(surely_better(group, other, one) for other in others):
            return one
    return None


def split_pairs(group: Part) -> list[tuple[str, str]]:
    """Find the pairs of which each is significantly better than the other under some conditions."""
    return [(a, b) for a, b, first, second in group["pairs"] if first and second]


def split_by_points(part: Part, names: list[str]) -> list[tuple[str, str]]:
    """Find such pairs by the paper's pointwise intervals of averaged curves, which separate in both directions."""
    found = []
    for a, b in combinations(names, 2):
        above = (np.array(part["lower"][a]) > np.array(part["upper"][b])).any()
        below = (np.array(part["lower"][b]) > np.array(part["upper"][a])).any()
        if above and below:
            found.append((a, b))
    return found


def equal_here_worse_there(group: Part) -> list[str]:
    """Find members that equal the locally best in one area of conditions and are significantly worse in another."""
    best = best_at(group["ranges"], _PC)
    found = []
    for name in members(group):
        ahead = {one: surely_better(group, one, name) for one in set(best) - {name}}
        worse = np.array([_within(ahead.get(one, []), pc) for one, pc in zip(best, _PC, strict=True)])
        # Near the ends all are alike and none is better than doing nothing, so only the middle counts.
        inside = (_PC > AREA) & (_PC < 1 - AREA)
        if (worse & inside).mean() >= AREA and (~worse & inside).mean() >= AREA:
            found.append(name)
    return found


def _within(intervals: list[list[float]], pc: float) -> bool:
    return any(low <= pc <= high for low, high in intervals)
