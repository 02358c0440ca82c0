"""Answers per segment with a joint level, and the comparison of these cases with those of a reference."""

from __future__ import annotations

import base64
import gzip
import json
import re

import numpy as np
import pytest

import costcurves as cc
from costcurves.cli import main
from costcurves.decisions.rows import Rows
from costcurves.decisions.segments import segment_condition

RNG = np.random.default_rng(21)
N = 600
REGION = np.array(["north", "south", None], dtype=object)[RNG.choice(3, N, p=[0.5, 0.4, 0.1])]
Y = RNG.random(N) < np.where(REGION == "north", 0.5, 0.25)
# The good classifier is good in the north only, where the other one is useless.
A = np.where(REGION == "north", 3 * Y, 0) + RNG.normal(size=N)
B = np.where(REGION == "north", 0, 3 * Y) + RNG.normal(size=N)
HERE = cc.OperatingCondition(0.3, cost_fp=1, cost_fn=2)


@pytest.fixture(scope="module")
def report():
    return cc.Report.from_predictions(Y, {"a": A, "b": B}, scenarios={"here": HERE}, slices=REGION)


def test_each_segment_has_the_answer_of_its_cases_alone_at_a_joint_level(report):
    (told,) = report.to_dict()["slices"]
    assert told["scenario"] == "here"
    assert [one["segment"] for one in told["segments"]] == ["north", "south", "(missing)"]
    everywhere = cc.recommend(Y, {"a": A, "b": B}, HERE).best
    for one in told["segments"]:
        mask = np.array([value == one["segment"] if value else one["segment"] == "(missing)" for value in REGION])
        assert (one["rows"], one["positives"]) == (mask.sum(), Y[mask].sum())
        # The odds of a positive differ from those of the scenario as they do in the data.
        odds = (Y[mask].mean() / (1 - Y[mask].mean())) / (Y.mean() / (1 - Y.mean())) * 0.3 / 0.7
        where = cc.OperatingCondition(odds / (1 + odds), cost_fp=1, cost_fn=2)
        assert one["condition"]["prevalence"] == pytest.approx(where.prevalence)
        alone = cc.recommend(Y[mask], {"a": A[mask], "b": B[mask]}, where, level=1 - 0.05 / 3)
        assert one["best"]["classifier"] == alone.best.classifier
        assert one["cost"]["upper"] == pytest.approx(alone.money_upper[0])
        assert one["sure"] == alone.sure
        saving = alone.saving(everywhere.classifier, everywhere.threshold)
        assert one["saving"]["lower"] == pytest.approx(saving.lower)


def test_a_segment_in_which_the_rule_for_all_fails_is_named(report):
    page = report.html()
    everywhere = cc.recommend(Y, {"a": A, "b": B}, HERE).best.classifier
    failing = "south" if everywhere == "a" else "north"
    assert re.search(rf"A rule of its own is shown to be cheaper than .*? in: <bdi>{failing}</bdi>", page)
    assert "so that the statements about all 3 segments hold together" in page
    assert page.count("its own rule is shown to be cheaper") >= 1


def test_the_condition_of_a_segment_that_is_like_all_cases_is_the_scenario():
    rows = Rows(Y, {"a": A})
    assert segment_condition(HERE, rows, rows).prevalence == pytest.approx(0.3)
    assert segment_condition(cc.OperatingCondition.from_pc(0.4), rows, rows).pc == pytest.approx(0.4)


def test_a_segment_of_one_class_has_no_answer():
    slices = np.where(np.arange(N) == int(np.flatnonzero(Y)[0]), "alone", "others")
    found = cc.Report.from_predictions(Y, {"a": A}, scenarios={"here": HERE}, slices=slices)
    one = found.to_dict()["slices"][0]["segments"][1]
    assert (one["segment"], one["rows"], one["best"]) == ("alone", 1, None)
    assert "cases of one class only" in found.html()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"slices": ["x"]}, r"`slices` must have one value for each of the 600 cases, got 1"),
        ({"slices": "north"}, r"`slices` must have one value per case, got 'north'"),
        ({"slices": np.arange(N)}, r"`slices` must have at most 50 different values, got 600"),
        ({"slices": REGION, "scenarios": {}}, r"`slices` needs `scenarios`"),
        ({"reference": [1, 2]}, r"`reference` must be Predictions"),
        ({"reference": cc.Predictions([0, 1], {"b": [1, 2]})}, r"`reference` must have the same classifiers"),
    ],
)
def test_impossible_segments_and_references_are_refused(options, said):
    with pytest.raises(cc.InputError, match=said):
        cc.Report.from_predictions(Y, {"a": A}, **{"scenarios": {"here": HERE}, **options})


def test_a_reference_is_compared_at_the_condition_of_the_scenario():
    old, new = np.arange(N) < 300, np.arange(N) >= 300
    rng = np.random.default_rng(3)
    same = 1.5 * Y + rng.normal(size=N)
    worse = np.where(new, rng.normal(size=N), same)  # the classifier has stopped working
    for scores, kept in ((same, True), (worse, False)):
        reference = cc.Predictions(Y[old], {"a": scores[old]})
        report = cc.Report.from_predictions(Y[new], {"a": scores[new]}, scenarios={"here": HERE}, reference=reference)
        (told,) = report.to_dict()["reference"]
        promise = cc.recommend(Y[old], {"a": scores[old]}, HERE.pc)
        check = cc.check_promise(promise, Y[new], {"a": scores[new]})
        assert {key: value for key, value in told.items() if key != "scenario"} == check.to_dict()
        assert told["kept"] == kept
        assert ("has changed" in report.html()) == (not kept)


def test_the_command_takes_a_column_of_segments_and_a_reference(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"{int(y)},{a!r},{region or ''}" for y, a, region in zip(Y, A.tolist(), REGION, strict=True)]
    for name, part in (("old.csv", rows[:300]), ("new.csv", rows[300:])):
        (tmp_path / name).write_text("\n".join(["label,a,region", *part]) + "\n", encoding="utf-8")
    columns = ("--label", "label", "--score", "a", "--pc", "0.4")
    asked = ("report", "new.csv", *columns, "--slice", "region", "--reference", "old.csv", "-o", "page.html")
    assert main(list(asked)) == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert 'id="slices"' in page
    assert 'id="reference"' in page
    assert "--slice region --reference old.csv" in page
    packed = re.search(r'id="report">(.*?)</script>', page, re.DOTALL)[1]
    document = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert {one["segment"] for one in document["slices"][0]["segments"]} == {"north", "south", "(missing)"}
    assert main(["report", "new.csv", *columns, "--slice", "nothing", "-o", "other.html"]) == 2
    assert "--slice 'nothing'" in capsys.readouterr().err
    assert not (tmp_path / "other.html").exists()


def test_names_of_segments_are_inert():
    hostile = "<script>alert(1)</script>\u202e"
    slices = np.where(np.arange(N) < 300, hostile, "x" * 300)
    page = cc.Report.from_predictions(Y, {"a": A}, scenarios={"here": HERE}, slices=slices).html()
    assert "<script>alert" not in page
    assert "\u202e" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\u202e" in page
