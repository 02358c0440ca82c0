"""One rule says what is missing, whichever door the data come through: null, NaN and empty texts."""

from __future__ import annotations

import csv
import json
import math
import warnings

import dask
import dask.dataframe as dd
import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import costcurves as cc
from costcurves.cli._input import read_scores
from costcurves.cli._print import Problem
from laws import random_worlds

NAN = math.nan


def lacks(value):
    """Return whether a value is missing, as the documentation says it."""
    return value is None or value == "" or value != value


def world(rng):
    """Return the columns of a random table as lists with holes of every kind in every position, and their types."""
    n = int(rng.integers(6, 30))
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    textual = bool(rng.random() < 0.6)
    label = ["bad" if v else "good" for v in y] if textual else [int(v) for v in y]
    columns = {
        "y": label,
        "a": (y + rng.normal(size=n)).round(int(rng.integers(0, 3))).tolist(),
        "b": rng.integers(-3, 4, n).tolist(),
        "w": rng.integers(0, 4, n).astype(float).tolist(),
        "g": [f"g{v}" for v in rng.integers(0, 2, n)],
    }
    holes = {"y": [None, ""] if textual else [None], "a": [None, NAN], "b": [None], "w": [None, NAN], "g": [None, ""]}
    share = float(rng.choice([0.0, 0.1, 0.4, 1.0], p=[0.1, 0.35, 0.5, 0.05]))
    for name, kinds in holes.items():
        if rng.random() < 0.7:
            for i in np.flatnonzero(rng.random(n) < share):
                columns[name][i] = kinds[rng.integers(len(kinds))]
    label_type = pa.string() if textual else pa.int64()
    return pa.table(
        {
            "y": pa.array(columns["y"], label_type),
            "a": pa.array(columns["a"], pa.float64(), from_pandas=False),
            "b": pa.array(columns["b"], pa.int64()),
            "w": pa.array(columns["w"], pa.float64(), from_pandas=False),
            "g": pa.array(columns["g"], pa.string()),
        }
    )


class Outcome:
    """What came of a question: counts, rows left out and what was said of them; or why it was refused."""

    def __init__(self, answer=None, dropped=0, said=None):
        self.answer, self.dropped, self.said = answer, dropped, said

    def __eq__(self, other):
        return vars(self) == vars(other)

    def __repr__(self):
        return f"Outcome({vars(self)})"


def expected(table, names, on_null, pos_label, weight, drop_text="on_null='drop'"):
    """Say what must come of it, by looking at every row."""
    rows = table.select(names).to_pylist()
    counts = {name: sum(lacks(row[name]) for row in rows) for name in names}
    whole = [row for row in rows if not any(map(lacks, row.values()))]
    listed = ", ".join(f"{count} in '{name}'" for name, count in sorted(counts.items()) if count)
    dropped = len(rows) - len(whole)
    if dropped and on_null == "refuse":
        return Outcome(said=f"must not have missing values, got {listed} ({dropped} of {len(rows)} rows)")
    if not whole:
        return Outcome(said=f"must have rows without missing values, got none of {len(rows)}")
    warned = f"left out {dropped} of {len(rows)} rows for missing values: {listed}" if dropped else None
    try:
        curve = cc.RocCurve.from_predictions(
            [row["y"] for row in whole],
            [row["a"] for row in whole],
            pos_label=pos_label,
            sample_weight=[row["w"] for row in whole] if weight else None,
            name="a",
        )
    except cc.DataError:
        return Outcome(said="")  # refused for another reason, such as one class only
    return Outcome((curve.tp.tolist(), curve.fp.tolist(), curve.thresholds.tolist()), dropped, warned)


def asked(ask):
    """Ask, and return what came of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", cc.DroppedRowsWarning)
        try:
            curve, dropped = ask()
        except cc.CostCurvesError as error:
            return Outcome(said=str(error))
    said = [str(w.message) for w in caught if issubclass(w.category, cc.DroppedRowsWarning)]
    assert all(w.filename == __file__ for w in caught)
    assert len(said) <= 1
    return Outcome(
        (curve.tp.tolist(), curve.fp.tolist(), curve.thresholds.tolist()), dropped, said[0] if said else None
    )


def same(found, wanted, door):
    """Assert that two outcomes are the same; a refusal or a warning may begin with what the door calls the data."""
    if wanted.answer is None:
        assert found.answer is None, f"{door} answered where {wanted.said}"
        assert wanted.said in found.said, (door, found.said, wanted.said)
        return
    assert found.answer == wanted.answer, door
    if found.dropped is not None:
        assert found.dropped == wanted.dropped, door
    if found.said is None:
        assert wanted.said is None, (door, wanted.said)
    else:
        assert wanted.said is not None, (door, found.said)
        assert wanted.said in found.said, door


def dask_of(table, rng):
    cut = int(rng.integers(0, table.num_rows + 1))
    parts = [part.to_pandas() for part in (table.slice(0, cut), table.slice(cut))]
    return dd.from_map(lambda i: parts[i], range(2), meta=table.slice(0, 0).to_pandas())


FRAMES = {
    "pandas": lambda table, rng: table.to_pandas(),
    "pandas nullable": lambda table, rng: table.to_pandas(
        types_mapper={pa.int64(): pd.Int64Dtype(), pa.float64(): pd.Float64Dtype(), pa.string(): pd.StringDtype()}.get
    ),
    "pandas of Arrow": lambda table, rng: table.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas categories": lambda table, rng: table.to_pandas(categories=["y"]),
    "polars": lambda table, rng: pl.from_arrow(table),
    "polars lazy": lambda table, rng: pl.from_arrow(table).lazy(),
    "polars categories": lambda table, rng: _polars_categories(table),
    "pyarrow": lambda table, rng: table,
    "duckdb": lambda table, rng: duckdb.connect().from_arrow(table),
    "ibis": lambda table, rng: ibis.memtable(table),
    "dask": dask_of,
}


def _polars_categories(table):
    frame = pl.from_arrow(table)
    return frame.with_columns(pl.col("y").cast(pl.Categorical)) if frame["y"].dtype == pl.String else frame


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.law
@pytest.mark.parametrize("door", list(FRAMES))
def test_frames_of_every_library_lack_the_same_rows(door):
    for rng in random_worlds(10, stream=1401):
        table = world(rng)
        pos_label = "bad" if table["y"].type == pa.string() else None
        weight = "w" if rng.integers(2) else None
        names = ["y", "a", *filter(None, [weight])]
        frame = FRAMES[door](table, rng)
        for on_null in ("refuse", "drop"):

            def ask(frame=frame, weight=weight, pos_label=pos_label, on_null=on_null):
                options = {"weight": weight, "pos_label": pos_label, "on_null": on_null}
                return cc.RocCurve.from_frame(frame, label="y", score="a", **options), None

            found = asked(ask)
            same(found, expected(table, names, on_null, pos_label, weight), door)


def write_csv(table, path, rng):
    """Write rows as text; what is missing is one of the words that may stand for it, quoted or not."""
    words = ["", "NA", "NaN", "null", "N/A", "nan", "NULL"]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL if rng.integers(2) else csv.QUOTE_MINIMAL)
        writer.writerow(table.column_names)
        for row in table.to_pylist():
            writer.writerow([words[rng.integers(len(words))] if lacks(v) else v for v in row.values()])


def write_lines(table, path, rng):
    with open(path, "w", encoding="utf-8") as file:
        for row in table.to_pylist():
            kept = {k: None if v != v else v for k, v in row.items()}
            kept = {k: v for k, v in kept.items() if v is not None or rng.integers(2)}  # null, or not there at all
            file.write(json.dumps(kept) + "\n")


def write_database(table, path, rng):
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.register("arrow", table)
        connection.execute("create table t as from arrow")


FILES = {
    "x.parquet": lambda table, path, rng: pq.write_table(table, path, row_group_size=7),
    "x.csv": write_csv,
    "x.jsonl": write_lines,
    "x.duckdb": write_database,
}


@pytest.mark.law
@pytest.mark.parametrize("name", list(FILES))
@pytest.mark.parametrize("grouped", [False, True], ids=["whole", "by group"])
def test_files_of_every_format_lack_the_same_rows(tmp_path, name, grouped):
    path = tmp_path / name
    for rng in random_worlds(6, stream=1402):
        table = world(rng)
        if name == "x.jsonl" and any(table[column].null_count == table.num_rows for column in table.column_names):
            continue  # a column that no row has is not there
        pos_label = "bad" if table["y"].type == pa.string() else None
        weight = "w" if rng.integers(2) else None
        names = ["y", "a", *filter(None, [weight]), *(["g"] if grouped else [])]
        FILES[name](table, path, rng)
        options = {"table": "t"} if name.endswith("duckdb") else {}
        for on_null in ("refuse", "drop"):

            def ask(options=options, weight=weight, pos_label=pos_label, on_null=on_null):
                src = cc.scan(
                    path,
                    label="y",
                    scores="a",
                    weight=weight,
                    group="g" if grouped else None,
                    pos_label=pos_label,
                    on_null=on_null,
                    progress=False,
                    threads=1,
                    **options,
                )
                if grouped:
                    found = src.read()
                    assert not any(lacks(v) for v in found["g"])
                    weights = None if weight is None else found[weight]
                    return cc.RocCurve.from_predictions(
                        found["y"], found["a"], pos_label=pos_label, sample_weight=weights
                    ), src.dropped
                return src.roc_curves(points="all")["a"], src.dropped

            found = asked(ask)
            same(found, expected(table, names, on_null, pos_label, weight), (name, grouped))


@pytest.mark.law
@pytest.mark.parametrize("name", ["x.parquet", "x.csv", "x.jsonl"])
def test_the_command_line_lacks_the_same_rows(tmp_path, name):
    path = tmp_path / name
    for rng in random_worlds(10, stream=1403):
        table = world(rng)
        if any(table[column].null_count == table.num_rows for column in table.column_names):
            continue
        pos_label = "bad" if table["y"].type == pa.string() else None
        weight = "w" if rng.integers(2) else None
        names = ["y", "a", *filter(None, [weight])]
        FILES[name](table, path, rng)
        for drop in (False, True):
            wanted = expected(table, names, "drop" if drop else "refuse", pos_label, weight)
            try:
                read = read_scores(path, label="y", positive=pos_label, scores=["a"], weight=weight, drop_missing=drop)
                curve = read.predictions.roc_curve("a")
            except (Problem, cc.DataError):
                assert wanted.answer is None, (name, wanted)
                continue
            assert wanted.answer == (curve.tp.tolist(), curve.fp.tolist(), curve.thresholds.tolist())
            assert read.dropped == wanted.dropped


@pytest.mark.parametrize("hole", [None, NAN, ""])
def test_arrays_with_missing_labels_are_refused(hole):
    for labels in (["bad", hole, "good"], np.array(["bad", hole, "good"], dtype=object)):
        with pytest.raises(
            cc.DataError, match=r"`y_true` must not have missing labels, got 1, the first at position 1"
        ):
            cc.RocCurve.from_predictions(labels, [1, 2, 3], pos_label="bad")
        with pytest.raises(cc.DataError, match=r"`y_pred` must not hold missing labels, got 1 of 3"):
            cc.ConfusionMatrix.from_predictions(["bad", "good", "good"], labels)
    for series in (pd.Series(["bad", hole, "good"]), pl.Series(["bad", None if hole is NAN else hole, "good"])):
        for column in (series, series.astype("category") if isinstance(series, pd.Series) else series):
            with pytest.raises(cc.DataError, match=r"`y_true` must not (hold|have) missing labels, got 1"):
                cc.ConfusionMatrix.from_predictions(column, ["bad", "good", "good"])


def test_an_empty_text_is_no_class():
    with pytest.raises(cc.DataError, match=r"`y_true` must not have missing labels, got 2, the first at position 0"):
        cc.RocCurve.from_predictions(np.array(["", "bad", ""]), [1, 2, 3], pos_label="bad")
    with pytest.raises(cc.InputError, match=r"must not hold missing labels"):
        cc.CostMatrix([[0, 1], [1, 0]], ["", "bad"])


def test_predicted_classes_that_are_missing_are_counted_alike(tmp_path):
    table = pa.table({"y": ["a", "b", "b", "", None], "p": ["a", "", None, "a", "b"], "q": ["a", "b", "b", "b", "a"]})
    for name in FILES:
        FILES[name](table, tmp_path / name, np.random.default_rng(1))
        options = {"table": "t"} if name.endswith("duckdb") else {}
        src = cc.scan(tmp_path / name, label="y", predictions=["p", "q"], progress=False, **options)
        with pytest.raises(cc.DataError, match=r"got 2 in 'p', 2 in 'y' \(4 of 5 rows\)"):
            src.bcost("p", [[0, 1], [1, 0]])
