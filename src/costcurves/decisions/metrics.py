"""Metrics in scikit-learn's form, `metric(y_true, y_pred, ...)`: the lower the better. Needs no scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError
from costcurves._base.validation import BoolArray, Column, check_integer, shown
from costcurves.conditions.condition import ConditionLike, check_condition
from costcurves.conditions.range import RangeLike
from costcurves.counting import counts
from costcurves.counting.class_labels import Label, check_weights
from costcurves.counting.folds import class_sizes, largest_number
from costcurves.counting.labels import binary_labels, checked_cases
from costcurves.curves.chance import no_question
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.roc import RocCurve
from costcurves.curves.thresholds import PolicyLike, crossfit
from costcurves.inference.example_costs import incurred_costs

# Into how many folds `cross_fitted_cost` divides the cases, and how often.
FOLDS = 10
REPEATS = 5


def normalized_expected_cost(
    y_true: Column,
    y_pred: Column,
    condition: ConditionLike,
    *,
    pos_label: Label | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Return the cost of predicted labels at a condition, as a share of the cost of getting every case wrong.

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
    with no_question():  # a search asks many times, of models whose scores are of the right class
        roc = RocCurve.from_predictions(positive, predicted, sample_weight=sample_weight)
    return float(CostCurve(roc, policy=1).evaluate(where.pc))


def cross_fitted_cost(
    y_true: Column,
    y_score: npt.ArrayLike,
    condition: ConditionLike,
    *,
    n_folds: int = FOLDS,
    n_repeats: int = REPEATS,
    pos_label: Label | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Return the cost of scores at an operating condition, each case judged at a threshold that others have chosen.

    It answers what a classifier costs with the threshold that suits the condition, without the flattery of choosing the
    threshold on the cases that judge it, and without trusting its scores to be calibrated probabilities.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n,)
        True labels, at least two of each class, and scores that are higher for the positive one.
    condition : OperatingCondition, or a number read as pc
        Where the classifier will be used; its prevalence replaces that of the data.
    n_folds : int
        The number of folds; as many as the smaller class has cases, if these are fewer.
    n_repeats : int
        The number of divisions into folds, whose costs are averaged.
    pos_label, sample_weight
        As for `normalized_expected_cost`.

    Returns
    -------
    float in [0, 1]
        ``pc·fnr + (1-pc)·fpr``, a share of the cost of getting every case wrong.

    See Also
    --------
    costcurves.thresholds.crossfit : the same at every condition, as a cost curve.
    expected_cost_scorer : the same in money or normalized, as a scorer.

    Notes
    -----
    This is the cost curve of ``policy=cc.thresholds.crossfit(n_folds, n_repeats)`` at one condition: the cases of a
    fold are judged at the threshold that costs least on all other folds. Neither the order of the rows nor a monotone
    transform of the scores matters, and the same data always have the same cost.

    Examples
    --------
    >>> import numpy as np
    >>> import costcurves as cc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(100) < 0.3
    >>> scores = y + rng.normal(0, 0.8, 100)
    >>> round(cc.cross_fitted_cost(y, scores, 0.5), 3)
    0.289
    >>> round(cc.CostCurve.from_predictions(y, scores).evaluate(0.5), 3)  # the threshold is chosen on the same cases
    0.233
    """
    where = check_condition(condition)
    n_folds, n_repeats = check_integer("n_folds", n_folds, 2), check_integer("n_repeats", n_repeats, 1)
    cases = checked_cases(y_true, y_score, pos_label, sample_weight)
    positive, _, weights = cases
    number = largest_number(*class_sizes(positive, weights), n_folds)
    with no_question():
        roc = RocCurve.of_checked(*cases, name=counts.UNNAMED, points="all")
    return float(CostCurve(roc, crossfit(number, n_repeats).for_cases(*cases)).evaluate(where.pc))


def cost_curve_area(
    y_true: Column,
    y_score: npt.ArrayLike,
    *,
    over: RangeLike = None,
    weight: Any = None,
    policy: PolicyLike = "optimal",
    pos_label: Label | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Return the area under the cost curve of scores: the expected normalized cost when the condition is not known.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n,)
        True labels of two classes, and scores that are higher for the positive one.
    over : OperatingRange or (low, high), optional
        The part of the axis to integrate over; a pair is one of pc. By default it is all of pc.
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
    with no_question():
        curve = CostCurve.from_predictions(
            y_true, y_score, pos_label=pos_label, sample_weight=sample_weight, policy=policy
        )
    return curve.area(over, weight=weight)


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
    positive = binary_labels(y_true, pos_label)
    guesses = counts.one_dimensional("y_pred", y_pred)
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
