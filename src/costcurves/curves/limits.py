"""The best single point of all classifiers under a limit: on the cases of the curves, or on new cases.

A limit on the cases of the curves needs a binary search along each curve. A limit on new cases is kept with a given
confidence; it assumes that a curve counts independent cases that had no part in training the classifier. With m
classifiers each gets 1/m of the error (Bonferroni), so that the pick of the best of them is covered. For classifiers
that err independently of each other nothing beyond 1 - (1 - error)^(1/m) would do, which for an error of 5 % is at most
2.6 % more than this part: without assumptions about their dependence there is nothing to gain.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from costcurves._base.errors import DataError, UnsupportedError
from costcurves.conditions.condition import EQUAL
from costcurves.curves.choices import ALWAYS_NEGATIVE, ALWAYS_POSITIVE, TRIVIAL
from costcurves.curves.roc import RocCurve
from costcurves.inference.allowances import allowance, cases_needed, chance_of_ratio, largest_rate, split_error

# Shares of alarms in floats that differ by more than this differ in fractions too.
DOUBT = 1e-14
# The allowances of false alarms among which a precision is looked for grow by this factor.
STEP = 1.25


class Point(NamedTuple):
    """One point of a classifier in exact rates; with no alarms, or with all, it is the trivial classifier's."""

    fpr: Fraction
    tpr: Fraction
    name: str
    threshold: float

    @classmethod
    def of(cls, curve: RocCurve, index: int) -> Point:
        """Return one of the points of a curve."""
        fpr, tpr = curve.exact_rates(index)
        if fpr == tpr == 0:
            return cls(fpr, tpr, ALWAYS_NEGATIVE, math.inf)
        if fpr == tpr == 1:
            return cls(fpr, tpr, ALWAYS_POSITIVE, -math.inf)
        return cls(fpr, tpr, curve.name, float(curve.thresholds[index]))

    @property
    def rank(self) -> tuple[bool, str]:
        """The order of preference among equal points: a trivial classifier comes last, otherwise the first by name."""
        return self.name in TRIVIAL, self.name

    def load(self, prevalence: Fraction) -> Fraction:
        """Return the share of all cases that are alarms."""
        return prevalence * self.tpr + (1 - prevalence) * self.fpr

    def precision(self, prevalence: float) -> float:
        """Return the share of alarms that are right, NaN if there are none."""
        alarms = self.load(Fraction(prevalence))
        return float(Fraction(prevalence) * self.tpr / alarms) if alarms else math.nan


def most_found(curves: Sequence[RocCurve], last_within: Callable[[RocCurve], int]) -> Point:
    """Return the highest tpr within a limit that `last_within` applies; among equals, the lowest fpr.

    Both rates rise along a curve, so the last of its points within the limit finds most, and the first point that finds
    as much is the left end of a horizontal run.
    """
    points = []
    for curve in curves:
        most = curve.tp[last_within(curve)]
        points.append(Point.of(curve, int(np.searchsorted(curve.tp, most, side="left"))))
    return min(points, key=lambda point: (-point.tpr, point.fpr, *point.rank))


def fewest_false_alarms(curves: Sequence[RocCurve], first_within: Callable[[RocCurve], int]) -> Point:
    """Return the lowest fpr within a limit; among equals, the highest tpr."""
    points = []
    for curve in curves:
        fewest = curve.fp[first_within(curve)]
        points.append(Point.of(curve, int(np.searchsorted(curve.fp, fewest, side="right")) - 1))
    return min(points, key=lambda point: (point.fpr, -point.tpr, *point.rank))


def first_within_tpr(curve: RocCurve, floor: float) -> int:
    """Return the first point with tpr at least `floor`."""
    return int(np.searchsorted(curve.tpr, floor, side="left"))


def last_within_fpr(curve: RocCurve, limit: float) -> int:
    """Return the last point with fpr at most `limit`."""
    return int(np.searchsorted(curve.fpr, limit, side="right")) - 1


def last_within_load(curve: RocCurve, prevalence: Fraction, limit: Fraction) -> int:
    """Return the last point whose alarms are at most a share of all cases, compared in fractions if it is close."""
    share, near = float(prevalence), float(limit)
    load = share * curve.tpr + (1.0 - share) * curve.fpr
    low, high = (int(np.searchsorted(load, near + side, side="right")) for side in (-DOUBT, DOUBT))
    return low + bisect_right(range(low, high), limit, key=lambda i: Point.of(curve, i).load(prevalence)) - 1


def last_within_precision(curve: RocCurve, prevalence: float, floor: float) -> int:
    """Return the last point whose precision is at least `floor`, or below it by no more than rounding."""
    right, wrong = prevalence * curve.tpr, (1.0 - prevalence) * curve.fpr
    return int(np.flatnonzero(right - floor * (right + wrong) >= -EQUAL * (right + wrong))[-1])


class Assured(NamedTuple):
    """A point whose rate keeps a limit on new cases, and what is guaranteed of the rate."""

    point: Point
    bound: float


class Asked(NamedTuple):
    """A limit in words, its confidence and the number of classifiers among which one is picked."""

    limit: str
    confidence: float
    classifiers: int

    @property
    def error(self) -> float:
        """The probability with which each classifier may break the limit."""
        return (1.0 - self.confidence) / self.classifiers

    def too_few(self, needed: str, got: str) -> DataError:
        """Return the error for samples that cannot guarantee anything."""
        several = f", with {self.classifiers} classifiers to choose from" if self.classifiers > 1 else ""
        return DataError(
            f"`confidence` {self.confidence:g} of {self.limit} needs at least {needed} cases{several}, got {got}"
        )


def check_counted(curves: Sequence[RocCurve]) -> None:
    """Refuse curves that are not counts of cases, of which exact tails are not known."""
    for curve in curves:
        if curve.made_from != "counts":
            what = "weighted cases" if curve.made_from == "weights" else "rates"
            raise UnsupportedError(f"`confidence` needs counts of cases, got {curve.name!r} made from {what}")


def assured_fpr(curves: Sequence[RocCurve], limit: float, asked: Asked) -> Assured:
    """Return the highest tpr whose fpr on new cases is at most `limit`.

    Notes
    -----
    The umbrella algorithm of Tong, Feng & Li (2018): of n negatives a threshold may alarm on at most
    ``k = max {k : P(Bin(n, limit) <= k) <= error}``.

    *All* such thresholds keep the limit at once, with probability at least 1 - error, also if scores are tied. The
    rate P(score >= t) falls as t rises and is continuous from the left, so the thresholds that break the limit are all
    up to some t0, and at t0 the rate is at least the limit. If one of them has at most k false alarms then so has t0,
    since false alarms do not rise with t. But those of t0 are binomial with a rate of at least the limit: at most k of
    them have at most the probability `error`.

    No step uses that scores differ, or that t is one of them: rounded thresholds are covered, and curves that keep only
    some of their points. The same holds with the largest rate for which P(Bin(n, rate) <= k) >= error in the place of
    the limit, because k depends on no score: this is the bound.
    """
    sizes = {curve.name: int(curve.n_neg) for curve in curves}
    allowed = _allowed(sizes, limit, asked, " negative")
    point = most_found(
        curves, lambda curve: max(int(np.searchsorted(curve.fp, allowed[curve.name], side="right")) - 1, 0)
    )
    return Assured(point, _bound(point, allowed, sizes, asked.error))


def assured_tpr(curves: Sequence[RocCurve], floor: float, asked: Asked) -> Assured:
    """Return the lowest fpr whose tpr on new cases is at least `floor`.

    Notes
    -----
    A threshold may miss at most ``k = max {k : P(Bin(n, 1 - floor) <= k) <= error}`` of n positives. The share of
    missed positives P(score < t) rises with t and is continuous from the left, so the thresholds that break the limit
    are all above some t0, and P(score <= t0) is at least 1 - floor. One that breaks it misses all positives up to t0;
    if these are at most k, then a binomial number with a rate of at least 1 - floor is. See `assured_fpr`.
    """
    sizes = {curve.name: int(curve.n_pos) for curve in curves}
    allowed = _allowed(sizes, 1.0 - floor, asked, " positive")

    def first_within(curve: RocCurve) -> int:
        fewest = sizes[curve.name] - allowed[curve.name]
        return min(int(np.searchsorted(curve.tp, fewest, side="left")), curve.tp.size - 1)

    point = fewest_false_alarms(curves, first_within)
    return Assured(point, 1.0 - _bound(point, allowed, sizes, asked.error))


def assured_alarms(curves: Sequence[RocCurve], limit: float, asked: Asked) -> Assured:
    """Return the highest tpr that alarms on at most a share `limit` of new cases, of the classes as in the sample.

    Notes
    -----
    Cases of both classes in a sample as it was drawn are independent cases like those to come: see `assured_fpr`, with
    all cases in the place of the negatives.
    """
    sizes = {curve.name: int(curve.n_neg) + int(curve.n_pos) for curve in curves}
    allowed = _allowed(sizes, limit, asked)

    def last_within(curve: RocCurve) -> int:
        fp, tp, most = curve.fp, curve.tp, allowed[curve.name]
        return max(bisect_right(range(fp.size), most, key=lambda i: int(fp[i]) + int(tp[i])) - 1, 0)

    point = most_found(curves, last_within)
    return Assured(point, _bound(point, allowed, sizes, asked.error))


def _allowed(sizes: dict[str, int], rate: float, asked: Asked, kind: str = "") -> dict[str, int]:
    """Return how many of its cases each classifier may get wrong so that it surely errs at no more than a rate."""
    allowed = {name: allowance(n, rate, asked.error) for name, n in sizes.items()}
    if max(allowed.values()) < 0:
        raise asked.too_few(f"{cases_needed(rate, asked.error):,}{kind}", f"{max(sizes.values()):,}")
    return allowed


def _bound(point: Point, allowed: dict[str, int], sizes: dict[str, int], error: float) -> float:
    """Return the largest rate that an allowance does not rule out; the trivial classifiers' rates are known to be 0."""
    return 0.0 if point.name in TRIVIAL else largest_rate(allowed[point.name], sizes[point.name], error)


def assured_load(curves: Sequence[RocCurve], limit: float, prevalence: float, asked: Asked) -> Assured:
    """Return the highest tpr that alarms on at most a share `limit` of new cases, at a given prevalence.

    Notes
    -----
    The share of alarms is ``(1 - prevalence)·fpr + prevalence·tpr``. A threshold is within the limit where that holds
    of the upper limits of Clopper & Pearson for both rates. Their errors are split in proportion to the weight of each
    class and to the root of the number of its cases, about as makes the sum of the two margins least; they depend on no
    score. As in `assured_fpr` there is a threshold t0 above which none breaks the limit, and at which the share is at
    least the limit. Both upper limits rise with the counts, so if any threshold that breaks the limit passes, t0 does;
    then one of its two rates is not below its upper limit, and that has at most the probability `error`.
    """

    def upper(fp: int, tp: int, n_neg: int, n_pos: int) -> float:
        weights = (1.0 - prevalence) / math.sqrt(n_neg), prevalence / math.sqrt(n_pos)
        error_neg, error_pos = split_error(asked.error, *weights)
        on_negatives = (1.0 - prevalence) * largest_rate(fp, n_neg, error_neg)
        return on_negatives + prevalence * largest_rate(tp, n_pos, error_pos)

    _check_sizes(curves, lambda n_neg, n_pos: upper(0, 0, n_neg, n_pos) <= limit, asked)

    def last_within(curve: RocCurve) -> int:
        fp, tp, sizes = curve.fp, curve.tp, (int(curve.n_neg), int(curve.n_pos))
        return max(bisect_right(range(fp.size), limit, key=lambda i: upper(int(fp[i]), int(tp[i]), *sizes)) - 1, 0)

    point = most_found(curves, last_within)
    return Assured(point, 0.0 if point.name in TRIVIAL else limit)


def assured_precision(curves: Sequence[RocCurve], floor: float, prevalence: float, asked: Asked) -> Assured:
    """Return the highest tpr whose alarms are right in a share of at least `floor` of new cases, at a given prevalence.

    Notes
    -----
    The precision is at least `floor` where tpr >= r·fpr, with r = floor·(1 - prevalence) / ((1 - floor)·prevalence).
    It may rise and fall along a curve, so that no single threshold t0 decides as in `assured_fpr`. Instead there are J
    candidates: t_j is the lowest score of a negative at which at most x_j negatives are alarms. The allowances x_j are
    fixed beforehand, from 1 to the number at which the precision of tpr = 1 is just `floor`.

    The t_j depend on the negatives only. Given these, the positives found are binomial. That t_j breaks the limit and
    still finds this many positives has at most the probability `chance_of_ratio`; it must be at most error/J
    (Bonferroni), so that all candidates that pass keep the limit at once.

    A threshold t between t_j and the next lower score of the sample keeps the limit, too: it finds no less than t_j,
    and the bound of the fpr is one for all thresholds above the next lower negative.
    """
    rare = (1.0 - floor) * prevalence
    ratio = floor * (1.0 - prevalence) / rare if rare > 0 else math.inf
    if ratio <= 1.0:  # even if all cases are alarms
        return Assured(Point(Fraction(1), Fraction(1), ALWAYS_POSITIVE, -math.inf), prevalence)

    def passes(n_neg: int, n_pos: int, most: int, found: int) -> bool:
        tests = len(_allowances(n_neg, ratio))
        return found > 0 and chance_of_ratio(most, n_neg, found, n_pos, ratio) <= asked.error / tests

    def enough(n_neg: int, n_pos: int) -> bool:
        least = _allowances(n_neg, ratio)[:1]
        return bool(least) and passes(n_neg, n_pos, least[0], n_pos)

    _check_sizes(curves, enough, asked)
    points = [Point(Fraction(0), Fraction(0), ALWAYS_NEGATIVE, math.inf)]
    for curve in curves:
        n_neg, n_pos = int(curve.n_neg), int(curve.n_pos)
        fp, tp, scored = curve.fp, curve.tp, curve.has_thresholds
        for most in _allowances(n_neg, ratio):
            index = int(np.searchsorted(fp, most, side="right")) - 1
            if scored:  # to the score of a negative; a classifier without scores has the same point in all samples
                index = int(np.searchsorted(fp, fp[index], side="left"))
            if index and passes(n_neg, n_pos, most, int(tp[index])):
                points.append(Point.of(curve, index))
    point = min(points, key=lambda point: (-point.tpr, point.fpr, *point.rank))
    return Assured(point, math.nan if point.name == ALWAYS_NEGATIVE else floor)


def _allowances(n_neg: int, ratio: float) -> list[int]:
    """Return the numbers of false alarms to try, each larger than the one before by a quarter."""
    steps, step = [], 1
    while step <= min(n_neg / ratio, n_neg - 1):
        steps.append(step)
        step = max(step + 1, math.ceil(STEP * step))
    return steps


def _check_sizes(curves: Sequence[RocCurve], enough: Callable[[int, int], bool], asked: Asked) -> None:
    """Refuse samples that are too small to guarantee anything, and say how many cases would be enough."""
    sizes = [(int(curve.n_neg), int(curve.n_pos)) for curve in curves]
    if any(enough(*size) for size in sizes):
        return
    n_neg, n_pos = max(sizes, key=sum)

    def times(factor: int) -> tuple[int, int]:
        return -(-factor * n_neg // 100), -(-factor * n_pos // 100)

    high = 200
    while high < 2**50 and not enough(*times(high)):  # no data set has more cases
        high *= 2
    factor = bisect_right(range(high), False, lo=high // 2, key=lambda factor: enough(*times(factor)))
    negatives, positives = times(factor)
    raise asked.too_few(
        f"about {negatives:,} negative and {positives:,} positive", f"{n_neg:,} negative and {n_pos:,} positive"
    )
