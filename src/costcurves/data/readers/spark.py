"""Reader for Spark. Every partition is counted by its own task, and the counts are merged in a tree.

Only counts leave a task. Spark uses the result of one attempt of each task and discards those of failed attempts, so a
task that is killed and run again is counted once. costcurves must be installed on the workers too.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

from costcurves.data.readers.columns import Roles
from costcurves.data.readers.one_pass import PIECE
from costcurves.data.readers.partitions import Part, PartsReader, arrow_batch, counted, merged

MERGERS = 8  # the most tasks that merge parts before the driver merges the rest
SCHEMA = "part long, body binary"
InArrow = Callable[[Iterator[Any]], Iterator[Any]]


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
