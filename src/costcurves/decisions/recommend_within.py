"""The whole answer where the condition is only known as a range: what to use, what it may lose, how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from costcurves._base.frames import NamedColumns
from costcurves._base.results import Result
from costcurves._base.text import safe
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    Column,
    FloatArray,
    IntArray,
    check_flag,
    check_in_unit,
    check_level,
)
from costcurves.conditions.condition import OperatingCondition
from costcurves.conditions.range import OperatingRange, RangeLike, check_range
from costcurves.counting.class_labels import Label
from costcurves.curves.chance import one_question
from costcurves.curves.choices import ALWAYS_NEGATIVE, ALWAYS_POSITIVE, TRIVIAL, Rule, as_cheap
from costcurves.curves.differences import PcIntervals
from costcurves.curves.hull import RocHull
from costcurves.curves.ranges import Ranges
from costcurves.curves.thresholds import NamedPolicies
from costcurves.decisions.contest import Contest, Standing, adjusted
from costcurves.decisions.entrants import Entrants
from costcurves.decisions.envelopes import Envelope, trivial_curves
from costcurves.decisions.rows import Rows, refuse_cross_fitting
from costcurves.inference.regrets import loss_limit

# Operating points of a range at which all competitors are judged.
_POINTS = 33


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FixedRule(Rule):
    """One classifier at one threshold for a whole range of conditions, and the most that it loses there.

    Attributes
    ----------
    classifier, threshold, fpr, tpr
        The rule to use at every condition of the range.
    largest : float
        The largest loss of normalized cost against the best choice at each condition.
    money : float
        The largest loss per case in money on these cases: what knowing the condition could save.
    money_upper : float
        Upper limit of the same on new cases, at the (one-sided) level of the recommendation. It allows for the choice
        of the rule on these cases.

    Examples
    --------
    >>> import costcurves as cc
    >>> span = cc.OperatingRange(prevalence=0.5, cost_fp=1, cost_fn=(1, 3))
    >>> cc.recommend_within([0, 0, 1, 1], {"a": [0.1, 0.4, 0.35, 0.8]}, span).rule
    FixedRule(a at score >= 0.3: loses up to 0 per case on these cases, at most 0.75 on new ones)
    """

    classifier: str
    threshold: float
    fpr: float
    tpr: float
    largest: float
    money: float
    money_upper: float
    _below: float = math.nan
    _column_names = ("classifier", "threshold", "fpr", "tpr", "largest", "money", "money_upper")

    def __repr__(self) -> str:
        """Return the rule and its largest loss."""
        return (
            f"FixedRule({self.rule}: loses up to {self.money:.3g} per case on these cases, "
            f"at most {self.money_upper:.3g} on new ones)"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RangeRecommendation(Result):
    """What to use when the condition is only known as a range, what that may lose, and how sure that is.

    Attributes
    ----------
    over : OperatingRange
    classifier : tuple of str
        The classifiers and the two trivial ones. The first loses least in the worst case, with the threshold that its
        policy uses at each condition.
    largest, at_pc, mean : arrays
        How much of the normalized cost each loses against the best at each condition on these cases: the most, where
        that is, and the average.
    ranges : Ranges
        Which classifier is best where within the range, each with the thresholds of its policy.
    steps : Ranges
        The thresholds of the first classifier within the range, which follow the condition.
    rule : FixedRule
        The one classifier at one threshold that loses least in the worst case, for use while the condition is unknown.
    shown_worse : mapping of name to PcIntervals
        Where each is shown to cost more than the first, whichever of its thresholds is used.
    shown_better : mapping of name to PcIntervals
        Where each is shown to cost less than the first.
    rivals : tuple of str
        Those that are not shown to cost more than the first throughout the range.
    level : float
    given_choice : bool
        Whether these statements take thresholds and winners as given, instead of allowing for their choice.

    Examples
    --------
    >>> import numpy as np
    >>> import costcurves as cc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(500) < 0.3
    >>> scores = {"sharp": y + rng.normal(0, 0.5, 500), "dull": y + rng.normal(0, 2.0, 500)}
    >>> span = cc.OperatingRange(prevalence=(0.2, 0.4), cost_fp=1, cost_fn=(1, 2))
    >>> cc.recommend_within(y, scores, span)
    RangeRecommendation for pc 0.2 .. 0.571: sure (losses on these cases, as shares of getting every case wrong)
      use        sharp: the cheapest throughout on these cases
      one rule   sharp at score >= 0.63: loses up to 0.0251 per case in money on these cases
                 at most 0.0795 on new cases, at 95 %
      dull       loses up to 0.238: shown to cost more for pc 0.2 to 0.571
      always negative loses up to 0.425: shown to cost more for pc 0.2 to 0.571
      always positive loses up to 0.705: shown to cost more for pc 0.2 to 0.571
    """

    over: OperatingRange
    classifier: tuple[str, ...]
    largest: FloatArray
    at_pc: FloatArray
    mean: FloatArray
    ranges: Ranges
    steps: Ranges
    rule: FixedRule
    shown_worse: Mapping[str, PcIntervals]
    shown_better: Mapping[str, PcIntervals]
    rivals: tuple[str, ...]
    level: float
    given_choice: bool
    _column_names = ("classifier", "largest", "at_pc", "mean")

    @property
    def best_name(self) -> str:
        """The classifier that loses least in the worst case."""
        return self.classifier[0]

    @property
    def beaten_by(self) -> tuple[str, ...]:
        """Those that are shown to cost less than the best one somewhere in the range."""
        return tuple(name for name, where in self.shown_better.items() if len(where))

    @property
    def sure(self) -> bool:
        """Whether every other choice is shown to cost more throughout the range."""
        return not self.rivals

    def thresholds_between(self, low: float, high: float) -> tuple[str, ...]:
        """Return the lowest and the highest threshold of the best classifier between two pc of the range, as text."""
        steps, ends = self.steps, (check_in_unit("low", low), check_in_unit("high", high))
        low, high = np.clip(ends, steps.pc_low[0], steps.pc_high[-1])
        within = (steps.pc_high > low) & (steps.pc_low < high) if low < high else steps.pc_high >= low
        texts = [steps.threshold_text[i][0] for i in np.flatnonzero(within)]
        return texts[-1], texts[0]

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain Python values."""
        return {
            "range": {one["quantity"]: [one["low"], one["high"]] for one in self.over._records()},
            "best": self.best_name,
            "sure": self.sure,
            "rivals": list(self.rivals),
            "beaten_by": list(self.beaten_by),
            "given_choice": self.given_choice,
            "level": self.level,
            "rule": self.rule._records()[0],
            "regret": self._records(),
            "shown_worse": {name: [list(pair) for pair in where] for name, where in self.shown_worse.items()},
            "shown_better": {name: [list(pair) for pair in where] for name, where in self.shown_better.items()},
            "ranges": self.ranges._records(),
            "steps": self.steps._records(),
        }

    def __repr__(self) -> str:
        """Return the answer in words."""
        low, high = self.over.pc
        head = f"RangeRecommendation for pc {low:.3g} .. {high:.3g}: {'sure' if self.sure else 'not sure'}"
        loss = f"loses up to {self.largest[0]:.3g} (at pc {self.at_pc[0]:.3g}), {self.mean[0]:.3g} on average"
        if self.largest[0] == 0:
            loss = "the cheapest throughout on these cases"
        unit, rule = "" if self.over.pc_only else " per case in money", self.rule
        lines = [
            f"{head} (losses on these cases, as shares of getting every case wrong)",
            f"  use        {safe(self.best_name)}: {loss}",
            f"  one rule   {rule.rule}: loses up to {rule.money:.3g}{unit} on these cases",
            f"             at most {rule.money_upper:.3g} on new cases, at {100 * self.level:g} %",
        ]
        for name, most in zip(self.classifier[1:], self.largest[1:].tolist(), strict=True):
            lines.append(f"  {safe(name):<10} loses up to {most:.3g}: {self._shown(name)}")
        return "\n".join(lines)

    def _shown(self, name: str) -> str:
        """Return in words where a classifier is shown to cost more or less than the best."""
        if name not in self.shown_worse:
            return "decides as the best does"
        parts = [
            f"shown to cost {word} for pc {', '.join(_span(low, high) for low, high in where)}"
            for word, where in (("more", self.shown_worse[name]), ("less", self.shown_better[name]))
            if len(where)
        ]
        return " and ".join(parts) or "not shown to cost more anywhere"


def _span(low: float, high: float) -> str:
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"


@one_question()
def recommend_within(
    y_true: Column,
    scores: NamedColumns,
    over: RangeLike,
    *,
    pos_label: Label | None = None,
    sample_weight: npt.ArrayLike | None = None,
    policy: NamedPolicies = "optimal",
    level: float = DEFAULT_LEVEL,
    given_choice: bool = False,
) -> RangeRecommendation:
    """Return what to use when the condition is only known as a range, and how sure that is.

    It is the classifier whose largest loss against the best choice at each condition is smallest (minimax regret), with
    a threshold that follows the condition; `rule` is one classifier at one threshold, for use while it is unknown.

    Parameters
    ----------
    y_true, scores, pos_label, sample_weight, policy, given_choice
        As for `recommend`.
    over : OperatingRange
        The conditions to expect.
    level : float in (0, 1)
        Of the statements about each condition in the range, as in `recommend`. The answer is "sure" where every other
        choice is shown to cost more at all of 33 evenly spaced points of the range.

    Examples
    --------
    >>> import costcurves as cc
    >>> span = cc.OperatingRange(prevalence=0.5, cost_fp=1, cost_fn=(1, 3))
    >>> cc.recommend_within([0, 0, 1, 1], {"a": [0.1, 0.4, 0.35, 0.8], "b": [0.2, 0.3, 0.1, 0.9]}, span).best_name
    'a'
    """
    span, level = check_range(over), check_level(level)
    taken = check_flag("given_choice", given_choice)
    refuse_cross_fitting(policy)
    entrants = Entrants(Rows(y_true, scores, pos_label, sample_weight).with_all_points(), policy)
    return recommend_over(entrants, span, level, given_choice=taken)


def recommend_over(
    entrants: Entrants, span: OperatingRange, level: float, *, given_choice: bool = False
) -> RangeRecommendation:
    """Return the recommendation over a range, from data that were checked before."""
    low, high = span.pc
    contest, rule = _contest(entrants, span, given_choice)
    curves = [*trivial_curves(), *entrants.curves.values()]
    names = [*TRIVIAL, *entrants.names]
    envelope = Envelope.of(curves, low, high)
    left, right = envelope.losses()
    losses = np.concatenate([left, right])
    where = np.concatenate([envelope.left, envelope.right])
    largest = losses.max(axis=0)
    at_pc = where[losses.argmax(axis=0)]
    width = (envelope.right - envelope.left)[:, None]
    mean = largest if low == high else ((left + right) * width).sum(axis=0) / (2 * (high - low))
    # Equal losses: doing without a classifier first, then by name.
    order = sorted(range(len(names)), key=lambda i: (largest[i], mean[i], names[i] not in TRIVIAL, names[i]))
    # Somebody who is nowhere cheaper than doing without a classifier is of no use.
    useful = {names[owner] for owner in envelope.owner.tolist()} | set(TRIVIAL)
    use = next(names[i] for i in order if names[i] in useful)
    order.sort(key=lambda i: names[i] != use)
    points = np.array(contest.points)
    verdicts = [_verdict(contest, use, OperatingCondition.from_pc(pc), level) for pc in contest.points]
    others = [names[i] for i in order[1:]]
    told = [name for name in others if any(verdict.worse.get(name) is not None for verdict in verdicts)]
    # Where the decision passes from one classifier to another, both cost the same somewhere in between.
    passing = {verdict.used for verdict in verdicts}
    beside = passing - {use} if len(passing) > 1 else set()
    rivals = [name for name in others if any(v.worse.get(name) is False for v in verdicts) or name in beside]
    return RangeRecommendation(
        span,
        tuple(names[i] for i in order),
        largest[order],
        at_pc[order],
        mean[order],
        _ranges(entrants, envelope, names, span),
        _steps(entrants, use, low, high, span),
        _with_limit(rule, contest, span, level),
        {name: _where(points, [v.worse.get(name) is True for v in verdicts]) for name in told},
        {name: _where(points, [v.better == name for v in verdicts]) for name in told},
        tuple(rivals),
        level,
        given_choice,
    )


def winners_over(entrants: Entrants, span: OperatingRange) -> Ranges:
    """Return which classifier is best where in a range, each with the thresholds of its policy."""
    curves = [*trivial_curves(), *entrants.curves.values()]
    return _ranges(entrants, Envelope.of(curves, *span.pc), [*TRIVIAL, *entrants.names], span)


def rule_within(entrants: Entrants, span: OperatingRange, level: float) -> FixedRule:
    """Return the one rule for a range alone."""
    contest, rule = _contest(entrants, span, False)
    return _with_limit(rule, contest, span, level)


def _contest(entrants: Entrants, span: OperatingRange, given_choice: bool) -> tuple[Contest, FixedRule]:
    """Return all competitors at points of a range, and the one rule for the whole range, which competes too."""
    rule = _fixed_rule(entrants, span)
    points = np.unique(np.linspace(*span.pc, _POINTS)).tolist()
    beside = {rule.classifier: rule.threshold}
    return Contest(entrants, points, given_choice=given_choice, beside=beside), rule


class _Verdict(NamedTuple):
    """What is shown at one point: who is in use, who costs more (None: decides alike), and who costs less."""

    used: str
    worse: dict[str, bool | None]
    better: str | None


def _verdict(contest: Contest, use: str, where: OperatingCondition, level: float) -> _Verdict:
    """Return what is shown at a condition about the classifier that is recommended for the range."""
    free = contest.standings(where, level, limits=False)
    own = next(one for one in free if one.choice.classifier == use)
    if use not in TRIVIAL and contest.entrants.follows_costs(use) and free[0].choice.classifier in TRIVIAL:
        own = free[0]  # its threshold is then "never", or "always"
    listed = free if own.same else contest.standings(where, level, use, limits=False)
    worse = _worse(listed, level)
    worse.pop(use, None)
    better = None
    if not own.same and _worse(free, level).get(use):
        better = free[0].choice.classifier
    return _Verdict(own.choice.classifier, worse, better)


def _worse(standings: list[Standing], level: float) -> dict[str, bool | None]:
    """Return for each name whether it is shown to cost more than the first; None where it decides alike."""
    return {
        one.choice.classifier: None if one.same else bool(p <= 1.0 - level)
        for one, p in zip(standings, adjusted(standings).tolist(), strict=True)
    }


def _where(points: FloatArray, shown: list[bool]) -> PcIntervals:
    """Return the stretches of consecutive points at which something is shown."""
    flags = np.concatenate(([False], shown, [False]))
    starts = np.flatnonzero(flags[1:] & ~flags[:-1])
    ends = np.flatnonzero(~flags[1:] & flags[:-1]) - 1
    return PcIntervals(points[starts], points[ends])


def _ranges(entrants: Entrants, envelope: Envelope, names: list[str], span: OperatingRange) -> Ranges:
    """Return which classifier is best where, each with the thresholds of its policy."""
    if all(entrants.follows_costs(name) for name in entrants.names):
        rocs = [curve.roc for curve in entrants.curves.values() if curve.roc is not None]
        return RocHull(rocs).within(span)
    rows = []
    for name, low, high in envelope.stretches(names):
        cuts = _steps(entrants, name, low, high, span)
        rows.append((name, low, high, float(cuts.threshold_low.min()), float(cuts.threshold_high.max())))
    low_pc, high_pc, low_cut, high_cut = np.array([row[1:] for row in rows]).T.copy()
    below = tuple((_below(entrants, name, low), _below(entrants, name, high)) for name, _, _, low, high in rows)
    return Ranges(tuple(row[0] for row in rows), low_pc, high_pc, low_cut, high_cut, span, below)


def _below(entrants: Entrants, name: str, cut: float) -> float:
    """Return the next lower score below a threshold, NaN if it is not known."""
    return math.nan if name in TRIVIAL or math.isinf(cut) else entrants.curves[name].score_below(cut)


def _steps(entrants: Entrants, name: str, low: float, high: float, span: OperatingRange) -> Ranges:
    """Return the thresholds of one classifier between two pc."""
    if name in TRIVIAL:
        edges, cuts = np.array([low, high]), np.array([np.inf if name == ALWAYS_NEGATIVE else -np.inf])
    else:
        curve = entrants.curves[name]
        edges = np.concatenate([[low], curve.breaks[(curve.breaks > low) & (curve.breaks < high)], [high]])
        cuts = np.atleast_1d(curve.threshold_at(0.5 * (edges[:-1] + edges[1:])))
    below = tuple((_below(entrants, name, cut), _below(entrants, name, cut)) for cut in cuts.tolist())
    return Ranges((name,) * cuts.size, edges[:-1].copy(), edges[1:].copy(), cuts, cuts.copy(), span, below)


def _fixed_rule(entrants: Entrants, span: OperatingRange) -> FixedRule:
    """Return the one classifier at one threshold whose largest loss in money over the range is smallest.

    The loss is against the cheapest of all classifiers at all thresholds; a policy of one threshold leaves only that.
    It is largest at a corner of the range: for fixed rates it is a maximum of functions that are linear in each of
    prevalence, cost_fp and cost_fn.
    """
    pc, unit = _corners(span)
    never, always = np.zeros(1), np.ones(1)
    rules = {
        ALWAYS_NEGATIVE: (never, never, np.array([np.inf])),
        ALWAYS_POSITIVE: (always, always, np.array([-np.inf])),
    }
    for name in entrants.names:
        roc, curve = entrants.roc(name), entrants.curves[name]
        rules[name] = (roc.fpr[1:-1], roc.tpr[1:-1], roc.thresholds[1:-1])
        if curve.thresholds.size == 1 and not entrants.follows_costs(name):  # its policy has one threshold
            rules[name] = (curve.fpr, 1.0 - curve.fnr, curve.thresholds)
    best = np.minimum(pc, 1.0 - pc)
    for name in entrants.names:  # nothing is cheaper than the vertices of the hull
        hull = entrants.sample.roc(name, "hull")
        best = np.minimum(best, _costs(hull.fpr, hull.tpr, pc).min(axis=0))
        if rules[name][0].size == 1:
            best = np.minimum(best, _costs(*rules[name][:2], pc).min(axis=0))
    found = [
        (money, name not in TRIVIAL, name, i, largest)
        for name, (fpr, tpr, _) in rules.items()
        if fpr.size
        for money, i, largest in [_least_regret(fpr, tpr, pc, unit, best)]
    ]
    money_loss, _, name, i, largest = min(found)
    fpr, tpr, cuts = rules[name]
    cut = float(cuts[i])
    below = math.nan if name in TRIVIAL else entrants.roc(name).score_below(cut)
    return FixedRule(name, cut, float(fpr[i]), float(tpr[i]), largest, money_loss, math.nan, below)


def _with_limit(rule: FixedRule, contest: Contest, span: OperatingRange, level: float) -> FixedRule:
    """Return a rule with the upper limit of its largest loss in money on new cases."""
    upper, candidates = rule.money, contest.field.candidates
    if candidates is not None:
        pc, unit = _corners(span)
        number = None
        if contest.given_choice:
            never = -2 if rule.threshold > 0 else -1  # the places of the trivial classifiers
            number = contest.number_at(rule.classifier, rule.threshold) if math.isfinite(rule.threshold) else never
        upper = loss_limit(candidates, pc, unit, rule.money, level, number)
    return replace(rule, money_upper=upper)


def _corners(span: OperatingRange) -> tuple[FloatArray, FloatArray]:
    """Return pc and what a normalized cost of 1 is worth at the corners of a range."""
    found = [
        OperatingCondition(p, cost_fp=fp, cost_fn=fn)
        for p, fp, fn in product(*(sorted(set(pair)) for pair in (span.prevalence, span.cost_fp, span.cost_fn)))
        if fp + fn > 0
    ]
    return np.array([c.pc for c in found]), np.array([c.unit_cost for c in found])


def _costs(fpr: FloatArray, tpr: FloatArray, pc: FloatArray) -> FloatArray:
    """Return the normalized costs of some rates (rows) at some operating points (columns)."""
    return np.asarray(pc * (1.0 - tpr[:, None]) + (1.0 - pc) * fpr[:, None])


def _least_regret(
    fpr: FloatArray, tpr: FloatArray, pc: FloatArray, unit: FloatArray, best: FloatArray
) -> tuple[float, int, float]:
    """Return the least of the largest losses in money, whose it is, and its largest loss of normalized cost.

    Rates that lose more than some others do at one operating point are left out at the next ones.
    """

    def losses(some: IntArray, at: slice = slice(None)) -> FloatArray:
        cost = _costs(fpr[some], tpr[some], pc[at])
        return np.where(as_cheap(cost, best[at]), 0.0, cost - best[at])

    bound = (losses(np.arange(0, fpr.size, 64)) * unit).max(axis=1).min()
    left = np.arange(fpr.size)
    for k in range(pc.size):
        left = left[losses(left, slice(k, k + 1))[:, 0] * unit[k] <= bound]
    money = (losses(left) * unit).max(axis=1)
    i = int(np.argmin(money))
    return float(money[i]), int(left[i]), float(losses(left[i : i + 1]).max())
