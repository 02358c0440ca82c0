"""The page of 2005 and its figures."""

from __future__ import annotations

from typing import Any

import numpy as np

import costcurves as cc
from replications.drawing import look, panels
from replications.markdown import Outcomes, Page, image, rows_table, settings_text, table
from replications.paper2005 import credit, intervals, sonar
from replications.paper2005.curves import CROSSING, crossing_curves, fold_curves, roc_averages
from replications.study import Outcome, Part


def _first(outcomes: Outcomes) -> Part:
    return outcomes["sonar-2005"].parts[0]


def _sonar_curve(outcomes: Outcomes, name: str) -> cc.RocCurve:
    found = _first(outcomes)
    return cc.RocCurve.from_predictions(found["y"], found["scores"][name], name=name)


def figure1(outcomes: Outcomes) -> Any:
    """Draw figures 1 and 2: two classifiers as points and as lines."""
    two = credit.curves(outcomes["credit-2005"].parts[0])
    lines = [cc.CostCurve(one, policy=cc.thresholds.point(1)) for one in two]
    looks = [{**look(1), "marker": "s"}, {**look(0), "marker": "o"}]
    with panels(2, 3.5, 3.6) as (figure, (left, right)):
        cc.RocHullDisplay(cc.RocHull(two)).plot(
            ax=left, hull=False, shade=False, legend="lower right", curve_kwargs=looks
        )
        cc.CostCurveDisplay(lines).plot(ax=right, legend="upper left", curve_kwargs=[look(1), look(0)])
        left.set_title("figure 1: two ROC points")
        right.set(title="figure 2: their cost lines", ylim=(0, 0.5))
    return figure


def figure3(outcomes: Outcomes) -> Any:
    """Draw figures 3 and 4: the points and lines of C4.5 on sonar."""
    roc = _sonar_curve(outcomes, "C4.5")
    with panels(2, 3.5, 3.6) as (figure, (left, right)):
        cc.RocHullDisplay(roc).plot(ax=left, hull=False, shade=False, points=True, legend=False)
        cc.CostCurveDisplay(cc.CostCurve(roc)).plot(ax=right, lines=True, operating_range=True, legend=False)
        left.set_title("figure 3: ROC points of C4.5, sonar")
        right.set_title("figure 4: their cost lines")
        right.set_ylim(top=0.6)
    return figure


def figure5(outcomes: Outcomes) -> Any:
    """Draw figures 5 and 6: two curves that cross."""
    two = crossing_curves()
    looks = [{"color": look(0)["color"], "linestyle": ":"}, {"color": look(1)["color"], "linestyle": "--"}]
    with panels(2, 3.5, 3.6) as (figure, (left, right)):
        cc.RocHullDisplay(cc.RocHull(two)).plot(
            ax=left, hull=False, shade=False, crossings=True, legend="lower right", curve_kwargs=looks
        )
        cc.CostCurveDisplay([cc.CostCurve(one) for one in two]).plot(
            ax=right, crossings=True, legend="upper left", curve_kwargs=looks
        )
        left.set_title("figure 5: where equal performance touches")
        right.set(title="figure 6: the same in cost space", ylim=(0, 0.5))
    return figure


def figure7(outcomes: Outcomes) -> Any:
    """Draw figures 7 and 8: four splitting criteria, in one cross-validation and on average."""
    found = outcomes["sonar-2005"].parts
    curves = [_sonar_curve(outcomes, name) for name in sonar.CRITERIA]
    with panels(3, 3.4, 3.6) as (figure, (left, middle, right)):
        looks = [look(i) for i in range(len(curves))]
        cc.RocHullDisplay(cc.RocHull(curves)).plot(
            ax=left, hull=False, shade=False, legend="lower right", curve_kwargs=looks
        )
        cc.CostCurveDisplay([cc.CostCurve(one) for one in curves]).plot(ax=middle, legend=False, curve_kwargs=looks)
        means = [sonar.mean_curve(found, name) for name in sonar.CRITERIA]
        cc.CostCurveDisplay(means).plot(ax=right, legend="lower center", curve_kwargs=looks)
        count = outcomes["sonar-2005"].settings["cross-validations"]
        left.set_title("figure 7: one cross-validation")
        middle.set(title="figure 8: the same", ylim=(0, 0.4))
        right.set(title=f"mean of {count} cross-validations", ylim=(0, 0.4), ylabel="")
    return figure


def figure9(outcomes: Outcomes) -> Any:
    """Draw figures 9 and 10: averages in ROC space and in cost space."""
    two = fold_curves()
    curves = [cc.CostCurve(one) for one in two]
    averages = roc_averages()
    with panels(2, 3.5, 3.6) as (figure, (left, right)):
        cc.AveragedRocDisplay(averages, folds={one.name: two for one in averages}).plot(
            ax=left, with_folds=True, condition=outcomes["curves-2005"].parts[1]["pc"], legend="lower right"
        )
        average = cc.average_cost_curves(curves, name="average performance")
        shown: list[cc.CostCurve] = [*curves, average]
        solid = {"color": "black", "linestyle": "-", "linewidth": 1.1}
        dotted = {"color": look(1)["color"], "linestyle": (0, (2, 1)), "linewidth": 2}
        cc.CostCurveDisplay(shown).plot(ax=right, legend="lower center", curve_kwargs=[solid, solid, dotted])
        left.set_title("figure 9: averages of ROC curves")
        right.set(title="figure 10: the average of cost curves", ylim=(0, 0.5))
    return figure


def figure12(outcomes: Outcomes) -> Any:
    """Draw figure 12: a hundred resampled lines and the limits, and the limits without simulation."""
    curve = intervals.curve_of_figure_11()
    methods: dict[str, Any] = {"infinitely many": "exact", "corrected": "wilson"}
    bands = {name: curve.band(level=intervals.LEVEL, method=method) for name, method in methods.items()}
    with panels(2, 3.5, 3.4, sharey=True) as (figure, (left, right)):
        band = curve.band(level=intervals.LEVEL, method="resample", n_resamples=intervals.DRAWN)
        cc.CostCurveDisplay(curve, bands=band).plot(ax=left, n_resamples=intervals.DRAWN, trivial=False, legend=False)
        cc.CostCurveDisplay(dict.fromkeys(methods, curve), bands=bands).plot(
            ax=right, trivial=False, legend="upper right"
        )
        left.set_title("figure 12: 100 matrices, 90 % limits")
        right.set(title="the limits without simulation", ylim=(0, 0.8), ylabel="")
    return figure


def figure13(outcomes: Outcomes) -> Any:
    """Draw figures 13 to 15: three differences."""
    table_of = np.array(intervals.joint("high"))
    rocs = [
        cc.RocCurve.from_confusion_matrix(table_of.sum(axis=2 - i), name=name)
        for i, name in enumerate(("first", "second"))
    ]
    curves = [cc.CostCurve(one, policy=cc.thresholds.point(1)) for one in rocs]
    with panels(3, 3.4, 3.4) as (figure, axes):
        for ax, (kind, number) in zip(axes, intervals.FIGURES.items(), strict=True):
            difference = intervals.compared(kind, "exact")
            cc.CostDifferenceDisplay(difference, curves=curves).plot(
                ax=ax, with_curves=True, y_limits=(-0.1, 0.4), legend="upper right" if ax is axes[0] else False
            )
            ax.set_title(f"figure {number}: {kind} correlation")
            if ax is not axes[0]:
                ax.set_ylabel("")
    return figure


def _table_of(outcome: Outcome, *figures: int) -> str:
    """The rows of some figures."""
    items = {f"Figure {number}" for number in figures}
    return rows_table(row for row in outcome.rows if row.item in items)


def text(outcomes: Outcomes) -> str:
    """Write the text of the page."""
    points = [(name, " ".join(f"({x:g}, {y:g})" for x, y in line)) for name, line in CROSSING.items()]
    overlap = []
    for kind, number in intervals.FIGURES.items():
        both = intervals.BOTH[kind]
        values = [intervals.correlation(*intervals.WRONG[side], both[side]) for side in intervals.WRONG]
        overlap.append(
            (f"{number}: {kind}", *(str(both[side]) for side in intervals.WRONG), *(f"{v:.2f}" for v in values))
        )
    one, two, three, four = (outcomes[name] for name in PAGE.studies)
    wrong = intervals.WRONG
    seen = [found for part in two.parts if part["form"] == "pruned" for found in part["seen"]]
    ends = sum(found["ranges"]["C4.5"][0] == 0 or found["ranges"]["C4.5"][1] == 1 for found in seen)
    return f"""
R. C. Holte and C. Drummond, *Cost-sensitive classifier evaluation*, Workshop on Utility-Based Data Mining, 2005.

The paper shows pictures and prints few numbers. Every statement that can be checked is a row below. There are three kinds of
figures:

- **Real data** (1-4, 7, 8): credit applications (`crx`; the paper refers to the Japanese credit data of UCI, which we take to
  be these) and `sonar`. We implemented the learners ourselves: the tree of C4.5 (gain ratio, confidence factor 0.25, two
  examples per leaf, Laplace estimates) and Holte's 1R. The paper does not say how its points were measured. Ours come from the
  pooled scores of ten stratified folds. The rarer class is positive; if the classes are exchanged, pc becomes 1 - pc.
- **Printed numbers** (9-12): two points and a confusion matrix, which are used as printed.
- **Constructed** (5, 6, 13-15): the paper prints no numbers, so ours were chosen to behave as the text describes.

What follows from printed or constructed numbers, or is an identity, is called **consistent by construction**: the functions
of this package agree with the text, which is no independent evidence. Only the rows on real data can
replicate.

## Points and lines: figures 1 and 2

{settings_text(one)}

{image("2005-figure1.png", "Two classifiers as points and as lines")}

{rows_table(one.rows)}

## One classifier: figures 3 and 4

{settings_text(two)} The figures show the first cross-validation.

{image("2005-figure3.png", "ROC points and cost lines of a tree on sonar")}

{_table_of(two, 3, 4)}

The bar below figure 4 is the operating range, which is that of the lower envelope. In {ends} of {len(seen)} cross-validations it reaches an end of the axis, because some
threshold finds a few cases of one class without an error in the other. The saving from this is small.

## Four splitting criteria: figures 7 and 8

All four choose splits by the gain in their own impurity measure (not the gain ratio), and are pruned in the same way.

{image("2005-figure7.png", "Four splitting criteria in ROC space and in cost space")}

{_table_of(two, 7, 8)}

Accuracy often rates several splits equally. We use the first of them, as C4.5 does. "Other ties" are the same trees with the
columns in reverse order and all signs changed, which affects only that choice. Only ACC depends strongly on it, enough to
change places with GINI.

With 208 examples, one cross-validation does not separate the criteria at 90 % for all pairs and conditions jointly. The
paper's figure, like our first two panels, is a single draw. On average over cross-validations, DKM and ENT do cost less than
GINI and ACC, but DKM does not dominate ENT, and GINI does not dominate ACC. All cross-validations use the same 208 examples.
Their mean describes this data set, and their standard error does not apply to other samples.

## Crossing curves: figures 5 and 6

The points are **constructed**:

{table(("curve", "points (fpr, tpr), besides (0, 0) and (1, 1)"), points)}

{image("2005-figure5.png", "Two curves that cross, in both spaces")}

{_table_of(three, 5, 6)}

## Averages: figures 9 and 10

The points (0.04, 0.4) and (0.3, 0.8) are the paper's.

{image("2005-figure9.png", "Averages of ROC curves and of cost curves")}

{_table_of(three, 9, 10)}

## A band: figures 11 and 12

{settings_text(four)}

The matrix is the paper's: 16 of 20 positives and 6 of 10 negatives are classified correctly.

{image("2005-figure12.png", "A hundred resampled cost lines with limits, and the limits computed exactly")}

{_table_of(four, 11, 12)}

## Differences: figures 13 to 15

**Constructed**: the first classifier is wrong on {wrong["positives"][0]} of {intervals.SIZE} positives and {wrong["negatives"][0]} of {intervals.SIZE} negatives, the second on
{wrong["positives"][1]} and {wrong["negatives"][1]}, in all three figures. The figures differ in the number of examples on which both are wrong.

{table(("figure", "both wrong, positives", "negatives", "correlation of errors, positives", "negatives"), overlap)}

{image("2005-figure13.png", "Three differences of the same two classifiers")}

{_table_of(four, 13, 14, 15)}

The limits of the paper hold at one pc at a time. A statement about a range, such as "significant only if pc > 0.7", is about
many values of pc at once. Limits that hold for all of them are wider, and with these figure 15 shows no significant difference.
"""


PAGE = Page(
    "2005",
    "Holte & Drummond 2005: cost curves",
    ("credit-2005", "sonar-2005", "curves-2005", "intervals-2005"),
    text,
    {
        "2005-figure1.png": figure1,
        "2005-figure3.png": figure3,
        "2005-figure5.png": figure5,
        "2005-figure7.png": figure7,
        "2005-figure9.png": figure9,
        "2005-figure12.png": figure12,
        "2005-figure13.png": figure13,
    },
)
