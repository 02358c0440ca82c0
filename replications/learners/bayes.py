"""Naive Bayes for two classes, on numeric columns that are discretised by entropy and on nominal columns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from replications.learners.discretise import mdl_cuts
from replications.learners.splits import Floats
from replications.learners.trees import checked


class NaiveBayes:
    """Naive Bayes after discretisation by entropy.

    Notes
    -----
    Numeric columns are cut by `mdl_cuts`, on the training examples only. The estimate for a value and a
    class is (examples + 1) / (examples of the class with a known value + number of values), and that for a class is
    (examples + 1) / (all + 2). A missing value is ignored in training and in scoring, and so is a nominal value whose
    code is larger than all codes in training.

    Examples
    --------
    >>> X = [[1.0, 0], [2.0, 1], [3.0, 0], [4.0, 1], [5.0, 1], [6.0, 1], [7.0, 1], [8.0, 0]]
    >>> y = [False, False, False, False, True, True, True, True]
    >>> bayes = NaiveBayes().fit(X, y, nominal=[False, True])
    >>> bayes.predict_proba([[4.0, 0], [5.0, 1]])[:, 1].round(3).tolist()
    [0.118, 0.87]
    """

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, nominal: npt.ArrayLike | None = None) -> NaiveBayes:
        """Cut, count and return the classifier. `nominal` marks the columns that hold codes 0, 1, ... of values."""
        features, positive, mask = checked(X, y, nominal)
        n_pos = int(positive.sum())
        self.prior_ = float(np.log(n_pos + 1) - np.log(positive.size - n_pos + 1))
        self.cuts_: list[Floats | None] = []
        self._odds: list[Floats] = []
        for column, is_nominal in zip(features.T, mask, strict=True):
            cuts = None if is_nominal else mdl_cuts(column, positive)
            cell = _cells(column, cuts)
            size = 1 + (len(cuts) if cuts is not None else int(cell.max(initial=0)))
            counts = [np.bincount(cell[(cell >= 0) & (positive == side)], minlength=size) for side in (False, True)]
            share = [np.log((count + 1) / (count.sum() + size)) for count in counts]
            self.cuts_.append(cuts)
            # The last entry is for values without information: missing ones and those that did not occur in training.
            self._odds.append(np.append(share[1] - share[0], 0.0))
        return self

    def decision_function(self, X: npt.ArrayLike) -> Floats:
        """The log-odds of True, which distinguish examples whose probabilities round to 1."""
        features = np.asarray(X, dtype=np.float64)
        found = np.full(len(features), self.prior_)
        for column, cuts, odds in zip(features.T, self.cuts_, self._odds, strict=True):
            cell = _cells(column, cuts)
            found += odds[np.where(cell < odds.size - 1, cell, -1)]
        return found

    def predict_proba(self, X: npt.ArrayLike) -> Floats:
        """Return the probabilities of False and True, shape (examples, 2)."""
        odds = self.decision_function(X)
        return np.stack([expit(-odds), expit(odds)], axis=1)


def _cells(column: Floats, cuts: Floats | None) -> npt.NDArray[np.intp]:
    """The interval or the code of each value, or -1 if it is missing."""
    missing = np.isnan(column)
    known = np.where(missing, 0.0, column)
    cell = known.astype(np.intp) if cuts is None else np.searchsorted(cuts, known, side="left")
    return np.where(missing, -1, cell)
