"""The figures of the page of 1998."""

from __future__ import annotations

from typing import Any

import numpy as np

import costcurves as cc
from replications.drawing import COLOURS, DASHES, panels
from replications.markdown import Outcomes
from replications.paper1998 import raw
from replications.paper1998.analysis import LEVEL, POINTS, Stretch
from replications.paper1998.folds import DOMAINS, FOLDS
from replications.paper1998.members import PAPER, TODAY
from replications.paper1998.table1 import PRINTED
from replications.study import Part

COLOUR = dict(zip((*PAPER, *TODAY), COLOURS, strict=True))
# Bars narrower than this per letter have no name in them.
NARROW = 0.026
SHORT = {
    "Bagged-MC4": "bagged",
    "random forest": "forest",
    "gradient boosting": "boosting",
    "logistic regression": "logistic",
}


def averaged(part: Part, name: str) -> cc.AveragedRoc:
    """Restore a recorded average."""
    fpr = np.linspace(0, 1, POINTS)
    tpr, lower, upper = (np.array(part[kind][name]) for kind in ("curves", "lower", "upper"))
    return cc.AveragedRoc(name, fpr, tpr, lower, upper, LEVEL, FOLDS)


def _curves(outcomes: Outcomes, names: tuple[str, ...]) -> Any:
    looks = {name: {"color": COLOUR[name], "linestyle": DASHES[i % 4]} for i, name in enumerate(names)}
    parts = outcomes["domains-1998"].parts
    with panels(3, 2.9, 2.75, rows=3, sharex=True, sharey=True) as (figure, axes):
        for i, (ax, part) in enumerate(zip(axes, parts, strict=False)):
            shown = cc.AveragedRocDisplay([averaged(part, name) for name in names])
            shown.plot(ax=ax, legend="lower right" if i == 0 else False, curve_kwargs=looks)
            ax.set_title(DOMAINS[part["domain"]])
            ax.set_xlabel("false positive rate" if i >= 6 else "")
            ax.set_ylabel("true positive rate" if i % 3 == 0 else "")
    return figure


def raw_curves(outcomes: Outcomes) -> Any:
    """Draw figure 1: raw curves where naive Bayes comes nearest to dominating, and in the largest other domain."""
    parts = outcomes["raw-1998"].parts
    first = min(parts, key=lambda part: raw.behind(part, "NB"))
    second = max((part for part in parts if part is not first), key=lambda part: part["tests"])
    looks = {name: {"color": COLOUR[name], "linestyle": DASHES[i % 4]} for i, name in enumerate(PAPER)}
    fpr = np.linspace(0, 1, raw.GRID)
    with panels(2, 3.5, 3.6) as (figure, axes):
        for ax, part in zip(axes, (first, second), strict=True):
            curves = [
                cc.RocCurve.from_rates(fpr, np.array(tpr), thresholds=np.linspace(1, 0, raw.GRID), name=name)
                for name, tpr in part["curves"].items()
            ]
            shown = cc.RocHullDisplay(cc.RocHull(curves))
            shown.plot(ax=ax, hull=False, shade=False, legend="lower right", curve_kwargs=looks)
            ax.set_title(f"{DOMAINS[part['domain']]}, {part['tests']:,} test examples")
    return figure


def study(outcomes: Outcomes) -> Any:
    """Draw figures 2 and 3."""
    return _curves(outcomes, PAPER)


def today(outcomes: Outcomes) -> Any:
    """Draw the present-day learners together with the two of the paper that are best most often."""
    return _curves(outcomes, (*TODAY, "NB", "Bagged-MC4"))


def table1(outcomes: Outcomes) -> Any:
    """Draw who is best where: the paper's table, ours, and ours with the present-day learners."""
    parts = outcomes["domains-1998"].parts
    with panels(3, 3.0, 3.6, sharey=True) as (figure, axes):
        kinds = ("the paper", "ours, the same six", "ours, with three present-day ones")
        for column, (ax, title) in enumerate(zip(axes, kinds, strict=True)):
            for row, part in enumerate(parts):
                groups = part["groups"]
                tables = (PRINTED[part["domain"]], groups["paper"]["ranges"], groups["all"]["ranges"])
                for name, start, width in _bars(tables[column]):
                    ax.barh(row, width, left=start, height=0.72, color=COLOUR[name], edgecolor="white", linewidth=0.6)
                    label = SHORT.get(name, name)
                    if width >= NARROW * len(label):
                        style = {"color": _ink(COLOUR[name]), "fontsize": 6.2, "ha": "center", "va": "center"}
                        ax.text(start + width / 2, row, label, **style)
            ax.set(title=title, xlim=(0, 1), xlabel="pc")
            ax.set_yticks(range(len(parts)), [DOMAINS[part["domain"]] for part in parts])
            ax.tick_params(axis="y", length=0)
        axes[0].invert_yaxis()
        handles = [axes[0].barh(0, 0, color=COLOUR[name], label=name) for name in COLOUR]
        figure.legend(handles=handles, loc="outside lower center", ncols=5)
    return figure


def _bars(table: list[Stretch]) -> list[tuple[str, float, float]]:
    """List who is best, from which pc, and over how much of pc."""
    found = []
    for name, low, high in table:
        start = 0.0 if high is None else 1 / (1 + high)
        found.append((name, start, 1 / (1 + low) - start))
    return found


def _ink(colour: str) -> str:
    """Return black or white, whichever is more legible on a colour."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 120 else "white"
