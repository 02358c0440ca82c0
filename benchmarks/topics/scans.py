"""Scans of Parquet files by ``benchmarks/scan.py``, compared with DuckDB and with pandas and scikit-learn."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import scan
from benchmarks.harness import Outcome, reached
from benchmarks.settings import Settings

# It runs in its own process, as every job of scan.py does, so that its memory can be measured.
PANDAS = """
import json, sys, time
import pandas as pd
from sklearn.metrics import roc_curve
start, before = time.perf_counter(), time.process_time()
data = pd.read_parquet(sys.argv[1], columns=["y", "a"])
curve = roc_curve(data["y"], data["a"])
seconds, cpu = time.perf_counter() - start, time.process_time() - before
{PEAK}
print(json.dumps({"seconds": seconds, "cpu": cpu, "mib": peak}))
""".replace("{PEAK}", scan.PEAK)


def run(settings: Settings) -> Outcome:
    """Measure scans of a new file."""
    rows = settings.size(settings.rows, 3_000)
    repeats = 1 if settings.small else 2
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.parquet"
        scan.generate(path, rows)
        script = Path(scan.__file__)
        options = ["--file", str(path), "--rows", str(rows), "--repeats", str(repeats), "--output", folder]
        subprocess.run([sys.executable, str(script), *options], check=True, stdout=subprocess.DEVNULL)
        document = json.loads((Path(folder) / "scan.json").read_text(encoding="utf-8"))
        done = subprocess.run([sys.executable, "-c", PANDAS, str(path)], check=True, capture_output=True, text=True)
    return collected(document, json.loads(done.stdout))


def collected(document: Mapping[str, Any], pandas: Mapping[str, float]) -> Outcome:
    """Collect the rows and peaks from the output of scan.py, and those of pandas."""
    rows = document["rows"]
    jobs = {job["job"]: job for job in document["jobs"]}
    outcome = Outcome()
    one = jobs["exact, 1 classifier"]
    outcome.rows.append(
        _row(
            "scan-pandas",
            f"Parquet, {rows:,} rows, exact, 1 classifier",
            one,
            {"name": "pandas + scikit-learn roc_curve", "does": "all rows in memory, then the curve", "part": ""}
            | {"min_s": pandas["seconds"], "median_s": pandas["seconds"], "cpu_s": pandas["cpu"], "calls": 1},
            floor=8,
            at_most=False,
        )
    )
    for name, job in jobs.items():
        if "at_most" in job:
            columns = "1 column" if "1 classifier" in name else "3 columns"
            title = f"Parquet, {rows:,} rows, {name}"
            peer = _peer(jobs[f"duckdb, {columns}"], "bare DuckDB aggregate", "sum and maxima of the same columns")
            outcome.rows.append(_row(f"scan-{name}", title, job, peer, floor=job["at_most"], at_most=True))
            if "exact" in name:
                decoding = _peer(
                    jobs[f"decoding, {columns}"], "bare decoding", "labels once and scores twice, by Arrow"
                )
                outcome.rows.append(_row(f"decoding-{name}", title, job, decoding, floor=None, at_most=True))
            outcome.memory.append(peak(title, "costcurves", job["mib"], rows, job["most_mib"]))
    title = f"Parquet, {rows:,} rows, exact, 1 classifier"
    outcome.memory.append(peak(title, "pandas + scikit-learn roc_curve", pandas["mib"], rows, None))
    return outcome


def _peer(job: Mapping[str, Any], name: str, does: str) -> dict[str, Any]:
    return {"name": name, "does": does, "part": ""} | {key: job[key] for key in ("min_s", "median_s", "cpu_s")}


def _row(
    key: str, job: str, ours: Mapping[str, Any], peer: dict[str, Any], *, floor: float | None, at_most: bool
) -> dict[str, Any]:
    does = "the exact hull, in bounded memory"
    if "binned" in job:
        does = "the hull of 65,536 bins, with the largest error they can cause"
    mine = _peer(ours, "costcurves scan", does)
    ratios = {
        name: mine[which] / peer[which] if at_most else peer[which] / mine[which]
        for name, which in (("ratio", "min_s"), ("ratio_of_medians", "median_s"), ("ratio_of_cpu", "cpu_s"))
    }
    row = {"key": key, "job": job, "floor": floor, "at_most": at_most, "ours": mine, "peer": peer, "absent": None}
    row |= ratios
    return row | {"met": reached(row)}


def peak(job: str, side: str, mib: float, rows: int, limit: float | None) -> dict[str, Any]:
    """Make a row of peak memory."""
    most = mib * 2**20
    return {
        "job": job,
        "side": side,
        "bytes_per_row": most / rows,
        "multiple_of_input": None,
        "peak_bytes": int(most),
        "limit": None,
        "limit_bytes": None if limit is None else int(limit * 2**20),
        "met": None if limit is None else mib <= limit,
    }
