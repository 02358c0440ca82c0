"""A Spark of our own for the tests (two threads, three attempts a task), and counts that kill their worker."""

from __future__ import annotations

import functools
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import costcurves


@functools.cache
def why_spark_is_missing() -> str | None:
    """Return what is missing to start Spark, or None."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "pyspark is not installed"
    java = shutil.which("java", path=f"{os.environ.get('JAVA_HOME', '')}/bin{os.pathsep}{os.environ.get('PATH', '')}")
    if java is None:
        return "Java is not on the PATH"
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=600).stderr
    version = re.search(r'version "(\d+)', said)
    if version is None or int(version.group(1)) < 17:
        return f"Spark needs Java 17 or newer, got: {said.strip().splitlines()[:1]}"
    return None


def start_spark(folder: Path) -> Any:
    """Return a session; skip where Spark cannot run, and fail there if CI=true, which must have it."""
    reason = why_spark_is_missing()
    if reason is not None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"the tests of Spark must run here: {reason}")
        pytest.skip(reason)
    from pyspark.sql import SparkSession

    # The workers import costcurves, and this module, from where the tests do.
    sources = [str(Path(costcurves.__file__).parents[1]), str(Path(__file__).parent), os.environ.get("PYTHONPATH")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sources))
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "50",
    }
    builder = SparkSession.builder.master("local[2,3]").appName("costcurves")
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


class Killing:
    """Counts that, once they have counted a batch, kill the worker they are in: at the first attempt of one task."""

    def __init__(self, counts: Any, folder: str) -> None:
        self.counts, self.folder = counts, folder

    def empty(self) -> Killing:
        return Killing(self.counts.empty(), self.folder)

    def update(self, batch: Any) -> None:
        from pyspark import TaskContext

        self.counts.update(batch)
        task = TaskContext.get()
        if task is not None and task.partitionId() == 1 and task.attemptNumber() == 0:
            Path(self.folder, f"killed-{os.getpid()}").touch()
            os.kill(os.getpid(), signal.SIGKILL)

    def merge(self, other: Killing) -> None:
        self.counts.merge(other.counts)
