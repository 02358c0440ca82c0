"""The data of the gallery: German credit's scores, and cross-validations of scikit-learn's own data sets."""

from __future__ import annotations

import csv
from functools import cache
from typing import Any

import costcurves as cc


def german_credit(*names: str) -> tuple[list[str], dict[str, list[float]]]:
    """Return the labels ("bad" is positive) and the scores of some classifiers, of 1000 applicants for credit."""
    with cc.example_path("german_credit_scores.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [row["label"] for row in rows], {name: [float(row[name]) for row in rows] for name in names}


@cache
def breast_cancer() -> tuple[Any, Any, dict[str, Any]]:
    """Return X, y (True is malignant) and the ten-fold cross-validations of three classifiers."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_validate
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    X, y = load_breast_cancer(return_X_y=True)
    malignant = y == 0
    models = {
        "logit": make_pipeline(StandardScaler(), LogisticRegression()),
        "bayes": GaussianNB(),
        "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    }
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    results = {
        name: cross_validate(model, X, malignant, cv=folds, return_estimator=True, return_indices=True)
        for name, model in models.items()
    }
    return X, malignant, results
