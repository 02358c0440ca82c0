"""Readers of lazy dataframes: polars, DuckDB, Dask and Spark. Parts are counted separately, and counts are merged.

Partitions of Dask and Spark are counted by their own tasks, possibly on other machines, where costcurves must be
installed too. Only counts leave a task. Spark uses the result of one attempt of each task and discards those of failed
attempts, so a task that is killed and run again is counted once.
"""

from __future__ import annotations

import pickle
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar, TypeVar

from costcurves._base.errors import CostCurvesError, MissingExtraError
from costcurves._base.frames import whole_rows
from costcurves.data.batches import Batch
from costcurves.data.passes import Counts, CurveCounts
from costcurves.data.readers.columns import Missing, Roles, arrow, batch_of
from costcurves.data.readers.duckdb import Relation
from costcurves.data.readers.one_pass import PIECE, agree
from costcurves.data.readers.sources import ROWS

C = TypeVar("C", bound=Counts)
NEEDED = ("costcurves", "numpy", "scipy", "narwhals", "pyarrow", "pandas")  # packages that workers need
ToBatch = Callable[[Any, Roles, Missing], Batch]
FAN_IN = 8  # the number of parts that one task of Dask merges
MERGERS = 8  # the most tasks of Spark that merge parts before the driver merges the rest
SCHEMA = "part long, body binary"
InArrow = Callable[[Iterator[Any]], Iterator[Any]]


@dataclass(slots=True, eq=False)
class Part:
    """The counts of a part of the data, or the error that prevented counting. It can be pickled.

    An error is returned like a result, because a cluster would otherwise retry the part and hide the message.
    """

    counts: Any
    missing: Missing = field(default_factory=Missing)
    error: CostCurvesError | None = None


def frame_batch(frame: Any, roles: Roles, missing: Missing) -> Batch:
    """Make a batch from the rows of an eager frame without missing values, and count the other rows."""
    columns, rows, by_column = whole_rows(frame, roles.names)
    left = len(columns[roles.label])
    missing.add(Missing(rows, rows - left, by_column))
    weight = None if roles.weight is None else columns[roles.weight]
    group = None if roles.group is None else columns[roles.group]
    return Batch(columns[roles.label], {name: columns[name] for name in roles.scores}, weight, group)


def arrow_batch(table: Any, roles: Roles, missing: Missing) -> Batch:
    """Make a batch from the rows of an Arrow table without missing values, and count the other rows."""
    return batch_of(missing.whole(table, roles.names), roles)


def counted(pieces: Iterable[Any], counts: Any, roles: Roles, to_batch: ToBatch) -> Part:
    """Count some pieces of the data as a new part."""
    part = Part(counts.empty())
    try:
        for piece in pieces:
            for batch in to_batch(piece, roles, part.missing).parts(PIECE):
                if len(batch.label):
                    part.counts.update(batch)
    except CostCurvesError as error:
        return Part(None, error=error)
    return part


def merged(parts: Iterable[Part]) -> Part | None:
    """Merge several parts into a new one. Return None if there are no parts. Of several errors the first is kept."""
    whole: Part | None = None
    for part in parts:
        if part.error is not None:
            return part
        if whole is None:
            whole = Part(part.counts.empty())
        try:
            whole.counts.merge(part.counts)
        except CostCurvesError as error:
            return Part(None, error=error)
        whole.missing.add(part.missing)
    return whole


def _lacking(error: BaseException | None) -> str | None:
    """Find the name of the module that a worker could not import, if an error of its engine mentions it."""
    while error is not None:
        found = re.search(r"No module named '([\w.]+)'", str(error))
        if found is not None and found[1].split(".")[0] in NEEDED:
            return found[1]
        error = error.__cause__ or error.__context__
    return None


class PartsReader(ABC):
    """A reader, as defined in `passes`, that reads all of a frame into counts by parts."""

    needs_arrow: ClassVar[bool] = False  # it reads Arrow batches

    def __init__(self, frame: Any, roles: Roles, drop_missing: bool) -> None:
        self.frame, self.roles, self.drop_missing = frame, roles, drop_missing
        self.missing = Missing()
        self._rows: int | None = None  # of the first pass

    @abstractmethod
    def read(self, counts: Any) -> Part | None:
        """Count all parts in empty counts like `counts`, and merge them. Return None if there are no rows."""

    def run(self, counts: C) -> C:
        """Read the frame once into `counts`."""
        try:
            part = self.read(counts.empty())
        except CostCurvesError:
            raise
        except Exception as error:
            lacking = _lacking(error)
            if lacking is None:
                raise
            raise MissingExtraError(
                f"every worker must have costcurves and what it needs, got one without the module {lacking!r}: "
                'install the same environment on all of them, for example pip install "costcurves[files]"'
            ) from error
        if part is None:
            part = Part(counts.empty())
        if part.error is not None:
            raise part.error
        agree(part.missing, self._rows, self.drop_missing, "its query must give the same rows each time it runs")
        self._rows, self.missing = part.missing.rows, part.missing
        counts.merge(part.counts)
        return counts


def _streamed(pieces: Iterator[Any], counts: Any, roles: Roles, to_batch: ToBatch) -> Part:
    """Count all pieces in bins that suit the first of them."""
    first = next(pieces, None)
    if first is None:
        return counted((), counts, roles, to_batch)
    if isinstance(counts, CurveCounts):
        try:
            batch = to_batch(first, roles, Missing())
            counts = counts.laid_out(batch) if len(batch.label) else counts
        except CostCurvesError as error:
            return Part(None, error=error)
    return counted(chain([first], pieces), counts, roles, to_batch)


class PolarsReader(PartsReader):
    """Reads a LazyFrame in batches of polars' streaming engine."""

    def read(self, counts: Any) -> Part:
        """Count all of the frame."""
        with closing(self._pieces()) as pieces:
            return _streamed(pieces, counts, self.roles, frame_batch)

    def _pieces(self) -> Generator[Any, None, None]:
        chosen = self.frame.select(self.roles.names)
        if hasattr(chosen, "collect_batches"):
            yield from chosen.collect_batches(chunk_size=ROWS)
        else:  # polars before 1.34
            yield chosen.collect()


class DuckReader(PartsReader):
    """Reads a DuckDB relation in Arrow batches."""

    needs_arrow = True

    def read(self, counts: Any) -> Part:
        """Count all of the relation."""
        arrow()
        with closing(self._pieces()) as pieces:
            return _streamed(pieces, counts, self.roles, arrow_batch)

    def _pieces(self) -> Generator[Any, None, None]:
        relation = Relation(lambda _: self.frame, "the relation")
        reader = relation.batches(self.roles.names, ROWS)
        try:
            while (piece := relation.next_of(reader)) is not None:
                yield piece
        finally:  # a connection has only one open result at a time, and this connection belongs to the user
            reader.close()


class DaskReader(PartsReader):
    """Reads a Dask DataFrame with the scheduler that the user has chosen."""

    def read(self, counts: Any) -> Part | None:
        """Count all partitions and merge them into one part."""
        from dask.delayed import delayed

        # As bytes, the counts are a single node of the graph, which Dask does not inspect.
        start = delayed(pickle.dumps(counts))
        count, merge = delayed(_count_partition, pure=False), delayed(merged, pure=False)
        parts = [count(partition, start, self.roles) for partition in self.frame[self.roles.names].to_delayed()]
        while len(parts) > 1:
            parts = [merge(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
        found: Part = parts[0].compute()
        return found


def _count_partition(partition: Any, start: bytes, roles: Roles) -> Part:
    return counted([partition], pickle.loads(start), roles, frame_batch)


class SparkReader(PartsReader):
    """Reads a Spark DataFrame in the user's session."""

    needs_arrow = True

    def read(self, counts: Any) -> Part | None:
        """Count all partitions and merge them into one part."""
        # What a pass starts from (in a second pass, the bins to look into) is sent with the function, which Spark
        # broadcasts if it is large.
        # Columns are renamed by position on the way, because Spark interprets dots and backticks in names and does not
        # distinguish "a" from "A".
        names = self.frame.columns
        plain = self.frame.toDF(*(f"c{i}" for i in range(len(names))))
        columns = plain.select(*(f"c{names.index(name)}" for name in self.roles.names))
        parts = columns.mapInArrow(_counting(pickle.dumps(counts), self.roles), SCHEMA)
        spread = parts.repartition(_mergers(self.frame.sparkSession), "part").sortWithinPartitions("part")
        rows = spread.mapInArrow(_merging(), SCHEMA).collect()
        return merged(pickle.loads(row["body"]) for row in sorted(rows, key=lambda row: int(row["part"])))


def _mergers(session: Any) -> int:
    """The number of tasks that merge parts, at most the shuffle partitions of the session and the available slots."""
    shuffled = str(session.conf.get("spark.sql.shuffle.partitions"))
    most = min(MERGERS, int(shuffled)) if shuffled.isdecimal() else MERGERS  # it may be "auto" on Databricks
    context = getattr(session, "_sc", None)  # Spark Connect sessions do not have it
    return most if context is None else max(1, min(most, int(context.defaultParallelism)))


def _counting(start: bytes, roles: Roles) -> InArrow:
    def count(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        part = counted(_tables(batches, roles.names), pickle.loads(start), roles, arrow_batch)
        context = TaskContext.get()
        if part.missing.rows or part.error is not None:
            yield _row(0 if context is None else context.partitionId(), part)

    return count


def _merging() -> InArrow:
    def merge(batches: Iterator[Any]) -> Iterator[Any]:
        seen: list[int] = []

        def parts() -> Iterator[Part]:
            for batch in batches:
                for i in range(batch.num_rows):
                    seen.append(batch.column(0)[i].as_py())
                    yield pickle.loads(batch.column(1)[i].as_buffer())

        whole = merged(parts())
        if whole is not None:
            yield _row(min(seen), whole)

    return merge


def _tables(batches: Iterator[Any], names: list[str]) -> Iterator[Any]:
    """Combine Spark's small batches into larger tables, with the names of the columns."""
    import pyarrow as pa

    waiting: list[Any] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= PIECE:
            yield pa.Table.from_batches(waiting).rename_columns(names)
            waiting, rows = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting).rename_columns(names)


def _row(part: int, body: Part) -> Any:
    import pyarrow as pa

    columns = [pa.array([part], pa.int64()), pa.array([pickle.dumps(body)], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, names=["part", "body"])


# A new engine is a reader in this module and its entry here, by the name that narwhals gives the library.
READERS: dict[str, type[PartsReader]] = {
    "polars": PolarsReader,
    "duckdb": DuckReader,
    "dask": DaskReader,
    "pyspark": SparkReader,
    "pyspark[connect]": SparkReader,
}
