"""Feeds: what hands out pieces of the data, to several threads at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from costcurves._base.errors import FormatError
from costcurves._base.validation import shown
from costcurves.data.readers.checksums import check_rows, has_checksums
from costcurves.data.readers.columns import Schema, arrow, numbers
from costcurves.data.readers.duckdb import Relation, connect
from costcurves.data.readers.files import PATH, DataFile

ROWS = 1 << 18  # of a piece that is read as a stream
LARGEST_GROUP = 1 << 22  # rows of a row group that is read whole
SAMPLE = 1 << 15
KEPT = 1 << 26  # the most bytes of labels that are kept for later passes


class Feed(Protocol):
    """One pass over the data."""

    def next(self) -> Any:
        """Return another piece as an Arrow table, None at the end. Any thread may call it."""

    def place(self) -> tuple[int, bool]:
        """Return the number of the piece that this thread was given last, and whether the next may have the same.

        Pieces are numbered from 0 in the order of the data; those of a very large row group have one number, and one
        thread gets them all.
        """


class Source(Protocol):
    """Data that can be read as often as needed."""

    def schemas(self) -> list[tuple[str, Schema]]:
        """Return where the columns are and their Arrow types, for each file."""

    def sample(self, names: list[str]) -> Any:
        """Return some of the rows as an Arrow table, None where there are none."""

    def rows(self) -> int | None:
        """Return how many rows there are, where that is known without reading them."""

    def feed(self, names: list[str], label: str | None = None) -> Feed:
        """Begin a pass over some of the columns; labels may be kept for the next one."""

    def relations(self, threads: int, names: list[str]) -> list[Relation]:
        """Return what DuckDB reads some columns from, in bounded memory; none where it cannot, or would read others."""

    def check(self) -> None:
        """Refuse data that have changed since the scan began."""


class ParquetFiles:
    """Parquet files, read row group by row group, which keeps memory at a row group a thread."""

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
        """Return where the columns are and their Arrow types, for each file."""
        return list(self._schemas)

    def sample(self, names: list[str]) -> Any:
        """Return some rows of the first and of the middle row group."""
        groups = list(self.groups())
        chosen = [groups[0], groups[len(groups) // 2]] if len(groups) > 1 else groups
        pieces = [_first_rows(file, group, rows, names) for file, group, rows in chosen]
        return arrow().concat_tables(pieces, promote_options="permissive") if pieces else None

    def rows(self) -> int:
        """Return how many rows there are."""
        return sum(int(metadata.num_rows) for metadata in self._metadata)

    def check(self) -> None:
        """Refuse files that are gone or changed."""
        for file in self.files:
            file.check()

    def feed(self, names: list[str], label: str | None = None) -> Feed:
        """Begin a pass over some of the columns; labels of 0 and 1 are kept for the next one."""
        return _ParquetFeed(self, names, self._labels if label is not None else None, label)

    def relations(self, threads: int, names: list[str]) -> list[Relation]:
        """Return all rows as DuckDB reads them, by columns whose names must differ in more than case.

        There are none where pages have checksums, which DuckDB does not verify.
        """
        schemas = [list(schema.items()) for _, schema in self.schemas()]
        alike = all(schema == schemas[0] for schema in schemas) and _distinct(self.schemas()[0])
        connection = connect(threads=threads)
        if not alike or any(has_checksums(file, names, connection) for file in self.files):
            return []
        return [Relation.of_parquet(self.files, connection)]

    def groups(self) -> Iterator[tuple[DataFile, int, int]]:
        """Return the row groups that have rows: file, number, rows."""
        for file, metadata in zip(self.files, self._metadata, strict=True):
            for group in range(metadata.num_row_groups):
                rows = metadata.row_group(group).num_rows
                if rows:
                    yield file, group, rows


class _Labels:
    """Labels of row groups, one bit a row where they are 0 and 1: decoding them takes as long as decoding scores."""

    def __init__(self) -> None:
        self._bits: dict[tuple[str, int], Any] = {}
        self._room = KEPT
        self._lock = threading.Lock()

    def keep(self, file: DataFile, group: int, column: Any) -> None:
        """Keep a column of labels that are whole numbers 0 and 1, while there is room."""
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
        """Return the column as it was read; None where it is not kept."""
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
        """Return a row group, with its labels as they are kept or else as they are in the file."""
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
        """Return the file, which each thread opens for itself."""
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
    """Return what reading a damaged file may raise."""
    return (OSError, arrow().ArrowException, UnicodeDecodeError)


def _unreadable(file: DataFile, error: Exception) -> Exception:
    file.check()
    return FormatError(f"{shown(file.path, PATH)} must be a whole Parquet file, got: {shown(str(error), 200)}")


def _first_rows(file: DataFile, group: int, rows: int, names: list[str]) -> Any:
    """Return a row group, or the first rows of a very large one."""
    opened = _opened(file)
    try:
        if rows <= LARGEST_GROUP:
            return opened.read_row_group(group, columns=names, use_threads=False)
        return arrow().Table.from_batches([next(opened.iter_batches(SAMPLE, row_groups=[group], columns=names))])
    except _faults() as error:
        raise _unreadable(file, error) from None
    finally:
        opened.close()


class Relations:
    """Files or tables that DuckDB reads, one after the other, each as a stream."""

    def __init__(self, relations: list[Relation], files: list[DataFile]) -> None:
        self._relations, self._files = relations, files

    def schemas(self) -> list[tuple[str, Schema]]:
        """Return where the columns are and their Arrow types, for each file."""
        return [(relation.where, relation.schema()) for relation in self._relations]

    def sample(self, names: list[str]) -> Any:
        """Return the first rows."""
        return self.feed(names).next()

    def rows(self) -> int | None:
        """Return how many rows there are: not known without reading texts."""
        return None if self._files else sum(relation.rows() for relation in self._relations)

    def check(self) -> None:
        """Refuse files that are gone or changed."""
        for file in self._files:
            file.check()

    def relations(self, threads: int, names: list[str]) -> list[Relation]:
        """Return all rows of texts; of databases none, since their memory is not ours to bound.

        There are none either where names of columns differ in case only, which DuckDB does not tell apart.
        """
        if not self._files or self._files[0].format == "database" or not all(map(_distinct, self.schemas())):
            return []
        connection = connect(threads=threads)
        return [Relation.of_file(file, connection) for file in self._files if file.size]

    def feed(self, names: list[str], label: str | None = None) -> Feed:
        """Begin a pass over some of the columns; no labels are kept."""
        return _StreamFeed(self._relations, names)


def _distinct(place: tuple[str, Schema]) -> bool:
    """Return whether the names of columns differ, and not in case only."""
    _, schema = place
    return not schema.repeated and len({name.lower() for name in schema}) == len(schema)


class _StreamFeed:
    def __init__(self, relations: list[Relation], names: list[str]) -> None:
        self._left = iter(relations)
        self._names = names
        self._lock = threading.Lock()
        self._open: tuple[Relation, Any] | None = None
        self._given = 0
        self._local = threading.local()

    def next(self) -> Any:
        with self._lock:
            while True:
                if self._open is None:
                    relation = next(self._left, None)
                    if relation is None:
                        return None
                    self._open = relation, relation.batches(self._names, ROWS)
                piece = self._open[0].next_of(self._open[1])
                if piece is not None:
                    self._local.number = self._given
                    self._given += 1
                    return piece
                self._open = None

    def place(self) -> tuple[int, bool]:
        return self._local.number, False
