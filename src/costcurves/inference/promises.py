"""What new cases may show if nothing has changed since a promise was made: predictive draws of their error counts.

A promise rests on a test set of its own. What is drawn are therefore first the true rates, as far as that test set
leaves them open, and then the counts of the new cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import FloatArray
from costcurves.inference.simultaneous import seeded_by

# Data sets drawn; the standard error of a tail of 1 % is then 0.1 percentage points.
DRAWS = 10_000
# The bootstrap finds about two thirds of the optimism of a chosen threshold.
OPTIMISM = 1.5

# A rate at a threshold that was chosen on the same cases is as uncertain as that of a given threshold on this share of
# the cases.
CHOSEN = 0.7


@dataclass(frozen=True, slots=True)
class PromisedRate:
    """An error rate that was promised, and the effective number of cases behind it; infinite if it is known."""

    rate: float
    cases: float

    def draws(self, rng: np.random.Generator) -> FloatArray:
        """Return draws of the true rate."""
        if np.isinf(self.cases):
            return np.full(DRAWS, self.rate)
        wrong = self.rate * self.cases
        return np.asarray(rng.beta(wrong + 0.5, max(self.cases - wrong, 0.0) + 0.5, DRAWS))


@dataclass(frozen=True, slots=True)
class NewCounts:
    """Effective numbers of the new positives and negatives, and the rates of misses and false alarms among them."""

    pos: float
    neg: float
    fnr: float  # NaN if there are no positives
    fpr: float  # NaN if there are no negatives


@dataclass(frozen=True, slots=True)
class PromiseTests:
    """p-values of "nothing has changed" for each part, and the draws of the promised rates."""

    prevalence: float
    fnr: float
    fpr: float
    cost: float
    fnr_draws: FloatArray
    fpr_draws: FloatArray


def promise_tests(
    prevalence: float | None, fnr: PromisedRate, fpr: PromisedRate, costs: tuple[float, float], new: NewCounts
) -> PromiseTests:
    """Return how likely new cases are to be as far from the promise as they are, if nothing has changed.

    Parameters
    ----------
    prevalence : float or None
        As promised; None if nothing was promised about it, and the share among the new cases is taken as given.
    fnr, fpr : PromisedRate
    costs : (cost_fn, cost_fp)
    new : NewCounts
    """
    rng = seeded_by(np.array([new.pos, new.neg, np.nan_to_num(new.fnr), np.nan_to_num(new.fpr), fnr.rate, fpr.rate]))
    n_pos, n_neg = round(new.pos), round(new.neg)
    n = max(n_pos + n_neg, 1)
    miss, alarm = fnr.draws(rng), fpr.draws(rng)
    positives = np.full(DRAWS, n_pos) if prevalence is None else rng.binomial(n, prevalence, DRAWS)
    cost = costs[0] * rng.binomial(positives, miss) + costs[1] * rng.binomial(n - positives, alarm)
    seen = costs[0] * n_pos * np.nan_to_num(new.fnr) + costs[1] * n_neg * np.nan_to_num(new.fpr)
    return PromiseTests(
        prevalence=np.nan if prevalence is None else two_sided(n_pos, positives),
        fnr=np.nan if n_pos == 0 else two_sided(n_pos * new.fnr, rng.binomial(n_pos, miss)),
        fpr=np.nan if n_neg == 0 else two_sided(n_neg * new.fpr, rng.binomial(n_neg, alarm)),
        cost=two_sided(seen, cost),
        fnr_draws=miss,
        fpr_draws=alarm,
    )


def two_sided(seen: float, draws: npt.NDArray[Any]) -> float:
    """Return the two-sided mid-P value of a number beside draws of it; a known number has 1, and another one 0.

    Examples
    --------
    >>> import numpy as np
    >>> two_sided(3, np.array([1.0, 2, 3, 4])), two_sided(1, np.zeros(4)), two_sided(0, np.zeros(4))
    (0.75, 0.0, 1.0)
    """
    near = 1e-9 * abs(seen)
    below, above = float((draws < seen - near).mean()), float((draws > seen + near).mean())
    equal = 1.0 - below - above
    return min(1.0, 2 * (min(below, above) + equal / 2))


def split_optimism(optimism: float, pc: float, fnr: PromisedRate, fpr: PromisedRate) -> tuple[float, float]:
    """Return by how much the rates of a chosen threshold were too low, given by how much its normalized cost was.

    Each rate takes part in proportion to the variance that it adds to the cost.
    """
    spread = [
        (weight**2 * max(one.rate * (1 - one.rate), 0.25 / one.cases) / one.cases if np.isfinite(one.cases) else 0.0)
        for weight, one in ((pc, fnr), (1 - pc, fpr))
    ]
    total = sum(spread)
    more = [
        optimism * part / total / weight if total and weight else 0.0
        for part, weight in zip(spread, (pc, 1 - pc), strict=True)
    ]
    return min(max(more[0], -fnr.rate), 1 - fnr.rate), min(max(more[1], -fpr.rate), 1 - fpr.rate)
