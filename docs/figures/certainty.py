"""Pictures of bands, intervals and bootstrap distributions."""

from __future__ import annotations

import warnings
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm
from spaces import cost_axes, german_credit

import costcurves as cc

# A simulated world in which scores are normal with standard deviation 1, and those of positives are 1.5 higher.
GAP, POSITIVES, NEGATIVES = 1.5, 150, 350


def draw_sample(
    seed: int, positives: int = POSITIVES, negatives: int = NEGATIVES
) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and scores of one test set of the world."""
    y = np.repeat([1, 0], [positives, negatives])
    return y, np.random.default_rng(seed).normal(GAP * y, 1.0)


def true_rates(cut: Any) -> tuple[Any, Any]:
    """Return the false and true positive rates of the world itself at a threshold."""
    return norm.sf(cut), norm.sf(np.subtract(cut, GAP))


def world() -> cc.RocCurve:
    """Return the ROC curve of the world itself."""
    return cc.RocCurve.from_rates(
        *true_rates(np.linspace(-3.5, 5.0, 400)), name="world"
    )


def pointwise_or_simultaneous(theme: Any) -> Any:
    """Draw a fixed threshold's cost with both bands, and the difference of two classifiers with both."""
    label, scores = german_credit()
    figure, (left, right) = plt.subplots(1, 2)
    forest = cc.CostCurve.from_predictions(
        label, scores["forest"], pos_label="bad", name="forest", policy=0.3
    )
    cost_axes(left, theme, 0.6)
    for simultaneous, alpha in ((True, 0.18), (False, 0.32)):
        band = forest.band(simultaneous=simultaneous)
        name = "all conditions together" if simultaneous else "each condition by itself"
        left.fill_between(
            band.pc,
            band.lower,
            band.upper,
            color=theme.blue,
            alpha=alpha,
            lw=0,
            label=name,
        )
    left.plot(*forest.vertices.T, color=theme.blue)
    left.legend(loc="upper left")
    left.set_title("forest, score ≥ 0.3: 95 % bands")
    for simultaneous, alpha in ((True, 0.18), (False, 0.32)):
        both = cc.compare(
            label,
            scores["forest"],
            scores["tree"],
            pos_label="bad",
            names=("forest", "tree"),
            simultaneous=simultaneous,
        )
        right.fill_between(
            both.pc, both.lower, both.upper, color=theme.orange, alpha=alpha, lw=0
        )
    right.plot(both.pc, both.estimate, color=theme.orange)
    right.axhline(0, color=theme.ink, lw=0.8)
    right.set(
        xlim=(0, 1),
        xlabel="probability-cost of the positives, pc",
        ylabel="cost of forest minus cost of tree",
    )
    right.set_title("forest - tree: zero outside means a difference")
    return figure


def what_a_band_means(theme: Any) -> Any:
    """Draw the bands of some test sets of one world, marking those that miss the true cost at one condition."""
    truth = cc.CostCurve(
        cc.RocCurve.from_rates(*true_rates(0.75)), policy=cc.thresholds.point()
    )
    figure, ax = plt.subplots(figsize=(7.2, 3.6))
    true_cost = truth.evaluate(0.5)
    for place in range(1, 61):
        y, score = draw_sample(59 + place)
        found = (
            cc.CostCurve.from_predictions(y, score, policy=0.75).band(level=0.9).at(0.5)
        )
        hit = true_cost in found
        colour = theme.blue if hit else theme.orange
        ax.plot(
            [place] * 2,
            [found.lower, found.upper],
            color=colour,
            lw=1.6 if hit else 2.6,
        )
        ax.plot(place, found.estimate, "o", color=colour, ms=3)
    ax.axhline(true_cost, color=theme.ink, lw=1)
    ax.annotate(
        f"true cost {true_cost:.3f}",
        (60.5, true_cost),
        (6, 0),
        textcoords="offset points",
        va="center",
        annotation_clip=False,
    )
    ax.set(xlim=(0, 61), xlabel="test set", ylabel="normalized cost at pc = 0.5")
    ax.spines["bottom"].set_visible(False)
    return figure


def stratified_or_full(theme: Any) -> Any:
    """Draw the half-widths of both samplings over pc."""
    curve = cc.CostCurve(
        cc.RocCurve.from_confusion_matrix([[80, 20], [30, 70]]),
        policy=cc.thresholds.point(),
    )
    pc = np.linspace(0.02, 0.98, 97)
    figure, ax = plt.subplots(figsize=(7.2, 3.6))
    for sampling, colour, style in (
        ("stratified", theme.blue, "-"),
        ("full", theme.orange, "--"),
    ):
        band = curve.band(sampling=sampling, method="gaussian", pc=pc)
        ax.plot(
            pc,
            (band.upper - band.lower) / 2,
            color=colour,
            ls=style,
            label=f"{sampling} sampling",
        )
    ax.set(
        xlim=(0, 1),
        ylim=(0, None),
        xlabel="probability-cost of the positives, pc",
        ylabel="half-width of the 95 % band",
    )
    ax.legend(loc="lower center")
    return figure


def optimism(theme: Any) -> Any:
    """Draw the cost with thresholds chosen on the test set, chosen elsewhere, and the best that is possible."""
    samples = [
        cc.RocCurve.from_predictions(*draw_sample(seed, 18, 42)) for seed in range(200)
    ]
    figure, ax = plt.subplots(figsize=(7.2, 4.0))
    cost_axes(ax, theme, 0.36)
    ax.plot(
        *cc.CostCurve(world()).vertices.T,
        color=theme.ink,
        label="the best possible, known only here",
    )
    flattering = cc.average_cost_curves(samples)
    ax.plot(
        *flattering.vertices.T,
        color=theme.orange,
        ls="--",
        label="thresholds from the same 60 examples",
    )
    pairs = zip(samples[::2], samples[1::2], strict=True)
    honest = cc.average_cost_curves(
        [
            cc.CostCurve(test, policy=cc.thresholds.validation(tuned))
            for test, tuned in pairs
        ]
    )
    ax.plot(
        *honest.vertices.T,
        color=theme.blue,
        lw=1.2,
        label="thresholds from another 60 examples",
    )
    ax.legend(loc="lower center")
    return figure


def rare_and_expensive(theme: Any) -> Any:
    """Draw the bootstrap distribution of the cost with and without the Laplace correction."""
    costs = [[0, 1, 20], [1, 0, 5], [50, 10, 0]]
    triage = [[176, 10, 1], [4, 30, 2], [0, 2, 15]]
    figure, ax = plt.subplots(figsize=(7.2, 3.6))
    for laplace, colour, style, height in (
        (0.0, theme.orange, "--", 0.4),
        (0.1, theme.blue, "-", 0.15),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cc.SmallSampleWarning)
            found = cc.bcost.from_confusion(
                triage, costs, method="exact", laplace=laplace
            )
        x = np.linspace(0, 1.0, 201)
        ax.plot(
            x,
            1 - found.distribution.cdf(x),
            color=colour,
            ls=style,
            label=f"{laplace:g} added to every cell",
        )
        ax.plot(found.upper, 0.025, "o", color=colour, ms=6)
        ax.annotate(
            f"upper limit {found.upper:.2f}",
            (found.upper, 0.025),
            (found.upper + 0.06, height),
            color=colour,
            arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.8},
        )
    ax.set(
        xlim=(0, 1.0),
        ylim=(0, 1.01),
        xlabel="cost per case, x",
        ylabel="chance of more than x",
    )
    ax.legend(loc="upper right")
    return figure


PICTURES = (
    pointwise_or_simultaneous,
    what_a_band_means,
    stratified_or_full,
    optimism,
    rare_and_expensive,
)
