"""What is recommended, and what is said of it, holds in random worlds: by brute force, in any order, on new cases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

import costcurves as cc
from laws import random_worlds

# Some worlds have a classifier that is worse than chance.
pytestmark = pytest.mark.filterwarnings("ignore::costcurves.WorseThanChanceWarning")


def small_world(rng, *, largest=3):
    """Return labels, tied scores of a few classifiers and a pc."""
    n = int(rng.integers(4, 24))
    y = np.append(rng.random(n) < rng.uniform(0.2, 0.8), [True, False])
    levels = int(rng.integers(1, 8))
    scores = {
        name: rng.integers(0, levels + 1, y.size) + rng.integers(0, 2) * y * 1.0
        for name in "abc"[: rng.integers(1, largest + 1)]
    }
    pc = float(rng.choice([rng.uniform(0, 1), rng.integers(0, 5) / 4]))
    return y, scores, pc


@pytest.mark.law
def test_the_choice_and_the_runner_up_are_those_of_the_hull():
    for rng in random_worlds(50, stream=1):
        y, scores, pc = small_world(rng)
        answer, decision = cc.recommend(y, scores, pc), cc.RocHull.from_predictions(y, scores).best(pc)
        for one, other in ((answer.best, decision), (answer.runner_up, decision.runner_up)):
            found = (one.classifier, one.threshold, one.fpr, one.tpr)
            assert found == (other.classifier, other.threshold, other.fpr, other.tpr), (y, scores, pc)
            assert one.normalized_cost == pytest.approx(other.normalized_cost, abs=1e-15)


@pytest.mark.law
def test_every_threshold_is_a_rival_and_sure_leaves_none():
    for rng in random_worlds(50, stream=2):
        y, scores, pc = small_world(rng)
        answer = cc.recommend(y, scores, pc)
        for name, values in scores.items():
            cuts = np.unique(values)[1:]
            if name == answer.best.classifier or not cuts.size:
                continue
            # The cheapest threshold of the classifier with some alarms, but not all, by brute force.
            rates = [(np.mean(values[~y] >= cut), np.mean(values[y] < cut)) for cut in cuts]
            least = min((1 - pc) * fpr + pc * fnr for fpr, fnr in rates)
            i = answer.index(name)
            assert answer.normalized_cost[i] == pytest.approx(least, abs=1e-12)
            assert not answer.same[i]
            if answer.worse[i]:
                assert least > answer.best.normalized_cost
                assert answer.saves[i] <= 1e-6
        assert answer.sure == (answer.worse | answer.same).all()
        assert (answer.lower <= answer.estimate + 1e-12).all()
        assert (answer.estimate <= answer.upper + 1e-12).all()
        # What is shown to be beaten for certain lies outside the limits of the choice.
        for name in ("always negative", "always positive"):
            if answer.worse[answer.index(name)]:
                assert answer.normalized_cost[answer.index(name)] > answer.upper[0]


def assert_same_answers(answer, again, names):
    """Compare two recommendations, of which the second calls each classifier by twice its name."""
    for name in names:
        i, j = answer.index(name), again.index(2 * name)
        for field in ("normalized_cost", "estimate", "lower", "upper", "p_value", "saves"):
            one, two = getattr(answer, field)[i], getattr(again, field)[j]
            assert one == pytest.approx(two, abs=1e-9, nan_ok=True), (field, name)


@pytest.mark.law
def test_names_and_orders_of_classifiers_and_rows_do_not_matter():
    for rng in random_worlds(20, stream=3):
        y, scores, pc = small_world(rng)
        answer = cc.recommend(y, scores, pc)
        if np.sum(np.abs(answer.normalized_cost - answer.normalized_cost[0]) < 1e-12) > 1:
            continue  # of equal costs the first by name is chosen
        order = rng.permutation(y.size)
        again = cc.recommend(y[order], {2 * name: scores[name][order] for name in reversed(scores)}, pc)
        assert_same_answers(answer, again, scores)


def test_names_do_not_matter_if_two_classifiers_can_exchange_their_scores():
    # With the first two rows and the next two exchanged, "a" has the scores of "b".
    y = np.array([1, 1, 0, 0, 1, 0], dtype=bool)
    scores = {"a": [1, 2, 1, 2, 0, 1], "b": [2, 1, 2, 1, 0, 1], "c": [0, 0, 2, 2, 2, 0]}
    scores = {name: np.array(values, float) for name, values in scores.items()}
    for pc in (0.75, 0.5):
        answer = cc.recommend(y, scores, pc)
        for order in ([0, 3, 5, 1, 4, 2], [1, 0, 2, 3, 4, 5], [0, 1, 3, 2, 5, 4]):
            again = cc.recommend(y[order], {2 * name: scores[name][order] for name in reversed(scores)}, pc)
            assert_same_answers(answer, again, scores)


@pytest.mark.parametrize("seed", [19, 23])
def test_the_unit_of_weights_does_not_decide_between_thresholds_of_equal_cost(seed):
    rng = np.random.default_rng([12, seed])
    y, weight = np.arange(60) < 20, rng.integers(1, 5, 60)
    scores = {name: np.round(y + rng.normal(size=60)) for name in "ab"}
    one, other = (cc.recommend(y, scores, 0.5, sample_weight=unit * weight) for unit in (1.0, 1 / 3))
    assert one.estimate == pytest.approx(other.estimate, abs=1e-9)


@pytest.mark.law
def test_only_the_order_of_scores_and_the_proportions_of_weights_matter():
    for rng in random_worlds(15, stream=11):
        n = int(rng.integers(20, 300))
        y = np.arange(n) < rng.integers(2, n - 1)
        scores = {name: np.round(y * rng.uniform(0, 2) + rng.normal(size=n), 2) for name in "abc"}
        weight, pc = rng.integers(1, 5, n) if rng.random() < 0.5 else None, rng.uniform(0.1, 0.9)
        answer = cc.recommend(y, scores, pc, sample_weight=weight)
        if np.sum(np.abs(answer.normalized_cost - answer.normalized_cost[0]) < 1e-12) > 1:
            continue
        other = {2 * name: 1 / (1 + np.exp(-values)) for name, values in scores.items()}
        again = cc.recommend(y, other, pc, sample_weight=None if weight is None else 0.37 * weight)
        assert_same_answers(answer, again, scores)


@pytest.mark.law
def test_the_answer_for_a_range_never_contradicts_the_answer_at_a_point_inside():
    for rng in random_worlds(6, stream=4):
        y, scores, _ = small_world(rng, largest=2)
        y, scores = np.tile(y, 30), {name: np.tile(values, 30) for name, values in scores.items()}
        policy = "optimal" if rng.random() < 0.5 else float(rng.integers(0, 4))
        low, high = np.sort(rng.uniform(0, 1, 2))
        span = cc.OperatingRange.from_pc(low, low + (high - low) * rng.choice([0.05, 0.3, 1.0]))
        over = cc.recommend_within(y, scores, span, policy=policy)
        for pc in rng.uniform(*span.pc, 3):
            here = cc.recommend(y, scores, pc, policy=policy)
            i = here.index(over.best_name)
            own = here.fpr[i], here.tpr[i]
            if over.best_name in scores and policy == "optimal" and here.normalized_cost[i] > min(pc, 1 - pc):
                own = (0.0, 0.0) if pc <= 0.5 else (1.0, 1.0)  # its threshold is "never" or "always" there
            least = here.best.normalized_cost
            assert pc * (1 - own[1]) + (1 - pc) * own[0] - least <= over.largest[0] + 1e-9
            assert pc * (1 - over.rule.tpr) + (1 - pc) * over.rule.fpr - least <= over.rule.largest + 1e-9
            if over.sure:
                assert own == pytest.approx((here.best.fpr, here.best.tpr))
                assert here.sure


def coverage(worlds, n, classifiers, shift, pc, level=0.95):
    """Return how often the true cost of what is recommended lies above its limits, and how often below."""
    above = below = 0
    for rng in worlds:
        y = np.arange(n) < 0.3 * n
        common = rng.standard_normal(n)
        scores = {str(j): shift * y + np.sqrt(0.5) * (common + rng.standard_normal(n)) for j in range(classifiers)}
        answer = cc.recommend(y, scores, pc, level=level)
        truth, cut = answer.best.normalized_cost, answer.best.threshold
        if answer.best.classifier in scores:
            truth = pc * ndtr(cut - shift) + (1 - pc) * ndtr(-cut)
        above += truth > answer.upper[0] + 1e-12
        below += truth < answer.lower[0] - 1e-12
    return above, below


@pytest.mark.law
@pytest.mark.parametrize(("n", "classifiers"), [(150, 1), (300, 4)])
def test_the_limits_hold_for_what_was_chosen(n, classifiers):
    above, below = coverage(random_worlds(60, stream=10 + classifiers), n, classifiers, 1.0, 0.6)
    # Nominally 1.5 each; more than this happens in one of 10^6 runs. With four classifiers the limits of a given choice
    # are exceeded about 16 times.
    assert above <= stats.binom.isf(1e-6, 60, 0.025)
    assert above + below <= stats.binom.isf(1e-6, 60, 0.05)


@pytest.mark.law
def test_noise_is_rarely_shown_to_beat_doing_nothing():
    found = 0
    for rng in random_worlds(60, stream=5):
        y = np.arange(120) % 2 == 0
        answer = cc.recommend(y, {str(j): rng.standard_normal(120) for j in range(3)}, 0.5)
        found += bool(answer.worse[[answer.index("always negative"), answer.index("always positive")]].all())
    # Nominally 3 at most; the test of a given choice says so in more than half of such worlds.
    assert found <= stats.binom.isf(1e-6, 60, 0.05)


def test_doing_nothing_is_not_sure_where_a_classifier_may_be_better():
    y = np.arange(40) < 20
    score = np.repeat([1, 0, 1, 0], [18, 2, 1, 19])
    answer = cc.recommend(y, {"m": score}, cc.OperatingCondition(0.05, cost_fp=1, cost_fn=1))
    assert (answer.best.classifier, answer.sure, answer.rivals) == ("always negative", False, ("m",))
    assert (answer.runner_up.classifier, answer.runner_up.threshold) == ("m", 1.0)
    decision = cc.RocHull.from_predictions(y, {"m": score}).best(answer.condition)
    assert decision.runner_up.classifier == "m"


def test_given_the_choice_the_limits_are_those_of_the_threshold_that_is_shown():
    y = np.arange(40) < 20
    score = np.repeat([1, 0, 1, 0], [18, 2, 1, 19])
    answer = cc.recommend(y, {"m": score}, cc.OperatingCondition(0.05, cost_fp=1, cost_fn=1), given_choice=True)
    i = answer.index("m")
    assert answer.lower[i] < answer.estimate[i] < answer.upper[i]


def test_a_range_in_which_the_decision_passes_to_doing_nothing_is_not_sure():
    n = 3000
    y = np.arange(2 * n) < n
    score = np.r_[np.arange(n) < n // 2, np.arange(n) < n // 10].astype(int)
    for high in (0.3, 0.6, 0.9):
        answer = cc.recommend_within(y, {"m": score}, cc.OperatingRange(prevalence=(0.02, high), cost_fp=1, cost_fn=1))
        assert answer.best_name == "m"
        assert not answer.sure
        assert "always negative" in answer.rivals


def test_a_row_of_next_to_no_weight_is_no_trouble():
    y, score, weight = [1, 0, 0, 0, 1, 1, 1, 0, 0], [9.0, 8, 7, 6, 1, 2, 3, 5, 5.5], [1e-14] + [1] * 8
    answer = cc.recommend(y, {"m": score}, 0.01, sample_weight=weight)
    assert answer.rivals == ("m",)


def test_the_answer_does_not_depend_on_the_unit_of_money():
    y = np.arange(40) < 20
    score = np.r_[np.arange(20) < 14, np.zeros(20)] + np.arange(40) / 100
    found = []
    for unit in (1.0, 1e-13, 1e13):
        span = cc.OperatingRange(prevalence=0.5, cost_fp=(1 * unit, 2 * unit), cost_fn=(1 * unit, 5 * unit))
        answer = cc.recommend_within(y, {"m": score}, span)
        found.append((answer.best_name, answer.rule.classifier, answer.rule.threshold))
        assert answer.rule.money == pytest.approx(0.25 * unit)
    assert len(set(found)) == 1


def test_a_classifier_that_is_nowhere_of_use_is_not_recommended_for_a_range():
    y = np.arange(40) < 20
    answer = cc.recommend_within(y, {"m": np.ones(40)}, cc.OperatingRange(prevalence=(0.2, 0.6), cost_fp=1, cost_fn=1))
    assert answer.best_name in ("always negative", "always positive")


@pytest.mark.law
def test_copies_of_a_classifier_get_the_same_numbers_in_any_order():
    for rng in random_worlds(12, stream=6):
        y, scores, pc = small_world(rng, largest=2)
        copies = {**scores, **{2 * name: values for name, values in scores.items()}}
        answer = cc.recommend(y, copies, pc)
        again = cc.recommend(y, dict(reversed(copies.items())), pc)
        for name in scores:
            for field in ("normalized_cost", "lower", "upper"):
                found = [getattr(one, field)[one.index(n)] for one in (answer, again) for n in (name, 2 * name)]
                if answer.best.classifier not in (name, 2 * name):
                    assert len(set(found)) == 1, field


@pytest.mark.law
def test_what_may_be_saved_agrees_with_who_is_a_rival():
    for rng in random_worlds(30, stream=8):
        y, scores, pc = small_world(rng)
        answer = cc.recommend(y, scores, pc)
        for i in range(1, len(answer.classifier)):
            if not answer.same[i]:
                assert (answer.saves[i] < 0) == bool(answer.worse[i]) or answer.saves[i] == 0


@pytest.mark.parametrize("seed", [[149_901_354, 8, 17], [5, 8, 1461]])
def test_a_rival_whose_p_value_is_just_what_the_level_leaves_out_saves_nothing(seed):
    y, scores, pc = small_world(np.random.default_rng(seed))
    answer = cc.recommend(y, scores, pc)
    at_the_edge = answer.adjusted == 1 - answer.level
    assert at_the_edge.any()
    assert answer.worse[at_the_edge].all()
    assert (answer.saves[at_the_edge] <= 0).all()


def test_a_copy_of_the_choice_is_never_shown_to_cost_more():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    scores = y + rng.normal(size=60)
    for level in (0.5, 0.7, 0.95):
        for given_choice in (False, True):
            found = cc.recommend(y, {"a": scores, "copy": scores}, 0.5, level=level, given_choice=given_choice)
            assert not found.worse[found.index("copy")]
            assert not found.sure


def test_verdicts_against_doing_nothing_agree_with_the_limits_at_every_level():
    for seed in (86, 324, 265, *range(12)):
        rng = np.random.default_rng(seed)
        y = (rng.random(200) < 0.3).astype(int)
        scores = y * 0.9 + rng.normal(size=200)
        for level in (0.9, 0.98, 0.999):
            found = cc.recommend(y, {"a": scores}, 0.32, level=level)
            for name in ("always negative", "always positive"):
                i = found.index(name)
                assert not found.worse[i] or found.normalized_cost[i] >= found.upper[0]


def test_the_order_of_weighted_rows_with_ties_does_not_matter():
    rng = np.random.default_rng(3)
    y, weight = np.arange(400) % 2, rng.exponential(size=400)
    scores = {name: np.round(y + rng.normal(size=400)) for name in "ab"}
    found = []
    for order in (np.arange(400), rng.permutation(400), rng.permutation(400)):
        moved = {name: values[order] for name, values in scores.items()}
        found.append(cc.recommend(y[order], moved, 0.5, sample_weight=weight[order]).estimate[0])
    assert found == pytest.approx([found[0]] * 3, abs=1e-12)
