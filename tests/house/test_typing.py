"""Type checkers know the public names, accept a program that is right, and find mistakes in one that is not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import costcurves

# What users write: arrays, lists, dataframes, names and numbers wherever the documentation allows them.
RIGHT = """\
import numpy as np
import polars as pl

import costcurves as cc

y = np.array([0, 0, 1, 1, 0, 1])
scores = {"a": np.array([0.1, 0.4, 0.35, 0.8, 0.2, 0.9]), "b": np.array([0.3, 0.2, 0.1, 0.7, 0.8, 0.6])}
frame = pl.DataFrame({"y": y, **scores})
here = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)
range_ = cc.OperatingRange(prevalence=(0.1, 0.4), cost_fp=1, cost_fn=[3, 8])
low: tuple[float, float] = range_.prevalence

roc = cc.RocCurve.from_predictions(["no", "no", "yes", "yes", "no", "yes"], scores["a"], pos_label="yes")
hull = cc.RocHull.from_predictions(frame["y"], frame[["a", "b"]], pos_label=1, sample_weight=[1, 2, 1, 1, 1, 1])
hull = cc.RocHull({"a": roc, "b": cc.RocCurve.from_rates(0.1, 0.6)})
name: str = hull.best(here).classifier
hull.best(0.5).to_frame()
hull.within((0.1, 0.4))
cost: float = hull.evaluate(here)
costs: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = hull.evaluate([0.1, 0.2])

curve = cc.CostCurve(hull)
curve = cc.CostCurve(roc, policy=0.4)
curve = cc.CostCurve(roc, policy=cc.thresholds.validation(roc))
band = curve.band(method="exact", pc=[here, cc.OperatingCondition.from_pc(0.9)], sampling="full")
upper: float = band.at(here).upper
threshold: float = curve.threshold_at(0.3)
cc.dominance([roc, cc.RocCurve.from_confusion_matrix([[90, 10], [4, 16]], name="rules")])
cc.average_cost_curves([curve, roc])

difference = cc.compare(y, scores["a"], scores["b"], policy=("bayes", "optimal"), pc=range_)
cc.compare_many(y, scores, policy={"a": "optimal", "b": 0.3}, method="score")
answer = cc.recommend(y, frame[["a", "b"]], here)
print(answer.best.classifier, difference.p_value)
cc.recommend_within(y, scores, range_)

matrix = cc.CostMatrix([[0, 1], [5, 0]], labels=["no", "yes"])
cc.bcost(["no", "yes"] * 30, ["no", "no"] * 30, matrix, priors={"no": 0.9, "yes": 0.1}, method="mid-p")
cc.bdeltacost_many(y, {"a": y, "b": 1 - y}, [[0, 1], [5, 0]])
cc.Predictions(y, scores, folds=[0, 1, 0, 1, 0, 1]).curve("a", policy="optimal")
cc.Report.from_predictions(y, scores, scenarios={"now": here}).html()
"""

PROLOGUE = """\
import costcurves as cc

y, s = [0, 1, 0, 1], [0.1, 0.9, 0.4, 0.35]
here = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)
roc = cc.RocCurve.from_predictions(y, s)
curve = cc.CostCurve(roc)
"""
# Each line has one mistake, and is followed by a part of what mypy says about it.
WRONG = {
    "cc.typo": 'has no attribute "typo"',
    "cc.Band": 'has no attribute "Band"',
    "curve.bnad()": 'has no attribute "bnad"',
    "curve.band(method='wilsen')": "Literal['wilson', 'gaussian', 'exact', 'resample']",
    "curve.band(sampling='all')": "Literal['stratified', 'full']",
    "curve.band(levle=0.9)": 'Unexpected keyword argument "levle"',
    "cc.CostCurve(roc, policy='best')": "Literal['optimal', 'crossfit', 'bayes']",
    "cc.CostCurve.from_predictions({'a': y}, s)": 'incompatible type "dict[str, list[int]]"',
    "cc.RocHull.from_predictions(y, here)": 'incompatible type "OperatingCondition"',
    "cc.RocCurve.from_predictions(y, s, points='convex')": "Literal['all', 'hull']",
    "cc.recommend(y, {'a': s}, 'documented')": 'incompatible type "str"; expected "OperatingCondition | float"',
    "cc.compare(y, s, s, policy={'a': 'optimal'})": "incompatible type",
    "cc.compare(y, s, s, method='tango')": "Literal['mid-p', 'score',",
    "cc.OperatingCondition(prevalence='0.3', cost_fp=1, cost_fn=5)": 'incompatible type "str"; expected "float"',
    "here.with_pc(0.3, by='luck')": "Literal['prevalence', 'cost_fn', 'cost_fp']",
    "cc.OperatingRange(prevalence=here, cost_fp=1, cost_fn=2)": "incompatible type",
    "cc.CostMatrix([[0, 1], [5, 0]], labels=5)": 'incompatible type "int"',
    "cc.bcost(y, y, [[0, 1], [5, 0]], method='normal')": "Literal['tilted', 'exact', 'resample', 'mid-p', 'gaussian']",
    "cc.dominance([here])": "List item 0 has incompatible type",
    "cc.thresholds.fixd(0.3)": 'has no attribute "fixd"',
    "where: str = curve.threshold_at(0.5)": 'expression has type "float", variable has type "str"',
}


CALLS = {
    "cc.compare([0, 1], [1, 2], [2, 1]).at(0.5)": "costcurves.inference.bands.results.DifferenceInterval",
    "cc.CostCurve.from_predictions([0, 1], [1, 2]).band()": "costcurves.inference.bands.results.Band",
    "cc.recommend([0, 1], {'a': [1, 2]}, 0.5).best": "costcurves.curves.choices.Choice",
}
PROGRAMS = {
    "right.py": RIGHT,
    "wrong.py": PROLOGUE + "\n".join(WRONG) + "\n",
    "calls.py": "import costcurves as cc\n" + "".join(f"reveal_type({call})\n" for call in CALLS),
}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """Return what mypy says about each program, by line."""
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("programs")
    for name, source in PROGRAMS.items():
        (folder / name).write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file=", "--follow-imports=silent", "--strict", *PROGRAMS]
    environment = {**os.environ, "MYPYPATH": str(Path(costcurves.__file__).parent.parent)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)
    found: dict[str, dict[int, str]] = {name: {} for name in PROGRAMS}
    for line in done.stdout.splitlines():
        name, _, rest = line.partition(":")
        if name in found:
            number = int(rest.split(":")[0])
            found[name][number] = found[name].get(number, "") + line
    return found


def test_a_program_that_is_right_passes_strict_checks_and_runs(said):
    assert said["right.py"] == {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", costcurves.CostCurvesWarning)  # there are six examples only
        exec(compile(RIGHT, "right.py", "exec"), {"__name__": "right"})


def test_mistakes_are_found(said):
    first = PROLOGUE.count("\n") + 1
    assert set(said["wrong.py"]) == set(range(first, first + len(WRONG)))
    for i, (line, text) in enumerate(WRONG.items()):
        assert text in said["wrong.py"][first + i], line


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed (npm install -g pyright)")
def test_pyright_accepts_what_is_right_and_finds_each_mistake(tmp_path):
    for name, source in PROGRAMS.items():
        (tmp_path / name).write_text(source, encoding="utf-8")
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(Path(costcurves.__file__).parents[1])]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = ["pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    found = [
        (Path(one["file"]).name, one["range"]["start"]["line"] + 1)
        for one in json.loads(done.stdout)["generalDiagnostics"]
        if one["severity"] == "error"
    ]
    first = PROLOGUE.count("\n") + 1
    assert set(found) == {("wrong.py", first + i) for i in range(len(WRONG))}


def test_the_classes_of_results_are_known(said):
    for i, kind in enumerate(CALLS.values()):
        assert kind in said["calls.py"][2 + i]
