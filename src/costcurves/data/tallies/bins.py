"""Order-preserving bins of scores by their bits, which need no range and no pass over the data to be laid out.

The key of a score is an integer that orders like the score. The highest 12 bits of the key (of a float64: sign and
exponent) name its cell, and each cell is cut into a power of two of equal bins. So every bin is a range of keys whose
length is a power of two, and a finer layout only ever splits the bins of a coarser one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError
from costcurves._base.validation import BoolArray, FloatArray, IntArray, check_choice, check_integer, frozen
from costcurves.counting import compiled, counts
from costcurves.counting.keys import CELL_BITS, CELLS, FLOATS, ordered_keys, scores_of_keys
from costcurves.data.tallies.base import part
from costcurves.data.tallies.single_scores import MOST_BINS, SingleScores

Array = npt.NDArray[Any]

FEWEST, MOST = 1 << 14, 1 << 26
CHUNK = 1 << 15  # rows whose intermediate arrays stay in the cache
SOME_TIES = 0.9  # the share of distinct values in a sample, from which on scores may have many ties in all
# How many times more crowded bins may be that are faster to find.
MOST_CROWDED = 4.0
MOST_SCALE = 60  # so that scores times 2**scale are floats, and not subnormal ones


def float_scores(scores: Array) -> Array:
    """Return checked scores as float32 or float64 (integers are exact as float64)."""
    return scores if scores.dtype.kind == "f" else scores.astype(np.float64)


def share_of_distinct(values: Array) -> float:
    """Return how many distinct values there are, as a part of all."""
    return float(runs(np.sort(values))[0].size / max(values.size, 1))


def runs(values: Array) -> tuple[Array, IntArray]:
    """Return the distinct of sorted values, and how often each is there."""
    last = np.flatnonzero(np.append(values[1:] != values[:-1], True)[: values.size])
    return values[last], np.diff(last, prepend=-1)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScoreBins:
    """A layout of order-preserving bins, to be shared by all tallies that are to be merged.

    Attributes
    ----------
    dtype : {"float32", "float64"}
        The type of scores; integers are float64, and float32 scores may be counted as float64.
    shifts : array of shape (4096,)
        The bins of each cell are 2**shift keys wide.

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.ScoreBins.universal("float32", 2**16)
    ScoreBins(float32, 46592 bins)
    """

    dtype: str
    shifts: Array
    _starts: IntArray = field(init=False)
    _base: Array = field(init=False)
    _layout: compiled.Layout | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Lay the bins out, from the lowest scores up."""
        check_choice("dtype", self.dtype, FLOATS)
        shifts = frozen(_check_shifts(self.shifts, self.low_bits))
        starts = np.concatenate(([0], np.cumsum(np.int64(1) << (self.low_bits - shifts.astype(np.int64)))))
        first_key = (np.arange(CELLS, dtype=np.int64) - CELLS // 2) << self.low_bits
        base = (starts[:-1] - (first_key >> shifts)).astype(self.integer)  # wraps around, and back in `codes`
        for name, value in (("shifts", shifts), ("_starts", frozen(starts)), ("_base", frozen(base))):
            object.__setattr__(self, name, value)

    @classmethod
    def universal(cls, dtype: str, resolution: int = 2**20) -> ScoreBins:
        """Return a layout for scores of which nothing is known: the finest for sizes from 1/512 to 128.

        Parameters
        ----------
        dtype : {"float32", "float64"}
        resolution : int
            The most bins, from 2**14 to 2**26. Half of them are for sizes from 2**-9 to 2**7, of both signs.
        """
        check_choice("dtype", dtype, FLOATS)
        return cls._universal(dtype, check_resolution(resolution))

    @classmethod
    @lru_cache(maxsize=16)  # the tallies of very many groups share one
    def _universal(cls, dtype: str, resolution: int) -> ScoreBins:
        power = resolution.bit_length() - 1
        real, integer = FLOATS[dtype]
        low_bits = 8 * np.dtype(integer).itemsize - CELL_BITS
        mantissa = np.finfo(real).nmant
        octave = _octaves(dtype)
        ring = np.maximum(np.where(octave < -9, (-2 - octave) // 8, (octave + 1) // 8), 0)
        fineness = power - 6 - 2 * ring - (mantissa - low_bits)  # log2 of the bins of a cell
        return cls(dtype, low_bits - np.clip(fineness, 0, low_bits))

    @classmethod
    def from_sample(cls, scores: Any, resolution: int = 2**20) -> ScoreBins:
        """Return a layout that is the finest where a sample of the scores has the most examples.

        Parameters
        ----------
        scores : array-like
            Some of the scores. Results never depend on them in an exact tally; in a binned one, its error does.
        resolution : int
            The most bins, from 2**14 to 2**26.
        """
        sample = float_scores(counts.checked_scores(scores, "scores"))
        resolution = check_resolution(resolution)
        sample = sample[:: -(-sample.size // CHUNK)]
        by_share = cls._by_share(sample, resolution)
        plain = min((cls._plain(sample, resolution, even) for even in (True, False)), key=lambda b: b.crowding(sample))
        return plain if plain.crowding(sample) <= MOST_CROWDED * by_share.crowding(sample) else by_share

    @classmethod
    def _by_share(cls, sample: Array, resolution: int) -> ScoreBins:
        """Return bins that share each cell in proportion to the sampled examples in it."""
        low_bits = 8 * sample.dtype.itemsize - CELL_BITS
        cell = (ordered_keys(sample) >> low_bits).astype(np.int64) + CELLS // 2
        share = np.bincount(cell, minlength=CELLS) * ((resolution - CELLS) / sample.size)
        fineness = np.frexp(np.maximum(share, 1.0))[1] - 1
        return cls(str(sample.dtype), low_bits - np.minimum(fineness, low_bits))

    @classmethod
    def _plain(cls, sample: Array, resolution: int, even: bool) -> ScoreBins:
        """Return bins between the sample's ends of one length in scores (even), or in keys: the fastest to find."""
        dtype = str(sample.dtype)
        low_bits = 8 * sample.dtype.itemsize - CELL_BITS
        ends = ordered_keys(np.array([sample.min(), sample.max()]))
        low, high = (int(end >> low_bits) + CELLS // 2 for end in ends)
        span = max(abs(float(sample.min())), abs(float(sample.max())), float(np.finfo(sample.dtype).tiny))
        if even:  # a unit has 2**fineness bins
            fineness = resolution.bit_length() + 1 - int(np.floor(np.log2(span)))
            wanted = np.finfo(sample.dtype).nmant - _octaves(dtype) - fineness
        else:
            wanted = np.zeros(CELLS, np.int64)
        shifts = np.full(CELLS, low_bits, np.int64)
        while True:
            shifts[low : high + 1] = np.clip(wanted[low : high + 1], 0, low_bits)
            if np.exp2(low_bits - shifts).sum() <= resolution:
                return cls(dtype, shifts)
            wanted += 1

    def crowding(self, sample: Array) -> float:
        """Return the chance that two different sampled scores share a bin."""
        _, shared = runs(np.sort(Coder(self).codes_of_keys(ordered_keys(sample))))
        return float((shared * (shared - 1.0)).sum() + 1) / sample.size**2

    @property
    def integer(self) -> Any:
        """The type of keys."""
        return FLOATS[self.dtype][1]

    @property
    def low_bits(self) -> int:
        """The bits of a key below its cell."""
        return int(8 * np.dtype(self.integer).itemsize - CELL_BITS)

    @property
    def starts(self) -> IntArray:
        """The first bin of each cell, and the number of bins."""
        return self._starts

    @property
    def size(self) -> int:
        """The number of bins."""
        return int(self._starts[-1])

    def __len__(self) -> int:
        """Return the number of bins."""
        return self.size

    def same(self, other: ScoreBins) -> bool:
        """Return whether two layouts are one."""
        return self.dtype == other.dtype and np.array_equal(self.shifts, other.shifts)

    def accept(self, scores: Array) -> Array:
        """Return checked scores in the layout's type, which must hold them exactly."""
        real = float_scores(scores)
        if real.dtype == FLOATS[self.dtype][0]:
            return real
        if self.dtype == "float64":
            return real.astype(np.float64)
        raise DataError(
            f"`y_score` must be of one type in all batches, got {scores.dtype} after float32: "
            "make the tally, or its bins, with dtype='float64'"
        )

    @property
    def layout(self) -> compiled.Layout:
        """The layout as compiled loops read it."""
        if self._layout is None:
            shifts = self.shifts.astype(np.int64)
            first_key = (np.arange(CELLS, dtype=np.int64) - CELLS // 2) << self.low_bits
            layout = compiled.Layout(self.low_bits, shifts, self._starts[:-1] - (first_key >> shifts), _even(self))
            object.__setattr__(self, "_layout", layout)
        assert self._layout is not None
        return self._layout

    def keys_of(self, code: IntArray) -> tuple[IntArray, IntArray]:
        """Return the lowest key of each bin, and log2 of the number of keys in it."""
        if code.size > CHUNK:  # a look at a list of all bins is faster than so many searches
            cell = np.repeat(np.arange(CELLS), np.diff(self._starts))[code]
        else:
            cell = np.searchsorted(self._starts, code, side="right") - 1
        shift = self.shifts[cell].astype(np.int64)
        return ((cell - CELLS // 2) << self.low_bits) + ((code - self._starts[cell]) << shift), shift

    def __repr__(self) -> str:
        """Return type and number of bins."""
        return f"ScoreBins({self.dtype}, {self.size} bins)"


def _check_shifts(shifts: Any, low_bits: int) -> Array:
    """Return the shifts of a layout that every loop stays within."""
    array = np.asarray(shifts)
    if array.shape != (CELLS,) or array.dtype.kind not in "iu":
        raise InputError(f"`shifts` must be {CELLS} whole numbers, got shape {array.shape} of {array.dtype}")
    if array.min() < 0 or array.max() > low_bits:
        raise InputError(f"`shifts` must be from 0 to {low_bits}, got {array.min()} to {array.max()}")
    bins = int(np.exp2(low_bits - array.astype(np.float64)).sum())
    if bins > MOST:
        raise InputError(f"`shifts` must make at most {MOST} bins, got {bins}")
    return array.astype(np.uint8)


def check_resolution(resolution: Any) -> int:
    """Return the most bins."""
    return check_integer("resolution", resolution, FEWEST, MOST)


def _octaves(dtype: str) -> IntArray:
    """Return the power of two at or below the sizes of each cell (of numbers too small for it: a little less)."""
    real, integer = FLOATS[dtype]
    cell = np.arange(CELLS, dtype=np.int64) - CELLS // 2
    per_octave = np.finfo(real).nmant - (8 * np.dtype(integer).itemsize - CELL_BITS)  # log2 of the cells
    octave: IntArray = (np.where(cell < 0, -1 - cell, cell) >> per_octave) - (np.finfo(real).maxexp - 1)
    return octave


@dataclass(frozen=True, slots=True)
class _Run:
    """Neighbouring cells of one sign whose bins have one length, in scores (where `even`) or in keys.

    The bin of a score is floor(score * 2**scale), or key >> scale, plus `base`.
    """

    first: int  # the lowest key
    last: int
    even: bool
    scale: int
    base: int

    @classmethod
    def of(cls, bins: ScoreBins, negative: bool) -> _Run | None:
        """Return the run that has the most bins, where those are most of the bins of this sign."""
        mantissa = int(np.finfo(FLOATS[bins.dtype][0]).nmant)
        cells = np.arange(CELLS // 2) if negative else np.arange(CELLS // 2, CELLS)
        shifts = bins.shifts[cells].astype(np.int64)
        sizes = np.int64(1) << (bins.low_bits - shifts)
        best: _Run | None = None
        most = int(sizes.sum()) // 2
        for even, kind in ((True, mantissa - _octaves(bins.dtype)[cells] - shifts), (False, shifts)):
            start = np.flatnonzero(np.append(True, np.diff(kind) != 0))
            held = np.add.reduceat(sizes, start)
            i = int(held.argmax())
            scale = int(kind[start[i]])
            if held[i] <= most or (even and abs(scale) > MOST_SCALE):
                continue
            most = int(held[i])
            first, last = int(cells[start[i]]), int(cells[np.append(start, cells.size)[i + 1] - 1])
            key = (first - CELLS // 2) << bins.low_bits
            if even:
                lowest = int(np.floor(scores_of_keys(np.array([key]), bins.dtype)[0] * 2.0**scale))
            else:
                lowest = key >> scale
            base = int(bins._starts[first]) - lowest
            best = cls(key, ((last - CELLS // 2 + 1) << bins.low_bits) - 1, even, scale, base)
        return best


def _runs(bins: ScoreBins) -> tuple[_Run | None, _Run | None]:
    """Return the run of positive scores, and that of negative ones where it is of the same kind."""
    above, below = (_Run.of(bins, negative=negative) for negative in (False, True))
    alike = above is not None and below is not None and (above.even, above.scale) == (below.even, below.scale)
    return above, below if alike else None


def _shared_sizes(above: _Run, below: _Run) -> tuple[int, int]:
    """Return the lowest of the sizes that both signs' runs hold, and how far the highest is from it."""
    first = max(above.first, -below.last)  # of negative floats the run begins one key further from zero
    return first, min(above.last, -below.first) - first


def _even(bins: ScoreBins) -> compiled.Even | None:
    """Return the run of bins of one length in scores, as compiled loops read it."""
    above, below = _runs(bins)
    if above is None or not above.even:
        return None
    first, span = (above.first, above.last - above.first) if below is None else _shared_sizes(above, below)
    if span < 0:
        return None
    lowest, highest = scores_of_keys(np.array([first, first + span]), bins.dtype).tolist()
    base, sign = (0, 1.0) if below is None else (below.base, -1.0)
    return compiled.Even(lowest, highest, 2.0**above.scale, above.base, base, sign)


class Coder:
    """Writes the bins of scores into buffers that are made once."""

    def __init__(self, bins: ScoreBins) -> None:
        self.bins = bins
        self._cell = np.empty(CHUNK, np.int64)
        self._first, self._second = np.empty((2, CHUNK), bins.integer)
        self._real = np.empty(CHUNK, FLOATS[bins.dtype][0])
        self._outside = np.empty(CHUNK, np.bool_)
        self._shifts = bins.shifts.astype(bins.integer)
        self._run, self._below = _runs(bins)

    def codes(self, scores: Array, positive: BoolArray | None = None) -> IntArray:
        """Return the bin of each of at most CHUNK scores; with labels, twice the bin plus the label.

        The array is a buffer: what it holds lasts until the next call.
        """
        # Every step keeps to one type, because NumPy is slow where it must convert on the way.
        cell, first, second = self._cell[: scores.size], self._first[: scores.size], self._second[: scores.size]
        if self._run is None or not self._plain(scores, self._run, first, second):
            self.codes_of_keys(ordered_keys(scores))
            if positive is None:
                return cell
            np.copyto(first, cell, casting="unsafe")
        if positive is not None:
            np.left_shift(first, 1, out=first)
            np.copyto(second, positive)
            first |= second
        np.copyto(cell, first)
        return cell

    def _plain(self, scores: Array, run: _Run, first: Array, second: Array) -> bool:
        """Write the bins of scores that most lie in a run; return False, with nothing written, where they do not."""
        scores = np.ascontiguousarray(scores)
        bits: Array = scores.view(self.bins.integer)
        signed = self._below is not None and bool(bits.min(initial=0) < 0)
        low, span = run.first, run.last - run.first
        if signed:
            assert self._below is not None
            low, span = _shared_sizes(run, self._below)
            np.bitwise_and(bits, np.iinfo(self.bins.integer).max, out=first)
            np.subtract(first, low, out=first)
        else:
            np.subtract(bits, low, out=first)
        outside = self._outside[: scores.size]
        unsigned = np.uint32 if bits.itemsize == 4 else np.uint64
        np.greater(first.view(unsigned), unsigned(span), out=outside)
        strange = int(np.count_nonzero(outside))
        if strange > scores.size // 4:
            return False
        if run.even:
            real = self._real[: scores.size]
            np.multiply(scores, real.dtype.type(2.0**run.scale), out=real)
            if signed:
                np.floor(real, out=real)
            if strange:
                real[outside] = 0
            np.copyto(first, real, casting="unsafe")
        else:
            np.right_shift(ordered_keys(bits.view(scores.dtype)) if signed else bits, run.scale, out=first)
        first += run.base
        if signed:
            assert self._below is not None
            np.right_shift(bits, 8 * bits.itemsize - 1, out=second)  # -1 of negative floats
            second &= self._below.base - run.base
            first += second
        if strange:
            place = np.flatnonzero(outside)
            first[place] = self.codes_of_keys(ordered_keys(scores[place]))
        return True

    def codes_of_keys(self, keys: Array) -> IntArray:
        """Return the bin of each of at most CHUNK keys, in a buffer."""
        cell = self._cell[: keys.size]
        first, second = np.empty((2, keys.size), self.bins.integer)
        np.right_shift(keys, self.bins.low_bits, out=first)
        first += CELLS // 2
        np.copyto(cell, first)
        np.take(self._shifts, cell, out=first, mode="clip")
        np.right_shift(keys, first, out=first)
        np.take(self.bins._base, cell, out=second, mode="clip")
        first += second
        np.copyto(cell, first)
        return cell


class BinTable:
    """Counts (or sums of weights) of negatives and positives in the bins of a layout.

    Where asked for, and as long as scores have many ties, it knows which bins hold one score only.
    """

    def __init__(self, bins: ScoreBins, weighted: bool = False, ties: bool = False) -> None:
        self.bins = bins
        self._singles = SingleScores(bins.size, bins.integer) if ties and bins.size <= MOST_BINS else None
        self._weighted = weighted
        self._rows = 0
        self._coder: Coder | None = None
        self._table: Array | None = None
        self._bytes: compiled.ByteCounts | None = None  # counts that are not yet in the table

    def add(self, positive: BoolArray, scores: Array, weights: FloatArray | None = None) -> None:
        """Count a batch of scores of the layout's type."""
        self._room(scores.size)
        fast = compiled.loops() if weights is None else None
        if fast is not None:
            if self._bytes is None:
                self._bytes = compiled.ByteCounts(self.bins.size)
            fast.count(scores, positive, self.bins.layout, self._bytes)
        else:
            self._add_by_numpy(positive, scores, weights)
        for start in range(0, scores.size, CHUNK):
            if self._singles is None:
                break
            some = scores[start : start + CHUNK]
            if not self._singles.add(self._codes(some), ordered_keys(some)):
                self._singles = None

    def _add_by_numpy(self, positive: BoolArray, scores: Array, weights: FloatArray | None) -> None:
        table = self.table
        one = table.dtype.type(1)
        for start in range(0, scores.size, CHUNK):
            span = slice(start, start + CHUNK)
            np.add.at(table, self._codes(scores[span], positive[span]), one if weights is None else weights[span])

    def _codes(self, scores: Array, positive: BoolArray | None = None) -> IntArray:
        if self._coder is None:
            self._coder = Coder(self.bins)
        return self._coder.codes(scores, positive)

    @property
    def table(self) -> Array:
        """The counts: of negatives and positives of each bin in turn."""
        if self._table is None:
            self._table = np.zeros(2 * self.bins.size, self._kind())
        if self._bytes is not None:
            self._bytes.add_to(self._table)
            self._bytes = None
        return self._table

    @property
    def byte_counts(self) -> compiled.ByteCounts | None:
        """The counts as compiled loops made them, where there are no others."""
        return self._bytes if self._table is None else None

    def merge(self, other: BinTable) -> None:
        """Add the counts of another table of the same layout."""
        self._room(other._rows)
        fast = compiled.loops()
        if fast is not None and other.byte_counts is not None:
            if self._bytes is None:
                self._bytes = compiled.ByteCounts(self.bins.size)
            fast.add_counts(self._bytes, other.byte_counts)
        else:
            table = self.table
            table += other.table  # the rows of both decide the type, so that this one holds the other's
        if other._singles is None or (self._singles is not None and not self._singles.merge(other._singles)):
            self._singles = None

    def _kind(self) -> Any:
        """Return the type of counts: small ones make a table of which more stays in the cache."""
        if self._weighted:
            return np.float64
        return np.uint32 if self._rows <= np.iinfo(np.uint32).max else np.int64

    def _room(self, rows: int) -> None:
        """Have room for the counts of more rows, before any of them can overflow."""
        self._rows += rows
        if self._table is not None:
            self._table = self._table.astype(self._kind(), copy=False)

    def filled(self) -> tuple[IntArray, Array, Array]:
        """Return the bins that hold examples, from the highest scores down, with negatives and positives of each."""
        pairs = self.table.reshape(-1, 2)
        code = np.flatnonzero((pairs[:, 0] != 0) | (pairs[:, 1] != 0))[::-1]
        kind = np.float64 if self.table.dtype.kind == "f" else np.int64
        neg, pos = (pairs[code, i].astype(kind, copy=False) for i in (0, 1))
        return code, neg, pos

    def single(self, code: IntArray) -> BoolArray:
        """Return which of some filled bins are known to hold one score."""
        return np.zeros(code.size, np.bool_) if self._singles is None else self._singles.single(code)

    def keys_of(self, code: IntArray) -> tuple[IntArray, IntArray]:
        """Return the lowest key of some filled bins, and log2 of the number of keys: 0 where a bin holds one score."""
        low, shift = self.bins.keys_of(code)
        if self._singles is None:
            return low, shift
        single = self._singles.single(code)
        return np.where(single, self._singles.keys(code), low), np.where(single, 0, shift)

    def state(self) -> dict[str, Array]:
        """Return the layout and the counts that are not zero."""
        place = np.flatnonzero(self.table)
        ties = {} if self._singles is None else self._singles.state()
        return {"shifts": self.bins.shifts, "place": place, "counts": self.table[place], **ties}

    @classmethod
    def restored(cls, dtype: str, arrays: dict[str, Array]) -> BinTable:
        """Return the table of a state."""
        table = cls(ScoreBins(dtype, arrays["shifts"]), arrays["counts"].dtype.kind == "f", "single" in arrays)
        table.fill(arrays)
        if table._singles is not None:
            single = part(arrays, "single", "iu", most=table.bins.size)
            mixed = part(arrays, "mixed", "iu", most=table.bins.size)
            key = arrays["key"]
            if key.dtype != table.bins.integer or key.shape != single.shape:
                raise DataError("key must have one value a bin of one score")
            table._singles.fill({"single": single, "key": key, "mixed": mixed})
        return table

    def fill(self, arrays: dict[str, Array]) -> None:
        """Set the counts of an empty table to those of a state."""
        place = part(arrays, "place", "iu", most=2 * self.bins.size)
        found = part(arrays, "counts", "f" if self._weighted else "iu", place.size)
        if found.dtype.kind != "f":
            self._room(int(found.sum()))
        self.table[place] = found
