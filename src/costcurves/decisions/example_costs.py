"""Costs that differ from example to example: what a policy costs, and which of two classifiers costs less."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError
from costcurves._base.validation import DEFAULT_LEVEL, BoolArray, Column, FloatArray, Rng, check_number, shown
from costcurves.counting import counts
from costcurves.counting.class_labels import Label
from costcurves.counting.labels import binary_labels
from costcurves.curves.thresholds import PairOfPolicies, PolicyLike
from costcurves.inference.bands.results import DifferenceInterval, Interval
from costcurves.inference.example_costs import (
    ExampleMethodName,
    checked_costs,
    compare_example_costs,
    costs_at_stake,
    example_cost_interval,
    incurred_costs,
)


def example_cost(
    y_true: Column,
    y_score: npt.ArrayLike,
    *,
    cost_fp: npt.ArrayLike,
    cost_fn: npt.ArrayLike,
    policy: PolicyLike,
    pos_label: Label | None = None,
    level: float = DEFAULT_LEVEL,
    method: ExampleMethodName = "bootstrap-t",
    n_resamples: int = 2000,
    rng: Rng = 0,
    max_cost: float | None = None,
) -> Interval:
    """Return the expected cost per case with its interval, where every example has its own costs.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_score : array-like of shape (n,)
        Scores; probabilities for ``policy="bayes"``.
    cost_fp, cost_fn : float or array-like of shape (n,)
        What a false alarm and a miss cost, for all examples or for each of them: a miss may cost the amount of the
        transaction.
    policy : float or "bayes"
        One threshold (score >= threshold predicts positive), or the cheaper decision for each example:
        positive if and only if ``(1 - score)·cost_fp < score·cost_fn`` with its own costs.
    pos_label : label, optional
        The positive class; needed unless labels are booleans, 0/1 or -1/1.
    level : float in (0, 1)
    method : {"bootstrap-t", "dirichlet", "exact", "t", "resample"}
        "bootstrap-t" takes quantiles of the mean's error in units of its standard error, from resamples. Where all
        errors of a kind cost the same, fewer than twenty cases cost anything, or what errors would cost has a tail
        index of 0.6 or more, "dirichlet" stands in for it: quantiles of means under random weights of the cases and of
        one more case, which costs nothing for the lower limit, and for the upper limit as much as is possible. "exact"
        takes quantiles of the exact bootstrap distribution of the mean, "t" is Student's interval, and "resample" takes
        quantiles of resamples.
    n_resamples, rng
        For "bootstrap-t" and "resample", as for `compare`.
    max_cost : float, optional
        What a case can cost at most, if that is known, for example from contracts. The limits of "dirichlet" then hold
        however costs below it are distributed. Without it, the largest possible cost is estimated from what errors
        would cost in all cases.

    Warns
    -----
    SmallSampleWarning
        If there is no `max_cost` and what errors would cost does not show how large costs may be: it differs and is
        known of fewer than twenty positives (or negatives), or its tail is so heavy that the mean itself may be
        infinite. The upper limit is then infinite. Costs that are the same for all errors of a kind, and costs with a
        cap that occurs three times or more, have a limit however few cases there are.

    Notes
    -----
    With costs of one amount, the limits of "dirichlet" are those of Clopper and Pearson. Its estimate of the largest
    possible cost is x/(1 - h), with the largest amount x that errors of a kind would cost in the data and the tail
    index h of these amounts; for a mean cost, two standard errors are added to h. No method can know of costs that are
    not in the data and do not follow from their tail.

    Examples
    --------
    >>> import costcurves as cc
    >>> fraud, score = [1, 0, 0, 1, 0, 0] * 20, [0.9, 0.2, 0.6, 0.3, 0.1, 0.4] * 20
    >>> amount = [120.0, 40.0, 80.0, 15.0, 60.0, 20.0] * 20
    >>> cc.example_cost(fraud, score, cost_fp=5, cost_fn=amount, policy=0.5)
    Interval(3.333 in [2.262, 4.727], level=0.95)
    """
    positive = binary_labels(y_true, pos_label)
    costs = _incurred(positive, y_score, cost_fp, cost_fn, policy, "y_score")
    options: dict[str, Any] = {"level": level, "method": method, "n_resamples": n_resamples, "rng": rng}
    options |= {"at_stake": costs_at_stake(positive, cost_fp, cost_fn), "max_cost": max_cost}
    return example_cost_interval(costs, **options)


def compare_example_cost(
    y_true: Column,
    score_a: npt.ArrayLike,
    score_b: npt.ArrayLike,
    *,
    cost_fp: npt.ArrayLike,
    cost_fn: npt.ArrayLike,
    policy: PairOfPolicies,
    pos_label: Label | None = None,
    level: float = DEFAULT_LEVEL,
    method: ExampleMethodName = "bootstrap-t",
    n_resamples: int = 2000,
    rng: Rng = 0,
    max_cost: float | None = None,
) -> DifferenceInterval:
    """Return the difference of two classifiers' expected costs, where every example has its own costs.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    score_a, score_b : array-like of shape (n,)
        Scores of the two classifiers for the same examples.
    policy : float, "bayes", or a pair of them
        As for `example_cost`; a pair gives each classifier its own.
    cost_fp, cost_fn, pos_label, level, method, n_resamples, rng, max_cost
        As for `example_cost`. In a case that was not seen, either classifier may cost more by as much as is possible:
        without a limit of that, neither limit of the difference is finite.

    Examples
    --------
    >>> import costcurves as cc
    >>> fraud, amount = [1, 0, 0, 1, 0, 0] * 20, [20.0, 40.0, 80.0, 15.0, 60.0, 20.0] * 20
    >>> a, b = [0.9, 0.2, 0.6, 0.3, 0.1, 0.4] * 20, [0.2, 0.1, 0.1, 0.9, 0.3, 0.2] * 20
    >>> cc.compare_example_cost(fraud, a, b, cost_fp=5, cost_fn=amount, policy=0.5)
    DifferenceInterval(a - b = 0 in [-2.367, 2.121], level=0.95, p=1)
    """
    positive = binary_labels(y_true, pos_label)
    rules = policy if isinstance(policy, (tuple, list)) and len(policy) == 2 else (policy, policy)
    costs = [
        _incurred(positive, score, cost_fp, cost_fn, rule, name)
        for score, rule, name in zip((score_a, score_b), rules, ("score_a", "score_b"), strict=True)
    ]
    options: dict[str, Any] = {"level": level, "method": method, "n_resamples": n_resamples, "rng": rng}
    options |= {"at_stake": costs_at_stake(positive, cost_fp, cost_fn), "max_cost": max_cost}
    return compare_example_costs(*costs, **options)


def _incurred(positive: BoolArray, y_score: Any, cost_fp: Any, cost_fn: Any, policy: Any, name: str) -> FloatArray:
    """Return what each example cost under the policy."""
    scores = counts.checked_scores(y_score, name)
    counts.same_length(name, scores, "y_true", positive.size)
    predicted: npt.NDArray[np.bool_]
    if isinstance(policy, str):
        if policy != "bayes":
            raise InputError(f"`policy` must be a number (one threshold) or 'bayes', got {shown(policy)}")
        if scores.min() < 0 or scores.max() > 1:
            bad = scores.max() if scores.max() > 1 else scores.min()
            raise DataError(f"`{name}` must be probabilities in [0, 1] for policy='bayes', got {shown(bad)}")
        alarm, miss = (
            checked_costs(name, cost, positive.shape) for name, cost in (("cost_fp", cost_fp), ("cost_fn", cost_fn))
        )
        predicted = np.broadcast_to((1.0 - scores) * alarm < scores * miss, positive.shape)
    else:
        predicted = scores >= check_number("policy", policy)
    return incurred_costs(positive, predicted, cost_fp, cost_fn)
