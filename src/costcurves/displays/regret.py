"""What is lost by always using one classifier instead of the best of all: how near it is to optimal."""

from __future__ import annotations

from typing import Any, Self

from costcurves.curves.hull import RocHull
from costcurves.decisions.dominance import Regret, regret
from costcurves.displays._base import Axes, ScoreDisplay
from costcurves.displays._conditions import (
    LineSettings,
    Marked,
    Names,
    SecondaryAxis,
    mark_on_pc,
    no_decisions,
    pc_axis,
    read_marks,
    second_axis,
)
from costcurves.displays._placing import Words
from costcurves.displays._scores import Sample
from costcurves.displays._style import by_name, one_or_all


class RegretDisplay(ScoreDisplay):
    """How near to optimal each classifier is: what it costs more than the best of all, at every condition.

    Make it with `from_predictions`, `from_estimator`, `from_cv_results` (which pools the test examples of all folds) or
    `from_results`, which draw immediately, or construct it from results and call `plot`. The first three also take
    ``over``, a range of conditions as for `regret`.

    Parameters
    ----------
    regrets : Regret, sequence of Regret, mapping of names to these, or RocHull
        What `regret` returns; a hull stands for each of its classifiers.

    Attributes
    ----------
    line_ : Line2D, or list of Line2D for several classifiers
    largest_ : PathCollection
        The largest loss of each classifier.
    condition_, secondary_ax_, ax_, figure_, legend_

    Notes
    -----
    Figure 5 of Provost & Fawcett (1997) is about a classifier that is nearly optimal over the entire range: its line
    stays near zero. On the ROC curves themselves (`RocHullDisplay`) the distance from the hull can only be guessed.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import costcurves as cc
    >>> a, c = cc.RocCurve.from_rates(0.1, 0.6, name="A"), cc.RocCurve.from_rates(0.12, 0.7, name="C")
    >>> display = cc.RegretDisplay.from_results(cc.RocHull([a, c]))
    >>> display
    RegretDisplay('A', 'C')
    >>> plt.close(display.figure_)
    """

    line_: Any = None
    largest_: Any = None
    secondary_ax_: Any = None
    condition_: list[Any]

    def __init__(self, regrets: Any) -> None:
        if isinstance(regrets, RocHull):
            regrets = [regret(name, regrets) for name in regrets.names]
        self.regrets: dict[str, Regret] = by_name("regrets", regrets, Regret)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the classifiers, in the order of the colours."""
        return tuple(self.regrets)

    @classmethod
    def _from_sample(cls, sample: Sample, *, over: Any = None) -> Self:
        hull = RocHull(sample.curves())
        return cls([regret(name, hull, over=over) for name in hull.names])

    def plot(
        self,
        ax: Axes | None = None,
        *,
        names: Names | None = None,
        condition: Marked | None = None,
        secondary_axis: SecondaryAxis | None = None,
        legend: bool | str = True,
        curve_kwargs: LineSettings | None = None,
    ) -> Self:
        """Draw the losses.

        Parameters
        ----------
        ax, names, condition, secondary_axis, legend, curve_kwargs
            As for `CostCurveDisplay.plot`.
        """
        shown_names, options, _ = self._checked(ax, names, curve_kwargs)
        marks = read_marks(condition)
        no_decisions(marks, "losses")

        def draw(axes: Any) -> Words:
            pc_axis(axes)
            axes.set(ylabel="cost above that of the best choice", ylim=(0, self._top(shown_names)))
            self.condition_ = mark_on_pc(axes, marks)
            lines = []
            for name in shown_names:
                one = self.regrets[name]
                lines.append(axes.plot(one.pc, one.loss, **{"linewidth": 1.3, "zorder": 3, **options[name]})[0])
            at = [(self.regrets[name].at_pc, self.regrets[name].largest) for name in shown_names]
            colours = [options[name]["color"] for name in shown_names]
            self.largest_ = axes.scatter(*zip(*at, strict=True), c=colours, s=14, zorder=4, label="largest loss")
            self.line_ = one_or_all(lines)
            self.secondary_ax_ = second_axis(axes, secondary_axis, marks)
            return Words(legend, "upper right", self.names)

        return self._draw(ax, draw)

    def _top(self, names: tuple[str, ...]) -> float:
        """Return the upper end of the axis."""
        return max(1e-3, 1.15 * max(self.regrets[name].largest for name in names))
