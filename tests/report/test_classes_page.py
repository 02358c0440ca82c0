"""The page of k classes in a real browser: its settings give the costs that the library computes."""

from __future__ import annotations

import numpy as np
import pytest
from markupsafe import escape

import costcurves as cc
from browser import browser, open_tab

RNG = np.random.default_rng(11)
LABELS = [f"class {i}" for i in range(8)] + ["<i>x</i> \u202ey", "z" * 300]
K = len(LABELS)
Y = np.append(np.arange(K), RNG.integers(0, K, 500))
GUESSES = {
    name: [LABELS[g] for g in np.where(RNG.random(Y.size) < right, Y, RNG.integers(0, K, Y.size))]
    for name, right in (("good", 0.8), ("fair", 0.75), ("n" * 300, 0.7))
}
COSTS = cc.CostMatrix(np.where(np.eye(K, dtype=bool), 0, RNG.integers(1, 30, (K, K))), labels=LABELS)
TRUTH = [LABELS[i] for i in Y]


@pytest.fixture(scope="module")
def running():
    with browser() as one:
        yield one


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    report = cc.Report.from_class_predictions(TRUTH, GUESSES, COSTS, currency="EUR")
    return report.write_html(tmp_path_factory.mktemp("classes") / "report.html")


@pytest.fixture
def tab(running, path):
    one = open_tab(running)
    one.go(path)
    yield one
    assert one.complaints == []
    one.page.close()


def told(tab):
    """Return who is said to cost least, and the cost."""
    data = tab.page.evaluate("() => ({...document.getElementById('cheapest').dataset})")
    return data["name"], float(data["cost"])


def expected(share, times):
    """Return the cheapest of all by the library, with cost rows scaled."""
    costs = cc.CostMatrix(COSTS.values * np.asarray(times, dtype=float)[:, None], labels=LABELS)
    tables = {name: cc.ConfusionMatrix.from_predictions(TRUTH, g, labels=LABELS) for name, g in GUESSES.items()}
    best = cc.prior_hull(tables, costs).best(np.asarray(share) / np.sum(share))
    return best.name, best.cost


def test_the_settings_start_at_the_data_and_give_the_costs_of_the_library(tab):
    share, times = np.bincount(Y) / Y.size, np.ones(K)
    name, cost = told(tab)
    assert (name, cost) == (expected(share, times)[0], pytest.approx(expected(share, times)[1], rel=1e-5))
    assert name == cc.bdeltacost_many(TRUTH, GUESSES, COSTS).best_name
    for rng in map(np.random.default_rng, range(8)):
        share, times = np.round(rng.dirichlet(np.full(K, 0.5)) * 100, 1), np.round(10 ** rng.uniform(-1, 1, K), 2)
        for t in range(K):
            tab.enter(f"#share_{t}", share[t])
            tab.enter(f"#times_{t}", times[t])
        name, cost = told(tab)
        assert (name, cost) == (expected(share, times)[0], pytest.approx(expected(share, times)[1], rel=1e-9))
        assert name[:40] in tab.page.text_content("#cheapest")
    tab.page.click("[data-mix=alike]")
    assert "Of 1,000 cases, 100 are" in tab.page.text_content("#mixed")
    tab.page.click("[data-mix=data]")
    assert told(tab)[1] == pytest.approx(expected(np.bincount(Y), np.ones(K))[1], rel=1e-5)
    for t in range(K):
        tab.enter(f"#share_{t}", 0)
    assert "No class has a share" in tab.page.text_content("#mixed")


def test_the_matrix_of_a_thousand_cases_has_the_rates_of_the_selected_classifier(tab):
    tab.page.select_option("#shown", "1")
    cells = tab.page.eval_on_selector_all(
        "#errors tbody tr", "rows => rows.map(r => [...r.cells].slice(1).map(c => c.textContent))"
    )
    counts = cc.ConfusionMatrix.from_predictions(TRUTH, GUESSES["fair"], labels=LABELS).counts * 1000 / Y.size
    assert len(cells) == K
    for row, exact in zip(cells, counts, strict=True):
        for text, value in zip(row, [*exact, exact.sum()], strict=True):
            shown = 0.0 if text == "< 0.1" else float(text.replace(",", ""))
            assert abs(shown - value) <= (0.5 if value >= 10 else 0.05) + 1e-9


def test_settings_are_kept_in_the_address_and_reached_by_keyboard(tab, path):
    tab.enter("#share_3", 55)
    tab.page.focus("[data-for=times_2]")
    before = tab.page.input_value("#times_2")
    tab.page.keyboard.press("ArrowRight")
    tab.settle()
    assert tab.page.input_value("#times_2") != before
    tab.until("location.hash.includes('share_3=55') && location.hash.includes('times_2=')")
    before = told(tab)
    tab.page.reload()
    tab.ready()
    assert told(tab) == before


def test_a_class_without_cases_has_no_share(running, tmp_path):
    costs = cc.CostMatrix([[0, 1, 4], [2, 0, 1], [9, 3, 0]], labels=["x", "y", "z"])
    report = cc.Report.from_class_predictions(["x", "y"] * 20, {"a": ["x", "x"] * 20}, costs)
    one = open_tab(running)
    one.go(report.write_html(tmp_path / "two.html"))
    assert one.page.is_disabled("#share_2")
    assert told(one) == ("always 'y'", 0.5)
    assert one.complaints == []
    one.page.close()


def test_given_class_frequencies_are_told_and_set(running, tmp_path):
    costs = cc.CostMatrix([[0, 1], [5, 0]], labels=["x", "y"])
    report = cc.Report.from_class_predictions(["x", "y"] * 20, {"a": ["x", "x"] * 20}, costs, priors=[0.9, 0.1])
    assert report.to_dict()["priors"] == {"x": 0.9, "y": 0.1}
    one = open_tab(running)
    one.go(report.write_html(tmp_path / "two.html"))
    assert "class frequencies as given" in one.page.text_content(".card")
    assert one.page.input_value("#share_0") == "90"
    assert told(one) == ("a", pytest.approx(0.5))
    one.page.close()


def test_the_nearest_turn_is_where_a_search_over_shares_finds_another_cheapest():
    report = cc.Report.from_class_predictions(TRUTH, GUESSES, COSTS, baseline="fair", cases_per_year=500).to_dict()
    tables = {name: cc.ConfusionMatrix.from_predictions(TRUTH, g, labels=LABELS) for name, g in GUESSES.items()}
    hull, share = cc.prior_hull(tables, COSTS), np.bincount(Y) / Y.size
    found = []
    for t in range(K):
        for odds in np.linspace(-12, 12, 6001):
            mix = share * (1 - 1 / (1 + np.exp(-odds))) / (1 - share[t])
            mix[t] = 1 / (1 + np.exp(-odds))
            if (name := hull.best(mix).name) != report["best"]:
                found.append((abs(odds - np.log(share[t] / (1 - share[t]))), name, LABELS[t], mix[t]))
    _, name, label, at = min(found)
    turn = report["turn"]
    assert (turn["name"], turn["label"]) == (name, label)
    assert turn["share"] == pytest.approx(at, abs=0.004)
    saving = cc.bdeltacost_many(TRUTH, GUESSES, COSTS).pair("fair", report["best"])
    assert report["saving"]["estimate"] == saving.estimate
    assert report["saving"]["shown"] == (saving.cheaper == report["best"])


def test_the_class_mix_at_which_a_classifier_is_cheapest_is_told_in_words():
    report = cc.Report.from_class_predictions(TRUTH, GUESSES, COSTS).to_dict()
    tables = {name: cc.ConfusionMatrix.from_predictions(TRUTH, g, labels=LABELS) for name, g in GUESSES.items()}
    hull = cc.prior_hull(tables, COSTS)
    told = [row[3].replace(" ", " ").split(", ") for row in report["page"]["tables"]["priors"]["rows"]]
    for shares, words in zip(hull.at_priors, told, strict=True):
        assert len(words) == np.count_nonzero(shares)
        percent, label = words[0].split(" % ")
        assert float(percent) == pytest.approx(100 * shares.max(), abs=0.06)
        assert label[:9] == str(escape(LABELS[shares.argmax()]))[:9]
