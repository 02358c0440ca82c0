"""Points from buckets are those of the full curve, with the same thresholds and next lower scores."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costcurves.counting import hull_vertices
from costcurves.counting.counts import count_scores
from costcurves.counting.hull_vertices import candidate_counts

pytestmark = pytest.mark.usefixtures("way")


def rows(counts):
    columns = (counts.thresholds, counts.fp, counts.tp, counts.below)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def assert_found(positive, scores):
    """Check the candidates and the hull from buckets, if these are used, against all points."""
    found, every = candidate_counts(positive, scores), count_scores(positive, np.array(scores))
    if found is not None:
        assert rows(found) == rows(every.candidates())
        assert rows(found.on_hull()) == rows(every.on_hull())
    return found is not None


def scores_of(shape, size, rng, positive):
    informative = rng.normal(size=size) + positive
    return {
        "normal": informative,
        "probabilities": 1 / (1 + np.exp(-informative)),
        "float32": informative.astype(np.float32),
        "heavy ties": np.round(informative * 4) / 4,
        "skewed": np.exp(6 * informative),
        "very skewed": np.exp(40 * informative),
        "near one": 1 - np.exp(-20 * np.abs(informative)),
        "negative and skewed": -np.exp(9 * informative),
        "two valued": np.where(informative > 0, 0.25, 0.75),
        "constant": np.full(size, 3.5),
        "one outlier": np.append(informative[1:], 1e300),
        "huge": informative * 1e307,
        "denormal": np.floor(1000 + 100 * informative) * 5e-324,
        "float32 denormal": (np.floor(1000 + 100 * informative) * 1e-44).astype(np.float32),
        "zeros of both signs": np.where(rng.random(size) < 0.5, 0.0, -0.0) + np.maximum(informative, 0) * 0,
        "long integers": (informative * 1e12).astype(np.int64),
        "unsigned": (np.abs(informative) * 1e15).astype(np.uint64),
        "reversed": -informative,
        "perfect": informative + 100 * positive,
    }[shape]


SHAPES = [
    "normal",
    "probabilities",
    "float32",
    "heavy ties",
    "skewed",
    "very skewed",
    "near one",
    "negative and skewed",
    "two valued",
    "constant",
    "one outlier",
    "huge",
    "denormal",
    "float32 denormal",
    "zeros of both signs",
    "long integers",
    "unsigned",
    "reversed",
    "perfect",
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [50, 3_000, 25_003])
def test_buckets_give_the_full_hull_whatever_the_scores(monkeypatch, shape, size):
    monkeypatch.setattr(hull_vertices, "SMALLEST", 2)
    rng = np.random.default_rng(size)
    for share in (0.5, 0.03):
        positive = rng.random(size) < share
        positive[:2] = False, True
        scores = scores_of(shape, size, rng, positive)
        assert_found(positive, scores)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 40)), min_size=2, max_size=80), st.sampled_from([1, 7, 1e-3]))
def test_buckets_give_the_full_hull_of_few_tied_examples(pairs, width):
    positive = np.array([False, True, *(label for label, _ in pairs)])
    scores = np.array([0, 40, *(score for _, score in pairs)]) * width + 0.5
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hull_vertices, "SMALLEST", 2)
        patch.setattr(hull_vertices, "MOST_SHARED", 1.0)
        assert_found(positive, scores)


@pytest.mark.parametrize("shape", ["normal", "probabilities", "float32", "long integers", "skewed"])
def test_buckets_are_in_use_for_spread_scores(monkeypatch, way, shape):
    rng = np.random.default_rng(1)
    positive = rng.random(200_000) < 0.3
    scores = scores_of(shape, positive.size, rng, positive)
    sorted_sizes = []

    def noted(labels, values):
        sorted_sizes.append(values.size)
        return count_scores(labels, values)

    monkeypatch.setattr(hull_vertices, "count_scores", noted)
    assert candidate_counts(positive, scores) is not None
    if way == "compiled":
        assert not sorted_sizes
    else:
        assert 0 < sorted_sizes[0] < positive.size / 2


def test_bucket_codes_keep_the_order_of_scores():
    rng = np.random.default_rng(2)
    for shape in ("normal", "skewed", "float32", "near one", "long integers"):
        scores = scores_of(shape, 30_000, rng, rng.random(30_000) < 0.5)
        coding = hull_vertices._bucketing(scores, float(scores.min()), float(scores.max()))
        if coding is not None:
            codes = coding.codes(scores)
            order = np.argsort(scores, kind="stable")
            assert (np.diff(codes[order]) >= 0).all()
            assert codes.min() >= 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_hull_of_many_probabilities_takes_at_most_one_and_a_half_times_their_memory(dtype):
    rng = np.random.default_rng(3)
    positive = rng.random(1_000_000) < 0.3
    scores = scores_of("probabilities", positive.size, rng, positive).astype(dtype)
    tracemalloc.start()
    assert candidate_counts(positive, scores) is not None
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * (positive.nbytes + scores.nbytes)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_at_odd_addresses_are_copied(dtype):
    rng = np.random.default_rng(4)
    room = np.zeros(40_000 * np.dtype(dtype).itemsize + 1, np.uint8)
    scores = room[1:].view(dtype)
    scores[:] = rng.random(40_000)
    assert not scores.flags.aligned
    positive = rng.random(40_000) < 0.3
    assert assert_found(positive, scores)
