"""Dataframes of any engine become curves: those in memory at once, all others where they are, in passes."""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from costcurves._base.errors import (
    CostCurvesError,
    DataError,
    InputError,
    MissingExtraError,
    UnsupportedError,
)
from costcurves._base.frames import Frame, collected, open_frame
from costcurves._base.validation import check_choice, check_column, check_name, shown
from costcurves.counting.counts import score_of
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.roc import RocCurve
from costcurves.curves.thresholds import Policy
from costcurves.data.passes import Counts, about_column, curve_counts, find_curves, find_difference
from costcurves.data.readers.columns import Missing, Roles, said_of_columns
from costcurves.data.readers.dask import DaskReader
from costcurves.data.readers.partitions import PartsReader, frame_batch
from costcurves.data.readers.spark import SparkReader
from costcurves.data.readers.streams import DuckReader, PolarsReader
from costcurves.data.tallies.scores import MOST_DISTINCT
from costcurves.decisions.comparison import CurveDifference, compare

C = TypeVar("C", bound=Counts)
T = TypeVar("T")

READERS: dict[str, type[PartsReader]] = {
    "polars": PolarsReader,
    "duckdb": DuckReader,
    "dask": DaskReader,
    "pyspark": SparkReader,
    "pyspark[connect]": SparkReader,
}
NEED_ARROW = (DuckReader, SparkReader)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns asked for, with the arguments that named them."""

    label: str
    scores: dict[str, Sequence[str]]
    weight: str | None

    def roles(self, frame: Frame) -> Roles:
        """Return which column is what, after checking that they are there, differ, and are of the right type."""
        pairs = self.pairs()
        used: dict[str, str] = {}
        for role, name in pairs:
            check_column(role, check_name(role, name), frame.types, frame)
            if name in frame.repeated:
                raise InputError(f"`{role}` must name one column, got {shown(name)}, which {frame} has twice or more")
            if name in used and (role != "weight" or used[name] == "label"):
                twice = "different columns" if role == used[name] else f"another column than `{used[name]}`"
                raise InputError(f"`{role}` must be {twice}, got {shown(name)} twice")
            if role != "label" and name not in frame.numeric:
                kind = f"type {frame.types[name]} in {frame}"
                raise DataError(f"`{role}` must be a numeric column, got {shown(name)} of {kind}")
            used[name] = role
        return Roles(self.label, tuple(name for names in self.scores.values() for name in names), weight=self.weight)

    def pairs(self) -> list[tuple[str, str]]:
        """Return the arguments with the columns that they name."""
        pairs = [("label", self.label), *((role, name) for role, names in self.scores.items() for name in names)]
        return pairs if self.weight is None else [*pairs, ("weight", self.weight)]


def roc_curves(
    frame: Any, *, label: str, scores: Sequence[str], weight: str | None, pos_label: Any, points: str, on_null: str
) -> dict[str, RocCurve]:
    """Return the ROC curve of every score column."""
    check_choice("points", points, ("all", "hull"))
    columns = _Columns(label, {"scores": scores}, weight)
    return _answer(frame, columns, on_null, lambda data: data.curves(points, pos_label))


def roc_curve(
    frame: Any,
    *,
    label: str,
    score: str,
    weight: str | None,
    pos_label: Any,
    name: str | None,
    points: str,
    on_null: str,
) -> RocCurve:
    """Return the ROC curve of one score column."""
    check_choice("points", points, ("all", "hull"))
    name = score if name is None else check_name("name", name)
    columns = _Columns(label, {"score": [score]}, weight)
    return replace(_answer(frame, columns, on_null, lambda data: data.curves(points, pos_label)[score]), name=name)


def difference(
    frame: Any,
    *,
    label: str,
    score_a: str,
    score_b: str,
    weight: str | None,
    pos_label: Any,
    policies: tuple[Policy, Policy],
    names: tuple[str, str] | None,
    on_null: str,
    **options: Any,
) -> CurveDifference:
    """Return the difference of two score columns' costs."""
    columns = _Columns(label, {"score_a": [score_a], "score_b": [score_b]}, weight)
    pair = (score_a, score_b)
    found = _answer(frame, columns, on_null, lambda data: data.difference(pair, pos_label, policies, options))
    return found if names is None else replace(found, names=names)


def _answer(frame: Any, columns: _Columns, on_null: str, ask: Callable[[_Data], T]) -> T:
    """Return the answer to a question about a frame; say how many rows were left out."""
    check_choice("on_null", on_null, ("refuse", "drop"))
    opened = open_frame(frame)
    data = _data(opened, columns.roles(opened), on_null == "drop")
    try:
        found = ask(data)
    except CostCurvesError as error:
        raise said_of_columns(error, columns.pairs()) from None
    data.missing.warn()
    return found


def _data(frame: Frame, roles: Roles, drop_missing: bool) -> _Data:
    reader = None if frame.eager else READERS.get(frame.library)
    if reader is None:
        return _InMemory(frame.native if frame.eager else collected(frame, roles.names), roles, drop_missing)
    if reader in NEED_ARROW and importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError(f'{frame} needs pyarrow: pip install "costcurves[files]"')
    dtype = {name: "float32" if name in frame.narrow else "float64" for name in roles.scores}
    return _InPasses(reader(frame.native, roles, drop_missing), dtype)


class _Data(ABC):
    """What both kinds of frames are asked."""

    @property
    @abstractmethod
    def missing(self) -> Missing:
        """How many rows there are, and how many of them have missing values."""

    @abstractmethod
    def curves(self, points: str, pos_label: Any) -> dict[str, RocCurve]:
        """Return the ROC curve of every score column."""

    @abstractmethod
    def difference(
        self, pair: tuple[str, str], pos_label: Any, policies: tuple[Policy, Policy], options: dict[str, Any]
    ) -> CurveDifference:
        """Return the difference of two score columns' costs."""


class _InMemory(_Data):
    """Columns as arrays: the same calls as without a frame."""

    def __init__(self, frame: Any, roles: Roles, drop_missing: bool) -> None:
        self._missing = Missing()
        self._rows = frame_batch(frame, roles, self._missing)
        if not drop_missing:
            self._missing.refuse()
        self._missing.need_rows("`frame`")

    @property
    def missing(self) -> Missing:
        """How many rows there are, and how many of them have missing values."""
        return self._missing

    def curves(self, points: str, pos_label: Any) -> dict[str, RocCurve]:
        """Return the ROC curve of every score column."""
        options = {"pos_label": pos_label, "sample_weight": self._rows.weight, "points": points}
        found = {}
        for name, score in self._rows.columns.items():
            with about_column(name, "y_score", score_of(name)):
                found[name] = RocCurve.from_predictions(self._rows.label, score, name=name, **options)
        return found

    def difference(
        self, pair: tuple[str, str], pos_label: Any, policies: tuple[Policy, Policy], options: dict[str, Any]
    ) -> CurveDifference:
        """Return the difference of two score columns' costs."""
        scores = (self._rows.columns[name] for name in pair)
        options = {**options, "pos_label": pos_label, "sample_weight": self._rows.weight}
        a, b = pair
        with about_column(a, score_of(a)), about_column(b, score_of(b)):
            return compare(self._rows.label, *scores, names=pair, policy=policies, **options)


class _InPasses(_Data):
    """A frame that is read as often as a question needs; to `passes` it is the reader."""

    def __init__(self, reader: PartsReader, dtype: dict[str, str]) -> None:
        self._reader, self._dtype = reader, dtype

    @property
    def missing(self) -> Missing:
        """How many rows the last pass found, and how many of them with missing values."""
        return self._reader.missing

    def run(self, counts: C) -> C:
        """Read the frame once into `counts`."""
        found = self._reader.run(counts)
        self.missing.need_rows("`frame`")
        return found

    def curves(self, points: str, pos_label: Any) -> dict[str, RocCurve]:
        """Return the ROC curve of every score column."""
        weighted = self._reader.roles.weight is not None
        counts = curve_counts(
            list(self._dtype),
            pos_label=pos_label,
            weighted=weighted,
            points=points,
            dtype=self._dtype,
            limit=MOST_DISTINCT,
        )
        try:
            return find_curves(self, counts, points=points)
        except UnsupportedError as error:
            if "distinct scores" not in str(error):
                raise
            what = "points='all'" if points == "all" else "a curve of weighted data"
            instead = (
                "use points='hull', which is exact too" if not weighted else "round the scores, or leave out `weight`"
            )
            raise UnsupportedError(
                f"{what} must hold all distinct scores in memory, got more than {MOST_DISTINCT}: {instead}"
            ) from None

    def difference(
        self, pair: tuple[str, str], pos_label: Any, policies: tuple[Policy, Policy], options: dict[str, Any]
    ) -> CurveDifference:
        """Return the difference of two score columns' costs."""
        points = "all" if any(policy.needs_all_points for policy in policies) else "hull"
        curves = self.curves(points, pos_label)
        a, b = (CostCurve(curves[name], policy) for name, policy in zip(pair, policies, strict=True))
        return find_difference(self, a, b, pos_label=pos_label, **options)
