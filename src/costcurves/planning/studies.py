"""Whether intervals and tests hold what they promise, judged for many test sets at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    BoolArray,
    FloatArray,
    Rng,
    check_choice,
    check_integer,
    check_laplace,
    check_level,
    check_number,
    check_rng,
    check_unit_array,
    number_array,
    shown,
)
from costcurves.conditions.condition import PcLike
from costcurves.conditions.cost_matrix import CostMatrix, CostsLike, PriorsLike, as_cost_matrix, check_priors
from costcurves.counting.square_tables import check_counts
from costcurves.inference.bands.results import check_pc
from costcurves.inference.cost_cells import CostCells, default_laplace
from costcurves.inference.cost_methods import DEFAULT_METHOD, CostMethodName
from costcurves.inference.levels import Cells, bootstrap_levels
from costcurves.inference.paired.limits import difference_limits
from costcurves.inference.paired.rates import PAIRED_METHODS
from costcurves.inference.rates import cells_interval, critical
from costcurves.inference.tilted import tilted_tails_at
from costcurves.planning.coverage import Coverage, check_sampling


def covers_cost(
    confusions: npt.ArrayLike,
    costs: CostsLike,
    cost: float,
    *,
    level: float = DEFAULT_LEVEL,
    method: CostMethodName = DEFAULT_METHOD,
    laplace: float | None = None,
    priors: PriorsLike | None = None,
) -> BoolArray:
    """Say, for each of many confusion matrices, whether its interval for the expected cost holds a given cost.

    Parameters
    ----------
    confusions : array-like of shape (sets, k, k)
        Counts, rows true and columns predicted, in the order of the cost matrix; all sets of one size (and with
        `priors`, all with the same number of examples of each class).
    costs : CostMatrix or table
        Rows true, columns predicted.
    cost : float
        The cost asked about, such as the true one in a simulation.
    level : float, default 0.95
    method : {"tilted", "exact", "mid-p", "gaussian"}
        Which interval of `bcost`.
    laplace : float, optional
        λ of "exact"; by default that of `bcost`.
    priors : mapping or array-like, optional
        As in `bcost`.

    Returns
    -------
    ndarray of bool, shape (sets,)

    Notes
    -----
    An interval holds a cost when the tails at that cost are large enough, so no limits need to be searched. "tilted"
    takes one distribution per set. For "exact" the levels of all sets come at once from their characteristic functions,
    some hundred times quicker than that many calls of `bcost`. Where costs are multiples of one step, so that the
    distribution has atoms, half of an atom at the cost counts on either side, and a set whose interval ends exactly
    there may be judged differently than by `bcost`.

    Examples
    --------
    >>> import numpy as np
    >>> import costcurves as cc
    >>> sets = np.random.default_rng(0).multinomial(200, [0.6, 0.1, 0.05, 0.25], size=1000).reshape(-1, 2, 2)
    >>> float(cc.covers_cost(sets, [[0, 1], [5, 0]], 0.35, method="exact").mean())
    0.943
    """
    costs = as_cost_matrix(costs)
    counts = _tables("confusions", confusions, 3, len(costs.labels))
    added = _added(laplace, method, default_laplace(len(costs.labels)))
    strata = _strata(counts, costs, costs.values, priors, added)
    return _COVERS[method](strata, check_number("cost", cost), check_level(level))


def covers_difference(
    joints: npt.ArrayLike,
    costs: CostsLike,
    difference: float = 0.0,
    *,
    level: float = DEFAULT_LEVEL,
    method: CostMethodName = DEFAULT_METHOD,
    laplace: float | None = None,
    priors: PriorsLike | None = None,
) -> BoolArray:
    """Say, for each of many joint confusion tables, whether the interval for the difference in cost holds a given one.

    Parameters
    ----------
    joints : array-like of shape (sets, k, k, k)
        Counts [true, prediction of a, prediction of b]; all sets of one size.
    costs : CostMatrix or table
        Rows true, columns predicted.
    difference : float, default 0
        The difference asked about; where the interval does not hold 0, the test calls the classifiers different.
    level, method, priors
        As in `covers_cost`; the intervals are those of `bdeltacost`.
    laplace : float, optional
        λ of "exact", added to each of the k³ cells; by default 0.

    Returns
    -------
    ndarray of bool, shape (sets,)

    Examples
    --------
    >>> import numpy as np
    >>> import costcurves as cc
    >>> sets = np.random.default_rng(0).multinomial(200, [0.7, 0.1, 0.1, 0.1, 0, 0, 0, 0], size=1000)
    >>> float(cc.covers_difference(sets.reshape(-1, 2, 2, 2), [[0, 1], [5, 0]], method="exact").mean())
    0.946
    """
    costs = as_cost_matrix(costs)
    counts = _tables("joints", joints, 4, len(costs.labels))
    values = costs.values[:, :, None] - costs.values[:, None, :]
    strata = _strata(counts, costs, values, priors, _added(laplace, method, 0.0))
    return _COVERS[method](strata, check_number("difference", difference), check_level(level))


def _added(laplace: Any, method: Any, default: float) -> float:
    """Return λ of the bootstrap, which other methods do not take."""
    if check_choice("method", method, _COVERS) != "exact":
        if laplace is not None:
            raise InputError(f"`laplace` must come with method 'exact', got method {method!r}")
        return 0.0
    return default if laplace is None else check_laplace(laplace)


def _tables(name: str, tables: Any, ndim: int, k: int) -> npt.NDArray[np.int64]:
    values = number_array(name, tables, booleans=False)
    if values.ndim != ndim or values.shape[1:] != (k,) * (ndim - 1) or values.shape[0] == 0:
        shape = ", ".join(["sets", *[str(k)] * (ndim - 1)])
        raise InputError(f"`{name}` must have shape ({shape}), got {values.shape}")
    return check_counts(name, values)


def _strata(
    counts: npt.NDArray[np.int64], costs: CostMatrix, values: FloatArray, priors: Any, laplace: float
) -> list[Cells]:
    """Return one stratum of all examples, or one of each class that the priors give weight."""
    sets = counts.shape[0]
    if priors is None:
        return [_same_size(counts.reshape(sets, -1), values.ravel(), laplace, "in each set")]
    weights, _ = check_priors("priors", priors, costs.labels)
    return [
        _same_size(
            counts[:, t].reshape(sets, -1),
            weights[t] * values[t].ravel(),
            laplace,
            f"of class {shown(costs.labels[t])} in each set",
        )
        for t in np.flatnonzero(weights > 0)
    ]


def _same_size(counts: npt.NDArray[np.int64], values: FloatArray, added: float, where: str) -> Cells:
    """Return a stratum in which cells of equal value are one, after checking that all sets have the same size."""
    sizes = counts.sum(axis=1)
    if sizes.min() != sizes.max() or sizes[0] == 0:
        raise DataError(f"there must be the same number of examples {where}, got {sizes.min()} to {sizes.max()}")
    distinct, first, copies = np.unique(np.sort(values), return_index=True, return_counts=True)
    pooled = np.add.reduceat(counts[:, np.argsort(values, kind="stable")], first, axis=1)
    return Cells(pooled, distinct / float(sizes[0]), np.asarray(added * copies, dtype=np.float64))


def _tilted_covers(strata: list[Cells], x: float, level: float) -> BoolArray:
    def tail(i: int) -> float:
        cells = [CostCells.of(s.counts[i], s.draws * s.values) for s in strata]
        return min(tilted_tails_at(cells, x))

    return np.array([tail(i) >= (1 - level) / 2 for i in range(strata[0].counts.shape[0])])


def _bootstrap_covers(strata: list[Cells], x: float, level: float) -> BoolArray:
    levels, tail = bootstrap_levels(strata, x), (1 - level) / 2
    return np.asarray((levels >= tail) & (levels <= 1 - tail))


def _mid_p_covers(strata: list[Cells], x: float, level: float) -> BoolArray:
    _, lower, upper = cells_interval([(s.counts, s.draws * s.values) for s in strata], critical(level))
    return np.asarray((lower <= x) & (x <= upper))


def _gaussian_covers(strata: list[Cells], x: float, level: float) -> BoolArray:
    estimate, variance = np.zeros(strata[0].counts.shape[0]), np.zeros(strata[0].counts.shape[0])
    for s in strata:
        if s.draws < 2:
            raise DataError(f"a standard deviation needs at least 2 examples, got {s.draws}")
        one = s.counts @ s.values
        estimate += one
        variance += np.maximum(s.counts @ s.values**2 - one**2 / s.draws, 0.0) * s.draws / (s.draws - 1)
    return np.asarray(np.abs(estimate - x) <= critical(level) * np.sqrt(variance))


# Whether each of many sets' intervals holds a value, for each method of `bcost` that does not resample.
_COVERS: dict[str, Callable[[list[Cells], float, float], BoolArray]] = {
    "tilted": _tilted_covers,
    "exact": _bootstrap_covers,
    "mid-p": _mid_p_covers,
    "gaussian": _gaussian_covers,
}


def difference_coverage(
    positives: npt.ArrayLike,
    negatives: npt.ArrayLike,
    n_pos: int,
    n_neg: int,
    *,
    pc: PcLike,
    level: float = DEFAULT_LEVEL,
    method: str = "mid-p",
    sampling: str = "stratified",
    test_sets: str = "stratified",
    n_draws: int = 10_000,
    rng: Rng = 0,
    name: str = "difference",
) -> Coverage:
    """Return how often the intervals of `compare` hold the true difference, over drawn counts of discordant examples.

    Parameters
    ----------
    positives, negatives : pair of float, or arrays of shape (points, 2)
        The rates of each class's examples that only the first, only the second classifier gets wrong.
    n_pos, n_neg : int
        Examples of each class in a test set.
    pc : array-like of shape (points,)
        Operating points, increasing.
    level, method, sampling
        Of the intervals, as in `compare` (not "exact" and not "resample").
    test_sets : {"stratified", "full"}
        How test sets come about, as in `coverage`.
    n_draws : int, default 10_000
        How many test sets are drawn at each point; the four counts have too many values to be summed over.
    rng : numpy.random.Generator, int or None, default 0
        A generator, or the seed of one. None draws other test sets each time.
    name : str
        The name of the result.

    Returns
    -------
    Coverage

    Notes
    -----
    Figures 4 and 6 of Dugas & Gadoury (2008), who draw 1,000 test sets of scores.

    Examples
    --------
    >>> import costcurves as cc
    >>> rates = {"positives": (0.001, 0.01), "negatives": (0.02, 0.001), "n_pos": 100, "n_neg": 100, "pc": [0.9]}
    >>> cc.difference_coverage(**rates, level=0.9, rng=0)
    Coverage('difference', mid-p, 100 + 100 examples: 0.995 to 0.995 at nominal 0.9)
    """
    points = check_pc(pc)
    n_pos, n_neg = check_integer("n_pos", n_pos, 1), check_integer("n_neg", n_neg, 1)
    check_choice("method", method, PAIRED_METHODS)
    check_sampling(sampling, test_sets)
    n_draws, generator = check_integer("n_draws", n_draws, 1), check_rng(rng)
    z = critical(level)
    rates = [_pair_rates(name, r, points) for name, r in (("positives", positives), ("negatives", negatives))]
    probability = np.empty(points.size)
    for i, w in enumerate(points):
        pos, neg = (r[i] for r in rates)
        if test_sets == "stratified":
            a, b, _ = generator.multinomial(n_pos, [*pos, 1 - pos.sum()], n_draws).T
            c, d, _ = generator.multinomial(n_neg, [*neg, 1 - neg.sum()], n_draws).T
        else:
            cells = np.concatenate([pos * n_pos, neg * n_neg]) / (n_pos + n_neg)
            a, b, c, d, _ = generator.multinomial(n_pos + n_neg, [*cells, 1 - cells.sum()], n_draws).T
        truth = w * (pos[0] - pos[1]) + (1 - w) * (neg[0] - neg[1])
        # Where class sizes vary, a class may have more errors than it has examples on average.
        counts = tuple(k.astype(np.float64) for k in (a, b, c, d))
        _, lower, upper = difference_limits(counts, (n_pos, n_neg), np.full(n_draws, w), z, method, sampling, 0.0)
        probability[i] = np.mean((lower <= truth + 1e-12) & (truth <= upper + 1e-12))
    return Coverage(name, points, probability, check_level(level), method, sampling, n_pos, n_neg)


def _pair_rates(name: str, rates: Any, points: FloatArray) -> FloatArray:
    values = check_unit_array(name, rates)
    if values.shape not in ((2,), (points.size, 2)):
        raise InputError(f"`{name}` must be a pair, or have shape ({points.size}, 2), got {values.shape}")
    if values.sum(axis=-1).max() > 1:
        raise InputError(f"`{name}` must have a sum of at most 1, got {shown(float(values.sum(axis=-1).max()))}")
    return np.broadcast_to(values, (points.size, 2))
