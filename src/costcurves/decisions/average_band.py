"""Bands for the mean cost curve of several folds."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np

from costcurves._base.errors import InputError
from costcurves._base.validation import FloatArray, check_choice, check_flag
from costcurves.conditions.range import GridLike
from costcurves.curves.averages import CostCurves, as_cost_curves
from costcurves.curves.cost_curve import CostCurve
from costcurves.inference.bands.one_curve import between_folds_band, within_folds_band
from costcurves.inference.bands.results import Band, operating_points


def average_band(
    curves: CostCurves,
    *,
    kind: Literal["between", "within"] = "between",
    level: float = 0.95,
    pc: GridLike | None = None,
    **options: Any,
) -> Band:
    """Return a band for the mean cost curve of several folds.

    Parameters
    ----------
    curves : sequence of CostCurve or RocCurve
        One for each fold.
    kind : {"between", "within"}
        ``"between"`` is Student's interval from the differences between folds. It says how much the mean would move
        with other training and test folds; since training sets overlap, it is somewhat too narrow. ``"within"`` says
        how well the test examples determine the mean cost of these very classifiers, without the variation of training.
    level : float in (0, 1)
    pc : array-like, OperatingRange or OperatingCondition, optional
        Operating points, increasing; by default 0, 0.01, ..., 1. A range stands for 101 evenly spaced points of it.
    **options
        For ``kind="within"``: `method` ("wilson" or "gaussian") and `simultaneous`.

    Notes
    -----
    Both kinds take the thresholds of every fold as given. ROC curves, and cost curves with the policy "optimal", have
    thresholds that were chosen on the fold's own test cases, so that their mean is too low as a forecast: in
    simulations with five folds, the mean cost on new cases lay outside the limits in about half of the data sets. Give
    cost curves with ``policy="crossfit"`` or with thresholds from other data, or ask `Predictions.recommend`, which
    `evaluate` leads to and which judges all folds together. Student's interval is also too narrow where each fold has
    only a handful of cases of a class: with four positives a fold, it missed in about half of the data sets.

    Examples
    --------
    >>> import costcurves as cc
    >>> tables = [[[80, 20], [5, 15]], [[90, 10], [8, 12]]]
    >>> folds = [cc.RocCurve.from_confusion_matrix(table) for table in tables]
    >>> cc.average_band(folds, kind="within").at(0.5)
    Interval(0.2375 in [0.1718, 0.3198], level=0.95)
    """
    check_choice("kind", kind, ("between", "within"))
    listed = as_cost_curves(curves)
    points = operating_points(pc)
    if kind == "between":
        if options:
            raise InputError(f"`kind='between'` must have no further options, got {', '.join(options)}")
        return _between_folds(listed, points, level).evaluated_by(partial(_between_folds_at, listed, level))
    known = ("method", "simultaneous", "sampling", "laplace")
    if strange := [name for name in options if name not in known]:
        raise InputError(f"`kind='within'` must have no options but {', '.join(known)}, got {', '.join(strange)}")
    check_flag("simultaneous", options.get("simultaneous", False))
    band = _within_folds(listed, points, {"level": level, **options})
    if band.simultaneous:
        options["critical_value"] = band.critical
    return band.evaluated_by(partial(_within_folds_at, listed, points, {"level": level, **options}))


def _between_folds(curves: list[CostCurve], pc: FloatArray, level: float) -> Band:
    """Return the band of the mean curve from how the folds differ."""
    errors = [curve.max_error for curve in curves]
    return between_folds_band([curve.evaluate(pc) for curve in curves], pc, level=level, max_error=errors)


def _between_folds_at(curves: list[CostCurve], level: float, pc: float) -> tuple[float, ...]:
    """Return (estimate, lower, upper) at one pc, from how the folds differ there."""
    band = _between_folds(curves, np.array([pc]), level)
    return float(band.estimate[0]), float(band.lower[0]), float(band.upper[0])


def _within_folds(curves: list[CostCurve], pc: FloatArray, options: dict[str, Any]) -> Band:
    """Return the band of the mean curve from the test examples of each fold."""
    errors = [curve.errors_at(pc) for curve in curves]
    rocs = [curve.roc for curve in curves if curve.roc is not None]
    return within_folds_band(
        [fn for fn, _ in errors],
        [roc.n_pos for roc in rocs],
        [fp for _, fp in errors],
        [roc.n_neg for roc in rocs],
        pc,
        known=np.all([curve.trivial_at(pc) for curve in curves], axis=0),
        **options,
    ).with_error(float(np.mean([curve.max_error for curve in curves])))


def _within_folds_at(
    curves: list[CostCurve], points: FloatArray, options: dict[str, Any], pc: float
) -> tuple[float, ...]:
    """Return (estimate, lower, upper) at one pc of the band over some points, as if it had been among them."""
    band = _within_folds(curves, np.union1d(points, [pc]), options)
    i = int(np.searchsorted(band.pc, pc))
    return float(band.estimate[i]), float(band.lower[i]), float(band.upper[i])
