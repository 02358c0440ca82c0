"""Table 5: how often the interval of BCost contains the true cost, and the normal interval, said to do so always."""

from __future__ import annotations

import warnings

import numpy as np

import costcurves as cc
from replications.paper2000.domain import CLASSES, FREQUENCIES, MODELS, Trial, by_model, label, settings, trials
from replications.study import BEYOND, DIRECTION, FAILS, REPLICATES, Part, Row, Study, constructed, mean_and_error

LAPLACE = 0.1
PRINTED = dict(zip(MODELS, (956.1, 955.5, 953.1, 954.9, 953.9, 994.1, 971.7, 952.9, 995.6), strict=True))


def parts(size: str) -> list[Part]:
    """List the trials, with the number of test sets for which the paper's resampling is also done."""
    return [part | {"resampled_sets": 1000 if size == "full" else 20} for part in trials(size)]


def work(part: Part, seed: int) -> Part:
    """Compute coverage out of 1000 of BCost (exact, and by the paper's 1000 resamples) and of the normal interval."""
    trial = Trial.of(part, seed)
    tables, cost = trial.confusions(), trial.cost
    drawn = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.SmallSampleWarning)
        for table in tables[: part["resampled_sets"]]:
            interval = cc.bcost.from_confusion(table, trial.C, laplace=LAPLACE, method="resample", rng=trial.rng)
            drawn += interval.lower <= cost <= interval.upper
    return {
        "cost": cost,
        "errors": float(np.mean(trial.true != trial.predicted)),
        "exact": 1000 * cc.covers_cost(tables, trial.C, cost, method="exact", laplace=LAPLACE).mean(),
        "resampled": 1000 * drawn / part["resampled_sets"],
        "normal": 1000 * cc.covers_cost(tables, trial.C, cost, method="gaussian").mean(),
    }


def rows(found: list[Part]) -> list[Row]:
    """Compare coverage with Table 5, and the normal interval with the paper's 100 %."""
    out = []
    for model, values in by_model(found, "resampled").items():
        ours, error = mean_and_error(values)
        verdict, why = judged(PRINTED[model], ours, error, values)
        out.append(Row(f"Table 5, {model}", "BCost covers, of 1000", PRINTED[model], ours, verdict, why, error))
    for model, values in by_model(found, "exact").items():
        ours, error = mean_and_error(values)
        what = "BCost without resampling covers, of 1000"
        out.append(
            Row(f"Table 5, {model}", what, None, ours, BEYOND, f"the paper, by resampling: {PRINTED[model]}", error)
        )
    for model, values in by_model(found, "normal").items():
        ours, error = mean_and_error(values)
        why = "mean ± 1.96 s/√n is " + ("near its level" if ours > 930 else "too narrow, not too wide")
        out.append(Row(f"Section 4.1, {model}", "normal interval covers, of 1000", None, ours, BEYOND, why, error))
    full = [model for model, values in by_model(found, "normal").items() if min(values) == 1000]
    verdict = REPLICATES if len(full) == len(MODELS) else DIRECTION if len(full) >= 5 else FAILS
    why = 'the paper says so of "all five cost models", but has nine and does not name the five'
    count = f"{len(full)} of {len(MODELS)}"
    out.append(Row("Section 4.1", "models whose normal interval always covers", "all five", count, verdict, why))
    return [*out, frequencies_row()]


def frequencies_row() -> Row:
    """Compare the areas of the classes in our figure 1 with Table 3, by an even grid of points."""
    side = (np.arange(1500) + 0.5) / 1500
    classes = label(np.stack([one.ravel() for one in np.meshgrid(side, side)], axis=1))
    off = float(np.abs(np.bincount(classes, minlength=CLASSES) / classes.size - FREQUENCIES).max())
    why = "the boundaries of our figure 1 were chosen so; the paper's are drawn without numbers"
    what = "largest deviation of a class frequency"
    return constructed("Table 3", what, "0.2102, 0.4473, 0.2568, 0.0016, 0.0841", round(off, 6), off < 2e-4, why)


def judged(paper: float, ours: float, error: float, values: list[float]) -> tuple[str, str]:
    """The verdict on a count out of 1000.

    The paper's cost matrices are not ours, so the difference has about √2 times the standard error of our mean over
    matrices. A count replicates if it is within three of these errors, but never if it differs by more than 15. A count
    on the same side of the nominal 950 replicates in direction.
    """
    spread = f"{min(values):.0f} to {max(values):.0f} over the matrices"
    if abs(ours - paper) <= min(15.0, 3 * 2**0.5 * error):
        return REPLICATES, ""
    why = f"{spread}, low only where the tree misses about 90 % or more of class 3" if paper > 990 else spread
    return (DIRECTION if (ours - 950) * (paper - 950) > 0 else FAILS), why


STUDY = Study(
    "table5", "Table 5: how often BCost contains the true cost (2000)", parts, work, rows, lambda size: settings(size)
)
