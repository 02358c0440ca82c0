"""What the commands answer is what the library computes, in three forms, and the same each time."""

from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pytest

import costcurves as cc
from cli_answers import ANSWERS, CREDIT, HERE, TWO, VEHICLE


@pytest.fixture(scope="module")
def credit() -> tuple[list[bool], dict[str, list[float]]]:
    with open(cc.example_path("german_credit_scores.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    scores = {name: [float(row[name]) for row in rows] for name in ("logit", "forest", "bayes", "tree")}
    return [row["label"] == "bad" for row in rows], scores


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_are_the_same_each_time(run, name):
    if name.startswith("hull"):
        assert run("hull", "add", "hull.json", *HERE[:3]).code == 0
    first, second = (run(*ANSWERS[name], "--json") for _ in range(2))
    assert (first.code, first.out) == (0, second.out)
    assert first.json["schema"] == f"costcurves/{name.split()[0]}/1"
    table = run(*ANSWERS[name], "--csv")
    if name == "decide":
        assert "--csv needs scenarios of one kind" in table.err
    else:
        assert table.code == 0
        rows = list(csv.reader(io.StringIO(table.out)))
        assert len(rows) > 1
        assert {len(row) for row in rows} == {len(rows[0])}


def test_json_is_strict_and_has_nothing_else_on_stdout(run):
    done = run("ranges", "example:german_credit", "--positive", "bad", "--json")
    json.loads(done.out, parse_constant=lambda text: pytest.fail(f"{text} is not JSON"))
    assert done.err.startswith("Guessed --label label --score logit --score forest")


def test_decide_answers_what_the_library_computes(run, credit):
    document = run("decide", *CREDIT, "--json").json
    at, over = document["decisions"]
    condition = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)
    assert {k: v for k, v in at.items() if k != "scenario"} == cc.recommend(*credit, condition).to_dict()
    span = cc.OperatingRange(prevalence=(0.1, 0.4), cost_fp=1, cost_fn=(3, 8))
    assert {k: v for k, v in over.items() if k != "scenario"} == cc.recommend_within(*credit, span).to_dict()
    assert (at["scenario"], over["scenario"]) == ("documented", "uncertain")
    assert document["data"] == {
        "source": "german_credit_scores.csv",
        "rows": 1000,
        "positives": 300,
        "dropped": 0,
        "label": "label",
        "positive": "bad",
        "classifiers": ["logit", "forest", "bayes", "tree"],
        "weight": None,
        "guessed": [
            "--label label",
            "--score logit --score forest --score bayes --score tree",
        ],
    }


def test_decide_says_the_answer_and_its_certainty(run):
    text = run("decide", *HERE).out
    assert "german_credit_scores.csv: 1,000 rows, 300 of them bad (30 %), 4 classifiers" in text
    assert "prevalence 0.3, a miss costs 5, a false alarm 1 (pc 0.682)" in text
    assert "Use forest: call a case bad where forest >= 0.2113." in text
    assert "It costs 0.517 per case on these rows; expect 0.5702 on new ones," in text
    assert "95 % interval 0.495 to 0.6226." in text
    assert "The runner-up, bayes, costs 0.006 more (1.16 %) on these rows." in text
    assert "Not sure: bayes, logit and tree are not shown to cost more, at 95 %." in text


def test_decide_says_which_thresholds_may_be_as_good(run, credit):
    y, scores = credit
    condition = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)
    roc = cc.RocCurve.from_predictions(y, scores["forest"], name="forest")
    expected = cc.CostCurve(roc).threshold_set(condition, level=0.9)
    assert f"  {expected.statement}\n" in run("decide", *HERE, "--level", "0.9").out
    assert run("decide", *HERE, "--level", "0.9", "--json").json["decisions"][0]["threshold_set"] == expected.to_dict()
    fixed = "decide", *HERE, "--policy", "0.25"
    assert "Thresholds" not in run(*fixed).out
    assert run(*fixed, "--json").json["decisions"][0]["threshold_set"] is None


def test_decide_says_when_it_is_sure_and_when_nothing_helps(run, table):
    rows = "".join(f"{i % 2},{i % 2 + (i % 7) / 10:.1f},0.5\n" for i in range(400))
    path = table("clear.csv", "y,sharp,flat\n" + rows)
    text = run("decide", path, "--pc", "0.5").out
    assert "Sure: every other choice is shown to cost more, at 95 %." in text
    assert "pc 0.5 (costs are shares of the cost of getting every case wrong)" in text
    assert "Use sharp" in text
    done = run("decide", path, "--score", "flat", "--prevalence", "0.1", "--cost-fn", "1", "--cost-fp", "9")
    assert "Use no classifier: call every case 0." in done.out
    assert "exactly" in done.out


def test_money_carries_its_currency(run, table):
    costs = table(
        "c.toml", 'currency = "kr"\n[scenarios.x]\nprevalence = 0.3\ncost_fn = 5000\ncost_fp = [1000, 2000]\n'
    )
    text = run("decide", "example:german_credit", "--positive", "bad", "--costs", costs).out
    assert "a miss costs 5,000 kr, a false alarm 1,000 to 2,000 kr" in text
    costs.write_text(costs.read_text().replace("[1000, 2000]", "1000"))
    assert (
        "It costs 517 kr per case" in run("decide", "example:german_credit", "--positive", "bad", "--costs", costs).out
    )
    assert (
        run("decide", "example:german_credit", "--positive", "bad", "--costs", costs, "--json").json["currency"] == "kr"
    )


def test_thresholds_of_another_table_are_judged_on_this_one(run, credit, tmp_path):
    with open(cc.example_path("german_credit_scores.csv"), encoding="utf-8") as file:
        head, *rows = file.readlines()
    (tmp_path / "tune.csv").write_text(head + "".join(rows[::2]))
    (tmp_path / "test.csv").write_text(head + "".join(rows[1::2]))
    y, scores = np.array(credit[0]), {name: np.array(values) for name, values in credit[1].items()}
    policy = {n: cc.thresholds.validation(cc.RocCurve.from_predictions(y[::2], s[::2])) for n, s in scores.items()}
    condition = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)
    expected = cc.recommend(y[1::2], {n: s[1::2] for n, s in scores.items()}, condition, policy=policy).to_dict()
    document = run("decide", "test.csv", *HERE[1:], "--thresholds-from", "tune.csv", "--json").json
    assert {k: v for k, v in document["decisions"][0].items() if k != "scenario"} == expected
    assert (document["policy"], document["thresholds_from"]) == ("validation", "tune.csv")


def test_weights_count(run, tmp_path):
    (tmp_path / "plain.csv").write_text("y,s\n" + "1,0.9\n" * 3 + "0,0.1\n0,0.8\n1,0.4\n")
    (tmp_path / "weighted.csv").write_text("y,s,w\n1,0.9,3\n0,0.1,1\n0,0.8,1\n1,0.4,1\n")
    plain = run("decide", "plain.csv", "--pc", "0.5", "--json").json
    weighted = run("decide", "weighted.csv", "--score", "s", "--weight", "w", "--pc", "0.5", "--json").json
    costs = [d["decisions"][0]["classifiers"][0]["normalized_cost"] for d in (plain, weighted)]
    assert costs[0] == pytest.approx(costs[1])
    assert weighted["data"]["weight"] == "w"


def test_weights_count_in_comparisons(run, credit, tmp_path):
    y, scores = credit
    weights = [1 + i % 3 for i in range(len(y))]
    columns = zip(y, scores["forest"], scores["tree"], scores["logit"], weights, strict=True)
    rows = "".join(f"{int(label)},{a},{b},{c},{w}\n" for label, a, b, c, w in columns)
    (tmp_path / "w.csv").write_text("y,forest,tree,logit,w\n" + rows)
    two = ("compare", "w.csv", "--weight", "w", "--pc", "0.5", "--json")
    document = run(*two, "--score", "forest", "--score", "tree").json
    expected = cc.compare(y, scores["forest"], scores["tree"], sample_weight=weights, pc=[0.5])
    assert document["pairs"][0]["difference"]["upper"] == pytest.approx(expected.upper.tolist())
    three = {name: scores[name] for name in ("forest", "tree", "logit")}
    many = cc.compare_many(y, three, sample_weight=weights, pc=[0.5])
    found = [pair["difference"]["upper"][0] for pair in run(*two).json["pairs"]]
    assert found == pytest.approx([float(pair.upper[0]) for pair in many.pairs])


def test_rows_are_dropped_from_both_tables(run, table):
    rows = "y,a\n1,0.9\n0,0.1\n1,0.4\n0,0.6\n1,\n"
    first, second = table("test.csv", rows), table("tune.csv", rows)
    done = run("decide", first, "--thresholds-from", second, "--drop-missing", "--pc", "0.5", "--json")
    assert done.json["decisions"][0]["classifiers"][0]["normalized_cost"] == 0.25


def test_compare_answers_what_the_library_computes(run, credit):
    y, scores = credit
    document = run(*ANSWERS["compare"], "--json").json
    low, high = cc.OperatingRange(prevalence=(0.1, 0.4), cost_fp=1, cost_fn=(3, 8)).pc
    expected = cc.compare(
        y, scores["forest"], scores["tree"], pc=cc.OperatingRange.from_pc(low, high), names=("forest", "tree")
    )
    assert document["pc"] == pytest.approx([low, high])
    (pair,) = document["pairs"]
    assert pair["difference"]["upper"] == expected.upper.tolist()
    assert [part["better"] for part in pair["verdicts"]] == list(expected.significant().better)
    here = run("compare", *HERE, "--json").json["pairs"]
    tests = cc.compare_many(y, scores, pc=[0.2, 0.8]).at(cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5))
    assert [(pair["a"], pair["b"]) for pair in here] == list(tests.pairs)
    assert [pair["adjusted"] for pair in here] == pytest.approx(tests.adjusted.tolist())


@pytest.mark.parametrize(
    ("slope", "pc"), [("1", "0.5"), ("0", "1"), ("inf", "0"), ("0.25..3", "0.25..0.8"), ("0..inf", "0..1")]
)
def test_a_slope_asks_for_the_conditions_of_its_pc(run, slope, pc):
    for command in ("decide", "ranges"):
        asked, expected = (run(command, *HERE[:3], *TWO, *way, "--json") for way in (("--slope", slope), ("--pc", pc)))
        assert (asked.code, asked.out) == (0, expected.out)


def test_ranges_and_curves_are_the_librarys(run, credit):
    document = run("ranges", "example:german_credit", "--positive", "bad", "--json").json
    hull = cc.RocHull.from_predictions(*credit)
    (found,) = document["ranges"]
    assert [part["classifier"] for part in found["stretches"]] == list(hull.ranges().classifier)
    assert document["never_best"] == list(hull.never_best)
    curves = run("curve", "example:german_credit", "--positive", "bad", "--json").json["curves"]
    for one in curves:
        curve = cc.CostCurve.from_predictions(credit[0], credit[1][one["classifier"]])
        assert one["vertices"]["cost"] == curve.vertices[:, 1].tolist()
        assert one["area"] == curve.area()
    text = run("curve", "example:german_credit", "--positive", "bad").out
    assert "worth using for pc" in text


def test_k_class_answers_are_the_librarys(run):
    with open(cc.example_path("vehicle_predictions.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    truth, prices = (
        [row["label"] for row in rows],
        cc.read_scenarios(cc.example_path("vehicle_costs.toml")).matrix("toll"),
    )
    predicted = {name: [row[name] for row in rows] for name in ("logit", "forest", "bayes")}
    document = run(*ANSWERS["bcost"], "--json").json
    for one in document["classifiers"]:
        interval = cc.bcost(truth, predicted[one["classifier"]], prices)
        assert (one["estimate"], one["lower"], one["upper"]) == (interval.estimate, interval.lower, interval.upper)
    assert document["currency"] == "EUR"
    many = cc.bdeltacost_many(truth, predicted, prices)
    document = run(*ANSWERS["bdeltacost"], "--json").json
    assert [pair["adjusted"] for pair in document["pairs"]] == many.adjusted.tolist()
    assert (document["best"], document["sure"], document["rivals"]) == (many.best_name, many.sure, list(many.rivals))
    pilot = cc.ConfusionMatrix.from_predictions(truth, predicted["logit"], labels=prices.labels)
    assert run(*ANSWERS["plan"], "--json").json["n"] == cc.plan_test_size(pilot, prices, half_width=0.1).n


def test_people_read_k_class_answers(run):
    told = run(*ANSWERS["bdeltacost"]).out
    assert "forest costs least on these rows.\n  Not sure: logit is not shown to cost more, at 95 %.\n" in told
    told = run("bdeltacost", *VEHICLE, "--pred", "forest", "--pred", "bayes").out
    assert "forest costs least on these rows.\n  Sure: every other choice is shown to cost more, at 95 %.\n" in told
    assert "cost per case (EUR)" in run(*ANSWERS["bcost"]).out
    text = " ".join(run(*ANSWERS["plan a difference"]).out.split())
    assert "a chance of 80 % to find a difference of 0.5 EUR between logit and bayes, at 95 %" in text


def test_a_rare_expensive_error_is_pointed_out(run, table):
    data = table("p.csv", "label,model\n" + "a,a\n" * 50 + "b,b\n" * 5 + "a,b\n" * 3)
    costs = table("m.csv", "true,a,b\na,0,1\nb,1000,0\n")
    done = run("bcost", data, "--costs", costs)
    assert "true b predicted a costs 1,000 and was seen 0 times: too few to judge" in done.out
    assert run("bcost", data, "--costs", costs, "--json").json["classifiers"][0]["risks"][0]["true"] == "b"


def test_whole_number_classes_match_a_matrix_of_texts(run, table):
    data = table("p.csv", "label,model\n" + "0,0\n1,1\n2,2\n1,2\n" * 30)
    costs = table("m.toml", "[matrices.x]\n0 = {1 = 1, 2 = 1}\n1 = {0 = 1, 2 = 4}\n2 = {0 = 1, 1 = 1}\n")
    assert run("bcost", data, "--costs", costs, "--json").json["classifiers"][0]["estimate"] == 1.0
    csv_costs = table("m.csv", "true,2,1,0\n0,1,1,0\n1,4,0,1\n2,0,1,1\n")
    assert run("bcost", data, "--costs", csv_costs, "--json").json["classifiers"][0]["estimate"] == 1.0


def test_a_hull_gathers_classifiers(run, credit, tmp_path):
    assert "made hull.json" in run("hull", "add", "hull.json", *HERE[:3], "--score", "logit").err
    done = run("hull", "add", "hull.json", *HERE[:3], "--score", "forest", "--score", "tree", "--tag", "new")
    assert "forest (new) can be best somewhere." in done.out
    assert "tree (new) cannot be best anywhere." in done.out
    document = run("hull", "show", "hull.json", *HERE[3:], "--json").json
    assert document["classifiers"] == ["logit", "forest (new)", "tree (new)"]
    assert document["decisions"][0]["classifier"] == "forest (new)"
    before = (tmp_path / "hull.json").read_bytes()
    again = run("hull", "add", "hull.json", *HERE[:3], "--score", "logit")
    assert (again.code, (tmp_path / "hull.json").read_bytes()) == (2, before)
    assert "hull.json has 'logit' already: tell them apart with --tag TEXT" in again.err
    assert "Use forest (new) at score >= 0.2113: 0.517 per case." in run("hull", "show", "hull.json", *HERE[3:]).out


@pytest.mark.parametrize(("name", "start"), [("c.svg", b"<?xml"), ("c.png", b"\x89PNG"), ("c.pdf", b"%PDF")])
def test_a_picture_is_the_same_each_time(run, tmp_path, name, start):
    pictures = []
    for _ in range(2):
        done = run("curve", *CREDIT, "--score", "forest", "-o", name, "--force")
        assert (done.code, done.out) == (0, "")
        assert f"wrote {name}" in done.err
        pictures.append((tmp_path / name).read_bytes())
    assert pictures[0] == pictures[1]
    assert pictures[0].startswith(start)


@pytest.mark.parametrize(("name", "flags"), [("a.json", ()), ("a.csv", ()), ("a.txt", ()), ("b.txt", ("--json",))])
def test_an_answer_can_go_to_a_file(run, tmp_path, name, flags):
    form = "--json" if "--json" in flags or name.endswith("json") else "--csv" if name.endswith("csv") else None
    printed = run("decide", *HERE, *([form] if form else []))
    done = run("decide", *HERE, *flags, "-o", name)
    assert (done.code, done.out) == (0, "")
    assert (tmp_path / name).read_text(encoding="utf-8") == printed.out


def test_the_report_is_made_from_what_was_read(run, reports, tmp_path):
    done = run("report", *CREDIT, "--score", "forest", "--title", "Credit", "--level", "0.9", "-o", "r.html")
    assert done.code == 0
    assert f"The page is {tmp_path / 'r.html'}" in done.out.replace("\n", "")
    (made,) = reports
    assert made["y_true"].y_true.sum() == 300
    assert (made["y_true"].pos_label, made["y_true"].names) == ("bad", ("forest",))
    assert list(made["scenarios"]) == ["documented", "uncertain"]
    assert (made["currency"], made["level"], made["title"], made["dropped"]) == ("", 0.9, "Credit", 0)
    assert made["source"] == "german_credit_scores.csv"
    again = "costcurves report example:german_credit --label label --positive bad --score forest --costs"
    assert made["command"] == f"{again} example:german_credit --level 0.9 --title Credit"


def test_the_report_takes_weights(run, reports, table):
    table("w.csv", "y,a,w\n1,0.9,3\n0,0.1,1\n1,0.4,2\n0,0.6,1\n")
    assert run("report", "w.csv", "--score", "a", "--weight", "w", "-o", "r.html").code == 0
    (made,) = reports
    assert made["y_true"].sample_weight.tolist() == [3, 1, 2, 1]
    assert made["command"].endswith("--score a --weight w")
    refused = run("report", *VEHICLE, "--pred", "logit", "--weight", "w", "-o", "s.html")
    assert (refused.code, "--weight is about scores of two classes" in refused.err) == (2, True)


def test_the_report_can_be_about_k_classes(run, reports):
    assert run("report", *VEHICLE, "--pred", "logit", "-o", "r.html").code == 0
    (made,) = reports
    assert (list(made["predictions"]), made["currency"]) == (["logit"], "EUR")
    assert made["costs"].labels == ("bus", "opel", "saab", "van")
    refused = run("report", *VEHICLE, "--pred", "logit", "--score", "forest", "-o", "s.html")
    assert (refused.code, "--score is about scores of two classes" in refused.err) == (2, True)
    assert "--pred needs a cost matrix" in run("report", VEHICLE[0], "--pred", "logit", "-o", "s.html").err


def test_the_demo_prints_the_answer_and_where_the_page_is(run, reports, tmp_path):
    for flags in ([], ["--force"]):
        done = run("demo", *flags)
        assert done.code == 0
        assert "Use forest: call a case bad where forest >= 0.2113." in done.out
        assert str(tmp_path / "costcurves-demo" / "report.html") in done.out.replace("\n", "")
    page = tmp_path / "costcurves-demo" / "report.html"
    page.write_text("mine")
    refused = run("demo")
    assert (refused.code, refused.out) == (2, "")
    assert "costcurves-demo/report.html exists already" in refused.err
    assert page.read_text() == "mine"


def test_infinities_are_words_in_json_and_csv(run):
    document = run("decide", *HERE, "--json").json
    cuts = {row["classifier"]: row["threshold"] for row in document["decisions"][0]["classifiers"]}
    assert (cuts["always negative"], cuts["always positive"]) == ("inf", "-inf")
    rows = list(csv.DictReader(io.StringIO(run("decide", *HERE, "--csv").out)))
    assert math.isinf(float(rows[-1]["threshold"]))
    assert rows[0]["p_value"] == ""
    assert rows[-1]["worse"] == "true"


def test_a_hull_of_binned_scores_says_what_is_not_settled(run, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.4
    bins = cc.ScoreBins.universal("float64", 2**14)
    scores = {"wide": rng.normal(2.0 * y, 1.0), "near": 1e9 + rng.normal(y, 1.0)}
    hull = cc.RocHull({name: cc.ScoreTally(bins=bins).update(y, s).to_roc_curve() for name, s in scores.items()})
    hull.to_json(tmp_path / "binned.json")
    asked = ("hull", "show", str(tmp_path / "binned.json"), "--pc", "0.5")
    answer = json.loads(run(*asked, "--json").out)
    assert hull.never_best == ("near",)  # all its scores are in one bin, which may hide anything
    assert answer["never_best"] == []
    assert answer["decisions"][0]["unsettled"] == ["near"]
    assert answer["decisions"][0]["max_error"] == hull.best(0.5).max_error > 0.1
    told = " ".join(run(*asked).out.split())
    assert "Not settled: binning error may hide that another costs less: near." in told
    assert "costs may be up to" in told
