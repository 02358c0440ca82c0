"""The page, in which sentences, tables and pictures are filled into the template."""

from __future__ import annotations

import base64
import functools
import hashlib
import math
from dataclasses import dataclass
from importlib import resources
from typing import Any

import altair
import jinja2
import vl_convert

from costcurves.conditions.condition import OperatingCondition
from costcurves.conditions.range import OperatingRange
from costcurves.report import charts, class_charts, detail_charts, tables
from costcurves.report.answers import Answer, ConditionAnswer, winner_at
from costcurves.report.classes import ClassesSummary
from costcurves.report.datasets import class_names, classes_data, numbered, picture_names, two_class_data
from costcurves.report.forms import made_with
from costcurves.report.headline import Teller
from costcurves.report.markup import Markup, shown
from costcurves.report.numbers import number, percent, short
from costcurves.report.summary import Summary, at_shown_prevalence
from costcurves.report.words import Speaker


@dataclass(frozen=True, slots=True)
class Slider:
    """One number of the condition, with its field and the scale of its slider."""

    id: str
    label: str
    unit: str
    value: str
    scale: str
    low: float
    high: float


@functools.cache
def _library() -> str:
    """Bundle Vega, Vega-Lite and Vega-Embed as one script."""
    script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    if "</script" in script.lower():  # it would end the script element
        raise RuntimeError("the bundle of Vega must not contain an end tag")
    return script


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("costcurves.report", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["hashed"] = _hashed
    return environment


def _hashed(text: str) -> Markup:
    """Return the hash by which the page's content security policy allows a script or a style sheet, and no other."""
    return Markup(f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'")


def _said(value: Any) -> Any:
    """Return the words for the script, with the same characters escaped."""
    if isinstance(value, dict):
        return {key: _said(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_said(one) for one in value]
    return shown(value)


def _file(name: str) -> Markup:
    """Read one of the page's own files, which is trusted."""
    return Markup(resources.files("costcurves.report").joinpath(name).read_text(encoding="utf-8"))


def render(
    summary: Summary | ClassesSummary,
    title: str,
    currency: str,
    source: str | None,
    command: str | None,
    json: str,
    cases_per_year: float | None,
) -> str:
    """Render the page of a summary."""
    two = isinstance(summary, Summary)
    context = (
        _two_class(summary, currency, cases_per_year) if isinstance(summary, Summary) else _classes(summary, currency)
    )
    versions = made_with() | {
        "altair": altair.__version__,
        "vega": vl_convert.get_vega_version(),
        "vega-lite": altair.VEGALITE_VERSION,
    }
    template = _environment().get_template("template.html")
    return template.render(
        title=title,
        source=source,
        command=command,
        level=percent(summary.level),
        two=two,
        report=Markup(json.strip().replace("<", "\\u003c")),  # which could end the script element
        versions=versions,
        style=_file("style.css"),
        scripts=[Markup(_library()), _file("numbers.js") + _file("page.js") + _file("actions.js")],
        **context | {"words": _said({"title": title} | context["words"])},
    )


def _two_class(summary: Summary, currency: str, cases: float | None) -> dict[str, Any]:
    say = Speaker(summary.data.positive, currency, summary.level)
    data = two_class_data(summary)
    count = len(summary.names)
    names = picture_names(summary)
    specs = {
        "spaces": charts.spaces(count, _top(summary)),
        "ranges": charts.who_is_best(count, _order(data["stretches"]["k"], names)),
        "explorer": detail_charts.explorer(count, short(currency, 12)),
        "benefit": detail_charts.net_benefit(count, summary.start.prevalence),
    }
    if data["calibration"]:
        specs["calibration"] = detail_charts.calibration(count)
    found: dict[str, Any] = {
        "hull": tables.hull_table(summary, say),
        "ranges": tables.ranges_table(summary, say),
        "classifiers": tables.classifier_table(summary, say),
        "scores": tables.facts_table(summary, say),
        "pairs": None,
        "crossings": None,
        "slices": [(say.segments(one), tables.slices_table(one, say)) for one in summary.slices],
        "reference": [(one.sentence, tables.reference_table(name, one)) for name, one in summary.reference],
    }
    pairs: list[tuple[str, str]] = []
    if summary.pairs is not None:
        specs |= {"losses": charts.losses(count), "difference": detail_charts.difference(count)}
        found |= {"pairs": tables.pairs_table(summary, say), "crossings": tables.crossings_table(summary, say)}
        pairs = [one.names for one in summary.pairs.pairs]
    start = summary.start
    files = ["report.json", "hull.csv", "ranges.csv", "cost_curves.csv", "bands.csv"]
    best = winner_at(summary.ranges, start.pc)
    return {
        "say": say,
        "summary": summary,
        "downloads": [*files, "differences.csv"] if pairs else files,
        "pc_only": any(_where(answer).pc_only for answer in summary.answers),
        "headlines": Teller(say, cases).headlines(summary),
        "cases": None if cases is None else number(cases),
        "cards": say.cards(summary),
        "overview": say.overview(summary),
        "sliders": _sliders(summary, say),
        "goals": _goals(summary),
        "tables": found,
        "pairs": list(enumerate(pairs)),
        "colours": charts.COLOURS,
        "share": percent(summary.start.prevalence),
        "model": max(0, numbered(summary)[best]),
        "specs": specs,
        "data": data,
        "words": {
            "names": list(summary.names),
            "never": f"never predicting {summary.data.positive}",
            "always": f"always predicting {summary.data.positive}",
            "positive": summary.data.positive,
            "currency": currency,
            "level": percent(summary.level),
            "short": names,
            "colours": charts.COLOURS,
            "negatives": summary.data.weights[1],
            "positives": summary.data.weights[0],
        },
    }


def _where(answer: Answer) -> OperatingCondition | OperatingRange:
    return answer.condition if isinstance(answer, ConditionAnswer) else answer.span


def _top(summary: Summary) -> float:
    """The highest cost on the axis, above all curves but not so high that they look flat."""
    highest = max(float(one.curve.vertices[:, 1].max()) for one in summary.classifiers)
    return min(0.5, max(0.02, round(1.3 * highest, 2)))


def _order(numbers: list[int], names: dict[int, str]) -> tuple[str, ...]:
    """The rows of the picture of ranges: the classifiers in the given order, then the trivial ones."""
    return tuple(names[k] for k in sorted(set(numbers), key=lambda k: (k < 0, k)))


def _exact(value: float) -> str:
    """Format a number for an input field as shortly as possible without changing the condition."""
    return repr(float(f"{value:.12g}")).removesuffix(".0")


def _sliders(summary: Summary, say: Speaker) -> list[Slider]:
    start, currency = summary.start, say.currency
    positive = short(say.positive, 24)
    costs: dict[str, list[float]] = {"cost_fn": [start.cost_fn], "cost_fp": [start.cost_fp]}
    for answer in summary.answers:
        ends = [answer] if isinstance(answer, ConditionAnswer) else answer.ends
        for where in (at_shown_prevalence(end.condition, summary.data) for end in ends):
            for name, values in costs.items():
                values.append(getattr(where, name))
    everything = [value for values in costs.values() for value in values if value > 0]
    low = math.floor(math.log10(min(everything))) - 1.0
    high = math.ceil(math.log10(max(everything))) + 1.0
    share = 100 * start.prevalence
    edge = min(0.1, share / 2, (100 - share) / 2)
    # The slider uses log odds, so that there is room for rare classes.
    odds = math.log(edge / (100 - edge))
    return [
        Slider("prevalence", f"Share that is {positive}", "%", _exact(share), "logit", odds, -odds),
        Slider("cost_fn", "Cost of a miss", currency, _exact(start.cost_fn), "log", low, high),
        Slider("cost_fp", "Cost of a false alarm", currency, _exact(start.cost_fp), "log", low, high),
    ]


def _goals(summary: Summary) -> list[dict[str, str]]:
    """The conditions that can be set with a button. A range has a button for each of its ends."""
    goals = []
    for i, answer in enumerate(summary.answers):
        ends = (
            [("", answer)]
            if isinstance(answer, ConditionAnswer)
            else list(zip((" low", " high"), answer.ends, strict=True))
        )
        places = [(end, at_shown_prevalence(one.condition, summary.data), one.recommendation.sure) for end, one in ends]
        goals += [
            {
                "label": f"{i + 1}{end}",
                "name": answer.name,
                "prevalence": _exact(100 * where.prevalence),
                "cost_fn": _exact(where.cost_fn),
                "cost_fp": _exact(where.cost_fp),
                "sure": "yes" if sure else "no",
            }
            for end, where, sure in places
        ]
    return goals


def _classes(summary: ClassesSummary, currency: str) -> dict[str, Any]:
    say = Speaker("", currency, summary.level)
    data = classes_data(summary)
    specs = {
        "matrix": class_charts.cost_matrix(data),
        "intervals": class_charts.cost_intervals(data),
        "pairs": class_charts.cost_pairs(data),
    }
    found: dict[str, Any] = {
        "matrix": tables.matrix_table(summary),
        "costs": tables.costs_table(summary, say),
        "differences": tables.differences_table(summary, say),
        "priors": None if summary.hull is None else tables.priors_table(summary, say),
    }
    if summary.regions:
        assert summary.hull is not None
        specs["simplex"] = class_charts.prior_simplex(data, len(summary.names), len(summary.hull.names))
    classes = [
        (str(label), percent(share))
        for label, share in zip(summary.costs.labels, summary.frequencies.tolist(), strict=True)
    ]
    return {
        "say": say,
        "summary": summary,
        "cards": [say.classes_card(summary)],
        "downloads": ["report.json", "costs.csv", "pairs.csv"],
        "tables": found,
        "classes": classes,
        "specs": specs,
        "data": data,
        "words": {"currency": currency, "names": list(summary.names), "level": percent(summary.level)}
        | {"short": class_names(summary)},
    }
