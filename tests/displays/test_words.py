"""Words never cover data: legends and labels in small axes, with many long names, and after the limits are changed."""

from __future__ import annotations

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest

import costcurves as cc
from displays_data import CASES, hull, listed, three_classes, two_classes

NINE = (
    "gradient boosting, 500 trees", "logistic regression, L2", "random forest, balanced", "naive Bayes (kernel)",
    "support vectors, RBF, C = 10", "k nearest neighbours, k = 15", "neural network, two layers",
    "rules of the back office", "decision tree, pruned, Laplace",
)  # fmt: skip
HERE = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)
SPAN = cc.OperatingRange(prevalence=(0.1, 0.4), cost_fp=1, cost_fn=(3, 8))
SIZES = ((2.3, 1.9), (3.4, 2.75), (6.4, 4.4))


def made(name, count, ax, **more):
    """Return a display of 2, 4 or 9 classifiers on given axes."""
    case, rng = CASES[name], np.random.default_rng(count)
    names = NINE[:count] if count > 4 else ("forest", "logit", "bayes", "knn")[:count]
    if case.labels:
        truth, answers = three_classes()
        first, second = answers.values()
        answers = {one: np.where(rng.random(truth.size) < rng.random(), first, second) for one in names}
        if name == "power":
            costs = {one: np.ones((3, 3)) - (1 - k / 20) * np.eye(3) * (1 + k) for k, one in enumerate(names)}
            costs = {one: cc.CostMatrix(abs(table), labels=["x", "y", "z"]) for one, table in costs.items()}
            more, answers = {**more, "costs": costs}, dict(list(answers.items())[:2])
        return case.kind.from_predictions(truth, answers, ax=ax, **{**case.options, **more})
    y, scores = two_classes()
    wide, narrow = scores.values()
    scores = {one: wide + rng.normal(0, 0.4, y.size) + 0.3 * k * narrow for k, one in enumerate(names)}
    if name == "difference":
        more = {**more, "pair": names[:2]}
    if name == "coverage":
        scores = {one: scores[one] for one in names[: max(1, count // 2)]}
    return case.kind.from_predictions(y, scores, ax=ax, **{**case.options, **more})


def data_of(display):
    """Return the artists of a display that show data: lines, bands, regions and bars."""
    found = []
    for what in ("line_", "band_", "hull_", "envelope_", "curve_line_", "segment_"):
        found += [one for one in listed(getattr(display, what, None)) if one is not None]
    for what in ("significant_", "fold_line_", "region_", "bar_"):
        for artists in getattr(display, what, {}).values():
            found += listed(artists)
    return found


def pixels(artist):
    """Return points of an artist in pixels, so close together that no word fits between them."""
    paths = artist.get_paths() if hasattr(artist, "get_paths") else [artist.get_path()]
    points = []
    for path in paths:
        corners = artist.get_transform().transform(path.vertices)
        corners = corners[np.isfinite(corners).all(axis=1)]
        for start, end in pairwise(corners):
            steps = int(np.clip(np.hypot(*(end - start)) / 2, 1, 4000))
            points.append(start + np.linspace(0, 1, steps + 1)[:, None] * (end - start))
    return np.concatenate(points) if points else np.empty((0, 2))


def lies_under(text, points):
    """Say whether points in pixels lie under a text, which may be rotated about its position."""
    angle = np.radians(text.get_rotation())
    if angle == 0:
        return bool(text.get_window_extent().count_contains(points))
    at = text.get_transform().transform(text.get_position())
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    kept = text.get_rotation(), text.get_transform_rotates_text()
    text.set(rotation=0, transform_rotates_text=False)
    level = text.get_window_extent()
    text.set(rotation=kept[0], transform_rotates_text=False)
    return bool(level.count_contains((points - at) @ turn + at))


def covering(display):
    """Return the words that cover data of a display."""
    display.figure_.canvas.draw()
    ax = display.ax_
    inside = ax.get_window_extent()
    points = np.concatenate([pixels(one) for one in data_of(display)])
    keep = (points >= inside.min - 1).all(axis=1) & (points <= inside.max + 1).all(axis=1)
    found = [text.get_text() for text in ax.texts if text.get_visible() and lies_under(text, points[keep])]
    legend = ax.get_legend()
    return found + (["legend"] if legend and legend.get_window_extent().count_contains(points[keep]) else [])


@pytest.mark.parametrize(("size", "count"), [(SIZES[0], 2), (SIZES[0], 9), (SIZES[2], 4)])
@pytest.mark.parametrize("name", CASES)
def test_words_cover_no_data_and_stay_within_the_figure(name, size, count):
    options = {
        "cost": {"condition": hull().best(HERE), "crossings": count == 2},
        "roc": {"condition": [HERE, SPAN]},
        "difference": {"with_curves": True},
        "dominance": {"condition": SPAN},
        "simplex": {"mark": {"even": [1 / 3] * 3}},
    }.get(name, {})
    with cc.figure_style():
        _, ax = plt.subplots(figsize=size, layout="constrained")
        display = made(name, count, ax, **options)
    assert covering(display) == []
    figure, legend = display.figure_.bbox, display.legend_
    assert ax.get_window_extent().height > (0.25 if size[0] < 3 else 0.35) * figure.height
    if legend is not None:
        box = legend.get_window_extent()
        assert figure.x0 - 1 <= box.x0
        assert box.x1 <= figure.x1 + 1
        assert box.y0 >= figure.y0 - 1
        texts = [text.get_text() for text in legend.get_texts()]
        names = display.names if name in ("cost", "roc", "averaged", "power") else ()
        assert [one for one in names if not any(text.startswith(one[:12]) for text in texts)] == []
        labels = [one.xaxis.label for one in (ax, *ax.child_axes) if ax.axison]
        assert not any(box.overlaps(label.get_window_extent()) for label in labels if label.get_text())


@pytest.mark.parametrize("count", [4, 9])
def test_the_names_of_rows_do_not_overlap(count):
    for size in SIZES:
        with cc.figure_style():
            _, ax = plt.subplots(figsize=size, layout="constrained")
            made("dominance", count, ax)
        ax.figure.canvas.draw()
        boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
        assert all(a.y0 >= b.y1 - 1.5 for a, b in pairwise(boxes))
        assert min(box.x0 for box in boxes) >= -1


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", ["cost", "difference", "coverage"])
def test_labels_of_axes_lie_within_the_figure(name, size):
    with cc.figure_style():
        _, ax = plt.subplots(figsize=size, layout="constrained")
        display = made(name, 9, ax, **({} if name == "coverage" else {"secondary_axis": "slope"}))
    display.figure_.canvas.draw()
    figure = display.figure_.bbox
    for one in (ax, *ax.child_axes):
        for label in (one.xaxis.label, one.yaxis.label):
            box = label.get_window_extent()
            assert not label.get_text() or (box.x0 >= -1 and box.y0 >= -1), label.get_text()
            assert not label.get_text() or (box.x1 <= figure.x1 + 1 and box.y1 <= figure.y1 + 1), label.get_text()


def test_a_figure_without_layout_makes_room_for_a_legend_below():
    _, ax = plt.subplots()
    display = made("cost", 9, ax)
    display.figure_.canvas.draw()
    legend = display.legend_.get_window_extent()
    assert legend.y1 < ax.get_window_extent().y0
    assert legend.y0 >= -1


def near_perfect():
    """Return labels and scores of two classifiers that make few errors."""
    rng = np.random.default_rng(7)
    y = np.arange(400) % 2
    return y, {"first": 4.4 * y + rng.normal(0, 1, 400), "second": 4 * y + rng.normal(0, 1, 400)}


def test_pictures_are_enlarged_where_all_curves_lie_in_a_corner():
    y, scores = near_perfect()
    cost = cc.CostCurveDisplay.from_predictions(y, scores)
    highest = max(float(curve.vertices[:, 1].max()) for curve in cost.curves)
    assert highest < cost.ax_.get_ylim()[1] <= max(1.5 * highest + 0.01, 0.02)
    roc = cc.RocHullDisplay.from_predictions(y, scores)
    (left, right), (low, high) = roc.ax_.get_xlim(), roc.ax_.get_ylim()
    assert (left, high) == (0, 1)
    assert right == pytest.approx(1 - low)
    assert right < 0.5
    for curve in roc.hull.roc_curves().values():
        assert ((curve.fpr < right / 2) & (curve.tpr > 1 - right / 2)).any()
    # A point that lies outside keeps the whole space in view, and so do curves that were drawn before.
    assert cc.RocHullDisplay.from_predictions(y, scores, condition=1.0).ax_.get_xlim()[1] in (right, 1.0)
    _, ax = plt.subplots()
    CASES["roc"].make(ax=ax)
    assert cc.RocHullDisplay.from_predictions(y, scores, ax=ax).ax_.get_xlim() == (0, 1)
    assert CASES["roc"].make().ax_.get_xlim() == (0, 1)
    assert cc.AveragedRocDisplay.from_predictions(y, scores).ax_.get_xlim()[1] < 0.5


@pytest.mark.parametrize("name", ["cost", "roc", "averaged", "difference", "dominance", "coverage"])
@pytest.mark.parametrize("limits", [((0, 0.2), (0, 0.1)), ((0.6, 1), (0.3, 0.9)), ((0, 1), (0, 1))], ids=str)
def test_other_limits_leave_no_words_outside_of_the_axes(name, limits):
    with cc.figure_style():
        _, ax = plt.subplots(figsize=(3.4, 2.9), layout="constrained")
        options = {"condition": hull().best(HERE)} if name in ("cost", "roc") else {}
        display = made(name, 4, ax, **options)
    ax.set(xlim=limits[0], ylim=limits[1])
    display.figure_.canvas.draw()
    inside = ax.get_window_extent().padded(1.5)
    for text in ax.texts:
        drawn = text.get_visible() and (not hasattr(text, "xy") or inside.contains(*ax.transData.transform(text.xy)))
        box = text.get_window_extent() if drawn else None
        clipped = text.get_clip_on()
        assert box is None or clipped or (inside.x0 <= box.x0 and box.x1 <= inside.x1 and box.y1 <= inside.y1)
    assert all(line.get_clip_on() for line in ax.lines)


def test_the_second_axis_has_round_numbers_in_every_view():
    display = CASES["cost"].make(condition=HERE, secondary_axis="prevalence")
    display.ax_.set_xlim(0, 0.2)
    display.figure_.canvas.draw()
    texts = [label.get_text() for label in display.secondary_ax_.get_xticklabels()]
    places = [cc.OperatingCondition(float(text), cost_fp=1, cost_fn=5).pc for text in texts]
    assert len(texts) >= 3
    assert display.secondary_ax_.get_xticks().tolist() == pytest.approx(places)
    assert max(places) < 0.2


def test_a_legend_moves_away_from_curves_when_the_limits_change():
    line = cc.CostCurve(cc.RocCurve.from_rates(0.0, 0.3, name="a"), policy=cc.thresholds.point(1))
    display = cc.CostCurveDisplay(line).plot(trivial=False)
    assert covering(display) == []
    display.ax_.set_xlim(1, 0)
    assert covering(display) == []


def test_everything_that_is_drawn_thin_or_shaded_is_explained():
    X = np.random.default_rng(0)
    y = X.random(200) < 0.4
    folds = cc.Predictions(y, {"a": X.normal(y), "b": X.normal(y)}, folds=X.integers(0, 4, 200))
    told = {
        "cost": cc.CostCurveDisplay.from_predictions(
            folds,
            policy=cc.thresholds.fixed(0.5),
            level=0.9,
            operating_range=True,
            crossings=True,
            condition=[HERE, SPAN],
        ),
        "lines": CASES["cost"].make(lines=True, level=0.9, simultaneous=True),
        "averaged": cc.AveragedRocDisplay.from_predictions(folds, interval="binomial", with_folds=True),
        "roc": CASES["roc"].make(condition=[HERE, SPAN]),
        "coverage": CASES["coverage"].make(),
        "power": CASES["power"].make(),
        "simplex": CASES["simplex"].make(),
    }
    words = {name: [text.get_text() for text in display.legend_.get_texts()] for name, display in told.items()}
    assert {"thin lines: single folds", "90 % limits, at each pc", "the marked range"} <= {*words["cost"]}
    assert {"bars below: operating range", f"the marked condition, pc {HERE.pc:.2g}"} <= {*words["cost"]}
    assert any(text.startswith("crossing") for text in words["cost"])
    assert {"thin lines: single thresholds", "90 % limits, jointly at all pc"} <= {*words["lines"]}
    assert {"thin lines: single folds", "95 % limits of the mean", "random guessing"} <= {*words["averaged"]}
    assert {"beyond all classifiers", "same cost, ends of the range", "random guessing"} <= {*words["roc"]}
    assert "promised: 95 %" in words["coverage"]
    assert "wanted: 80 %" in words["power"]
    assert {"this test set", "grid: 20, 40, 60 and 80 % of each class"} <= {*words["simplex"]}


def test_the_priors_of_the_test_set_are_marked_in_the_triangle():
    truth, _ = three_classes()
    display = CASES["simplex"].make()
    share = np.array([(truth == label).mean() for label in "xyz"])
    corners = np.array([[0, 0], [1, 0], [0.5, np.sqrt(0.75)]])
    np.testing.assert_allclose(display.own_.get_xydata()[0], share @ corners, atol=1e-12)
    assert cc.PriorSimplexDisplay(display.hull).plot().own_ is None
    with pytest.raises(cc.CostCurvesError, match="`own`"):
        cc.PriorSimplexDisplay(display.hull, own=[0.5, 0.9, 0.1])
