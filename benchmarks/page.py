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
    "answers": "Decisions and comparisons",
    "scans": "Files",
    "sources": "Packed text, weights and groups in files",
}
# Rows that have an aim, in the order in which the page lists them, and what limits those that miss it.
AIMS = {
    "many-50": "counting 1,225 pairs",
    "many-1000": "the covariance of all classifiers",
    "many-20": "the joint critical value of all pairs, seven tenths of the time whatever n is: see *Comparisons* below",
    "many-at": "p-values that allow for the choice of thresholds",
    "recommend-60": "draws of all candidates, for honest limits",
    "many-60": "draws for joint limits of 1,770 pairs",
    "report-60": "simulations of each classifier, for limits that allow for the choice of its thresholds",
    "recommend-curves": "draws of all candidates, whose number does not depend on n",
    "compare-1000": "999 simulated data sets: see *Comparisons* below",
    "compare-10000": "999 simulated data sets: see *Comparisons* below",
    "difference-hulls": "limits and counts, each of which takes nearly as long as both hulls: see *Comparisons* below",
    "honest": "the counts of five folds: see *Cross-fitted curve* below",
    "choice-sort": "as for hulls, and labels of eight bytes are checked and copied",
    "choice-sort-signs": "as for hulls, and labels of eight bytes are checked and copied",
    "hull-sort": "instructions per row: see *Hull of arrays* below",
    "hull-sort-signs": "instructions per row: see *Hull of arrays* below",
    "roc-float64": "the sort of keys: see *Full curve* below",
    "roc-signs": "the sort of keys: see *Full curve* below",
    "roc-100": "checks of the arguments, in Python",
    "scan-exact, 1 classifier": "decoding twice: see *Exact hulls of files* below",
    "scan-exact, 3 classifiers": "decoding twice: see *Exact hulls of files* below",
    "scan-compare": "another pass over labels and scores: see *Comparisons* below",
    "scan-many-duckdb": "three passes over labels and scores: see *Comparisons* below",
    "groups": "making a curve of each group, in Python",
    "groups-small": "making a curve of each group, in Python",
    "groups-binned": "making a curve of each group, in Python",
    "import-1": "the definitions of 71 modules: see *Imports* below",
    "gzip": "unpacking for a sample, and again for the passes: see *Gzipped CSV* below",
}
AIMS_TITLE = """## Aims

What we want to reach, and what limits a job that does not. Two aims have no ratio: exact hulls of 10⁹ rows within 1 GiB
of memory (see *Files* and *Memory*), and weighted curves of scans in bounded memory (see *Weighted scans*).
"""
INTRODUCTION = """# Benchmarks

This page compares the running time and memory of costcurves with those of other packages. It is made by `make
bench-record`, which measures everything and writes this page. `make bench` only measures, `python benchmarks/run.py
--only roc` measures one topic, and `make bench-check` fails if a ratio by CPU has fallen below 70 % of the one
recorded here.

Every ratio comes from one run in which the sides take turns, because machines are noisy and times of different runs
cannot be compared. A job that takes less than 0.1 s is done several times per turn. Times are the shortest of all calls
and, in brackets, the median. *By CPU* is the ratio of the least processor times, which other programs on the machine
affect less. A ratio is the peer's time divided by ours (≥: more is better), or our time divided by that of a yardstick
(≤: less is better). A floor counts as reached only if both ratios reach it, that of the shortest times and that by CPU:
on a busy machine a short job may run undisturbed in one of its turns where a long one never does, which flatters the
first. Most floors were set beforehand and are what a prototype reached; those of hulls beside a sort, of the best
choice, of full float64 curves and of exact hulls of files are aims. The floor for bands was set relative to resamples
at fixed thresholds that took 3.7 s; both forms of them on this page are quicker. Times marked with \\* are
extrapolated: a part of the resamples was measured and multiplied, as described below each table, without the work that
is done once for all resamples. R measures itself, so its start is not counted.

Jobs that are measured beside a second of processor time use one thread of linear algebra, because other threads would
count while they wait for work. The load averages below say whether other programs were running; if so, only the
ratios by CPU mean much.

Scores are probabilities from a logistic model of one normal variable. Unless stated otherwise, they are float64 in
memory and float32 in files. Scores of both signs are log-odds.

If the package was installed without a C compiler, or with `COSTCURVES_COMPILED=0`, NumPy does the work of the compiled
loops in about twice the time. Hulls then take 1.3 times as long as a bare sort, and two floors are missed: those of
closed-form bands (456 ×) and of exact quantiles (24 ×), both relative to vectorised resamples at fixed thresholds.
"""
LIMITS = """## What limits these jobs

Some rows above were recorded before later changes. Where a text below gives other times, these are processor times of a
later run.

*Hull of arrays.* The hull of 10⁶ scores reads 42 MB: the scores five times (whether they are finite, the lowest, the
highest, the counts in buckets, and the members of buckets that may hold a vertex) and the labels twice. From the cache,
which one core reads at about 120 GB/s on the machine of this page, that takes 0.35 ms; from main memory, at about 40
GB/s, 1 ms. The job takes seven times as long as the first, so it is bound by instructions, not by memory. In one run
the sort took 4.6 ms and the hull 3.0 ms (0.65 of the sort; 2.4 to 2.7 ms, or 0.56 to 0.6, when the machine was idle).
Counting in buckets took 0.51 ms, choosing the buckets that may hold a vertex 0.34 ms, looking for their members 0.69 ms
(1.5 % of the rows are members), the vertices among them 0.1 ms, and keeping the scores for later 0.36 ms; the ends of
the scores and the check that they are finite took about 0.3 ms in a profile. Each row costs one addition to a byte of a
table and one look into a table of bits, for which C99 has no vector instructions; a bare sort, in contrast, uses vector
instructions of 512 bits where the processor has them. Vectors of 512 bits, gathering instructions, larger blocks, and
half or a quarter of the buckets were tried and gain little or nothing. Counting, choosing and looking alone take 0.33
of the sort, so 0.4 of it leaves next to nothing for checking and keeping the scores.

NumPy sorts with vectors of 512 bits where it can, also on processors of the generation Zen 4, which store such vectors
slowly: 10⁶ float64 took 53 ms there, and 9.4 ms without these vectors (`NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL"`).
On such a machine a hull takes a tenth of a bare sort.

*Best choice.* The default route also keeps the scores, because somebody may ask for all points later: packing them with
their labels took 0.36 ms in that run (0.08 of the sort), and the check of labels and the hull of the classifiers come
on top. A plain copy would save 0.2 ms of it, but the full curve would then take 17 % longer and half as much memory
again.

*Full curve.* Scores and labels are packed into keys, which a compiled loop sorts by three passes over their digits: 7
to 8 ms for 10⁶ float64, where NumPy's sort takes 9 ms with fast vectors and 53 ms on Zen 4. In all, the curve takes 17
to 19 ms there. A quarter finds the hull, which comes first because most questions need nothing else. The rest is fresh
memory, and writing thresholds and counts. scikit-learn's time depends on the processor more than ours: 0.2 s there, and
0.75 s of processor time on another one.

*Cross-fitted curve.* The fold of a case follows from its rank, so that all sources of the same cases have the same
folds, and the seed of very many cases from the vertices of their hull, which needs no sort. Cases are counted in
buckets, and only those in buckets that may hold a vertex of a hull without one of the folds are sorted, 4 % of them. Of
38 ms of processor time for 10⁶ cases on a processor of the generation Zen 4 (the usual hull, the yardstick, took 6.0
ms), the usual hull and keeping the scores took 7 ms, reading the kept scores again 4 ms, a random number for each case
2.4 ms, finding the buckets that may hold a vertex 8 ms, counting and gathering them 8 ms, and the hulls without each
of five folds and their errors 4 ms. With a sort of all scores it took 103 ms. On another processor, whose usual hull
took 2.9 ms, it took 18 ms, or 6.4 times as long.

*Comparisons.* The allowance for unequal optimism resamples the counts between the vertices of each curve. A difference
at 1,001 points of 10⁶ cases, whose curves have 223 and 210 vertices, took 26 ms of processor time on a busy machine,
3.2 times as long as both hulls (8 ms). By a profile, these take a quarter of it, the limits of about 430 different
counts of each kind a quarter, counting what only one classifier gets wrong a fifth, and about 55 resamples of each
curve a sixth. It took 45 ms with 300 resamples, of which fewer are enough since the part with a known mean is
subtracted. Joint limits of 1,000 or 10,000 cases are calibrated on 999 simulated data sets: `compare` took 18 and 30 ms
(21 and 32 ms on a machine at rest before the limits were found for 250 data sets at a time, whose arrays stay in the
cache). The joint critical value of `compare_many` is found in a Gaussian field of all pairs at 65 points: seven tenths
of the time for 20 classifiers of 10⁵ cases, which took 0.27 s with one thread of linear algebra. Linear algebra with
several threads adds processor time on a busy machine, where threads wait for each other. A comparison of a file reads
labels and scores once more, because it can begin only when the thresholds are known: for 2 · 10⁷ rows and two
classifiers, the hulls took 0.60 s of processor time, that pass 0.37 s (decoding 12 ns a row, looking up both scores 11
ns); the limits come on top.

*Imports.* Both sides find compiled bytecode, as they do after an installation. Where none is kept, Python compiles our
modules in each process, and the first use of `RocHull` takes twice as long as `numpy` and `narwhals` with their
bytecode. It loads 71 modules of the package, but neither `narwhals` nor SciPy: of 158 ms of processor time, `numpy`
took 89 ms; both libraries took 123 ms.

*Memory.* A full curve of float32 scores holds 12 bytes per row, 2.4 times the input. Its property `thresholds` is an
array of float64, of 8 bytes more.

*Exact hulls of files.* Two passes are needed: a vertex can be anywhere, because the ROC curve of a good score is nearly
concave, and all of its points lie near the hull. Only decoding what both passes need, the labels once and the scores
twice, is a row of the table above (bare decoding, with as many threads). On one thread, 10⁸ rows of one classifier took
0.90 s of processor time: 0.41 s for decoding by Arrow, 0.12 s each for counting and for gathering, and the rest for
checks (missing and infinite values), for labels kept as bits, and for memory that is shared with the decoder. A bare
DuckDB aggregate took 0.34 s, so decoding alone is 1.2 times the aggregate, and decoding, counting and gathering
together are 1.9 times. Smaller pieces, larger buffers, memory maps and no check of pages leave the time of decoding as
it is; DuckDB hands out the scores at 2.2 times Arrow's time. Labels 0 and 1 are decoded once and kept as bits. Rows of
very many groups are divided at once: 10⁷ rows of 10⁴ groups took 0.22 to 0.25 of the processor time of a pandas loop
over scikit-learn's `roc_curve`, and 453 to 488 MB at most, on a busy machine.

*Gzipped CSV.* DuckDB reads a packed file several times to find out its types. After that, the file is unpacked once for
a sample, and once for all passes if its columns take at most 128 MiB, otherwise once for each pass.

*Weighted scans.* The weights of at most 2²⁰ distinct scores are kept by each of four parts of the data. If there are
more, they are added in bins, and later passes look only at bins that can contain a vertex. For 5 · 10⁷ rows of distinct
float64 scores, weighted hulls took 2.8 to 5 s and 620 to 690 MiB (0.7 s and 290 MiB without weights). NumPy adds the
weights, at about 40 ns of processor time per row and pass.
"""
MEMORY = """## Memory

The largest amount that was allocated at one time, including results, as measured by Python's `tracemalloc` (which
counts NumPy arrays, but not what compiled code allocates itself). For files it is the peak of the whole process. The
input is one byte per label and four or eight bytes per score. A curve with very many points holds counts in four bytes
and thresholds in the type of the scores; `fp`, `tp` and `thresholds` convert them to int64 and float64 when they are
used. The full curves of the table below are asked for their thresholds, so that float32 scores are converted.
"""
GROWTH = """## Growth

Seconds at n, 10 n and 100 n: the best of three turns, or one turn if it takes longer than a second.
"""
SERIES = """## Scaling

The best of three turns, or one turn if it takes longer than a second. Each line is measured separately, so small
differences between lines, and from the tables above, have no meaning. `compare_many` compares all pairs at 65 points,
so its work grows with the square of the number of classifiers.
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
    parts.append(AIMS_TITLE + "\n" + _aims(documents))
    for topic, title in TITLES.items():
        if topic in documents:
            parts.append(f"## {title}\n\n{_rows(documents[topic]['rows'])}\n{_sides(documents[topic]['rows'])}")
    parts += [note + "\n" for note in documents.get("billion", {}).get("notes", ())]
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
    usual = {topic: document for topic, document in documents.items() if topic not in records.ON_REQUEST}
    loads = ", ".join(f"{topic} {document['machine']['load_after']}" for topic, document in usual.items())
    lines.append(f"Load average of the machine after each topic (a topic itself contributes 1): {loads}.\n")
    took = sum(document["seconds"] for document in usual.values())
    lines.append(f"`make bench` took {took / 60:.1f} minutes in all.\n")
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
        "Speed relative to each peer by CPU (dots) and the floors (lines). An open dot means that the floor is missed.",
        "```\n",
    ]
    missed = [
        f"- {row['job']}, beside {row['peer']['name']}: {times(row['ratio_of_cpu'])} by CPU, floor {bound(row)}"
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


def _aims(documents: Mapping[str, Mapping[str, Any]]) -> str:
    rows = {row["key"]: row for document in documents.values() for row in document["rows"]}
    table = [("job", "peer", "aim", "ratio", "by CPU", "", "what limits it")]
    for key, limit in AIMS.items():
        if key in rows:
            row = rows[key]
            figures = bound(row), *("" if row[of] is None else times(row[of]) for of in ("ratio", "ratio_of_cpu"))
            verdict = judged(row["met"]).lower()
            table.append((row["job"], row["peer"]["name"], *figures, verdict, "" if row["met"] else limit))
    return _table([tuple(_signs(cell) for cell in line) for line in table], "lllrrll")


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
