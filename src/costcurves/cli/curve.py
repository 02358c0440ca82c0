"""`curve`: what each classifier costs at every operating condition, as a table or a picture."""

from __future__ import annotations

from typing import Any

import typer
from rich.console import Console

import costcurves as cc
import costcurves.cli._options as opt
from costcurves._base.text import safe
from costcurves.cli._options import load, policies, policy_document, read_costs, span_text
from costcurves.cli._picture import save_curves
from costcurves.cli._print import Output, heading, padded, say, table, working

SHOWN = (0.1, 0.3, 0.5, 0.7, 0.9)


def curve(
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
    json: opt.Json = False,
    csv: opt.Csv = False,
    output: opt.OutputFile = None,
    force: opt.Force = False,
) -> None:
    """costcurves curve example:german_credit --costs example:german_credit -o cost.svg

    Draw the cost curves with their bands and mark the scenarios (svg, png or pdf), or print what they cost at some
    conditions. --csv and --json have every step of every curve.
    """
    out = Output(json, csv, output, force)
    out.check()
    asked = read_costs(prevalence, cost_fn, cost_fp, pc, costs, scenario, needed=False)
    data = load(
        file, label=label, positive=positive, score=score, weight=weight, drop_missing=drop_missing, costs=asked
    )
    rule = policies(policy, thresholds_from, data)
    curves = [
        cc.CostCurve.from_predictions(
            data.y_true,
            values,
            sample_weight=data.weight,
            name=name,
            policy=rule[name] if isinstance(rule, dict) else rule,
        )
        for name, values in data.scores.items()
    ]
    if output is not None and out.form == "text":
        with working("drawing"):
            bands = [one.band(level=level) for one in curves]
            save_curves(curves, bands, asked.cases, output)
        say(f"wrote {output}")
        return

    def show(screen: Console) -> None:
        heading(screen, data.summary())
        screen.print("\nExpected cost, as a share of the cost of always being wrong", style="bold")
        grid = table("", *(f"pc {point:g}" for point in SHOWN), "area", "worth using for pc", numbers=range(1, 7))
        for one in curves:
            where = ", ".join(span_text(pair) for pair in one.operating_range()) or "nowhere"
            grid.add_row(safe(one.name), *(padded(one.evaluate(x)) for x in SHOWN), padded(one.area()), where)
        screen.print()
        screen.print(grid)

    rows: dict[str, list[Any]] = {}
    for one in curves:
        for key, values in one._columns().items():
            rows.setdefault(key, []).extend(list(values))
    document = {
        "schema": "costcurves/curve/1",
        "data": data.document(),
        **policy_document(policy, thresholds_from),
        "curves": [
            {
                "classifier": one.name,
                "area": one.area(),
                "operating_range": [list(pair) for pair in one.operating_range()],
                "vertices": {"pc": one.vertices[:, 0], "cost": one.vertices[:, 1]},
                "steps": one.to_dict()["steps"],
            }
            for one in curves
        ],
    }
    out.emit(show, document, rows)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(short_help="What each classifier costs at every condition: a picture or a table.")(curve)
