"""The difference of two cost curves with its limits, and where it is significant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from costcurves._base.errors import InputError
from costcurves._base.validation import DEFAULT_LEVEL, Sampling, check_flag, check_number, check_two_names, shown
from costcurves.curves.averages import as_cost_curves
from costcurves.curves.cost_curve import CostCurve
from costcurves.decisions.compare_many import ManyDifferences
from costcurves.decisions.curve_difference import NO_VERDICT, CurveDifference
from costcurves.displays._base import Axes, ScoreDisplay
from costcurves.displays._conditions import (
    LineSettings,
    Marked,
    SecondaryAxis,
    mark_on_pc,
    no_decisions,
    pc_axis,
    read_marks,
    second_axis,
)
from costcurves.displays._placing import Words
from costcurves.displays._scores import Sample
from costcurves.displays._style import AS_IS, GREY, INK, line_options, look, wrapped

# The most letters of a line along the y-axis.
_ALONG = 40


class CostDifferenceDisplay(ScoreDisplay):
    """The cost of one classifier minus that of another at every condition, with limits. Below 0 the first is cheaper.

    Make it with `from_predictions`, `from_estimator`, `from_cv_results` (which joins the test examples of all folds) or
    `from_results`, which draw immediately, or construct it from a result of `compare` or `compare_many` and call
    `plot`. The first three also take ``pair`` (two names, if there are more than two classifiers) and the options of
    `compare`: ``policy``, ``level``, ``simultaneous``, ``method``, ``sampling``, ``pc``.

    Parameters
    ----------
    difference : CurveDifference or ManyDifferences
    pair : (a, b), optional
        The two classifiers to compare, if there are more.
    curves : pair of CostCurve, optional
        The cost curves of the two classifiers, to be drawn with their difference.

    Attributes
    ----------
    line_, band_ : Line2D and PolyCollection
        The difference and its limits.
    zero_ : Line2D
    significant_ : dict of name to list of Line2D
        The ranges in which each is significantly cheaper. It is empty without a simultaneous band, which is needed for
        such statements.
    curve_line_ : list of Line2D
    condition_, secondary_ax_, ax_, figure_, legend_

    Notes
    -----
    Figures 13 to 15 of Holte & Drummond (2005).

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import costcurves as cc
    >>> tables = {"negatives": [[50, 4], [6, 40]], "positives": [[8, 30], [2, 60]]}
    >>> difference = cc.compare.from_joint(**tables, names=("old", "new"))
    >>> display = cc.CostDifferenceDisplay(difference).plot()
    >>> display
    CostDifferenceDisplay('old', 'new')
    >>> [line.get_label() for line in display.significant_["new"]]
    ['new costs less (95 %)']
    >>> plt.close(display.figure_)
    """

    line_: Any = None
    band_: Any = None
    zero_: Any = None
    secondary_ax_: Any = None
    significant_: dict[str, list[Any]]
    curve_line_: list[Any]
    condition_: list[Any]

    def __init__(self, difference: Any, *, pair: Sequence[str] | None = None, curves: Any = None) -> None:
        if isinstance(difference, ManyDifferences):
            if pair is None:
                raise InputError(f"`pair` must name two of {', '.join(difference.names)}, got None")
            difference = difference.pair(*check_two_names(pair))
        elif pair is not None and isinstance(difference, CurveDifference):
            difference = _turned(difference, pair)
        if not isinstance(difference, CurveDifference):
            kind = type(difference).__name__
            raise InputError(f"`difference` must be what compare returns, got {shown(difference)} ({kind})")
        self.difference = difference
        self.curves: tuple[CostCurve, ...] = () if curves is None else tuple(as_cost_curves(curves))
        if self.curves and tuple(curve.name for curve in self.curves) != self.names:
            found = ", ".join(curve.name for curve in self.curves)
            raise InputError(f"`curves` must be those of {' and '.join(self.names)}, got {found}")

    @property
    def names(self) -> tuple[str, ...]:
        """The two classifiers."""
        return self.difference.names

    @classmethod
    def _from_sample(
        cls,
        sample: Sample,
        *,
        pair: Sequence[str] | None = None,
        policy: Any = "optimal",
        level: float = DEFAULT_LEVEL,
        simultaneous: bool = True,
        method: str = "mid-p",
        sampling: Sampling = "stratified",
        pc: Any = None,
    ) -> Self:
        names = check_two_names(two_of(sample.parts, pair))
        predictions = sample.predictions(names)
        difference = predictions.compare(
            *names, policy=policy, level=level, simultaneous=simultaneous, method=method, sampling=sampling, pc=pc
        )
        policies = policy if isinstance(policy, (tuple, list)) else (policy, policy)
        curves = [predictions.curve(name, policy=rule) for name, rule in zip(names, policies, strict=True)]
        return cls(difference, curves=curves)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        with_curves: bool = False,
        significant: bool = True,
        y_limits: Any = None,
        condition: Marked | None = None,
        secondary_axis: SecondaryAxis | None = None,
        legend: bool | str = True,
        curve_kwargs: LineSettings | None = None,
    ) -> Self:
        """Draw the difference.

        Parameters
        ----------
        ax, secondary_axis, legend
            As for `CostCurveDisplay.plot`.
        with_curves : bool
            Whether to draw the two cost curves as well, on the same axes.
        significant : bool
            Whether to mark where one of the two is significantly cheaper (simultaneous limits only).
        y_limits : (low, high) or "data", optional
            The limits of the y-axis. "data", the default, makes the limits of the difference, and the curves if they
            are drawn, as large as possible. Differences can lie between -1 and 1.
        condition : OperatingCondition, pc or OperatingRange, or a list of them
            What to mark.
        curve_kwargs : dict
            matplotlib settings for the line of the difference.
        """
        marks = read_marks(condition)
        no_decisions(marks, "a difference")
        with_curves, marked = check_flag("with_curves", with_curves), check_flag("significant", significant)
        if with_curves and not self.curves:
            raise InputError("`with_curves` must come with a display that has `curves`, got none")
        a, b = self.names
        apart = "\n" if len(a) + len(b) > 24 else " "
        label = f"{a}{apart}− {b}"
        options = line_options([label], curve_kwargs)[label]
        options = {**options, "color": INK, "linestyle": "-"} if curve_kwargs is None else options
        if y_limits is None:
            y_limits = "data"
        limits = _read_limits(y_limits, self.difference, self.curves if with_curves else ())

        def draw(axes: Any) -> Words:
            result = self.difference
            self.condition_ = mark_on_pc(axes, marks)
            self.zero_ = axes.axhline(0, color=GREY, linewidth=0.8, zorder=1)
            self.curve_line_ = []
            for i, curve in enumerate(self.curves if with_curves else ()):
                style = {**look(i), "linewidth": 1.1, "zorder": 2, "label": curve.name}
                self.curve_line_ += axes.plot(*curve.vertices.T, **style)
            kind = "" if result.simultaneous else ", pointwise"
            self.band_ = axes.fill_between(
                result.pc, result.lower, result.upper, color=GREY, alpha=0.3, linewidth=0, zorder=2,
                label=f"{100 * result.level:g} % limits{kind}",
            )  # fmt: skip
            self.line_ = axes.plot(result.pc, result.estimate, **{"zorder": 3, **options})[0]
            self.significant_ = self._draw_significant(axes) if marked and result.simultaneous else {}
            pc_axis(axes)
            axes.set_ylim(limits)
            axes.set_ylabel(wrapped(f"cost of {a}{apart}− cost of {b}", _ALONG), **AS_IS)
            self.secondary_ax_ = second_axis(axes, secondary_axis, marks)
            verdicts = [line.get_label() for lines in self.significant_.values() for line in lines[:1]]
            return Words(legend, "upper left", [*self.names, label, *verdicts])

        return self._draw(ax, draw)

    def _draw_significant(self, ax: Any) -> dict[str, list[Any]]:
        """Mark on the zero line where each classifier is significantly cheaper."""
        result = self.difference
        verdicts = result.significant()
        artists: dict[str, list[Any]] = {name: [] for name in self.names}
        for low, high, better in zip(verdicts.low.tolist(), verdicts.high.tolist(), verdicts.better, strict=True):
            if better in NO_VERDICT:
                continue
            label = None if artists[better] else f"{better} costs less ({100 * result.level:g} %)"
            color = look(self.names.index(better))["color"]
            style = {"color": color, "linewidth": 4, "solid_capstyle": "butt", "label": label, "zorder": 4}
            artists[better] += ax.plot([low, high], [0, 0], **style)
        return artists


def two_of(named: Any, pair: Any) -> tuple[str, str]:
    """The names of the two classifiers to compare."""
    if pair is None:
        if len(named) != 2:
            raise InputError(f"`pair` must name two of {', '.join(map(repr, named))}, got None")
        first, second = named
        return first, second
    first, second = check_two_names(pair)
    for name in (first, second):
        if name not in named:
            raise InputError(f"`pair` must name two of {', '.join(map(repr, named))}, got {shown(name)}")
    return first, second


def _turned(difference: CurveDifference, pair: Any) -> CurveDifference:
    """Orient the difference so that the first classifier of the pair comes first."""
    wanted = two_of(difference.names, pair)
    return difference if wanted == difference.names else difference.reversed()


def _read_limits(limits: Any, difference: CurveDifference, curves: Sequence[CostCurve]) -> tuple[float, float]:
    """Find the ends of the y-axis. "data" uses the limits of the difference, the curves and a margin."""
    if isinstance(limits, str) and limits == "data":
        most = max(float(abs(difference.lower).max()), float(abs(difference.upper).max()), 0.01)
        return -1.1 * most, 1.1 * max([most, *(float(curve.vertices[:, 1].max()) for curve in curves)])
    single = isinstance(limits, str) or not hasattr(limits, "__len__") or getattr(limits, "ndim", 1) != 1
    if single or len(limits) != 2:
        raise InputError(f"`y_limits` must be a pair (low, high) or 'data', got {shown(limits)}")
    low, high = (check_number("y_limits", value) for value in limits)
    if low >= high:
        raise InputError(f"`y_limits` must be a pair (low, high) with low < high, got {shown(limits)}")
    return low, high
