"""Decisions: best, ranges, limits and mixtures, against scanning every point."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import costcurves as cc
import oracles
from costcurves.curves.choices import cheapest_with_alarms, runner_up_of, trivial_choices
from costcurves.curves.ranges import Ranges
from laws import random_worlds
from worlds import GRID, MIXED, PERFECT, classifiers, curve_of, everyone, random_classifiers

A = cc.RocCurve.from_rates(0.1, 0.6, name="A")
C = cc.RocCurve.from_rates(0.4, 0.9, name="C")
EQUAL = Fraction(1, 10**12)
TRIVIAL = {"always negative": [(Fraction(0), Fraction(0))], "always positive": [(Fraction(1), Fraction(1))]}


@given(classifiers(), st.sampled_from(GRID))
def test_the_best_is_the_cheapest_of_all_points_and_ties_are_named(world, pc):
    curves, rates = world
    decision = cc.RocHull(curves).best(float(pc))
    exact_pc = Fraction(decision.condition.pc)
    least, reached = oracles.who_is_best({**rates, **TRIVIAL}, exact_pc)
    assert decision.normalized_cost == pytest.approx(float(least), abs=1e-14)
    named = {(choice.classifier, choice.fpr, choice.tpr) for choice in (decision, *decision.ties)}
    # Points inside an edge are as good there too, but a hull names only its vertices.
    on_hull = {(float(x), float(y)) for x, y in oracles.hull_by_definition(everyone(rates), 1, 1)}
    expected = {(name, float(x), float(y)) for name, x, y in reached if (float(x), float(y)) in on_hull}
    corners = {(0.0, 0.0), (1.0, 1.0)}
    assert {claim for claim in expected if claim[0] in TRIVIAL or claim[1:] not in corners} <= named
    for choice in (decision, *decision.ties):
        assert choice.normalized_cost == pytest.approx(float(least), abs=2e-12)


def alarms_between(points):
    """Return the points with some alarms, but not all."""
    return [rate for rate in points if rate not in ((0, 0), (1, 1))]


@pytest.mark.law
def test_the_winner_and_the_runner_up_are_those_of_scanning_all_points():
    for rng in random_worlds(1200, stream=1601):
        curves, rates = random_classifiers(rng)
        pc = rng.choice([rng.integers(0, 25) / 24, rng.random(), rng.random() / 50])
        decision = cc.RocHull(curves).best(float(pc))
        exact_pc = Fraction(decision.condition.pc)
        stand_for = {name: alarms_between(points) for name, points in rates.items()} | TRIVIAL
        costs = {
            name: min(oracles.line(rate, exact_pc) for rate in points) for name, points in stand_for.items() if points
        }
        least = min(costs.values())
        # Costs within 1e-12 of each other tie; no two of these small worlds come near that without being equal.
        best = min((cost > least + EQUAL, name not in TRIVIAL, name) for name, cost in costs.items())[2]
        del costs[best]
        second = min(costs.values())
        other = min((cost > second + EQUAL, name in TRIVIAL, name) for name, cost in costs.items())[2]
        assert (decision.classifier, decision.runner_up.classifier) == (best, other)
        assert decision.normalized_cost == pytest.approx(float(least), abs=1e-14)
        assert decision.runner_up.normalized_cost == pytest.approx(float(second), abs=1e-14)
        assert decision.regret == pytest.approx(float(second - least), abs=1e-14)
        fpr, lost = min((x, -y) for x, y in stand_for[other] if oracles.line((x, y), exact_pc) <= second + EQUAL)
        assert (decision.runner_up.fpr, decision.runner_up.tpr) == (float(fpr), float(-lost))
        again = curves if best in TRIVIAL else [curve for curve in curves if curve.name != best]
        rivals = [cheapest_with_alarms(curve, decision.condition) for curve in again]
        found = runner_up_of([*trivial_choices(decision.condition), *filter(None, rivals)], best)
        assert repr(found) == repr(decision.runner_up)


def test_a_classifier_whose_best_threshold_never_alarms_is_still_the_runner_up():
    labels, scores = [1] * 20 + [0] * 20, [1] * 18 + [0] * 2 + [1] + [0] * 19
    decision = cc.RocHull.from_predictions(labels, {"m": scores}).best(
        cc.OperatingCondition(0.05, cost_fp=1, cost_fn=1)
    )
    assert (decision.classifier, decision.runner_up.classifier) == ("always negative", "m")
    assert decision.runner_up.expected_cost == pytest.approx(0.05 * 0.1 + 0.95 * 0.05)


def test_a_decision_is_in_money_too():
    condition = cc.OperatingCondition.from_cost_matrix([[1, 3], [21, 1]], prevalence=0.1)
    decision = cc.RocHull([A, C]).best(condition)
    assert decision.classifier == "C"
    assert decision.expected_cost == pytest.approx(1 + 0.1 * 0.1 * 20 + 0.9 * 0.4 * 2)
    assert decision.runner_up.classifier == "A"
    assert decision.runner_up.expected_cost == pytest.approx(1 + 0.1 * 0.4 * 20 + 0.9 * 0.1 * 2)
    assert decision.money_regret == pytest.approx(decision.runner_up.expected_cost - decision.expected_cost)
    assert decision.money_regret == pytest.approx(decision.regret * condition.unit_cost)


def test_at_a_break_both_ends_of_the_edge_are_named():
    hull = cc.RocHull([A, C])
    for i, pc in enumerate(hull.breaks[1:-1]):
        decision = hull.best(pc)
        assert {decision.classifier, *(tie.classifier for tie in decision.ties)} == {hull.owner[i], hull.owner[i + 1]}
        assert decision.regret == pytest.approx(0, abs=1e-12)
    assert hull.best(0.3).ties == ()


def test_at_the_ends_of_pc_the_free_error_is_ignored():
    hull = cc.RocHull([curve_of(PERFECT, name="perfect"), A])
    for pc in (0, 1):
        decision = hull.best(pc)
        assert decision.normalized_cost == 0
        assert "perfect" in {decision.classifier, *(tie.classifier for tie in decision.ties)}


@pytest.mark.parametrize("condition", ["x", None, True, 1.5, math.nan])
def test_best_refuses_what_is_no_condition(condition):
    with pytest.raises(cc.InputError, match="`condition` must be"):
        cc.RocHull([A]).best(condition)


# Ranges -----------------------------------------------------------------------------------------------------


@given(classifiers())
def test_ranges_cover_all_of_pc_and_name_who_is_best_there(world):
    curves, rates = world
    ranges = cc.RocHull(curves).ranges()
    assert (ranges.pc_low[0], ranges.pc_high[-1]) == (0, 1)
    assert ranges.pc_low[1:].tolist() == ranges.pc_high[:-1].tolist()
    assert all(a != b for a, b in zip(ranges.classifier[:-1], ranges.classifier[1:], strict=True))
    for name, low, high in ranges:
        middle = (Fraction(low) + Fraction(high)) / 2
        _, reached = oracles.who_is_best({**rates, **TRIVIAL}, middle)
        assert name in {who for who, _, _ in reached}


@given(classifiers())
def test_thresholds_of_a_range_span_those_in_use(world):
    curves, _ = world
    hull = cc.RocHull(curves)
    ranges = hull.ranges()
    for i, (name, low, high) in enumerate(ranges):
        used = [
            cut
            for owner, cut, start, end in zip(
                hull.owner, hull.thresholds, hull.breaks[:-1], hull.breaks[1:], strict=True
            )
            if owner == name and low <= start < end <= high
        ]
        assert (min(used), max(used)) == pytest.approx((ranges.threshold_low[i], ranges.threshold_high[i]), nan_ok=True)


def test_slopes_of_ranges_are_those_of_the_edges():
    ranges = cc.RocHull([A, C]).ranges()
    assert ranges.classifier == ("always negative", "A", "C", "always positive")
    assert ranges.slope_high == pytest.approx([math.inf, 6, 1, 1 / 6])
    assert ranges.slope_low == pytest.approx([6, 1, 1 / 6, 0])
    assert list(ranges.where("A")) == [pytest.approx((1 / 7, 1 / 2))]
    assert list(ranges.where("nobody")) == []


@given(classifiers(), st.floats(0, 1), st.floats(0, 1))
def test_within_is_the_part_of_the_ranges_inside(world, a, b):
    curves, rates = world
    low, high = sorted((a, b))
    hull = cc.RocHull(curves)
    over = cc.OperatingRange.from_pc(low, high)
    inside = hull.within(over)
    assert (inside.pc_low[0], inside.pc_high[-1]) == over.pc
    assert inside.pc_low[1:].tolist() == inside.pc_high[:-1].tolist()
    for name, start, end in inside:
        _, reached = oracles.who_is_best({**rates, **TRIVIAL}, (Fraction(start) + Fraction(end)) / 2)
        best = float(oracles.envelope(everyone(rates), (Fraction(start) + Fraction(end)) / 2))
        cost = hull.evaluate((start + end) / 2)
        assert name in {who for who, _, _ in reached} or cost == pytest.approx(best, abs=1e-12)


def test_a_range_of_one_condition_names_its_best():
    hull = cc.RocHull([A, C])
    condition = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=1)
    ranges = hull.within(condition)
    assert list(ranges) == [("A", condition.pc, condition.pc)]
    assert not ranges.sensitive
    assert repr(ranges).startswith(
        "A is best on these cases throughout pc 0.3 .. 0.3 (recommend_within says how sure that is)"
    )
    for pc in hull.breaks:
        one = hull.within(cc.OperatingRange.from_pc(pc, pc))
        assert one.classifier[0] in {hull.best(pc).classifier, *(tie.classifier for tie in hull.best(pc).ties)}


# Limits -----------------------------------------------------------------------------------------------------


def all_choices(rates):
    """Return (fpr, tpr, trivial, name) of every point of every classifier; the corners are the trivial ones'."""
    named = [(*rate, False, name) for name, points in rates.items() for rate in alarms_between(points)]
    return [*named, *((*points[0], True, name) for name, points in TRIVIAL.items())]


def made(choice):
    """Return what identifies a choice under a limit."""
    return choice.fpr, choice.tpr, choice.classifier


def a_rate(rng, rates, axis):
    """Return a rate to limit: often one that is met exactly, or missed by a rounding error."""
    met = float(everyone(rates)[rng.integers(len(everyone(rates)))][axis])
    return float(rng.choice([met, np.nextafter(met, 1), np.nextafter(met, 0), rng.random(), rng.integers(0, 9) / 8]))


@pytest.mark.law
def test_the_neyman_pearson_choices_are_those_of_scanning_all_points():
    for rng in random_worlds(500, stream=1602):
        curves, rates = random_classifiers(rng, largest=8)
        hull, choices = cc.RocHull(curves), all_choices(rates)
        for _ in range(5):
            # A rate counts as allowed when its float is; that is the number a user sees and compares.
            limit = a_rate(rng, rates, 0)
            found = [choice for choice in choices if float(choice[0]) <= limit]
            fpr, tpr, _, name = min(found, key=lambda one: (-one[1], one[0], *one[2:]))
            assert made(hull.best_at_fpr(limit)) == (float(fpr), float(tpr), name)
            floor = a_rate(rng, rates, 1)
            found = [choice for choice in choices if float(choice[1]) >= floor]
            fpr, tpr, _, name = min(found, key=lambda one: (one[0], -one[1], *one[2:]))
            assert made(hull.best_at_tpr(floor)) == (float(fpr), float(tpr), name)


@pytest.mark.law
def test_the_choice_within_a_capacity_is_that_of_scanning_all_points():
    for rng in random_worlds(500, stream=1603):
        curves, rates = random_classifiers(rng, largest=8)
        hull = cc.RocHull(curves)
        share = float(rng.choice([0.05, 0.5, 7 / 8, 1 / 3, rng.random()]))
        exact = Fraction(share)
        loads = {one: exact * one[1] + (1 - exact) * one[0] for one in all_choices(rates)}
        population = float(rng.choice([1, 10, 100, 12_345, 1000 * rng.random()]))
        for _ in range(5):
            # Often a capacity that is met exactly, or missed by a rounding error: 1e-12 of the population is forgiven.
            met = float(rng.choice([float(load) for load in loads.values()])) * population
            missed = float(rng.choice([met, np.nextafter(met, 0), met * (1 - 1e-11)]))
            alarms = float(rng.choice([missed, 1.2 * population * rng.random(), rng.integers(0, 1.2 * population + 1)]))
            choice = hull.best_at_capacity(alarms=alarms, population=population, prevalence=share)
            limit = Fraction(alarms) / Fraction(population) + Fraction(1e-12)
            allowed = [one for one, load in loads.items() if load <= limit]
            best = min(allowed, key=lambda one: (-one[1], one[0], *one[2:]))
            assert made(choice) == (float(best[0]), float(best[1]), best[3])
            assert choice.alarms == pytest.approx(population * float(loads[best]), rel=1e-14)


@pytest.mark.law
def test_mixtures_under_a_limit_find_the_most_and_waste_nothing():
    for rng in random_worlds(300, stream=1604):
        curves, rates = random_classifiers(rng, most=2, largest=6)
        hull, points = cc.RocHull(curves), everyone(rates)
        limit, floor = a_rate(rng, rates, 0), a_rate(rng, rates, 1)
        share, alarms = float(rng.choice([0.05, 0.5, rng.random()])), float(rng.integers(0, 130))
        capacity = {"fpr_weight": (1 - Fraction(share)) * 100, "tpr_weight": Fraction(share) * 100}
        for choice, weights, most in (
            (hull.best_at_fpr(limit), {"fpr_weight": 1, "tpr_weight": 0}, limit),
            (hull.best_at_capacity(alarms=alarms, population=100, prevalence=share), capacity, alarms),
        ):
            mixture = choice.mixture
            best = oracles.best_mixture(points, **weights, limit=most)
            assert mixture.tpr == pytest.approx(float(best), abs=1e-9)
            assert weights["fpr_weight"] * mixture.fpr + weights["tpr_weight"] * mixture.tpr <= most + 1e-9
            # Nobody finds as many with fewer false alarms.
            exact = oracles.hull_by_definition(points, 1, 1)
            mirrored = [(1 - y, 1 - x) for x, y in exact]
            assert 1 - mixture.fpr == pytest.approx(float(oracles.roc_at(mirrored, 1 - best)), abs=1e-9)
        mixture = hull.best_at_tpr(floor).mixture
        assert mixture.tpr >= floor - 1e-12
        assert mixture.fpr <= hull.best_at_tpr(floor).fpr + 1e-12
        assert mixture.tpr == pytest.approx(float(oracles.roc_at(exact, mixture.fpr)), abs=1e-9)
        assert 1 - mixture.fpr == pytest.approx(float(oracles.roc_at(mirrored, 1 - Fraction(floor))), abs=1e-9)


def test_a_capacity_can_be_met_inside_a_vertical_run():
    labels = [1, 1, 1, 1, 0, 1, 0, 0, 0, 0]
    scores = [0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]
    choice = cc.RocHull.from_predictions(labels, {"m": scores}).best_at_capacity(
        alarms=3, population=10, prevalence=0.5
    )
    assert (choice.classifier, choice.threshold, choice.tpr, choice.alarms) == ("m", 0.8, 0.6, 3)


def test_a_capacity_met_exactly_is_met():
    hull = cc.RocHull([cc.RocCurve.from_rates(0.01, 0.21, name="x")])
    assert hull.best_at_capacity(alarms=0.01 * 9500 + 0.21 * 500, population=10_000, prevalence=0.05).classifier == "x"
    assert hull.best_at_capacity(alarms=0, population=10, prevalence=0.5).classifier == "always negative"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda h: h.best_at_fpr(1.2), r"`fpr` must be in \[0, 1\], got 1.2"),
        (lambda h: h.best_at_tpr(-1), r"`tpr` must be in \[0, 1\], got -1"),
        (lambda h: h.best_at_capacity(alarms=-1, population=10, prevalence=0.1), "`alarms` must be >= 0, got -1"),
        (lambda h: h.best_at_capacity(alarms=1, population=0, prevalence=0.1), "`population` must be > 0, got 0"),
        (
            lambda h: h.best_at_capacity(alarms=1, population=10, prevalence=1),
            r"`prevalence` must be in \(0, 1\), got 1",
        ),
        (lambda h: h.interpolate(), "`interpolate` must have one of `fpr` and `tpr`, got fpr=None and tpr=None"),
        (lambda h: h.interpolate(fpr=0.1, tpr=0.2), "`interpolate` must have one of `fpr` and `tpr`"),
        (lambda h: h.interpolate(fpr=math.nan), "`fpr` must be finite, got nan"),
        (lambda h: h.within(0.1), "`over` must be an OperatingRange"),
    ],
)
def test_limits_refuse(call, message):
    with pytest.raises(cc.InputError, match=message):
        call(cc.RocHull([A]))


# Mixtures ---------------------------------------------------------------------------------------------------


@given(classifiers(), st.sampled_from(GRID))
def test_a_mixture_reaches_the_hull_at_the_asked_rate(world, goal):
    curves, rates = world
    hull = cc.RocHull(curves)
    exact = oracles.hull_by_definition(everyone(rates), 1, 1)
    mixture = hull.interpolate(fpr=float(goal))
    assert mixture.fpr == pytest.approx(float(goal), abs=1e-12)
    assert mixture.tpr == pytest.approx(float(oracles.roc_at(exact, goal)), abs=1e-9)
    other = hull.interpolate(tpr=float(goal))
    assert other.tpr == pytest.approx(float(goal), abs=1e-12)
    mirrored = [(1 - y, 1 - x) for x, y in exact]
    assert 1 - other.fpr == pytest.approx(float(oracles.roc_at(mirrored, 1 - goal)), abs=1e-9)
    assert 0 <= mixture.probability <= 1


def test_a_mixture_draws_each_classifier_with_its_probability():
    mixture = cc.RocHull([A, C]).interpolate(fpr=0.2)
    p = mixture.probability
    assert (mixture.first, mixture.second) == ("A", "C")
    assert (1 - p) * 0.1 + p * 0.4 == pytest.approx(0.2)
    assert mixture.tpr == pytest.approx((1 - p) * 0.6 + p * 0.9)


def test_at_a_vertical_edge_the_mixture_takes_its_top_and_at_a_horizontal_one_its_left_end():
    hull = cc.RocHull([curve_of(PERFECT, name="x")])
    assert (hull.interpolate(fpr=0).fpr, hull.interpolate(fpr=0).tpr) == (0, 1)
    assert (hull.interpolate(tpr=1).fpr, hull.interpolate(tpr=1).tpr) == (0, 1)
    assert hull.interpolate(tpr=0.5).fpr == 0
    assert hull.interpolate(fpr=1).tpr == 1
    assert np.isclose(cc.RocHull([curve_of(MIXED)]).interpolate(fpr=1).fpr, 1)


# Stretches that are too short to be shown -------------------------------------------------------------------------


@pytest.mark.law
def test_joined_stretches_cover_all_in_order_and_are_short_themselves():
    for rng in random_worlds(80, stream=1830):
        n, most = int(rng.integers(1, 60)), int(rng.integers(1, 20))
        cuts = np.sort(np.append(rng.random(n - 1) ** rng.choice([1, 4]), [0, 1]))
        missing = np.full(n, np.nan)
        ranges = Ranges(tuple("ab"[i % 2] for i in range(n)), cuts[:-1], cuts[1:], missing, missing)
        parts = ranges.joined(most)
        assert [i for part in parts for i in range(part.start, part.stop)] == list(range(n))
        joined = [part for part in parts if part.stop - part.start > 1]
        assert all(cuts[i + 1] - cuts[i] < 1 / most for part in joined for i in range(part.start, part.stop))
        assert len(parts) <= 2 * most + 1
        if n <= most:
            assert not joined
