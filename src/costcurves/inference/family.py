"""Several classifiers at once: p-values and critical values that hold for all comparisons jointly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.validation import (
    FloatArray,
    IntArray,
    Rng,
    check_integer,
    check_level,
    check_rng,
    check_unit_array,
)
from costcurves.inference.bands.results import check_pc
from costcurves.inference.rates import critical
from costcurves.inference.simultaneous import canonical_order, chosen, exact_weights

# Smaller variances of one example are those of sums of weights that were rounded: nobody errs, or everybody does.
_ROUNDING = 1e-12


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


def co_errors_of_changes(
    true_class: str, change: Sequence[IntArray], m: int, weights: FloatArray | None = None
) -> FloatArray:
    """Count the examples of one class that two classifiers at two operating points both get wrong.

    Parameters
    ----------
    true_class : {"positive", "negative"}
    change : sequence of arrays of shape (n,)
        The point at which each classifier begins to predict an example positive; see `first_positive_point`.
    m : int
        The number of points.
    weights : array of shape (n,), optional

    Returns
    -------
    array of shape (classifiers, points, classifiers, points)
        Counts (sums of weights) of two parts of the data add.
    """
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
    """Return what `co_errors_of_changes` counts, from examples counted by the points at which two classifiers change.

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
    classifiers: int | None = None,
    n_simulations: int | None = None,
    rng: Rng = 0,
) -> float:
    """Return the critical value for the differences of all pairs at all operating points together (max-t).

    Parameters
    ----------
    co_pos, co_neg : arrays of shape (classifiers, points, classifiers, points)
        From `co_errors_of_changes`, for each class.
    n_pos, n_neg : float
        Examples of each class. For weighted data the effective sizes, to which `co_pos` and `co_neg` are then scaled.
    pc : array of shape (points,)
    level : float
    classifiers : int, optional
        The number of classifiers in the family, if the tables are those of a random sample of them.
    n_simulations : int, optional
        By default from 500 (many pairs) to 4,000 (few).
    rng : numpy.random.Generator, int or None, default 0

    Returns
    -------
    float
        For `difference_band(..., critical_value=...)` of each pair.

    Notes
    -----
    The error rates of all classifiers at all points are jointly Gaussian in the limit, with covariance (co/n - r rᵀ)/n
    in each class. Let Z_t be the standardised differences, one for each pair and point. The probability that any of
    them exceeds c in absolute value is ``Σ_t P(|Z_t| > c) · E[1/L]``, where L is the number of those that do, in a
    field in which one of them, chosen at random, is known to do so. The mean of 1/L needs far fewer simulated fields
    than the probability itself (Adler, Blanchet and Liu 2012). In a sample of the classifiers, the pairs that share one
    classifier, or none, with the chosen pair stand for all such pairs of the family. L is then known with an error, and
    because 1/L is convex, this makes the critical value larger, never too small on average.
    """
    points, level = check_pc(pc), check_level(level)
    generator = check_rng(rng)
    tables = [np.asarray(c, dtype=np.float64) for c in (co_pos, co_neg)]
    k, m = tables[0].shape[0], points.size
    if any(t.shape != (k, m, k, m) for t in tables):
        raise InputError(f"`co_pos` and `co_neg` must have shape (k, {m}, k, {m}), got {tables[0].shape}")
    family = k if classifiers is None else check_integer("classifiers", classifiers, k)
    covariance = _cost_covariance(*_canonical(tables, (n_pos, n_neg), exact_weights(points)))
    field = _PairField.of(covariance, k, m)
    if field is None:
        return critical(level)
    if n_simulations is None:
        n_simulations = min(4000, max(500, 2_000_000 // field.inverse.size))
    size = check_integer("n_simulations", n_simulations, 100)
    return max(field.critical(1 - level, family, size, generator), critical(level))


def _canonical(
    tables: list[FloatArray], sizes: tuple[float, float], pc: FloatArray
) -> tuple[list[FloatArray], tuple[float, float], FloatArray]:
    """Return the same family in an order of classes and classifiers that does not depend on the order given."""
    k, m = tables[0].shape[:2]
    mixed = np.sin(1.0 + np.arange(m * m))  # a weighted sum tells tables apart, like all their entries
    forms = []
    for which in ((0, 1), (1, 0)):
        turn = slice(None, None, -1 if which[0] else 1)
        pair = [tables[i][:, turn, :, turn] for i in which]
        sums = np.stack([(np.moveaxis(t, 2, 1).reshape(k, k, m * m) * mixed).sum(axis=-1) for t in pair], axis=-1)
        order = canonical_order(np.round(sums, 6))
        n = (sizes[which[0]], sizes[which[1]])
        forms.append((pair, order, n, 1 - pc[turn] if which[0] else pc, np.round(sums[np.ix_(order, order)], 6)))
    pair, order, sizes, pc, _ = forms[chosen([form[2:] for form in forms])]
    return [t[np.ix_(order, range(m), order, range(m))] for t in pair], sizes, pc


def _cost_covariance(tables: list[FloatArray], sizes: tuple[float, float], pc: FloatArray) -> FloatArray:
    """Return the covariance of the costs of all classifiers at all points, of shape (k · m, k · m)."""
    k, m = tables[0].shape[:2]
    total = np.zeros((k * m, k * m))
    for table, n, weight in zip(tables, sizes, (pc, 1 - pc), strict=True):
        joint = table.reshape(k * m, k * m) / n
        rate, each = np.diagonal(joint).copy(), np.tile(weight, k)
        joint -= np.multiply.outer(rate, rate)
        fixed = np.diagonal(joint) <= _ROUNDING
        joint[fixed] = joint[:, fixed] = 0.0
        joint *= np.multiply.outer(each / n, each)
        total += joint
    return total


@dataclass(frozen=True, slots=True)
class _PairField:
    """The standardised differences of all pairs of some classifiers at all points, as a Gaussian field.

    `inverse` has 1 / sd of each difference, of shape (pairs, points), and 0 where a difference does not vary.
    """

    covariance: FloatArray
    pairs: IntArray
    inverse: FloatArray

    @classmethod
    def of(cls, covariance: FloatArray, k: int, m: int) -> _PairField | None:
        """Return the field, or None if no difference varies."""
        pairs = np.array(list(combinations(range(k), 2)))
        at = np.arange(m)
        first, second = (pairs[:, i, None] * m + at for i in range(2))
        own = np.diagonal(covariance)
        spread = np.sqrt(np.maximum(own[first] + own[second] - 2 * covariance[first, second], 0.0))
        used = spread > 1e-9 * spread.max()
        if not used.any():
            return None
        return cls(covariance, pairs, np.divide(1.0, spread, out=np.zeros_like(spread), where=used))

    def critical(self, alpha: float, family: int, size: int, rng: np.random.Generator) -> float:
        """Return the value that some difference of the family exceeds with probability `alpha`."""
        errors, lift, chosen = self._draws(size, rng)
        uniform = (rng.permutation(size) + rng.random(size)) / size
        weight = self._weights(chosen, family)
        number = np.count_nonzero(self.inverse) * (family * (family - 1) / 2 / self.pairs.shape[0])

        def log_exceeded(c: float) -> float:
            share = self._one_over_number(c, uniform, errors, lift, weight).mean()
            return float(np.log(number * _both_tails(c) * share / alpha))

        # The logarithm is nearly linear in the square of c, so that a few secants are enough.
        low = _normal_tail(alpha)
        high = max(_normal_tail(alpha / number), low + 0.5)
        at_low, at_high = log_exceeded(low), log_exceeded(high)
        for _ in range(8):
            share = min(max(at_low / (at_low - at_high), 0.0), 1.0) if at_low > at_high else 0.5
            c = float(np.sqrt(low**2 + share * (high**2 - low**2)))
            value = log_exceeded(c)
            if abs(value) < 2e-3 or high - low < 1e-4:
                return c
            if value > 0:
                low, at_low = c, value
            else:
                high, at_high = c, value
        return float(high)

    def _draws(self, size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return simulated errors, how they rise with a chosen difference, and the pair chosen in each."""
        m, ridge = self.inverse.shape[1], 1e-9 * np.diagonal(self.covariance).max()
        root = np.linalg.cholesky(self.covariance + ridge * np.eye(self.covariance.shape[0]))
        errors = root @ rng.standard_normal((root.shape[0], size))
        valid = np.flatnonzero(self.inverse)
        place = valid[((np.arange(size) + rng.random()) * (valid.size / size)).astype(np.intp)]
        pair, point = np.divmod(place, m)
        first, second = (self.pairs[pair, i] * m + point for i in range(2))
        lift = (self.covariance[:, first] - self.covariance[:, second]) * self.inverse[pair, point]
        draw = np.arange(size)
        errors -= lift * ((errors[first, draw] - errors[second, draw]) * self.inverse[pair, point])
        return errors, lift, pair

    def _weights(self, chosen: IntArray, family: int) -> FloatArray | None:
        """Return for how many pairs of the family each pair of the sample stands, of shape (draws, pairs)."""
        k = int(self.pairs[-1, 1]) + 1
        if family == k:
            return None
        chosen_pair = self.pairs[chosen]
        shared = sum((chosen_pair[:, i, None] == self.pairs[:, j]) for i in range(2) for j in range(2))
        left, of = k - 2, family - 2
        stands = np.array([of * (of - 1) / max(left * (left - 1), 1), of / max(left, 1), 1.0])
        return np.asarray(stands[shared])

    def _one_over_number(
        self,
        c: float,
        uniform: FloatArray,
        errors: FloatArray,
        lift: FloatArray,
        weight: FloatArray | None,
    ) -> FloatArray:
        """Return 1 / L of each draw, in which the chosen difference exceeds c."""
        m, size = self.inverse.shape[1], uniform.size
        top = _normal_tail(uniform * _both_tails(c))
        field = (errors + lift * top).reshape(-1, m, size).astype(np.float32)
        bound = np.divide(c, self.inverse, out=np.full(self.inverse.shape, np.inf), where=self.inverse > 0)
        bound = bound.astype(np.float32)[:, :, None]
        number = np.zeros(size)
        for i, (a, b) in enumerate(self.pairs.tolist()):
            found = np.count_nonzero(np.abs(field[a] - field[b]) > bound[i], axis=0)
            number += found if weight is None else found * weight[:, i]
        return np.asarray(1 / np.maximum(number, 1.0))  # the chosen one exceeds c, whatever the rounding


def _both_tails(c: float) -> float:
    from scipy.special import ndtr

    return float(2 * ndtr(-c))


def _normal_tail(probability: Any) -> Any:
    """Return the value that a standard normal exceeds in absolute value with this probability."""
    from scipy.special import ndtri

    return -ndtri(np.asarray(probability) / 2)


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
