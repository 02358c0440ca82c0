"""ROC curves, hulls and cost curves from raw arrays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

import costcurves as cc
from benchmarks.harness import Call, Growth, Memory, Outcome, Race, Row, Side
from benchmarks.settings import Array, Settings, predictions, why_missing

OURS = "costcurves"
SKLEARN = "scikit-learn roc_curve"
HULL = "roc_curve + scipy ConvexHull"
SORT = "bare np.sort"
READ = "np.max"
CHOICE = "costcurves, best choice"
CHOOSES = "RocHull.from_predictions(y, {name: scores}).best(condition), with labels 0 and 1 in int64"
RATES = "fpr, tpr and threshold at every distinct score"
ALL_POINTS = "fp, tp and the threshold at every distinct score"
LOWER_ENVELOPE = "the hull's vertices with their thresholds and the cost curve"


def run(settings: Settings) -> Outcome:
    """Measure full ROC curves of both precisions, then hulls, then two measures that are computed from hulls."""
    outcome = Outcome()
    size = settings.size(1_000_000)
    for name, dtype, floor in (("float64", np.float64, 15), ("float32", np.float32, 8)):
        outcome.add(full_curve(settings, size, np.dtype(dtype), name, floor), settings.repeats)
    outcome.add(hull(settings, size), settings.repeats)
    for race in both_signs(size):
        outcome.add(race, settings.repeats)
    for race in (h_measure(settings), net_benefit(settings)):
        outcome.add(race, settings.repeats)
    return outcome


def growing(settings: Settings) -> tuple[int, ...]:
    """The sizes n, 10 n and 100 n."""
    n = settings.size(100_000, 50)
    return n, 10 * n, 100 * n


def full_curve(settings: Settings, size: int, dtype: np.dtype, name: str, floor: float) -> Race:
    """The race for the curve with all its points."""
    from sklearn.metrics import roc_curve

    def sides(n: int) -> Mapping[str, Call]:
        labels, scores = predictions(n)
        values = scores.astype(dtype)
        return {
            OURS: lambda: cc.RocCurve.from_predictions(labels, values).thresholds,  # which asks for all points
            SKLEARN: lambda: roc_curve(labels, values, drop_intermediate=False),
        }

    calls = sides(size)
    per_row = 1 + dtype.itemsize
    return Race(
        [
            Side(OURS, ALL_POINTS, calls[OURS]),
            Side(SKLEARN, RATES, calls[SKLEARN]),
        ],
        [Row(f"roc-{name}", f"full ROC curve, n = {size:,}, {name}", OURS, SKLEARN, floor)],
        [Memory(OURS, size, size * per_row, 3.0), Memory(SKLEARN, size, size * per_row)],
        Growth(growing(settings), sides),
    )


def hull(settings: Settings, size: int) -> Race:
    """The race for the hull and the cost curve from raw arrays."""
    from scipy.spatial import ConvexHull
    from sklearn.metrics import roc_curve

    def peer(labels: Array, scores: Array) -> object:
        fpr, tpr, _ = roc_curve(labels, scores)
        return ConvexHull(np.stack([fpr, tpr], axis=1))

    def sides(n: int) -> Mapping[str, Call]:
        labels, scores = predictions(n)
        return {
            OURS: lambda: cc.CostCurve.from_predictions(labels, scores),
            HULL: lambda: peer(labels, scores),
            SORT: lambda: np.sort(scores),
        }

    labels, scores = predictions(size)
    calls = sides(size)
    job = f"hull and cost curve, n = {size:,}, float64"
    missing = why_missing("empulse")
    return Race(
        [
            Side(OURS, LOWER_ENVELOPE, calls[OURS]),
            Side(HULL, "the convex hull of the ROC points, without thresholds", calls[HULL]),
            Side(SORT, "sorted scores, nothing else", calls[SORT]),
            Side(READ, "the largest score, which is one pass over the memory of the scores", lambda: scores.max()),
            Side(CHOICE, CHOOSES, best_choice(labels, scores)),
            Side(
                "empulse convex_hull",
                "the hull's vertices, compiled",
                None if missing else empulse_hull(labels, scores),
                missing=missing,
            ),
        ],
        [
            Row("hull-convexhull", job, OURS, HULL, 10),
            Row("hull-sort", job, OURS, SORT, 0.4, at_most=True),
            Row("hull-read", job, OURS, READ, at_most=True),
            Row("choice-sort", f"best choice, n = {size:,}, float64", CHOICE, SORT, 0.6, at_most=True),
            Row("hull-empulse", job, OURS, "empulse convex_hull", 3),
        ],
        [Memory(OURS, size, size * 9, 1.5), Memory(HULL, size, size * 9)],
        Growth(growing(settings), sides),
    )


def best_choice(labels: Array, scores: Array) -> Call:
    """Make a call of what most users write to choose a threshold."""
    condition = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)
    truth = labels.astype(int)
    return lambda: cc.RocHull.from_predictions(truth, {"a": scores}).best(condition)


def both_signs(size: int) -> list[Race]:
    """The races for log-odds: the full curve, and the hull with its best choice."""
    from sklearn.metrics import roc_curve

    labels, probability = predictions(size)
    scores = np.log(probability / (1 - probability))
    kind = f"n = {size:,}, float64 of both signs"
    curve = Race(
        [
            Side(OURS, ALL_POINTS, lambda: cc.RocCurve.from_predictions(labels, scores).thresholds),
            Side(SKLEARN, RATES, lambda: roc_curve(labels, scores, drop_intermediate=False)),
        ],
        [Row("roc-signs", f"full ROC curve, {kind}", OURS, SKLEARN, 12)],
    )
    hulls = Race(
        [
            Side(OURS, LOWER_ENVELOPE, lambda: cc.CostCurve.from_predictions(labels, scores)),
            Side(SORT, "sorted scores, nothing else", lambda: np.sort(scores)),
            Side(CHOICE, CHOOSES, best_choice(labels, scores)),
        ],
        [
            Row("hull-sort-signs", f"hull and cost curve, {kind}", OURS, SORT, 0.4, at_most=True),
            Row("choice-sort-signs", f"best choice, {kind}", CHOICE, SORT, 0.6, at_most=True),
        ],
    )
    return [curve, hulls]


def empulse_hull(labels: Array, scores: Array) -> Call:
    """Make a call of empulse's compiled convex hull for the same data."""
    from empulse.metrics._cy_convex_hull.convex_hull import convex_hull

    truth = labels.astype(np.intc)
    return lambda: convex_hull(truth, scores)


def h_measure(settings: Settings) -> Race:
    """The race for Hand's H-measure."""
    size = settings.size(100_000)
    labels, scores = predictions(size)
    truth = labels.astype(int)
    missing = why_missing("hmeasure")

    def peer() -> object:
        from hmeasure import h_score

        return h_score(truth, scores)

    does = "H-measure, severity Beta(2, 1 + n_neg / n_pos)"
    return Race(
        [
            Side(OURS, does, lambda: cc.CostCurve.from_predictions(labels, scores).h_measure()),
            Side("hmeasure h_score", does, None if missing else peer, turns=3, missing=missing),
        ],
        [Row("h-measure", f"H-measure, n = {size:,}", OURS, "hmeasure h_score")],
    )


def net_benefit(settings: Settings) -> Race:
    """The race for a decision curve."""
    size = settings.size(100_000)
    labels, scores = predictions(size)
    grid = np.linspace(0.01, 0.99, 99)
    missing = why_missing("dcurves")

    def ours() -> object:
        roc = cc.RocCurve.from_predictions(labels, scores)
        return cc.CostCurve(roc, policy="bayes").net_benefit(grid)

    def peer() -> object:
        import pandas as pd
        from dcurves import dca

        data = pd.DataFrame({"outcome": labels, "model": scores})
        return dca(data, outcome="outcome", modelnames=["model"], thresholds=grid.tolist())

    does = "net benefit of treating above each of 99 thresholds"
    return Race(
        [
            Side(OURS, does, ours),
            Side("dcurves dca", f"{does}, and of treating all and none", None if missing else peer, missing=missing),
        ],
        [Row("net-benefit", f"decision curve at 99 thresholds, n = {size:,}", OURS, "dcurves dca")],
    )
