"""`doctor` tells what is wrong with a table and what to do; the other commands say in one line that something is."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def sick(tmp_path):
    """Return a table in which much is wrong."""
    rng = np.random.default_rng(1)
    y = (rng.random(600) < 0.2).astype(int)
    good = y + rng.normal(size=600)
    frame = pd.DataFrame(
        {
            "case": [f"c{i}" for i in range(600)],
            "outcome": y,
            "forest": 1 / (1 + np.exp(1 - 3 * good)),
            "flipped": -good,
            "leak": y + rng.normal(size=600) * 0.05,
            "weight": rng.uniform(0.5, 2, 600),
        }
    )
    frame = pd.concat([frame, frame.sample(60, random_state=1)])
    frame.loc[frame.index[3], "forest"] = np.nan
    frame.to_csv(tmp_path / "sick.csv", index=False)
    return frame


def test_everything_that_is_wrong_is_told_with_what_to_do(run, sick):
    done = run("doctor", "sick.csv")
    assert done.code == 0, done.err
    text = " ".join(done.out.split())
    assert "Error: 'flipped' ranks positives below negatives: its AUC is 0.2" in text
    assert "Warning: 'leak' separates the classes perfectly (AUC 1). Make sure that the label" in text
    assert "Warning: 'weight' looks like weights of the rows, which are not used." in text
    assert "Warning: 1 rows lack" not in text
    assert "Warning: 1 row lacks a label or a score." in text
    assert "rows are copies of others" in text
    assert "Note: 'forest' is in [0, 1] but not calibrated" in text
    assert "Otherwise fine: " in text
    assert "worse than chance" not in done.err


def test_answers_in_json_and_csv_are_what_the_library_finds(run, sick):
    found = run("doctor", "sick.csv", "--json").json["findings"]
    assert [one["check"] for one in found][:2] == ["reversed", "roles"]
    assert {one["check"] for one in found} == {
        *("missing", "reversed", "roles", "perfect", "duplicates", "calibration"),
    }
    rows = list(csv.DictReader(io.StringIO(run("doctor", "sick.csv", "--csv").out)))
    assert [row["message"] for row in rows] == [one["message"] for one in found]


def test_a_gate_fails_on_warnings_and_not_on_notes(run, sick):
    done = run("doctor", "sick.csv", "--assert-clean")
    assert done.code == 1
    assert "FAIL: no errors and no warnings: 5 findings: " in done.out
    notes = run("doctor", "example:german_credit", "--positive", "bad", "--assert-clean")
    assert notes.code == 0
    assert "Note: " in notes.out
    assert "PASS: no errors and no warnings" in notes.out


def test_a_table_without_findings_is_said_to_be_fine(run, table):
    rows = "".join(f"{i % 2},{(i * 37 + i % 2 * 60) % 401}.5\n" for i in range(200))
    assert (
        "Nothing was found: no identifiers or weights among the scores, "
        in run("doctor", table("t.csv", f"y,a\n{rows}")).out
    )


@pytest.mark.parametrize(
    "command",
    [
        ("ranges", "sick.csv"),
        ("curve", "sick.csv", "--json"),
        ("hull", "add", "hull.json", "sick.csv"),
        ("compare", "sick.csv", "--pc", "0.5", "--score", "leak", "--score", "forest"),
    ],
)
def test_other_commands_warn_in_one_line_that_leads_to_the_doctor(run, sick, command):
    done = run(*command, "--drop-missing", "--label", "outcome")
    assert done.code == 0, done.err
    lines = [line for line in done.err.splitlines() if "costcurves doctor" in line]
    assert len(lines) == 1
    assert lines[0].startswith("Warning: 'weight' looks like weights of the rows, which are not used. There ")
    assert lines[0].endswith(" more. See what to do: costcurves doctor sick.csv")
    assert (
        run(*command, "--drop-missing", "--label", "outcome", "--quiet", *(["--tag", "2"] * ("add" in command))).err
        == ""
    )


def test_verbose_says_what_was_read_and_why(run, sick):
    done = run("ranges", "sick.csv", "--drop-missing", "--verbose")
    assert "Read sick.csv: 660 rows in " in done.err
    assert "outcome (int64)" in done.err
    assert "--label outcome: by its name" in done.err
    assert "'weight' looks like weights (--weight)" in done.err
    refused = run("ranges", "sick.csv", "--verbose", "--quiet")
    assert (refused.code, refused.out) == (2, "")
    assert "--quiet and --verbose exclude each other" in refused.err


def test_bad_tables_are_refused(run, table):
    assert run("doctor", "nothing.csv").code == 2
    done = run("doctor", table("t.csv", "y,a\n1,0.5\n1,0.6\n"))
    assert done.code == 2
    assert "two classes are needed" in done.err
