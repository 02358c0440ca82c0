"""Several classifiers at once: p-values and critical values that hold for all comparisons jointly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.validation import (
    FloatArray,
    IntArray,
    Rng,
    check_choice,
    check_integer,
    check_level,
    check_rng,
    check_unit_array,
)
from costcurves.inference.bands.results import check_pc
from costcurves.inference.paired.discordant import first_positive_point
from costcurves.inference.rates import critical
from costcurves.inference.symmetry import canonical_order, chosen, exact_weights


def holm(p_values: npt.ArrayLike) -> FloatArray:
    """Return Holm's adjusted p-values: rejecting those that are at most α has a family-wise error of at most α."""
    p = np.atleast_1d(check_unit_array("p_values", p_values))
    if p.ndim != 1:
        raise InputError(f"`p_values` must be one-dimensional, got shape {p.shape}")
    order = np.argsort(p, kind="stable")
    scaled = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    out = np.empty(p.size)
    out[order] = np.minimum(scaled, 1.0)
    return out


def co_errors(
    true_class: str, scores: npt.ArrayLike, thresholds: npt.ArrayLike, *, weights: npt.ArrayLike | None = None
) -> FloatArray:
    """Count the examples of one class that two classifiers at two operating points both get wrong.

    Parameters
    ----------
    true_class : {"positive", "negative"}
    scores : array of shape (n, classifiers)
    thresholds : array of shape (points, classifiers)
        Nonincreasing in the first axis; score >= threshold is predicted positive.
    weights : array of shape (n,), optional

    Returns
    -------
    array of shape (classifiers, points, classifiers, points)
        Counts (sums of weights) of two parts of the data add.
    """
    true_class = check_choice("true_class", true_class, ("positive", "negative"))
    s, t = np.asarray(scores, dtype=np.float64), np.asarray(thresholds, dtype=np.float64)
    if s.ndim != 2 or t.ndim != 2 or s.shape[1] != t.shape[1]:
        raise InputError(f"`scores` and `thresholds` must have one column per classifier, got {s.shape}, {t.shape}")
    k, m = s.shape[1], t.shape[0]
    w = None if weights is None else np.asarray(weights, dtype=np.float64)
    if w is not None and w.shape != s.shape[:1]:
        raise InputError(f"`weights` must be one per example, got shape {w.shape} for {s.shape[0]} examples")
    return co_errors_of_changes(true_class, [first_positive_point(str(c), s[:, c], t[:, c])[0] for c in range(k)], m, w)


def co_errors_of_changes(
    true_class: str, change: Sequence[IntArray], m: int, weights: FloatArray | None = None
) -> FloatArray:
    """Return what `co_errors` counts, from the point at which each classifier begins to predict an example positive."""
    k = len(change)
    cells = {
        (a, b): np.bincount(change[a] * (m + 1) + change[b], weights, (m + 1) ** 2).reshape(m + 1, m + 1)
        for a in range(k)
        for b in range(a, k)
    }
    return co_errors_of_cells(true_class, cells, k, m)


def co_errors_of_cells(
    true_class: str, cells: Mapping[tuple[int, int], npt.NDArray[Any]], k: int, m: int
) -> FloatArray:
    """Return what `co_errors` counts, from examples counted by the points at which two classifiers turn positive.

    Parameters
    ----------
    true_class : {"positive", "negative"}
    cells : mapping of (a, b), a < b, to array of shape (m + 1, m + 1)
        [i, j] counts the examples that a predicts positive from point i on and b from point j on; the last index means
        never. Tables of (a, a) may be omitted, because they follow from the others.
    k, m : int
        The numbers of classifiers and of points.
    """
    out = np.empty((k, m, k, m))
    for a in range(k):
        for b in range(a, k):
            table = cells.get((a, b))
            if table is None:
                table = np.diag(cells[a, a + 1].sum(axis=1) if a + 1 < k else cells[a - 1, a].sum(axis=0))
            if true_class == "positive":
                table = table[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1][1:, 1:]
            else:
                table = table.cumsum(axis=0).cumsum(axis=1)[:m, :m]
            out[a, :, b, :] = table
            out[b, :, a, :] = table.T
    return out


def family_critical(
    co_pos: npt.ArrayLike,
    n_pos: float,
    co_neg: npt.ArrayLike,
    n_neg: float,
    pc: npt.ArrayLike,
    level: float,
    *,
    n_simulations: int = 20_000,
    rng: Rng = 0,
) -> float:
    """Return the critical value for the differences of all pairs at all operating points together (max-t).

    Parameters
    ----------
    co_pos, co_neg : arrays of shape (classifiers, points, classifiers, points)
        From `co_errors`, for each class. About 65 operating points are enough.
    n_pos, n_neg : float
        Examples of each class. For weighted data the effective sizes, to which `co_pos` and `co_neg` are then scaled.
    pc : array of shape (points,)
    level : float
    n_simulations, rng
        Seeded by default.

    Returns
    -------
    float
        For `difference_band(..., critical_value=...)` of each pair.

    Notes
    -----
    The error rates of all classifiers at all points are jointly Gaussian in the limit, with covariance
    (co/n - r rᵀ)/n in each class. The largest standardised difference over pairs and points is simulated.
    """
    points, level = check_pc(pc), check_level(level)
    size = check_integer("n_simulations", n_simulations, 100)
    generator = check_rng(rng)
    tables = [np.asarray(c, dtype=np.float64) for c in (co_pos, co_neg)]
    k, m = tables[0].shape[0], points.size
    if any(t.shape != (k, m, k, m) for t in tables):
        raise InputError(f"`co_pos` and `co_neg` must have shape (k, {m}, k, {m}), got {tables[0].shape}")
    points, sizes = exact_weights(points), (n_pos, n_neg)
    forms = []
    for which in ((0, 1), (1, 0)):  # both orders of the classes, each with the classifiers in their canonical order
        turn = slice(None, None, -1 if which[0] else 1)
        pair = [tables[i][:, turn, :, turn] for i in which]
        order = canonical_order(
            np.stack([np.moveaxis(t, 2, 1).reshape(k, k, m * m) for t in pair], axis=-1).reshape(k, k, -1)
        )
        pair = [t[np.ix_(order, range(m), order, range(m))] for t in pair]
        forms.append((pair, (sizes[which[0]], sizes[which[1]]), 1 - points[turn] if which[0] else points))
    tables, sizes, points = forms[chosen([(n, *pair, pc) for pair, n, pc in forms])]
    covariances, roots = [], []
    for table, n in zip(tables, sizes, strict=True):
        joint = table.reshape(k * m, k * m) / n
        rate = np.diagonal(joint)
        covariance = (joint - np.multiply.outer(rate, rate)) / n
        values, vectors = np.linalg.eigh(covariance)
        keep = values > 1e-12 * max(values[-1], 1e-300)
        covariances.append(covariance.reshape(k, m, k, m))
        roots.append(vectors[:, keep] * np.sqrt(values[keep]))
    at = np.arange(m)
    weights = (points, 1 - points)
    pairs = list(combinations(range(k), 2))
    spread = []
    for a, b in pairs:
        variance = sum(
            w**2 * (c[a, at, a, at] + c[b, at, b, at] - 2 * c[a, at, b, at])
            for w, c in zip(weights, covariances, strict=True)
        )
        spread.append(np.sqrt(np.maximum(variance, 0.0)))
    largest = max((float(s.max()) for s in spread), default=0.0)
    top = np.zeros(size)
    for start in range(0, size, 2048):
        count = min(2048, size - start)
        errors = sum(
            (r @ generator.standard_normal((r.shape[1], count))).reshape(k, m, count) * w[:, None]
            for w, r in zip(weights, roots, strict=True)
        )
        for (a, b), sd in zip(pairs, spread, strict=True):
            used = sd > 1e-9 * largest
            if used.any():
                ratio = np.abs(errors[a][used] - errors[b][used]) / sd[used, None]
                top[start : start + count] = np.maximum(top[start : start + count], ratio.max(axis=0))
    return max(float(np.quantile(top, level)), critical(level))


def hochberg(p_values: FloatArray) -> FloatArray:
    """Return Hochberg's adjusted p-values: if the largest of them is small, all are.

    The claim "every rival costs more" is then made exactly where each of the p-values is at most α.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.family import hochberg
    >>> hochberg(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.04, 0.04])
    """
    order = np.argsort(-p_values, kind="stable")
    scaled = np.minimum.accumulate(p_values[order] * np.arange(1, p_values.size + 1))
    out = np.empty(p_values.size)
    out[order] = np.minimum(scaled, 1.0)
    return out
