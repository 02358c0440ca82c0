"""Whatever is asked, labels and scores are checked once, and the rows of each classifier are counted once."""

from __future__ import annotations

import inspect
import sys
from collections import Counter

import matplotlib as mpl
import numpy as np
import pytest

import costcurves as cc
from costcurves.cli import main
from costcurves.counting import counts, hull_vertices, labels

mpl.use("agg")

WHERE = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=4)
SPAN = cc.OperatingRange(prevalence=(0.2, 0.4), cost_fp=1, cost_fn=(2, 5))
WATCHED = {
    labels.binary_labels: "labels",
    counts.checked_scores: "scores",
    counts.count_scores: "counts",
    counts.count_weights: "counts",
    hull_vertices.candidate_counts: "counts",
}


@pytest.fixture
def work(monkeypatch):
    """How often labels and scores are checked and rows counted; a count within another one is part of it.

    Candidates are counted only if that is faster than counting all points, otherwise there are none.
    """
    found, within = Counter(), Counter()

    def watched(function, name):
        def call(*arguments, **options):
            within[name] += 1
            try:
                answer = function(*arguments, **options)
            finally:
                within[name] -= 1
            found[name] += within[name] == 0 and answer is not None
            return answer

        return call

    replaced = {function: watched(function, name) for function, name in WATCHED.items()}
    for module in [module for name, module in sys.modules.items() if name.split(".")[0] == "costcurves"]:
        for key, value in list(vars(module).items()):
            if inspect.isfunction(value) and value in replaced:
                monkeypatch.setattr(module, key, replaced[value])
    return found


def rows(n, classifiers=8):
    rng = np.random.default_rng(5)
    y = rng.random(n) < 0.4
    return y, {name: y + rng.normal(0, 0.8, n) for name in "abcdefgh"[:classifiers]}


PC = [0.3, 0.6]
# The number of classifiers whose scores are counted, and the question.
QUESTIONS = {
    "compare": (2, lambda y, s, w: cc.compare(y, s["a"], s["b"], pc=PC, sample_weight=w).significant()),
    "compare_many": (8, lambda y, s, w: cc.compare_many(y, s, pc=PC, sample_weight=w)),
    "recommend": (8, lambda y, s, w: cc.recommend(y, s, WHERE, sample_weight=w)),
    "recommend_within": (8, lambda y, s, w: cc.recommend_within(y, s, SPAN, sample_weight=w)),
    "hull": (8, lambda y, s, w: cc.RocHull.from_predictions(y, s, sample_weight=w)),
    "hull, hull points": (8, lambda y, s, w: cc.RocHull.from_predictions(y, s, sample_weight=w, points="hull")),
    "roc curve": (1, lambda y, s, w: cc.RocCurve.from_predictions(y, s["a"], sample_weight=w)),
    "cost curve": (1, lambda y, s, w: cc.CostCurve.from_predictions(y, s["a"], sample_weight=w).band()),
    "area": (1, lambda y, s, w: cc.cost_curve_area(y, s["a"], sample_weight=w)),
    "report": (8, lambda y, s, w: cc.Report.from_predictions(y, s, scenarios={"w": WHERE, "s": SPAN}, sample_weight=w)),
    "roc display": (8, lambda y, s, w: cc.RocHullDisplay.from_predictions(y, s, sample_weight=w)),
    "cost display": (8, lambda y, s, w: cc.CostCurveDisplay.from_predictions(y, s, level=0.9, sample_weight=w)),
    "dominance display": (8, lambda y, s, w: cc.DominanceDisplay.from_predictions(y, s, sample_weight=w)),
    "difference display": (
        2,
        lambda y, s, w: cc.CostDifferenceDisplay.from_predictions(
            y, {"a": s["a"], "b": s["b"]}, pc=PC, sample_weight=w
        ),
    ),
}
# Questions to Predictions, whose rows were checked when they were made.
METHODS = {
    "hull": (8, lambda p: p.hull()),
    "curves": (8, lambda p: p.curves()),
    "curve": (1, lambda p: p.curve("b")),
    "roc_curve": (1, lambda p: p.roc_curve("b")),
    "compare": (2, lambda p: p.compare("a", "b", pc=PC)),
    "compare_many": (8, lambda p: p.compare_many(pc=PC)),
    "recommend": (8, lambda p: p.recommend(WHERE)),
    "recommend_within": (8, lambda p: p.recommend_within(SPAN)),
    "repr": (8, repr),
    "display": (8, cc.CostCurveDisplay.from_predictions),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_labels_are_checked_and_rows_counted_once_per_question(question, work):
    classifiers, ask = QUESTIONS[question]
    ask(*rows(120), None)
    assert work == {"labels": 1, "scores": classifiers, "counts": classifiers}


@pytest.mark.parametrize("question", [name for name in QUESTIONS if name not in ("recommend_within", "report")])
def test_weighted_rows_are_counted_once_too(question, work):
    classifiers, ask = QUESTIONS[question]
    ask(*rows(120), np.arange(120.0) % 3)  # some weights are 0
    assert work == {"labels": 1, "scores": classifiers, "counts": classifiers}


@pytest.mark.parametrize("question", ["compare", "recommend", "recommend_within", "hull", "report", "cost display"])
def test_very_many_rows_are_counted_once_too(question, work):
    classifiers, ask = min(QUESTIONS[question][0], 2), QUESTIONS[question][1]
    ask(*rows(70_000, 2), None)
    assert work == {"labels": 1, "scores": classifiers, "counts": classifiers}


@pytest.mark.parametrize("method", METHODS)
def test_predictions_check_nothing_again_and_count_once(method, work):
    counted, ask = METHODS[method]
    made = cc.Predictions(*rows(120))
    assert work == {"labels": 1, "scores": 8}
    ask(made)
    assert work == {"labels": 1, "scores": 8, "counts": counted}


def test_many_questions_count_the_rows_once(work):
    made = cc.Predictions(*rows(60))
    for method in ("hull", "curves", "compare", "recommend", "repr", "display"):
        METHODS[method][1](made)
        METHODS[method][1](made)
    assert work == {"labels": 1, "scores": 8, "counts": 8}


@pytest.mark.parametrize("command", ["decide", "ranges", "compare", "report"])
def test_commands_check_labels_and_count_rows_once(command, work, tmp_path):
    asked = [] if command in ("ranges", "compare") else ["--prevalence", "0.3", "--cost-fn", "5", "--cost-fp", "1"]
    code = main([command, "example:german_credit", "--positive", "bad", *asked, "-o", str(tmp_path / "answer.html")])
    assert (code, work) == (0, {"labels": 1, "scores": 4, "counts": 4})
