"""Install the wheel for this machine from a folder in a new environment, and try it: python tools/try_wheel.py dist.

pip must select a wheel with compiled loops, and they must find exactly what NumPy finds. Only Python is needed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

# Run in the new environment: the same questions with compiled loops and without, and the first lines of the README.
TRY = """
import json, os, sys
import numpy as np
import costcurves as cc
from costcurves.counting import compiled
assert (compiled.loops() is not None) == (sys.argv[1] == "1"), compiled.LIBRARY
rng = np.random.default_rng(7)
label = rng.random(300_000) < 0.3
found = []
n = label.size
for scores in (rng.normal(size=n) + label, rng.random(n).astype(np.float32), rng.integers(0, 9, n)):
    hull = cc.RocCurve.from_predictions(label, scores, points="hull")
    found += [hull.fpr.tobytes().hex(), hull.tpr.tobytes().hex(), hull.thresholds.tobytes().hex()]
curve = cc.CostCurve.from_predictions(label[:500], rng.normal(size=500) + label[:500])
band = curve.band(method="exact")
found += [band.lower.tobytes().hex(), band.upper.tobytes().hex()]
difference = cc.compare(label[:5000], rng.normal(size=5000) + label[:5000], rng.normal(size=5000))
found += [difference.lower.tobytes().hex(), difference.upper.tobytes().hex()]
print(json.dumps(found))
"""


def try_installing(output: Path) -> None:
    """Install the wheel that pip selects for this machine, and compare the compiled loops with NumPy."""
    with tempfile.TemporaryDirectory() as folder:
        _try(output, Path(folder))


def _try(output: Path, scratch: Path) -> None:
    home = scratch / "environment"
    venv.create(home, with_pip=True)
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    environment = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "COSTCURVES_COMPILED")
    }
    for command in (["download", "--no-deps", "--no-index", "-d", str(scratch / "chosen")], ["install"]):
        wanted = ["--find-links", str(output), "costcurves"]
        wheels = [str(path) for path in (scratch / "chosen").glob("*.whl")]
        call = [str(python), "-m", "pip", *command, *(wheels or wanted)]
        done = subprocess.run(call, env=environment, capture_output=True, text=True, check=False)
        must(done.returncode == 0, output, done.stdout + done.stderr)
    answers = []
    for compiled in ("1", "0"):
        call = [str(python), "-c", TRY, compiled]
        switched = {**environment, "COSTCURVES_COMPILED": compiled}
        done = subprocess.run(call, cwd=scratch, env=switched, capture_output=True, text=True, check=False)
        must(done.returncode == 0, output, done.stderr)
        answers.append(done.stdout)
    must(answers[0] == answers[1], output, "has loops that find something else than NumPy")
    print(f"{Path(wheels[0]).name}: installed; its loops find what NumPy finds, bit for bit")


def must(holds: bool, path: Path, complaint: str) -> None:
    """End with an error if something does not hold."""
    if not holds:
        sys.exit(f"{path.name} {complaint}")


if __name__ == "__main__":
    try_installing(Path(sys.argv[1]).resolve())
