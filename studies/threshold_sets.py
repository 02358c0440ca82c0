"""How often the truly best threshold is in the set that `CostCurve.threshold_set` gives, and how large the set is.

``python studies/threshold_sets.py --record`` runs every cell (about 10 minutes), keeps the numbers in
studies/threshold_sets.json and writes the table of docs/explanation/threshold-sets.md; ``--sets 50`` tries it.
"""

from __future__ import annotations

import argparse
import json
import math
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

import costcurves as cc

HERE = Path(__file__).parent
RECORD = HERE / "threshold_sets.json"
PAGE = HERE.parent / "docs" / "explanation" / "threshold-sets.md"


class World(NamedTuple):
    """The distributions of the scores of negatives and positives; scores are rounded to multiples of `step`."""

    negatives: Any
    positives: Any
    step: float = 0.0


WORLDS = {
    "normal": World(stats.norm(), stats.norm(1.5)),
    "normal, wider positives": World(stats.norm(), stats.norm(0.8, 1.6)),
    "normal, wider negatives": World(stats.norm(0, 1.5), stats.norm(1.3)),
    "t with 3 degrees": World(stats.t(3), stats.t(3, loc=2)),
    "beta": World(stats.beta(2, 5), stats.beta(5, 2)),
    "rounded to 0.4": World(stats.norm(), stats.norm(1.5), 0.4),
    "rounded to 1.5": World(stats.norm(), stats.norm(1.5), 1.5),
    "hardly informative": World(stats.norm(), stats.norm(0.2)),
}


class Cell(NamedTuple):
    """A world, a number of cases, a share of positives and a condition; or all conditions at once."""

    world: str
    n: int
    prevalence: float
    pc: float | None

    @property
    def name(self) -> str:
        """What the cell is called in the record."""
        return json.dumps(list(self))


def cells() -> Iterator[Cell]:
    """Yield all cells."""
    for n, pc in product((100, 300, 1000, 5000), (0.1, 0.5, 0.9)):
        yield Cell("normal", n, 0.3, pc)
    for world in WORLDS:
        if world != "normal":
            for n, pc in product((300, 1000), (0.1, 0.5, 0.9)):
                yield Cell(world, n, 0.3, pc)
    for prevalence, n, pc in product((0.5, 0.05, 0.01), (300, 1000), (0.1, 0.5, 0.9)):
        if n * prevalence >= 10:
            yield Cell("normal", n, prevalence, pc)
    for world, n in product(("normal", "normal, wider positives", "rounded to 0.4"), (300, 1000)):
        yield Cell(world, n, 0.3, None)


def best_threshold(world: World, pc: float) -> float:
    """Return the threshold with the least true cost: by a fine grid, inf if it is best to raise no alarm."""
    cuts = np.linspace(-12, 14, 52_001)
    if world.step:
        cuts = (np.arange(-40, 40) + 0.5) * world.step  # between two values that a rounded score can have
    cost = pc * world.positives.cdf(cuts) + (1 - pc) * world.negatives.sf(cuts)
    best = int(cost.argmin())
    if min(pc, 1 - pc) <= cost[best] + 1e-9:
        return math.inf if pc <= 0.5 else -math.inf
    return float(cuts[best])


def draw(cell: Cell, seed: int) -> tuple[Any, Any]:
    """Return labels and scores of one data set."""
    rng, world = np.random.default_rng([20261118, seed]), WORLDS[cell.world]
    n_pos = round(cell.n * cell.prevalence)
    scores = np.concatenate(
        [world.positives.rvs(n_pos, random_state=rng), world.negatives.rvs(cell.n - n_pos, random_state=rng)]
    )
    if world.step:
        scores = np.round(scores / world.step) * world.step
    return np.arange(cell.n) < n_pos, scores


def measure(cell: Cell, sets: int) -> dict[str, float]:
    """Return the share of data sets whose set has the best threshold, and the share of cases that the set spans."""
    world, held, spans = WORLDS[cell.world], 0, []
    points = [cell.pc] if cell.pc is not None else np.linspace(0.05, 0.95, 19).tolist()
    best = {pc: best_threshold(world, pc) for pc in points}
    for k in range(sets):
        y, scores = draw(cell, k)
        curve = cc.CostCurve(cc.RocCurve.from_predictions(y, scores))
        found: Callable[[float], Any] = curve.threshold_set
        if cell.pc is None:
            found = curve.threshold_sets(cc.OperatingRange.from_pc(0.05, 0.95)).at
        answers = {pc: found(pc) for pc in points}
        held += all(answer.contains(best[pc]) for pc, answer in answers.items())
        middle = answers[points[len(points) // 2]]
        within = [(scores >= low) & (scores < high) for low, high in zip(middle.low, middle.high, strict=True)]
        spans.append(float(np.mean(np.any(within, axis=0))))
    return {
        "sets": sets,
        "coverage": held / sets,
        "error": standard_error(held, sets),
        "span": float(np.median(spans)),
    }


def standard_error(held: int, sets: int) -> float:
    """Return the standard error of a share, not 0 where all were held."""
    share = (held + 1) / (sets + 2)
    return math.sqrt(share * (1 - share) / sets)


def page(found: dict[str, dict[str, Any]]) -> str:
    """Return the page with the table of all recorded cells."""
    lines = [
        "# How often the set has the best threshold",
        "",
        "`python studies/threshold_sets.py` draws data sets from made-up worlds, asks for `curve.threshold_set(pc)`",
        "at 95 % (or, for all pc, for `curve.threshold_sets(...)` at 19 conditions jointly), and looks whether the",
        "truly best threshold, which is known there, is in the set. The span is the share of the cases whose scores",
        "lie in the set, in the median over data sets (for all pc, at pc = 0.5). More than 95 % is held in most worlds",
        "because the limits must also suffice for scores that are hardly informative, where many thresholds cost the",
        "same.",
        "",
        "| scores | cases | positives | pc | data sets | best threshold in the set | span |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, one in found.items():
        cell = Cell(*json.loads(name))
        lines.append(
            f"| {cell.world} | {cell.n:,} | {100 * cell.prevalence:g} % | {'all' if cell.pc is None else cell.pc} "
            f"| {one['sets']:,} | {100 * one['coverage']:.1f} ± {100 * one['error']:.1f} % "
            f"| {100 * one['span']:.0f} % |"
        )
    return "\n".join([*lines, ""])


def main() -> None:
    """Run all cells."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=500, help="data sets of each cell; a quarter of them for all pc")
    parser.add_argument("--record", action="store_true", help="keep the results and write the page")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", cc.WorseThanChanceWarning)
    found: dict[str, dict[str, Any]] = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    for cell in cells():
        sets = asked.sets if cell.pc is not None else asked.sets // 4
        if asked.record and found.get(cell.name, {}).get("sets", 0) >= sets:
            continue
        found[cell.name] = measure(cell, sets)
        print(cell, {key: round(value, 4) for key, value in found[cell.name].items()}, flush=True)
        if asked.record:
            RECORD.write_text(json.dumps(found, indent=1) + "\n")
            PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
