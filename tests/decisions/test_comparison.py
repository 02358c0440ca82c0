"""Bands of cost curves and comparisons of classifiers, from labels and scores."""

from __future__ import annotations

import itertools
import math
import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import costcurves as cc
from laws import random_worlds


def world(n=300, seed=0, gap=1.0):
    """Return labels and two correlated scores of a moderately good and a poorer classifier."""
    rng = np.random.default_rng(seed)
    labels = rng.random(n) < 0.4
    common = rng.normal(size=n)
    a = gap * labels + 0.6 * common + 0.8 * rng.normal(size=n)
    b = 0.3 * labels + 0.6 * common + 0.8 * rng.normal(size=n)
    return labels, a, b


def counted(labels, scores, cut):
    """Return misses and false alarms by looking at every example."""
    misses = sum(1 for y, s in zip(labels, scores, strict=True) if y and not s >= cut)
    alarms = sum(1 for y, s in zip(labels, scores, strict=True) if not y and s >= cut)
    return misses, alarms


# --- bands of one curve ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["optimal", 0.4, "validation"])
def test_band_is_built_on_the_errors_that_the_policy_makes(policy):
    labels, a, _ = world()
    if policy == "validation":
        other, scores, _ = world(seed=5)
        policy = cc.thresholds.validation(cc.RocCurve.from_predictions(other, scores))
    curve = cc.CostCurve(cc.RocCurve.from_predictions(labels, a), policy)
    grid = np.array([0.1, 0.35, 0.6, 0.9])
    misses, alarms = curve.errors_at(grid)
    for pc, cut, miss, alarm in zip(grid, curve.threshold_at(grid), misses, alarms, strict=True):
        assert (miss, alarm) == counted(labels, a, cut)
        band = curve.band(pc=grid, method="wilson")
        assert band.at(float(pc)).estimate == pytest.approx(curve.evaluate(pc), abs=1e-14)


def test_bayes_band_counts_scores_strictly_above_the_threshold():
    labels, scores = [0, 1, 0, 1, 1], [0.2, 0.2, 0.5, 0.5, 0.9]
    curve = cc.CostCurve(cc.RocCurve.from_predictions(labels, scores), cc.thresholds.bayes(prevalence=0.5))
    misses, alarms = curve.errors_at([0.5])  # the threshold is exactly 0.5
    assert (misses[0], alarms[0]) == (2, 0)


def test_band_at_a_condition_is_exact_between_grid_points_and_in_money():
    labels, a, _ = world()
    curve = cc.CostCurve(cc.RocCurve.from_predictions(labels, a))
    condition = cc.OperatingCondition.from_cost_matrix([[1, 8], [21, 2]], prevalence=0.31)
    coarse = curve.band(pc=[0.0, 0.5, 1.0]).at(condition)
    fine = curve.band(pc=[condition.pc]).at(condition)
    assert (coarse.estimate, coarse.lower, coarse.upper) == (fine.estimate, fine.lower, fine.upper)
    given = curve.band(method="wilson").at(condition)
    assert given.money.estimate == pytest.approx(curve.expected_cost(condition))
    assert coarse.money.lower == pytest.approx(condition.money(coarse.lower))
    assert curve.band().at(0.3).money is None


def test_simultaneous_band_is_wider_and_keeps_its_width_at_a_condition():
    labels, a, _ = world()
    curve = cc.CostCurve(cc.RocCurve.from_predictions(labels, a))
    point, joint = curve.band(), curve.band(simultaneous=True)
    inner = slice(10, 90)
    assert (joint.lower[inner] < point.lower[inner]).all()
    assert (joint.upper[inner] > point.upper[inner]).all()
    at = joint.at(float(joint.pc[38]))
    assert (at.lower, at.upper) == (joint.lower[38], joint.upper[38])


@pytest.mark.parametrize("options", [{"kind": "between"}, {}, {"kind": "within", "simultaneous": True}])
def test_the_band_of_an_average_is_evaluated_between_its_points(options):
    folds = [cc.CostCurve.from_predictions(*world(80, seed)[:2]) for seed in range(3)]
    band = cc.average_band(folds, given_choice=True, pc=np.linspace(0, 1, 11), **options)
    pc = 0.537
    assert band.at(pc).estimate == pytest.approx(np.mean([fold.evaluate(pc) for fold in folds]), abs=1e-12)
    again = pickle.loads(pickle.dumps(band))
    assert repr(again.at(pc)) == repr(band.at(pc))
    assert (band.at(0.5).lower, band.at(0.5).upper) == (band.lower[5], band.upper[5])


@pytest.mark.law
def test_every_door_to_a_comparison_gives_the_same_answer_on_the_same_grid():
    for rng in random_worlds(20, stream=1201):
        n = int(rng.integers(8, 60))
        y = np.append([0, 1], rng.integers(0, 2, n))
        a, b = (np.round(y + rng.normal(0, 1, n + 2), int(rng.integers(0, 3))) for _ in range(2))
        where = [None, cc.OperatingRange.from_pc(*np.sort(rng.random(2))), cc.OperatingCondition.from_pc(rng.random())]
        pc = where[int(rng.integers(3))]
        two = cc.compare(y, a, b, pc=pc)
        many = cc.compare_many(y, {"a": a, "b": b}, pc=pc).pairs[0]
        frame = pd.DataFrame({"y": y, "a": a, "b": b})
        from_frame = cc.compare.from_frame(frame, label="y", score_a="a", score_b="b", pc=pc)
        curves = [cc.CostCurve.from_predictions(y, s, name=n) for n, s in (("a", a), ("b", b))]
        tallied = cc.PairedTally(*curves, pc=pc).update(y, a, b).to_difference()
        for other in (many, from_frame, tallied):
            assert repr(other) == repr(two)
            assert other.to_dict() == two.to_dict()
        assert np.array_equal(curves[0].band(pc=pc).pc, two.pc)
        if pc is None:
            assert two.pc.tolist() == [k / 100 for k in range(101)]
        elif isinstance(pc, cc.OperatingRange):
            assert (two.pc[0], two.pc[-1]) == pc.pc
            assert np.allclose(np.diff(two.pc), (pc.pc[1] - pc.pc[0]) / 100)


def test_band_survives_pickling_and_still_evaluates_itself():
    labels, a, _ = world()
    band = cc.CostCurve(cc.RocCurve.from_predictions(labels, a)).band(pc=[0.2, 0.8])
    again = pickle.loads(pickle.dumps(band))
    assert repr(again.at(0.5)) == repr(band.at(0.5))


def test_weights_that_repeat_examples_shrink_no_interval():
    # Ten copies of each example as weights say nothing new: the effective size stays that of the data.
    labels, a, _ = world(60)
    plain = cc.CostCurve(cc.RocCurve.from_predictions(labels, a), 0.4).band(pc=[0.5])
    heavy = cc.CostCurve(cc.RocCurve.from_predictions(labels, a, sample_weight=np.full(60, 10.0)), 0.4).band(pc=[0.5])
    assert heavy.lower == pytest.approx(plain.lower)
    assert heavy.upper == pytest.approx(plain.upper)


def test_uneven_weights_widen_the_interval():
    labels, a, _ = world(200)
    weights = np.where(np.arange(200) % 4 == 0, 10.0, 1.0)
    plain = cc.CostCurve(cc.RocCurve.from_predictions(labels, a), 0.4).band(pc=[0.5])
    uneven = cc.CostCurve(cc.RocCurve.from_predictions(labels, a, sample_weight=weights), 0.4).band(pc=[0.5])
    assert uneven.upper[0] - uneven.lower[0] > plain.upper[0] - plain.lower[0]


@pytest.mark.parametrize("method", ["exact", "resample"])
def test_methods_that_draw_examples_refuse_weights(method):
    labels, a, _ = world(60)
    curve = cc.CostCurve(cc.RocCurve.from_predictions(labels, a, sample_weight=np.ones(60)))
    with pytest.raises(cc.InputError, match="`method` must be 'wilson' or 'gaussian' for weighted data"):
        curve.band(method=method)
    with pytest.raises(cc.UnsupportedError, match="`distribution` needs whole counts"):
        curve.distribution(0.5)


def test_rates_without_counts_have_no_band():
    with pytest.raises(cc.UnsupportedError, match="`band` needs counts, got 'expert' made from rates"):
        cc.CostCurve(cc.RocCurve.from_rates(0.1, 0.6, name="expert")).band()


@pytest.mark.parametrize("table", [[[1, 0], [0, 1]], [[0, 1], [1, 0]], [[50, 0], [0, 50]], [[0, 50], [50, 0]]])
@pytest.mark.parametrize("simultaneous", [False, True])
def test_degenerate_classifiers_have_finite_bands_within_zero_and_one(table, simultaneous):
    curve = cc.CostCurve(cc.RocCurve.from_confusion_matrix(table), cc.thresholds.optimal())
    for method in ("wilson", "gaussian", "exact", "resample"):
        band = curve.band(method=method, simultaneous=simultaneous, n_resamples=50, rng=0)
        for values in (band.lower, band.estimate, band.upper):
            assert np.isfinite(values).all()
            assert ((values >= 0) & (values <= 1)).all()
        assert (band.lower <= band.estimate + 1e-12).all()
        assert (band.upper >= band.estimate - 1e-12).all()


def test_the_distribution_at_a_condition_is_that_of_resampled_examples():
    labels, a, _ = world(80)
    curve = cc.CostCurve(cc.RocCurve.from_predictions(labels, a), 0.4)
    dist = curve.distribution(0.3)
    rng = np.random.default_rng(1)
    wrong_pos, wrong_neg = (a[labels] < 0.4), (a[~labels] >= 0.4)
    draws = [
        0.3 * rng.choice(wrong_pos, wrong_pos.size).mean() + 0.7 * rng.choice(wrong_neg, wrong_neg.size).mean()
        for _ in range(20_000)
    ]
    assert dist.mean == pytest.approx(curve.evaluate(0.3), abs=1e-12)
    assert dist.std == pytest.approx(np.std(draws), rel=0.03)
    for q in (0.05, 0.5, 0.95):
        assert dist.cdf(np.quantile(draws, q)) == pytest.approx(q, abs=0.03)


def test_reoptimised_band_is_labelled_and_only_for_optimal_thresholds():
    labels, a, _ = world(80)
    roc = cc.RocCurve.from_predictions(labels, a)
    assert cc.CostCurve(roc).band(reoptimise=True, n_resamples=50, rng=0, pc=[0.5]).method == "reoptimised"
    with pytest.raises(cc.InputError, match="`reoptimise` must come with policy='optimal'"):
        cc.CostCurve(roc, 0.4).band(reoptimise=True)


def test_prevalence_uncertainty_widens_the_band():
    labels, a, _ = world()
    curve = cc.CostCurve(cc.RocCurve.from_predictions(labels, a), 0.9)
    known = curve.band(pc=[0.4])
    unsure = curve.band(pc=[0.4], prevalence_uncertainty=cc.Beta(3, 7))
    assert unsure.upper[0] - unsure.lower[0] > known.upper[0] - known.lower[0]


# --- two classifiers -----------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 200), policy=st.sampled_from(["optimal", 0.5]))
def test_difference_is_that_of_the_two_cost_curves(seed, policy):
    labels, a, b = world(40, seed)
    a, b = np.round(a, 1), np.round(b, 1)  # ties
    if labels.all() or not labels.any():
        return
    diff = cc.compare(labels, a, b, policy=policy, simultaneous=False, pc=[0.1, 0.4, 0.77])
    one = cc.CostCurve(cc.RocCurve.from_predictions(labels, a), policy)
    two = cc.CostCurve(cc.RocCurve.from_predictions(labels, b), policy)
    assert diff.estimate == pytest.approx(one.evaluate(diff.pc) - two.evaluate(diff.pc), abs=1e-12)


def test_identical_classifiers_differ_by_exactly_zero_and_not_significantly():
    labels, a, _ = world()
    diff = cc.compare(labels, a, a)
    assert (diff.estimate == 0).all()
    assert not diff.significant().decided
    assert diff.at(0.5).p_value == 1.0
    assert np.isfinite(diff.lower).all()
    assert np.isfinite(diff.upper).all()


def test_swapping_the_classifiers_mirrors_the_difference():
    labels, a, b = world()
    ab = cc.compare(labels, a, b, names=("one", "two"))
    ba = cc.compare(labels, b, a, names=("two", "one"))
    assert ab.estimate == pytest.approx(-ba.estimate)
    assert ab.lower == pytest.approx(-ba.upper, abs=1e-9)
    assert list(ab.significant().better) == list(ba.significant().better)


def test_same_marginals_with_other_agreement_have_another_verdict():
    # Both tables: 200 positives of which a misses 40 and b 20, 100 negatives of which each alarms on 40.
    close = [[[60, 0], [0, 40]], [[20, 20], [0, 160]]]
    loose = [[[20, 40], [40, 0]], [[0, 40], [20, 140]]]
    for joint in (close, loose):
        table = np.array(joint)
        assert table[1].sum(axis=1).tolist() == [40, 160]
        assert table[1].sum(axis=0).tolist() == [20, 180]
        assert table[0].sum(axis=1).tolist() == table[0].sum(axis=0).tolist() == [60, 40]
    high, low = (
        cc.compare.from_joint(negatives=close[0], positives=close[1]),
        cc.compare.from_joint(negatives=loose[0], positives=loose[1]),
    )
    assert high.estimate == pytest.approx(low.estimate)
    assert high.significant().where("b").contains(1.0)
    assert not low.significant().where("b").contains(0.5)
    assert high.significant().where("b").contains(0.5)


def test_only_simultaneous_differences_speak_of_significance():
    labels, a, b = world()
    with pytest.raises(cc.UnsupportedError, match="simultaneous"):
        cc.compare(labels, a, b, simultaneous=False).significant()


def test_difference_at_a_condition_is_in_money_without_the_baseline():
    labels, a, b = world()
    condition = cc.OperatingCondition.from_cost_matrix([[5, 6], [25, 5]], prevalence=0.3)
    one = cc.CostCurve(cc.RocCurve.from_predictions(labels, a)).expected_cost(condition)
    two = cc.CostCurve(cc.RocCurve.from_predictions(labels, b)).expected_cost(condition)
    coarse = cc.compare(labels, a, b, pc=[0.0, 0.5, 1.0])
    assert coarse.at(condition).money.estimate == pytest.approx(one - two)
    exact = cc.compare(labels, a, b, pc=[condition.pc], simultaneous=False)
    assert coarse.at(condition).p_value == exact.at(condition).p_value
    pairs = cc.compare_many(labels, {"a": a, "b": b}, pc=[0.0, 1.0]).at(condition)
    assert pairs.estimate[0] == pytest.approx((one - two) / condition.unit_cost)


def test_each_classifier_may_have_its_own_policy():
    labels, a, b = world()
    other, va, vb = world(seed=9)
    policy = (
        cc.thresholds.validation(cc.RocCurve.from_predictions(other, va, name="a")),
        cc.thresholds.validation(cc.RocCurve.from_predictions(other, vb, name="b")),
    )
    diff = cc.compare(labels, a, b, policy=policy, pc=[0.25, 0.5])
    one = cc.CostCurve(cc.RocCurve.from_predictions(labels, a), policy[0])
    two = cc.CostCurve(cc.RocCurve.from_predictions(labels, b), policy[1])
    assert diff.estimate == pytest.approx(one.evaluate(diff.pc) - two.evaluate(diff.pc), abs=1e-12)


def test_a_clear_difference_is_found_and_names_the_better():
    labels, a, b = world(2000, gap=2.0)
    verdicts = cc.compare(labels, a, b, names=("new", "old")).significant()
    assert verdicts.where("new").contains(0.5)
    assert len(verdicts.where("old")) == 0


# --- many classifiers ----------------------------------------------------------------------------------------------


def test_limits_for_all_pairs_are_wider_than_those_of_one_pair():
    labels, a, b = world()
    rng = np.random.default_rng(3)
    scores = {"a": a, "b": b, "c": rng.normal(size=labels.size), "d": a + 0.3 * rng.normal(size=labels.size)}
    grid = np.linspace(0.2, 0.8, 31)
    many = cc.compare_many(labels, scores, pc=grid)
    one = cc.compare(labels, a, b, pc=grid)
    pair = many.pair("a", "b")
    assert pair.estimate == pytest.approx(one.estimate)
    assert (pair.upper - pair.lower >= one.upper - one.lower - 1e-9).all()
    assert len(many.pairs) == 6


def test_p_values_are_those_at_the_pc_of_a_condition():
    labels, a, b = world()
    where = cc.OperatingCondition(prevalence=0.2, cost_fn=5, cost_fp=1)
    found = cc.compare(labels, a, b, simultaneous=False)
    assert found.at(where).p_value == found.at(where.pc).p_value == found.at(where).money.p_value
    np.testing.assert_allclose(found.p_value[[10, 50]], [found.at(found.pc[i]).p_value for i in (10, 50)], rtol=1e-12)


def test_every_comparison_says_significant_p_value_and_estimate_in_the_same_way():
    y, a, b = world()
    both = {"a": a, "b": b}
    guesses = {name: score >= np.median(score) for name, score in both.items()}
    difference, many = cc.compare(y, a, b), cc.compare_many(y, both)
    costs = [[0, 1], [5, 0]]
    single = [
        difference.at(0.5),
        cc.compare_example_cost(y, a, b, cost_fp=1, cost_fn=5, policy=0.5),
        cc.bdeltacost(y, *guesses.values(), costs),
    ]
    for found in single:
        assert isinstance(found.significant(), bool)
        assert isinstance(found.p_value, float)
        assert found.lower <= found.estimate <= found.upper
        assert found.significant() == (found.lower > 0 or found.upper < 0)
        assert found.to_frame("pandas")["significant"].tolist() == [found.significant()]
    for found, rows in ((many.at(0.5), 1), (cc.bdeltacost_many(y, guesses, costs), 3)):
        assert found.significant().tolist() == (found.adjusted <= 1 - found.level).tolist()
        assert found.adjusted.shape == (rows,)
        assert {"estimate", "p_value", "adjusted", "significant"} <= set(found.to_frame("pandas").columns)
    for wrong in (True, -1, 1, 0.5):
        with pytest.raises(cc.InputError, match="`i` must be"):
            many.at(0.5).verdict(wrong)
    assert difference.p_value.shape == difference.estimate.shape
    assert set(difference.significant().better) <= {"a", "b", "undecided"}


@pytest.mark.filterwarnings("ignore::costcurves.WorseThanChanceWarning")
def test_holm_adjusted_p_values_are_at_least_the_raw_ones():
    labels, a, b = world()
    tests = cc.compare_many(labels, {"a": a, "b": b, "c": -a}).at(0.5)
    assert (tests.adjusted >= tests.p_value).all()
    assert tests.adjusted[np.argmin(tests.p_value)] == pytest.approx(min(1, 3 * tests.p_value.min()))


@pytest.mark.filterwarnings("ignore::costcurves.WorseThanChanceWarning")
def test_p_values_too_small_to_be_told_apart_are_said_to_be():
    y = np.arange(4_000) % 2
    tests = cc.compare_many(y, {"right": y, "wrong": 1 - y, "neither": np.arange(4_000) % 3}).at(0.5)
    assert "'right' - 'wrong': -0.5, p<1e-30 (adjusted <1e-30), significant" in repr(tests)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({"a": [1, 2]}, "two classifiers or more"),
        ([1, 2], "two classifiers or more"),
        (7, "must map names to columns"),
        ({"a": [1, 2], "b": [1, 2, 3]}, "`y_score of 'b'` and `y_true` must have the same length, got 3 and 2"),
    ],
)
def test_compare_many_says_what_is_wrong_with_scores(scores, message):
    with pytest.raises(cc.CostCurvesError, match=message):
        cc.compare_many([0, 1], scores)


def test_compare_refuses_names_that_repeat():
    with pytest.raises(cc.InputError, match="`names` must differ, got 'x' twice"):
        cc.compare([0, 1], [1, 2], [2, 1], names=("x", "x"))


# --- folds and example costs ---------------------------------------------------------------------------------------


def test_fold_bands_are_centred_on_the_average_cost():
    folds = [cc.CostCurve.from_predictions(*world(100, seed)[:2], policy=0.4) for seed in range(5)]
    average = cc.average_cost_curves(folds)
    bands = {kind: cc.average_band(folds, kind=kind, pc=[0.2, 0.5, 0.7]) for kind in ("both", "between", "within")}
    for band in bands.values():
        assert band.estimate == pytest.approx(average.evaluate(band.pc), abs=1e-12)
        assert (band.lower < band.estimate).all()
    both = bands.pop("both")
    np.testing.assert_array_equal(both.lower, np.min([band.lower for band in bands.values()], axis=0))
    np.testing.assert_array_equal(both.upper, np.max([band.upper for band in bands.values()], axis=0))


def test_limits_from_how_tiny_folds_differ_are_warned_of():
    folds = [
        cc.CostCurve.from_predictions([0] * 30 + [1] * n, [*range(30), *range(20, 20 + n)], policy=25) for n in (19, 40)
    ]
    with pytest.warns(cc.SmallSampleWarning, match="a fold has only 19 positives"):
        cc.average_band(folds, kind="between")
    cc.average_band(folds)
    cc.average_band(folds[1:] * 2, kind="between")


@pytest.mark.filterwarnings("ignore::costcurves.SmallSampleWarning")
@pytest.mark.parametrize(("folds", "size"), [(2, 6), (3, 5), (5, 4), (8, 2)])
def test_the_mean_of_small_folds_is_within_its_limits_in_all_possible_data_sets(folds, size):
    outcomes = list(itertools.combinations_with_replacement(range(size + 1), folds))
    ways = [math.factorial(folds) / math.prod(map(math.factorial, Counter(one).values())) for one in outcomes]
    curves = [
        cc.CostCurve(
            cc.RocCurve.from_predictions([0] * 20 + [1] * size, [0] * 20 + [0] * missed + [1] * (size - missed)), 0.5
        )
        for missed in range(size + 1)
    ]
    rates = np.linspace(0.001, 0.999, 333)
    chance = stats.binom.pmf(np.arange(size + 1)[:, None], size, rates)
    probability = np.array([w * chance[list(one)].prod(axis=0) for w, one in zip(ways, outcomes, strict=True)])
    assert probability.sum(axis=0) == pytest.approx(1.0)
    missed = {}
    for kind in ("both", "between"):
        bands = [cc.average_band([curves[k] for k in one], kind=kind, pc=[1.0]) for one in outcomes]
        out = [(rates < band.lower) | (rates > band.upper) for band in bands]
        missed[kind] = (probability * out).sum(axis=0).max()
    # The limits of discrete data cannot hold in exactly 95 % of data sets at every rate.
    assert missed["both"] <= 0.056
    assert missed["between"] > 0.3


def test_between_fold_band_is_students_interval():
    folds = [cc.CostCurve.from_predictions(*world(100, seed)[:2], policy=0.4) for seed in range(5)]
    values = [fold.evaluate(0.5) for fold in folds]
    low, high = stats.t.interval(0.9, 4, loc=np.mean(values), scale=stats.sem(values))
    band = cc.average_band(folds, kind="between", level=0.9, pc=[0.5])
    assert (band.lower[0], band.upper[0]) == pytest.approx((low, high))


@pytest.mark.filterwarnings("ignore::costcurves.SmallSampleWarning")
def test_example_cost_is_the_mean_of_what_each_example_costs():
    labels, scores = [1, 0, 1, 0], [0.9, 0.7, 0.2, 0.1]
    interval = cc.example_cost(labels, scores, cost_fp=[1, 2, 3, 4], cost_fn=[10, 20, 30, 40], policy=0.5)
    assert interval.estimate == (0 + 2 + 30 + 0) / 4


@pytest.mark.filterwarnings("ignore::costcurves.SmallSampleWarning")
def test_bayes_policy_with_example_costs_takes_the_cheaper_decision_for_each():
    labels, scores = [1, 1, 0], [0.2, 0.2, 0.2]
    # Expected: positive iff 0.8·cost_fp < 0.2·cost_fn, so only the second example (0.8 < 1) is called positive.
    interval = cc.example_cost(labels, scores, cost_fp=1, cost_fn=[3, 5, 4], policy="bayes")
    assert interval.estimate == 1.0


def test_equal_costs_for_all_examples_agree_with_full_sampling():
    labels, a, _ = world(150)
    curve = cc.CostCurve(cc.RocCurve.from_predictions(labels, a), 0.4)
    share = float(labels.mean())
    condition = cc.OperatingCondition(share, cost_fp=1, cost_fn=3)
    dist = curve.distribution(condition, sampling="full")
    interval = cc.example_cost(labels, a, cost_fp=1, cost_fn=3, policy=0.4, level=0.9, method="exact")
    assert interval.estimate == pytest.approx(curve.expected_cost(condition))
    # Full sampling at pc has the costs 1 and 3 up to the factor unit_cost.
    assert interval.lower == pytest.approx(condition.money(float(dist.quantile(0.05))), abs=0.011)
    assert interval.upper == pytest.approx(condition.money(float(dist.quantile(0.95))), abs=0.011)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"cost_fp": [1, 2], "cost_fn": 1, "policy": 0.5},
            r"`cost_fp` must be a number or one per example \(3\), got shape",
        ),
        ({"cost_fp": 1, "cost_fn": -1, "policy": 0.5}, r"`cost_fn` must be in .*, got -1"),
        ({"cost_fp": 1, "cost_fn": 1, "policy": "best"}, "or 'bayes', got 'best'"),
    ],
)
def test_example_cost_says_what_is_wrong(options, message):
    with pytest.raises(cc.CostCurvesError, match=message):
        cc.example_cost([0, 1, 1], [0.1, 0.5, 0.7], **options)


# --- what a newcomer tries -----------------------------------------------------------------------------------------


def test_weights_of_many_are_those_of_each_pair():
    labels, a, b = world()
    scores = {"a": a, "b": b, "c": (a + b) / 2}
    plain = cc.compare_many(labels, scores, pc=[0.3, 0.6])
    heavy = cc.compare_many(labels, scores, pc=[0.3, 0.6], sample_weight=np.full(len(labels), 7.0))
    uneven = cc.compare_many(labels, scores, pc=[0.3, 0.6], sample_weight=np.arange(len(labels)) % 4 + 1.0)
    one = cc.compare(labels, a, b, pc=[0.3, 0.6], sample_weight=np.arange(len(labels)) % 4 + 1.0, simultaneous=False)
    for mine, same in zip(heavy.pairs, plain.pairs, strict=True):
        np.testing.assert_allclose(mine.lower, same.lower, atol=1e-12)
        np.testing.assert_allclose(mine.upper, same.upper, atol=1e-12)
    np.testing.assert_allclose(uneven.pair("a", "b").estimate, one.estimate, atol=1e-15)
    assert uneven.pair("a", "b").at(0.3).p_value == pytest.approx(one.at(0.3).p_value)
    for method in ("exact", "resample"):
        with pytest.raises(cc.InputError, match=f"`method` must not be '{method}' for weighted data"):
            cc.compare_many(labels, scores, method=method, sample_weight=np.ones(len(labels)))


def test_uneven_weights_do_not_break_the_paired_counts():
    rng = np.random.default_rng(4)
    labels, a, b = world(400)
    for _ in range(5):
        diff = cc.compare(labels, a, b, sample_weight=rng.uniform(0.5, 3, 400))
        assert np.isfinite(diff.lower).all()


def test_condition_must_have_the_mean_of_an_uncertain_prevalence():
    labels, a, _ = world()
    band = cc.CostCurve(cc.RocCurve.from_predictions(labels, a)).band(prevalence_uncertainty=cc.Beta(20, 80))
    band.at(cc.OperatingCondition(0.2, cost_fp=1, cost_fn=20))
    with pytest.raises(cc.InputError, match=r"as its prevalence, 0\.2, got 0\.05"):
        band.at(cc.OperatingCondition(0.05, cost_fp=1, cost_fn=20))


def test_uncertain_prevalence_gives_the_interval_of_drawn_prevalences():
    labels, a, _ = world(400)
    curve = cc.CostCurve(cc.RocCurve.from_predictions(labels, a), 0.4)
    condition = cc.OperatingCondition(0.2, cost_fp=1, cost_fn=6)
    interval = curve.band(prevalence_uncertainty=cc.Beta(20, 80)).at(condition).money
    rng = np.random.default_rng(0)
    misses, alarms = curve.errors_at([0.5])
    n_pos, n_neg = int(labels.sum()), int((~labels).sum())
    fnr = rng.binomial(n_pos, misses[0] / n_pos, 100_000) / n_pos
    fpr = rng.binomial(n_neg, alarms[0] / n_neg, 100_000) / n_neg
    share = rng.beta(20, 80, 100_000)
    drawn = np.quantile(share * fnr * 6 + (1 - share) * fpr, [0.025, 0.975])
    assert (interval.lower, interval.upper) == pytest.approx(tuple(drawn), abs=0.03)


def test_thresholds_of_one_classifier_are_not_given_to_another():
    labels, a, b = world()
    policy = cc.thresholds.validation(cc.RocCurve.from_predictions(labels, a))
    with pytest.raises(cc.InputError, match="must not give one classifier's thresholds to all"):
        cc.compare(labels, a, b, policy=policy)
    with pytest.raises(cc.InputError, match="pass a mapping of name to policy"):
        cc.compare_many(labels, {"a": a, "b": b}, policy=policy)


def test_a_pair_is_given_in_the_order_asked_for():
    labels, a, b = world()
    many = cc.compare_many(labels, {"a": a, "b": b})
    one, two = many.pair("a", "b"), many.pair("b", "a")
    assert two.names == ("b", "a")
    assert two.estimate == pytest.approx(-one.estimate)
    assert two.lower == pytest.approx(-one.upper)
    assert two.at(0.5).estimate == pytest.approx(-one.at(0.5).estimate)
    assert two.at(0.5).p_value == pytest.approx(one.at(0.5).p_value)
    assert one.significant().better == two.significant().better


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_scores_may_come_as_a_dataframe(library):
    labels, a, b = world()
    frame = pytest.importorskip(library).DataFrame({"a": a, "b": b})
    from_frame, from_dict = (cc.RocHull.from_predictions(labels, s) for s in (frame, {"a": a, "b": b}))
    assert from_frame.fpr.tolist() == from_dict.fpr.tolist()
    assert cc.compare_many(labels, frame).names == ("a", "b")


def test_a_condition_stands_for_its_pc_and_a_name_for_its_curve():
    labels, a, b = world()
    hull = cc.RocHull.from_predictions(labels, {"a": a, "b": b})
    condition = cc.OperatingCondition(0.2, cost_fp=1, cost_fn=6)
    curve = cc.CostCurve(hull.roc_curve("a"))
    assert curve.evaluate(condition) == curve.evaluate(condition.pc)
    assert hull.evaluate(condition) == hull.evaluate(condition.pc)
    assert cc.regret("a", hull).largest == cc.regret(hull.roc_curve("a"), hull).largest
    with pytest.raises(cc.InputError, match="`name` must be one of a, b, got 'c'"):
        cc.regret("c", hull)


def test_probabilities_need_their_classes_where_labels_are_not_sorted():
    costs = cc.CostMatrix([[0, 1], [5, 0]], labels=["none", "high"])
    with pytest.raises(cc.InputError, match="`classes` must name the columns"):
        cc.minimum_cost_predictions([[0.9, 0.1]], costs)
    assert cc.minimum_cost_predictions([[0.1, 0.9]], costs, classes=["high", "none"]).tolist() == ["none"]
    with pytest.raises(cc.DataError, match="`classes` must be the labels"):
        cc.minimum_cost_predictions([[0.1, 0.9]], costs, classes=["high", "low"])


def test_interval_in_money_keeps_it_in_the_frame():
    labels, a, _ = world()
    at = (
        cc.CostCurve(cc.RocCurve.from_predictions(labels, a))
        .band()
        .at(cc.OperatingCondition(0.2, cost_fp=1, cost_fn=6))
    )
    assert at.to_frame("pandas")["money_upper"][0] == at.money.upper


def test_json_text_is_not_taken_for_a_path():
    hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6)])
    with pytest.raises(cc.InputError, match="from_json_text"):
        cc.RocHull.from_json(hull.to_json())


def test_the_package_lists_only_public_names():
    assert dir(cc) == sorted(cc.__all__)


def test_a_crosstab_needs_its_positive_label_and_is_matched_by_name():
    import pandas as pd

    table = pd.crosstab(
        pd.Series(["fraud", "ok", "ok", "fraud", "ok"], name="true"),
        pd.Series(["fraud", "ok", "fraud", "ok", "ok"], name="predicted"),
    )
    with pytest.raises(cc.InputError, match="`pos_label` must name the positive class"):
        cc.RocCurve.from_confusion_matrix(table)
    curve = cc.RocCurve.from_confusion_matrix(table, pos_label="fraud")
    assert (curve.n_pos, curve.n_neg, curve.tp[1], curve.fp[1]) == (2, 3, 1, 1)


def test_planning_for_a_difference_asks_for_both_classifiers():
    pilot = cc.ConfusionMatrix.from_table([[90, 10], [4, 16]], labels=["a", "b"])
    with pytest.raises(cc.InputError, match="`pilot` must be a JointConfusion"):
        cc.plan_test_size(pilot, cc.CostMatrix([[0, 1], [5, 0]], labels=["a", "b"]), difference=0.1)


def test_resampling_answers_the_same_each_time_unless_told_otherwise():
    y, a, b = world(80)
    cut, costs = {"cost_fp": 1, "cost_fn": 5, "policy": 0.5}, [[0, 1], [5, 0]]
    curve = cc.CostCurve.from_predictions(y, a)
    for ask in (
        lambda **more: cc.compare(y, a, b, method="resample", simultaneous=False, **more).lower,
        lambda **more: curve.band(method="resample", **more).lower,
        lambda **more: curve.distribution(0.5).sample(20, **more),
        lambda **more: cc.example_cost(y, a, method="resample", **cut, **more).lower,
        lambda **more: cc.bcost(y, a > 0, costs, method="resample", **more).distribution.sample(9, **more),
    ):
        assert np.array_equal(ask(), ask())
        assert np.array_equal(ask(rng=0), ask())
        assert np.array_equal(ask(rng=np.random.default_rng(0)), ask(rng=np.random.default_rng(0)))
        assert any(not np.array_equal(ask(), ask(rng=None)) for _ in range(20))


# Names ------------------------------------------------------------------------------------------------------------


def test_series_bring_their_names_along():
    import pandas as pd
    import polars as pl

    y, a, b = [0, 1] * 10, list(range(20)), [i % 7 for i in range(20)]
    for series in (lambda name, values: pd.Series(values, name=name), pl.Series):
        assert cc.compare(y, series("new", a), series("old", b)).names == ("new", "old")
        assert cc.compare(y, series("new", a), series("old", b), names=("p", "q")).names == ("p", "q")
        assert cc.compare(y, series("x", a), series("x", b)).names == ("a", "b")
        assert cc.compare(y, series("x", a), b).names == ("a", "b")
    frame = pd.DataFrame({0: a, 1: b})
    assert cc.compare(y, frame[0], frame[1]).names == ("a", "b")
    assert cc.compare(y, a, b).names == ("a", "b")


@pytest.mark.parametrize("sampling", ["stratified", "full"])
def test_the_distribution_of_a_difference_is_that_of_resampled_cases(sampling):
    negatives, positives = np.array([[20, 3], [5, 8]]), np.array([[4, 6], [1, 15]])
    found = cc.compare.from_joint(negatives=negatives, positives=positives, sampling=sampling).distribution(0.4)
    rng, size = np.random.default_rng(2), 40_000
    if sampling == "stratified":
        neg, pos = (rng.multinomial(t.sum(), t.ravel() / t.sum(), size) for t in (negatives, positives))
    else:
        both = np.concatenate([negatives.ravel(), positives.ravel()])
        drawn = rng.multinomial(both.sum(), both / both.sum(), size)
        neg, pos = drawn[:, :4], drawn[:, 4:]
    # Cells (a, b): (0, 0), (0, 1), (1, 0), (1, 1). Only a misses in the second, only a raises an alarm in the third.
    value = 0.4 * (pos[:, 1] - pos[:, 2]) / positives.sum() + 0.6 * (neg[:, 2] - neg[:, 1]) / negatives.sum()
    assert found.mean == pytest.approx(value.mean(), abs=5 * found.std / size**0.5)
    for x in np.quantile(value, [0.03, 0.2, 0.5, 0.9]) + 1e-9:
        assert float(found.cdf(x)) == pytest.approx((value <= x).mean(), abs=0.015)
    a, b = (
        cc.CostCurve(cc.RocCurve.from_confusion_matrix(t, name=n), policy=cc.thresholds.point(1))
        for t, n in (([[28, 8], [10, 16]], "a"), ([[25, 11], [5, 21]], "b"))
    )
    apart = cc.compare.from_curves(a, b).distribution(0.4)
    assert apart.std == pytest.approx(np.hypot(a.distribution(0.4).std, b.distribution(0.4).std))
    assert apart.mean == pytest.approx(a.evaluate(0.4) - b.evaluate(0.4))
