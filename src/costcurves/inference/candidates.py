"""Classifiers at many of their thresholds as candidates of a choice on the same rows.

`Candidates` has the errors of all of them and how these vary together, `Competition` says who competes and in which
cases, and `choice_shifts` what the choice among the thresholds of one classifier does to the limits of its cost. One
classifier's choice of its threshold (a band around its cost curve) and the choice among several classifiers (a
recommendation) are studied by the same candidates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import BoolArray, FloatArray, IntArray
from costcurves.inference.held_out import FoldCounts, HeldOut, dealt
from costcurves.inference.scored_rows import ROWS, ScoredRows
from costcurves.inference.selection import FieldAt, drawn_from

Cells = npt.NDArray[np.int32]
# Thresholds that compete for one classifier, and for all of them together.
THRESHOLDS, ALL_THRESHOLDS, FEWEST = 96, 384, 12
# Thresholds of one classifier among which the choice is made again without a fold, and rows up to which that is done
# repeatedly. With more than `MANY` rows the optimism is small, and it is not done at all.
HELD_OUT_THRESHOLDS, FEW, MANY = 512, 2000, 1 << 16
# Up to this many candidates are drawn once for all operating points.
SHARED = 3000
# Of many operating points this many are studied; the shifts of the others lie between.
KNOTS = 25


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
    between : array of shape (candidates,)
        How many more thresholds lie between each candidate and the next one of its classifier.
    """

    owner: IntArray
    misses: FloatArray
    alarms: FloatArray
    sizes: tuple[float, float]
    between: FloatArray
    _covariances: tuple[FloatArray, FloatArray]

    @classmethod
    def of_cells(
        cls,
        cells: tuple[Sequence[Cells], Sequence[Cells]],
        numbers: Sequence[int],
        weights: tuple[FloatArray | None, FloatArray | None],
        rows: tuple[IntArray | None, IntArray | None],
        effective: tuple[float, float],
        between: Sequence[FloatArray] | None = None,
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
        between : sequence of arrays, one per classifier, optional
            How many more thresholds lie between each one and the next; by default none.
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
        more = np.zeros(owner.size) if between is None else np.concatenate(between)
        return cls(owner, errors[0], errors[1], effective, more, (covariances[0], covariances[1]))

    def spread(self, pc: float) -> FloatArray:
        """Return the standard errors of the costs of all candidates at an operating point."""
        pos, neg = (np.diagonal(c) for c in self._covariances)
        return np.asarray(np.sqrt(pc**2 * pos + (1 - pc) ** 2 * neg))

    def costs(self, some: IntArray, pc: float | FloatArray) -> FloatArray:
        """Return the costs of some candidates, at one operating point or each at its own."""
        n_pos, n_neg = self.sizes
        return np.asarray(pc * self.misses[some] / n_pos + (1 - pc) * self.alarms[some] / n_neg)

    def draws(self, some: IntArray) -> tuple[FloatArray, FloatArray]:
        """Draw errors of the miss rates and of the false-alarm rates of some candidates, independent of each other."""
        n = some.size
        pos, neg = (drawn_from(c[np.ix_(some, some)], slice(i * n, i * n + n)) for i, c in enumerate(self._covariances))
        return pos, neg

    def at(
        self, pc: float, allowed: BoolArray, *, given: bool = False, shared: tuple[FloatArray, FloatArray] | None = None
    ) -> FieldAt:
        """Return the candidates at an operating point; only those that are allowed there compete.

        `given` says that the choice was not made by these costs; `shared` has draws of all candidates (see `draws`).
        """
        some = np.flatnonzero(allowed)
        return FieldAt(
            pc,
            some,
            self.owner[some],
            self.misses[some],
            self.alarms[some],
            self.sizes,
            self.costs(some, pc),
            self._covariances,
            self.between[some],
            given,
            None if shared is None else (shared[0][some], shared[1][some]),
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

    It is that of the cases and of one more, which is wrong for all candidates with probability one half and right for
    all of them otherwise, so that candidates without an error on these rows still vary, and vary together.
    """
    few = [c if rows is None else c[rows] for c in side]
    share = None if weight is None else (weight if rows is None else weight[rows])
    total = float(few[0].size) if share is None else float(share.sum())
    starts = np.concatenate([[0], np.cumsum(numbers)])
    both = np.empty((int(starts[-1]),) * 2)
    for a, b in combinations_with_replacement(range(len(few)), 2):
        block = _both_wrong(few[a], few[b], (numbers[a], numbers[b]), share, positive) / total
        both[starts[a] : starts[a + 1], starts[b] : starts[b + 1]] = block
        both[starts[b] : starts[b + 1], starts[a] : starts[a + 1]] = block.T
    both = (both * size + 0.5) / (size + 1)
    mean = np.diagonal(both)
    covariance = both - np.multiply.outer(mean, mean)
    # Where only some of the rows are counted, the variances are still those of all of them.
    smoothed = (rate * size + 0.5) / (size + 1)
    scale = np.sqrt(smoothed * (1 - smoothed) / np.diagonal(covariance))
    return np.asarray(covariance * np.multiply.outer(scale, scale) / size)


def _both_wrong(a: Cells, b: Cells, numbers: tuple[int, int], weight: FloatArray | None, positive: bool) -> FloatArray:
    """Return how many examples of one class two classifiers both get wrong, at each pair of their thresholds."""
    shape = (numbers[0] + 1, numbers[1] + 1)
    cell = a.astype(np.int64) * shape[1] + b
    table = np.bincount(cell, weight, shape[0] * shape[1]).reshape(shape)
    if positive:
        return np.asarray(table.cumsum(axis=0).cumsum(axis=1)[:-1, :-1], dtype=np.float64)
    return np.asarray(table[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1][1:, 1:], dtype=np.float64)


def free_grid(rows: ScoredRows, name: str, used: Sequence[float]) -> FloatArray:
    """Return the thresholds of a classifier that compete if it may use any: those in use, and many others."""
    most = max(FEWEST, min(THRESHOLDS, ALL_THRESHOLDS // len(rows.order)))
    used = [cut for cut in used if np.isfinite(cut)]
    return np.concatenate([rows.spread_out(name, most, used), used])


class Competition:
    """Candidates on the same rows.

    Parameters
    ----------
    rows : ScoredRows
    grids : mapping of name to array
        The thresholds of each classifier that compete, increasing.
    free : collection of str
        Classifiers that may use any of their thresholds; the others use those in their grid alone.
    chosen_here : collection of str
        Classifiers whose thresholds are chosen on these rows.
    """

    def __init__(
        self, rows: ScoredRows, grids: Mapping[str, FloatArray], free: Iterable[str], chosen_here: Iterable[str]
    ) -> None:
        self.rows, self.grids = rows, grids
        self._free, self._chosen_here = frozenset(free), frozenset(chosen_here)

    @cached_property
    def cells(self) -> dict[str, tuple[Cells, Cells]]:
        """How many thresholds each score of each class reaches."""
        found = {}
        for name, grid in self.grids.items():
            cell = np.searchsorted(grid, self.rows.scores[name], side="right").astype(np.int32)
            found[name] = (cell[self.rows.sides[0]], cell[self.rows.sides[1]])
        return found

    @cached_property
    def candidates(self) -> Candidates | None:
        """All candidates; None if no classifier has a threshold."""
        order = self.rows.order
        numbers = [self.grids[name].size for name in order]
        if not sum(numbers):
            return None
        pos, neg = (
            None if rows.size <= ROWS else np.searchsorted(rows, np.sort(self.rows.few_rows(rows)))
            for rows in self.rows.sides
        )
        cells = [self.cells[name][0] for name in order], [self.cells[name][1] for name in order]
        between = [
            self.rows.between(name, self.grids[name]) if name in self._free else np.zeros(self.grids[name].size)
            for name in order
        ]
        return Candidates.of_cells(cells, numbers, self.rows.side_weights, (pos, neg), self.rows.effective, between)

    def shared_draws(self, points: int) -> tuple[FloatArray, FloatArray] | None:
        """Return draws of all candidates for several operating points; None where drawing at each point costs less."""
        return self._draws if points > 2 and self.candidates and self.candidates.owner.size <= SHARED else None

    @cached_property
    def _draws(self) -> tuple[FloatArray, FloatArray]:
        assert self.candidates is not None
        return self.candidates.draws(np.arange(self.candidates.owner.size))

    @cached_property
    def held_out(self) -> HeldOut | None:
        """The rows in folds, for costs of choices on rows that took no part in them.

        It is None if there are very many rows, or if rows stand for several cases.
        """
        n = self.rows.positive.size
        if n > MANY or self.rows.gathered or not sum(grid.size for grid in self.grids.values()):
            return None
        sides = self.rows.sides
        folds = tuple(dealt(self.rows.keys[rows], 4 if n <= FEW else 2) for rows in sides)
        counted = {}
        for name in self.rows.order:
            grid = self.grids[name]
            if name in self._chosen_here:
                grid = np.union1d(grid, self.rows.spread_out(name, HELD_OUT_THRESHOLDS))
            cell = np.searchsorted(grid, self.rows.scores[name], side="right")
            cells = cell[sides[0]], cell[sides[1]]
            counted[name] = FoldCounts.of(cells, (folds[0], folds[1]), self.rows.side_weights, grid.size)
        return HeldOut(counted)

    @cached_property
    def starts(self) -> dict[str, int]:
        """Where each classifier's candidates begin."""
        sizes = [self.grids[name].size for name in self.rows.order]
        return dict(zip(self.rows.order, [sum(sizes[:i]) for i in range(len(sizes))], strict=True))

    def number_at(self, name: str, cut: float) -> int:
        """Return which candidate a classifier is at one of the thresholds that compete."""
        return self.starts[name] + int(np.searchsorted(self.grids[name], cut))

    def allowed(self, in_use: Iterable[int]) -> BoolArray:
        """Return which candidates compete: those of free classifiers that are not trivial here, and those in use."""
        assert self.candidates is not None
        n_pos, n_neg = self.candidates.sizes
        misses, alarms = self.candidates.misses, self.candidates.alarms
        never = (misses >= n_pos * (1 - 1e-12)) & (alarms <= 0)
        always = (misses <= 0) & (alarms >= n_neg * (1 - 1e-12))
        useful = ~never & ~always
        mask = np.zeros(useful.size, dtype=np.bool_)
        for name in self._free.intersection(self.rows.order):
            own = slice(self.starts[name], self.starts[name] + self.grids[name].size)
            mask[own] = useful[own]
        mask[list(in_use)] = True
        return mask


class Shifts(NamedTuple):
    """What the choice of thresholds does at some operating points: arrays of shape (points,).

    `excess` is how much more than on these cases the classifier is expected to cost on new ones; `low` and `high` are
    the critical values of the limits, of which those of the lower ones are negative.
    """

    excess: FloatArray
    low: FloatArray
    high: FloatArray


def choice_shifts(rows: ScoredRows, pc: FloatArray, cuts: FloatArray, level: float) -> Shifts:
    """Return what the choice of thresholds does to the cost of a classifier and to its limits at each operating point.

    The thresholds that look cheapest look cheaper than they are, so the limits of their cost must move. How far is
    found as for a recommendation of this classifier alone: by choosing again in draws of the costs of all thresholds.

    Parameters
    ----------
    rows : ScoredRows
        With one classifier.
    pc, cuts : arrays of shape (points,)
        Operating points, increasing, and the thresholds in use, which are scores of the rows.
    level : float
        At one or two operating points the answer is that of a recommendation. More of them share their draws, so that
        answers there may differ from it by the noise of a simulation.
    """
    if pc.size == 2:
        both = [choice_shifts(rows, pc[k : k + 1], cuts[k : k + 1], level) for k in (0, 1)]
        return Shifts(*(np.concatenate(values) for values in zip(*both, strict=True)))
    (name,) = rows.order
    competition = Competition(rows, {name: np.unique(free_grid(rows, name, cuts.tolist()))}, [name], [name])
    candidates, shared = competition.candidates, competition.shared_draws(pc.size)
    assert candidates is not None
    numbers = np.array([competition.number_at(name, cut) for cut in cuts.tolist()])
    observed = candidates.costs(numbers, pc)
    some = np.unique(np.rint(np.linspace(0, pc.size - 1, min(pc.size, KNOTS))).astype(np.int64))
    found = []
    for k in some.tolist():
        field = candidates.at(float(pc[k]), competition.allowed([numbers[k]]), shared=shared)
        used, everyone = int(np.searchsorted(field.number, numbers[k])), np.ones(field.owner.size, dtype=np.bool_)
        cost, low, high = field.shifts(used, level, everyone, min(pc[k], 1 - pc[k]), None)
        found.append((cost - observed[k], low, high))
    excess, low, high = (np.interp(pc, pc[some], values) for values in np.array(found).T)
    # As for a recommendation, the estimate is the mean of the draws' and of that of held-out cases.
    if competition.held_out is not None and everyone.size > 1:
        held_out = np.array([competition.held_out.costs(where, {})[0] for where in pc.tolist()])
        excess = 0.5 * (excess + held_out - observed)
    return Shifts(excess, low, high)
