"""What every tally has: it is updated by batches, merged with its like, and sent as bytes."""

from __future__ import annotations

import io
import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from costcurves import counts
from costcurves._validation import BoolArray, FloatArray, shown
from costcurves.errors import DataError, FormatError, InputError, UnsupportedError

Array = npt.NDArray[Any]
State = tuple[dict[str, Any], dict[str, Array]]

VERSION = 1


class Tally(ABC):
    """Base of the tallies. `update` and `merge` change the tally they are called on, and return it."""

    @abstractmethod
    def _state(self) -> State:
        """Return what the tally is, as plain values that JSON holds and as arrays."""

    @classmethod
    @abstractmethod
    def _restored(cls, plain: dict[str, Any], arrays: dict[str, Array]) -> Self:
        """Return the tally of a state."""

    def to_bytes(self) -> bytes:
        """Return the tally in a compact form that `from_bytes` reads: NumPy arrays and JSON, nothing executable."""
        plain, arrays = self._state()
        try:
            text = json.dumps({"tally": type(self).__name__, "version": VERSION, **plain}, allow_nan=False)
            if any(
                isinstance(label, (tuple, list)) for label in (*plain.get("found", ()), *(plain.get("labels") or ()))
            ):
                raise TypeError("JSON has no tuples")
        except (TypeError, ValueError):
            raise UnsupportedError("labels must be texts, numbers or truth values to send a tally as bytes") from None
        buffer = io.BytesIO()
        np.savez(buffer, __plain=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)  # type: ignore[arg-type]
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the tally that `to_bytes` wrote."""
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
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
        except Exception as error:  # whatever a part of the state that is missing or wrong leads to
            raise FormatError(
                f"`data` must be what to_bytes of a {cls.__name__} returns, got other parts ({str(error)[:80]})"
            ) from None

    def __reduce__(self) -> tuple[Callable[[bytes], Tally], tuple[bytes]]:
        """Pickle as bytes: without buffers, and only what is counted."""
        return type(self).from_bytes, (self.to_bytes(),)

    def _same_kind(self, other: Any) -> None:
        if type(other) is not type(self):
            raise InputError(
                f"`other` must be a {type(self).__name__} to be merged, got {shown(other)} ({type(other).__name__})"
            )


def _plain_numbers(array: Array) -> Array:
    """Return an array of a state, of numbers in this machine's order of bytes."""
    if array.dtype.kind not in "iuf" or array.ndim > 2 or np.isnan(array).any():
        raise DataError(f"arrays must hold numbers, got shape {array.shape} of {array.dtype}")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def part(arrays: dict[str, Array], name: str, kinds: str, size: int | None = None, most: int | None = None) -> Array:
    """Return one list of a state, of certain types and of no negative values; with `most`, all below that."""
    array = arrays[name]
    if array.ndim != 1 or array.dtype.kind not in kinds or size not in (None, array.size):
        raise DataError(f"{name} must be {size} values, got shape {array.shape} of {array.dtype}")
    if array.size and (array.min() < 0 or array.max() >= (np.inf if most is None else most)):
        raise DataError(f"{name} must be from 0 to {most}, got {array.min(initial=0)} to {array.max(initial=0)}")
    return array


class Batches:
    """The checks of one tally's batches: labels by one rule, weights in all batches or in none."""

    def __init__(self, pos_label: Any = None) -> None:
        self.rule = counts.LabelRule(pos_label)
        self.weighted: bool | None = None

    def read(
        self, y_true: Any, scores: dict[str, Any], sample_weight: Any = None
    ) -> tuple[BoolArray, list[Array], FloatArray | None] | None:
        """Return positives, scores and weights of one batch, checked; None where it is empty."""
        sizes = {len(values) for values in (y_true, *scores.values()) if hasattr(values, "__len__")}
        if sizes == {0}:
            return None
        positive = self.rule.positives(y_true)
        read = []
        for name, values in scores.items():
            checked = counts.checked_scores(values, name)
            counts.same_length(name, checked, "y_true", positive.size)
            read.append(checked)
        weights = None if sample_weight is None else counts.checked_weights(sample_weight, positive.size)
        self._weighted(weights is not None)
        return positive, read, weights

    def join(self, other: Batches) -> None:
        """Take over what the batches of another tally were."""
        self.rule.join(other.rule)
        if other.weighted is not None:
            self._weighted(other.weighted)

    def _weighted(self, weighted: bool) -> None:
        if self.weighted not in (None, weighted):
            raise DataError("`sample_weight` must be given for all batches or for none, got some of both")
        self.weighted = weighted

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
        """Return the checks of a state."""
        batches = cls()
        negative = tuple(plain["negative"])
        if plain["family"] not in counts.FAMILIES or plain["weighted"] not in (None, True, False) or len(negative) > 1:
            raise DataError(f"labels must be as a tally knows them, got {shown(plain)}")
        batches.rule = counts.LabelRule(plain["pos_label"], plain["family"], negative)
        batches.weighted = plain["weighted"]
        return batches
