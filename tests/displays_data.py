"""Data and one case per display that the tests of displays share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

import costcurves as cc
from costcurves.decisions.curve_difference import CurveDifference
from costcurves.multiclass.priors import PriorHull

POINTS = np.linspace(0.1, 0.9, 9)
COSTS = cc.CostMatrix([[0, 1, 8], [1, 0, 3], [12, 4, 0]], labels=["x", "y", "z"])


@cache
def two_classes() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return labels 0/1 and the scores of two classifiers that cross."""
    rng = np.random.default_rng(3)
    y = (rng.random(160) < 0.4).astype(int)
    wide, narrow = y * rng.gamma(1.5, 1.0, 160) + rng.normal(0, 0.5, 160), y + rng.normal(0, 0.9, 160)
    return y, {"wide": wide.round(2), "narrow": narrow.round(2)}


@cache
def three_classes() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return labels x, y, z and the predictions of two classifiers, each good at another class."""
    rng = np.random.default_rng(4)
    truth = rng.choice(["x", "y", "z"], 200)
    predictions = {}
    for name, rates in {"first": (0.95, 0.6, 0.4), "second": (0.5, 0.7, 0.9)}.items():
        right = rng.random(200) < np.array([rates["xyz".index(label)] for label in truth])
        predictions[name] = np.where(right, truth, rng.choice(["x", "y", "z"], 200))
    return truth, predictions


@cache
def estimators() -> tuple[Any, Any, dict[str, Any], dict[str, Any]]:
    """Return data of two classes, two fitted classifiers and their cross-validations."""
    from sklearn.datasets import make_classification

    X, y = make_classification(150, 5, flip_y=0.15, random_state=0)
    return X, y, *fitted(X, y)


@cache
def many_classes() -> tuple[Any, Any, dict[str, Any], dict[str, Any]]:
    """Return data of three classes, two fitted classifiers and their cross-validations."""
    from sklearn.datasets import make_classification

    X, codes = make_classification(180, 5, n_informative=4, n_redundant=0, n_classes=3, flip_y=0.2, random_state=1)
    y = np.array(["x", "y", "z"])[codes]
    return X, y, *fitted(X, y)


def fitted(X: Any, y: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return two classifiers, fitted and cross-validated."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_validate
    from sklearn.naive_bayes import GaussianNB

    models = {"logit": LogisticRegression(), "bayes": GaussianNB()}
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    results = {
        name: cross_validate(model, X, y, cv=folds, return_estimator=True, return_indices=True)
        for name, model in models.items()
    }
    return {name: model.fit(X, y) for name, model in models.items()}, results


@dataclass(frozen=True)
class Case:
    """One kind of display: how it is made of data, of results, and which artists it draws."""

    kind: Any
    results: Callable[[], Any]
    artists: Callable[[Any], list[Any]]
    options: dict[str, Any] = field(default_factory=dict)
    labels: bool = False
    single: bool = True

    def predictions(self) -> tuple[Any, Any]:
        """Return the truth and both classifiers' answers."""
        return three_classes() if self.labels else two_classes()

    def estimators(self) -> tuple[Any, Any, dict[str, Any], dict[str, Any]]:
        """Return data, fitted classifiers and cross-validations."""
        return many_classes() if self.labels else estimators()

    def make(self, **more: Any) -> Any:
        """Return the display of both classifiers."""
        return self.kind.from_predictions(*self.predictions(), **{**self.options, **more})


def hull() -> cc.RocHull:
    """Return the hull of both classifiers."""
    return cc.RocHull.from_predictions(*two_classes())


def difference() -> CurveDifference:
    """Return the difference of both classifiers."""
    y, scores = two_classes()
    return cc.compare(y, *scores.values(), names=tuple(scores), pc=POINTS)


def averages() -> list[cc.AveragedRoc]:
    """Return the average of each classifier's curve on two halves of the data."""
    y, scores = two_classes()
    halves = [slice(0, 80), slice(80, None)]
    return [
        cc.average_roc_curves(
            [cc.RocCurve.from_predictions(y[half], score[half]) for half in halves], interval="binomial", name=name
        )
        for name, score in scores.items()
    ]


def joint() -> cc.JointConfusion:
    """Return the joint table of both classifiers of three classes."""
    truth, predictions = three_classes()
    return cc.JointConfusion.from_predictions(truth, *predictions.values(), labels=COSTS.labels)


def prior_hull() -> PriorHull:
    """Return who of both classifiers of three classes is cheapest where."""
    truth, predictions = three_classes()
    tables = {
        name: cc.ConfusionMatrix.from_predictions(truth, p, labels=COSTS.labels) for name, p in predictions.items()
    }
    return cc.prior_hull(tables, COSTS)


def listed(artist: Any) -> list[Any]:
    """Return one artist or a list of them as a list."""
    return artist if isinstance(artist, list) else [artist]


CASES = {
    "cost": Case(
        cc.CostCurveDisplay,
        lambda: [cc.CostCurve(curve) for curve in hull().roc_curves().values()],
        lambda d: [*listed(d.line_), *d.trivial_],
    ),
    "roc": Case(cc.RocHullDisplay, hull, lambda d: [*listed(d.line_), d.hull_, d.shade_, d.chance_]),
    "averaged": Case(
        cc.AveragedRocDisplay,
        averages,
        lambda d: [*listed(d.line_), *listed(d.band_), d.chance_],
        options={"interval": "binomial"},
    ),
    "difference": Case(
        cc.CostDifferenceDisplay,
        difference,
        lambda d: [d.line_, d.band_, d.zero_],
        options={"pc": POINTS},
        single=False,
    ),
    "dominance": Case(
        cc.DominanceDisplay, lambda: cc.dominance(hull().roc_curves()), lambda d: [*d.bar_.values(), *d.never_.values()]
    ),
    "regret": Case(cc.RegretDisplay, hull, lambda d: [*listed(d.line_), d.largest_]),
    "coverage": Case(
        cc.CoverageDisplay,
        lambda: [cc.coverage(cc.Binormal(3, 3), n_pos=n, n_neg=n, pc=POINTS) for n in (20, 40)],
        lambda d: [*listed(d.line_), *d.level_],
        options={"pc": POINTS},
    ),
    "power": Case(
        cc.PowerDisplay,
        lambda: cc.power_curve(joint(), COSTS, n=[50, 100, 200]),
        lambda d: [*listed(d.line_), d.wanted_],
        options={"costs": COSTS, "n": [50, 100, 200]},
        labels=True,
        single=False,
    ),
    "threshold": Case(
        cc.ThresholdDisplay,
        lambda: [cc.CostCurve(curve) for curve in hull().roc_curves().values()],
        lambda d: [*listed(d.line_), *listed(d.best_)],
    ),
    "simplex": Case(
        cc.PriorSimplexDisplay,
        prior_hull,
        lambda d: [*d.region_.values(), d.edge_, *d.grid_, *d.corner_],
        options={"costs": COSTS},
        labels=True,
    ),
}
SCORED = [name for name, case in CASES.items() if not case.labels]


def data_of(artist: Any) -> Any:
    """Return the coordinates of an artist as nested lists."""
    if hasattr(artist, "get_xydata"):
        return artist.get_xydata().tolist()
    if hasattr(artist, "get_xy"):
        return np.asarray(artist.get_xy()).tolist()
    if hasattr(artist, "get_paths"):
        return [path.vertices.tolist() for path in artist.get_paths()]
    return artist.get_text()


def picture(display: Any, case: Case) -> list[tuple[str, str, Any]]:
    """Return what the main artists of a display are and show."""
    return [(type(artist).__name__, artist.get_label(), data_of(artist)) for artist in case.artists(display)]
