"""Why normal intervals may have looked worthless: the effect of using s instead of s/√n.

The paper writes that the mean of n costs "will be normally distributed with a variance of σ/√n, where σ is the
variance" and reports intervals that always covered and a test that never rejected. Intervals without the division by √n
behave in this way.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

import costcurves as cc
from replications.paper2000.domain import TEST, Trial, by_model, settings, trials
from replications.paper2000.power import changed
from replications.study import BEYOND, Part, Row, Study, mean_and_error

SHARES = (0.05, 0.3, 1.0)


def parts(size: str) -> list[Part]:
    """List three matrices per model with the number of test sets, which are examined one interval at a time."""
    return [part | {"sets": 200 if size == "full" else 50} for part in trials(size, 3)]


def work(part: Part, seed: int) -> Part:
    """Compute coverage of mean ± 1.96 s out of 1000, and how often the paired test with s does not reject."""
    trial = Trial.of(part, seed)
    tables = trial.confusions()[: part["sets"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.SmallSampleWarning)
        intervals = [cc.bcost.from_confusion(table, trial.C, method="gaussian") for table in tables]
    covered = [abs(ci.estimate - trial.cost) <= math.sqrt(TEST) * (ci.upper - ci.lower) / 2 for ci in intervals]
    twin = trial.twin()
    kept = []
    for share in SHARES:
        joints = trial.joints(changed(twin, round(share * twin.size), trial.rng))[: part["sets"]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cc.SmallSampleWarning)
            tests = [cc.bdeltacost.from_joint(joint, trial.C, method="gaussian") for joint in joints]
        kept.append(1000 * np.mean([abs(t.estimate) <= math.sqrt(TEST) * (t.upper - t.lower) / 2 for t in tests]))
    return {"covered": 1000 * np.mean(covered), "kept": kept}


def rows(found: list[Part]) -> list[Row]:
    """List both claims of the paper about normal theory, with s instead of s/√n."""
    out = []
    for model, values in by_model(found, "covered").items():
        ours, error = mean_and_error(values)
        out.append(Row(f"Section 4.1, {model}", "mean ± 1.96 s covers, of 1000", 1000.0, ours, BEYOND, "", error))
    for i, share in enumerate(SHARES):
        for model, values in by_model(found, "kept").items():
            ours, error = mean_and_error(value[i] for value in values)
            what = f"paired test with s: H0 not rejected, of 1000, {100 * share:g} % of the labels changed"
            out.append(Row(f"Section 4.2, {model}", what, 1000.0, ours, BEYOND, "", error))
    return out


def about(size: str) -> dict[str, object]:
    """The settings with the shares of changed labels."""
    return settings(size) | {"cost matrices per model": len(parts(size)) // 9, "shares": list(SHARES)}


STUDY = Study("normal-2000", "Normal theory with s instead of s/√n (2000)", parts, work, rows, about)
