"""The command that runs a replication, lists them, or makes their pages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from costcurves import CostCurvesError, InputError
from replications.catalogue import NAMES, study
from replications.study import Clock, Outcome

OUTPUT = "replication-output"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a replication of the papers or make the pages, and return the exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments, such as ``["run", "table5", "--small"]``, by default those of the process. A name without a
        command is short for ``run``.

    Examples
    --------
    >>> from replications.command import main
    >>> main(["list"])  # doctest: +ELLIPSIS
    scenarios-1997   Scenarios, figures 1-6 and sensitivity analysis (1997)
    ...
    0
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments and (arguments[0] in NAMES or arguments[0] == "all"):
        arguments.insert(0, "run")
    options = _parser().parse_args(arguments)
    try:
        return int(options.action(options))
    except CostCurvesError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m replications", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="{run,list,pages}")
    run = commands.add_parser("run", help="run one replication, or all")
    run.add_argument("name", choices=(*NAMES, "all"), metavar="name", help=f"one of {', '.join(NAMES)}, all")
    run.add_argument("--small", action="store_true", help="a size that takes seconds")
    run.add_argument("--seed", type=int, default=2000)
    run.add_argument(
        "--n-jobs", type=int, default=1, help="processes (default 1); 0 leaves it to joblib's configuration"
    )
    run.add_argument(
        "--output", default=OUTPUT, help="directory that keeps finished parts, so that a run can be resumed"
    )
    run.add_argument(
        "--data", metavar="DIR", help="directory of the data sets, for studies that read some (default: from OpenML)"
    )
    run.add_argument("--record", action="store_true", help="record the outcome for the pages and the tests")
    run.set_defaults(action=_run)
    commands.add_parser("list", help="list the replications").set_defaults(action=_list)
    pages = commands.add_parser("pages", help="make the pages from the recorded results, without running anything")
    pages.add_argument("--to", default="docs/replications", help="directory of the pages")
    pages.set_defaults(action=_pages)
    return parser


def _run(options: argparse.Namespace) -> int:
    if options.n_jobs < -1:
        raise InputError(f"`--n-jobs` must be -1, 0 or more, got {options.n_jobs}")
    if options.name != "all":
        _run_one(options.name, options)
        return 0
    code = 0
    for name in NAMES:
        try:
            _run_one(name, options)
        except CostCurvesError as error:
            # If one lacks its data or its extra, the others must still run.
            sys.stderr.write(f"error: {name}: {error}\n")
            code = 2
    return code


def _run_one(name: str, options: argparse.Namespace) -> None:
    chosen = study(name)
    outcome = chosen.run(
        "small" if options.small else "full",
        seed=options.seed,
        n_jobs=options.n_jobs or None,
        progress=Clock(name, sys.stderr),
        output=Path(options.output),
        data=options.data,
    )
    sys.stdout.write(as_text(outcome) + "\n")
    if options.record:
        chosen.record(outcome)


def as_text(outcome: Outcome) -> str:
    """Format the rows as aligned text."""
    head = ("", "paper", "ours", "error", "verdict")
    cells = [head]
    for row in outcome.rows:
        error = f"{row.error:.2g}" if row.error else ""
        cells.append((f"{row.item}: {row.what}", number(row.paper), number(row.ours), error, row.verdict))
    widths = [max(len(line[i]) for line in cells) for i in range(len(head))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    return "\n".join([f"{outcome.study} ({outcome.size}, seed {outcome.seed})", *lines])


def number(value: float | str | None) -> str:
    """Format a number for readers. A text is returned unchanged, and None becomes a dash."""
    if value is None:
        return "-"
    return value if isinstance(value, str) else f"{value:.5g}"


def _list(options: argparse.Namespace) -> int:
    for name in NAMES:
        sys.stdout.write(f"{name:<16} {study(name).title}\n")
    return 0


def _pages(options: argparse.Namespace) -> int:
    from replications.pages import write_pages

    for path in write_pages(Path(options.to)):
        sys.stdout.write(f"{path}\n")
    return 0
