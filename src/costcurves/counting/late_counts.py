"""Counts at every distinct score that are made when somebody first asks for them.

Most questions about a ROC curve are about a few of its points, and those are found without sorting all scores. The
labels and scores are kept until all points are wanted; nobody else can change them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from costcurves._base.validation import BoolArray, frozen
from costcurves.counting.counts import Array, ScoreCounts, count_packed, count_scores, packed_scores


class LateCounts:
    """The counts of labels at every distinct score, of which only the candidates are known so far.

    Parameters
    ----------
    positive, scores : arrays of shape (n,)
        They are copied or packed, unless they are read-only and belong to nobody else.
    candidates : ScoreCounts
        The counts that can be best, as `hull_vertices.candidates` would select them from all counts.
    """

    __slots__ = ("_count", "_every", "_lock", "candidates")

    def __init__(self, positive: BoolArray, scores: Array, candidates: ScoreCounts) -> None:
        self.candidates = candidates
        self._count: Callable[[], ScoreCounts] | None = _later(positive, scores, candidates)
        self._every: ScoreCounts | None = None
        self._lock = Lock()

    @property
    def every(self) -> ScoreCounts:
        """The counts at all scores. Threads that ask at the same time get the same object."""
        with self._lock:
            if self._every is None:
                assert self._count is not None
                self._every, self._count = self._count(), None
            return self._every

    @property
    def known(self) -> ScoreCounts:
        """The counts at all scores if they have been made, otherwise those of the candidates."""
        return self._every or self.candidates

    def __reduce__(self) -> Any:
        """Pickle and copy the counts at all scores."""
        return self.every.__reduce__()


def _later(positive: BoolArray, scores: Array, candidates: ScoreCounts) -> Callable[[], ScoreCounts]:
    """Return what will count the scores, and holds them in memory that nobody else writes to."""
    ends = float(candidates.thresholds[-1]), float(candidates.thresholds[1])
    if _is_shared(scores) and (packed := packed_scores(positive, scores, ends)) is not None:
        return partial(count_packed, packed)
    return partial(count_scores, *(frozen(np.array(a)) if _is_shared(a) else a for a in (positive, scores)))


def _is_shared(values: Array) -> bool:
    return values.flags.writeable or not values.flags.owndata
