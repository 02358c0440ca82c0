"""Lazy frames in this process that are read as streams: polars LazyFrames and DuckDB relations."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import chain
from typing import Any

from costcurves._base.errors import CostCurvesError
from costcurves.data.passes import CurveCounts
from costcurves.data.readers.columns import Missing, Roles, arrow
from costcurves.data.readers.duckdb import Relation
from costcurves.data.readers.partitions import Part, PartsReader, ToBatch, arrow_batch, counted, frame_batch
from costcurves.data.readers.pieces import ROWS


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
