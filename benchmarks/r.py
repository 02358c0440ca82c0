"""Peers in R. They measure themselves, so that starting R and reading the data are not counted."""

from __future__ import annotations

import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.harness import Call, Timing
from benchmarks.settings import Array


@functools.cache
def why_missing(package: str) -> str:
    """Say why an R package cannot be a peer, or return an empty string if it can."""
    if shutil.which("Rscript") is None:
        return "Rscript is not on the PATH"
    done = subprocess.run(["Rscript", "-e", f"library({package})"], capture_output=True, check=False, timeout=120)
    return "" if done.returncode == 0 else f"the R package {package} is not installed"


@functools.cache
def version(package: str) -> str:
    """The version of an R package, or an empty string if it is missing."""
    if why_missing(package):
        return ""
    code = f'cat(as.character(packageVersion("{package}")))'
    return subprocess.run(["Rscript", "-e", code], capture_output=True, text=True, check=True).stdout


def timed(package: str, code: str, labels: Array, scores: Array, *, once: str = "") -> Call:
    """Make a call that runs R code on `label` and `score` in a new process and returns the `Timing` that R reports.

    The code in `once` runs before and is not counted.
    """
    program = f"""
suppressPackageStartupMessages(library({package}))
data <- readBin(commandArgs(trailingOnly = TRUE)[1], "double", {2 * scores.size})
label <- data[1:{scores.size}]
score <- data[-(1:{scores.size})]
{once}
used <- system.time({{ {code} }})
cat(used[["elapsed"]], used[["user.self"]] + used[["sys.self"]])
"""

    def call() -> Timing:
        with tempfile.TemporaryDirectory() as folder:
            data, script = Path(folder) / "data.bin", Path(folder) / "job.R"
            np.concatenate([labels.astype(np.float64), scores]).tofile(data)
            script.write_text(program, encoding="ascii")
            done = subprocess.run(
                ["Rscript", "--vanilla", str(script), str(data)], capture_output=True, text=True, check=True
            )
        wall, cpu = map(float, done.stdout.split()[-2:])
        return Timing(max(wall, 1e-3), max(cpu, 1e-3))  # R counts milliseconds

    return call
