"""A real Spark on this computer gives what the functions of arrays give, bit for bit."""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
import pytest

import costcurves as cc
from costcurves.data.passes import curve_counts, find_curves
from costcurves.data.readers.columns import Roles
from costcurves.data.readers.frame_readers import SparkReader
from spark_bridge import Killing

PC = np.linspace(0.1, 0.9, 9)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 600)
    return {
        "y": y,
        "label": np.where(y == 1, "bad", "good"),
        "a": y + rng.normal(0, 1, y.size),
        "b": (y + rng.normal(0, 1.5, y.size)).astype(np.float32),
        "k": rng.integers(0, 2, y.size),
        "w": rng.integers(0, 4, y.size),
        "c`'; drop.table": np.round(y + rng.normal(0, 2, y.size)),
    }


@pytest.fixture(scope="module")
def frame(spark, data):
    return spark.createDataFrame(pa.table(data)).repartition(3)


def test_differences_have_the_bits_of_arrays(frame, data):
    found = cc.compare.from_frame(frame, label="label", score_a="a", score_b="b", pos_label="bad", pc=PC)
    expected = cc.compare(data["y"], data["a"], data["b"], names=("a", "b"), pc=PC)
    assert found.to_dict() == expected.to_dict()


def test_partitions_without_rows_and_names_that_are_no_identifiers_change_nothing(frame, data):
    parts = frame.repartition(6, "k")  # of two values of k: at least four parts are empty
    odd = "c`'; drop.table"
    found = cc.RocHull.from_frame(parts, label="y", scores=["b", odd], points="hull")
    scores = {name: data[name] for name in ("b", odd)}
    expected = cc.RocHull.from_predictions(data["y"], scores, points="hull")
    assert found.to_dict() == expected.to_dict()
    assert [c.to_dict() for c in found.roc_curves().values()] == [c.to_dict() for c in expected.roc_curves().values()]


def test_all_points_and_whole_weights_have_the_bits_of_arrays(frame, data):
    found = cc.RocCurve.from_frame(frame.repartition(1), label="y", score="a", weight="w", name="forest")
    expected = cc.RocCurve.from_predictions(data["y"], data["a"], sample_weight=data["w"], name="forest")
    assert (found.to_dict(), found.effective) == (expected.to_dict(), expected.effective)


def test_a_task_that_is_killed_and_tried_again_counts_once(frame, data, tmp_path):
    reader = SparkReader(frame, Roles("y", ("a",)), False)

    class KilledInEveryPass:
        def run(self, counts):
            return reader.run(Killing(counts, str(tmp_path))).counts

    found = find_curves(KilledInEveryPass(), curve_counts(["a"], dtype="float64"))["a"]
    assert len(list(tmp_path.glob("killed-*"))) == 2
    assert found.to_dict() == cc.RocCurve.from_predictions(data["y"], data["a"], name="a", points="hull").to_dict()


def test_missing_values_are_counted_over_all_partitions(spark, data):
    kept = np.arange(data["y"].size) % 7 != 0
    y, a = pa.array(data["y"], mask=data["a"] > 2), pa.array(data["a"], mask=~kept)
    frame = spark.createDataFrame(pa.table({"y": y, "a": a})).repartition(4)
    text = f"{y.null_count} in 'y'"
    with pytest.raises(cc.DataError, match=rf"{a.null_count} in 'a', {text} .* of 600 rows"):
        cc.CostCurve.from_frame(frame, label="y", score="a")
    with pytest.warns(cc.DroppedRowsWarning, match=rf"of 600 rows for missing values: .*{text}"):
        found = cc.CostCurve.from_frame(frame, label="y", score="a", on_null="drop")
    whole = kept & (data["a"] <= 2)
    expected = cc.CostCurve.from_predictions(data["y"][whole], data["a"][whole], name="a")
    assert found.to_dict() == expected.to_dict()


def test_nan_and_empty_texts_are_missing_like_nulls(spark):
    rows = {"y": ["bad", "good", "", None, "bad", "good"], "a": [0.5, None, 1.0, 2.0, float("nan"), 3.0]}
    frame = spark.createDataFrame(pa.table({"y": rows["y"], "a": pa.array(rows["a"], from_pandas=False)})).repartition(
        2
    )
    with pytest.raises(cc.DataError, match=r"got 2 in 'a', 2 in 'y' \(4 of 6 rows\)"):
        cc.RocCurve.from_frame(frame, label="y", score="a", pos_label="bad")
    with pytest.warns(cc.DroppedRowsWarning, match=r"left out 4 of 6 rows for missing values: 2 in 'a', 2 in 'y'$"):
        found = cc.RocCurve.from_frame(frame, label="y", score="a", pos_label="bad", on_null="drop")
    assert found.thresholds.tolist() == [np.inf, 3.0, 0.5]


def test_errors_of_tasks_arrive_as_they_are(frame):
    with pytest.raises(cc.DataError, match=r"^`pos_label` must be given when labels are names"):
        cc.RocCurve.from_frame(frame, label="label", score="a")
    with pytest.raises(cc.DataError, match=r"^`frame` must hold at least one row, got none$"):
        cc.RocCurve.from_frame(frame.limit(0), label="y", score="a")


def test_columns_are_checked_before_any_task_starts(spark, frame):
    with pytest.raises(cc.InputError, match=r"a column of the pyspark frame, got 'lable': did you mean 'label'\?"):
        cc.RocCurve.from_frame(frame, label="lable", score="a")
    vectors = spark.sql("select 1 as y, array(0.2D, 0.8D) as probability")
    with pytest.raises(cc.DataError, match="`score` must be a numeric column, got 'probability' of type List"):
        cc.RocCurve.from_frame(vectors, label="y", score="probability")


def test_a_session_that_leaves_its_partitions_to_spark_is_no_obstacle(spark, frame, data, monkeypatch):
    """Databricks has "auto" for a setting that Spark itself takes for a number only."""
    conf = type(spark.conf)
    known = conf.get
    monkeypatch.setattr(
        conf, "get", lambda self, key, *rest: "auto" if key.endswith("shuffle.partitions") else known(self, key, *rest)
    )
    found = cc.RocCurve.from_frame(frame, label="y", score="a")
    assert found.to_dict() == cc.RocCurve.from_predictions(data["y"], data["a"], name="a").to_dict()


def test_columns_of_one_name_are_refused_where_they_are_asked_for_and_cases_differ(spark):
    rows = spark.sql("select id % 2 as y, id * 1D as a, -id * 1D as A, 0D as b, 1D as b from range(20)")
    for name, auc in (("a", 0.55), ("A", 0.45)):
        assert cc.RocCurve.from_frame(rows, label="y", score=name).auc() == pytest.approx(auc)
    with pytest.raises(cc.InputError, match=r"^`score` must name one column, got 'b', which the pyspark frame has"):
        cc.RocCurve.from_frame(rows, label="y", score="b")


def test_workers_without_the_package_are_named(spark, frame, tmp_path, monkeypatch):
    """The workers of this test start a Python that finds something else under the name of the package."""
    (tmp_path / "costcurves.py").write_text("raise ModuleNotFoundError(\"No module named 'costcurves'\")\n")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexport PYTHONPATH="{tmp_path}:$PYTHONPATH"\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(python))
    with pytest.raises(cc.MissingExtraError, match=r"^every worker must have costcurves .* without the module 'costc"):
        cc.RocCurve.from_frame(frame, label="y", score="a")
