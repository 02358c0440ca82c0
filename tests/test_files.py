"""Files are whole or not there."""

from __future__ import annotations

import os
import stat

import pytest

import costcurves as cc
from costcurves import _files
from costcurves._files import write_atomically


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

    monkeypatch.setattr(_files.os, step, fail)
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
