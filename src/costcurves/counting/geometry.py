"""The upper hull of a monotone chain of points, decided exactly.

Counts are integers, and cross products of integers are exact, so that vertices are found without any tolerance: a point
on the segment between two others is not a vertex.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import LARGEST_WHOLE, BoolArray, IntArray
from costcurves.counting import compiled

Array = npt.NDArray[Any]

# |x·y'| <= n_neg·n_pos for differences of counts; a difference of two such products must fit 63 bits.
LARGEST_EXACT_PRODUCT = 2**62
BLOCK = 64
SMALL = 2048
FEW = 64  # for this many points, the call of a compiled loop takes longer than it saves
MOST_PASSES = 24
SMALLEST_STEP = 2.0**-500  # its square is far from the smallest float
# Two equal products of two differences each differ by less than this factor after rounding.
CLOSE = 1 - 2.0**-50


def upper_hull(x: Array, y: Array) -> IntArray:
    """Find the vertices of the upper hull of a chain with non-decreasing x and y, as indices.

    The first and the last point are always vertices; points on an edge are not. The decision is exact for integers of
    any size and for float64. Integer points must differ from each other, as those of counts do; of equal points of
    floats (weights can vanish in a sum) only the first counts. It takes O(n) without a Python loop over the points,
    unless the products of the floats would leave their range.
    """
    if x.dtype == y.dtype == np.int64 and x.size > FEW and (fast := compiled.loops()) is not None:
        return fast.upper_hull(x, y)
    if x.dtype.kind == "f":
        index = np.flatnonzero(np.append(True, (np.diff(x) != 0) | (np.diff(y) != 0)))
        if max(x[-1], y[-1]) <= LARGEST_WHOLE and (x == np.rint(x)).all() and (y == np.rint(y)).all():
            return index[upper_hull(x[index].astype(np.int64), y[index].astype(np.int64))]
        if x.size > FEW and _in_range(x) and _in_range(y):
            index = index[_perhaps_vertices(_near_one(x[index]), _near_one(y[index]))]
        return index[_chain([Fraction(v) for v in x[index].tolist()], [Fraction(v) for v in y[index].tolist()])]
    index = np.arange(x.size)
    if (int(x[-1]) - int(x[0])) * (int(y[-1]) - int(y[0])) < LARGEST_EXACT_PRODUCT:
        index = _perhaps_vertices(x, y)
    return index[_chain(x[index].tolist(), y[index].tolist())]


def _perhaps_vertices(x: Array, y: Array) -> IntArray:
    """Find all vertices of the upper hull and a few other points, as indices, without a loop over points."""
    index = np.arange(x.size)
    while index.size > SMALL:
        kept = _above_blocks(x, y)
        index, x, y, before = index[kept], x[kept], y[kept], x.size
        if x.size > before // 2:
            break
    for _ in range(MOST_PASSES):
        if x.size < FEW:
            break
        above = _above_neighbours(x, y)
        if above.all():
            break
        index, x, y = index[above], x[above], y[above]
    return index


def _near_one(values: Array) -> Array:
    """Multiply the values by a power of two that makes the last one about 1, so that products stay in range."""
    return np.ldexp(values, 1 - int(np.frexp(values[-1])[1]))


def _in_range(values: Array) -> bool:
    """Whether products of differences of the values, divided by the last, stay above the smallest float."""
    steps = np.diff(values)
    return bool((steps[steps > 0] > SMALLEST_STEP * values[-1]).all())


def _above_neighbours(x: Array, y: Array) -> BoolArray:
    """Mark the points that lie above the chord between their neighbours. Both ends count as above.

    Floats count as above unless they lie below by more than rounding, or on a vertical or horizontal line.
    """
    above = np.ones(x.size, dtype=np.bool_)
    point, chord = (y[1:-1] - y[:-2]) * (x[2:] - x[:-2]), (x[1:-1] - x[:-2]) * (y[2:] - y[:-2])
    if x.dtype.kind == "f":
        above[1:-1] = (point >= chord * CLOSE) & (x[2:] > x[:-2]) & (y[2:] > y[:-2])
    else:
        above[1:-1] = point > chord
    return above


def _above_blocks(x: Array, y: Array) -> BoolArray:
    """Make a mask that keeps every vertex: the hull of the block ends, and the blocks that may rise above it."""
    ends = np.append(np.arange(0, x.size - 1, BLOCK), x.size - 1)
    hull = upper_hull(x[ends], y[ends])
    active = blocks_above(x[ends], y[ends], hull)
    keep = np.repeat(active, np.diff(ends))
    keep = np.append(keep, False)
    keep[ends[hull]] = True
    return keep


def blocks_above(x: Array, y: Array, hull: IntArray) -> BoolArray:
    """Mark the blocks between consecutive points of a chain that may hold a vertex of the finer chain's hull.

    The finer chain within block i runs monotonically from point i to point i + 1, so it stays below the block's
    upper-left corner (x[i], y[i+1]); where that corner is not strictly above the hull of the chain, neither is it.
    Floats, and counts whose products an int64 cannot hold, are compared as floats; if rounding leaves a doubt, the
    block is kept.
    """
    if x.dtype == y.dtype == np.int64 and x.size > FEW and (fast := compiled.loops()) is not None:
        return fast.blocks_above(x, y, hull)
    doubtful = x.dtype.kind == "f"
    if not doubtful and (int(x[-1]) - int(x[0])) * (int(y[-1]) - int(y[0])) >= LARGEST_EXACT_PRODUCT:
        x, y, doubtful = x.astype(np.float64), y.astype(np.float64), True
    edge = np.repeat(np.arange(hull.size - 1), np.diff(hull))
    start, end = hull[edge], hull[edge + 1]
    dx, dy = x[end] - x[start], y[end] - y[start]
    corner, edge_there = (y[1:] - y[start]) * dx, (x[:-1] - x[start]) * dy
    above: BoolArray = corner > edge_there
    if doubtful:
        above = (corner > 0) & (corner >= edge_there * (1 - 2.0**-40))
    return above


def _chain(x: Sequence[Any], y: Sequence[Any]) -> IntArray:
    """Find the upper hull by Andrew's monotone chain algorithm, in Python's exact arithmetic."""
    stack: list[int] = []
    for i in range(len(x)):
        if stack and x[stack[-1]] == x[i] and y[stack[-1]] == y[i]:
            continue
        while len(stack) > 1:
            a, b = stack[-2], stack[-1]
            if (y[b] - y[a]) * (x[i] - x[a]) > (x[b] - x[a]) * (y[i] - y[a]):
                break
            stack.pop()
        stack.append(i)
    return np.array(stack, dtype=np.int64)


def common_integers(values: Sequence[Fraction]) -> list[int]:
    """Multiply fractions by their least common denominator, which gives integers with the same order and ratios."""
    scale = lcm(*{value.denominator for value in values}) if values else 1
    return [value.numerator * (scale // value.denominator) for value in values]


def hull_of_integers(x: Sequence[int], y: Sequence[int]) -> list[int]:
    """Find the upper hull of any points, as indices from the lowest x to the highest.

    Points need no order, and no coordinate is negative. Of equal points the one that comes first is kept.
    """
    if len(x) > FEW and max(*x, *y) < LARGEST_EXACT_PRODUCT and (fast := compiled.loops()) is not None:
        places = np.array([x, y])
        ordered: IntArray = np.lexsort(places[::-1])
        found: list[int] = ordered[fast.upper_hull(*places[:, ordered])].tolist()
        return found
    order = sorted(range(len(x)), key=lambda i: (x[i], y[i]))
    chosen = _chain([x[i] for i in order], [y[i] for i in order])
    return [order[i] for i in chosen]
