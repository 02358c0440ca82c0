"""The pictures of one pair, one classifier and single measures in a two-class report."""

from __future__ import annotations

import functools
from typing import Any

import altair as alt

from costcurves.report.charts import (
    ACCENT,
    CUT_TIP,
    INK,
    QUIET,
    SHOWN,
    Spec,
    bound,
    colours,
    condition,
    dashes,
    finished,
    on,
    one_row,
    pc_axis,
    pc_rule,
)


@functools.cache
def difference(names: int) -> Spec:
    """Draw the difference of the pair selected on the page, with its simultaneous band."""
    mine = "datum.q == toNumber(pair)"
    x = alt.X("pc:Q", title="probability-cost pc", scale=alt.Scale(domain=[0, 1], nice=False), axis=pc_axis())
    y = alt.Y("d:Q", title="cost of the first − second", axis=alt.Axis(tickCount=6, format=".3~f"))
    base = on("differences")  # those of this pair alone, which the page puts there
    layers = [
        on("verdicts")
        .transform_filter(mine)
        .mark_rect(opacity=0.14)
        .encode(x="a:Q", x2="b:Q", color=alt.Color("k:N", scale=colours(names), legend=None)),
        alt.Chart(alt.InlineData(values=[{"d": 0}])).mark_rule(color=INK, strokeWidth=1).encode(y=y),
        base.mark_area(color=QUIET, opacity=0.25).encode(x=x, y=alt.Y("lo:Q"), y2="hi:Q"),
        base.mark_line(color=INK, strokeWidth=2).encode(
            x=x,
            y=y,
            tooltip=[
                alt.Tooltip("pc:Q", title="pc", format=".2f"),
                alt.Tooltip("d:Q", title="difference", format=".4f"),
                alt.Tooltip("lo:Q", title="from", format=".4f"),
                alt.Tooltip("hi:Q", title="to", format=".4f"),
            ],
        ),
        pc_rule(),
        _note("second is cheaper", "14"),
        _note("first is cheaper", "height - 12"),
    ]
    chart = alt.layer(*layers).properties(name="difference", width=760, height=280)
    return finished(
        chart.add_params(*condition(), bound("pair", "change", "0")),
        ("differences", "verdicts"),
        "Difference in cost of two classifiers with limits that hold everywhere together",
    )


@functools.cache
def explorer(names: int, currency: str) -> Spec:
    """Draw the cost at every threshold of the classifier selected on the page, and the explored threshold.

    The thresholds that are not shown to cost more are known at the conditions of the scenarios, and shaded there.
    """
    base = (
        on("points")
        .transform_filter("datum.k == toNumber(model) && isValid(datum.t)")
        .transform_calculate(cost="stake * (pc * (1 - datum.y) + (1 - pc) * datum.x)")
        .transform_joinaggregate(least="min(cost)", first="min(i)", last="max(i)")
    )
    looked_at = (
        base.transform_calculate(wanted="round(datum.first + toNumber(cut) * (datum.last - datum.first))")
        .transform_filter("cut == '' ? datum.cost == datum.least : datum.i == datum.wanted")
        .transform_joinaggregate(leading="min(i)")
        .transform_filter("datum.i == datum.leading")
        .transform_calculate(
            p="p",
            share="(datum.i - datum.first) / max(datum.last - datum.first, 1)",
        )
    )
    x = alt.X(
        "t:Q",
        title="threshold: flag when score ≥",
        scale=alt.Scale(zero=False, nice=False),
        axis=alt.Axis(tickCount=7, format="~g", labelOverlap=True),
    )
    title = f"cost per case ({currency})" if currency else "cost per case"
    y = alt.Y("cost:Q", title=title, axis=alt.Axis(tickCount=5, format=".3~g"))
    colour = alt.Color("k:N", scale=colours(names), legend=None)
    layers = [
        on("sets")
        .transform_filter("datum.k == toNumber(model) && (datum.pc === null || abs(datum.pc - pc) < 1e-9)")
        .mark_rect(opacity=0.16)
        .encode(x=alt.X("a:Q"), x2="b:Q", color=colour)
        .properties(name="shaded"),
        base.mark_line(strokeWidth=1.9).encode(
            x=x,
            y=y,
            order=alt.Order("i:Q"),
            color=colour,
            tooltip=[
                CUT_TIP,
                alt.Tooltip("cost:Q", title="cost", format=".4~g"),
            ],
        ),
        looked_at.mark_rule(color=ACCENT, strokeWidth=1.4).encode(x=x),
        looked_at.mark_point(filled=True, size=110, stroke="var(--page)", strokeWidth=2, opacity=1, fill=ACCENT)
        .encode(x=x, y=y)
        .properties(name="explored"),
    ]
    chart = alt.layer(*layers).properties(name="explorer", width=420, height=260)
    return finished(
        chart.add_params(*condition(), bound("model", "change", "0"), bound("cut", "input", "")),
        ("points", "sets"),
        "Cost per case at every threshold of one classifier",
    )


@functools.cache
def net_benefit(names: int, prevalence: float) -> Spec:
    """Draw decision curves: the net benefit at every probability threshold, and that of flagging every case."""
    x = alt.X(
        "at:Q",
        title="probability from which a case is worth flagging",
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=alt.Axis(values=[i / 10 for i in range(11)], format=".0%", labelOverlap=True),
    )
    y = alt.Y(
        "benefit:Q",
        title="net benefit per case",
        scale=alt.Scale(domain=[-0.1 * prevalence, 1.02 * prevalence], nice=False),
        axis=alt.Axis(tickCount=5, format=".2~g"),
    )
    line = on("benefits").encode(x=x, y=y)
    colour = alt.Color("k:N", scale=colours(names), legend=None)
    tip = [
        alt.Tooltip("name:N", title="classifier"),
        alt.Tooltip("at:Q", title="threshold", format=".0%"),
        alt.Tooltip("benefit:Q", title="net benefit", format=".3f"),
    ]
    layers = [
        line.transform_filter("datum.k < 0")
        .mark_line(clip=True, color=QUIET, strokeDash=[2, 4], strokeWidth=1.3)
        .encode(detail="k:N"),
        line.transform_filter(f"datum.k >= 0 && {SHOWN}")
        .mark_line(clip=True, strokeWidth=1.9)
        .encode(color=colour, strokeDash=dashes(names), tooltip=tip),
        one_row()
        .transform_calculate(at="fp / max(fp + fn, 1e-300)")
        .mark_rule(color=ACCENT, strokeWidth=1.4)
        .encode(x="at:Q"),
    ]
    chart = alt.layer(*layers).properties(name="benefit", width=520, height=300)
    return finished(chart.add_params(*condition()), ("benefits",), "Net benefit at every probability threshold")


@functools.cache
def calibration(names: int) -> Spec:
    """Draw the share of positives against the mean score of each bin, with its limits."""
    axis = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".0%")
    unit = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("score:Q", title="mean score", scale=unit, axis=axis)
    y = alt.Y("share:Q", title="share of positives", scale=unit, axis=axis)
    colour = alt.Color("k:N", scale=colours(names), legend=None)
    base = on("calibration").transform_filter(SHOWN).encode(x=x, color=colour)
    tip = [
        alt.Tooltip("name:N", title="classifier"),
        alt.Tooltip("count:Q", title="cases", format=",.0f"),
        alt.Tooltip("score:Q", title="mean score", format=".1%"),
        alt.Tooltip("share:Q", title="positives", format=".1%"),
        alt.Tooltip("lower:Q", title="from", format=".1%"),
        alt.Tooltip("upper:Q", title="to", format=".1%"),
    ]
    layers = [
        alt.Chart(alt.InlineData(values=[{"score": 0, "share": 0}, {"score": 1, "share": 1}]))
        .mark_line(color=QUIET, strokeDash=[2, 4], strokeWidth=1.3)
        .encode(x=x, y=y),
        base.mark_rule(strokeWidth=1.4, opacity=0.6).encode(y=alt.Y("lower:Q"), y2="upper:Q"),
        base.mark_line(strokeWidth=1.7).encode(y=y, strokeDash=dashes(names)),
        base.mark_point(filled=True, size=50, opacity=1).encode(y=y, tooltip=tip),
    ]
    chart = alt.layer(*layers).properties(name="calibration", width=520, height=300)
    return finished(chart.add_params(bound("hidden")), ("calibration",), "Share of positives at each score")


def _note(words: str, height: str) -> Any:
    """Write words at the left edge of a picture."""
    text = one_row().mark_text(align="left", fill=QUIET, text=words)
    return text.encode(x=alt.value(8), y=alt.value(alt.ExprRef(height)))
