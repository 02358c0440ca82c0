"""Several ROC curves of one classifier combined: pooled examples, and the vertical average."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from costcurves._base.errors import UnsupportedError
from costcurves._base.results import Result
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    MOST_POINTS,
    BoolArray,
    FloatArray,
    check_integer,
    check_level,
    check_name,
)
from costcurves.counting import counts
from costcurves.curves.checked_curves import check_curves
from costcurves.curves.roc import RocCurve


def pool(curves: Any, *, name: str = "pooled") -> RocCurve:
    """Return the ROC curve of all the curves' examples together, at shared thresholds.

    Pooling assumes that a score means the same in every curve, as in calibrated folds. If it does not, average.

    Parameters
    ----------
    curves : sequence of RocCurve
        Curves made from scores, all of them counted or all weighted. Names may repeat, as for the folds of a
        classifier.
    name : str
        The name of the pooled curve.

    Examples
    --------
    >>> import costcurves as cc
    >>> a = cc.RocCurve.from_predictions([0, 1], [0.2, 0.7])
    >>> b = cc.RocCurve.from_predictions([0, 1, 1], [0.3, 0.1, 0.7])
    >>> cc.pool([a, b])
    RocCurve('pooled': 5 examples (3 positive), 5 points, auc=0.667)
    """
    listed = check_curves(curves, repeats=True)
    for curve in listed:
        if curve.made_from == "rates":
            raise UnsupportedError(f"`curves` must come from scores to be pooled, got {curve.name!r} made from rates")
        if not curve.has_thresholds:
            raise UnsupportedError(
                f"`curves` must come from scores to be pooled, got {curve.name!r} without thresholds"
            )
        curve.need_all_points("pool")
    cuts = np.concatenate([c.thresholds[1:] for c in listed])
    dtype = np.result_type(*[c.fp for c in listed])
    distinct, place = np.unique(-cuts, return_inverse=True)
    fp, tp = np.zeros(distinct.size, dtype), np.zeros(distinct.size, dtype)
    np.add.at(fp, place, np.concatenate([np.diff(c.fp) for c in listed]))
    np.add.at(tp, place, np.concatenate([np.diff(c.tp) for c in listed]))
    zero = np.zeros(1, dtype)
    table = counts.ScoreCounts(
        np.concatenate(([np.inf], -distinct)),
        np.concatenate((zero, np.cumsum(fp))),
        np.concatenate((zero, np.cumsum(tp))),
    )
    name = check_name("name", name)
    return RocCurve._from_counts(table, name=name, effective=_pooled_effective(listed), complete=True)


def _pooled_effective(curves: list[RocCurve]) -> tuple[float, float] | None:
    """Return the effective numbers of the examples of all curves, from those of each."""
    if all(curve.effective is None for curve in curves):
        return None
    known = [curve.effective or (curve.n_pos, curve.n_neg) for curve in curves]
    pos = sum(c.n_pos for c in curves) ** 2 / sum(c.n_pos**2 / e[0] for c, e in zip(curves, known, strict=True))
    neg = sum(c.n_neg for c in curves) ** 2 / sum(c.n_neg**2 / e[1] for c, e in zip(curves, known, strict=True))
    return float(pos), float(neg)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AveragedRoc(Result):
    """A vertically averaged ROC curve with a pointwise interval: `fpr`, `tpr`, `lower`, `upper`.

    Examples
    --------
    >>> import costcurves as cc
    >>> folds = [cc.RocCurve.from_rates(0.04, 0.4), cc.RocCurve.from_rates(0.3, 0.8)]
    >>> cc.average_roc_curves(folds, n_points=11)
    AveragedRoc('average': mean of 2 curves at 11 points, auc=0.709)
    """

    name: str
    fpr: FloatArray
    tpr: FloatArray
    lower: FloatArray
    upper: FloatArray
    level: float
    n_curves: int

    def auc(self) -> float:
        """Return the area under the averaged curve."""
        return float((np.diff(self.fpr) * (self.tpr[1:] + self.tpr[:-1])).sum() / 2)

    def to_roc_curve(self) -> RocCurve:
        """Return the averaged points as a ROC curve of rates, to put on a hull."""
        return RocCurve.from_rates(self.fpr, self.tpr, name=self.name)

    def _columns(self) -> dict[str, Any]:
        return {
            "name": [self.name] * self.fpr.size,
            "fpr": self.fpr,
            "tpr": self.tpr,
            "lower": self.lower,
            "upper": self.upper,
        }

    def __repr__(self) -> str:
        """Return name, number of curves and area."""
        size = f"mean of {self.n_curves} curves at {self.fpr.size} points"
        return f"AveragedRoc({self.name!r}: {size}, auc={self.auc():.3g})"


def average_roc_curves(
    curves: Any, *, n_points: int = 100, level: float = DEFAULT_LEVEL, name: str = "average"
) -> AveragedRoc:
    """Return the vertical average of ROC curves over regularly spaced false positive rates, as the 1998 study does.

    Parameters
    ----------
    curves : sequence of RocCurve
        For example one per fold of a cross-validation; names may repeat.
    n_points : int, default 100
        Regularly spaced false positive rates from 0 to 1.
    level : float in (0, 1)
        Level of the pointwise interval of the mean.
    name : str
        The name of the average.

    Notes
    -----
    Each curve is a function tpr(fpr): of several points with the same fpr the one with the largest tpr is taken, and
    between points the function is linear, which is what a random choice between two of them achieves. The interval is
    that of the paper: binomial, with as many trials as the curves have positives together (NaN if the counts are not
    known). It describes tpr at a given fpr; the performance of an averaged ROC curve is *not* the average performance,
    for which see `average_cost_curves`.

    Examples
    --------
    >>> import costcurves as cc
    >>> tables = [[[96, 4], [60, 40]], [[70, 30], [20, 80]]]
    >>> folds = [cc.RocCurve.from_confusion_matrix(table) for table in tables]
    >>> average = cc.average_roc_curves(folds, n_points=101)
    >>> round(float(average.tpr[4]), 4), round(float(average.upper[4] - average.lower[4]), 4)
    (0.2533, 0.1206)
    """
    from scipy.special import ndtri

    listed = check_curves(curves, repeats=True)
    n_points = check_integer("n_points", n_points, 2, MOST_POINTS)
    level = check_level(level)
    grid = np.linspace(0.0, 1.0, n_points)
    for curve in listed:
        curve.need_all_points("average_roc_curves")
    values = np.array([tpr_at(curve, grid) for curve in listed])
    mean = values.mean(axis=0)
    if any(curve.made_from == "rates" for curve in listed):
        half = np.full(n_points, np.nan)
    else:
        trials = sum(curve.n_pos for curve in listed)
        half = ndtri((1 + level) / 2) * np.sqrt(mean * (1 - mean) / trials)
    return AveragedRoc(
        check_name("name", name),
        grid,
        mean,
        np.clip(mean - half, 0, 1),
        np.clip(mean + half, 0, 1),
        level,
        len(listed),
    )


def tpr_at(curve: RocCurve, fpr: Any) -> FloatArray:
    """Return the true positive rate at some false positive rates, by linear interpolation.

    This is the function R(FP) of the 1998 study, which is averaged, and compared for dominance in ROC space. If several
    points have the same fpr, the largest tpr counts.
    """
    x, y = curve.fpr, curve.tpr
    highest: BoolArray = np.append(np.diff(x) > 0, True)
    result: FloatArray = np.interp(np.asarray(fpr, dtype=np.float64), x[highest], y[highest])
    return result
