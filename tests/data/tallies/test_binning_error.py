"""Every result of binned scores says what they leave open: limits hold the exact answer, no verdict is overturned."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import ndtri

import costcurves as cc
from costcurves.data import passes
from costcurves.data.passes import InPasses
from costcurves.data.tallies import adaptive_bins as adaptive
from costcurves.data.tallies import bins as binning
from costcurves.decisions.compare_many import compare_many_in
from costcurves.decisions.curve_difference import NO_VERDICT, UNSETTLED
from costcurves.inference.bands.one_curve import between_folds_band
from costcurves.inference.paired.bands import difference_band
from laws import FUZZ_SEED, random_worlds

KINDS = ("normal", "tied", "near 1e9", "one octave", "skewed", "float32", "same for both")
PC = np.linspace(0, 1, 21)


@pytest.fixture
def small(monkeypatch):
    """Let few bins be enough, and few rows be many."""
    monkeypatch.setattr(binning, "FEWEST", 4)
    monkeypatch.setattr(adaptive, "FEWEST_WAITING", 40)


def draw(rng, largest=300):
    """Return labels, and scores of two or three classifiers of the same examples."""
    size = int(rng.integers(4, largest))
    y = rng.random(size) < rng.choice([0.5, 0.2, 0.05])
    y[rng.permutation(size)[:2]] = False, True
    scores = {}
    for name in ("a", "b", "c")[: rng.integers(2, 4)]:
        z = rng.normal(rng.choice([0.0, 0.5, 2.0]) * y, 1.0)
        kind = rng.choice(KINDS)
        scores[name] = {
            "normal": z,
            "tied": np.round(z, 1),
            "near 1e9": 1e9 + z,
            "one octave": 0.5 + np.minimum(np.abs(z) / 1e5, 0.4),
            "skewed": np.exp(5 * z),
            "float32": z.astype(np.float32),
            "same for both": scores.get("a", z),
        }[kind]
    if rng.random() < 0.3:
        rows = np.argsort(scores["a"], kind="stable")
        y, scores = y[rows], {name: values[rows] for name, values in scores.items()}
    return y, scores


def binned_curves(y, scores, resolution):
    """Return the ROC curve of every classifier in so many bins."""
    made = {}
    for name, values in scores.items():
        tally = cc.ScoreTally(resolution=resolution)
        for rows in np.array_split(np.arange(y.size), 3):
            tally.update(y[rows], values[rows])
        made[name] = tally.to_roc_curve(name=name)
    return made


class InBins(InPasses):
    """Rows whose curves were found in bins, and whose pairs are counted as they are."""

    def __init__(self, y, scores, resolution):
        super().__init__(tuple(scores), None)
        self.y, self.scores, self.resolution = y, scores, resolution

    @property
    def reader(self):
        return self

    def run(self, counts):
        counts.update(passes.Batch(self.y, self.scores))
        return counts

    def find(self, points):
        return binned_curves(self.y, self.scores, self.resolution)

    def rows(self):
        raise AssertionError("the rows are never held in memory")


def cheapest(y, scores, pc):
    """Return the least cost of any threshold at each pc, by trying all of them."""
    values = scores.astype(np.float64)
    predicted = values[None, :] >= np.append(np.unique(values), np.inf)[:, None]
    fnr, fpr = (~predicted[:, y]).mean(axis=1), predicted[:, ~y].mean(axis=1)
    return (np.outer(pc, fnr) + np.outer(1 - pc, fpr)).min(axis=1)


def resolution_of(rng):
    """Return how many bins to use."""
    return int(rng.choice([4, 12, 60]))


@pytest.mark.law
def test_bands_of_binned_curves_contain_the_exact_cost(small):
    moved = 0
    for rng in random_worlds(60, stream=2811):
        y, scores = draw(rng)
        name = rng.choice(list(scores))
        curve = cc.CostCurve(binned_curves(y, {name: scores[name]}, resolution_of(rng))[name])
        exact = cheapest(y, scores[name], PC)
        method = rng.choice(["wilson", "gaussian"])
        band = curve.band(pc=PC, method=method, simultaneous=bool(rng.random() < 0.05))
        assert band.max_error == curve.max_error == curve.roc.max_error
        assert (band.estimate - band.max_error - 1e-12 <= exact).all()
        assert (exact <= band.estimate + 1e-12).all()
        assert (band.lower - 1e-12 <= exact).all()
        assert (exact <= band.upper + 1e-12).all()
        between = float(rng.random())
        here = band.at(between)
        assert here.max_error == curve.max_error
        assert here.lower - 1e-12 <= cheapest(y, scores[name], np.array([between]))[0] <= here.upper + 1e-12
        moved += bool((exact < curve.band(pc=PC, method=method).with_error(0.0).estimate - 1e-9).any())
    assert FUZZ_SEED is not None or moved > 6


@pytest.mark.law
def test_differences_of_binned_curves_contain_the_exact_one_and_contradict_no_verdict(small):
    said = {"settled": 0, "unsettled": 0}
    pc = np.linspace(0, 1, 9)
    for rng in random_worlds(40, stream=2812):
        y, scores = draw(rng, 150)
        made = binned_curves(y, scores, resolution_of(rng))
        a, b = (cc.CostCurve(made[name]) for name in "ab")
        tally = cc.PairedTally(a, b, pc=pc)
        for rows in np.array_split(np.arange(y.size), 3):
            tally.merge(tally.empty().update(y[rows], scores["a"][rows], scores["b"][rows]))
        if rng.random() < 0.3:
            tally = cc.PairedTally.from_bytes(tally.to_bytes())
        found = tally.to_difference(level=0.9)
        exact = cheapest(y, scores["a"], pc) - cheapest(y, scores["b"], pc)
        assert found.max_error == max(a.max_error, b.max_error)
        assert (found.estimate - a.max_error - 1e-12 <= exact).all()
        assert (exact <= found.estimate + b.max_error + 1e-12).all()
        assert (found.lower - 1e-12 <= exact).all()
        assert (exact <= found.upper + 1e-12).all()
        verdicts = found.significant()
        for name, sign in (("a", -1), ("b", 1)):
            inside = verdicts.where(name).contains(pc) & (found.lower * found.upper > 0)
            assert (np.sign(exact[inside]) == sign).all()
        unsettled = verdicts.where(UNSETTLED)
        plain = found.without_error()
        assert plain.max_error == 0
        if len(unsettled):
            said["unsettled"] += 1
            assert plain.significant().decided
            assert "binning error" in repr(found)
        said["settled"] += verdicts.decided
        np.testing.assert_array_equal(found.reversed().lower, -found.upper)
        assert found.reversed().at(0.5).lower == pytest.approx(-found.at(0.5).upper, abs=1e-12)
        assert found.reversed().significant().where(UNSETTLED).width == unsettled.width
    assert FUZZ_SEED is not None or min(said.values()) > 1


@pytest.mark.law
def test_counts_of_pairs_at_thresholds_of_bins_are_exact(small):
    """What is not known is only whether these thresholds are the best ones."""
    for rng in random_worlds(40, stream=2813):
        y, scores = draw(rng)
        made = binned_curves(y, scores, resolution_of(rng))
        a, b = (cc.CostCurve(made[name]) for name in "ab")
        tally = cc.PairedTally(a, b, pc=PC).update(y, scores["a"], scores["b"])
        found = tally.to_difference(simultaneous=False, method="gaussian").without_error()
        for i, pc in enumerate(PC):
            wrong = {}
            for curve in (a, b):
                predicted = scores[curve.name].astype(np.float64) >= curve.cuts_at(pc)
                wrong[curve.name] = predicted != y
            cost = {name: pc * errors[y].mean() + (1 - pc) * errors[~y].mean() for name, errors in wrong.items()}
            assert found.estimate[i] == pytest.approx(cost["a"] - cost["b"], abs=1e-12)


@pytest.mark.law
@pytest.mark.parametrize(("method", "worlds"), [("mid-p", 6), ("score", 2), ("gaussian", 50)])
def test_p_values_are_the_largest_that_the_errors_allow(method, worlds):
    """The p-value is above a level exactly where the wider limits of that level contain zero."""
    for rng in random_worlds(worlds, stream=2814):
        n_pos, n_neg = (int(n) for n in rng.integers(20, 300, 2))
        counts = [rng.integers(0, n // 3) for n in (n_pos, n_pos, n_neg, n_neg)]
        errors = tuple((rng.random(2) * rng.choice([0.0, 0.01, 0.2], 2)).tolist())
        options = {"method": method, "sampling": str(rng.choice(["stratified", "full"]))}
        pc = [float(rng.random())]
        arguments = (counts[0], counts[1], n_pos, counts[2], counts[3], n_neg, pc)
        band = difference_band(*arguments, **options).with_errors(errors)
        p = float(band.p_values_at(pc)[0])
        assert p >= float(difference_band(*arguments, **options).p_values_at(pc)[0]) - 1e-12
        if p > 1e-6 and any(errors):
            for factor, inside in ((1.02, False), (0.98, True)):
                level = 1 - min(p * factor, 0.999999)
                wide = difference_band(*arguments, critical_value=float(-ndtri((1 - level) / 2)), **options)
                wide = wide.with_errors(errors)
                if p < 0.97:
                    assert (wide.lower[0] <= 0 <= wide.upper[0]) == inside, (p, errors)
        if -errors[1] <= float(band.estimate[0]) <= errors[0]:
            assert p == 1 or not any(errors)


@pytest.mark.law
def test_decisions_name_whoever_could_be_best(small):
    settled = 0
    for rng in random_worlds(120, stream=2815):
        y, scores = draw(rng)
        hull = cc.RocHull(binned_curves(y, scores, resolution_of(rng)))
        pc = float(rng.random())
        exact = {name: cheapest(y, values, np.array([pc]))[0] for name, values in scores.items()}
        exact |= {"always negative": pc, "always positive": 1 - pc}
        where = cc.OperatingCondition(prevalence=0.5, cost_fp=1 - pc, cost_fn=pc)
        decision = hull.best(where)
        best = min(exact.values())
        assert decision.normalized_cost - decision.max_error - 1e-12 <= best <= decision.normalized_cost + 1e-12
        assert decision.max_error <= hull.max_error + 1e-15
        winners = {name for name, cost in exact.items() if cost < best + 1e-12}
        possible = {decision.classifier, *decision.unsettled, *(tie.classifier for tie in decision.ties)}
        assert winners & possible, (winners, decision)
        if not decision.unsettled:
            settled += 1
            assert exact[decision.classifier] < best + 1e-12
        assert ("binning error" in repr(decision)) == bool(decision.unsettled)
        read = cc.RocHull.from_json_text(hull.to_json()).best(where)
        assert (read.max_error, read.unsettled) == (decision.max_error, decision.unsettled)
    assert FUZZ_SEED is not None or settled > 12


@pytest.mark.law
def test_ranges_name_whoever_could_be_best_somewhere(small):
    for rng in random_worlds(40, stream=2816):
        y, scores = draw(rng)
        hull = cc.RocHull(binned_curves(y, scores, resolution_of(rng)))
        low, high = sorted(rng.random(2).tolist())
        found = hull.within(cc.OperatingRange.from_pc(low, high))
        grid = np.linspace(low, high, 41)
        exact = {name: cheapest(y, values, grid) for name, values in scores.items()}
        exact |= {"always negative": grid, "always positive": 1 - grid}
        least = np.min(list(exact.values()), axis=0)
        for name, cost in exact.items():
            others = np.min([c for other, c in exact.items() if other != name], axis=0)
            if (cost < others - 1e-9).any():
                assert name in (*found.candidates, *found.unsettled), (name, found)
        assert (hull.evaluate(grid) - found.max_error - 1e-12 <= least).all()


@pytest.mark.law
@pytest.mark.filterwarnings("ignore::costcurves.SmallSampleWarning")
def test_averages_of_binned_folds_contain_the_exact_band(small):
    for rng in random_worlds(40, stream=2817):
        folds = [draw(rng, 120) for _ in range(rng.integers(2, 6))]
        curves = [binned_curves(y, {"a": s["a"]}, resolution_of(rng))["a"] for y, s in folds]
        costs = np.array([cheapest(y, s["a"], PC) for y, s in folds])
        mean = cc.average_cost_curves(curves)
        assert (mean.evaluate(PC) - mean.max_error - 1e-12 <= costs.mean(axis=0)).all()
        assert (costs.mean(axis=0) <= mean.evaluate(PC) + 1e-12).all()
        exact, wide = between_folds_band(costs, PC), cc.average_band(curves, kind="between", given_choice=True, pc=PC)
        assert wide.max_error == pytest.approx(mean.max_error)
        assert (wide.lower <= exact.lower + 1e-12).all()
        assert (exact.upper <= wide.upper + 1e-12).all()
        within = cc.average_band(curves, kind="within", given_choice=True, pc=PC)
        assert (within.lower - 1e-12 <= costs.mean(axis=0)).all()


@pytest.mark.law
def test_losses_and_advantages_are_wrong_by_no_more_than_they_say(small):
    for rng in random_worlds(40, stream=2818):
        y, scores = draw(rng)
        made = binned_curves(y, scores, resolution_of(rng))
        hull = cc.RocHull(made)
        exact = {name: cheapest(y, values, PC) for name, values in scores.items()}
        least = np.min([*exact.values(), PC, 1 - PC], axis=0)
        lost = cc.regret("a", hull)
        found = np.interp(PC, lost.pc, lost.loss)
        assert (np.abs(found - (exact["a"] - least)) <= lost.max_error + 1e-9).all()
        a, b = (cc.CostCurve(made[name]) for name in "ab")
        assert a.better_than(b).max_error == a.crossings(b).max_error == max(a.max_error, b.max_error)
        assert cc.dominance(made).max_error == hull.max_error
        fine = np.unique(np.concatenate((np.linspace(0, 1, 101), a.breaks, b.breaks)))
        worse = (cheapest(y, scores["a"], fine) > cheapest(y, scores["b"], fine) + 1e-12).any()
        if (a.evaluate(fine) - a.max_error > b.evaluate(fine)).any():
            assert worse
            assert not cc.dominates(made["a"], made["b"])
        elif max(a.max_error, b.max_error) > 0:
            with pytest.raises(cc.UnsupportedError, match="not settled: binning error"):
                cc.dominates(made["a"], made["b"])


def test_a_scan_in_bins_tells_its_error_in_every_result(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(5)
    y = rng.random(60_000) < 0.3
    scores = {name: rng.normal(1.2 * y, sd) for name, sd in {"a": 1.0, "b": 1.05, "c": 1.5}.items()}
    pq.write_table(pa.table({"y": y, **scores}), tmp_path / "x.parquet", row_group_size=9_000)
    src = cc.scan(tmp_path / "x.parquet", label="y", scores=list(scores), resolution=2**14)
    error = src.max_error
    assert 0 < error < 1e-3
    assert src.hull().max_error == error
    assert cc.CostCurve(src.hull()).max_error == error
    assert src.compare("a", "b", pc=PC).max_error <= error
    many = src.compare_many(pc=PC)
    assert many.max_error == error
    tests = many.at(0.4)
    assert tests.max_error == error
    exact = cc.compare_many(y, scores, pc=PC).at(0.4)
    assert (np.abs(tests.estimate - exact.estimate) <= error).all()
    settled = [better for one in many.pairs for better in one.significant().better if better not in NO_VERDICT]
    assert settled
    curve = src.curves()["a"]
    assert json.loads(json.dumps(curve.to_dict()))["max_error"] == curve.max_error
    assert json.loads(json.dumps(curve.band(pc=PC).to_dict()))["max_error"] == curve.max_error
    assert f"max_error={curve.max_error:.2g}" in repr(curve)
    with pytest.raises(cc.UnsupportedError, match="`reoptimise` needs scores that were not binned"):
        curve.band(reoptimise=True)


def test_other_policies_on_a_binned_curve_have_no_error(small):
    rng = np.random.default_rng(3)
    y, scores = draw(rng)
    roc = binned_curves(y, {"a": scores["a"]}, 4)["a"]
    assert roc.max_error > 0
    line = cc.CostCurve(roc, policy=cc.thresholds.point(1))
    predicted = scores["a"].astype(np.float64) >= roc.thresholds[1]
    assert line.max_error == 0
    assert line.evaluate(1.0) == pytest.approx((~predicted[y]).mean())


def test_a_pair_that_bins_leave_open_says_so():
    band = difference_band(2, 30, 100, 6, 4, 100, PC, simultaneous=True)
    wide = band.with_errors((0.0, 0.9))
    assert [part.better for part in band.significant()] == ["undecided", "a"]
    assert [part.better for part in wide.significant()] == ["undecided", "unsettled"]
    assert wide.p_values_at([1.0]).tolist() == [1.0]
    assert wide.reversed().errors == (0.9, 0.0)
    assert wide.with_errors((0.0, 0.0)) is wide


@pytest.mark.law
def test_pairs_are_not_settled_only_where_bins_leave_them_open(small):
    found = []
    for rng in random_worlds(10, stream=2819):
        y, scores = draw(rng, 120)
        while len(scores) < 3:
            y, scores = draw(rng, 120)
        exact = cc.compare_many(y, scores, pc=[0.2, 0.5, 0.8], level=0.8).at(0.5)
        assert not exact.unsettled.any()
        assert "binning" not in repr(exact)
        binned = InBins(y, scores, resolution_of(rng))
        many = compare_many_in(binned, pc=[0.2, 0.5, 0.8], level=0.8).at(0.5)
        assert (np.abs(many.estimate - exact.estimate) <= many.max_error + 1e-12).all()
        assert not (many.unsettled & many.significant()).any()
        assert ("not settled: binning error" in repr(many)) == many.unsettled.any()
        for i in np.flatnonzero(many.significant()):
            assert np.sign(exact.estimate[i]) == np.sign(many.estimate[i])
        found.append(many.unsettled.any())
    assert FUZZ_SEED is not None or 0 < sum(found) < len(found)
