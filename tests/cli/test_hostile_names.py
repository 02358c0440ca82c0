"""Names of files, columns, labels and scenarios are shown as text, whatever they hold."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
from xml.etree import ElementTree

import pytest

from costcurves._base.text import safe

NAMES = [
    "[bold]red[/bold]",
    "[/]",
    "[link=https://example.org]x[/link]",
    'it\'s; "quoted", `and` $HOME',
    "two\nlines\ttab",
    "\x1b[31mred\x1b[0m\x07",
    ":smile: 🦊 naïve",
    "\u202eevil\u2066",
    "'; DROP TABLE x; --",
    "</script><img src=x onerror=alert(1)>",
    "--json",
    "$x^2$ _hidden",
    "x" * 300,
]
REST = ["--score", "other", "--positive", "1"]
UTF_8 = {**os.environ, "LC_ALL": "C.UTF-8"}
FILES = [name for name in NAMES if "/" not in name and len(name) < 200]


def text_of(name: str, label: str = "y") -> str:
    """Return a CSV table with a column of this name."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([label, name, "other"])
    writer.writerows([[i % 2, (i % 2) + (i % 5) / 4, (i % 3) / 2] for i in range(60)])
    return buffer.getvalue()


def flat(text: str) -> str:
    return "".join(text.split())


def check(shown: str, name: str) -> None:
    """Check that a name is shown as it is, and that nothing in it did anything."""
    assert flat(safe(name))[:60] in flat(shown)
    assert not set("\x1b\x07\u202e\u2066") & set(shown)


@pytest.mark.parametrize("name", NAMES)
def test_column_names_are_shown_as_text(run, table, name):
    path = table("t.csv", text_of(name))
    done = run("decide", path, "--label", "y", f"--score={name}", "--score=other", "--pc", "0.5")
    assert done.code == 0, done.err
    check(done.out, name)
    document = run("decide", path, "--label", "y", f"--score={name}", "--pc", "0.5", "--json").json
    assert document["data"]["classifiers"] == [name]
    rows = csv.DictReader(io.StringIO(run("decide", path, "--label", "y", f"--score={name}", "--pc=0.5", "--csv").out))
    assert name in {row["classifier"] for row in rows}
    guessed = run("ranges", path, "--label", "y").err.splitlines()[0].removeprefix("Guessed ")
    assert not set("\x1b\x07\u202e\u2066") & set(guessed)
    # A shell reads the words of the line as they were meant.
    said = subprocess.run(["bash", "-c", f"printf '%s\\0' {guessed}"], capture_output=True, check=True, env=UTF_8)
    words = said.stdout.decode().split("\0")[:-1]
    assert words == [*([f"--score={name}"] if name.startswith("-") else ["--score", name]), *REST]
    wrong = run("decide", path, "--label", name[:299] + "x", "--pc", "0.5")
    assert wrong.code == 2
    check(wrong.err, name)


@pytest.mark.parametrize("name", FILES)
def test_file_names_are_shown_as_text(run, table, name):
    path = table(f"{name}.csv", text_of("a"))
    done = run("ranges", "--", path) if name.startswith("--") else run("ranges", path)
    assert done.code == 0, done.err
    check(done.out, f"{name}.csv")
    missing = run("ranges", f"./{name}.tsv")
    assert missing.code == 2
    check(missing.err, f"{name}.tsv")
    written = run("ranges", path, "-o", f"{name}.json")
    assert json.loads((path.parent / f"{name}.json").read_text(encoding="utf-8"))["data"]["source"] == f"{name}.csv"
    check(written.err, f"{name}.json")


@pytest.mark.parametrize("name", NAMES[:10])
def test_scenarios_and_labels_are_shown_as_text(run, table, name):
    rows = list(csv.reader(io.StringIO(text_of("a"))))
    buffer = io.StringIO()
    csv.writer(buffer).writerows(
        [row if i == 0 else [name if row[0] == "1" else "no", *row[1:]] for i, row in enumerate(rows)]
    )
    path = table("t.csv", buffer.getvalue())
    key = json.dumps(name, ensure_ascii=False)
    costs = table("c.toml", f"positive = {key}\n[scenarios.{key}]\nprevalence = 0.3\ncost_fn = 5\ncost_fp = 1\n")
    done = run("decide", path, "--label", "y", "--score", "a", "--costs", costs)
    assert done.code == 0, done.err
    assert flat(done.out).count(flat(safe(name))) >= 2
    check(done.out, name)
    assert (
        run("decide", path, "--label", "y", "--score", "a", "--costs", costs, "--json").json["decisions"][0]["scenario"]
        == name
    )


@pytest.mark.parametrize("name", [*NAMES[:10], "$\\bad{$", "_$"])
def test_pictures_show_names_as_text(run, table, tmp_path, name):
    path = table("t.csv", text_of(name))
    assert run("curve", path, "--label", "y", f"--score={name}", "-o", "c.svg").code == 0
    ElementTree.fromstring((tmp_path / "c.svg").read_text(encoding="utf-8"))
    assert "<img" not in (tmp_path / "c.svg").read_text(encoding="utf-8")


def test_text_that_does_nothing_is_left_alone():
    assert safe("naïve 🦊 👩‍🔬 עברית ‏x [b]") == "naïve 🦊 👩‍🔬 עברית ‏x [b]"
    assert safe("a\nb\x1b[0m\u202e\ud800\x85") == "a\\nb\\x1b[0m\\u202e\\ud800\\x85"
