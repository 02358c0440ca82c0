"""The page of results, docs/benchmarks.md with its pictures, which is made only from the recorded JSON files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import check, pictures, records
from benchmarks.tables import bound, growth_cells, judged, memory_cells, seconds, times

TITLES = {
    "roc": "Curves and hulls of raw arrays",
    "bands": "Bands, differences, and a cost curve in R",
    "classes": "k classes",
    "imports": "Imports",
    "scans": "Files",
}
INTRODUCTION = """# Benchmarks

This page compares the running time and memory of costcurves with those of other packages. It is made by `make
bench-record`, which measures everything and writes this page. `make bench` only measures, `python benchmarks/run.py
--only roc` measures one topic, and `make bench-check` fails if a ratio has fallen below 70 % of the one recorded here.

Every ratio comes from one run in which the sides take turns, because machines are noisy and times of different runs
cannot be compared. A job that takes less than 0.1 s is done several times per turn. Times are the shortest of all calls
and, in brackets, the median. *By CPU* is the ratio of the least processor times, which other programs on the machine
affect less. A ratio is the peer's time divided by ours (≥: more is better), or our time divided by that of a yardstick
(≤: less is better). The floors were set beforehand and are what a prototype reached. The floor for bands was set
relative to resamples at fixed thresholds that took 3.7 s; both forms of them on this page are quicker. Times marked
with \\* are extrapolated: a part of the resamples was measured and multiplied, as described below each table, without
the work that is done once for all resamples. R measures itself, so its start is not counted. The shortest times decide
whether a floor is reached.

Scores are probabilities from a logistic model of one normal variable. Unless stated otherwise, they are float64 in
memory and float32 in files. Scores of both signs are log-odds.

If the package was installed without a C compiler, or with `COSTCURVES_COMPILED=0`, NumPy does the work of the compiled
loops in about twice the time. Hulls then take 1.3 times as long as a bare sort, and two floors are missed: those of
closed-form bands (456 ×) and of exact quantiles (24 ×), both relative to vectorised resamples at fixed thresholds.
"""
LIMITS = """## What limits these jobs

*Hull of arrays.* The hull of 10⁶ scores reads 42 MB: the scores five times (whether they are finite, the lowest, the
highest, the counts in buckets, and the members of buckets that may hold a vertex) and the labels twice. From the cache,
which one core reads at about 120 GB/s on the machine of this page, that takes 0.35 ms; from main memory, at about 40
GB/s, 1 ms. The job takes six to seven times as long as the first, so it is bound by instructions, not by memory: each
row costs one addition to a byte of a table and one look into a table of bits, for which C99 has no vector instructions,
and each of the two takes about half a nanosecond. A bare sort, in contrast, uses vector instructions of 512 bits where
the processor has them, and takes about 1.3 times as long with 256 bits.

*Full curve.* Two fifths of the time are the sort of keys. A quarter finds the hull, which comes first because most
questions need nothing else. The rest writes thresholds and counts.

*Exact hulls of files.* Two passes are needed: a vertex can be anywhere, because the ROC curve of a good score is nearly
concave, and all of its points lie near the hull. Decoding the scores twice, with a check of the pages, takes about half
of the time and as much as the whole of a bare DuckDB aggregate; counting and gathering take a fifth. Labels 0 and 1 are
decoded once and kept as bits. Rows of very many groups are divided at once: 10⁷ rows of 10⁴ groups took 0.22 to 0.25 of
the processor time of a pandas loop over scikit-learn's `roc_curve`, and 453 to 488 MB at most, on a busy machine.

*Gzipped CSV.* DuckDB reads a packed file several times to find out its types. After that, the file is unpacked once for
a sample, and once for all passes if its columns take at most 128 MiB, otherwise once for each pass.

*Weighted scans.* Exact sums of weights hold all distinct scores in memory; `resolution` bounds it.
"""
MEMORY = """## Memory

The largest amount that was allocated at one time, including results, as measured by Python's `tracemalloc` (which
counts NumPy arrays, but not what compiled code allocates itself). For files it is the peak of the whole process. The
input is one byte per label and four or eight bytes per score. A curve with very many points holds counts in four bytes
and thresholds in the type of the scores; `fp`, `tp` and `thresholds` convert them to int64 and float64 when they are
used.
"""
GROWTH = """## Growth

Seconds at n, 10 n and 100 n: the best of three turns, or one turn if it takes longer than a second.
"""
SERIES = """## Scaling

The best of three turns, or one turn if it takes longer than a second. Each line is measured separately, so small
differences between lines, and from the tables above, have no meaning. `compare_many` compares all pairs at 65 points,
so its work grows with the square of the number of classifiers. It also factors the covariance of all error rates, which
grows with the cube.
"""


def write(results: Path, docs: Path) -> Path:
    """Write the page and its pictures, and return the path of the page."""
    documents = read_all(results)
    for name, draw in pictures.of(documents).items():
        draw(docs / "images" / f"benchmarks-{name}.svg")
    path = docs / "benchmarks.md"
    path.write_text(text(documents), encoding="utf-8")
    return path


def read_all(results: Path) -> dict[str, dict[str, Any]]:
    """Read the recorded documents by topic, as far as they exist."""
    paths = {topic: results / f"{topic}.json" for topic in records.TOPICS}
    return {topic: records.read(path) for topic, path in paths.items() if path.exists()}


def text(documents: Mapping[str, Mapping[str, Any]]) -> str:
    """Write the text of the page."""
    parts = [INTRODUCTION, _about(documents), _overview(documents)]
    for topic, title in TITLES.items():
        if topic in documents:
            parts.append(f"## {title}\n\n{_rows(documents[topic]['rows'])}\n{_sides(documents[topic]['rows'])}")
    parts += [LIMITS, MEMORY + "\n" + _memory(documents), GROWTH + "\n" + _growth(documents)]
    if "scaling" in documents:
        parts.append(SERIES + "\n" + _series(documents["scaling"]["series"]))
    return "\n".join(parts)


def _about(documents: Mapping[str, Mapping[str, Any]]) -> str:
    lines = []
    machines: dict[tuple[str, ...], list[str]] = {}
    for topic, document in documents.items():
        m = document["machine"]
        where = f"{m['processors']} × {m['processor']}, {m['memory_gib']} GiB, {m['system']}"
        with_ = ", ".join(f"{name} {number}" for name, number in document["versions"].items())
        machines.setdefault((where, document["date"], with_), []).append(topic)
    for (where, date, with_), topics in machines.items():
        which = "" if len(machines) == 1 else f" ({', '.join(topics)})"
        lines.append(f"Machine{which}: {where}; {date}. Versions: {with_}.\n")
    loads = ", ".join(f"{topic} {document['machine']['load_after']}" for topic, document in documents.items())
    lines.append(f"Load average of the machine after each topic (a topic itself contributes 1): {loads}.\n")
    return "\n".join(lines)


def _overview(documents: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [row for document in documents.values() for row in document["rows"]]
    judged_rows = [row for row in rows if row["met"] is not None]
    met = sum(row["met"] for row in judged_rows)
    lines = [
        "## In short\n",
        f"{met} of {len(judged_rows)} floors are reached.\n",
        "```{figure} images/benchmarks-ratios.svg",
        ":alt: How many times as fast as each peer costcurves is, and the floor of each ratio.",
        "Speed relative to each peer (dots) and the floors (lines). An open dot means that the floor is missed.",
        "```\n",
    ]
    missed = [
        f"- {row['job']}, beside {row['peer']['name']}: {times(row['ratio'])}, floor {bound(row)}"
        for row in judged_rows
        if not row["met"]
    ]
    missed += [
        "- memory of {}, {}: {} bytes per row, {} the input, limit {}".format(*memory_cells(row))
        for document in documents.values()
        for row in document["memory"]
        if row["met"] is False
    ]
    slower = [
        f"- {row['job']}, beside {row['peer']['name']}: {times(1 / (check.speed(row) or 1.0))} its time"
        for row in rows
        if row["ratio"] is not None and (check.speed(row) or 1.0) < 1 and row["floor"] is None
    ]
    absent = [f"- {row['job']}, beside {row['peer']['name']}: {row['absent']}" for row in rows if row["absent"]]
    for title, found in (
        ("Missed", missed),
        ("Slower than the peer, without a limit", slower),
        ("Not measured", absent),
    ):
        if found:
            lines += [f"{title}:\n", *map(_signs, found), ""]
    return "\n".join(lines)


def _rows(rows: Iterable[Mapping[str, Any]]) -> str:
    table = [("job", "peer", "ours", "peer", "ratio", "by CPU", "floor", "")]
    for row in rows:
        if row["absent"]:
            table.append((row["job"], row["peer"]["name"], "", "", "", "", bound(row), "not measured"))
            continue
        by_cpu = "" if row["ratio_of_cpu"] is None else times(row["ratio_of_cpu"])
        ratio = f"{times(row['ratio'])} ({times(row['ratio_of_medians'])})"
        ours, peer = _time(row["ours"]), _time(row["peer"])
        verdict = judged(row["met"]).lower()
        table.append((row["job"], row["peer"]["name"], ours, peer, ratio, by_cpu, bound(row), verdict))
    return _table([tuple(_signs(cell) for cell in line) for line in table], "llrrrrll")


def _time(side: Mapping[str, Any]) -> str:
    star = "\\*" if side["part"] else ""
    return f"{seconds(side['min_s'])} ({seconds(side['median_s'])}){star}"


def _sides(rows: Iterable[Mapping[str, Any]]) -> str:
    """Describe what each side computes, job by job."""
    jobs: dict[str, dict[str, None]] = {}
    for row in rows:
        for side in (row["ours"], row["peer"]):
            part = f" (\\* measured: {side['part']})" if side["part"] else ""
            jobs.setdefault(row["job"], {})[f"  - *{side['name']}*: {side['does']}{part}"] = None
    # Jobs whose sides do the same share an entry.
    same: dict[tuple[str, ...], list[str]] = {}
    for job, lines in jobs.items():
        same.setdefault(tuple(lines), []).append(job)
    listed = [line for lines, names in same.items() for line in (f"- {'; '.join(names)}", *lines)]
    return "What each side computes:\n\n" + "\n".join(listed) + "\n"


def _memory(documents: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [row for document in documents.values() for row in document["memory"]]
    table = [("job", "side", "bytes per row", "of the input", "limit", "")]
    table += [tuple(_signs(cell.replace("MISSED", "missed")) for cell in memory_cells(row)) for row in rows]
    return _table(table, "llrrll")


def _growth(documents: Mapping[str, Mapping[str, Any]]) -> str:
    tables = []
    for document in documents.values():
        for growth in document["growth"]:
            job = re.sub(r", n = \d+(,\d{3})*", "", growth["job"])
            cells = growth_cells(job, "n", growth["sizes"], growth["seconds"])
            tables.append(_table(cells, "l" + "r" * len(growth["sizes"])))
    return "\n".join(tables)


def _series(series: Iterable[Mapping[str, Any]]) -> str:
    parts = []
    for one in series:
        name = pictures.slug(one["title"])
        parts.append(
            f"```{{figure}} images/benchmarks-{name}.svg\n:alt: Seconds over {one['axis']}, both axes logarithmic, "
            f"as in the table below.\n{one['title']}\n```\n"
        )
        cells = growth_cells(one["title"], one["axis"], one["values"], one["seconds"])
        turned = [(one["axis"], *(row[0] for row in cells[1:]))]
        turned += [(f"{value:,}", *(row[k + 1] for row in cells[1:])) for k, value in enumerate(one["values"])]
        parts.append(_table(turned, "r" * len(turned[0])))
    return "\n".join(parts)


def _signs(cell: str) -> str:
    return cell.replace("<=", "≤").replace(">=", "≥").replace(" x", " ×")


def _table(rows: Sequence[Sequence[str]], sides: str) -> str:
    rule = "|".join({"l": "---", "r": "---:"}[side] for side in sides)
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]]) + "\n"
