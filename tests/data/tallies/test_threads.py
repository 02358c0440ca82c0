"""Several threads may count into one tally, and merge tallies crosswise: nothing is lost, and nobody waits for ever."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
import pytest

import costcurves as cc

THREADS, BATCHES, ROWS = 8, 40, 60

pytestmark = [
    pytest.mark.usefixtures("way"),
    pytest.mark.filterwarnings("ignore::costcurves.WorseThanChanceWarning"),
]


@pytest.fixture(autouse=True)
def _switching():
    """Let threads take turns as often as Python can, also where it collects garbage."""
    before = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50)
    gc.callbacks.append(_turn)
    yield
    gc.callbacks.remove(_turn)
    gc.set_threshold(*before[1])
    sys.setswitchinterval(before[0])


def _turn(*_):
    sum(range(50))


@pytest.fixture(scope="module")
def batches():
    rng = np.random.default_rng(29)
    y = rng.integers(0, 2, (BATCHES, ROWS))
    return [(labels, (labels + rng.normal(size=ROWS)).round(2)) for labels in y]


def whole(batches):
    return np.concatenate([y for y, _ in batches]), np.concatenate([s for _, s in batches])


def curves(batches):
    y, scores = whole(batches)
    return [cc.CostCurve(cc.RocCurve.from_predictions(y, s, name=name)) for name, s in (("a", scores), ("b", -scores))]


KINDS = {
    "scores": (lambda _: cc.ScoreTally(), lambda t, y, s: t.update(y, s)),
    "weights": (lambda _: cc.ScoreTally(), lambda t, y, s: t.update(y, s, np.ones(y.size))),
    "bins": (lambda _: cc.ScoreTally(resolution=2**14), lambda t, y, s: t.update(y, s)),
    "hull": (lambda _: cc.HullTally(resolution=2**14), lambda t, y, s: t.update(y, s)),
    "held": (lambda _: cc.HullTally(resolution=2**14, hold=500), lambda t, y, s: t.update(y, s)),
    "pair": (lambda b: cc.PairedTally(*curves(b), pc=[0.3, 0.6]), lambda t, y, s: t.update(y, s, -s)),
    "confusion": (lambda _: cc.ConfusionTally(), lambda t, y, s: t.update(y, (s > 0.5).astype(int))),
}


@pytest.fixture(params=list(KINDS))
def kind(request):
    return KINDS[request.param]


def in_threads(tasks):
    """Run tasks in eight threads that begin together; fail where one raises, or where they do not end."""
    together = threading.Barrier(THREADS)
    shares = [tasks[i::THREADS] for i in range(THREADS)]

    def work(share):
        together.wait(600)
        for task in share:
            task()

    pool = ThreadPoolExecutor(THREADS)
    done, waiting = wait([pool.submit(work, share) for share in shares], timeout=600)
    pool.shutdown(wait=not waiting)
    assert not waiting, "the threads wait for each other"
    for future in done:
        future.result()


def test_eight_threads_count_what_one_counts(kind, batches):
    make, add = kind
    expected, tally = make(batches), make(batches)
    for y, s in batches:
        add(expected, y, s)
    in_threads([lambda y=y, s=s: add(tally, y, s) for y, s in batches])
    assert tally.to_bytes() == expected.to_bytes()


def test_a_second_pass_in_eight_threads_finds_the_hull(batches):
    y, scores = whole(batches)
    for members in (1, 1 << 22):  # finer bins, then members at once
        tally = cc.HullTally(resolution=2**14, members=members)
        while True:
            here = tally
            in_threads([lambda y=y, s=s, t=here: t.update(y, s) for y, s in batches])
            if tally.finished:
                break
            tally = tally.next_pass()
        expected = cc.RocCurve.from_predictions(y, scores, points="hull")
        assert (tally.to_roc_curve().tp.tolist(), tally.to_roc_curve().fp.tolist()) == (
            expected.tp.tolist(),
            expected.fp.tolist(),
        )


def test_tallies_are_merged_crosswise_and_sent_while_others_count(kind, batches):
    make, add = kind
    first, second = make(batches), make(batches)
    for tally in (first, second):
        add(tally, *batches[0])
    small = pickle.dumps(first)
    sent = []
    tasks = []
    for y, s in batches:
        tasks += [
            lambda y=y, s=s: add(first, y, s),
            lambda: first.merge(pickle.loads(small)),
            lambda: pickle.loads(small).merge(first),
            lambda: sent.append(first.to_bytes()),
            lambda: repr(copy.copy(second)),
        ]
    in_threads(tasks)
    expected = make(batches)
    add(expected, *batches[0])
    for y, s in batches:
        add(expected, y, s)
        expected.merge(pickle.loads(small))
    assert first.to_bytes() == expected.to_bytes()
    assert all(type(first).from_bytes(data) for data in sent)


def test_tallies_are_restored_in_eight_threads(batches):
    sent = pickle.dumps(cc.ScoreTally().update(*batches[0]))
    in_threads([lambda: pickle.loads(sent)] * 800)


def test_two_tallies_merged_into_each_other_end(kind, batches):
    make, add = kind
    first, second = make(batches), make(batches)
    add(first, *batches[0])
    add(second, *batches[1])
    # Eight merges in any order: counts grow, but nobody waits for ever and every merge happens.
    in_threads([lambda: first.merge(second), lambda: second.merge(first)] * 4)
    assert first.to_bytes() != second.to_bytes()


def test_a_tally_is_not_merged_with_itself(kind, batches):
    make, add = kind
    tally = make(batches)
    add(tally, *batches[0])
    before = tally.to_bytes()
    with pytest.raises(cc.InputError, match="`other` must be another tally to be merged, got the tally itself"):
        tally.merge(tally)
    assert tally.to_bytes() == before
