"""Cost curves: lines, envelopes, the trivial classifiers, operating ranges, crossings, bands and folds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Self

from costcurves._base.errors import InputError, UnsupportedError
from costcurves._base.validation import check_flag, check_integer, check_unique, shown
from costcurves.conditions.range import default_points
from costcurves.curves.averages import as_cost_curves, average_cost_curves
from costcurves.curves.choices import ALWAYS_NEGATIVE, ALWAYS_POSITIVE, Decision
from costcurves.curves.cost_curve import CostCurve, as_cost_curve
from costcurves.curves.hull import RocHull
from costcurves.curves.threshold_sets import ThresholdSet
from costcurves.curves.thresholds import as_policy
from costcurves.decisions.average_band import average_band
from costcurves.displays._base import Axes, ScoreDisplay
from costcurves.displays._conditions import (
    LineSettings,
    Marked,
    Marks,
    Names,
    SecondaryAxis,
    mark_on_pc,
    money_axis,
    pc_axis,
    read_marks,
    second_axis,
)
from costcurves.displays._placing import Label, Words, beside, label_each
from costcurves.displays._scores import Sample
from costcurves.displays._style import (
    AS_IS,
    GREY,
    INK,
    ROW_WIDTH,
    one_or_all,
    wrapped,
)
from costcurves.inference.bands.results import Band


class CostCurveDisplay(ScoreDisplay):
    """Cost curves of one or several classifiers, which show what each costs at every operating condition.

    Make it with `from_predictions`, `from_estimator`, `from_cv_results` or `from_results`, which draw immediately, or
    construct it from results and call `plot`. The first three also take

    - ``policy``: the rule for the threshold at each pc, as for `CostCurve` (default "optimal"). With "crossfit" all
      folds make one curve,
    - ``level``: the level of a confidence band to draw (default None, which draws no band). With ``simultaneous=True``
      the band holds at all pc jointly. For folds it is the band of the mean (`average_band`), which needs thresholds
      that were not chosen on the folds.

    Parameters
    ----------
    curves : CostCurve (or RocCurve, RocHull), sequence, or mapping of names to these
    bands : mapping of name to Band, or Band, optional
        Confidence bands, by the name of the curve.
    folds : mapping of name to sequence of curves, optional
        The curves of which a curve is the average, drawn as thin lines.

    Attributes
    ----------
    line_ : Line2D, or list of Line2D for several curves
    band_ : PolyCollection, or list, or None
    cost_line_, fold_line_, resampled_ : dict of name to artist
        The cost lines of all thresholds, the curves of the folds, and those of resampled test sets.
    trivial_, operating_range_, threshold_set_, crossing_, condition_, point_ : lists of artists
    envelope_ : Line2D or None
    ax_, figure_, legend_, secondary_ax_, money_ax_
        Axes, figure, legend, and the second axes if there are any.

    Notes
    -----
    Figures 2 to 10 and 12 of Holte & Drummond (2005).

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import costcurves as cc
    >>> y, score = [0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.35, 0.8, 0.5, 0.6]
    >>> display = cc.CostCurveDisplay.from_predictions(y, score, name="forest", level=0.9, condition=0.4)
    >>> display
    CostCurveDisplay('forest')
    >>> display.line_.get_label()
    'forest'
    >>> plt.close(display.figure_)
    """

    line_: Any = None
    band_: Any = None
    envelope_: Any = None
    secondary_ax_: Any = None
    money_ax_: Any = None
    cost_line_: dict[str, Any]
    fold_line_: dict[str, list[Any]]
    resampled_: dict[str, Any]
    trivial_: list[Any]
    operating_range_: list[Any]
    threshold_set_: list[Any]
    crossing_: list[Any]
    condition_: list[Any]
    point_: list[Any]

    def __init__(self, curves: Any, *, bands: Any = None, folds: Mapping[str, Any] | None = None) -> None:
        self.curves = different_curves(curves)
        if isinstance(bands, Band) and len(self.curves) == 1:
            bands = {self.names[0]: bands}
        self.bands: dict[str, Band] = dict(_by_name("bands", bands, self.names))
        for band in self.bands.values():
            if not isinstance(band, Band):
                raise InputError(f"`bands` must be Bands by name, got {shown(band)} ({type(band).__name__})")
        self.folds = {name: as_cost_curves(listed) for name, listed in _by_name("folds", folds, self.names).items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the curves, in the order of the colours."""
        return tuple(curve.name for curve in self.curves)

    @classmethod
    def _from_sample(
        cls, sample: Sample, *, policy: Any = "optimal", level: float | None = None, simultaneous: bool = False
    ) -> Self:
        curves, bands, folds = [], {}, {}
        rule = as_policy(policy)
        if level is not None and rule.looks and any(len(parts) > 1 for parts in sample.parts.values()):
            raise InputError(
                "`level` must come with thresholds that were not chosen on the folds that judge them, such as "
                f"policy='crossfit', got policy={rule!r}"
            )
        for name in sample.parts:
            if rule.cross_fits:  # the folds judge each other, and make one curve
                tested = [sample.predictions([name]).curve(name, policy=rule)]
            else:
                tested = [CostCurve(roc, rule) for roc in sample.folds(name)]
            if len(tested) == 1:
                curves.append(tested[0])
                if level is not None:
                    bands[name] = tested[0].band(level=level, simultaneous=simultaneous)
                continue
            curves.append(average_cost_curves(tested, name=name))
            folds[name] = tested
            if level is not None:
                if check_flag("simultaneous", simultaneous):
                    raise UnsupportedError("`simultaneous` needs one test set, got folds: leave it out")
                bands[name] = average_band(tested, level=level)
        return cls(curves, bands=bands, folds=folds)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        names: Names | None = None,
        lines: bool = False,
        envelope: bool = False,
        trivial: bool = True,
        operating_range: bool = False,
        crossings: bool = False,
        condition: Marked | None = None,
        secondary_axis: SecondaryAxis | None = None,
        money_axis: bool = False,
        threshold_set: float | None = None,
        n_resamples: int | None = None,
        legend: bool | str = True,
        curve_kwargs: LineSettings | None = None,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on, by default those of a new figure.
        names : str or sequence of str, optional
            The curves to draw, by default all.
        lines : bool
            Whether to draw the cost lines of all thresholds as well.
        envelope : bool
            Whether to draw the cost of the best classifier at each pc, which is the dual of the ROC convex hull.
        trivial : bool
            Whether to draw the classifiers that always predict the same class.
        operating_range : bool
            Whether to show below the axis where each classifier is better than both trivial ones.
        crossings : bool
            Whether to mark where the cheaper of two curves changes.
        condition : OperatingCondition, pc, OperatingRange or Decision, or a list of them
            What to mark. A condition is marked by a dashed line, a range by shading, and a decision also in words.
        secondary_axis : {"prevalence", "cost ratio", "slope"}, optional
            Show pc as prevalence at the costs of `condition`, as cost ratio at its prevalence, or as slope.
        money_axis : bool
            Whether to show the cost per case in money at `condition` on the right.
        threshold_set : float in (0, 1), optional
            Shade the costs of the thresholds that may be the best at `condition`, at every condition
            (`CostCurve.threshold_set` of this level).
        n_resamples : int, optional
            The number of resampled test sets whose curves are drawn as thin lines, at the same thresholds
            (`CostCurve.resampled`).
        legend : bool or str
            Whether to draw a legend, or where to place it.
        curve_kwargs : dict, list of dict, or mapping of name to dict
            matplotlib settings for the lines of the curves.
        """
        given = {"lines": lines, "envelope": envelope, "trivial": trivial, "crossings": crossings}
        given["operating_range"] = operating_range
        shown_names, options, flags = self._checked(ax, names, curve_kwargs, **given)
        marks = read_marks(condition)
        number = 0 if n_resamples is None else check_integer("n_resamples", n_resamples, 1, 10_000)
        sets = [] if threshold_set is None else [self._one_set(name, marks, threshold_set) for name in shown_names]

        def draw(axes: Any) -> Words:
            curves = [curve for name in shown_names for curve in self.curves if curve.name == name]
            shown_bands = [self.bands[name] for name in shown_names if name in self.bands]
            top = _limits(axes, curves, shown_bands)
            labels = _draw_trivial(axes, top) if flags["trivial"] else []
            self.trivial_ = [artist for one in labels for artist in (one.artist, one.text)]
            self.condition_ = mark_on_pc(axes, marks)
            self.cost_line_ = {c.name: _draw_lines(axes, c, options[c.name]) for c in curves} if flags["lines"] else {}
            self.fold_line_ = {
                c.name: self._draw_folds(axes, c, options[c.name]) for c in curves if c.name in self.folds
            }
            self.resampled_ = {c.name: _draw_resampled(axes, c, number, options[c.name]) for c in curves if number}
            label_each(axes, list(self.resampled_.values()), f"thin lines: {number} resampled test sets")
            label_each(axes, list(self.cost_line_.values()), "thin lines: single thresholds")
            label_each(axes, [line for lines in self.fold_line_.values() for line in lines], "thin lines: single folds")
            bands = [self._draw_band(axes, c, options[c.name]) for c in curves if c.name in self.bands]
            label_each(axes, bands, _told(shown_bands))
            self.threshold_set_ = [_draw_set(axes, one, options[one.name]["color"]) for one in sets]
            label_each(axes, self.threshold_set_, "thresholds that may be best")
            drawn = [axes.plot(*curve.vertices.T, zorder=3, **options[curve.name])[0] for curve in curves]
            self.envelope_ = self._draw_envelope(axes, curves) if flags["envelope"] else None
            self.crossing_ = _draw_crossings(axes, curves) if flags["crossings"] else []
            self.point_ = _draw_points(axes, curves, marks, options)
            decisions = [_draw_decision(axes, decision) for decision in marks.decisions]
            self.point_ += [artist for one in decisions for artist in (one.artist, one.text)]
            self.line_ = one_or_all(drawn)
            self.band_ = one_or_all(bands)
            self.operating_range_ = _draw_ranges(axes, curves, options) if flags["operating_range"] else []
            self.secondary_ax_ = second_axis(axes, secondary_axis, marks)
            self.money_ax_ = _money(axes, money_axis, marks)
            return Words(legend, "upper right", self.names, [*decisions, *labels])

        return self._draw(ax, draw)

    def _one_set(self, name: str, marks: Marks, level: float) -> ThresholdSet:
        """Return the thresholds of a curve that may be the best at the marked condition."""
        where = [*marks.conditions, *(decision.condition for decision in marks.decisions)]
        if len(where) != 1:
            raise InputError(f"`threshold_set` must come with one condition as `condition`, got {len(where)}")
        return self.curves[self.names.index(name)].threshold_set(where[0], level=level)

    def _draw_folds(self, ax: Any, curve: CostCurve, options: dict[str, Any]) -> list[Any]:
        thin = {"color": options["color"], "linewidth": 0.5, "alpha": 0.45, "zorder": 2}
        return [ax.plot(*fold.vertices.T, **thin)[0] for fold in self.folds[curve.name]]

    def _draw_band(self, ax: Any, curve: CostCurve, options: dict[str, Any]) -> Any:
        band = self.bands[curve.name]
        return ax.fill_between(
            band.pc, band.lower, band.upper, color=options["color"], alpha=0.18, linewidth=0, zorder=2
        )

    def _draw_envelope(self, ax: Any, curves: list[CostCurve]) -> Any:
        rocs = [curve.roc for curve in curves]
        if any(roc is None for roc in rocs):
            raise UnsupportedError("`envelope` needs the ROC points of every classifier, got an average")
        best = CostCurve(RocHull([roc.renamed(c.name) for roc, c in zip(rocs, curves, strict=True) if roc is not None]))
        return ax.plot(
            *best.vertices.T,
            color=INK,
            linewidth=2.6,
            alpha=0.35,
            label="best of all",
            zorder=2.5,
            solid_capstyle="butt",
        )[0]


def different_curves(curves: Any) -> tuple[CostCurve, ...]:
    """Return cost curves with different names, given as one curve, a sequence or a mapping."""
    one = isinstance(curves, CostCurve) or hasattr(curves, "to_roc_curve") or hasattr(curves, "on_hull")
    found = tuple([as_cost_curve(curves)] if one else as_cost_curves(curves))
    check_unique([curve.name for curve in found], "curves")
    return found


def _by_name(what: str, given: Any, names: tuple[str, ...]) -> Mapping[str, Any]:
    """Check a mapping whose keys are names of curves."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"`{what}` must map the names of curves, got {shown(given)} ({type(given).__name__})")
    for name in given:
        if name not in names:
            raise InputError(f"`{what}` must have only names of {', '.join(map(repr, names))}, got {shown(name)}")
    return given


def _limits(ax: Any, curves: list[CostCurve], bands: Sequence[Band]) -> float:
    """Set the limits of the axes, enlarged if all costs are low, and return the highest cost in view.

    An envelope never costs more than one half, and only a band may reach above 1. Bands are shown completely.
    """
    pc_axis(ax)
    highest = max(float(curve.vertices[:, 1].max()) for curve in curves)
    reached = max([highest, *(float(band.upper.max()) for band in bands)])
    top = max(0.5, math.ceil(10 * reached - 0.1) / 10) if highest <= 0.5 else max(1.0, reached)
    if reached <= 0.25 and not ax.has_data():
        top = max(0.02, round(1.5 * reached, 2))
    ax.set(ylim=(0, top), ylabel="expected cost (1 = always wrong)")
    return top


def _told(bands: Sequence[Band]) -> str:
    """Say what the bands of a figure are."""
    levels = ", ".join(f"{100 * level:g} %" for level in sorted({band.level for band in bands}))
    jointly = bool(bands) and all(band.simultaneous for band in bands)
    return f"{levels} limits, {'jointly at all pc' if jointly else 'at each pc'}"


def _draw_trivial(ax: Any, top: float) -> list[Label]:
    """Draw the two classifiers that always predict the same class, each with its name along the line."""
    labels = []
    style = {"color": GREY, "linewidth": 0.8, "linestyle": (0, (1, 1.5)), "zorder": 1}
    words = {"color": GREY, "fontsize": "x-small", "rotation_mode": "anchor", "transform_rotates_text": True}
    for ends, name, angle, told in (
        ([0, 1], ALWAYS_NEGATIVE, 45, f"{ALWAYS_NEGATIVE} (rising line)"),
        ([1, 0], ALWAYS_POSITIVE, -45, f"{ALWAYS_POSITIVE} (falling line)"),
    ):
        (line,) = ax.plot([0, 1], ends, **style)
        # Above the line, towards the edge of the figure, at several heights.
        heights = [part * top for part in (0.6, 0.7, 0.8, 0.86, 0.5, 0.4)]
        across = [(high - 0.025, high + 0.0) if angle > 0 else (1 - high + 0.025, high + 0.0) for high in heights]
        text = ax.text(*across[0], name, rotation=angle, ha="center", va="bottom", clip_on=True, **words)
        labels.append(Label(text, [{"position": place} for place in across], line, told))
    return labels


def _draw_lines(ax: Any, curve: CostCurve, options: dict[str, Any]) -> Any:
    every = curve.lines()
    ends = [[(0.0, at_zero), (1.0, at_one)] for at_zero, at_one in zip(every.fpr, every.fnr, strict=True)]
    return _draw_thin(ax, ends, options, 0.35)


def _draw_resampled(ax: Any, curve: CostCurve, number: int, options: dict[str, Any]) -> Any:
    # A quarter of the lines of a hundred test sets are as dark as one line.
    return _draw_thin(ax, [one.vertices for one in curve.resampled(number)], options, max(0.05, 0.5 - number / 400))


def _draw_thin(ax: Any, lines: Sequence[Any], options: dict[str, Any], alpha: float) -> Any:
    from matplotlib.collections import LineCollection

    drawn = LineCollection(lines, colors=options["color"], linewidths=0.4, alpha=alpha, zorder=1.5)
    return ax.add_collection(drawn)


def _draw_set(ax: Any, found: ThresholdSet, color: Any) -> Any:
    """Shade what the thresholds of a set cost at all conditions, with thin lines around it."""
    pc = default_points()
    low, high = found.costs_over(pc)
    return ax.fill_between(pc, low, high, facecolor=(color, 0.13), edgecolor=(color, 0.6), linewidth=0.5, zorder=1.8)


def _draw_crossings(ax: Any, curves: list[CostCurve]) -> list[Any]:
    artists: list[Any] = []
    for a, b in combinations(curves, 2):
        where = a.crossings(b).pc
        if where.size:
            artists += ax.plot(
                where, a.evaluate(where), linestyle="none", marker="o", markersize=5, markerfacecolor="white",
                markeredgecolor=INK, markeredgewidth=0.9, zorder=4,
            )  # fmt: skip
    found = artists[0].get_xdata() if len(curves) == 2 and artists else ()
    told = ", ".join(f"{pc:.2f}" for pc in found[:4]) + (", …" if len(found) > 4 else "")
    label_each(ax, artists, f"crossing at pc {told}" if told else "crossings")
    return artists


def _draw_points(ax: Any, curves: list[CostCurve], marks: Marks, options: dict[str, dict[str, Any]]) -> list[Any]:
    """Mark the cost of each curve at the conditions."""
    artists: list[Any] = []
    for here in marks.conditions:
        for curve in curves:
            dot = {"marker": "o", "markersize": 4, "color": options[curve.name]["color"], "zorder": 4}
            artists += ax.plot(here.pc, curve.evaluate(here), linestyle="none", **dot)
    return artists


def _draw_decision(ax: Any, decision: Decision) -> Label:
    pc, cost = decision.condition.pc, decision.normalized_cost
    (dot,) = ax.plot(pc, cost, linestyle="none", marker="o", markersize=5.5, color=INK, zorder=5)
    told = f"{decision.expected_cost:.3g} per case"
    words = f"{wrapped(decision.classifier, ROW_WIDTH)}\n{told}"
    style = {"textcoords": "offset points", "fontsize": "small", "zorder": 6, "annotation_clip": True, **AS_IS}
    return Label(ax.annotate(words, (pc, cost), (4, 4), **style), beside(6, 16), dot, f"{decision.classifier}, {told}")


def _draw_ranges(ax: Any, curves: list[CostCurve], options: dict[str, dict[str, Any]]) -> list[Any]:
    """Draw the operating range of each classifier as a bar below the axis, in one row per classifier."""
    artists: list[Any] = []
    low, high = ax.get_ylim()
    row = 0.035 * (high - low)
    ticks = [tick for tick in ax.get_yticks() if low <= tick <= high]
    for i, curve in enumerate(curves):
        spans = [(start, end - start) for start, end in curve.operating_range()]
        y = low - (i + 1.2) * row
        artists.append(ax.broken_barh(spans, (y, 0.6 * row), color=options[curve.name]["color"], linewidth=0, zorder=3))
    ax.set_ylim(low - (len(curves) + 0.9) * row, high)
    ax.set_yticks(ticks)
    artists.append(ax.axhline(low, color=GREY, linewidth=0.5, zorder=1))
    label_each(ax, artists, "bars below: operating range")
    return artists


# `plot` has an option of the same name.
_money = money_axis
