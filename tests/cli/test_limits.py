"""`decide` under a limit: the answers of the library, in words that say what is guaranteed."""

from __future__ import annotations

import csv

import pytest

import costcurves as cc

CREDIT = ("decide", "example:german_credit", "--positive", "bad")


@pytest.fixture(scope="module")
def hull() -> cc.RocHull:
    with open(cc.example_path("german_credit_scores.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    scores = {name: [float(row[name]) for row in rows] for name in ("logit", "forest", "bayes", "tree")}
    return cc.RocHull.from_predictions([row["label"] == "bad" for row in rows], scores)


@pytest.mark.parametrize("confidence", [None, 0.9])
def test_limits_answer_what_the_library_computes(run, hull, confidence):
    sure = () if confidence is None else ("--confidence", confidence)
    where = 0.3 if confidence is None else "sample"
    for options, choice in (
        (("--max-fpr", 0.05), hull.best_at_fpr(0.05, confidence=confidence)),
        (("--min-tpr", 0.9), hull.best_at_tpr(0.9, confidence=confidence)),
        (
            ("--capacity", 0.2),
            hull.best_at_capacity(alarms=20, population=100, prevalence=where, confidence=confidence),
        ),
        (
            ("--capacity", 0.2, "--prevalence", 0.1),
            hull.best_at_capacity(alarms=20, population=100, prevalence=0.1, confidence=confidence),
        ),
        (
            ("--min-precision", 0.5, "--prevalence", 0.3),
            hull.best_at_precision(0.5, prevalence=0.3, confidence=confidence),
        ),
    ):
        document = run(*CREDIT, *options, *sure, "--json").json
        assert document["decisions"] == [{"scenario": None, **choice.to_dict()}]
        text = run(*CREDIT, *options, *sure).out
        assert f"where {choice.classifier} >= {choice.threshold_text}." in text
        if confidence is None:
            assert "add --confidence 0.95" in text
        else:
            assert choice.guarantee[1:] in " ".join(text.split())
            assert "at least 90 % lead to a rule that keeps the limit" in " ".join(text.split())


def test_a_limit_that_nothing_keeps_surely_leaves_no_classifier(run):
    text = run(*CREDIT, "--min-precision", "0.9", "--prevalence", "0.3", "--confidence", "0.95").out
    assert "Use no classifier: call every case good." in text
    assert "shown to keep the limit, with a confidence of 95 %" in " ".join(text.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--max-fpr 0.05 --min-tpr 0.9", "--max-fpr and --min-tpr exclude each other: ask for one limit at a time"),
        ("--max-fpr 0.05 --pc 0.3", "--max-fpr and --pc exclude each other: a limit takes the place of costs"),
        ("--max-fpr 0.05 --cost-fn 3", "--max-fpr and --cost-fn exclude each other"),
        ("--max-fpr 0.05 --level 0.9", "--max-fpr and --level exclude each other"),
        ("--min-tpr 0.9 --assert-cost-below 0", "--min-tpr and --assert-cost-below exclude each other"),
        ("--max-fpr 0.05 --prevalence 0.1", "--max-fpr and --prevalence exclude each other: the rate of one class"),
        ("--confidence 0.9", "--confidence needs a limit: --max-fpr, --min-tpr, --capacity, --min-precision"),
        ("--confidence 95 --max-fpr 0.05", "--confidence must be in (0, 1), got 95"),
        ("--max-fpr 5", "--max-fpr must be in (0, 1), got 5"),
        ("--capacity nan", "--capacity must be in (0, 1), got nan"),
        ("--min-precision 0.5", "--min-precision needs --prevalence"),
        ("--capacity 0.1 --prevalence 0.1..0.2", "--prevalence must be one number with a limit, got '0.1..0.2'"),
        ("--capacity 0.1 --prevalence 2", "--prevalence must be in (0, 1), got 2"),
        ("--max-fpr 0.001 --confidence 0.95", "`confidence` 0.95 of fpr <= 0.001 needs at least 4,380 negative cases"),
    ],
)
def test_what_makes_no_sense_is_said(run, options, message):
    done = run(*CREDIT, *options.split())
    assert done.code == 2
    assert message in " ".join(done.err.split())


def test_weights_give_no_guarantee(run, table):
    path = table("w.csv", "y,s,w\n" + "".join(f"{i % 2},{i / 9},2\n" for i in range(200)))
    done = run("decide", path, "--score", "s", "--weight", "w", "--max-fpr", "0.3", "--confidence", "0.9")
    assert "`confidence` needs counts of cases, got 's' made from weighted cases" in done.err
    assert run("decide", path, "--score", "s", "--weight", "w", "--max-fpr", "0.3").code == 0
