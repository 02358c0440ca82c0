"""Sets of thresholds: by brute force, in random worlds, at the ends, and with the truly best threshold inside."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
from scipy import stats

import costcurves as cc
from costcurves.inference import threshold_sets as core
from laws import FUZZ_SEED, random_worlds
from worlds import ALL_TIED, PERFECT, REVERSED, TWO, curve_of

pytestmark = pytest.mark.filterwarnings("ignore::costcurves.WorseThanChanceWarning")


def small_world(rng, most=60):
    """Return labels of both classes, tied scores and a pc."""
    n = int(rng.integers(2, most))
    y = np.append(rng.random(n) < rng.uniform(0.1, 0.9), [True, False])
    scores = np.round(rng.normal(size=y.size) + rng.uniform(0, 3) * y, int(rng.integers(0, 3))) + 0.0
    return y, scores, float(rng.choice([rng.uniform(0.02, 0.98), 0.5]))


def curve(y, scores, **options):
    return cc.CostCurve(cc.RocCurve.from_predictions(y, scores, **options))


def points_within(found, roc):
    """Return which points of a curve are in a set."""
    return [found.contains(cut) for cut in roc.thresholds.tolist()]


def excluded_by_hand(y, scores, pc, cut, limits):
    """Return whether the cases next below or next above a cut speak against it, counted one by one."""
    share = (1 - pc) / (~y).sum() / (pc / y.sum() + (1 - pc) / (~y).sum())
    levels = [math.inf, *sorted(set(scores.tolist()), reverse=True)]
    below = [[int(s) for s in y[scores == level]] for level in levels if level < cut]
    above = [[int(s) for s in y[scores == level]] for level in reversed(levels) if level >= cut]
    for groups, wanted, expected, limit in ((below, 1, share, limits[0]), (above, 0, 1 - share, limits[1])):
        for number in core.numbers_of_cases(y.size):
            taken = []
            for group in groups:
                if len(taken) >= number:
                    break
                taken += group
            count, n = sum(label == wanted for label in taken) - 0.5, len(taken)
            if n and count > n * expected:
                table, mean = [count, n - count], [n * expected, n - n * expected]
                if stats.power_divergence(table, mean, lambda_="log-likelihood").statistic > limit**2:
                    return True
    return False


@pytest.mark.law
def test_the_set_is_the_one_found_by_counting_neighbours_one_by_one():
    kept = 0
    for rng in random_worlds(15, stream=180):
        y, scores, pc = small_world(rng)
        one = curve(y, scores)
        odds = math.log(share := core.balance(pc, (y.sum(), (~y).sum()))) - math.log1p(-share)
        near = 1 / (1 + math.exp(-round(odds, 1)))
        limits = [core.lowered(core.walk_critical(p, y.size, 0.8), 0.8) for p in (near, 1 - near)]
        expected = [not excluded_by_hand(y, scores, pc, cut, limits) for cut in one.roc.thresholds.tolist()]
        found = points_within(one.threshold_set(pc, level=0.8), one.roc)
        assert all(f for f, e in zip(found, expected, strict=True) if e), (y, scores, pc)
        extra = [f and not e for f, e in zip(found, expected, strict=True)]
        # What is added lies in holes of few cases between kept thresholds.
        total = (one.roc.tp + one.roc.fp).tolist()
        inside = [i for i, e in enumerate(expected) if e]
        for i in np.flatnonzero(extra):
            a, b = max(j for j in inside if j < i), min(j for j in inside if j > i)
            assert total[b] - total[a] <= 0.05 * y.size
        kept += sum(expected) < len(expected)
    assert FUZZ_SEED is not None or kept > 1


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_chance_exceeds_the_critical_value_as_often_as_said_by_enumeration(share):
    n, level = 12, 0.8
    limit = core.walk_critical(share, n, level)
    above = at_least = 0.0
    for labels in itertools.product((0, 1), repeat=n):
        chance = share ** sum(labels) * (1 - share) ** (n - sum(labels))
        counts = np.cumsum(labels).astype(float)
        top = core.excess(counts, np.arange(1.0, n + 1), share).max()
        above += chance * (top > limit + 1e-9)
        at_least += chance * (top > limit - 1e-9)
    assert above <= 1 - math.sqrt(level) + 0.01
    assert at_least >= 1 - math.sqrt(level) - 0.01


def test_the_least_share_is_where_the_excess_reaches_the_limit():
    count, cases = np.array([3.0, 9.0, 40.0, 0.0]), np.array([3.0, 30.0, 50.0, 7.0])
    share = core.least_share(count, cases, 2.5)
    np.testing.assert_allclose(core.excess(count[:3], cases[:3], share[:3]), 2.5, atol=1e-6)
    assert share[3] == 0


@pytest.mark.law
def test_thresholds_within_some_percent_are_those_whose_cost_is():
    for rng in random_worlds(25, stream=181):
        y, scores, pc = small_world(rng, 20)
        tolerance = float(rng.choice([0.0, 0.05, 0.5]))
        found = curve(y, scores).thresholds_within(pc, tolerance=tolerance)
        cuts = np.array([np.inf, *np.unique(scores), -np.inf])
        cost = [pc * np.mean(scores[y] < cut) + (1 - pc) * np.mean(scores[~y] >= cut) for cut in cuts]
        near = cost - (1 + tolerance) * min(cost)
        for cut, over in zip(cuts, near, strict=True):
            if abs(over) > 1e-9 or tolerance == 0:
                assert found.contains(cut) == (over <= 1e-9), (y, scores, pc, cut)


@pytest.mark.law
def test_the_cheapest_threshold_is_always_in_the_set_and_joint_sets_are_wider():
    for rng in random_worlds(10, stream=182):
        y, scores, pc = small_world(rng)
        one = curve(y, scores)
        alone, joint = one.threshold_set(pc), one.threshold_sets().at(pc)
        assert alone.contains(alone.best)
        assert alone.cost.min() == pytest.approx(one.evaluate(pc), abs=1e-12)
        wide = points_within(joint, one.roc)
        assert all(w for w, narrow in zip(wide, points_within(alone, one.roc), strict=True) if narrow)
        assert alone.n_points.sum() <= one.threshold_set(pc, level=0.999).n_points.sum()


@pytest.mark.law
def test_sets_do_not_depend_on_the_scale_of_scores_or_weights_nor_on_which_class_is_called_positive():
    for rng in random_worlds(8, stream=183):
        y, scores, pc = small_world(rng)
        plain = curve(y, scores).threshold_set(pc)
        numbers = plain.n_points.tolist()
        assert curve(y, np.exp(scores) - 7).threshold_set(pc).n_points.tolist() == numbers
        assert curve(y, scores, sample_weight=np.full(y.size, 3.5)).threshold_set(pc).n_points.tolist() == numbers
        assert curve(~y, -scores).threshold_set(1 - pc).n_points.tolist() == numbers[::-1]


@pytest.mark.law
def test_the_truly_best_threshold_is_in_the_set():
    missed = jointly = 0
    for rng in random_worlds(40, stream=184):
        n_pos, n_neg, shift = int(rng.integers(20, 80)), int(rng.integers(20, 200)), rng.uniform(0.5, 3)
        pc = float(rng.uniform(0.15, 0.85))
        scores = np.concatenate([rng.normal(shift, size=n_pos), rng.normal(size=n_neg)])
        one = curve(np.arange(n_pos + n_neg) < n_pos, scores)

        def best(pc, shift=shift):
            return shift / 2 - math.log(pc / (1 - pc)) / shift  # where pc·f⁺ = (1-pc)·f⁻

        missed += not one.threshold_set(pc, level=0.9).contains(best(pc))
        sets = one.threshold_sets(cc.OperatingRange.from_pc(0.1, 0.9), level=0.9)
        jointly += not all(sets.at(at).contains(best(at)) for at in (0.1, 0.3, 0.5, 0.7, 0.9))
    # By chance alone more than this happens in one of 10^6 runs.
    assert max(missed, jointly) <= stats.binom.isf(1e-6, 40, 0.1)


def test_many_points_are_thinned_and_points_of_the_hull_are_refused():
    rng = np.random.default_rng(5)
    y = rng.random(30_000) < 0.3
    scores = y + rng.normal(size=y.size)
    full = cc.RocCurve.from_predictions(y, scores)
    thinned = cc.CostCurve(full).threshold_set(0.5)
    every = core.may_be_best(*(a.astype(float) for a in (full.tp, full.fp)), np.arange(full.tp.size), 0.5, 0.95)
    kept = full.thresholds[every]
    assert full.tp.size > core.TESTED
    low, high = float(thinned.low.min()), float(thinned.high.max())
    # The set differs from the one of all thresholds by at most the points between two that were tested.
    assert np.mean((scores > low) & (scores < kept.min())) < 0.002
    assert np.mean((scores < high) & (scores > kept.max())) < 0.002
    assert low <= 0.5 <= high
    hull = cc.CostCurve(full.on_hull())
    for ask in (hull.threshold_set, hull.threshold_sets, hull.thresholds_within):
        with pytest.raises(cc.UnsupportedError, match="needs every point of the ROC curve, got 'classifier' with only"):
            ask(0.5)


@pytest.mark.parametrize("data", [ALL_TIED, PERFECT, REVERSED, TWO])
def test_few_cases_exclude_nothing(data):
    one = cc.CostCurve(curve_of(data))
    found = one.threshold_set(0.5)
    assert found.low.tolist() == [-math.inf]
    assert found.high.tolist() == [math.inf]
    assert found.contains(math.inf)
    assert found.contains(-math.inf)
    assert found.n_points.sum() == found.n_all
    assert one.threshold_sets().anywhere() == ((-math.inf, math.inf),)


def test_scores_that_separate_the_classes_leave_the_gap_and_little_more():
    one = curve([0] * 100 + [1] * 100, [*range(100), *range(200, 300)])
    found = one.threshold_set(0.5)
    assert found.contains(150)
    assert not found.contains(80)
    assert not found.contains(220)
    assert found.threshold_text == ("score >= 95 .. 205",)
    assert one.threshold_sets(cc.OperatingRange.from_pc(0.4, 0.6)).everywhere() != ()


def test_free_errors_leave_the_thresholds_without_a_costly_one():
    one = curve([0, 0, 1, 1, 0, 1], [1, 2, 3, 4, 5, 6])
    assert one.threshold_set(0).threshold_text == ("score >= 6 or higher, up to no alarm",)
    assert one.threshold_set(1).threshold_text == ("score >= 1 .. 3",)


@pytest.mark.law
def test_the_thresholds_of_the_statement_are_the_ends_of_the_set():
    forms = set()
    for rng in random_worlds(120, stream=1847):
        y, scores, pc = small_world(rng, most=400)
        all_points = curve(y, scores)
        for found in (all_points.threshold_set(pc), all_points.thresholds_within(pc, tolerance=0.02)):
            text = found.statement
            kept = points_within(found, all_points.roc)
            if found.low.size > 3:
                assert f"in {found.low.size - 3} smaller interval" in text
                continue
            if "Thresholds" not in text:
                assert sum(kept) == (len(kept) if text.startswith("No threshold") else 1)
                forms.add(text.split()[0])
                continue
            body = text.removeprefix("Thresholds ").split(" are not" if found.level else " cost at")[0]
            spans = []
            for part in body.replace(" and ", ", ").split(", "):
                forms.add(part.split()[0] + part.split()[-1] * (part.split()[-1] == "up"))
                if part == "above all scores":
                    spans.append((math.inf, math.inf))
                    continue
                values = [float(word) for word in re.findall(r"-?\d[\d.e+-]*", part)]
                low = -math.inf if part.startswith("up to") else values[0]
                high = math.inf if part.endswith(" up") else values[-1]
                spans.append((low, high))
            assert spans == sorted(spans)
            # A quoted number separates the same scores as the threshold that it stands for.
            cuts = all_points.roc.thresholds
            told = np.zeros(cuts.size, dtype=bool)
            for low, high in spans:
                first, last = (
                    int(np.flatnonzero(cuts >= value)[-1]) if value > -math.inf else cuts.size - 1
                    for value in (high, low)
                )
                told[first : last + 1] = True
            assert told.tolist() == kept
    assert FUZZ_SEED is not None or {"from", "up", "at", "No", "Every", "fromup"} <= forms


def test_what_is_said_adds_up():
    rng = np.random.default_rng(3)
    y = rng.random(400) < 0.4
    scores = y + rng.normal(size=400)
    found = cc.Predictions(y, {"a": scores}).threshold_set("a", cc.OperatingCondition(0.4, cost_fp=1, cost_fn=2))
    assert found.name == "a"
    cut = float(found.threshold_text[0].split(" ")[2])
    assert found.contains(cut)
    assert np.mean(scores[~y] >= cut) == pytest.approx(found.fpr[0, 1])
    assert np.mean(scores[y] >= cut) == pytest.approx(found.tpr[0, 1])
    frame = found.to_frame("pandas")
    assert frame["money_low"].min() == pytest.approx(found.to_dict()["intervals"][0]["money_low"])
    assert "per case" in repr(found)
    assert found.to_dict()["level"] == 0.95


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda c: c.threshold_set("often"), "`condition` must be an OperatingCondition"),
        (lambda c: c.thresholds_within(0.5, tolerance=-1), "`tolerance` must be >= 0, got -1"),
        (lambda c: c.threshold_set(0.5).contains("high"), "`threshold` must be a number, got 'high'"),
        (lambda c: c.threshold_sets(0.5), "`over` must be an OperatingRange"),
        (lambda c: c.threshold_sets(cc.OperatingRange.from_pc(0.2, 0.3)).at(0.5), "must lie in the range"),
    ],
)
def test_bad_questions_are_refused(ask, message):
    with pytest.raises(cc.CostCurvesError, match=message):
        ask(cc.CostCurve(curve_of(PERFECT)))


@pytest.mark.parametrize(
    "roc", [cc.RocCurve.from_rates(0.1, 0.6), cc.RocCurve.from_confusion_matrix([[6, 4], [4, 16]])]
)
def test_a_classifier_without_scores_has_no_set(roc):
    for ask in ("threshold_set", "thresholds_within", "threshold_sets"):
        with pytest.raises(cc.UnsupportedError, match=f"`{ask}` needs a curve made from scores"):
            getattr(cc.CostCurve(roc), ask)(cc.OperatingCondition.from_pc(0.5))


def test_a_curve_of_predictions_has_all_its_thresholds():
    rng = np.random.default_rng(4)
    y = rng.random(200) < 0.4
    scores = y + rng.normal(0, 1, 200)
    direct = cc.CostCurve.from_predictions(y, scores)
    by_points = cc.CostCurve(cc.RocCurve.from_predictions(y, scores))
    assert repr(direct.threshold_set(0.5)) == repr(by_points.threshold_set(0.5))
    assert repr(direct.operating_range_limits()) == repr(by_points.operating_range_limits())
