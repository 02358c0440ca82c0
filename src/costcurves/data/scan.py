"""Predictions in files and databases: every question is answered by reading them in batches, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from costcurves._base.errors import CostCurvesError, InputError, UnsupportedError
from costcurves._base.validation import check_choice, check_column, check_name, check_two_names, shown
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.hull import RocHull
from costcurves.curves.thresholds import as_policy
from costcurves.data.passes import (
    curve_counts,
    find_curves,
    find_difference,
    find_differences,
    find_group_curves,
    find_tables,
)
from costcurves.data.readers.columns import Roles, arrow, numbers, values_of
from costcurves.data.readers.grouping import can_group
from costcurves.data.readers.one_pass import SourceReader, check_progress, check_threads
from costcurves.data.readers.opening import open_source
from costcurves.data.readers.pieces import SAMPLE, Source
from costcurves.data.tallies.bins import FEWEST, SOME_TIES, ScoreBins, check_resolution, share_of_distinct
from costcurves.data.tallies.confusion import ConfusionTally
from costcurves.data.tallies.hulls import MEMBERS
from costcurves.decisions.comparison import CurveDifference, ManyDifferences, named_policies, two_policies
from costcurves.multiclass.bcost import CostDifference, CostInterval, bcost, bdeltacost

MOST_IN_MEMORY = 1 << 27  # values that `read` and `points="all"` hold
MANY_TIES = 0.25  # the share of distinct scores in a sample, up to which grouping is the faster
MOST_GATHERED = 1 << 25  # members that the second pass holds, of all classifiers together
ROWS_A_BIN, MOST_BINS = 64, 1 << 20


class Scan:
    """Predictions in files or in a table of a database, read in batches when a question needs them; made by `scan`.

    Curves are found once, in one or two passes, and kept. Differences and confusion tables take a pass each.

    Attributes
    ----------
    label, weight, group : str or None
    scores, preds : tuple of str
        The columns.

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

    def __init__(
        self,
        source: Source,
        where: str,
        roles: Roles,
        *,
        pos_label: Any,
        resolution: int | None,
        drop_missing: bool,
        progress: Any,
        threads: int,
    ) -> None:
        self._source, self._where, self._roles = source, where, roles
        self._pos_label, self._resolution = pos_label, resolution
        self._drop_missing, self._progress, self._threads = drop_missing, progress, threads
        self._types: dict[str, list[Any]] = {}
        for place, schema in source.schemas():
            roles.check(schema, place)
            for name, kind in schema.items():
                self._types.setdefault(name, []).append(kind)
        self._readers: dict[str, SourceReader] = {}
        self._curves: dict[str, Any] = {}
        self._tables: dict[tuple[str, ...], ConfusionTally] = {}

    @property
    def label(self) -> str:
        """The column of true labels."""
        return self._roles.label

    @property
    def scores(self) -> tuple[str, ...]:
        """The columns of scores, one a classifier."""
        return self._roles.scores

    @property
    def preds(self) -> tuple[str, ...]:
        """The columns of predicted labels, one a classifier."""
        return self._roles.preds

    @property
    def weight(self) -> str | None:
        """The column of weights."""
        return self._roles.weight

    @property
    def group(self) -> str | None:
        """The column of groups."""
        return self._roles.group

    @property
    def passes(self) -> int:
        """How often the data have been read so far."""
        return sum(reader.passes for reader in self._readers.values())

    @property
    def dropped(self) -> dict[str, int]:
        """How many values were missing in each column of the rows left out by ``on_null="drop"``, as far as read."""
        found: dict[str, int] = {}
        for reader in self._readers.values():
            found |= reader.missing.by_column
        return found

    @property
    def rows_dropped(self) -> int:
        """How many rows were left out by ``on_null="drop"``, in the last pass over the scores or the predictions."""
        return max((reader.missing.dropped for reader in self._readers.values()), default=0)

    @property
    def max_error(self) -> float:
        """The most by which a cost can be too high because scores were binned: 0 without `resolution`."""
        found = self.roc_curves()
        nested = found.values() if self.group is None else [c for curves in found.values() for c in curves.values()]
        return float(max(curve.max_error for curve in nested))

    def columns(self) -> dict[str, str]:
        """Return the columns of the (first) file or table with their types."""
        _, schema = self._source.schemas()[0]
        return {name: str(kind) for name, kind in schema.items()}

    def roc_curves(self, *, points: str = "hull") -> dict[Any, Any]:
        """Return the ROC curve of every score column by name; with `group`, for each group a dict of them.

        Parameters
        ----------
        points : {"hull", "all"}
            ``"all"`` holds every distinct score in memory, where that fits.
        """
        check_choice("points", points, ("hull", "all"))
        self._need_scores()
        if points not in self._curves:
            with self._said():
                self._curves[points] = self._found(points)
        found: dict[Any, Any] = self._curves[points]
        return dict(found)

    def _found(self, points: str) -> dict[Any, Any]:
        if points == "all" and self._resolution is not None:
            raise UnsupportedError("`points='all'` needs exact counts, got `resolution`: scan without it")
        samples = {} if self._resolution is not None else self._samples()
        reader = self._reader("scores")
        if self._tied(samples):
            counts = curve_counts(self.scores, pos_label=self._pos_label, points="all")
            grouped = reader.run_grouped(counts)
            if grouped is not None:
                return dict(grouped.curves(points))
        counts = curve_counts(
            self.scores,
            pos_label=self._pos_label,
            resolution=self._resolution,
            weighted=self.weight is not None,
            points=points,
            grouped=self.group is not None,
            **self._counting_options(samples),
        )
        try:
            if self.group is None:
                return dict(find_curves(reader, counts, points=points))
            return dict(find_group_curves(reader, counts, points=points))
        except UnsupportedError as error:
            if "distinct scores" not in str(error):
                raise
            what = "`points='all'`" if points == "all" else "an exact curve of weighted data"
            raise UnsupportedError(
                f"{what} must hold all distinct scores in memory, got more than {MOST_IN_MEMORY >> 2}: "
                + ("use points='hull' (exact), or " if points == "all" else "use ")
                + "cc.scan(..., resolution=2**16) (bounded memory, with its error)"
            ) from None

    def _dtype(self, name: str) -> str:
        """Return the type that holds the scores of a column."""
        pa = arrow()
        return "float32" if all(kind in (pa.float32(), pa.float16()) for kind in self._types[name]) else "float64"

    def _samples(self) -> dict[str, Any]:
        """Return some of the scores of every column that has any."""
        sample = self._source.sample(list(self.scores))
        if sample is None:
            return {}
        found = {}
        for name in self.scores:
            values = numbers(sample.column(name).drop_null())
            values = values[:: max(1, values.size // SAMPLE)].astype(self._dtype(name))
            found[name] = values[np.isfinite(values)]
        return {name: values for name, values in found.items() if values.size}

    def _tied(self, samples: dict[str, Any]) -> bool:
        """Return whether every column seems to have few distinct scores, which DuckDB counts the fastest."""
        return (
            len(samples) == len(self.scores)
            and all(share_of_distinct(values) <= MANY_TIES for values in samples.values())
            and can_group(self._reader("scores").roles, self._types[self.label])
        )

    def _counting_options(self, samples: dict[str, Any]) -> dict[str, Any]:
        """Return the type of every score column, and bins laid out by a sample of it."""
        bins: dict[str, ScoreBins] = {}
        if self.group is None and self.weight is None:
            size = self._finest()
            bins = {name: ScoreBins.from_sample(values, size) for name, values in samples.items()}
        return {
            "dtype": {name: self._dtype(name) for name in self.scores},
            "bins": bins,
            "tied": [name for name, values in samples.items() if share_of_distinct(values) <= SOME_TIES],
            "members": max(MEMBERS, MOST_GATHERED // len(self.scores)),
            "limit": MOST_IN_MEMORY >> 2,
        }

    def _finest(self) -> int:
        """Return how many bins leave few examples for the second pass, and take little memory themselves."""
        rows = self._source.rows() or MOST_BINS * ROWS_A_BIN
        return min(max(1 << (rows // ROWS_A_BIN).bit_length(), FEWEST), MOST_BINS)

    def curves(self, *, policy: Any = "optimal") -> dict[Any, Any]:
        """Return the cost curve of every score column by name; with `group`, for each group a dict of them.

        Parameters
        ----------
        policy : policy
            How the threshold follows pc, as for `CostCurve`; "bayes" and the like need all distinct scores in memory.
        """
        rule = as_policy(policy)
        found = self.roc_curves(points="all" if rule.needs_all_points else "hull")
        if self.group is None:
            return {name: CostCurve(curve, rule) for name, curve in found.items()}
        return {
            group: {name: CostCurve(curve, rule) for name, curve in curves.items()} for group, curves in found.items()
        }

    def _curve(self, name: str, policy: Any) -> CostCurve:
        rule = as_policy(policy)
        return CostCurve(self.roc_curves(points="all" if rule.needs_all_points else "hull")[name], rule)

    def hull(self) -> RocHull:
        """Return the hull of all classifiers: who can be best at all, and the decision at each condition."""
        self._need_no_group("hull")
        return RocHull(list(self.roc_curves().values()))

    def compare(self, a: str, b: str, *, policy: Any = "optimal", pc: Any = None, **options: Any) -> CurveDifference:
        """Return the difference of two classifiers' costs at every condition, as `compare` does of arrays.

        Parameters
        ----------
        a, b : str
            Two of the score columns.
        policy, pc, **options
            As for `compare`.
        """
        self._need_no_group("compare")
        a, b = (self._one_of("scores", name) for name in check_two_names((a, b)))
        first, second = (self._curve(n, rule) for n, rule in zip((a, b), two_policies(policy), strict=True))
        with self._said():
            return find_difference(self._reader("scores"), first, second, pos_label=self._pos_label, pc=pc, **options)

    def compare_many(self, *, policy: Any = "optimal", pc: Any = None, **options: Any) -> ManyDifferences:
        """Return all pairs of the score columns with limits that hold jointly, as `compare_many` does of arrays."""
        self._need_no_group("compare_many")
        if len(self.scores) < 2:
            raise InputError(f"`scores` must be two columns or more to compare them, got {len(self.scores)}")
        curves = [self._curve(name, rule) for name, rule in named_policies(policy, self.scores).items()]
        with self._said():
            return find_differences(self._reader("scores"), curves, pos_label=self._pos_label, pc=pc, **options)

    def bcost(self, pred: str, C: Any, **options: Any) -> CostInterval:
        """Return an interval for the expected cost of a column of predicted labels, as `bcost` does of arrays."""
        return bcost.from_confusion(self._table((pred,)).to_confusion(), C, **options)

    def bdeltacost(self, a: str, b: str, C: Any, **options: Any) -> CostDifference:
        """Return the difference in expected cost of two columns of predicted labels, as `bdeltacost` of arrays."""
        names = check_two_names((a, b))
        return bdeltacost.from_joint(self._table(names).to_joint(), C, **{"names": names, **options})

    def _table(self, names: tuple[str, ...]) -> ConfusionTally:
        """Return the counts of predicted labels; those of every single column are made in the same pass."""
        self._need_no_group("bcost")
        if self.weight is not None:
            raise UnsupportedError("confusion counts must have no weights, got a scan with `weight`")
        for name in names:
            self._one_of("preds", name)
        if names not in self._tables:
            single = [(name,) for name in self.preds if (name,) not in self._tables]
            wanted = list(dict.fromkeys([names, *single]))
            with self._said():
                self._tables |= find_tables(self._reader("preds"), wanted)
        return self._tables[names]

    def read(self, names: Sequence[str] | None = None) -> dict[str, Any]:
        """Return columns as arrays in memory, where they fit: by default all that the scan names.

        Parameters
        ----------
        names : sequence of str, optional
        """
        wanted = [names] if isinstance(names, str) else list(self._roles.names if names is None else names)
        if not wanted:
            raise InputError("`names` must name at least one column, got none")
        for name in wanted:
            check_column("names", name, self._source.schemas()[0][1], self._where)
        Roles(wanted[0], preds=tuple(wanted[1:])).check(self._source.schemas()[0][1], self._where)
        rows = self._source.rows()
        if rows is not None and rows * len(wanted) > MOST_IN_MEMORY:
            raise _too_large(rows * len(wanted))
        self._source.check()
        feed = self._source.feed(wanted)
        reader = self._reader("read")
        reader.missing = type(reader.missing)()
        pieces, held = [], 0
        while (piece := feed.next()) is not None:
            whole = reader.missing.whole(piece, wanted)
            held += whole.num_rows * len(wanted)
            if held > MOST_IN_MEMORY:
                raise _too_large(held)
            pieces.append({name: values_of(whole.column(name)) for name in wanted})
        if not self._drop_missing:
            reader.missing.refuse()
        reader.missing.need_rows("the data")
        reader.missing.warn()
        return {name: np.concatenate([piece[name] for piece in pieces]) for name in wanted}

    def _reader(self, what: str) -> SourceReader:
        if what not in self._readers:
            roles = self._roles
            chosen = (
                Roles(roles.label, preds=roles.preds)
                if what == "preds"
                else Roles(roles.label, scores=roles.scores, weight=roles.weight, group=roles.group)
            )
            self._readers[what] = SourceReader(self._source, chosen, self._drop_missing, self._progress, self._threads)
        return self._readers[what]

    @contextmanager
    def _said(self) -> Iterator[None]:
        """Say errors about arrays as errors about columns."""
        try:
            yield
        except CostCurvesError as error:
            raise self._roles.said(error) from None

    def _one_of(self, role: str, name: str) -> str:
        known = getattr(self._roles, role)
        if name not in known:
            raise InputError(
                f"the classifier must be one of `{role}` ({', '.join(known) or 'none'}), got {shown(name)}"
            )
        return name

    def _need_scores(self) -> None:
        if not self.scores:
            raise UnsupportedError("curves need score columns, got a scan without `scores`")

    def _need_no_group(self, what: str) -> None:
        if self.group is not None:
            raise UnsupportedError(f"`{what}` must have no groups, got a scan with group={self.group!r}")

    def __repr__(self) -> str:
        """Return the data and their columns."""
        roles = self._roles
        parts = [f"label {roles.label!r}"]
        columns = {
            "scores": roles.scores,
            "preds": roles.preds,
            "weight": (roles.weight,) if roles.weight is not None else (),
            "group": (roles.group,) if roles.group is not None else (),
        }
        parts += [f"{role} {', '.join(map(repr, names))}" for role, names in columns.items() if names]
        if self._resolution is not None:
            parts.append(f"at most {self._resolution} bins")
        return f"Scan({self._where}: {', '.join(parts)})"


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
        opened,
        where,
        roles,
        pos_label=pos_label,
        resolution=None if resolution is None else check_resolution(resolution),
        drop_missing=on_null == "drop",
        progress=check_progress(progress),
        threads=check_threads(threads),
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


def _too_large(values: int) -> UnsupportedError:
    return UnsupportedError(
        f"`read` must fit in memory, got {values} values or more (at most {MOST_IN_MEMORY}): "
        "use curves(), compare() and the other questions of the scan, which read in batches"
    )
