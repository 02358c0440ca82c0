"""Several classifiers on the same examples: all pairs, jointly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import combinations, islice
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.frames import NamedColumns
from costcurves._base.results import Result
from costcurves._base.text import level_text
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    BoolArray,
    Column,
    FloatArray,
    Rng,
    check_integer,
    check_level,
    check_rng,
    frozen,
    is_among,
    seed_of,
    shown,
)
from costcurves.conditions.condition import ConditionLike, check_condition
from costcurves.conditions.range import GridLike
from costcurves.counting.class_labels import Label
from costcurves.curves.chance import one_question
from costcurves.curves.chosen import Told, allowance, allowing, looks_dearer
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.thresholds import NamedPolicies
from costcurves.decisions.all_pairs import AllPairs, PairedSteps
from costcurves.decisions.curve_difference import (
    UNDECIDED,
    UNSETTLED,
    CurveDifference,
    Discordant,
    Verdicts,
    difference_of_counts,
    difference_options,
)
from costcurves.decisions.rows import Rows, Source, curve_in, named_policies, told_curves
from costcurves.inference.bands.results import operating_points
from costcurves.inference.family import family_critical, holm
from costcurves.inference.optimism import joint_level
from costcurves.inference.paired.bands import band_limits, check_method, difference_bands, equal_cost_p_values
from costcurves.inference.paired.rates import PairedMethodName
from costcurves.inference.paired.resampled import Resamples
from costcurves.inference.rates import SolvedOnce, mid_p_at

SMALLEST_P = 1e-30  # of those that are told apart
# The critical value of a family comes from all classifiers, unless these numbers are exceeded: of classifiers, and of
# classifiers times operating points, whose covariance is factored. Then it comes from a sample of the classifiers.
MOST_SAMPLED, LEAST_SAMPLED, MOST_DIMENSIONS = 24, 6, 1600
# How many pairs' bands are kept between two questions.
KEPT = 2**14


def _p_text(p: float) -> str:
    """Return a p-value as text; for one that is too small to be computed exactly, say so."""
    return f"={p:.3g}" if p >= SMALLEST_P else f"<{SMALLEST_P:.0e}"


class Pairs(Sequence[CurveDifference]):
    """The differences of all pairs of classifiers, computed when they are asked for; the last ones are kept.

    Parameters
    ----------
    counted : AllPairs
    told : sequence of Told
        What is reported of each classifier.
    pc : array
        The operating points of the bands.
    z : float
        Their critical value.
    options : dict
        As for `compare`.
    first : CurveDifference, optional
        The difference of the first two classifiers, if it has been computed before.
    """

    def __init__(
        self,
        counted: AllPairs,
        told: Sequence[Told],
        pc: FloatArray,
        z: float,
        options: dict[str, Any],
        first: CurveDifference | None = None,
    ) -> None:
        self.counted, self._told, self._pc, self._z = counted, told, frozen(pc), z
        resampled = options["method"] == "resample"
        self._options = options | {"rng": seed_of(options["rng"])} if resampled else options
        self._limits = SolvedOnce(mid_p_at)
        self._places: tuple[tuple[int, int], ...] | None = None  # those of all pairs
        self._kept: dict[int, list[CurveDifference]] = {} if first is None else {0: [first]}

    def some(self, places: Iterable[tuple[int, int]]) -> Pairs:
        """Return some of the pairs, given as i < j, with the limits that hold for all of them."""
        part = copy(self)
        part._places = tuple(places)
        return part

    def __len__(self) -> int:
        """Return the number of pairs."""
        k = len(self.counted.curves)
        return k * (k - 1) // 2 if self._places is None else len(self._places)

    def places(self) -> Iterable[tuple[int, int]]:
        """Return the positions of the two classifiers of each pair."""
        return combinations(range(len(self.counted.curves)), 2) if self._places is None else self._places

    @overload
    def __getitem__(self, index: int) -> CurveDifference: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[CurveDifference]: ...
    def __getitem__(self, index: int | slice) -> CurveDifference | Sequence[CurveDifference]:
        """Return one pair, or some of them."""
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        place = range(len(self))[index]  # which refuses an index out of range
        return self.of(*next(islice(self.places(), place, None)))

    def __iter__(self) -> Iterator[CurveDifference]:
        """Yield every pair."""
        for i, j in self.places():
            yield self.of(i, j)

    def of(self, i: int, j: int) -> CurveDifference:
        """Return the difference of classifiers i < j."""
        return self._row(i)[j - i - 1]

    def _row(self, i: int) -> list[CurveDifference]:
        """Return the differences of classifier i and each later one."""
        if i not in self._kept:
            if sum(map(len, self._kept.values())) > KEPT:
                self._kept.clear()
            counts, known, sizes = self._counts(i, self._pc)
            bands = difference_bands(counts, sizes, self._pc, self._z, known, **self._options, limits=self._limits)
            effective = sizes if self.counted.weighted else None
            a, *others = self.counted.curves[i:]
            row = []
            for j, (b, band) in enumerate(zip(others, bands, strict=True), i + 1):
                errors, both = (a.max_error, b.max_error), (self._told[i], self._told[j])
                steps = partial(self.counted.steps, i, j)
                discordant = Discordant(steps, effective, self._options, both, errors)
                dearer = looks_dearer(band.estimate, [kind[j - i - 1] for kind in counts], sizes)
                wide = allowing(band, both, dearer).with_errors(errors)
                row.append(CurveDifference((a.name, b.name), wide, discordant))
            self._kept[i] = row
        return self._kept[i]

    def _counts(self, i: int, pc: FloatArray) -> tuple[tuple[FloatArray, ...], BoolArray, tuple[float, float]]:
        """Return the counts of classifier i and each later one, where they are known, and the sizes they belong to."""
        counts, known = self.counted.counts(i, pc)
        sizes = self.counted.sizes
        if self.counted.weighted:
            scale = [n / total for n, total in zip(sizes, self.counted.totals, strict=True)]
            counts = tuple(c * scale[k // 2] for k, c in enumerate(counts))
        return tuple(c.astype(np.float64, copy=False) for c in counts), known, sizes

    def tests(self, pc: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the estimates of all pairs at one pc, their p-values, and those without binning error."""
        point, curves = np.array([pc]), self.counted.curves
        rows = [self._counts(i, point) for i in range(len(curves) - 1)]
        counts = tuple(np.concatenate([row[0][k] for row in rows])[:, 0] for k in range(4))
        known = np.concatenate([row[1] for row in rows])[:, 0]
        given, sizes, where = self._options, rows[0][2], np.full(known.size, pc)
        how = (given["method"], given["sampling"], given["laplace"])
        estimate = band_limits(counts, sizes, where, 1.0, known, "gaussian", *how[1:], None)[0]
        resamples = Resamples.of(given["n_resamples"], given["rng"]) if how[0] == "resample" else None
        first, second = np.triu_indices(len(curves), 1)
        dearer = looks_dearer(estimate, counts, sizes)
        each = [
            allowance((self._told[i], self._told[j]), point, dearer[[place]])
            for place, (i, j) in enumerate(combinations(range(len(curves)), 2))
        ]
        estimate = estimate + np.array([moved[0] for moved, _ in each])
        below, above = (np.array([ends[side][0] for _, ends in each]) for side in range(2))
        p = exact = equal_cost_p_values(counts, sizes, where, known, *how, resamples, (below, above))
        binned = np.array([curve.max_error for curve in curves])
        if binned.any():
            errors = (below + binned[first], above + binned[second])
            p = equal_cost_p_values(counts, sizes, where, known, *how, resamples, errors)
        if self._places is not None:
            place = {both: at for at, both in enumerate(combinations(range(len(curves)), 2))}
            mine = [place[both] for both in self._places]
            estimate, p, exact = estimate[mine], p[mine], exact[mine]
        return estimate, p, exact


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ManyDifferences(Result):
    """All pairs of several classifiers, with limits that hold for all pairs and all conditions jointly.

    Attributes
    ----------
    names : tuple of str
    pairs : sequence of CurveDifference
        In the order of `itertools.combinations`. They are computed when they are asked for.
    level : float
        The probability that all statements about all pairs at all pc are right.

    Examples
    --------
    >>> import numpy as np
    >>> import costcurves as cc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(500) < 0.4
    >>> spread = {"sharp": 0.6, "fair": 0.7, "dull": 5.0}
    >>> scores = {name: y + rng.normal(0, sd, 500) for name, sd in spread.items()}
    >>> cc.compare_many(y, scores)  # doctest: +ELLIPSIS
    Who costs less where (3 classifiers, 95 % over all pairs and all pc)
      'sharp' against 'fair': no significant difference at any pc
      'sharp' against 'dull': 'sharp' costs less for pc in (0.1..., 0.7...); undecided elsewhere
      'fair' against 'dull': 'fair' costs less for pc in (0.2..., 0.8...); undecided elsewhere
    """

    names: tuple[str, ...]
    pairs: Pairs
    level: float

    def pair(self, a: str, b: str) -> CurveDifference:
        """Return the comparison of two of the classifiers: the cost of `a` minus the cost of `b`."""
        if not (is_among(a, self.names) and is_among(b, self.names)) or a == b:
            raise InputError(f"`a` and `b` must be two of {', '.join(self.names)}, got {shown(a)} and {shown(b)}")
        i, j = self.names.index(a), self.names.index(b)
        return self.pairs.of(i, j) if i < j else self.pairs.of(j, i).reversed()

    @property
    def max_error(self) -> float:
        """The most by which a difference can be wrong because scores were binned."""
        return max(curve.max_error for curve in self.pairs.counted.curves)

    def at(self, condition: ConditionLike) -> PairwiseTests:
        """Return all pairs at one condition, with Holm's adjustment of their p-values."""
        where = check_condition(condition)
        estimate, p, at_cuts = self.pairs.tests(where.pc)
        adjusted = holm(p)
        alpha = 1 - self.level
        return PairwiseTests(
            tuple((self.names[i], self.names[j]) for i, j in self.pairs.places()),
            where.pc,
            estimate,
            p,
            adjusted,
            self.level,
            (holm(at_cuts) <= alpha) & (adjusted > alpha),
            self.max_error,
        )

    def _columns(self) -> dict[str, Any]:
        rows = [
            (*one.names, low, high, better)
            for one in self.pairs
            for low, high, better in zip(*(one.significant()._columns().values()), strict=True)
        ]
        columns = list(zip(*rows, strict=True))
        return dict(zip(("a", "b", "pc_low", "pc_high", "better"), map(list, columns), strict=True))

    def __repr__(self) -> str:
        """Show one line per pair."""
        head = (
            f"Who costs less where ({len(self.names)} classifiers, {level_text(self.level)} over all pairs and all pc)"
        )
        lines = [f"  {one.names[0]!r} against {one.names[1]!r}: {one.significant().text()}" for one in self.pairs]
        return "\n".join([head, *lines])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairwiseTests(Result):
    """All pairs at one condition: differences of normalized cost, p-values, and p-values adjusted by Holm's method.

    Attributes
    ----------
    pairs : tuple of (a, b)
        The names of the two classifiers of each pair.
    pc : float
        The probability-cost of the condition.
    estimate : array
        The cost of a minus the cost of b, normalized, for each pair.
    p_value, adjusted : arrays
        The p-value of equal costs for each pair by itself, and adjusted for the number of pairs.
    level : float
        The family-wise confidence level.
    unsettled : array of bool
        Which pairs would be significant if scores had not been binned.
    max_error : float
        The most by which a difference can be wrong because scores were binned. The p-values are the largest that this
        allows.

    Examples
    --------
    >>> import numpy as np
    >>> import costcurves as cc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(300) < 0.4
    >>> scores = {"sharp": y + rng.normal(0, 0.6, 300), "dull": rng.normal(0, 1, 300)}
    >>> cc.compare_many(y, scores).at(0.5)
    Pairs at pc=0.5, significant at 0.05 after Holm's adjustment
      'sharp' - 'dull': -0.283, p=1.17e-11 (adjusted 1.17e-11), significant
    """

    pairs: tuple[tuple[str, str], ...]
    pc: float
    estimate: FloatArray
    p_value: FloatArray
    adjusted: FloatArray
    level: float
    unsettled: BoolArray
    max_error: float = 0.0

    def significant(self) -> BoolArray:
        """Say which pairs differ; the probability of any false claim is at most 1 - level."""
        return frozen(self.adjusted <= 1 - self.level)

    def verdict(self, i: int) -> Verdicts:
        """Return which of pair `i` is shown to cost less here, by its adjusted p-value, not the limits of a band."""
        i = check_integer("i", i, 0, len(self.pairs) - 1)
        better = UNSETTLED if self.unsettled[i] else UNDECIDED
        if self.adjusted[i] <= 1 - self.level:
            better = self.pairs[i][0 if self.estimate[i] < 0 else 1]
        here = np.array([self.pc])
        return Verdicts(here, here, (better,))

    def _columns(self) -> dict[str, Any]:
        return {
            "a": [a for a, _ in self.pairs],
            "b": [b for _, b in self.pairs],
            "estimate": self.estimate,
            "p_value": self.p_value,
            "adjusted": self.adjusted,
            "significant": self.significant(),
        }

    def __repr__(self) -> str:
        """Show one line per pair."""
        lines = [
            f"  {a!r} - {b!r}: {d:.3g}, p{_p_text(p)} (adjusted {_p_text(q).lstrip('=')}), "
            + ("significant" if s else UNSETTLED if u else "not significant")
            for (a, b), d, p, q, s, u in zip(
                self.pairs, self.estimate, self.p_value, self.adjusted, self.significant(), self.unsettled, strict=True
            )
        ]
        head = f"Pairs at pc={self.pc:.3g}, significant at {1 - self.level:.3g} after Holm's adjustment"
        return "\n".join([head, *lines])


@one_question()
def compare_many(
    y_true: Column,
    scores: NamedColumns,
    *,
    pos_label: Label | None = None,
    sample_weight: npt.ArrayLike | None = None,
    policy: NamedPolicies = "optimal",
    level: float = DEFAULT_LEVEL,
    method: PairedMethodName = "mid-p",
    pc: GridLike | None = None,
    rng: Rng = 0,
) -> ManyDifferences:
    """Return all pairs of classifiers with limits that hold over all pairs and all conditions jointly.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    scores : mapping of name to array-like of shape (n,), or dataframe
    policy : policy, or mapping of name to policy
    level : float in (0, 1)
        The family-wise level: the probability that no statement about any pair at any pc is wrong.
    method : str
        As for `compare`.
    pc : array-like, OperatingRange or OperatingCondition, optional
        Operating points, as for `compare`. The time grows with the square of their number.
    pos_label, sample_weight
        As for `RocCurve.from_predictions`. With weights, limits use the effective sample sizes (Σw)²/Σw² of the
        classes; the methods "exact" and "resample" do not take weights.
    rng : numpy.random.Generator, int or None, default 0
        A generator, or the seed of one, for the simulated critical value. By default the answer is the same each time.

    Notes
    -----
    The largest standardised difference over pairs and points is simulated from the joint normal limit of all error
    rates (max-t). If there are many classifiers (more than 15 at 101 points), it is that of a random sample of them,
    extended to all pairs, which makes the limits slightly wider. Two classifiers are one pair, and the answer is that
    of `compare`. For pairs at one condition, `ManyDifferences.at` adjusts their p-values by Holm's method.

    Examples
    --------
    >>> import costcurves as cc
    >>> many = cc.compare_many([0, 1, 0, 1, 1, 0], {"a": [1, 3, 2, 4, 2, 1], "b": [1, 2, 1, 2, 2, 1]})
    >>> many.pair("a", "b").significant().decided
    False
    """
    rows = Rows(y_true, scores, pos_label, sample_weight)
    return compare_many_in(rows, policy=policy, level=level, method=method, pc=pc, rng=rng)


def compare_many_in(
    source: Source,
    *,
    policy: Any = "optimal",
    level: float = DEFAULT_LEVEL,
    method: PairedMethodName = "mid-p",
    pc: Any = None,
    rng: Rng = 0,
) -> ManyDifferences:
    """Return all pairs of a source's classifiers, wherever the examples are."""
    names, level = source.names, check_level(level)
    if len(names) < 2:
        raise InputError(f"`scores` must have two classifiers or more, got {len(names)}")
    generator = check_rng(rng)
    points, rules = operating_points(pc), named_policies(policy, names)
    curves = [curve_in(source, name, rules[name]) for name in names]
    check_method(method)
    options = difference_options(level=level, method=method, rng=rng)
    used, told = told_curves(source, curves)
    if len(used) == 2:
        a, b = used
        paired = source.paired(a, b, points, simultaneous=True)
        errors = (a.max_error, b.max_error)
        difference = difference_of_counts((a.name, b.name), paired, points, options, (told[0], told[1]), errors)
        both = AllPairs(used, partial(_same, paired.steps), weighted=paired.weighted)
        return ManyDifferences(names, Pairs(both, told, points, difference.band.critical, options, difference), level)
    sample = _sampled(used, points, generator)
    pairs, both_wrong = source.co_errors(used, sample, points)
    check_method(method, weighted=pairs.weighted)
    sizes = pairs.sizes
    scaled = [wrong * (n / total) for wrong, n, total in zip(both_wrong, sizes, pairs.totals, strict=True)]
    aim = joint_level(level) if any(one.optimism is not None for one in told) else level
    z = family_critical(scaled[0], sizes[0], scaled[1], sizes[1], points, aim, classifiers=len(names), rng=generator)
    return ManyDifferences(names, Pairs(pairs, told, points, z, options), level)


def _same(steps: PairedSteps, *curves: CostCurve) -> PairedSteps:
    """Return the steps of the only two curves."""
    return steps


def _sampled(curves: Sequence[CostCurve], pc: FloatArray, rng: np.random.Generator) -> Sequence[CostCurve]:
    """Return the classifiers from which the critical value of the family is found: all, or a random sample.

    The sample does not depend on the order of the classifiers, and hardly on that of the classes.
    """
    size = min(MOST_SAMPLED, max(LEAST_SAMPLED, MOST_DIMENSIONS // pc.size))
    if len(curves) <= size:
        return curves
    costs = np.array([np.sort(curve.evaluate(pc)) for curve in curves])
    order = np.lexsort(np.round([costs.sum(axis=1), (costs**2).sum(axis=1), costs.max(axis=1)], 9))
    return [curves[i] for i in sorted(order[rng.permutation(len(curves))[:size]].tolist())]
