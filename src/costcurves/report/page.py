"""The page, in which the sentences, tables and pictures of a report's JSON are filled into the template."""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
from importlib import resources
from typing import Any

import altair
import jinja2
import vl_convert

from costcurves.report import charts, class_charts, detail_charts
from costcurves.report.answers import LIGHTS
from costcurves.report.datasets import NEVER, short_picture_names
from costcurves.report.markup import Markup, marked, shown
from costcurves.report.numbers import number, percent, short, short_names

OWN_SCRIPTS = ("numbers.js", "page.js", "decision.js", "actions.js")
CLASS_SCRIPTS = ("numbers.js", "page.js", "classes.js", "actions.js")


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
    environment.filters |= {"hashed": _hashed, "percent": percent}
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


def render(document: dict[str, Any], text: str) -> str:
    """Render the page of a report from its checked JSON, whose text the page contains, compressed."""
    two = document["kind"] == "two classes"
    context = _two_class(document) if two else _classes(document)
    versions = document["made_with"] | {
        "altair": altair.__version__,
        "vega": vl_convert.get_vega_version(),
        "vega-lite": altair.VEGALITE_VERSION,
    }
    names = [one["name"] for one in document["classifiers"]]
    cases = document["cases_per_year"]
    words = {"title": document["title"], "currency": document["currency"], "names": names}
    words |= {"level": percent(document["level"])} | context.pop("words")
    template = _environment().get_template("template.html")
    return template.render(
        report=document,
        page=marked(document["page"]),
        two=two,
        lights=LIGHTS,
        names=names,
        level=percent(document["level"]),
        cases=None if cases is None else number(cases),
        packed=Markup(base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()),
        versions=versions,
        style=_file("style.css"),
        scripts=[Markup(_library()), Markup("").join(map(_file, OWN_SCRIPTS if two else CLASS_SCRIPTS))],
        words=_said(words),
        **context,
    )


def _two_class(document: dict[str, Any]) -> dict[str, Any]:
    contents, data = document["page"], document["data"]
    pictures, positive = contents["pictures"], data["positive_label"]
    names = [one["name"] for one in document["classifiers"]]
    count, called = len(names), short_picture_names(names, positive)
    specs = {
        "spaces": charts.spaces(count, _top(pictures["costs"]["c"])),
        "ranges": charts.who_is_best(count, _order(pictures["stretches"]["k"], called)),
        "explorer": detail_charts.explorer(count, short(document["currency"], 12)),
        "benefit": detail_charts.net_benefit(count, contents["share"]),
    }
    if pictures["calibration"]:
        specs["calibration"] = detail_charts.calibration(count)
    files = ["report.json", "hull.csv", "ranges.csv", "cost_curves.csv", "bands.csv"]
    pairs = [tuple(one["names"]) for one in document["differences"]]
    if pairs:
        specs |= {"losses": charts.losses(count), "difference": detail_charts.difference(count)}
        files.append("differences.csv")
    return {
        "positive": positive,
        "downloads": files,
        "pairs": pairs,
        "colours": charts.COLOURS,
        "specs": specs,
        "words": {
            "never": f"never predicting {positive}",
            "always": f"always predicting {positive}",
            "positive": positive,
            "short": called,
            "colours": charts.COLOURS,
            "negatives": data["weights"][1],
            "positives": data["weights"][0],
        },
    }


def _top(costs: list[float]) -> float:
    """The highest cost on the axis, above all curves but not so high that they look flat."""
    return min(0.5, max(0.02, round(1.3 * max(costs), 2)))


def _order(numbers: list[int], names: dict[int, str]) -> tuple[str, ...]:
    """The rows of the picture of ranges: the classifiers in the given order, then the trivial ones."""
    return tuple(names[k] for k in sorted(set(numbers), key=lambda k: (k <= NEVER, k)))


def _classes(document: dict[str, Any]) -> dict[str, Any]:
    pictures, names = document["page"]["pictures"], [one["name"] for one in document["classifiers"]]
    everyone, labels = names + list(document["constants"]), document["labels"]
    frequencies, priors = document["data"]["frequencies"], document["priors"]
    given = None if priors is None else [priors.get(label, 0.0) for label in labels]
    specs = {
        "matrix": class_charts.cost_matrix(pictures),
        "intervals": class_charts.cost_intervals(pictures),
        "pairs": class_charts.cost_pairs(pictures),
    }
    if "regions" in pictures:
        specs["simplex"] = class_charts.prior_simplex(pictures, len(names), len(everyone))
    return {
        "downloads": ["report.json", "costs.csv", "pairs.csv"],
        "classes": [
            {"label": label, "share": percent(share), "seen": share > 0, "start": f"{100 * start:.6g}"}
            for label, share, start in zip(labels, frequencies, given or frequencies, strict=True)
        ],
        "specs": specs,
        "words": {"short": dict(enumerate(short_names(everyone))), "labels": short_names(labels)},
    }
