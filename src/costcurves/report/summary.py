"""The contents of a two-class report, computed by the core and collected in one frozen value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from costcurves._base.errors import InputError
from costcurves._base.progress import track
from costcurves._base.text import is_number
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    BoolArray,
    FloatArray,
    Rng,
    check_integer,
    check_level,
    check_name,
    seed_of,
    shown,
)
from costcurves.conditions.condition import OperatingCondition
from costcurves.conditions.range import OperatingRange, default_points
from costcurves.counting.geometry import upper_hull
from costcurves.curves.cost_curve import CostCurve, both_bands
from costcurves.curves.cost_measures import Calibration
from costcurves.curves.differences import Crossings, PcIntervals
from costcurves.curves.hull import RocHull
from costcurves.curves.policy import Policy
from costcurves.curves.ranges import Ranges
from costcurves.curves.roc import RocCurve
from costcurves.curves.thresholds import as_policy
from costcurves.data.predictions import Predictions
from costcurves.decisions.compare_many import ManyDifferences, compare_many_in
from costcurves.decisions.dominance import Regret, regret
from costcurves.decisions.entrants import Entrants
from costcurves.decisions.promise import check_promise
from costcurves.decisions.promise_check import PromiseCheck
from costcurves.decisions.recommend import recommend_here
from costcurves.decisions.recommend_within import winners_over
from costcurves.decisions.rows import Rows, named_policies
from costcurves.decisions.saving import check_baseline
from costcurves.decisions.segments import check_segments, segment_answers
from costcurves.inference.bands.results import Band
from costcurves.inference.rates import vertex_limits
from costcurves.report.answers import Answer, ConditionAnswer, Judge, Slices, leaders_of, single_answers

Limits = tuple[FloatArray, FloatArray]

# A point in the same cell as its neighbour cannot be seen, because the pictures are less than 400 pixels wide. Lines of
# very many classifiers cover each other, and need fewer.
CELLS, FEWER_CELLS = 250, 125
# Classifiers up to which all pairs are told. Of more, only the pairs with the first few recommended ones are.
ALL_PAIRS, LEADERS = 12, 3
# The probability thresholds of the decision curves.
BENEFIT_AT = np.arange(1, 100) / 100


@dataclass(frozen=True, slots=True, eq=False)
class DataSummary:
    """The evaluated data: rows by class, the name of the positive class, and rows left out before.

    `weights` are the sums of weights of positives and negatives (their numbers if rows have no weights). `effective`
    are the equivalent numbers of equally weighted rows (None without weights).
    """

    n: int
    n_pos: int
    positive: str
    dropped: int
    weights: tuple[float, float]
    effective: tuple[float, float] | None

    @property
    def n_neg(self) -> int:
        """The number of rows of the negative class."""
        return self.n - self.n_pos

    @property
    def prevalence(self) -> float:
        """The share of the positive class, by weight."""
        positives, negatives = self.weights
        return positives / (positives + negatives)


@dataclass(frozen=True, slots=True, eq=False)
class ClassifierSummary:
    """One classifier: its curves, their limits, and the loss from using it everywhere.

    `points` are the ROC points that can be distinguished in a picture, including every vertex of the classifier's hull.
    `miss_limits` and `alarm_limits` are the limits of fnr and fpr at each of `vertices`, from which the limits of the
    cost follow at any condition. If the thresholds were not chosen on these cases, the vertices are those in use, each
    between two of `breaks`.
    `benefit` is the net benefit at each of `BENEFIT_AT`, with the prevalence at which the
    sliders start. `calibration` is None unless all scores are in [0, 1].
    """

    name: str
    auc: float
    distinct: int
    points: RocCurve
    vertices: RocCurve
    miss_limits: Limits
    alarm_limits: Limits
    breaks: FloatArray | None
    curve: CostCurve
    each: Band
    together: Band
    useful: PcIntervals
    loss: Regret
    benefit: FloatArray
    calibration: Calibration | None


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """The contents of a two-class report.

    `pairs` are all pairs, or those with a recommended classifier if there are very many; their limits hold for all
    pairs together in any case. `policy` says how the thresholds of curves and bands were chosen: "optimal", "crossfit",
    "validation", or "given" for all other policies. The hull is that of the best thresholds on these cases in any case,
    and so are the ranges, unless thresholds were found on other data or given. `today_moves` says whether the baseline
    has no threshold of its own, so that savings are against its best one at each condition.
    """

    data: DataSummary
    classifiers: tuple[ClassifierSummary, ...]
    hull: RocHull
    ranges: Ranges
    crossings: tuple[tuple[str, str, Crossings], ...]
    pairs: ManyDifferences | None
    answers: tuple[Answer, ...]
    slices: tuple[Slices, ...]
    reference: tuple[tuple[str, PromiseCheck], ...]
    start: OperatingCondition
    level: float
    seed: int
    policy: str
    today_moves: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The classifiers, in the given order."""
        return tuple(one.name for one in self.classifiers)


def check_scenarios(scenarios: Any) -> dict[str, OperatingCondition | OperatingRange]:
    """Check named conditions and ranges of conditions."""
    if not isinstance(scenarios, Mapping):
        kind = type(scenarios).__name__
        raise InputError(
            f"`scenarios` must map names to operating conditions or ranges, got {shown(scenarios)} ({kind})"
        )
    for name, value in scenarios.items():
        check_name("scenarios", name)
        if not isinstance(value, (OperatingCondition, OperatingRange)):
            raise InputError(
                f"`scenarios` must hold an OperatingCondition or an OperatingRange for {shown(name)}, "
                f"got {shown(value)} ({type(value).__name__})"
            )
    return dict(scenarios)


def summarise(
    predictions: Predictions,
    *,
    scenarios: Mapping[str, OperatingCondition | OperatingRange] | None = None,
    policy: Any = None,
    baseline: str | None = None,
    baseline_threshold: float | None = None,
    slices: Any = None,
    reference: Predictions | None = None,
    level: float = DEFAULT_LEVEL,
    dropped: int = 0,
    rng: Rng = 0,
) -> Summary:
    """Compute the contents of a report of two classes; options are those of `Report.from_predictions`.

    Simulated critical values, of what holds at all conditions together, come from `rng`. The summary has the seed:
    `rng` itself, or one that is drawn from it.

    Examples
    --------
    >>> import costcurves as cc
    >>> from costcurves.report.summary import summarise
    >>> here = cc.OperatingCondition(prevalence=0.5, cost_fp=1, cost_fn=2)
    >>> both = cc.Predictions([0, 1, 0, 1, 1, 0], {"a": [1, 3, 2, 4, 2, 1], "b": [1, 2, 1, 2, 2, 1]})
    >>> found = summarise(both, scenarios={"x": here})
    >>> found.answers[0].decision.classifier, found.ranges.candidates
    ('b', ('b',))
    """
    level, seed = check_level(level), seed_of(rng)
    dropped = check_integer("dropped", dropped, 0)
    asked = check_scenarios({} if scenarios is None else scenarios)
    rows = predictions.in_memory()
    today = None if baseline is None else check_baseline(baseline, baseline_threshold, rows.names)
    if today is None and baseline_threshold is not None:
        raise InputError("`baseline_threshold` needs `baseline`, the classifier that is used at it, got None")
    segments = None if slices is None else check_segments(slices, rows.positive.size)
    old = None if reference is None else _check_reference(reference, rows.names)
    if not asked and (slices is not None or reference is not None):
        given = "slices" if slices is not None else "reference"
        raise InputError(f"`{given}` needs `scenarios`, the conditions at which answers are compared, got none")
    usual = "optimal" if predictions.folds is None else "crossfit"
    named = named_policies(usual if policy is None else policy, rows.names)
    rules = {name: as_policy(named[name]) for name in rows.names}
    # A recommendation allows for the choice of thresholds by itself, and verdicts between two keep their level with
    # the best thresholds on these cases, but not with cross-fitted ones.
    sure = {name: "optimal" if rule.cross_fits else rule for name, rule in rules.items()}
    rocs = _done([partial(rows.roc, name, "all") for name in rows.names])
    entrants = Entrants(rows, sure)
    data = DataSummary(
        n=rows.positive.size,
        n_pos=int(rows.positive.sum()),
        positive=_word_for(predictions.pos_label),
        dropped=dropped,
        weights=(rocs[0].n_pos, rocs[0].n_neg),
        effective=rocs[0].effective,
    )
    hull, start, few = RocHull(rocs), _start(asked, data), len(rocs) <= ALL_PAIRS
    options = (level, seed, start.prevalence, CELLS if few else FEWER_CELLS)
    tasks: list[Callable[[], Any]] = [partial(_classifier, rows, rules[roc.name], roc, hull, *options) for roc in rocs]
    if len(rocs) > 1:
        tasks.append(partial(compare_many_in, rows, policy=sure, level=level, rng=seed))
    found = _done(tasks)
    classifiers: tuple[ClassifierSummary, ...] = tuple(found[: len(rocs)])
    every: ManyDifferences | None = found[len(rocs)] if len(rocs) > 1 else None
    curves = entrants.curves
    follows = all(entrants.follows_costs(name) for name in entrants.names)
    ranges = hull.ranges() if follows else winners_over(entrants, OperatingRange.from_pc(0.0, 1.0))
    judge = Judge(hull, list(ranges), entrants, every if few else None, level, today)
    answers = tuple(
        _done(
            [
                partial(judge.condition, name, value)
                if isinstance(value, OperatingCondition)
                else partial(judge.span, name, value)
                for name, value in asked.items()
            ]
        )
    )
    single = single_answers(answers)
    sliced = () if segments is None else tuple(_done([partial(_sliced, rows, segments, sure, *one) for one in single]))
    checks = () if old is None else tuple((name, _checked(old, rows, sure, one)) for name, one in single)
    start = _start(asked, data)
    leaders = rows.names if few else leaders_of(answers, ranges, start, rows.names, LEADERS)
    pairs = every if every is None or few else _among(every, leaders)
    return Summary(
        data=data,
        classifiers=classifiers,
        hull=hull,
        ranges=ranges,
        crossings=()
        if pairs is None
        else tuple((a, b, curves[a].crossings(curves[b])) for a, b in (pair.names for pair in pairs.pairs)),
        pairs=pairs,
        answers=answers,
        slices=sliced,
        reference=checks,
        start=start,
        level=level,
        seed=seed,
        policy=_kind(list(rules.values())),
        today_moves=today is not None and today[1] is None,
    )


def _check_reference(reference: Any, names: tuple[str, ...]) -> Rows:
    """Return the cases of a reference that has the same classifiers."""
    if not isinstance(reference, Predictions):
        raise InputError(f"`reference` must be Predictions, got {shown(reference)} ({type(reference).__name__})")
    rows = reference.in_memory()
    if missing := [name for name in names if name not in rows.names]:
        raise InputError(f"`reference` must have the same classifiers, got none called {shown(missing[0])}")
    return rows


def _sliced(
    rows: Rows, segments: tuple[tuple[str, BoolArray], ...], policy: Any, name: str, answer: ConditionAnswer
) -> Slices:
    """Return the answers of all segments at a condition."""
    found = answer.recommendation
    told = segment_answers(rows, segments, policy, answer.condition, found.best, found.level)
    return Slices(name, found.best, told)


def _checked(old: Rows, rows: Rows, policy: Any, answer: ConditionAnswer) -> PromiseCheck:
    """Return whether these cases cost what those of a reference promised, at one pc, whatever the class frequencies."""
    where = OperatingCondition.from_pc(answer.condition.pc)
    promise = recommend_here(Entrants(old, policy), where, answer.recommendation.level)
    return check_promise(
        promise, rows.positive, rows.scores, sample_weight=rows.weights, level=answer.recommendation.level
    )


def _among(every: ManyDifferences, leaders: tuple[str, ...]) -> ManyDifferences:
    """Return the pairs that have one of some classifiers; their limits still hold for all pairs together."""
    places = combinations(range(len(every.names)), 2)
    some = [place for place in places if any(every.names[i] in leaders for i in place)]
    return ManyDifferences(every.names, every.pairs.some(some), every.level)


def _kind(rules: list[Policy]) -> str:
    """Return a word for how thresholds are chosen."""
    for word, told in (("optimal", "chosen_here"), ("crossfit", "cross_fits"), ("validation", "of_one_classifier")):
        if all(getattr(rule, told) for rule in rules):
            return word
    return "given"


def _word_for(pos_label: Any) -> str:
    """Name the positive class by its label, unless the label is only a number."""
    word = pos_label.strip() if isinstance(pos_label, str) else ""
    return word if word and word.lower() != "true" and not is_number(word) else "positive"


def _done(tasks: list[Callable[[], Any]]) -> list[Any]:
    """Run the tasks and return their results. On a terminal, progress is shown after two seconds."""
    return [tasks[i]() for i in track(range(len(tasks)), "report")]


def _classifier(
    rows: Rows, rule: Policy, roc: RocCurve, hull: RocHull, level: float, seed: int, prevalence: float, cells: int
) -> ClassifierSummary:
    vertices = roc.on_hull()
    envelope = CostCurve(vertices)
    curve = envelope if rule.chosen_here else rows.curve(roc.name, rule)
    breaks = None
    if not rule.chosen_here and not rule.cross_fits:
        index = roc.index_of(curve.cuts_at(0.5 * (curve.breaks[1:] + curve.breaks[:-1])))
        starts = np.flatnonzero(np.append(True, np.diff(index) != 0))
        vertices, breaks = roc.at(index[starts]), np.append(curve.breaks[starts], 1.0)
    each, together = both_bands(curve, default_points(), level=level, rng=seed)
    size_pos, size_neg = vertices.effective or (vertices.n_pos, vertices.n_neg)
    return ClassifierSummary(
        name=roc.name,
        auc=roc.auc(),
        distinct=roc.thresholds.size - 1,
        points=visible(roc, cells),
        vertices=vertices,
        miss_limits=vertex_limits(vertices.fnr, size_pos, level),
        alarm_limits=vertex_limits(vertices.fpr, size_neg, level),
        breaks=breaks,
        curve=curve,
        each=each,
        together=together,
        useful=curve.operating_range(),
        loss=regret(envelope, hull),
        benefit=envelope.net_benefit(BENEFIT_AT, prevalence=prevalence),
        calibration=CostCurve(roc, policy="bayes").calibration(level=level) if _may_be_probabilities(roc) else None,
    )


def _may_be_probabilities(roc: RocCurve) -> bool:
    """Whether all scores are in [0, 1], and not only 0 and 1, which are decisions."""
    scores = roc.thresholds[1:]
    return bool(scores[-1] >= 0 and scores[0] <= 1 and ((scores > 0) & (scores < 1)).any())


def visible(roc: RocCurve, cells: int) -> RocCurve:
    """Select the points that can be distinguished in a picture with `cells` cells per side. Hull vertices are kept.

    So are points where the number of flagged cases grows by a few percent, however few they are.

    Examples
    --------
    >>> import numpy as np
    >>> import costcurves as cc
    >>> from costcurves.report.summary import visible
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(100_000) < 0.5
    >>> len(visible(cc.RocCurve.from_predictions(y, y + rng.normal(size=y.size)), 250).fpr) < 800
    True
    """
    column, row = np.rint(roc.fpr * cells), np.rint(roc.tpr * cells)
    flagged = np.rint(cells / 16 * np.log(np.maximum(roc.fp + roc.tp, 1)))
    keep = np.append(True, (np.diff(column) != 0) | (np.diff(row) != 0) | (np.diff(flagged) != 0))
    keep[upper_hull(roc.fp, roc.tp)] = True
    keep[-1] = True
    return roc if keep.all() else roc.at(np.flatnonzero(keep))


def _start(asked: Mapping[str, OperatingCondition | OperatingRange], data: DataSummary) -> OperatingCondition:
    """The condition at which the sliders start: the first scenario, or else about that of the data."""
    conditions = [value for value in asked.values() if isinstance(value, OperatingCondition)]
    spans = [value for value in asked.values() if isinstance(value, OperatingRange)]
    if conditions:  # preferably one with known prevalence and costs
        return at_shown_prevalence(min(conditions, key=lambda where: where.pc_only), data)
    for span in spans:
        if span.pc_only:
            return at_shown_prevalence(OperatingCondition.from_pc(sum(span.pc) / 2), data)
        p, fp, fn = (math.sqrt(low * high) for low, high in (span.prevalence, span.cost_fp, span.cost_fn))
        if fp + fn > 0:
            return OperatingCondition(p, cost_fp=fp, cost_fn=fn)
    return OperatingCondition(_shown_prevalence(data), cost_fp=1.0, cost_fn=1.0)


def _shown_prevalence(data: DataSummary) -> float:
    """The prevalence of the data, rounded to a few digits."""
    share = round(data.prevalence, 3)
    return share if 0 < share < 1 else data.prevalence


def at_shown_prevalence(where: OperatingCondition, data: DataSummary) -> OperatingCondition:
    """Adapt a condition for the sliders. If only pc is known, use the data's prevalence and costs in false alarms."""
    if not where.pc_only:
        return where
    share, pc = _shown_prevalence(data), where.pc
    if pc == 1:
        return OperatingCondition(share, cost_fp=0.0, cost_fn=1.0)
    return OperatingCondition(share, cost_fp=1.0, cost_fn=pc / (1.0 - pc) * (1.0 - share) / share)
