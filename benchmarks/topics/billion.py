"""The exact hull of 10⁹ rows of a Parquet file, once. It runs only on request (``--only billion``)."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import scan
from benchmarks.harness import Outcome
from benchmarks.settings import Settings
from benchmarks.topics.scans import peak


def run(settings: Settings) -> Outcome:
    """Write the file, and find the hull in a process of its own."""
    rows = settings.size(10**9, 3_000)
    with tempfile.TemporaryDirectory() as folder:
        path = settings.file or Path(folder) / "scores.parquet"
        if not path.exists():
            scan.generate(path, rows, "a")
        size = path.stat().st_size
        found = scan.run(path, "scan(['a'])")
    return collected(rows, size, found)


def collected(rows: int, size: int, found: Mapping[str, Any]) -> Outcome:
    """Collect the peak of memory, and say how the hull was found."""
    passes, curves = found["answer"]
    job = f"Parquet, {rows:,} rows, exact, 1 classifier, once"
    note = (
        f"The exact hull of {rows:,} rows was found once, by a process of low priority: {curves['a'][0]:,} vertices in "
        f"{passes} passes over one file of {size / 1e9:.1f} GB (labels in int8, scores in float32, a million rows per "
        f"row group), in {found['seconds']:.0f} s ({found['cpu']:.0f} s of processor time), with at most "
        f"{found['mib']:.0f} MiB of memory in use."
    )
    return Outcome(memory=[peak(job, "costcurves", found["mib"], rows, 1024)], notes=[note])
