"""The main task on real data: four classifiers for German credit, their hull, the decision and two pictures.

Run it with ``python examples/german_credit.py --output DIR``.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np

import costcurves as cc

CLASSIFIERS = ("forest", "logit", "bayes", "tree")
# According to the documentation of the data set, accepting a bad customer costs 5 and refusing a good one costs 1 (rows
# are true classes).
COSTS = [[0, 1], [5, 0]]


def load(path: Path) -> dict[str, np.ndarray]:
    """Read the columns of the shipped table."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    table = {"label": np.array([row["label"] for row in rows])}
    return table | {name: np.array([float(row[name]) for row in rows]) for name in CLASSIFIERS}


def save_pictures(hull: cc.RocHull, decision: Any, directory: Path) -> list[Path]:
    """Write ROC space and cost space side by side and return the paths."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    directory.mkdir(parents=True, exist_ok=True)
    with cc.figure_style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.5), layout="constrained", width_ratios=(1, 1.1))
        cc.RocHullDisplay(hull).plot(left, condition=decision)
        left.set_title("ROC space: what can be best")
        display = cc.CostCurveDisplay(hull.roc_curves()).plot(
            right, condition=decision, secondary_axis="prevalence", money_axis=True
        )
        right.set_title("Cost space: what it costs, at every condition")
        paths = [display.save(directory / f"german_credit.{kind}", dpi=220) for kind in ("png", "svg")]
        plt.close(figure)
    return paths


def main() -> None:
    """Print the ranges and the decision, and save the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scores", type=Path, default=cc.example_path("german_credit_scores.csv"), help="scores")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="where the pictures go")
    options = parser.parse_args()

    table = load(options.scores)
    hull = cc.RocHull.from_predictions(table["label"], {n: table[n] for n in CLASSIFIERS}, pos_label="bad")
    condition = cc.OperatingCondition.from_cost_matrix(COSTS, prevalence=0.3)
    decision = hull.best(condition)

    print(f"German credit: {len(table['label'])} applicants, 30 % bad, cross-validated scores of 4 classifiers\n")
    print(hull.ranges(), "\n")
    print(decision, "\n")
    unsure = cc.OperatingRange(prevalence=(0.1, 0.4), cost_fp=1, cost_fn=(3, 8))
    print(hull.within(unsure), "\n")
    for curve in hull.roc_curves().values():
        print(cc.regret(curve, hull, over=unsure))
    print()
    sure = cc.CostCurve(hull.roc_curve("forest")).band().at(condition).money
    print(
        f"forest costs {sure.estimate:.3f} per case here, with 95 % confidence {sure.lower:.3f} to {sure.upper:.3f}\n"
    )
    print(cc.compare_many(table["label"], {n: table[n] for n in CLASSIFIERS}, pos_label="bad"), "\n")
    for path in save_pictures(hull, decision, options.output):
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
