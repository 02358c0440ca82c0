"""Cross-fitting: every case is judged at the threshold that is best without the case's fold, at every pc."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import FewerFoldsWarning, InputError, UnsupportedError, warn
from costcurves._base.validation import BoolArray, FloatArray, IntArray
from costcurves.counting.counts import MANY, ScoreCounts
from costcurves.counting.folds import FoldCounts, case_folds, check_complements, class_sizes, divided, largest_number
from costcurves.curves.policy import AnySteps, CrossSteps, Policy, Steps, best_steps
from costcurves.curves.roc import RocCurve

Array = npt.NDArray[Any]

FOLDS = 5  # unless the data have folds, or a number is given


@dataclass(frozen=True, slots=True, eq=False)
class Crossfit(Policy):
    """Each case is judged at the threshold that is best without its fold."""

    n_folds: int | None = None
    n_repeats: int = 1
    given: tuple[FoldCounts, ...] | None = None  # divisions that the counts at each score do not determine
    cross_fits = True

    def steps(self, roc: RocCurve) -> AnySteps:
        """Return what each fold takes from all others, and the errors of all folds together."""
        if not roc.has_thresholds or roc.made_from == "rates":
            raise UnsupportedError(f"`policy='crossfit'` needs a curve made from scores, got {roc.name!r}")
        if not roc.binned:
            roc.need_all_points("policy='crossfit'")
        deployed = best_steps(roc._known)  # before all points are asked for, those that can be best
        if self.given is not None:
            if not self.given[0].same_cases(roc.thresholds, roc.fp, roc.tp):
                raise InputError(
                    f"`policy` must be of the same cases as the curve {roc.name!r}, got {self!r} of others"
                )
            return cross_fitted_steps(deployed, self.given)
        if roc.made_from == "weights":
            raise UnsupportedError(
                f"`policy='crossfit'` needs the cases themselves if they have weights, got only sums of {roc.name!r}: "
                "use CostCurve.from_predictions(..., sample_weight=..., policy='crossfit')"
            )
        number, many = self._told_number(int(roc.n_pos), int(roc.n_neg)), roc.n_pos + roc.n_neg >= MANY
        known = roc._known if many else roc._every
        divisions = [divided(known.fp, known.tp, number, division) for division in range(self.n_repeats)]

        def near_hulls(ends: ScoreCounts) -> BoolArray:
            near: BoolArray = np.any(
                [FoldCounts.of_counts(ends, one, number).near_hulls() for one in divisions], axis=0
            )
            return near

        points = roc._counts.near(near_hulls) if many else known
        return cross_fitted_steps(deployed, [FoldCounts.of_counts(points, one, number) for one in divisions])

    def for_cases(
        self, positive: BoolArray, scores: Any, weights: FloatArray | None = None, folds: IntArray | None = None
    ) -> Policy:
        """Return the policy with the folds of these cases, where their counts at each score do not determine them."""
        if self._takes(folds) or weights is not None:
            if not self._takes(folds):
                self._told_number(*class_sizes(positive, weights))
            listed = self.folds_of(positive, scores, weights, folds)
            tables = tuple(FoldCounts.of_cases(positive, scores, weights, fold, int(fold.max()) + 1) for fold in listed)
            check_complements(tables[0])
            return replace(self, given=tables)
        return self

    def folds_of(
        self,
        positive: BoolArray,
        scores: Any,
        weights: FloatArray | None = None,
        folds: IntArray | None = None,
    ) -> IntArray:
        """Return the fold of each case in each division, of shape (divisions, cases)."""
        if self._takes(folds):
            return np.asarray(folds)[None]
        number = largest_number(*class_sizes(positive, weights), self.number)
        return case_folds(positive, scores, weights, number, self.n_repeats)

    @property
    def number(self) -> int:
        """How many folds are wanted."""
        return FOLDS if self.n_folds is None else self.n_folds

    def _takes(self, folds: IntArray | None) -> bool:
        """Return whether the folds of the data are used."""
        if self.n_folds is not None or folds is None:
            return False
        if self.n_repeats > 1:
            raise InputError(
                "`n_repeats` must be 1 where the predictions have folds, "
                f"got {self.n_repeats}: give `n_folds` to divide anew"
            )
        return True

    def _told_number(self, n_pos: int, n_neg: int) -> int:
        """Return how many folds there are, and say so if they are fewer than was asked for."""
        found = largest_number(n_pos, n_neg, self.number)
        if found < self.number:
            small = "positive" if n_pos <= n_neg else "negative"
            warn(
                f"thresholds are cross-fitted in {found} folds instead of {self.number}: "
                f"the {small} class has only {found} examples",
                FewerFoldsWarning,
            )
        return found

    @property
    def in_words(self) -> str:
        """What the policy does."""
        return "thresholds of other folds by pc"

    def __repr__(self) -> str:
        given = {"n_folds": self.n_folds, "n_repeats": None if self.n_repeats == 1 else self.n_repeats}
        return f"crossfit({', '.join(f'{name}={value}' for name, value in given.items() if value is not None)})"


def cross_fitted_steps(deployed: Steps, divisions: Sequence[FoldCounts]) -> CrossSteps:
    """Return the steps of cases that are judged, each, at the threshold that is best without its fold.

    Counts subtract: all cases but those of a fold have the counts of all minus those of the fold. So one count serves
    all folds, and each costs the hull of its counts.
    """
    judged = [[_fold_steps(table, k, *points) for k, points in enumerate(table.complements())] for table in divisions]
    every = [one for folds in judged for one in folds]
    breaks = np.unique(np.concatenate([deployed.breaks, *(steps.breaks for steps, _, _ in every)]))
    ends = breaks[1:]  # a step includes its right end
    kind = np.result_type(*(misses.dtype for _, misses, _ in every))
    misses, alarms = np.zeros(ends.size, kind), np.zeros(ends.size, kind)
    low, high = np.full(ends.size, np.inf), np.full(ends.size, -np.inf)
    for steps, missed, alarmed in every:
        at = steps.at(ends)
        misses += missed[at]
        alarms += alarmed[at]
        np.minimum(low, steps.thresholds[at], out=low)
        np.maximum(high, steps.thresholds[at], out=high)
    if len(divisions) > 1:
        misses, alarms = misses / len(divisions), alarms / len(divisions)
    return CrossSteps(
        breaks,
        deployed.thresholds[deployed.at(ends)],
        misses,
        alarms,
        np.isinf(low) & (low == high),
    )


def _fold_steps(table: FoldCounts, k: int, points: IntArray, fp: Array, tp: Array) -> tuple[Steps, Array, Array]:
    """Return the steps that are best without fold k, and the misses and false alarms in the fold on each of them.

    `fp` and `tp` are the counts of the other folds at some points, among which are those of their hull.
    """
    best = best_steps(ScoreCounts(table.thresholds[points], fp, tp))
    index, last = points[best.index], table.thresholds.size - 1
    index[best.thresholds == -np.inf] = last
    own_fp, own_tp = (
        one.inside(k, np.append(index, last), np.append(counts[best.index], counts[-1]))
        for one, counts in ((table.neg, fp), (table.pos, tp))
    )
    return Steps(best.breaks, index, best.thresholds), own_tp[-1] - own_tp[:-1], own_fp[:-1]
