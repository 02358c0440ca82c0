"""Beyond Tables 5 and 6: other λ, strata by class, normal and mid-P intervals, and the choice of a default."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

import costcurves as cc
from replications.paper2000.domain import CLASSES, FREQUENCIES, TEST, Trial, by_model, settings, trials
from replications.study import BEYOND, Part, Row, Study, judged, mean_and_error

LAPLACES = {"λ = 0": 0.0, "λ = 1/k³": 1 / CLASSES**3, "λ = 1/k²": 1 / CLASSES**2, "λ = 0.1": 0.1, "λ = 0.5": 0.5}
METHODS = (*LAPLACES, "mid-P", "normal")
# Widths need complete intervals, which take longer than checking whether they contain a cost.
MATRICES = 3
WIDTHS = {"λ = 0": 0.0, "λ = 1/k²": 1 / CLASSES**2, "λ = 0.1": 0.1}


def parts(size: str) -> list[Part]:
    """List three matrices per model, with the number of test sets whose intervals are measured."""
    return [part | {"measured_sets": 5 if size == "full" else 1} for part in trials(size, MATRICES)]


def about(size: str) -> dict[str, Any]:
    """The settings with the number of matrices."""
    return settings(size) | {"cost matrices per model": len(parts(size)) // 9}


def work(part: Part, seed: int) -> Part:
    """Compute coverage of costs and of equal costs, for test sets of random and of fixed class sizes, and widths."""
    trial = Trial.of(part, seed)
    tables = trial.confusions()
    joints = trial.joints(trial.twin())
    fixed, rates = _by_class(tables, trial.rng)
    fixed_joints, _ = _by_class(joints, trial.rng)
    cost = float((np.array(FREQUENCIES)[:, None] * rates * trial.C.values).sum())
    priors = np.array(FREQUENCIES)
    return {
        "cost": _each(lambda **o: cc.covers_cost(tables, trial.C, trial.cost, **o)),
        "cost_by_class": _each(lambda **o: cc.covers_cost(fixed, trial.C, cost, priors=priors, **o)),
        "equal": _each(lambda **o: cc.covers_difference(joints, trial.C, **o)),
        "equal_by_class": _each(lambda **o: cc.covers_difference(fixed_joints, trial.C, priors=priors, **o)),
        "width": _widths(tables, trial.C, part["measured_sets"]),
    }


def _each(covers: Any) -> dict[str, float]:
    found = {name: covers(method="exact", laplace=value) for name, value in LAPLACES.items()}
    found |= {"mid-P": covers(method="mid-p"), "normal": covers(method="gaussian")}
    return {name: 1000 * float(held.mean()) for name, held in found.items()}


def _by_class(
    tables: npt.NDArray[np.int64], rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Draw as many test sets with the class sizes of Table 3, at the rates of all sets, and return those rates too."""
    total = tables.sum(axis=0).reshape(CLASSES, -1)
    rates = total / total.sum(axis=1, keepdims=True)
    sizes = np.maximum(1, np.rint(TEST * np.array(FREQUENCIES))).astype(np.int64)
    drawn = [rng.multinomial(n, rate, len(tables)) for n, rate in zip(sizes, rates, strict=True)]
    return np.stack(drawn, axis=1).reshape(tables.shape), rates.reshape(tables.shape[1:])


def _widths(tables: npt.NDArray[np.int64], C: cc.CostMatrix, measured: int) -> dict[str, float]:
    """The mean widths, in units of 2 · 1.96 true standard errors."""
    share = tables.sum(axis=0) / tables.sum()
    mean = float((share * C.values).sum())
    unit = 2 * 1.959964 * math.sqrt(float((share * (C.values - mean) ** 2).sum()) / TEST)
    out: dict[str, float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.SmallSampleWarning)
        some = tables[:measured]
        for name, value in WIDTHS.items():
            found = [cc.bcost.from_confusion(table, C, method="exact", laplace=value) for table in some]
            out[name] = float(np.mean([ci.upper - ci.lower for ci in found])) / unit
        others: dict[str, Any] = {"mid-P": "mid-p", "normal": "gaussian"}
        for name, method in others.items():
            found = [cc.bcost.from_confusion(table, C, method=method) for table in tables[: 20 * measured]]
            out[name] = float(np.mean([ci.upper - ci.lower for ci in found])) / unit
    return out


TABLES = {
    "cost": "cost covered, of 1000",
    "cost_by_class": "cost covered, of 1000, fixed class sizes and known priors",
    "equal": "equal costs not rejected, of 1000",
    "equal_by_class": "equal costs not rejected, of 1000, fixed class sizes and known priors",
}


def table(found: list[Part], kind: str) -> dict[str, dict[str, float]]:
    """For every method, the mean over matrices for each model."""
    each = by_model(found, kind)
    return {
        name: {model: mean_and_error(value[name] for value in values)[0] for model, values in each.items()}
        for name in each["M1"][0]
    }


def rows(found: list[Part]) -> list[Row]:
    """Return, for every method and table, the lowest and the highest model."""
    out = []
    for kind, what in TABLES.items():
        for name, each in table(found, kind).items():
            low, high = min(each, key=lambda m: each[m]), max(each, key=lambda m: each[m])
            text = f"{each[low]:.0f} ({low}) to {each[high]:.0f} ({high})"
            out.append(Row(name, what, None, text, BEYOND))
    equal = table(found, "equal")
    for model in ("M6", "M7", "M9"):
        kept = {name: equal[name][model] for name in equal if name.startswith("λ") and name != "λ = 0"}
        least = min(kept, key=lambda name: kept[name])
        out.append(
            judged(
                f"Section 4.2, {model}",
                "H0 not rejected, of 1000, for any λ > 0 (the least of those tried)",
                "> 995",
                kept[least],
                kept[least] > 995,
                f"at {least}; {', '.join(kept)}",
            )
        )
    return out


STUDY = Study(
    "defaults-2000",
    "Beyond Tables 5 and 6: λ, strata and intervals (2000)",
    parts,
    work,
    rows,
    about,
)
