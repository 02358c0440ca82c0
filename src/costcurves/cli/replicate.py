"""`replicate`: the papers' tables and figures, computed again."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated

import typer

import costcurves.cli._options as opt
from costcurves.cli._print import INTERRUPTED, Problem, quoted, say
from costcurves.replications.catalogue import NAMES
from costcurves.replications.command import OUTPUT, main


def replicate(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Which one (see --list), or all of them: all.", show_default=False),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", metavar="", help="List the replications and end.")] = False,
    small: Annotated[
        bool, typer.Option("--small", metavar="", help="A size that takes seconds instead of minutes or hours.")
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="FOLDER",
            help="Where the data sets are, for the studies that read some; without it they come from OpenML.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Keeps finished parts: the same command goes on where it was stopped.",
            rich_help_panel=opt.OUT,
        ),
    ] = Path(OUTPUT),
) -> None:
    """costcurves replicate table5 --small

    Compute a table or a figure of the papers again, and say row by row whether it comes out as printed.
    """
    if listed:
        main(["list"])
        return
    if name is None:
        raise Problem("say which replication to run, or see them with --list")
    if name not in (*NAMES, "all"):
        near = difflib.get_close_matches(name, NAMES, n=1)
        hint = f"did you mean {quoted(near[0])}?" if near else "see them with --list"
        raise Problem(f"there is no replication {quoted(name)}; {hint}")
    if output.exists() and not output.is_dir():
        raise Problem(f"{output} is a file: name a folder")
    try:
        found = [] if data is None else ["--data", str(data)]
        code = main(["run", name, "--output", str(output), *found, *(["--small"] if small else [])])
    except KeyboardInterrupt:
        say(f"Interrupted; finished parts are in {output}, and the same command goes on from there.")
        raise typer.Exit(INTERRUPTED) from None
    if code:
        raise typer.Exit(code)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(short_help="Compute the papers' tables and figures again.")(replicate)
