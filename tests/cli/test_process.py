"""The command as a process: entry points, missing extras, interrupts, closed pipes, poor terminals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import costcurves

ROOT = Path(__file__).parents[2]
DECIDE = ["decide", "example:german_credit", "--positive", "bad", "--score", "tree", "--pc", "0.5"]


def start(*code: str, **options: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(costcurves.__file__).parents[1]), **options.pop("env", {})}
    pipes = {
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
        "encoding": "utf-8",
        "env": environment,
    }
    return subprocess.Popen([sys.executable, *code], **{**pipes, **options})


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=600)
    return process.returncode, out, err


def test_python_m_is_the_command():
    code, out, err = finish(start("-m", "costcurves", *DECIDE, "--assert-better-than", "tree"))
    assert (code, err) == (1, "Guessed --label label\n")
    assert "FAIL: better than tree" in out
    assert "\x1b" not in out


def test_the_entry_point_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {"costcurves": "costcurves.cli:main"}


def test_without_the_extra_it_says_what_to_install():
    for missing in ("typer", "rich"):
        hidden = (
            f"import sys; sys.modules['{missing}'] = None; from costcurves.cli import main; sys.exit(main(['demo']))"
        )
        code, out, err = finish(start("-c", hidden))
        assert (code, out) == (2, "")
        assert err == f'costcurves: the command line needs {missing}: pip install "costcurves[cli]"\n'


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_where_nothing_can_be_said_no_gate_seems_to_have_failed():
    with open("/dev/full", "w", encoding="utf-8") as full:
        code, _, _ = finish(start("-m", "costcurves", *DECIDE, stderr=full))
    assert code not in (0, 1)


def test_an_interrupted_run_ends_with_130_and_leaves_nothing(tmp_path):
    slow = (
        "import sys, time, costcurves as cc; from costcurves.cli import main\n"
        "def wait(*_, **__):\n    print('ready', file=sys.stderr, flush=True); time.sleep(100)\n"
        f"cc.Predictions.recommend = wait; sys.exit(main({[*DECIDE, '-o', 'a.json']!r}))"
    )
    process = start("-c", slow, cwd=tmp_path)
    assert process.stderr is not None
    while process.stderr.readline() != "ready\n":
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    code, out, err = finish(process)
    assert (code, out, err) == (130, "", "Interrupted; no file is left incomplete.\n")
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_leaves_is_no_error():
    process = start("-m", "costcurves", "curve", *DECIDE[1:4], "--json")
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    code, _, err = finish(process)
    assert code == 141
    assert "Traceback" not in err
    assert "BrokenPipe" not in err


def test_a_terminal_that_cannot_show_a_letter_still_gets_the_answer():
    code, out, _ = finish(start("-m", "costcurves", *DECIDE, env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}))
    assert code == 0
    assert "Use tree: call a case bad where tree >= " in out
    assert out.isascii()
    assert "?" not in out.replace("more?", "")


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from costcurves.cli import main; main(['--help']); "
        "print([m for m in ('pyarrow', 'duckdb', 'matplotlib', 'scipy', 'pandas', 'altair') if m in sys.modules])"
    )
    assert finish(start("-c", code))[1].rstrip().endswith("[]")
