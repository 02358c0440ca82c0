"""Figures 1 and 2: a stump and a tree on credit applications, as points and as lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import costcurves as cc
from replications.domains import load_domain
from replications.learners.folds import fold_numbers, out_of_fold
from replications.learners.stump import OneRule
from replications.learners.trees import DecisionTree
from replications.study import BEYOND, Part, Row, Study, constructed, rng_of

DOMAIN = "crx"
FOLDS = 10
LEARNERS: dict[str, Callable[[], Any]] = {"1R": OneRule, "C4.5": lambda: DecisionTree(gain_ratio=True)}


def parts(size: str) -> list[Part]:
    """List one part per cross-validation. The figures show the first."""
    return [{"repeat": repeat} for repeat in range(10 if size == "full" else 1)]


def work(part: Part, seed: int, data: Any = None) -> Part:
    """Compute the out-of-fold true positives and false positives of both."""
    domain = load_domain(DOMAIN, data)
    fold = fold_numbers(domain.y, FOLDS, rng_of(seed, DOMAIN, part["repeat"]))
    found: Part = {"positives": int(domain.y.sum()), "negatives": int((~domain.y).sum())}
    for name, learner in LEARNERS.items():
        called = out_of_fold(domain, learner, fold) > 0.5
        found[name] = {"tp": int((called & domain.y).sum()), "fp": int((called & ~domain.y).sum())}
    return found


def curves(part: Part) -> list[cc.RocCurve]:
    """The two classifiers of a cross-validation."""
    found = []
    for name in LEARNERS:
        tp, fp = part[name]["tp"], part[name]["fp"]
        table = [[part["negatives"] - fp, fp], [part["positives"] - tp, tp]]
        found.append(cc.RocCurve.from_confusion_matrix(table, name=name))
    return found


def rows(parts: list[Part]) -> list[Row]:
    """List the duality of the two figures, and our points."""
    rule, tree = curves(parts[0])
    off = wrong = slopes = 0.0
    for roc in (rule, tree):
        line, (fpr, tpr) = _line(roc), (roc.fpr[1], roc.tpr[1])
        off = max(off, abs(line.evaluate(0.0) - fpr), abs(line.evaluate(1.0) - (1 - tpr)))
        equal = cc.OperatingCondition(prevalence=roc.prevalence, cost_fp=1, cost_fn=1)
        errors = roc.n_pos * (1 - tpr) + roc.n_neg * fpr
        wrong = max(wrong, abs(line.evaluate(equal.pc) - errors / (roc.n_pos + roc.n_neg)))
        ((low, high),) = line.operating_range()
        # The lines through the point and (0, 0), and through the point and (1, 1).
        for pc, slope in ((low, tpr / fpr), (high, (1 - tpr) / (1 - fpr))):
            slopes = max(slopes, abs(pc - 1 / (1 + slope)))
    hull = cc.RocHull([rule, tree])
    across, up = np.diff(hull.to_roc_curve().fpr), np.diff(hull.to_roc_curve().tpr)
    corners = cc.CostCurve(hull).breaks[1:-1]
    apart = round(float(np.abs(across / (across + up) - corners).max()), 12)
    out = [
        constructed(
            "Figure 2",
            "distance of the lines' ends from FP (at pc = 0) and 1 - TP (at pc = 1)",
            "none",
            round(off, 12),
            off < 1e-12,
            "an identity; both classifiers",
        ),
        constructed(
            "Figure 2",
            "distance of the corners of the lower envelope from 1/(1 + slope) of the hull's edges",
            "none",
            apart,
            apart < 1e-9,
            "an identity: the dual of the ROC convex hull",
        ),
        constructed(
            "Section 2",
            "distance of the line from the error rate, at equal costs and the data's prevalence",
            "none",
            round(wrong, 12),
            wrong < 1e-12,
            "an identity; both classifiers",
        ),
        constructed(
            "Section 4",
            "distance of the operating range's ends from 1/(1 + slope) of the lines to (0, 0) and (1, 1)",
            "none",
            round(slopes, 12),
            slopes < 1e-12,
            "an identity; both classifiers",
        ),
    ]
    for name in LEARNERS:
        rates = np.array([[p[name]["fp"] / p["negatives"], p[name]["tp"] / p["positives"]] for p in parts])
        point = rates.mean(axis=0)
        spread = rates.std(axis=0, ddof=1) if len(parts) > 1 else np.zeros(2)
        out.append(
            Row(
                "Figure 1",
                f"{name}: (FP, TP), mean of {len(parts)} cross-validations",
                None,
                f"({point[0]:.3f}, {point[1]:.3f})",
                BEYOND,
                f"the paper draws its points and prints no number; standard deviation of one cross-validation "
                f"{spread[0]:.3f} and {spread[1]:.3f}",
            )
        )
    crossings = list(_line(rule).crossings(_line(tree)))
    below, above = sorted((rule, tree), key=lambda one: float(one.fpr[1]))
    out.append(
        Row(
            "Figure 2",
            "where the two lines cross",
            None,
            ", ".join(f"pc {pc:.3f}" for pc in crossings) or "nowhere",
            BEYOND,
            f"{below.name} costs less below, {above.name} above"
            if crossings
            else f"{below.name} costs less everywhere",
        )
    )
    return out


def _line(roc: cc.RocCurve) -> cc.CostCurve:
    return cc.CostCurve(roc, policy=cc.thresholds.point(1))


def about(size: str) -> dict[str, Any]:
    """The settings of the run."""
    return {"data": DOMAIN, "folds": FOLDS, "cross-validations": len(parts(size))}


STUDY = Study("credit-2005", "Figures 1 and 2: points and lines (2005)", parts, work, rows, about, reads_data=True)
