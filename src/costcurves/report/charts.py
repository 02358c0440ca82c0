"""The pictures of a two-class report, declared in Vega-Lite with Altair.

Inputs of the page are bound to parameters by their ids. Everything that follows from them (pc, the best vertex, the
iso-performance line) is an expression of the specification. Colours are custom properties of the style sheet, so that
the same picture is used for light mode, dark mode and print.
"""

from __future__ import annotations

import functools
from typing import Any

import altair as alt

from costcurves.report.datasets import ALWAYS, NEVER

Spec = dict[str, Any]
COLOURS = 8
INK, QUIET, GRID, ACCENT = "var(--ink)", "var(--quiet)", "var(--rule)", "var(--accent)"
WIDTH, HEIGHT = 430, 380
# The point nearest to the pointer is shown.
NEAREST: dict[str, Spec] = {
    "roc_vertices": {"on": "pointerover", "clear": "pointerout"},
    "cost_points": {"on": "pointerover", "clear": "pointerout"},
}
DASHES = ([1, 0], [7, 3], [2, 2])

SHOWN = "indexof(hidden, ',' + datum.k + ',') < 0"
# The labels of the horizontal axis of cost space: pc itself, or the prevalence or cost ratio that would give it.
AXIS_LABEL = (
    "axis == 'prevalence' ? format(datum.value * fp / max(datum.value * fp + (1 - datum.value) * fn, 1e-300), '.2~p')"
    " : axis == 'ratio' ? (datum.value >= 1 ? '∞' : format(datum.value / (1 - datum.value) * (1 - p) / p, '.2~r'))"
    " : format(datum.value, '.1f')"
)
AXIS_TITLE = (
    "axis == 'prevalence' ? 'prevalence, at the costs set above'"
    " : axis == 'ratio' ? 'cost of a miss ÷ false alarm, at the share set above'"
    " : 'probability-cost pc'"
)


def config() -> Spec:
    """The configuration that all pictures share."""
    axis = {
        "domainColor": GRID,
        "tickColor": GRID,
        "gridColor": GRID,
        "gridOpacity": 0.6,
        "labelColor": QUIET,
        "titleColor": QUIET,
        "labelFontSize": 12,
        "titleFontSize": 12.5,
        "titleFontWeight": 400,
        "titlePadding": 8,
        "labelPadding": 4,
    }
    return {
        "font": "system-ui, sans-serif",
        "background": "transparent",
        # The page describes each picture as a whole. A label on every point would be of no help.
        "aria": False,
        "view": {"stroke": None},
        "customFormatTypes": True,
        "axis": axis,
        "text": {"fontSize": 12.5, "fill": INK},
        "legend": {"labelColor": INK, "titleColor": QUIET, "labelFontSize": 12, "titleFontSize": 12},
    }


def colours(names: int, extra: tuple[int, ...] = (NEVER, ALWAYS)) -> alt.Scale:
    """The colours of classifiers by number. The trivial classifiers are grey."""
    shades = [f"var(--c{k % COLOURS})" for k in range(names)]
    return alt.Scale(domain=[*range(names), *extra], range=[*shades, *[QUIET] * len(extra)])


def dashes(names: int) -> alt.StrokeDash:
    """The dashes of classifiers by number, for more classifiers than colours."""
    scale = alt.Scale(
        domain=list(range(names)), range=[DASHES[min(k // COLOURS, len(DASHES) - 1)] for k in range(names)]
    )
    return alt.StrokeDash("k:N", scale=scale, legend=None)


def bound(name: str, event: str = "input", value: Any = "") -> alt.Parameter:
    """Make a parameter with the value of the input of that id."""
    return alt.param(name=name, value=value, bind=alt.BindDirect(element=f"#{name}", event=event))


def condition() -> list[alt.Parameter]:
    """The inputs of the page and the parameters that follow from them."""
    return [
        bound("prevalence"),
        bound("cost_fn"),
        bound("cost_fp"),
        bound("hidden"),
        alt.param(name="p", expr="clamp(toNumber(prevalence) / 100, 1e-9, 1 - 1e-9)"),
        alt.param(name="fn", expr="max(toNumber(cost_fn), 0)"),
        alt.param(name="fp", expr="max(toNumber(cost_fp), 0)"),
        alt.param(name="stake", expr="max(p * fn + (1 - p) * fp, 1e-300)"),
        alt.param(name="pc", expr="p * fn / stake"),
    ]


# Text without a format. Otherwise Vega-Lite looks up the field in the wrong row when the nearest point is highlighted.
CUT_TIP = alt.Tooltip("cut:Q", title="score ≥", formatType="toString")


def on(data: str) -> Any:
    """Make a chart of one of the page's tables."""
    return alt.Chart(alt.NamedData(name=data))


def one_row() -> Any:
    """Make a chart of a single row, for what follows from parameters alone."""
    return alt.Chart(alt.InlineData(values=[{}]))


def _chosen() -> Any:
    """Make a chart whose only row is the cheapest vertex of the classifiers that are switched on."""
    return (
        on("vertices")
        .transform_filter(SHOWN)
        # A threshold that was not chosen on these cases is used between two conditions.
        .transform_filter("!isValid(datum.a) || ((datum.a < pc || datum.a == 0) && pc <= datum.b)")
        .transform_calculate(cost="pc * (1 - datum.y) + (1 - pc) * datum.x")
        .transform_joinaggregate(least="min(cost)")
        .transform_filter("datum.cost - datum.least <= 1e-12 * datum.cost")
        .transform_joinaggregate(first="min(r)")
        .transform_filter("datum.r == datum.first")
        .transform_calculate(
            # The vertex has limits of the two rates. The limits of their weighted sum are at these distances (MOVER).
            low="datum.cost - sqrt(pow(pc * datum.fnr_down, 2) + pow((1 - pc) * datum.fpr_down, 2))",
            high="datum.cost + sqrt(pow(pc * datum.fnr_up, 2) + pow((1 - pc) * datum.fpr_up, 2))",
            slope="(1 - pc) / pc",
            pc="pc",
            stake="stake",
            trivial="min(pc, 1 - pc)",
        )
    )


def halo(chart: Any, **place: Any) -> list[Any]:
    """Make a label that is legible over lines, by drawing an outline in the colour of the page below the text."""
    return [
        chart.mark_text(
            fontWeight=600, fill="var(--page)", stroke="var(--page)", strokeWidth=5, strokeJoin="round", **place
        ),
        chart.mark_text(fontWeight=600, **place),
    ]


def _unit(field: str, title: str) -> Any:
    axis = alt.Axis(title=title, values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".1f")
    kind = alt.X if field == "x" else alt.Y
    return kind(f"{field}:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=axis)


def _roc(names: int) -> Any:
    x, y = _unit("x", "false alarms: share of negatives flagged"), _unit("y", "found: share of positives flagged")
    colour = alt.Color("k:N", scale=colours(names), legend=None)
    diagonal = alt.Chart(alt.InlineData(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
    tip = [
        alt.Tooltip("name:N", title="classifier"),
        CUT_TIP,
        alt.Tooltip("x:Q", title="false alarms", format=".1%"),
        alt.Tooltip("y:Q", title="found", format=".1%"),
    ]
    vertices = on("vertices").transform_filter(SHOWN)
    iso = (
        _chosen()
        .transform_calculate(steep="clamp(datum.slope, 1e-9, 1e9)")
        .transform_calculate(x0="max(0, datum.x - datum.y / datum.steep)")
        .transform_calculate(x1="min(1, datum.x + (1 - datum.y) / datum.steep)")
        .transform_calculate(
            y0="max(0, datum.y + datum.steep * (datum.x0 - datum.x))",
            y1="min(1, datum.y + datum.steep * (datum.x1 - datum.x))",
        )
    )
    label = _chosen()
    # All points on the line flag as many cases as can be checked.
    limit = (
        one_row()
        .transform_filter("checks != ''")
        .transform_calculate(load="clamp(toNumber(checks) / max(toNumber(cases), 1e-9), 0, 1)")
        .transform_calculate(
            x0="max(0, (datum.load - p) / (1 - p))",
            y0="min(1, datum.load / p)",
            x1="min(1, datum.load / (1 - p))",
            y1="max(0, (datum.load - (1 - p)) / p)",
        )
        .mark_rule(color=INK, strokeDash=[1, 3], strokeWidth=1.6)
        .encode(x=alt.X("x0:Q"), y=alt.Y("y0:Q"), x2="x1:Q", y2="y1:Q")
        .properties(name="limit")
    )
    layers = [
        _heading("ROC space: found against false alarms"),
        diagonal.mark_line(color=QUIET, strokeDash=[2, 4], strokeWidth=1).encode(x=x, y=y),
        on("hull")
        .mark_line(color=INK, strokeWidth=5, interpolate="linear")
        .encode(x=x, y=y, opacity=alt.condition("hidden == ''", alt.value(0.13), alt.value(0))),
        on("points")
        .transform_filter(SHOWN)
        .mark_line(strokeWidth=1.7)
        .encode(x=x, y=y, color=colour, strokeDash=dashes(names), order=alt.Order("i:Q")),
        vertices.mark_point(size=40, opacity=0).encode(x=x, y=y, tooltip=tip).properties(name="roc_vertices"),
        iso.mark_rule(color=ACCENT, strokeDash=[6, 4], strokeWidth=1.6).encode(
            x=alt.X("x0:Q"), y=alt.Y("y0:Q"), x2="x1:Q", y2="y1:Q"
        ),
        limit,
        _chosen()
        .mark_point(filled=True, size=110, stroke="var(--page)", strokeWidth=2, opacity=1, fill=ACCENT)
        .encode(x=x, y=y, tooltip=tip)
        .properties(name="roc_chosen"),
        on("capped")
        .mark_point(shape="diamond", filled=True, size=130, stroke="var(--page)", strokeWidth=2, opacity=1, fill=INK)
        .encode(x=x, y=y, tooltip=tip)
        .properties(name="capped"),
        *halo(label.transform_filter("datum.x <= 0.55").encode(x=x, y=y, text="name:N"), align="left", dx=11, dy=16),
        *halo(label.transform_filter("datum.x > 0.55").encode(x=x, y=y, text="name:N"), align="right", dy=24),
    ]
    return alt.layer(*layers).properties(name="roc", width=WIDTH, height=HEIGHT)


def _cost(names: int, top: float) -> Any:
    axis = alt.Axis(title=None, values=[i / 10 for i in range(11)], labelExpr=AXIS_LABEL, labelOverlap=True)
    x = alt.X("pc:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=axis)
    y = alt.Y(
        "c:Q",
        scale=alt.Scale(domain=[0, top], nice=False),
        axis=alt.Axis(title="expected cost; 1 would be always wrong", tickCount=6, format=".2~f"),
    )
    colour = alt.Color("k:N", scale=colours(names), legend=None)
    trivial = alt.Chart(alt.InlineData(values=[{"pc": 0.0, "c": 0.0}, {"pc": 0.5, "c": 0.5}, {"pc": 1.0, "c": 0.0}]))
    bands = on("bands").transform_filter(SHOWN)
    tip = [
        alt.Tooltip("name:N", title="classifier"),
        alt.Tooltip("pc:Q", title="pc", format=".2f"),
        alt.Tooltip("c:Q", title="cost", format=".3f"),
        alt.Tooltip("lo:Q", title="from", format=".3f"),
        alt.Tooltip("hi:Q", title="to", format=".3f"),
    ]
    line = (
        _chosen()
        .transform_calculate(start="0", end="1", at0="datum.x", at1="1 - datum.y")
        .mark_rule(clip=True, color=ACCENT, strokeWidth=1, strokeDash=[2, 3], opacity=0.9)
        .encode(x="start:Q", x2="end:Q", y="at0:Q", y2="at1:Q")
    )
    layers = [
        _heading("Cost space: cost at every condition"),
        trivial.mark_line(clip=True, color=QUIET, strokeDash=[2, 4], strokeWidth=1.3).encode(x=x, y=y),
        bands.transform_filter("bands != 'off'")
        .transform_calculate(
            low="bands == 'all' ? datum.slo : datum.lo", high="min(bands == 'all' ? datum.shi : datum.hi, 1)"
        )
        .mark_area(clip=True, opacity=0.16)
        .encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour),
        on("costs")
        .transform_filter(SHOWN)
        .mark_line(clip=True, strokeWidth=1.9)
        .encode(x=x, y=y, color=colour, strokeDash=dashes(names)),
        bands.mark_point(clip=True, size=40, opacity=0).encode(x=x, y=y, tooltip=tip).properties(name="cost_points"),
        line,
        one_row().transform_calculate(pc="pc").mark_rule(color=ACCENT, strokeWidth=1.4).encode(x=x),
        *_scenario_marks(),
        _chosen().mark_rule(color=ACCENT, strokeWidth=4, opacity=0.55).encode(x=x, y=alt.Y("low:Q"), y2="high:Q"),
        _chosen()
        .transform_calculate(c="datum.cost")
        .mark_point(filled=True, size=110, stroke="var(--page)", strokeWidth=2, opacity=1, fill=ACCENT)
        .encode(x=x, y=y)
        .properties(name="chosen"),
        one_row()
        .transform_calculate(words=AXIS_TITLE)
        .mark_text(align="center", baseline="top", dy=27, fill=QUIET)
        .encode(x=alt.XDatum(0.5), y=alt.YDatum(0), text=alt.Text("words:N")),
    ]
    return alt.layer(*layers).properties(name="cost", width=WIDTH, height=HEIGHT)


def _scenario_marks() -> list[Any]:
    """Draw the scenarios at the top: conditions as numbered badges in one row, ranges as bars in the next."""
    x = alt.X("mid:Q")
    tip = [alt.Tooltip("n:N", title="scenario"), alt.Tooltip("title:N", title="name")]
    layers = []
    for kind, place in (("datum.a == datum.b", alt.value(11)), ("datum.a < datum.b", alt.value(33))):
        rows = on("scenarios").transform_filter(kind)
        layers += [
            rows.mark_rule(strokeWidth=4, strokeCap="round", color=QUIET, opacity=0.7).encode(
                x="a:Q", x2="b:Q", y=place
            ),
            rows.mark_point(filled=True, size=260, opacity=1, fill="var(--badge)").encode(x=x, y=place, tooltip=tip),
            rows.mark_text(fill="var(--on-badge)", fontWeight=600, fontSize=11, dy=0.5).encode(
                x=x, y=place, text="n:N", tooltip=tip
            ),
        ]
    return layers


@functools.cache
def spaces(names: int, top: float) -> Spec:
    """Draw ROC space and cost space side by side and linked, with costs from 0 to `top`."""
    chart = alt.concat(_roc(names), _cost(names, top), columns=2, spacing=36)
    spec = finished(
        chart.add_params(
            *condition(),
            *(bound(name) for name in ("checks", "cases")),
            bound("axis", "change", "pc"),
            bound("bands", "change", "off"),
        ),
        ("vertices", "hull", "points", "costs", "bands", "scenarios", "capped"),
        "ROC curves and cost curves of all classifiers, with the chosen operating point",
    )
    # Altair would add a selection to every named layer, but each of these belongs to only one.
    for layer in (*spec["concat"][0]["layer"], *spec["concat"][1]["layer"]):
        name = layer.get("name", "").rsplit("_", 1)[0]
        if name in NEAREST:
            layer["params"] = [{"name": name, "select": {"type": "point", "nearest": True, **NEAREST[name]}}]
            shown = {"param": name, "empty": False, "value": 1}
            layer["encoding"]["opacity"] = {"condition": shown, "value": 0}
    return spec


@functools.cache
def who_is_best(names: int, order: tuple[str, ...]) -> Spec:
    """Draw, for each classifier, where it is worth using and where it is the best."""
    rows = alt.Y("name:N", sort=list(order), title=None, axis=alt.Axis(labelLimit=150, ticks=False, domain=False))
    x = alt.X("a:Q", title="probability-cost pc", scale=alt.Scale(domain=[0, 1], nice=False), axis=pc_axis())
    colour = alt.Color("k:N", scale=colours(names), legend=None)
    tip = [
        alt.Tooltip("name:N", title="classifier"),
        alt.Tooltip("what:N", title="here"),
        alt.Tooltip("a:Q", title="from pc", format=".3f"),
        alt.Tooltip("b:Q", title="to pc", format=".3f"),
    ]
    base = on("stretches").transform_filter(SHOWN)
    layers = [
        base.transform_filter("datum.what != 'best'")
        .mark_bar(height=6, cornerRadius=3, opacity=0.35)
        .encode(x=x, x2="b:Q", y=rows, color=colour, tooltip=tip),
        base.transform_filter("datum.what == 'best'")
        .mark_bar(height=18, cornerRadius=2)
        .encode(x=x, x2="b:Q", y=rows, color=colour, tooltip=tip),
        pc_rule(),
    ]
    chart = alt.layer(*layers).properties(name="ranges", width=760, height=max(60, 30 * len(order)))
    return finished(
        chart.add_params(*condition()),
        ("stretches",),
        "Where each classifier is better than none, and where it is the best",
    )


@functools.cache
def losses(names: int) -> Spec:
    """Draw the loss from always using one classifier instead of the best choice, over pc."""
    layers = [
        on("losses")
        .transform_filter(SHOWN)
        .mark_line(strokeWidth=1.9)
        .encode(
            x=alt.X("pc:Q", title="probability-cost pc", scale=alt.Scale(domain=[0, 1], nice=False), axis=pc_axis()),
            y=alt.Y("loss:Q", title="cost above the best choice", axis=alt.Axis(tickCount=5, format=".3~f")),
            color=alt.Color("k:N", scale=colours(names), legend=None),
            strokeDash=dashes(names),
            tooltip=[alt.Tooltip("name:N", title="classifier")],
        ),
        pc_rule(),
    ]
    chart = alt.layer(*layers).properties(name="losses", width=760, height=220)
    return finished(chart.add_params(*condition()), ("losses",), "Cost above the best choice, for each classifier")


def _heading(words: str) -> Any:
    """Make a title that is aligned with the axis, at the same height in pictures that are side by side."""
    text = one_row().mark_text(align="left", fontSize=14, fontWeight=600, text=words)
    return text.encode(x=alt.value(0), y=alt.value(-18))


def pc_axis() -> alt.Axis:
    """Make an axis of probability-cost."""
    return alt.Axis(values=[i / 10 for i in range(11)], format=".1f", labelOverlap=True)


def pc_rule() -> Any:
    """Draw a line at the pc of the condition."""
    return one_row().transform_calculate(pc="pc").mark_rule(color=ACCENT, strokeWidth=1.4).encode(x="pc:Q")


def finished(chart: Any, datasets: tuple[str, ...], description: str) -> Spec:
    """Complete the specification. The page fills in the tables, which several pictures share."""
    spec: Spec = chart.properties(description=description).to_dict(
        validate=False
    )  # the tests validate the specification, because this takes seconds
    spec["config"] = config()
    spec["datasets"] = spec.get("datasets", {}) | dict.fromkeys(datasets)
    return spec
