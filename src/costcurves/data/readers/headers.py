"""The first line of a CSV file: which character separates fields, and the names of the columns as they are there."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from costcurves._base.errors import FormatError
from costcurves._base.validation import shown
from costcurves.data.readers.columns import arrow
from costcurves.data.readers.files import PATH

DELIMITERS = (",", ";", "\t", "|")
START = 1 << 16  # bytes that are looked at
MOST_RECORDS = 50


@dataclass(frozen=True, slots=True)
class Header:
    """How a CSV file begins."""

    delimiter: str
    names: tuple[str, ...]


def header_of(path: str) -> Header:
    """Return the header of a CSV file, packed or not."""
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
    # The delimiter that makes the most columns, of those that make several, as many in every row; the first of equals.
    best = max(range(len(DELIMITERS)), key=lambda i: (alike[i] and sizes[i] > 1, sizes[i]))
    return Header(DELIMITERS[best], tuple(found[best][0]) if found[best] else ())


def _records(text: str, delimiter: str, whole: bool) -> list[list[str]]:
    """Return the first records of a text; none where it cannot be CSV with this delimiter."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    records: list[list[str]] = []
    try:
        for record in reader:
            if record:  # an empty line is none
                records.append(record)
            if len(records) > MOST_RECORDS:
                break
    except csv.Error:
        return [] if whole or not records else records
    return records if whole or len(records) < 2 else records[:-1]  # of which the last may be cut off
