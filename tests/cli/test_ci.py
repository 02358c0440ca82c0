"""Verdicts for pipelines: JUnit XML, Markdown for the step summary, candidates and baselines, margins in money."""

from __future__ import annotations

import csv
import io
from xml.etree import ElementTree

import pytest

import costcurves as cc

CREDIT = ("example:german_credit", "--positive", "bad")
HERE = (*CREDIT, "--prevalence", "0.3", "--cost-fn", "5", "--cost-fp", "1")
TWO = ("--score", "forest", "--score", "tree")
VEHICLE = ("example:vehicle", "--costs", "example:vehicle")
COMMANDS = {
    "decide": ("decide", *HERE, *TWO, "--assert-better-than", "tree", "--assert-cost-below", "0.7"),
    "compare": ("compare", *HERE, *TWO, "--assert-not-worse-than", "tree"),
    "bcost": ("bcost", *VEHICLE, "--assert-cost-below", "0.7"),
    "bdeltacost": ("bdeltacost", *VEHICLE, "--pred", "forest", "--pred", "bayes", "--assert-better-than", "bayes"),
    "doctor": ("doctor", *CREDIT, "--assert-clean"),
}


@pytest.fixture(scope="module")
def credit() -> cc.Predictions:
    with open(cc.example_path("german_credit_scores.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    scores = {name: [float(row[name]) for row in rows] for name in ("forest", "tree")}
    return cc.Predictions([row["label"] for row in rows], scores, pos_label="bad")


@pytest.mark.parametrize("command", COMMANDS)
def test_junit_and_summary_have_the_verdicts_of_the_answer(run, tmp_path, command):
    (tmp_path / "summary.md").write_text("# Before\n", encoding="utf-8")
    done = run(*COMMANDS[command], "--json", "--junit", "gates.xml", "--summary", "summary.md")
    gates = done.json["gates"]
    assert done.code == (0 if all(gate["passed"] for gate in gates) else 1)
    suite = ElementTree.parse(tmp_path / "gates.xml").getroot()
    assert suite.get("tests") == str(len(gates))
    assert suite.get("failures") == str(sum(not gate["passed"] for gate in gates))
    cases = suite.findall("testsuite/testcase")
    assert [case.get("name") for case in cases] == [gate["claim"] for gate in gates]
    for case, gate in zip(cases, gates, strict=True):
        failure = case.find("failure")
        assert (failure is None) == gate["passed"]
        if failure is not None:
            assert failure.get("type") == gate["verdict"]
            assert failure.get("message").startswith(gate["reason"])
    text = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert text.startswith(f"# Before\n### costcurves {command}: ")
    assert text.count("\n| PASS |") + text.count("\n| **FAIL** |") == len(gates)
    assert "<details>" in text


def test_the_step_summary_of_the_system_is_the_default_and_no_reason_to_fail(run, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step.md"))
    gate = ("decide", *HERE, "--score", "forest", "--assert-cost-below", "0.7")
    assert run(*gate).code == 0
    assert run(*gate, "--quiet").code == 0
    assert (tmp_path / "step.md").read_text(encoding="utf-8").count("### costcurves decide: all gates passed") == 2
    run("ranges", *CREDIT)
    run("decide", *HERE, "--score", "forest")
    assert (tmp_path / "step.md").read_text(encoding="utf-8").count("###") == 2
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "nowhere" / "step.md"))
    done = run(*gate)
    assert done.code == 0
    assert "Warning: the step summary cannot be written" in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("decide", *HERE, "--junit", "g.xml"), "--junit needs a gate: one of the options --assert-..."),
        (("compare", *HERE, "--summary", "s.md"), "--summary needs a gate"),
        ((*COMMANDS["doctor"], "--junit", "no/g.xml"), "cannot be written: there is no folder no"),
        ((*COMMANDS["bcost"], "--summary", "."), "is a folder: name a file"),
        (("decide", *CREDIT, "--max-fpr", "0.1", "--junit", "g.xml"), "--max-fpr and --junit exclude each other"),
        (("decide", *HERE, "--candidate", "forest"), "--candidate goes with --baseline, --assert-better-than or"),
        (("decide", *HERE, "--candidate", "wood", "--baseline", "tree"), "'wood' is not one of the classifiers"),
        (("decide", *HERE, "--candidate", "tree", "--baseline", "tree"), "are both 'tree'"),
        (("decide", *HERE, "--baseline", "wood"), "'wood' is not one of the classifiers"),
        (("decide", *HERE, "--baseline-threshold", "0.5"), "--baseline-threshold needs a --baseline that has"),
        (
            ("decide", *CREDIT, "--pc", "0.2..0.4", "--baseline", "tree", "--baseline-threshold", "0.5"),
            "--baseline-threshold needs a condition, not a range, or a --candidate",
        ),
        (
            ("decide", *CREDIT, "--pc", "0.2..0.4", "--candidate", "tree", "--baseline", "always negative"),
            "--candidate against 'always negative' needs a condition, not a range",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(run, tmp_path, arguments, words):
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert not list(tmp_path.glob("*.xml"))


def test_names_are_shown_as_text_in_xml_and_markdown(run, table, tmp_path):
    name = '<b>&"a|b`*_\x1b[31m\u202e]]>'
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["y", name, "other"])
    writer.writerows([[i % 2, (i % 2) + (i % 5) / 4, (i % 3) / 2] for i in range(90)])
    path = table("t.csv", buffer.getvalue())
    gates = ("--assert-better-than", name, "--candidate", "other", "--junit", "g.xml", "--summary", "s.md")
    assert run("decide", path, "--label", "y", "--pc", "0.4", *gates, "--quiet").code == 1
    case = ElementTree.parse(tmp_path / "g.xml").getroot().find("testsuite/testcase")
    assert case.get("name") == 'other better than <b>&"a|b`*_\\x1b[31m\\u202e]]>'
    head, _, answer = (tmp_path / "s.md").read_text(encoding="utf-8").partition("<details>")
    assert '\\<b\\>\\&"a\\|b\\`\\*\\_' in head
    assert "\n````" in answer or "\n```" in answer
    assert not set("\x1b\u202e") & set(head + answer)


# Candidates and baselines ------------------------------------------------------------------------------------


def test_a_candidate_is_judged_as_the_recommended_classifier_is(run, credit):
    here = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)
    answer = credit.recommend(here)
    # The recommended classifier is judged as the recommendation is, whether it is named or not.
    arguments = ("decide", *HERE, *TWO, "--assert-better-than", "tree", "--json")
    done = run(*arguments, "--candidate", "forest")
    assert done.json["gates"] == run(*arguments).json["gates"]
    assert done.json["gates"][0]["verdict"] == ("shown" if answer.saving("tree").shown else "not shown")
    other = run("decide", *HERE, *TWO, "--candidate", "tree", "--assert-better-than", "forest", "--json")
    assert other.code == 1
    worse = answer.worse[answer.index("tree")]
    assert other.json["gates"][0]["verdict"] == ("shown otherwise" if worse else "not shown")
    assert other.json["gates"][0]["cases_needed"] is None
    over = run("decide", *CREDIT, *TWO, "--pc", "0.3..0.6", "--candidate", "forest", "--assert-better-than", "tree")
    wide = credit.compare("forest", "tree", pc=cc.OperatingRange.from_pc(0.3, 0.6))
    assert over.code == (0 if (wide.upper < 0).all() else 1)


def test_the_cost_of_a_candidate_may_be_asserted(run, credit):
    answer = credit.recommend(cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5))
    upper = float(answer.money_upper[answer.index("tree")])
    arguments = ("decide", *HERE, *TWO, "--candidate", "tree", "--assert-cost-below")
    assert run(*arguments, upper + 1e-6).code == 0
    failed = run(*arguments, upper - 1e-6, "--json")
    assert failed.code == 1
    assert failed.json["gates"][0]["cases_needed"] > 1000
    otherwise = run(*arguments, "0.1", "--json").json["gates"][0]
    assert (otherwise["verdict"], otherwise["cases_needed"]) == ("shown otherwise", None)
    assert "the lower limit at 95 % is" in otherwise["reason"]


def test_what_is_saved_against_a_baseline_is_said(run, credit):
    answer = credit.recommend(cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5))
    document = run("decide", *HERE, *TWO, "--baseline", "tree", "--json").json
    (one,) = document["against"]
    saving = answer.saving("tree")
    assert one["candidate"] == answer.best.classifier == "forest"
    assert one["saving"] == pytest.approx(saving.money_estimate)
    assert one["saving_lower"] == pytest.approx(saving.money_lower)
    assert one["saving_upper"] == pytest.approx(saving.money_upper)
    assert (one["verdict"] == "shown") == saving.shown
    assert document["gates"] == []
    text = " ".join(run("decide", *HERE, *TWO, "--baseline", "tree").out.split())
    assert "Against tree: forest saves 0.02847 per case expected on new rows" in text
    assert "rows would be needed to show it" in text
    itself = run("decide", *HERE, *TWO, "--baseline", "forest").out
    assert "Against forest: nothing is saved, it is the recommended one." in itself
    ranged = run("decide", *CREDIT, *TWO, "--pc", "0.2..0.6", "--baseline", "tree", "--json").json["against"]
    assert ranged[0]["saving"] is None
    trivial = run("decide", *HERE, *TWO, "--baseline", "always negative", "--candidate", "tree", "--json").json
    (one,) = trivial["against"]
    i = answer.index("tree")
    assert one["verdict"] == "shown"
    assert one["saving_lower"] == pytest.approx(1.5 - answer.money_upper[i])


def test_a_baseline_may_have_a_threshold_of_its_own(run, credit):
    here = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)
    today = ("--baseline", "tree", "--baseline-threshold", "0.5", "--assert-better-than", "tree")
    done = run("decide", *HERE, *TWO, *today, "--json")
    saving = credit.recommend(here).saving("tree", 0.5)
    assert done.code == 0
    assert done.json["against"][0]["saving_lower"] == pytest.approx(saving.money_lower)
    assert done.json["gates"][0]["verdict"] == "shown"
    named = run("decide", *HERE, *TWO, *today, "--candidate", "forest", "--json")
    assert named.json["against"] == done.json["against"]
    today = ("--baseline", "forest", "--baseline-threshold", "0.5")
    other = run("decide", *HERE, *TWO, *today, "--candidate", "tree", "--json").json["against"][0]
    answer = credit.recommend(here)
    saving = answer.saving("forest", 0.5, candidate="tree")
    told = [other[name] for name in ("saving", "saving_lower", "saving_upper")]
    assert told == [saving.money_estimate, saving.money_lower, saving.money_upper]
    # On new cases: the threshold of the candidate was chosen on these, that of the baseline was not.
    expected = saving.baseline.expected_cost - answer.money_estimate[answer.index("tree")]
    assert other["saving"] == pytest.approx(expected)
    assert expected < saving.baseline.expected_cost - saving.choice.expected_cost


def test_a_margin_is_money_at_a_condition_with_costs(run, credit):
    here = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)
    most = credit.compare("tree", "forest", pc=here).at(here).money.upper
    assert most > 0
    arguments = ("compare", *HERE, *TWO, "--candidate", "tree", "--assert-not-worse-than", "forest", "--margin")
    assert run(*arguments, most * 1.01).code == 0
    failed = run(*arguments, most * 0.99, "--json")
    assert failed.code == 1
    assert "the upper limit of its excess cost per case is" in failed.json["gates"][0]["reason"]
    share = credit.compare("tree", "forest", pc=[0.5])
    at = ("compare", *CREDIT, *TWO, "--pc", "0.5", "--candidate", "tree", "--assert-not-worse-than", "forest")
    assert run(*at, "--margin", float(share.upper[0]) * 1.01).code == 0
    assert run(*at, "--margin", float(share.upper[0]) * 0.99).code == 1
