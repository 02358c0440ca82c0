"""Two classifiers that were judged on different test sets: bands for the difference of their costs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    BoolArray,
    FloatArray,
    IntArray,
    check_choice,
    check_level,
    check_positive,
    frozen,
)
from costcurves.inference.bands.critical import plug_in, softened
from costcurves.inference.bands.error_rates import nested_counts
from costcurves.inference.bands.methods import cost_strata
from costcurves.inference.bands.results import SignedBand, check_pc
from costcurves.inference.kernel.distribution import exact_distribution
from costcurves.inference.kernel.joint import zero_tails
from costcurves.inference.kernel.strata import Stratum
from costcurves.inference.optimism import joint_level, least_critical
from costcurves.inference.paired.limits import by_halving
from costcurves.inference.rates import Limits, check_counts, critical, mid_p_at, pointwise_level
from costcurves.inference.simultaneous import (
    SIMULATIONS,
    calibrated_critical,
    check_joint,
    chosen,
    curve_covariance,
    exact_weights,
    line_critical,
    moving_points,
    process_critical,
    seeded_by,
    tabulated,
)

UNPAIRED_METHODS = ("mid-p", "gaussian", "exact")
# The critical value is estimated at the rates of one pair of test sets, as for a single curve (`bands.critical`): it is
# that of a level which leaves out this part of what the wanted level leaves out.
_REST = 0.1


class Judged(NamedTuple):
    """Errors of one classifier on its own test set at each operating point.

    Counts of weighted data are scaled to the effective sizes. `known` says where every case is predicted to be of the
    same class, whatever its score, and `cuts` is anything that is equal where the threshold is.
    """

    fn: FloatArray
    fp: FloatArray
    n_pos: float
    n_neg: float
    known: BoolArray
    cuts: npt.NDArray[Any]

    @classmethod
    def of(
        cls,
        fn: npt.ArrayLike,
        n_pos: float,
        fp: npt.ArrayLike,
        n_neg: float,
        points: int,
        *,
        effective: tuple[float, float] | None = None,
        known: npt.ArrayLike = False,
        cuts: npt.ArrayLike | None = None,
    ) -> Judged:
        """Check the counts and bring them to the shape of the operating points."""
        sizes = check_positive("n_pos", n_pos), check_positive("n_neg", n_neg)
        used = sizes if effective is None else tuple(check_positive("effective", n) for n in effective)
        counts = [
            np.array(np.broadcast_to(check_counts(name, k, n)[0] * (size / n), (points,)))
            for name, k, n, size in zip(("fn", "fp"), (fn, fp), sizes, used, strict=True)
        ]
        sure = np.array(np.broadcast_to(np.asarray(known, dtype=np.bool_), (points,)))
        return cls(
            counts[0], counts[1], used[0], used[1], sure, np.arange(points) if cuts is None else np.asarray(cuts)
        )

    @property
    def rates(self) -> tuple[FloatArray, FloatArray]:
        """The rates of misses and of false alarms."""
        return self.fn / self.n_pos, self.fp / self.n_neg

    @property
    def moves(self) -> bool:
        """Whether the errors change along the points at which they are estimates."""
        return any(np.ptp(k[~self.known]) > 0 for k in (self.fn, self.fp)) if not self.known.all() else False

    def at(self, some: IntArray) -> Judged:
        """Return the errors at some of the points."""
        return self._replace(fn=self.fn[some], fp=self.fp[some], known=self.known[some], cuts=self.cuts[some])

    def other_class(self) -> Judged:
        """Return the same errors with the classes exchanged, by increasing pc of the other class."""
        return Judged(self.fp[::-1], self.fn[::-1], self.n_neg, self.n_pos, self.known[::-1], self.cuts[::-1])

    def soft(self) -> tuple[FloatArray, FloatArray]:
        """Return the rates with half an error and half a right decision more."""
        found = [softened(rate, n) for rate, n in zip(self.rates, (self.n_pos, self.n_neg), strict=True)]
        return found[0], found[1]

    def covariance(self, pc: FloatArray) -> FloatArray:
        """Return the covariance of the cost between operating points; 0 where it is known."""
        found = curve_covariance(*self.soft(), pc, self.n_pos, self.n_neg)
        return np.where(self.known | self.known[:, None], 0.0, found)


Pair = tuple[Judged, Judged]


def unpaired_limits(
    pair: Pair, pc: FloatArray, z: FloatArray | float, method: str = "mid-p", limits: Limits = mid_p_at
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return estimate, lower and upper limit of NE_a - NE_b at critical value z.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.unpaired import Judged, unpaired_limits
    >>> pair = Judged.of(4, 20, 4, 10, 1), Judged.of(9, 30, 2, 40, 1)
    >>> [float(x[0].round(3)) for x in unpaired_limits(pair, np.array([0.5]), 1.96)]
    [0.125, -0.054, 0.327]
    """
    estimate, below, above = np.zeros(()), np.zeros(()), np.zeros(())
    sizes = ((pair[0].n_pos, pair[1].n_pos), (pair[0].n_neg, pair[1].n_neg))
    for weight, rates, totals in zip((pc, 1 - pc), zip(*(one.rates for one in pair), strict=True), sizes, strict=True):
        down, up = [], []
        for judged, rate, n in zip(pair, rates, totals, strict=True):
            if method == "gaussian":
                half = z * np.sqrt(rate * (1 - rate) / n)
                low, high = rate - half, rate + half
            else:
                low, high = limits(rate * n, n, z)
            down.append(np.where(judged.known, 0.0, weight * (rate - low)))
            up.append(np.where(judged.known, 0.0, weight * (high - rate)))
        # The difference is lowest where the rate of a is low and that of b is high. Terms are added class by class, so
        # that exchanging a and b changes the sign alone.
        estimate = estimate + weight * (rates[0] - rates[1])
        below = below + (down[0] ** 2 + up[1] ** 2)
        above = above + (up[0] ** 2 + down[1] ** 2)
    return np.asarray(estimate), np.asarray(estimate - np.sqrt(below)), np.asarray(estimate + np.sqrt(above))


def unpaired_strata(pair: Pair, pc: FloatArray) -> list[Stratum]:
    """Return the strata of the difference: two classes of two test sets; the errors of b take away."""
    strata = []
    for judged, sign in zip(pair, (1, -1), strict=True):
        miss, alarm = judged.rates
        alone = cost_strata(pc, miss, alarm, int(judged.n_pos), int(judged.n_neg))
        strata += [Stratum(s.draws, s.probabilities, sign * s.values) for s in alone]
    return strata


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UnpairedBand(SignedBand):
    """Cost of a minus cost of b, judged on different test sets, with limits; below zero, a is better.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.unpaired import Judged, unpaired_band
    >>> pc = np.linspace(0, 1, 11)
    >>> band = unpaired_band((Judged.of(2, 100, 9, 80, 11), Judged.of(30, 90, 9, 70, 11)), pc, simultaneous=True)
    >>> band
    UnpairedBand(11 points in pc [0, 1], mid-p, stratified, 95 % simultaneous)
    >>> [v.better for v in band.significant()]
    ['undecided', 'a']
    """

    _pair: Pair = field(repr=False)

    def reversed(self) -> UnpairedBand:
        """Return the band of b minus a."""
        return replace(self._turned(), _pair=self._pair[::-1])

    def p_values_at(self, pc: npt.ArrayLike) -> FloatArray:
        """Return the two-sided p-value of no difference at each operating point, without any adjustment.

        It is the smallest α at which the interval of this method with level 1 - α excludes zero, and 0 or 1 if both
        costs are known. If scores were binned, it is the largest p-value that their error allows. Points between those
        of the band use the counts of the nearest one.
        """
        wanted, flat, near = self._nearest(pc)
        pair = (self._pair[0].at(near), self._pair[1].at(near))
        estimate = unpaired_limits(pair, flat, 0.0, "gaussian")[0]
        below, above = self._widened(near)
        wider = (below != 0) | (above != 0)
        if self.method == "exact" and not wider.any():
            strata = unpaired_strata(pair, flat)
            tails = [zero_tails(exact_distribution([s.at(j) for s in strata])) for j in range(flat.size)]
            p = np.minimum(1.0, 2 * np.min(tails, axis=1))
        else:

            def excluded(z: FloatArray) -> BoolArray:
                _, lower, upper = _limits_at(pair, flat, z, self.method)
                return (lower - below > 0) | (upper + above < 0)

            p = by_halving(excluded, (estimate > below) | (-estimate > above))
        sure = pair[0].known & pair[1].known & ~wider
        return np.asarray(np.where(sure, np.where(np.abs(estimate) < 1e-15, 1.0, 0.0), p).reshape(wanted.shape))


def _limits_at(pair: Pair, pc: FloatArray, z: FloatArray, method: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return estimate and limits with one critical value per point, for every method."""
    if method != "exact":
        return unpaired_limits(pair, pc, z, method)
    every = np.arange(pc.size)[:, None]
    found = [_exact_limits((pair[0].at(j), pair[1].at(j)), pc[j], float(z[j[0]])) for j in every]
    estimate, lower, upper = (np.concatenate([one[i] for one in found]) for i in range(3))
    return estimate, lower, upper


def _exact_limits(pair: Pair, pc: FloatArray, z: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return estimate and quantiles of the exact bootstrap distribution."""
    tail = 0.5 * (1 - pointwise_level(z))
    strata = unpaired_strata(pair, pc)
    # Point by point, so that limits and p-values are those of one distribution, to its atoms.
    found = [exact_distribution([s.at(j) for s in strata]).quantile([tail, 1 - tail]) for j in range(pc.size)]
    lower, upper = np.array(found).T.copy()
    return unpaired_limits(pair, pc, 0.0, "gaussian")[0], lower, upper


def unpaired_band(
    pair: Pair,
    pc: npt.ArrayLike,
    *,
    level: float = DEFAULT_LEVEL,
    method: str = "mid-p",
    simultaneous: bool = False,
    critical_value: float | None = None,
    chosen: bool = False,
) -> UnpairedBand:
    """Return a band for NE_a(pc) - NE_b(pc) of two classifiers that were judged on independent test sets.

    Parameters
    ----------
    pair : (Judged, Judged)
        The errors of a and of b at the operating points, each on its own test set.
    pc : array of shape (points,)
    level : float
    method : {"mid-p", "gaussian", "exact"}
        "mid-p" combines the mid-P limits of the four error rates (MOVER; for one class this is Newcombe's interval of a
        difference with mid-P in place of Wilson limits). "gaussian" and "exact" are the moments and the quantiles of
        the bootstrap that resamples each class of each test set.
    simultaneous : bool
    critical_value : float, optional
        A simultaneous critical value that was found before; the band is then simultaneous.
    chosen : bool
        Whether thresholds were chosen on the cases by which they are judged.

    Notes
    -----
    The four error rates are independent, so the variance of the difference is the sum of both costs' variances. For two
    lines the simultaneous critical value has a closed form. For moving thresholds and "mid-p" it comes from 1,999
    simulated pairs of test sets (seeded by the data), as for a single curve (`cost_band`); the other methods take it
    from the Gaussian process with the sum of both curves' covariances.
    """
    level, points = check_level(level), check_pc(pc)
    method = check_choice("method", method, UNPAIRED_METHODS)
    if method == "exact" and not all((k == np.floor(k)).all() for judged in pair for k in map(np.array, judged[:4])):
        raise InputError("`method='exact'` must have whole counts; for weighted data use 'mid-p'")
    z = critical(level)
    if critical_value is not None:
        z, simultaneous = check_positive("critical_value", critical_value), True
    elif simultaneous:
        z = unpaired_critical(pair, points, joint_level(level) if chosen else level, method)
        if chosen and points.size > 1:
            z = max(z, least_critical(level))
    if method == "exact":
        estimate, lower, upper = _exact_limits(pair, points, z)
        sure = [judged.known for judged in pair]
        lower, upper = (np.where(sure[0] & sure[1], estimate, end) for end in (lower, upper))
    else:
        estimate, lower, upper = unpaired_limits(pair, points, z, method)
    estimate, lower, upper = (frozen(np.clip(a, -1.0, 1.0)) for a in (estimate, lower, upper))
    how = (level, method, "stratified", bool(simultaneous), float(z))
    return UnpairedBand(frozen(points), estimate, lower, upper, *how, pair)


def unpaired_critical(pair: Pair, pc: FloatArray, level: float, method: str = "mid-p") -> float:
    """Return the critical value of a band around an unpaired difference that holds at all points jointly."""
    unsure = np.flatnonzero(~(pair[0].known & pair[1].known))
    if unsure.size == 0:
        return critical(level)
    pc, (a, b) = exact_weights(pc[unsure]), (pair[0].at(unsure), pair[1].at(unsure))
    # One of the four orders of classes and classifiers is simulated, so that all four have the same value.
    forms = [
        (first, second, points)
        for one, other, points in ((a, b, pc), (a.other_class(), b.other_class(), 1 - pc[::-1]))
        for first, second in ((one, other), (other, one))
    ]
    a, b, pc = forms[chosen([(f.fn, f.fp, s.fn, s.fp, f.n_pos, s.n_pos, f.n_neg, s.n_neg, x) for f, s, x in forms])]
    if not (a.moves or b.moves or a.known.any() or b.known.any()):
        (p, r), (q, s) = a.soft(), b.soft()
        kinds = ((p[0], a.n_pos, q[0], b.n_pos), (r[0], a.n_neg, s[0], b.n_neg))
        spread = [float(np.sqrt(x * (1 - x) / n + y * (1 - y) / m)) for x, n, y, m in kinds]
        return line_critical(level, (pc[0], pc[-1]), sd_pos=spread[0], sd_neg=spread[1])
    check_joint(pc.size)
    covariance = a.covariance(pc) + b.covariance(pc)
    if method != "mid-p":
        return process_critical(covariance, level)
    used = moving_points(covariance)
    return _calibrated((a.at(used), b.at(used)), pc[used], level + _REST * (1 - level))


def _calibrated(pair: Pair, pc: FloatArray, level: float) -> float:
    """Return the critical value at which the band covers in a share `level` of pairs of simulated test sets."""
    rng = seeded_by(*(rate for judged in pair for rate in judged.rates))
    drawn, true = [], np.zeros(pc.size)
    for judged, sign in zip(pair, (1, -1), strict=True):
        sizes, counts, free = [max(1, round(n)) for n in (judged.n_pos, judged.n_neg)], [], ~judged.known
        for weight, rate, n in zip((pc, 1 - pc), judged.rates, sizes, strict=True):
            soft = rate.copy()
            if free.any():
                soft[free] = plug_in(rate[free], n, judged.cuts[free])
            true = true + sign * weight * soft
            counts.append(np.where(judged.known, soft * n, nested_counts(soft, n, SIMULATIONS, rng)))
        drawn.append(Judged(counts[0], counts[1], sizes[0], sizes[1], judged.known, judged.cuts))
    table = tabulated(mid_p_at)

    def room(z: float, which: IntArray) -> FloatArray:
        some = (drawn[0]._replace(fn=drawn[0].fn[which], fp=drawn[0].fp[which]),
                drawn[1]._replace(fn=drawn[1].fn[which], fp=drawn[1].fp[which]))  # fmt: skip
        _, lower, upper = unpaired_limits(some, pc, z, limits=table)
        return np.minimum(true - lower, upper - true)

    return calibrated_critical(room, SIMULATIONS, level)
