"""How often the default answers hold: the true costs of recommended choices compared with the limits quoted for them.

``python studies/honesty.py --sets 2000 --record`` runs every cell (hours), keeps the numbers in studies/honesty.json
and writes the table of docs/explanation/honesty.md. ``--sets 50 --cells 0 5`` tries two of them. Finished cells are
kept, so that a stopped run continues where it was.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

import costcurves as cc

HERE = Path(__file__).parent
RECORD = HERE / "honesty.json"
PAGE = HERE.parent / "docs" / "explanation" / "honesty.md"


@dataclass(frozen=True)
class Cell:
    """A world and a sample size. The scores of each classifier are shifted for positives by its strength."""

    n: int
    classifiers: int
    prevalence: float
    pc: float
    correlation: float = 0.5
    strength: tuple[float, ...] = (1.0,)
    tails: str = "normal"
    step: float = 0.0  # scores are rounded to multiples of this, which makes ties

    @property
    def name(self) -> str:
        """The name of the cell in the record."""
        return json.dumps(asdict(self), sort_keys=True)

    def shifts(self) -> list[float]:
        """The strength of each classifier."""
        return [self.strength[min(j, len(self.strength) - 1)] for j in range(self.classifiers)]

    def draw(self, rng: np.random.Generator) -> tuple[Any, dict[str, Any]]:
        """Draw labels and scores of one data set."""
        y = np.arange(self.n) < max(2, round(self.n * self.prevalence))
        common = rng.standard_normal(self.n)
        scores = {}
        for j, shift in enumerate(self.shifts()):
            own = rng.standard_normal(self.n)
            noise = math.sqrt(self.correlation) * common + math.sqrt(1 - self.correlation) * own
            if self.tails == "t":
                noise = student.ppf(norm.cdf(noise), 3)
            values = shift * y + noise
            scores[str(j)] = np.round(values / self.step) * self.step if self.step else values
        return y, scores

    def true_cost(self, name: str, threshold: float) -> float:
        """The cost of a classifier at a threshold on new cases."""
        if math.isinf(threshold):
            return self.pc if threshold > 0 else 1.0 - self.pc
        cdf = norm.cdf if self.tails == "normal" else lambda x: student.cdf(x, 3)
        cut = threshold - self.step / 2
        shift = self.shifts()[int(name)]
        return float(self.pc * cdf(cut - shift) + (1 - self.pc) * (1 - cdf(cut)))


def cells() -> Iterator[Cell]:
    """Yield all cells of the study."""
    for n, many, pc in product((100, 300, 1000, 5000), (1, 4, 10), (0.1, 0.5, 0.9)):
        yield Cell(n, many, 0.3, pc)
    for n, many in product((300, 1000), (4,)):
        for world in (
            {"correlation": 0.0},
            {"correlation": 0.9},
            {"strength": (1.3, 1.0, 0.9, 0.8)},
            {"tails": "t"},
            {"step": 0.5},
            {"strength": (0.0,)},
        ):
            yield Cell(n, many, 0.3, 0.68, **world)  # type: ignore[arg-type]
    for n, world in product((300, 1000), ({"tails": "t"}, {"step": 0.5})):
        yield Cell(n, 1, 0.3, 0.68, **world)  # type: ignore[arg-type]
    for prevalence, n in product((0.5, 0.05, 0.01), (300, 1000, 5000)):
        if n * prevalence >= 10:
            yield Cell(n, 4, prevalence, 0.5)


def measure(cell: Cell, sets: int) -> dict[str, Any]:
    """Measure how often the true cost of the choice lies outside its limits, its bias, widths and false verdicts."""
    above = below = chosen = sure = false_sure = 0
    bias = given_bias = width = given_width = 0.0
    for k in range(sets):
        y, scores = cell.draw(np.random.default_rng([2026, k]))
        answer = cc.recommend(y, scores, cell.pc)
        best = answer.best
        truth = cell.true_cost(best.classifier if best.classifier in scores else "0", best.threshold)
        others = [cell.pc, 1 - cell.pc]
        grid = np.linspace(-6, 7, 261)
        others += [min(cell.true_cost(name, float(cut)) for cut in grid) for name in scores if name != best.classifier]
        sure += answer.sure
        false_sure += bool(answer.sure and truth > min(others) + 1e-12)
        if best.classifier not in scores:
            continue
        chosen += 1
        above += truth > answer.upper[0]
        below += truth < answer.lower[0]
        bias += float(answer.estimate[0]) - truth
        given_bias += best.normalized_cost - truth
        given = cc.recommend(y, scores, cell.pc, given_choice=True)
        width += float(answer.upper[0] - answer.lower[0])
        given_width += float(given.upper[0] - given.lower[0])
    many = max(chosen, 1)
    return {
        "sets": sets,
        "chosen": chosen,
        "above": float(above / many),
        "below": float(below / many),
        "coverage": float(1 - (above + below) / many),
        "error": math.sqrt(max((above + below) / many * (1 - (above + below) / many), 1 / many**2) / many),
        "bias": bias / many,
        "bias_given": given_bias / many,
        "width": width / max(given_width, 1e-300),
        "sure": sure / sets,
        "false_sure": false_sure / sets,
    }


def page(found: dict[str, dict[str, Any]]) -> str:
    """Write the page with the table of all recorded cells."""
    lines = [
        "# How often the answers hold",
        "",
        "`python studies/honesty.py` draws data sets from simulated worlds, calls `cc.recommend`, and compares its",
        "answer with the cost of the recommended classifier at the recommended threshold on new cases, which is",
        "known in these worlds. Nominally, 2.5 % of the true costs lie above the limits and 95 % within them. Bias",
        "is that of the quoted cost, as a share of the bias of the cost on the same cases. Width is relative to the",
        "interval that takes the choice as given. False verdicts are data sets in which a choice that is not the",
        'cheapest was called "sure".',
        "",
        "| cases | classifiers | prevalence | pc | world | data sets | above | within | bias | width | sure | false |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, one in found.items():
        cell = Cell(**(json.loads(name) | {"strength": tuple(json.loads(name)["strength"])}))
        usual = Cell(cell.n, cell.classifiers, cell.prevalence, cell.pc)
        differs = [f"{key} {value}" for key, value in asdict(cell).items() if getattr(usual, key) != value]
        share = one["bias"] / one["bias_given"] if one["bias_given"] else 0.0
        lines.append(
            f"| {cell.n:,} | {cell.classifiers} | {cell.prevalence:g} | {cell.pc:g} | {', '.join(differs) or 'usual'} "
            f"| {one['chosen']:,} | {one['above']:.1%} | {one['coverage']:.1%} ± {one['error']:.1%} | {share:+.0%} "
            f"| {one['width']:.2f} | {one['sure']:.0%} | {one['false_sure']:.1%} |"
        )
    return "\n".join([*lines, ""]).replace("%", " %")


def main() -> None:
    """Run the requested cells."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=2000, help="data sets of each cell")
    parser.add_argument("--cells", type=int, nargs="*", help="which cells, by number; all by default")
    parser.add_argument("--record", action="store_true", help="keep the results and write the page")
    asked = parser.parse_args()
    found: dict[str, dict[str, Any]] = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    for number, cell in enumerate(cells()):
        if asked.cells is not None and number not in asked.cells:
            continue
        if asked.record and found.get(cell.name, {}).get("sets", 0) >= asked.sets:
            continue
        one = measure(cell, asked.sets)
        print(number, cell, {key: round(value, 4) for key, value in one.items()}, flush=True)
        if asked.record:
            found[cell.name] = one
            RECORD.write_text(json.dumps(found, indent=1) + "\n")
            PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
