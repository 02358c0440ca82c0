"""Scores that are normal in both classes, as in the paper's experiments, and their exact properties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

import costcurves as cc

SCALE = 3.0
LEVEL = 0.9
# Coverage counts as on target if it is within two percentage points of 90 %.
NEAR = 0.02
Floats = npt.NDArray[np.float64]


def grid(step: int = 1) -> Floats:
    """The operating points from 0.01 to 0.99, every `step` hundredths."""
    return np.arange(1, 100, step) / 100


@dataclass(frozen=True)
class Binormal:
    """A classifier whose scores are N(high, 3²) for positives and N(low, 3²) for negatives."""

    high: float
    low: float

    def thresholds(self, pc: Floats) -> Floats:
        """The theoretically best threshold at each operating point, which is the paper's infinite validation set."""
        return (self.high + self.low) / 2 + SCALE**2 / (self.high - self.low) * np.log((1 - pc) / pc)

    def rates(self, pc: Floats) -> tuple[Floats, Floats]:
        """The true fnr and fpr at the best thresholds."""
        from scipy.special import ndtr

        t = self.thresholds(pc)
        return ndtr((t - self.high) / SCALE), ndtr((self.low - t) / SCALE)

    def posterior(self, scores: Floats) -> Floats:
        """The probability of a positive if the classes are equally frequent.

        Scores that are probabilities let the policy `cc.thresholds.bayes` find the best theoretical thresholds.
        """
        from scipy.special import expit

        return np.asarray(expit((self.high - self.low) / SCALE**2 * (scores - (self.high + self.low) / 2)))


def simulated(
    mu: float,
    n: int,
    pc: Floats,
    *,
    runs: int,
    sampling: Literal["stratified", "full"],
    method: Any,
    rng: np.random.Generator,
) -> list[float]:
    """Measure the coverage of the bands of drawn scores, as in the paper's simulation."""
    model = Binormal(mu, -mu)
    fnr, fpr = model.rates(pc)
    truth = pc * fnr + (1 - pc) * fpr
    y = np.repeat([1, 0], n)
    held = np.zeros(pc.size)
    for _ in range(runs):
        scores = np.concatenate([rng.normal(mu, SCALE, n), rng.normal(-mu, SCALE, n)])
        curve = cc.CostCurve.from_predictions(y, model.posterior(scores), policy=cc.thresholds.bayes())
        band = curve.band(level=LEVEL, method=method, sampling=sampling, pc=pc)
        held += (band.lower <= truth + 1e-12) & (truth <= band.upper + 1e-12)
    return [float(x) for x in held / runs]


def on_target(coverage: list[float]) -> float:
    """The share of operating points whose coverage is within two percentage points of 90 %."""
    return float(np.mean(np.abs(np.asarray(coverage) - LEVEL) <= NEAR))


def summed(mu: float, n: int, pc: Floats, **options: Any) -> list[float]:
    """Compute the coverage of the bands by a sum over all counts of errors."""
    world = cc.Binormal(shift=mu, scale=SCALE)
    found = cc.coverage(world, n_pos=n, n_neg=n, pc=pc, level=LEVEL, **options)
    return [float(x) for x in found.probability]


def experiment(mu: float, n: int, runs: int, step: int, rng: np.random.Generator) -> dict[str, list[float]]:
    """Compute the coverage of all intervals at each operating point by sums, and for the paper's also by simulation.

    "full" and "stratified" are the paper's Gaussian intervals, on test sets of n positives and n negatives;
    "full_sets" evaluates the full interval on test sets whose class sizes vary; "corrected" is the default interval.
    """
    pc = grid(step)
    return {
        "stratified": summed(mu, n, pc, method="gaussian"),
        "full": summed(mu, n, pc, method="gaussian", sampling="full"),
        "full_sets": summed(mu, n, pc, method="gaussian", sampling="full", test_sets="full"),
        "corrected": summed(mu, n, pc, method="wilson"),
        "corrected_full": summed(mu, n, pc, method="wilson", sampling="full", test_sets="full"),
        "simulated": simulated(mu, n, pc, runs=runs, sampling="stratified", method="gaussian", rng=rng),
        "simulated_full": simulated(mu, n, pc, runs=runs, sampling="full", method="gaussian", rng=rng),
    }


def largest_gap(parts: list[dict[str, object]], runs: int) -> tuple[float, float]:
    """The largest distance of simulated from summed coverage, also in standard errors of the simulation."""
    gap = ratio = 0.0
    for part in parts:
        for drawn, exact in (("simulated", "stratified"), ("simulated_full", "full")):
            p, q = np.asarray(part[exact], dtype=float), np.asarray(part[drawn], dtype=float)
            error = np.sqrt(np.maximum(p * (1 - p), 1e-4) / runs)
            gap, ratio = max(gap, float(np.abs(p - q).max())), max(ratio, float((np.abs(p - q) / error).max()))
    return gap, ratio
