"""Binormal ROC curves fitted to empirical ones: tpr = Φ(a + b Φ⁻¹(fpr))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from costcurves._base.errors import DataError, InputError
from costcurves._base.results import Result
from costcurves._base.validation import FloatArray, check_choice, check_instance, check_integer, check_unit_array
from costcurves.curves.roc import RocCurve

FitMethod = Literal["likelihood", "least squares"]
# Neighbouring scores are joined to at most this many categories for the likelihood.
_CATEGORIES = 20
# The most steps of the scoring; about ten are enough, unless the likelihood has no maximum.
_STEPS = 200


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BinormalFit(Result):
    """A binormal ROC curve: scores of negatives are N(0, 1) and those of positives N(a / b, 1 / b²), or any rescaling.

    Attributes
    ----------
    name : str
    a, b : float
        The curve is ``tpr = Φ(a + b Φ⁻¹(fpr))``.
    method : str

    Examples
    --------
    >>> import costcurves as cc
    >>> two = cc.RocCurve.from_rates([0.1, 0.3], [0.6, 0.8], name="two points")
    >>> cc.fit_binormal(two, method="least squares")
    BinormalFit('two points': a=1.25, b=0.777, auc=0.838)
    """

    name: str
    a: float
    b: float
    method: str

    _column_names = ("name", "a", "b", "method")

    def auc(self) -> float:
        """Return the area under the fitted curve, Φ(a / √(1 + b²))."""
        from scipy.special import ndtr

        return float(ndtr(self.a / np.sqrt(1 + self.b**2)))

    def tpr_at(self, fpr: Any) -> FloatArray:
        """Return the true positive rates at some false positive rates."""
        from scipy.special import ndtr, ndtri

        return np.asarray(ndtr(self.a + self.b * ndtri(check_unit_array("fpr", fpr))))

    def to_roc_curve(self, n_points: int = 101) -> RocCurve:
        """Return points of the fitted curve as a ROC curve of rates, to put on a hull or to draw."""
        fpr = np.linspace(0, 1, check_integer("n_points", n_points, 2, 10**6))
        return RocCurve.from_rates(fpr, self.tpr_at(fpr), name=self.name)

    def __repr__(self) -> str:
        return f"BinormalFit({self.name!r}: a={self.a:.3g}, b={self.b:.3g}, auc={self.auc():.3g})"


def fit_binormal(curve: RocCurve, *, method: FitMethod = "likelihood") -> BinormalFit:
    """Return the binormal ROC curve that fits an empirical one.

    Parameters
    ----------
    curve : RocCurve
        With all its points, at least two of them inside the unit square. The likelihood needs counts.
    method : {"likelihood", "least squares"}
        Maximum likelihood of the scores as ordered categories (at most 20, neighbours are joined), or the straight line
        through the points on normal deviate axes.

    Notes
    -----
    Swets & Pickett, whom 1998 and 2005 cite, average such fits instead of the curves. A binormal curve with b other
    than 1 crosses the diagonal near one of its ends, where it should not be read.

    Examples
    --------
    >>> import numpy as np
    >>> import costcurves as cc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(4000) < 0.5
    >>> roc = cc.RocCurve.from_predictions(y, np.where(y, rng.normal(1.5, 1.25, 4000), rng.normal(0, 1, 4000)))
    >>> fit = cc.fit_binormal(roc)
    >>> round(fit.a, 1), round(fit.b, 1)
    (1.2, 0.8)
    """
    from scipy.special import ndtri

    check_choice("method", method, get_args(FitMethod))
    check_instance("curve", curve, RocCurve).need_all_points("fit_binormal")
    inside = (curve.fpr > 0) & (curve.fpr < 1) & (curve.tpr > 0) & (curve.tpr < 1)
    x, y = ndtri(curve.fpr[inside]), ndtri(curve.tpr[inside])
    if np.unique(x).size < 2:
        raise DataError(f"`curve` must have points at two or more rates inside (0, 1), got {np.unique(x).size}")
    b, a = np.polyfit(x, y, 1)
    if method == "likelihood":
        if curve.made_from == "rates":
            raise InputError("`method` must be 'least squares' for a curve made from rates, got 'likelihood'")
        a, b = _most_likely(curve, float(a), max(float(b), 0.1))
    return BinormalFit(curve.name, float(a), float(b), method)


def _most_likely(curve: RocCurve, a: float, b: float) -> tuple[float, float]:
    """Return a and b of the largest likelihood of ordered categories, whose cuts are found with them.

    Fisher's scoring finds them to the last digits, so that the answer does not depend on the machine.
    """
    from scipy.special import ndtri

    fp, tp = (np.asarray(counts, dtype=np.float64) for counts in (curve.fp, curve.tp))
    total = fp + tp
    ends = np.arange(fp.size)
    if fp.size - 1 > _CATEGORIES:
        ends = np.unique(np.searchsorted(total, np.linspace(0, total[-1], _CATEGORIES + 1)))
    counts = (np.diff(fp[ends]), np.diff(tp[ends]))
    # Cuts on the scale of the negatives, from the highest; half a case keeps the first guess inside (0, 1).
    cuts = np.sort(ndtri((fp[ends[1:-1]] + 0.5) / (fp[-1] + 1)))
    cuts = cuts[0] + np.concatenate([[0.0], np.maximum(np.diff(cuts), 1e-3).cumsum()])
    point = np.concatenate([[a, np.log(b)], cuts])
    loss, step = _scored(counts, point)
    for _ in range(_STEPS):
        length, most = 1.0, loss * (1 + 1e-13)  # a loss that is higher by rounding alone is not higher
        while (there := _scored(counts, point + length * step))[0] > most and length > 1e-6:
            length /= 2
        if there[0] > most:
            break
        point = point + length * step
        if np.abs(length * step).max() < 1e-12:
            break
        loss, step = there
    return float(point[0]), float(np.exp(point[1]))


def _scored(counts: tuple[FloatArray, FloatArray], point: FloatArray) -> tuple[float, FloatArray]:
    """Return the loss at (a, log b, cuts), which is infinite if the cuts do not increase, and the step of the scoring.

    `counts` has the negatives and the positives of each category.
    """
    from scipy.special import ndtr

    a, b, cuts = point[0], np.exp(point[1]), point[2:]
    loss, score, information = 0.0, np.zeros(point.size), 1e-12 * np.eye(point.size)
    inner = np.hstack([np.zeros((cuts.size, 2)), np.eye(cuts.size)])
    for number, deviate, slopes in (
        (counts[0], cuts, inner),
        (counts[1], a + b * cuts, np.column_stack([np.ones(cuts.size), b * cuts, b * inner[:, 2:]])),
    ):
        low, high = np.append(-np.inf, deviate), np.append(deviate, np.inf)
        # The difference of the smaller tails keeps its digits far from 0.
        share = np.where(low + high > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
        if not (share > 0).all():
            return np.inf, score
        density = np.exp(-0.5 * deviate**2) / np.sqrt(2 * np.pi)
        change = np.diff(np.vstack([np.zeros(point.size), density[:, None] * slopes, np.zeros(point.size)]), axis=0)
        loss -= float(number @ np.log(share))
        score += change.T @ (number / share)
        information += number.sum() * change.T @ (change / share[:, None])
    return loss, np.asarray(np.linalg.solve(information, score), dtype=np.float64)
