"""Python, the command line, its gates, the report's JSON and the report's words give one answer to one question.

``python tests/test_views_agree.py --worlds 1000`` tries fresh worlds of two classes (of more with ``--classes``)
and prints how to repeat a failure.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import secrets
import sys
import tempfile
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest
from markupsafe import Markup

import costcurves as cc
from costcurves.cli import main
from costcurves.report.datasets import two_class_data
from costcurves.report.headline import Teller
from costcurves.report.numbers import rounded
from costcurves.report.words import Speaker
from laws import random_worlds

# Worlds of an ordinary run; COSTCURVES_WORLDS=500 tries more.
WORLDS = int(os.environ.get("COSTCURVES_WORLDS", "2"))


# Names of classifiers, hostile ones among them.
NAMES = ("a", "b", "c", "=1+1", "<b>x</b>", 'de, "quoted"', "ünï 中文", "p q r", "--score")


def world(rng):
    """Return a table of labels and scores, and a condition or a range of conditions."""
    n = int(rng.integers(30, 200))
    y = np.append(rng.random(n) < rng.uniform(0.15, 0.85), [True, False])
    scores = {}
    names = "abc" if rng.random() < 0.6 else rng.permutation(NAMES).tolist()
    for name in names[: rng.integers(1, 5)]:
        values = y * rng.uniform(0.2, 3) + rng.standard_normal(y.size)
        scores[name] = np.round(values, int(rng.integers(0, 9))) + 0.0
    if len(scores) > 1 and rng.random() < 0.1:  # two that decide alike
        first, *_, last = scores
        scores[last] = scores[first].copy()
    prevalence = float(rng.choice([0.01, 0.1, 0.3, 0.5]))
    cost_fn = float(rng.choice([1, 5, 50]))
    if rng.random() < 0.3:
        return y, scores, cc.OperatingRange(prevalence=(prevalence, 1.5 * prevalence), cost_fp=1, cost_fn=cost_fn)
    return y, scores, cc.OperatingCondition(prevalence, cost_fp=1, cost_fn=cost_fn)


def answer_of_the_command_line(command, y, scores, where, folder, *more):
    """Return the exit code and the JSON of a command for the same data in a file."""
    with (folder / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["label", *scores])
        table.writerows(zip(y.astype(int).tolist(), *(map(repr, v.tolist()) for v in scores.values()), strict=True))
    share = where.prevalence if isinstance(where.prevalence, float) else "..".join(map(repr, where.prevalence))
    cost = where.cost_fn if isinstance(where.cost_fn, float) else where.cost_fn[0]
    columns = [f"--score={name}" for name in scores]
    options = ["--prevalence", str(share), "--cost-fn", repr(cost), "--cost-fp", "1", *more]
    target = folder / "answer.json"
    target.unlink(missing_ok=True)
    files = [str(folder / "rows.csv"), "--label", "label", "--json", "--force", "-o", str(target)]
    code = main([command, *files, *columns, *options])
    return code, json.loads(target.read_text(encoding="utf-8"))


def same_candidates(rng, y, scores, where, answer, folder):
    """Check that a named candidate is judged alike by both of its doors, and never against the recommendation."""
    everyone = [*scores, "always negative", "always positive"]
    candidate, rival = str(rng.choice(list(scores))), str(rng.choice(everyone))
    if candidate == rival:
        return
    asked = (f"--candidate={candidate}", f"--baseline={rival}", f"--assert-better-than={rival}")
    saving = answer.saving(rival, candidate=candidate)
    code, document = answer_of_the_command_line("decide", y, scores, where, folder, *asked)
    (gate,), (against,) = document["gates"], document["against"]
    verdict = "shown" if saving.shown else "shown otherwise" if saving.upper < 0 else "not shown"
    assert (gate["verdict"], against["verdict"], gate["passed"]) == (verdict, verdict, saving.shown)
    assert code == (0 if saving.shown else 1)
    told = [against[name] for name in ("saving", "saving_lower", "saving_upper")]
    assert told == [saving.money_estimate, saving.money_lower, saving.money_upper]
    best = answer.best.classifier
    assert not (rival == best and saving.shown)
    assert not (rival == best and verdict == "shown otherwise" and candidate in answer.rivals)
    most = float(answer.money_upper[answer.index(candidate)]) * 1.001
    below = (f"--candidate={candidate}", f"--assert-cost-below={most!r}")
    assert answer_of_the_command_line("decide", y, scores, where, folder, *below)[0] == 0


def same_comparisons(rng, y, scores, where, answer, folder):
    """Check that verdicts, p-values and gates of `compare` are one, and never against the recommendation."""
    if len(scores) < 2:
        return
    candidate, rival = map(str, rng.permutation(list(scores))[:2])
    tests = cc.compare_many(y, scores, pc=where).at(where)
    shown = {
        frozenset(pair): pair[0 if less else 1] if s else "undecided"
        for pair, less, s in zip(tests.pairs, tests.estimate < 0, tests.significant(), strict=True)
    }
    better = shown[frozenset((candidate, rival))]
    for gate, passed in (("better", better == candidate), ("not-worse", better != rival)):
        asked = (f"--candidate={candidate}", f"--assert-{gate}-than={rival}")
        code, document = answer_of_the_command_line("compare", y, scores, where, folder, *asked)
        assert [pair["adjusted"] for pair in document["pairs"]] == tests.adjusted.tolist()
        assert [one["better"] for pair in document["pairs"] for one in pair["verdicts"]] == list(shown.values())
        assert (document["gates"][0]["passed"], code) == (passed, 0 if passed else 1)
    # Nothing is shown to cost less than what the recommendation calls the best, unless that is no classifier.
    best = answer.best.classifier
    assert best not in scores or all(who in (best, "undecided") for pair, who in shown.items() if best in pair)


def set_of_thresholds(y, scores, answer):
    """Return the thresholds that are not shown to cost more, from the curve of the recommended classifier."""
    name = answer.best.classifier
    if name not in scores:
        return None
    roc = cc.RocCurve.from_predictions(y, scores[name], name=name)
    return cc.CostCurve(roc).threshold_set(answer.condition, level=answer.level)


def shaded_in(points, names, answer, thresholds):
    """Return the intervals of the set, as far as the picture of the recommended classifier reaches."""
    own = names.index(answer.best.classifier)
    drawn = [t for k, t in zip(points["k"], points["t"], strict=True) if k == own and t is not None]
    pairs = zip(thresholds.low.tolist(), thresholds.high.tolist(), strict=True)
    cut = [(max(low, min(drawn)), min(high, max(drawn))) for low, high in pairs]
    return [(low, high) for low, high in cut if low < high]


def same_first_lines(report, scenario, answer, today, cases, y, scores):
    """Check that the first lines of the page, their numbers in the JSON and those of Python agree."""
    (headline,) = Teller(Speaker("positive", "", 0.95), cases).headlines(report.summary)
    assert headline.verdict == scenario["verdict"]
    assert (headline.verdict == "sure") == answer.sure
    words = " ".join([headline.action.striptags(), *(line.striptags() for line in headline.lines)])
    if isinstance(answer.to_dict().get("range"), dict):
        assert answer.best_name in words or "no classifier" in words
        ends, answers = scenario["ends"], [cc.recommend(y, scores, end) for end in answer.over.corners]
        for one in answers:  # what the choice for the range costs at its ends
            assert rounded(cases * one.money_estimate[one.index(answer.best_name)]) in words
    else:
        ends, answers = [scenario], [answer]
    for end, one in zip(ends, answers, strict=True):
        saving = one.saving(*today)
        assert end["saving"] == saving.to_dict()
        assert end["verdict"] == ("no gain expected" if one.cheaper_unaided else "sure" if one.sure else "not sure")
        for name in ("estimate", "lower", "upper"):
            assert end["per_year"]["saving"][name] == pytest.approx(cases * getattr(saving, f"money_{name}"))
            assert end["per_year"]["cost"][name] == pytest.approx(cases * getattr(one, f"money_{name}")[0])
        assert rounded(end["per_year"]["cost"]["estimate"]) in words
        told = answer is one or one.best.classifier == answer.best_name
        if told and (saving.shown or saving.estimate > 0):
            assert rounded(end["per_year"]["saving"]["estimate"]) in words
        assert not told or ("The data show that it saves" in words) or not saving.shown or saving.lower == saving.upper


def same_segments(report, where, y, scores, segments):
    """Check that the segments of the page and of the JSON are what `recommend` says of their rows."""
    if isinstance(where, cc.OperatingRange):
        return
    (told,) = report.to_dict()["slices"]
    (table,) = report.to_dict()["page"]["slices"]
    everywhere = cc.recommend(y, scores, where).best
    rule = ("always negative", None) if everywhere.threshold == np.inf else ("always positive", None)
    rule = (everywhere.classifier, everywhere.threshold) if np.isfinite(everywhere.threshold) else rule
    rows = {row[0]: row for row in table["table"]["rows"]}
    level = 1 - 0.05 / len(told["segments"])
    for one in told["segments"]:
        mask = segments == one["segment"]
        assert (one["rows"], one["positives"]) == (mask.sum(), y[mask].sum())
        if one["best"] is None:
            assert y[mask].all() or not y[mask].any()
            continue
        odds = where.prevalence / (1 - where.prevalence) * (y[mask].sum() / (~y[mask]).sum()) / (y.sum() / (~y).sum())
        here = cc.OperatingCondition(odds / (1 + odds), cost_fp=where.cost_fp, cost_fn=where.cost_fn)
        found = cc.recommend(y[mask], {name: v[mask] for name, v in scores.items()}, here, level=level)
        assert (one["best"]["classifier"], one["sure"]) == (found.best.classifier, found.sure)
        assert one["cost"]["estimate"] == pytest.approx(found.money_estimate[0])
        saving = found.saving(*rule)
        assert one["saving"]["shown"] == saving.shown
        assert ("its own rule is shown" in rows[one["segment"]][1]) == saving.shown
        words = Markup(rows[one["segment"]][2]).striptags()
        assert found.best.threshold_text in words.replace("\N{NO-BREAK SPACE}", " ")


def check_world(rng, folder):
    """Check that all doors answer alike in one world."""
    y, scores, where = world(rng)
    asked = cc.recommend if isinstance(where, cc.OperatingCondition) else cc.recommend_within
    answer = asked(y, scores, where)
    expected = answer.to_dict()
    rival = str(rng.choice([*scores, "always negative", "always positive"]))
    code, document = answer_of_the_command_line("decide", y, scores, where, folder, f"--assert-better-than={rival}")
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
        slices=(segments := rng.choice(["n", "s"], y.size)),
    )
    same_segments(report, where, y, scores, segments)
    (scenario,) = report.to_dict()["scenarios"]
    assert scenario["recommendation"] == expected
    same_first_lines(report, scenario, answer, (today, cut), cases, y, scores)
    card = Speaker("positive", "", 0.95).cards(report.summary)[0]
    assert (card.verdict == "sure") == answer.sure
    if isinstance(where, cc.OperatingCondition):
        thresholds = set_of_thresholds(y, scores, answer)
        assert told["threshold_set"] == (None if thresholds is None else thresholds.to_dict())
        said = dict(card.lines).get("Other thresholds")
        assert said == (None if thresholds is None else thresholds.statement)
        data = two_class_data(report.summary)
        shaded = [(a, b) for a, b, said in zip(*map(data["sets"].get, ("a", "b", "said")), strict=True) if said]
        assert shaded == ([] if thresholds is None else shaded_in(data["points"], list(scores), answer, thresholds))
        words = card.use.striptags().replace("\N{NO-BREAK SPACE}", " ")
        assert answer.best.threshold_text in words
        assert (answer.best.classifier in words) == (answer.best.classifier in scores)
        same_candidates(rng, y, scores, where, answer, folder)
        same_comparisons(rng, y, scores, where, answer, folder)


@pytest.mark.law
@pytest.mark.filterwarnings("ignore::costcurves.WorseThanChanceWarning")
def test_every_door_gives_the_same_answer(tmp_path, capsys):
    for rng in random_worlds(WORLDS, stream=7):
        check_world(rng, tmp_path)
    capsys.readouterr()


def random_classes(rng):
    """Return true classes, predicted classes and costs of three or four classes."""
    k, n = int(rng.integers(3, 5)), int(rng.integers(40, 200))
    labels = [f"c{i}" for i in range(k)]
    y = np.append(np.arange(k), rng.integers(0, k, n))
    guesses = {}
    for name in "abc"[: rng.integers(1, 4)]:
        right = rng.random(y.size) < rng.uniform(0.3, 0.95)
        guesses[name] = [labels[i] for i in np.where(right, y, rng.integers(0, k, y.size))]
    costs = rng.choice([1, 2, 10, 40], (k, k)).astype(float)
    np.fill_diagonal(costs, 0)
    return [labels[i] for i in y], guesses, cc.CostMatrix(costs, labels=labels)


def check_classes(rng, folder):
    """Check that all doors answer alike about one world of three or four classes."""
    truth, guesses, costs = random_classes(rng)
    answer = cc.bdeltacost_many(truth, guesses, costs)
    rows = zip(truth, *guesses.values(), strict=True)
    text = "\n".join(["label," + ",".join(guesses), *map(",".join, rows)])
    (folder / "rows.csv").write_text(text + "\n", encoding="utf-8")
    lines = [",".join(["", *costs.labels])]
    lines += [
        ",".join([label, *map(repr, row)]) for label, row in zip(costs.labels, costs.values.tolist(), strict=True)
    ]
    (folder / "costs.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    files = [str(folder / "rows.csv"), "--label", "label", "--costs", str(folder / "costs.csv")]
    files += [word for name in guesses for word in ("--pred", name)]
    target = folder / "answer.json"
    assert main(["bdeltacost", *files, "--json", "--force", "-o", str(target)]) == 0
    told = json.loads(target.read_text(encoding="utf-8"))
    assert (told["best"], told["sure"], told["rivals"]) == (answer.best_name, answer.sure, list(answer.rivals))
    if len(guesses) > 1:
        candidate, rival = map(str, rng.permutation(list(guesses))[:2])
        gate = [f"--candidate={candidate}", f"--assert-better-than={rival}"]
        gate += ["--json", "--force", "-o", str(target)]
        assert main(["bdeltacost", *files, *gate]) == (0 if rival in answer.beats[candidate] else 1)
    assert main(["bcost", *files, "--json", "--force", "-o", str(target)]) == 0
    costed = {one["classifier"]: one for one in json.loads(target.read_text(encoding="utf-8"))["classifiers"]}
    page, today = folder / "report.json", str(rng.choice(list(guesses)))
    options = ["--baseline", today, "--cases-per-year", "250"]
    assert main(["report", *files, *options, "--force", "-o", str(page)]) == 0
    ours = cc.Report.from_class_predictions(truth, guesses, costs, baseline=today, cases_per_year=250).to_dict()
    for document in (json.loads(page.read_text(encoding="utf-8")), ours):
        assert (document["best"], document["sure"]) == (answer.best_name, answer.sure)
        assert document["rivals"] == list(answer.rivals)
        assert document["pairs"]["adjusted"] == answer.adjusted.tolist()
        (card,) = document["page"]["cards"]
        assert card["verdict"] == ("sure" if answer.sure else "not sure")
        assert answer.best_name in Markup(card["use"]).striptags()
        said = Markup(dict(card["lines"])["How sure"]).striptags()
        assert all(name in said for name in answer.rivals)
        for one in document["classifiers"]:
            mine, found = cc.bcost(truth, guesses[one["name"]], costs), costed[one["name"]]
            for name in ("estimate", "lower", "upper"):
                assert one["cost"][name] == found[name] == getattr(mine, name)
        same_first_lines_of_classes(document, answer, today)


def same_first_lines_of_classes(document, answer, today):
    """Check the first lines of a k-class page: the verdict, the action, and the saving against today's classifier."""
    (first,) = document["page"]["headlines"]
    assert first["verdict"] == ("sure" if answer.sure else "not sure")
    assert answer.best_name in Markup(first["action"]).striptags()
    assert all(name in Markup(first["why"]).striptags() for name in answer.rivals)
    words, saving = " ".join(Markup(line).striptags() for line in first["lines"]), document["saving"]
    shown = today in answer.beats.get(answer.best_name, ())
    if answer.best_name != today:
        assert saving["shown"] == shown
        assert ("The data show that it saves" in words) == shown
        assert rounded(250 * saving["estimate"]) in words


@pytest.mark.law
@pytest.mark.filterwarnings("ignore::costcurves.SmallSampleWarning")
def test_every_door_gives_the_same_answer_about_k_classes(tmp_path, capsys):
    for rng in random_worlds(WORLDS, stream=1919):
        check_classes(rng, tmp_path)
    capsys.readouterr()


def try_worlds() -> int:
    """Try fresh worlds; report every disagreement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=100)
    parser.add_argument("--classes", action="store_true", help="worlds of three or four classes instead of two")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    parser.add_argument("--only", type=int, help="the number of one world, to repeat a failure")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    failed, numbers = 0, range(asked.worlds) if asked.only is None else [asked.only]
    check, stream = (check_classes, 1919) if asked.classes else (check_world, 7)
    with tempfile.TemporaryDirectory() as folder:
        for i in numbers:
            try:
                with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                    check(np.random.default_rng([asked.seed, stream, i]), Path(folder))
            except Exception:
                failed += 1
                kind = " --classes" * asked.classes
                print(f"repeat with --seed {asked.seed} --only {i}{kind}\n{traceback.format_exc()}", flush=True)
    print(f"seed {asked.seed}: {failed} of {len(numbers)} worlds disagree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(try_worlds())
