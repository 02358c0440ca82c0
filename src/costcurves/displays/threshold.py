"""The cost of every threshold at one condition, with the best threshold and those that may be the best."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from costcurves._base.errors import InputError
from costcurves._base.validation import FloatArray
from costcurves.conditions.condition import ConditionLike, OperatingCondition, check_condition
from costcurves.curves.cost_curve import CostCurve
from costcurves.displays._base import Axes, ScoreDisplay
from costcurves.displays._conditions import LineSettings, Names
from costcurves.displays._placing import Words, label_each
from costcurves.displays._scores import Sample
from costcurves.displays._style import one_or_all
from costcurves.displays.cost import different_curves

# How far the lines go beyond the lowest and the highest score, as a share of their distance.
_BEYOND = 0.05


class ThresholdDisplay(ScoreDisplay):
    """The expected cost at one condition against the threshold, with the best threshold of each classifier.

    Make it with `from_predictions`, `from_estimator`, `from_cv_results` (which pools the test examples of all folds) or
    `from_results`, which draw immediately, or construct it from results and call `plot`. The curves of two samples show
    how the best threshold varies from sample to sample.

    Parameters
    ----------
    curves : CostCurve (or RocCurve), sequence, or mapping of names to these
        Curves that were made from scores.

    Attributes
    ----------
    line_, best_ : Line2D, or list of Line2D for several curves
        The cost of every threshold, and the best one.
    set_ : list of Patch
        The thresholds that may be the best.
    ax_, figure_, legend_

    Notes
    -----
    Figure 1 of Dugas & Gadoury (2008): how a cost curve arises. At each condition the cheapest threshold is taken, and
    another sample has another one.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import costcurves as cc
    >>> y, score = [0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.35, 0.8, 0.5, 0.6]
    >>> display = cc.ThresholdDisplay.from_predictions(y, score, name="forest", condition=0.4)
    >>> display.best_.get_xydata().round(3).tolist()
    [[0.6, 0.133]]
    >>> plt.close(display.figure_)
    """

    line_: Any = None
    best_: Any = None
    set_: list[Any]

    def __init__(self, curves: Any) -> None:
        self.curves = different_curves(curves)
        for curve in self.curves:
            if curve.roc is None or not curve.roc.has_thresholds:
                raise InputError(f"`curves` must come from scores, got {curve.name!r} without thresholds")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the curves, in the order of the colours."""
        return tuple(curve.name for curve in self.curves)

    @classmethod
    def _from_sample(cls, sample: Sample) -> Self:
        return cls([CostCurve(roc) for roc in sample.curves()])

    def plot(
        self,
        ax: Axes | None = None,
        *,
        condition: ConditionLike = 0.5,
        names: Names | None = None,
        threshold_set: float | None = None,
        legend: bool | str = True,
        curve_kwargs: LineSettings | None = None,
    ) -> Self:
        """Draw the costs.

        Parameters
        ----------
        ax, names, legend, curve_kwargs
            As for `CostCurveDisplay.plot`.
        condition : OperatingCondition or pc
            Where the costs are compared, by default at pc 0.5, where misses and false alarms weigh the same.
        threshold_set : float in (0, 1), optional
            Shade the thresholds that may be the best (`CostCurve.threshold_set` of this level).
        """
        shown_names, options, _ = self._checked(ax, names, curve_kwargs)
        where = check_condition(condition)
        curves = [curve for name in shown_names for curve in self.curves if curve.name == name]
        sets = [] if threshold_set is None else [one.threshold_set(where, level=threshold_set) for one in curves]

        def draw(axes: Any) -> Words:
            drawn = [_costs(curve, where) for curve in curves]
            ends = [min(x[0] for x, _ in drawn), max(x[-1] for x, _ in drawn)]
            lines, best = [], []
            for curve, (x, cost) in zip(curves, drawn, strict=True):
                style = {"drawstyle": "steps-pre", "zorder": 3, **options[curve.name]}
                lines += axes.plot(np.r_[ends[0], x, ends[1]], np.r_[cost[0], cost, cost[-1]], **style)
                at = np.clip(float(curve.threshold_at(where.pc)), *ends)
                dot = {"linestyle": "none", "marker": "o", "markersize": 5, "color": options[curve.name]["color"]}
                best += axes.plot(at, curve.evaluate(where), zorder=4, **dot)
            self.line_, self.best_ = one_or_all(lines), one_or_all(best)
            label_each(axes, best, "the cheapest threshold")
            self.set_ = []
            for one in sets:
                shade = {"color": options[one.name]["color"], "alpha": 0.13, "linewidth": 0, "zorder": 1}
                spans = zip(np.clip(one.low, *ends), np.clip(one.high, *ends), strict=True)
                self.set_ += [axes.axvspan(low, high, **shade) for low, high in spans]
            label_each(axes, self.set_, "thresholds that may be best")
            axes.set(xlim=ends, xlabel="threshold (scores from here on are flagged)")
            axes.set(ylim=(0, None), ylabel=f"expected cost at pc {where.pc:.2g}")
            return Words(legend, "upper right", self.names)

        return self._draw(ax, draw)


def _costs(curve: CostCurve, where: OperatingCondition) -> tuple[FloatArray, FloatArray]:
    """Return the thresholds in increasing order and their costs; the ends stand for all thresholds beyond them."""
    lines = curve.lines()
    x, cost = lines.thresholds[::-1], lines.evaluate(where.pc)[::-1]
    room = _BEYOND * max(float(x[-2] - x[0]), 1e-9)
    return np.r_[x[0] - room, x[:-1], x[-2] + room], np.r_[cost[0], cost]
