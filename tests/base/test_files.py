"""Files are whole or not there."""

from __future__ import annotations

import errno
import os
import re
import signal
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import costcurves as cc
from costcurves._base import files
from costcurves._base.files import update_file, write_atomically


def test_text_is_written_as_utf_8_with_unix_lines(tmp_path):
    write_atomically(tmp_path / "a.json", "größe\n≤ 1\n")
    assert (tmp_path / "a.json").read_bytes() == "größe\n≤ 1\n".encode()
    assert os.listdir(tmp_path) == ["a.json"]


def test_bytes_are_written_as_they_are(tmp_path):
    write_atomically(tmp_path / "a.png", b"\x89PNG\r\n\x00")
    assert (tmp_path / "a.png").read_bytes() == b"\x89PNG\r\n\x00"


def test_an_old_file_is_replaced_and_keeps_its_mode(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("old and longer")
    path.chmod(0o640)
    write_atomically(str(path), "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_follows_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "a", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


@pytest.mark.parametrize("step", ["replace", "chmod"])
def test_a_failure_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, step):
    path = tmp_path / "a.json"
    path.write_text("old")

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(files.os, step, fail)
    with pytest.raises(OSError, match="no space left"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.json"]


def test_text_that_cannot_be_encoded_leaves_the_old_hull_and_no_other_file(tmp_path):
    path = tmp_path / "hull.json"
    good = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A")])
    good.to_json(path)
    before = path.read_bytes()
    with pytest.raises(cc.InputError, match=r"`name` must be text that UTF-8 can hold, got '\\ud800'"):
        cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="\ud800")]).to_json(path)
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "\ud800")
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["hull.json"]


def test_a_missing_folder_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "no" / "a.json", "x")


# Links, devices and pipes ------------------------------------------------------------------------------------------


def test_a_link_stays_and_what_it_names_is_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("folder/real.json")
    (tmp_path / "second.json").symlink_to("link.json")
    write_atomically(tmp_path / "second.json", "new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "second.json").is_symlink()
    assert (tmp_path / "folder" / "real.json").read_text() == "new"
    (tmp_path / "dangling").symlink_to("folder/made.json")
    write_atomically(tmp_path / "dangling", "made")
    assert (tmp_path / "folder" / "made.json").read_text() == "made"
    assert sorted(os.listdir(tmp_path / "folder")) == ["made.json", "real.json"]


def test_a_pipe_is_written_into(tmp_path):
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    write_atomically(pipe, "through the pipe" * 10_000)
    reader.join(600)
    assert found == [b"through the pipe" * 10_000]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_device_stays_a_device():
    write_atomically(os.devnull, "nothing")
    assert not stat.S_ISREG(os.stat(os.devnull).st_mode)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev//stdout"])
def test_an_open_descriptor_is_written_to_where_it_stands(tmp_path, name):
    writes = f"files.write_atomically({name!r}, 'b\\n')"
    code = f"from costcurves._base import files\nprint('a', flush=True)\n{writes}\nprint('c')"
    with open(tmp_path / "out", "wb") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True, env=ENVIRONMENT)
    assert (tmp_path / "out").read_text() == "a\nb\nc\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs the device that is always full")
def test_a_full_device_is_named():
    with pytest.raises(OSError, match=re.escape(f"[Errno {errno.ENOSPC}]")) as found:
        write_atomically("/dev/full", "x")
    assert found.value.filename == "/dev/full"


# Faults --------------------------------------------------------------------------------------------------------------

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(cc.__file__).parents[1])}
# A process that writes while something goes wrong in it.
VICTIM = """
import os, resource, signal, sys
from costcurves._base import files
path, fault, nameless = sys.argv[1:]
if nameless == "no":
    del os.O_TMPFILE
def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
if fault == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
else:
    setattr(files.os, fault, kill)
files.write_atomically(path, "new" * 100_000)
"""


def written_with(fault: str, path: Path, nameless: bool = True) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-c", VICTIM, str(path), fault, "yes" if nameless else "no"]
    return subprocess.run(arguments, env=ENVIRONMENT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("nameless", [True, False])
@pytest.mark.parametrize("there", [True, False])
def test_a_full_disk_names_the_file_and_leaves_the_old_one(tmp_path, there, nameless):
    path = tmp_path / "a.json"
    if there:
        path.write_text("old")
    done = written_with("full", path, nameless)
    assert done.returncode == 1
    assert f"[Errno {errno.EFBIG}] {os.strerror(errno.EFBIG)}: '{path}'" in done.stderr
    assert os.listdir(tmp_path) == ["a.json"] * there
    assert not there or path.read_text() == "old"


NAMELESS = pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="needs files without a name")


@NAMELESS
def test_a_process_killed_before_a_new_file_has_its_name_leaves_nothing(tmp_path):
    assert written_with("link", tmp_path / "a.json").returncode == -signal.SIGKILL
    assert os.listdir(tmp_path) == []


@NAMELESS
@pytest.mark.parametrize(("fault", "nameless"), [("replace", True), ("chmod", True), ("replace", False)])
def test_what_a_killed_process_left_is_swept_away_by_the_next_write(tmp_path, fault, nameless):
    path = tmp_path / "a.json"
    path.write_text("old")
    assert written_with(fault, path, nameless).returncode == -signal.SIGKILL
    assert path.read_text() == "old"
    assert len(os.listdir(tmp_path)) == (1 if fault == "chmod" else 2)
    write_atomically(tmp_path / "b.json", "x")
    assert sorted(os.listdir(tmp_path)) == ["a.json", "b.json"]


def test_the_draft_of_a_living_process_is_not_swept_away(tmp_path, monkeypatch):
    path, seen = tmp_path / "a.json", []
    path.write_text("old")
    real = os.replace

    def look(draft, target):
        if not seen:
            seen.append(draft)
            write_atomically(tmp_path / "b.json", "x")
        real(draft, target)

    monkeypatch.setattr(files.os, "replace", look)
    write_atomically(path, "new")
    assert path.read_text() == "new"
    assert sorted(os.listdir(tmp_path)) == ["a.json", "b.json"]


def test_a_file_that_appears_meanwhile_is_not_replaced_unasked(tmp_path):
    path = tmp_path / "a.json"
    write_atomically(path, "first", replace=False)
    with pytest.raises(FileExistsError) as found:
        write_atomically(path, "second", replace=False)
    assert (found.value.filename, path.read_text()) == (str(path), "first")
    assert os.listdir(tmp_path) == ["a.json"]


def test_of_many_who_make_a_file_at_once_one_wins(tmp_path):
    def make(k):
        try:
            write_atomically(tmp_path / "a", str(k), replace=False)
        except FileExistsError:
            return None
        return k

    with ThreadPoolExecutor(16) as pool:
        winners = [k for k in pool.map(make, range(200)) if k is not None]
    assert [str(k) for k in winners] == [(tmp_path / "a").read_text()]
    assert os.listdir(tmp_path) == ["a"]


# Changes -------------------------------------------------------------------------------------------------------------


# Fifty processes that begin at the same moment, each with five lines to add.
CROWD = """
import os, sys
from costcurves._base.files import update_file
start, go = os.pipe()
for k in range(50):
    if os.fork() == 0:
        os.close(go)
        os.read(start, 1)
        for i in range(5):
            update_file(sys.argv[1 + k % 2], lambda old: (old or b"") + f"{k}.{i}\\n".encode())
        os._exit(0)
os.close(go)
assert {os.wait()[1] for _ in range(50)} == {0}
"""


@pytest.mark.parametrize("there", [True, False])
def test_of_changes_by_fifty_processes_at_once_none_is_lost(tmp_path, there):
    path, link = tmp_path / "real.txt", tmp_path / "link.txt"
    link.symlink_to(path)
    if there:
        path.write_text("")
    subprocess.run([sys.executable, "-c", CROWD, str(path), str(link)], env=ENVIRONMENT, check=True)
    assert sorted(path.read_text().split()) == sorted(f"{k}.{i}" for k in range(50) for i in range(5))
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["link.txt", "real.txt"]


def test_a_change_that_fails_changes_nothing_and_locks_nobody_out(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail(old):
        raise ValueError(old)

    with pytest.raises(ValueError, match="old"):
        update_file(path, fail)
    update_file(path, lambda old: old + b" and new")
    assert path.read_text() == "old and new"
