"""The benchmark of scans runs in a small form."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def run(*options):
    command = [sys.executable, str(ROOT / "benchmarks" / "scan.py"), "--rows", "3000", *options]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def test_the_benchmark_of_scans_runs_in_small_form(tmp_path):
    printed = run("--repeats", "1", "--output", str(tmp_path))
    jobs = {row["job"]: row for row in json.loads((tmp_path / "scan.json").read_text())["jobs"]}
    assert set(jobs) == {line[:24].rstrip() for line in printed.splitlines()[1:8]}
    assert jobs["exact, 3 classifiers"]["at_most"] == 2
    assert all(row["mib"] > 0 for row in jobs.values())


def test_the_benchmark_checks_exact_scans_against_memory():
    lines = run("--check").splitlines()
    assert [line[:2] for line in lines] == ["a:", "b:", "c:"]
    assert all(line.endswith("of 3000 rows are equal bit for bit") for line in lines)
