"""The base of all tallies, which are updated by batches, merged with others of their kind, and sent as bytes."""

from __future__ import annotations

import functools
import io
import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, FormatError, InputError, UnsupportedError
from costcurves._base.validation import BoolArray, FloatArray, is_empty, shown
from costcurves.counting import counts
from costcurves.counting.labels import FAMILIES, LabelRule

Array = npt.NDArray[Any]
State = tuple[dict[str, Any], dict[str, Array]]

VERSION = 1
# NumPy parses the headers of arrays with Python's parser, which fails in some versions if threads switch inside it.
READING = threading.Lock()

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T", bound="Tally")


def locked(method: Callable[Concatenate[T, P], R]) -> Callable[Concatenate[T, P], R]:
    """Allow only one thread at a time in the methods of a tally that have this decorator."""

    @functools.wraps(method)
    def call(self: T, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._lock:
            return method(self, *args, **kwargs)

    return call


class Tally(ABC):
    """Base of the tallies.

    `update` and `merge` change the tally and return it. A call that raises an error leaves the tally as it was. Several
    threads may use the same tally, but they take turns, so that one tally per thread, merged at the end, is faster.
    """

    _lock: threading.RLock

    def __new__(cls, *args: Any, **options: Any) -> Self:
        """Return a tally with its own lock."""
        tally = super().__new__(cls)
        tally._lock = threading.RLock()
        return tally

    def merge(self, other: Self) -> Self:
        """Add what another tally of the same kind has counted, and return this one."""
        if type(other) is not type(self):
            raise InputError(
                f"`other` must be a {type(self).__name__} to be merged, got {shown(other)} ({type(other).__name__})"
            )
        if other is self:
            raise InputError("`other` must be another tally to be merged, got the tally itself: it would count twice")
        first, second = sorted((self, other), key=id)  # the same order in every thread, so that there is no deadlock
        with first._lock, second._lock:
            self._merge(other)
        return self

    @abstractmethod
    def _merge(self, other: Self) -> None:
        """Add what another tally of the same class has counted; both are locked."""

    @abstractmethod
    def _state(self) -> State:
        """Return the state of the tally, as plain values for JSON and as arrays."""

    @classmethod
    @abstractmethod
    def _restored(cls, plain: dict[str, Any], arrays: dict[str, Array]) -> Self:
        """Restore a tally from a state."""

    @locked
    def to_bytes(self) -> bytes:
        """Return the tally in a compact form for `from_bytes`: NumPy arrays and JSON, and nothing executable."""
        plain, arrays = self._state()
        try:
            text = json.dumps({"tally": type(self).__name__, "version": VERSION, **plain}, allow_nan=False)
            if any(
                isinstance(label, (tuple, list)) for label in (*plain.get("found", ()), *(plain.get("labels") or ()))
            ):
                raise TypeError("JSON has no tuples")
        except (TypeError, ValueError):
            raise UnsupportedError("labels must be strings, numbers or booleans to send a tally as bytes") from None
        buffer = io.BytesIO()
        np.savez(buffer, __plain=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)  # type: ignore[arg-type]
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Restore a tally from the output of `to_bytes`."""
        try:
            with READING, np.load(io.BytesIO(data), allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            plain = json.loads(arrays.pop("__plain").tobytes())
            kind, version = plain.pop("tally"), plain.pop("version")
        except Exception:
            raise FormatError(f"`data` must be what to_bytes of a tally returns, got {shown(data)}") from None
        if kind != cls.__name__ or version != VERSION:
            got = f"{str(kind)[:40]} of version {str(version)[:40]}"
            raise FormatError(f"`data` must be a {cls.__name__} of version {VERSION}, got {got}")
        try:
            return cls._restored(plain, {name: _plain_numbers(array) for name, array in arrays.items()})
        except Exception as error:  # of any kind: parts of the state may be missing or wrong
            raise FormatError(
                f"`data` must be what to_bytes of a {cls.__name__} returns, got other parts ({str(error)[:80]})"
            ) from None

    def __reduce__(self) -> tuple[Callable[[bytes], Tally], tuple[bytes]]:
        """Pickle the tally as bytes, without its buffers."""
        return type(self).from_bytes, (self.to_bytes(),)


def _plain_numbers(array: Array) -> Array:
    """Return an array of a state, which must hold numbers, in the byte order of this machine."""
    if array.dtype.kind not in "iuf" or array.ndim > 2 or np.isnan(array).any():
        raise DataError(f"arrays must hold numbers, got shape {array.shape} of {array.dtype}")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def part(arrays: dict[str, Array], name: str, kinds: str, size: int | None = None, most: int | None = None) -> Array:
    """Return a list of a state, of certain types and without negative values; if `most` is given, all below it."""
    array = arrays[name]
    if array.ndim != 1 or array.dtype.kind not in kinds or size not in (None, array.size):
        raise DataError(f"{name} must be {size} values, got shape {array.shape} of {array.dtype}")
    if array.size and (array.min() < 0 or array.max() >= (np.inf if most is None else most)):
        raise DataError(f"{name} must be from 0 to {most}, got {array.min(initial=0)} to {array.max(initial=0)}")
    return array


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """One batch, checked, and the checks of the batches that follow it."""

    batches: Batches
    positive: BoolArray
    scores: list[Array]
    weights: FloatArray | None


class Batches:
    """The checks of the batches of a tally: all labels follow the same rule, and all batches have weights or none.

    It is immutable: after a tally has counted a batch, it replaces its checks by those that the batch leads to.
    """

    def __init__(self, pos_label: Any = None, *, rule: LabelRule | None = None, weighted: bool | None = None) -> None:
        self.rule = LabelRule(pos_label) if rule is None else rule
        self.weighted = weighted

    def read(self, y_true: Any, scores: dict[str, Any], sample_weight: Any = None) -> Read | None:
        """Return positives, scores and weights of a batch, checked; None if it is empty."""
        if all(map(is_empty, (y_true, *scores.values()))):
            return None
        rule = self._rule()
        positive = rule.positives(y_true)
        read = []
        for name, values in scores.items():
            checked = counts.checked_scores(values, name)
            counts.same_length(name, checked, "y_true", positive.size)
            read.append(checked)
        weights = None if sample_weight is None else counts.checked_weights(sample_weight, positive.size)
        return Read(self._next(rule, weights is not None), positive, read, weights)

    def joined(self, other: Batches) -> Batches:
        """Return the checks of this tally's batches and of another's."""
        rule = self._rule()
        rule.join(other.rule)
        return self._next(rule, other.weighted)

    def _rule(self) -> LabelRule:
        """Return a copy of the rule, to which a batch may add."""
        return LabelRule(self.rule.pos_label, self.rule.family, self.rule.negative)

    def _next(self, rule: LabelRule, weighted: bool | None) -> Batches:
        if weighted is not None and self.weighted not in (None, weighted):
            raise DataError("`sample_weight` must be given for all batches or for none, got some of both")
        return Batches(rule=rule, weighted=self.weighted if weighted is None else weighted)

    def state(self) -> dict[str, Any]:
        """Return the plain values to send."""
        pos_label = self.rule.pos_label.item() if isinstance(self.rule.pos_label, np.generic) else self.rule.pos_label
        return {
            "pos_label": pos_label,
            "family": self.rule.family,
            "negative": list(self.rule.negative),
            "weighted": self.weighted,
        }

    @classmethod
    def restored(cls, plain: dict[str, Any]) -> Batches:
        """Restore the checks from a state."""
        negative = tuple(plain["negative"])
        if plain["family"] not in FAMILIES or plain["weighted"] not in (None, True, False) or len(negative) > 1:
            raise DataError(f"labels must be those that a tally writes, got {shown(plain)}")
        rule = LabelRule(plain["pos_label"], plain["family"], negative)
        return cls(rule=rule, weighted=plain["weighted"])


def no_examples() -> DataError:
    """Return the error for a tally that has counted nothing."""
    return DataError("`y_true` must hold both classes, got 0 positive and 0 negative examples")
