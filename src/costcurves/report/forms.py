"""The numbers of a report in machine-readable form, as one JSON document."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import scipy

from costcurves._base.results import jsonable
from costcurves._version import __version__
from costcurves.conditions.condition import OperatingCondition
from costcurves.conditions.range import OperatingRange
from costcurves.report.answers import SURE, UNSURE, Answer, ConditionAnswer
from costcurves.report.classes import ClassesSummary
from costcurves.report.contents import classes_contents, two_class_contents
from costcurves.report.summary import ALL_PAIRS, Summary


def made_with() -> dict[str, str]:
    """The versions of the packages on which a number may depend."""
    return {"costcurves": __version__, "numpy": np.__version__, "scipy": scipy.__version__}


def two_class_form(summary: Summary, currency: str, cases: float | None) -> dict[str, Any]:
    """Return the numbers of a two-class report as plain values."""
    pairs = summary.pairs
    # Of very many classifiers the long columns have fewer digits, which no picture can show.
    short = _shortened if len(summary.names) > ALL_PAIRS else _kept
    return {
        "data": {
            "rows": summary.data.n,
            "positives": summary.data.n_pos,
            "negatives": summary.data.n_neg,
            "positive_label": summary.data.positive,
            "dropped": summary.data.dropped,
            "weights": jsonable(summary.data.weights),
            "effective": jsonable(summary.data.effective),
        },
        "level": summary.level,
        "seed": summary.seed,
        "policy": summary.policy,
        "classifiers": [
            {
                "name": one.name,
                "auc": one.auc,
                "distinct_scores": one.distinct,
                "operating_range": [list(pair) for pair in one.useful],
                "regret": {"largest": one.loss.largest, "at_pc": one.loss.at_pc, "mean": one.loss.mean},
                "cost_curve": short(one.curve.to_dict()["steps"]),
                "band": short(_limits(one.each)),
                "simultaneous_band": short(_limits(one.together)),
            }
            for one in summary.classifiers
        ],
        "hull": summary.hull.to_dict()["vertices"],
        "ranges": jsonable(summary.ranges._columns()),
        "crossings": [{"a": a, "b": b, **jsonable(found._columns())} for a, b, found in summary.crossings],
        "differences": [] if pairs is None else [short(one.to_dict()) for one in pairs.pairs],
        "verdicts": {} if pairs is None else jsonable(pairs._columns()),
        "scenarios": [_answer(answer, cases) for answer in summary.answers],
        "slices": [
            {"scenario": one.name, "segments": [segment.to_dict() for segment in one.segments]}
            for one in summary.slices
        ],
        "reference": [{"scenario": name, **check.to_dict()} for name, check in summary.reference],
        "page": two_class_contents(summary, currency, cases),
    }


def _kept(table: dict[str, Any]) -> dict[str, Any]:
    return table


def _shortened(table: dict[str, Any]) -> dict[str, Any]:
    """Return columns with nine digits per number; thresholds, which separate scores, keep all of theirs."""
    return {
        name: [float(f"{value:.9g}") if isinstance(value, float) else value for value in column]
        if isinstance(column, list) and name != "threshold"
        else column
        for name, column in table.items()
    }


def _limits(band: Any) -> dict[str, Any]:
    return {name: jsonable(getattr(band, name)) for name in ("pc", "estimate", "lower", "upper")}


def _answer(answer: Answer, cases: float | None) -> dict[str, Any]:
    if isinstance(answer, ConditionAnswer):
        return {
            "name": answer.name,
            "condition": answer.condition.to_dict() | _pc(answer.condition),
            "recommendation": answer.recommendation.to_dict(),
            "decision": answer.decision.to_dict(),
            "stays_best_for_pc": list(answer.stretch),
            "turn": None if answer.turn is None else asdict(answer.turn),
            "verdict": answer.verdict,
            "saving": None if answer.saving is None else answer.saving.to_dict(),
            "per_year": _per_year(answer, cases),
            "pairs": None if answer.tests is None else jsonable(answer.tests._columns()),
        }
    return {
        "name": answer.name,
        "range": answer.span.to_dict() | _pc(answer.span),
        "recommendation": answer.recommendation.to_dict(),
        "verdict": answer.verdict,
        "ends": [_answer(end, cases) for end in answer.ends],
    }


def _per_year(answer: ConditionAnswer, cases: float | None) -> dict[str, Any] | None:
    """Return the expected cost and saving per year with their limits; None if they are not known in money."""
    if cases is None or answer.condition.pc_only:
        return None
    found, saving = answer.recommendation, answer.saving
    ends = ("estimate", "lower", "upper")
    return {
        "cost": {end: cases * float(getattr(found, f"money_{end}")[0]) for end in ends},
        "saving": None if saving is None else {end: cases * getattr(saving, f"money_{end}") for end in ends},
    }


def _pc(where: OperatingCondition | OperatingRange) -> dict[str, Any]:
    """Return pc, and whether only pc is known, so that prevalence and costs are just an example."""
    return {"pc": jsonable(where.pc), "pc_only": where.pc_only}


def classes_form(summary: ClassesSummary, currency: str, cases: float | None) -> dict[str, Any]:
    """Return the numbers of a report of k classes as plain values."""
    many = summary.comparison
    return {
        "data": {"rows": summary.n, "dropped": summary.dropped, "frequencies": jsonable(summary.frequencies)},
        "level": summary.level,
        "method": summary.intervals[0].method,
        "priors": summary.priors,
        "labels": [str(label) for label in summary.costs.labels],
        "costs": jsonable(summary.costs.values),
        "classifiers": [
            {
                "name": name,
                "confusion": jsonable(table.counts),
                "cost": {"estimate": one.estimate, "lower": one.lower, "upper": one.upper},
                "risks": jsonable(one.risks),
            }
            for name, table, one in zip(summary.names, summary.confusions, summary.intervals, strict=True)
        ],
        "constants": dict(zip(many.constants, many.constant_costs.tolist(), strict=True)),
        "pairs": jsonable(many._columns()),
        "best": many.best_name,
        "sure": many.sure,
        "rivals": list(many.rivals),
        "risks": jsonable(many.risks),
        "never_cheapest": [] if summary.hull is None else list(summary.hull.never_best),
        "verdict": SURE if many.sure else UNSURE,
        "chosen": jsonable(_ends(summary.chosen)),
        "turn": None if summary.turn is None else asdict(summary.turn),
        "saving": _class_saving(summary),
        "page": classes_contents(summary, currency, cases),
    }


def _ends(one: Any) -> dict[str, float] | None:
    return None if one is None else {end: getattr(one, end) for end in ("estimate", "lower", "upper")}


def _class_saving(summary: ClassesSummary) -> dict[str, Any] | None:
    """Return what the best saves per case against what is in use today; None if that is not known or is the best."""
    today, many = summary.baseline, summary.comparison
    if today is None or today == many.best_name:
        return None
    pair = many.pair(today, many.best_name)
    return {"baseline": today, **jsonable(_ends(pair)), "shown": pair.cheaper == many.best_name}
