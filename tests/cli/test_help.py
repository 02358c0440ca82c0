"""Every command explains itself, and every command that help and the README show works when it is pasted."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from costcurves.cli._app import app

ROOT = Path(__file__).parents[2]
HULL = ("add", "show")
COMMANDS = [
    *("report", "demo", "decide", "ranges", "compare", "curve", "bcost", "bdeltacost", "plan", "schema", "doctor"),
    *(f"hull {name}" for name in HULL),
]


def to_paste(text: str) -> list[str]:
    """Return the commands in the code blocks of a Markdown text."""
    inside = "".join(text.split("```")[1::2])
    return [line for line in inside.splitlines() if line.startswith("costcurves ")]


def example_of(help_text: str) -> str:
    """Return the first paragraph after the usage."""
    paragraphs = re.split(r"\n\s*\n", help_text.strip())
    assert paragraphs[0].strip().startswith("Usage: costcurves")
    return " ".join(paragraphs[1].split())


def test_these_are_all_commands():
    names = {command.name or command.callback.__name__ for command in app.registered_commands}
    groups = {group.name for group in app.registered_groups}
    assert names | groups == {command.split()[0] for command in COMMANDS}


@pytest.mark.parametrize("command", COMMANDS)
def test_help_starts_with_a_command_that_works(run, reports, command):
    shown = run(*command.split(), "--help")
    example = example_of(shown.out)
    assert (shown.code, shown.err) == (0, "")
    assert example.startswith(f"costcurves {command}")
    if command == "hull show":
        assert run(*shlex.split("hull add hull.json example:german_credit --positive bad")).code == 0
    done = run(*shlex.split(example)[1:])
    assert done.code == 0, done.err
    assert done.out or done.err


def test_help_of_everything_starts_with_the_demo(run, reports):
    shown = run("--help")
    assert example_of(shown.out) == "costcurves demo"
    assert example_of(run("hull", "--help").out).startswith("costcurves hull add ")
    for command in COMMANDS:
        assert f" {command.split()[0]} " in shown.out


def test_without_arguments_help_is_shown(run):
    assert "Usage: costcurves" in run().out
    assert "Usage: costcurves hull" in run("hull").out


def test_commands_in_the_readme_work(run, reports):
    found = to_paste((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(found) >= 5
    for command in found:
        done = run(*shlex.split(command, comments=True)[1:])
        assert done.code == 0, (command, done.err)


def test_every_command_is_in_the_readme():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        assert f"costcurves {command}" in text, command


def test_help_fits_a_narrow_terminal(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, run("decide", "--help").out.splitlines())) <= 80


def test_the_version_is_printed(run):
    import costcurves

    assert run("--version").out == f"costcurves {costcurves.__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_the_commands(run, monkeypatch, shell):
    monkeypatch.setenv("_COSTCURVES_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "costcurves d")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    monkeypatch.setenv("COMP_WORDS", "costcurves d")
    monkeypatch.setenv("COMP_CWORD", "1")
    out = run().out
    assert "decide" in out
    assert "demo" in out
