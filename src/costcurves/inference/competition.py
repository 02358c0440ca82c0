"""Classifiers at many of their thresholds as candidates of a choice on the same rows: who competes, and in which cells.

One classifier's choice of its threshold (a band around its cost curve) and the choice among several classifiers (a
recommendation) are studied by the same candidates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from costcurves._base.validation import BoolArray, FloatArray
from costcurves.inference.candidates import Candidates, Cells
from costcurves.inference.held_out import FoldCounts, HeldOut, dealt
from costcurves.inference.scored_rows import ROWS, ScoredRows

# Thresholds that compete for one classifier, and for all of them together.
THRESHOLDS, ALL_THRESHOLDS, FEWEST = 96, 384, 12
# Thresholds of one classifier among which the choice is made again without a fold, and rows up to which that is done
# repeatedly. With more than `MANY` rows the optimism is small, and it is not done at all.
HELD_OUT_THRESHOLDS, FEW, MANY = 512, 2000, 1 << 16
# Up to so many candidates are drawn once for all operating points.
SHARED = 3000


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
