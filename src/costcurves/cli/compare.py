"""`compare`: who costs significantly less than whom, at a condition or over a range of them."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console

import costcurves as cc
import costcurves.cli._options as opt
from costcurves._base.text import safe
from costcurves.cli._gates import Gate, better_throughout, candidate_of, leave, not_worse, show_gates
from costcurves.cli._input import Predictions
from costcurves.cli._options import Condition, Costs, load, policies, policy_document, read_costs, span_text
from costcurves.cli._print import Output, Problem, chance, heading, line, listing, padded, table, working
from costcurves.decisions.compare_many import ManyDifferences, PairwiseTests
from costcurves.decisions.curve_difference import CurveDifference


def compare(
    file: opt.File,
    label: opt.Label = None,
    positive: opt.Positive = None,
    score: opt.Score = None,
    weight: opt.Weight = None,
    drop_missing: opt.DropMissing = False,
    prevalence: opt.Prevalence = None,
    cost_fn: opt.CostFn = None,
    cost_fp: opt.CostFp = None,
    pc: opt.Pc = None,
    costs: opt.CostsFile = None,
    scenario: opt.ScenarioName = None,
    level: opt.Level = 0.95,
    policy: opt.PolicyName = "optimal",
    thresholds_from: opt.ThresholdsFrom = None,
    candidate: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Who is judged by the gates; by default the only one that is not the baseline.",
            rich_help_panel=opt.GATES,
        ),
    ] = None,
    assert_not_worse_than: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Fail if the candidate costs significantly more than NAME anywhere in the range. With few rows "
            "that is easy: add --margin.",
            rich_help_panel=opt.GATES,
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            metavar="M",
            help="Make --assert-not-worse-than a proof: fail unless the upper limit of the candidate's excess cost is "
            "at most this share of the cost of always being wrong, everywhere in the range.",
            callback=opt.finite("--margin"),
            rich_help_panel=opt.GATES,
        ),
    ] = None,
    assert_better_than: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Fail unless the candidate costs significantly less than NAME everywhere in the range.",
            rich_help_panel=opt.GATES,
        ),
    ] = None,
    json: opt.Json = False,
    csv: opt.Csv = False,
    output: opt.OutputFile = None,
    force: opt.Force = False,
) -> None:
    """costcurves compare example:german_credit --positive bad --score forest --score tree --pc 0.2..0.8

    Say for which operating conditions one classifier costs significantly less than another, on the same rows. The
    limits hold for all pairs and all conditions in the range jointly. Without a range all conditions count.
    """
    out = Output(json, csv, output, force)
    out.check()
    asked = read_costs(prevalence, cost_fn, cost_fp, pc, costs, scenario, needed=False)
    if len(asked.cases) > 1:
        raise Problem(f"choose one scenario with --scenario: {', '.join(safe(name) for name in asked.cases)}")
    where = next(iter(asked.cases.values()), None)
    data = load(
        file, label=label, positive=positive, score=score, weight=weight, drop_missing=drop_missing, costs=asked
    )
    if len(data.scores) < 2:
        raise Problem("two classifiers or more are needed to compare: repeat --score")
    if margin is not None and assert_not_worse_than is None:
        raise Problem("--margin goes with --assert-not-worse-than")
    if candidate is not None and assert_not_worse_than is None and assert_better_than is None:
        raise Problem("--candidate goes with --assert-not-worse-than or --assert-better-than")
    if assert_better_than is not None and where is None:
        raise Problem(
            "--assert-better-than needs a condition or a range (--prevalence and costs, --costs or --pc): "
            "where errors of one kind are free nobody is better"
        )
    baselines = [name for name in (assert_not_worse_than, assert_better_than) if name is not None]
    judged = {name: candidate_of(candidate, name, data.names) for name in baselines}
    with working("comparing"):
        pairs = _pairs(data, where, policies(policy, thresholds_from, data), level)
    gates: list[Gate] = []
    if assert_not_worse_than is not None:
        gates.append(not_worse(_pair(pairs, judged[assert_not_worse_than], assert_not_worse_than), margin))
    if assert_better_than is not None:
        gates.append(better_throughout(_pair(pairs, judged[assert_better_than], assert_better_than)))
    here = where if isinstance(where, cc.OperatingCondition) else None
    tests = None if here is None else ManyDifferences(data.names, tuple(pairs), level).at(here)

    def show(screen: Console) -> None:
        heading(screen, data.summary())
        text = asked.text(next(iter(asked.cases))) if asked.cases else "All conditions, pc 0 to 1"
        screen.print(f"\n{text}", style="bold")
        if here is None or tests is None:
            _show(pairs, level, screen)
        else:
            _show_here(pairs, tests, here, asked, screen)
        show_gates(gates, screen)

    document = {
        "schema": "costcurves/compare/1",
        "data": data.document(),
        **asked.document(),
        **policy_document(policy, thresholds_from),
        "level": level,
        "scenario": next(iter(asked.cases), "") or None,
        "pc": [float(pairs[0].pc[0]), float(pairs[0].pc[-1])],
        "pairs": [_document(one, tests, i) for i, one in enumerate(pairs)],
        "gates": [gate.document() for gate in gates],
    }
    out.emit(show, document, _rows(pairs))
    leave(gates, out)


def _pairs(data: Predictions, where: Condition | None, rule: Any, level: float) -> list[CurveDifference]:
    """Return all pairs with limits that hold over all of them and all points."""
    options = {"sample_weight": data.weight, "policy": rule, "level": level}
    return list(cc.compare_many(data.y_true, data.scores, pc=where, **options).pairs)


def _pair(pairs: list[CurveDifference], candidate: str, baseline: str) -> CurveDifference:
    """Return the candidate minus the baseline."""
    one = next(one for one in pairs if set(one.names) == {candidate, baseline})
    return one if one.names[0] == candidate else one.reversed()


def _show(pairs: list[CurveDifference], level: float, screen: Console) -> None:
    """Print for which conditions one of each pair costs significantly less."""
    for one in pairs:
        verdicts = one.significant()
        text = " and ".join(
            f"{safe(name)} costs significantly less for pc {', '.join(map(span_text, verdicts.where(name)))}"
            for name in one.names
            if len(verdicts.where(name))
        )
        line(screen, f"{listing(one.names, 'against')}: {text or 'neither is shown to cost less anywhere'}.")
    line(screen, f"At {100 * level:g} %, jointly for all pairs and all conditions in the range.", "dim")


def _show_here(
    pairs: list[CurveDifference],
    tests: PairwiseTests,
    where: cc.OperatingCondition,
    asked: Costs,
    screen: Console,
) -> None:
    """Print the differences at one condition, in money."""
    level = tests.level
    sure = tests.significant().tolist()
    for one, differs in zip(pairs, sure, strict=True):
        if differs:
            a, b = one.names if one.at(where).estimate < 0 else one.names[::-1]
            line(screen, f"{safe(a)} costs significantly less than {safe(b)}.", "green")
    if not any(sure):
        line(screen, "Neither is shown to cost less." if len(pairs) == 1 else "No pair is shown to differ.", "yellow")
    elif not all(sure):
        line(screen, "The other pairs are not shown to differ.", "yellow")
    unit = f" ({safe(asked.currency)})" if asked.currency else ""
    grid = table("a", "b", f"a - b per case{unit}", f"{100 * level:g} % interval", "p", numbers=(2,))
    for i, one in enumerate(pairs):
        amount = one.at(where).money
        assert amount is not None
        limits = f"{padded(amount.lower)} to {padded(amount.upper)}"
        p = chance(float(tests.adjusted[i]))
        grid.add_row(safe(one.names[0]), safe(one.names[1]), padded(amount.estimate), limits, p)
    screen.print()
    screen.print(grid)
    note = "Intervals hold jointly; p-values are adjusted by Holm's method, which may show more than the intervals."
    screen.print(note, style="dim")


def _document(one: CurveDifference, tests: PairwiseTests | None, i: int) -> dict[str, Any]:
    columns = one.significant()._columns()
    return {
        "a": one.names[0],
        "b": one.names[1],
        "verdicts": [dict(zip(columns, row, strict=True)) for row in zip(*map(list, columns.values()), strict=True)],
        "p_value": None if tests is None else float(tests.p_value[i]),
        "adjusted": None if tests is None else float(tests.adjusted[i]),
        "difference": {"pc": one.pc, "estimate": one.estimate, "lower": one.lower, "upper": one.upper},
    }


def _rows(pairs: list[CurveDifference]) -> dict[str, list[Any]]:
    rows: dict[str, list[Any]] = {}
    for one in pairs:
        for key, values in one._columns().items():
            rows.setdefault(key, []).extend(list(values))
    return rows


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(short_help="Who costs significantly less than whom, and for which conditions.")(compare)
