"""Answers stay the same: a recorded set of calls over the whole public API gives what it gave when it was recorded."""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import costcurves as cc
import displays_data
from house import recorded_calls

RECORDED = json.loads(recorded_calls.ANSWERS.read_text(encoding="utf-8"))
CLOSE = 1e-9


def differences(found: Any, expected: Any, where: str = "") -> Iterator[str]:
    """Yield where two recorded forms differ: numbers by more than 1e-9 of their size, anything else at all."""
    if recorded_calls.number(found) and recorded_calls.number(expected):
        if not math.isclose(found, expected, rel_tol=CLOSE, abs_tol=1e-12):
            yield f"{where}: {found}, recorded {expected}"
    elif isinstance(found, dict) and isinstance(expected, dict):
        for name in sorted(found.keys() ^ expected.keys()):
            yield f"{where}.{name}: {'only found' if name in found else 'only recorded'}"
        for name in found.keys() & expected.keys() - {"sums"}:
            yield from differences(found[name], expected[name], f"{where}.{name}")
        if "sums" in found and "sums" in expected:
            # Positive and negative terms may cancel, so the rounding of a sum is judged by the sum of sizes.
            room = CLOSE * max(expected["sums"][0], 1e-3)
            if any(abs(a - b) > room for a, b in zip(found["sums"], expected["sums"], strict=True)):
                yield f"{where}: sums {found['sums']}, recorded {expected['sums']}"
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for i, (one, other) in enumerate(zip(found, expected, strict=True)):
            yield from differences(one, other, f"{where}[{i}]")
    elif found != expected or type(found) is not type(expected):
        yield f"{where}: {str(found)[:200]}, recorded {str(expected)[:200]}"


@pytest.mark.parametrize("name", recorded_calls.CALLS)
def test_answers_are_those_recorded(name):
    assert list(differences(json.loads(json.dumps(recorded_calls.answer(name))), RECORDED[name])) == []


def test_the_set_is_recorded_whole():
    assert list(RECORDED) == list(recorded_calls.CALLS)
    assert len(RECORDED) >= 200


def test_every_public_function_and_every_constructor_is_called():
    files = (recorded_calls.__file__, displays_data.__file__)
    called = set(re.findall(r"cc\.(\w+)", "".join(Path(path).read_text(encoding="utf-8") for path in files)))
    wanted = {name for name in cc.__all__ if not name.startswith("_") and not is_error(getattr(cc, name))}
    assert wanted - called - set(recorded_classes(RECORDED)) == set()


def is_error(value: Any) -> bool:
    """Return whether a public name is an error or a warning."""
    return inspect.isclass(value) and issubclass(value, Exception)


def recorded_classes(value: Any) -> Iterator[str]:
    """Yield the classes of all results among the recorded answers."""
    if isinstance(value, dict):
        for name, part in value.items():
            if name in ("", "each "):
                yield from [part] if isinstance(part, str) else part if isinstance(part, list) else part["first"]
            yield from recorded_classes(part)
    elif isinstance(value, list):
        for part in value:
            yield from recorded_classes(part)


def test_a_changed_number_is_found():
    values = [0.1 * i for i in range(100)]
    changed = [*values[:60], values[60] + 1e-6, *values[61:]]
    swapped = [*values[:60], values[61], values[60], *values[62:]]
    recorded = recorded_calls.compact(values)
    assert list(differences(recorded_calls.compact([v * (1 + 1e-13) for v in values]), recorded)) == []
    for other in (changed, swapped, values[:-1], [*values[:60], None, *values[61:]]):
        assert list(differences(recorded_calls.compact(other), recorded))
    assert list(differences({"a": 1.0, "b": "x"}, {"a": 1.0, "b": "y"})) == [".b: x, recorded y"]
    assert list(differences({"a": True}, {"a": 1}))
