"""Verdicts of gates for pipelines: JUnit XML, and Markdown for the summary that CI systems show."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from xml.etree import ElementTree

import typer
from rich.console import Console

from costcurves._base.files import is_stream, update_file, write_atomically
from costcurves._base.text import safe
from costcurves.cli._gates import FAILED, Gate, show_gates
from costcurves.cli._groups import GATES, option
from costcurves.cli._print import Output, Problem, check_writable, console, plain_text, quoted, say

# Where GitHub, and systems that follow it, look for a step's summary.
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


@dataclass(frozen=True, slots=True)
class GateReports:
    """Where the verdicts go besides the answer."""

    junit: Annotated[Path | None, option(GATES, "FILE", "Write the verdicts as JUnit XML, one test per gate.")] = None
    summary: Annotated[
        Path | None,
        option(
            GATES,
            "FILE",
            f"Append verdicts and answer to this file as Markdown; by default to ${STEP_SUMMARY} if that is set.",
        ),
    ] = None

    def __post_init__(self) -> None:
        """Refuse an impossible file before anything is computed."""
        for path in (self.junit, self.summary):
            if path is not None:
                check_writable(path, force=True)

    def check(self, gates: bool, table: Path, out: Output) -> None:
        """Refuse a file for verdicts of which there will be none, and one that is the table or another output."""
        taken = {"the table": table, "--output": out.output}
        for name, path in (("--junit", self.junit), ("--summary", self.summary)):
            if path is not None and not gates:
                raise Problem(f"{name} needs a gate: one of the options --assert-...")
            for other, used in taken.items():
                if path is not None and used is not None and path.resolve() == used.resolve() and not is_stream(path):
                    raise Problem(f"{name} must be another file than {other}, got {quoted(str(path))}")
            taken[name] = path

    def leave(self, command: str, gates: Sequence[Gate], out: Output, show: Callable[[Console], None]) -> None:
        """Write the verdicts and end the command, with exit code 1 if a gate failed.

        They are printed on standard error if the answer was not printed as text.
        """
        if self.junit is not None:
            write_atomically(self.junit, junit_xml(command, gates))
            say(f"wrote {self.junit}")
        if gates:
            self._summarize(command, gates, show)
        if not out.printed:
            show_gates(gates, console(stderr=True))
        if not all(gate.passed for gate in gates):
            raise typer.Exit(FAILED)

    def _summarize(self, command: str, gates: Sequence[Gate], show: Callable[[Console], None]) -> None:
        default = os.environ.get(STEP_SUMMARY)
        path = self.summary or (Path(default) if default else None)
        if path is None:
            return
        text = markdown(command, gates, plain_text(show, "utf-8"))
        try:
            if is_stream(path):
                write_atomically(path, text)
            else:
                update_file(path, lambda content: (content or b"") + text.encode("utf-8", "replace"))
        except OSError as error:
            if self.summary is not None:
                raise
            say(f"Warning: the step summary cannot be written: {error.strerror}")


def junit_xml(command: str, gates: Sequence[Gate]) -> str:
    """Return the verdicts as JUnit XML: a test that fails for each gate that did."""
    counts = {"tests": str(len(gates)), "failures": str(sum(not gate.passed for gate in gates))}
    suites = ElementTree.Element("testsuites", {"name": "costcurves", **counts})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": f"costcurves {command}", **counts, "errors": "0"})
    for gate in gates:
        name = {"classname": f"costcurves.{command}", "name": safe(gate.claim)}
        case = ElementTree.SubElement(suite, "testcase", name)
        if gate.passed:
            ElementTree.SubElement(case, "system-out").text = safe(gate.line)
        else:
            failure = {"type": gate.verdict, "message": safe(gate.line)}
            ElementTree.SubElement(case, "failure", failure).text = safe(gate.line)
    ElementTree.indent(suites)
    return f"<?xml version='1.0' encoding='UTF-8'?>\n{ElementTree.tostring(suites, encoding='unicode')}\n"


def markdown(command: str, gates: Sequence[Gate], answer: str) -> str:
    """Return the verdicts as a Markdown table, and the answer below."""
    failed = sum(not gate.passed for gate in gates)
    word = f"{failed} of {len(gates)} gates failed" if failed else "all gates passed"
    rows = "".join(
        f"| {'PASS' if gate.passed else '**FAIL**'} | {_md(gate.claim)} | {gate.verdict} | {_md(gate.reason)} "
        f"| {'' if gate.needed is None else f'{gate.needed:,}'} |\n"
        for gate in gates
    )
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", answer))])
    return (
        f"### costcurves {command}: {word}\n\n"
        f"| | claim | verdict | reason | rows needed |\n|---|---|---|---|---|\n{rows}\n"
        f"<details><summary>The answer</summary>\n\n{fence}text\n{answer.rstrip()}\n{fence}\n\n</details>\n\n"
    )


def _md(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return re.sub(r"[\\`*_{}\[\]<>()#+!|~&$@:-]", r"\\\g<0>", safe(text))
