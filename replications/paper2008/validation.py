"""Section 6: what a finite validation set and a limit to observed scores do to the breaks in coverage."""

from __future__ import annotations

from typing import Any

import numpy as np

import costcurves as cc
from replications.paper2008.binormal import LEVEL, SCALE, grid
from replications.study import DIRECTION, FAILS, REPLICATES, Part, Row, Study, rng_of

EXAMPLES = 1000
LOCATIONS = (0.75, 3.0)
SIZES = (100, 1000)
CENTRES = (0.3, 0.5, 0.7)
OPTIONS: dict[str, Any] = {"n_pos": EXAMPLES, "n_neg": EXAMPLES, "level": LEVEL, "method": "gaussian"}


def parts(size: str) -> list[Part]:
    """List one part per location."""
    draws, step = (10_000, 1) if size == "full" else (200, 7)
    return [{"mu": mu, "draws": draws, "step": step} for mu in LOCATIONS]


def work(part: Part, seed: int) -> Part:
    """Compute the coverage of the paper's interval with the best thresholds, with chosen ones, and within scores."""
    rng = rng_of(seed, "validation", part["mu"])
    world, pc = cc.Binormal(shift=part["mu"], scale=SCALE), grid(part["step"])
    found: Part = {"best": cc.coverage(world, pc=pc, **OPTIONS).probability}
    for size in SIZES:
        after = cc.coverage(world, pc=pc, validation=(size, size), n_draws=part["draws"], rng=rng, **OPTIONS)
        found[f"validation {size}"] = after.probability
    within = cc.coverage(world, pc=pc, within_scores=True, **OPTIONS)
    found["within"], found["within_pc"] = within.probability, within.pc
    cuts = [cc.CostCurve.from_predictions(*world.draw(EXAMPLES, EXAMPLES, rng=rng)) for _ in range(part["draws"] // 10)]
    chosen = np.array([curve.threshold_at(np.array(CENTRES)) for curve in cuts])
    best = SCALE**2 * np.log((1 - np.array(CENTRES)) / CENTRES) / (2 * part["mu"])
    low, middle, high = np.percentile(chosen - best, [25, 50, 75], axis=0)
    return found | {"off_centre": middle, "spread": high - low}


def largest_jump(part: Part, kind: str) -> float:
    """The largest change of the coverage between neighbouring operating points.

    Points at which the best threshold lies so far outside that the cost is known to twelve digits are left out.
    """
    judged = np.asarray(part["best"]) < 1 - 1e-9
    return float(np.abs(np.diff(np.asarray(part[kind])[judged])).max())


def rows(found: list[Part]) -> list[Row]:
    """Compare the statements of sections 6 and 7."""
    out = []
    for part in found:
        where = f"μ = {part['mu']:g}"
        before = largest_jump(part, "best")
        jumps = {size: largest_jump(part, f"validation {size}") for size in SIZES}
        lows = [min(part["best"]), *(min(part[f"validation {size}"]) for size in SIZES)]
        smoother = max(jumps.values()) < before
        out.append(
            Row(
                "Section 6",
                f"largest jump of the coverage between neighbouring pc, {where}: best thresholds, and those of "
                + " and ".join(f"{size} + {size} examples" for size in SIZES),
                "smoothed",
                ", ".join(f"{jump:.3f}" for jump in (before, *jumps.values())),
                REPLICATES if max(jumps.values()) < before / 2 else DIRECTION if smoother else FAILS,
                "lowest coverage " + ", ".join(f"{low:.2f}" for low in lows) + ": the breaks are flatter, not gone",
            )
        )
        off = float(np.max(np.abs(part["off_centre"]) / np.asarray(part["spread"])))
        # The standard error of a median of nearly normal draws, in distances of their quartiles.
        error = 0.929 / (part["draws"] // 10) ** 0.5
        out.append(
            Row(
                "Section 6",
                f"median of the chosen threshold minus the best one, in quartile distances, {where}, most of three pc",
                "centred around the best",
                off,
                REPLICATES if off <= 3 * error else DIRECTION if off <= 0.25 else FAILS,
                f"validation sets of {EXAMPLES} + {EXAMPLES} examples, pc " + ", ".join(map(str, CENTRES)),
                error,
            )
        )
        lowest = float(min(part["within"]))
        out.append(
            Row(
                "Section 7",
                f"lowest coverage with thresholds within the range of the scores, {where}",
                "breaks avoided",
                lowest,
                REPLICATES if lowest >= LEVEL - 0.02 else DIRECTION if lowest > min(part["best"]) + 0.1 else FAILS,
                f"without this limit {min(part['best']):.3f}",
            )
        )
    return out


def about(size: str) -> dict[str, Any]:
    """The settings that the page states."""
    return {"examples per class": EXAMPLES, "validation sets": parts(size)[0]["draws"], "level": LEVEL}


STUDY = Study("validation-2008", "Section 6: thresholds of a finite validation set (2008)", parts, work, rows, about)
