"""What the pictures draw, as rows of plain values; pictures know classifiers by number, never by name."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from costcurves.comparison import UNDECIDED
from costcurves.decisions import ALWAYS_NEGATIVE, ALWAYS_POSITIVE, TRIVIAL
from costcurves.report.classes import ClassesSummary
from costcurves.report.numbers import short, short_names
from costcurves.report.summary import ClassifierSummary, ConditionAnswer, Summary

Rows = list[dict[str, Any]]
# The trivial classifiers' numbers; the others count from 0.
NEVER, ALWAYS = -1, -2
# A region of the prior simplex narrower than this, in every class's share, has no room for its name.
LABELLED = 0.12


def _cut(threshold: float) -> float | None:
    return threshold if math.isfinite(threshold) else None


def _drawn(values: Any) -> list[float]:
    """Return coordinates that are only drawn, rounded to what cannot be seen."""
    return [round(value, 6) for value in values.tolist()]


def numbered(summary: Summary) -> dict[str, int]:
    """Return the number of each classifier in the pictures."""
    return {name: k for k, name in enumerate(summary.names)} | {ALWAYS_NEGATIVE: NEVER, ALWAYS_POSITIVE: ALWAYS}


def picture_names(summary: Summary) -> dict[int, str]:
    """Return the short name of each number."""
    positive = summary.data.positive
    texts = short_names([*summary.names, f"always {positive}", f"never {positive}"])
    numbers = [*range(len(summary.names)), ALWAYS, NEVER]
    return dict(zip(numbers, texts, strict=True))


def two_class_data(summary: Summary) -> dict[str, Rows]:
    """Return the tables behind the pictures of a two-class report."""
    who = numbered(summary)
    names = picture_names(summary)
    return {
        "vertices": _vertices(summary, who, names),
        "hull": [{"x": x, "y": y} for x, y in zip(_drawn(summary.hull.fpr), _drawn(summary.hull.tpr), strict=True)],
        "points": [
            {"k": k, "i": i, "x": x, "y": y, "t": _cut(t), "name": names[k]}
            for k, one in enumerate(summary.classifiers)
            for i, (x, y, t) in enumerate(
                zip(one.points.fpr.tolist(), one.points.tpr.tolist(), one.points.thresholds.tolist(), strict=True)
            )
        ],
        "costs": [
            {"k": k, "pc": pc, "c": cost, "name": names[k]}
            for k, one in enumerate(summary.classifiers)
            for pc, cost in zip(*(_drawn(column) for column in one.curve.vertices.T), strict=True)
        ],
        "bands": _bands(summary, names),
        "stretches": _stretches(summary, who, names),
        "losses": [
            {"k": k, "pc": pc, "loss": loss, "name": names[k]}
            for k, one in enumerate(summary.classifiers)
            for pc, loss in zip(_drawn(one.loss.pc), _drawn(one.loss.loss), strict=True)
        ],
        "differences": _differences(summary),
        "verdicts": _verdicts(summary, who),
        "scenarios": _scenarios(summary),
    }


def _vertices(summary: Summary, who: dict[str, int], names: dict[int, str]) -> Rows:
    """Return every classifier's hull vertices, those of the common hull first and in the order the library prefers.

    `mid` is the middle of the pc at which a vertex of the common hull is best; the distances of the limits of fnr and
    fpr let the page find those of the cost.
    """
    hull = summary.hull
    own = {one.name: _own_vertices(one) for one in summary.classifiers}
    breaks = hull.breaks.tolist()
    rows: Rows = []
    for i, owners in enumerate(hull.owners):
        for name, threshold in owners:
            exact = {"fnr_down": 0, "fnr_up": 0, "fpr_down": 0, "fpr_up": 0, "t": None}
            rest = exact if name in TRIVIAL else own[name].pop(threshold)
            rows.append(
                rest
                | {"k": who[name], "name": names[who[name]], "x": float(hull.fpr[i]), "y": float(hull.tpr[i])}
                | {"mid": (breaks[i] + breaks[i + 1]) / 2}
            )
    for name, left in own.items():
        rows += [row | {"k": who[name], "name": names[who[name]], "mid": None} for row in left.values()]
    return [{"r": r, **row} for r, row in enumerate(rows)]


def _own_vertices(one: ClassifierSummary) -> dict[float, dict[str, Any]]:
    """Return the inner vertices of one classifier's hull by threshold, with the distances of their limits."""
    points = one.vertices
    (fnr_low, fnr_high), (fpr_low, fpr_high) = one.miss_limits, one.alarm_limits
    columns = {
        "x": points.fpr,
        "y": points.tpr,
        "fnr_down": points.fnr - fnr_low,
        "fnr_up": fnr_high - points.fnr,
        "fpr_down": points.fpr - fpr_low,
        "fpr_up": fpr_high - points.fpr,
    }
    rows = [
        dict(zip(columns, values, strict=True)) for values in zip(*(c.tolist() for c in columns.values()), strict=True)
    ]
    inner = list(zip(points.thresholds.tolist(), rows, strict=True))[1:-1]
    return {t: row | {"t": _cut(t)} for t, row in inner}


def _bands(summary: Summary, names: dict[int, str]) -> Rows:
    """Return cost and limits on the grid, at each point (lo, hi) and at all points together (slo, shi)."""
    rows: Rows = []
    for k, one in enumerate(summary.classifiers):
        limits = (
            one.each.pc,
            one.each.estimate,
            one.each.lower,
            one.each.upper,
            one.together.lower,
            one.together.upper,
        )
        fields = ("pc", "c", "lo", "hi", "slo", "shi")
        rows += [
            {"k": k, "name": names[k], **dict(zip(fields, values, strict=True))}
            for values in zip(*(_drawn(column) for column in limits), strict=True)
        ]
    return rows


def _stretches(summary: Summary, who: dict[str, int], names: dict[int, str]) -> Rows:
    rows: Rows = [
        {"row": names[k], "k": k, "a": low, "b": high, "what": "better than no classifier"}
        for k, one in enumerate(summary.classifiers)
        for low, high in one.useful
    ]
    rows += [
        {"row": names[who[name]], "k": who[name], "a": low, "b": high, "what": "best"}
        for name, low, high in summary.ranges
    ]
    return rows


def _differences(summary: Summary) -> Rows:
    if summary.pairs is None:
        return []
    return [
        {"q": q, "pc": pc, "d": d, "lo": lo, "hi": hi}
        for q, pair in enumerate(summary.pairs.pairs)
        for pc, d, lo, hi in zip(
            *(_drawn(column) for column in (pair.pc, pair.estimate, pair.lower, pair.upper)), strict=True
        )
    ]


def _verdicts(summary: Summary, who: dict[str, int]) -> Rows:
    if summary.pairs is None:
        return []
    rows: Rows = []
    for q, pair in enumerate(summary.pairs.pairs):
        verdicts = pair.significant()
        rows += [
            {"q": q, "a": low, "b": high, "k": who[better]}
            for low, high, better in zip(verdicts.low.tolist(), verdicts.high.tolist(), verdicts.better, strict=True)
            if better != UNDECIDED
        ]
    return rows


def _scenarios(summary: Summary) -> Rows:
    rows: Rows = []
    for i, answer in enumerate(summary.answers):
        if isinstance(answer, ConditionAnswer):
            low = high = answer.condition.pc
        else:
            low, high = answer.span.pc
        rows.append({"n": str(i + 1), "name": short(answer.name, 40), "a": low, "b": high, "mid": (low + high) / 2})
    return rows


def classes_data(summary: ClassesSummary) -> dict[str, Rows]:
    """Return the tables behind the pictures of a report of k classes."""
    labels, names = short_names([str(label) for label in summary.costs.labels]), short_names(summary.names)
    data: dict[str, Rows] = {
        "matrix": [
            {"true": labels[t], "predicted": labels[p], "cost": float(cost), "right": t == p}
            for t, row in enumerate(summary.costs.values)
            for p, cost in enumerate(row)
        ],
        "intervals": [
            {"k": k, "name": names[k], "estimate": one.estimate, "lower": one.lower, "upper": one.upper}
            for k, one in enumerate(summary.intervals)
        ],
    }
    if summary.comparison is not None:
        place = {name: k for k, name in enumerate(summary.names)}
        data["pairs"] = [
            {"pair": f"{names[place[pair.names[0]]]} − {names[place[pair.names[1]]]}", "q": q}
            | {"difference": pair.difference, "lower": pair.lower, "upper": pair.upper, "sure": bool(sure)}
            for q, (pair, sure) in enumerate(
                zip(summary.comparison.pairs, summary.comparison.significant.tolist(), strict=True)
            )
        ]
    if summary.regions:
        assert summary.hull is not None
        place = {name: k for k, name in enumerate(summary.hull.names)}
        data["regions"] = [
            {"k": place[name], "name": short(name), "i": i, **_on_triangle(corner)}
            for name, polygon in summary.regions.items()
            for i, corner in enumerate(polygon.tolist())
        ]
        data["centres"] = [
            {"name": short(name), **_on_triangle(polygon.mean(axis=0).tolist())}
            for name, polygon in summary.regions.items()
            if np.ptp(polygon, axis=0).min() > LABELLED
        ]
        here = _on_triangle(summary.frequencies.tolist())
        data["corners"] = [
            {"label": labels[i], **_on_triangle([float(i == j) for j in range(3)]), "low": i < 2} for i in range(3)
        ]
        data["here"] = [{"label": "the data", **here}]
    return data


def _on_triangle(priors: list[float]) -> dict[str, float]:
    """Return where three priors lie in a triangle whose corners are the classes: left, right, top."""
    return {"x": round(priors[1] + priors[2] / 2, 6), "y": round(priors[2] * math.sqrt(3) / 2, 6)}
