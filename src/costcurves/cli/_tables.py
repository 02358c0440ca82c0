"""Files become columns here: csv, parquet and json lines, and the examples that come with the package."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import costcurves as cc
from costcurves._text import safe
from costcurves.cli._print import Problem, listing, quoted
from costcurves.example_data import example_names
from costcurves.sources.files import MISSING_WORDS

EXAMPLE = "example:"
CSV_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz")
PARQUET_ENDINGS = (".parquet", ".pq")
JSON_ENDINGS = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".json")
_DELIMITERS = (",", ";", "\t", "|")


@dataclass(slots=True)
class Columns:
    """The columns of a file, and what was guessed about them so far."""

    source: str
    table: Any
    guessed: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The names, in the order of the file."""
        return list(self.table.column_names)

    def get(self, name: str, option: str) -> Any:
        """Return a column; a wrong name gets the nearest ones suggested."""
        if name in self.names:
            return self.table.column(name)
        near = difflib.get_close_matches(name, self.names, n=3, cutoff=0.5)
        hint = f"did you mean {listing([quoted(n) for n in near], 'or')}?" if near else f"it has {self.some()}"
        raise Problem(f"{option} {quoted(name)}: there is no such column in {safe(self.source)}; {hint}")

    def some(self) -> str:
        """Return the names, or the first of many."""
        first = [quoted(name) for name in self.names[:8]]
        if len(first) == 1:
            return f"only one column, {first[0]}: a delimiter is one of comma, semicolon, tab and |"
        return ", ".join(first) + (f" and {len(self.names) - 8} more" if len(self.names) > 8 else "")


def resolve(path: Path, ending: str) -> Path:
    """Return the path of a file; ``example:NAME`` is one of those that come with the package."""
    text = str(path)
    if not text.startswith(EXAMPLE):
        return path
    wanted = text.removeprefix(EXAMPLE)
    for name in example_names():
        if name == wanted or (name.startswith(f"{wanted}_") and name.endswith(ending)):
            return cc.example_path(name)
    known = sorted({EXAMPLE + name.rsplit("_", 1)[0] for name in example_names() if name.endswith(ending)})
    raise Problem(f"{safe(text)}: there is no such example; there are {listing(known)}")


def existing(path: Path) -> Path:
    """Return the path of a file that is there; a wrong name gets the nearest one suggested."""
    if path.is_file():
        return path
    if path.is_dir():
        raise Problem(f"{safe(path)} is a folder: name a file in it")
    folder = path.parent
    there = [entry.name for entry in folder.iterdir() if entry.is_file()] if folder.is_dir() else []
    near = difflib.get_close_matches(path.name, there, n=1)
    hint = f"; did you mean {quoted(folder / near[0])}?" if near else ""
    raise Problem(f"{safe(path)}: no such file{hint}")


def read_columns(path: Path) -> Columns:
    """Return the columns of a csv, parquet or json lines file."""
    try:
        import pyarrow as pa
    except ModuleNotFoundError:
        raise cc.MissingExtraError('reading tables needs pyarrow: pip install "costcurves[cli]"') from None

    file = existing(resolve(path, ".csv"))
    lower = file.name.lower()
    try:
        if lower.endswith(CSV_ENDINGS):
            table = _read_csv(file)
        elif lower.endswith(PARQUET_ENDINGS):
            import pyarrow.parquet

            table = pyarrow.parquet.read_table(file, page_checksum_verification=True)
        elif lower.endswith(JSON_ENDINGS):
            table = _read_json_lines(file)
        else:
            kinds = listing([*CSV_ENDINGS[:3], PARQUET_ENDINGS[0], *JSON_ENDINGS[:3:2]], "or")
            raise Problem(f"{safe(file)}: the name of a table must end in {kinds}")
        names = table.column_names
    except UnicodeDecodeError:
        raise Problem(f"{safe(file)} cannot be read: it is not UTF-8 text") from None
    except (pa.ArrowException, OSError, EOFError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise Problem(f"{safe(file)} cannot be read: {safe(reason)}") from None
    for name in names:
        if names.count(name) > 1:
            raise Problem(f"{safe(file)}: the column {quoted(name)} is there {names.count(name)} times")
    if table.num_rows == 0:
        raise Problem(f"{safe(file)} has no rows")
    return Columns(file.name, table)


def _read_csv(file: Path) -> Any:
    """Read a CSV file whose delimiter is whichever the header has most of."""
    import pyarrow as pa
    import pyarrow.csv

    with pa.input_stream(str(file), compression="detect") as stream:
        start = stream.read(65536)
    if not start:
        raise Problem(f"{safe(file)} is empty")
    header = start.split(b"\n", 1)[0].decode("utf-8", "replace")
    delimiter = max(_DELIMITERS, key=header.count)
    with pa.input_stream(str(file), compression="detect") as stream:
        table = pa.csv.read_csv(
            stream,
            parse_options=pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pa.csv.ConvertOptions(null_values=list(MISSING_WORDS), strings_can_be_null=True),
        )
    if any(pa.types.is_binary(column.type) for column in table.columns):  # what pyarrow makes of text in another code
        raise Problem(f"{safe(file)} cannot be read: it is not UTF-8 text")
    return table


def _read_json_lines(file: Path) -> Any:
    """Read objects, one a line or in one array."""
    import pyarrow as pa
    import pyarrow.json

    with pa.input_stream(str(file), compression="detect") as stream:
        if stream.read(64).lstrip().startswith(b"["):
            return _read_json_array(file)
    with pa.input_stream(str(file), compression="detect") as stream:
        return pa.json.read_json(stream)


def _read_json_array(file: Path) -> Any:
    import pyarrow as pa

    with pa.input_stream(str(file), compression="detect") as stream:
        try:
            rows = json.loads(stream.read())
        except json.JSONDecodeError as error:
            raise Problem(f"{safe(file)} cannot be read: {error}") from None
    if not all(isinstance(row, dict) for row in rows):
        raise Problem(f"{safe(file)} cannot be read: the array must hold objects, one a row")
    return pa.Table.from_pylist(rows)
