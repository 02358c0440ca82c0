"""How often simultaneous bands hold, from many simulated data sets and the critical values of few of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# Critical values looked at.
GRID = np.arange(200, 461) / 100
# Farther from the critical values of some data sets than this, no other data set has its own.
FAR = 0.15


def needed(covers: Callable[[float, np.ndarray], np.ndarray], size: int) -> np.ndarray:
    """Return the smallest critical value at which each data set is covered; `covers(z, which)` tests some of them."""
    out = np.full(size, np.inf)
    parts = [(-1, GRID.size, np.arange(size))]
    while parts:
        low, high, which = parts.pop()
        if which.size == 0 or low == GRID.size - 1:
            continue
        if high - low == 1:
            out[which] = GRID[high]
            continue
        middle = (low + high) // 2
        held = covers(GRID[middle], which)
        parts += [(low, middle, which[held]), (middle, high, which[~held])]
    return out


def joint_coverage(need: np.ndarray, critical_of: Callable[[int], float], look: int, rng: np.random.Generator) -> float:
    """Return the share of data sets that need no more than their own critical value.

    Most data sets need much less, or more, than any band has: only of the others are `look` drawn and their critical
    values found. What the 95th percentile of the needs, one value for all, covers among these is known, so only
    where it and a band's own value differ is there noise.
    """
    first = np.array([critical_of(i) for i in range(12)])
    low, high = first.min() - FAR, first.max() + FAR
    near = np.flatnonzero((need > low) & (need <= high))
    some = rng.permutation(near)[:look]
    own = np.array([critical_of(i) for i in some])
    assert ((own > low) & (own < high)).all()
    right = np.quantile(need, 0.95, method="higher")
    gain = np.mean((need[some] <= own).astype(float) - (need[some] <= right))
    return float(np.mean(need <= right) + gain * near.size / need.size)
