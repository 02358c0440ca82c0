"""Every kind of table is read alike; what is wrong with one is said in a sentence, with exit code 2."""

from __future__ import annotations

import gzip
import io
import json
import os
import shlex
import sys
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import costcurves as cc
from costcurves.cli._print import Problem
from costcurves.cli._tables import read_columns
from laws import random_worlds

PC = ("--pc", "0.5")
ROWS = "y,a,b\n1,0.9,0.2\n0,0.1,0.4\n1,0.4,0.8\n0,0.6,0.1\n"


def failing(done, *words: str) -> None:
    """Check that a command refused its input in one clear sentence, and printed nothing else."""
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith(("Error: ", "Guessed "))
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err


# Formats -----------------------------------------------------------------------------------------------------


def write_all(folder: Path) -> list[str]:
    """Write the same table in every format."""
    table = pa.table({"y": [1, 0, 1, 0], "a": [0.9, 0.1, 0.4, 0.6], "b": [0.2, 0.4, 0.8, 0.1]})
    (folder / "t.csv").write_text(ROWS)
    (folder / "semicolon.csv").write_text(ROWS.replace(",", ";"))
    (folder / "tabs.tsv").write_text(ROWS.replace(",", "\t"))
    (folder / "t.csv.gz").write_bytes(gzip.compress(ROWS.encode()))
    (folder / "bom.csv").write_bytes(b"\xef\xbb\xbf" + ROWS.replace("\n", "\r\n").encode())
    (folder / "UPPER.CSV").write_text(ROWS)
    pq.write_table(table, folder / "t.parquet")
    lines = "".join(json.dumps(row) + "\n" for row in table.to_pylist())
    (folder / "t.jsonl").write_text(lines)
    (folder / "array.json").write_text(json.dumps(table.to_pylist()))
    (folder / "t.ndjson.gz").write_bytes(gzip.compress(lines.encode()))
    (folder / "t.txt").write_text(ROWS.replace(",", "|"))
    with pa.CompressedOutputStream(str(folder / "t.csv.zst"), "zstd") as packed:
        packed.write(ROWS.encode())
    with duckdb.connect(str(folder / "t.duckdb")) as database:
        database.register("arrow", table)
        database.execute("create table only_one as from arrow")
    return [path.name for path in folder.iterdir()]


def test_every_format_gives_the_same_answer(run, tmp_path):
    answers = {}
    for name in write_all(tmp_path):
        done = run("decide", name, *PC, "--json")
        assert done.code == 0, done.err
        answers[name] = done.json["decisions"]
    assert len(answers) == 13
    assert all(answer == answers["t.csv"] for answer in answers.values())


def test_globs_folders_and_tables_are_read_like_one_file(run, tmp_path):
    names = write_all(tmp_path)
    (tmp_path / "parts").mkdir()
    for i, rows in enumerate((ROWS, ROWS.replace("0.9", "0.7"))):
        (tmp_path / "parts" / f"{i}.csv").write_text(rows)
    (tmp_path / "both.csv").write_text(ROWS + "".join(ROWS.replace("0.9", "0.7").splitlines(keepends=True)[1:]))
    assert "t.duckdb" in names
    with duckdb.connect(str(tmp_path / "t.duckdb")) as database:
        database.execute("create schema s")
        database.execute("create table s.two as from read_csv('both.csv')")
    expected = run("decide", "both.csv", *PC, "--json").json
    for source in ("parts", "parts/*.csv", "t.duckdb:s.two"):
        found = run("decide", source, *PC, "--json")
        assert found.code == 0, found.err
        assert found.json["decisions"] == expected["decisions"]
        assert found.json["data"]["rows"] == 8
    failing(run("decide", "t.duckdb", *PC), "name a table, such as t.duckdb:TABLE", "'only_one' and 's.two'")
    failing(run("decide", "t.duckdb:three", *PC), "name a table, such as t.duckdb:TABLE")
    (tmp_path / "parts" / "2.csv").write_text("y,c\n1,0.5\n")
    failing(run("decide", "parts", *PC), "parts cannot be read: all files must have the same columns")
    (tmp_path / "parts" / "2.csv").write_text("y,a,b\n1,high,1\n0,low,2\n")
    told = "parts cannot be read: column 'a' must have the same type in all files, got "
    failing(run("decide", "parts", *PC), told, "0.csv' and string in ", "2.csv")


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.csv.zst", "tabs.tsv", "t.jsonl", "t.ndjson.gz", "t.parquet"])
def test_standard_input_is_a_table_of_any_format(run, tmp_path, monkeypatch, name):
    write_all(tmp_path)
    expected = run("decide", "t.csv", *PC, "--json").json["decisions"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((tmp_path / name).read_bytes())))
    done = run("decide", "-", *PC, "--json")
    assert done.code == 0, done.err
    assert done.json["decisions"] == expected
    assert done.json["data"]["source"] == "standard input"


@pytest.mark.parametrize(
    ("data", "words"), [(b"", "is empty"), (b"y,a\n1,2,3\n", "cannot be read: standard input must")]
)
def test_what_is_wrong_with_standard_input_is_said_of_it(run, monkeypatch, data, words):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    failing(run("decide", "-", *PC), "standard input " + words)


def test_a_closed_standard_input_is_said_to_be_closed(run, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)  # as Python sets it
    failing(run("decide", "-", *PC), "standard input is closed")


def test_a_name_with_a_nul_character_is_refused(run, table):
    table("t.csv", "y,a\0b,c\n0,0.1,0.2\n1,0.3,0.4\n")
    for command in (("decide", "t.csv", *PC), ("doctor", "t.csv")):
        failing(run(*command), "must have names without NUL characters")


@pytest.mark.law
@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_the_command_line_reads_what_a_scan_reads(tmp_path, ending):
    for rng in random_worlds(8, stream=1702):
        n = int(rng.integers(2, 40))
        y = rng.integers(0, 2, n)
        table = pa.table(
            {"y": np.where(y == 1, "yes", "no"), "a": rng.normal(size=n), "b": rng.integers(-9, 9, n), "t": y == 1}
        )
        path = tmp_path / f"x{ending}"
        if ending == ".csv":
            pa.csv.write_csv(table, path)
        elif ending == ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
        else:
            pq.write_table(table, path)
        mine = read_columns(path).table
        theirs = cc.scan(path, label="y", scores=["a", "b"], predictions="t", progress=False).read()
        assert {name: mine.column(name).to_pylist() for name in mine.column_names} == {
            name: values.tolist() for name, values in theirs.items()
        }
        assert mine.to_pydict() == table.to_pydict()


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        ([True, False, True, False], ()),
        ([1, -1, 1, -1], ()),
        ([1.0, 0.0, 1.0, 0.0], ("--label", "y")),
        (["yes", "no", "yes", "no"], ("--positive", "yes")),
        ([2, 1, 2, 1], ("--positive", "2")),
        ([2.0, 1.0, 2.0, 1.0], ("--label", "y", "--positive", "2")),
        ([True, False, True, False], ("--positive", "true")),
        (pa.array(["yes", "no", "yes", "no"]).dictionary_encode(), ("--positive", "yes")),
    ],
)
def test_labels_of_any_type_are_understood(run, tmp_path, labels, positive):
    pq.write_table(pa.table({"y": labels, "a": [0.9, 0.1, 0.4, 0.6]}), tmp_path / "t.parquet")
    done = run("decide", "t.parquet", "--score", "a", *positive, *PC, "--json")
    assert done.code == 0, done.err
    assert done.json["decisions"][0]["classifiers"][0]["normalized_cost"] == 0.25


def test_whole_number_scores_are_used_when_they_are_named(run, table):
    path = table("t.csv", "y,fold,rating\n1,0,9\n0,1,1\n1,0,4\n0,1,6\n")
    failing(run("decide", path, "--label", "y", *PC), "say with --score which columns", "none holds decimals")
    done = run("decide", path, "--label", "y", "--score", "rating", *PC, "--json")
    assert done.json["decisions"][0]["classifiers"][0]["threshold"] == 9.0


# Guesses -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "guess"),
    [
        ("target,id,a", "--label target"),
        ("Outcome,flag,a", "--label Outcome"),
        ("spam,id,a", "--label spam"),
    ],
)
def test_guesses_are_said_aloud(run, table, header, guess):
    third = ["0", "1", "0", "1"] if "flag" in header else ["5", "6", "7", "8"]
    rows = list(zip(["1", "0", "1", "0"], third, ["0.9", "0.1", "0.4", "0.6"], strict=True)) * 30
    path = table("t.csv", header + "\n" + "".join(",".join(row) + "\n" for row in rows))
    done = run("ranges", path, "--verbose")
    assert done.code == 0
    told = [line for line in done.err.splitlines() if line.startswith("Guessed ")]
    assert told == [f"Guessed {guess} --score a --positive 1"]
    why = "the only column with two values" if header.startswith("spam") else "by its name"
    assert f"{guess}: {why}" in done.err


def test_nothing_is_said_when_nothing_is_guessed(run, table):
    path = table("t.csv", "y,a\n" + "".join(f"{i % 2},{(i * 7 + i % 2 * 20) % 83}\n" for i in range(80)))
    given = ("--label", "y", "--score", "a", "--positive", "1")
    assert run("decide", path, *given, *PC).err == ""
    assert run("decide", path, *given, *PC, "--strict").code == 0


def test_strict_refuses_what_would_be_guessed_and_says_what_to_write(run, table):
    path = table("t.csv", "y,two words,it's\n" + "".join(f"{i % 2},0.{i},{i / 8}\n" for i in range(9)))
    done = run("ranges", path, "--strict")
    failing(done, "--strict: nothing is guessed")
    words = shlex.split(done.err.split("for example: ")[1])
    assert words == ["--label", "y", "--score", "two words", "--score", "it's", "--positive", "1"]
    assert run("ranges", path, *words, "--strict").code == 0
    failing(run("bcost", "example:vehicle", "--costs", "example:vehicle", "--strict"), "for example: --label ")


@pytest.mark.parametrize(
    "name", ["weight", "sample_weight", "w", "patient_id", "customerID", "index", "n_fold", "date"]
)
def test_weights_and_identifiers_are_never_taken_for_classifiers(run, table, name):
    rows = "".join(f"{i % 2},{i % 7 / 2},{(i * 7 + i % 2 * 20) % 83 / 83}\n" for i in range(80))
    done = run("ranges", table("t.csv", f"y,{name},forest\n{rows}"), "--json")
    assert done.json["data"]["classifiers"] == ["forest"]
    only = run("ranges", table("u.csv", f"y,{name}\n" + "".join(f"{i % 2},{i % 7 / 2}\n" for i in range(80))))
    failing(only, "none holds decimals that may be scores", f"'{name}' looks like")


def test_row_numbers_are_never_taken_for_a_classifier(run, table):
    rows = "".join(f"{i}.0,{i % 2},{(i * 7 + i % 2 * 20) % 83 / 83}\n" for i in range(80))
    assert run("ranges", table("t.csv", f"Unnamed: 0,y,a\n{rows}"), "--json").json["data"]["classifiers"] == ["a"]


# Decimal commas ----------------------------------------------------------------------------------------------


def test_decimal_commas_give_the_same_answer_as_points(run, table):
    rows = [(i % 2, (i * 7 + i % 2 * 20) % 83 / 80, -1000.5 * i, 1 + i / 4) for i in range(80)]
    text = "y;a;b;weight\n" + "".join(";".join(map(repr, row)) + "\n" for row in rows)
    points = run("decide", table("p.csv", text), *PC, "--weight", "weight", "--json").json
    commas = run("decide", table("c.csv", text.replace(".", ",")), *PC, "--weight", "weight", "--json")
    assert commas.json["decisions"] == points["decisions"]
    assert commas.json["data"]["guessed"] == ["--label y", "--score a --score b", "--decimal-comma", "--positive 1"]
    given = ("--label", "y", "--score", "a", "--positive", "1", "--strict")
    failing(run("ranges", "c.csv", *given), "for example: --decimal-comma")
    assert run("ranges", "c.csv", *given, "--decimal-comma").code == 0


def test_a_comma_that_may_separate_thousands_is_not_guessed(run, table):
    path = table("t.csv", "y;a\n" + "".join(f"{i % 2};{i + 1},{100 + i}\n" for i in range(9)))
    failing(run("ranges", path, "--score", "a"), "row 1 has '1,100': for decimal commas add --decimal-comma")
    assert run("ranges", path, "--score", "a", "--decimal-comma").code == 0
    mixed = table("m.csv", "y;a\n" + "".join(f"{i % 2};{i + 1}.000,{i}\n" for i in range(9)))
    assert run("curve", mixed, "--score", "a", "--csv").code == 0


def test_an_ambiguous_label_is_asked_for(run, table):
    path = table("t.csv", "won,paid,a\n1,0,0.9\n0,1,0.1\n1,1,0.4\n0,0,0.6\n")
    failing(run("decide", path, *PC), "say with --label which column of t.csv", "'won' or 'paid'")


def test_a_positive_label_is_asked_for(run):
    done = run("decide", "example:german_credit", *PC)
    failing(done, "say which label is the positive one", "--positive 'bad' or --positive 'good'")


# What can be wrong -------------------------------------------------------------------------------------------


def test_a_missing_file_gets_the_nearest_name_suggested(run, table, tmp_path):
    table("scores.csv", ROWS)
    failing(run("decide", "score.csv", *PC), "score.csv: no such file; did you mean 'scores.csv'?")
    failing(run("decide", "nowhere/score.csv", *PC), "no such file")
    (tmp_path / "nothing").mkdir()
    failing(
        run("decide", "nothing", *PC), "nothing cannot be read: it ", "must be a directory with files of a known format"
    )
    failing(run("decide", "*.parquet", *PC), "*.parquet cannot be read: it ", "must match at least one file")
    failing(run("decide", "example:nothing", *PC), "there are example:german_credit and example:vehicle")


def test_a_missing_file_is_named_before_anything_else(run, table):
    failing(run("decide", "nowhere.csv"), "nowhere.csv: no such file")
    failing(run("ranges", "nowhere.csv", "--costs", "nothing.toml"), "nowhere.csv: no such file")


def test_a_cost_matrix_is_sent_to_the_commands_that_take_one(run, table):
    table("costs.csv", "true,a,b\na,0,1\nb,5,0\n")
    failing(run(*CREDIT, "--costs", "costs.csv"), "goes with bcost, bdeltacost and report --pred")


def test_columns_of_numbers_that_were_not_taken_are_named(run, table):
    rows = [f"{i % 2},{0.1 * (i % 7) + 0.3 * (i % 2):.2f},{i % 9},{i}" for i in range(40)]
    table("t.csv", "y,model,rules,id\n" + "\n".join(rows))
    done = run("decide", "t.csv", *PC)
    assert "Not taken for scores: 'rules' holds whole numbers and 'id' holds whole numbers. If one is" in done.err
    assert "Not taken" not in run("decide", "t.csv", *PC, "--score", "model").err
    table("t.csv", "y,model,large\n" + "\n".join(f"{row.rsplit(',', 2)[0]},{10**30}" for row in rows))
    assert "Not taken for scores: 'large' holds whole numbers." in run("decide", "t.csv", *PC).err


def test_exact_decimals_that_were_not_taken_for_scores_are_named(run, tmp_path):
    exact = pa.array([Decimal(i % 9).scaleb(-1) for i in range(40)], pa.decimal128(9, 2))
    columns = {"y": [i % 2 for i in range(40)], "model": [0.1 * (i % 7) for i in range(40)], "exact": exact}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    assert "Not taken for scores: 'exact' holds exact decimals." in run("decide", "t.parquet", *PC).err


def test_a_wrong_column_gets_the_nearest_names_suggested(run):
    here = ("example:german_credit", "--positive", "bad", *PC)
    failing(run("decide", *here, "--score", "forrest"), "--score 'forrest': there is no such column", "'forest'")
    failing(run("decide", *here, "--label", "zzz"), "--label 'zzz'", "it has 'label', 'fold', 'logit'")
    failing(run("decide", *here, "--weight", "wt"), "--weight 'wt'")
    failing(run("bcost", "example:vehicle", "--costs", "example:vehicle", "--pred", "tree"), "--pred 'tree'")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.csv", "", "is empty"),
        ("t.csv", "y,a\n", "has no rows"),
        ("t.csv", "y,a,a\n1,2,3\n", "there is more than one column 'a'"),
        ("t.csv", "y,a\n1,2,3\n", "t.csv cannot be read: "),
        ("t.parquet", "y,a\n1,2\n", "cannot be read: "),
        ("t.jsonl", "{'y'", "cannot be read: "),
        ("t.csv.gz", "y,a\n1,2\n", "cannot be read: "),
        ("t.xlsx", ROWS, "must end in .csv, .tsv, .txt, .parquet, .jsonl or .duckdb"),
        ("t.csv", ROWS.replace("0.9", "high"), "--score 'a': the column must hold numbers, but row 1 has 'high'"),
        ("t.csv", ROWS.replace("0.9", "inf"), "--score 'a': 1 of 4 values are infinite, the first in row 1"),
        (
            "t.csv",
            ROWS.replace("1,0.9", "2,0.9"),
            "--label 'y': two classes are needed, and the column has 3: '0', '1'",
        ),
        ("t.csv", "y,a\n1,0.5\n1,0.2\n", "--label 'y': two classes are needed, and the column has 1: '1'"),
    ],
)
def test_a_bad_table_is_refused(run, table, name, content, words):
    table(name, content)
    failing(run("decide", name, "--label", "y", "--score", "a", *PC), words)


@pytest.mark.parametrize("hole", ["", "NaN", "NA", "null"])
def test_missing_values_are_counted_and_dropped_only_on_request(run, table, hole):
    path = table("t.csv", ROWS.replace("0.9", hole) + f"1,{hole},0.3\n,0.5,0.5\n")
    done = run("decide", path, "--label", "y", "--score", "a", *PC)
    failing(done, "3 of 6 rows lack a value ('y' in 1, 'a' in 2), the first is row 1", "--drop-missing")
    done = run("decide", path, "--label", "y", "--score", "a", "--drop-missing", *PC, "--json")
    assert (done.json["data"]["rows"], done.json["data"]["dropped"]) == (3, 3)
    text = run("decide", path, "--label", "y", "--score", "a", "--drop-missing", *PC).out
    assert "3 rows, 1 of them 1 (33.3 %), 1 classifier, 3 incomplete rows dropped" in text


def test_a_table_without_complete_rows_is_refused(run, table):
    path = table("t.csv", "y,a\nyes,\nno,\n,0.5\n")
    failing(run("decide", path, "--label", "y", "--score", "a", "--drop-missing", *PC), "no row has all values")


def test_missing_predictions_are_counted_too(run, table):
    path = table("t.csv", "label,m\na,a\nb,\nb,b\n")
    costs = table("m.csv", "true,a,b\na,0,1\nb,1,0\n")
    failing(run("bcost", path, "--pred", "m", "--costs", costs), "1 of 3 rows lack a value ('m' in 1)")
    assert run("bcost", path, "--pred", "m", "--costs", costs, "--drop-missing", "--json").json["data"]["dropped"] == 1


CREDIT = ("decide", "example:german_credit", "--positive", "bad")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "say what errors cost where the classifier will be used: --prevalence, --cost-fn and --cost-fp"),
        (("--prevalence", "0.3", "--cost-fn", "5"), "--cost-fp is missing"),
        (("--prevalence", "1.4", "--cost-fn", "5", "--cost-fp", "1"), "--prevalence must be in (0, 1), got 1.4"),
        (("--prevalence", "0.3", "--cost-fn", "-5", "--cost-fp", "1"), "--cost-fn must be >= 0, got -5"),
        (
            ("--prevalence", "x", "--cost-fn", "5", "--cost-fp", "1"),
            "--prevalence must be a number or a range LOW..HIGH",
        ),
        (("--prevalence", "30%", "--cost-fn", "5", "--cost-fp", "1"), "LOW..HIGH, got '30%': write 0.3"),
        (("--prevalence", "0,3", "--cost-fn", "5", "--cost-fp", "1"), "LOW..HIGH, got '0,3': write 0.3"),
        (("--prevalence", "0.3", "--cost-fn", "5€", "--cost-fp", "1"), "LOW..HIGH, got '5€'\n"),
        (("--prevalence", "0.1..0.2..3", "--cost-fn", "5", "--cost-fp", "1"), "must be a number or a range LOW..HIGH"),
        (("--prevalence", "0.4..0.1", "--cost-fn", "5", "--cost-fp", "1"), "--prevalence must be a pair (low, high)"),
        (("--pc", "1.5"), "--pc must be in [0, 1], got 1.5"),
        (("--pc", "0.5", "--prevalence", "0.3"), "--pc and --prevalence exclude each other"),
        (("--pc", "0.5", "--costs", "c.toml"), "--costs and --pc exclude each other"),
        (
            ("--policy", "crossfit"),
            "--policy crossfit is for compare and curve: decide says what its threshold will cost",
        ),
        (("--slope", "-1"), "--slope must be >= 0, got -1"),
        (("--slope", "nan"), "--slope must be finite, got nan"),
        (("--slope", "2..1"), "--slope must be a pair (low, high) with low <= high, got (2.0, 1.0)"),
        (("--slope", "steep"), "--slope must be a number or a range LOW..HIGH, got 'steep'"),
        (("--slope", "1", "--pc", "0.5"), "--pc and --slope exclude each other"),
        (("--slope", "1", "--cost-fn", "5"), "--slope and --cost-fn exclude each other"),
        (("--scenario", "x", "--pc", "0.5"), "--scenario needs the file of scenarios"),
        (("--costs", "nothing.toml"), "nothing.toml: no such file"),
        (
            ("--costs", "example:german_credit", "--scenario", "x"),
            "the scenarios in example:german_credit are 'documented'",
        ),
        (("--costs", "example:vehicle"), "example:vehicle has no scenarios"),
        (("--pc", "0.5", "--level", "95"), "--level must be in (0, 1), got 95"),
        (("--pc", "0.5", "--policy", "best"), "--policy must be optimal, crossfit, bayes or a number, got 'best'"),
        (("--pc", "0.5", "--policy", "bayes", "--thresholds-from", "x.csv"), "--policy and --thresholds-from exclude"),
        (("--pc", "0.5", "--positive", "Bad"), "the labels in 'label' are 'bad' and 'good'; did you mean 'bad'?"),
        (("--pc", "0.5", "--positive", "ugly"), "--positive 'ugly': the labels in 'label' are 'bad' and 'good'"),
        (("--pc", "0.5", "--json", "--csv"), "--json and --csv exclude each other"),
    ],
)
def test_bad_options_are_refused(run, options, words):
    failing(run(*CREDIT, *options), words)


def test_a_scenario_out_of_range_is_found_on_its_line(run, table):
    table("costs.toml", "[scenarios.rush]\ncost_fn = 1\ncost_fp = 2\nprevalence = 1.4\n")
    done = run(*CREDIT, "--costs", "costs.toml")
    failing(done, "Error: costs.toml:4: scenario 'rush': `prevalence` must be in (0, 1), got 1.4")


@pytest.mark.parametrize(
    "arguments", [("decide",), ("nothing",), ("decide", "t.csv", "--nothing"), ("decide", "a", "b")]
)
def test_bad_usage_has_exit_code_2(run, arguments):
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "Usage: costcurves" in done.err


VEHICLE = ("example:vehicle", "--costs", "example:vehicle")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("compare", *CREDIT[1:], "--score", "forest"), "two classifiers or more are needed"),
        (("compare", *CREDIT[1:], "--costs", "example:german_credit"), "choose one scenario with --scenario"),
        (
            ("bdeltacost", *VEHICLE, "--assert-better-than", "always 'boat'"),
            "'always 'boat'' is not one of the classifiers",
        ),
        (("bcost", *VEHICLE, "--matrix", "x"), "`matrix` must be one of the matrices 'toll'"),
        (
            ("bcost", "example:vehicle", "--costs", "example:german_credit"),
            "one cost matrix is needed; it has no matrix",
        ),
        (("bcost", "example:german_credit", "--costs", "example:vehicle"), "say with --pred which columns"),
        (("bcost", "example:vehicle", "--costs", "m.csv"), "has classes that the cost matrix lacks: 'bus', 'opel'"),
        (("bcost", "example:vehicle", "--costs", "wide.csv"), "this has 1 rows and 2 further columns"),
        (("bcost", "example:vehicle", "--costs", "odd.csv"), "rows are a and b, but columns are a and c"),
        (("bcost", "example:vehicle", "--costs", "m.csv", "--matrix", "x"), "--matrix names a matrix in a .toml file"),
        (("plan", *VEHICLE, "--pred", "logit"), "one of --half-width and --difference"),
        (("plan", *VEHICLE, "--half-width", "1"), "--half-width goes with 1 --pred, got 3"),
        (("plan", *VEHICLE, "--pred", "logit", "--difference", "1"), "--difference goes with 2 --pred, got 1"),
        (("hull", "show", "hull.json"), "hull.json: no such file"),
        (("hull", "show", "m.csv"), "`text` must be JSON"),
        (("report", *CREDIT[1:], "-o", "page.pdf"), "--output must end in .html or .json, got page.pdf"),
        (("curve", *CREDIT[1:], "-o", "c.gif"), "--output must end in .svg, .png, .pdf"),
        (("hull", "add", "no/hull.json", *CREDIT[1:]), "cannot be written: there is no folder no"),
        (("demo", "-o", "m.csv"), "m.csv is a file: name a folder"),
    ],
)
def test_commands_refuse_what_they_cannot_do(run, table, arguments, words):
    table("m.csv", "true,a,b\na,0,1\nb,1,0\n")
    table("wide.csv", "true,a,b\na,0,1\n")
    table("odd.csv", "true,a,c\na,0,1\nb,1,0\n")
    failing(run(*arguments), words)


# Outputs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [("decide", *CREDIT[1:], *PC), ("curve", *CREDIT[1:]), ("report", *CREDIT[1:]), ("bcost", *VEHICLE)],
)
def test_an_existing_output_is_replaced_only_by_force(run, reports, tmp_path, arguments):
    name = {"curve": "c.svg", "report": "r.html"}.get(arguments[0], "a.txt")
    (tmp_path / name).write_text("mine")
    failing(run(*arguments, "-o", name), f"{name} exists already: choose another name, or replace it with --force")
    assert (tmp_path / name).read_text() == "mine"
    assert run(*arguments, "-o", name, "--force").code == 0
    assert (tmp_path / name).read_text() != "mine"


def test_an_output_without_a_folder_is_refused_before_anything_is_read(run):
    failing(run("decide", "nothing.csv", *PC, "-o", "no/a.txt"), "no/a.txt cannot be written: there is no folder no")
    failing(run("decide", "nothing.csv", *PC, "-o", "."), "is a folder: name a file")


def test_an_unwritable_output_is_an_error_and_leaves_nothing(run, monkeypatch, tmp_path):
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "a.json")

    monkeypatch.setattr("costcurves.cli._print.write_atomically", refuse)
    failing(run("decide", *CREDIT[1:], "--score", "tree", *PC, "-o", "a.json"), "Permission denied", "a.json")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_nothing_half_written(run, monkeypatch, tmp_path):
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cc.Predictions, "recommend", interrupt)
    done = run("decide", *CREDIT[1:], "--score", "tree", *PC, "-o", "a.json")
    assert (done.code, done.out) == (130, "")
    assert "Interrupted; no file is left incomplete." in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_report_without_its_extra_says_what_to_install(run, monkeypatch, reports, tmp_path):
    def refuse(*_: object, **__: object) -> None:
        raise cc.MissingExtraError('the page needs altair: pip install "costcurves[report]"')

    monkeypatch.setattr(cc.Report, "write_html", refuse)
    failing(run("report", *CREDIT[1:], "-o", "r.html"), 'pip install "costcurves[report]"')
    assert list(tmp_path.iterdir()) == []


def test_a_table_without_pyarrow_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    failing(run(*CREDIT, *PC), 'reading tables needs pyarrow: pip install "costcurves[cli]"')


def test_a_picture_without_matplotlib_says_what_to_install(run, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    done = run("curve", *CREDIT[1:], "--score", "tree", "-o", "c.svg")
    failing(done, 'pip install "costcurves[plot]"')
    assert list(tmp_path.iterdir()) == []


def test_reading_keeps_the_numbers_exactly(tmp_path):
    values = np.random.default_rng(5).normal(size=200)
    (tmp_path / "t.csv").write_text("a\n" + "".join(f"{float(v)!r}\n" for v in values))
    assert read_columns(tmp_path / "t.csv").table.column("a").to_numpy().tolist() == values.tolist()
    with pytest.raises(Problem, match="no such file"):
        read_columns(tmp_path / "u.csv")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("y:a\n1:0.9\n0:0.1\n", "only one column, 'y:a': a delimiter is one of comma, semicolon, tab and |"),
        ("y,a\n1,0.9\n1,0.1\n", "--label 'y': two classes are needed, and the column has 1: '1'"),
        ("y,a\np,0.9\nq,0.1\nr,0.1\n", "has 3: 'p', 'q', 'r' (for more classes see bcost, and report --pred)"),
    ],
)
def test_what_is_probably_wrong_with_a_table_is_said(run, table, text, words):
    table("t.csv", text)
    failing(run("decide", "t.csv", *PC), words)


@pytest.mark.parametrize("text", ["caf\xe9,y,a\n1,0,0.1\n1,1,0.2\n", "y,a\ncaf\xe9,0.1\nb,0.2\n"])
def test_a_table_in_another_code_is_refused(run, tmp_path, text):
    (tmp_path / "t.csv").write_bytes(text.encode("latin-1"))
    failing(run("decide", "t.csv", *PC), "t.csv cannot be read: it is not UTF-8 text")


def test_labels_that_are_decimals_are_found_by_their_name(run, table):
    table("t.csv", "y,a\n0.0,0.1\n1.0,0.2\n")
    done = run("decide", "t.csv", *PC)
    assert (done.code, "Guessed --label y " in done.err) == (0, True)


@pytest.mark.parametrize(("text", "words"), [("[1, 2]", "must hold objects, one per row"), ("[{", "cannot be read: ")])
def test_a_broken_array_is_refused(run, table, text, words):
    table("t.json", text)
    failing(run("decide", "t.json", *PC), words)


def test_a_file_that_is_no_hull_is_named(run, table):
    table("h.json", "hello")
    failing(run("hull", "show", "h.json"), "h.json holds no hull: ")


def test_a_folder_that_cannot_be_written_is_named_before_the_work(run, table, monkeypatch):
    table("t.csv", ROWS)
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
    monkeypatch.setattr(
        cc.Predictions, "recommend", lambda *a, **k: pytest.fail("computed although it cannot be written")
    )
    failing(run("decide", "t.csv", *PC, "-o", "x.json"), "x.json cannot be written: the folder . is read-only")


def test_an_error_of_the_system_names_the_file_that_was_asked_for(run, table, monkeypatch):
    table("t.csv", ROWS)

    def refuse(path, *rest):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("costcurves._base.files.os.open", refuse)
    failing(run("decide", "t.csv", *PC, "-o", "x.json"), "Error: x.json: Permission denied")


def test_a_matrix_in_a_csv_makes_a_report_of_predicted_classes(run, reports, table):
    table("k.csv", "truth,p\nx,x\ny,x\nx,y\ny,y\n")
    table("m.csv", "true,x,y\nx,0,1\ny,2,0\n")
    done = run("report", "k.csv", "--costs", "m.csv", "-o", "r.html")
    assert done.code == 0, done.err
    assert list(reports[0]["predictions"]) == ["p"]


def test_a_fault_of_the_program_is_no_failed_gate(run, table, monkeypatch):
    def broken(*arguments, **options):
        raise RuntimeError("a bug")

    table("t.csv", ROWS)
    monkeypatch.setattr(cc.Predictions, "recommend", broken)
    done = run("decide", "t.csv", *PC)
    assert (done.code, done.out) == (70, "")
    assert "RuntimeError: a bug" in done.err
    assert "please report it" in done.err


def test_a_table_of_predicted_classes_is_told_which_commands_take_it(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("truth,doctor\n" + "a,a\nb,a\nc,c\n" * 5, encoding="utf-8")
    failing(run("decide", path, "--label", "truth", *PC), "none holds decimals", "for more classes see bcost")
