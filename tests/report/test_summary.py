"""What a report collects is what the core computes, and what is thinned for the pictures loses nothing that matters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import costcurves as cc
from costcurves.report.classes import summarise_classes
from costcurves.report.summary import summarise, visible

RNG = np.random.default_rng(5)
Y = RNG.random(300) < 0.35
SCORES = {"sharp": Y + RNG.normal(0, 0.5, Y.size), "fair": Y + RNG.normal(0, 0.9, Y.size), "dull": RNG.random(Y.size)}
# The highest scores of all belong to negatives, so that no threshold is without false alarms.
Y[:3], SCORES["sharp"][:3], SCORES["fair"][:3], SCORES["dull"][:3] = False, 9, 9, 9
USUAL = cc.OperatingCondition(0.2, cost_fp=1, cost_fn=6)
UNSURE = cc.OperatingRange(prevalence=(0.1, 0.3), cost_fp=1, cost_fn=(2, 9))


@pytest.fixture(scope="module")
def summary():
    return summarise(
        cc.Predictions(Y, SCORES),
        scenarios={"usual": USUAL, "unsure": UNSURE, "free": cc.OperatingCondition(0.2, cost_fp=1, cost_fn=1e-6)},
    )


def test_the_answer_at_a_condition_is_that_of_the_core(summary):
    answer = summary.answers[0]
    hull = cc.RocHull.from_predictions(Y, SCORES)
    decision = hull.best(USUAL)
    assert answer.decision.to_dict() == decision.to_dict()
    assert answer.recommendation.to_dict() == cc.recommend(Y, SCORES, USUAL).to_dict()
    assert set(answer.beaten) | set(answer.unbeaten) == {"fair", "dull", "always negative", "always positive"}
    low, high = answer.stretch
    assert low <= USUAL.pc <= high
    for pc in np.linspace(low, high, 12)[1:-1]:
        assert hull.best(float(pc)).classifier == decision.classifier
    for pc, neighbour in ((low - 1e-6, answer.before), (high + 1e-6, answer.after)):
        if 0 < pc < 1:
            assert hull.best(float(pc)).classifier == neighbour != decision.classifier


def test_the_answer_for_a_range_is_that_of_the_core(summary):
    answer = summary.answers[1]
    assert answer.recommendation.to_dict() == cc.recommend_within(Y, SCORES, UNSURE).to_dict()
    assert [end.condition for end in answer.ends] == list(UNSURE.corners)


def limits_at(one, k, pc):
    """Return the limits of a cost as the page combines them, from those of the two error rates."""
    points = one.vertices
    cost = pc * points.fnr[k] + (1 - pc) * points.fpr[k]
    down, up = (
        np.hypot(pc * (misses[k] - points.fnr[k]), (1 - pc) * (alarms[k] - points.fpr[k]))
        for misses, alarms in zip(one.miss_limits, one.alarm_limits, strict=True)
    )
    return [max(cost - down, 0.0), cost + up]


@pytest.mark.parametrize("weight", [None, 1 + np.arange(40) % 3])
def test_limits_of_the_rates_give_those_of_the_band_also_for_few_errors(weight):
    y = np.arange(40) % 2 == 0
    # One false alarm and one miss at the best threshold.
    score = np.where(y, 2.0, 0.0) + np.linspace(0, 0.5, 40)
    score[1], score[0] = 9.0, -9.0
    (one,) = summarise(cc.Predictions(y, {"a": score}, sample_weight=weight)).classifiers
    curve = cc.CostCurve.from_predictions(y, score, sample_weight=weight)
    for pc in (0.02, 0.1, 0.5, 0.9, 0.98):
        k = int(np.argmin(pc * one.vertices.fnr + (1 - pc) * one.vertices.fpr))
        limits = curve.band(pc=[pc], method="wilson").at(pc)
        assert limits_at(one, k, pc) == pytest.approx([limits.lower, limits.upper])


def test_weights_count_everywhere_in_the_summary():
    weight = RNG.integers(1, 5, Y.size)
    weighted = summarise(cc.Predictions(Y, SCORES, sample_weight=weight), scenarios={"usual": USUAL, "unsure": UNSURE})
    # A whole weight stands for so many equal rows: estimates agree, limits are wider than those of so many rows.
    repeated = {name: np.repeat(s, weight) for name, s in SCORES.items()}
    many = summarise(cc.Predictions(np.repeat(Y, weight), repeated), scenarios={"usual": USUAL})
    assert weighted.hull.fpr == pytest.approx(many.hull.fpr)
    assert weighted.hull.tpr == pytest.approx(many.hull.tpr)
    assert weighted.data.prevalence == pytest.approx(many.data.prevalence)
    assert (weighted.data.n, weighted.data.n_pos) == (Y.size, int(Y.sum()))
    expected = cc.compare_many(Y, SCORES, sample_weight=weight)
    for one, other in zip(weighted.pairs.pairs, expected.pairs, strict=True):
        assert one.upper.tolist() == other.upper.tolist()
    ours, theirs = weighted.answers[0].recommendation, many.answers[0].recommendation
    assert ours.normalized_cost[0] == pytest.approx(theirs.normalized_cost[0])
    assert ours.upper[0] - ours.lower[0] > theirs.upper[0] - theirs.lower[0]


def test_a_trivial_choice_needs_no_interval(summary):
    answer = summary.answers[2].recommendation
    assert answer.best.classifier == "always negative"
    assert answer.lower[0] == answer.upper[0] == answer.normalized_cost[0]


def test_sliders_start_at_the_first_condition_else_inside_the_first_range_else_at_the_data():
    scores = {"a": SCORES["fair"]}
    assert summarise(cc.Predictions(Y, scores), scenarios={"r": UNSURE, "c": USUAL}).start == USUAL
    inside = summarise(cc.Predictions(Y, scores), scenarios={"r": UNSURE}).start
    assert UNSURE.contains(inside)
    start = summarise(cc.Predictions(Y, scores)).start
    assert (start.prevalence, start.cost_fp, start.cost_fn) == (pytest.approx(Y.mean(), abs=5e-4), 1, 1)


@pytest.mark.parametrize("rare", [True, False])
def test_one_case_of_a_class_is_enough_to_start(rare):
    y = np.full(3000, not rare)
    y[5] = rare
    assert 0 < summarise(cc.Predictions(y, {"a": np.arange(3000)})).start.prevalence < 1


def test_one_classifier_has_no_pairs():
    summary = summarise(cc.Predictions(Y, {"only": SCORES["fair"]}), scenarios={"usual": USUAL})
    assert summary.pairs is None
    assert summary.crossings == ()
    assert summary.answers[0].tests is None


@given(st.integers(0, 10**6), st.integers(2, 400), st.integers(1, 60), st.sampled_from([3, 20, 250]))
def test_thinning_keeps_every_vertex_and_moves_no_point_by_more_than_a_cell(seed, n, distinct, cells):
    rng = np.random.default_rng(seed)
    y = np.append(rng.random(n) < 0.5, [True, False])
    roc = cc.RocCurve.from_predictions(y, rng.integers(0, distinct, y.size) + y)
    thin = visible(roc, cells)
    kept = set(zip(thin.fp.tolist(), thin.tp.tolist(), thin.thresholds.tolist(), strict=True))
    vertices = roc.on_hull()
    assert set(zip(vertices.fp.tolist(), vertices.tp.tolist(), vertices.thresholds.tolist(), strict=True)) <= kept
    for fpr, tpr in zip(roc.fpr, roc.tpr, strict=True):
        assert np.max(np.abs([thin.fpr - fpr, thin.tpr - tpr]), axis=0).min() <= 1 / cells + 1e-12


def test_labels_with_a_name_keep_it():
    assert summarise(cc.Predictions(np.where(Y, "bad", "good"), SCORES, pos_label="bad")).data.positive == "bad"
    assert summarise(cc.Predictions(Y, {"a": SCORES["fair"]})).data.positive == "positive"


def test_k_classes_are_those_of_the_core():
    rng = np.random.default_rng(2)
    truth = rng.choice(["a", "b", "c"], 200)
    guesses = {
        name: np.where(rng.random(200) < p, rng.choice(["a", "b", "c"], 200), truth)
        for name, p in (("x", 0.2), ("y", 0.5))
    }
    costs = cc.CostMatrix([[0, 1, 2], [3, 0, 1], [5, 4, 0]], labels=["a", "b", "c"])
    found = summarise_classes(truth, guesses, costs)
    for name, interval in zip(found.names, found.intervals, strict=True):
        own = cc.bcost(truth, guesses[name], costs)
        assert (interval.estimate, interval.lower, interval.upper) == (own.estimate, own.lower, own.upper)
    assert found.comparison.to_dict() == cc.bdeltacost_many(truth, guesses, costs).to_dict()
    assert (found.comparison.best_name, found.comparison.sure) == ("x", True)
    assert sum(found.frequencies) == pytest.approx(1)
    assert found.regions
    assert all(len(polygon) > 2 for polygon in found.regions.values())


def test_a_class_without_examples_leaves_out_the_question_of_other_frequencies():
    costs = cc.CostMatrix([[0, 1, 2], [3, 0, 1], [5, 4, 0]], labels=["a", "b", "c"])
    found = summarise_classes(["a", "b"] * 20, {"x": ["a", "a"] * 20}, costs)
    assert found.hull is None
    assert found.regions == {}


@pytest.mark.parametrize("by", ["prevalence", "cost_fn", "cost_fp"])
@given(pc=st.floats(0.001, 0.999), share=st.floats(0.001, 0.999), fp=st.floats(0.01, 100), fn=st.floats(0.01, 100))
def test_with_pc_changes_one_quantity_and_reaches_the_pc(by, pc, share, fp, fn):
    here = cc.OperatingCondition(share, cost_fp=fp, cost_fn=fn, baseline=0.5)
    there = here.with_pc(pc, by=by)
    assert there.pc == pytest.approx(pc, rel=1e-9)
    assert [n for n in ("prevalence", "cost_fp", "cost_fn", "baseline") if getattr(here, n) != getattr(there, n)] in (
        [by],
        [],
    )


def test_with_pc_refuses_what_cannot_be_reached():
    here = cc.OperatingCondition(0.3, cost_fp=0, cost_fn=1)
    with pytest.raises(cc.InputError, match="`cost_fp` must be > 0, got 0"):
        here.with_pc(0.5, by="cost_fn")
    assert here.with_pc(0.5, by="cost_fp").pc == pytest.approx(0.5)
    with pytest.raises(cc.InputError, match=r"`pc` must be in \(0, 1\), got 1"):
        here.with_pc(1, by="cost_fp")
    with pytest.raises(cc.InputError, match="`by` must be one of 'prevalence', 'cost_fn', 'cost_fp', got 'cost'"):
        here.with_pc(0.5, by="cost")


def test_of_very_many_classifiers_only_pairs_with_a_recommended_one_are_told(monkeypatch):
    rng = np.random.default_rng(8)
    y = rng.random(120) < 0.4
    scores = {name: y * rng.uniform(0.5, 2) + rng.normal(size=120) for name in "abcd"}
    here = {"here": cc.OperatingCondition(0.3, cost_fp=1, cost_fn=3)}
    every = cc.Report.from_predictions(y, scores, scenarios=here)
    monkeypatch.setattr("costcurves.report.summary.ALL_PAIRS", 3)
    some = cc.Report.from_predictions(y, scores, scenarios=here)
    best = cc.recommend(y, scores, here["here"]).best.classifier
    known = {tuple(one.names): one for one in every.summary.pairs.pairs}
    told = some.summary.pairs.pairs
    assert {pair.names for pair in told} == {names for names in known if best in names}
    assert len(known) == 6
    for pair in told:  # whose limits still hold for all six
        assert (pair.lower == known[pair.names].lower).all()
    document = some.to_dict()
    assert len(document["differences"]) == len(document["crossings"]) == len(told)
    assert document["scenarios"][0]["pairs"] is None
    assert document["scenarios"][0]["recommendation"] == every.to_dict()["scenarios"][0]["recommendation"]
    assert "Pairs with a recommended classifier" in some.html()
