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
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import BoolArray, FloatArray, IntArray
from costcurves.inference.bands.one_curve import cost_band
from costcurves.inference.paired.limits import difference_limits, no_difference
from costcurves.inference.rates import critical, mid_p_cost_limit

# The number of draws from the field. The standard error of a tail of 2.5 % is then 0.35 percentage points.
DRAWS = 2000
# A candidate competes with the choice unless its observed cost is higher by more than this many standard errors.
PLAUSIBLE = 3.5
# How much of the observed advantage over the other candidates is taken for noise, in standard errors: for the estimate,
# the lower limit and the upper limit. Zero would be the plain bootstrap, which finds about two thirds of the optimism.
SHRINK_ESTIMATE, SHRINK_LOWER, SHRINK_UPPER = 0.6, 0.0, 3.0
# The tail of the true errors is a little heavier than the field's: the upper limit moves by this many standard errors.
HEAVIER = 0.2
# How far the lower limit comes back to that of a candidate that was not chosen.
BACK = 0.2
# Candidates that cost more than the cheapest by this many times the sum of both standard errors are not drawn.
HOPELESS = 5.0
# A candidate that costs more than the choice by this many standard errors of the difference is chosen in no draw.
OUT_OF_REACH = 4.5
# Candidates that are drawn at a time.
BLOCK = 48
# Rival thresholds whose p-values are computed exactly; the others lie farther away by the normal approximation.
NEAREST = 6
# For verdicts alone, differences below or above these numbers of standard errors need no exact p-value.
NEAR, FAR = 1.0, 8.0
# Critical values beyond this are not distinguished (the p-value is about 1e-32).
FARTHEST = 12.0


@lru_cache(maxsize=8)
def normals(rows: int) -> FloatArray:
    """Return standard normal draws, the same each time: an array of shape (rows, DRAWS)."""
    found = np.random.default_rng(20_050_801).standard_normal((rows, DRAWS), dtype=np.float32).astype(np.float64)
    found.flags.writeable = False
    return found


def drawn_from(covariance: FloatArray, rows: slice) -> FloatArray:
    """Return normal draws with a covariance, of shape (variables, DRAWS), made from some rows of `normals`.

    They are multiplied in double precision, so that the number of threads leaves no trace in what is rounded later.
    """
    # A small ridge lets the covariance be singular.
    root = np.linalg.cholesky(covariance + np.diag(1e-9 * np.diagonal(covariance)))
    return np.asarray(root @ normals(-(-rows.stop // 128) * 128)[rows])


@lru_cache(maxsize=8)
def _exponentials(rows: int) -> npt.NDArray[np.float32]:
    """Return standard exponential draws, the same each time: an array of shape (rows, DRAWS)."""
    found = np.random.default_rng(20_050_802).standard_exponential((rows, DRAWS), dtype=np.float32)
    found.flags.writeable = False
    return found


@dataclass(frozen=True, eq=False)
class FieldAt:
    """The candidates that compete at one operating point.

    `number` is where each stands among all candidates, `covariances` are those of the miss rates and of the false-alarm
    rates of all candidates, and `between` says how many more thresholds lie between each and the next one of its
    classifier.
    """

    pc: float
    number: IntArray
    owner: IntArray
    misses: FloatArray
    alarms: FloatArray
    sizes: tuple[float, float]
    cost: FloatArray
    covariances: tuple[FloatArray, FloatArray]
    between: FloatArray
    given: bool
    shared: tuple[FloatArray, FloatArray] | None = None  # errors of both rates that were drawn for all operating points

    @cached_property
    def spread(self) -> FloatArray:
        """Standard error of each candidate's cost."""
        return np.asarray(np.sqrt(self._variance))

    @cached_property
    def _variance(self) -> FloatArray:
        return self._covariance(self.number, self.number)

    def _covariance(self, *of: Any) -> FloatArray:
        """Return covariances of costs of candidates, by two indices among all candidates."""
        pos, neg = (c[of] for c in self.covariances)
        return np.asarray(self.pc**2 * pos + (1 - self.pc) ** 2 * neg)

    @cached_property
    def hopeful(self) -> BoolArray:
        """The candidates that could be chosen in some draw: among all, or among those of their classifier."""
        best = np.full(int(self.owner.max()) + 1, np.inf)
        np.minimum.at(best, self.owner, self.cost)
        mine = np.where(self.cost == best[self.owner], self.spread, 0.0)
        widest = np.zeros(best.size)
        np.maximum.at(widest, self.owner, mine)
        return np.asarray(self.cost - best[self.owner] <= HOPELESS * (self.spread + widest[self.owner]))

    @cached_property
    def draws(self) -> npt.NDArray[np.float32]:
        """Simulated errors of the costs of all candidates, of shape (candidates, draws); hopeless ones may be NaN."""
        if self.shared is not None:
            misses, alarms = self.shared
            return (self.pc * misses + (1 - self.pc) * alarms).astype(np.float32)
        some = np.flatnonzero(self.hopeful)
        found = np.full((self.owner.size, DRAWS), np.nan, dtype=np.float32)
        found[some] = drawn_from(self._covariance(*np.ix_(self.number[some], self.number[some])), slice(some.size))
        return found

    def spread_from(self, i: int) -> FloatArray:
        """Return the standard error of the difference between each candidate's cost and that of candidate i."""
        together = self._covariance(self.number[i], self.number)
        return np.asarray(np.sqrt(np.maximum(self._variance + self._variance[i] - 2 * together, 0.0)))

    def shifts(
        self, i: int, level: float, members: BoolArray, least: float, held_out: float | None
    ) -> tuple[float, float, float]:
        """Return the cost to expect on new cases of candidate i, and the critical values of its lower and upper limit.

        Parameters
        ----------
        i : int
            The candidate with the lowest cost of the members.
        level : float
        members : array of bool
            The candidates among which it was chosen; itself alone if it was not chosen by its cost.
        least : float
            The known cost of the cheaper trivial classifier; draws in which no candidate is cheaper do not count.
        held_out : float, optional
            The mean cost of the choices made without a fold of the cases on that fold.
        """
        normal, tail, cost = critical(level), 0.5 * (1 - level), float(self.cost[i])
        if members.sum() == 1:
            return cost, -normal, normal
        above, chosen = self._optimism(i, members, least, SHRINK_ESTIMATE)
        drawn = cost + float((above * self.spread[chosen]).mean())
        low = float(np.quantile(self._optimism(i, members, least, SHRINK_LOWER)[0], tail))
        high = _quantile(self._worst(i, members, least), level)
        # Held-out cases know more of rare errors than the field does, but vary more: the estimate is the mean of both.
        estimate = drawn if held_out is None else 0.5 * (drawn + held_out)
        # Where errors are rare the field may move the lower limit too far: it is never above the observed cost, and
        # comes a part of the way back to the limit of a candidate that was not chosen.
        return estimate, (1 - BACK) * min(low, 0.0) - BACK * normal, max(high, normal)

    def limits(self, some: IntArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the limits of the costs of some candidates at critical values: below 0 for the lower ones."""
        return self._limit(some, -low, upper=False), self._limit(some, high, upper=True)

    def given_limits(self, i: int, level: float) -> tuple[float, float]:
        """Return the limits of the cost of candidate i, as if it had not been chosen by its cost."""
        counts = (self.misses[i], self.sizes[0], self.alarms[i], self.sizes[1])
        band = cost_band(*counts, np.array([self.pc]), level=level)
        return float(band.lower[0]), float(band.upper[0])

    def _optimism(self, i: int, members: BoolArray, least: float, shrink: float) -> tuple[FloatArray, IntArray]:
        """Return how many standard errors the cost of what is chosen lies above what is observed, and what is chosen.

        Both have one entry per draw in which a candidate is cheaper than the trivial classifiers. Where a threshold
        between two candidates is the cheapest of all, the first of the two stands for it.
        """
        spread = self.spread_from(i)
        ahead = np.maximum(0.0, self.cost - self.cost[i] - shrink * spread)
        use = members & self.hopeful & (ahead <= OUT_OF_REACH * spread)
        mean = (self.cost[i] + ahead).astype(np.float32)
        above, lowest, number = self._lowest(np.flatnonzero(use), mean)
        useful = lowest < least
        if useful.sum() < DRAWS // 20:
            useful[:] = True
        return np.asarray(above[useful], dtype=np.float64), number[useful]

    def _lowest(self, some: IntArray, mean: npt.NDArray[np.float32]) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return the lowest cost in every draw, what its candidate costs above it in standard errors, and which it is.

        The candidates are drawn around `mean`. Blocks of them fit into the cache of a processor.
        """
        lowest, deepest = (np.full(DRAWS, np.inf, dtype=np.float32) for _ in range(2))
        number, left = (np.zeros(DRAWS, dtype=np.int64) for _ in range(2))
        luck, used = _exponentials(-(-some.size // 128) * 128), 0
        for start in range(0, some.size, BLOCK):
            rows = some[start : start + BLOCK + 1]  # and the first of the next block, which ends the last gap
            seen = self.draws[rows]
            seen += mean[rows, None]
            _keep_least(seen[:BLOCK], rows, lowest, number)
            at = np.flatnonzero(self._gaps[rows[:-1]] & (np.diff(rows) == 1))
            if at.size:
                own = luck[used : used + at.size]
                used += at.size
                _keep_least(self._lowest_between(rows[at], seen[at], seen[at + 1], own), rows[at], deepest, left)
        above = (mean[number] - lowest) / self.spread[number]
        deeper = deepest < lowest
        after = np.minimum(left + 1, mean.size - 1)
        expected = 0.5 * (mean[left] + mean[after])
        wider = np.maximum(self.spread[left], self.spread[after])
        above = np.where(deeper, (expected - deepest) / wider, above)
        return above, np.where(deeper, deepest, lowest), np.where(deeper, left, number)

    @cached_property
    def _gaps(self) -> BoolArray:
        """Which candidates have thresholds between themselves and the next one, which is a candidate too."""
        found = self.between > 0
        found[:-1] &= (np.diff(self.number) == 1) & (np.diff(self.owner) == 0)
        found[-1:] = False
        return found

    def _lowest_between(
        self,
        pairs: IntArray,
        first: npt.NDArray[np.float32],
        second: npt.NDArray[np.float32],
        luck: npt.NDArray[np.float32],
    ) -> npt.NDArray[np.float32]:
        """Draw the lowest cost of all thresholds between some candidates and the next, given the costs of both.

        Between two thresholds the cost is a random walk, whose minimum is that of a Brownian bridge; a walk of few
        steps does not come down as far by 0.5826 of a step, on average (Broadie, Glasserman and Kou 1997). `luck` has
        standard exponential draws.
        """
        own, other = self._variance[pairs], self._variance[pairs + 1]
        variance = np.maximum(own + other - 2 * self._covariance(self.number[pairs], self.number[pairs + 1]), 0.0)
        step = np.sqrt(variance / (self.between[pairs] + 1)).astype(np.float32)[:, None]
        least = np.minimum(first, second)
        # 0.5 (first + second - sqrt((first - second)² + 2 variance · exponential)), without arrays in between.
        root = first - second
        root *= root
        root += 2 * variance.astype(np.float32)[:, None] * luck
        np.sqrt(root, out=root)
        lowest = first + second
        lowest -= root
        lowest *= np.float32(0.5)
        lowest += np.float32(0.5826) * step
        np.minimum(lowest, least, out=least)
        return least

    def _worst(self, i: int, members: BoolArray, least: float) -> FloatArray:
        """Return the optimism, in standard errors and in order, that the upper limit allows for."""
        key = (i, members.tobytes(), least)
        if key not in self._kept:
            self._kept[key] = np.sort(self._optimism(i, members, least, SHRINK_UPPER)[0] + HEAVIER)
        return self._kept[key]

    @cached_property
    def _kept(self) -> dict[tuple[int, bytes, float], FloatArray]:
        """What `_worst` found: it is asked for the limits of the choice, and again for its verdicts."""
        return {}

    def _limit(self, some: IntArray, z: FloatArray, *, upper: bool) -> FloatArray:
        """Return the upper or the lower limit of the cost of some candidates at critical values."""
        return mid_p_cost_limit((self.misses[some], self.alarms[some]), self.sizes, self.pc, z, upper=upper)

    def _distance(self, some: IntArray, value: FloatArray, *, upper: bool) -> FloatArray:
        """Return the critical value at which the upper or the lower limit of each cost reaches a value.

        It is 0 where the value lies on the other side of the cost.
        """
        gap = (value - self.cost[some]) * (1 if upper else -1)
        beyond = np.flatnonzero(gap > 0)
        found = np.zeros(gap.size)
        if beyond.size:
            some, gap = some[beyond], gap[beyond]
            z = np.clip(gap / self.spread[some], 1e-3, FARTHEST)
            # The distance of a limit from the estimate is nearly in proportion to the critical value.
            for _ in range(8):
                reach = np.abs(self._limit(some, z, upper=upper) - self.cost[some])
                z = np.clip(z * gap / np.maximum(reach, 1e-300), 1e-3, FARTHEST)
            found[beyond] = z
        return found

    def beats_known(
        self, chosen: int, known: FloatArray, level: float | None, competing: BoolArray, least: float
    ) -> list[Comparison]:
        """Compare the chosen candidate with trivial classifiers, whose costs are known exactly.

        The tests are two-sided and agree with the limits of the cost: where a trivial classifier is beaten, its cost
        lies above them.

        Parameters
        ----------
        chosen : int
        known : array
            Costs of the trivial classifiers.
        level : float or None
            Of the limit of what a rival may save; None if that is not wanted.
        competing : array of bool
            The candidates among which the choice was made.
        least : float
            As for `shifts`.
        """
        cost = float(self.cost[chosen])
        plain = [None if level is not None else _plain(gap) for gap in (known - cost) / float(self.spread[chosen])]
        if all(one is not None for one in plain):
            return [one for one in plain if one is not None]
        tops = [self._largest(None, cost, competing)]
        if competing.sum() > 1:
            tops.append(self._worst(chosen, competing, least))
        z = self._distance(np.full(known.size, chosen), known, upper=True)
        p = [max(_tail(float(at), top) for top in tops) for at in z]
        if level is None:
            return [one or Comparison(p_value, math.nan) for one, p_value in zip(plain, p, strict=True)]
        reach = max(_quantile(top, level) for top in tops)
        bound = self._limit(np.array([chosen]), np.array([reach]), upper=True)[0]
        return [Comparison(p_value, float(bound - cost_of)) for p_value, cost_of in zip(p, known, strict=True)]

    def beaten_by_known(self, known: float, rivals: IntArray, level: float | None, competing: BoolArray) -> Comparison:
        """Compare a trivial classifier that was chosen with a rival classifier at any of its thresholds."""
        apart = float(((self.cost[rivals] - known) / self.spread[rivals]).min())
        if level is None and (plain := _plain(apart)) is not None:
            return plain
        order = np.argsort((self.cost[rivals] - known) / self.spread[rivals], kind="stable")[:NEAREST]
        near = rivals[order]
        z = self._distance(near, np.full(near.size, known), upper=False)
        hardest = int(np.argmin(z))
        top = self._largest(int(near[hardest]), known, competing)
        if level is None:
            return Comparison(_tail(float(z[hardest]), top), math.nan)
        lower = self._limit(near, np.full(near.size, _quantile(top, level)), upper=False)
        return Comparison(_tail(float(z[hardest]), top), float((known - lower).max()))

    def beaten(
        self,
        chosen: int,
        rivals: Sequence[IntArray],
        discordant: tuple[FloatArray, ...],
        level: float | None,
        competing: BoolArray,
    ) -> list[Comparison]:
        """Compare the chosen candidate with rival classifiers at any of their thresholds, by one-sided tests.

        Parameters
        ----------
        chosen : int
        rivals : sequence of arrays of int
            The candidates of each rival.
        discordant : four arrays of shape (candidates,)
            Positives that only a candidate, only the choice gets wrong; then negatives.
        level, competing
            As for `beats_known`.
        """
        best = float(self.cost[chosen])
        apart = (self.cost - best) / np.maximum(self.spread_from(chosen), 1e-300)
        found = {k: _plain(float(apart[own].min())) if level is None else None for k, own in enumerate(rivals)}
        todo = [k for k, one in found.items() if one is None]
        if todo:
            # The rival threshold that is hardest to tell from the choice decides: if it is beaten, all of them are.
            near = [rivals[k][np.argsort(apart[rivals[k]], kind="stable")[:NEAREST]] for k in todo]
            every, sizes = np.concatenate(near), [own.size for own in near]
            counts, pc = tuple(d[every] for d in discordant), np.full(every.size, self.pc)
            p = no_difference(counts, self.sizes, pc, "mid-p", "stratified", 0.0)
            z = np.split(np.where(self.cost[every] > best, _two_sided(p), 0.0), np.cumsum(sizes)[:-1])
            tops = [self._largest(int(own[at.argmin()]), best, competing) for own, at in zip(near, z, strict=True)]
            saves = [math.nan] * len(todo)
            if level is not None:
                reach = np.repeat([_quantile(top, 2 * level - 1) for top in tops], sizes)  # one-sided, as p-values are
                lower = difference_limits(counts, self.sizes, pc, reach, "mid-p", "stratified", 0.0)[1]
                saves = [-float(part.min()) for part in np.split(lower, np.cumsum(sizes)[:-1])]
            for k, at, top, most in zip(todo, z, tops, saves, strict=True):
                # Without an advantage nothing is shown, whatever the level.
                p_value = 0.5 * _tail(float(at.min()), top) if at.min() > 0 else 1.0
                found[k] = Comparison(p_value, most)
        return [one for one in found.values() if one is not None]

    def most_saved(self, rival: int, discordant: tuple[FloatArray, ...], level: float) -> float:
        """Return the upper limit of what candidate `rival` costs more than the choice, for a choice taken as given."""
        counts, pc = tuple(d[rival : rival + 1] for d in discordant), np.array([self.pc])
        return float(difference_limits(counts, self.sizes, pc, critical(level), "mid-p", "stratified", 0.0)[2][0])

    def _largest(self, rival: int | None, best: float, competing: BoolArray) -> FloatArray:
        """Return, sorted, how many standard errors better than a rival that is as good the best of all others looks.

        The rival is fixed (None: a trivial classifier), and the choice is whichever candidate looks best. The largest
        standardised difference over all candidates that could have been chosen is what the observed one is judged by.
        """
        if rival is not None and not self.hopeful[rival]:
            # It costs far more and was not drawn, so the nearest one that was drawn represents it.
            drawn = np.flatnonzero(self.hopeful & (self.owner == self.owner[rival]))
            rival = int(drawn[np.abs(drawn - rival).argmin()])
        spread = self.spread if rival is None else self.spread_from(rival)
        use = competing & self.hopeful & (self.cost - best <= PLAUSIBLE * spread) & (spread > 1e-6 * self.spread.max())
        if rival is not None:
            use &= self.owner != self.owner[rival]
        own = np.zeros(DRAWS, dtype=np.float32) if rival is None else self.draws[rival]
        # Doing nothing may have been chosen too, unless the choice is taken as given.
        alone = rival is None or (self.given and competing.any())
        top = np.full(DRAWS, -np.inf) if alone else own / self.spread[rival]
        some, width = np.flatnonzero(use), spread.astype(np.float32)[:, None]
        for rows in np.split(some, range(BLOCK, some.size, BLOCK)) if some.size else ():
            standard = own - self.draws[rows]
            standard /= width[rows]
            top = np.maximum(top, standard.max(axis=0))
        return np.sort(top)


def _keep_least(
    values: npt.NDArray[np.float32], rows: IntArray, least: npt.NDArray[np.float32], number: IntArray
) -> None:
    """Enter the values of some rows that are lower than the least so far, and which rows they are."""
    found = values.min(axis=0)
    lower = np.flatnonzero(found < least)
    # The first of the rows with the least value: faster than argmin along this axis. There are fewer than 256 rows.
    back = np.arange(values.shape[0], 0, -1, dtype=np.uint8)[:, None]
    best = values.shape[0] - ((values == found) * back).max(axis=0)[lower].astype(np.int64)
    least[lower], number[lower] = found[lower], rows[best]


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
    """Return the critical value of a two-sided level: where `_tail` falls to what the level leaves out.

    It is never less than the normal one. `top` has the draws in order.
    """
    from scipy.special import ndtr, ndtri

    normal = critical(level) if level > 0 else 0.0
    tail, last = 0.5 - 0.5 * level, -(-top.size // 50)
    edge = float(top[-last])
    if not math.isfinite(edge):
        return normal
    if tail >= last / top.size:
        return max(normal, float(top[min(math.ceil(round((1 - tail) * top.size, 6)), top.size - 1)]))
    return max(normal, float(-ndtri(tail * ndtr(-edge) * top.size / last)))


def _tail(z: float, top: FloatArray) -> float:
    """Return the two-sided chance that the largest difference is at least z; `top` has the draws in order."""
    from scipy.special import ndtr

    # Beyond the last draws the tail falls like the normal one, as if that many independent candidates had competed.
    last = -(-top.size // 50)
    edge = float(top[-last])
    if z <= edge:
        tail = 1.0 - np.searchsorted(top, z) / top.size
    else:
        tail = ndtr(-z) * last / top.size / ndtr(-edge)
    return float(min(1.0, 2 * max(tail, ndtr(-z))))


def _two_sided(p: FloatArray) -> FloatArray:
    """Return the critical value of a two-sided p-value."""
    from scipy.special import ndtri

    return np.asarray(np.minimum(-ndtri(np.maximum(p, 1e-32) / 2), FARTHEST))
