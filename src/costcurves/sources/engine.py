"""DuckDB: texts of rows (CSV, JSON lines) and tables of databases, as streams of Arrow batches.

Names of files and columns are handed over as values, and names of tables as quoted identifiers: no other text of the
user's becomes a part of SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from costcurves._validation import check_name, shown
from costcurves.errors import DataError, FormatError, InputError, MissingExtraError
from costcurves.sources.files import PATH, DataFile

LINES = "newline_delimited"
MEMORY = "512MiB"


def duckdb() -> Any:
    """Return DuckDB."""
    try:
        import duckdb as library
    except ImportError:
        raise MissingExtraError('`scan` needs duckdb: pip install "costcurves[files]"') from None
    return library


def quoted(name: str) -> str:
    """Return a name as an identifier of SQL, whatever it holds."""
    return '"' + name.replace('"', '""') + '"'


class Relation:
    """Rows that DuckDB reads: of one file, or of one table of a database."""

    def __init__(self, make: Callable[[], Any], where: str) -> None:
        self._make = make
        self.where = where

    @classmethod
    def of_file(cls, file: DataFile, connection: Any) -> Relation:
        """Return the rows of a text file."""
        path = literal_path(file.path)

        def make() -> Any:
            cursor = connection.cursor()
            return cursor.read_csv(path) if file.format == "csv" else cursor.read_json(path, format=LINES)

        return cls(make, shown(file.path, PATH))

    @classmethod
    def of_parquet(cls, files: Sequence[DataFile], connection: Any) -> Relation:
        """Return the rows of Parquet files that have the same columns."""
        paths = [literal_path(file.path) for file in files]
        where = shown(files[0].path, PATH) if len(files) == 1 else f"{len(files)} files"
        return cls(lambda: connection.cursor().read_parquet(paths, hive_partitioning=False), where)

    @classmethod
    def of_table(cls, connection: Any, table: Any) -> Relation:
        """Return the rows of a table or view of a database; (schema, table) where the schema matters."""
        parts = [table] if isinstance(table, str) else list(table)
        if not 1 <= len(parts) <= 3:
            raise InputError(f"`table` must be a name, or (schema, name), got {shown(table)}")
        names = [check_name("table", part) for part in parts]
        sql = f"from {'.'.join(quoted(name) for name in names)}"
        return cls(lambda: connection.cursor().sql(sql), f"table {shown('.'.join(names))}")

    def schema(self) -> dict[str, Any]:
        """Return the Arrow types of the columns."""
        reader = self._tried(lambda relation: _reader(relation.limit(0), 1))
        return {field.name: field.type for field in reader.schema}

    def rows(self) -> int:
        """Return how many rows there are."""
        return int(self._tried(lambda relation: relation.count("*").fetchall())[0][0])

    def batches(self, names: Sequence[str], size: int) -> Any:
        """Return a reader of Arrow batches of some columns."""
        column = duckdb().ColumnExpression
        return self._tried(lambda relation: _reader(relation.select(*(column(name) for name in names)), size))

    def query(self, sql: str) -> Any:
        """Return the answer to SQL about the table `data` as an Arrow table; None where DuckDB fails.

        That is so where memory does not suffice, and for data that a reader of batches can explain better.
        """
        library = duckdb()
        try:
            answer = self._make().query("data", sql)
            return answer.to_arrow_table() if hasattr(answer, "to_arrow_table") else answer.arrow()
        except library.InterruptException:
            raise KeyboardInterrupt from None
        except (library.Error, OSError):
            return None

    def next_of(self, reader: Any) -> Any:
        """Return the next batch as a table, None at the end."""
        try:
            return _table(reader.read_next_batch())
        except StopIteration:
            return None
        except Exception as error:
            raise self._explained(error) from None

    def _tried(self, ask: Callable[[Any], Any]) -> Any:
        try:
            return ask(self._make())
        except Exception as error:
            raise self._explained(error) from None

    def _explained(self, error: Exception) -> Exception:
        text = " ".join(str(error).split())
        if not isinstance(error, (duckdb().Error, OSError)):
            return error
        if "unicode" in text.lower() or "utf" in text.lower():
            return FormatError(f"{self.where} must be text in UTF-8, got other bytes ({shown(text, 160)})")
        if "does not exist" in text and "Table" in text:
            return InputError(f"`table` must be a table or view of the database, got {self.where}: {shown(text, 160)}")
        if isinstance(error, duckdb().IOException):
            return DataError(f"{self.where} must stay readable, got: {shown(text, 200)}")
        return FormatError(f"{self.where} must be readable from the first row to the last, got: {shown(text, 300)}")


def literal_path(path: str) -> str:
    """Return a path in which DuckDB sees no glob."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def connect(path: str | None = None, threads: int | None = None) -> Any:
    """Return a connection that writes nothing: to an empty database in memory, or to a file, read-only.

    With `threads`, it uses so many and no more than MEMORY.
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


def _reader(relation: Any, size: int) -> Any:
    """Return a stream of Arrow batches of a relation."""
    return relation.to_arrow_reader(size) if hasattr(relation, "to_arrow_reader") else relation.record_batch(size)


def _table(batch: Any) -> Any:
    import pyarrow

    return pyarrow.Table.from_batches([batch])
