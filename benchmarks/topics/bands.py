"""Bands of cost curves, from raw arrays to limits at 1,001 operating points, and ROCR's cost curve."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

import costcurves as cc
from benchmarks import r
from benchmarks.harness import Call, Growth, Memory, Outcome, Race, Row, Side
from benchmarks.settings import Array, Settings, predictions

CLOSED = "costcurves, closed form"
DEFAULT = "costcurves, by default"
EXACT = "costcurves, exact bootstrap"
REOPTIMISED = "resampled roc_curve"
COUNTED = "resamples at fixed thresholds, vectorised"
LOOPED = "resamples at fixed thresholds, one by one"
CELLS = "multinomial counts at fixed thresholds"
PROC = "pROC ci.se"
FIXED = "95 % limits of the cost at the thresholds that are best on the data, held fixed"
RESAMPLES = 2_000
TOGETHER = 50


def run(settings: Settings) -> Outcome:
    """Measure bands of one classifier, of a difference, and ROCR's cost curve."""
    outcome = Outcome()
    outcome.add(one_classifier(settings), settings.repeats)
    outcome.add(difference(settings), settings.repeats)
    for size in (400, 800):
        outcome.add(rocr(settings, size), settings.repeats)
    return outcome


def operating_points(settings: Settings) -> Array:
    """The conditions at which limits are computed."""
    return np.linspace(0.0, 1.0, settings.size(1_001, 51))


def one_classifier(settings: Settings) -> Race:
    """The race for the band of one classifier's cost curve."""
    size = settings.size(100_000)
    pc = operating_points(settings)
    labels, scores = predictions(size)

    def sides(n: int) -> Mapping[str, Call]:
        y, s = predictions(n)
        return {
            CLOSED: lambda: cc.CostCurve.from_predictions(y, s).band(pc=pc, method="wilson"),
            DEFAULT: lambda: cc.CostCurve.from_predictions(y, s).band(pc=pc),
            EXACT: lambda: cc.CostCurve.from_predictions(y, s).band(pc=pc, method="exact"),
        }

    calls = sides(size)
    few, proc_few = settings.size(200, 2), settings.size(10, 2)
    missing = r.why_missing("pROC")
    specificities = f"seq(0, 1, length.out = {pc.size})"
    once = 'curve <- roc(label, score, levels = c(0, 1), direction = "<", quiet = TRUE)'
    code = f'ci.se(curve, specificities = {specificities}, boot.n = {proc_few}, progress = "none")'
    at = f"{pc.size:,} points, n = {size:,}"
    band, exact = f"95 % band at {at}", f"exact bootstrap quantiles at {at}"
    return Race(
        [
            Side(CLOSED, f"{FIXED}: Wilson limits of both rates, combined", calls[CLOSED]),
            Side(
                DEFAULT,
                "95 % limits of the cost on new cases, which allow for the choice of thresholds",
                calls[DEFAULT],
            ),
            Side(EXACT, f"{FIXED}: quantiles of all possible resamples", calls[EXACT]),
            Side(
                REOPTIMISED,
                "scikit-learn's curve of each stratified resample, from which costs at anew chosen thresholds could be "
                "read (not counted)",
                lambda: reoptimised(labels, scores, few),
                factor=RESAMPLES / few,
                part=f"{few} of {RESAMPLES:,} resamples",
                turns=3,
            ),
            Side(
                COUNTED,
                f"{FIXED}: quantiles of {RESAMPLES:,} stratified resamples of the examples, {TOGETHER} at once",
                lambda: resampled_counts(labels, scores, pc, settings.size(RESAMPLES, 20), TOGETHER),
                turns=3,
            ),
            Side(
                LOOPED,
                f"{FIXED}: the same {RESAMPLES:,} resamples in a loop, which the cache likes better",
                lambda: resampled_counts(labels, scores, pc, settings.size(RESAMPLES, 20), 1),
                turns=3,
            ),
            Side(
                CELLS,
                f"{FIXED}: quantiles of {RESAMPLES:,} stratified resamples, drawn as counts between thresholds",
                lambda: multinomial_counts(labels, scores, pc, settings.size(RESAMPLES, 20)),
                turns=3,
            ),
            Side(
                PROC,
                f"95 % limits of the sensitivity at {pc.size:,} specificities, stratified bootstrap",
                None if missing else r.timed("pROC", code, labels, scores, once=once),
                factor=RESAMPLES / proc_few,
                part=f"{proc_few} of {RESAMPLES:,} resamples",
                turns=1,
                missing=missing,
            ),
        ],
        [
            Row("band-counts", band, CLOSED, COUNTED, 1_000),
            Row("band-loop", band, CLOSED, LOOPED),
            Row("band-cells", band, CLOSED, CELLS),
            Row("band-reoptimised", band, CLOSED, REOPTIMISED, 5_000),
            Row("band-proc", band, CLOSED, PROC, 1_000),
            Row("default-reoptimised", f"95 % band for chosen thresholds at {at}", DEFAULT, REOPTIMISED),
            Row("exact-counts", exact, EXACT, COUNTED, 30),
            Row("exact-loop", exact, EXACT, LOOPED),
            Row("exact-cells", exact, EXACT, CELLS),
            Row("exact-reoptimised", exact, EXACT, REOPTIMISED, 300),
        ],
        [Memory(CLOSED, size, size * 9), Memory(EXACT, size, size * 9)],
        Growth(tuple(settings.size(10_000, 50) * 10**k for k in range(3)), sides),
    )


def reoptimised(labels: Array, scores: Array, resamples: int) -> list[object]:
    """Compute scikit-learn's curve of each stratified resample."""
    from sklearn.metrics import roc_curve

    rng = np.random.default_rng(1)
    positive, negative = np.flatnonzero(labels), np.flatnonzero(~labels)
    curves: list[object] = []
    for _ in range(resamples):
        drawn = np.concatenate([rng.choice(group, group.size) for group in (positive, negative)])
        curves = [roc_curve(labels[drawn], scores[drawn])]
    return curves


def first_alarm(scores: Array, cuts: Array) -> Array:
    """Count the points, whose thresholds decrease, at which each example is not yet predicted positive."""
    return np.searchsorted(-cuts, -scores, side="left")


def resampled_counts(labels: Array, scores: Array, pc: Array, resamples: int, together: int) -> Array:
    """Compute quantiles of the cost at fixed thresholds from resampled examples, starting from raw arrays."""
    cuts = cc.CostCurve.from_predictions(labels, scores).cuts_at(pc)
    rng = np.random.default_rng(1)
    place = first_alarm(scores, cuts)
    positive, negative = place[labels], place[~labels]
    costs = np.empty((resamples, pc.size))
    for start in range(0, resamples, together):
        some = costs[start : start + together]
        fn = positive.size - drawn_alarms(positive, some.shape, rng)
        fp = drawn_alarms(negative, some.shape, rng)
        some[:] = pc * fn / positive.size + (1 - pc) * fp / negative.size
    return np.quantile(costs, [0.025, 0.975], axis=0)


def drawn_alarms(places: Array, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    """Count the examples drawn for each resample that are alarms at each point."""
    resamples, points = shape
    drawn = places[rng.integers(0, places.size, (resamples, places.size))]
    drawn += (points + 1) * np.arange(resamples)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=resamples * (points + 1)).reshape(resamples, points + 1)
    return np.cumsum(counts[:, :points], axis=1)


def multinomial_counts(labels: Array, scores: Array, pc: Array, resamples: int) -> Array:
    """Compute the same quantiles from counts between thresholds, which are all that a resample changes."""
    cuts = cc.CostCurve.from_predictions(labels, scores).cuts_at(pc)
    rng = np.random.default_rng(1)
    place = first_alarm(scores, cuts)
    rates = []
    for places in (place[labels], place[~labels]):
        cells, where = np.unique(places, return_inverse=True)
        drawn = rng.multinomial(places.size, np.bincount(where) / places.size, resamples)
        upto = np.searchsorted(cells, np.arange(pc.size), side="right")
        total = np.concatenate([np.zeros((resamples, 1)), np.cumsum(drawn, axis=1)], axis=1)
        rates.append(total[:, upto] / places.size)
    costs = pc * (1 - rates[0]) + (1 - pc) * rates[1]
    return np.quantile(costs, [0.025, 0.975], axis=0)


def difference(settings: Settings) -> Race:
    """The race for the paired difference of two classifiers."""
    size = settings.size(1_000_000)
    pc = operating_points(settings)
    few = settings.size(20, 2)

    def sides(n: int) -> Mapping[str, Call]:
        y, a = predictions(n)
        b = other(y, a)

        def hulls() -> object:
            return [cc.CostCurve.from_predictions(y, scores) for scores in (a, b)]

        return {
            "costcurves": lambda: cc.compare(y, a, b, pc=pc, simultaneous=False),
            "costcurves, simultaneous": lambda: cc.compare(y, a, b, pc=pc),
            "two hulls": hulls,
        }

    calls = sides(size)
    y, a = predictions(size)
    b = other(y, a)
    job = f"paired difference band at {pc.size:,} points, n = {size:,}"
    does = "95 % limits of the difference in cost at fixed thresholds"
    ours = "95 % limits of the difference in cost, which allow for unequal optimism of chosen thresholds"
    growth = tuple(settings.size(10_000, 50) * 10**k for k in range(3))
    return Race(
        [
            Side("costcurves", f"{ours}, at each point", calls["costcurves"]),
            Side(
                "costcurves, simultaneous", f"{ours}, at all points jointly", calls["costcurves, simultaneous"], turns=3
            ),
            Side("two hulls", "the cost curves of both classifiers, by costcurves", calls["two hulls"]),
            Side(
                "paired resamples",
                f"{does}, at each point: quantiles of {RESAMPLES:,} stratified paired resamples, vectorised, "
                "from known thresholds on",
                paired_resamples(y, (a, b), pc, few),
                factor=RESAMPLES / few,
                part=f"{few} of {RESAMPLES:,} resamples",
                turns=3,
            ),
        ],
        [
            Row("difference-hulls", job, "costcurves", "two hulls", 3, at_most=True),
            Row("difference-resamples", job, "costcurves", "paired resamples"),
            Row("difference-simultaneous", f"{job}, simultaneous", "costcurves, simultaneous", "paired resamples"),
        ],
        [Memory("costcurves", size, size * 17)],
        Growth(growth, sides),
    )


def other(labels: Array, scores: Array) -> Array:
    """Make the scores of a second classifier, which is similar to the first but not as good."""
    noise = np.random.default_rng(1).random(labels.size)
    return 0.7 * scores + 0.3 * noise


def paired_resamples(labels: Array, scores: tuple[Array, Array], pc: Array, resamples: int) -> Call:
    """Make a function that draws examples in pairs, without the work done once, because its time is multiplied."""
    places = [first_alarm(s, cc.CostCurve.from_predictions(labels, s).cuts_at(pc)) for s in scores]
    groups = [([place[mask] for place in places], weight) for mask, weight in ((labels, -pc), (~labels, 1 - pc))]

    def draw() -> Array:
        rng = np.random.default_rng(1)
        costs = np.zeros((resamples, pc.size))
        for row in costs:
            for (first, second), weight in groups:
                drawn = rng.integers(0, first.size, first.size)
                a, b = (np.bincount(place[drawn], minlength=pc.size + 1)[: pc.size] for place in (first, second))
                row += weight * np.cumsum(a - b) / first.size
        return np.quantile(costs, [0.025, 0.975], axis=0)

    return draw


def rocr(settings: Settings, size: int) -> Race:
    """The race against ROCR's cost curve, whose time grows with the cube of the number of examples."""
    size = settings.size(size, size // 20)
    labels, scores = predictions(size)
    missing = r.why_missing("ROCR")
    code = 'performance(prediction(score, label), "ecost")'
    return Race(
        [
            Side("costcurves", "the cost curve", lambda: cc.CostCurve.from_predictions(labels, scores)),
            Side(
                "ROCR ecost",
                "the cost curve",
                None if missing else r.timed("ROCR", code, labels, scores),
                turns=1,
                missing=missing,
            ),
        ],
        [Row(f"rocr-{size}", f"cost curve, n = {size}", "costcurves", "ROCR ecost")],
    )
