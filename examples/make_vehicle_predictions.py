"""Make vehicle_predictions.csv: cross-validated predictions of four kinds of vehicle by three classifiers.

    python examples/make_vehicle_predictions.py --data ../shared/data

Each of the 846 silhouettes is classified by models that were trained on the other nine folds. Seeds are fixed, so the
same versions of the libraries give the same bytes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd
from make_german_credit_scores import DATA, FOLDS, SEED, write
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

CLASSIFIERS = {
    "logit": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
    "forest": RandomForestClassifier(n_estimators=300, random_state=SEED),
    "bayes": GaussianNB(),
}


def predict(source: pd.DataFrame) -> pd.DataFrame:
    """Compute the label and each classifier's prediction, in the order of the source."""
    features, target = source.drop(columns="target"), source["target"]
    splits = list(StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(features, target))
    predicted = {name: cross_val_predict(model, features, target, cv=splits) for name, model in CLASSIFIERS.items()}
    return pd.DataFrame({"label": target, **predicted})


def main() -> None:
    """Read the data, predict, write the file and print the accuracies."""
    parser = argparse.ArgumentParser(description="Make vehicle_predictions.csv from vehicle.csv.gz.")
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=default, help="folder with vehicle.csv.gz")
    parser.add_argument("--output", type=Path, default=DATA / "vehicle_predictions.csv")
    arguments = parser.parse_args()
    path = arguments.data / "vehicle.csv.gz"
    if not path.is_file():
        parser.error(f"{path} does not exist; pass --data with the folder that holds it")
    table = predict(pd.read_csv(path))
    write(table, arguments.output)
    for name in CLASSIFIERS:
        print(f"{name:8s} accuracy {(table['label'] == table[name]).mean():.4f}")


if __name__ == "__main__":
    main()
