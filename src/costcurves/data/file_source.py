"""Files and databases as a source of predictions, from which curves, pairs and tables are counted in batches."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np

from costcurves._base.errors import CostCurvesError, InputError, UnsupportedError
from costcurves._base.validation import check_column, is_empty, shown
from costcurves.curves.policy import Policy
from costcurves.curves.roc import RocCurve
from costcurves.data.passes import InPasses, TableCounts, curve_counts, find_curves, find_group_curves, in_memory
from costcurves.data.readers.columns import Missing, Roles, arrow, numbers, values_of
from costcurves.data.readers.grouping import can_group
from costcurves.data.readers.one_pass import SourceReader
from costcurves.data.readers.sources import SAMPLE, Source
from costcurves.data.tallies.bins import FEWEST, SOME_TIES, ScoreBins, share_of_distinct
from costcurves.data.tallies.confusion import ConfusionTally
from costcurves.data.tallies.hulls import MEMBERS
from costcurves.decisions.rows import MANY, Rows

MOST_IN_MEMORY = 1 << 27  # the most values that `read` and `points="all"` hold
INSTEAD = "points='hull' (exact), or cc.scan(..., resolution=2**16) (bounded memory, with its error)"
MANY_TIES = 0.25  # grouping is faster up to this share of distinct scores in a sample
MOST_GATHERED = 1 << 25  # the most members that the second pass holds, for all classifiers together
ROWS_A_BIN, MOST_BINS = 64, 1 << 20


class FileSource(InPasses):
    """Columns of files or of a database table, which are read when they are needed.

    Parameters
    ----------
    source : Source
        The opened files or table.
    where : str
        How messages refer to it.
    roles : Roles
    pos_label, resolution, drop_missing, progress, threads
        As for `scan`.
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
        super().__init__(roles.scores, pos_label)
        self.source, self.where, self.roles, self.resolution = source, where, roles, resolution
        self._drop_missing, self._progress, self._threads = drop_missing, progress, threads
        self._types: dict[str, list[Any]] = {}
        for place, schema in source.schemas():
            roles.check(schema, place)
            for name, kind in schema.items():
                self._types.setdefault(name, []).append(kind)
        self.readers: dict[str, SourceReader] = {}
        self._tables: dict[tuple[str, ...], ConfusionTally] = {}
        self._groups: dict[str, dict[Hashable, dict[str, RocCurve]]] = {}

    @property
    def reader(self) -> SourceReader:
        """The reader of the scores."""
        return self._reader("scores")

    def _reader(self, what: str) -> SourceReader:
        if what not in self.readers:
            roles = self.roles
            chosen = (
                Roles(roles.label, predictions=roles.predictions)
                if what == "predictions"
                else Roles(roles.label, scores=roles.scores, weight=roles.weight, group=roles.group)
            )
            self.readers[what] = SourceReader(self.source, chosen, self._drop_missing, self._progress, self._threads)
        return self.readers[what]

    @contextmanager
    def asked(self) -> Iterator[None]:
        """Translate errors about arrays into errors about columns."""
        try:
            yield
        except CostCurvesError as error:
            raise self.roles.said(error) from None

    def find(self, points: str) -> dict[str, RocCurve]:
        """Find the ROC curves of all score columns."""
        samples = self._samples_for(points)
        if self._tied(samples):
            counts = curve_counts(self.names, pos_label=self.pos_label, points="all")
            grouped = self.reader.run_grouped(counts)
            if grouped is not None:
                return dict(grouped.curves(points))
        with in_memory(MOST_IN_MEMORY >> 2, INSTEAD):
            return find_curves(self.reader, self._counts(points, samples), points=points)

    def few(self) -> bool:
        """Return whether all points of a curve are kept, as they are of examples in memory."""
        return self.resolution is None and MOST_IN_MEMORY > MANY and super().few()

    def points_for(self, rule: Policy) -> str:
        """Return which points of a ROC curve a policy needs: of binned scores, the boundaries of all bins."""
        if rule.cross_fits and self.resolution is not None:
            return "bins"
        return super().points_for(rule)

    def group_rocs(self, points: str) -> dict[Hashable, dict[str, RocCurve]]:
        """Find the ROC curves of every group."""
        if points not in self._groups:
            counts = self._counts(points, self._samples_for(points))
            with in_memory(MOST_IN_MEMORY >> 2, INSTEAD):
                self._groups[points] = find_group_curves(self.reader, counts, points=points)
        return self._groups[points]

    def _samples_for(self, points: str) -> dict[str, Any]:
        """Return a sample of the scores of each column that has any, if a sample helps to count them."""
        if self.resolution is not None:
            if points == "all":
                raise UnsupportedError("`points='all'` needs exact counts, got `resolution`: scan without it")
            return {}
        return self._samples

    @cached_property
    def _samples(self) -> dict[str, Any]:
        """A sample of the scores of each column that has any."""
        sample = self.source.sample(list(self.names))
        if sample is None:
            return {}
        found = {}
        for name in self.names:
            values = numbers(sample.column(name).drop_null())
            values = values[:: max(1, values.size // SAMPLE)].astype(self._dtype(name))
            found[name] = values[np.isfinite(values)]
        return {name: values for name, values in found.items() if values.size}

    def _counts(self, points: str, samples: dict[str, Any]) -> Any:
        """Make the counts of a first pass, with the type of each score column and bins that suit a sample."""
        grouped, weighted = self.roles.group is not None, self.roles.weight is not None
        bins: dict[str, ScoreBins] = {}
        if not grouped:
            size = self._finest()
            bins = {name: ScoreBins.from_sample(values, size) for name, values in samples.items()}
        return curve_counts(
            self.names,
            pos_label=self.pos_label,
            resolution=self.resolution,
            weighted=weighted,
            points=points,
            grouped=grouped,
            dtype={name: self._dtype(name) for name in self.names},
            bins=bins,
            tied=[name for name, values in samples.items() if share_of_distinct(values) <= SOME_TIES],
            members=max(MEMBERS, MOST_GATHERED // len(self.names)),
            limit=MOST_IN_MEMORY >> 2,
        )

    def _dtype(self, name: str) -> str:
        """The type that represents the scores of a column."""
        pa = arrow()
        return "float32" if all(kind in (pa.float32(), pa.float16()) for kind in self._types[name]) else "float64"

    def _tied(self, samples: dict[str, Any]) -> bool:
        """Whether every column seems to have few distinct scores, which DuckDB counts fastest."""
        return (
            len(samples) == len(self.names)
            and all(share_of_distinct(values) <= MANY_TIES for values in samples.values())
            and can_group(self.reader.roles, self._types[self.roles.label])
        )

    def _finest(self) -> int:
        """Choose a number of bins that takes little memory and leaves few examples for the second pass."""
        rows = self.source.rows() or MOST_BINS * ROWS_A_BIN
        return min(max(1 << (rows // ROWS_A_BIN).bit_length(), FEWEST), MOST_BINS)

    def table(self, names: tuple[str, ...]) -> ConfusionTally:
        """Count predicted labels. The counts of each single column are made in the same pass."""
        if names not in self._tables:
            single = [(name,) for name in self.roles.predictions if (name,) not in self._tables]
            counts = TableCounts({columns: ConfusionTally() for columns in dict.fromkeys([names, *single])})
            self._tables |= self._reader("predictions").run(counts).tallies
        return self._tables[names]

    def read(self, names: Sequence[str]) -> dict[str, Any]:
        """Read columns into arrays if they fit in memory."""
        given: Any = names
        if isinstance(given, str) or not isinstance(given, Sequence) or not given:
            got = shown(given) if given is None or isinstance(given, str) or not is_empty(given) else "none"
            raise InputError(f"`names` must name at least one column, got {got}")
        schema = self.source.schemas()[0][1]
        for name in names:
            check_column("names", name, schema, self.where)
        Roles(names[0], predictions=tuple(names[1:])).check(schema, self.where)
        rows = self.source.rows()
        if rows is not None and rows * len(names) > MOST_IN_MEMORY:
            raise _too_large(rows * len(names))
        self.source.check()
        feed = self.source.feed(list(names))
        missing = self._reader("read").missing = Missing()
        pieces, held = [], 0
        while (piece := feed.next()) is not None:
            whole = missing.whole(piece, list(names))
            held += whole.num_rows * len(names)
            if held > MOST_IN_MEMORY:
                raise _too_large(held)
            pieces.append({name: values_of(whole.column(name)) for name in names})
        if not self._drop_missing:
            missing.refuse()
        missing.need_rows("the data")
        missing.warn()
        return {name: np.concatenate([piece[name] for piece in pieces]) for name in names}

    def rows(self) -> Rows:
        """Return the examples in memory if they fit. They are read only once."""
        if self._rows is None:
            roles = self.roles
            columns = self.read([roles.label, *roles.scores, *([] if roles.weight is None else [roles.weight])])
            weights = None if roles.weight is None else columns[roles.weight]
            scores = {name: columns[name] for name in roles.scores}
            self._rows = Rows(columns[roles.label], scores, self.pos_label, weights)
        return self._rows

    _rows: Rows | None = None


def _too_large(values: int) -> UnsupportedError:
    return UnsupportedError(
        f"`read` must fit in memory, got {values} values or more (at most {MOST_IN_MEMORY}): "
        "use curves(), compare() and the other methods of the scan, which read in batches"
    )
