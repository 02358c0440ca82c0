"""The whole answer at a condition or over a range: what to use, what it costs, and who might be better after all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from costcurves._results import Result, jsonable
from costcurves._validation import BoolArray, FloatArray, check_level, frozen
from costcurves.comparison import CurveDifference, compare, compare_many
from costcurves.conditions import OperatingCondition, OperatingRange, check_condition, check_range
from costcurves.costs import CostCurve
from costcurves.decisions import ALWAYS_NEGATIVE, ALWAYS_POSITIVE, TRIVIAL, Choice, Ranges, threshold_text
from costcurves.differences import EQUAL
from costcurves.domination import regret
from costcurves.errors import InputError
from costcurves.frames import columns_of
from costcurves.hull import RocHull
from costcurves.inference.family import holm
from costcurves.thresholds import Optimal, Policy, as_policy

# Operating points at which classifiers are compared over a range.
_POINTS = 65


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Recommendation(Result):
    """What to use at one operating condition, what everything else costs there, and how sure that is.

    Attributes
    ----------
    condition : OperatingCondition
    classifier : tuple of str
        All classifiers and the two trivial ones, the cheapest first.
    threshold, fpr, tpr : arrays
        How each is used here; a threshold of inf never alarms, -inf always does.
    normalized_cost, lower, upper : arrays
        The cost relative to always being wrong, with limits; of a trivial classifier it is known exactly.
    expected_cost, money_lower, money_upper : arrays
        The same per case in money.
    p_value, adjusted : arrays
        Of equal cost with the first, on the same examples, and adjusted by Holm's method for all pairs of
        classifiers; NaN for the first and for the trivial ones.
    worse : array of bool
        Which are shown to cost more than the first: a classifier by its adjusted p-value, a trivial one by lying
        outside the first one's limits.
    level : float
    optimistic : bool
        Whether the first one's threshold was chosen on the data that judge it, so that its cost is flattered.

    Examples
    --------
    >>> import numpy as np
    >>> import costcurves as cc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(500) < 0.3
    >>> scores = {"sharp": y + rng.normal(0, 0.5, 500), "dull": y + rng.normal(0, 2.0, 500)}
    >>> answer = cc.recommend(y, scores, cc.OperatingCondition(prevalence=0.1, cost_fp=1, cost_fn=9))
    >>> answer
    Recommendation at pc=0.5 (prevalence 0.1, cost_fp 1, cost_fn 9): sure
      use        sharp at score >= 0.604: 0.269 per case, 95 % in [0.2106, 0.345]
      runner-up  dull at score >= 1.2228: 0.6876 per case, shown to cost more
    >>> answer.sure, answer.rivals
    (True, ())
    """

    condition: OperatingCondition
    classifier: tuple[str, ...]
    threshold: FloatArray
    fpr: FloatArray
    tpr: FloatArray
    normalized_cost: FloatArray
    lower: FloatArray
    upper: FloatArray
    p_value: FloatArray
    adjusted: FloatArray
    worse: BoolArray
    level: float
    optimistic: bool
    _below: tuple[float, ...]

    def __post_init__(self) -> None:
        """Set the arrays read-only."""
        for name in ("threshold", "fpr", "tpr", "normalized_cost", "lower", "upper", "p_value", "adjusted", "worse"):
            frozen(getattr(self, name))

    @property
    def expected_cost(self) -> FloatArray:
        """Expected cost per case in money."""
        return self._money(self.normalized_cost)

    @property
    def money_lower(self) -> FloatArray:
        """Lower limits in money."""
        return self._money(self.lower)

    @property
    def money_upper(self) -> FloatArray:
        """Upper limits in money."""
        return self._money(self.upper)

    def _money(self, values: FloatArray) -> FloatArray:
        return frozen(np.array([self.condition.money(value) for value in values.tolist()]))

    def _choice(self, i: int) -> Choice:
        return Choice(
            classifier=self.classifier[i],
            threshold=float(self.threshold[i]),
            fpr=float(self.fpr[i]),
            tpr=float(self.tpr[i]),
            normalized_cost=float(self.normalized_cost[i]),
            expected_cost=float(self.expected_cost[i]),
            _below=self._below[i],
        )

    @property
    def threshold_text(self) -> tuple[str, ...]:
        """The thresholds in the fewest decimals that separate the same scores; nothing of a trivial classifier."""
        return tuple(map(threshold_text, self.classifier, self.threshold.tolist(), self._below))

    @property
    def best(self) -> Choice:
        """The cheapest classifier and its threshold."""
        return self._choice(0)

    @property
    def runner_up(self) -> Choice:
        """The cheapest that decides otherwise than the best."""
        return self._choice(next((i for i in range(1, len(self.classifier)) if not self._like_best(i)), 1))

    def _like_best(self, i: int) -> bool:
        """Return whether a classifier amounts to the trivial decision that the best one is."""
        rates = (self.fpr[i], self.tpr[i])
        return rates in ((0.0, 0.0), (1.0, 1.0)) and rates == (self.fpr[0], self.tpr[0])

    @property
    def rivals(self) -> tuple[str, ...]:
        """Those that may be as good as the best, or better: they are not shown to cost more."""
        rows = range(1, len(self.classifier))
        return tuple(self.classifier[i] for i in rows if not self.worse[i] and not self._like_best(i))

    @property
    def sure(self) -> bool:
        """Whether every other classifier is shown to cost more."""
        return not self.rivals

    def index(self, name: str) -> int:
        """Return the row of a classifier."""
        if name not in self.classifier:
            raise InputError(f"`name` must be one of {', '.join(self.classifier)}, got {name!r}")
        return self.classifier.index(name)

    def _columns(self) -> dict[str, Any]:
        names = (
            *("classifier", "threshold", "fpr", "tpr", "normalized_cost", "lower", "upper"),
            *("expected_cost", "money_lower", "money_upper", "p_value", "adjusted", "worse"),
        )
        return {name: list(self.classifier) if name == "classifier" else getattr(self, name) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain Python values, one entry a classifier."""
        table: dict[str, list[Any]] = jsonable(self._columns())
        rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        return {
            "condition": {name: values[0] for name, values in jsonable(self.condition._columns()).items()},
            "best": self.best.classifier,
            "runner_up": self.runner_up.classifier,
            "sure": self.sure,
            "rivals": list(self.rivals),
            "optimistic": self.optimistic,
            "level": self.level,
            "classifiers": rows,
        }

    def __repr__(self) -> str:
        """Return the answer in words."""
        c, best, other = self.condition, self.best, self.runner_up
        where = f"prevalence {c.prevalence:.3g}, cost_fp {c.cost_fp:.6g}, cost_fn {c.cost_fn:.6g}"
        limits = f"{100 * self.level:g} % in [{self.money_lower[0]:.4g}, {self.money_upper[0]:.4g}]"
        shown = "not shown" if other.classifier in self.rivals else "shown"
        use = f"{best.rule}: {best.expected_cost:.4g} per case, {limits}"
        second = f"{other.rule}: {other.expected_cost:.4g} per case, {shown} to cost more"
        head = f"Recommendation at pc={c.pc:.3g} ({where}): {'sure' if self.sure else 'not sure'}"
        return f"{head}\n  use        {use}\n  runner-up  {second}"


def recommend(
    y_true: Any,
    scores: Mapping[str, Any],
    condition: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    policy: Any = "optimal",
    level: float = 0.95,
) -> Recommendation:
    """Return which classifier to use at an operating condition, at which threshold, and how sure that is.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    scores : mapping of name to array-like of shape (n,), or dataframe
        Scores of each classifier for the same examples.
    condition : OperatingCondition, or a number read as pc
    pos_label, sample_weight
        As for `RocCurve.from_predictions`.
    policy : policy, or mapping of name to policy
        How thresholds follow pc, as for `CostCurve`. With "optimal" they are chosen on these data.
    level : float in (0, 1)
        Of the limits of each cost, and of the statement that all that is called worse is worse.

    Notes
    -----
    Classifiers are compared on the same examples, given their thresholds: the p-values are those of `compare`, and
    Holm's adjustment over all pairs keeps the statement right although the best was picked by looking.

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.recommend([0, 0, 1, 1], {"a": [0.1, 0.4, 0.35, 0.8]}, 0.5).best
    Choice(a at score >= 0.8: fpr=0, tpr=0.5, cost 0.25)
    """
    where, level = check_condition(condition), check_level(level)
    curves = _curves(y_true, scores, pos_label, sample_weight, policy)
    rows: list[tuple[Any, ...]] = []
    for curve in curves:
        step = int(curve.step_at(where.pc))
        limits = curve.band(level=level, pc=[where.pc]).at(where.pc)
        rates = float(curve.fpr[step]), 1.0 - float(curve.fnr[step])
        rows.append(
            (curve.name, float(curve.threshold_at(where.pc)), *rates, limits.estimate, limits.lower, limits.upper)
        )
    rows.append((ALWAYS_NEGATIVE, math.inf, 0.0, 0.0, *[where.pc] * 3))
    rows.append((ALWAYS_POSITIVE, -math.inf, 1.0, 1.0, *[1.0 - where.pc] * 3))
    cheapest = min(row[4] for row in rows)
    rows.sort(key=lambda row: (0.0 if row[4] - cheapest <= EQUAL else row[4], row[0] not in TRIVIAL, row[0]))
    names = tuple(row[0] for row in rows)
    threshold, fpr, tpr, cost, lower, upper = (np.array([row[k] for row in rows]) for k in range(1, 7))
    p, adjusted = _tests(curves, columns_of("scores", scores), y_true, pos_label, sample_weight, where.pc, names)
    if names[0] in TRIVIAL:
        worse = lower > cost[0]
    else:
        trivial = np.array([name in TRIVIAL for name in names])
        worse = np.where(trivial, cost > upper[0], adjusted <= 1.0 - level)
    worse[0] = False
    return Recommendation(
        condition=where,
        classifier=names,
        threshold=threshold,
        fpr=fpr,
        tpr=tpr,
        normalized_cost=cost,
        lower=lower,
        upper=upper,
        p_value=p,
        adjusted=adjusted,
        worse=worse,
        level=level,
        optimistic=any(curve.name == names[0] and isinstance(curve.policy, Optimal) for curve in curves),
        _below=_scores_below(curves, names, threshold),
    )


def _scores_below(curves: list[CostCurve], names: tuple[str, ...], threshold: FloatArray) -> tuple[float, ...]:
    """Return the next lower score below each threshold, NaN where there is none or it is not known."""
    by_name = {curve.name: curve for curve in curves}
    return tuple(
        by_name[name].score_below(cut) if name in by_name else math.nan
        for name, cut in zip(names, threshold.tolist(), strict=True)
    )


def _curves(y_true: Any, scores: Any, pos_label: Any, sample_weight: Any, policy: Any) -> list[CostCurve]:
    """Return the cost curve of every classifier under its policy."""
    columns = columns_of("scores", scores)
    if not columns:
        raise InputError("`scores` must have at least one classifier, got 0")
    for name in columns:
        if name in TRIVIAL:
            raise InputError(f"`scores` must not use the names of the trivial classifiers, got {name!r}")
    return [
        CostCurve.from_predictions(
            y_true,
            values,
            pos_label=pos_label,
            sample_weight=sample_weight,
            name=name,
            policy=_policy_of(policy, name),
        )
        for name, values in columns.items()
    ]


def _policy_of(policy: Any, name: str) -> Policy:
    """Return the policy of one classifier."""
    if isinstance(policy, Mapping):
        if name not in policy:
            raise InputError(f"`policy` must have an entry for every classifier, got none for {name}")
        return as_policy(policy[name])
    return as_policy(policy)


def _tests(
    curves: list[CostCurve],
    scores: Mapping[str, Any],
    y_true: Any,
    pos_label: Any,
    sample_weight: Any,
    pc: float,
    names: tuple[str, ...],
) -> tuple[FloatArray, FloatArray]:
    """Return the p-values of each name against the first one, plain and adjusted for all pairs."""
    p, adjusted = np.full(len(names), np.nan), np.full(len(names), np.nan)
    pairs = list(combinations(curves, 2))
    if not pairs:
        return p, adjusted
    plain = [
        _difference(a, b, scores, y_true, pos_label, sample_weight, [pc], simultaneous=False).p_value(pc)
        for a, b in pairs
    ]
    for (a, b), one, other in zip(pairs, plain, holm(np.array(plain)).tolist(), strict=True):
        if names[0] in (a.name, b.name):
            row = names.index(b.name if a.name == names[0] else a.name)
            p[row], adjusted[row] = one, other
    return p, adjusted


def _difference(
    a: CostCurve,
    b: CostCurve,
    scores: Mapping[str, Any],
    y_true: Any,
    pos_label: Any,
    sample_weight: Any,
    pc: Any,
    **options: Any,
) -> CurveDifference:
    return compare(
        y_true,
        scores[a.name],
        scores[b.name],
        pos_label=pos_label,
        sample_weight=sample_weight,
        policy=(a.policy, b.policy),
        names=(a.name, b.name),
        pc=pc,
        **options,
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RangeRecommendation(Result):
    """What to use when the condition is only known as a range, what that may lose, and how sure that is.

    Attributes
    ----------
    over : OperatingRange
    classifier : tuple of str
        The classifiers; the first loses least in the worst case.
    largest, at_pc, mean : arrays
        How much of the normalized cost each may lose against the best at each condition, where, and on average.
    ranges : Ranges
        Who is best where within the range.
    differences : tuple of CurveDifference
        The first against each other one, with limits that hold over all pairs and the whole range.
    level : float

    Examples
    --------
    >>> import numpy as np
    >>> import costcurves as cc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(500) < 0.3
    >>> scores = {"sharp": y + rng.normal(0, 0.5, 500), "dull": y + rng.normal(0, 2.0, 500)}
    >>> span = cc.OperatingRange(prevalence=(0.2, 0.4), cost_fp=1, cost_fn=(1, 2))
    >>> cc.recommend_within(y, scores, span)
    RangeRecommendation for pc 0.2 .. 0.571: sure
      use        sharp: loses at most 0 (at pc 0.2) against the best, 0 on average
      dull       loses at most 0.238: 'sharp' costs less for pc in (0.2, 0.571)
    """

    over: OperatingRange
    classifier: tuple[str, ...]
    largest: FloatArray
    at_pc: FloatArray
    mean: FloatArray
    ranges: Ranges
    differences: tuple[CurveDifference, ...]
    level: float

    def __post_init__(self) -> None:
        """Set the arrays read-only."""
        for array in (self.largest, self.at_pc, self.mean):
            frozen(array)

    @property
    def best(self) -> str:
        """The classifier that loses least in the worst case."""
        return self.classifier[0]

    @property
    def beaten_by(self) -> tuple[str, ...]:
        """Classifiers that are shown to cost less than the best one somewhere in the range."""
        return tuple(one.names[1] for one in self.differences if one.names[1] in one.significant().better)

    @property
    def rivals(self) -> tuple[str, ...]:
        """Classifiers that are not shown to cost more than the best one throughout the range."""
        return tuple(one.names[1] for one in self.differences if set(one.significant().better) != {self.best})

    @property
    def sure(self) -> bool:
        """Whether every other classifier is shown to cost more, throughout the range."""
        return not self.rivals

    def _columns(self) -> dict[str, Any]:
        return {
            "classifier": list(self.classifier),
            "largest": self.largest,
            "at_pc": self.at_pc,
            "mean": self.mean,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain Python values."""
        spans = jsonable(self.over._columns())
        regrets: dict[str, list[Any]] = jsonable(self._columns())
        stretches: dict[str, list[Any]] = jsonable(self.ranges._columns())
        return {
            "range": {
                name: [low, high]
                for name, low, high in zip(spans["quantity"], spans["low"], spans["high"], strict=True)
            },
            "best": self.best,
            "sure": self.sure,
            "rivals": list(self.rivals),
            "beaten_by": list(self.beaten_by),
            "level": self.level,
            "regret": [dict(zip(regrets, row, strict=True)) for row in zip(*regrets.values(), strict=True)],
            "ranges": [dict(zip(stretches, row, strict=True)) for row in zip(*stretches.values(), strict=True)],
        }

    def __repr__(self) -> str:
        """Return the answer in words."""
        low, high = self.over.pc
        head = f"RangeRecommendation for pc {low:.3g} .. {high:.3g}: {'sure' if self.sure else 'not sure'}"
        loss = (
            f"at most {self.largest[0]:.3g} (at pc {self.at_pc[0]:.3g}) against the best, {self.mean[0]:.3g} on average"
        )
        lines = [head, f"  use        {self.best}: loses {loss}"]
        verdicts = {one.names[1]: one.significant().text() for one in self.differences}
        for name, most in zip(self.classifier[1:], self.largest[1:].tolist(), strict=True):
            lines.append(f"  {name:<10} loses at most {most:.3g}: {verdicts[name]}")
        return "\n".join(lines)


def recommend_within(
    y_true: Any,
    scores: Mapping[str, Any],
    over: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    policy: Any = "optimal",
    level: float = 0.95,
) -> RangeRecommendation:
    """Return which one classifier to use when the condition is only known as a range, and how sure that is.

    It is the one whose largest loss against the best choice at each condition is smallest (minimax regret). Its
    threshold still follows the condition.

    Parameters
    ----------
    y_true, scores, pos_label, sample_weight, policy
        As for `recommend`.
    over : OperatingRange
        The conditions to expect.
    level : float in (0, 1)
        Of all statements about all pairs of classifiers at all conditions in the range.

    Examples
    --------
    >>> import costcurves as cc
    >>> span = cc.OperatingRange(prevalence=0.5, cost_fp=1, cost_fn=(1, 3))
    >>> cc.recommend_within([0, 0, 1, 1], {"a": [0.1, 0.4, 0.35, 0.8], "b": [0.2, 0.3, 0.1, 0.9]}, span).best
    'a'
    """
    span, level = check_range(over), check_level(level)
    columns = columns_of("scores", scores)
    curves = _curves(y_true, columns, pos_label, sample_weight, policy)
    hull = RocHull.from_predictions(y_true, columns, pos_label=pos_label, sample_weight=sample_weight, points="hull")
    losses = sorted(
        (regret(curve, hull, over=span) for curve in curves), key=lambda one: (one.largest, one.mean, one.name)
    )
    names = tuple(one.name for one in losses)
    points = np.unique(np.linspace(*span.pc, _POINTS))
    differences: tuple[CurveDifference, ...] = ()
    if len(names) == 2:
        first, second = (next(curve for curve in curves if curve.name == name) for name in names)
        differences = (_difference(first, second, columns, y_true, pos_label, sample_weight, points, level=level),)
    elif len(names) > 2:
        rules = {curve.name: curve.policy for curve in curves}
        options = {"pos_label": pos_label, "sample_weight": sample_weight, "policy": rules}
        many = compare_many(y_true, columns, level=level, pc=points, **options)
        differences = tuple(many.pair(names[0], name) for name in names[1:])
    largest, at_pc, mean = (np.array([getattr(one, k) for one in losses]) for k in ("largest", "at_pc", "mean"))
    return RangeRecommendation(span, names, largest, at_pc, mean, hull.within(span), differences, level)
