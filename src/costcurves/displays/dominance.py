"""Which classifier is best where: the table of slope ranges as bars over pc."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from costcurves._base.errors import InputError
from costcurves._base.validation import shown
from costcurves.curves.choices import TRIVIAL
from costcurves.curves.hull import RocHull
from costcurves.curves.ranges import Ranges
from costcurves.decisions.dominance import Dominance, dominance
from costcurves.displays._base import Axes, ScoreDisplay
from costcurves.displays._conditions import (
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
from costcurves.displays._style import COLUMN, GREY, PALE, bar_look, chosen


class DominanceDisplay(ScoreDisplay):
    """Which classifier is best where: one row per classifier, with a bar for each range of pc in which it is best.

    Make it with `from_predictions`, `from_estimator`, `from_cv_results` (which pools the test examples of all folds) or
    `from_results`, which draw immediately, or construct it from a result and call `plot`.

    Parameters
    ----------
    result : Dominance, RocHull or Ranges
        The result of `dominance`, or of the methods `ranges` and `within` of a hull.

    Attributes
    ----------
    bar_ : dict of name to PolyCollection
        The bars of each classifier, including the trivial ones.
    never_ : dict of name to Text
        The text in the row of a classifier that is best nowhere.
    condition_, secondary_ax_, ax_, figure_, legend_

    Notes
    -----
    Table 1 of Provost, Fawcett & Kohavi (1998) as a picture.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import costcurves as cc
    >>> curves = [cc.RocCurve.from_rates(0.1, 0.6, name="A"), cc.RocCurve.from_rates(0.3, 0.9, name="C")]
    >>> display = cc.DominanceDisplay(cc.dominance(curves)).plot()
    >>> sorted(display.bar_)
    ['A', 'C', 'always negative', 'always positive']
    >>> plt.close(display.figure_)
    """

    _size: ClassVar[tuple[float, float]] = (COLUMN, 2.3)
    secondary_ax_: Any = None
    bar_: dict[str, Any]
    never_: dict[str, Any]
    condition_: list[Any]

    def __init__(self, result: Any) -> None:
        if isinstance(result, Dominance):
            self.ranges, known = result.ranges, result.names
        elif isinstance(result, RocHull):
            self.ranges, known = result.ranges(), result.names
        elif isinstance(result, Ranges):
            self.ranges, known = result, ()
        else:
            kind = type(result).__name__
            raise InputError(f"`result` must be a Dominance, a RocHull or Ranges, got {shown(result)} ({kind})")
        self._names = tuple(dict.fromkeys([*known, *(n for n in self.ranges.candidates if n not in TRIVIAL)]))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the classifiers, in the order of the colours."""
        return self._names

    @classmethod
    def _from_sample(cls, sample: Sample) -> Self:
        return cls(dominance(sample.curves()))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        names: Names | None = None,
        condition: Marked | None = None,
        secondary_axis: SecondaryAxis | None = "slope",
    ) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax
            As for `CostCurveDisplay.plot`.
        names : str or sequence of str, optional
            The classifiers that have a row, by default all.
        condition : OperatingCondition, pc or OperatingRange, or a list of them
            What to mark.
        secondary_axis : {"slope", "prevalence", "cost ratio"} or None
            Show pc as the weight of false alarms relative to misses, which is the slope of the lines of equal cost in
            ROC space, as prevalence at the costs of `condition`, or as cost
            ratio at its prevalence.
        """
        shown_names = chosen(names, self.names) if self.names else ()
        marks = read_marks(condition)
        no_decisions(marks, "bars")
        rows = [*shown_names, *(name for name in TRIVIAL if name in self.ranges.candidates)]

        def draw(axes: Any) -> Words:
            pc_axis(axes)
            self.condition_ = mark_on_pc(axes, marks)
            self.bar_, self.never_ = {}, {}
            for row, name in enumerate(rows):
                spans = [(low, high - low) for low, high in self.ranges.where(name)]
                look = {"facecolor": PALE, "edgecolor": GREY, "linewidth": 0.5}
                if name not in TRIVIAL:
                    look = bar_look(self.names.index(name))
                if spans:
                    self.bar_[name] = axes.broken_barh(spans, (row - 0.36, 0.72), zorder=2, **look)
                else:
                    text = {"fontsize": "x-small", "color": GREY, "ha": "center", "va": "center", "clip_on": True}
                    self.never_[name] = axes.text(0.5, row, "never best", **text)
            axes.set(ylim=(len(rows) - 0.4, -0.6))
            if ax is None:  # room for two lines in each row
                axes.figure.set_figheight(max(self._size[1], 1.0 + 0.32 * len(rows)))
            axes.set_yticks(range(len(rows)))
            self.secondary_ax_ = second_axis(axes, secondary_axis, marks)
            return Words("below" if self.condition_ else False, rows=rows)

        return self._draw(ax, draw)
