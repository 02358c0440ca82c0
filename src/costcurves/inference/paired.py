"""Two classifiers on the same examples: discordant counts, bands of the difference, who is better where."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._results import Result
from costcurves._validation import (
    MOST_POINTS,
    FloatArray,
    check_choice,
    check_integer,
    check_laplace,
    check_level,
    check_positive,
    check_rng,
    check_unit_array,
    frozen,
    number_array,
    shown,
)
from costcurves.conditions import OperatingCondition
from costcurves.errors import DataError, InputError, UnsupportedError
from costcurves.inference.bands import SAMPLINGS, Band, check_pc, order_limits, track
from costcurves.inference.intervals import (
    PAIRED_METHODS,
    check_counts,
    critical,
    mover,
    paired_rate_interval,
    pointwise_level,
)
from costcurves.inference.kernel import Stratum, exact_quantiles, resample
from costcurves.inference.simultaneous import line_critical, process_critical

DIFFERENCE_METHODS = (*PAIRED_METHODS, "exact", "resample")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairedCounts(Result):
    """Discordant examples of one class at every operating point; counts of two parts of the data add.

    Attributes
    ----------
    only_a, only_b : arrays of shape (points,)
        Examples that only a, only b gets wrong (sums of weights where there are weights).
    total : float
        Examples of the class (sum of weights).
    squares : float
        Sum of squared weights; `total**2 / squares` is the effective sample size.
    overlap : array of shape (points, points), or None
        Examples discordant at both operating points; needed for simultaneous bands of moving thresholds.

    Examples
    --------
    >>> from costcurves.inference.paired import paired_counts
    >>> half = paired_counts("positive", [0.2, 0.9], [0.8, 0.1], [0.7, 0.5, 0.1], [0.7, 0.5, 0.1])
    >>> half.only_a, half.only_b
    (array([1, 1, 0]), array([1, 1, 0]))
    >>> (half + half).only_a
    array([2, 2, 0])
    """

    only_a: npt.NDArray[Any]
    only_b: npt.NDArray[Any]
    total: float
    squares: float
    overlap: npt.NDArray[Any] | None = None

    @property
    def effective(self) -> float:
        """Effective sample size (Σw)²/Σw²."""
        return self.total**2 / self.squares if self.squares else 0.0

    def reversed(self) -> PairedCounts:
        """Return the counts with a and b in the other order."""
        return replace(self, only_a=self.only_b, only_b=self.only_a)

    def __add__(self, other: PairedCounts) -> PairedCounts:
        """Return the counts of both parts."""
        if not isinstance(other, PairedCounts):
            return NotImplemented
        if self.only_a.shape != other.only_a.shape or (self.overlap is None) != (other.overlap is None):
            raise InputError("paired counts must be of the same operating points to be added")
        overlap = None
        if self.overlap is not None and other.overlap is not None:
            overlap = frozen(self.overlap + other.overlap)
        return PairedCounts(
            frozen(self.only_a + other.only_a),
            frozen(self.only_b + other.only_b),
            self.total + other.total,
            self.squares + other.squares,
            overlap,
        )

    def _columns(self) -> dict[str, Any]:
        return {"only_a": self.only_a, "only_b": self.only_b}

    def __repr__(self) -> str:
        """Return a short form."""
        return f"PairedCounts({self.only_a.size} points, {self.total:g} examples)"


def paired_counts(
    true_class: str,
    score_a: npt.ArrayLike,
    score_b: npt.ArrayLike,
    thresholds_a: npt.ArrayLike,
    thresholds_b: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    overlap: bool = False,
) -> PairedCounts:
    """Count the examples of one class that only one classifier gets wrong, at every operating point.

    Parameters
    ----------
    true_class : {"positive", "negative"}
        The class of all these examples.
    score_a, score_b : arrays of shape (n,)
        Scores of the same examples; score >= threshold is predicted positive.
    thresholds_a, thresholds_b : arrays of shape (points,)
        Threshold at each operating point, nonincreasing (a larger pc never asks for a higher threshold).
        Infinite thresholds are allowed.
    weights : array of shape (n,), optional
    overlap : bool
        Whether to count, for each two operating points, the examples discordant at both (points² numbers).

    Returns
    -------
    PairedCounts

    Notes
    -----
    Thresholds fall with pc, so each example changes sides once for each classifier, at j_a and j_b, and is
    discordant exactly between the two. Two binary searches an example and a difference array over the points
    give all counts in O(n log m + m), without an n × m table.

    Examples
    --------
    >>> from costcurves.inference.paired import paired_counts
    >>> paired_counts("negative", [0.2, 0.6], [0.4, 0.1], [0.7, 0.5, 0.3], [0.7, 0.5, 0.3]).only_a
    array([0, 1, 1])
    """
    true_class = check_choice("true_class", true_class, ("positive", "negative"))
    side_a, m = first_positive_point("a", score_a, thresholds_a)
    side_b, other = first_positive_point("b", score_b, thresholds_b)
    if m != other:
        raise InputError(f"`thresholds_a` and `thresholds_b` must have one length, got {m} and {other}")
    if side_a.shape != side_b.shape:
        raise DataError(f"`score_a` and `score_b` must have one length, got {side_a.size} and {side_b.size}")
    w = None
    if weights is not None:
        w = np.asarray(weights, dtype=np.float64)
        if w.shape != side_a.shape or not np.isfinite(w).all() or (w < 0).any():
            raise DataError(f"`weights` must be finite, >= 0 and one an example, got {shown(weights)}")
    return counts_of_changes(true_class, side_a, side_b, m, w, overlap=overlap)


def counts_of_changes(
    true_class: str,
    side_a: npt.NDArray[np.intp],
    side_b: npt.NDArray[np.intp],
    m: int,
    weights: FloatArray | None = None,
    *,
    overlap: bool = False,
) -> PairedCounts:
    """Return the paired counts of examples that change sides at these of m points (m: never), for a and for b."""
    # A positive is wrong before its change, a negative after it.
    if true_class == "positive":
        start_a, stop_a = side_b, side_a
    else:
        start_a, stop_a = side_a, side_b
    counts = [_between(lo, hi, m, weights) for lo, hi in ((start_a, stop_a), (stop_a, start_a))]
    both = None
    if overlap:
        cells = np.bincount(side_a * (m + 1) + side_b, weights=weights, minlength=(m + 1) ** 2)
        both = overlap_of(cells.reshape(m + 1, m + 1))
    total = float(side_a.size if weights is None else weights.sum())
    squares = float(side_a.size if weights is None else (weights * weights).sum())
    return PairedCounts(frozen(counts[0]), frozen(counts[1]), total, squares, both)


def overlap_of(cells: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return, for each two operating points, the examples discordant at both.

    `cells` counts examples by the points (m: never) at which a and b begin to predict positive, shape (m + 1, m + 1).
    """
    m = cells.shape[0] - 1
    table = np.triu(cells) + np.tril(cells, -1).T  # by the earlier and the later of the two changes
    # [i, j]: entered at or before i, left after j.
    within = np.cumsum(table, axis=0)[:m]
    within = np.cumsum(within[:, ::-1], axis=1)[:, ::-1][:, 1:]
    upper = np.triu(within)
    return frozen(upper + np.triu(upper, 1).T)


def first_positive_point(
    which: str, score: npt.ArrayLike, thresholds: npt.ArrayLike
) -> tuple[npt.NDArray[np.intp], int]:
    """Return, for each example, the first operating point at which it is predicted positive."""
    s, t = np.asarray(score, dtype=np.float64), np.atleast_1d(np.asarray(thresholds, dtype=np.float64))
    if s.ndim != 1 or np.isnan(s).any():
        raise DataError(f"`score_{which}` must be one-dimensional without NaN, got {shown(score)}")
    if t.ndim != 1 or t.size == 0 or np.isnan(t).any() or (t[1:] > t[:-1]).any():
        raise InputError(f"`thresholds_{which}` must be nonincreasing without NaN, got {shown(thresholds)}")
    return t.size - np.searchsorted(t[::-1], s, side="right"), t.size


def _between(start: npt.NDArray[np.intp], stop: npt.NDArray[np.intp], m: int, w: FloatArray | None) -> npt.NDArray[Any]:
    inside = start < stop
    w = None if w is None else w[inside]
    opened = np.bincount(start[inside], weights=w, minlength=m + 1)
    closed = np.bincount(stop[inside], weights=w, minlength=m + 1)
    sums = np.cumsum(opened - closed)[:m]
    # Weights that came and went leave rounding errors, which may be negative: they are nothing.
    return sums if w is None else np.where(sums > 1e-12 * opened.sum(), sums, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Verdict(Result):
    """A range of operating points and who is better there: "a", "b" or "undecided".

    Examples
    --------
    >>> from costcurves.inference.paired import Verdict
    >>> Verdict(0.7, 1.0, "a")
    Verdict(low=0.7, high=1.0, better='a')
    """

    low: float
    high: float
    better: str

    def _columns(self) -> dict[str, Any]:
        return {"low": [self.low], "high": [self.high], "better": [self.better]}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DifferenceBand(Band):
    """Cost of a minus cost of b with limits at each operating point; below zero, a is better.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.paired import difference_band
    >>> pc = np.linspace(0, 1, 11)
    >>> diff = difference_band(2, 30, 100, 6, 4, 100, pc, simultaneous=True)
    >>> diff
    DifferenceBand(11 points in pc [0, 1], mid-p, stratified, 95 % simultaneous)
    >>> [v.better for v in diff.significant()]
    ['undecided', 'a']
    >>> diff.p_value([0.0, 1.0]).round(4)
    array([0.5418, 0.    ])
    """

    _counts: tuple[FloatArray, ...] = field(repr=False)
    _sizes: tuple[float, float] = field(repr=False)
    _laplace: float = field(repr=False)

    def reversed(self) -> DifferenceBand:
        """Return the band of b minus a."""
        a, b, c, d = self._counts
        return replace(
            self,
            estimate=frozen(-self.estimate),
            lower=frozen(-self.upper),
            upper=frozen(-self.lower),
            _counts=(b, a, d, c),
        )

    def _money(self, condition: OperatingCondition, values: tuple[float, float, float]) -> tuple[float, float, float]:
        first, second, third = (value * condition.unit_cost for value in values)  # the baseline cancels
        return first, second, third

    def significant(self) -> tuple[Verdict, ...]:
        """Return the ranges of pc where a is better, b is better, or neither is shown to be.

        Only a simultaneous band can say this: a pointwise band excludes zero somewhere far more often than
        its level tells.
        """
        if not self.simultaneous:
            raise UnsupportedError(
                "`significant` must have a simultaneous band, got a pointwise one: pass simultaneous=True"
            )
        sign = np.where(self.upper < 0, -1, np.where(self.lower > 0, 1, 0))
        # Only points of the band were judged, so a range ends at the last of them that excludes zero; a range of
        # one point has no width and is left undecided.
        names = {-1: "a", 0: "undecided", 1: "b"}
        first = np.concatenate(([0], np.flatnonzero(np.diff(sign)) + 1))
        last = np.append(first[1:] - 1, sign.size - 1)
        told = [
            (i, j) for i, j in zip(first.tolist(), last.tolist(), strict=True) if sign[i] and (j > i or sign.size == 1)
        ]
        parts, end = [], float(self.pc[0])
        for i, j in told:
            low, high = float(self.pc[i]), float(self.pc[j])
            if low > end:
                parts.append(Verdict(end, low, names[0]))
            parts.append(Verdict(low, high, names[int(sign[i])]))
            end = high
        if end < self.pc[-1] or not parts:
            parts.append(Verdict(end, float(self.pc[-1]), names[0]))
        return tuple(parts)

    def p_value(self, pc: npt.ArrayLike) -> FloatArray:
        """Return the two-sided p-value of no difference at each operating point, taken by itself.

        It is the level at which the interval of this method just reaches zero (values below 1e-32 are not
        told apart). At points between those of
        the band the counts of the nearest one are used.
        """
        wanted = check_unit_array("pc", pc)
        flat = wanted.ravel()
        if ((flat < self.pc[0] - 1e-12) | (flat > self.pc[-1] + 1e-12)).any():
            raise InputError(f"`pc` must be in [{self.pc[0]:g}, {self.pc[-1]:g}], got {shown(pc)}")
        after = np.clip(np.searchsorted(self.pc, flat), 0, self.pc.size - 1)
        before = np.maximum(after - 1, 0)
        near = np.where(np.abs(self.pc[before] - flat) < np.abs(self.pc[after] - flat), before, after)
        counts = tuple(c[near] for c in self._counts)
        method = "mid-p" if self.method == "resample" else self.method
        return _p_values(counts, self._sizes, flat, method, self.sampling, self._laplace).reshape(wanted.shape)


def difference_band(
    pos_only_a: npt.ArrayLike,
    pos_only_b: npt.ArrayLike,
    n_pos: float,
    neg_only_a: npt.ArrayLike,
    neg_only_b: npt.ArrayLike,
    n_neg: float,
    pc: npt.ArrayLike,
    *,
    level: float = 0.95,
    method: str = "mid-p",
    sampling: str = "stratified",
    simultaneous: bool = False,
    overlap: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    laplace: float = 0.0,
    effective: tuple[float, float] | None = None,
    critical_value: float | None = None,
    n_resamples: int = 2000,
    rng: Any = None,
) -> DifferenceBand:
    """Return a band for NE_a(pc) - NE_b(pc) from the examples that only one of the two gets wrong.

    Parameters
    ----------
    pos_only_a, pos_only_b, neg_only_a, neg_only_b : int, or arrays of shape (points,)
        Positives and negatives that only a, only b gets wrong at each operating point.
    n_pos, n_neg : float
    pc : array of shape (points,)
    level : float
    method : {"mid-p", "score", "agresti-min", "bonett-price", "gaussian", "exact", "resample"}
        Mid-P intervals of the discordant rates in each class, combined (MOVER); see `paired_rate_interval`
        for the others and why this is the default. "exact" and "resample" are quantiles of the bootstrap
        distribution.
    sampling : {"stratified", "full"}
    simultaneous : bool
        Whether the band holds at all points of `pc` jointly.
    overlap : (positives, negatives), optional
        Arrays of shape (points, points) of examples discordant at both points, from `paired_counts`.
        Needed for `simultaneous` where the counts change with pc.
    laplace : float
        Added to each cell: both wrong, only a, only b, neither.
    effective : (n_pos, n_neg), optional
        Effective sample sizes of weighted data.
    critical_value : float, optional
        A simultaneous critical value found elsewhere, e.g. for all pairs of a family by `family_critical`.
    n_resamples, rng
        For "resample" only.

    Returns
    -------
    DifferenceBand

    Examples
    --------
    >>> from costcurves.inference.paired import difference_band
    >>> diff = difference_band(5, 1, 20, 1, 2, 10, [0.5], level=0.9)
    >>> diff.estimate, diff.lower.round(3), diff.upper.round(3)
    (array([0.05]), array([-0.13]), array([0.234]))
    """
    level, points = check_level(level), check_pc(pc)
    method = check_choice("method", method, DIFFERENCE_METHODS)
    sampling = check_choice("sampling", sampling, SAMPLINGS)
    n_pos, n_neg = check_positive("n_pos", n_pos), check_positive("n_neg", n_neg)
    laplace = check_laplace(laplace)
    given = {
        "pos_only_a": (pos_only_a, n_pos),
        "pos_only_b": (pos_only_b, n_pos),
        "neg_only_a": (neg_only_a, n_neg),
        "neg_only_b": (neg_only_b, n_neg),
    }
    arrays = []
    for name, (value, total) in given.items():
        counts = check_counts(name, value, total)[0]
        if counts.size not in (1, points.size) or counts.ndim > 1:
            raise InputError(f"`{name}` must be a number or match `pc`, got shape {counts.shape}")
        arrays.append(np.array(np.broadcast_to(counts, points.shape)))
    raw = tuple(arrays)
    for name, first, second, total in (("pos", 0, 1, n_pos), ("neg", 2, 3, n_neg)):
        if (raw[first] + raw[second] > total * (1 + 1e-12)).any():
            raise InputError(f"`{name}_only_a` + `{name}_only_b` must be at most `n_{name}`")
    sizes = (n_pos, n_neg)
    if effective is not None:
        if method in ("exact", "resample"):
            raise InputError(f"`method` must not be {method!r} for weighted data: it resamples whole examples")
        sizes = (check_positive("effective", effective[0]), check_positive("effective", effective[1]))
        scale = (sizes[0] / n_pos, sizes[0] / n_pos, sizes[1] / n_neg, sizes[1] / n_neg)
        raw = tuple(c * s for c, s in zip(raw, scale, strict=True))
    if method in ("exact", "resample") and not all((c == np.floor(c)).all() for c in (*raw, *map(np.array, sizes))):
        raise InputError(f"`method={method!r}` must have whole counts")

    z = critical(level)
    if critical_value is not None:
        z = check_positive("critical_value", critical_value)
        simultaneous = True
    elif simultaneous:
        z = _simultaneous(raw, sizes, points, level, sampling, overlap, effective, (n_pos, n_neg))
    if method == "resample":
        lower, upper = _resampled(raw, sizes, points, pointwise_level(z), sampling, laplace, n_resamples, rng)
        estimate = _combine(raw, sizes, points, 1.0, "gaussian", sampling, laplace)[0]
    else:
        estimate, lower, upper = _combine(raw, sizes, points, z, method, sampling, laplace)
    estimate, lower, upper = (frozen(np.clip(a, -1.0, 1.0)) for a in (estimate, lower, upper))
    return DifferenceBand(
        frozen(points), estimate, lower, upper, level, method, sampling, bool(simultaneous), float(z),
        tuple(frozen(c) for c in raw), sizes, laplace,
    )  # fmt: skip


def difference_from_joint(joint: npt.ArrayLike, pc: npt.ArrayLike, **options: Any) -> DifferenceBand:
    """Return the band of two fixed classifiers from their joint table.

    Parameters
    ----------
    joint : array of shape (2, 2, 2)
        Counts by true class, prediction of a, prediction of b; index 0 is negative, 1 is positive.
    pc, **options
        As in `difference_band`.

    Examples
    --------
    >>> from costcurves.inference.paired import difference_from_joint
    >>> joint = [[[5, 1], [1, 3]], [[3, 1], [1, 15]]]
    >>> difference_from_joint(joint, [0.0, 1.0]).estimate
    array([0., 0.])
    """
    neg, pos = joint_counts(joint)
    return difference_band(pos.only_a, pos.only_b, pos.total, neg.only_a, neg.only_b, neg.total, pc, **options)


def joint_counts(joint: npt.ArrayLike) -> tuple[PairedCounts, PairedCounts]:
    """Return the discordant negatives and positives of a joint table of two fixed classifiers.

    Examples
    --------
    >>> from costcurves.inference.paired import joint_counts
    >>> neg, pos = joint_counts([[[5, 1], [2, 3]], [[3, 1], [4, 15]]])
    >>> float(neg.only_a[0]), float(neg.only_b[0]), float(pos.only_a[0]), float(pos.only_b[0])
    (2.0, 1.0, 1.0, 4.0)
    """
    table = number_array("joint", joint)
    if table.shape != (2, 2, 2) or not np.isfinite(table).all() or (table < 0).any():
        raise InputError(f"`joint` must hold 2 x 2 x 2 counts >= 0, got {shown(joint)}")
    neg, pos = table
    if pos.sum() == 0 or neg.sum() == 0:
        raise DataError("`joint` must hold examples of both classes")
    wrong = ((neg[1, 0], neg[0, 1], neg.sum()), (pos[0, 1], pos[1, 0], pos.sum()))
    first, second = (PairedCounts(frozen(np.array([a])), frozen(np.array([b])), n, n) for a, b, n in wrong)
    return first, second


_Counts = tuple[FloatArray, ...]


def difference_strata(
    counts: _Counts, sizes: tuple[float, float], pc: FloatArray, sampling: str, laplace: float = 0.0
) -> list[Stratum]:
    """Return the strata of the paired difference: cells "only a wrong" and "only b wrong" of each class.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.kernel import moments
    >>> from costcurves.inference.paired import difference_strata
    >>> counts = tuple(np.array([float(k)]) for k in (5, 1, 1, 2))
    >>> moments(difference_strata(counts, (20, 10), np.array([0.5]), "stratified"))[0].round(3)
    array([0.05])
    """
    n_pos, n_neg = sizes
    up, down = pc / n_pos, (1 - pc) / n_neg
    cells = [c + laplace for c in counts]
    if sampling == "stratified":
        return [
            Stratum(int(n_pos), np.stack(cells[:2], 1) / (n_pos + 4 * laplace), np.stack([up, -up], 1)),
            Stratum(int(n_neg), np.stack(cells[2:], 1) / (n_neg + 4 * laplace), np.stack([down, -down], 1)),
        ]
    n = n_pos + n_neg
    return [Stratum(int(n), np.stack(cells, 1) / (n + 8 * laplace), np.stack([up, -up, down, -down], 1))]


def _combine(
    counts: _Counts,
    sizes: tuple[float, float],
    pc: FloatArray,
    z: float,
    method: str,
    sampling: str,
    laplace: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return estimate, lower and upper at critical value z."""
    n_pos, n_neg = sizes
    a, b, c, d = (k + laplace for k in counts)
    if sampling == "stratified":
        total = (n_pos + 4 * laplace, n_neg + 4 * laplace)
        weights = (pc, 1 - pc)
    else:
        n = n_pos + n_neg + 8 * laplace
        total = (n, n)
        weights = (pc * (n_pos + n_neg) / n_pos, (1 - pc) * (n_pos + n_neg) / n_neg)
    net = ((a - b) / total[0], (c - d) / total[1])
    estimate = weights[0] * net[0] + weights[1] * net[1]
    if method == "exact":
        tail = 0.5 * (1 - pointwise_level(z))
        low, high = exact_quantiles(difference_strata(counts, sizes, pc, sampling, laplace), [tail, 1 - tail])
        return estimate, low, high
    repel: FloatArray | float = 0.0
    if sampling == "full":
        # Half an example a cell, so that classifiers that always differ do not leave a width of zero.
        moved = [((x - y) / (n + 2.5), (x + y + 1) / (n + 2.5)) for x, y in ((a, b), (c, d))]
        spread = [np.sqrt(both - one * one) for one, both in moved]
        repel = np.clip(-moved[0][0] * moved[1][0] / (spread[0] * spread[1]), -1.0, 1.0)
    intervals = (
        paired_rate_interval(a, b, total[0], z, method),
        paired_rate_interval(c, d, total[1], z, method),
    )
    low, high = mover(weights, net, intervals, repel)
    return estimate, low, high


def _p_values(
    counts: _Counts,
    sizes: tuple[float, float],
    pc: FloatArray,
    method: str,
    sampling: str,
    laplace: float,
) -> FloatArray:
    from scipy.special import ndtr

    if method == "exact":
        from costcurves.inference.kernel import exact_distribution

        strata = difference_strata(counts, sizes, pc, sampling, laplace)
        out = np.empty(pc.size)
        for j in range(pc.size):
            dist = exact_distribution([s.at(j) for s in strata])
            tiny = 1e-9 * max(dist.std, 1e-300)
            below, above = float(dist.cdf(0.0)), 1.0 - float(dist.cdf(-tiny))
            out[j] = min(1.0, 2 * min(below, above))
        return out
    estimate = _combine(counts, sizes, pc, 1.0, "gaussian", sampling, laplace)[0]
    # The interval widens with z; the z at which it reaches zero is enclosed by ever finer grids, all points
    # and all trial values in one call.
    start, step = np.zeros(pc.size), np.full(pc.size, 12.0 / 31)
    spread = tuple(np.repeat(k, 32) for k in counts)
    for _ in range(4):
        trial = start[:, None] + step[:, None] * np.arange(32)
        _, lower, upper = _combine_each(spread, sizes, np.repeat(pc, 32), trial.ravel(), method, sampling, laplace)
        outside = ((lower > 0) | (upper < 0)).reshape(trial.shape)
        last = np.maximum(outside.sum(axis=1) - 1, 0)
        start, step = start + last * step, step / 31
    return np.where(np.abs(estimate) < 1e-15, 1.0, 2 * ndtr(-start))


def _combine_each(
    counts: _Counts,
    sizes: tuple[float, float],
    pc: FloatArray,
    z: FloatArray,
    method: str,
    sampling: str,
    laplace: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    # The interval formulas are elementwise, so an array of critical values broadcasts through them.
    return _combine(counts, sizes, pc, z, method, sampling, laplace)  # type: ignore[arg-type]


def _simultaneous(
    counts: _Counts,
    sizes: tuple[float, float],
    pc: FloatArray,
    level: float,
    sampling: str,
    overlap: tuple[npt.ArrayLike, npt.ArrayLike] | None,
    effective: tuple[float, float] | None,
    totals: tuple[float, float],
) -> float:
    n_pos, n_neg = sizes
    fixed = all(np.ptp(c) == 0 for c in counts)
    if fixed and sampling == "stratified":
        # One more of each discordant kind keeps a class without discordant pairs from vanishing.
        spread = []
        for first, second, n in ((counts[0], counts[1], n_pos), (counts[2], counts[3], n_neg)):
            p, q = (first[0] + 0.5) / (n + 2), (second[0] + 0.5) / (n + 2)
            spread.append(float(np.sqrt(max(p + q - (p - q) ** 2, 0.0) / n)))
        return line_critical(level, (pc[0], pc[-1]), sd_pos=spread[0], sd_neg=spread[1])
    if overlap is None and not fixed:
        raise InputError(
            "`overlap` must be given for a simultaneous band of moving thresholds: the counts of examples "
            "discordant at two operating points (paired_counts(..., overlap=True))"
        )
    if overlap is None:
        both = [np.full((pc.size, pc.size), c[0] + d[0]) for c, d in (counts[:2], counts[2:])]
    else:
        both = [np.asarray(o, dtype=np.float64) for o in overlap]
        if any(o.shape != (pc.size, pc.size) for o in both):
            raise InputError(f"`overlap` must have shape ({pc.size}, {pc.size}), got {both[0].shape}")
        if effective is not None:
            both = [o * s / t for o, s, t in zip(both, sizes, totals, strict=True)]
    return process_critical(difference_covariance(both[0], both[1], counts, sizes, pc, sampling), level)


def difference_covariance(
    overlap_pos: FloatArray,
    overlap_neg: FloatArray,
    counts: _Counts,
    sizes: tuple[float, float],
    pc: FloatArray,
    sampling: str = "stratified",
) -> FloatArray:
    """Return the covariance of the paired difference between operating points.

    An example keeps its sign while it is discordant, so E[s_i s_j] is the share discordant at both.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.paired import difference_covariance
    >>> counts = tuple(np.array([float(k)]) for k in (5, 1, 1, 2))
    >>> both = np.array([[6.0]]), np.array([[3.0]])
    >>> difference_covariance(*both, counts, (20, 10), np.array([0.5])).round(4)
    array([[0.0105]])
    """
    n_pos, n_neg = sizes
    a, b, c, d = counts
    pos, neg = (a - b) / n_pos, (c - d) / n_neg
    up, down = np.multiply.outer(pc, pc), np.multiply.outer(1 - pc, 1 - pc)
    if sampling == "stratified":
        first = up * (overlap_pos / n_pos - np.multiply.outer(pos, pos)) / n_pos
        second = down * (overlap_neg / n_neg - np.multiply.outer(neg, neg)) / n_neg
        return np.asarray(first + second)
    mean = pc * pos + (1 - pc) * neg
    square = up * overlap_pos / n_pos**2 + down * overlap_neg / n_neg**2
    return np.asarray(square - np.multiply.outer(mean, mean) / (n_pos + n_neg))


def _resampled(
    counts: _Counts,
    sizes: tuple[float, float],
    pc: FloatArray,
    level: float,
    sampling: str,
    laplace: float,
    n_resamples: int,
    rng: Any,
) -> tuple[FloatArray, FloatArray]:
    size = check_integer("n_resamples", n_resamples, 2, MOST_POINTS)
    generator = check_rng(rng)
    strata = difference_strata(counts, sizes, pc, sampling, laplace)
    fixed = all(np.ptp(c) == 0 for c in counts)
    if fixed and sampling == "stratified":
        # Two lines: one pair of counts a resample serves all operating points.
        draws = []
        for s, n in zip(strata, sizes, strict=True):
            q = s.probabilities[0]
            drawn = generator.multinomial(s.draws, np.append(q, max(0.0, 1.0 - q.sum())), size)
            draws.append((drawn[:, 0] - drawn[:, 1]) / n)
        return order_limits(np.multiply.outer(draws[0], pc) + np.multiply.outer(draws[1], 1 - pc), level)
    low, high = np.empty(pc.size), np.empty(pc.size)
    for j in track(range(pc.size), "resampling"):
        samples = resample([s.at(j) for s in strata], size, generator)
        low[j], high[j] = (float(x) for x in order_limits(samples, level))
    return low, high
