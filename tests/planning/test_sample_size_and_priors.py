"""Risks, planning and the hull over priors, against simulation, brute force and closed forms."""

from __future__ import annotations

import itertools
import math
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import costcurves as cc
from laws import random_worlds

C3 = np.array([[0, 1, 2], [3, 0, 1], [9, 2, 0]])


# --- the warning of bcost -----------------------------------------------------------------------------------


def test_an_unseen_expensive_error_is_named_with_the_examples_needed():
    C = cc.CostMatrix([[0, 1], [10_000, 0]], labels=["safe", "crash"])
    with pytest.warns(cc.SmallSampleWarning, match=r"true 'crash' predicted 'safe' \(cost 10000, seen 0 times\)"):
        ci = cc.bcost.from_confusion([[900, 90], [0, 10]], C, method="exact")
    (risk,) = ci.risks
    assert (risk.true, risk.predicted, risk.count, risk.cost) == ("crash", "safe", 0, 10_000)
    assert risk.excess == pytest.approx(10_000 * -math.log(0.05) / 1000)
    half = 1.959964 * math.sqrt(0.09 * 0.91 / 1000)
    assert risk.needed == pytest.approx(1000 * (risk.excess / (1.5 * half)) ** 2, rel=1e-3)
    assert "cannot be judged" in repr(ci)


def test_enough_examples_of_every_costly_error_give_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cc.bcost.from_confusion([[900, 90], [40, 100]], [[0, 1], [100, 0]], method="exact").risks == ()
        assert cc.bcost.from_confusion(np.full((3, 3), 30), C3, method="exact").risks == ()


def test_a_perfect_classifier_rests_on_laplace_alone():
    with pytest.warns(cc.SmallSampleWarning, match="no costly error was seen"):
        ci = cc.bcost.from_confusion([[20, 0], [0, 20]], [[0, 1], [5, 0]], method="exact")
    assert [r.needed for r in ci.risks] == [None, None]
    assert ci.risks[0].cost == 5
    with pytest.warns(cc.SmallSampleWarning):
        zero = cc.bcost.from_confusion([[20, 0], [0, 20]], [[0, 1], [5, 0]], laplace=0, method="exact")
    assert (zero.estimate, zero.lower, zero.upper) == (0, 0, 0)


def test_a_class_of_few_examples_bounds_the_risk_by_its_own_frequency():
    # A class that deployment has 1 % of cannot add more than 1 % of its cost.
    C = [[0, 1], [1000, 0]]
    with pytest.warns(cc.SmallSampleWarning):
        ci = cc.bcost.from_confusion([[90, 10], [0, 2]], C, priors=[0.99, 0.01], method="exact")
    assert ci.risks[0].excess <= 0.01 * 1000


# --- planning -----------------------------------------------------------------------------------------------


def test_the_planned_n_gives_the_half_width_and_slightly_fewer_do_not():
    pilot, C = np.array([[90, 10, 3], [4, 50, 2], [3, 6, 30]]), C3
    plan = cc.plan_test_size(pilot, C, half_width=0.08, laplace=0)
    q = pilot.ravel() / pilot.sum()
    rng = np.random.default_rng(0)

    def half_width(n):
        draws = rng.multinomial(n, q, 200_000) @ C.ravel() / n
        return float(np.diff(np.quantile(draws, [0.025, 0.975]))[0]) / 2

    assert half_width(plan.n) == pytest.approx(0.08, rel=0.01)
    assert half_width(int(plan.n * 0.9)) > 0.08
    assert plan.n == pytest.approx(plan.n_normal, rel=0.05)
    assert plan.n_normal == math.ceil((1.959963984540054 * plan.std / 0.08) ** 2)


def test_the_range_of_costs_alone_is_always_enough_for_the_normal_formula():
    rng = np.random.default_rng(1)
    for _ in range(20):
        pilot = rng.integers(1, 50, (3, 3))
        C = rng.uniform(0, 10, (3, 3))
        plan = cc.plan_test_size(pilot, C, half_width=0.5, laplace=0)
        assert plan.n_normal <= plan.n_range


def test_required_n_grows_with_the_square_of_the_range():
    pilot = [[900, 90], [5, 5]]
    one = cc.plan_test_size(pilot, [[0, 1], [10, 0]], half_width=0.05)
    ten = cc.plan_test_size(pilot, [[0, 10], [100, 0]], half_width=0.05)
    assert ten.n_normal == pytest.approx(100 * one.n_normal, rel=1e-3)
    assert ten.n_range == pytest.approx(100 * one.n_range, rel=1e-3)


def test_a_plan_names_errors_that_it_may_miss():
    plan = cc.plan_test_size([[500, 100], [0, 10]], cc.CostMatrix([[0, 1], [50, 0]]), half_width=0.3)
    (rare,) = plan.rare
    assert (rare.true, rare.predicted) == (1, 0)
    assert rare.chance_missed == pytest.approx((1 - rare.rate) ** plan.n)
    assert "may miss" in repr(plan)


JOINT = np.array([[[45, 2], [3, 0]], [[0, 5], [11, 34]]])


def test_power_is_what_simulated_tests_reject():
    C = np.array([[0, 1], [5, 0]])
    n = 300
    promised = cc.power(JOINT, C, n)
    rng = np.random.default_rng(2)
    tables = rng.multinomial(n, JOINT.ravel() / JOINT.sum(), 300).reshape(-1, 2, 2, 2)
    rejected = np.mean([cc.bdeltacost.from_joint(t, C, method="exact").significant() for t in tables])
    assert rejected == pytest.approx(promised, abs=0.07)


def test_the_planned_n_reaches_the_power_and_is_the_first_to_do_so():
    C = np.array([[0, 1], [5, 0]])
    plan = cc.plan_test_size(JOINT, C, difference=0.2, power=0.9)
    assert cc.power(JOINT, C, plan.n, difference=0.2) >= 0.9
    assert cc.power(JOINT, C, int(plan.n * 0.95), difference=0.2) < 0.9
    assert plan.n == pytest.approx(plan.n_normal, rel=0.1)
    assert cc.plan_test_size(JOINT, C, difference=-0.2, power=0.9).n == pytest.approx(plan.n, rel=0.1)


def test_power_grows_with_n_and_is_the_level_without_a_difference():
    C = np.array([[0, 1], [5, 0]])
    powers = [cc.power(JOINT, C, n) for n in (50, 200, 800, 3200)]
    assert powers == sorted(powers)
    assert powers[-1] > 0.99
    assert cc.power(JOINT, C, 2000, difference=0.0) == pytest.approx(0.05, abs=0.01)


def test_chances_of_missing_are_binomial():
    assert cc.chance_of_missing(0.01, 100) == pytest.approx(0.99**100)
    assert cc.chance_of_missing(0.01, 300, times=3) == pytest.approx(stats.binom.cdf(2, 300, 0.01))
    assert cc.chance_of_missing(0.0, 10**9) == 1
    assert cc.chance_of_missing(1.0, 1) == 0
    assert cc.chance_of_missing(0.5, 2, times=5) == 1
    for rate, times in ((0.01, 1), (0.3, 4), (1.0, 2), (1e-6, 1)):
        n = cc.examples_to_see(rate, times=times)
        assert cc.chance_of_missing(rate, n, times=times) <= 0.05
        assert n == times or cc.chance_of_missing(rate, n - 1, times=times) > 0.05


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "one of `half_width` and `difference` must be given, got neither"),
        ({"half_width": 1, "difference": 1}, "got both"),
        ({"half_width": 0}, "`half_width` must be > 0"),
        ({"half_width": 1, "level": 2}, "`level` must be in"),
        ({"difference": 0}, "`difference` must be > 0"),
        ({"difference": 0.1}, "`joint` must be k × k × k"),
        ({"half_width": 1, "laplace": -1}, "`laplace` must be >= 0"),
    ],
)
def test_bad_plans_are_refused(arguments, message):
    with pytest.raises(cc.CostCurvesError, match=message):
        cc.plan_test_size([[9, 1], [1, 9]], [[0, 1], [5, 0]], **arguments)


def test_pilots_that_cannot_tell_are_refused():
    with pytest.raises(cc.DataError, match="use laplace > 0"):
        cc.plan_test_size([[9, 0], [0, 9]], [[0, 1], [5, 0]], half_width=0.1, laplace=0)
    with pytest.raises(cc.InputError, match="power"):
        cc.plan_test_size(JOINT, [[0, 1], [5, 0]], difference=0.1, power=1.0)
    with pytest.raises(cc.InputError, match=r"use \.first"):
        cc.plan_test_size(cc.JointConfusion.from_table(JOINT), [[0, 1], [5, 0]], half_width=0.1)
    with pytest.raises(cc.InputError, match="`rate` must"):
        cc.chance_of_missing(2, 10)


# --- the hull over priors -----------------------------------------------------------------------------------


def costs_by_class(confusions, C):
    return {name: (M / M.sum(axis=1, keepdims=True) * C).sum(axis=1) for name, M in confusions.items()}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_two_class_intervals_are_the_brute_force_minimum(seed, m):
    rng = np.random.default_rng(seed)
    tables = {f"c{i}": rng.integers(1, 9, (2, 2)) for i in range(m)}
    C = np.array([[0, rng.integers(1, 9)], [rng.integers(1, 9), 0]])
    hull = cc.prior_hull(tables, C)
    lines = costs_by_class(tables, C) | {
        "always 0": np.array([0, C[1, 0]]),
        "always 1": np.array([C[0, 1], 0]),
    }
    pieces = hull.intervals()
    assert pieces[0].low == 0
    assert pieces[-1].high == 1
    assert all(a.high == b.low for a, b in itertools.pairwise(pieces))
    for piece in pieces:
        for share in (0.1, 0.5, 0.9):
            p = piece.low + share * (piece.high - piece.low)
            least = min((1 - p) * v[0] + p * v[1] for v in lines.values())
            v = lines[piece.name]
            assert (1 - p) * v[0] + p * v[1] == pytest.approx(least, abs=1e-9)
    assert {p.name for p in pieces} <= set(hull.can_be_best)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([False, True]))
def test_three_class_hull_agrees_with_a_grid(seed, trivial):
    rng = np.random.default_rng(seed)
    tables = {f"c{i}": rng.integers(1, 9, (3, 3)) + 6 * np.eye(3, dtype=int) for i in range(4)}
    C = C3 + 0.0
    hull = cc.prior_hull(tables, C, priors={0: (0.1, 0.8)}, trivial=trivial)
    lines = costs_by_class(tables, C)
    if trivial:
        lines |= {f"always {j}": C[:, j] for j in range(3)}
    grid = np.array([(i, j, 60 - i - j) for i in range(61) for j in range(61 - i)]) / 60
    grid = grid[(grid[:, 0] >= 0.1) & (grid[:, 0] <= 0.8)]
    cost = grid @ np.array([lines[name] for name in hull.names]).T
    ordered = np.sort(cost, axis=1)
    for a, name in enumerate(hull.names):
        others = np.delete(cost, a, axis=1).min(axis=1)
        best = float((others - cost[:, a]).max())
        # The margin is Lipschitz in the priors: a grid of 1/60 misses at most the largest cost times 2/60.
        assert best <= hull.margin[a] + 1e-9
        assert best >= hull.margin[a] - 2 * C.max() / 60
        if best > 1e-6:
            assert name in hull.can_be_best
    for point, row in zip(grid[::97], ordered[::97], strict=True):
        assert hull.best(point).cost == pytest.approx(row[0])


def inside(polygon, point):
    x, y = polygon[:, 0], polygon[:, 1]
    cross = (np.roll(x, -1) - x) * (point[1] - y) - (np.roll(y, -1) - y) * (point[0] - x)
    return bool((cross >= -1e-9).all() or (cross <= 1e-9).all())


def area(polygon):
    x, y = polygon[:, 0], polygon[:, 1]
    return abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_three_class_regions_tile_the_allowed_priors(seed):
    rng = np.random.default_rng(seed)
    tables = {f"c{i}": rng.integers(1, 9, (3, 3)) + 9 * np.eye(3, dtype=int) for i in range(4)}
    hull = cc.prior_hull(tables, C3)
    regions = hull.regions()
    assert sum(area(p) for p in regions.values()) == pytest.approx(0.5)
    assert set(regions) <= set(hull.can_be_best)
    strict = {n for n, m in zip(hull.names, hull.margin, strict=True) if m > 1e-4}
    assert strict <= set(regions)
    for point in rng.dirichlet(np.ones(3), 20):
        assert inside(regions[hull.best(point).name], point)


def test_a_dominated_classifier_is_never_best_and_says_by_how_much():
    good, worse = np.array([[90, 10], [10, 90]]), np.array([[80, 20], [20, 80]])
    hull = cc.prior_hull({"good": good, "worse": worse}, [[0, 1], [1, 0]], trivial=False)
    assert hull.never_best == ("worse",)
    assert hull.margin.tolist() == pytest.approx([0.1, -0.1])
    assert hull.best([0.5, 0.5]).name == "good"


def test_doubles_tie():
    table = np.array([[90, 10], [10, 90]])
    hull = cc.prior_hull({"one": table, "two": 10 * table}, [[0, 1], [1, 0]])
    assert hull.only_ties == ("one", "two")
    assert hull.best([0.5, 0.5]).ties == ("two",)
    middle = hull.intervals()[1]
    assert (middle.name, middle.ties) == ("one", ("two",))


def test_a_range_of_costs_is_the_brute_force_over_its_corners():
    rng = np.random.default_rng(7)
    for _ in range(12):
        tables = {f"c{i}": rng.integers(1, 9, (2, 2)) + 4 * np.eye(2, dtype=int) for i in range(3)}
        low = np.array([[0.0, 1.0], [2.0, 0.0]])
        high = np.array([[0.0, 3.0], [7.0, 0.0]])
        hull = cc.prior_hull(tables, (cc.CostMatrix(low), cc.CostMatrix(high)), priors={1: (0.2, 0.6)}, trivial=False)
        rates = np.array([t / t.sum(axis=1, keepdims=True) for t in tables.values()])
        fp, fn, p = np.meshgrid(np.linspace(1, 3, 61), np.linspace(2, 7, 61), np.linspace(0.2, 0.6, 61), indexing="ij")
        cost = np.array([(1 - p) * r[0, 1] * fp + p * r[1, 0] * fn for r in rates])
        reached = [(np.delete(cost, a, axis=0).min(axis=0) - cost[a]).max() for a in range(3)]
        assert (np.array(reached) <= hull.margin + 1e-9).all()
        assert hull.margin == pytest.approx(reached, abs=0.015)


def test_priors_in_a_box_change_who_can_be_best():
    tables = {"careful": [[50, 50], [1, 99]], "bold": [[95, 5], [40, 60]]}
    C = cc.CostMatrix([[0, 1], [1, 0]], labels=["no", "yes"])
    assert cc.prior_hull(tables, C, priors={"yes": (0.7, 0.9)}, trivial=False).can_be_best == ("careful",)
    assert cc.prior_hull(tables, C, priors={"yes": 0.1}, trivial=False).can_be_best == ("bold",)
    (only,) = cc.prior_hull(tables, C, priors={"yes": 0.1}, trivial=False).intervals()
    assert (only.name, only.low, only.high) == ("bold", 0.1, pytest.approx(0.1))


@pytest.mark.parametrize(
    ("tables", "options", "message"),
    [
        ({}, {}, "`confusions` must map"),
        ({"a": [[1, 2], [3, 4]]}, {"priors": {0: (0.8, 0.2)}}, "low <= high"),
        ({"a": [[1, 2], [3, 4]]}, {"priors": {0: 0.3, 1: 0.3}}, "allow a sum of 1"),
        ({"a": [[1, 2], [3, 4]]}, {"priors": {"x": 0.3}}, "only the labels of the cost matrix"),
        ({"a": [[1, 2], [3, 4]]}, {"priors": [0.5, 0.5]}, "must map labels"),
        ({"a": [[1, 2], [3, 4]]}, {"priors": {0: 2}}, r"in \[0, 1\]"),
        ({"a": [[1, 2], [0, 0]]}, {}, "examples of every class that may occur, got none of 1"),
        ({"a": [[1, 2], [3, -4]]}, {}, ">= 0, got -4"),
        ({"always 1": [[1, 2], [3, 4]]}, {}, "must not name a classifier 'always 1'"),
    ],
)
def test_bad_hulls_are_refused(tables, options, message):
    with pytest.raises(cc.CostCurvesError, match=message):
        cc.prior_hull(tables, [[0, 1], [5, 0]], **options)


def test_questions_that_need_other_shapes_are_refused():
    two = cc.prior_hull({"a": [[1, 2], [3, 4]]}, [[0, 1], [5, 0]])
    three = cc.prior_hull({"a": np.ones((3, 3))}, C3)
    low, high = cc.CostMatrix([[0, 1], [1, 0]]), cc.CostMatrix([[0, 2], [2, 0]])
    ranged = cc.prior_hull({"a": [[1, 2], [3, 4]]}, (low, high))
    for call in (two.regions, three.intervals, ranged.intervals, lambda: ranged.best([0.5, 0.5])):
        with pytest.raises(cc.UnsupportedError):
            call()
    with pytest.raises(cc.InputError, match="low <= high"):
        cc.prior_hull({"a": [[1, 2], [3, 4]]}, (high, low))
    ragged = [[0, 1], [5]]
    with pytest.raises(cc.InputError, match="`costs` must be numeric"):
        cc.prior_hull({"a": [[1, 2], [3, 4]]}, (ragged, ragged))
    assert set(two.to_frame("pandas")["state"]) <= {"best", "ties", "never"}


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_two_class_intervals_are_the_ranges_of_the_roc_hull(seed, m):
    rng = np.random.default_rng(seed)
    tables = {f"c{i}": rng.integers(1, 40, (2, 2)) for i in range(m)}
    fp, fn = rng.uniform(0.5, 9, 2)
    ranges = list(cc.RocHull([cc.RocCurve.from_confusion_matrix(t, name=n) for n, t in tables.items()]).ranges())
    C = cc.CostMatrix([[0, fp], [fn, 0]], labels=["negative", "positive"])
    trivial = {"always 'negative'": "always negative", "always 'positive'": "always positive"}
    found = [
        (trivial.get(piece.name, piece.name), piece.low, piece.high)
        for piece in cc.prior_hull(tables, C).intervals()
        if piece.high - piece.low > 1e-9
    ]
    wide = [r for r in ranges if r[2] - r[1] > 1e-8]
    assert [name for name, _, _ in found] == [name for name, _, _ in wide]
    for (_, low, high), (_, pc_low, pc_high) in zip(found, wide, strict=True):
        # pc is the prevalence weighted by the costs.
        assert low * fn / (low * fn + (1 - low) * fp) == pytest.approx(pc_low, abs=1e-9)
        assert high * fn / (high * fn + (1 - high) * fp) == pytest.approx(pc_high, abs=1e-9)


def test_power_against_changed_labels_is_that_of_labels_changed_one_by_one():
    rng = np.random.default_rng(3)
    true, first = rng.integers(0, 3, 4000), rng.integers(0, 3, 4000)
    second = np.where(rng.random(4000) < 0.7, first, rng.integers(0, 3, 4000))
    matrices = [cc.CostMatrix(rng.integers(1, 9, (3, 3)) * (1 - np.eye(3)), labels=[0, 1, 2]) for _ in range(2)]
    joint = cc.JointConfusion.from_predictions(true, first, second, labels=[0, 1, 2])
    n, share = 200, 0.3
    curve = cc.power_curve(joint, matrices, n=n, changed=[0.0, share])
    found = []
    for matrix in matrices:
        rejected = 0
        for _ in range(2000):
            some = rng.integers(0, 4000, n)
            moved = (second[some] + rng.integers(1, 3, n)) % 3
            other = np.where(rng.random(n) < share, moved, second[some])
            costs = matrix.values[true[some], first[some]] - matrix.values[true[some], other]
            rejected += abs(costs.mean()) > 1.959964 * costs.std() / np.sqrt(n)
        found.append(rejected / 2000)
    for end, value in ((curve.low, min(found)), (curve.high, max(found)), (curve.power, np.mean(found))):
        assert abs(end[1] - value) < 0.04
    with pytest.raises(cc.InputError, match="only one of"):
        cc.power_curve(joint, matrices, n=[100, 200], changed=[0.1, 0.2])
    with pytest.raises(cc.InputError, match="`changed` must"):
        cc.power_curve(joint, matrices, n=100, changed=[0.1, 1.2])


def test_coverage_against_laplace_is_counted_interval_by_interval():
    counts, costs = np.array([[40, 5], [3, 12]]), cc.CostMatrix([[0, 1.3], [7.1, 0]])
    curve = cc.laplace_curve(counts, costs, n=60, laplace=[0.0, 0.2, 1.0], n_draws=150, rng=4)
    sets = np.random.default_rng(4).multinomial(60, (counts / 60).ravel(), 150).reshape(-1, 2, 2)
    truth = (counts * costs.values).sum() / 60
    for laplace, share in zip(curve.x, curve.power, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            limits = [cc.bcost.from_confusion(one, costs, method="exact", laplace=laplace) for one in sets]
        held = np.mean([one.lower <= truth <= one.upper for one in limits])
        assert abs(share - held) <= 2 / 150
    assert np.array_equal(curve.low, curve.high)


def test_curves_of_chances_are_drawn_over_what_they_vary():
    joint = [[[45, 2], [3, 0]], [[0, 5], [9, 36]]]
    matrices = [cc.CostMatrix([[0, 1], [c, 0]]) for c in (2, 20)]
    curve = cc.power_curve(joint, matrices, n=100, changed=[0.0, 0.01, 0.1, 1.0])
    display = cc.PowerDisplay.from_results(curve, missed=True, wanted=None)
    np.testing.assert_allclose(display.line_.get_ydata(), 1 - curve.power)
    (bars,) = display.range_
    np.testing.assert_allclose(
        [path.vertices[:, 1] for path in bars.get_paths()], np.stack([1 - curve.low, 1 - curve.high], 1)
    )
    assert display.ax_.get_xscale() == "log"
    assert display.ax_.get_ylabel() == "chance to miss the difference"
    plt.close(display.figure_)
    coverage = cc.PowerDisplay.from_results(
        cc.laplace_curve([[40, 5], [3, 12]], matrices[0], n=50, laplace=[0, 1], n_draws=20)
    )
    assert coverage.ax_.get_ylabel() == "chance to hold the true cost"
    plt.close(coverage.figure_)


@pytest.mark.law
def test_the_default_interval_of_test_sets_of_the_planned_size_has_the_wanted_half_width():
    for rng in random_worlds(1, stream=94):
        costs = [[0, 1], [int(rng.integers(2, 20)), 0]]
        pilot = np.array([[150, int(rng.integers(5, 20))], [int(rng.integers(3, 9)), 25]])
        wanted = 0.02 * costs[1][0]
        n = cc.plan_test_size(pilot, costs, half_width=wanted).n

        def mean_half_width(n, rng=rng, pilot=pilot, costs=costs):
            drawn = rng.multinomial(n, (pilot / pilot.sum()).ravel(), 80).reshape(-1, 2, 2)
            found = [cc.bcost.from_confusion(table, costs) for table in drawn]
            return np.mean([0.5 * (one.upper - one.lower) for one in found])

        assert 0.9 * wanted < mean_half_width(n) < 1.03 * wanted
        assert mean_half_width(int(0.75 * n)) > 1.05 * wanted
