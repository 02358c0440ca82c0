"""Bagging: learners trained on bootstrap samples, whose probabilities are averaged (Breiman 1996)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from costcurves import InputError
from replications.learners.splits import Floats
from replications.learners.trees import checked


class Learner(Protocol):
    """A learner that can be bagged, which is fitted to examples and then gives probabilities."""

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, nominal: npt.ArrayLike | None = None) -> Any:
        """Learn from examples."""

    def predict_proba(self, X: npt.ArrayLike) -> Floats:
        """Return the probabilities of False and True."""


class Bagging:
    """The mean probability of several learners, each trained on as many examples drawn with replacement.

    Parameters
    ----------
    make : callable
        Makes a fresh learner.
    count : int
        The number of learners.
    rng : numpy Generator

    Examples
    --------
    >>> import numpy as np
    >>> from replications.learners.bayes import NaiveBayes
    >>> X = np.arange(40.0)[:, None]
    >>> bag = Bagging(NaiveBayes, count=10, rng=np.random.default_rng(0)).fit(X, X[:, 0] > 19)
    >>> bag.predict_proba([[0.0], [39.0]])[:, 1].round(2).tolist()
    [0.05, 0.96]
    """

    def __init__(self, make: Callable[[], Learner], *, count: int, rng: np.random.Generator) -> None:
        if count < 1:
            raise InputError(f"`count` must be at least 1, got {count}")
        self.make, self.count, self.rng = make, count, rng

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, nominal: npt.ArrayLike | None = None) -> Bagging:
        """Train all members."""
        features, positive, mask = checked(X, y, nominal)
        self.members_ = []
        for _ in range(self.count):
            drawn = self.rng.integers(positive.size, size=positive.size)
            self.members_.append(self.make().fit(features[drawn], positive[drawn], mask))
        return self

    def predict_proba(self, X: npt.ArrayLike) -> Floats:
        """Return the mean probabilities of False and True, shape (examples, 2)."""
        return np.asarray(np.mean([member.predict_proba(X) for member in self.members_], axis=0))
