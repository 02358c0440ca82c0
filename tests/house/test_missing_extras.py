"""Without an extra every public name is still there; what needs the extra says how to install it when it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

EXTRAS = [
    "sklearn",
    "matplotlib",
    "altair",
    "jinja2",
    "typer",
    "rich",
    "duckdb",
    "pyarrow",
    "pyspark",
    "pandas",
    "polars",
]

LOOK = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
import costcurves as cc
assert not [name for name in cc.__all__ if not hasattr(cc, name)]
namespace = {{}}
exec("from costcurves import *", namespace)
assert set(cc.__all__) <= set(namespace)
import inspect
assert {{name for name, _ in inspect.getmembers(cc)}} >= set(cc.__all__)
import pydoc
assert "OperatingCondition" in pydoc.plain(pydoc.render_doc(cc))
"""

USE = """
import sys
sys.modules["sklearn"] = None
import costcurves as cc
from costcurves import RocHullClassifier, evaluate
assert isinstance(RocHullClassifier, type) and not isinstance(3, RocHullClassifier)
assert RocHullClassifier.__name__ == "RocHullClassifier" and evaluate.__name__ == "evaluate"
for call in (
    lambda: RocHullClassifier({{"a": 1}}, 0.5),
    lambda: cc.CostThresholdClassifier(1, condition=0.5),
    lambda: cc.MinimumExpectedCostClassifier(1, [[0, 1], [1, 0]]),
    lambda: evaluate({{"a": [0.1, 0.9]}}, None, [0, 1]),
    lambda: cc.expected_cost_scorer(0.5),
    lambda: cc.cost_curve_area_scorer(),
):
    try:
        call()
    except cc.MissingExtraError as error:
        assert str(error).endswith('pip install "costcurves[sklearn]"'), error
    else:
        raise AssertionError("nothing was missed")
cc.normalized_expected_cost([0, 1], [0, 1], 0.5)
""".format()


def run(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("missing", [["sklearn"], EXTRAS], ids=["scikit-learn", "all"])
def test_every_name_is_there_without_the_extras(missing):
    run(LOOK.format(missing=missing))


def test_what_needs_scikit_learn_says_so_when_it_is_called():
    run(USE)
