"""Promise and outcome: what moved is named, what did not is left alone, and the parts of the change add up."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

import costcurves as cc
from costcurves.inference import promises as core
from laws import random_worlds

HERE = cc.OperatingCondition(prevalence=0.2, cost_fp=1, cost_fn=6)


def cases(rng, n, prevalence=0.2, shift=1.5, noise=0.0):
    """Return labels and the scores of one classifier."""
    y = rng.random(n) < prevalence
    y[:2] = True, False
    return y, {"model": shift * y + noise * ~y + rng.normal(size=n)}


@pytest.fixture(scope="module")
def promise():
    return cc.recommend(*cases(np.random.default_rng(1), 2000), HERE)


@pytest.mark.parametrize(
    ("changed", "moved"),
    [({"prevalence": 0.4}, "prevalence"), ({"shift": 0.6}, "tpr"), ({"noise": 0.6}, "fpr")],
)
def test_what_moved_is_named(promise, changed, moved):
    check = cc.check_promise(promise, *cases(np.random.default_rng(2), 2000, **changed))
    assert not check.kept
    assert set(check.moved) - {"cost"} == {moved}
    assert check.change > 0
    due = {"prevalence": check.due_to_prevalence, "tpr": check.due_to_misses, "fpr": check.due_to_alarms}
    assert max(due, key=due.get) == moved
    word = {"prevalence": "are positive where", "tpr": "of the positives are found", "fpr": "of the negatives raise"}
    assert word[moved] in check.sentence


@pytest.mark.law
def test_the_parts_of_the_change_add_up():
    for rng in random_worlds(8, stream=190):
        where = cc.OperatingCondition(prevalence=rng.uniform(0.1, 0.6), cost_fp=rng.uniform(1, 3), cost_fn=4)
        old = cases(rng, int(rng.integers(20, 200)), rng.uniform(0.2, 0.6))
        made = cc.recommend(*old, where)
        y, scores = cases(rng, int(rng.integers(5, 100)), rng.uniform(0.1, 0.9), rng.uniform(0, 3))
        now = {"cost_fn": float(rng.uniform(1, 9))} if rng.random() < 0.5 else {}
        check = cc.check_promise(made, y, scores, **now)
        best = made.best
        alarm = np.full(y.size, best.threshold < 0) if math.isinf(best.threshold) else scores["model"] >= best.threshold
        cost = np.mean(np.where(y & ~alarm, now.get("cost_fn", 4), np.where(~y & alarm, where.cost_fp, 0)))
        assert check.observed[0] == pytest.approx(cost, abs=1e-12)
        assert check.promised[0] == pytest.approx(made.money_estimate[0], abs=1e-9)
        total = check.due_to_prevalence + check.due_to_misses + check.due_to_alarms + check.due_to_costs
        assert total == pytest.approx(check.change, abs=1e-9)
        assert bool(check.due_to_costs) == bool(now) or not (y & ~alarm).any()
        assert (check.observed_lower <= check.observed).all()
        assert (check.observed <= check.observed_upper).all()


@pytest.mark.law
def test_an_unchanged_world_seldom_looks_changed():
    wolf = 0
    for rng in random_worlds(60, stream=191):
        prevalence = float(rng.choice([0.05, 0.3]))
        where = cc.OperatingCondition(prevalence=prevalence, cost_fp=1, cost_fn=1 / prevalence)
        y, scores = cases(rng, 400, prevalence)
        new = rng.random(int(rng.integers(10, 800))) < prevalence
        hull = cc.RocHull.from_predictions(y, scores)
        fresh = {"model": 1.5 * new + rng.normal(size=new.size)}
        wolf += not cc.check_promise(hull, new, fresh, condition=where).kept
    assert wolf <= stats.binom.isf(1e-6, 60, 0.06)


def test_p_values_of_known_rates_are_the_mid_p_values_of_scipy():
    new = core.NewCounts(40.0, 160.0, 0.25, 0.1)
    tests = core.promise_tests(0.3, core.PromisedRate(0.4, math.inf), core.PromisedRate(0.1, math.inf), (5.0, 1.0), new)

    def mid_p(k, n, p):
        return min(1.0, 2 * min(stats.binom.cdf(k, n, p), stats.binom.sf(k - 1, n, p)) - stats.binom.pmf(k, n, p))

    assert tests.prevalence == pytest.approx(mid_p(40, 200, 0.3), abs=0.01)
    assert tests.fnr == pytest.approx(mid_p(10, 40, 0.4), abs=0.02)
    assert tests.fpr == pytest.approx(mid_p(16, 160, 0.1), abs=0.02)


def test_an_uncertain_promise_is_harder_to_break():
    new = core.NewCounts(100.0, 100.0, 0.3, 0.1)
    p = [
        core.promise_tests(None, core.PromisedRate(0.2, n), core.PromisedRate(0.1, n), (1.0, 1.0), new).fnr
        for n in (20.0, 200.0, math.inf)
    ]
    assert p[0] > p[1] > p[2]


def test_one_class_alone_is_answered(promise):
    none = cc.check_promise(promise, [0] * 300, np.zeros(300))
    assert math.isnan(none.observed[3])
    assert "no case is positive, so that the tpr cannot be checked" in none.sentence
    assert "prevalence" in none.moved
    every = cc.check_promise(promise, [1] * 30, np.full(30, 9.0))
    assert math.isnan(every.observed[2])
    assert every.observed[0] == 0
    for check in (none, every):
        total = check.due_to_prevalence + check.due_to_misses + check.due_to_alarms
        assert total == pytest.approx(check.change, abs=1e-9)
        assert json.loads(json.dumps(check.to_dict(), allow_nan=False)) == check.to_dict()


def test_a_promise_to_use_no_classifier_needs_no_scores():
    y = cases(np.random.default_rng(4), 500)[0]
    made = cc.recommend(y, {"noise": np.arange(500) % 7}, cc.OperatingCondition(prevalence=0.001, cost_fp=1, cost_fn=1))
    assert made.best.classifier == "always negative"
    check = cc.check_promise(made, [0] * 990 + [1] * 10)
    assert check.moved == ("cost", "prevalence")
    assert check.p_value[2] == check.p_value[3] == 1


def test_a_promise_at_a_pc_says_nothing_about_class_frequencies():
    rng = np.random.default_rng(5)
    made = cc.recommend(*cases(rng, 1000), 0.4)
    check = cc.check_promise(made, *cases(rng, 1000, prevalence=0.6))
    assert check.kept
    assert math.isnan(check.p_value[1])
    assert "of getting every case wrong" in check.sentence


def test_weights_count_as_copies(promise):
    rng = np.random.default_rng(6)
    y, scores = cases(rng, 300)
    twice = cc.check_promise(promise, np.tile(y, 2), np.tile(scores["model"], 2))
    weighted = cc.check_promise(promise, y, scores, sample_weight=np.full(300, 2.0))
    np.testing.assert_allclose(weighted.observed, twice.observed)
    # Equal weights are worth no more than the cases themselves.
    assert weighted.observed_upper[2] > twice.observed_upper[2]
    both = cc.Predictions(y, scores).check_promise(promise)
    np.testing.assert_allclose(both.adjusted, cc.check_promise(promise, y, scores).adjusted)


@pytest.mark.parametrize("unit", [2.0**-900, 2.0**-40, 2.0**400])
@pytest.mark.parametrize("cost_fn", [None, 2.0])
def test_the_unit_of_money_changes_amounts_alone(unit, cost_fn):
    old, (y, scores) = cases(np.random.default_rng(6), 300), cases(np.random.default_rng(7), 200, prevalence=0.3)
    found = []
    for scale in (1.0, unit):
        where = cc.OperatingCondition(prevalence=0.2, cost_fp=scale, cost_fn=6 * scale)
        now = None if cost_fn is None else cost_fn * scale
        found.append(cc.check_promise(cc.recommend(*old, where), y, scores, cost_fn=now))
    one, other = found
    np.testing.assert_array_equal(other.p_value, one.p_value)
    for name in ("promised", "promised_lower", "promised_upper", "observed", "observed_lower", "observed_upper"):
        amounts = getattr(one, name) * [unit, 1, 1, 1]
        np.testing.assert_allclose(getattr(other, name), amounts, rtol=1e-9, atol=0)
    assert other.due_to_misses == pytest.approx(one.due_to_misses * unit, rel=1e-9, abs=0)


def test_rates_that_were_stated_are_known():
    hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, thresholds=3.0, name="expert")])
    y = np.arange(400) < 100
    check = cc.check_promise(
        hull, y, np.where(y, 4.0, 0.0), condition=cc.OperatingCondition(0.25, cost_fp=1, cost_fn=2)
    )
    assert check.promised_lower[2] == check.promised_upper[2] == 0.1
    assert set(check.moved) == {"cost", "fpr", "tpr"}
    assert check.change < 0


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda p: cc.check_promise(p, [0, 1], {"other": [1, 2]}), "must have the promised classifier 'model', got"),
        (lambda p: cc.check_promise(p, [0, 1]), "`scores` must have those of the promised classifier 'model'"),
        (lambda p: cc.check_promise(p, [0, 1], [1.0]), "`scores`"),
        (lambda p: cc.check_promise(p.best, [0, 1], [1, 2]), "`promise` must be a Recommendation, or a RocHull"),
        (
            lambda p: cc.check_promise(p, [0, 1], [1, 2], condition=0.5),
            "`condition` must be None with a Recommendation",
        ),
        (lambda p: cc.check_promise(p, [], []), "`y_true`"),
        (lambda p: cc.check_promise(p, [0, 1], [1, 2], level=5), r"`level` must be in \(0, 1\), got 5"),
        (lambda p: cc.check_promise(p, [0, 1], [1, 2], cost_fn=-1), "`cost_fn` must be >= 0, got -1"),
        (
            lambda p: cc.check_promise(p, [0, 1], [1, 2], cost_fp=1e308),
            r"`cost_fp` must have costs of at most 1e\+150, got 1e\+308",
        ),
        (
            lambda p: cc.check_promise(
                cc.recommend(
                    [0, 0, 1, 1], {"a": [1, 2, 3, 4]}, cc.OperatingCondition(prevalence=0.2, cost_fp=1, cost_fn=1e307)
                ),
                [0, 1],
                [1, 2],
            ),
            r"`promise` must have costs of at most 1e\+150, got 1e\+307",
        ),
        (
            lambda _: cc.check_promise(cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6)]), [0, 1], [1, 2]),
            "`condition` must say at which condition",
        ),
        (
            lambda _: cc.check_promise(cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6)]), [0, 1], [1, 2], condition=0.5),
            "which has no threshold",
        ),
    ],
)
def test_bad_questions_are_refused(promise, ask, message):
    with pytest.raises(cc.CostCurvesError, match=message):
        ask(promise)
