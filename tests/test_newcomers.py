"""Mistakes of a newcomer, and the sentence that each is answered with."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import costcurves as cc
from laws import random_worlds

RNG = np.random.default_rng(0)
Y = RNG.random(60) < 0.4
S = 1 / (1 + np.exp(-RNG.normal(1.5 * Y, 1)))
T = 1 / (1 + np.exp(-RNG.normal(1.0 * Y, 1)))
NAMES = np.where(Y, "bad", "good")
BOTH = {"forest": S, "logit": T}
SHORT = {"forest": S, "logit": T[:-1]}
HERE = cc.OperatingCondition(prevalence=0.1, cost_fp=1, cost_fn=10)
CURVE = cc.CostCurve.from_predictions(Y, S)
SAME_LENGTH = r"`y_score of 'logit'` and `y_true` must have the same length, got 59 and 60"
SWAPPED = r"`y_true` must hold two classes, got labels .*: are labels and scores swapped\?"
FROM = r"for labels and scores use .*from_predictions"

MISTAKES = [
    # arguments in the wrong order
    (lambda: cc.RocCurve.from_predictions(S, Y), SWAPPED),
    (lambda: cc.CostCurve.from_predictions(S, Y), SWAPPED),
    (lambda: cc.RocCurve.from_predictions((1000 * S).astype(int), Y), SWAPPED),
    (lambda: cc.RocCurve.from_predictions(S, NAMES, pos_label="bad"), r"`pos_label` .* labels are numbers.* swapped\?"),
    (lambda: cc.RocCurve.from_predictions(S, Y, pos_label=1), r"`pos_label` .* swapped\?"),
    (lambda: cc.compare(S, T, Y), SWAPPED),
    (lambda: cc.compare_many(BOTH, Y), r"`y_true` must be 1-D, got a dict: are .* swapped\?"),
    (lambda: cc.recommend(BOTH, Y, HERE), r"`y_true` must be 1-D, got a dict: are .* swapped\?"),
    (lambda: cc.recommend(S, {"forest": Y}, HERE), SWAPPED),
    (lambda: cc.RocCurve.from_predictions({"forest": S}, Y), r"`y_true` must be 1-D, got a dict: are .* swapped\?"),
    (lambda: cc.cost_curve_area(S, Y), SWAPPED),
    # percentages
    (
        lambda: cc.OperatingCondition(30, cost_fp=1, cost_fn=5),
        r"`prevalence` must be in \(0, 1\), got 30: 30 % is 0.3$",
    ),
    (
        lambda: cc.OperatingRange((10, 30), cost_fp=1, cost_fn=5),
        r"`prevalence` must be in \(0, 1\), got 10: 10 % is 0.1$",
    ),
    (lambda: CURVE.band(level=95), r"`level` must be in \(0, 1\), got 95: 95 % is 0.95$"),
    (lambda: cc.recommend(Y, BOTH, HERE, level=97.5), r"`level` must be in \(0, 1\), got 97.5: 97.5 % is 0.975$"),
    (lambda: cc.RocHull.from_predictions(Y, BOTH).best_at_fpr(5), r"`fpr` must be in \[0, 1\], got 5: 5 % is 0.05$"),
    (lambda: CURVE.evaluate(50), r"`pc` must be in \[0, 1\], got 50.0: 50 % is 0.5$"),
    (lambda: CURVE.evaluate([0.1, 50]), r"`pc` must be in \[0, 1\], got 50.0 at position 1: 50 % is 0.5$"),
    (lambda: cc.OperatingCondition(1, cost_fp=1, cost_fn=5), r"`prevalence` must be in \(0, 1\), got 1: 1 % is 0.01$"),
    (lambda: cc.OperatingCondition("1%", cost_fp=1, cost_fn=5), r"`prevalence` must be a number, .*: 1% is 0.01$"),
    # a range where a condition is needed, and a label in another case
    (lambda: cc.recommend(Y, BOTH, cc.OperatingRange(0.1, cost_fp=1, cost_fn=(5, 9))), r": recommend_within and hull"),
    (
        lambda: cc.RocCurve.from_predictions(NAMES, S, pos_label="Bad"),
        r"got 'Bad', labels are .*: did you mean 'bad'\?$",
    ),
    (lambda: cc.OperatingCondition(100, cost_fp=1, cost_fn=5), r"`prevalence` must be in \(0, 1\), got 100$"),
    (lambda: cc.OperatingCondition(300, cost_fp=1, cost_fn=5), r"`prevalence` must be in \(0, 1\), got 300$"),
    (lambda: cc.OperatingCondition(-30, cost_fp=1, cost_fn=5), r"`prevalence` must be in \(0, 1\), got -30$"),
    # lengths that differ
    (lambda: cc.RocHull.from_predictions(Y, SHORT), SAME_LENGTH),
    (lambda: cc.recommend(Y, SHORT, HERE), SAME_LENGTH),
    (lambda: cc.recommend_within(Y, SHORT, cc.OperatingRange(0.1, cost_fp=1, cost_fn=(5, 10))), SAME_LENGTH),
    (lambda: cc.compare_many(Y, SHORT), SAME_LENGTH),
    (lambda: cc.Report.from_predictions(Y, SHORT), SAME_LENGTH),
    (lambda: cc.evaluate(SHORT, None, Y), r"`logit` and `y` must have the same length, got 59 and 60"),
    (lambda: cc.CostCurve.from_predictions(Y, S[1:]), r"`y_score` and `y_true` must have the same length"),
    (lambda: cc.RocHull.from_predictions(Y, {"a": S, "b": [np.nan, *S[1:]]}), r"`y_score of 'b'` must be finite"),
    # classes called where a method is meant
    (
        lambda: cc.RocCurve(Y, S),
        r"`RocCurve` must be made by .* RocCurve\.from_predictions\(y_true, y_score\)",
    ),
    (lambda: cc.RocCurve(y_true=Y, y_score=S), r"RocCurve\.from_predictions\(y_true, y_score\)"),
    (lambda: cc.CostCurve(Y, S), FROM),
    (lambda: cc.RocHull(Y), FROM),
    (lambda: cc.RocHull(BOTH), FROM),
    # one classifier where two are needed
    (lambda: cc.compare_many(Y, S), r"two classifiers or more"),
    # probabilities of both classes, and labels that do not say which class is meant
    (
        lambda: cc.RocCurve.from_predictions(Y, np.stack([1 - S, S], axis=1)),
        r"`y_score` must be 1-D, got shape \(60, 2\): .*\(X\)\[:, list\(model.classes_\).index\(pos_label\)\]",
    ),
    (
        lambda: cc.recommend(Y, np.stack([1 - S, S], axis=1), HERE),
        r"`scores` must be 1-D, .*column of the positive class",
    ),
    (lambda: cc.RocCurve.from_predictions(NAMES, S), r"`pos_label` must be given when labels are names"),
]


@pytest.mark.parametrize(
    ("scores", "name"),
    [
        (S, "classifier"),
        (list(S), "classifier"),
        (pd.Series(S), "classifier"),
        (pd.Series(S, name=3), "classifier"),
        (pd.Series(S, name="forest"), "forest"),
        (pl.Series("forest", S), "forest"),
    ],
)
def test_the_scores_of_one_classifier_need_no_mapping(scores, name):
    span = cc.OperatingRange(0.1, cost_fp=1, cost_fn=(5, 10))
    asked = {
        "recommend": lambda s: cc.recommend(Y, s, HERE),
        "range": lambda s: cc.recommend_within(Y, s, span),
        "hull": lambda s: cc.RocHull.from_predictions(Y, s),
        "predictions": lambda s: cc.Predictions(Y, s),
        "report": lambda s: cc.Report.from_predictions(Y, s, scenarios={"here": HERE}),
    }
    for what, ask in asked.items():
        alone, mapped = ask(scores), ask({name: S})
        assert repr(alone) == repr(mapped), what
    assert cc.recommend(Y, scores, HERE).best.classifier == name


@pytest.mark.parametrize(("call", "message"), MISTAKES)
def test_a_mistake_is_answered_with_what_to_do(call, message):
    with pytest.raises(cc.CostCurvesError, match=message):
        call()


def test_labels_of_three_classes_are_not_taken_for_scores():
    with pytest.raises(cc.DataError, match=r"`y_true` must hold two classes, got labels 0, 1, 2$"):
        cc.RocCurve.from_predictions([0, 1, 2], [0.1, 0.2, 0.3])


# A condition wherever a pc is taken ------------------------------------------------------------------------------


def takers(rng):
    """Return every method that takes a pc, of random curves."""
    y = np.append(rng.random(40) < 0.4, [True, False])
    a, b = (np.round(rng.normal(y, 1), 1) for _ in range(2))
    curve, bayes = (
        cc.CostCurve.from_predictions(y, a),
        cc.CostCurve.from_predictions(y, 1 / (1 + np.exp(-b)), policy="bayes"),
    )
    difference = cc.compare(y, a, b, simultaneous=False, pc=[0.0, 1.0])
    hull = cc.RocHull.from_predictions(y, {"a": a, "b": b})
    return [
        *(one for c in (curve, bayes) for one in (c.evaluate, c.step_at, c.threshold_at, c.cuts_at, c.errors_at)),
        lambda pc: [getattr(curve.band(pc=pc), side).tolist() for side in ("pc", "lower", "upper")],
        curve.lines().evaluate,
        curve.operating_range().contains,
        difference.band.p_values_at,
        lambda pc: [getattr(cc.compare(y, a, b, pc=pc, simultaneous=False), side).tolist() for side in ("pc", "lower")],
        hull.evaluate,
        cc.Binormal(1.0, 0.7).rates,
        lambda pc: [cc.average_band([curve], kind="within", given_choice=True, pc=pc).upper.tolist()],
        lambda pc: cc.coverage(curve, n_pos=9, n_neg=9, pc=pc).probability.tolist(),
    ]


@pytest.mark.law
def test_a_condition_stands_for_its_pc_wherever_one_is_taken():
    for rng in random_worlds(10, stream=1601):
        here, there = (cc.OperatingCondition(p, cost_fp=1, cost_fn=rng.uniform(0.5, 20)) for p in (0.1, 0.4))
        pair = sorted((here, there), key=lambda condition: condition.pc)
        for take in takers(rng):
            np.testing.assert_equal(take(here), take(here.pc))
            np.testing.assert_equal(take(pair), take([one.pc for one in pair]))


def test_a_range_stands_for_the_part_of_the_axis_that_it_spans():
    over = cc.OperatingRange(prevalence=(0.1, 0.3), cost_fp=1, cost_fn=(2, 10))
    assert CURVE.area(over) == CURVE.area(over.pc)
    assert cc.cost_curve_area(Y, S, over=over) == cc.cost_curve_area(Y, S, over=over.pc)
