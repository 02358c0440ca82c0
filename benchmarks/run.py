"""Time the package beside its peers: ``make bench``, or ``python benchmarks/run.py --size 10000 --repeats 1``."""

from __future__ import annotations

import argparse
import importlib.util
import json
import platform
import subprocess
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np
from harness import Job, measure, table

import costcurves as cc


def predictions(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and probability-like scores of a moderately good classifier."""
    rng = np.random.default_rng(0)
    labels = rng.random(size) < 0.3
    scores = 1 / (1 + np.exp(-(rng.normal(size=size) + labels)))
    return labels, scores


def roc_jobs(size: int) -> list[Job]:
    """Return the jobs on ROC curves and hulls of raw arrays."""
    from scipy.spatial import ConvexHull
    from sklearn.metrics import roc_curve

    labels, scores = predictions(size)
    scores32 = scores.astype(np.float32)

    def peer_hull() -> object:
        fpr, tpr, _ = roc_curve(labels, scores)
        return ConvexHull(np.stack([fpr, tpr], axis=1))

    def full(values: np.ndarray) -> object:
        return cc.RocCurve.from_predictions(labels, values)

    def hull() -> object:
        return cc.CostCurve.from_predictions(labels, scores)

    jobs = [
        Job(
            f"full ROC curve, n={size}, float64",
            lambda: full(scores),
            "sklearn roc_curve",
            lambda: roc_curve(labels, scores, drop_intermediate=False),
            5,
        ),
        Job(
            f"full ROC curve, n={size}, float32",
            lambda: full(scores32),
            "sklearn roc_curve",
            lambda: roc_curve(labels, scores32, drop_intermediate=False),
            8,
        ),
        Job(f"hull and cost curve, n={size}", hull, "roc_curve + ConvexHull", peer_hull, 10),
        Job(f"hull and cost curve, n={size}", hull, "bare np.sort", lambda: np.sort(scores), 2.5, at_most=True),
    ]
    if importlib.util.find_spec("empulse"):
        jobs.append(Job(f"hull and cost curve, n={size}", hull, "empulse hull", empulse_hull(labels, scores), 3))
    return jobs


def empulse_hull(labels: np.ndarray, scores: np.ndarray):
    """Return a call of empulse's compiled convex hull of the same data."""
    from empulse.metrics._cy_convex_hull.convex_hull import convex_hull

    truth = labels.astype(np.intc)
    return lambda: convex_hull(truth, scores)


def import_jobs() -> list[Job]:
    """Return the jobs of importing the package in a fresh interpreter: alone, and with all that it loads when used."""

    def run(code: str) -> object:
        return subprocess.run([sys.executable, "-c", code], check=True)

    everything = "import costcurves as cc; [getattr(cc, name) for name in cc.__all__]"
    return [
        Job(
            name,
            partial(run, code),
            "import numpy, narwhals",
            partial(run, "import numpy, narwhals"),
            1.5,
            at_most=True,
        )
        for name, code in (
            ("import costcurves", "import costcurves"),
            ("import, first use of RocHull", "import costcurves as cc; cc.RocHull"),
            ("import, first use of every name", everything),
        )
    ]


def main() -> None:
    """Measure all jobs, print the table and write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_000, help="examples (default 10**6)")
    parser.add_argument("--repeats", type=int, default=7, help="counted turns of each job (default 7)")
    parser.add_argument("--output", type=Path, default=Path("bench-output"), help="where results.json goes")
    options = parser.parse_args()
    outcomes = [measure(job, options.repeats) for job in [*roc_jobs(options.size), *import_jobs()]]
    print(table(outcomes))
    options.output.mkdir(parents=True, exist_ok=True)
    document = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "costcurves": cc.__version__,
        "jobs": [asdict(outcome) for outcome in outcomes],
    }
    path = options.output / "results.json"
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"\nwrote {path}")


if __name__ == "__main__":
    main()
