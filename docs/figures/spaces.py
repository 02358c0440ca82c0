"""Pictures of ROC space and cost space."""

from __future__ import annotations

import csv
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import costcurves as cc

# Three classifiers made up so that their numbers are easy: (fpr, tpr).
CAREFUL, MIDDLE, BOLD = (0.05, 0.45), (0.25, 0.55), (0.35, 0.9)
# The folds of the averaging example.
FOLD_ONE, FOLD_TWO = (0.05, 0.5), (0.4, 0.9)


def german_credit() -> tuple[list[str], dict[str, list[float]]]:
    """Return the labels and the scores of the shipped example."""
    with open(cc.example_path("german_credit_scores.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = ("forest", "logit", "bayes", "tree")
    return [row["label"] for row in rows], {
        name: [float(row[name]) for row in rows] for name in names
    }


def roc_axes(ax: Any) -> None:
    """Frame ROC space."""
    ax.set(
        xlim=(0, 1),
        ylim=(0, 1.01),
        xlabel="false positive rate",
        ylabel="true positive rate",
        aspect="equal",
    )


def cost_axes(ax: Any, theme: Any, top: float = 0.5) -> None:
    """Frame cost space and draw the two trivial classifiers."""
    ax.plot([0, 0.5, 1], [0, 0.5, 0], color=theme.grey, lw=1, ls=":")
    ax.set(
        xlim=(0, 1),
        ylim=(0, top),
        xlabel="probability-cost of the positives, pc",
        ylabel="normalized expected cost",
    )


def named(point: tuple[float, float], name: str) -> cc.RocCurve:
    """Return a classifier of one point."""
    return cc.RocCurve.from_rates(*point, name=name)


def roc_space(theme: Any) -> Any:
    """Draw ROC curves, the hull, and the best lines of equal cost for two conditions."""
    label, scores = german_credit()
    hull = cc.RocHull.from_predictions(label, scores, pos_label="bad")
    figure, ax = plt.subplots(figsize=(5.6, 5.2))
    ax.fill_between(hull.fpr, hull.tpr, 1.01, color=theme.pale, lw=0)
    ax.text(0.03, 0.955, "nobody gets here", color=theme.grey, va="top")
    for curve, colour in zip(
        hull.roc_curves().values(),
        (theme.blue, theme.orange, theme.green, theme.purple),
        strict=True,
    ):
        ax.plot(curve.fpr, curve.tpr, color=colour, lw=1, label=curve.name)
    ax.plot(hull.fpr, hull.tpr, color=theme.ink, lw=1.8, label="convex hull")
    for cost_fn, place in ((1, (0.27, 0.34)), (5, (0.62, 0.83))):
        condition = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=cost_fn)
        best = hull.best(condition)
        x = np.array([0.0, 1.0])
        ax.plot(
            x,
            best.tpr + condition.slope * (x - best.fpr),
            color=theme.grey,
            ls="--",
            lw=1,
        )
        ax.plot(best.fpr, best.tpr, "o", color=theme.ink, ms=6, zorder=5)
        ax.annotate(
            f"a miss costs {cost_fn}:\nslope {condition.slope:.2g}, {best.classifier}",
            (best.fpr, best.tpr),
            place,
            arrowprops={"arrowstyle": "-", "color": theme.grey, "lw": 0.8},
            va="top",
        )
    ax.legend(loc="lower right")
    roc_axes(ax)
    return figure


def duality(theme: Any) -> Any:
    """Draw three ROC points and their hull beside the same three as lines and their lower envelope."""
    points = {
        "careful": (CAREFUL, theme.blue),
        "middle": (MIDDLE, theme.orange),
        "bold": (BOLD, theme.green),
    }
    hull = cc.RocHull([named(point, name) for name, (point, _) in points.items()])
    figure, (left, right) = plt.subplots(1, 2)
    left.plot(hull.fpr, hull.tpr, color=theme.ink, lw=1.8, zorder=1)
    pc = np.array([0.0, 1.0])
    for name, ((fpr, tpr), colour) in points.items():
        left.plot(fpr, tpr, "o", color=colour, ms=7)
        left.annotate(
            name,
            (fpr, tpr),
            (8, -12),
            textcoords="offset points",
            color=colour,
            weight="bold",
        )
        right.plot(pc, [fpr, 1 - tpr], color=colour, lw=1.4)
        right.annotate(
            f"{name}\n({fpr:g}, {1 - tpr:g})",
            (1, 1 - tpr),
            (6, -4),
            textcoords="offset points",
            color=colour,
            weight="bold",
        )
    slope = (BOLD[1] - CAREFUL[1]) / (BOLD[0] - CAREFUL[0])
    left.annotate(f"slope {slope:g}", (0.2, 0.675), (9, -4), textcoords="offset points")
    roc_axes(left)
    left.set_title("ROC space: points and their hull")
    cost_axes(right, theme, 0.6)
    right.plot(*cc.CostCurve(hull).vertices.T, color=theme.ink, lw=2.2)
    cross = 1 / (1 + slope)
    right.plot(cross, hull.evaluate(cross), "o", color=theme.ink, ms=6)
    right.annotate(
        f"pc = 1/(1+{slope:g}) = {cross:g}",
        (cross, hull.evaluate(cross)),
        (0.5, 0.05),
        ha="center",
        arrowprops={"arrowstyle": "-", "color": theme.grey, "lw": 0.8},
    )
    right.set_title("Cost space: lines and their lower envelope")
    return figure


def reading_a_cost_curve(theme: Any) -> Any:
    """Draw one curve and what can be read off it at one condition."""
    label, scores = german_credit()
    forest = cc.CostCurve.from_predictions(
        label, scores["forest"], pos_label="bad", name="forest"
    )
    tree = cc.CostCurve.from_predictions(
        label, scores["tree"], pos_label="bad", name="tree"
    )
    here = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)
    figure, ax = plt.subplots(figsize=(7.2, 4.3))
    cost_axes(ax, theme)
    for curve, colour in ((forest, theme.blue), (tree, theme.orange)):
        ax.plot(*curve.vertices.T, color=colour, label=curve.name)
    for text, place, angle in (
        ("always negative", (0.34, 0.35), 45),
        ("always positive", (0.6, 0.41), -45),
    ):
        style = {
            "rotation": angle,
            "rotation_mode": "anchor",
            "transform_rotates_text": True,
        }
        ax.text(*place, text, color=theme.grey, ha="center", va="bottom", **style)
    (low, high), height = next(iter(tree.operating_range())), 0.02
    ax.annotate(
        "",
        (low, height),
        (high, height),
        arrowprops={"arrowstyle": "<->", "color": theme.orange},
    )
    words = f"the tree is worth using from {low:.2f} to {high:.2f}"
    ax.text(0.4, height + 0.008, words, ha="center", color=theme.orange)
    cost, rival = forest.evaluate(here.pc), tree.evaluate(here.pc)
    ax.axvline(here.pc, color=theme.grey, lw=1, ls="--")
    ax.plot([here.pc] * 2, [cost, rival], "o", color=theme.ink, ms=5)
    ax.annotate(
        f"your condition: pc = {here.pc:.3f}\nforest {cost:.3f}, tree {rival:.3f}",
        (here.pc, rival),
        (0.73, 0.42),
        arrowprops={"arrowstyle": "-", "color": theme.grey, "lw": 0.8},
    )
    ax.legend(loc="upper left")
    return figure


def averages(theme: Any) -> Any:
    """Draw two folds, the vertical average of their ROC curves, and what it would cost beside the average cost."""
    folds = [named(FOLD_ONE, "fold 1"), named(FOLD_TWO, "fold 2")]
    mean_roc = cc.average_roc_curves(folds, n_points=101)
    mean_cost = cc.average_cost_curves(folds)
    figure, (left, right) = plt.subplots(1, 2)
    for fold, colour in zip(folds, (theme.blue, theme.orange), strict=True):
        left.plot(fold.fpr, fold.tpr, color=colour, lw=1.2, label=fold.name)
        right.plot(
            *cc.CostCurve(fold).vertices.T, color=colour, lw=1.2, label=fold.name
        )
    left.plot(
        mean_roc.fpr,
        mean_roc.tpr,
        color=theme.ink,
        ls="--",
        label="average of the ROC curves",
    )
    roc_axes(left)
    left.legend(loc="lower right")
    left.set_title("Average at each false positive rate")
    cost_axes(right, theme, 0.75)
    right.plot(
        *cc.CostCurve(mean_roc).vertices.T,
        color=theme.ink,
        ls="--",
        label="what that average costs",
    )
    right.plot(*mean_cost.vertices.T, color=theme.ink, lw=2.2, label="average cost")
    right.legend(loc="upper center")
    right.set_title("Average at each condition")
    return figure


PICTURES = (roc_space, duality, reading_a_cost_curve, averages)
