"""`report` and `demo`: predictions in, a page out."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import costcurves as cc
import costcurves.cli._options as opt
from costcurves._base.files import is_stream
from costcurves._base.text import acts, safe
from costcurves.cli._input import ClassPredictions, Predictions
from costcurves.cli._options import Costs, load, policies, read_costs
from costcurves.cli._print import Problem, check_writable, console, heading, say, working
from costcurves.cli.classes import load_classes
from costcurves.cli.decide import answer_at, show_answers

Title = Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the page.", rich_help_panel=opt.OUT)]
Page = Annotated[
    Path,
    typer.Option(
        "--output", "-o", metavar="HTML", help="The page to write; - is standard output.", rich_help_panel=opt.OUT
    ),
]
# What a condition that came as options is called on the page.
UNNAMED = "as asked"
LEVEL = 0.95


def report(
    file: opt.File,
    label: opt.Label = None,
    positive: opt.Positive = None,
    score: opt.Score = None,
    pred: opt.Pred = None,
    weight: opt.Weight = None,
    drop_missing: opt.DropMissing = False,
    prevalence: opt.Prevalence = None,
    cost_fn: opt.CostFn = None,
    cost_fp: opt.CostFp = None,
    pc: opt.Pc = None,
    costs: opt.CostsFile = None,
    scenario: opt.ScenarioName = None,
    matrix: opt.MatrixName = None,
    level: opt.Level = LEVEL,
    thresholds_from: opt.ThresholdsFrom = None,
    title: Title = None,
    output: Page = Path("report.html"),
    force: opt.Force = False,
) -> None:
    """costcurves report example:german_credit --costs example:german_credit -o report.html

    Write one page with the answer for each scenario, the curves with sliders for prevalence and costs, and all
    comparisons. It needs no network and can be sent by mail. With --pred it is about predicted classes, of which there
    may be more than two, and needs a cost matrix.
    """
    _check_page(output, force)
    options: dict[str, Any] = {"level": level, "title": title}
    how: dict[str, Any] = {"--level": None if level == LEVEL else level, "--title": title}
    # A matrix is all that a csv can hold; a file of scenarios is TOML.
    if pred or matrix is not None or (costs is not None and costs.suffix.lower() == ".csv"):
        given: dict[str, Any] = {
            "--score": score,
            "--positive": positive,
            "--prevalence": prevalence,
            "--cost-fn": cost_fn,
        }
        given |= {"--cost-fp": cost_fp, "--pc": pc, "--scenario": scenario, "--weight": weight}
        given["--thresholds-from"] = thresholds_from
        if strange := [name for name, value in given.items() if value]:
            raise Problem(f"{strange[0]} is about scores of two classes, and --pred about predicted classes")
        if costs is None:
            raise Problem("--pred needs a cost matrix: --costs")
        classes, prices, currency = load_classes(file, label, pred, drop_missing, costs, matrix)
        columns = {"--label": classes.label, "--pred": list(classes.predictions), "--drop-missing": drop_missing}
        command = command_line(file, columns | {"--costs": costs, "--matrix": matrix} | how)
        page = _made(
            "from_class_predictions",
            classes,
            command,
            classes.y_true,
            classes.predictions,
            prices,
            currency=currency,
            **options,
        )
        _write(page, output, force, classes.summary())
        return
    asked = read_costs(prevalence, cost_fn, cost_fp, pc, costs, scenario, needed=False)
    data = load(
        file, label=label, positive=positive, score=score, weight=weight, drop_missing=drop_missing, costs=asked
    )
    columns = {"--label": data.label, "--positive": data.positive, "--score": list(data.scores)}
    columns |= {"--weight": weight, "--drop-missing": drop_missing}
    if thresholds_from is not None:
        options["policy"], how["--thresholds-from"] = policies("optimal", thresholds_from, data), thresholds_from
    numbers = {"--prevalence": prevalence, "--cost-fn": cost_fn, "--cost-fp": cost_fp, "--pc": pc}
    command = command_line(file, columns | numbers | {"--costs": costs, "--scenario": scenario} | how)
    _write(two_class_page(data, asked, command, **options), output, force, data.summary())


def two_class_page(data: Predictions, asked: Costs, command: str, **options: Any) -> Any:
    """Return the page about scores of two classes."""
    labels = np.where(data.y_true, data.positive, data.negative)
    options |= {
        "pos_label": data.positive,
        "sample_weight": data.weight,
        "scenarios": {name or UNNAMED: where for name, where in asked.cases.items()},
        "currency": asked.currency,
    }
    return _made("from_predictions", data, command, labels, data.scores, **options)


def _made(door: str, data: Predictions | ClassPredictions, command: str, *columns: Any, **options: Any) -> Any:
    """Return a report through one of its doors: the one place that knows how it is made."""
    make = getattr(cc.Report, door)
    # No sign of work here: the report shows its own progress.
    return make(*columns, source=data.source, command=command, dropped=data.dropped, **options)


def command_line(file: Path, options: dict[str, Any]) -> str:
    """Return the command that makes the page again, guesses spelled out, for a shell in the folder of the files."""
    words = ["costcurves", "report", _path_text(file)]
    for option, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            if one is True:
                words.append(option)
            elif one is not None and one is not False:
                text = _path_text(one) if isinstance(one, Path) else str(one)
                # A value that looks like an option must be tied to its own.
                words += [f"{option}={text}"] if text.startswith("-") else [option, text]
    return " ".join(map(_quoted, words))


def _path_text(path: Path) -> str:
    """Return a path as it was given, but never where in the file system it is: that is nobody's business."""
    if path.is_absolute():
        here = Path.cwd()
        path = path.relative_to(here) if path.is_relative_to(here) else Path(path.name)
    text = str(path)
    return f"./{text}" if text.startswith("-") else text


def _quoted(word: str) -> str:
    """Return a word for a shell, in which characters that do something to the text around them are written out."""
    if not any(map(acts, word)):
        return shlex.quote(word)
    kept = word.replace("\\", "\\\\").replace("'", "\\'")
    return "$'" + "".join(f"\\u{ord(letter):04x}" if acts(letter) else letter for letter in kept) + "'"


def _check_page(output: Path, force: bool) -> None:
    """Refuse an impossible page before anything is computed."""
    if opt.means_standard_output(output) or is_stream(output):
        return
    if output.suffix.lower() not in (".html", ".htm"):
        raise Problem(f"--output must end in .html, got {safe(output.name)}")
    check_writable(output, force)


def _write(page: Any, output: Path, force: bool, *notes: str) -> None:
    """Write the page and say where it is."""
    if opt.means_standard_output(output):
        sys.stdout.write(page.html())
        say(*notes)
        return
    with working("writing the page"):
        page.write_html(output, force=force)
    screen = console()
    for note in (*notes, f"The page is {safe(output.resolve())}"):
        screen.print(note, soft_wrap=True)


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the page goes.", rich_help_panel=opt.OUT)
    ] = Path("costcurves-demo"),
    force: opt.Force = False,
) -> None:
    """costcurves demo

    Run the main job on the shipped example: four classifiers of 1000 applicants for credit, and what a wrong decision
    costs. Print the answer, write the page, and say where it is.
    """
    if output.exists() and not output.is_dir():
        raise Problem(f"{safe(output)} is a file: name a folder")
    target = output / "report.html"
    if output.exists():
        check_writable(target, force)
    example = Path("example:german_credit")
    asked = read_costs(None, None, None, None, example, None)
    data = load(example, label=None, positive=None, score=None, weight=None, drop_missing=False, costs=asked)
    with working("deciding"):
        answers = {name: answer_at(data, where, "optimal", LEVEL) for name, where in asked.cases.items()}
    screen = console()
    heading(screen, data.summary())
    show_answers(answers, asked, data, screen)
    screen.print()
    output.mkdir(parents=True, exist_ok=True)
    title = "German credit"
    command = command_line(example, {"--costs": example, "--title": title})
    _write(two_class_page(data, asked, command, level=LEVEL, title=title), target, force)


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command(short_help="Write a page with the answer, the curves and all comparisons.")(report)
    app.command(short_help="Run the main job on the shipped example.")(demo)
