"""The command line: parse, call, print. No statistic is computed here."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0: done; 1: a gate (``--assert-...``) failed; 2: bad usage or input; 70: a fault of the program; 130: interrupted;
    141: the reader of the output has gone; 143: terminated.
    """
    try:
        from costcurves.cli._app import run
    except ModuleNotFoundError as error:
        library = (error.name or "").split(".")[0]
        if library not in ("typer", "rich"):
            raise
        sys.stderr.write(f'costcurves: the command line needs {library}: pip install "costcurves[cli]"\n')
        return 2
    return run(arguments)
