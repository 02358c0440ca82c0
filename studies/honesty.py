"""How often the default answers hold: true costs of what is recommended beside the limits that were quoted for them.

``python studies/honesty.py --sets 2000 --record`` runs every cell (hours), keeps the numbers in studies/honesty.json
and writes the table of docs/explanation/honesty.md; ``--sets 50 --cells 0 5`` tries two of them. Cells are measured in
rounds and what is finished is kept, so that a stopped run goes on where it was. ``--part 1/2`` and ``--part 2/2`` share
the work of two processes.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtr
from scipy.stats import norm
from scipy.stats import t as student

import costcurves as cc

HERE = Path(__file__).parent
RECORD = HERE / "honesty.json"
PAGE = HERE.parent / "docs" / "explanation" / "honesty.md"
FREEDOM = 3  # of the t-distribution
SUMS = ("sets", "chosen", "above", "below", "bias", "bias_given", "width", "width_given")
SUMS += ("sure", "false_sure", "false_worse", "fresh", "fresh_sets")
ROUND = 250  # data sets of every cell before the first cell goes on
EVERY = 10  # one in so many data sets is also judged with the choice taken as given, and beside a fresh test set


@dataclass(frozen=True)
class Cell:
    """A world and a size: scores of several classifiers that are shifted by their strength for positives."""

    n: int
    classifiers: int
    prevalence: float
    pc: float
    correlation: float = 0.5
    strength: tuple[float, ...] = (1.0,)
    tails: str = "normal"
    step: float = 0.0  # scores are rounded to multiples of this, which makes ties
    spread: float = 1.0  # of the positives' scores, in those of the negatives

    @property
    def name(self) -> str:
        """What the cell is called in the record."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def named(cls, name: str) -> Cell:
        """Return the cell of a name in the record."""
        values = json.loads(name)
        return cls(**(values | {"strength": tuple(values["strength"])}))

    @property
    def shifts(self) -> list[float]:
        """The strength of each classifier."""
        return [self.strength[min(j, len(self.strength) - 1)] for j in range(self.classifiers)]

    def draw(self, rng: np.random.Generator) -> tuple[Any, dict[str, Any]]:
        """Return labels and scores of one data set."""
        y = np.arange(self.n) < max(2, round(self.n * self.prevalence))
        common = rng.standard_normal(self.n)
        scores = {}
        for j, shift in enumerate(self.shifts):
            own = rng.standard_normal(self.n)
            noise = math.sqrt(self.correlation) * common + math.sqrt(1 - self.correlation) * own
            if self.tails == "t":
                noise = student.ppf(norm.cdf(noise), FREEDOM)
            values = shift * y + np.where(y, self.spread, 1.0) * noise
            scores[str(j)] = np.round(values / self.step) * self.step if self.step else values
        return y, scores

    def true_cost(self, name: str, threshold: Any) -> Any:
        """Return what a classifier costs at a threshold on new cases."""
        cut = np.asarray(threshold, dtype=np.float64) - self.step / 2
        missed = (cut - self.shifts[int(name)]) / self.spread
        fnr, tnr = (ndtr(x) if self.tails == "normal" else stdtr(FREEDOM, x) for x in (missed, cut))
        return self.pc * fnr + (1 - self.pc) * (1 - tnr)

    def least_costs(self) -> dict[str, float]:
        """Return what every classifier costs at its best threshold, and the trivial ones."""
        step = self.step or 0.01
        grid = np.append(np.arange(-40.0, 40.0, step), [np.inf, -np.inf])
        found = {str(j): float(np.min(self.true_cost(str(j), grid))) for j in range(self.classifiers)}
        return found | {"always negative": self.pc, "always positive": 1 - self.pc}


def cells() -> Iterator[Cell]:
    """Yield all cells of the study."""
    for n, many, pc in product((100, 300, 1000, 5000), (1, 4, 10), (0.1, 0.5, 0.9)):
        yield Cell(n, many, 0.3, pc)
    for n in (300, 1000):
        for world in (
            {"correlation": 0.0},
            {"correlation": 0.9},
            {"strength": (1.3, 1.0, 0.9, 0.8)},
            {"strength": (2.0, 1.0)},
            {"tails": "t"},
            {"step": 0.5},
            {"spread": 2.0},
            {"strength": (0.0,)},
        ):
            yield Cell(n, 4, 0.3, 0.68, **world)  # type: ignore[arg-type]
    for n, world in product((300, 1000), ({"tails": "t"}, {"step": 0.5}, {"spread": 2.0}, {"strength": (0.0,)})):
        yield Cell(n, 1, 0.3, 0.68, **world)  # type: ignore[arg-type]
    for prevalence, n in product((0.5, 0.05, 0.01), (300, 1000, 5000)):
        if n * prevalence >= 10:
            yield Cell(n, 4, prevalence, 0.5)


def measure(cell: Cell, sets: range, seed: int = 2026) -> dict[str, float]:
    """Return counts and sums over some data sets: true costs outside the limits, errors, widths, false verdicts."""
    least = cell.least_costs()
    sums = dict.fromkeys(SUMS, 0.0)
    for k in sets:
        y, scores = cell.draw(np.random.default_rng([seed, k]))
        answer = cc.recommend(y, scores, cell.pc)
        best = answer.best
        used = best.classifier in scores
        truth = float(cell.true_cost(best.classifier, best.threshold)) if used else least[best.classifier]
        others = {name: cost for name, cost in least.items() if name != best.classifier}
        sums["sets"] += 1
        sums["sure"] += answer.sure
        sums["false_sure"] += answer.sure and truth > min(others.values()) + 1e-12
        worse = [name for name, shown in zip(answer.classifier, answer.worse, strict=True) if shown]
        sums["false_worse"] += any(truth > least[name] + 1e-12 for name in worse)
        if k % EVERY == 0 and len(cell.strength) > 1:
            fixed = {
                name: cc.thresholds.fixed(float(cut))
                for name, cut in zip(answer.classifier, answer.threshold, strict=True)
                if name in scores
            }
            again = cc.recommend(*cell.draw(np.random.default_rng([seed, k, 1])), cell.pc, policy=fixed)
            sums["fresh"] += again.sure and again.best.classifier == best.classifier
            sums["fresh_sets"] += 1
        if not used:
            continue
        sums["chosen"] += 1
        sums["above"] += truth > answer.upper[0]
        sums["below"] += truth < answer.lower[0]
        sums["bias"] += float(answer.estimate[0]) - truth
        sums["bias_given"] += best.normalized_cost - truth
        if k % EVERY == 0:
            given = cc.recommend(y, scores, cell.pc, given_choice=True)
            sums["width"] += float(answer.upper[0] - answer.lower[0])
            sums["width_given"] += float(given.upper[0] - given.lower[0])
    return {name: float(value) for name, value in sums.items()}


def summary(sums: dict[str, float]) -> dict[str, Any]:
    """Return shares, biases and widths from counts and sums."""
    sets, many = sums["sets"], max(sums["chosen"], 1)
    missed = (sums["above"] + sums["below"]) / sets
    shares = {name: sums[name] / sets for name in ("above", "below", "sure", "false_sure", "false_worse")}
    return shares | {
        "sets": int(sets),
        "chosen": int(sums["chosen"]),
        "coverage": 1 - missed,
        "error": math.sqrt(max(missed * (1 - missed), 1 / sets) / sets),
        "bias": sums["bias"] / many,
        "bias_given": sums["bias_given"] / many,
        "width": sums["width"] / sums["width_given"] if sums["width_given"] else math.nan,
        "fresh": sums["fresh"] / sums["fresh_sets"] if sums["fresh_sets"] else None,
    }


def page(found: dict[str, dict[str, float]]) -> str:
    """Return the page with the table of all recorded cells."""
    lines = [
        "# How often the answers hold",
        "",
        "`python studies/honesty.py` draws data sets from made-up worlds, asks `cc.recommend`, and compares what it",
        "says with what the recommended classifier at the recommended threshold costs on new cases, which is known",
        "there. Scores of the negatives have a standard normal distribution, those of the positives are shifted by 1,",
        "and the noise of the classifiers has a correlation of 0.5, unless the column *world* says otherwise.",
        "",
        "- **above**: true costs above the upper limit; nominally 2.5%.",
        "- **within**: true costs within the limits, with its standard error; nominally 95%.",
        "- **bias**: that of the cost to expect on new cases, as a share of the bias of the cost on the same cases.",
        "- **width**: that of the interval, relative to the one that takes the choice as given.",
        '- **sure**: data sets in which "sure" was said. In brackets, where classifiers are of unequal strength, how',
        "  often a fresh test set of equal size is sure of the same classifier at the same thresholds.",
        '- **false**: data sets in which "sure" was said of a choice that is not the cheapest, and data sets in which',
        "  some rival was falsely said to cost more; nominally at most 5%.",
        "- **used**: data sets in which a classifier was recommended. Otherwise doing nothing or always alarming is",
        "  recommended, and its cost is known exactly. Bias and width are those of data sets that use a classifier.",
        "",
        "No more than about 2.5% of true costs lie above the limits in any of these worlds. Where several",
        "classifiers are equally good, or errors are rare, hardly any lie below, so that more than 97% lie",
        "within: the lower limit has to allow for the possibility that the chosen classifier really is better",
        "than the others, as it looks. The bias of the cost to expect is more than a fifth of the one on the",
        "same cases in a few worlds: where a classifier is seldom recommended, with tied scores, and with",
        "5,000 cases, where both biases are tiny.",
        "",
        '"Sure" is said less often than a fresh test set would allow, because the critical value is that of',
        "the best of all candidates that could have been chosen: on average 2.49 for the hardest rival in 100",
        "data sets of strength 1.3, 1, 0.9, 0.8 and 1,000 cases, 41 of which were sure. The one-sided 1.64 of",
        "a choice that is given would be sure in 77 of them, and a fresh test set is in 55 %. Neither the",
        "adjustment for several rivals nor that every threshold of a rival is considered costs anything",
        "there: all rivals are shown to cost more if the one with the largest p-value is, and its hardest",
        "threshold is the one in use.",
        "",
    ]
    columns = ("cases", "classifiers", "prevalence", "pc", "world", "data sets", "used")
    columns += ("above", "within", "bias", "width", "sure", "false")
    lines += ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    usual = {field.name: field.default for field in fields(Cell)}
    for cell in cells():
        if cell.name not in found:
            continue
        one = summary(found[cell.name])
        extra = {
            key: value for key, value in asdict(cell).items() if key not in ("n", "classifiers", "prevalence", "pc")
        }
        differs = [f"{key} {_shown(value)}" for key, value in extra.items() if usual[key] != value]
        share = one["bias"] / one["bias_given"] if one["bias_given"] else 0.0
        fresh = "" if one["fresh"] is None else f" ({one['fresh']:.0%})"
        lines.append(
            f"| {cell.n:,} | {cell.classifiers} | {cell.prevalence:g} | {cell.pc:g} | {', '.join(differs) or 'usual'} "
            f"| {one['sets']:,} | {one['chosen'] / one['sets']:.0%} "
            f"| {one['above']:.1%} | {one['coverage']:.1%} ± {one['error']:.1%} | {share:+.0%} "
            f"| {one['width']:.2f} | {one['sure']:.0%}{fresh} | {one['false_sure']:.1%}, {one['false_worse']:.1%} |"
        )
    return "\n".join([*lines, ""]).replace("%", " %")


def _shown(value: Any) -> str:
    return ", ".join(f"{part:g}" for part in value) if isinstance(value, tuple) else str(value)


def main() -> None:
    """Run the cells that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=2000, help="data sets of each cell")
    parser.add_argument("--seed", type=int, default=2026, help="of the data sets")
    parser.add_argument("--cells", type=int, nargs="*", help="which cells, by number; all by default")
    parser.add_argument("--part", default="1/1", help="which part of them, such as 1/2")
    parser.add_argument("--record", action="store_true", help="keep the results and write the page")
    asked = parser.parse_args()
    part, parts = map(int, asked.part.split("/"))
    tried: dict[str, dict[str, float]] = {}
    for end in [*range(ROUND, asked.sets, ROUND), asked.sets]:
        for number, cell in enumerate(cells()):
            if (asked.cells is not None and number not in asked.cells) or number % parts != part - 1:
                continue
            found = recorded() if asked.record else tried
            old = found.get(cell.name, dict.fromkeys(SUMS, 0.0))
            if old["sets"] >= end:
                continue
            new = measure(cell, range(int(old["sets"]), end), asked.seed)
            sums = {name: old[name] + new[name] for name in SUMS}
            told = {key: value and round(value, 4) for key, value in summary(sums).items()}
            print(number, cell, told, flush=True)
            tried[cell.name] = sums
            if asked.record:  # the other part may have finished a cell meanwhile
                found = recorded() | {cell.name: sums}
                RECORD.write_text(json.dumps(found, indent=1) + "\n")
                PAGE.write_text(page(found), encoding="utf-8")


def recorded() -> dict[str, dict[str, float]]:
    """Return the sums of the cells that were measured."""
    found: dict[str, dict[str, float]] = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    return found


if __name__ == "__main__":
    main()
