"""The oracles agree with each other, with scikit-learn, with other packages and with R."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest

import oracles
import peers
import r_bridge

GRID = [Fraction(i, 24) for i in range(25)]
PERFECT = ([0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0])
REVERSED = ([1, 1, 0, 0], [1.0, 2.0, 3.0, 4.0])
ALL_TIED = ([0, 1, 0, 1], [1.0, 1.0, 1.0, 1.0])
# Points (0, 1/3), (1/3, 2/3), (2/3, 1) on one straight line.
COLLINEAR = ([1, 0, 1, 0, 1, 0], [6.0, 5.0, 4.0, 3.0, 2.0, 1.0])
NAMED = {"perfect": PERFECT, "reversed": REVERSED, "all tied": ALL_TIED, "collinear": COLLINEAR}


def small_sets(count: int, seed: int, largest: int = 12) -> list[oracles.Predictions]:
    return [*NAMED.values(), *oracles.random_tied_sets(count, seed=seed, largest=largest)]


def probability_sets(count: int, seed: int, largest: int = 20) -> list[oracles.Predictions]:
    sets = oracles.random_tied_sets(count, seed=seed, largest=largest)
    return [(labels, [(score + 0.3) / (max(scores) + 0.5) for score in scores]) for labels, scores in sets]


def counts(labels: list[int], scores: list[float]) -> list[oracles.Point]:
    return [(fp, tp) for _, fp, tp in oracles.roc_points(labels, scores)]


# ROC points and hull ----------------------------------------------------------------------------------------


def test_roc_points_start_at_infinity_and_collapse_ties():
    assert oracles.roc_points([0, 1, 1, 0], [1.0, 2.0, 2.0, 2.0]) == [
        (math.inf, 0, 0),
        (2.0, 1, 2),
        (1.0, 2, 2),
    ]


def test_roc_points_with_weights_equal_repeated_examples():
    for labels, scores in small_sets(50, seed=1):
        weights = [1 + i % 3 for i in range(len(labels))]
        repeated = [i for i, weight in enumerate(weights) for _ in range(weight)]
        twice = oracles.roc_points([labels[i] for i in repeated], [scores[i] for i in repeated])
        assert oracles.roc_points(labels, scores, weights) == twice


def test_roc_points_equal_scikit_learn():
    for labels, scores in small_sets(150, seed=2):
        n_neg, n_pos = oracles.class_sizes(labels)
        expected = [(t, fp / n_neg, tp / n_pos) for t, fp, tp in oracles.roc_points(labels, scores)]
        assert peers.sklearn_roc(labels, scores) == expected


def test_auc_by_pairs_equals_scikit_learn():
    for labels, scores in small_sets(100, seed=3):
        assert peers.sklearn_auc(labels, scores) == pytest.approx(float(oracles.auc_by_pairs(labels, scores)))


def test_hulls_of_named_cases():
    assert oracles.hull_by_definition(counts(*PERFECT), 2, 2) == [(0, 0), (0, 2), (2, 2)]
    assert oracles.hull_by_definition(counts(*REVERSED), 2, 2) == [(0, 0), (2, 2)]
    assert oracles.hull_by_definition(counts(*ALL_TIED), 2, 2) == [(0, 0), (2, 2)]
    assert oracles.hull_by_definition(counts(*COLLINEAR), 3, 3) == [(0, 0), (0, 1), (2, 3), (3, 3)]


def test_gift_wrapping_equals_the_definition_on_curves():
    for labels, scores in small_sets(400, seed=4):
        points, sizes = counts(labels, scores), oracles.class_sizes(labels)
        assert oracles.hull_by_wrapping(points, *sizes) == oracles.hull_by_definition(points, *sizes)


def test_gift_wrapping_equals_the_definition_on_points_of_several_classifiers():
    sets = list(oracles.random_tied_sets(300, seed=5))
    for (labels, scores), (other_labels, other_scores) in pairwise(sets):
        rates = oracles.roc_rates(labels, scores) + oracles.roc_rates(other_labels, other_scores)
        assert oracles.hull_by_wrapping(rates, 1, 1) == oracles.hull_by_definition(rates, 1, 1)


# Cost space -------------------------------------------------------------------------------------------------


def test_envelope_of_the_hull_is_the_envelope_of_all_points():
    for labels, scores in small_sets(60, seed=6):
        sizes = oracles.class_sizes(labels)
        hull = oracles.to_rates(oracles.hull_by_wrapping(counts(labels, scores), *sizes), *sizes)
        everything = oracles.roc_rates(labels, scores)
        assert [oracles.envelope(hull, pc) for pc in GRID] == [oracles.envelope(everything, pc) for pc in GRID]


def test_envelope_vertices_are_the_slopes_of_hull_edges():
    for labels, scores in small_sets(150, seed=7):
        sizes = oracles.class_sizes(labels)
        hull = oracles.to_rates(oracles.hull_by_wrapping(counts(labels, scores), *sizes), *sizes)
        edges = [(right[0] - left[0], right[1] - left[1]) for left, right in pairwise(hull)]
        bends = {dx / (dx + dy) for dx, dy in edges}
        vertices = oracles.envelope_vertices(oracles.roc_rates(labels, scores))
        assert [pc for pc, _ in vertices] == sorted(bends | {Fraction(0), Fraction(1)})


def test_least_money_by_counting_is_the_envelope_in_money():
    prevalence, cost_fp, cost_fn = Fraction(1, 11), 3, 40
    scale = prevalence * cost_fn + (1 - prevalence) * cost_fp
    for labels, scores in small_sets(60, seed=8):
        money = [
            oracles.expected_cost_by_counting(
                labels, scores, threshold, prevalence=prevalence, cost_fp=cost_fp, cost_fn=cost_fn
            )
            for threshold in [math.inf, *scores]
        ]
        rates = oracles.roc_rates(labels, scores)
        assert min(money) == scale * oracles.envelope(rates, prevalence * cost_fn / scale)


def test_money_at_the_data_s_own_prevalence_is_the_mean_cost_of_the_examples():
    labels, scores = [1, 0, 0, 1, 0], [5.0, 4.0, 3.0, 2.0, 1.0]
    cost = oracles.expected_cost_by_counting(labels, scores, 3.0, prevalence=Fraction(2, 5), cost_fp=10, cost_fn=100)
    assert cost == Fraction(10 + 10 + 100, 5)


def test_who_is_best_names_ties():
    a = (Fraction(1, 4), Fraction(3, 4))
    cost, owners = oracles.who_is_best({"one": [a], "two": [a]}, Fraction(1, 2))
    assert cost == Fraction(1, 4)
    assert owners == {("one", *a), ("two", *a)}


def test_domination_of_curves_implies_domination_of_costs():
    dominated = 0
    sets = list(oracles.random_tied_sets(120, seed=9, largest=8))
    for first, second in pairwise(sets):
        a, b = oracles.roc_rates(*first), oracles.roc_rates(*second)
        if oracles.roc_dominates(a, b):
            dominated += 1
            assert oracles.dominates_on_grid(a, b, GRID)
    assert dominated > 10


def test_a_hull_dominates_what_its_curve_with_a_dent_does_not():
    dented = [(Fraction(0), Fraction(1, 2)), (Fraction(2, 5), Fraction(1, 2)), (Fraction(1, 2), Fraction(1))]
    point = [(Fraction(1, 4), Fraction(5, 8))]
    assert oracles.dominates_on_grid(dented, point, GRID)
    assert not oracles.roc_dominates(dented, point)


# Limits -----------------------------------------------------------------------------------------------------


def test_limits_by_scanning():
    rates = oracles.roc_rates([1, 0, 1, 1, 0, 0], [6.0, 5.0, 4.0, 3.0, 2.0, 1.0])
    third = Fraction(1, 3)
    assert oracles.best_at_fpr(rates, Fraction(1, 4)) == (0, third)
    assert oracles.best_at_fpr(rates, Fraction(2, 3)) == (third, 1)
    assert oracles.best_at_tpr(rates, Fraction(1, 2)) == (third, 1)
    assert oracles.best_at_capacity(rates, alarms=59, population=100, prevalence=Fraction(1, 2)) == (
        third,
        2 * third,
    )
    assert oracles.best_at_capacity(rates, alarms=0, population=100, prevalence=Fraction(1, 2)) == (0, 0)


def test_best_mixture_at_an_fpr_is_the_hull():
    for labels, scores in small_sets(40, seed=10):
        sizes = oracles.class_sizes(labels)
        hull = oracles.to_rates(oracles.hull_by_wrapping(counts(labels, scores), *sizes), *sizes)
        rates = oracles.roc_rates(labels, scores)
        for limit in (Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(1)):
            mixed = oracles.best_mixture(rates, fpr_weight=1, tpr_weight=0, limit=limit)
            assert mixed == oracles.roc_at(hull, limit)


def test_best_mixture_within_capacity_is_never_worse_than_one_point():
    for labels, scores in small_sets(60, seed=11):
        rates = oracles.roc_rates(labels, scores)
        for alarms in (0, 17, 60, 100):
            single = oracles.best_at_capacity(rates, alarms=alarms, population=100, prevalence=Fraction(1, 5))
            mixed = oracles.best_mixture(rates, fpr_weight=80, tpr_weight=20, limit=alarms)
            assert mixed >= single[1]


# Other fields' numbers --------------------------------------------------------------------------------------


def test_twice_the_area_of_the_brier_curve_is_the_brier_score():
    for labels, probabilities in probability_sets(10, seed=12):
        area = oracles.brier_curve_area(labels, probabilities, steps=4_000)
        assert 2 * area == pytest.approx(peers.sklearn_brier(labels, probabilities), abs=1 / 4_000)


@pytest.mark.parametrize("severity_ratio", [None, 0.2, 3.0, -1.0])
def test_h_measure_equals_the_hmeasure_package(severity_ratio):
    for labels, scores in small_sets(12, seed=13):
        a, b = peers.h_measure_beta(*oracles.class_sizes(labels), severity_ratio)
        package = peers.h_measure(labels, scores, severity_ratio=severity_ratio)
        assert oracles.h_measure_numeric(labels, scores, a, b, steps=2_000) == pytest.approx(package, abs=2e-6)


def test_net_benefit_equals_dcurves_also_at_a_tied_threshold():
    for labels, probabilities in probability_sets(8, seed=14):
        thresholds = sorted({0.05, 0.5, 0.9, *probabilities})
        counted = [float(oracles.net_benefit_by_counting(labels, probabilities, t)) for t in thresholds]
        assert peers.net_benefit(labels, probabilities, thresholds) == pytest.approx(counted)


def test_dcurves_never_calls_a_probability_of_zero_positive():
    assert peers.net_benefit([1, 0], [0.0, 0.5], [0.0]) == [0.0]
    assert oracles.net_benefit_by_counting([1, 0], [0.0, 0.5], 0.0) == Fraction(1, 2)


# Averages ---------------------------------------------------------------------------------------------------


def test_averaging_two_points_gives_the_2005_paper_s_mean_cost_but_not_its_point():
    first, second = (Fraction(4, 100), Fraction(40, 100)), (Fraction(30, 100), Fraction(80, 100))
    middle = (Fraction(17, 100), Fraction(60, 100))
    for pc in GRID:
        assert (oracles.line(first, pc) + oracles.line(second, pc)) / 2 == oracles.line(middle, pc)
    averaged = (oracles.roc_at([first], middle[0]) + oracles.roc_at([second], middle[0])) / 2
    assert averaged < middle[1]


def test_averaged_curves_of_equal_folds_are_the_fold_s_own():
    for fold in small_sets(20, seed=15):
        rates = oracles.roc_rates(*fold)
        assert oracles.averaged_roc([fold, fold], GRID) == [oracles.roc_at(rates, fpr) for fpr in GRID]
        assert oracles.averaged_cost([fold, fold], GRID) == [oracles.envelope(rates, pc) for pc in GRID]


def test_the_1998_reading_is_never_below_the_curve_through_all_points():
    for labels, scores in small_sets(40, seed=20):
        rates = oracles.roc_rates(labels, scores)
        assert all(oracles.roc_at(rates, fpr) >= oracles.roc_span(rates, fpr)[1] for fpr in GRID)


def test_averaged_roc_takes_the_highest_tpr_at_equal_fpr_and_interpolates():
    perfect = oracles.averaged_roc([PERFECT, ALL_TIED], [0, Fraction(1, 2), 1])
    assert perfect == [Fraction(1, 2), Fraction(3, 4), 1]


# R ----------------------------------------------------------------------------------------------------------


def test_rocr_cost_curves_have_the_exact_vertices():
    sets = small_sets(60, seed=16)
    for (labels, scores), vertices in zip(sets, r_bridge.rocr_ecost(sets), strict=True):
        exact = oracles.envelope_vertices(oracles.roc_rates(labels, scores))
        merged = r_bridge.merge_close(vertices)
        assert len(merged) == len(exact)
        for found, expected in zip(merged, exact, strict=True):
            assert found == pytest.approx([float(value) for value in expected], abs=1e-12)


def test_rocr_hulls_have_the_exact_vertices_and_at_most_collinear_extras():
    sets = small_sets(400, seed=17)
    for (labels, scores), found in zip(sets, r_bridge.rocr_rch(sets), strict=True):
        n_neg, n_pos = oracles.class_sizes(labels)
        exact = oracles.hull_by_wrapping(counts(labels, scores), n_neg, n_pos)
        vertices = [(fp / n_neg, tp / n_pos) for fp, tp in exact]
        extras = [vertex for vertex in found if vertex not in vertices]
        assert [vertex for vertex in found if vertex in vertices] == vertices
        hull = oracles.to_rates(exact, n_neg, n_pos)
        for fpr, tpr in extras:
            assert float(oracles.roc_at(hull, Fraction(fpr))) == pytest.approx(tpr, abs=1e-12)


def test_proc_areas_equal_pair_counting():
    sets = small_sets(60, seed=18)
    expected = [float(oracles.auc_by_pairs(labels, scores)) for labels, scores in sets]
    assert r_bridge.proc_auc(sets) == pytest.approx(expected)


def test_proc_best_points_have_the_least_cost():
    sets = small_sets(60, seed=19)
    pc = Fraction(3 * 5, 3 * 5 + 7)
    answers = r_bridge.proc_best(sets, prevalence=0.3, cost_fp=1.0, cost_fn=5.0)
    for (labels, scores), best in zip(sets, answers, strict=True):
        least = float(oracles.envelope(oracles.roc_rates(labels, scores), pc))
        assert best
        for fpr, tpr in best:
            assert float(pc) * (1 - tpr) + float(1 - pc) * fpr == pytest.approx(least)


def test_missing_r_skips_but_fails_in_ci(monkeypatch):
    monkeypatch.setattr(r_bridge, "why_r_is_missing", lambda: "Rscript is not on the PATH")
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="Rscript is not on the PATH"):
        r_bridge.require_r()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="Rscript is not on the PATH"):
        r_bridge.require_r()
