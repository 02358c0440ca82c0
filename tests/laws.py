"""Laws: properties that must hold in every world, checked on many random ones.

A law says how many worlds it is tried on in an ordinary run, where the worlds are the same every time, so that a few of
them say as much as many. `make fuzz` tries all laws on fresh worlds, again and again until its time is up, and prints
how to repeat a failure.
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


def _neighbours(kind, start, size):
    """Return floats of which each is the next one after the one before."""
    values = [kind(start)]
    while len(values) < size:
        values.append(np.nextafter(values[-1], kind(np.inf)))
    return np.array(values, kind)


def _score_values(rng, size):
    """Return numbers that scores are drawn from: ordinary ones, and all kinds of near and far ones."""
    kind = int(rng.integers(0, 14))
    plain = rng.normal(size=size)
    if kind == 0:
        return rng.random(size)
    if kind == 1:
        return plain * 10.0 ** rng.uniform(-300, 300)
    if kind == 2:
        return _neighbours(np.float64, rng.normal(), size)
    if kind == 3:
        return _neighbours(np.float32, rng.normal(), size)
    if kind == 4:
        return _neighbours(np.float64, 1.0, size) - 1e-14
    if kind == 5:
        return 1.0 - 10.0 ** -rng.uniform(1, 17, size)
    if kind == 6:
        return rng.integers(-1000, 1000, size)
    if kind == 7:
        return (rng.integers(0, 2**50, size)).astype(np.float64)
    if kind == 8:
        return rng.random(size).astype(np.float32)
    if kind == 9:
        return (plain * 10.0 ** rng.uniform(-30, 30)).astype(np.float32)
    if kind == 10:
        return rng.integers(0, 2000, size) * 5e-324
    if kind == 11:
        return -np.abs(plain) * 10.0 ** rng.uniform(-12, 12)
    if kind == 12:
        return np.round(rng.random(size), int(rng.integers(0, 4)))
    return plain * 10.0 ** rng.uniform(-20, 20, size)


def scored_world(rng, most=40):
    """Return labels of both classes and scores of two classifiers."""
    size = int(rng.integers(3, most))
    labels = rng.random(size) < rng.uniform(0.2, 0.8)
    labels[:2] = False, True
    scores = {}
    for name in ("a", "b"):
        values = np.sort(_score_values(rng, size))
        order = np.argsort(rng.normal(size=size) + rng.uniform(0, 3) * labels)
        rank = np.empty(size, int)
        rank[order] = np.arange(size)
        scores[name] = values[rank // int(rng.integers(1, 3))]
    return labels, scores
