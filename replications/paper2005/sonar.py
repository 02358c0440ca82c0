"""Figures 3, 4, 7 and 8: trees on the sonar data, one curve and four splitting criteria."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import costcurves as cc
from replications.domains import Bools, Domain, Floats, load_domain
from replications.learners.folds import fold_numbers, out_of_fold
from replications.learners.trees import DecisionTree
from replications.study import BEYOND, DIRECTION, FAILS, REPLICATES, Part, Row, Study, mean_and_error, rng_of

DOMAIN = "sonar"
FOLDS = 10
TREES: dict[str, dict[str, Any]] = {
    "C4.5": {"gain_ratio": True},
    "DKM": {"criterion": "dkm"},
    "ENT": {"criterion": "entropy"},
    "GINI": {"criterion": "gini"},
    "ACC": {"criterion": "accuracy"},
}
CRITERIA = ("DKM", "ENT", "GINI", "ACC")
# C4.5's pruning, no pruning, and pruning with the columns in reverse order and all signs changed, which affects only
# the choice between equally good splits.
FORMS = ("pruned", "unpruned", "other ties")
GRID = np.linspace(0.0, 1.0, 41)
# Outside this range of pc, a tree is of no use according to the paper.
OUTER = (0.15, 0.85)
# A threshold is nearly optimal if it costs at most this much more than the best. A larger difference is visible.
NEAR = 0.02
# The paper gives no numbers for "many" thresholds and "similar" ends of a range. These are ours.
MANY, ALIKE = 5, 0.05


def parts(size: str) -> list[Part]:
    """List blocks of cross-validations of each form of tree. The figures show the first one."""
    blocks, repeats = (5, 10) if size == "full" else (1, 1)
    return [{"form": form, "block": block, "repeats": repeats} for form in FORMS for block in range(blocks)]


def work(part: Part, seed: int, data: Any = None) -> Part:
    """Compute the mean cost curve of each tree, and what the text describes, in each cross-validation."""
    domain = load_domain(DOMAIN, data)
    X = -domain.X[:, ::-1] if part["form"] == "other ties" else domain.X
    domain = replace(domain, X=X)
    costs: dict[str, list[Floats]] = {name: [] for name in TREES}
    seen: list[Part] = []
    first: dict[str, Floats] = {}
    for repeat in range(part["repeats"]):
        fold = fold_numbers(domain.y, FOLDS, rng_of(seed, DOMAIN, part["block"], repeat))
        scores = {name: _scores(domain, name, fold, part["form"]) for name in TREES}
        roc = {name: cc.RocCurve.from_predictions(domain.y, scores[name], name=name) for name in TREES}
        curve = {name: cc.CostCurve(one) for name, one in roc.items()}
        for name in TREES:
            costs[name].append(curve[name].evaluate(GRID))
        kept = {
            "points": looks(roc["C4.5"]),
            "ranges": {name: _span(curve[name]) for name in TREES},
            "highest": {name: curve[name].evaluate(curve[name].breaks).max() for name in ("C4.5", "ENT")},
            "areas": {name: curve[name].area() for name in CRITERIA},
            "dominated": [other for other in CRITERIA[1:] if cc.dominates(curve["DKM"], curve[other])],
            "gini_acc": _pair(costs["GINI"][-1], costs["ACC"][-1]),
        }
        seen.append(_rounded(kept))
        first = first or scores
    found: Part = {"costs": {name: np.mean(values, axis=0).round(4) for name, values in costs.items()}, "seen": seen}
    if part["block"] == 0:
        found |= {"significant": significant(domain.y, first)}
        if part["form"] == "pruned":
            found |= {"y": domain.y.astype(int), "scores": first}
    return found


def _scores(domain: Domain, name: str, fold: Any, form: str) -> Floats:
    options = {"confidence": None if form == "unpruned" else 0.25, **TREES[name]}
    return out_of_fold(domain, lambda: DecisionTree(**options), fold)


def _rounded(value: Any) -> Any:
    """Round numbers to four decimals, which keeps the file small."""
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return round(float(value), 4) if isinstance(value, (float, np.floating)) else value


def _pair(a: Floats, b: Floats) -> Part:
    """The mean difference of two curves where trees are useful, and the share of pc where the first is best."""
    difference = (a - b)[between(*OUTER)]
    return {"mean": float(difference.mean()), "share": float(np.mean(difference <= 1e-12))}


def _span(curve: cc.CostCurve) -> list[float]:
    """The smallest and the largest pc of the operating range."""
    spans = list(curve.operating_range())
    return [spans[0][0], spans[-1][1]] if spans else [0.5, 0.5]


def between(low: float, high: float) -> Bools:
    """Mark the points of the grid that lie from one pc to another."""
    pc = GRID.round(9)
    return (low <= pc) & (pc <= high)


def looks(roc: cc.RocCurve) -> Part:
    """Compute what figures 3 and 4 show of the points of a curve, without the two trivial ones."""
    fpr, tpr = roc.fpr[1:-1], roc.tpr[1:-1]
    better = (tpr[None, :] >= tpr[:, None]) & (fpr[None, :] <= fpr[:, None])
    middle = (fpr + 1 - tpr) / 2
    best = min(middle.min(), 0.5)
    outside = np.concatenate([np.linspace(0.0, OUTER[0], 151), np.linspace(OUTER[1], 1.0, 151)])
    saved = np.minimum(outside, 1 - outside) - cc.CostCurve(roc).evaluate(outside)
    return {
        "count": fpr.size,
        "above": int((tpr > fpr).sum()),
        "dominated": int((better.sum(axis=1) > 1).sum()),
        "near": int((middle <= best + NEAR).sum()),
        "saved_outside": float(saved.max()),
    }


def significant(y: Any, scores: dict[str, Floats]) -> dict[str, str]:
    """Find where one of each pair of criteria costs significantly less, jointly over all pairs and conditions."""
    many = cc.compare_many(y, {name: scores[name] for name in CRITERIA}, level=0.9, rng=0)
    pairs = [(a, b) for i, a in enumerate(CRITERIA) for b in CRITERIA[i + 1 :]]
    return {f"{a}-{b}": many.pair(a, b).significant().text() for a, b in pairs}


def averages(found: list[Part], form: str = "pruned") -> dict[str, Floats]:
    """The cost curve of each tree on the grid, averaged over all cross-validations."""
    chosen = [part for part in found if part["form"] == form]
    return {name: np.mean([part["costs"][name] for part in chosen], axis=0) for name in TREES}


def mean_curve(found: list[Part], name: str) -> cc.CostCurve:
    """Restore the mean cost curve of a tree, by duality: the line through each piece of it is a point in ROC space."""
    cost = averages(found)[name]
    slope = np.diff(cost) / np.diff(GRID)
    fpr = np.clip(cost[:-1] - slope * GRID[:-1], 0, 1)
    tpr = np.clip(1 - fpr - slope, 0, 1)
    return cc.CostCurve(cc.RocCurve.from_rates(*(np.maximum.accumulate(rate) for rate in (fpr, tpr)), name=name))


def rows(found: list[Part]) -> list[Row]:
    """Compare the statements of sections 3, 4 and 6 with our results."""
    seen = [one for part in found if part["form"] == "pruned" for one in part["seen"]]
    return _one_tree(seen) + _criteria(found, seen)


def _one_tree(seen: list[Part]) -> list[Row]:
    points = [one["points"] for one in seen]
    count, above, dominated = (sum(p[key] for p in points) for key in ("count", "above", "dominated"))
    highest, error = mean_and_error(one["highest"]["C4.5"] for one in seen)
    plain, _ = mean_and_error(one["highest"]["ENT"] for one in seen)
    top = [one["highest"]["C4.5"] for one in seen]
    low, high = (float(np.median([one["ranges"]["C4.5"][i] for one in seen])) for i in (0, 1))
    saved = float(np.median([p["saved_outside"] for p in points]))
    of = float(np.median([p["count"] for p in points]))
    near = float(np.median([p["near"] for p in points]))
    inside = abs(low - OUTER[0]) <= ALIKE and abs(high - OUTER[1]) <= ALIKE
    total = f"{len(seen)} cross-validations"
    return [
        Row(
            "Figure 3",
            f"ROC points above the chance line, {total}",
            "all, well above",
            f"{100 * above / count:.1f} %",
            REPLICATES if above == count else DIRECTION if above > 0.9 * count else FAILS,
            f"{count - above} of {count} points are not",
        ),
        Row(
            "Figure 3",
            "ROC points that another dominates",
            "some",
            f"{100 * dominated / count:.0f} %",
            REPLICATES if 0 < dominated < count else FAILS,
        ),
        Row(
            "Figure 4",
            "highest normalized expected cost",
            0.25,
            highest,
            highest_verdict(top, 0.25),
            f"{sum(one <= 0.25 for one in top)} of {len(top)} cross-validations are as low (from {min(top):.2f} to "
            f"{max(top):.2f}), and their mean is {abs(highest - 0.25) / error if error > 0 else 0:.0f} standard errors "
            f"away; with gain in place of C4.5's gain ratio it is {plain:.3f}",
            error if len(seen) > 1 else 0.0,
        ),
        Row(
            "Figure 4",
            f"thresholds within {NEAR} of the best at pc = 0.5, medians",
            "many",
            f"{near:.0f} of {of:.0f}",
            REPLICATES if near >= MANY else FAILS,
            f"{MANY} or more count as many",
        ),
        Row(
            "Figure 4",
            "better than trivial from pc, to pc (medians)",
            "0.15 and 0.85",
            f"{low:.2f} and {high:.2f}",
            REPLICATES if inside else DIRECTION if saved < NEAR else FAILS,
            f"up to {ALIKE} off counts as the same; "
            f"outside 0.15 .. 0.85 the best threshold saves at most {saved:.3f} of normalized cost (median)",
        ),
    ]


def highest_verdict(top: list[float], paper: float) -> str:
    """The verdict on a number that the paper reads from one cross-validation.

    It replicates if our mean agrees within three standard errors, and in direction if one of our cross-validations
    could have given it, that is, if it lies between their quantiles of 2.5 and 97.5 %.
    """
    mean, error = mean_and_error(top)
    if len(top) > 1 and abs(mean - paper) <= 3 * error:
        return REPLICATES
    low, high = np.quantile(top, [0.025, 0.975])
    return DIRECTION if low <= paper <= high else FAILS


def _criteria(found: list[Part], seen: list[Part]) -> list[Row]:
    mean = averages(found)
    inner, narrow = between(*OUTER), between(0.31, 0.59)
    out = []
    for other in CRITERIA[1:]:
        share = float(np.mean(mean["DKM"][inner] <= mean[other][inner]))
        most = float((mean["DKM"] - mean[other])[inner].max())
        times = sum(other in one["dominated"] for one in seen)
        out.append(
            Row(
                "Figure 7",
                f"share of pc from 0.15 to 0.85 where DKM costs at most as much as {other}, mean curves",
                "all: DKM dominates",
                f"{100 * share:.0f} %",
                REPLICATES if share == 1 else DIRECTION if share >= 0.8 else FAILS,
                f"80 % counts as in direction; "
                f"elsewhere DKM costs at most {max(most, 0):.3f} more; it dominates at all pc in {times} of "
                f"{len(seen)} cross-validations",
            )
        )
    close = float(np.abs(mean["DKM"] - mean["ENT"])[narrow].max())
    apart = float((np.minimum(mean["GINI"], mean["ACC"]) - mean["DKM"])[narrow].max())
    spans = {name: [float(np.median([s["ranges"][name][i] for s in seen])) for i in (0, 1)] for name in CRITERIA}
    similar = max(abs(a - b) for a, b in zip(spans["DKM"], spans["ENT"], strict=True))
    better = np.minimum(mean["GINI"], mean["ACC"]) - np.maximum(mean["DKM"], mean["ENT"])
    superior = float(np.mean(better[inner] > 0))
    gini = float(np.mean(mean["GINI"][inner] <= mean["ACC"][inner]))
    gap, error = mean_and_error(one["gini_acc"]["mean"] for one in seen)
    mirrored = [one for part in found if part["form"] == "other ties" for one in part["seen"]]
    turned, _ = mean_and_error(one["gini_acc"]["mean"] for one in mirrored)
    often = sum(one["gini_acc"]["share"] > 0.5 for one in seen)
    out += [
        Row(
            "Figure 8",
            "largest difference of DKM and ENT for 0.3 < pc < 0.6",
            "little",
            close,
            REPLICATES if close < NEAR else DIRECTION if close < apart else FAILS,
            f"less than {NEAR} is little; DKM and the better of GINI and ACC differ by up to {apart:.3f} there",
        ),
        Row(
            "Figure 8",
            "operating ranges of DKM and ENT (medians)",
            "similar",
            ", ".join(f"{low:.2f} .. {high:.2f}" for low, high in (spans["DKM"], spans["ENT"])),
            REPLICATES if similar <= ALIKE else DIRECTION if similar <= 2 * ALIKE else FAILS,
            f"ends up to {ALIKE} apart are similar, up to {2 * ALIKE} in direction",
        ),
        Row(
            "Figure 8",
            "share of pc from 0.15 to 0.85 where DKM and ENT cost less than GINI and ACC",
            "clearly superior",
            f"{100 * superior:.0f} %",
            REPLICATES if superior >= 0.9 else DIRECTION if superior > 0.5 else FAILS,
            f"90 % counts as clearly; "
            f"by {better[GRID == 0.5].item():.3f} at pc = 0.5; not near the ends, where all are almost trivial",
        ),
        Row(
            "Figure 8",
            "share of pc from 0.15 to 0.85 where GINI costs at most as much as ACC",
            "most of the range",
            f"{100 * gini:.0f} %",
            REPLICATES if gini > 0.5 else FAILS,
            f"GINI - ACC is {gap:+.4f} on average (standard error {error:.4f}), and GINI is cheaper over most of the "
            f"range in {often} of {len(seen)} cross-validations; with other choices between equally good splits the "
            f"difference is {turned:+.4f}. One figure can show either",
        ),
    ]
    return out + _beyond(found)


def _beyond(found: list[Part]) -> list[Row]:
    out = []
    for form in FORMS:
        first = next(part for part in found if part["form"] == form and part["block"] == 0)
        decided = {pair: text for pair, text in first["significant"].items() if not text.startswith("no ")}
        ours = "; ".join(f"{pair}: {text}" for pair, text in decided.items()) or "none"
        seen = [one for part in found if part["form"] == form for one in part["seen"]]
        gap, error = mean_and_error(one["gini_acc"]["mean"] for one in seen)
        area = {name: float(np.mean([one["areas"][name] for one in seen])) for name in CRITERIA}
        ordered = ", ".join(f"{name} {area[name]:.3f}" for name in sorted(area, key=lambda name: area[name]))
        words = f"GINI - ACC from pc 0.15 to 0.85: {gap:+.4f}, standard error {error:.4f}"
        out.append(Row("Figure 8", f"mean cost over all pc, {form}", None, ordered, BEYOND, words))
        if form != "other ties":
            out.append(
                Row(
                    "Figure 8",
                    f"significant differences between criteria, {form}, one cross-validation",
                    None,
                    ours,
                    BEYOND,
                    "208 examples, 90 % jointly over all pairs and conditions, thresholds as given",
                )
            )
    return out


def about(size: str) -> dict[str, Any]:
    """The settings of the run."""
    blocks = [part for part in parts(size) if part["form"] == "pruned"]
    return {"data": DOMAIN, "folds": FOLDS, "cross-validations": sum(part["repeats"] for part in blocks)}


STUDY = Study("sonar-2005", "Figures 3, 4, 7 and 8: trees on sonar (2005)", parts, work, rows, about, reads_data=True)
