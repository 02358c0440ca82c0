"""What the page says in the browser is true: counts add up, units are named, names are names, and 0 is a cost."""

from __future__ import annotations

import csv
import io
import re
from fractions import Fraction
from importlib import resources

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

import costcurves as cc
from browser import browser, open_tab
from costcurves.report.datasets import two_class_data
from laws import random_worlds

RNG = np.random.default_rng(3)
LABEL = RNG.random(300) < 0.25
NAMES = ("forest", "logit", "\u202egnp.exe\u202c", "עברית (2)", "two\nlines \x1b[31m")
SCORES = {
    name: np.round(LABEL * gap + RNG.normal(0, 1, LABEL.size), 1)
    for name, gap in zip(NAMES, (1.5, 1.3, 1.1, 0.9, 0.7), strict=True)
}
SCENARIOS = {
    "usual": cc.OperatingCondition(0.3, cost_fp=1, cost_fn=5),
    "a pc": cc.OperatingCondition.from_pc(0.4),
    "some pc": cc.OperatingRange.from_pc(0.2, 0.6),
}
CELLS = ("tp", "fn", "fp", "tn")


@pytest.fixture(scope="module")
def running():
    with browser() as one:
        yield one


@pytest.fixture(scope="module")
def report():
    title = "Title \u202e reversed\x1b"
    return cc.Report.from_predictions(
        LABEL, SCORES, scenarios=SCENARIOS, currency="EUR", title=title, source="\u202ecsv"
    )


@pytest.fixture(scope="module")
def tab(running, report, tmp_path_factory):
    one = open_tab(running)
    one.go(report.write_html(tmp_path_factory.mktemp("report") / "report.html"))
    yield one
    assert one.complaints == []
    one.page.close()


def whole(text: str) -> int:
    return int(text.replace(",", ""))


# Counts --------------------------------------------------------------------------------------------------------------


@pytest.mark.law
def test_whole_cases_add_up_and_stay_next_to_the_exact_ones(running):
    rows = []
    for rng in random_worlds(3000, stream=1613):
        share = float(rng.choice([rng.random(), 10.0 ** rng.uniform(-9, -1), rng.integers(1, 2000) / 2000]))
        rates = [float(rng.choice([rng.random(), 0.0, 1.0, rng.integers(0, 21) / 20])) for _ in range(2)]
        rows.append([min(max(share, 1e-9), 1 - 1e-9), *rates])
    script = resources.files("costcurves.report").joinpath("numbers.js").read_text(encoding="utf-8")
    page = running.new_page()
    code = "; return rows.map(([p, y, x]) => { const n = casesFor(p); return {n, ...wholeCases(n, p, y, x)} })"
    answers = page.evaluate("([code, rows]) => new Function('rows', code)(rows)", [script + code, rows])
    page.close()
    for (share, found, alarms), one in zip(rows, answers, strict=True):
        total, cells = one["n"], [one[cell] for cell in CELLS]
        assert all(isinstance(count, int) and count >= 0 for count in cells)
        assert sum(cells) == total
        p, y, x = Fraction(share), Fraction(found), Fraction(alarms)
        exact = [total * p * y, total * p * (1 - y), total * (1 - p) * x, total * (1 - p) * (1 - x)]
        # A hair for the rounding of floats, of numbers up to 1e10.
        assert all(abs(count - value) < 1 + Fraction(1, 1000) for count, value in zip(cells, exact, strict=True))
        assert all(count == 0 for count, value in zip(cells, exact, strict=True) if value == 0)
        assert abs(one["tp"] + one["fn"] - total * p) <= Fraction(1, 2) + Fraction(1, 1000)
        assert total == 1000 or total * min(p, 1 - p) < 100
        assert total * min(p, 1 - p) >= 10


@pytest.mark.law
def test_no_text_in_a_download_begins_a_formula_and_numbers_stay(running):
    texts, numbers = ["=1+1", "+1", "-2", "@SUM(A1)", "\t=1", "\r=1", "＝1", 'a"b', "a,b", "a\r\nb", ""], [0.0]
    for rng in random_worlds(100, stream=1714):
        letters = [
            "=",
            "+",
            "-",
            "@",
            "\t",
            "\r",
            "\n",
            ",",
            '"',
            "'",
            " ",
            "ä",
            "😀",
            chr(int(rng.integers(32, 0xD7FF))),
        ]
        texts.append("".join(rng.choice(letters, size=int(rng.integers(1, 6)))))
        numbers.append(float(rng.choice([-1, 1]) * 10.0 ** rng.uniform(-300, 300)))
    numbers += [-1.5] * (len(texts) - len(numbers))
    script = resources.files("costcurves.report").joinpath("numbers.js").read_text(encoding="utf-8")
    page = running.new_page()
    code = "([code, columns]) => new Function('columns', code)(columns)"
    text = page.evaluate(code, [script + "; return csvText(columns)", {"name": texts, "number": numbers}])
    page.close()
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    assert head == ["name", "number"]
    for (shown, number), name, value in zip(rows, texts, numbers, strict=True):
        assert shown == (f"'{name}" if name.startswith(tuple("=+-@\t\r\n＝＋－＠")) else name)
        assert float(number) == value


def test_counts_on_the_page_add_up(tab):
    page, rng = tab.page, np.random.default_rng(5)
    for share in (30, 25, 0.2, 99.7, *rng.uniform(1, 99, 6)):
        tab.enter("#prevalence", share)
        tab.enter("#cutslider", rng.random())
        cells = {cell: whole(page.inner_text(f"#{cell}")) for cell in CELLS}
        total = whole(page.locator("caption .cases").inner_text().split()[0])
        assert sum(cells.values()) == total
        assert cells["tp"] + cells["fn"] == pytest.approx(total * share / 100, abs=0.51)
        flagged, rightly = re.search(
            r"cases\. ([\d,]+) (?:is|are) flagged(?:, ([\d,]+) of)?", page.inner_text("#price")
        ).groups()
        assert whole(flagged) == cells["tp"] + cells["fp"]
        assert whole(rightly or "0") == cells["tp"]
    page.click("#bestcut")
    tab.enter("#prevalence", 30)


# Units and conditions ------------------------------------------------------------------------------------------------


def test_amounts_of_money_have_their_currency_wherever_they_stand(tab):
    text = tab.page.text_content("#pairs table")
    assert re.search(r"−?[\d.]+\sEUR per case \(p", text)
    assert tab.page.text_content("[data-spec=explorer]").count("cost per case (EUR)") == 1


def test_only_pc_is_said_of_a_condition_of_which_only_pc_is_known(tab, report):
    page = tab.page
    usual, one, some = page.locator(".card").all_text_contents()
    assert "30\xa0% of cases are positive; a miss costs 5\xa0EUR" in usual
    for text in (one, some):
        assert "% of cases" not in text
        assert "EUR" not in text
        assert "a miss costs" not in text
        assert "of the cost of getting every case wrong" in text
    assert "probability-cost 0.4;" in one
    assert "probability-cost 0.2 to 0.6;" in some
    # The buttons set a condition with this pc, at the prevalence of the data and in false alarms.
    for i, pc in ((1, 0.4), (2, 0.2), (3, 0.6)):
        page.locator(".goals button").nth(i).click()
        tab.settle()
        p, fp, fn = (float(page.input_value(f"#{name}")) for name in ("prevalence", "cost_fp", "cost_fn"))
        assert p / 100 == pytest.approx(LABEL.mean(), abs=0.0006)
        assert fp == 1
        assert cc.OperatingCondition(p / 100, cost_fp=fp, cost_fn=fn).pc == pytest.approx(pc)
    page.locator(".goals button").first.click()
    tab.settle()


def test_what_is_known_of_a_condition_stands_in_the_json(report):
    usual, one, some = report.to_dict()["scenarios"]
    assert [usual["condition"]["pc_only"], one["condition"]["pc_only"], some["range"]["pc_only"]] == [False, True, True]
    assert some["ends"][0]["condition"]["pc_only"]


@pytest.mark.parametrize(("miss", "alarm"), [(5, 0), (0, 3), (2, 0), (0, 0.5)])
def test_where_one_kind_of_error_costs_nothing_the_page_says_what_the_library_says(tab, miss, alarm):
    tab.enter("#cost_fn", miss)
    tab.enter("#cost_fp", alarm)
    best = cc.recommend(LABEL, SCORES, cc.OperatingCondition(0.3, cost_fp=alarm, cost_fn=miss)).best
    word = {"always negative": "never", "always positive": "always"}[best.classifier]
    assert tab.page.inner_text("#now").startswith(
        f"Use no classifier: {word} predicting positive costs 0\xa0EUR per case"
    )
    slider = tab.page.locator(f"input[data-for={'cost_fp' if alarm == 0 else 'cost_fn'}]")
    assert float(slider.input_value()) == pytest.approx(float(slider.get_attribute("min")))
    tab.page.locator(".goals button").first.click()
    tab.settle()


def test_where_both_kinds_of_error_cost_nothing_the_page_says_so(tab):
    for name in ("cost_fn", "cost_fp"):
        tab.enter(f"#{name}", 0)
    assert tab.page.inner_text("#now") == "Nothing is at stake: both costs are 0, and every choice costs the same."
    tab.page.locator(".goals button").first.click()
    tab.settle()
    assert tab.page.inner_text("#now").startswith("Use ")


# Capacity, net benefit and calibration -------------------------------------------------------------------------------


def test_the_choice_within_a_capacity_is_the_cheapest_of_all_points_that_flag_no_more(tab):
    page, seen = tab.page, set()
    for share, miss, checks, cases in (
        (30, 5, 200, 1000),
        (30, 5, 5, 100),
        (30, 5, 990, 1000),
        (25, 40, 77, 520),
        (10, 9, 0, 50),
    ):
        for name, value in (("prevalence", share), ("cost_fn", miss), ("checks", checks), ("cases", cases)):
            tab.enter(f"#{name}", value)
        tab.settle()
        where = cc.OperatingCondition(share / 100, cost_fp=1, cost_fn=miss)
        points = [(0.0, 0.0)]
        for scores in SCORES.values():
            flagged = [scores >= cut for cut in np.unique(scores)]
            points += [(one[~LABEL].mean(), one[LABEL].mean()) for one in flagged]
        p = share / 100
        costs = [
            where.money(where.pc * (1 - tpr) + (1 - where.pc) * fpr)
            for fpr, tpr in points
            if p * tpr + (1 - p) * fpr <= checks / cases + 1e-12
        ]
        said = page.eval_on_selector("#capped", "e => ({...e.dataset, text: e.textContent})")
        assert float(said["cost"]) == pytest.approx(min(costs), rel=1e-9)
        load = p * float(said["y"]) + (1 - p) * float(said["x"])
        assert load <= checks / cases + 1e-9
        binding = float(said["cost"]) > float(page.eval_on_selector("#now", "e => e.dataset.cost")) * (1 + 1e-9)
        assert said["text"].startswith("With this limit," if binding else "The choice above flags")
        assert page.locator("[class*='mark-symbol'][class*='capped'] path").count() == binding
        seen.add(binding)
    assert seen == {True, False}
    page.click("#unlimited")
    assert re.fullmatch(r"The choice above flags [\d.,]+ of 50 cases a day\.", page.inner_text("#capped"))
    tab.enter("#cases", 1000)
    page.locator(".goals button").first.click()
    tab.settle()


def test_decision_curves_are_the_best_net_benefit_of_any_threshold(tab, report):
    table, p = two_class_data(report.summary)["benefits"], report.summary.start.prevalence
    for k, scores in enumerate(SCORES.values()):
        cuts = [np.inf, *np.unique(scores)]
        tpr = np.array([(scores >= cut)[LABEL].mean() for cut in cuts])
        fpr = np.array([(scores >= cut)[~LABEL].mean() for cut in cuts])
        at, benefit = (np.array(table[field])[np.array(table["k"]) == k] for field in ("at", "benefit"))
        best = (p * tpr[:, None] - (1 - p) * fpr[:, None] * at / (1 - at)).max(axis=0)
        assert benefit == pytest.approx(best, abs=1e-6)
    assert tab.page.locator("[data-spec=benefit] g.mark-line path").count() == len(SCORES) + 2
    tab.enter("#cost_fn", 3)
    wide = tab.page.evaluate("() => document.querySelector('[data-spec=benefit] .background').getBBox().width")
    rule = tab.page.get_attribute("[data-spec=benefit] g.mark-rule.role-mark line", "transform")
    assert float(re.search(r"[\d.]+", rule)[0]) == pytest.approx(0.25 * wide, abs=0.6)
    tab.page.locator(".goals button").first.click()
    tab.settle()


def test_only_scores_between_0_and_1_are_asked_to_be_probabilities(report):
    assert all(one.calibration is None for one in report.summary.classifiers)
    rng = np.random.default_rng(8)
    scores = {"p": rng.random(LABEL.size), "z": rng.normal(size=LABEL.size), "0 or 1": LABEL.astype(float)}
    found = cc.Report.from_predictions(LABEL, scores).summary
    assert [one.calibration is not None for one in found.classifiers] == [True, False, False]
    table = two_class_data(found)["calibration"]
    share, mean = calibration_curve(LABEL, scores["p"], n_bins=10)
    assert table["share"] == pytest.approx(share.tolist(), abs=1e-6)
    assert table["score"] == pytest.approx(mean.tolist(), abs=1e-6)


# Names ---------------------------------------------------------------------------------------------------------------

ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066\u2067]")


def test_no_character_on_the_page_does_anything_to_the_text_around_it(tab):
    page = tab.page
    shown = page.evaluate(
        """() => [document.title, document.body.innerText,
            document.documentElement.outerHTML.replace(/<script.*?<\\/script>/gs, ""),
            ...[...document.querySelectorAll("option, [title], [aria-label]")].map(
                (e) => `${e.textContent} ${e.title} ${e.getAttribute("aria-label")}`)]"""
    )
    for text in shown:
        assert not ACTING.search(text), ACTING.search(text)
    assert r"\u202egnp.exe\u202c" in page.inner_text(".legend")
    assert r"two\nlines \x1b[31m" in page.inner_text(".legend")
    assert page.title() == r"Title \u202e reversed\x1b"
    # What the page itself is made of is not written out.
    assert page.inner_text("body").replace(r"two\nlines", "").count(r"\n") == 0


def test_names_of_either_direction_stand_in_elements_or_marks_of_their_own(tab):
    page = tab.page
    name = NAMES[3]
    loose = page.evaluate(
        """(name) => { const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            while (walk.nextNode()) { const node = walk.currentNode, box = node.parentElement;
                if (node.data.includes(name) && !box.closest("bdi, script, svg, [dir=auto]")
                    && !node.data.includes("\u2068" + name + "\u2069")) found.push(box.outerHTML.slice(0, 200)); }
            return found; }""",
        name,
    )
    assert loose == []


def test_tooltips_name_the_classifier(tab):
    page = tab.page
    known = {"forest", "logit", "always positive", "never positive"}
    for space in ("cost_group", "roc_group"):
        page.locator("[data-spec=spaces]").scroll_into_view_if_needed()
        box = page.locator(f"[data-spec=spaces] .{space} .background").first.bounding_box()
        tips = []
        for x in np.linspace(0.05, 0.95, 7):
            for y in np.linspace(0.2, 0.9, 5):
                tab.point(box, x, y)
                tips.append(
                    page.evaluate("() => document.querySelector('#vg-tooltip-element.visible')?.innerText ?? ''")
                )
        tips = [tip for tip in tips if tip]
        assert len(tips) > 20
        assert not any("undefined" in tip for tip in tips)
        assert known & {re.match(r"classifier\s+(.+)", tip)[1].strip() for tip in tips}
    page.mouse.move(0, 0)


# Assistive technology ------------------------------------------------------------------------------------------------


def test_a_slider_says_its_value_while_it_is_moved(tab):
    page = tab.page
    for name, unit in (("prevalence", "%"), ("cost_fn", "EUR"), ("cost_fp", "EUR")):
        slider = page.locator(f"input[data-for={name}]")
        slider.focus()
        for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "PageUp"):
            page.keyboard.press(key)
            assert slider.get_attribute("aria-valuetext") == f"{page.input_value(f'#{name}')} {unit}"
    cut = page.locator("#cutslider")
    cut.focus()
    page.keyboard.press("ArrowRight")
    tab.settle()
    said = page.eval_on_selector("#explored", "e => e.dataset.t")
    assert float(cut.get_attribute("aria-valuetext").removeprefix("score ≥ ")) == pytest.approx(float(said), rel=1e-3)
    page.click("#bestcut")
    page.locator(".goals button").first.click()
    tab.settle()


def test_the_name_of_a_control_holds_what_is_seen_on_it(tab):
    named = tab.page.evaluate(
        """() => [...document.querySelectorAll("button[aria-label], a[aria-label], [role=button][aria-label]")]
            .map((e) => [e.getAttribute("aria-label"), e.innerText])"""
    )
    assert [pair for pair in named if pair[1].strip().lower() not in pair[0].lower()] == []


def test_every_image_has_a_name(tab):
    nameless = tab.page.evaluate(
        """() => [...document.querySelectorAll("svg, img, [role=img], [role^=graphics]")]
            .filter((e) => !e.closest("[aria-hidden=true]") && !e.getAttribute("aria-label"))
            .map((e) => e.outerHTML.slice(0, 100))"""
    )
    assert nameless == []
    assert tab.page.locator(".chart[role][aria-label] svg").count() == 6
