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
# Bars have six colours, so the seventh classifier shares that of IB3, which is never in the same picture.
ORDER = ("IB3", "NB", "Bagged-MC4", "IB5", "random forest", "logistic regression", "gradient boosting", "MC4", "IB1")


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
    kinds = {
        "the paper": [PRINTED[part["domain"]] for part in parts],
        "ours, the same six": [part["groups"]["paper"]["ranges"] for part in parts],
        "ours, with three present-day ones": [part["groups"]["all"]["ranges"] for part in parts],
    }
    with panels(3, 3.0, 4.2, sharey=True) as (figure, axes):
        for ax, (title, tables) in zip(axes, kinds.items(), strict=True):
            rows = {DOMAINS[part["domain"]]: _over_pc(table) for part, table in zip(parts, tables, strict=True)}
            cc.DominanceDisplay(rows, classifiers=ORDER).plot(ax=ax, secondary_axis=None)
            ax.set_title(title)
    return figure


def _over_pc(table: list[Stretch]) -> list[tuple[str, float, float]]:
    """List who is best from which pc to which, from a table of slopes."""
    return [(name, 0.0 if high is None else 1 / (1 + high), 1 / (1 + low)) for name, low, high in table]
