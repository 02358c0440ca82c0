"""What choices of a classifier and a threshold cost on the cases that took no part in them.

The cases are dealt into folds. Each fold is judged by the choice that the other folds make, so that the mean cost over
all folds is that of choices made from nearly all cases, without the optimism of a cost on the same cases. Counts add
up, so a fold is left out by subtraction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import BoolArray, FloatArray, IntArray

FOLDS = 10


def dealt(keys: npt.NDArray[np.uint64], repeats: int) -> IntArray:
    """Return the fold of each case of one class in each repetition, as an array of shape (repeats, cases).

    The folds are of equal size, and depend on the keys alone: cases in another order have the same folds. Cases with
    the same key are exchangeable.
    """
    folds = np.arange(keys.size) % FOLDS
    found = np.empty((repeats, keys.size), dtype=np.int64)
    order = np.argsort(keys, kind="stable")
    rng = np.random.default_rng(20_080_101)
    for row in found:
        row[order] = rng.permutation(folds)
    return found


class FoldCounts(NamedTuple):
    """Cases of one classifier by repetition, fold and cell, for both classes: arrays of shape (repeats, folds, cells).

    A case lies in cell g if its score reaches exactly g of the thresholds.
    """

    positives: FloatArray
    negatives: FloatArray

    @classmethod
    def of(
        cls,
        cells: tuple[IntArray, IntArray],
        folds: tuple[IntArray, IntArray],
        weights: tuple[FloatArray | None, FloatArray | None],
        number: int,
    ) -> FoldCounts:
        """Count the cases of each class (positives first) whose scores reach at most `number` thresholds."""
        tables = []
        for cell, fold, weight in zip(cells, folds, weights, strict=True):
            width = number + 1
            tables.append(
                np.stack(
                    [
                        np.bincount(row * width + cell, weight, FOLDS * width).reshape(FOLDS, width).astype(np.float64)
                        for row in fold
                    ]
                )
            )
        return cls(tables[0], tables[1])


class FoldErrors(NamedTuple):
    """Errors of every threshold, positives first: arrays of shape (repeats, folds, thresholds).

    `others` are those on the other folds, of which `sizes` has the numbers of cases. `own` are those on the fold
    itself, in shares of all cases of their class. `useful` are the thresholds that alarm for some cases of the other
    folds, but not for all.
    """

    others: tuple[FloatArray, FloatArray]
    sizes: tuple[FloatArray, FloatArray]
    own: tuple[FloatArray, FloatArray]
    useful: BoolArray

    @classmethod
    def of(cls, counts: FoldCounts) -> FoldErrors:
        """Count the errors on all folds but one, and on this one."""
        rest = [table.sum(axis=1, keepdims=True) - table for table in counts]
        others = _missed(rest[0]), _false_alarms(rest[1])
        pos, neg = (table.sum(axis=2, keepdims=True) for table in rest)
        totals = [table.sum(axis=(1, 2))[:, None, None] for table in counts]
        own = _missed(counts.positives) / totals[0], _false_alarms(counts.negatives) / totals[1]
        alarms, least = pos - others[0] + others[1], 1e-9 * (pos + neg)
        return cls(others, (pos, neg), own, (alarms > least) & (alarms < pos + neg - least))

    def best_of_others(self, pc: float, only: int | None) -> tuple[FloatArray, FloatArray]:
        """Return the least cost of any threshold on the other folds, and what it costs on the fold itself.

        Both have shape (repeats, folds). The second is in shares of all cases, so that it adds up over the folds.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            cost = pc * self.others[0] / self.sizes[0] + (1 - pc) * self.others[1] / self.sizes[1]
        if only is None:
            cost = np.where(self.useful & np.isfinite(cost), cost, np.inf)
            # Of equal costs the first, also where weights in other units leave other rounding errors.
            best = (cost <= cost.min(axis=2, keepdims=True) + 1e-12).argmax(axis=2)[:, :, None]
        else:
            best = np.full((*cost.shape[:2], 1), only)
        seen = np.take_along_axis(cost, best, axis=2)[:, :, 0]
        missed, false = (np.take_along_axis(own, best, axis=2)[:, :, 0] for own in self.own)
        return np.where(np.isfinite(seen), seen, np.inf), pc * missed + (1 - pc) * false


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Several classifiers' cases in folds.

    Parameters
    ----------
    counts : mapping of name to FoldCounts
    """

    counts: Mapping[str, FoldCounts]

    @cached_property
    def _errors(self) -> dict[str, FoldErrors]:
        """The errors of the classifiers that have thresholds, which are the same at every operating point."""
        return {name: FoldErrors.of(counts) for name, counts in self.counts.items() if counts.positives.shape[2] > 1}

    @cached_property
    def _shares(self) -> list[FloatArray]:
        """The share of the positives and of the negatives that each fold has."""
        first = next(iter(self.counts.values()))
        return [table.sum(axis=2) / table.sum(axis=(1, 2))[:, None] for table in first]

    def costs(self, pc: float, only: Mapping[str, int | None]) -> tuple[float, dict[str, float]]:
        """Return the held-out cost of the best choice of all, and of the best threshold of each classifier.

        Parameters
        ----------
        pc : float
        only : mapping of name to int or None
            Classifiers whose threshold is not chosen here, with its number; None where they alarm never, or always.
            They take part with that threshold alone. A classifier without thresholds does not take part.
        """
        chosen, own = [], {}
        for name, errors in self._errors.items():
            if name in only and only[name] is None:
                continue
            seen, held = errors.best_of_others(pc, only.get(name))
            chosen.append((seen, held))
            own[name] = float(held.sum(axis=1).mean())
        never, always = pc * self._shares[0], (1 - pc) * self._shares[1]
        # Doing nothing, or always alarming, is chosen where no classifier looks cheaper.
        best_seen = np.full(never.shape, min(pc, 1 - pc))
        best_held = never if pc <= 1 - pc else always
        for seen, held in chosen:
            better = seen < best_seen - 1e-12
            best_seen, best_held = np.where(better, seen, best_seen), np.where(better, held, best_held)
        return float(best_held.sum(axis=1).mean()), own


def _missed(table: FloatArray) -> FloatArray:
    """Return the positives that do not reach each threshold."""
    return np.asarray(table.cumsum(axis=2)[:, :, :-1])


def _false_alarms(table: FloatArray) -> FloatArray:
    """Return the negatives that reach each threshold."""
    return np.asarray(table[:, :, ::-1].cumsum(axis=2)[:, :, ::-1][:, :, 1:])
