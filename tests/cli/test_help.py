"""Every command explains itself, and every command that help and the README show works when it is pasted."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import costcurves
from costcurves.cli._app import app

ROOT = Path(__file__).parents[2]
HULL = ("add", "show", "list", "remove", "merge")
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
    if command.startswith("hull ") and command != "hull add":
        for add in ("hull add hull.json", "hull add other.json --tag other"):
            assert run(*shlex.split(f"{add} example:german_credit --positive bad")).code == 0
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
    assert run("--version").out == f"costcurves {costcurves.__version__}\n"


@pytest.fixture(params=["bash", "zsh", "fish"])
def offered(run, monkeypatch, request):
    """Return what a shell is offered for the last word of a command."""

    def ask(line: str) -> str:
        monkeypatch.setenv("_COSTCURVES_COMPLETE", f"complete_{request.param}")
        monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
        monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        done = run()
        assert (done.code, done.err) == (0, "")
        return done.out

    return ask


@pytest.mark.parametrize(
    ("line", "names", "others"),
    [
        ("costcurves d", ("decide", "demo", "doctor"), ("compare",)),
        ("costcurves schema b", ("bcost", "bdeltacost"), ("decide",)),
        ("costcurves decide example:german_credit --score f", ("forest", "fold"), ("tree",)),
        ("costcurves hull add hull.json example:german_credit --label l", ("label", "logit"), ("tree",)),
        ("costcurves compare example:german_credit --score tree --candidate t", ("tree",), ("forest",)),
        ("costcurves bcost example:vehicle --costs example:vehicle --pred l", ("label", "logit"), ("bayes",)),
        ("costcurves ranges x.csv --costs example:german_credit --scenario u", ("uncertain",), ("documented",)),
        ("costcurves curve x.csv --policy b", ("bayes",), ("crossfit",)),
        ("costcurves decide nothing.csv --score f", (), ("forest",)),
        ("costcurves decide --score f", (), ("forest",)),
        ("costcurves decide - --score f", (), ("forest",)),
    ],
)
def test_completion_offers_names_that_fit(offered, line, names, others):
    out = offered(line)
    assert all(name in out for name in names)
    assert not any(name in out for name in others)


def test_bash_completes_a_name_with_spaces_as_one_word(tmp_path):
    (tmp_path / "t.csv").write_text("y,two words,tree\n1,0.5,0.1\n0,0.2,0.3\n", encoding="utf-8")
    (tmp_path / "costcurves").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m costcurves "$@"\n')
    (tmp_path / "costcurves").chmod(0o755)
    script = """
        eval "$(_COSTCURVES_COMPLETE=source_bash costcurves)"
        COMP_WORDS=(costcurves ranges t.csv --score t); COMP_CWORD=4; _costcurves_completion costcurves
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    paths = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(Path(costcurves.__file__).parents[1])}
    shell = ["bash", "-c", script]
    done = subprocess.run(shell, cwd=tmp_path, env={**os.environ, **paths}, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["two\\ words", "tree"], done.stderr
