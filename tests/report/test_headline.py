"""The first lines of the page say what to do, what it costs and saves in a year, and what would change the answer."""

from __future__ import annotations

import numpy as np
import pytest

import costcurves as cc
from costcurves.report.headline import Teller
from costcurves.report.summary import summarise
from costcurves.report.words import Speaker

RNG = np.random.default_rng(11)
Y = RNG.random(600) < 0.4
SCORES = {"new": Y + RNG.normal(0, 0.5, 600), "old": Y + RNG.normal(0, 1.2, 600)}
# The highest scores belong to a negative, so that no threshold is without false alarms.
Y[0], SCORES["new"][0], SCORES["old"][0] = False, 9, 9
HERE = cc.OperatingCondition(0.3, cost_fp=1, cost_fn=4)


def headline(scores=SCORES, where=HERE, y=Y, cases=1000.0, currency="EUR", **options):
    summary = summarise(cc.Predictions(y, scores), scenarios={"here": where}, **options)
    (found,) = Teller(Speaker("bad", currency, 0.95), cases).headlines(summary)
    return found


def plain(markup):
    return markup.striptags().replace("\N{NO-BREAK SPACE}", " ")


def lines(found):
    return [plain(line) for line in found.lines]


def test_a_sure_answer_names_action_money_saving_and_turn():
    found = headline(baseline="old", baseline_threshold=0.5)
    assert found.verdict == "sure"
    assert plain(found.action).startswith("Use new at score ≥ ")
    cost, saved, turn = lines(found)
    assert "EUR per year on new cases (95 % limits " in cost
    assert saved.startswith("The data show that it saves money against today’s old at score ≥ 0.5: about ")
    assert turn.startswith("On these cases the answer changes to ")
    assert ", not 4 EUR." in turn


def test_without_cases_per_year_money_is_per_case():
    assert "EUR per case on new cases" in lines(headline(cases=None))[0]
    share = headline(where=cc.OperatingCondition.from_pc(0.4))
    assert "of the cost of getting every case wrong" in lines(share)[0]
    assert "probability-cost is" in lines(share)[-1]


def test_todays_classifier_is_kept_with_another_threshold_or_as_it_is():
    best = cc.recommend(Y, SCORES, HERE).best
    moved = headline(baseline="new", baseline_threshold=1.2)
    assert plain(moved.action) == f"Keep new and change its threshold: score ≥ {best.threshold_text} instead of 1.2"
    kept = headline(baseline="new", baseline_threshold=best.threshold)
    assert plain(kept.action) == f"Keep new at score ≥ {best.threshold_text}"
    assert lines(kept)[1] == "It decides as today."


def test_a_saving_that_is_not_shown_is_not_promised():
    twin = {"new": SCORES["new"], "near": SCORES["new"] + RNG.normal(0, 0.05, 600)}
    found = headline(twin, baseline="near")
    assert found.verdict == "not sure"
    assert "may be as good" in plain(found.why)
    assert "do not show a saving" in lines(found)[1] or found.action.striptags().startswith("Keep")


def test_no_classifier_costs_the_same_whatever_the_data_are():
    found = headline(where=cc.OperatingCondition(0.001, cost_fp=1, cost_fn=1), baseline="always positive")
    assert plain(found.action) == "Use no classifier: never predicting bad"
    cost, saved, _ = lines(found)
    assert cost == "Never predicting bad costs 1 EUR per year, whatever the data are."
    assert saved == "Against today’s always predicting bad it saves 998 EUR per year, whatever the data are."


def test_a_lucky_winner_among_many_is_said_to_bring_no_gain():
    rng = np.random.default_rng(9)
    y = np.arange(60) % 2 == 0
    noise = {f"noise {i}": rng.normal(size=60) for i in range(10)}
    answer = cc.recommend(y, noise, 0.5)
    assert answer.cheaper_unaided is not None
    assert answer.best.classifier in noise
    found = headline(noise, cc.OperatingCondition.from_pc(0.5), y=y)
    assert found.verdict == "no gain expected"
    assert plain(found.action).startswith("Expect no gain from a classifier: noise ")
    assert "or 5 others may be as good" in plain(found.why)


def test_a_range_has_one_action_and_then_its_ends():
    found = headline(where=cc.OperatingRange(prevalence=(0.2, 0.4), cost_fp=1, cost_fn=(2, 5)), baseline="old")
    assert plain(found.action).startswith("Use new at score ≥ ")
    low, high, within = lines(found)
    assert low.startswith("At the low end: ")
    assert high.startswith("At the high end: ")
    assert "today’s old" in low
    assert within.startswith("On these cases ")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"baseline": "nobody"}, r"`baseline` must be one of new, old, always negative, always positive, got 'nobody'"),
        ({"baseline_threshold": 0.5}, r"`baseline_threshold` needs `baseline`"),
        ({"cases_per_year": 0}, r"`cases_per_year` must be .*got 0"),
    ],
)
def test_impossible_baselines_and_numbers_are_refused(options, said):
    with pytest.raises(cc.InputError, match=said):
        cc.Report.from_predictions(Y, SCORES, scenarios={"here": HERE}, **options)


def test_the_page_has_the_first_lines_and_more_scenarios_have_cards():
    scenarios = {f"s{i}": cc.OperatingCondition(0.1 + 0.1 * i, cost_fp=1, cost_fn=3) for i in range(5)}
    page = cc.Report.from_predictions(Y, SCORES, scenarios=scenarios, cases_per_year=5000).html()
    assert page.count('<div class="headline ') == 3
    assert page.count('<article class="card">') == 5
    assert "Amounts per year are for 5,000 cases per year." in page
