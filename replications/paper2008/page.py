"""The page of 2008 and its figures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import costcurves as cc
from replications.drawing import look, panels
from replications.markdown import Outcomes, Page, image, rows_table, settings_text, table
from replications.paper2008 import validation
from replications.paper2008.binormal import LEVEL, grid, on_target
from replications.paper2008.difference import CORRELATIONS, EXAMPLES, LOCATIONS, SHIFTS
from replications.study import Part


def _coverage(part: Part, kind: str) -> cc.Coverage:
    """Restore a recorded coverage result."""
    method = "wilson" if kind.startswith("corrected") else "gaussian"
    sampling = "full" if "full" in kind else "stratified"
    n = part.get("n", EXAMPLES)
    return cc.Coverage(kind, grid(part["step"]), part[kind], LEVEL, method, sampling, n, n)


def _panel(ax: Any, found: dict[str, tuple[Part, str, str | None]], legend: str | bool) -> None:
    """Draw coverage against pc in one panel. Dots are the simulations."""
    drawn, looks = {}, {}
    for i, (name, (part, kind, simulated)) in enumerate(found.items()):
        drawn[name], looks[name] = _coverage(part, kind), look(i)
        if simulated is not None:
            drawn[dots := f"{name}, simulated"] = _coverage(part, simulated)
            looks[dots] = {"color": look(i)["color"], "linestyle": "none", "marker": ".", "markersize": 2, "alpha": 0.6}
    cc.CoverageDisplay(drawn).plot(ax=ax, legend=legend, curve_kwargs=looks)
    ax.set(ylim=(0, 1))


def _by_interval(parts: list[Part], names: list[str], kinds: Iterable[tuple[str, str, str | None]]) -> Any:
    """Draw coverage against pc, with one panel per interval and two in a row."""
    kinds = list(kinds)
    with panels(2, 3.4, 2.8, rows=len(kinds) // 2, sharey=True) as (figure, axes):
        for place, (ax, (kind, title, drawn)) in enumerate(zip(axes, kinds, strict=True)):
            found = {name: (part, kind, drawn) for name, part in zip(names, parts, strict=True)}
            _panel(ax, found, "lower center" if place == 0 else False)
            ax.set_title(title)
            if place % 2:
                ax.set_ylabel("")
    return figure


def first(outcomes: Outcomes) -> Any:
    """Draw figure 1: the cost of every threshold and the cost lines in two samples, one in each column."""
    world = cc.Binormal(shift=3, scale=3)
    with panels(2, 3.4, 2.7, rows=2, sharey="row") as (figure, axes):
        for column in range(2):
            upper, lower = axes[column], axes[2 + column]
            name = f"sample {column + 1}"
            sample = cc.CostCurve.from_predictions(*world.draw(60, 60, rng=column + 1), name=name)
            cc.ThresholdDisplay(sample).plot(ax=upper, condition=0.3, legend=False if column else "upper right")
            cc.CostCurveDisplay(sample).plot(ax=lower, condition=0.3, lines=True, legend=False)
            upper.set(title=f"{name}: the cost of every threshold at pc 0.3", xlim=(-12, 12))
            lower.set(title="the cost lines of all thresholds", ylim=(0, 0.5))
            if column:
                upper.set_ylabel("")
                lower.set_ylabel("")
    return figure


def validation_sets(outcomes: Outcomes) -> Any:
    """Draw the coverage at the best thresholds, at chosen ones, and within the range of the scores."""
    parts = outcomes["validation-2008"].parts
    words = {"best": "best thresholds", **{f"validation {n}": f"chosen on {n} + {n}" for n in validation.SIZES}}
    with panels(len(parts), 3.4, 2.8, sharey=True) as (figure, axes):
        for ax, part in zip(axes, parts, strict=True):
            sized = part | {"n": validation.EXAMPLES}
            found = {told: _coverage(sized, kind) for kind, told in words.items()}
            n = validation.EXAMPLES
            kept = part["within_pc"], part["within"]
            found["within the scores"] = cc.Coverage("within", *kept, LEVEL, "gaussian", "stratified", n, n)
            cc.CoverageDisplay(found).plot(ax=ax, legend="lower center" if ax is axes[0] else False)
            ax.set(title=f"μ = {part['mu']:g}", ylim=(0, 1))
    return figure


def spread(outcomes: Outcomes) -> Any:
    """Draw figures 2 and 5."""
    parts = outcomes["spread-2008"].parts
    return _by_interval(
        parts,
        [f"μ = {part['mu']:g}" for part in parts],
        [
            ("stratified", "figure 2: stratified", "simulated"),
            ("full_sets", "figure 5: full, random class sizes", None),
            ("full", "figure 5: full, fixed class sizes", "simulated_full"),
            ("corrected", "corrected interval", None),
        ],
    )


def size(outcomes: Outcomes) -> Any:
    """Draw figure 3."""
    parts = outcomes["size-2008"].parts
    return _by_interval(
        parts,
        [f"{part['n']:,} per class" for part in parts],
        [("stratified", "figure 3: stratified", "simulated"), ("corrected", "corrected interval", None)],
    )


def _differences(outcomes: Outcomes, kind: str, drawn: str | None, study: str = "difference-2008") -> Any:
    parts = outcomes[study].parts
    with panels(len(CORRELATIONS), 3.0, 2.5, rows=len(LOCATIONS), sharex=True, sharey=True) as (figure, axes):
        places = [(mu, rho) for mu in LOCATIONS for rho in CORRELATIONS]
        for ax, (mu, rho) in zip(axes, places, strict=True):
            found = {(p["mu"], p["rho"], p["shift"]): p for p in parts}
            shown = {f"shift {shift:g}": (found[mu, rho, shift], kind, drawn) for shift in SHIFTS}
            _panel(ax, shown, "lower center" if ax is axes[0] else False)
            ax.set(title=f"μ = {mu:g}, correlation {rho:g}", ylabel="chance to hold the difference")
        for i, ax in enumerate(axes):
            if i < len(axes) - len(CORRELATIONS):
                ax.set_xlabel("")
            if i % len(CORRELATIONS):
                ax.set_ylabel("")
    return figure


def difference(outcomes: Outcomes) -> Any:
    """Draw figure 4."""
    return _differences(outcomes, "stratified", "simulated_stratified")


def difference_full(outcomes: Outcomes) -> Any:
    """Draw figure 6, with random class sizes."""
    return _differences(outcomes, "full", None, "figure6-2008")


def difference_corrected(outcomes: Outcomes) -> Any:
    """Draw figure 4 with the corrected interval."""
    return _differences(outcomes, "corrected", None)


def _lowest(parts: list[Part], name: str) -> str:
    lines = []
    for part in parts:
        kinds = ("stratified", "full_sets", "full", "corrected", "corrected_full")
        found = [f"{min(part[kind]):.3f} ({100 * on_target(part[kind]):.0f} %)" for kind in kinds]
        lines.append((f"{part[name]:g}", *found))
    head = (
        "paper, stratified",
        "paper, full (random class sizes)",
        "paper, full (fixed)",
        "corrected, stratified",
        "corrected, full (random)",
    )
    return table(("μ" if name == "mu" else "examples per class", *head), lines)


def text(outcomes: Outcomes) -> str:
    """Write the text of the page."""
    first, second = (outcomes[name] for name in ("spread-2008", "size-2008"))
    third, sixth = (outcomes[name] for name in ("difference-2008", "figure6-2008"))
    last = outcomes["validation-2008"]
    return f"""
C. Dugas and D. Gadoury, *Pointwise exact bootstrap distributions of cost curves*, ICML 2008.

Scores are N(μ, 3²) for positives and N(-μ, 3²) for negatives, thresholds are the theoretically optimal ones, and intervals
have a level of 90 %. The coverage of an interval at fixed thresholds needs no simulation: misses and false alarms are
binomial, so the probabilities of all counts whose interval contains the true cost are **summed** (lines). The dots are the
paper's **1,000 simulations** of scores, evaluated with `CostCurve.band` and `compare`; they agree with the sums. "Corrected"
is the default interval of this package (combined Wilson limits of the two rates; mid-P limits for differences), which was
designed to remain valid where there are few errors.

Figure 1 illustrates how a cost curve arises: at each condition the cheapest threshold is taken, and another sample has
another one. The text that we have does not include the picture. It says that the figure has a column for each of two
samples, whose optimal thresholds differ, and that costs fall to zero at both ends of the axis. This is a picture of the same
process (`ThresholdDisplay`, `CostCurveDisplay`):

{image("2008-figure1.png", "The cost of every threshold at pc 0.3, and the cost lines of all thresholds, in two samples")}

Costs of full samples are divided by the largest cost of a case, c_max, in the paper. `Band.per_largest_cost` gives the
limits in this unit. The coverage does not depend on the unit.

"On target" means within two percentage points of 90 %. The grid is pc = 0.01, ..., 0.99. The paper's statements about its
figures have no numbers, and are judged as follows. An order ("better for high μ") replicates if it holds for every pair of
neighbours, and in direction if it holds for the ends. The coverage breaks if it falls below 80 % for pc below 0.25 or above
0.75. Shares are equally good up to 5 points apart, an effect of up to 10 points is very little, and less than 20 % is very
narrow. Breaks are smoothed if the largest jump is halved (in direction: smaller), and avoided if the coverage is 88 % or
more (in direction: 10 points higher). A median is centred within three standard errors (in direction: within a quarter of
the distance of the quartiles).

## Spread: figures 2 and 5

{settings_text(first)} The text mentions μ = 0.75, 3 and 5; we added μ = 1 and 2.

{image("2008-spread.png", "Coverage against pc for several locations")}

{rows_table(first.rows)}

The lowest coverage over pc, and the share of pc on target:

{_lowest(first.parts, "mu")}

The paper does not say how test sets were drawn for full sampling. Both interpretations are shown: 2,000 examples whose class
is random, which is what the full interval assumes, or 1,000 examples of each class as in figure 2. Only the first gives what
the paper reports for figure 5, so we assume that its test sets were drawn in this way.

## Size: figure 3

{settings_text(second)}

{image("2008-size.png", "Coverage against pc for several sizes")}

{rows_table(second.rows)}

The lowest coverage over pc, and the share of pc on target:

{_lowest(second.parts, "n")}

## Difference: figures 4 and 6

{settings_text(third)} The two classifiers have correlated scores, and the positives of the second are shifted by
`shift`. The four counts of discordant examples have too many values to sum over, so {third.settings["draws"]:,} sets of counts are drawn
at each point (lines). Dots are the paper's simulation.

{image("2008-difference.png", "Figure 4: stratified")}

Figure 6 with test sets of random class sizes, as for figure 5 ({settings_text(sixth)[:-1]}):

{image("2008-difference-full.png", "Figure 6: full sampling")}

The corrected interval (mid-P, stratified) instead of the paper's:

{image("2008-difference-corrected.png", "Figure 4 with the corrected interval")}

{rows_table([*third.rows, *sixth.rows])}

## Sections 6 and 7: validation sets and observed scores

{settings_text(last)} Thresholds are chosen as the cheapest ones on drawn validation sets, and the cost at the
chosen thresholds is to be covered (`coverage` with `validation`). "Within the scores" leaves out test sets whose scores all lie
on one side of the best threshold (`within_scores`).

{image("2008-validation.png", "Coverage at the best thresholds, at those of validation sets, and within the scores")}

{rows_table(last.rows)}

A finite validation set does smooth the breaks, because thresholds vary and the extreme ones become less extreme. A limit to
thresholds within the range of the scores removes the deepest breaks where classes overlap much (μ = 0.75), because test sets
without a score beyond the threshold are left out. It changes nothing for μ = 3, where scores lie on both sides but the
errors of one class may be missing. `CostCurve.threshold_set` says how uncertain a chosen threshold is.

## The breaks

The paper explains the breaks by thresholds outside the range of the observed scores. That is one case of the cause that
we find: near pc = 0 and 1 few errors of one kind are expected, and if the test set contains none, the Gaussian interval is
too narrow or has no width, even if scores lie on both sides of the threshold. The corrected intervals allow for errors that were not observed, so they
are wide there instead of wrong; at the very ends they nearly always contain the true cost.
"""


PAGE = Page(
    "2008",
    "Dugas & Gadoury 2008: exact bootstrap of cost curves",
    ("spread-2008", "size-2008", "difference-2008", "figure6-2008", "validation-2008"),
    text,
    {
        "2008-figure1.png": first,
        "2008-validation.png": validation_sets,
        "2008-spread.png": spread,
        "2008-size.png": size,
        "2008-difference.png": difference,
        "2008-difference-full.png": difference_full,
        "2008-difference-corrected.png": difference_corrected,
    },
)
