"""Real data sets of two classes for the examples: four that scikit-learn ships, and UCI files if available."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

SEED = 1997
# The positive class is the minority class, as in the study of 1998.
SHIPPED = {
    "breast cancer": (load_breast_cancer, 0),
    "digits, 8 or not": (load_digits, 8),
    "wine, 2 or not": (load_wine, 2),
    "iris, versicolor or not": (load_iris, 1),
}
UCI = {"german_credit": "bad", "pima_diabetes": "pos"}


def data_sets(folder: Path | None = None) -> dict[str, tuple[pd.DataFrame, np.ndarray]]:
    """Load features and labels (1 is positive) by name, including those in a folder of UCI files if they exist."""
    found = {}
    for name, (load, positive) in SHIPPED.items():
        X, y = load(return_X_y=True)
        found[name] = pd.DataFrame(X).add_prefix("x"), (y == positive).astype(int)
    for name, positive in UCI.items():
        path = None if folder is None else folder / f"{name}.csv.gz"
        if path is not None and path.is_file():
            table = pd.read_csv(path)
            found[name.replace("_", " ")] = table.drop(columns="target"), (table["target"] == positive).astype(int)
    return {name: (X, np.asarray(y)) for name, (X, y) in found.items()}


def prepared(model: object) -> Pipeline:
    """Add preprocessing before a model that makes any of the tables numeric, complete and scaled."""
    nominal = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    )
    numeric = make_pipeline(SimpleImputer(), StandardScaler())
    columns = make_column_transformer(
        (numeric, make_column_selector(dtype_include="number")),
        (nominal, make_column_selector(dtype_exclude="number")),
    )
    return make_pipeline(columns, model)


def members() -> dict[str, Pipeline]:
    """Four classifiers of different kinds, none of which is tuned."""
    return {
        "bayes": prepared(GaussianNB(var_smoothing=1e-2)),
        "logit": prepared(LogisticRegression(max_iter=1000)),
        "tree": prepared(DecisionTreeClassifier(min_samples_leaf=10, random_state=SEED)),
        "forest": prepared(RandomForestClassifier(40, min_samples_leaf=3, random_state=SEED)),
    }
