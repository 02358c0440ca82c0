"""Several classifiers of k classes compared on the same examples, and with always predicting one class."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.frames import columns_of
from costcurves._base.results import Result
from costcurves._base.validation import FloatArray, check_level, frozen
from costcurves.conditions.cost_matrix import OWNER, CostMatrix, as_cost_matrix, constant_names
from costcurves.counting.class_labels import check_named, read_columns
from costcurves.counting.confusion import JointConfusion, pair_counts
from costcurves.inference import multiclass
from costcurves.inference.kernel.strata import moments
from costcurves.multiclass.bcost import (
    CellRisk,
    CostDifference,
    Options,
    bdeltacost_of_joint,
    difference_distribution,
    difference_risks,
    difference_strata,
    p_beside,
    warn_of_difference,
)

# Costs that differ by less than this part of the largest cost are equal; rounding makes such differences.
_EQUAL = 1e-12


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostComparison(Result):
    """Several classifiers of k classes compared with each other and with always predicting one class.

    Attributes
    ----------
    names : tuple of str
        The classifiers.
    costs : ndarray
        Their mean costs.
    constants : tuple of str
        The k constant classifiers, which always predict one class, such as "always 'good'".
    constant_costs : ndarray
        Their mean costs.
    pairs : tuple of CostDifference
        Each pair of classifiers, then each classifier against the cheapest constant classifier. All intervals hold
        together at the level: each has the level 1 - (1 - level)/len(pairs) (Bonferroni).
    p_adjusted : ndarray
        Adjusted p-values by the same method: p times len(pairs), at most 1.
    level : float
        The family's confidence level.
    best : str
        Who costs least on these examples: a classifier or a constant one.
    rivals : tuple of str
        Those that are not shown to cost more than the best, or only by a comparison that has `risks`.

    Examples
    --------
    >>> import costcurves as cc
    >>> y = [0] * 50 + [1] * 50
    >>> a, b = [0] * 50 + [1] * 50, [0] * 45 + [1] * 5 + [1] * 35 + [0] * 15
    >>> cc.bdeltacost_many(y, {"a": a, "b": b, "c": b[::-1]}, [[0, 1], [5, 0]])
    CostComparison of 3 classifiers and always predicting one class, together at 95 %: sure
      a         cost 0    cheaper than b, c, always 1
      always 1  cost 0.5  cheaper than c
      b         cost 0.8  cheaper than c
      c         cost 2.6
      use a: all others are shown to cost more
    """

    names: tuple[str, ...]
    costs: FloatArray
    constants: tuple[str, ...]
    constant_costs: FloatArray
    pairs: tuple[CostDifference, ...]
    p_adjusted: FloatArray
    level: float
    best: str
    rivals: tuple[str, ...]

    @property
    def constant(self) -> str:
        """The cheapest constant classifier on these examples."""
        return self.constants[int(np.argmin(self.constant_costs))]

    @property
    def risks(self) -> tuple[CellRisk, ...]:
        """Errors of the best that are too rare in the data to be judged and could make it dearer than others."""
        found = {(r.true, r.predicted): r for pair in self.pairs if self.best in pair.names for r in pair.risks}
        return tuple(sorted(found.values(), key=lambda risk: -risk.excess))

    @property
    def sure(self) -> bool:
        """Whether every other classifier, constant ones among them, is shown to cost more than the best."""
        return not self.rivals

    @property
    def significant(self) -> npt.NDArray[np.bool_]:
        """Which pairs differ: those whose interval leaves out zero, and whose adjusted p-value is at most 1 - level."""
        return frozen(np.array([pair.significant for pair in self.pairs]))

    @property
    def beats(self) -> dict[str, tuple[str, ...]]:
        """For each classifier and the cheapest constant one, those that it is significantly cheaper than."""
        out: dict[str, list[str]] = {name: [] for name in (*self.names, self.constant)}
        for pair in self.pairs:
            if pair.cheaper is not None:
                out[pair.cheaper].append(next(name for name in pair.names if name != pair.cheaper))
        return {name: tuple(beaten) for name, beaten in out.items()}

    def pair(self, a: str, b: str) -> CostDifference:
        """Return the difference of two of `names`, or of one of them and `constant`: the cost of a minus that of b.

        Parameters
        ----------
        a, b : str
            Their names.
        """
        for pair in self.pairs:
            if pair.names == (a, b):
                return pair
            if pair.names == (b, a):
                return pair.reversed()
        known = ", ".join(map(repr, (*self.names, self.constant)))
        raise InputError(f"`a` and `b` must be two of {known}, one of them a classifier, got {a!r} and {b!r}")

    def _columns(self) -> dict[str, Any]:
        return {
            "a": [pair.names[0] for pair in self.pairs],
            "b": [pair.names[1] for pair in self.pairs],
            "difference": [pair.difference for pair in self.pairs],
            "lower": [pair.lower for pair in self.pairs],
            "upper": [pair.upper for pair in self.pairs],
            "p_value": [pair.p_value for pair in self.pairs],
            "p_adjusted": self.p_adjusted,
            "significant": self.significant,
        }

    def __repr__(self) -> str:
        """Return the conclusion in words."""
        many = f"{len(self.names)} classifier{'s' * (len(self.names) != 1)}"
        verdict = "sure" if self.sure else "not sure"
        about = f"{many} and always predicting one class, together at {100 * self.level:g} %"
        beats = self.beats
        everyone = dict(zip(self.names, self.costs.tolist(), strict=True)) | {self.constant: self.constant_costs.min()}
        costs = {name: f"{cost:.6g}" for name, cost in everyone.items()}
        wide, long = max(map(len, costs.values())), max(map(len, everyone))
        lines = [f"CostComparison of {about}: {verdict}"]
        for name in sorted(everyone, key=everyone.__getitem__):
            won = f"  cheaper than {', '.join(beats[name])}" if beats[name] else ""
            lines.append(f"  {name:<{long}}  cost {costs[name]:<{wide}}{won}".rstrip())
        said = "all others are shown to cost more"
        if self.rivals:
            more = f" and {len(self.rivals) - 5} more" if len(self.rivals) > 5 else ""
            said = f"not shown to cost more: {', '.join(self.rivals[:5])}{more}"
        return "\n".join([*lines, f"  use {self.best}: {said}"])


def bdeltacost_many(
    y_true: Any,
    predictions: Mapping[str, Any],
    C: Any,
    *,
    level: float = 0.95,
    laplace: float = 0.0,
    method: str = "exact",
    priors: Any = None,
    priors_size: float | None = None,
    n_resamples: int = 1000,
    rng: Any = None,
) -> CostComparison:
    """Compare several classifiers with each other and with always predicting one class, by BDeltaCost.

    Parameters
    ----------
    y_true : sequence of labels, shape (n,)
    predictions : mapping of name to sequence of labels, or dataframe
        Predictions of each classifier on the same examples, one classifier or more.
    C : CostMatrix or table
        Rows true, columns predicted.
    level : float, default 0.95
        Of the family: with this probability every interval holds, and no statement about who costs less is wrong.
    laplace, method, priors, priors_size, n_resamples, rng
        As in `bdeltacost`.

    Returns
    -------
    CostComparison

    Warns
    -----
    SmallSampleWarning
        As `bdeltacost` does; what rests on such a comparison is not `sure`.

    Notes
    -----
    The family has one comparison for each pair of the m classifiers, and one for each classifier against the cheapest
    of the k constant classifiers: N = m(m + 1)/2. Limits and p-values have the same single-step adjustment
    (Bonferroni): every comparison is made at the level 1 - (1 - level)/N, and p-values are multiplied by N, so that an
    interval leaves out zero exactly where the adjusted p-value is at most 1 - level. Holm's method would sometimes
    find a little more, but the limits that belong to it end at zero for whatever it finds, and say nothing about how
    much a classifier saves.

    Which constant classifier is truly the cheapest is unknown. The upper limit of a classifier's excess over the
    cheapest is the largest of its upper limits over the k of them, which needs no adjustment for k (it is below zero
    only if all k are); the lower limit is the largest of the lower limits, each with 1/k of the tail. Where a constant
    classifier is the best and is shown to undercut every classifier, it is also tested against the other constant
    ones, with the part of the error that the tests against the classifiers have left: (1 - level)/((m + 1)(k - 1))
    on one side for each of them.

    Examples
    --------
    >>> import costcurves as cc
    >>> y = [0] * 50 + [1] * 50
    >>> a, b = [0] * 50 + [1] * 50, [0] * 45 + [1] * 5 + [1] * 35 + [0] * 15
    >>> many = cc.bdeltacost_many(y, {"a": a, "b": b, "c": b}, [[0, 1], [5, 0]])
    >>> many.best, many.sure
    ('a', True)
    """
    columns = columns_of("predictions", predictions)
    names = check_named("predictions", columns, 1)
    if "y_true" in names:
        raise InputError("`predictions` must not name a classifier 'y_true'")
    C = as_cost_matrix(C)
    constants = constant_names("predictions", names, C.labels)
    level = check_level(level)
    count = len(names) * (len(names) + 1) // 2
    options = Options.check(
        C.labels,
        level=1 - (1 - level) / count,
        laplace=laplace,
        method=method,
        n_resamples=n_resamples,
        rng=rng,
        priors=priors,
        priors_size=priors_size,
    )
    true, *coded = [column.codes(C.labels, OWNER) for column in read_columns({"y_true": y_true, **columns})]
    k = len(C.labels)
    tables = [pair_counts(true, predicted, k) for predicted in coded]
    sizes = tables[0].sum(axis=1)
    shares = sizes / true.size if options.priors is None else options.shares(sizes, C.labels)
    rates = np.where(sizes > 0, shares / np.maximum(sizes, 1), 0.0)
    costs = np.array([float((rates[:, None] * table * C.values).sum()) for table in tables])
    constant_costs = shares @ C.values
    pairs = [
        bdeltacost_of_joint(JointConfusion._from_codes(C.labels, true, a, b), C, options, (names[i], names[j]))
        for (i, a), (j, b) in combinations(enumerate(coded), 2)
    ]
    against = [
        _against_constants(table, C, options, name, constants, (cost, constant_costs))
        for name, table, cost in zip(names, tables, costs.tolist(), strict=True)
    ]
    pairs += [one.pair for one in against]
    cheapest, lowest = int(np.argmin(costs)), int(np.argmin(constant_costs))
    if costs[cheapest] <= constant_costs[lowest] + _EQUAL * float(C.values.max()):
        best = names[cheapest]
        others = [pair for pair in pairs[: len(pairs) - len(names)] if best in pair.names]
        rivals = [next(n for n in pair.names if n != best) for pair in others if pair.cheaper != best or pair.risks]
        rivals += [constants[c] for c in against[cheapest].unbeaten or [lowest] * bool(against[cheapest].pair.risks)]
    else:
        best = constants[lowest]
        rivals = [one.pair.names[0] for one in against if one.pair.cheaper != best]
        tail = (1 - level) / ((len(names) + 1) * (k - 1))
        rivals += [constants[c] for c in _constants_like(lowest, sizes, C, options, tail)]
    if risky := [pair for pair in pairs if pair.risks]:
        warn_of_difference(risky[0].risks, true.size, stacklevel=3)
    adjusted = [_adjusted(pair, count, level) for pair in pairs]
    return CostComparison(
        names,
        frozen(costs),
        constants,
        frozen(np.array(constant_costs)),
        tuple(pairs),
        frozen(np.array(adjusted)),
        level,
        best,
        tuple(rivals),
    )


def _adjusted(pair: CostDifference, count: int, level: float) -> float:
    """Return Bonferroni's p-value: at most 1 - level exactly where the interval of the pair leaves out zero."""
    return p_beside((pair.lower, pair.upper), min(1.0, count * pair.p_value), 0.0, 1 - level)


@dataclass(frozen=True, slots=True, eq=False)
class _Against:
    """One classifier against the cheapest constant one, and the constants that it is not shown to undercut."""

    pair: CostDifference
    unbeaten: tuple[int, ...]


def _against_constants(
    table: npt.NDArray[Any],
    C: CostMatrix,
    options: Options,
    name: str,
    constants: Sequence[str],
    costs: tuple[float, FloatArray],
) -> _Against:
    """Compare a classifier with the cheapest constant one, whichever that is: see the notes of `bdeltacost_many`."""
    cost, constant_costs = costs
    k = len(C.labels)
    true, predicted = np.nonzero(table)
    counts = table[true, predicted]
    lower = upper = -math.inf
    at_most, at_least, smallest = 1.0, 0.0, 0.0
    unbeaten = []
    found: Any = None
    for c in np.argsort(constant_costs, kind="stable").tolist():
        joint = JointConfusion(C.labels, true, predicted, np.full(true.size, c), counts)
        if found is not None and _cannot_matter(joint, C, options, (lower, upper), max(at_least, smallest / 2)):
            continue
        _, distribution, zero = difference_distribution(joint, C, options)
        low, high = multiclass.limits(distribution, options.tail / k, options.tail, zero)
        below, above = multiclass.tails(distribution, zero)
        if high >= 0:
            unbeaten.append(c)
        lower, upper = max(lower, low), max(upper, high)
        at_most, at_least = min(at_most, below), max(at_least, above)
        smallest = max(smallest, multiclass.smallest_p(distribution))
        found = distribution if found is None else found
    p = min(1.0, 2 * min(at_least, k * at_most))
    cheapest = int(np.argmin(constant_costs))
    lowest = float(constant_costs[cheapest])
    joint = JointConfusion(C.labels, true, predicted, np.full(true.size, cheapest), counts)
    risks = () if lower > 0 else difference_risks(joint, C, options, (lower, upper))
    pair = CostDifference(
        cost - lowest,
        lower,
        upper,
        p_beside((lower, upper), p, smallest, 1 - options.level),
        options.level,
        options.method,
        options.laplace,
        int(counts.sum()),
        (name, constants[cheapest]),
        (cost, lowest),
        found,
        risks,
        smallest,
        constants[cheapest],
        lowest,
    )
    return _Against(pair, tuple(sorted(unbeaten)))


def _cannot_matter(
    joint: JointConfusion, C: CostMatrix, options: Options, ends: tuple[float, float], at_least: float
) -> bool:
    """Return whether bounds show that a constant classifier changes neither limits nor p-value found with others."""
    if options.priors_size is not None:
        return False
    strata, _ = difference_strata(joint, C, options)
    if multiclass.bernstein_tail(strata) > at_least:
        return False
    if multiclass.bernstein_quantile(strata, options.tail) >= min(ends[1], 0.0):
        return False
    # A lower quantile is at most this by Cantelli's inequality.
    mean, _ = moments(strata)
    tail = options.tail / len(C.labels)
    return float(mean) + math.sqrt(tail / (1 - tail)) * multiclass.spread(strata) <= ends[0]


def _constants_like(best: int, sizes: npt.NDArray[Any], C: CostMatrix, options: Options, tail: float) -> list[int]:
    """Return the constant classifiers that are not shown to cost more than the best of them."""
    classes = np.flatnonzero(sizes)
    out = []
    for c in range(len(C.labels)):
        if c == best:
            continue
        joint = JointConfusion(
            C.labels, classes, np.full(classes.size, best), np.full(classes.size, c), sizes[classes].astype(np.int64)
        )
        if options.priors_size is None:
            strata, _ = difference_strata(joint, C, options)
            if multiclass.bernstein_quantile(strata, tail) < 0:
                continue
        _, distribution, zero = difference_distribution(joint, C, options)
        if multiclass.limits(distribution, tail, tail, zero)[1] >= 0:
            out.append(c)
    return out
