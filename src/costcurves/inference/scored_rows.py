"""Scores of several classifiers on the same rows: thresholds to study, and keys that depend on the scores alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import BoolArray, FloatArray, IntArray
from costcurves.counting.counts import effective_number

# Rows of one class from which the covariance of errors is estimated.
ROWS = 4096
# Up to this many rows, keys follow from the ranks of the scores, so that only the order of the scores matters. Ranks of
# more rows would take longer than everything else, and the keys only pick rows for a covariance there.
RANKED = 16 * ROWS

Hashes = npt.NDArray[np.uint64]


class ScoredRows:
    """Labels and scores of the same rows.

    Parameters
    ----------
    positive : array of bool, shape (n,)
    scores : mapping of name to array of shape (n,)
    weights : array of shape (n,), or None
    order : sequence of str
        The classifiers that take part, in an order that depends on neither names nor places.
    effective : (positives, negatives), optional
        Effective sample sizes where rows stand for several cases; by default they follow from the weights.
    hashes : mapping of name to array of shape (n,), optional
        What `row_hashes` returns for each classifier, if it is known already.
    """

    def __init__(
        self,
        positive: BoolArray,
        scores: Mapping[str, npt.NDArray[Any]],
        weights: FloatArray | None,
        order: Sequence[str],
        effective: tuple[float, float] | None = None,
        hashes: Mapping[str, Hashes] | None = None,
    ) -> None:
        self._effective, self._hashes = effective, hashes
        self.positive, self.scores, self.weights, self.order = positive, scores, weights, tuple(order)
        self._known: dict[str, tuple[FloatArray, float]] = {}

    @property
    def gathered(self) -> bool:
        """Whether rows stand for several cases."""
        return self._effective is not None

    def spread_out(self, name: str, most: int, used: Sequence[float] = ()) -> FloatArray:
        """Return thresholds all along the scores, denser where few cases decide: at the ends and near those in use."""
        distinct, _ = self._distinct(name)
        n = distinct.size - 1
        if n <= most:
            return distinct[1:]
        parts = [np.linspace(1, n, most // 4)]
        ends = np.geomspace(1, n / 2, most // 8)
        parts += [ends, n + 1 - ends]
        if used:
            near = np.searchsorted(distinct, np.unique(used))
            steps = np.geomspace(1, n / 2, max(2, most // 4 // near.size))
            parts += [(near[:, None] + sign * steps).ravel() for sign in (-1, 1)]
        ranks = np.unique(np.clip(np.rint(np.concatenate(parts)), 1, n))
        return distinct[ranks.astype(np.int64)]

    def between(self, name: str, grid: FloatArray) -> FloatArray:
        """Return about how many more thresholds lie between each of some thresholds and the next; 0 for the last."""
        distinct, times = self._distinct(name)
        more = np.diff(np.searchsorted(distinct, grid)) - 1
        return np.append(times * np.maximum(more, 0), 0.0)[: grid.size]

    def _distinct(self, name: str) -> tuple[FloatArray, float]:
        """Return the distinct scores of a classifier, and how many each of them stands for if there are very many."""
        if name not in self._known:
            scores, times = self.scores[name], 1.0
            if scores.size > RANKED:
                scores, times = scores[self.few_rows(np.arange(scores.size))], scores.size / ROWS
            self._known[name] = np.unique(scores).astype(np.float64), times
        return self._known[name]

    @cached_property
    def keys(self) -> Hashes:
        """A number for each row that depends on its scores, its label and its weight alone."""
        hashes = self._hashes or {name: row_hashes(self.scores[name], self.positive) for name in self.order}
        return row_keys([hashes[name] for name in self.order], self.weights, ordered=True)

    def few_rows(self, rows: IntArray) -> IntArray:
        """Return at most `ROWS` of some rows, picked by their scores alone."""
        if rows.size <= ROWS:
            return rows
        return rows[np.argpartition(self.keys[rows], ROWS)[:ROWS]]

    @cached_property
    def sides(self) -> tuple[IntArray, IntArray]:
        """The positive and the negative rows."""
        return np.flatnonzero(self.positive), np.flatnonzero(~self.positive)

    @cached_property
    def side_weights(self) -> tuple[FloatArray | None, FloatArray | None]:
        """The weights of the rows of each class."""
        if self.weights is None:
            return None, None
        return self.weights[self.sides[0]], self.weights[self.sides[1]]

    @cached_property
    def effective(self) -> tuple[float, float]:
        """Effective sample sizes."""
        if self._effective is not None:
            return self._effective
        pos, neg = (
            float(rows.size) if weight is None else effective_number(weight)
            for rows, weight in zip(self.sides, self.side_weights, strict=True)
        )
        return pos, neg


def row_hashes(scores: npt.NDArray[Any], positive: BoolArray) -> Hashes:
    """Return a hash of each row's label and of the rank of its score of one classifier (of the score, if many rows)."""
    return _mixed(_hashed(_ranked(scores)) + positive.astype(np.uint64))


def row_keys(hashes: Sequence[Hashes], weights: FloatArray | None, *, ordered: bool) -> Hashes:
    """Return a number for each row from the hashes of several classifiers and its weight.

    A row in which two classifiers have exchanged their scores is another row. If both have the same ROC curve, that can
    be said only of classifiers in an order (`ordered`), in which the number of each among its like enters.
    """
    total, seen = np.zeros(hashes[0].size, dtype=np.uint64), dict[int, int]()
    for one in hashes:
        factor = int(one.sum(dtype=np.uint64)) | 1
        number = seen[factor] = seen.get(factor, -1) + 1
        total += one * np.uint64(factor * (2 * number + 1 if ordered else 1) % 2**64)
    if weights is not None:
        total += _hashed(_ranked(weights)) * np.uint64(0x94D049BB133111EB)
    return total


def order_key(own: Hashes, keys: Hashes) -> tuple[int, int]:
    """Return a key to sort classifiers by that depends on neither their names nor the order of the rows.

    The second number tells classifiers apart that have the same ROC curve on different rows.
    """
    return int(own.sum(dtype=np.uint64)), int(_mixed(own + keys).sum(dtype=np.uint64))


def _ranked(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the ranks of the distinct values; if there are very many, the values themselves."""
    return values if values.size > RANKED else np.unique(values, return_inverse=True)[1]


def _hashed(values: npt.NDArray[Any]) -> Hashes:
    """Return a hash of each number."""
    return _mixed((values.astype(np.float64) + 0.0).view(np.uint64))


def _mixed(bits: Hashes) -> Hashes:
    """Return integers whose bits depend on all bits of some others."""
    bits = (bits ^ (bits >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray((bits ^ (bits >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9))
