"""Counts of labels: confusion matrices of one classifier and joint tables of two.

Rows are true classes and columns are predicted classes, as in scikit-learn. This module does not deal with costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError
from costcurves._base.frames import TableLike
from costcurves._base.results import Result
from costcurves._base.validation import Column, IntArray, frozen, number_array
from costcurves.counting.class_labels import Labels, LabelsLike, check_labels, code_columns, listed
from costcurves.counting.square_tables import check_counts, read_square, square_text


def pair_counts(
    true: IntArray, predicted: IntArray, k: int, weights: npt.NDArray[Any] | None = None
) -> npt.NDArray[Any]:
    """Count coded pairs, or sum their weights, in a k × k table in one pass."""
    return np.bincount(true * k + predicted, weights=weights, minlength=k * k).reshape(k, k)


def triple_counts(true: IntArray, a: IntArray, b: IntArray, k: int) -> tuple[IntArray, IntArray]:
    """Find the distinct coded triples as ascending keys (true·k² + a·k + b), and their counts.

    A dense table is used if it is no larger than the data. Otherwise the keys are sorted, so that only triples that
    occur are held in memory.
    """
    keys = (true * k + a) * k + b
    if k**3 <= max(4 * keys.size, 1 << 16):
        counts = np.bincount(keys, minlength=k**3)
        present = np.flatnonzero(counts)
        return present, counts[present].astype(np.int64, copy=False)
    keys.sort()
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    return keys[starts], np.diff(np.append(starts, keys.size))


def _places(what: str, labels: Labels, others: LabelsLike, owner: str) -> tuple[Labels, IntArray]:
    """Check other labels, and find the place of each label among them. Losing a label is an error."""
    names = check_labels("labels", others)
    if lost := [label for label in labels if label not in set(names)]:
        raise DataError(f"`{what}` must have only the labels of {owner} ({listed(names)}), got {listed(lost)}")
    return names, np.array([names.index(label) for label in labels], dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConfusionMatrix(Result):
    """Counts of (true class, predicted class): rows true, columns predicted, as in scikit-learn.

    Attributes
    ----------
    labels : tuple
        The k classes, in the order of rows and columns.
    counts : ndarray of int, shape (k, k)
        The number of examples with each true class (row) and prediction (column). Read-only.

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.ConfusionMatrix.from_predictions(["a", "b", "b"], ["a", "a", "b"])
    ConfusionMatrix of 3 examples, 2 classes (rows true, columns predicted)
             a  b
      a      1  0
      b      1  1
    """

    labels: Labels
    counts: IntArray

    @classmethod
    def from_predictions(cls, y_true: Column, y_pred: Column, labels: LabelsLike | None = None) -> ConfusionMatrix:
        """Count the examples of each true and predicted class in one pass.

        Parameters
        ----------
        y_true, y_pred : sequence of labels, shape (n,)
            Arrays, lists or columns of a dataframe that hold numbers, strings, booleans or categories.
        labels : sequence, optional
            The classes in order. Other labels are an error. By default, the labels that occur are used.
        """
        names, (true, predicted) = code_columns({"y_true": y_true, "y_pred": y_pred}, labels)
        return cls(names, frozen(pair_counts(true, predicted, len(names))))

    @classmethod
    def from_table(cls, table: TableLike, labels: LabelsLike | None = None) -> ConfusionMatrix:
        """Take counts from an array, or from a labelled frame, which is matched by name.

        Parameters
        ----------
        table : array-like of shape (k, k), or dataframe
            Rows are true classes, columns are predicted classes. A frame may leave out labels that have no examples, as
            `pandas.crosstab` does.
        labels : sequence, optional
            The classes in order. By default, those of the frame, or 0, 1, …, k-1 for an array.
        """
        if isinstance(table, ConfusionMatrix):
            return table if labels is None else table.aligned(labels)
        values, names = read_square("confusion", table, labels, partial=True)
        return cls(names, frozen(check_counts("confusion", values)))

    def aligned(self, labels: LabelsLike, owner: str = "`labels`") -> ConfusionMatrix:
        """Return the counts in the order of other labels. New labels have zeros, and losing a label is an error."""
        names, at = _places("confusion", self.labels, labels, owner)
        if names == self.labels:
            return self
        counts = np.zeros((len(names), len(names)), dtype=np.int64)
        counts[np.ix_(at, at)] = self.counts
        return ConfusionMatrix(names, frozen(counts))

    @property
    def n(self) -> int:
        """The number of examples."""
        return int(self.counts.sum())

    def _columns(self) -> dict[str, Any]:
        true, predicted = np.nonzero(self.counts)
        return {
            "true": [self.labels[i] for i in true],
            "predicted": [self.labels[i] for i in predicted],
            "count": self.counts[true, predicted],
        }

    def __repr__(self) -> str:
        head = f"ConfusionMatrix of {self.n} examples, {len(self.labels)} classes (rows true, columns predicted)"
        return head + "\n" + square_text(self.labels, self.counts)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JointConfusion(Result):
    """Counts of the triples (true class, prediction of a, prediction of b) that occur on the same examples.

    Attributes
    ----------
    labels : tuple
        The k classes.
    true, a, b : ndarray of int, shape (m,)
        Positions in `labels` of the m distinct triples that occur. Read-only.
    counts : ndarray of int, shape (m,)
        The number of examples with each triple. Read-only.

    Examples
    --------
    >>> import costcurves as cc
    >>> joint = cc.JointConfusion.from_predictions([0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 0])
    >>> joint
    JointConfusion(4 examples, 2 classes, 4 distinct triples, 2 examples with different predictions)
    >>> joint.first
    ConfusionMatrix of 4 examples, 2 classes (rows true, columns predicted)
               0  1
      0        1  1
      1        0  2
    """

    labels: Labels
    true: IntArray
    a: IntArray
    b: IntArray
    counts: IntArray

    @classmethod
    def from_predictions(
        cls, y_true: Column, pred_a: Column, pred_b: Column, labels: LabelsLike | None = None
    ) -> JointConfusion:
        """Count the triples of a true class and two predictions.

        Parameters
        ----------
        y_true, pred_a, pred_b : sequence of labels, shape (n,)
            The same examples in the same order.
        labels : sequence, optional
            The classes in order. By default those that occur.
        """
        columns = {"y_true": y_true, "pred_a": pred_a, "pred_b": pred_b}
        names, (true, a, b) = code_columns(columns, labels)
        return cls._from_codes(names, true, a, b)

    @classmethod
    def _from_codes(cls, labels: Labels, true: IntArray, a: IntArray, b: IntArray) -> JointConfusion:
        keys, counts = triple_counts(true, a, b, len(labels))
        return cls._from_keys(labels, keys, counts)

    @classmethod
    def _from_keys(cls, labels: Labels, keys: IntArray, counts: IntArray) -> JointConfusion:
        pairs, b = np.divmod(keys, len(labels))
        true, a = np.divmod(pairs, len(labels))
        return cls(labels, frozen(true), frozen(a), frozen(b), frozen(counts))

    @classmethod
    def from_table(cls, table: TableLike, labels: LabelsLike | None = None) -> JointConfusion:
        """Take counts from a k × k × k array indexed [true, prediction of a, prediction of b].

        Parameters
        ----------
        table : array-like of shape (k, k, k)
            Counts. The 2000 paper uses the order [a, b, true]; convert it with `np.moveaxis(paper, 2, 0)`.
        labels : sequence, optional
            The classes in order. By default 0, 1, …, k-1.
        """
        if isinstance(table, JointConfusion):
            return table if labels is None else table.aligned(labels)
        values = number_array("joint", table)
        if values.ndim != 3 or len(set(values.shape)) != 1:
            raise InputError(f"`joint` must be k × k × k, [true, a, b], got shape {values.shape}")
        k = values.shape[0]
        names: Labels = tuple(range(k)) if labels is None else check_labels("labels", labels)
        if len(names) != k:
            raise InputError(f"`labels` must name each of the {k} classes of `joint`, got {len(names)} labels")
        counts = check_counts("joint", values).ravel()
        keys = np.flatnonzero(counts)
        return cls._from_keys(names, keys, counts[keys])

    def aligned(self, labels: LabelsLike, owner: str = "`labels`") -> JointConfusion:
        """Return the counts for other labels. New labels have no examples, and losing a label is an error."""
        names, at = _places("joint", self.labels, labels, owner)
        if names == self.labels:
            return self
        keys = (at[self.true] * len(names) + at[self.a]) * len(names) + at[self.b]
        order = np.argsort(keys)
        return self._from_keys(names, keys[order], self.counts[order])

    @property
    def n(self) -> int:
        """The number of examples."""
        return int(self.counts.sum())

    @property
    def first(self) -> ConfusionMatrix:
        """The confusion matrix of classifier a."""
        return self._margin(self.a)

    @property
    def second(self) -> ConfusionMatrix:
        """The confusion matrix of classifier b."""
        return self._margin(self.b)

    def _margin(self, predicted: IntArray) -> ConfusionMatrix:
        counts = pair_counts(self.true, predicted, len(self.labels), self.counts)  # at most 2**53, so exact
        return ConfusionMatrix(self.labels, frozen(counts.astype(np.int64)))

    def _columns(self) -> dict[str, Any]:
        return {
            "true": [self.labels[i] for i in self.true],
            "a": [self.labels[i] for i in self.a],
            "b": [self.labels[i] for i in self.b],
            "count": self.counts,
        }

    def __repr__(self) -> str:
        differ = int(self.counts[self.a != self.b].sum())
        return (
            f"JointConfusion({self.n} examples, {len(self.labels)} classes, "
            f"{self.counts.size} distinct triples, {differ} examples with different predictions)"
        )
