"""`report` and `demo`: predictions in, a page out."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

import costcurves as cc
import costcurves.cli._options as opt
from costcurves.cli._input import Predictions
from costcurves.cli._options import Condition, Costs, load, read_costs
from costcurves.cli._print import Problem, check_writable, console, safe, working
from costcurves.cli.decide import answer_at, show_answers

Title = Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the page.", rich_help_panel=opt.OUT)]
Page = Annotated[
    Path, typer.Option("--output", "-o", metavar="HTML", help="The page to write.", rich_help_panel=opt.OUT)
]


def make_report(
    data: Predictions,
    scenarios: Mapping[str, Condition],
    *,
    currency: str,
    level: float,
    title: str | None,
    command: str,
) -> Any:
    """Return the report of some predictions: the one place that knows how it is made."""
    try:
        module = importlib.import_module("costcurves.report")
    except ModuleNotFoundError as error:
        raise cc.MissingExtraError(f'the report needs {error.name}: pip install "costcurves[report]"') from None
    return module.Report.from_predictions(
        data.y_true,
        data.scores,
        scenarios=dict(scenarios),
        currency=currency,
        level=level,
        title=title,
        source={
            "file": data.source,
            "command": command,
            "label": data.label,
            "positive": data.positive,
            "dropped": data.dropped,
        },
    )


def report(
    file: opt.File,
    label: opt.Label = None,
    positive: opt.Positive = None,
    score: opt.Score = None,
    drop_missing: opt.DropMissing = False,
    prevalence: opt.Prevalence = None,
    cost_fn: opt.CostFn = None,
    cost_fp: opt.CostFp = None,
    pc: opt.Pc = None,
    costs: opt.CostsFile = None,
    scenario: opt.ScenarioName = None,
    level: opt.Level = 0.95,
    title: Title = None,
    output: Page = Path("report.html"),
    force: opt.Force = False,
) -> None:
    """costcurves report example:german_credit --costs example:german_credit -o report.html

    Write one page with the answer for each scenario, the curves with sliders for prevalence and costs, and all
    comparisons. It needs no network and can be sent by mail.
    """
    _check_page(output, force)
    asked = read_costs(prevalence, cost_fn, cost_fp, pc, costs, scenario, needed=False)
    data = load(file, label=label, positive=positive, score=score, weight=None, drop_missing=drop_missing, costs=asked)
    write_report(data, asked, level=level, title=title, output=output, force=force, command=f"costcurves report {file}")


def _check_page(output: Path, force: bool) -> None:
    if output.suffix.lower() not in (".html", ".htm"):
        raise Problem(f"--output must end in .html, got {safe(output.name)}")
    check_writable(output, force)


def write_report(
    data: Predictions, asked: Costs, *, level: float, title: str | None, output: Path, force: bool, command: str
) -> None:
    """Write the page and say where it is."""
    scenarios = {name or "asked": where for name, where in asked.cases.items()}
    with working("writing the report"):
        page = make_report(data, scenarios, currency=asked.currency, level=level, title=title, command=command)
        page.write_html(output, force=force)
    screen = console()
    screen.print(data.summary(), soft_wrap=True)
    screen.print(f"The page is {safe(output.resolve())}", soft_wrap=True)


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the page goes.", rich_help_panel=opt.OUT)
    ] = Path("costcurves-demo"),
) -> None:
    """costcurves demo

    Run the main job on the shipped example: four classifiers of 1000 applicants for credit, and what a wrong decision
    costs. Print the answer, write the page, and say where it is.
    """
    if output.exists() and not output.is_dir():
        raise Problem(f"{safe(output)} is a file: name a folder")
    example = Path("example:german_credit")
    asked = read_costs(None, None, None, None, example, None)
    data = load(example, label=None, positive=None, score=None, weight=None, drop_missing=False, costs=asked)
    with working("deciding"):
        answers = {name: answer_at(data, where, "optimal", 0.95) for name, where in asked.cases.items()}
    screen = console()
    show_answers(answers, asked, data, screen)
    screen.print()
    output.mkdir(parents=True, exist_ok=True)
    write_report(
        data,
        asked,
        level=0.95,
        title="German credit",
        output=output / "report.html",
        force=True,
        command="costcurves report example:german_credit --costs example:german_credit",
    )


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command(short_help="Write a page with the answer, the curves and all comparisons.")(report)
    app.command(short_help="Run the main job on the shipped example.")(demo)
