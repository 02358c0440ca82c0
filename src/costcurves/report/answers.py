"""The answers of a two-class report: what is recommended at conditions and over ranges, and how far that holds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from costcurves.conditions.condition import OperatingCondition
from costcurves.conditions.range import OperatingRange
from costcurves.curves.choices import Choice, Decision
from costcurves.curves.hull import RocHull
from costcurves.curves.ranges import Ranges
from costcurves.decisions.compare_many import ManyDifferences, PairwiseTests
from costcurves.decisions.entrants import Entrants
from costcurves.decisions.recommend import Recommendation, recommend_here
from costcurves.decisions.recommend_within import RangeRecommendation, recommend_over
from costcurves.decisions.saving import Saving
from costcurves.decisions.segments import SegmentAnswer

# What is said of a recommendation: everything else is shown to cost more; something may be as good; and the cheapest
# classifier on these cases is expected to cost more on new ones than doing without.
SURE, UNSURE, HOLLOW = "sure", "not sure", "no gain expected"
# The class of its light and of its badge on the page; the words of the verdict stand beside them.
LIGHTS = {SURE: "sure", UNSURE: "unsure", HOLLOW: "hollow"}


@dataclass(frozen=True, slots=True)
class Turn:
    """The condition beyond which another classifier is best on these cases: at a higher pc if `above`, or a lower one.

    `cost_fn` is the cost of a miss there, other things being equal; None if it is not known in money.
    """

    classifier: str
    pc: float
    above: bool
    cost_fn: float | None


def _log_odds(pc: float) -> float:
    return math.copysign(math.inf, pc - 0.5) if pc in (0, 1) else math.log(pc / (1 - pc))


@dataclass(frozen=True, slots=True, eq=False)
class ConditionAnswer:
    """The recommendation at one condition, the tests of all pairs there, and the range in which the choice holds.

    `decision` is the decision of the hull, with ties. `stretch` is the range of pc in which the chosen classifier is
    best. `before` and `after` are the best classifiers beyond its ends (None at 0 and 1). `saving` is what the
    recommendation saves against the baseline, if there is one.
    """

    name: str
    condition: OperatingCondition
    recommendation: Recommendation
    decision: Decision
    tests: PairwiseTests | None
    stretch: tuple[float, float]
    before: str | None
    after: str | None
    saving: Saving | None

    @property
    def verdict(self) -> str:
        """The verdict on the recommendation, as a word."""
        if self.recommendation.cheaper_unaided is not None:
            return HOLLOW
        return SURE if self.recommendation.sure else UNSURE

    @property
    def turn(self) -> Turn | None:
        """The nearest condition at which another classifier is best on these cases; None if there is none."""
        (low, high), where = self.stretch, self.condition
        ends = [(low, self.before, False), (high, self.after, True)]
        found = [(abs(_log_odds(pc) - _log_odds(where.pc)), pc, name, above) for pc, name, above in ends if name]
        if not found:
            return None
        _, pc, name, above = min(found)
        money = not where.pc_only and where.cost_fp > 0 and 0 < pc < 1
        return Turn(name, pc, above, where.with_pc(pc, by="cost_fn").cost_fn if money else None)

    @property
    def beaten(self) -> tuple[str, ...]:
        """The classifiers that are shown to cost more than the choice."""
        answer = self.recommendation
        return tuple(name for name, worse in zip(answer.classifier, answer.worse.tolist(), strict=True) if worse)

    @property
    def unbeaten(self) -> tuple[str, ...]:
        """The classifiers that may be as good as the choice."""
        return self.recommendation.rivals


@dataclass(frozen=True, slots=True, eq=False)
class RangeAnswer:
    """The recommendation for a range of conditions, and the answers at both of its ends."""

    name: str
    span: OperatingRange
    recommendation: RangeRecommendation
    ends: tuple[ConditionAnswer, ConditionAnswer]

    @property
    def verdict(self) -> str:
        """The verdict on the recommendation, as a word."""
        return SURE if self.recommendation.sure else UNSURE


Answer = ConditionAnswer | RangeAnswer


@dataclass(frozen=True, slots=True, eq=False)
class Slices:
    """The answers of all segments at one scenario, and the rule for all cases with which they are compared."""

    name: str
    everywhere: Choice
    segments: tuple[SegmentAnswer, ...]


def single_answers(answers: tuple[Answer, ...]) -> list[tuple[str, ConditionAnswer]]:
    """Return the answers at single conditions, with their names: of a range those at its ends."""
    found = []
    for answer in answers:
        ends = [answer] if isinstance(answer, ConditionAnswer) else answer.ends
        names = [answer.name] if isinstance(answer, ConditionAnswer) else [f"{answer.name}, {e.name}" for e in ends]
        found += list(zip(names, ends, strict=True))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """Gives answers at conditions from results that are computed once."""

    hull: RocHull
    stretches: list[tuple[str, float, float]]
    entrants: Entrants
    pairs: ManyDifferences | None
    level: float
    today: tuple[str, float | None] | None

    def condition(self, name: str, where: OperatingCondition) -> ConditionAnswer:
        """The decision at one condition with its certainty."""
        decision = self.hull.best(where)
        recommendation = recommend_here(self.entrants, where, self.level)
        hulls = all(self.entrants.follows_costs(name) for name in self.entrants.names)
        chosen = decision.classifier if hulls else recommendation.best.classifier
        stretches = self.stretches
        # The library gives the point between two stretches to the left one, as the decision does.
        at = next(i for i, (_, _, high) in enumerate(stretches) if where.pc <= high)
        own = [i for i, (owner, low, high) in enumerate(stretches) if owner == chosen and low <= where.pc <= high]
        at = own[0] if own else at
        _, low, high = stretches[at]
        return ConditionAnswer(
            name=name,
            condition=where,
            recommendation=recommendation,
            decision=decision,
            tests=None if self.pairs is None else self.pairs.at(where),
            stretch=(low, high),
            before=stretches[at - 1][0] if at else None,
            after=stretches[at + 1][0] if at + 1 < len(stretches) else None,
            saving=None if self.today is None else recommendation.saving(*self.today),
        )

    def span(self, name: str, span: OperatingRange) -> RangeAnswer:
        """Which classifiers can be best in a range, and what they cost at both ends."""
        low, high = span.corners
        return RangeAnswer(
            name=name,
            span=span,
            recommendation=recommend_over(self.entrants, span, self.level),
            ends=(self.condition("the low end", low), self.condition("the high end", high)),
        )


def winner_at(ranges: Ranges, pc: float) -> str:
    """Return who is best at a pc; the point between two ranges belongs to the left one."""
    return next(name for name, _, high in ranges if pc <= high)


def leaders_of(
    answers: tuple[Answer, ...], ranges: Ranges, start: OperatingCondition, names: tuple[str, ...], most: int
) -> tuple[str, ...]:
    """Return the first few classifiers that are recommended, or else the one that is best where the sliders start."""
    found: list[str] = []
    for answer in answers:
        found += [] if isinstance(answer, ConditionAnswer) else [answer.recommendation.best_name]
        found += [end.recommendation.best.classifier for _, end in single_answers((answer,))]
    known = [name for name in dict.fromkeys([*found, winner_at(ranges, start.pc)]) if name in names]
    return tuple(known[:most]) or names[:1]
