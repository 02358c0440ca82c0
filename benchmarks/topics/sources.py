"""Packed text, weights and groups in files, beside a query of the same columns or a loop over the groups.

Every job runs in its own process, so that its memory can be measured.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks import scan
from benchmarks.harness import Call, Outcome, Race, Row, Side, Timing
from benchmarks.settings import Settings, predictions
from benchmarks.topics.scans import peak

LOOP = "pandas loop over roc_curve"
SCANNED = "len(cc.scan(path, label='y', scores=['s'], progress=False{}).roc_curves())"


def run(settings: Settings) -> Outcome:
    """Measure all races."""
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as folder:
        for number, make in enumerate((packed, weighted, few_groups, many_groups)):
            make(outcome, settings, Path(folder) / f"{number}")
    return outcome


def in_process(path: Path, work: str, peaks: list[float]) -> Call:
    """Make a call that does a job of `scan.py` in its own process, and keeps its peak memory in MiB."""

    def call() -> Timing:
        done = scan.run(path, work)
        peaks.append(done["mib"])
        return Timing(done["seconds"], done["cpu"])

    return call


def packed(outcome: Outcome, settings: Settings, folder: Path) -> None:
    """The race for a gzipped CSV file: it should be unpacked at most once more than DuckDB does for one query."""
    import pandas as pd

    rows = settings.size(2_000_000, 3_000)
    labels, scores = predictions(rows)
    path = folder.with_suffix(".csv.gz")
    pd.DataFrame({"y": labels.astype(np.int8), "s": scores}).to_csv(
        path, index=False, compression={"method": "gzip", "compresslevel": 1}
    )
    peaks: list[float] = []
    query = "con.sql('select sum(y), max(s) from data').fetchall()"
    job, bare = f"gzipped CSV, {rows:,} rows", "bare DuckDB aggregate"
    race = Race(
        [
            Side("costcurves scan", "the exact hull", in_process(path, SCANNED.format(""), peaks)),
            Side(bare, "sum and maximum of the same columns", in_process(path, query, [])),
        ],
        [Row("gzip", job, "costcurves scan", bare, 2, True)],
    )
    outcome.add(race, 1)
    outcome.memory.append(peak(job, "costcurves scan", max(peaks), rows, None))


def weighted(outcome: Outcome, settings: Settings, folder: Path) -> None:
    """The race for a hull of weighted rows with distinct scores, beside the one without weights."""
    import pandas as pd

    rows = settings.size(20_000_000, 3_000)
    labels, scores = predictions(rows)
    weights = np.random.default_rng(1).random(rows) + 0.5
    path = folder.with_suffix(".parquet")
    pd.DataFrame({"y": labels.astype(np.int8), "s": scores, "w": weights}).to_parquet(path, index=False)
    peaks: list[float] = []
    job, plain = f"weighted Parquet, {rows:,} rows", "without weights"
    race = Race(
        [
            Side(
                "costcurves scan",
                "the exact hull of sums of weights, in bounded memory",
                in_process(path, SCANNED.format(", weight='w'"), peaks),
                turns=1,
            ),
            Side(
                plain,
                "the exact hull of the same rows, by costcurves",
                in_process(path, SCANNED.format(""), []),
                turns=1,
            ),
        ],
        [Row("weighted", job, "costcurves scan", plain, at_most=True)],
    )
    outcome.add(race, 1)
    outcome.memory.append(peak(job, "costcurves scan", max(peaks), rows, 1024))


def few_groups(outcome: Outcome, settings: Settings, folder: Path) -> None:
    """The race for very many groups of 100 rows in one call, beside a call for each."""
    _grouped(outcome, settings.size(1_000_000, 3_000), settings.size(10_000, 30), folder, "groups-small", "", None)


def many_groups(outcome: Outcome, settings: Settings, folder: Path) -> None:
    """The race for very many groups in bins, whose memory must not grow with the number of bins."""
    rows, number = settings.size(10_000_000, 3_000), settings.size(10_000, 30)
    _grouped(outcome, rows, number, folder, "groups-binned", ", resolution=2**14", 477)  # 500 MB


def _grouped(
    outcome: Outcome, rows: int, number: int, folder: Path, key: str, options: str, most: float | None
) -> None:
    import pandas as pd
    from sklearn.metrics import roc_curve

    labels, scores = predictions(rows)
    group = np.arange(rows) % number
    labels[: 2 * number] = np.repeat([False, True], number)[: 2 * number]  # every group has both classes
    table = pd.DataFrame({"y": labels.astype(np.int8), "s": scores, "g": group})
    path = folder.with_suffix(".parquet")
    table.to_parquet(path, index=False)

    def loop() -> None:
        for _, part in table.groupby("g"):
            roc_curve(part["y"], part["s"])

    peaks: list[float] = []
    job = f"{number:,} groups, n = {rows:,}" + (", resolution 2^14" if options else "")
    race = Race(
        [
            Side(
                "costcurves scan",
                f"the hull of {'bins of ' if options else ''}every group, from a Parquet file",
                in_process(path, SCANNED.format(f", group='g'{options}"), peaks),
                turns=1,
            ),
            Side(LOOP, "the curve of every group, from a frame in memory", loop, turns=1),
        ],
        [Row(key, job, "costcurves scan", LOOP, 0.3, True)],
    )
    outcome.add(race, 1)
    outcome.memory.append(peak(job, "costcurves scan", max(peaks), rows, most))
