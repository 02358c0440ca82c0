"""Opening of files and database tables, for `scan` and for the command line."""

from __future__ import annotations

import os
from typing import Any

from costcurves._base.errors import DataError, InputError
from costcurves._base.validation import shown
from costcurves.data.readers.columns import arrow
from costcurves.data.readers.duckdb import Relation, connect
from costcurves.data.readers.files import PATH, find_files
from costcurves.data.readers.pieces import ParquetFiles, Relations, Source


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
