"""A report of predictions with folds, and one of thresholds that were found on other cases."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import costcurves as cc
from browser import browser, open_tab
from costcurves.cli import main
from costcurves.report.words import NOTES

RNG = np.random.default_rng(12)
HERE = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=4)
Y = RNG.random(240) < 0.4
SCORES = {"sharp": RNG.normal(1.5 * Y), "dull": RNG.normal(Y, 2)}


def test_predictions_with_folds_are_judged_at_the_thresholds_of_other_folds_under_the_name_of_their_class():
    X = np.column_stack(list(SCORES.values()))
    models = {"logit": LogisticRegression(), "bayes": GaussianNB()}
    evaluation = cc.evaluate(models, X, np.where(Y, "ill", "well"), pos_label="ill", cv=5)
    report = cc.Report.from_predictions(evaluation, scenarios={"usual": HERE})
    found = report.to_dict()
    assert found["policy"] == "crossfit"
    assert found["data"]["positive_label"] == "ill"
    for one in found["classifiers"]:
        curve = evaluation.curve(one["name"], policy="crossfit")
        assert one["cost_curve"] == curve.to_dict()["steps"]
        assert one["band"]["upper"] == curve.band(pc=one["band"]["pc"]).upper.tolist()
    pair = evaluation.compare("logit", "bayes")  # whose verdicts keep their level
    assert found["differences"][0]["lower"] == pair.lower.tolist()
    # The answer allows for the choice of the threshold by itself.
    assert found["scenarios"][0]["recommendation"] == evaluation.recommend(HERE).to_dict()
    assert evaluation.report(scenarios={"usual": HERE}).json() == report.json()
    page = report.html()
    assert NOTES["crossfit"] in page
    assert "always predicting <bdi>ill</bdi>" in page


def test_without_folds_thresholds_are_the_best_on_these_cases_unless_a_policy_is_given():
    plain = cc.Report.from_predictions(Y, SCORES)
    assert plain.to_dict()["policy"] == "optimal"
    assert NOTES["optimal"] in plain.html()
    folded = cc.Predictions(Y, SCORES, folds=RNG.integers(0, 4, Y.size))
    assert cc.Report.from_predictions(folded, policy="optimal").json() == plain.json()
    assert cc.Report.from_predictions(Y, SCORES, policy="crossfit").to_dict()["policy"] == "crossfit"
    assert cc.Report.from_predictions(Y, SCORES, policy=0.5).to_dict()["policy"] == "given"


def test_thresholds_of_other_cases_are_those_of_answers_curves_and_comparisons():
    tune, test = np.arange(240) < 120, np.arange(240) >= 120
    policy = {n: cc.thresholds.validation(cc.RocCurve.from_predictions(Y[tune], s[tune])) for n, s in SCORES.items()}
    here = {name: scores[test] for name, scores in SCORES.items()}
    report = cc.Report.from_predictions(Y[test], here, policy=policy, scenarios={"usual": HERE})
    found = report.to_dict()
    assert found["policy"] == "validation"
    answer = cc.recommend(Y[test], here, HERE, policy=policy)
    assert found["scenarios"][0]["recommendation"] == answer.to_dict()
    low, high = found["scenarios"][0]["stays_best_for_pc"]
    costs = {n: cc.CostCurve.from_predictions(Y[test], s, policy=policy[n]) for n, s in here.items()}
    for pc in np.linspace(low, high, 7)[1:-1]:
        everybody = {n: curve.evaluate(pc) for n, curve in costs.items()}
        everybody |= {"always negative": pc, "always positive": 1 - pc}
        assert everybody[answer.best.classifier] == pytest.approx(min(everybody.values()))
    assert (
        found["differences"][0]["estimate"]
        == cc.compare(Y[test], here["sharp"], here["dull"], policy=tuple(policy.values())).estimate.tolist()
    )
    assert NOTES["validation"] in report.html()


def test_ranges_overview_and_sliders_follow_thresholds_of_other_cases(tmp_path):
    tune, test = np.arange(240) < 120, np.arange(240) >= 120
    policy = {n: cc.thresholds.validation(cc.RocCurve.from_predictions(Y[tune], s[tune])) for n, s in SCORES.items()}
    here = {name: scores[test] for name, scores in SCORES.items()}
    report = cc.Report.from_predictions(Y[test], here, policy=policy, scenarios={"usual": HERE})
    curves = {n: cc.CostCurve.from_predictions(Y[test], s, policy=policy[n]) for n, s in here.items()}

    found = report.to_dict()["ranges"]
    for name, low, high in zip(found["classifier"], found["pc_low"], found["pc_high"], strict=True):
        middle = (low + high) / 2
        least = min(min(middle, 1 - middle), *(float(curve.evaluate(middle)) for curve in curves.values()))
        own = min(middle, 1 - middle) if "always" in name else float(curves[name].evaluate(middle))
        assert own == pytest.approx(least)
    page = report.write_html(tmp_path / "page.html")
    with browser() as running:
        tab = open_tab(running)
        tab.go(page)
        for share, cost in ((30, 4), (10, 3), (50, 1), (5, 30)):
            tab.enter("#prevalence", share)
            tab.enter("#cost_fn", cost)
            where = cc.OperatingCondition(share / 100, cost_fp=1, cost_fn=cost)
            shown = tab.page.eval_on_selector("#now", "e => ({...e.dataset})")
            answer = cc.recommend(Y[test], here, where, policy=policy)
            names = {-2: "always positive", -1: "always negative", **dict(enumerate(here))}
            assert names[int(shown["k"])] == answer.best.classifier
            assert float(shown["cost"]) == pytest.approx(answer.best.expected_cost)
            if int(shown["k"]) >= 0:
                flagged = here[answer.best.classifier] >= float(shown["t"])
                assert (flagged == (here[answer.best.classifier] >= answer.best.threshold)).all()
        assert not tab.complaints
    text = page.read_text(encoding="utf-8")
    assert "at the thresholds that were found on other cases" in text
    assert "at its best threshold on these cases" not in text


def test_the_command_takes_thresholds_from_another_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open(cc.example_path("german_credit_scores.csv"), encoding="utf-8") as file:
        head, *rows = file.readlines()
    (tmp_path / "tune.csv").write_text(head + "".join(rows[::2]))
    (tmp_path / "test.csv").write_text(head + "".join(rows[1::2]))
    columns = ("--label", "label", "--positive", "bad", "--score", "forest", "--score", "tree")
    asked = ("report", "test.csv", *columns, "--pc", "0.6", "--thresholds-from", "tune.csv", "-o", "page.html")
    assert main(list(asked)) == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert NOTES["validation"] in page
    assert "--thresholds-from tune.csv" in page
