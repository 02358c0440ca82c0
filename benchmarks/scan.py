"""Compare scans of a Parquet file with a bare DuckDB aggregate: ``python benchmarks/scan.py --rows 100000000``.

Each job runs in its own process, which reports its time and its peak memory. Jobs take turns, so that a noisy machine
affects all alike. The time of a job does not include starting Python and importing libraries. ``--check`` instead
compares the exact curves with those of all rows in memory, bit for bit.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

GROUP = 1_000_000
# Each job: its code, the job with which its time is compared, the largest ratio of times, and the most MiB.
JOBS = {
    "duckdb, 3 columns": ("con.sql('select sum(y), max(a), max(b), max(c) from data').fetchall()", None, None, None),
    "duckdb, 1 column": ("con.sql('select sum(y), max(a) from data').fetchall()", None, None, None),
    "decoding, 3 columns": ("decode(['a', 'b', 'c'])", None, None, None),
    "decoding, 1 column": ("decode(['a'])", None, None, None),
    "binned, 3 classifiers": ("scan(['a', 'b', 'c'], resolution=2**16)", "duckdb, 3 columns", 3, 1024),
    "exact, 3 classifiers": ("scan(['a', 'b', 'c'])", "duckdb, 3 columns", 2, 1024),
    "exact, 1 classifier": ("scan(['a'])", "duckdb, 1 column", 1.6, 614),
}
# Not ru_maxrss, which on Linux is at least the memory of the process that started this one.
PEAK = """
import os, resource
high = []
if os.path.exists("/proc/self/status"):
    high = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
peak = (int(high[0].split()[1]) if high else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024
"""
CHILD = """
import json, os, sys, time
path, work = sys.argv[1:]
if "con." in work:
    import duckdb
    con = duckdb.connect()
    con.execute("set enable_progress_bar = false")
    con.execute("create view data as from '" + path.replace("'", "''") + "'")
elif "decode" in work:
    import pyarrow.parquet
    from concurrent.futures import ThreadPoolExecutor
    def decode(scores):
        # What an exact scan must decode: labels and scores in the first pass, scores in the second.
        opened = pyarrow.parquet.ParquetFile(path, pre_buffer=False)
        groups = range(opened.metadata.num_row_groups)
        def part(first):
            own = pyarrow.parquet.ParquetFile(path, metadata=opened.metadata, pre_buffer=False)
            for columns in (["y", *scores], scores):
                for group in groups[first::threads]:
                    own.read_row_group(group, columns=columns, use_threads=False)
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(part, range(threads)))
else:
    import costcurves as cc, pyarrow.parquet, pyarrow.compute
    import costcurves.data.scan
    def scan(scores, **options):
        src = cc.scan(path, label="y", scores=scores, progress=False, **options)
        found = {name: [curve.fp.size, curve.max_error] for name, curve in src.roc_curves().items()}
        return [src.passes, found]
start, before = time.perf_counter(), time.process_time()
answer = eval(work)
seconds, cpu = time.perf_counter() - start, time.process_time() - before
{PEAK}
print(json.dumps({"seconds": seconds, "cpu": cpu, "mib": peak, "answer": answer}, default=str))
""".replace("{PEAK}", PEAK)


GAINS = {"a": 1.0, "b": 1.2, "c": 0.8}  # by classifier: how far the scores of positives lie above those of negatives


def generate(path: Path, rows: int, names: str = "abc") -> None:
    """Write labels and the scores of some classifiers, with a million rows per row group."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    schema = pa.schema([("y", pa.int8()), *((name, pa.float32()) for name in names)])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, GROUP):
            size = min(GROUP, rows - start)
            y = rng.random(size, dtype=np.float32) < 0.3
            odds = (rng.standard_normal(size, dtype=np.float32) + np.float32(GAINS[name]) * y for name in names)
            columns = [y.astype(np.int8), *(1 / (1 + np.exp(-logit)) for logit in odds)]
            writer.write_table(pa.table(columns, schema=schema), row_group_size=GROUP)


def run(path: Path, work: str) -> dict[str, Any]:
    """Run one job in its own process and return its report."""
    done = subprocess.run([sys.executable, "-c", CHILD, str(path), work], check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def measure(path: Path, repeats: int) -> list[dict[str, object]]:
    """Measure times, memory and ratios of all jobs in turns."""
    turns = [{name: run(path, work) for name, (work, *_) in JOBS.items()} for _ in range(repeats)]
    rows: list[dict[str, object]] = []
    for name, (_, peer, most, room) in JOBS.items():
        times = [turn[name]["seconds"] for turn in turns]
        row: dict[str, object] = {
            "job": name,
            "min_s": min(times),
            "median_s": statistics.median(times),
            "cpu_s": min(turn[name]["cpu"] for turn in turns),
            "mib": max(turn[name]["mib"] for turn in turns),
            "most_mib": room,
        }
        if peer is not None:
            peers = [turn[peer]["seconds"] for turn in turns]
            row |= {
                "ratio_of_min": min(times) / min(peers),
                "ratio_of_median": statistics.median(times) / statistics.median(peers),
                "at_most": most,
            }
        rows.append(row)
    return rows


def same(path: Path) -> bool:
    """Whether exact scans equal the hulls of all rows in memory, bit for bit. Only one column at a time is held."""
    import pyarrow.parquet as pq

    import costcurves as cc

    scanned = cc.scan(path, label="y", scores=["a", "b", "c"], progress=False).roc_curves()
    y = pq.read_table(path, columns=["y"]).column(0).to_numpy()
    all_equal = True
    for name, curve in scanned.items():
        scores = pq.read_table(path, columns=[name]).column(0).to_numpy()
        whole = cc.RocCurve.from_predictions(y, scores, points="hull")
        parts = [(getattr(curve, part), getattr(whole, part)) for part in ("fp", "tp", "thresholds")]
        equal = all(one.tobytes() == other.tobytes() for one, other in parts)
        all_equal = all_equal and equal
        print(f"{name}: {curve.fp.size} vertices of {y.size} rows {'are equal bit for bit' if equal else 'DIFFER'}")
    return all_equal


def text(rows: list[dict[str, object]]) -> str:
    """Format the rows as an aligned table."""
    lines = [f"{'job':24} {'min [s]':>9} {'median [s]':>11} {'peak [MiB]':>11}  ratio to DuckDB (min, median)"]
    for row in rows:
        line = f"{row['job']:24} {row['min_s']:9.2f} {row['median_s']:11.2f} {row['mib']:11.0f}"
        if "ratio_of_min" in row:
            line += f"  {row['ratio_of_min']:.2f}, {row['ratio_of_median']:.2f} (at most {row['at_most']}"
            line += f", {row['most_mib']} MiB)"
        lines.append(line)
    return "\n".join(lines)


def main() -> None:
    """Generate the file, measure, print and write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the file (default 10**7)")
    parser.add_argument("--repeats", type=int, default=3, help="turns of every job (default 3)")
    parser.add_argument("--file", type=Path, help="an existing file to use instead of a new one")
    parser.add_argument("--check", action="store_true", help="only compare exact scans with the rows in memory")
    parser.add_argument("--output", type=Path, default=Path("bench-output"), help="where scan.json goes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.file or Path(folder) / "scores.parquet"
        if not path.exists():
            generate(path, options.rows)
        if options.check:
            sys.exit(0 if same(path) else 1)
        rows = measure(path, options.repeats)
    print(text(rows))
    options.output.mkdir(parents=True, exist_ok=True)
    where = options.output / "scan.json"
    where.write_text(json.dumps({"rows": options.rows, "jobs": rows}, indent=1) + "\n", encoding="utf-8")
    print(f"\nwrote {where}")


if __name__ == "__main__":
    main()
