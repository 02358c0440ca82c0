"""Slow, obviously right reference implementations, in plain Python with integers and fractions.

Every function here counts, enumerates or integrates; none sorts cleverly, sums cumulatively or walks along a
hull, so that agreement with the package means something. Conventions are the package's own: a label is true
for a positive; an example is called positive when score >= threshold; a point is (fp, tp) in counts, a rate
is (fpr, tpr). Numbers come back as `Fraction` wherever the answer is a rational number.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

Number = int | float | Fraction
Exact = int | Fraction
Point = tuple[Exact, Exact]
Rate = tuple[Fraction, Fraction]
Predictions = tuple[Sequence[int], Sequence[float]]


# Data -------------------------------------------------------------------------------------------------------


def random_tied_sets(
    count: int, *, seed: int, largest: int = 12, levels: int | None = None
) -> Iterator[tuple[list[int], list[float]]]:
    """Yield small data sets of 0/1 labels and scores with many ties, both classes present."""
    rng = random.Random(seed)
    for _ in range(count):
        size = rng.randint(2, largest)
        distinct = levels or rng.randint(1, size)
        labels = [0, 1] + [rng.randint(0, 1) for _ in range(size - 2)]
        rng.shuffle(labels)
        yield labels, [rng.randint(0, distinct) / 8 for _ in range(size)]


def class_sizes(labels: Sequence[int]) -> tuple[int, int]:
    """Return (number of negatives, number of positives)."""
    positives = sum(1 for label in labels if label)
    return len(labels) - positives, positives


# ROC points and hull ----------------------------------------------------------------------------------------


def roc_points(
    labels: Sequence[int], scores: Sequence[float], weights: Sequence[Number] | None = None
) -> list[tuple[float, Exact, Exact]]:
    """Return (threshold, fp, tp) for infinity and every distinct score, by counting anew at each."""
    exact: Sequence[Exact] = [1] * len(labels) if weights is None else [Fraction(weight) for weight in weights]
    result: list[tuple[float, Exact, Exact]] = []
    for threshold in [math.inf, *sorted(set(scores), reverse=True)]:
        fp: Exact = 0
        tp: Exact = 0
        for label, score, weight in zip(labels, scores, exact, strict=True):
            if score >= threshold and label:
                tp += weight
            elif score >= threshold:
                fp += weight
        result.append((threshold, fp, tp))
    return result


def roc_rates(labels: Sequence[int], scores: Sequence[float]) -> list[Rate]:
    """Return (fpr, tpr) at every threshold of `roc_points`."""
    n_neg, n_pos = class_sizes(labels)
    return to_rates([(fp, tp) for _, fp, tp in roc_points(labels, scores)], n_neg, n_pos)


def to_rates(points: Iterable[Point], n_neg: Exact, n_pos: Exact) -> list[Rate]:
    """Divide counts by the class sizes."""
    return [(Fraction(fp) / n_neg, Fraction(tp) / n_pos) for fp, tp in points]


def _passes_on_or_above(a: Point, b: Point, p: Point) -> bool:
    """Tell whether the segment from a to b meets the vertical ray that goes up from p (p included)."""
    (ax, ay), (bx, by), (px, py) = a, b, p
    if ax > bx:
        ax, ay, bx, by = bx, by, ax, ay
    if not ax <= px <= bx:
        return False
    if ax == bx:
        return max(ay, by) >= py
    return (by - ay) * (px - ax) >= (py - ay) * (bx - ax)


def hull_by_definition(points: Iterable[Point], n_neg: Exact, n_pos: Exact) -> list[Point]:
    """Return the vertices of the upper hull of the points with (0, 0) and (n_neg, n_pos), in O(m³).

    The two corners are always vertices. Any other point is one iff no segment between two other points passes
    on it or above it, so collinear and repeated points, and all on or below the diagonal, are out. When some
    point has fp = 0 the hull starts with a vertical edge, and when some has tp = n_pos it ends with a
    horizontal one.
    """
    corners: set[Point] = {(0, 0), (n_neg, n_pos)}
    distinct = corners | set(points)
    vertices = set(corners)
    for p in distinct - corners:
        others = distinct - {p}
        if not any(_passes_on_or_above(a, b, p) for a in others for b in others if a != b):
            vertices.add(p)
    return sorted(vertices)


def hull_by_wrapping(points: Iterable[Point], n_neg: Exact, n_pos: Exact) -> list[Point]:
    """Return the same vertices by gift wrapping: from each vertex turn to the steepest, farthest point."""
    distinct = {(0, 0), (n_neg, n_pos), *points}
    x: Exact = 0
    y: Exact = 0
    hull: list[Point] = [(0, 0)]
    while (x, y) != (n_neg, n_pos):
        dx, dy = n_neg - x, n_pos - y
        for px, py in distinct:
            ex, ey = px - x, py - y
            if ex < 0 or ey < 0:
                continue
            turn = ey * dx - dy * ex
            if turn > 0 or (turn == 0 and ex + ey > dx + dy):
                dx, dy = ex, ey
        x, y = x + dx, y + dy
        hull.append((x, y))
    return hull


def auc_by_pairs(labels: Sequence[int], scores: Sequence[float]) -> Fraction:
    """Return the share of (positive, negative) pairs in the right order, ties counting one half."""
    positives = [score for label, score in zip(labels, scores, strict=True) if label]
    negatives = [score for label, score in zip(labels, scores, strict=True) if not label]
    halves = sum(2 * (p > n) + (p == n) for p in positives for n in negatives)
    return Fraction(halves, 2 * len(positives) * len(negatives))


# Cost space -------------------------------------------------------------------------------------------------


def line(rate: Rate, pc: Number) -> Fraction:
    """Return the normalized expected cost of one (fpr, tpr) at probability-cost pc."""
    fpr, tpr = rate
    return Fraction(pc) * (1 - tpr) + (1 - Fraction(pc)) * fpr


def envelope(rates: Iterable[Rate], pc: Number) -> Fraction:
    """Return the smallest cost at pc over the lines of all points and both trivial classifiers."""
    trivial = [(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))]
    return min(line(rate, pc) for rate in [*trivial, *rates])


def envelope_vertices(rates: Iterable[Rate]) -> list[tuple[Fraction, Fraction]]:
    """Return the (pc, cost) where the envelope ends or bends, from all crossings of two lines.

    A crossing is a vertex iff it lies on the envelope; (0, 0) and (1, 0) always are. A point with fpr = 0
    crosses the never-positive line at (0, 0), a point with tpr = 1 the always-positive line at (1, 0).
    """
    zero, one = Fraction(0), Fraction(1)
    lines = sorted({(zero, zero), (one, one), *rates})
    vertices = {(zero, zero), (one, zero)}
    for i, (fpr_a, tpr_a) in enumerate(lines):
        for fpr_b, tpr_b in lines[i + 1 :]:
            denominator = (tpr_b - tpr_a) + (fpr_b - fpr_a)
            if denominator == 0:
                continue
            pc = (fpr_b - fpr_a) / denominator
            cost = line((fpr_a, tpr_a), pc)
            if 0 <= pc <= 1 and cost == envelope(lines, pc):
                vertices.add((pc, cost))
    return sorted(vertices)


def who_is_best(
    curves: Mapping[str, Iterable[Rate]], pc: Number
) -> tuple[Fraction, set[tuple[str, Fraction, Fraction]]]:
    """Return the smallest cost at pc and every (name, fpr, tpr) that reaches it, without trivial ones."""
    costs = [(line(rate, pc), name, *rate) for name, rates in curves.items() for rate in rates]
    least = min(cost for cost, *_ in costs)
    return least, {(name, fpr, tpr) for cost, name, fpr, tpr in costs if cost == least}


def expected_cost_by_counting(
    labels: Sequence[int],
    scores: Sequence[float],
    threshold: float,
    *,
    prevalence: Number,
    cost_fp: Number,
    cost_fn: Number,
) -> Fraction:
    """Return the expected money per case: each example stands for its share of its class where deployed."""
    n_neg, n_pos = class_sizes(labels)
    total = Fraction(0)
    for label, score in zip(labels, scores, strict=True):
        called_positive = score >= threshold
        if label and not called_positive:
            total += Fraction(cost_fn) * Fraction(prevalence) / n_pos
        elif not label and called_positive:
            total += Fraction(cost_fp) * (1 - Fraction(prevalence)) / n_neg
    return total


def dominates_on_grid(a: Sequence[Rate], b: Sequence[Rate], grid: Iterable[Number]) -> bool:
    """Tell whether a never costs more than b at its best threshold, at every pc of the grid."""
    return all(envelope(a, pc) <= envelope(b, pc) for pc in grid)


def roc_dominates(a: Sequence[Rate], b: Sequence[Rate]) -> bool:
    """Tell whether b's ROC curve is nowhere above a's (the 1998 paper's sense: the curves, not the hulls).

    Both are functions of the fpr, straight between their own points, so it is enough to compare them at every fpr
    where either has a point.
    """
    return all(roc_at(a, fpr) >= roc_at(b, fpr) for fpr, _ in [*a, *b, (Fraction(0), Fraction(0))])


# Limits instead of costs ------------------------------------------------------------------------------------


def best_at_fpr(rates: Iterable[Rate], limit: Number) -> Rate:
    """Return the point of highest tpr with fpr <= limit (Neyman-Pearson), of equal ones the lowest fpr."""
    allowed = [(fpr, tpr) for fpr, tpr in [*rates, (Fraction(0), Fraction(0))] if fpr <= Fraction(limit)]
    return max(allowed, key=lambda rate: (rate[1], -rate[0]))


def best_at_tpr(rates: Iterable[Rate], floor: Number) -> Rate:
    """Return the point of lowest fpr with tpr >= floor, of equal ones that of highest tpr."""
    allowed = [(fpr, tpr) for fpr, tpr in [*rates, (Fraction(1), Fraction(1))] if tpr >= Fraction(floor)]
    return min(allowed, key=lambda rate: (rate[0], -rate[1]))


def best_at_capacity(rates: Iterable[Rate], *, alarms: Number, population: Number, prevalence: Number) -> Rate:
    """Return the point of highest tpr that raises at most so many alarms, of equal ones the lowest fpr."""
    on_positives = Fraction(prevalence) * Fraction(population)
    on_negatives = (1 - Fraction(prevalence)) * Fraction(population)
    allowed = [
        (fpr, tpr)
        for fpr, tpr in [*rates, (Fraction(0), Fraction(0))]
        if tpr * on_positives + fpr * on_negatives <= Fraction(alarms)
    ]
    return max(allowed, key=lambda rate: (rate[1], -rate[0]))


def best_mixture(rates: Iterable[Rate], *, fpr_weight: Number, tpr_weight: Number, limit: Number) -> Fraction:
    """Return the highest tpr of any random choice between two points whose load stays within the limit.

    The load is fpr_weight · fpr + tpr_weight · tpr: weights (1, 0) give Neyman-Pearson, weights
    ((1 - prevalence) · population, prevalence · population) a daily number of alarms. For each pair the
    mixture's load is linear, so the best share is 0, 1 or the one that meets the limit exactly.
    """
    points = {(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1)), *rates}
    most = Fraction(limit)

    def load(rate: Rate) -> Fraction:
        return Fraction(fpr_weight) * rate[0] + Fraction(tpr_weight) * rate[1]

    best = Fraction(0)
    for a in points:
        for b in points:
            shares = {Fraction(0), Fraction(1)}
            if load(a) != load(b):
                shares.add((most - load(a)) / (load(b) - load(a)))
            for share in shares:
                if 0 <= share <= 1 and (1 - share) * load(a) + share * load(b) <= most:
                    best = max(best, (1 - share) * a[1] + share * b[1])
    return best


# Other fields' numbers --------------------------------------------------------------------------------------


def brier_curve(labels: Sequence[int], probabilities: Sequence[float], share: float) -> float:
    """Return the money per case when cost_fp = share, cost_fn = 1 - share and the threshold is `share`.

    A probability is called positive iff it is above the share, which is the Bayes rule for these costs. The
    classes have the frequencies of the data.
    """
    wrong_positives = sum(1 for label, p in zip(labels, probabilities, strict=True) if label and p <= share)
    wrong_negatives = sum(1 for label, p in zip(labels, probabilities, strict=True) if not label and p > share)
    return ((1 - share) * wrong_positives + share * wrong_negatives) / len(labels)


def brier_curve_area(labels: Sequence[int], probabilities: Sequence[float], steps: int = 5_000) -> float:
    """Return the area under the Brier curve over cost shares in [0, 1]; twice it is the Brier score.

    Midpoint rule; each jump of the curve costs at most 1/(n · steps), so the error is below 1/steps.
    """
    return math.fsum(brier_curve(labels, probabilities, (i + 0.5) / steps) for i in range(steps)) / steps


def h_measure_numeric(labels: Sequence[int], scores: Sequence[float], a: float, b: float, steps: int = 5_000) -> float:
    """Return Hand's H-measure for a Beta(a, b) weight of the cost share c, by the midpoint rule.

    c is the cost of a false alarm and 1 - c that of a miss, so the loss at c is
    c·(1 - prevalence)·fpr + (1 - c)·prevalence·fnr with the data's own prevalence. H is one minus the ratio
    of the weighted areas of the least loss over all thresholds and of the least loss of the two trivial
    classifiers. Intended for a, b >= 1; the kinks leave an error of about 1/steps².
    """
    n_neg, n_pos = class_sizes(labels)
    counts = [(int(fp), n_pos - int(tp)) for _, fp, tp in roc_points(labels, scores)]
    best: list[float] = []
    trivial: list[float] = []
    for i in range(steps):
        c = (i + 0.5) / steps
        weight = c ** (a - 1) * (1 - c) ** (b - 1)
        best.append(weight * min(c * fp + (1 - c) * fn for fp, fn in counts))
        trivial.append(weight * min(c * n_neg, (1 - c) * n_pos))
    return 1 - math.fsum(best) / math.fsum(trivial)


def net_benefit_by_counting(labels: Sequence[int], probabilities: Sequence[float], threshold: float) -> Fraction:
    """Return tp/n - fp/n · t/(1 - t) at threshold t, an example being called positive when p >= t."""
    odds = Fraction(threshold) / (1 - Fraction(threshold))
    gained = Fraction(0)
    for label, probability in zip(labels, probabilities, strict=True):
        if probability >= threshold:
            gained += 1 if label else -odds
    return gained / len(labels)


# Averages ---------------------------------------------------------------------------------------------------


def roc_at(rates: Iterable[Rate], fpr: Number) -> Fraction:
    """Return the tpr at an fpr by the 1998 method: of points of equal fpr only the highest, straight between.

    Read literally, this drops the foot of every vertical step, so a flat run before a step becomes a slope:
    the result is at or above the curve through all points, which is `roc_span`.
    """
    highest: dict[Fraction, Fraction] = {Fraction(0): Fraction(0), Fraction(1): Fraction(1)}
    for x, y in rates:
        highest[x] = max(y, highest.get(x, y))
    where = Fraction(fpr)
    if where in highest:
        return highest[where]
    left = max(x for x in highest if x < where)
    right = min(x for x in highest if x > where)
    share = (where - left) / (right - left)
    return (1 - share) * highest[left] + share * highest[right]


def roc_span(rates: Iterable[Rate], fpr: Number) -> tuple[Fraction, Fraction]:
    """Return the lowest and highest tpr at an fpr of the line through all points in order of (fpr, tpr)."""
    path = sorted({(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1)), *rates})
    where = Fraction(fpr)
    here = [y for x, y in path if x == where]
    if here:
        return min(here), max(here)
    left, right = max(p for p in path if p[0] < where), min(p for p in path if p[0] > where)
    tpr = left[1] + (right[1] - left[1]) * (where - left[0]) / (right[0] - left[0])
    return tpr, tpr


def averaged_roc(folds: Sequence[Predictions], grid: Iterable[Number]) -> list[Fraction]:
    """Return the mean over folds of each fold's `roc_at` at every fpr of the grid (1998, section 3.2)."""
    curves = [roc_rates(labels, scores) for labels, scores in folds]
    return [sum((roc_at(curve, fpr) for curve in curves), Fraction(0)) / len(curves) for fpr in grid]


def averaged_cost(folds: Sequence[Predictions], grid: Iterable[Number]) -> list[Fraction]:
    """Return the mean over folds of each fold's envelope at every pc of the grid."""
    curves = [roc_rates(labels, scores) for labels, scores in folds]
    return [sum((envelope(curve, pc) for curve in curves), Fraction(0)) / len(curves) for pc in grid]
