"""Binormal ROC curves fitted to empirical ones: tpr = Φ(a + b Φ⁻¹(fpr))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from costcurves._base.errors import DataError, InputError
from costcurves._base.results import Result
from costcurves._base.validation import FloatArray, check_choice, check_integer, check_unit_array, shown
from costcurves.curves.roc import RocCurve

FitMethod = Literal["likelihood", "least squares"]
# Neighbouring scores are joined to at most so many categories for the likelihood.
_CATEGORIES = 20


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

    def tpr(self, fpr: Any) -> FloatArray:
        """Return the true positive rates at some false positive rates."""
        from scipy.special import ndtr, ndtri

        return np.asarray(ndtr(self.a + self.b * ndtri(check_unit_array("fpr", fpr))))

    def to_roc_curve(self, n_points: int = 101) -> RocCurve:
        """Return points of the fitted curve as a ROC curve of rates, to put on a hull or to draw."""
        fpr = np.linspace(0, 1, check_integer("n_points", n_points, 2, 10**6))
        return RocCurve.from_rates(fpr, self.tpr(fpr), name=self.name)

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
    if not isinstance(curve, RocCurve):
        raise InputError(f"`curve` must be a RocCurve, got {shown(curve)} ({type(curve).__name__})")
    curve.need_all_points("fit_binormal")
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
    """Return a and b of the largest likelihood of ordered categories, whose cuts are found with them."""
    from scipy.optimize import minimize
    from scipy.special import ndtr, ndtri

    fp, tp = (np.asarray(counts, dtype=np.float64) for counts in (curve.fp, curve.tp))
    total = fp + tp
    ends = np.arange(fp.size)
    if fp.size - 1 > _CATEGORIES:
        ends = np.unique(np.searchsorted(total, np.linspace(0, total[-1], _CATEGORIES + 1)))
    negatives, positives = np.diff(fp[ends]), np.diff(tp[ends])
    # Cuts on the scale of the negatives, from the highest; half a case keeps the first guess inside (0, 1).
    rates = (fp[ends[1:-1]] + 0.5) / (fp[-1] + 1)
    cuts = ndtri(np.sort(rates))
    start = np.concatenate([[a, np.log(b), cuts[0]], np.log(np.maximum(np.diff(cuts), 1e-3))])

    def loss(point: FloatArray) -> float:
        at = point[2] + np.concatenate([[0.0], np.cumsum(np.exp(point[3:]))])
        log = 0.0
        for counts, deviate in ((negatives, at), (positives, point[0] + np.exp(point[1]) * at)):
            share = np.diff(np.concatenate([[0.0], ndtr(deviate), [1.0]]))
            log += float(counts @ np.log(np.maximum(share, 1e-12)))
        return -log / float(total[-1])

    options = {"maxiter": 2000, "maxfun": 200_000, "ftol": 1e-13, "gtol": 1e-8}
    found = minimize(loss, start, method="L-BFGS-B", options=options)
    return float(found.x[0]), float(np.exp(found.x[1]))
