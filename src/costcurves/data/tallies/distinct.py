"""Counts or sums of weights at each distinct score, and the number of examples behind them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, UnsupportedError
from costcurves._base.validation import LARGEST_WHOLE, BoolArray, FloatArray, IntArray
from costcurves.counting import counts
from costcurves.data.tallies.base import part

Array = npt.NDArray[Any]

PENDING = 1 << 20  # how many rows wait to be counted together
MOST_DISTINCT = 1 << 25


class DistinctCounts:
    """Negatives and positives of each distinct score, from the highest down; rows are counted many at a time."""

    def __init__(self, weighted: bool = False, limit: int = MOST_DISTINCT) -> None:
        kind = np.float64 if weighted else np.int64
        self.scores: FloatArray = np.empty(0)
        self.neg: Array = np.empty(0, kind)
        self.pos: Array = np.empty(0, kind)
        self.limit = limit
        self._waiting: list[tuple[BoolArray, Array, FloatArray | None]] = []
        self._rows = 0

    def add(self, positive: BoolArray, scores: Array, weights: FloatArray | None = None) -> None:
        """Take a batch; its arrays must not change afterwards."""
        self._waiting.append((positive, scores, weights))
        self._rows += scores.size
        if self._rows >= max(PENDING, self.scores.size):
            try:
                self.settle()
            except UnsupportedError:
                self._waiting.pop()
                self._rows -= scores.size
                raise

    def add_distinct(self, positive: BoolArray, scores: Array, times: Array) -> None:
        """Count examples that are given once each, with the number of times that they occur."""
        distinct, place = np.unique(scores.astype(np.float64) + 0.0, return_inverse=True)  # -0.0 is 0.0
        found = np.zeros((2, distinct.size), np.int64)
        np.add.at(found, (positive.astype(np.int64), place), times)
        self.settle()
        self._join(distinct[::-1], found[0, ::-1], found[1, ::-1])

    def merge(self, other: DistinctCounts) -> None:
        """Add the counts of another part of the data."""
        other.settle()
        self.settle()
        self._join(other.scores, other.neg, other.pos)

    def settle(self) -> None:
        """Count the rows that wait; if they have too many distinct scores, they go on waiting, and nothing is lost."""
        if not self._waiting:
            return
        positive, scores = (np.concatenate([batch[i] for batch in self._waiting]) for i in (0, 1))
        if self._waiting[0][2] is None:
            table = counts.count_scores(positive, scores).wide()
        else:
            weights = np.concatenate([batch[2] for batch in self._waiting if batch[2] is not None])
            table = counts.count_weights(positive, scores, weights)
        self._join(table.thresholds[1:], np.diff(table.fp), np.diff(table.tp))
        self._waiting, self._rows = [], 0

    def _join(self, scores: FloatArray, neg: Array, pos: Array) -> None:
        if self.scores.size:
            both = np.concatenate((self.scores, scores))
            order = np.argsort(-both, kind="stable")
            both = both[order]
            first = np.flatnonzero(np.append(True, both[1:] != both[:-1]))
            neg = np.add.reduceat(np.concatenate((self.neg, neg))[order], first)
            pos = np.add.reduceat(np.concatenate((self.pos, pos))[order], first)
            scores = both[first]
        if scores.size > self.limit:
            raise UnsupportedError(
                f"`limit` of {self.limit} distinct scores must hold all of them, got more: "
                "use cc.HullTally (exact, two passes) or cc.ScoreTally(resolution=2**16) (binned, one pass)"
            )
        self.scores, self.neg, self.pos = scores, neg, pos

    def state(self) -> dict[str, Array]:
        """Return the counts of all rows."""
        self.settle()
        return {"scores": self.scores, "neg": self.neg, "pos": self.pos}

    @classmethod
    def restored(cls, weighted: bool, limit: int, arrays: dict[str, Array]) -> DistinctCounts:
        """Restore counts from a state."""
        table = cls(weighted, limit)
        scores = arrays["scores"]
        if scores.ndim != 1 or scores.dtype != np.float64 or not (scores[1:] < scores[:-1]).all():
            raise DataError("scores must fall from the first to the last")
        kind = table.neg.dtype
        neg, pos = (part(arrays, name, kind.kind, scores.size).astype(kind) for name in ("neg", "pos"))
        table.scores, table.neg, table.pos = scores, neg, pos
        return table


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """How many examples of each class were read, and what the effective sample sizes follow from."""

    n: IntArray = field(default_factory=lambda: np.zeros(2, np.int64))  # negatives, positives
    squares: FloatArray = field(default_factory=lambda: np.zeros(2))  # sums of squared weights
    whole: bool = True  # whether all weights are small integers

    def added(self, positive: BoolArray, weights: FloatArray | None) -> Examples:
        """Return these and another batch."""
        n_pos = int(np.count_nonzero(positive))
        counted = self.repeated(positive.size - n_pos, n_pos)
        if weights is None:
            return counted
        with np.errstate(over="ignore"):  # sums that are too large are refused later
            squares = self.squares + np.array([(weights[w] ** 2).sum() for w in (~positive, positive)])
        return Examples(counted.n, squares, self.whole and counts.whole_weights(weights))

    def repeated(self, n_neg: int, n_pos: int) -> Examples:
        """Return these and as many others without weights."""
        return Examples(self.n + np.array([n_neg, n_pos]), self.squares, self.whole)

    def joined(self, other: Examples) -> Examples:
        """Return these and the examples of another part of the data."""
        return Examples(self.n + other.n, self.squares + other.squares, self.whole and other.whole)

    def effective(self, neg: float, pos: float, *, weighted: bool) -> tuple[float, float] | None:
        """Check the totals of negatives and positives, and return the effective sample sizes if they are weights."""
        n_neg, n_pos = self.n.tolist()
        counts.check_totals(n_pos, n_neg, (pos, neg) if weighted else None)
        if not weighted:
            return None
        squares = self.squares.tolist()
        if self.whole and max(squares) <= LARGEST_WHOLE:
            return int(pos) ** 2 / int(squares[1]), int(neg) ** 2 / int(squares[0])
        return pos**2 / squares[1], neg**2 / squares[0]

    def state(self) -> dict[str, Array]:
        """Return the arrays that `restored` reads."""
        return {"n": self.n, "squares": self.squares}

    @classmethod
    def restored(cls, whole: Any, arrays: dict[str, Array]) -> Examples:
        """Restore them from a state."""
        n, squares = part(arrays, "n", "i", 2), part(arrays, "squares", "f", 2)
        return cls(n.astype(np.int64), squares.astype(np.float64), bool(whole))
