"""Scores worse than chance: found where they are, hardly ever where they are not, and told of once a question."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm
from sklearn.linear_model import LogisticRegression

import costcurves as cc
from costcurves.curves import chance
from costcurves.curves.chance import worse_than_chance
from laws import random_worlds

RNG = np.random.default_rng(0)
Y = RNG.random(300) < 0.3
GOOD = Y + RNG.normal(0, 0.5, 300)
WORDS = np.where(Y, "bad", "good")
HERE = cc.OperatingCondition(prevalence=0.1, cost_fp=1, cost_fn=9)


def told(call):
    """Return the warnings of a call, as (name of the classifier, line that they point to)."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    assert {one.category for one in found} <= {cc.WorseThanChanceWarning}
    assert {one.filename for one in found} <= {__file__}
    return [str(one.message).split(" is worse than chance")[0] for one in found]


# The test --------------------------------------------------------------------------------------------------------


def table(groups, positives):
    """Return cumulated counts of groups of tied scores, from the highest down."""
    tp = np.concatenate(([0], np.cumsum(positives)))
    return np.concatenate(([0], np.cumsum(groups))) - tp, tp


def exact_p_value(groups, positives):
    """Return the chance that so many positives, placed at random, rank as low as these, by all ways to place them."""
    middles = np.repeat([2 * sum(groups[:i]) + size for i, size in enumerate(groups)], groups)
    seen = sum(p * (2 * sum(groups[:i]) + size) for i, (p, size) in enumerate(zip(positives, groups, strict=True)))
    n_pos = sum(positives)
    as_low = sum(sum(middles[list(chosen)]) >= seen for chosen in combinations(range(middles.size), n_pos))
    return Fraction(int(as_low), comb(middles.size, n_pos))


@pytest.mark.law
def test_the_bound_is_never_below_the_exact_p_value():
    for rng in random_worlds(150, stream=1610):
        groups = rng.integers(1, 5, int(rng.integers(2, 7)))
        groups = groups[np.cumsum(groups) <= 12]
        if groups.size < 2:
            continue
        positives = rng.binomial(groups, np.sort(rng.random(groups.size)) ** rng.uniform(0.2, 5))
        if 0 < positives.sum() < groups.sum():
            bound = chance._least_log_bound(positives.astype(float), (groups - positives).astype(float))
            assert np.exp(bound) >= float(exact_p_value(groups.tolist(), positives.tolist())) * (1 - 1e-9)


def test_the_bound_is_exact_where_everything_is_reversed(monkeypatch):
    monkeypatch.setattr(chance, "SIGNIFICANT", 1e-300)  # a bound that is low enough is not improved
    for n_pos, n_neg in ((3, 3), (10, 10), (5, 40), (40, 5)):
        groups = np.ones(n_pos + n_neg)
        positives = np.repeat([0.0, 1.0], [n_neg, n_pos])
        bound = chance._least_log_bound(positives, groups - positives)
        assert np.exp(bound) == pytest.approx(1 / comb(n_pos + n_neg, n_pos), rel=0.05)


@pytest.mark.law
def test_scores_that_know_nothing_are_hardly_ever_accused():
    # Few distinct scores and rare classes are where a normal approximation would accuse a hundred times too often.
    accused = sum(
        worse_than_chance(*table(groups, rng.multivariate_hypergeometric(groups, n_pos))) is not None
        for rng in random_worlds(6000, stream=1611)
        for groups in [rng.integers(1, 30, int(rng.integers(2, 9)))]
        for n_pos in [int(rng.integers(1, groups.sum()))]
    )
    # At 1 in 10,000 each, more than this happens in one of 10^6 runs. A normal approximation would accuse about 60.
    assert accused <= binom.isf(1e-6, 6000, 1e-4)


@pytest.mark.parametrize("sizes", [(10, 10), (15, 60), (300, 3000), (50, 100_000)])
def test_reversed_scores_are_found_and_good_ones_are_not(sizes):
    rng = np.random.default_rng(1)
    y = np.repeat([True, False], sizes)
    scores = rng.normal(6.0 * y, 1)
    assert told(lambda: cc.RocCurve.from_predictions(y, -scores, name="m")) == ["'m'"]
    assert told(lambda: cc.RocCurve.from_predictions(y, scores, name="m")) == []
    assert told(lambda: cc.RocCurve.from_predictions(y, rng.normal(size=y.size))) == []


def test_scores_that_are_useful_somewhere_are_not_reversed():
    # Both the highest and the lowest scores are positives: not reversed, although the AUC is below one half.
    scores = np.concatenate([np.full(300, 9.0), np.full(600, 1.0), np.linspace(4, 5, 1000)])
    y = np.repeat([True, True, False], [300, 600, 1000])
    assert cc.RocCurve.from_predictions(y, scores).auc() < 0.4
    assert told(lambda: cc.RocCurve.from_predictions(y, scores)) == []


@pytest.mark.law
def test_all_doors_judge_the_same_scores_alike():
    # A hull is found without counting all scores, and weights of one are no weights: the verdict is the same.
    for rng in random_worlds(25, stream=1612):
        n = int(rng.integers(20, 3000))
        y = np.append(rng.random(n) < rng.uniform(0.1, 0.9), [True, False])
        scores = np.round(rng.normal(y * rng.choice([-3.0, -1, -0.4, 0, 1]), 1), int(rng.integers(0, 5)))
        mixed = rng.permutation(y.size)
        every = told(lambda y=y, s=scores: cc.RocCurve.from_predictions(y, s))
        assert told(lambda y=y, s=scores: cc.RocCurve.from_predictions(y, s, points="hull")) == every
        assert told(lambda y=y[mixed], s=scores[mixed]: cc.RocCurve.from_predictions(y, 2 * s)) == every
        ones = np.ones(y.size)
        assert told(lambda y=y, s=scores, w=ones: cc.RocCurve.from_predictions(y, s, sample_weight=w)) == every


def test_weights_count_by_their_effective_number():
    y, scores = np.repeat([True, False], 12), np.arange(24.0)
    assert told(lambda: cc.RocCurve.from_predictions(y, scores)) == ["'classifier'"]
    heavy = np.where(np.arange(24) % 12 < 2, 1.0, 1e-6)
    assert told(lambda: cc.RocCurve.from_predictions(y, scores, sample_weight=heavy)) == []


# Once a question -------------------------------------------------------------------------------------------------

BOTH = {"flipped": -GOOD, "fine": GOOD}
FRAME = pd.DataFrame({"y": Y, **BOTH})
QUESTIONS = {
    "roc": lambda: cc.RocCurve.from_predictions(Y, -GOOD, name="flipped"),
    "roc, hull only": lambda: cc.RocCurve.from_predictions(Y, -GOOD, name="flipped", points="hull"),
    "roc of a frame": lambda: cc.RocCurve.from_frame(FRAME, label="y", score="flipped"),
    "cost curve": lambda: cc.CostCurve.from_predictions(Y, -GOOD, name="flipped"),
    "hull": lambda: cc.RocHull.from_predictions(Y, BOTH),
    "hull of a frame": lambda: cc.RocHull.from_frame(FRAME, label="y", scores=["flipped", "fine"]),
    "compare": lambda: cc.compare(Y, -GOOD, GOOD, names=("flipped", "fine")),
    "compare a frame": lambda: cc.compare.from_frame(FRAME, label="y", score_a="flipped", score_b="fine"),
    "compare many": lambda: cc.compare_many(Y, BOTH, pc=[0.4, 0.6]),
    "recommend": lambda: cc.recommend(Y, BOTH, HERE),
    "recommend within": lambda: cc.recommend_within(Y, BOTH, cc.OperatingRange(0.1, 1, (5, 9))),
    "report": lambda: cc.Report.from_predictions(Y, BOTH),
    "evaluate": lambda: repr(cc.evaluate(BOTH, None, Y)),
    "figure": lambda: cc.CostCurveDisplay.from_predictions(Y, BOTH),
    "the wrong column": lambda: cc.recommend(WORDS, {"flipped": WRONG}, HERE, pos_label="bad"),
}
MODEL = LogisticRegression().fit(GOOD[:, None], WORDS)
WRONG = MODEL.predict_proba(GOOD[:, None])[:, 1]  # that of "good"


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS.keys())
def test_every_question_warns_once_and_names_the_classifier(ask):
    assert told(ask) == ["'flipped'"]


def test_the_warning_says_what_to_do():
    with pytest.warns(cc.WorseThanChanceWarning) as found:
        cc.recommend(WORDS, {"logit": WRONG}, HERE, pos_label="bad")
    text = str(found[0].message)
    assert text.startswith("'logit' is worse than chance: its AUC is 0.0624.")
    assert "predict_proba take the column list(model.classes_).index(pos_label)" in text
    right = MODEL.predict_proba(GOOD[:, None])[:, list(MODEL.classes_).index("bad")]
    assert told(lambda: cc.recommend(WORDS, {"logit": right}, HERE, pos_label="bad")) == []


def test_questions_that_fail_warn_of_nothing_and_leave_the_next_one_alone():
    def fail():
        with pytest.raises(cc.InputError):
            cc.recommend(Y, BOTH, HERE, level=95)
        with pytest.raises(cc.DataError):
            cc.RocHull.from_predictions(Y, {"flipped": -GOOD, "short": GOOD[1:]})

    assert told(fail) == []
    assert told(QUESTIONS["hull"]) == ["'flipped'"]


def test_metrics_scorers_and_classifiers_do_not_warn():
    # What they judge has scores of the right class for sure, or they are asked very often.
    labels = Y.astype(int)
    assert told(lambda: cc.cost_curve_area(Y, -GOOD)) == []
    assert told(lambda: cc.normalized_expected_cost(labels, 1 - labels, 0.5)) == []
    clf = LogisticRegression().fit(GOOD[:, None], 1 - labels)
    assert told(lambda: cc.expected_cost_scorer(0.5, policy="bayes")(clf, GOOD[:, None], labels)) == []
    assert told(lambda: cc.CostThresholdClassifier(clf, 0.5, cv="prefit").fit(GOOD[:, None], labels)) == []
    evaluation = cc.evaluate({"fine": GOOD}, None, Y)
    assert told(lambda: [evaluation.roc_curve("fine"), evaluation.hull(), repr(evaluation)]) == []


def test_a_normal_approximation_would_accuse_too_often():
    # Three alarms, all on the rare negatives: that happens by chance in about 1 of 1,000 data sets.
    n, rare = 1000, 100
    fp, tp = np.array([0, 3, rare]), np.array([0, 0, n - rare])
    ranks = np.array([1.5, 3 + (n - 3) / 2])
    mean, sizes = (n + 1) / 2, np.array([3, n - 3])
    deviation = (3 * ranks[0] + (rare - 3) * ranks[1]) / rare - mean
    spread = np.sqrt((sizes * (ranks - mean) ** 2).sum() / n * (n - rare) / (n - 1) / rare)
    assert norm.cdf(deviation / spread) < 1e-6
    assert worse_than_chance(fp, tp) is None
