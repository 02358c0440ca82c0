"""What importing costcurves loads, and which module may import which."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import costcurves

PACKAGE = Path(costcurves.__file__).parent

# Lowest first: a package imports only those above it in this list. The picture of the architecture shows these imports.
PACKAGES = [
    "_base",
    "counting",
    "conditions",
    "inference",
    "curves",
    "decisions",
    "multiclass",
    "planning",
    "data",
    "estimators",
    "displays",
    "report",
    "cli",
]
FLAT = {"__init__", "__main__", "_version"}
HEAVY = [
    "sklearn",
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "scipy.stats",
    "scipy.optimize",
    "altair",
    "jinja2",
    "typer",
    "rich",
    "duckdb",
    "pyspark",
    "dask",
    "ibis",
    "narwhals",
]


def module_name(path: Path) -> str:
    """Return the name below the package, such as 'curves.roc' or 'curves' for the package itself."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imported_names(source: str) -> set[str]:
    """Return every name that the source imports, with its module, wherever the statement stands."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import at line {node.lineno}"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def imported_modules(source: str) -> set[str]:
    """Return the modules of costcurves among the imports."""
    own = {name.removeprefix("costcurves.") for name in imported_names(source) if name.startswith("costcurves.")}
    return {name if name in MODULES else name.rpartition(".")[0] for name in own} - {""}


IMPORTS = {name: imported_modules(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def test_importing_costcurves_loads_no_extra_and_no_slow_part_of_scipy():
    check = f"import sys, costcurves; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout.strip() == "[]"


def test_every_module_lies_in_a_package_of_the_list():
    assert {name.split(".")[0] for name in MODULES} == FLAT | set(PACKAGES)


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_the_pages_describe_the_packages_of_the_list(page):
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)`", "".join(line for line in text.splitlines() if line.startswith("|"))))
    assert set(PACKAGES) - named == set()


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md", "docs/walks.md"])
def test_the_pages_name_only_modules_that_exist(page):
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    inside = "|".join(PACKAGES)
    paths = re.findall(rf"`((?:{inside})/[\w/]+(?:\.py)?)`", text)
    steps = re.findall(rf"`((?:{inside})(?:\.\w+)+)`", text) if page == "docs/walks.md" else []
    assert paths or steps
    named = {path.removesuffix(".py").replace("/", ".") for path in paths} | set(steps)
    known = {*MODULES, *(name.rpartition(".")[0] for name in MODULES)}
    assert named - known == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_only_packages_below_them(package):
    below = {*PACKAGES[: PACKAGES.index(package) + 1], "_version"}
    wrong = {
        f"{name} imports {other}"
        for name, others in IMPORTS.items()
        for other in others
        if name.split(".")[0] == package and other.split(".")[0] not in below
    }
    assert wrong == set()


def test_no_modules_import_each_other_in_a_circle():
    graph = {name: {other for other in others if other != name} for name, others in IMPORTS.items()}
    assert set(TopologicalSorter(graph).static_order()) == set(MODULES)  # raises CycleError where there is a circle


def test_imports_inside_functions_count():
    source = "def f():\n    from costcurves.curves.hull import RocHull\n    import costcurves.curves.roc\n"
    assert imported_modules(source) == {"curves.hull", "curves.roc"}
    source = "from costcurves.counting import hull_vertices, counts\nfrom costcurves.inference import x"
    assert imported_modules(source) == {"counting.hull_vertices", "counting.counts", "inference"}


def test_only_frames_knows_narwhals():
    for name, path in MODULES.items():
        libraries = {imported.split(".")[0] for imported in imported_names(path.read_text(encoding="utf-8"))}
        assert ("narwhals" in libraries) == (name == "_base.frames")


def test_only_the_doors_for_frames_call_upwards():
    # By name, which the test of packages cannot see: `frames` opens the source, and these methods use it.
    doors = {name for name, path in MODULES.items() if "source_of_frame" in path.read_text(encoding="utf-8")}
    assert doors == {"_base.frames", "curves.roc", "curves.cost_curve", "curves.hull", "decisions.compare"}
    call = re.compile(r'import_module\(f?"costcurves')
    by_name = {name for name, path in MODULES.items() if call.search(path.read_text(encoding="utf-8"))}
    assert by_name == {"_base.frames", "data.predictions"}  # `Predictions.report`


def test_public_names_are_found_on_first_use_and_others_are_not():
    code = "import costcurves as cc, {module}; value = cc.{name}; import types; assert {check}"
    for name in ("dominance", "compare", "RocHull", "thresholds"):
        check = "isinstance(value, types.ModuleType)" if name == "thresholds" else "callable(value)"
        done = code.format(module=costcurves._HOME[name], name=name, check=check)
        subprocess.run([sys.executable, "-c", done], check=True)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        costcurves.nothing  # noqa: B018


def test_no_public_name_is_also_a_package():
    # Importing the package would put it in the place of the name.
    assert {path.name for path in PACKAGE.iterdir()} & set(costcurves.__all__) == set()


def test_no_module_is_longer_than_500_lines():
    longer = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in MODULES.items()}
    assert {name for name, lines in longer.items() if lines > 500} == set()
