"""Whether data bear out the claim that a cost or a difference lies below a limit, and how many cases would."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from costcurves.decisions.curve_difference import CurveDifference
from costcurves.decisions.recommend import Recommendation
from costcurves.decisions.recommend_within import RangeRecommendation

SHOWN, NOT_SHOWN, OTHERWISE = "shown", "not shown", "shown otherwise"
# The chance with which the needed number of cases shows a claim that is as true as it looks.
POWER = 0.8
_MOST_CASES = 10**12


@dataclass(frozen=True, slots=True)
class Claim:
    """A verdict on a claim: "shown", "not shown" or "shown otherwise".

    `needed` is the approximate number of cases that would show a claim that is not shown, if what is estimated is true.
    It is None if the claim is settled, or if the estimate itself speaks against it.
    """

    verdict: str
    needed: int | None = None


def claim_below(estimate: Any, lower: Any, upper: Any, limit: float, *, n: int, level: float) -> Claim:
    """Return whether a quantity is shown to be below a limit, at every point of an array.

    Parameters
    ----------
    estimate, lower, upper : float or arrays
        The quantity with its two-sided limits, from n cases.
    limit : float
    n : int
        The number of cases.
    level : float in (0, 1)
        Of the limits.

    Notes
    -----
    Limits approach the estimate like 1/√n. N cases show the claim with a chance of 80 % if the estimate is true and
    ``(upper - estimate)(1 + z₀.₈ / z) √(n/N) = limit - estimate``, with the quantile z that belongs to the level.

    Examples
    --------
    >>> claim_below(-0.02, -0.05, 0.01, 0, n=1000, level=0.95)
    Claim(verdict='not shown', needed=4600)
    >>> claim_below(-0.02, -0.03, -0.01, 0, n=1000, level=0.95).verdict
    'shown'
    """
    estimate, lower, upper = (np.atleast_1d(np.asarray(value, dtype=np.float64)) for value in (estimate, lower, upper))
    if (upper < limit).all():
        return Claim(SHOWN)
    if (lower > limit).any():
        return Claim(OTHERWISE)
    return Claim(NOT_SHOWN, _needed(estimate, upper, limit, n, level))


def _needed(estimate: Any, upper: Any, limit: float, n: int, level: float) -> int | None:
    from scipy.special import ndtri

    room = limit - estimate
    if not (room > 0).all():
        return None
    width = (upper - estimate) * (1 + float(ndtri(POWER)) / float(ndtri((1 + level) / 2)))
    # A chance of 80 % may call for more cases even where these happen to show the claim.
    cases = n * max(1.0, float((width / room).max()) ** 2)
    if not cases <= _MOST_CASES:
        return None
    digits = int(10 ** max(0, math.floor(math.log10(cases)) - 1))
    return math.ceil(cases / digits) * digits


def recommended_below(answer: Recommendation, baseline: str, n: int) -> Claim:
    """Return whether the recommended classifier is shown to cost less than a baseline at a condition.

    It must cost less than the baseline at any of its thresholds, allowing for the choice of both.
    """
    i = answer.index(baseline)
    if answer.same[i]:
        return Claim(OTHERWISE if answer.sure else NOT_SHOWN)
    if answer.worse[i]:
        return Claim(SHOWN)
    estimate = answer.estimate[:1] - answer.estimate[i]
    return Claim(NOT_SHOWN, _needed(estimate, np.maximum(answer.saves[i : i + 1], 0.0), 0.0, n, answer.level))


@dataclass(frozen=True, slots=True)
class Saving:
    """What one classifier saves against another per case, in money: to expect on new cases, and at least."""

    estimate: float
    lower: float
    claim: Claim


def saving_against(
    answer: Recommendation,
    baseline: str,
    n: int,
    candidate: str | None = None,
    difference: CurveDifference | None = None,
) -> Saving:
    """Return what a candidate saves against a baseline at a condition.

    Without a candidate it is the recommended classifier, and everything allows for its choice. A candidate that was
    named beforehand is compared by `difference`, candidate minus baseline; if the baseline is trivial, no difference is
    needed, because what it costs is known.
    """
    b = answer.index(baseline)
    c = 0 if candidate is None else answer.index(candidate)
    estimate = float(answer.money_estimate[b] - answer.money_estimate[c])
    if candidate is None:
        lower = 0.0 if answer.same[b] else -float(answer.money_saves[b])
        return Saving(estimate, lower, recommended_below(answer, baseline, n))
    if difference is None:
        limits = (answer.estimate[c], answer.lower[c], answer.upper[c])
        claim = claim_below(*limits, float(answer.normalized_cost[b]), n=n, level=answer.level)
        return Saving(estimate, float(answer.money_estimate[b] - answer.money_upper[c]), claim)
    here = difference.at(answer.condition)
    claim = claim_below(here.estimate, here.lower, here.upper, 0.0, n=n, level=answer.level)
    return Saving(estimate, -here.upper * answer.condition.unit_cost, claim)


def recommended_below_within(answer: RangeRecommendation, baseline: str) -> Claim:
    """Return whether the recommended classifier is shown to cost less than a baseline throughout a range."""
    if baseline in answer.beaten_by:
        return Claim(OTHERWISE)
    compared = baseline != answer.best_name and baseline in answer.shown_worse
    return Claim(SHOWN if compared and baseline not in answer.rivals else NOT_SHOWN)
