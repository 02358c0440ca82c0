"""The documentation does what it says: its code runs, its pages build, its links lead somewhere, its words exist."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from reached import result_classes

import costcurves
from costcurves.cli import main
from doc_blocks import ROOT, fenced, run_page, shell_sessions

DOCS = ROOT / "docs"
sys.path.append(str(DOCS))
import notebooks  # noqa: E402
import versions  # noqa: E402

# Written when the pages are built.
MADE = ("_build", "_pictures", "gallery", "api", "cli.md", "json.md")
PAGES = sorted(path for path in DOCS.rglob("*.md") if not set(path.relative_to(DOCS).parts) & set(MADE))
IDS = [str(page.relative_to(DOCS)) for page in PAGES]
# The package that is tested, also where it is not installed, in processes that have no window.
TESTED = {"MPLBACKEND": "Agg", "PYTHONPATH": str(Path(costcurves.__file__).parents[1])}


@pytest.fixture
def clone(page, tmp_path, monkeypatch):
    """Return a folder that looks like the root of a clone, but is empty for pages that are notebooks, which run alone.

    What a page writes stays in it.
    """
    for name in () if page in notebooks.PAGES else ("docs", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    return tmp_path


@pytest.fixture
def usual_spark(spark):
    """Return the session that a page gets from getOrCreate, with batches of the usual size, which are faster."""
    key = "spark.sql.execution.arrow.maxRecordsPerBatch"
    small = spark.conf.get(key)
    spark.conf.set(key, "10000")
    yield spark
    spark.conf.set(key, small)


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_python_blocks_print_what_the_page_shows(page, clone, request):
    if "pyspark" in page.read_text(encoding="utf-8"):
        request.getfixturevalue("usual_spark")
    assert run_page(page) == sum(block.language == "python" for block in fenced(page))


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_shell_lines_end_and_print_as_the_page_shows(page, clone, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    for line, session in shell_sessions(page):
        code = 0
        for number, (command, shown) in enumerate(session):
            words = shlex.split(command, comments=True)
            if words == ["echo", "$?"]:
                assert shown == [str(code)], f"{page.name}:{line}: {command}"
                continue
            assert words[0] == "costcurves", f"{page.name}:{line}: only costcurves can be run, got {command}"
            code = main(words[1:])
            told = capsys.readouterr()
            asked = number + 1 < len(session) and session[number + 1][0] == "echo $?"
            assert code == 0 or asked, f"{page.name}:{line}: {command}\n{told.err}"
            assert not shown or [row.rstrip() for row in told.out.splitlines()] == shown, f"{page.name}:{line}"


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_python_that_does_not_run_says_why(page):
    source = page.read_text(encoding="utf-8")
    assert not re.search(r"^[ \t]+`{3,}python", source, flags=re.M), "an indented block is not run"
    for block in fenced(page):
        if re.match(r"\{code(-block)?\} *(python|console)|py\b|pycon", block.language):
            assert ":caption: Not run" in block.text, f"{page.name}:{block.line}"


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=["README.md", *IDS])
def test_blocks_are_of_kinds_that_are_run_and_scenario_files_can_be_read(page, tmp_path):
    for block in fenced(page):
        if block.language == "toml":
            (tmp_path / "costs.toml").write_text(block.text, encoding="utf-8")
            assert costcurves.read_scenarios(tmp_path / "costs.toml").scenarios
        elif block.language == "":
            assert all(re.match(r"(costcurves|pip|make) ", line) for line in block.text.splitlines()), block.line
        else:
            assert re.match(r"python|text|console|yaml|\{", block.language), f"{page.name}:{block.line}"


def test_the_step_of_a_pipeline_runs_and_writes_its_answer(tmp_path, monkeypatch):
    import pandas as pd
    import yaml

    monkeypatch.chdir(tmp_path)
    (step,) = (block.text for block in fenced(DOCS / "howto" / "ci-gate.md") if block.language == "yaml")
    (costs,) = (block.text for block in fenced(DOCS / "reference" / "scenario-file.md") if block.language == "toml")
    Path("costs.toml").write_text(costs, encoding="utf-8")
    label = ["fraud"] * 40 + ["fair"] * 400
    score = [0.9] * 38 + [0.1] * 2 + [0.8] * 2 + [0.2] * 398
    pd.DataFrame({"label": label, "model": score}).to_parquet("scores.parquet")
    run, upload = yaml.safe_load(step)
    assert main(shlex.split(run["run"])[1:]) == 0
    assert Path(upload["with"]["path"]).exists()


@pytest.mark.filterwarnings("default")  # MLflow's own
def test_mlflow_keeps_what_the_page_logs(tmp_path, monkeypatch):
    page = DOCS / "howto" / "mlflow.md"
    monkeypatch.chdir(tmp_path)
    # Nothing but this folder hears of it.
    for name in ("MLFLOW_ALLOW_FILE_STORE", "MLFLOW_DISABLE_TELEMETRY", "DO_NOT_TRACK"):
        monkeypatch.setenv(name, "true")
    import mlflow

    mlflow.set_tracking_uri("file:mlruns")
    function, *_ = (block.text for block in fenced(page) if block.language == "python")
    (call,) = (block.text for block in fenced(page) if block.language.startswith("{code-block}"))
    scope: dict[str, object] = {}
    exec(function, scope)
    exec(call.split("\n", 1)[1], scope)
    run = mlflow.last_active_run()
    assert run.data.params["classifier"] == "forest"
    assert run.data.metrics["cost_per_case"] == pytest.approx(0.5540, abs=1e-4)
    kept = {path.name for path in (tmp_path / "mlruns").rglob("artifacts/*")}
    assert kept == {"decision.json", "report.html", "report.json"}


class _Links(HTMLParser):
    """The ids of a page, where its links point to, and what it loads to be shown."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.targets: set[str] = set()
        self.loads: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name == "id":
                self.ids.add(value)
            elif value and name in ("href", "src"):
                (self.targets if tag == "a" else self.loads).add(value)


def read_site(site: Path) -> dict[Path, _Links]:
    """Return what every page of a built site has and wants."""
    found = {}
    for page in (path for path in site.rglob("*.html") if "_static" not in path.parts):
        found[page] = parser = _Links()
        parser.feed(page.read_text(encoding="utf-8"))
    return found


def broken_links(pages: dict[Path, _Links]) -> Iterator[str]:
    """Yield every link to a page, file or heading of the site that is not there, and all that a network would load."""
    for page, parser in pages.items():
        yield from (f"{page.name} loads {target}" for target in parser.loads if urlsplit(target).netloc)
        for target in parser.targets | parser.loads:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            file = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if not file.exists():
                yield f"{page.name}: {target}"
            elif parts.fragment and file in pages and unquote(parts.fragment) not in pages[file].ids:
                yield f"{page.name}: {target} (no such heading)"


def test_pages_build_without_warnings_and_hold_every_public_name_and_no_broken_link(tmp_path):
    # The gallery's examples run in their own tests; here they are only laid out, in a copy.
    shutil.copytree(DOCS, tmp_path / "docs", ignore=shutil.ignore_patterns("_build", "gallery", "api"))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    quick = ["-b", "html", "-W", "--keep-going", "-q", "-D", "plot_gallery=0", "-D", "pictures_in_light_only=1"]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *quick, "-d", str(tmp_path / "trees"), "docs", "html"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, **TESTED},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    site = (tmp_path / "html").resolve()
    pages = read_site(site)
    assert list(broken_links(pages)) == []
    anchors = set().union(*(parser.ids for page, parser in pages.items() if "reference" in page.parts))
    names = {f"costcurves.{name}" for name in costcurves.__all__ if not name.startswith("__")} - {
        "costcurves.thresholds"
    }
    received = {f"{cls.__module__}.{cls.__name__}" for cls in result_classes().values()}
    assert (names | received | {"module-costcurves.thresholds"}) - anchors == set()
    downloads = {path.name for path in (site / "_downloads").rglob("plot_*.*")}
    examples = {path.stem for path in (ROOT / "examples" / "gallery").glob("plot_*.py")}
    assert {f"{stem}{suffix}" for stem in examples for suffix in (".py", ".ipynb")} <= downloads


def test_an_example_that_is_downloaded_as_a_notebook_runs_alone(tmp_path, monkeypatch, capsys):
    import nbformat
    from sphinx_gallery.notebook import python_to_jupyter_cli

    python_to_jupyter_cli([shutil.copy(ROOT / "examples" / "gallery" / "plot_bcost.py", tmp_path)])
    notebook = nbformat.read(tmp_path / "plot_bcost.ipynb", as_version=4)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    scope: dict[str, object] = {"__name__": "__main__"}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            exec("\n".join(line for line in cell.source.splitlines() if not line.startswith("%")), scope)
    assert "λ = 0.1:" in capsys.readouterr().out


@pytest.mark.parametrize("page", notebooks.PAGES, ids=lambda page: page.stem)
def test_notebooks_say_what_their_pages_say(page):
    """Their code is that of the pages, which the test of Python blocks runs in an empty folder."""
    import nbformat

    path = DOCS / "notebooks" / f"{page.stem}.ipynb"
    assert path.read_text(encoding="utf-8") == notebooks.notebook_of(page), "run python docs/notebooks.py"
    assert f"blob/main/{path.relative_to(ROOT).as_posix()}" in page.read_text(encoding="utf-8")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    assert code == [notebooks.INSTALL.strip(), *(b.text.strip() for b in fenced(page) if b.language == "python")]


@pytest.mark.filterwarnings("default")  # the kernel and its client are not ours
def test_a_notebook_runs_in_a_kernel_and_prints_what_its_page_shows(tmp_path, monkeypatch):
    import nbformat
    from nbclient import NotebookClient

    page = DOCS / "start" / "clinic.md"
    for name, value in TESTED.items():
        monkeypatch.setenv(name, value)
    notebook = nbformat.read(DOCS / "notebooks" / f"{page.stem}.ipynb", as_version=4)
    NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    told = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []))
    shown = [block.text for block in fenced(page) if block.language == "text"]
    assert told.split() == "".join(shown).split()


def test_the_site_keeps_every_version_and_leads_to_the_newest_release(tmp_path):
    pages, site = tmp_path / "pages", tmp_path / "site"
    site.mkdir()
    for folder in ("pages/_static", "pages"):
        (tmp_path / folder).mkdir(exist_ok=True, parents=True)
    for version in ("latest", "0.9.0", "0.10.0", "0.9.1", "latest"):
        (pages / "index.html").write_text(version, encoding="utf-8")
        versions.add(pages, site, version)
    listed = json.loads((site / "switcher.json").read_text(encoding="utf-8"))
    assert [entry["version"] for entry in listed] == ["latest", "0.10.0", "0.9.1", "0.9.0"]
    assert [entry["version"] for entry in listed if entry.get("preferred")] == ["0.10.0"]
    assert (site / "stable" / "index.html").read_text(encoding="utf-8") == "0.10.0"
    assert (site / "0.9.0" / "index.html").read_text(encoding="utf-8") == "0.9.0"
    assert 'url=stable/index.html"' in (site / "index.html").read_text(encoding="utf-8")
    with pytest.raises(SystemExit, match="VERSION must be"):
        versions.add(pages, site, "v1")


def test_links_that_lead_nowhere_and_foreign_pictures_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a href="b.html">b</a><a href="#end">end</a><a href="#top">top</a>'
        '<img src="https://example.org/x.png"><a href="https://example.org">elsewhere</a>',
        encoding="utf-8",
    )
    assert sorted(broken_links(read_site(tmp_path.resolve()))) == [
        "a.html loads https://example.org/x.png",
        "a.html: #end (no such heading)",
        "a.html: b.html",
    ]


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "examples" / "README.md"])
def test_files_that_the_readme_links_to_exist(page):
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_words_are_spelt_right():
    files = [str(page) for page in PAGES]
    files += [str(ROOT / name) for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples", "src")]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "codespell_lib",
            "--ignore-words",
            str(DOCS / "words.txt"),
            "--skip",
            "*.csv,*.json,*.svg",
            *files,
        ],
        capture_output=True,
        text=True,
    )
    assert done.stdout == ""
    assert done.returncode == 0, done.stderr
