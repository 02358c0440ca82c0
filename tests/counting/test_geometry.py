"""Upper hulls are decided exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from costcurves.counting import geometry
from costcurves.counting.geometry import common_integers, hull_of_integers, upper_hull
from laws import random_worlds

pytestmark = pytest.mark.usefixtures("way")


def chain(steps):
    """Return the monotone chain of some (right, up) steps, from (0, 0)."""
    moves = [tuple(step) for step in steps if step[0] or step[1]]
    return np.cumsum([(0, 0), *(moves or [(1, 1)])], axis=0, dtype=np.int64).T


def vertices(x, y):
    return [(int(a), int(b)) for a, b in zip(x, y, strict=True)]


def wrapped(x, y):
    return oracles.hull_by_wrapping(vertices(x, y), int(x[-1]), int(y[-1]))


STEPS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30)


@given(STEPS)
def test_short_chains_have_the_hull_of_gift_wrapping(steps):
    x, y = chain(steps)
    index = upper_hull(x, y)
    assert vertices(x[index], y[index]) == wrapped(x, y)


@pytest.mark.parametrize("size", [10, 100, 5000])
def test_of_equal_float_points_the_first_is_the_vertex(size):
    rng = np.random.default_rng(size)
    x, y = chain(rng.integers(0, 3, (size, 2)))
    index, times = upper_hull(x, y), rng.integers(1, 4, x.size)
    first = np.cumsum(times) - times
    assert upper_hull(*(np.repeat(array, times).astype(float) for array in (x, y))).tolist() == first[index].tolist()


@pytest.mark.parametrize("size", [63, 64, 65, 2047, 2048, 2049, 2112, 5000, 20_000])
@pytest.mark.parametrize("shape", ["random", "concave", "convex", "flat", "straight", "nearly straight"])
def test_long_chains_have_a_hull_that_turns_right_and_covers_all_points(size, shape):
    rng = np.random.default_rng(size)
    if shape == "random":
        steps = rng.integers(0, 3, (size, 2))
    elif shape == "concave":
        steps = np.stack([np.arange(size), np.arange(size)[::-1]], axis=1)
    elif shape == "convex":
        steps = np.stack([np.arange(size)[::-1], np.arange(size)], axis=1)
    elif shape == "flat":
        steps = np.stack([np.ones(size, int), np.zeros(size, int)], axis=1)
        steps[0] = (0, 1)
    elif shape == "straight":
        steps = np.full((size, 2), 2)
    else:
        steps = np.full((size, 2), 1000)
        steps += rng.integers(-1, 2, steps.shape)
    x, y = chain(steps)
    index = upper_hull(x, y)
    assert (index[0], index[-1]) == (0, x.size - 1)
    # These two facts define the upper hull: it turns right at every vertex, and no point is above it.
    dx, dy = np.diff(x[index]), np.diff(y[index])
    assert (dy[:-1] * dx[1:] > dy[1:] * dx[:-1]).all()
    edge = np.minimum(np.searchsorted(index, np.arange(x.size), side="right"), index.size - 1) - 1
    start = index[edge]
    assert ((y - y[start]) * dx[edge] <= (x - x[start]) * dy[edge]).all()


def test_products_beyond_64_bits_are_exact():
    big = 2**52
    # Three points on a line, then the same with the middle one count higher, then one lower.
    for up, expected in ((0, [0, 2]), (1, [0, 1, 2]), (-1, [0, 2])):
        x, y = np.array([0, big, 2 * big]), np.array([0, big + up, 2 * big])
        assert upper_hull(x, y).tolist() == expected


def test_long_chains_of_huge_counts_are_exact():
    # Every point is a vertex; products of the counts are multiples of 2**80, which 64 bits would make zero.
    steps = [(2**40 * (1 + i), 2**40 * (100 - i)) for i in range(100)]
    x, y = chain(steps)
    assert upper_hull(x, y).tolist() == list(range(101))
    assert upper_hull(x, x).tolist() == [0, 100]


@given(STEPS, st.integers(1, 10**6), st.integers(1, 10**6))
def test_scaling_the_axes_changes_no_vertex(steps, right, up):
    x, y = chain(steps)
    assert upper_hull(x * right, y * up).tolist() == upper_hull(x, y).tolist()


@given(STEPS)
def test_floats_that_are_whole_have_the_vertices_of_the_integers(steps):
    x, y = chain(steps)
    if x[-1] and y[-1]:
        assert upper_hull(x.astype(float), y.astype(float)).tolist() == upper_hull(x, y).tolist()


@pytest.mark.parametrize("exponent", [-700, -300, 0, 300, 700])
def test_the_size_of_weights_changes_no_vertex(exponent):
    rng = np.random.default_rng(5)
    x, y = chain(rng.integers(0, 4, (3000, 2)))
    scaled = [np.ldexp(array.astype(float), exponent) for array in (x, y)]
    assert upper_hull(*scaled).tolist() == upper_hull(x, y).tolist()


def test_rates_a_rounding_error_off_the_diagonal_are_told_apart():
    third = 1 / 3  # below one third
    above = np.nextafter(third, 1)
    assert upper_hull(np.array([0, third, 1.0]), np.array([0, above, 1.0])).tolist() == [0, 1, 2]
    assert upper_hull(np.array([0, above, 1.0]), np.array([0, third, 1.0])).tolist() == [0, 2]
    assert upper_hull(np.array([0, third, 1.0]), np.array([0, third, 1.0])).tolist() == [0, 2]


@pytest.mark.law
def test_floats_have_the_hull_of_their_fractions():
    for rng in random_worlds(80, stream=2601):
        size = int(rng.choice([3, 20, 63, 64, 65, 130, 300]))
        steps = rng.integers(0, 4, (size, 2)) * rng.choice([1.0, 0.1, 1 / 3, 1e-3])  # many nearly on one line
        steps *= rng.choice([0.0, 1.0, rng.random()], (size, 2))
        steps[:, 0] = np.sort(steps[:, 0]) if rng.random() < 0.3 else steps[:, 0]
        steps[rng.integers(size, size=2)] *= rng.choice([1.0, 1e-300, 5e-324], (2, 1))
        steps[-1] = 1.0
        x, y = (np.append(0.0, np.cumsum(column)) * rng.choice([1.0, 1e-250, 1e250]) for column in steps.T)
        if rng.random() < 0.3:  # as good as straight: only the last bits tell points above the line from those below
            x = np.append(np.arange(size) / size, 1.0)
            y = np.append(0.0, x[1:] * (1 + rng.integers(-1, 2, size) * 2.0**-52))
        if rng.random() < 0.5:  # the first point is a speck, as of one tiny weight
            x, y = np.append([0.0, 0.0], x[1:]), np.append([0.0, 5e-324], np.maximum(y[1:], 5e-324))
        points = [(Fraction(a), Fraction(b)) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        index = upper_hull(x, y)
        assert [points[i] for i in index] == oracles.hull_by_wrapping(points, *points[-1])


def test_the_smallest_float_is_a_vertex():
    assert upper_hull(np.array([0, 0, 1.0]), np.array([0, 5e-324, 1])).tolist() == [0, 1, 2]
    assert upper_hull(np.array([0, 5e-324, 5e-324, 1.0]), np.array([0, 5e-324, 1e-323, 1])).tolist() == [0, 2, 3]


@given(STEPS, st.integers(2, 9))
def test_a_block_that_holds_a_vertex_is_never_skipped(steps, width):
    x, y = chain(steps)
    ends = np.unique(np.append(np.arange(0, x.size, width), x.size - 1))
    hull = upper_hull(x[ends], y[ends])
    active = geometry.blocks_above(x[ends], y[ends], hull)
    for i in upper_hull(x, y):
        if i not in ends:
            assert active[np.searchsorted(ends, i) - 1]


def test_a_block_that_only_touches_the_hull_is_skipped():
    x, y = np.array([0, 1, 2]), np.array([0, 1, 2])
    assert geometry.blocks_above(x, np.array([0, 0, 2]), np.array([0, 2])).tolist() == [False, True]
    assert geometry.blocks_above(x, y, np.array([0, 1, 2])).tolist() == [True, True]
    assert geometry.blocks_above(np.array([0, 1, 2]), np.array([2, 2, 2]), np.array([0, 2])).tolist() == [False, False]


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=12))
def test_points_in_any_order_have_the_hull_by_definition(points):
    x, y = [0, 8, *(p[0] for p in points)], [0, 8, *(p[1] for p in points)]
    index = hull_of_integers(x, y)
    assert [(x[i], y[i]) for i in index] == oracles.hull_by_definition(points, 8, 8)


@given(st.lists(st.fractions(0, 1, max_denominator=50), min_size=1, max_size=8))
def test_common_integers_keep_all_ratios(values):
    whole = common_integers([*values, Fraction(1)])
    assert [Fraction(value, whole[-1]) for value in whole[:-1]] == values


def test_blocks_of_counts_beyond_the_products_of_an_int64_are_never_missed():
    large = 2**34
    x, y = np.array([0, 1, 2]) * large, np.array([0, 0, 2]) * large
    assert geometry.blocks_above(x, y, np.array([0, 2])).tolist() == [False, True]
    assert geometry.blocks_above(x, np.array([0, 1, 2]) * large, np.array([0, 1, 2])).tolist() == [True, True]
