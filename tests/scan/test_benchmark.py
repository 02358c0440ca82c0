"""The benchmark of scans runs in a small form."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_the_benchmark_of_scans_runs_in_small_form(tmp_path):
    command = [sys.executable, str(ROOT / "benchmarks" / "scan.py"), "--rows", "3000", "--repeats", "1"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [*command, "--output", str(tmp_path)], check=True, capture_output=True, text=True, env=environment
    )
    jobs = {row["job"]: row for row in json.loads((tmp_path / "scan.json").read_text())["jobs"]}
    assert set(jobs) == {line[:24].rstrip() for line in done.stdout.splitlines()[1:6]}
    assert jobs["exact, 3 classifiers"]["at_most"] == 5
    assert all(row["mib"] > 0 for row in jobs.values())
