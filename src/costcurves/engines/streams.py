"""Lazy frames of this process, read as streams: polars' LazyFrames and DuckDB's relations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from costcurves.engines.parts import Part, PartsReader, arrow_batch, counted, frame_batch
from costcurves.sources.columns import arrow
from costcurves.sources.engine import Relation
from costcurves.sources.feeds import ROWS


class PolarsReader(PartsReader):
    """Reads a LazyFrame in the batches of polars' streaming engine."""

    def read(self, counts: Any) -> Part:
        """Return all of the frame, counted."""
        return counted(self._pieces(), counts, self.roles, frame_batch)

    def _pieces(self) -> Iterator[Any]:
        chosen = self.frame.select(self.roles.names)
        if hasattr(chosen, "collect_batches"):
            yield from chosen.collect_batches(chunk_size=ROWS)
        else:  # polars before 1.34
            yield chosen.collect()


class DuckReader(PartsReader):
    """Reads a relation of DuckDB's in Arrow batches."""

    def read(self, counts: Any) -> Part:
        """Return all of the relation, counted."""
        arrow()
        return counted(self._pieces(), counts, self.roles, arrow_batch)

    def _pieces(self) -> Iterator[Any]:
        relation = Relation(lambda: self.frame, "the relation")
        reader = relation.batches(self.roles.names, ROWS)
        while (piece := relation.next_of(reader)) is not None:
            yield piece
