"""Costs that differ from example to example: what a policy costs, and which of two classifiers costs less."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError
from costcurves._base.validation import BoolArray, Column, FloatArray, Rng, check_number, shown
from costcurves.counting import counts
from costcurves.counting.class_labels import Label
from costcurves.counting.labels import binary_labels
from costcurves.curves.thresholds import PairOfPolicies, PolicyLike
from costcurves.inference.bands.results import DifferenceInterval, Interval
from costcurves.inference.example_costs import (
    ExampleMethodName,
    checked_costs,
    compare_example_costs,
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
    level: float = 0.95,
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
    method : {"bootstrap-t", "exact", "t", "resample"}
        "bootstrap-t" resamples Student's t, which allows for skewed costs; where fewer than ten cases cost anything, it
        also allows for an error in the most expensive case of the data. "exact" takes quantiles of the exact bootstrap
        distribution of the mean, "t" is Student's interval, "resample" takes quantiles of resamples.
    n_resamples, rng
        For "bootstrap-t" and "resample", as for `compare`.
    max_cost : float, optional
        What a case can cost at most, if that is known, for example from contracts.

    Warns
    -----
    SmallSampleWarning
        If fewer than ten cases cost anything, or if the costs have a heavy tail. If the estimated tail index is 1/2 or
        more, so that much of the mean may come from costs that are larger than any in the data, the upper limit of
        "bootstrap-t" is infinite. With `max_cost` there is a limit, which allows for such a case.

    Examples
    --------
    >>> import costcurves as cc
    >>> fraud, score = [1, 0, 0, 1, 0, 0] * 20, [0.9, 0.2, 0.6, 0.3, 0.1, 0.4] * 20
    >>> amount = [120.0, 40.0, 80.0, 15.0, 60.0, 20.0] * 20
    >>> cc.example_cost(fraud, score, cost_fp=5, cost_fn=amount, policy=0.5)
    Interval(3.333 in [2.426, 4.499], level=0.95)
    """
    positive = binary_labels(y_true, pos_label)
    costs = _incurred(positive, y_score, cost_fp, cost_fn, policy, "y_score")
    options: dict[str, Any] = {"level": level, "method": method, "n_resamples": n_resamples, "rng": rng}
    options |= {"at_stake": incurred_costs(positive, ~positive, cost_fp, cost_fn), "max_cost": max_cost}
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
    level: float = 0.95,
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
        As for `example_cost`. Without `max_cost`, the upper limit is infinite if what a costs more than b has a heavy
        tail, and the lower one if what b costs more has. A finite limit that excludes zero still decides.

    Examples
    --------
    >>> import costcurves as cc
    >>> fraud, amount = [1, 0, 0, 1, 0, 0] * 20, [20.0, 40.0, 80.0, 15.0, 60.0, 20.0] * 20
    >>> a, b = [0.9, 0.2, 0.6, 0.3, 0.1, 0.4] * 20, [0.2, 0.1, 0.1, 0.9, 0.3, 0.2] * 20
    >>> cc.compare_example_cost(fraud, a, b, cost_fp=5, cost_fn=amount, policy=0.5)
    DifferenceInterval(a - b = 0 in [-1.882, 1.77], level=0.95, p=0.997)
    """
    positive = binary_labels(y_true, pos_label)
    rules = policy if isinstance(policy, (tuple, list)) and len(policy) == 2 else (policy, policy)
    costs = [
        _incurred(positive, score, cost_fp, cost_fn, rule, name)
        for score, rule, name in zip((score_a, score_b), rules, ("score_a", "score_b"), strict=True)
    ]
    options: dict[str, Any] = {"level": level, "method": method, "n_resamples": n_resamples, "rng": rng}
    options |= {"at_stake": incurred_costs(positive, ~positive, cost_fp, cost_fn), "max_cost": max_cost}
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
