"""The best split of examples of two classes, with four criteria, numeric and nominal columns, and missing values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]

# Gains per example that are closer than this count as equal, so that the first column and the lowest threshold win on
# every machine.
SAME = 1e-10
# Sums of fractions of examples have rounding errors, so a weight below this counts as zero.
NOTHING = 1e-9


def _entropy(a: Floats, b: Floats) -> Floats:
    return np.asarray((xlogy(a + b, a + b) - xlogy(a, a) - xlogy(b, b)) / np.log(2))


def _gini(a: Floats, b: Floats) -> Floats:
    total = a + b
    return 2 * a * b / np.where(total > 0, total, 1)


def _dkm(a: Floats, b: Floats) -> Floats:
    return 2 * np.sqrt(a * b)


def _accuracy(a: Floats, b: Floats) -> Floats:
    return np.minimum(a, b)


# The contribution of a group of `a` negatives and `b` positives to the impurity is (a + b) f(b / (a + b)), where f(p)
# is the entropy in bits, 2p(1-p), 2 sqrt(p(1-p)) or min(p, 1-p).
CRITERIA: dict[str, Callable[[Floats, Floats], Floats]] = {
    "entropy": _entropy,
    "gini": _gini,
    "dkm": _dkm,
    "accuracy": _accuracy,
}


@dataclass(frozen=True, slots=True)
class Split:
    """The split of a node. Values up to `threshold` go left, and it is NaN for a nominal column."""

    column: int
    threshold: float
    branches: int
    gain: float


@dataclass(frozen=True, slots=True)
class Columns:
    """The features by column, prepared for scans.

    Attributes
    ----------
    values : array (columns, examples)
    numeric, nominal : array of int
        The numeric and the nominal columns.
    levels : array of int, one per column
        The number of branches of a split: 2 for a numeric column, the largest code + 1 for a nominal one.
    """

    values: Floats
    numeric: Integers
    nominal: Integers
    levels: Integers

    @classmethod
    def of(cls, features: Floats, nominal: npt.NDArray[np.bool_]) -> Columns:
        """Make the columns from an array (examples, columns)."""
        values = np.ascontiguousarray(features.T)
        levels = np.full(len(values), 2, dtype=np.intp)
        for column in np.flatnonzero(nominal):
            known = values[column][~np.isnan(values[column])]
            levels[column] = 1 + int(known.max()) if known.size else 1
        return cls(values, np.flatnonzero(~nominal), np.flatnonzero(nominal), levels)

    def branch(self, split: Split, rows: Integers) -> Integers:
        """The branch of each row, or -1 if its value is missing."""
        found = self.values[split.column, rows]
        missing = np.isnan(found)
        if np.isnan(split.threshold):
            return np.where(missing, -1, found).astype(np.intp)
        return np.where(missing, -1, found > split.threshold).astype(np.intp)


def best_split(
    columns: Columns,
    rows: Integers,
    weight: Floats,
    positive: Floats,
    *,
    criterion: str = "entropy",
    gain_ratio: bool = False,
    min_leaf: float = 2.0,
) -> Split | None:
    """Find the split that lowers the impurity most, or None if no split lowers it.

    Parameters
    ----------
    columns : Columns
    rows, weight : arrays of equal length
        The examples of the node, and the fraction of each that belongs to it.
    positive : array, one per row of the node
        1 for a positive, 0 for a negative.
    criterion : {"entropy", "gini", "dkm", "accuracy"}
    gain_ratio : bool
        Whether to choose by the gain divided by the information of the split itself, among columns of at least average
        gain.
    min_leaf : float
        At least two branches must have this weight (C4.5's rule, which means both for a numeric column).

    Notes
    -----
    The gain of a column is measured on the examples whose value is known and counts in proportion to their weight.
    """
    criterion_of = CRITERIA[criterion]

    def impurity(negatives: Floats, positives: Floats) -> Floats:
        return criterion_of(_settled(negatives), _settled(positives))

    total = weight.sum()
    gains = np.zeros(len(columns.levels))
    information = np.ones(len(columns.levels))
    thresholds = np.full(len(columns.levels), np.nan)
    tolerance = SAME * total
    if columns.numeric.size:
        best, where, shares = _thresholds(columns, rows, weight, positive, impurity, min_leaf, tolerance)
        gains[columns.numeric], thresholds[columns.numeric], information[columns.numeric] = best, where, shares
    if columns.nominal.size:
        best, shares = _branches(columns, rows, weight, positive, impurity, min_leaf)
        gains[columns.nominal], information[columns.nominal] = best, shares
    useful = gains > tolerance
    if not useful.any():
        return None
    merit = np.where(useful, gains, -np.inf)
    if gain_ratio:
        enough = useful & (gains >= gains[useful].mean() - tolerance)
        merit = np.where(enough, gains / information, -np.inf)
    column = int(np.argmax(merit >= merit.max() - tolerance))
    return Split(column, float(thresholds[column]), int(columns.levels[column]), float(gains[column] / total))


def _settled(weight: Floats) -> Floats:
    """Set weights that are only due to rounding to zero."""
    return np.where(weight < NOTHING, 0.0, weight)


def _thresholds(
    columns: Columns,
    rows: Integers,
    weight: Floats,
    positive: Floats,
    impurity: Callable[[Floats, Floats], Floats],
    min_leaf: float,
    tolerance: float,
) -> tuple[Floats, Floats, Floats]:
    """Find the best gain of each numeric column, its threshold and the information of that split."""
    values = columns.values[columns.numeric[:, None], rows]
    order = np.argsort(values, axis=1)
    values = np.take_along_axis(values, order, axis=1)
    known = ~np.isnan(values)
    ordered = np.where(known, weight[order], 0.0)
    pos = np.cumsum(ordered * positive[order], axis=1)
    left = np.cumsum(ordered, axis=1)
    whole, whole_pos = left[:, -1:], pos[:, -1:]
    low = left[:, :-1]
    # Missing values are last, and a comparison with one is false, so only gaps between known values can be cut.
    enough = min_leaf - NOTHING
    cut = (values[:, :-1] < values[:, 1:]) & (low >= enough) & (whole - low >= enough)
    gain = np.zeros(cut.shape)
    if gain.shape[1] == 0:
        return np.zeros(len(values)), np.full(len(values), np.nan), np.ones(len(values))
    # Impurities are expensive to compute, and most places cannot be cut.
    here, there = np.nonzero(cut)
    below, below_pos = low[here, there], pos[here, there]
    after = impurity(below - below_pos, below_pos)
    after += impurity(whole[here, 0] - below - (whole_pos[here, 0] - below_pos), whole_pos[here, 0] - below_pos)
    gain[here, there] = impurity(whole - whole_pos, whole_pos)[here, 0] - after
    best = gain.max(axis=1)
    at = np.argmax(gain >= best[:, None] - tolerance, axis=1)
    which = np.arange(len(values))
    last, following = values[which, at], values[which, at + 1]
    middle = last + (following - last) / 2
    sides = np.stack([low[which, at], whole[:, 0] - low[which, at], np.maximum(weight.sum() - whole[:, 0], 0)])
    # There is no middle between two neighbouring floats.
    return best, np.where(middle < following, middle, last), _information(sides)


def _branches(
    columns: Columns,
    rows: Integers,
    weight: Floats,
    positive: Floats,
    impurity: Callable[[Floats, Floats], Floats],
    min_leaf: float,
) -> tuple[Floats, Floats]:
    """Find the gain of each nominal column and the information of its split."""
    levels = columns.levels[columns.nominal]
    starts = np.concatenate([[0], np.cumsum(levels)[:-1]])
    values = columns.values[columns.nominal[:, None], rows]
    known = ~np.isnan(values)
    cells = (np.where(known, values, 0).astype(np.intp) + starts[:, None])[known]
    spread = np.broadcast_to(weight, values.shape)[known]
    size = int(levels.sum())
    spread_pos = spread * np.broadcast_to(positive, values.shape)[known]
    count, pos = (np.bincount(cells, x, size).astype(np.float64) for x in (spread, spread_pos))
    whole: Floats = np.add.reduceat(count, starts)
    whole_pos: Floats = np.add.reduceat(pos, starts)
    after = np.add.reduceat(impurity(count - pos, pos), starts)
    gain = impurity(whole - whole_pos, whole_pos) - after
    allowed = np.add.reduceat((count >= min_leaf - NOTHING).astype(np.intp), starts) >= 2
    total = weight.sum()
    missing = np.maximum(total - whole, 0)
    information = (xlogy(total, total) - np.add.reduceat(xlogy(count, count), starts) - xlogy(missing, missing)) / (
        np.log(2) * total
    )
    return np.where(allowed, gain, 0.0), np.where(allowed, information, 1.0)


def _information(sides: Floats) -> Floats:
    """The entropy in bits of the shares of weights (groups, columns), or 1 if there is only one group."""
    total = sides.sum(axis=0)
    found = (xlogy(total, total) - xlogy(sides, sides).sum(axis=0)) / np.log(2) / total
    return np.where(found > 0, found, 1.0)
