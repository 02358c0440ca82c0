"""`costcurves report` and `demo` write the page that the library makes."""

from __future__ import annotations

import csv
import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import costcurves as cc
from costcurves.cli import main
from costcurves.cli.report import command_line


def german_credit() -> tuple[list[str], dict[str, list[float]]]:
    with open(cc.example_path("german_credit_scores.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = ("logit", "forest", "bayes", "tree")
    return [row["label"] for row in rows], {name: [float(row[name]) for row in rows] for name in names}


def test_demo_writes_the_page_of_the_shipped_scenarios(tmp_path, capsys):
    assert main(["demo", "--output", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    page = tmp_path / "out" / "report.html"
    assert [path.name for path in page.parent.iterdir()] == ["report.html"]
    assert str(page) in printed.replace("\n", "")
    assert "Use forest: call a case bad where forest >= 0.2113." in printed

    labels, scores = german_credit()
    scenarios = cc.read_scenarios(cc.example_path("german_credit_costs.toml"))
    report = cc.Report.from_predictions(
        labels,
        scores,
        pos_label="bad",
        scenarios=scenarios.scenarios,
        currency=scenarios.currency,
        title="German credit",
        source="german_credit_scores.csv",
        command="costcurves report example:german_credit --costs example:german_credit --title 'German credit'",
    )
    assert page.read_text(encoding="utf-8") == report.html()


TABLE = 'truth,model,w,"{}"\n' + "".join(
    f"{('no', 'yes')[i % 2]},{(i % 2) + (i % 7) / 3:.3f},{1 + i % 3},{(i % 2) + (i % 5) / 2:.3f}\n" for i in range(60)
)
ODD = "\u202eodd name\nwith 'quotes' \\ and \x1b\x85"
CLASSES = "truth,model\n" + "".join(f"{'abc'[i % 3]},{'abc'[(i + (i % 5 == 0)) % 3]}\n" for i in range(60))
COSTS = """
currency = "EUR"
positive = "yes"
[scenarios."high season"]
prevalence = 0.3
cost_fn = 5
cost_fp = 1
[scenarios.quiet]
prevalence = [0.1, 0.2]
cost_fn = 4
cost_fp = 1
[matrices.first]
a = { a = 0, b = 1 }
b = { a = 3, b = 0 }
[matrices.second]
a = { a = 0, b = 9, c = 2 }
b = { a = 3, b = 0, c = 1 }
c = { a = 1, b = 1, c = 0 }
"""


@pytest.fixture
def folder(tmp_path) -> Path:
    """Return a folder with tables and costs."""
    here = tmp_path / "secret place"
    here.mkdir()
    missing = "yes,,1,0.5\n"
    (here / "t.csv").write_text(TABLE.format(ODD) + missing, encoding="utf-8", newline="")
    (here / "-k.csv").write_text(CLASSES, encoding="utf-8")
    (here / "costs.toml").write_text(COSTS, encoding="utf-8")
    return here


TWO = ["t.csv", "--label", "truth", "--drop-missing", "--positive", "yes"]
REPORTS = {
    "everything": [
        *(*TWO, "--score", "model", "--score", ODD, "--weight", "w", "--costs", "costs.toml"),
        *("--scenario", "high season", "--level", "0.9", "--title", 'It\'s a "title" $HOME'),
    ],
    "guesses": ["t.csv", "--drop-missing", "--positive", "yes", "--score", "model"],
    "numbers": [*TWO, "--score", "model", "--prevalence", "0.1..0.3", "--cost-fn", "3", "--cost-fp", "1"],
    "pc": [*TWO, "--score=model", "--pc", "0.2..0.4", "--title=--title"],
    "classes": [
        *("./-k.csv", "--label", "truth", "--pred", "model", "--costs", "costs.toml"),
        *("--matrix", "second", "--level", "0.8"),
    ],
}


def in_shell(there: Path, script: str, command: str) -> str:
    """Return what a shell prints for a command, where `costcurves` is a script."""
    (there / "bin").mkdir()
    (there / "bin" / "costcurves").write_text(f"#!/bin/sh\n{script}\n")
    (there / "bin" / "costcurves").chmod(0o755)
    environment = {**os.environ, "PATH": f"{there}/bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    environment["PYTHONPATH"] = str(Path(cc.__file__).parents[1])
    done = subprocess.run(["bash", "-c", command], cwd=there, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout.decode()


@pytest.mark.parametrize(
    ("name", "absolute"),
    [("everything", True), ("guesses", False), ("numbers", False), ("pc", False), ("classes", True)],
)
def test_the_command_on_the_page_makes_the_page_again(folder, monkeypatch, name, absolute):
    arguments = list(REPORTS[name])
    files = ("t.csv", "./-k.csv", "costs.toml")
    if absolute:
        arguments = [str((folder / word).resolve()) if word in files else word for word in arguments]
        (folder.parent / "elsewhere").mkdir()
        monkeypatch.chdir(folder.parent / "elsewhere")
    else:
        monkeypatch.chdir(folder)
    assert main(["report", *arguments, "-o", "first.html"]) == 0
    page = Path("first.html").read_text(encoding="utf-8")
    assert "secret place" not in page
    command = html.unescape(re.search(r"<pre dir=\"ltr\"><code>(.*?)</code></pre>", page, re.DOTALL)[1])
    # The reader has the files in a folder of their own, and a shell.
    there = folder.parent / "reader"
    shutil.copytree(folder, there, ignore=shutil.ignore_patterns("*.html"))
    monkeypatch.chdir(there)
    if name == "everything":
        in_shell(there, f'exec "{sys.executable}" -m costcurves "$@"', command)
    else:  # the words are those of a shell, and the command a function
        words = in_shell(there, "printf '%s\\0' \"$@\"", command).split("\0")[:-1]
        assert main(words) == 0
    assert (there / "report.html").read_text(encoding="utf-8") == page


def test_a_path_in_a_command_is_relative_or_a_bare_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    costs = {"--costs": tmp_path / "sub" / "costs.toml"}
    assert command_line(Path("/home/me/t.csv"), costs) == "costcurves report t.csv --costs sub/costs.toml"
    assert command_line(Path("data/t.csv"), {"--title": None}) == "costcurves report data/t.csv"


def test_the_file_of_scenarios_says_what_is_in_use_today_unless_options_do(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scenario = "[scenarios.now]\nprevalence = 0.3\ncost_fn = 5\ncost_fp = 1\n"
    Path("plain.toml").write_text('positive = "bad"\n' + scenario, encoding="utf-8")
    today = 'positive = "bad"\ncases_per_year = 5000\nbaseline = "tree"\nbaseline_threshold = 0.5\n'
    Path("today.toml").write_text(today + scenario, encoding="utf-8")
    options = ["--cases-per-year", "5000", "--baseline", "tree", "--baseline-threshold", "0.5"]

    def report(*words):
        assert main(["report", "example:german_credit", *words, "-o", "r.json", "--force", "-q"]) == 0
        return {**json.loads(Path("r.json").read_text(encoding="utf-8")), "command": None, "checksum": None}

    told = report("--costs", "today.toml")
    assert told == report("--costs", "plain.toml", *options)
    y, scores = german_credit()
    known = cc.read_scenarios("today.toml")
    ours = cc.Report.from_predictions(
        y, scores, pos_label="bad", scenarios=known, source="german_credit_scores.csv"
    ).to_dict()
    assert {**ours, "checksum": None} == told
    assert told["scenarios"][0]["per_year"]["saving"] is not None
    other = report("--costs", "today.toml", "--baseline", "logit", "--cases-per-year", "10")
    assert other["cases_per_year"] == 10
    assert other["scenarios"][0]["saving"]["baseline"]["classifier"] == "logit"
    assert other["scenarios"][0]["saving"]["baseline"]["threshold"] != 0.5
    capsys.readouterr()

    def against(*words):
        assert main(["decide", "example:german_credit", "--json", "-q", *words]) == 0
        return json.loads(capsys.readouterr().out)["against"]

    assert against("--costs", "today.toml") == against("--costs", "plain.toml", *options[2:]) != []
    assert main(["report", "example:german_credit", "--costs", "today.toml", "--baseline", "x", "-o", "x.html"]) == 2
    assert "Error: --baseline must be one of logit, forest" in capsys.readouterr().err
