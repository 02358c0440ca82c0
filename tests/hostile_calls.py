"""Hostile calls of everything public, made from signatures: each must give an answer or a `CostCurvesError`.

Calls that work are taken from `house.recorded_calls`: their arguments, and the results that they return, whose methods
are called too. In each hostile call one to three arguments are replaced: by values that are wrong, extreme or odd, or
by values that are right for another parameter. ``python tests/hostile_calls.py --calls 100000`` makes many of them with a
fresh seed; ``--seed`` repeats a run, and ``--only`` keeps to some callables.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import copy
import inspect
import io
import json
import math
import os
import secrets
import signal
import sys
import tempfile
import time
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "docs" / "_ext")]

import numpy as np
import pandas as pd
import polars as pl
from reached import result_classes

import costcurves as cc
from house import recorded_calls

PACKAGE = str(Path(cc.__file__).parent)
# This opens a window. scikit-learn calls these. Functions and class methods make these classes, and check what they take.
LEFT_OUT = {
    *("Report.open", "RocHullClassifier.get_params", "RocHullClassifier.set_params"),
    *("AveragedRoc", "ConfusionMatrix", "Coverage", "JointConfusion", "Report", "RocCurve", "ScoreBins"),
}
# Methods that views and other layers call with what is already checked.
BETWEEN_LAYERS = {
    *("RocCurve.of_checked", "RocCurve.need_all_points", "Ranges.joined", "thresholds.swap_axis"),
    *(f"ScoreBins.{name}" for name in ("same", "accept", "crowding", "keys_of", "integer", "codes")),
    *(
        f"{band}.{name}"
        for band in ("Band", "DifferenceBand", "UnpairedBand")
        for name in ("with_error", "with_errors", "allowing")
    ),
}
SECONDS = 60  # of CPU time, after which a call hangs

# Calls whose results no recorded call returns, or only inside of other results.
MORE_CALLS: list[Callable[[], Any]] = [
    lambda: cc.Binormal(1, 3),
    lambda: cc.Binormal(1, 3).rates(0.3),
    lambda: recorded_calls.BAYES.calibration(5),
    lambda: recorded_calls.COST["a"].operating_range_limits(level=0.9, pc=[0.2, 0.5]),
    lambda: recorded_calls.COST["a"].threshold_sets((0.2, 0.6)),
    lambda: recorded_calls.HULL.gain(recorded_calls.POINT, over=(0.2, 0.6)),
    lambda: recorded_calls.HULL.ranges().stability([recorded_calls.HULL.ranges()]),
    lambda: cc.compare(recorded_calls.Y, recorded_calls.A, recorded_calls.B, pc=[0.3, 0.6]).crossings(),
    lambda: cc.recommend(recorded_calls.Y, recorded_calls.BOTH, recorded_calls.HERE).saving("a", 0.5),
    lambda: cc.bcost.over_costs([[90, 10], [4, 16]], [[[0, 1], [5, 0]], [[0, 1], [6, 0]]], weights=[1, 2]),
    lambda: recorded_calls.predictions().select(2, over=(0.2, 0.6), n_folds=3),
    lambda: recorded_calls.predictions().check(),
    lambda: cc.Predictions([0] * 40 + [1] * 40, {"leak": [0] * 40 + [1] * 40}).check().findings[0],
    lambda: recorded_calls.COST["a"].band(pc=[0.2, 0.5]).per_largest_cost(0.3),
    lambda: cc.compare(recorded_calls.Y, recorded_calls.A, recorded_calls.B, pc=[0.3, 0.6]).band.significant()[0],
    lambda: cc.compare.from_curves(recorded_calls.COST["a"], recorded_calls.COST["b"], pc=[0.3, 0.6]),
    lambda: cc.bcost.over_training(
        [0, 0, 0, 1, 1] * 20, [[0, 0, 1, 1, 1] * 20, [0, 1, 0, 1, 0] * 20], [[0, 1], [5, 0]]
    ),
    lambda: cc.prior_hull({"rules": recorded_calls.RULES}, recorded_calls.ERRORS).intervals()[0],
]


def hostile_values() -> dict[str, Any]:
    """Return values that are wrong nearly everywhere, by a name for messages."""
    nan, inf = math.nan, math.inf
    duplicate = pd.DataFrame([[0, 0.1, 0.2], [1, 0.9, 0.8]], columns=["y", "a", "a"])
    numbers = {
        "nan": nan, "inf": inf, "-inf": -inf, "1e308": 1e308, "-1e308": -1e308, "5e-324": 5e-324, "-0.0": -0.0,
        "0": 0, "1": 1, "-1": -1, "0.5": 0.5, "2": 2, "95": 95, "2**63": 2**63, "10**400": 10**400, "1e-320": 1e-320,
        "True": True, "1j": 1j, "Decimal": Decimal("0.3"), "Decimal nan": Decimal("NaN"), "Fraction": Fraction(1, 3),
        "float32": np.float32(0.3), "int64": np.int64(3), "bool_": np.bool_(True), "NaT": np.datetime64("NaT"),
    }  # fmt: skip
    others = {
        "None": None, "text": "text", "''": "", "nul": "a\0b", "surrogate": "\ud800", "long": "x" * 5000, "bytes": b"a",
        "object": object(), "type": int, "function": lambda *_: 1, "raises": lambda *_: 1 / 0, "module": math,
        "[]": [], "()": (), "{}": {}, "set": {1, 2}, "range": range(3), "ragged": [[0, 1], [2]], "nested": [[[[1]]]],
        "[None]": [None], "[nan]": [nan], "[inf, 0]": [inf, 0], "['a']": ["a"], "['0', '1']": ["0", "1"],
        "{1: 2}": {1: 2}, "{'a': None}": {"a": None}, "{'a': []}": {"a": []}, "{'': 0.5}": {"": 0.5},
        "(0.5, 0.2)": (0.5, 0.2), "(nan, 1)": (nan, 1), "(0, 1)": (0, 1), "(1, 0)": (1, 0), "{'x': nan}": {"x": nan},
    }  # fmt: skip
    arrays = {
        "empty": np.array([]), "empty 2-D": np.empty((0, 2)), "0-d": np.array(0.3), "objects": np.array([1, "a", None]),
        "nans": np.full(240, nan), "zeros": np.zeros(240), "ones": np.ones(240, int), "huge": np.full(240, 1e308),
        "tiny": np.full(240, 5e-324), "negative": -np.arange(240.0), "mixed": np.r_[np.zeros(120), np.full(120, inf)],
        "texts": np.array(["a", "b"] * 120), "dates": np.arange(240).astype("M8[s]"), "complex": np.ones(240) * 1j,
        "bools": np.arange(240) % 2 == 0, "uint8": (np.arange(240) % 3).astype(np.uint8), "2-D": np.ones((240, 2)),
        "float16": np.linspace(0, 1, 240).astype(np.float16), "-0.0s": np.full(240, -0.0), "short": np.ones(3),
        "big ints": np.full(240, 2**62), "longdouble": np.linspace(0, 1, 240).astype(np.longdouble),
        "masked": np.ma.masked_array(np.arange(240.0), mask=np.arange(240) == 3), "structured": np.zeros(3, "i4,f4"),
        "fortran": np.asfortranarray(np.ones((3, 3))), "negative costs": -np.ones((2, 2)), "nan costs": [[0, nan], [1, 0]],
    }  # fmt: skip
    frames = {
        "duplicate columns": duplicate, "no rows": pd.DataFrame({"y": [], "a": []}), "no columns": pl.DataFrame(),
        "series": pd.Series([0, None, 1], dtype="Int64"), "categories": pd.Series(["a", "b"] * 120, dtype="category"),
        "polars nulls": pl.Series([None, 1.0]), "number columns": pd.DataFrame(np.ones((240, 2))),
        "text frame": pl.DataFrame({"y": ["0", "1"], "a": ["x", "y"]}), "lazy": pl.LazyFrame({"y": [0, 1], "a": [0.1, 2]}),
    }  # fmt: skip
    return numbers | others | arrays | frames


HOSTILE = hostile_values()

THEIRS = {
    "sklearn": {
        "X",
        "y",
        "estimator",
        "estimators",
        "classifiers",
        "cv",
        "cv_results",
        "groups",
        "random_state",
        "n_jobs",
    },
    "joblib": {"n_jobs"},
    "matplotlib": {"ax", "curve_kwargs", "chance_kwargs", "path", "dpi", "legend", "names"},
}


@dataclass
class Target:
    """A public callable: a function, a class, or a method with the objects that it can be called on."""

    name: str
    function: Any  # called with the object first, if there are objects
    signature: inspect.Signature
    owners: list[Any] | None
    cls: type | None = None
    bases: list[dict[str, Any]] = field(default_factory=list)


def plain_code(function: Any) -> types.CodeType | None:
    """Return the code that runs when a callable is called."""
    if inspect.isclass(function):
        function = function.__init__
    elif not inspect.isroutine(function) and callable(function):
        function = type(function).__call__
    function = inspect.unwrap(getattr(function, "__func__", function))
    return getattr(function, "__code__", None)


def own_methods(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods of a class, as the class has them, and `__call__`."""
    for name, value in inspect.getmembers_static(cls):
        own = any(name in vars(base) for base in cls.__mro__ if base.__module__.startswith("costcurves"))
        if own and (not name.startswith("_") or name == "__call__"):
            yield name, value


def public_targets() -> dict[str, Target]:
    """Return everything public that can be called, without objects to call methods on."""
    targets: dict[str, Target] = {}

    def add(name: str, function: Any, cls: type | None = None) -> None:
        with contextlib.suppress(TypeError, ValueError):
            signature = inspect.signature(function)
            targets[name] = Target(name, function, signature, None if cls is None else [], cls)

    named = {name: getattr(cc, name) for name in cc.__all__}
    for name, value in vars(cc.thresholds).items():
        if inspect.isfunction(value) and not name.startswith("_") and value.__module__ == cc.thresholds.__name__:
            named[f"thresholds.{name}"] = value
    for name, value in {**named, **result_classes()}.items():
        if inspect.isclass(value) and not issubclass(value, BaseException):
            if name in named:
                add(name, value)
            for method, found in own_methods(value):
                if isinstance(found, (classmethod, staticmethod)):
                    if name in named:
                        add(f"{name}.{method}", getattr(value, method))
                elif inspect.isfunction(found):
                    add(f"{name}.{method}", found, value)
        elif callable(value) and not inspect.isclass(value):
            add(name, value)
            if not inspect.isfunction(value):
                for method, found in own_methods(type(value)):
                    if method != "__call__" and inspect.isfunction(found):
                        add(f"{name}.{method}", getattr(value, method))
    return {name: target for name, target in targets.items() if name not in LEFT_OUT | BETWEEN_LAYERS}


class Harvest:
    """Watch calls that work, and keep their arguments and the results that they return."""

    def __init__(self, targets: dict[str, Target]) -> None:
        self.by_code: dict[types.CodeType, list[Target]] = {}
        self.objects: dict[type, list[Any]] = {}
        self.wanted = {
            target.cls for target in targets.values()
        }  # others, such as readers, should end when they are left
        self.pools: dict[str, list[Any]] = {}
        for target in targets.values():
            if (code := plain_code(target.function)) is not None:
                self.by_code.setdefault(code, []).append(target)

    def watch(self, frame: types.FrameType, event: str, value: Any) -> None:
        """Note a call from outside of the package, or a result."""
        if event == "return":
            self._keep(value)
        elif event == "call" and frame.f_code in self.by_code:
            caller = frame.f_back
            if caller is not None and not caller.f_code.co_filename.startswith(PACKAGE):
                self._note(frame)

    def _keep(self, value: Any) -> None:
        kind = type(value)
        if kind in self.wanted and len(kept := self.objects.setdefault(kind, [])) < 4:
            with contextlib.suppress(AttributeError):  # an object that is only being made
                repr(value)
                kept.append(value)

    def _note(self, frame: types.FrameType) -> None:
        for target in self.by_code[frame.f_code]:
            given = {name: frame.f_locals[name] for name in target.signature.parameters if name in frame.f_locals}
            if len(target.bases) < 12:
                target.bases.append(given)
            for name, value in given.items():
                if name != "self" and len(pool := self.pools.setdefault(name, [])) < 40:
                    pool.append(value)

    def run(self) -> None:
        """Watch all recorded calls but those of the command line."""
        calls = [call for name, call in recorded_calls.CALLS.items() if not name.startswith("command")]
        for call in [*calls, *MORE_CALLS]:
            sys.setprofile(self.watch)
            try:
                self._keep(call())
            finally:
                sys.setprofile(None)


@dataclass
class Failure:
    """A call that failed otherwise than it may."""

    target: str
    given: dict[str, str]
    what: str
    trace: str

    def __str__(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in self.given.items())
        return f"{self.target}({values}): {self.what}\n{self.trace}"


class Hang(BaseException):
    """A call took too long."""


class Campaign:
    """Hostile calls of all public callables, the same ones for the same seed."""

    def __init__(self, only: str = "") -> None:
        targets = public_targets()
        with quiet():
            harvest = Harvest(targets)
            harvest.run()
        self.pools = harvest.pools
        self.everything = [value for pool in self.pools.values() for value in pool]
        for target in targets.values():
            if target.cls is not None:
                target.owners = harvest.objects.get(target.cls, [])
        self.unreached = sorted(t.name for t in targets.values() if t.owners == [])
        self.targets = [t for t in targets.values() if t.owners != [] and only in t.name]
        self.outcomes: collections.Counter[str] = collections.Counter()

    def calls(self, seed: int, count: int, end: float = math.inf) -> Iterator[Failure]:
        """Make so many calls, and yield those that fail otherwise than they may."""
        rng = np.random.default_rng(seed)
        made = 0
        while made < count and time.monotonic() < end:
            # Nothing but the seed may decide what is called: a run on a slower machine makes the same calls.
            target = self.targets[rng.integers(len(self.targets))]
            made += 1
            found = self.call(target, rng)
            if found is not None:
                yield found

    def arguments(self, target: Target, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, str]]:
        """Return arguments for a call, and the names of those that were replaced with their values."""
        parameters = [p for p in target.signature.parameters.values() if p.name != "self"]
        given: dict[str, Any] = {}
        if target.bases and rng.random() < 0.8:
            given = dict(target.bases[rng.integers(len(target.bases))])
        for parameter in parameters:
            needed = parameter.default is parameter.empty and parameter.kind not in (
                parameter.VAR_KEYWORD,
                parameter.VAR_POSITIONAL,
            )
            pool = self.pools.get(parameter.name)
            if parameter.name not in given and pool and (needed or rng.random() < 0.1):
                given[parameter.name] = pool[rng.integers(len(pool))]
            elif parameter.name not in given and needed:
                given[parameter.name] = None
        replaced: dict[str, str] = {}
        changeable = [
            p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
        ]  # the others only as given
        for name in rng.permutation(changeable)[: rng.integers(1, 4)] if changeable else []:
            given[str(name)], replaced[str(name)] = self.value(str(name), rng)
        return given, replaced

    def value(self, name: str, rng: np.random.Generator) -> tuple[Any, str]:
        """Return a value to try for a parameter, and what it is."""
        kind = rng.random()
        if kind < 0.75 or not self.everything:
            key = list(HOSTILE)[rng.integers(len(HOSTILE))]
            if rng.random() < 0.05:
                return iter([HOSTILE[key]]), f"iterator of {key}"
            return HOSTILE[key], key
        pool = self.pools.get(name) if kind < 0.85 else None
        pool = pool or self.everything
        value = pool[rng.integers(len(pool))]
        return value, f"<{type(value).__name__} {short(value)}>"

    def call(self, target: Target, rng: np.random.Generator) -> Failure | None:
        """Make one call, and return it if it fails otherwise than it may."""
        given, replaced = self.arguments(target, rng)
        args: list[Any] = []
        keywords: dict[str, Any] = {}
        owner = None
        if target.owners is not None:
            owner = target.owners[rng.integers(len(target.owners))]
            if type(owner).__name__.endswith("Tally"):
                owner = copy.deepcopy(owner)
            args.append(owner)
        for name, parameter in target.signature.parameters.items():
            if name == "self" or name not in given:
                continue
            if parameter.kind is parameter.VAR_KEYWORD:
                keywords |= given[name]
            elif parameter.kind is parameter.VAR_POSITIONAL:
                args += given[name]
            elif parameter.kind is parameter.POSITIONAL_ONLY:
                args.append(given[name])
            else:
                keywords[name] = given[name]
        if isinstance(path := keywords.get("path"), (str, os.PathLike)):
            keywords["path"] = os.path.basename(path)  # nothing is written but into the folder of the campaign
        try:
            with quiet(), limited():
                answer = target.function(*args, **keywords)
                self.outcomes["answered"] += 1
                check_answer(answer)
                close_figures()
        except cc.CostCurvesError:
            self.outcomes["refused"] += 1
        except (Exception, Hang) as error:
            if not allowed(error, target, replaced):
                self.outcomes["failed"] += 1
                shown = replaced | {n: f"<{short(v)}>" for n, v in given.items() if n not in replaced and n != "self"}
                lines = traceback.format_exception(error)
                return Failure(target.name, shown, f"{type(error).__name__}: {error}", "".join(lines[-8:]))
            self.outcomes["refused by others"] += 1
        return None


def short(value: Any) -> str:
    """Return the beginning of a value's representation on one line."""
    try:
        return " ".join(repr(value).split())[:60]
    except Exception as error:
        return f"no repr: {error}"


def check_answer(answer: Any) -> None:
    """Print and export a result: both must work for whatever was answered."""
    if not type(answer).__module__.startswith("costcurves"):
        return
    repr(answer)
    if hasattr(answer, "to_dict") and not inspect.isclass(answer):
        json.dumps(answer.to_dict(), allow_nan=False)
    lower, upper = getattr(answer, "lower", None), getattr(answer, "upper", None)
    if isinstance(lower, (float, np.ndarray)) and isinstance(upper, (float, np.ndarray)):
        assert not (np.asarray(lower) > np.asarray(upper) + 1e-12).any(), "a lower limit above the upper one"


def close_figures() -> None:
    """Close what a display opened, if any did."""
    if (plt := sys.modules.get("matplotlib.pyplot")) is not None:
        plt.close("all")


def allowed(error: BaseException, target: Target, replaced: dict[str, str]) -> bool:
    """Whether an error that is not ours may end a call: the system on paths, other packages on what is theirs."""
    parameters = set(target.signature.parameters)
    if isinstance(error, OSError):
        return bool({"path", "source"} & parameters)
    if isinstance(error, ZeroDivisionError) and "raises" in replaced.values():
        return True  # the error of the caller's own function
    if type(error).__name__ == "NotFittedError":
        return "estimator" in parameters or "X" in parameters
    if isinstance(error, TypeError) and "unexpected keyword argument" in str(error):
        return bool({"options", "params"} & parameters)
    if isinstance(error, UserWarning) and str(error).startswith("Glyph "):
        return True  # matplotlib says that a font has no such character
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    own = max((i for i, file in enumerate(files) if file.startswith(PACKAGE)), default=-1)
    # Data and models that scikit-learn refuses, and settings of lines and axes that matplotlib refuses.
    return any(
        f"{os.sep}{package}{os.sep}" in file and names & parameters
        for package, names in THEIRS.items()
        for file in files[own + 1 :]
    )


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Hide what is printed and our own warnings; any other warning is an error."""
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", cc.CostCurvesWarning)
        warnings.simplefilter("ignore", pl.exceptions.PerformanceWarning)  # that a lazy frame was given
        yield


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Raise `Hang` in a call that takes too much CPU time."""

    def stop(*_: Any) -> None:
        raise Hang(f"took more than {SECONDS} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def main() -> int:
    """Make calls until their number or the time is up; print each kind of failure once."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--only", default="", help="callables whose name contains this")
    asked = parser.parse_args()
    import matplotlib as mpl

    mpl.use("agg")
    campaign = Campaign(asked.only)
    seed = secrets.randbelow(2**32) if asked.seed is None else asked.seed
    print(f"seed {seed}: {len(campaign.targets)} callables; no object for {campaign.unreached}", flush=True)
    kinds: collections.Counter[tuple[str, str]] = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for failure in campaign.calls(seed, asked.calls, time.monotonic() + 60 * asked.minutes):
            kind = failure.target, failure.what[:60]
            kinds[kind] += 1
            if kinds[kind] == 1:
                print(failure, flush=True)
        os.chdir("/")
    print(dict(campaign.outcomes))
    return int(bool(kinds))


if __name__ == "__main__":
    sys.exit(main())
