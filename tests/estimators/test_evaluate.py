"""Evaluation of estimators, scores and cross-validation results on the same folds."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

import costcurves as cc
from members import NoScores, Remembering, breast_cancer, three_members

X, Y = breast_cancer()
FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def result():
    return cc.evaluate(three_members(), X, Y, cv=FOLDS)


@pytest.fixture(scope="module")
def oracle():
    return {
        name: cross_val_predict(member, X, Y, cv=FOLDS, method="predict_proba")[:, 1]
        for name, member in three_members().items()
    }


# Scores and curves ----------------------------------------------------------------------------------------------


def test_scores_are_scikit_learns_out_of_fold_scores(result, oracle):
    assert result.names == tuple(oracle)
    for name, scores in oracle.items():
        np.testing.assert_array_equal(result.scores[name], scores)
    assert (result.y_true == (Y == 1)).all()
    for k, (_, test) in enumerate(FOLDS.split(X, Y)):
        assert (result.folds[test] == k).all()
    assert result.index.tolist() == list(range(len(Y)))


def test_curves_are_those_of_each_fold(result, oracle):
    for k, (_, test) in enumerate(FOLDS.split(X, Y)):
        curve = result.fold_roc_curves("bayes")[k]
        expected = cc.RocCurve.from_predictions(Y[test], oracle["bayes"][test])
        assert (curve.fp.tolist(), curve.tp.tolist()) == (expected.fp.tolist(), expected.tp.tolist())
    assert len(result.fold_roc_curves("bayes")) == result.n_folds == 4


def test_pooled_averaged_and_hull_are_the_cores(result, oracle):
    pc = np.linspace(0, 1, 33)
    pooled = cc.RocCurve.from_predictions(Y, oracle["logit"])
    assert result.roc_curve("logit").auc() == pooled.auc()
    mean = np.mean([cc.CostCurve(curve).evaluate(pc) for curve in result.fold_roc_curves("logit")], axis=0)
    np.testing.assert_allclose(result.averaged_curve("logit").evaluate(pc), mean, atol=1e-12)
    assert result.averaged_roc("logit").n_curves == 4
    assert result.hull().to_dict() == cc.RocHull.from_predictions(Y, oracle).to_dict()
    band, honest = result.average_band("logit"), result.averaged_curve("logit", policy="crossfit")
    np.testing.assert_allclose(band.estimate, honest.evaluate(band.pc), atol=1e-12)
    with pytest.raises(cc.InputError, match="`curves` must not have thresholds that were chosen on the same fold"):
        result.average_band("logit", policy="optimal")


def test_thresholds_of_other_folds_cost_no_less_than_those_of_the_own_fold(result):
    pc = np.linspace(0, 1, 101)
    honest = result.averaged_curve("tree", policy="crossfit").evaluate(pc)
    optimistic = result.averaged_curve("tree").evaluate(pc)
    assert (honest >= optimistic - 1e-12).all()
    assert honest.mean() > optimistic.mean()
    own, others = result.folds == 2, result.folds != 2
    cut = cc.RocHull.from_predictions(Y[others], {"tree": result.scores["tree"][others]}).best(0.3).threshold
    cost = cc.normalized_expected_cost(Y[own], (result.scores["tree"][own] >= cut).astype(int), 0.3)
    assert result.fold_curves("tree", policy="crossfit")[2].evaluate(0.3) == pytest.approx(cost)


def test_comparisons_are_the_cores(result, oracle):
    ours = result.compare("bayes", "tree")
    expected = cc.compare(Y, oracle["bayes"], oracle["tree"], names=("bayes", "tree"))
    np.testing.assert_array_equal(ours.lower, expected.lower)
    many = result.compare_many(pc=[0.3, 0.5])
    assert many.to_dict() == cc.compare_many(Y, oracle, pc=[0.3, 0.5]).to_dict()


def test_frames_are_long(result):
    frame = result.to_frame("pandas")
    assert list(frame.columns) == ["name", "row", "fold", "y_true", "score"]
    assert len(frame) == 3 * len(Y)
    np.testing.assert_array_equal(frame.loc[frame["name"] == "tree", "score"], result.scores["tree"])


def test_results_can_be_pickled(result):
    again = pickle.loads(pickle.dumps(result))
    assert again.to_dict() == result.to_dict()


# What can be evaluated ------------------------------------------------------------------------------------------


def test_scores_stand_beside_estimators(result, oracle):
    mixed = cc.evaluate({"bayes": GaussianNB(), "mine": oracle["tree"]}, X, Y, cv=FOLDS)
    np.testing.assert_array_equal(mixed.scores["bayes"], result.scores["bayes"])
    np.testing.assert_array_equal(mixed.scores["mine"], oracle["tree"])


def test_scores_alone_need_no_features(oracle):
    frame = pd.DataFrame(oracle)
    for given in (oracle, frame):
        alone = cc.evaluate(given, None, Y, cv=FOLDS)
        assert alone.hull().to_dict() == cc.RocHull.from_predictions(Y, oracle).to_dict()


def test_results_of_cross_validate_give_the_same_scores(result, oracle):
    runs = {
        name: cross_validate(member, X, Y, cv=FOLDS, return_estimator=True, return_indices=True)
        for name, member in three_members().items()
    }
    ours = cc.evaluate(runs, X, Y)
    for name in runs:
        np.testing.assert_array_equal(ours.scores[name], result.scores[name])
    assert (ours.folds == result.folds).all()
    mixed = cc.evaluate({"run": runs["tree"], "bayes": GaussianNB(), "mine": oracle["logit"]}, X, Y)
    np.testing.assert_array_equal(mixed.scores["bayes"], result.scores["bayes"])
    np.testing.assert_array_equal(mixed.scores["run"], result.scores["tree"])
    assert mixed.names == ("run", "bayes", "mine")


def test_a_single_split_tests_only_its_rows():
    split = ShuffleSplit(n_splits=1, test_size=0.3, random_state=0)
    _, test = next(split.split(X))
    ours = cc.evaluate({"bayes": GaussianNB()}, X, Y, cv=split)
    assert ours.index.tolist() == sorted(test)
    assert (ours.y_true == (Y[np.sort(test)] == 1)).all()
    share = cc.evaluate({"bayes": GaussianNB()}, X, Y, cv=0.3, random_state=0)
    assert share.index.size == 171


def test_prefit_estimators_are_judged_on_all_data():
    member = GaussianNB().fit(X[::2], Y[::2])
    ours = cc.evaluate({"bayes": member}, X[1::2], Y[1::2], cv="prefit")
    np.testing.assert_array_equal(ours.scores["bayes"], member.predict_proba(X[1::2])[:, 1])
    assert ours.n_folds == 1


def test_labels_of_any_kind_and_frames_are_taken(result):
    names = pd.Series(np.where(Y == 1, "bad", "good"))
    ours = cc.evaluate(three_members(), pd.DataFrame(X), names, cv=FOLDS, pos_label="bad")
    np.testing.assert_allclose(ours.scores["tree"], result.scores["tree"])
    assert ours.pos_label == "bad"
    assert ours.roc_curve("bayes").auc() == pytest.approx(result.roc_curve("bayes").auc())


def test_weights_train_and_weigh():
    weights = np.where(Y == 1, 1.0, np.arange(len(Y)) % 3)
    Remembering.seen.clear()
    ours = cc.evaluate({"bayes": Remembering()}, X, Y, cv=3, sample_weight=weights)
    assert all(seen is not None for _, seen, _ in Remembering.seen)
    assert ours.roc_curve("bayes").n_neg == weights[Y == 0].sum()
    assert "sample_weight" in ours.to_frame("pandas").columns


def test_comparisons_have_the_weights(oracle):
    weights = np.where(Y == 1, 1.0, 1.0 + np.arange(len(Y)) % 3)
    ours = cc.evaluate(oracle, None, Y, sample_weight=weights)
    many = ours.compare_many(pc=[0.3, 0.5])
    assert many.to_dict() == cc.compare_many(Y, oracle, sample_weight=weights, pc=[0.3, 0.5]).to_dict()
    assert many.to_dict() != cc.compare_many(Y, oracle, pc=[0.3, 0.5]).to_dict()
    one = ours.compare("bayes", "tree", pc=[0.3, 0.5])
    expected = cc.compare(Y, oracle["bayes"], oracle["tree"], sample_weight=weights, pc=[0.3, 0.5])
    np.testing.assert_array_equal(one.lower, expected.lower)


def test_groups_stay_together_with_and_without_routing():
    groups = np.arange(len(Y)) // 5
    plain = cc.evaluate({"bayes": GaussianNB()}, X, Y, cv=4, groups=groups, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = cc.evaluate({"near": KNeighborsClassifier()}, X, Y, cv=GroupKFold(4), groups=groups)
    for ours in (plain, routed):
        assert all(np.unique(ours.folds[groups == g]).size == 1 for g in np.unique(groups))


def test_parallel_fits_change_nothing(result):
    ours = cc.evaluate(three_members(), X, Y, cv=FOLDS, n_jobs=2)
    assert ours.to_dict() == result.to_dict()


def test_margins_of_several_folds_are_warned_of_by_name():
    models = {"machine": LinearSVC(), "bayes": GaussianNB()}
    with pytest.warns(cc.CostCurvesWarning, match=r"^scores of 'machine' are values of a decision function"):
        cc.evaluate(models, X / X.max(axis=0), Y, cv=FOLDS)
    runs = cross_validate(LinearSVC(), X / X.max(axis=0), Y, cv=FOLDS, return_estimator=True, return_indices=True)
    with pytest.warns(cc.CostCurvesWarning, match=r"^scores of 'LinearSVC' are values of a decision function"):
        cc.evaluate(runs, X / X.max(axis=0), Y)
    cc.evaluate(models, X / X.max(axis=0), Y, cv=0.5)  # a single fold has a single scale


# Bad input ------------------------------------------------------------------------------------------------------


def run(**options):
    """Return the results of a cross-validation with the wanted parts."""
    return cross_validate(GaussianNB(), X, Y, cv=FOLDS, **options)


@pytest.mark.parametrize(
    "one", [GaussianNB(), run(return_estimator=True, return_indices=True)], ids=["estimator", "results"]
)
def test_one_classifier_needs_no_mapping_and_is_called_by_its_class(one):
    alone, named = cc.evaluate(one, X, Y, cv=FOLDS), cc.evaluate({"GaussianNB": one}, X, Y, cv=FOLDS)
    assert alone.names == ("GaussianNB",)
    np.testing.assert_array_equal(alone.score("GaussianNB"), named.score("GaussianNB"))


@pytest.mark.parametrize(
    ("classifiers", "message"),
    [
        ({}, r"`classifiers` must not be empty, got 0 classifiers"),
        ([GaussianNB()], r"`classifiers` must map names to classifiers, got a list of estimators: pass a dict"),
        ([("bayes", GaussianNB())], r"`classifiers` must map names to classifiers, got a list of estimators"),
        (run(return_estimator=True), r"`GaussianNB` must be the result of cross_validate.*without 'indices'"),
        (run(), r"`classifier` must be the result of cross_validate.*without 'indices': pass return_indices=True"),
        ({"always positive": GaussianNB()}, r"`classifiers` must not use the names of the trivial classifiers"),
        ({"none": NoScores()}, r"`none` must be a classifier with scores, got a NoScores without predict_proba and"),
        ({"class": GaussianNB}, r"`class` must be an estimator, got <class"),
        ({"short": [0.1, 0.2]}, r"`short` and `y` must have the same length, got 2 and 569"),
        ({"text": ["high"] * 569}, r"`text` must be numeric"),
        ({"run": {"test_score": [1]}}, r"`run` must be the result of cross_validate.*without 'indices'"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(classifiers, message):
    with pytest.raises(cc.CostCurvesError, match=message):
        cc.evaluate(classifiers, X, Y)


def test_results_without_indices_or_estimators_are_refused():
    with pytest.raises(cc.InputError, match=r"got one without 'indices': pass return_indices=True"):
        cc.evaluate({"run": run(return_estimator=True)}, X, Y)
    with pytest.raises(cc.InputError, match=r"got one without 'estimator': pass return_estimator=True"):
        cc.evaluate({"run": run(return_indices=True)}, X, Y)
    whole = {"return_estimator": True, "return_indices": True}
    other = cross_validate(GaussianNB(), X, Y, cv=4, **whole)
    with pytest.raises(cc.InputError, match=r"`b` must have the same test folds as the results before it"):
        cc.evaluate({"a": run(**whole), "b": other}, X, Y)


@pytest.mark.parametrize(
    "changed",
    [
        *({"estimator": None}, {"estimator": []}, {"estimator": [GaussianNB()]}, {"estimator": 5}),
        *({"indices": 5}, {"indices": {"train": [[0]]}}, {"indices": {"train": 5, "test": 5}}),
        {"estimator": [], "indices": {"train": [], "test": []}},
    ],
)
def test_results_with_other_parts_than_cross_validate_returns_are_refused(changed):
    whole = run(return_estimator=True, return_indices=True)
    for classifiers in (whole | changed, {"run": whole | changed}):
        with pytest.raises(
            cc.InputError, match=r"must have an estimator and the indices of 'train' and 'test' for each"
        ):
            cc.evaluate(classifiers, X, Y)


def test_more_than_two_classes_are_refused_with_advice():
    flowers, kinds = load_iris(return_X_y=True)
    with pytest.raises(cc.DataError, match=r"`y` must hold two classes, got 3: .* cc\.bdeltacost_many"):
        cc.evaluate({"logit": LogisticRegression()}, flowers, kinds)


def test_names_of_classes_need_a_positive_one():
    with pytest.raises(cc.DataError, match="`pos_label` must be given"):
        cc.evaluate({"bayes": GaussianNB()}, X, np.where(Y == 1, "bad", "good"))


def test_examples_tested_twice_are_refused():
    folds = RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)
    with pytest.raises(cc.InputError, match=r"`cv` must test each example at most once, .* got 1138 tests of 569"):
        cc.evaluate({"bayes": GaussianNB()}, X, Y, cv=folds)


def test_features_are_missed():
    with pytest.raises(cc.InputError, match=r"`X` must be given for estimators, got None for 'bayes'"):
        cc.evaluate({"bayes": GaussianNB()}, None, Y)


def test_questions_that_cannot_be_answered_say_so():
    scores = {"a": [0.1, 0.4, 0.35, 0.8]}
    ours = cc.evaluate(scores, None, [0, 0, 1, 1], cv=[([], [0, 1]), ([], [2, 3])])
    with pytest.raises(cc.DataError, match=r"`folds` must have both classes in every fold, got one .* 'a, fold 0'"):
        ours.fold_roc_curves("a")
    with pytest.raises(cc.InputError, match=r"the classifier must be one of a, got 'b'"):
        ours.roc_curve("b")
    single = cc.evaluate(scores, None, [0, 0, 1, 1], cv="prefit")
    with pytest.raises(cc.UnsupportedError, match=r"`policy='crossfit'` needs two folds or more, got 1"):
        single.averaged_curve("a", policy="crossfit")


# Folds and weights that cannot be -------------------------------------------------------------------------------

EVEN, ODD = np.arange(0, len(Y), 2), np.arange(1, len(Y), 2)


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        ([(EVEN, ODD + len(Y))], rf"`cv` must give row numbers from 0 to {len(Y) - 1}, got {len(Y) + 1}"),
        ([(EVEN, -1 - EVEN)], rf"`cv` must give row numbers from 0 to {len(Y) - 1}, got -1"),
        ([(EVEN + 0.5, ODD)], "`cv` must give row numbers, or masks"),
        ([(EVEN, [True, False])], "`cv` must give row numbers, or masks"),
        ([(EVEN, [])], "`cv` must leave examples to test on in every fold, got none in fold 0"),
        ([([], ODD)], "both classes to train on in every fold, got no example in fold 0"),
        ([(EVEN, ODD), (np.flatnonzero(Y == 1), ODD)], "both classes to train on.*only .*1.* in fold 1"),
    ],
)
def test_folds_that_cannot_be_are_refused_before_training(folds, message):
    Remembering.seen.clear()
    with pytest.raises(cc.CostCurvesError, match=message):
        cc.evaluate({"bayes": Remembering()}, X, Y, cv=folds)
    with pytest.raises(cc.CostCurvesError, match=message):
        cc.RocHullClassifier({"bayes": Remembering()}, 0.5, cv=folds).fit(X, Y)
    assert not Remembering.seen


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(5), "`sample_weight` and `y_true` must have the same length, got 5"),
        (np.full(len(Y), np.nan), "`sample_weight` must be finite"),
        (-np.ones(len(Y)), "`sample_weight` must be >= 0"),
        ("heavy", "`sample_weight` must be 1-D"),
    ],
)
def test_weights_that_cannot_be_are_refused_before_training(weights, message):
    Remembering.seen.clear()
    with pytest.raises(cc.DataError, match=message):
        cc.evaluate({"bayes": Remembering()}, X, Y, sample_weight=weights)
    with pytest.raises(cc.DataError, match=message):
        cc.RocHullClassifier({"bayes": Remembering()}, 0.5).fit(X, Y, sample_weight=weights)
    assert not Remembering.seen


def test_rows_of_labels_that_differ_in_length_are_refused():
    with pytest.raises(cc.InputError, match="`y` must be one-dimensional"):
        cc.evaluate({"a": LogisticRegression()}, [[0.0], [1.0]], [[0, 1], [2]])
