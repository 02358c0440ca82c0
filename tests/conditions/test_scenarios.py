"""Scenarios and matrices are read as they are written, and what is wrong is found on its line."""

from __future__ import annotations

import pytest

import costcurves as cc
from costcurves.conditions.scenarios import Scenarios

GOOD = """
currency = "EUR"   # = "[not a table]"
positive = "fraud"

[scenarios.today]
prevalence = 0.01
cost_fn = 500
cost_fp = 10

[scenarios."next.year ]"]
prevalence = [0.005,
              0.02]
cost_fn = [300, 900]
cost_fp = 10

[matrices.triage]
benign = { watch = 1, urgent = 20 }
watch  = { benign = 1, urgent = 5, watch = 0.5 }

[matrices.triage.urgent]
benign = 50
watch = 10
"""


def read(tmp_path, text: str) -> Scenarios:
    path = tmp_path / "costs.toml"
    path.write_text(text, encoding="utf-8")
    return cc.read_scenarios(path)


def test_a_file_is_read_as_it_is_written(tmp_path):
    known = read(tmp_path, GOOD)
    assert list(known.scenarios) == ["today", "next.year ]"]
    assert known.scenario("today") == cc.OperatingCondition(prevalence=0.01, cost_fn=500, cost_fp=10)
    assert known.scenario("next.year ]") == cc.OperatingRange(prevalence=(0.005, 0.02), cost_fn=(300, 900), cost_fp=10)
    assert (known.currency, known.positive) == ("EUR", "fraud")
    matrix = known.matrix("triage")
    assert matrix.labels == ("benign", "watch", "urgent")
    assert matrix.values.tolist() == [[0, 1, 20], [1, 0.5, 5], [50, 10, 0]]
    assert repr(known) == "Scenarios(2 scenarios: 'today', 'next.year ]'; 1 matrix: 'triage'; positive 'fraud'; in EUR)"


def test_cases_per_year_and_what_is_in_use_today_are_read(tmp_path):
    known = read(tmp_path, 'cases_per_year = 250_000\nbaseline = "tree"\nbaseline_threshold = 0.5\n' + SCENARIO)
    assert (known.cases_per_year, known.baseline, known.baseline_threshold) == (250_000.0, "tree", 0.5)
    assert repr(known) == "Scenarios(1 scenario: 'rush'; 250,000 cases per year; today 'tree')"
    assert known.to_dict()["cases_per_year"] == 250_000.0


def test_a_byte_order_mark_and_windows_line_ends_are_no_matter(tmp_path):
    path = tmp_path / "costs.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert list(cc.read_scenarios(path).scenarios) == ["today", "next.year ]"]


SCENARIO = "[scenarios.rush]\nprevalence = 0.5\ncost_fp = 1\ncost_fn = 2\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "# one\n\n" + SCENARIO.replace("0.5", "1.4"),
            "costs.toml:4: scenario 'rush': `prevalence` must be in (0, 1), got 1.4",
        ),
        (SCENARIO.replace("= 1", "= -1"), "costs.toml:3: scenario 'rush': `cost_fp` must be >= 0, got -1"),
        (SCENARIO.replace("2", '"two"'), "costs.toml:4: scenario 'rush': `cost_fn` must be a number, got 'two' (str)"),
        (
            SCENARIO.replace("2", "[3, 2]"),
            "costs.toml:4: scenario 'rush': `cost_fn` must be a pair (low, high) with low <= high, got [3, 2]",
        ),
        (
            SCENARIO.replace("2", "[\n1,\n2,\n3]") + "[scenarios.next]\n",
            "costs.toml:4: scenario 'rush': `cost_fn` must be a number or a pair (low, high), got [1, 2, 3]",
        ),
        (
            SCENARIO + "[scenarios.next]\ncost_fp = 1\n",
            "costs.toml:5: scenario 'next': `prevalence` must be given, a number or a range [low, high]",
        ),
        (
            SCENARIO + "prevalance = 0.1\n",
            "costs.toml:5: scenario 'rush': unknown key 'prevalance'; did you mean 'prevalence'?",
        ),
        (
            "[scenarios]\nrush = { prevalence = 2, cost_fp = 1, cost_fn = 1 }\n",
            "costs.toml:2: scenario 'rush': `prevalence` must be in (0, 1), got 2",
        ),
        (
            "scenarios.rush.cost_fp = 1\nscenarios.rush.cost_fn = 1\n\nscenarios.rush.prevalence = 0\n",
            "costs.toml:4: scenario 'rush': `prevalence` must be in (0, 1), got 0",
        ),
        (
            'note = """\n[scenarios.fake]\n"""\n' + SCENARIO,
            "costs.toml:1: unknown key 'note'; known are currency, positive, cases_per_year",
        ),
        (
            "[scenarios.rush]\ncost_fp = 0\ncost_fn = 0\nprevalence = 0.5",
            "costs.toml:2: scenario 'rush': `cost_fp` and `cost_fn` must not both be 0",
        ),
        ("[scenario.rush]\n", "costs.toml:1: unknown key 'scenario'; did you mean 'scenarios'?"),
        ("scenarios = 3\n", "costs.toml:1: `scenarios` must be tables such as [scenarios.today], got 3"),
        (
            "[scenarios]\n\nrush = 3\n",
            "costs.toml:3: `scenarios` must be tables such as [scenarios.today], got rush = 3",
        ),
        (
            "\n[[scenarios]]\na = 1\n",
            "costs.toml:2: `scenarios` must be tables such as [scenarios.today], got [{'a': 1}]",
        ),
        ("currency = 3\n" + SCENARIO, 'costs.toml:1: `currency` must be a short text such as "EUR", got 3'),
        ("cases_per_year = 0\n" + SCENARIO, "costs.toml:1: `cases_per_year` must be > 0, got 0"),
        ("cases_per_year = true\n" + SCENARIO, "costs.toml:1: `cases_per_year` must be a number, got True"),
        ("\nbaseline = 3\n" + SCENARIO, "costs.toml:2: `baseline` must be a non-empty string, got 3"),
        (
            'baseline = "a"\nbaseline_threshold = nan\n' + SCENARIO,
            "costs.toml:2: `baseline_threshold` must be finite, got nan",
        ),
        ("baseline_threshold = 1\n" + SCENARIO, "costs.toml:1: `baseline_threshold` needs `baseline`"),
        ("\npositive = [1]\n" + SCENARIO, "costs.toml:2: `positive` must be one label, got [1]"),
        ("", "costs.toml:1: must have a [scenarios.NAME] or a [matrices.NAME], got neither"),
        ("x = [1,\n2\n", "costs.toml:2: not TOML: Unclosed array"),
        (SCENARIO + "cost_fn = 3\n", "costs.toml:5: not TOML"),
        (
            "[matrices.m]\na = { b = 1 }\nb = 3\n",
            "costs.toml:3: matrix 'm': row 'b' must be { predicted class = cost }",
        ),
        (
            "[matrices.m]\na = { b = 1 }\nb = { a = 1, c = 2 }\n",
            "costs.toml:3: matrix 'm': row 'b': unknown key 'c'; known are a, b",
        ),
        ("[matrices.m]\na = { b = 1 }\n\nb = { }\n", "costs.toml:4: matrix 'm': row 'b' must have a cost for 'a'"),
        ("[matrices.m]\na = { b = 1 }\nb = { a = -2 }\n", "costs.toml:3: matrix 'm': `costs` must be >= 0"),
        (
            "[matrices.m.a]\nb = 1\n[matrices.m.b]\na = true\n",
            "costs.toml:4: matrix 'm': cost of 'b' predicted 'a' must be a number, got True",
        ),
        ("[matrices.m]\na = { }\n", "costs.toml:1: matrix 'm': `costs` must have at least 2 classes, got 1"),
    ],
)
def test_what_is_wrong_is_found_on_its_line(tmp_path, text, message):
    with pytest.raises(cc.FormatError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(message)


def test_text_that_is_not_utf_8_is_found_on_its_line(tmp_path):
    path = tmp_path / "costs.toml"
    path.write_bytes(b'currency = "EUR"\npositive = "\xff"\n')
    with pytest.raises(cc.FormatError, match=r"costs\.toml:2: must be UTF-8 text"):
        cc.read_scenarios(path)


def test_an_unknown_name_lists_the_known_ones(tmp_path):
    known = read(tmp_path, SCENARIO)
    with pytest.raises(cc.InputError, match="`scenario` must be one of the scenarios 'rush', got 'ruhs'"):
        known.scenario("ruhs")
    with pytest.raises(cc.InputError, match=r"`matrix` must be one of the matrices \(there are none\), got 'm'"):
        known.matrix("m")


def test_scenarios_cannot_be_changed(tmp_path):
    with pytest.raises(TypeError):
        read(tmp_path, SCENARIO).scenarios["new"] = 1


def test_the_table_has_both_ends_of_every_range(tmp_path):
    frame = read(tmp_path, GOOD).to_frame("pandas").set_index("scenario")
    assert frame.loc["today", "cost_fn_low"] == frame.loc["today", "cost_fn_high"] == 500
    assert frame.loc["next.year ]", "prevalence_low"] == 0.005
    assert frame.loc["next.year ]", "cost_fn_high"] == 900


@pytest.mark.parametrize("name", ["german_credit_costs.toml", "vehicle_costs.toml"])
def test_shipped_costs_fit_the_shipped_data(name):
    import csv

    known = cc.read_scenarios(cc.example_path(name))
    table = name.replace("costs.toml", "scores.csv" if known.scenarios else "predictions.csv")
    with open(cc.example_path(table), encoding="utf-8") as file:
        labels = {row["label"] for row in csv.DictReader(file)}
    assert known.positive in labels if known.scenarios else set(known.matrix("toll").labels) == labels


def test_an_unknown_example_lists_the_known_ones():
    with pytest.raises(cc.InputError, match=r"`name` must be one of 'german_credit_costs\.toml'"):
        cc.example_path("../errors.py")


def test_only_a_line_feed_ends_a_line(tmp_path):
    file = tmp_path / "costs.toml"
    lines = ('currency = "EUR" # a\u2028b', "[scenarios.x]", "prevalence = 2", "cost_fn = 1", "cost_fp = 1")
    file.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(cc.FormatError, match=r"costs\.toml:3: scenario 'x'"):
        cc.read_scenarios(file)
