"""Where answers go: standard output by any name, pipes, links, full disks, closed streams, many processes at once."""

from __future__ import annotations

import json
import math
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import costcurves as cc

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(cc.__file__).parents[1])}
COMMAND = [sys.executable, "-m", "costcurves"]
TABLE = "y,a,b\n" + "".join(f"{i % 2},{(i % 2) + (i % 5) / 2},{(i % 3) / 2}\n" for i in range(60))
DECIDE = ("decide", "t.csv", "--label", "y", "--pc", "0.5")
FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs the device that is always full")


@pytest.fixture
def folder(table, tmp_path) -> Path:
    """Return a folder with a table in it."""
    table("t.csv", TABLE)
    return tmp_path


def process(folder: Path, *arguments: str, shell: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command as a process, with redirections of a shell."""
    line = f'exec "$@" {shell}'
    return subprocess.run(
        ["bash", "-c", line, "bash", *COMMAND, *arguments],
        cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False,
    )  # fmt: skip


# Standard output -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
@pytest.mark.parametrize("flags", [(), ("--json",), ("--csv",)])
def test_standard_output_has_many_names(run, folder, name, flags):
    plain = run(*DECIDE, *flags)
    named = run(*DECIDE, *flags, "-o", name)
    assert (named.code, named.out, named.err) == (plain.code, plain.out, plain.err)
    assert sorted(os.listdir(folder)) == ["t.csv"]


def test_standard_output_that_is_a_file_is_written_where_it_stands(folder):
    line = '{ echo before; "$@" -o /dev/stdout; echo after; } > all.txt'
    arguments = ["bash", "-c", line, "bash", *COMMAND, *DECIDE, "--json"]
    subprocess.run(arguments, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)
    text = (folder / "all.txt").read_text(encoding="utf-8")
    assert text.startswith("before\n{")
    assert text.endswith("}\nafter\n")


def test_a_page_can_go_to_standard_output(run, folder, reports):
    done = run("report", "t.csv", "--label", "y", "-o", "-")
    assert (done.code, done.out) == (0, "<!doctype html><title>page</title>")
    assert "t.csv: 60 rows" in done.err
    assert sorted(os.listdir(folder)) == ["t.csv"]


def test_a_pipe_is_written_into_and_stays_a_pipe(run, folder):
    pipe, found = folder / "pipe", []
    os.mkfifo(pipe)
    for flags in ((), ("--force",)):
        reader = threading.Thread(target=lambda: found.append(json.loads(pipe.read_text())))
        reader.start()
        assert run(*DECIDE, "--json", "-o", "pipe", *flags).code == 0
        reader.join(600)
    assert [one["schema"] for one in found] == ["costcurves/decide/1"] * 2
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_force_keeps_links_and_devices(run, folder):
    (folder / "real.json").write_text("old")
    (folder / "link.json").symlink_to("real.json")
    refused = run(*DECIDE, "--json", "-o", "link.json")
    assert (refused.code, (folder / "real.json").read_text()) == (2, "old")
    assert run(*DECIDE, "--json", "-o", "link.json", "--force").code == 0
    assert (folder / "link.json").is_symlink()
    assert json.loads((folder / "real.json").read_text())["schema"] == "costcurves/decide/1"
    assert run(*DECIDE, "--json", "-o", os.devnull, "--force").code == 0
    assert not stat.S_ISREG(os.stat(os.devnull).st_mode)


CLOSED = "Error: standard output: Bad file descriptor\n"


@pytest.mark.parametrize("arguments", [DECIDE, (*DECIDE, "--json"), ("--help",)])
def test_a_closed_standard_output_is_an_error_without_a_traceback(folder, arguments):
    done = process(folder, *arguments, shell=">&-")
    assert done.returncode == 2
    assert done.stderr.endswith(CLOSED)
    assert "Traceback" not in done.stderr


def test_a_closed_standard_output_does_not_matter_where_the_answer_goes_to_a_file(folder):
    done = process(folder, *DECIDE, "-o", "a.json", shell=">&-")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "wrote a.json")
    assert json.loads((folder / "a.json").read_text())["schema"] == "costcurves/decide/1"


def test_a_closed_standard_error_does_not_matter(folder):
    done = process(folder, *DECIDE, shell="2>&-")
    assert done.returncode == 0
    assert done.stdout == process(folder, *DECIDE).stdout
    assert process(folder, *DECIDE, shell=">&- 2>&-").returncode == 2


@FULL
@pytest.mark.parametrize("arguments", [DECIDE, (*DECIDE, "--json"), ("--help",)])
def test_a_full_disk_behind_standard_output_is_said(folder, arguments):
    done = process(folder, *arguments, shell="> /dev/full")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "Error: standard output: No space left on device"


@FULL
def test_a_full_disk_names_the_file(run, folder):
    done = run(*DECIDE, "-o", "/dev/full")
    assert (done.code, done.err.splitlines()[-1]) == (2, "Error: /dev/full: No space left on device")


@pytest.mark.parametrize("arguments", [("--help",), ("decide", "--help"), (*DECIDE, "--json")])
def test_a_reader_who_leaves_does_not_look_like_a_failed_gate(folder, arguments):
    line = '"$@" 2> err | true; exit ${PIPESTATUS[0]}'
    done = subprocess.run(["bash", "-c", line, "bash", *COMMAND, *arguments], cwd=folder, env=ENVIRONMENT, check=False)
    assert done.returncode == 141
    assert "Traceback" not in (folder / "err").read_text()


# Ends ----------------------------------------------------------------------------------------------------------------

SLOW_REPLACE = """
import os, signal, sys, time
from costcurves._base import files
from costcurves.cli import main
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which `nohup make test` would leave ignored
def wait(*_):
    print("ready", file=sys.stderr, flush=True)
    time.sleep(100)
os.replace = wait
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_during_the_last_step_leaves_the_old_file_and_no_other(folder, number):
    (folder / "a.json").write_text("old")
    arguments = [sys.executable, "-c", SLOW_REPLACE, *DECIDE, "-o", "a.json", "--force"]
    one = subprocess.Popen(arguments, cwd=folder, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    assert one.stderr is not None
    while one.stderr.readline() != "ready\n":
        assert one.poll() is None
    one.send_signal(number)
    rest = one.communicate(timeout=600)[1]
    assert one.returncode == 128 + number
    assert "Traceback" not in rest
    assert (folder / "a.json").read_text() == "old"
    assert sorted(os.listdir(folder)) == ["a.json", "t.csv"]


def test_signals_are_as_before_when_the_command_was_a_function(run, folder):
    before = signal.getsignal(signal.SIGTERM)
    run(*DECIDE)
    assert signal.getsignal(signal.SIGTERM) == before


# Many at once --------------------------------------------------------------------------------------------------------

CROWD = """
import os, sys
from costcurves.cli import main
os.mkdir("warm")  # so that what a command imports is there in all children
main(["hull", "add", "warm/hull.json", "t.csv", "--label", "y", "--score", "a"])
start, go = os.pipe()
for k in range(50):
    if os.fork() == 0:
        os.close(go)
        os.read(start, 1)
        name = ("hull.json", "link.json")[k % 2]
        os._exit(main(["hull", "add", name, "t.csv", "--label", "y", "--score", "a", "--tag", str(k)]))
os.close(go)
print({os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(50)}, file=sys.stderr)
"""


def test_of_fifty_adds_at_once_none_is_lost(folder):
    (folder / "link.json").symlink_to("hull.json")
    done = subprocess.run(
        [sys.executable, "-c", CROWD], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.stderr.splitlines()[-1] == "{0}", done.stderr
    assert done.stderr.count("made hull.json") + done.stderr.count("made link.json") == 1
    hull = cc.RocHull.from_json(folder / "hull.json")
    assert sorted(hull.names) == sorted(f"a ({k})" for k in range(50))
    assert (folder / "link.json").is_symlink()
    assert sorted(os.listdir(folder)) == ["hull.json", "link.json", "t.csv", "warm"]


def test_a_hull_is_kept_in_a_file_only(run, folder):
    os.mkfifo(folder / "pipe")
    done = run("hull", "add", "pipe", "t.csv", "--label", "y")
    assert (done.code, "pipe cannot keep a hull: it is not a file" in done.err) == (2, True)


def test_a_hull_answers_for_a_range_in_json_as_in_text(run, folder):
    assert run("hull", "add", "hull.json", "t.csv", "--label", "y").code == 0
    hull = cc.RocHull.from_json(folder / "hull.json")
    for low, high in ((0.2, 0.6), (0.0, 1.0), (0.05, 0.1)):
        (found,) = run("hull", "show", "hull.json", "--pc", f"{low}..{high}", "--json").json["ranges"]
        wanted = hull.within(cc.OperatingRange.from_pc(low, high))
        assert found["pc"] == pytest.approx([low, high])
        assert (found["sensitive"], found["candidates"]) == (wanted.sensitive, list(wanted.candidates))
        assert [one["classifier"] for one in found["stretches"]] == list(wanted.classifier)
        assert [one["pc_high"] for one in found["stretches"]] == pytest.approx(wanted.pc_high.tolist())
    assert run("hull", "show", "hull.json", "--pc", "0.5", "--json").json["ranges"] == []


# Gates ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", [("--json",), ("--csv",), ("-o", "a.json"), ("-o", "a.txt"), ("--json", "-o", "x")])
@pytest.mark.parametrize(("limit", "word", "code", "by"), [("0.0001", "FAIL", 1, "lower"), ("100", "PASS", 0, "upper")])
def test_a_gate_says_its_verdict_wherever_the_answer_goes(run, folder, where, limit, word, code, by):
    done = run(*DECIDE, "--assert-cost-below", limit, *where)
    assert done.code == code
    assert f"{word}: cost of a below {limit}: the {by} limit at 95 % is " in " ".join(done.err.split())


def test_a_gate_says_its_verdict_once(run, folder):
    done = run(*DECIDE, "--assert-cost-below", "100")
    assert (done.out.count("PASS"), done.err.count("PASS")) == (1, 0)


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
@pytest.mark.parametrize(
    ("command", "option"),
    [
        (DECIDE, "--assert-cost-below"),
        (("bcost", "example:vehicle", "--costs", "example:vehicle"), "--assert-cost-below"),
        (("compare", "t.csv", "--label", "y", "--assert-not-worse-than", "b"), "--margin"),
        (("bdeltacost", "example:vehicle", "--costs", "example:vehicle"), "--margin"),
    ],
)
def test_a_limit_that_is_no_number_is_bad_usage(run, folder, command, option, value):
    done = run(*command, f"{option}={value}")
    assert (done.code, done.out) == (2, "")
    assert f"{option} must be a finite number, got {float(value):g}" in done.err
    assert not math.isfinite(float(value))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--junit", "t.csv"), "--junit must be another file than the table, got"),
        (("--summary", "t.csv"), "--summary must be another file than the table, got"),
        (("--junit", "x.xml", "-o", "x.xml"), "--junit must be another file than --output, got"),
        (("--junit", "x.xml", "--summary", "x.xml"), "--summary must be another file than --junit, got"),
    ],
)
def test_verdicts_never_replace_the_table_or_another_output(run, folder, options, told):
    before = (folder / "t.csv").read_bytes()
    done = run(
        "decide", "t.csv", "--label", "y", "--positive", "1", "--pc", "0.5", "--assert-cost-below", "9", *options
    )
    assert done.code == 2
    assert told in " ".join(done.err.split())
    assert (folder / "t.csv").read_bytes() == before
    assert not (folder / "x.xml").exists()
