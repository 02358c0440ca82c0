"""The pictures of a report of k classes."""

from __future__ import annotations

import altair as alt

from costcurves.report.charts import ACCENT, GRID, INK, QUIET, Spec, colours, finished, halo, on
from costcurves.report.datasets import Columns


def cost_matrix(data: dict[str, Columns]) -> Spec:
    """Draw the cost matrix as a heat map, in which more expensive errors are darker."""
    labels = list(dict.fromkeys(data["matrix"]["true"]))
    most = max(data["matrix"]["cost"])
    size, level = max(26, min(80, 420 // len(labels))), len(labels) < 7
    room = size - 6 if level else 110
    top = alt.Axis(orient="top", labelAngle=0 if level else -40, ticks=False, domain=False, labelLimit=room)
    side = alt.Axis(ticks=False, domain=False, labelLimit=120)
    base = (
        on("matrix")
        .transform_calculate(share=f"datum.cost / {most!r}")
        .encode(
            x=alt.X("predicted:N", sort=labels, title="predicted", axis=top),
            y=alt.Y("true:N", sort=labels, title="true", axis=side),
            tooltip=[
                alt.Tooltip("true:N", title="true"),
                alt.Tooltip("predicted:N", title="predicted"),
                alt.Tooltip("cost:Q", title="cost", format=",.6~g"),
            ],
        )
    )
    cells = base.mark_rect(fill=ACCENT, stroke=GRID).encode(
        opacity=alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0.04, 0.62], type="sqrt"), legend=None)
    )
    layers = [cells, base.mark_text(fontSize=13).encode(text=alt.Text("cost:Q", format=",.4~g"))]
    chart = alt.layer(*layers[: 1 if len(labels) > 12 else 2])
    return finished(
        chart.properties(name="matrix", width=size * len(labels), height=size * 0.62 * len(labels)),
        ("matrix",),
        "Cost of each predicted class for each true class",
    )


def cost_intervals(data: dict[str, Columns]) -> Spec:
    """Draw the expected cost of each classifier with its interval."""
    size = len(data["intervals"]["k"])
    cheapest_first = alt.EncodingSortField("estimate", order="ascending")
    base = on("intervals").encode(
        y=alt.Y("name:N", sort=cheapest_first, title=None, axis=alt.Axis(labelLimit=150, ticks=False, domain=False)),
        color=alt.Color("k:N", scale=colours(size, ()), legend=None),
        tooltip=[
            alt.Tooltip("name:N", title="classifier"),
            alt.Tooltip("estimate:Q", title="cost", format=".4~g"),
            alt.Tooltip("lower:Q", title="from", format=".4~g"),
            alt.Tooltip("upper:Q", title="to", format=".4~g"),
        ],
    )
    axis = alt.Axis(format=".3~g", tickCount=7)
    lines = base.mark_rule(strokeWidth=3).encode(
        x=alt.X("lower:Q", title="expected cost per case", scale=alt.Scale(zero=False), axis=axis), x2="upper:Q"
    )
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(x=alt.X("estimate:Q"))
    chart = alt.layer(lines, dots).properties(name="intervals", width=620, height=max(70, 36 * size))
    return finished(chart, ("intervals",), "Expected cost of each classifier with its interval")


def cost_pairs(data: dict[str, Columns]) -> Spec:
    """Draw the difference of each pair with its interval and a line at zero."""
    base = on("pairs").encode(
        y=alt.Y(
            "pair:N",
            sort=alt.EncodingSortField("q", order="ascending"),
            title=None,
            axis=alt.Axis(labelLimit=220, ticks=False, domain=False),
        ),
        color=alt.condition("datum.sure", alt.value(ACCENT), alt.value(QUIET)),
        tooltip=[
            alt.Tooltip("pair:N", title="pair"),
            alt.Tooltip("difference:Q", title="difference", format=".4~g"),
            alt.Tooltip("lower:Q", title="from", format=".4~g"),
            alt.Tooltip("upper:Q", title="to", format=".4~g"),
        ],
    )
    axis = alt.Axis(format=".3~g", tickCount=7)
    layers = [
        alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(color=INK).encode(x=alt.X("zero:Q")),
        base.mark_rule(strokeWidth=3).encode(
            x=alt.X("lower:Q", title="difference in cost per case", axis=axis), x2="upper:Q"
        ),
        base.mark_point(filled=True, size=90, opacity=1).encode(x=alt.X("difference:Q")),
    ]
    chart = alt.layer(*layers).properties(name="pairs", width=520, height=max(60, 32 * len(data["pairs"]["q"])))
    return finished(chart, ("pairs",), "Difference in cost of each pair with its interval")


def prior_simplex(data: dict[str, Columns], names: int, everyone: int) -> Spec:
    """Draw which classifier is cheapest under which frequencies of three classes."""
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.06, 1.06], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-0.09, 0.95], nice=False))
    shade = colours(names, tuple(range(names, everyone)))
    areas = (
        on("regions")
        .mark_line(interpolate="linear-closed", strokeWidth=1.5, stroke="var(--page)", fillOpacity=0.75)
        .encode(
            x=x,
            y=y,
            order=alt.Order("i:Q"),
            detail="k:N",
            fill=alt.Fill("k:N", scale=shade, legend=None),
            tooltip=[alt.Tooltip("name:N", title="cheapest")],
        )
    )
    labels = halo(on("centres").encode(x=x, y=y, text="name:N"))
    corners = on("corners").encode(x=x, y=y, text="label:N")
    layers = [
        areas,
        *labels,
        corners.transform_filter("datum.low").mark_text(dy=16, fill=QUIET, limit=150),
        corners.transform_filter("!datum.low").mark_text(dy=-12, fill=QUIET, limit=150),
        on("here")
        .mark_point(filled=True, size=110, fill=ACCENT, stroke="var(--page)", strokeWidth=2, opacity=1)
        .encode(x=x, y=y, tooltip=[alt.Tooltip("label:N", title="class frequencies of")]),
    ]
    chart = alt.layer(*layers).properties(name="simplex", width=440, height=390)
    return finished(chart, ("regions", "centres", "corners", "here"), "Who is cheapest under which class frequencies")
