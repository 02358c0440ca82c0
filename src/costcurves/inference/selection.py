"""The statistics of choosing a classifier and a threshold on the same rows that judge them.

The choice is the candidate with the lowest observed cost, so that this cost is too low, and an interval around it
misses the true cost too often. Here the candidates (every classifier at many thresholds) form a Gaussian field whose
covariance is that of their errors on the same rows. Drawing from the field and choosing again in every draw shows how
far the cost of the choice lies above the observed one, and how often a rival that is truly as good would look worse
than the choice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import BoolArray, FloatArray, IntArray
from costcurves.inference.bands.one_curve import cost_band
from costcurves.inference.paired.limits import difference_limits, no_difference
from costcurves.inference.rates import critical, mid_p_at, mover

Cells = npt.NDArray[np.int32]

# The number of draws from the field. The standard error of a tail of 2.5 % is then 0.35 percentage points.
DRAWS = 2000
# A candidate competes with the choice unless its observed cost is higher by more than this many standard errors.
PLAUSIBLE = 3.5
# How much of the observed advantage over the other candidates is taken for noise, in standard errors: for the estimate,
# the lower limit and the upper limit. Zero would be the plain bootstrap, which finds about two thirds of the optimism.
SHRINK_ESTIMATE, SHRINK_LOWER, SHRINK_UPPER = 1.0, 0.0, 3.0
# Rival thresholds whose p-values are computed exactly; the others lie farther away by the normal approximation.
NEAREST = 6
# For verdicts alone, differences below or above these numbers of standard errors need no exact p-value.
NEAR, FAR = 1.0, 8.0
# Critical values beyond this are not distinguished (the p-value is about 1e-32).
FARTHEST = 12.0


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Every classifier at every threshold that may be chosen, with its errors and how these vary together.

    Attributes
    ----------
    owner : array of shape (candidates,)
        The number of the classifier to which the threshold belongs.
    misses, alarms : arrays of shape (candidates,)
        Errors, in effective examples.
    sizes : (positives, negatives)
        Effective examples of each class.
    """

    owner: IntArray
    misses: FloatArray
    alarms: FloatArray
    sizes: tuple[float, float]
    _covariances: tuple[FloatArray, FloatArray]
    _draws: tuple[FloatArray, FloatArray]

    @classmethod
    def of_cells(
        cls,
        cells: tuple[Sequence[Cells], Sequence[Cells]],
        numbers: Sequence[int],
        weights: tuple[FloatArray | None, FloatArray | None],
        rows: tuple[IntArray | None, IntArray | None],
        effective: tuple[float, float],
    ) -> Candidates:
        """Return the candidates of classifiers whose scores were sorted into cells.

        Parameters
        ----------
        cells : (positives, negatives), each a sequence of arrays of shape (rows,), one per classifier
            How many of the classifier's thresholds each score reaches.
        numbers : sequence of int
            How many thresholds each classifier has.
        weights : (positives, negatives), arrays or None
        rows : (positives, negatives), arrays or None
            Which rows the covariance is computed from; all if None.
        effective : (positives, negatives)
            Effective sample sizes.
        """
        owner = np.repeat(np.arange(len(numbers)), numbers)
        errors, covariances = [], []
        for which, (side, weight, some, size) in enumerate(zip(cells, weights, rows, effective, strict=True)):
            tables = [np.bincount(c, weight, number + 1) for c, number in zip(side, numbers, strict=True)]
            total = float(tables[0].sum())
            # Positives below a threshold are missed; negatives that reach it are false alarms.
            wrong = [t.cumsum()[:-1] if which == 0 else t[::-1].cumsum()[::-1][1:] for t in tables]
            rate = np.concatenate(wrong) / total
            errors.append(rate * size)
            covariances.append(_covariance(side, numbers, weight, some, rate, size, which == 0))
        roots = [_root(c) for c in covariances]
        rng = np.random.default_rng(20_050_801)
        draws = [rng.standard_normal((DRAWS, owner.size)) @ root.T for root in roots]
        return cls(
            owner, errors[0], errors[1], effective, (covariances[0], covariances[1]), (draws[0], draws[1])
        )  # fmt: skip

    def at(self, pc: float, allowed: BoolArray, *, given: bool = False) -> FieldAt:
        """Return the candidates at an operating point; only those that are allowed there compete.

        `given` says that the choice was not made by these costs.
        """
        n_pos, n_neg = self.sizes
        some = np.flatnonzero(allowed)
        pos, neg = (c[np.ix_(some, some)] for c in self._covariances)
        return FieldAt(
            pc,
            some,
            self.owner[some],
            self.misses[some],
            self.alarms[some],
            self.sizes,
            pc * self.misses[some] / n_pos + (1 - pc) * self.alarms[some] / n_neg,
            pc**2 * pos + (1 - pc) ** 2 * neg,
            pc * self._draws[0][:, some] + (1 - pc) * self._draws[1][:, some],
            given,
        )


def _covariance(
    side: Sequence[Cells],
    numbers: Sequence[int],
    weight: FloatArray | None,
    rows: IntArray | None,
    rate: FloatArray,
    size: float,
    positive: bool,
) -> FloatArray:
    """Return the covariance of the error rates of all candidates in one class.

    Its diagonal is that of the rates after half an error and half a right decision are added, so that a candidate
    without an error on these rows still varies.
    """
    few = [c if rows is None else c[rows] for c in side]
    wrong = np.concatenate(
        [
            c[:, None] < np.arange(1, number + 1) if positive else c[:, None] >= np.arange(1, number + 1)
            for c, number in zip(few, numbers, strict=True)
        ],
        axis=1,
    ).astype(np.float64)
    if weight is None:
        both, mean = wrong.T @ wrong / wrong.shape[0], wrong.mean(axis=0)
    else:
        share = weight if rows is None else weight[rows]
        share = share / share.sum()
        both, mean = (wrong * share[:, None]).T @ wrong, share @ wrong
    covariance = both - np.multiply.outer(mean, mean)
    found = np.diagonal(covariance).copy()
    wanted = (rate * size + 0.5) * (size - rate * size + 0.5) / (size + 1) ** 2
    scale = np.where(found > 1e-12, np.sqrt(wanted / np.maximum(found, 1e-12)), 0.0)
    covariance *= np.multiply.outer(scale, scale)
    np.fill_diagonal(covariance, wanted)
    return np.asarray(covariance / size)


def _root(covariance: FloatArray) -> FloatArray:
    """Return a square root of a covariance, which may be singular."""
    ridge = 1e-10 * np.diagonal(covariance)
    return np.asarray(np.linalg.cholesky(covariance + np.diag(ridge)), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class FieldAt:
    """The candidates that compete at one operating point.

    `number` is where each stands among all candidates; `draws` are simulated errors of their costs.
    """

    pc: float
    number: IntArray
    owner: IntArray
    misses: FloatArray
    alarms: FloatArray
    sizes: tuple[float, float]
    cost: FloatArray
    covariance: FloatArray
    draws: FloatArray
    given: bool

    @property
    def spread(self) -> FloatArray:
        """Standard error of each candidate's cost."""
        return np.asarray(np.sqrt(np.diagonal(self.covariance)))

    def spread_from(self, i: int) -> FloatArray:
        """Return the standard error of the difference between each candidate's cost and that of candidate i."""
        own = np.diagonal(self.covariance)
        return np.asarray(np.sqrt(np.maximum(own + own[i] - 2 * self.covariance[i], 0.0)))

    def limits(self, i: int, level: float, members: BoolArray, least: float) -> tuple[float, float, float]:
        """Return the cost on new cases of candidate i, chosen among some members for its low cost, with limits.

        Parameters
        ----------
        i : int
            The candidate with the lowest cost of the members.
        level : float
        members : array of bool
            The candidates among which it was chosen; itself alone if it was not chosen by its cost.
        least : float
            The known cost of the cheaper trivial classifier; draws in which no candidate is cheaper do not count.
        """
        normal, tail = critical(level), 0.5 * (1 - level)
        if members.sum() == 1:
            return float(self.cost[i]), self._limit(i, -normal), self._limit(i, normal)
        estimate = self._optimism(i, members, least, SHRINK_ESTIMATE).mean()
        low = np.quantile(self._optimism(i, members, least, SHRINK_LOWER), tail)
        high = np.quantile(self._optimism(i, members, least, SHRINK_UPPER), 1 - tail)
        # Half way back to the limit of a candidate that was not chosen: with few cases the field moves it too far.
        low = 0.5 * (low - normal)
        found = [self._limit(i, float(shift)) for shift in (estimate, low, max(high, normal))]
        return found[0], min(found[1], found[0]), max(found[2], found[0])

    def given_limits(self, i: int, level: float) -> tuple[float, float]:
        """Return the limits of the cost of candidate i, as if it had not been chosen by its cost."""
        counts = (self.misses[i], self.sizes[0], self.alarms[i], self.sizes[1])
        band = cost_band(*counts, np.array([self.pc]), level=level)
        return float(band.lower[0]), float(band.upper[0])

    def _optimism(self, i: int, members: BoolArray, least: float, shrink: float) -> FloatArray:
        """Return, for each draw, how many standard errors the cost of what is chosen lies above what is observed."""
        some = np.flatnonzero(members)
        ahead = np.maximum(0.0, self.cost[some] - self.cost[i] - shrink * self.spread_from(i)[some])
        draws = self.draws[:, some]
        seen = self.cost[i] + ahead + draws
        chosen = seen.argmin(axis=1)
        every = np.arange(chosen.size)
        above: FloatArray = -draws[every, chosen] / self.spread[some][chosen]
        useful = seen[every, chosen] < least
        return above[useful] if useful.sum() >= DRAWS // 20 else above

    def _limit(self, i: int, shift: float) -> float:
        """Return the limit of a cost that lies `shift` standard errors above the observed one."""
        low, high = self._interval(np.array([i]), np.array([abs(shift)]))
        return float(high[0] if shift > 0 else low[0])

    def _interval(self, some: IntArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the interval of the cost of some candidates at critical values."""
        counts = (self.misses[some], self.alarms[some])
        limits = tuple(mid_p_at(k, n, z) for k, n in zip(counts, self.sizes, strict=True))
        rates = tuple(k / n for k, n in zip(counts, self.sizes, strict=True))
        return mover((np.array(self.pc), np.array(1 - self.pc)), rates, limits)

    def _distance(self, some: IntArray, value: float) -> FloatArray:
        """Return the critical value at which the interval of each cost reaches a value."""
        gap = self.cost[some] - value
        z = np.clip(np.abs(gap) / self.spread[some], 1e-3, FARTHEST)
        # The distance of a limit from the estimate is nearly in proportion to the critical value.
        for _ in range(8):
            lower, upper = self._interval(some, z)
            reach = np.where(gap > 0, self.cost[some] - lower, upper - self.cost[some])
            z = np.clip(z * np.abs(gap) / np.maximum(reach, 1e-300), 1e-3, FARTHEST)
        return z

    def beats_known(self, chosen: int, known: float, level: float | None, competing: BoolArray) -> Comparison:
        """Compare the chosen candidate with a trivial classifier, whose cost is known exactly.

        The test is two-sided, so that it agrees with the limits of the cost: where the trivial classifier is beaten,
        its cost lies above them.

        Parameters
        ----------
        chosen : int
        known : float
            Cost of the trivial classifier.
        level : float or None
            Of the limit of what the rival may save; None if that is not wanted.
        competing : array of bool
            The candidates among which the choice was made.
        """
        cost = float(self.cost[chosen])
        if level is None and (plain := _plain((known - cost) / float(self.spread[chosen]))) is not None:
            return plain
        top = self._largest(None, cost, competing)
        z = float(self._distance(np.array([chosen]), known)[0]) if cost < known else 0.0
        if level is None:
            return Comparison(_tail(z, top), math.nan)
        bound = self._interval(np.array([chosen]), np.array([_quantile(top, level)]))[1][0]
        return Comparison(_tail(z, top), float(bound) - known)

    def beaten_by_known(self, known: float, rivals: IntArray, level: float | None, competing: BoolArray) -> Comparison:
        """Compare a trivial classifier that was chosen with a rival classifier at any of its thresholds."""
        apart = float(((self.cost[rivals] - known) / self.spread[rivals]).min())
        if level is None and (plain := _plain(apart)) is not None:
            return plain
        order = np.argsort((self.cost[rivals] - known) / self.spread[rivals], kind="stable")[:NEAREST]
        near = rivals[order]
        z = np.where(self.cost[near] > known, self._distance(near, known), 0.0)
        hardest = int(np.argmin(z))
        top = self._largest(int(near[hardest]), known, competing)
        if level is None:
            return Comparison(_tail(float(z[hardest]), top), math.nan)
        lower = self._interval(near, np.full(near.size, _quantile(top, level)))[0]
        return Comparison(_tail(float(z[hardest]), top), float((known - lower).max()))

    def beaten(
        self,
        chosen: int,
        rivals: IntArray,
        discordant: tuple[FloatArray, ...],
        level: float | None,
        competing: BoolArray,
    ) -> Comparison:
        """Compare the chosen candidate with a rival classifier at any of its thresholds, by a one-sided test.

        Parameters
        ----------
        chosen : int
        rivals : array of int
            The rival's candidates.
        discordant : four arrays of shape (candidates,)
            Positives that only a candidate, only the choice gets wrong; then negatives.
        level, competing
            As for `beats_known`.
        """
        best = float(self.cost[chosen])
        # The rival threshold that is hardest to tell from the choice decides: if it is beaten, all of them are.
        apart = (self.cost[rivals] - best) / np.maximum(self.spread_from(chosen)[rivals], 1e-300)
        if level is None and (plain := _plain(float(apart.min()))) is not None:
            return plain
        near = rivals[np.argsort(apart, kind="stable")[:NEAREST]]
        counts, pc = tuple(d[near] for d in discordant), np.full(near.size, self.pc)
        p = no_difference(counts, self.sizes, pc, "mid-p", "stratified", 0.0)
        z = np.where(self.cost[near] > best, _two_sided(p), 0.0)
        hardest = int(np.argmin(z))
        top = self._largest(int(near[hardest]), best, competing)
        if level is None:
            return Comparison(0.5 * _tail(float(z[hardest]), top), math.nan)
        z_limit = _quantile(top, 2 * level - 1)  # one-sided, as the p-value is
        lower = difference_limits(counts, self.sizes, pc, z_limit, "mid-p", "stratified", 0.0)[1]
        return Comparison(0.5 * _tail(float(z[hardest]), top), float(-lower.min()))

    def _largest(self, rival: int | None, best: float, competing: BoolArray) -> FloatArray:
        """Return, sorted, how many standard errors better than a rival that is as good the best of all others looks.

        The rival is fixed (None: a trivial classifier), and the choice is whichever candidate looks best. The largest
        standardised difference over all candidates that could have been chosen is what the observed one is judged by.
        """
        spread = self.spread if rival is None else self.spread_from(rival)
        use = competing & (self.cost - best <= PLAUSIBLE * spread) & (spread > 1e-6 * self.spread.max())
        if rival is not None:
            use &= self.owner != self.owner[rival]
        own = 0.0 if rival is None else self.draws[:, rival : rival + 1]
        # Doing nothing may have been chosen too, unless the choice is taken for given.
        alone = rival is None or (self.given and competing.any())
        top = np.full(DRAWS, -np.inf) if alone else self.draws[:, rival] / self.spread[rival]
        if use.any():
            top = np.maximum(top, ((own - self.draws[:, use]) / spread[use]).max(axis=1))
        return np.sort(top)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a rival compares with the choice.

    `p_value` is of the claim that the rival costs more, whichever of its thresholds is used; `saves` the upper limit of
    how much less it may cost.
    """

    p_value: float
    saves: float


def _plain(apart: float) -> Comparison | None:
    """Return the verdict on a difference of `apart` standard errors, if it is clearly small or clearly large."""
    if apart < NEAR:
        return Comparison(1.0, math.nan)
    return Comparison(0.0, math.nan) if apart > FAR else None


def _quantile(top: FloatArray, level: float) -> float:
    """Return the critical value of a two-sided level, never less than the normal one."""
    normal = critical(level) if level > 0 else 0.0
    return max(normal, float(np.quantile(top, 0.5 + 0.5 * level)))


def _tail(z: float, top: FloatArray) -> float:
    """Return the two-sided chance that the largest difference is at least z."""
    from scipy.special import ndtr

    # Beyond the last draws the tail falls like the normal one, as if that many independent candidates had competed.
    edge = float(top[-(DRAWS // 50)])
    if z <= edge:
        tail = 1.0 - np.searchsorted(top, z) / DRAWS
    else:
        tail = ndtr(-z) * (DRAWS // 50) / DRAWS / ndtr(-edge)
    return float(min(1.0, 2 * max(tail, ndtr(-z))))


def _two_sided(p: FloatArray) -> FloatArray:
    """Return the critical value of a two-sided p-value."""
    from scipy.special import ndtri

    return np.asarray(np.minimum(-ndtri(np.maximum(p, 1e-32) / 2), FARTHEST))


def hochberg(p_values: FloatArray) -> FloatArray:
    """Return Hochberg's adjusted p-values: if the largest of them is small, all are.

    The claim "every rival costs more" is then made exactly where each of the p-values is at most α.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.selection import hochberg
    >>> hochberg(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.04, 0.04])
    """
    order = np.argsort(-p_values, kind="stable")
    scaled = np.minimum.accumulate(p_values[order] * np.arange(1, p_values.size + 1))
    out = np.empty(p_values.size)
    out[order] = np.minimum(scaled, 1.0)
    return out
