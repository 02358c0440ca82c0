"""Gates pass and fail as the limits of the library say, with exit codes 0 and 1."""

from __future__ import annotations

import csv

import pytest

import costcurves as cc

CREDIT = ("example:german_credit", "--positive", "bad")
HERE = (*CREDIT, "--prevalence", "0.3", "--cost-fn", "5", "--cost-fp", "1")
VEHICLE = ("example:vehicle", "--costs", "example:vehicle")


@pytest.fixture(scope="module")
def credit() -> tuple[list[bool], dict[str, list[float]]]:
    with open(cc.example_path("german_credit_scores.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [row["label"] == "bad" for row in rows], {n: [float(r[n]) for r in rows] for n in ("forest", "tree")}


def judge(run, *arguments: object) -> tuple[int, list[bool], str]:
    """Return the exit code, the verdicts and the words of a command's gates; code and verdicts must agree."""
    done = run(*arguments, "--json")
    gates = done.json["gates"]
    verdicts = [gate["passed"] for gate in gates]
    assert done.code == (0 if all(verdicts) else 1)
    words = [f"{'PASS' if gate['passed'] else 'FAIL'}: {gate['claim']}: {gate['reason']}" for gate in gates]
    assert all(gate["verdict"] == "not shown" for gate in gates if gate["cases_needed"] is not None)
    return done.code, verdicts, "\n".join(words)


def test_better_at_a_condition_needs_a_significant_difference(run):
    two = ("--score", "forest", "--score", "tree")
    # The difference is significant for given thresholds (p = 0.013), but every threshold of the tree is a rival.
    code, _, text = judge(run, "decide", *HERE, *two, "--assert-better-than", "tree", "--level", "0.6")
    assert code == 0
    assert "PASS: better than tree: forest is shown to cost less" in text
    code, _, text = judge(run, "decide", *HERE, *two, "--assert-better-than", "tree")
    assert code == 1
    assert "FAIL: better than tree: forest is not shown to cost less" in text


def test_the_best_is_not_better_than_itself(run):
    code, _, text = judge(run, "decide", *HERE, "--score", "forest", "--assert-better-than", "forest")
    assert code == 1
    assert "FAIL: better than forest: nothing costs less than forest" in text


@pytest.mark.parametrize(("limit", "code"), [("0.62", 0), ("0.6", 1), ("0.52", 1)])
def test_a_cost_is_below_a_limit_when_its_upper_limit_is(run, limit, code):
    # forest costs 0.517 per case on these rows, at most 0.611 on new ones with 95 % confidence.
    arguments = ("decide", *HERE, "--score", "forest", "--assert-cost-below", limit)
    found, _, text = judge(run, *arguments)
    assert found == code
    assert f"cost of forest below {limit}: the upper limit at 95 % is 0.611" in text


def test_every_scenario_must_pass(run):
    costs = ("--costs", "example:german_credit", "--score", "forest", "--score", "tree")
    code, verdicts, text = judge(run, "decide", CREDIT[0], *costs, "--assert-better-than", "tree")
    assert (code, verdicts) == (1, [False, False])
    assert "FAIL: better than tree in scenario documented" in text
    assert "FAIL: better than tree in scenario uncertain: forest is shown to cost less only for pc 0." in text
    printed = run("decide", CREDIT[0], *costs, "--assert-better-than", "tree")
    assert printed.code == 1
    assert all(line in printed.out for line in text.splitlines())


@pytest.mark.parametrize(("low", "high", "code"), [(0.3, 0.6, 0), (0.01, 0.99, 1)])
def test_better_over_a_range_means_everywhere_in_it(run, credit, low, high, code):
    y, scores = credit
    difference = cc.compare(y, scores["forest"], scores["tree"], pc=cc.OperatingRange.from_pc(low, high))
    assert bool((difference.upper < 0).all()) == (code == 0)
    arguments = (
        *CREDIT,
        "--score",
        "forest",
        "--score",
        "tree",
        "--pc",
        f"{low}..{high}",
        "--assert-better-than",
        "tree",
    )
    assert judge(run, "compare", *arguments)[0] == code
    assert run("decide", *arguments).code == code


@pytest.mark.parametrize(("candidate", "baseline", "code"), [("forest", "tree", 0), ("tree", "forest", 1)])
def test_not_worse_means_nowhere_significantly_worse(run, credit, candidate, baseline, code):
    y, scores = credit
    difference = cc.compare(y, scores[candidate], scores[baseline])
    assert bool((difference.lower > 0).any()) == (code == 1)
    # Who is the candidate does not depend on the order of the columns.
    two = ("--score", "forest", "--score", "tree")
    found, _, text = judge(run, "compare", *CREDIT, *two, "--assert-not-worse-than", baseline)
    assert found == code
    assert f"{candidate} not worse than {baseline}" in text


def test_with_a_margin_not_worse_must_be_shown(run, credit):
    y, scores = credit
    worst = float(cc.compare(y, scores["forest"], scores["tree"], pc=cc.OperatingRange.from_pc(0.2, 0.8)).upper.max())
    assert worst > 0
    arguments = (*CREDIT, "--score", "forest", "--score", "tree", "--pc", "0.2..0.8", "--assert-not-worse-than", "tree")
    assert judge(run, "compare", *arguments, "--margin", worst * 1.01)[0] == 0
    assert judge(run, "compare", *arguments, "--margin", worst * 0.99)[0] == 1


def test_among_many_the_candidate_is_named(run):
    here = ("compare", *CREDIT, "--pc", "0.4..0.6")
    done = run(*here, "--assert-not-worse-than", "forest")
    assert done.code == 2
    assert "say with --candidate which classifier is to be judged against 'forest'" in done.err
    code, _, text = judge(run, *here, "--assert-not-worse-than", "forest", "--candidate", "tree")
    assert code == 1
    assert "FAIL: tree not worse than forest: it costs significantly more for pc 0.4" in text


def test_gates_of_k_classes(run):
    two = ("--pred", "forest", "--pred", "bayes")
    better = ("bdeltacost", *VEHICLE, *two, "--assert-better-than")
    assert judge(run, *better, "bayes")[0] == 0
    assert judge(run, *better, "forest")[0] == 1
    same = ("bdeltacost", *VEHICLE, "--pred", "logit", "--pred", "forest", "--assert-not-worse-than")
    # Neither of these two is shown to cost less: both pass without a margin, and only one shows 0.1.
    assert judge(run, *same, "logit")[0] == judge(run, *same, "forest")[0] == 0
    assert judge(run, *same, "logit", "--margin", "0.15")[0] == 0
    assert judge(run, *same, "forest", "--margin", "0.15")[0] == 1
    assert judge(run, "bdeltacost", *VEHICLE, *two, "--assert-not-worse-than", "forest")[0] == 1
    assert judge(run, "bcost", *VEHICLE, "--assert-cost-below", "0.7")[1] == [True, True, False]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("decide", *HERE, "--score", "tree", "--assert-better-than", "wood"),
            "'wood' is not one of the classifiers 'tree'",
        ),
        (("decide", *CREDIT, "--pc", "0.2..0.4", "--score", "tree", "--assert-cost-below", "1"), "needs a condition"),
        (("compare", *CREDIT, "--margin", "0.1"), "--margin goes with --assert-not-worse-than"),
        (("compare", *CREDIT, "--candidate", "tree"), "--candidate goes with"),
        (("compare", *CREDIT, "--assert-better-than", "tree", "--candidate", "forest"), "needs a condition or a range"),
        (("compare", *HERE, "--assert-better-than", "tree", "--candidate", "tree"), "are both 'tree'"),
        (("compare", *HERE, "--assert-better-than", "tree", "--candidate", "x"), "'x' is not one of the classifiers"),
        (("bdeltacost", *VEHICLE, "--margin", "0.1"), "--margin goes with --assert-not-worse-than"),
    ],
)
def test_gates_that_make_no_sense_are_bad_usage(run, arguments, words):
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_a_file_that_names_todays_rule_answers_its_conditions_beside_its_ranges(run, tmp_path):
    today = 'baseline = "tree"\nbaseline_threshold = 0.5\n'
    spot = "[scenarios.spot]\nprevalence = 0.3\ncost_fn = 5\ncost_fp = 1\n"
    drift = "[scenarios.drift]\nprevalence = [0.2, 0.4]\ncost_fn = 5\ncost_fp = 1\n"
    (tmp_path / "both.toml").write_text(today + spot + drift)
    (tmp_path / "one.toml").write_text(today + spot)
    both = run("decide", *CREDIT, "--costs", "both.toml", "--json")
    assert (both.code, both.json["against"]) == (
        0,
        run("decide", *CREDIT, "--costs", "one.toml", "--json").json["against"],
    )
    assert [one["scenario"] for one in both.json["decisions"]] == ["spot", "drift"]
    assert (
        "drift: what is saved against tree is answered for one condition"
        in run("decide", *CREDIT, "--costs", "both.toml").out
    )
