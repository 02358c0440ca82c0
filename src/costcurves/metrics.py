"""Metrics in scikit-learn's form, `metric(y_true, y_pred, ...)`: the lower the better. Needs no scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from costcurves import counts
from costcurves._validation import BoolArray, shown
from costcurves.conditions import OperatingRange, check_condition
from costcurves.confusion import check_weights
from costcurves.costs import CostCurve
from costcurves.errors import DataError, InputError
from costcurves.inference.examples import incurred_costs
from costcurves.roc import RocCurve


def normalized_expected_cost(
    y_true: Any, y_pred: Any, condition: Any, *, pos_label: Any = None, sample_weight: Any = None
) -> float:
    """Return the cost of predicted labels at an operating condition, as a share of always being wrong.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted labels of two classes.
    condition : OperatingCondition, or a number read as pc
        Where the classifier will be used; its prevalence replaces that of the data.
    pos_label : label, optional
        The positive class; needed unless labels are booleans, 0/1 or -1/1.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.

    Returns
    -------
    float in [0, 1]
        ``pc·fnr + (1-pc)·fpr``.

    See Also
    --------
    expected_cost_scorer : the same in money or normalized, as a scorer.

    Examples
    --------
    >>> import costcurves as cc
    >>> here = cc.OperatingCondition(prevalence=0.2, cost_fp=1, cost_fn=4)
    >>> cc.normalized_expected_cost([0, 0, 1, 1], [0, 1, 1, 1], here)
    0.25
    """
    where = check_condition(condition)
    positive, predicted = predicted_classes(y_true, y_pred, pos_label)
    roc = RocCurve.from_predictions(positive, predicted, sample_weight=sample_weight)
    return float(CostCurve(roc, policy=1).evaluate(where.pc))


def cost_curve_area(
    y_true: Any,
    y_score: Any,
    *,
    pc: tuple[float, float] | OperatingRange = (0.0, 1.0),
    weight: Any = None,
    policy: Any = "optimal",
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Return the area under the cost curve of scores: the expected normalized cost when the condition is not known.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n,)
        True labels of two classes, and scores that are higher for the positive one.
    pc : (low, high) or OperatingRange
        The part of the axis to integrate over.
    weight : Beta, callable or an object with ``pdf``, optional
        How likely each pc is; by default all alike. See `CostCurve.area`.
    policy : "optimal", "bayes", a number, or a policy from `costcurves.thresholds`
        How the threshold follows pc. "optimal" judges the ranking alone and is optimistic; "bayes" takes the scores
        for probabilities, so it judges their calibration too.
    pos_label, sample_weight
        As for `normalized_expected_cost`.

    Returns
    -------
    float in [0, 0.5] for the optimal policy over all of pc without a weight; a worthless ranking has 0.25.

    See Also
    --------
    cost_curve_area_scorer : the same as a scorer.

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.cost_curve_area([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.125
    """
    curve = CostCurve.from_predictions(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight, policy=policy)
    return curve.area(pc, weight=weight)


def mean_example_cost(
    y_true: Any,
    y_pred: Any,
    *,
    cost_fp: Any = None,
    cost_fn: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Return the mean cost of predicted labels where each example has its own costs."""
    for name, cost in (("cost_fp", cost_fp), ("cost_fn", cost_fn)):
        if cost is None:
            raise InputError(
                f"`{name}` must be given, as a number or for each example, got None: with metadata routing enabled, "
                f"call set_score_request({name}=True) on the scorer and pass params={{'{name}': ...}}"
            )
    positive, predicted = predicted_classes(y_true, y_pred, pos_label)
    costs = incurred_costs(positive, predicted, cost_fp, cost_fn)
    return float(np.average(costs, weights=check_weights(sample_weight, positive.size)))


def predicted_classes(y_true: Any, y_pred: Any, pos_label: Any) -> tuple[BoolArray, BoolArray]:
    """Return which examples are positive and which are predicted so; a prediction of any third label is refused."""
    positive = counts.binary_labels(y_true, pos_label)
    guesses = np.asarray(y_pred)
    if guesses.ndim != 1:
        raise DataError(f"`y_pred` must be 1-D, got shape {guesses.shape}")
    counts.same_length("y_pred", guesses, "y_true", positive.size)
    labels = np.asarray(y_true)
    known: list[Any] = [labels[positive][:1], labels[~positive][:1]]
    # A sample of one class does not show the other label.
    yes = known[0][0] if known[0].size else (1 if pos_label is None else pos_label)
    predicted = np.asarray(guesses == yes, dtype=np.bool_)
    strange = ~predicted & (guesses != known[1][0]) if known[1].size else np.zeros(positive.size, dtype=np.bool_)
    if strange.any():
        raise DataError(
            f"`y_pred` must hold the two labels of `y_true`, got {shown(guesses[strange][0])} "
            f"beside {shown(known[1][0])} and {shown(yes)}"
        )
    return positive, predicted
