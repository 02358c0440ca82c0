"""Dataframes of any engine as sources of curves. Eager frames are used directly, others are read in passes."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from costcurves._base.errors import CostCurvesError, DataError, InputError, MissingExtraError
from costcurves._base.frames import Frame, collected, open_frame
from costcurves._base.validation import check_choice, check_column, check_name, shown
from costcurves.counting.counts import score_of
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.policy import Policy
from costcurves.curves.roc import RocCurve
from costcurves.data.batches import Batch, about_column
from costcurves.data.passes import Counts, InPasses, Reader, curve_counts, find_curves, in_memory
from costcurves.data.readers.columns import Missing, Roles, said_of_columns
from costcurves.data.readers.frame_readers import READERS, PartsReader, frame_batch
from costcurves.data.tallies.distinct import MOST_DISTINCT
from costcurves.decisions.compare import compare_in
from costcurves.decisions.curve_difference import CurveDifference
from costcurves.decisions.rows import Rows, Source

C = TypeVar("C", bound=Counts)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The requested columns, with the arguments that named them."""

    label: str
    scores: dict[str, Sequence[str]]
    weight: str | None
    folds: str | None = None

    def roles(self, frame: Frame) -> Roles:
        """Assign columns to roles, after checking that they exist, are distinct and have the right type."""
        pairs = self.pairs()
        used: dict[str, str] = {}
        for role, name in pairs:
            check_column(role, check_name(role, name), frame.types, frame)
            if name in frame.repeated:
                raise InputError(f"`{role}` must name one column, got {shown(name)}, which {frame} has twice or more")
            if name in used and (role != "weight" or used[name] == "label"):
                twice = "different columns" if role == used[name] else f"another column than `{used[name]}`"
                raise InputError(f"`{role}` must be {twice}, got {shown(name)} twice")
            if role not in ("label", "folds") and name not in frame.numeric:
                kind = f"type {frame.types[name]} in {frame}"
                raise DataError(f"`{role}` must be a numeric column, got {shown(name)} of {kind}")
            used[name] = role
        scores = tuple(name for names in self.scores.values() for name in names)
        return Roles(self.label, scores, weight=self.weight, group=self.folds)

    def pairs(self) -> list[tuple[str, str]]:
        """List the arguments with the columns that they name."""
        pairs = [("label", self.label), *((role, name) for role, names in self.scores.items() for name in names)]
        others = (("weight", self.weight), ("folds", self.folds))
        return [*pairs, *((role, name) for role, name in others if name is not None)]


@dataclass(frozen=True, slots=True, eq=False)
class FrameSource:
    """A dataframe as a source, with the number of its rows that have missing values."""

    source: Source
    missing: Callable[[], Missing]
    columns: _Columns
    folds: Any = None

    @contextmanager
    def asked(self) -> Iterator[None]:
        """Translate errors about arrays to columns and, at the end, warn about rows that were left out."""
        try:
            with about_scores(self.source.names):
                yield
        except CostCurvesError as error:
            raise said_of_columns(error, self.columns.pairs()) from None
        self.missing().warn()

    def rocs(self, points: str) -> dict[str, RocCurve]:
        """Find the ROC curves of all score columns."""
        with self.asked():
            return {name: self.source.roc(name, points) for name in self.source.names}

    def curve(self, score: str, policy: Policy) -> CostCurve:
        """Return the cost curve of one score column."""
        with self.asked():
            return self.source.curve(score, policy)

    def compare(self, a: str, b: str, **options: Any) -> CurveDifference:
        """Compare the costs of two score columns."""
        with self.asked():
            return compare_in(self.source, a, b, **options)


@contextmanager
def about_scores(names: Sequence[str]) -> Iterator[None]:
    """Make errors about the scores of a classifier name their column."""
    with ExitStack() as stack:
        for name in names:
            stack.enter_context(about_column(name, score_of(name)))
        yield


def open_source(
    frame: Any,
    *,
    label: str,
    scores: dict[str, Sequence[str]],
    weight: str | None,
    pos_label: Any,
    on_null: str,
    folds: str | None = None,
) -> FrameSource:
    """Open a frame as a source. `scores` maps the argument that named the columns to the columns.

    With a column of folds the rows are in memory.
    """
    check_choice("on_null", on_null, ("refuse", "drop"))
    for role, names in scores.items():
        if not isinstance(names, (list, tuple)):
            raise InputError(f"`{role}` must be a sequence of column names, got {shown(names)}")
    opened, columns = open_frame(frame), _Columns(label, scores, weight, folds)
    roles = columns.roles(opened)
    drop_missing = on_null == "drop"
    reader = None if opened.eager or folds is not None else READERS.get(opened.library)
    if reader is None:
        native = opened.native if opened.eager else collected(opened, roles.names)
        return _in_memory(native, roles, columns, drop_missing, pos_label)
    if reader.needs_arrow and importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError(f'{opened} needs pyarrow: pip install "costcurves[files]"')
    dtype = {name: "float32" if name in opened.narrow else "float64" for name in roles.scores}
    lazy = _LazyFrame(reader(opened.native, roles, drop_missing), opened, dtype, pos_label)
    return FrameSource(lazy, lambda: lazy.missing, columns)


def _in_memory(frame: Any, roles: Roles, columns: _Columns, drop_missing: bool, pos_label: Any) -> FrameSource:
    batch, missing = _whole(frame, roles, drop_missing)
    missing.need_rows("`frame`")
    try:
        with about_scores(roles.scores):
            rows = Rows(batch.label, batch.columns, pos_label, batch.weight)
    except CostCurvesError as error:
        raise said_of_columns(error, columns.pairs()) from None
    return FrameSource(rows, lambda: missing, columns, batch.group)


def _whole(frame: Any, roles: Roles, drop_missing: bool) -> tuple[Batch, Missing]:
    """Return all rows of a frame in memory, and what is missing in them."""
    missing = Missing()
    batch = frame_batch(frame, roles, missing)
    if not drop_missing:
        missing.refuse()
    return batch, missing


class _LazyFrame(InPasses):
    """A lazy frame, which is read as often as necessary."""

    def __init__(self, reader: PartsReader, frame: Frame, dtype: dict[str, str], pos_label: Any) -> None:
        super().__init__(tuple(dtype), pos_label)
        self._reader, self._frame, self._dtype = reader, frame, dtype

    @property
    def missing(self) -> Missing:
        """The number of rows in the last pass, and how many of them have missing values."""
        return self._reader.missing

    @property
    def reader(self) -> Reader:
        """The frame itself, which also keeps the number of rows."""
        return self

    def run(self, counts: C) -> C:
        """Read the frame once into `counts`."""
        found = self._reader.run(counts)
        self.missing.need_rows("`frame`")
        return found

    def rows(self) -> Rows:
        """Read the columns into memory."""
        roles = self._reader.roles
        batch, _ = _whole(collected(self._frame, roles.names), roles, self._reader.drop_missing)
        return Rows(batch.label, batch.columns, self.pos_label, batch.weight)

    def find(self, points: str) -> dict[str, RocCurve]:
        """Find the ROC curves of all score columns."""
        counts = curve_counts(
            self.names,
            pos_label=self.pos_label,
            weighted=self._reader.roles.weight is not None,
            points=points,
            dtype=self._dtype,
            limit=MOST_DISTINCT,
        )
        with in_memory(MOST_DISTINCT, "points='hull', which is exact too"):
            return find_curves(self, counts, points=points)
