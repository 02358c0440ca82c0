"""Scores with many ties are grouped by the engine in one pass, to the curves of the two passes."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import costcurves as cc
from costcurves.data.readers import duckdb as engine
from costcurves.data.readers import grouping

NAMES = ("a", "b", "c")


def make(size=600, seed=0, kind="float32"):
    """Return labels and scores of few distinct values: probabilities, signed zeros and whole numbers."""
    rng = np.random.default_rng(seed)
    y = rng.random(size) < 0.4
    y[:2] = False, True
    return pa.table(
        {
            "y": y.astype(np.int8),
            "a": np.round(1 / (1 + np.exp(-1.0 * y - rng.normal(size=size))), 1).astype(kind),
            "b": rng.choice([-1.5, -0.0, 0.0, 2.25], size).astype(kind),
            "c": rng.integers(-3, 4, size) + y,
        }
    )


def write(table, path):
    if path.suffix == ".csv":
        pa.csv.write_csv(table, path)
    elif path.suffix == ".jsonl":
        table.to_pandas().to_json(path, orient="records", lines=True)
    else:
        pq.write_table(table, path, row_group_size=110)
    return path


@pytest.fixture
def two_passes(monkeypatch):
    """Have bins know nothing of ties, so that what engines do not group takes two passes."""
    monkeypatch.setattr("costcurves.data.file_source.SOME_TIES", 0.0)


def check(src, table, passes=1, points="hull"):
    curves = src.roc_curves(points=points)
    assert src.passes == passes
    y = table["y"].to_numpy()
    for name in src.scores:
        expected = cc.RocCurve.from_predictions(y, table[name].to_numpy(), points=points)
        for part in ("fp", "tp", "thresholds", "below"):
            ours, theirs = getattr(curves[name], part), getattr(expected, part)
            assert ours.dtype == theirs.dtype
            assert ours.tobytes() == theirs.tobytes()
        assert (curves[name].n_pos, curves[name].n_neg) == (expected.n_pos, expected.n_neg)


@pytest.mark.parametrize("points", ["hull", "all"])
@pytest.mark.parametrize("scores", [("a",), NAMES])
@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
def test_ties_are_counted_in_one_pass_bit_for_bit(tmp_path, suffix, scores, points):
    table = make(kind="float64")
    for i, start in enumerate((0, 250)):
        write(table.slice(start, 250 if i == 0 else None), tmp_path / f"{i}{suffix}")
    check(cc.scan(tmp_path, label="y", scores=scores), table, points=points)


@settings(max_examples=15, deadline=None)
@given(st.integers(60, 400), st.integers(0, 2**30), st.sampled_from(["float32", "float64"]))
def test_groups_and_passes_give_the_same_curves(tmp_path_factory, size, seed, kind):
    table = make(size, seed, kind)
    path = write(table, tmp_path_factory.mktemp("ties") / "x.parquet")
    check(cc.scan(path, label="y", scores=NAMES), table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("costcurves.data.file_source.MANY_TIES", 0.0)
        patch.setattr("costcurves.data.file_source.SOME_TIES", 0.0)
        src = cc.scan(path, label="y", scores=NAMES)
        check(src, table, passes=2)


def test_a_column_without_ties_leaves_all_to_the_passes(tmp_path):
    table = make().append_column("d", pa.array(np.random.default_rng(1).random(600)))
    path = write(table, tmp_path / "x.parquet")
    check(cc.scan(path, label="y", scores=("a", "d")), table, passes=2)


def test_missing_values_of_groups_are_counted_by_column_and_by_row(tmp_path):
    table = make()
    masks = {name: np.isin(np.arange(600), rows) for name, rows in (("y", [5]), ("a", [5, 6, 7]), ("b", [7, 8]))}
    holes = pa.table({name: pa.array(table[name].to_numpy(), mask=mask) for name, mask in masks.items()})
    path = write(holes, tmp_path / "x.parquet")
    with pytest.raises(cc.DataError, match=r"got 3 in 'a', 2 in 'b', 1 in 'y' \(4 of 600 rows\)"):
        cc.scan(path, label="y", scores=("a", "b")).curves()
    src = cc.scan(path, label="y", scores=("a", "b"), on_null="drop")
    with pytest.warns(cc.DroppedRowsWarning, match="left out 4 of 600 rows for missing values: 3 in 'a', 2 in 'b'"):
        check(src, table.take(np.setdiff1d(np.arange(600), [5, 6, 7, 8])))
    assert src.missing == {"a": 3, "b": 2, "y": 1}
    assert src.dropped == 4


@pytest.mark.usefixtures("two_passes")
@pytest.mark.parametrize("scores", [("a",), ("a", "c")])  # of several columns, groups do not tell which rows have NaN
def test_nan_in_groups_is_missing(tmp_path, scores):
    table = make()
    y, a = (table[name].to_numpy().astype(float) for name in ("y", "a"))
    y[5], a[[5, 6, 7]] = np.nan, np.nan
    nulls = np.isin(np.arange(600), [10, 11])
    holes = pa.table({"y": y, "a": pa.array(a, mask=nulls), "c": table["c"]})
    path = write(holes, tmp_path / "x.parquet")
    with pytest.raises(cc.DataError, match=r"got 5 in 'a', 1 in 'y' \(5 of 600 rows\)"):
        cc.scan(path, label="y", scores=scores).curves()
    src = cc.scan(path, label="y", scores=scores, on_null="drop")
    with pytest.warns(cc.DroppedRowsWarning, match="left out 5 of 600 rows for missing values: 5 in 'a', 1 in 'y'"):
        check(src, table.take(np.setdiff1d(np.arange(600), [5, 6, 7, 10, 11])), passes=1 if len(scores) == 1 else 3)
    assert src.missing == {"a": 5, "y": 1}
    assert src.dropped == 5


def test_infinite_scores_and_a_third_class_are_refused_in_groups(tmp_path):
    table = make()
    a = table["a"].to_numpy().copy()
    a[3] = np.inf
    path = write(table.set_column(1, "a", pa.array(a)), tmp_path / "x.parquet")
    with pytest.raises(cc.DataError, match="must be finite, got 1 non-finite"):
        cc.scan(path, label="y", scores="a").curves()
    y = table["y"].to_numpy().copy()
    y[3] = 2
    path = write(table.set_column(0, "y", pa.array(y)), tmp_path / "y.parquet")
    with pytest.raises(cc.DataError, match="must hold two classes, got labels 0, 1, 2"):
        cc.scan(path, label="y", scores="a").curves()


@pytest.mark.usefixtures("two_passes")
@pytest.mark.parametrize(
    ("module", "limit", "value"), [(grouping, "MOST_DISTINCT", 2), (engine, "MEMORY", "1KiB"), (engine, "MEMORY", "")]
)
def test_more_groups_than_fit_are_left_to_the_passes(tmp_path, monkeypatch, module, limit, value):
    table = make()
    path = write(table, tmp_path / "x.parquet")
    src = cc.scan(path, label="y", scores=NAMES)
    if value == "":  # DuckDB fails in the query itself
        monkeypatch.setattr(grouping, "quoted", lambda name: '"no such column"')
    else:
        monkeypatch.setattr(module, limit, value)
    check(src, table, passes=2 if value == "1KiB" else 3)  # with so little memory DuckDB does not begin


@pytest.mark.usefixtures("two_passes")
def test_columns_that_the_engine_would_confuse_are_left_to_the_passes(tmp_path):
    table = make()
    both = table.append_column("A", table["c"])
    check(cc.scan(write(both, tmp_path / "x.parquet"), label="y", scores=("a", "A")), both, passes=2)


@pytest.mark.usefixtures("two_passes")
def test_files_of_different_types_are_left_to_the_passes(tmp_path):
    table = make(kind="float64")
    whole = table.set_column(1, "a", pa.array(np.arange(600) % 3))
    write(whole, tmp_path / "0.parquet")
    write(table, tmp_path / "1.parquet")
    joined = pa.concat_tables([whole.set_column(1, "a", whole["a"].cast(pa.float64())), table])
    check(cc.scan(tmp_path, label="y", scores="a"), joined, passes=2)


@pytest.mark.usefixtures("two_passes")
def test_a_connection_of_the_user_is_read_in_passes():
    table = make()
    connection = duckdb.connect()
    connection.execute('create table data as from "table"')
    check(cc.scan(connection, table="data", label="y", scores=NAMES), table, passes=2)


@pytest.mark.parametrize("name", ['a"; drop table data; --', "label", "whole", "s0", "times", "data", "rows", "of_s0"])
def test_names_of_grouped_columns_are_never_sql(tmp_path, name):
    table = make()
    named = table.rename_columns(["y", "a", name, "c"])
    folder = tmp_path / "month=3"  # which is no column
    folder.mkdir()
    src = cc.scan(write(named, folder / "it's ; [1].parquet"), label="y", scores=("a", name))
    check(src, named)


def test_texts_are_labels_of_groups(tmp_path):
    table = make()
    good = np.where(table["y"].to_numpy() == 1, "bad", "good")
    path = write(table.set_column(0, "y", pa.array(good)), tmp_path / "x.parquet")
    src = cc.scan(path, label="y", scores=NAMES, pos_label="bad")
    check(src, table)


def test_groups_with_how_often_they_occur_count_as_so_many_examples():
    y, scores, times = [0, 1, 1, 0], [0.5, 0.5, 0.25, -0.0], [3, 1, 2, 1]
    tally = cc.ScoreTally().update([1], [0.0]).update_distinct(y, scores, times)
    whole = cc.ScoreTally().update([1, *np.repeat(y, times)], [0.0, *np.repeat(scores, times)])
    assert tally.to_bytes() == whole.to_bytes()
    for wrong in ([1, 0, 1, 1], [0.5, 1, 1, 1]):
        with pytest.raises(cc.DataError, match="`times` must hold integers >= 1"):
            tally.update_distinct(y, scores, wrong)
    with pytest.raises(cc.UnsupportedError, match="needs a tally of distinct scores"):
        cc.ScoreTally(resolution=2**14).update_distinct(y, scores, times)
