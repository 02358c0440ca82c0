"""Reader for Dask. Every partition is counted where it is, and the counts are merged in a tree."""

from __future__ import annotations

import pickle
from typing import Any

from costcurves.data.readers.columns import Roles
from costcurves.data.readers.partitions import Part, PartsReader, counted, frame_batch, merged

FAN_IN = 8  # the number of parts that one task merges


class DaskReader(PartsReader):
    """Reads a Dask DataFrame with the scheduler that the user has chosen."""

    def read(self, counts: Any) -> Part | None:
        """Count all partitions and merge them into one part."""
        from dask.delayed import delayed

        # As bytes, the counts are a single node of the graph, which Dask does not inspect.
        start = delayed(pickle.dumps(counts))
        count, merge = delayed(_count_partition, pure=False), delayed(_merge, pure=False)
        parts = [count(partition, start, self.roles) for partition in self.frame[self.roles.names].to_delayed()]
        while len(parts) > 1:
            parts = [merge(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
        found: Part = parts[0].compute()
        return found


def _count_partition(partition: Any, start: bytes, roles: Roles) -> Part:
    return counted([partition], pickle.loads(start), roles, frame_batch)


def _merge(parts: list[Part]) -> Part | None:
    return merged(parts)
