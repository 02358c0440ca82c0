"""Results that several threads share answer each of them as if it were alone, bit for bit."""

from __future__ import annotations

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import costcurves as cc

THREADS = 8
HERE = cc.OperatingCondition(prevalence=0.2, cost_fp=1, cost_fn=6)
RANGE = cc.OperatingRange(prevalence=(0.1, 0.4), cost_fp=1, cost_fn=(3, 8))


def world():
    """Return new objects of every kind that keeps something it computed, all made from the same rows."""
    rng = np.random.default_rng(3)
    y = (rng.random(400) < 0.4).astype(int)
    scores = {name: (y + rng.normal(0, spread, 400)).round(2) for name, spread in (("a", 0.8), ("b", 1.0), ("c", 2.0))}
    predictions = cc.Predictions(y, scores, folds=np.arange(400) % 4)
    curve = cc.CostCurve.from_predictions(y, scores["a"])
    joint = np.random.default_rng(4).integers(1, 40, (3, 3, 3))
    return {
        "predictions": predictions,
        "roc": cc.RocCurve.from_predictions(y, scores["b"]),
        "curve": curve,
        "hull": cc.RocHull.from_predictions(y, scores),
        "band": curve.band(pc=[0.2, 0.7]),
        "difference": predictions.compare("a", "b", pc=[0.2, 0.5, 0.7]),
        "recommendation": predictions.recommend(HERE),
        "tally": cc.ScoreTally().update(y, scores["a"]),
        "cost": cc.bdeltacost.from_joint(joint, 1.0 - np.eye(3), method="exact"),
    }


QUESTIONS = {
    "predictions": [
        lambda p: p.recommend(HERE),
        lambda p: p.recommend_within(RANGE),
        lambda p: p.hull(),
        lambda p: p.curve("a", policy="crossfit"),
        lambda p: p.compare("a", "c", pc=[0.3]),
        lambda p: p.averaged_curve("b"),
        lambda p: p.check(),
    ],
    "roc": [lambda r: r.auc(), lambda r: r.on_hull(), lambda r: r.candidates(), lambda r: r.score_below(0.3)],
    "curve": [
        lambda c: c.band(simultaneous=True, pc=[0.2, 0.5], rng=1),
        lambda c: c.distribution(0.4),
        lambda c: c.threshold_set(HERE),
        lambda c: c.h_measure(),
        lambda c: c.operating_range_limits(),
    ],
    "hull": [
        lambda h: h.best(HERE),
        lambda h: h.ranges(),
        lambda h: h.best_at_fpr(0.1, confidence=0.9),
        lambda h: json.loads(h.to_json())["version"],
        lambda h: h.roc_curves(),
    ],
    "band": [lambda b: b.at(0.3), lambda b: b.at(HERE)],
    "difference": [lambda d: d.significant(), lambda d: d.at(0.4), lambda d: d.crossings(), lambda d: d.reversed()],
    "recommendation": [
        lambda r: r.saving("a", 0.5),
        lambda r: r.thresholds if hasattr(r, "thresholds") else r.best,
        lambda r: r.cheaper_unaided,
    ],
    "tally": [lambda t: t.to_roc_curve(), lambda t: len(t.to_bytes()), lambda t: t.to_roc_curve(points="hull")],
    "cost": [lambda c: c.risks, lambda c: c.reversed(), lambda c: c.distribution.quantile([0.1, 0.9])],
}


def plain(answer):
    """Return an answer as text with all its digits."""
    if isinstance(answer, dict):
        return {name: plain(value) for name, value in answer.items()}
    if isinstance(answer, (list, tuple)):
        return [plain(value) for value in answer]
    if hasattr(answer, "to_dict"):
        return json.dumps(answer.to_dict(), sort_keys=True)
    return repr(answer.tolist() if isinstance(answer, np.ndarray) else answer)


@pytest.fixture(autouse=True)
def _switching():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.filterwarnings("ignore::costcurves.CostCurvesWarning")
@pytest.mark.parametrize("kind", QUESTIONS)
def test_shared_objects_answer_threads_as_they_answer_one(kind):
    expected = [plain(ask(world()[kind])) for ask in QUESTIONS[kind]]
    shared, together = world()[kind], threading.Barrier(THREADS)

    def work(k):
        together.wait(600)
        order = np.random.default_rng(k).permutation(len(QUESTIONS[kind]))
        return {int(i): plain(QUESTIONS[kind][i](shared)) for i in order}

    with ThreadPoolExecutor(THREADS) as pool:
        for found in pool.map(work, range(THREADS)):
            assert [found[i] for i in range(len(expected))] == expected
