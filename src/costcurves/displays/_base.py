"""The base classes of displays: how they are constructed, on which axes they are drawn, and how they are saved."""

from __future__ import annotations

import base64
import inspect
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy.typing as npt

from costcurves._base.errors import InputError, UnsupportedError
from costcurves._base.frames import NamedColumns
from costcurves._base.validation import Column, ResponseMethod, check_flag
from costcurves.conditions.cost_matrix import CostsLike
from costcurves.counting.class_labels import Label
from costcurves.curves.chance import one_question
from costcurves.data.predictions import Predictions
from costcurves.displays import _scores
from costcurves.displays._placing import Words, settle
from costcurves.displays._scores import Sample
from costcurves.displays._style import (
    COLUMN,
    SCREEN_DPI,
    Margins,
    canvas,
    check_axes,
    chosen,
    figure_bytes,
    line_options,
    pyplot,
    save_figure,
    shown_as_pictures,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
else:
    Axes = Any  # matplotlib is imported when something is drawn


class Display:
    """Base class of all displays. They are made from results of the core and drawn by `plot`, which keeps its artists.

    A display computes nothing itself, so it can be drawn again with other options or on other axes.
    """

    ax_: Any = None
    figure_: Any = None
    legend_: Any = None
    _size: ClassVar[tuple[float, float]] = (COLUMN, 2.75)
    _margins: ClassVar[Margins | None] = None
    # Each display defines how it is made from a sample. The keywords of this method are options of all constructors.
    _from_sample: Callable[..., Any]

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on the given axes, or on those of a new figure, and return the display."""
        raise TypeError(f"{type(self).__name__} must define how it is drawn")

    def _checked(
        self, ax: Any, names: Any, curve_kwargs: Any, **flags: Any
    ) -> tuple[tuple[str, ...], dict[str, dict[str, Any]], dict[str, bool]]:
        """Check what all methods `plot` take: the names to draw, the looks of all lines, and options that are flags."""
        looks = line_options(self.names, curve_kwargs, ax)
        return chosen(names, self.names), looks, {name: check_flag(name, value) for name, value in flags.items()}

    def _draw(self, ax: Any, draw: Callable[[Any], Words | None]) -> Self:
        """Draw on the given axes or on new ones, place the words that `draw` returns, and keep the axes."""
        with canvas(ax, self._size, self._margins) as axes:
            self.legend_ = settle(axes, draw(axes), own=ax is None, margins=self._margins)
        self.ax_, self.figure_ = axes, axes.figure
        return self

    def save(self, path: str | os.PathLike[str], *, dpi: float = 300.0) -> Path:
        """Write the figure as SVG, PNG or PDF, depending on the ending of the path. The same data give the same bytes.

        Parameters
        ----------
        path : str or path
            A path that ends in .svg, .png or .pdf. The file is written completely or not at all.
        dpi : float
            The resolution of a PNG in dots per inch.
        """
        if self.figure_ is None:
            raise UnsupportedError("`save` needs a figure: call plot() first")
        return save_figure(self.figure_.canvas.figure, path, dpi=dpi)  # the whole figure of a subfigure

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what is drawn, in the order of the colours."""
        raise TypeError(f"{type(self).__name__} must have names")

    def __repr__(self) -> str:
        """Show the kind of display and the names of what it draws."""
        return f"{type(self).__name__}({', '.join(repr(name) for name in self.names)})"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """Show the figure where notebooks show the last line of a cell, drawn first if need be.

        A notebook shows the figures that are still open at the end of a cell as well, so the figure is closed here.
        """
        text = {"text/plain": repr(self)}
        if not shown_as_pictures():
            return text
        figure = (self if self.figure_ is not None else self.plot()).figure_.canvas.figure
        picture = base64.b64encode(figure_bytes(figure, "png", 2 * SCREEN_DPI)).decode()
        width, height = (round(SCREEN_DPI * inches) for inches in figure.get_size_inches())
        pyplot().close(figure)
        return {**text, "image/png": picture}, {"image/png": {"width": width, "height": height}}

    @classmethod
    def from_results(cls, results: Any, *, ax: Axes | None = None, **options: Any) -> Self:
        """Draw results that have already been computed.

        Parameters
        ----------
        results
            The first parameter of the class.
        ax : matplotlib Axes, optional
            The axes to draw on, by default those of a new figure.
        **options
            Further parameters of the class and those of `plot`.
        """
        make: Any = cls
        return cls._drawn(partial(make, results), make, ax, options)

    @classmethod
    @one_question()
    def _made(cls, sample: Callable[[], Sample], ax: Any, options: dict[str, Any]) -> Self:
        """Make a display from a sample and draw it."""
        return cls._drawn(lambda **computed: cls._from_sample(sample(), **computed), cls._from_sample, ax, options)

    @classmethod
    def _drawn(cls, make: Callable[..., Self], maker: Any, ax: Any, options: dict[str, Any]) -> Self:
        """Make and draw a display. Options in the signature of `maker` are passed to `make`, the others to `plot`."""
        made, drawn = (_keywords(step) for step in (maker, cls.plot))
        if strange := [name for name in options if name not in {*made, *drawn}]:
            known = ", ".join(sorted({*made, *drawn}))
            raise InputError(f"`{strange[0]}` must be an option of {cls.__name__}: {known}")
        if ax is not None:
            check_axes(ax)
        if missing := [name for name, default in made.items() if default is _NONE and name not in options]:
            raise InputError(f"`{missing[0]}` must be given to {cls.__name__}, got none")
        display = make(**{name: options[name] for name in made if name in options})
        return display.plot(ax, **{name: options[name] for name in drawn if name in options})


_NONE = inspect.Parameter.empty


def _keywords(method: Any) -> dict[str, Any]:
    """List the keyword-only parameters of a method and their defaults."""
    parameters = inspect.signature(method).parameters.values()
    return {one.name: one.default for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}


class ScoreDisplay(Display):
    """Base class of displays for classifiers that give scores, for two classes."""

    @classmethod
    def from_predictions(
        cls,
        y_true: Column | Predictions,
        y_score: npt.ArrayLike | NamedColumns | None = None,
        *,
        sample_weight: npt.ArrayLike | None = None,
        pos_label: Label | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the figure from labels and scores.

        Parameters
        ----------
        y_true : array-like of shape (n,), or Predictions
            True labels of two classes. `Predictions`, such as `evaluate` returns, provide labels, scores, weights and
            folds together.
        y_score : array-like of shape (n,), or mapping (or dataframe) of names to these
            Scores, higher for the positive class. Scores of several classifiers are given by name.
        sample_weight : array-like of shape (n,), optional
        pos_label : label, optional
            The positive class, which is required unless labels are booleans, 0/1 or -1/1.
        name : str, optional
            The name of a single classifier.
        ax : matplotlib Axes, optional
            The axes to draw on, by default those of a new figure.
        **options
            Options of the display, which its class describes, and those of `plot`.
        """
        given = {"pos_label": pos_label, "sample_weight": sample_weight, "name": name}
        return cls._made(partial(_scores.of_predictions, y_true, y_score, "y_score", **given), ax, options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Column,
        *,
        sample_weight: npt.ArrayLike | None = None,
        response_method: ResponseMethod = "auto",
        pos_label: Label | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the figure from fitted scikit-learn classifiers and test data.

        Parameters
        ----------
        estimator : fitted classifier, or mapping (or list) of several
            By default, a classifier is named after its class.
        X, y : array-like
            Test data and their labels.
        response_method : {"auto", "predict_proba", "decision_function"}
            The method that gives scores. "auto" uses the first of them that the classifier has.
        sample_weight, pos_label, name, ax, **options
            As for `from_predictions`.
        """
        given = {"pos_label": pos_label, "sample_weight": sample_weight, "name": name}
        respond = partial(_scores.scores, pos_label=pos_label, response_method=response_method)
        return cls._made(partial(_scores.of_estimators, estimator, X, y, respond, **given), ax, options)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Any,
        X: Any,
        y: Column,
        *,
        sample_weight: npt.ArrayLike | None = None,
        response_method: ResponseMethod = "auto",
        pos_label: Label | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the figure from a cross-validation, in which a classifier predicts only examples it was not trained on.

        Parameters
        ----------
        cv_results : dict, or mapping of names to these
            The output of ``cross_validate(..., return_estimator=True, return_indices=True)``.
        X, y : array-like
            The data that was cross-validated.
        sample_weight, response_method, pos_label, name, ax, **options
            As for `from_estimator`.
        """
        given = {"pos_label": pos_label, "sample_weight": sample_weight, "name": name}
        respond = partial(_scores.scores, pos_label=pos_label, response_method=response_method)
        return cls._made(partial(_scores.of_cv_results, cv_results, X, y, respond, **given), ax, options)


class LabelDisplay(Display):
    """Base class of displays for classifiers that predict labels, for any number of classes and a cost matrix."""

    @classmethod
    def from_predictions(
        cls,
        y_true: Column | Predictions,
        y_pred: Column | NamedColumns,
        *,
        costs: CostsLike,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the figure from true and predicted labels.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels.
        y_pred : array-like of shape (n,), or mapping (or dataframe) of names to these
            Predicted labels. Those of several classifiers are given by name.
        costs : CostMatrix or table
            Rows are true classes, columns are predicted classes.
        name : str, optional
            The name of a single classifier.
        ax : matplotlib Axes, optional
            The axes to draw on, by default those of a new figure.
        **options
            Options of the display, which its class describes, and those of `plot`.
        """
        sample = partial(_scores.of_predictions, y_true, y_pred, "y_pred", name=name)
        return cls._made(sample, ax, {"costs": costs, **options})

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Column,
        *,
        costs: CostsLike,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the figure from fitted scikit-learn classifiers and test data.

        Parameters
        ----------
        estimator : fitted classifier, or mapping (or list) of several
            By default, a classifier is named after its class.
        X, y : array-like
            Test data and their labels.
        costs, name, ax, **options
            As for `from_predictions`.
        """
        sample = partial(_scores.of_estimators, estimator, X, y, _scores.labels, name=name)
        return cls._made(sample, ax, {"costs": costs, **options})

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Any,
        X: Any,
        y: Column,
        *,
        costs: CostsLike,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the figure from a cross-validation, in which a classifier predicts only examples it was not trained on.

        Parameters
        ----------
        cv_results : dict, or mapping of names to these
            The output of ``cross_validate(..., return_estimator=True, return_indices=True)``.
        X, y : array-like
            The data that was cross-validated.
        costs, name, ax, **options
            As for `from_predictions`.
        """
        sample = partial(_scores.of_cv_results, cv_results, X, y, _scores.labels, name=name)
        return cls._made(sample, ax, {"costs": costs, **options})
