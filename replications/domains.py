"""The papers' data sets, from files in a directory or, with a network connection, from OpenML.

A file is `<name>.csv.gz`, `<name>.csv` or `<name>.arff`. The last column is the target, and a missing value is an empty
field or a question mark. In a CSV file, a column is nominal if it holds anything other than numbers, or only 0 and 1.
In an ARFF file, it is nominal if it is declared so.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves import DataError, FormatError, InputError, MissingExtraError

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

ENDINGS = (".csv.gz", ".csv", ".arff")
MISSING = ("", "?")
# File names, and the number of the data set at OpenML. OpenML does not have Waveform-21: number 60 is a sample of the
# generator's second version, whose first 21 attributes are those of the first version and whose others are noise.
OPENML = {
    "adult": 1590,
    "breast_cancer_wisconsin": 15,
    "crx": 29,
    "german_credit": 31,
    "pima_diabetes": 37,
    "satimage": 182,
    "waveform21": 60,
    "dna": 40670,
    "splice": 46,
    "vehicle": 54,
    "sonar": 40,
}
FIRST_COLUMNS = {"waveform21": 21}


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """A two-class problem, with the rarest class of a data set against the rest.

    Attributes
    ----------
    name : str
    X : array of shape (rows, attributes)
        Numbers. A nominal value is its position (0, 1, ...) in `values`, and NaN is a missing value.
    nominal : bool array of shape (attributes,)
    y : bool array of shape (rows,)
        True for the minority class.
    attributes : tuple of str
    values : tuple of tuples of str
        The values of each attribute in order, which are empty for a numeric one.
    positive : str
        The name of the minority class in the data set.
    """

    name: str
    X: Floats
    nominal: Bools
    y: Bools
    attributes: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    positive: str

    def take(self, rows: npt.NDArray[Any]) -> Domain:
        """Select some of the rows."""
        X, y = self.X[rows], self.y[rows]
        return Domain(self.name, X, self.nominal, y, self.attributes, self.values, self.positive)

    def __repr__(self) -> str:
        """Show the name and the size."""
        share = f"{int(self.y.sum())} {self.positive!r}"
        return f"Domain({self.name!r}: {self.y.size} rows, {share}, {self.nominal.size} attributes)"


def load_domain(name: str, data: str | Path | None = None, positive: str | None = None) -> Domain:
    """Load a data set by name, with the minority class as the positive class.

    Parameters
    ----------
    name : str
        The name of a file without its ending, or one of `OPENML` if `data` is None.
    data : path, optional
        A directory with `<name>.csv.gz`, `<name>.csv` or `<name>.arff`. If it is None, the data set is fetched from
        OpenML, which needs a network connection.
    positive : str, optional
        The positive class, by default the one with the fewest rows.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from replications.domains import load_domain
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "play.csv").write_text("wind,heat,target\\nno,3.5,yes\\nyes,,yes\\nno,9,no\\n")
    ...     domain = load_domain("play", folder)
    >>> domain
    Domain('play': 3 rows, 1 'no', 2 attributes)
    >>> domain.X.tolist(), domain.values
    ([[0.0, 3.5], [1.0, nan], [0.0, 9.0]], (('no', 'yes'), ()))
    """
    if data is None:
        return _fetched(name, positive)
    folder = Path(data)
    if not folder.is_dir():
        raise InputError(f"`data` must be a directory, got {str(folder)!r}")
    found = [path for path in (folder / f"{name}{ending}" for ending in ENDINGS) if path.is_file()]
    if not found:
        raise InputError(f"`data` must hold {name}{f' or {name}'.join(ENDINGS)}, got {str(folder)!r} without it")
    read = _from_arff if found[0].suffix == ".arff" else _from_csv
    return read(name, found[0], positive)


def _from_csv(name: str, path: Path, positive: str | None = None) -> Domain:
    raw = path.read_bytes()
    try:
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} must be UTF-8 text{' in gzip' if path.suffix == '.gz' else ''}: {error}") from None
    lines = [line for line in csv.reader(io.StringIO(text)) if line]
    if len(lines) < 2 or len(lines[0]) < 2:
        raise FormatError(f"{path} must have a header, an attribute, a target and a row, got {len(lines)} lines")
    head, rows = [cell.strip() for cell in lines[0]], lines[1:]
    for number, row in enumerate(rows, start=2):
        if len(row) != len(head):
            raise FormatError(f"{path} must have {len(head)} fields in each row, got {len(row)} in row {number}")
    columns = [[cell.strip() for cell in column] for column in zip(*rows, strict=True)]
    coded = [_coded(column) for column in columns[:-1]]
    return _domain(name, str(path), head[:-1], coded, columns[-1], positive)


def _coded(column: list[str]) -> tuple[Floats, tuple[str, ...]]:
    """Convert a column of a CSV file to numbers, with its values if it is nominal."""
    present = {cell for cell in column if cell not in MISSING}
    try:
        nominal = {float(cell) for cell in present} <= {0.0, 1.0} and len(present) == 2
    except ValueError:
        nominal = True
    if not nominal:
        return np.array([float(cell) if cell not in MISSING else np.nan for cell in column]), ()
    values = tuple(sorted(present))
    place = {value: float(i) for i, value in enumerate(values)}
    return np.array([place.get(cell, np.nan) for cell in column]), values


def _from_arff(name: str, path: Path, positive: str | None = None) -> Domain:
    from scipy.io import arff

    try:
        table, meta = arff.loadarff(str(path))
    except (ValueError, NotImplementedError, StopIteration, arff.ArffError) as error:
        raise FormatError(f"{path} must be an ARFF of numeric and nominal attributes: {error}") from None
    names = meta.names()
    if len(names) < 2 or not table.size:
        raise FormatError(f"{path} must have an attribute, a target and a row, got {len(names)} attributes")
    coded = []
    for attribute in names[:-1]:
        kind, values = meta[attribute]
        column = table[attribute]
        if kind == "nominal":
            place = {value: float(i) for i, value in enumerate(values)}
            coded.append((np.array([place.get(cell.decode(), np.nan) for cell in column]), tuple(values)))
        else:
            coded.append((column.astype(np.float64), ()))
    last = table[names[-1]]
    target = [cell.decode() if isinstance(cell, bytes) else f"{cell:g}" for cell in last]
    return _domain(name, str(path), names[:-1], coded, target, positive)


def _fetched(name: str, positive: str | None = None) -> Domain:
    if name not in OPENML:
        raise InputError(f"`name` must be one of {', '.join(OPENML)}, got {name!r}")
    try:
        from sklearn.datasets import fetch_openml
    except ImportError:
        raise MissingExtraError('fetching from OpenML needs scikit-learn: pip install "costcurves[sklearn]"') from None
    source = f"data set {OPENML[name]} of OpenML"
    try:
        bunch = fetch_openml(data_id=OPENML[name], as_frame=False, parser="liac-arff")
    except OSError as error:
        raise DataError(f"{source} ({name}) must be within reach, or `data` a directory with it: {error}") from None
    names = list(bunch.feature_names)[: FIRST_COLUMNS.get(name)]
    categories = bunch.categories or {}
    table = np.asarray(bunch.data, dtype=np.float64)
    coded = [(table[:, i], tuple(map(str, categories.get(one) or ()))) for i, one in enumerate(names)]
    return _domain(name, source, names, coded, [str(label) for label in bunch.target], positive)


def _domain(
    name: str,
    source: str,
    attributes: Sequence[str],
    coded: Sequence[tuple[Floats, tuple[str, ...]]],
    target: Sequence[str],
    positive: str | None,
) -> Domain:
    """Check and make the domain. By default the class with the fewest rows is positive."""
    for row, label in enumerate(target, start=1):
        if label in MISSING:
            raise DataError(f"{source} must have a class in each row, got none in example {row}")
    classes, counts = np.unique(np.asarray(target, dtype=object).astype(str), return_counts=True)
    fewest = classes[counts == counts.min()] if positive is None else classes[classes == positive]
    if positive is not None and not fewest.size:
        raise InputError(f"`positive` must be a class of {source}: {', '.join(classes)}, got {positive!r}")
    if classes.size < 2 or fewest.size > 1:
        found = ", ".join(f"{one} {count}" for one, count in zip(classes, counts, strict=True))
        raise DataError(f"{source} must have one class rarer than all others, got {found}")
    for attribute, (column, _) in zip(attributes, coded, strict=True):
        if np.isinf(column).any():
            raise DataError(f"{source} must have finite numbers, got an infinite value of {attribute!r}")
    X = np.column_stack([column for column, _ in coded])
    values = tuple(values for _, values in coded)
    chosen = str(fewest[0])
    y = np.asarray(target, dtype=object).astype(str) == chosen
    for array in (X, y):
        array.setflags(write=False)
    nominal = np.array([bool(one) for one in values])
    return Domain(name, X, nominal, y, tuple(attributes), values, chosen)
