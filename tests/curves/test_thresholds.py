"""Threshold policies: which threshold is in use at each operating condition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import costcurves as cc
import oracles
from costcurves.curves.thresholds import swap_axis
from worlds import ALL_TIED, FINE, MIXED, PERFECT, curve_of, predictions

PCS = np.linspace(0.003, 0.997, 41)


def cost_of_rule(data, pc, rule):
    """Return the cost at pc of predicting positive where the rule holds, by looking at every example."""
    labels, scores = data
    n_neg, n_pos = oracles.class_sizes(labels)
    misses = sum(1 for y, s in zip(labels, scores, strict=True) if y and not rule(s))
    alarms = sum(1 for y, s in zip(labels, scores, strict=True) if not y and rule(s))
    return pc * misses / n_pos + (1 - pc) * alarms / n_neg


@given(predictions(), st.sampled_from([-1, 0, 0.2, 0.5, 1, 2]))
def test_a_fixed_threshold_is_a_straight_line(data, cut):
    curve = cc.CostCurve(curve_of(data), policy=cut)
    for pc in PCS:
        assert curve.evaluate(pc) == pytest.approx(cost_of_rule(data, pc, lambda s: s >= cut))
    assert len(curve.vertices) == 2
    assert curve.threshold_at(0.5) == cut


@given(predictions())
def test_the_bayes_policy_predicts_positive_iff_that_is_cheaper_by_the_score(data):
    labels, scores = data
    n_neg, n_pos = oracles.class_sizes(labels)
    p = n_pos / (n_pos + n_neg)
    curve = cc.CostCurve(curve_of(data), policy="bayes")
    for pc in PCS:
        cost_fp, cost_fn = (1 - pc) / (1 - p), pc / p
        if min(abs((1 - s) * cost_fp - s * cost_fn) for s in scores) < 1e-9:
            continue  # exactly at a score: rounding decides
        rule = cost_of_rule(data, pc, lambda s, fp=cost_fp, fn=cost_fn: (1 - s) * fp < s * fn)
        assert curve.evaluate(pc) == pytest.approx(rule)
        assert curve.threshold_at(pc) == pytest.approx(cost_fp / (cost_fp + cost_fn))


def test_at_its_own_score_the_bayes_policy_does_not_predict_positive():
    # Half of the examples are positive, so pc = 1/2 is the cost share 1/2 of the middle score.
    curve = cc.CostCurve(curve_of(([0, 1, 0, 1], [0.25, 0.5, 0.5, 0.75])), policy="bayes")
    assert curve.evaluate(0.5) == 0.25
    assert curve.evaluate(0.5 + 1e-9) == pytest.approx(0.25)
    assert (curve.fpr.tolist(), curve.fnr.tolist()) == ([0, 0, 0.5, 1], [1, 0.5, 0, 0])


def test_scores_calibrated_elsewhere_are_moved():
    data = MIXED
    for q in (0.1, 0.5, 0.8):
        curve = cc.CostCurve(curve_of(data), policy=cc.thresholds.bayes(prevalence=q))
        for pc in PCS:
            cut = (1 - pc) * q / ((1 - pc) * q + pc * (1 - q))
            assert curve.evaluate(pc) == pytest.approx(cost_of_rule(data, pc, lambda s, c=cut: s > c))


@given(predictions(), predictions())
def test_validation_uses_thresholds_that_are_best_on_the_other_data(found_on, judged_on):
    other = curve_of(found_on, name="other")
    curve = cc.CostCurve(curve_of(judged_on), policy=cc.thresholds.validation(other))
    lowest = min(found_on[1])
    for pc in PCS:
        least = float(oracles.envelope(oracles.roc_rates(*found_on), pc))
        cuts = [math.inf, *set(found_on[1])]
        best = [cut for cut in cuts if cost_of_rule(found_on, pc, lambda s, c=cut: s >= c) < least + 1e-9]
        # "Always positive" on the other data stays that here.
        floor = {cut: -math.inf if cut == lowest else cut for cut in best}
        costs = [cost_of_rule(judged_on, pc, lambda s, c=floor[cut]: s >= c) for cut in best]
        assert min(abs(curve.evaluate(pc) - cost) for cost in costs) < 1e-9


@given(predictions())
def test_validation_on_the_same_data_is_optimal(data):
    roc = curve_of(data)
    same = cc.CostCurve(roc, policy=cc.thresholds.validation(roc)).evaluate(FINE)
    assert same == pytest.approx(cc.CostCurve(roc).evaluate(FINE))


@given(predictions())
def test_no_policy_beats_the_optimal_one(data):
    roc = curve_of(data)
    best = cc.CostCurve(roc, policy=cc.thresholds.optimal()).evaluate(FINE)
    for policy in ("bayes", 0.5, cc.thresholds.validation(curve_of(MIXED))):
        assert (cc.CostCurve(roc, policy).evaluate(FINE) >= best - 1e-12).all()


def test_optimal_thresholds_are_those_of_the_vertices():
    curve = cc.CostCurve(curve_of(PERFECT))
    assert curve.threshold_at([0.0, 0.5, 1.0]).tolist() == [3.0, 3.0, 3.0]
    assert cc.CostCurve(curve_of(ALL_TIED)).threshold_at([0.2, 0.8]).tolist() == [math.inf, -math.inf]


@given(st.floats(0, 1), st.floats(0.01, 0.99))
def test_the_map_between_cost_share_and_pc_is_its_own_inverse(share, prevalence):
    assert float(swap_axis(swap_axis(share, prevalence), prevalence)) == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda roc: cc.CostCurve(roc, "best"),
            cc.InputError,
            "`policy` must be 'optimal', .*, 'bayes', .* got 'best'",
        ),
        (lambda roc: cc.CostCurve(roc, None), cc.InputError, "`policy` must be .* got None"),
        (lambda roc: cc.CostCurve(roc, True), cc.InputError, "`policy` must be .* got True"),
        (lambda _: cc.thresholds.fixed(math.nan), cc.InputError, "`threshold` must be finite, got nan"),
        (lambda _: cc.thresholds.bayes(1.0), cc.InputError, r"`prevalence` must be in \(0, 1\), got 1.0"),
        (lambda _: cc.thresholds.validation(0.5), cc.InputError, "`other` must be a RocCurve, got 0.5"),
        (
            lambda _: cc.thresholds.validation(cc.RocCurve.from_rates(0.1, 0.5, name="e")),
            cc.UnsupportedError,
            "`other` must come from scores, got 'e'",
        ),
        (
            lambda _: cc.CostCurve(curve_of(([0, 1], [0.5, 1.5])), "bayes"),
            cc.InputError,
            r"probabilities in \[0, 1\], got 1.5",
        ),
        (
            lambda _: cc.CostCurve(curve_of(([0, 1], [-0.5, 0.5])), "bayes"),
            cc.InputError,
            r"probabilities in \[0, 1\], got -0.5",
        ),
        (
            lambda _: cc.CostCurve(cc.RocCurve.from_rates(0.1, 0.6, name="e"), "bayes"),
            cc.UnsupportedError,
            "needs a curve made from scores, got 'e'",
        ),
        (
            lambda _: cc.CostCurve(cc.RocCurve.from_confusion_matrix([[9, 0], [3, 0]]), 0.5),
            cc.UnsupportedError,
            "`threshold` needs a curve made from scores",
        ),
        (lambda _: cc.CostCurve(curve_of(MIXED, points="hull"), "bayes"), cc.UnsupportedError, "needs every point"),
        (lambda _: cc.CostCurve(curve_of(MIXED, points="hull"), 0.4), cc.UnsupportedError, "needs every point"),
        (lambda _: cc.CostCurve([0.5]), cc.InputError, "`source` must be a RocCurve or a RocHull"),
    ],
)
def test_policies_refuse(make, error, message):
    with pytest.raises(error, match=message):
        make(curve_of(MIXED))
