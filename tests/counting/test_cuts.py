"""Every threshold that is shown separates the cases that it is said to separate."""

from __future__ import annotations

import html
import json
import math
import re
from fractions import Fraction

import numpy as np
import pytest

import costcurves as cc
from costcurves._base.text import cut_text, middle_cut, short_cut
from costcurves.cli import main
from costcurves.counting import hull_vertices
from costcurves.report.datasets import two_class_data
from costcurves.report.tables import hull_table, ranges_table
from costcurves.report.words import Speaker
from laws import random_worlds, scored_world

CONDITIONS = (0.02, 0.2, 0.5, 0.8, 0.98)
SHOWN = re.compile(r"score (?:>=|≥) (\S+?)(?: \.\. (\S+?))?(?=[:,;)\s]|\.(?:\s|$)|$)")


def rates(labels, scores, text):
    """Return fpr and tpr of a threshold that was read, as anybody would find them who knows nothing else."""
    called = scores >= float(text)
    return float(called[~labels].sum() / (~labels).sum()), float(called[labels].sum() / labels.sum())


def check_rule(labels, scores, one):
    """Check what a result says about one classifier; return what it says."""
    if one.classifier in scores:
        assert rates(labels, scores[one.classifier], one.threshold_text) == pytest.approx((one.fpr, one.tpr), abs=1e-12)
        assert f"{one.classifier} at score >= {one.threshold_text}" == one.rule
    else:
        assert one.threshold_text == ""
    return one.threshold_text


def gap(rng):
    """Return a score and a threshold above it, often very near to each other."""
    kind = [np.float64, np.float32][int(rng.integers(0, 2))]
    far = [
        rng.random(),
        1.0 - 10.0 ** -rng.uniform(1, 17),
        float(rng.integers(-1000, 1000)),
        rng.normal() * 10.0 ** rng.uniform(-323, 307),
        round(rng.normal(), int(rng.integers(0, 6))),
    ]
    with np.errstate(all="ignore"):
        high = kind(far[int(rng.integers(0, len(far)))])
        low = [kind(far[int(rng.integers(0, len(far)))]), high - kind(10.0 ** rng.uniform(-17, 1)) * abs(high), high][
            int(rng.integers(0, 3))
        ]
        if low == high:
            for _ in range(int(rng.integers(1, 4))):
                low = np.nextafter(low, kind(-np.inf))
    low, high = float(low), float(high)
    if not math.isfinite(high):
        return gap(rng)
    return (low, high) if low < high else (-math.inf, high)


def nearest(value):
    """Return the nearest float."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


@pytest.mark.law
def test_the_text_of_a_threshold_lies_in_the_gap_and_no_number_there_has_fewer_decimals():
    for rng in random_worlds(2000, stream=300):
        check_text(*gap(rng))


def check_text(below, threshold):
    text = cut_text(threshold, below)
    value = float(text)
    assert below < value <= threshold
    assert value == short_cut(threshold, below)
    # The same for scores that are compared as float32.
    narrow = float(np.float32(min(max(threshold, -3e38), 3e38))) == threshold and (
        below == -math.inf or float(np.float32(min(max(below, -3e38), 3e38))) == below
    )
    if narrow:
        assert np.float32(below) < np.float32(value) <= np.float32(threshold)
    mantissa, _, exponent = text.partition("e")
    if not narrow and "." in mantissa:
        shorter = Fraction(10) ** (len(mantissa.partition(".")[2]) - int(exponent or 0) - 1)
        # Any other number of one decimal less is lower than the first of these, or higher than the second.
        lower = Fraction(math.floor(Fraction(threshold) * shorter)) / shorter
        assert [below < nearest(end) <= threshold for end in (lower, lower + 1 / shorter)] == [False, False]


@pytest.mark.law
def test_a_threshold_whose_next_lower_score_is_not_known_is_shown_in_full():
    for rng in random_worlds(800, stream=308):
        for value in gap(rng):
            text = cut_text(value)
            assert float(text) == value
            assert len(text.partition("e")[0].lstrip("-0.").replace(".", "").strip("0")) <= 17


@pytest.mark.law
def test_a_threshold_in_the_middle_of_a_gap_leaves_room_on_both_sides():
    for rng in random_worlds(800, stream=309):
        below, threshold = gap(rng)
        value = middle_cut(threshold, below)
        assert below < value <= threshold
        if value != threshold:
            quarter = (Fraction(threshold) - Fraction(below)) / 4
            slack = Fraction(math.ulp(max(abs(threshold), abs(below))))
            assert Fraction(below) + quarter - slack <= Fraction(value) <= Fraction(threshold) - quarter + slack


@pytest.mark.parametrize("steps", [1, 2, 3, 5])
def test_a_threshold_in_a_gap_of_the_smallest_floats_lies_above_its_lower_end(steps):
    for first in range(-600, 600):
        below, threshold = 5e-324 * first, 5e-324 * (first + steps)
        assert below < middle_cut(threshold, below) <= threshold


def test_texts_are_those_of_javascript():
    shown = {0.1: "0.1", 5.0: "5", 1e20: "100000000000000000000", 1e21: "1e+21", 1e-6: "0.000001", -1.5e-7: "-1.5e-7"}
    shown |= {math.inf: "inf", -math.inf: "-inf", -0.0: "0", 0.9999999999999432: "0.9999999999999432"}
    assert {value: cut_text(value) for value in shown} == shown


@pytest.mark.law
def test_every_threshold_of_a_curve_has_a_text_that_separates_the_same_cases():
    for rng in random_worlds(400, stream=301):
        labels, scores = scored_world(rng)
        for values in scores.values():
            curve = cc.RocCurve.from_predictions(labels, values)
            for part in (curve, curve.on_hull(), curve.at([0, -1])):
                texts = [cut_text(*pair) for pair in zip(part.thresholds.tolist(), part.below.tolist(), strict=True)]
                found = [rates(labels, values, text) for text in texts]
                assert found == list(zip(part.fpr.tolist(), part.tpr.tolist(), strict=True))
                assert part.below.tolist() == [part.score_below(cut) for cut in part.thresholds.tolist()]


@pytest.mark.law
def test_every_threshold_that_a_hull_shows_separates_the_cases_it_is_said_to():
    for rng in random_worlds(150, stream=302):
        labels, scores = scored_world(rng)
        hull = cc.RocHull.from_predictions(labels, scores)
        few = cc.RocHull.from_predictions(labels, scores, points="hull")
        read = cc.RocHull.from_json_text(few.to_json())
        assert hull.threshold_text == few.threshold_text == read.threshold_text
        for pc in CONDITIONS:
            best = hull.best(pc)
            for one in (best, best.runner_up, *best.ties):
                check_rule(labels, scores, one)
            assert (best.classifier, best.threshold_text) in zip(hull.owner, hull.threshold_text, strict=True)
            # What is not on its own classifier's hull may still be the runner-up, and `few` does not know it.
            others = [door.best(pc) for door in (few, read)]
            assert {(one.classifier, one.rule) for one in others} == {(best.classifier, best.rule)}
            assert repr(others[0]) == repr(others[1])
            assert best.rule in repr(best)
            for limited in (hull.best_at_fpr(pc), hull.best_at_tpr(pc)):
                check_rule(labels, scores, limited)
                assert limited.rule in repr(limited)
                mixture = limited.mixture
                ends = [
                    rates(labels, scores[name], text) if text else (float(name == "always positive"),) * 2
                    for name, text in zip((mixture.first, mixture.second), mixture.threshold_text, strict=True)
                ]
                share = mixture.probability
                for k, rate in enumerate((mixture.fpr, mixture.tpr)):
                    assert (1 - share) * ends[0][k] + share * ends[1][k] == pytest.approx(rate, abs=1e-12)
        ranges = hull.ranges()
        assert repr(ranges) == repr(few.ranges()) == repr(read.ranges())
        for name, low, high, texts in zip(
            ranges.classifier, ranges.threshold_low, ranges.threshold_high, ranges.threshold_text, strict=True
        ):
            if name in scores:
                for cut, text in zip((low, high), texts, strict=True):
                    assert rates(labels, scores[name], text) == rates(labels, scores[name], str(float(cut)))
        shown = [text for found in SHOWN.findall(repr(ranges)) for text in found if text]
        assert shown == [text for texts in ranges.threshold_text for text in dict.fromkeys(texts) if text]


@pytest.mark.law
@pytest.mark.usefixtures("way")
def test_buckets_know_the_next_lower_scores(monkeypatch):
    monkeypatch.setattr(hull_vertices, "SMALLEST", 2)
    monkeypatch.setattr(hull_vertices, "MOST_SHARED", 1.0)
    for rng in random_worlds(120, stream=303):
        labels, scores = scored_world(rng, most=400)
        plain = cc.RocHull.from_predictions(labels, scores)
        assert cc.RocHull.from_predictions(labels, scores, points="hull").threshold_text == plain.threshold_text


@pytest.mark.law
def test_thresholds_of_weighted_data_separate_the_same_weights():
    for rng in random_worlds(150, stream=304):
        labels, scores = scored_world(rng)
        weights = rng.integers(0, 3, labels.size).astype(float)
        weights[:2] = 1.0
        hull = cc.RocHull.from_predictions(labels, scores, sample_weight=weights)
        for pc in CONDITIONS:
            best = hull.best(pc)
            if best.classifier in scores:
                called = scores[best.classifier] >= float(best.threshold_text)
                for mine, rate in ((labels, best.tpr), (~labels, best.fpr)):
                    assert weights[mine & called].sum() / weights[mine].sum() == pytest.approx(rate, abs=1e-12)


@pytest.mark.law
def test_every_threshold_of_a_recommendation_separates_the_cases_it_is_said_to():
    for rng in random_worlds(20, stream=305):
        labels, scores = scored_world(rng)
        found_on, found_scores = scored_world(rng)
        policy = {
            name: cc.thresholds.validation(cc.RocCurve.from_predictions(found_on, found_scores[name]))
            for name in scores
        }
        hull = cc.RocHull.from_predictions(labels, scores)
        for pc in (0.2, 0.6):
            answer = cc.recommend(labels, scores, pc)
            named = {one.classifier: one for one in (hull.best(pc), hull.best(pc).runner_up)}
            for i, name in enumerate(answer.classifier):
                one = answer._choice(i)
                assert check_rule(labels, scores, one) == answer.threshold_text[i]
                if name in named and named[name].threshold == one.threshold:
                    assert named[name].threshold_text == one.threshold_text
            assert answer.best.rule in repr(answer)
            assert answer.runner_up.rule in repr(answer)
            wide = {name: np.asarray(values, np.float64) for name, values in scores.items()}
            elsewhere = cc.recommend(labels, wide, pc, policy=policy)
            for i, name in enumerate(elsewhere.classifier):
                check_rule(labels, wide, elsewhere._choice(i))
                if name in scores:
                    text, cut = elsewhere.threshold_text[i], str(float(elsewhere.threshold[i]))
                    other = np.asarray(found_scores[name], np.float64)
                    assert rates(found_on, other, text) == rates(found_on, other, cut)


@pytest.mark.law
def test_thresholds_that_follow_from_costs_are_rounded_a_little_and_separate_the_same_cases():
    for rng in random_worlds(60, stream=306):
        size = int(rng.integers(3, 60))
        labels = rng.random(size) < 0.5
        labels[:2] = False, True
        scores = {"a": np.round(rng.random(size), int(rng.integers(1, 17)))}
        answer = cc.recommend(labels, scores, float(rng.uniform(0.01, 0.99)), policy="bayes")
        row = answer.index("a")
        check_rule(labels, scores, answer._choice(row))
        assert float(answer.threshold_text[row]) == pytest.approx(answer.threshold[row], rel=1e-3)


def test_a_fixed_threshold_is_shown_as_it_was_given():
    answer = cc.recommend([0, 0, 1, 1], {"a": [0.1, 0.4, 0.35, 0.8]}, 0.5, policy=0.123456789)
    assert "a at score >= 0.123456789\n" in repr(answer)
    assert repr(cc.thresholds.fixed(0.123456789)) == "fixed(0.123456789)"


def test_rates_have_no_scores_so_their_thresholds_are_shown_in_full():
    curve = cc.RocCurve.from_rates([0.1, 0.3], [0.5, 0.9], thresholds=[0.7654321, 0.3], name="published")
    assert np.isnan(curve.below).all()
    assert "published at score >= 0.7654321:" in repr(cc.RocHull([curve]).best(0.3))


@pytest.mark.law
@pytest.mark.usefixtures("way")
def test_thresholds_of_tallies_separate_the_same_cases():
    for rng in random_worlds(50, stream=307):
        labels, scores = scored_world(rng, most=300)
        values = np.asarray(scores["a"], np.float64)
        parts = [slice(None, values.size // 2), slice(values.size // 2, None)]
        hull_tally = cc.HullTally(hold=int(rng.integers(0, 400)), members=int(rng.integers(1, 400)))
        while True:
            for part in parts:
                hull_tally = hull_tally.update(labels[part], values[part])
            if hull_tally.finished:
                break
            hull_tally = hull_tally.next_pass()
        exact, binned = cc.ScoreTally(), cc.ScoreTally(resolution=1 << 14)
        for part in parts:
            exact.update(labels[part], values[part])
            binned.update(labels[part], values[part])
        plain = cc.RocCurve.from_predictions(labels, values)
        assert exact.to_roc_curve().below.tolist() == plain.below.tolist()
        assert hull_tally.to_roc_curve().below.tolist() == plain.on_hull().below.tolist()
        for curve in (hull_tally.to_roc_curve(), exact.to_roc_curve(points="hull"), binned.to_roc_curve()):
            texts = [cut_text(*pair) for pair in zip(curve.thresholds.tolist(), curve.below.tolist(), strict=True)]
            found = [rates(labels, values, text) for text in texts]
            assert found == list(zip(curve.fpr.tolist(), curve.tpr.tolist(), strict=True))


def plain(markup):
    """Return the words of a page without its elements."""
    return html.unescape(re.sub(r"<[^>]*>", "", str(markup))).replace("\N{NO-BREAK SPACE}", " ")


def on_the_page(text):
    """Return a threshold with the minus sign of the page."""
    return re.sub("^-", "\N{MINUS SIGN}", text)


@pytest.mark.law
def test_the_command_line_and_the_report_show_the_thresholds_of_the_hull(tmp_path, capsys):
    here = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)
    asked = ("--prevalence", "0.3", "--cost-fp", "1", "--cost-fn", "5")
    for i, rng in enumerate(random_worlds(3, stream=310)):
        labels, scores = scored_world(rng, most=80)
        scores = {name: np.asarray(values, np.float64) for name, values in scores.items()}
        hull = cc.RocHull.from_predictions(labels, scores)
        best, ranges = hull.best(here), hull.ranges()
        answer = cc.recommend(labels, scores, here)
        texts = dict(zip(answer.classifier, answer.threshold_text, strict=True))
        if best.classifier in texts and answer.threshold[answer.index(best.classifier)] == best.threshold:
            assert texts[best.classifier] == best.threshold_text

        table = tmp_path / f"{i}.csv"
        rows = zip(labels.astype(int).tolist(), scores["a"].tolist(), scores["b"].tolist(), strict=True)
        table.write_text("label,a,b\n" + "".join(f"{y},{a!r},{b!r}\n" for y, a, b in rows), encoding="utf-8")
        columns = (str(table), "--label", "label", "--positive", "1", "--score", "a", "--score", "b")

        def said(*arguments):
            assert main([str(argument) for argument in arguments]) == 0
            return capsys.readouterr().out

        words = {"inf": "never", "-inf": "always"}
        decided = said("decide", *columns, *asked)
        for name in ("a", "b"):
            row = next(line.split() for line in decided.splitlines() if line.startswith(f"{name} "))
            assert row[1] == words.get(texts[name], texts[name])
        for row in json.loads(said("decide", *columns, *asked, "--json"))["decisions"][0]["classifiers"]:
            if row["classifier"] in scores:
                assert float(row["threshold"]) == answer.threshold[answer.index(row["classifier"])]
        cells = [line.split(",") for line in said("decide", *columns, *asked, "--csv").splitlines()]
        for row in cells[1:]:
            assert float(row[cells[0].index("threshold")]) == answer.threshold[answer.index(row[1])]
        listed = said("ranges", *columns)
        assert [" to ".join(dict.fromkeys(pair)) for pair in ranges.threshold_text if pair[0]] == [
            line.split("  ")[-1].strip() for line in listed.splitlines() if re.search(r"  [ab]  +\S", line)
        ]
        gathered = tmp_path / f"{i}.json"
        said("hull", "add", gathered, *columns)
        assert f"Use {best.rule}:" in " ".join(said("hull", "show", gathered, *asked).split())

        report = cc.Report.from_predictions(labels, scores, scenarios={"here": here})
        say = Speaker("positive", "", 0.95)
        card = say.cards(report.summary)[0]
        if best.threshold_text:
            assert plain(card.use) == f"Use {best.classifier} at score ≥ {on_the_page(best.threshold_text)}"
        cuts = [on_the_page(text) or "–" for text in hull.threshold_text]
        assert [row[1] for row in hull_table(report.summary, say).rows] == cuts
        cuts = [" to ".join(dict.fromkeys(map(on_the_page, pair))) or "–" for pair in ranges.threshold_text]
        assert [row[2] for row in ranges_table(report.summary, say).rows] == cuts
        drawn = two_class_data(report.summary)
        owned = {(name, text) for name, text in zip(hull.owner, hull.threshold_text, strict=True) if text}
        for part in ("points", "vertices"):
            found = set()
            for k, t, fp, tp in zip(*(drawn[part][key] for key in ("k", "t", "fp", "tp")), strict=True):
                if t is not None:
                    found.add(("ab"[k], cut_text(t)))
                    assert rates(labels, scores["ab"[k]], cut_text(t)) == (fp / (~labels).sum(), tp / labels.sum())
            assert owned <= found
        for k, name in enumerate("ab"):  # the lowest is drawn about as near to the next one as they are
            drawn_at = [t for t, of in zip(drawn["points"]["t"], drawn["points"]["k"], strict=True) if of == k]
            lowest = np.unique(scores[name])[:2]
            if lowest.size == 2:
                assert lowest[0] - drawn_at[-1] <= lowest[1] - lowest[0]


def test_the_examples_that_cost_more_as_they_were_printed():
    """Thresholds just below 1 used to be printed as 1, which leaves out the case that decides."""
    below = 1.0 - 2.0**-44
    hull = cc.RocHull.from_predictions([1, 0, 1, 0, 0], {"bayes": [1.0, 0.9, below, 0.2, 0.1]})
    best = hull.best(0.5)
    assert best.threshold == below
    assert float(best.threshold_text) < 1
    assert float(best.threshold_text) > 0.9


def test_json_has_the_thresholds_themselves():
    rng = np.random.default_rng(5)
    labels, scores = scored_world(rng)
    hull = cc.RocHull.from_predictions(labels, scores)
    stored = json.loads(hull.to_json())["classifiers"]
    for entry in stored:
        assert set(map(float, entry["thresholds"])) <= {*scores[entry["name"]].tolist(), np.inf, -np.inf}
    assert hull.best(0.5).to_dict()["threshold"] in [hull.best(0.5).threshold, "inf", "-inf"]
