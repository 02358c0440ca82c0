"""Critical values for bands that hold at all operating points jointly.

Closed forms do not change if classes or classifiers are exchanged. Random numbers are drawn in some order, so that
simulations have a canonical order of classes and classifiers, which is decided here.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.validation import (
    FloatArray,
    IntArray,
    check_unit_array,
)
from costcurves.inference.rates import Limits, critical

# The supremum is taken over at most this many points, which are denser where the process varies more.
_POINTS = 257
# Matrices of covariances have the square of this number of entries at most (200 MB each).
_MOST_JOINT = 5000
# The number of draws of a Gaussian process.
_DRAWS = 20_000
# The number of data sets simulated for the critical value of a moving threshold. Among 1,999 simulated values and one
# more, each is equally likely to have each rank, so that the 1,900th is exceeded with probability 5 %.
SIMULATIONS = 1999
# The number of data sets whose limits are found at once, so that all arrays stay in the processor's cache.
_AT_ONCE = 250
# The distance of the critical values between which limits are interpolated, and the distance from the truth at which a
# limit touches it.
_STEP = 0.25
_TOUCHES = 1e-12
# 1 - pc is rounded. At multiples of this part both weights of a simulation are exact, in either order of the classes.
_PART = 2.0**-40


def line_coverage(c: float, angle: float = math.pi / 2) -> float:
    """Return P(sup |cos θ · X + sin θ · Y| <= c) for θ over an angle, with X and Y standard normal.

    Parameters
    ----------
    c : float
        Critical value, at least 0.
    angle : float
        Length of the range of θ, in [0, π/2].

    Notes
    -----
    The standardised error of a cost line at pc is the projection of the two classes' standardised errors
    on the direction θ = atan((1-pc) σ_fpr / (pc σ_fnr)), which lies in the first quadrant. In polar
    coordinates the supremum is R where the direction of (X, Y) is in the range, else R times the cosine
    of the distance to it:

    P = (Δ/π)(1 - exp(-c²/2)) + (π - Δ)/π - 4 T(c, tan((π - Δ)/2)), with Owen's T.

    For the whole range Δ = π/2 this is ½(1 - exp(-c²/2)) + ½(2Φ(c) - 1)²; for one point it is 2Φ(c) - 1.
    """
    from scipy.special import owens_t

    rest = math.pi - angle
    inside = angle / math.pi * -math.expm1(-0.5 * c * c)
    return float(inside + rest / math.pi - 4 * owens_t(c, math.tan(rest / 2) if angle > 0 else np.inf))


def line_critical(
    level: float, pc_range: tuple[float, float] = (0.0, 1.0), *, sd_pos: float = 1.0, sd_neg: float = 1.0
) -> float:
    """Return the critical value of a band around one cost line (or a difference of two) over a range of pc.

    Parameters
    ----------
    level : float
        Joint confidence level.
    pc_range : (low, high)
        Operating points over which the band must hold.
    sd_pos, sd_neg : float
        Standard errors of the rates of the two classes; they matter only if the range is not all of [0, 1].
    """
    from scipy.optimize import brentq

    angle = 0.0
    if sd_pos > 0 and sd_neg > 0:
        first, last = (math.atan2((1 - pc) * sd_neg, pc * sd_pos) for pc in pc_range)
        angle = first - last
    return float(brentq(lambda c: line_coverage(c, angle) - level, 0.0, 40.0, xtol=1e-12))


def nested_covariance(rates: npt.ArrayLike, draws: float) -> FloatArray:
    """Return the covariance matrix of error rates at several thresholds of one score, in one class.

    Examples that are wrong at the lower of two rates are also wrong at the higher one, so the covariance is that of a
    Brownian bridge in the rate: (min(r_i, r_j) - r_i r_j) / n.
    """
    r = check_unit_array("rates", rates)
    return np.asarray((np.minimum.outer(r, r) - np.multiply.outer(r, r)) / draws)


def check_joint(n_points: int) -> None:
    """Refuse more operating points than limits that hold jointly can have: memory grows with their square."""
    if n_points > _MOST_JOINT:
        raise InputError(f"`pc` must have at most {_MOST_JOINT} points for limits that hold jointly, got {n_points}")


def process_critical(covariance: npt.ArrayLike, level: float) -> float:
    """Return the sup-t value c of a Gaussian process: P(max |G_j| / sd(G_j) <= c) = level.

    Parameters
    ----------
    covariance : array of shape (points, points)
        Points of zero variance are omitted; if all points are, the pointwise critical value is returned.
    level : float

    Notes
    -----
    If there are more than 257 points, only those that `moving_points` chooses are used. With 20,000 draws the level is
    right to about 0.2 percentage points; they have a fixed seed, so that the same data give the same band.
    """
    cov = np.asarray(covariance, dtype=np.float64)
    if cov.ndim != 2 or cov.shape[0] != cov.shape[1]:
        raise InputError(f"`covariance` must be square, got shape {cov.shape}")
    used = moving_points(cov)
    if used.size == 0:
        return critical(level)
    sd = np.sqrt(np.diagonal(cov))
    correlation = cov[np.ix_(used, used)] / np.multiply.outer(sd[used], sd[used])
    values, vectors = np.linalg.eigh(correlation)
    # Directions with hardly any variance take random numbers and change nothing; each point keeps variance 1.
    keep = values > 1e-5 * values[-1]
    root = vectors[:, keep] * np.sqrt(values[keep])
    root /= np.sqrt((root**2).sum(axis=1, keepdims=True))
    generator = np.random.default_rng(0)
    top = np.empty(_DRAWS)
    for start in range(0, _DRAWS, 4096):
        size = min(4096, _DRAWS - start)
        top[start : start + size] = np.abs(root @ generator.standard_normal((root.shape[1], size))).max(axis=0)
    return max(float(np.quantile(top, level)), critical(level))


def moving_points(covariance: FloatArray, most: int = _POINTS) -> IntArray:
    """Return the positions of at most `most` points of positive variance, evenly spaced in how the process moves.

    The distance between two neighbours is sqrt(2(1 - correlation)).

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.simultaneous import moving_points
    >>> still_then_moving = np.array([[1.0, 1.0, 0.2], [1.0, 1.0, 0.2], [0.2, 0.2, 1.0]])
    >>> moving_points(still_then_moving, most=2)
    array([0, 2])
    """
    sd = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    used = np.flatnonzero(sd > 1e-12 * sd.max(initial=0.0))
    if used.size > most:
        near = covariance[used[:-1], used[1:]] / (sd[used[:-1]] * sd[used[1:]])
        way = np.concatenate([[0.0], np.cumsum(np.sqrt(np.maximum(2 - 2 * near, 0.0)) + 1e-9)])
        at = np.searchsorted(way, np.linspace(0, way[-1], most))
        used = used[np.unique(np.minimum(at, used.size - 1))]
    return used


def calibrated_critical(room: Callable[[float, IntArray], FloatArray], draws: int, level: float) -> float:
    """Return the smallest critical value at which the bands of a share `level` of simulated data sets cover.

    Parameters
    ----------
    room : callable
        `room(z, which)` returns for each data set in `which`, and each point, the distance from the truth to the nearer
        limit of the band at critical value z. It is negative where the truth lies outside, and grows with z. Data sets
        are asked for in small numbers at once.
    draws : int
        Number of simulated data sets.
    level : float

    Notes
    -----
    The value has rank `level` · (draws + 1), so that another data set needs at most this value with probability
    `level`, however many data sets are simulated. It is searched between the pointwise value and 3 above it: first
    among values 0.25 apart, at which data sets are decided that cover at the lower one or miss at the higher one, and
    then between two of these values. There the limits are nearly linear in z, and each data set that is left has the
    value at which its last point is covered. While most are undecided, a lower value than the middle is tried, because
    one step up decides nearly all of them.
    """
    grid = critical(level) + _STEP * np.arange(round(3 / _STEP) + 1)
    low, high = 0, grid.size - 1
    undecided, covered = np.arange(draws), 0
    wanted = min(draws, math.ceil(level * (draws + 1) - 1e-9))

    def each(z: float, which: IntArray) -> FloatArray:
        """Return `room` of any number of data sets."""
        return np.concatenate([room(z, which[i : i + _AT_ONCE]) for i in range(0, max(which.size, 1), _AT_ONCE)])

    while high - low > 1:
        middle = low + max(1, (high - low) // (4 if 2 * undecided.size > draws else 2))
        held = (each(float(grid[middle]), undecided) >= -_TOUCHES).all(axis=1)
        if covered + held.sum() >= wanted:
            high, undecided = middle, undecided[held]
        else:
            low, undecided, covered = middle, undecided[~held], covered + int(held.sum())
    below, above = (each(float(grid[i]), undecided) for i in (low, high))
    part = np.where(below < -_TOUCHES, below / np.minimum(below - above, -1e-300), 0.0)
    needed = np.clip(part, 0.0, 1.0).max(axis=1, initial=0.0)
    return float(grid[low] + _STEP * np.sort(needed)[wanted - covered - 1])


def seeded_by(*arrays: npt.NDArray[Any]) -> np.random.Generator:
    """Return a generator that is seeded by the data, so that the same data give the same band.

    Numbers count to nine decimals, so that rounding (for example of weights on another scale) does not change the seed.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.simultaneous import seeded_by
    >>> first, again, other = (seeded_by(np.array(x)).random() for x in ([1.0, 2.0], [1.0, 2.0], [1.0, 3.0]))
    >>> first == again, first == other
    (True, False)
    """
    # Adding zero turns -0.0 into 0.0.
    return np.random.default_rng(
        [zlib.crc32((np.round(array.astype(np.float64), 9) + 0.0).tobytes()) for array in arrays]
    )


def tabulated(limits: Limits, offset: float = 0.0) -> Limits:
    """Return the same limits of a rate for large arrays of counts: solved for some counts, and linear in between.

    Parameters
    ----------
    limits : callable
        `limits(count, total, z)` returns lower and upper.
    offset : float
        Counts are integers plus this number (a Laplace correction).

    Notes
    -----
    Every count up to 32 from either end has its own entry. Further inside, entries are 6 % apart, and the distance of a
    limit from its rate has a relative error of at most 2e-4.
    """

    def looked_up(count: FloatArray, total: float, z: float) -> tuple[FloatArray, FloatArray]:
        known, lower, upper = _solved(limits, total, z, offset)
        index = np.rint(count - offset).astype(np.intp)
        highest = int(index.max(initial=0))
        if highest >= index.size:
            return np.interp(count, known, lower), np.interp(count, known, upper)
        every = offset + np.arange(highest + 1)
        return np.interp(every, known, lower)[index], np.interp(every, known, upper)[index]

    return looked_up


@lru_cache(maxsize=256)
def _solved(limits: Limits, total: float, z: float, offset: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    known = offset + _entries(round(total - 2 * offset))
    return known, *limits(known, total, z)


def _entries(n: int) -> FloatArray:
    half = n // 2
    few = np.arange(min(half, 32) + 1)
    if half > 32:
        more = np.geomspace(32, half, 2 + int(math.log(half / 32) / 0.06))
        few = np.union1d(few, np.rint(more))
    return np.union1d(few, n - few).astype(np.float64)


def curve_covariance(
    fnr: npt.ArrayLike,
    fpr: npt.ArrayLike,
    pc: npt.ArrayLike,
    n_pos: float,
    n_neg: float,
    *,
    sampling: str = "stratified",
    share: float | None = None,
) -> FloatArray:
    """Return the covariance of NE between operating points for a curve whose threshold moves with pc.

    Parameters
    ----------
    fnr, fpr, pc : arrays of shape (points,)
        Error rates at the threshold that each operating point uses.
    n_pos, n_neg : float
    sampling : {"stratified", "full"}
    share : float, optional
        Share of positives under full sampling; that of the sizes by default.

    Notes
    -----
    Stratified: pc_i pc_j C⁺ + (1-pc_i)(1-pc_j) C⁻ with `nested_covariance` in each class. Full: all n draws
    are one multinomial, whose values are pc/p⁺ for a miss and (1-pc)/p⁻ for a false alarm.
    """
    r, f, w = (check_unit_array(name, a) for name, a in (("fnr", fnr), ("fpr", fpr), ("pc", pc)))
    if sampling == "stratified":
        pos = np.multiply.outer(w, w) * nested_covariance(r, n_pos)
        neg = np.multiply.outer(1 - w, 1 - w) * nested_covariance(f, n_neg)
        return np.asarray(pos + neg)
    n = n_pos + n_neg
    share = n_pos / n if share is None else share
    miss = np.multiply.outer(w, w) * np.minimum.outer(r, r) / share
    alarm = np.multiply.outer(1 - w, 1 - w) * np.minimum.outer(f, f) / (1 - share)
    mean = w * r + (1 - w) * f
    return np.asarray((miss + alarm - np.multiply.outer(mean, mean)) / n)


def exact_weights(pc: FloatArray) -> FloatArray:
    """Return operating points, moved by at most 5e-13, for which 1 - (1 - pc) is pc.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.simultaneous import exact_weights
    >>> one, other = exact_weights(np.array([0.1])), exact_weights(1 - np.array([0.1]))
    >>> bool((1 - other == one).all()), bool(1 - (1 - 0.1) == 0.1)
    (True, False)
    """
    return np.asarray(np.rint(pc / _PART) * _PART)


def chosen(forms: Sequence[Sequence[npt.ArrayLike]]) -> int:
    """Return the index of the form whose numbers come last in lexicographic order, to nine decimals.

    Parameters
    ----------
    forms : sequence of sequences of arrays
        The same data in several orders; corresponding arrays of two forms have the same size.

    Examples
    --------
    >>> from costcurves.inference.simultaneous import chosen
    >>> chosen([[[1, 2], 5], [[2, 1], 3]])
    1
    """
    keys = [_key(form) for form in forms]
    best = 0
    for i in range(1, len(keys)):
        differ = np.flatnonzero(keys[i] != keys[best])
        if differ.size and keys[i][differ[0]] > keys[best][differ[0]]:
            best = i
    return best


def _key(form: Sequence[npt.ArrayLike]) -> FloatArray:
    return np.concatenate([np.round(np.asarray(part, dtype=np.float64), 9).ravel() for part in form])


def canonical_order(tables: npt.NDArray[Any]) -> list[int]:
    """Return an order of items that depends only on what each pair has in common, not on the order in which they came.

    Parameters
    ----------
    tables : array of shape (items, items, values)
        The values of the pair of items i and j; [i, i] has those of item i alone.

    Notes
    -----
    Items are distinguished by their own values, then repeatedly by the values that they have with items distinguished
    before. Items that are not distinguished in this way are interchangeable, except in contrived cases.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.simultaneous import canonical_order
    >>> canonical_order(np.array([[[5], [1]], [[1], [7]]])), canonical_order(np.array([[[7], [1]], [[1], [5]]]))
    ([0, 1], [1, 0])
    """
    size = tables.shape[0]
    code = _codes([tuple(tables[i, i].tolist()) for i in range(size)])
    for _ in range(size):
        with_others = [
            (code[i], tuple(sorted((code[j], tuple(tables[i, j].tolist())) for j in range(size)))) for i in range(size)
        ]
        finer = _codes(with_others)
        if finer == code:
            break
        code = finer
    return sorted(range(size), key=lambda i: code[i])


def _codes(keys: list[Any]) -> list[int]:
    """Return the rank of each key among the distinct ones."""
    rank = {key: i for i, key in enumerate(sorted(set(keys)))}
    return [rank[key] for key in keys]
