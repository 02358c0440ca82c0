"""From tables to columns: everything that `cc.scan` reads, standard input, and the examples of the package."""

from __future__ import annotations

import difflib
import glob
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import costcurves as cc
from costcurves._base.text import safe
from costcurves._base.validation import shown
from costcurves.cli._print import Problem, detail, listing, option_words, quoted, shell_word
from costcurves.data.readers.duckdb import tables_of
from costcurves.data.readers.files import PATH, example_names, format_of
from costcurves.data.readers.sources import open_source, read_whole

EXAMPLE = "example:"
STANDARD_INPUT = "-"
ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".jsonl", ".duckdb")
PACKED = ((b"\x1f\x8b", ".gz"), (b"\x28\xb5\x2f\xfd", ".zst"))  # by their first bytes


@dataclass(frozen=True, slots=True)
class Guess:
    """An option that was guessed, its values (none for a flag), and why; without an option, the file itself."""

    option: str
    values: tuple[str, ...]
    why: str

    @property
    def text(self) -> str:
        """The words of the command line, quoted for a shell."""
        words = [word for value in self.values for word in option_words(self.option, value)] or [self.option]
        return " ".join(map(shell_word, words))


@dataclass(slots=True)
class Columns:
    """The columns of a file, and what was guessed about them so far."""

    source: str
    table: Any
    guesses: list[Guess] = field(default_factory=list)
    left: list[str] = field(default_factory=list)  # columns of numbers that were not taken, and why

    def guess(self, why: str, option: str, *values: str) -> None:
        """Note an option that was guessed, and why."""
        self.guesses.append(Guess(option, values, why))

    def settle(self, strict: bool) -> tuple[Guess, ...]:
        """Return what was guessed. If guessing is not allowed, raise an error that says which options to write."""
        if strict and self.guesses:
            words = " ".join(guess.text for guess in self.guesses)
            raise Problem(f"--strict: nothing is guessed, so say what is meant, for example: {words}")
        return tuple(self.guesses)

    @property
    def names(self) -> list[str]:
        """The names, in the order of the file."""
        return list(self.table.column_names)

    def get(self, name: str, option: str) -> Any:
        """Return a column; for a wrong name, suggest the nearest ones."""
        if name in self.names:
            return self.table.column(name)
        near = difflib.get_close_matches(name, self.names, n=3, cutoff=0.5)
        hint = f"did you mean {listing([quoted(n) for n in near], 'or')}?" if near else f"it has {self.some()}"
        raise Problem(f"{option} {quoted(name)}: there is no such column in {safe(self.source)}; {hint}")

    def some(self) -> str:
        """Return the names in a message, or the first few if there are many."""
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
    """Return the path of an existing file; for a wrong name, suggest the nearest one."""
    if path.is_file():
        return path
    if path.is_dir():
        raise Problem(f"{safe(path)} is a folder: name a file in it")
    folder = path.parent
    there = [entry.name for entry in folder.iterdir() if entry.is_file()] if folder.is_dir() else []
    near = difflib.get_close_matches(path.name, there, n=1)
    hint = f"; did you mean {quoted(folder / near[0])}?" if near else ""
    raise Problem(f"{safe(path)}: no such file{hint}")


def refuse_missing(path: Path) -> None:
    """Refuse a path that can only be that of a file, and of one that is not there."""
    file = resolve(path, ".csv")
    if str(path) != STANDARD_INPUT and ":" not in file.name and not glob.has_magic(str(file)) and not file.is_dir():
        existing(file)


def read_columns(path: Path) -> Columns:
    """Return the columns of a table, through the same readers as `cc.scan`.

    It may be a file, a glob, a folder, a table of a DuckDB database (scores.duckdb:TABLE), or standard input (-).
    """
    try:
        import pyarrow  # noqa: F401
    except ModuleNotFoundError:
        raise cc.MissingExtraError('reading tables needs pyarrow: pip install "costcurves[cli]"') from None

    if str(path) == STANDARD_INPUT:
        with kept_file(path) as kept:
            return _read("standard input", kept, None)
    file = resolve(path, ".csv")
    name, table, guessed = _table_of(file)
    if table is None and not file.is_dir() and (file.exists() or not glob.has_magic(str(file))):
        existing(file)
        if format_of(str(file)) is None:
            raise Problem(f"{safe(file)}: the name of a table must end in {listing(list(ENDINGS), 'or')}")
        if file.stat().st_size == 0:
            raise Problem(f"{safe(file)} is empty")
    columns = _read(file.name if file.is_file() or table is not None else str(file), name, table)
    columns.guesses += guessed
    return columns


def column_names(path: Path) -> list[str]:
    """Return the names of the columns of a table without reading its rows."""
    file = resolve(path, ".csv")
    name, table, _ = _table_of(file)
    source, _ = open_source(str(name), table)
    return list(source.schemas()[0][1])


def _read(called: str, path: Path, table: Any) -> Columns:
    """Return the columns of files or of a table of a database."""
    start = time.perf_counter()
    try:
        source, _ = open_source(str(path), table)
        schemas = source.schemas()
        repeated = sorted(name for _, schema in schemas for name in schema.repeated)
        if repeated:
            raise Problem(f"{safe(called)}: there is more than one column {quoted(repeated[0])}")
        read = read_whole(source)
    except Problem:
        raise
    except cc.CostCurvesError as error:
        text = str(error).replace(shown(str(path), PATH), called).replace("`source`", "it")
        text = text.replace("use a glob or a list", "use a glob")
        reason = "it is not UTF-8 text" if "UTF-8" in text else safe(text)
        raise Problem(f"{safe(called)} cannot be read: {reason}") from None
    if read.num_rows == 0:
        raise Problem(f"{safe(called)} has no rows")
    kinds = ", ".join(f"{field.name} ({field.type})" for field in read.schema)
    detail(f"Read {called}: {read.num_rows:,} rows in {time.perf_counter() - start:.2f} s; the columns are {kinds}.")
    return Columns(called, read)


def _table_of(file: Path) -> tuple[Path, Any, list[Guess]]:
    """Return the database, the table and what was guessed if a path names one, as scores.duckdb:TABLE does."""
    database, colon, wanted = str(file).rpartition(":")
    if file.exists() or not colon or format_of(database) != "database":
        database, wanted = str(file), ""
    if format_of(database) != "database" or not Path(database).is_file():
        return file, None, []
    known = tables_of(database)
    names = {table if schema == "main" else f"{schema}.{table}": (schema, table) for schema, table in known}
    if wanted in names:
        return Path(database), names[wanted], []
    if not wanted and len(names) == 1:
        (only,) = names
        return Path(database), names[only], [Guess(f"{Path(database).name}:{only}", (), "the only table")]
    some = listing([quoted(name) for name in list(names)[:8]]) if names else "no table"
    raise Problem(f"{safe(file)}: name a table, such as {safe(Path(database).name)}:TABLE; the database has {some}")


@contextmanager
def kept_file(path: Path) -> Iterator[Path]:
    """Give the path of a file, or of a copy of standard input that is removed afterwards."""
    if str(path) != STANDARD_INPUT:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        yield _kept_input(Path(folder))


def _kept_input(folder: Path) -> Path:
    """Copy standard input to a file whose name has the ending that its first bytes call for."""
    if sys.stdin is None:
        raise Problem("standard input is closed")
    kept = folder / "input"
    with open(kept, "wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    with open(kept, "rb") as file:
        start = file.read(64)
    packed = next((ending for magic, ending in PACKED if start.startswith(magic)), "")
    if packed:
        start = _unpacked(kept, packed)
    kind = ".parquet" if start.startswith(b"PAR1") else ".json" if start.lstrip()[:1] in (b"{", b"[") else ".csv"
    if not start:
        raise Problem("standard input is empty")
    return kept.rename(folder / f"input{kind}{packed}")


def _unpacked(path: Path, ending: str) -> bytes:
    """Return the first bytes of a packed file."""
    import pyarrow as pa

    try:
        with pa.input_stream(str(path), compression={".gz": "gzip", ".zst": "zstd"}[ending]) as stream:
            return bytes(stream.read(64))
    except (OSError, pa.ArrowException) as error:
        raise Problem(f"standard input cannot be read: {safe(error)}") from None
