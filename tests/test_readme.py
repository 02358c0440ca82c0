"""What the README and the example say is what the code does."""

import io
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

ROOT = Path(__file__).parent.parent


def blocks(path: Path) -> list[tuple[str, str | None]]:
    """Return the Python blocks of a Markdown file, each with the text block right after it, if any."""
    found = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", path.read_text(encoding="utf-8"), flags=re.S)
    return [(code, output or None) for code, output in found]


def test_readme_code_prints_what_the_readme_shows(monkeypatch):
    monkeypatch.chdir(ROOT)
    examples = blocks(ROOT / "README.md")
    assert examples, "the README has no Python block"
    scope: dict[str, object] = {}
    for code, output in examples:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(code, "README.md", "exec"), scope)
        if output is not None:
            assert [line.rstrip() for line in printed.getvalue().splitlines()] == output.splitlines()


def test_every_call_named_in_the_readme_exists():
    import costcurves as cc

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    names = set(re.findall(r"cc\.([A-Za-z_]+(?:\.[a-z_]+)?)", text))
    assert names
    for name in names:
        target: object = cc
        for part in name.split("."):
            assert hasattr(target, part), f"cc.{name}"
            target = getattr(target, part)


def test_demo_prints_the_decision_and_writes_the_same_pictures_twice(tmp_path):
    outputs = []
    for run in ("first", "second"):
        environment = {**os.environ, "PYTHONWARNINGS": "error", "MPLCONFIGDIR": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, str(ROOT / "examples" / "german_credit.py"), "--output", str(tmp_path / run)],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        assert "use        forest at score >= 0.211365" in done.stdout
        outputs.append({p.name: p.read_bytes() for p in (tmp_path / run).iterdir()})
    assert sorted(outputs[0]) == ["german_credit.png", "german_credit.svg"]
    assert outputs[0] == outputs[1]


def test_benchmarks_run_in_small_form(tmp_path):
    done = subprocess.run(
        [
            sys.executable,
            str(ROOT / "benchmarks" / "run.py"),
            "--size",
            "3000",
            "--repeats",
            "1",
            "--output",
            str(tmp_path),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "full ROC curve" in done.stdout
    assert (tmp_path / "results.json").exists()
