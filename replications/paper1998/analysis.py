"""Results from the averaged curves of several members: who is best where, who dominates, and how certain that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

import costcurves as cc
from replications.domains import Bools
from replications.study import Part

LEVEL = 0.95
POINTS = 100
TRIVIAL = ("always negative", "always positive")

# A stretch of slopes and who is best there: [name, lowest slope, highest slope or None for no limit].
Stretch = list[Any]


def judged(result: cc.Predictions, named: dict[str, Bools], groups: Mapping[str, Sequence[str]]) -> Part:
    """Compute everything about one domain. Each group of members is also evaluated by itself."""
    averages = {
        name: result.averaged_roc(name, n_points=POINTS, interval="binomial", level=LEVEL) for name in result.names
    }
    return {
        "rows": result.y_true.size,
        "positives": int(result.y_true.sum()),
        "accuracy": {name: float((named[name] == result.y_true).mean()) for name in result.names},
        "auc": {name: average.auc() for name, average in averages.items()},
        "curves": {name: _short(average.tpr) for name, average in averages.items()},
        "lower": {name: _short(average.lower) for name, average in averages.items()},
        "upper": {name: _short(average.upper) for name, average in averages.items()},
        "groups": {label: _group(result, averages, names) for label, names in groups.items()},
    }


def _short(values: Any) -> list[float]:
    return [round(float(value), 5) for value in values]


def _group(result: cc.Predictions, averages: dict[str, cc.AveragedRoc], names: Sequence[str]) -> Part:
    """Find who is best where in a group, who dominates on average and in each fold, and who is significantly better."""
    curves = [averages[name].to_roc_curve() for name in names]
    folds = [
        [curve.renamed(name) for name, curve in zip(names, fold, strict=True)]
        for fold in zip(*(result.fold_roc_curves(name) for name in names), strict=True)
    ]
    scores = {name: result.score(name) for name in names}
    many = cc.compare_many(result.y_true, scores, level=LEVEL)
    pairs = []
    for one in many.pairs:
        verdicts = one.significant()
        pairs.append([*one.names, *([[low, high] for low, high in verdicts.where(name)] for name in one.names)])
    return {
        "ranges": stretches(cc.RocHull(curves)),
        "dominator": in_roc_space(curves),
        "hull_dominator": alone_on_top(curves),
        "fold_dominators": [in_roc_space(fold) for fold in folds],
        "fold_hull_dominators": [alone_on_top(fold) for fold in folds],
        "pairs": pairs,
    }


def alone_on_top(curves: Sequence[cc.RocCurve]) -> str | None:
    """Find the only member that costs at most as much as every other at every condition, or None."""
    found = cc.dominance(curves).dominators
    return found[0] if len(found) == 1 else None


def in_roc_space(curves: Sequence[cc.RocCurve]) -> str | None:
    """Find the member whose curve lies nowhere below another (the paper's absolute dominator), or None."""
    for one in curves:
        if all(_nowhere_below(one, other) for other in curves if other is not one):
            return one.name
    return None


def _nowhere_below(one: cc.RocCurve, other: cc.RocCurve) -> bool:
    # In a small fold several may be perfect. Their curves are equal, which the paper's definition allows.
    return cc.dominates(one, other, space="roc") or one.auc() == other.auc() == 1


def stretches(hull: cc.RocHull) -> list[Stretch]:
    """Find who is best where, from the smallest slope, without the trivial classifiers, as in Table 1.

    At the ends, where a trivial classifier is as good, the last classifier before is named.
    """
    ranges = hull.ranges().without_trivial()
    if set(ranges.classifier) <= set(TRIVIAL):
        return []
    rows = zip(ranges.classifier, ranges.slope_low, ranges.slope_high, strict=True)
    return [[name, float(low), None if np.isinf(high) else float(high)] for name, low, high in rows][::-1]


def best_and_areas(result: cc.Predictions, names: Sequence[str]) -> Part:
    """Find who is best where on the hull of the averaged curves, and the areas under these."""
    averages = {name: result.averaged_roc(name) for name in names}
    hull = cc.RocHull([one.to_roc_curve() for one in averages.values()])
    return {"ranges": stretches(hull), "auc": {name: one.auc() for name, one in averages.items()}}


def best_at(table: Sequence[Stretch], pc: Any) -> list[str]:
    """Find who is best at probability-costs inside (0, 1) from a table of ranges of slopes."""
    ends = np.array([np.inf if high is None else high for _, _, high in table])
    slopes = (1 - np.asarray(pc)) / np.asarray(pc)
    return [table[i][0] for i in np.minimum(np.searchsorted(ends, slopes), len(table) - 1)]


def agreement(one: Sequence[Stretch], other: Sequence[Stretch]) -> float:
    """Compute exactly the share of all pc at which two tables name the same classifier."""
    breaks = {0.0, 1.0}
    for table in (one, other):
        breaks |= {1 / (1 + high) for _, _, high in table if high is not None}
    places = sorted(breaks)
    middles = [(a + b) / 2 for a, b in pairwise(places)]
    same = [a == b for a, b in zip(best_at(one, middles), best_at(other, middles), strict=True)]
    return float(np.diff(places) @ np.array(same))


def written(table: Sequence[Stretch]) -> str:
    """Format a table as text, from the smallest slope, with names and the slopes between them."""
    words = []
    for name, _, high in table:
        words.append(name if high is None else f"{name} {high:.3g}")
    return ", ".join(words)
