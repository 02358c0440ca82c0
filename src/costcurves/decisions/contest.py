"""Several classifiers on the same rows, and the two trivial ones: which is chosen, and which may be as good.

All recommendations are made with this module.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from costcurves._base.validation import BoolArray, FloatArray
from costcurves.conditions.condition import OperatingCondition
from costcurves.curves.choices import TRIVIAL, Choice, cheapest_of, trivial_choices
from costcurves.decisions.entrants import Entrants
from costcurves.inference.candidates import Competition, free_grid
from costcurves.inference.family import hochberg
from costcurves.inference.selection import Comparison, FieldAt


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


class Contest:
    """Everybody at some operating points, as candidates that vary together.

    Parameters
    ----------
    entrants : Entrants
    points : sequence of pc
        The operating points that will be judged.
    given_choice : bool
        Whether to take thresholds and the winner as given, as if they had been chosen on other data.
    beside : mapping of name to threshold, optional
        Thresholds that compete too.
    """

    def __init__(
        self,
        entrants: Entrants,
        points: Sequence[float],
        *,
        given_choice: bool,
        beside: Mapping[str, float] | None = None,
    ) -> None:
        self.entrants = entrants
        self.names = entrants.names
        self.points = [float(pc) for pc in points]
        self.given_choice = given_choice
        self.beside = {entrants.twins.get(name, name): cut for name, cut in (beside or {}).items()}
        self._tables: dict[tuple[str, str, int], FloatArray] = {}

    def standings(
        self, where: OperatingCondition, level: float, use: str | None = None, *, limits: bool = True
    ) -> list[Standing]:
        """Return all candidates at a condition, the choice first, then by cost.

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
        judge, choices = self._judged(where, level, use)
        return judge.standings(choices, limits=limits)

    def saving(self, where: OperatingCondition, level: float, use: str, rival: str) -> tuple[float, float, float]:
        """Return limits of what one of the entrants saves against another, and how much of that may be luck.

        The lower limit allows for the choice of the cheapest among all, or of the threshold alone if another one is
        named. The choice makes the saving look larger than it is, so that the upper limit need not allow for it. The
        last number is the standard error of the difference, or 0 if the data did not choose between the two.
        """
        judge, choices = self._judged(where, level, use)
        judge.named = cheapest_of(choices)[0].classifier != use
        other = next(one for one in choices if one.classifier == rival)
        return (*judge.saving(other), judge.luck(other))

    def _judged(self, where: OperatingCondition, level: float, use: str | None) -> tuple[_Judge, list[Choice]]:
        """Return all competitors at a condition, the choice first and the others by cost, and what judges them."""
        own = {name: self.entrants.choice(name, where) for name in self.names}
        listed = [*own.values(), *trivial_choices(where)]
        best = cheapest_of(listed)[0] if use is None else next(one for one in listed if one.classifier == use)
        rest = [one for one in listed if one is not best]
        rest.sort(key=lambda one: (one.normalized_cost, one.classifier in TRIVIAL, one.classifier))
        return _Judge(self, where, level, own, best), [best, *rest]

    @cached_property
    def field(self) -> Competition:
        """The candidates of all classifiers."""
        entrants, grids = self.entrants, {}
        chosen_here = {name for name in self.names if entrants.follows_costs(name)}
        free = set() if self.given_choice else chosen_here
        for name in self.names:
            if name in free:
                used = [entrants.choice(name, OperatingCondition.from_pc(pc)).threshold for pc in self.points]
                cuts = free_grid(entrants.scored, name, used)
            else:
                cuts = np.array([entrants.cut(name, pc) for pc in self.points])
            cuts = np.append(cuts, self.beside.get(name, math.inf))
            grids[name] = np.unique(cuts[np.isfinite(cuts)])
        return Competition(entrants.scored, grids, free, chosen_here)

    def number_of(self, name: str, pc: float) -> int | None:
        """Return which candidate a classifier is at an operating point; None if it is a trivial one there."""
        cut = self.entrants.cut(name, pc)
        return self.number_at(name, cut) if math.isfinite(cut) else None

    def number_at(self, name: str, cut: float) -> int:
        """Return which candidate a classifier is at one of the thresholds that compete."""
        return self.field.number_at(self.entrants.twins[name], cut)

    def allowed(self, pc: float) -> BoolArray:
        """Return which candidates compete at an operating point; what is in use competes in any case."""
        in_use = (self.number_of(name, pc) for name in self.entrants.order)
        return self.field.allowed(i for i in in_use if i is not None)

    def discordant(self, name: str, cut: float) -> tuple[FloatArray, ...]:
        """Return, for each class, the rows that only a candidate gets wrong and those that only a given rule does."""
        g = int(np.searchsorted(self.field.grids[name], cut)) + 1
        found = []
        for side in (0, 1):
            only_rival, only_own = [], []
            for other in self.entrants.order:
                table = self._together(name, other, side)
                low, high = table[:g].sum(axis=0), table[g:].sum(axis=0)
                if side == 0:  # a positive below a threshold is missed
                    only_rival.append(high.cumsum()[:-1])
                    only_own.append(low[::-1].cumsum()[::-1][1:])
                else:
                    only_rival.append(low[::-1].cumsum()[::-1][1:])
                    only_own.append(high.cumsum()[:-1])
            found += [np.concatenate(only_rival), np.concatenate(only_own)]
        return tuple(found)

    def _together(self, name: str, other: str, side: int) -> FloatArray:
        """Return how many rows of a class reach each number of thresholds of one classifier and of another.

        They are effective rows. All conditions of a range use the same tables.
        """
        key = (name, other, side)
        if key not in self._tables:
            weight = self.entrants.scored.side_weights[side]
            shape = self.field.grids[name].size + 1, self.field.grids[other].size + 1
            cell = self.field.cells[name][side] * np.int32(shape[1]) + self.field.cells[other][side]
            scale = 1.0 if weight is None else self.entrants.effective[side] / float(weight.sum())
            self._tables[key] = np.asarray(np.bincount(cell, weight, shape[0] * shape[1]).reshape(shape) * scale, float)
        return self._tables[key]


class _Judge:
    """Everybody at one condition beside the choice."""

    def __init__(
        self, contest: Contest, where: OperatingCondition, level: float, own: Mapping[str, Choice], best: Choice
    ) -> None:
        self.contest, self.where, self.level, self.best = contest, where, level, best
        self.named = False  # whether the choice was named, instead of being found among all
        self.least = min(where.pc, 1.0 - where.pc)
        self.field: FieldAt | None = None
        self.place: dict[str, int] = {}
        candidates = contest.field.candidates
        if candidates is not None:
            allowed = contest.allowed(where.pc)
            if allowed.any():
                shared = contest.field.shared_draws(len(contest.points))
                self.field = candidates.at(where.pc, allowed, given=contest.given_choice, shared=shared)
                for name, choice in own.items():
                    i = None if trivial(choice) else contest.number_of(name, where.pc)
                    if i is not None and allowed[i]:
                        self.place[name] = int(np.searchsorted(self.field.number, i))
        self.chosen = None if trivial(best) else self.place.get(best.classifier)

    def stand_in(self, choice: Choice) -> str:
        """Return the classifier whose numbers are those of a choice, so that names and places do not matter."""
        entrants, best = self.contest.entrants, self.best.classifier
        return entrants.twins[best] if choice is self.best else entrants.first_like(choice.classifier, best)

    def members(self, name: str) -> BoolArray:
        """Return the candidates of one classifier."""
        assert self.field is not None
        twin = self.contest.entrants.twins[name]
        mask: BoolArray = self.field.owner == self.contest.entrants.order.index(twin)
        return mask

    @cached_property
    def competing(self) -> BoolArray:
        """The candidates among which the choice was made: all, those of a named one, or itself alone if it is given."""
        assert self.field is not None
        if not self.contest.given_choice and not self.named:
            return np.ones(self.field.owner.size, dtype=np.bool_)
        if not self.contest.given_choice and self.best.classifier not in TRIVIAL:
            return self.members(self.best.classifier)
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
        if limits and self.best is choices[0] and not self.named and not self.contest.given_choice:
            # What was not chosen, because it looks dearer, is not expected to cost less than the choice.
            costs = [costs[0], *((min(max(own, costs[0][0]), most), least, most) for own, least, most in costs[1:])]
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
            places = np.array([self.place[self.stand_in(one)] for one in open_ones])
            if self.contest.given_choice:
                limits = [self.field.given_limits(int(i), self.level) for i in places]
                told = [(one.normalized_cost, *ends) for one, ends in zip(open_ones, limits, strict=True)]
            else:
                shifts = []
                for one, i in zip(open_ones, places, strict=True):
                    among = self.competing if one is self.best else self.members(self.stand_in(one))
                    found = self.field.shifts(int(i), self.level, among, self.least, self.held_out(one))
                    # What was not chosen by its cost is expected to cost what it does here.
                    shifts.append(found if among.sum() > 1 else (one.normalized_cost, *found[1:]))
                estimate, low, high = np.array(shifts).T
                lower, upper = self.field.limits(places, low, high)
                told = list(zip(np.clip(estimate, lower, upper).tolist(), lower.tolist(), upper.tolist(), strict=True))
            known |= {one.classifier: numbers for one, numbers in zip(open_ones, told, strict=True)}
        return [known[one.classifier] for one in choices]

    def saving(self, rival: Choice) -> tuple[float, float]:
        """Return limits of what the choice saves against a rival, in normalized cost."""
        if self._same(rival):
            return 0.0, 0.0
        known = [trivial(one) for one in (self.best, rival)]
        # The limit that decides whether the rival is shown to cost more: whoever is sure of that shows a saving, too.
        # If the choice is taken as given, limits are those of the paired difference, on both sides.
        level = 0.5 + 0.5 * self.level if self.contest.given_choice and not any(known) else self.level
        lower = -self._compared([rival], level)[rival.classifier].saves
        if all(known):
            return lower, lower
        estimate, _, highest = self._costs([rival])[0]
        if known[0]:
            return lower, highest - self.best.normalized_cost
        if known[1]:
            return lower, rival.normalized_cost - self._costs([self.best])[0][1]
        assert self.field is not None
        upper = self.field.most_saved(self.place[rival.classifier], self.discordant, self.level)
        # A rival whose threshold was chosen looks cheaper than it is.
        return lower, upper + max(0.0, estimate - rival.normalized_cost)

    def luck(self, rival: Choice) -> float:
        """Return the standard error of the difference to a rival, or 0 if the data did not choose between the two."""
        named = self.named or self.contest.given_choice
        if named or trivial(rival) or self.field is None or self.chosen is None:
            return 0.0
        if not self.contest.entrants.follows_costs(rival.classifier):
            return 0.0
        return float(self.field.spread_from(self.chosen)[self.place[self.stand_in(rival)]])

    def _same(self, choice: Choice) -> bool:
        """Return whether a choice decides as the best does."""
        return choice is self.best or (trivial(choice) and self._corner(choice) == self._corner(self.best))

    def held_out(self, choice: Choice) -> float | None:
        """Return the cost of choices made without a fold on that fold: of all candidates, or of one classifier's."""
        if self._held_out is None:
            return None
        return self._held_out[0] if choice is self.best else self._held_out[1][self.stand_in(choice)]

    @cached_property
    def _held_out(self) -> tuple[float, dict[str, float]] | None:
        contest = self.contest
        if contest.field.held_out is None:
            return None
        only = {
            name: None if (i := contest.number_of(name, self.where.pc)) is None else i - contest.field.starts[name]
            for name in contest.entrants.order
            if not contest.entrants.follows_costs(name)
        }
        return contest.field.held_out.costs(self.where.pc, only)

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
            members = [np.flatnonzero(self.members(self.stand_in(one))) for one in others]
            if self.chosen is None:
                cost = self.best.normalized_cost
                told = [self.field.beaten_by_known(cost, own, level, self.competing) for own in members]
            else:
                told = self.field.beaten(self.chosen, members, self.discordant, level, self.competing)
            found |= {one.classifier: compared for one, compared in zip(others, told, strict=True)}
        return found


def trivial(choice: Choice) -> bool:
    """Return whether a choice never alarms, or always does, so that its cost needs no data.

    Only its threshold matters: a finite one that raises no alarm on these rows may raise some on others.
    """
    return choice.classifier in TRIVIAL or math.isinf(choice.threshold)


def adjusted(standings: Sequence[Standing]) -> FloatArray:
    """Return the p-values of all rivals of the choice, adjusted by Hochberg's method; NaN for the same decision."""
    p = np.array([math.nan if one.compared is None else one.compared.p_value for one in standings])
    tested = ~np.isnan(p)
    p[tested] = hochberg(p[tested])
    return p
