"""The errors and warnings of costcurves. Error messages name the argument, the rule and the value."""

import contextlib
import sys
import warnings
from pathlib import Path


class CostCurvesError(ValueError):
    """Base class of all errors that costcurves raises deliberately.

    Examples
    --------
    >>> import costcurves as cc
    >>> try:
    ...     cc.OperatingCondition(prevalence=9, cost_fp=1, cost_fn=100)
    ... except cc.CostCurvesError as error:
    ...     print(error)
    `prevalence` must be in (0, 1), got 9: 9 % is 0.09
    """


class InputError(CostCurvesError):
    """An argument is invalid: it is out of range, has the wrong shape or contradicts another one.

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.OperatingCondition.from_pc(1.5)
    Traceback (most recent call last):
    ...
    costcurves.InputError: `pc` must be in [0, 1], got 1.5: 1.5 % is 0.015
    """


class DataError(CostCurvesError):
    """Labels, scores or weights cannot be evaluated, for example because of a single class, NaN or unequal lengths.

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.RocCurve.from_predictions([1, 1], [0.2, 0.7])
    Traceback (most recent call last):
    ...
    costcurves.DataError: `y_true` must hold both classes, got 2 positive and 0 negative examples
    """


class UnsupportedError(CostCurvesError):
    """The request is valid, but this object does not hold the information that the answer needs.

    Examples
    --------
    >>> import costcurves as cc
    >>> curve = cc.RocCurve.from_rates(fpr=0.1, tpr=0.6, name="expert")
    >>> cc.pool_examples([curve, curve])
    Traceback (most recent call last):
    ...
    costcurves.UnsupportedError: `curves` must come from scores to be pooled, got 'expert' made from rates
    """


class FormatError(CostCurvesError):
    """A file or a text has the wrong format, such as broken JSON or an unknown version.

    Examples
    --------
    >>> import costcurves as cc
    >>> issubclass(cc.FormatError, cc.CostCurvesError)
    True
    """


class MissingExtraError(CostCurvesError, ImportError):
    """An optional dependency is not installed. The message says what to install.

    Examples
    --------
    >>> import costcurves as cc
    >>> issubclass(cc.MissingExtraError, ImportError)
    True
    """


class CostCurvesWarning(UserWarning):
    """Base class of all warnings that costcurves issues.

    Examples
    --------
    >>> import costcurves as cc
    >>> issubclass(cc.SmallSampleWarning, cc.CostCurvesWarning)
    True
    """


class WorseThanChanceWarning(CostCurvesWarning):
    """A classifier ranks positives significantly below negatives, so its scores may be those of the other class.

    At most 1 in 10,000 data sets with uninformative scores cause this warning.

    Examples
    --------
    >>> import warnings
    >>> import costcurves as cc
    >>> y = [0] * 15 + [1] * 15
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     curve = cc.RocCurve.from_predictions(y, range(30, 0, -1), name="reversed")
    >>> print(caught[0].message)  # doctest: +ELLIPSIS
    'reversed' is worse than chance: its AUC is 0. Are these the scores of the other class? ...
    """


class SmallSampleWarning(CostCurvesWarning):
    """The data cannot support the interval: a rare and expensive error was observed too few times, or folds are tiny.

    Examples
    --------
    >>> import costcurves as cc
    >>> issubclass(cc.SmallSampleWarning, UserWarning)
    True
    """


class FewerFoldsWarning(CostCurvesWarning):
    """A class has too few cases for the folds that were asked for, so that there are fewer; the message says how many.

    Examples
    --------
    >>> import costcurves as cc
    >>> issubclass(cc.FewerFoldsWarning, cc.CostCurvesWarning)
    True
    """


class DroppedRowsWarning(CostCurvesWarning):
    """Rows with missing values were left out because of ``on_null="drop"``. The message says how many.

    Examples
    --------
    >>> import costcurves as cc
    >>> issubclass(cc.DroppedRowsWarning, UserWarning)
    True
    """


# The files of stack frames that do not belong to the caller: this package, and decorators.
_INSIDE = (str(Path(__file__).parents[1]), contextlib.__file__)


def warn(message: str, category: type[CostCurvesWarning]) -> None:
    """Warn at the line of the user's code that called this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


# A traceback shows the name that users import, and not the module that defines it.
for _base in (CostCurvesError, CostCurvesWarning):
    for _class in (_base, *_base.__subclasses__()):
        _class.__module__ = "costcurves"
