"""ROC curves with their convex hull, iso-performance lines, and the part of the hull for a range of conditions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np

from costcurves._base.validation import FloatArray
from costcurves.conditions.condition import pc_to_slope
from costcurves.curves.choices import ALWAYS_NEGATIVE, ALWAYS_POSITIVE, Decision
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.hull import RocHull
from costcurves.displays._base import Axes, ScoreDisplay
from costcurves.displays._conditions import LineSettings, Marked, Names, read_marks
from costcurves.displays._placing import Label, Words, beside, label_each
from costcurves.displays._scores import Sample
from costcurves.displays._style import (
    AS_IS,
    COLUMN,
    GREY,
    INK,
    PALE,
    ROW_WIDTH,
    Margins,
    drawn_before,
    marker,
    one_or_all,
    whole_markers,
    wrapped,
)

# The size of axes of 2.78 inches with their labels.
SQUARE = (COLUMN, 3.34)
SQUARE_MARGINS: Margins = (0.5, 0.12, 0.42, 0.14)
_X_LABEL, _Y_LABEL = "false positive rate (negatives flagged)", "true positive rate (positives flagged)"


# The dashes of lines of equal cost, and the markers of their best points, which differ between conditions.
_ISO_DASHES = ((0, (4, 2)), (0, (8, 2)), (0, (6, 2, 1, 2)), (0, (2, 2)))
_BEST_MARKERS = ("o", "s", "D", "^")
# The sides of the corner that is shown if all curves come near to perfection there.
_SIDES = (0.05, 0.1, 0.2, 0.4)


def roc_axes(ax: Any, chance: bool, curves: Sequence[FloatArray], points: Sequence[tuple[float, float]] = ()) -> Any:
    """Set up the axes of ROC space, enlarged if all curves lie in a corner, and draw the diagonal if requested.

    The corner is a square of about four times the distance of the curves from perfection. Points that are outside of it
    keep the whole space in view.
    """
    side = 1.0
    if not ax.has_data():
        distances = [float(np.maximum(one[:, 0], 1 - one[:, 1]).min()) for one in curves if len(one)]
        needed_side = max([4 * max(distances, default=1.0), *(max(x, 1 - y) for x, y in points)])
        side = next((one for one in _SIDES if one >= needed_side), 1.0)
    ax.set(xlim=(0, side), ylim=(1 - side, 1), xlabel=_X_LABEL, ylabel=_Y_LABEL)
    ax.set_aspect("equal", adjustable="box")
    if not chance:
        return None
    style = {"color": GREY, "linewidth": 0.7, "linestyle": (0, (1, 1.5)), "zorder": 1}
    (drawn,) = ax.plot([0, 1], [0, 1], **style)
    if side == 1:
        label_each(ax, [drawn], "random guessing")
    return drawn


class RocHullDisplay(ScoreDisplay):
    """ROC curves of several classifiers with their convex hull. Only points on the hull can be best.

    Make it with `from_predictions`, `from_estimator`, `from_cv_results` (which pools the test examples of all folds) or
    `from_results`, which draw immediately, or construct it from a hull and call `plot`.

    Parameters
    ----------
    hull : RocHull, or anything from which a hull can be made

    Attributes
    ----------
    line_ : Line2D, or list of Line2D for several curves
    hull_, shade_ : Line2D and PolyCollection, or None
    iso_, point_, segment_, wedge_, crossing_ : lists of artists
        Iso-performance lines, the chosen points, the segments of the hull for ranges, the wedges in which a trivial
        classifier is best, and the lines that touch two curves with the points where they do.
    chance_ : Line2D or None
    ax_, figure_, legend_

    Notes
    -----
    Figures 1 to 6 of Provost & Fawcett (1997); figures 1, 3, 5 and 7 of Holte & Drummond (2005).

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import costcurves as cc
    >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A"), cc.RocCurve.from_rates(0.4, 0.9, name="C")])
    >>> display = cc.RocHullDisplay(hull).plot(condition=cc.OperatingCondition(1/11, cost_fp=1, cost_fn=10))
    >>> display
    RocHullDisplay('A', 'C')
    >>> len(display.iso_)
    1
    >>> plt.close(display.figure_)
    """

    _size: ClassVar[tuple[float, float]] = SQUARE
    _margins: ClassVar[Margins | None] = SQUARE_MARGINS
    line_: Any = None
    hull_: Any = None
    shade_: Any = None
    chance_: Any = None
    iso_: list[Any]
    point_: list[Any]
    segment_: list[Any]
    wedge_: list[Any]
    crossing_: list[Any]

    def __init__(self, hull: Any) -> None:
        self.hull = hull if isinstance(hull, RocHull) else RocHull(hull)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the classifiers, in the order of the colours."""
        return self.hull.names

    @classmethod
    def _from_sample(cls, sample: Sample) -> Self:
        return cls(RocHull(sample.curves()))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        names: Names | None = None,
        hull: bool = True,
        shade: bool = True,
        chance: bool = True,
        condition: Marked | None = None,
        null_strategy: bool = False,
        crossings: bool = False,
        points: bool = False,
        legend: bool | str = True,
        curve_kwargs: LineSettings | None = None,
    ) -> Self:
        """Draw the curves and their hull.

        Parameters
        ----------
        ax, legend, curve_kwargs
            As for `CostCurveDisplay.plot`.
        names : str or sequence of str, optional
            The classifiers whose curves are drawn, by default all. The hull is always that of all classifiers.
        hull, shade : bool
            Whether to draw the hull, and whether to shade the region that no classifier reaches.
        chance : bool
            Whether to draw the diagonal, which corresponds to random guessing.
        condition : OperatingCondition, pc, OperatingRange or Decision, or a list of them
            For a condition, the iso-performance line through its best point is drawn, and the point is named. For a
            range, the lines of its two ends and the segment of the hull between them are drawn.
        null_strategy : bool
            Whether to shade the wedges of slopes at which it is best to do nothing or to always raise an alarm.
        crossings : bool
            Whether to draw the lines of equal cost that touch two of the curves. At a steeper slope one of the two is
            cheaper, at a shallower slope the other.
        points : bool
            Whether to draw the points of each curve instead of the line that joins them.
        """
        given = {"hull": hull, "shade": shade, "chance": chance, "null_strategy": null_strategy}
        given |= {"points": points, "crossings": crossings}
        shown_names, options, flags = self._checked(ax, names, curve_kwargs, **given)
        markers = {name: marker(place) for place, name in enumerate(self.names, drawn_before(ax))}
        marks = read_marks(condition)

        def draw(axes: Any) -> Words:
            all_of = self.hull
            decisions = [*(all_of.best(one) for one in marks.conditions), *marks.decisions]
            ends = [all_of.best(end) for span in marks.ranges for end in span.corners]
            marked = [(one.fpr, one.tpr) for one in (*decisions, *ends)]
            self.chance_ = roc_axes(
                axes, flags["chance"], [_drawn_points(all_of, name) for name in shown_names], marked
            )
            self.shade_ = None
            if flags["shade"]:
                self.shade_ = axes.fill_between(all_of.fpr, all_of.tpr, 1, color=PALE, linewidth=0, zorder=0)
                label_each(axes, [self.shade_], "beyond all classifiers")
            drawn = [
                _draw_classifier(axes, all_of, name, {"marker": markers[name], **options[name]}, points=points)
                for name in shown_names
            ]
            touching = _touching(all_of, shown_names) if flags["crossings"] else []
            self.crossing_ = [artist for one in touching for artist in _draw_touching(axes, *one)]
            self.line_ = one_or_all(drawn)
            self.hull_ = None
            if flags["hull"]:
                style = {"color": INK, "linewidth": 0.9, "zorder": 2.8, "label": "convex hull"}
                self.hull_ = axes.plot(all_of.fpr, all_of.tpr, **style)[0]
            self.wedge_ = _draw_wedges(axes, all_of) if flags["null_strategy"] else []
            self.segment_ = [_draw_segment(axes, all_of, span) for span in marks.ranges]
            at_ends = [_draw_iso(axes, end) for end in ends]
            label_each(axes, at_ends, "same cost, ends of the range")
            self.iso_, self.point_, labels = at_ends, [], []
            for place, decision in enumerate(decisions):
                self.iso_.append(_draw_iso(axes, decision, place))
                self.iso_[-1].set_label(f"same cost at pc {decision.condition.pc:.2g}")
                labels.append(_draw_decision(axes, decision, place))
                self.point_ += [labels[-1].artist, labels[-1].text]
            return Words(legend, "lower right", self.names, labels)

        return self._draw(ax, draw)


def _drawn_points(hull: RocHull, name: str) -> FloatArray:
    """The points of a classifier that are drawn: all, or those that the hull keeps."""
    if not hull.has_curves:
        return np.stack(hull.points_of(name), 1)
    curve = hull.roc_curve(name)
    return np.stack([curve.fpr, curve.tpr], 1)


def _draw_classifier(ax: Any, hull: RocHull, name: str, options: dict[str, Any], *, points: bool) -> Any:
    """Draw one classifier as a line, or as points if it has no scores or if only some points are kept."""
    if hull.has_curves and not points:
        curve = hull.roc_curve(name)
        if curve.has_thresholds:
            return ax.plot(curve.fpr, curve.tpr, **{"linewidth": 1.1, "zorder": 3, **options, "marker": None})[0]
    shown = _drawn_points(hull, name)[1:-1] if hull.has_curves else _drawn_points(hull, name)
    return whole_markers(ax, ax.plot(*shown.T, **{"markersize": 4.5, "zorder": 4, **options, "linestyle": "none"})[0])


def _touching(hull: RocHull, names: Sequence[str]) -> list[tuple[Decision, Decision]]:
    """Find the points at which a line of equal cost touches two curves, for every pair and every such line."""
    found = []
    for two in combinations([hull.roc_curve(name) for name in names], 2):
        first, second = (CostCurve(one) for one in two)
        found += [(RocHull([two[0]]).best(pc), RocHull([two[1]]).best(pc)) for pc in first.crossings(second)]
    return found


def _draw_touching(ax: Any, first: Decision, second: Decision) -> list[Any]:
    label = f"equal cost of both at pc {first.condition.pc:.2g}"
    style = {"slope": first.condition.slope, "color": INK, "linewidth": 0.9, "zorder": 2, "label": label}
    dots = {"color": INK, "linestyle": "none", "marker": "o", "markersize": 4, "markerfacecolor": "white", "zorder": 4}
    line = ax.axline((first.fpr, first.tpr), **style)
    return [line, *ax.plot([first.fpr, second.fpr], [first.tpr, second.tpr], **dots)]


def _draw_iso(ax: Any, decision: Decision, place: int = 0) -> Any:
    """Draw the line of equal cost through a decision; lines at other places in a list have other dashes."""
    style = {"color": GREY, "linewidth": 0.9, "linestyle": _ISO_DASHES[place % len(_ISO_DASHES)], "zorder": 1}
    return ax.axline((decision.fpr, decision.tpr), slope=decision.condition.slope, **style)


def _draw_decision(ax: Any, decision: Decision, place: int) -> Label:
    at = (decision.fpr, decision.tpr)
    marker = _BEST_MARKERS[place % len(_BEST_MARKERS)]
    (dot,) = ax.plot(*at, linestyle="none", marker=marker, markersize=5, color=INK, zorder=5)
    style = {"textcoords": "offset points", "fontsize": "small", "zorder": 6, "annotation_clip": True, **AS_IS}
    text = ax.annotate(_short(decision), at, (6, -4), **style)
    return Label(text, beside(6, 14), whole_markers(ax, dot), _short(decision, " "))


def _short(decision: Decision, apart: str = "") -> str:
    """Describe the classifier and its threshold in few digits, on two lines if the name is long."""
    name, cut = decision.classifier, decision.threshold_text
    if not cut:
        return name
    if apart or len(name + cut) <= 20:
        return f"{name}, score ≥ {cut}"
    return f"{wrapped(name, ROW_WIDTH)}\nscore ≥ {cut}"


def _draw_segment(ax: Any, hull: RocHull, span: Any) -> Any:
    part = hull.segment(span)
    style = {"color": INK, "linewidth": 2.4, "marker": "o", "markersize": 3.4, "solid_capstyle": "round", "zorder": 3.6}
    label = f"best for pc {span.pc[0]:.2g} to {span.pc[1]:.2g}"
    return whole_markers(ax, ax.plot(hull.fpr[part], hull.tpr[part], label=label, **style)[0])


def _draw_wedges(ax: Any, hull: RocHull) -> list[Any]:
    """Shade the iso-performance lines through (0, 0) and (1, 1) for which a trivial classifier is best."""
    artists: list[Any] = []
    ranges = hull.ranges()
    style = {"edgecolor": GREY, "hatch": "//", "linewidth": 0.5, "zorder": 0.6}
    for _, high in ranges.where(ALWAYS_NEGATIVE):
        slope = pc_to_slope(high)
        corners = [(0, 0), (0, 1), (min(1 / slope, 1.0), min(slope, 1.0))] if slope > 0 else [(0, 0), (0, 1), (1, 0)]
        label = f"flag nothing: pc under {high:.2g}"
        artists += ax.fill(*np.array(corners, dtype=float).T, facecolor="#CFCFCF", label=label, **style)
    for low, _ in ranges.where(ALWAYS_POSITIVE):
        slope = min(pc_to_slope(low), 1e9)
        corners = [(1, 1), (0, 1), (max(0.0, 1 - 1 / slope), max(0.0, 1 - slope))]
        label = f"flag all: pc over {low:.2g}"
        artists += ax.fill(*np.array(corners, dtype=float).T, facecolor="#F4F4F4", label=label, **style)
    return artists
