"""The probability of finding a difference in cost, against its size or the size of the test set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from costcurves._base.errors import InputError
from costcurves._base.validation import DEFAULT_LEVEL, check_in_unit, check_name, check_positive
from costcurves.conditions.cost_matrix import as_cost_matrix
from costcurves.counting.confusion import JointConfusion
from costcurves.displays._base import Axes, LabelDisplay
from costcurves.displays._conditions import LineSettings, Names
from costcurves.displays._placing import Words, label_each
from costcurves.displays._scores import Sample
from costcurves.displays._style import GREY, by_name, one_or_all
from costcurves.displays.difference import two_of
from costcurves.planning.power_curve import PowerCurve, power_curve

# How far apart the ranges of two curves are drawn, in points.
_APART = 1.6
# The words of both axes, for what varies.
_WORDS = {
    "n": ("number of test examples", "chance to find the difference"),
    "difference": ("difference in expected cost", "chance to find the difference"),
    "changed": ("share of labels changed", "chance to find the difference"),
    "laplace": ("λ, added to each cell", "chance to hold the true cost"),
}


class PowerDisplay(LabelDisplay):
    """The probability that a test set shows a difference in cost between two classifiers.

    Make it with `from_results`, or with `from_predictions`, `from_estimator` and `from_cv_results` for two classifiers,
    which use the data as a pilot. The latter take ``costs`` (a matrix, or a mapping of names to matrices, such as the
    cost models of the 2000 paper), ``n`` and ``difference`` (one of which is a sequence), ``pair`` (two names, if there
    are more classifiers), ``level`` and ``laplace``, as for `power_curve`.

    Parameters
    ----------
    curves : PowerCurve, sequence, or mapping of names to these

    Attributes
    ----------
    line_ : Line2D, or list of Line2D for several
    wanted_ : Line2D or None
    range_ : list of LineCollection
        The ranges over cost matrices.
    ax_, figure_, legend_

    Notes
    -----
    Figures 2 to 5 of Margineantu & Dietterich (2000).

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import costcurves as cc
    >>> joint = [[[45, 2], [3, 0]], [[0, 5], [9, 36]]]
    >>> curve = cc.power_curve(joint, [[0, 1], [5, 0]], n=[100, 200, 400, 800, 1600], name="5 : 1")
    >>> display = cc.PowerDisplay(curve).plot()
    >>> display
    PowerDisplay('5 : 1')
    >>> plt.close(display.figure_)
    """

    line_: Any = None
    wanted_: Any = None
    range_: list[Any]

    def __init__(self, curves: Any) -> None:
        self.curves: dict[str, PowerCurve] = by_name("curves", curves, PowerCurve)
        if len({one.over for one in self.curves.values()}) > 1:
            raise InputError("`curves` must all vary `n` or all vary `difference`, got both")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the curves, in the order of the colours."""
        return tuple(self.curves)

    @classmethod
    def _from_sample(
        cls,
        sample: Sample,
        *,
        costs: Any,
        n: Any,
        difference: Any = None,
        pair: Sequence[str] | None = None,
        level: float = DEFAULT_LEVEL,
        laplace: float = 0.0,
    ) -> Self:
        y_true, answers, _ = sample.paired()
        first, second = two_of(answers, pair)
        several = costs if isinstance(costs, Mapping) else {f"{first} against {second}": costs}
        curves = {}
        for name, table in several.items():
            matrix = as_cost_matrix(table)
            joint = JointConfusion.from_predictions(y_true, answers[first], answers[second], labels=matrix.labels)
            curves[name] = power_curve(
                joint, matrix, n=n, difference=difference, level=level, laplace=laplace, name=check_name("costs", name)
            )
        return cls(curves)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        names: Names | None = None,
        wanted: float | None = 0.8,
        relative_to: float | None = None,
        missed: bool = False,
        legend: bool | str = True,
        curve_kwargs: LineSettings | None = None,
    ) -> Self:
        """Draw the power.

        Parameters
        ----------
        ax, names, legend, curve_kwargs
            As for `CostCurveDisplay.plot`.
        wanted : float in [0, 1] or None
            A power to mark as a goal.
        relative_to : float > 0, optional
            Show differences as multiples of this number, for example of the cost of the first classifier, as the paper
            does.
        missed : bool
            Whether to draw the chance that the difference is not found, as figures 4 and 5 of the paper do.
        """
        shown_names, options, flags = self._checked(ax, names, curve_kwargs, missed=missed)
        goal = None if wanted is None else check_in_unit("wanted", wanted)
        over = next(iter(self.curves.values())).over
        unit = 1.0 if relative_to is None else check_positive("relative_to", relative_to)
        if relative_to is not None and over != "difference":
            raise InputError(f"`relative_to` must come with curves over `difference`, got curves over `{over}`")
        label, chance = _WORDS[over]
        chance = "chance to miss the difference" if flags["missed"] else chance

        def draw(axes: Any) -> Words:
            from matplotlib.transforms import offset_copy

            found = [self.curves[name] for name in shown_names]
            self.wanted_ = None
            if goal is not None:
                self.wanted_ = axes.axhline(goal, color=GREY, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
                label_each(axes, [self.wanted_], f"{'promised' if over == 'laplace' else 'wanted'}: {100 * goal:g} %")
            drawn, self.range_ = [], []
            for place, (name, one) in enumerate(zip(shown_names, found, strict=True)):
                chances = [1 - y if flags["missed"] else y for y in (one.power, one.low, one.high)]
                drawn += axes.plot(one.x / unit, chances[0], **{"zorder": 3, **options[name]})
                if (one.low < one.high).any():
                    # Beside each other, so that those of one curve do not hide those of another.
                    aside = offset_copy(axes.transData, axes.figure, _APART * place, units="points")
                    style = {"colors": options[name]["color"], "linewidth": 0.8, "zorder": 2, "transform": aside}
                    self.range_.append(axes.vlines(one.x / unit, chances[1], chances[2], **style))
            self.line_ = one_or_all(drawn)
            label_each(axes, self.range_, "bars: range over the cost matrices")
            least = min(one.x[one.x > 0].min() for one in found)
            if over in ("n", "changed") and least * 20 <= max(one.x[-1] for one in found):
                axes.set_xscale("log")
            axes.set(xlabel=label if relative_to is None else f"{label} / {unit:.3g}")
            axes.set(ylim=(0, 1), ylabel=chance)
            return Words(legend, "upper left", self.names)

        return self._draw(ax, draw)
