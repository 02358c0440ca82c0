"""Which classifier is cheapest under which class frequencies: the convex hull for k classes.

With a fixed confusion matrix the expected cost is linear in the class priors, so every question about
ranges of priors and of costs is a linear program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from costcurves._base.errors import DataError, InputError, UnsupportedError
from costcurves._base.results import Result
from costcurves._base.validation import FloatArray, check_flag, check_in_unit, frozen, shown
from costcurves.conditions.cost_matrix import OWNER, CostMatrix, CostsLike, as_cost_matrix, check_priors, constant_names
from costcurves.counting.class_labels import Labels, check_named, listed
from costcurves.counting.confusion import ConfusionMatrix
from costcurves.counting.square_tables import check_amounts, read_square

# Margins within this part of the largest cost are ties: the solver's own accuracy is 1e-10.
_TIE = 1e-9


@dataclass(frozen=True, slots=True)
class PriorChoice(Result):
    """The cheapest classifier under given class priors.

    Attributes
    ----------
    name : str
    cost : float
        Its expected cost.
    ties : tuple of str
        Others of the same cost.
    runner_up : str or None
        The next one, apart from ties.
    regret : float
        How much more the runner-up costs; infinite if there is none.

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.prior_hull({"rules": [[90, 10], [4, 16]]}, [[0, 1], [5, 0]]).best([0.8, 0.2])
    PriorChoice(name='rules', cost=0.28, ties=(), runner_up='always 1', regret=0.52)
    """

    name: str
    cost: float
    ties: tuple[str, ...]
    runner_up: str | None
    regret: float

    _column_names = ("name", "cost", "runner_up", "regret")


@dataclass(frozen=True, slots=True)
class PriorRange(Result):
    """An interval of the prevalence of one class where a classifier is cheapest (two classes).

    Attributes
    ----------
    name : str
    low, high : float
        Prevalence of the second label.
    ties : tuple of str
        Others of the same cost throughout.

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.prior_hull({"rules": [[90, 10], [4, 16]]}, [[0, 1], [1, 0]]).intervals()[0]
    PriorRange(name='always 0', low=0.0, high=0.11111111111111112, ties=())
    """

    name: str
    low: float
    high: float
    ties: tuple[str, ...]

    _column_names = ("name", "low", "high")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PriorHull(Result):
    """Which classifiers can be cheapest under some priors of a range, and which never are.

    Attributes
    ----------
    names : tuple of str
        The classifiers; the trivial ones that always predict one class are called "always <label>".
    labels : tuple
        The classes.
    margin : ndarray of shape (m,)
        The most by which each classifier can undercut all others, over the allowed priors (and costs).
        Positive: it is the only cheapest one somewhere. Negative: it is never cheapest, and always loses at
        least that much.
    at_priors : ndarray of shape (m, k)
        The priors at which the margin is reached.
    low, high : ndarray of shape (k,)
        The allowed range of each prior.
    costs : ndarray of shape (m, k) or None
        Expected cost of each classifier in each true class; None when costs are a range.

    Examples
    --------
    >>> import costcurves as cc
    >>> costs = cc.CostMatrix([[0, 1], [5, 0]], labels=["good", "bad"])
    >>> a, b, c = [[90, 10], [4, 16]], [[60, 40], [1, 19]], [[85, 15], [8, 12]]
    >>> cc.prior_hull({"a": a, "b": b, "c": c}, costs, priors={"bad": (0.1, 0.3)})
    PriorHull of 5 classifiers, 2 classes
      can be cheapest: a, b
      never cheapest:  c, always 'good', always 'bad'
    """

    names: tuple[str, ...]
    labels: Labels
    margin: FloatArray
    at_priors: FloatArray
    low: FloatArray
    high: FloatArray
    costs: FloatArray | None
    _scale: float

    @property
    def can_be_best(self) -> tuple[str, ...]:
        """The classifiers that are cheapest, alone or with others, under some allowed priors."""
        return tuple(n for n, m in zip(self.names, self.margin, strict=True) if m >= -_TIE * self._scale)

    @property
    def only_ties(self) -> tuple[str, ...]:
        """Those of `can_be_best` that are never cheapest alone: they touch the hull or have a double."""
        return tuple(n for n, m in zip(self.names, self.margin, strict=True) if abs(m) <= _TIE * self._scale)

    @property
    def never_best(self) -> tuple[str, ...]:
        """The classifiers that some other one undercuts under all allowed priors."""
        return tuple(n for n, m in zip(self.names, self.margin, strict=True) if m < -_TIE * self._scale)

    def _fixed_costs(self, what: str) -> FloatArray:
        if self.costs is None:
            raise UnsupportedError(f"`{what}` needs one cost matrix, got a range of costs")
        return self.costs

    def best(self, priors: Any) -> PriorChoice:
        """Return the cheapest classifier under given priors.

        Parameters
        ----------
        priors : mapping of label to probability, or array-like of shape (k,)
            Any priors, inside the range or not.
        """
        by_class = self._fixed_costs("best")
        p, _ = check_priors("priors", priors, self.labels)
        cost = np.where(p > 0, by_class, 0.0) @ p
        if np.isnan(cost).any():
            name = self.names[int(np.flatnonzero(np.isnan(cost))[0])]
            raise DataError(f"`priors` must be 0 for a class without examples, see {shown(name)}")
        order = np.argsort(cost, kind="stable")
        least = float(cost[order[0]])
        tied = [i for i in order if cost[i] - least <= _TIE * self._scale]
        rest = [i for i in order if cost[i] - least > _TIE * self._scale]
        return PriorChoice(
            self.names[tied[0]],
            least,
            tuple(self.names[i] for i in tied[1:]),
            self.names[rest[0]] if rest else None,
            float(cost[rest[0]]) - least if rest else float("inf"),
        )

    def intervals(self) -> tuple[PriorRange, ...]:
        """Return the cheapest classifier of each interval of the second label's prevalence, in order (k = 2)."""
        by_class = self._fixed_costs("intervals")
        if len(self.labels) != 2:
            raise UnsupportedError(f"`intervals` needs two classes, got {len(self.labels)}")
        start = max(self.low[1], 1 - self.high[0])
        end = min(self.high[1], 1 - self.low[0])
        base, slope = by_class[:, 0], by_class[:, 1] - by_class[:, 0]
        return tuple(_envelope(base, slope, float(start), float(end), self.names, _TIE * self._scale))

    def regions(self) -> dict[str, FloatArray]:
        """Return the region of each classifier among the priors as a polygon (k = 3).

        Returns
        -------
        dict of name to ndarray of shape (corners, 3)
            The corners in order, each a prior of the three classes. Classifiers without an area are left out.
        """
        by_class = self._fixed_costs("regions")
        if len(self.labels) != 3:
            raise UnsupportedError(f"`regions` needs three classes, got {len(self.labels)}")
        start = np.eye(3)
        for t in range(3):
            axis = np.eye(3)[t]
            start = _clip(start, axis - self.high[t])
            start = _clip(start, self.low[t] - axis)
        out = {}
        for a, name in enumerate(self.names):
            polygon = start
            for b in range(len(self.names)):
                if b != a and not (b > a and np.array_equal(by_class[a], by_class[b])):
                    polygon = _clip(polygon, by_class[a] - by_class[b])
            if _area(polygon) > 1e-12:
                out[name] = frozen(polygon)
        return out

    def _columns(self) -> dict[str, Any]:
        state = [
            "never" if m < -_TIE * self._scale else "ties" if m <= _TIE * self._scale else "best" for m in self.margin
        ]
        table: dict[str, Any] = {"name": list(self.names), "state": state, "margin": self.margin}
        return table | {f"prior {label}": self.at_priors[:, t] for t, label in enumerate(self.labels)}

    def __repr__(self) -> str:
        never = self.never_best
        return (
            f"PriorHull of {len(self.names)} classifiers, {len(self.labels)} classes\n"
            f"  can be cheapest: {', '.join(self.can_be_best)}\n"
            f"  never cheapest:  {', '.join(never) if never else 'none'}"
        )


def _envelope(
    base: FloatArray, slope: FloatArray, start: float, end: float, names: tuple[str, ...], tie: float
) -> list[PriorRange]:
    """Return the pieces of the lower envelope of the lines base + slope·p between two prevalences."""
    pieces: list[PriorRange] = []
    at = start
    cost = base + slope * at
    near = np.flatnonzero(cost <= cost.min() + tie)
    current = int(near[np.argmin(slope[near])])
    while True:
        falling = np.flatnonzero(slope < slope[current] - tie)
        crossing = (base[falling] - base[current]) / (slope[current] - slope[falling])
        stop = end
        chosen = None
        if falling.size and crossing.min() < end:
            stop = max(at, float(crossing.min()))
            near = falling[crossing <= crossing.min() + 1e-15]
            chosen = int(near[np.argmin(slope[near])])
        same = (np.abs(base - base[current]) <= tie) & (np.abs(slope - slope[current]) <= tie)
        same[current] = False
        if stop > at or start == end:
            pieces.append(PriorRange(names[current], at, stop, tuple(names[i] for i in np.flatnonzero(same))))
        if chosen is None:
            return pieces
        at, current = stop, chosen


def _clip(polygon: FloatArray, normal: FloatArray) -> FloatArray:
    """Return the part of a convex polygon of priors where normal·priors <= 0."""
    if polygon.shape[0] == 0:
        return polygon
    side = polygon @ normal
    following = np.roll(side, -1)
    corners = []
    for i, (here, there) in enumerate(zip(side, following, strict=True)):
        if here <= 0:
            corners.append(polygon[i])
        if (here < 0 < there) or (there < 0 < here):
            share = here / (here - there)
            corners.append(polygon[i] + share * (polygon[(i + 1) % polygon.shape[0]] - polygon[i]))
    return np.array(corners).reshape(-1, 3)


def _area(polygon: FloatArray) -> float:
    if polygon.shape[0] < 3:
        return 0.0
    x, y = polygon[:, 0], polygon[:, 1]
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2


def _rates(name: str, confusion: Any, labels: Labels, upper: FloatArray) -> FloatArray:
    """Return P(predicted | true); a class that may occur must have examples."""
    if isinstance(confusion, ConfusionMatrix):
        values = confusion.aligned(labels, OWNER).counts.astype(np.float64)
    else:
        values = check_amounts(name, read_square(name, confusion, labels, partial=True)[0])
    sizes = values.sum(axis=1)
    for t in np.flatnonzero((sizes == 0) & (upper > 0)):
        raise DataError(
            f"`{name}` must have examples of every class that may occur, got none of {shown(labels[t])}; "
            "set its prior to 0"
        )
    return np.asarray(values / np.where(sizes > 0, sizes, 1.0)[:, None], dtype=np.float64)


def _check_box(priors: Any, labels: Labels) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and highest allowed prior of each class."""
    lower, upper = np.zeros(len(labels)), np.ones(len(labels))
    if priors is not None and not isinstance(priors, Mapping):
        raise InputError(f"`priors` must map labels to a number or a (low, high) pair, got {shown(priors)}")
    for label, value in (priors or {}).items():
        if label not in labels:
            raise DataError(f"`priors` must have only the labels of {OWNER} ({listed(labels)}), got {shown(label)}")
        pair = value if isinstance(value, (tuple, list, np.ndarray)) else (value, value)
        if len(pair) != 2:
            raise InputError(f"`priors` must map labels to a number or a (low, high) pair, got {shown(value)}")
        t = labels.index(label)
        lower[t], upper[t] = check_in_unit("priors", pair[0]), check_in_unit("priors", pair[1])
        if lower[t] > upper[t]:
            raise InputError(f"`priors` must have low <= high, got {shown(value)} for {shown(label)}")
    if lower.sum() > 1 + 1e-12 or upper.sum() < 1 - 1e-12:
        raise InputError(f"`priors` must allow a sum of 1, got ranges from {lower.sum():g} to {upper.sum():g} in total")
    return lower, upper


def prior_hull(
    confusions: Mapping[str, Any], costs: CostsLike, *, priors: Mapping[Any, Any] | None = None, trivial: bool = True
) -> PriorHull:
    """Find which classifiers can be cheapest under some class priors, and which never are.

    Parameters
    ----------
    confusions : mapping of name to ConfusionMatrix, array-like of shape (k, k), or dataframe
        Counts or rates, rows true and columns predicted; arrays are in the order of the cost matrix's labels.
    costs : CostMatrix or table, or a pair of them
        Rows true, columns predicted. A pair (low, high) allows every matrix between the two.
    priors : mapping of label to number or (low, high), optional
        The allowed priors; a label that is left out may have any prior. By default the whole simplex.
    trivial : bool, default True
        Whether the k classifiers that always predict one class compete too, as in the two-class hull. There
        is one linear program per competitor: leave them out when k is in the hundreds.

    Returns
    -------
    PriorHull

    Notes
    -----
    For classifier a: maximise s subject to cost_b(π) - cost_a(π) >= s for every other b, over the allowed
    π. The cost is Σ_t π_t Σ_p P(p|t) costs[t, p]. With a range of costs the product π_t·costs[t, p] is the variable
    x[t, p], bounded by π_t·low and π_t·high: the program is still linear, and exact, because every such x
    comes from a matrix in the range. The margin is recomputed at the priors found, so it is always reached.

    Examples
    --------
    >>> import costcurves as cc
    >>> costs = cc.CostMatrix([[0, 1], [5, 0]], labels=["good", "bad"])
    >>> hull = cc.prior_hull({"a": [[90, 10], [4, 16]], "b": [[60, 40], [1, 19]]}, costs)
    >>> for piece in hull.intervals():
    ...     print(f"{piece.low:.3f} to {piece.high:.3f}: {piece.name}")
    0.000 to 0.024: always 'good'
    0.024 to 0.286: a
    0.286 to 0.706: b
    0.706 to 1.000: always 'bad'
    """
    names = list(check_named("confusions", confusions))
    low, high = _cost_range(costs)
    labels = low.labels
    lower, upper = _check_box(priors, labels)
    rates = [_rates(name, table, labels, upper) for name, table in zip(names, confusions.values(), strict=True)]
    if check_flag("trivial", trivial):
        names += constant_names("confusions", names, labels)
        for p in range(len(labels)):
            column = np.zeros((len(labels), len(labels)))
            column[:, p] = 1.0
            rates.append(column)
    table = np.stack(rates)
    scale = float(high.values.max())
    fixed = np.array_equal(low.values, high.values)
    if fixed:
        by_class = (table * low.values).sum(axis=2)
        margin, where = _margins(by_class / scale, lower, upper)
    else:
        by_class = None
        margin, where = _margins_of_range(table, low.values / scale, high.values / scale, lower, upper)
    return PriorHull(
        tuple(names),
        labels,
        frozen(margin * scale),
        frozen(where),
        frozen(lower),
        frozen(upper),
        None if by_class is None else frozen(by_class),
        scale,
    )


def _cost_range(costs: Any) -> tuple[CostMatrix, CostMatrix]:
    if (
        isinstance(costs, tuple)
        and len(costs) == 2
        and not np.isscalar(costs[0])
        and np.asarray(costs[0], dtype=object).ndim != 1
    ):
        low, high = as_cost_matrix(costs[0]), as_cost_matrix(costs[1])
        high = CostMatrix(high, low.labels)
        if (low.values > high.values).any():
            t, p = np.argwhere(low.values > high.values)[0]
            raise InputError(
                f"`costs` must have low <= high, got {low.values[t, p]:g} and {high.values[t, p]:g} "
                f"for true {shown(low.labels[t])}, predicted {shown(low.labels[p])}"
            )
        return low, high
    matrix = as_cost_matrix(costs)
    return matrix, matrix


def _solve(objective: FloatArray, A: FloatArray, b: FloatArray, equal: FloatArray, bounds: Any) -> FloatArray:
    from scipy.optimize import linprog

    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(
        objective, A_ub=A, b_ub=b, A_eq=equal[None, :], b_eq=[1.0], bounds=bounds, method="highs", options=tight
    )
    if found.x is None:
        raise UnsupportedError(f"the linear program was not solved: {found.message}")
    return np.asarray(found.x, dtype=np.float64)


def _margins(by_class: FloatArray, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return each classifier's largest margin over a box of priors, and the priors that reach it."""
    m, k = by_class.shape
    margin, where = np.empty(m), np.empty((m, k))
    sums = np.append(np.ones(k), 0.0)
    bounds = [*zip(lower, upper, strict=True), (-2.0, 2.0)]
    for a in range(m):
        others = np.delete(by_class, a, axis=0)
        A = np.column_stack([by_class[a] - others, np.ones(m - 1)])
        x = _solve(-np.eye(k + 1)[k], A, np.zeros(m - 1), sums, bounds)
        where[a] = np.clip(x[:k], lower, upper)
        margin[a] = float(((others - by_class[a]) @ where[a]).min()) if m > 1 else np.inf
    return margin, where


def _margins_of_range(
    rates: FloatArray, low: FloatArray, high: FloatArray, lower: FloatArray, upper: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the margins where costs, too, lie in a range; the variables are x = π·costs, π and the margin."""
    m, k, _ = rates.shape
    flat = rates.reshape(m, k * k)
    margin, where = np.empty(m), np.empty((m, k))
    spread = np.repeat(np.eye(k), k, axis=0)
    ranges = np.vstack(
        [
            np.column_stack([np.eye(k * k), -spread * high.reshape(-1, 1), np.zeros(k * k)]),
            np.column_stack([-np.eye(k * k), spread * low.reshape(-1, 1), np.zeros(k * k)]),
        ]
    )
    sums = np.concatenate([np.zeros(k * k), np.ones(k), [0.0]])
    bounds = [*[(0.0, None)] * (k * k), *zip(lower, upper, strict=True), (-2.0, 2.0)]
    for a in range(m):
        others = np.delete(flat, a, axis=0)
        rows = np.column_stack([flat[a] - others, np.zeros((m - 1, k)), np.ones(m - 1)])
        A = np.vstack([rows, ranges])
        x = _solve(-np.eye(k * k + k + 1)[-1], A, np.zeros(A.shape[0]), sums, bounds)
        where[a] = np.clip(x[k * k : -1], lower, upper)
        costs = np.clip(x[: k * k], low.ravel() * (spread @ where[a]), high.ravel() * (spread @ where[a]))
        margin[a] = float(((others - flat[a]) @ costs).min()) if m > 1 else np.inf
    return margin, where
