"""`decide`: which classifier to use, and how sure that is. `ranges`: which classifier is best where."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import typer
from rich.console import Console

import costcurves as cc
import costcurves.cli._answers as types
from costcurves._base.text import level_text, safe
from costcurves.cli._against import Answer, Gates
from costcurves.cli._answer_parts import Winners
from costcurves.cli._ci import GateReports
from costcurves.cli._gates import show_gates
from costcurves.cli._groups import given, with_groups
from costcurves.cli._input import ScoreTable
from costcurves.cli._options import Condition, Conditions, Costs, Scores, Statistics, span_text
from costcurves.cli._print import (
    Output,
    Problem,
    chance,
    folded,
    heading,
    line,
    money,
    new_grid,
    number,
    padded,
    percent,
    stacked_by,
    sureness,
    working,
)
from costcurves.cli.limits import Limits, decide_within, use_text
from costcurves.curves.choices import ALWAYS_NEGATIVE, TRIVIAL
from costcurves.curves.ranges import Ranges
from costcurves.decisions.recommend import Recommendation
from costcurves.decisions.recommend_within import RangeRecommendation

# A table of more stretches than this joins short ones.
MOST_STRETCHES = 12


@with_groups
def decide(
    table: Scores,
    conditions: Conditions,
    limits: Limits,
    statistics: Statistics,
    gates: Gates,
    reports: GateReports,
    out: Output,
) -> None:
    """costcurves decide example:german_credit --costs example:german_credit

    Say which classifier to use at which threshold, what it costs per case with its interval, who is the runner-up,
    and whether that is sure. Several scenarios get an answer each; a range gets the classifier that loses least in
    the worst case. With a limit, such as --max-fpr 0.05, say which rule is the best that keeps it; with --confidence
    it keeps the limit on new cases, too.
    """
    table.look()
    others = given(replace(conditions, prevalence=None), statistics, gates, reports)
    if limit := limits.read(conditions.prevalence, others):
        decide_within(limit, table.load(), out)
        return
    if statistics.policy == "crossfit":
        raise Problem(
            "--policy crossfit is for compare and curve: decide says what its threshold will cost on new cases anyway"
        )
    reports.check(gates.any, table.file, out)
    asked = conditions.read()
    typed, gates = gates.baseline_threshold, gates.known(asked)
    if out.form == "csv" and len({type(where) for where in asked.cases.values()}) > 1:
        raise Problem("--csv needs scenarios of one kind, conditions or ranges: choose some with --scenario")
    data = table.load(asked)
    gates.check(data.names)
    rule = statistics.rule(data)
    with working("deciding"):
        answers = {name: answer_at(data, where, rule, statistics.level) for name, where in asked.cases.items()}
    given_all = (data, rule, asked.currency)
    verdicts = [gate for name, answer in answers.items() for gate in gates.judge(name, answer, *given_all)]
    # The file's threshold of today is a rule at a condition; of its ranges it says nothing.
    silent = [name for name, one in answers.items() if typed is None and gates.compares_no_range(one)]
    told = {name: one for name, one in answers.items() if gates.baseline is not None and name not in silent}
    against = [gates.against(name, one, *given_all) for name, one in told.items()]

    def show(screen: Console) -> None:
        heading(screen, data.summary(), statistics.note(data))
        show_answers(answers, asked, data, screen)
        if verdicts or against:
            screen.print()
        for one in against:
            line(screen, f"{safe(one['scenario'])}: {one['text']}" if one["scenario"] else one["text"])
        for name in silent:
            line(screen, f"{safe(name)}: what is saved against {safe(gates.baseline)} is answered for one condition.")
        show_gates(verdicts, screen)

    decisions: list[Any] = [{"scenario": name or None, **answer.to_dict()} for name, answer in answers.items()]
    document: types.Decide = {
        "schema": "costcurves/decide/1",
        "data": data.document(),
        "currency": asked.currency,
        "policy": statistics.policy_name,
        "calibrated_at": statistics.calibrated_at(data),
        "thresholds_from": statistics.found_on,
        "decisions": decisions,
        "against": against,
        "gates": [gate.document() for gate in verdicts],
    }
    out.emit(show, document, stacked_by(answers))
    reports.leave("decide", verdicts, out, show)


def answer_at(data: ScoreTable, where: Condition, rule: Any, level: float) -> Answer:
    """Return the recommendation at a condition or over a range."""
    if isinstance(where, cc.OperatingRange):
        return data.predictions.recommend_within(where, policy=rule, level=level)
    return data.predictions.recommend(where, policy=rule, level=level)


def show_answers(answers: dict[str, Answer], asked: Costs, data: ScoreTable, screen: Console) -> None:
    """Print every answer under its condition."""
    for name, answer in answers.items():
        screen.print(f"\n{asked.text(name)}", style="bold")
        if isinstance(answer, Recommendation):
            _show_condition(answer, asked.currency, data, screen)
        else:
            _show_range(answer, asked.currency, data, screen)


def _show_condition(answer: Recommendation, currency: str, data: ScoreTable, screen: Console) -> None:
    best, other = answer.best, answer.runner_up
    low, high = money(answer.money_lower[0], currency), money(answer.money_upper[0], currency)
    line(screen, use_text(best, data), "bold green" if answer.sure else "bold yellow")
    here = money(best.expected_cost, currency)
    if answer.lower[0] < answer.upper[0]:
        new = money(answer.money_estimate[0], currency)
        line(screen, f"It costs {here} per case on these rows; expect {new} on new ones,")
        line(screen, f"{level_text(answer.level)} interval {low} to {high}.")
    else:
        line(screen, f"It costs {here} per case, exactly.")
    if (thresholds := answer.threshold_set()) is not None:
        line(screen, thresholds.statement)
    more = answer.money_regret
    extra = f" ({percent(more / best.expected_cost)})" if best.expected_cost > 0 else ""
    line(screen, f"The runner-up, {safe(other.classifier)}, costs {money(more, currency)} more{extra} on these rows.")
    line(screen, sureness(answer.rivals, level_text(answer.level)))
    heads = (
        "",
        "score >=",
        "found",
        "false\nalarms",
        "cost\nhere",
        "cost on new rows,\n" + f"{level_text(answer.level)} interval",
        "costs\nmore?",
        "p",
    )
    grid = new_grid(*heads, numbers=(1, 2, 3, 4))
    for i, name in enumerate(answer.classifier):
        cut, trivial = answer.threshold_text[i], name in TRIVIAL
        grid.add_row(
            safe(name),
            {"inf": "never", "-inf": "always"}.get(cut, cut),
            percent(answer.tpr[i]),
            percent(answer.fpr[i]),
            padded(answer.expected_cost[i]),
            "" if trivial else f"{padded(answer.money_lower[i])} to {padded(answer.money_upper[i])}",
            "" if i == 0 else "same" if answer.same[i] else "yes" if answer.worse[i] else "not shown",
            chance(float(answer.adjusted[i])),
        )
    screen.print()
    screen.print(grid)
    line(
        screen,
        "p: the chance of data like these if this choice, at its best threshold, were as cheap as the first, "
        "adjusted for all by Hochberg's method.",
        "dim",
    )


def _show_range(answer: RangeRecommendation, currency: str, data: ScoreTable, screen: Console) -> None:
    sure, best = f"at {level_text(answer.level)}", safe(answer.best_name)
    candidates = answer.ranges.candidates
    style = "bold green" if answer.sure else "bold yellow"
    if answer.best_name in TRIVIAL:
        label = data.negative if answer.best_name == ALWAYS_NEGATIVE else data.positive
        line(screen, f"Use no classifier: call every case {safe(label)}.", style)
    else:
        cuts = {text for row in answer.steps.threshold_text for text in row}
        how = (
            f"at its threshold {min(cuts)}"
            if len(cuts) == 1
            else "with the threshold that suits the condition (last table)"
        )
        line(screen, f"Use {best}, {how}.", style)
    if candidates == (answer.best_name,):
        line(screen, "On these rows it is the best throughout.")
    else:
        each = "is" if len(candidates) == 1 else "are each"
        most = f"{best} loses up to {percent(answer.largest[0])} of the cost of getting every case wrong"
        line(screen, f"On these rows {folded(candidates)} {each} best somewhere in the range; {most}.")
    rule = use_text(answer.rule, data).removesuffix(".")
    line(screen, f"One rule for the whole range: {rule[0].lower()}{rule[1:]};")
    lost, most = money(answer.rule.money, currency), money(answer.rule.money_upper, currency)
    line(screen, f"against the best at each condition it loses up to {lost} per case on these rows,")
    line(screen, f"and at most {most} per case on new ones, {sure}.")
    if answer.beaten_by:
        line(screen, f"Beware: {folded(answer.beaten_by)} is shown to cost less in a part of the range, {sure}.")
    line(screen, sureness(answer.rivals, level_text(answer.level), " throughout"))
    grid = new_grid(
        "", "loses\nup to", "at pc", "on\naverage", f"shown to cost more\nthan {best} for pc", numbers=(1, 2, 3)
    )
    for i, name in enumerate(answer.classifier):
        where = answer.shown_worse.get(name)
        spans = "same" if where is None else ", ".join(span_text(pair) for pair in where) or "nowhere"
        losses = (number(array[i], 3) for array in (answer.largest, answer.at_pc, answer.mean))
        grid.add_row(safe(name), *losses, "" if i == 0 else spans)
    screen.print()
    screen.print(grid)
    screen.print()
    show_ranges(answer.ranges, screen, answer)


def show_ranges(ranges: Ranges, screen: Console, answer: RangeRecommendation | None = None) -> None:
    """Print who is best where, and the thresholds of the classifier that is recommended for all of it."""
    other = [] if answer is None or answer.best_name in TRIVIAL else [f"{safe(answer.best_name)}\nscore >="]
    grid = new_grid("pc", "slope", "best", "score >=", *other)
    rows = ranges.joined(MOST_STRETCHES)
    for part in rows:
        low, high = float(ranges.pc_low[part.start]), float(ranges.pc_high[part.stop - 1])
        slopes = float(ranges.slope_low[part.stop - 1]), float(ranges.slope_high[part.start])
        names = dict.fromkeys(ranges.classifier[part])
        cuts = " to ".join(dict.fromkeys(ranges.threshold_text[part.start])) if len(names) == 1 else "varies"
        row = [span_text((low, high)), span_text(slopes), " or ".join(map(safe, names)), cuts]
        if other and answer is not None:
            row.append(" to ".join(dict.fromkeys(answer.thresholds_between(low, high))))
        grid.add_row(*row)
    screen.print(grid)
    if len(rows) < len(ranges):
        screen.print(f"Short stretches are joined; --json has all {len(ranges)}.", style="dim")


@with_groups
def ranges(table: Scores, conditions: Conditions, out: Output) -> None:
    """costcurves ranges example:german_credit --positive bad

    Say who is best where, over all operating conditions or within a range, with the thresholds in use there. It is
    the best estimate; `compare` says which differences are significant.
    """
    table.look()
    asked = conditions.read(needed=False)
    data = table.load(asked)
    hull = cc.RocHull(list(data.predictions.roc_curves(points="hull").values()))
    found = {name: hull.within(where) for name, where in asked.cases.items()} or {"": hull.ranges()}

    def show(screen: Console) -> None:
        heading(screen, data.summary())
        if hull.never_best:
            screen.print(f"Never best: {folded(hull.never_best)}.")
        for name, one in found.items():
            screen.print(f"\n{asked.text(name) if asked.cases else 'All conditions'}", style="bold")
            depends = ", depending on the condition" if one.sensitive else " throughout" if len(one) > 1 else ""
            line(screen, f"{folded(one.candidates, 'or')} is best on these rows{depends}.")
            screen.print()
            show_ranges(one, screen)
        line(screen, "How sure that is, decide says of a condition or a range, and compare of all conditions.", "dim")

    document: types.RangesAnswer = {
        "schema": "costcurves/ranges/1",
        "data": data.document(),
        "currency": asked.currency,
        "never_best": list(hull.never_best),
        "ranges": [ranges_document(name, one, asked.cases.get(name)) for name, one in found.items()],
    }
    out.emit(show, document, stacked_by(found))


def ranges_document(name: str, ranges: Ranges, where: Condition | None) -> Winners:
    """Return who is best where, over all conditions or within a range, for a JSON answer."""
    pc = (0.0, 1.0) if where is None else where.pc
    return {
        "scenario": name or None,
        "pc": pc if isinstance(pc, tuple) else (pc, pc),
        "sensitive": ranges.sensitive,
        "candidates": list(ranges.candidates),
        "stretches": ranges._records(),
    }


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command(short_help="Which classifier, which threshold, what it costs, and how sure.")(decide)
    app.command(short_help="Who is best where, over all conditions or within a range.")(ranges)
