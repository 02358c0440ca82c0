"""Python, the command line, its gates, the report's JSON and the report's words give one answer to one question."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

import costcurves as cc
from costcurves.cli import main
from costcurves.report.answers import SURE
from costcurves.report.datasets import two_class_data
from costcurves.report.headline import Teller
from costcurves.report.numbers import rounded
from costcurves.report.words import Speaker
from laws import random_worlds

# Worlds of an ordinary run; COSTCURVES_WORLDS=500 tries more.
WORLDS = int(os.environ.get("COSTCURVES_WORLDS", "4"))


def world(rng):
    """Return a table of labels and scores, and a condition or a range of conditions."""
    n = int(rng.integers(30, 200))
    y = np.append(rng.random(n) < rng.uniform(0.15, 0.85), [True, False])
    scores = {}
    for name in "abc"[: rng.integers(1, 4)]:
        values = y * rng.uniform(0.2, 3) + rng.standard_normal(y.size)
        scores[name] = np.round(values, int(rng.integers(0, 9))) + 0.0
    prevalence = float(rng.choice([0.01, 0.1, 0.3, 0.5]))
    cost_fn = float(rng.choice([1, 5, 50]))
    if rng.random() < 0.3:
        return y, scores, cc.OperatingRange(prevalence=(prevalence, 1.5 * prevalence), cost_fp=1, cost_fn=cost_fn)
    return y, scores, cc.OperatingCondition(prevalence, cost_fp=1, cost_fn=cost_fn)


def answer_of_the_command_line(y, scores, where, folder, *more):
    """Return the exit code and the JSON of `decide` for the same data in a file."""
    rows = zip(y.astype(int).tolist(), *(values.tolist() for values in scores.values()), strict=True)
    text = "\n".join(["label," + ",".join(scores), *(",".join(map(repr, row)) for row in rows)])
    (folder / "rows.csv").write_text(text + "\n", encoding="utf-8")
    share = where.prevalence if isinstance(where.prevalence, float) else "..".join(map(repr, where.prevalence))
    cost = where.cost_fn if isinstance(where.cost_fn, float) else where.cost_fn[0]
    columns = [word for name in scores for word in ("--score", name)]
    options = ["--prevalence", str(share), "--cost-fn", repr(cost), "--cost-fp", "1", *more]
    target = folder / "answer.json"
    files = [str(folder / "rows.csv"), "--label", "label", "--json", "--force", "-o", str(target)]
    code = main(["decide", *files, *columns, *options])
    return code, json.loads(target.read_text(encoding="utf-8"))


def set_of_thresholds(y, scores, answer):
    """Return the thresholds that are not shown to cost more, from the curve of the recommended classifier."""
    name = answer.best.classifier
    if name not in scores:
        return None
    roc = cc.RocCurve.from_predictions(y, scores[name], name=name)
    return cc.CostCurve(roc).threshold_set(answer.condition, level=answer.level)


def shaded_in(points, answer, thresholds):
    """Return the intervals of the set, as far as the picture of the recommended classifier reaches."""
    own = sorted(name for name in answer.classifier if "always" not in name).index(answer.best.classifier)
    drawn = [t for k, t in zip(points["k"], points["t"], strict=True) if k == own and t is not None]
    pairs = zip(thresholds.low.tolist(), thresholds.high.tolist(), strict=True)
    cut = [(max(low, min(drawn)), min(high, max(drawn))) for low, high in pairs]
    return [(low, high) for low, high in cut if low < high]


def same_first_lines(report, scenario, answer, today, cases, y, scores):
    """Check that the first lines of the page, their numbers in the JSON and those of Python agree."""
    (headline,) = Teller(Speaker("positive", "", 0.95), cases).headlines(report.summary)
    assert headline.verdict == scenario["verdict"]
    assert (headline.light == "sure") == answer.sure
    words = " ".join([headline.action.striptags(), *(line.striptags() for line in headline.lines)])
    if isinstance(answer.to_dict().get("range"), dict):
        assert answer.best_name in words or "no classifier" in words
        ends, answers = scenario["ends"], [cc.recommend(y, scores, end) for end in answer.over.corners]
    else:
        ends, answers = [scenario], [answer]
    for end, one in zip(ends, answers, strict=True):
        saving = one.saving(*today)
        assert end["saving"] == saving.to_dict()
        assert end["verdict"] == ("no gain expected" if one.cheaper_unaided else "clear" if one.sure else "not settled")
        for name in ("estimate", "lower", "upper"):
            assert end["per_year"]["saving"][name] == pytest.approx(cases * getattr(saving, f"money_{name}"))
            assert end["per_year"]["cost"][name] == pytest.approx(cases * getattr(one, f"money_{name}")[0])
        assert rounded(end["per_year"]["cost"]["estimate"]) in words
        if saving.shown or saving.estimate > 0:
            assert rounded(end["per_year"]["saving"]["estimate"]) in words
        assert ("The data show that it saves" in words) or not saving.shown or saving.lower == saving.upper


@pytest.mark.law
@pytest.mark.filterwarnings("ignore::costcurves.WorseThanChanceWarning")
def test_every_door_gives_the_same_answer(tmp_path, capsys):
    for rng in random_worlds(WORLDS, stream=7):
        y, scores, where = world(rng)
        asked = cc.recommend if isinstance(where, cc.OperatingCondition) else cc.recommend_within
        answer = asked(y, scores, where)
        expected = answer.to_dict()
        rival = str(rng.choice([*scores, "always negative", "always positive"]))
        code, document = answer_of_the_command_line(y, scores, where, tmp_path, "--assert-better-than", rival)
        (told,) = document["decisions"]
        assert {key: value for key, value in told.items() if key != "scenario"} == expected
        (gate,) = document["gates"]
        if isinstance(where, cc.OperatingCondition):
            beaten = bool(answer.worse[answer.index(rival)])
        else:
            beaten = rival != answer.best_name and rival in answer.shown_worse and rival not in answer.rivals
        assert gate["passed"] == beaten
        assert code == (0 if beaten else 1)
        today, cut, cases = str(rng.choice(list(scores))), float(rng.choice([0.0, 0.5, 1.5])), 250.0
        report = cc.Report.from_predictions(
            y,
            scores,
            scenarios={"here": where},
            baseline=today,
            baseline_threshold=cut,
            cases_per_year=cases,
        )
        (scenario,) = report.to_dict()["scenarios"]
        assert scenario["recommendation"] == expected
        same_first_lines(report, scenario, answer, (today, cut), cases, y, scores)
        card = Speaker("positive", "", 0.95).cards(report.summary)[0]
        assert (card.verdict == SURE) == answer.sure
        if isinstance(where, cc.OperatingCondition):
            thresholds = set_of_thresholds(y, scores, answer)
            assert told["threshold_set"] == (None if thresholds is None else thresholds.to_dict())
            said = dict(card.lines).get("Other thresholds")
            assert said == (None if thresholds is None else thresholds.statement)
            data = two_class_data(report.summary)
            shaded = [(a, b) for a, b, said in zip(*map(data["sets"].get, ("a", "b", "said")), strict=True) if said]
            assert shaded == ([] if thresholds is None else shaded_in(data["points"], answer, thresholds))
            words = card.use.striptags().replace("\N{NO-BREAK SPACE}", " ")
            assert answer.best.threshold_text in words
            assert (answer.best.classifier in words) == (answer.best.classifier in scores)
    capsys.readouterr()
