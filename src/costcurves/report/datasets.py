"""The data of the pictures, as rows of plain values. Pictures refer to classifiers by number, never by name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from costcurves._base.text import short_cut
from costcurves.curves.choices import ALWAYS_NEGATIVE, ALWAYS_POSITIVE, TRIVIAL
from costcurves.curves.cost_measures import Calibration
from costcurves.curves.roc import RocCurve
from costcurves.decisions.curve_difference import NO_VERDICT
from costcurves.decisions.envelopes import trivial_curves
from costcurves.report.answers import ConditionAnswer
from costcurves.report.classes import ClassesSummary
from costcurves.report.numbers import isolated, short, short_names, with_minus
from costcurves.report.summary import BENEFIT_AT, ClassifierSummary, Summary

Rows = list[dict[str, Any]]
Columns = dict[str, list[Any]]
# The numbers of the trivial classifiers. The others are numbered from 0.
NEVER, ALWAYS = -1, -2
# If a region of the prior simplex is narrower than this in the share of every class, it has no room for its name.
LABELLED = 0.12


def _cuts(points: RocCurve) -> list[float | None]:
    """Round thresholds to the fewest decimals that separate the same scores, as the page shows them.

    There is no score below the lowest one. Its threshold stays as close to it as the next threshold is, because both
    are drawn.
    """
    cuts, below = points.thresholds.tolist(), points.below.tolist()
    if below[-1] == -math.inf:
        below[-1] = cuts[-1] - (cuts[-2] - cuts[-1])
    both = zip(cuts, below, strict=True)
    return [short_cut(cut, lower) if math.isfinite(cut) else None for cut, lower in both]


def _drawn(values: Any) -> list[float]:
    """Round coordinates that are only drawn to a precision finer than can be seen."""
    return [round(value, 6) for value in values.tolist()]


def numbered(summary: Summary) -> dict[str, int]:
    """The number of each classifier in the pictures."""
    return {name: k for k, name in enumerate(summary.names)} | {ALWAYS_NEGATIVE: NEVER, ALWAYS_POSITIVE: ALWAYS}


def short_picture_names(names: Sequence[str], positive: str) -> dict[int, str]:
    """The short name for each number."""
    texts = short_names([*names, f"always {positive}", f"never {positive}"])
    return dict(zip([*range(len(names)), ALWAYS, NEVER], texts, strict=True))


def two_class_data(summary: Summary) -> dict[str, Columns]:
    """Make the tables for the pictures of a two-class report, by columns so that they are small.

    The page adds the short name for every `k`, the text `cut` for every threshold t, and the rates x and y for every
    pair of counts fp and tp. It takes the hull, bands and differences from the report's JSON, which it contains too.
    """
    who = numbered(summary)
    everyone = list(enumerate(summary.classifiers))
    return {
        "vertices": columns(_vertices(summary, who)),
        "points": _joined(
            {
                "k": [k] * one.points.fp.size,
                "i": list(range(one.points.fp.size)),
                "fp": one.points.fp.tolist(),
                "tp": one.points.tp.tolist(),
                "t": _cuts(one.points),
            }
            for k, one in everyone
        ),
        "costs": _joined(_curve(k, "c", *one.curve.vertices.T) for k, one in everyone),
        "benefits": _joined(_benefit(k, benefit) for k, benefit in _benefits(summary).items()),
        "calibration": _joined(_calibration(k, one.calibration) for k, one in everyone if one.calibration is not None),
        "stretches": columns(_stretches(summary, who)),
        "losses": _joined(_curve(k, "loss", one.loss.pc, one.loss.loss) for k, one in everyone),
        "verdicts": columns(_verdicts(summary, who)),
        "scenarios": columns(_scenarios(summary)),
        "sets": columns(_sets(summary, who)),
    }


def columns(rows: Rows) -> Columns:
    """Convert rows to columns.

    Examples
    --------
    >>> columns([{"k": 0, "pc": 0.5}, {"k": 1, "pc": 1}])
    {'k': [0, 1], 'pc': [0.5, 1]}
    """
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _joined(parts: Iterable[Columns]) -> Columns:
    """Concatenate tables vertically."""
    listed = list(parts)
    return {name: [value for part in listed for value in part[name]] for name in listed[0]} if listed else {}


def _curve(k: int, field: str, pc: Any, values: Any) -> Columns:
    return {"k": [k] * len(pc), "pc": _drawn(pc), field: _drawn(values)}


def _benefits(summary: Summary) -> dict[int, Any]:
    """The net benefit of each classifier, and that of flagging every case; that of flagging none is 0."""
    always = trivial_curves()[1].net_benefit(BENEFIT_AT, prevalence=summary.start.prevalence)
    return {k: one.benefit for k, one in enumerate(summary.classifiers)} | {ALWAYS: always, NEVER: 0 * always}


def _benefit(k: int, benefit: Any) -> Columns:
    return {"k": [k] * benefit.size, "at": BENEFIT_AT.tolist(), "benefit": _drawn(benefit)}


def _calibration(k: int, found: Calibration) -> Columns:
    fields = ("score", "share", "lower", "upper", "count")
    return {"k": [k] * found.score.size} | {field: _drawn(getattr(found, field)) for field in fields}


def _vertices(summary: Summary, who: dict[str, int]) -> Rows:
    """List the hull vertices of all classifiers, in the order in which the library prefers vertices of equal cost.

    The trivial classifiers come first, because they need no model, then the first by name, then the fewest alarms.
    `mid` is the middle of the range of pc in which a vertex of the common hull is best. From the distances of the
    limits of fnr and fpr, the page computes the limits of the cost. A threshold that was not chosen on these cases is
    used from a to b, and a click on it goes to the middle of that.
    """
    hull = summary.hull
    given = [one for one in summary.classifiers if one.breaks is not None]
    own = {one.name: _own_vertices(one) for one in summary.classifiers if one.breaks is None}
    breaks = hull.breaks.tolist()
    rows: Rows = []
    for i, owners in enumerate(hull.owners):
        for name, threshold in owners:
            if name in own or name in TRIVIAL:
                row = _trivial(summary, name) if name in TRIVIAL else own[name].pop(threshold)
                rows.append(row | {"k": who[name], "mid": round((breaks[i] + breaks[i + 1]) / 2, 9)})
    for name, left in own.items():
        rows += [row | {"k": who[name], "mid": None} for row in left.values()]
    if given:
        rows = [row | {"a": 0.0, "b": 1.0} for row in rows]
    for one in given:
        assert one.breaks is not None
        ends = dict(zip(one.vertices.thresholds.tolist(), pairwise(one.breaks.tolist()), strict=True))
        for threshold, row in _own_vertices(one).items():
            a, b = ends[threshold]
            rows.append(row | {"k": who[one.name], "mid": round((a + b) / 2, 9), "a": a, "b": b})
    names = dict(enumerate(summary.names))
    rows.sort(key=lambda row: (row["k"] >= 0, names.get(row["k"], ""), row["fp"], row["tp"]))
    return [{"r": r, **row} for r, row in enumerate(rows)]


def _trivial(summary: Summary, name: str) -> dict[str, Any]:
    """The point of a trivial classifier, whose rates are known."""
    always = name == ALWAYS_POSITIVE
    tp, fp = summary.data.weights if always else (0, 0)
    return {"fp": fp, "tp": tp, "fnr_down": 0, "fnr_up": 0, "fpr_down": 0, "fpr_up": 0, "t": None}


def _own_vertices(one: ClassifierSummary) -> dict[float, dict[str, Any]]:
    """The vertices of one classifier by threshold, with the distances of their limits; trivial ones are left out."""
    points = one.vertices
    (fnr_low, fnr_high), (fpr_low, fpr_high) = one.miss_limits, one.alarm_limits
    table = {
        "fp": points.fp.tolist(),
        "tp": points.tp.tolist(),
        "fnr_down": _distance(points.fnr - fnr_low),
        "fnr_up": _distance(fnr_high - points.fnr),
        "fpr_down": _distance(points.fpr - fpr_low),
        "fpr_up": _distance(fpr_high - points.fpr),
        "t": _cuts(points),
    }
    rows = [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    found = dict(zip(points.thresholds.tolist(), rows, strict=True))
    alarms = [0 < fp + tp < points.n_pos + points.n_neg for fp, tp in zip(table["fp"], table["tp"], strict=True)]
    return {cut: row for (cut, row), some in zip(found.items(), alarms, strict=True) if some}


def _distance(values: Any) -> list[float]:
    return [float(f"{value:.8g}") for value in values.tolist()]


def _stretches(summary: Summary, who: dict[str, int]) -> Rows:
    rows: Rows = [
        {"k": k, "a": low, "b": high, "what": "better than no classifier"}
        for k, one in enumerate(summary.classifiers)
        for low, high in one.useful
    ]
    return rows + [{"k": who[name], "a": low, "b": high, "what": "best"} for name, low, high in summary.ranges]


def _verdicts(summary: Summary, who: dict[str, int]) -> Rows:
    if summary.pairs is None:
        return []
    rows: Rows = []
    for q, pair in enumerate(summary.pairs.pairs):
        verdicts = pair.significant()
        rows += [
            {"q": q, "a": low, "b": high, "k": who[better]}
            for low, high, better in zip(verdicts.low.tolist(), verdicts.high.tolist(), verdicts.better, strict=True)
            if better not in NO_VERDICT
        ]
    return rows


def _scenarios(summary: Summary) -> Rows:
    rows: Rows = []
    for i, answer in enumerate(summary.answers):
        if isinstance(answer, ConditionAnswer):
            low = high = answer.condition.pc
        else:
            low, high = answer.span.pc
        rows.append({"n": str(i + 1), "title": short(answer.name, 40), "a": low, "b": high, "mid": (low + high) / 2})
    return rows


def _sets(summary: Summary, who: dict[str, int]) -> Rows:
    """List the thresholds from a to b that are not shown to cost more, with the sentence about all of them.

    They are those of the classifier that is recommended for a scenario, and hold at its pc. The open ends are where
    the picture ends. For each classifier there is also an interval without width, because Vega warns of empty tables.
    """
    drawn = [[cut for cut in _cuts(one.points) if cut is not None] for one in summary.classifiers]
    rows: Rows = []
    for k, cuts in enumerate(drawn):
        rows.append({"n": "", "k": k, "pc": None, "a": min(cuts), "b": min(cuts), "said": ""})
    seen: set[tuple[int, float]] = set()
    for i, answer in enumerate(summary.answers):
        found = answer.recommendation.threshold_set() if isinstance(answer, ConditionAnswer) else None
        if found is None or (key := (who[found.name], found.condition.pc)) in seen:
            continue
        seen.add(key)
        k, pc = key
        for low, high in zip(found.low.tolist(), found.high.tolist(), strict=True):
            a, b = max(low, min(drawn[k])), min(high, max(drawn[k]))
            if a < b:
                rows.append({"n": str(i + 1), "k": k, "pc": pc, "a": a, "b": b, "said": with_minus(found.statement)})
    return rows


def classes_data(summary: ClassesSummary) -> dict[str, Columns]:
    """Make the tables for the pictures of a report of k classes."""
    labels = short_names([str(label) for label in summary.costs.labels])
    data: dict[str, Rows] = {
        "matrix": [
            {"true": labels[t], "predicted": labels[p], "cost": float(cost), "right": t == p}
            for t, row in enumerate(summary.costs.values)
            for p, cost in enumerate(row)
        ],
        "intervals": [
            {"k": k, "estimate": one.estimate, "lower": one.lower, "upper": one.upper}
            for k, one in enumerate(summary.intervals)
        ],
    }
    many = summary.comparison
    place = dict(zip((*summary.names, many.constant), short_names((*summary.names, many.constant)), strict=True))
    data["pairs"] = [
        {"pair": " − ".join(isolated(place[name]) for name in pair.names), "q": q}
        | {"difference": pair.estimate, "lower": pair.lower, "upper": pair.upper, "sure": pair.significant()}
        for q, pair in enumerate(many.pairs)
    ]
    if summary.regions:
        assert summary.hull is not None
        numbers = {name: k for k, name in enumerate(summary.hull.names)}
        data["regions"] = [
            {"k": numbers[name], "i": i, **_on_triangle(corner)}
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
    return {name: columns(rows) for name, rows in data.items()}


def _on_triangle(priors: list[float]) -> dict[str, float]:
    """Place three priors in a triangle whose corners are the classes: left, right, top."""
    return {"x": round(priors[1] + priors[2] / 2, 6), "y": round(priors[2] * math.sqrt(3) / 2, 6)}
