"""DuckDB as a reader of CSV and JSON lines files and of database tables, as streams of Arrow batches.

File names are passed as values, and names of columns and tables as quoted identifiers. No other text from the user
becomes part of the SQL.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from costcurves._base.errors import DataError, FormatError, InputError, MissingExtraError
from costcurves._base.validation import check_name, shown
from costcurves.data.readers.columns import Schema, arrow
from costcurves.data.readers.files import MISSING_WORDS, PATH, DataFile

LINES = (".jsonl", ".ndjson")  # files with other JSON endings may also hold a single array
MEMORY = "512MiB"
SNIFFED = 1000  # rows
TRUTH = ("true", "false")
DELIMITERS = (",", ";", "\t", "|")
START = 1 << 16  # bytes of a CSV file that are looked at for its header
MOST_RECORDS = 50
NOT_UTF8 = re.compile(r"invalid unicode|not utf-?8 encoded|invalid utf-?8|utf-?8 encoding in", re.IGNORECASE)


def duckdb() -> Any:
    """Import DuckDB."""
    try:
        import duckdb as library
    except ImportError:
        raise MissingExtraError('`scan` needs duckdb: pip install "costcurves[files]"') from None
    return library


def quoted(name: str) -> str:
    """Quote any name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


class Relation:
    """Rows of one file or of one database table that DuckDB reads."""

    def __init__(
        self, make: Callable[[Any], Any], where: str, connection: Any = None, *, is_text: bool = False
    ) -> None:
        self._make_of, self._connection, self._is_text = make, connection, is_text
        self.where = where
        self._guessed = False  # whether types are guessed from the rows
        self._names: list[str] | None = None  # as they are in the file, if DuckDB has changed some of them
        self._schema: Schema | None = None
        self._cursor: Any = None
        self._stopped = False
        self._text: Any = None  # the rows of a text file, whose form and types DuckDB has found out

    def _make(self) -> Any:
        if self._text is not None:
            return self._text
        if self._connection is not None:
            self._cursor = self._connection.cursor()
        made = self._make_of(self._cursor)
        if self._is_text:  # to find out about a packed file, DuckDB unpacks it several times
            self._text = made
        return made

    def stop(self) -> None:
        """Stop a query that runs in another thread, and refuse later ones."""
        self._stopped = True
        if self._cursor is not None:
            self._cursor.interrupt()

    @classmethod
    def of_file(cls, file: DataFile, connection: Any) -> Relation:
        """Open the rows of a text file."""
        path = literal_path(file.path)
        where = shown(file.path, PATH)
        if file.format == "json":
            inner = Path(file.path.lower().removesuffix(".gz").removesuffix(".zst")).suffix
            form = "newline_delimited" if inner in LINES else "auto"
            return cls(lambda cursor: _read_json(cursor, path, form, where), where, connection, is_text=True)

        def make(cursor: Any) -> Any:
            header = header_of(file.path)
            read = _read_csv(cursor, path, header)
            relation._names = _names_in_header(header, read.columns, where)
            texts = dict.fromkeys(_names_of_answers(cursor, path, read, header), "VARCHAR")
            return _read_csv(cursor, path, header, dtype=texts) if texts else read

        relation = cls(make, where, connection, is_text=True)
        relation._guessed = True
        return relation

    @classmethod
    def of_parquet(cls, files: Sequence[DataFile], connection: Any) -> Relation:
        """Open the rows of Parquet files that have the same columns."""
        paths = [literal_path(file.path) for file in files]
        where = shown(files[0].path, PATH) if len(files) == 1 else f"{len(files)} files"
        return cls(lambda cursor: cursor.read_parquet(paths, hive_partitioning=False), where, connection)

    @classmethod
    def of_table(cls, connection: Any, table: Any) -> Relation:
        """Open the rows of a table or view of a database, given by name or, if needed, as (schema, table)."""
        parts = [table] if isinstance(table, str) else list(table)
        if not 1 <= len(parts) <= 3:
            raise InputError(f"`table` must be a name, or (schema, name), got {shown(table)}")
        names = [check_name("table", part) for part in parts]
        sql = f"from {'.'.join(quoted(name) for name in names)}"
        return cls(lambda cursor: cursor.sql(sql), f"table {shown('.'.join(names))}", connection)

    def schema(self) -> Schema:
        """The Arrow types of the columns."""
        if self._schema is None:
            types = self._found_types()
            names = list(types) if self._names is None else self._names
            self._schema = Schema.of_columns(zip(names, types.values(), strict=True))
        return self._schema

    def _found_types(self) -> dict[str, Any]:
        reader = self._tried(lambda relation: _reader(relation.limit(0), 1))
        types = {field.name: field.type for field in reader.schema}
        if self._guessed:  # the type of a column without values is unknown
            texts = [name for name, kind in types.items() if str(kind) == "string"]
            silent = self._without_values(self._without_values(texts, SNIFFED))
            types |= dict.fromkeys(silent, arrow().null())
        return types

    def _without_values(self, names: Sequence[str], rows: int | None = None) -> list[str]:
        """List the columns that have no values in the first rows or in all rows."""
        if not names:
            return []
        counts = ", ".join(f"count({quoted(name)})" for name in names)
        found = self._tried(lambda data: (data if rows is None else data.limit(rows)).aggregate(counts).fetchall()[0])
        return [name for name, count in zip(names, found, strict=True) if count == 0]

    def rows(self) -> int:
        """Count the rows."""
        return int(self._tried(lambda relation: relation.count("*").fetchall())[0][0])

    def batches(self, names: Sequence[str], size: int) -> Any:
        """Open a reader of Arrow batches with some of the columns."""
        return self._tried(
            lambda relation: _reader(relation.project(_by_place(self._names or relation.columns, names)), size)
        )

    def query(self, sql: str) -> Any:
        """Run an SQL query on the table `data`, and return an Arrow table or, if DuckDB fails, None.

        It fails if memory does not suffice, and for faulty data, about which a reader of batches gives better messages.
        """
        library = duckdb()
        if self._stopped:
            raise KeyboardInterrupt
        try:
            answer = self._make().query("data", sql)
            return answer.to_arrow_table() if hasattr(answer, "to_arrow_table") else answer.arrow()
        except library.InterruptException:
            raise KeyboardInterrupt from None
        except (library.Error, OSError):
            return None

    def next_of(self, reader: Any) -> Any:
        """Return the next batch as a table, or None at the end."""
        try:
            return arrow().Table.from_batches([reader.read_next_batch()])
        except StopIteration:
            return None
        except Exception as error:
            raise self._explained(error) from None

    def _tried(self, ask: Callable[[Any], Any]) -> Any:
        try:
            return ask(self._make())
        except Exception as error:
            raise self._explained(error) from None

    def _explained(self, error: Exception) -> BaseException:
        text = " ".join(str(error).split())
        if isinstance(error, duckdb().InterruptException) or text == "Query interrupted":
            return KeyboardInterrupt()
        if not isinstance(error, (duckdb().Error, OSError)):
            return error
        if NOT_UTF8.search(text):
            return FormatError(f"{self.where} must be text in UTF-8, got other bytes ({shown(text, 160)})")
        if "does not exist" in text and "Table" in text:
            return InputError(f"`table` must be a table or view of the database, got {self.where}: {shown(text, 160)}")
        if isinstance(error, duckdb().IOException):
            return DataError(f"{self.where} must stay readable, got: {shown(text, 200)}")
        return FormatError(f"{self.where} must be readable from the first row to the last, got: {shown(text, 300)}")


def _read_json(cursor: Any, path: str, form: str, where: str) -> Any:
    """Open the rows of a JSON file, which must be objects."""
    read = cursor.read_json(path, format=form, hive_partitioning=False)
    if list(read.columns) == ["json"]:  # DuckDB's name for values that are not objects
        raise FormatError(f"{where} must hold objects, one per row, got other values")
    return read


def _read_csv(cursor: Any, path: str, header: Header, **options: Any) -> Any:
    """Open the rows of a CSV file.

    DuckDB does not have to guess anything about lines. Rows of another length are refused, whereas DuckDB would look
    for a header further down. Names in the path do not become columns, because they would hide columns of the same name
    in the file.
    """
    return cursor.read_csv(
        path,
        header=True,
        delimiter=header.delimiter,
        skiprows=0,
        comment="",
        quotechar='"',
        escapechar='"',
        na_values=list(MISSING_WORDS),
        hive_partitioning=False,
        **{name: value for name, value in options.items() if value is not None},
    )


def _names_in_header(header: Header, columns: Sequence[str], where: str) -> list[str]:
    """Find the column names as they are in the file. DuckDB changes names that are equal or differ only in case."""
    if len(header.names) != len(columns):
        raise FormatError(f"{where} must have a header of {len(columns)} names, got {len(header.names)}")
    for name in header.names:
        if "\0" in name:  # Arrow ends names there
            raise FormatError(f"{where} must have names without NUL characters, got {shown(name)}")
    return [own or given for own, given in zip(header.names, columns, strict=True)]


def _names_of_answers(cursor: Any, path: str, read: Any, header: Header) -> list[str]:
    """Find columns of a CSV file that DuckDB reads as booleans, although they contain yes and no, or t and f.

    To the user these are strings, and one of them may be the positive label.
    """
    truths = [name for name, kind in zip(read.columns, read.types, strict=True) if kind == "BOOLEAN"]
    if not truths:
        return []
    texts = _read_csv(cursor, path, header, all_varchar=True)
    rows = texts.project(", ".join(quoted(name) for name in truths)).limit(SNIFFED).fetchall()
    found = [{str(row[i]).strip().lower() for row in rows if row[i] is not None} for i in range(len(truths))]
    return [name for name, values in zip(truths, found, strict=True) if not values.issubset(TRUTH)]


def _by_place(columns: Sequence[str], names: Sequence[str]) -> str:
    """Write some of the columns as SQL, by position, because DuckDB does not distinguish "a" from "A"."""
    return ", ".join(f"#{columns.index(name) + 1} as {quoted(name)}" for name in names)


def literal_path(path: str) -> str:
    """Escape a path so that DuckDB does not interpret it as a glob or a home directory."""
    if path.startswith("~"):
        path = "./" + path
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def connect(path: str | None = None, threads: int | None = None) -> Any:
    """Open a connection that writes nothing, to an empty database in memory or to a read-only file.

    If `threads` is given, the connection uses that many threads and at most MEMORY.
    """
    library = duckdb()
    try:
        if path is not None:
            connection = library.connect(path, read_only=True)
        else:
            connection = library.connect(":memory:")
        connection.execute("set temp_directory = ''")
        connection.execute("set enable_progress_bar = false")
        if threads is not None:
            connection.execute(f"set threads = {int(threads)}")
            connection.execute(f"set memory_limit = '{MEMORY}'")
    except library.Error as error:
        raise FormatError(f"{shown(path, PATH)} must be a DuckDB database, got: {shown(str(error), 200)}") from None
    return connection


def tables_of(path: str) -> list[tuple[str, str]]:
    """List the schema and the name of every table and view of a database file."""
    with connect(path) as connection:
        found = connection.execute("select table_schema, table_name from information_schema.tables").fetchall()
    return sorted((str(schema), str(name)) for schema, name in found)


def _reader(relation: Any, size: int) -> Any:
    """Open a stream of Arrow batches of a relation."""
    return relation.to_arrow_reader(size) if hasattr(relation, "to_arrow_reader") else relation.record_batch(size)


# The first line of a CSV file -----------------------------------------------------------------------------------


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
