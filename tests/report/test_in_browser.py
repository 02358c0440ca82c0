"""The page in a real browser: what is moved moves what the library computes, and nothing leaves the page."""

from __future__ import annotations

import io
import json
import re

import duckdb
import numpy as np
import pandas as pd
import pytest

import costcurves as cc
from browser import browser, open_tab
from costcurves._base.text import cut_text, safe
from costcurves.report.numbers import rounded, with_minus

# Marks around names that are read in their own direction.
ISOLATES = dict.fromkeys((0x2068, 0x2069))

RNG = np.random.default_rng(7)
LABEL = RNG.random(400) < 0.3
SCORES = {
    name: np.round(LABEL * gap + RNG.normal(0, spread, LABEL.size), 2)
    for name, gap, spread in (("forest", 1.4, 1.0), ("logit", 1.2, 0.8), ("rules", 0.7, 0.9))
}
HERE = cc.OperatingCondition(0.3, cost_fp=1, cost_fn=5)
SCENARIOS = {
    "usual": HERE,
    "unsure": cc.OperatingRange(prevalence=(0.1, 0.4), cost_fp=1, cost_fn=(3, 8)),
    "rare": cc.OperatingCondition(0.02, cost_fp=2, cost_fn=40),
}


@pytest.fixture(scope="module")
def running():
    with browser() as one:
        yield one


@pytest.fixture(scope="module")
def report():
    return cc.Report.from_predictions(LABEL, SCORES, scenarios=SCENARIOS, currency="€", title="Three classifiers")


@pytest.fixture(scope="module")
def tab(running, report, tmp_path_factory):
    one = open_tab(running)
    one.go(report.write_html(tmp_path_factory.mktemp("report") / "report.html"))
    yield one
    one.page.close()


@pytest.fixture(autouse=True)
def _at_the_start(request):
    """Leave the shared page as it was."""
    yield
    if "tab" in request.fixturenames:
        one = request.getfixturevalue("tab")
        one.page.eval_on_selector_all(".switch", "boxes => boxes.forEach(box => { if (!box.checked) box.click() })")
        for name, value in (("prevalence", 30), ("cost_fn", 5), ("cost_fp", 1)):
            one.enter(f"#{name}", value)
        for name, value in (("axis", "pc"), ("bands", "off"), ("pair", "0"), ("model", "0")):
            one.page.select_option(f"#{name}", value)
        one.page.click("#unlimited")
        one.page.click("#bestcut")
        one.settle()


def condition(tab):
    values = [float(tab.page.input_value(f"#{name}")) for name in ("prevalence", "cost_fp", "cost_fn")]
    return cc.OperatingCondition(values[0] / 100, cost_fp=values[1], cost_fn=values[2])


def chosen(tab):
    return tab.page.eval_on_selector("#now", "e => ({...e.dataset, text: e.textContent})")


def numbers(text):
    return [float(number) for number in re.findall(r"-?[\d.]+(?:e-?\d+)?", text)]


def place(tab, layer):
    """Return where the one symbol of a layer stands, in pixels from the corner of its picture."""
    marks = tab.page.eval_on_selector_all(
        f"g.mark-symbol.{layer}_marks path", "paths => paths.map(p => p.getAttribute('transform'))"
    )
    assert len(marks) == 1
    return numbers(marks[0])[:2]


def size(tab, picture):
    """Return width and height of the plot of a picture, in pixels."""
    box = f"document.querySelector('{picture} .background').getBBox()"
    return tab.page.evaluate(f"() => [{box}.width, {box}.height]")


def check_choice(tab, hull):
    where = condition(tab)
    decision, said = hull.best(where), chosen(tab)
    trivial = {"always negative": "-1", "always positive": "-2"}
    assert said["k"] == trivial.get(decision.classifier, str(list(SCORES).index(decision.classifier)))
    assert float(said["x"]) == decision.fpr
    assert float(said["y"]) == decision.tpr
    assert float(said["cost"]) == pytest.approx(decision.expected_cost, rel=1e-9)
    assert float(said["pc"]) == pytest.approx(where.pc, rel=1e-9)
    if decision.classifier not in trivial:
        assert said["t"] == decision.threshold_text
        cut = with_minus(decision.threshold_text)
        assert f"{decision.classifier} at score ≥\N{NO-BREAK SPACE}{cut}:" in said["text"]
    return decision


def test_sliders_move_the_chosen_vertex_to_the_one_the_library_computes(tab, report):
    hull = report.summary.hull
    rng = np.random.default_rng(11)
    seen = set()
    for _ in range(20):
        for slider in tab.page.query_selector_all("input[type=range][data-for]"):
            low, high = (float(slider.get_attribute(end)) for end in ("min", "max"))
            script = "(e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }"
            slider.evaluate(script, rng.uniform(low + 0.25 * (high - low), high - 0.25 * (high - low)))
        tab.settle()
        decision = check_choice(tab, hull)
        seen.add((decision.classifier, decision.threshold))
    assert len(seen) >= 5


def test_the_marks_stand_where_the_library_says(tab, report):
    roc, cost = "[data-spec=spaces] .roc_group", "[data-spec=spaces] .cost_group"
    (wide, high), (cost_wide, _) = size(tab, roc), size(tab, cost)
    ranges_wide, _ = size(tab, "[data-spec=ranges]")
    for share, miss in ((30, 5), (10, 30), (50, 0.8)):
        tab.enter("#prevalence", share)
        tab.enter("#cost_fn", miss)
        where = condition(tab)
        decision = report.summary.hull.best(where)
        assert place(tab, "roc_chosen_0") == pytest.approx([decision.fpr * wide, (1 - decision.tpr) * high], abs=0.6)
        assert place(tab, "chosen_1")[0] == pytest.approx(where.pc * cost_wide, abs=0.6)
        assert numbers(tab.page.get_attribute("[data-spec=ranges] g.mark-rule.role-mark line", "transform"))[
            0
        ] == pytest.approx(where.pc * ranges_wide, abs=0.6)
        # The iso-performance line goes through the vertex with the slope of the condition.
        line = tab.page.locator(f"{roc} g.mark-rule.role-mark line")
        (x, y), dx, dy = numbers(line.get_attribute("transform")), *(float(line.get_attribute(a)) for a in ("x2", "y2"))
        slope = -(dy / high) / (dx / wide)
        assert slope == pytest.approx(where.slope, rel=0.02)
        assert (1 - y / high) + slope * (decision.fpr - x / wide) == pytest.approx(decision.tpr, abs=0.005)


def test_the_limits_are_those_of_the_band(tab, report):
    for share, miss in ((30, 5), (12, 17), (45, 1.5)):
        tab.enter("#prevalence", share)
        tab.enter("#cost_fn", miss)
        where = condition(tab)
        decision = report.summary.hull.best(where)
        roc = cc.RocCurve.from_predictions(LABEL, SCORES[decision.classifier], name=decision.classifier)
        money = cc.CostCurve(roc).band(level=0.95, method="wilson").at(where).money
        said = chosen(tab)
        assert (float(said["low"]), float(said["high"])) == pytest.approx((money.lower, money.upper), rel=1e-7)
        low, high = map(float, re.search(r"limits €([\d.]+) to €([\d.]+)", said["text"]).groups())
        assert (low, high) == pytest.approx((money.lower, money.upper), abs=0.0051)


def test_a_classifier_that_is_switched_off_is_not_chosen(tab):
    lines = "[data-spec=spaces] g.mark-line path"
    before = tab.page.locator(lines).count()
    first = list(SCORES)[int(chosen(tab)["k"])]
    tab.page.click(f"label[title={first}] input")
    tab.settle()
    rest = {name: score for name, score in SCORES.items() if name != first}
    check_choice(tab, cc.RocHull.from_predictions(LABEL, rest))
    assert tab.page.locator(lines).count() == before - 2  # its ROC curve and its cost curve
    tab.page.click(f"label[title={first}] input")
    tab.settle()
    check_choice(tab, cc.RocHull.from_predictions(LABEL, SCORES))
    assert tab.page.locator(lines).count() == before


def test_everything_works_with_the_keyboard(tab, report):
    page = tab.page
    slider = page.locator("input[data-for=cost_fn]")
    slider.focus()
    before = condition(tab).cost_fn
    for _ in range(40):
        page.keyboard.press("ArrowRight")
    tab.settle()
    assert condition(tab).cost_fn > before
    check_choice(tab, report.summary.hull)
    page.locator("label[title=forest] input").focus()
    page.keyboard.press("Space")
    tab.settle()
    assert page.input_value("#hidden") == ",0,"
    page.keyboard.press("Space")
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("details[open]").count() == 1
    page.keyboard.press("Enter")
    page.evaluate("() => document.activeElement.blur()")
    page.evaluate("() => scrollTo(0, 0)")
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        name = page.evaluate(
            "() => { const e = document.activeElement; return e.id || e.dataset.for || e.className || e.tagName }"
        )
        reached.add(name)
    wanted = {"theme", "prevalence", "cost_fn", "cost_fp", "switch", "axis", "bands", "pair", "model", "cutslider"}
    assert wanted <= reached


def test_every_control_has_a_name(tab):
    unnamed = tab.page.evaluate(
        """() => [...document.querySelectorAll('input:not([type=hidden]), select, button, a')]
           .filter(e => !(e.labels?.length || e.getAttribute('aria-label') || e.textContent.trim())).length"""
    )
    assert unnamed == 0
    assert tab.page.locator(".chart:not([aria-label])").count() == 0


def test_a_bad_number_is_taken_back(tab):
    tab.page.fill("#prevalence", "100")
    tab.page.locator("#prevalence").blur()
    assert tab.page.input_value("#prevalence") == "30"
    tab.page.fill("#cost_fn", "")
    tab.page.locator("#cost_fn").blur()
    assert tab.page.input_value("#cost_fn") == "5"


def axis_labels(tab):
    return tab.page.eval_on_selector_all(
        "[data-spec=spaces] .cost_group g.role-axis-label text", "texts => texts.map(t => t.textContent)"
    )


def test_the_axis_of_cost_space_can_show_pc_prevalence_and_cost_ratio(tab):
    assert {"0.1", "0.5", "1.0"} <= set(axis_labels(tab))
    tab.page.select_option("#axis", "prevalence")
    tab.settle()
    # With costs 5 to 1, pc = 1/2 where the prevalence is 1/6.
    assert "17%" in axis_labels(tab)
    tab.page.select_option("#axis", "ratio")
    tab.settle()
    # At a prevalence of 30 %, pc = 1/2 where a miss costs 7/3 false alarms.
    assert {"2.3", "∞"} <= set(axis_labels(tab))


def test_limits_can_be_switched_on_for_each_condition_or_for_all(tab):
    areas = "[data-spec=spaces] g.mark-area path"
    shapes = {}
    for kind in ("off", "each", "all"):
        tab.page.select_option("#bands", kind)
        tab.settle()
        shapes[kind] = tab.page.eval_on_selector_all(areas, "paths => paths.map(p => p.getAttribute('d'))")
    assert not any(shapes["off"])
    assert len(shapes["each"]) == len(shapes["all"]) == len(SCORES)
    assert shapes["each"] != shapes["all"]


def test_scenario_buttons_set_the_condition(tab, report):
    buttons = tab.page.locator(".goals button")
    assert buttons.all_text_contents() == ["1", "2 low", "2 high", "3"]
    low, high = SCENARIOS["unsure"].corners
    for button, wanted in zip(buttons.all(), (HERE, low, high, SCENARIOS["rare"]), strict=True):
        button.click()
        tab.settle()
        assert condition(tab).pc == pytest.approx(wanted.pc, rel=1e-9)
        check_choice(tab, report.summary.hull)


def test_a_click_in_cost_space_moves_the_condition_there(tab, report):
    tab.page.locator("[data-spec=spaces]").scroll_into_view_if_needed()
    box = tab.page.locator("[data-spec=spaces] .cost_group .background").first.bounding_box()
    for pc in (0.3, 0.62):
        tab.page.mouse.click(box["x"] + pc * box["width"], box["y"] + 0.7 * box["height"])
        tab.settle()
        assert condition(tab).pc == pytest.approx(pc, abs=0.002)
        check_choice(tab, report.summary.hull)


def test_a_click_on_a_vertex_in_roc_space_moves_to_where_it_is_best(tab, report):
    hull = report.summary.hull
    tab.page.locator("[data-spec=spaces]").scroll_into_view_if_needed()
    box = tab.page.locator("[data-spec=spaces] .roc_group .background").first.bounding_box()
    i = len(hull.fpr) // 2
    x, y = box["x"] + hull.fpr[i] * box["width"], box["y"] + (1 - hull.tpr[i]) * box["height"]
    tab.page.mouse.click(x, y)
    tab.settle()
    assert condition(tab).pc == pytest.approx((hull.breaks[i] + hull.breaks[i + 1]) / 2, abs=1e-3)
    said = chosen(tab)
    assert (float(said["x"]), float(said["y"])) == (hull.fpr[i], hull.tpr[i])


def test_the_selected_pair_is_drawn(tab):
    shapes = set()
    for pair in ("0", "1", "2"):
        tab.page.select_option("#pair", pair)
        tab.settle()
        shapes.add(tab.page.get_attribute("[data-spec=difference] g.mark-area path", "d"))
    assert len(shapes) == 3
    options = tab.page.locator("#pair option").all_text_contents()
    assert [option.translate(ISOLATES) for option in options] == ["forest − logit", "forest − rules", "logit − rules"]


def test_the_thresholds_of_points_that_are_pointed_at_separate_the_same_cases(tab):
    page = tab.page
    page.locator("[data-spec=spaces]").scroll_into_view_if_needed()
    box = page.locator("[data-spec=spaces] .roc_group .background").first.bounding_box()
    rates = {}
    for name, scores in SCORES.items():
        roc = cc.RocCurve.from_predictions(LABEL, scores).on_hull()
        for cut, below, fpr, tpr in zip(roc.thresholds, roc.below, roc.fpr, roc.tpr, strict=True):
            rates.setdefault(with_minus(cut_text(float(cut), float(below))), {})[name] = (f"{fpr:.1%}", f"{tpr:.1%}")
    seen = set()
    for x, y in np.random.default_rng(3).random((30, 2)):
        tab.point(box, x, y)
        tip = page.evaluate("() => document.querySelector('#vg-tooltip-element')?.textContent ?? ''")
        cut, fpr, tpr = re.search(r"score ≥(.*)false alarms(.*)found(.*)$", tip).groups()
        if cut != "–":
            assert (fpr, tpr) in rates[cut].values()
            seen.add(cut)
    assert len(seen) > 3


def test_thresholds_are_explored_per_thousand_cases(tab):
    page = tab.page
    for k, name in enumerate(SCORES):
        page.select_option("#model", str(k))
        tab.settle()
        roc = cc.RocCurve.from_predictions(LABEL, SCORES[name], name=name)
        best = cc.CostCurve(roc)
        said = page.eval_on_selector("#explored", "e => ({...e.dataset})")
        assert float(said["cost"]) == pytest.approx(best.expected_cost(HERE), rel=1e-9)
        for share in (0.2, 0.6):
            tab.enter("#cutslider", share)
            said = page.eval_on_selector("#explored", "e => ({...e.dataset, text: e.textContent})")
            assert f"{name} at score ≥\N{NO-BREAK SPACE}{with_minus(said['t'])}, " in said["text"]
            at = int(roc.index_of(float(said["t"])))
            fpr, tpr = float(roc.fpr[at]), float(roc.tpr[at])
            money = HERE.money(HERE.pc * (1 - tpr) + (1 - HERE.pc) * fpr)
            assert float(said["cost"]) == pytest.approx(money, rel=1e-9)
            cells = {cell: int(page.inner_text(f"#{cell}")) for cell in ("tp", "fn", "fp", "tn")}
            wanted = {"tp": 300 * tpr, "fn": 300 * (1 - tpr), "fp": 700 * fpr, "tn": 700 * (1 - fpr)}
            assert all(abs(cells[cell] - wanted[cell]) < 1 for cell in wanted)
        page.click("#bestcut")


def shaded(tab):
    """Return the legend, and the widest shaded area of the threshold explorer, from and to, in shares of its width."""
    areas = tab.page.eval_on_selector_all(".shaded_marks path", "ps => ps.map(p => [p.getBBox().x, p.getBBox().width])")
    width = size(tab, "[data-spec=explorer]")[0]
    x, wide = max(areas, key=lambda area: area[1])
    return tab.page.inner_text("#shaded"), x / width, (x + wide) / width


def test_the_thresholds_that_are_not_shown_to_cost_more_are_shaded_at_the_condition_of_a_scenario(tab, report):
    page = tab.page
    for i, button in ((0, 0), (2, 3)):
        page.locator(".goals button").nth(button).click()
        answer = report.summary.answers[i].recommendation
        k = list(SCORES).index(answer.best.classifier)
        page.select_option("#model", str(k))
        tab.settle()
        found = answer.threshold_set()
        legend, start, end = shaded(tab)
        assert legend == f"Shaded: scenario {i + 1}. {with_minus(found.statement)}"
        # One interval, which ends where the picture does if it has no end.
        lowest, highest = SCORES[answer.best.classifier].min(), SCORES[answer.best.classifier].max()
        ends = np.clip([found.low[0], found.high[0]], lowest, highest)
        assert found.low.size == 1
        assert [start, end] == pytest.approx((ends - lowest) / (highest - lowest), abs=0.01)
        page.select_option("#model", str((k + 1) % 3))
        tab.settle()
        legend, start, end = shaded(tab)
        assert legend.startswith("At the condition of a scenario,")
        assert start == end
        page.select_option("#model", str(k))
        tab.enter("#cost_fn", 11)
        assert shaded(tab)[0].startswith("At the condition of a scenario,")


def test_the_explorer_shows_the_selected_classifier_after_any_button(running, report, tmp_path):
    tab = open_tab(running)
    tab.go(report.write_html(tmp_path / "report.html"))
    seen = set()
    for button in (1, 0, 2, 3, 0, 3, 1, 3, 2, 0):
        tab.page.locator(".goals button").nth(button).click()
        tab.settle()
        tab.settle()
        shown = tab.page.eval_on_selector("#explored", "e => e.dataset.k")
        assert shown == tab.page.input_value("#model")
        seen.add(shown)
    assert len(seen) > 1
    assert tab.complaints == []
    tab.page.close()


def test_light_and_dark_can_be_switched_and_print_is_light(tab):
    page = tab.page
    colour = "() => getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    page.click("#theme")
    assert page.evaluate(colour) == "rgb(18, 22, 29)"
    line = "() => getComputedStyle(document.querySelector('[data-spec=spaces] g.mark-line path')).stroke"
    dark = page.evaluate(line)
    page.emulate_media(media="print")
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    assert page.evaluate(line) != dark
    assert page.locator("nav").is_hidden()
    assert page.locator("#pair").is_visible()
    page.emulate_media(media="screen")
    page.click("#theme")
    assert page.evaluate(colour) == "rgb(255, 255, 255)"


def test_the_page_fits_a_telephone_and_keeps_its_state(running, tab, tmp_path, report):
    tab.enter("#cost_fn", 11)
    tab.page.set_viewport_size({"width": 390, "height": 844})
    tab.page.wait_for_timeout(400)
    tab.ready()
    tab.until("document.querySelector('[data-spec=spaces] svg').getBoundingClientRect().width < 380")
    assert tab.page.evaluate("() => document.documentElement.scrollWidth") <= 390
    # The title of a table that is wider than the screen is read without scrolling.
    captions = "[...document.querySelectorAll('.scroll caption span')].map((one) => one.getBoundingClientRect().right)"
    assert max(tab.page.evaluate(f"() => {captions}")) <= 390
    widest = "Math.max(...[...document.querySelectorAll('.scroll table')].map((one) => one.offsetWidth))"
    assert tab.page.evaluate(f"() => {widest}") > 390
    assert condition(tab).cost_fn == 11
    check_choice(tab, report.summary.hull)
    tab.page.set_viewport_size({"width": 1280, "height": 900})
    tab.until("document.querySelector('[data-spec=spaces] svg').getBoundingClientRect().width > 900")
    tab.page.wait_for_timeout(300)


def saved(tab, name):
    with tab.page.expect_download() as found:
        tab.page.click(f"[data-file='{name}']")
    assert found.value.suggested_filename == name
    return found.value.path().read_text(encoding="utf-8")


def test_downloads_hold_the_numbers(tab, report):
    names = tab.page.eval_on_selector_all("[data-file]", "all => all.map(one => one.dataset.file)")
    assert names == ["report.json", "hull.csv", "ranges.csv", "cost_curves.csv", "bands.csv", "differences.csv"]
    assert saved(tab, "report.json") == report.json()
    summary = report.summary
    wanted = {
        "hull.csv": [summary.hull],
        "ranges.csv": [summary.ranges],
        "cost_curves.csv": [one.curve for one in summary.classifiers],
        "bands.csv": [one.each for one in summary.classifiers],
        "differences.csv": summary.pairs.pairs,
    }
    for name, results in wanted.items():
        table = pd.read_csv(io.StringIO(saved(tab, name)), float_precision="round_trip")
        expected = pd.concat([one.to_frame("pandas") for one in results], ignore_index=True)
        if name == "bands.csv":
            expected.insert(0, "name", [one.name for one in summary.classifiers for _ in one.each.pc])
        pd.testing.assert_frame_equal(table, expected, check_exact=True, check_dtype=False)


# Decisions to take away ---------------------------------------------------------------------------------------------


def copied(tab, form):
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.page.click(f"[data-copy={form}]")
    tab.until("document.getElementById('copied').textContent !== ''")
    return tab.page.evaluate("() => navigator.clipboard.readText()")


def test_the_decision_is_copied_as_text_sql_and_json(tab, report):
    text = copied(tab, "text")
    assert text.startswith("Three classifiers: 30 % of cases are positive; a miss costs €5, a false alarm €1.\nUse ")
    rivals = " or ".join(cc.recommend(LABEL, SCORES, HERE).rivals)
    assert text.endswith(f"\nThis is scenario usual. Not sure: {rivals} may be as good.")
    assert json.loads(copied(tab, "json"))["scenario"] == {"name": "usual", "verdict": "not sure"}
    best = cc.recommend(LABEL, SCORES, HERE).best.classifier
    tab.page.click(f".switch[value='{list(SCORES).index(best)}']")  # the verdict is not on what is left
    tab.settle()
    assert copied(tab, "text").endswith("\nThis is scenario usual.")
    assert json.loads(copied(tab, "json"))["scenario"] == {"name": "usual", "verdict": None}
    tab.page.click(f".switch[value='{list(SCORES).index(best)}']")
    cuts = []
    for share, miss in ((30, 5), (12, 17), (2, 0.5), (30, 30)):
        tab.enter("#prevalence", share)
        tab.enter("#cost_fn", miss)
        best = report.summary.hull.best(condition(tab))
        cuts.append(best.threshold_text)
        assert (f" at score ≥ {cuts[-1]}: " if cuts[-1] else "Use no classifier") in copied(tab, "text")
        found = json.loads(copied(tab, "json"))
        trivial = best.classifier not in SCORES
        assert found["classifier"] == (None if trivial else best.classifier)
        assert found["condition"]["pc"] == pytest.approx(best.condition.pc)
        assert found["cost_per_case_on_these_cases"] == pytest.approx(best.expected_cost)
        assert (found["false_positive_rate"], found["true_positive_rate"]) == (best.fpr, best.tpr)
        frame = pd.DataFrame(SCORES)
        flagged = duckdb.sql(f"SELECT {copied(tab, 'sql')} FROM frame").df()["flagged"].to_numpy()
        expected = np.zeros(LABEL.size) if trivial else frame[best.classifier] >= best.threshold
        assert np.array_equal(flagged, expected)
    assert any(cut.startswith("-") for cut in cuts)  # a copy has the hyphen of code, the page a minus sign


def test_every_negative_number_on_the_page_has_a_minus_sign(tab):
    tab.enter("#cost_fn", 30)
    tab.until("document.getElementById('now').dataset.t < 0")
    tab.page.eval_on_selector_all("details", "parts => parts.forEach(part => { part.open = true })")
    shown = tab.page.text_content("main")
    tab.page.eval_on_selector_all("details", "parts => parts.forEach(part => { part.open = false })")
    assert re.findall(r"(?<![\w.])-\.?\d.{9}", shown) == []
    assert len(re.findall(r"≥\s−\d", shown)) > 3


def test_the_cost_of_a_year_follows_the_cases_per_year_and_the_sliders(tab, report):
    assert tab.page.inner_text("#peryear") == ""
    assert "cases_per_year" not in json.loads(copied(tab, "json"))
    for share, cases in ((30, 12_000), (12, 250_000)):
        tab.enter("#prevalence", share)
        tab.enter("#yearly", cases)
        cost = cases * report.summary.hull.best(condition(tab)).expected_cost
        found = json.loads(copied(tab, "json"))
        assert found["cases_per_year"] == cases
        assert found["cost_per_year_on_these_cases"] == pytest.approx(cost)
        said = f"cost €{rounded(cost)} per year, as on these cases."
        assert tab.page.inner_text("#peryear") == said
        assert copied(tab, "text").endswith(f"{cases:,} cases per year {said}")
    tab.enter("#yearly", "")
    assert tab.page.inner_text("#peryear") == ""


def test_the_field_of_the_cases_per_year_starts_at_what_was_given(running, tmp_path):
    report = cc.Report.from_predictions(LABEL, SCORES, scenarios={"here": HERE}, cases_per_year=12_000, currency="€")
    one = open_tab(running)
    one.go(report.write_html(tmp_path / "report.html"))
    cost = 12_000 * report.summary.hull.best(HERE).expected_cost
    assert (one.page.input_value("#yearly"), one.page.inner_text("#peryear")) == (
        "12000",
        f"cost €{rounded(cost)} per year, as on these cases.",
    )
    one.page.close()

    truth, guesses = ["a", "b", "c"] * 20, {"x": ["a", "b", "b"] * 20, "y": ["a", "a", "b"] * 20}
    costs = cc.CostMatrix(10 * (1 - np.eye(3)), labels=["a", "b", "c"])
    classes = cc.Report.from_class_predictions(truth, guesses, costs, cases_per_year=600)
    two = open_tab(running)
    two.go(classes.write_html(tmp_path / "classes.html"))
    assert two.page.inner_text("#peryear") == "cost 2,000 per year, as on these cases."  # a third of the cases costs 10
    assert json.loads(copied(two, "json"))["verdict"] == classes.to_dict()["verdict"] == "sure"
    assert "\nSure: every other choice is shown to cost more.\n" in copied(two, "text")
    two.enter("#times_2", 3)  # now those cases cost 30 each, and b for everybody costs as much as it does without them
    cheapest = float(two.page.get_attribute("#cheapest", "data-cost"))
    assert two.page.inner_text("#peryear") == f"cost {rounded(600 * cheapest)} per year, as on these cases."
    assert json.loads(copied(two, "json"))["verdict"] is None
    assert "At these settings it was not tested how sure that is." in copied(two, "text")
    assert json.loads(copied(two, "json"))["cost_per_year_on_these_cases"] == pytest.approx(600 * cheapest)
    two.page.close()


def test_the_decision_can_be_copied_where_the_clipboard_is_closed(tab):
    tab.page.context.clear_permissions()
    tab.page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')) }")
    tab.page.click("[data-copy=text]")
    tab.page.wait_for_selector("#copy", state="visible")
    assert tab.page.input_value("#copy").startswith("Three classifiers: ")


def test_the_address_keeps_the_settings(running, tab, report):
    page = tab.page
    tab.enter("#cost_fn", 11)
    tab.enter("#prevalence", 12.5)
    page.click("label[title=rules] input")
    for name, value in (("axis", "ratio"), ("bands", "all"), ("pair", "2"), ("model", "2")):
        page.select_option(f"#{name}", value)
    tab.enter("#cutslider", 0.25)
    page.click("nav a[href='#ranges']")
    tab.until("location.hash.includes('at=ranges') && location.hash.includes('cut=')")
    address = page.evaluate("() => location.href")
    other = open_tab(running)
    other.page.goto(address)
    other.ready()
    other.settle()
    assert condition(other).pc == condition(tab).pc
    for selector in ("#now", "#explored", "#price"):
        assert other.page.inner_text(selector) == page.inner_text(selector)
    for name in ("axis", "bands", "pair", "model", "hidden"):
        assert other.page.input_value(f"#{name}") == page.input_value(f"#{name}")
    assert not other.page.locator("label[title=rules] input").is_checked()
    other.until("Math.abs(document.getElementById('ranges').getBoundingClientRect().top) < 300")
    # Settings that nobody could have made are left out, and the rest is taken.
    start = address.split("#")[0]
    bad = "cost_fn=-1&cost_fp=x&prevalence=100&pair=9&hidden=<b>&axis=%22&model=-1&cut=1e999&bands=each"
    other.page.goto("about:blank")
    other.page.goto(f"{start}#{bad}")
    other.ready()
    assert condition(other).pc == HERE.pc
    values = {name: other.page.input_value(f"#{name}") for name in ("pair", "hidden", "axis", "cut", "bands")}
    assert values == {"pair": "0", "hidden": "", "axis": "pc", "cut": "", "bands": "each"}
    assert other.complaints == []
    other.page.close()


# Security ---------------------------------------------------------------------------------------------------------


def test_only_the_scripts_and_the_style_of_the_page_can_run(running, report, tmp_path):
    page = report.html()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert "unsafe" not in policy
    assert policy.count("'sha256-") == 3
    assert " style=" not in page.split("<script")[0]
    added = (
        "<script>window.pwned = 1</script><script type=module>window.pwned = 2</script>"
        "<img alt='' src='data:,' onerror='window.pwned = 3'><style>h1 { color: red !important; }</style>"
        "<h2 id=styled style='color: red'>x</h2><a id=link href='javascript:window.pwned = 4'>x</a>"
    )
    path = tmp_path / "changed.html"
    path.write_text(page.replace("<main>", f"<main>{added}"), encoding="utf-8")
    tab = open_tab(running)
    tab.go(path)
    tab.page.click("#link")
    assert tab.page.evaluate("() => window.pwned") is None
    red = "rgb(255, 0, 0)"
    for selector in ("h1", "#styled"):
        assert tab.page.eval_on_selector(selector, "e => getComputedStyle(e).color") != red
    # Later, because what the test itself evaluates may do everything.
    later = "try { done(new Function('return \"made\"')()) } catch (error) { done(error.name) }"
    assert tab.page.evaluate(f"() => new Promise((done) => setTimeout(() => {{ {later} }}))") == "EvalError"
    assert sum("Content Security Policy" in complaint for complaint in tab.complaints) >= 5
    tab.page.close()


# Hostile names ----------------------------------------------------------------------------------------------------

HOSTILE = [
    "</script><img src=x onerror=window.pwned=1>",
    "\"><svg onload=window.pwned=1> ' onmouseover='window.pwned=1",
    "'] + (window.pwned = 1) + ['",
    "datum.x",
    "{{7*7}} {% raw %} ${7*7}",
    "עברית \u202e rtl",
    "👩🏽‍🔬 emoji",
    "x" * 300,
    "two\nlines\t\\ &lt;b&gt;",
    "__proto__",
]


@pytest.fixture(scope="module")
def hostile(running, tmp_path_factory):
    rng = np.random.default_rng(1)
    y = rng.random(80) < 0.5
    label = np.where(y, HOSTILE[0], "other")
    scores = {name: np.round(y + rng.normal(0, 1 + 0.1 * k, y.size), 1) for k, name in enumerate(HOSTILE)}
    scenarios = {
        name: cc.OperatingCondition(share, cost_fp=1, cost_fn=2)
        for name, share in zip(HOSTILE[:2], (0.2, 0.6), strict=True)
    }
    report = cc.Report.from_predictions(
        label, scores, pos_label=HOSTILE[0], scenarios=scenarios, title=HOSTILE[0], source=HOSTILE[1],
        command=HOSTILE[4], currency="<b>",
    )  # fmt: skip
    one = open_tab(running)
    one.go(report.write_html(tmp_path_factory.mktemp("hostile") / "report.html"))
    yield one
    one.page.close()


def spaceless(text):
    return "".join(text.split())


def test_hostile_names_are_shown_as_text_everywhere(hostile):
    page = hostile.page
    assert page.title() == safe(HOSTILE[0])
    for selector in (".legend", "#pairs", "#model", "#how"):
        text = spaceless(page.eval_on_selector(selector, "e => e.textContent"))
        assert [name for name in HOSTILE if spaceless(safe(name)) not in text] == []
    pictures = " ".join(page.locator("[data-spec=ranges] text").all_text_contents())
    assert "datum.x" in pictures
    assert "{{7*7}}" in pictures
    assert "xxxxxxxxxxxxxxx" in pictures
    assert "x" * 300 not in pictures


def test_hostile_names_do_nothing(hostile):
    page = hostile.page
    for box in page.locator(".switch").all():
        box.click()
        hostile.settle()
        box.click()
    for value in range(len(HOSTILE)):
        page.select_option("#model", str(value))
        page.select_option("#pair", str(value))
        hostile.settle()
    for button in page.locator(".goals button").all():
        button.click()
    tips = []
    for picture in ("[data-spec=ranges]", "[data-spec=spaces] .cost_group"):
        page.locator(picture).first.scroll_into_view_if_needed()
        box = page.locator(f"{picture} .background").first.bounding_box()
        for part in np.linspace(0.1, 0.9, 9):
            hostile.point(box, 0.3, part)
            tips.append(page.evaluate("() => document.querySelector('#vg-tooltip-element')?.textContent ?? ''"))
    assert any("classifier" in tip for tip in tips)
    assert page.evaluate("() => window.pwned") is None
    assert page.locator("img, svg[onload], [onerror], [onmouseover], iframe, object, embed").count() == 0
    assert hostile.complaints == []
    assert [url for url in hostile.requests if not url.startswith("file:")] == []


def test_hostile_names_do_not_widen_the_page(hostile):
    assert hostile.page.evaluate("() => document.documentElement.scrollWidth") <= 1280


# k classes ---------------------------------------------------------------------------------------------------------


def test_a_report_of_k_classes_draws_all_its_pictures(running, tmp_path):
    rng = np.random.default_rng(3)
    labels = ["low", HOSTILE[0], HOSTILE[4]]
    truth = rng.choice(3, size=300, p=[0.6, 0.3, 0.1])
    guesses = {}
    for name, wrong in (("a", 0.1), (HOSTILE[2], 0.2), ("c", 0.5)):
        coded = np.where(rng.random(truth.size) < wrong, rng.choice(3, size=truth.size), truth)
        guesses[name] = [labels[i] for i in coded]
    costs = cc.CostMatrix([[0, 1, 4], [2, 0, 1], [9, 3, 0]], labels=labels)
    report = cc.Report.from_class_predictions([labels[i] for i in truth], guesses, costs, currency="$")
    tab = open_tab(running)
    tab.go(report.write_html(tmp_path / "k.html"))
    drawn = {
        name: tab.page.locator(f"[data-spec={name}] svg").count()
        for name in ("matrix", "intervals", "pairs", "simplex")
    }
    assert drawn == dict.fromkeys(drawn, 1)
    assert tab.page.locator("[data-spec=matrix] g.mark-rect path").count() == 9
    areas = tab.page.eval_on_selector_all(
        "[data-spec=simplex] g.mark-line path", "all => all.map(p => p.getAttribute('d'))"
    )
    assert len(areas) == len(report.summary.regions)
    text = tab.page.text_content("#classes")
    assert HOSTILE[0] in text
    assert HOSTILE[4] in text
    assert tab.page.evaluate("() => window.pwned") is None
    assert tab.complaints == []
    tab.page.close()


# Last, after everything else has happened on the shared page.


def test_the_page_complains_about_nothing_and_asks_for_nothing(tab):
    assert tab.complaints == []
    assert {url.split("?")[0] for url in tab.requests if not url.startswith("data:")} == {tab.page.url.split("#")[0]}
