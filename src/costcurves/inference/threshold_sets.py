"""Which thresholds of one score may be the best: tests of every threshold, at one condition or at all of them.

Between two thresholds only the cases whose scores lie between them are decided differently. If a threshold is the best,
then of the N cases next below it at most a share π may be positives, and of the N cases next above it at most a share
1 - π negatives, for every N; π is the share at which the errors of both classes weigh the same. A threshold is
excluded if, for some N, there are more than chance explains. What chance explains is simulated for labels that are
positive with probability π throughout, which is the hardest case: there every threshold costs the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from costcurves._base.validation import BoolArray, FloatArray, IntArray

# Simulated walks for one condition, and simulated sequences for all of them.
WALKS, SEQUENCES = 10_000, 1000
# Numbers of cases N at which a threshold is compared with its neighbours: each up to FEW, from there on 10 % apart.
FEW, APART = 16, 0.1
# For all conditions: cases are simulated in BLOCKS blocks, and thresholds are compared over at least FEWEST_BLOCKS.
BLOCKS, FEWEST_BLOCKS = 512, 4
# More thresholds than these are not tested one by one, at one condition and at all of them.
TESTED, TESTED_ALL = 2048, 768
# Thresholds between two that remain are taken into the set, so that the best one is lost only if all its neighbours are
# excluded, too. That allows lower limits than those of a single threshold. With this share of the limit, sets of 95 %
# had the best threshold in 97 % of simulated data sets where scores were nearly uninformative (shifts of 0.05 and 0.15
# standard deviations, which are the hardest worlds), and in more elsewhere (studies/threshold_sets.py).
LOWERED = 0.75
# Steps of the bisection for the limits of a share, which is then known to 1e-12 on the scale of log-odds.
_STEPS = 45


def balance(pc: float, sizes: tuple[float, float]) -> float:
    """Return the share of positives at which moving a threshold past some cases changes nothing.

    Parameters
    ----------
    pc : float
    sizes : (positives, negatives)

    Notes
    -----
    A positive weighs pc/n⁺ and a negative (1-pc)/n⁻, so the share is (1-pc) n⁺ / ((1-pc) n⁺ + pc n⁻).

    Examples
    --------
    >>> balance(0.5, (100, 900))
    0.1
    """
    pos, neg = (1.0 - pc) * sizes[0], pc * sizes[1]
    return pos / (pos + neg)


def balanced_at(share: FloatArray, sizes: tuple[float, float]) -> FloatArray:
    """Return the pc that has this `balance`."""
    pos, neg = (1.0 - share) * sizes[0], share * sizes[1]
    return np.asarray(pos / (pos + neg))


def excess(count: FloatArray, cases: FloatArray, share: FloatArray | float) -> FloatArray:
    """Return by how many standard errors a count exceeds its expectation; 0 if it does not.

    It is the signed root of the likelihood ratio, with the count moved by one half towards its expectation, so that
    few cases do not look like strong evidence.
    """
    from scipy.special import xlogy

    mean = cases * share
    seen = np.clip(count - 0.5, mean, cases)
    rest = cases - seen
    with np.errstate(divide="ignore", invalid="ignore"):
        twice = 2 * (xlogy(seen, seen / mean) + xlogy(rest, rest / (cases - mean)))
    return np.asarray(np.sqrt(np.maximum(np.nan_to_num(twice, nan=0.0, posinf=np.inf), 0.0)))


def least_share(count: FloatArray, cases: FloatArray, z: float) -> FloatArray:
    """Return the smallest share of which a count is not an `excess` of more than z."""
    low, high = np.full(count.shape, -60.0), np.full(count.shape, 60.0)  # log-odds
    for _ in range(_STEPS):
        middle = (low + high) / 2
        too_many = excess(count, cases, 1 / (1 + np.exp(-middle))) > z
        low, high = np.where(too_many, middle, low), np.where(too_many, high, middle)
    return np.where(count > 0.5, 1 / (1 + np.exp(-low)), 0.0)


def numbers_of_cases(most: float) -> IntArray:
    """Return the numbers N of neighbouring cases that are looked at: all small ones, then 10 % apart, up to `most`."""
    few = np.arange(1, min(FEW, int(most)) + 1)
    if most <= FEW:
        return few
    more = np.geomspace(FEW, most, 2 + int(math.log(most / FEW) / APART))
    return np.union1d(few, np.rint(more)).astype(np.int64)


@lru_cache(maxsize=256)
def walk_critical(share: float, cases: int, level: float) -> float:
    """Return the largest `excess` over all N that chance explains, for labels of a given share of ones.

    The walk starts at one threshold, and goes in one direction; both directions together then have `level`.
    """
    one_side = math.sqrt(level)
    numbers = numbers_of_cases(cases)
    steps = np.diff(numbers, prepend=0)
    walks = np.random.default_rng(0).binomial(steps, share, size=(WALKS, steps.size)).cumsum(axis=1)
    top = excess(walks.astype(np.float64), numbers.astype(np.float64), share).max(axis=1)
    return float(np.quantile(top, one_side, method="higher"))


@lru_cache(maxsize=64)
def scan_critical(cases: int, level: float) -> float:
    """Return the largest `excess` over all runs of neighbouring cases, wherever they begin and end, of either class.

    The share of one half gives the largest value, so it serves for all shares.
    """
    blocks = min(cases, BLOCKS)
    size = cases / blocks
    rng = np.random.default_rng(0)
    ends = np.rint(np.arange(blocks + 1) * size)
    steps = np.diff(ends).astype(np.int64)
    ones = np.zeros((SEQUENCES, blocks + 1), dtype=np.int64)
    np.cumsum(rng.binomial(steps, 0.5, size=(SEQUENCES, blocks)), axis=1, out=ones[:, 1:])
    top = np.zeros(SEQUENCES)
    for length in numbers_of_cases(blocks):
        if cases > BLOCKS and length < FEWEST_BLOCKS:
            continue
        n = np.float64(length * size)
        many = (ones[:, length:] - ones[:, :-length]).astype(np.float64)
        most = np.maximum(many.max(axis=1), n - many.min(axis=1))
        top = np.maximum(top, excess(most, np.full(SEQUENCES, n), 0.5))
    return float(np.quantile(top, level, method="higher"))


def lowered(limit: float, level: float) -> float:
    """Return the limit that is used, never less than the one for a single number of cases."""
    from scipy.special import ndtri

    return max(LOWERED * limit, float(ndtri(math.sqrt(level))))


def points_to_try(many: int, best: int, most: int) -> IntArray:
    """Return which points are tested: all, or some that lie closer together near the best one."""
    if many <= most:
        return np.arange(many)
    near = np.rint(np.geomspace(1, many, most // 4)).astype(np.int64)
    even = np.rint(np.linspace(0, many - 1, most // 2)).astype(np.int64)
    found = np.concatenate([[best], even, best + near, best - near])
    return np.unique(found[(found >= 0) & (found < many)])


def _neighbours(
    tp: FloatArray, fp: FloatArray, points: IntArray, numbers: IntArray
) -> Iterator[tuple[FloatArray, FloatArray, FloatArray, FloatArray]]:
    """Yield, for each N, positives and cases next below each point, and negatives and cases next above it.

    Where the N-th case shares its score with others, all of these are taken.
    """
    total = tp + fp
    last = total.size - 1
    for number in numbers:
        below = np.minimum(np.searchsorted(total, total[points] + number - 1e-9), last)
        above = np.maximum(np.searchsorted(total, total[points] - number + 1e-9, side="right") - 1, 0)
        yield (
            tp[below] - tp[points],
            total[below] - total[points],
            fp[points] - fp[above],
            total[points] - total[above],
        )


def may_be_best(tp: FloatArray, fp: FloatArray, points: IntArray, pc: float, level: float) -> BoolArray:
    """Return which thresholds are not shown to cost more than the best one at one condition.

    Parameters
    ----------
    tp, fp : arrays of shape (m,)
        True and false positives from the highest threshold down, from 0 to the totals; effective counts if weighted.
    points : array of int
        The thresholds to test.
    pc : float
    level : float
        The best of all thresholds is among those that remain with at least this probability.
    """
    sizes = float(tp[-1]), float(fp[-1])
    share, cases = balance(pc, sizes), max(round(sum(sizes)), 1)
    if not 0.0 < share < 1.0:  # the errors of one class are free, and one that is seen is one too many
        wrong = tp[-1] - tp[points] if share == 0.0 else fp[points]
        return np.asarray(wrong <= 0)
    # Shares that hardly differ have the same critical values.
    log_odds = round(math.log(share / (1 - share)), 1)
    near = 1 / (1 + math.exp(-log_odds))
    limits = [lowered(walk_critical(one, cases, level), level) for one in (near, 1 - near)]
    worse = np.zeros(points.size, dtype=np.bool_)
    for pos, below, neg, above in _neighbours(tp, fp, points, numbers_of_cases(cases)):
        worse |= excess(pos, below, share) > limits[0]
        worse |= excess(neg, above, 1 - share) > limits[1]
    return ~worse


def where_best(tp: FloatArray, fp: FloatArray, points: IntArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return for each threshold the smallest and the largest pc at which it is not shown to cost more than the best.

    Parameters
    ----------
    tp, fp, points
        As for `may_be_best`.
    level : float
        With at least this probability the best of all thresholds is among those that remain, at all pc jointly.

    Returns
    -------
    low, high : arrays
        Where low > high the threshold is nowhere the best.
    """
    sizes = float(tp[-1]), float(fp[-1])
    cases = max(round(sum(sizes)), 1)
    limit = lowered(scan_critical(cases, level), level)
    numbers = numbers_of_cases(cases)
    if cases > BLOCKS:
        numbers = numbers[numbers >= FEWEST_BLOCKS * cases / BLOCKS]
    positives, negatives = np.zeros(points.size), np.zeros(points.size)
    for pos, below, neg, above in _neighbours(tp, fp, points, numbers):
        for least, count, among in ((positives, pos, below), (negatives, neg, above)):
            more = np.flatnonzero(excess(count, among, least) > limit)
            least[more] = least_share(count[more], among[more], limit)
    # The more a positive weighs, the smaller is the share of positives at which a move changes nothing.
    return balanced_at(1 - negatives, sizes), balanced_at(positives, sizes)
