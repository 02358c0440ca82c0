"""Cross-fitted thresholds: straight from the definition, the same from every source, and unbiased."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import ndtr

import costcurves as cc
from costcurves.counting import compiled
from costcurves.counting import folds as dividing
from costcurves.counting.counts import MANY
from costcurves.counting.folds import case_folds, divided
from costcurves.curves import crossfit
from laws import FUZZ_SEED, random_worlds

HERE = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=2)


def rule_by_definition(cases, pc):
    """Return the cheapest threshold of some (score, label, weight), the highest of several, by trying all of them."""
    scores = sorted({score for score, _, _ in cases}, reverse=True)
    total = {kind: sum(w for _, label, w in cases if label == kind) for kind in (True, False)}
    best = None
    for cut in [math.inf, *scores]:
        missed = sum(w for score, label, w in cases if label and score < cut)
        alarms = sum(w for score, label, w in cases if not label and score >= cut)
        cost = pc * missed / total[True] + (1 - pc) * alarms / total[False]
        if best is None or cost < best[0]:
            best = cost, cut
    everybody = best[1] == scores[-1]
    return -math.inf if everybody else best[1]


def cost_by_definition(y, scores, fold, pc, weights=None):
    """Return the cost of cases that are judged, each, at the threshold of all cases outside its fold."""
    weights = [1] * len(y) if weights is None else weights
    rows = list(zip(map(float, scores), map(bool, y), map(Fraction, weights), map(int, fold), strict=True))
    wrong = {True: Fraction(0), False: Fraction(0)}
    for own in {row[3] for row in rows}:
        cut = rule_by_definition([row[:3] for row in rows if row[3] != own], pc)
        for score, label, weight, where in rows:
            if where == own and (score >= cut) != label:
                wrong[label] += weight
    total = {kind: sum(w for _, label, w, _ in rows if label == kind) for kind in (True, False)}
    return float(pc * wrong[True] / total[True] + (1 - pc) * wrong[False] / total[False])


def tiny_world(rng, least=2):
    """Return labels with enough of both classes, and scores with ties."""
    y = np.append(rng.random(int(rng.integers(2, 16))) < 0.5, np.repeat([True, False], least))
    return y[rng.permutation(y.size)], np.round(rng.normal(y, 1), int(rng.integers(0, 3)))


def between_breaks(curve):
    """Return the middle of every step as fractions, so that no threshold is as good as another by chance alone."""
    return [Fraction(float(x)) for x in (curve.breaks[:-1] + curve.breaks[1:]) / 2]


@pytest.mark.law
@pytest.mark.parametrize("weighted", [False, True])
def test_every_case_is_judged_at_the_threshold_that_all_cases_outside_its_fold_choose(weighted):
    for rng in random_worlds(50, stream=1801 + weighted):
        y, scores = tiny_world(rng, least=3)
        weights = rng.integers(1, 4, y.size).astype(float) if weighted else None
        policy = cc.thresholds.crossfit(3)
        curve = cc.CostCurve.from_predictions(y, scores, sample_weight=weights, policy=policy)
        fold = case_folds(y, scores, weights, 3, 1)[0]
        for pc in between_breaks(curve):
            assert curve.evaluate(float(pc)) == pytest.approx(
                cost_by_definition(y, scores, fold, pc, weights), abs=1e-12
            )


@pytest.mark.law
def test_nothing_is_estimated_only_where_all_folds_treat_every_case_alike():
    seen = set()
    for rng in random_worlds(60, stream=1809):
        y, scores = tiny_world(rng, least=3)
        curve = cc.CostCurve.from_predictions(y, np.round(scores), policy=cc.thresholds.crossfit(3))
        fold = case_folds(y, np.round(scores), None, 3, 1)[0]
        rows = list(zip(np.round(scores).tolist(), y.tolist(), fold.tolist(), strict=True))
        for pc in between_breaks(curve):
            cuts = {rule_by_definition([(s, t, 1) for s, t, f in rows if f != k], pc) for k in range(3)}
            alike = len(cuts) == 1 and math.isinf(next(iter(cuts)))
            assert curve.trivial_at(float(pc)) == alike
            seen.add((alike, any(map(math.isinf, cuts))))
    assert FUZZ_SEED is not None or seen == {(True, True), (False, True), (False, False)}


@pytest.mark.law
def test_given_folds_are_used_down_to_leave_one_out():
    for rng in random_worlds(50, stream=1803):
        y, scores = tiny_world(rng)
        alone = np.arange(y.size)
        chosen = rng.integers(0, 4, y.size)
        chosen[:4] = [0, 1, 2, 3]
        for fold in (alone, chosen):
            if any(np.unique(y[fold != k]).size < 2 for k in np.unique(fold)):
                continue
            curve = cc.Predictions(y, {"a": scores}, folds=fold * 3 + 7).curve("a", policy="crossfit")
            for pc in between_breaks(curve):
                assert curve.evaluate(float(pc)) == pytest.approx(cost_by_definition(y, scores, fold, pc), abs=1e-12)


@pytest.mark.law
def test_repeats_are_averaged_and_the_deployed_threshold_is_that_of_all_cases():
    for rng in random_worlds(20, stream=1804):
        y, scores = tiny_world(rng, least=4)
        curve = cc.CostCurve.from_predictions(y, scores, policy=cc.thresholds.crossfit(4, n_repeats=3))
        folds = case_folds(y, scores, None, 4, 3)
        best = cc.CostCurve.from_predictions(y, scores)
        for pc in between_breaks(curve):
            by_hand = np.mean([cost_by_definition(y, scores, fold, pc) for fold in folds])
            assert curve.evaluate(float(pc)) == pytest.approx(by_hand, abs=1e-12)
            assert curve.threshold_at(float(pc)) == best.threshold_at(float(pc))


def test_folds_are_balanced_in_each_class_and_differ_between_classes_divisions_and_data():
    for size in (2, 5, 7, 100, 1001):
        one_by_one, together = np.arange(size + 1), np.array([0, size])
        for number in (2, 3, 5):
            for counts in ((one_by_one, one_by_one), (one_by_one[[0, -1]], together)):
                for folds in divided(*counts, number, 0):
                    sizes = np.bincount(folds, minlength=number)
                    assert np.ptp(sizes) <= 1
                    assert sizes.sum() == size
    alternating = np.arange(101), np.arange(101)
    neg, pos = divided(*alternating, 5, 0)
    others = [
        pos,
        divided(*alternating, 5, 1)[0],
        divided(alternating[0], np.minimum(2 * alternating[1], 100), 5, 0)[0],
    ]
    for other in others:
        assert 0.6 < np.mean(neg != other) < 0.95  # four of five, if by chance
    # These are the folds of every version, on every machine.
    assert divided(np.arange(13), np.arange(13), 4, 0)[1].tolist() == FIRST


FIRST = [2, 3, 2, 0, 2, 0, 1, 3, 3, 1, 0, 1]


def test_each_of_very_many_cases_has_any_fold_by_chance_and_small_classes_stay_balanced():
    size = MANY + 10
    neg, pos = divided(np.array([0, 3, size]), np.array([0, 30, 52]), 5, 0)
    assert np.abs(np.bincount(neg, minlength=5) - size / 5).max() < 5 * math.sqrt(0.16 * size)
    assert np.ptp(np.bincount(pos, minlength=5)) <= 1
    together = np.bincount(5 * neg[:-1].astype(int) + neg[1:])  # of neighbours too
    assert np.abs(together - size / 25).max() < 5 * math.sqrt(size / 25)
    many, _ = divided(np.array([0, 3, size]), np.array([0, 30, 52]), 300, 0)
    assert np.ptp(np.bincount(many)) == 1
    # These are the folds of every version, on every machine.
    assert neg[:12].tolist() == FIRST_OF_MANY


FIRST_OF_MANY = [4, 2, 3, 4, 4, 2, 2, 4, 3, 3, 3, 1]


def test_the_folds_of_very_many_cases_depend_on_the_vertices_of_their_hull_alone():
    size = MANY // 2 + 10
    fp, tp = np.array([[0, 0], [0, 40], [1, 41], [30, size - 20], [size, size]]).T  # the third point is no vertex
    expected = divided(fp, tp, 5, 0)
    for kept, same in ((slice(None), True), ([0, 1, 3, 4], True), ([0, 2, 3, 4], False)):
        found = divided(fp[kept].astype(np.int32), tp[kept].astype(np.int32), 5, 0)
        assert [np.array_equal(*pair) for pair in zip(found, expected, strict=True)] == [same, same]


# Very many cases, not all of whose points are counted -------------------------------------------------------------

SHAPES = {
    "of both signs": lambda normal, rng: normal,
    "probabilities": lambda normal, rng: 1 / (1 + np.exp(-normal)),
    "float32": lambda normal, rng: np.exp(normal).astype(np.float32),
    "skewed": lambda normal, rng: np.exp(8 * normal),
    "large": lambda normal, rng: np.ldexp(normal + 20, 900),
    "many ties": lambda normal, rng: np.round(normal, 3),
    "few ties": lambda normal, rng: np.where(rng.random(normal.size) < 0.02, 0.0, normal),
    "far apart": lambda normal, rng: normal**101,
    "integers": lambda normal, rng: (1e12 * normal).astype(np.int64),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_very_many_cases_are_judged_by_definition_without_counting_all_points(shape):
    rng = np.random.default_rng(77)
    y = rng.random(MANY + 5000) < 0.3
    scores = SHAPES[shape](rng.normal(1.2 * y), rng)
    late, whole = (cc.RocCurve.from_predictions(y, scores) for _ in range(2))
    whole.thresholds  # noqa: B018 - which asks for all points
    policy = cc.thresholds.crossfit(4, n_repeats=2)
    found = cc.CostCurve(late, policy=policy)
    assert steps(found) == steps(cc.CostCurve(whole, policy=policy))
    assert steps(found) == steps(cc.CostCurve.from_predictions(y[::-1], scores[::-1], policy=policy))
    pc = (found.breaks[1:] + found.breaks[:-1])[:: found.breaks.size // 40] / 2
    costs = []
    for fold in case_folds(y, scores, None, 4, 2):
        wrong = np.zeros((2, pc.size))
        for k in range(4):
            others = cc.RocCurve.from_predictions(y[fold != k], scores[fold != k])
            own = cc.RocCurve.from_predictions(y[fold == k], scores[fold == k])
            wrong += cc.CostCurve(own, policy=cc.thresholds.validation(others)).errors_at(pc)
        costs.append(pc * wrong[0] / y.sum() + (1 - pc) * wrong[1] / (~y).sum())
    np.testing.assert_allclose(found.evaluate(pc), np.mean(costs, axis=0), rtol=1e-12)
    if shape not in ("far apart", "many ties") and compiled.loops() is not None:  # these are counted at once
        assert late._known.fp.size < 2000  # the others were not counted


# The same from every source -------------------------------------------------------------------------------------


def steps(curve):
    return [array.tolist() for array in (curve.breaks, curve.fpr, curve.fnr, curve.thresholds)]


@pytest.mark.law
def test_row_order_names_and_monotone_transforms_do_not_matter():
    for rng in random_worlds(20, stream=1805):
        y, scores = tiny_world(rng, least=5)
        weights = rng.uniform(0.5, 2, y.size)
        mixed = rng.permutation(y.size)
        for used in (None, weights):
            shuffled = None if used is None else used[mixed]
            plain = cc.CostCurve.from_predictions(y, scores, sample_weight=used, policy="crossfit")
            other = cc.CostCurve.from_predictions(
                np.where(y, "ill", "well")[mixed],
                np.arctan(scores)[mixed],
                pos_label="ill",
                sample_weight=shuffled,
                name="another",
                policy="crossfit",
            )
            assert steps(plain)[:3] == steps(other)[:3]


@pytest.mark.parametrize(("decimals", "rows"), [(1, 3000), (9, 3000), (2, MANY + 4000), (9, MANY + 4000)])
def test_arrays_frames_scans_and_tallies_have_the_same_curve_bit_for_bit(decimals, rows, tmp_path):
    rng = np.random.default_rng(18)
    y = rng.random(rows) < 0.3
    frame = pd.DataFrame({"y": y.astype(int), "a": np.round(rng.normal(y), decimals), "w": rng.integers(1, 4, y.size)})
    frame.to_parquet(tmp_path / "rows.parquet")
    expected = steps(cc.CostCurve.from_predictions(y, frame["a"], policy="crossfit"))
    tallies = {}
    for options in ({}, {"resolution": 2**14}):
        tally = cc.ScoreTally(**options)
        for part in np.array_split(rng.permutation(y.size), 7):
            tally.update(y[part], frame["a"].to_numpy()[part])
        tallies[bool(options)] = tally
    rows = {"label": "y", "scores": ["a"]}
    found = {
        "roc": cc.CostCurve(cc.RocCurve.from_predictions(y, frame["a"]), policy="crossfit"),
        "pandas": cc.CostCurve.from_frame(frame, label="y", score="a", policy="crossfit"),
        "polars": cc.CostCurve.from_frame(pl.from_pandas(frame).lazy(), label="y", score="a", policy="crossfit"),
        "predictions": cc.Predictions(y, {"a": frame["a"]}).curve("a", policy="crossfit"),
        "lazy predictions": cc.Predictions.from_frame(pl.from_pandas(frame).lazy(), **rows).curve(
            "a", policy="crossfit"
        ),
        "scan": cc.scan(tmp_path / "rows.parquet", **rows).curves(policy="crossfit")["a"],
        "binned scan": cc.scan(tmp_path / "rows.parquet", resolution=2**14, **rows).curve("a", policy="crossfit"),
        "tally": cc.CostCurve(tallies[False].to_roc_curve(), policy="crossfit"),
        "binned tally": cc.CostCurve(tallies[True].to_roc_curve(points="bins"), policy="crossfit"),
    }
    if tallies[True].to_roc_curve(points="bins").max_error:  # several scores share a bin
        del found["binned scan"], found["binned tally"]
    for name, curve in found.items():
        assert steps(curve) == expected, name
        assert curve.max_error == 0
    weighted = steps(cc.CostCurve.from_predictions(y, frame["a"], sample_weight=frame["w"], policy="crossfit"))
    scanned = cc.scan(tmp_path / "rows.parquet", weight="w", **rows)
    assert steps(scanned.curve("a", policy="crossfit")) == weighted
    assert steps(cc.CostCurve.from_frame(frame, label="y", score="a", weight="w", policy="crossfit")) == weighted


def test_bins_that_hold_several_scores_have_the_thresholds_at_their_boundaries():
    rng = np.random.default_rng(5)
    y = rng.random(60_000) < 0.4
    scores = rng.normal(y)
    curve = cc.ScoreTally(resolution=2**14).update(y, scores).to_roc_curve(points="bins")
    assert curve.binned
    assert curve.max_error > 0
    rounded = curve.thresholds[1:][::-1][np.searchsorted(curve.thresholds[1:][::-1], scores, side="right") - 1]
    expected = cc.CostCurve.from_predictions(y, rounded, policy="crossfit")
    assert steps(cc.CostCurve(curve, policy="crossfit")) == steps(expected)


# Two classifiers and more --------------------------------------------------------------------------------------


@pytest.mark.law
@pytest.mark.parametrize("policy", ["crossfit", cc.thresholds.crossfit(3, n_repeats=2)], ids=repr)
def test_differences_are_those_of_the_single_curves_whatever_the_ties_and_the_row_order(policy):
    for rng in random_worlds(12, stream=1806):
        y, a = tiny_world(rng, least=5)
        b = np.round(rng.normal(y, 1), 1)
        weights = None if rng.random() < 0.5 else rng.integers(1, 4, y.size).astype(float)
        mixed = rng.permutation(y.size)
        found = cc.compare(y, a, b, policy=policy, sample_weight=weights, simultaneous=False)
        first, second = (cc.CostCurve.from_predictions(y, s, policy=policy, sample_weight=weights) for s in (a, b))
        np.testing.assert_allclose(found.estimate, first.evaluate(found.pc) - second.evaluate(found.pc), atol=1e-12)
        shuffled = None if weights is None else weights[mixed]
        again = cc.compare(
            y[mixed], np.arctan(a[mixed]), b[mixed] ** 3, policy=policy, sample_weight=shuffled, simultaneous=False
        )
        np.testing.assert_array_equal(again.lower, found.lower)
        np.testing.assert_array_equal(again.upper, found.upper)
        turned = cc.compare(y, b, a, policy=policy, sample_weight=weights, simultaneous=False)
        np.testing.assert_allclose(turned.lower, -found.upper, atol=1e-12)


@pytest.mark.law
def test_a_cross_fitted_difference_is_counted_case_by_case():
    for rng in random_worlds(10, stream=1807):
        y, a = tiny_world(rng, least=4)
        b = rng.normal(y, 1)  # no ties, so that the folds are known
        a = rng.normal(y, 1)
        fold = rng.integers(0, 3, y.size)
        if any(np.unique(y[fold != k]).size < 2 for k in range(3)):
            continue
        predictions = cc.Predictions(y, {"a": a, "b": b}, folds=fold)
        found = predictions.compare("a", "b", policy=("crossfit", 0.4), pc=[0.2137, 0.3719, 0.7113], simultaneous=False)
        for i, pc in enumerate(map(Fraction, found.pc.tolist())):
            cuts = {
                k: rule_by_definition([(s, bool(t), 1) for s, t, f in zip(a, y, fold, strict=True) if f != k], pc)
                for k in set(fold.tolist())
            }
            wrong_a = (a >= np.array([cuts[k] for k in fold.tolist()])) != y
            wrong_b = (b >= 0.4) != y
            missed, alarmed = ((wrong_a.astype(int) - wrong_b)[kind].mean() for kind in (y, ~y))
            assert found.estimate[i] == pytest.approx(float(pc) * missed + float(1 - pc) * alarmed, abs=1e-12)


def test_all_pairs_and_scans_answer_as_two_arrays_do(tmp_path):
    rng = np.random.default_rng(3)
    y = rng.random(400) < 0.4
    frame = pd.DataFrame({"y": y.astype(int), **{name: np.round(rng.normal(y), 1) for name in "abc"}})
    frame.to_parquet(tmp_path / "rows.parquet")
    scores = {name: frame[name] for name in "abc"}
    many = cc.compare_many(y, scores, policy="crossfit", pc=[0.3, 0.5, 0.7])
    for pair in many.pairs:
        curves = [cc.CostCurve.from_predictions(y, scores[name], policy="crossfit") for name in pair.names]
        np.testing.assert_allclose(pair.estimate, curves[0].evaluate(pair.pc) - curves[1].evaluate(pair.pc), atol=1e-12)
    scan = cc.scan(tmp_path / "rows.parquet", label="y", scores=list("abc"))
    two = cc.compare(y, scores["a"], scores["b"], names=("a", "b"), policy="crossfit")
    for found in (
        scan.compare("a", "b", policy="crossfit"),
        cc.Predictions(y, scores).compare("a", "b", policy="crossfit"),
    ):
        np.testing.assert_array_equal(found.estimate, two.estimate)
        np.testing.assert_array_equal(found.lower, two.lower)
    again = scan.compare_many(policy="crossfit", pc=[0.3, 0.5, 0.7])
    np.testing.assert_array_equal(again.pairs[0].lower, many.pairs[0].lower)


def test_folds_of_predictions_are_those_of_fold_curves_and_another_number_divides_anew():
    rng = np.random.default_rng(8)
    y, fold = rng.random(300) < 0.4, rng.integers(0, 6, 300)
    a = rng.normal(y)
    predictions = cc.Predictions(y, {"a": a}, folds=fold)
    pc = np.linspace(0, 1, 41)
    each = predictions.fold_curves("a", policy="crossfit")
    misses, alarms = (np.sum([one.errors_at(pc)[i] for one in each], axis=0) for i in (0, 1))
    pooled = predictions.curve("a", policy="crossfit")
    np.testing.assert_allclose(pooled.evaluate(pc), pc * misses / y.sum() + (1 - pc) * alarms / (~y).sum())
    for k, one in enumerate(each):
        outside = cc.RocCurve.from_predictions(y[fold != k], a[fold != k])
        inside = cc.RocCurve.from_predictions(y[fold == k], a[fold == k])
        expected = cc.CostCurve(inside, policy=cc.thresholds.validation(outside))
        assert steps(one) == steps(expected)
    anew = predictions.curve("a", policy=cc.thresholds.crossfit(4))
    assert steps(anew) == steps(cc.CostCurve.from_predictions(y, a, policy=cc.thresholds.crossfit(4)))


# What it is worth -----------------------------------------------------------------------------------------------


@pytest.mark.law
@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("pc", [0.3, 0.6])
def test_the_cost_is_that_of_thresholds_from_as_many_cases_on_new_ones(pc, many, monkeypatch):
    if many:  # the folds of very many cases
        monkeypatch.setattr(dividing, "MANY", 1)
        monkeypatch.setattr(crossfit, "MANY", 1)
    y = np.repeat([True, False], [25, 50])
    kept = np.r_[0:20, 25:65]  # as many as four of five folds
    errors, flattered = [], []
    for rng in random_worlds(600, stream=1808):
        scores, fresh = rng.normal(y), rng.normal(y)
        cut = cc.CostCurve.from_predictions(y[kept], fresh[kept]).threshold_at(pc)
        truth = pc * ndtr(cut - 1) + (1 - pc) * ndtr(-cut)
        errors.append(cc.CostCurve.from_predictions(y, scores, policy="crossfit").evaluate(pc) - truth)
        flattered.append(cc.CostCurve.from_predictions(y, scores).evaluate(pc) - truth)
    spread = np.std(errors) / np.sqrt(len(errors))
    assert abs(np.mean(errors)) < 4.5 * spread
    assert np.mean(flattered) < -6 * spread


def test_bands_take_the_cross_fitted_counts_and_know_where_nothing_is_estimated():
    rng = np.random.default_rng(0)
    y = rng.random(500) < 0.3
    curve = cc.CostCurve.from_predictions(y, rng.integers(0, 3, 500), policy="crossfit")
    misses, alarms = curve.errors_at([0.5])
    found = curve.band(method="exact").at(0.5)
    assert found.estimate == curve.evaluate(0.5) == 0.5 * misses[0] / y.sum() + 0.5 * alarms[0] / (~y).sum()
    assert curve.distribution(0.5).mean == pytest.approx(curve.evaluate(0.5))
    known = curve.trivial_at(np.array([0.001, 0.5, 0.999]))
    assert known.tolist() == [True, False, True]
    assert curve.band(pc=[0.001, 0.5]).upper[0] == curve.evaluate(0.001)
    repeated = cc.CostCurve.from_predictions(y, rng.normal(size=500), policy=cc.thresholds.crossfit(5, 3))
    assert repeated.band().at(0.5).estimate == repeated.evaluate(0.5)
    with pytest.raises(cc.InputError, match="whole counts"):
        repeated.band(method="exact")


# Bad input ------------------------------------------------------------------------------------------------------

Y, S = [0, 0, 0, 0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6, 4, 6, 7]
ROC = cc.RocCurve.from_predictions(Y, S)
IN_FOLDS = cc.Predictions(Y, {"a": S[::-1]}, folds=[0, 1, 2] * 3)
WEIGHED = cc.RocCurve.from_predictions(Y, S, sample_weight=np.ones(9))


def test_too_few_of_a_class_make_fewer_folds_and_say_so():
    with pytest.warns(cc.FewerFoldsWarning, match="in 3 folds instead of 5: the positive class has only 3 examples"):
        curve = cc.CostCurve(ROC, policy="crossfit")
    assert steps(curve) == steps(cc.CostCurve(ROC, policy=cc.thresholds.crossfit(3)))
    with pytest.warns(cc.FewerFoldsWarning, match="3 folds instead of 4: the positive class"):
        cc.CostCurve.from_predictions(Y, S, sample_weight=np.ones(9), policy=cc.thresholds.crossfit(4))


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: cc.thresholds.crossfit(1), cc.InputError, r"`n_folds` must be .*2.*, got 1"),
        (lambda: cc.thresholds.crossfit(5, n_repeats=0), cc.InputError, r"`n_repeats` must be .*1.*, got 0"),
        (
            lambda: cc.CostCurve.from_predictions([0, 0, 0, 1], [1, 2, 3, 4], policy="crossfit"),
            cc.DataError,
            r"two examples or more of each class.*got 1 positive and 3 negative: the positive class has 1",
        ),
        (
            lambda: cc.Predictions(Y, {"a": S}, folds=[0] * 6 + [1] * 3).curve("a", policy="crossfit"),
            cc.DataError,
            r"`folds` must leave examples of both classes outside every fold, .* got all 3 positive ones in fold 1",
        ),
        (lambda: cc.Predictions(Y, {"a": S}, folds=[0, 1]), cc.InputError, r"`folds` must have one entry per example"),
        (
            lambda: IN_FOLDS.curve("a", policy=cc.thresholds.crossfit(n_repeats=2)),
            cc.InputError,
            r"`n_repeats` must be 1 where the predictions have folds, got 2",
        ),
        (lambda: cc.CostCurve(ROC.on_hull(), policy="crossfit"), cc.UnsupportedError, "needs every point"),
        (lambda: cc.CostCurve(WEIGHED, policy="crossfit"), cc.UnsupportedError, "needs the cases themselves"),
        (
            lambda: cc.CostCurve(cc.RocCurve.from_rates(0.1, 0.6), policy="crossfit"),
            cc.UnsupportedError,
            "needs a curve made from scores",
        ),
        (
            lambda: cc.CostCurve(ROC, policy=IN_FOLDS.curve("a", policy="crossfit").policy),
            cc.InputError,
            "`policy` must be of the same cases as the curve",
        ),
        (lambda: cc.recommend(Y, {"a": S}, HERE, policy="crossfit"), cc.InputError, "must be 'optimal' for a rec"),
        (
            lambda: cc.Predictions(Y, {"a": S}).recommend(HERE, policy={"a": cc.thresholds.crossfit(3)}),
            cc.InputError,
            "`policy` must be 'optimal' for a recommendation, .* got 'crossfit'",
        ),
        (
            lambda: cc.CostCurve(ROC, policy=cc.thresholds.crossfit(3)).cuts_at(0.5),
            cc.UnsupportedError,
            "`cuts_at` needs one threshold for all cases",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_cross_fitted_is_refused(ask, error, message):
    with pytest.raises(error, match=message):
        ask()


def test_the_policy_says_what_it_is():
    assert repr(cc.thresholds.crossfit()) == "crossfit()"
    assert repr(cc.thresholds.crossfit(10, n_repeats=3)) == "crossfit(n_folds=10, n_repeats=3)"
    assert "thresholds of other folds by pc" in repr(cc.CostCurve(ROC, policy=cc.thresholds.crossfit(3)))
