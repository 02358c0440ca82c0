"""The benchmarks run in a small form, judge ratios as they say, and their page is that of the recorded results."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT))  # last, so that nothing of the root hides another module

from benchmarks import check, harness, page, records, tables  # noqa: E402
from benchmarks import run as runner  # noqa: E402
from benchmarks.settings import Settings  # noqa: E402
from benchmarks.topics import scans  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results"
DOCUMENTS = page.read_all(RESULTS)


# Nothing is measured here, so that every side is called once.
ONCE = """
from dataclasses import replace
from benchmarks import harness, run

interleaved = harness.interleaved
harness.SHORT_TURN = 0
harness.interleaved = lambda sides, _: interleaved([replace(side, turns=1) for side in sides], 1)
raise SystemExit(run.main())
"""


def run(*options):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", ONCE, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_every_topic_in_memory_runs_in_small_form(tmp_path):
    topics = ("roc", "bands", "classes", "scaling", "answers", "sources")
    done = run("--small", "--repeats", "1", "--output", str(tmp_path), "--only", *topics)
    assert done.returncode == 0, done.stderr
    for topic in topics:
        document = json.loads((tmp_path / f"{topic}.json").read_text(encoding="utf-8"))
        assert document["small"]
        assert document["versions"]["costcurves"]
        assert document["rows"] or document["series"]
        for row in document["rows"]:
            assert row["job"] in done.stdout
            assert row["absent"] or (row["ratio"] > 0 and row["ours"]["does"] and row["peer"]["does"])
    full = {row["key"] for topic in topics if topic in DOCUMENTS for row in DOCUMENTS[topic]["rows"]}
    small = {row["key"] for topic in topics for row in records.read(tmp_path / f"{topic}.json")["rows"]}
    assert {key for key in full - small if not key.startswith("rocr")} == set()  # a new row waits to be recorded


def sides(ours, peer, **more):
    return [harness.Side("us", "a", ours), harness.Side("them", "a", peer, **more)]


def test_sides_take_turns_and_the_first_is_not_counted(monkeypatch):
    monkeypatch.setattr(harness, "SHORT_TURN", 0.0)
    calls = []
    race = harness.Race(
        sides(lambda: calls.append("us"), lambda: calls.append("them"), turns=2),
        [harness.Row("k", "job", "us", "them")],
    )
    outcome = harness.Outcome()
    outcome.add(race, 4)
    assert calls == ["us", "them"] * 3 + ["us"] * 2
    assert [outcome.rows[0][side]["calls"] for side in ("ours", "peer")] == [4, 2]
    assert outcome.rows[0]["met"] is None


def test_what_is_quick_is_called_several_times_a_turn():
    calls = []
    outcome = harness.Outcome()
    race = harness.Race(
        sides(lambda: calls.append(1), lambda: harness.Timing(1.0, 1.0)), [harness.Row("k", "job", "us", "them")]
    )
    outcome.add(race, 2)
    assert len(calls) == 3 * harness.MOST_CALLS
    assert [outcome.rows[0][side]["calls"] for side in ("ours", "peer")] == [2 * harness.MOST_CALLS, 2]


def timed(wall, cpu=1.0):
    return lambda: harness.Timing(wall, cpu)


def test_ratios_are_of_the_shortest_turns_and_extrapolated_by_the_factor():
    race = harness.Race(
        sides(timed(2.0, 2.0), timed(3.0, 4.0), factor=10, part="a tenth"),
        [
            harness.Row("faster", "job", "us", "them", 15),
            harness.Row("not fast enough", "job", "us", "them", 16),
            harness.Row("yardstick", "job", "us", "them", 0.07, at_most=True),
            harness.Row("short yardstick", "job", "us", "them", 0.06, at_most=True),
            harness.Row("only by CPU", "job", "us", "them", 18),
            harness.Row("yardstick only by CPU", "job", "us", "them", 0.055, at_most=True),
        ],
    )
    outcome = harness.Outcome()
    outcome.add(race, 2)
    assert [row["met"] for row in outcome.rows] == [True, False, True, False, False, False]
    assert [row["ratio"] for row in outcome.rows] == pytest.approx([15, 15, 1 / 15, 1 / 15, 15, 1 / 15])
    assert outcome.rows[0]["ratio_of_cpu"] == pytest.approx(20)
    assert "(from a tenth)" in tables.text({**vars(outcome)})


def test_a_ratio_of_the_shortest_turns_alone_does_not_reach_a_floor():
    rows = [harness.Row("k", "job", "us", "them", 5), harness.Row("l", "job", "us", "them", 0.2, at_most=True)]
    outcome = harness.Outcome()
    outcome.add(harness.Race(sides(timed(1.0, 2.0), timed(5.0, 5.0)), rows), 1)
    assert [row["met"] for row in outcome.rows] == [False, False]


def test_a_peer_that_is_missing_says_why_and_is_not_judged():
    race = harness.Race(sides(timed(2.0), None, missing="R is at home"), [harness.Row("k", "job", "us", "them", 5)])
    outcome = harness.Outcome()
    outcome.add(race, 1)
    assert outcome.rows[0]["absent"] == "R is at home"
    assert outcome.rows[0]["met"] is None
    assert "absent: R is at home" in tables.text({**vars(outcome)})


def test_peaks_count_results_and_are_judged_by_their_limit():
    race = harness.Race(
        [harness.Side("us", "a", lambda: bytearray(3_000_000))],
        [harness.Row("k", "job", "us", "us")],
        [harness.Memory("us", 1_000_000, 1_000_000, 3.1), harness.Memory("us", 1_000_000, 1_000_000, 2.9)],
    )
    outcome = harness.Outcome()
    outcome.add(race, 1)
    assert [row["met"] for row in outcome.memory] == [True, False]
    assert outcome.memory[0]["bytes_per_row"] == pytest.approx(3, rel=0.01)


def document(*rows):
    columns = ("key", "ratio_of_cpu", "at_most", "absent")
    return {"rows": [dict(zip(columns, row, strict=True)) | {"job": "job"} for row in rows]}


def test_a_ratio_below_seventy_percent_of_the_kept_one_has_fallen():
    kept = document(("fast", 10.0, False, None), ("yardstick", 1.0, True, None))
    assert check.falls(kept, document(("fast", 7.01, False, None), ("yardstick", 1.42, True, None))) == []
    fallen = check.falls(kept, document(("fast", 6.99, False, None), ("yardstick", 1.44, True, None)))
    assert [fall.key for fall in fallen] == ["fast", "yardstick"]
    assert "2 below 70 %" in check.verdict(fallen)
    assert "fast (job): 6.99 times as fast as the peer, was 10" in check.verdict(fallen)


def test_a_row_that_is_gone_has_fallen_and_an_absent_peer_has_not():
    kept = document(("gone", 10.0, False, None), ("r", 10.0, False, None), ("never", None, False, "no R"))
    found = document(("r", None, False, "no R"), ("never", 3.0, False, None))
    assert [fall.key for fall in check.falls(kept, found)] == ["gone"]
    assert "not measured" in check.verdict(check.falls(kept, found))


def test_of_two_runs_each_row_counts_where_it_was_faster():
    first = document(("a", 5.0, False, None), ("b", 2.0, True, None), ("c", 3.0, False, None))
    second = document(("a", 6.0, False, None), ("b", 3.0, True, None))
    assert [row["ratio_of_cpu"] for row in check.better(first, second)["rows"]] == [6.0, 2.0, 3.0]


@pytest.mark.parametrize("topic", check.TOPICS)
def test_the_guard_fails_on_a_broken_ratio_of_the_recorded_results(topic):
    kept = DOCUMENTS[topic]
    assert check.falls(kept, kept) == []
    broken = copy.deepcopy(kept)
    row = next(row for row in broken["rows"] if row["ratio"] is not None)
    row["ratio_of_cpu"] *= 2 if row["at_most"] else 0.5
    assert [fall.key for fall in check.falls(kept, broken)] == [row["key"]]


@pytest.mark.parametrize(("factor", "code"), [(1.0, 0), (0.5, 1)])
def test_bench_check_ends_with_one_where_a_ratio_is_broken(monkeypatch, tmp_path, capsys, factor, code):
    runs = []

    def measured(topic, settings):
        runs.append(topic)
        found = copy.deepcopy(DOCUMENTS[topic])
        for row in found["rows"]:
            if row["key"] == "roc-float32":
                row["ratio_of_cpu"] *= factor
        return found

    monkeypatch.setattr(records, "measured", measured)
    monkeypatch.setattr(sys, "argv", ["run.py", "--check", "--output", str(tmp_path)])
    assert runner.main() == code
    # A topic with a low ratio is measured once more before it is called fallen.
    assert runs == (list(check.TOPICS) if code == 0 else ["roc", *check.TOPICS])
    told = capsys.readouterr().out
    assert ("roc-float32 (full ROC curve" in told) == bool(code)


def test_numbers_of_scans_become_rows_and_peaks():
    job = {"median_s": 3.0, "cpu_s": 1.0, "mib": 500.0}
    jobs = [
        {"job": "duckdb, 3 columns", "min_s": 1.0, **job},
        {"job": "duckdb, 1 column", "min_s": 0.5, **job},
        {"job": "decoding, 3 columns", "min_s": 2.0, **job},
        {"job": "decoding, 1 column", "min_s": 1.0, **job},
        {"job": "binned, 3 classifiers", "min_s": 4.0, "at_most": 3, "most_mib": 1024, **job},
        {"job": "exact, 3 classifiers", "min_s": 4.0, "at_most": 5, "most_mib": 400, **job},
        {"job": "exact, 1 classifier", "min_s": 2.0, "at_most": 3, "most_mib": 614, **job},
    ]
    outcome = scans.collected({"rows": 1000, "jobs": jobs}, {"seconds": 40.0, "cpu": 39.0, "mib": 4000.0})
    assert {row["key"]: (row["ratio"], row["met"]) for row in outcome.rows} == {
        "scan-pandas": (20.0, True),
        "scan-binned, 3 classifiers": (4.0, False),
        "scan-exact, 3 classifiers": (4.0, True),
        "decoding-exact, 3 classifiers": (2.0, None),
        "scan-exact, 1 classifier": (4.0, False),
        "decoding-exact, 1 classifier": (2.0, None),
    }
    assert [row["met"] for row in outcome.memory] == [True, False, True, None]


def test_the_page_is_that_of_the_recorded_results():
    assert set(DOCUMENTS) | {"sources"} == set(records.TOPICS)  # which waits to be recorded
    assert not any(document["small"] for document in DOCUMENTS.values())
    assert (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8") == page.text(DOCUMENTS)


def test_every_aim_is_a_recorded_row_with_a_floor():
    floors = {row["key"]: row["floor"] for found in DOCUMENTS.values() for row in found["rows"]}
    waiting = {"many-at", "scan-many-duckdb", "groups-small", "groups-binned", "gzip"}  # to be recorded
    assert [key for key in page.AIMS if floors.get(key) is None and key not in waiting] == []


def test_the_page_names_every_missed_floor(tmp_path):
    changed = copy.deepcopy(DOCUMENTS)
    row = next(row for row in changed["roc"]["rows"] if row["met"])
    row["met"] = False
    assert f"- {row['job']}, beside {row['peer']['name']}" in page.text(changed)
    for topic, found in changed.items():
        records.write(found, tmp_path / f"{topic}.json")
    written = page.write(tmp_path, tmp_path / "docs")
    pictures = {path.name for path in (tmp_path / "docs" / "images").iterdir()}
    assert {f"images/{name}" for name in pictures} == {
        line.split()[1] for line in written.read_text(encoding="utf-8").splitlines() if line.startswith("```{figure}")
    }


def test_small_sizes_are_small():
    assert Settings(small=True).size(10**6) == 2_000
    assert Settings().size(10**6) == 10**6
