"""Detection of damaged Parquet files, by checksums of pages and by numbers of rows that must agree.

Arrow verifies the checksums of pages that have them, but DuckDB does not. The footer has no checksum. Arrow's column
metadata are not read, because a damaged footer makes Arrow terminate the process; DuckDB raises an error instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from costcurves._base.errors import FormatError
from costcurves._base.validation import shown
from costcurves.data.readers.duckdb import duckdb, literal_path
from costcurves.data.readers.files import PATH, DataFile

LONGEST = 64  # the fields of a page header up to its checksum lie within this many bytes
I32 = 5  # the type of these fields in Thrift's compact protocol
CHECKSUM = 4  # the field number of the checksum in a page header


def check_rows(file: DataFile, metadata: Any) -> None:
    """Refuse a file whose row groups do not have as many rows as its footer says."""
    found = sum(metadata.row_group(number).num_rows for number in range(metadata.num_row_groups))
    if found != metadata.num_rows:
        raise FormatError(
            f"{shown(file.path, PATH)} must be a whole Parquet file, got {found} rows in its row groups and "
            f"{metadata.num_rows} in its footer"
        )


def has_checksums(file: DataFile, names: Sequence[str], connection: Any) -> bool:
    """Whether any of some columns has, or may have, a checksum in the first page of a row group."""
    sql = (
        "select distinct coalesce(dictionary_page_offset, data_page_offset) from parquet_metadata(?) "
        "where list_contains(?, path_in_schema)"
    )
    try:
        found = connection.cursor().execute(sql, [literal_path(file.path), list(names)]).fetchall()
    except duckdb().Error:
        return True
    with open(file.path, "rb") as stream:
        for (start,) in found:
            stream.seek(start)
            if _has_checksum(stream.read(LONGEST)):
                return True
    return False


def _has_checksum(header: bytes) -> bool:
    """Whether a page header, which begins with integers in Thrift's compact protocol, has a checksum."""
    field, at = 0, 0
    while at < len(header):
        step, kind = divmod(header[at], 16)
        field += step
        if step == 0 or kind != I32 or field > CHECKSUM:
            return False
        if field == CHECKSUM:
            return True
        at += 1
        while at < len(header) and header[at] & 0x80:  # all bytes of a number except the last
            at += 1
        at += 1
    return False
