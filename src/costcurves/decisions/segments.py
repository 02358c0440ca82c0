"""The answer for each segment of the cases, and whether a separate rule would save anything there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from costcurves._base.errors import InputError
from costcurves._base.results import jsonable
from costcurves._base.validation import BoolArray, shown
from costcurves.conditions.condition import OperatingCondition
from costcurves.curves.choices import ALWAYS_NEGATIVE, ALWAYS_POSITIVE, Choice
from costcurves.decisions.entrants import Entrants
from costcurves.decisions.recommend import Recommendation, recommend_here
from costcurves.decisions.rows import Rows
from costcurves.decisions.saving import Saving

# A column with more values than this does not divide cases into segments.
MOST = 50
MISSING = "(missing)"


@dataclass(frozen=True, slots=True, eq=False)
class SegmentAnswer:
    """The recommendation for the cases of one segment at a condition.

    `recommendation` and `saving`, which is what it saves against the rule for all cases, are at a level at which the
    statements about all segments hold together. They are None if the segment has cases of one class only.
    """

    segment: str
    n: int
    n_pos: int
    condition: OperatingCondition | None
    recommendation: Recommendation | None
    saving: Saving | None

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain Python values, without those classifiers that are not recommended."""
        told: dict[str, Any] = {"segment": self.segment, "rows": self.n, "positives": self.n_pos}
        found = self.recommendation
        if found is None or self.saving is None:
            return told | dict.fromkeys(("condition", "best", "cost", "sure", "rivals", "level", "saving"))
        ends = ("estimate", "lower", "upper")
        return told | {
            "condition": found.condition._records()[0],
            "best": jsonable(found.best),
            "cost": {end: float(getattr(found, f"money_{end}")[0]) for end in ends},
            "sure": found.sure,
            "rivals": list(found.rivals),
            "level": found.level,
            "saving": self.saving.to_dict(),
        }


def check_segments(slices: Any, size: int) -> tuple[tuple[str, BoolArray], ...]:
    """Return the names of the segments and which cases belong to each; the largest segment comes first."""
    if isinstance(slices, (str, bytes)) or not hasattr(slices, "__iter__"):
        raise InputError(f"`slices` must have one value per case, got {shown(slices)} ({type(slices).__name__})")
    values = [MISSING if value is None or value != value else str(value) for value in slices]
    if len(values) != size:
        raise InputError(f"`slices` must have one value for each of the {size} cases, got {len(values)}")
    counts = Counter(values)
    if len(counts) > MOST:
        raise InputError(f"`slices` must have at most {MOST} different values, got {len(counts)}")
    column = np.array(values, dtype=object)
    order = sorted(counts, key=lambda name: (-counts[name], name))
    return tuple((name, np.asarray(column == name, dtype=np.bool_)) for name in order)


def segment_condition(where: OperatingCondition, segment: Rows, everybody: Rows) -> OperatingCondition:
    """Return the condition of a segment, whose odds of a positive differ from those of all cases as in the data."""
    odds = [_odds(rows) for rows in (segment, everybody)]
    was = where.prevalence / (1.0 - where.prevalence)
    now = was * odds[0] / odds[1]
    if where.pc_only:
        pc = where.pc * odds[0] / (where.pc * odds[0] + (1.0 - where.pc) * odds[1])
        return OperatingCondition.from_pc(pc)
    return replace(where, prevalence=now / (1.0 + now))


def _odds(rows: Rows) -> float:
    weight = np.ones(rows.positive.size) if rows.weights is None else rows.weights
    return float(weight[rows.positive].sum() / weight[~rows.positive].sum())


def segment_answers(
    rows: Rows,
    segments: tuple[tuple[str, BoolArray], ...],
    policy: Any,
    where: OperatingCondition,
    everywhere: Choice,
    level: float,
) -> tuple[SegmentAnswer, ...]:
    """Return the answers for all segments, with statements that hold together with the given probability.

    Parameters
    ----------
    rows : Rows
        All cases.
    segments : tuple of names and masks
    policy : policy, or mapping of name to policy
    where : OperatingCondition
        Of all cases.
    everywhere : Choice
        The rule for all cases, against which a rule of a segment's own is judged.
    level : float
        Each segment gets an equal share of what it leaves out (Bonferroni's method).
    """
    each = 1.0 - (1.0 - level) / len(segments)
    answers = []
    for name, mask in segments:
        part = rows.some(mask).with_weight()
        told = (name, int(mask.sum()), int(part.positive.sum()))
        if part.positive.all() or not part.positive.any():
            answers.append(SegmentAnswer(*told, None, None, None))
            continue
        here = segment_condition(where, part, rows)
        found = recommend_here(Entrants(part, policy), here, each)
        rule: tuple[str, float | None] = everywhere.classifier, everywhere.threshold
        if np.isinf(everywhere.threshold):
            rule = ALWAYS_NEGATIVE if everywhere.threshold > 0 else ALWAYS_POSITIVE, None
        answers.append(SegmentAnswer(*told, here, found, found.saving(*rule)))
    return tuple(answers)
