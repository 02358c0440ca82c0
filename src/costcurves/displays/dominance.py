"""Which classifier is best where: the table of slope ranges as bars over pc, of one data set or of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from costcurves._base.errors import InputError
from costcurves._base.validation import check_in_unit, check_name, check_unique, is_among, shown
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
from costcurves.displays._placing import Words, check_legend
from costcurves.displays._scores import Sample
from costcurves.displays._style import COLUMN, GREY, PALE, bar_look, chosen, needed

# The lower and the upper edges of a bar, from the middle of its row.
_HALF = (-0.36, 0.36, 0.36, -0.36)


class DominanceDisplay(ScoreDisplay):
    """Which classifier is best where: one row per classifier, with a bar for each range of pc in which it is best.

    Make it with `from_predictions`, `from_estimator`, `from_cv_results` (which pools the test examples of all folds) or
    `from_results`, which draw immediately, or construct it from a result and call `plot`.

    Parameters
    ----------
    result : Dominance, RocHull, Ranges, or mapping of names to these
        The result of `dominance`, or of the methods `ranges` and `within` of a hull. A mapping, for example of data
        sets, gives one row per result, in which colours tell the classifiers apart. A table that was published counts
        as a result, too: a sequence of rows (classifier, pc_low, pc_high).
    classifiers : sequence of str, optional
        All classifiers in the order of their colours, so that several displays can share them. By default they are
        those of the results, in order of appearance.

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

    Several data sets, one of them as a table:

    >>> tables = {"ours": cc.RocHull(curves).ranges().without_trivial(), "theirs": [("C", 0, 0.2), ("A", 0.2, 1)]}
    >>> display = cc.DominanceDisplay(tables).plot()
    >>> display
    DominanceDisplay('ours', 'theirs')
    >>> plt.close(display.figure_)
    """

    _size: ClassVar[tuple[float, float]] = (COLUMN, 2.3)
    secondary_ax_: Any = None
    bar_: dict[str, Any]
    never_: dict[str, Any]
    condition_: list[Any]

    def __init__(self, result: Any, *, classifiers: Sequence[str] | None = None) -> None:
        self.several = isinstance(result, Mapping)
        given = result if isinstance(result, Mapping) else {"": result}
        if not given:
            raise InputError("`result` must not be empty, got {}")
        if self.several:
            check_unique([check_name("result", name) for name in given], "result")
        read = {name: _stretches(one) for name, one in given.items()}
        self.stretches = {name: stretches for name, (stretches, _) in read.items()}
        seen = [name for stretches, known in read.values() for name in (*known, *(one[0] for one in stretches))]
        found = [name for name in dict.fromkeys(seen) if name not in TRIVIAL]
        if classifiers is not None:
            if isinstance(classifiers, str) or not isinstance(classifiers, Sequence):
                raise InputError(f"`classifiers` must be a list of names, got {shown(classifiers)}")
            order = [check_name("classifiers", name) for name in classifiers]
            check_unique(order, "classifiers")
            if lost := [name for name in found if not is_among(name, order)]:
                raise InputError(f"`classifiers` must have all classifiers of the result, got none named {lost[0]!r}")
            found = order
        self.classifiers = tuple(found)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the rows: the classifiers, or the names of several results."""
        return tuple(self.stretches) if self.several else self.classifiers

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
        legend: bool | str = "below",
    ) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax
            As for `CostCurveDisplay.plot`.
        names : str or sequence of str, optional
            The classifiers (or the results, if there are several) that have a row, by default all.
        condition : OperatingCondition, pc or OperatingRange, or a list of them
            What to mark.
        secondary_axis : {"slope", "prevalence", "cost ratio"} or None
            Show pc as the weight of false alarms relative to misses, which is the slope of the lines of equal cost in
            ROC space, as prevalence at the costs of `condition`, or as cost
            ratio at its prevalence.
        legend : bool or place
            Where to explain the colours of several results and what is marked, as for `CostCurveDisplay.plot`.
        """
        shown_names = chosen(names, self.names) if self.names else ()
        check_legend(legend)
        marks = read_marks(condition)
        no_decisions(marks, "bars")
        best = dict.fromkeys(name for stretches in self.stretches.values() for name, _, _ in stretches)
        trivial = [name for name in TRIVIAL if name in best]
        rows = list(shown_names) if self.several else [*shown_names, *trivial]

        def draw(axes: Any) -> Words:
            pc_axis(axes)
            self.condition_ = mark_on_pc(axes, marks)
            self.bar_, self.never_ = {}, {}
            for name in [*self.classifiers, *trivial]:
                self._draw_bars(axes, name, rows)
            axes.set(ylim=(len(rows) - 0.4, -0.6))
            if ax is None:  # room for two lines in each row
                axes.figure.set_figheight(max(self._size[1], 1.0 + 0.32 * len(rows)))
            axes.set_yticks(range(len(rows)))
            self.secondary_ax_ = second_axis(axes, secondary_axis, marks)
            told = self.several or bool(self.condition_)
            return Words(legend if told else False, names=self.classifiers, rows=rows)

        return self._draw(ax, draw)

    def _draw_bars(self, axes: Any, name: str, rows: Sequence[str]) -> None:
        """Draw where one classifier is best: in its own row, or in the rows of all results."""
        places = enumerate(rows) if self.several else ((row, "") for row, one in enumerate(rows) if one == name)
        at, boxes = 0, []
        for at, row in places:
            spans = [(low, high) for one, low, high in self.stretches[row] if one == name]
            boxes += [[(x, at + y) for x, y in zip((a, a, b, b), _HALF, strict=True)] for a, b in spans]
        if boxes:
            own = name not in TRIVIAL
            pale = {"facecolor": PALE, "edgecolor": GREY, "linewidth": 0.5}
            look = bar_look(self.classifiers.index(name)) if own else pale
            label = {"label": name} if self.several else {}
            bars = needed("matplotlib.collections", "plot").PolyCollection(boxes, zorder=2, **look, **label)
            self.bar_[name] = axes.add_collection(bars, autolim=False)
        elif not self.several and name in rows:
            text = {"fontsize": "x-small", "color": GREY, "ha": "center", "va": "center", "clip_on": True}
            self.never_[name] = axes.text(0.5, at, "never best", **text)


def _stretches(result: Any) -> tuple[list[tuple[str, float, float]], tuple[str, ...]]:
    """Return who is best where, and all classifiers that a result knows."""
    if isinstance(result, Dominance):
        return list(result.ranges), result.names
    if isinstance(result, RocHull):
        return list(result.ranges()), result.names
    if isinstance(result, Ranges):
        return list(result), ()
    if not isinstance(result, Sequence) or isinstance(result, str) or not result:
        kind = type(result).__name__
        raise InputError(f"`result` must be a Dominance, a RocHull or Ranges, got {shown(result)} ({kind})")
    found = []
    for row in result:
        if not isinstance(row, (list, tuple)) or len(row) != 3:
            raise InputError(f"`result` must have rows (classifier, pc_low, pc_high), got {shown(row)}")
        low, high = (check_in_unit("result", one) for one in row[1:])
        if low > high:
            raise InputError(f"`result` must have rows with pc_low <= pc_high, got {shown(row)}")
        found.append((check_name("result", row[0]), low, high))
    return found, ()
