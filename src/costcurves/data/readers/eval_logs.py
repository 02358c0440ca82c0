"""Logs of LLM evaluations: Inspect (.eval and .json) and lm-evaluation-harness (samples_*.jsonl).

A format reads a file into a `Log` and finds values in its samples. To add one, write its class here and enter it in
`LOG_FORMATS`.
"""

from __future__ import annotations

import glob
import io
import json
import lzma
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from costcurves._base.errors import CostCurvesError, DataError, FormatError, InputError, MissingExtraError
from costcurves._base.validation import check_path, shown
from costcurves.data.readers.files import PATH

_ZSTANDARD = 93  # the number of this compression in zip archives
# What zipfile and the compressions raise where bytes of an archive are wrong: RuntimeError where they say that it is
# encrypted, and NotImplementedError, one of those, where they name a compression that does not exist.
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, ValueError, RuntimeError, OverflowError, OSError),
)


@dataclass(frozen=True, slots=True)
class Logged:
    """One answer of a model: to a sample, in one repeat (epoch)."""

    sample: int | str
    epoch: int
    values: dict[str, Any]  # all that is logged about it


@dataclass(frozen=True, slots=True)
class Log:
    """The content of one file: which model did which task, whether it finished, and its answers."""

    path: str
    form: LogFormat
    model: str
    task: str
    status: str
    logged: Sequence[Logged]

    @property
    def where(self) -> str:
        """The file, for messages."""
        return shown(self.path, PATH)


class LogFormat(Protocol):
    """A format of logs."""

    suffixes: tuple[str, ...]

    def read(self, path: str) -> Log | None:
        """Read a file, or return None if it has another format."""

    def find(self, values: dict[str, Any], place: str) -> Any:
        """Find a value of one answer. Raise a LookupError if there is none."""

    def places(self, log: Log) -> list[str]:
        """List places where scores can be found, for messages."""


class Inspect:
    """Logs of Inspect, as JSON or as archives with one JSON file for each answer."""

    suffixes: tuple[str, ...] = (".eval", ".json")

    def read(self, path: str) -> Log | None:
        """Read the header and all samples."""
        if path.lower().endswith(".eval"):
            header, samples = _unpacked(path)
        else:
            header = _parsed(Path(path).read_bytes(), path)
            if not (isinstance(header, dict) and isinstance(header.get("eval"), dict) and "version" in header):
                return None
            samples = header.get("samples") or []
        try:
            logged = [Logged(sample["id"], int(sample["epoch"]), sample) for sample in samples]
            model, task = str(header["eval"]["model"]), str(header["eval"]["task"])
        except (KeyError, TypeError, ValueError):
            raise FormatError(
                f"{shown(path, PATH)} must be a log of Inspect, got no id, epoch, model or task in some place"
            ) from None
        return Log(path, self, model, task, str(header.get("status", "success")), logged)

    def find(self, values: dict[str, Any], place: str) -> Any:
        """Find the value of a scorer by its name, the probability of a token (token.Yes), or any other value."""
        scores = values.get("scores") or {}
        scorer = max((name for name in scores if f"{place}.".startswith(f"{name}.")), key=len, default=None)
        if scorer is not None:
            value = scores[scorer]["value"]
            return value if place == scorer else look_up(value, place[len(scorer) + 1 :])
        if place.startswith("token."):
            return _token_probability(values, place.removeprefix("token."))
        found = look_up(values, place)
        return found[0] if place == "target" and isinstance(found, list) and len(found) == 1 else found

    def places(self, log: Log) -> list[str]:
        """List the scorers."""
        return list(dict.fromkeys(name for answer in log.logged for name in answer.values.get("scores") or {}))


class Harness:
    """Logs of samples of lm-evaluation-harness (``--log_samples``)."""

    suffixes: tuple[str, ...] = (".jsonl",)

    def read(self, path: str) -> Log | None:
        """Read all lines; the model is the name of the folder and the task is part of the file's name."""
        named = re.fullmatch(r"samples_(.+?)(_\d{4}-\d\d-\d\dT[\d.\-:]+)?\.jsonl", Path(path).name)
        if named is None:
            return None
        lines = Path(path).read_bytes().splitlines()
        rows = [_parsed(line, f"{path}, line {i + 1}") for i, line in enumerate(lines) if line.strip()]
        if not all(isinstance(row, dict) and "doc_id" in row for row in rows):
            raise FormatError(f"{shown(path, PATH)} must be a log of lm-evaluation-harness, got lines without 'doc_id'")
        model = Path(path).resolve().parent.name
        return Log(path, self, model, named[1], "success", [Logged(row["doc_id"], 1, row) for row in rows])

    def find(self, values: dict[str, Any], place: str) -> Any:
        """Find the probability of a choice (choice.1) or any logged value, such as a metric."""
        if not re.fullmatch(r"choice\.\d+", place):
            return look_up(values, place)
        logs = [float(look_up(answer, "0")) for answer in values["filtered_resps"]]
        weights = [math.exp(value - max(logs)) for value in logs]
        return weights[int(place.removeprefix("choice."))] / sum(weights)

    def places(self, log: Log) -> list[str]:
        """List the metrics."""
        return list(dict.fromkeys(name for answer in log.logged for name in answer.values.get("metrics") or ()))


LOG_FORMATS: tuple[LogFormat, ...] = (Inspect(), Harness())


def read_logs(source: Any) -> Iterator[tuple[str | None, Log]]:
    """Read logs one after the other, each with the name of its classifier if `source` maps names to paths."""
    named = source.items() if isinstance(source, Mapping) else [(None, source)]
    found = 0
    for name, paths in named:
        several = paths if isinstance(paths, (list, tuple)) else [paths]
        for path, sure in (pair for one in several for pair in _paths(one)):
            log = _read(path)
            if log is None:
                if sure:
                    raise FormatError(
                        f"{shown(path, PATH)} must be a log of Inspect (.eval, .json) or of lm-evaluation-harness "
                        "(samples_*.jsonl), got something else"
                    )
                continue
            if not log.logged:
                raise DataError(f"the log must have samples, got none in {log.where}")
            found += 1
            yield name, log
    if not found:
        raise InputError(f"`source` must name at least one log, got none in {shown(source, PATH)}")


def look_up(value: Any, place: str) -> Any:
    """Follow a path of keys and positions, separated by dots, in nested values. Keys may contain dots themselves."""
    if not place:
        return value
    parts = place.split(".")
    if isinstance(value, list) and parts[0].isdecimal():
        return look_up(value[int(parts[0])], ".".join(parts[1:]))
    for size in range(len(parts), 0, -1) if isinstance(value, dict) else ():
        if (key := ".".join(parts[:size])) in value:
            return look_up(value[key], ".".join(parts[size:]))
    raise KeyError(place)


def _read(path: str) -> Log | None:
    for form in LOG_FORMATS:
        if path.lower().endswith(form.suffixes) and (log := form.read(path)) is not None:
            return log
    return None


def _paths(source: Any) -> Iterator[tuple[str, bool]]:
    """Yield the files of a path, directory or glob, and whether each was meant: a directory may have others too."""
    path = os.fspath(check_path(source))
    suffixes = tuple(suffix for form in LOG_FORMATS for suffix in form.suffixes)
    if os.path.isdir(path):
        yield from ((str(p), False) for p in sorted(Path(path).rglob("*")) if p.suffix.lower() in suffixes)
    elif os.path.exists(path):
        yield path, True
    elif glob.has_magic(path):
        yield from ((match, False) for match in sorted(glob.glob(path, recursive=True)) if os.path.isfile(match))
    else:
        raise InputError(f"`source` must be an existing file, directory or glob, got {shown(path, PATH)}")


def _parsed(text: bytes, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{shown(where, PATH)} must be JSON, got {error}") from None


def _unpacked(path: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the header and the samples of an .eval archive."""
    content = io.BytesIO(Path(path).read_bytes())
    try:
        with zipfile.ZipFile(content) as archive:
            members = {info.filename: info for info in archive.infolist()}  # of several with one name, the last counts
            head = members.get("header.json") or members.get("_journal/start.json")
            if head is None:
                raise FormatError(f"{shown(path, PATH)} must be a log of Inspect, got an archive without header.json")
            header = _parsed(_member(archive, head), f"{path}, {head.filename}")
            if not isinstance(header, dict):
                raise FormatError(f"{shown(path, PATH)} must be a log of Inspect, got a header that is not an object")
            if head.filename != "header.json":
                header["status"] = "started"
            kept = {
                name: info for name, info in members.items() if name.startswith("samples/") and name.endswith(".json")
            }
            samples = [_parsed(_member(archive, info), f"{path}, {name}") for name, info in kept.items()]
    except CostCurvesError:
        raise
    except _BROKEN as error:
        raise FormatError(f"{shown(path, PATH)} must be a log of Inspect, got a broken archive: {error}") from None
    return header, samples


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Read a member, also one that is compressed by Zstandard, which zipfile knows from Python 3.14 on."""
    if info.compress_type != _ZSTANDARD or hasattr(zipfile, "ZIP_ZSTANDARD"):
        return archive.read(info)
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError('logs in .eval archives need pyarrow: pip install "costcurves[files]"') from None
    file: Any = archive.fp
    file.seek(info.header_offset)
    header = file.read(30)  # the lengths of the name and of further fields are its last four bytes
    file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), os.SEEK_CUR)
    try:
        with pa.CompressedInputStream(pa.BufferReader(file.read(info.compress_size)), "zstd") as stream:
            content: bytes = stream.read()
    except OSError as error:
        raise zipfile.BadZipFile(str(error)) from None
    if zlib.crc32(content) != info.CRC:
        raise zipfile.BadZipFile(f"bad CRC-32 for file {info.filename!r}")
    return content


def _token_probability(values: dict[str, Any], token: str) -> float:
    """Return the probability that the answer begins with a token, 0 if it is not among the most likely ones."""
    first = look_up(values, "output.choices.0.logprobs.content.0")
    likely = first.get("top_logprobs") or [first]
    wanted = token.strip().lower()
    return min(1.0, sum(math.exp(one["logprob"]) for one in likely if one["token"].strip().lower() == wanted))
