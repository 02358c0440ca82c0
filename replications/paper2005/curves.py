"""Figures 5, 6, 9 and 10: two classifiers that cross, and averages of two curves. Nothing here is random."""

from __future__ import annotations

from typing import Any

import numpy as np

import costcurves as cc
from replications.study import Part, Row, Study, constructed

# The paper prints no coordinates of figure 5. These points behave as it describes.
CROSSING = {
    "dotted": [(0.02, 0.30), (0.10, 0.60), (0.30, 0.72), (0.60, 0.86)],
    "dashed": [(0.10, 0.35), (0.25, 0.70), (0.40, 0.90), (0.70, 0.98)],
}
# The paper prints those of figure 9.
FOLDS = [(0.04, 0.4), (0.3, 0.8)]
GRID = np.linspace(0.0, 1.0, 1001)


def crossing_curves() -> list[cc.RocCurve]:
    """The two curves of figure 5."""
    found = []
    for name, points in CROSSING.items():
        fpr, tpr = np.transpose(points)
        found.append(cc.RocCurve.from_rates(fpr, tpr, thresholds=np.arange(len(points), 0, -1), name=name))
    return found


def fold_curves() -> list[cc.RocCurve]:
    """The two curves of figure 9."""
    return [cc.RocCurve.from_rates(*point, name=f"curve {i}") for i, point in enumerate(FOLDS, start=1)]


def roc_averages(points: int = 1001) -> tuple[cc.AveragedRoc, cc.AveragedRoc]:
    """The vertical and the horizontal average of figure 9."""
    curves = fold_curves()
    vertical = cc.average_roc_curves(curves, n_points=points, name="vertical average")
    horizontal = cc.average_roc_curves(curves, kind="horizontal", n_points=points, name="horizontal average")
    return vertical, horizontal


def work(part: Part, seed: int) -> Part:
    """Compute the results of the curves."""
    return crossover() if part["part"] == "crossover" else averages()


def crossover() -> Part:
    """Find where each of the two is better, and where their ROC curves cross."""
    dotted, dashed = crossing_curves()
    a, b = cc.CostCurve(dotted), cc.CostCurve(dashed)
    (crossing,) = a.crossings(b)
    condition = cc.OperatingCondition(prevalence=crossing, cost_fp=1, cost_fn=1)
    at = [cc.RocHull([one]).best(condition) for one in (dotted, dashed)]
    fpr, tpr, slopes = roc_crossing(dotted, dashed)
    return {
        "crossing": crossing,
        "slope": (1 - crossing) / crossing,
        "tangent": [[one.fpr, one.tpr] for one in at],
        "left": [[name, low, high] for name, low, high in zip_advantage(a, b)],
        "roc_crossing": [fpr, tpr],
        "roc_slopes": slopes,
        "roc_pc": [1 / (1 + slope) for slope in slopes],
    }


def zip_advantage(a: cc.CostCurve, b: cc.CostCurve) -> list[tuple[str, float, float]]:
    """Find where each of two curves costs less."""
    found = [(a.name, low, high) for low, high in a.better_than(b)]
    found += [(b.name, low, high) for low, high in b.better_than(a)]
    return sorted(found, key=lambda one: one[1])


def roc_crossing(a: cc.RocCurve, b: cc.RocCurve) -> tuple[float, float, list[float]]:
    """Find the point where two ROC curves cross, and the slope of each there."""
    fpr = np.union1d(a.fpr, b.fpr)
    gap = np.interp(fpr, a.fpr, a.tpr) - np.interp(fpr, b.fpr, b.tpr)
    (at,) = np.flatnonzero(gap[:-1] * gap[1:] < 0)
    share = gap[at] / (gap[at] - gap[at + 1])
    x = fpr[at] + share * (fpr[at + 1] - fpr[at])
    slopes = []
    for one in (a, b):
        ends = np.interp(fpr[[at, at + 1]], one.fpr, one.tpr)
        slopes.append(float((ends[1] - ends[0]) / (fpr[at + 1] - fpr[at])))
    return float(x), float(np.interp(x, a.fpr, a.tpr)), slopes


def averages() -> Part:
    """Compare the cost of averaged curves with the average cost."""
    curves = [cc.CostCurve(one) for one in fold_curves()]
    average = cc.average_cost_curves(curves)
    vertical, horizontal = roc_averages()
    (x1, y1), (x2, y2) = FOLDS
    slope = (y2 - y1) / (x2 - x1)
    pc = 1 / (1 + slope)
    mean = np.mean([one.evaluate(GRID) for one in curves], axis=0)
    found = {}
    for name, roc in (("vertical", vertical.to_roc_curve()), ("horizontal", horizontal.to_roc_curve())):
        cost = cc.CostCurve(roc)
        # The distance of the curve, in tpr, below the line of equal performance through the two points.
        below = float((y1 + slope * (roc.fpr - x1) - roc.tpr).min())
        extra = cost.evaluate(GRID) - mean
        found[name] = {"below": below, "cost": cost.evaluate(pc), "most": extra.max(), "least": extra.min()}
    return {
        "slope": slope,
        "pc": pc,
        "costs": [one.evaluate(pc) for one in curves],
        "average": average.evaluate(pc),
        "error": np.abs(average.evaluate(GRID) - mean).max().round(12),
        **found,
    }


def rows(parts: list[Part]) -> list[Row]:
    """Compare the statements of sections 5 and 7 with the curves."""
    cross, mean = parts

    ranges = "; ".join(f"{name} for {low:.3g} < pc < {high:.3g}" for name, low, high in cross["left"])
    first, last = cross["left"][0], cross["left"][-1]
    tangent = [y - cross["slope"] * x for x, y in cross["tangent"]]
    far = min(abs(pc - cross["crossing"]) for pc in cross["roc_pc"])
    out = [
        constructed(
            "Figure 6",
            "who costs less where",
            "dotted for pc < 0.5, dashed above",
            ranges,
            (first[0], last[0]) == ("dotted", "dashed") and abs(first[2] - 0.5) < 1e-6 and len(cross["left"]) == 2,
            "the points were chosen so that this is so",
        ),
        constructed(
            "Figure 5",
            "slope of the line that touches both curves",
            1.0,
            cross["slope"],
            abs(cross["slope"] - 1) < 1e-6 and abs(tangent[0] - tangent[1]) < 1e-6,
            "points chosen so; the paper draws it; pc = 0.5 is slope 1. It touches at "
            + " and ".join(f"({x:.2f}, {y:.2f})" for x, y in cross["tangent"]),
        ),
        constructed(
            "Figure 5",
            "pc of the two curves' slopes where the ROC curves cross",
            "little to do with the range",
            " and ".join(f"{pc:.3f}" for pc in cross["roc_pc"]),
            far > 0.05,
            "points chosen so; "
            f"they cross at ({cross['roc_crossing'][0]:.3f}, {cross['roc_crossing'][1]:.3f}), where neither works at "
            "pc = 0.5",
        ),
        constructed(
            "Figure 9",
            "cost of the two curves on the line that joins their vertices",
            "equal",
            " and ".join(f"{cost:.4f}" for cost in mean["costs"]),
            abs(mean["costs"][0] - mean["costs"][1]) < 1e-6,
            f"an identity of the printed points: slope {mean['slope']:.3f}, pc {mean['pc']:.3f}",
        ),
    ]
    for name in ("vertical", "horizontal"):
        found = mean[name]
        out.append(
            constructed(
                "Figure 9",
                f"distance (tpr) of the {name} average from that line, at its nearest",
                "well below it",
                found["below"],
                found["below"] > 0.02,
                "arithmetic of the printed points; "
                f"it costs {found['cost']:.4f} there, {100 * (found['cost'] / mean['average'] - 1):.0f} % more than "
                f"the average of the costs; at other pc from {found['least']:+.4f} to {found['most']:+.4f}",
            )
        )
    out.append(
        constructed(
            "Figure 10",
            "largest distance of the averaged cost curve from the average performance",
            "none",
            mean["error"],
            mean["error"] < 1e-6,
            f"an identity; at pc {mean['pc']:.3f} both are {mean['average']:.4f}",
        )
    )
    return out


def about(size: str) -> dict[str, Any]:
    """The points."""
    points = {name: [list(one) for one in points] for name, points in CROSSING.items()}
    return {"figure 5": points, "figure 9": [list(one) for one in FOLDS]}


def parts(size: str) -> list[Part]:
    """List the two parts, which take no time at either size."""
    return [{"part": "crossover"}, {"part": "averages"}]


STUDY = Study("curves-2005", "Figures 5, 6, 9 and 10: crossing and averaged curves (2005)", parts, work, rows, about)
