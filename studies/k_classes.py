"""How often the intervals and tests of k-class costs hold, by method.

``python studies/k_classes.py --sets 2000 --record`` measures every cell (about half an hour), keeps the numbers in
studies/k_classes.json and writes the tables of docs/explanation/k-classes.md; ``--sets 100`` tries it.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import costcurves as cc

HERE = Path(__file__).parent
RECORD = HERE / "k_classes.json"
PAGE = HERE.parent / "docs" / "explanation" / "k-classes.md"
CLASSES = (2, 5, 10, 20, 50)
METHODS = ("tilted", "exact", "mid-p", "gaussian")
TESTS = ("tilted", "exact", "gaussian")
Array = npt.NDArray[Any]
# Rates of the cells, costs, and number of examples.
World = tuple[Array, Array, int]


def even(k: int, accuracy: float) -> Array:
    """Return the rates of a classifier that errs evenly on classes of equal size."""
    rates = np.full((k, k), (1 - accuracy) / (k - 1) / k)
    np.fill_diagonal(rates, accuracy / k)
    return rates


def equal_costs(k: int, rng: np.random.Generator) -> World:
    """Every error costs 1."""
    return even(k, 0.95), 1 - np.eye(k), 500


def graded_costs(k: int, rng: np.random.Generator) -> World:
    """An error costs the distance of the classes."""
    return even(k, 0.95), np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(float), 500


def rare_error(k: int, rng: np.random.Generator) -> World:
    """One error of rate 0.002 costs 100, all others 1."""
    rates, costs = even(k, 0.95), 1 - np.eye(k)
    rates[0, 0] += rates[0, 1] - 0.002
    rates[0, 1], costs[0, 1] = 0.002, 100
    return rates, costs, 1000


def small_cells(k: int, rng: np.random.Generator) -> World:
    """Every error has a cost of its own, and there are a hundred examples."""
    return even(k, 0.9), rng.uniform(0, 10, (k, k)) * (1 - np.eye(k)), 100


def skewed(k: int, rng: np.random.Generator) -> World:
    """Classes of very different size, errors at random, and heavy-tailed whole costs."""
    shares = 1 / np.arange(1, k + 1) ** 1.5
    rates = shares[:, None] / shares.sum() * (0.9 * np.eye(k) + 0.1 * rng.dirichlet(np.ones(k), k))
    costs = np.rint(3 * np.exp(1.5 * rng.normal(size=(k, k)))) * (1 - np.eye(k))
    costs[0, 1] += 1
    return rates, costs, 500


WORLDS: dict[str, Callable[[int, np.random.Generator], World]] = {
    "equal costs, n = 500": equal_costs,
    "graded costs, n = 500": graded_costs,
    "a rare error of cost 100, n = 1,000": rare_error,
    "every error its own cost, n = 100": small_cells,
    "uneven classes, heavy-tailed costs, n = 500": skewed,
}


def coverage(name: str, k: int, sets: int, seed: int = 1, methods: tuple[str, ...] = METHODS) -> dict[str, float]:
    """Return how often the interval of each method holds the true cost."""
    rng = np.random.default_rng([seed, k, list(WORLDS).index(name)])
    rates, costs, n = WORLDS[name](k, rng)
    tables = rng.multinomial(n, (rates / rates.sum()).ravel(), sets).reshape(-1, k, k)
    truth = float((rates / rates.sum() * costs).sum())
    return {method: float(cc.covers_cost(tables, costs, truth, method=method).mean()) for method in methods}


# Two classifiers of equal cost. One errs at a rate of 0.1 at cost 1; the other has a rare, expensive error instead.
RARE = (0.002, 0.001, 0.0005)
# Or both err independently, at the same rates.
ALIKE = {"equal costs, n = 500": (1 - np.eye(3), 500), "equal costs, n = 100": (1 - np.eye(3), 100)}


def false_verdicts(rate: float, sets: int, seed: int = 2, methods: tuple[str, ...] = TESTS) -> dict[str, float]:
    """Return how often each test calls two classifiers different, one of which has a rare, expensive error."""
    costs = np.array([[0, 0.1 / rate, 1], [1, 0, 1], [1, 1, 0]])
    rng = np.random.default_rng([seed, round(1 / rate)])
    joints = np.zeros((sets, 3, 3, 3), dtype=np.int64)
    joints[:, 0, 1, 0], joints[:, 0, 0, 2], joints[:, 0, 0, 0] = rng.multinomial(1000, [rate, 0.1, 0.9 - rate], sets).T
    return _rejected(joints, costs, methods)


def false_verdicts_alike(name: str, sets: int, seed: int = 3, methods: tuple[str, ...] = TESTS) -> dict[str, float]:
    """Return how often each test calls two classifiers different that err independently at the same rates."""
    costs, n = ALIKE[name]
    one = np.full((3, 3), 0.05)
    np.fill_diagonal(one, 0.9)
    triples = np.einsum("ta,tb->tab", one, one).ravel() / 3
    rng = np.random.default_rng([seed, n])
    return _rejected(rng.multinomial(n, triples, sets).reshape(-1, 3, 3, 3), costs, methods)


def _rejected(joints: Array, costs: Array, methods: tuple[str, ...]) -> dict[str, float]:
    return {method: 1 - float(cc.covers_difference(joints, costs, method=method).mean()) for method in methods}


def measured(sets: int) -> dict[str, Any]:
    """Return all cells."""
    cells: dict[str, Any] = {"sets": sets, "coverage": {}, "false verdicts": {}}
    for name in WORLDS:
        for k in CLASSES:
            cells["coverage"][f"{name}|{k}"] = coverage(name, k, sets)
            print(name, k, cells["coverage"][f"{name}|{k}"], flush=True)
    for rate in RARE:
        cells["false verdicts"][f"an error of rate {rate:g} and cost {0.1 / rate:g}, n = 1,000"] = false_verdicts(
            rate, sets
        )
    for name in ALIKE:
        cells["false verdicts"][f"two that err alike, {name}"] = false_verdicts_alike(name, sets)
    return cells


def _number(share: float, sets: int) -> str:
    """Return a share with its standard error."""
    return f"{share:.3f} ± {math.sqrt(max(share * (1 - share), 1 / sets) / sets):.3f}"


def tables(cells: dict[str, Any]) -> str:
    """Return both tables as Markdown."""
    sets = cells["sets"]
    lines = [f"| setting | classes | {' | '.join(METHODS)} |", f"|---|---|{'---|' * len(METHODS)}"]
    for key, found in cells["coverage"].items():
        name, k = key.split("|")
        lines.append(f"| {name} | {k} | {' | '.join(_number(found[method], sets) for method in METHODS)} |")
    lines += ["", f"| two classifiers of equal cost | {' | '.join(TESTS)} |", f"|---|{'---|' * len(TESTS)}"]
    for name, found in cells["false verdicts"].items():
        lines.append(f"| {name} | {' | '.join(_number(found[method], sets) for method in TESTS)} |")
    return "\n".join(lines)


def write(cells: dict[str, Any]) -> None:
    """Put the tables between the marks of the page."""
    text = PAGE.read_text(encoding="utf-8")
    start, end = "<!-- measured -->\n", "<!-- end -->"
    before, rest = text.split(start)
    after = rest.split(end)[1]
    PAGE.write_text(f"{before}{start}\n{tables(cells)}\n\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=2000)
    parser.add_argument("--record", action="store_true")
    asked = parser.parse_args()
    result = measured(asked.sets)
    print(tables(result))
    if asked.record:
        RECORD.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        write(result)
