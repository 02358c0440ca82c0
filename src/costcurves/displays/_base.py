"""What every display has: the doors it is made through, the axes it is drawn on, and how it is saved."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

from costcurves._base.errors import InputError, UnsupportedError
from costcurves.curves.chance import one_question
from costcurves.displays import _scores
from costcurves.displays._scores import Sample
from costcurves.displays._style import COLUMN, Margins, canvas, check_axes, grow_for, save_figure


class Display:
    """Base of all displays: made from results of the core, drawn by `plot`, which keeps its artists.

    A display computes nothing of its own, so it can be drawn again, with other options or on other axes.
    """

    ax_: Any = None
    figure_: Any = None
    legend_: Any = None
    _size: ClassVar[tuple[float, float]] = (COLUMN, 2.75)
    _margins: ClassVar[Margins | None] = None
    # Each display says how it is made of a sample; its keywords are options of every door.
    _from_sample: Callable[..., Any]

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on those of a new figure, and return the display."""
        raise TypeError(f"{type(self).__name__} must say how it is drawn")

    def _draw(self, ax: Any, draw: Callable[[Any], None]) -> Self:
        """Draw on the axes given or new ones and keep them."""
        with canvas(ax, self._size, self._margins) as axes:
            draw(axes)
            if ax is None:
                grow_for(axes.figure, self.legend_, self._margins)
        self.ax_, self.figure_ = axes, axes.figure
        return self

    def save(self, path: str | os.PathLike[str], *, dpi: float = 300.0) -> Path:
        """Write the figure as SVG, PNG or PDF, by the ending of the path; the same data give the same bytes.

        Parameters
        ----------
        path : str or path
            Ends in .svg, .png or .pdf; the file is written whole or not at all.
        dpi : float
            Dots an inch of a PNG.
        """
        if self.figure_ is None:
            raise UnsupportedError("`save` needs a figure: call plot() first")
        return save_figure(self.figure_.canvas.figure, path, dpi=dpi)  # the whole figure of a subfigure

    @property
    def names(self) -> tuple[str, ...]:
        """What is drawn, by name, in the order of the colours."""
        raise TypeError(f"{type(self).__name__} must have names")

    def __repr__(self) -> str:
        """Return the kind of display and whose it is."""
        return f"{type(self).__name__}({', '.join(repr(name) for name in self.names)})"

    @classmethod
    def from_results(cls, results: Any, *, ax: Any = None, **options: Any) -> Self:
        """Draw results that were computed before.

        Parameters
        ----------
        results
            What the class is made of, its first parameter.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **options
            Further parameters of the class and those of `plot`.
        """
        make: Any = cls
        return cls._drawn(partial(make, results), make, ax, options)

    @classmethod
    @one_question()
    def _made(cls, sample: Callable[[], Sample], ax: Any, options: dict[str, Any]) -> Self:
        """Return the drawn display of a sample."""
        return cls._drawn(lambda **computed: cls._from_sample(sample(), **computed), cls._from_sample, ax, options)

    @classmethod
    def _drawn(cls, make: Callable[..., Self], maker: Any, ax: Any, options: dict[str, Any]) -> Self:
        """Return the drawn display; options go to what makes it (by the signature of `maker`) or to `plot`."""
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
    """Return the keyword-only parameters of a method and their defaults."""
    parameters = inspect.signature(method).parameters.values()
    return {one.name: one.default for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}


class ScoreDisplay(Display):
    """A display of classifiers that give scores, for two classes."""

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any = None,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the figure of labels and scores.

        Parameters
        ----------
        y_true : array-like of shape (n,), or Predictions
            True labels of two classes; `Predictions`, for example those of `evaluate`, stand for labels, scores,
            weights and folds together.
        y_score : array-like of shape (n,), or mapping (or dataframe) of names to such
            Scores, higher for the positive class; of several classifiers by name.
        sample_weight : array-like of shape (n,), optional
        pos_label : label, optional
            The positive class; needed unless labels are booleans, 0/1 or -1/1.
        name : str, optional
            The name of a single classifier.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **options
            Those of the display, see its class, and those of `plot`.
        """
        given = {"pos_label": pos_label, "sample_weight": sample_weight, "name": name}
        return cls._made(partial(_scores.of_predictions, y_true, y_score, "y_score", **given), ax, options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        response_method: str = "auto",
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the figure of fitted scikit-learn classifiers on test data.

        Parameters
        ----------
        estimator : fitted classifier, or mapping (or list) of several
            By default a classifier has the name of its class.
        X, y : array-like
            Test data and their labels.
        sample_weight : array-like of shape (n,), optional
        response_method : {"auto", "predict_proba", "decision_function"}
            Where scores come from; "auto" takes the first that the classifier has.
        pos_label : label, optional
            The positive class; needed unless labels are booleans, 0/1 or -1/1.
        name : str, optional
            The name of a single classifier.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **options
            Those of the display, see its class, and those of `plot`.
        """
        respond = partial(_scores.scores, pos_label=pos_label, response_method=response_method)
        given = {"pos_label": pos_label, "sample_weight": sample_weight, "name": name}
        return cls._made(partial(_scores.of_estimators, estimator, X, y, respond, **given), ax, options)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        response_method: str = "auto",
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the figure of a cross-validation: every example is judged by a classifier that has not seen it.

        Parameters
        ----------
        cv_results : dict, or mapping of names to such
            What ``cross_validate(..., return_estimator=True, return_indices=True)`` returns.
        X, y : array-like
            The data that was cross-validated.
        sample_weight, response_method, pos_label, name, ax
            As for `from_estimator`.
        **options
            Those of the display, see its class, and those of `plot`.
        """
        respond = partial(_scores.scores, pos_label=pos_label, response_method=response_method)
        given = {"pos_label": pos_label, "sample_weight": sample_weight, "name": name}
        return cls._made(partial(_scores.of_cv_results, cv_results, X, y, respond, **given), ax, options)


class LabelDisplay(Display):
    """A display of classifiers that predict labels, for any number of classes and a matrix of costs."""

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, costs: Any, name: str | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Draw the figure of labels and predicted labels.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels.
        y_pred : array-like of shape (n,), or mapping (or dataframe) of names to such
            Predicted labels; of several classifiers by name.
        costs : CostMatrix or table
            Rows true, columns predicted.
        name : str, optional
            The name of a single classifier.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **options
            Those of the display, see its class, and those of `plot`.
        """
        sample = partial(_scores.of_predictions, y_true, y_pred, "y_pred", name=name)
        return cls._made(sample, ax, {"costs": costs, **options})

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, costs: Any, name: str | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Draw the figure of fitted scikit-learn classifiers on test data.

        Parameters
        ----------
        estimator : fitted classifier, or mapping (or list) of several
            By default a classifier has the name of its class.
        X, y : array-like
            Test data and their labels.
        costs, name, ax, **options
            As for `from_predictions`.
        """
        sample = partial(_scores.of_estimators, estimator, X, y, _scores.labels, name=name)
        return cls._made(sample, ax, {"costs": costs, **options})

    @classmethod
    def from_cv_results(
        cls, cv_results: Any, X: Any, y: Any, *, costs: Any, name: str | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Draw the figure of a cross-validation: every example is judged by a classifier that has not seen it.

        Parameters
        ----------
        cv_results : dict, or mapping of names to such
            What ``cross_validate(..., return_estimator=True, return_indices=True)`` returns.
        X, y : array-like
            The data that was cross-validated.
        costs, name, ax, **options
            As for `from_predictions`.
        """
        sample = partial(_scores.of_cv_results, cv_results, X, y, _scores.labels, name=name)
        return cls._made(sample, ax, {"costs": costs, **options})
