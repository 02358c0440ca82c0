"""The hybrid classifier of the ROC convex hull, which uses the best member at the best threshold for given costs."""

from __future__ import annotations

import math
from abc import ABCMeta, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import check_random_state, indexable
from sklearn.utils.validation import _num_samples, check_is_fitted

from costcurves._base.errors import CostCurvesError, InputError
from costcurves._base.text import middle_cut
from costcurves._base.validation import BoolArray, Column, ResponseMethod, check_choice, shown
from costcurves.conditions.condition import ConditionLike, check_condition
from costcurves.counting import counts
from costcurves.counting.class_labels import Label
from costcurves.curves.chance import no_question
from costcurves.curves.choices import ALWAYS_POSITIVE, TRIVIAL, Mixture
from costcurves.curves.hull import RocHull
from costcurves.estimators import _members

OnEdge = Literal["within", "nearer", "random"]
ON_EDGE = get_args(OnEdge)
Goal = ConditionLike | Mapping[str, float]  # a condition, or the arguments of a limit
LIMITS = ({"fpr"}, {"tpr"}, {"alarms", "population", "prevalence"}, {"precision", "prevalence"})


def check_goal(condition: Any) -> Any:
    """Check an operating condition, or the arguments of a limit on false alarms, misses, alarms or precision."""
    if not isinstance(condition, Mapping):
        return check_condition(condition)
    if set(condition) - {"confidence"} not in LIMITS:
        raise InputError(
            "`condition` must have the keys fpr, or tpr, or alarms, population and prevalence, or precision and "
            f"prevalence where it is a limit, and may have confidence, got {shown(dict(condition))}"
        )
    return dict(condition)


def choose(hull: RocHull, condition: Any, on_edge: str = "within") -> Mixture:
    """Choose the members, their thresholds and their probabilities for a condition or under a limit."""
    mixture = _points(hull, condition, on_edge)
    return replace(
        mixture,
        first_threshold=halfway(hull, mixture.first, mixture.first_threshold),
        second_threshold=halfway(hull, mixture.second, mixture.second_threshold),
        _below=(math.nan, math.nan),  # the displayed threshold is the one that predicts, also for scores in the gap
    )


def halfway(hull: RocHull, name: str, threshold: float) -> float:
    """Find a threshold about halfway between the lowest score that is called positive and the next lower score.

    All thresholds in that gap are equivalent on the data of the hull. On other data, the lowest score itself would be
    the strictest of them, which matters if the gap is wide because the classes are well separated. The middle is
    rounded to as few decimals as keep it in the middle half of the gap.
    """
    return threshold if name in TRIVIAL else middle_cut(threshold, hull.roc_curve(name).score_below(threshold))


def _points(hull: RocHull, condition: Any, on_edge: str) -> Mixture:
    """Choose the points of the hull to use, and their probabilities."""
    goal = check_goal(condition)
    check_choice("on_edge", on_edge, ON_EDGE)
    if not isinstance(goal, dict):
        best = hull.best(goal)
        ends = [tie for tie in best.ties if (tie.fpr, tie.tpr) != (best.fpr, best.tpr)]
        if on_edge == "random" and ends:
            # All points of the edge cost the same, so neither end is preferable.
            return _mixture(best, ends[0], 0.5)
        return _mixture(best, best, 0.0)
    if "fpr" in goal:
        limited = hull.best_at_fpr(**goal)
    elif "tpr" in goal:
        limited = hull.best_at_tpr(**goal)
    elif "precision" in goal:
        limited = hull.best_at_precision(**goal)
    else:
        limited = hull.best_at_capacity(**goal)
    if on_edge != "within" and limited.guarantee:
        raise InputError(f"`on_edge` must be 'within' for a limit with a confidence, got {shown(on_edge)}")
    if on_edge == "within":
        return _mixture(limited, limited, 0.0)
    if on_edge == "random":
        return limited.mixture
    # Along an edge, fpr + tpr grows with the probability of its second end, and along the hull from vertex to vertex.
    goal_sum = limited.mixture.fpr + limited.mixture.tpr
    j = int(np.argmin(np.abs(hull.fpr + hull.tpr - goal_sum)))
    vertex = hull.owner[j], float(hull.thresholds[j])
    return Mixture(*vertex, *vertex, probability=0.0, fpr=float(hull.fpr[j]), tpr=float(hull.tpr[j]))


def _mixture(first: Any, second: Any, probability: float) -> Mixture:
    """Make a random choice between two points, each with its classifier, threshold and rates."""
    return Mixture(
        first.classifier,
        first.threshold,
        second.classifier,
        second.threshold,
        probability,
        (1 - probability) * first.fpr + probability * second.fpr,
        (1 - probability) * first.tpr + probability * second.tpr,
    )


class HullBase(ClassifierMixin, MetaEstimatorMixin, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """Base class of classifiers whose thresholds come from the ROC hull of out-of-fold scores."""

    @abstractmethod
    def _named(self) -> dict[str, Any]:
        """The members by name."""

    @abstractmethod
    def _fitted(self) -> dict[str, Any]:
        """The fitted members that predict, by name."""

    @abstractmethod
    def _choose(self, condition: Any) -> Mixture:
        """Choose what to use for a condition."""

    def _goal(self, condition: Any) -> Any:
        """Check a condition or a limit. A confidence needs scores of the same members that predict."""
        goal = check_goal(condition)
        if isinstance(goal, dict) and goal.get("confidence") is not None:
            if not getattr(self, "_scored_as_fitted", False):
                raise InputError(
                    "`condition` must have no confidence unless the members that predict were scored on data they have "
                    "not seen (cv='prefit', or one split and refit=False), got members trained again after scoring"
                )
            if isinstance(goal.get("prevalence"), str) and self.cv != "prefit":
                raise InputError(
                    "`condition` must have a number as its prevalence unless cv='prefit', since splits are stratified, "
                    f"got {shown(goal['prevalence'])}"
                )
        return goal

    def _fit_hull(self, X: Any, y: Any, params: dict[str, Any]) -> dict[str, Any]:
        """Set the classes and the hull from out-of-fold scores, and return the members that will predict."""
        check_goal(self.condition)
        members = self._named()
        X, y = indexable(X, y)
        labels, self.classes_, self.pos_label_ = _members.two_classes(y, self.pos_label)
        weights = params.get("sample_weight")
        weights = None if weights is None else counts.checked_weights(weights, labels.size)
        routed = _members.route(self, members, params)
        folds = _members.make_folds(self.cv, X, labels, routed.split, self.random_state)
        tested = _members.out_of_fold(
            members,
            X,
            labels,
            folds,
            fit_params=routed.fit,
            response_method=self.response_method,
            pos_label=self.pos_label_,
            n_jobs=self.n_jobs,
        )
        with no_question():  # the members' scores are known to be those of the right class
            self.hull_ = RocHull.from_predictions(
                labels[tested.rows] == self.pos_label_,
                tested.scores,
                sample_weight=None if weights is None else weights[tested.rows],
            )
        fitted = _members.final_members(
            members, X, labels, tested, cv=self.cv, refit=self.refit, fit_params=routed.fit, n_jobs=self.n_jobs
        )
        self._scored_as_fitted = fitted is tested.fitted
        _members.take_features(self, next(iter(fitted.values())))
        return fitted

    def predict(self, X: Any, condition: Goal | None = None) -> npt.NDArray[Any]:
        """Predict the classes.

        Parameters
        ----------
        X : array-like of shape (n, features)
        condition : OperatingCondition, number or mapping, optional
            Used in this call instead of the classifier's own condition.
        """
        check_is_fitted(self, "hull_")
        mixture = self._choose(self.condition if condition is None else condition)
        self._check_missing(X, {mixture.first, mixture.second})
        positive = self._positive(X, mixture.first, mixture.first_threshold)
        if mixture.probability > 0:
            other = self._positive(X, mixture.second, mixture.second_threshold)
            draws = check_random_state(self.random_state).random_sample(positive.size)
            positive = np.where(draws < mixture.probability, other, positive)
        negative_label = self.classes_[0] if self.classes_[1] == self.pos_label_ else self.classes_[1]
        labels = np.array([negative_label, self.pos_label_], dtype=self.classes_.dtype)
        return np.asarray(labels[positive.astype(np.intp)])

    def _check_missing(self, X: Any, used: set[str]) -> None:
        """Let unused members check missing values too, so that the same input is accepted at every condition."""
        idle = {name: member for name, member in self._fitted().items() if name not in used}
        wary = [name for name, member in idle.items() if not _members.takes_missing(member)]
        if wary and _members.has_missing(X):
            for name in wary:
                self._positive(X, name, 0.0)

    def _positive(self, X: Any, name: str, threshold: float) -> BoolArray:
        """Mark the examples that a classifier calls positive at a threshold."""
        fitted = self._fitted()
        # A trivial choice needs no score, but a member still checks the shape, the names and the missing values of X.
        member = next(iter(fitted)) if name in TRIVIAL else name
        method = _members.score_method(member, fitted[member], self.response_method)
        scores = _members.positive_scores(member, fitted[member], X, method, self.pos_label_)
        if name in TRIVIAL:
            return np.full(_num_samples(X), name == ALWAYS_POSITIVE)
        return scores >= threshold

    def get_metadata_routing(self) -> Any:
        """Return the metadata routing to each member's `fit` and, under the name "cv", to the splitter."""
        return _members.members_router(self, self._named(), self.cv).add_self_request(self)

    def __sklearn_tags__(self) -> Any:
        """Return the tags: two classes only, and the input that every member accepts."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.non_deterministic = getattr(self, "on_edge", "within") == "random"
        try:
            return _members.takes_what(tags, list(self._named().values()))
        except (CostCurvesError, AttributeError, TypeError):
            return tags


class RocHullClassifier(HullBase):
    """A classifier that uses the best of its members at the best threshold for the current costs.

    `fit` trains every member and computes the ROC convex hull of their out-of-fold scores. After that, the costs, the
    class frequencies or a limit can be changed without another fit, by ``set_params(condition=...)`` or ``predict(X,
    condition=...)``.

    Parameters
    ----------
    estimators : list of (name, estimator), or mapping of name to estimator
        The members: classifiers with `predict_proba` or `decision_function`.
    condition : OperatingCondition, number read as pc, or mapping
        The condition under which the classifier is used. A mapping is a limit, with the arguments of
        `RocHull.best_at_fpr`, `best_at_tpr`, `best_at_capacity` or `best_at_precision`: ``{"fpr": 0.05}``, ``{"tpr":
        0.9}``, ``{"alarms": 200, "population": 10_000, "prevalence": 0.05}`` or ``{"precision": 0.8, "prevalence":
        0.05}``. With a confidence, as in ``{"fpr": 0.05, "confidence": 0.95}``, the limit is kept on new cases with
        that probability. This needs scores of the members that predict on data that they were not trained on, so
        ``cv="prefit"`` or a single split with ``refit=False``. It also needs ``on_edge="within"``.
    cv : int, float, splitter, iterable or "prefit", default 5
        How out-of-fold scores are made: the number of stratified folds (which keep `groups` together), the share of
        examples to test on in a single split, or a scikit-learn splitter. With "prefit", the members are already
        fitted, and `fit` gets data that they were not trained on.
    on_edge : {"within", "nearer", "random"}, default "within"
        What to do if the goal lies on an edge of the hull, between two vertices. This is nearly always so for a limit
        such as fpr = 0.1. For a condition it is so only if its iso-performance line has the slope of an edge, and then
        all points of the edge cost the same. ``"within"`` uses one member at one threshold, the best that keeps the
        limit (of several with equal costs, the one that `hull_.best` names first). ``"nearer"`` uses the nearer of the
        two vertices, which may break the limit a little. ``"random"`` assigns each example to one of the two vertices
        at random, with the probability that reaches the point on the edge (one half if all points of the edge cost the
        same), so that the limit is fully used on average.
    response_method : {"auto", "predict_proba", "decision_function"}, default "auto"
        The method that gives the scores. "auto" uses the first of them that a member has.
    pos_label : label, optional
        The positive class, which is required unless labels are booleans, 0/1 or -1/1.
    refit : bool, default True
        Whether members are trained again on all data. It can be False only if `cv` is a single split.
    n_jobs : int, optional
        The number of parallel fits.
    random_state : int, RandomState or None
        Shuffles the folds if `cv` is a number (they are not shuffled if it is None), and makes the random choices of
        ``on_edge="random"``. With an int, every call of `predict` makes the same choices.

    Attributes
    ----------
    hull_ : RocHull
        The hull of the out-of-fold scores. `hull_.ranges()` shows which member is best where.
    estimators_ : dict of name to fitted estimator
    choice_ : Mixture
        What `predict` uses for the current `condition`. The trivial classifiers are ``"always negative"`` and ``"always
        positive"``.
    classes_, pos_label_ : array of shape (2,), label
    n_features_in_, feature_names_in_
        Present if the members have them.

    Notes
    -----
    This is the hybrid of Provost & Fawcett (1997). On the data of the hull it costs no more than any member
    at any condition; on other data this holds up to the estimation error of the hull. The out-of-fold scores of all
    folds are pooled, so scores should mean the same in every fold, and thresholds are applied to members that are
    trained on all data. A threshold is the middle between the lowest score that is called positive and the next lower
    score, rounded to as few decimals as keep it in the middle half of that gap. The displayed threshold is the one that
    is used. `sample_weight` weights the ROC points too.

    Examples
    --------
    >>> import costcurves as cc
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)  # 0 is malignant
    >>> tree = DecisionTreeClassifier(min_samples_leaf=10, random_state=0)
    >>> members = {"neighbours": KNeighborsClassifier(15), "tree": tree}
    >>> today = cc.OperatingCondition(prevalence=0.05, cost_fp=1, cost_fn=10)
    >>> clf = cc.RocHullClassifier(members, today, pos_label=0).fit(X, y)
    >>> clf.choice_.first
    'tree'
    >>> clf.set_params(condition={"fpr": 0.01}).choice_.first
    'neighbours'
    >>> clf.predict(X[:3], condition=0.999).tolist()
    [0, 0, 0]
    """

    def __init__(
        self,
        estimators: Any,
        condition: Goal,
        *,
        cv: Any = 5,
        on_edge: OnEdge = "within",
        response_method: ResponseMethod = "auto",
        pos_label: Label | None = None,
        refit: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.condition = condition
        self.cv = cv
        self.on_edge = on_edge
        self.response_method = response_method
        self.pos_label = pos_label
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _named(self) -> dict[str, Any]:
        members = _members.named_members(self.estimators)
        if taken := sorted(set(members) & set(super().get_params(deep=False))):
            raise InputError(f"`estimators` must not have the name of a parameter, got {shown(taken[0])}")
        return members

    def fit(self, X: Any, y: Column, **params: Any) -> RocHullClassifier:
        """Train the members and find the hull of their out-of-fold scores.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, features), or dataframe
        y : array-like of shape (n,)
            Labels of two classes.
        **params
            `sample_weight` for the members and the ROC points, and `groups` for the splitter. If metadata routing is
            enabled, whatever the members and the splitter have requested.
        """
        check_choice("on_edge", self.on_edge, ON_EDGE)
        self.estimators_ = self._fit_hull(X, y, params)
        return self

    @property
    def choice_(self) -> Mixture:
        """What `predict` uses for the current condition."""
        check_is_fitted(self, "hull_")
        return self._choose(self.condition)

    def _choose(self, condition: Any) -> Mixture:
        return choose(self.hull_, self._goal(condition), self.on_edge)

    def _fitted(self) -> dict[str, Any]:
        fitted: dict[str, Any] = self.estimators_
        return fitted

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, including those of members as ``name`` and ``name__parameter``."""
        params: dict[str, Any] = super().get_params(deep=False)
        if not deep:
            return params
        for name, member in self._known().items():
            params[name] = member
            if hasattr(member, "get_params") and not isinstance(member, type):
                params |= {f"{name}__{key}": value for key, value in member.get_params(deep=True).items()}
        return params

    def set_params(self, **params: Any) -> RocHullClassifier:
        """Set parameters, whole members (``name=...``) or parameters of members (``name__parameter=...``)."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        members = self._known()
        replaced = {name: params.pop(name) for name in list(params) if name in members}
        if replaced:
            new = members | replaced
            self.estimators = new if isinstance(self.estimators, Mapping) else list(new.items())
        super().set_params(**params)
        return self

    def _known(self) -> dict[str, Any]:
        """Return the members if they are valid, which `fit` requires."""
        try:
            return self._named()
        except CostCurvesError:
            return {}
