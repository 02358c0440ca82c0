"""From columns to labels, scores and predicted classes, with a note of everything that was guessed."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import costcurves as cc
from costcurves._base.text import is_number, safe
from costcurves._base.validation import BoolArray, FloatArray
from costcurves.cli._answer_parts import ClassData, Data
from costcurves.cli._print import Problem, listing, quoted
from costcurves.cli._tables import Columns, Guess, existing, read_columns, resolve
from costcurves.conditions.scenarios import Scenarios
from costcurves.data.checks import Findings, check_rows
from costcurves.data.readers.columns import is_missing, role_of

# A column with more values than this does not hold classes.
MOST_CLASSES = 50
# Names under which people keep the truth.
# What columns that are not taken for scores look like.
ROLES = {"id": "an identifier", "weight": "weights (--weight)", "fold": "folds", "time": "dates"}
_COMMA_NUMBER = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)?(,\d+)?([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
LABEL_NAMES = ("label", "y", "y_true", "target", "class", "truth", "actual", "outcome")


def _counted(names: Sequence[str], dropped: int) -> str:
    """Return how many classifiers there are, and how many rows were dropped."""
    many = f"{len(names)} classifier{'s' * (len(names) != 1)}"
    return many + (f", {dropped:,} incomplete row{'s' * (dropped != 1)} dropped" if dropped else "")


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Predictions of two classes, and what they are called in the table that they come from."""

    source: str
    label: str
    positive: str
    negative: str
    predictions: cc.Predictions
    weight: str | None = None
    dropped: int = 0
    guesses: tuple[Guess, ...] = ()
    left: tuple[str, ...] = ()  # columns of numbers that were not taken for scores, and why
    rest: Any = None  # the other columns of the same rows, as an Arrow table

    @property
    def names(self) -> tuple[str, ...]:
        """The classifiers."""
        return self.predictions.names

    def summary(self) -> str:
        """Return the data in a line."""
        n, positives = self.predictions.y_true.size, int(self.predictions.y_true.sum())
        weight = f", weighted by {safe(self.weight)}" if self.weight else ""
        return (
            f"{safe(self.source)}: {n:,} rows, {positives:,} of them {safe(self.positive)} "
            f"({100 * positives / n:.3g} %), {_counted(self.names, self.dropped)}{weight}"
        )

    def document(self) -> Data:
        """Return the data's part of a JSON answer."""
        return {
            "source": self.source,
            "rows": int(self.predictions.y_true.size),
            "positives": int(self.predictions.y_true.sum()),
            "dropped": self.dropped,
            "label": self.label,
            "positive": self.positive,
            "classifiers": list(self.names),
            "weight": self.weight,
            "guessed": [guess.text for guess in self.guesses],
        }

    def check(self, *, thorough: bool) -> Findings:
        """Return what may mislead about these rows; unless `thorough`, only columns with telling names count."""
        names = [name for name in self.rest.column_names if thorough or role_of(name, np.zeros(1)) is not None]
        columns = {name: array for name in names if (array := _codes(self.rest.column(name))) is not None}
        return check_rows(self.predictions.in_memory(), columns)


@dataclass(frozen=True, slots=True)
class ClassTable:
    """True and predicted classes, as texts, of some classifiers for the same rows."""

    source: str
    label: str
    y_true: list[str]
    predictions: dict[str, list[str]]
    dropped: int = 0
    guesses: tuple[Guess, ...] = ()

    def summary(self) -> str:
        """Return the data in a line."""
        rows = f"{len(self.y_true):,} rows, {len(set(self.y_true))} classes"
        return f"{safe(self.source)}: {rows}, {_counted(list(self.predictions), self.dropped)}"

    def document(self) -> ClassData:
        """Return the data's part of a JSON answer."""
        return {
            "source": self.source,
            "rows": len(self.y_true),
            "dropped": self.dropped,
            "label": self.label,
            "classifiers": list(self.predictions),
            "guessed": [guess.text for guess in self.guesses],
        }


def read_scores(
    path: Path,
    *,
    label: str | None,
    positive: str | None,
    scores: Sequence[str],
    weight: str | None,
    drop_missing: bool,
    known_positive: Any = None,
    decimal_comma: bool = False,
    strict: bool = False,
) -> ScoreTable:
    """Return labels and scores of two classes; `known_positive` is what the costs file says."""
    columns = read_columns(path)
    label = label or _guess_label(columns, weight, scores)
    truth = columns.get(label, "--label")
    names = list(dict.fromkeys(scores)) or _guess_scores(columns, label, weight)
    used = {name: columns.get(name, "--score") for name in names}
    used |= {} if weight is None else {weight: columns.get(weight, "--weight")}
    if not decimal_comma and any(_decimal_commas(column) for column in used.values()):
        columns.guess("numbers such as 0,25", "--decimal-comma")
        decimal_comma = True
    values = {name: _numbers(used[name], name, "--score", decimal_comma) for name in names}
    weights = None if weight is None else _numbers(used[weight], weight, "--weight", decimal_comma)
    numbers = values | ({} if weight is None else {weight: weights})
    kept, dropped = _complete(columns, {label: truth}, numbers, drop_missing)
    truth = truth.filter(kept)
    labels = _distinct(truth)
    chosen = _positive(columns, label, labels, positive, known_positive)
    guesses = columns.settle(strict)
    mask = kept.to_numpy(zero_copy_only=False)
    positive, negative = _text(chosen), _text(next(value for value in labels if value != chosen))
    return ScoreTable(
        source=columns.source,
        label=label,
        positive=positive,
        negative=negative,
        predictions=cc.Predictions(
            np.where(_equals(truth, chosen), positive, negative),
            {name: array[mask] for name, array in values.items()},
            pos_label=positive,
            sample_weight=None if weights is None else weights[mask],
        ),
        weight=weight,
        dropped=dropped,
        guesses=guesses,
        left=tuple(columns.left),
        rest=columns.table.drop_columns(list(dict.fromkeys((label, *used)))).filter(kept),
    )


def _codes(column: Any) -> Any:
    """Return a column as numbers that are equal where its values are, or None if it has values of several parts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return column.to_numpy()
    if pa.types.is_nested(kind) or pa.types.is_null(kind):
        return None
    return pc.fill_null(column.combine_chunks().dictionary_encode().indices, -1).to_numpy(zero_copy_only=False)


def _guess_label(columns: Columns, weight: str | None, scores: Sequence[str]) -> str:
    """Return the one column that can hold the labels."""
    import pyarrow as pa

    free = [name for name in columns.names if name != weight and name not in scores]
    two = [name for name in free if _can_be_label(columns.table.column(name), pa)]
    named = [name for name in two if name.lower() in LABEL_NAMES]
    found = named if len(named) == 1 else two
    if len(found) == 1:
        columns.guess("by its name" if named else "the only column with two values", "--label", found[0])
        return found[0]
    # A column with such a name but without two values was meant; a later check says what is wrong with it.
    likely = [name for name in free if name.lower() in LABEL_NAMES]
    if not found and len(likely) == 1:
        columns.guess("by its name", "--label", likely[0])
        return likely[0]
    which = f"it may be {listing([quoted(n) for n in found[:5]], 'or')}" if found else f"there is {columns.some()}"
    raise Problem(f"say with --label which column of {safe(columns.source)} holds the true labels: {which}")


def _can_be_label(column: Any, pa: Any) -> bool:
    kind = column.type
    if pa.types.is_floating(kind) or pa.types.is_nested(kind) or _decimal_commas(column):
        return False
    return len(column.drop_null().unique()) == 2


def _for_more_classes(labels: int) -> str:
    """Name the commands that take more than two classes, if there are more than two labels."""
    return " (for more classes see bcost, and report --pred)" if 2 < labels <= MOST_CLASSES else ""


def _guess_scores(columns: Columns, label: str, weight: str | None) -> list[str]:
    """Return the columns of decimals that do not look like anything else: whole numbers may be folds or ages."""
    import pyarrow as pa

    names, others, whole = [], [], []
    for name in columns.names:
        column = columns.table.column(name)
        comma = _decimal_commas(column)
        if name not in (label, weight) and (comma or pa.types.is_floating(column.type)):
            values = _numbers(column, name, "--score", comma)
            role = role_of(name, values[~np.isnan(values)])
            if role is None:
                names.append(name)
            else:
                others.append(f"{quoted(name)} looks like {ROLES[role]}")
        elif name not in (label, weight) and pa.types.is_decimal(column.type) and column.type.scale > 0:
            whole.append(f"{quoted(name)} holds exact decimals")
        elif name not in (label, weight) and (pa.types.is_integer(column.type) or pa.types.is_decimal(column.type)):
            whole.append(f"{quoted(name)} holds whole numbers")
    if not names:
        why = others[0] if others else f"there is {columns.some()}"
        why += _for_more_classes(len(columns.table.column(label).drop_null().unique()))
        raise Problem(
            f"say with --score which columns of {safe(columns.source)} hold scores (repeat it for several): "
            f"none holds decimals{' that may be scores' if others else ''}; {why}"
        )
    without = f"; {listing(others)}" if others else ""
    columns.guess(f"all columns of decimals{without}", "--score", *names)
    columns.left += [*others, *whole]
    return names


def _decimal_commas(column: Any) -> bool:
    """Return whether a column holds texts with decimal commas, such as 0,25.

    If every value could also have a comma for thousands, as 1,250 has, it is taken for a text.
    """
    import pyarrow as pa

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return False
    values = [value for value in column.drop_null().unique().to_pylist() if value]
    with_comma = [value for value in values if "," in value]
    return (
        bool(with_comma)
        and all(map(_COMMA_NUMBER.fullmatch, values))
        and not all(map(_THOUSANDS.fullmatch, with_comma))
    )


def _numbers(column: Any, name: str, option: str, comma: bool = False) -> Any:
    """Return a column as numbers, with NaN for missing values."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_null(kind):
        raise Problem(f"{option} {quoted(name)}: the column is empty")
    if pa.types.is_integer(kind) and column.null_count == 0:
        return column.to_numpy()
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        array = _parsed(column.to_pylist(), name, option, comma)
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        array = column.cast(pa.float64()).to_numpy()
    else:
        raise Problem(f"{option} {quoted(name)}: the column must hold numbers, and holds {kind}")
    infinite = np.flatnonzero(np.isinf(array))
    if infinite.size:
        raise Problem(
            f"{option} {quoted(name)}: {infinite.size:,} of {array.size:,} values are infinite, "
            f"the first in row {infinite[0] + 1:,}"
        )
    return array


def _parsed(texts: list[str | None], name: str, option: str, comma: bool) -> FloatArray:
    """Return texts as numbers, with NaN for empty ones; with `comma`, points separate thousands where both occur."""
    numbers = np.full(len(texts), math.nan)
    for row, text in enumerate(texts):
        if not text:
            continue
        plain = text.replace(".", "").replace(",", ".") if comma and "," in text else text
        if not is_number(plain):
            hint = ": for decimal commas add --decimal-comma" if not comma and _COMMA_NUMBER.fullmatch(text) else ""
            what = f"row {row + 1:,} has {quoted(text)}{hint}"
            raise Problem(f"{option} {quoted(name)}: the column must hold numbers, but {what}")
        numbers[row] = float(plain)
    return numbers


def _complete(columns: Columns, labels: dict[str, Any], numbers: dict[str, Any], drop: bool) -> tuple[Any, int]:
    """Return which rows are complete, and how many are not; unless `drop` is set, incomplete rows are refused."""
    import pyarrow as pa

    missing = {name: is_missing(column).to_numpy() for name, column in labels.items()}
    missing |= {name: np.isnan(array) for name, array in numbers.items() if array.dtype.kind == "f"}
    bad = np.zeros(columns.table.num_rows, dtype=bool)
    for holes in missing.values():
        bad |= holes
    if bad.any() and not drop:
        counts = [f"{quoted(name)} in {int(holes.sum()):,}" for name, holes in missing.items() if holes.any()]
        raise Problem(
            f"{safe(columns.source)}: {int(bad.sum()):,} of {bad.size:,} rows lack a value ({', '.join(counts)}), "
            f"the first is row {int(np.flatnonzero(bad)[0]) + 1:,}; leave such rows out with --drop-missing"
        )
    if bad.all():
        raise Problem(f"{safe(columns.source)}: no row has all values")
    return pa.array(~bad), int(bad.sum())


def _distinct(column: Any) -> list[Any]:
    values = column.unique().to_pylist()
    return sorted(values, key=lambda value: (str(type(value)), value))


def _positive(columns: Columns, label: str, labels: list[Any], wanted: str | None, known: Any) -> Any:
    """Return the positive label: the one asked for, the one in the costs file, or the obvious one (1 or true)."""
    if len(labels) != 2:
        some = ", ".join(quoted(_text(value)) for value in labels[:5]) + (", …" if len(labels) > 5 else "")
        many = _for_more_classes(len(labels))
        raise Problem(
            f"--label {quoted(label)}: two classes are needed, and the column has {len(labels)}: {some}{many}"
        )
    if wanted is not None:
        asked, option = wanted, "--positive"
    elif known is not None:
        asked, option = _text(known), "`positive` in the costs file"
    elif labels in ([False, True], [0, 1], [-1, 1]):
        columns.guess("the larger label", "--positive", _text(labels[1]))
        return labels[1]
    else:
        first, second = (_text(value) for value in labels)
        raise Problem(
            f"say which label is the positive one, the one a miss is about: --positive {quoted(first)} or "
            f"--positive {quoted(second)}"
        )
    for value in labels:
        same = _text(value) == asked or (isinstance(value, bool) and _text(value) == asked.lower())
        if same or _same_number(value, asked):
            return value
    alike = next((quoted(_text(v)) for v in labels if _text(v).casefold() == asked.casefold()), "")
    raise Problem(
        f"{option} {quoted(asked)}: the labels in {quoted(label)} are {listing([quoted(_text(v)) for v in labels])}"
        + (f"; did you mean {alike}?" if alike else "")
    )


def _same_number(value: Any, text: str) -> bool:
    return not isinstance(value, str) and is_number(text) and float(value) == float(text)


def _text(value: Any) -> str:
    """Return a label as text: whole floats without decimals, booleans as true and false."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return str(int(value))
    return str(value)


def _equals(column: Any, value: Any) -> BoolArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    result: BoolArray = pc.equal(column, pa.scalar(value, column.type)).to_numpy().astype(np.bool_)
    return result


def read_classes(
    path: Path, *, label: str | None, preds: Sequence[str], drop_missing: bool, strict: bool
) -> ClassTable:
    """Return true and predicted classes as texts."""
    columns = read_columns(path)
    if label is None:
        named = [name for name in columns.names if name.lower() in LABEL_NAMES]
        if len(named) != 1:
            raise Problem(
                f"say with --label which column of {safe(columns.source)} holds the true classes: "
                f"there is {columns.some()}"
            )
        label = named[0]
        columns.guess("by its name", "--label", label)
    truth = columns.get(label, "--label")
    names = list(dict.fromkeys(preds)) or _guess_preds(columns, label)
    chosen = {name: columns.get(name, "--pred") for name in names}
    kept, dropped = _complete(columns, {label: truth, **chosen}, {}, drop_missing)
    return ClassTable(
        source=columns.source,
        label=label,
        y_true=[_text(value) for value in truth.filter(kept).to_pylist()],
        predictions={name: [_text(v) for v in column.filter(kept).to_pylist()] for name, column in chosen.items()},
        dropped=dropped,
        guesses=columns.settle(strict),
    )


def _guess_preds(columns: Columns, label: str) -> list[str]:
    """Return the columns of the label's type whose values are all among the labels."""
    truth = columns.table.column(label)
    classes = set(truth.unique().to_pylist())
    names = [
        name
        for name in columns.names
        if name != label
        and columns.table.column(name).type == truth.type
        and set(columns.table.column(name).unique().to_pylist()) <= classes
    ]
    if not names:
        raise Problem(
            f"say with --pred which columns of {safe(columns.source)} hold predicted classes (repeat it for several "
            f"classifiers): no other column holds only the classes of {quoted(label)}; there is {columns.some()}"
        )
    columns.guess("all columns that hold only those classes", "--pred", *names)
    return names


def read_matrix(path: Path, name: str | None) -> tuple[cc.CostMatrix, Scenarios]:
    """Return a cost matrix with text labels, and what else its file says, from a TOML or a CSV file."""
    file = existing(resolve(path, ".toml"))
    if file.suffix.lower() == ".toml":
        known = cc.read_scenarios(file)
        if name is None and len(known.matrices) != 1:
            which = (
                f"choose with --matrix one of {listing(list(known.matrices), 'or')}"
                if known.matrices
                else "it has no matrix"
            )
            raise Problem(f"{safe(file.name)}: one cost matrix is needed; {which}")
        return known.matrix(name or next(iter(known.matrices))), known
    if name is not None:
        raise Problem("--matrix names a matrix in a .toml file, but --costs is not such a file")
    columns = read_columns(file)
    first, *others = columns.names
    rows = [_text(value) for value in columns.table.column(first).to_pylist()]
    if len(others) != len(rows):
        raise Problem(
            f"{safe(file.name)}: a cost matrix has the true classes in its first column and a column for each "
            f"predicted class; this has {len(rows)} rows and {len(others)} further columns"
        )
    cells = {name: _numbers(columns.table.column(name), name, "--costs") for name in others}
    if sorted(rows) != sorted(others):
        raise Problem(f"{safe(file.name)}: rows are {listing(rows)}, but columns are {listing(others)}")
    prices = cc.CostMatrix([[float(cells[name][i]) for name in rows] for i in range(len(rows))], rows)
    return prices, Scenarios({}, {})
