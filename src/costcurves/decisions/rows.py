"""The questions that are put to labels and scores of the same examples, answered from data in memory."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.frames import columns_of
from costcurves._base.validation import BoolArray, FloatArray, IntArray, check_name, frozen, shown
from costcurves.counting.labels import checked_rows
from costcurves.curves.chosen import Optimism, Told
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.policy import Policy
from costcurves.curves.roc import RocCurve
from costcurves.curves.thresholds import as_policy
from costcurves.decisions.all_pairs import AllPairs, PairedSteps, PairsInMemory
from costcurves.inference.family import co_errors_of_changes
from costcurves.inference.paired.discordant import (
    PairedCounts,
    counts_of_both,
    first_positive_point,
    paired_counts,
)

# Rows from which on all points of a curve are only counted if its hull does not have the answer.
MANY = 1 << 16


class Paired(NamedTuple):
    """What only one of two classifiers gets wrong: on the steps of pc and, if wanted, at points with their ranges."""

    steps: PairedSteps
    at_points: tuple[PairedCounts, PairedCounts] | None
    weighted: bool


class CoErrors(NamedTuple):
    """The counts of all pairs, and what two of a sample of classifiers at two points both get wrong, of each class."""

    pairs: AllPairs
    both_wrong: tuple[FloatArray, FloatArray]


class Source(Protocol):
    """Labels and scores of the same examples, wherever they are: in memory, in files, or on a cluster."""

    @property
    def names(self) -> tuple[str, ...]:
        """The classifiers."""

    def roc(self, name: str, points: str = "hull") -> RocCurve:
        """Return the ROC curve of one classifier: the vertices of its hull, or all points."""

    def few(self) -> bool:
        """Return whether all points of curves are kept, because there are not very many examples."""

    def curve(self, name: str, rule: Policy) -> CostCurve:
        """Return the cost curve of one classifier under a policy."""

    def paired(self, a: CostCurve, b: CostCurve, pc: FloatArray, *, simultaneous: bool) -> Paired:
        """Return what only one of two classifiers gets wrong; with ranges at the points `pc` if `simultaneous`."""

    def co_errors(self, curves: Sequence[CostCurve], sample: Sequence[CostCurve], pc: FloatArray) -> CoErrors:
        """Return the counts of all pairs of classifiers, and the co-errors of a sample of them at points `pc`."""

    def rows(self) -> Rows:
        """Return the examples in memory."""


def curve_in(source: Source, name: str, policy: Any) -> CostCurve:
    """Return the cost curve of one classifier under a policy."""
    return source.curve(name, as_policy(policy))


def told_curves(source: Source, curves: Sequence[CostCurve]) -> tuple[list[CostCurve], list[Told]]:
    """Return some classifiers at the thresholds in use, and what is reported of each.

    The thresholds in use of a cross-fitted curve are those that all cases choose together.
    """
    if not any(curve.policy is not None and curve.policy.cross_fits for curve in curves):
        return list(curves), [Told(Optimism.of(curve)) for curve in curves]
    used = [
        curve_in(source, curve.name, "optimal") if curve.policy is not None and curve.policy.cross_fits else curve
        for curve in curves
    ]
    return used, [Told(Optimism.of(one), (one, curve)) for one, curve in zip(used, curves, strict=True)]


def common_breaks(a: CostCurve, b: CostCurve) -> FloatArray:
    """Return the pc at which one of two curves changes its threshold, with 0 and 1."""
    return np.union1d(a.breaks, b.breaks)


def middles(breaks: FloatArray) -> FloatArray:
    """Return a pc within each step."""
    result: FloatArray = (breaks[:-1] + breaks[1:]) / 2
    return result


class Rows:
    """Labels and several classifiers' scores of the same examples in memory, checked once; curves are kept.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    scores : mapping of name to array-like of shape (n,), or dataframe
    pos_label, sample_weight
        As for `RocCurve.from_predictions`.

    Attributes
    ----------
    folds : array of int, shape (n,), or None
        The fold of each example, from 0 on, which cross-fitted thresholds use. It may be set once, before any question.
    """

    folds: IntArray | None = None

    def __init__(self, y_true: Any, scores: Any, pos_label: Any = None, sample_weight: Any = None) -> None:
        columns = columns_of("scores", scores)
        if not columns:
            raise InputError("`scores` must have at least one classifier, got 0")
        self.names = tuple(check_name("scores", name) for name in columns)
        self.positive, self.scores, self.weights = checked_rows(y_true, columns, pos_label, sample_weight)
        self._rocs: dict[tuple[str, str], RocCurve] = {}

    def some(self, kept: BoolArray | IntArray) -> Rows:
        """Return some of the rows."""
        part = Rows.__new__(Rows)
        part.names, part._rocs = self.names, {}
        part.positive, part.scores = self.positive[kept], {name: s[kept] for name, s in self.scores.items()}
        part.weights = None if self.weights is None else self.weights[kept]
        part.folds = None if self.folds is None else self.folds[kept]
        return part

    def with_twin(self, name: str, twin: str) -> Rows:
        """Return the rows with the scores of one classifier under a second name as well."""
        more = copy.copy(self)
        more.names, more.scores = (*self.names, twin), {**self.scores, twin: self.scores[name]}
        more._rocs = dict(self._rocs)
        return more

    def owned(self) -> Rows:
        """Return the rows with arrays of their own, which nobody else can change."""
        self.scores = {name: _own(values) for name, values in self.scores.items()}
        self.weights = None if self.weights is None else _own(self.weights)
        return self

    def with_weight(self) -> Rows:
        """Return the rows without those of weight 0, which say nothing; their curves are the same."""
        if self.weights is None or self.weights.all():
            return self
        part = self.some(self.weights > 0)
        part._rocs = self._rocs
        return part

    def with_all_points(self) -> Rows:
        """Return the rows with every point of each classifier's curve counted, for a question that needs them all."""
        for name in self.names:
            self.roc(name, "all")
        return self

    def few(self) -> bool:
        """Return whether all points of a curve are kept."""
        return self.positive.size <= MANY

    def rows(self) -> Rows:
        """Return the rows themselves."""
        return self

    def roc(self, name: str, points: str = "hull") -> RocCurve:
        """Return the ROC curve of one classifier; its scores are counted once, unless they are very many.

        Of very many scores the hull is counted without the other points, which takes a fraction of the time.
        """
        if (name, points) not in self._rocs:
            if points == "hull" and (self.few() or (name, "all") in self._rocs):
                self._rocs[name, points] = self.roc(name, "all").on_hull()
            else:
                self._rocs[name, points] = RocCurve.of_checked(
                    self.positive, self.scores[name], self.weights, name=name, points=points
                )
        return self._rocs[name, points]

    def curve(self, name: str, rule: Policy) -> CostCurve:
        """Return the cost curve of one classifier under a policy."""
        # All points of few rows are counted anyway, and limits follow from them.
        roc = self.roc(name, "all" if rule.needs_all_points or self.few() else "hull")
        return CostCurve(roc, rule.for_cases(self.positive, self.scores[name], self.weights, self.folds))

    def paired(self, a: CostCurve, b: CostCurve, pc: FloatArray, *, simultaneous: bool) -> Paired:
        """Return what only one of two classifiers gets wrong; with ranges at the points `pc` if `simultaneous`."""
        at_points = self._alone(a, b, pc, ranges=True) if simultaneous else None
        return Paired(self._steps(a, b), at_points, self.weights is not None)

    def co_errors(self, curves: Sequence[CostCurve], sample: Sequence[CostCurve], pc: FloatArray) -> CoErrors:
        """Return the counts of all pairs of classifiers, and the co-errors of a sample of them at points `pc`."""
        changes = [first_positive_point(one.name, self.scores[one.name], one.cuts_at(pc))[0] for one in sample]
        both = []
        for which, mask in (("positive", self.positive), ("negative", ~self.positive)):
            weights = None if self.weights is None else self.weights[mask]
            both.append(co_errors_of_changes(which, [change[mask] for change in changes], pc.size, weights))
        self.owned()  # pairs are counted when they are asked for
        if self.weights is not None:
            pairs = AllPairs(curves, self._steps, weighted=True)
        else:
            pairs = PairsInMemory(curves, self._steps, self.positive, self.scores)
        return CoErrors(pairs, (both[0], both[1]))

    def _steps(self, a: CostCurve, b: CostCurve) -> PairedSteps:
        breaks = common_breaks(a, b)
        within = middles(breaks)
        known = a.trivial_at(within) & b.trivial_at(within)
        return PairedSteps(breaks, known, *self._alone(a, b, within, ranges=False))

    def _alone(self, a: CostCurve, b: CostCurve, pc: FloatArray, *, ranges: bool) -> tuple[PairedCounts, PairedCounts]:
        """Return the positives and the negatives that only one classifier gets wrong at some operating points."""
        cuts = a.cuts_at(pc), b.cuts_at(pc)
        if self.weights is None and not ranges:
            return counts_of_both(self.positive, self.scores[a.name], self.scores[b.name], *cuts)
        pos, neg = (
            paired_counts(
                true_class,
                self.scores[a.name].take(members),
                self.scores[b.name].take(members),
                *cuts,
                weights=None if self.weights is None else self.weights.take(members),
                ranges=ranges,
            )
            for true_class, members in (
                ("positive", np.flatnonzero(self.positive)),
                ("negative", np.flatnonzero(~self.positive)),
            )
        )
        return pos, neg


def _own(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the values in an array that nobody can change."""
    if values.flags.owndata and not values.flags.writeable:
        return values
    return frozen(values.copy())


def _refuse_shared_validation(policy: Any, instead: str) -> None:
    """Refuse thresholds found on one classifier's scores for another, whose scores mean something else."""
    if isinstance(policy, Policy) and policy.of_one_classifier:
        raise InputError(f"`policy` must not give one classifier's thresholds to all, got {policy!r}: pass {instead}")


def two_policies(policy: Any) -> tuple[Any, Any]:
    """Return the policy of each of two classifiers."""
    _refuse_shared_validation(policy, "a pair of policies, one for each")
    if isinstance(policy, (tuple, list)):
        if len(policy) != 2:
            raise InputError(f"`policy` must be one policy or a pair of them, got {len(policy)}")
        return policy[0], policy[1]
    return policy, policy


def named_policies(policy: Any, names: Sequence[str]) -> Mapping[str, Any]:
    """Return the policy of each of several classifiers."""
    _refuse_shared_validation(policy, "a mapping of name to policy")
    rules = policy if isinstance(policy, Mapping) else dict.fromkeys(names, policy)
    if missing := [name for name in names if name not in rules]:
        raise InputError(f"`policy` must have an entry for every classifier, got none for {', '.join(missing)}")
    if unknown := [name for name in rules if name not in names]:
        raise InputError(f"`policy` must have entries for {', '.join(names)} only, got one for {shown(unknown[0])}")
    return rules


def refuse_cross_fitting(policy: Any) -> None:
    """Refuse cross-fitted thresholds where an answer allows for the choice of the threshold by itself."""
    rules = policy.values() if isinstance(policy, Mapping) else [policy]
    if any(as_policy(rule).cross_fits for rule in rules):
        raise InputError(
            "`policy` must be 'optimal' for a recommendation, which already says what its threshold will cost on new "
            "cases, got 'crossfit': its curve is CostCurve.from_predictions(..., policy='crossfit')"
        )
