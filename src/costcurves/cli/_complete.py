"""What the Tab key offers: columns of the table, scenarios and matrices of the costs file, names of schemas."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import typer

import costcurves as cc
from costcurves._base.text import safe
from costcurves.cli._answers import ANSWERS
from costcurves.cli._tables import STANDARD_INPUT, column_names, resolve

Completer = Callable[[typer.Context, str], list[str]]


def _completer(known: Callable[[typer.Context], Iterable[str]]) -> Completer:
    """Return a function that offers names which begin with what was typed; without a readable file there are none."""

    def offered(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            names = [name for name in known(ctx) if name.startswith(incomplete)]
        except (cc.CostCurvesError, OSError, ValueError):
            return []
        # zsh and fish quote what they insert. bash inserts it as it is, so that it must begin with what was typed.
        bash = os.environ.get("_COSTCURVES_COMPLETE") == "complete_bash"
        return [re.sub(r"[^\w@%+=:,./-]", r"\\\g<0>", name) if bash else name for name in names if safe(name) == name]

    return offered


def _columns(ctx: typer.Context) -> list[str]:
    """Return the columns of the table. Arguments before an option without its value are left over by the parser."""
    arguments = [one.name for one in ctx.command.params if one.param_type_name == "argument"]
    given = dict(zip(arguments, ctx.args, strict=False)) | {k: v for k, v in ctx.params.items() if v is not None}
    file = given.get("file")
    return [] if file is None or str(file) == STANDARD_INPUT else column_names(Path(file))


def _in_costs(ctx: typer.Context, kind: str) -> Iterable[str]:
    file = ctx.params.get("costs")
    return () if file is None else getattr(cc.read_scenarios(resolve(Path(file), ".toml")), kind)


columns = _completer(_columns)
scenarios = _completer(lambda ctx: _in_costs(ctx, "scenarios"))
matrices = _completer(lambda ctx: _in_costs(ctx, "matrices"))
policies = _completer(lambda ctx: cc.thresholds.NAMED)
schemas = _completer(lambda ctx: ANSWERS)
