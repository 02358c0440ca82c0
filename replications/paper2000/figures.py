"""The figures of the page of 2000, from recorded outcomes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import costcurves as cc
from replications.drawing import COLOURS, look, panels
from replications.markdown import Outcomes
from replications.paper2000 import power, sensitivity
from replications.paper2000.domain import CLASSES, MODELS, by_model, label


def domain(outcomes: Outcomes) -> Any:
    """Draw figure 1: the classes in the unit square, by scikit-learn's display of decision boundaries."""
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.inspection import DecisionBoundaryDisplay

    class Truth(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        """The true class of a point."""

        def fit(self, X: Any, y: Any) -> Truth:
            self.classes_ = np.unique(y)
            return self

        def predict(self, X: Any) -> Any:
            return label(np.asarray(X))

    shades = ["#A8CBE3", "#F4F1E8", "#BFE0D0", "#D55E00", "#E8CFDE"]
    corners = np.array([[0.0, 0.0], [1.0, 1.0]])
    truth = Truth().fit(corners, np.arange(CLASSES))
    grid = {"grid_resolution": 600, "eps": 0.0, "plot_method": "pcolormesh", "multiclass_colors": shades}
    with panels(1, 3.4, 3.4) as (figure, (ax,)):
        DecisionBoundaryDisplay.from_estimator(truth, corners, ax=ax, response_method="predict", **grid)
        for name, at in (("0", (0.3, 0.05)), ("1", (0.35, 0.35)), ("2", (0.7, 0.95)), ("4", (0.70, 0.42))):
            ax.annotate(name, at, ha="center", va="center", fontsize=11)
        ax.annotate("3", (0.25, 0.62), (0.14, 0.5), fontsize=11, arrowprops={"arrowstyle": "-", "linewidth": 0.6})
        ax.set(xlabel="first feature", ylabel="second feature", aspect="equal")
    return figure


def figure2(outcomes: Outcomes) -> Any:
    """Draw coverage against λ."""
    found = {model: np.array(v) for model, v in by_model(outcomes["figure2-2000"].parts, "coverage").items()}
    laplaces = np.array(sensitivity.LAPLACES)
    means = [cc.PowerCurve.of(m, "laplace", laplaces, v.mean(axis=0, keepdims=True), 0.95) for m, v in found.items()]
    with panels(2, 3.6, 3.0) as (figure, axes):
        for ax in axes:
            looks = [look(i) for i in range(len(means))]
            cc.PowerDisplay(means).plot(ax=ax, wanted=0.95, legend=ax is axes[0], curve_kwargs=looks)
        axes[0].set(title="as in figure 2", xlim=(0, 3.0), ylim=(0, 1))
        axes[1].set(title="enlarged", xlim=(0, 0.5), ylim=(0.7, 1.0))
    return figure


def figure3(outcomes: Outcomes) -> Any:
    """Draw how often H0 is not rejected against the ratio of costs."""
    parts = outcomes["power"].parts
    kept, ratio = by_model(parts, "kept"), by_model(parts, "ratio")
    curves = [
        cc.PowerCurve.of(model, "difference", np.mean(ratio[model], axis=0), 1 - np.array(kept[model]), 0.95)
        for model in MODELS
    ]
    with panels(1, 4.2, 3.0) as (figure, (ax,)):
        means = [replace(one, low=one.power, high=one.power) for one in curves]
        cc.PowerDisplay(means).plot(ax=ax, missed=True, wanted=None, curve_kwargs=[look(i) for i in range(len(means))])
        ax.set_xscale("symlog", linthresh=0.1)
        ax.set(xlim=(0, None), xlabel="|cost of 2' - cost of 1| / cost of 1")
    return figure


def chance_curve(outcomes: Outcomes, model: str, kind: str = "kept") -> cc.PowerCurve:
    """The recorded chance to reject H0 against the share of changed labels, over the matrices of a model."""
    kept = np.array(by_model(outcomes["power"].parts, kind)[model])[:, 1:]
    return cc.PowerCurve.of(model, "changed", np.array(power.SHARES[1:]), 1 - kept, 0.95)


def _against_q(outcomes: Outcomes, groups: tuple[tuple[str, ...], ...], *, ranges: bool, normal: bool = False) -> Any:
    with panels(len(groups), 3.4, 2.8) as (figure, axes):
        for ax, group in zip(axes, groups, strict=True):
            curves = {model: chance_curve(outcomes, model) for model in group}
            looks = {model: look(MODELS.index(model)) for model in group}
            for model in group if normal else ():
                curves[f"{model}, z test"] = chance_curve(outcomes, model, "normal")
                crosses = {"color": COLOURS[MODELS.index(model)], "linestyle": "none", "marker": "x", "markersize": 3.5}
                looks[f"{model}, z test"] = crosses
            if not ranges:
                curves = {name: replace(one, low=one.power, high=one.power) for name, one in curves.items()}
            cc.PowerDisplay(curves).plot(ax=ax, missed=True, wanted=None, curve_kwargs=looks)
    return figure


def figure4(outcomes: Outcomes) -> Any:
    """Draw how often H0 is not rejected against q, in the paper's two groups of models, with the z test as crosses."""
    groups = (("M2", "M3", "M4", "M5", "M9"), ("M1", "M6", "M7", "M8"))
    return _against_q(outcomes, groups, ranges=False, normal=True)


def figure5(outcomes: Outcomes) -> Any:
    """Draw the range over matrices."""
    return _against_q(outcomes, (("M2", "M9"), ("M1", "M6", "M7")), ranges=True)
