"""The exact hull of data that are read in passes, in bounded memory and without sorting them.

Pass one counts scores in bins. Only a bin whose upper-left corner lies strictly above the hull of the bins' boundaries,
or that ends at a vertex of it, can hold a vertex; the next pass looks at the members of those alone: it gathers them
where they are few, and cuts their bins finer where they are many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves import buckets, compiled, counts
from costcurves._validation import BoolArray, IntArray, check_integer, check_name
from costcurves.errors import DataError, InputError, UnsupportedError
from costcurves.geometry import blocks_above, upper_hull
from costcurves.roc import RocCurve
from costcurves.tallies.base import Batches, State, Tally, part
from costcurves.tallies.bins import (
    CELL_BITS,
    CHUNK,
    FLOATS,
    BinTable,
    Coder,
    ScoreBins,
    check_resolution,
    float_scores,
    ordered_keys,
    runs,
    scores_of_keys,
)
from costcurves.tallies.scores import check_layout, cumulated, no_examples, same_layout

Array = npt.NDArray[Any]

RESOLUTION = 1 << 20
MEMBERS = 1 << 22
STRETCH = 1 << 18  # members that are counted together
CLOSED = -1  # the shift of parts that hold no vertex, inside or at their end


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Ranges of keys from the highest down, with the examples of each: what is known of a curve after a pass.

    A part spans 2**shift keys from `low`: one score where shift is 0. Closed parts have no vertex and no range.
    """

    low: IntArray
    shift: IntArray
    neg: IntArray
    pos: IntArray

    @classmethod
    def of_bins(cls, bins: ScoreBins, code: IntArray, neg: IntArray, pos: IntArray) -> Chain:
        """Return the chain of filled bins from the highest down; those that hold no vertex are closed and joined."""
        wanted, first = _cuts(neg, pos)
        low, shift = bins.keys_of(code[first])  # of the few that are left
        return cls(low, np.where(wanted[first], shift, CLOSED), *_joined(first, neg, pos))

    def reduced(self) -> Chain:
        """Return the chain with all neighbouring parts that hold no vertex of the hull closed and joined."""
        wanted, first = _cuts(self.neg, self.pos, self.shift > 0)
        shift = np.where(wanted[first], self.shift[first], CLOSED)
        return Chain(self.low[first], shift, *_joined(first, self.neg, self.pos))

    @property
    def open(self) -> IntArray:
        """The parts that may hold vertices not yet known, from the lowest keys up."""
        return np.flatnonzero(self.shift > 0)[::-1]

    def replaced(self, low: IntArray, shift: IntArray, neg: IntArray, pos: IntArray) -> Chain:
        """Return the chain with its open parts replaced by finer ones, given from the highest keys down.

        The finer parts of an open part must hold what it holds.
        """
        parts = self.open
        # Both go by keys, so that looking for the few parts among the many finer ones is enough.
        ends = low.size - np.searchsorted(low[::-1], self.low[parts[::-1]], side="left")
        inside = np.repeat(parts[::-1], np.diff(ends, prepend=0))
        found = [np.bincount(inside, weights=n, minlength=self.low.size)[parts] for n in (neg, pos)]
        if any((f != n[parts]).any() for f, n in zip(found, (self.neg, self.pos), strict=True)):
            missing = int(self.neg[parts].sum() + self.pos[parts].sum())
            raise DataError(
                f"the data must be the same in every pass, got {int(sum(f.sum() for f in found))} examples "
                f"where the pass before had {missing} (or other scores): read all batches once, and once only, in each"
            )
        kept = np.flatnonzero(self.shift <= 0)
        order = np.argsort(np.concatenate((kept, inside)), kind="stable")
        both = ((self.low, low), (self.shift, shift), (self.neg, neg), (self.pos, pos))
        return Chain(*(np.concatenate((old[kept], new))[order] for old, new in both))


def _cuts(neg: IntArray, pos: IntArray, divisible: BoolArray | bool = True) -> tuple[BoolArray, IntArray]:
    """Return which parts may hold a vertex (at their end, or inside if divisible), and where joined ones begin."""
    table = cumulated(np.empty(0), neg, pos)
    hull = upper_hull(table.fp, table.tp)
    wanted = blocks_above(table.fp, table.tp, hull) & divisible if neg.size else np.zeros(0, np.bool_)
    wanted[hull[1:] - 1] = True
    return wanted, np.flatnonzero(wanted | np.append(True, wanted[:-1]))


def _joined(first: IntArray, *counted: IntArray) -> list[IntArray]:
    """Return the sums of counts from each first part to the next."""
    return [np.add.reduceat(values, first) if first.size else values for values in counted]


class _Members:
    """Finds the members of a chain's open parts in batches: first by bin, then among the few that are left."""

    def __init__(self, bins: ScoreBins, chain: Chain) -> None:
        parts = chain.open
        self.low, self.shift = chain.low[parts], chain.shift[parts]
        self.last = self.low + ((np.int64(1) << self.shift) - 1)
        self._coder = Coder(bins)
        self._layout = bins.layout()
        self._place = np.empty(0, np.int64)
        self._wanted = np.zeros(64 * -(-bins.size // 64), np.bool_)
        self._member = np.empty(CHUNK, np.bool_)
        self._whole = True  # whether every open part is a whole bin
        for start in range(0, self.low.size, CHUNK):
            span = slice(start, start + CHUNK)
            code = self._coder.codes_of_keys(self.low[span].astype(bins.integer))
            self._wanted[code] = True
            self._whole = self._whole and bool((bins.keys_of(code)[1] == self.shift[span]).all())
        self._bits = np.packbits(self._wanted, bitorder="little").view("<u8").astype(np.uint64)

    def find(self, scores: Array) -> IntArray:
        """Return the positions of the members in a batch; they last until the next call."""
        if (fast := compiled.loops()) is not None:
            return self._inside(scores, fast.find(scores, self._layout, self._bits, self._room(scores.size + 1)))
        found = []
        for start in range(0, scores.size, CHUNK):
            chunk = scores[start : start + CHUNK]
            member = self._member[: chunk.size]
            np.take(self._wanted, self._coder.codes(chunk), out=member, mode="clip")
            found.append(self._inside(chunk, np.flatnonzero(member)) + start)
        return np.concatenate(found) if found else np.empty(0, np.int64)

    def _room(self, size: int) -> IntArray:
        """Return a buffer for positions, which is made once for batches of a size."""
        if self._place.size < size:
            self._place = np.empty(size, np.int64)
        return self._place

    def _inside(self, scores: Array, place: IntArray) -> IntArray:
        """Return the positions of members among those of scores that share a bin with one."""
        if self._whole or not place.size:
            return place
        key = ordered_keys(scores[place])
        at = self.part_of(key)
        return place[(at >= 0) & (key <= self.last[at])]

    def part_of(self, keys: Array) -> IntArray:
        """Return the last open part that begins at or below each key."""
        return np.searchsorted(self.low, keys, side="right") - 1


class _Finer:
    """Counts in bins within the open parts, more of them where a part has more examples."""

    def __init__(self, chain: Chain, resolution: int) -> None:
        parts = chain.open
        self.low, shift = chain.low[parts], chain.shift[parts]
        members = chain.neg[parts] + chain.pos[parts]
        share = np.maximum(members * (resolution / members.sum()), 2.0)
        self.shift = np.maximum(shift - (np.frexp(share)[1] - 1), 0)
        self.start = np.concatenate(([0], np.cumsum(np.int64(1) << (shift - self.shift))))
        self.table = np.zeros(2 * int(self.start[-1]), np.int64)

    def add(self, positive: BoolArray, keys: Array, part: IntArray) -> None:
        """Count members of parts."""
        code = self.start[part] + ((keys - self.low[part]) >> self.shift[part])
        np.add.at(self.table, 2 * code + positive, 1)

    def parts(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return the filled bins from the highest down: lowest key, shift, negatives, positives."""
        pairs = self.table.reshape(-1, 2)
        code = np.flatnonzero(pairs.any(axis=1))[::-1]
        part = np.searchsorted(self.start, code, side="right") - 1
        low = self.low[part] + ((code - self.start[part]) << self.shift[part])
        return low, self.shift[part], pairs[code, 0], pairs[code, 1]


class _Gathered:
    """The keys of the members of open parts, negatives and positives apart."""

    def __init__(self, integer: Any) -> None:
        self._keys: tuple[list[Array], list[Array]] = ([np.empty(0, integer)], [np.empty(0, integer)])

    @property
    def size(self) -> int:
        """The number of keys."""
        return sum(keys.size for pieces in self._keys for keys in pieces)

    def add_to(self, table: BinTable) -> None:
        """Count the members in bins."""
        dtype = table.bins.dtype
        for true_class, pieces in enumerate(self._keys):
            for keys in pieces:
                scores = scores_of_keys(keys.astype(np.int64), dtype).astype(dtype)
                table.add(np.full(keys.size, bool(true_class)), scores)

    def counted(self) -> Chain:
        """Return the chain of all members, from which nothing is left out."""
        return Chain(*_distinct(self.sorted(0), self.sorted(1)))

    def add(self, positive: BoolArray, keys: Array) -> None:
        """Keep members of parts."""
        self._keys[0].append(keys[~positive])
        self._keys[1].append(keys[positive])

    def merge(self, other: _Gathered) -> None:
        """Add the members of another part of the data."""
        for mine, others in zip(self._keys, other._keys, strict=True):
            mine.extend(others)

    def sorted(self, true_class: int) -> Array:
        """Return the keys of one class in order; they are kept so."""
        pieces = self._keys[true_class]
        keys = pieces[0]
        if len(pieces) > 1:
            keys = np.concatenate(pieces)
            pieces.clear()  # before the sort, which may need as much again
            keys.sort()
            pieces.append(keys)
        return keys

    def fill(self, neg: Array, pos: Array) -> None:
        """Keep the keys of a state."""
        self._keys[0].append(neg)
        self._keys[1].append(pos)

    def refined(self, chain: Chain) -> Chain:
        """Return the chain with every open part replaced by those of its members that can be vertices.

        A vertex of the whole hull is one of the hull of any stretch of the chain that holds it, so stretches are
        counted and reduced one by one: the counts of all members at once would take several times their memory.
        """
        neg, pos = self.sorted(0), self.sorted(1)
        held = np.where(chain.shift > 0, chain.neg + chain.pos, 0)
        stretch = np.cumsum(held) // STRETCH
        ends = np.append(np.flatnonzero(np.diff(stretch)) + 1, chain.low.size)
        done = []
        start = 0
        for end in ends.tolist():
            part = Chain(*(getattr(chain, name)[start:end] for name in Chain.__slots__))
            start = end
            parts = part.open
            if parts.size:
                low, last = part.low[parts[0]], part.low[parts[-1]] + (np.int64(1) << part.shift[parts[-1]]) - 1
                inside = []
                for keys in (neg, pos):
                    first, after = np.searchsorted(
                        keys, np.array([low, last + 1], keys.dtype)
                    )  # of one type: no copies
                    inside.append(keys[first:after])
                part = part.replaced(*_distinct(*inside)).reduced()
            done.append(part)
        return Chain(*(np.concatenate([getattr(part, name) for part in done]) for name in Chain.__slots__))


def _distinct(neg: Array, pos: Array) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return distinct keys from the highest down as parts of one key each, with how often each class has them."""
    if (fast := compiled.loops()) is not None:
        keys, *found = fast.merge(neg.astype(np.int64, copy=False), pos.astype(np.int64, copy=False))
    else:
        classes = [runs(some) for some in (neg, pos)]
        both = np.concatenate([some for some, _ in classes])
        both.sort(kind="stable")  # which merges sorted runs
        keys = runs(both)[0].astype(np.int64)
        found = [np.zeros(keys.size, np.int64) for _ in classes]
        for counted, (some, times) in zip(found, classes, strict=True):
            counted[np.searchsorted(keys, some)] = times
    return keys[::-1], np.zeros(keys.size, np.int64), found[0][::-1], found[1][::-1]


def _restored_chain(arrays: dict[str, Array], bins: ScoreBins | None) -> Chain:
    """Return the chain of a state."""
    low, shift = (arrays[f"before_{name}"] for name in ("low", "shift"))
    neg, pos = (part(arrays, f"before_{name}", "i", low.size) for name in ("neg", "pos"))
    chain = Chain(*(array.astype(np.int64) for array in (low, shift, neg, pos)))
    if (
        bins is None
        or low.ndim != 1
        or any(array.dtype.kind != "i" or array.size != low.size for array in (low, shift))
    ):
        raise DataError("parts of a chain must be whole numbers, as many of each")
    most = 1 << (bins.low_bits + CELL_BITS - 1)
    falls = (chain.low[1:] < chain.low[:-1]).all() and (shift >= CLOSED).all() and (shift <= bins.low_bits).all()
    if not falls or (chain.low < -most).any() or (chain.low >= most).any() or (neg + pos < 1).any():
        raise DataError("parts of a chain must be filled, and go from the highest down")
    return chain


class HullTally(Tally):
    """One pass over data in batches, towards the exact hull of their ROC curve in bounded memory.

    Read all batches into the tally; as long as it is not `finished`, read them all again into its `next_pass`. Two
    passes are the rule. In each, parts of the data can be counted apart, in tallies made by `empty`, and merged.

    Parameters
    ----------
    pos_label : label, optional
        As for `RocCurve.from_predictions`.
    bins : ScoreBins, optional
        The layout of the first pass. Made from a sample of the scores (`ScoreBins.from_sample`) it leaves less for the
        second; the result does not depend on it.
    resolution : int
        The most bins, from 2**14 to 2**26, where no layout is given, and in passes that cut bins finer.
    dtype : {"float32", "float64"}, optional
        The type of scores, by default that of the first batch; float64 takes all.
    members : int
        The most examples to gather in a pass; where bins that may hold vertices have more, they are cut finer first.
    hold : int
        The most examples to keep as they are in the first pass. As long as they are no more, one pass does, and a tally
        of few examples takes little memory: for very many groups of the data.

    Notes
    -----
    The result equals ``RocCurve.from_predictions(..., points="hull")`` bit for bit, for any batches and any order of
    merging. Memory: 8 bytes a bin, and the bytes of a score for each gathered example. `update` and `merge` change the
    tally and return it. Weights have no exact sums: use `ScoreTally` for them.

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
    >>> tally.to_curve(name="forest").thresholds
    array([ inf, 0.8 , 0.35, 0.1 ])
    >>> tally.passes
    2
    """

    def __init__(
        self,
        *,
        pos_label: Any = None,
        bins: ScoreBins | None = None,
        resolution: int = RESOLUTION,
        dtype: str | None = None,
        members: int = MEMBERS,
        hold: int = 0,
    ) -> None:
        self._batches = Batches(pos_label)
        self._resolution = check_resolution(resolution)
        self._dtype = check_layout(bins, dtype)
        self._bins = bins
        self._most = check_integer("members", members, 1)
        self._hold = check_integer("hold", hold, 0)
        self._before: Chain | None = None  # what earlier passes found
        self._passes = 1
        self._counted: BinTable | _Finer | _Gathered | None = None
        self._members: _Members | None = None
        self._after: Chain | None = None

    @property
    def passes(self) -> int:
        """Which pass this is, from 1."""
        return self._passes

    @property
    def kind(self) -> str:
        """What the pass does: "bins" in the first, then "finer bins" or "members"."""
        if self._before is None:
            return "bins"
        return "members" if self._left(self._before) <= self._most else "finer bins"

    @property
    def finished(self) -> bool:
        """Whether the hull is known after this pass."""
        return not self._chain().open.size

    @property
    def left(self) -> int:
        """How many examples another pass would have to look at."""
        return self._left(self._chain())

    def update(self, y_true: Any, y_score: Any) -> HullTally:
        """Count a batch of labels and scores in this pass, and return the tally."""
        batch = self._batches.read(y_true, {"y_score": y_score})
        if batch is None:
            return self
        positive, (scores,), _ = batch
        if self._bins is None:
            dtype = self._dtype or str(float_scores(scores[:1]).dtype)
            self._bins = ScoreBins.universal(dtype, self._resolution)
        scores = self._bins.accept(scores)
        self._after = None
        table = self._table()
        if isinstance(table, BinTable):
            table.add(positive, scores)
            return self
        if self._before is None:
            assert isinstance(table, _Gathered)
            table.add(positive, ordered_keys(scores))
            self._spill()
            return self
        if self._members is None:
            self._members = _Members(self._bins, self._before)
        place = self._members.find(scores)
        if place.size:
            key = ordered_keys(scores[place])
            if isinstance(table, _Gathered):
                table.add(positive[place], key)
            else:
                table.add(positive[place], key.astype(np.int64), self._members.part_of(key))
        return self

    def merge(self, other: HullTally) -> HullTally:
        """Add what another tally of the same pass has counted, and return this one."""
        self._same_kind(other)
        if self._passes != other._passes or not self._same_start(other):
            raise InputError(
                f"`other` must be of the same pass over the same data (make it with `empty`), "
                f"got pass {other._passes} and {self._passes}"
            )
        self._bins = same_layout(self._bins, other._bins)
        self._batches.join(other._batches)
        self._after = None
        if other._counted is None:
            return self
        mine = self._table()
        if isinstance(mine, _Finer) and isinstance(other._counted, _Finer):
            mine.table += other._counted.table
        elif isinstance(mine, BinTable) and isinstance(other._counted, _Gathered):
            other._counted.add_to(mine)
        elif isinstance(mine, _Gathered) and isinstance(other._counted, BinTable):
            self._spill(always=True).merge(other._counted)
        elif self._before is None and isinstance(mine, _Gathered) and isinstance(other._counted, _Gathered):
            mine.merge(other._counted)
            self._spill()
        else:
            mine.merge(other._counted)  # type: ignore[union-attr,arg-type]
        return self

    def empty(self) -> HullTally:
        """Return a tally of the same pass that has counted nothing: for another part of the data, to be merged."""
        return self._like(self._before, self._passes)

    def laid_out(self, scores: Any) -> HullTally:
        """Return an empty tally whose bins suit a sample of the scores; this one where it has bins already.

        The result is the same for any bins; those that suit leave less to look at in the next pass.
        """
        if self._bins is not None:
            return self
        sample = float_scores(counts.checked_scores(scores, "scores"))
        if self._dtype is not None:
            sample = sample.astype(FLOATS[self._dtype][0], copy=False)
        tally = self.empty()
        tally._bins = ScoreBins.from_sample(sample, self._resolution)
        tally._dtype = tally._bins.dtype
        return tally

    def next_pass(self) -> HullTally:
        """Return the empty tally of the next pass, which needs all batches once more."""
        if self.finished:
            raise UnsupportedError("`next_pass` must not follow a finished tally: its hull is known")
        return self._like(self._chain(), self._passes + 1)

    def to_curve(self, *, name: str = "classifier") -> RocCurve:
        """Return the ROC curve with the vertices of its hull, as of ``RocCurve.from_predictions(points="hull")``."""
        name = check_name("name", name)
        chain = self._chain()
        counts.check_totals(int(chain.pos.sum()), int(chain.neg.sum()))
        if chain.open.size:
            raise UnsupportedError(
                f"`to_curve` needs a finished tally, got {self._left(chain)} examples left to look at: "
                "read all batches into next_pass() first"
            )
        assert self._bins is not None
        thresholds = np.where(chain.shift == 0, scores_of_keys(chain.low, self._bins.dtype), np.nan)
        table = buckets.on_hull(cumulated(thresholds, chain.neg, chain.pos))
        return RocCurve._from_counts(table, name=name, effective=None, complete=False)

    def _like(self, before: Chain | None, passes: int) -> HullTally:
        tally = HullTally(
            pos_label=self._batches.rule.pos_label,
            bins=self._bins,
            resolution=self._resolution,
            dtype=self._dtype,
            members=self._most,
            hold=self._hold,
        )
        tally._before, tally._passes = before, passes
        if before is not None:
            tally._batches.join(self._batches)
        return tally

    def _same_start(self, other: HullTally) -> bool:
        if self._before is None or other._before is None:
            return self._before is other._before
        return all(
            np.array_equal(getattr(self._before, name), getattr(other._before, name)) for name in Chain.__slots__
        )

    def _table(self) -> BinTable | _Finer | _Gathered:
        if self._counted is None:
            assert self._bins is not None
            if self._before is None:
                self._counted = _Gathered(self._bins.integer) if self._hold else BinTable(self._bins)
            elif self.kind == "members":
                self._counted = _Gathered(self._bins.integer)
            else:
                self._counted = _Finer(self._before, self._resolution)
        return self._counted

    def _spill(self, always: bool = False) -> Any:
        """Count held examples in bins where they are too many to hold, and return what counts now."""
        held = self._counted
        assert isinstance(held, _Gathered)
        if always or held.size > self._hold:
            assert self._bins is not None
            self._counted = BinTable(self._bins)
            held.add_to(self._counted)
        return self._counted

    @staticmethod
    def _left(chain: Chain) -> int:
        return int(chain.neg[chain.open].sum() + chain.pos[chain.open].sum())

    def _chain(self) -> Chain:
        """Return what is known after this pass."""
        if self._after is None:
            if self._bins is None:
                raise no_examples()
            table = self._table()
            if isinstance(table, BinTable):
                code, neg, pos = table.filled()
                chain = Chain.of_bins(self._bins, code, neg, pos)
            elif self._before is None:
                assert isinstance(table, _Gathered)
                chain = table.counted()
            else:
                if isinstance(table, _Gathered):
                    chain = table.refined(self._before)
                else:
                    chain = self._before.replaced(*table.parts())
            self._after = chain.reduced()
        return self._after

    def _state(self) -> State:
        plain = {
            **self._batches.state(),
            "resolution": self._resolution,
            "dtype": self._dtype if self._bins is None else self._bins.dtype,
            "members": self._most,
            "hold": self._hold,
            "passes": self._passes,
            "counted": self._counted is not None,
        }
        arrays: dict[str, Array] = {}
        if self._bins is not None:
            arrays["shifts"] = self._bins.shifts
        if self._before is not None:
            arrays |= {f"before_{name}": getattr(self._before, name) for name in Chain.__slots__}
        if isinstance(self._counted, BinTable):
            arrays |= self._counted.state()
        elif isinstance(self._counted, _Finer):
            place = np.flatnonzero(self._counted.table)
            arrays |= {"place": place, "counts": self._counted.table[place]}
        elif self._counted is not None:
            arrays |= {"neg": self._counted.sorted(0), "pos": self._counted.sorted(1)}
        return plain, arrays

    @classmethod
    def _restored(cls, plain: dict[str, Any], arrays: dict[str, Array]) -> HullTally:
        bins = ScoreBins(plain["dtype"], arrays["shifts"]) if "shifts" in arrays else None
        options = {name: plain[name] for name in ("resolution", "dtype", "members", "hold")}
        tally = cls(bins=bins, **options)
        tally._batches = Batches.restored(plain)
        tally._passes = check_integer("passes", plain["passes"], 1)
        if "before_low" in arrays:
            tally._before = _restored_chain(arrays, tally._bins)
        if plain["counted"]:
            if tally._before is None and bins is not None and "place" in arrays:
                tally._counted = BinTable(bins)
            table = tally._table()
            if isinstance(table, _Gathered):
                for keys in (arrays["neg"], arrays["pos"]):
                    if bins is None or keys.ndim != 1 or keys.dtype != bins.integer:
                        raise DataError("keys must be of the type of the bins")
                table.fill(arrays["neg"], arrays["pos"])
            elif isinstance(table, BinTable):
                table.fill(arrays)
            else:
                place = part(arrays, "place", "iu", most=table.table.size)
                table.table[place] = part(arrays, "counts", "iu", place.size)
        return tally

    def __repr__(self) -> str:
        """Return the pass and what it does."""
        return f"HullTally(pass {self._passes}: {self.kind}, {self._bins or 'nothing counted'})"
