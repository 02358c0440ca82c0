"""The page with one row per default answer: what it promises, and how often it failed where the truth is known."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from studies import k_classes, range_losses, threshold_sets
from studies.honesty import Cell

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "explanation" / "default-limits.md"
Counts = dict[str, dict[str, dict[str, int]]]


class Share(NamedTuple):
    """In how many data sets of a world something failed."""

    world: str
    failed: float
    sets: int

    @property
    def value(self) -> float:
        """The share."""
        return self.failed / self.sets

    @property
    def error(self) -> float:
        """Its standard error, which is not 0 where nothing failed."""
        smooth = (self.failed + 1) / (self.sets + 2)
        return math.sqrt(smooth * (1 - smooth) / self.sets)


class Row(NamedTuple):
    """A default answer: what it promises, how often it may fail, and the measurement."""

    call: str
    promise: str
    nominal: float
    answer: str
    part: str


ROWS = (
    Row(
        "`CostCurve.band()`",
        "The cost on new cases of the threshold in use is not above the upper limit.",
        2.5,
        "band",
        "above",
    ),
    Row("", "It is within both limits.", 5, "band", "missed"),
    Row("`band(simultaneous=True)`", "It is within the limits at every condition.", 5, "band", "joint"),
    Row(
        "`compare(simultaneous=False)`",
        "The difference on new cases, at the thresholds in use, is within the limits.",
        5,
        "compare",
        "missed",
    ),
    Row("", "Nobody is called cheaper who is not.", 5, "compare", "false"),
    Row("", "Classifiers that are equal at their best thresholds are not told apart.", 5, "compare", "equal"),
    Row("`compare(...)`", "The difference is within the limits at every condition.", 5, "compare", "joint"),
    Row("", "Nobody is called cheaper anywhere who is not.", 5, "compare", "joint false"),
    Row("", "Equal classifiers are told apart nowhere.", 5, "compare", "joint equal"),
    Row(
        "`compare(...).crossings()`",
        "The cheaper one changes only within the ranges that are given.",
        5,
        "compare",
        "crossing",
    ),
    Row('`compare(policy="crossfit")`', "As `compare`: limits.", 5, "compare", "crossfit"),
    Row("", "As `compare`: verdicts.", 5, "compare", "crossfit false"),
    Row(
        "`compare.from_curves`",
        "As `compare`, of classifiers judged on different cases: limits.",
        5,
        "from_curves",
        "joint",
    ),
    Row("", "Verdicts.", 5, "from_curves", "joint false"),
    Row("", "Equal classifiers.", 5, "from_curves", "joint equal"),
    Row(
        "`compare_many` of three",
        "The limits of all pairs hold at every condition together.",
        5,
        "compare_many",
        "joint",
    ),
    Row("", "No verdict of any pair is false anywhere.", 5, "compare_many", "joint false"),
    Row("", "Equal classifiers are told apart nowhere.", 5, "compare_many", "joint equal"),
    Row("`compare_many(...).at(pc)`", "No adjusted verdict is false.", 5, "compare_many", "adjusted false"),
    Row("`significant_dominance`", "Nobody is called better anywhere who is not.", 5, "dominance", "false"),
    Row("", "Equal classifiers are told apart nowhere.", 5, "dominance", "equal"),
    Row(
        "`recommend`",
        "The cost on new cases of what is recommended is not above the upper limit.",
        2.5,
        "honesty",
        "above",
    ),
    Row("", "It is within both limits.", 5, "honesty", "missed"),
    Row(
        "",
        "Nothing is promised of only those data sets in which it is not recommended to ignore all scores.",
        math.nan,
        "honesty",
        "above if chosen",
    ),
    Row("", "“Sure” is said only of the best choice.", 5, "honesty", "false_sure"),
    Row("", "Nobody is said to cost more who does not.", 5, "honesty", "false_worse"),
    Row("`recommend(...).saving`", "A rule in use is undercut by at least the lower limit.", 5, "saving", "rule below"),
    Row("", "It is undercut by at most the upper limit.", 5, "saving", "rule above"),
    Row("", "Every threshold of a rival is undercut by at least the lower limit.", 5, "saving", "classifier below"),
    Row(
        "`--assert-better-than`",
        "The gate opens only if the rule that is replaced costs more.",
        5,
        "saving",
        "rule false",
    ),
    Row("", "Or if every threshold of the classifier that is replaced costs more.", 5, "saving", "classifier false"),
    Row(
        "`--assert-cost-below`",
        "The gate opens only if the cost on new cases is below the stated one, whatever that is.",
        2.5,
        "saving",
        "cost gate",
    ),
    Row("`check_promise`", "If nothing has changed, nothing is called changed.", 5, "saving", "alarm"),
    Row(
        "`recommend_within`",
        "Nobody is shown worse than the recommended one at a condition where that is false.",
        5,
        "within",
        "worse",
    ),
    Row("", "Nobody is shown better at a condition where that is false.", 5, "within", "better"),
    Row(
        "`recommend_within(...).rule`",
        "The one rule loses at most `money_upper` anywhere in the range.",
        5,
        "range_losses",
        "above",
    ),
    Row("`threshold_set`", "The best threshold is in the set.", 5, "thresholds", "set"),
    Row("", "The same in the worlds of [](threshold-sets.md).", 5, "threshold_sets", "one"),
    Row("`threshold_sets`", "The best threshold of every condition is in its set.", 5, "thresholds", "joint set"),
    Row("", "The same in the worlds of [](threshold-sets.md).", 5, "threshold_sets", "all"),
    Row(
        "`operating_range_limits`",
        "The classifier is cheaper than the trivial ones where that is said to be sure.",
        5,
        "thresholds",
        "useful false",
    ),
    Row("", "It is not cheaper where that is said to be impossible.", 5, "thresholds", "useless false"),
    Row(
        "`best_at_fpr(0.2, confidence=0.9)`",
        "The false positive rate on new cases is at most 0.2.",
        10,
        "guarantees",
        "fpr",
    ),
    Row(
        "`best_at_tpr(0.7, confidence=0.9)`",
        "The true positive rate on new cases is at least 0.7.",
        10,
        "guarantees",
        "tpr",
    ),
    Row(
        "`best_at_capacity(..., confidence=0.9)`",
        "The share of alarms is at most that of the capacity.",
        10,
        "guarantees",
        "capacity",
    ),
    Row(
        "`best_at_precision(..., confidence=0.9)`",
        "The precision is at least the stated one.",
        10,
        "guarantees",
        "precision",
    ),
    Row(
        "`average_band` of five folds",
        "The mean cost of thresholds that were given is within the limits.",
        5,
        "averages",
        "given",
    ),
    Row("of thirty folds", "The same.", 5, "many_folds", "given"),
    Row(
        "`Predictions.average_band` of five folds",
        "The mean cost of the thresholds that are best on the other folds is within the limits.",
        5,
        "averages",
        "others",
    ),
    Row("of thirty folds", "The same.", 5, "many_folds", "others"),
    Row(
        "`average_band(given_choice=True)`",
        "Nothing is promised of thresholds that were chosen on the same fold.",
        math.nan,
        "averages",
        "chosen",
    ),
    Row(
        '`average_band(kind="within")`',
        "A method that is asked for: the mean cost of thresholds that were given is within its limits.",
        5,
        "averages",
        "within",
    ),
    Row('`average_band(kind="between")`', "The same of Student's interval.", 5, "averages", "between"),
    Row("`bcost`", "The expected cost is within the limits.", 5, "classes", "one"),
    Row("", "The same in the worlds of [](k-classes.md).", 5, "k_classes", "coverage"),
    Row("`bdeltacost`", "The difference of expected costs is within the limits.", 5, "classes", "two"),
    Row("", "Nobody is called cheaper who is not.", 5, "classes", "two false"),
    Row(
        "", "Equal costs in the worlds of [](k-classes.md) are not called different.", 5, "k_classes", "false verdicts"
    ),
    Row("`bdeltacost_many` of three", "All limits hold together.", 5, "classes", "many"),
    Row("", "No verdict is false.", 5, "classes", "many false"),
    Row(
        "`bcost.over_training`",
        "The expected cost over training sets is within the limits.",
        5,
        "training",
        "over_training",
    ),
    Row(
        "`bdeltacost.over_training`",
        "The difference over training sets is within the limits.",
        5,
        "training",
        "difference over_training",
    ),
    Row("`example_cost`", "The expected cost is within the limits.", 5, "example_costs", "one"),
    Row(
        "`example_cost(max_cost=)`", "The expected cost is within the limits.", 5, "example_costs", "one with max_cost"
    ),
    Row("`compare_example_cost`", "The difference is within the limits.", 5, "example_costs", "difference"),
    Row(
        "`compare_example_cost(max_cost=)`",
        "The difference is within the limits.",
        5,
        "example_costs",
        "difference with max_cost",
    ),
)

COMMANDS = {
    "honesty": "make study-honesty",
    "range_losses": "make study-ranges",
    "threshold_sets": "make study-thresholds",
    "k_classes": "make study-k-classes",
}


def _honesty(part: str) -> Iterable[Share]:
    parts = {"missed": ("above", "below"), "above if chosen": ("above",)}.get(part, (part,))
    for name, one in json.loads((HERE / "honesty.json").read_text()).items():
        sets = one["chosen" if part == "above if chosen" else "sets"]
        if sets >= one["sets"] / 10:
            yield Share(_cell(Cell.named(name)), sum(one[key] for key in parts), round(sets))


def _cell(cell: Cell) -> str:
    return f"{cell.n:,} cases, {cell.classifiers} classifiers, {100 * cell.prevalence:g} % positive, pc {cell.pc:g}"


def _range_losses(part: str) -> Iterable[Share]:
    for name, one in json.loads(range_losses.RECORD.read_text()).items():
        yield Share(name, one[part] * one["sets"], int(one["sets"]))


def _threshold_sets(part: str) -> Iterable[Share]:
    for name, one in json.loads(threshold_sets.RECORD.read_text()).items():
        cell = threshold_sets.Cell(*json.loads(name))
        if (cell.pc is None) == (part == "all"):
            at = "" if cell.pc is None else f", pc {cell.pc:g}"
            yield Share(f"{cell.world}, {cell.n:,} cases{at}", (1 - one["coverage"]) * one["sets"], one["sets"])


def _k_classes(part: str) -> Iterable[Share]:
    found = json.loads(k_classes.RECORD.read_text())
    for name, one in found[part].items():
        failed = one["tilted"] if part == "false verdicts" else 1 - one["tilted"]
        yield Share(name.replace("|", ", classes: "), failed * found["sets"], found["sets"])


QUOTED = {
    "honesty": _honesty,
    "range_losses": _range_losses,
    "threshold_sets": _threshold_sets,
    "k_classes": _k_classes,
}


def shares(row: Row, found: Counts) -> list[Share]:
    """Return what was measured of a default answer, in every world."""
    if row.answer in QUOTED:
        return list(QUOTED[row.answer](row.part))
    worlds = found.get(row.answer, {}).items()
    return [Share(world, one[row.part], one["sets"]) for world, one in worlds if one["sets"] and row.part in one]


def worst(each: list[Share]) -> Share:
    """Return the world with the largest share; of equal ones, the one with most data sets."""
    return max(each, key=lambda one: (one.value, one.sets))


def fails(row: Row, one: Share) -> bool:
    """Return whether an answer fails more often than it says, by more than two and a half standard errors."""
    return bool(one.value > row.nominal / 100 + 2.5 * math.sqrt(row.nominal / 100 * (1 - row.nominal / 100) / one.sets))


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


TEXT = """\
# How often every default answer holds

Every limit and every verdict of this package says something about new cases. Here is, for each answer that the public
functions give without further options, what it promises in one sentence, how often it may fail, and how often it
did fail in made-up worlds in which the truth is known. A share of failures above the nominal one by more than two and a
half standard errors is set in bold.

- **nominal**: how often the answer may fail, at the default level of 95 % (limits with a guarantee: 90 %).
- **worst**: the largest share of failures over all worlds, with its standard error, the number of data sets and the
  world. The largest of a dozen shares is above the truth by chance: with a nominal 5 %, twelve worlds of 100 data sets
  each have a largest share of 9 % on average although every world has 5 %. Worlds with few data sets have the largest
  shares most easily, so compare a share with its standard error. Rows of 5 to 60 data sets, such as those of
  `over_training`, `recommend_within` and several classes, can only show that an answer does not fail badly.
- **typical**: the median share over all worlds, and their number.

No method was tuned on the worlds of this study, with one exception: larger allowances of `compare` were tried, and not
taken, for a score beside its own rounded values (see the end of this page). The worlds have scores that are
exponential, beta, Cauchy, logistic and Gumbel variables, positives on both sides of the negatives, scores rounded to a
few values, a score beside its own rounded values, useless and constant scores, classifiers of unequal strength,
prevalences of 0.5 to 0.01, and 60 to 2,000 cases; for costs of their own, amounts that are uniform, exponential,
lognormal and Pareto; for several classes, 2 to 10 classes. `studies/worlds.py` and `studies/limits.py` define them, and
`studies/limits.json` has the counts of every world. Rows that quote another study name its page, which has all of its
worlds. Real data are in [](real-data.md).

Thresholds are chosen on the same cases, and what is compared with limits is the cost of those thresholds on new cases.
A gate of `decide` opens where the answer of the same row is shown; the gates of `compare` follow the verdicts of
`compare`, and those for several classes the verdicts of `bdeltacost`.
"""

NOTES = """\
## Hard cases, known failures and rows of few data sets

- **A score beside its own rounded values.** Every threshold of the rounded score is one of the score itself, so that
  the score always looks at least as good. Where it was lucky, its minimum looks sharper than it is and its optimism too
  small. `compare` therefore also asks how optimistic thresholds are at the conditions around, and where both could be
  thresholds of one score, it doubles the optimism of the cheaper one alone. Before that, the true difference lay above
  the limits at one condition in 8.5 % of 800 data sets with 2,000 cases (standard error 1.0 points). In 500 other data
  sets of that kind it is 2.2 % (0.7). In five further worlds, in which nothing was tuned, it is 1.0 % instead of 6.4 %
  (beta scores), 1.2 % instead of 5.6 % (t with 3 degrees), 0.4 % instead of 1.8 % (Gumbel), 1.4 % (exponential) and
  0.4 % (Gumbel, rounded and with other noise; 500 data sets each). With 50 positives among 1,000 cases it is 3.4 %
  (0.8). These limits are wider by 4 to 13 % than they were, and those of ordinary comparisons by 1 to 2 %.
- **Thresholds that were chosen on the folds that judge them.** `average_band` refuses curves that have them (ROC
  curves, and the policies "optimal", "product" and "crossfit" within a fold), unless `given_choice=True` asks for
  limits that take them as given. The estimate is then too low, and nothing is promised: the mean cost on new cases lay
  outside the limits in about four of ten data sets in the typical world, and in about eight of ten in the worst.
- **Folds with a handful of cases of a class.** Student's interval (`kind="between"`) sees how much folds differ. Where
  each fold has four positives and hardly any is missed, the folds agree by chance, and its limits are much too narrow.
  It warns of folds with fewer than 20 cases of a class. The default is never narrower than what the number of cases
  allows.
- **Averaged ROC curves** have limits only if the binomial interval of the 1998 study is asked for. In five folds of
  these worlds (without ties), the true tpr lay outside it in 6 to 56 % of 200 data sets at an fpr of 0.1.
- **`recommend` of useless scores.** The limits hold over all data sets. Among those in which a useless score happens to
  be recommended rather than ignoring all scores, more true costs lie above the limit.
- **Equal classifiers** have equal costs at their best thresholds, but not at those in use, one of which was chosen less
  well. The rows on equal classifiers count every verdict as false, also those that are true of the thresholds in use.
- **Guarantees** also hold in exact binomial sums for every number of cases up to 300
  (`tests/curves/test_guarantees.py`), whatever the scores are.
- **Costs of their own.** In 12 further worlds (lognormal, Pareto, exponential, gamma and uniform amounts, 50 to 10,000
  cases, 200 or 400 data sets each), at most 2.0 % of expected costs lay above the upper limit, and at most 2.0 % of
  differences beyond either limit. The hardest worlds have amounts of infinite variance (Pareto, index 1.5), all of
  which are incurred: with 50 of them, 3.4 % of upper limits were too low, and 3.6 % of those of differences (500 data
  sets, standard error 0.8 points). Where few cases cost anything or the tail is heavy, upper limits are far above the
  mean, because the most expensive case that is possible is allowed for; without `max_cost` it is estimated, and nothing
  is promised if the data have none of the expensive kind.
- **Classes** were also asked in leaner runs, which compare each limit with the true cost without computing it, with 500
  data sets of each world (standard errors up to 1.1 points): `bcost` missed 5.0 % with five uneven classes and squared
  distances, 4.8, 3.0 and 5.8 % in the other worlds of this page, and 4.0 % (20 classes, squared distances, 500 cases),
  1.8 % (four classes with a rare one whose errors cost 100, 300 cases) and 7.0 % (seven classes, any costs, 60 cases);
  `bdeltacost` missed 3.2, 4.4, 0.8, 5.0, 4.2, 0.0 and 5.6 %.
- **Few data sets.** Shares of fewer than 300 data sets have standard errors of a point or more. `make study-limits
  STUDY="--sets 1000"` adds to what is recorded.
"""


def page(found: Counts) -> str:
    """Return the page."""
    lines = [TEXT, "| answer | promise | nominal | worst | typical | command |", "|---" * 6 + "|"]
    for row in ROWS:
        each = shares(row, found)
        if not each:
            continue
        most = worst(each)
        nominal = "none" if math.isnan(row.nominal) else f"{row.nominal:g} %"
        text = f"{_percent(most.value)} ± {_percent(most.error)}"
        text = f"**{text}**" if fails(row, most) else text
        command = COMMANDS.get(row.answer, f"`python -m studies.limits --only {row.answer}`")
        lines.append(
            f"| {row.call} | {row.promise} | {nominal} | {text} of {most.sets:,}: {most.world} "
            f"| {_percent(statistics.median(one.value for one in each))}, {len(each)} worlds "
            f"| {command if command.startswith('`') else f'`{command}`'} |"
        )
    return "\n".join([*lines, "", NOTES])
