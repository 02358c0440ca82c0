"""What every display does alike: axes, names, doors, errors, settings and files."""

from __future__ import annotations

import builtins
import inspect
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import LeaveOneOut, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC, OneClassSVM

import costcurves as cc
from costcurves.displays._base import Display, _keywords
from displays_data import CASES, SCORED, estimators, listed, many_classes, picture, two_classes

ROOT = Path(__file__).parent.parent.parent
EVERY = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
OF_SCORES = pytest.mark.parametrize("case", [CASES[name] for name in SCORED], ids=SCORED)
NOT_COVERAGE = [name for name in SCORED if name != "coverage"]


def with_option(option):
    """Test the displays whose drawing has an option."""
    names = [name for name, case in CASES.items() if option in inspect.signature(case.kind.plot).parameters]
    return pytest.mark.parametrize("case", [CASES[name] for name in names], ids=names)


DISPLAYS = {value for name in cc.__all__ if inspect.isclass(value := getattr(cc, name)) and issubclass(value, Display)}


def test_every_public_display_has_its_case():
    assert {case.kind for case in CASES.values()} == DISPLAYS


# Axes and figures -------------------------------------------------------------------------------------------


@EVERY
def test_a_given_axes_is_drawn_on_and_no_figure_is_made(case):
    figure, (left, right) = plt.subplots(1, 2)
    display = case.make(ax=left)
    assert display.ax_ is left
    assert display.figure_ is figure
    assert len(plt.get_fignums()) == 1
    assert not right.lines
    assert not right.collections
    assert all(artist in left.get_children() for artist in case.artists(display))


@EVERY
def test_without_axes_one_figure_of_column_width_is_made(case):
    display = case.make()
    assert plt.get_fignums() == [display.figure_.number]
    assert display.figure_.get_figwidth() == 3.4
    assert display.ax_ in display.figure_.axes


@EVERY
def test_a_display_can_be_drawn_again_and_shows_the_same(case):
    display = case.kind(case.results())
    assert display.ax_ is None
    first = picture(display.plot(), case)
    axes = display.ax_
    assert display.plot() is display
    assert display.ax_ is not axes
    assert picture(display, case) == first


@EVERY
def test_results_are_drawn_by_one_call(case):
    one, two = case.kind.from_results(case.results()), case.kind(case.results()).plot()
    assert picture(one, case) == picture(two, case)


@pytest.mark.parametrize("name", ["cost", "roc", "averaged", "coverage", "power"])
def test_two_displays_on_the_same_axes_look_different(name):
    case = CASES[name]
    _, ax = plt.subplots()
    lines = [line for _ in range(2) for line in listed(case.make(ax=ax).line_)]
    looks = {(line.get_color(), str(line._dash_pattern)) for line in lines}
    assert len(looks) == len(lines)
    ax.clear()
    assert listed(case.make(ax=ax).line_)[0].get_color() == lines[0].get_color()


@EVERY
def test_settings_of_matplotlib_stay_as_they_were(case):
    before = dict(matplotlib.rcParams)
    case.make()
    _, ax = plt.subplots()
    case.make(ax=ax).figure_.canvas.draw()
    with cc.figure_style():
        assert matplotlib.rcParams["font.size"] == 8
    assert dict(matplotlib.rcParams) == before


@EVERY
def test_given_axes_keep_the_settings_of_the_user(case):
    with plt.rc_context({"font.size": 23.0}):
        _, ax = plt.subplots()
        display = case.make(ax=ax)
    size = ax.xaxis.label.get_fontsize()
    assert size == 23
    assert display.figure_.get_figwidth() == matplotlib.rcParams["figure.figsize"][0]


@EVERY
@pytest.mark.parametrize(
    ("ax", "message"),
    [
        ("here", r"`ax` must be a matplotlib Axes or None, got 'here' \(str\)"),
        ([1, 2], r"`ax` must be a matplotlib Axes or None, got \[1, 2\] \(list\): pass one of them"),
    ],
)
def test_what_is_no_axes_is_refused(case, ax, message):
    with pytest.raises(cc.InputError, match=message):
        case.make(ax=ax)
    with pytest.raises(cc.InputError, match=message):
        case.kind(case.results()).plot(ax)
    assert plt.get_fignums() == []


@EVERY
def test_round_axes_are_refused(case):
    axes = plt.figure().add_subplot(projection="polar")
    with pytest.raises(cc.InputError, match="`ax` must have two straight axes, got a polar projection"):
        case.make(ax=axes)


@EVERY
def test_a_drawing_that_fails_leaves_no_figure(case):
    display = case.kind(case.results())
    bad = {"legend": "on the moon"} if "legend" in inspect.signature(display.plot).parameters else {"names": ["me"]}
    with pytest.raises(cc.InputError, match=r"`legend` must be True, False or a place|`names` must be among"):
        display.plot(**bad)
    assert plt.get_fignums() == []


# Names and options ------------------------------------------------------------------------------------------


@EVERY
def test_the_representation_names_what_is_drawn(case):
    display = case.make()
    assert repr(display) == f"{case.kind.__name__}({', '.join(map(repr, display.names))})"


@pytest.mark.parametrize("case", [c for c in CASES.values() if c.single], ids=[n for n, c in CASES.items() if c.single])
def test_a_single_classifier_has_the_name_it_is_given(case):
    y, answers = case.predictions()
    answer = next(iter(answers.values()))
    named = case.kind.from_predictions(y, answer, name="mine", **case.options)
    texts = " ".join([*named.names, *(str(a.get_label()) for a in case.artists(named))])
    if case.kind is cc.CoverageDisplay:  # with one classifier its lines go by the method
        assert named.coverages["wilson"].name == "mine"
    else:
        assert "mine" in texts
    with pytest.raises(cc.InputError, match="`name` must be None if `y_"):
        case.kind.from_predictions(y, answers, name="mine", **case.options)
    with pytest.raises(cc.InputError, match="`name` must be a non-empty string"):
        case.kind.from_predictions(y, answer, name="", **case.options)


def words_of(display):
    """Return the texts of the legend, of the rows and of the y axis."""
    legend = display.legend_.get_texts() if display.legend_ else []
    return [text.get_text() for text in (*legend, *display.ax_.get_yticklabels(), display.ax_.yaxis.label)]


@EVERY
@pytest.mark.parametrize("names", [("$\\frac{$", "of $x$"), ("_first", "__b"), ("a\nb", "US$ 5")])
def test_names_are_drawn_as_they_are(case, names, tmp_path):
    y, answers = case.predictions()
    display = case.kind.from_predictions(y, dict(zip(names, answers.values(), strict=True)), **case.options)
    display.save(tmp_path / "names.svg")
    words = "; ".join(words_of(display))
    shown_names = [name for name in names if name in "; ".join(display.names)]
    assert shown_names
    assert all(name in words for name in shown_names)
    drawn = [*(display.legend_.get_texts() if display.legend_ else []), *display.ax_.findobj(plt.Text)]
    assert not any(text.get_parse_math() for text in drawn if "$" in text.get_text())


@EVERY
def test_labels_that_the_user_hides_stay_hidden(case):
    _, ax = plt.subplots()
    ax.plot([0, 1], label="_hidden")
    ax.bar([0], [1], label="shown")
    display = case.make(ax=ax)
    assert "_hidden" not in words_of(display)
    assert display.legend_ is None or "shown" in words_of(display)


@EVERY
@pytest.mark.filterwarnings("error:constrained_layout not applied")
def test_long_names_leave_room_for_the_figure(case):
    y, answers = case.predictions()
    names = ("a pipeline of very many steps, with every option in its name", "x" * 200)
    display = case.kind.from_predictions(y, dict(zip(names, answers.values(), strict=True)), **case.options)
    display.figure_.canvas.draw()
    axes, figure = display.ax_.get_window_extent(), display.figure_.bbox
    assert axes.width > 0.4 * figure.width
    assert display.legend_ is None or display.legend_.get_window_extent().y0 >= -1
    for text in display.legend_.get_texts() if display.legend_ else display.ax_.get_yticklabels():
        assert figure.x0 - 1 <= text.get_window_extent().x0
        assert text.get_window_extent().x1 <= figure.x1 + 1


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@EVERY
def test_answers_may_be_columns_of_a_frame(case, frame):
    y, answers = case.predictions()
    assert picture(case.kind.from_predictions(y, frame(answers), **case.options), case) == picture(case.make(), case)


@EVERY
def test_an_unknown_option_is_refused_with_those_there_are(case):
    with pytest.raises(cc.InputError, match=rf"`colour` must be an option of {case.kind.__name__}: .*\w+, \w+"):
        case.make(colour="red")
    with pytest.raises(cc.InputError, match="`colour` must be an option"):
        case.kind.from_results(case.results(), colour="red")


@EVERY
def test_an_option_has_one_meaning_at_every_door(case):
    drawn = _keywords(case.kind.plot)
    for maker in (case.kind, case.kind._from_sample):
        assert {*_keywords(maker)} & {*drawn} == set()


@EVERY
@pytest.mark.parametrize("results", [None, 3, "forest", [1], []])
def test_what_is_no_result_is_refused(case, results):
    with pytest.raises(cc.InputError, match=r"`\w+` must"):
        case.kind(results)


@with_option("names")
def test_names_that_are_not_there_are_refused(case):
    with pytest.raises(cc.InputError, match=r"`names` must be among .*, got 'nobody'"):
        case.make(names=["nobody"])
    display = case.kind(case.results())
    with pytest.raises(cc.InputError, match=r"`names` must be a name or a list of names, got 3 \(int\)"):
        display.plot(names=3)
    with pytest.raises(cc.InputError, match="`names` must be different and not empty"):
        display.plot(names=[])
    drawn = display.plot(names=display.names[0])
    assert drawn is display


@with_option("curve_kwargs")
def test_lines_can_look_as_the_user_wants(case):
    lines = case.make(curve_kwargs={"c": "red", "lw": 5}).line_
    for line in lines if isinstance(lines, list) else [lines]:
        assert line.get_color() == "red"
        assert line.get_linewidth() == 5
    for wrong, message in (
        (3, "`curve_kwargs` must be a dict or a list of dicts, got 3"),
        ([{}] * 7, "`curve_kwargs` must be one for each of"),
        ({"nobody": {"c": "red"}}, "`curve_kwargs` must have only names of"),
        ({"c": "red", "color": "blue"}, "`curve_kwargs` must have each setting once"),
        ({"x": 1}, "`curve_kwargs` must have settings of matplotlib's lines, got 'x'"),
    ):
        with pytest.raises(cc.InputError, match=message):
            case.make(curve_kwargs=wrong)


@with_option("legend")
def test_a_legend_can_be_left_out(case):
    # Rows of bars have their names beside them, so that only marks need a legend.
    marked = {"condition": 0.4} if case is CASES["dominance"] else {}
    assert case.make(legend=False, **marked).legend_ is None
    legend = case.make(legend="upper left", **marked).legend_
    assert legend.get_texts()
    with pytest.raises(cc.InputError, match="`legend` must be True, False or a place"):
        case.make(legend=3)


# Doors ------------------------------------------------------------------------------------------------------


@EVERY
def test_estimators_are_drawn_as_their_own_answers_are(case):
    X, y, models, _ = case.estimators()
    answers = {n: model.predict(X) if case.labels else model.predict_proba(X)[:, 1] for n, model in models.items()}
    by_hand = case.kind.from_predictions(y, answers, **case.options)
    assert picture(case.kind.from_estimator(models, X, y, **case.options), case) == picture(by_hand, case)
    named = case.kind.from_estimator(list(models.values()), X, y, **case.options)
    assert len(picture(named, case)) == len(picture(by_hand, case))


@EVERY
def test_cross_validations_are_drawn_as_the_answers_on_test_rows_are(case):
    X, y, _, results = case.estimators()
    drawn = case.kind.from_cv_results(results, X, y, **case.options)
    answers = {}
    for name, result in results.items():
        answers[name] = np.empty(y.size, dtype=object if case.labels else float)
        for model, test in zip(result["estimator"], result["indices"]["test"], strict=True):
            answers[name][test] = model.predict(X[test]) if case.labels else model.predict_proba(X[test])[:, 1]
    if case.kind in (cc.CostCurveDisplay, cc.AveragedRocDisplay):  # averages of folds, in their own tests
        assert drawn.names == tuple(results)
        return
    pooled = case.kind.from_predictions(y, answers, **case.options)
    assert picture(drawn, case) == picture(pooled, case)
    frames = case.kind.from_cv_results(results, pd.DataFrame(X).to_numpy().tolist(), pd.Series(y), **case.options)
    assert picture(frames, case) == picture(drawn, case)


@pytest.mark.parametrize("name", ["roc", "dominance", "difference"])
def test_a_fold_may_be_one_example_where_folds_are_pooled(name):
    case = CASES[name]
    X, y, models, _ = case.estimators()
    some = np.r_[0:40]
    X, y = X[some], y[some]
    results = {
        key: cross_validate(model, X, y, cv=LeaveOneOut(), return_estimator=True, return_indices=True)
        for key, model in models.items()
    }
    scores = {
        key: cross_val_predict(model, X, y, cv=LeaveOneOut(), method="predict_proba")[:, 1]
        for key, model in models.items()
    }
    ours = case.kind.from_cv_results(results, X, y, **case.options)
    assert picture(ours, case) == picture(case.kind.from_predictions(y, scores, **case.options), case)
    with pytest.raises(cc.InputError, match="`X` must be the data that was cross-validated, got None"):
        case.kind.from_cv_results(results, None, y, **case.options)


@OF_SCORES
def test_evaluations_are_drawn_as_their_cross_validations_are(case):
    X, y, _, results = case.estimators()
    found = cc.evaluate(results, X, y)
    ours = case.kind.from_predictions(found, **case.options)
    assert picture(ours, case) == picture(case.kind.from_cv_results(results, X, y, **case.options), case)


@pytest.mark.parametrize("case", [CASES[name] for name in NOT_COVERAGE], ids=NOT_COVERAGE)
def test_evaluations_have_their_weights(case):
    X, y, _, results = case.estimators()
    weights = 1.0 + np.arange(len(y)) % 3
    ours = case.kind.from_predictions(cc.evaluate(results, X, y, sample_weight=weights), **case.options)
    theirs = case.kind.from_cv_results(results, X, y, sample_weight=weights, **case.options)
    assert picture(ours, case) == picture(theirs, case)


@EVERY
def test_cv_results_without_what_is_needed_are_refused(case):
    X, y, models, results = case.estimators()
    one = results["logit"]
    make = case.kind.from_cv_results
    for given, message in (
        ({k: v for k, v in one.items() if k != "indices"}, "got no 'indices': pass return_indices=True"),
        ({k: v for k, v in one.items() if k != "estimator"}, "got no 'estimator': pass return_estimator=True"),
        ({"test_score": [1, 2]}, "got no 'estimator' and no 'indices'"),
        ({}, "`cv_results` must be what cross_validate returns"),
        (models["logit"], "`cv_results` must be what cross_validate returns"),
        ({**one, "indices": {}}, r"`cv_results\['indices'\]` must have the rows of 'test'"),
        ({**one, "estimator": one["estimator"][:2]}, "one estimator per fold, got 2 for 3 folds"),
    ):
        with pytest.raises(cc.InputError, match=message):
            make(given, X, y, **case.options)
    with pytest.raises(cc.InputError, match=r"`X` must be the data that was cross-validated, with \d+ rows, got 20"):
        make(results, X[:20], y, **case.options)
    with pytest.raises(cc.InputError, match=r"`y` must be the data that was cross-validated, with \d+ rows, got 20"):
        make(results, X, y[:20], **case.options)
    for rows in (bytes(9999), dict.fromkeys(range(9999)), set(range(9999))):
        with pytest.raises(cc.InputError, match="`y` must be the data that was cross-validated, got "):
            make(results, X, rows, **case.options)


@EVERY
def test_what_is_no_fitted_estimator_is_refused(case):
    X, y, _, _ = case.estimators()
    for estimator, message in (
        (LogisticRegression, "`estimator` must be fitted, got the class LogisticRegression: make and fit one"),
        ("logit", r"`estimator` must be an estimator, got 'logit' \(str\)"),
        ({}, "`estimator` must not be empty"),
        ([LogisticRegression(), LogisticRegression()], "must have different names, got 'LogisticRegression' twice"),
    ):
        with pytest.raises(cc.InputError, match=message):
            case.kind.from_estimator(estimator, X, y, **case.options)
    with pytest.raises(NotFittedError, match="`estimator` must be fitted, got LogisticRegression before fit"):
        case.kind.from_estimator(LogisticRegression(), X, y, **case.options)
    assert plt.get_fignums() == []


@OF_SCORES
def test_estimators_without_scores_say_which_method_is_missing(case):
    X, y, _, _ = estimators()
    ridge, machine = RidgeClassifier().fit(X, y), LinearSVC().fit(X, y)

    class Silent(LogisticRegression):
        predict_proba = decision_function = property()

    for estimator, options, message in (
        (
            Silent().fit(X, y),
            {},
            "must have predict_proba or decision_function to give scores, got Silent, which has n",
        ),
        (machine, {"response_method": "predict_proba"}, "got LinearSVC, which has only decision_function"),
        (
            Silent().fit(X, y),
            {"response_method": "predict_proba"},
            "must have predict_proba .*got Silent, which does not",
        ),
        (ridge, {"response_method": "score"}, "`response_method` must be one of 'auto', 'predict_proba'"),
        (OneClassSVM().fit(X), {}, "`estimator` must be a classifier with `classes_`, got OneClassSVM"),
        (IsolationForest(n_estimators=2).fit(X), {}, "must be a classifier with `classes_`, got IsolationForest"),
    ):
        with pytest.raises(cc.InputError, match=message):
            case.kind.from_estimator(estimator, X, y, **options)


def test_predicted_labels_need_predict():
    X, y, _, _ = many_classes()

    class Silent(LogisticRegression):
        predict = property()

    with pytest.raises(cc.InputError, match="`estimator` must have predict, got Silent, which does not"):
        cc.PriorSimplexDisplay.from_estimator(Silent().fit(X, y), X, y, costs=np.ones((3, 3)) - np.eye(3))


@OF_SCORES
def test_three_classes_are_refused_where_two_are_drawn(case):
    X, y, models, results = many_classes()
    with pytest.raises(cc.InputError, match="must have two classes for this display, got LogisticRegression with 3"):
        case.kind.from_estimator(models, X, y)
    with pytest.raises(cc.InputError, match="for three classes see PriorSimplexDisplay"):
        case.kind.from_cv_results(results, X, y)
    answers = {"a": np.arange(y.size), "b": np.arange(y.size)}
    with pytest.raises(cc.DataError, match="`y_true` must hold two classes"):
        case.kind.from_predictions(y, answers, pos_label="x")


@OF_SCORES
def test_scores_of_two_columns_are_refused_with_a_hint(case):
    X, y, models, _ = estimators()
    with pytest.raises(cc.InputError, match="pass the column of the positive class"):
        case.kind.from_predictions(y, models["logit"].predict_proba(X))


@OF_SCORES
def test_the_positive_label_is_the_users(case):
    y, scores = two_classes()
    words = np.where(y == 1, "bad", "good")
    plain, named = case.make(), case.kind.from_predictions(words, scores, pos_label="bad", **case.options)
    assert picture(named, case) == picture(plain, case)
    turned = {name: -score for name, score in scores.items()}
    flipped = case.kind.from_predictions(words, turned, pos_label="good", **case.options)
    assert picture(flipped, case) != picture(plain, case)
    with pytest.raises(cc.DataError, match="`pos_label` must be given when labels are names"):
        case.kind.from_predictions(words, scores)


@OF_SCORES
@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_estimators_are_turned_towards_the_positive_label(case, method):
    X, y, _, _ = estimators()
    words = np.where(y == 1, "bad", "good")
    models = {"a": LogisticRegression().fit(X, words), "b": LogisticRegression(C=0.01).fit(X, words)}
    for label in ("bad", "good"):
        column = 0 if label == "bad" else 1
        if method == "predict_proba":
            scores = {n: m.predict_proba(X)[:, column] for n, m in models.items()}
        else:
            scores = {n: m.decision_function(X) * (1 if label == "good" else -1) for n, m in models.items()}
        drawn = case.kind.from_estimator(models, X, words, pos_label=label, response_method=method, **case.options)
        by_hand = case.kind.from_predictions(words, scores, pos_label=label, **case.options)
        assert picture(drawn, case) == picture(by_hand, case)
    with pytest.raises(cc.DataError, match="`pos_label` must be given when labels are names"):
        case.kind.from_estimator(models, X, words)


@OF_SCORES
def test_weights_change_the_figure_as_they_change_the_core(case):
    y, scores = two_classes()
    weights = np.where(np.arange(y.size) % 3 == 0, 2.5, 1.0)
    if case.kind is cc.CoverageDisplay:
        with pytest.raises(cc.UnsupportedError, match="`sample_weight` must be None for a coverage"):
            case.make(sample_weight=weights)
        return
    assert picture(case.make(sample_weight=weights), case) != picture(case.make(), case)
    curves = [cc.RocCurve.from_predictions(y, s, sample_weight=weights, name=n) for n, s in scores.items()]
    drawn = case.make(sample_weight=weights)
    if case.kind is cc.CostCurveDisplay:
        assert [line.get_ydata().tolist() for line in drawn.line_] == [
            cc.CostCurve(curve).vertices[:, 1].tolist() for curve in curves
        ]
    elif case.kind is cc.RocHullDisplay:
        assert drawn.hull_.get_ydata().tolist() == cc.RocHull(curves).tpr.tolist()
    with pytest.raises(cc.DataError, match="`sample_weight`"):
        case.make(sample_weight=-weights)


@pytest.mark.parametrize("case", [CASES[name] for name in NOT_COVERAGE], ids=NOT_COVERAGE)
def test_weights_follow_their_examples_into_the_folds(case):
    X, y, _, results = estimators()
    weights = np.linspace(0.5, 2.0, y.size)
    drawn = case.kind.from_cv_results(results, X, y, sample_weight=weights, **case.options)
    with pytest.raises(cc.DataError, match="`sample_weight`"):
        case.kind.from_cv_results(results, X, y, sample_weight=weights[:9], **case.options)
    order = np.argsort(np.concatenate(results["logit"]["indices"]["test"]))
    if case.kind in (cc.CostCurveDisplay, cc.AveragedRocDisplay):
        first = results["logit"]["indices"]["test"][0]
        fold = drawn.folds["logit"][0]
        roc = fold.roc if case.kind is cc.CostCurveDisplay else fold
        assert roc.n_pos == pytest.approx(weights[first][y[first] == 1].sum(), abs=1e-12)
        return
    scores = {
        name: np.concatenate(
            [m.predict_proba(X[t])[:, 1] for m, t in zip(r["estimator"], r["indices"]["test"], strict=True)]
        )[order]
        for name, r in results.items()
    }
    pooled = case.kind.from_predictions(y, scores, sample_weight=weights, **case.options)
    for mine, other in zip(picture(drawn, case), picture(pooled, case), strict=True):
        assert mine[:2] == other[:2]
        np.testing.assert_allclose(np.ravel(mine[2][0]), np.ravel(other[2][0]), atol=1e-12)


def test_data_of_every_container_is_cut_into_folds():
    from scipy.sparse import csr_array

    X, y, _, _ = estimators()
    frame = pd.DataFrame(X, columns=list("abcde"))
    containers = {
        "pandas": (frame.set_index(np.arange(y.size)[::-1]), pd.Series(y, index=np.arange(y.size)[::-1])),
        "polars": (pl.DataFrame(X, schema=list("abcde")), pl.Series(y)),
        "pyarrow": (pa.table(frame), pl.Series(y)),
        "sparse": (csr_array(X), y),
        "lists": (X.tolist(), y.tolist()),
    }
    model = make_pipeline(FunctionTransformer(as_numbers), LogisticRegression())
    results = cross_validate(model, X, y, cv=3, return_estimator=True, return_indices=True)
    plain = cc.RocHullDisplay.from_cv_results(results, X, y)
    assert plain.names == ("Pipeline",)
    for data in containers.values():
        drawn = cc.RocHullDisplay.from_cv_results(results, *data)
        assert picture(drawn, CASES["roc"]) == picture(plain, CASES["roc"])


def as_numbers(data):
    """Return rows of any container as an array."""
    if hasattr(data, "toarray"):
        return data.toarray()
    return data.to_pandas().to_numpy() if hasattr(data, "to_pandas") else np.asarray(data)


def test_paired_displays_refuse_other_examples_and_repeated_ones():
    from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold

    X, y, _, results = estimators()
    other = cross_validate(
        LogisticRegression(),
        X[:140],
        y[:140],
        cv=StratifiedKFold(3),
        return_estimator=True,
        return_indices=True,
    )
    with pytest.raises(cc.InputError, match="`cv_results` must test all classifiers on the same examples, got others"):
        cc.CostDifferenceDisplay.from_cv_results({"a": results["logit"], "b": other}, X, y)
    twice = cross_validate(
        LogisticRegression(),
        X,
        y,
        cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
        return_estimator=True,
        return_indices=True,
    )
    with pytest.raises(cc.InputError, match="must test each example once for this display, got 300 tests of 150"):
        cc.CostDifferenceDisplay.from_cv_results({"a": twice, "b": twice}, X, y)
    assert cc.CostCurveDisplay.from_cv_results(twice, X, y).names == ("LogisticRegression",)


# Conditions -------------------------------------------------------------------------------------------------


@with_option("condition")
def test_what_is_no_condition_is_refused(case):
    display = case.kind(case.results())
    for condition, message in (
        ("here", "`condition` must be an OperatingCondition"),
        (1.5, r"`condition` must be in \[0, 1\], got 1.5"),
        ([0.3, True], "`condition` must be an OperatingCondition"),
    ):
        with pytest.raises(cc.InputError, match=message):
            display.plot(condition=condition)
    assert plt.get_fignums() == []


@with_option("secondary_axis")
def test_a_second_axis_has_each_number_where_its_pc_is(case):
    here = cc.OperatingCondition(prevalence=0.2, cost_fp=2, cost_fn=9)
    display = case.kind(case.results())
    readings = {
        "prevalence": lambda text: cc.OperatingCondition(float(text), cost_fp=2, cost_fn=9).pc,
        "cost ratio": lambda text: cc.OperatingCondition(0.2, *map(float, text.split(":")[::-1])).pc,
        "slope": lambda text: 1 / (1 + float(text)),
    }
    for kind, read in readings.items():
        top = display.plot(condition=here, secondary_axis=kind).secondary_ax_
        places, texts = top.get_xticks(), [label.get_text() for label in top.get_xticklabels()]
        assert len(texts) >= 4
        assert [read(text) for text in texts] == pytest.approx(places.tolist(), abs=1e-12)
        assert np.diff(places).min() > 0.08
    for options, message in (
        ({"secondary_axis": "money"}, "`secondary_axis` must be one of 'prevalence', 'cost ratio', 'slope'"),
        ({"secondary_axis": "prevalence"}, "`secondary_axis='prevalence'` must come with one OperatingCondition"),
        ({"secondary_axis": "cost ratio", "condition": 0.3}, "must come with one OperatingCondition .* got 0"),
        ({"secondary_axis": "prevalence", "condition": [here, here]}, "got 2"),
    ):
        with pytest.raises(cc.InputError, match=message):
            display.plot(**options)
    plt.close("all")


# Files ------------------------------------------------------------------------------------------------------


def test_saving_writes_whole_files_of_known_kinds(tmp_path):
    display = CASES["cost"].kind(CASES["cost"].results())
    with pytest.raises(cc.UnsupportedError, match=r"`save` needs a figure: call plot\(\) first"):
        display.save(tmp_path / "a.svg")
    display.plot()
    for kind, start in (("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
        path = display.save(tmp_path / f"a.{kind}")
        assert path.read_bytes().startswith(start)
        assert path.read_bytes() == display.save(tmp_path / f"b.{kind}").read_bytes()
    with pytest.raises(cc.InputError, match=r"`path` must end in .svg, .png or .pdf, got 'a.jpg'"):
        display.save(tmp_path / "a.jpg")
    with pytest.raises(cc.InputError, match="`path` must be a path"):
        display.save(3)
    with pytest.raises(cc.InputError, match="`dpi` must be > 0"):
        display.save(tmp_path / "c.png", dpi=0)
    assert sorted(os.listdir(tmp_path)) == ["a.pdf", "a.png", "a.svg", "b.pdf", "b.png", "b.svg"]


def test_displays_in_subfigures_save_the_whole_figure(tmp_path):
    figure = plt.figure()
    left, right = figure.subfigures(1, 2)
    one = CASES["cost"].make(ax=left.subplots())
    two = CASES["roc"].make(ax=right.subplots())
    assert one.save(tmp_path / "a.svg").read_bytes() == two.save(tmp_path / "b.svg").read_bytes()


def test_the_same_data_give_the_same_svg_in_another_process(tmp_path):
    code = (
        "import sys; from pathlib import Path; from displays_data import CASES\n"
        "for name, case in CASES.items(): case.make().save(Path(sys.argv[1]) / f'{name}.svg')\n"
    )
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    for name, case in CASES.items():
        case.make().save(here / f"{name}.svg")
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "1",
        "MPLBACKEND": "Agg",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")]),
    }
    subprocess.run([sys.executable, "-c", code, str(there)], check=True, env=environment, timeout=600)
    assert sorted(os.listdir(there)) == sorted(f"{name}.svg" for name in CASES)
    for path in there.iterdir():
        assert path.read_bytes() == (here / path.name).read_bytes()


# Extras -----------------------------------------------------------------------------------------------------


def test_threads_draw_the_same_and_leave_the_settings(tmp_path):
    before = dict(matplotlib.rcParams)

    def saved(k):
        return CASES["cost"].make().save(tmp_path / f"{k}.svg").read_bytes()

    with ThreadPoolExecutor(4) as threads:
        drawn = set(threads.map(saved, range(12)))
    assert len(drawn) == 1
    assert dict(matplotlib.rcParams) == before


def without(monkeypatch, library):
    """Make importing a library fail as if it were not installed."""
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.split(".")[0] == library:
            raise ImportError(f"No module named {library!r}")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    monkeypatch.setattr("costcurves.displays._style.import_module", refuse)


@EVERY
def test_a_missing_matplotlib_says_what_to_install(case, monkeypatch):
    display = case.kind(case.results())
    without(monkeypatch, "matplotlib")
    with pytest.raises(
        cc.MissingExtraError, match=r'`matplotlib` is needed for this: pip install "costcurves\[plot\]"'
    ):
        display.plot()


def test_a_missing_scikit_learn_says_what_to_install(monkeypatch):
    X, y, models, _ = estimators()
    without(monkeypatch, "sklearn")
    with pytest.raises(
        cc.MissingExtraError, match=r'`sklearn` is needed for this: pip install "costcurves\[sklearn\]"'
    ):
        cc.CostCurveDisplay.from_estimator(models, X, y)


def test_displays_are_found_without_loading_matplotlib_or_scikit_learn():
    code = (
        "import sys, costcurves as cc\n"
        "for name in cc.__all__: name.endswith('Display') and getattr(cc, name)\n"
        "cc.CostCurveDisplay(cc.RocCurve.from_rates(0.1, 0.6))\n"
        "print([m for m in ('matplotlib', 'sklearn') if m in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "[]"


# Notebooks --------------------------------------------------------------------------------------------------

CELLS = """
%matplotlib inline
import costcurves as cc
import matplotlib.pyplot as plt
roc = cc.RocCurve.from_rates(0.1, 0.6, name="A")
cc.CostCurveDisplay.from_results(roc)
---
_, (left, right) = plt.subplots(1, 2)
cc.RocHullDisplay.from_results(roc, ax=left)
cc.CostCurveDisplay.from_results(roc, ax=right)
---
cc.RocHullDisplay(roc)
---
display = cc.RocHullDisplay.from_results(roc)
---
display.save("again.png").stat().st_size > 1000
"""


def test_a_notebook_shows_each_figure_exactly_once(tmp_path):
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS.split("---\n")])
    NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    outputs = [[output["data"] for output in cell.outputs] for cell in notebook.cells]
    assert [sum("image/png" in data for data in cell) for cell in outputs] == [1, 1, 1, 1, 0]
    assert outputs[0][0]["text/plain"] == "CostCurveDisplay('A')"
    assert outputs[4][0]["text/plain"] == "True"


def test_a_figure_in_a_window_is_not_shown_again_as_a_picture(monkeypatch):
    display = CASES["cost"].make()
    monkeypatch.setattr(matplotlib, "get_backend", lambda: "QtAgg")
    assert display._repr_mimebundle_() == {"text/plain": repr(display)}
    assert plt.get_fignums() == [display.figure_.number]
