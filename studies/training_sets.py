"""How often `over_training` holds the expected cost of a learning algorithm, on random worlds.

In each world the classes have random priors, costs (half of the time one class costs ten times as much) and error
rates. A training set shifts the error rates of all classes, and an example has a difficulty that all classifiers share.
The true cost is an integral over both in closed form. `python studies/training_sets.py 3 100 mid-p 1000` judges 3
training sets, 100 test examples and 1,000 worlds, and compares with `bcost` of the first classifier.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from scipy.special import ndtr

import costcurves as cc


def answers(
    rng: np.random.Generator, y: Any, other: Any, difficulty: Any, skill: Any, shift: float, share: float
) -> Any:
    """Return the predictions of a classifier that was trained on a new training set."""
    margin = (skill + shift * rng.normal(size=skill.size))[y]
    noise = np.sqrt(share) * difficulty + np.sqrt(1 - share) * rng.normal(size=y.size)
    return np.where(noise > margin, other, y)


def held(rng: np.random.Generator, sets: int, n: int, method: Any = "tilted") -> dict[str, bool]:
    """Return which limits hold the truth of one random world."""
    k = int(rng.integers(2, 5))
    prior, table = rng.dirichlet(np.full(k, 2.0)), rng.integers(1, 12, (k, k)) * (1.0 - np.eye(k))
    table[rng.integers(k)] *= rng.choice([1, 10])
    skill, shift, share = rng.uniform(0.4, 2.2, k), rng.uniform(0, 0.8), rng.uniform(0, 0.8)
    costs = cc.CostMatrix(table, labels=list(range(k)))
    y, difficulty = rng.choice(k, n, p=prior), rng.normal(size=n)
    other = (y + rng.integers(1, k, n)) % k
    better = skill + rng.choice([0.0, 0.3])

    def truth(skills: Any) -> float:
        return float(prior @ (ndtr(-skills / np.hypot(1, shift)) * table.sum(axis=1) / (k - 1)))

    first, second = (
        [answers(rng, y, other, difficulty, one, shift, share) for _ in range(sets)] for one in (skill, better)
    )
    found = {
        "over_training": (cc.bcost.over_training(y, first, costs, method=method), truth(skill)),
        "bcost of one": (cc.bcost(y, first[0], costs, method=method), truth(skill)),
        "difference over_training": (
            cc.bdeltacost.over_training(y, first, second, costs, method=method),
            truth(skill) - truth(better),
        ),
    }
    return {name: bool(interval.lower <= true <= interval.upper) for name, (interval, true) in found.items()}


def judged(sets: int, n: int, method: Any, worlds: int) -> dict[str, float]:
    """Return the shares of worlds in which the limits hold."""
    rng = np.random.default_rng([sets, n])
    each = [held(rng, sets, n, method) for _ in range(worlds)]
    return {name: sum(one[name] for one in each) / worlds for name in each[0]}


if __name__ == "__main__":
    warnings.simplefilter("ignore", cc.SmallSampleWarning)
    print(judged(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
