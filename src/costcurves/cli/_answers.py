"""The types of the commands' JSON answers, from which their schemas are made.

The description of a field stands beside its type, and the docstring of a class describes the object. The number at the
end of ``schema`` changes when a field changes its meaning or goes away.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from costcurves.cli._answer_parts import (
    CalibratedAt,
    Choice,
    ClassData,
    Condition,
    Currency,
    Data,
    FixedRule,
    Gates,
    HullCondition,
    Level,
    Mixture,
    PolicyName,
    Range,
    Real,
    Risks,
    Scenario,
    Share,
    Span,
    Stretch,
    Threshold,
    ThresholdSet,
    ThresholdsFrom,
    Vertex,
    Winners,
)
from costcurves.cli._schemas import Bounds


class Judged(TypedDict):
    """A classifier at its threshold, and how sure it is that it costs more than the choice."""

    classifier: str
    threshold: Threshold
    fpr: Share
    tpr: Share
    normalized_cost: Annotated[float, "Cost on these rows, as a share of the cost of getting every case wrong."]
    lower: Annotated[float, "Lower limit of the cost on new rows."]
    upper: Annotated[float, "Upper limit of the cost on new rows."]
    expected_cost: Annotated[float, "Cost per case in money, on these rows."]
    money_lower: float
    money_upper: float
    p_value: Annotated[
        float | None,
        "p-value of the claim that it costs more than the choice at every threshold; null if it decides the same.",
    ]
    adjusted: Annotated[float | None, "The p-value, adjusted for all rivals by Hochberg's method."]
    worse: Annotated[
        bool | None, "Whether it is shown to cost more than the choice; null if it makes the same decisions."
    ]
    estimate: Annotated[float, "Cost to expect on new rows, as a share of the cost of getting every case wrong."]
    money_estimate: Annotated[float, "Cost per case in money to expect on new rows."]
    same: Annotated[bool, "Whether it makes the same decisions as the choice."]
    saves: Annotated[
        float | None,
        "The most that it may save (upper limit), as a share of the cost of getting every case wrong.",
    ]
    money_saves: Annotated[float | None, "The most that it may save per case in money."]


class AtCondition(TypedDict):
    """An answer at one condition."""

    scenario: Scenario
    condition: Condition
    best: Annotated[str, "The cheapest classifier."]
    runner_up: str
    sure: Annotated[bool, "Whether all others are shown to cost more."]
    rivals: Annotated[list[str], "Those that are not shown to cost more."]
    level: Level
    classifiers: Annotated[list[Judged], "The choice first, then the others by their cost on these rows."]
    given_choice: Annotated[
        bool, "Whether thresholds and winner are taken as given instead of allowing for their choice."
    ]
    threshold_set: Annotated[
        ThresholdSet | None,
        "Thresholds that are not shown to cost more; null without a classifier or if none were chosen on these rows.",
    ]


class Regret(TypedDict):
    """What a classifier loses over a range."""

    classifier: str
    largest: Annotated[float, "Largest loss of normalized cost against the best classifier."]
    at_pc: Share
    mean: float


class OverRange(TypedDict):
    """An answer over a range."""

    scenario: Scenario
    range: Range
    best: Annotated[str, "The classifier that loses least in the worst case."]
    sure: Annotated[bool, "Whether all others are shown to cost more throughout the range."]
    rivals: Annotated[list[str], "Those that are not shown to cost more throughout the range."]
    beaten_by: Annotated[list[str], "Those that are shown to cost less somewhere in the range."]
    level: Level
    regret: Annotated[list[Regret], "In the order of the largest loss, smallest first."]
    ranges: Annotated[list[Stretch], "Which classifier is best where."]
    given_choice: Annotated[
        bool, "Whether thresholds and winner are taken as given instead of allowing for their choice."
    ]
    rule: FixedRule
    shown_worse: Annotated[dict[str, list[Span]], "Where each one is shown to cost more than the best, in pc."]
    shown_better: Annotated[dict[str, list[Span]], "Where each one is shown to cost less than the best, in pc."]
    steps: Annotated[list[Stretch], "The thresholds of the best classifier within the range."]


class WithinLimit(TypedDict):
    """An answer under a limit."""

    scenario: None
    limit: Annotated[str, "The limit in words."]
    classifier: str
    threshold: Real
    fpr: Annotated[Share, "On these rows."]
    tpr: Annotated[Share, "On these rows."]
    mixture: Mixture
    alarms: Annotated[float | None, "Expected number of alarms per 100 cases if they are limited, otherwise null."]
    precision: Annotated[
        float | None, "Share of the alarms that are right if it is limited; null otherwise, and if there are no alarms."
    ]
    confidence: Annotated[
        float | None,
        "Probability with which the limit is kept on new cases; null if it is only known to hold on these rows.",
    ]
    bound: Annotated[
        float | None, "What is guaranteed of the limited rate with this confidence; null without a confidence."
    ]
    guarantee: Annotated[str, "The guarantee in words; empty without a confidence."]


class Against(TypedDict):
    """What the choice, or the candidate, saves against the baseline."""

    scenario: Scenario
    candidate: Annotated[str, "The recommended classifier, or the one that was named."]
    baseline: Annotated[str, "The classifier in use."]
    verdict: Annotated[Literal["shown", "not shown", "shown otherwise"], "Whether the candidate is shown to cost less."]
    reason: str
    cases_needed: Annotated[int | None, "About how many rows would show it; null if that is settled or not known."]
    saving: Annotated[float | None, "Money saved per case to expect on new rows; null over a range."]
    saving_lower: Annotated[float | None, "Lower limit of the money saved per case; null over a range."]
    saving_upper: Annotated[float | None, "Upper limit of the money saved per case; null over a range."]
    text: Annotated[str, "The same in words."]


class Decide(TypedDict):
    """Which classifier to use, at which threshold, what it costs, and how sure that is."""

    schema: Literal["costcurves/decide/1"]
    data: Data
    currency: Currency
    policy: PolicyName
    calibrated_at: CalibratedAt
    thresholds_from: ThresholdsFrom
    decisions: list[AtCondition | OverRange | WithinLimit]
    against: Annotated[list[Against], "One entry for each scenario if there is a --baseline."]
    gates: Gates


class RangesAnswer(TypedDict):
    """Which classifier is best where."""

    schema: Literal["costcurves/ranges/1"]
    data: Data
    currency: Currency
    never_best: Annotated[list[str], "Classifiers that cannot be optimal."]
    ranges: list[Winners]


class Verdict(TypedDict):
    """What is shown of two classifiers in a part of the conditions."""

    pc_low: Share
    pc_high: Share
    better: Annotated[str, "A classifier, or 'undecided'."]


class Difference(TypedDict):
    """Normalized cost of a minus that of b, with its limits."""

    pc: list[float]
    estimate: list[float]
    lower: list[float]
    upper: list[float]


class Pair(TypedDict):
    """Two classifiers on the same rows."""

    a: str
    b: str
    verdicts: Annotated[list[Verdict], "From limits that hold jointly for all pairs and all conditions."]
    p_value: Annotated[float | None, "At a condition: the p-value of equal costs."]
    adjusted: Annotated[float | None, "The p-value, adjusted for all pairs by Holm's method."]
    difference: Difference


class Compare(TypedDict):
    """Which classifier costs significantly less than which other one."""

    schema: Literal["costcurves/compare/1"]
    data: Data
    currency: Currency
    policy: PolicyName
    calibrated_at: CalibratedAt
    thresholds_from: ThresholdsFrom
    level: Level
    scenario: Scenario
    pc: Annotated[Span, "The part of pc that was judged."]
    pairs: list[Pair]
    gates: Gates


class Vertices(TypedDict):
    """The corners of the curve."""

    pc: list[float]
    cost: list[float]


class Steps(TypedDict):
    """What is used between pc_low and pc_high."""

    pc_low: list[float]
    pc_high: list[float]
    fpr: list[float]
    fnr: list[float]
    threshold: list[Real]
    cost_low: list[float]
    cost_high: list[float]


class Curve(TypedDict):
    """A cost curve."""

    classifier: str
    area: Annotated[float, "Area under the cost curve."]
    operating_range: Annotated[list[Span], "The parts of pc in which it costs less than both trivial classifiers."]
    vertices: Vertices
    steps: Steps


class CurveAnswer(TypedDict):
    """What each classifier costs at every operating condition."""

    schema: Literal["costcurves/curve/1"]
    data: Data
    policy: PolicyName
    calibrated_at: CalibratedAt
    thresholds_from: ThresholdsFrom
    curves: list[Curve]


class ClassCost(TypedDict):
    """What a classifier of k classes costs."""

    classifier: str
    estimate: Annotated[float, "Cost per case."]
    lower: float
    upper: float
    risks: Risks


class Constant(TypedDict):
    """The cheapest way to predict the same class always."""

    classifier: str
    cost: Annotated[float, "Cost per case."]


class BCost(TypedDict):
    """What each classifier of k classes costs per case, with an interval."""

    schema: Literal["costcurves/bcost/1"]
    data: ClassData
    currency: Currency
    level: Level
    method: Annotated[str, "How the limits were found."]
    laplace: Annotated[float, "Number added to each cell of the counts."]
    classifiers: list[ClassCost]
    constant: Constant
    gates: Gates


class ClassPair(TypedDict):
    """Two classifiers of k classes on the same rows."""

    a: str
    b: str
    estimate: Annotated[float, "Cost of a minus cost of b."]
    lower: float
    upper: float
    p_value: Share
    adjusted: Annotated[
        Share,
        "p_value times the number of pairs (Bonferroni); it is at most 1 - level exactly if the limits exclude 0.",
    ]
    significant: bool


class BDeltaCost(TypedDict):
    """Which classifier of k classes costs least, on the same rows."""

    schema: Literal["costcurves/bdeltacost/1"]
    data: ClassData
    currency: Currency
    level: Level
    method: Annotated[str, "How the limits were found."]
    costs: Annotated[dict[str, float], "Cost per case of each classifier."]
    constants: Annotated[dict[str, float], "Cost per case of always predicting one class, for each class."]
    best: Annotated[str, "What costs least on these rows: a classifier, or one of the constants."]
    sure: Annotated[bool, "Whether all others, including the constants, are shown to cost more than the best."]
    rivals: Annotated[list[str], "Those that are not shown to cost more than the best."]
    risks: Annotated[
        Risks,
        "Rare, expensive errors of the best that these rows are too few to judge; a verdict that depends on them is "
        "not sure.",
    ]
    pairs: Annotated[
        list[ClassPair],
        "All pairs of classifiers, then each one against the cheapest of the constants. The limits hold jointly.",
    ]
    gates: Gates


class RareError(TypedDict):
    """An error that a test set of the planned size may not contain."""

    true: str
    predicted: str
    cost: float
    rate: Share
    chance_missed: Share


class Plan(TypedDict):
    """How many rows a test set needs."""

    schema: Literal["costcurves/plan/1"]
    data: ClassData
    currency: Currency
    n: Annotated[int, Bounds(1), "Number of rows needed."]
    goal: Literal["half_width", "difference"]
    target: Annotated[float, "The wanted half-width, or the difference to be found."]
    level: Level
    power: Annotated[float | None, Bounds(0, 1), "Probability to find the difference."]
    n_normal: Annotated[int, "Number of rows by the normal approximation."]
    n_range: Annotated[int, "Number of rows by the range of costs alone."]
    std: Annotated[float, "Standard deviation of the cost of one row."]
    rare: Annotated[list[RareError], "Errors that a test set of this size may not contain."]


class FindingDocument(TypedDict):
    """Something that may mislead, and what to do about it."""

    check: Annotated[str, "What was checked, such as reversed or duplicates."]
    severity: Annotated[
        Literal["error", "warning", "note"], "Answers are wrong, may be wrong, or there is something worth knowing."
    ]
    column: Annotated[str | None, "The classifier or column that it is about; null if it is about all."]
    rows: Annotated[int | None, "Number of rows concerned; null if it is not about rows."]
    message: Annotated[str, "What was found."]
    advice: Annotated[str, "What to do."]


class Doctor(TypedDict):
    """What may be wrong with a table of scores."""

    schema: Literal["costcurves/doctor/1"]
    data: Data
    findings: Annotated[list[FindingDocument], "The most severe first."]
    checks: Annotated[list[str], "All that was checked."]
    gates: Gates


class HullDecision(Choice):
    """The best choice on the hull at a condition."""

    scenario: Scenario
    condition: HullCondition
    ties: list[Choice]
    runner_up: Choice
    regret: Annotated[float, "Normalized cost lost by using the runner-up."]
    money_regret: float
    max_error: Annotated[float, "By how much the least normalized cost can be too high because the scores were binned."]
    unsettled: Annotated[
        list[str], "Other classifiers that could be the best because bins may hide a better threshold of theirs."
    ]


class Member(TypedDict):
    """A classifier of a hull's file, and where it came from; null where that is not known."""

    name: str
    can_be_best: Annotated[bool, "Whether it is the best at some condition."]
    source: Annotated[str | None, "Name of the table."]
    rows: Annotated[int | None, "Number of its rows."]
    positives: Annotated[int | None, "Number of its rows of the positive class."]
    positive: Annotated[str | None, "Its positive label."]
    added: Annotated[str | None, "When it was added, in UTC."]


class Hull(TypedDict):
    """The ROC convex hull of all classifiers seen so far."""

    schema: Literal["costcurves/hull/1"]
    currency: Currency
    classifiers: list[str]
    members: list[Member]
    never_best: list[str]
    vertices: Annotated[list[Vertex], "From (0, 0) to (1, 1)."]
    decisions: Annotated[list[HullDecision], "The answers at the conditions that were asked about."]
    ranges: Annotated[list[Winners], "Which classifier is best where, within the ranges that were asked about."]


# By the name of the command.
ANSWERS: dict[str, type] = {
    "bcost": BCost,
    "bdeltacost": BDeltaCost,
    "compare": Compare,
    "curve": CurveAnswer,
    "decide": Decide,
    "doctor": Doctor,
    "hull": Hull,
    "plan": Plan,
    "ranges": RangesAnswer,
}
