"""Several classifiers on the same examples: all pairs, jointly."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.frames import NamedColumns
from costcurves._base.results import Result
from costcurves._base.text import level_text
from costcurves._base.validation import BoolArray, Column, FloatArray, Rng, check_level, check_rng, frozen, shown
from costcurves.conditions.condition import ConditionLike, check_condition
from costcurves.conditions.range import GridLike
from costcurves.counting.class_labels import Label
from costcurves.curves.chance import one_question
from costcurves.curves.thresholds import NamedPolicies
from costcurves.decisions.curve_difference import (
    UNSETTLED,
    CurveDifference,
    Discordant,
    difference_in,
    difference_options,
)
from costcurves.decisions.rows import Rows, Source, curve_in, named_policies
from costcurves.inference.bands.results import operating_points
from costcurves.inference.family import family_critical, holm
from costcurves.inference.paired.rates import PairedMethodName

SMALLEST_P = 1e-30  # of those that are told apart


def _p_text(p: float) -> str:
    """Return a p-value as text; for one that is too small to be computed exactly, say so."""
    return f"={p:.3g}" if p >= SMALLEST_P else f"<{SMALLEST_P:.0e}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ManyDifferences(Result):
    """All pairs of several classifiers, with limits that hold for all pairs and all conditions jointly.

    Attributes
    ----------
    names : tuple of str
    pairs : tuple of CurveDifference
        In the order of `itertools.combinations`.
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
    pairs: tuple[CurveDifference, ...]
    level: float

    def pair(self, a: str, b: str) -> CurveDifference:
        """Return the comparison of two of the classifiers: the cost of `a` minus the cost of `b`."""
        for one in self.pairs:
            if one.names == (a, b):
                return one
            if one.names == (b, a):
                return one.reversed()
        raise InputError(f"`a` and `b` must be two of {', '.join(self.names)}, got {shown(a)} and {shown(b)}")

    @property
    def max_error(self) -> float:
        """The most by which a difference can be wrong because scores were binned."""
        return max(one.max_error for one in self.pairs)

    def at(self, condition: ConditionLike) -> PairwiseTests:
        """Return all pairs at one condition, with Holm's adjustment of their p-values."""
        where = check_condition(condition)
        found = [one.at(where.pc) for one in self.pairs]
        p = np.array([one.p_value for one in found])
        adjusted = at_cuts = holm(p)
        if self.max_error:
            at_cuts = holm(np.array([one.without_error().at(where.pc).p_value for one in self.pairs]))
        alpha = 1 - self.level
        return PairwiseTests(
            tuple(one.names for one in self.pairs),
            where.pc,
            np.array([one.estimate for one in found]),
            p,
            adjusted,
            self.level,
            (at_cuts <= alpha) & (adjusted > alpha),
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
      'sharp' - 'dull': -0.283, p=1.82e-12 (adjusted 1.82e-12), significant
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
    level: float = 0.95,
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
        Operating points, as for `compare`. The time grows with the square of the number of points, and with
        that of the number of classifiers.
    pos_label, sample_weight
        As for `RocCurve.from_predictions`. With weights, limits use the effective sample sizes (Σw)²/Σw² of the
        classes; the methods "exact" and "resample" do not take weights.
    rng : numpy.random.Generator, int or None, default 0
        A generator, or the seed of one, for the simulated critical value. By default the answer is the same each time.

    Notes
    -----
    The largest standardised difference over pairs and points is simulated from the joint normal limit of all error
    rates (max-t). Two classifiers are one pair, and the answer is that of `compare`. For pairs at one condition,
    `ManyDifferences.at` adjusts their p-values by Holm's method.

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
    level: float = 0.95,
    method: PairedMethodName = "mid-p",
    pc: Any = None,
    rng: Rng = 0,
) -> ManyDifferences:
    """Return all pairs of a source's classifiers, wherever the examples are."""
    names, level = source.names, check_level(level)
    if len(names) < 2:
        raise InputError(f"`scores` must have two classifiers or more, got {len(names)}")
    check_rng(rng)
    points, rules = operating_points(pc), named_policies(policy, names)
    curves = [curve_in(source, name, rules[name]) for name in names]
    options = difference_options(level=level, method=method, rng=rng)
    if len(curves) == 2:
        return ManyDifferences(names, (difference_in(source, curves[0], curves[1], points, options),), level)
    steps, both_wrong, weighted = source.co_errors(curves, points)
    classes = next((one.pos, one.neg) for one in steps.values())
    sizes = [part.effective if weighted else part.total for part in classes]
    scaled = [wrong * (n / part.total) for wrong, n, part in zip(both_wrong, sizes, classes, strict=True)]
    z = family_critical(scaled[0], sizes[0], scaled[1], sizes[1], points, level, rng=rng)
    pairs = []
    for a, b in combinations(curves, 2):
        found = steps[a.name, b.name]
        effective = (found.pos.effective, found.neg.effective) if weighted else None
        discordant = Discordant(*found, effective, options, (a.max_error, b.max_error))
        pairs.append(CurveDifference((a.name, b.name), discordant.band(points, critical_value=z), discordant))
    return ManyDifferences(names, tuple(pairs), level)
