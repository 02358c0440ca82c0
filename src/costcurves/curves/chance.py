"""Warn, once per question, of scores that are worse than chance: most often they are those of the other class."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import WorseThanChanceWarning, warn
from costcurves._base.validation import FloatArray, shown
from costcurves.counting.geometry import upper_hull

Array = npt.NDArray[Any]

# The largest share of uninformative scores that are called worse than chance.
SIGNIFICANT = 1e-4
# Scores whose hull has at least this area are useful at some conditions, and so are not reversed.
USEFUL_AREA = 0.6
# This many points of a curve are mostly enough to show that it is better than chance.
LOOK = 256
GROUPS = 1024
_STEPS = 30


def worse_than_chance(fp: Array, tp: Array, effective: tuple[float, float] | None = None) -> float | None:
    """Return the area under a ROC curve if it is significantly worse than chance, otherwise None.

    Parameters
    ----------
    fp, tp : arrays
        Counts or sums of weights at every distinct score, from (0, 0) to those of all examples.
    effective : (n_pos, n_neg), optional
        Effective sample sizes of weighted data.

    Notes
    -----
    If scores are uninformative, all ways to place the n⁺ positives among the N sorted examples are equally likely. Let
    L be the likelihood of the labels under a logistic regression on the mean ranks. By Chernoff's inequality the
    probability that the positives rank as low as here is at most ``1 / (C(N, n⁺) · L)``, whatever the ties and the
    sizes are, and for any coefficients that make positives likelier among low scores. If every positive ranks below
    every negative, L tends to 1, and the bound is that probability itself. If there are very many distinct scores,
    neighbours are grouped first, which makes them tied.
    """
    if _surely_better(fp, tp):
        return None
    n_pos, n_neg = float(tp[-1]), float(fp[-1])
    auc = float((np.diff(fp) * (tp[1:] / n_pos + tp[:-1] / n_pos)).sum() / 2 / n_neg)
    if auc >= 0.5 or not is_poor(fp, tp):
        return None
    few = np.unique(np.linspace(0, fp.size - 1, min(GROUPS, fp.size)).astype(np.int64))
    pos, neg = np.diff(tp[few]).astype(np.float64), np.diff(fp[few]).astype(np.float64)
    if effective is not None:
        pos, neg = pos * (effective[0] / n_pos), neg * (effective[1] / n_neg)
    return auc if _least_log_bound(pos, neg) <= math.log(SIGNIFICANT) else None


def is_poor(fp: Array, tp: Array) -> bool:
    """Return whether a classifier is hardly better than the trivial ones at any condition, given its ROC points."""
    if fp.dtype.kind == "i":
        fp, tp = fp.astype(np.int64, copy=False), tp.astype(np.int64, copy=False)
    vertex = upper_hull(fp, tp)
    x, y = fp[vertex] / float(fp[-1]), tp[vertex] / float(tp[-1])
    return float((np.diff(x) * (y[1:] + y[:-1])).sum() / 2) < USEFUL_AREA


def _surely_better(fp: Array, tp: Array) -> bool:
    """Return whether a few points show that the area under the curve is at least one half."""
    step = -(-fp.size // LOOK)
    x, y = fp[::step], tp[::step] / float(tp[-1])
    return float(((x[1:] - x[:-1]) * y[:-1]).sum()) >= 0.5 * float(fp[-1])


def _least_log_bound(pos: FloatArray, neg: FloatArray) -> float:
    """Return the logarithm of a bound for the p-value of positives that rank low, from a few steps of Newton's method.

    `pos` and `neg` are the positives and negatives at each distinct score, from the highest down.
    """
    from scipy.special import expit, gammaln, log_expit

    total = pos + neg
    n, n_pos, n_neg = float(total.sum()), float(pos.sum()), float(neg.sum())
    rank = 2 * (np.cumsum(total) - total / 2) / n - 1  # from -1 for the highest scores to 1 for the lowest
    ways = float(gammaln(n + 1) - gammaln(n_pos + 1) - gammaln(n_neg + 1))
    design = np.stack([np.ones_like(rank), rank])

    def likelihood(coefficients: FloatArray) -> float:
        logit = coefficients @ design
        return float((pos * log_expit(logit) + neg * log_expit(-logit)).sum())

    found = np.array([math.log(n_pos / n_neg), 0.0])
    value, least = likelihood(found), 0.0
    for _ in range(_STEPS):
        chance = expit(found @ design)
        slope = design @ (pos - total * chance)
        curvature = (design * (total * chance * (1 - chance))) @ design.T + 1e-9 * n * np.eye(2)
        step = np.linalg.solve(curvature, slope)
        while (new := likelihood(found + step)) < value and np.abs(step).max() > 1e-9:
            step /= 2
        found, gain, value = found + step, new - value, new
        if found[1] >= 0:
            least = min(least, -value - ways)
        if least <= math.log(SIGNIFICANT) or gain < 1e-9:
            break
    return least


# One warning per question -------------------------------------------------------------------------------------

_FOUND: ContextVar[dict[str, float] | None] = ContextVar("_FOUND", default=None)


@contextlib.contextmanager
def one_question() -> Iterator[None]:
    """Warn of each classifier once, at the end, however often its scores are counted for the answer.

    It is for functions that count the scores of several classifiers, or those of one classifier more than once. A
    question inside another one leaves the warning to the outer one.
    """
    if _FOUND.get() is not None:
        yield
        return
    found: dict[str, float] = {}
    token = _FOUND.set(found)
    try:
        yield
    finally:
        _FOUND.reset(token)
    for name, auc in found.items():
        _warn(name, auc)


@contextlib.contextmanager
def no_question() -> Iterator[None]:
    """Give no warning: the scores are certainly of the right class, or the caller has been warned before."""
    token = _FOUND.set({})
    try:
        yield
    finally:
        _FOUND.reset(token)


def tell(name: str, auc: float) -> None:
    """Warn that a classifier is worse than chance, now or at the end of the question."""
    found = _FOUND.get()
    if found is None:
        _warn(name, auc)
    else:
        found.setdefault(name, auc)


def _warn(name: str, auc: float) -> None:
    warn(
        f"{shown(name)} is worse than chance: its AUC is {auc:.3g}. Are these the scores of the other class? From "
        "predict_proba take the column list(model.classes_).index(pos_label); other scores may need a change of sign",
        WorseThanChanceWarning,
    )
