"""The compiled loops read and write only what is theirs, as sanitizers of the compiler see it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PACKAGE = HERE.parents[1] / "src" / "costcurves"
SANITIZED = ["-O1", "-g", "-std=c99", "-ffp-contract=off", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def runtime(name: str) -> str | None:
    """Return the library of a sanitizer that must be loaded first; None if the compiler has none."""
    if shutil.which("gcc") is None or sys.platform != "linux":
        return None
    found = subprocess.run(
        ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
    ).stdout.strip()
    return found if Path(found).is_absolute() else None


def under_sanitizers(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of the loops with a copy of the package whose loops are made from some source with sanitizers."""
    libraries = [runtime("libasan.so"), runtime("libubsan.so")]
    if None in libraries:
        pytest.skip("gcc with its sanitizers is not there")
    shutil.copytree(PACKAGE, folder / "costcurves", ignore=shutil.ignore_patterns("__pycache__", "_loops.*"))
    counting = folder / "costcurves" / "counting"
    (counting / "loops.c").write_text(source, encoding="utf-8")
    made = [*SANITIZED, "-shared", "-fPIC", "-o", counting / "_loops.so", counting / "loops.c"]
    subprocess.run(["gcc", *made], check=True)
    options = {"LD_PRELOAD": " ".join(map(str, libraries)), "ASAN_OPTIONS": "detect_leaks=0", "PYTHONPATH": str(folder)}
    tests = "(numpy or hull or hulls or members or counted or tallied) and not build and not install"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-s",
        "-p",
        "no:cacheprovider",
        HERE / "test_compiled.py",
        "-k",
        tests,
    ]
    return subprocess.run(command, env=os.environ | options, capture_output=True, text=True, timeout=600, check=False)


def test_the_loops_pass_their_tests_under_sanitizers(tmp_path):
    done = under_sanitizers(tmp_path, (PACKAGE / "counting" / "loops.c").read_text(encoding="utf-8"))
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout


def test_sanitizers_see_a_loop_that_reads_too_far(tmp_path):
    source = (PACKAGE / "counting" / "loops.c").read_text(encoding="utf-8")
    broken = source.replace("for (size_t i = 0; i < n; i++)", "for (size_t i = 0; i < n + 64; i++)")
    broken = broken.replace("for (int64_t i = 0; i < n; i++)", "for (int64_t i = 0; i < n + 64; i++)")
    assert broken != source
    done = under_sanitizers(tmp_path, broken)
    assert done.returncode != 0
    assert "AddressSanitizer" in done.stdout + done.stderr
