"""The ROC points of classifiers that are known by a confusion matrix or by rates instead of scores."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError
from costcurves._base.validation import LARGEST_WHOLE, FloatArray, check_unit_array, number_array, shown
from costcurves.conditions.condition import matched_by_name

Array = npt.NDArray[Any]
Made = Literal["counts", "weights", "rates"]


class FixedPoints(NamedTuple):
    """Points from (0, 0) to (1, 1), which is (n_neg, n_pos) in counts; the fields are those of `RocCurve`."""

    fp: Array
    tp: Array
    thresholds: FloatArray
    made_from: Made
    effective: tuple[float, float] | None = None

    def distinct(self) -> FixedPoints:
        """Return the points without those that repeat the one before; both ends stay."""
        fp, tp = self.fp, self.tp
        new = np.append(True, (np.diff(fp) != 0) | (np.diff(tp) != 0))
        new[-1] = True
        if (fp[-2], tp[-2]) == (fp[-1], tp[-1]):
            new[-2] = False  # the fixed classifier is itself "always positive"
        return self._replace(fp=fp[new], tp=tp[new], thresholds=self.thresholds[new])


def points_of_matrix(confusion: Any, pos_label: Any) -> FixedPoints:
    """Return the one point of a 2x2 confusion matrix, and both ends."""
    if pos_label is not None or (hasattr(confusion, "index") and hasattr(confusion, "columns")):
        if pos_label is None:
            raise InputError("`pos_label` must name the positive class of a labelled `confusion`, got None")
        confusion = matched_by_name("confusion", confusion, pos_label)
    try:
        table = np.asarray(confusion)
    except ValueError:
        raise DataError(f"`confusion` must be a 2x2 table of counts, got {shown(confusion)}") from None
    if table.shape != (2, 2) or table.dtype.kind not in "iuf":
        raise DataError(f"`confusion` must be a 2x2 table of counts, got {shown(confusion)}")
    if not np.isfinite(table).all() or (table < 0).any():
        raise DataError(f"`confusion` must hold finite counts >= 0, got {shown(table.tolist())}")
    whole = bool((table == np.floor(table)).all()) and float(table.max()) <= LARGEST_WHOLE
    dtype = np.int64 if whole else np.float64
    (tn, fp), (fn, tp) = table.astype(dtype).tolist()
    if not math.isfinite(tn + fp + fn + tp):
        raise DataError(f"`confusion` must have a finite sum, got {shown(table.tolist())}")
    if tn + fp <= 0 or fn + tp <= 0:
        raise DataError(f"`confusion` must hold both classes, got {fn + tp} positive and {tn + fp} negative examples")
    return FixedPoints(
        np.array([0, fp, tn + fp], dtype=dtype),
        np.array([0, tp, fn + tp], dtype=dtype),
        np.array([np.inf, np.nan, -np.inf]),
        "counts" if whole else "weights",
        None if whole else (fn + tp, tn + fp),
    ).distinct()


def points_of_rates(fpr: Any, tpr: Any, thresholds: Any) -> FixedPoints:
    """Return the points of known rates, sorted, and both ends."""
    x = np.atleast_1d(check_unit_array("fpr", fpr))
    y = np.atleast_1d(check_unit_array("tpr", tpr))
    if x.ndim != 1 or x.shape != y.shape or x.size == 0:
        raise InputError(
            f"`fpr` and `tpr` must be numbers or 1-D of the same length, got shapes {x.shape} and {y.shape}"
        )
    if thresholds is None:
        cuts = np.full(x.size, np.nan)
    else:
        cuts = np.atleast_1d(number_array("thresholds", thresholds, booleans=False))
        if cuts.shape != x.shape:
            raise InputError(f"`thresholds` must be as many as `fpr`, got {cuts.size} and {x.size}")
        if np.isnan(cuts).any():
            raise InputError(f"`thresholds` must not be NaN, got {int(np.isnan(cuts).sum())} of {cuts.size}")
    order = np.lexsort((-cuts, y, x))
    x, y, cuts = x[order], y[order], cuts[order]
    if (np.diff(y) < 0).any():
        first = int(np.flatnonzero(np.diff(y) < 0)[0])
        raise InputError(
            "`tpr` must not fall as `fpr` rises on one classifier's curve (make separate curves of separate "
            f"classifiers), got ({x[first]:g}, {y[first]:g}) and ({x[first + 1]:g}, {y[first + 1]:g})"
        )
    if (cuts[1:] > cuts[:-1]).any():
        first = int(np.flatnonzero(cuts[1:] > cuts[:-1])[0])
        raise InputError(
            "`thresholds` must not rise as `fpr` and `tpr` rise (predicted positive means score >= threshold), "
            f"got {cuts[first]:g} and {cuts[first + 1]:g}"
        )
    last = cuts[(x == 1) & (y == 1)]  # the highest threshold of "always positive", if it has one
    inner = ((x > 0) | (y > 0)) & ((x < 1) | (y < 1))
    return FixedPoints(
        np.concatenate(([0.0], x[inner], [1.0])),
        np.concatenate(([0.0], y[inner], [1.0])),
        np.concatenate(([np.inf], cuts[inner], last[:1] if thresholds is not None and last.size else [-np.inf])),
        "rates",
    ).distinct()
