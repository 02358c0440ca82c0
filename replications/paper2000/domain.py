"""The artificial domain with five classes and two features, its trees, and their counts on a million examples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

import costcurves as cc
from replications.study import Part, rng_of

MODELS = tuple(f"M{i}" for i in range(1, 10))
# Table 3 of the paper.
FREQUENCIES = (0.2102, 0.4473, 0.2568, 0.0016, 0.0841)
CLASSES = 5
TRAINING = 1000
TEST = 1000
# The paper does not print its boundaries (figure 1) in numbers. Ours divide the unit square at two heights of y + 0.12
# sin 2πx into classes 0, 1 and 2 from below, and two discs in it are classes 3 and 4. The areas are those of Table 3.
WAVE = 0.12
CUTS = (0.2237645, 0.7425321)
DISCS = {3: (0.25, 0.62, math.sqrt(0.0016 / math.pi)), 4: (0.70, 0.42, math.sqrt(0.0841 / math.pi))}

Labels = npt.NDArray[np.int64]
Points = npt.NDArray[np.float64]


def label(points: Points) -> Labels:
    """The class of points of the unit square."""
    x, y = points[:, 0], points[:, 1]
    found = np.searchsorted(CUTS, y + WAVE * np.sin(2 * np.pi * x)).astype(np.int64)
    for name, (at_x, at_y, radius) in DISCS.items():
        found[(x - at_x) ** 2 + (y - at_y) ** 2 < radius**2] = name
    return found


@lru_cache(maxsize=1)
def drawn_examples(count: int, seed: int) -> tuple[Points, Labels]:
    """Draw test examples uniformly in the square. Those of a smaller count are the first of a larger count."""
    points = rng_of(seed, "examples").random((count, 2))
    return points, label(points)


def cost_matrix(model: str, matrix: int, seed: int) -> cc.CostMatrix:
    """Draw the n-th cost matrix of a model (Table 4)."""
    return cc.cost_models(model, FREQUENCIES, rng=rng_of(seed, model, matrix, "costs"))


def tree_predictions(C: cc.CostMatrix, points: Points, rng: np.random.Generator) -> Labels:
    """Train the cost-weighted tree on a thousand examples and return its labels for the points.

    As in the paper, the weight of each training example is the mean cost of its class (a column of the paper's matrix,
    a row of ours: `CostMatrix.class_weights`). The paper's C4.5 splits by gain ratio and prunes; this is scikit-learn's
    tree, which splits by entropy and does not prune, with at least two examples per leaf as in C4.5.
    """
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        raise cc.MissingExtraError('this replication needs scikit-learn: pip install "costcurves[sklearn]"') from None
    train = rng.random((TRAINING, 2))
    classes = label(train)
    tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=int(rng.integers(2**31)))
    tree.fit(train, classes, sample_weight=np.array([*C.class_weights().values()])[classes])
    return np.asarray(tree.predict(points), dtype=np.int64)


@dataclass(frozen=True)
class Trial:
    """One cost matrix, its tree, and the tree's labels for all test examples."""

    C: cc.CostMatrix
    true: Labels
    predicted: Labels
    rng: np.random.Generator

    @classmethod
    def of(cls, part: Part, seed: int) -> Trial:
        """Build the trial that a part names by `model`, `matrix` and `examples`."""
        C = cost_matrix(part["model"], part["matrix"], seed)
        points, true = drawn_examples(part["examples"], seed)
        rng = rng_of(seed, part["model"], part["matrix"], "tree")
        return cls(C, true, tree_predictions(C, points, rng), rng)

    @property
    def sets(self) -> int:
        """The number of test sets into which the examples are divided."""
        return self.true.size // TEST

    @property
    def cost(self) -> float:
        """The mean cost of the tree over all examples, which is the paper's true cost."""
        return cc.expected_cost(self.true, self.predicted, self.C)

    def confusions(self) -> npt.NDArray[np.int64]:
        """The confusion matrices of all test sets, (sets, true, predicted)."""
        return per_set(self.true * CLASSES + self.predicted, CLASSES**2).reshape(-1, CLASSES, CLASSES)

    def joints(self, other: Labels) -> npt.NDArray[np.int64]:
        """The joint tables of the tree and other labels, (sets, true, tree, other)."""
        cells = (self.true * CLASSES + self.predicted) * CLASSES + other
        return per_set(cells, CLASSES**3).reshape(-1, CLASSES, CLASSES, CLASSES)

    def twin(self) -> Labels:
        """Permute the tree's labels within each true class, which keeps the confusion matrix."""
        other = self.predicted.copy()
        for t in range(CLASSES):
            own = np.flatnonzero(self.true == t)
            other[own] = other[self.rng.permutation(own)]
        return other


def per_set(cells: Labels, count: int) -> npt.NDArray[np.int64]:
    """Count each cell in each test set of a thousand consecutive examples."""
    sets = cells.size // TEST
    which = np.repeat(np.arange(sets), TEST)
    return np.bincount(which * count + cells[: sets * TEST], minlength=sets * count).reshape(sets, count)


def trials(size: str, matrices: int = 10) -> list[Part]:
    """List one part per model and cost matrix: ten matrices and a million examples, or two and a tenth of it."""
    count, examples = (matrices, 1_000_000) if size == "full" else (2, 100_000)
    return [{"model": model, "matrix": i, "examples": examples} for model in MODELS for i in range(count)]


def settings(size: str) -> dict[str, Any]:
    """The settings that the pages state about the domain."""
    parts = trials(size)
    return {
        "examples": parts[0]["examples"],
        "test sets": parts[0]["examples"] // TEST,
        "examples per test set": TEST,
        "cost matrices per model": len(parts) // len(MODELS),
        "training examples": TRAINING,
    }


def by_model(parts: list[Part], name: str) -> dict[str, list[Any]]:
    """The values of one result, one list per model."""
    return {model: [part[name] for part in parts if part["model"] == model] for model in MODELS}
