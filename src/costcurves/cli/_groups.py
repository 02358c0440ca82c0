"""Options in groups: a dataclass declares some options once, and a command takes the groups that it needs."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_type_hints

import typer

import costcurves as cc

DATA, COSTS, HOW, GATES, OUT = "Data", "Operating condition", "Statistics", "Gates (exit code 1 if one fails)", "Output"


def option(panel: str, metavar: str, text: str, *names: str, **more: Any) -> Any:
    """Return an option; its name is the parameter's name unless it is given, which flags must do."""
    return typer.Option(*names, metavar=metavar, help=text, rich_help_panel=panel, **more)


# How much is said beside the answer: -1 nothing, 0 what was guessed and what may mislead, 1 everything.
LOUDNESS: ContextVar[int] = ContextVar("LOUDNESS", default=0)
_TALK: dict[str, Any] = {
    "quiet": Annotated[bool, option(OUT, "", "Say nothing beside the answer, gates and errors.", "--quiet", "-q")],
    "verbose": Annotated[bool, option(OUT, "", "Say what was read, found and how long it took.", "--verbose", "-v")],
}


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command for typer, in which each parameter that is a group is replaced by the options of the group.

    Every command can be --quiet or --verbose.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    options: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        options += _options(groups[name]) if name in groups else [_keyword(name, hints[name], parameter.default)]
    options += [_keyword(name, kind, False) for name, kind in _TALK.items()]

    @wraps(command)
    def run(**values: Any) -> None:
        quiet, verbose = (values.pop(name) for name in _TALK)
        if quiet and verbose:
            raise cc.InputError("--quiet and --verbose exclude each other")
        token = LOUDNESS.set(verbose - quiet)
        try:
            fill(values)
        finally:
            LOUDNESS.reset(token)

    def fill(values: dict[str, Any]) -> None:
        for name, kind in groups.items():
            values[name] = kind(**{field.name: values.pop(field.name) for field in fields(kind)})
        command(**values)

    run.__signature__ = Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in options}
    return run


def given(*groups: Any) -> dict[str, Any]:
    """Return the options of some groups that differ from their defaults, by their names on the command line."""
    return {
        "--" + field.name.replace("_", "-"): value
        for group in groups
        for field in fields(group)
        if field.default is not MISSING and (value := getattr(group, field.name)) != field.default
    }


def _options(group: Any) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [_keyword(field.name, hints[field.name], _default(field)) for field in fields(group)]


def _default(field: Field[Any]) -> Any:
    return Parameter.empty if field.default is MISSING else field.default


def _keyword(name: str, kind: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
