"""Decisions and comparisons beside the curves that they need, or beside a number of seconds that they may take."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import costcurves as cc
from benchmarks import scan
from benchmarks.harness import Call, Outcome, Race, Row, Side, Timing, clocked
from benchmarks.settings import Array, Settings, predictions

SECOND = Side("one second of CPU", "nothing: a yardstick of processor time", lambda: Timing(1.0, 1.0))
CONDITION = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)


def run(settings: Settings) -> Outcome:
    """Measure all races."""
    outcome = Outcome()
    for race in (*in_seconds(settings), beside_curves(settings), honest_curve(settings)):
        outcome.add(race, 1 if settings.small else min(settings.repeats, 2))
    with tempfile.TemporaryDirectory() as folder:
        outcome.add(groups(settings, Path(folder) / "groups.parquet"), 1)
        outcome.add(of_file(settings, Path(folder) / "scores.parquet"), 1 if settings.small else 2)
    return outcome


def processor(call: Call) -> Timing:
    """Measure a call by its processor time alone, because elapsed seconds depend on what else the machine does.

    Linear algebra uses one thread: others would count although most of their time they only wait for work.
    """
    with threadpool_limits(1):
        cpu = clocked(call).cpu
    return Timing(cpu, cpu)


def classifiers(number: int, size: int) -> tuple[Array, dict[str, Array]]:
    """Draw labels and the scores of classifiers of several qualities on the same cases."""
    rng = np.random.default_rng(0)
    labels = rng.random(size) < 0.3
    common = rng.normal(size=size)
    return labels, {f"c{k}": common + rng.normal(size=size) + (0.8 + 0.4 * k / number) * labels for k in range(number)}


def in_seconds(settings: Settings) -> list[Race]:
    """The races for jobs that should take at most so many seconds."""

    def race(key: str, job: str, does: str, call: Call, most: float, turns: int | None = None) -> Race:
        ours = Side("costcurves", does, lambda: processor(call), turns=turns)
        return Race([ours, SECOND], [Row(key, job, ours.name, SECOND.name, most, True)])

    def many(number: int, size: int, most: float) -> Race:
        key, size = f"many-{number}", settings.size(size, 200)
        number = settings.size(number, 5)
        labels, scores = classifiers(number, size)
        job = f"compare_many, {number:,} classifiers, n = {size:,}"
        return race(key, job, "all pairs at 65 points", lambda: cc.compare_many(labels, scores), most)

    def answer(number: int, size: int, most: float) -> Race:
        number, size = settings.size(number, 5), settings.size(size, 200)
        found = cc.compare_many(*classifiers(number, size))
        job = f"compare_many(...).at(condition), {number:,} classifiers, n = {size:,}"
        return race("many-at", job, "all pairs at one condition", lambda: found.at(CONDITION), most)

    def pair(size: int, most: float) -> Race:
        labels, scores = classifiers(2, size)
        job, does = f"compare, n = {size:,}", "limits of the difference in cost, jointly for all costs"
        return race(f"compare-{size}", job, does, lambda: cc.compare(labels, *scores.values()), most)

    number = settings.size(60, 4)
    labels, scores = classifiers(number, 300)
    cases = f"{number} classifiers, 300 rows"
    short, curve = predictions(100)

    def page() -> str:
        return cc.Report.from_predictions(labels, scores, scenarios={"usual": CONDITION}).html()

    return [
        many(50, 100_000, 1),
        many(1_000, 10_000, 10),
        many(20, 100_000, 0.5),
        answer(50, 100_000, 1),
        race(
            "recommend-60",
            f"recommend, {cases}",
            "the choice with its limits and verdict",
            lambda: cc.recommend(labels, scores, CONDITION),
            3,
        ),
        race("many-60", f"compare_many, {cases}", "all pairs", lambda: cc.compare_many(labels, scores), 3),
        race("report-60", f"report, {cases}", "the page", page, 15, turns=1),
        pair(1_000, 0.02),
        pair(10_000, 0.05),
        race(
            "roc-100",
            "RocCurve.from_predictions, n = 100",
            "a curve of all points",
            lambda: cc.RocCurve.from_predictions(short, curve),
            40e-6,
        ),
    ]


def beside_curves(settings: Settings) -> Race:
    """The race for a recommendation, beside the full curves of all classifiers."""
    size = settings.size(500_000, 500)
    labels, scores = classifiers(8, size)

    def curves() -> None:
        for values in scores.values():
            cc.RocCurve.from_predictions(labels, values).thresholds  # noqa: B018 - which asks for all points

    return Race(
        [
            Side(
                "costcurves", "the choice with its limits and verdict", lambda: cc.recommend(labels, scores, CONDITION)
            ),
            Side("eight curves", "the full ROC curves of all classifiers, by costcurves", curves),
        ],
        [Row("recommend-curves", f"recommend, 8 classifiers, n = {size:,}", "costcurves", "eight curves", 8, True)],
    )


def honest_curve(settings: Settings) -> Race:
    """The race for a cross-fitted curve, beside the usual one."""
    size = settings.size(1_000_000)
    labels, scores = predictions(size)
    calls: dict[str, Call] = {
        "costcurves": lambda: cc.CostCurve.from_predictions(labels, scores, policy="crossfit"),
        "hull": lambda: cc.CostCurve.from_predictions(labels, scores),
    }
    return Race(
        [
            Side(
                "costcurves",
                "the cost curve of thresholds that are chosen without the fold of a case",
                calls["costcurves"],
            ),
            Side("hull", "the hull and the usual cost curve, by costcurves", calls["hull"]),
        ],
        [Row("honest", f"cross-fitted cost curve, n = {size:,}", "costcurves", "hull", 8, True)],
    )


def groups(settings: Settings, path: Path) -> Race:
    """The race for a hull of each of very many groups, beside a loop over them in pandas."""
    import pandas as pd
    from sklearn.metrics import roc_curve

    size, number = settings.size(10_000_000, 3_000), settings.size(10_000, 3)
    labels, scores = predictions(size)
    group = np.random.default_rng(1).integers(number, size=size)
    table = pd.DataFrame({"y": labels.astype(np.int8), "s": scores, "g": group})

    table.to_parquet(path, index=False)

    def grouped() -> object:
        return cc.scan(path, label="y", scores=["s"], group="g", progress=False).roc_curves()

    def loop() -> None:
        for _, part in table.groupby("g"):
            roc_curve(part["y"], part["s"])

    name = "pandas loop over roc_curve"
    return Race(
        [
            Side("costcurves", "the hull of every group, from a Parquet file", grouped, turns=1),
            Side(name, "the curve of every group, from a frame in memory", loop, turns=1),
        ],
        [Row("groups", f"{number:,} groups, n = {size:,}", "costcurves", name, 0.3, True)],
    )


def of_file(settings: Settings, path: Path) -> Race:
    """The race for comparisons of classifiers in a file, beside their hulls."""
    import duckdb

    rows = settings.size(50_000_000, 3_000)
    scan.generate(path, rows)

    def scanned(*names: str) -> Any:
        return cc.scan(path, label="y", scores=list(names), progress=False)

    job = f"Parquet, {rows:,} rows"
    hulls, pair, bare = "three hulls", "two hulls", "bare DuckDB aggregate"
    query = f"select sum(y), max(a), max(b), max(c) from read_parquet('{path}')"
    return Race(
        [
            Side(
                "compare",
                "the difference of two classifiers, hulls included",
                lambda: scanned("a", "b").compare("a", "b"),
                turns=1,
            ),
            Side(
                "compare_many",
                "all pairs of three classifiers, hulls included",
                lambda: scanned("a", "b", "c").compare_many(),
                turns=1,
            ),
            Side(pair, "the exact hulls, by costcurves", lambda: scanned("a", "b").roc_curves(), turns=1),
            Side(hulls, "the exact hulls, by costcurves", lambda: scanned("a", "b", "c").roc_curves(), turns=1),
            Side(bare, "sum and maxima of the same columns", lambda: duckdb.sql(query).fetchall(), turns=1),
        ],
        [
            Row("scan-compare", f"compare, {job}", "compare", pair, 1.5, True),
            Row("scan-many", f"compare_many of 3, {job}", "compare_many", hulls, at_most=True),
            Row("scan-many-duckdb", f"compare_many of 3, {job}", "compare_many", bare, 4, True),
        ],
    )
