"""Several classifiers of k classes compared on the same examples, and with always predicting one class."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError, SmallSampleWarning
from costcurves._base.frames import NamedColumns, columns_of
from costcurves._base.results import Result
from costcurves._base.text import level_text
from costcurves._base.validation import DEFAULT_LEVEL, Column, FloatArray, Rng, check_level, frozen, is_among, shown
from costcurves.conditions.cost_matrix import OWNER, CostMatrix, CostsLike, PriorsLike, as_cost_matrix, constant_names
from costcurves.counting.class_labels import check_named, read_columns
from costcurves.counting.confusion import JointConfusion, pair_counts
from costcurves.inference.bands.results import p_beside
from costcurves.inference.cost_methods import DEFAULT_METHOD, CostLaw, CostMethodName
from costcurves.multiclass.bdeltacost import (
    CostDifference,
    cells_of_joint,
    difference_of_joint,
    risks_of_joint,
)
from costcurves.multiclass.options import Options
from costcurves.multiclass.risks import CellRisk, difference_warning

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
    adjusted : ndarray
        Adjusted p-values by the same method: p times len(pairs), at most 1.
    level : float
        The family's confidence level.
    best_name : str
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
    adjusted: FloatArray
    level: float
    best_name: str
    rivals: tuple[str, ...]

    @property
    def constant(self) -> str:
        """The cheapest constant classifier on these examples."""
        return self.constants[int(np.argmin(self.constant_costs))]

    @property
    def risks(self) -> tuple[CellRisk, ...]:
        """Errors of the best that are too rare to be judged and could make it more expensive than others."""
        found = {(r.true, r.predicted): r for pair in self.pairs if self.best_name in pair.names for r in pair.risks}
        return tuple(sorted(found.values(), key=lambda risk: -risk.excess))

    @property
    def sure(self) -> bool:
        """Whether every other classifier, constant ones among them, is shown to cost more than the best."""
        return not self.rivals

    def significant(self) -> npt.NDArray[np.bool_]:
        """Say which pairs differ: their interval leaves out zero, and their adjusted p-value is at most 1 - level."""
        return frozen(np.array([pair.significant() for pair in self.pairs]))

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
        known = (*self.names, self.constant)
        for pair in self.pairs if is_among(a, known) and is_among(b, known) else ():
            if pair.names == (a, b):
                return pair
            if pair.names == (b, a):
                return pair.reversed()
        listed, got = ", ".join(map(repr, known)), f"{shown(a)} and {shown(b)}"
        raise InputError(f"`a` and `b` must be two of {listed}, one of them a classifier, got {got}")

    def _columns(self) -> dict[str, Any]:
        return {
            "a": [pair.names[0] for pair in self.pairs],
            "b": [pair.names[1] for pair in self.pairs],
            "estimate": [pair.estimate for pair in self.pairs],
            "lower": [pair.lower for pair in self.pairs],
            "upper": [pair.upper for pair in self.pairs],
            "p_value": [pair.p_value for pair in self.pairs],
            "adjusted": self.adjusted,
            "significant": self.significant(),
        }

    def __repr__(self) -> str:
        many = f"{len(self.names)} classifier{'s' * (len(self.names) != 1)}"
        verdict = "sure" if self.sure else "not sure"
        about = f"{many} and always predicting one class, together at {level_text(self.level)}"
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
        return "\n".join([*lines, f"  use {self.best_name}: {said}"])


def bdeltacost_many(
    y_true: Column,
    predictions: NamedColumns,
    costs: CostsLike,
    *,
    level: float = DEFAULT_LEVEL,
    method: CostMethodName = DEFAULT_METHOD,
    laplace: float | None = None,
    priors: PriorsLike | None = None,
    priors_size: float | None = None,
    n_resamples: int = 1000,
    rng: Rng = 0,
) -> CostComparison:
    """Compare several classifiers with each other and with always predicting one class, by BDeltaCost.

    Parameters
    ----------
    y_true : sequence of labels, shape (n,)
    predictions : mapping of name to sequence of labels, or dataframe
        Predictions of each classifier on the same examples, one classifier or more.
    costs : CostMatrix or table
        Rows true, columns predicted.
    level : float, default 0.95
        Of the family: with this probability every interval holds, and no statement about who costs less is wrong.
    method, laplace, priors, priors_size, n_resamples, rng
        As in `bdeltacost`.

    Returns
    -------
    CostComparison

    Warns
    -----
    SmallSampleWarning
        As `bdeltacost` does, for methods that do not allow for errors that were not seen; what rests on such a
        comparison is not `sure`.

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
    only if all k are); the lower limit is that over the constant classifier that costs least on these examples, with
    1/k of the tail, because any of the k may be that one. Where a constant classifier is the best and is shown to
    undercut every classifier, it is also tested against the other constant ones, with the part of the error that the
    tests against the classifiers have left: (1 - level)/((m + 1)(k - 1)) on one side for each of them.

    Examples
    --------
    >>> import costcurves as cc
    >>> y = [0] * 50 + [1] * 50
    >>> a, b = [0] * 50 + [1] * 50, [0] * 45 + [1] * 5 + [1] * 35 + [0] * 15
    >>> many = cc.bdeltacost_many(y, {"a": a, "b": b, "c": b}, [[0, 1], [5, 0]])
    >>> many.best_name, many.sure
    ('a', True)
    """
    columns = columns_of("predictions", predictions)
    names = check_named("predictions", columns)
    if "y_true" in names:
        raise InputError("`predictions` must not name a classifier 'y_true'")
    matrix = as_cost_matrix(costs)
    constants = constant_names("predictions", names, matrix.labels)
    level = check_level(level)
    count = len(names) * (len(names) + 1) // 2
    each = 1 - (1 - level) / count
    options = Options.check(matrix.labels, each, method, laplace, priors, priors_size, n_resamples, rng)
    true, *coded = [column.codes(matrix.labels, OWNER) for column in read_columns({"y_true": y_true, **columns})]
    k = len(matrix.labels)
    tables = [pair_counts(true, predicted, k) for predicted in coded]
    sizes = tables[0].sum(axis=1)
    shares = options.shares(sizes, matrix.labels)
    rates = np.where(sizes > 0, shares / np.maximum(sizes, 1), 0.0)
    means = np.array([float((rates[:, None] * table * matrix.values).sum()) for table in tables])
    constant_means = shares @ matrix.values
    pairs = [
        difference_of_joint(JointConfusion._from_codes(matrix.labels, true, a, b), matrix, options, both)
        for both, (a, b) in zip(combinations(names, 2), combinations(coded, 2), strict=True)
    ]
    against = [
        _against_constants(table, matrix, options, name, constants, (mean, constant_means))
        for name, table, mean in zip(names, tables, means.tolist(), strict=True)
    ]
    pairs += [one.pair for one in against]
    cheapest, lowest = int(np.argmin(means)), int(np.argmin(constant_means))
    if means[cheapest] <= constant_means[lowest] + _EQUAL * float(matrix.values.max()):
        best = names[cheapest]
        others = [pair for pair in pairs[: len(pairs) - len(names)] if best in pair.names]
        rivals = [next(n for n in pair.names if n != best) for pair in others if pair.cheaper != best or pair.risks]
        rivals += [constants[c] for c in against[cheapest].unbeaten or [lowest] * bool(against[cheapest].pair.risks)]
    else:
        best = constants[lowest]
        rivals = [one.pair.names[0] for one in against if one.pair.cheaper != best]
        tail = (1 - level) / ((len(names) + 1) * (k - 1))
        rivals += [constants[c] for c in _constants_like(lowest, sizes, matrix, options, tail)]
    if risky := [pair for pair in pairs if pair.risks]:
        warnings.warn(difference_warning(risky[0].risks, true.size), SmallSampleWarning, stacklevel=2)
    # Bonferroni's p-value is at most 1 - level exactly where the interval of the pair leaves out zero.
    adjusted = [p_beside((one.lower, one.upper), min(1.0, count * one.p_value), 0.0, 1 - level) for one in pairs]
    return CostComparison(
        names,
        frozen(means),
        constants,
        frozen(np.array(constant_means)),
        tuple(pairs),
        frozen(np.array(adjusted)),
        level,
        best,
        tuple(rivals),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Against:
    """One classifier against the cheapest constant one, and the constants that it is not shown to undercut."""

    pair: CostDifference
    unbeaten: tuple[int, ...]


def _against_constants(
    table: npt.NDArray[Any],
    costs: CostMatrix,
    options: Options,
    name: str,
    constants: Sequence[str],
    means: tuple[float, FloatArray],
) -> _Against:
    """Compare a classifier with the cheapest constant one, whichever that is: see the notes of `bdeltacost_many`."""
    mean, constant_means = means
    k, tail = len(costs.labels), options.tail
    true, predicted = np.nonzero(table)
    counts = table[true, predicted]

    def joint(c: int) -> JointConfusion:
        return JointConfusion(costs.labels, true, predicted, np.full(true.size, c), counts)

    cheapest, *others = np.argsort(constant_means, kind="stable").tolist()
    cells = cells_of_joint(joint(cheapest), costs, options)
    first = options.law(cells)
    lower, upper = first.limits(tail / k, tail)
    at_most, at_least = first.tails(0.0)
    unbeaten = [cheapest] if upper >= 0 else []
    for c in others:
        law = options.law(cells_of_joint(joint(c), costs, options))
        if law.bound(0.0) > max(at_least, first.smallest_p / 2):
            at_least = max(at_least, law.tails(0.0)[1])
        if not _stays_below(law, min(upper, 0.0), tail):
            high = law.limits(tail, tail)[1]
            upper = max(upper, high)
            unbeaten += [c] if high >= 0 else []
    p = p_beside((lower, upper), min(1.0, 2 * min(at_least, k * at_most)), first.smallest_p, 1 - options.level)
    lowest = float(constant_means[cheapest])
    pair = CostDifference(
        mean - lowest,
        lower,
        upper,
        p,
        options.level,
        options.name,
        options.resampling.laplace,
        int(counts.sum()),
        (name, constants[cheapest]),
        (mean, lowest),
        first.distribution,
        () if lower > 0 else risks_of_joint(joint(cheapest), costs, options, cells, (lower, upper)),
        first.smallest_p,
        constants[cheapest],
        lowest,
    )
    return _Against(pair, tuple(sorted(unbeaten)))


def _stays_below(law: CostLaw, at: float, tail: float) -> bool:
    """Return whether the upper limit lies below `at`, which is quicker to find out than the limit itself."""
    return law.bound(at) < tail or law.tails(at)[1] < tail


def _constants_like(best: int, sizes: npt.NDArray[Any], costs: CostMatrix, options: Options, tail: float) -> list[int]:
    """Return the constant classifiers that are not shown to cost more than the best of them."""
    classes = np.flatnonzero(sizes)
    ones = np.ones(classes.size, dtype=np.int64)
    counts = sizes[classes].astype(np.int64)

    def open_question(c: int) -> bool:
        joint = JointConfusion(costs.labels, classes, best * ones, c * ones, counts)
        law = options.law(cells_of_joint(joint, costs, options))
        return law.bound(0.0) > tail and law.tails(0.0)[1] > tail

    return [c for c in range(len(costs.labels)) if c != best and open_question(c)]
