"""Laws: properties that must hold in every world, checked on many random ones.

A law says how many worlds it is tried on in an ordinary run, where the worlds are the same every time. `make fuzz`
tries all laws on fresh worlds, again and again until its time is up, and prints how to repeat a failure.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

# Set by tests/fuzz.py: the seed of this round of fresh worlds.
FUZZ_SEED = os.environ.get("COSTCURVES_FUZZ_SEED")


def law(draws: int = 1000) -> Callable[[Any], Any]:
    """Mark a Hypothesis test as a law that is tried on so many draws: ``@law(2000)`` above ``@given(...)``."""

    def decorate(test: Any) -> Any:
        return pytest.mark.law(settings(max_examples=draws)(test))

    return decorate


def random_worlds(count: int, stream: int = 0) -> Iterator[np.random.Generator]:
    """Yield generators of so many worlds: the same ones in every run, fresh ones in `make fuzz`.

    A test that uses it is marked ``@pytest.mark.law``. Different tests use different streams.
    """
    base = 0 if FUZZ_SEED is None else int(FUZZ_SEED)
    for i in range(count):
        yield np.random.default_rng([base, stream, i])
