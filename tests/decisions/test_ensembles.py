"""What a classifier adds to a hull, which few to keep, and rules of thresholds: brute force and held-out cases."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import costcurves as cc

GRID = np.linspace(0, 1, 20001)


def made(rng, n=300, noises=(0.6, 0.8, 1.2, 3.0)):
    y = rng.random(n) < 0.4
    return y, {f"c{i}": y + rng.normal(0, noise, n) for i, noise in enumerate(noises)}


def test_gain_is_the_area_between_two_lower_envelopes():
    rng = np.random.default_rng(2)
    for _ in range(30):
        y = np.append([0, 1], rng.integers(0, 2, 20))
        curves = [cc.RocCurve.from_predictions(y, y + rng.integers(0, 5, 22), name=name) for name in "abc"]
        hull, extra = cc.RocHull(curves[:-1]), curves[-1]
        before = np.min([cc.CostCurve(c).evaluate(GRID) for c in curves[:-1]], axis=0)
        fall = before - np.minimum(before, cc.CostCurve(extra).evaluate(GRID))
        low, high = sorted(rng.choice(GRID, 2, replace=False))
        inside = (low <= GRID) & (high >= GRID)
        gain = hull.gain(extra, over=(low, high))
        assert gain.mean == pytest.approx(fall[inside].mean(), abs=2e-4)
        assert gain.largest == pytest.approx(fall[inside].max(), abs=2e-4)
        assert np.interp(gain.at_pc, GRID, fall) == pytest.approx(gain.largest, abs=2e-4)
        assert cc.RocHull(curves).gain(extra.name).mean == pytest.approx(hull.gain(extra).mean, abs=1e-12)
        assert gain.extends.width == pytest.approx((fall > 1e-12).mean(), abs=1e-3)


def test_the_gain_of_several_is_that_of_the_envelope_of_all_of_them():
    y, scores = made(np.random.default_rng(12))
    hull = cc.RocHull([cc.RocCurve.from_predictions(y, scores["c2"], name="c2")])
    more = {name: scores[name] for name in ("c0", "c1")}
    before = cc.CostCurve(hull).evaluate(GRID)
    each = [cc.CostCurve.from_predictions(y, s).evaluate(GRID) for s in more.values()]
    predictions = cc.Predictions(y, more)
    for given in (predictions, predictions.hull()):
        assert hull.gain(given).mean == pytest.approx(
            np.mean(before - np.minimum(before, np.min(each, axis=0))), abs=1e-4
        )
    line = cc.CostCurve.from_predictions(y, scores["c0"], policy=0.5)
    fall = before - np.minimum(before, line.evaluate(GRID))
    assert hull.gain(line).mean == pytest.approx(fall.mean(), abs=1e-4)


def test_gain_refuses():
    hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A")])
    for bad in ("A", "B", 3):
        with pytest.raises(cc.InputError, match="`curve` must be"):
            hull.gain(bad)


def test_the_selection_is_greedy_and_its_costs_are_those_of_hulls():
    y, scores = made(np.random.default_rng(3))
    chosen = cc.Predictions(y, scores).select(3, over=(0.2, 0.7))
    curves = {name: cc.RocCurve.from_predictions(y, s, name=name) for name, s in scores.items()}
    inside = np.linspace(0.2, 0.7, 501)

    def cost(names):
        return cc.CostCurve(cc.RocHull([curves[name] for name in names])).evaluate(inside).mean()

    taken = []
    for k in range(3):
        best = min((cost([*taken, name]), name) for name in scores if name not in taken)
        taken.append(best[1])
        assert chosen.cost[k] == pytest.approx(best[0])
    assert chosen.names == tuple(taken)
    np.testing.assert_allclose(np.cumsum(chosen.gain), np.minimum(inside, 1 - inside).mean() - chosen.cost)
    # Greedy need not be best, but cannot beat the best subset.
    assert chosen.cost[1] >= min(cost(pair) for pair in itertools.combinations(scores, 2)) - 1e-12


def test_the_held_out_cost_is_that_of_choices_made_without_the_fold():
    fold, pc, shares = np.arange(60) % 3, np.linspace(0.3, 0.6, 501), set()
    for seed in range(6):
        y, scores = made(np.random.default_rng(seed), 60, (0.9, 1.0))
        scores = {name: s.round(1) for name, s in scores.items()}
        chosen = cc.Predictions(y, scores, folds=fold).select(1, over=(0.3, 0.6))
        total, again = 0.0, 0
        for f in range(3):
            out = fold == f
            rocs = {name: cc.RocCurve.from_predictions(y[~out], s[~out], name=name) for name, s in scores.items()}
            curves = {name: cc.CostCurve(roc) for name, roc in rocs.items()}
            name = min(curves, key=lambda n: curves[n].evaluate(pc).mean())
            again += name == chosen.names[0]
            called = scores[name][out][:, None] >= curves[name].threshold_at(pc)
            missed = (y[out][:, None] & ~called).sum(axis=0) / y.sum()
            alarms = (~y[out][:, None] & called).sum(axis=0) / (~y).sum()
            total += (pc * missed + (1 - pc) * alarms).mean()
        assert chosen.cost_held_out[0] == pytest.approx(total)
        assert chosen.share_chosen[0] == pytest.approx(again / 3)
        shares.add(again)
    assert len(shares) > 1


def test_selection_on_the_same_cases_is_optimistic_and_held_out_cases_show_it():
    rng, gaps = np.random.default_rng(5), []
    for _ in range(12):
        y = rng.random(100) < 0.4
        chosen = cc.Predictions(y, {f"c{i}": y + rng.normal(0, 1.5, 100) for i in range(8)}).select(4)
        assert (np.diff(chosen.cost) <= 0).all()
        gaps.append(chosen.cost_held_out - chosen.cost)
    first, *_, last = np.mean(gaps, axis=0)
    assert 0.02 < first < last


def test_select_takes_weights_and_refuses_what_it_cannot_do():
    y, scores = made(np.random.default_rng(6), 80)
    twice = cc.Predictions(y, scores, sample_weight=np.full(80, 2.0)).select(2, rng=1)
    once = cc.Predictions(y, scores).select(2, rng=1)
    np.testing.assert_allclose(twice.cost_held_out, once.cost_held_out)
    with pytest.raises(cc.InputError, match="number"):
        cc.Predictions(y, scores).select(5)
    with pytest.raises(cc.InputError, match="rarer class"):
        cc.Predictions(y, scores).select(1, n_folds=70)


def test_a_search_by_gain_finds_what_the_hull_lacks():
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(7)
    x = rng.normal(size=(300, 2))
    y = (x[:, 0] + rng.normal(0, 1, 300) > 0).astype(int)
    hull = cc.RocHull([cc.RocCurve.from_predictions(y, x[:, 0], name="candidate")])
    model = LogisticRegression().fit(x, y)
    score = cc.cost_curve_area_scorer(hull=hull, over=(0.2, 0.8))(model, x, y)
    own = cc.RocCurve.from_predictions(y, model.predict_proba(x)[:, 1], name="model")
    assert score == pytest.approx(hull.gain(own, over=(0.2, 0.8)).mean)
    with pytest.raises(cc.InputError, match="`hull` must not come"):
        cc.cost_curve_area_scorer(hull=hull, policy="bayes")


def test_the_product_rule_takes_the_largest_rectangle():
    rng = np.random.default_rng(8)
    for _ in range(30):
        y, s = np.append([0, 1], rng.integers(0, 2, 20)), rng.integers(0, 6, 22)
        roc = cc.RocCurve.from_predictions(y, s)
        curve = cc.CostCurve(roc, policy=cc.thresholds.product())
        area = max((1 - (s[y == 0] >= cut).mean()) * (s[y == 1] >= cut).mean() for cut in (*np.unique(s), np.inf))
        assert (1 - curve.fpr[0]) * (1 - curve.fnr[0]) == pytest.approx(area)
        assert (curve.evaluate(GRID) >= cc.CostCurve(roc).evaluate(GRID) - 1e-12).all()


def test_any_rule_of_pc_is_judged_at_its_thresholds():
    rng = np.random.default_rng(9)
    pc = rng.random(400)
    for function in (lambda x: 1 - x, lambda x: np.where(x < 0.5, np.inf, -np.inf), lambda x: 0.5 + 0 * x, np.cos):
        y, s = np.append([0, 1], rng.integers(0, 2, 30)), rng.random(32).round(2)
        curve = cc.CostCurve(cc.RocCurve.from_predictions(y, s), policy=cc.thresholds.rule(function))
        called = s[:, None] >= function(pc)
        cost = pc * (~called[y == 1]).mean(axis=0) + (1 - pc) * called[y == 0].mean(axis=0)
        np.testing.assert_allclose(curve.evaluate(pc), cost)
        np.testing.assert_allclose(curve.threshold_at(pc), function(pc))
        assert curve.band(pc=[0.2, 0.7], simultaneous=True).lower.size == 2
    many = rng.random(20_000)  # several scores are passed between two points of the grid
    truth = rng.random(many.size) < many
    steep = cc.CostCurve(cc.RocCurve.from_predictions(truth, many), policy=cc.thresholds.rule(lambda x: 1 - x**3))
    cuts = 1 - pc**3
    misses = np.searchsorted(np.sort(many[truth]), cuts) / truth.sum()
    alarms = 1 - np.searchsorted(np.sort(many[~truth]), cuts) / (~truth).sum()
    np.testing.assert_allclose(steep.evaluate(pc), pc * misses + (1 - pc) * alarms, atol=1e-12)
    same = cc.CostCurve(cc.RocCurve.from_predictions(y, s), policy=cc.thresholds.rule(lambda x: 1 - x))
    bayes = cc.CostCurve(cc.RocCurve.from_predictions(y, s), policy=cc.thresholds.bayes(prevalence=0.5))
    np.testing.assert_allclose(same.evaluate(pc), bayes.evaluate(pc))
    for bad, match in ((3, "callable"), (lambda x: 0.5, "one threshold per pc")):
        with pytest.raises(cc.InputError, match=match):
            cc.CostCurve(cc.RocCurve.from_predictions(y, s), policy=cc.thresholds.rule(bad))


def test_tables_without_trivial_classifiers_and_their_stability():
    rng = np.random.default_rng(10)
    y, scores = made(rng, 200)
    tables = []
    for part in (slice(None), slice(0, 100), slice(100, 200)):
        curves = [cc.RocCurve.from_predictions(y[part], s[part], name=name) for name, s in scores.items()]
        tables.append(cc.RocHull(curves).ranges().without_trivial())
    whole, *parts = tables
    assert whole.pc_low[0] == 0
    assert whole.pc_high[-1] == 1
    assert not set(whole.classifier) & {"always negative", "always positive"}
    np.testing.assert_array_equal(whole.pc_low[1:], whole.pc_high[:-1])
    found = whole.stability(parts)

    def owner(table, pc):
        return np.array(table.classifier)[np.clip(np.searchsorted(table.pc_high, pc), 0, len(table) - 1)]

    for i, (name, low, high) in enumerate(whole):
        inside = (low < GRID) & (high > GRID)
        share = np.mean([(owner(part, GRID[inside]) == name).mean() for part in parts])
        assert found.agreement[i] == pytest.approx(share, abs=0.02 + 2e-4 / (high - low))
    names = list(whole.classifier)
    for i, (left, right) in enumerate(itertools.pairwise(names)):
        for k, part in enumerate(parts):
            at = owner(part, GRID)
            places = [GRID[j] for j in range(GRID.size - 1) if (at[j], at[j + 1]) == (left, right)]
            nearest = min(places, key=lambda x: abs(x - whole.pc_high[i]), default=np.nan)
            assert found.breaks[i, k] == pytest.approx(nearest, abs=1e-4, nan_ok=True)
    assert np.isfinite(found.breaks).any()
    shares = [np.isfinite(row).mean() for row in found.breaks]
    np.testing.assert_array_equal(found.to_frame()["share_with_break"], [*shares, np.nan])
    with pytest.raises(cc.InputError, match="others"):
        whole.stability([])
