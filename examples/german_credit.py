"""The main job on real data: four classifiers of German credit, their hull, the decision, two pictures.

Run it with ``make demo``, or ``python examples/german_credit.py --output DIR``.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

import costcurves as cc

HERE = Path(__file__).parent
CLASSIFIERS = ("forest", "logit", "bayes", "tree")
# The data set's documentation: accepting a bad customer costs 5, refusing a good one costs 1 (rows are true).
COSTS = [[0, 1], [5, 0]]
# Colour-blind-safe (Okabe and Ito 2008).
COLOURS = {"forest": "#0072B2", "logit": "#D55E00", "bayes": "#009E73", "tree": "#CC79A7"}
GREY = "#666666"


def load(path: Path) -> dict[str, np.ndarray]:
    """Return the columns of the shipped table."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    table = {"label": np.array([row["label"] for row in rows])}
    return table | {name: np.array([float(row[name]) for row in rows]) for name in CLASSIFIERS}


def draw_roc(ax, hull: cc.RocHull, decision: cc.Decision) -> None:
    """Draw the ROC curves, the hull and the iso-performance line through the chosen point."""
    ax.fill_between(hull.fpr, hull.tpr, 1, color="#F3F3F3", zorder=0)
    for curve in hull.curves:
        ax.plot(curve.fpr, curve.tpr, color=COLOURS[curve.name], lw=1.1, label=curve.name)
    ax.plot(hull.fpr, hull.tpr, color="black", lw=1.6, label="convex hull")
    slope = decision.condition.slope
    x = np.array([0.0, 1.0])
    ax.plot(
        x, decision.tpr + slope * (x - decision.fpr), color=GREY, lw=1, ls="--", label=f"same cost (slope {slope:.2f})"
    )
    ax.plot(decision.fpr, decision.tpr, "o", color="black", ms=7, zorder=5)
    ax.annotate(
        f"{decision.classifier}, score ≥ {decision.threshold:.2f}",
        (decision.fpr, decision.tpr),
        (-8, 8),
        textcoords="offset points",
        ha="right",
        weight="bold",
    )
    ax.set(xlim=(0, 1), ylim=(0, 1.0), xlabel="false positive rate", ylabel="true positive rate", aspect="equal")
    ax.set_title("ROC space: what can be best", loc="left")
    ax.legend(loc="lower right", frameon=False)


def draw_cost(ax, hull: cc.RocHull, decision: cc.Decision) -> None:
    """Draw the cost curves, the trivial classifiers and the condition."""
    ax.plot([0, 0.5, 1], [0, 0.5, 0], color=GREY, lw=1, ls=":")
    ax.text(0.17, 0.20, "always negative", rotation=57, color=GREY, ha="center", va="bottom", rotation_mode="anchor")
    ax.text(0.83, 0.20, "always positive", rotation=-57, color=GREY, ha="center", va="bottom", rotation_mode="anchor")
    for curve in hull.curves:
        pc, cost = cc.CostCurve(curve).vertices.T
        ax.plot(pc, cost, color=COLOURS[curve.name], lw=1.6, label=curve.name)
    pc = decision.condition.pc
    ax.axvline(pc, color=GREY, lw=1, ls="--")
    ax.plot(pc, decision.normalized_cost, "o", color="black", ms=7, zorder=5)
    ax.annotate(
        f"5 : 1 costs, 30 % bad\n{decision.classifier}: {decision.expected_cost:.3f} per case",
        (pc, decision.normalized_cost),
        (10, 78),
        textcoords="offset points",
        va="bottom",
        weight="bold",
    )
    ax.set(
        xlim=(0, 1), ylim=(0, 0.5), xlabel="probability-cost of the positives, pc", ylabel="normalized expected cost"
    )
    ax.set_title("Cost space: what it costs, at every condition", loc="left")
    ax.legend(loc="lower center", frameon=False)


def save_pictures(hull: cc.RocHull, decision: cc.Decision, directory: Path) -> list[Path]:
    """Write the two pictures side by side and return their paths."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    directory.mkdir(parents=True, exist_ok=True)
    settings = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "costcurves"}
    with plt.rc_context(settings):
        figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.8), layout="constrained")
        draw_roc(left, hull, decision)
        draw_cost(right, hull, decision)
        paths = [directory / "german_credit.png", directory / "german_credit.svg"]
        figure.savefig(paths[0], dpi=150, metadata={"Software": None})
        figure.savefig(paths[1], metadata={"Date": None})
        plt.close(figure)
    return paths


def main() -> None:
    """Print the ranges and the decision, and save the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scores", type=Path, default=HERE / "german_credit_scores.csv", help="the table of scores")
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
    for curve in hull.curves:
        print(cc.regret(curve, hull, over=unsure))
    print()
    sure = cc.CostCurve(hull.curves[0]).band().at(condition).money
    print(
        f"forest costs {sure.estimate:.3f} per case here, with 95 % confidence {sure.lower:.3f} to {sure.upper:.3f}\n"
    )
    print(cc.compare_many(table["label"], {n: table[n] for n in CLASSIFIERS}, pos_label="bad"), "\n")
    for path in save_pictures(hull, decision, options.output):
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
