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


def _dashes(names: int) -> alt.StrokeDash:
    scale = alt.Scale(
        domain=list(range(names)), range=[DASHES[min(k // COLOURS, len(DASHES) - 1)] for k in range(names)]
    )
    return alt.StrokeDash("k:N", scale=scale, legend=None)


def _bound(name: str, event: str = "input", value: Any = "") -> alt.Parameter:
    return alt.param(name=name, value=value, bind=alt.BindDirect(element=f"#{name}", event=event))


def _condition() -> list[alt.Parameter]:
    """The inputs of the page and the parameters that follow from them."""
    return [
        _bound("prevalence"),
        _bound("cost_fn"),
        _bound("cost_fp"),
        _bound("hidden"),
        alt.param(name="p", expr="clamp(toNumber(prevalence) / 100, 1e-9, 1 - 1e-9)"),
        alt.param(name="fn", expr="max(toNumber(cost_fn), 0)"),
        alt.param(name="fp", expr="max(toNumber(cost_fp), 0)"),
        alt.param(name="stake", expr="max(p * fn + (1 - p) * fp, 1e-300)"),
        alt.param(name="pc", expr="p * fn / stake"),
    ]


# Text without a format. Otherwise Vega-Lite looks up the field in the wrong row when the nearest point is highlighted.
_CUT_TIP = alt.Tooltip("cut:Q", title="score ≥", formatType="toString")


def on(data: str) -> Any:
    """Make a chart of one of the page's tables."""
    return alt.Chart(alt.NamedData(name=data))


def _one_row() -> Any:
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
        _CUT_TIP,
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
    layers = [
        _heading("ROC space: found against false alarms"),
        diagonal.mark_line(color=QUIET, strokeDash=[2, 4], strokeWidth=1).encode(x=x, y=y),
        on("hull")
        .mark_line(color=INK, strokeWidth=5, interpolate="linear")
        .encode(x=x, y=y, opacity=alt.condition("hidden == ''", alt.value(0.13), alt.value(0))),
        on("points")
        .transform_filter(SHOWN)
        .mark_line(strokeWidth=1.7)
        .encode(x=x, y=y, color=colour, strokeDash=_dashes(names), order=alt.Order("i:Q")),
        vertices.mark_point(size=40, opacity=0).encode(x=x, y=y, tooltip=tip).properties(name="roc_vertices"),
        iso.mark_rule(color=ACCENT, strokeDash=[6, 4], strokeWidth=1.6).encode(
            x=alt.X("x0:Q"), y=alt.Y("y0:Q"), x2="x1:Q", y2="y1:Q"
        ),
        _chosen()
        .mark_point(filled=True, size=110, stroke="var(--page)", strokeWidth=2, opacity=1, fill=ACCENT)
        .encode(x=x, y=y, tooltip=tip)
        .properties(name="roc_chosen"),
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
        .encode(x=x, y=y, color=colour, strokeDash=_dashes(names)),
        bands.mark_point(clip=True, size=40, opacity=0).encode(x=x, y=y, tooltip=tip).properties(name="cost_points"),
        line,
        _one_row().transform_calculate(pc="pc").mark_rule(color=ACCENT, strokeWidth=1.4).encode(x=x),
        *_scenario_marks(),
        _chosen().mark_rule(color=ACCENT, strokeWidth=4, opacity=0.55).encode(x=x, y=alt.Y("low:Q"), y2="high:Q"),
        _chosen()
        .transform_calculate(c="datum.cost")
        .mark_point(filled=True, size=110, stroke="var(--page)", strokeWidth=2, opacity=1, fill=ACCENT)
        .encode(x=x, y=y)
        .properties(name="chosen"),
        _one_row()
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
        chart.add_params(*_condition(), _bound("axis", "change", "pc"), _bound("bands", "change", "off")),
        ("vertices", "hull", "points", "costs", "bands", "scenarios"),
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
    x = alt.X("a:Q", title="probability-cost pc", scale=alt.Scale(domain=[0, 1], nice=False), axis=_pc_axis())
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
        _pc_rule(),
    ]
    chart = alt.layer(*layers).properties(name="ranges", width=760, height=max(60, 30 * len(order)))
    return finished(
        chart.add_params(*_condition()),
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
            x=alt.X("pc:Q", title="probability-cost pc", scale=alt.Scale(domain=[0, 1], nice=False), axis=_pc_axis()),
            y=alt.Y("loss:Q", title="cost above the best choice", axis=alt.Axis(tickCount=5, format=".3~f")),
            color=alt.Color("k:N", scale=colours(names), legend=None),
            strokeDash=_dashes(names),
            tooltip=[alt.Tooltip("name:N", title="classifier")],
        ),
        _pc_rule(),
    ]
    chart = alt.layer(*layers).properties(name="losses", width=760, height=220)
    return finished(chart.add_params(*_condition()), ("losses",), "Cost above the best choice, for each classifier")


@functools.cache
def difference(names: int) -> Spec:
    """Draw the difference of the pair selected on the page, with its simultaneous band."""
    mine = "datum.q == toNumber(pair)"
    x = alt.X("pc:Q", title="probability-cost pc", scale=alt.Scale(domain=[0, 1], nice=False), axis=_pc_axis())
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
        _pc_rule(),
        _note("second is cheaper", "14"),
        _note("first is cheaper", "height - 12"),
    ]
    chart = alt.layer(*layers).properties(name="difference", width=760, height=280)
    return finished(
        chart.add_params(*_condition(), _bound("pair", "change", "0")),
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
                _CUT_TIP,
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
        chart.add_params(*_condition(), _bound("model", "change", "0"), _bound("cut", "input", "")),
        ("points", "sets"),
        "Cost per case at every threshold of one classifier",
    )


def _heading(words: str) -> Any:
    """Make a title that is aligned with the axis, at the same height in pictures that are side by side."""
    text = _one_row().mark_text(align="left", fontSize=14, fontWeight=600, text=words)
    return text.encode(x=alt.value(0), y=alt.value(-18))


def _note(words: str, height: str) -> Any:
    """Write words at the left edge of a picture."""
    text = _one_row().mark_text(align="left", fill=QUIET, text=words)
    return text.encode(x=alt.value(8), y=alt.value(alt.ExprRef(height)))


def _pc_axis() -> alt.Axis:
    return alt.Axis(values=[i / 10 for i in range(11)], format=".1f", labelOverlap=True)


def _pc_rule() -> Any:
    return _one_row().transform_calculate(pc="pc").mark_rule(color=ACCENT, strokeWidth=1.4).encode(x="pc:Q")


def finished(chart: Any, datasets: tuple[str, ...], description: str) -> Spec:
    """Complete the specification. The page fills in the tables, which several pictures share."""
    spec: Spec = chart.properties(description=description).to_dict(
        validate=False
    )  # the tests validate the specification, because this takes seconds
    spec["config"] = config()
    spec["datasets"] = spec.get("datasets", {}) | dict.fromkeys(datasets)
    return spec
