"""A Spark of our own for the tests: two cores of this computer, and a task may fail three times."""

from __future__ import annotations

import functools
import os
import re
import shutil
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
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=60).stderr
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

    # The workers import costcurves from where the tests do.
    source = str(Path(costcurves.__file__).parents[1])
    os.environ["PYTHONPATH"] = os.pathsep.join([source, *filter(None, [os.environ.get("PYTHONPATH")])])
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    options = {
        "spark.ui.enabled": "false",
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
