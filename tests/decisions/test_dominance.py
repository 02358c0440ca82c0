"""Dominance and regret."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import costcurves as cc
import oracles
from laws import FUZZ_SEED, random_worlds
from worlds import FINE, MIXED, PERFECT, REVERSED, classifiers, curve_of, predictions, random_classifiers

A = cc.RocCurve.from_rates(0.1, 0.6, name="A")
C = cc.RocCurve.from_rates(0.4, 0.9, name="C")


def all_bends(*worlds):
    """Return every pc at which a cost curve of these points can bend, and the middles between them."""
    bends = sorted({pc for rates in worlds for pc, _ in oracles.envelope_vertices(rates)})
    return [*bends, *((a + b) / 2 for a, b in pairwise(bends))]


def tied_scores(rng):
    """Return labels of both classes and scores with many ties, of up to 10 examples."""
    labels = rng.permutation([0, 1, *rng.integers(0, 2, rng.integers(0, 9))])
    return labels.tolist(), (rng.integers(0, 5, labels.size) + labels * rng.integers(0, 3)).tolist()


@given(predictions(), predictions())
def test_dominance_in_cost_is_that_of_exact_envelopes(first, second):
    one, two = oracles.roc_rates(*first), oracles.roc_rates(*second)
    places = all_bends(one, two)
    better = any(oracles.envelope(one, pc) < oracles.envelope(two, pc) for pc in places)
    expected = oracles.dominates_on_grid(one, two, places) and better
    assert cc.dominates(curve_of(first), curve_of(second)) == expected
    assert cc.dominates(cc.CostCurve(curve_of(first)), curve_of(second)) == expected


@pytest.mark.law
def test_dominance_in_roc_space_is_that_of_the_curves_that_are_averaged():
    both = 0
    for rng in random_worlds(600, stream=901):
        (labels, first), (others, second) = (tied_scores(rng) for _ in range(2))
        one, two = oracles.roc_rates(labels, first), oracles.roc_rates(others, second)
        a, b = curve_of((labels, first)), curve_of((others, second))
        above = oracles.roc_dominates(one, two) and not oracles.roc_dominates(two, one)
        assert cc.dominates(a, b, space="roc") == above
        if above:
            both += 1
            # Every false positive rate of either curve is on a grid of 2520 steps, for classes of up to 10.
            high, low = (cc.average_roc_curves([curve], n_points=2521).tpr for curve in (a, b))
            assert (high >= low - 1e-12).all()
            assert (high > low + 1e-12).any()
    assert FUZZ_SEED is not None or both > 25


def test_a_dent_matters_in_roc_space_only():
    dented = cc.RocCurve.from_rates([0, 0.4, 0.5], [0.5, 0.5, 1], name="dented")
    point = cc.RocCurve.from_rates(0.25, 0.625, name="point")
    assert cc.dominates(dented, point)
    assert not cc.dominates(dented, point, space="roc")


def test_nobody_dominates_itself():
    curve = curve_of(MIXED)
    assert not cc.dominates(curve, curve)
    assert not cc.dominates(curve, curve, space="roc")
    assert cc.dominates(curve_of(PERFECT), curve_of(REVERSED))
    assert cc.dominates(cc.RocHull([A, C]), A)


def test_dominance_refuses():
    with pytest.raises(cc.InputError, match="`space` must be one of 'cost', 'roc', 'points', got 'hull'"):
        cc.dominates(A, C, space="hull")
    with pytest.raises(cc.InputError, match="`a` must be a RocCurve, an average or a hull, got CostCurve"):
        cc.dominates(cc.CostCurve(A), C, space="roc")
    with pytest.raises(cc.InputError, match="`b` must be cost curves or ROC curves, got 5"):
        cc.dominates(A, 5)
    with pytest.raises(cc.UnsupportedError, match="`dominates` needs every point"):
        cc.dominates(curve_of(MIXED, points="hull"), A, space="roc")
    with pytest.raises(cc.InputError, match="`curves` must have different names"):
        cc.dominance([A, A])


@pytest.mark.law
def test_the_dominance_of_many_is_that_of_their_pairs():
    for rng in random_worlds(120, stream=902):
        curves, rates = random_classifiers(rng, most=3, largest=7)
        if rng.random() < 0.3:  # the same classifier under another name
            twin = curves[rng.integers(len(curves))]
            curves.append(twin.renamed("twin"))
            rates["twin"] = rates[twin.name]
        check_dominance(curves, rates)


def check_dominance(curves, rates):
    found = cc.dominance(curves)
    names = [curve.name for curve in curves]
    equal_or_better = {}
    for a in names:
        for b in names:
            places = all_bends(rates[a], rates[b])
            tolerance = Fraction(1, 10**12)
            equal_or_better[a, b] = all(
                oracles.envelope(rates[a], pc) <= oracles.envelope(rates[b], pc) + tolerance for pc in places
            )
    expected = {(a, b) for a in names for b in names if equal_or_better[a, b] and not equal_or_better[b, a]}
    assert set(found.dominated) == expected
    crossing = {(a, b) for a, b, _ in found.pairs}
    assert crossing == {
        (a, b)
        for i, a in enumerate(names)
        for b in names[i + 1 :]
        if not equal_or_better[a, b] and not equal_or_better[b, a]
    }
    absolute = tuple(a for a in names if all(equal_or_better[a, b] for b in names))
    assert found.dominators == absolute
    assert found.dominator == (absolute[0] if absolute else None)
    assert set(found.local_dominators) <= set(names)


def test_equal_curves_dominate_together():
    two = cc.dominance([A, A.renamed("B")])
    assert (two.dominators, two.dominator, two.dominated) == (("A", "B"), "A", ())
    assert repr(two) == "'A' and 'B' are equal and dominate all 2 curves"
    worse = cc.RocCurve.from_rates(0.2, 0.5, name="x")
    three = cc.dominance([A.renamed("B"), worse, A])
    assert (three.dominators, three.dominated) == (("B", "A"), (("A", "x"), ("B", "x")))
    assert repr(three) == "'B' and 'A' are equal and dominate all 3 curves"
    assert cc.dominance([A]).dominators == ("A",)
    assert cc.dominance([A, C]).dominators == ()
    assert cc.dominance([A, C]).dominator is None


def test_crossing_pairs_say_where():
    (a, b, crossings), *rest = cc.dominance([A, C]).pairs
    assert (a, b, rest) == ("A", "C", [])
    assert list(crossings) == pytest.approx([0.5])


# Regret -----------------------------------------------------------------------------------------------------


@given(classifiers(), st.floats(0, 1), st.floats(0, 1))
def test_regret_is_the_difference_to_the_hull_on_a_grid(world, a, b):
    curves, _ = world
    hull = cc.RocHull(curves)
    low, high = sorted((a, b))
    over = cc.OperatingRange.from_pc(low, high)
    regret = cc.regret(curves[0], hull, over=over)
    low, high = over.pc
    grid = low + (high - low) * (np.arange(501) / 500)
    grid = np.clip(grid, low, high)
    loss = cc.CostCurve(curves[0]).evaluate(grid) - hull.evaluate(grid)
    assert regret.largest >= loss.max() - 1e-11
    assert regret.largest <= loss.max() + (high - low) / 100 + 1e-11
    assert np.interp(grid, regret.pc, regret.loss) == pytest.approx(loss, abs=1e-9)
    assert regret.mean == pytest.approx(
        loss.mean() if high - low < 1e-9 else np.trapezoid(loss, grid) / (high - low), abs=2e-3
    )
    assert low - 1e-12 <= regret.at_pc <= high + 1e-12


def test_regret_of_a_curve_that_jumps_has_both_values_at_the_jump():
    roc = curve_of(MIXED, name="m")
    hull = cc.RocHull([roc])
    bayes = cc.CostCurve(roc, "bayes")
    regret = cc.regret(bayes, hull)
    pc = np.setdiff1d(FINE, bayes.breaks)
    jumps = bayes.breaks[1:-1]
    # On either side of each jump the loss is linear up to the corner that is given.
    for place in jumps:
        for side in (-1e-7, 1e-7):
            at = place + side
            exact = bayes.evaluate(at) - hull.evaluate(at)
            assert np.abs(regret.loss[np.isclose(regret.pc, place)] - exact).min() < 1e-5
    assert regret.largest == pytest.approx(max(regret.loss))
    assert regret.largest >= (bayes.evaluate(pc) - hull.evaluate(pc)).max()
    assert regret.mean == pytest.approx(bayes.area() - cc.CostCurve(hull).area())


def test_regret_at_one_condition_is_the_loss_there():
    hull = cc.RocHull([A, C])
    bayes = cc.CostCurve(curve_of(MIXED, name="m"), "bayes")
    for pc in (0, 0.2, 0.5, 1, *bayes.breaks[1:-1]):
        regret = cc.regret(bayes, hull, over=cc.OperatingRange.from_pc(pc, pc))
        at = regret.over.pc[0]
        expected = bayes.evaluate(at) - hull.evaluate(at)
        assert regret.largest == regret.mean == pytest.approx(expected, abs=1e-12)


def test_a_curve_outside_the_hull_can_have_negative_regret():
    regret = cc.regret(curve_of(PERFECT, name="perfect"), cc.RocHull([A]))
    assert regret.largest == 0
    # A costs most where its line meets 1 - pc, at pc = 9/13.
    assert regret.loss.min() == pytest.approx(-4 / 13)
    assert regret.mean == pytest.approx(-cc.CostCurve(A).area())


def test_regret_refuses():
    with pytest.raises(cc.InputError, match="`hull` must be a RocHull, got RocCurve"):
        cc.regret(A, C)
    with pytest.raises(cc.InputError, match="`over` must be an OperatingRange"):
        cc.regret(A, cc.RocHull([A]), over=0.5)


def dominated_by_definition(a, b):
    """Return whether each point of b is dominated by a point of a, and none of a by one of b (2005, section 2)."""
    inner = [[(x, y) for x, y in zip(c.fpr, c.tpr, strict=True) if (x, y) not in ((0, 0), (1, 1))] for c in (a, b)]

    def over(p, q):
        return p[1] > q[1] and p[0] < q[0]

    return (
        bool(inner[1])
        and all(any(over(p, q) for p in inner[0]) for q in inner[1])
        and not any(over(q, p) for p in inner[0] for q in inner[1])
    )


def test_point_domination_is_the_definition():
    rng, found = np.random.default_rng(6), 0
    for _ in range(300):
        curves = []
        for shift in rng.choice([0.0, 2.0], 2):
            n = int(rng.integers(2, 9))
            y = np.append([0, 1], rng.integers(0, 2, n))
            curves.append(cc.RocCurve.from_predictions(y, rng.integers(0, 4, n + 2) + shift * y))
        expected = dominated_by_definition(*curves)
        assert cc.dominates(*curves, space="points") == expected
        found += expected
    assert found > 5
    with pytest.raises(cc.InputError, match="over"):
        cc.dominates(*curves, space="points", over=(0, 0.5))


def test_domination_over_a_region_is_that_of_a_fine_grid():
    rng, grid = np.random.default_rng(7), np.linspace(0, 1, 401)
    seen = {True: 0, False: 0}
    for _ in range(120):
        curves = [
            cc.RocCurve.from_predictions(np.append([0, 1], rng.integers(0, 2, 8)), rng.integers(0, 5, 10)) for _ in "ab"
        ]
        low, high = sorted(rng.choice(grid, 2, replace=False))
        inside = grid[(grid >= low) & (grid <= high)]
        gaps = cc.CostCurve(curves[0]).evaluate(inside) - cc.CostCurve(curves[1]).evaluate(inside)
        told = cc.dominates(*curves, over=(low, high))
        if (gaps > 1e-9).any():
            assert not told
        elif (gaps < -1e-9).any():
            fine = np.linspace(low, high, 40001)
            exact = cc.CostCurve(curves[0]).evaluate(fine) - cc.CostCurve(curves[1]).evaluate(fine)
            assert told == (not (exact > 1e-6).any())
        seen[told] += 1
    assert min(seen.values()) > 5
    left = cc.RocCurve.from_rates([0.05, 0.5], [0.6, 0.7])
    right = cc.RocCurve.from_rates([0.05, 0.5], [0.4, 0.9])
    assert cc.dominates(left, right, space="roc", over=(0, 0.1))
    assert not cc.dominates(left, right, space="roc")
    with pytest.raises(cc.InputError, match="fpr"):
        cc.dominates(left, right, space="roc", over=cc.OperatingCondition(0.5, cost_fp=1, cost_fn=1))


def mixed_curves(rng):
    """Return a cost curve with a policy, an averaged ROC curve, a hull and a ROC curve of few, tied scores."""
    made = []
    for _ in range(5):
        labels, scores = tied_scores(rng)
        made.append(curve_of((labels, scores)))
    bayes = cc.CostCurve(made[0], policy=cc.thresholds.fixed(2))
    return {
        "fixed": bayes,
        "average": cc.average_roc_curves(made[1:3], n_points=11),
        "hull": cc.RocHull([made[3]]),
        "roc": made[4],
    }


@pytest.mark.law
def test_dominance_of_curves_of_any_kind_is_that_of_their_costs_on_a_grid():
    grid = np.linspace(0, 1, 5041)
    for rng in random_worlds(25, stream=905):
        curves = mixed_curves(rng)
        low, high = sorted(rng.choice(grid[::420], 2, replace=False))
        over = None if rng.random() < 0.5 else (float(low), float(high))
        inside = grid if over is None else grid[(grid >= low) & (grid <= high)]
        found = cc.dominance(curves, over=over)
        costs = {
            name: (curve if isinstance(curve, cc.CostCurve) else cc.CostCurve(curve)).evaluate(inside)
            for name, curve in curves.items()
        }
        for a in curves:
            nowhere_worse = all((costs[a] <= costs[b] + 1e-9).all() for b in curves)
            assert nowhere_worse or a not in found.dominators
            clearly_worse = any((costs[a] > costs[b] + 1e-9).any() for b in curves)
            assert clearly_worse or a in found.dominators
        best = np.min([*costs.values(), inside, 1 - inside], axis=0)
        trivial = {"always negative": inside, "always positive": 1 - inside}
        for name, start, stop in found.ranges:
            within = (inside > start + 1e-9) & (inside < stop - 1e-9)
            np.testing.assert_allclose({**costs, **trivial}[name][within], best[within], atol=1e-9)
        assert found.ranges.pc_low[0] == (0 if over is None else low)
        assert found.ranges.pc_high[-1] == (1 if over is None else high)
        np.testing.assert_array_equal(found.ranges.pc_low[1:], found.ranges.pc_high[:-1])
        assert repr(found)


@pytest.mark.law
def test_crossings_in_roc_space_are_where_the_averaged_function_changes_sides():
    from costcurves.curves.averages import tpr_at

    grid, crossed = np.linspace(0, 1, 25201), 0
    for rng in random_worlds(60, stream=906):
        a, b = curve_of(tied_scores(rng)), curve_of(tied_scores(rng))
        found = cc.dominance({"a": a, "b": b}, space="roc")
        gap = tpr_at(a, grid) - tpr_at(b, grid)
        sign = np.where(np.abs(gap) > 1e-12, np.sign(gap), 0)
        told = np.flatnonzero(sign)
        jumps = [(grid[i], grid[j]) for i, j in pairwise(told) if sign[i] != sign[j]]
        places = found.pairs[0][2] if found.pairs else ()
        assert len(places) == len(jumps)
        assert all(low - 1e-9 <= x <= high + 1e-9 for x, (low, high) in zip(places, jumps, strict=True))
        crossed += bool(places)
    assert FUZZ_SEED is not None or crossed > 8


def test_points_and_sets_dominate_as_the_text_of_2005_defines_it():
    def brute(first, second):
        def over(p, q):
            return p[1] > q[1] and p[0] < q[0]

        return all(any(over(p, q) for p in first) for q in second) and not any(
            over(q, p) for p in first for q in second
        )

    rng, seen = np.random.default_rng(3), 0
    for _ in range(300):
        sets = [sorted({(x / 8, y / 8) for x, y in rng.integers(1, 8, (3, 2)) if y >= x} | {(0.25, 0.5)}) for _ in "ab"]
        sets = [sorted({x: max(y for u, y in one if u <= x) for x, _ in one}.items()) for one in sets]
        sets[0] = [(x, min(1.0, y + 0.25)) for x, y in sets[0]]
        sets[1] = [(min(1.0, x + 0.125), y) for x, y in sets[1]]
        curves = [
            cc.RocCurve.from_rates(*zip(*one, strict=True), name=name) for one, name in zip(sets, "ab", strict=True)
        ]
        expected = brute(*sets)
        assert cc.dominates(*curves, space="points") == expected
        assert (cc.dominance(curves, space="points").dominated == (("a", "b"),)) == expected
        seen += expected
    assert 20 < seen < 280
    with pytest.raises(cc.InputError, match="`over` must be None"):
        cc.dominance(curves, space="points", over=(0, 0.5))


def test_gain_takes_what_has_costs():
    hull = cc.RocHull([A])
    same = [C, cc.CostCurve(C), cc.RocHull([C]), cc.average_roc_curves([C, C], n_points=11)]
    gains = [hull.gain(one, over=(0.2, 0.9)) for one in same]
    assert all(one.mean == pytest.approx(gains[0].mean) for one in gains)
    grid = np.linspace(0.2, 0.9, 20001)
    fixed = cc.CostCurve(C, policy=cc.thresholds.point(1))
    saved = np.maximum(cc.CostCurve(hull).evaluate(grid) - fixed.evaluate(grid), 0)
    assert hull.gain(fixed, over=(0.2, 0.9)).mean == pytest.approx(np.mean(saved), abs=1e-5)
    assert hull.gain(fixed, over=(0.2, 0.9)).largest == pytest.approx(saved.max(), abs=1e-5)
