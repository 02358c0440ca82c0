"""The files that a scan reads, their format, checks that they have not changed, and the example data of the package."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from costcurves._base.errors import DataError, InputError
from costcurves._base.validation import check_choice, check_path, items_of, shown

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".duckdb": "database",
    ".db": "database",
}
# Words for a missing value in CSV files, which have no other way to express it. They may be quoted.
MISSING_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null")
PACKED = (".gz", ".zst")
EXAMPLES = Path(__file__).parents[1] / "examples"
PATH = 300  # the most characters of a path in a message
KNOWN = ".parquet, .csv, .tsv, .txt, .jsonl, .ndjson, .json (also .gz and .zst of texts), or .duckdb with `table`"


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file with its state at the beginning of the scan."""

    path: str
    format: str
    size: int
    changed: int  # nanoseconds

    @classmethod
    def at(cls, path: str) -> DataFile:
        """Record the state of the file at a path."""
        form = format_of(path)
        if form is None:
            raise InputError(f"`source` must be files of a known format ({KNOWN}), got {shown(path, PATH)}")
        status = os.stat(path)
        return cls(path, form, status.st_size, status.st_mtime_ns)

    def check(self) -> None:
        """Raise an error if the file has disappeared or changed."""
        try:
            status = os.stat(self.path)
        except OSError:
            raise DataError(
                f"the data must not be moved or deleted while they are read, got no {shown(self.path, PATH)} any longer"
            ) from None
        if (status.st_size, status.st_mtime_ns) != (self.size, self.changed):
            raise DataError(
                f"the data must stay the same while they are read, got {shown(self.path, PATH)} changed: "
                "start a new scan"
            )


def format_of(path: str) -> str | None:
    """Infer the format of a file from its name."""
    name = Path(path)
    if name.suffix.lower() in PACKED:
        inner = FORMATS.get(Path(name.stem).suffix.lower())
        return inner if inner in ("csv", "json") else None
    return FORMATS.get(name.suffix.lower())


def find_files(source: Any) -> list[DataFile]:
    """List the files of a path, a glob, a directory or a list of these, without repetition and of one format."""
    several = isinstance(source, Iterable) and not isinstance(source, (str, bytes, os.PathLike))
    paths = [path for one in (items_of(source) if several else [source]) for path in _paths_of(one)]
    if not paths:
        raise InputError("`source` must name at least one file, got an empty list")
    # Several paths may lead to the same file: through links, which may even form a circle, or by another spelling.
    files = [DataFile.at(path) for path in {os.path.realpath(path): path for path in reversed(paths)}.values()][::-1]
    formats = sorted({file.format for file in files})
    if len(formats) > 1:
        raise InputError(f"`source` must be files of one format, got {' and '.join(formats)}: use a glob or a list")
    return files


def _files_in(directory: str) -> list[str]:
    return sorted(
        str(p)
        for p in Path(directory).rglob("*")
        if p.is_file() and not p.name.startswith(("_", ".")) and format_of(str(p)) not in (None, "database")
    )


def _paths_of(source: Any) -> list[str]:
    path = os.fspath(check_path(source))
    if os.path.isdir(path):
        found = _files_in(path)
        if not found:
            raise InputError(
                f"`source` must be a directory with files of a known format ({KNOWN}), got {shown(path, PATH)}"
            )
        return found
    if os.path.exists(path):
        return [path]
    if glob.has_magic(path):
        matches = sorted(glob.glob(path, recursive=True))
        found = [p for p in matches if os.path.isfile(p)]
        if not found:  # Spark and Dask write directories whose names look like files
            found = [p for match in matches if os.path.isdir(match) for p in _files_in(match)]
        if not found:
            raise InputError(f"`source` must match at least one file, got none for {shown(path, PATH)}")
        return found
    raise InputError(f"`source` must be an existing file, directory or glob, got {shown(path, PATH)}")


def example_names() -> tuple[str, ...]:
    """List the files of example data that come with the package."""
    return tuple(sorted(path.name for path in EXAMPLES.iterdir() if path.suffix in (".csv", ".toml")))


def example_path(name: str) -> Path:
    """Return the path of a file of example data that comes with the package.

    Parameters
    ----------
    name : {"german_credit_scores.csv", "german_credit_costs.toml", "vehicle_predictions.csv", "vehicle_costs.toml"}
        The first two files hold the scores of four classifiers for 1000 applicants for credit and the costs of errors.
        The last two hold the predictions of three classifiers for 846 vehicles of four kinds and a cost matrix. On the
        command line they are called ``example:german_credit`` and ``example:vehicle``.

    Returns
    -------
    pathlib.Path

    Examples
    --------
    >>> import costcurves as cc
    >>> with open(cc.example_path("german_credit_scores.csv")) as file:
    ...     print(file.readline().strip())
    label,fold,logit,forest,bayes,tree
    """
    return EXAMPLES / check_choice("name", name, example_names())
