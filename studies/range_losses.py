"""How often the limit of what one rule for a range loses holds: true losses beside those that were quoted.

``python studies/range_losses.py --sets 400 --record`` runs every world, keeps the numbers in studies/range_losses.json
and writes docs/explanation/range-losses.md; ``--sets 50`` tries it. Finished worlds are kept.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import costcurves as cc
from costcurves.decisions.entrants import Entrants
from costcurves.decisions.recommend_within import rule_within
from costcurves.decisions.rows import Rows

try:
    from studies.honesty import Cell
except ModuleNotFoundError:  # run as a script
    from honesty import Cell  # type: ignore[no-redef]

HERE = Path(__file__).parent
RECORD = HERE / "range_losses.json"
PAGE = HERE.parent / "docs" / "explanation" / "range-losses.md"
WIDE = {"prevalence": (0.2, 0.4), "cost_fn": (1, 4)}
NARROW = {"prevalence": (0.3, 0.31), "cost_fn": (2, 2.2)}
RARE = {"prevalence": (0.05, 0.2), "cost_fn": (3, 9)}
COSTS_ONLY = {"prevalence": (0.3, 0.3), "cost_fn": (0.5, 5)}

# The first six worlds helped to choose a constant of the method; the others did not.
WORLDS: dict[str, tuple[Cell, dict[str, tuple[float, float]]]] = {
    "four equal classifiers, 300 cases": (Cell(300, 4, 0.3, 0.5), WIDE),
    "one classifier, 1,000 cases": (Cell(1000, 1, 0.3, 0.5), RARE),
    "four classifiers, scores with ties, 1,000 cases": (Cell(1000, 4, 0.3, 0.5, step=0.5), WIDE),
    "four classifiers of unequal strength, 1,000 cases": (Cell(1000, 4, 0.3, 0.5, strength=(1.3, 1.0, 0.9, 0.8)), WIDE),
    "four useless classifiers, 300 cases": (Cell(300, 4, 0.3, 0.5, strength=(0.0,)), WIDE),
    "four independent classifiers, 100 cases, narrow range": (Cell(100, 4, 0.3, 0.5, correlation=0.0), NARROW),
    "ten equal classifiers, 300 cases": (Cell(300, 10, 0.3, 0.5), COSTS_ONLY),
    "two strong classifiers, 2,000 cases": (Cell(2000, 2, 0.5, 0.5, strength=(2.5, 2.3)), COSTS_ONLY),
    "two classifiers with heavy tails, 600 cases": (Cell(600, 2, 0.2, 0.5, tails="t"), RARE),
    "three classifiers, positives spread twice as wide, 500 cases": (Cell(500, 3, 0.4, 0.5, spread=2.0), WIDE),
    "one classifier, 5 % positives, 1,000 cases": (Cell(1000, 1, 0.05, 0.5), WIDE),
    "three classifiers, coarse ties, 200 cases": (Cell(200, 3, 0.5, 0.5, step=1.0), COSTS_ONLY),
}


def true_loss(cell: Cell, span: cc.OperatingRange, rule: Any) -> float:
    """Return the largest loss of a rule in money on new cases, which is at a corner of the range."""
    found = []
    for p, fn in product(span.prevalence, span.cost_fn):
        at = cc.OperatingCondition(p, cost_fp=1, cost_fn=fn)
        world = replace(cell, pc=at.pc)
        least = world.least_costs()
        known = {"always negative": at.pc, "always positive": 1 - at.pc}
        own = known.get(rule.classifier)
        if own is None:
            own = float(world.true_cost(rule.classifier, rule.threshold))
        found.append((own - min(least.values())) * at.unit_cost)
    return max(found)


def measure(cell: Cell, ranges: dict[str, tuple[float, float]], sets: int, seed: int = 2027) -> dict[str, float]:
    """Return how often the true loss exceeds the observed one and its limit, and the means of all three."""
    span = cc.OperatingRange(cost_fp=1, **ranges)  # type: ignore[arg-type]
    rows = []
    for k in range(sets):
        y, scores = cell.draw(np.random.default_rng([seed, k]))
        # The rule of `cc.recommend_within(y, scores, span)`, without its verdicts, which take most of the time.
        rule = rule_within(Entrants(Rows(y, scores, None, None).with_all_points(), "optimal"), span, 0.95)
        rows.append((true_loss(cell, span, rule), rule.money, rule.money_upper))
    true, seen, upper = np.array(rows).T
    return {
        "sets": sets,
        "above_seen": float((true > seen + 1e-12).mean()),
        "above": float((true > upper + 1e-12).mean()),
        "true": float(true.mean()),
        "seen": float(seen.mean()),
        "upper": float(upper.mean()),
    }


def page(found: dict[str, dict[str, float]]) -> str:
    """Return the page with the table of all recorded worlds."""
    lines = [
        "# How often the loss of one rule holds",
        "",
        "`recommend_within` names one classifier at one threshold for a whole range of conditions. It states how much",
        "this rule loses against the best choice at each condition: on these cases, and at most on new ones, at 95 %.",
        "The rule is chosen on the same cases, so that its loss on them is too low. `python studies/range_losses.py`",
        "draws data sets from made-up worlds in which the true loss is known. The first six worlds were used to choose",
        "a constant of the method, and the others were not.",
        "",
        "- **above the observed**: data sets in which the true loss exceeds the one on these cases.",
        "- **above the limit**: data sets in which it exceeds the upper limit, with the standard error; nominally 5 %.",
        "- **losses**: means of the true loss, of the loss on these cases and of its limit, in money per case.",
        "",
        "| world | data sets | above the observed | above the limit | losses |",
        "|---|---|---|---|---|",
    ]
    for name in WORLDS:
        if name in found:
            one = found[name]
            error = math.sqrt(max(one["above"] * (1 - one["above"]), 1 / one["sets"]) / one["sets"])
            lines.append(
                f"| {name} | {one['sets']:.0f} | {100 * one['above_seen']:.0f} % | "
                f"{100 * one['above']:.1f} % ± {100 * error:.1f} % | "
                f"{one['true']:.3f}, {one['seen']:.3f}, {one['upper']:.3f} |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run all worlds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=400, help="data sets of each world")
    parser.add_argument("--record", action="store_true", help="keep the results and write the page")
    asked = parser.parse_args()
    for name, (cell, ranges) in WORLDS.items():
        found = json.loads(RECORD.read_text()) if RECORD.exists() else {}
        if asked.record and found.get(name, {}).get("sets", 0) >= asked.sets:
            continue
        one = measure(cell, ranges, asked.sets)
        print(name, {key: round(value, 4) for key, value in one.items()}, flush=True)
        if asked.record:
            found[name] = one
            RECORD.write_text(json.dumps(found, indent=1) + "\n")
            PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
