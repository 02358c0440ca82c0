"""The whole answer agrees with the parts it is made of: the hull, the bands, the comparisons, the regrets."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import costcurves as cc
from worlds import ALL_TIED

CONDITION = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)
SPAN = cc.OperatingRange(prevalence=(0.1, 0.4), cost_fp=1, cost_fn=(3, 8))
NAMES = ("forest", "logit", "bayes", "tree")


@pytest.fixture(scope="module")
def credit() -> tuple[list[bool], dict[str, list[float]]]:
    with open(cc.example_path("german_credit_scores.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [row["label"] == "bad" for row in rows], {name: [float(row[name]) for row in rows] for name in NAMES}


@pytest.fixture(scope="module")
def over(credit) -> cc.RangeRecommendation:
    return cc.recommend_within(*credit, SPAN)


@pytest.mark.parametrize("pc", [0.0, 0.01, 0.1, 0.25, 0.429, 0.5, 0.682, 0.9, 0.99])
def test_the_best_is_the_hulls_choice(credit, pc):
    answer, decision = cc.recommend(*credit, pc), cc.RocHull.from_predictions(*credit).best(pc)
    assert (answer.best.classifier, answer.best.threshold) == (decision.classifier, decision.threshold)
    assert answer.best.normalized_cost == pytest.approx(decision.normalized_cost, abs=1e-15)


def test_every_row_has_the_cost_and_limits_of_its_curve(credit):
    y, scores = credit
    answer = cc.recommend(y, scores, CONDITION, level=0.9)
    for name in NAMES:
        money = cc.CostCurve.from_predictions(y, scores[name]).band(level=0.9).at(CONDITION).money
        i = answer.index(name)
        found = answer.expected_cost[i], answer.money_lower[i], answer.money_upper[i]
        assert found == pytest.approx((money.estimate, money.lower, money.upper), rel=1e-12)
    assert answer.expected_cost[answer.index("always positive")] == pytest.approx(0.7)
    assert answer.expected_cost[answer.index("always negative")] == pytest.approx(1.5)
    assert list(answer.normalized_cost) == sorted(answer.normalized_cost)


def test_p_values_are_those_of_all_pairs_after_holm(credit):
    answer, tests = cc.recommend(*credit, CONDITION), cc.compare_many(*credit, pc=[0.2, 0.8]).at(CONDITION)
    for pair, plain, adjusted in zip(tests.pairs, tests.p_value, tests.adjusted, strict=True):
        if answer.best.classifier in pair:
            i = answer.index(next(name for name in pair if name != answer.best.classifier))
            assert (answer.p_value[i], answer.adjusted[i]) == pytest.approx((plain, adjusted), rel=1e-12)
    assert not answer.sure
    assert answer.rivals == ("bayes", "logit", "tree")


def test_a_clear_winner_is_sure():
    rng = np.random.default_rng(3)
    y = rng.random(2000) < 0.5
    scores = {"noise": rng.normal(size=2000), "sharp": y + rng.normal(0, 0.4, 2000)}
    answer = cc.recommend(y, scores, 0.5)
    assert (answer.best.classifier, answer.sure, answer.rivals) == ("sharp", True, ())
    assert answer.runner_up.classifier == "noise"


def test_doing_nothing_is_sure_where_no_classifier_helps():
    y = np.array([True, False] * 500)
    answer = cc.recommend(y, {"tied": np.zeros(1000)}, 0.01)
    assert (answer.best.classifier, answer.sure) == ("always negative", True)
    # The classifier never alarms either: it is the same decision, not a rival.
    assert answer.fpr[answer.index("tied")] == 0


def test_doing_nothing_is_a_rival_within_the_limits_of_the_best():
    answer = cc.recommend([0, 0, 1, 1], {"a": [0.1, 0.4, 0.35, 0.8]}, 0.5)
    assert answer.best.classifier == "a"
    assert answer.normalized_cost[0] < 0.5 < answer.upper[0]
    assert answer.rivals == ("always negative", "always positive")


def test_a_classifier_is_a_rival_of_doing_nothing_unless_its_lower_limit_is_above():
    y, scores = [0] * 9 + [1], {"a": [0] * 8 + [1, 1]}
    few = cc.recommend(y, scores, 0.1, policy=0.5)
    many = cc.recommend(y * 1000, {"a": scores["a"] * 1000}, 0.1, policy=0.5)
    assert few.best.classifier == many.best.classifier == "always negative"
    assert few.normalized_cost[1] == many.normalized_cost[1] == pytest.approx(0.1)
    worse = cc.recommend(y * 1000, {"a": scores["a"] * 1000}, 0.05, policy=0.5)
    unsure = cc.recommend(y, scores, 0.05, policy=0.5)
    assert worse.normalized_cost[1] == unsure.normalized_cost[1] > 0.05
    assert (worse.sure, unsure.sure, unsure.rivals) == (True, False, ("a",))


def test_the_worst_case_decides_over_a_range_and_not_the_mean():
    span = cc.OperatingRange.from_pc(0.1, 0.9)
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y = rng.random(60) < 0.5
        scores = {name: y + rng.normal(0, 1, 60) for name in "ab"}
        hull = cc.RocHull.from_predictions(y, scores)
        losses = {name: cc.regret(name, hull, over=span) for name in "ab"}
        least = min("ab", key=lambda name: losses[name].largest)
        if least != min("ab", key=lambda name: losses[name].mean):
            break
    assert losses[least].mean == max(loss.mean for loss in losses.values())
    assert cc.recommend_within(y, scores, span).best == least


def test_a_weight_of_two_is_the_example_twice(credit):
    y, scores = credit
    weights = np.where(np.arange(len(y)) % 3 == 0, 2, 1)
    twice = {name: np.repeat(values, weights) for name, values in scores.items()}
    weighted = cc.recommend(y, scores, CONDITION, sample_weight=weights)
    repeated = cc.recommend(np.repeat(y, weights), twice, CONDITION)
    assert weighted.classifier == repeated.classifier
    assert weighted.expected_cost == pytest.approx(repeated.expected_cost)
    # The weights are worth fewer examples than their sum.
    assert weighted.upper[0] - weighted.lower[0] > repeated.upper[0] - repeated.lower[0]


def test_thresholds_of_other_data_are_not_optimistic(credit):
    y, scores = (np.array(credit[0]), {name: np.array(values) for name, values in credit[1].items()})
    half = np.arange(y.size) % 2 == 0
    tuned = {
        name: cc.thresholds.validation(cc.RocCurve.from_predictions(y[half], values[half]))
        for name, values in scores.items()
    }
    honest = cc.recommend(y[~half], {n: v[~half] for n, v in scores.items()}, CONDITION, policy=tuned)
    flattered = cc.recommend(y[~half], {n: v[~half] for n, v in scores.items()}, CONDITION)
    assert (honest.optimistic, flattered.optimistic) == (False, True)
    assert honest.best.expected_cost >= flattered.best.expected_cost
    with pytest.raises(cc.InputError, match="`policy` must have an entry for every classifier, got none for tree"):
        cc.recommend(y, scores, CONDITION, policy={name: tuned[name] for name in NAMES[:3]})


def test_over_a_range_the_best_has_the_smallest_largest_regret(credit, over):
    answer, hull = over, cc.RocHull.from_predictions(*credit)
    regrets = {name: cc.regret(name, hull, over=SPAN).largest for name in NAMES}
    assert answer.best == min(regrets, key=regrets.__getitem__)
    assert dict(zip(answer.classifier, answer.largest, strict=True)) == pytest.approx(regrets)
    assert answer.ranges.candidates == hull.within(SPAN).candidates


def test_over_a_range_statements_are_those_of_joint_limits(credit, over):
    answer = over
    many = cc.compare_many(*credit, pc=np.linspace(*SPAN.pc, 65))
    for one in answer.differences:
        assert one.significant().better == many.pair(*one.names).significant().better
    assert answer.beaten_by == ()
    assert answer.rivals == ("logit", "bayes", "tree")


@pytest.mark.parametrize("count", [2, 3])
def test_weights_count_over_a_range(credit, count):
    y, scores = credit
    some = {name: scores[name] for name in NAMES[:count]}
    # Weights that leave out every third example are the same as leaving it out.
    kept = np.arange(len(y)) % 3 > 0
    weighted = cc.recommend_within(y, some, SPAN, sample_weight=kept.astype(float))
    part = {name: np.asarray(values)[kept] for name, values in some.items()}
    expected = cc.recommend_within(np.asarray(y)[kept], part, SPAN)
    assert weighted.classifier == expected.classifier
    assert weighted.largest == pytest.approx(expected.largest)
    for one, other in zip(weighted.differences, expected.differences, strict=True):
        assert one.estimate == pytest.approx(other.estimate)
        assert one.upper == pytest.approx(other.upper)
    assert np.any(expected.largest != cc.recommend_within(y, some, SPAN).largest)


def test_one_classifier_over_a_range_has_nobody_to_fear(credit):
    answer = cc.recommend_within(credit[0], {"forest": credit[1]["forest"]}, SPAN)
    assert (answer.best, answer.sure, answer.differences) == ("forest", True, ())


@pytest.mark.parametrize("function", [cc.recommend, cc.recommend_within])
def test_bad_scores_are_refused(function):
    where = CONDITION if function is cc.recommend else SPAN
    with pytest.raises(cc.InputError, match="`scores` must have at least one classifier, got 0"):
        function([0, 1], {}, where)
    with pytest.raises(cc.InputError, match="must not use the names of the trivial classifiers, got 'always positive'"):
        function(ALL_TIED[0], {"always positive": ALL_TIED[1]}, where)
