"""The report as an object: same input same bytes, small, strict about input, at home in notebooks."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import costcurves as cc
from browser import browser, open_tab
from costcurves.report import charts, class_charts, detail_charts
from costcurves.report.answers import LIGHTS
from costcurves.report.class_words import ClassTeller
from costcurves.report.datasets import classes_data, two_class_data
from costcurves.report.summary import summarise
from costcurves.report.words import Speaker

RNG = np.random.default_rng(4)
Y = RNG.random(200) < 0.4
SCORES = {"a": np.round(Y + RNG.normal(0, 0.8, 200), 2), "b": np.round(Y + RNG.normal(0, 1.1, 200), 2)}
# The highest scores of all belong to negatives, so that no threshold is without false alarms.
Y[:3], SCORES["a"][:3], SCORES["b"][:3] = False, 9, 9
HERE = cc.OperatingCondition(0.3, cost_fp=1, cost_fn=4)
COSTS = cc.CostMatrix([[0, 1, 4], [2, 0, 1], [9, 3, 0]], labels=["x", "y", "z"])
TRUTH = ["x", "y", "z", "x"] * 25
GUESSES = {"a": ["x", "y", "y", "x"] * 25, "b": ["x", "z", "z", "y"] * 25}


@pytest.fixture(scope="module")
def report():
    return cc.Report.from_predictions(
        Y, SCORES, scenarios={"usual": HERE}, currency="EUR", source="pilot.csv", dropped=3
    )


@pytest.fixture(scope="module")
def classes():
    return cc.Report.from_class_predictions(TRUTH, GUESSES, COSTS)


def test_the_same_input_gives_the_same_bytes_in_any_process():
    make = (
        "__import__('costcurves').Report.from_predictions("
        "[0, 1, 0, 1, 1, 0], {'a': [1, 3, 2, 4, 2, 1], 'b': [1, 2, 1, 2, 2, 1]}).html()"
    )
    code = f"import sys; sys.stdout.buffer.write({make}.encode())"
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environment).stdout
    first, second = eval(make), eval(make)
    assert first == second
    assert first.encode() == other


def test_frames_and_dicts_give_the_same_report(report):
    for frame in (pd.DataFrame(SCORES), pl.DataFrame(SCORES)):
        assert (
            cc.Report.from_predictions(Y, frame, scenarios={"usual": HERE}).to_dict()["hull"]
            == report.to_dict()["hull"]
        )


def test_a_page_of_eight_classifiers_is_small_and_keeps_every_vertex():
    rng = np.random.default_rng(0)
    y = rng.random(5_000) < 0.2
    scores = {f"model {i}": y * (1 + 0.1 * i) + rng.normal(size=y.size) for i in range(8)}
    report = cc.Report.from_predictions(y, scores)
    assert len(report.html().encode()) < 2_500_000
    vertices = two_class_data(report.summary)["vertices"]
    hull = report.summary.hull
    of_hull = [mid is not None for mid in vertices["mid"]]
    on_page = [
        pair for pair, kept in zip(zip(vertices["fp"], vertices["tp"], strict=True), of_hull, strict=True) if kept
    ]
    n_neg, n_pos = report.summary.data.n_neg, report.summary.data.n_pos
    assert sorted((fp / n_neg, tp / n_pos) for fp, tp in on_page) == sorted(zip(hull.fpr, hull.tpr, strict=True))


@pytest.mark.study
def test_a_page_of_a_million_rows_is_below_three_megabytes_and_opens(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(10**6) < 0.1
    scores = {f"model {i}": y * (1 + 0.1 * i) + rng.normal(size=y.size) for i in range(8)}
    path = cc.Report.from_predictions(y, scores, scenarios={"usual": HERE}).write_html(tmp_path / "big.html")
    assert path.stat().st_size < 3_000_000
    with browser() as running:
        tab = open_tab(running)
        tab.go(path)
        assert tab.complaints == []


def test_json_is_strict_and_holds_the_answer(report, classes):
    document = json.loads(report.json())
    assert document == report.to_dict()
    assert (document["format"], document["version"], document["kind"]) == ("costcurves/report", 1, "two classes")
    assert document["data"] == {"rows": 200, "positives": int(Y.sum()), "negatives": int((~Y).sum())} | {
        "positive_label": "positive",
        "dropped": 3,
        "weights": [int(Y.sum()), int((~Y).sum())],
        "effective": None,
    }
    decision = document["scenarios"][0]["decision"]
    assert decision == json.loads(json.dumps(cc.RocHull.from_predictions(Y, SCORES).best(HERE).to_dict()))
    other = json.loads(classes.json())
    assert other["kind"] == "k classes"
    assert [one["cost"]["estimate"] for one in other["classifiers"]] == [
        cc.expected_cost(TRUTH, GUESSES[name], COSTS) for name in GUESSES
    ]


def test_every_picture_keeps_to_the_schema_of_vega_lite(report, classes):
    import altair as alt

    drawn = [charts.spaces(2, 0.5), charts.who_is_best(2, ("a", "b")), charts.losses(2)]
    drawn += [detail_charts.difference(2), detail_charts.explorer(2, "EUR")]
    drawn += [detail_charts.net_benefit(2, 0.3), detail_charts.calibration(2)]
    data = classes_data(classes.summary)
    drawn += [class_charts.cost_matrix(data), class_charts.cost_intervals(data), class_charts.cost_pairs(data)]
    drawn.append(class_charts.prior_simplex(data, 2, 5))
    for spec in drawn:
        filled = spec | {"datasets": {name: rows or [] for name, rows in spec["datasets"].items()}}
        alt.Chart.from_dict(filled, validate=True)
        assert "view_" not in json.dumps(spec), "names that Altair counts up differ from call to call"


def test_the_page_reaches_for_nothing_outside(report):
    page = report.html()
    own = page[: page.index('<script type="module">')] + page[page.rindex('<script type="module">') :]
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)""", own)
    assert "@import" not in own
    assert "default-src 'none'" in own


# What is said -------------------------------------------------------------------------------------------------------


def plain(markup):
    return markup.striptags().replace("\N{NO-BREAK SPACE}", " ")


def test_the_answer_is_said_in_words(report):
    summary = report.summary
    say = Speaker("bad", "EUR", 0.95)
    card = say.cards(summary)[0]
    decision = summary.answers[0].decision
    lines = {term: plain(said) for term, said in card.lines}
    assert plain(card.where) == "30 % of cases are bad; a miss costs 4 EUR, a false alarm 1 EUR"
    assert plain(card.use) == f"Use {decision.classifier} at score ≥ {decision.threshold_text}"
    said = (
        r"([\d.]+) EUR per case on these cases; ([\d.]+) EUR expected on new ones "
        r"\(95 % interval ([\d.]+) to ([\d.]+) EUR"
    )
    found = summary.answers[0].recommendation
    arrays = (found.expected_cost, found.money_estimate, found.money_lower, found.money_upper)
    numbers = [float(text) for text in re.match(said, lines["Cost"]).groups()]
    assert numbers == pytest.approx([float(array[0]) for array in arrays], abs=0.0006)
    ends = re.search(r"a miss costs ([\d.]+) EUR to ([\d.]+) EUR", lines["What would change it"])
    assert ends is not None
    hull = summary.hull
    for end, inside in ((float(ends[1]), 1.02), (float(ends[2]), 0.98)):
        within = cc.OperatingCondition(0.3, cost_fp=1, cost_fn=end * inside)
        beyond = cc.OperatingCondition(0.3, cost_fp=1, cost_fn=end / inside)
        assert hull.best(within).classifier == decision.classifier != hull.best(beyond).classifier


def test_a_trivial_choice_says_to_use_no_classifier():
    free = cc.OperatingCondition(0.2, cost_fp=1, cost_fn=1e-3)
    summary = summarise(cc.Predictions(Y, SCORES), scenarios={"free": free})
    card = Speaker("bad", "", 0.95).cards(summary)[0]
    assert plain(card.use) == "Use no classifier: never predicting bad"
    assert "whatever the data" in plain(dict(card.lines)["Cost"])


def test_one_choice_is_sure_only_where_the_data_show_it():
    rng = np.random.default_rng(5)
    y = rng.random(400) < 0.4
    good = y + rng.normal(0, 0.5, 400)
    near, far = good + rng.normal(0, 0.3, 400), rng.normal(0, 1, 400)
    where = {"range": cc.OperatingRange(prevalence=(0.35, 0.45), cost_fp=1, cost_fn=(1, 1.5))}
    found = {}
    for name, rival in (("near", near), ("far", far)):
        card = Speaker("bad", "", 0.95).cards(
            summarise(cc.Predictions(y, {"good": good, "rival": rival}), scenarios=where)
        )[0]
        found[name] = (plain(card.use), card.verdict)
    uses, verdicts = zip(found["far"], found["near"], strict=True)
    assert all(use.startswith("Use good at score ≥ ") for use in uses)
    assert verdicts == ("sure", "not sure")


def test_costs_of_zero_have_an_answer():
    free = {
        "free alarms": cc.OperatingCondition(0.2, cost_fp=0, cost_fn=1),
        "free misses": cc.OperatingCondition(0.2, cost_fp=1, cost_fn=0),
    }
    alarms, misses = Speaker("bad", "", 0.95).cards(summarise(cc.Predictions(Y, SCORES), scenarios=free))
    assert plain(dict(alarms.lines)["Cost"]).startswith("0 per case")
    assert plain(dict(alarms.lines)["What would change it"]) == "A false alarm that costs something."
    assert plain(misses.use) == "Use no classifier: never predicting bad"


def test_a_report_without_scenarios_says_so_and_still_has_the_ranges():
    page = cc.Report.from_predictions(Y, SCORES).html()
    assert "No scenario was given" in page
    assert "The best choice in each range of conditions" in page


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ({"perfect": Y + 0.0}, "On these cases perfect is the cheapest whatever the costs and frequencies are."),
        ({"perfect": Y + 0.0, "a": SCORES["a"]}, "whatever the costs and frequencies are; a never is."),
        ({"a": SCORES["a"]}, "On these cases a is the cheapest for some costs and frequencies."),
        (SCORES, "On these cases b and a can be the cheapest, depending on costs and frequencies."),
    ],
)
def test_the_overview_says_how_far_the_best_choice_reaches(scores, said):
    text = Speaker("positive", "", 0.95).overview(summarise(cc.Predictions(Y, scores))).striptags()
    assert text.endswith(said)


@pytest.mark.parametrize(("label", "word"), [("bad", "bad"), ("1", "positive"), ("true", "positive"), (1, "positive")])
def test_a_positive_label_that_is_no_word_is_called_positive(label, word):
    labels = np.where(Y, label, 0) if isinstance(label, int) else np.where(Y, label, "0").tolist()
    assert summarise(cc.Predictions(labels, {"a": SCORES["a"]}, pos_label=label)).data.positive == word


def test_the_only_classifier_that_can_be_cheapest_is_said_to_be():
    summary = cc.Report.from_class_predictions(TRUTH, {"a": TRUTH}, COSTS).summary
    card = ClassTeller(Speaker("", "", 0.95), summary, None).card()
    assert dict(card.lines)["What would change it"].startswith("On these cases no other choice is cheaper")


def test_weights_are_said_on_the_page():
    page = cc.Report.from_predictions(Y, {"a": SCORES["a"]}, sample_weight=1 + np.arange(Y.size) % 2).html()
    sizes = [(1 + np.arange(Y.size) % 2)[value == Y] for value in (True, False)]
    pos, neg = (round(w.sum() ** 2 / (w**2).sum()) for w in sizes)
    assert f"Rows are weighted, and the limits are those of {pos} and {neg} rows of equal weight." in page


def test_one_classifier_makes_a_page():
    page = cc.Report.from_predictions(Y, {"only": SCORES["a"]}, scenarios={"usual": HERE}).html()
    assert "There is no other classifier to compare with." not in page
    assert "never predicting" in page  # doing without it is its rival
    assert 'id="pairs"' not in page


@pytest.mark.filterwarnings("ignore::costcurves.WorseThanChanceWarning")
@pytest.mark.parametrize(
    "scores",
    [
        {"perfect": Y.astype(float), "tied": np.ones(Y.size)},
        pytest.param(
            {"wrong way round": -SCORES["a"]},
            marks=pytest.mark.filterwarnings("ignore::costcurves.WorseThanChanceWarning"),
        ),
        {"a": SCORES["a"], "same": SCORES["a"]},
    ],
)
def test_degenerate_classifiers_make_a_page(scores):
    report = cc.Report.from_predictions(Y, scores, scenarios={"usual": HERE})
    json.loads(report.json())
    assert report.html().endswith("</html>")


# Colours ------------------------------------------------------------------------------------------------------------


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_colours_have_the_contrast_that_wcag_asks_for_in_light_and_dark():
    style = (Path(charts.__file__).parent / "style.css").read_text(encoding="utf-8")
    palettes = [
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in re.findall(r"{[^{}]*--page:[^{}]*}", style)
    ]
    assert len(palettes) == 3
    assert palettes[1] == palettes[2]
    for colours in palettes:
        for text, ground in (
            ("ink", "page"), ("quiet", "page"), ("ink", "card"), ("quiet", "card"), ("accent", "page"), ("c0", "page"),
            ("good-ink", "good"), ("open-ink", "open"), ("bad-ink", "bad"), ("on-badge", "badge"),
        ):  # fmt: skip
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
        for k in range(charts.COLOURS):
            assert contrast(colours[f"c{k}"], colours["page"]) >= 3


def test_the_badge_of_a_card_has_the_colour_of_the_light_of_its_verdict(report):
    page = report.to_dict()["page"]
    for part, drawn in (("headlines", "headline"), ("cards", "verdict")):
        lights = [LIGHTS[one["verdict"]] for one in page[part]]
        assert re.findall(rf'class="{drawn} (\w+)"', report.html()) == lights != []
    style = (Path(charts.__file__).parent / "style.css").read_text(encoding="utf-8")
    for light in LIGHTS.values():
        assert f".headline.{light} {{" in style
        assert f".verdict.{light} {{" in style


# Files and bad input ------------------------------------------------------------------------------------------------


def test_the_page_is_written_whole_and_not_over_another(report, tmp_path):
    target = tmp_path / "report.html"
    assert report.write_html(target) == target
    assert target.read_text(encoding="utf-8") == report.html()
    target.write_text("mine", encoding="utf-8")
    with pytest.raises(cc.InputError, match=r"`path` must not exist yet, got .*: pass force=True to replace it"):
        report.write_html(target)
    assert target.read_text(encoding="utf-8") == "mine"
    report.write_html(target, force=True)
    assert target.read_text(encoding="utf-8") == report.html()
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_page_that_cannot_be_written_is_refused_before_it_is_made(report, tmp_path, monkeypatch):
    monkeypatch.setattr(cc.Report, "html", lambda self: pytest.fail("made although it cannot be written"))
    with pytest.raises(cc.InputError, match="`path` must be in a directory that exists"):
        report.write_html(tmp_path / "nowhere" / "report.html")
    with pytest.raises(cc.InputError, match="`path` must be a file, got the directory"):
        report.write_html(tmp_path, force=True)
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(cc.InputError, match="`path` must be in a directory that can be written"):
        report.write_html(tmp_path / "report.html")
    with pytest.raises(cc.InputError, match="`path` must be a path, got 3"):
        report.write_html(3)
    with pytest.raises(cc.InputError, match="`force` must be True or False, got 'yes'"):
        report.write_html(tmp_path / "report.html", force="yes")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scores": {}}, "`scores` must have at least one classifier, got 0"),
        ({"scores": 1}, "`scores` must map names to columns"),
        ({"scores": [1, 2]}, "`y_score` and `y_true` must have the same length, got 2 and 200"),
        ({"scores": {"": [1.0] * 200}}, "`scores` must be a non-empty string, got ''"),
        ({"scores": {"a": [1.0]}}, "`y_score of 'a'` and `y_true` must have the same length, got 1 and 200"),
        ({"scenarios": [HERE]}, "`scenarios` must map names to operating conditions or ranges"),
        (
            {"scenarios": {"x": 0.3}},
            "`scenarios` must hold an OperatingCondition or an OperatingRange for 'x', got 0.3",
        ),
        ({"scenarios": {"": HERE}}, "`scenarios` must be a non-empty string, got ''"),
        ({"currency": 3}, r"`currency` must be a string, got 3 \(int\)"),
        ({"title": ""}, "`title` must be a non-empty string, got ''"),
        ({"source": 3}, "`source` must be a non-empty string, got 3"),
        ({"dropped": -1}, "`dropped` must be >= 0, got -1"),
        ({"rng": -1}, "`rng` must be a numpy Generator, a seed >= 0 or None, got -1"),
        ({"pos_label": "bad"}, "`pos_label` must be True or False for boolean `y_true`, got 'bad'"),
    ],
)
def test_bad_input_is_refused(options, message):
    with pytest.raises(cc.CostCurvesError, match=message):
        cc.Report.from_predictions(Y, **{"scores": SCORES, **options})


def test_bad_input_of_k_classes_is_refused():
    with pytest.raises(cc.InputError, match="`predictions` must map names to classifiers, at least one"):
        cc.Report.from_class_predictions(TRUTH, {}, COSTS)
    with pytest.raises(cc.DataError, match="labels of the cost matrix"):
        cc.Report.from_class_predictions(["w", *TRUTH[1:]], GUESSES, COSTS)


def test_a_missing_extra_is_named(report, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("costcurves.report.page")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(cc.MissingExtraError, match=r'the page needs vl_convert: pip install "costcurves\[report\]"'):
        report.html()
    assert json.loads(report.json())["kind"] == "two classes"


def test_opening_writes_a_page_and_shows_it(report, monkeypatch):
    shown = []
    monkeypatch.setattr("webbrowser.open", shown.append)
    path = report.open()
    assert shown == [path.as_uri()]
    assert path.read_text(encoding="utf-8") == report.html()
    path.unlink()
    path.parent.rmdir()


def test_the_short_form_says_what_it_is(report, classes):
    assert repr(report) == "Report('Which classifier, at which threshold?': 2 classifiers, 200 rows, 1 scenario)"
    assert repr(classes) == "Report('Which classifier costs least?': 2 classifiers, 100 rows, 3 classes)"


# Notebooks ----------------------------------------------------------------------------------------------------------

CELL = """
import costcurves as cc
label, scores = [0, 1, 0, 1, 1, 0], {"a": [1, 3, 2, 4, 2, 1], "b": [1, 2, 1, 2, 2, 1]}
cc.Report.from_predictions(label, scores, title="In a notebook")
"""


@pytest.mark.filterwarnings("default")  # the kernel and its client are not ours
def test_a_notebook_shows_the_page_inline(tmp_path):
    nbformat, client = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    client.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    (output,) = (one for one in notebook.cells[0].outputs if one["output_type"] != "stream")  # a slow run has a bar
    assert output["data"]["text/plain"] == "Report('In a notebook': 2 classifiers, 6 rows, no scenario)"
    inline = tmp_path / "cell.html"
    inline.write_text(f"<!doctype html><body>{output['data']['text/html']}</body>", encoding="utf-8")
    with browser() as running:
        tab = open_tab(running)
        tab.page.goto(inline.as_uri())
        frame = tab.page.frames[1]
        frame.wait_for_selector("html[data-ready=yes]", state="attached", timeout=600_000)
        assert frame.text_content("h1") == "In a notebook"
        assert frame.locator("[data-spec=spaces] svg").count() == 1
        assert "Use" in frame.text_content("#now")
        assert tab.complaints == []
        assert [url for url in tab.requests if not url.startswith("file:")] in ([], ["about:srcdoc"])
