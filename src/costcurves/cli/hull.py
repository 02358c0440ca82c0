"""`hull add`, `show`, `list`, `remove` and `merge`: a file that gathers classifiers over time, with their origins."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, fields
from datetime import UTC, datetime
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
    folded,
    heading,
    line,
    listing,
    money,
    new_grid,
    percent,
    quoted,
    say,
)
from costcurves.cli._tables import existing
from costcurves.cli.decide import ranges_document, show_ranges
from costcurves.curves.choices import Decision
from costcurves.curves.hull_file import HullFile, Origin

group = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
HullPath = Annotated[
    Path, typer.Argument(metavar="HULL", help="The hull's file, such as hull.json.", show_default=False)
]


@group.callback()
def about() -> None:
    """costcurves hull add hull.json example:german_credit --positive bad

    Keep the classifiers seen so far in a file, each with its own ROC convex hull and its origin, and ask who is best.
    """


@group.command("add", short_help="Add classifiers to a hull's file, which is made if it is not there.")
@with_groups
def add(
    hull_file: HullPath,
    table: Scores,
    tag: Annotated[
        str | None,
        option(DATA, "TEXT", "Put this behind the names, as in 'forest (2026-11)': names in a hull must differ."),
    ] = None,
    other_label: Annotated[
        bool,
        option(
            DATA,
            "",
            "Take the positive label for the same class as that of the file, although it differs.",
            "--other-label",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """costcurves hull add hull.json example:german_credit --positive bad

    Add the classifiers of a table. The file keeps the vertices of each one's own hull, which is all that decisions by
    cost need, and where it came from. It is replaced as a whole or not at all, and if several commands add to it at the
    same time, nothing is lost.
    """
    _check(hull_file)
    data = table.load()
    curves: list[cc.RocCurve] = [
        one.renamed(f"{name} ({tag})") if tag else one
        for name, one in data.predictions.roc_curves(points="hull").items()
    ]
    labels = data.predictions.y_true
    origin = Origin(data.source, labels.size, int(labels.sum()), data.positive, _now())
    empty = HullFile((), {}, {})

    def with_new(file: HullFile | None) -> HullFile:
        known = file or empty
        _check_names(known, [one.name for one in curves], hull_file)
        _check_label(known, data.positive, hull_file, allowed=other_label)
        return known.added(curves, {one.name: origin for one in curves})

    done, file = _updated(hull_file, with_new)
    say(f"{done} {hull_file}")
    hull = file.hull

    def show(screen: Console) -> None:
        new = [one.name for one in curves]
        useful = [name for name in new if name in hull.can_be_best]
        heading(screen, data.summary())
        if useful:
            line(screen, f"{folded(useful)} can be best somewhere.", "bold green")
        if len(useful) < len(new):
            line(screen, f"{folded([name for name in new if name not in useful])} cannot be best anywhere.")
        many = f"{len(hull.names)} classifier{'s' * (len(hull.names) != 1)}"
        line(screen, f"The hull has {hull.fpr.size} vertices of {many}.")

    Output(json).emit(show, _document(file, Costs({})), None)


@group.command("list", short_help="List the classifiers of a hull's file and where they came from.")
@with_groups
def listed(hull_file: HullPath, out: Output) -> None:
    """costcurves hull list hull.json

    List all classifiers of the file: where they came from, when they were added, and whether they can be best.
    """
    _show_members(_read(hull_file), hull_file, out)


@group.command("remove", short_help="Remove classifiers from a hull's file.")
@with_groups
def remove(
    hull_file: HullPath,
    name: Annotated[list[str], typer.Argument(metavar="NAME...", help="The classifiers.", show_default=False)],
    json: Json = False,
) -> None:
    """costcurves hull remove hull.json tree

    Remove classifiers. The file is then as if they had never been added.
    """
    _read(hull_file)

    def without(file: HullFile | None) -> HullFile:
        if file is None:
            raise Problem(f"{safe(hull_file)}: no such file")
        try:
            return file.removed(name)
        except cc.InputError as error:
            raise Problem(f"{safe(hull_file)}: {safe(error)}".replace("`names`", "NAME")) from None

    _, file = _updated(hull_file, without)
    say(f"removed {listing(list(dict.fromkeys(name)))} from {hull_file}")
    _show_members(file, hull_file, Output(json))


@group.command("merge", short_help="Add the classifiers of other hulls' files to a hull's file.")
@with_groups
def merge(
    hull_file: HullPath,
    other: Annotated[
        list[Path], typer.Argument(metavar="OTHER...", help="The files to take classifiers from.", show_default=False)
    ],
    other_label: Annotated[
        bool, option(DATA, "", "Take positive labels that differ for the same class.", "--other-label")
    ] = False,
    json: Json = False,
) -> None:
    """costcurves hull merge hull.json other.json

    Add the classifiers of other hulls' files, with their origins. The file is made if it is not there. Classifiers that
    are there already in the same form count once.
    """
    _check(hull_file)
    others = {path: _read(path) for path in other}

    def merged(file: HullFile | None) -> HullFile:
        for path, one in others.items():
            if file is None:
                file = one
                continue
            for positive in dict.fromkeys(origin.positive for origin in one.origins.values()):
                _check_label(file, positive, hull_file, allowed=other_label)
            try:
                file = file.merged(one)
            except cc.InputError:
                taken = listing([quoted(name) for name in file.known(one.names)])
                raise Problem(f"{safe(path)} has other classifiers under names of {safe(hull_file)}: {taken}") from None
        assert file is not None
        return file

    done, file = _updated(hull_file, merged)
    say(f"{done} {hull_file}")
    _show_members(file, hull_file, Output(json))


@group.command("show", short_help="Say who is best where, and at a condition.")
@with_groups
def show(file: HullPath, conditions: Conditions, out: Output) -> None:
    """costcurves hull show hull.json --prevalence 0.3 --cost-fn 5 --cost-fp 1

    Say who on the hull is best where, and what to use at a condition. --csv has the vertices.
    """
    asked = conditions.read(needed=False)
    content = _read(file)
    hull = content.hull

    def show_all(screen: Console) -> None:
        screen.print(f"{safe(file.name)}: {hull.fpr.size} vertices of {len(hull.names)} classifiers\n")
        show_ranges(hull.ranges(), screen)
        if never := _never_best(hull):
            screen.print(f"\nNever best: {folded(never)}.")
        if hull.max_error:
            screen.print(f"\nScores were binned: costs may be up to {hull.max_error:.2g} too high.")
        for name, where in asked.cases.items():
            screen.print(f"\n{asked.text(name)}", style="bold")
            if isinstance(where, cc.OperatingRange):
                screen.print()
                show_ranges(hull.within(where), screen)
            else:
                _show_decision(hull.best(where), asked.currency, screen)

    out.emit(show_all, _document(content, asked), hull._columns())


def _check(file: Path) -> None:
    """Refuse a file that cannot become a hull's, before the table is read."""
    check_writable(file, force=True)
    if is_stream(file):
        raise Problem(f"{safe(file)} cannot keep a hull: it is not a file")
    if file.exists():
        _read(file)


def _read(file: Path) -> HullFile:
    return _parsed(file, existing(file).read_bytes())


def _parsed(file: Path, content: bytes) -> HullFile:
    try:
        return HullFile.of_text(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise Problem(f"{safe(file)} holds no hull: it is not UTF-8 text") from None
    except cc.FormatError as error:
        raise Problem(f"{safe(file)} holds no hull: {safe(error)}") from None


def _updated(path: Path, change: Callable[[HullFile | None], HullFile]) -> tuple[str, HullFile]:
    """Replace a hull's file, so that no change by another process is lost. Return what was done and the content."""
    made: list[tuple[str, HullFile]] = []  # one more each time that another process was quicker

    def new(content: bytes | None) -> str:
        file = change(None if content is None else _parsed(path, content))
        made.append(("made" if content is None else "added to", file))
        return file.text

    update_file(path, new)
    return made[-1]


def _check_names(known: HullFile, names: list[str], file: Path) -> None:
    if again := known.known(names):
        raise Problem(
            f"{safe(file)} has {listing([quoted(name) for name in again])} already: tell them apart with --tag TEXT"
        )


def _check_label(known: HullFile, positive: str, file: Path, *, allowed: bool) -> None:
    """Refuse classifiers that look for another class."""
    others = [one.positive for one in known.origins.values() if one.positive != positive]
    if others and not allowed:
        raise Problem(
            f"the classifiers in {safe(file)} look for {quoted(others[0])}, and these for {quoted(positive)}; "
            "if both mean the same class, add --other-label"
        )


def _now() -> str:
    """Return the time, to the second; a build that must be reproducible sets it."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdigit() else datetime.now(UTC)
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


def _show_members(file: HullFile, path: Path, out: Output) -> None:
    """Answer with all classifiers and where they came from."""
    members = _members(file)

    def show(screen: Console) -> None:
        screen.print(f"{safe(path.name)}: {len(members)} classifier{'s' * (len(members) != 1)}\n")
        grid = new_grid("", "can be best", "from", "rows", "positives", "positive", "added", numbers=(3, 4))
        for one in members:
            known = [one["source"], one["rows"], one["positives"], one["positive"], one["added"]]
            texts = [
                "" if value is None else f"{value:,}" if isinstance(value, int) else safe(value) for value in known
            ]
            grid.add_row(safe(one["name"]), "yes" if one["can_be_best"] else "no", *texts)
        screen.print(grid)

    columns = {key: [one[key] for one in members] for key in types.Member.__annotations__}  # type: ignore[literal-required]
    out.emit(show, _document(file, Costs({})), columns)


def _members(file: HullFile) -> list[types.Member]:
    useful, unknown = file.hull.can_be_best, dict.fromkeys(field.name for field in fields(Origin))
    found: list[Any] = [
        {"name": name, "can_be_best": name in useful}
        | (unknown if (origin := file.origins.get(name)) is None else asdict(origin))
        for name in file.names
    ]
    return found


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


def _document(file: HullFile, asked: Costs) -> types.Hull:
    hull = file.hull
    decisions: list[Any] = [
        {"scenario": name or None, **hull.best(where).to_dict()}
        for name, where in asked.cases.items()
        if isinstance(where, cc.OperatingCondition)
    ]
    return {
        "schema": "costcurves/hull/1",
        "currency": asked.currency,
        "classifiers": list(hull.names),
        "members": _members(file),
        "never_best": list(_never_best(hull)),
        "vertices": hull._records(),
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
