"""Parts of the data that are counted separately, possibly on other machines, and merged."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from costcurves._base.errors import CostCurvesError, MissingExtraError
from costcurves._base.frames import whole_rows
from costcurves.data.batches import Batch
from costcurves.data.passes import Counts
from costcurves.data.readers.columns import Missing, Roles, batch_of
from costcurves.data.readers.one_pass import PIECE, agree

C = TypeVar("C", bound=Counts)
NEEDED = ("costcurves", "numpy", "scipy", "narwhals", "pyarrow", "pandas")  # packages that workers need
ToBatch = Callable[[Any, Roles, Missing], Batch]


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
