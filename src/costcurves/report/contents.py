"""What the page of a report says and draws, as plain values: a part of its JSON, from which the page is made."""

from __future__ import annotations

import math
from typing import Any

from costcurves.report import tables
from costcurves.report.answers import ConditionAnswer, winner_at
from costcurves.report.class_words import ClassTeller
from costcurves.report.classes import ClassesSummary
from costcurves.report.datasets import classes_data, numbered, two_class_data
from costcurves.report.headline import Headline, Teller
from costcurves.report.markup import Markup
from costcurves.report.numbers import short
from costcurves.report.summary import Summary, at_shown_prevalence
from costcurves.report.words import Card, Speaker


def two_class_contents(summary: Summary, currency: str, cases: float | None) -> dict[str, Any]:
    """Return what the page of a two-class report says and draws."""
    say = Speaker(summary.data.positive, currency, summary.level)
    pairs = summary.pairs is not None
    asked = [one.condition if isinstance(one, ConditionAnswer) else one.span for one in summary.answers]
    return {
        "headlines": [_headline(one) for one in Teller(say, cases, summary.today_moves).headlines(summary)],
        "overview": str(say.overview(summary)),
        "cards": [_card(one) for one in say.cards(summary)],
        "note": say.note(summary),
        "used": say.used(summary),
        "pc_only": any(where.pc_only for where in asked),
        "share": summary.start.prevalence,
        "model": max(0, numbered(summary)[winner_at(summary.ranges, summary.start.pc)]),
        "sliders": _sliders(summary, say),
        "goals": _goals(summary),
        "slices": [_said(say.segments(one), tables.slices_table(one, say)) for one in summary.slices],
        "reference": [_said(one.sentence, tables.reference_table(name, one)) for name, one in summary.reference],
        "tables": {
            "hull": _table(tables.hull_table(summary, say)),
            "ranges": _table(tables.ranges_table(summary, say)),
            "classifiers": _table(tables.classifier_table(summary, say)),
            "scores": _table(tables.facts_table(summary, say)),
            "pairs": _table(tables.pairs_table(summary, say)) if pairs else None,
            "crossings": _table(tables.crossings_table(summary, say)) if pairs else None,
        },
        "pictures": two_class_data(summary),
    }


def classes_contents(summary: ClassesSummary, currency: str, cases: float | None) -> dict[str, Any]:
    """Return what the page of a k-class report says and draws."""
    say = Speaker("", currency, summary.level)
    tell = ClassTeller(say, summary, cases)
    return {
        "headlines": [_headline(tell.headline())],
        "cards": [_card(tell.card())],
        "model": summary.names.index(best) if (best := summary.comparison.best_name) in summary.names else 0,
        "tables": {
            "matrix": _table(tables.matrix_table(summary)),
            "costs": _table(tables.costs_table(summary, say)),
            "differences": _table(tables.differences_table(summary, say)),
            "priors": None if summary.hull is None else _table(tables.priors_table(summary, say)),
        },
        "pictures": classes_data(summary),
    }


def _headline(one: Headline) -> dict[str, Any]:
    words = {"title": one.title, "verdict": one.verdict, "why": str(one.why)}
    return words | {"action": str(one.action), "lines": [str(line) for line in one.lines]}


def _card(one: Card) -> dict[str, Any]:
    words = {"title": one.title, "verdict": one.verdict, "where": str(one.where), "use": str(one.use)}
    return words | {"lines": [[term, str(said)] for term, said in one.lines]}


def _table(one: tables.Table) -> dict[str, Any]:
    rows = [[str(Markup.escape(cell)) for cell in row] for row in one.rows]
    return {"caption": one.caption, "columns": list(one.columns), "words": one.words, "rows": rows}


def _said(sentence: str, table: tables.Table) -> dict[str, Any]:
    return {"said": str(Markup.escape(sentence)), "table": _table(table)}


def _exact(value: float) -> str:
    """Format a number for an input field as shortly as possible without changing the condition."""
    return repr(float(f"{value:.12g}")).removesuffix(".0")


def _sliders(summary: Summary, say: Speaker) -> list[dict[str, Any]]:
    """The numbers of the condition, each with its field and the scale of its slider."""
    start, currency = summary.start, say.currency
    costs: dict[str, list[float]] = {"cost_fn": [start.cost_fn], "cost_fp": [start.cost_fp]}
    for answer in summary.answers:
        ends = [answer] if isinstance(answer, ConditionAnswer) else answer.ends
        for where in (at_shown_prevalence(end.condition, summary.data) for end in ends):
            for name, values in costs.items():
                values.append(getattr(where, name))
    everything = [value for values in costs.values() for value in values if value > 0]
    low = math.floor(math.log10(min(everything))) - 1.0
    high = math.ceil(math.log10(max(everything))) + 1.0
    share = 100 * start.prevalence
    edge = min(0.1, share / 2, (100 - share) / 2)
    # The slider uses log odds, so that there is room for rare classes.
    odds = math.log(edge / (100 - edge))
    fields = ("id", "label", "unit", "value", "scale", "low", "high")
    sliders = [
        ("prevalence", f"Share that is {short(say.positive, 24)}", "%", _exact(share), "logit", odds, -odds),
        ("cost_fn", "Cost of a miss", currency, _exact(start.cost_fn), "log", low, high),
        ("cost_fp", "Cost of a false alarm", currency, _exact(start.cost_fp), "log", low, high),
    ]
    return [dict(zip(fields, one, strict=True)) for one in sliders]


def _goals(summary: Summary) -> list[dict[str, str]]:
    """The conditions that can be set with a button. A range has a button for each of its ends."""
    goals = []
    for i, answer in enumerate(summary.answers):
        ends = (
            [("", answer)]
            if isinstance(answer, ConditionAnswer)
            else list(zip((" low", " high"), answer.ends, strict=True))
        )
        places = [(end, at_shown_prevalence(one.condition, summary.data)) for end, one in ends]
        goals += [
            {
                "label": f"{i + 1}{end}",
                "name": answer.name,
                "prevalence": _exact(100 * where.prevalence),
                "cost_fn": _exact(where.cost_fn),
                "cost_fp": _exact(where.cost_fp),
            }
            for end, where in places
        ]
    return goals
