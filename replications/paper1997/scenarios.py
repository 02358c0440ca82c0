"""Scenarios A and B, figures 1 to 6 and the sensitivity analysis, on classifiers built to behave as described.

The paper's figures print no numbers. The points below are ours. They were chosen so that the classifiers A to G behave
as the text describes, and every statement of the text is then checked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import costcurves as cc
from replications.study import Part, Row, Study, constructed

# Points (fpr, tpr) of each curve.
POINTS: dict[str, list[tuple[float, float]]] = {
    "A": [(0.01, 0.20), (0.03, 0.38), (0.06, 0.50), (0.10, 0.58), (0.20, 0.66), (0.35, 0.73), (0.60, 0.85)],
    "B": [(0.02, 0.15), (0.08, 0.42), (0.20, 0.62), (0.35, 0.78), (0.50, 0.87), (0.70, 0.93)],
    "C": [(0.05, 0.10), (0.10, 0.28), (0.20, 0.55), (0.30, 0.76), (0.40, 0.88), (0.55, 0.955), (0.75, 0.99)],
    "D": [(0.02, 0.10), (0.06, 0.30), (0.12, 0.42), (0.25, 0.55), (0.45, 0.68), (0.70, 0.83)],
    "E": [(0.22, 0.76)],
    "F": [(0.12, 0.55)],
    "G": [(0.50, 0.85)],
}
# Figure 5 has another C, which is nearly as good as A where A is best.
NEARLY: list[tuple[float, float]] = [
    (0.01, 0.16), (0.03, 0.35), (0.06, 0.48), (0.10, 0.575), (0.22, 0.75), (0.40, 0.90), (0.55, 0.96), (0.75, 0.99),
]  # fmt: skip

TEN_TO_ONE = 1 / 11
SCENARIO_A = cc.OperatingCondition(prevalence=TEN_TO_ONE, cost_fp=1, cost_fn=1)
SCENARIO_B = cc.OperatingCondition(prevalence=TEN_TO_ONE, cost_fp=1, cost_fn=100)
# (a) false alarms cost $5 to $10 and misses $500 to $1000; (b) slopes from 1/5 to 2, here only by the cost of a miss.
EXAMPLE_A = cc.OperatingRange(prevalence=TEN_TO_ONE, cost_fp=(5, 10), cost_fn=(500, 1000))
EXAMPLE_B = cc.OperatingRange(prevalence=TEN_TO_ONE, cost_fp=1, cost_fn=(5, 50))


def curves(names: str) -> list[cc.RocCurve]:
    """The curves of the named classifiers."""
    return [curve(name, POINTS[name]) for name in names]


def curve(name: str, points: list[tuple[float, float]]) -> cc.RocCurve:
    """Make the curve through some points. A curve with several points has scores, which are the numbers 1, 2, ..."""
    fpr, tpr = np.transpose(points)
    scores = None if len(points) == 1 else np.arange(len(points), 0, -1)
    return cc.RocCurve.from_rates(fpr, tpr, thresholds=scores, name=name)


def nearly_optimal() -> cc.RocHull:
    """The hull of figure 5."""
    return cc.RocHull([*curves("A"), curve("C", NEARLY)])


def work(part: Part, seed: int) -> Part:
    """Compute the results of the hulls. Nothing here is random."""
    four, seven = cc.RocHull(curves("ABCD")), cc.RocHull(curves("ABCDEFG"))
    grown = cc.RocHull(curves("ABCD"))
    for one in curves("EFG"):
        grown = grown.add(one)
    a, c = (cc.CostCurve(one) for one in curves("AC"))
    far = min(cc.regret(one, four).largest for one in (a, c))
    near = cc.regret(cc.CostCurve(curve("C", NEARLY)), nearly_optimal()).largest
    null = seven.ranges()
    return {
        "dominates": cc.dominates(a, cc.CostCurve(curves("D")[0])),
        "slope_a": SCENARIO_A.slope,
        "slope_b": SCENARIO_B.slope,
        "contributors": list(four.can_be_best),
        "dropped": list(four.never_best),
        "best_a": four.best(SCENARIO_A).classifier,
        "best_b": four.best(SCENARIO_B).classifier,
        "extended": list(seven.can_be_best),
        "ignored": list(seven.never_best),
        "incremental": bool(np.array_equal(grown.to_roc_curve().tpr, seven.to_roc_curve().tpr)),
        "far": far,
        "near": near,
        "range_a": list(EXAMPLE_A.slope),
        "candidates_a": list(seven.within(EXAMPLE_A).candidates),
        "range_b": list(EXAMPLE_B.slope),
        "candidates_b": list(seven.within(EXAMPLE_B).candidates),
        "null_from": float(null.slope_low[0]),
        "null_who": str(null.classifier[0]),
    }


CHOSEN, PRINTED, OURS = "points chosen so", "arithmetic of printed inputs", "costs chosen by us to give these slopes"


def rows(parts: list[Part]) -> list[Row]:
    """Compare each statement of the text with the hull. The points or the inputs imply all of them."""
    found = parts[0]

    def row(item: str, what: str, paper: float | str, ours: float | str, why: str = CHOSEN) -> Row:
        same = abs(paper - ours) < 1e-6 if isinstance(paper, float) and isinstance(ours, float) else paper == ours
        return constructed(item, what, paper, ours, same, why)

    names = ", ".join
    return [
        row("Figure 1", "A dominates D", "yes", "yes" if found["dominates"] else "no"),
        row("Figure 2", "on the hull", "A, C", names(found["contributors"])),
        row("Figure 2", "never optimal", "B, D", names(found["dropped"])),
        row("Figure 3", "slope in scenario A", 10.0, found["slope_a"], PRINTED),
        row("Figure 3", "slope in scenario B", 0.1, found["slope_b"], PRINTED),
        row("Figure 3", "optimal in scenario A", "A", found["best_a"]),
        row("Figure 3", "optimal in scenario B", "C", found["best_b"]),
        row("Figure 4", "on the hull with E, F and G added", "A, C, E", names(sorted(found["extended"]))),
        row("Figure 4", "never optimal", "B, D, F, G", names(sorted(found["ignored"]))),
        row(
            "Figure 4",
            "adding them one by one gives the same hull",
            "yes",
            "yes" if found["incremental"] else "no",
            "an identity of hulls",
        ),
        constructed(
            "Figure 5",
            "C nearly optimal everywhere: its largest loss, and that of the best single classifier in figure 3",
            "little, much",
            f"{found['near']:.4f}, {found['far']:.4f}",
            found["near"] < found["far"] / 5,
            f"{CHOSEN}; normalized expected cost lost, at the worst pc",
        ),
        row("Figure 6a", "lowest slope of the range", 1 / 20, found["range_a"][0], PRINTED),
        row("Figure 6a", "highest slope of the range", 1 / 5, found["range_a"][1], PRINTED),
        row("Figure 6a", "can be optimal: insensitive", "C", names(found["candidates_a"])),
        row("Figure 6b", "lowest slope of the range", 1 / 5, found["range_b"][0], OURS),
        row("Figure 6b", "highest slope of the range", 2.0, found["range_b"][1], OURS),
        row("Figure 6b", "can be optimal: very sensitive", "A, C, E", names(sorted(found["candidates_b"]))),
        constructed(
            "Figure 6c",
            "doing nothing is optimal for slopes from",
            "steep ones only",
            found["null_from"],
            found["null_who"] == "always negative" and found["null_from"] > 10,
            f"{CHOSEN}; the slope of the hull's first edge",
        ),
    ]


def about(size: str) -> dict[str, Any]:
    """The constructed points."""
    return {
        "points": {name: list(map(list, points)) for name, points in POINTS.items()},
        "figure 5": list(map(list, NEARLY)),
    }


def parts(size: str) -> list[Part]:
    """List the only part, which takes no time at either size."""
    return [{"part": "all"}]


STUDY = Study("scenarios-1997", "Scenarios, figures 1-6 and sensitivity analysis (1997)", parts, work, rows, about)
