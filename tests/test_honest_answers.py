"""What is recommended, and what is said of it, holds in random worlds: by brute force, in any order, on new cases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

import costcurves as cc
from laws import random_worlds


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
    for rng in random_worlds(400, stream=1):
        y, scores, pc = small_world(rng)
        answer, decision = cc.recommend(y, scores, pc), cc.RocHull.from_predictions(y, scores).best(pc)
        for one, other in ((answer.best, decision), (answer.runner_up, decision.runner_up)):
            found = (one.classifier, one.threshold, one.fpr, one.tpr)
            assert found == (other.classifier, other.threshold, other.fpr, other.tpr), (y, scores, pc)
            assert one.normalized_cost == pytest.approx(other.normalized_cost, abs=1e-15)


@pytest.mark.law
def test_every_threshold_is_a_rival_and_sure_leaves_none():
    for rng in random_worlds(300, stream=2):
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


@pytest.mark.law
def test_names_and_orders_of_classifiers_and_rows_do_not_matter():
    for rng in random_worlds(60, stream=3):
        y, scores, pc = small_world(rng)
        answer = cc.recommend(y, scores, pc)
        if np.sum(np.abs(answer.normalized_cost - answer.normalized_cost[0]) < 1e-12) > 1:
            continue  # of equal costs the first by name is chosen
        order = rng.permutation(y.size)
        again = cc.recommend(y[order], {2 * name: scores[name][order] for name in reversed(scores)}, pc)
        for name in scores:
            i, j = answer.index(name), again.index(2 * name)
            for field in ("normalized_cost", "estimate", "lower", "upper", "p_value", "saves"):
                one, two = getattr(answer, field)[i], getattr(again, field)[j]
                assert one == pytest.approx(two, abs=1e-9, nan_ok=True), (field, name)


@pytest.mark.law
def test_the_answer_for_a_range_never_contradicts_the_answer_at_a_point_inside():
    for rng in random_worlds(30, stream=4):
        y, scores, _ = small_world(rng, largest=2)
        y, scores = np.tile(y, 30), {name: np.tile(values, 30) for name, values in scores.items()}
        policy = "optimal" if rng.random() < 0.5 else float(rng.integers(0, 4))
        low, high = np.sort(rng.uniform(0, 1, 2))
        span = cc.OperatingRange.from_pc(low, low + (high - low) * rng.choice([0.05, 0.3, 1.0]))
        over = cc.recommend_within(y, scores, span, policy=policy)
        for pc in rng.uniform(*span.pc, 3):
            here = cc.recommend(y, scores, pc, policy=policy)
            i = here.index(over.best)
            own = here.fpr[i], here.tpr[i]
            if over.best in scores and policy == "optimal" and here.normalized_cost[i] > min(pc, 1 - pc):
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
    above, below = coverage(random_worlds(100, stream=10 + classifiers), n, classifiers, 1.0, 0.6)
    # Nominally 2.5 each. With four classifiers the limits of a given choice are exceeded about 27 times.
    assert above <= 9
    assert above + below <= 14


@pytest.mark.law
def test_noise_is_rarely_shown_to_beat_doing_nothing():
    found = 0
    for rng in random_worlds(100, stream=5):
        y = np.arange(120) % 2 == 0
        answer = cc.recommend(y, {str(j): rng.standard_normal(120) for j in range(3)}, 0.5)
        found += bool(answer.worse[[answer.index("always negative"), answer.index("always positive")]].all())
    # Nominally 5; the test of a given choice says so in more than half of such worlds.
    assert found <= 12


def test_doing_nothing_is_not_sure_where_a_classifier_may_be_better():
    y = np.arange(40) < 20
    score = np.repeat([1, 0, 1, 0], [18, 2, 1, 19])
    answer = cc.recommend(y, {"m": score}, cc.OperatingCondition(0.05, cost_fp=1, cost_fn=1))
    assert (answer.best.classifier, answer.sure, answer.rivals) == ("always negative", False, ("m",))
    assert (answer.runner_up.classifier, answer.runner_up.threshold) == ("m", 1.0)
    decision = cc.RocHull.from_predictions(y, {"m": score}).best(answer.condition)
    assert decision.runner_up.classifier == "m"
