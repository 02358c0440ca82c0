"""Counts of labels by score from batches: exact, for each distinct score, or in a bounded number of bins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError, UnsupportedError
from costcurves._base.validation import (
    BoolArray,
    Column,
    check_choice,
    check_integer,
    check_name,
    shown,
)
from costcurves.counting import counts
from costcurves.counting.class_labels import Label
from costcurves.counting.geometry import upper_hull
from costcurves.counting.keys import scores_of_keys
from costcurves.curves.cost_function import CostFunction
from costcurves.curves.policy import hull_breaks
from costcurves.curves.roc import RocCurve
from costcurves.data.tallies.adaptive_bins import AdaptiveTable
from costcurves.data.tallies.base import Batches, State, Tally, locked, no_examples
from costcurves.data.tallies.bin_table import BinTable
from costcurves.data.tallies.bins import ScoreBins, check_layout, check_resolution, same_layout
from costcurves.data.tallies.distinct import MOST_DISTINCT, DistinctCounts, Examples

Array = npt.NDArray[Any]

ROUNDING = 2.0**-50


class ScoreTally(Tally):
    """Counts of labels by score from batches, which give the same result in any order of batches and merging.

    Parameters
    ----------
    pos_label : label, optional
        As for `RocCurve.from_predictions`. A batch may hold a single class.
    resolution : int, optional
        The largest number of bins, from 2**14 to 2**26, for bounded memory; the curve then states its largest error.
        The bins follow the data, so that the error is small for any scores and any order of the rows. By default every
        distinct score is counted.
    bins : ScoreBins, optional
        A fixed layout of bins, instead of `resolution`. Tallies to be merged must share it, and its type must hold all
        scores.
    limit : int
        The largest number of distinct scores to hold (24 bytes each) without bins. More are an error, which may be
        raised only by `to_roc_curve`.

    Notes
    -----
    `update` and `merge` change the tally and return it; if they raise an error, the tally stays as it was. Several
    threads may share a tally, but one tally per thread, merged at the end, is faster. Counts are integers, so for any
    split into batches and any order of merging the curve equals that of `RocCurve.from_predictions` bit for bit. So it
    does with integer weights (if the sum of their squares is at most 2**53); sums of other weights agree up to
    rounding, about 1e-15 of the total per addition. With a `resolution` this holds if there are no more distinct scores
    than bins. If there are more, the bins depend on the batches, but it still holds that the costs of the curve are too
    high by at most its `max_error`.

    Examples
    --------
    >>> import costcurves as cc
    >>> first = cc.ScoreTally().update([0, 1], [0.1, 0.35])
    >>> second = cc.ScoreTally().update([0, 1], [0.4, 0.8])
    >>> first.merge(second).to_roc_curve(name="forest")
    RocCurve('forest': 4 examples (2 positive), 5 points, auc=0.75)
    """

    def __init__(
        self,
        *,
        pos_label: Label | None = None,
        resolution: int | None = None,
        bins: ScoreBins | None = None,
        limit: int = MOST_DISTINCT,
    ) -> None:
        self._batches = Batches(pos_label)
        self._resolution = None if resolution is None else check_resolution(resolution)
        check_layout(bins, None)
        if bins is not None and resolution is not None:
            raise InputError("`bins` and `resolution` must not both be given: the bins have their number")
        self._bins = bins
        self._limit = check_integer("limit", limit, 1)
        self._table: BinTable | AdaptiveTable | DistinctCounts | None = None
        self._examples = Examples()

    @property
    def binned(self) -> bool:
        """Whether scores fall into bins."""
        return self._bins is not None or self._resolution is not None

    @property
    def adaptive(self) -> bool:
        """Whether the bins follow the data and so depend on the batches."""
        return self._resolution is not None

    @property
    def n_pos(self) -> int:
        """Positive examples so far."""
        return int(self._examples.n[1])

    @property
    def n_neg(self) -> int:
        """Negative examples so far."""
        return int(self._examples.n[0])

    @locked
    def update(self, y_true: Column, y_score: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> ScoreTally:
        """Count a batch of labels and scores, and return the tally."""
        batch = self._batches.read(y_true, {"y_score": y_score}, sample_weight)
        if batch is None:
            return self
        positive, (scores,), weights = batch.positive, batch.scores, batch.weights
        if self._bins is not None:
            scores = self._bins.accept(scores)
        examples = self._examples.added(positive, weights)
        if weights is not None:
            kept = weights > 0
            positive, scores, weights = positive[kept], scores[kept], weights[kept]
        table = self._filled_table(batch.batches)
        if not isinstance(table, BinTable) and weights is None:
            positive, scores = positive.copy(), scores.copy()  # the caller may use the buffers again
        if scores.size:
            table.add(positive, scores, weights)
        self._examples = examples
        self._table, self._batches = table, batch.batches
        return self

    @locked
    def update_distinct(self, y_true: Column, y_score: npt.ArrayLike, times: npt.ArrayLike) -> ScoreTally:
        """Count pairs of label and score, each with the number of times that it occurs.

        Parameters
        ----------
        y_true, y_score : array-like, shape (n,)
        times : array-like of int, shape (n,)
            How often each pair occurs. This is not a weight: the result is that of as many examples.
        """
        if self.binned or self._batches.weighted:
            raise UnsupportedError("`update_distinct` needs a tally of distinct scores without weights, got another")
        batch = self._batches.read(y_true, {"y_score": y_score})
        if batch is None:
            return self
        positive, (scores,) = batch.positive, batch.scores
        repeats = counts.checked_scores(times, "times")
        counts.same_length("times", repeats, "y_true", positive.size)
        if repeats.dtype.kind not in "iu" or repeats.min() < 1:
            raise DataError(f"`times` must hold integers >= 1, got {shown(repeats[:5].tolist())}")
        table = self._filled_table(batch.batches)
        assert isinstance(table, DistinctCounts)
        table.add_distinct(positive, scores, repeats.astype(np.int64))
        self._examples = self._examples.repeated(int(repeats[~positive].sum()), int(repeats[positive].sum()))
        self._table, self._batches = table, batch.batches
        return self

    def _merge(self, other: ScoreTally) -> None:
        if self.binned != other.binned or self._resolution != other._resolution:
            raise InputError("`other` must have the same resolution to be merged, got another")
        batches = self._batches.joined(other._batches)
        self._bins = same_layout(self._bins, other._bins)
        if other._table is not None:
            table = self._filled_table(batches)
            table.merge(other._table)  # type: ignore[arg-type]
            self._table = table
        self._batches = batches
        self._examples = self._examples.joined(other._examples)

    @locked
    def empty(self) -> ScoreTally:
        """Make an empty tally of the same kind for another part of the data, to be merged later."""
        tally = ScoreTally(pos_label=self._batches.rule.pos_label, resolution=self._resolution, limit=self._limit)
        tally._bins = self._bins
        return tally

    @locked
    def to_roc_curve(self, *, name: str = "classifier", points: str = "all") -> RocCurve:
        """Make the ROC curve of all that was counted or, if scores were binned, its hull with a `max_error`.

        Parameters
        ----------
        name : str
        points : {"all", "hull", "bins"}
            As for `RocCurve.from_predictions`. A binned tally has only the hull or, with ``"bins"``, the boundaries of
            all bins, at which ``policy="crossfit"`` finds its thresholds; without bins, these are all points.

        Notes
        -----
        The lower end of a bin is a threshold, and the counts there are exact: the points of a binned curve lie on the
        true one. Between two of them the true curve stays below the upper-left corner of the bin (fp at its start, tp
        at its end), so the hull of all corners bounds the true hull from above. `max_error` is the largest vertical
        distance of the two lower envelopes in cost space, which is reached at a break of the lower hull. A bin with a
        single score has no such corner; single scores are known if at most 1024 bins hold several scores.
        """
        name = check_name("name", name)
        check_choice("points", points, ("all", "hull", "bins"))
        effective = self._effective()
        if self.binned:
            if self._table is None:
                raise no_examples()
            every, hull, error = self._binned()
            table = every if points == "bins" else hull
            return RocCurve._from_counts(
                table,
                name=name,
                effective=effective,
                complete=False,
                max_error=error,
                binned=points == "bins",
            )
        table = self._exact()
        if points == "hull":
            table = table.on_hull()
        return RocCurve._from_counts(table, name=name, effective=effective, complete=points != "hull")

    def _filled_table(self, batches: Batches) -> BinTable | AdaptiveTable | DistinctCounts:
        """Return the table of what was counted so far, or an empty one for the first batch."""
        if self._table is not None:
            return self._table
        weighted = bool(batches.weighted)
        if self._resolution is not None:
            return AdaptiveTable(self._resolution, weighted)
        if self._bins is not None:
            return BinTable(self._bins, weighted, ties=True)
        return DistinctCounts(weighted, self._limit)

    def _effective(self) -> tuple[float, float] | None:
        """Return the effective sample sizes of weighted data, after checking that there are both classes."""
        return self._examples.effective(*self._sums(), weighted=bool(self._batches.weighted))

    def _sums(self) -> tuple[float, float]:
        if isinstance(self._table, BinTable):
            neg, pos = self._table.table.reshape(-1, 2).sum(axis=0)
        elif isinstance(self._table, AdaptiveTable):
            neg, pos = self._table.ranges.neg.sum(), self._table.ranges.pos.sum()
        elif self._table is not None:
            self._table.settle()
            neg, pos = self._table.neg.sum(), self._table.pos.sum()
        else:
            return 0.0, 0.0
        return float(neg), float(pos)

    def _exact(self) -> counts.ScoreCounts:
        assert isinstance(self._table, DistinctCounts)
        return counts.cumulated(self._table.scores, self._table.neg, self._table.pos)

    def _binned(self) -> tuple[counts.ScoreCounts, counts.ScoreCounts, float]:
        """Return the counts at all boundaries of bins, those of the hull, and the largest error of its cost."""
        if isinstance(self._table, AdaptiveTable):
            ranges = self._table.ranges
            table = counts.cumulated(scores_of_keys(ranges.low[::-1], "float64"), ranges.neg[::-1], ranges.pos[::-1])
            highest = scores_of_keys(ranges.high[::-1], "float64")
            several = (ranges.high > ranges.low)[::-1]
        else:
            assert isinstance(self._table, BinTable)
            bins = self._table.bins
            code, neg, pos = self._table.filled()
            lowest, shift = bins.keys_of(code)
            table = counts.cumulated(scores_of_keys(lowest, bins.dtype), neg, pos)
            highest = scores_of_keys(lowest + ((np.int64(1) << shift) - 1), bins.dtype)
            several = (shift > 0) & ~self._table.single(code)
        # The next lower score is in the next bin, at or below its upper end.
        every = replace(table, below=np.append(highest, -np.inf))
        hull = every.on_hull()
        return every, hull, largest_gap(table, hull, several)

    def _state(self) -> State:
        plain = {
            **self._batches.state(),
            "resolution": self._resolution,
            "dtype": None if self._bins is None else self._bins.dtype,
            "limit": self._limit,
            "whole": self._examples.whole,
            "counted": self._table is not None,
        }
        arrays: dict[str, Array] = self._examples.state()
        if isinstance(self._table, (BinTable, AdaptiveTable)):
            arrays |= self._table.state()
        elif self._bins is not None:
            arrays["shifts"] = self._bins.shifts
        elif self._table is not None:
            arrays |= self._table.state()
        return plain, arrays

    @classmethod
    def _restored(cls, plain: dict[str, Any], arrays: dict[str, Array]) -> ScoreTally:
        bins = ScoreBins(plain["dtype"], arrays["shifts"]) if "shifts" in arrays else None
        tally = cls(resolution=plain["resolution"], limit=plain["limit"])
        tally._batches = Batches.restored(plain)
        tally._bins = bins
        tally._examples = Examples.restored(plain["whole"], arrays)
        if plain["counted"] and bins is not None:
            tally._table = BinTable.restored(plain["dtype"], arrays)
        elif plain["counted"] and tally._resolution is not None:
            tally._table = AdaptiveTable.restored(tally._resolution, bool(plain["weighted"]), arrays)
        elif plain["counted"]:
            tally._table = DistinctCounts.restored(bool(plain["weighted"]), plain["limit"], arrays)
        return tally

    def __repr__(self) -> str:
        how = "exact" if not self.binned else f"{self._bins}" if self._bins else f"at most {self._resolution} bins"
        return f"ScoreTally({self.n_pos + self.n_neg} examples ({self.n_pos} positive), {how})"


def largest_gap(table: counts.ScoreCounts, hull: counts.ScoreCounts, open_bins: BoolArray) -> float:
    """Return the most by which the normalized cost can fall if the scores inside every open bin become known."""
    # The end of each bin comes after its upper-left corner, which adds nothing if the bin is a single score.
    fp, tp = np.repeat(table.fp, 2)[1:], np.repeat(table.tp, 2)[1:]
    fp[1::2] = np.where(open_bins, table.fp[:-1], table.fp[1:])
    new = np.append(True, (np.diff(fp) != 0) | (np.diff(tp) != 0))
    fp, tp = fp[new], tp[new]
    vertex = upper_hull(fp, tp)
    best = _least_cost(fp[vertex], tp[vertex])
    known = _least_cost(hull.fp, hull.tp)
    gap = known.evaluate(known.breaks) - best.evaluate(known.breaks)
    largest = float(gap.max(initial=0.0))
    return min(1.0, largest + ROUNDING) if largest > 0 or open_bins.any() else 0.0


def _least_cost(fp: Array, tp: Array) -> CostFunction:
    """Return the normalized cost of the best vertex of a hull at every pc."""
    table = counts.ScoreCounts(np.full(fp.size, np.nan), fp, tp)
    roc = RocCurve("hull", table, fp[-1].item(), tp[-1].item(), "counts")
    return CostFunction("hull", hull_breaks(fp, tp), roc.fpr, roc.fnr, 0.0)
