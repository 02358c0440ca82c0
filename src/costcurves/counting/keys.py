"""Keys of scores: integers that have the order of the floats. The highest 12 bits of a key are its cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import FloatArray, IntArray

Array = npt.NDArray[Any]

CELL_BITS = 12
CELLS = 1 << CELL_BITS
FLOATS: dict[str, tuple[Any, Any]] = {"float32": (np.float32, np.int32), "float64": (np.float64, np.int64)}

LARGEST = {name: int(np.array([np.finfo(real).max], real).view(key)[0]) for name, (real, key) in FLOATS.items()}


def ordered_keys(scores: Array) -> Array:
    """Map floats to integers in the same order. -0.0 and 0.0 have the same key. May share memory with `scores`."""
    integer = FLOATS["float32" if scores.itemsize == 4 else "float64"][1]
    bits: Array = np.ascontiguousarray(scores).view(integer)
    if bits.min(initial=0) >= 0:
        return bits
    sign = bits >> (8 * bits.itemsize - 1)  # 0, or -1 for negative floats
    keys: Array = bits & np.iinfo(integer).max
    keys ^= sign
    keys -= sign
    return keys


def scores_of_keys(keys: IntArray, dtype: str) -> FloatArray:
    """Map keys back to scores. Keys beyond those of finite floats give the largest float."""
    real, integer = FLOATS[dtype]
    size = np.minimum(np.abs(keys), LARGEST[dtype]).astype(integer).view(real).astype(np.float64)
    scores: FloatArray = np.where(keys < 0, -size, size)
    return scores
