"""How often a band contains the true cost, against pc."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, Self

from costcurves._base.errors import UnsupportedError
from costcurves._base.validation import DEFAULT_LEVEL, Sampling
from costcurves.curves.cost_curve import CostCurve
from costcurves.displays._base import Axes, ScoreDisplay
from costcurves.displays._conditions import LineSettings, Names, pc_axis
from costcurves.displays._placing import Words, label_each
from costcurves.displays._scores import Sample
from costcurves.displays._style import GREY, by_name, one_or_all
from costcurves.planning.coverage import Coverage, coverage


class CoverageDisplay(ScoreDisplay):
    """The probability that a confidence band contains the true cost, against pc, with the nominal level.

    Make it with `from_results`, or with `from_predictions`, `from_estimator` and `from_cv_results`. The latter treat
    the classifier's own curve as the truth and show how good its band is with a test set like this one. They take
    ``method`` (one or several, by default "wilson" and "gaussian"), ``level`` (by default 0.95), ``sampling``,
    ``policy`` and ``pc``, as for `coverage`.

    Parameters
    ----------
    coverages : Coverage, sequence, or mapping of names to these
        The names of a sequence are made from the settings in which its members differ.

    Attributes
    ----------
    line_ : Line2D, or list of Line2D for several
    level_ : list of Line2D
        The nominal levels.
    ax_, figure_, legend_

    Notes
    -----
    Figures 2 to 6 of Dugas & Gadoury (2008).

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import costcurves as cc
    >>> world = cc.Binormal(shift=3, scale=3)
    >>> found = {f"n = {n}": cc.coverage(world, n_pos=n, n_neg=n, level=0.9) for n in (25, 250)}
    >>> display = cc.CoverageDisplay(found).plot()
    >>> display
    CoverageDisplay('n = 25', 'n = 250')
    >>> plt.close(display.figure_)
    """

    line_: Any = None
    level_: list[Any]

    def __init__(self, coverages: Any) -> None:
        self.coverages: dict[str, Coverage] = by_name("coverages", coverages, Coverage, _told)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the lines, in the order of the colours."""
        return tuple(self.coverages)

    @classmethod
    def _from_sample(
        cls,
        sample: Sample,
        *,
        method: Literal["wilson", "gaussian"] | Sequence[Literal["wilson", "gaussian"]] = ("wilson", "gaussian"),
        level: float = DEFAULT_LEVEL,
        sampling: Sampling = "stratified",
        policy: Any = "optimal",
        pc: Any = None,
    ) -> Self:
        found = []
        for roc in sample.curves():
            if roc.effective is not None:
                raise UnsupportedError(f"`sample_weight` must be None for a coverage, got weights for {roc.name!r}")
            found += [
                coverage(
                    CostCurve(roc, policy), n_pos=int(roc.n_pos), n_neg=int(roc.n_neg), level=level, method=one,
                    sampling=sampling, pc=pc,
                )
                for one in ([method] if isinstance(method, str) else method)
            ]  # fmt: skip
        return cls(found)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        names: Names | None = None,
        legend: bool | str = True,
        curve_kwargs: LineSettings | None = None,
    ) -> Self:
        """Draw the coverage.

        Parameters
        ----------
        ax, names, legend, curve_kwargs
            As for `CostCurveDisplay.plot`.
        """
        shown_names, options, _ = self._checked(ax, names, curve_kwargs)

        def draw(axes: Any) -> Words:
            found = [self.coverages[name] for name in shown_names]
            levels = sorted({one.level for one in found})
            self.level_ = [axes.axhline(level, color=GREY, linewidth=0.8, linestyle="-", zorder=1) for level in levels]
            promised = ", ".join(f"{100 * level:g} %" for level in levels)
            label_each(axes, self.level_, f"promised: {promised}")
            drawn = [
                axes.plot(one.pc, one.probability, **{"linewidth": 1.2, "zorder": 3, **options[name]})[0]
                for name, one in zip(shown_names, found, strict=True)
            ]
            self.line_ = one_or_all(drawn)
            pc_axis(axes)
            lowest = min(min(one.worst for one in found), levels[0] - 0.5 * (1 - levels[0]))
            axes.set(ylim=(max(0.0, math.floor(20 * lowest) / 20), 1.0), ylabel="chance that the band holds the cost")
            return Words(legend, "lower center", self.names)

        return self._draw(ax, draw)


def _told(listed: list[Coverage]) -> list[str]:
    """Make names from the settings in which the coverages differ."""
    parts = [
        [one.name for one in listed],
        [one.method for one in listed],
        [f"{one.sampling} sampling" for one in listed],
        [f"{one.n_pos} + {one.n_neg} examples" for one in listed],
        [f"{100 * one.level:g} %" for one in listed],
    ]
    differing = [part for part in parts if len(set(part)) > 1] or parts[:1]
    return [", ".join(words) for words in zip(*differing, strict=True)]
