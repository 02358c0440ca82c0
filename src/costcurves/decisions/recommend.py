"""The whole answer at a condition: what to use, what it costs on new cases, and what may be better after all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.frames import NamedColumns
from costcurves._base.results import Result
from costcurves._base.text import level_text, safe
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    BoolArray,
    Column,
    FloatArray,
    check_flag,
    check_level,
    frozen,
    is_among,
    shown,
)
from costcurves.conditions.condition import ConditionLike, OperatingCondition, check_condition
from costcurves.counting.class_labels import Label
from costcurves.curves.chance import one_question
from costcurves.curves.choices import ALWAYS_NEGATIVE, ALWAYS_POSITIVE, TRIVIAL, Choice, runner_up_of, threshold_text
from costcurves.curves.threshold_sets import ThresholdSet, threshold_set
from costcurves.curves.thresholds import NamedPolicies
from costcurves.decisions.contest import Contest, adjusted
from costcurves.decisions.entrants import Entrants
from costcurves.decisions.rows import Rows, refuse_cross_fitting
from costcurves.decisions.saving import Saving, check_baseline, check_known, saving_of


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Recommendation(Result):
    """What to use at one operating condition, what everything else costs there, and how sure that is.

    Attributes
    ----------
    condition : OperatingCondition
    classifier : tuple of str
        All classifiers and the two trivial ones: the choice first, then by their cost on these cases.
    threshold, fpr, tpr : arrays
        How each is used here; a threshold of inf never alarms, -inf always does.
    normalized_cost, expected_cost : arrays
        The cost on these cases, relative to getting every case wrong and per case in money.
    estimate, lower, upper : arrays
        The cost to expect on new cases, relative to getting every case wrong, with limits. They allow for the choice of
        the threshold and, for the first, of the classifier. What a trivial classifier costs is known exactly.
    money_estimate, money_lower, money_upper : arrays
        The same per case in money.
    p_value, adjusted : arrays
        Of the claim that a classifier costs more than the first one, whichever of its thresholds is used, and adjusted
        for all rivals by Hochberg's method; NaN for the first and for those that decide as it does.
    worse : array of bool
        Whether each is shown to cost more than the first.
    same : array of bool
        Whether each decides exactly as the first does: itself, and those that amount to the same trivial classifier.
    saves, money_saves : arrays
        The most that each may save against the first (upper limit); NaN where it decides as the first does.
    level : float
    given_choice : bool
        Whether limits and p-values take the thresholds and the winner as given, instead of allowing for their choice.

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
      use        sharp at score >= 0.604
      cost       0.269 per case on these cases
                 0.3065 expected on new cases, 95 % in [0.2274, 0.3828]
      runner-up  dull at score >= 1.2228: 0.6876 on these cases, shown to cost more
    >>> answer.sure, answer.rivals
    (True, ())
    """

    condition: OperatingCondition
    classifier: tuple[str, ...]
    threshold: FloatArray
    fpr: FloatArray
    tpr: FloatArray
    normalized_cost: FloatArray
    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray
    p_value: FloatArray
    adjusted: FloatArray
    worse: BoolArray
    same: BoolArray
    saves: FloatArray
    level: float
    given_choice: bool
    _below: tuple[float, ...]
    _sizes: tuple[float, float]  # effective numbers of positives and negatives
    _entrants: Entrants
    _column_names = (
        *("classifier", "threshold", "fpr", "tpr", "normalized_cost", "estimate", "lower", "upper"),
        *("expected_cost", "money_estimate", "money_lower", "money_upper"),
        *("p_value", "adjusted", "worse", "same", "saves", "money_saves"),
    )

    @property
    def expected_cost(self) -> FloatArray:
        """Cost per case in money, on these cases."""
        return self._money(self.normalized_cost)

    @property
    def money_estimate(self) -> FloatArray:
        """Cost per case in money to expect on new cases."""
        return self._money(self.estimate)

    @property
    def money_lower(self) -> FloatArray:
        """Lower limits in money."""
        return self._money(self.lower)

    @property
    def money_upper(self) -> FloatArray:
        """Upper limits in money."""
        return self._money(self.upper)

    @property
    def money_saves(self) -> FloatArray:
        """The most that each may save per case in money."""
        return frozen(self.saves * self.condition.unit_cost)

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
        """The cheapest choice of any other classifier; those that decide as the best does are passed over."""
        return runner_up_of((self._choice(i) for i in range(len(self.classifier))), self.best.classifier)

    @property
    def money_regret(self) -> float:
        """What the runner-up costs more per case than the best, in money, on these rows."""
        return self.runner_up.expected_cost - self.best.expected_cost

    @property
    def rivals(self) -> tuple[str, ...]:
        """Those that may be as good as the best, or better: they are not shown to cost more."""
        return tuple(
            name
            for name, worse, same in zip(self.classifier, self.worse, self.same, strict=True)
            if not worse and not same
        )

    @property
    def sure(self) -> bool:
        """Whether every other choice is shown to cost more."""
        return not self.rivals

    def threshold_set(self) -> ThresholdSet | None:
        """Return the thresholds of the best classifier that are not shown to cost more than its best one.

        It is the answer of `CostCurve.threshold_set` at this condition and level, and it is computed when it is asked
        for. It is None if no classifier is recommended, and if the threshold was not chosen on these cases.

        Examples
        --------
        >>> import costcurves as cc
        >>> answer = cc.recommend([0] * 40 + [1] * 40, {"a": [*range(40), *range(25, 65)]}, 0.5)
        >>> answer.threshold_set().statement
        'Thresholds from 20 to 45 are not shown to cost more, at 95 %.'
        """
        best = self.best.classifier
        if best in TRIVIAL or not self._entrants.follows_costs(best):
            return None
        return threshold_set(self._entrants.roc(best), self.condition, self.level)

    def saving(self, baseline: str, threshold: float | None = None, *, candidate: str | None = None) -> Saving:
        """Return what the best choice saves on new cases against a baseline, such as the rule used today.

        Parameters
        ----------
        baseline : str
            One of the classifiers, ``"always negative"`` or ``"always positive"``.
        threshold : float, optional
            The threshold at which the baseline is used, whatever the condition; by default the one that its policy
            gives it here, and the lower limit is that of its most favourable threshold.
        candidate : str, optional
            The classifier to use instead of the best one.

        Notes
        -----
        The expected saving is the difference of the costs to expect on new cases. Against a rival at its own best
        threshold a part of it is luck, because the choice is the one that looked cheaper: of a difference d with the
        standard error s, d - s²/d is expected to remain, and nothing if d is less than s (the estimate of James and
        Stein). The lower limit comes from the paired test of the baseline against the choice, whose critical value
        allows for having chosen the best of all classifiers and thresholds; the upper limit is that of the paired
        difference. If a candidate costs more than the baseline on these cases, the two change places, so that both
        orders agree.

        Examples
        --------
        >>> import costcurves as cc
        >>> answer = cc.recommend([0] * 40 + [1] * 40, {"a": [*range(40), *range(25, 65)]}, 0.5)
        >>> answer.saving("a", threshold=60).shown
        True
        """
        today = check_baseline(baseline, threshold, self._entrants.names)
        estimates = dict(zip(self.classifier, self.estimate.tolist(), strict=True))
        i = 0 if candidate is None else self.index(check_known("candidate", candidate, self._entrants.names))
        # Not shown to cost more in the family of all rivals: a saving against it is not shown either.
        against_best = {self.classifier[i], baseline} - {self.best.classifier}
        open_verdict = threshold is None and len(against_best) == 1 and not against_best.isdisjoint(self.rivals)
        return saving_of(
            self._entrants,
            self._choice(i),
            estimates,
            self.condition,
            self.level,
            today,
            given_choice=self.given_choice,
            at_most=0.0 if open_verdict else math.inf,
        )

    @property
    def cheaper_unaided(self) -> str | None:
        """The trivial classifier that costs less than what is expected of the best one on new cases; None if none does.

        The best one is the cheapest on these cases. If very many compete, that may be chance alone.
        """
        where = self.condition
        name = ALWAYS_NEGATIVE if where.pc <= 0.5 else ALWAYS_POSITIVE
        return name if self.best.classifier not in TRIVIAL and min(where.pc, 1 - where.pc) < self.estimate[0] else None

    def index(self, name: str) -> int:
        """Return the row of a classifier."""
        if not is_among(name, self.classifier):
            raise InputError(f"`name` must be one of {', '.join(self.classifier)}, got {shown(name)}")
        return self.classifier.index(name)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain Python values, one entry per classifier."""
        rows = self._records()
        for row in rows:
            if row["same"]:
                row["worse"] = None  # it is the choice itself
        thresholds = self.threshold_set()
        return {
            "condition": self.condition._records()[0],
            "best": self.best.classifier,
            "runner_up": self.runner_up.classifier,
            "sure": self.sure,
            "rivals": list(self.rivals),
            "given_choice": self.given_choice,
            "level": self.level,
            "threshold_set": None if thresholds is None else thresholds.to_dict(),
            "classifiers": rows,
        }

    def __repr__(self) -> str:
        """Return the answer in words."""
        c, best, other = self.condition, self.best, self.runner_up
        where = f" (prevalence {c.prevalence:.3g}, cost_fp {c.cost_fp:.6g}, cost_fn {c.cost_fn:.6g})"
        unit = "per case"
        if c.pc_only:
            where, unit = "", "of getting every case wrong"
        lines = [
            f"Recommendation at pc={c.pc:.3g}{where}: {'sure' if self.sure else 'not sure'}",
            f"  use        {best.rule}",
            f"  cost       {best.expected_cost:.4g} {unit} on these cases",
        ]
        if self.lower[0] < self.upper[0]:
            limits = f"{level_text(self.level)} in [{self.money_lower[0]:.4g}, {self.money_upper[0]:.4g}]"
            lines.append(f"             {self.money_estimate[0]:.4g} expected on new cases, {limits}")
        else:
            lines[-1] = f"  cost       {best.expected_cost:.4g} {unit}, exactly"
        more = "not shown to cost more" if other.classifier in self.rivals else "shown to cost more"
        lines.append(f"  runner-up  {other.rule}: {other.expected_cost:.4g} on these cases, {more}")
        if others := [safe(name) for name in self.rivals if name != other.classifier]:
            lines.append(f"  also       not shown to cost more: {', '.join(others)}")
        return "\n".join(lines)


@one_question()
def recommend(
    y_true: Column,
    scores: NamedColumns,
    condition: ConditionLike,
    *,
    pos_label: Label | None = None,
    sample_weight: npt.ArrayLike | None = None,
    policy: NamedPolicies = "optimal",
    level: float = DEFAULT_LEVEL,
    given_choice: bool = False,
) -> Recommendation:
    """Return which classifier to use at an operating condition, at which threshold, and how sure that is.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    scores : mapping of name to array-like of shape (n,), dataframe, or array-like of shape (n,)
        Scores of each classifier for the same examples. A single array or series is one classifier, called by the name
        of the series or "classifier".
    condition : OperatingCondition, or a number read as pc
    pos_label, sample_weight
        As for `RocCurve.from_predictions`.
    policy : policy, or mapping of name to policy
        How thresholds follow pc, as for `CostCurve`. With "optimal" they are chosen on these cases.
    level : float in (0, 1)
        Of the limits of each cost, and of the statement that all classifiers called worse are worse.
    given_choice : bool
        Take thresholds and winner as given, as if they had been chosen on other data. Limits and p-values are then
        those of the rules as they stand, and too optimistic for rules that were chosen on these cases.

    Notes
    -----
    The choice is the cheapest on these cases, so its cost here is too low as a forecast. The estimate and the limits
    allow for that: every classifier at many thresholds is a candidate, the errors of all candidates on the same cases
    are jointly normal in the limit, and in each of many draws from that limit the choice is made again. How far the
    cost of what is chosen then lies above its observed cost gives the limits and, averaged with the cost of choices
    made without a fold on that fold, the estimate. A rival whose threshold was chosen, too, is not expected to cost
    less than the choice. How far the best of all candidates looks better than a rival that is equally good gives the
    p-value of that rival. Small counts enter by mid-P limits. The documentation has the measured coverage ("How often
    the answers hold").

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.recommend([0, 0, 1, 1], {"a": [0.1, 0.4, 0.35, 0.8]}, 0.5).best
    Choice(a at score >= 0.8: fpr=0, tpr=0.5, cost 0.25)
    """
    where, level = check_condition(condition), check_level(level)
    taken = check_flag("given_choice", given_choice)
    refuse_cross_fitting(policy)
    entrants = Entrants(Rows(y_true, scores, pos_label, sample_weight), policy)
    return recommend_here(entrants, where, level, given_choice=taken)


def recommend_here(
    entrants: Entrants, where: OperatingCondition, level: float, *, given_choice: bool = False
) -> Recommendation:
    """Return the recommendation at a condition, from data that were checked before."""
    standings = Contest(entrants, [where.pc], given_choice=given_choice).standings(where, level)
    choices = [one.choice for one in standings]
    p = np.array([math.nan if one.compared is None else one.compared.p_value for one in standings])
    corrected = adjusted(standings)
    worse = corrected <= 1.0 - level
    saves = np.array([math.nan if one.compared is None else one.compared.saves for one in standings])
    return Recommendation(
        condition=where,
        classifier=tuple(one.classifier for one in choices),
        threshold=np.array([one.threshold for one in choices]),
        fpr=np.array([one.fpr for one in choices]),
        tpr=np.array([one.tpr for one in choices]),
        normalized_cost=np.array([one.normalized_cost for one in choices]),
        estimate=np.array([one.estimate for one in standings]),
        lower=np.array([one.lower for one in standings]),
        upper=np.array([one.upper for one in standings]),
        p_value=p,
        adjusted=corrected,
        worse=worse,
        same=np.array([one.same for one in standings]),
        # What is not shown to cost more may be as good; what is, even at the very edge of the level, is not.
        saves=np.where(worse, np.minimum(saves, 0.0), np.maximum(saves, 0.0)),
        level=level,
        given_choice=given_choice,
        _below=tuple(one._below for one in choices),
        _sizes=entrants.effective,
        _entrants=entrants,
    )
