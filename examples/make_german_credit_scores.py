"""Make german_credit_scores.csv: cross-validated probabilities of "bad" from four classifiers.

    python examples/make_german_credit_scores.py --data ../shared/data

Each of the 1000 applicants is scored by models that were trained on the other nine folds. Seeds are fixed and
probabilities are rounded to six decimals, so the same versions of the libraries give the same bytes.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

EXAMPLES = Path(__file__).resolve().parent
DATA = EXAMPLES.parent / "src" / "costcurves" / "data" / "examples"
SEED = 1994
FOLDS = 10


def encoded(model: object, *, scale: bool = False) -> Pipeline:
    """Add one-hot encoding of the nominal columns and, optionally, scaling of the numeric ones before a model."""
    nominal = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    numeric = StandardScaler() if scale else "passthrough"
    columns = make_column_transformer(
        (nominal, make_column_selector(dtype_exclude="number")),
        (numeric, make_column_selector(dtype_include="number")),
    )
    return make_pipeline(columns, model)


def classifiers() -> dict[str, Pipeline]:
    """The four classifiers by column name."""
    return {
        "logit": encoded(LogisticRegression(C=0.1, max_iter=1000), scale=True),
        "forest": encoded(RandomForestClassifier(n_estimators=300, min_samples_leaf=3, random_state=SEED)),
        "bayes": encoded(GaussianNB(var_smoothing=1e-2), scale=True),
        "tree": encoded(DecisionTreeClassifier(max_depth=4, min_samples_leaf=20, random_state=SEED)),
    }


def score(source: pd.DataFrame) -> pd.DataFrame:
    """Compute label, fold and each classifier's probability of "bad", in the order of the source."""
    features, target = source.drop(columns="target"), source["target"]
    bad = (target == "bad").to_numpy()
    splits = list(StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(features, bad))
    fold = np.empty(len(source), dtype=int)
    for number, (_, held_out) in enumerate(splits):
        fold[held_out] = number
    scores = pd.DataFrame({"label": target, "fold": fold})
    for name, model in classifiers().items():
        probabilities = cross_val_predict(model, features, bad, cv=splits, method="predict_proba")
        scores[name] = probabilities[:, 1].round(6)
    return scores


def write(scores: pd.DataFrame, path: Path) -> None:
    """Write to a temporary file in the folder of the target, then replace the target."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    try:
        with os.fdopen(descriptor, "w", encoding="ascii", newline="") as file:
            scores.to_csv(file, index=False, float_format="%.6f", lineterminator="\n")
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def main() -> None:
    """Read the data, score it, write the file and print the areas."""
    parser = argparse.ArgumentParser(description="Make german_credit_scores.csv from german_credit.csv.gz.")
    default = EXAMPLES.parent.parent / "shared" / "data"
    parser.add_argument("--data", type=Path, default=default, help="folder with german_credit.csv.gz")
    parser.add_argument("--output", type=Path, default=DATA / "german_credit_scores.csv")
    arguments = parser.parse_args()
    path = arguments.data / "german_credit.csv.gz"
    if not path.is_file():
        parser.error(f"{path} does not exist; pass --data with the folder that holds it")
    scores = score(pd.read_csv(path))
    write(scores, arguments.output)
    for name in classifiers():
        print(f"{name:8s} AUC {roc_auc_score(scores['label'] == 'bad', scores[name]):.4f}")


if __name__ == "__main__":
    main()
