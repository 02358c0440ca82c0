"""A batch or a tally that is refused leaves no trace: what was counted before stays, and all of it counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import costcurves as cc
from costcurves.data.tallies import distinct as scoring
from laws import law, random_worlds

CURVES = [cc.CostCurve(cc.RocCurve.from_predictions([0, 1, 0, 1], [1, 2, 3, 4], name=name)) for name in "ab"]

# How a tally of each kind is made, and how many columns of scores it takes.
KINDS = {
    "scores": (lambda: cc.ScoreTally(limit=12), 1),
    "bins": (lambda: cc.ScoreTally(resolution=2**14), 1),
    "hull": (lambda: cc.HullTally(resolution=2**14), 1),
    "hull of few": (lambda: cc.HullTally(resolution=2**14, hold=5), 1),
    "pair": (lambda: cc.PairedTally(*CURVES, pc=[0.3, 0.6]), 2),
}
# What can be wrong with a batch of labels, scores and weights.
FAULTS = {
    "nothing": lambda y, s, w: (y, s, w),
    "a score that is NaN": lambda y, s, w: (y, [*s[:-1], np.nan], w),
    "a score too few": lambda y, s, w: (y, s[:-1], w),
    "a third class": lambda y, s, w: ([*y[:-1], 2], s, w),
    "labels that are texts": lambda y, s, w: (["no"] * len(y), s, w),
    "the other numbers": lambda y, s, w: ([-1] * len(y), s, w),
    "labels that are truth values": lambda y, s, w: ([v == 1 for v in y], s, w),
    "a negative weight": lambda y, s, w: (y, s, [-1.0] * len(y)),
    "weights as well": lambda y, s, w: (y, s, [1.0] * len(y)),
    "many scores": lambda y, s, w: (y * 4, [100.0 + i for i in range(4 * len(s))], None if w is None else w * 4),
}


@st.composite
def batches(draw):
    """Draw labels, scores and a fault."""
    size = draw(st.integers(1, 5))
    y = draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))
    scores = draw(st.lists(st.integers(0, 9).map(lambda i: i / 8), min_size=size, max_size=size))
    return draw(st.sampled_from(list(FAULTS))), y, scores


def add(tally, columns, y, scores, weights):
    options = () if weights is None else (weights,)
    if isinstance(tally, cc.HullTally) and weights is not None:
        raise cc.DataError("no weights here")
    tally.update(y, *([scores] * columns), *options)


@law(300)
@given(
    kind=st.sampled_from(list(KINDS)),
    weighted=st.booleans(),
    drawn=st.lists(batches(), max_size=7),
    pending=st.sampled_from([1, 6, 1000]),
    joined=st.booleans(),
)
def test_what_is_refused_leaves_no_trace(kind, weighted, drawn, pending, joined):
    """The same tally is made of the accepted batches alone; every other one left the bytes as they were."""
    make, columns = KINDS[kind]
    weighted = weighted and not kind.startswith("hull")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring, "PENDING", pending)
        tally, accepted = make(), []
        for fault, y, scores in drawn:
            batch = FAULTS[fault](y, scores, [2.0] * len(y) if weighted else None)
            before = state(tally)
            try:
                if joined:
                    other = make()
                    add(other, columns, *batch)
                    tally.merge(other)
                else:
                    add(tally, columns, *batch)
            except cc.CostCurvesError:
                assert state(tally) == before
            else:
                accepted.append(batch)
        alone = make()
        for batch in accepted:
            add(alone, columns, *batch)
        assert state(tally) == state(alone)


def state(tally):
    """Return all that a tally has counted; of one with more scores than it may hold, that it says so."""
    try:
        return tally.to_bytes()
    except cc.UnsupportedError as error:
        return str(error)


@pytest.mark.law
def test_a_curve_has_all_examples_that_were_accepted_or_there_is_none():
    """A tally that meets its limit somewhere in the middle never gives a curve of some of the examples."""
    for rng in random_worlds(100, stream=2901):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(scoring, "PENDING", int(rng.integers(1, 60)))
            tally = cc.ScoreTally(limit=int(rng.integers(5, 40)))
            accepted = [np.empty((2, 0))]
            for _ in range(rng.integers(1, 8)):
                batch = np.stack((rng.integers(0, 2, 12), rng.integers(0, rng.integers(4, 60), 12)))
                try:
                    tally.update(batch[0], batch[1])
                except cc.UnsupportedError:
                    continue
                accepted.append(batch)
            y, scores = np.concatenate(accepted, axis=1)
            assert tally.n_pos + tally.n_neg == y.size
            try:
                curve = tally.to_roc_curve()
            except cc.CostCurvesError:
                continue
            expected = cc.RocCurve.from_predictions(y, scores)
            assert (curve.tp.tolist(), curve.fp.tolist()) == (expected.tp.tolist(), expected.fp.tolist())


def test_a_confusion_tally_forgets_what_it_refused():
    tally = cc.ConfusionTally().update([0, 1], [0, 1])
    before = tally.to_bytes()
    for refused in ((["a"], ["b"]), ([0], [1], [1]), ([0, 1], [1])):
        with pytest.raises(cc.CostCurvesError):
            tally.update(*refused)
        assert tally.to_bytes() == before


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="long doubles are float64 on this machine")
def test_long_doubles_are_kept_or_refused_and_never_rounded():
    near = np.array([0.1, 1, 2, 3], np.longdouble)
    near[0] += np.finfo(np.longdouble).eps
    with pytest.raises(cc.DataError, match=r"`y_score` must hold numbers that float64 holds, got 1 of .* position 0"):
        cc.RocCurve.from_predictions([0, 1, 0, 1], near)
    with pytest.raises(cc.DataError, match=r"`sample_weight` must hold numbers that float64 holds, got 1 of"):
        cc.RocCurve.from_predictions([0, 1, 0, 1], [1, 2, 3, 4], sample_weight=near)
    with pytest.raises(cc.DataError, match=r"must hold numbers that float64 holds, got 1 of .* 1e\+4000 at position 3"):
        cc.ScoreTally().update([0, 1, 0, 1], np.append(near[1:], np.longdouble("1e4000")))
    exact = np.array([0.5, 1, -2, 3], np.longdouble)
    found = cc.RocCurve.from_predictions([0, 1, 0, 1], exact, sample_weight=exact**2)
    expected = cc.RocCurve.from_predictions([0, 1, 0, 1], [0.5, 1, -2, 3], sample_weight=[0.25, 1, 4, 9])
    assert found.to_dict() == expected.to_dict()
