"""Scorers for `cross_validate`, `GridSearchCV` and similar tools: negative costs, so that greater is better."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import make_scorer

from costcurves._base.errors import InputError
from costcurves._base.validation import check_flag, check_instance, is_among, shown
from costcurves.conditions.condition import ConditionLike, OperatingCondition, check_condition
from costcurves.conditions.cost_matrix import CostsLike, as_cost_matrix, expected_cost
from costcurves.conditions.range import RangeLike, span_of
from costcurves.counting.class_labels import Label
from costcurves.curves.chance import no_question
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.crossfit import Crossfit
from costcurves.curves.hull import RocHull
from costcurves.curves.policy import Policy
from costcurves.curves.roc import RocCurve
from costcurves.curves.thresholds import Optimal, as_policy, crossfit
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
    condition: ConditionLike | None = None,
    *,
    costs: CostsLike | None = None,
    cost_fp: Any = None,
    cost_fn: Any = None,
    policy: Any = None,
    normalized: bool = False,
    pos_label: Label | None = None,
) -> Any:
    """Make a scorer that returns minus the cost of an estimator per case, so that greater is better.

    Costs are given by a condition, by a cost matrix, or for each example. At a condition, the estimator is evaluated
    with a threshold that suits the condition, as it should be used. With a cost matrix or costs of examples, it is
    evaluated by the labels that it predicts.

    Parameters
    ----------
    condition : OperatingCondition, or a number read as pc
        The condition, for two classes. Its prevalence is used, not that of the data.
    costs : CostMatrix or table
        Costs for k classes, with true classes as rows and predicted classes as columns. Class frequencies are those of
        the data. A plain table has the labels 0, 1, …; for others, give a `CostMatrix` with labels.
    cost_fp, cost_fn : float, optional
        Without `condition` and `costs`, each example has its own costs. Enable scikit-learn's metadata routing,
        call ``set_score_request(cost_fn=True)`` on the scorer, and pass ``params={"cost_fn": amounts}`` to
        `cross_validate`, or ``cost_fn=amounts`` to `GridSearchCV.fit`. A cost that is the same for all examples is
        given here.
    policy : {"crossfit", "predict"}, or policy
        The threshold that is used at a condition. By default, ``"crossfit"``, each case is evaluated at the threshold
        that costs least on other folds (`cross_fitted_cost`, with ten folds and five repeats unless a policy of
        `thresholds.crossfit` says otherwise). The scores of `predict_proba` or `decision_function` need not be
        calibrated for this. An estimator that has neither, such as `RocHullClassifier`,
        is evaluated by the labels that it predicts. ``"bayes"`` assumes that `predict_proba` is calibrated and adapts
        its threshold to the condition. A number is a threshold, and other policies are those of `CostCurve`.
        ``"predict"`` evaluates the labels that `predict` returns, which for most classifiers are those of the more
        probable class, whatever the costs are. It is meant for classifiers that already take the costs into account,
        such as `CostThresholdClassifier`, and is the only policy for a cost matrix and for costs of examples.
    normalized : bool, default False
        With `condition`, whether costs are relative to the cost of getting every case wrong instead of in money.
    pos_label : label, optional
        The positive class, which is required unless labels are booleans, 0/1 or -1/1. Not used with a cost matrix.

    Returns
    -------
    scorer
        It is called as ``scorer(estimator, X, y)`` and also takes `sample_weight` through metadata routing.

    Notes
    -----
    A search that evaluates the labels of `predict` compares classifiers at a threshold that nobody would
    use. If a false alarm costs twenty times as much as a miss, it prefers the classifier that calls nothing positive.
    The default is "crossfit" and not "bayes", because the probabilities of trees, of naive Bayes, and of strongly
    regularised or reweighted models are not calibrated, which does not matter if the threshold is chosen on data.
    ``"optimal"`` chooses the threshold on the same cases on which the cost is measured. This ranks models with the
    least noise, but its costs are too low.

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
    if (condition is not None) + (costs is not None) + (cost_fp is not None or cost_fn is not None) > 1:
        raise InputError(
            "`condition`, `costs` and costs of examples must not be given together, "
            f"got condition={shown(condition)}, costs={shown(costs)}, "
            f"cost_fp={shown(cost_fp)}, cost_fn={shown(cost_fn)}"
        )
    if normalized and condition is None:
        raise InputError("`normalized` must come with `condition`, got None")
    if policy is not None and not is_among(policy, (PREDICT,)) and condition is None:
        raise InputError(f"`policy` must be 'predict' without a `condition`, got {shown(policy)}")
    if costs is not None:
        if pos_label is not None:
            raise InputError(f"`pos_label` must not come with `costs`, got {shown(pos_label)}")
        return make_scorer(expected_cost, greater_is_better=False, costs=as_cost_matrix(costs))
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
            response_method=(*methods, "predict"),  # the last is used if there are no scores
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
    """The cost of predicted labels per case, normalized or in money."""
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
    """The cost of scores per case under a policy, normalized or in money."""
    given = {"pos_label": pos_label, "sample_weight": sample_weight}
    if np.asarray(y_score).dtype.kind != "f":  # labels of an estimator without scores
        if not policy.cross_fits:
            raise InputError(
                f"`policy` must be 'crossfit' or 'predict' for an estimator without the scores that it needs, "
                f"got {policy!r}"
            )
        return cost_of_labels(y_true, y_score, condition, normalized=normalized, **given)
    if isinstance(policy, Crossfit):
        cost = cross_fitted_cost(y_true, y_score, condition, n_folds=policy.number, n_repeats=policy.n_repeats, **given)
    else:
        with no_question():
            cost = float(CostCurve.from_predictions(y_true, y_score, policy=policy, **given).evaluate(condition))
    return cost if normalized else condition.money(cost)


def cost_curve_area_scorer(
    *,
    over: RangeLike = None,
    weight: Any = None,
    policy: Any = "optimal",
    hull: RocHull | None = None,
    pos_label: Label | None = None,
) -> Any:
    """Make a scorer that returns minus the area under an estimator's cost curve, so that greater is better.

    Parameters
    ----------
    over, weight, policy, pos_label
        As for `cost_curve_area`. With ``policy="bayes"`` the estimator must have `predict_proba`; otherwise
        `predict_proba` or `decision_function`.
    hull : RocHull, optional
        The classifiers that there are already. The score is then what the estimator adds to them, the mean of
        `RocHull.gain`, so that a search finds classifiers that extend the hull (the proposal of Provost & Fawcett
        1997). The hull should come from cases that the search does not see.

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
    if hull is not None:
        check_instance("hull", hull, RocHull)
        if weight is not None or not isinstance(as_policy(policy), Optimal):
            raise InputError("`hull` must not come with `weight` or `policy`: a hull has the best thresholds")
        options = {"hull": hull, "over": span_of(over), "pos_label": pos_label}
        return make_scorer(gain_of_scores, response_method=METHODS["auto"], **options)
    return make_scorer(
        cost_curve_area,
        greater_is_better=False,
        response_method=METHODS[method],
        over=span_of(over),
        weight=weight,
        policy=policy,
        pos_label=pos_label,
    )


def gain_of_scores(
    y_true: Any,
    y_score: Any,
    hull: RocHull,
    *,
    over: tuple[float, float],
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Return what scores add to a hull, on average over a range of pc."""
    with no_question():
        roc = RocCurve.from_predictions(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    return hull.gain(roc, over=over).mean
