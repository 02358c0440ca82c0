"""Output for people and programs: text, numbers, money with its currency, tables, JSON, CSV and files."""

from __future__ import annotations

import io
import json
import math
import os
import shlex
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console
from rich.padding import Padding

import costcurves as cc
from costcurves._base.files import is_standard_output, is_stream, real_path, write_atomically
from costcurves._base.progress import Progress, on_terminal
from costcurves._base.results import Result, csv_text, jsonable
from costcurves._base.text import acts, safe
from costcurves.cli._grid import Grid
from costcurves.cli._groups import LOUDNESS, OUT, option

# Exit code of an interrupted run.
INTERRUPTED = 130
# What a log or a file is laid out for; a terminal has its own width.
PLAIN_WIDTH = 100


class Problem(cc.CostCurvesError):
    """An error that the user can correct: shown as one message without a traceback, with exit code 2."""


def quoted(name: object) -> str:
    """Return a name in quotes, safe to show."""
    return f"'{safe(name)}'"


def console(file: Any = None, *, stderr: bool = False) -> Console:
    """Return a console that takes every text literally: no markup, no emoji codes, no colouring of numbers."""
    target = file if file is not None else (sys.stderr if stderr else sys.stdout)
    terminal = bool(getattr(target, "isatty", lambda: False)())
    return Console(
        file=target,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=False,
        width=None if terminal else PLAIN_WIDTH,
        no_color=None if terminal else True,
    )


def shell_word(word: str) -> str:
    """Return a word quoted for a shell; characters that change the text around them are written as escapes."""
    if not any(map(acts, word)):
        return shlex.quote(word)
    kept = word.replace("\\", "\\\\").replace("'", "\\'")
    return "$'" + "".join(f"\\u{ord(letter):04x}" if acts(letter) else letter for letter in kept) + "'"


def option_words(option: str, value: str) -> list[str]:
    """Return an option and its value as words; a value that looks like an option is tied to its own."""
    return [f"{option}={value}"] if value.startswith("-") else [option, value]


def say(*notes: str) -> None:
    """Say something beside the answer, on stderr, unless --quiet was given."""
    if LOUDNESS.get() < 0:
        return
    out = console(stderr=True)
    for note in notes:
        out.print(safe(note), style="dim", soft_wrap=True)


def detail(note: str) -> None:
    """Say something that only --verbose asks for."""
    if LOUDNESS.get() > 0:
        say(note)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on stderr that something is under way, if a person is looking, and with --verbose how long it took."""
    start = time.perf_counter()
    with Progress(None, what, show=on_terminal() and LOUDNESS.get() >= 0):
        yield
    detail(f"{what[:1].upper()}{what[1:]} took {time.perf_counter() - start:.2f} s.")


def number(value: float, digits: int = 4) -> str:
    """Return a number as people write it, unless it is huge."""
    return f"{value:,.0f}" if 10 ** (digits - 1) <= abs(value) < 1e15 else f"{value:.{digits}g}"


def padded(value: float, digits: int = 3) -> str:
    """Return a number for a column of them: zeros at the end stay."""
    return number(value, digits) if abs(value) >= 10 ** (digits - 1) else f"{value:#.{digits}g}".rstrip(".")


def money(value: float, currency: str = "") -> str:
    """Return an amount with its currency."""
    return f"{number(value)} {currency}".rstrip()


def percent(share: float) -> str:
    """Return a share in per cent."""
    return f"{100 * share:.3g} %"


def chance(p: float) -> str:
    """Return a p-value as text; it is empty if there is none."""
    return "" if math.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.2g}"


def listing(names: Sequence[str], word: str = "and") -> str:
    """Return names as a list in a sentence."""
    shown = [safe(name) for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {word} {shown[-1]}"


def folded(names: Sequence[str], word: str = "and", most: int = 6) -> str:
    """Return the first of some names as a list in a sentence, and how many others there are."""
    if (more := len(names) - most) <= 1:
        return listing(names, word)
    return f"{', '.join(safe(name) for name in names[:most])} {word} {more} others"


def sureness(rivals: Sequence[str], level: str, where: str = "") -> str:
    """Return the verdict on a recommendation, given the choices that are not shown to cost more."""
    if not rivals:
        return f"Sure: every other choice is shown to cost more{where}, at {level}."
    are = "is" if len(rivals) == 1 else "are"
    return f"Not sure: {folded(rivals)} {are} not shown to cost more{where}, at {level}."


def heading(screen: Console, text: str, note: str = "") -> None:
    """Print what the answer is about, and a note if there is one: a line in logs, wrapped on a terminal."""
    for part in (text, note) if note else (text,):
        screen.print(part, soft_wrap=not screen.is_terminal)


def line(screen: Console, text: str, style: str = "") -> None:
    """Print a sentence, with all of its lines indented."""
    screen.print(Padding(text, (0, 0, 0, 2), expand=False), style=style)


def new_grid(*heads: str, numbers: Collection[int] = ()) -> Grid:
    """Return an empty table; columns at the given positions hold numbers."""
    return Grid(heads, numbers)


def stacked(tables: Iterable[Mapping[str, Iterable[Any]]]) -> dict[str, list[Any]]:
    """Return tables with the same columns as one table, one below the other."""
    rows: dict[str, list[Any]] = {}
    for table in tables:
        for name, values in table.items():
            rows.setdefault(name, []).extend(values)
    return rows


def stacked_by(scenarios: Mapping[str, Result]) -> dict[str, list[Any]]:
    """Return the tables of the answers to several scenarios as one, with the scenario in the first column."""
    tables = {name: {key: list(values) for key, values in one._columns().items()} for name, one in scenarios.items()}
    return stacked({"scenario": [name] * len(rows["classifier"])} | rows for name, rows in tables.items())


def means_standard_output(path: Path) -> bool:
    """Return whether an output is a name of standard output, such as - or /dev/stdout."""
    return str(path) == "-" or is_standard_output(path)


def _not_standard_output(path: Path | None) -> Path | None:
    """Return no path if standard output is meant, where answers go without one."""
    return None if path is None or means_standard_output(path) else path


Json = Annotated[bool, option(OUT, "", "Answer in JSON (see `costcurves schema`).", "--json")]
Force = Annotated[bool, option(OUT, "", "Replace an existing output.", "--force")]


@dataclass(frozen=True, slots=True)
class Output:
    """Where the answer goes, and in which form; an impossible output is refused before anything is computed."""

    json: Json = False
    csv: Annotated[bool, option(OUT, "", "Answer as a CSV table.", "--csv")] = False
    output: Annotated[
        Path | None,
        option(
            OUT,
            "PATH",
            "Write the answer to this file instead; - is standard output.",
            "--output",
            "-o",
            callback=_not_standard_output,
        ),
    ] = None
    force: Force = False

    def __post_init__(self) -> None:
        """Refuse an impossible output."""
        if self.json and self.csv:
            raise Problem("--json and --csv exclude each other")
        if self.output is not None:
            check_writable(self.output, self.force)

    @property
    def form(self) -> str:
        """The form that was asked for, or the one that the ending of the file says."""
        ending = "" if self.output is None else self.output.suffix.lower()
        if self.json or (ending == ".json" and not self.csv):
            return "json"
        return "csv" if self.csv or ending == ".csv" else "text"

    @property
    def printed(self) -> bool:
        """Whether the answer is text on standard output, which a person or a log shows."""
        return self.output is None and self.form == "text"

    def emit(
        self,
        show: Callable[[Console], None],
        document: Mapping[str, Any],
        columns: Mapping[str, Any] | None = None,
    ) -> None:
        """Print the answer, or write it to the file."""
        if self.form == "text":
            if self.output is None and sys.stdout.isatty():
                show(console())
                return
            text = plain_text(show, "utf-8" if self.output is not None else sys.stdout.encoding or "utf-8")
        elif self.form == "csv":
            if columns is None:
                raise Problem("--csv needs an answer that is a table: use --json")
            text = csv_text(columns)
        else:
            text = json_text(document)
        if self.output is None:
            sys.stdout.write(text)
        else:
            write_file(self.output, text, self.force)


def plain_text(show: Callable[[Console], None], encoding: str) -> str:
    """Return what would be shown, without colours, in letters that the encoding has."""
    buffer = io.BytesIO()
    page = io.TextIOWrapper(buffer, encoding=encoding, errors="replace", newline="\n")
    show(console(page))
    page.flush()
    lines = buffer.getvalue().decode(encoding).split("\n")
    return "\n".join(line.rstrip() for line in lines)


def json_text(document: Mapping[str, Any]) -> str:
    """Return strict JSON; infinities are "inf" and "-inf", and missing values are null."""
    return json.dumps(jsonable(dict(document)), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def check_writable(path: Path, force: bool) -> None:
    """Refuse an output that would replace a file unasked, or that has no folder to be in."""
    if path.is_dir():
        raise Problem(f"{path} is a folder: name a file")
    if is_stream(path):
        return
    if path.exists() and not force:
        raise Problem(f"{path} exists already: choose another name, or replace it with --force")
    folder = (real_path(path) if path.is_symlink() else path).parent
    if not folder.is_dir():
        raise Problem(f"{path} cannot be written: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise Problem(f"{path} cannot be written: the folder {folder} is read-only")


def write_file(path: Path, content: str | bytes, force: bool) -> None:
    """Write a file as a whole or not at all, and say so."""
    check_writable(path, force)
    write_atomically(path, content, replace=force)
    say(f"wrote {path}")
