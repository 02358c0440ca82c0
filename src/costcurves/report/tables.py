"""Tables with the numbers of the pictures, for readers and for screen readers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from costcurves.decisions.promise_check import PromiseCheck
from costcurves.report.answers import ConditionAnswer, Slices
from costcurves.report.classes import ClassesSummary
from costcurves.report.numbers import money, money_span, number, percent, short_names, together, with_minus
from costcurves.report.summary import Summary
from costcurves.report.words import Speaker

MOST_SCENARIOS = 4  # the most scenarios at which pairs are told


@dataclass(frozen=True, slots=True)
class Table:
    """A caption, the titles of the columns, and rows of texts. The first `words` columns are not numbers."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    words: int = 1


def _span(low: float, high: float) -> str:
    return f"{low:.3f} to {high:.3f}"


def hull_table(summary: Summary, say: Speaker) -> Table:
    """Every point that is best at some condition."""
    hull = summary.hull
    breaks, texts = hull.breaks.tolist(), hull.threshold_text
    rows = [
        (
            say.name(name),
            with_minus(texts[i]) or "–",
            percent(float(hull.fpr[i])),
            percent(float(hull.tpr[i])),
            _span(breaks[i], breaks[i + 1]),
        )
        for i, name in enumerate(hull.owner)
    ]
    columns = ("classifier", "score ≥", "false alarms", "found", "best for pc")
    return Table("Every operating point that is best at some condition", columns, tuple(rows))


def ranges_table(summary: Summary, say: Speaker) -> Table:
    """Which classifier is best where, also in terms of the cost of a miss at the initial prevalence."""
    where, texts = summary.start, summary.ranges.threshold_text
    rows = []
    for i, (name, low, high) in enumerate(summary.ranges):
        row = [say.name(name), _span(low, high), with_minus(" to ".join(dict.fromkeys(texts[i]))) or "–"]
        if where.cost_fp > 0:
            ends = [
                number(where.with_pc(pc, by="cost_fn").cost_fn / where.cost_fp)
                if 0 < pc < 1
                else ("0" if pc == 0 else "∞")
                for pc in (low, high)
            ]
            row.append(f"{ends[0]} to {ends[1]}")
        rows.append(tuple(row))
    columns: tuple[str, ...] = ("best choice", "for pc", "score ≥")
    if where.cost_fp > 0:
        columns += (f"a miss costs … false alarms, at {percent(where.prevalence)} {say.positive}",)
    return Table("The best choice in each range of conditions", columns, tuple(rows))


def classifier_table(summary: Summary, say: Speaker) -> Table:
    """The operating range of each classifier, and the loss from using it everywhere."""
    rows = [
        (
            say.name(one.name),
            ", ".join(_span(low, high) for low, high in one.useful) or "nowhere",
            number(one.loss.largest),
            f"{one.loss.at_pc:.2f}",
            number(one.loss.mean),
            f"{one.auc:.3f}",
        )
        for one in summary.classifiers
    ]
    columns = (
        "classifier",
        "better than no classifier for pc",
        "largest loss if used everywhere",
        "at pc",
        "average loss",
        "area under ROC",
    )
    return Table(
        "Each classifier by itself; losses are shares of the cost of getting every case wrong", columns, tuple(rows)
    )


def crossings_table(summary: Summary, say: Speaker) -> Table:
    """Where the cheaper classifier of each pair changes."""
    rows = [
        (say.name(before), say.name(after), f"{pc:.3f}")
        for _, _, found in summary.crossings
        for pc, before, after in zip(found.pc.tolist(), found.before, found.after, strict=True)
    ]
    return Table(
        "Where the cheaper of two classifiers changes", ("cheaper before", "cheaper after", "at pc"), tuple(rows), 2
    )


def pairs_table(summary: Summary, say: Speaker) -> Table:
    """What is shown about each pair, everywhere and at the scenarios."""
    assert summary.pairs is not None
    asked = [
        (i + 1, answer)
        for i, answer in enumerate(summary.answers)
        if isinstance(answer, ConditionAnswer) and answer.tests is not None
    ][:MOST_SCENARIOS]
    rows = []
    for q, pair in enumerate(summary.pairs.pairs):
        row: list[Any] = [say.name(pair.names[0]), say.name(pair.names[1]), say.difference(pair)]
        for _, answer in asked:
            assert answer.tests is not None
            difference, p = float(answer.tests.estimate[q]), float(answer.tests.adjusted[q])
            cost = say.price(difference * answer.condition.unit_cost, answer.condition)
            row.append(f"{cost} (p {'< 0.001' if p < 0.001 else f'= {p:.3f}'})")
        rows.append(tuple(row))
    columns = (
        "first",
        "second",
        "over all conditions",
        *(f"scenario {n}: difference (p of equal costs)" for n, _ in asked),
    )
    every = len(rows) == math.comb(len(summary.names), 2)
    caption = "All pairs" if every else "Pairs with a recommended classifier"
    if asked:
        caption += (
            ", each classifier at its best threshold; p is adjusted for all pairs. The answers above ask another "
            "question: whether the recommended choice costs less than each rival at any threshold of the rival."
        )
    return Table(caption, columns, tuple(rows), 3)


def slices_table(slices: Slices, say: Speaker) -> Table:
    """The answer for each segment, and what a rule of its own would save there."""
    rows = []
    for one in slices.segments:
        cases = f"{one.n:,} ({one.n_pos:,})"
        found, saving = one.recommendation, one.saving
        if found is None or saving is None:
            rows.append((one.segment, "cases of one class only", "–", cases, "–", "–", "–"))
            continue
        where = found.condition
        share = f"pc {number(where.pc)}" if where.pc_only else percent(where.prevalence)
        cost, low, high = (float(v[0]) for v in (found.money_estimate, found.money_lower, found.money_upper))
        expected = (
            f"{say.price(cost, where)} ({number(low)} to {number(high)})" if low < high else say.price(cost, where)
        )
        if saving.lower == saving.upper == 0:
            own, verdict = "–", "the same rule"
        else:
            own = f"{number(saving.money_estimate)} ({number(saving.money_lower)} to {number(saving.money_upper)})"
            verdict = "its own rule is shown to be cheaper" if saving.shown else "no own rule is shown to be cheaper"
        rows.append((one.segment, verdict, say.use(found.best), cases, share, expected, own))
    columns = (
        "segment",
        "against the rule for all",
        "cheapest here",
        f"cases ({say.positive})",
        f"share {say.positive}",
    )
    more = ("expected cost, with limits", "an own rule saves per case, with limits")
    return Table(f"Segments, {slices.name}", (*columns, *more), tuple(rows), 3)


def reference_table(name: str, check: PromiseCheck) -> Table:
    """What the reference promised and what these cases show, part by part."""
    words = {"cost": "cost, of getting every case wrong", "fpr": "false alarms", "tpr": "found"}
    rows = []
    for part, *values, p, moved in zip(
        check.part,
        *(check.promised, check.promised_lower, check.promised_upper),
        *(check.observed, check.observed_lower, check.observed_upper),
        *(check.adjusted, [part in check.moved for part in check.part]),
        strict=True,
    ):
        if part in words:
            was, now = (f"{number(v[0])} ({number(v[1])} to {number(v[2])})" for v in (values[:3], values[3:]))
            rows.append((words[part], "has changed" if moved else "agrees", was, now, f"{p:.3f}"))
    columns = ("", "verdict", "promised by the reference", "on these cases", "adjusted p")
    return Table(f"Reference and these cases, {name}", columns, tuple(rows), 2)


def facts_table(summary: Summary, say: Speaker) -> Table:
    """The number of distinct scores of each classifier. The fewer there are, the more ties there are."""
    rows = [
        (say.name(one.name), f"{one.distinct:,}", f"{summary.data.n - one.distinct:,}") for one in summary.classifiers
    ]
    return Table("Scores", ("classifier", "distinct scores", "rows beyond the first with a score"), tuple(rows))


def costs_table(summary: ClassesSummary, say: Speaker) -> Table:
    """The expected cost of each classifier with its interval, and that of the cheapest constant classifier."""
    rows = []
    for name, one in zip(summary.names, summary.intervals, strict=True):
        value, low, high = together([one.estimate, one.lower, one.upper])
        span = money_span(low, high, say.currency)
        rows.append((say.name(name), money(value, say.currency), span, str(len(one.risks))))
    many = summary.comparison
    lowest = say.amount(float(many.constant_costs.min()))
    rows.append((say.class_rule(many.constant, many.constants), lowest, "", ""))
    columns = ("classifier", "cost per case", f"{percent(summary.level)} interval", "errors too rare to judge")
    return Table("Expected cost (BCost)", columns, tuple(rows))


def differences_table(summary: ClassesSummary, say: Speaker) -> Table:
    """The difference of each pair with its interval and adjusted p-value."""
    many = summary.comparison
    rows = []
    for pair, p in zip(many.pairs, many.adjusted.tolist(), strict=True):
        value, low, high = together([pair.estimate, pair.lower, pair.upper])
        names = [say.class_rule(name, many.constants) for name in pair.names]
        verdict = "not shown" if pair.cheaper is None else names[pair.names.index(pair.cheaper)]
        p_text = "< 0.001" if p < 0.001 else f"{p:.3f}"
        rows.append((*names, verdict, money(value, say.currency), money_span(low, high, say.currency), p_text))
    columns = ("first", "second", "cheaper", "difference", "interval, all pairs together", "adjusted p")
    return Table("All pairs (BDeltaCost)", columns, tuple(rows), 3)


def matrix_table(summary: ClassesSummary) -> Table:
    """The cost matrix."""
    labels = [str(label) for label in summary.costs.labels]
    rows = [(labels[t], *(number(float(c), 6) for c in row)) for t, row in enumerate(summary.costs.values)]
    return Table("Cost matrix", ("true \\ predicted", *labels), tuple(rows))


def priors_table(summary: ClassesSummary, say: Speaker) -> Table:
    """Which classifiers can be cheapest under some class frequencies, and where most clearly."""
    hull = summary.hull
    assert hull is not None
    labels = short_names(list(map(str, hull.labels)))
    rows: list[Sequence[Any]] = []
    for i, name in enumerate(hull.names):
        can = name in hull.can_be_best
        mix = sorted(zip(hull.at_priors[i].tolist(), labels, strict=True), key=lambda one: -one[0])
        where = ", ".join(f"{percent(share)} {label}" for share, label in mix if share > 0)
        said = say.class_rule(name, summary.comparison.constants)
        rows.append((said, "yes" if can else "never", say.amount(float(hull.margin[i])), where))
    columns = ("classifier", "can be cheapest", "by at most", "at these shares of classes")
    return Table("Classifiers that can be cheapest under some class frequencies", columns, tuple(map(tuple, rows)), 2)
