"""The page of 1997 and its six figures."""

from __future__ import annotations

from typing import Any

import costcurves as cc
from replications.drawing import panels
from replications.markdown import Outcomes, Page, image, rows_table, settings_text, table
from replications.paper1997.scenarios import (
    EXAMPLE_A,
    EXAMPLE_B,
    NEARLY,
    POINTS,
    SCENARIO_A,
    SCENARIO_B,
    curves,
    nearly_optimal,
)

C_LOOK = {"color": "#009E73", "linestyle": (0, (1.2, 1))}


def _figure(drawn: cc.RocHull, **options: Any) -> Any:
    return cc.RocHullDisplay(drawn).plot(**options).figure_


def figure1(outcomes: Outcomes) -> Any:
    """Draw the four curves."""
    return _figure(cc.RocHull(curves("ABCD")), hull=False, shade=False)


def figure2(outcomes: Outcomes) -> Any:
    """Draw the curves with their hull."""
    return _figure(cc.RocHull(curves("ABCD")))


def figure3(outcomes: Outcomes) -> Any:
    """Draw the hull with the lines of scenarios A and B."""
    with panels(1, 3.6, 3.8) as (figure, (ax,)):
        cc.RocHullDisplay(cc.RocHull(curves("ABCD"))).plot(
            ax=ax, condition=[SCENARIO_A, SCENARIO_B], legend="lower right"
        )
        ax.set_title("slope 10: scenario A; slope 0.1: scenario B", pad=14)
    return figure


def figure4(outcomes: Outcomes) -> Any:
    """Draw the hull with E, F and G."""
    return _figure(cc.RocHull(curves("ABCDEFG")))


def figure5(outcomes: Outcomes) -> Any:
    """Draw the hull of A and the other C."""
    # C looks the same as in the other figures.
    return _figure(nearly_optimal(), curve_kwargs={"C": C_LOOK})


def figure5_losses(outcomes: Outcomes) -> Any:
    """Draw what A and the other C lose against the best choice."""
    return cc.RegretDisplay(nearly_optimal()).plot(curve_kwargs={"C": C_LOOK}).figure_


def figure6(outcomes: Outcomes) -> Any:
    """Draw the three sensitivity examples side by side."""
    hull = cc.RocHull(curves("ABCDEFG"))
    examples: dict[str, dict[str, Any]] = {
        "(a) low sensitivity": {"condition": EXAMPLE_A},
        "(b) high sensitivity": {"condition": EXAMPLE_B},
        "(c) when doing nothing is best": {"null_strategy": True},
    }
    with panels(3, 3.8, 3.9) as (figure, axes):
        for ax, (title, options) in zip(axes, examples.items(), strict=True):
            cc.RocHullDisplay(hull).plot(ax=ax, names=list("ACE"), legend="lower right", **options)
            ax.set_title(title)
    return figure


def text(outcomes: Outcomes) -> str:
    """Write the text of the page."""
    outcome = outcomes["scenarios-1997"]
    points = [(name, " ".join(f"({x:g}, {y:g})" for x, y in line)) for name, line in POINTS.items()]
    points.append(("C of figure 5", " ".join(f"({x:g}, {y:g})" for x, y in NEARLY)))
    pictures = [image(f"1997-figure{i}.png", f"Figure {i} of 1997 on constructed classifiers") for i in range(1, 7)]
    return f"""
F. Provost and T. Fawcett, *Analysis and visualization of classifier performance with nonuniform class and cost
distributions*, AAAI-97 workshop on AI approaches to fraud detection and risk management. This is the text that the
statements below follow; the paper of the same authors at KDD 1997 (*... comparison under imprecise class and cost
distributions*) has the same method and other wording.

The paper's figures print no coordinates. The classifiers here are **constructed**: their points (fpr, tpr) were chosen so
that A to G behave as the text describes (A dominates D; B and D are never optimal; E extends the hull, but F and G do not;
C of figure 5 is nearly optimal). **Nothing on this page is independent evidence**: that the functions of this package reach
the paper's conclusions from points with the described behaviour is consistent by construction. The slopes of figures 3 and
6a are arithmetic of the paper's printed prevalence and costs. For figure 6b the paper prints slopes only, and the costs
that give them are ours.

The search for classifiers that extend the hull, which the paper names as future work, has no numbers and no row here
(`RocHull.gain`, `Predictions.select`).

{table(("classifier", "points (fpr, tpr), besides (0, 0) and (1, 1)"), points)}

## Numbers and statements

{settings_text(outcome)}

{rows_table(outcome.rows)}

## Figures

The curves of figure 1 and their convex hull (figure 2). Points in the shaded area cannot be reached, and only A and C can
be optimal.

{pictures[0]} {pictures[1]}

The lines of scenario A (slope 10) and scenario B (slope 1/10) touch the hull at A and at C (figure 3). If E, F and G are
added, only E extends the hull (figure 4).

{pictures[2]} {pictures[3]}

C of figure 5 is optimal only in part of the range, and loses at most
{outcome.parts[0]["near"]:.4f} of normalized expected cost elsewhere; in figure 3 the best single classifier loses up to
{outcome.parts[0]["far"]:.4f}.

{pictures[4]} {image("1997-figure5-losses.png", "What A and C of figure 5 cost more than the best choice")}

Sensitivity (figure 6): (a) for slopes from 1/20 to 1/5, C is best whatever the costs are; (b) from 1/5 to 2, the best
classifier is A, C or E; (c) doing nothing is best only for slopes above {outcome.parts[0]["null_from"]:.4g}.

{pictures[5]}
"""


PAGE = Page(
    "1997",
    "Provost & Fawcett 1997: the ROC convex hull",
    ("scenarios-1997",),
    text,
    {
        "1997-figure1.png": figure1,
        "1997-figure2.png": figure2,
        "1997-figure3.png": figure3,
        "1997-figure4.png": figure4,
        "1997-figure5.png": figure5,
        "1997-figure5-losses.png": figure5_losses,
        "1997-figure6.png": figure6,
    },
)
