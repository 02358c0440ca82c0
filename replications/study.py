"""The structure of a replication: parts of work that can be resumed, and rows that compare with the paper."""

from __future__ import annotations

import json
import math
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from costcurves import FormatError, InputError, MissingExtraError
from replications.writing import write_whole

RESULTS = Path(__file__).parent / "results"
SIZES = ("small", "full")
REPLICATES, DIRECTION, FAILS, BEYOND = "replicates", "replicates in direction", "does not replicate", "beyond the paper"
# The inputs were chosen or printed so that the statement had to come out, or it is an identity. It shows that the
# functions agree with the text, but it is no independent evidence for the paper.
CONSTRUCTED = "consistent by construction"
VERDICTS = (REPLICATES, CONSTRUCTED, DIRECTION, FAILS, BEYOND)

Part = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One number or statement of a paper, compared with ours.

    Attributes
    ----------
    item : str
        Its place in the paper, such as "Table 5, M1".
    what : str
        What is measured.
    paper, ours : float, str or None
        The paper's value (None if it prints none) and ours.
    verdict : str
        One of `VERDICTS`.
    why : str
        The reason, if the verdict needs one.
    error : float
        The Monte-Carlo standard error of our number, which is 0 if nothing was simulated.
    """

    item: str
    what: str
    paper: float | str | None
    ours: float | str
    verdict: str
    why: str = ""
    error: float = 0.0

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise InputError(f"`verdict` must be one of {', '.join(VERDICTS)}, got {self.verdict!r}")

    @property
    def difference(self) -> float | None:
        """Our value minus the paper's, if both are numbers."""
        if isinstance(self.paper, str) or isinstance(self.ours, str) or self.paper is None:
            return None
        return self.ours - self.paper


def judged(item: str, what: str, paper: float | str, ours: float | str, holds: bool, why: str = "") -> Row:
    """Make the row of a statement that either holds or does not."""
    return Row(item, what, paper, ours, REPLICATES if holds else FAILS, why)


def constructed(item: str, what: str, paper: float | str, ours: float | str, holds: bool, why: str) -> Row:
    """Make the row of a statement that must hold because of its inputs, for the reason given, if the code is right."""
    return Row(item, what, paper, ours, CONSTRUCTED if holds else FAILS, why)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a replication: its settings, the results of its parts, and the rows made from them."""

    study: str
    size: str
    seed: int
    settings: dict[str, Any]
    parts: list[Part]
    rows: tuple[Row, ...]

    def to_json(self) -> str:
        """Convert the outcome to text. The same outcome gives the same text."""
        rows = [asdict(row) for row in self.rows]
        head = {"study": self.study, "size": self.size, "seed": self.seed, "settings": self.settings, "rows": rows}
        text = json.dumps(head, indent=1, ensure_ascii=False)
        # One line per part keeps the file small and its changes readable.
        parts = ",\n  ".join(json.dumps(part, ensure_ascii=False) for part in self.parts)
        return text[:-2] + f',\n "parts": [\n  {parts}\n ]\n}}\n'

    @classmethod
    def from_json(cls, text: str) -> Outcome:
        """Read a saved outcome."""
        try:
            data = json.loads(text)
            data["rows"] = tuple(Row(**row) for row in data["rows"])
            return cls(**data)
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError(f"`text` must be a saved outcome of a replication: {error}") from None

    def series(self, *names: str) -> list[list[Any]]:
        """Return the named values of all parts, one list per name."""
        return [[part[name] for part in self.parts] for name in names]


@dataclass(frozen=True, slots=True)
class Study:
    """A replication: its parts, how a part is computed, and how its rows are made.

    Attributes
    ----------
    name : str
        The name for the command line.
    title : str
        What it replicates.
    parts : size -> list of dict
        The pieces of work, each of which is a small dict of plain values that identifies it.
    work : (part, seed) -> dict
        Computes one part and returns plain values. It is a function of a module, so that other processes can call it.
    rows : (parts with their results) -> list of Row
    settings : size -> dict
        The settings that a reader needs to repeat the study.
    reads_data : bool
        Whether `work` also takes `data`, the directory of the data sets, or None to fetch them.
    keeps_steps : bool
        Whether `work` also takes `scratch`, a directory (or None) for intermediate results that a stopped part need not
        compute again.
    """

    name: str
    title: str
    parts: Callable[[str], list[Part]]
    work: Callable[..., Part]
    rows: Callable[[list[Part]], list[Row]]
    settings: Callable[[str], dict[str, Any]] = field(default=lambda size: {})
    reads_data: bool = False
    keeps_steps: bool = False

    def run(
        self,
        size: str = "full",
        *,
        seed: int = 2000,
        n_jobs: int | None = 1,
        progress: Callable[[int, int], None] | None = None,
        output: str | Path | None = None,
        data: str | Path | None = None,
    ) -> Outcome:
        """Compute all parts and return the outcome.

        Parameters
        ----------
        size : {"full", "small"}
            The paper's size, or one that takes seconds.
        seed : int
        n_jobs : int or None
            The number of processes for joblib. None uses the number and the backend of `joblib.parallel_config` (Dask,
            Ray).
        progress : callable, optional
            Called with (parts done, parts in all).
        output : path, optional
            A directory for finished parts. A part that is found there is not computed again.
        data : path, optional
            The directory of the data sets, for studies that read some.
        """
        if size not in SIZES:
            raise InputError(f"`size` must be one of {', '.join(SIZES)}, got {size!r}")
        todo = self.parts(size)
        folder = None if output is None else Path(output) / f"{self.name}-{size}-{seed}"
        done: dict[str, Part] = {} if folder is None else _finished(folder)
        waiting = [part for part in todo if _key(part) not in done]
        more = {"data": data} if self.reads_data else {}
        if self.keeps_steps:
            more["scratch"] = None if folder is None else folder / "scratch"
        work = partial(self.work, **more)
        for count, (part, found) in enumerate(_computed(work, waiting, seed, n_jobs)):
            done[_key(part)] = found
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
                write_whole(folder / f"{_key(part)}.json", json.dumps(found))
            if progress is not None:
                progress(len(todo) - len(waiting) + count + 1, len(todo))
        parts = [part | done[_key(part)] for part in todo]
        return Outcome(self.name, size, seed, self.settings(size), parts, tuple(self.rows(parts)))

    def recorded(self) -> Outcome:
        """Read the recorded outcome."""
        path = RESULTS / f"{self.name}.json"
        if not path.exists():
            raise InputError(f"`{self.name}` must have been recorded first: run it with --record")
        return Outcome.from_json(path.read_text(encoding="utf-8"))

    def record(self, outcome: Outcome) -> Path:
        """Record an outcome where the pages and the tests find it."""
        path = RESULTS / f"{self.name}.json"
        write_whole(path, outcome.to_json())
        return path

    def rejudged(self) -> Outcome:
        """Read the recorded outcome and make its rows again from its parts."""
        kept = self.recorded()
        return Outcome(kept.study, kept.size, kept.seed, kept.settings, kept.parts, tuple(self.rows(kept.parts)))


def _key(part: Mapping[str, Any]) -> str:
    text = "-".join(str(value) for value in part.values())
    return f"{''.join(c if c.isalnum() or c in '.-' else '_' for c in text)[:80]}-{zlib.crc32(repr(part).encode()):08x}"


def _finished(folder: Path) -> dict[str, Part]:
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}


def _computed(
    work: Callable[..., Part], parts: list[Part], seed: int, n_jobs: int | None
) -> Iterable[tuple[Part, Part]]:
    if n_jobs == 1 or len(parts) < 2:
        for part in parts:
            yield part, plain(work(part, seed))
        return
    try:
        from joblib import Parallel, delayed, effective_n_jobs
    except ImportError:
        raise MissingExtraError('`n_jobs` other than 1 needs joblib: pip install "costcurves[sklearn]"') from None

    # Parts are computed in batches, so that finished ones are kept with any backend.
    waiting = iter(parts)
    size = 2 * effective_n_jobs(n_jobs or -1)
    while batch := list(islice(waiting, size)):
        found = Parallel(n_jobs=n_jobs)(delayed(work)(part, seed) for part in batch)
        yield from zip(batch, (plain(one) for one in found), strict=True)


def plain(value: Any) -> Any:
    """Convert arrays and NumPy numbers to lists and to numbers with seven digits, as in the files."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        number = float(f"{float(value):.7g}")
        return number if math.isfinite(number) else None
    return value


def rng_of(seed: int, *key: Any) -> np.random.Generator:
    """Make a separate generator for each key, independent of which parts run and in which order."""
    return np.random.default_rng([seed, *(zlib.crc32(str(item).encode()) for item in key)])


def mean_and_error(values: Iterable[float]) -> tuple[float, float]:
    """The mean and its standard error over independent parts."""
    array = np.asarray(list(values), dtype=np.float64)
    return float(array.mean()), float(array.std(ddof=1) / math.sqrt(array.size)) if array.size > 1 else math.nan


class Clock:
    """Prints the progress of a study, at most twice a second."""

    def __init__(self, name: str, stream: Any) -> None:
        self.name, self.stream = name, stream
        self.started = self.last = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        """Print the state."""
        now = time.monotonic()
        if done < total and now - self.last < 0.5:
            return
        self.last = now
        filled = 30 * done // total
        end = "\n" if done == total else ""
        self.stream.write(
            f"\r{self.name} [{'#' * filled}{'.' * (30 - filled)}] {done}/{total}, {now - self.started:.0f} s{end}"
        )
        self.stream.flush()
