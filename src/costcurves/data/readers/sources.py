"""Files and database tables that can be read as often as needed, and feeds that hand out their pieces to threads."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from costcurves._base.errors import DataError, FormatError, InputError
from costcurves._base.validation import shown
from costcurves.data.readers.checksums import check_rows, has_checksums
from costcurves.data.readers.columns import Schema, arrow, numbers
from costcurves.data.readers.duckdb import Relation, connect
from costcurves.data.readers.files import PATH, DataFile, find_files

ROWS = 1 << 18  # rows of a piece that is read as a stream
LARGEST_GROUP = 1 << 22  # the most rows of a row group that is read at once
SAMPLE = 1 << 15
KEPT = 1 << 26  # the most bytes of labels kept for later passes
KEPT_TEXT = 1 << 27  # the most bytes of columns of text files kept for later passes


class Feed(Protocol):
    """One pass over the data."""

    def next(self) -> Any:
        """Return another piece as an Arrow table, or None at the end. Any thread may call this method."""

    def place(self) -> tuple[int, bool]:
        """Return the number of the last piece given to this thread, and whether the next may have the same number.

        Pieces are numbered from 0 in the order of the data. All pieces of a very large row group have the same number,
        and one thread gets all of them.
        """


class Source(ABC):
    """Data that can be read as often as needed. `files` are those whose change would be noticed."""

    files: list[DataFile]

    @abstractmethod
    def schemas(self) -> list[tuple[str, Schema]]:
        """Return, for each file, a description of it and the Arrow types of its columns."""

    @abstractmethod
    def sample(self, names: list[str]) -> Any:
        """Return some of the rows as an Arrow table, or None if there are none."""

    @abstractmethod
    def rows(self) -> int | None:
        """The number of rows, if it is known without reading them."""

    @abstractmethod
    def feed(self, names: list[str], label: str | None = None) -> Feed:
        """Begin a pass over some of the columns. Labels may be kept for the next pass."""

    @abstractmethod
    def relations(self, threads: int, names: list[str]) -> list[Relation]:
        """Open some columns for DuckDB, in bounded memory. The list is empty if DuckDB cannot read exactly these."""

    def check(self) -> None:
        """Raise an error if files have disappeared or changed since the scan began."""
        for file in self.files:
            file.check()


class ParquetFiles(Source):
    """Parquet files, read row group by row group, so that memory holds one row group per thread."""

    def __init__(self, files: list[DataFile]) -> None:
        self.files = files
        self._labels = _Labels()
        self._metadata: list[Any] = []
        self._schemas: list[tuple[str, Schema]] = []
        for file in files:
            metadata = _opened(file).metadata
            check_rows(file, metadata)
            try:
                schema = Schema.of(metadata.schema.to_arrow_schema())
            except _faults() as error:
                raise _unreadable(file, error) from None
            self._metadata.append(metadata)
            self._schemas.append((shown(file.path, PATH), schema))

    def schemas(self) -> list[tuple[str, Schema]]:
        """Return, for each file, a description of it and the Arrow types of its columns."""
        return list(self._schemas)

    def sample(self, names: list[str]) -> Any:
        """Return some rows of the first and of the middle row group."""
        groups = list(self.groups())
        chosen = [groups[0], groups[len(groups) // 2]] if len(groups) > 1 else groups
        pieces = [_first_rows(file, group, rows, names) for file, group, rows in chosen]
        return arrow().concat_tables(pieces, promote_options="permissive") if pieces else None

    def rows(self) -> int:
        """The number of rows."""
        return sum(int(metadata.num_rows) for metadata in self._metadata)

    def feed(self, names: list[str], label: str | None = None) -> Feed:
        """Begin a pass over some of the columns. Labels that are 0 and 1 are kept for the next pass."""
        return _ParquetFeed(self, names, self._labels if label is not None else None, label)

    def relations(self, threads: int, names: list[str]) -> list[Relation]:
        """Open all rows for DuckDB, with columns whose names must differ in more than case.

        The list is empty if pages have checksums, because DuckDB does not verify them.
        """
        schemas = [list(schema.items()) for _, schema in self.schemas()]
        alike = all(schema == schemas[0] for schema in schemas) and _distinct(self.schemas()[0])
        connection = connect(threads=threads)
        if not alike or any(has_checksums(file, names, connection) for file in self.files):
            return []
        return [Relation.of_parquet(self.files, connection)]

    def groups(self) -> Iterator[tuple[DataFile, int, int]]:
        """Yield the file, the number and the rows of each row group that is not empty."""
        for file, metadata in zip(self.files, self._metadata, strict=True):
            for group in range(metadata.num_row_groups):
                rows = metadata.row_group(group).num_rows
                if rows:
                    yield file, group, rows


class _Labels:
    """Labels 0 and 1 of row groups, kept as one bit per row, because decoding them takes as long as decoding scores."""

    def __init__(self) -> None:
        self._bits: dict[tuple[str, int], Any] = {}
        self._room = KEPT
        self._lock = threading.Lock()

    def keep(self, file: DataFile, group: int, column: Any) -> None:
        """Keep a column of labels that are the integers 0 and 1, if there is room."""
        if not arrow().types.is_integer(column.type) or column.null_count or not len(column):
            return
        values = numbers(column)
        if values.min() < 0 or values.max() > 1:
            return
        bits = np.packbits(values != 0)
        with self._lock:
            if bits.nbytes <= self._room:
                self._room -= bits.nbytes
                self._bits[file.path, group] = bits

    def column(self, file: DataFile, group: int, rows: int, kind: Any) -> Any:
        """Return the column as it was read, or None if it was not kept."""
        bits = self._bits.get((file.path, group))
        if bits is None:
            return None
        values = np.unpackbits(bits, count=rows).astype(kind.to_pandas_dtype(), copy=False)
        return arrow().Array.from_buffers(kind, rows, [None, arrow().py_buffer(values)])


class _ParquetFeed:
    def __init__(self, source: ParquetFiles, names: list[str], labels: _Labels | None, label: str | None) -> None:
        self._groups = enumerate(source.groups())
        self._names, self._labels, self._label = names, labels, label
        self._lock = threading.Lock()
        self._local = threading.local()

    def next(self) -> Any:
        pending = getattr(self._local, "pending", None)
        if pending is not None:
            piece = self._piece(pending, self._local.file)
            if piece is not None:
                return piece
            self._local.pending = None
        with self._lock:
            task = next(self._groups, None)
        if task is None:
            self._close()
            return None
        self._local.number, (file, group, rows) = task
        opened = self._opened(file)
        try:
            if rows <= LARGEST_GROUP:
                return self._whole(opened, file, group, rows)
            batches = opened.iter_batches(ROWS, row_groups=[group], columns=self._names, use_threads=False)
        except _faults() as error:
            raise _unreadable(file, error) from None
        self._local.pending = iter(batches)
        return self.next()

    def place(self) -> tuple[int, bool]:
        return self._local.number, getattr(self._local, "pending", None) is not None

    def _whole(self, opened: Any, file: DataFile, group: int, rows: int) -> Any:
        """Read a row group. Its labels are taken from those that were kept, or else from the file."""
        if self._labels is None or self._label is None:
            return opened.read_row_group(group, columns=self._names, use_threads=False)
        kind = opened.schema_arrow.field(self._label).type
        kept = self._labels.column(file, group, rows, kind)
        if kept is not None and len(self._names) > 1:
            others = [name for name in self._names if name != self._label]
            table = opened.read_row_group(group, columns=others, use_threads=False)
            return table.append_column(self._label, kept)
        table = opened.read_row_group(group, columns=self._names, use_threads=False)
        self._labels.keep(file, group, table.column(self._label))
        return table

    def _piece(self, pending: Any, file: DataFile) -> Any:
        try:
            batch = next(pending, None)
        except _faults() as error:
            raise _unreadable(file, error) from None
        return None if batch is None else arrow().Table.from_batches([batch])

    def _opened(self, file: DataFile) -> Any:
        """Open the file once per thread."""
        if getattr(self._local, "file", None) is not file:
            self._close()
            file.check()
            self._local.file, self._local.opened = file, _opened(file)
        return self._local.opened

    def _close(self) -> None:
        opened = getattr(self._local, "opened", None)
        if opened is not None:
            opened.close()
            self._local.opened = self._local.file = None


def _opened(file: DataFile) -> Any:
    try:
        return arrow().parquet.ParquetFile(
            file.path, pre_buffer=False, buffer_size=1 << 20, memory_map=False, page_checksum_verification=True
        )
    except _faults() as error:
        raise _unreadable(file, error) from None


def _faults() -> tuple[type[Exception], ...]:
    """List the exceptions that reading a damaged file may raise."""
    return (OSError, arrow().ArrowException, UnicodeDecodeError)


def _unreadable(file: DataFile, error: Exception) -> Exception:
    file.check()
    return FormatError(f"{shown(file.path, PATH)} must be a whole Parquet file, got: {shown(str(error), 200)}")


def _first_rows(file: DataFile, group: int, rows: int, names: list[str]) -> Any:
    """Read a row group, or the first rows of a very large one."""
    opened = _opened(file)
    try:
        if rows <= LARGEST_GROUP:
            return opened.read_row_group(group, columns=names, use_threads=False)
        return arrow().Table.from_batches([next(opened.iter_batches(SAMPLE, row_groups=[group], columns=names))])
    except _faults() as error:
        raise _unreadable(file, error) from None
    finally:
        opened.close()


class Relations(Source):
    """Files or tables that DuckDB reads one after the other, each as a stream."""

    def __init__(self, relations: list[Relation], files: list[DataFile]) -> None:
        self._relations, self.files = relations, files
        self._kept = _Pieces(KEPT_TEXT if files and files[0].format != "database" else 0)

    def schemas(self) -> list[tuple[str, Schema]]:
        """Return, for each file, a description of it and the Arrow types of its columns."""
        return [(relation.where, relation.schema()) for relation in self._relations]

    def sample(self, names: list[str]) -> Any:
        """Return the first rows."""
        return self.feed(names).next()

    def rows(self) -> int | None:
        """None, because the number of rows is not known without reading the text."""
        return None if self.files else sum(relation.rows() for relation in self._relations)

    def relations(self, threads: int, names: list[str]) -> list[Relation]:
        """Open all rows of text files. For databases the list is empty, because we cannot bound their memory.

        It is also empty if column names differ only in case, because DuckDB does not distinguish them.
        """
        if not self.files or self.files[0].format == "database" or not all(map(_distinct, self.schemas())):
            return []
        connection = connect(threads=threads)
        return [Relation.of_file(file, connection) for file in self.files if file.size]

    def feed(self, names: list[str], label: str | None = None) -> Feed:
        """Begin a pass over some of the columns. Columns of text files are kept for the next pass if they are small."""
        return _StreamFeed(self._relations, names, self._kept)


def _distinct(place: tuple[str, Schema]) -> bool:
    """Whether the column names differ in more than case."""
    _, schema = place
    return not schema.repeated and len({name.lower() for name in schema}) == len(schema)


class _Pieces:
    """Pieces of files that were read to the end, by the names of the columns, because reading a text takes longest."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._pieces: dict[tuple[str, ...], list[Any]] = {}

    def keep(self, names: list[str], pieces: list[Any]) -> None:
        """Keep all pieces, if there is room."""
        size = sum(piece.nbytes for piece in pieces)
        if self.has_room(size):
            self._room -= size
            self._pieces[tuple(names)] = pieces

    def has_room(self, size: int) -> bool:
        """Whether this many bytes may be kept."""
        return size <= self._room

    def find(self, names: list[str]) -> list[Any] | None:
        """Return all pieces, or None if they were not kept."""
        return self._pieces.get(tuple(names))


class _StreamFeed:
    def __init__(self, relations: list[Relation], names: list[str], kept: _Pieces) -> None:
        known = kept.find(names)
        self._pieces = _read(relations, names, kept) if known is None else iter(known)
        self._lock = threading.Lock()
        self._given = 0
        self._local = threading.local()

    def next(self) -> Any:
        with self._lock:
            piece = next(self._pieces, None)
            if piece is not None:
                self._local.number = self._given
                self._given += 1
            return piece

    def place(self) -> tuple[int, bool]:
        return self._local.number, False


def _read(relations: list[Relation], names: list[str], kept: _Pieces) -> Iterator[Any]:
    """Yield all pieces, and then keep them."""
    read: list[Any] | None = []
    size = 0
    for relation in relations:
        batches = relation.batches(names, ROWS)
        while (piece := relation.next_of(batches)) is not None:
            size += piece.nbytes
            if not kept.has_room(size):
                read = None
            if read is not None:
                read.append(piece)
            yield piece
    if read is not None:
        kept.keep(names, read)


def open_source(source: Any, table: Any = None) -> tuple[Source, str]:
    """Open data that can be read as often as necessary, and describe them for messages.

    Parameters
    ----------
    source : path, glob, directory, list of paths, or DuckDB connection
    table : str or (schema, name), optional
        The table or view of a database.
    """
    arrow()
    if hasattr(source, "cursor") and hasattr(source, "execute"):
        if table is None:
            raise InputError("`table` must name the table to read from a connection, got None")
        relation = Relation.of_table(source, table)
        return Relations([relation], []), relation.where
    if hasattr(source, "columns") or hasattr(source, "column_names"):
        raise InputError(f"`source` must be files or a connection, got {type(source).__name__}: use from_frame")
    files = find_files(source)
    if files[0].format in ("csv", "json") and not any(file.size for file in files):
        raise DataError(f"`source` must hold at least one row, got {len(files)} empty files")
    where = shown(os.fspath(source), PATH) if isinstance(source, (str, os.PathLike)) else f"{len(files)} files"
    if files[0].format == "database":
        if table is None:
            raise InputError(f"`table` must name the table to read from {where}, got None")
        relation = Relation.of_table(connect(files[0].path), table)
        return Relations([relation], files), f"{relation.where} of {where}"
    if table is not None:
        raise InputError(f"`table` must not be given for files of type {files[0].format}, got {shown(table)}")
    if files[0].format == "parquet":
        return ParquetFiles(files), where
    connection = connect()
    return Relations([Relation.of_file(file, connection) for file in files if file.size], files), where


def read_whole(source: Source) -> Any:
    """Read all columns of a source into one Arrow table, in the order of the rows."""
    schemas = source.schemas()
    place, schema = schemas[0]
    for other, columns in schemas[1:]:
        if set(columns) != set(schema):
            name = min(set(columns) ^ set(schema))
            lacking = place if name not in schema else other
            raise DataError(f"all files must have the same columns, got none called {shown(name)} in {lacking}")
    feed = source.feed(list(schema))
    pieces = []
    while (piece := feed.next()) is not None:
        pieces.append(piece)
    pa = arrow()
    empty = pa.table({name: pa.array([], kind) for name, kind in schema.items()})
    table = pa.concat_tables(pieces, promote_options="permissive").select(list(schema)) if pieces else empty
    for i, name in enumerate(schema):
        if all(columns[name] == pa.null() for _, columns in schemas):  # there is no value that shows its type
            table = table.set_column(i, name, pa.nulls(table.num_rows))
    return table
