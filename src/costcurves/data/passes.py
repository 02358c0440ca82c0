"""What is counted in each pass over data that are read in batches, whoever reads them.

A reader has one method, ``run(counts)``: it reads all of the data once, gives every batch to ``counts.update``, and
returns the counts. Parts of the data may be read elsewhere (threads, tasks of a cluster) into ``counts.empty()`` each,
and merged by ``counts.merge(part)`` in any order; counts can be pickled. The functions here say how often to run, and
what the counts come to.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError
from costcurves._base.validation import BoolArray, shown
from costcurves.counting.labels import LabelRule
from costcurves.curves.roc import RocCurve
from costcurves.data.batches import Batch, Coded, about_column
from costcurves.data.tallies.bins import ScoreBins
from costcurves.data.tallies.confusion import ConfusionTally
from costcurves.data.tallies.hulls import MEMBERS, HullTally
from costcurves.data.tallies.pairs import PairedTally
from costcurves.data.tallies.scores import MOST_DISTINCT, ScoreTally

Array = npt.NDArray[Any]

# Of a group: its rows are held as long as that takes less memory than bins do.
GROUP_BINS, GROUP_ROWS = 1 << 18, 1 << 19


class Counts(Protocol):
    """What a reader fills. After an error the counts are of no further use."""

    @property
    def ordered(self) -> bool:
        """Whether what is counted depends, within its error, on the order of batches and on their parts."""

    def empty(self) -> Self:
        """Return counts of the same pass that have counted nothing, for another part of the data."""

    def update(self, batch: Batch) -> object:
        """Count a batch."""

    def merge(self, other: Self) -> object:
        """Add what was counted of another part."""


C = TypeVar("C", bound=Counts)


class Reader(Protocol):
    """Data that can be read as often as needed."""

    def run(self, counts: C) -> C:
        """Read all batches once into `counts`, or into parts made by its `empty`; return it, or the parts merged."""


@dataclass(slots=True, eq=False)
class CurveCounts:
    """The scores of several classifiers: a tally each, and one check of the labels for all of them."""

    tallies: dict[str, ScoreTally | HullTally]
    rule: LabelRule = field(default_factory=LabelRule)

    @property
    def ordered(self) -> bool:
        """Whether scores fall into bins that follow the data."""
        return any(isinstance(tally, ScoreTally) and tally.adaptive for tally in self.tallies.values())

    def empty(self) -> CurveCounts:
        """Return counts of the same pass that have counted nothing."""
        return CurveCounts({name: tally.empty() for name, tally in self.tallies.items()}, _same_rule(self.rule))

    def laid_out(self, batch: Batch) -> CurveCounts:
        """Return the empty counts of the same pass, with bins that suit a batch of it."""
        tallies: dict[str, ScoreTally | HullTally] = {}
        for name, tally in self.tallies.items():
            with about_column(name, "scores"):
                tallies[name] = tally.laid_out(batch.columns[name]) if isinstance(tally, HullTally) else tally
        return CurveCounts(tallies, self.rule).empty()

    def update(self, batch: Batch) -> None:
        """Count a batch."""
        if len(batch.label) == 0:
            return
        positive = _positives(self.rule, batch.label)
        for name, tally in self.tallies.items():
            with about_column(name, "y_score"):
                if isinstance(tally, HullTally):
                    tally.update(positive, batch.columns[name])
                else:
                    tally.update(positive, batch.columns[name], batch.weight)

    def add_distinct(self, name: str, label: Any, scores: Any, times: Any) -> None:
        """Count examples of one classifier that are given once with how often they occur."""
        tally = self.tallies[name]
        assert isinstance(tally, ScoreTally)
        with about_column(name, "y_score"):
            tally.update_distinct(_positives(self.rule, label), scores, times)

    def merge(self, other: CurveCounts) -> None:
        """Add what was counted of another part."""
        self.rule.join(other.rule)
        for name, tally in self.tallies.items():
            tally.merge(other.tallies[name])  # type: ignore[arg-type]

    def unfinished(self) -> CurveCounts | None:
        """Return the empty counts of the next pass; None where every hull is known."""
        left = {
            name: tally.next_pass()
            for name, tally in self.tallies.items()
            if isinstance(tally, HullTally) and not tally.finished
        }
        return CurveCounts(dict(left), _same_rule(self.rule)) if left else None

    def curves(self, points: str) -> dict[str, RocCurve]:
        """Return the curves that are known."""
        return {
            name: tally.to_roc_curve(name=name)
            if isinstance(tally, HullTally)
            else tally.to_roc_curve(name=name, points=points)
            for name, tally in self.tallies.items()
            if not isinstance(tally, HullTally) or tally.finished
        }


@dataclass(slots=True, eq=False)
class PairCounts:
    """Pairs of classifiers on the same examples: a tally each, and one check of the labels for all of them."""

    tallies: dict[tuple[str, str], PairedTally]
    rule: LabelRule = field(default_factory=LabelRule)

    @property
    def ordered(self) -> bool:
        """Counts of pairs are the same in any order."""
        return False

    def empty(self) -> PairCounts:
        """Return counts of the same pairs that have counted nothing."""
        return PairCounts({pair: tally.empty() for pair, tally in self.tallies.items()}, _same_rule(self.rule))

    def update(self, batch: Batch) -> None:
        """Count a batch."""
        if len(batch.label) == 0:
            return
        positive = _positives(self.rule, batch.label)
        for (a, b), tally in self.tallies.items():
            with about_column(a, "score_a"), about_column(b, "score_b"):
                tally.update(positive, batch.columns[a], batch.columns[b], batch.weight)

    def merge(self, other: PairCounts) -> None:
        """Add what was counted of another part."""
        self.rule.join(other.rule)
        for pair, tally in self.tallies.items():
            tally.merge(other.tallies[pair])


@dataclass(slots=True, eq=False)
class TableCounts:
    """Confusion tables: of one column of predictions, or of two jointly, each by the names of its columns."""

    tallies: dict[tuple[str, ...], ConfusionTally]

    @property
    def ordered(self) -> bool:
        """Tables are the same in any order."""
        return False

    def empty(self) -> TableCounts:
        """Return counts of the same tables that have counted nothing."""
        return TableCounts({names: tally.empty() for names, tally in self.tallies.items()})

    def update(self, batch: Batch) -> None:
        """Count a batch."""
        for names, tally in self.tallies.items():
            with about_column(names[0], "y_pred"), about_column(names[-1], "other"):
                tally.update(batch.label, *(batch.columns[name] for name in names))

    def merge(self, other: TableCounts) -> None:
        """Add what was counted of another part."""
        for names, tally in self.tallies.items():
            tally.merge(other.tallies[names])


@dataclass(slots=True, eq=False)
class GroupCounts:
    """Counts of each group apart. Groups are met in the first pass; a later one skips those that need no more."""

    fresh: CurveCounts | None
    parts: dict[Hashable, CurveCounts] = field(default_factory=dict)

    @property
    def ordered(self) -> bool:
        """Whether scores fall into bins that follow the data."""
        return any(part.ordered for part in (self.fresh, *self.parts.values()) if part is not None)

    def empty(self) -> GroupCounts:
        """Return counts of the same pass that have counted nothing."""
        return GroupCounts(self.fresh, {group: part.empty() for group, part in self.parts.items()})

    def update(self, batch: Batch) -> None:
        """Count a batch."""
        for group, rows in rows_of_groups(batch.group):
            part = self._part(group)
            if part is not None:
                part.update(batch.at(rows))

    def merge(self, other: GroupCounts) -> None:
        """Add what was counted of another part."""
        for group, part in other.parts.items():
            mine = self._part(group)
            if mine is not None:
                mine.merge(part)

    def _part(self, group: Hashable) -> CurveCounts | None:
        if group not in self.parts and self.fresh is not None:
            self.parts[group] = self.fresh.empty()
        return self.parts.get(group)

    def unfinished(self) -> GroupCounts | None:
        """Return the empty counts of the next pass; None where every hull of every group is known."""
        left = {group: part.unfinished() for group, part in self.parts.items()}
        parts: dict[Hashable, CurveCounts] = {group: part for group, part in left.items() if part is not None}
        return GroupCounts(None, parts) if parts else None


def rows_of_groups(group: Any) -> list[tuple[Hashable, Array]]:
    """Return the distinct values of a column of groups, each with its rows."""
    if isinstance(group, Coded):
        present, place = np.unique(group.codes, return_inverse=True)
        return _split([group.values[code] for code in present.tolist()], place)
    values = np.asarray(group)
    try:
        distinct, place = np.unique(values, return_inverse=True)
    except TypeError:
        raise DataError(f"`group` must hold values of one type, got {shown(values[:5].tolist())}") from None
    return _split(distinct.tolist(), place)


def _split(values: list[Any], place: Array) -> list[tuple[Hashable, Array]]:
    """Return the rows of each of some values, in their order."""
    small = place.astype(np.uint16) if len(values) < 2**16 else place  # which NumPy sorts by radix
    order = np.argsort(small, kind="stable")
    ends = np.searchsorted(small[order], np.arange(1, len(values)))
    return list(zip(values, np.split(order, ends), strict=True))


def _positives(rule: LabelRule, label: Any) -> BoolArray:
    """Return which labels are positive; of codes, by the values that occur."""
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
    """Return the counts of a first pass that come to the ROC curves of several score columns.

    Parameters
    ----------
    names : sequence of str
        The columns.
    resolution : int, optional
        The most bins: one pass, bounded memory, and curves that say their largest error. Otherwise curves are exact.
    bins : mapping of name to ScoreBins, optional
        Layouts made from a sample, for those columns that have one: they make exact curves faster.
    tied : collection of str
        The columns whose scores have many ties.
    weighted : bool
        Whether batches have weights; exact sums of weights need all distinct scores.
    points : {"hull", "all"}
        ``"all"`` holds all distinct scores in memory, at most `limit`.
    dtype : str, or mapping of name to str, optional
    members, limit
        As for `HullTally` and `ScoreTally`.
    grouped : bool
        Whether the counts are made once a group, of which there may be very many.
    """
    layouts = bins or {}
    exact_counts = points == "all" or weighted

    def tally(name: str) -> ScoreTally | HullTally:
        layout = layouts.get(name)
        given = dtype if dtype is None or isinstance(dtype, str) else dtype.get(name)
        own = None if layout is not None else given
        if resolution is not None:
            return ScoreTally(resolution=resolution)
        if exact_counts:
            return ScoreTally(limit=limit)
        if grouped:
            return HullTally(dtype=given, members=members, resolution=GROUP_BINS, hold=GROUP_ROWS)
        return HullTally(bins=layout, dtype=own, members=members, ties=name in tied)

    return CurveCounts({name: tally(name) for name in names}, LabelRule(pos_label))


def find_curves(reader: Reader, counts: CurveCounts, *, points: str = "hull") -> dict[str, RocCurve]:
    """Return the curve of every classifier, reading the data as often as it takes: once, or twice as a rule."""
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
    """Return the curves of every group, in the order of the groups."""
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
    """Return the groups in order."""
    try:
        return sorted(groups)
    except TypeError:
        raise DataError(f"`group` must hold values of one type, got {shown(list(groups)[:5])}") from None


def find_tables(
    reader: Reader, columns: Sequence[tuple[str, ...]], labels: Any = None
) -> dict[tuple[str, ...], ConfusionTally]:
    """Return the confusion counts of columns of predictions: of one, or of a pair jointly, all in one pass."""
    return reader.run(TableCounts({names: ConfusionTally(labels) for names in columns})).tallies


def _same_rule(rule: LabelRule) -> LabelRule:
    """Return a rule of the same positive label that has seen nothing."""
    return LabelRule(rule.pos_label)
