"""What goes wrong with files is said clearly, before or while they are read, and no text of the user's becomes SQL."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import tracemalloc

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import costcurves as cc
from costcurves.data.readers import duckdb as engine
from costcurves.data.readers import one_pass as reading

Y = [0, 1, 0, 1, 1, 0] * 20
A = [0.1, 0.9, 0.4, 0.35, 0.8, 0.2] * 20
TABLE = pa.table({"y": Y, "a": A})


@pytest.fixture
def path(tmp_path):
    where = tmp_path / "x.parquet"
    pq.write_table(TABLE, where, row_group_size=10)
    return where


def write_csv(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


NASTY = [
    "a b",
    'say "hi"',
    "it's",
    "x; drop table scores; --",
    "'; drop table scores; --",
    '"; drop table scores; --',
    "ü",
]


@pytest.mark.parametrize("name", NASTY)
def test_names_of_columns_tables_and_files_are_never_sql(tmp_path, name):
    table = pa.table({"label " + name: Y, name: A})
    expected = cc.RocCurve.from_predictions(Y, A, points="hull")
    with duckdb.connect() as connection:
        connection.register("arrow", table)
        connection.execute("create table scores as select 1 as one")
        connection.execute(f"create table {engine.quoted(name)} as from arrow")
        sources = [cc.scan(connection, table=name, label="label " + name, scores=name)]
        folder = tmp_path / name.replace("/", "_")
        folder.mkdir()
        file = folder / f"{name}.csv"
        connection.sql(f"from {engine.quoted(name)}").write_csv(str(tmp_path / "plain.csv"))
        os.rename(tmp_path / "plain.csv", file)
        sources.append(cc.scan(file, label="label " + name, scores=name))
        pq.write_table(table, folder / f"{name}.parquet")
        sources.append(cc.scan(folder / f"{name}.parquet", label="label " + name, scores=name))
        for src in sources:
            assert src.roc_curves()[name].tp.tolist() == expected.tp.tolist()
            assert src.read()[name].size == len(Y)
        assert connection.execute("select one from scores").fetchall() == [(1,)]


@pytest.mark.parametrize("name", ["[ab].csv", "a*.csv", "what?.csv"])
def test_a_file_whose_name_looks_like_a_glob_is_itself(tmp_path, name):
    write_csv(tmp_path / name, "y,a\n" + "\n".join(f"{y},{a}" for y, a in zip(Y, A, strict=True)))
    write_csv(tmp_path / "a.csv", "y,a\n0,0.1\n")
    assert cc.scan(tmp_path / name, label="y", scores="a").read()["y"].size == len(Y)


def test_a_missing_column_names_its_neighbours(path):
    with pytest.raises(
        cc.InputError, match=r"`scores` must name a column of .*x.parquet', got 'aa': did you mean 'a'\?"
    ):
        cc.scan(path, label="y", scores="aa")
    with pytest.raises(cc.InputError, match=r"`label` must name a column .* got 'target': it has \['y', 'a'\]"):
        cc.scan(path, label="target", scores="a")


def test_columns_of_the_wrong_type_are_refused(tmp_path):
    where = write_csv(tmp_path / "x.csv", "y,a\n0,low\n1,high\n")
    with pytest.raises(cc.DataError, match="`scores` must be a numeric column, got 'a' of type string"):
        cc.scan(where, label="y", scores="a")
    pq.write_table(pa.table({"y": [[0], [1]], "a": [0.1, 0.2]}), tmp_path / "x.parquet")
    with pytest.raises(cc.DataError, match="`label` must be a column of plain values, got 'y' of type list"):
        cc.scan(tmp_path / "x.parquet", label="y", scores="a")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": "y", "scores": ["a", "a"]}, "`scores` must be different columns, got 'a' twice"),
        ({"label": "a", "scores": ["a"]}, "`scores` must not be the label column, got 'a' as both"),
        ({"label": "y", "predictions": ["y"]}, "`predictions` must not be the label column, got 'y' as both"),
        ({"label": "y", "scores": ["a"], "weight": "y"}, "`weight` must not be the label column"),
        ({"label": "y"}, "`scores` or `predictions` must name at least one column, got none"),
        ({"label": "y", "scores": "a", "on_null": "fill"}, "`on_null` must be one of 'refuse', 'drop', got 'fill'"),
        ({"label": "y", "scores": "a", "resolution": 10}, "`resolution` must be >= 16384, got 10"),
        ({"label": "y", "scores": "a", "table": "t"}, "`table` must not be given for files of type parquet"),
        ({"label": "y", "scores": "a", "threads": 0}, "`threads` must be a whole number from 1 to 64, got 0"),
        ({"label": "y", "scores": "a", "progress": 3}, "`progress` must be True, False, None or a function, got 3"),
        ({"label": "", "scores": "a"}, "`label` must be a non-empty string"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_read(path, options, message):
    with pytest.raises(cc.InputError, match=message):
        cc.scan(path, **options)


def test_sources_that_hold_no_files_are_refused(tmp_path, path):
    with pytest.raises(cc.InputError, match=r"`source` must be an existing file, directory or glob, got .*none.csv"):
        cc.scan(tmp_path / "none.csv", label="y", scores="a")
    with pytest.raises(cc.InputError, match="`source` must match at least one file, got none for"):
        cc.scan(f"{tmp_path}/*.csv", label="y", scores="a")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "_SUCCESS").touch()
    with pytest.raises(cc.InputError, match="`source` must be a directory with files of a known format"):
        cc.scan(tmp_path / "empty", label="y", scores="a")
    with pytest.raises(cc.InputError, match="`source` must name at least one file, got an empty list"):
        cc.scan([], label="y", scores="a")
    (tmp_path / "x.xlsx").touch()
    with pytest.raises(cc.InputError, match=r"known format \(.parquet.*got .*x.xlsx"):
        cc.scan(tmp_path / "x.xlsx", label="y", scores="a")
    write_csv(tmp_path / "y.csv", "y,a\n0,0.1\n")
    with pytest.raises(cc.InputError, match="files of one format, got csv and parquet"):
        cc.scan([path, tmp_path / "y.csv"], label="y", scores="a")
    with pytest.raises(cc.InputError, match=r"`source` must be a path|`path` must be a path"):
        cc.scan(3, label="y", scores="a")


def test_a_database_needs_a_table_that_is_there(tmp_path):
    where = tmp_path / "x.duckdb"
    with duckdb.connect(str(where)) as connection:
        connection.execute("create table t (y integer, a double)")
        with pytest.raises(cc.InputError, match="`table` must name the table to read from a connection, got None"):
            cc.scan(connection, label="y", scores="a")
    with pytest.raises(cc.InputError, match=r"`table` must name the table to read from .*x.duckdb', got None"):
        cc.scan(where, label="y", scores="a")
    with pytest.raises(cc.InputError, match="`table` must be a table or view of the database, got table 'nothing'"):
        cc.scan(where, table="nothing", label="y", scores="a")
    with pytest.raises(cc.DataError, match="the data must hold at least one row, got none"):
        cc.scan(where, table="t", label="y", scores="a").curves()
    (tmp_path / "broken.duckdb").write_bytes(b"no database at all" * 400)
    with pytest.raises(cc.FormatError, match=r"broken.duckdb' must be a DuckDB database"):
        cc.scan(tmp_path / "broken.duckdb", table="t", label="y", scores="a")


def test_truncated_parquet_files_are_refused(tmp_path, path):
    data = path.read_bytes()
    (tmp_path / "short.parquet").write_bytes(data[: len(data) // 2])
    with pytest.raises(cc.FormatError, match=r"short.parquet' must be a whole Parquet file, got"):
        cc.scan(tmp_path / "short.parquet", label="y", scores="a")
    # The footer is there, but what it speaks of is not.
    (tmp_path / "hole.parquet").write_bytes(b"PAR1" + b"\xff" * 1200 + data[1204:])
    with pytest.raises(cc.FormatError, match=r"hole.parquet' must be a whole Parquet file, got"):
        cc.scan(tmp_path / "hole.parquet", label="y", scores="a").curves()


def test_a_file_that_vanishes_between_passes_is_noticed(path):
    def vanish(rows, total):
        if rows == total and os.path.exists(path):
            os.remove(path)

    with pytest.raises(
        cc.DataError, match=r"the data must not be moved or deleted while they are read, got no .*x.parquet"
    ):
        cc.scan(path, label="y", scores="a", progress=vanish).curves()


def test_a_file_that_vanishes_in_the_middle_of_a_pass_is_noticed(tmp_path):
    for i in range(6):
        pq.write_table(TABLE, tmp_path / f"{i}.parquet")

    def vanish(rows, total):
        if os.path.exists(tmp_path / "5.parquet"):
            os.remove(tmp_path / "5.parquet")

    with pytest.raises(cc.DataError, match=r"got no .*5.parquet' any longer"):
        cc.scan(tmp_path, label="y", scores="a", progress=vanish, threads=1).curves()


def test_a_file_that_changes_between_passes_is_noticed(path):
    def change(rows, total):
        if rows == total:
            pq.write_table(TABLE.slice(1), path)

    with pytest.raises(
        cc.DataError, match=r"the data must stay the same while they are read, got .*x.parquet' changed"
    ):
        cc.scan(path, label="y", scores="a", progress=change).curves()


def test_a_table_that_grows_between_passes_is_noticed(monkeypatch):
    monkeypatch.setattr("costcurves.data.file_source.SOME_TIES", 0.0)  # which one pass would find
    with duckdb.connect() as connection:
        connection.register("arrow", TABLE)
        connection.execute("create table t as from arrow")

        def grow(rows, total):
            connection.cursor().execute("insert into t values (1, 0.5)")

        src = cc.scan(connection, table="t", label="y", scores="a", progress=grow)
        with pytest.raises(
            cc.DataError, match="the data must stay the same while they are read, got 121 rows after 120"
        ):
            src.curves()


def test_labels_of_mixed_type_are_refused(tmp_path):
    write_csv(tmp_path / "0.csv", "y,a\n0,0.1\n1,0.3\n")
    write_csv(tmp_path / "1.csv", "y,a\nno,0.1\nyes,0.3\n")
    with pytest.raises(
        cc.DataError, match=r"`y_true` must hold labels of one type|must be one of the labels|pos_label"
    ):
        cc.scan(tmp_path, label="y", scores="a").curves()


def test_three_classes_over_two_files_are_refused(tmp_path):
    write_csv(tmp_path / "0.csv", "y,a\nx,0.1\ny,0.3\n")
    write_csv(tmp_path / "1.csv", "y,a\nx,0.1\nz,0.3\n")
    with pytest.raises(cc.DataError, match="two classes"):
        cc.scan(tmp_path, label="y", scores="a", pos_label="x").curves()


def test_text_that_is_not_utf8_is_refused(tmp_path):
    where = write_csv(tmp_path / "x.csv", "y,a,name\n0,0.1,é\n1,0.3,ü\n", "latin-1")
    with pytest.raises(cc.FormatError, match=r"x.csv' must be text in UTF-8"):
        cc.scan(where, label="y", scores="a").curves()


def test_a_number_that_is_none_far_down_is_refused(tmp_path):
    rows = "\n".join(f"{i % 2},0.{i}" for i in range(30_000))
    where = write_csv(tmp_path / "x.csv", f"y,a\n{rows}\n1,oops\n")
    with pytest.raises(cc.FormatError, match=r"x.csv' must be readable from the first row to the last, got: .*oops"):
        cc.scan(where, label="y", scores="a").curves()


def test_scores_that_are_not_finite_are_refused(tmp_path):
    pq.write_table(pa.table({"y": [0, 1, 0], "a": [0.1, -np.inf, np.inf]}), tmp_path / "x.parquet")
    for on_null in ("refuse", "drop"):
        with pytest.raises(cc.DataError, match="must be finite, got 2 non-finite values"):
            cc.scan(tmp_path / "x.parquet", label="y", scores="a", on_null=on_null).curves()


def test_questions_that_the_columns_cannot_answer_are_refused(path):
    src = cc.scan(path, label="y", scores="a", group="y")
    for ask in (src.hull, lambda: src.compare("a", "b"), src.compare_many, lambda: src.bcost("a", [[0, 1], [1, 0]])):
        with pytest.raises(cc.UnsupportedError, match="needs a scan without groups, got one with group='y'"):
            ask()
    with pytest.raises(cc.UnsupportedError, match="curves need score columns"):
        cc.scan(path, label="y", predictions="a").curves()
    with pytest.raises(cc.InputError, match=r"must be one of `predictions` \(none\), got 'a'"):
        cc.scan(path, label="y", scores="a").bcost("a", [[0, 1], [1, 0]])
    with pytest.raises(cc.InputError, match=r"must be one of `scores` \(a\), got 'b'"):
        cc.scan(path, label="y", scores="a").compare("a", "b")


def test_an_interrupt_stops_all_threads_and_leaves_no_files(path, tmp_path, monkeypatch):
    before = sorted(os.listdir(tmp_path))

    def interrupt(rows, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cc.scan(path, label="y", scores="a", progress=interrupt).curves()
    assert sorted(os.listdir(tmp_path)) == before
    assert not [thread for thread in threading.enumerate() if isinstance(thread, reading._Worker)]


def test_scans_say_which_extra_they_need():
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import costcurves as cc\n"
        "try: cc.scan('x.parquet', label='y', scores='a')\n"
        "except cc.MissingExtraError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == '`scan` needs pyarrow: pip install "costcurves[files]"'


@pytest.mark.parametrize("scores", [np.arange(400_000) * 0.5, np.arange(400_000) % 7], ids=["passes", "groups"])
def test_a_signal_ends_a_scan_with_no_thread_left(tmp_path, scores):
    pq.write_table(
        pa.table({"y": np.arange(scores.size) % 2, "a": scores}), tmp_path / "x.parquet", row_group_size=4000
    )
    code = (
        "import os, signal, sys, threading, time, costcurves as cc\n"
        "def tell(rows, total):\n"
        "    if rows in (4000, total): os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(0.1)\n"
        "src = cc.scan(sys.argv[1], label='y', scores='a', progress=tell, threads=2)\n"
        "try: src.curves()\n"
        "except KeyboardInterrupt: print('stopped', threading.active_count())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "x.parquet")],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (done.stdout.strip(), done.returncode) == ("stopped 1", 0), done.stderr
    assert os.listdir(tmp_path) == ["x.parquet"]


def test_an_interrupted_query_of_groups_stops_at_once():
    with duckdb.connect() as connection:
        relation = engine.Relation(
            lambda cursor: cursor.sql("select range % 7 as a from range(100_000_000_000)"), "rows", connection
        )
        timer = threading.Timer(0.3, relation.stop)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            relation.query("select a, count(*) from data group by a")
        timer.join()
        with pytest.raises(KeyboardInterrupt):
            relation.query("select 1")


def test_what_stands_in_a_path_is_no_column_of_texts(tmp_path):
    folder = tmp_path / "y=7"
    folder.mkdir()
    expected = cc.RocCurve.from_predictions(Y, A, points="hull")
    write_csv(folder / "x.csv", "y,a\n" + "\n".join(f"{y},{a}" for y, a in zip(Y, A, strict=True)))
    write_csv(folder / "x.jsonl", "\n".join(json.dumps({"y": y, "a": a}) for y, a in zip(Y, A, strict=True)))
    for name in ("x.csv", "x.jsonl"):
        assert cc.scan(folder / name, label="y", scores="a").roc_curves()["a"].tp.tolist() == expected.tp.tolist()


@pytest.mark.parametrize(("no", "yes"), [("no", "yes"), ("n", "y"), ("F", "T")])
def test_answers_in_csv_stay_texts(tmp_path, no, yes):
    rows = [f"{yes if y else no},{a},{bool(y)}" for y, a in zip(Y, A, strict=True)]
    where = write_csv(tmp_path / "x.csv", "y,a,truth\n" + "\n".join(rows))
    expected = cc.RocCurve.from_predictions(Y, A, points="hull").tp.tolist()
    assert cc.scan(where, label="y", scores="a", pos_label=yes).roc_curves()["a"].tp.tolist() == expected
    assert cc.scan(where, label="truth", scores="a").roc_curves()["a"].tp.tolist() == expected


def test_a_file_is_read_once_however_often_it_is_met(tmp_path, path, monkeypatch):
    os.symlink(tmp_path, tmp_path / "circle")
    monkeypatch.chdir(tmp_path)
    for source in (f"{tmp_path}/**/*.parquet", [path, "x.parquet", "./x.parquet", f"{tmp_path}/circle/x.parquet"]):
        assert cc.scan(source, label="y", scores="a").read()["y"].size == len(Y)


def test_a_glob_of_directories_means_the_files_in_them(tmp_path):
    for part in ("a.parquet", "b.parquet"):
        (tmp_path / part).mkdir()
        pq.write_table(TABLE, tmp_path / part / "part-0.parquet")
        (tmp_path / part / "_SUCCESS").touch()
    assert cc.scan(f"{tmp_path}/*.parquet", label="y", scores="a").read()["y"].size == 2 * len(Y)


@pytest.mark.parametrize("name", ["~.csv", "utf-8.csv"])
def test_names_that_mean_something_to_the_engine_are_plain_names(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{i % 2},0.{i}" for i in range(30_000))
    write_csv(tmp_path / name, f"y,*\n{rows}\n1,oops\n")
    with pytest.raises(cc.FormatError, match=r"must be readable from the first row to the last, got: .*oops"):
        cc.scan(name, label="y", scores="*").curves()
    write_csv(tmp_path / name, f"y,*\n{rows}\n")
    assert cc.scan(name, label="y", scores="*").read()["*"].size == 30_000


def test_json_may_be_one_array(tmp_path):
    where = write_csv(tmp_path / "x.json", json.dumps([{"y": y, "a": a} for y, a in zip(Y, A, strict=True)]))
    assert cc.scan(where, label="y", scores="a").read()["y"].tolist() == Y


def test_a_column_that_is_there_twice_is_refused_only_where_it_is_asked_for(tmp_path):
    columns = [pa.array(Y), pa.array(A), pa.array(A), pa.array(A)]
    pq.write_table(pa.Table.from_arrays(columns, names=["y", "a", "b", "b"]), tmp_path / "x.parquet")
    with pytest.raises(cc.InputError, match=r"`scores` must name one column, got 'b', which .*x.parquet' has twice"):
        cc.scan(tmp_path / "x.parquet", label="y", scores="b")
    assert cc.scan(tmp_path / "x.parquet", label="y", scores="a").curves()


def test_files_without_rows_add_nothing(tmp_path):
    rows = "\n".join(f"{y},{a}" for y, a in zip(Y, A, strict=True))
    write_csv(tmp_path / "0.csv", "")
    write_csv(tmp_path / "1.csv", "y,a\n")
    with pytest.raises(cc.DataError, match="the data must hold at least one row, got none"):
        cc.scan(tmp_path, label="y", scores="a").curves()
    write_csv(tmp_path / "2.csv", f"y,a\n{rows}\n")
    expected = cc.RocCurve.from_predictions(Y, A, points="hull").tp.tolist()
    assert cc.scan(tmp_path, label="y", scores="a").roc_curves()["a"].tp.tolist() == expected
    with pytest.raises(cc.DataError, match="must hold at least one row, got 1 empty files"):
        cc.scan(tmp_path / "0.csv", label="y", scores="a")


def test_a_column_of_nulls_without_a_type_is_missing(tmp_path):
    pq.write_table(TABLE, tmp_path / "0.parquet")
    pq.write_table(pa.table({"y": [0, 1], "a": pa.nulls(2)}), tmp_path / "1.parquet")
    with pytest.raises(cc.DataError, match=r"got 2 in 'a' \(2 of 122 rows\)"):
        cc.scan(tmp_path, label="y", scores="a").curves()
    src = cc.scan(tmp_path, label="y", scores="a", on_null="drop")
    expected = cc.RocCurve.from_predictions(Y, A, points="hull").tp.tolist()
    with pytest.warns(cc.DroppedRowsWarning, match="left out 2 of 122 rows"):
        assert src.roc_curves()["a"].tp.tolist() == expected
    assert src.dropped == 2


def test_errors_name_the_columns(tmp_path):
    pq.write_table(pa.table({"y": [0, 1, 2], "a": [0.1, np.inf, 0.2], "w": [1, -1, 1]}), tmp_path / "x.parquet")
    for options, message in [
        ({"scores": "a"}, r"`label` 'y' must hold two classes, got labels 0, 1, 2"),
        ({"scores": ["a", "w"], "label": "w"}, r"`scores` must not be the label"),
        ({"scores": "w", "label": "a"}, r"`label` 'a' must be finite"),
    ]:
        with pytest.raises(cc.CostCurvesError, match=message):
            cc.scan(tmp_path / "x.parquet", **{"label": "y", **options}).curves()
    pq.write_table(pa.table({"y": [0, 1, 1], "a": [0.1, np.inf, 0.2], "w": [1, -1, 1]}), tmp_path / "x.parquet")
    with pytest.raises(cc.DataError, match=r"`scores` 'a' must be finite, got 1 non-finite value, the first is inf$"):
        cc.scan(tmp_path / "x.parquet", label="y", scores="a").curves()
    with pytest.raises(cc.DataError, match=r"`weight` 'w' must be >= 0, got -1.0$"):
        cc.scan(tmp_path / "x.parquet", label="y", scores="w", weight="w").curves()


def test_arguments_of_the_wrong_kind_are_refused(path):
    for scores in (None, 3):
        with pytest.raises(cc.InputError, match="`scores` must be a column or a list of columns, got"):
            cc.scan(path, label="y", scores=scores)
    with pytest.raises(cc.InputError, match="`source` must be files or a connection, got Table: use from_frame"):
        cc.scan(TABLE, label="y", scores="a")
    src = cc.scan(path, label="y", scores="a", threads=np.int64(1))
    assert list(src.read("a")) == ["a"]
    with pytest.raises(cc.InputError, match="`names` must name at least one column, got none"):
        src.read([])
    with pytest.raises(cc.InputError, match=r"`names` must name a column of .* got 'b'"):
        src.read(["b"])


def test_labels_of_decimals_are_numbers(tmp_path):
    labels = pa.array(Y).cast(pa.decimal128(20, 0))
    pq.write_table(pa.table({"y": labels, "a": A}), tmp_path / "x.parquet")
    expected = cc.RocCurve.from_predictions(Y, A, points="hull").tp.tolist()
    assert cc.scan(tmp_path / "x.parquet", label="y", scores="a").roc_curves()["a"].tp.tolist() == expected


def test_very_many_groups_take_little_memory(tmp_path):
    n, groups = 3000, 1000
    y, g = np.arange(n) // groups % 2, np.arange(n) % groups
    pq.write_table(pa.table({"y": y, "a": np.arange(n) * 0.5, "g": g}), tmp_path / "x.parquet")
    src = cc.scan(tmp_path / "x.parquet", label="y", scores="a", group="g", threads=1)
    tracemalloc.start()
    curves = src.roc_curves()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(curves) == groups
    assert src.passes == 1
    assert peak < 2**26


def test_names_of_directories_are_no_columns_and_that_is_said(tmp_path):
    (tmp_path / "month=1").mkdir()
    pq.write_table(TABLE, tmp_path / "month=1" / "x.parquet")
    with pytest.raises(
        cc.InputError, match=r"got 'month', which occurs only in the path: directory names are not columns"
    ):
        cc.scan(tmp_path, label="y", scores="a", group="month")
