"""Bad input gets an error that names the argument, odd input the right answer, and nothing leaks or half happens."""

from __future__ import annotations

import copy
import json
import os
import pickle
import threading
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import costcurves as cc
from costcurves._base.files import write_atomically
from costcurves.counting import counts, hull_vertices

Y = [0, 1] * 6
S = [0.1, 0.9, 0.4, 0.35, 0.2, 0.8, 0.6, 0.7, 0.3, 0.5, 0.55, 0.65]
T = [0.3, 0.6, 0.2, 0.9, 0.4, 0.4, 0.1, 0.8, 0.7, 0.2, 0.5, 0.6]
COSTS = [[0, 1], [5, 0]]
JOINT = [[[50, 4], [6, 40]], [[8, 30], [2, 60]]]
ROC = cc.RocCurve.from_predictions(Y, S, name="roc")
FIXED = cc.RocCurve.from_confusion_matrix([[90, 10], [4, 16]], name="fixed")
RATES = cc.RocCurve.from_rates(0.1, 0.6, name="rates")
CURVE = cc.CostCurve(ROC)
HULL = cc.RocHull([ROC, FIXED, RATES])
MATRIX = cc.CostMatrix(COSTS, labels=["good", "bad"])
HUGE = 10**400
MANY = np.linspace(0, 1, 20_000)
MASKED = np.ma.masked_array(Y, mask=[True] + [False] * 11)
UNUSED = pd.Series(["a", "b", "a"], dtype=pd.CategoricalDtype(["a", "b", "c"]))


def roc(y_true=Y, y_score=S, **options):
    return cc.RocCurve.from_predictions(y_true, y_score, **options)


def bcost(**options):
    return cc.bcost.from_confusion([[90, 10], [4, 16]], COSTS, **options)


REFUSED = [
    # sizes
    (lambda: cc.fit_binormal(roc()).to_roc_curve(10**9), "`n_points` must be"),
    (lambda: cc.significant_dominance(Y, {"a": S, "b": T}, folds=[0, 1] * 6, n_points=10**9), "`n_points` must be"),
    (lambda: CURVE.band(pc=MANY, simultaneous=True), "`pc` must have at most"),
    (lambda: CURVE.band(pc=MANY, simultaneous=True, method="wilson"), "`pc` must have at most"),
    (lambda: cc.compare(Y, S, T, pc=MANY), "`pc` must have at most"),
    (lambda: cc.compare.from_curves(CURVE, cc.CostCurve(roc(y_score=T)), pc=MANY), "`pc` must have at most"),
    # labels and scores
    (lambda: roc(MASKED), "`y_true` must not have masked values, got 1"),
    (lambda: roc(y_score=MASKED), "`y_score` must not have masked values, got 1"),
    (lambda: roc(sample_weight=MASKED), "`sample_weight` must not have masked values, got 1"),
    (lambda: roc(pos_label=[[0, 1], [2]]), "`pos_label` must be one label"),
    (lambda: roc(pos_label=np.array([0, 1])), "`pos_label` must be one label"),
    (lambda: roc([1, 2] * 6), "`pos_label` must be given"),
    (lambda: roc(["a", "b "] * 6, pos_label="b"), "`pos_label` must be one of the labels in `y_true`, got 'b'"),
    (lambda: roc(pd.Series([0, None] * 6, dtype="Int64")), "`y_true` must be finite, got 6 non-finite values"),
    (lambda: roc(pl.Series([0, None] * 6)), "`y_true`"),
    (lambda: roc(x for x in Y), "`y_true` must be 1-D"),
    (lambda: roc(y_score=["0.5"] * 12), "`y_score` must be numeric"),
    (lambda: roc(y_score=np.array(["0.5"] * 12, dtype=object)), "`y_score` must be numeric, got '0.5' at position 0"),
    (lambda: roc(y_score=[2**70, 1] * 6), r"`y_score` must hold integers of at most 2\*\*53"),
    (
        lambda: roc(y_score=np.array([2**63 + 1, 1] * 6, dtype=object)),
        r"`y_score` must hold integers of at most 2\*\*53",
    ),
    (lambda: roc(y_score=np.arange(12) * 1j), "`y_score` must be numeric, got dtype complex128"),
    (lambda: roc(y_score=np.arange(12).astype("M8[s]")), "`y_score` must be numeric"),
    (lambda: roc(sample_weight=np.arange(12) * 1j), "`sample_weight` must be numeric"),
    (lambda: roc(sample_weight=np.arange(12).astype("m8[s]")), "`sample_weight` must be numeric"),
    (lambda: roc(sample_weight=[HUGE] * 12), "`sample_weight` must be numbers that a float can hold"),
    (lambda: roc(sample_weight=Y), "`sample_weight` must give weight to both classes"),
    (lambda: roc(sample_weight=[1e-320] * 12), r"`sample_weight` must have a sum in \[1e-100, 1e\+100\]"),
    (lambda: roc(sample_weight=[1e300] * 12), r"`sample_weight` must have a sum in \[1e-100, 1e\+100\]"),
    (lambda: roc(name="\ud800"), "`name` must be text that UTF-8 can hold"),
    (lambda: roc(name="\n"), "`name` must be a non-empty string"),
    (lambda: cc.RocCurve.from_confusion_matrix([[1e308, 1e308], [1, 1]]), "`confusion` must have a finite sum"),
    (lambda: cc.RocCurve.from_rates(HUGE, 0.5), "`fpr` must be numbers that a float can hold"),
    (lambda: cc.RocCurve.from_rates("0.1", 0.5), "`fpr` must be numeric"),
    (lambda: cc.RocCurve.from_rates(0.1, 0.5, thresholds="0.3"), "`thresholds` must be numeric"),
    (lambda: ROC.index_of("a"), "`threshold` must be numeric"),
    (lambda: ROC.index_of(np.nan), "`threshold` must not be NaN"),
    (lambda: cc.average_roc_curves([ROC], n_points=2**64), "`n_points` must be <= "),
    # cost curves
    (lambda: cc.CostCurve(ROC.on_hull(), policy=cc.thresholds.product()), "`policy=product\\(\\)` needs every point"),
    (lambda: CURVE.evaluate(HUGE), "`pc` must be numbers that a float can hold"),
    (lambda: CURVE.evaluate(np.array([0.5 + 0j])), "`pc` must be numeric"),
    (lambda: CURVE.evaluate(True), "`pc` must be numeric, got True"),
    (lambda: CURVE.evaluate("0.5"), "`pc` must be numeric"),
    (lambda: CURVE.evaluate(np.ma.masked_array([0.1, 0.2], mask=[True, False])), "`pc` must not have masked values"),
    (lambda: cc.CostCurve(ROC, policy=HUGE), "`policy` must be a number"),
    (lambda: cc.CostCurve(ROC, policy="optimall"), "`policy` must be 'optimal', 'crossfit', 'bayes'"),
    (lambda: cc.CostCurve(roc(y_score=[2 * s for s in S]), policy="bayes"), "`policy='bayes'` needs scores"),
    (lambda: cc.CostCurve(FIXED, policy=0.5), "`threshold` needs a curve made from scores"),
    (lambda: cc.thresholds.fixed(np.str_("0.5")), "`threshold` must be a number"),
    (lambda: cc.thresholds.fixed(np.complex128(1)), "`threshold` must be a number"),
    (lambda: CURVE.area(weight=int), "`weight` must be a density that takes arrays"),
    (lambda: CURVE.area(weight=lambda: 1), "`weight` must be a density that takes arrays"),
    (lambda: cc.Beta(1e300, 1), r"`a` and `b` must leave a mean inside \(0, 1\)"),
    (lambda: cc.Beta(1e308, 1e308), r"`a` and `b` must leave a mean inside \(0, 1\)"),
    (lambda: CURVE.band(prevalence_uncertainty=(1, 2)), "`prevalence_uncertainty` must be a Beta"),
    (lambda: CURVE.band(simultaneous="no"), "`simultaneous` must be True or False, got 'no'"),
    (lambda: CURVE.band(reoptimise=np.array([1, 0])), "`reoptimise` must be True or False"),
    (lambda: CURVE.band(level=1), r"`level` must be in \(0, 1\), got 1"),
    (lambda: CURVE.band(laplace=1e308), r"`laplace` must be <= 1e\+06"),
    (lambda: CURVE.band(method="wilsonn"), "`method` must be one of 'chosen', 'wilson'"),
    (lambda: CURVE.band(sampling="fulll"), "`sampling` must be one of"),
    (
        lambda: CURVE.band(method="resample", rng="abc"),
        "`rng` must be a numpy Generator, a seed >= 0 or None, got 'abc'",
    ),
    (lambda: CURVE.band(method="resample", rng=-1), "`rng` must be a numpy Generator"),
    (lambda: CURVE.band(method="resample", n_resamples=2**60), "`n_resamples` must be <= "),
    (lambda: CURVE.band(pc=[0.5, 0.2]), "`pc` must be increasing"),
    (lambda: CURVE.band(pc=[]), "`pc` must be one-dimensional and not empty"),
    (lambda: cc.CostCurve(RATES).band(), "`band` needs counts, got 'rates' made from rates"),
    (
        lambda: cc.CostCurve(roc(sample_weight=range(1, 13))).band(method="exact"),
        "`method` must be 'wilson' or 'gaussian'",
    ),
    (
        lambda: cc.average_band([ROC], kind="within", given_choice=True, metod="wilson"),
        "`kind='within'` must have no options but",
    ),
    (
        lambda: cc.average_band([ROC], kind="within", given_choice=True, simultaneous=1),
        "`simultaneous` must be True or False",
    ),
    (lambda: cc.average_band([FIXED, ROC]), "`curves` must not have thresholds that were chosen on the same fold"),
    (lambda: cc.average_band([FIXED, ROC], given_choice=1), "`given_choice` must be True or False, got 1"),
    (lambda: cc.average_band([FIXED], given_choice=True), "`costs` must hold two folds or more, got 1"),
    # conditions and hulls
    (lambda: cc.OperatingRange(np.array(None), 1, 1), "`prevalence` must be a number"),
    (lambda: cc.OperatingRange(0.3, 1, 2).contains(0.5), "`condition` must be an OperatingCondition, got 0.5"),
    (lambda: cc.OperatingCondition(0.3, 1, 2).money("1"), "`normalized_cost` must be a number"),
    (lambda: cc.OperatingCondition(HUGE, 1, 2), "`prevalence` must be a number"),
    (
        lambda: cc.OperatingCondition.from_cost_matrix([["0", "1"], ["2", "0"]], prevalence=0.5),
        "`costs` must be numeric",
    ),
    (lambda: HULL.add(ROC), "`another` must have different names, got 'roc' twice"),
    (lambda: HULL.to_json(3), "`path` must be a path, got 3"),
    (lambda: HULL.to_json(""), "`path` must be a path, got ''"),
    (lambda: cc.RocHull.from_json(None), "`path` must be a path, got None"),
    (lambda: cc.RocHull.from_json_text(None), "`text` must be a string, got NoneType"),
    (lambda: cc.RocHull.from_json_text(HULL.to_json()[:-20]), "`text` must be JSON"),
    (lambda: cc.RocHull.from_json_text("[" * 100_000), "`text` must be JSON"),
    (
        lambda: cc.RocHull.from_json_text(HULL.to_json().replace('"version": 2', '"version": 3')),
        "`version` must be 2, got 3",
    ),
    (lambda: cc.RocHull.from_json_text(HULL.to_json().replace("100", str(2**80))), "`fp`"),
    (
        lambda: cc.CostCurve(ROC, policy=cc.thresholds.rule(lambda pc: "x")),
        "`function` must return one threshold per pc, got no numbers",
    ),
    (lambda: cc.recommend(Y, {"a": S}, 0.3).saving(np.array([1, 2])), "`baseline` must be one of"),
    (lambda: cc.bcost.over_costs([[5, 1], [2, 6]], [[[0, 1], [1, 0]]], weights="x"), "`weights` must be 1 numbers"),
    (lambda: cc.bcost.over_costs([[5, 1], [2, 6]], np.array(0.5)), "`costs` must be a sequence of cost matrices"),
    (lambda: HULL.points_of(np.array(["roc", "fixed"])), "`name` must be one of roc, fixed, rates"),
    (lambda: HULL.roc_curve({"a": 1}), "`name` must be one of"),
    (lambda: HULL.roc_curves()["roc"].at([0, 99]), "`index` must select some of 13 points"),
    (lambda: ROC.exact_rates(13), "`index` must be <= 12, got 13"),
    (lambda: ROC.score_below("0.5"), "`threshold` must be a number"),
    (lambda: CURVE.score_below(None), "`threshold` must be a number"),
    (lambda: CURVE.threshold_set(0.5).contains(np.nan), "`threshold` must not be NaN"),
    (lambda: CURVE.threshold_set(0.5).contains(pd.DataFrame()), "`threshold` must be a number"),
    (lambda: ROC.index_of(0.5, above=np.array([1, 0])), "`above` must be True or False"),
    (lambda: cc.minimum_cost_predictions([[0.5, 0.5]], COSTS, classes=int), "`classes` must be a sequence of labels"),
    # comparisons
    (lambda: cc.Predictions(Y, {"a": S, "b": T}).compare(np.array(["a", "b"]), "b"), "the classifier must be one of"),
    (lambda: cc.Predictions(Y, {"a": S, "b": T}).compare("a", "a"), "`a` and `b` must be two classifiers, got 'a'"),
    (lambda: cc.compare_many(Y, {"a": S, "b": T}).pair(np.array(S), "b"), "`a` and `b` must be two of"),
    (lambda: cc.recommend(Y, {"a": S}, 0.3).index([1]), "`name` must be one of"),
    (lambda: cc.recommend_within(Y, {"a": S}, (0.2, 0.6)).thresholds_between("0.3", 0.5), "`low` must be a number"),
    (lambda: cc.compare(Y, S, T, method=np.zeros(3)), "`method` must be one of"),
    (lambda: cc.ConfusionTally().update(np.array(0), Y), "`y_true`"),
    (lambda: cc.ScoreTally().update(np.array(0), S), "`y_true` must be 1-D"),
    (lambda: cc.recommend_within(Y, {"a": S}, [[0.1, 0.2], [0.3]]), "`over` must be"),
    (lambda: cc.compare(Y, S, T, names=3), "`names` must be a pair of names, got 3"),
    (lambda: cc.compare(Y, S, T, names=("a", "a")), "`names` must differ, got 'a' twice"),
    (lambda: cc.compare(Y, S, T, simultaneous=2), "`simultaneous` must be True or False"),
    (lambda: cc.compare(Y, S, T, method="midp"), "`method` must be one of"),
    (lambda: cc.compare(Y, S, T[:5]), "must have the same length, got 5 and 12"),
    (lambda: cc.compare(Y, S, T, laplace=2**64), "`laplace` must be <= "),
    (lambda: cc.compare(Y, S, T).at("a"), "`condition` must be an OperatingCondition"),
    (lambda: cc.compare.from_joint(negatives="abc", positives=JOINT[1]), "`negatives` must be numeric"),
    (lambda: cc.compare.from_joint(negatives=JOINT, positives=JOINT[1]), "`negatives` must hold 2 x 2 counts"),
    (lambda: cc.compare.from_joint(negatives=JOINT[0], positives=np.zeros((2, 2))), "`positives` must hold examples"),
    (lambda: cc.compare_many(Y, {"a": S}), "`scores` must have two classifiers or more"),
    (lambda: cc.compare_many(Y, pd.DataFrame({"a": S})), "`scores` must have two classifiers or more"),
    (lambda: cc.compare_many(Y, {"a": S, "b": T}, rng=-1), "`rng` must be a numpy Generator"),
    (lambda: cc.compare_many(Y, {"a": S, "b": T}).pair([], "b"), "`a` and `b` must be two of"),
    # costs of examples
    (lambda: cc.example_cost(Y, S, cost_fp="a", cost_fn=1, policy=0.5), "`cost_fp` must be numeric"),
    (lambda: cc.example_cost(Y, S, cost_fp=1, cost_fn="a", policy="bayes"), "`cost_fn` must be numeric"),
    (
        lambda: cc.example_cost(Y, S, cost_fp=1, cost_fn=[1, 2], policy="bayes"),
        r"`cost_fn` must be a number or one per example \(12\)",
    ),
    (
        lambda: cc.example_cost(Y, S, cost_fp=1, cost_fn=-1, policy=0.5),
        r"`cost_fn` must be in \[0, 1e\+150\], got -1",
    ),
    # k classes
    (lambda: cc.CostMatrix(COSTS, labels=np.array(None)), "`labels` must be a sequence of labels"),
    (lambda: cc.CostMatrix(COSTS, labels=pd.Series([0, None], dtype="Int64")), "`labels` must not hold missing labels"),
    (lambda: cc.CostMatrix(pl.DataFrame({"a": [0, 1, 2]})), "`costs` must be square"),
    (lambda: cc.CostMatrix([["0", "1"], ["2", "0"]]), "`costs` must be numeric"),
    (lambda: cc.CostMatrix([[0, 1j], [1, 0]]), "`costs` must be numeric"),
    (lambda: cc.CostMatrix([[0, 1e308], [1, 0]]), r"`costs` must be at most 1e\+150, got 1e\+308"),
    (lambda: cc.CostMatrix(COSTS, labels=[[0, 1], [2]]), "`labels` must be hashable"),
    (lambda: cc.CostMatrix([[0]]), "`costs` must have at least 2 classes, got 1"),
    (
        lambda: cc.minimum_cost_predictions([[0.2, 0.8]], cc.CostMatrix(COSTS, labels=["b", 1])),
        "`classes` must name the columns of `probabilities` where the cost matrix's labels are not sorted",
    ),
    (lambda: MATRIX.cost([], "bad"), "`true` must be a label of the cost matrix"),
    (lambda: MATRIX.cost(pl.Series(["bad"]), "bad"), "`true` must be a label of the cost matrix"),
    (lambda: cc.expected_cost(MASKED, Y, COSTS), "`y_true` must not have masked values"),
    (lambda: cc.expected_cost(Y, Y, COSTS, sample_weight=[1e308] * 12), "`sample_weight` must have a finite sum"),
    (lambda: cc.expected_cost([0, pd.NA], [0, 1], COSTS), "`y_true` must not hold missing labels, got 1 of 2"),
    (lambda: cc.cost_models("M1", [1e308, 1e308]), "`priors` must have a sum of 1"),
    (lambda: cc.cost_models("M1", [0.5, 0.5], rng="a"), "`rng` must be a numpy Generator"),
    (lambda: bcost(rng=True), "`rng` must be a numpy Generator"),
    (lambda: bcost(method="exact", laplace=1e300), "`laplace` must be <= "),
    (lambda: bcost(method="resample", n_resamples=1e300), "`n_resamples` must be <= "),
    (lambda: cc.bcost.from_confusion([[2**63, 1], [1, 2**63]], COSTS), r"must hold at most 2\*\*53 examples"),
    (lambda: cc.bdeltacost.from_joint(JOINT, COSTS, names=None), "`names` must be a pair of names"),
    (lambda: cc.bdeltacost.from_joint(JOINT, COSTS, names=("a", "a")), "`names` must differ"),
    (lambda: cc.prior_hull({"a": np.eye(2)}, COSTS, trivial="no"), "`trivial` must be True or False"),
    (lambda: cc.prior_hull({"a": np.eye(2)}, COSTS, priors={0: 0.9, 1: (0.5, 1)}), "`priors` must allow a sum of 1"),
    (lambda: cc.normalized_expected_cost(Y, [[0, 1], [2]], 0.5), "`y_pred` must be "),
    (lambda: cc.scan("scores.csv", label="y", scores=np.array(0.3)), "`scores` must be a column or a list of columns"),
    (
        lambda: cc.RocHull([ROC]).best_at_fpr(5e-324, confidence=0.9),
        "needs at least 1,125,899,906,842,624 negative cases",
    ),
    (lambda: cc.dominance(np.array(0.3)), "`curves` must be "),
    (
        lambda: cc.RocHull([ROC]).best_at_capacity(alarms=5e-324, population=100, prevalence=0.3, confidence=0.9),
        "needs at least about [0-9,]{15,} negative and [0-9,]{15,} positive",
    ),
    (lambda: cc.RocHull([ROC]).best_at_fpr(1e-14, confidence=0.9), "needs at least [0-9,]{19} negative cases"),
    # planning
    (lambda: cc.plan_test_size([[90, 10], [4, 16]], COSTS, half_width=1e-320), "`half_width` must be reachable"),
    (lambda: cc.plan_test_size(JOINT, COSTS, difference=1e-320), "`difference` must be reachable"),
    (lambda: cc.power(JOINT, COSTS, n=1e308), "`n` must be <= "),
    (lambda: cc.chance_of_missing(0.1, 2**64), "`n` must be <= "),
    (lambda: cc.examples_to_see(1e-320), "`rate` must be large enough"),
    (lambda: cc.examples_to_see(0.5, times=2**64), "`times` must be <= "),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message[:60] for _, message in REFUSED])
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(cc.CostCurvesError, match=message):
        call()


TAKEN = [
    (lambda: roc(pd.Series([True, False] * 6, dtype="boolean"), pos_label=False).n_pos, 6),
    (lambda: roc([True, False] * 6, pos_label=False).auc(), ROC.auc()),
    (lambda: roc([1, 2] * 6, pos_label=2).auc(), ROC.auc()),
    (lambda: roc(y_score=[Decimal(str(s)) for s in S]).auc(), ROC.auc()),
    (lambda: roc(y_score=[Fraction(s) for s in S]).auc(), ROC.auc()),
    (lambda: roc(pd.Series(Y, dtype="category"), pl.Series(S)).auc(), ROC.auc()),
    (lambda: roc([0, 1], [0, 1]).auc(), 1.0),
    (lambda: roc([1, 0], [0, 1]).auc(), 0.0),
    (lambda: roc(y_score=[3] * 12).auc(), 0.5),
    (lambda: roc(sample_weight=[1e-90] * 12).effective, (6.0, 6.0)),
    (lambda: roc(sample_weight=[1e90] * 12).effective, (6.0, 6.0)),
    (lambda: cc.OperatingRange(np.array(0.25), 1, 3).pc, (0.5, 0.5)),
    (lambda: HULL.best_at_capacity(alarms=1, population=1e-320, prevalence=0.5).tpr, 1.0),
    (lambda: cc.expected_cost([0, 1], [1, 0], [[0, 1e9], [1e9, 0]], sample_weight=[8e307, 8e307]), 1e9),
    (lambda: cc.plan_test_size([[90, 10], [4, 16]], COSTS, half_width=1e308).n, 1),
    (lambda: CURVE.evaluate(Decimal("0.5")), CURVE.evaluate(0.5)),
    (lambda: cc.ConfusionMatrix.from_predictions(UNUSED, UNUSED).labels, ("a", "b")),
]


@pytest.mark.parametrize(("call", "expected"), TAKEN)
def test_odd_input_gets_the_right_answer(call, expected):
    assert call() == expected


NAMES = ["a\nb", "\u202eevil", "🙂", "x" * 300, "</script>", "a|b", "{0}", "%s"]


@pytest.mark.parametrize("name", NAMES)
def test_any_text_is_a_name_and_survives_a_file(tmp_path, name):
    hull = cc.RocHull([ROC.renamed(name), FIXED])
    hull.to_json(tmp_path / "hull.json")
    again = cc.RocHull.from_json(tmp_path / "hull.json")
    assert again.names == (name, "fixed")
    for result in (hull.best(0.4), hull.ranges(), cc.dominance(hull.roc_curves()), CURVE.renamed(name)):
        repr(result)
        json.dumps(result.to_dict(), allow_nan=False)


@pytest.mark.parametrize("pc", [0, 1, 0.0, 1.0, 1e-320])
def test_the_ends_of_pc_have_decisions(pc):
    decision = HULL.best(pc)
    assert decision.normalized_cost == HULL.evaluate(pc)
    assert decision.regret >= 0
    assert np.isfinite(CURVE.band(pc=[pc]).upper).all()
    assert CURVE.distribution(pc).mean == pytest.approx(CURVE.evaluate(pc))


@pytest.mark.parametrize("scores", [S, [1] * 12], ids=["equal", "constant"])
@pytest.mark.parametrize("method", ["mid-p", "score", "exact", "gaussian"])
def test_identical_classifiers_differ_by_exactly_nothing(scores, method):
    diff = cc.compare(Y, scores, list(scores), method=method, pc=[0.0, 0.3, 0.5, 1.0])
    assert (diff.estimate == 0).all()
    assert (diff.lower <= 0).all()
    assert (diff.upper >= 0).all()
    assert not diff.significant().decided
    assert diff.at(0.5).p_value == 1.0


@pytest.mark.parametrize("scale", [1e-90, 0.1, 1e90])
def test_the_scale_of_weights_does_not_matter(scale):
    one, other = (cc.compare(Y, S, T, sample_weight=[w] * 12) for w in (1.0, scale))
    assert other.lower == pytest.approx(one.lower, abs=1e-9)
    assert other.at(0.5).p_value == pytest.approx(one.at(0.5).p_value, abs=1e-9)


def test_one_example_a_class_has_every_result():
    curve = cc.CostCurve(roc([0, 1], [0.2, 0.8]))
    band = curve.band(simultaneous=True)
    assert ((band.lower >= 0) & (band.upper <= 1)).all()
    diff = cc.compare([0, 1], [0.2, 0.8], [0.8, 0.2])
    assert np.isfinite(diff.lower + diff.upper).all()
    assert not diff.significant().decided


def test_changing_the_input_later_changes_nothing():
    y, s, w = np.array(Y), np.array(S), np.arange(1.0, 13.0)
    table, grid, joint = np.array(COSTS, dtype=float), np.linspace(0, 1, 5), np.array(JOINT, dtype=float)
    fpr, tpr, cuts = np.array([0.0, 0.1, 1.0]), np.array([0.0, 0.6, 1.0]), np.array([9.0, 0.5, 0.1])
    priors = np.array([0.3, 0.7])
    made = [
        roc(y, s, sample_weight=w),
        roc(y, s),
        cc.RocCurve.from_rates(fpr, tpr, thresholds=cuts),
        cc.CostMatrix(table),
        CURVE.band(pc=grid),
        cc.compare(y, s, s[::-1], pc=grid),
        cc.compare.from_joint(negatives=joint[0], positives=joint[1], pc=grid),
        cc.prior_hull({"a": joint[0]}, table),
        cc.bcost.from_confusion(np.array([[90, 10], [4, 16]]), table, priors=priors),
    ]
    before = [json.dumps(m.to_dict()) for m in made]
    for array in (y, s, w, table, grid, joint, fpr, tpr, cuts, priors):
        assert array.flags.writeable
        array[...] = 0
    assert [json.dumps(m.to_dict()) for m in made] == before


RESULTS = [
    ROC,
    CURVE,
    HULL,
    MATRIX,
    HULL.best(0.4),
    HULL.ranges(),
    CURVE.band(),
    CURVE.distribution(0.5),
    cc.compare(Y, S, T),
    cc.compare_many(Y, {"a": S, "b": T}, pc=[0.3, 0.6]),
    cc.dominance([ROC, FIXED]),
    cc.regret(FIXED, HULL),
    cc.bdeltacost.from_joint(JOINT, COSTS),
    cc.prior_hull({"a": np.eye(2)}, COSTS),
    cc.plan_test_size([[90, 10], [4, 16]], COSTS, half_width=0.1),
    cc.OperatingCondition(0.3, 1, 2),
    cc.Beta(1, 2),
    cc.CostCurve(ROC, policy=cc.thresholds.validation(ROC)),
]


@pytest.mark.parametrize("result", RESULTS, ids=[type(r).__name__ for r in RESULTS])
def test_results_are_pickled_copied_and_hashed(result):
    for other in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert repr(other) == repr(result)
        assert json.dumps(other.to_dict()) == json.dumps(result.to_dict())
    assert isinstance(hash(result), int)


def test_a_band_that_was_pickled_still_evaluates_itself():
    band = CURVE.band(simultaneous=True)
    assert repr(pickle.loads(pickle.dumps(band)).at(0.123)) == repr(band.at(0.123))


def test_a_hull_that_cannot_be_written_leaves_what_was_there(tmp_path):
    with pytest.raises(OSError, match=r"."):
        HULL.to_json(tmp_path)
    assert os.listdir(tmp_path) == []
    with pytest.raises(FileNotFoundError):
        HULL.to_json(tmp_path / "none" / "hull.json")


def test_a_name_as_long_as_the_file_system_allows_is_written(tmp_path):
    path = tmp_path / ("x" * 250 + ".json")
    HULL.to_json(path)
    assert cc.RocHull.from_json(path).names == HULL.names


def test_threads_that_write_one_file_leave_one_whole_text_and_the_mask(tmp_path):
    path = tmp_path / "a.txt"
    texts = [str(i) * 50_000 for i in range(8)]
    before = os.umask(0o022)
    try:
        threads = [threading.Thread(target=lambda t=t: [write_atomically(path, t) for _ in range(20)]) for t in texts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        assert os.umask(before) == 0o022
    assert path.read_text() in texts
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_million_probabilities_have_a_band_and_a_comparison_in_moments():
    rng = np.random.default_rng(0)
    y = rng.random(1_000_000) < 0.3
    p, q = (1 / (1 + np.exp(-rng.normal(y - 1.0, 1.0))) for _ in range(2))
    curve = cc.CostCurve.from_predictions(y, p, policy="bayes")
    assert np.isfinite(curve.band().lower).all()
    diff = cc.compare(y, p, q, policy="bayes")
    assert not diff.significant().decided or diff.at(0.5).p_value < 0.05


def test_five_thousand_operating_points_fit():
    pc = np.linspace(0, 1, 5000)
    assert CURVE.band(pc=pc).lower.size == 5000
    assert cc.compare(Y, S, T, pc=pc, simultaneous=False).lower.size == 5000


def test_a_thousand_classes_are_counted():
    rng = np.random.default_rng(0)
    y, a = rng.integers(0, 1000, 5000), rng.integers(0, 1000, 5000)
    costs = cc.CostMatrix(1.0 - np.eye(1000))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.SmallSampleWarning)
        interval = cc.bcost(y, a, costs)
    assert interval.lower <= interval.estimate <= interval.upper
    assert cc.bdeltacost(y, a, y, costs).cheaper == "b"


@pytest.mark.parametrize("spread", [0.5, 1.0, 2.0])
def test_skewed_scores_are_spread_over_buckets(spread):
    rng = np.random.default_rng(0)
    y = rng.random(200_000) < 0.3
    scores = np.exp(spread * rng.normal(size=y.size) + y)
    coding = hull_vertices._bucketing(scores, float(scores.min()), float(scores.max()))
    assert coding is not None
    codes = coding.codes(scores)
    assert (np.diff(codes[np.argsort(scores)]) >= 0).all()
    assert hull_vertices._crowding(codes[::97]) < 2e-3
    full = counts.count_scores(y, scores).on_hull()
    fast = hull_vertices.candidate_counts(y, scores)
    assert fast is not None
    fast = fast.on_hull()
    assert (fast.fp == full.fp).all()
    assert (fast.tp == full.tp).all()
    assert (fast.thresholds == full.thresholds).all()
