"""What the JSON answers of several commands have in common: numbers, the table that was read, gates, conditions."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from costcurves.cli._schemas import Bounds

Share = Annotated[float, Bounds(0, 1)]
Real = float | Literal["inf", "-inf"] | None  # JSON has no infinities
Span = tuple[float, float]
Scenario = Annotated[
    str | None, "Name in the file of scenarios, or null if the condition was given by command-line options."
]
Currency = Annotated[str, "Unit of all amounts of money; empty if none was given."]
Level = Annotated[Share, "Confidence level."]
Threshold = Annotated[
    Real, "A case is called positive if its score >= threshold; inf means never, and -inf means always."
]


PolicyName = Annotated[str, "How thresholds were set: optimal, bayes, a number, or validation (on other data)."]
CalibratedAt = Annotated[
    float | None, "Share of positives at which scores are taken for probabilities (policy bayes); null otherwise."
]
ThresholdsFrom = Annotated[str | None, "Table on which the thresholds were found."]


class ClassData(TypedDict):
    """The table that was read."""

    source: Annotated[str, "Name of the file."]
    rows: Annotated[int, Bounds(1), "Number of rows used."]
    dropped: Annotated[int, "Number of incomplete rows left out."]
    label: Annotated[str, "Column of the true classes."]
    classifiers: Annotated[list[str], "Columns of the predicted classes, or of the scores."]
    guessed: Annotated[list[str], "Options that were guessed from the columns."]


class Data(ClassData):
    """The table that was read."""

    positives: Annotated[int, "Number of rows of the positive class."]
    positive: Annotated[str, "The positive label."]
    weight: Annotated[str | None, "Column of the weights."]


class Gate(TypedDict):
    """A claim that was to be checked."""

    claim: Annotated[str, "What was asserted."]
    passed: bool
    verdict: Annotated[
        Literal["shown", "not shown", "shown otherwise"], "Whether the rows show the claim, or that it is false."
    ]
    reason: str
    cases_needed: Annotated[
        int | None,
        "About how many rows would show the claim (with 80 % probability, if estimates are true); null if it is "
        "settled, if the estimate speaks against it, or if it is not known.",
    ]


Gates = Annotated[list[Gate], "One entry for each --assert option and scenario."]


class HullCondition(TypedDict):
    """The operating condition."""

    prevalence: float
    cost_fp: Annotated[float, "Cost of a false alarm."]
    cost_fn: Annotated[float, "Cost of a miss."]
    baseline: Annotated[float, "Cost per case when every decision is right."]


class Condition(HullCondition):
    """The operating condition."""

    pc: Annotated[Share, "Probability-cost of the positives."]
    slope: Annotated[Real, "Slope of the iso-performance lines."]
    unit_cost: Annotated[float, "Money per unit of normalized cost."]


class ThresholdInterval(TypedDict):
    """Thresholds with low < threshold <= high."""

    low: Real
    high: Real
    text: Annotated[str, "The interval in words."]
    n_points: Annotated[int, "Number of thresholds in it that decide these rows differently."]
    fpr_low: Share
    fpr_high: Share
    tpr_low: Share
    tpr_high: Share
    cost_low: Annotated[float, "Least cost on these rows, as a share of the cost of getting every case wrong."]
    cost_high: float
    money_low: Annotated[float, "Least cost per case in money, on these rows."]
    money_high: float


class ThresholdSet(TypedDict):
    """The thresholds of one classifier that are not shown to cost more than its best one."""

    name: Annotated[str, "The classifier."]
    condition: Condition
    level: Level
    tolerance: None
    best: Annotated[Threshold, "The cheapest threshold on these rows."]
    best_text: Annotated[str, "The same in the fewest decimals that separate the same scores."]
    n_all: Annotated[int, "Number of thresholds of the classifier that decide these rows differently."]
    intervals: Annotated[list[ThresholdInterval], "From the highest down."]


class Range(TypedDict):
    """Lowest and highest value of each quantity."""

    prevalence: Span
    cost_fp: Span
    cost_fn: Span
    pc: Span
    slope: tuple[Real, Real]


class Stretch(TypedDict):
    """A part of the conditions in which one classifier is best."""

    classifier: str
    pc_low: Share
    pc_high: Share
    slope_low: Real
    slope_high: Real
    threshold_low: Real
    threshold_high: Real


class FixedRule(TypedDict):
    """The one classifier at one threshold that loses least over the whole range."""

    classifier: str
    threshold: Real
    fpr: float
    tpr: float
    largest: Annotated[float, "Largest loss of normalized cost."]
    money: Annotated[float, "Largest loss per case in money on these rows."]
    money_upper: Annotated[float, "Upper limit of the same on new cases."]


class Mixture(TypedDict):
    """The random choice between two rules that uses the limit up; with a confidence, the rule itself."""

    first: str
    first_threshold: Real
    second: str
    second_threshold: Real
    probability: Annotated[Share, "Probability of using the second rule."]
    fpr: float
    tpr: float


class Winners(TypedDict):
    """Which classifier is best where, over all conditions or within a range."""

    scenario: Scenario
    pc: Annotated[Span, "The part of pc that was asked about."]
    sensitive: Annotated[bool, "Whether the best classifier depends on the condition."]
    candidates: list[str]
    stretches: Annotated[list[Stretch], "In the order of increasing pc."]


class Risk(TypedDict):
    """A rare, expensive error."""

    true: str
    predicted: str
    cost: float
    count: Annotated[int, "How many times it was seen."]
    excess: Annotated[float, "What it may add to the cost."]
    needed: Annotated[int | None, "Number of rows that would be enough."]


Risks = Annotated[list[Risk], "Rare, expensive errors that these rows are too few to judge."]


class Vertex(TypedDict):
    """A vertex of the hull, and where it is optimal."""

    classifier: str
    threshold: Real
    fpr: Share
    tpr: Share
    pc_low: Share
    pc_high: Share


class Choice(TypedDict):
    """A classifier at one of its thresholds."""

    classifier: str
    threshold: Real
    fpr: Share
    tpr: Share
    normalized_cost: float
    expected_cost: float
