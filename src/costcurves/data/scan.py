"""Predictions in files and databases, which are read in batches and in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from costcurves._base.errors import InputError, UnsupportedError
from costcurves._base.validation import OnNull, check_choice, check_name, check_two_names, is_among, shown
from costcurves.counting.class_labels import Label
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.thresholds import as_policy
from costcurves.data.file_source import FileSource
from costcurves.data.predictions import Predictions
from costcurves.data.readers.columns import Roles
from costcurves.data.readers.one_pass import check_progress, check_threads
from costcurves.data.readers.sources import open_source
from costcurves.data.tallies.bins import check_resolution
from costcurves.data.tallies.confusion import ConfusionTally
from costcurves.multiclass.bcost import CostInterval, bcost
from costcurves.multiclass.bdeltacost import CostDifference, bdeltacost


class Scan(Predictions):
    """Predictions in files or in a database table, read in batches when they are needed. Made by `scan`.

    Curves are found in one or two passes and kept. Each difference and each confusion table takes one pass.
    Recommendations and reports need the examples in memory and read them once.

    Attributes
    ----------
    label, weight, group : str or None
        The columns of true labels, of weights and of groups.
    names, predictions : tuple of str
        The columns of scores and of predicted labels, one per classifier.

    Examples
    --------
    >>> import costcurves as cc
    >>> path = cc.example_path("german_credit_scores.csv")
    >>> src = cc.scan(path, label="label", scores=["forest", "tree"], pos_label="bad")
    >>> src  # doctest: +ELLIPSIS
    Scan('...german_credit_scores.csv': label 'label', scores 'forest', 'tree')
    >>> src.hull()
    RocHull(18 vertices from 1 of 2 classifiers: 'forest'; never best: 'tree')
    """

    label: str
    weight: str | None
    group: str | None
    predictions: tuple[str, ...]
    _points = "hull"
    _source: FileSource

    def __init__(self, source: FileSource) -> None:
        self._start(source, source.pos_label)
        roles = source.roles
        self._set(label=roles.label, predictions=roles.predictions, weight=roles.weight, group=roles.group)

    @property
    def passes(self) -> int:
        """The number of passes over the data so far."""
        return sum(reader.passes for reader in self._source.readers.values())

    @property
    def missing(self) -> dict[str, int]:
        """The number of missing values in each column, in the rows left out so far by ``on_null="drop"``."""
        found: dict[str, int] = {}
        for reader in self._source.readers.values():
            found |= reader.missing.by_column
        return found

    @property
    def dropped(self) -> int:
        """The number of rows left out by ``on_null="drop"`` in the last pass over the scores or the predictions."""
        return max((reader.missing.dropped for reader in self._source.readers.values()), default=0)

    @property
    def max_error(self) -> float:
        """The most by which a cost can be too high because scores were binned. It is 0 without `resolution`."""
        found = self.roc_curves()
        nested = found.values() if self.group is None else [c for curves in found.values() for c in curves.values()]
        return float(max(curve.max_error for curve in nested))

    def columns(self) -> dict[str, str]:
        """The columns of the (first) file or table with their types."""
        return {name: str(kind) for name, kind in self._source.source.schemas()[0][1].items()}

    def roc_curves(self, *, points: str | None = None) -> dict[Any, Any]:
        """The ROC curves of all score columns by name or, with `group`, a dict of them for each group.

        Parameters
        ----------
        points : {"hull", "all"}, optional
            ``"all"`` holds every distinct score in memory, if they fit. The default is "hull".
        """
        self._need_scores()
        if self.group is None:
            return super().roc_curves(points=points)
        with self._source.asked():
            return dict(self._source.group_rocs(check_choice("points", points or self._points, ("hull", "all"))))

    def curves(self, *, policy: Any = "optimal") -> dict[Any, Any]:
        """The cost curves of all score columns by name or, with `group`, a dict of them for each group.

        Parameters
        ----------
        policy : policy
            The rule for the threshold at each pc, as for `CostCurve`. Policies such as "crossfit" and "bayes" need all
            distinct scores in memory; "crossfit" works with bins too (`resolution`).
        """
        if self.group is None:
            return super().curves(policy=policy)
        rule = as_policy(policy)
        self._need_scores()
        with self._source.asked():
            found = self._source.group_rocs(self._source.points_for(rule))
            return {
                group: {name: CostCurve(curve, rule) for name, curve in curves.items()}
                for group, curves in found.items()
            }

    def bcost(self, pred: str, costs: Any, **options: Any) -> CostInterval:
        """An interval for the expected cost of a column of predicted labels, as `bcost` gives it for arrays."""
        return bcost.from_confusion(self._table((pred,)).to_confusion(), costs, **options)

    def bdeltacost(self, a: str, b: str, costs: Any, **options: Any) -> CostDifference:
        """The difference in expected cost of two columns of predicted labels, as `bdeltacost` gives it for arrays."""
        names = check_two_names((a, b))
        return bdeltacost.from_joint(self._table(names).to_joint(), costs, **{"names": names, **options})

    def _table(self, names: tuple[str, ...]) -> ConfusionTally:
        """Count the predicted labels."""
        self._need_no_group()
        if self.weight is not None:
            raise UnsupportedError("confusion counts must have no weights, got a scan with `weight`")
        for name in names:
            if name not in self.predictions:
                raise _not_among("predictions", self.predictions, name)
        with self._source.asked():
            return self._source.table(names)

    def read(self, names: Sequence[str] | None = None) -> dict[str, Any]:
        """Read columns into arrays if they fit in memory. By default, all columns that the scan uses are read.

        Parameters
        ----------
        names : sequence of str, optional
        """
        return self._source.read(
            [names] if isinstance(names, str) else names if names is not None else self._source.roles.names
        )

    @contextmanager
    def _asked(self) -> Iterator[None]:
        """Refuse questions about all rows of a scan with groups, and translate errors about arrays to columns."""
        self._need_scores()
        self._need_no_group()
        with self._source.asked():
            yield

    def _one(self, name: str) -> str:
        if not is_among(name, self.names):
            raise _not_among("scores", self.names, name)
        return name

    def _need_scores(self) -> None:
        if not self.names:
            raise UnsupportedError("curves need score columns, got a scan without `scores`")

    def _need_no_group(self) -> None:
        if self.group is not None:
            raise UnsupportedError(f"this method needs a scan without groups, got one with group={self.group!r}")

    def __repr__(self) -> str:
        columns = {
            "label": (self.label,),
            "scores": self.names,
            "predictions": self.predictions,
            "weight": () if self.weight is None else (self.weight,),
            "group": () if self.group is None else (self.group,),
        }
        parts = [f"{role} {', '.join(map(repr, names))}" for role, names in columns.items() if names]
        if self._source.resolution is not None:
            parts.append(f"at most {self._source.resolution} bins")
        return f"Scan({self._source.where}: {', '.join(parts)})"


def _not_among(role: str, known: tuple[str, ...], name: Any) -> InputError:
    return InputError(f"the classifier must be one of `{role}` ({', '.join(known) or 'none'}), got {shown(name)}")


def scan(
    source: Any,
    *,
    label: str,
    scores: Sequence[str] | str = (),
    predictions: Sequence[str] | str = (),
    group: str | None = None,
    weight: str | None = None,
    pos_label: Label | None = None,
    table: Any = None,
    resolution: int | None = None,
    on_null: OnNull = "refuse",
    progress: Any = None,
    threads: int | None = None,
) -> Scan:
    """Open predictions of any size in files or in a database table. They are read in batches, never all at once.

    Parameters
    ----------
    source : path, glob, directory, list of paths, or DuckDB connection
        Parquet, CSV or JSON lines files (also compressed, such as .csv.gz), a DuckDB database file, or an open
        connection.
    label : str
        The column of true labels.
    scores : str or sequence of str
        The columns of scores, one per classifier.
    predictions : str or sequence of str
        The columns of predicted labels, for `Scan.bcost` and `Scan.bdeltacost`.
    group : str, optional
        A column, such as the month. Separate curves are made for each of its values.
    weight : str, optional
        A column of weights.
    pos_label : label, optional
        As for `RocCurve.from_predictions`.
    table : str or (schema, name), optional
        The table or view of a database.
    resolution : int, optional
        The largest number of bins for scores, from 2**14 to 2**26. One pass is then enough, and results state their
        `max_error`, which is small for any scores and any order of the rows. By default curves are exact, which usually
        takes two passes.
    on_null : {"refuse", "drop"}
        What to do about missing values (null, NaN, empty strings and, in CSV files, words such as NA). They either
        raise an error that counts them, or their rows are left out with a `DroppedRowsWarning` that counts them, as
        does `Scan.dropped`.
    progress : bool or function, optional
        Whether to draw a bar on standard error; by default on a terminal only, if a pass takes more than two seconds.
        A function is called with the number of rows read so far and their total.
    threads : int, optional
        By default one per processor.

    Notes
    -----
    Curves, bands and differences equal those of the same rows in memory bit for bit, except that with
    non-integer weights they agree up to rounding. The hull is found in bounded memory: the first pass counts scores in
    bins, and the second looks only at bins that can contain a vertex. If files contain few distinct scores, they are
    counted in one pass by a query that groups them. Data that change between passes raise an error. Nothing is written
    to disk.

    Examples
    --------
    >>> import costcurves as cc
    >>> path = cc.example_path("german_credit_scores.csv")
    >>> src = cc.scan(path, label="label", scores=["forest", "tree"], pos_label="bad")
    >>> round(src.curves()["forest"].evaluate(0.5), 4)
    0.2702
    >>> src.compare("forest", "tree", pc=[0.2, 0.4, 0.6])
    CurveDifference('forest' - 'tree', 95 % simultaneous: 'forest' costs less for pc in (0.4, 0.6); undecided elsewhere)
    """
    roles = _check_roles(label, scores, predictions, weight, group)
    check_choice("on_null", on_null, ("refuse", "drop"))
    opened, where = open_source(source, table)
    return Scan(
        FileSource(
            opened,
            where,
            roles,
            pos_label=pos_label,
            resolution=None if resolution is None else check_resolution(resolution),
            drop_missing=on_null == "drop",
            progress=check_progress(progress),
            threads=check_threads(threads),
        )
    )


def _check_roles(label: Any, scores: Any, predictions: Any, weight: Any, group: Any) -> Roles:
    columns = {}
    for role, names in (("scores", scores), ("predictions", predictions)):
        if not isinstance(names, Iterable) or getattr(names, "shape", None) == ():
            raise InputError(f"`{role}` must be a column or a list of columns, got {shown(names)}")
        listed = (names,) if isinstance(names, str) else tuple(names)
        columns[role] = tuple(check_name(role, name) for name in listed)
        if len(set(columns[role])) < len(columns[role]):
            twice = next(name for name in columns[role] if columns[role].count(name) > 1)
            raise InputError(f"`{role}` must be different columns, got {shown(twice)} twice")
    if not columns["scores"] and not columns["predictions"]:
        raise InputError("`scores` or `predictions` must name at least one column, got none")
    label = check_name("label", label)
    others = {role: check_name(role, name) for role, name in (("weight", weight), ("group", group)) if name is not None}
    for role, name in [("scores", s) for s in columns["scores"]] + [("predictions", p) for p in columns["predictions"]]:
        if name == label:
            raise InputError(f"`{role}` must not be the label column, got {shown(name)} as both")
    if others.get("weight") == label:
        raise InputError(f"`weight` must not be the label column, got {shown(label)} as both")
    return Roles(label, columns["scores"], columns["predictions"], others.get("weight"), others.get("group"))
