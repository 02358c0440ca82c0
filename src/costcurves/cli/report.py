"""`report` and `demo`: predictions in, a page out."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

import costcurves as cc
from costcurves._base.files import is_stream, write_atomically
from costcurves._base.text import safe
from costcurves._base.validation import DEFAULT_LEVEL
from costcurves.cli._groups import COSTS, DATA, OUT, given, option, with_groups
from costcurves.cli._input import ClassTable, ScoreTable
from costcurves.cli._options import (
    Conditions,
    Costs,
    Level,
    MatrixName,
    Pred,
    Scores,
    Statistics,
    ThresholdsFrom,
    as_options,
    other_table,
)
from costcurves.cli._print import (
    Force,
    Problem,
    check_writable,
    console,
    heading,
    means_standard_output,
    option_words,
    quoted,
    say,
    shell_word,
    working,
)
from costcurves.cli._tables import STANDARD_INPUT, existing, kept_file, resolve
from costcurves.cli.classes import Classes
from costcurves.cli.decide import answer_at, show_answers
from costcurves.conditions.scenarios import in_use

# What a condition that came as options is called on the page.
UNNAMED = "as asked"
# The page that is written unless --output names another.
PAGE = Path("report.html")


@with_groups
def report(
    table: Scores,
    pred: Pred = None,
    *,
    conditions: Conditions,
    matrix: MatrixName = None,
    level: Level = DEFAULT_LEVEL,
    thresholds_from: ThresholdsFrom = None,
    baseline: Annotated[
        str | None,
        option(COSTS, "NAME", "What is in use today: a classifier's column, 'always negative' or 'always positive'."),
    ] = None,
    baseline_threshold: Annotated[
        float | None, option(COSTS, "SCORE", "The threshold of the baseline today.", show_default=False)
    ] = None,
    cases_per_year: Annotated[
        float | None,
        option(COSTS, "NUMBER", "Number of cases per year, to tell costs and savings per year.", show_default=False),
    ] = None,
    slice_: Annotated[
        str | None, option(DATA, "COLUMN", "Give the answer for each value of this column, too.", "--slice")
    ] = None,
    reference: Annotated[
        Path | None,
        option(DATA, "FILE", "An earlier table with the same columns: say whether FILE agrees with what it promises."),
    ] = None,
    title: Annotated[str | None, option(OUT, "TEXT", "Title of the page.")] = None,
    output: Annotated[
        Path,
        option(OUT, "FILE", "The page to write (.html), or its JSON (.json); - is standard output.", "--output", "-o"),
    ] = PAGE,
    json_: Annotated[bool, option(OUT, "", "Write the JSON instead of the page, also to -o -.", "--json")] = False,
    force: Force = False,
) -> None:
    """costcurves report example:german_credit --costs example:german_credit -o report.html

    Write one page with the answer for each scenario, the curves with sliders for prevalence and costs, and all
    comparisons. It needs no network and can be sent by mail. With --pred it is about predicted classes, of which there
    may be more than two, and needs a cost matrix. If FILE is the JSON of a report (-o report.json, or the button
    report.json of a page), the same page is made from it without the rows.
    """
    options: dict[str, Any] = {"level": level, "title": title}
    how: dict[str, Any] = {"--level": None if level == DEFAULT_LEVEL else level, "--title": title}
    today = {"baseline": baseline, "baseline_threshold": baseline_threshold, "cases_per_year": cases_per_year}
    of_two: dict[str, Any] = {f"--{name.replace('_', '-')}": value for name, value in today.items()}
    of_two |= {"--slice": slice_, "--reference": reference}
    of_two = {name: value for name, value in of_two.items() if value is not None}
    if json_ and output == PAGE:
        output = PAGE.with_suffix(".json")
    json_ = json_ or output.suffix.lower() == ".json"
    _check_page(output, force)
    if _is_report(table.file):
        more = {"--pred": pred, "--matrix": matrix, "--thresholds-from": thresholds_from}
        asked_for = given(table, conditions) | of_two | how | more
        if unused := [name for name, value in asked_for.items() if value is not None]:
            raise Problem(f"{unused[0]} needs rows, and {safe(table.file.name)} is a report, whose answers are known")
        with kept_file(table.file) as file:
            page = cc.Report.from_json(file)
        _write(page, output, force, json_)
        return
    # A matrix is all that a csv can hold; a file of scenarios is TOML.
    costs = conditions.costs
    if pred or matrix is not None or _is_matrix(table, conditions):
        strange = given(replace(table, label=None, drop_missing=False, strict=False), replace(conditions, costs=None))
        strange |= {name: value for name, value in of_two.items() if name not in ("--baseline", "--cases-per-year")}
        if thresholds_from is not None:
            strange["--thresholds-from"] = thresholds_from
        if strange:
            raise Problem(f"{next(iter(strange))} is about scores of two classes, and --pred about predicted classes")
        if costs is None:
            raise Problem("--pred needs a cost matrix: --costs")
        classes, prices, known = Classes(
            table.file, costs, matrix, table.label, pred, table.drop_missing, table.strict
        ).load()
        columns = {"--label": classes.label, "--pred": list(classes.predictions), "--drop-missing": table.drop_missing}
        command = command_line(table.file, columns | {"--costs": costs, "--matrix": matrix} | of_two | how)
        options |= {"baseline": known.baseline if baseline is None else baseline, "currency": known.currency}
        options["cases_per_year"] = known.cases_per_year if cases_per_year is None else cases_per_year
        rows = (classes.y_true, classes.predictions, prices)
        try:
            page = _made("from_class_predictions", classes, command, *rows, **options)
        except cc.InputError as error:
            raise Problem(as_options(error)) from None
        _write(page, output, force, json_, classes.summary())
        return
    asked = conditions.read(needed=False)
    data = table.load(asked)
    columns = {"--label": data.label, "--positive": data.positive, "--score": list(data.names)}
    columns |= {"--weight": data.weight, "--drop-missing": table.drop_missing}
    if thresholds_from is not None:
        options["policy"] = Statistics(thresholds_from=thresholds_from).rule(data)
        how["--thresholds-from"] = thresholds_from
    if slice_ is not None:
        if slice_ not in data.rest.column_names:
            raise Problem(f"--slice {quoted(slice_)}: {safe(data.source)} has no such column beside labels and scores")
        options["slices"] = data.rest.column(slice_).to_pylist()
    if reference is not None:
        options["reference"] = other_table(reference, data).predictions
    command = command_line(table.file, columns | given(conditions) | of_two | how)
    baseline, baseline_threshold = in_use(asked, baseline, baseline_threshold)
    options |= {"baseline": baseline, "baseline_threshold": baseline_threshold}
    options["cases_per_year"] = asked.cases_per_year if cases_per_year is None else cases_per_year
    try:
        page = two_class_page(data, asked, command, **options)
    except cc.InputError as error:
        raise Problem(as_options(error)) from None
    _write(page, output, force, json_, data.summary())


def two_class_page(data: ScoreTable, asked: Costs, command: str, **options: Any) -> Any:
    """Return the page about scores of two classes."""
    options |= {
        "scenarios": {name or UNNAMED: where for name, where in asked.cases.items()},
        "currency": asked.currency,
    }
    return _made("from_predictions", data, command, data.predictions, **options)


def _is_report(file: Path) -> bool:
    """Whether a file is a JSON document of costcurves, such as a report, and not a table."""
    if str(file) == STANDARD_INPUT:
        peek = getattr(sys.stdin.buffer, "peek", None)
        start = b"" if peek is None else peek(200)
    elif file.suffix.lower() != ".json" or not file.is_file():
        return False
    else:
        with file.open("rb") as stream:
            start = stream.read(200)
    return re.match(rb'\s*\{\s*"(format|schema)"\s*:\s*"costcurves/', start) is not None


def _is_matrix(table: Scores, conditions: Conditions) -> bool:
    """Whether the costs are those of k classes: a csv, or a file of scenarios that has none but a matrix."""
    costs = conditions.costs
    if costs is None or table.score:
        return False
    if costs.suffix.lower() == ".csv":
        return True
    known = cc.read_scenarios(existing(resolve(costs, ".toml")))
    return bool(known.matrices) and not known.scenarios and not given(replace(conditions, costs=None))


def _made(door: str, data: ScoreTable | ClassTable, command: str, *columns: Any, **options: Any) -> Any:
    """Return a report made by one of its constructors."""
    make = getattr(cc.Report, door)
    # The report shows its own progress.
    return make(*columns, source=data.source, command=command, dropped=data.dropped, **options)


def command_line(file: Path, options: dict[str, Any]) -> str:
    """Return the command that makes the page again from the folder of the files, with all guesses spelled out."""
    words = ["costcurves", "report", _path_text(file)]
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            if one is True:
                words.append(name)
            elif one is not None and one is not False:
                words += option_words(name, _path_text(one) if isinstance(one, Path) else str(one))
    return " ".join(map(shell_word, words))


def _path_text(path: Path) -> str:
    """Return a path as it was given, but without the folders of an absolute path, which are private."""
    if path.is_absolute():
        here = Path.cwd()
        path = path.relative_to(here) if path.is_relative_to(here) else Path(path.name)
    text = str(path)
    return f"./{text}" if text.startswith("-") else text


def _check_page(output: Path, force: bool) -> None:
    """Refuse an impossible page before anything is computed."""
    if means_standard_output(output) or is_stream(output):
        return
    if output.suffix.lower() not in (".html", ".htm", ".json"):
        raise Problem(f"--output must end in .html or .json, got {safe(output.name)}")
    check_writable(output, force)


def _write(page: Any, output: Path, force: bool, json_: bool, *notes: str) -> None:
    """Write the page, or its JSON, and say where it is."""
    if means_standard_output(output):
        sys.stdout.write(page.json() if json_ else page.html())
        say(*notes)
        return
    form = "report" if json_ else "page"
    with working(f"writing the {form}"):
        if json_:
            write_atomically(output, page.json(), replace=force)
        else:
            page.write_html(output, force=force)
    screen = console()
    for note in (*notes, f"The {form} is {safe(output.resolve())}"):
        screen.print(note, soft_wrap=True)


def demo(
    output: Annotated[Path, option(OUT, "FOLDER", "Where the page goes.", "--output", "-o")] = Path("costcurves-demo"),
    force: Force = False,
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
    asked = Conditions(costs=example).read()
    data = Scores(example).load(asked)
    with working("deciding"):
        answers = {name: answer_at(data, where, "optimal", DEFAULT_LEVEL) for name, where in asked.cases.items()}
    screen = console()
    heading(screen, data.summary())
    show_answers(answers, asked, data, screen)
    screen.print()
    output.mkdir(parents=True, exist_ok=True)
    title = "German credit"
    command = command_line(example, {"--costs": example, "--title": title})
    _write(two_class_page(data, asked, command, level=DEFAULT_LEVEL, title=title), target, force, False)


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command(short_help="Write a page with the answer, the curves and all comparisons.")(report)
    app.command(short_help="Run the main job on the shipped example.")(demo)
