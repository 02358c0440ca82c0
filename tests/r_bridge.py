"""Ask R: ROCR's cost curve and convex hull, pROC's area and best points.

Each call starts one R process, so every function takes a list of data sets and answers all of them at once.
Scores travel as hexadecimal floats and come back with 17 digits: nothing is rounded on the way.
"""

from __future__ import annotations

import csv
import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import pytest

Predictions = tuple[Sequence[int], Sequence[float]]
Vertices = list[tuple[float, float]]

PACKAGES = ("ROCR", "pROC")

# `answer` is a function of (label, score) that returns a named list of numeric vectors.
_DRIVER = r"""
suppressPackageStartupMessages({library(ROCR); library(pROC)})
arguments <- commandArgs(trailingOnly = TRUE)
answer <- eval(parse(file = arguments[1]))
data <- read.csv(arguments[2])
out <- file(arguments[3], "w")
for (set in unique(data$set)) {
  rows <- data[data$set == set, ]
  result <- answer(rows$label, rows$score)
  for (name in names(result))
    for (value in result[[name]])
      cat(sprintf("%d,%s,%.17g\n", set, name, value), file = out)
}
close(out)
"""


@functools.cache
def why_r_is_missing() -> str | None:
    """Return what is missing to run the R comparisons, or None."""
    if shutil.which("Rscript") is None:
        return "Rscript is not on the PATH"
    check = "; ".join(f"if (!requireNamespace('{p}', quietly = TRUE)) cat('{p} ')" for p in PACKAGES)
    found = subprocess.run(["Rscript", "-e", check], capture_output=True, text=True, check=False, timeout=600)
    if found.returncode != 0:
        return f"Rscript does not work: {found.stderr.strip()}"
    return f"R packages are missing: {found.stdout.strip()}" if found.stdout.strip() else None


def require_r() -> None:
    """Skip the running test when R or a package is missing; fail it where CI=true, which must have them."""
    reason = why_r_is_missing()
    if reason is not None:
        _give_up(reason)


def _give_up(reason: str) -> NoReturn:
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"CI must run the comparisons with R, but {reason}")
    pytest.skip(f"no comparison with R: {reason}")


def run_r(answer: str, datasets: Sequence[Predictions]) -> list[dict[str, list[float]]]:
    """Run an R function(label, score) on each data set; return its named numeric vectors for each."""
    require_r()
    with tempfile.TemporaryDirectory() as folder:
        driver, program, data, out = (Path(folder, name) for name in ("driver.R", "answer.R", "in.csv", "out.csv"))
        driver.write_text(_DRIVER, encoding="ascii")
        program.write_text(answer, encoding="ascii")
        with data.open("w", encoding="ascii", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["set", "label", "score"])
            for number, (labels, scores) in enumerate(datasets):
                for label, score in zip(labels, scores, strict=True):
                    writer.writerow([number, int(bool(label)), float(score).hex()])
        done = subprocess.run(
            ["Rscript", "--vanilla", *map(str, (driver, program, data, out))],
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        if done.returncode != 0:
            raise RuntimeError(f"R failed: {done.stderr.strip()}")
        results: list[dict[str, list[float]]] = [{} for _ in datasets]
        with out.open(encoding="ascii", newline="") as file:
            for number, name, value in csv.reader(file):
                results[int(number)].setdefault(name, []).append(float(value))
    return results


def _pairs(results: Sequence[dict[str, list[float]]]) -> list[Vertices]:
    return [list(zip(result["x"], result["y"], strict=True)) for result in results]


def rocr_ecost(datasets: Sequence[Predictions]) -> list[Vertices]:
    """Return ROCR's cost curve `performance(pred, "ecost")` as (pc, normalized expected cost), by rising pc.

    The x axis is PC(+), with never-positive the line y = x on the left and always-positive y = 1 - x on the
    right: the same orientation as here. What ROCR does differently:

    - It adds both trivial classifiers and drops points that another one beats at equal fpr or equal tpr.
    - A vertex comes once for every pair of lines that cross there, as neighbouring floats: three lines
      through one vertex (three collinear ROC points) give three copies. `merge_close` joins them.
    - A perfect classifier has the two vertices (0, 0) and (1, 0). Otherwise (0, 0) and (1, 0) are always
      among the vertices, also when some point has fpr = 0 or tpr = 1.
    - Crossings are found with `uniroot` at its default tolerance of 1e-4. The lines are straight, so its
      answers were within 2e-15 on 1,260 small tied sets, none of which lost or gained a vertex. A crossing is
      kept when it is within 1.5e-8 of the lowest line, so nearly collinear points of large sets could differ.
    - It is cubic in the number of points: keep the sets small.
    """
    return _pairs(
        run_r(
            """function(label, score) {
                 p <- performance(prediction(score, label), "ecost")
                 list(x = p@x.values[[1]], y = p@y.values[[1]])
               }""",
            datasets,
        )
    )


def rocr_rch(datasets: Sequence[Predictions]) -> list[Vertices]:
    """Return ROCR's hull `performance(pred, "rch")` as (fpr, tpr), from (0, 0) to (1, 1).

    These are the vertices of the upper hull with both corners. Points on or below the diagonal are dropped, a
    vertical first edge (0, 0), (0, tpr) and a horizontal last one stay. Collinear points are meant to be
    dropped too, but `chull` works on rounded rates and keeps some of them (49 of 3,000 small tied sets had
    one too many); no true vertex was lost.
    NA scores are an error in ROCR, and infinite scores are dropped silently with their labels.
    """
    return _pairs(
        run_r(
            """function(label, score) {
                 p <- performance(prediction(score, label), "rch")
                 list(x = p@x.values[[1]], y = p@y.values[[1]])
               }""",
            datasets,
        )
    )


def proc_auc(datasets: Sequence[Predictions]) -> list[float]:
    """Return pROC's area under the ROC curve, ties counting one half.

    pROC's default `direction = "auto"` flips a classifier that is worse than chance; it is switched off here,
    so that higher scores mean positive and areas below one half stay.
    """
    results = run_r(
        """function(label, score) {
             curve <- roc(label, score, levels = c(0, 1), direction = "<", quiet = TRUE)
             list(auc = as.numeric(auc(curve)))
           }""",
        datasets,
    )
    return [result["auc"][0] for result in results]


def proc_best(datasets: Sequence[Predictions], *, prevalence: float, cost_fp: float, cost_fn: float) -> list[Vertices]:
    """Return all (fpr, tpr) that pROC's `coords(roc, "best")` calls best for these costs, by rising fpr.

    pROC maximises sensitivity + r · specificity with r = (1 - prevalence) / (cost · prevalence), where cost
    is that of a miss relative to a false alarm: r is the slope of the iso-performance line. Ties are judged
    in floating point, so of several equally good points some may be missing. fpr is computed as
    1 - specificity, which is off by a rounding error. (Its thresholds lie midway between scores and are left
    out.)
    """
    results = run_r(
        f"""function(label, score) {{
              curve <- roc(label, score, levels = c(0, 1), direction = "<", quiet = TRUE)
              best <- coords(curve, "best", ret = c("fpr", "tpr"), transpose = FALSE, drop = FALSE,
                             best.weights = c({cost_fn!r} / {cost_fp!r}, {prevalence!r}))
              list(x = best$fpr, y = best$tpr)
            }}""",
        datasets,
    )
    return [sorted(vertices) for vertices in _pairs(results)]


def merge_close(vertices: Vertices, tolerance: float = 1e-9) -> Vertices:
    """Join neighbours that differ by at most the tolerance in both coordinates, keeping the first."""
    merged: Vertices = []
    for x, y in vertices:
        if not merged or max(abs(x - merged[-1][0]), abs(y - merged[-1][1])) > tolerance:
            merged.append((x, y))
    return merged
