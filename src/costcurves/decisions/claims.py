"""Whether data bear out the claim that a cost or a difference lies below a limit, and how many cases would."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from costcurves.decisions.recommend_within import RangeRecommendation
from costcurves.decisions.saving import Saving

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


def claim_saving(saving: Saving, n: int) -> Claim:
    """Return whether a choice is shown to save anything, from n cases."""
    return claim_below(-saving.estimate, -saving.upper, -saving.lower, 0.0, n=n, level=saving.level)


def recommended_below_within(answer: RangeRecommendation, baseline: str) -> Claim:
    """Return whether the recommended classifier is shown to cost less than a baseline throughout a range."""
    if baseline in answer.beaten_by:
        return Claim(OTHERWISE)
    compared = baseline != answer.best_name and baseline in answer.shown_worse
    return Claim(SHOWN if compared and baseline not in answer.rivals else NOT_SHOWN)
