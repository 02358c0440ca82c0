"""Whatever goes wrong while a file is written, by any door: the old file stays whole, and nothing else is left."""

from __future__ import annotations

import ast
import errno
import os
from functools import cache
from pathlib import Path

import pytest

import costcurves as cc
from costcurves._base import files

TABLE = "y,a,b\n" + "".join(f"{i % 2},{(i % 2) + (i % 5) / 2},{(i % 3) / 2}\n" for i in range(60))
Y, A = [i % 2 for i in range(60)], [(i % 2) + (i % 5) / 2 for i in range(60)]
DECIDE = ("decide", "t.csv", "--label", "y", "--pc", "0.5")


@cache
def hull() -> cc.RocHull:
    return cc.RocHull.from_predictions(Y, {"a": A})


@cache
def report() -> cc.Report:
    return cc.Report.from_predictions(Y, {"a": A})


@cache
def display() -> cc.RocHullDisplay:
    return cc.RocHullDisplay(hull()).plot()


WRITERS = {
    "hull": ("hull.json", lambda path: hull().to_json(path)),
    "page": ("page.html", lambda path: report().write_html(path, force=True)),
    "figure": ("figure.svg", lambda path: display().save(path)),
}
COMMANDS = {
    "answer": (*DECIDE, "--force", "-o"),
    "json": (*DECIDE, "--json", "--force", "-o"),
    "csv": (*DECIDE, "--csv", "--force", "-o"),
    "junit": (*DECIDE, "--assert-cost-below", "0.9", "--junit"),
    "summary": (*DECIDE, "--assert-cost-below", "0.9", "--summary"),
    "page": ("report", "t.csv", "--label", "y", "--force", "-o"),
}


class Half:
    """A file on a disk that is full after half of the content."""

    def __init__(self, file, error):
        self.file, self.error = file, error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def write(self, data):
        self.file.write(data[: len(data) // 2])
        self.file.flush()
        raise self.error


@pytest.fixture(params=["full", "quota", "interrupt", "permission", "no rename"])
def fault(request, monkeypatch):
    """Let something go wrong in every write."""
    fdopen, opened, link = os.fdopen, os.open, os.link
    broken = {
        "full": OSError(errno.ENOSPC, "No space left on device"),
        "quota": OSError(errno.EDQUOT, "Disk quota exceeded"),
        "interrupt": KeyboardInterrupt(),
    }
    if request.param in broken:
        half = lambda handle, mode="r", *rest: (  # noqa: E731
            Half(fdopen(handle, mode, *rest), broken[request.param]) if mode == "wb" else fdopen(handle, mode, *rest)
        )
        monkeypatch.setattr(files.os, "fdopen", half)
    elif request.param == "permission":

        def closed(path, flags, *rest, **more):
            if flags & os.O_WRONLY:
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return opened(path, flags, *rest, **more)

        monkeypatch.setattr(files.os, "open", closed)
    else:

        def refused(*_, **__):
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(files.os, "replace", refused)
        monkeypatch.setattr(
            files.os, "link", lambda *a, **k: link(*a, **k) if str(a[1]).startswith(".cost") else refused()
        )
    return request.param


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("writer", WRITERS)
def test_a_method_that_cannot_write_says_so_and_leaves_the_old_file(tmp_path, writer, there, fault):
    name, write = WRITERS[writer]
    path = tmp_path / name
    if there:
        path.write_text("old")
    with pytest.raises(KeyboardInterrupt if fault == "interrupt" else OSError) as found:
        write(path)
    assert fault == "interrupt" or found.value.filename == str(path)
    assert os.listdir(tmp_path) == [name] * there
    assert not there or path.read_text() == "old"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_cannot_write_fails_and_leaves_the_old_file(run, table, tmp_path, command, fault):
    table("t.csv", TABLE)
    out = "out.html" if command == "page" else "out.txt"
    (tmp_path / out).write_text("old")
    done = run(*COMMANDS[command], out)
    assert done.code == 130 if fault == "interrupt" else done.code not in (0, 70)
    assert fault == "interrupt" or out in done.err
    assert "Traceback" not in done.err
    assert (tmp_path / out).read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == [out, "t.csv"]


# Where else files are opened for writing: a pipe kept as a table for one run, and the device that forgets.
ELSEWHERE = {"cli/_tables.py": 1, "cli/_app.py": 2}


def test_everything_is_written_by_the_module_that_writes_atomically():
    package, found = Path(cc.__file__).parent, {}
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            modes = [a.value for a in node.args[1:2] if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            writes = name in ("write_text", "write_bytes", "tofile") or (
                name in ("open", "fdopen") and any(set("wax+") & set(mode) for mode in modes)
            )
            if writes and path.name != "files.py":
                place = path.relative_to(package).as_posix()
                found[place] = found.get(place, 0) + 1
    assert found == ELSEWHERE
