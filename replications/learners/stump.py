"""Holte's 1R: a rule on the column that classifies the training examples best, with one answer for each value."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from costcurves import InputError
from replications.learners.splits import Floats
from replications.learners.trees import checked


class OneRule:
    """A rule on one column that gives the more frequent class for each of its values or intervals of values.

    Parameters
    ----------
    min_bucket : int
        An interval of a numeric column must have this many examples of its more frequent class (1R's SMALL, 6).

    Notes
    -----
    A missing value counts as a separate value, and the intervals are those of 1R. An interval ends as soon
    as its more frequent class has `min_bucket` examples and the next value is of another class. Equal values are never
    separated, and neighbouring intervals with the same answer are joined. The column with the fewest training errors is
    used, and the first of several. A value that did not occur in training gets the answer for all examples together.

    Examples
    --------
    >>> rule = OneRule(min_bucket=2).fit([[1.0], [2.0], [3.0], [4.0]], [False, False, True, True])
    >>> rule
    OneRule(column 0, 2 values)
    >>> rule.predict([[2.4], [2.6]]).tolist()
    [False, True]
    """

    def __init__(self, *, min_bucket: int = 6) -> None:
        if min_bucket < 1:
            raise InputError(f"`min_bucket` must be at least 1, got {min_bucket}")
        self.min_bucket = min_bucket

    def __repr__(self) -> str:
        return f"OneRule(column {self.column_}, {(self._counts[:-1].sum(axis=1) > 0).sum()} values)"

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, nominal: npt.ArrayLike | None = None) -> OneRule:
        """Find the column. The arguments are those of `DecisionTree.fit`."""
        features, positive, mask = checked(X, y, nominal)
        fewest = np.inf
        for column in range(features.shape[1]):
            values = features[:, column]
            cuts = None if mask[column] else intervals(values, positive, self.min_bucket)
            cell = cells(values, cuts)
            size = int(cell.max()) + 1
            counts = np.stack([np.bincount(cell[positive == side], minlength=size) for side in (False, True)], axis=1)
            errors = counts.min(axis=1).sum()
            if errors < fewest:
                # The last row is for values that did not occur in training.
                fewest, self.column_, self._cuts = errors, column, cuts
                self._counts = np.vstack([counts, counts.sum(axis=0)])
        return self

    def predict_proba(self, X: npt.ArrayLike) -> Floats:
        """Return the Laplace estimates of False and True, shape (examples, 2)."""
        cell = cells(np.asarray(X, dtype=np.float64)[:, self.column_], self._cuts)
        known = cell < len(self._counts) - 1
        known[known] = self._counts[cell[known]].any(axis=1)
        counts = self._counts[np.where(known, cell, -1)]
        return np.asarray((counts + 1) / (counts.sum(axis=1, keepdims=True) + 2))

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Predict the more frequent class of each value. A tie is False."""
        return self.predict_proba(X)[:, 1] > 0.5


def cells(values: Floats, cuts: Floats | None) -> npt.NDArray[np.intp]:
    """Return 0 for a missing value, and otherwise the number of the interval or the code, counted from 1."""
    missing = np.isnan(values)
    known = np.where(missing, 0, values)
    number = known.astype(np.intp) if cuts is None else np.searchsorted(cuts, known, side="left")
    return np.where(missing, 0, number + 1)


def intervals(values: Floats, positive: npt.NDArray[np.bool_], min_bucket: int) -> Floats:
    """Find where 1R cuts a numeric column. Values up to a cut are below it."""
    known = ~np.isnan(values)
    distinct, where = np.unique(values[known], return_inverse=True)
    counts = np.stack([np.bincount(where[positive[known] == side], minlength=distinct.size) for side in (False, True)])
    ends, answers, bucket = [], [], np.zeros(2, dtype=np.intp)
    for i, count in enumerate(counts.T):
        answer = int(bucket[1] > bucket[0])
        # A value of mixed classes extends an interval unless it changes its answer.
        if bucket.max() >= min_bucket and count[1 - answer] > count[answer]:
            ends.append(i)
            answers.append(answer)
            bucket = np.zeros(2, dtype=np.intp)
        bucket = bucket + count
    answers.append(int(bucket[1] > bucket[0]))
    kept = [end for i, end in enumerate(ends) if answers[i] != answers[i + 1]]
    return np.asarray([distinct[end - 1] + (distinct[end] - distinct[end - 1]) / 2 for end in kept], dtype=np.float64)
