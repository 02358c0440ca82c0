"""The first line of a CSV file names its columns, and no row is lost or skipped without a word."""

from __future__ import annotations

import csv
import gzip
import io

import pytest

import costcurves as cc
from costcurves.data.readers.duckdb import header_of
from laws import random_worlds

CELLS = ["a", "A", "it's", 'say "hi"', "x;y", "x,y", "tab\there", "|", "two\nlines", "ü", "#1", " b "]


@pytest.mark.law
def test_headers_are_read_as_python_reads_them(tmp_path):
    for rng in random_worlds(25, stream=1701):
        delimiter = [",", ";", "\t", "|"][rng.integers(4)]
        names = [f"{CELLS[rng.integers(len(CELLS))]}{i}" for i in range(rng.integers(2, 6))]
        buffer = io.StringIO(newline="")
        # DuckDB takes one kind of end of line, and a quoted name after a byte order mark only if it is plain.
        ends = "\n" if any("\n" in name for name in names) else "\r\n"
        marked = names[0].isalnum() and bool(rng.integers(2))
        writer = csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator=ends)
        writer.writerow(names)
        rows = [[int(i % 2), *rng.normal(size=len(names) - 1).tolist()] for i in range(rng.integers(4, 12))]
        writer.writerows(rows)
        path = tmp_path / "x.csv.gz"
        path.write_bytes(gzip.compress(buffer.getvalue().encode("utf-8-sig" if marked else "utf-8")))
        found = header_of(str(path))
        assert (found.delimiter, found.names) == (delimiter, tuple(names))
        read = cc.scan(path, label=names[0], scores=names[1:], progress=False).read()
        assert [read[name].tolist() for name in names] == [list(column) for column in zip(*rows, strict=True)]


def test_columns_that_differ_in_case_are_two_and_repeated_ones_are_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("y,A,a,b,b\n1,0.5,7.0,1,2\n0,0.25,9.0,3,4\n")
    src = cc.scan(path, label="y", scores=["a", "A"])
    assert {name: values.tolist() for name, values in src.read().items()} == {
        "y": [1, 0],
        "a": [7.0, 9.0],
        "A": [0.5, 0.25],
    }
    path.write_text("y,A,a\n" + "1,2,5\n0,1,6\n1,2,5\n1,2,6\n0,1,5\n" * 20)  # so many ties that DuckDB would group
    for name, thresholds in (("a", [6, 5]), ("A", [2, 1])):
        curve = cc.scan(path, label="y", scores=name).roc_curves(points="all")[name]
        assert curve.thresholds.tolist()[1:] == thresholds
    path.write_text("y,A,a,b,b\n1,0.5,7.0,1,2\n0,0.25,9.0,3,4\n")
    with pytest.raises(
        cc.InputError, match=r"`scores` must name one column, got 'b', which .*x.csv' has twice or more"
    ):
        cc.scan(path, label="y", scores="b")


@pytest.mark.parametrize(
    "text",
    [
        "y,a\n1,0.5\n0,0.7\n1,0.25,3\n",  # a row that is too long
        "y,a,b\n1,0.5,1\n0,0.7\n1,0.25,3\n",  # one that is too short
        "# made today\ny,a\n1,0.5\n0,0.7\n",  # something before the header
    ],
)
def test_rows_of_another_length_are_refused(tmp_path, text):
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(cc.CostCurvesError):
        cc.scan(path, label="y", scores="a").read()


def test_rows_that_look_like_comments_are_rows(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("g,y,a\n#1,1,0.5\n#2,0,0.7\nx,1,0.9\n")
    assert cc.scan(path, label="y", scores="a", group="g").read()["g"].tolist() == ["#1", "#2", "x"]
