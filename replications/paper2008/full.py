"""Figure 6 with test sets of random class sizes, which full sampling assumes. See also the difference experiment."""

from __future__ import annotations

from typing import Any

import numpy as np

import costcurves as cc
from replications.paper2008 import difference
from replications.paper2008.binormal import LEVEL, grid, on_target
from replications.study import FAILS, REPLICATES, Part, Row, Study, rng_of


def parts(size: str) -> list[Part]:
    """List one part per location, shift and correlation. Only counts are drawn."""
    return [{key: part[key] for key in ("mu", "shift", "rho", "draws", "step")} for part in difference.parts(size)]


def work(part: Part, seed: int) -> Part:
    """Compute the coverage of the full interval on test sets of random class sizes, and of the stratified one."""
    rng = rng_of(seed, "full", part["mu"], part["shift"], part["rho"])
    pc = grid(part["step"])
    positives, negatives = difference.discordant(part, pc)
    found: Part = {}
    for sampling in ("full", "stratified"):
        coverage = cc.difference_coverage(
            positives,
            negatives,
            difference.EXAMPLES,
            difference.EXAMPLES,
            pc=pc,
            level=LEVEL,
            method="gaussian",
            sampling=sampling,
            test_sets=sampling,
            n_draws=part["draws"],
            rng=rng,
        )
        found[sampling] = coverage.probability.tolist()
    return found


def rows(found: list[Part]) -> list[Row]:
    """Compare the two intervals, each on the test sets that it assumes."""
    share = {kind: float(np.mean([on_target(part[kind]) for part in found])) for kind in ("stratified", "full")}
    low = {kind: min(min(part[kind]) for part in found) for kind in share}
    equal = abs(share["stratified"] - share["full"]) <= 0.05
    return [
        Row(
            "Figure 6",
            "share of pc on target, stratified and full (random class sizes)",
            "equally good",
            f"{100 * share['stratified']:.0f} % and {100 * share['full']:.0f} %",
            REPLICATES if equal else FAILS,
            f"lowest coverage {low['stratified']:.2f} and {low['full']:.2f}",
        )
    ]


def about(size: str) -> dict[str, Any]:
    """The settings that the pages state."""
    return {"examples": 2 * difference.EXAMPLES, "draws": parts(size)[0]["draws"], "level": LEVEL}


STUDY = Study("figure6-2008", "Figure 6 on test sets of random class sizes (2008)", parts, work, rows, about)
