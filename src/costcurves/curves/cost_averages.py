"""The average of several cost curves, which may be given as cost curves, ROC curves or hulls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from costcurves._base.errors import InputError
from costcurves._base.validation import check_name, shown
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.roc import RocCurve
from costcurves.curves.steps import HasRocCurve

# A cost curve, or what stands for its own lower envelope.
CurveLike = CostCurve | RocCurve | HasRocCurve


def as_cost_curve(curve: CurveLike, what: str = "curves") -> CostCurve:
    """Return a cost curve; a ROC curve or a hull becomes its lower envelope."""
    if isinstance(curve, CostCurve):
        return curve
    if isinstance(curve, RocCurve) or hasattr(curve, "to_roc_curve"):
        return CostCurve(curve)
    raise InputError(f"`{what}` must be cost curves or ROC curves, got {shown(curve)} ({type(curve).__name__})")


CostCurves = Iterable[CurveLike] | Mapping[str, CurveLike]


def as_cost_curves(curves: CostCurves) -> list[CostCurve]:
    """Return cost curves from a sequence, or from a mapping whose keys are their names."""
    if isinstance(curves, Mapping):
        listed = [as_cost_curve(c).renamed(n) for n, c in curves.items()]
    else:
        try:
            listed = [as_cost_curve(curve) for curve in curves]
        except TypeError:
            raise InputError(f"`curves` must be a sequence of curves, got {shown(curves)}") from None
    if not listed:
        raise InputError("`curves` must not be empty, got 0 curves")
    return listed


def average_cost_curves(curves: CostCurves, *, name: str = "average") -> CostCurve:
    """Return the mean cost at every operating condition: the vertical average of cost curves.

    Parameters
    ----------
    curves : sequence of CostCurve or RocCurve
        For example one per fold. A ROC curve stands for its cost curve at the optimal thresholds.
    name : str
        The name of the average.

    Notes
    -----
    This is the average performance (Holte & Drummond 2005, section 7). A vertical or horizontal average of ROC curves
    is not: its performance is worse than the average performance.

    Examples
    --------
    >>> import costcurves as cc
    >>> folds = [cc.RocCurve.from_rates(0.04, 0.4), cc.RocCurve.from_rates(0.3, 0.8)]
    >>> round(cc.average_cost_curves(folds).evaluate(0.5), 6)
    0.285
    """
    listed = as_cost_curves(curves)
    breaks = np.unique(np.concatenate([curve.breaks for curve in listed]))
    middle = (breaks[:-1] + breaks[1:]) / 2
    fpr = np.mean([curve.fpr[curve.step_at(middle)] for curve in listed], axis=0)
    fnr = np.mean([curve.fnr[curve.step_at(middle)] for curve in listed], axis=0)
    error = float(np.mean([curve.max_error for curve in listed]))
    return CostCurve._from_pieces(check_name("name", name), breaks, fpr, fnr, error)
