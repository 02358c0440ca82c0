"""Confusion counts of k classes from batches: of one classifier, or of two jointly."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError, UnsupportedError
from costcurves._base.validation import Column, IntArray, frozen, is_empty, shown
from costcurves.counting.class_labels import Labels, LabelsLike, check_labels, code_columns, sorted_labels
from costcurves.counting.confusion import ConfusionMatrix, JointConfusion, pair_counts, triple_counts
from costcurves.data.tallies.base import State, Tally, locked, part

Array = npt.NDArray[Any]
Cell = tuple[Hashable, ...]


class ConfusionTally(Tally):
    """Counts of true and predicted classes, of one classifier or of two on the same examples, from batches.

    Parameters
    ----------
    labels : sequence, optional
        The classes in order; another label is an error. By default the labels that occur, sorted.

    Notes
    -----
    Only cells that occur are stored. For any batches and any order of merging the result is that of
    `ConfusionMatrix.from_predictions` or `JointConfusion.from_predictions`. `update` and `merge` change the tally and
    return it.

    Examples
    --------
    >>> import costcurves as cc
    >>> first = cc.ConfusionTally().update(["a", "b"], ["a", "a"])
    >>> first.merge(cc.ConfusionTally().update(["b"], ["b"])).to_confusion()
    ConfusionMatrix of 3 examples, 2 classes (rows true, columns predicted)
             a  b
      a      1  0
      b      1  1
    >>> cc.ConfusionTally().update([0, 1], [0, 1], [1, 1]).to_joint()
    JointConfusion(2 examples, 2 classes, 2 distinct triples, 1 examples with different predictions)
    """

    def __init__(self, labels: LabelsLike | None = None) -> None:
        self._labels: Labels | None = None if labels is None else check_labels("labels", labels)
        self._cells: dict[Cell, int] = {}
        self._width: int | None = None
        self._types: set[str] = set()

    @locked
    def update(self, y_true: Column, y_pred: Column, other: Column | None = None) -> ConfusionTally:
        """Count a batch of true classes, predictions and, for a joint table, predictions of another classifier.

        Parameters
        ----------
        y_true, y_pred : sequence of labels, shape (n,)
        other : sequence of labels, shape (n,), optional
            In all batches or in none.
        """
        columns: dict[str, Any] = {"y_true": y_true, "y_pred": y_pred}
        if other is not None:
            columns["other"] = other
        if all(map(is_empty, columns.values())):
            return self
        labels, codes = code_columns(columns, self._labels)
        self._agree(len(columns), set() if self._labels is not None else {_type_of(label) for label in labels})
        if other is None:
            table = pair_counts(codes[0], codes[1], len(labels)).ravel()
            keys = np.flatnonzero(table)
            counts = table[keys]
        else:
            keys, counts = triple_counts(codes[0], codes[1], codes[2], len(labels))
        self._add(labels, keys, counts, len(columns))
        return self

    def _merge(self, other: ConfusionTally) -> None:
        if self._labels != other._labels:
            raise InputError("`other` must have the same `labels` to be merged, got others")
        if other._width is not None:
            self._agree(other._width, other._types)
        for cell, count in other._cells.items():
            self._cells[cell] = self._cells.get(cell, 0) + count

    def empty(self) -> ConfusionTally:
        """Make an empty tally of the same labels for another part of the data, to be merged later."""
        return ConfusionTally(self._labels)

    @locked
    def to_confusion(self) -> ConfusionMatrix:
        """The confusion matrix of the classifier."""
        labels, keys, counts = self._table(2)
        k = len(labels)
        table = np.zeros(k * k, np.int64)
        table[keys] = counts
        return ConfusionMatrix(labels, frozen(table.reshape(k, k)))

    @locked
    def to_joint(self) -> JointConfusion:
        """The joint table of the two classifiers."""
        return JointConfusion._from_keys(*self._table(3))

    def _agree(self, width: int, types: set[str]) -> None:
        if self._width not in (None, width):
            raise DataError("`other` must be given for all batches or for none, got some of both")
        both = self._types | types
        if len(both) > 1 and both != {"int", "float"}:
            raise DataError(f"`y_true` must hold labels of one type in all batches, got {' and '.join(sorted(both))}")
        self._width, self._types = width, both

    def _add(self, labels: Labels, keys: IntArray, counts: IntArray, width: int) -> None:
        digits = np.unravel_index(keys, (len(labels),) * width)
        named = ([labels[i] for i in digit.tolist()] for digit in digits)
        for cell, count in zip(zip(*named, strict=True), counts.tolist(), strict=True):
            self._cells[cell] = self._cells.get(cell, 0) + count

    def _table(self, width: int) -> tuple[Labels, IntArray, IntArray]:
        """Return the labels, the cells as keys in ascending order, and the counts."""
        if self._width is None:
            raise DataError("`y_true` must hold at least one example, got 0")
        if self._width != width:
            has, call = ("two classifiers", "to_joint") if self._width == 3 else ("one classifier", "to_confusion")
            raise UnsupportedError(f"the tally must have other predictions for this, got {has}: use {call}()")
        cells = list(self._cells)
        labels = self._labels
        if labels is None:
            labels = sorted_labels(dict.fromkeys(label for cell in cells for label in cell))
        index = {label: i for i, label in enumerate(labels)}
        if self._labels is None and "float" in self._types:
            labels = tuple(float(label) for label in labels)  # type: ignore[arg-type]
        digits = np.array([[index[label] for label in cell] for cell in cells], dtype=np.int64)
        keys = np.ravel_multi_index(tuple(digits.T), (len(labels),) * width)
        order = np.argsort(keys)
        return labels, keys[order], np.fromiter(self._cells.values(), np.int64, len(cells))[order]

    def _state(self) -> State:
        found = sorted_labels(dict.fromkeys(label for cell in self._cells for label in cell))
        index = {label: i for i, label in enumerate(found)}
        plain = {
            "labels": None if self._labels is None else list(self._labels),
            "found": list(found),
            "width": self._width,
            "types": sorted(self._types),
        }
        cells = np.array([[index[label] for label in cell] for cell in self._cells], dtype=np.int64)
        return plain, {"cells": cells, "counts": np.fromiter(self._cells.values(), np.int64, len(self._cells))}

    @classmethod
    def _restored(cls, plain: dict[str, Any], arrays: dict[str, Array]) -> ConfusionTally:
        tally = cls(plain["labels"])
        found, width, types = plain["found"], plain["width"], plain["types"]
        cells, counted = arrays["cells"], part(arrays, "counts", "i")
        if width not in (None, 2, 3) or not isinstance(types, list) or not isinstance(found, list):
            raise DataError(f"labels must be those that a tally writes, got {shown(plain)}")
        if (cells.shape != (counted.size, width) and counted.size) or (width is None and counted.size):
            raise DataError(f"cells must have {width} labels each, got shape {cells.shape}")
        part({"cells": cells.ravel()}, "cells", "i", most=len(found))
        tally._width, tally._types = width, {str(kind) for kind in types}
        for cell, count in zip(cells.tolist(), counted.tolist(), strict=True):
            tally._cells[tuple(found[i] for i in cell)] = count
        return tally

    def __repr__(self) -> str:
        return f"ConfusionTally({sum(self._cells.values())} examples, {len(self._cells)} distinct cells)"


def _type_of(label: Hashable) -> str:
    """Return the kind of a label, for the check that all batches have the same."""
    return "text" if isinstance(label, str) else type(label).__name__
