"""Out-of-fold scores, in which each example is scored by a learner that was trained without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from replications.domains import Domain, Floats


def fold_numbers(y: npt.NDArray[np.bool_], folds: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Assign a fold to each example. The shuffled classes are dealt out one after the other.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([True, True, False, False, False, False])
    >>> fold = fold_numbers(y, 2, np.random.default_rng(0))
    >>> [int(y[fold == k].sum()) for k in (0, 1)], np.bincount(fold).tolist()
    ([1, 1], [3, 3])
    """
    order = np.concatenate([rng.permutation(np.flatnonzero(y == side)) for side in (True, False)])
    found = np.empty(y.size, dtype=np.intp)
    found[order] = np.arange(y.size) % folds
    return found


def out_of_fold(domain: Domain, learner: Callable[[], Any], fold: npt.NDArray[np.intp]) -> Floats:
    """The probability of a positive for each example, from a new learner trained on the other folds."""
    found = np.empty(domain.y.size)
    for k in range(int(fold.max()) + 1):
        train, test = fold != k, fold == k
        fitted = learner().fit(domain.X[train], domain.y[train], domain.nominal)
        found[test] = fitted.predict_proba(domain.X[test])[:, 1]
    return found
