"""Results as JSON documents: what was measured, on which machine, with which versions, and when."""

from __future__ import annotations

import datetime
import importlib
import importlib.metadata
import json
import os
import platform
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import costcurves as cc
from benchmarks import r
from benchmarks.settings import Settings
from costcurves.counting import compiled

TOPICS = ("roc", "bands", "classes", "imports", "scaling", "answers", "scans", "sources", "billion")
ON_REQUEST = ("billion",)
PACKAGES = ("numpy", "scipy", "scikit-learn", "empulse", "dcurves", "hmeasure", "pandas", "duckdb", "pyarrow")


def measured(topic: str, settings: Settings) -> dict[str, Any]:
    """Run a topic and return its document."""
    start = time.perf_counter()
    outcome = importlib.import_module(f"benchmarks.topics.{topic}").run(settings)
    return {
        "topic": topic,
        "seconds": time.perf_counter() - start,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": machine(),
        "versions": versions(),
        "small": settings.small,
        **asdict(outcome),
    }


def machine() -> dict[str, Any]:
    """Describe what times depend on: processor, memory, system and load."""
    info = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in _lines(info) if line.startswith("model name")]
    memory = [int(line.split()[1]) for line in _lines(Path("/proc/meminfo")) if line.startswith("MemTotal")]
    return {
        "processor": names[0] if names else platform.processor() or platform.machine(),
        "processors": os.cpu_count(),
        "memory_gib": round(memory[0] / 2**20, 1) if memory else None,
        "system": f"{platform.system()} {platform.machine()}",
        "load_after": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def versions() -> dict[str, str]:
    """The versions of all packages that take part."""
    found = {"costcurves": cc.__version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    found |= {name: r.version(name) for name in ("pROC", "ROCR") if r.version(name)}
    return found | {"compiled loops": "no" if compiled.loops() is None else "yes"}


def write(document: dict[str, Any], path: Path) -> None:
    """Write a document with its numbers rounded to six digits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(_short(document), indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def read(path: Path) -> dict[str, Any]:
    """Read a document."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _short(part) for key, part in value.items()}
    return [_short(part) for part in value] if isinstance(value, (list, tuple)) else value
