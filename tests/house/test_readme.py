"""What the README and the example say is what the code does."""

import os
import re
import runpy
import subprocess
import sys

import pytest

from doc_blocks import ROOT, run_page


def test_readme_code_prints_what_the_readme_shows(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert run_page(ROOT / "README.md"), "the README has no Python block"


@pytest.mark.parametrize("page", ["README.md", "docs/questions.md"])
def test_every_call_named_in_the_readme_exists(page):
    import costcurves as cc

    text = (ROOT / page).read_text(encoding="utf-8")
    names = set(re.findall(r"cc\.([A-Za-z_]+(?:\.[a-z_]+)?)", text))
    assert names
    for name in names:
        target: object = cc
        for part in name.split("."):
            assert hasattr(target, part), f"cc.{name}"
            target = getattr(target, part)


def test_demo_prints_the_decision_and_writes_the_same_pictures_twice(tmp_path, monkeypatch):
    script = str(ROOT / "examples" / "german_credit.py")
    command = [sys.executable, script, "--output", str(tmp_path / "first")]
    environment = {**os.environ, "PYTHONWARNINGS": "error", "MPLCONFIGDIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert "use        forest at score >= 0.2113:" in done.stdout
    monkeypatch.setattr(sys, "argv", [script, "--output", str(tmp_path / "second")])
    runpy.run_path(script, run_name="__main__")
    first, second = ({p.name: p.read_bytes() for p in (tmp_path / run).iterdir()} for run in ("first", "second"))
    assert sorted(first) == ["german_credit.png", "german_credit.svg"]
    assert first == second
