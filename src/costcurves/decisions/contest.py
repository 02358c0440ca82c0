"""Several classifiers on the same rows, and the two trivial ones: who is chosen, and who may be as good.

Everything that recommends asks here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.validation import BoolArray, FloatArray, IntArray
from costcurves.conditions.condition import OperatingCondition
from costcurves.counting import counts
from costcurves.curves.choices import TRIVIAL, Choice, cheapest_of, cheapest_with_alarms, choice_at, trivial_choices
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.roc import RocCurve
from costcurves.decisions.rows import MANY, Rows, curve_in, named_policies
from costcurves.inference.held_out import FoldCounts, HeldOut, dealt
from costcurves.inference.selection import Candidates, Cells, Comparison, FieldAt, hochberg

# Thresholds that compete for one classifier, and for all of them together.
THRESHOLDS, ALL_THRESHOLDS, FEWEST = 96, 384, 12
# Rows of one class from which the covariance of errors is estimated.
ROWS = 4096
# Thresholds of one classifier among which the choice is made again without a fold, and rows up to which that is done
# repeatedly. With more than `MANY` rows the optimism is small, and it is not done at all.
HELD_OUT_THRESHOLDS, FEW = 512, 2000


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """One classifier at a condition: how it is used, what it costs on new cases, and how it compares with the choice.

    `same` says that it decides as the choice does; `compared` is None then.
    """

    choice: Choice
    estimate: float
    lower: float
    upper: float
    same: bool
    compared: Comparison | None


class Entrants:
    """Several classifiers on the same rows, each with its threshold policy.

    Parameters
    ----------
    rows : Rows
    policy : policy, or mapping of name to policy
    """

    def __init__(self, rows: Rows, policy: Any) -> None:
        for name in rows.names:
            if name in TRIVIAL:
                raise InputError(f"`scores` must not use the names of the trivial classifiers, got {name!r}")
        self.names = rows.names
        self.sample = rows.with_weight()
        rules = named_policies(policy, self.names)
        self.curves: dict[str, CostCurve] = {name: curve_in(self.sample, name, rules[name]) for name in self.names}
        self._choices: dict[tuple[str, OperatingCondition], Choice] = {}

    def follows_costs(self, name: str) -> bool:
        """Return whether a classifier's threshold is chosen on these rows."""
        policy = self.curves[name].policy
        return policy is not None and policy.chosen_here

    def roc(self, name: str) -> RocCurve:
        """Return the ROC curve of a classifier with all its points."""
        return self.sample.roc(name, "all")

    def choice(self, name: str, where: OperatingCondition) -> Choice:
        """Return how a classifier is used at a condition.

        A threshold that is chosen here is the cheapest with some alarms, but not all: without, the classifier would be
        one of the trivial ones, which compete by themselves.
        """
        key = (name, where)
        if key not in self._choices:
            self._choices[key] = self._choice(name, where)
        return self._choices[key]

    def _choice(self, name: str, where: OperatingCondition) -> Choice:
        curve = self.curves[name]
        step = int(curve.step_at(where.pc))
        if self.follows_costs(name):
            found = None
            if self.sample.positive.size > MANY and 0.0 < curve.fpr[step] + 1.0 - curve.fnr[step] < 2.0:
                assert curve.roc is not None
                found = cheapest_with_alarms(curve.roc, where)  # a vertex of the hull: nothing else is cheaper
            found = found or cheapest_with_alarms(self.roc(name), where)
            if found is not None:
                return found
            best = cheapest_of(trivial_choices(where))[0]
            return choice_at(name, best.threshold, best.fpr, best.tpr, where)
        threshold = float(curve.threshold_at(where.pc))
        rates = float(curve.fpr[step]), 1.0 - float(curve.fnr[step])
        return choice_at(name, threshold, *rates, where, curve.score_below(threshold))

    def cut(self, name: str, pc: float) -> float:
        """Return the score from which a classifier predicts positive at an operating point."""
        if self.follows_costs(name):
            return self.choice(name, OperatingCondition.from_pc(pc)).threshold
        cut = float(self.curves[name].cuts_at(np.array([pc]))[0])
        # A threshold that no score here reaches is still one that others may reach.
        return cut if math.isfinite(cut) else float(self.curves[name].threshold_at(pc))

    def spread_out(self, name: str, most: int, used: Sequence[float] = ()) -> FloatArray:
        """Return thresholds all along the scores, denser where few cases decide: at the ends and near those in use."""
        scores = self.sample.scores[name]
        if scores.size > 16 * ROWS:
            scores = scores[self.few_rows(np.arange(scores.size))]
        distinct = np.unique(scores).astype(np.float64)
        n = distinct.size - 1
        if n <= most:
            return distinct[1:]
        parts = [np.linspace(1, n, most // 4)]
        ends = np.geomspace(1, n / 2, most // 8)
        parts += [ends, n + 1 - ends]
        if used:
            near = np.searchsorted(distinct, np.unique(used))
            steps = np.geomspace(1, n / 2, max(2, most // 4 // near.size))
            parts += [(near[:, None] + sign * steps).ravel() for sign in (-1, 1)]
        ranks = np.unique(np.clip(np.rint(np.concatenate(parts)), 1, n))
        return distinct[ranks.astype(np.int64)]

    @cached_property
    def order(self) -> list[str]:
        """The classifiers in an order that depends on their scores alone, so that neither names nor places matter.

        Of several with the same scores and the same policy the first stands for all.
        """
        key = {name: int(self._hashes(name).sum(dtype=np.uint64)) for name in self.names}
        return sorted(dict.fromkeys(self.twins.values()), key=lambda name: (key[name], repr(self.curves[name].policy)))

    @cached_property
    def twins(self) -> dict[str, str]:
        """For each classifier the first one with the same scores and the same policy: itself, unless it is a copy."""
        found: dict[str, str] = {}
        for name in self.names:
            scores, rule = self.sample.scores[name], repr(self.curves[name].policy)
            found[name] = next(
                (
                    other
                    for other in dict.fromkeys(found.values())
                    if repr(self.curves[other].policy) == rule and np.array_equal(self.sample.scores[other], scores)
                ),
                name,
            )
        return found

    def _hashes(self, name: str) -> npt.NDArray[np.uint64]:
        """Return a hash of each row's score of one classifier."""
        bits = (self.sample.scores[name].astype(np.float64) + 0.0).view(np.uint64)
        bits = (bits ^ (bits >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        return bits + self.sample.positive.astype(np.uint64)

    @cached_property
    def keys(self) -> npt.NDArray[np.uint64]:
        """A number for each row that depends on its scores and its label alone."""
        total = np.zeros(self.sample.positive.size, dtype=np.uint64)
        for name in self.order:
            # What the scores of two classifiers have exchanged is another row, whatever the classifiers are called.
            hashes = self._hashes(name)
            total += hashes * (hashes.sum(dtype=np.uint64) | np.uint64(1))
        return total

    def few_rows(self, rows: IntArray) -> IntArray:
        """Return at most `ROWS` of some rows, picked by their scores alone."""
        if rows.size <= ROWS:
            return rows
        return rows[np.argpartition(self.keys[rows], ROWS)[:ROWS]]

    @cached_property
    def rows(self) -> tuple[IntArray, IntArray]:
        """The positive and the negative rows."""
        return np.flatnonzero(self.sample.positive), np.flatnonzero(~self.sample.positive)

    @cached_property
    def weights(self) -> tuple[FloatArray | None, FloatArray | None]:
        """The weights of the rows of each class."""
        weights = self.sample.weights
        return (None, None) if weights is None else (weights[self.rows[0]], weights[self.rows[1]])

    @cached_property
    def effective(self) -> tuple[float, float]:
        """Effective sample sizes."""
        pos, neg = (
            float(rows.size) if weight is None else counts.effective_number(weight)
            for rows, weight in zip(self.rows, self.weights, strict=True)
        )
        return pos, neg


class Contest:
    """Everybody at some operating points, as candidates that vary together.

    Parameters
    ----------
    entrants : Entrants
    points : sequence of pc
        The operating points that will be judged.
    given_choice : bool
        Whether to take thresholds and the winner for given, as if they had been chosen on other data.
    """

    def __init__(self, entrants: Entrants, points: Sequence[float], *, given_choice: bool) -> None:
        self.entrants = entrants
        self.names = entrants.names
        self.points = [float(pc) for pc in points]
        self.given_choice = given_choice

    def standings(
        self, where: OperatingCondition, level: float, use: str | None = None, *, limits: bool = True
    ) -> list[Standing]:
        """Return everybody at a condition, the choice first, then by cost.

        Parameters
        ----------
        where : OperatingCondition
            Its pc must be one of `points`.
        level : float
        use : str, optional
            The classifier to use; by default the cheapest one.
        limits : bool
            Whether the limits of each cost, and of what it may save, are wanted (NaN if not).
        """
        own = {name: self.entrants.choice(name, where) for name in self.names}
        listed = [*own.values(), *trivial_choices(where)]
        best = cheapest_of(listed)[0] if use is None else next(one for one in listed if one.classifier == use)
        rest = [one for one in listed if one is not best]
        rest.sort(key=lambda one: (one.normalized_cost, one.classifier in TRIVIAL, one.classifier))
        judge = _Judge(self, where, level, own, best)
        return judge.standings([best, *rest], limits=limits)

    @cached_property
    def grids(self) -> dict[str, FloatArray]:
        """The thresholds of each classifier that compete, increasing."""
        most = max(FEWEST, min(THRESHOLDS, ALL_THRESHOLDS // len(self.names)))
        grids = {}
        for name in self.names:
            if self.entrants.follows_costs(name) and not self.given_choice:
                used = [self.entrants.choice(name, OperatingCondition.from_pc(pc)).threshold for pc in self.points]
                used = [cut for cut in used if math.isfinite(cut)]
                cuts = np.concatenate([self.entrants.spread_out(name, most, used), used])
            else:
                cuts = np.array([self.entrants.cut(name, pc) for pc in self.points])
            grids[name] = np.unique(cuts[np.isfinite(cuts)])
        return grids

    @cached_property
    def cells(self) -> dict[str, tuple[Cells, Cells]]:
        """How many thresholds each score of each class reaches."""
        found = {}
        for name in self.names:
            cell = np.searchsorted(self.grids[name], self.entrants.sample.scores[name], side="right").astype(np.int32)
            found[name] = (cell[self.entrants.rows[0]], cell[self.entrants.rows[1]])
        return found

    @cached_property
    def candidates(self) -> Candidates | None:
        """All candidates; None if no classifier has a threshold."""
        numbers = [self.grids[name].size for name in self.entrants.order]
        if not sum(numbers):
            return None
        pos, neg = (
            None if rows.size <= ROWS else np.searchsorted(rows, np.sort(self.entrants.few_rows(rows)))
            for rows in self.entrants.rows
        )
        return Candidates.of_cells(
            (
                [self.cells[name][0] for name in self.entrants.order],
                [self.cells[name][1] for name in self.entrants.order],
            ),
            numbers,
            self.entrants.weights,
            (pos, neg),
            self.entrants.effective,
        )

    @cached_property
    def held_out(self) -> HeldOut | None:
        """The rows in folds, for costs of choices on rows that took no part in them; None if there are very many."""
        n = self.entrants.sample.positive.size
        if n > MANY or not sum(grid.size for grid in self.grids.values()):
            return None
        folds = tuple(dealt(self.entrants.keys[rows], 4 if n <= FEW else 2) for rows in self.entrants.rows)
        counted = {}
        for name in self.entrants.order:
            grid = self.grids[name]
            if self.entrants.follows_costs(name):
                grid = np.union1d(grid, self.entrants.spread_out(name, HELD_OUT_THRESHOLDS))
            cell = np.searchsorted(grid, self.entrants.sample.scores[name], side="right")
            cells = cell[self.entrants.rows[0]], cell[self.entrants.rows[1]]
            counted[name] = FoldCounts.of(cells, (folds[0], folds[1]), self.entrants.weights, grid.size)
        return HeldOut(counted)

    @cached_property
    def starts(self) -> dict[str, int]:
        """Where each classifier's candidates begin."""
        sizes = [self.grids[name].size for name in self.entrants.order]
        return dict(zip(self.entrants.order, [sum(sizes[:i]) for i in range(len(sizes))], strict=True))

    def number_of(self, name: str, pc: float) -> int | None:
        """Return which candidate a classifier is at an operating point; None if it is a trivial one there."""
        cut, twin = self.entrants.cut(name, pc), self.entrants.twins[name]
        if not math.isfinite(cut):
            return None
        return self.starts[twin] + int(np.searchsorted(self.grids[twin], cut))

    def allowed(self, pc: float) -> BoolArray:
        """Return which candidates compete at an operating point."""
        assert self.candidates is not None
        n_pos, n_neg = self.candidates.sizes
        misses, alarms = self.candidates.misses, self.candidates.alarms
        never = (misses >= n_pos * (1 - 1e-12)) & (alarms <= 0)
        always = (misses <= 0) & (alarms >= n_neg * (1 - 1e-12))
        useful = ~never & ~always
        mask = np.zeros(useful.size, dtype=np.bool_)
        for name in self.entrants.order:
            own = slice(self.starts[name], self.starts[name] + self.grids[name].size)
            if self.entrants.follows_costs(name) and not self.given_choice:
                mask[own] = useful[own]
            if (i := self.number_of(name, pc)) is not None:  # what is in use competes in any case
                mask[i] = True
        return mask

    def discordant(self, name: str, cut: float) -> tuple[FloatArray, ...]:
        """Return the rows that only a candidate, only one classifier at a threshold gets wrong, in each class."""
        g = int(np.searchsorted(self.grids[name], cut)) + 1
        found = []
        for side in (0, 1):
            weight = self.entrants.weights[side]
            own = self.cells[name][side]
            wrong = own < g if side == 0 else own >= g
            scale = 1.0 if weight is None else self.entrants.effective[side] / float(weight.sum())
            only_rival, only_own = [], []
            for other in self.entrants.order:
                number = self.grids[other].size
                cell = self.cells[other][side]
                tables = [
                    np.bincount(cell[mask], None if weight is None else weight[mask], number + 1) * scale
                    for mask in (wrong, ~wrong)
                ]
                below = [t.cumsum()[:-1] for t in tables]
                above = [t[::-1].cumsum()[::-1][1:] for t in tables]
                only_rival.append(below[1] if side == 0 else above[1])
                only_own.append(above[0] if side == 0 else below[0])
            found += [np.concatenate(only_rival), np.concatenate(only_own)]
        return tuple(found)


class _Judge:
    """Everybody at one condition beside the choice."""

    def __init__(
        self, contest: Contest, where: OperatingCondition, level: float, own: Mapping[str, Choice], best: Choice
    ) -> None:
        self.contest, self.where, self.level, self.best = contest, where, level, best
        self.least = min(where.pc, 1.0 - where.pc)
        self.field: FieldAt | None = None
        self.place: dict[str, int] = {}
        if contest.candidates is not None:
            allowed = contest.allowed(where.pc)
            if allowed.any():
                self.field = contest.candidates.at(where.pc, allowed, given=contest.given_choice)
                for name, choice in own.items():
                    i = None if trivial(choice) else contest.number_of(name, where.pc)
                    if i is not None and allowed[i]:
                        self.place[name] = int(np.searchsorted(self.field.number, i))
        self.chosen = None if trivial(best) else self.place.get(best.classifier)

    def members(self, name: str) -> BoolArray:
        """Return the candidates of one classifier."""
        assert self.field is not None
        twin = self.contest.entrants.twins[name]
        mask: BoolArray = self.field.owner == self.contest.entrants.order.index(twin)
        return mask

    @cached_property
    def competing(self) -> BoolArray:
        """The candidates among which the choice was made: all, or itself alone if it is taken for given."""
        assert self.field is not None
        if not self.contest.given_choice:
            return np.ones(self.field.owner.size, dtype=np.bool_)
        mask = np.zeros(self.field.owner.size, dtype=np.bool_)
        if self.chosen is not None:
            mask[self.chosen] = True
        return mask

    @cached_property
    def discordant(self) -> tuple[FloatArray, ...]:
        """Rows that only a candidate, only the choice gets wrong."""
        assert self.field is not None
        cut = self.contest.entrants.cut(self.best.classifier, self.where.pc)
        every = self.contest.discordant(self.best.classifier, cut)
        return tuple(array[self.field.number] for array in every)

    def standings(self, choices: Sequence[Choice], *, limits: bool) -> list[Standing]:
        """Return the choice and its rivals."""
        costs = self._costs(choices) if limits else [(math.nan,) * 3] * len(choices)
        found = self._compared(choices, self.level if limits else None)
        return [
            Standing(choice, *cost, self._same(choice), found.get(choice.classifier))
            for choice, cost in zip(choices, costs, strict=True)
        ]

    def _costs(self, choices: Sequence[Choice]) -> list[tuple[float, float, float]]:
        """Return what each choice costs on new cases, with limits; a trivial one's cost is known."""
        open_ones = [one for one in choices if not trivial(one)]
        known = {one.classifier: (one.normalized_cost,) * 3 for one in choices if trivial(one)}
        if open_ones:
            assert self.field is not None
            places = np.array([self.place[one.classifier] for one in open_ones])
            if self.contest.given_choice:
                limits = [self.field.given_limits(int(i), self.level) for i in places]
                told = [(one.normalized_cost, *ends) for one, ends in zip(open_ones, limits, strict=True)]
            else:
                shifts = []
                for one, i in zip(open_ones, places, strict=True):
                    among = self.competing if one is self.best else self.members(one.classifier)
                    shifts.append(self.field.shifts(int(i), self.level, among, self.least, self.held_out(one)))
                estimate, low, high = np.array(shifts).T
                lower, upper = self.field.limits(places, low, high)
                told = list(zip(np.clip(estimate, lower, upper).tolist(), lower.tolist(), upper.tolist(), strict=True))
            known |= {one.classifier: numbers for one, numbers in zip(open_ones, told, strict=True)}
        return [known[one.classifier] for one in choices]

    def _same(self, choice: Choice) -> bool:
        """Return whether a choice decides as the best does."""
        return choice is self.best or (trivial(choice) and self._corner(choice) == self._corner(self.best))

    def held_out(self, choice: Choice) -> float | None:
        """Return the cost of choices made without a fold on that fold: of all candidates, or of one classifier's."""
        if self._held_out is None:
            return None
        return (
            self._held_out[0]
            if choice is self.best
            else self._held_out[1][self.contest.entrants.twins[choice.classifier]]
        )

    @cached_property
    def _held_out(self) -> tuple[float, dict[str, float]] | None:
        contest = self.contest
        if contest.held_out is None:
            return None
        only = {
            name: None if (i := contest.number_of(name, self.where.pc)) is None else i - contest.starts[name]
            for name in contest.entrants.order
            if not contest.entrants.follows_costs(name)
        }
        return contest.held_out.costs(self.where.pc, only)

    @staticmethod
    def _corner(choice: Choice) -> float | None:
        return choice.fpr if trivial(choice) else None

    def _compared(self, choices: Sequence[Choice], level: float | None) -> dict[str, Comparison]:
        """Return how each rival compares with the choice."""
        rivals = [one for one in choices if not self._same(one)]
        known, others = [one for one in rivals if trivial(one)], [one for one in rivals if not trivial(one)]
        costs = np.array([one.normalized_cost for one in known])
        if self.chosen is None:
            best = self.best.normalized_cost  # both costs are known exactly
            told = [Comparison(0.0 if cost > best else 1.0, best - cost) for cost in costs.tolist()]
        else:
            assert self.field is not None
            told = self.field.beats_known(self.chosen, costs, level, self.competing, self.least) if known else []
        found = {one.classifier: compared for one, compared in zip(known, told, strict=True)}
        if others:
            assert self.field is not None
            members = [np.flatnonzero(self.members(one.classifier)) for one in others]
            if self.chosen is None:
                cost = self.best.normalized_cost
                told = [self.field.beaten_by_known(cost, own, level, self.competing) for own in members]
            else:
                told = self.field.beaten(self.chosen, members, self.discordant, level, self.competing)
            found |= {one.classifier: compared for one, compared in zip(others, told, strict=True)}
        return found


def trivial(choice: Choice) -> bool:
    """Return whether a choice never alarms, or always does, so that its cost needs no data.

    That is so by its threshold; a real threshold that raises no alarm on these rows may raise some on others.
    """
    return choice.classifier in TRIVIAL or math.isinf(choice.threshold)


def adjusted(standings: Sequence[Standing]) -> FloatArray:
    """Return the p-values of all rivals of the choice, adjusted by Hochberg's method; NaN for the same decision."""
    p = np.array([math.nan if one.compared is None else one.compared.p_value for one in standings])
    tested = ~np.isnan(p)
    p[tested] = hochberg(p[tested])
    return p
