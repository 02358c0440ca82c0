"""A report that was written as JSON gives the same page again, and whatever else is refused with its reason."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

import costcurves as cc
from costcurves.cli import main
from costcurves.report.markup import marked
from costcurves.report.reading import checksum

RNG = np.random.default_rng(8)
Y = RNG.random(150) < 0.4
SCORES = {name: Y * 1.0 + RNG.normal(0, 1, 150) for name in ("a", "<b> & 'c'")}
HERE = cc.OperatingCondition(0.3, cost_fp=1, cost_fn=4)
SPAN = cc.OperatingRange(prevalence=(0.1, 0.4), cost_fp=1, cost_fn=5)
COSTS = cc.CostMatrix([[0, 1, 4], [2, 0, 1], [9, 3, 0]], labels=["x", "y", "<z>"])
TRUTH = ["x", "y", "<z>", "x"] * 25
GUESSES = {"a": ["x", "y", "y", "x"] * 25, "b": ["x", "<z>", "<z>", "y"] * 25}


def two_classes():
    return cc.Report.from_predictions(
        Y,
        SCORES,
        scenarios={"usual": HERE, "open": SPAN, "pc": cc.OperatingCondition.from_pc(0.3)},
        baseline="a",
        cases_per_year=1000,
        slices=np.arange(150) % 2,
        reference=cc.Predictions(Y, SCORES),
        currency="EUR",
        source="rows.csv",
    )


REPORTS = {
    "two classes": two_classes,
    "without scenarios": lambda: cc.Report.from_predictions(Y, {"a": SCORES["a"]}),
    "weights": lambda: cc.Report.from_predictions(Y, SCORES, sample_weight=RNG.random(150), policy=0.5),
    "classes": lambda: cc.Report.from_class_predictions(TRUTH, GUESSES, COSTS, title="of three"),
}


@pytest.fixture(scope="module")
def reports():
    return {name: make() for name, make in REPORTS.items()}


@pytest.fixture(scope="module")
def documents(reports):
    return {name: report.to_dict() for name, report in reports.items()}


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_gives_the_same_page_and_the_same_json_again(tmp_path, reports, name):
    report, page = reports[name], reports[name].html()
    (tmp_path / "report.json").write_text(report.json(), encoding="utf-8")
    # Other programs write the same values in other ways.
    (tmp_path / "other.json").write_text(json.dumps(report.to_dict(), indent=2), encoding="utf-8")
    for file in ("report.json", "other.json"):
        again = cc.Report.from_json(tmp_path / file)
        assert again.html() == page
        assert again.json() == report.json()
        assert repr(again) == repr(report)


def test_the_command_line_writes_a_report_and_makes_its_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    asked = ["report", "example:german_credit", "--costs", "example:german_credit"]
    assert main([*asked, "-o", "report.json"]) == 0
    assert main([*asked, "-o", "first.html"]) == 0
    assert main(["report", "report.json", "-o", "second.html"]) == 0
    assert (tmp_path / "first.html").read_bytes() == (tmp_path / "second.html").read_bytes()
    capsys.readouterr()
    assert main(["report", "report.json", "--level", "0.9", "-o", "third.html"]) == 2
    assert "--level needs rows, and report.json is a report" in capsys.readouterr().err
    text = (tmp_path / "report.json").read_text(encoding="utf-8")
    (tmp_path / "report.json").write_text(text[:5000], encoding="utf-8")
    assert main(["report", "report.json", "-o", "third.html"]) == 2
    assert "report.json: a report must be JSON, got an error at line 1" in capsys.readouterr().err
    assert not (tmp_path / "third.html").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must be JSON"),
        ("[]", "`format` must be 'costcurves/report', got 'list'"),
        ('{"format": "costcurves/roc-hull"}', "`format` must be 'costcurves/report', got 'costcurves/roc-hull'"),
        ('{"format": "costcurves/report", "version": 7}', "`version` must be 1, got 7: written by another version"),
        ('{"format": "costcurves/report", "version": 1}', "`kind` must be 'two classes' or 'k classes', got None"),
        ('{"format": "costcurves/report", "version": 1, "kind": []}', "`kind` must be"),
        ('{"format": "costcurves/report", "version": 1, "kind": "k classes"}', "`title` must be in the report"),
        ("[" * 100_000, "must be JSON"),
    ],
)
def test_what_is_no_report_is_refused(tmp_path, text, message):
    (tmp_path / "r.json").write_text(text, encoding="utf-8")
    with pytest.raises(cc.FormatError, match=message):
        cc.Report.from_json(tmp_path / "r.json")
    (tmp_path / "r.json").write_bytes(b"\xff\xfe")
    with pytest.raises(cc.FormatError, match="must be UTF-8 text"):
        cc.Report.from_json(tmp_path / "r.json")


def changed(document, path, value):
    other = copy.deepcopy(document)
    holder = other
    for key in path[:-1]:
        holder = holder[key]
    if value is KeyError:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return other


@pytest.mark.parametrize(
    ("name", "path", "value", "message"),
    [
        ("two classes", ("page", "cards", 0, "use"), KeyError, r"`page.cards\[0\].use` must be in the report"),
        ("two classes", ("page", "cards", 0, "use"), 3, r"`page.cards\[0\].use` must be as costcurves writes it"),
        ("two classes", ("page", "headlines", 0, "verdict"), "x onload=1", r"`page.headlines\[0\].verdict`"),
        ("two classes", ("classifiers", 1, "band", "pc"), "0", r"`classifiers\[1\].band.pc`"),
        ("two classes", ("page", "pictures", "points"), KeyError, "`page.pictures.points` must be in the report"),
        ("two classes", ("page", "pictures", "points", "t"), [], "`page.pictures.points` must have columns of one"),
        ("two classes", ("page", "pictures", "points", "t"), KeyError, "must have the column 't', got none"),
        ("two classes", ("page", "tables", "hull"), KeyError, "`page.tables.hull` must be in the report"),
        ("two classes", ("classifiers",), [], "`classifiers` must not be empty"),
        ("classes", ("costs", 0), [1.0], "`costs` must have a row and a column for each of the 3 labels"),
        ("classes", ("classifiers", 0, "confusion", 2), [1, 2, None], r"`classifiers\[0\].confusion\[2\]\[2\]`"),
        ("classes", ("data", "frequencies"), {}, "`data.frequencies`"),
    ],
)
def test_a_damaged_report_is_refused_with_the_place(tmp_path, documents, name, path, value, message):
    file = tmp_path / "r.json"
    file.write_text(json.dumps(changed(documents[name], path, value)), encoding="utf-8")
    with pytest.raises(cc.FormatError, match=f"^r.json: .*{message}"):
        cc.Report.from_json(file)


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("two classes", ("data", "positives"), 7),
        ("two classes", ("scenarios", 0, "recommendation", "sure"), None),
        ("two classes", ("page", "headlines", 0, "verdict"), "sure"),
        ("two classes", ("page", "pictures", "points", "tp", 1), 3),
        ("classes", ("classifiers", 0, "cost", "upper"), 0.01),
        ("classes", ("page", "cards", 0, "verdict"), "sure"),
        ("classes", ("checksum",), "0" * 64),
    ],
)
def test_a_report_that_was_changed_is_refused(tmp_path, documents, name, path, value):
    file = tmp_path / "r.json"
    document = changed(documents[name], path, value)
    assert document != documents[name]
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(cc.FormatError, match=r"^r.json: `checksum` does not fit .*: the report was changed"):
        cc.Report.from_json(file)


def test_the_checksum_depends_on_what_is_said_and_not_on_how_it_is_written(documents):
    document = documents["two classes"]
    turned = dict(reversed(document.items())) | {"cases_per_year": 1000}
    assert type(document["cases_per_year"]) is float
    assert checksum(turned) == document["checksum"]
    assert checksum({"x": -0.0}) == checksum({"x": 0})  # JSON.stringify(-0.0) is "0"


@pytest.mark.parametrize(
    "text",
    ["<script>x()</script>", "<b onclick=x>", "</bdi>", "<b><bdi>a</b></bdi>", "&nbsp;", "<bdi><p></bdi>", "<!--"],
)
def test_markup_in_a_report_is_refused(tmp_path, documents, text):
    file = tmp_path / "r.json"
    for path in (("page", "cards", 0, "use"), ("page", "tables", "hull", "rows", 0, 0), ("page", "overview")):
        document = changed(documents["two classes"], path, text)
        file.write_text(json.dumps(document | {"checksum": checksum(document)}), encoding="utf-8")
        with pytest.raises(cc.FormatError, match="`page` must have no markup but that of names"):
            cc.Report.from_json(file).html()
    assert marked({"use": "Use <b><bdi>a &lt;b&gt;</bdi></b> at <bdi>x</bdi>"})["use"].striptags() == "Use a <b> at x"


def test_texts_of_a_report_that_are_no_markup_stay_texts(tmp_path, documents):
    file = tmp_path / "r.json"
    document = documents["two classes"] | {"title": "</title><script>x()</script>", "command": "</code><img src=x>"}
    for path in (("page", "cards", 0, "title"), ("page", "goals", 0, "label"), ("page", "sliders", 0, "label")):
        document = changed(document, path, '"><script>x()</script>')
    file.write_text(json.dumps(document | {"checksum": checksum(document)}), encoding="utf-8")
    page = cc.Report.from_json(file).html()
    assert "<script>x()" not in page
    assert "<img src=x>" not in page
