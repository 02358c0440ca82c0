"""`Predictions`: every door gives the same answer."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import costcurves as cc
from laws import random_worlds

WHERE = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=4)
SPAN = cc.OperatingRange(prevalence=(0.2, 0.4), cost_fp=1, cost_fn=(2, 5))


def world(rng, n=None, k=3):
    """Return labels, scores of k classifiers (with ties or without) and weights, or None."""
    n = int(rng.integers(12, 200)) if n is None else n
    y = rng.random(n) < rng.uniform(0.2, 0.8)
    y[:2] = [False, True]
    scores = {}
    for name in "abcdefgh"[:k]:
        values = y * rng.uniform(0, 2) + rng.normal(size=n)
        scores[name] = np.round(values, int(rng.integers(0, 3))) if rng.random() < 0.5 else values
    return y, scores, None if rng.random() < 0.5 else rng.integers(0, 3, n) + (np.arange(n) < 2)


def text(result):
    return json.dumps(result.to_dict(), sort_keys=True)


@pytest.mark.filterwarnings("ignore::costcurves.WorseThanChanceWarning")
@pytest.mark.law
def test_methods_answer_as_the_functions_do():
    pc = np.linspace(0, 1, 7)
    for rng in random_worlds(15, 1701):
        y, scores, weight = world(rng)
        ours = cc.Predictions(y, scores, sample_weight=weight)
        given = {"sample_weight": weight}
        theirs = cc.compare(y, scores["a"], scores["c"], names=("a", "c"), pc=pc, **given)
        assert text(ours.compare("a", "c", pc=pc)) == text(theirs)
        assert text(ours.recommend(WHERE)) == text(cc.recommend(y, scores, WHERE, **given))
        assert text(ours.hull().ranges()) == text(cc.RocHull.from_predictions(y, scores, **given).ranges())
        theirs = cc.CostCurve(cc.RocCurve.from_predictions(y, scores["b"], name="b", **given))
        assert ours.curve("b").vertices.tolist() == theirs.vertices.tolist()


@pytest.mark.filterwarnings("ignore::costcurves.WorseThanChanceWarning")
@pytest.mark.law
def test_a_range_and_all_pairs_are_answered_as_by_the_functions():
    for rng in random_worlds(3, 1702):
        y, scores, weight = world(rng, 80)
        ours = cc.Predictions(y, scores, sample_weight=weight)
        assert text(ours.recommend_within(SPAN)) == text(cc.recommend_within(y, scores, SPAN, sample_weight=weight))
        pc = np.linspace(0, 1, 5)
        assert text(ours.compare_many(pc=pc)) == text(cc.compare_many(y, scores, pc=pc, sample_weight=weight))


@pytest.mark.filterwarnings("ignore::costcurves.WorseThanChanceWarning")
@pytest.mark.parametrize("door", ["pandas", "lazy polars", "file"])
@pytest.mark.law
def test_arrays_frames_and_files_answer_alike(door, tmp_path):
    (rng,) = random_worlds(1, 1703)
    y, scores, _ = world(rng, 150)
    columns = {"y": y.astype(int), **scores}
    arrays = cc.Predictions(y, scores)
    if door == "file":
        pd.DataFrame(columns).to_parquet(tmp_path / "p.parquet")
        other = cc.scan(tmp_path / "p.parquet", label="y", scores=list(scores))
        assert isinstance(other, cc.Predictions)
    else:
        frame = pd.DataFrame(columns) if door == "pandas" else pl.LazyFrame(columns)
        other = cc.Predictions.from_frame(frame, label="y", scores=list(scores))
    pc = np.linspace(0, 1, 5)
    assert text(other.compare("a", "b", pc=pc)) == text(arrays.compare("a", "b", pc=pc))
    assert text(other.compare_many(pc=pc)) == text(arrays.compare_many(pc=pc))
    assert text(other.recommend(WHERE)) == text(arrays.recommend(WHERE))
    assert text(other.hull().best(WHERE)) == text(arrays.hull().best(WHERE))
    for name, curve in arrays.curves().items():
        assert other.curves()[name].vertices.tolist() == curve.vertices.tolist()


def test_folds_can_be_told_and_are_checked():
    ours = cc.Predictions([0, 1, 0, 1], {"a": [1, 2, 3, 4]}, folds=["x", "x", "y", "y"])
    assert (ours.n_folds, ours.folds.tolist()) == (2, [0, 0, 1, 1])
    assert [curve.auc() for curve in ours.fold_roc_curves("a")] == [1.0, 1.0]
    with pytest.raises(cc.InputError, match=r"`folds` must have one entry per example, shape \(4,\), got \(3,\)"):
        cc.Predictions([0, 1, 0, 1], {"a": [1, 2, 3, 4]}, folds=[0, 0, 1])
    with pytest.raises(cc.UnsupportedError, match="methods that use folds need predictions with `folds`"):
        cc.Predictions([0, 1], {"a": [1, 2]}).averaged_curve("a")


def test_bad_input_is_named():
    ours = cc.Predictions([0, 1], {"a": [1, 2], "b": [1, 2]})
    with pytest.raises(cc.InputError, match="the classifier must be one of a, b, got 'c'"):
        ours.curve("c")
    with pytest.raises(cc.InputError, match="`a` and `b` must be two classifiers, got 'a' twice"):
        ours.compare("a", "a")
    with pytest.raises(cc.InputError, match="`scores` must be None if `y_true` is Predictions"):
        cc.Report.from_predictions(ours, {"a": [1, 2]})
    with pytest.raises(cc.InputError, match="`scores` must have at least one classifier, got 0"):
        cc.Predictions([0, 1], {})


def test_a_report_of_predictions_is_that_of_their_arrays():
    y, scores = [0, 1, 0, 1, 1, 0], {"a": [1, 3, 2, 4, 2, 1], "b": [1, 2, 1, 2, 2, 1]}
    one = cc.Predictions(y, scores).report(scenarios={"here": WHERE})
    assert one.json() == cc.Report.from_predictions(y, scores, scenarios={"here": WHERE}).json()


def test_nobody_can_change_the_scores_afterwards():
    scores, weights = np.array([0.1, 0.2, 0.3, 0.4]), np.ones(4)
    ours = cc.Predictions([0, 1, 0, 1], {"a": scores}, sample_weight=weights)
    before = text(ours.recommend(0.5))
    scores[:], weights[:] = 0, 5
    assert text(ours.recommend(0.5)) == before
    with pytest.raises(ValueError, match="read-only"):
        ours.score("a")[0] = 9


def test_missing_folds_and_unknown_policies_are_refused():
    y = np.arange(40) % 2
    for folds in ([None] * 40, [None] + ["b"] * 39, np.where(np.arange(40) < 4, np.nan, 1.0)):
        with pytest.raises(cc.InputError, match="`folds` must not have missing values, got"):
            cc.Predictions(y, {"a": y}, folds=folds)
    with pytest.raises(cc.InputError, match="`policy` must have entries for a only, got one for 'typo'"):
        cc.recommend(y, {"a": y}, 0.5, policy={"a": 0.5, "typo": 0.2})
    with pytest.raises(cc.InputError, match="`scores` must be a sequence of column names, got None"):
        cc.Predictions.from_frame(pd.DataFrame({"y": y, "a": y}), label="y", scores=None)


# Folds of a frame -------------------------------------------------------------------------------------------------


def folds_frame() -> dict[str, list[object]]:
    rng = np.random.default_rng(4)
    y = np.arange(60) % 2
    return {
        "y": y.tolist(),
        "a": (y + rng.normal(size=60)).tolist(),
        "b": rng.normal(size=60).tolist(),
        "fold": [f"f{i % 3}" for i in range(60)],
    }


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy polars", "pyarrow"])
def test_a_frame_may_have_a_column_of_folds(kind):
    columns = folds_frame()
    frame = {
        "pandas": pd.DataFrame,
        "polars": pl.DataFrame,
        "lazy polars": lambda given: pl.DataFrame(given).lazy(),
        "pyarrow": pa.table,
    }[kind](columns)
    found = cc.Predictions.from_frame(frame, label="y", scores=["a", "b"], folds="fold")
    wanted = cc.Predictions(columns["y"], {name: columns[name] for name in "ab"}, folds=columns["fold"])
    assert found.folds.tolist() == wanted.folds.tolist()
    assert (
        found.curve("a", policy="crossfit").vertices.tolist() == wanted.curve("a", policy="crossfit").vertices.tolist()
    )
    assert [curve.auc() for curve in found.fold_roc_curves("b")] == [
        curve.auc() for curve in wanted.fold_roc_curves("b")
    ]


def test_folds_of_a_frame_are_checked_like_its_other_columns():
    frame = pd.DataFrame(folds_frame())
    with pytest.raises(cc.InputError, match=r"`folds` must .*got 'nothing'"):
        cc.Predictions.from_frame(frame, label="y", scores=["a"], folds="nothing")
    with pytest.raises(cc.InputError, match="`folds` must be another column than `scores`, got 'a' twice"):
        cc.Predictions.from_frame(frame, label="y", scores=["a"], folds="a")
    frame.loc[3, "fold"] = None
    with pytest.raises(cc.DataError, match="'fold'"):
        cc.Predictions.from_frame(frame, label="y", scores=["a"], folds="fold")
    left = cc.Predictions.from_frame(frame, label="y", scores=["a"], folds="fold", on_null="drop")
    with pytest.warns(cc.DroppedRowsWarning):
        assert left.folds.size == left.y_true.size == 59


@pytest.mark.filterwarnings("ignore::costcurves.WorseThanChanceWarning")
@pytest.mark.law
def test_files_and_lazy_frames_have_the_limits_of_the_same_rows_in_memory(tmp_path):
    for k, rng in enumerate(random_worlds(6, 1811)):
        y, scores, _ = world(rng)
        path = tmp_path / f"{k}.parquet"
        pl.DataFrame({"y": y, **scores}).write_parquet(path)
        doors = [
            cc.Predictions(y, scores),
            cc.scan(path, label="y", scores=list(scores)),
            cc.Predictions.from_frame(pl.scan_parquet(path), label="y", scores=list(scores)),
        ]
        told = []
        for door in doors:
            hull, curve, pc = door.hull(), door.curve("a"), 0.4
            answers = [hull.best_at_fpr(0.3), hull.best_at_fpr(0.9, confidence=0.6), hull.best(pc)]
            answers += [curve.threshold_set(pc)]
            bands = [curve.band().at(pc), curve.band(simultaneous=True).at(pc)]
            told.append([text(one) for one in answers] + [repr(one) for one in bands])
        assert told[1] == told[0]
        assert told[2] == told[0]


@pytest.mark.parametrize("names", [[0, 1], pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])])
def test_columns_of_a_frame_that_are_not_called_by_texts_are_refused_by_name(names):
    y = np.arange(40) % 2
    frame = pd.DataFrame(np.random.default_rng(1).random((40, 2)), columns=names)
    for call in (
        lambda: cc.Predictions(y, frame),
        lambda: cc.RocHull.from_predictions(y, frame),
        lambda: cc.Predictions(y, {"a": y}).check(frame),
    ):
        with pytest.raises(cc.InputError, match=r"must be a non-empty string, got (0|\('a', 1\))$"):
            call()
