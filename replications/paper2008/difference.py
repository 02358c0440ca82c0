"""The difference experiment, stratified (figure 4) and full (figure 6): coverage for two classifiers compared."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import costcurves as cc
from replications.paper2008.binormal import LEVEL, SCALE, Binormal, Floats, grid, on_target
from replications.study import BEYOND, DIRECTION, FAILS, REPLICATES, Part, Row, Study, rng_of

LOCATIONS = (1.0, 3.0)
SHIFTS = (0.0, 2.0, 4.0)
CORRELATIONS = (0.3, 0.6, 0.9)
EXAMPLES = 1000
KINDS: dict[str, dict[str, Any]] = {
    "stratified": {"method": "gaussian", "sampling": "stratified"},
    "full": {"method": "gaussian", "sampling": "full"},
    "corrected": {"method": "mid-p", "sampling": "stratified"},
}


def parts(size: str) -> list[Part]:
    """List one part per location, shift and correlation."""
    draws, runs, step = (10_000, 1000, 2) if size == "full" else (400, 10, 14)
    return [
        {"mu": mu, "shift": shift, "rho": rho, "draws": draws, "runs": runs, "step": step}
        for mu in LOCATIONS
        for shift in SHIFTS
        for rho in CORRELATIONS
    ]


def discordant(part: Part, pc: Floats) -> tuple[Floats, Floats]:
    """The rates of positives and of negatives that only the first or only the second gets wrong, (points, 2)."""
    from scipy.stats import multivariate_normal

    first, second = classifiers(part)
    both = multivariate_normal([0, 0], [[1, part["rho"]], [part["rho"], 1]])
    t, u = first.thresholds(pc), second.thresholds(pc)
    (fnr_a, fpr_a), (fnr_b, fpr_b) = first.rates(pc), second.rates(pc)
    missed = both.cdf(np.stack([(t - first.high) / SCALE, (u - second.high) / SCALE], axis=1))
    # Both above their thresholds is the same as both below after changing the signs.
    alarmed = both.cdf(np.stack([(first.low - t) / SCALE, (second.low - u) / SCALE], axis=1))
    positives = np.stack([fnr_a - missed, fnr_b - missed], axis=1)
    negatives = np.stack([fpr_a - alarmed, fpr_b - alarmed], axis=1)
    return np.clip(positives, 0, 1), np.clip(negatives, 0, 1)


def classifiers(part: Part) -> tuple[Binormal, Binormal]:
    """The two classifiers of a part."""
    return Binormal(part["mu"], -part["mu"]), Binormal(part["mu"] + part["shift"], -part["mu"])


def simulated(part: Part, pc: Floats, rng: np.random.Generator) -> dict[str, list[float]]:
    """Measure the coverage by the paper's simulation, in which scores are drawn and compared."""
    first, second = classifiers(part)
    positives, negatives = discordant(part, pc)
    truth = pc * (positives[:, 0] - positives[:, 1]) + (1 - pc) * (negatives[:, 0] - negatives[:, 1])
    spread = SCALE**2 * np.array([[1, part["rho"]], [part["rho"], 1]])
    y = np.repeat([1, 0], EXAMPLES)
    held = {name: np.zeros(pc.size) for name in ("stratified", "full")}
    for _ in range(part["runs"]):
        scores = np.concatenate(
            [
                rng.multivariate_normal([first.high, second.high], spread, EXAMPLES, method="cholesky"),
                rng.multivariate_normal([first.low, second.low], spread, EXAMPLES, method="cholesky"),
            ]
        )
        a, b = first.posterior(scores[:, 0]), second.posterior(scores[:, 1])
        for name, count in held.items():
            options = KINDS[name]
            found = cc.compare(y, a, b, policy=cc.thresholds.bayes(), level=LEVEL, simultaneous=False, pc=pc, **options)
            count += (found.lower <= truth + 1e-12) & (truth <= found.upper + 1e-12)
    return {f"simulated_{name}": [float(x) for x in count / part["runs"]] for name, count in held.items()}


def work(part: Part, seed: int) -> Part:
    """Compute the coverage of all intervals."""
    rng = rng_of(seed, "difference", part["mu"], part["shift"], part["rho"])
    pc = grid(part["step"])
    positives, negatives = discordant(part, pc)
    found: Part = {}
    for name, options in KINDS.items():
        coverage = cc.difference_coverage(
            positives, negatives, EXAMPLES, EXAMPLES, pc=pc, level=LEVEL, n_draws=part["draws"], rng=rng, **options
        )
        found[name] = coverage.probability.tolist()
    return found | simulated(part, pc, rng)


def rows(found: list[Part]) -> list[Row]:
    """Compare the paper's statements about figures 4 and 6, and list the corrected interval."""
    share = {(p["mu"], p["shift"], p["rho"]): on_target(p["stratified"]) for p in found}

    def mean(kind: str = "stratified", **fixed: float) -> float:
        chosen = [on_target(p[kind]) for p in found if all(p[k] == v for k, v in fixed.items())]
        return float(np.mean(chosen))

    def least(mu: float, shift: float) -> float:
        return float(min(min(p["stratified"]) for p in found if (p["mu"], p["shift"]) == (mu, shift)))

    low = [min(p["stratified"]) for p in found]
    breaks = sum(value < 0.8 for value in low)
    wider = mean(mu=3.0) > mean(mu=1.0)
    first = [mean(mu=1.0, shift=s) for s in SHIFTS]
    third = [mean(mu=3.0, shift=s) for s in SHIFTS]
    rho = [mean(rho=r) for r in CORRELATIONS]
    most = max(abs(share[mu, s, 0.3] - share[mu, s, 0.9]) for mu in LOCATIONS for s in SHIFTS)
    out = [
        Row(
            "Figure 4",
            "settings whose coverage breaks (below 80 %) somewhere",
            "all, at low and high pc",
            f"{breaks} of {len(found)}",
            REPLICATES if breaks == len(found) else DIRECTION if breaks > len(found) / 2 else FAILS,
            f"lowest {min(low):.3f}; with shift 0 the true difference is 0, which intervals of width 0 contain",
        ),
        Row(
            "Figure 4",
            "share of pc on target for μ = 1 and 3",
            "wider for μ = 3",
            f"{100 * mean(mu=1.0):.0f} % and {100 * mean(mu=3.0):.0f} %",
            REPLICATES if wider else FAILS,
        ),
        Row(
            "Figure 4",
            "share of pc on target for μ = 1 and shift 0, 2, 4",
            "better with the shift",
            ", ".join(f"{100 * x:.0f} %" for x in first),
            _order(first),
        ),
        Row(
            "Figure 4",
            "share of pc on target for μ = 3 and shift 0, 2, 4",
            "slightly worse with the shift",
            ", ".join(f"{100 * x:.0f} %" for x in third),
            _order(third[::-1]),
            f"the shares differ by at most {100 * (max(third) - min(third)):.1f} points; it is worse by the lowest "
            f"coverage: {', '.join(f'{least(3.0, s):.2f}' for s in SHIFTS)}",
        ),
        Row(
            "Figure 4",
            "share of pc on target for correlation 0.3, 0.6, 0.9",
            "very little effect",
            ", ".join(f"{100 * x:.0f} %" for x in rho),
            REPLICATES if most <= 0.1 else DIRECTION if max(rho) - min(rho) <= 0.1 else FAILS,
            f"largest effect in one setting: {100 * most:.0f} points",
        ),
        Row(
            "Figure 6",
            "share of pc on target, stratified and full (fixed class sizes)",
            "equally good",
            f"{100 * mean():.0f} % and {100 * mean('full'):.0f} %",
            BEYOND,
            "evaluated with random class sizes in figure6-2008, as figure 5 is",
        ),
    ]
    runs, draws = found[0]["runs"], found[0]["draws"]
    gaps = [np.abs(np.subtract(p[f"simulated_{k}"], p[k])).max() for p in found for k in ("stratified", "full")]
    error = (0.09 / runs + 0.09 / draws) ** 0.5
    out.append(
        Row(
            "Figures 4 and 6",
            f"largest gap between {runs} simulations and {draws} draws of the counts",
            None,
            float(max(gaps)),
            BEYOND,
            f"one standard error of a gap is {error:.3f} at 90 %, of {2 * len(found) * len(found[0]['full'])} points",
        )
    )
    corrected = [min(p["corrected"]) for p in found]
    out.append(
        Row(
            "Figure 4",
            "lowest coverage of the corrected interval, all settings",
            None,
            float(min(corrected)),
            BEYOND,
            "",
            (0.09 / draws) ** 0.5,
        )
    )
    return out


def _order(values: list[float]) -> str:
    if all(b >= a for a, b in pairwise(values)):
        return REPLICATES
    return DIRECTION if values[-1] > values[0] else FAILS


def about(size: str) -> dict[str, Any]:
    """The settings that the pages state."""
    first = parts(size)[0]
    return {
        "locations": list(LOCATIONS),
        "shifts": list(SHIFTS),
        "correlations": list(CORRELATIONS),
        "examples per class": EXAMPLES,
        "simulations": first["runs"],
        "draws": first["draws"],
        "level": LEVEL,
    }


STUDY = Study("difference-2008", "Figures 4 and 6: coverage of differences (2008)", parts, work, rows, about)
