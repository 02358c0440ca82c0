"""Operating ranges with limits, crossings with limits, resampled lines: brute force, known answers and levels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import costcurves as cc
from costcurves.inference.bands.critical import trivial_critical


def fixed(table, name="rules"):
    return cc.CostCurve(cc.RocCurve.from_confusion_matrix(table, name=name), policy=cc.thresholds.point(1))


def test_limits_of_the_operating_range_are_those_of_the_simultaneous_band():
    curve = fixed([[90, 10], [24, 76]])
    limits, band = curve.operating_range_limits(level=0.9), curve.band(level=0.9, simultaneous=True)
    cheaper = [float(x) for x, high in zip(band.pc, band.upper, strict=True) if high < min(x, 1 - x)]
    (low, high), (least, most) = next(iter(limits.surely)), next(iter(limits.possibly))
    assert (low, high) == (min(cheaper), max(cheaper))
    (seen,) = limits.estimate
    assert seen == pytest.approx((10 / 86, 90 / 114))  # fpr / (fpr + tpr), tnr / (tnr + fnr)
    assert least < seen[0] < low < high < seen[1] < most
    dearer = [float(x) for x, bottom in zip(band.pc, band.lower, strict=True) if bottom > min(x, 1 - x)]
    assert least == max(x for x in dearer if x < 0.5)
    assert most == min(x for x in dearer if x > 0.5)
    assert limits.significant_at([low, least]).tolist() == [True, False]
    assert limits.to_frame().shape[0] == 3


def test_a_useless_classifier_has_no_sure_range_and_a_perfect_one_nearly_all():
    assert len(fixed([[50, 50], [50, 50]]).operating_range_limits().surely) == 0
    (best,) = fixed([[5000, 0], [0, 5000]]).operating_range_limits().surely
    assert best == pytest.approx((0.01, 0.99))


def test_useless_scores_are_called_useful_as_rarely_as_claimed():
    # The critical value is checked with labels that are permuted by another generator.
    rng, scores = np.random.default_rng(5), np.repeat(np.arange(15), 4)
    y = np.arange(60) < 20
    cells, pc = np.full(15, 4), np.linspace(0, 1, 33)
    z = trivial_critical(cells, 20, pc, 0.8)
    called = 0
    for _ in range(150):
        curve = cc.CostCurve(cc.RocCurve.from_predictions(rng.permutation(y), scores))
        limits = curve.operating_range_limits(level=0.8, pc=pc)
        called += len(limits.surely) > 0
    assert stats.binomtest(called, 150, 0.2, alternative="greater").pvalue > 1e-3
    assert trivial_critical(cells, 20, pc, 0.95) > z > 1.3
    # A score with one value cannot look useful at any critical value.
    assert trivial_critical(np.array([60]), 20, pc, 0.8) < z


def test_range_limits_need_all_points_and_counts():
    y, s = [0, 1] * 20, np.arange(40) % 9
    with pytest.raises(cc.UnsupportedError, match="every point"):
        cc.CostCurve(cc.RocCurve.from_predictions(y, s, points="hull")).operating_range_limits()
    roc = cc.RocCurve.from_predictions(y, s, sample_weight=np.arange(1, 41))
    with pytest.raises(cc.UnsupportedError, match="weights"):
        cc.CostCurve(roc).operating_range_limits()
    assert cc.CostCurve.from_predictions(y, s, policy=5.0).operating_range_limits().level == 0.95


def test_resampled_lines_have_the_binomial_moments_and_stay_at_their_thresholds():
    curve = fixed([[6, 4], [4, 16]])
    lines = curve.resampled(4000, rng=3)
    costs = np.array([line.evaluate(0.3) for line in lines])
    expected = curve.distribution(0.3)
    assert costs.mean() == pytest.approx(expected.mean, abs=4 * expected.std / 4000**0.5)
    assert costs.std() == pytest.approx(expected.std, rel=0.05)
    assert {round(float(line.fpr[0] * 10), 9) for line in lines} <= set(range(11))
    moving = cc.CostCurve.from_predictions([0, 0, 1, 1] * 5, np.arange(20) % 7)
    for line in moving.resampled(20):
        assert np.array_equal(line.breaks, moving.breaks)
        assert (np.diff(line.fpr) >= 0).all()
        assert (np.diff(line.fnr) <= 0).all()
    with pytest.raises(cc.InputError, match="n_resamples"):
        curve.resampled(0)


def test_crossings_have_limits_between_opposite_verdicts():
    tables = {"negatives": [[700, 20], [200, 80]], "positives": [[100, 20], [200, 680]]}
    difference = cc.compare.from_joint(**tables, names=("bold", "careful"))
    limits = difference.crossings()
    # bold: fpr .28, fnr .12; careful: fpr .1, fnr .3. Equal where .18 (1 - pc) = .18 pc.
    assert limits.estimate.pc == pytest.approx([0.5])
    assert limits.certain.sum() == 1
    (zone,) = [zone for zone, sure in zip(limits.within, limits.certain, strict=True) if sure]
    inside = [
        float(x) for x, a, b in zip(difference.pc, difference.lower, difference.upper, strict=True) if a <= 0 <= b
    ]
    assert zone[0] < min(x for x in inside if zone[0] < x < zone[1]) <= 0.5 < zone[1]
    assert (limits.before[0], limits.after[0]) == ("careful", "bold")
    few = {name: (np.array(table) // 10).tolist() for name, table in tables.items()}
    assert not cc.compare.from_joint(**few, level=0.999999).crossings().certain.any()
    with pytest.raises(cc.UnsupportedError, match="simultaneous"):
        cc.compare.from_joint(**tables, simultaneous=False).crossings()


def test_crossings_of_moving_thresholds_are_those_of_the_curves():
    rng = np.random.default_rng(8)
    for _ in range(20):
        y = np.append([0, 1], rng.integers(0, 2, 40))
        scores = {name: np.round(y + rng.normal(0, 1.5, 42), 1) for name in "ab"}
        a, b = (cc.CostCurve.from_predictions(y, s, name=name) for name, s in scores.items())
        for found in (cc.compare(y, scores["a"], scores["b"], pc=[0.3, 0.6]), cc.compare.from_curves(a, b, pc=[0.3])):
            np.testing.assert_allclose(found.crossings().estimate.pc, a.crossings(b).pc, atol=1e-9)
            assert found.crossings().estimate.before == a.crossings(b).before


def test_stability_judges_the_own_span_alone_and_needs_tables_that_cover_it():
    hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A"), cc.RocCurve.from_rates(0.4, 0.95, name="C")])
    inner = hull.within((0.5, 0.6))
    for wider in (hull.within((0.1, 0.6)), hull.ranges()):
        assert inner.stability([wider]).agreement.tolist() == [1.0]
    for others, message in (([hull.within((0.55, 0.9))], "must cover"), (None, "tables of ranges")):
        with pytest.raises(cc.InputError, match=message):
            inner.stability(others)
