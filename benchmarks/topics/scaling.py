"""How times grow with examples, classes and classifiers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import costcurves as cc
from benchmarks.harness import Call, Outcome, best_of_three
from benchmarks.settings import Settings, predictions
from benchmarks.topics.classes import costs_of, labelled, quiet

CLASSES = (2, 5, 10, 20, 50, 100, 200, 500, 1_000)
CLASSIFIERS = (2, 5, 10, 20, 50)  # a single one cannot be compared


def run(settings: Settings) -> Outcome:
    """Measure hull and band over examples, BCost over classes, `compare_many` over classifiers."""
    powers = range(3, 4 if settings.small else 9 if settings.large else 8)
    return Outcome(
        series=[
            series("hull and band", "examples", [10**p for p in powers], over_examples),
            series("BCost, n = 100,000", "classes", CLASSES[: 3 if settings.small else None], over_classes(settings)),
            series(
                "compare_many, n = 10,000",
                "classifiers",
                CLASSIFIERS[: 1 if settings.small else None],
                over_classifiers(settings),
            ),
        ]
    )


def series(title: str, axis: str, values: Sequence[int], calls: Callable[[int], Mapping[str, Call]]) -> dict[str, Any]:
    """Measure the times of all calls at all values."""
    lines: dict[str, list[float | None]] = {}
    for value in values:
        for name, call in calls(value).items():
            lines.setdefault(name, []).append(best_of_three(call))
    return {"title": title, "axis": axis, "values": list(values), "seconds": lines}


def over_examples(size: int) -> Mapping[str, Call]:
    """The hull, the band and two yardsticks for `size` examples."""
    from sklearn.metrics import roc_curve

    labels, scores = predictions(size)
    pc = np.linspace(0, 1, 1_001)
    return {
        "hull and cost curve": lambda: cc.CostCurve.from_predictions(labels, scores),
        "and its Wilson band at 1,001 points": lambda: cc.CostCurve.from_predictions(labels, scores).band(
            pc=pc, method="wilson"
        ),
        "and exact quantiles": lambda: cc.CostCurve.from_predictions(labels, scores).band(pc=pc, method="exact"),
        "bare np.sort": lambda: np.sort(scores),
        "scikit-learn roc_curve": lambda: roc_curve(labels, scores),
    }


def over_classes(settings: Settings) -> Callable[[int], Mapping[str, Call]]:
    """Make a function that gives the calls of BCost for k classes."""

    def calls(k: int) -> Mapping[str, Call]:
        y, predicted, _ = labelled(settings.size(100_000), k)
        whole, any_costs = (cc.CostMatrix(costs_of(k, whole=kind)) for kind in (True, False))
        return {
            "whole costs": quiet(lambda: cc.bcost(y, predicted, whole, method="exact")),
            "any costs": quiet(lambda: cc.bcost(y, predicted, any_costs, method="exact")),
        }

    return calls


def over_classifiers(settings: Settings) -> Callable[[int], Mapping[str, Call]]:
    """Make a function that gives the call of `compare_many`."""

    def calls(number: int) -> Mapping[str, Call]:
        rng = np.random.default_rng(0)
        labels = rng.random(settings.size(10_000, 500)) < 0.3
        scores = {f"c{i}": labels + (1 + i / 50) * rng.normal(size=labels.size) for i in range(number)}
        return {"all pairs at 65 points": lambda: cc.compare_many(labels, scores)}

    return calls
