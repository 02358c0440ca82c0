"""How often the default limits of cost curves and of comparisons hold, where thresholds were chosen on the same cases.

``python -m studies.limits --sets 400 --record`` measures every world (about half an hour), keeps the counts in
studies/limits.json and writes docs/explanation/default-limits.md; without ``--record`` it only prints. Counts add up,
so that a second run with more sets goes on where the first one stopped.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

import costcurves as cc
from studies.honesty import Cell

HERE = Path(__file__).parent
RECORD = HERE / "limits.json"
PAGE = HERE.parent / "docs" / "explanation" / "default-limits.md"
WORLDS = (
    Cell(60, 2, 0.5, 0.5),
    Cell(300, 2, 0.3, 0.5),
    Cell(300, 2, 0.3, 0.8),
    Cell(1000, 2, 0.05, 0.5),
    Cell(3000, 2, 0.3, 0.5),
    Cell(300, 2, 0.3, 0.5, strength=(2.5,)),
    Cell(300, 2, 0.3, 0.5, strength=(2.0, 1.0)),
    Cell(300, 2, 0.3, 0.5, tails="t"),
    Cell(1000, 2, 0.3, 0.5, tails="t"),
    Cell(300, 2, 0.3, 0.5, step=0.5),
    Cell(300, 2, 0.3, 0.5, spread=2.0),
    Cell(300, 2, 0.3, 0.5, strength=(0.0,)),
)
COUNTS = (
    "sets",
    "above",
    "below",
    "given",
    "joint_above",
    "joint_below",
    "apart",
    "false",
    "joint_apart",
    "joint_false",
)


def measure(cell: Cell, sets: range) -> dict[str, int]:
    """Return in how many data sets something failed."""
    found = dict.fromkeys(COUNTS, 0)
    for k in sets:
        y, scores = cell.draw(np.random.default_rng([2027, k]))
        curves = {name: cc.CostCurve.from_predictions(y, values) for name, values in scores.items()}
        first = curves["0"]

        def true(name: str, pc: Any, curves: dict[str, cc.CostCurve] = curves) -> Any:
            return replace(cell, pc=pc).true_cost(name, curves[name].threshold_at(pc))

        cost, here = true("0", cell.pc), first.band().at(cell.pc)
        found["sets"] += 1
        found["above"] += bool(cost > here.upper + 1e-12)
        found["below"] += bool(cost < here.lower - 1e-12)
        found["given"] += bool(cost > first.band(method="wilson").at(cell.pc).upper + 1e-12)
        band = first.band(simultaneous=True)
        costs = true("0", band.pc)
        found["joint_above"] += bool((costs > band.upper + 1e-12).any())
        found["joint_below"] += bool((costs < band.lower - 1e-12).any())
        each = cc.compare(y, scores["0"], scores["1"], pc=cell.pc, simultaneous=False).at(cell.pc)
        gap = cost - true("1", cell.pc)
        found["apart"] += not each.lower - 1e-12 <= gap <= each.upper + 1e-12
        found["false"] += bool(each.significant() and gap * each.estimate <= 0)
        both = cc.compare(y, scores["0"], scores["1"])
        gaps = costs - true("1", band.pc)
        lower, upper = np.interp(band.pc, both.pc, both.lower), np.interp(band.pc, both.pc, both.upper)
        found["joint_apart"] += bool(((gaps < lower - 1e-9) | (gaps > upper + 1e-9)).any())
        found["joint_false"] += bool((((lower > 1e-12) & (gaps <= 0)) | ((upper < -1e-12) & (gaps >= 0))).any())
    return found


def page(found: dict[str, dict[str, int]]) -> str:
    """Return the page with a row per world."""
    error = 100 * math.sqrt(0.05 * 0.95 / min(one["sets"] for one in found.values()))
    lines = [
        "# How often the limits of curves and comparisons hold",
        "",
        "`python -m studies.limits` draws data sets in which the true costs are known, and asks `CostCurve.band`",
        "and `compare` by their default calls. Thresholds are chosen on the same cases, and what is compared with",
        "the limits is the cost of those thresholds on new cases. Scores are as in [](honesty.md); there are two",
        "classifiers, equally strong unless the column *world* says otherwise. All numbers are shares of the data",
        "sets, at a nominal 95 %: 2.5 % may lie above, and 5 % may be missed in all. The standard error of 5 % is",
        f"{error:.1f} points.",
        "",
        "- **above, below**: true costs above and below the limits of `band` at the condition; in brackets, above",
        '  those of `band(method="wilson")`, which takes the thresholds as given.',
        "- **joint**: data sets in which a true cost lies outside the joint band (`simultaneous=True`) at any",
        "  condition.",
        "- **difference**: true differences outside the limits of `compare` at the condition, and data sets in which",
        "  the wrong one of two classifiers, or one of two equals, was called cheaper.",
        "- **joint difference**: the same for the joint limits of `compare` at any condition.",
        "",
        "| cases | prevalence | pc | world | data sets | above | below | joint | difference | joint difference |",
        "|---" * 10 + "|",
    ]
    usual = asdict(Cell(0, 0, 0, 0))
    for cell in WORLDS:
        if cell.name not in found:
            continue
        one = found[cell.name]

        def share(*names: str, one: dict[str, int] = one) -> str:
            return f"{sum(one[name] for name in names) / one['sets']:.1%}".replace("%", " %")

        own = {key: value for key, value in asdict(cell).items() if key in ("strength", "tails", "step", "spread")}
        parts = [
            f"{key} {', '.join(f'{v:g}' for v in value) if isinstance(value, tuple) else value}"
            for key, value in own.items()
            if value != usual[key]
        ]
        lines.append(
            f"| {cell.n:,} | {cell.prevalence:g} | {cell.pc:g} | {'; '.join(parts) or 'usual'} | {one['sets']:,} "
            f"| {share('above')} ({share('given')}) | {share('below')} | {share('joint_above', 'joint_below')} "
            f"| {share('apart')}, {share('false')} | {share('joint_apart')}, {share('joint_false')} |"
        )
    return "\n".join([*lines, ""])


def main() -> None:
    """Measure all worlds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=400, help="data sets of each world")
    parser.add_argument("--record", action="store_true", help="keep the counts and write the page")
    asked = parser.parse_args()
    found: dict[str, dict[str, int]] = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    for cell in WORLDS:
        old = found.get(cell.name, dict.fromkeys(COUNTS, 0))
        new = measure(cell, range(old["sets"], asked.sets))
        found[cell.name] = {name: old[name] + new[name] for name in COUNTS}
        print(cell, {name: round(count / found[cell.name]["sets"], 4) for name, count in found[cell.name].items()})
        if asked.record:
            RECORD.write_text(json.dumps(found, indent=1) + "\n")
            PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
