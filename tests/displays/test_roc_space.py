"""Figures of ROC space and of the triangle of priors show the numbers of the core."""

from __future__ import annotations

import math

import numpy as np
import pytest

import costcurves as cc
from displays_data import COSTS, averages, estimators, hull, prior_hull, three_classes

A = cc.RocCurve.from_rates(0.1, 0.6, name="A")
B = cc.RocCurve.from_rates(0.2, 0.65, name="B")
C = cc.RocCurve.from_rates(0.35, 0.92, name="C")
PAPER = cc.RocHull([A, B, C])
HERE = cc.OperatingCondition(prevalence=1 / 11, cost_fp=1, cost_fn=40)


def test_curves_and_hull_are_those_of_the_core():
    both = hull()
    display = cc.RocHullDisplay(both).plot()
    for line, curve in zip(display.line_, both.roc_curves().values(), strict=True):
        np.testing.assert_array_equal(line.get_xydata(), np.stack([curve.fpr, curve.tpr], 1))
        assert line.get_label() == curve.name
    np.testing.assert_array_equal(display.hull_.get_xydata(), np.stack([both.fpr, both.tpr], 1))
    (shade,) = display.shade_.get_paths()
    assert {*zip(both.fpr, both.tpr, strict=True)} <= {*map(tuple, shade.vertices)}
    assert shade.vertices[:, 1].max() == 1
    assert display.ax_.get_xlim() == display.ax_.get_ylim() == (0, 1)
    assert display.ax_.get_aspect() == 1
    bare = display.plot(hull=False, shade=False, chance=False, names="narrow")
    assert bare.hull_ is bare.shade_ is bare.chance_ is None
    assert bare.line_.get_label() == "narrow"
    assert bare.line_.get_color() == cc.RocHullDisplay(both).plot().line_[1].get_color()


def test_a_classifier_without_scores_is_a_point():
    display = cc.RocHullDisplay(PAPER).plot()
    assert [line.get_xydata().tolist() for line in display.line_] == [[[0.1, 0.6]], [[0.2, 0.65]], [[0.35, 0.92]]]
    assert len({line.get_marker() for line in display.line_}) == 3
    assert {line.get_linestyle() for line in display.line_} == {"None"}


def test_of_a_hull_that_was_added_to_the_points_that_it_keeps_are_drawn():
    useless = cc.RocCurve.from_rates(1, 0.1, name="useless")
    display = cc.RocHullDisplay(hull().add([A, useless])).plot()
    assert [line.get_label() for line in display.line_] == [*hull().names, "A", "useless"]
    for line, name in zip(display.line_, display.names, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), np.stack(display.hull.points_of(name), 1))
    assert display.line_[-1].get_xydata().size == 0


def test_iso_performance_lines_go_through_the_best_point_with_the_slope_of_the_condition():
    decision = PAPER.best(0.4)
    display = cc.RocHullDisplay(PAPER).plot(condition=[HERE, decision])
    for line, best in zip(display.iso_, (PAPER.best(HERE), decision), strict=True):
        assert line.get_xy1() == (best.fpr, best.tpr)
        assert line.get_slope() == best.condition.slope
    dot, text = display.point_[:2]
    assert dot.get_marker() != display.point_[2].get_marker()
    assert dot.get_xydata().tolist() == [[PAPER.best(HERE).fpr, PAPER.best(HERE).tpr]]
    assert text.get_text() == PAPER.best(HERE).classifier == "C"
    assert f"same cost at pc {HERE.pc:.2g}" in [one.get_text() for one in display.legend_.get_texts()]
    scored = cc.RocHullDisplay(hull()).plot(condition=0.5).point_[1].get_text()
    best = hull().best(0.5)
    assert scored == f"{best.classifier}, score ≥ {best.threshold_text}"


@pytest.mark.parametrize("pc", [0.0, 1.0])
def test_conditions_at_the_ends_have_upright_and_level_lines(pc):
    display = cc.RocHullDisplay(PAPER).plot(condition=pc)
    assert display.iso_[0].get_slope() == (math.inf if pc == 0 else 0)
    display.figure_.canvas.draw()


def test_a_range_picks_a_segment_of_the_hull_between_two_lines():
    span = cc.OperatingRange(prevalence=1 / 11, cost_fp=(5, 10), cost_fn=(50, 1000))
    display = cc.RocHullDisplay(PAPER).plot(condition=span)
    part = PAPER.segment(span)
    (segment,) = display.segment_
    np.testing.assert_array_equal(segment.get_xydata(), np.stack([PAPER.fpr[part], PAPER.tpr[part]], 1))
    assert segment.get_label() == f"best for pc {span.pc[0]:.2g} to {span.pc[1]:.2g}"
    assert sorted(line.get_slope() for line in display.iso_) == sorted(span.slope)
    assert display.point_ == []


def test_wedges_hold_the_slopes_at_which_a_trivial_classifier_is_best():
    display = cc.RocHullDisplay(PAPER).plot(null_strategy=True)
    nothing, alarm = display.wedge_
    steepest, flattest = 0.6 / 0.1, (1 - 0.92) / (1 - 0.35)
    corner = nothing.get_xy()[2]
    assert nothing.get_xy()[0].tolist() == [0, 0]
    assert corner[1] / corner[0] == pytest.approx(steepest)
    corner = alarm.get_xy()[2]
    assert alarm.get_xy()[0].tolist() == [1, 1]
    assert (1 - corner[1]) / (1 - corner[0]) == pytest.approx(flattest)
    assert nothing.get_label() == f"flag nothing: pc under {1 / (1 + steepest):.2g}"
    assert alarm.get_label() == f"flag all: pc over {1 / (1 + flattest):.2g}"


@pytest.mark.parametrize(
    "curve",
    [
        cc.RocCurve.from_rates(0.0, 1.0, name="perfect"),
        cc.RocCurve.from_rates(0.5, 0.5, name="chance"),
        cc.RocCurve.from_rates(0.0, 0.4, name="no alarms"),
        cc.RocCurve.from_rates(0.4, 1.0, name="no misses"),
    ],
)
def test_extreme_classifiers_can_be_drawn(curve):
    display = cc.RocHullDisplay(curve).plot(null_strategy=True, condition=[0.0, 0.5, 1.0])
    display.figure_.canvas.draw()
    for wedge in display.wedge_:
        assert np.isfinite(wedge.get_xy()).all()
        assert (wedge.get_xy() >= 0).all()
        assert (wedge.get_xy() <= 1).all()
    cost = cc.CostCurveDisplay(curve).plot(operating_range=True, lines=True, envelope=True)
    cost.figure_.canvas.draw()
    assert cc.DominanceDisplay(cc.RocHull([curve])).plot().bar_


def test_averages_and_their_intervals_are_those_of_the_core():
    display = cc.AveragedRocDisplay(averages()).plot()
    for line, area, average in zip(display.line_, display.band_, averages(), strict=True):
        np.testing.assert_array_equal(line.get_xydata(), np.stack([average.fpr, average.tpr], 1))
        corners = {*map(tuple, area.get_paths()[0].vertices)}
        assert {*zip(average.fpr, average.lower, strict=True), *zip(average.fpr, average.upper, strict=True)} <= corners
    assert display.plot(intervals=False, chance=False).band_ is None
    assert display.chance_ is None
    named = cc.AveragedRocDisplay({"mean": averages()[0]})
    assert named.names == ("mean",)


def test_folds_are_averaged_as_the_core_does_it():
    X, y, _, results = estimators()
    asked = {"interval": "binomial", "level": 0.8, "n_points": 21}
    display = cc.AveragedRocDisplay.from_cv_results(results, X, y, with_folds=True, **asked)
    for line, (name, result) in zip(display.line_, results.items(), strict=True):
        folds = [
            cc.RocCurve.from_predictions(y[test], model.predict_proba(X[test])[:, 1])
            for model, test in zip(result["estimator"], result["indices"]["test"], strict=True)
        ]
        average = cc.average_roc_curves(folds, **asked)
        np.testing.assert_array_equal(line.get_ydata(), average.tpr)
        np.testing.assert_array_equal(display.averages[name].lower, average.lower)
        for thin, fold in zip(display.fold_line_[name], folds, strict=True):
            np.testing.assert_array_equal(thin.get_ydata(), fold.tpr)
    again = cc.AveragedRocDisplay.from_results(list(display.averages.values()), folds=display.folds, with_folds=True)
    assert len(again.fold_line_["logit"]) == 3
    assert cc.AveragedRocDisplay.from_cv_results(results, X, y).band_ is None


def test_limits_of_a_horizontal_average_are_drawn_sideways_and_common_folds_once():
    folds = [cc.RocCurve.from_confusion_matrix(table) for table in ([[96, 4], [60, 40]], [[70, 30], [20, 80]])]
    kinds = [
        cc.average_roc_curves(folds, kind=kind, name=kind, n_points=7, interval="binomial")
        for kind in ("vertical", "horizontal")
    ]
    display = cc.AveragedRocDisplay.from_results(kinds, folds={one.name: folds for one in kinds}, with_folds=True)
    across = kinds[1]
    corners = {tuple(point) for path in display.band_[1].get_paths() for point in path.vertices}
    assert {*zip(across.lower, across.tpr, strict=True), *zip(across.upper, across.tpr, strict=True)} <= corners
    assert display.fold_line_["vertical"] == display.fold_line_["horizontal"]
    assert len([line for line in display.ax_.lines if line.get_linewidth() == 0.6]) == len(folds)
    own = cc.AveragedRocDisplay.from_results(kinds, folds={"vertical": folds}, with_folds=True)
    assert {line.get_color() for line in own.fold_line_["vertical"]} == {own.line_[0].get_color()}
    assert own.fold_line_["horizontal"] == []


def test_averages_without_counts_have_no_interval():
    average = cc.average_roc_curves([A, C], name="rates")
    assert cc.AveragedRocDisplay(average).plot().band_ is None
    with pytest.raises(cc.InputError, match="`folds` must have only names of rates, got 'nobody'"):
        cc.AveragedRocDisplay(average, folds={"nobody": [A]})
    with pytest.raises(cc.InputError, match="`averages` must have different names, got 'rates' twice"):
        cc.AveragedRocDisplay([average, average])


# Three classes ----------------------------------------------------------------------------------------------


def test_regions_are_those_of_the_core_in_the_triangle():
    result = prior_hull()
    mark = {"even": [1 / 3] * 3, "only z": {"x": 0, "y": 0, "z": 1}}
    display = cc.PriorSimplexDisplay(result).plot(mark=mark)
    corners = np.array([[0, 0], [1, 0], [0.5, math.sqrt(0.75)]])
    assert list(display.region_) == [name for name in result.names if name in result.regions()]
    for name, region in display.region_.items():
        np.testing.assert_allclose(region.get_xy()[:-1], result.regions()[name] @ corners, atol=1e-15)
    assert [text.get_text() for text in display.corner_] == ["all x", "all y", "all z"]
    points = [artist.get_xydata()[0].tolist() for artist in display.mark_]
    assert points == [pytest.approx([0.5, math.sqrt(0.75) / 3]), pytest.approx([0.5, math.sqrt(0.75)])]
    assert display.plot(grid=False).grid_ == []
    # Every line of the grid has one class at one frequency.
    for line in cc.PriorSimplexDisplay(result).plot().grid_:
        priors = np.linalg.solve(np.vstack([corners.T, np.ones(3)]), np.vstack([line.get_xydata().T, np.ones(2)]))
        assert min(np.ptp(priors, axis=1)) == pytest.approx(0, abs=1e-12)


def test_who_is_cheapest_nowhere_is_told():
    truth, predictions = three_classes()
    poor = {**predictions, "poor": np.where(predictions["first"] == "x", "y", "x")}
    display = cc.PriorSimplexDisplay.from_predictions(truth, poor, costs=COSTS)
    nowhere = [name for name in display.names if name not in display.hull.regions()]
    assert "poor" in nowhere
    assert display.never_.get_label() == f"never cheapest: {', '.join(nowhere)}"
    inside = cc.PriorSimplexDisplay.from_predictions(
        truth, predictions, costs=COSTS, trivial=False, priors={"z": (0.1, 0.3)}
    )
    assert inside.names == ("first", "second")
    assert max(corner[2] for region in inside.hull.regions().values() for corner in region) <= 0.3 + 1e-12


def test_what_is_no_triangle_is_refused():
    two = cc.prior_hull({"rules": [[90, 10], [4, 16]]}, [[0, 1], [5, 0]])
    with pytest.raises(cc.UnsupportedError, match="`hull` must have three classes to be drawn as a triangle, got 2"):
        cc.PriorSimplexDisplay(two)
    low, high = np.ones((3, 3)) - np.eye(3), 2 * (np.ones((3, 3)) - np.eye(3))
    with pytest.raises(cc.UnsupportedError, match="`regions` needs one cost matrix, got a range of costs"):
        cc.PriorSimplexDisplay(cc.prior_hull({"a": np.eye(3) + 1}, (low, high)))
    display = cc.PriorSimplexDisplay(prior_hull())
    with pytest.raises(cc.InputError, match=r"`mark` must map texts to priors, got 3 \(int\)"):
        display.plot(mark=3)
    with pytest.raises(cc.CostCurvesError, match="`mark`"):
        display.plot(mark={"nowhere": [0.5, 0.5, 0.5]})


def test_the_line_of_equal_cost_touches_both_curves():
    points = {"low": [(0.02, 0.3), (0.1, 0.6), (0.3, 0.72)], "high": [(0.1, 0.35), (0.4, 0.9), (0.7, 0.98)]}
    curves = [cc.RocCurve.from_rates(*np.transpose(p), thresholds=[3, 2, 1], name=n) for n, p in points.items()]
    display = cc.RocHullDisplay(curves).plot(crossings=True)
    line, dots = display.crossing_
    slope, (x, y) = line.get_slope(), line.get_xy1()
    assert slope == pytest.approx(1)  # (0.1, 0.6) and (0.4, 0.9) lie on it
    for one in points.values():
        assert max(v - slope * u for u, v in [*one, (0, 0), (1, 1)]) == pytest.approx(y - slope * x)
    np.testing.assert_allclose(dots.get_xydata(), [(0.1, 0.6), (0.4, 0.9)])
    assert line.get_label() == "equal cost of both at pc 0.5"
    # A curve that lies below another crosses it nowhere.
    assert cc.RocHullDisplay([A, cc.RocCurve.from_rates(0.2, 0.5, name="worse")]).plot(crossings=True).crossing_ == []


def test_points_can_be_drawn_without_lines():
    both = hull()
    for line, curve in zip(cc.RocHullDisplay(both).plot(points=True).line_, both.roc_curves().values(), strict=True):
        assert line.get_linestyle() == "None"
        np.testing.assert_array_equal(line.get_xydata(), np.stack([curve.fpr, curve.tpr], 1)[1:-1])


def test_the_mean_cost_of_the_folds_is_a_line_that_their_averages_need_not_reach():
    folds = [cc.RocCurve.from_rates(0.04, 0.4), cc.RocCurve.from_rates(0.3, 0.8)]  # 2005, figure 9
    kinds = [cc.average_roc_curves(folds, kind=kind, name=kind) for kind in ("vertical", "horizontal")]
    slope = 0.4 / 0.26
    display = cc.AveragedRocDisplay.from_results(
        kinds, folds={one.name: folds for one in kinds}, condition=1 / (1 + slope)
    )
    assert len(display.iso_) == 2
    for line in display.iso_:
        (x, y), steep = line.get_xy1(), line.get_slope()
        assert steep == pytest.approx(slope)
        assert [y + steep * (fpr - x) for fpr in (0.04, 0.3)] == pytest.approx([0.4, 0.8])
        assert all((y + steep * (one.fpr - x) - one.tpr).min() > 0.02 for one in kinds)
    with pytest.raises(cc.InputError, match="`condition` must come with a display that has `folds`"):
        cc.AveragedRocDisplay(kinds).plot(condition=0.5)
