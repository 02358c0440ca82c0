"""BCost and BDeltaCost: k classes and their costs."""

from __future__ import annotations

import warnings

import numpy as np

import costcurves as cc
from benchmarks.harness import Call, Memory, Outcome, Race, Row, Side
from benchmarks.settings import Array, Settings

OURS = "costcurves, exact"
DENSE = "dense multinomial"
EVERY = "the bootstrap's 95 % limits, of all possible resamples"
GIBIBYTE = 2**30


def run(settings: Settings) -> Outcome:
    """Measure few classes, many classes, and costs that are not integers."""
    outcome = Outcome()
    for make in (few_classes, many_classes, continuous_cost, continuous_difference):
        outcome.add(make(settings), settings.repeats)
    return outcome


def labelled(size: int, k: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Draw true classes and the predictions of two classifiers, which are right four times out of five."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, size)
    first, second = (np.where(rng.random(size) < 0.8, y, rng.integers(0, k, size)) for _ in range(2))
    return y, first, second


def costs_of(k: int, *, whole: bool) -> Array:
    """Draw costs that are integers from 1 to 10, or any numbers between 0 and 10."""
    rng = np.random.default_rng(7)
    costs = rng.integers(1, 11, (k, k)).astype(np.float64) if whole else rng.uniform(0, 10, (k, k))
    np.fill_diagonal(costs, 0)
    return costs


def quiet(call: Call) -> Call:
    """Make a call whose warnings about rare errors are not printed again and again."""

    def silent() -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cc.SmallSampleWarning)
            return call()

    return silent


def limits(values: Array) -> Array:
    """The 95 % limits of drawn values."""
    return np.quantile(values, [0.025, 0.975])


def few_classes(settings: Settings) -> Race:
    """The race for BCost of five classes."""
    size, resamples = settings.size(1_000, 200), settings.size(1_000_000, 500)
    k, laplace = 5, 0.1
    y, predicted, _ = labelled(size, k)
    table = np.bincount(y * k + predicted, minlength=k * k).reshape(k, k)
    costs = cc.CostMatrix(costs_of(k, whole=True))
    values = costs_of(k, whole=True).ravel()
    chances = (table.ravel() + laplace) / (size + laplace * k * k)

    def loop() -> Array:
        rng, means = np.random.default_rng(1), []
        for _ in range(settings.size(1_000, 10)):
            drawn = rng.choice(values.size, size, p=chances)
            means.append(values[drawn].mean())
        return limits(np.array(means))

    def multinomial() -> Array:
        drawn = np.random.default_rng(1).multinomial(size, chances, resamples)
        return limits(drawn @ values / size)

    job = f"BCost, k = {k}, n = {size:,}"
    return Race(
        [
            Side(OURS, EVERY, quiet(lambda: cc.bcost.from_confusion(table, costs, method="exact"))),
            Side("the paper's loop", "limits from 1,000 resamples of n draws", loop),
            Side("multinomial, 10⁶ resamples", "limits from 10⁶ resamples, about as accurate", multinomial, turns=3),
        ],
        [
            Row("bcost-multinomial", job, OURS, "multinomial, 10⁶ resamples", 100),
            Row("bcost-loop", job, OURS, "the paper's loop"),
        ],
    )


def many_classes(settings: Settings) -> Race:
    """The race for BDeltaCost of a hundred classes."""
    size, k = settings.size(1_000_000), settings.size(100, 10)
    y, a, b = labelled(size, k)
    plain = costs_of(k, whole=True)
    costs = cc.CostMatrix(plain)
    few = settings.size(20, 2)
    part = {"factor": 10_000 / few, "part": f"{few} of 10,000 resamples", "turns": 3}
    job = f"BDeltaCost, k = {k}, n = {size:,}"
    dense = "limits from 10,000 resamples of k³ counts, from counts on"
    corrected = f"{OURS}, λ = 0.1"
    difference = plain[y, a] - plain[y, b]
    return Race(
        [
            Side(OURS, f"{EVERY}, from labels on", quiet(lambda: cc.bdeltacost(y, a, b, costs, method="exact"))),
            Side(
                corrected,
                f"{EVERY}, from labels on, 0.1 added to each of k³ cells",
                quiet(lambda: cc.bdeltacost(y, a, b, costs, method="exact", laplace=0.1)),
            ),
            Side(DENSE, dense, dense_difference(y, a, b, plain, few), **part),
            Side(
                f"{DENSE}, λ = 0.1",
                f"{dense}, 0.1 added to each",
                dense_difference(y, a, b, plain, few, laplace=0.1),
                **part,
            ),
            Side(
                "scipy.stats.bootstrap",
                "percentile limits from 10,000 resamples of the n differences in cost, from these on",
                lambda: resampled_mean(difference, few),
                **part,
            ),
        ],
        [
            Row("bdeltacost-dense", job, OURS, DENSE, 1_000),
            Row("bdeltacost-scipy", job, OURS, "scipy.stats.bootstrap", 1_000),
            Row("bdeltacost-laplace", f"{job}, λ = 0.1", corrected, f"{DENSE}, λ = 0.1", 1_000),
        ],
        [Memory(side, size, y.nbytes + a.nbytes + b.nbytes, limit_bytes=GIBIBYTE) for side in (OURS, corrected)],
        repeats=min(settings.repeats, 3),
    )


def resampled_mean(values: Array, resamples: int) -> object:
    """Compute SciPy's percentile interval of a mean, with one resample in memory at a time."""
    from scipy.stats import bootstrap

    rng = np.random.default_rng(1)
    return bootstrap((values,), np.mean, n_resamples=resamples, method="percentile", batch=1, rng=rng)


def dense_difference(y: Array, a: Array, b: Array, costs: Array, resamples: int, laplace: float = 0.0) -> Call:
    """Make a function that draws counts of all k³ cells, without the work done once, whose time is not multiplied."""
    k = costs.shape[0]
    cells = np.bincount((y * k + a) * k + b, minlength=k**3) + laplace
    values = (costs[:, :, None] - costs[:, None, :]).ravel()
    chances = cells / cells.sum()

    def draw() -> Array:
        rng = np.random.default_rng(1)
        return limits(np.array([rng.multinomial(y.size, chances) @ values for _ in range(resamples)]) / y.size)

    return draw


def continuous_cost(settings: Settings) -> Race:
    """The race for BCost with costs that are not integers."""
    size, k, laplace = settings.size(1_000_000), settings.size(20, 5), 0.1
    y, predicted, _ = labelled(size, k)
    plain = costs_of(k, whole=False)
    costs = cc.CostMatrix(plain)
    resamples = settings.size(10_000, 20)

    def dense() -> Array:
        table = np.bincount(y * k + predicted, minlength=k * k) + laplace
        drawn = np.random.default_rng(1).multinomial(size, table / table.sum(), resamples)
        return limits(drawn @ plain.ravel() / size)

    return Race(
        [
            Side(OURS, EVERY, quiet(lambda: cc.bcost(y, predicted, costs, method="exact"))),
            Side("exact, from counts", EVERY, quiet(counted(y, predicted, k, costs))),
            Side(DENSE, "limits from 10,000 resamples of k² counts", dense, turns=3),
        ],
        [
            Row("continuous-bcost", f"BCost, any costs, k = {k}, n = {size:,}, from labels", OURS, DENSE),
            Row(
                "continuous-bcost-counts",
                f"BCost, any costs, k = {k}, n = {size:,}, from counts",
                "exact, from counts",
                DENSE,
                100,
            ),
        ],
    )


def counted(y: Array, predicted: Array, k: int, costs: cc.CostMatrix) -> Call:
    """Make a call of BCost for an existing confusion matrix."""
    table = np.bincount(y * k + predicted, minlength=k * k).reshape(k, k)
    return lambda: cc.bcost.from_confusion(table, costs, method="exact")


def continuous_difference(settings: Settings) -> Race:
    """The race for BDeltaCost with costs that are not integers."""
    size, k = settings.size(1_000_000), settings.size(20, 5)
    y, a, b = labelled(size, k)
    plain = costs_of(k, whole=False)
    costs = cc.CostMatrix(plain)
    few = settings.size(1_000, 2)
    return Race(
        [
            Side(OURS, EVERY, quiet(lambda: cc.bdeltacost(y, a, b, costs, method="exact"))),
            Side(
                DENSE,
                "limits from 10,000 resamples of k³ counts, from counts on",
                dense_difference(y, a, b, plain, few),
                factor=10_000 / few,
                part=f"{few:,} of 10,000 resamples",
                turns=3,
            ),
        ],
        [Row("continuous-bdeltacost", f"BDeltaCost, any costs, k = {k}, n = {size:,}", OURS, DENSE, 100)],
    )
