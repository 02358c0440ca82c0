"""Several curves of one classifier combined: pooled examples, and averages of ROC curves and of cost curves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from costcurves._base.errors import DataError, InputError, UnsupportedError
from costcurves._base.results import Result
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    MOST_POINTS,
    BoolArray,
    FloatArray,
    check_choice,
    check_integer,
    check_level,
    check_name,
    shown,
)
from costcurves.counting import counts
from costcurves.curves.cost_curve import CostCurve, CurveLike, as_cost_curve
from costcurves.curves.hull_points import RocCurves, check_curves
from costcurves.curves.roc import RocCurve

AverageKind = Literal["vertical", "horizontal", "threshold", "points"]
AVERAGES = get_args(AverageKind)


def pool_examples(curves: RocCurves, *, name: str = "pooled") -> RocCurve:
    """Return the ROC curve of all the curves' examples together, at shared thresholds.

    Pooling examples assumes that a score means the same in every curve, as in calibrated folds. If it does not, average
    (`average_roc_curves`, whose ``kind="points"`` is what the 1998 paper calls pooling).

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
    >>> cc.pool_examples([a, b])
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
        curve.need_all_points("pool_examples")
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
    """An averaged ROC curve with a pointwise interval: `fpr`, `tpr`, `lower`, `upper`.

    The limits are those of tpr at each fpr, or of fpr at each tpr if `kind` is "horizontal"; they are NaN if no
    interval was asked for, if counts are not known, or if both rates were averaged. `thresholds` are those of a
    threshold average, otherwise None.

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
    kind: str = "vertical"
    thresholds: FloatArray | None = None

    def auc(self) -> float:
        """Return the area under the averaged curve."""
        # A horizontal average may reach a tpr of 1 before an fpr of 1.
        rest = 1 - self.fpr[-1]
        return float((np.diff(self.fpr) * (self.tpr[1:] + self.tpr[:-1])).sum() / 2 + rest)

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
        } | ({} if self.thresholds is None else {"threshold": self.thresholds})

    def __repr__(self) -> str:
        kind = "" if self.kind == "vertical" else f"{self.kind} "
        size = f"{kind}mean of {self.n_curves} curves at {self.fpr.size} points"
        return f"AveragedRoc({self.name!r}: {size}, auc={self.auc():.3g})"


def average_roc_curves(
    curves: RocCurves,
    *,
    kind: AverageKind = "vertical",
    n_points: int = 100,
    interval: Literal["binomial"] | None = None,
    level: float | None = None,
    name: str = "average",
) -> AveragedRoc:
    """Return the average of ROC curves: of tpr at each fpr, as in the 1998 study, or in one of three other ways.

    Parameters
    ----------
    curves : sequence of RocCurve
        For example one per fold of a cross-validation; names may repeat.
    kind : {"vertical", "horizontal", "threshold", "points"}
        "vertical" averages tpr at regularly spaced fpr; "horizontal" averages fpr at regularly spaced tpr (2005, figure
        9); "threshold" averages both rates at the same thresholds, for which scores must mean the same in all curves;
        "points" averages the first points of all curves, the second points, and so on, which 1998 calls pooling and
        which needs curves with the same number of points, for example those of the same settings of a learner.
    n_points : int, default 100
        The number of rates, or (at most) of thresholds. It has no meaning for "points".
    interval : "binomial", optional
        The pointwise interval of the 1998 study, which is given only if it is asked for; limits are NaN otherwise.
    level : float in (0, 1), optional
        The level of that interval, by default 0.95.
    name : str
        The name of the average.

    Notes
    -----
    Each curve is a function tpr(fpr): of several points with the same fpr the one with the largest tpr is taken, and
    between points the function is linear, which is what a random choice between two of them achieves. A horizontal
    average takes the smallest fpr of several points with the same tpr. The interval is that of the paper: binomial,
    with as many trials as the curves have positives together (negatives for a horizontal average; NaN if the counts are
    not known). It describes tpr at the thresholds that have a given fpr *on these cases*, as if they had it on new ones
    too. In eleven simulated worlds with five folds, the true tpr lay outside a 95 % interval in 6 to 56 % of 200
    data sets at an fpr of 0.1, and in 4 to 54 % at 0.05. For limits that hold, ask for the mean cost (`average_band`).

    The performance of an averaged ROC curve is *not* the average performance, for which see `average_cost_curves`. To
    put the examples of all curves together, use `pool_examples`.

    Examples
    --------
    >>> import costcurves as cc
    >>> tables = [[[96, 4], [60, 40]], [[70, 30], [20, 80]]]
    >>> folds = [cc.RocCurve.from_confusion_matrix(table) for table in tables]
    >>> average = cc.average_roc_curves(folds, n_points=101, interval="binomial")
    >>> round(float(average.tpr[4]), 4), round(float(average.upper[4] - average.lower[4]), 4)
    (0.2533, 0.1206)
    >>> across = cc.average_roc_curves(folds, kind="horizontal", n_points=101)
    >>> round(float(across.tpr[40]), 4), round(float(across.fpr[40]), 4)
    (0.4, 0.095)
    >>> cc.average_roc_curves(folds, kind="points").fpr.round(4).tolist()
    [0.0, 0.17, 1.0]
    """
    listed = check_curves(curves, repeats=True)
    check_choice("kind", kind, AVERAGES)
    n_points = check_integer("n_points", n_points, 2, MOST_POINTS)
    if interval is not None:
        check_choice("interval", interval, ("binomial",))
    elif level is not None:
        raise InputError(f"`level` must come with interval='binomial', got {shown(level)} without an interval")
    level = check_level(DEFAULT_LEVEL if level is None else level)
    for curve in listed:
        curve.need_all_points("average_roc_curves")
    name, cuts = check_name("name", name), None
    if kind in ("vertical", "horizontal"):
        grid = np.linspace(0.0, 1.0, n_points)
        across = kind == "horizontal"
        mean, half = mean_of_rates(listed, grid, level, across=across)
        if interval is None:
            half = np.full(grid.size, np.nan)
        limits = np.clip(mean - half, 0, 1), np.clip(mean + half, 0, 1)
        fpr, tpr = (mean, grid) if across else (grid, mean)
        return AveragedRoc(name, fpr, tpr, limits[0], limits[1], level, len(listed), kind)
    if kind == "threshold":
        for curve in listed:
            if not curve.has_thresholds:
                raise UnsupportedError(f"`curves` must have thresholds for a threshold average, got {curve.name!r}")
        cuts = np.unique(np.concatenate([curve.thresholds for curve in listed]))[::-1]
        cuts = cuts[np.unique(np.linspace(0, cuts.size - 1, min(n_points, cuts.size)).astype(np.intp))]
        places = [curve.index_of(cuts) for curve in listed]
    else:
        sizes = sorted({curve.fpr.size for curve in listed})
        if len(sizes) > 1:
            raise DataError(f"`curves` must have the same number of points for kind='points', got {sizes}")
        places = [np.arange(sizes[0])] * len(listed)
    fpr, tpr = (
        np.mean([getattr(curve, rate)[at] for curve, at in zip(listed, places, strict=True)], axis=0)
        for rate in ("fpr", "tpr")
    )
    unknown = np.full(fpr.size, np.nan)
    return AveragedRoc(name, fpr, tpr, unknown, unknown.copy(), level, len(listed), kind, cuts)


def mean_of_rates(
    curves: Sequence[RocCurve], grid: FloatArray, level: float, *, across: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return the mean tpr at each fpr (or fpr at each tpr, `across`) and half its binomial interval, or NaN."""
    from scipy.special import ndtri

    mean = np.array([(fpr_at if across else tpr_at)(curve, grid) for curve in curves]).mean(axis=0)
    if any(curve.made_from == "rates" for curve in curves):
        return mean, np.full(grid.size, np.nan)
    trials = sum(curve.n_neg if across else curve.n_pos for curve in curves)
    return mean, np.asarray(ndtri((1 + level) / 2) * np.sqrt(mean * (1 - mean) / trials))


def tpr_at(curve: RocCurve, fpr: Any) -> FloatArray:
    """Return the true positive rate at some false positive rates, by linear interpolation.

    This is the function R(FP) of the 1998 study, which is averaged, and compared for dominance in ROC space. If several
    points have the same fpr, the largest tpr counts.
    """
    x, y = curve.fpr, curve.tpr
    highest: BoolArray = np.append(np.diff(x) > 0, True)
    result: FloatArray = np.interp(np.asarray(fpr, dtype=np.float64), x[highest], y[highest])
    return result


def fpr_at(curve: RocCurve, tpr: Any) -> FloatArray:
    """Return the false positive rate at some true positive rates, by linear interpolation; the smallest if several."""
    x, y = curve.fpr, curve.tpr
    first: BoolArray = np.append(True, np.diff(y) > 0)
    result: FloatArray = np.interp(np.asarray(tpr, dtype=np.float64), y[first], x[first])
    return result


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
        For example one per fold. A ROC curve is replaced by its cost curve at the optimal thresholds.
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
