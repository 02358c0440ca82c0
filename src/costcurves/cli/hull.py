"""`hull add` and `hull show`: a file that gathers classifiers over time and keeps only what can be of use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

import costcurves as cc
import costcurves.cli._answers as types
from costcurves._base.files import is_stream, update_file
from costcurves._base.text import safe
from costcurves.cli._groups import DATA, option, with_groups
from costcurves.cli._options import Conditions, Costs, Scores
from costcurves.cli._print import (
    Json,
    Output,
    Problem,
    check_writable,
    heading,
    line,
    listing,
    money,
    percent,
    quoted,
    records,
    say,
)
from costcurves.cli._tables import existing
from costcurves.cli.decide import ranges_document, show_ranges
from costcurves.curves.choices import Decision

group = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
HullFile = Annotated[
    Path, typer.Argument(metavar="HULL", help="The hull's file, such as hull.json.", show_default=False)
]


@group.callback()
def about() -> None:
    """costcurves hull add hull.json example:german_credit --positive bad

    Keep the ROC convex hull of all classifiers seen so far in a file, and ask it who is best.
    """


@group.command("add", short_help="Add classifiers to a hull's file, which is made if it is not there.")
@with_groups
def add(
    hull_file: HullFile,
    table: Scores,
    tag: Annotated[
        str | None,
        option(DATA, "TEXT", "Put this behind the names, as in 'forest (2026-11)': names in a hull must differ."),
    ] = None,
    json: Json = False,
) -> None:
    """costcurves hull add hull.json example:german_credit --positive bad

    Add the classifiers of a table. The file keeps the thresholds that can be best, or the runner-up of the best, at
    some condition, and the names of all classifiers, so it stays small. It is replaced as a whole or not at all, and if
    several commands add to it at the same time, nothing is lost.
    """
    _check(hull_file)
    data = table.load()
    curves: list[cc.RocCurve] = [
        one.renamed(f"{name} ({tag})") if tag else one
        for name, one in data.predictions.roc_curves(points="hull").items()
    ]
    made: list[tuple[str, cc.RocHull]] = []  # one more each time that another process was quicker

    def with_new(content: bytes | None) -> str:
        new = cc.RocHull(curves) if content is None else _added(_parsed(hull_file, content), curves, hull_file)
        made.append(("made" if content is None else "added to", new))
        return new.to_json()

    update_file(hull_file, with_new)
    done, hull = made[-1]
    say(f"{done} {hull_file}")

    def show(screen: Console) -> None:
        new = [one.name for one in curves]
        useful = [name for name in new if name in hull.can_be_best]
        heading(screen, data.summary())
        if useful:
            line(screen, f"{listing(useful)} can be best somewhere.", "bold green")
        if len(useful) < len(new):
            line(screen, f"{listing([name for name in new if name not in useful])} cannot be best anywhere.")
        line(screen, f"The hull has {hull.fpr.size} vertices of {len(hull.names)} classifiers.")

    Output(json).emit(show, _document(hull, Costs({})), None)


@group.command("show", short_help="Say who is best where, and at a condition.")
@with_groups
def show(file: HullFile, conditions: Conditions, out: Output) -> None:
    """costcurves hull show hull.json --prevalence 0.3 --cost-fn 5 --cost-fp 1

    Say who on the hull is best where, and what to use at a condition. --csv has the vertices.
    """
    asked = conditions.read(needed=False)
    hull = _read(file)

    def show_all(screen: Console) -> None:
        screen.print(f"{safe(file.name)}: {hull.fpr.size} vertices of {len(hull.names)} classifiers\n")
        show_ranges(hull.ranges(), screen)
        if never := _never_best(hull):
            screen.print(f"\nNever best: {listing(never)}.")
        if hull.max_error:
            screen.print(f"\nScores were binned: costs may be up to {hull.max_error:.2g} too high.")
        for name, where in asked.cases.items():
            screen.print(f"\n{asked.text(name)}", style="bold")
            if isinstance(where, cc.OperatingRange):
                screen.print()
                show_ranges(hull.within(where), screen)
            else:
                _show_decision(hull.best(where), asked.currency, screen)

    out.emit(show_all, _document(hull, asked), hull._columns())


def _check(file: Path) -> None:
    """Refuse a file that cannot become a hull's, before the table is read."""
    check_writable(file, force=True)
    if is_stream(file):
        raise Problem(f"{safe(file)} cannot keep a hull: it is not a file")
    if file.exists():
        _read(file)


def _read(file: Path) -> cc.RocHull:
    return _parsed(file, existing(file).read_bytes())


def _parsed(file: Path, content: bytes) -> cc.RocHull:
    try:
        return cc.RocHull.from_json_text(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise Problem(f"{safe(file)} holds no hull: it is not UTF-8 text") from None
    except cc.FormatError as error:
        raise Problem(f"{safe(file)} holds no hull: {safe(error)}") from None


def _added(known: cc.RocHull, curves: list[cc.RocCurve], file: Path) -> cc.RocHull:
    """Return a hull with more classifiers, whose names must be new."""
    if again := [one.name for one in curves if one.name in known.names]:
        raise Problem(
            f"{safe(file)} has {listing([quoted(name) for name in again])} already: tell them apart with --tag TEXT"
        )
    return known.add(curves)


def _show_decision(best: Decision, currency: str, screen: Console) -> None:
    other = best.runner_up
    more = f" ({percent(best.money_regret / best.expected_cost)})" if best.expected_cost > 0 else ""
    use, instead = safe(best.rule), safe(other.rule)
    line(screen, f"Use {use}: {money(best.expected_cost, currency)} per case.", "bold green")
    line(screen, f"The runner-up, {instead}, costs {money(best.money_regret, currency)} more{more}.")
    if best.unsettled:
        line(screen, f"Not settled: binning error may hide that another costs less: {listing(best.unsettled)}.")


def _never_best(hull: cc.RocHull) -> tuple[str, ...]:
    """Return the classifiers that cannot be best, whatever better thresholds bins may hide."""
    possible = hull.ranges().unsettled
    return tuple(name for name in hull.never_best if name not in possible)


def _document(hull: cc.RocHull, asked: Costs) -> types.Hull:
    decisions: list[Any] = [
        {"scenario": name or None, **hull.best(where).to_dict()}
        for name, where in asked.cases.items()
        if isinstance(where, cc.OperatingCondition)
    ]
    return {
        "schema": "costcurves/hull/1",
        "currency": asked.currency,
        "classifiers": list(hull.names),
        "never_best": list(_never_best(hull)),
        "vertices": records(hull._columns()),
        "decisions": decisions,
        "ranges": [
            ranges_document(name, hull.within(where), where)
            for name, where in asked.cases.items()
            if isinstance(where, cc.OperatingRange)
        ],
    }


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.add_typer(group, name="hull", short_help="Gather classifiers over time in a file.")
