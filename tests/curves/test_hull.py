"""The hull of several classifiers: exact, independent of order, and the same after a round trip through JSON."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import costcurves as cc
import oracles
from costcurves.curves import growing_hull
from costcurves.curves.choices import cheapest_with_alarms, trivial_choices
from laws import random_worlds
from worlds import (
    ALL_TIED,
    FINE,
    GRID,
    MIXED,
    PERFECT,
    REVERSED,
    classifiers,
    curve_of,
    everyone,
    predictions,
    random_classifiers,
)

A = cc.RocCurve.from_rates(0.1, 0.6, name="A")
C = cc.RocCurve.from_rates(0.4, 0.9, name="C")


def decision_parts(hull, pc):
    decision = hull.best(pc)
    return decision.to_dict(), repr(decision)


@given(classifiers())
def test_vertices_are_those_of_fractions_and_each_names_all_its_owners(world):
    curves, rates = world
    hull = cc.RocHull(curves)
    exact = oracles.hull_by_definition(everyone(rates), 1, 1)
    assert hull.fpr.tolist() == [float(x) for x, _ in exact]
    assert hull.tpr.tolist() == [float(y) for _, y in exact]
    for vertex, owners in zip(exact, hull.owners, strict=True):
        reach = {name for name, points in rates.items() if vertex in points}
        names = [name for name, _ in owners]
        if vertex in ((0, 0), (1, 1)):
            assert names == ["always negative" if vertex == (0, 0) else "always positive"]
        else:
            assert names == sorted(reach)
    assert hull.owner == tuple(owners[0][0] for owners in hull.owners)


@given(classifiers())
def test_breaks_are_exact_and_rise_from_0_to_1(world):
    curves, rates = world
    exact = oracles.hull_by_definition(everyone(rates), 1, 1)
    bends = [(b[0] - a[0]) / ((b[0] - a[0]) + (b[1] - a[1])) for a, b in pairwise(exact)]
    breaks = cc.RocHull(curves).breaks
    assert breaks.tolist() == [0.0, *(float(pc) for pc in bends), 1.0]
    assert (np.diff(breaks) >= 0).all()


@given(classifiers())
def test_the_cost_of_the_hull_is_the_least_of_all_lines(world):
    curves, rates = world
    hull = cc.RocHull(curves)
    exact = [float(oracles.envelope(everyone(rates), pc)) for pc in GRID]
    grid = [float(pc) for pc in GRID]
    assert hull.evaluate(grid) == pytest.approx(exact, abs=1e-15)
    assert cc.CostCurve(hull).evaluate(grid) == pytest.approx(exact, abs=1e-15)
    assert (hull.evaluate(FINE) <= np.minimum(FINE, 1 - FINE) + 1e-15).all()


@given(classifiers(), st.randoms())
def test_the_order_of_classifiers_changes_nothing_but_the_order_of_names(world, rng):
    curves, _ = world
    first, second = cc.RocHull(curves), cc.RocHull(rng.sample(curves, len(curves)))
    assert first.to_dict()["vertices"] == second.to_dict()["vertices"]
    # Text, because NaN thresholds are not equal to themselves.
    assert repr(first.owners) == repr(second.owners)
    assert set(first.never_best) == set(second.never_best)
    for pc in (0, 0.25, 0.5, 1, *first.breaks):
        assert decision_parts(first, pc) == decision_parts(second, pc)
    assert first.best_at_fpr(0.3).to_dict() == second.best_at_fpr(0.3).to_dict()


def same_decisions(hull, whole, pcs):
    """Check that two hulls decide alike; where several runners-up cost the same either may name any of them."""
    assert hull.to_dict()["vertices"] == whole.to_dict()["vertices"]
    # Text, because NaN thresholds are not equal to themselves.
    assert repr(hull.owners) == repr(whole.owners)
    assert (hull.names, hull.never_best, hull.can_be_best) == (whole.names, whole.never_best, whole.can_be_best)
    assert repr(hull.ranges()) == repr(whole.ranges())
    for pc in pcs:
        one, other = hull.best(pc), whole.best(pc)
        assert repr(one.ties) == repr(other.ties)
        assert repr(one).splitlines()[:3] == repr(other).splitlines()[:3]
        assert one.runner_up.normalized_cost == pytest.approx(other.runner_up.normalized_cost, abs=1e-12)
        rivals = [cheapest_with_alarms(curve, other.condition) for curve in whole.roc_curves().values()]
        choices = [*trivial_choices(other.condition), *filter(None, rivals)]
        costs = sorted(choice.normalized_cost for choice in choices if choice.classifier != other.classifier)
        if len(costs) == 1 or costs[1] - costs[0] > 1e-9:
            assert repr(one.runner_up) == repr(other.runner_up)


def grown(curves, rng):
    """Return the hull of curves that are added in some number of steps, sometimes by way of a file."""
    first = int(rng.integers(1, len(curves) + 1))
    hull = cc.RocHull(curves[:first])
    while first < len(curves):
        if rng.random() < 0.3:
            hull = cc.RocHull.from_json_text(hull.to_json())
        step = int(rng.integers(1, len(curves) - first + 1))
        hull, first = hull.add(curves[first : first + step]), first + step
    return hull


@pytest.mark.law
def test_a_hull_that_grew_decides_as_the_hull_of_all_curves():
    for rng in random_worlds(200, stream=1501):
        curves, _ = random_classifiers(rng, most=6, largest=8)
        whole = cc.RocHull(curves)
        pcs = [*rng.random(2), rng.choice([0, 1, 1e-9]), rng.choice(whole.breaks)]
        hull = grown(curves, rng)
        same_decisions(hull, whole, pcs)
        again = cc.RocHull.from_json_text(hull.to_json())
        same_decisions(again, whole, pcs[1:3])
        assert again.to_json() == hull.to_json()
        assert whole.to_json() == cc.RocHull.from_json_text(whole.to_json()).to_json()


@pytest.mark.law
def test_hulls_of_larger_test_sets_grow_exactly():
    for rng in random_worlds(10, stream=1502):
        curves = []
        for i in range(12):
            size = int(rng.choice([60, 300]))
            labels = np.append([0, 1], rng.integers(0, 2, size))
            scores = labels * rng.uniform(0, 2) + rng.normal(size=size + 2)
            curves.append(curve_of((labels, scores.round(int(rng.integers(1, 9)))), name=f"{rng.integers(9)}{i}"))
        whole = cc.RocHull(curves)
        same_decisions(grown(curves, rng), whole, [*rng.random(20), *rng.random(5) / 100])


def test_adding_keeps_counts_where_all_share_a_test_set():
    first, second = curve_of(MIXED, name="a"), curve_of(MIXED, name="b")
    hull = cc.RocHull([first]).add(second)
    assert hull.to_roc_curve().to_dict() == cc.RocHull([first, second]).to_roc_curve().to_dict()
    assert hull.to_roc_curve().made_from == "counts"
    assert hull.add(A).to_roc_curve().made_from == "rates"


def test_a_hull_that_grew_keeps_names_and_points_of_use_but_no_curves():
    hull = cc.RocHull([A, C]).add(
        [cc.RocCurve.from_rates(0.12, 0.58, name="next"), cc.RocCurve.from_rates(1, 0.1, name="z")]
    )
    assert (hull.names, hull.never_best) == (("A", "C", "next", "z"), ("next", "z"))
    assert hull.best(0.3).runner_up.classifier == "next"
    assert [hull.points_of(name)[0].tolist() for name in hull.names] == [[0.1], [0.4], [0.12], []]
    for call, what in (
        (lambda: hull.roc_curves(), "roc_curves"),
        (lambda: hull.roc_curve("A"), "roc_curves"),
        (lambda: cc.regret("A", hull), "roc_curves"),
        (lambda: hull.best_at_fpr(0.1), "best_at_fpr"),
        (lambda: hull.best_at_tpr(0.1), "best_at_tpr"),
        (lambda: hull.best_at_capacity(alarms=1, population=2, prevalence=0.5), "best_at_capacity"),
    ):
        with pytest.raises(cc.UnsupportedError, match=f"`{what}` needs the whole curves .* added to or read from JSON"):
            call()
    with pytest.raises(cc.InputError, match="`name` must be one of A, C, next, z, got 'B'"):
        hull.points_of("B")


def test_useless_classifiers_cost_a_name_each():
    rng = np.random.default_rng(1)
    hull = cc.RocHull([A])
    small = len(hull.to_json())
    for i, fpr in enumerate(rng.random(200).tolist()):
        hull = hull.add(cc.RocCurve.from_rates(fpr, fpr * rng.random(), name=f"useless {i}"))
    assert len(hull.never_best) == 200
    assert hull.fpr.size == 3
    kept = json.loads(hull.to_json())
    assert kept["names"] == list(hull.names)
    # At the two ends of pc, where a trivial classifier is best, somebody must be the runner-up.
    assert sum(len(one["fp"]) - 2 for one in kept["classifiers"]) <= 6
    assert len(hull.to_json()) < small + 25 * 200
    assert sum(hull.points_of(name)[0].size for name in hull.names) <= 6


def test_of_equal_classifiers_the_first_by_name_is_the_runner_up_in_whichever_order_they_came():
    next_best = [cc.RocCurve.from_rates(0.12, 0.58, name=name) for name in "cab"]
    for order in permutations(next_best):
        hull = cc.RocHull([A])
        for curve in order:
            hull = hull.add(curve)
        assert hull.best(0.3).runner_up.classifier == "a"
        assert cc.RocHull.from_json_text(hull.to_json()).best(0.3).runner_up.classifier == "a"


def test_what_better_classifiers_replace_is_forgotten():
    rates = np.linspace(0.1, 0.9, 9)
    hull = cc.RocHull([cc.RocCurve.from_rates(rates, rates**0.9, name="0")])
    for i in range(1, 20):
        hull = hull.add(cc.RocCurve.from_rates(rates, rates ** (0.9 - 0.04 * i), name=str(i)))
    assert hull.can_be_best == ("19",)
    kept = {name: hull.points_of(name)[0].size for name in hull.names}
    assert kept == {**dict.fromkeys(hull.names, 0), "18": 9, "19": 9}


def test_an_added_point_is_placed_without_looking_at_all_vertices(monkeypatch):
    angle = np.linspace(0, np.pi / 2, 20_002)[1:-1]
    arc = cc.RocCurve.from_rates(1 - np.cos(angle), np.sin(angle), name="arc")
    hull = cc.RocHull([arc]).add(A)
    asked = []
    turns_right = growing_hull._turns_right
    monkeypatch.setattr(growing_hull, "_turns_right", lambda *points: asked.append(points) or turns_right(*points))
    x = (1 - np.cos(1.0)) - 1e-9  # just outside the arc
    more = hull.add([cc.RocCurve.from_rates(x, np.sin(1.0), name="out"), cc.RocCurve.from_rates(x, 0.5, name="in")])
    assert "out" in more.can_be_best
    gone = hull.fpr.size + 1 - more.fpr.size
    assert 3 <= len(asked) <= gone + 4


@given(classifiers())
def test_what_is_dropped_owns_no_vertex(world):
    curves, rates = world
    hull = cc.RocHull(curves)
    inner = set(oracles.hull_by_definition(everyone(rates), 1, 1)) - {(0, 0), (1, 1)}
    assert set(hull.never_best) == {name for name, points in rates.items() if not inner & set(points)}
    assert set(hull.never_best) | set(hull.can_be_best) == set(hull.names)


def test_equal_classifiers_own_a_point_together_in_any_order():
    tied = [curve_of(MIXED, name=name) for name in ("c", "a", "b")]
    for order in permutations(tied):
        hull = cc.RocHull(order)
        assert set(hull.owner[1:-1]) == {"a"}
        assert all([name for name, _ in owners] == ["a", "b", "c"] for owners in hull.owners[1:-1])
        decision = hull.best(0.45)
        assert (decision.classifier, [tie.classifier for tie in decision.ties]) == ("a", ["b", "c"])


def test_test_sets_of_different_sizes_are_compared_in_exact_rates():
    # 1/3 and 2/3 of three, the same rates of three million, and one that is a millionth better.
    small = cc.RocCurve.from_confusion_matrix([[2, 1], [1, 2]], name="small")
    large = cc.RocCurve.from_confusion_matrix([[2 * 10**6, 10**6], [10**6, 2 * 10**6]], name="large")
    better = cc.RocCurve.from_confusion_matrix([[2 * 10**6 + 1, 10**6 - 1], [10**6, 2 * 10**6]], name="better")
    assert cc.RocHull([small, large]).owners[1][0][0] == "large"
    assert [name for name, _ in cc.RocHull([small, large]).owners[1]] == ["large", "small"]
    assert cc.RocHull([small, large, better]).can_be_best == ("better",)


def test_rates_as_floats_are_not_the_fractions_they_are_near():
    third = cc.RocCurve.from_confusion_matrix([[2, 1], [1, 2]], name="third")
    rounded = cc.RocCurve.from_rates(1 / 3, 2 / 3, name="rounded")
    exact = oracles.hull_by_definition(
        [(Fraction(1, 3), Fraction(2, 3)), (Fraction(1 / 3), Fraction(2 / 3))], Fraction(1), Fraction(1)
    )
    assert cc.RocHull([third, rounded]).fpr.size == len(exact)


@pytest.mark.parametrize(
    "curve",
    [
        curve_of(REVERSED, name="x"),
        curve_of(ALL_TIED, name="x"),
        cc.RocCurve.from_confusion_matrix([[5, 0], [3, 0]], name="x"),
        cc.RocCurve.from_confusion_matrix([[0, 5], [0, 3]], name="x"),
        cc.RocCurve.from_rates(0.4, 0.4, name="x"),
        cc.RocCurve.from_rates(0, 0, name="x"),
        cc.RocCurve.from_rates(1, 1, name="x"),
        cc.RocCurve.from_rates(0.7, 0.2, name="x"),
    ],
)
def test_useless_classifiers_are_dropped_and_the_trivial_ones_decide(curve):
    hull = cc.RocHull([curve])
    assert hull.never_best == ("x",)
    assert hull.owner == ("always negative", "always positive")
    assert hull.breaks.tolist() == [0, 0.5, 1]
    assert hull.best(0.2).classifier == "always negative"
    assert hull.best(0.2).runner_up.normalized_cost >= 0.2
    assert hull.best_at_fpr(0.1).classifier == "always negative"
    assert repr(hull) == "RocHull(2 vertices from 0 of 1 classifiers: none; never best: 'x')"
    assert cc.RocHull.from_json_text(hull.to_json()).to_dict() == hull.to_dict()


def test_a_perfect_classifier_is_best_everywhere():
    hull = cc.RocHull([curve_of(PERFECT, name="x"), A])
    assert hull.breaks.tolist() == [0, 0, 1, 1]
    assert list(hull.ranges()) == [("x", 0.0, 1.0)]
    assert hull.best(0.5).normalized_cost == 0
    assert hull.never_best == ("A",)
    assert hull.best_at_tpr(1.0).classifier == "x"


def test_hulls_from_predictions_and_from_hull_points_are_the_same():
    rng = np.random.default_rng(4)
    y = rng.random(500) < 0.3
    scores = {"a": rng.normal(size=500) + y, "b": (rng.normal(size=500) + 1.2 * y).round(1)}
    full = cc.RocHull.from_predictions(y, scores)
    small = cc.RocHull.from_predictions(y, scores, points="hull")
    assert full.to_dict() == small.to_dict()
    assert decision_parts(full, 0.3) == decision_parts(small, 0.3)
    assert full.to_roc_curve().made_from == "counts"
    weighted = cc.RocHull.from_predictions(y, scores, sample_weight=np.full(500, 3.0))
    assert weighted.fpr == pytest.approx(full.fpr)
    assert weighted.to_roc_curve().made_from == "rates"
    with pytest.raises(cc.UnsupportedError, match="`best_at_fpr` needs every point of the ROC curve, got 'a'"):
        small.best_at_fpr(0.1)


@pytest.mark.parametrize(
    ("curves", "message"),
    [
        ([], "`curves` must not be empty, got 0 curves"),
        ([A, C.renamed("A")], "`curves` must have different names, got 'A' twice: pass name= to each"),
        ([A, 0.5], r"`curves` must be RocCurves, got 0.5 \(float\)"),
        (5, "`curves` must be RocCurves, got 5"),
        ([A.renamed("always negative")], "must not use the names of the trivial classifiers, got 'always negative'"),
    ],
)
def test_hulls_refuse(curves, message):
    with pytest.raises(cc.InputError, match=message):
        cc.RocHull(curves)


def test_adding_refuses_a_name_that_is_taken():
    with pytest.raises(cc.InputError, match="`another` must have different names, got 'A' twice"):
        cc.RocHull([A]).add(C.renamed("A"))
    with pytest.raises(cc.InputError, match="`another` must have different names, got 'C' twice"):
        cc.RocHull([A]).add([C, C])
    with pytest.raises(cc.InputError, match="`another` must have different names, got 'z' twice"):
        cc.RocHull([A]).add(cc.RocCurve.from_rates(0.9, 0.1, name="z")).add(A.renamed("z"))
    with pytest.raises(cc.InputError, match="`another` must not use the names of the trivial classifiers"):
        cc.RocHull([A]).add(C.renamed("always positive"))
    with pytest.raises(cc.InputError, match=r"`scores` must map names to columns \(a dict or a dataframe\), got list"):
        cc.RocHull.from_predictions([0, 1], [0.1, 0.2])


def test_a_mapping_names_its_curves():
    assert cc.RocHull({"one": A, "two": C}).names == ("one", "two")


# JSON -------------------------------------------------------------------------------------------------------


@given(predictions(), st.data())
def test_weights_survive_json_to_the_last_bit(data, draw):
    weights = draw.draw(st.lists(st.floats(1e-3, 1e3), min_size=len(data[0]), max_size=len(data[0])))
    hull = cc.RocHull([curve_of(data, name="w", sample_weight=weights)])
    again = cc.RocHull.from_json_text(hull.to_json())
    assert again.fpr.tolist() == hull.fpr.tolist()
    assert again.tpr.tolist() == hull.tpr.tolist()
    assert json.loads(again.to_json())["classifiers"] == json.loads(hull.to_json())["classifiers"]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=5, unique=True))
@example([1e308, -1e308])
def test_thresholds_of_any_size_survive_json(cuts):
    cuts = sorted(cuts, reverse=True)
    rates = np.arange(1, len(cuts) + 1) / (len(cuts) + 1)
    hull = cc.RocHull([cc.RocCurve.from_rates(rates**2, rates, thresholds=cuts, name="x")])
    assert cc.RocHull.from_json_text(hull.to_json()).thresholds.tolist() == hull.thresholds.tolist()


@given(st.floats(0, 1), st.floats(0, 1))
@example(0.0, 5e-324)
@example(1.0, 1 - 2.0**-53)
@example(5e-324, 1e-323)
def test_a_point_above_the_diagonal_is_on_the_hull_however_near_it_is(fpr, tpr):
    curve = cc.RocCurve.from_rates(fpr, tpr, name="x")
    assert (cc.RocHull([curve]).can_be_best == ("x",)) == (tpr > fpr)
    assert (curve.on_hull().fp.size == 3) == (tpr > fpr)


def test_files_hold_only_hull_points_and_strict_json(tmp_path):
    rng = np.random.default_rng(6)
    y = rng.random(400) < 0.5
    hull = cc.RocHull([curve_of((y, rng.normal(size=400) + y), name="größe")])
    path = tmp_path / "hull.json"
    text = hull.to_json(path)
    assert path.read_text(encoding="utf-8") == text
    kept = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert hull.fpr.size <= len(kept["classifiers"][0]["fp"]) < next(iter(hull.roc_curves().values())).fp.size / 10
    assert cc.RocHull.from_json(path).to_dict() == hull.to_dict()
    with pytest.raises(FileNotFoundError):
        cc.RocHull.from_json(tmp_path / "none.json")


def document(**changes):
    """Return the JSON text of a good hull with some fields of its classifier changed."""
    base = json.loads(cc.RocHull([curve_of(MIXED, name="m")]).to_json())
    entry = base["classifiers"][0]
    base["names"] = [changes.get("name", "m")] if changes.get("name") is not ... else ["m"]
    for key, value in changes.items():
        if value is ...:
            del entry[key]
        else:
            entry[key] = value
    return json.dumps(base)


def headed(**fields):
    """Return JSON text that says that it is a hull."""
    return json.dumps({"format": "costcurves/roc-hull", "version": 2, **fields})


GOOD = json.loads(document())["classifiers"][0]
LAST = GOOD["fp"][-1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "`text` must be JSON, got an error at line 1"),
        ("{", "`text` must be JSON, got an error at line 1"),
        ("[" * 100_000, "`text` must be JSON, got maximum recursion depth"),
        ("1" * 10_000, "`text` must be JSON, got Exceeds the limit"),
        ("[1]", "`format` must be 'costcurves/roc-hull', got 'list'"),
        ('{"format": "other"}', "`format` must be 'costcurves/roc-hull', got 'other'"),
        ('{"format": "costcurves/roc-hull"}', "`version` must be 2, got None"),
        ('{"format": "costcurves/roc-hull", "version": 1}', "`version` must be 2, got 1: written by another version"),
        ('{"format": "costcurves/roc-hull", "version": "2"}', "`version` must be 2, got '2'"),
        (headed(), "must have all fields of version 2, got KeyError"),
        (headed(names=["a"]), "must have all fields of version 2, got KeyError"),
        (headed(names=["a"], classifiers=3), "must have all fields"),
        (headed(names=["a"], classifiers={"a": 1}), "must have all fields"),
        (headed(names=[], classifiers=[]), r"`names` must be a list of at least one name, got \[\]"),
        (headed(names="a", classifiers=[]), "`names` must be a list of at least one name, got 'a'"),
        (headed(names=["a", "a"], classifiers=[]), "`names` must have different names, got 'a' twice"),
        (headed(names=["a", ["b"]], classifiers=[]), "`names` must be a non-empty string, got"),
        (headed(names=["b"], classifiers=[GOOD]), "`names` must list all classifiers, got no 'm' among them"),
        (document(fp=...), "must have all fields of version 2, got KeyError"),
        (document(name=...), "must have all fields of version 2, got KeyError"),
        (document(name=7), "`names` must be a non-empty string, got 7"),
        (document(max_error=-1), r"`max_error` must be a number in \[0, 1\] for 'm'"),
        (document(effective=[1, 0]), "`effective` must be two numbers > 0 for 'm'"),
        (document(name="always positive"), "must not use the names of the trivial classifiers"),
        (document(made_from="magic"), "`made_from` must be 'counts', 'weights' or 'rates', got 'magic'"),
        (document(made_from=["counts"]), "`made_from` must be"),
        (document(made_from="rates"), "must rise from 0 to `n_neg` and `n_pos`"),
        (document(fp=GOOD["fp"][:-1]), "must have the same length"),
        (document(fp=[[0]]), "must have the same length"),
        (document(fp=[], tp=[], thresholds=[]), "must have the same length >= 2"),
        (document(fp=["a", *GOOD["fp"][1:]]), "`fp` and `tp` must be whole numbers for 'm'"),
        (document(fp=[0.5, *GOOD["fp"][1:]]), "`fp` and `tp` must be whole numbers"),
        (document(fp=[*GOOD["fp"][:-1], 2**70], n_neg=2**70), "must be whole numbers"),
        (document(fp=[None, *GOOD["fp"][1:]]), "must be whole numbers"),
        (document(made_from="weights", fp=[*GOOD["fp"][:-1], math.inf], n_neg=math.inf), "must be finite numbers"),
        (document(made_from="weights", fp=[math.nan, *GOOD["fp"][1:]]), "must be finite numbers"),
        (document(made_from="weights", fp=[-1e308, 1e308, *GOOD["fp"][2:]]), "must rise from 0"),
        (document(fp=[1, *GOOD["fp"][1:]]), "must rise from 0"),
        (document(fp=GOOD["fp"][::-1]), "must rise from 0"),
        (document(tp=[0] * len(GOOD["tp"]), n_pos=0), "must rise from 0"),
        (document(n_neg=LAST + 1), "must rise from 0 to `n_neg`"),
        (document(n_neg=[LAST]), "must rise from 0 to `n_neg`"),
        (document(n_neg=None), "must rise from 0 to `n_neg`"),
        (
            document(
                fp=[0, 0, *GOOD["fp"][1:]],
                tp=[0, 0, *GOOD["tp"][1:]],
                thresholds=["inf", *GOOD["thresholds"]],
                below=["inf", *GOOD["below"]],
            ),
            "rise",
        ),
        (document(thresholds=["high", *GOOD["thresholds"][1:]]), "must be numbers for 'm'"),
        (document(thresholds=[[1], *GOOD["thresholds"][1:]]), "must have all fields|must be numbers"),
        (document(thresholds=[0.5, *GOOD["thresholds"][1:]]), "`thresholds` must fall from inf for 'm'"),
        (document(thresholds=["inf", *GOOD["thresholds"][:0:-1]]), "`thresholds` must fall from inf for 'm'"),
        (document(below=GOOD["below"][1:]), "must have the same length"),
        (document(below=GOOD["thresholds"]), "`below` must be between each of `thresholds` and the next for 'm'"),
        (document(below=["-inf"] * len(GOOD["below"])), "`below` must be between each of `thresholds` and the next"),
    ],
)
def test_hostile_files_are_format_errors(text, message):
    with pytest.raises(cc.FormatError, match=message):
        cc.RocHull.from_json_text(text)


def test_two_classifiers_of_one_name_in_a_file_are_a_format_error():
    base = json.loads(document())
    base["classifiers"] *= 2
    with pytest.raises(cc.FormatError, match="must have different names, got 'm' twice"):
        cc.RocHull.from_json_text(json.dumps(base))


def test_a_binary_file_is_a_format_error(tmp_path):
    (tmp_path / "hull.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(cc.FormatError, match="`path` must be a UTF-8 text file, got"):
        cc.RocHull.from_json(tmp_path / "hull.json")


@given(classifiers(), st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted))
def test_the_segment_of_a_range_has_every_vertex_that_is_best_somewhere_in_it(world, span):
    hull = cc.RocHull(world[0])
    low, high = span
    part = hull.segment(cc.OperatingRange.from_pc(low, high))
    inner = np.linspace(low, high, 41)[1:-1]
    best = {(hull.best(float(pc)).fpr, hull.best(float(pc)).tpr) for pc in inner}
    assert best <= set(zip(hull.fpr.tolist(), hull.tpr.tolist(), strict=True))
    kept = set(zip(hull.fpr[part].tolist(), hull.tpr[part].tolist(), strict=True))
    for pc in inner:
        assert min(pc * (1 - y) + (1 - pc) * x for x, y in kept) == pytest.approx(hull.evaluate(pc), abs=1e-12)


def test_a_range_is_no_condition_and_the_error_says_who_takes_it():
    hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="expert")])
    span = cc.OperatingRange(prevalence=(0.1, 0.4), cost_fp=1, cost_fn=5)
    with pytest.raises(cc.InputError, match=r"one condition; `within` takes ranges, got OperatingRange"):
        hull.best(span)


def test_a_mixture_at_a_vertex_is_no_mixture():
    hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A")])
    for fpr, text in {0.0: "always negative", 0.1: "A", 1.0: "always positive"}.items():
        assert repr(hull.interpolate(fpr=fpr)).startswith(f"Mixture({text}: fpr={fpr:g},")
