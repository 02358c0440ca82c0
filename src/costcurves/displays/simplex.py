"""Which of several classifiers is cheapest under which class priors, for three classes, as regions of a triangle."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from costcurves._base.errors import InputError, UnsupportedError
from costcurves._base.validation import FloatArray, check_flag, check_instance, shown
from costcurves.conditions.cost_matrix import as_cost_matrix, check_priors
from costcurves.counting.confusion import ConfusionMatrix
from costcurves.displays._base import Axes, LabelDisplay
from costcurves.displays._placing import Words, label_each
from costcurves.displays._scores import Sample
from costcurves.displays._style import AS_IS, COLUMN, GREY, INK, PALE, Margins, bar_look, marker
from costcurves.multiclass.priors import PriorHull, prior_hull

# The corners for the three classes: left, right, top.
_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, math.sqrt(0.75)]])

# What the class frequencies of the test set are called.
OWN = "this test set"


class PriorSimplexDisplay(LabelDisplay):
    """The triangle of the priors of three classes, divided into regions by the cheapest classifier.

    A point of the triangle represents three class frequencies. The nearer it is to a corner, the more frequent that
    class is. Make it with `from_predictions`, `from_estimator`, `from_cv_results` (which joins the test examples of all
    folds) or `from_results`, which draw immediately, or construct it from the result of `prior_hull` and call `plot`.
    The first three take ``costs``, ``priors`` and ``trivial``, as for `prior_hull`.

    Parameters
    ----------
    hull : PriorHull
        A hull for three classes and one cost matrix.
    own : priors, optional
        Class frequencies to mark as those of the test set. All constructors that count examples mark them.

    Attributes
    ----------
    region_ : dict of name to Polygon
        The region in which each classifier is the cheapest. Empty regions are left out.
    edge_, grid_, corner_ : Polygon, list of Line2D, list of Text
    mark_ : list of Line2D
    own_ : Line2D or None
        The mark of the test set's own class frequencies.
    never_ : Line2D or None
        The entry of the legend that names the classifiers that are cheapest nowhere.
    ax_, figure_, legend_

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import costcurves as cc
    >>> costs = cc.CostMatrix([[0, 1, 20], [1, 0, 5], [50, 10, 0]], labels=["benign", "watch", "urgent"])
    >>> triage = [[880, 50, 6], [20, 150, 10], [1, 9, 74]]
    >>> display = cc.PriorSimplexDisplay(cc.prior_hull({"triage": triage}, costs)).plot()
    >>> sorted(display.region_)
    ["always 'benign'", "always 'urgent'", "always 'watch'", 'triage']
    >>> plt.close(display.figure_)
    """

    _size: ClassVar[tuple[float, float]] = (COLUMN, 3.3)
    _margins: ClassVar[Margins | None] = (0.04, 0.04, 0.04, 0.04)
    edge_: Any = None
    region_: dict[str, Any]
    grid_: list[Any]
    corner_: list[Any]
    mark_: list[Any]
    own_: Any = None
    never_: Any = None

    def __init__(self, hull: Any, *, own: Any = None) -> None:
        self.hull: PriorHull = check_instance("hull", hull, PriorHull)
        if len(hull.labels) != 3:
            raise UnsupportedError(f"`hull` must have three classes to be drawn as a triangle, got {len(hull.labels)}")
        self.own: FloatArray | None = None if own is None else check_priors("own", own, hull.labels)[0]
        self.regions: Mapping[str, FloatArray] = hull.regions()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the classifiers, in the order of the colours. Those that predict one class come last."""
        return self.hull.names

    @classmethod
    def _from_sample(
        cls, sample: Sample, *, costs: Any, priors: Mapping[Any, Any] | None = None, trivial: bool = True
    ) -> Self:
        matrix = as_cost_matrix(costs)
        y_true, answers, _ = sample.paired()
        tables = {
            name: ConfusionMatrix.from_predictions(y_true, answer, labels=matrix.labels)
            for name, answer in answers.items()
        }
        own = next(iter(tables.values())).counts.sum(axis=1)
        return cls(prior_hull(tables, matrix, priors=priors, trivial=trivial), own=own / own.sum())

    def plot(
        self,
        ax: Axes | None = None,
        *,
        mark: Mapping[str, Any] | None = None,
        grid: bool = True,
        legend: bool | str = True,
    ) -> Self:
        """Draw the triangle.

        Parameters
        ----------
        ax, legend
            As for `CostCurveDisplay.plot`.
        mark : mapping of text to priors, optional
            Priors to mark, for example ``{"here": {"benign": 0.9, "watch": 0.08, "urgent": 0.02}}``.
        grid : bool
            Whether to draw lines of equal frequency of each class, every 0.2.
        """
        points = _read_points(mark, self.hull.labels)
        with_grid = check_flag("grid", grid)
        trivial = {f"always {shown(label)}" for label in self.hull.labels}

        def draw(axes: Any) -> Words:
            self.region_, place = {}, 0
            for name in self.names:
                look = {"facecolor": PALE, "edgecolor": GREY, "linewidth": 0.5}
                if name in trivial:
                    look["hatch"] = ("", "///", "...")[len([n for n in self.region_ if n in trivial]) % 3]
                else:
                    look = bar_look(place)
                    place += 1
                if name in self.regions:
                    corners = to_plane(self.regions[name])
                    self.region_[name] = axes.fill(*corners.T, label=name, zorder=1.5, **look)[0]
            self.grid_ = _draw_grid(axes) if with_grid else []
            style = {"facecolor": "none", "edgecolor": INK, "linewidth": 0.9, "zorder": 3}
            self.edge_ = axes.fill(*_CORNERS.T, **style)[0]
            self.corner_ = _draw_corners(axes, self.hull.labels)
            label_each(axes, self.grid_, "grid: 20, 40, 60 and 80 % of each class")
            # Names inside the triangle would cover its regions, so the legend names the marks.
            self.mark_ = [_mark(axes, text, at, marker(i)) for i, (text, at) in enumerate(points.items())]
            self.own_ = None if self.own is None else _mark(axes, OWN, to_plane(self.own), "*")
            nowhere = [name for name in self.names if name not in self.regions]
            self.never_ = None
            if nowhere:
                words = f"never cheapest: {', '.join(nowhere)}"
                self.never_ = axes.plot([], [], linestyle="none", label=words)[0]
            axes.set(xlim=(-0.06, 1.06), ylim=(-0.13, 0.97))
            axes.set_aspect("equal", adjustable="box")
            axes.set_axis_off()
            return Words(legend, "upper right", [*self.names, *points])

        return self._draw(ax, draw)


def to_plane(priors: Any) -> FloatArray:
    """Find the positions of the priors of three classes in the triangle, shape (..., 2)."""
    plane: FloatArray = np.asarray(priors, dtype=np.float64) @ _CORNERS
    return plane


def _read_points(mark: Any, labels: tuple[Any, ...]) -> dict[str, FloatArray]:
    if mark is None:
        return {}
    if not isinstance(mark, Mapping):
        raise InputError(f"`mark` must map texts to priors, got {shown(mark)} ({type(mark).__name__})")
    return {str(text): to_plane(check_priors("mark", priors, labels)[0]) for text, priors in mark.items()}


def _draw_grid(ax: Any) -> list[Any]:
    """Draw lines on which one class has a frequency of 0.2, 0.4, 0.6 or 0.8, with the number at one end."""
    artists: list[Any] = []
    for value in (0.2, 0.4, 0.6, 0.8):
        for first in range(3):
            ends = np.zeros((2, 3))
            ends[:, first] = value
            ends[0, (first + 1) % 3] = ends[1, (first + 2) % 3] = 1 - value
            artists += ax.plot(*to_plane(ends).T, color=INK, linewidth=0.3, alpha=0.35, zorder=2)
    return artists


def _draw_corners(ax: Any, labels: tuple[Any, ...]) -> list[Any]:
    places = zip(_CORNERS, labels, ("left", "right", "center"), ("top", "top", "bottom"), strict=True)
    return [
        ax.annotate(
            f"all {label}", corner, (0, 3 if va == "bottom" else -3), textcoords="offset points", ha=ha, va=va,
            fontsize="small", **AS_IS,
        )
        for corner, label, ha, va in places
    ]  # fmt: skip


def _mark(ax: Any, words: str, at: FloatArray, shape: str) -> Any:
    size = 9 if shape == "*" else 5
    style = {"linestyle": "none", "markersize": size, "color": INK, "markeredgecolor": "white", "zorder": 5}
    return ax.plot(*at, marker=shape, label=words, **style)[0]
