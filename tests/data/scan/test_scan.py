"""Scans of files and tables give what the functions of arrays give, bit for bit, for any split into files."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import costcurves as cc

NAMES = ("a", "b", "c")


def make(size, seed, kind="float64"):
    """Return a table of labels, three score columns, weights, months and predicted classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size).astype(np.int8)
    y[:2] = 0, 1
    scores = [1 / (1 + np.exp(-y - rng.normal(0, spread, size))) for spread in (1, 1.5)]
    if kind == "float32":
        scores = [s.astype(np.float32) for s in scores]
    elif kind == "ties":
        scores = [np.round(s, 1) for s in scores]
    return pa.table(
        {
            "y": y,
            "a": scores[0],
            "b": scores[1],
            "c": rng.integers(-3, 4, size) + y,
            "w": rng.integers(0, 4, size).astype(float) + (np.arange(size) < 2),
            "month": rng.choice(["2024-01", "2024-02", "2024-10"], size),
            "truth": rng.choice(["x", "y", "z"], size),
            "p": rng.choice(["x", "y", "z"], size),
            "q": rng.choice(["x", "y", "z"], size),
        }
    )


def arrays(table):
    return {name: table[name].to_numpy() for name in table.column_names}


def same_curve(found, expected):
    for name in ("fp", "tp", "thresholds", "below"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    assert (found.n_pos, found.n_neg, found.effective) == (expected.n_pos, expected.n_neg, expected.effective)


def same_as_in_memory(src, table, **options):
    data = arrays(table)
    curves = src.roc_curves()
    assert list(curves) == list(src.names)
    for name, curve in curves.items():
        same_curve(curve, cc.RocCurve.from_predictions(data["y"], data[name], points="hull", **options))


@pytest.fixture(scope="module")
def table():
    return make(500, 1)


@pytest.fixture
def parquet(tmp_path, table):
    path = tmp_path / "scores.parquet"
    pq.write_table(table, path, row_group_size=90)
    return path


@st.composite
def splits(draw):
    table = make(
        draw(st.integers(2, 150)), draw(st.integers(0, 2**32)), draw(st.sampled_from(["float64", "float32", "ties"]))
    )
    cuts = draw(st.lists(st.integers(0, table.num_rows), max_size=3).map(sorted))
    edges = [0, *cuts, table.num_rows]
    return table, list(pairwise(edges)), draw(st.integers(1, 60)), draw(st.integers(1, 3))


@given(splits())
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_split_into_parquet_files_and_row_groups_gives_the_same_bits(tmp_path_factory, data):
    table, parts, group_size, threads = data
    folder = tmp_path_factory.mktemp("split")
    for i, (start, stop) in enumerate(parts):
        pq.write_table(table.slice(start, stop - start), folder / f"{i}.parquet", row_group_size=group_size)
    src = cc.scan(folder, label="y", scores=NAMES, threads=threads)
    same_as_in_memory(src, table)
    data = arrays(table)
    pc = np.linspace(0.05, 0.95, 9)
    found = src.compare("a", "c", pc=pc)
    expected = cc.compare(data["y"], data["a"], data["c"], names=("a", "c"), pc=pc)
    assert found.to_dict() == expected.to_dict()
    band, options = src.curves()["b"].band(pc=pc, method="wilson"), {"pc": pc, "method": "wilson"}
    assert band.to_dict() == cc.CostCurve.from_predictions(data["y"], data["b"], name="b").band(**options).to_dict()


@pytest.mark.parametrize("form", ["csv", "tsv", "csv.gz", "jsonl", "ndjson", "jsonl.gz", "json"])
def test_text_formats_give_the_same_bits(tmp_path, table, form):
    for i, part in enumerate((table.slice(0, 200), table.slice(200))):
        path = tmp_path / f"part{i}.{form}"
        if "json" in form:
            data = "".join(json.dumps(row) + "\n" for row in part.to_pylist()).encode()
        else:
            sink = pa.BufferOutputStream()
            delimiter = "\t" if form == "tsv" else ","
            pyarrow.csv.write_csv(part, sink, pyarrow.csv.WriteOptions(delimiter=delimiter))
            data = sink.getvalue().to_pybytes()
        path.write_bytes(gzip.compress(data) if form.endswith("gz") else data)
    src = cc.scan(tmp_path / f"*.{form}", label="y", scores=NAMES)
    same_as_in_memory(src, table)


def test_tables_of_a_database_and_of_a_connection_give_the_same_bits(tmp_path, table):
    path = tmp_path / "scores.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("arrow", table)
        connection.execute("create table scores as from arrow")
        connection.execute("create schema other")
        connection.execute("create view other.part as from scores where a > 0.5")
        same_as_in_memory(cc.scan(connection, table="scores", label="y", scores=NAMES), table)
        chosen = table.filter(pa.compute.greater(table["a"], 0.5))
        same_as_in_memory(cc.scan(connection, table=("other", "part"), label="y", scores=NAMES), chosen)
    same_as_in_memory(cc.scan(path, table="scores", label="y", scores=NAMES), table)


def test_weights_and_all_points_equal_those_in_memory(parquet, table):
    data = arrays(table)
    src = cc.scan(parquet, label="y", scores="a", weight="w")
    same_as_in_memory(src, table, sample_weight=data["w"])
    found = cc.scan(parquet, label="y", scores=NAMES, weight="w").compare("a", "b")
    expected = cc.compare(data["y"], data["a"], data["b"], names=("a", "b"), sample_weight=data["w"])
    assert found.to_dict() == expected.to_dict()
    every = cc.scan(parquet, label="y", scores="a").roc_curves(points="all")["a"]
    same_curve(every, cc.RocCurve.from_predictions(data["y"], data["a"]))
    assert every.complete


def test_policies_that_need_all_points_get_them(parquet, table):
    data = arrays(table)
    src = cc.scan(parquet, label="y", scores=NAMES)
    found = cc.scan(parquet, label="y", scores="a").curves(policy="bayes")["a"]
    expected = cc.CostCurve(cc.RocCurve.from_predictions(data["y"], data["a"], name="a"), "bayes")
    assert found.evaluate([0.2, 0.7]).tolist() == expected.evaluate([0.2, 0.7]).tolist()
    found = src.compare("a", "b", policy="bayes")
    expected = cc.compare(data["y"], data["a"], data["b"], names=("a", "b"), policy="bayes")
    assert found.to_dict() == expected.to_dict()


def test_all_pairs_equal_compare_many(parquet, table):
    data = arrays(table)
    scores = {name: data[name] for name in NAMES}
    found = cc.scan(parquet, label="y", scores=NAMES).compare_many(level=0.9, pc=[0.1, 0.5])
    assert found.to_dict() == cc.compare_many(data["y"], scores, level=0.9, pc=[0.1, 0.5]).to_dict()
    found = cc.scan(parquet, label="y", scores=NAMES, weight="w").compare_many(pc=[0.2, 0.5])
    expected = cc.compare_many(data["y"], scores, sample_weight=data["w"], pc=[0.2, 0.5])
    assert found.to_dict() == expected.to_dict()


def test_groups_have_the_curves_of_their_rows(parquet, table):
    data = arrays(table)
    found = cc.scan(parquet, label="y", scores=NAMES, group="month").curves()
    assert list(found) == ["2024-01", "2024-02", "2024-10"]
    for month, curves in found.items():
        rows = data["month"] == month
        for name, curve in curves.items():
            same_curve(curve.roc, cc.RocCurve.from_predictions(data["y"][rows], data[name][rows], points="hull"))


def test_costs_of_k_classes_equal_those_of_arrays(parquet, table):
    data = arrays(table)
    costs = cc.CostMatrix([[0, 1, 4], [2, 0, 1], [5, 3, 0]], labels=["x", "y", "z"])
    src = cc.scan(parquet, label="truth", predictions=["p", "q"])
    assert src.bcost("p", costs).to_dict() == cc.bcost(data["truth"], data["p"], costs).to_dict()
    passes = src.passes
    assert src.bcost("q", costs).to_dict() == cc.bcost(data["truth"], data["q"], costs).to_dict()
    assert src.passes == passes
    found = src.bdeltacost("p", "q", costs)
    assert found.to_dict() == cc.bdeltacost(data["truth"], data["p"], data["q"], costs, names=("p", "q")).to_dict()


def test_curves_are_found_in_two_passes_and_kept(parquet):
    src = cc.scan(parquet, label="y", scores=NAMES)
    src.roc_curves()
    assert src.passes == 2
    # All points of few rows are found in one more, so that limits are those of the same rows in memory.
    src.curves()
    src.hull()
    assert src.passes == 3


def test_ties_beside_scores_without_take_no_more_passes(tmp_path, monkeypatch):
    monkeypatch.setattr("costcurves.data.file_source.MOST_GATHERED", 1)
    monkeypatch.setattr("costcurves.data.file_source.MEMBERS", 20_000)
    rng = np.random.default_rng(9)
    y = rng.random(40_000) < 0.3
    plain, other = (1 / (1 + np.exp(-rng.normal(y, 1.0))) for _ in range(2))
    scores = {"plain": plain, "three": np.round(other, 3), "tree": np.floor(other * 40) / 40}
    pq.write_table(pa.table({"y": y, **scores}), tmp_path / "ties.parquet")
    src = cc.scan(tmp_path / "ties.parquet", label="y", scores=list(scores))
    for name, curve in src.roc_curves().items():
        same_curve(curve, cc.RocCurve.from_predictions(y, scores[name], points="hull"))
    assert src.passes == 2


@pytest.mark.parametrize("label", ["text", "dictionary", "boolean", "float", "date"])
def test_labels_of_any_type_are_taken(tmp_path, table, label):
    y = table["y"].to_numpy() == 1
    import datetime

    days = [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)]
    columns = {
        "text": (pa.array(np.where(y, "bad", "good")), "bad"),
        "dictionary": (pa.array(np.where(y, "bad", "good")).dictionary_encode(), "bad"),
        "boolean": (pa.array(y), None),
        "float": (pa.array(np.where(y, 1.0, -1.0)), None),
        "date": (pa.array([days[int(v)] for v in y]), days[1]),
    }
    column, pos_label = columns[label]
    pq.write_table(table.set_column(0, "y", column), tmp_path / "x.parquet", row_group_size=7)
    src = cc.scan(tmp_path / "x.parquet", label="y", scores=NAMES, pos_label=pos_label)
    same_as_in_memory(src, table)


def test_columns_come_into_memory_as_arrays(parquet, table):
    src = cc.scan(parquet, label="y", scores=["a"], group="month")
    found = src.read()
    assert list(found) == ["y", "a", "month"]
    assert found["a"].tolist() == table["a"].to_pylist()
    assert found["month"].tolist() == table["month"].to_pylist()
    assert src.columns()["month"] == "string"
    assert list(src.read(["p", "w"])) == ["p", "w"]


def test_missing_values_are_counted_and_refused_or_dropped(tmp_path, table):
    gaps = table.set_column(1, "a", pa.array([None, None, *table["a"].to_pylist()[2:]]))
    gaps = gaps.set_column(0, "y", pa.array([*table["y"].to_pylist()[:-1], None], pa.int8()))
    gaps = gaps.set_column(2, "b", pa.array([None, *table["b"].to_pylist()[1:]]))
    path = tmp_path / "gaps.parquet"
    pq.write_table(gaps, path, row_group_size=100)
    with pytest.raises(cc.DataError, match=r"got 2 in 'a', 1 in 'b', 1 in 'y' \(3 of 500 rows\).*on_null='drop'"):
        cc.scan(path, label="y", scores=NAMES).curves()
    with pytest.raises(cc.DataError, match="got 2 in 'a'"):
        cc.scan(path, label="y", scores=NAMES).read()
    src = cc.scan(path, label="y", scores=NAMES, on_null="drop")
    said = r"^on_null='drop' left out 3 of 500 rows for missing values: 2 in 'a', 1 in 'b', 1 in 'y'$"
    with pytest.warns(cc.DroppedRowsWarning, match=said) as caught:
        src.curves()
    assert [warning.filename for warning in caught] == [__file__]
    same_as_in_memory(src, table.slice(2, 497))  # which says no more of the same rows
    assert src.missing == {"a": 2, "b": 1, "y": 1}
    assert src.dropped == 3
    with pytest.warns(cc.DroppedRowsWarning, match="left out 2 of 500 rows for missing values: 2 in 'a'"):
        assert src.read(["a"])["a"].size == 498


@pytest.mark.parametrize(("kind", "suffix"), [("float32", ".parquet"), ("float64", ".parquet"), ("float64", ".csv")])
def test_nan_is_a_missing_value_of_a_column_of_floats(tmp_path, kind, suffix):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 300).astype(float)
    a, b = rng.random((2, 300)).astype(kind)
    y[7], a[[7, 20, 120]], b[[20, 250]] = np.nan, np.nan, np.nan
    nulls = np.zeros(300, bool)
    nulls[[30, 31]] = True
    table = pa.table({"y": y, "a": pa.array(a, mask=nulls), "b": b})
    path = tmp_path / f"x{suffix}"
    if suffix == ".csv":
        pa.csv.write_csv(table, path)
    else:
        pq.write_table(table, path, row_group_size=100)
    with pytest.raises(cc.DataError, match=r"got 5 in 'a', 2 in 'b', 1 in 'y' \(6 of 300 rows\)"):
        cc.scan(path, label="y", scores=["a", "b"]).curves()
    src = cc.scan(path, label="y", scores=["a", "b"], on_null="drop")
    kept = np.setdiff1d(np.arange(300), [7, 20, 30, 31, 120, 250])
    with pytest.warns(cc.DroppedRowsWarning, match="left out 6 of 300 rows"):
        src.curves()
    same_as_in_memory(src, pa.table({"y": y[kept], "a": a[kept], "b": b[kept]}))
    assert src.missing == {"a": 5, "b": 2, "y": 1}
    assert src.dropped == 6


def test_progress_is_told_in_rows(parquet):
    told = []
    cc.scan(parquet, label="y", scores=NAMES, progress=lambda rows, total: told.append((rows, total))).roc_curves()
    assert told[-1] == (500, 500)
    assert len(told) == 12


def test_a_bar_is_drawn_on_request_only(parquet, capsys):
    cc.scan(parquet, label="y", scores=NAMES).curves()
    assert capsys.readouterr().err == ""
    cc.scan(parquet, label="y", scores=NAMES, progress=True).curves()
    assert capsys.readouterr().err != ""


def test_binned_scans_take_one_pass_and_say_their_error(tmp_path):
    table = make(20_000, 3)
    pq.write_table(table, tmp_path / "x.parquet")
    data = arrays(table)
    src = cc.scan(tmp_path / "x.parquet", label="y", scores=["a", "b"], resolution=2**14)
    pc = np.linspace(0, 1, 301)
    for name, curve in src.curves().items():
        exact = cc.CostCurve.from_predictions(data["y"], data[name])
        gap = curve.evaluate(pc) - exact.evaluate(pc)
        assert gap.min() >= -1e-12
        assert gap.max() <= curve.roc.max_error <= src.max_error < 0.01
    assert src.passes == 1


def test_a_binned_scan_has_no_full_curve(parquet):
    with pytest.raises(cc.UnsupportedError, match="`points='all'` needs exact counts"):
        cc.scan(parquet, label="y", scores="a", resolution=2**14).roc_curves(points="all")


def test_too_many_distinct_scores_say_what_to_use(parquet, monkeypatch):
    monkeypatch.setattr("costcurves.data.file_source.MOST_IN_MEMORY", 400)
    src = cc.scan(parquet, label="y", scores="a")
    with pytest.raises(
        cc.UnsupportedError, match=r"use points='hull' \(exact\), or cc.scan\(..., resolution=2\*\*16\)"
    ):
        src.roc_curves(points="all")
    with pytest.raises(cc.UnsupportedError, match="`read` must fit in memory, got 1000 values"):
        src.read()
    src.curves()


@pytest.mark.parametrize("kind", ["int8", "uint16", "int64", "minus one", "one and two", "boolean"])
def test_labels_that_are_kept_for_the_second_pass_are_those_of_the_file(tmp_path, monkeypatch, kind):
    table = make(3000, 5)
    labels = table["y"].to_numpy()
    values = {"minus one": 2 * labels - 1, "one and two": labels + 1, "boolean": labels == 1}.get(kind)
    options = {"pos_label": 2} if kind == "one and two" else {}
    table = table.set_column(0, "y", pa.array(labels.astype(kind) if values is None else values))
    pq.write_table(table, tmp_path / "data.parquet", row_group_size=700)
    read = []
    whole = pq.ParquetFile.read_row_group

    def spied(self, group, columns, **options):
        read.append(tuple(columns))
        return whole(self, group, columns=columns, **options)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", spied)
    src = cc.scan(tmp_path / "data.parquet", label="y", scores=["a", "b"], threads=1, **options)
    same_as_in_memory(src, table, **options)
    without = sum("y" not in columns for columns in read)
    assert without == 2 + 5 * (kind in ("int8", "uint16", "int64"))  # two for the sample, then five row groups again


@pytest.mark.parametrize("order", ["shuffled", "sorted"])
def test_a_binned_scan_does_not_depend_on_threads_and_little_on_the_order_of_rows(tmp_path, order):
    rng = np.random.default_rng(28)
    y = (rng.random(120_000) < 0.1).astype(np.int8)
    score = rng.normal(1.5 * y, 1.0)
    rows = np.argsort(score) if order == "sorted" else rng.permutation(y.size)
    table = pa.table({"y": y[rows], "plain": score[rows], "far": (1e9 + score)[rows]})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=7_000)
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.register("made", table)
        connection.execute("create table data as from made")
    for source, name in (("x.parquet", None), ("x.duckdb", "data")):
        found = [
            cc.scan(
                tmp_path / source, label="y", scores=["plain", "far"], resolution=2**14, threads=threads, table=name
            ).roc_curves()
            for threads in (1, 2, 5)
        ]
        for column, curve in found[0].items():
            assert 0 < curve.max_error < 5e-4, column
            exact = cc.RocCurve.from_predictions(table["y"].to_numpy(), table[column].to_numpy(), points="hull")
            gap = cc.CostCurve(curve).evaluate(np.linspace(0, 1, 501)) - cc.CostCurve(exact).evaluate(
                np.linspace(0, 1, 501)
            )
            assert -1e-12 < gap.min() <= gap.max() <= curve.max_error
            for other in found[1:]:
                assert other[column].to_dict() == curve.to_dict()
