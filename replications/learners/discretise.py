"""Cuts of a numeric column by entropy, as many as a minimum description length allows (Fayyad & Irani 1993)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from replications.learners.splits import Floats

# Entropies closer than this, in bits of all examples together, count as equal, so that the lowest cut wins on every
# machine.
SAME = 1e-9


def mdl_cuts(values: Floats, y: npt.NDArray[np.bool_]) -> Floats:
    """Find where to cut a column, in increasing order. Values up to a cut lie below it.

    Parameters
    ----------
    values : array of float
        The column. NaN is a missing value, which is ignored.
    y : array of bool
        The classes.

    Notes
    -----
    Of all places between two distinct values, the one with the least class entropy is used, in the middle
    between them, if its gain is more than [log2(N - 1) + log2(3^k - 2) - (k E - k1 E1 - k2 E2)] / N, where N are the
    examples, E is the entropy and k the number of classes of all, 1 and 2 of the two sides; then both sides are cut in
    turn.

    Examples
    --------
    >>> import numpy as np
    >>> mdl_cuts(np.arange(20.0), np.arange(20) > 12)
    array([12.5])
    >>> mdl_cuts(np.arange(20.0), np.arange(20) % 2 == 0)
    array([], dtype=float64)
    """
    known = ~np.isnan(values)
    distinct, where = np.unique(values[known], return_inverse=True)
    counts = np.stack([np.bincount(where[y[known] == side], minlength=distinct.size) for side in (False, True)], axis=1)
    below = np.vstack([np.zeros((1, 2), dtype=np.int64), np.cumsum(counts, axis=0)]).astype(np.float64)
    ends, waiting = [], [(0, distinct.size)]
    while waiting:
        start, end = waiting.pop()
        at = _accepted(below[start : end + 1] - below[start])
        if at is not None:
            ends.append(start + at)
            waiting += [(start, start + at), (start + at, end)]
    found = np.sort(np.asarray(ends, dtype=np.intp))
    low, high = distinct[found - 1], distinct[found]
    middle = low + (high - low) / 2
    # There is no middle between two neighbouring floats.
    return np.asarray(np.where(middle < high, middle, low), dtype=np.float64)


def _accepted(below: Floats) -> int | None:
    """The best cut, as the number of distinct values below it, or None if it costs more than it gains."""
    left, whole = below[1:-1], below[-1]
    if not len(left) or (whole == 0).any():
        return None
    bits = _bits(left) + _bits(whole - left)
    best = int(np.argmax(bits <= bits.min() + SAME))
    sides = np.stack([whole, left[best], whole - left[best]])
    total, entropy, classes = sides.sum(axis=1), _bits(sides), (sides > 0).sum(axis=1)
    gain = entropy[0] - entropy[1] - entropy[2]
    parts = classes * entropy / total
    needed = np.log2(total[0] - 1) + np.log2(3.0 ** classes[0] - 2) - (parts[0] - parts[1] - parts[2])
    return best + 1 if gain > needed else None


def _bits(counts: Floats) -> Floats:
    """The class entropy of groups (groups, classes) in bits, times their size."""
    total = counts.sum(axis=-1)
    return np.asarray((xlogy(total, total) - xlogy(counts, counts).sum(axis=-1)) / np.log(2))
