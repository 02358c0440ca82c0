"""Numbers that the papers print."""

from __future__ import annotations

import numpy as np
import pytest

import costcurves as cc

TEN_TO_ONE = 1 / 11


def test_scenarios_a_and_b_of_1997_have_slopes_10_and_a_tenth():
    a = cc.OperatingCondition(prevalence=TEN_TO_ONE, cost_fp=1, cost_fn=1)
    b = cc.OperatingCondition(prevalence=TEN_TO_ONE, cost_fp=1, cost_fn=100)
    assert a.slope == pytest.approx(10, rel=1e-14)
    assert b.slope == pytest.approx(1 / 10, rel=1e-14)
    assert (a.pc, b.pc) == (pytest.approx(1 / 11), pytest.approx(10 / 11))


def test_the_sensitivity_analysis_of_1997_spans_slopes_from_a_20th_to_a_5th():
    over = cc.OperatingRange(prevalence=(TEN_TO_ONE, TEN_TO_ONE), cost_fp=(5, 10), cost_fn=(500, 1000))
    assert over.slope == (pytest.approx(1 / 20), pytest.approx(1 / 5))
    assert over.pc == (pytest.approx(5 / 6), pytest.approx(20 / 21))


def test_only_classifiers_whose_slopes_meet_the_range_can_be_best_in_it():
    # Hull edges of slope 6, 1, 1/4 and 1/10: the range 1/20..1/5 meets only the last two vertices.
    hull = cc.RocHull(
        [
            cc.RocCurve.from_rates(0.05, 0.3, name="A"),
            cc.RocCurve.from_rates(0.35, 0.6, name="B"),
            cc.RocCurve.from_rates(0.35, 0.85, name="C"),
            cc.RocCurve.from_rates(0.55, 0.955, name="D"),
        ]
    )
    over = cc.OperatingRange(prevalence=TEN_TO_ONE, cost_fp=(5, 10), cost_fn=(500, 1000))
    assert hull.within(over).candidates == ("D", "always positive")
    assert hull.never_best == ("B",)


def test_the_null_strategy_is_best_where_the_first_edge_is_flatter_than_the_slope():
    # Doing nothing is best while m >= tpr/fpr of the steepest point seen from the origin.
    hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A"), cc.RocCurve.from_rates(0.02, 0.2, name="B")])
    ranges = hull.ranges()
    assert ranges.classifier[0] == "always negative"
    assert ranges.slope_low[0] == pytest.approx(10)
    assert ranges.slope_high[0] == np.inf
    assert list(ranges.where("always negative")) == [pytest.approx((0, 1 / 11))]
    assert hull.best(cc.OperatingCondition(prevalence=1 / 12, cost_fp=1, cost_fn=1)).classifier == "always negative"
    assert hull.best(cc.OperatingCondition(prevalence=1 / 10, cost_fp=1, cost_fn=1)).classifier == "B"


def test_the_alarms_a_workforce_can_handle_lie_on_a_line():
    hull = cc.RocHull([cc.RocCurve.from_rates([0.005, 0.012, 0.02], [0.1, 0.15, 0.4], name="x")])
    choice = hull.best_at_capacity(alarms=200, population=10_000, prevalence=0.05)
    # 500 positives and 9500 negatives: 97.5, 189 and 390 alarms.
    assert (choice.fpr, choice.tpr) == (0.012, 0.15)
    assert choice.alarms == pytest.approx(189)
    mixed = choice.mixture
    assert mixed.tpr * 500 + mixed.fpr * 9500 == pytest.approx(200)


# Holte and Drummond 2005, figures 9 and 10 ------------------------------------------------------------------

FIRST = cc.RocCurve.from_rates(0.04, 0.4, name="first")
SECOND = cc.RocCurve.from_rates(0.3, 0.8, name="second")


def test_the_averaged_cost_curve_of_2005_is_the_mean_cost_everywhere():
    average = cc.average_cost_curves([FIRST, SECOND])
    pc = np.linspace(0, 1, 501)
    mean = (cc.CostCurve(FIRST).evaluate(pc) + cc.CostCurve(SECOND).evaluate(pc)) / 2
    assert average.evaluate(pc) == pytest.approx(mean, abs=1e-15)


def test_the_averaged_roc_curve_of_2005_is_worse_than_the_average_performance():
    # At one slope both classifiers are in use at their points: the isoperformance line through the two.
    pc = 0.26 / 0.66
    costs = [cc.CostCurve(curve).evaluate(pc) for curve in (FIRST, SECOND)]
    assert costs[0] == pytest.approx(costs[1])
    averaged_cost = cc.average_cost_curves([FIRST, SECOND]).evaluate(pc)
    assert averaged_cost == pytest.approx(costs[0], abs=1e-15)
    averaged_roc = cc.average_roc_curves([FIRST, SECOND], n_points=1001).to_roc_curve()
    assert cc.CostCurve(averaged_roc).evaluate(pc) > averaged_cost + 0.02
    # By hand, the average at fpr 0.04 is (0.4 + 0.8·0.04/0.3)/2 and at 0.3 it is (0.4 + 0.6·0.26/0.96 + 0.8)/2.
    assert np.interp(0.04, averaged_roc.fpr, averaged_roc.tpr) == pytest.approx(0.2 + 0.4 * 0.04 / 0.3)
    assert np.interp(0.3, averaged_roc.fpr, averaged_roc.tpr) == pytest.approx(0.6 + 0.3 * 0.26 / 0.96)


def test_the_averaged_roc_curve_is_nowhere_better_than_the_average_performance():
    averaged_roc = cc.CostCurve(cc.average_roc_curves([FIRST, SECOND], n_points=201))
    average = cc.average_cost_curves([FIRST, SECOND])
    assert len(averaged_roc.better_than(average)) == 0


def test_a_classifier_s_operating_range_is_that_of_2005():
    # A line from (0, fpr) to (1, fnr) meets pc at fpr/(tpr + fpr) and 1 - pc at (1 - fpr)/((1 - fpr) + fnr).
    low, high = next(iter(cc.CostCurve(FIRST).operating_range()))
    assert (low, high) == (pytest.approx(0.04 / 0.44), pytest.approx(0.96 / 1.56))


def test_german_credit_costs_five_to_one():
    condition = cc.OperatingCondition.from_cost_matrix([[0, 1], [5, 0]], prevalence=0.3)
    assert condition.pc == pytest.approx(15 / 22)
    assert cc.bayes_threshold(condition) == pytest.approx(1 / 6)


# Dugas and Gadoury 2008, equations 4 to 13 --------------------------------------------------------------------

Y = np.array([1, 1, 1, 0, 0, 0, 0])
ONE = np.array([0.9, 0.6, 0.2, 0.7, 0.3, 0.1, 0.8])
OTHER = np.array([0.8, 0.3, 0.6, 0.2, 0.9, 0.4, 0.1])


def costs_of(score, pc, p_pos):
    """What each example contributes to the normalized cost of a sample of the same size, at the threshold 0.5."""
    return np.where(Y == 1, (score < 0.5) * pc / p_pos, (score >= 0.5) * (1 - pc) / (1 - p_pos))


def every_resample(values, sampling):
    """The mean of every resample, drawn from all examples or within each class."""
    parts = [Y >= 0] if sampling == "full" else [Y == 1, Y == 0]
    sums = np.zeros(1)
    for part in parts:
        for _ in range(part.sum()):
            sums = (sums[:, None] + values[part]).ravel()
    return sums / Y.size


@pytest.mark.parametrize("sampling", ["stratified", "full"])
@pytest.mark.parametrize("pc", [0.2, 0.7])
def test_the_four_distributions_of_2008_are_those_of_all_resamples(sampling, pc):
    one = cc.CostCurve.from_predictions(Y, ONE, policy=0.5)
    asked = {"policy": 0.5, "sampling": sampling, "method": "gaussian", "simultaneous": False, "pc": [pc], "level": 0.9}
    both = cc.compare(Y, ONE, OTHER, **asked)
    cost = every_resample(costs_of(ONE, pc, 3 / 7), sampling)
    difference = every_resample(costs_of(ONE, pc, 3 / 7) - costs_of(OTHER, pc, 3 / 7), sampling)
    for found, all_of in ((one.distribution(pc, sampling=sampling), cost), (both.distribution(pc), difference)):
        assert found.mean == pytest.approx(all_of.mean(), abs=1e-12)
        assert found.std == pytest.approx(all_of.std(), abs=1e-9)
        for share in (0.05, 0.5, 0.95):
            low, high = np.quantile(all_of, [share - 1e-3, share + 1e-3], method="inverted_cdf")
            assert low - 1e-3 <= found.quantile(share) <= high + 1e-3
    z = 1.6448536269514722
    band = one.band(method="gaussian", sampling=sampling, pc=[pc], level=0.9)
    assert band.upper[0] == pytest.approx(cost.mean() + z * cost.std())
    assert (both.lower[0], both.upper[0]) == (
        pytest.approx(difference.mean() - z * difference.std()),
        pytest.approx(difference.mean() + z * difference.std()),
    )
    if sampling == "full":
        # Equation 9 divides by the largest cost of an example.
        largest = max(pc / (3 / 7), (1 - pc) / (4 / 7))
        assert band.per_largest_cost(3 / 7).upper[0] == pytest.approx((cost.mean() + z * cost.std()) / largest)
        # So does equation 11, for a difference.
        found_difference = both.band.per_largest_cost(3 / 7).lower[0]
        assert found_difference == pytest.approx((difference.mean() - z * difference.std()) / largest)
