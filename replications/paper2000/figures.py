"""The figures of the page of 2000, from recorded outcomes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import costcurves as cc
from replications.drawing import COLOURS, GREY, look, panels
from replications.markdown import Outcomes
from replications.paper2000 import power, sensitivity, table5, table6
from replications.paper2000.domain import MODELS, by_model, label


def domain(outcomes: Outcomes) -> Any:
    """Draw the classes in the unit square."""
    from matplotlib.colors import ListedColormap

    side = (np.arange(600) + 0.5) / 600
    x, y = np.meshgrid(side, side)
    classes = label(np.stack([x.ravel(), y.ravel()], axis=1)).reshape(x.shape)
    shades = ListedColormap(["#A8CBE3", "#F4F1E8", "#BFE0D0", "#D55E00", "#E8CFDE"])
    with panels(1, 3.4, 3.4) as (figure, (ax,)):
        ax.imshow(classes, origin="lower", extent=(0, 1, 0, 1), cmap=shades, interpolation="nearest", vmin=0, vmax=4)
        for name, at in (("0", (0.3, 0.05)), ("1", (0.35, 0.35)), ("2", (0.7, 0.95)), ("4", (0.70, 0.42))):
            ax.annotate(name, at, ha="center", va="center", fontsize=11)
        ax.annotate("3", (0.25, 0.62), (0.14, 0.5), fontsize=11, arrowprops={"arrowstyle": "-", "linewidth": 0.6})
        ax.set(xlabel="first feature", ylabel="second feature")
    return figure


def coverage(outcomes: Outcomes) -> Any:
    """Draw Tables 5 and 6: the paper's counts and ours, and normal theory."""
    with panels(2, 4.4, 2.9) as (figure, axes):
        for ax, name, printed, title in (
            (axes[0], "table5", table5.PRINTED, "Table 5: true cost covered, of 1000"),
            (axes[1], "table6", table6.PRINTED, "Table 6: equal costs not rejected, of 1000"),
        ):
            at = np.arange(len(MODELS))
            ax.axhline(950, color=GREY, linewidth=0.8)
            for shift, kind, mark, words in (
                (0.0, "exact", "o", "bootstrap, ours"),
                (0.18, "normal", "s", "normal theory, ours"),
            ):
                found = by_model(outcomes[name].parts, kind)
                mean = [float(np.mean(found[m])) for m in MODELS]
                low, high = ([abs(f(found[m]) - np.mean(found[m])) for m in MODELS] for f in (min, max))
                colour = COLOURS[0] if kind == "exact" else COLOURS[1]
                style = {"fmt": mark, "markersize": 4, "linewidth": 0.9, "color": colour, "label": words}
                ax.errorbar(at + shift, mean, [low, high], **style)
            ax.plot(
                at - 0.18, [printed[m] for m in MODELS], "_", markersize=9, color="black", label="bootstrap, the paper"
            )
            ax.plot(at + 0.36, [1000] * 9, "x", markersize=4, color="black", label="normal theory, the paper")
            ax.set(title=title, ylim=(None, 1010))
            ax.set_xticks(at, MODELS)
        axes[0].legend(loc="lower left")
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
