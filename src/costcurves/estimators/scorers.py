"""Scorers for `cross_validate`, `GridSearchCV` and the like: costs with a minus sign, so that greater is better."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import make_scorer

from costcurves._base.errors import InputError
from costcurves._base.validation import check_flag, shown
from costcurves.conditions.condition import OperatingCondition, OperatingRange, check_condition
from costcurves.conditions.cost_matrix import as_cost_matrix, expected_cost
from costcurves.curves.chance import no_question
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.cost_function import check_span
from costcurves.curves.crossfit import Crossfit
from costcurves.curves.steps import Policy
from costcurves.curves.thresholds import as_policy, crossfit
from costcurves.decisions.metrics import (
    FOLDS,
    REPEATS,
    cost_curve_area,
    cross_fitted_cost,
    mean_example_cost,
    normalized_expected_cost,
)
from costcurves.estimators._members import METHODS

PREDICT = "predict"


def expected_cost_scorer(
    condition: Any = None,
    *,
    cost_matrix: Any = None,
    cost_fp: Any = None,
    cost_fn: Any = None,
    policy: Any = None,
    normalized: bool = False,
    pos_label: Any = None,
) -> Any:
    """Return a scorer of what an estimator costs per case: minus the cost, so that greater is better.

    The costs are one of three: those of a condition, of a cost matrix, or those of each example. At a condition the
    estimator is judged with a threshold that suits it, as it should be used; with a cost matrix or costs of examples,
    by the labels that it predicts.

    Parameters
    ----------
    condition : OperatingCondition, or a number read as pc
        Two classes. The prevalence is that of the condition, not that of the data.
    cost_matrix : CostMatrix or table
        k classes, rows true, columns predicted; class frequencies are those of the data. A plain table has labels
        0, 1, …: give a `CostMatrix` with labels for others.
    cost_fp, cost_fn : float, optional
        Without `condition` and `cost_matrix` each example has its own costs: call ``set_score_request(cost_fn=True)``
        on the scorer, with scikit-learn's metadata routing enabled, and pass ``params={"cost_fn": amounts}`` to
        `cross_validate`, or ``cost_fn=amounts`` to `GridSearchCV.fit`. One that is the same for all is given here.
    policy : {"crossfit", "predict"}, or policy
        Which threshold is used at a condition. By default ``"crossfit"``: each case is judged at the threshold that
        costs least on other folds (`cross_fitted_cost`, with ten folds and five repeats unless a policy of
        `thresholds.crossfit` says otherwise), on the scores of `predict_proba` or `decision_function`, which need not
        be calibrated; an estimator that has neither, such as `RocHullClassifier`, is judged by the labels that it
        predicts. ``"bayes"`` trusts `predict_proba` to be calibrated and moves its threshold to the condition; a number
        is a threshold, and other policies are those of `CostCurve`. ``"predict"`` judges the labels that `predict`
        gives: for most classifiers those of the more probable class, whatever the costs are. It is for classifiers
        that know the costs themselves, such as `CostThresholdClassifier`, and the only policy for a cost matrix and for
        costs of examples.
    normalized : bool, default False
        With `condition`, whether costs are relative to always being wrong instead of in money.
    pos_label : label, optional
        The positive class; needed unless labels are booleans, 0/1 or -1/1. Not for a cost matrix.

    Returns
    -------
    scorer
        Called as ``scorer(estimator, X, y)``. Takes `sample_weight` too, by metadata routing.

    Notes
    -----
    A search that judges the labels of `predict` compares classifiers at a threshold that nobody would use: where a
    false alarm costs twenty times as much as a miss, it prefers the classifier that calls nothing positive. The default
    is "crossfit" and not "bayes" because probabilities of trees, of naive Bayes, of strongly regularised and of
    reweighted models are not calibrated, which costs nothing once the threshold is chosen on data. ``"optimal"``
    chooses the threshold on the very cases that it judges: this orders models with the least noise, but its costs are
    too low.

    Examples
    --------
    >>> import costcurves as cc
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> here = cc.OperatingCondition(prevalence=0.1, cost_fp=1, cost_fn=20)
    >>> scorer = cc.expected_cost_scorer(here, pos_label=0)
    >>> cross_val_score(GaussianNB(), X, y, scoring=scorer).round(2).tolist()
    [-0.27, -0.23, -0.1, -0.15, -0.1]
    >>> plain = cc.expected_cost_scorer(here, pos_label=0, policy="predict")
    >>> cross_val_score(GaussianNB(), X, y, scoring=plain).round(2).tolist()
    [-0.25, -0.38, -0.25, -0.22, -0.17]
    """
    normalized = check_flag("normalized", normalized)
    if (condition is not None) + (cost_matrix is not None) + (cost_fp is not None or cost_fn is not None) > 1:
        raise InputError(
            "`condition`, `cost_matrix` and costs of examples must not come together, "
            f"got condition={shown(condition)}, cost_matrix={shown(cost_matrix)}, "
            f"cost_fp={shown(cost_fp)}, cost_fn={shown(cost_fn)}"
        )
    if normalized and condition is None:
        raise InputError("`normalized` must come with `condition`, got None")
    if policy not in (None, PREDICT) and condition is None:
        raise InputError(f"`policy` must be 'predict' without a `condition`, got {shown(policy)}")
    if cost_matrix is not None:
        if pos_label is not None:
            raise InputError(f"`pos_label` must not come with `cost_matrix`, got {shown(pos_label)}")
        return make_scorer(expected_cost, greater_is_better=False, C=as_cost_matrix(cost_matrix))
    if condition is not None:
        options = {"condition": check_condition(condition), "pos_label": pos_label, "normalized": normalized}
        if isinstance(policy, str) and policy == PREDICT:
            return make_scorer(cost_of_labels, greater_is_better=False, **options)
        usual = policy is None or (isinstance(policy, str) and policy == "crossfit")
        rule = crossfit(FOLDS, REPEATS) if usual else as_policy(policy)
        methods = METHODS["predict_proba" if rule.takes_probabilities else "auto"]
        return make_scorer(
            cost_of_scores,
            greater_is_better=False,
            response_method=(*methods, "predict"),  # the last where there are no scores
            policy=rule,
            **options,
        )
    fixed = {name: cost for name, cost in (("cost_fp", cost_fp), ("cost_fn", cost_fn)) if cost is not None}
    return make_scorer(mean_example_cost, greater_is_better=False, pos_label=pos_label, **fixed)


def cost_of_labels(
    y_true: Any,
    y_pred: Any,
    condition: OperatingCondition,
    *,
    normalized: bool,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Return the cost of predicted labels per case, normalized or in money."""
    cost = normalized_expected_cost(y_true, y_pred, condition, pos_label=pos_label, sample_weight=sample_weight)
    return cost if normalized else condition.money(cost)


def cost_of_scores(
    y_true: Any,
    y_score: Any,
    condition: OperatingCondition,
    *,
    policy: Policy,
    normalized: bool,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Return the cost of scores per case under a policy, normalized or in money."""
    given = {"pos_label": pos_label, "sample_weight": sample_weight}
    if np.asarray(y_score).dtype.kind != "f":  # labels of an estimator without scores
        if not policy.cross_fits:
            raise InputError(
                f"`policy` must be 'crossfit' or 'predict' for an estimator without the scores that it needs, "
                f"got {policy!r}"
            )
        return cost_of_labels(y_true, y_score, condition, normalized=normalized, **given)
    if isinstance(policy, Crossfit):
        cost = cross_fitted_cost(y_true, y_score, condition, folds=policy.number, repeats=policy.repeats, **given)
    else:
        with no_question():
            cost = float(CostCurve.from_predictions(y_true, y_score, policy=policy, **given).evaluate(condition))
    return cost if normalized else condition.money(cost)


def cost_curve_area_scorer(
    *,
    pc: tuple[float, float] | OperatingRange = (0.0, 1.0),
    weight: Any = None,
    policy: Any = "optimal",
    pos_label: Any = None,
) -> Any:
    """Return a scorer of the area under an estimator's cost curve: minus the area, so that greater is better.

    Parameters
    ----------
    pc, weight, policy, pos_label
        As for `cost_curve_area`. With ``policy="bayes"`` the estimator must have `predict_proba`; otherwise
        `predict_proba` or `decision_function`.

    Examples
    --------
    >>> import costcurves as cc
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> cross_val_score(GaussianNB(), X, y, scoring=cc.cost_curve_area_scorer()).round(3).tolist()
    [-0.052, -0.037, -0.018, -0.026, -0.019]
    """
    method = "predict_proba" if as_policy(policy).takes_probabilities else "auto"
    return make_scorer(
        cost_curve_area,
        greater_is_better=False,
        response_method=METHODS[method],
        pc=check_span(pc),
        weight=weight,
        policy=policy,
        pos_label=pos_label,
    )
