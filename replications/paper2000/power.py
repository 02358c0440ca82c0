"""Figures 3 to 5: the power of BDeltaCost and of the paired z test, which the paper reports to have none."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import costcurves as cc
from replications.paper2000.domain import CLASSES, Labels, Trial, by_model, settings, trials
from replications.study import DIRECTION, FAILS, REPLICATES, Part, Row, Study, mean_and_error

# Shares of the examples whose label is changed. The paper's q is a million times this share.
SHARES = (0.0, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
MATRICES = 10
LEFT = {"M6": 0.092, "M9": 0.427}
# From which share of changed labels q counts as large, and up to which range variability counts as minor.
LARGE, MINOR = 0.1, 0.15


def parts(size: str) -> list[Part]:
    """List ten matrices per model; the paper averaged three."""
    return trials(size, MATRICES)


def changed(labels: Labels, count: int, rng: np.random.Generator) -> Labels:
    """Replace `count` labels, chosen at random, by other labels, chosen at random."""
    some = rng.choice(labels.size, count, replace=False)
    out = labels.copy()
    out[some] = (out[some] + rng.integers(1, CLASSES, count)) % CLASSES
    return out


def work(part: Part, seed: int) -> Part:
    """Measure how often H0 is not rejected and the cost ratio, for every share of changed labels."""
    trial = Trial.of(part, seed)
    twin = trial.twin()
    kept: list[float] = []
    normal: list[float] = []
    ratio: list[float] = []
    for share in SHARES:
        other = changed(twin, round(share * twin.size), trial.rng)
        joints = trial.joints(other)
        kept.append(float(cc.covers_difference(joints, trial.C, method="exact").mean()))
        normal.append(float(cc.covers_difference(joints, trial.C, method="gaussian").mean()))
        ratio.append(abs(cc.expected_cost(trial.true, other, trial.C) - trial.cost) / trial.cost)
    return {"kept": kept, "normal": normal, "ratio": ratio}


def rows(found: list[Part]) -> list[Row]:
    """List the paper's conclusions from figures 3 to 5."""
    kept = {m: np.mean(v, axis=0) for m, v in by_model(found, "kept").items()}
    normal = {m: np.mean(v, axis=0) for m, v in by_model(found, "normal").items()}
    ratio = {m: np.mean(v, axis=0) for m, v in by_model(found, "ratio").items()}
    out = []
    for model, left in LEFT.items():
        ours = float(kept[model][-1])
        ends = [v[-1] for v in by_model(found, "kept")[model]]
        _, error = mean_and_error(ends)
        verdict = left_verdict(left, ours, error)
        three = error * (len(ends) / 3) ** 0.5
        why = (
            f"from {min(ends):.2f} to {max(ends):.2f} over {len(ends)} matrices, so that a mean of three has a "
            f"standard error of about {three:.2f}"
        )
        out.append(
            Row(f"Figure 4, {model}", "H0 not rejected with all labels changed", left, ours, verdict, why, error)
        )
    others = [m for m in kept if m not in LEFT]
    worst = max(others, key=lambda m: kept[m][-1])
    out.append(
        Row(
            "Figure 4, others",
            "H0 not rejected with all labels changed, largest of seven",
            0.0,
            float(kept[worst][-1]),
            REPLICATES if kept[worst][-1] < 0.02 else FAILS,
            f"largest for {worst}",
        )
    )
    halves = {m: reach(np.array(SHARES), v) for m, v in kept.items()}
    by_three = sum(share <= 0.03 for share in halves.values())
    by_ten = sum(share <= 0.1 for share in halves.values())
    half = len(halves) / 2
    out.append(
        Row(
            "Section 5",
            "models for which H0 is rejected half the time with at most 3 % of the labels changed",
            "most cost matrices",
            f"{by_three} of {len(halves)}",
            REPLICATES if by_three > half else DIRECTION if by_ten > half else FAILS,
            "at " + ", ".join(f"{m} {100 * v:.2g} %" for m, v in halves.items()),
        )
    )
    first = min(halves, key=lambda m: halves[m])
    out.append(
        Row(
            "Figure 4, M7",
            "model that needs the fewest changed labels",
            "M7",
            first,
            REPLICATES if first == "M7" else FAILS,
            "",
        )
    )
    need = {m: reach(ratio[m], kept[m]) for m in kept}
    last = max(need, key=lambda m: need[m])
    out.append(
        Row(
            "Figure 3, M7",
            "model that needs the largest change of cost",
            "M7",
            last,
            REPLICATES if last == "M7" else FAILS,
            ", ".join(f"{m} {v:.2g}" for m, v in need.items()),
        )
    )
    out += _range_rows({m: np.array(v) for m, v in by_model(found, "kept").items()})
    for model in kept:
        at = int(np.argmin(np.abs(kept[model] - 0.1)))
        out.append(
            Row(
                f"Section 4.2, {model}",
                f"z test: H0 not rejected with {SHARES[at]:g} of the labels changed (BDeltaCost {kept[model][at]:.3f})",
                1.0,
                float(normal[model][at]),
                REPLICATES if normal[model][at] > 0.99 else FAILS,
                "it rejects"
                + (", though less often" if normal[model][at] > kept[model][at] + 0.05 else ", about as often"),
            )
        )
    return out


def _range_rows(kept: dict[str, npt.NDArray[Any]]) -> list[Row]:
    """Judge what the paper says of figure 5: variability is minor, except for M6 and M9 when q is large.

    A range counts as minor up to 0.15. Ours are over ten matrices, and over the paper's three they would be smaller.
    """
    ranges = {m: kept[m].max(axis=0) - kept[m].min(axis=0) for m in ("M1", "M2", "M6", "M7", "M9")}
    large = np.array(SHARES) >= LARGE
    wide = {m: float(ranges[m][large].max()) for m in LEFT}
    others = [ranges[m] for m in ranges if m not in LEFT]
    most, most_large = max(float(r.max()) for r in others), max(float(r[large].max()) for r in others)
    told = ", ".join(f"{m} {r.max():.2f} at {SHARES[int(r.argmax())]:g}" for m, r in ranges.items())
    apart = most_large <= MINOR < min(wide.values())
    return [
        Row(
            "Figure 5, M6 and M9",
            f"range of H0 not rejected over the matrices, largest from {LARGE:g} of the labels on",
            "not minor",
            " and ".join(f"{value:.2f}" for value in wide.values()),
            REPLICATES if min(wide.values()) > MINOR else DIRECTION if max(wide.values()) > MINOR else FAILS,
        ),
        Row(
            "Figure 5, others",
            "range of H0 not rejected over the matrices, largest of M1, M2 and M7 at any share",
            "minor",
            most,
            REPLICATES if most <= MINOR else DIRECTION if apart else FAILS,
            f"{most_large:.2f} from {LARGE:g} on; where the curves fall it is large for all models: {told}",
        ),
    ]


def left_verdict(paper: float, ours: float, error: float) -> str:
    """The verdict on how often H0 is not rejected although all labels are changed.

    It replicates within two standard errors of our mean over matrices, but never if it differs by more than 0.1. The
    paper's statement, that the test does not always reject for this model, holds in direction from 0.05 on.
    """
    return REPLICATES if abs(ours - paper) <= min(0.1, 2 * error) else DIRECTION if ours > 0.05 else FAILS


def reach(x: npt.NDArray[Any], kept: npt.NDArray[Any]) -> float:
    """Find the x at which H0 is first rejected half the time, by linear interpolation."""
    below = np.flatnonzero(kept < 0.5)
    if below.size == 0:
        return float("inf")
    i = int(below[0])
    if i == 0:
        return float(x[0])
    return float(x[i - 1] + (kept[i - 1] - 0.5) / (kept[i - 1] - kept[i]) * (x[i] - x[i - 1]))


def about(size: str) -> dict[str, object]:
    """The settings with the shares of changed labels."""
    return settings(size) | {"cost matrices per model": len(parts(size)) // 9, "shares": list(SHARES)}


STUDY = Study("power", "Figures 3-5: power of BDeltaCost (2000)", parts, work, rows, about)
