"""Figure 2: coverage of BCost as λ goes from 0 to 3."""

from __future__ import annotations

import numpy as np

import costcurves as cc
from replications.paper2000.domain import Trial, by_model, settings, trials
from replications.study import FAILS, REPLICATES, Part, Row, Study

LAPLACES = (0.0, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0)


def work(part: Part, seed: int) -> Part:
    """Compute the coverage of the true cost, by λ and for mid-P, and the misses of class 3."""
    trial = Trial.of(part, seed)
    tables, cost = trial.confusions(), trial.cost
    rare = trial.true == 3
    missed = trial.C.values[3, trial.predicted[rare]].sum() / trial.C.values[trial.true, trial.predicted].sum()
    return {
        "rare_missed": float(np.mean(trial.predicted[rare] != 3)),
        "rare_cost": float(missed),
        "mid_p": float(cc.covers_cost(tables, trial.C, cost, method="mid-p").mean()),
        "coverage": [cc.covers_cost(tables, trial.C, cost, method="exact", laplace=x).mean() for x in LAPLACES],
    }


def curves(parts: list[Part]) -> dict[str, list[float]]:
    """The coverage of each model at every λ, averaged over its matrices."""
    return {model: np.mean(values, axis=0).tolist() for model, values in by_model(parts, "coverage").items()}


def rows(parts: list[Part]) -> list[Row]:
    """List the three conclusions that the paper draws from the figure."""
    found = curves(parts)
    peaks = {model: LAPLACES[int(np.argmax(values))] for model, values in found.items()}
    high = [model for model, peak in peaks.items() if not 0 < peak <= 0.5]
    narrow = {model: values[0] for model, values in found.items()}
    below = [model for model, value in narrow.items() if value < 0.95]
    at_half, at_three = LAPLACES.index(0.5), LAPLACES.index(3.0)
    falling = [model for model, values in found.items() if values[at_three] < values[at_half]]
    return [
        Row(
            "Figure 2",
            "models whose coverage is highest for a λ in (0, 0.5]",
            "all nine",
            f"{9 - len(high)} of 9",
            REPLICATES if not high else FAILS,
            "" if not high else "; ".join(f"{m} peaks at λ = {peaks[m]:g}" for m in high),
        ),
        Row(
            "Figure 2",
            "models for which λ = 0 is too narrow (coverage below 95 %)",
            "all nine",
            f"{len(below)} of 9",
            REPLICATES if len(below) == 9 else FAILS,
            "lowest " + ", ".join(f"{m} {100 * v:.1f} %" for m, v in sorted(narrow.items(), key=lambda x: x[1])[:3]),
        ),
        Row(
            "Figure 2",
            "models whose coverage falls beyond λ = 0.5 (intervals biased high)",
            "all nine",
            f"{len(falling)} of 9",
            REPLICATES if len(falling) == 9 else FAILS,
            "" if len(falling) == 9 else "not for " + ", ".join(m for m in found if m not in falling),
        ),
    ]


def about(size: str) -> dict[str, object]:
    """The settings with the values of λ."""
    return settings(size) | {"laplace": list(LAPLACES)}


STUDY = Study("figure2-2000", "Figure 2: coverage of BCost against λ (2000)", trials, work, rows, about)
