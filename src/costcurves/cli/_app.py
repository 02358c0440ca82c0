"""The commands, and what happens when one of them goes wrong."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import costcurves as cc
import costcurves.cli.classes as classes
import costcurves.cli.compare as compare
import costcurves.cli.curve as curve
import costcurves.cli.decide as decide
import costcurves.cli.doctor as doctor
import costcurves.cli.hull as hull
import costcurves.cli.report as report
from costcurves._base.text import safe
from costcurves.cli._answers import ANSWERS
from costcurves.cli._complete import schemas
from costcurves.cli._print import INTERRUPTED, Problem, console, say
from costcurves.cli._schemas import schema_of

BAD_INPUT, FAULT, BROKEN_PIPE = 2, 70, 141
# What writing to a full disk may fail with.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def no_traceback() -> Iterator[None]:
    """Turn errors that the user can correct into a message and an exit code."""
    try:
        yield
    except KeyboardInterrupt:
        console(stderr=True).print("Interrupted; no file is left incomplete.")
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:
        _print_no_more()
        raise SystemExit(BROKEN_PIPE) from None
    except SystemExit as stop:
        # Rich ends the program with 1, the code of a failed gate, if the reader has closed the output.
        raise SystemExit(BROKEN_PIPE if stop.code == 1 else stop.code) from None
    except (cc.CostCurvesError, OSError) as error:
        console(stderr=True).print(f"Error: {safe(_message(error))}", style="red", soft_wrap=True)
        raise SystemExit(BAD_INPUT) from None


def _message(error: Exception) -> str:
    """Return what went wrong, and with which file."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    # All other errors of reading and writing name their file.
    where = "standard output" if error.filename is None and error.errno in NO_ROOM else error.filename
    if where == "standard output":
        _print_no_more()
    return f"{where}: {error.strerror}" if where else error.strerror


def _print_no_more() -> None:
    """Send standard output nowhere, so that Python does not try to flush it once more when it ends."""
    if isinstance(sys.stdout, _Closed):
        return
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


class Commands(TyperGroup):
    """Commands that fail without a traceback."""

    def make_context(self, *args: Any, **options: Any) -> Any:
        """Read the arguments, and answer --help."""
        with no_traceback():
            return super().make_context(*args, **options)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with no_traceback():
            return super().invoke(ctx)


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
    program, 130 interrupted, 141 the reader of the output has gone, 143 terminated.
    """


for module in (report, doctor, decide, compare, curve, classes, hull):
    module.add_to(app)


@app.command(short_help="Print the JSON Schema of a command's --json answer.")
def schema(
    name: Annotated[
        str,
        typer.Argument(
            metavar="COMMAND", help="decide, ranges, compare, ...", show_default=False, autocompletion=schemas
        ),
    ],
) -> None:
    """costcurves schema decide

    The number at the end of "schema" in every answer changes when a field changes its meaning or goes away; new fields
    may come at any time.
    """
    if name not in ANSWERS:
        raise Problem(f"there is no schema {safe(name)!r}; there are {', '.join(ANSWERS)}")
    sys.stdout.write(json.dumps(schema_of(ANSWERS[name], name), indent=2) + "\n")


class _Closed(io.TextIOBase):
    """Standard output that was closed before the program began (`>&-`): nothing can be written to it."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        """Refuse any text."""
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")


@contextmanager
def _streams() -> Iterator[None]:
    """Allow for streams that are closed, and for characters that a terminal cannot show."""
    before = sys.stdout, sys.stderr
    if None in before:
        # Otherwise the first files that are opened would get the numbers of the closed streams.
        while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(handle)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        sys.stdout, sys.stderr = sys.stdout or _Closed(), sys.stderr or nowhere
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")  # a character that cannot be shown must not stop the answer
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before


@contextmanager
def _termination() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the program as an exception does, so that unfinished files are removed."""

    def leave(number: int, frame: Any) -> None:
        raise SystemExit(128 + number)

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    ours = [number for number in numbers if signal.getsignal(number) == signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        ours = []
    for number in ours:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _teller(otherwise: Any) -> Any:
    """Return a function that shows each of our warnings once, on a line of its own, and others as Python does."""
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
    with _streams(), _termination():
        try:
            code = _exit_code(lambda: app(args=None if arguments is None else list(arguments), prog_name="costcurves"))
            # A closed pipe or a full disk is noticed here, and not when Python ends.
            return _exit_code(_flush) or code
        except Exception:
            # Not 1, with which Python would end: a pipeline must not take an internal error for a failed gate.
            with suppress(OSError):  # standard error may be what failed
                traceback.print_exc()
                sys.stderr.write("costcurves: this is a fault of the program; please report it with the lines above\n")
            return FAULT


def _exit_code(action: Callable[[], object]) -> int:
    """Return the exit code with which an action ends."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", cc.CostCurvesWarning)
            warnings.showwarning = _teller(warnings.showwarning)
            action()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0 if stop.code is None else BAD_INPUT
    return 0


def _flush() -> None:
    with no_traceback():
        sys.stdout.flush()
