"""Predictions in files and databases: every question is answered by reading them in batches, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from costcurves._base.errors import InputError, UnsupportedError
from costcurves._base.validation import check_choice, check_name, check_two_names, shown
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.thresholds import as_policy
from costcurves.data.file_source import FileSource
from costcurves.data.predictions import Predictions
from costcurves.data.readers.columns import Roles
from costcurves.data.readers.one_pass import check_progress, check_threads
from costcurves.data.readers.opening import open_source
from costcurves.data.tallies.bins import check_resolution
from costcurves.data.tallies.confusion import ConfusionTally
from costcurves.multiclass.bcost import CostDifference, CostInterval, bcost, bdeltacost


class Scan(Predictions):
    """Predictions in files or in a table of a database, read in batches when a question needs them; made by `scan`.

    Curves are found once, in one or two passes, and kept. Differences and confusion tables take a pass each;
    recommendations and reports need the examples in memory, and read them once.

    Attributes
    ----------
    label, weight, group : str or None
        The columns of true labels, of weights and of groups.
    names, preds : tuple of str
        The columns of scores and of predicted labels, one per classifier.

    Examples
    --------
    >>> import costcurves as cc
    >>> path = cc.example_path("german_credit_scores.csv")
    >>> src = cc.scan(path, label="label", scores=["forest", "tree"], pos_label="bad")
    >>> src  # doctest: +ELLIPSIS
    Scan('...german_credit_scores.csv': label 'label', scores 'forest', 'tree')
    >>> src.hull()
    RocHull(18 vertices from 1 of 2 classifiers: 'forest'; dropped: 'tree')
    """

    _points = "hull"
    _source: FileSource

    def __init__(self, source: FileSource) -> None:
        self._start(source, source.pos_label)
        self.label, self.preds = source.roles.label, source.roles.preds
        self.weight, self.group = source.roles.weight, source.roles.group

    @property
    def passes(self) -> int:
        """How often the data have been read so far."""
        return sum(reader.passes for reader in self._source.readers.values())

    @property
    def dropped(self) -> dict[str, int]:
        """How many values were missing in each column of the rows left out by ``on_null="drop"``, as far as read."""
        found: dict[str, int] = {}
        for reader in self._source.readers.values():
            found |= reader.missing.by_column
        return found

    @property
    def rows_dropped(self) -> int:
        """How many rows were left out by ``on_null="drop"``, in the last pass over the scores or the predictions."""
        return max((reader.missing.dropped for reader in self._source.readers.values()), default=0)

    @property
    def max_error(self) -> float:
        """The most by which a cost can be too high because scores were binned: 0 without `resolution`."""
        found = self.roc_curves()
        nested = found.values() if self.group is None else [c for curves in found.values() for c in curves.values()]
        return float(max(curve.max_error for curve in nested))

    def columns(self) -> dict[str, str]:
        """Return the columns of the (first) file or table with their types."""
        return {name: str(kind) for name, kind in self._source.source.schemas()[0][1].items()}

    def roc_curves(self, *, points: str | None = None) -> dict[Any, Any]:
        """Return the ROC curve of every score column by name; with `group`, for each group a dict of them.

        Parameters
        ----------
        points : {"hull", "all"}, optional
            ``"all"`` holds every distinct score in memory, where that fits. The default is "hull".
        """
        self._need_scores()
        if self.group is None:
            return super().roc_curves(points=points)
        with self._source.asked():
            return dict(self._source.group_rocs(check_choice("points", points or self._points, ("hull", "all"))))

    def curves(self, *, policy: Any = "optimal") -> dict[Any, Any]:
        """Return the cost curve of every score column by name; with `group`, for each group a dict of them.

        Parameters
        ----------
        policy : policy
            How the threshold follows pc, as for `CostCurve`; "crossfit", "bayes" and the like need all distinct scores
            in memory, and "crossfit" works with bins too (`resolution`).
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

    def bcost(self, pred: str, C: Any, **options: Any) -> CostInterval:
        """Return an interval for the expected cost of a column of predicted labels, as `bcost` does of arrays."""
        return bcost.from_confusion(self._table((pred,)).to_confusion(), C, **options)

    def bdeltacost(self, a: str, b: str, C: Any, **options: Any) -> CostDifference:
        """Return the difference in expected cost of two columns of predicted labels, as `bdeltacost` of arrays."""
        names = check_two_names((a, b))
        return bdeltacost.from_joint(self._table(names).to_joint(), C, **{"names": names, **options})

    def _table(self, names: tuple[str, ...]) -> ConfusionTally:
        """Return the counts of predicted labels."""
        self._need_no_group()
        if self.weight is not None:
            raise UnsupportedError("confusion counts must have no weights, got a scan with `weight`")
        for name in names:
            if name not in self.preds:
                raise _not_among("preds", self.preds, name)
        with self._source.asked():
            return self._source.table(names)

    def read(self, names: Sequence[str] | None = None) -> dict[str, Any]:
        """Return columns as arrays in memory, where they fit: by default all that the scan names.

        Parameters
        ----------
        names : sequence of str, optional
        """
        return self._source.read(
            [names] if isinstance(names, str) else names if names is not None else self._source.roles.names
        )

    @contextmanager
    def _asked(self) -> Iterator[None]:
        """Refuse questions about all rows of a scan with groups; say errors about arrays as errors about columns."""
        self._need_scores()
        self._need_no_group()
        with self._source.asked():
            yield

    def _one(self, name: str) -> str:
        if name not in self.names:
            raise _not_among("scores", self.names, name)
        return name

    def _need_scores(self) -> None:
        if not self.names:
            raise UnsupportedError("curves need score columns, got a scan without `scores`")

    def _need_no_group(self) -> None:
        if self.group is not None:
            raise UnsupportedError(f"this question must have no groups, got a scan with group={self.group!r}")

    def __repr__(self) -> str:
        """Return the data and their columns."""
        columns = {
            "label": (self.label,),
            "scores": self.names,
            "preds": self.preds,
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
    preds: Sequence[str] | str = (),
    group: str | None = None,
    weight: str | None = None,
    pos_label: Any = None,
    table: Any = None,
    resolution: int | None = None,
    on_null: str = "refuse",
    progress: Any = None,
    threads: int | None = None,
) -> Scan:
    """Open predictions in files, or in a table of a database, of any size: they are read in batches, never as a whole.

    Parameters
    ----------
    source : path, glob, directory, list of paths, or DuckDB connection
        Parquet, CSV or JSON lines (also packed: .csv.gz), a DuckDB database file, or an open connection.
    label : str
        The column of true labels.
    scores : str or sequence of str
        The columns of scores, one a classifier.
    preds : str or sequence of str
        The columns of predicted labels, for `Scan.bcost` and `Scan.bdeltacost`.
    group : str, optional
        A column, such as the month, each value of which gets its own curves.
    weight : str, optional
        A column of weights.
    pos_label : label, optional
        As for `RocCurve.from_predictions`.
    table : str or (schema, name), optional
        The table or view of a database.
    resolution : int, optional
        The most bins of scores, from 2**14 to 2**26: one pass, and results that say their `max_error`, which is small
        for any scores and any order of the rows. By default curves are exact, which takes two passes as a rule.
    on_null : {"refuse", "drop"}
        Missing values (null, NaN, empty texts, and in CSV files words such as NA) are an error that counts them, or
        their rows are left out with a `DroppedRowsWarning` that counts them; `Scan.dropped` does so too.
    progress : bool or function, optional
        A bar on the terminal (by default where there is one, and rich), or a function of rows read and their total.
    threads : int, optional
        By default one a processor.

    Notes
    -----
    Curves, bands and differences equal those of the same rows in memory, bit for bit (with weights that are not whole
    numbers: to rounding). The hull is found in bounded memory: pass one counts scores in bins, pass two looks only at
    bins that can hold a vertex. Files that show few distinct scores are counted in one pass, by a query that groups
    them. Data that change between passes are refused. Nothing is written.

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
    roles = _check_roles(label, scores, preds, weight, group)
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


def _check_roles(label: Any, scores: Any, preds: Any, weight: Any, group: Any) -> Roles:
    columns = {}
    for role, names in (("scores", scores), ("preds", preds)):
        if not isinstance(names, Iterable):
            raise InputError(f"`{role}` must be a column or a list of columns, got {shown(names)}")
        listed = (names,) if isinstance(names, str) else tuple(names)
        columns[role] = tuple(check_name(role, name) for name in listed)
        if len(set(columns[role])) < len(columns[role]):
            twice = next(name for name in columns[role] if columns[role].count(name) > 1)
            raise InputError(f"`{role}` must be different columns, got {shown(twice)} twice")
    if not columns["scores"] and not columns["preds"]:
        raise InputError("`scores` or `preds` must name at least one column, got none")
    label = check_name("label", label)
    others = {role: check_name(role, name) for role, name in (("weight", weight), ("group", group)) if name is not None}
    for role, name in [("scores", s) for s in columns["scores"]] + [("preds", p) for p in columns["preds"]]:
        if name == label:
            raise InputError(f"`{role}` must not be the label column, got {shown(name)} as both")
    if others.get("weight") == label:
        raise InputError(f"`weight` must not be the label column, got {shown(label)} as both")
    return Roles(label, columns["scores"], columns["preds"], others.get("weight"), others.get("group"))
