"""The studies use public names of costcurves only, and their pictures are drawn by displays only."""

from __future__ import annotations

import ast
import re
import sys
from importlib import import_module
from inspect import isclass, ismodule, isroutine
from pathlib import Path

import matplotlib.axes
import pytest

import costcurves as cc
import replications

PACKAGE = Path(replications.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
# Ways to reach a module or a name that the text of a program does not show.
HIDDEN = {"__import__", "eval", "exec", "compile", "globals", "locals", "vars", "getattr", "attrgetter", "modules"}
# What may be imported besides the standard library and these packages themselves.
KNOWN = {"costcurves", "replications", "numpy", "scipy", "sklearn", "matplotlib", "joblib", "threadpoolctl"}
# What draws data: methods of matplotlib's axes, apart from those that place words, and from names of other things that
# the studies use (tables of results and the stem of a path).
WORDS = r"_|[gs]et_|(set|annotate|text|legend|table|stem)$"
DRAWING = {name for name in vars(matplotlib.axes.Axes) if not re.match(WORDS, name)}
DRAWING |= {"imshow", *(f"add_{what}" for what in ("artist", "collection", "image", "line", "patch", "container"))}


def inner_names(text):
    """Return what a program uses of costcurves that is not public, or hides, as a list of words."""
    tree, found = ast.parse(text), []
    public = {name: getattr(cc, name) for name in cc.__all__}
    based = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                found += [one.name for one in node.names if not _may_import(one.name, one.asname)]
            case ast.ImportFrom():
                roots = {(node.module or "").split(".")[0], *(() if node.module else ("",))}
                inside = node.level or not roots <= KNOWN | sys.stdlib_module_names
                inner = "costcurves" in roots and (node.module != "costcurves")
                names = [one.name for one in node.names if "costcurves" in roots and one.name not in public]
                bound = [one.asname for one in node.names if one.asname == "cc" or one.name == "cc"]
                found += [f"from {node.module}"] * bool(inside or inner) + names + bound
            case ast.Attribute(value=ast.Name(id="cc"), attr=name) if name not in public and name != "__version__":
                found.append(f"cc.{name}")
            case ast.Attribute(value=ast.Attribute(value=ast.Name(id="cc"), attr="thresholds"), attr=name):
                if getattr(getattr(cc.thresholds, name, None), "__module__", "") != cc.thresholds.__name__:
                    found.append(f"cc.thresholds.{name}")
            case ast.Attribute(value=value, attr=name) if re.match(r"_(?!_\w+__$)", name):
                if getattr(value, "id", "") not in ("self", "cls"):
                    found.append(f".{name}")
            case ast.Name(id="cc") if id(node) not in based or not isinstance(node.ctx, ast.Load):
                found.append("cc by itself")
            case ast.arg(arg="cc"):
                found.append("cc as a parameter")
            case ast.Constant(value=str() as words) if re.fullmatch(r"costcurves(\.\w+)+", words):
                found.append(words)
        name = getattr(node, "id", getattr(node, "attr", ""))
        if name in HIDDEN:
            found.append(name)
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "import_module":
            first = node.args[0].values[0] if isinstance(node.args[0], ast.JoinedStr) else node.args[0]
            if not str(getattr(first, "value", "")).startswith("replications."):
                found.append("import_module")
    return found


def _may_import(name, alias):
    """Say whether `import name as alias` is allowed."""
    root = name.split(".")[0]
    if root == "costcurves" or alias == "cc":
        return (name, alias) == ("costcurves", "cc")
    return root in KNOWN | sys.stdlib_module_names and name != "importlib"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_study_uses_only_public_names(path):
    assert inner_names(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        "import costcurves",
        "import costcurves as c",
        "import costcurves.curves.hull",
        "import costcurves.curves.hull as cc",
        "import numpy as cc",
        "import pandas as pd",
        "import importlib",
        "import tests.oracles",
        "from costcurves.curves.hull import RocHull",
        "from costcurves import curves",
        "from costcurves import *",
        "from numpy import linalg as cc",
        "from . import cc",
        "from ..src import costcurves",
        "cc.curves.hull.RocHull",
        "cc.RocCurve([0, 1])._from_counts(None)",
        "cc.thresholds.np.linspace(0, 1)",
        "cc.thresholds.Policy",
        "c = cc",
        "getattr(cc, 'curves')",
        "def draw(cc): return cc.RocHull",
        "for cc in []: pass",
        "import sys\nsys.modules['costcurves.curves']",
        "from importlib import import_module\nimport_module('costcurves.curves.hull')",
        "from importlib import import_module\nimport_module('costc' + 'urves.curves.hull')",
        "from importlib import import_module\nname = 1\nimport_module(name)",
        "__import__('cost' + 'curves').curves",
        "exec('import costcurves.curves')",
        "where = 'costcurves.curves.hull'",
    ],
)
def test_inner_names_are_found_however_they_are_reached(text):
    assert inner_names(text)


def test_public_names_are_allowed():
    text = "import costcurves as cc\nfrom costcurves import InputError\ncc.RocHull([]).best(cc.thresholds.point(1))"
    assert inner_names(f"{text}\nclass A:\n    def f(self): return self._x") == []


def test_no_module_of_the_studies_holds_an_inner_object():
    public = {id(getattr(cc, name)) for name in cc.__all__} | {id(cc)}
    for path in FILES:
        if path.name == "__main__.py":
            continue
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        module = import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
        for name, held in vars(module).items():
            if not (isclass(held) or isroutine(held) or ismodule(held)):
                continue
            home = held.__name__ if ismodule(held) else str(getattr(held, "__module__", ""))
            assert not home.startswith("costcurves") or id(held) in public, f"{module.__name__} holds {name}"


def drawn_by_hand(text):
    """Return the calls in a program that draw data without a display, as a list of names."""
    found = []
    for function in ast.parse(text).body:
        displays = {
            target.id
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and _is_display(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and node.attr in DRAWING:
                by_display = _is_display(node.value) or getattr(node.value, "id", "") in displays
                if node.attr != "plot" or not by_display:
                    found.append(node.attr)
    return found


def _is_display(node):
    """Say whether an expression makes a display of costcurves, and does nothing else."""
    at = node.func if isinstance(node, ast.Call) else None
    return isinstance(at, ast.Attribute) and getattr(at.value, "id", "") == "cc" and at.attr.endswith("Display")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_pictures_are_drawn_by_displays_alone(path):
    assert drawn_by_hand(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        "ax.plot([0], [1])",
        "pyplot.scatter(x, y)",
        "for ax in axes: ax.bar(x, y)",
        "axes[0].axhline(0.5)",
        "pen = ax.plot\npen([0], [1])",
        "figure.gca().fill_between(x, y)",
        "ax.add_patch(patch)",
        "shown = ax\nshown.plot([0], [1])",
        "cc.CostCurveDisplay(curve).plot().ax_.plot([0], [1])",
    ],
)
def test_drawing_by_hand_is_found(text):
    assert drawn_by_hand(text)


def test_displays_and_words_are_not_drawing_by_hand():
    text = "def f(ax):\n    shown = cc.CostCurveDisplay(c)\n    shown.plot(ax=ax)\n    ax.annotate('3', (0, 0))"
    assert drawn_by_hand(text) == []
