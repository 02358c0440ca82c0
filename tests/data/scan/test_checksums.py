"""A damaged Parquet file whose pages have checksums is refused: no flip of a bit changes an answer without a word."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import costcurves as cc
from costcurves.data.readers.checksums import has_checksums
from costcurves.data.readers.duckdb import connect
from costcurves.data.readers.files import DataFile
from laws import random_worlds

KINDS = {
    "dictionary": {"use_dictionary": True},
    "plain": {"use_dictionary": False, "data_page_version": "2.0"},
    "packed": {"use_dictionary": False, "compression": "zstd", "row_group_size": 25},
}
FLIPS = 100


def rows(rng, ties):
    y = rng.integers(0, 2, 60)
    y[:2] = 0, 1
    a = (y + rng.normal(size=60)).round(0 if ties else 9)
    return pa.table({"y": np.where(y == 1, "bad", "good"), "a": pa.array(a, mask=rng.random(60) < 0.1), "w": y + 1})


def answer(path, **options):
    """Return what a scan says of a file, or None where it refuses it."""
    try:
        src = cc.scan(
            path, label="y", scores="a", pos_label="bad", on_null="drop", threads=1, progress=False, **options
        )
        return {name: curve.to_dict() for name, curve in src.roc_curves().items()}, src.dropped
    except cc.CostCurvesError:
        return None


@pytest.mark.law
@pytest.mark.filterwarnings("ignore::costcurves.DroppedRowsWarning")
@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("ties", [False, True], ids=["passes", "groups"])
def test_a_flipped_bit_is_refused_or_changes_nothing(tmp_path, kind, ties):
    for rng in random_worlds(1, stream=3101 + 10 * ties + len(kind)):
        path = tmp_path / "x.parquet"
        pq.write_table(rows(rng, ties), path, write_page_checksum=True, **KINDS[kind])
        whole, data = answer(path), path.read_bytes()
        assert whole is not None
        refused = 0
        for bit in rng.choice(8 * len(data), FLIPS // 2 if ties else FLIPS, replace=False).tolist():
            flipped = bytearray(data)
            flipped[bit // 8] ^= 1 << bit % 8
            path.write_bytes(flipped)
            found = answer(path)
            refused += found is None
            assert found in (None, whole), f"bit {bit % 8} of byte {bit // 8} of {len(data)}"
        assert refused > FLIPS // 8


def flipped_rows(path):
    """Write a file whose footer says of its one row group that it has 56 rows instead of 60."""
    metadata = pq.ParquetFile(path).metadata
    data = path.read_bytes()
    for bit in range(8 * metadata.serialized_size):
        flipped = bytearray(data)
        flipped[-8 - bit // 8 - 1] ^= 1 << bit % 8
        try:
            other = pq.ParquetFile(pa.BufferReader(bytes(flipped))).metadata
            if other.num_rows == metadata.num_rows and other.row_group(0).num_rows != metadata.row_group(0).num_rows:
                path.write_bytes(flipped)
                return
        except (OSError, pa.ArrowException):
            continue
    pytest.fail("no bit of the footer changes the number of rows")


def test_row_groups_must_have_the_rows_that_the_footer_says(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(rows(np.random.default_rng(1), False), path)
    flipped_rows(path)
    with pytest.raises(
        cc.FormatError,
        match=r"x.parquet' must be a whole Parquet file, got -?\d+ rows in its row groups and 60 in its footer",
    ):
        cc.scan(path, label="y", scores="a", pos_label="bad")


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("sums", [False, True])
def test_checksums_are_found_where_there_are_some(tmp_path, kind, sums):
    path = str(tmp_path / "x.parquet")
    pq.write_table(rows(np.random.default_rng(1), True), path, write_page_checksum=sums, **KINDS[kind])
    with connect() as connection:
        assert has_checksums(DataFile.at(path), ["a"], connection) is sums


def test_files_without_checksums_are_still_grouped(tmp_path):
    path = tmp_path / "x.parquet"
    passes = []
    for sums in (False, True):
        pq.write_table(rows(np.random.default_rng(1), True).drop(["w"]).drop_null(), path, write_page_checksum=sums)
        src = cc.scan(path, label="y", scores="a", pos_label="bad", progress=False)
        passes.append((src.roc_curves()["a"].to_dict(), src._source.reader.source.relations(1, ["y", "a"]) != []))
    assert passes[0][0] == passes[1][0]
    assert [grouped for _, grouped in passes] == [True, False]
