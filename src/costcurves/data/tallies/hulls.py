"""The exact hull of data that are read in several passes, in bounded memory and without sorting them.

The first pass counts scores in bins. A bin can hold a vertex only if its upper-left corner lies strictly above the hull
of the boundaries of the bins, or if it ends at a vertex of that hull. The next pass looks only at the members of such
bins: it gathers them if they are few, and otherwise divides their bins further.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError, UnsupportedError
from costcurves._base.validation import Column, check_flag, check_integer, check_name
from costcurves.counting import counts
from costcurves.counting.class_labels import Label
from costcurves.counting.keys import FLOATS, scores_of_keys
from costcurves.curves.roc import RocCurve
from costcurves.data.tallies.base import Batches, State, Tally, locked, no_examples
from costcurves.data.tallies.bin_table import BinTable
from costcurves.data.tallies.bins import (
    SOME_TIES,
    ScoreBins,
    check_layout,
    check_resolution,
    float_scores,
    same_layout,
    share_of_distinct,
)
from costcurves.data.tallies.distinct import Examples
from costcurves.data.tallies.finer_bins import Finer, Held, Members
from costcurves.data.tallies.key_ranges import Chain
from costcurves.data.tallies.weight_sums import WeightSums

Array = npt.NDArray[Any]
Counted = BinTable | Held | Finer | Members | WeightSums

RESOLUTION = 1 << 20
MEMBERS = 1 << 22


class HullTally(Tally):
    """One pass over data in batches, towards the exact hull of their ROC curve in bounded memory.

    Read all batches into the tally; as long as it is not `finished`, read them all again into its `next_pass`. Usually
    two passes are enough. In each, parts of the data can be counted separately, in tallies made by `empty`, and merged.

    Parameters
    ----------
    pos_label : label, optional
        As for `RocCurve.from_predictions`.
    bins : ScoreBins, optional
        The layout of the first pass. If it is made from a sample of the scores (`ScoreBins.from_sample`), less is left
        for the second pass; the result does not depend on it.
    resolution : int
        The largest number of bins, from 2**14 to 2**26, if no layout is given, and in passes that divide bins further.
    dtype : {"float32", "float64"}, optional
        The type of the scores, by default that of the first batch; float64 holds scores of any type.
    members : int
        The largest number of examples to gather in a pass. If bins that may hold vertices have more, these bins are
        divided further first.
    ties : bool
        Whether scores have many ties. Bins then remember their score as long as they have a single one, and one pass
        may be enough; with few ties this takes longer.
    hold : int
        The largest number of examples to keep as they are in the first pass. If there are no more, one pass is enough,
        and a tally of few examples takes little memory, which helps with very many groups of the data. With weights, it
        is the largest number of distinct scores whose sums of weights are kept, in every pass.

    Notes
    -----
    The result equals ``RocCurve.from_predictions(..., points="hull")`` bit for bit, for any batches and any order of
    merging. It needs at most 10 bytes per bin (19 with ties), and the bytes of a score per gathered example. `update`
    and `merge` change the tally and return it. With integer weights (if the sum of their squares is at most 2**53) the
    result has the same bits too; with other weights it agrees up to rounding, and a vertex that differs from the next
    edge by no more than rounding may be missing. A pass with weights takes 24 bytes per bin and 24 per kept score.

    Examples
    --------
    >>> import costcurves as cc
    >>> batches = [([0, 1], [0.1, 0.35]), ([0, 1], [0.4, 0.8])]
    >>> tally = cc.HullTally()
    >>> for y_true, y_score in batches:
    ...     tally = tally.update(y_true, y_score)
    >>> while not tally.finished:
    ...     tally = tally.next_pass()
    ...     for y_true, y_score in batches:
    ...         tally = tally.update(y_true, y_score)
    >>> tally.to_roc_curve(name="forest").thresholds
    array([ inf, 0.8 , 0.35, 0.1 ])
    >>> tally.passes
    2
    """

    def __init__(
        self,
        *,
        pos_label: Label | None = None,
        bins: ScoreBins | None = None,
        resolution: int = RESOLUTION,
        dtype: str | None = None,
        members: int = MEMBERS,
        ties: bool = False,
        hold: int = 0,
    ) -> None:
        self._batches = Batches(pos_label)
        self._resolution = check_resolution(resolution)
        self._dtype = check_layout(bins, dtype)
        self._bins = bins
        self._most = check_integer("members", members, 1)
        self._ties = check_flag("ties", ties)
        self._hold = check_integer("hold", hold, 0)
        self._before: Chain | None = None  # what earlier passes found
        self._passes = 1
        self._counted: Counted | None = None
        self._after: Chain | None = None
        self._examples = Examples()

    @property
    def passes(self) -> int:
        """The number of this pass, counted from 1."""
        return self._passes

    @property
    def kind(self) -> str:
        """What the pass does: "bins" in the first, then "finer bins" or "members"; "weights" if there are weights."""
        if self._batches.weighted:
            return "weights"
        if self._before is None:
            return "bins"
        return "members" if self._before.left <= self._most else "finer bins"

    @property
    @locked
    def finished(self) -> bool:
        """Whether the hull is known after this pass."""
        return isinstance(self._counted, Held) or not self._chain().open.size

    @property
    @locked
    def left(self) -> int:
        """How many examples, or examples of what weight, another pass would have to look at."""
        return self._chain().left

    @locked
    def update(self, y_true: Column, y_score: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> HullTally:
        """Count a batch of labels and scores in this pass, and return the tally."""
        batch = self._batches.read(y_true, {"y_score": y_score}, sample_weight)
        if batch is None:
            return self
        positive, (scores,) = batch.positive, batch.scores
        bins = self._bins
        if bins is None:
            dtype = self._dtype or str(float_scores(scores[:1]).dtype)
            bins = ScoreBins.universal(dtype, self._resolution)
        scores = bins.accept(scores)
        self._bins, self._batches = bins, batch.batches
        self._after = None
        if batch.weights is not None:
            self._examples = self._examples.added(positive, batch.weights)
        self._table().add(positive, scores, *([] if batch.weights is None else [batch.weights]))
        self._spill()
        return self

    def _merge(self, other: HullTally) -> None:
        if self._passes != other._passes or not self._same_start(other):
            raise InputError(
                f"`other` must be of the same pass over the same data (make it with `empty`), "
                f"got pass {other._passes} and {self._passes}"
            )
        bins, batches = same_layout(self._bins, other._bins), self._batches.joined(other._batches)
        self._bins, self._batches = bins, batches
        self._examples = self._examples.joined(other._examples)
        self._after = None
        if other._counted is None:
            return
        if isinstance(other._counted, BinTable):
            self._spill(always=True)
        mine = self._table()
        if isinstance(mine, BinTable) and isinstance(other._counted, Held):
            other._counted.add_to(mine)
        else:
            mine.merge(other._counted)  # type: ignore[arg-type]
            self._spill()

    @locked
    def empty(self) -> HullTally:
        """Make an empty tally of the same pass for another part of the data, to be merged later."""
        return self._like(self._before, self._passes)

    @locked
    def laid_out(self, scores: npt.ArrayLike) -> HullTally:
        """Return an empty tally whose bins suit a sample of the scores; this tally if it already has bins.

        The result is the same for any bins, but with suitable ones less is left for the next pass.
        """
        if self._bins is not None:
            return self
        sample = float_scores(counts.checked_scores(scores, "scores"))
        if self._dtype is not None:
            sample = sample.astype(FLOATS[self._dtype][0], copy=False)
        tally = self.empty()
        tally._bins = ScoreBins.from_sample(sample, self._resolution)
        tally._dtype = tally._bins.dtype
        tally._ties = share_of_distinct(sample) <= SOME_TIES
        return tally

    @locked
    def next_pass(self) -> HullTally:
        """Make the empty tally of the next pass, which needs all batches once more."""
        if self.finished:
            raise UnsupportedError("`next_pass` must not follow a finished tally: its hull is known")
        return self._like(self._chain(), self._passes + 1)

    @locked
    def to_roc_curve(self, *, name: str = "classifier") -> RocCurve:
        """Make the ROC curve with the vertices of its hull, as ``RocCurve.from_predictions(points="hull")`` does."""
        name = check_name("name", name)
        if isinstance(self._counted, Held):
            every = self._counted.counts()
            counts.check_totals(int(every.tp[-1]), int(every.fp[-1]))
            return RocCurve._from_counts(every.on_hull(), name=name, effective=None, complete=False)
        chain = self._chain()
        effective = None
        if self._batches.weighted:
            effective = self._examples.effective(float(chain.neg.sum()), float(chain.pos.sum()), weighted=True)
        else:
            counts.check_totals(int(chain.pos.sum()), int(chain.neg.sum()))
        if chain.open.size:
            raise UnsupportedError(
                f"`to_roc_curve` needs a finished tally, got {chain.left} examples left to look at: "
                "read all batches into next_pass() first"
            )
        assert self._bins is not None
        thresholds = scores_of_keys(chain.low, self._bins.dtype)
        table = counts.cumulated(thresholds, chain.neg, chain.pos)
        if effective is not None:  # rounded sums must not make a vertex of the end of a part whose scores are not known
            table = table.at(np.flatnonzero(np.append(True, chain.shift == 0)))
        return RocCurve._from_counts(table.on_hull(), name=name, effective=effective, complete=False)

    def _like(self, before: Chain | None, passes: int) -> HullTally:
        tally = HullTally(
            pos_label=self._batches.rule.pos_label,
            bins=self._bins,
            resolution=self._resolution,
            dtype=self._dtype,
            members=self._most,
            ties=self._ties,
            hold=self._hold,
        )
        tally._before, tally._passes = before, passes
        if before is not None:
            tally._batches = tally._batches.joined(self._batches)
        return tally

    def _same_start(self, other: HullTally) -> bool:
        if self._before is None or other._before is None:
            return self._before is other._before
        return self._before is other._before or self._before.same(other._before)

    def _table(self) -> Counted:
        if self._counted is None:
            assert self._bins is not None
            if self._batches.weighted:
                self._counted = WeightSums(self._bins, self._before, self._resolution, self._hold)
            elif self._before is None:
                self._counted = Held(self._bins) if self._hold else BinTable(self._bins, ties=self._ties)
            elif self.kind == "members":
                self._counted = Members(self._bins, self._before)
            else:
                self._counted = Finer(self._bins, self._before, self._resolution)
        return self._counted

    def _spill(self, always: bool = False) -> None:
        """Count the held examples in bins if there are too many to hold."""
        held = self._table()
        if isinstance(held, Held) and (always or held.size > self._hold):
            assert self._bins is not None
            self._counted = BinTable(self._bins, ties=self._ties)
            held.add_to(self._counted)

    def _chain(self) -> Chain:
        """Return what is known after this pass."""
        if self._after is None:
            if self._bins is None:
                raise no_examples()
            table = self._table()
            if isinstance(table, BinTable):
                chain = Chain.of_bins(table)
            elif isinstance(table, Held):
                chain = table.chain()
            elif isinstance(table, WeightSums):
                chain = table.chain(self._before)
            else:
                assert self._before is not None
                chain = table.refined(self._before)
            self._after = chain.reduced()
        return self._after

    def _state(self) -> State:
        plain = {
            **self._batches.state(),
            "resolution": self._resolution,
            "dtype": self._dtype if self._bins is None else self._bins.dtype,
            "members": self._most,
            "ties": self._ties,
            "hold": self._hold,
            "passes": self._passes,
            "counted": self._counted is not None,
            "whole": self._examples.whole,
        }
        arrays = self._examples.state()
        if self._bins is not None:
            arrays["shifts"] = self._bins.shifts
        if self._before is not None:
            arrays |= self._before.state()
        if self._counted is not None:
            arrays |= self._counted.state()
        return plain, arrays

    @classmethod
    def _restored(cls, plain: dict[str, Any], arrays: dict[str, Array]) -> HullTally:
        bins = ScoreBins(plain["dtype"], arrays["shifts"]) if "shifts" in arrays else None
        options = {name: plain[name] for name in ("resolution", "dtype", "members", "ties", "hold")}
        tally = cls(bins=bins, **options)
        tally._batches = Batches.restored(plain)
        tally._examples = Examples.restored(plain["whole"], arrays)
        tally._passes = check_integer("passes", plain["passes"], 1)
        if "before_low" in arrays:
            tally._before = Chain.restored(arrays, tally._bins)
        if plain["counted"]:
            if tally._before is None and bins is not None and "place" in arrays and not tally._batches.weighted:
                tally._counted = BinTable.restored(bins.dtype, arrays)
            else:
                tally._table().fill(arrays)
        return tally

    def __repr__(self) -> str:
        return f"HullTally(pass {self._passes}: {self.kind}, {self._bins or 'nothing counted'})"
