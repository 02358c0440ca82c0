"""Examples that are read in batches, as often as necessary: the counts of each pass, for any reader, and the answers.

A reader has one method, ``run(counts)``. It reads all of the data once, passes every batch to ``counts.update``, and
returns the counts. Parts of the data may be read by threads or by the tasks of a cluster, each into its own
``counts.empty()``, and merged by ``counts.merge(part)`` in any order. Counts can be pickled. The functions of this
module decide how often to run a reader, and compute results from the counts, which equal those of arrays in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, takewhile
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, UnsupportedError
from costcurves._base.validation import BoolArray, FloatArray, shown
from costcurves.counting.labels import LabelRule
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.policy import Policy
from costcurves.curves.roc import RocCurve
from costcurves.data.batches import Batch, Coded, about_column
from costcurves.data.tallies.bins import ScoreBins
from costcurves.data.tallies.confusion import ConfusionTally
from costcurves.data.tallies.distinct import MOST_DISTINCT
from costcurves.data.tallies.hulls import MEMBERS, HullTally
from costcurves.data.tallies.pairs import PairedTally
from costcurves.data.tallies.scores import ScoreTally
from costcurves.decisions.all_pairs import AllPairs, PairedSteps
from costcurves.decisions.rows import MANY, CoErrors, Paired, Rows
from costcurves.inference.family import co_errors_of_cells

Array = npt.NDArray[Any]

# The rows of a group are kept as they are as long as that takes less memory than bins.
GROUP_BINS, GROUP_ROWS = 1 << 18, 1 << 19
MOST_SUMS = 1 << 20  # scores whose sums of weights a part of the data holds, for all classifiers together
MOST_WAITING = 1 << 24  # rows that wait to be divided among groups


class Counts(Protocol):
    """Counts that a reader fills. After an error they cannot be used any more."""

    @property
    def ordered(self) -> bool:
        """Whether the counts depend, within their error, on the order of batches and on how they are divided."""

    def empty(self) -> Self:
        """Return empty counts of the same pass for another part of the data."""

    def update(self, batch: Batch) -> object:
        """Count a batch."""

    def merge(self, other: Self) -> object:
        """Add the counts of another part of the data."""


C = TypeVar("C", bound=Counts)


class Reader(Protocol):
    """Data that can be read as often as needed."""

    def run(self, counts: C) -> C:
        """Read all batches once into `counts` or into parts made by its `empty`, and return the merged counts."""


@dataclass(slots=True, eq=False)
class CurveCounts:
    """The scores of several classifiers, with one tally each. The labels are checked once for all of them."""

    tallies: dict[str, ScoreTally | HullTally]
    rule: LabelRule = field(default_factory=LabelRule)
    weighted: bool = False

    @property
    def ordered(self) -> bool:
        """Whether weights are added, whose sums depend on the order, or scores counted in bins that adapt to them."""
        return self.weighted or any(isinstance(tally, ScoreTally) and tally.adaptive for tally in self.tallies.values())

    def empty(self) -> CurveCounts:
        """Return empty counts of the same pass."""
        return self._with({name: tally.empty() for name, tally in self.tallies.items()})

    def _with(self, tallies: dict[str, Any]) -> CurveCounts:
        """Return counts of other tallies, with the same positive label, to which no labels have been added yet."""
        return CurveCounts(tallies, LabelRule(self.rule.pos_label), self.weighted)

    def laid_out(self, batch: Batch) -> CurveCounts:
        """Return empty counts of the same pass, with bins that suit a batch."""
        tallies: dict[str, ScoreTally | HullTally] = {}
        for name, tally in self.tallies.items():
            with about_column(name, "scores"):
                tallies[name] = tally.laid_out(batch.columns[name]) if isinstance(tally, HullTally) else tally
        return CurveCounts(tallies, self.rule, self.weighted).empty()

    def update(self, batch: Batch) -> None:
        """Count a batch."""
        if len(batch.label) == 0:
            return
        positive = _positives(self.rule, batch.label)
        for name, tally in self.tallies.items():
            with about_column(name, "y_score"):
                tally.update(positive, batch.columns[name], batch.weight)

    def add_distinct(self, name: str, label: Any, scores: Any, times: Any) -> None:
        """Count examples of one classifier, each of which is given once with its number of occurrences."""
        tally = self.tallies[name]
        assert isinstance(tally, ScoreTally)
        with about_column(name, "y_score"):
            tally.update_distinct(_positives(self.rule, label), scores, times)

    def merge(self, other: CurveCounts) -> None:
        """Add the counts of another part of the data."""
        self.rule.join(other.rule)
        for name, tally in self.tallies.items():
            tally.merge(other.tallies[name])  # type: ignore[arg-type]

    def unfinished(self) -> CurveCounts | None:
        """Return the empty counts of the next pass, or None if all hulls are known."""
        left = {
            name: tally.next_pass()
            for name, tally in self.tallies.items()
            if isinstance(tally, HullTally) and not tally.finished
        }
        return self._with(dict(left)) if left else None

    def curves(self, points: str) -> dict[str, RocCurve]:
        """Return the curves that are known so far."""
        return {
            name: tally.to_roc_curve(name=name)
            if isinstance(tally, HullTally)
            else tally.to_roc_curve(name=name, points=points)
            for name, tally in self.tallies.items()
            if not isinstance(tally, HullTally) or tally.finished
        }


@dataclass(slots=True, eq=False)
class PairCounts:
    """Pairs of classifiers on the same examples, with one tally each. The labels are checked once for all of them."""

    tallies: dict[tuple[str, str], PairedTally]
    rule: LabelRule = field(default_factory=LabelRule)

    @property
    def ordered(self) -> bool:
        """Always False, because counts of pairs do not depend on the order."""
        return False

    def empty(self) -> PairCounts:
        """Return empty counts of the same pairs."""
        tallies = {pair: tally.empty() for pair, tally in self.tallies.items()}
        return PairCounts(tallies, LabelRule(self.rule.pos_label))

    def update(self, batch: Batch) -> None:
        """Count a batch."""
        if len(batch.label) == 0:
            return
        positive = _positives(self.rule, batch.label)
        for (a, b), tally in self.tallies.items():
            with about_column(a, "score_a"), about_column(b, "score_b"):
                tally.update(positive, batch.columns[a], batch.columns[b], batch.weight)

    def merge(self, other: PairCounts) -> None:
        """Add the counts of another part of the data."""
        self.rule.join(other.rule)
        for pair, tally in self.tallies.items():
            tally.merge(other.tallies[pair])


@dataclass(slots=True, eq=False)
class TableCounts:
    """Confusion tables of one column of predictions or of two columns jointly, by the names of the columns."""

    tallies: dict[tuple[str, ...], ConfusionTally]

    @property
    def ordered(self) -> bool:
        """Always False, because tables do not depend on the order."""
        return False

    def empty(self) -> TableCounts:
        """Return empty counts of the same tables."""
        return TableCounts({names: tally.empty() for names, tally in self.tallies.items()})

    def update(self, batch: Batch) -> None:
        """Count a batch."""
        for names, tally in self.tallies.items():
            with about_column(names[0], "y_pred"), about_column(names[-1], "other"):
                tally.update(batch.label, *(batch.columns[name] for name in names))

    def merge(self, other: TableCounts) -> None:
        """Add the counts of another part of the data."""
        for names, tally in self.tallies.items():
            tally.merge(other.tallies[names])


@dataclass(slots=True, eq=False)
class GroupCounts:
    """Separate counts for each group. Groups are found in the first pass. Later passes skip finished groups.

    With very many groups, a batch has few rows of each. So batches wait until there are many rows, which are then
    divided among the groups at once.
    """

    fresh: CurveCounts | None
    _parts: dict[Hashable, CurveCounts] = field(default_factory=dict)
    _waiting: list[Batch] = field(default_factory=list)

    @property
    def parts(self) -> dict[Hashable, CurveCounts]:
        """The counts of each group."""
        while self._waiting:
            alike = list(takewhile(lambda batch: batch.kinds == self._waiting[0].kinds, self._waiting))
            del self._waiting[: len(alike)]
            joined = Batch.joined(alike)
            alike.clear()  # before the groups take memory
            for group, rows in rows_of_groups(joined.group):
                part = self._part(group)
                if part is not None:
                    part.update(joined.at(rows))
        return self._parts

    @property
    def ordered(self) -> bool:
        """Whether scores are counted in bins that adapt to the data."""
        return any(part.ordered for part in (self.fresh, *self._parts.values()) if part is not None)

    def empty(self) -> GroupCounts:
        """Return empty counts of the same pass."""
        return GroupCounts(self.fresh, {group: part.empty() for group, part in self.parts.items()})

    def update(self, batch: Batch) -> None:
        """Count a batch."""
        self._wait([batch.compact()])

    def merge(self, other: GroupCounts) -> None:
        """Add the counts of another part of the data."""
        for group, part in other._parts.items():
            mine = self._part(group)
            if mine is not None:
                mine.merge(part)
        self._wait(other._waiting)

    def _wait(self, batches: list[Batch]) -> None:
        self._waiting += batches
        if sum(len(batch.label) for batch in self._waiting) > MOST_WAITING:
            _ = self.parts

    def _part(self, group: Hashable) -> CurveCounts | None:
        if group not in self._parts and self.fresh is not None:
            self._parts[group] = self.fresh.empty()
        return self._parts.get(group)

    def unfinished(self) -> GroupCounts | None:
        """Return the empty counts of the next pass, or None if all hulls of all groups are known."""
        left = {group: part.unfinished() for group, part in self.parts.items()}
        parts: dict[Hashable, CurveCounts] = {group: part for group, part in left.items() if part is not None}
        return GroupCounts(None, parts) if parts else None


def rows_of_groups(group: Any) -> list[tuple[Hashable, Array]]:
    """Find the distinct values of a column of groups and the rows of each."""
    if isinstance(group, Coded):
        return _split(group.values, group.codes)
    values = np.asarray(group)
    try:
        distinct, place = np.unique(values, return_inverse=True)
    except TypeError:
        raise DataError(f"`group` must hold values of one type, got {shown(values[:5].tolist())}") from None
    return _split(distinct.tolist(), place)


def _split(values: list[Any], place: Array) -> list[tuple[Hashable, Array]]:
    """Find the rows of each value that occurs, in their order."""
    small = place.astype(np.uint16, copy=False) if len(values) < 2**16 else place  # which NumPy sorts by radix
    order = np.argsort(small, kind="stable")
    rows = np.bincount(small, minlength=len(values))
    ends = np.cumsum(rows)
    return [(values[i], order[ends[i] - rows[i] : ends[i]]) for i in np.flatnonzero(rows).tolist()]


def _positives(rule: LabelRule, label: Any) -> BoolArray:
    """Mark the positive labels. If labels are coded, only the values that occur are checked."""
    if not isinstance(label, Coded):
        return rule.positives(label)
    present = np.unique(label.codes)
    positive = np.zeros(len(label.values), np.bool_)
    positive[present] = rule.positives(Coded(present, label.values).decoded())
    result: BoolArray = positive[label.codes]
    return result


def curve_counts(
    names: Sequence[str],
    *,
    pos_label: Any = None,
    resolution: int | None = None,
    bins: Mapping[str, ScoreBins] | None = None,
    tied: Collection[str] = (),
    weighted: bool = False,
    points: str = "hull",
    dtype: str | Mapping[str, str] | None = None,
    members: int = MEMBERS,
    limit: int = MOST_DISTINCT,
    grouped: bool = False,
) -> CurveCounts:
    """Make the counts of a first pass, from which the ROC curves of several score columns are found.

    Parameters
    ----------
    names : sequence of str
        The columns.
    resolution : int, optional
        The largest number of bins. If given, one pass and bounded memory are enough, and curves state their largest
        error. Otherwise curves are exact.
    bins : mapping of name to ScoreBins, optional
        Layouts made from a sample, for those columns that have one. They make exact curves faster.
    tied : collection of str
        The columns whose scores have many ties.
    weighted : bool
        Whether batches have weights.
    points : {"hull", "all"}
        ``"all"`` holds all distinct scores in memory, at most `limit`.
    dtype : str, or mapping of name to str, optional
    members, limit
        As for `HullTally` and `ScoreTally`.
    grouped : bool
        Whether the counts are made for each of possibly very many groups.
    """
    layouts = bins or {}

    def tally(name: str) -> ScoreTally | HullTally:
        layout = layouts.get(name)
        given = dtype if dtype is None or isinstance(dtype, str) else dtype.get(name)
        own = None if layout is not None else given
        if resolution is not None:
            return ScoreTally(resolution=resolution)
        if points == "all":
            return ScoreTally(limit=limit)
        if grouped:
            return HullTally(dtype=given, members=members, resolution=GROUP_BINS, hold=GROUP_ROWS)
        if weighted:
            return HullTally(bins=layout, dtype=own, hold=MOST_SUMS // len(names))
        return HullTally(bins=layout, dtype=own, members=members, ties=name in tied)

    return CurveCounts({name: tally(name) for name in names}, LabelRule(pos_label), weighted)


@contextmanager
def in_memory(most: int, instead: str) -> Iterator[None]:
    """Say what to do instead if there are more distinct scores than may be held in memory."""
    try:
        yield
    except UnsupportedError as error:
        if "distinct scores" not in str(error):
            raise
        raise UnsupportedError(
            f"`points='all'` must hold all distinct scores in memory, got more than {most}: use {instead}"
        ) from None


def find_curves(reader: Reader, counts: CurveCounts, *, points: str = "hull") -> dict[str, RocCurve]:
    """Find the curves of all classifiers, reading the data as often as necessary, which is usually once or twice."""
    names = list(counts.tallies)
    found: dict[str, RocCurve] = {}
    left: CurveCounts | None = counts
    while left is not None:
        counted = reader.run(left)
        found |= counted.curves(points)
        left = counted.unfinished()
    return {name: found[name] for name in names}


def find_group_curves(
    reader: Reader, counts: CurveCounts, *, points: str = "hull"
) -> dict[Hashable, dict[str, RocCurve]]:
    """Find the curves of every group, in the order of the groups."""
    names = list(counts.tallies)
    found: dict[Hashable, dict[str, RocCurve]] = {}
    left: GroupCounts | None = GroupCounts(counts)
    while left is not None:
        counted = reader.run(left)
        for group, part in counted.parts.items():
            try:
                found.setdefault(group, {}).update(part.curves(points))
            except DataError as error:
                raise DataError(f"{error} (group {shown(group)})") from None
        left = counted.unfinished()
    return {group: {name: found[group][name] for name in names} for group in sorted_groups(found)}


def sorted_groups(groups: Mapping[Hashable, object]) -> list[Any]:
    """Sort the groups."""
    try:
        return sorted(groups)
    except TypeError:
        raise DataError(f"`group` must hold values of one type, got {shown(list(groups)[:5])}") from None


class InPasses(ABC):
    """Labels and scores that are not in memory. Curves are kept after they have been computed.

    Parameters
    ----------
    names : tuple of str
        The columns of scores.
    pos_label : label, optional
    """

    def __init__(self, names: tuple[str, ...], pos_label: Any) -> None:
        self.names, self.pos_label = names, pos_label
        self._rocs: dict[str, dict[str, RocCurve]] = {}

    @property
    @abstractmethod
    def reader(self) -> Reader:
        """The reader of the scores."""

    @abstractmethod
    def find(self, points: str) -> dict[str, RocCurve]:
        """Find the ROC curves of all classifiers, reading the data as often as necessary."""

    @abstractmethod
    def rows(self) -> Rows:
        """Read the examples into memory."""

    def roc(self, name: str, points: str = "hull") -> RocCurve:
        """Return the ROC curve of one classifier. The curves of all classifiers are found at once."""
        if points not in self._rocs:
            self._rocs[points] = self.find(points)
        return self._rocs[points][name]

    def curve(self, name: str, rule: Policy) -> CostCurve:
        """Return the cost curve of one classifier under a policy."""
        points = self.points_for(rule)
        roc = self.roc(name, "all" if points == "hull" and self.few() else points)
        if rule.cross_fits and roc.made_from == "weights":  # which needs the cases, and not only the sums of weights
            return self.rows().curve(name, rule)
        return CostCurve(roc, rule)

    def few(self) -> bool:
        """Return whether all points of a curve are kept, as they are of examples in memory: limits follow from them."""
        roc = self.roc(self.names[0])
        return roc.made_from == "counts" and roc.n_pos + roc.n_neg <= MANY

    def points_for(self, rule: Policy) -> str:
        """Return which points of a ROC curve a policy needs."""
        return "all" if rule.needs_all_points else "hull"

    def paired(self, a: CostCurve, b: CostCurve, pc: FloatArray, *, simultaneous: bool) -> Paired:
        """Count the examples that only one of two classifiers gets wrong, in one pass."""
        return self._pairs([(a, b)], pc)[a.name, b.name].paired(simultaneous=simultaneous)

    def co_errors(self, curves: Sequence[CostCurve], sample: Sequence[CostCurve], pc: FloatArray) -> CoErrors:
        """Count the errors that each pair of classifiers has in common, in one pass."""
        counted = self._pairs(list(combinations(curves, 2)), pc)
        places = list(combinations(range(len(sample)), 2))
        pos, neg = (
            co_errors_of_cells(
                which,
                {(i, j): counted[sample[i].name, sample[j].name].cells(which) for i, j in places},
                len(sample),
                pc.size,
            )
            for which in ("positive", "negative")
        )
        steps = {tally.names: tally.steps() for tally in counted.values()}
        weighted = any(tally.weighted for tally in counted.values())
        return CoErrors(AllPairs(curves, partial(_counted, steps), weighted=weighted), (pos, neg))

    def _pairs(
        self, pairs: Sequence[tuple[CostCurve, CostCurve]], pc: FloatArray
    ) -> dict[tuple[str, str], PairedTally]:
        """Count some pairs of classifiers and return the counts in the given order."""
        tallies = {(a.name, b.name): PairedTally(a, b, pc=pc) for a, b in pairs}
        counted = self.reader.run(PairCounts(tallies, LabelRule(self.pos_label))).tallies
        return {pair: counted[pair] for pair in tallies}


def _counted(steps: Mapping[tuple[str, str], PairedSteps], a: CostCurve, b: CostCurve) -> PairedSteps:
    """Return the steps of two classifiers that were counted before."""
    return steps[a.name, b.name]
