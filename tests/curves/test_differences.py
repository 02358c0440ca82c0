"""Where one cost curve is cheaper than another, by how much, and where that changes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import costcurves as cc
import oracles
from costcurves.curves.differences import covered
from worlds import FINE, MIXED, PERFECT, REVERSED, curve_of, predictions

POLICIES = st.sampled_from(["optimal", "bayes", 0.5])


@st.composite
def pairs(draw):
    """Draw two cost curves, each with its policy."""
    return tuple(
        cc.CostCurve(curve_of(draw(predictions()), name=name), draw(POLICIES), name=name) for name in ("a", "b")
    )


def away_from_breaks(*curves):
    return np.setdiff1d(FINE, np.concatenate([curve.breaks for curve in curves]))


@given(pairs())
def test_advantages_are_where_the_difference_is_negative(pair):
    a, b = pair
    pc = away_from_breaks(a, b)
    gap = a.evaluate(pc) - b.evaluate(pc)
    advantage = a.better_than(b)
    inside = advantage.intervals.contains(pc)
    assert inside[gap < -1e-9].all()
    ends = np.array([end for interval in advantage for end in interval])
    clear = (np.abs(pc[:, None] - ends) > 1e-9).all(axis=1)
    assert not inside[(gap > 1e-9) & clear].any()
    assert (advantage.high > advantage.low).all()
    assert (advantage.low[1:] > advantage.high[:-1]).all()


@given(pairs())
def test_the_mean_and_largest_advantage_are_those_of_a_fine_grid(pair):
    a, b = pair
    advantage = a.better_than(b)
    middles = (np.arange(4000) + 0.5) / 4000
    saved = np.maximum(0, b.evaluate(middles) - a.evaluate(middles))
    for low, high, largest, mean in zip(advantage.low, advantage.high, advantage.largest, advantage.mean, strict=True):
        inside = (middles > low) & (middles < high)
        if inside.any():
            assert saved[inside].sum() / 4000 == pytest.approx(mean * (high - low), abs=2e-3)
            assert saved[inside].max() == pytest.approx(largest, abs=2e-3)
    assert (advantage.largest >= advantage.mean - 1e-12).all()


@given(pairs())
def test_areas_of_advantages_are_the_difference_of_areas(pair):
    a, b = pair
    gained, lost = a.better_than(b), b.better_than(a)
    net = (lost.mean * (lost.high - lost.low)).sum() - (gained.mean * (gained.high - gained.low)).sum()
    assert net == pytest.approx(a.area() - b.area(), abs=1e-9)


@given(pairs())
def test_crossings_separate_stretches_of_different_winners(pair):
    a, b = pair
    crossings = a.crossings(b)
    assert (np.diff(crossings.pc) >= 0).all()
    assert all({before, after} == {"a", "b"} for before, after in zip(crossings.before, crossings.after, strict=True))
    assert all(after == before for after, before in zip(crossings.after, crossings.before[1:], strict=False))
    pc = away_from_breaks(a, b)
    gap = a.evaluate(pc) - b.evaluate(pc)
    told = np.abs(gap) > 1e-9
    passed = np.searchsorted(crossings.pc, pc[told])
    if len(crossings):
        stages = np.array([crossings.before[0], *crossings.after])
        near = np.abs(pc[told][:, None] - crossings.pc).min(axis=1) < 1e-9
        assert (stages[passed] == np.where(gap[told] < 0, "a", "b"))[~near].all()
    else:
        assert len(set(np.sign(gap[told]))) <= 1


@given(pairs())
def test_crossings_do_not_depend_on_who_asks(pair):
    a, b = pair
    there, back = a.crossings(b), b.crossings(a)
    assert there.pc == pytest.approx(back.pc)
    assert (there.before, there.after) == (back.before, back.after)


@given(predictions(), predictions())
def test_a_crossing_of_two_envelopes_is_exact(first, second):
    a, b = cc.CostCurve(curve_of(first)), cc.CostCurve(curve_of(second))
    one, two = oracles.roc_rates(*first), oracles.roc_rates(*second)
    for pc in a.crossings(b):
        if oracles.envelope(one, Fraction(pc)) != oracles.envelope(two, Fraction(pc)):
            gap = oracles.envelope(one, Fraction(pc)) - oracles.envelope(two, Fraction(pc))
            assert abs(gap) < Fraction(1, 10**14)


def test_two_straight_lines_cross_where_they_are_equal():
    a = cc.CostCurve(cc.RocCurve.from_rates(0.04, 0.4, name="careful"))
    b = cc.CostCurve(cc.RocCurve.from_rates(0.3, 0.8, name="bold"))
    # 0.6 pc + 0.04 (1 - pc) = 0.2 pc + 0.3 (1 - pc)
    assert list(a.crossings(b)) == pytest.approx([0.26 / 0.66])
    assert (a.crossings(b).before, a.crossings(b).after) == (("careful",), ("bold",))


def test_touching_is_no_crossing():
    # Both curves have the point (1/4, 3/4); the second one's other points are worse.
    one = cc.CostCurve(cc.RocCurve.from_rates([0.125, 0.25, 0.5], [0.5625, 0.75, 0.9375], name="one"))
    two = cc.CostCurve(cc.RocCurve.from_rates(0.25, 0.75, name="two"))
    assert len(one.crossings(two)) == 0
    assert len(two.better_than(one)) == 0
    assert [pair for interval in one.better_than(two) for pair in interval] == pytest.approx(
        [2 / 11, 2 / 5, 4 / 7, 8 / 9]
    )


def test_the_same_curve_is_nowhere_better():
    a = cc.CostCurve(curve_of(MIXED))
    assert len(a.better_than(a)) == len(a.crossings(a)) == 0
    assert repr(a.better_than(a)) == "Advantage('classifier' nowhere costs less than 'classifier')"
    assert repr(a.crossings(a)) == "Crossings(none)"


def test_where_curves_coincide_between_two_winners_the_crossing_is_in_the_middle():
    # Both use (1/4, 4/5) for pc from 5/11 to 5/9; below it one has a better point, above it the other.
    low = cc.CostCurve(cc.RocCurve.from_rates([0.0, 0.25], [0.5, 0.8], name="low"))
    high = cc.CostCurve(cc.RocCurve.from_rates([0.25, 0.5], [0.8, 1.0], name="high"))
    assert list(low.crossings(high)) == pytest.approx([(5 / 11 + 5 / 9) / 2])
    assert list(low.better_than(high)) == [pytest.approx((0, 5 / 11))]
    assert list(high.better_than(low)) == [pytest.approx((5 / 9, 1))]


def test_a_perfect_curve_beats_a_useless_one_everywhere():
    advantage = cc.CostCurve(curve_of(PERFECT)).better_than(cc.CostCurve(curve_of(REVERSED)))
    assert list(advantage) == [(0, 1)]
    assert advantage.largest.tolist() == [0.5]
    assert advantage.mean.tolist() == [0.25]


def test_an_advantage_that_touches_zero_at_a_corner_is_one_interval():
    # The difference is pc - touch up to there and touch - pc after it, in pieces whose roots round differently.
    zero = cc.CostCurve._from_pieces("zero", np.array([0.0, 1.0]), np.zeros(1), np.zeros(1))
    # low + (touch - low) is a rounding error below touch for the first, above it for some of the others.
    drawn = np.random.default_rng(3).random((300, 2))
    for low, touch in [(0.09695204082162029, 0.7579510023564281), *((y * x**3, y) for x, y in drawn)]:
        rise, fall = (-touch, 1 - touch), (touch, touch - 1)
        fpr, fnr = np.array([rise, rise, fall]).T.copy()
        wedge = cc.CostCurve._from_pieces("wedge", np.array([0.0, low, touch, 1.0]), fpr, fnr)
        advantage = wedge.better_than(zero)
        assert list(advantage) == [(0, 1)]
        assert advantage.mean[0] == pytest.approx((touch**2 + (1 - touch) ** 2) / 2)


def test_only_cost_curves_are_compared():
    with pytest.raises(cc.InputError, match=r"`other` must be a CostCurve, got 5 \(int\)"):
        cc.CostCurve(curve_of(MIXED)).crossings(5)
    with pytest.raises(cc.InputError, match=r"`other` must be a CostCurve, got RocCurve"):
        cc.CostCurve(curve_of(MIXED)).better_than(curve_of(MIXED))


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted), max_size=8), st.sampled_from([1, 2, 3]))
def test_covered_counts_the_intervals_over_each_place(intervals, times):
    low, high = np.array(intervals, dtype=float).reshape(-1, 2).T / 12
    found = covered(low, high, times=times)
    for place in (np.arange(24) + 0.5) / 24:
        assert found.contains(place) == (((low < place) & (place < high)).sum() >= times)
    assert (found.low[1:] > found.high[:-1]).all()
    assert found.width == pytest.approx(sum(((low <= i / 12) & (i / 12 < high)).sum() >= times for i in range(12)) / 12)


def test_crossings_intervals_and_ranges_say_slopes_beside_pc():
    careful, bold = cc.RocCurve.from_rates(0.04, 0.4, name="careful"), cc.RocCurve.from_rates(0.3, 0.8, name="bold")
    a, b = cc.CostCurve(careful), cc.CostCurve(bold)
    # The line through the two ROC points has the slope at which both cost the same.
    crossings = a.crossings(b)
    assert crossings.slope.tolist() == pytest.approx([(0.8 - 0.4) / (0.3 - 0.04)])
    assert crossings.to_dict()["slope"] == crossings.slope.tolist()
    assert list(crossings.to_frame("pandas").columns) == ["pc", "slope", "before", "after"]
    # It beats the trivial classifiers between the slopes of its two lines to (0, 0) and (1, 1).
    useful = a.operating_range()
    assert useful.slope_high.tolist() == pytest.approx([0.4 / 0.04])
    assert useful.slope_low.tolist() == pytest.approx([(1 - 0.4) / (1 - 0.04)])
    assert useful.to_dict()["slope_low"] == useful.slope_low.tolist()
    assert list(useful.to_frame("pandas").columns) == ["pc_low", "pc_high", "slope_low", "slope_high"]
    everywhere = cc.RocHull([careful, bold]).ranges()
    assert everywhere.to_dict()["slope_high"] == ["inf", *everywhere.slope_high[1:].tolist()]
    assert everywhere.slope_low[-1] == 0
