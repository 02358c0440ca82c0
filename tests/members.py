"""Classifiers for tests: one that repeats a column of X, one that counts its fits, one that remembers its metadata."""

from __future__ import annotations

from functools import cache
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier


@cache
def breast_cancer():
    """Return 569 examples with ten features; 1 is malignant."""
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :10], 1 - y


def three_members():
    """Return classifiers that differ in where they are good."""
    return {
        "bayes": GaussianNB(),
        "logit": make_pipeline(StandardScaler(), LogisticRegression()),
        "tree": DecisionTreeClassifier(min_samples_leaf=10, random_state=0),
    }


class Column(ClassifierMixin, BaseEstimator):
    """Its decision function is a column of X: scores to order."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.asarray(X, dtype=float)[:, self.column]

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


class Counting(GaussianNB):
    """Counts the fits of all its copies."""

    fits: ClassVar[list[int]] = []

    def fit(self, X, y, sample_weight=None):
        Counting.fits.append(len(y))
        return super().fit(X, y, sample_weight)


class Remembering(GaussianNB):
    """Keeps the metadata of every fit of all its copies, with the rows' first feature to tell them by."""

    seen: ClassVar[list[tuple]] = []

    def fit(self, X, y, sample_weight=None, note=None):
        Remembering.seen.append((np.asarray(X)[:, 0].copy(), sample_weight, note))
        return super().fit(X, y, sample_weight)


class NoScores(ClassifierMixin, BaseEstimator):
    """Predicts labels and nothing else."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])
