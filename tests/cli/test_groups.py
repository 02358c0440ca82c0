"""Options are declared in groups: every command that takes a group has the same options of it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from costcurves.cli._app import app
from costcurves.cli._groups import given, option, with_groups
from costcurves.cli._options import Conditions, Scores, Statistics
from costcurves.cli._print import Output

TAKEN = {
    "decide": (Scores, Conditions, Statistics, Output),
    "compare": (Scores, Conditions, Statistics, Output),
    "curve": (Scores, Conditions, Statistics, Output),
    "ranges": (Scores, Conditions, Output),
    "report": (Scores, Conditions),
    "bcost": (Output,),
    "bdeltacost": (Output,),
    "plan": (Output,),
}


@dataclass(frozen=True, slots=True)
class Colours:
    paint: Annotated[str, option("Panel", "NAME", "What to paint with.")] = "red"
    layers: Annotated[list[int] | None, option("Panel", "N", "How often.")] = None


@pytest.mark.parametrize("group", [Scores, Conditions, Statistics, Output])
def test_a_group_has_the_same_options_in_every_command(group):
    commands = get_command(app).commands
    names = {field.name for field in fields(group)}
    seen = []
    for command, groups in TAKEN.items():
        if group in groups:
            found = {one.name: one for one in commands[command].params if one.name in names}
            seen.append({name: (one.opts, one.help, one.default, one.metavar) for name, one in found.items()})
    assert len(seen) >= 3
    assert seen[0].keys() == names
    assert all(one == seen[0] for one in seen)


def test_a_command_gets_its_groups_filled():
    got = []
    small = typer.Typer()

    @small.command()
    @with_groups
    def paint(wall: str, colours: Colours, *, twice: bool = False) -> None:
        """Paint a wall."""
        got.append((wall, colours, twice))

    runner = CliRunner()
    assert runner.invoke(small, ["north"]).exit_code == 0
    done = runner.invoke(small, ["south", "--paint", "blue", "--layers", "2", "--layers", "3", "--twice"])
    assert done.exit_code == 0, done.output
    assert got == [("north", Colours(), False), ("south", Colours("blue", [2, 3]), True)]


def test_given_names_the_options_that_differ_from_their_defaults():
    assert given(Colours()) == {}
    assert given(Colours("blue"), Statistics(level=0.9)) == {"--paint": "blue", "--level": 0.9}
    assert given(Conditions(cost_fn="5", pc="0.2")) == {"--cost-fn": "5", "--pc": "0.2"}
