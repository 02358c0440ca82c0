"""What importing costcurves loads, and which module may import which."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import costcurves

PACKAGE = Path(costcurves.__file__).parent

# Lowest first: a module may import only those above it in this list. A new module needs its line here.
LAYERS = [
    "errors",
    "_version",
    "_text",
    "_validation",
    "_progress",
    "_numbers",
    "compiled",
    "score_keys",
    "frames",
    "_results",
    "_csv",
    "_files",
    "conditions",
    "inference",
    "inference.symmetry",
    "inference._lattice",
    "inference._smooth",
    "inference._batch",
    "inference.kernel",
    "inference._plane",
    "inference.intervals",
    "inference.paired_rates",
    "inference.shared_draws",
    "inference.simultaneous",
    "inference.band_results",
    "inference.resampled",
    "inference.bands",
    "inference.discordant",
    "inference.paired_limits",
    "inference.paired_resampled",
    "inference.paired_critical",
    "inference.paired",
    "inference.folds",
    "inference.family",
    "inference.selection",
    "inference.examples",
    "inference.multiclass",
    "inference.tilted",
    "inference.levels",
    "counts",
    "geometry",
    "buckets",
    "chance",
    "roc",
    "thresholds",
    "differences",
    "costs",
    "coverages",
    "decisions",
    "standings",
    "growth",
    "hull_json",
    "limits",
    "hull",
    "domination",
    "comparison",
    "example_costs",
    "confusion",
    "matrices",
    "bootstrap",
    "class_comparison",
    "planning",
    "power_curves",
    "priors",
    "tallies",
    "tallies.base",
    "tallies.singles",
    "tallies.bins",
    "tallies.adaptive",
    "tallies.scores",
    "tallies.chains",
    "tallies.members",
    "tallies.hulls",
    "tallies.pairs",
    "tallies.tables",
    "passes",
    "sources",
    "sources.files",
    "sources.columns",
    "sources.headers",
    "sources.engine",
    "sources.checksums",
    "sources.feeds",
    "sources.grouping",
    "sources.reading",
    "sources.opening",
    "scanning",
    "engines",
    "engines.parts",
    "engines.streams",
    "engines.dask",
    "engines.spark",
    "frame_curves",
    "studies",
    "metrics",
    "evaluation",
    "displays",
    "displays._style",
    "displays._scores",
    "displays._base",
    "displays._conditions",
    "displays.cost",
    "displays.roc",
    "displays.averaged",
    "displays.difference",
    "displays.dominance",
    "displays.coverage",
    "displays.power",
    "displays.simplex",
    "estimators",
    "estimators._members",
    "estimators.hull_classifier",
    "estimators.threshold",
    "estimators.minimum_cost",
    "estimators.scorers",
    "estimators.cross_validation",
    "contest",
    "envelopes",
    "recommendation",
    "range_recommendation",
    "example_data",
    "scenarios",
    "report",
    "report.markup",
    "report.numbers",
    "report.summary",
    "report.classes",
    "report.forms",
    "report.words",
    "report.datasets",
    "report.tables",
    "report.charts",
    "report.class_charts",
    "report.page",
    "report.document",
    "replications",
    "replications.study",
    "replications.domains",
    "replications.markdown",
    "replications.drawing",
    "replications.learners",
    "replications.learners.splits",
    "replications.learners.trees",
    "replications.learners.stump",
    "replications.learners.folds",
    "replications.learners.discretise",
    "replications.learners.bayes",
    "replications.learners.neighbours",
    "replications.learners.bagging",
    "replications.paper1997",
    "replications.paper1997.scenarios",
    "replications.paper1997.page",
    "replications.paper1998",
    "replications.paper1998.members",
    "replications.paper1998.folds",
    "replications.paper1998.analysis",
    "replications.paper1998.table1",
    "replications.paper1998.significance",
    "replications.paper1998.dominance",
    "replications.paper1998.splits",
    "replications.paper1998.variants",
    "replications.paper1998.figures",
    "replications.paper1998.page",
    "replications.paper2000",
    "replications.paper2000.domain",
    "replications.paper2000.table5",
    "replications.paper2000.sensitivity",
    "replications.paper2000.table6",
    "replications.paper2000.power",
    "replications.paper2000.normal",
    "replications.paper2000.defaults",
    "replications.paper2000.figures",
    "replications.paper2000.page",
    "replications.paper2005",
    "replications.paper2005.credit",
    "replications.paper2005.sonar",
    "replications.paper2005.curves",
    "replications.paper2005.intervals",
    "replications.paper2005.page",
    "replications.paper2008",
    "replications.paper2008.binormal",
    "replications.paper2008.spread",
    "replications.paper2008.size",
    "replications.paper2008.difference",
    "replications.paper2008.full",
    "replications.paper2008.page",
    "replications.catalogue",
    "replications.pages",
    "replications.command",
    "replications.__main__",
    "cli._grid",
    "cli._print",
    "cli._tables",
    "cli._input",
    "cli._options",
    "cli._gates",
    "cli._picture",
    "cli.decide",
    "cli.compare",
    "cli.curve",
    "cli.classes",
    "cli.hull",
    "cli.report",
    "cli.replicate",
    "cli._app",
    "cli",
    "__main__",
    "__init__",
]
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
    """Return the name below the package, such as 'roc' or 'inference.kernel'."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imported_names(source: str, package: str = "costcurves") -> set[str]:
    """Return every module that the source imports, wherever the statement stands."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import at line {node.lineno}"
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names if node.module == package}
    return found


def imported_layers(source: str) -> set[str]:
    """Return the modules of costcurves among the imports."""
    own = {name.removeprefix("costcurves.") for name in imported_names(source) if name.startswith("costcurves.")}
    return {name for name in own if name in MODULES or name.split(".")[0] in MODULES}


def test_importing_costcurves_loads_no_extra_and_no_slow_part_of_scipy():
    check = f"import sys, costcurves; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_every_module_has_its_layer_and_every_layer_its_module():
    assert sorted(MODULES) == sorted(LAYERS)


@pytest.mark.parametrize("name", LAYERS)
def test_modules_import_only_layers_below_them(name):
    below = LAYERS[: LAYERS.index(name)]
    assert imported_layers(MODULES[name].read_text(encoding="utf-8")) <= set(below)


def test_imports_inside_functions_count():
    source = "def f():\n    from costcurves.hull import RocHull\n    import costcurves.roc\n"
    assert imported_layers(source) == {"hull", "roc"}
    assert imported_layers("from costcurves import buckets, counts") == {"buckets", "counts"}


def test_only_frames_knows_narwhals():
    for name, path in MODULES.items():
        libraries = {imported.split(".")[0] for imported in imported_names(path.read_text(encoding="utf-8"))}
        assert ("narwhals" in libraries) == (name == "frames")


def test_only_the_doors_for_frames_call_upwards():
    # By name, which the test of layers cannot see: `frames` gives the module, and these methods use it.
    doors = {name for name, path in MODULES.items() if "curves_of_frames" in path.read_text(encoding="utf-8")}
    assert doors == {"frames", "roc", "hull", "costs", "comparison"}
    call = re.compile(r'import_module\(f?"costcurves')
    by_name = {name for name, path in MODULES.items() if call.search(path.read_text(encoding="utf-8"))}
    assert {name for name in by_name if not name.startswith("replications.")} == {"frames", "__init__"}


def test_every_public_name_is_found_wherever_it_is_asked_for_first():
    code = "import costcurves as cc; import costcurves.{module}; value = cc.{name}; import types; assert {check}"
    for name in ("dominance", "compare", "RocHull", "thresholds"):
        module = costcurves._HOME.get(name, name)
        check = "isinstance(value, types.ModuleType)" if name == "thresholds" else "callable(value)"
        subprocess.run([sys.executable, "-c", code.format(module=module, name=name, check=check)], check=True)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        costcurves.nothing  # noqa: B018


def test_no_public_name_is_also_a_module():
    # Importing the module would put it in the place of the name.
    modules = {path.stem for path in PACKAGE.glob("*.py")} | {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    assert modules & set(costcurves._HOME) == set()
