"""Type checkers know the public names, refuse others, and find the classes of results."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import costcurves

SOURCE = """\
import costcurves as cc

cc.typo
cc.Band
cc.OperatingCondition.from_pc(0.5).with_pc(0.3, by="luck")
reveal_type(cc.compare([0, 1], [1, 2], [2, 1]).at(0.5))
reveal_type(cc.CostCurve.from_predictions([0, 1], [1, 2]).band())
reveal_type(cc.recommend([0, 1], {"a": [1, 2]}, 0.5).best)
"""
FOUND = {
    3: 'Module has no attribute "typo"',
    4: 'Module has no attribute "Band"',
    5: """expected "Literal['prevalence', 'cost_fn', 'cost_fp']\"""",
    6: "costcurves.inference.bands.results.DifferenceInterval",
    7: "costcurves.inference.bands.results.Band",
    8: "costcurves.curves.choices.Choice",
}


def test_a_type_checker_refuses_names_that_do_not_exist_and_finds_results(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "use.py").write_text(SOURCE, encoding="utf-8")
    package = Path(costcurves.__file__).parent.parent
    command = [sys.executable, "-m", "mypy", "--config-file=", "--follow-imports=silent", "use.py"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path, env={**os.environ, "MYPYPATH": str(package)}
    )
    told = {int(line.split(":")[1]): line for line in done.stdout.splitlines() if line.startswith("use.py:")}
    assert set(told) == set(FOUND), done.stdout + done.stderr
    for line, text in FOUND.items():
        assert text in told[line]
