"""Curves whose points are counted when they are asked for are those of curves that are counted at once."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import costcurves as cc
from costcurves.counting import hull_vertices
from costcurves.counting.labels import checked_cases
from laws import FUZZ_SEED, random_worlds, scored_world

ARRAYS = ("fp", "tp", "thresholds", "below", "fpr", "tpr", "fnr")
CONDITIONS = (0.001, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999)


def bits(curve):
    """Return everything that a curve holds, so that equal values have equal bits."""
    arrays = [getattr(curve, name) for name in ARRAYS]
    return curve.to_dict(), [(a.dtype, a.tobytes(), a.flags.writeable) for a in arrays], repr(curve)


def both(y, scores, name="classifier"):
    """Return a curve as users get it, and one with all points counted at once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.WorseThanChanceWarning)
        late = cc.RocCurve.from_predictions(y, scores, name=name)
        return late, cc.RocCurve.of_checked(*checked_cases(y, scores, None, None), name=name, points="all")


@pytest.fixture
def always(monkeypatch):
    """Let buckets be used for few examples too."""
    monkeypatch.setattr(hull_vertices, "SMALLEST", 2)
    monkeypatch.setattr(hull_vertices, "MOST_SHARED", 1.0)


def is_late(curve):
    return isinstance(curve._counts, hull_vertices.LateCounts)


def is_open(curve):
    """Return whether a curve still knows only its candidates."""
    return is_late(curve) and curve._known is curve._counts.candidates


@pytest.mark.law
@pytest.mark.usefixtures("way", "always")
def test_late_curves_answer_as_those_that_were_counted_at_once():
    seen = 0
    for rng in random_worlds(100, stream=411):
        labels, scores = scored_world(rng, most=300)
        late, early = zip(*(both(labels, values, name) for name, values in scores.items()), strict=True)
        seen += all(map(is_open, late))
        hull, known = cc.RocHull(late), cc.RocHull(early)
        assert hull.to_dict() == known.to_dict()
        assert hull.to_json() == known.to_json()
        assert repr(hull.ranges()) == repr(known.ranges())
        assert [repr(hull.best(pc)) for pc in CONDITIONS] == [repr(known.best(pc)) for pc in CONDITIONS]
        assert [hull.best(pc).to_dict() for pc in CONDITIONS] == [known.best(pc).to_dict() for pc in CONDITIONS]
        for mine, other in zip(late, early, strict=True):
            curve, expected = cc.CostCurve(mine), cc.CostCurve(other)
            assert curve.to_dict() == expected.to_dict()
            assert_array_equal(curve.cuts_at(CONDITIONS), expected.cuts_at(CONDITIONS))
            for found, right in zip(curve.errors_at(CONDITIONS), expected.errors_at(CONDITIONS), strict=True):
                assert (found.dtype, found.tobytes()) == (right.dtype, right.tobytes())
            below = [curve.score_below(cut) for cut in curve.thresholds.tolist()]
            assert below == [expected.score_below(cut) for cut in curve.thresholds.tolist()]
            assert mine.on_hull().to_dict() == other.on_hull().to_dict()
            assert mine.has_thresholds == other.has_thresholds
            assert is_open(mine) or not is_late(mine)  # nothing so far needed all points
            assert bits(mine) == bits(other)
            assert mine.on_hull().to_dict() == other.on_hull().to_dict()  # the same once they are counted
            assert cc.CostCurve(mine).to_dict() == expected.to_dict()
    assert FUZZ_SEED is not None or seen > 30


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_points_are_those_of_curves_that_were_counted_at_once(dtype):
    rng = np.random.default_rng(3)
    y = rng.random(100_000) < 0.3
    late, early = both(y, np.round(rng.normal(size=y.size) + y, 4).astype(dtype))
    assert is_open(late)
    assert bits(late.candidates()) == bits(early.candidates())
    assert is_open(late)
    assert bits(late) == bits(early)


def large(rows=30_000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < 0.3
    return y, rng.normal(size=rows) + y


@pytest.mark.parametrize("labels", [np.bool_, np.int64])
def test_what_a_caller_changes_later_changes_no_answer(labels):
    y, scores = large()
    y, read_only = y.astype(labels), scores.copy()
    read_only.flags.writeable = False
    view = scores[:]
    view.flags.writeable = False  # it changes with the array that it is a view of
    curves = [cc.RocCurve.from_predictions(y, some) for some in (scores, read_only, view)]
    _, expected = both(y, scores.copy())
    assert curves[1]._counts._cases[1] is read_only  # which nobody can write to
    y[:], scores[:] = 1, 0.5
    for curve in curves:
        assert is_open(curve)
        assert bits(curve) == bits(expected)


def test_threads_that_ask_at_the_same_time_get_the_same_points(monkeypatch):
    y, scores = large()
    late, early = both(y, scores)
    calls, start = [], threading.Barrier(8)
    count = hull_vertices.LateCounts._counted

    def noted(counts):
        calls.append(threading.get_ident())
        return count(counts)

    monkeypatch.setattr(hull_vertices.LateCounts, "_counted", noted)
    found = []

    def ask():
        start.wait()
        found.append(late._every)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert {id(points) for points in found} == {id(late._every)}
    assert late._counts._cases is None  # labels and scores are not kept any longer
    assert bits(late) == bits(early)


def pickled(value):
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
def test_copies_of_late_curves_are_equal(copied):
    y, scores = large()
    late, early = both(y, scores)
    again = copied(late)
    assert bits(again) == bits(copied(early)) == bits(early)
    curve, expected = copied(cc.CostCurve(both(y, scores)[0])), cc.CostCurve(early)
    assert curve.to_dict() == expected.to_dict()
    assert_array_equal(curve.cuts_at(CONDITIONS), expected.cuts_at(CONDITIONS))
    hull, known = copied(cc.RocHull([both(y, scores)[0]])), cc.RocHull([early])
    assert (hull.to_dict(), hull.to_json()) == (known.to_dict(), known.to_json())
    assert bits(hull.roc_curve("classifier")) == bits(early)


def test_renamed_curves_share_what_is_counted():
    y, scores = large()
    late, _ = both(y, scores)
    other = late.renamed("other")
    assert is_open(other)
    assert other.fp.size == late.fp.size
    assert other._every is late._every


def test_scores_of_the_other_class_are_noticed_at_once():
    y, scores = large()
    with pytest.warns(cc.WorseThanChanceWarning, match="worse than chance: its AUC is 0.2"):
        cc.RocCurve.from_predictions(y, -scores)
    with pytest.warns(cc.WorseThanChanceWarning, match="'a' is worse than chance"):
        cc.RocHull.from_predictions(y, {"a": -scores})
