"""Made-up worlds of scores in which true costs are known, none of which a method of the package was tuned on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import ndtr


@dataclass(frozen=True)
class Scorer:
    """A classifier: how the scores of both classes are distributed; they may be rounded to multiples of `step`."""

    negatives: Any
    positives: Any
    step: float = 0.0

    def scores(self, noise: Any, y: Any) -> Any:
        """Return the scores of some cases, from standard normal noise."""
        u = ndtr(noise)
        found = np.where(y, self.positives.ppf(u), self.negatives.ppf(u))
        return np.round(found / self.step) * self.step if self.step else found

    def rates(self, threshold: Any) -> tuple[Any, Any]:
        """Return fnr and fpr on new cases."""
        cut = np.asarray(threshold, dtype=np.float64)
        if self.step:
            cut = (np.ceil(cut / self.step - 1e-9) - 0.5) * self.step
        return self.positives.cdf(cut), self.negatives.sf(cut)

    def cost(self, threshold: Any, pc: Any) -> Any:
        """Return the true normalized cost at a threshold."""
        fnr, fpr = self.rates(threshold)
        return pc * fnr + (1 - pc) * fpr

    @cached_property
    def cuts(self) -> Any:
        """Thresholds that are as good as all of them."""
        u = np.linspace(0.0005, 0.9995, 1000)
        ends = np.concatenate([one.ppf(u) for one in (self.negatives, self.positives)])
        if self.step:
            ends = np.round(ends / self.step) * self.step
        return np.concatenate([[-np.inf], np.unique(ends), [np.inf]])

    def best(self, pc: float) -> float:
        """Return the threshold with the least true cost."""
        return float(self.cuts[np.argmin(self.cost(self.cuts, pc))])

    def least(self, pc: Any) -> Any:
        """Return the least true costs at some conditions; no score at all is among the choices."""
        fnr, fpr = self.rates(self.cuts)
        points = np.atleast_1d(pc)[:, None]
        return np.reshape((points * fnr + (1 - points) * fpr).min(axis=1), np.shape(pc))


@dataclass(frozen=True)
class World:
    """Cases, the share of positives among them, a condition, and classifiers whose noise is correlated."""

    n: int
    prevalence: float
    pc: float
    scorers: tuple[Scorer, ...]
    correlation: float = 0.5

    def draw(self, rng: np.random.Generator, n: int | None = None) -> tuple[Any, dict[str, Any]]:
        """Return labels and scores of one data set."""
        size = n or self.n
        y = np.arange(size) < max(2, round(size * self.prevalence))
        common = rng.standard_normal(size)
        scores = {}
        for j, one in enumerate(self.scorers):
            own = rng.standard_normal(size)
            noise = np.sqrt(self.correlation) * common + np.sqrt(1 - self.correlation) * own
            scores[str(j)] = one.scores(noise, y)
        return y, scores

    def cost(self, name: str, threshold: Any, pc: Any) -> Any:
        """Return the true normalized cost of a classifier, or of a trivial one."""
        if name == "always negative":
            return pc
        return 1 - pc if name == "always positive" else self.scorers[int(name)].cost(threshold, pc)

    def least(self, name: str, pc: Any) -> Any:
        """Return the least true cost of a classifier, or that of a trivial one."""
        return self.cost(name, None, pc) if name.startswith("always") else self.scorers[int(name)].least(pc)

    def equal(self, a: str, b: str) -> bool:
        """Return whether two classifiers have the same true costs."""
        return self.scorers[int(a)] is self.scorers[int(b)]


EXPONENTIAL = Scorer(stats.expon(), stats.expon(scale=3))
BETA = Scorer(stats.beta(2, 5), stats.beta(4, 3))
CAUCHY = Scorer(stats.cauchy(), stats.cauchy(2))
LOGISTIC = Scorer(stats.logistic(), stats.logistic(1.5))
ROUNDED = Scorer(LOGISTIC.negatives, LOGISTIC.positives, 1.0)
COARSE = Scorer(LOGISTIC.negatives, LOGISTIC.positives, 2.5)
STRONG = Scorer(stats.gumbel_r(), stats.gumbel_r(3))
WEAK = Scorer(stats.gumbel_r(), stats.gumbel_r(1))
USELESS = Scorer(stats.uniform(), stats.uniform())
CONSTANT = Scorer(stats.uniform(), stats.uniform(), 10.0)
TWO_GROUPS = Scorer(stats.norm(), stats.norm(0.5, 3))  # positives on both sides

WORLDS = {
    "exponential scores, 80 cases": World(80, 0.4, 0.4, (EXPONENTIAL,) * 3),
    "beta scores, 5 % positive, 1,000 cases": World(1000, 0.05, 0.5, (BETA,) * 3),
    "Cauchy scores, 300 cases": World(300, 0.3, 0.6, (CAUCHY,) * 3),
    "a score beside its own rounded values, 300 cases": World(300, 0.3, 0.5, (LOGISTIC, ROUNDED, COARSE), 1.0),
    "a score beside its own rounded values, 2,000 cases": World(2000, 0.5, 0.5, (LOGISTIC, ROUNDED, COARSE), 1.0),
    "scores of few values, 60 cases": World(60, 0.5, 0.5, (COARSE,) * 3, 0.2),
    "unequal strength, 500 cases": World(500, 0.3, 0.6, (STRONG, WEAK, WEAK)),
    "strong scores, 1 % positive, 2,000 cases": World(2000, 0.01, 0.5, (STRONG,) * 3),
    "useless scores, 200 cases": World(200, 0.3, 0.5, (USELESS,) * 3, 0.0),
    "useless beside constant scores, 300 cases": World(300, 0.4, 0.5, (USELESS, CONSTANT, USELESS), 0.0),
    "positives on both sides, 600 cases": World(600, 0.2, 0.3, (TWO_GROUPS,) * 3, 0.8),
    "independent logistic scores, 2,000 cases": World(2000, 0.3, 0.7, (LOGISTIC,) * 3, 0.0),
}
