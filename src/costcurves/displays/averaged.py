"""ROC curves averaged over folds, with the intervals of the 1998 study if these are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np

from costcurves._base.errors import InputError
from costcurves._base.validation import shown
from costcurves.conditions.condition import ConditionLike, OperatingCondition, check_condition
from costcurves.curves.averages import AveragedRoc, average_cost_curves, average_roc_curves
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.hull_points import check_curves
from costcurves.curves.roc import RocCurve
from costcurves.displays._base import Axes, ScoreDisplay
from costcurves.displays._conditions import LineSettings, Names
from costcurves.displays._placing import Words, label_each
from costcurves.displays._scores import Sample
from costcurves.displays._style import GREY, Margins, by_name, one_or_all
from costcurves.displays.roc import SQUARE, SQUARE_MARGINS, roc_axes


class AveragedRocDisplay(ScoreDisplay):
    """ROC curves averaged over folds, with the intervals of the 1998 study if these are asked for.

    Make it with `from_cv_results` or `from_results`, which draw immediately, or construct it from results and call
    `plot`. With one test set (`from_predictions`, `from_estimator`) there is only one curve to average. All
    constructors except `from_results` take ``n_points`` (the number of evenly spaced false positive rates, by default
    100) and, as `average_roc_curves`, ``interval="binomial"``, without which no intervals are drawn, and their
    ``level``.

    Parameters
    ----------
    averages : AveragedRoc, sequence, or mapping of names to these
    folds : mapping of name to sequence of RocCurve, optional
        The curves of which each average is made, which can be drawn as thin lines.

    Attributes
    ----------
    line_ : Line2D, or list of Line2D for several averages
    band_ : PolyCollection, or list, or None
    fold_line_ : dict of name to list of Line2D
    chance_ : Line2D or None
    iso_ : list of artists
        The lines of the mean cost of the folds at a condition.
    ax_, figure_, legend_

    Notes
    -----
    Figures 2 and 3 of Provost, Fawcett & Kohavi (1998); figure 9 of Holte & Drummond (2005).

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import costcurves as cc
    >>> tables = [[[96, 4], [60, 40]], [[70, 30], [20, 80]]]
    >>> folds = [cc.RocCurve.from_confusion_matrix(table) for table in tables]
    >>> display = cc.AveragedRocDisplay.from_results(cc.average_roc_curves(folds, name="rules"))
    >>> display
    AveragedRocDisplay('rules')
    >>> plt.close(display.figure_)
    """

    _size: ClassVar[tuple[float, float]] = SQUARE
    _margins: ClassVar[Margins | None] = SQUARE_MARGINS
    line_: Any = None
    band_: Any = None
    chance_: Any = None
    fold_line_: dict[str, list[Any]]
    iso_: list[Any]

    def __init__(self, averages: Any, *, folds: Mapping[str, Any] | None = None) -> None:
        self.averages: dict[str, AveragedRoc] = by_name("averages", averages, AveragedRoc)
        self.folds: dict[str, tuple[RocCurve, ...]] = {}
        for name, curves in (folds or {}).items():
            if name not in self.names:
                raise InputError(f"`folds` must have only names of {', '.join(self.names)}, got {shown(name)}")
            self.folds[name] = tuple(check for curve in curves for check in check_curves(curve, "folds"))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the averages, in the order of the colours."""
        return tuple(self.averages)

    @classmethod
    def _from_sample(
        cls,
        sample: Sample,
        *,
        interval: Literal["binomial"] | None = None,
        level: float | None = None,
        n_points: int = 100,
    ) -> Self:
        folds = {name: sample.folds(name) for name in sample.parts}
        asked: dict[str, Any] = {"interval": interval, "level": level, "n_points": n_points}
        averages = [average_roc_curves(folds[name], name=name, **asked) for name in folds]
        return cls(averages, folds=folds)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        names: Names | None = None,
        intervals: bool = True,
        with_folds: bool = False,
        chance: bool = True,
        condition: ConditionLike | None = None,
        legend: bool | str = True,
        curve_kwargs: LineSettings | None = None,
    ) -> Self:
        """Draw the averaged curves.

        Parameters
        ----------
        ax, names, legend, curve_kwargs
            As for `CostCurveDisplay.plot`.
        intervals : bool
            Whether to draw the pointwise intervals of the mean, if the averages have any.
        with_folds : bool
            Whether to draw the curve of each fold as well.
        chance : bool
            Whether to draw the diagonal, which corresponds to random guessing.
        condition : OperatingCondition or pc, optional
            Draw the line on which the cost at this condition is the mean cost of the folds (`average_cost_curves`),
            each at its best point. An average of ROC curves need not touch it (2005, figure 9).
        """
        given = {"intervals": intervals, "with_folds": with_folds, "chance": chance}
        shown_names, options, flags = self._checked(ax, names, curve_kwargs, **given)

        where = None if condition is None else check_condition(condition)
        if where is not None and not all(name in self.folds for name in shown_names):
            raise InputError("`condition` must come with a display that has `folds`, got none")

        def draw(axes: Any) -> Words:
            curves = [np.stack([self.averages[name].fpr, self.averages[name].tpr], 1) for name in shown_names]
            self.chance_ = roc_axes(axes, flags["chance"], curves)
            self.fold_line_ = self._draw_folds(axes, shown_names, options) if flags["with_folds"] else {}
            bands, drawn = [], []
            for name in shown_names:
                one, colour = self.averages[name], options[name]["color"]
                if flags["intervals"] and not np.isnan(one.lower).any():
                    style = {"color": colour, "alpha": 0.2, "linewidth": 0, "zorder": 1.5}
                    across = one.kind == "horizontal"
                    fill, at = (axes.fill_betweenx, one.tpr) if across else (axes.fill_between, one.fpr)
                    bands.append(fill(at, one.lower, one.upper, **style))
                drawn.append(axes.plot(one.fpr, one.tpr, **{"linewidth": 1.3, "zorder": 3, **options[name]})[0])
            self.line_ = one_or_all(drawn)
            self.band_ = one_or_all(bands)
            self.iso_ = [] if where is None else [self._draw_mean_cost(axes, name, where) for name in shown_names]
            label_each(axes, self.iso_, "mean cost of the folds")
            folds = [line for lines in self.fold_line_.values() for line in lines]
            label_each(axes, folds, "thin lines: single folds")
            levels = {self.averages[name].level for name in shown_names}
            label_each(axes, bands, f"{', '.join(f'{100 * level:g} %' for level in sorted(levels))} limits of the mean")
            return Words(legend, "lower right", self.names)

        return self._draw(ax, draw)

    def _draw_folds(self, ax: Any, names: tuple[str, ...], options: Any) -> dict[str, list[Any]]:
        """Draw the curve of each fold. Folds that several averages have in common are drawn once, in grey."""
        drawn: dict[str, list[Any]] = {}
        for name in names:
            folds = self.folds.get(name, ())
            alike = [other for other in names if self.folds.get(other, ()) == folds]
            if alike[0] != name:
                drawn[name] = drawn[alike[0]]
                continue
            thin = {"color": options[name]["color"], "linewidth": 0.4, "alpha": 0.5, "zorder": 2}
            if len(alike) > 1:
                thin |= {"color": GREY, "linewidth": 0.6, "alpha": 1.0}
            drawn[name] = [ax.plot(fold.fpr, fold.tpr, **thin)[0] for fold in folds]
        return drawn

    def _draw_mean_cost(self, ax: Any, name: str, where: OperatingCondition) -> Any:
        cost = average_cost_curves([CostCurve(fold) for fold in self.folds[name]]).evaluate(where)
        # A point (pc, cost) is a line of ROC space, which passes through (cost, 1 - cost) at every pc.
        style = {"color": GREY, "linewidth": 0.9, "linestyle": (0, (4, 2)), "zorder": 1}
        return ax.axline((cost, 1 - cost), slope=where.slope, **style)
