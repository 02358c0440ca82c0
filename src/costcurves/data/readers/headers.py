"""The header of a CSV file: the delimiter and the original names of the columns."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from costcurves._base.errors import FormatError
from costcurves._base.validation import shown
from costcurves.data.readers.columns import arrow
from costcurves.data.readers.files import PATH

DELIMITERS = (",", ";", "\t", "|")
START = 1 << 16  # the number of bytes that are inspected
MOST_RECORDS = 50


@dataclass(frozen=True, slots=True)
class Header:
    """The delimiter and the column names of a CSV file."""

    delimiter: str
    names: tuple[str, ...]


def header_of(path: str) -> Header:
    """Read the header of a CSV file, which may be compressed."""
    try:
        with arrow().input_stream(path, compression="detect") as stream:
            start = stream.read(START)
    except (OSError, arrow().ArrowException) as error:
        raise FormatError(
            f"{shown(path, PATH)} must be readable from the first row to the last, got: {shown(str(error), 160)}"
        ) from None
    text = start.decode("utf-8-sig", errors="replace")
    found = [_records(text, delimiter, whole=len(start) < START) for delimiter in DELIMITERS]
    alike = [len({len(record) for record in records}) == 1 for records in found]
    sizes = [len(records[0]) if records else 0 for records in found]
    # Take the delimiter that gives the most columns, among those that give the same number (at least two) in every row.
    # Of several such delimiters, take the first.
    best = max(range(len(DELIMITERS)), key=lambda i: (alike[i] and sizes[i] > 1, sizes[i]))
    return Header(DELIMITERS[best], tuple(found[best][0]) if found[best] else ())


def _records(text: str, delimiter: str, whole: bool) -> list[list[str]]:
    """Parse the first records of a text. The list is empty if it cannot be CSV with this delimiter."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    records: list[list[str]] = []
    try:
        for record in reader:
            if record:  # an empty line is not a record
                records.append(record)
            if len(records) > MOST_RECORDS:
                break
    except csv.Error:
        return [] if whole or not records else records
    return records if whole or len(records) < 2 else records[:-1]  # the last one may be cut off
