"""Critical values for bands of paired differences that hold at all operating points jointly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.validation import BoolArray, FloatArray, IntArray
from costcurves.counting import compiled
from costcurves.inference.paired.discordant import at_or_below, compiled_search, overlap
from costcurves.inference.paired.limits import PairedErrors, difference_limits
from costcurves.inference.rates import mid_p_at
from costcurves.inference.simultaneous import (
    calibrated_critical,
    check_joint,
    chosen,
    exact_weights,
    line_critical,
    moving_points,
    process_critical,
    seeded_by,
    tabulated,
)

# If a class has more discordant examples than `_SINGLY`, those kinds that are discordant only where at least `_COMMON`
# examples of their sign are expected are drawn together.
_SINGLY = 2000
_COMMON = 100
# The number of data sets that are simulated; another data set needs at most the critical value with probability `level`
# whatever this number is. A larger one makes the critical values of similar data more alike.
_SIMULATIONS = 999
# How many points are looked at where the same examples are discordant, so that the difference is linear in pc.
_A_RUN = 5


def difference_critical(
    counts: PairedErrors,
    sizes: tuple[float, float],
    pc: FloatArray,
    level: float,
    *,
    method: str = "mid-p",
    sampling: str = "stratified",
    laplace: float = 0.0,
    ranges: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
) -> float:
    """Return the critical value of a band around a paired difference that holds at all points jointly.

    Parameters
    ----------
    counts : (pos_only_a, pos_only_b, neg_only_a, neg_only_b)
        Discordant examples at each point, arrays of shape (points,).
    sizes : (n_pos, n_neg)
        Examples of each class. For weighted data the effective sizes, to which `counts` and `ranges` are then scaled.
    pc : array of shape (points,)
    level, method, sampling, laplace
        As in `difference_band`.
    ranges : (positives, negatives), optional
        `PairedCounts.ranges`; needed if the counts change with pc.

    Notes
    -----
    For two lines there is a closed form (`line_critical`). For moving thresholds and mid-P limits, 999 data sets are
    drawn (seeded by the data): each example keeps the points at which it is discordant, and to each class half an
    example is added that only a gets wrong at all points, and half an example that only b does. The critical value is
    the smallest at which the bands of a share `level` of the data sets cover, at all points, the rates at which they
    were drawn (`calibrated_critical`). Other methods take theirs from the Gaussian process with the covariance of the
    data (`process_critical`).

    Measured joint coverage at nominal 95 % of the difference of two equal binormal classifiers (scale 3, thresholds
    best for μ, pc = 0.01, ..., 0.99; 8,000 to 20,000 data sets per case, standard error 0.2 to 0.3 points), at
    correlations 0.3, 0.6 and 0.9, with 250 per class: 0.950, 0.952, 0.954 (μ = 0.75), 0.953, 0.950, 0.945 (μ = 2),
    0.951, 0.951, 0.949 (μ = 3). With 1,000 per class: 0.945, 0.949, 0.951 (μ = 0.75), 0.949, 0.947, 0.951 (μ = 2),
    0.949, 0.946, 0.947 (μ = 3). Of classifiers that differ by a third of a standard deviation (250, μ = 2): 0.949,
    0.951, 0.946. Of two lines with 250 per class, 2,000 runs: 0.947, 0.946, 0.952.
    """
    n_pos, n_neg = sizes
    fixed = all(np.ptp(c) == 0 for c in counts)
    if fixed and sampling == "stratified":
        # Half an example more of each discordant kind keeps the variance of a class without discordant examples from 0.
        spread = []
        for first, second, n in ((counts[0], counts[1], n_pos), (counts[2], counts[3], n_neg)):
            p, q = (first[0] + 0.5) / (n + 2), (second[0] + 0.5) / (n + 2)
            spread.append(float(np.sqrt(max(p + q - (p - q) ** 2, 0.0) / n)))
        return line_critical(level, (pc[0], pc[-1]), sd_pos=spread[0], sd_neg=spread[1])
    if ranges is None and not fixed:
        raise InputError(
            "`ranges` must be given for a simultaneous band of moving thresholds: the examples by the points at "
            "which they are discordant (paired_counts(..., ranges=True))"
        )
    if ranges is None:
        tables = [_always(counts[k][0], counts[k + 1][0], pc.size) for k in (0, 2)]
    else:
        tables = [np.asarray(table, dtype=np.float64) for table in ranges]
        if any(table.shape != (pc.size + 1, pc.size + 1) for table in tables):
            raise InputError(f"`ranges` must have shape ({pc.size + 1}, {pc.size + 1}), got {tables[0].shape}")
    check_joint(pc.size)
    # One of the four orders of classes and classifiers is simulated, so that all four have the same value.
    forms = [
        one
        for straight in ((counts, sizes, exact_weights(pc), tables),)
        for both in (straight, _other_classes(*straight))
        for one in (both, _other_classifiers(*both))
    ]
    counts, sizes, pc, tables = forms[chosen([(form[1], *form[3], form[2]) for form in forms])]
    covariance = difference_covariance(overlap(tables[0]), overlap(tables[1]), counts, sizes, pc, sampling)
    if method != "mid-p":
        return process_critical(covariance, level)
    used = moving_points(covariance)
    if used.size == 0:  # the classifiers differ nowhere
        used = np.unique(np.linspace(0, pc.size - 1, 9).astype(np.intp))
    used = used[_of_each_run(_runs(tables)[used])]
    cells = [smoothed_cells(table, used, n) for table, n in zip(tables, sizes, strict=True)]
    return _calibrated(cells, sizes, pc[used], level, sampling, laplace)


def _runs(tables: list[FloatArray]) -> IntArray:
    """Return a number for each point that changes from one to the next only if other examples are discordant there."""
    m = tables[0].shape[0] - 1
    off = [table.astype(np.bool_) & ~np.eye(m + 1, dtype=np.bool_) for table in tables]
    starts = np.any([table.any(axis=0) | table.any(axis=1) for table in off], axis=0)
    return np.asarray(np.cumsum(starts[:m]))


def _of_each_run(runs: IntArray) -> IntArray:
    """Return the positions of at most `_A_RUN` points of each run, with its first and last."""
    first = np.flatnonzero(np.append(True, runs[1:] != runs[:-1]))
    last = np.append(first[1:], runs.size) - 1
    return np.unique(np.rint(np.linspace(first, last, _A_RUN)).astype(np.intp))


def _always(only_a: float, only_b: float, points: int) -> FloatArray:
    table = np.zeros((points + 1, points + 1))
    table[0, -1], table[-1, 0] = only_a, only_b
    return table


# Counts, sizes, operating points and ranges of one comparison.
_Form = tuple[PairedErrors, tuple[float, float], FloatArray, list[FloatArray]]


def _other_classes(counts: PairedErrors, sizes: tuple[float, float], pc: FloatArray, tables: list[FloatArray]) -> _Form:
    """Return the same comparison with positives and negatives exchanged, by increasing pc of the other class."""
    a, b, c, d = (count[::-1] for count in counts)
    return (c, d, a, b), sizes[::-1], 1 - pc[::-1], [table[::-1, ::-1].T for table in tables[::-1]]


def _other_classifiers(
    counts: PairedErrors, sizes: tuple[float, float], pc: FloatArray, tables: list[FloatArray]
) -> _Form:
    """Return the same comparison of b and a."""
    a, b, c, d = counts
    return (b, a, d, c), sizes, pc, [table.T for table in tables]


def difference_covariance(
    overlap_pos: FloatArray,
    overlap_neg: FloatArray,
    counts: PairedErrors,
    sizes: tuple[float, float],
    pc: FloatArray,
    sampling: str = "stratified",
) -> FloatArray:
    """Return the covariance of the paired difference between operating points.

    A discordant example has the same sign at all points, so E[s_i s_j] is the share that is discordant at both points.
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


class Cells(NamedTuple):
    """Kinds of examples of one class: wrong with only one classifier at points first to last - 1."""

    first: IntArray
    last: IntArray
    only_a: BoolArray
    probability: FloatArray

    def rates(self, points: int) -> tuple[FloatArray, FloatArray]:
        """Return the probabilities that only a, and that only b, is wrong at each point."""
        found = []
        for kind in (self.only_a, ~self.only_a):
            first, last, p = self.first[kind], self.last[kind], self.probability[kind]
            found.append(np.cumsum(np.bincount(first, p, points + 1) - np.bincount(last, p, points + 1))[:points])
        return found[0], found[1]

    def chosen(self, which: BoolArray) -> Cells:
        """Return some of the kinds."""
        return Cells(self.first[which], self.last[which], self.only_a[which], self.probability[which])


def smoothed_cells(ranges: FloatArray, used: IntArray, n: float) -> Cells:
    """Return the kinds of discordant examples at some of the points, after adding half an example of each sign."""
    m = used.size
    place = np.searchsorted(used, np.arange(ranges.shape[0]))
    row, column = np.nonzero(ranges)
    code = place[row] * (m + 1) + place[column]
    table = np.bincount(code, ranges[row, column], (m + 1) ** 2)
    table[m] += 0.5
    table[m * (m + 1)] += 0.5
    code = np.flatnonzero(table)
    row, column = np.divmod(code, m + 1)
    discordant = row != column
    row, column, weight = row[discordant], column[discordant], table[code[discordant]]
    return Cells(np.minimum(row, column), np.maximum(row, column), row < column, weight / (n + 1))


def drawn_discordant(
    cells: Cells, draws: int | IntArray, points: int, size: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Return the counts (size, points) of examples that only a, and only b, gets wrong in simulated data sets.

    Parameters
    ----------
    cells : Cells
    draws : int or array of shape (size,)
        Examples of the class in each data set.
    points, size : int
    rng : numpy.random.Generator

    Notes
    -----
    If there are few discordant examples, they are drawn one by one. If there are many, the kinds that are discordant
    only where at least 100 examples of their sign are expected are drawn together: their counts are rounded normals
    with the covariance of the multinomial.
    """
    number = np.broadcast_to(np.asarray(draws), (size,))
    often = float(number.mean())
    together = np.zeros(cells.first.size, dtype=np.bool_)
    if often * cells.probability.sum() > _SINGLY:
        for rate, kind in zip(cells.rates(points), (cells.only_a, ~cells.only_a), strict=True):
            rare = np.concatenate([[0], np.cumsum(often * rate < _COMMON)])
            together |= kind & (rare[cells.last] == rare[cells.first])
    counts = _one_by_one(cells.chosen(~together), number, points, rng)
    if together.any():
        more = _together(cells.chosen(together), number, points, rng)
        counts = counts[0] + more[0], counts[1] + more[1]
    return counts


def _one_by_one(cells: Cells, number: IntArray, points: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    width = points + 1
    total = np.cumsum(cells.probability)
    if total.size == 0:
        return np.zeros((number.size, points), np.int64), np.zeros((number.size, points), np.int64)
    found = rng.binomial(number, min(float(total[-1]), 1.0))
    drawn = rng.random(int(found.sum()))
    drawn *= total[-1]  # in place: fresh memory costs as much as the random numbers
    # Those that only a gets wrong are counted in the first half of each row, those that only b does in the second.
    half = np.where(cells.only_a, 0, width)
    ends = half + cells.first, half + cells.last
    if (fast := compiled.loops()) is not None:
        search = compiled_search(total, [np.append(one, one[-1]) for one in ends])
        counts = fast.count_lasting(drawn, found, search, 2 * width).reshape(-1, 2, width)[:, :, :points]
        return counts[:, 0], counts[:, 1]
    which = np.minimum(at_or_below(total, drawn), total.size - 1)
    row = np.repeat(np.arange(number.size) * (2 * width), found)
    change = np.zeros(number.size * 2 * width, np.int64)
    for sign, end in zip((1, -1), ends, strict=True):
        change += sign * np.bincount(end.take(which) + row, minlength=change.size)
    counts = np.cumsum(change.reshape(-1, 2, width), axis=2)[:, :, :points]
    return counts[:, 0], counts[:, 1]


def _together(cells: Cells, number: IntArray, points: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    rates = np.concatenate(cells.rates(points))
    covariance = -np.multiply.outer(rates, rates)
    for kind, some in ((cells.only_a, slice(points)), (~cells.only_a, slice(points, None))):
        table = np.zeros((points + 1, points + 1))
        np.add.at(table, (cells.first[kind], cells.last[kind]), cells.probability[kind])
        covariance[some, some] += overlap(table)
    moving = np.flatnonzero(np.diagonal(covariance) > 0)
    root = np.linalg.cholesky(covariance[np.ix_(moving, moving)] + 1e-10 * covariance.max() * np.eye(moving.size))
    counts = number[:, None] * rates
    noise = (rng.standard_normal((number.size, moving.size)) @ root.T) * np.sqrt(number)[:, None]
    counts[:, moving] = np.maximum(np.rint(counts[:, moving] + noise), 0.0)
    whole = counts.astype(np.int64)
    return whole[:, :points], whole[:, points:]


def _calibrated(
    cells: list[Cells], sizes: tuple[float, float], pc: FloatArray, level: float, sampling: str, laplace: float
) -> float:
    """Return the critical value at which the band covers in a share `level` of data sets drawn from these kinds."""
    rng = seeded_by(*(column for kinds in cells for column in kinds))
    n_pos, n_neg = (max(1, round(n)) for n in sizes)
    draws: list[int | IntArray] = [n_pos, n_neg]
    if sampling == "full":
        positives = rng.binomial(n_pos + n_neg, n_pos / (n_pos + n_neg), _SIMULATIONS)
        draws = [positives, n_pos + n_neg - positives]
    counts: list[FloatArray] = []
    rates: list[FloatArray] = []
    for kinds, number in zip(cells, draws, strict=True):
        counts += (c.astype(np.float64) for c in drawn_discordant(kinds, number, pc.size, _SIMULATIONS, rng))
        rates += kinds.rates(pc.size)
    true = pc * (rates[0] - rates[1]) + (1 - pc) * (rates[2] - rates[3])
    table = tabulated(mid_p_at, laplace)

    def room(z: float, which: IntArray) -> FloatArray:
        some = tuple(c[which] for c in counts)
        _, lower, upper = difference_limits(some, (n_pos, n_neg), pc, z, "mid-p", sampling, laplace, table)
        return np.minimum(true - lower, upper - true)

    return calibrated_critical(room, _SIMULATIONS, level)
