"""The hybrid classifier: its hull, its choices, moving without a fit, limits, and life inside scikit-learn."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

import costcurves as cc
from costcurves.estimators._members import has_missing
from members import Column, Counting, NoScores, Remembering, breast_cancer, three_members

X, Y = breast_cancer()
NUMBERED = np.column_stack([np.arange(len(Y)), X])  # the first feature says which rows a fit has seen
CONDITIONS = [0.001, 0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 0.999]
FOLDS = StratifiedKFold(5)


@pytest.fixture(scope="module")
def fitted():
    return cc.RocHullClassifier(three_members(), 0.5, cv=FOLDS).fit(X, Y)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def prefit(scores, labels, condition=0.5, **options):
    """Return a classifier whose members' scores on the fitting data are the columns given."""
    table = np.column_stack(scores)
    members = {f"c{i}": Column(i).fit(table, labels) for i in range(table.shape[1])}
    return cc.RocHullClassifier(members, condition, cv="prefit", **options).fit(table, labels), table


def middle(curve, threshold):
    """Return the middle of a score and the next lower one, in the fewest decimals that stay in the middle half."""
    below = max(score for score in curve.thresholds if score < threshold)
    gap = threshold - below
    rounded = (round((threshold + below) / 2, decimals) for decimals in range(20))
    return next(value for value in rounded if below + gap / 4 <= value <= threshold - gap / 4)


# The hull and the choice ----------------------------------------------------------------------------------------


def test_hull_is_that_of_scikit_learns_out_of_fold_scores(fitted):
    scores = {
        name: cross_val_predict(member, X, Y, cv=FOLDS, method="predict_proba")[:, 1]
        for name, member in three_members().items()
    }
    expected = cc.RocHull.from_predictions(Y, scores)
    assert fitted.hull_.fpr.tolist() == expected.fpr.tolist()
    assert fitted.hull_.tpr.tolist() == expected.tpr.tolist()
    assert fitted.hull_.thresholds.tolist() == expected.thresholds.tolist()
    assert fitted.hull_.owner == expected.owner


def test_members_that_predict_are_trained_on_all_data(fitted):
    for name, member in three_members().items():
        expected = member.fit(X, Y).predict_proba(X)
        np.testing.assert_array_equal(fitted.estimators_[name].predict_proba(X), expected)


@pytest.mark.parametrize("pc", CONDITIONS)
def test_predictions_are_those_of_the_best_vertex(fitted, pc):
    best = fitted.hull_.best(pc)
    if best.classifier in fitted.estimators_:
        cut = middle(fitted.hull_.roc_curve(best.classifier), best.threshold)
        expected = fitted.estimators_[best.classifier].predict_proba(X)[:, 1] >= cut
    else:
        expected = np.full(len(X), best.classifier == "always positive")
    assert (fitted.predict(X, condition=pc) == expected).all()


def test_no_member_costs_less_on_the_data_of_the_hull(fitted):
    pc = np.linspace(0, 1, 201)
    hybrid = fitted.hull_.evaluate(pc)
    for curve in fitted.hull_.roc_curves().values():
        assert (hybrid <= cc.CostCurve(curve).evaluate(pc) + 1e-12).all()
    assert len(fitted.hull_.can_be_best) > 1


def test_extreme_conditions_make_trivial_choices():
    clf, table = prefit([np.array([0.0, 3, 1, 2, 4, 5])], np.array([1, 0, 0, 1, 1, 0]))
    assert clf.predict(table, condition=0.0001).tolist() == [0] * 6
    assert clf.predict(table, condition=0.9999).tolist() == [1] * 6
    assert clf.set_params(condition=0.0001).choice_.first == "always negative"
    assert clf.set_params(condition=0.9999).choice_.first == "always positive"


def test_trivial_choices_still_check_the_input(fitted):
    with pytest.raises(ValueError, match="features"):
        fitted.predict(X[:, :3], condition=0.0)
    with pytest.raises(ValueError, match="NaN"):
        fitted.predict(np.full((2, 10), np.nan), condition=0.0)


def test_condition_changes_without_a_fit():
    Counting.fits.clear()
    clf = cc.RocHullClassifier({"bayes": Counting()}, 0.5, cv=4).fit(X, Y)
    assert len(Counting.fits) == 5
    found = [clf.predict(X, condition=pc).mean() for pc in CONDITIONS]
    assert found == [clf.set_params(condition=pc).predict(X).mean() for pc in CONDITIONS]
    assert len(set(found)) > 4
    assert np.all(np.diff(found) >= 0)
    assert len(Counting.fits) == 5


def test_money_and_pc_make_the_same_choice(fitted):
    money = cc.OperatingCondition(prevalence=0.1, cost_fp=2, cost_fn=30)
    assert (fitted.predict(X, condition=money) == fitted.predict(X, condition=money.pc)).all()


def test_positive_class_can_be_the_first():
    names = np.where(Y == 1, "bad", "good")
    first = cc.RocHullClassifier(three_members(), 0.3, pos_label="bad").fit(X, names)
    second = cc.RocHullClassifier(three_members(), 0.3).fit(X, Y)
    assert first.classes_.tolist() == ["bad", "good"]
    assert ((first.predict(X) == "bad") == (second.predict(X) == 1)).all()


@pytest.mark.parametrize("kind", ["hull", "threshold"])
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.where(Y == 1, "bad", "good"), r"`pos_label` must be given when labels are names, .*'bad', 'good'"),
        (Y + 1, r"`pos_label` must be given when `y` is not 0/1, -1/1 or boolean, got labels 1, 2"),
    ],
    ids=["names", "numbers"],
)
def test_the_positive_class_is_not_guessed(kind, labels, message):
    bayes = GaussianNB()
    clf = cc.RocHullClassifier({"bayes": bayes}, 0.3) if kind == "hull" else cc.CostThresholdClassifier(bayes, 0.3)
    with pytest.raises(cc.DataError, match=message):
        clf.fit(X, labels)
    with pytest.raises(cc.DataError, match=r"`pos_label` must be given"):
        cc.RocCurve.from_predictions(labels, X[:, 0])
    for positive in np.unique(labels).tolist():
        assert clf.set_params(pos_label=positive).fit(X, labels).pos_label_ == positive


@pytest.mark.parametrize("labels", [Y, 2 * Y - 1, Y == 1], ids=["0/1", "-1/1", "boolean"])
def test_labels_that_say_which_class_is_positive_are_enough(labels):
    clf = cc.CostThresholdClassifier(GaussianNB(), 0.3).fit(X, labels)
    assert clf.pos_label_ == labels.max()
    numbers = cc.CostThresholdClassifier(GaussianNB(), 0.3).fit(X, Y)
    assert ((clf.predict(X) == clf.pos_label_) == (numbers.predict(X) == 1)).all()


HOLES = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)  # takes missing values
FILLED = make_pipeline(SimpleImputer(), GaussianNB())


@pytest.mark.parametrize("holes", [HOLES, HOLES.tolist(), pd.DataFrame(HOLES)], ids=["array", "list", "pandas"])
def test_missing_values_are_taken_by_all_members_or_by_none(holes):
    # Which member is used depends on the condition: what is refused must not.
    mixed = cc.RocHullClassifier({"tree": TREE, "bayes": GaussianNB()}, 0.5, cv=2).fit(X, Y)
    conditions = [0.0, *CONDITIONS, 1.0, {"fpr": 0.05}]
    assert {"tree", "bayes"} < {mixed.set_params(condition=one).choice_.first for one in conditions}
    for condition in conditions:
        with pytest.raises(ValueError, match="NaN"):
            mixed.predict(holes, condition=condition)
        assert mixed.predict(X, condition=condition).shape == Y.shape


@pytest.mark.parametrize("members", [{"tree": TREE}, {"tree": TREE, "filled": FILLED}], ids=len)
@pytest.mark.parametrize("condition", [0.0, 0.3, 0.95])
def test_missing_values_are_predicted_where_every_member_takes_them(members, condition):
    clf = cc.RocHullClassifier(members, condition, cv=2).fit(HOLES, Y)
    assert clf.predict(HOLES).shape == Y.shape
    assert clf.predict(pd.DataFrame(HOLES)).shape == Y.shape


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        ([[1.0, 2.0]], False),
        ([[1.0, np.nan]], True),
        ([["a", None]], True),
        ([["a", "b"]], False),
        (np.array([[1, 2]]), False),
        (csr_array([[0, np.nan]]), True),
        (csr_array([[0, 1.0]]), False),
        (pd.DataFrame({"a": ["x", None]}), True),
        (pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}), True),
        (pl.DataFrame({"a": ["x", None]}), True),
        (pl.DataFrame({"a": [1.0, 2.0]}), False),
    ],
)
def test_missing_values_are_found_in_any_table(X, expected):
    assert has_missing(X) is expected


def test_rows_of_different_lengths_are_no_table():
    with pytest.raises(cc.DataError, match=r"`X` must be a table with rows of one length, got \[\[0, 1\], \[2\]\]"):
        has_missing([[0, 1], [2]])


def test_a_random_choice_is_tagged_as_such():
    for edge in ("within", "nearer", "random"):
        clf = cc.RocHullClassifier(three_members(), 0.3, on_edge=edge)
        assert get_tags(clf).non_deterministic == (edge == "random")
    assert not get_tags(cc.CostThresholdClassifier(GaussianNB(), 0.3)).non_deterministic


def test_decision_functions_are_turned_for_the_first_class():
    ridge = {"ridge": RidgeClassifier()}
    first = cc.RocHullClassifier(ridge, 0.3, pos_label=0).fit(X, 1 - Y)
    second = cc.RocHullClassifier(ridge, 0.3).fit(X, Y)
    assert first.hull_.tpr.tolist() == second.hull_.tpr.tolist()
    assert (first.predict(X) == 1 - second.predict(X)).all()


def test_thresholds_lie_about_in_the_middle_of_gaps_that_floats_have():
    labels = np.array([0, 1, 1])
    for low, high, expected in (
        (0.0, 1.0, 0.5),
        (1.0, np.nextafter(1, 2), np.nextafter(1, 2)),
        (-1e308, 1.5e308, 3e307),
        (0.5, 1.5e308, 8e307),
        (0.59823, 0.73157, 0.66),
        (5e-324, 1e-323, 1e-323),
    ):
        clf, table = prefit([np.array([low, high, high])], labels)
        assert clf.choice_.first_threshold == float(clf.choice_.threshold_text[0]) == expected
        assert clf.predict(table).tolist() == [0, 1, 1]


# Edges of the hull ----------------------------------------------------------------------------------------------


def test_limits_choose_the_best_single_point_that_keeps_them(fitted):
    for limit, expected in (
        ({"fpr": 0.03}, fitted.hull_.best_at_fpr(0.03)),
        ({"tpr": 0.93}, fitted.hull_.best_at_tpr(0.93)),
        (
            {"alarms": 90, "population": 1000, "prevalence": 0.1},
            fitted.hull_.best_at_capacity(alarms=90, population=1000, prevalence=0.1),
        ),
    ):
        choice = clone(fitted).set_params(condition=limit)
        choice.hull_ = fitted.hull_
        cut = middle(fitted.hull_.roc_curve(expected.classifier), expected.threshold)
        assert (choice.choice_.first, choice.choice_.first_threshold) == (expected.classifier, cut)
        assert (choice.choice_.fpr, choice.choice_.tpr) == (expected.fpr, expected.tpr)
        assert choice.choice_.probability == 0


@pytest.mark.parametrize("make", [cc.RocHullClassifier, cc.CostThresholdClassifier])
def test_a_capacity_is_used_up_as_far_as_single_thresholds_can(make):
    rng = np.random.default_rng(5)
    labels = rng.permutation(np.repeat([0, 1], 1000))
    table = (3 * labels + rng.normal(size=2000))[:, None]  # two normals, three standard deviations apart
    column = Column(0).fit(table, labels)
    clf = make({"c0": column} if make is cc.RocHullClassifier else column, 0.5, cv="prefit").fit(table, labels)
    for alarms in (1, 7, 100, 500, 950, 1100, 1999):
        limit = {"alarms": alarms, "population": 2000, "prevalence": 0.5}
        # All scores differ, so every number of alarms can be raised; false alarms below the last positive find nothing.
        allowed = labels[np.argsort(-table[:, 0])][:alarms]
        assert clf.predict(table, condition=limit).sum() == np.flatnonzero(allowed)[-1] + 1


@pytest.mark.parametrize("fpr", [0.0, 0.01, 0.04, 0.1, 0.5, 1.0])
def test_nearer_vertex_is_the_nearest_along_the_edge(fitted, fpr):
    clf = clone(fitted).set_params(condition={"fpr": fpr}, on_edge="nearer")
    clf.hull_ = hull = fitted.hull_
    mixture = hull.best_at_fpr(fpr).mixture
    distances = np.hypot(hull.fpr - mixture.fpr, hull.tpr - mixture.tpr)
    chosen = clf.choice_
    assert chosen.first == [mixture.first, mixture.second][int(mixture.probability > 0.5)]
    i = next(i for i in range(hull.fpr.size) if (hull.fpr[i], hull.tpr[i]) == (chosen.fpr, chosen.tpr))
    assert distances[i] == pytest.approx(min(distances[max(i - 1, 0) : i + 2]))


def test_random_choice_on_an_edge_reaches_the_limit_on_average():
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1], [4000, 1000])
    clf, table = prefit([labels + rng.normal(0, 1, 5000).round(1)], labels, {"fpr": 0.1}, on_edge="random")
    mixture = clf.choice_
    assert 0.1 < mixture.probability < 0.9
    assert mixture.fpr == pytest.approx(0.1)
    rates = [clf.set_params(random_state=seed).predict(table)[labels == 0].mean() for seed in range(200)]
    # 200 means of 4000 draws, of which those between the two thresholds are random.
    assert np.mean(rates) == pytest.approx(0.1, abs=4 * np.std(rates) / np.sqrt(200))
    assert np.std(rates) > 0


def test_random_choice_is_repeated_with_the_same_seed():
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 2, 300)
    clf, table = prefit([labels + rng.normal(0, 1, 300).round()], labels, {"fpr": 0.1}, on_edge="random")
    clf.set_params(random_state=7)
    mixture, draws = clf.choice_, np.random.RandomState(7).random_sample(300)
    cut = np.where(draws < mixture.probability, mixture.second_threshold, mixture.first_threshold)
    assert (clf.predict(table) == (table[:, 0] >= cut)).all()
    assert (clf.predict(table) == clf.predict(table)).all()
    assert (clf.predict(table) != clf.set_params(random_state=8).predict(table)).any()


def test_a_condition_on_an_edge_has_two_best_vertices():
    # ROC points (0, 1/2) and (1/4, 1): the edge has slope 2, so pc = 1/3.
    labels = np.array([1, 1, 0, 1, 1, 0, 0, 0])
    clf, table = prefit([np.array([8.0, 8, 7, 7, 7, 6, 5, 4])], labels, 1 / 3, random_state=0)
    best = clf.hull_.best(1 / 3)
    assert len(best.ties) == 1
    for on_edge in ("within", "nearer"):
        choice = clf.set_params(on_edge=on_edge).choice_
        assert (choice.first_threshold, choice.probability) == (best.threshold - 0.5, 0)
    mixed = clf.set_params(on_edge="random").choice_
    assert mixed.probability == 0.5
    assert {mixed.first_threshold, mixed.second_threshold} == {7.5, 6.5}
    assert (mixed.fpr, mixed.tpr) == (0.125, 0.75)
    often = np.mean([clf.set_params(random_state=seed).predict(table) for seed in range(400)], axis=0)
    assert often[:2].tolist() == [1, 1]
    assert often[5:].tolist() == [0, 0, 0]
    assert often[2:5] == pytest.approx(0.5, abs=0.1)
    assert clf.set_params(condition=0.34).choice_.probability == 0


# Life inside scikit-learn ---------------------------------------------------------------------------------------


def test_pairs_and_mapping_are_the_same(fitted):
    pairs = cc.RocHullClassifier(list(three_members().items()), 0.5, cv=FOLDS).fit(X, Y)
    assert pairs.hull_.to_dict() == fitted.hull_.to_dict()


@pytest.mark.parametrize("kind", [dict, list])
def test_members_and_their_parameters_can_be_set(kind):
    members = three_members()
    clf = cc.RocHullClassifier(members if kind is dict else list(members.items()), 0.5)
    assert clf.get_params()["tree__min_samples_leaf"] == 10
    assert clf.get_params()["logit"] is members["logit"]
    clf.set_params(tree__min_samples_leaf=3, bayes=LogisticRegression(), condition=0.2)
    assert members["tree"].min_samples_leaf == 3
    assert isinstance(dict(clf.estimators)["bayes"], LogisticRegression)
    assert isinstance(clf.estimators, kind)
    assert clf.condition == 0.2
    assert list(dict(clf.set_params(estimators={"one": GaussianNB()}).estimators)) == ["one"]
    with pytest.raises(ValueError, match="Invalid parameter 'nobody'"):
        clf.set_params(nobody=1)


def test_clones_and_pickles_predict_the_same(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict(X) == fitted.predict(X)).all()
    assert again.choice_.to_dict() == fitted.choice_.to_dict()
    copy = clone(fitted)
    assert not hasattr(copy, "hull_")
    assert (copy.fit(X, Y).predict(X) == fitted.predict(X)).all()


def test_pipeline_passes_the_condition_on(fitted):
    pipe = make_pipeline(StandardScaler(with_mean=False), clone(fitted)).fit(X, Y)
    assert pipe.predict(X, condition=1.0).sum() > pipe.predict(X, condition=0.02).sum()


def test_grid_search_finds_members_parameters():
    clf = cc.RocHullClassifier({"tree": DecisionTreeClassifier(random_state=0)}, 0.5, cv=3)
    search = GridSearchCV(
        clf,
        {"tree__min_samples_leaf": [1, 200], "condition": [0.5]},
        scoring=cc.expected_cost_scorer(0.5),
        cv=3,
    ).fit(X, Y)
    assert search.best_params_ == {"tree__min_samples_leaf": 1, "condition": 0.5}
    assert (search.cv_results_["mean_test_score"] < 0).all()
    assert search.best_estimator_.hull_.names == ("tree",)


def test_cross_val_score_judges_by_cost():
    scores = cross_val_score(
        cc.RocHullClassifier({"bayes": GaussianNB()}, 0.2), X, Y, cv=3, scoring=cc.expected_cost_scorer(0.2)
    )
    assert ((scores > -0.2) & (scores < 0)).all()


def test_dataframes_and_sparse_matrices_are_taken():
    names = [f"f{i}" for i in range(X.shape[1])]
    members = {"tree": DecisionTreeClassifier(min_samples_leaf=10, random_state=0)}
    plain = cc.RocHullClassifier(members, 0.5).fit(X, Y).predict(X)
    for table in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        clf = cc.RocHullClassifier(members, 0.5).fit(table, Y)
        assert (clf.predict(table) == plain).all()
        assert clf.feature_names_in_.tolist() == names
        assert clf.n_features_in_ == 10
    sparse = csr_array(X)
    assert (cc.RocHullClassifier(members, 0.5).fit(sparse, Y).predict(sparse) == plain).all()


def test_parallel_fits_change_nothing(fitted):
    clf = cc.RocHullClassifier(three_members(), 0.5, cv=FOLDS, n_jobs=2).fit(X, Y)
    assert clf.hull_.to_dict() == fitted.hull_.to_dict()


def test_folds_of_a_number_are_shuffled_only_with_a_seed():
    def hull(**options):
        return cc.RocHullClassifier({"bayes": GaussianNB()}, 0.5, **options).fit(X, Y).hull_.to_dict()

    assert hull() == hull(cv=FOLDS)
    assert hull(random_state=1) == hull(cv=StratifiedKFold(5, shuffle=True, random_state=1))
    assert hull(random_state=1) != hull(random_state=2)


def test_repeated_folds_count_every_test():
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    clf = cc.RocHullClassifier({"bayes": GaussianNB()}, 0.5, cv=folds).fit(X, Y)
    assert next(iter(clf.hull_.roc_curves().values())).n_pos == 2 * Y.sum()


def test_one_split_can_do_without_a_refit():
    Counting.fits.clear()
    clf = cc.RocHullClassifier({"bayes": Counting()}, 0.5, cv=0.25, refit=False, random_state=0).fit(X, Y)
    assert Counting.fits == [426]
    assert next(iter(clf.hull_.roc_curves().values())).n_pos + next(iter(clf.hull_.roc_curves().values())).n_neg == 143
    clf.set_params(refit=True).fit(X, Y)
    assert Counting.fits == [426, 426, 569]


def test_prefit_members_are_used_as_they_are():
    members = {name: member.fit(X[::2], Y[::2]) for name, member in three_members().items()}
    clf = cc.RocHullClassifier(members, 0.5, cv="prefit").fit(X[1::2], Y[1::2])
    assert all(clf.estimators_[name] is members[name] for name in members)
    assert next(iter(clf.hull_.roc_curves().values())).auc() == pytest.approx(
        cc.RocCurve.from_predictions(Y[1::2], members["bayes"].predict_proba(X[1::2])[:, 1]).auc()
    )


# Metadata -------------------------------------------------------------------------------------------------------


def test_weights_reach_members_and_the_hull():
    weights = np.random.default_rng(0).uniform(0.5, 2, len(Y))
    Remembering.seen.clear()
    clf = cc.RocHullClassifier({"bayes": Remembering()}, 0.5, cv=3).fit(NUMBERED, Y, sample_weight=weights)
    assert [len(rows) for rows, _, _ in Remembering.seen] == [379, 379, 380, 569]
    for rows, seen, _ in Remembering.seen:
        assert (seen == weights[rows.astype(int)]).all()
    assert next(iter(clf.hull_.roc_curves().values())).made_from == "weights"
    assert next(iter(clf.hull_.roc_curves().values())).n_pos == pytest.approx(weights[Y == 1].sum())


def test_weights_that_a_member_cannot_take_are_refused():
    clf = cc.RocHullClassifier({"near": KNeighborsClassifier()}, 0.5)
    with pytest.raises(cc.InputError, match=r"`sample_weight` must be taken by every member's fit, got 'near'"):
        clf.fit(X, Y, sample_weight=np.ones(len(Y)))


def test_groups_keep_together():
    groups = np.arange(len(Y)) // 7
    Remembering.seen.clear()
    cc.RocHullClassifier({"bayes": Remembering()}, 0.5, cv=3).fit(NUMBERED, Y, groups=groups)
    for rows, _, _ in Remembering.seen[:3]:
        trained = rows.astype(int)
        assert not set(groups[trained]) & set(np.delete(groups, trained))


def test_routing_sends_metadata_where_it_was_requested(routing):
    groups, note, weights = np.arange(len(Y)) // 7, np.arange(len(Y)), np.ones(len(Y))
    member = Remembering().set_fit_request(sample_weight=True, note=True)
    clf = cc.RocHullClassifier({"bayes": member, "near": KNeighborsClassifier()}, 0.5, cv=GroupKFold(3))
    Remembering.seen.clear()
    clf.fit(NUMBERED, Y, groups=groups, note=note, sample_weight=weights)
    assert len(Remembering.seen) == 4
    for rows, seen_weights, seen_note in Remembering.seen:
        assert (rows == seen_note).all()
        assert len(seen_weights) == len(rows)
    for _, _, seen_note in Remembering.seen[:3]:
        trained = set(groups[seen_note])
        assert not trained & set(np.delete(groups, seen_note))


def test_routing_reaches_the_classifier_inside_a_pipeline_and_a_search(routing):
    clf = cc.RocHullClassifier({"bayes": Remembering().set_fit_request(sample_weight=True)}, 0.5, cv=3)
    pipe = make_pipeline(MinMaxScaler(), clf.set_predict_request(condition=True))
    Remembering.seen.clear()
    pipe.fit(X, Y, sample_weight=np.ones(len(Y)))
    assert all(weights is not None for _, weights, _ in Remembering.seen)
    assert pipe.predict(X, condition=0.0).sum() < pipe.predict(X, condition=1.0).sum()
    scorer = cc.expected_cost_scorer(0.4).set_score_request(sample_weight=True)
    search = GridSearchCV(pipe, {"rochullclassifier__condition": [0.4]}, cv=2, scoring=scorer)
    search.fit(X, Y, sample_weight=np.ones(len(Y)))
    assert search.best_score_ < 0


def test_metadata_that_nobody_requested_is_refused(routing):
    clf = cc.RocHullClassifier({"bayes": Remembering()}, 0.5)
    with pytest.raises(ValueError, match="sample_weight"):
        clf.fit(X, Y, sample_weight=np.ones(len(Y)))


def test_unknown_metadata_needs_routing():
    with pytest.raises(cc.InputError, match=r"`fit` must have no metadata except sample_weight and groups .* got note"):
        cc.RocHullClassifier({"bayes": Remembering()}, 0.5).fit(X, Y, note=np.ones(len(Y)))


# Bad input ------------------------------------------------------------------------------------------------------

BAYES = ("bayes", GaussianNB())


@pytest.mark.parametrize(
    ("estimators", "message"),
    [
        ([], r"`estimators` must not be empty, got 0 members"),
        ({}, r"`estimators` must not be empty, got 0 members"),
        ([BAYES, BAYES], r"`estimators` must have different names, got 'bayes' twice"),
        (GaussianNB(), r"`estimators` must be pairs \(name, estimator\) or a mapping .* got GaussianNB\(\)"),
        ("bayes", r"`estimators` must be pairs \(name, estimator\) or a mapping"),
        ([GaussianNB()], r"`estimators` must be pairs \(name, estimator\), got GaussianNB\(\)"),
        ([("a__b", GaussianNB())], r"`estimators` must have names without '__' .* got 'a__b'"),
        ([("always negative", GaussianNB())], r"`estimators` must have names .* got 'always negative'"),
        ([("cv", GaussianNB())], r"`estimators` must not have the name of a parameter, got 'cv'"),
        ([("", GaussianNB())], r"`estimators` must be a non-empty string"),
        ([("none", NoScores())], r"`none` must be .* got a NoScores without predict_proba and decision_function"),
        ([("class", GaussianNB)], r"`class` must be an estimator, got <class"),
        ([("text", "drop")], r"`text` must be an estimator, got 'drop' \(str\)"),
        ([("line", LinearRegression())], r"`line` must be a classifier with scores, got a LinearRegression without"),
    ],
)
def test_unusable_members_are_refused(estimators, message):
    with pytest.raises(cc.InputError, match=message):
        cc.RocHullClassifier(estimators, 0.5).fit(X, Y)


def test_a_missing_response_method_is_named():
    clf = cc.RocHullClassifier({"ridge": RidgeClassifier()}, 0.5, response_method="predict_proba")
    with pytest.raises(cc.InputError, match=r"`ridge` must be .* got a RidgeClassifier without predict_proba$"):
        clf.fit(X, Y)
    with pytest.raises(cc.InputError, match=r"`response_method` must be one of 'auto', .* got 'predict'"):
        clf.set_params(response_method="predict").fit(X, Y)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("cheap", r"`condition` must be an OperatingCondition \(or a pc in \[0, 1\]\), got 'cheap' \(str\)"),
        (None, r"`condition` must be an OperatingCondition"),
        (1.5, r"`condition` must be in \[0, 1\], got 1.5"),
        ({"fnr": 0.1}, r"`condition` must have the keys fpr, or tpr, or alarms, population and prevalence, .*fnr"),
        ({"alarms": 3}, r"`condition` must have the keys fpr"),
        ({}, r"`condition` must have the keys fpr"),
        ({"fpr": 2}, r"`fpr` must be in \[0, 1\], got 2"),
    ],
)
def test_what_is_no_condition_is_refused(fitted, condition, message):
    with pytest.raises(cc.InputError, match=message):
        _ = clone(fitted).set_params(condition=condition).fit(X, Y).choice_
    if condition is not None:
        with pytest.raises(cc.InputError, match=message):
            fitted.predict(X, condition=condition)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_edge": "left"}, r"`on_edge` must be one of 'within', 'nearer', 'random', got 'left'"),
        ({"refit": False}, r"`refit` must be True if `cv` has several folds, got False"),
        ({"refit": "yes"}, r"`refit` must be True or False, got 'yes'"),
        ({"cv": "loo"}, r"`cv` must be a number of folds, a share, a splitter or 'prefit', got 'loo'"),
        ({"cv": 1}, r"`cv` must be >= 2 if it is the number of folds, got 1"),
        ({"cv": 1.5}, r"`cv` must be in \(0, 1\) if it is the share to test on, got 1.5"),
        ({"cv": []}, r"`cv` must give at least one fold, got 0"),
        ({"pos_label": "ill"}, r"`pos_label` must be one of the classes \[0, 1\], got 'ill'"),
        ({"pos_label": [[0], [0, 1]]}, r"`pos_label` must be one of the classes \[0, 1\], got \[\[0\], \[0, 1\]\]"),
    ],
)
def test_unusable_options_are_refused(options, message):
    with pytest.raises(cc.CostCurvesError, match=message):
        cc.RocHullClassifier({"bayes": GaussianNB()}, 0.5, **options).fit(X, Y)


def test_three_classes_are_refused():
    clf = cc.RocHullClassifier({"bayes": GaussianNB()}, 0.5)
    with pytest.raises(cc.DataError, match=r"Only binary classification is supported\. .* multiclass, got 3 classes"):
        clf.fit(X, np.arange(len(Y)) % 3)
    with pytest.raises(cc.DataError, match="`y` must hold two classes, got 1 class"):
        clf.fit(X, np.ones(len(Y), dtype=int))


def test_folds_that_train_on_one_class_are_refused():
    order = np.argsort(Y)
    halves = [(order[:300], order[300:]), (order[300:], order[:300])]
    with pytest.raises(cc.DataError, match=r"`cv` must leave both classes to train on in every fold, got only 0"):
        cc.RocHullClassifier({"bayes": GaussianNB()}, 0.5, cv=halves).fit(X, Y)


def test_unfitted_classifiers_and_members_say_so():
    clf = cc.RocHullClassifier({"bayes": GaussianNB()}, 0.5, cv="prefit")
    with pytest.raises(NotFittedError, match="not fitted yet"):
        clf.predict(X)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        _ = clf.choice_
    with pytest.raises(NotFittedError, match=r"`bayes` must be fitted if cv='prefit', got an unfitted GaussianNB"):
        clf.fit(X, Y)


# Limits that hold on new cases ----------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [cc.RocHullClassifier, cc.CostThresholdClassifier])
def test_a_limit_with_a_confidence_is_that_of_the_hull(make):
    rng = np.random.default_rng(8)
    labels = np.repeat([0, 1], [600, 400])
    table = (2 * labels + rng.normal(size=1000))[:, None]
    column = Column(0).fit(table, labels)
    members = {"c0": column} if make is cc.RocHullClassifier else column
    clf = make(members, {"fpr": 0.05, "confidence": 0.95}, cv="prefit").fit(table, labels)
    hull = clf.hull_
    for limit, expected in (
        (clf.condition, hull.best_at_fpr(0.05, confidence=0.95)),
        ({"tpr": 0.8, "confidence": 0.9}, hull.best_at_tpr(0.8, confidence=0.9)),
        ({"precision": 0.8, "prevalence": 0.2}, hull.best_at_precision(0.8, prevalence=0.2)),
        (
            {"precision": 0.7, "prevalence": 0.3, "confidence": 0.9},
            hull.best_at_precision(0.7, prevalence=0.3, confidence=0.9),
        ),
        (
            {"alarms": 2, "population": 5, "prevalence": "sample", "confidence": 0.9},
            hull.best_at_capacity(alarms=2, population=5, prevalence="sample", confidence=0.9),
        ),
    ):
        alarms = clf.predict(table, condition=limit) == 1
        assert (alarms == (table[:, 0] >= expected.threshold)).all()
        assert 0 < alarms.sum() < 1000


def test_a_confidence_needs_scores_of_the_members_that_predict():
    rng = np.random.default_rng(8)
    labels = np.repeat([0, 1], 300)
    table = (2 * labels + rng.normal(size=600))[:, None]
    limit = {"fpr": 0.1, "confidence": 0.9}
    trained = cc.RocHullClassifier({"c0": Column(0)}, limit, cv=5).fit(table, labels)
    with pytest.raises(cc.InputError, match="`condition` must have no confidence unless the members that predict"):
        trained.predict(table)
    assert trained.predict(table, condition={"fpr": 0.1}).any()
    split = cc.RocHullClassifier({"c0": Column(0)}, limit, cv=0.5, refit=False, random_state=0).fit(table, labels)
    assert split.predict(table).any()
    drawn = {"alarms": 1, "population": 2, "prevalence": "sample", "confidence": 0.9}
    with pytest.raises(cc.InputError, match="`condition` must have a number as its prevalence unless cv='prefit'"):
        split.predict(table, condition=drawn)
    for on_edge in ("random", "nearer"):
        with pytest.raises(cc.InputError, match="`on_edge` must be 'within' for a limit with a confidence, got '"):
            split.set_params(on_edge=on_edge).predict(table)
    with pytest.raises(cc.InputError, match="`condition` must have the keys fpr, or tpr, or alarms, population and"):
        split.predict(table, condition={"confidence": 0.9})
