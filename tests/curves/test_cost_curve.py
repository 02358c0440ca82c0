"""Cost curves: the envelope, its areas, and other fields' numbers as views of it."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import costcurves as cc
import oracles
import peers
import r_bridge
from laws import law
from worlds import ALL_TIED, FINE, GRID, MIXED, NAMED, PERFECT, REVERSED, TWO, curve_of, folds, predictions

EXPERT = cc.RocCurve.from_rates(0.1, 0.6, name="expert")


def probabilities(data):
    """Return the data with scores strictly between 0 and 1, which dcurves needs."""
    labels, scores = data
    return labels, [(score + 0.3) / 1.7 for score in scores]


# The envelope -----------------------------------------------------------------------------------------------


@given(predictions())
def test_the_envelope_is_the_least_of_all_lines(data):
    roc = curve_of(data)
    curve = cc.CostCurve(roc)
    exact = [float(oracles.envelope(oracles.roc_rates(*data), pc)) for pc in GRID]
    assert curve.evaluate([float(pc) for pc in GRID]) == pytest.approx(exact, abs=1e-15)
    assert curve.evaluate(FINE) == pytest.approx(curve.lines().evaluate(FINE).min(axis=-1), abs=1e-15)


@given(predictions())
def test_vertices_are_those_of_exact_arithmetic(data):
    exact = oracles.envelope_vertices(oracles.roc_rates(*data))
    found = cc.CostCurve(curve_of(data)).vertices
    assert found == pytest.approx(np.array(exact, dtype=float), abs=1e-15)


@given(predictions())
def test_vertices_increase_are_concave_and_below_both_trivial_lines(data):
    pc, cost = cc.CostCurve(curve_of(data)).vertices.T
    assert (np.diff(pc) > 0).all()
    assert (pc[0], cost[0], pc[-1], cost[-1]) == (0, 0, 1, 0)
    assert (np.diff(np.diff(cost) / np.diff(pc)) < 0).all()
    assert (cost <= np.minimum(pc, 1 - pc) + 1e-15).all()


def test_rocr_finds_the_same_cost_curves():
    sets = [*NAMED.values(), *oracles.random_tied_sets(40, seed=41)]
    for data, vertices in zip(sets, r_bridge.rocr_ecost(sets), strict=True):
        found = cc.CostCurve(curve_of(data)).vertices
        assert found == pytest.approx(np.array(r_bridge.merge_close(vertices)), abs=1e-12)


@given(predictions())
def test_swapping_the_classes_mirrors_pc(data):
    labels, scores = data
    curve = cc.CostCurve(curve_of(data))
    mirrored = cc.CostCurve(curve_of(([1 - label for label in labels], [-score for score in scores])))
    assert mirrored.evaluate(FINE) == pytest.approx(curve.evaluate(FINE[::-1]), abs=1e-15)
    assert mirrored.vertices[:, 1] == pytest.approx(curve.vertices[::-1, 1], abs=1e-15)


@pytest.mark.filterwarnings("ignore::costcurves.WorseThanChanceWarning")  # of three copies of few reversed rows
@given(predictions(), st.randoms())
def test_transforms_duplicates_and_row_order_change_nothing(data, rng):
    labels, scores = data
    curve = cc.CostCurve(curve_of(data))
    rows = rng.sample(list(zip(labels, scores, strict=True)), len(labels))
    for other in (
        curve_of((labels, [np.exp(9 * score) for score in scores])),
        curve_of((labels * 3, scores * 3)),
        curve_of(tuple(zip(*rows, strict=True))),
        curve_of(data, sample_weight=[2.5] * len(labels)),
        curve_of(data, points="hull"),
    ):
        assert cc.CostCurve(other).vertices == pytest.approx(curve.vertices, abs=1e-15)


def test_cost_curves_from_predictions_are_those_of_the_roc_curve():
    for policy in ("optimal", "bayes", 0.5):
        direct = cc.CostCurve.from_predictions(*MIXED, policy=policy)
        assert direct.vertices.tolist() == cc.CostCurve(curve_of(MIXED), policy).vertices.tolist()


@pytest.mark.parametrize(
    ("data", "vertices"),
    [
        (PERFECT, [[0, 0], [1, 0]]),
        (TWO, [[0, 0], [1, 0]]),
        (REVERSED, [[0, 0], [0.5, 0.5], [1, 0]]),
        (ALL_TIED, [[0, 0], [0.5, 0.5], [1, 0]]),
    ],
)
def test_cost_curves_of_named_cases(data, vertices):
    assert cc.CostCurve(curve_of(data)).vertices.tolist() == vertices


def test_a_jump_has_two_vertices():
    curve = cc.CostCurve(curve_of(([0, 1, 1], [0.5, 0.25, 0.75])), "bayes")
    pc = curve.vertices[:, 0].tolist()
    assert sorted(pc) == pc
    assert len(set(pc)) < len(pc)


@given(predictions(), st.floats(0.01, 0.99), st.floats(0.1, 50), st.floats(0.1, 50))
def test_the_least_money_is_that_of_brute_force(data, prevalence, cost_fp, cost_fn):
    labels, scores = data
    condition = cc.OperatingCondition(prevalence, cost_fp=cost_fp, cost_fn=cost_fn)
    tried = [
        oracles.expected_cost_by_counting(labels, scores, t, prevalence=prevalence, cost_fp=cost_fp, cost_fn=cost_fn)
        for t in [float("inf"), *scores]
    ]
    assert cc.CostCurve(curve_of(data)).expected_cost(condition) == pytest.approx(float(min(tried)))


def test_expected_cost_includes_the_baseline():
    condition = cc.OperatingCondition.from_cost_matrix([[1, 11], [51, 1]], prevalence=0.2)
    assert cc.CostCurve(EXPERT, name="e").expected_cost(condition) == pytest.approx(1 + 0.2 * 0.4 * 50 + 0.8 * 0.1 * 10)


@pytest.mark.parametrize("pc", [-0.1, 1.1, float("nan"), [0.5, 2]])
def test_pc_outside_the_unit_interval_is_refused(pc):
    with pytest.raises(cc.InputError, match=r"`pc` must be in \[0, 1\], got"):
        cc.CostCurve(EXPERT).evaluate(pc)


# The operating range ----------------------------------------------------------------------------------------


@given(predictions(), st.sampled_from(["optimal", "bayes", 0.5]))
def test_the_operating_range_is_where_both_trivial_lines_are_beaten(data, policy):
    curve = cc.CostCurve(curve_of(data), policy)
    pc = np.setdiff1d(FINE, curve.breaks)
    trivial = np.minimum(pc, 1 - pc)
    inside = curve.operating_range().contains(pc)
    cost = curve.evaluate(pc)
    assert inside[cost < trivial - 1e-9].all()
    ends = np.array([end for interval in curve.operating_range() for end in interval])
    clear = (np.abs(pc[:, None] - ends) > 1e-9).all(axis=1)
    assert not inside[(cost > trivial + 1e-9) & clear].any()


def test_operating_ranges_of_named_cases():
    assert list(cc.CostCurve(curve_of(PERFECT)).operating_range()) == [(0, 1)]
    for data in (REVERSED, ALL_TIED):
        assert list(cc.CostCurve(curve_of(data)).operating_range()) == []
    assert list(cc.CostCurve(cc.RocCurve.from_confusion_matrix([[5, 0], [5, 0]])).operating_range()) == []


# Areas ------------------------------------------------------------------------------------------------------


@given(predictions())
def test_the_area_is_that_of_the_trapezoids_between_exact_vertices(data):
    exact = oracles.envelope_vertices(oracles.roc_rates(*data))
    area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(exact))
    assert cc.CostCurve(curve_of(data)).area() == pytest.approx(float(area), abs=1e-14)


@settings(max_examples=30)
@given(predictions(), st.floats(0, 1), st.floats(0, 1), st.sampled_from(["optimal", "bayes", 0.5]))
def test_areas_of_parts_add_up_and_agree_with_sums(data, a, b, policy):
    curve = cc.CostCurve(curve_of(data), policy)
    a, b = sorted((a, b))
    parts = [curve.area((0, a)), curve.area((a, b)), curve.area((b, 1))]
    assert sum(parts) == pytest.approx(curve.area(), abs=1e-13)
    middles = (np.arange(20_000) + 0.5) / 20_000
    inside = middles[(middles > a) & (middles < b)]
    assert parts[1] == pytest.approx(curve.evaluate(inside).sum() / 20_000, abs=2e-4)


@settings(max_examples=20)
@given(predictions(), st.floats(0.5, 8), st.floats(0.5, 8))
def test_weighted_areas_agree_with_scipy(data, a, b):
    from scipy.integrate import quad
    from scipy.stats import beta

    curve = cc.CostCurve(curve_of(data))
    weighted = curve.area((0.1, 0.9), weight=cc.Beta(a, b))
    corners = [pc for pc in curve.breaks[1:-1] if 0.1 < pc < 0.9]
    numeric, _ = quad(lambda x: curve.evaluate(x) * beta.pdf(x, a, b), 0.1, 0.9, points=corners or None, limit=200)
    assert weighted == pytest.approx(numeric, abs=1e-7)
    assert curve.area((0.1, 0.9), weight=beta(a, b)) == pytest.approx(weighted, abs=1e-9)
    assert curve.area((0.1, 0.9), weight=lambda x: beta.pdf(x, a, b)) == pytest.approx(weighted, abs=1e-9)


def test_a_uniform_beta_is_no_weight():
    curve = cc.CostCurve(curve_of(MIXED))
    assert curve.area(weight=cc.Beta(1, 1)) == pytest.approx(curve.area(), abs=1e-14)
    assert curve.area(weight=lambda pc: np.ones_like(pc)) == pytest.approx(curve.area(), abs=1e-14)
    assert curve.area((0.3, 0.3)) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"over": (0.7, 0.2)}, r"`over` must be a pair \(low, high\) with low <= high, got \(0.7, 0.2\)"),
        ({"over": 0.5}, r"`over` must be an OperatingRange, .* or a pair \(low, high\) of pc, got 0.5"),
        ({"over": (0, 2)}, r"`over` must be in \[0, 1\], got 2"),
        ({"weight": "beta"}, "`weight` must be a Beta, a density or None, got 'beta'"),
        ({"weight": lambda pc: -pc}, "`weight` must be a density .* >= 0"),
        ({"weight": lambda _: 1.0}, "`weight` must be a density that takes arrays"),
    ],
)
def test_areas_refuse(arguments, message):
    with pytest.raises(cc.InputError, match=message):
        cc.CostCurve(EXPERT).area(**arguments)


# Other fields' numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("severity_ratio", [None, 0.2, 3.0, -1.0])
def test_h_measure_is_that_of_the_hmeasure_package(severity_ratio):
    for data in [MIXED, PERFECT, REVERSED, ALL_TIED, *oracles.random_tied_sets(25, seed=51)]:
        package = peers.h_measure(*data, severity_ratio=severity_ratio)
        sizes = oracles.class_sizes(data[0])
        severity = None if severity_ratio is None else cc.Beta(*peers.h_measure_beta(*sizes, severity_ratio))
        assert cc.CostCurve(curve_of(data)).h_measure(severity=severity) == pytest.approx(package, abs=1e-6)


def test_h_measure_at_another_prevalence_is_the_integral_of_losses():
    curve, p, severity = cc.CostCurve(curve_of(MIXED)), 0.15, cc.Beta(3, 2)
    c = (np.arange(40_000) + 0.5) / 40_000
    weight = c**2 * (1 - c)
    scale = c * (1 - p) + (1 - c) * p
    pc = (1 - c) * p / scale
    loss = (weight * scale * curve.evaluate(pc)).sum() / (weight * scale * np.minimum(pc, 1 - pc)).sum()
    assert curve.h_measure(severity=severity, prevalence=p) == pytest.approx(1 - loss, abs=1e-7)


@given(predictions())
def test_the_brier_score_is_that_of_scikit_learn(data):
    score = cc.CostCurve(curve_of(data), "bayes").brier_score()
    assert score == pytest.approx(peers.sklearn_brier(*data), abs=1e-12)


@given(predictions(), st.data())
def test_the_weighted_brier_score_is_that_of_scikit_learn(data, draw):
    from sklearn.metrics import brier_score_loss

    labels, scores = data
    weights = draw.draw(st.lists(st.floats(0.1, 5), min_size=len(labels), max_size=len(labels)))
    score = cc.CostCurve(curve_of(data, sample_weight=weights), "bayes").brier_score()
    assert score == pytest.approx(brier_score_loss(labels, scores, sample_weight=weights), abs=1e-12)


def test_twice_the_area_of_the_brier_curve_over_cost_shares_is_the_brier_score():
    labels, scores = MIXED
    area = oracles.brier_curve_area(labels, scores, steps=4_000)
    assert cc.CostCurve(curve_of(MIXED), "bayes").brier_score() == pytest.approx(2 * area, abs=1 / 4_000)


def test_net_benefit_is_that_of_dcurves_also_at_a_score():
    for data in map(probabilities, oracles.random_tied_sets(12, seed=61)):
        labels, scores = data
        thresholds = sorted({0.05, 0.3, 0.5, 0.9, *scores})
        curve = cc.CostCurve(curve_of(data), "bayes")
        assert curve.net_benefit(thresholds) == pytest.approx(peers.net_benefit(labels, scores, thresholds))
        counted = [float(oracles.net_benefit_by_counting(labels, scores, t)) for t in thresholds]
        assert curve.net_benefit(thresholds) == pytest.approx(counted)
        assert curve.net_benefit(0.3) == pytest.approx(counted[thresholds.index(0.3)])


def test_net_benefit_at_a_given_prevalence_is_that_of_dcurves():
    for data in map(probabilities, oracles.random_tied_sets(12, seed=62)):
        thresholds = sorted({0.05, 0.2, 0.5, 0.9, *data[1]})
        for prevalence in (0.1, 0.5, 0.85):
            expected = peers.net_benefit(*data, thresholds, prevalence=prevalence)
            for policy in ("bayes", cc.thresholds.bayes(prevalence=0.2), cc.thresholds.bayes(prevalence=prevalence)):
                curve = cc.CostCurve(curve_of(data), policy)
                assert curve.net_benefit(thresholds, prevalence=prevalence) == pytest.approx(expected)


@law(500)
@given(predictions(), st.integers(1, 19), st.integers(1, 19))
def test_net_benefit_counts_who_is_treated(data, twentieths, prevalence):
    labels, scores = probabilities(data)
    t, p = Fraction(twentieths, 20), Fraction(prevalence, 20)
    q = Fraction(sum(labels), len(labels))

    def benefit(values):
        """Return p·tpr - (1-p)·fpr·odds of treating where a value is at least t."""
        treated = [value >= t for value in values]
        tpr = Fraction(sum(y and x for y, x in zip(labels, treated, strict=True)), sum(labels))
        fpr = Fraction(sum(x and not y for y, x in zip(labels, treated, strict=True)), len(labels) - sum(labels))
        return p * tpr - (1 - p) * fpr * t / (1 - t)

    curve = cc.CostCurve(curve_of((labels, scores)), "bayes")
    exact = [Fraction(score).limit_denominator(10**6) for score in scores]
    found = curve.net_benefit(float(t), prevalence=float(p))
    assume(all(abs(value - t) > Fraction(1, 10**9) for value in exact))
    assert found == pytest.approx(float(benefit(exact)), abs=1e-12)
    odds = p * (1 - q) / (q * (1 - p))
    moved = [value * odds / (value * odds + 1 - value) for value in exact]
    assume(all(abs(value - t) > Fraction(1, 10**9) for value in moved))
    again = curve.recalibrated_net_benefit(float(t), prevalence=float(p))
    assert again == pytest.approx(float(benefit(moved)), abs=1e-12)


def test_recalibrated_net_benefit_needs_probabilities():
    with pytest.raises(cc.UnsupportedError, match="`recalibrated_net_benefit` needs policy='bayes', got optimal"):
        cc.CostCurve(curve_of(MIXED)).recalibrated_net_benefit(0.5, prevalence=0.3)


def test_the_optimal_net_benefit_is_the_best_of_all_thresholds():
    labels, _ = MIXED
    curve = cc.CostCurve(curve_of(MIXED))
    for t in (0.1, 0.3, 0.7):
        rates = oracles.roc_rates(*MIXED)
        share = Fraction(sum(labels), len(labels))
        odds = Fraction(t) / (1 - Fraction(t))
        best = max(share * tpr - (1 - share) * fpr * odds for fpr, tpr in rates)
        assert curve.net_benefit(t) == pytest.approx(float(best))


def test_auc_is_that_of_the_roc_curve():
    assert cc.CostCurve(curve_of(MIXED)).auc() == curve_of(MIXED).auc()


def test_other_fields_numbers_refuse_what_they_cannot_know():
    rates, average = cc.CostCurve(EXPERT), cc.average_cost_curves([EXPERT])
    with pytest.raises(cc.InputError, match=r"`prevalence` must be given if the counts are not known, .* 'expert'"):
        rates.h_measure()
    with pytest.raises(cc.InputError, match=r"`severity` must be a Beta, got \(2, 2\)"):
        rates.h_measure(severity=(2, 2), prevalence=0.5)
    with pytest.raises(cc.UnsupportedError, match=r"`brier_score` needs policy='bayes', got optimal\(\)"):
        rates.brier_score()
    with pytest.raises(cc.UnsupportedError, match="needs scores calibrated at the prevalence of the data"):
        cc.CostCurve(curve_of(MIXED), cc.thresholds.bayes(0.2)).brier_score()
    with pytest.raises(cc.InputError, match=r"`threshold` must be in \(0, 1\), got 1"):
        cc.CostCurve(curve_of(MIXED)).net_benefit(1)
    with pytest.raises(cc.UnsupportedError, match="`auc` needs one classifier's ROC points, got 'average'"):
        average.auc()
    with pytest.raises(cc.UnsupportedError, match="`lines` needs one classifier's ROC points"):
        average.lines()


# Averages ---------------------------------------------------------------------------------------------------


@given(st.lists(predictions(), min_size=1, max_size=4))
def test_the_average_cost_curve_is_the_mean_cost_everywhere(sets):
    average = cc.average_cost_curves([curve_of(data) for data in sets])
    exact = oracles.averaged_cost(sets, GRID)
    assert average.evaluate([float(pc) for pc in GRID]) == pytest.approx([float(cost) for cost in exact], abs=1e-14)


def test_averages_take_curves_of_any_policy_and_mappings():
    _, curves = folds(4, seed=8)
    costs = [cc.CostCurve(roc, policy) for roc, policy in zip(curves, ("optimal", 0.5, "bayes", 0.2), strict=True)]
    mean = np.mean([curve.evaluate(FINE) for curve in costs], axis=0)
    found = cc.average_cost_curves({curve.name: curve for curve in costs}, name="mean")
    clear = ~np.isin(FINE, np.concatenate([curve.breaks for curve in costs]))
    assert found.evaluate(FINE)[clear] == pytest.approx(mean[clear])
    assert found.name == "mean"


@pytest.mark.parametrize(
    ("curves", "message"),
    [
        ([], "`curves` must not be empty, got 0 curves"),
        ({}, "`curves` must not be empty, got 0 curves"),
        (5, "`curves` must be a sequence of curves, got 5"),
        ([5], r"`curves` must be cost curves or ROC curves, got 5 \(int\)"),
    ],
)
def test_averages_refuse(curves, message):
    with pytest.raises(cc.InputError, match=message):
        cc.average_cost_curves(curves)
