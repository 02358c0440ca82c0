"""Operating conditions and ranges: what they reduce to, and what they refuse."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import costcurves as cc
from costcurves.conditions.condition import check_condition
from costcurves.conditions.range import check_range

SHARES = st.floats(0.001, 0.999)
COSTS = st.floats(0.001, 1e6)


@given(SHARES, COSTS, COSTS)
def test_pc_and_slope_are_those_of_exact_arithmetic(prevalence, cost_fp, cost_fn):
    condition = cc.OperatingCondition(prevalence, cost_fp=cost_fp, cost_fn=cost_fn)
    p, fp, fn = Fraction(prevalence), Fraction(cost_fp), Fraction(cost_fn)
    assert condition.pc == pytest.approx(float(p * fn / (p * fn + (1 - p) * fp)), rel=1e-12)
    assert condition.slope == pytest.approx(float((1 - p) * fp / (p * fn)), rel=1e-12)
    assert condition.unit_cost == pytest.approx(float(p * fn + (1 - p) * fp), rel=1e-12)
    assert condition.money(0.25) == pytest.approx(condition.unit_cost / 4)


@given(st.floats(0, 1), SHARES)
def test_from_pc_gives_that_pc_and_money_equal_to_normalized_cost(pc, prevalence):
    condition = cc.OperatingCondition.from_pc(pc, prevalence=prevalence)
    assert condition.pc == pytest.approx(pc, abs=1e-14)
    assert condition.unit_cost == pytest.approx(1)


SLOPES = st.floats(0, 1e9)


@given(SLOPES, SHARES)
def test_from_slope_gives_that_slope_the_pc_of_exact_arithmetic_and_money_equal_to_normalized_cost(slope, prevalence):
    condition = cc.OperatingCondition.from_slope(slope, prevalence=prevalence)
    assert condition.slope == pytest.approx(slope, rel=1e-12)
    assert condition.pc == pytest.approx(float(1 / (1 + Fraction(slope))), rel=1e-12)
    assert condition.unit_cost == pytest.approx(1)
    assert condition.pc_only


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_a_range_of_slopes_spans_them_and_turns_them_round_in_pc(one, other):
    low, high = sorted((one, other))
    span = cc.OperatingRange.from_slope(low, high)
    assert span.slope == pytest.approx((low, high), rel=1e-9)
    assert span.pc == pytest.approx((1 / (1 + high), 1 / (1 + low)), rel=1e-12)
    assert span.pc_only


def test_slopes_of_zero_and_infinity_are_the_ends_of_pc():
    for slope, pc in ((0, 1), (math.inf, 0), (np.float64("inf"), 0)):
        condition = cc.OperatingCondition.from_slope(slope)
        assert (condition.slope, condition.pc) == (slope, pc)
    assert cc.OperatingRange.from_slope(0, math.inf).pc == (0, 1)
    assert cc.OperatingRange.from_slope(0, math.inf).slope == (0, math.inf)


@pytest.mark.parametrize(
    ("slope", "message"),
    [
        (-1, "`slope` must be >= 0, got -1"),
        (math.nan, "`slope` must be finite, got nan"),
        (-math.inf, "`slope` must be finite, got -inf"),
        ("steep", "`slope` must be a number, got 'steep'"),
    ],
)
def test_slopes_refuse(slope, message):
    with pytest.raises(cc.InputError, match=message):
        cc.OperatingCondition.from_slope(slope)
    with pytest.raises(cc.InputError, match=message):
        cc.OperatingRange.from_slope(slope, 3)
    with pytest.raises(cc.InputError, match="with low <= high"):
        cc.OperatingRange.from_slope(math.inf, 3)


def test_one_free_error_puts_pc_at_an_end():
    assert cc.OperatingCondition(0.3, cost_fp=0, cost_fn=2).pc == 1
    assert cc.OperatingCondition(0.3, cost_fp=0, cost_fn=2).slope == 0
    assert cc.OperatingCondition(0.3, cost_fp=2, cost_fn=0).pc == 0
    assert cc.OperatingCondition(0.3, cost_fp=2, cost_fn=0).slope == math.inf


def test_a_miss_that_weighs_nothing_in_floats_has_infinite_slope():
    tiny = cc.OperatingCondition(prevalence=1e-300, cost_fp=1, cost_fn=1e-300)
    assert (tiny.pc, tiny.slope) == (0, math.inf)
    assert "slope=inf" in repr(tiny)


def test_a_cost_matrix_reduces_to_two_costs_and_a_baseline():
    condition = cc.OperatingCondition.from_cost_matrix([[-2, 3], [50, 10]], prevalence=0.25)
    assert (condition.cost_fp, condition.cost_fn) == (5, 40)
    assert condition.baseline == 0.25 * 10 + 0.75 * -2
    # At rates (0.5, 0.5) the matrix gives the mean of each row.
    by_hand = 0.75 * (-2 + 3) / 2 + 0.25 * (50 + 10) / 2
    assert condition.money(condition.pc * 0.5 + (1 - condition.pc) * 0.5) == pytest.approx(by_hand)


def test_a_labelled_cost_matrix_is_matched_by_name_in_any_order():
    plain = cc.OperatingCondition.from_cost_matrix([[0, 1], [5, 0]], prevalence=0.3)
    frame = pd.DataFrame([[0, 5], [1, 0]], index=["bad", "good"], columns=["bad", "good"])
    assert cc.OperatingCondition.from_cost_matrix(frame, prevalence=0.3, pos_label="bad") == plain
    shuffled = frame.loc[:, ["good", "bad"]]
    assert cc.OperatingCondition.from_cost_matrix(shuffled, prevalence=0.3, pos_label="bad") == plain


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"prevalence": 0}, r"`prevalence` must be in \(0, 1\), got 0"),
        ({"prevalence": 1.0}, r"`prevalence` must be in \(0, 1\), got 1.0"),
        ({"prevalence": -0.2}, r"`prevalence` must be in \(0, 1\), got -0.2"),
        ({"prevalence": math.nan}, "`prevalence` must be finite, got nan"),
        ({"prevalence": "0.3"}, r"`prevalence` must be a number, got '0.3' \(str\)"),
        ({"prevalence": True}, "`prevalence` must be a number, got True"),
        ({"cost_fp": -1}, "`cost_fp` must be >= 0, got -1"),
        ({"cost_fn": -0.5}, "`cost_fn` must be >= 0, got -0.5"),
        ({"cost_fn": math.inf}, "`cost_fn` must be finite, got inf"),
        ({"cost_fp": math.nan}, "`cost_fp` must be finite, got nan"),
        ({"cost_fp": None}, "`cost_fp` must be a number, got None"),
        ({"cost_fp": 0, "cost_fn": 0}, "`cost_fp` and `cost_fn` must not both be 0"),
        ({"baseline": math.inf}, "`baseline` must be finite, got inf"),
    ],
)
def test_conditions_refuse(arguments, message):
    with pytest.raises(cc.InputError, match=message):
        cc.OperatingCondition(**{"prevalence": 0.3, "cost_fp": 1, "cost_fn": 5, **arguments})


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([[0, 1], [5, 6]], "an error cheaper than the right decision, got 5.0 for an error and 6.0 .* on a positive"),
        ([[2, 1], [5, 0]], "an error cheaper than the right decision, got 1.0 for an error and 2.0 .* on a negative"),
        ([[0, math.inf], [5, 0]], "`costs` must be finite"),
        ([[0, 1, 2], [5, 0, 1]], r"`costs` must have shape \(2, 2\), got \(2, 3\)"),
        ([[0, "a"], [5, 0]], "`costs` must be numeric"),
        ([[0, 0], [0, 0]], "must not both be 0"),
        (pd.DataFrame([[0, 1], [5, 0]]), "`pos_label` must name the positive class of labelled `costs`, got None"),
    ],
)
def test_cost_matrices_refuse(costs, message):
    with pytest.raises(cc.InputError, match=message):
        cc.OperatingCondition.from_cost_matrix(costs, prevalence=0.3)


def test_pos_label_of_a_cost_matrix_must_fit_the_labels():
    frame = pd.DataFrame([[0, 1], [5, 0]], index=["a", "b"], columns=["a", "b"])
    with pytest.raises(cc.InputError, match=r"`pos_label` must be one of the labels \['a', 'b'\], got 'c'"):
        cc.OperatingCondition.from_cost_matrix(frame, prevalence=0.3, pos_label="c")
    with pytest.raises(cc.InputError, match="`pos_label` goes with labelled `costs`"):
        cc.OperatingCondition.from_cost_matrix([[0, 1], [5, 0]], prevalence=0.3, pos_label="a")
    with pytest.raises(cc.InputError, match="the same two labels as rows and columns"):
        cc.OperatingCondition.from_cost_matrix(frame.rename(columns={"a": "x"}), prevalence=0.3, pos_label="b")


@given(SHARES, SHARES, COSTS, COSTS, COSTS, COSTS, st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_every_condition_in_a_range_has_its_pc_in_the_range(p, q, a, b, c, d, u, v, w):
    (p, q), (a, b), (c, d) = sorted((p, q)), sorted((a, b)), sorted((c, d))
    span = cc.OperatingRange(prevalence=(p, q), cost_fp=(a, b), cost_fn=(c, d))
    inside = cc.OperatingCondition(
        min(max(p + u * (q - p), p), q),
        cost_fp=min(max(a + v * (b - a), a), b),
        cost_fn=min(max(c + w * (d - c), c), d),
    )
    assert span.contains(inside)
    low, high = span.pc
    assert low - 1e-12 <= inside.pc <= high + 1e-12
    flat, steep = span.slope
    assert flat * (1 - 1e-9) <= inside.slope <= steep * (1 + 1e-9)
    assert {low, high} == {corner.pc for corner in span.corners}


@given(st.floats(0, 1), st.floats(0, 1))
def test_ranges_from_pc_span_it(a, b):
    low, high = sorted((a, b))
    assert cc.OperatingRange.from_pc(low, high).pc == pytest.approx((low, high), abs=1e-14)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"prevalence": (0.5, 0.2)}, r"`prevalence` must be a pair \(low, high\) with low <= high, got \(0.5, 0.2\)"),
        ({"prevalence": (0, 0.2)}, r"`prevalence` must be in \(0, 1\), got 0"),
        ({"cost_fp": (1, 2, 3)}, r"`cost_fp` must be a number or a pair \(low, high\), got \(1, 2, 3\)"),
        ({"cost_fn": (-1, 2)}, "`cost_fn` must be >= 0, got -1"),
        ({"cost_fp": (0, 1), "cost_fn": 0}, "must not both be 0"),
    ],
)
def test_ranges_refuse(arguments, message):
    with pytest.raises(cc.InputError, match=message):
        cc.OperatingRange(**{"prevalence": 0.3, "cost_fp": 1, "cost_fn": 5, **arguments})


def test_the_bayes_threshold_makes_both_decisions_cost_the_same():
    condition = cc.OperatingCondition(prevalence=0.1, cost_fp=3, cost_fn=17)
    t = cc.bayes_threshold(condition)
    assert t * condition.cost_fn == pytest.approx((1 - t) * condition.cost_fp)
    assert cc.bayes_threshold(condition, calibrated_at=0.1) == pytest.approx(t)
    # A score s calibrated at prevalence 0.4 has odds s/(1-s) · (0.1/0.9) / (0.4/0.6) at prevalence 0.1.
    moved = cc.bayes_threshold(condition, calibrated_at=0.4)
    odds = moved / (1 - moved) * (0.1 / 0.9) / (0.4 / 0.6)
    assert odds == pytest.approx(t / (1 - t))


def test_what_is_no_condition_or_range_is_refused():
    with pytest.raises(cc.InputError, match=r"`condition` must be an OperatingCondition, got 0\.3"):
        cc.bayes_threshold(0.3)
    with pytest.raises(cc.InputError, match=r"`condition` must be in \[0, 1\], got 1.5"):
        check_condition(1.5)
    with pytest.raises(cc.InputError, match="`condition` must be an OperatingCondition"):
        check_condition(True)
    with pytest.raises(cc.InputError, match="`over` must be an OperatingRange"):
        check_range((0.1, 0.2, 0.3))
    with pytest.raises(cc.InputError, match=r"`over` must be a pair \(low, high\) with low <= high"):
        check_range((0.2, 0.1))
    with pytest.raises(cc.InputError, match="`a` must be > 0, got 0"):
        cc.Beta(0, 1)
    assert check_condition(np.float32(0.5)).pc == 0.5
    one = cc.OperatingCondition(0.2, cost_fp=1, cost_fn=3)
    assert check_range(one).pc == (one.pc, one.pc)
    assert check_range(None).pc == (0, 1)
    assert check_range((0.1, 0.25)).pc == pytest.approx((0.1, 0.25))


def test_other_prevalences_and_cost_ratios_have_the_pc_of_their_own_conditions():
    here = cc.OperatingCondition(prevalence=0.2, cost_fp=2, cost_fn=7)
    for prevalence in (0.01, 0.2, 0.9):
        there = cc.OperatingCondition(prevalence, cost_fp=2, cost_fn=7)
        assert here.pc_at_prevalence(prevalence) == pytest.approx(there.pc, abs=1e-15)
    for ratio in (0.1, 1.0, 3.5, 40.0):
        there = cc.OperatingCondition(0.2, cost_fp=1, cost_fn=ratio)
        assert here.pc_at_cost_ratio(ratio) == pytest.approx(there.pc, abs=1e-15)
    assert here.pc_at_prevalence([0, 1]).tolist() == [0, 1]
    assert here.pc_at_cost_ratio([0]).tolist() == [0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.pc_at_prevalence(2), r"`prevalence` must be in \[0, 1\], got 2"),
        (lambda c: c.pc_at_cost_ratio(-1), "`ratio` must be finite and >= 0, got -1"),
        (lambda c: c.pc_at_cost_ratio(np.inf), "`ratio` must be finite and >= 0, got inf"),
        (lambda c: cc.OperatingCondition(0.2, cost_fp=0, cost_fn=1).pc_at_prevalence(0.1), "must be > 0 for pc to"),
    ],
)
def test_an_axis_of_no_conditions_is_refused(call, message):
    with pytest.raises(cc.InputError, match=message):
        call(cc.OperatingCondition(prevalence=0.2, cost_fp=2, cost_fn=7))


def test_what_was_made_from_pc_says_that_only_pc_is_known():
    one, some = cc.OperatingCondition.from_pc(0.3), cc.OperatingRange.from_pc(0.2, 0.6)
    known = cc.OperatingCondition(0.5, cost_fp=1.4, cost_fn=0.6)
    assert [one.pc_only, some.pc_only, known.pc_only] == [True, True, False]
    assert all(end.pc_only for span in (some, cc.OperatingRange.from_pc(0, 1)) for end in span.corners)
    assert not any(end.pc_only for end in cc.OperatingRange(0.5, cost_fp=1, cost_fn=(1, 2)).corners)
    # It is a remark about the numbers, and no part of what makes two conditions equal.
    assert one == known
    assert set(one.to_dict()) == {"prevalence", "cost_fp", "cost_fn", "baseline"}


@pytest.mark.parametrize(
    "make",
    [
        lambda: cc.OperatingCondition(0.3, cost_fp=0, cost_fn=0),
        lambda: cc.OperatingCondition.from_cost_matrix([[2, 2], [7, 7]], prevalence=0.3),
        lambda: cc.OperatingRange(0.3, cost_fp=0, cost_fn=(0, 5)),
    ],
)
def test_where_both_errors_cost_nothing_the_message_says_that_nothing_is_at_stake(make):
    with pytest.raises(cc.InputError, match="must not both be 0, got 0 and 0: nothing is at stake"):
        make()


@pytest.mark.parametrize("kind", [cc.OperatingCondition, cc.OperatingRange])
def test_costs_cannot_be_swapped_because_they_have_names(kind):
    with pytest.raises(TypeError, match="positional"):
        kind(0.01, 1, 80)
    assert list(inspect.signature(kind).parameters)[:3] == ["prevalence", "cost_fp", "cost_fn"]
    assert not any("pc_only" in name for name in inspect.signature(kind).parameters)


def test_a_condition_of_which_only_pc_is_known_stays_one():
    where = cc.OperatingCondition.from_pc(0.3)
    assert where.pc_only
    assert where.with_pc(0.4, by="cost_fn").pc_only
    assert all(one.pc_only for one in cc.OperatingRange.from_pc(0.2, 0.4).corners)
    assert not cc.OperatingCondition(0.3, cost_fp=1, cost_fn=2).with_pc(0.4, by="cost_fn").pc_only
    for copied in (copy.copy(where), pickle.loads(pickle.dumps(where))):
        assert copied.pc_only


def test_a_part_of_a_condition_or_a_range_can_be_replaced():
    here = cc.OperatingCondition(0.3, cost_fp=1, cost_fn=2)
    assert dataclasses.replace(here, cost_fn=5) == cc.OperatingCondition(0.3, cost_fp=1, cost_fn=5)
    over = cc.OperatingRange((0.2, 0.3), cost_fp=1, cost_fn=2)
    assert dataclasses.replace(over, cost_fn=(2, 5)) == cc.OperatingRange((0.2, 0.3), cost_fp=1, cost_fn=(2, 5))
