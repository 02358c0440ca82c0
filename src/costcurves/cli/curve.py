"""`curve`: what each classifier costs at every operating condition, as a table or a picture."""

from __future__ import annotations

import typer
from rich.console import Console

import costcurves as cc
import costcurves.cli._answers as types
from costcurves._base.text import safe
from costcurves.cli._groups import with_groups
from costcurves.cli._options import Conditions, Scores, Statistics, span_text
from costcurves.cli._picture import save_curves
from costcurves.cli._print import Output, heading, new_grid, padded, say, stacked, working

SHOWN = (0.1, 0.3, 0.5, 0.7, 0.9)


@with_groups
def curve(table: Scores, conditions: Conditions, statistics: Statistics, out: Output) -> None:
    """costcurves curve example:german_credit --costs example:german_credit -o cost.svg

    Draw the cost curves with their bands and mark the scenarios (svg, png or pdf), or print what they cost at some
    conditions. --csv and --json have every step of every curve.
    """
    asked = conditions.read(needed=False)
    data = table.load(asked)
    rule = statistics.rule(data)
    curves: list[cc.CostCurve] = [
        data.predictions.curve(name, policy=rule[name] if isinstance(rule, dict) else rule) for name in data.names
    ]
    if out.output is not None and out.form == "text":
        with working("drawing"):
            bands = [one.band(level=statistics.level) for one in curves]
            save_curves(curves, bands, asked.cases, out.output)
        say(f"wrote {out.output}")
        return

    def show(screen: Console) -> None:
        heading(screen, data.summary(), statistics.note(data))
        screen.print("\nExpected cost, as a share of the cost of getting every case wrong", style="bold")
        grid = new_grid("", *(f"pc {point:g}" for point in SHOWN), "area", "worth using for pc", numbers=range(1, 7))
        for one in curves:
            where = ", ".join(span_text(pair) for pair in one.operating_range()) or "nowhere"
            grid.add_row(safe(one.name), *(padded(one.evaluate(x)) for x in SHOWN), padded(one.area()), where)
        screen.print()
        screen.print(grid)

    document: types.CurveAnswer = {
        "schema": "costcurves/curve/1",
        "data": data.document(),
        "policy": statistics.policy_name,
        "calibrated_at": statistics.calibrated_at(data),
        "thresholds_from": statistics.found_on,
        "curves": [_document(one) for one in curves],
    }
    out.emit(show, document, stacked(one._columns() for one in curves))


def _document(curve: cc.CostCurve) -> types.Curve:
    return {
        "classifier": curve.name,
        "area": curve.area(),
        "operating_range": [(float(low), float(high)) for low, high in curve.operating_range()],
        "vertices": {"pc": curve.vertices[:, 0].tolist(), "cost": curve.vertices[:, 1].tolist()},
        "steps": curve.to_dict()["steps"],
    }


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(short_help="What each classifier costs at every condition: a picture or a table.")(curve)
