"""What is written down about versions agrees, and files of every released format can still be read."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

import costcurves as cc
from costcurves.curves import hull_json
from costcurves.report.reading import JSON_VERSION

ROOT = Path(__file__).parents[2]
FORMATS = ROOT / "tests" / "formats"
FIRST_HULL = 2  # the version of hull.json that release 0.1.0 wrote

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def promised():
    """Return the lowest version of each package that pyproject.toml allows."""
    extras = PROJECT["optional-dependencies"]
    listed = PROJECT["dependencies"] + [text for extra in extras.values() for text in extra]
    found: dict[str, set[str]] = {}
    for text in listed:
        if (match := re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", text)) is not None:
            found.setdefault(match[1].lower(), set()).add(match[2])
    return found


def padded(version):
    return (*map(int, version.split(".")), 0, 0)[:3]


def test_a_package_has_the_same_lowest_version_wherever_it_is_named():
    assert {name: versions for name, versions in promised().items() if len(versions) > 1} == {}


def test_the_oldest_versions_are_tested():
    lines = (ROOT / "constraints-oldest.txt").read_text(encoding="utf-8").splitlines()
    tested = dict(line.split("==") for line in lines if not line.startswith("#"))
    lowest = {name: next(iter(versions)) for name, versions in promised().items()}
    assert {name: padded(version) for name, version in tested.items()} == {
        name: padded(lowest[name]) for name in tested
    }
    used = PROJECT["dependencies"] + [
        text
        for extra in ("plot", "sklearn", "files", "cli", "report")
        for text in PROJECT["optional-dependencies"][extra]
    ]
    assert {re.split(r"[>\[]", text)[0] for text in used} - {"costcurves"} <= set(tested)


def test_the_newest_versions_are_allowed():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    newest = {name.lower(): version for name, _, version in (line.partition("==") for line in lines)}
    for name, (lowest, *_) in promised().items():
        if name in newest:
            assert padded(re.match(r"[\d.]+\d", newest[name])[0]) >= padded(lowest), name


@pytest.mark.parametrize(
    ("page", "pattern"),
    [
        ("CITATION.cff", r"^version: (\S+)$"),
        ("conda/meta.yaml", r'set version = "(\S+)"'),
        ("CHANGELOG.md", r"^## (\S+) \("),
    ],
)
def test_the_version_is_the_same_everywhere(page, pattern):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert re.search(pattern, text, re.MULTILINE)[1] == cc.__version__


def test_the_recipe_and_the_page_name_the_lowest_versions():
    lowest = {name: next(iter(versions)) for name, versions in promised().items()}
    recipe = (ROOT / "conda" / "meta.yaml").read_text(encoding="utf-8")
    also = {"matplotlib": "matplotlib-base", "duckdb": "python-duckdb"}
    core = ("numpy", "scipy", "narwhals", "matplotlib", "scikit-learn", "duckdb", "pyarrow", "typer", "rich", "altair")
    for name in core:
        assert f"- {also.get(name, name)} >={lowest[name]}\n" in recipe
    page = (ROOT / "docs" / "project.md").read_text(encoding="utf-8")
    rows = [
        ("NumPy, SciPy, narwhals", ["numpy", "scipy", "narwhals"]), ("matplotlib", ["matplotlib"]),
        ("scikit-learn", ["scikit-learn"]), ("DuckDB, PyArrow", ["duckdb", "pyarrow"]), ("PySpark", ["pyspark"]),
        ("typer, rich", ["typer", "rich"]), ("Altair, vl-convert, Jinja", ["altair", "vl-convert-python", "jinja2"]),
    ]  # fmt: skip
    for title, names in rows:
        assert f"| {title} | {', '.join(lowest[name] for name in names)} |" in page


@pytest.mark.parametrize("version", range(FIRST_HULL, hull_json.VERSION + 1))
def test_a_hull_of_every_released_version_can_be_read(version):
    path = FORMATS / f"hull_{version}.json"
    assert json.loads(path.read_text(encoding="utf-8"))["version"] == version
    hull = cc.RocHull.from_json(path)
    assert hull.names == ("a", "b", "é £")
    assert hull.can_be_best == ("a",)
    decision = hull.best(0.3)
    assert (decision.classifier, decision.threshold) == ("a", 0.6)
    assert decision.runner_up.classifier == "b"
    assert hull.evaluate([0.0, 0.3, 0.8, 1.0]).tolist() == pytest.approx([0.0, 0.075, 0.1, 0.0])


@pytest.mark.parametrize("version", range(1, JSON_VERSION + 1))
@pytest.mark.parametrize("kind", ["two_classes", "k_classes"])
def test_the_page_of_a_report_of_every_released_version_can_be_made(version, kind):
    path = FORMATS / f"report_{kind}_{version}.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["version"] == version
    report = cc.Report.from_json(path)
    page = report.html()
    assert "é £" in page
    for card in document["page"]["cards"]:
        assert card["use"] in page
    assert {"two_classes": "today’s <b><bdi>a</bdi></b>", "k_classes": 'id="share_2"'}[kind] in page
