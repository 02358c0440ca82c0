"""`doctor`: what may be wrong with a table of scores, and what to do about it."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import Annotated

import typer
from rich.console import Console
from rich.padding import Padding

import costcurves.cli._answers as types
from costcurves._base.text import safe
from costcurves.cli._ci import GateReports
from costcurves.cli._gates import Gate, show_gates
from costcurves.cli._groups import GATES, option, with_groups
from costcurves.cli._input import ScoreTable
from costcurves.cli._options import Scores
from costcurves.cli._print import Output, heading, working
from costcurves.data.checks import CHECKS, SEVERITIES, Finding, Findings
from costcurves.decisions.claims import OTHERWISE, SHOWN

STYLES = {"error": "bold red", "warning": "bold yellow", "note": "bold"}


@with_groups
def doctor(
    table: Scores,
    assert_clean: Annotated[
        bool, option(GATES, "", "Fail if there is an error or a warning; notes pass.", "--assert-clean")
    ] = False,
    *,
    reports: GateReports,
    out: Output,
) -> None:
    """costcurves doctor example:german_credit --positive bad

    Look for what makes answers wrong: reversed scores, leaks (an AUC of 1), copied rows, rows that depend on each
    other, ties, too few cases of a class, uncalibrated probabilities, and columns that are identifiers or weights.
    Each finding says what to do. The other commands look for the same and say in one line if there is something.
    """
    reports.check(assert_clean, table.file, out)
    data = replace(table, drop_missing=True).read()
    with working("checking"):
        checked = data.check(thorough=True)
    every = (*checked.findings, *_missing(data, table.drop_missing))
    found = tuple(sorted(every, key=lambda one: SEVERITIES.index(one.severity)))
    gates = [_clean(found)] if assert_clean else []

    def show(screen: Console) -> None:
        heading(screen, data.summary())
        _show(found, checked, screen)
        show_gates(gates, screen)

    document: types.Doctor = {
        "schema": "costcurves/doctor/1",
        "data": data.document(),
        "findings": [one.to_dict() for one in found],  # type: ignore[misc]
        "checks": list(checked.checks),
        "gates": [gate.document() for gate in gates],
    }
    out.emit(show, document, Findings(found, checked.checks)._columns())
    reports.leave("doctor", gates, out, show)


def _missing(data: ScoreTable, wanted: bool) -> tuple[Finding, ...]:
    """Return a finding about rows without a label or a score, which other commands refuse."""
    if not data.dropped or wanted:
        return ()
    many = data.dropped > 1
    message = f"{data.dropped:,} row{'s lack' if many else ' lacks'} a label or a score."
    advice = "Other commands refuse them: find out why, or leave them out with --drop-missing."
    return (Finding("missing", "warning", None, data.dropped, message, advice),)


def _clean(found: tuple[Finding, ...]) -> Gate:
    serious = [one for one in found if one.severity != "note"]
    many = f"{len(serious)} finding{'s' * (len(serious) != 1)}: {', '.join(dict.fromkeys(s.check for s in serious))}"
    reason = many if serious else "nothing was found but notes"
    return Gate("no errors and no warnings", not serious, OTHERWISE if serious else SHOWN, reason)


def _show(found: tuple[Finding, ...], checked: Findings, screen: Console) -> None:
    """Print each finding with what to do, and then what is fine."""
    for advice, alike in groupby(found, key=lambda one: one.advice):
        screen.print()
        for one in alike:
            screen.print(f"{one.severity.capitalize()}: {safe(one.message)}", style=STYLES[one.severity])
        screen.print(Padding(safe(advice), (0, 0, 0, 2), expand=False))
    fine = [words for name, words in CHECKS.items() if name not in {one.check for one in found}]
    screen.print()
    screen.print(f"{'Otherwise fine' if found else 'Nothing was found'}: {', '.join(fine)}.", style="green")


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(short_help="What may be wrong with a table, and what to do about it.")(doctor)
