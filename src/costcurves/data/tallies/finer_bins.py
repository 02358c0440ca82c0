"""The members of the parts of a chain that may hold vertices: counted in finer bins, counted by key, or kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError
from costcurves._base.validation import BoolArray, FloatArray, IntArray
from costcurves.counting import compiled
from costcurves.counting.counts import ScoreCounts, count_scores
from costcurves.counting.keys import ordered_keys, scores_of_keys
from costcurves.data.tallies.base import part
from costcurves.data.tallies.bin_table import BinTable
from costcurves.data.tallies.bins import CHUNK, Coder, ScoreBins, runs
from costcurves.data.tallies.key_ranges import Chain

Array = npt.NDArray[Any]

STRETCH = 1 << 18  # how many members are counted together
MOST_KEYS = 1 << 12  # the most keys of a part whose members are counted by key


class Finder:
    """Finds the members of the open parts of a chain in batches: first by bin, then among the few that remain."""

    def __init__(self, bins: ScoreBins, chain: Chain) -> None:
        parts = chain.open
        self._bins = bins
        self.integer = bins.integer
        self._coder = Coder(bins)
        self.low, self.shift = chain.low[parts], chain.shift[parts]
        self._last = self.low + ((np.int64(1) << self.shift) - 1)
        self._wanted = np.zeros(bins.size, np.bool_)
        self._whole = True  # whether every open part is a whole bin
        for start in range(0, self.low.size, CHUNK):
            span = slice(start, start + CHUNK)
            code = self._coder.codes_of_keys(self.low[span].astype(bins.integer))
            self._wanted[code] = True
            low, shift = bins.keys_of(code)
            whole = (low == self.low[span]).all() and (shift == self.shift[span]).all()
            self._whole = self._whole and bool(whole)
        self._member = np.empty(CHUNK, np.bool_)
        self._keys = [np.empty(0, bins.integer) for _ in range(2)]

    def written(self) -> compiled.Wanted:
        """Return what makes compiled loops write the keys of all members."""
        return compiled.Wanted(self._wanted, self.low, np.zeros_like(self.low))

    def counted(self, members: IntArray) -> compiled.Wanted:
        """Return what makes compiled loops count by key in the open parts that have no more keys than members."""
        keys = np.int64(1) << self.shift
        few = keys <= np.minimum(members, MOST_KEYS)
        return compiled.Wanted(self._wanted, self.low, np.where(few & self._whole, keys, 0))

    def find(self, positive: BoolArray, scores: Array, wanted: compiled.Wanted | None) -> tuple[Array, Array]:
        """Return the keys of the negative and of the positive members of a batch; they last until the next call.

        Members that compiled loops count by key are counted instead.
        """
        fast = compiled.loops()
        if fast is not None and wanted is not None:
            if self._keys[0].size < scores.size:
                self._keys = [np.empty(scores.size, self._bins.integer) for _ in range(2)]
            neg, pos = fast.gather(scores, positive, self._bins.layout, wanted, self._keys)
            return self._inside(neg), self._inside(pos)
        found = self.places(scores)
        keys, label = ordered_keys(scores[found]), positive[found]
        return keys[~label], keys[label]

    def places(self, scores: Array) -> IntArray:
        """Return the places of members among the scores of a batch."""
        place = [np.empty(0, np.int64)]
        for start in range(0, scores.size, CHUNK):
            chunk = scores[start : start + CHUNK]
            member = self._member[: chunk.size]
            np.take(self._wanted, self._coder.codes(chunk), out=member, mode="clip")
            place.append(np.flatnonzero(member) + start)
        found = np.concatenate(place)
        return found if self._whole else found[self._are_inside(ordered_keys(scores[found]))]

    def _inside(self, keys: Array) -> Array:
        """Return which of the keys belong to members; the others only share a bin with one."""
        return keys if self._whole or not keys.size else keys[self._are_inside(keys)]

    def _are_inside(self, keys: Array) -> BoolArray:
        at = self.part_of(keys)
        inside: BoolArray = (at >= 0) & (keys <= self._last[at])
        return inside

    def part_of(self, keys: Array) -> IntArray:
        """Return the last open part that begins at or below each key."""
        return np.searchsorted(self.low, keys, side="right") - 1


class Finer:
    """Counts (or sums of weights) in bins within the open parts, more of them where a part has more examples."""

    def __init__(self, bins: ScoreBins, chain: Chain, resolution: int) -> None:
        self._finder = Finder(bins, chain)
        self._wanted = self._finder.written() if compiled.loops() is not None else None
        parts = chain.open
        self.low, shift = chain.low[parts], chain.shift[parts]
        members = chain.neg[parts] + chain.pos[parts]
        # Parts of little weight may have many examples, so they too are divided into many bins.
        fewest = 2.0 if members.dtype.kind == "i" else max(resolution / parts.size / 2, 2.0)
        share = np.maximum(members * (resolution / members.sum()), fewest)
        self.shift = np.maximum(shift - (np.frexp(share)[1] - 1), 0)
        self.start = np.concatenate(([0], np.cumsum(np.int64(1) << (shift - self.shift))))
        self.table = np.zeros(2 * int(self.start[-1]), chain.neg.dtype)

    def add(self, positive: BoolArray, scores: Array) -> None:
        """Count the members in a batch."""
        for label, keys in enumerate(self._finder.find(positive, scores, self._wanted)):
            np.add.at(self.table, 2 * self._codes(keys) + label, 1)

    def add_members(self, positive: BoolArray, scores: Array, weights: FloatArray) -> None:
        """Add the weights of members."""
        np.add.at(self.table, 2 * self._codes(ordered_keys(scores)) + positive, weights)

    def _codes(self, keys: Array) -> IntArray:
        part = self._finder.part_of(keys)
        code: IntArray = self.start[part] + ((keys - self.low[part]) >> self.shift[part])
        return code

    def merge(self, other: Finer) -> None:
        """Add the counts of another part of the data."""
        self.table += other.table

    def refined(self, chain: Chain) -> Chain:
        """Return the chain with every open part replaced by its filled bins."""
        pairs = self.table.reshape(-1, 2)
        code = np.flatnonzero(pairs.any(axis=1))[::-1]
        part = np.searchsorted(self.start, code, side="right") - 1
        low = self.low[part] + ((code - self.start[part]) << self.shift[part])
        return chain.replaced(low, self.shift[part], pairs[code, 0], pairs[code, 1])

    def state(self) -> dict[str, Array]:
        """Return the counts that are not zero."""
        place = np.flatnonzero(self.table)
        return {"place": place, "counts": self.table[place]}

    def fill(self, arrays: dict[str, Array]) -> None:
        """Set the counts to those of a state."""
        place = part(arrays, "place", "iu", most=self.table.size)
        self.table[place] = part(arrays, "counts", "f" if self.table.dtype.kind == "f" else "iu", place.size)


class Keys:
    """Keys of examples, of negatives and of positives separately."""

    def __init__(self, integer: Any) -> None:
        self._pieces: tuple[list[Array], list[Array]] = ([np.empty(0, integer)], [np.empty(0, integer)])

    @property
    def size(self) -> int:
        """The number of keys."""
        return sum(keys.size for pieces in self._pieces for keys in pieces)

    def keep(self, label: int, keys: Array) -> None:
        """Keep keys of one class, which must stay as they are."""
        if keys.size:
            self._pieces[label].append(keys)

    def merge(self, other: Keys) -> None:
        """Keep the keys of another part of the data."""
        for mine, others in zip(self._pieces, other._pieces, strict=True):
            mine.extend(others)

    def sorted(self, label: int) -> Array:
        """Return the keys of one class in increasing order; they stay sorted."""
        pieces = self._pieces[label]
        keys = pieces[0]
        if len(pieces) > 1:
            keys = np.concatenate(pieces)
            pieces.clear()  # before the sort, which may need as much memory again
            keys.sort()
            pieces.append(keys)
        return keys

    def state(self) -> dict[str, Array]:
        """Return the keys in order."""
        return {"neg": self.sorted(0), "pos": self.sorted(1)}

    def fill(self, arrays: dict[str, Array]) -> None:
        """Keep the keys of a state."""
        for label, name in enumerate(("neg", "pos")):
            keys = arrays[name]
            if keys.ndim != 1 or keys.dtype != self._pieces[label][0].dtype:
                raise DataError("keys must be of the type of the bins")
            self.keep(label, np.sort(keys))


class Held(Keys):
    """The keys of all examples, as long as there are few."""

    def __init__(self, bins: ScoreBins) -> None:
        super().__init__(bins.integer)
        self._dtype = bins.dtype

    def add(self, positive: BoolArray, scores: Array) -> None:
        """Keep a batch."""
        keys = ordered_keys(scores)
        self.keep(0, keys[~positive])
        self.keep(1, keys[positive])

    def add_to(self, table: BinTable) -> None:
        """Count all of them in bins."""
        for label in range(2):
            keys = self.sorted(label)
            scores = scores_of_keys(keys.astype(np.int64), self._dtype).astype(self._dtype)
            table.add(np.full(keys.size, bool(label)), scores)

    def chain(self) -> Chain:
        """Return the chain of all examples."""
        return Chain(*_distinct(self.sorted(0), self.sorted(1)))

    def counts(self) -> ScoreCounts:
        """Count the labels at every distinct score."""
        neg, pos = self.sorted(0), self.sorted(1)
        scores = scores_of_keys(np.concatenate((neg, pos)).astype(np.int64), self._dtype)
        return count_scores(np.arange(scores.size) >= neg.size, scores)


class Members:
    """The members of open parts: compiled loops count them if a part has few keys; the keys of others are kept."""

    def __init__(self, bins: ScoreBins, chain: Chain) -> None:
        self._finder = Finder(bins, chain)
        self._keys = Keys(bins.integer)
        parts = chain.open
        self._wanted: compiled.Wanted | None = None
        if compiled.loops() is not None:
            self._wanted = self._finder.counted(chain.neg[parts] + chain.pos[parts])

    def add(self, positive: BoolArray, scores: Array) -> None:
        """Count or keep the members in a batch."""
        for label, keys in enumerate(self._finder.find(positive, scores, self._wanted)):
            self._keys.keep(label, keys.copy())

    def merge(self, other: Members) -> None:
        """Add the members of another part of the data."""
        self._keys.merge(other._keys)
        mine, others = self._wanted, other._wanted
        fast = compiled.loops()
        if fast is not None and mine is not None and others is not None and mine.slots == others.slots:
            fast.add_counts(mine.counts, others.counts)
            return
        self._keep_all()
        if others is not None:
            self._keep_counted(others)

    def _keep_all(self) -> None:
        """Keep the keys of members that were counted, and of all later ones."""
        if self._wanted is not None and self._wanted.slots:
            self._keep_counted(self._wanted)
            self._wanted = self._finder.written()

    def _keep_counted(self, wanted: compiled.Wanted) -> None:
        for label in range(2):
            self._keys.keep(label, wanted.keys(label).astype(self._finder.integer))

    def refined(self, chain: Chain) -> Chain:
        """Return the chain with every open part replaced by those of its members that can be vertices."""
        fast = compiled.loops()
        if fast is None or self._wanted is None:
            return self._refined(chain)
        keys = [self._keys.sorted(label) for label in range(2)]
        found = fast.refine(chain.low, chain.shift, (chain.neg, chain.pos), self._wanted, keys)
        if found is None:
            raise chain.other_members(keys[0].size + keys[1].size + self._wanted.examples)
        return Chain.of_vertices(*found)

    def _refined(self, chain: Chain) -> Chain:
        """Return the same by NumPy.

        A vertex of the whole hull is also a vertex of the hull of any stretch of the chain that holds it, so stretches
        are counted and reduced one by one: counting all members at once would take several times their memory.
        """
        self._keep_all()
        keys = [self._keys.sorted(label) for label in range(2)]
        held = np.where(chain.shift > 0, chain.neg + chain.pos, 0)
        stretch = np.cumsum(held) // STRETCH
        ends = np.append(np.flatnonzero(np.diff(stretch)) + 1, chain.low.size)
        done = []
        start = 0
        for end in ends.tolist():
            part = chain.part(start, end)
            start = end
            parts = part.open
            if parts.size:
                low, last = part.low[parts[0]], part.low[parts[-1]] + (np.int64(1) << part.shift[parts[-1]]) - 1
                inside = []
                for some in keys:
                    first, after = np.searchsorted(some, np.array([low, last + 1], some.dtype))  # no copies
                    inside.append(some[first:after])
                part = part.replaced(*_distinct(*inside)).reduced()
            done.append(part)
        return Chain.joined(done)

    def state(self) -> dict[str, Array]:
        """Return the keys of all members in order."""
        self._keep_all()
        return self._keys.state()

    def fill(self, arrays: dict[str, Array]) -> None:
        """Keep the keys of a state."""
        self._keep_all()
        self._keys.fill(arrays)


def _distinct(neg: Array, pos: Array) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return distinct keys from the highest down as parts of one key each, and how often each class has them."""
    classes = [runs(some) for some in (neg, pos)]
    both = np.concatenate([some for some, _ in classes])
    both.sort(kind="stable")  # which merges sorted runs
    keys = runs(both)[0].astype(np.int64)
    found = [np.zeros(keys.size, np.int64) for _ in classes]
    for counted, (some, times) in zip(found, classes, strict=True):
        counted[np.searchsorted(keys, some)] = times
    return keys[::-1], np.zeros(keys.size, np.int64), found[0][::-1], found[1][::-1]
