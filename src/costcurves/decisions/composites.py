"""Composite curves of algorithms with several versions: a version is judged on other cases than it is chosen on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from costcurves._base.errors import InputError
from costcurves._base.validation import FloatArray, IntArray, check_name, is_among, shown
from costcurves.decisions.rows import Rows
from costcurves.inference.resampled_curves import class_resamples, joint_half_widths, pair_differences, smallness

Versions = Mapping[str, str | Sequence[str]]
# The most thresholds of a version among which the cheapest is chosen, and the numbers that are held at a time.
_THRESHOLDS, _HELD = 200, 20_000_000


def version_groups(versions: Any, known: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the versions of each algorithm."""
    if not isinstance(versions, Mapping) or len(versions) < 2:
        raise InputError(f"`versions` must map two names or more to versions of each, got {shown(versions)}")
    groups = {}
    for name, of in versions.items():
        group = (of,) if isinstance(of, str) else tuple(of) if isinstance(of, Iterable) else ()
        if not group or (strange := [one for one in group if not is_among(one, known)]):
            found = strange[0] if group else of
            raise InputError(f"`versions` of {shown(name)} must be some of {', '.join(known)}, got {shown(found)}")
        groups[check_name("versions", name)] = group
    return groups


def composite_costs(
    rows: Rows,
    parts: list[IntArray],
    groups: Mapping[str, Sequence[str]],
    pc: FloatArray,
    number: int,
    level: float,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Return by how much each composite costs less than another, with limits from resamples of the whole procedure.

    In each fold and at each pc, a composite uses the version and the threshold that cost least on the other folds.
    """
    bins = {name: _bins(rows.scores[name]) for group in groups.values() for name in group}
    costs = [_cross_fitted(rows, parts, groups, bins, pc, None)]
    size = max(1, _HELD // rows.positive.size)
    for start in range(0, number, size):
        drawn = [class_resamples(rows.positive[p], min(size, number - start), rng) for p in parts]
        costs.append(_cross_fitted(rows, parts, groups, bins, pc, drawn))
    (once,), resampled = costs[0], np.concatenate(costs[1:])
    # Choices from resamples, which repeat cases, are made from less information, so their mean cost is not `once`.
    deviations = pair_differences(resampled - resampled.mean(axis=0)) * smallness(rows.positive, parts)
    least = (1 / min(rows.positive.sum(), (~rows.positive).sum())) / 2
    return -pair_differences(once), joint_half_widths(deviations, float(least), level)


def _bins(scores: Any) -> IntArray:
    """Return the place of each score among at most some evenly spaced ranks, from the highest to the lowest."""
    distinct, place = np.unique(scores, return_inverse=True)
    place = distinct.size - 1 - place
    return np.asarray(place * _THRESHOLDS // distinct.size if distinct.size > _THRESHOLDS else place)


def _cross_fitted(
    rows: Rows,
    parts: list[IntArray],
    groups: Mapping[str, Sequence[str]],
    bins: Mapping[str, IntArray],
    pc: FloatArray,
    drawn: list[FloatArray] | None,
) -> FloatArray:
    """Return the cost of each composite at each pc in each resample, chosen without the fold that it is judged on."""
    weights = drawn or [np.ones((1, part.size)) for part in parts]
    n_pos, n_neg = int(rows.positive.sum()), int((~rows.positive).sum())
    found = np.zeros((len(weights[0]), len(groups), pc.size))
    for g, group in enumerate(groups.values()):
        # Misses and false alarms of every fold at every threshold of all versions of the group.
        rates = []
        for part, weight in zip(parts, weights, strict=True):
            positive, columns = rows.positive[part], []
            for name in group:
                onehot = np.zeros((part.size, int(bins[name].max()) + 1))
                onehot[np.arange(part.size), bins[name][part]] = 1.0
                hits, alarms = (weight[:, kind] @ onehot[kind] for kind in (positive, ~positive))
                zero = np.zeros((len(weight), 1))
                tp, fp = (np.concatenate([zero, np.cumsum(counts, axis=1)], axis=1) for counts in (hits, alarms))
                columns.append(np.stack([positive.sum() - tp, fp]))
            rates.append(np.concatenate(columns, axis=2))
        total = np.sum(rates, axis=0)
        for part, own in zip(parts, rates, strict=True):
            miss, alarm = total - own
            left_pos = n_pos - rows.positive[part].sum()
            left_neg = n_neg - (part.size - rows.positive[part].sum())
            for i, x in enumerate(pc):
                best = np.argmin(x / left_pos * miss + (1 - x) / left_neg * alarm, axis=1)[:, None]
                misses, alarms = (np.take_along_axis(rate, best, axis=1)[:, 0] for rate in own)
                found[:, g, i] += x * misses / n_pos + (1 - x) * alarms / n_neg
    return found
