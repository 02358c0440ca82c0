"""Promise and outcome: whether new labelled cases cost what was promised, and if not, which part changed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError, UnsupportedError
from costcurves._base.frames import NamedColumns, columns_of
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    MOST_COST,
    BoolArray,
    Column,
    FloatArray,
    check_level,
    check_nonnegative,
    shown,
)
from costcurves.conditions.condition import ConditionLike, OperatingCondition, check_condition
from costcurves.counting import counts
from costcurves.counting.class_labels import Label
from costcurves.counting.labels import LabelRule
from costcurves.curves.choices import TRIVIAL, Choice
from costcurves.curves.hull import RocHull
from costcurves.decisions.promise_check import PromiseCheck
from costcurves.decisions.recommend import Recommendation
from costcurves.inference.family import hochberg
from costcurves.inference.optimism import optimism_of
from costcurves.inference.promises import (
    CHOSEN,
    OPTIMISM,
    NewCounts,
    PromisedRate,
    PromiseTests,
    promise_tests,
    split_optimism,
)
from costcurves.inference.rates import cells_interval, critical, mended_wilson


def check_promise(
    promise: Recommendation | RocHull,
    y_true: Column,
    scores: NamedColumns | npt.ArrayLike | None = None,
    *,
    condition: ConditionLike | None = None,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    pos_label: Label | None = None,
    sample_weight: npt.ArrayLike | None = None,
    level: float = DEFAULT_LEVEL,
) -> PromiseCheck:
    """Return whether new labelled cases agree with what was promised, and if not, which part moved.

    Parameters
    ----------
    promise : Recommendation, or RocHull together with `condition`
        What was promised: a classifier at a threshold, its rates, its cost, and the prevalence.
    y_true : array-like of shape (n,)
        True labels of the new cases, of one class or both.
    scores : mapping of name to array-like of shape (n,), dataframe, or array-like of shape (n,)
        Scores of the new cases: those of the promised classifier, alone or by name among others. Not needed if the
        promise is to look at no score.
    condition : OperatingCondition, or a number read as pc
        For a hull: the condition at which its best choice was promised.
    cost_fp, cost_fn : float, optional
        What errors cost now; by default what they were promised to cost.
    pos_label, sample_weight
        As for `RocCurve.from_predictions`.
    level : float in (0, 1)
        If nothing has changed, nothing is called changed with at least this probability, and the limits have it, too.

    Notes
    -----
    A promise is uncertain itself, and its rates were those of a threshold that was chosen on the same cases. So rates
    are first moved by the optimism of that choice; then true rates are drawn as the cases of the promise leave them
    open, and new cases are drawn from these. p-values are the two-sided mid-P values of the new counts among the drawn
    ones. Rates that a hull took from no counts (`RocCurve.from_rates`) are taken as known.

    The change of the cost p·fnr·cost_fn + (1-p)·fpr·cost_fp is split at the mean of promised and observed values, so
    that the parts add up: the prevalence gets Δp·(cost_fn·mean fnr - cost_fp·mean fpr), the misses
    cost_fn·(mean p)·Δfnr, the false alarms cost_fp·(1 - mean p)·Δfpr; changed costs of errors get the rest.

    Examples
    --------
    >>> import costcurves as cc
    >>> old, new = [0] * 50 + [1] * 50, [0] * 20 + [1] * 20
    >>> promise = cc.recommend(old, {"model": [*range(50), *range(40, 90)]}, 0.5)
    >>> cc.check_promise(promise, new, {"model": [*range(30, 50), *range(40, 60)]}).kept
    True
    """
    level = check_level(level)
    said = _said(promise, condition)
    rule = LabelRule(pos_label)
    positive = rule.positives(y_true)
    if positive.size == 0:
        raise DataError("`y_true` must have at least one new case, got 0")
    weights = None if sample_weight is None else counts.checked_weights(sample_weight, positive.size)
    alarm = _alarms(said.choice, scores, positive.size)
    new = _new_counts(positive, alarm, weights)
    where = said.condition
    if where.pc_only and (cost_fp is not None or cost_fn is not None):
        raise InputError("`cost_fp` and `cost_fn` need a promise in money, got one at a pc")
    now = (
        where.cost_fn if cost_fn is None else check_nonnegative("cost_fn", cost_fn),
        where.cost_fp if cost_fp is None else check_nonnegative("cost_fp", cost_fp),
    )
    for name, cost in (("promise", max(where.cost_fn, where.cost_fp)), ("cost_fn", now[0]), ("cost_fp", now[1])):
        if cost > MOST_COST:
            raise InputError(f"`{name}` must have costs of at most {MOST_COST:g}, got {shown(cost)}")
    return _checked(said, new, positive, now, level)


@dataclass(frozen=True, slots=True)
class _Said:
    """What was promised: the rule, and its rates on new cases with the numbers of cases behind them."""

    choice: Choice
    condition: OperatingCondition
    fnr: PromisedRate
    fpr: PromisedRate
    limits: tuple[float, float] | None  # of the normalized cost, where the promise has them


def _said(promise: Any, condition: Any) -> _Said:
    if isinstance(promise, Recommendation):
        if condition is not None:
            raise InputError(
                f"`condition` must be None with a Recommendation, which has its own, got {shown(condition)}"
            )
        best, where = promise.best, promise.condition
        optimism = float(promise.estimate[0]) - best.normalized_cost
        limits = float(promise.lower[0]), float(promise.upper[0])
        return _with_optimism(best, where, promise._sizes, optimism, limits)
    if not isinstance(promise, RocHull):
        raise InputError(
            "`promise` must be a Recommendation, or a RocHull together with `condition`, "
            f"got {shown(promise)} ({type(promise).__name__})"
        )
    if condition is None:
        raise InputError("`condition` must say at which condition the hull promised its best choice, got None")
    where = check_condition(condition)
    found = promise.best(where)
    choice = Choice(*(getattr(found, name) for name in Choice.__slots__))
    curve = promise.roc_curves().get(choice.classifier) if promise.has_curves else None
    if choice.classifier in TRIVIAL or (curve is not None and curve.made_from == "rates"):
        return _with_optimism(choice, where, (math.inf, math.inf), 0.0, None)
    if curve is None:
        raise UnsupportedError(
            "`promise` needs a hull that has its curves; one that was added to or read from JSON does not have them"
        )
    sizes = curve.effective or (float(curve.n_pos), float(curve.n_neg))
    kept = curve.on_hull()
    scale = sizes[0] / curve.n_pos, sizes[1] / curve.n_neg
    optimism = 0.0
    if curve.has_thresholds:
        optimism = OPTIMISM * float(optimism_of(kept.tp * scale[0], kept.fp * scale[1], np.array([where.pc]))[0])
    return _with_optimism(choice, where, sizes, optimism, None)


def _with_optimism(
    choice: Choice,
    where: OperatingCondition,
    sizes: tuple[float, float],
    optimism: float,
    limits: tuple[float, float] | None,
) -> _Said:
    known = choice.classifier in TRIVIAL or math.isinf(choice.threshold)
    worth = math.inf if known else CHOSEN if optimism > 0 else 1.0
    fnr, fpr = PromisedRate(1.0 - choice.tpr, worth * sizes[0]), PromisedRate(choice.fpr, worth * sizes[1])
    more = split_optimism(optimism, where.pc, fnr, fpr)
    return _Said(
        choice, where, PromisedRate(fnr.rate + more[0], fnr.cases), PromisedRate(fpr.rate + more[1], fpr.cases), limits
    )


def _alarms(choice: Choice, scores: Any, size: int) -> BoolArray:
    """Return which of the new cases raise an alarm under the promised rule."""
    name = choice.classifier
    if name in TRIVIAL or math.isinf(choice.threshold):
        return np.full(size, choice.threshold == -math.inf)
    if math.isnan(choice.threshold):
        raise UnsupportedError(f"`promise` needs a classifier with scores, got {name!r}, which has no threshold")
    if scores is None:
        raise InputError(f"`scores` must have those of the promised classifier {name!r}, got None")
    if isinstance(scores, Mapping) or hasattr(scores, "columns"):
        columns = columns_of("scores", scores)
        if name not in columns:
            raise InputError(f"`scores` must have the promised classifier {name!r}, got {shown(list(columns))}")
        scores = columns[name]
    checked = counts.checked_scores(scores, "scores")
    counts.same_length("scores", checked, "y_true", size)
    return np.asarray(checked >= choice.threshold)


def _new_counts(positive: BoolArray, alarm: BoolArray, weights: FloatArray | None) -> NewCounts:
    weight = np.ones(positive.size) if weights is None else weights
    sums = [float(weight[mask].sum()) for mask in (positive, ~positive)]
    if sum(sums) <= 0:
        raise DataError("`sample_weight` must not be zero for all cases, got only zeros")
    wrong = [float(weight[mask].sum()) for mask in (positive & ~alarm, ~positive & alarm)]
    rates = [part / whole if whole > 0 else math.nan for part, whole in zip(wrong, sums, strict=True)]
    # As many cases as the weights are worth, in the proportion of their sums.
    worth = counts.effective_number(weight) / sum(sums)
    return NewCounts(sums[0] * worth, sums[1] * worth, rates[0], rates[1])


def _checked(said: _Said, new: NewCounts, positive: BoolArray, now: tuple[float, float], level: float) -> PromiseCheck:
    where = said.condition
    n = new.pos + new.neg
    p_new = new.pos / n
    costs = where.cost_fn, where.cost_fp
    miss, alarm = np.nan_to_num(new.fnr), np.nan_to_num(new.fpr)
    # A class without a case adds nothing to the cost; for the parts of the change its rate is the promised one.
    fnr_now = said.fnr.rate if math.isnan(new.fnr) else new.fnr
    fpr_now = said.fpr.rate if math.isnan(new.fpr) else new.fpr
    if where.pc_only:  # nothing is said about class frequencies, so rates are weighed by pc
        p_was = p_now = 0.5
        miss, alarm = fnr_now, fpr_now
        tests = promise_tests(None, said.fnr, said.fpr, _per_rate(costs, new), new)
    else:
        p_was, p_now = where.prevalence, p_new
        tests = promise_tests(p_was, said.fnr, said.fpr, costs, new)
    baseline = where.baseline
    cost_was = baseline + costs[0] * p_was * said.fnr.rate + costs[1] * (1 - p_was) * said.fpr.rate
    cost_now = baseline + now[0] * p_now * miss + now[1] * (1 - p_now) * alarm
    middle = (p_was + p_now) / 2
    of_p = (p_now - p_was) * (costs[0] * (said.fnr.rate + fnr_now) / 2 - costs[1] * (said.fpr.rate + fpr_now) / 2)
    of_miss = costs[0] * middle * (fnr_now - said.fnr.rate)
    of_alarm = costs[1] * (1 - middle) * (fpr_now - said.fpr.rate)
    p_value = np.array([tests.cost, tests.prevalence, tests.fpr, tests.fnr])
    was = _promised(said, tests, cost_was, level)
    seen = _observed(new, now, cost_now, baseline, level, pc_only=where.pc_only)
    return PromiseCheck(
        choice=said.choice,
        condition=where,
        n=positive.size,
        n_pos=int(positive.sum()),
        promised=was[0],
        promised_lower=np.minimum(was[1], was[0]),
        promised_upper=np.maximum(was[2], was[0]),
        observed=seen[0],
        observed_lower=seen[1],
        observed_upper=seen[2],
        p_value=p_value,
        adjusted=_adjusted(p_value),
        due_to_prevalence=float(of_p),
        due_to_misses=float(of_miss),
        due_to_alarms=float(of_alarm),
        due_to_costs=float((now[0] - costs[0]) * p_now * miss + (now[1] - costs[1]) * (1 - p_now) * alarm),
        cost_fn=now[0],
        cost_fp=now[1],
        level=level,
    )


def _per_rate(costs: tuple[float, float], new: NewCounts) -> tuple[float, float]:
    """Return what an error of a new case adds if rates are weighed by pc, not by the class frequencies."""
    return costs[0] / max(new.pos, 1.0), costs[1] / max(new.neg, 1.0)


def _adjusted(p_value: FloatArray) -> FloatArray:
    tested = ~np.isnan(p_value)
    out = np.full(p_value.size, np.nan)
    out[tested] = hochberg(p_value[tested])
    return out


def _promised(said: _Said, tests: PromiseTests, cost: float, level: float) -> FloatArray:
    """Return what was promised about cost, prevalence, fpr and tpr: values, lower and upper limits."""
    where, tails = said.condition, [0.5 - 0.5 * level, 0.5 + 0.5 * level]
    if said.limits is None:
        drawn = where.pc * tests.fnr_draws + (1 - where.pc) * tests.fpr_draws
        limits = [where.money(value) for value in np.quantile(drawn, tails).tolist()]
    else:
        limits = [where.money(value) for value in said.limits]
    prevalence = math.nan if where.pc_only else where.prevalence
    fpr, fnr = np.quantile(tests.fpr_draws, tails), np.quantile(tests.fnr_draws, tails)
    return np.array(
        [
            [cost, prevalence, said.fpr.rate, 1 - said.fnr.rate],
            [limits[0], prevalence, fpr[0], 1 - fnr[1]],
            [limits[1], prevalence, fpr[1], 1 - fnr[0]],
        ]
    )


def _observed(
    new: NewCounts, costs: tuple[float, float], cost: float, baseline: float, level: float, *, pc_only: bool
) -> FloatArray:
    """Return the same of the new cases."""
    z, n = critical(level), new.pos + new.neg
    fn, fp = new.pos * np.nan_to_num(new.fnr), new.neg * np.nan_to_num(new.fpr)
    if pc_only:
        strata = [
            (np.array([wrong, whole - wrong]), np.array([weight / 2, 0.0]))
            for wrong, whole, weight in ((fn, new.pos, costs[0]), (fp, new.neg, costs[1]))
            if whole > 0
        ]
    else:
        strata = [(np.array([fn, fp, n - fn - fp]), np.array([*costs, 0.0]))]
    _, low, high = cells_interval(strata, z)
    rows = [[cost], [min(float(low) + baseline, cost)], [max(float(high) + baseline, cost)]]
    for wrong, whole in ((new.pos, n), (fp, new.neg), (new.pos - fn, new.pos)):
        if whole <= 0:
            values = [math.nan] * 3
        else:
            lower, upper = mended_wilson(wrong, whole, z)
            values = [wrong / whole, float(lower), float(upper)]
        for row, value in zip(rows, values, strict=True):
            row.append(value)
    return np.array(rows)
