"""The whole answer agrees with the parts it is made of: the hull, the bands, the comparisons, the regrets."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import costcurves as cc
from costcurves.decisions.recommend_within import RangeRecommendation
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
def over(credit) -> RangeRecommendation:
    return cc.recommend_within(*credit, SPAN)


@pytest.mark.parametrize("pc", [0.0, 0.01, 0.1, 0.25, 0.429, 0.5, 0.682, 0.9, 0.99])
def test_the_best_is_the_hulls_choice(credit, pc):
    answer, decision = cc.recommend(*credit, pc), cc.RocHull.from_predictions(*credit).best(pc)
    assert (answer.best.classifier, answer.best.threshold) == (decision.classifier, decision.threshold)
    assert answer.best.normalized_cost == pytest.approx(decision.normalized_cost, abs=1e-15)


def test_the_runner_ups_regret_is_what_the_hull_says(credit):
    where = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)
    answer = cc.recommend(*credit, where)
    assert answer.money_regret == pytest.approx(cc.RocHull.from_predictions(*credit).best(where).money_regret)


def test_given_the_choice_every_row_has_the_cost_and_limits_of_its_curve(credit):
    y, scores = credit
    answer = cc.recommend(y, scores, CONDITION, level=0.9, given_choice=True)
    for name in NAMES:
        money = cc.CostCurve.from_predictions(y, scores[name]).band(level=0.9, method="wilson").at(CONDITION).money
        i = answer.index(name)
        found = answer.expected_cost[i], answer.money_lower[i], answer.money_upper[i]
        assert found == pytest.approx((money.estimate, money.lower, money.upper), rel=1e-12)
    assert answer.expected_cost[answer.index("always positive")] == pytest.approx(0.7)
    assert answer.expected_cost[answer.index("always negative")] == pytest.approx(1.5)
    assert list(answer.normalized_cost) == sorted(answer.normalized_cost)


def test_the_cost_on_new_cases_is_higher_than_on_these_and_so_are_its_limits(credit):
    answer, given = cc.recommend(*credit, CONDITION), cc.recommend(*credit, CONDITION, given_choice=True)
    assert answer.classifier == given.classifier
    real = np.array([name in NAMES for name in answer.classifier])
    assert (answer.estimate[real] > answer.normalized_cost[real]).all()
    assert (answer.upper[real] > given.upper[real]).all()
    assert (answer.estimate[~real] == answer.normalized_cost[~real]).all()
    assert (answer.lower[real] <= answer.estimate[real]).all()


def test_given_the_choice_p_values_are_those_of_the_comparison(credit):
    answer = cc.recommend(*credit, CONDITION, given_choice=True)
    for name in ("bayes", "logit", "tree"):
        names = ("forest", name)
        cuts = tuple(cc.thresholds.fixed(float(answer.threshold[answer.index(one)])) for one in names)
        both = (credit[1][one] for one in names)
        difference = cc.compare(credit[0], *both, names=names, policy=cuts, pc=[CONDITION.pc], simultaneous=False)
        # One-sided where the other is two-sided; drawn with a standard error of 0.01 where it is large.
        p = float(answer.p_value[answer.index(name)])
        assert p == pytest.approx(difference.at(CONDITION).p_value / 2, abs=0.04)
    assert cc.recommend(*credit, CONDITION).rivals == ("bayes", "logit", "tree")


def test_the_set_of_thresholds_is_that_of_the_best_classifiers_curve(credit):
    y, scores = credit
    answer = cc.recommend(y, scores, CONDITION, level=0.9)
    found = answer.threshold_set()
    roc = cc.RocCurve.from_predictions(y, scores["forest"], name="forest")
    assert found.to_dict() == cc.CostCurve(roc).threshold_set(CONDITION, level=0.9).to_dict()
    assert found.contains(answer.best.threshold)
    assert answer.to_dict()["threshold_set"] == found.to_dict()
    assert cc.Predictions(y, scores).recommend(CONDITION, level=0.9).threshold_set().to_dict() == found.to_dict()


def test_the_set_of_thresholds_has_all_points_of_many_rows_and_ignores_those_without_weight():
    rng = np.random.default_rng(8)
    y = rng.random(70_000) < 0.3
    score, weight = y + rng.normal(size=y.size), rng.integers(0, 3, y.size)
    roc = cc.RocCurve.from_predictions(y, score, sample_weight=weight, name="s")
    found = cc.recommend(y, {"s": score}, CONDITION, sample_weight=weight).threshold_set()
    assert found.n_all == roc.thresholds.size > 40_000
    assert found.to_dict() == cc.CostCurve(roc).threshold_set(CONDITION).to_dict()


def test_there_is_no_set_of_thresholds_without_a_threshold_that_was_chosen_here(credit):
    y, scores = credit
    nothing = cc.recommend(y, scores, 0)
    assert (nothing.best.classifier, nothing.threshold_set()) == ("always negative", None)
    assert nothing.to_dict()["threshold_set"] is None
    one = {"forest": scores["forest"]}
    other = cc.thresholds.validation(cc.RocCurve.from_predictions(y[::2], one["forest"][::2]))
    for policy in (0.25, "bayes", {"forest": other}):
        answer = cc.recommend(y, one, CONDITION, policy=policy)
        assert (answer.best.classifier, answer.threshold_set()) == ("forest", None)
    mixed = cc.recommend(y, scores, CONDITION, policy=dict.fromkeys(NAMES, 0.25) | {"forest": "optimal"})
    assert mixed.threshold_set().name == mixed.best.classifier == "forest"


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
    assert cc.recommend_within(y, scores, span).best_name == least


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


def test_thresholds_of_other_data_leave_only_the_choice_of_the_winner(credit):
    y, scores = (np.array(credit[0]), {name: np.array(values) for name, values in credit[1].items()})
    half = np.arange(y.size) % 2 == 0
    tuned = {
        name: cc.thresholds.validation(cc.RocCurve.from_predictions(y[half], values[half]))
        for name, values in scores.items()
    }
    judged = {n: v[~half] for n, v in scores.items()}
    honest = cc.recommend(y[~half], judged, CONDITION, policy=tuned)
    flattered = cc.recommend(y[~half], judged, CONDITION)
    assert honest.best.expected_cost >= flattered.best.expected_cost
    i = next(i for i in range(1, 6) if honest.classifier[i] in NAMES)
    assert honest.estimate[i] == honest.normalized_cost[i]
    assert honest.estimate[0] > honest.normalized_cost[0]
    with pytest.raises(cc.InputError, match="`policy` must have an entry for every classifier, got none for tree"):
        cc.recommend(y, scores, CONDITION, policy={name: tuned[name] for name in NAMES[:3]})


def test_over_a_range_the_best_has_the_smallest_largest_regret(credit, over):
    answer, hull = over, cc.RocHull.from_predictions(*credit)
    regrets = {name: cc.regret(name, hull, over=SPAN).largest for name in NAMES}
    assert answer.best_name == min(regrets, key=regrets.__getitem__)
    found = dict(zip(answer.classifier, answer.largest, strict=True))
    assert {name: found[name] for name in NAMES} == pytest.approx(regrets)
    least = [pc - hull.evaluate(pc) for pc in np.linspace(*SPAN.pc, 999)]
    assert found["always negative"] == pytest.approx(max(least), rel=1e-3)
    assert answer.ranges.candidates == hull.within(SPAN).candidates


def test_over_a_range_statements_are_those_at_its_points(credit, over):
    assert over.beaten_by == ()
    assert over.rivals == ("logit", "bayes", "tree")
    for pc in (SPAN.pc[0], SPAN.pc[1]):
        here = cc.recommend(*credit, pc)
        assert here.best.classifier == "forest"
        compared = 0
        for name in over.shown_worse:
            # All points of a range share their draws, so that p-values differ from those at one point by simulation.
            if abs(here.adjusted[here.index(name)] - 0.05) > 0.01:
                assert over.shown_worse[name].contains(pc) == (name not in here.rivals)
                compared += 1
        assert compared >= 4


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
    assert {n: list(w) for n, w in weighted.shown_worse.items()} == {
        n: list(w) for n, w in expected.shown_worse.items()
    }
    assert np.any(expected.largest != cc.recommend_within(y, some, SPAN).largest)


def test_one_classifier_over_a_range_still_has_the_trivial_ones_to_fear(credit):
    wide = cc.OperatingRange.from_pc(0.3, 0.95)
    answer = cc.recommend_within(credit[0], {"forest": credit[1]["forest"]}, wide)
    assert (answer.best_name, answer.sure, answer.rivals) == ("forest", False, ("always positive",))
    middle = cc.recommend_within(credit[0], {"forest": credit[1]["forest"]}, cc.OperatingRange.from_pc(0.4, 0.6))
    assert (middle.best_name, middle.sure, middle.rivals) == ("forest", True, ())


def test_over_a_range_the_policy_counts_and_so_does_doing_nothing(credit):
    rare = cc.OperatingRange(prevalence=(0.001, 0.003), cost_fp=1, cost_fn=5)
    answer = cc.recommend_within(*credit, rare, policy=0.2)
    assert (answer.best_name, answer.sure, answer.rule.classifier) == ("always negative", True, "always negative")
    assert answer.ranges.candidates == ("always negative",)
    usual = cc.recommend_within(*credit, SPAN, policy=0.2)
    assert set(usual.steps.threshold_low) == {0.2}
    for i, name in enumerate(usual.ranges.classifier):
        assert name not in NAMES or usual.ranges.threshold_low[i] == 0.2


def test_one_validation_policy_for_all_classifiers_is_refused(credit):
    other = cc.thresholds.validation(cc.RocCurve.from_predictions(credit[0], credit[1]["forest"]))
    for function, where in ((cc.recommend, CONDITION), (cc.recommend_within, SPAN)):
        with pytest.raises(cc.InputError, match="`policy` must not give one classifier's thresholds to all"):
            function(*credit, where, policy=other)


@pytest.mark.parametrize("function", [cc.recommend, cc.recommend_within])
def test_bad_scores_are_refused(function):
    where = CONDITION if function is cc.recommend else SPAN
    with pytest.raises(cc.InputError, match="`scores` must have at least one classifier, got 0"):
        function([0, 1], {}, where)
    with pytest.raises(cc.InputError, match="must not use the names of the trivial classifiers, got 'always positive'"):
        function(ALL_TIED[0], {"always positive": ALL_TIED[1]}, where)


@pytest.mark.filterwarnings("ignore::costcurves.CostCurvesWarning")
@pytest.mark.parametrize("pc", [0.4, 0.6])
def test_the_trivial_classifier_that_costs_less_is_the_cheaper_of_both(pc):
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        answer = cc.recommend(np.r_[0, 1, rng.integers(0, 2, 28)], {"a": rng.normal(size=30)}, pc)
        if answer.cheaper_unaided is not None:
            unaided = {"always negative": pc, "always positive": 1 - pc}
            assert unaided[answer.cheaper_unaided] == min(unaided.values()) < answer.estimate[0]
            found.append(seed)
    assert len(found) > 3
