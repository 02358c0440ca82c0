"""A canonical order of classes and classifiers for simulations, so that exchanging them does not change the result.

Closed forms have this symmetry by themselves. Random numbers are drawn in some order, which is decided here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import FloatArray

# 1 - pc is rounded. At multiples of this part both weights of a simulation are exact, in either order of the classes.
_PART = 2.0**-40


def exact_weights(pc: FloatArray) -> FloatArray:
    """Return operating points, moved by at most 5e-13, for which 1 - (1 - pc) is pc.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.symmetry import exact_weights
    >>> one, other = exact_weights(np.array([0.1])), exact_weights(1 - np.array([0.1]))
    >>> bool((1 - other == one).all()), bool(1 - (1 - 0.1) == 0.1)
    (True, False)
    """
    return np.asarray(np.rint(pc / _PART) * _PART)


def chosen(forms: Sequence[Sequence[npt.ArrayLike]]) -> int:
    """Return the index of the form whose numbers come last in lexicographic order, to nine decimals.

    Parameters
    ----------
    forms : sequence of sequences of arrays
        The same data in several orders; corresponding arrays of two forms have the same size.

    Examples
    --------
    >>> from costcurves.inference.symmetry import chosen
    >>> chosen([[[1, 2], 5], [[2, 1], 3]])
    1
    """
    keys = [_key(form) for form in forms]
    best = 0
    for i in range(1, len(keys)):
        differ = np.flatnonzero(keys[i] != keys[best])
        if differ.size and keys[i][differ[0]] > keys[best][differ[0]]:
            best = i
    return best


def _key(form: Sequence[npt.ArrayLike]) -> FloatArray:
    return np.concatenate([np.round(np.asarray(part, dtype=np.float64), 9).ravel() for part in form])


def canonical_order(tables: npt.NDArray[Any]) -> list[int]:
    """Return an order of items that depends only on what each pair has in common, not on the order in which they came.

    Parameters
    ----------
    tables : array of shape (items, items, values)
        The values of the pair of items i and j; [i, i] has those of item i alone.

    Notes
    -----
    Items are distinguished by their own values, then repeatedly by the values that they have with items distinguished
    before. Items that are not distinguished in this way are interchangeable, except in contrived cases.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.symmetry import canonical_order
    >>> canonical_order(np.array([[[5], [1]], [[1], [7]]])), canonical_order(np.array([[[7], [1]], [[1], [5]]]))
    ([0, 1], [1, 0])
    """
    size = tables.shape[0]
    code = _codes([tuple(tables[i, i].tolist()) for i in range(size)])
    for _ in range(size):
        with_others = [
            (code[i], tuple(sorted((code[j], tuple(tables[i, j].tolist())) for j in range(size)))) for i in range(size)
        ]
        finer = _codes(with_others)
        if finer == code:
            break
        code = finer
    return sorted(range(size), key=lambda i: code[i])


def _codes(keys: list[Any]) -> list[int]:
    """Return the rank of each key among the distinct ones."""
    rank = {key: i for i, key in enumerate(sorted(set(keys)))}
    return [rank[key] for key in keys]
