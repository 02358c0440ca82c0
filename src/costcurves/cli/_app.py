"""The commands, and what happens when one of them goes wrong."""

from __future__ import annotations

import json
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import costcurves as cc
import costcurves.cli.classes as classes
import costcurves.cli.compare as compare
import costcurves.cli.curve as curve
import costcurves.cli.decide as decide
import costcurves.cli.hull as hull
import costcurves.cli.replicate as replicate
import costcurves.cli.report as report
from costcurves.cli._print import INTERRUPTED, Problem, console, safe, say

SCHEMAS = Path(__file__).parent / "schemas"
BAD_INPUT, FAULT, BROKEN_PIPE = 2, 70, 141


@contextmanager
def no_traceback() -> Iterator[None]:
    """Turn what the user can put right into a message and an exit code."""
    try:
        yield
    except KeyboardInterrupt:
        console(stderr=True).print("Interrupted; nothing was written.")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # The reader has gone (`| head`): write no more, also not when Python closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(BROKEN_PIPE) from None
    except (cc.CostCurvesError, OSError) as error:
        said = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else error
        console(stderr=True).print(f"Error: {safe(said)}", style="red", soft_wrap=True)
        raise typer.Exit(BAD_INPUT) from None


class Commands(TyperGroup):
    """Commands that fail without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with no_traceback():
            result = super().invoke(ctx)
            sys.stdout.flush()  # a reader who has gone is noticed here, not when Python ends
            return result


app = typer.Typer(
    name="costcurves",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"costcurves {cc.__version__}\n")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """costcurves demo

    Which classifier, at which threshold, when costs and class frequencies are uncertain, and how sure is that?

    Exit codes: 0 done, 1 a gate (--assert-...) failed, 2 bad usage or input, 70 a fault of the
    program, 130 interrupted.
    """


for module in (report, decide, compare, curve, classes, hull, replicate):
    module.add_to(app)


@app.command(short_help="Print the JSON Schema of a command's --json answer.")
def schema(
    name: Annotated[str, typer.Argument(metavar="COMMAND", help="decide, ranges, compare, ...", show_default=False)],
) -> None:
    """costcurves schema decide

    The number at the end of "schema" in every answer changes when a field changes its meaning or goes away; new fields
    may come at any time.
    """
    known = sorted(path.stem for path in SCHEMAS.glob("*.json"))
    if name not in known:
        raise Problem(f"there is no schema {safe(name)!r}; there are {', '.join(known)}")
    sys.stdout.write(json.dumps(json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8")), indent=2) + "\n")


def _teller(otherwise: Any) -> Any:
    """Return how to show a warning: one of ours is said once, in a line of its own, any other as Python does."""
    told: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if not issubclass(category, cc.CostCurvesWarning):
            otherwise(message, category, *where, **more)
        elif str(message) not in told:
            told.add(str(message))
            say(f"Warning: {message}")

    return show


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a letter must not stop the answer
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", cc.CostCurvesWarning)
            warnings.showwarning = _teller(warnings.showwarning)
            app(args=None if arguments is None else list(arguments), prog_name="costcurves")
    except Exception:
        # Never 1, which Python would end with: a pipeline must not take a fault of ours for a failed gate.
        traceback.print_exc()
        sys.stderr.write("costcurves: this is a fault of the program; please report it with the lines above\n")
        return FAULT
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0 if stop.code is None else BAD_INPUT
    return 0
