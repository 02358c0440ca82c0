"""Figures of cost space show the numbers of the core: curves, bands, differences, bars, coverage, power."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import costcurves as cc
from displays_data import COSTS, POINTS, difference, estimators, hull, joint, three_classes, two_classes

HERE = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)
SPAN = cc.OperatingRange(prevalence=(0.1, 0.4), cost_fp=1, cost_fn=(3, 8))
CURVES = [cc.CostCurve(curve) for curve in hull().roc_curves().values()]


def corners(area):
    """Return the set of corners of a filled area."""
    (path,) = area.get_paths()
    return {(round(x, 12), round(y, 12)) for x, y in path.vertices}


def band_corners(pc, lower, upper):
    return {(round(x, 12), round(y, 12)) for values in (lower, upper) for x, y in zip(pc, values, strict=True)}


def spans(bars):
    """Return the (start, end) of each bar."""
    return [(float(p.vertices[:, 0].min()), float(p.vertices[:, 0].max())) for p in bars.get_paths()]


# Cost curves ------------------------------------------------------------------------------------------------


def test_cost_curves_are_their_vertices():
    display = cc.CostCurveDisplay(CURVES).plot()
    for line, curve in zip(display.line_, CURVES, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), curve.vertices)
        assert line.get_label() == curve.name
    assert [text.get_text() for text in display.legend_.get_texts()] == ["wide", "narrow"]
    assert display.ax_.get_xlim() == (0, 1)
    assert display.ax_.get_ylim() == (0, 0.35)  # one and a half times the highest cost
    assert display.ax_.get_xlabel() == "pc (0: only false alarms count, 1: only misses)"
    assert display.ax_.get_ylabel() == "expected cost (1 = always wrong)"
    assert cc.CostCurveDisplay(CURVES[0]).plot().line_.get_label() == "wide"
    assert cc.CostCurveDisplay(hull()).plot().line_.get_label() == "hull"
    assert cc.CostCurveDisplay(dict(zip("ab", CURVES, strict=True))).names == ("a", "b")


def test_a_curve_that_can_cost_more_than_one_half_has_an_axis_to_one():
    line = cc.CostCurve(cc.RocCurve.from_rates(0.9, 0.95), policy=cc.thresholds.point(1))
    assert cc.CostCurveDisplay(line).plot().ax_.get_ylim() == (0, 1)


def test_bands_are_those_of_the_core():
    display = cc.CostCurveDisplay.from_predictions(*two_classes(), level=0.9)
    for area, curve in zip(display.band_, CURVES, strict=True):
        band = curve.band(level=0.9)
        assert corners(area) >= band_corners(band.pc, band.lower, band.upper)
        assert len(corners(area)) == len(band_corners(band.pc, band.lower, band.upper))
    band = CURVES[0].band(simultaneous=True, pc=POINTS)
    one = cc.CostCurveDisplay(CURVES[0], bands=band).plot()
    assert corners(one.band_) == band_corners(band.pc, band.lower, band.upper)
    y, scores = two_classes()
    joint_band = cc.CostCurveDisplay.from_predictions(y, scores["wide"], level=0.9, simultaneous=True).bands
    assert joint_band["classifier"].simultaneous


def test_lines_of_all_thresholds_end_at_their_rates():
    display = cc.CostCurveDisplay(CURVES[:1]).plot(lines=True)
    lines = CURVES[0].lines()
    drawn = np.array(display.cost_line_["wide"].get_segments())
    np.testing.assert_array_equal(drawn[:, 0, 1], lines.fpr)
    np.testing.assert_array_equal(drawn[:, 1, 1], lines.fnr)
    assert (drawn[:, :, 0] == [0, 1]).all()


def test_the_envelope_is_the_cost_of_the_hull():
    display = cc.CostCurveDisplay(CURVES).plot(envelope=True)
    np.testing.assert_array_equal(display.envelope_.get_xydata(), cc.CostCurve(hull()).vertices)
    average = cc.average_cost_curves(list(hull().roc_curves().values()))
    with pytest.raises(cc.UnsupportedError, match="`envelope` needs the ROC points of every classifier"):
        cc.CostCurveDisplay([average]).plot(envelope=True)
    assert plt.get_fignums() == [display.figure_.number]


def test_trivial_classifiers_are_the_two_diagonals():
    first, _, second, _ = cc.CostCurveDisplay(CURVES).plot().trivial_
    assert first.get_xydata().tolist() == [[0, 0], [1, 1]]
    assert second.get_xydata().tolist() == [[0, 1], [1, 0]]
    assert cc.CostCurveDisplay(CURVES).plot(trivial=False).trivial_ == []


def test_operating_ranges_are_bars_below_the_axis():
    display = cc.CostCurveDisplay(CURVES).plot(operating_range=True)
    for bars, curve in zip(display.operating_range_, CURVES, strict=False):
        np.testing.assert_allclose(spans(bars), list(curve.operating_range()), atol=1e-12)
        assert bars.get_paths()[0].vertices[:, 1].max() < 0
    assert display.ax_.get_ylim()[0] < 0
    assert min(display.ax_.get_yticks()) == 0


def test_crossings_are_marked_where_the_cheaper_one_changes():
    display = cc.CostCurveDisplay(CURVES).plot(crossings=True)
    where = CURVES[0].crossings(CURVES[1])
    assert len(where) > 0
    (points,) = display.crossing_
    np.testing.assert_array_equal(points.get_xdata(), where.pc)
    np.testing.assert_array_equal(points.get_ydata(), CURVES[0].evaluate(where.pc))
    assert points.get_label() == f"crossing at pc {', '.join(f'{pc:.2f}' for pc in where)}"


def test_conditions_ranges_and_decisions_are_marked():
    decision = hull().best(HERE)
    display = cc.CostCurveDisplay(CURVES).plot(condition=[HERE, 0.25, SPAN, decision])
    shade, *lines = display.condition_
    low, high = SPAN.pc
    covered = shade.get_patch_transform().transform_path(shade.get_path()).get_extents()  # a polygon in matplotlib 3.8
    assert (covered.x0, covered.x1) == pytest.approx((low, high), abs=1e-12)
    assert [line.get_xdata()[0] for line in lines] == [HERE.pc, 0.25, HERE.pc]
    dots = [(dot.get_xdata()[0], dot.get_ydata()[0]) for dot in display.point_[:4]]
    assert dots == [(pc, curve.evaluate(pc)) for pc in (HERE.pc, 0.25) for curve in CURVES]
    chosen, text = display.point_[4:]
    assert chosen.get_xydata().tolist() == [[HERE.pc, decision.normalized_cost]]
    assert text.get_text() == f"{decision.classifier}\n{decision.expected_cost:.3g} per case"


def test_the_axis_of_money_reads_the_cost_per_case():
    here = cc.OperatingCondition.from_cost_matrix([[1, 3], [7, 2]], prevalence=0.4)
    display = cc.CostCurveDisplay(CURVES).plot(condition=here, money_axis=True)
    display.figure_.canvas.draw()
    assert display.money_ax_.get_ylim() == pytest.approx(tuple(map(here.money, display.ax_.get_ylim())), abs=1e-12)
    for condition, message in ((None, "got 0"), (0.3, "got 0"), ([here, HERE], "got 2")):
        with pytest.raises(cc.InputError, match=f"`money_axis=True` must come with one OperatingCondition.*{message}"):
            cc.CostCurveDisplay(CURVES).plot(condition=condition, money_axis=True)


def test_folds_are_drawn_under_their_average():
    X, y, _, results = estimators()
    display = cc.CostCurveDisplay.from_cv_results(results, X, y, policy="bayes", level=0.9)
    for line, area, (name, result) in zip(display.line_, display.band_, results.items(), strict=True):
        folds = [
            cc.CostCurve.from_predictions(y[test], model.predict_proba(X[test])[:, 1], policy="bayes")
            for model, test in zip(result["estimator"], result["indices"]["test"], strict=True)
        ]
        np.testing.assert_array_equal(line.get_xydata(), cc.average_cost_curves(folds).vertices)
        band = cc.average_band(folds, level=0.9)
        assert corners(area) >= band_corners(band.pc, band.lower, band.upper)
        for thin, fold in zip(display.fold_line_[name], folds, strict=True):
            np.testing.assert_array_equal(thin.get_xydata(), fold.vertices)
    with pytest.raises(cc.UnsupportedError, match="`simultaneous` needs one test set, got folds"):
        cc.CostCurveDisplay.from_cv_results(results, X, y, policy="bayes", level=0.9, simultaneous=True)
    with pytest.raises(cc.InputError, match=r"`level` must come with thresholds .* policy='crossfit'"):
        cc.CostCurveDisplay.from_cv_results(results, X, y, level=0.9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"bands": {"nobody": CURVES[0].band()}}, "`bands` must have only names of 'wide', 'narrow', got 'nobody'"),
        ({"bands": {"wide": 3}}, "`bands` must be Bands by name, got 3"),
        ({"bands": CURVES[0].band()}, "`bands` must map the names of curves"),
        ({"folds": {"nobody": CURVES}}, "`folds` must have only names of"),
    ],
)
def test_bands_and_folds_of_nobody_are_refused(arguments, message):
    with pytest.raises(cc.InputError, match=message):
        cc.CostCurveDisplay(CURVES, **arguments)


def test_two_curves_of_one_name_are_refused():
    with pytest.raises(cc.InputError, match="`curves` must have different names, got 'wide' twice"):
        cc.CostCurveDisplay([CURVES[0], CURVES[0]])


# Differences ------------------------------------------------------------------------------------------------


def test_a_difference_is_that_of_the_core_with_its_own_axis():
    result = difference()
    display = cc.CostDifferenceDisplay(result).plot()
    np.testing.assert_array_equal(display.line_.get_xdata(), result.pc)
    np.testing.assert_array_equal(display.line_.get_ydata(), result.estimate)
    assert corners(display.band_) >= band_corners(result.pc, result.lower, result.upper)
    largest = max(abs(result.lower).max(), abs(result.upper).max())
    assert display.ax_.get_ylim() == pytest.approx((-1.1 * largest, 1.1 * largest))
    assert display.ax_.get_ylabel() == "cost of wide − cost of narrow"
    assert display.plot(y_limits="data").ax_.get_ylim() == pytest.approx((-1.1 * largest, 1.1 * largest))
    assert display.plot(y_limits=(-0.2, 0.3)).ax_.get_ylim() == (-0.2, 0.3)


def test_significant_ranges_are_marked_for_the_cheaper_one():
    table = [[[50, 4], [6, 40]], [[8, 30], [2, 60]]]
    result = cc.compare.from_joint(negatives=table[0], positives=table[1], names=("old", "new"))
    display = cc.CostDifferenceDisplay(result).plot()
    marked = [tuple(line.get_xdata()) for line in display.significant_["new"]]
    assert marked == list(result.significant().where("new"))
    assert display.significant_["old"] == []
    turned = cc.CostDifferenceDisplay(result, pair=("new", "old")).plot()
    np.testing.assert_array_equal(turned.line_.get_ydata(), -result.estimate)
    assert [tuple(line.get_xdata()) for line in turned.significant_["new"]] == marked
    pointwise = cc.compare.from_joint(negatives=table[0], positives=table[1], simultaneous=False)
    drawn = cc.CostDifferenceDisplay(pointwise).plot()
    assert drawn.significant_ == {}
    assert "95 % limits, pointwise" in [text.get_text() for text in drawn.legend_.get_texts()]


def test_the_two_curves_can_stand_beside_their_difference():
    display = cc.CostDifferenceDisplay.from_predictions(*two_classes(), pc=POINTS, with_curves=True)
    low, high = display.ax_.get_ylim()
    highest = max(float(curve.vertices[:, 1].max()) for curve in CURVES)
    assert low < display.difference.lower.min()
    assert highest < high < 1.2 * max(highest, display.difference.upper.max())
    for line, curve in zip(display.curve_line_, CURVES, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), curve.vertices)
    with pytest.raises(cc.InputError, match="`with_curves` must come with a display that has `curves`"):
        cc.CostDifferenceDisplay(difference()).plot(with_curves=True)
    with pytest.raises(cc.InputError, match="`curves` must be those of wide and narrow, got narrow, wide"):
        cc.CostDifferenceDisplay(difference(), curves=CURVES[::-1])
    again = cc.CostDifferenceDisplay.from_results(difference(), curves=CURVES, with_curves=True)
    assert [line.get_label() for line in again.curve_line_] == ["wide", "narrow"]


def test_a_pair_is_chosen_among_many():
    y, scores = two_classes()
    three = {**scores, "third": scores["wide"] * 0.5 + scores["narrow"]}
    many = cc.compare_many(y, three, pc=POINTS)
    display = cc.CostDifferenceDisplay(many, pair=("third", "wide")).plot()
    np.testing.assert_array_equal(display.line_.get_ydata(), many.pair("third", "wide").estimate)
    drawn = cc.CostDifferenceDisplay.from_predictions(y, three, pair=("third", "wide"), pc=POINTS)
    np.testing.assert_allclose(drawn.line_.get_ydata(), display.line_.get_ydata(), atol=1e-15)
    for make, message in (
        (lambda: cc.CostDifferenceDisplay(many), "`pair` must name two of wide, narrow, third, got None"),
        (
            lambda: cc.CostDifferenceDisplay.from_predictions(y, three),
            "`pair` must name two of 'wide', 'narrow', 'third'",
        ),
        (
            lambda: cc.CostDifferenceDisplay.from_predictions(y, three, pair=("wide", "nobody")),
            "`pair` must name two of .*, got 'nobody'",
        ),
        (lambda: cc.CostDifferenceDisplay(difference(), pair=("wide", "nobody")), "got 'nobody'"),
        (lambda: cc.CostDifferenceDisplay(difference(), pair="wide"), "`names` must be a pair of names"),
        (lambda: cc.CostDifferenceDisplay.from_predictions(y, scores["wide"]), "`pair` must name two of 'classifier'"),
        (
            lambda: cc.CostDifferenceDisplay(difference()).plot(y_limits=(1, 0)),
            "`y_limits` must be a pair .* low < high",
        ),
        (lambda: cc.CostDifferenceDisplay(difference()).plot(y_limits="all"), "`y_limits` must be a pair"),
        (lambda: cc.CostDifferenceDisplay(difference()).plot(y_limits=np.array(0.3)), "`y_limits` must be a pair"),
        (
            lambda: cc.CostDifferenceDisplay(difference()).plot(condition=hull().best(0.3)),
            "`condition` must be a condition or a range for a difference",
        ),
    ):
        with pytest.raises(cc.InputError, match=message):
            make()


# Bars, coverage, power --------------------------------------------------------------------------------------


def test_bars_are_the_stretches_in_which_each_is_best():
    worse = cc.RocCurve.from_rates(0.5, 0.5, name="worse")
    all_three = cc.RocHull([*hull().roc_curves().values(), worse])
    display = cc.DominanceDisplay(all_three).plot(condition=[HERE, SPAN])
    for name, bars in display.bar_.items():
        np.testing.assert_allclose(spans(bars), list(all_three.ranges().where(name)), atol=1e-12)
    assert {*display.bar_} == {*all_three.ranges().candidates}
    assert list(display.never_) == ["worse"]
    rows = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert rows[:3] == ["wide", "narrow", "worse"]
    assert len(display.condition_) == 2
    assert display.ax_.yaxis_inverted()
    part = cc.DominanceDisplay(all_three.within(SPAN)).plot()
    assert all(SPAN.pc[0] - 1e-12 <= low for bars in part.bar_.values() for low, _ in spans(bars))
    with pytest.raises(cc.InputError, match="`condition` must be a condition or a range for bars"):
        display.plot(condition=hull().best(0.3))


def test_a_class_that_nobody_can_tell_has_only_the_bars_of_the_trivial_ones():
    useless = cc.RocHull([cc.RocCurve.from_predictions([0, 1, 0, 1], [1, 1, 1, 1], name="tied")])
    display = cc.DominanceDisplay(useless).plot()
    assert sorted(display.bar_) == ["always negative", "always positive"]
    alone = cc.DominanceDisplay(useless.ranges()).plot()
    assert alone.names == ()
    assert sorted(alone.bar_) == ["always negative", "always positive"]


def test_several_results_have_a_row_each_and_share_the_colours_of_classifiers():
    ranges = hull().ranges().without_trivial()
    printed = [("narrow", 0, 0.25), ("wide", 0.25, 0.5), ("narrow", 0.5, 1.0)]
    display = cc.DominanceDisplay({"ours": ranges, "theirs": printed}, classifiers=["tree", "narrow", "wide"]).plot()
    assert display.names == ("ours", "theirs")
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["ours", "theirs"]
    assert list(display.bar_) == ["narrow", "wide"]
    for name, bars in display.bar_.items():
        boxes = [path.get_extents() for path in bars.get_paths()]
        found = sorted((round((box.y0 + box.y1) / 2), box.x0, box.x1) for box in boxes)
        tables = enumerate([list(ranges), printed])
        expected = [(row, low, high) for row, table in tables for one, low, high in table if one == name]
        np.testing.assert_allclose(found, expected, atol=1e-12)
    alone = cc.DominanceDisplay({"one": [("wide", 0, 1)]}, classifiers=("tree", "narrow", "wide")).plot(legend=False)
    for name, bars in alone.bar_.items():
        assert (bars.get_facecolor() == display.bar_[name].get_facecolor()).all()
        assert bars.get_hatch() == display.bar_[name].get_hatch()
    assert {text.get_text() for text in display.legend_.get_texts()} == {"narrow", "wide"}
    assert alone.legend_ is None
    part = cc.DominanceDisplay({"ours": hull(), "theirs": cc.dominance(hull().roc_curves())}).plot(names="theirs")
    assert {*part.bar_} == {*hull().ranges().candidates}
    assert len(part.ax_.get_yticks()) == 1


def test_rows_of_bars_can_share_the_axis_of_others():
    figure, (left, right) = plt.subplots(1, 2, sharey=True)
    for ax in (left, right):
        cc.DominanceDisplay(hull()).plot(ax=ax)
    figure.draw_without_rendering()
    shown = [[text.get_text() for text in ax.get_yticklabels() if text.get_visible()] for ax in (left, right)]
    assert shown[0][:2] == ["wide", "narrow"]
    assert shown[1] == []


@pytest.mark.parametrize(
    ("result", "options", "message"),
    [
        ({}, {}, "`result` must not be empty"),
        ([], {}, "`result` must be a Dominance, a RocHull or Ranges"),
        ({"a": 3}, {}, "`result` must be a Dominance, a RocHull or Ranges, got 3"),
        ({"a": [("x", 0.1)]}, {}, r"`result` must have rows \(classifier, pc_low, pc_high\)"),
        ({"a": [("x", 0.5, 0.1)]}, {}, "`result` must have rows with pc_low <= pc_high"),
        ({"a": [("x", 0, 1.5)]}, {}, r"`result` must be in \[0, 1\], got 1.5"),
        ([("x", 0, 1)], {"classifiers": ["y"]}, "`classifiers` must have all .* got none named 'x'"),
        ([("x", 0, 1)], {"classifiers": ["x", "x"]}, "`classifiers` must have different names"),
        ([("x", 0, 1)], {"classifiers": "x"}, "`classifiers` must be a list of names, got 'x'"),
        ([("x", 0, 1)], {"classifiers": 5}, "`classifiers` must be a list of names, got 5"),
    ],
)  # fmt: skip
def test_tables_of_bars_are_checked(result, options, message):
    with pytest.raises(cc.InputError, match=message):
        cc.DominanceDisplay(result, **options)


def test_coverage_is_that_of_the_core_beside_its_level():
    y, scores = two_classes()
    display = cc.CoverageDisplay.from_predictions(y, scores["wide"], level=0.9, pc=POINTS)
    assert display.names == ("wilson", "gaussian")
    curve = cc.CostCurve.from_predictions(y, scores["wide"])
    for line, method in zip(display.line_, display.names, strict=True):
        expected = cc.coverage(curve, n_pos=int(y.sum()), n_neg=int((1 - y).sum()), level=0.9, method=method, pc=POINTS)
        np.testing.assert_array_equal(line.get_xdata(), POINTS)
        np.testing.assert_array_equal(line.get_ydata(), expected.probability)
    assert [line.get_ydata()[0] for line in display.level_] == [0.9]
    assert display.ax_.get_ylim()[1] == 1
    assert display.ax_.get_ylim()[0] <= min(line.get_ydata().min() for line in display.line_)
    two = cc.CoverageDisplay.from_predictions(y, scores, method="wilson", pc=[0.5])
    assert two.names == ("wide", "narrow")


def test_coverages_are_named_by_what_they_differ_in():
    world = cc.Binormal(3, 3)
    sizes = [cc.coverage(world, n_pos=n, n_neg=10, pc=0.5) for n in (10, 20)]
    assert cc.CoverageDisplay(sizes).names == ("10 + 10 examples", "20 + 10 examples")
    both = [*sizes, cc.coverage(world, n_pos=10, n_neg=10, pc=0.5, method="gaussian", level=0.9)]
    assert cc.CoverageDisplay(both).names[-1] == "gaussian, 10 + 10 examples, 90 %"
    with pytest.raises(cc.InputError, match="`coverages` must have different names, got 'shift 3' twice"):
        cc.CoverageDisplay([sizes[0], sizes[0]])


def test_power_is_that_of_the_core():
    truth, predictions = three_classes()
    costs = {"as given": COSTS, "even": cc.CostMatrix(np.ones((3, 3)) - np.eye(3), labels=COSTS.labels)}
    display = cc.PowerDisplay.from_predictions(truth, predictions, costs=costs, n=300, difference=[0, 0.2, 0.4])
    for line, (name, matrix) in zip(display.line_, costs.items(), strict=True):
        expected = cc.power_curve(joint(), matrix, n=300, difference=[0, 0.2, 0.4])
        np.testing.assert_array_equal(line.get_xydata(), np.stack([expected.x, expected.power], 1))
        assert line.get_label() == name
    assert display.ax_.get_xlabel() == "difference in expected cost"
    assert display.wanted_.get_ydata()[0] == 0.8
    relative = display.plot(relative_to=0.5, wanted=None)
    assert relative.line_[0].get_xdata().tolist() == [0, 0.4, 0.8]
    assert relative.ax_.get_xlabel() == "difference in expected cost / 0.5"
    assert relative.wanted_ is None


def test_sizes_of_many_magnitudes_have_a_logarithmic_axis():
    wide, narrow = ([cc.power_curve(joint(), COSTS, n=n)] for n in ([10, 100, 1000], [100, 200]))
    assert cc.PowerDisplay(wide).plot().ax_.get_xscale() == "log"
    assert cc.PowerDisplay(narrow).plot().ax_.get_xscale() == "linear"
    with pytest.raises(cc.InputError, match="`relative_to` must come with curves over `difference`"):
        cc.PowerDisplay(wide).plot(relative_to=2)


@pytest.mark.parametrize("missed", [False, True])
def test_ranges_over_cost_matrices_are_drawn_beside_each_other(missed):
    x = np.array([0.001, 0.01, 0.1, 1.0])
    chances = np.array([[0.1, 0.2, 0.6, 1.0], [0.05, 0.4, 0.9, 1.0]])
    curves = [cc.PowerCurve.of(name, "changed", x, chances**power, 0.95) for name, power in (("M1", 1), ("M6", 2))]
    display = cc.PowerDisplay(curves).plot(missed=missed, wanted=None)
    places = []
    for bars, curve in zip(display.range_, curves, strict=True):
        low, high = (1 - curve.high, 1 - curve.low) if missed else (curve.low, curve.high)
        for (start, end), at, least, most in zip(bars.get_segments(), x, low, high, strict=True):
            assert (start[0], end[0]) == (at, at)
            assert sorted([start[1], end[1]]) == pytest.approx([least, most])
        places.append(bars.get_transform().transform(np.stack([x, x], axis=1))[:, 0])
    assert (places[1] - places[0] > 1).all()
    assert display.ax_.get_xlim()[1] > 1


def test_power_needs_what_varies_and_two_classifiers():
    truth, predictions = three_classes()
    with pytest.raises(cc.InputError, match="`n` must be given to PowerDisplay, got none"):
        cc.PowerDisplay.from_predictions(truth, predictions, costs=COSTS)
    with pytest.raises(cc.InputError, match="`pair` must name two of 'classifier', got None"):
        cc.PowerDisplay.from_predictions(truth, predictions["first"], costs=COSTS, n=[10, 20])
    over = [
        cc.power_curve(joint(), COSTS, n=[10, 20]),
        cc.power_curve(joint(), COSTS, n=10, difference=[0, 1], name="d"),
    ]
    with pytest.raises(cc.InputError, match="`curves` must all vary `n` or all vary `difference`, got both"):
        cc.PowerDisplay(over)


def test_thresholds_that_may_be_the_best_at_a_condition_are_shaded_at_all():
    y, scores = two_classes()
    display = cc.CostCurveDisplay.from_predictions(y, scores, condition=0.4, threshold_set=0.9)
    assert len(display.threshold_set_) == 2
    found = cc.CostCurve(cc.RocCurve.from_predictions(y, scores["wide"])).threshold_set(0.4, level=0.9)
    low, high = found.costs_over([0.0, 0.4, 1.0])
    assert (low[0], high[0]) == pytest.approx((found.fpr.min(), found.fpr.max()))
    assert (low[1], high[1]) == pytest.approx((found.cost.min(), found.cost.max()))
    assert (low[2], high[2]) == pytest.approx((1 - found.tpr.max(), 1 - found.tpr.min()))
    edge = display.threshold_set_[0].get_paths()[0].vertices
    assert edge[np.isclose(edge[:, 0], 0.4), 1].max() == pytest.approx(found.cost.max())
    with pytest.raises(cc.InputError, match="`threshold_set` must come with one condition as `condition`, got 0"):
        cc.CostCurveDisplay.from_predictions(y, scores, threshold_set=0.9)
    plt.close("all")


def test_folds_that_are_cross_fitted_make_one_curve_and_one_difference():
    rng = np.random.default_rng(4)
    y, fold = rng.random(200) < 0.4, rng.integers(0, 4, 200)
    predictions = cc.Predictions(y, {"a": rng.normal(y), "b": rng.normal(y)}, folds=fold)
    display = cc.CostCurveDisplay.from_predictions(predictions, policy="crossfit", level=0.9)
    for curve in display.curves:
        assert curve.fnr.tolist() == predictions.curve(curve.name, policy="crossfit").fnr.tolist()
        assert display.bands[curve.name].level == 0.9
    assert not display.folds
    drawn = cc.CostDifferenceDisplay.from_predictions(predictions, policy="crossfit").difference
    assert drawn.lower.tolist() == predictions.compare("a", "b", policy="crossfit").lower.tolist()


def test_resampled_test_sets_are_lines_of_whole_counts_around_the_line():
    roc = cc.RocCurve.from_confusion_matrix([[6, 4], [4, 16]], name="tree")  # 2005, figures 11 and 12
    curve = cc.CostCurve(roc, policy=cc.thresholds.point(1))
    band = curve.band(level=0.9, method="resample")
    display = cc.CostCurveDisplay.from_results(curve, bands=band, n_resamples=100)
    ends = np.array([path.vertices[:, 1] for path in display.resampled_["tree"].get_paths()])
    assert ends.shape == (100, 2)
    counts = ends * [10, 20]
    np.testing.assert_allclose(counts, counts.round(), atol=1e-9)
    assert abs(counts.mean(axis=0) - 4).max() < 4 * np.sqrt(10 * 0.4 * 0.6 / 100)
    assert display.ax_.get_ylim()[1] >= band.upper.max()
    with pytest.raises(cc.InputError, match="`n_resamples` must be"):
        cc.CostCurveDisplay(curve).plot(n_resamples=0)


def test_the_cost_of_every_threshold_is_that_of_the_decisions_that_it_makes():
    y, scores = two_classes()
    display = cc.ThresholdDisplay.from_predictions(y, scores, condition=0.3)
    for line, dot, score in zip(display.line_, display.best_, scores.values(), strict=True):
        x, cost = line.get_xydata().T
        # The line has at each place the value of the next point to the right, as its drawing style says.
        assert line.get_drawstyle() == "steps-pre"
        places = np.linspace(x[0] + 1e-9, x[-1], 333)
        shown = cost[np.searchsorted(x, places)]
        flagged = score[:, None] >= places
        expected = 0.3 * (~flagged[y == 1]).mean(axis=0) + 0.7 * flagged[y == 0].mean(axis=0)
        np.testing.assert_allclose(shown, expected)
        assert dot.get_ydata()[0] == pytest.approx(min(cost))
        assert cost[np.searchsorted(x, dot.get_xdata()[0])] == pytest.approx(min(cost))
    found = cc.CostCurve.from_predictions(y, scores["wide"]).threshold_set(0.3, level=0.9)
    shaded = cc.ThresholdDisplay.from_predictions(y, scores["wide"], condition=0.3, threshold_set=0.9).set_
    assert sorted(one.get_x() for one in shaded) == pytest.approx(sorted(found.low))
    with pytest.raises(cc.InputError, match="`curves` must come from scores, got 'model'"):
        cc.ThresholdDisplay(cc.RocCurve.from_rates(0.1, 0.6, name="model"))
