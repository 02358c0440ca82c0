"""Bins of scores by their bits, which have the order of the scores and need no pass over the data to be laid out.

The key of a score is an integer; keys have the order of the scores. The highest 12 bits of the key (sign and exponent
of a float64) are its cell, and each cell is divided into a power of two of equal bins. So every bin is a range of keys
whose length is a power of two, and a finer layout only splits the bins of a coarser one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError
from costcurves._base.validation import BoolArray, IntArray, check_choice, check_integer, frozen
from costcurves.counting import compiled, counts
from costcurves.counting.keys import CELL_BITS, CELLS, FLOATS, ordered_keys, scores_of_keys

Array = npt.NDArray[Any]

FEWEST, MOST = 1 << 14, 1 << 26
CHUNK = 1 << 15  # the number of rows whose intermediate arrays stay in the cache
SOME_TIES = 0.9  # if a sample has at most this share of distinct values, all scores may have many ties
# By this factor bins may be more crowded if they are faster to find.
MOST_CROWDED = 4.0
MOST_SCALE = 60  # so that scores times 2**scale are floats, and not subnormal ones


def float_scores(scores: Array) -> Array:
    """Return checked scores as float32 or float64 (integers are exact as float64)."""
    return scores if scores.dtype.kind == "f" else scores.astype(np.float64)


def share_of_distinct(values: Array) -> float:
    """Return the number of distinct values as a share of all values."""
    return float(runs(np.sort(values))[0].size / max(values.size, 1))


def runs(values: Array) -> tuple[Array, IntArray]:
    """Return the distinct values of a sorted array, and how often each occurs."""
    last = np.flatnonzero(np.append(values[1:] != values[:-1], True)[: values.size])
    return values[last], np.diff(last, prepend=-1)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScoreBins:
    """A layout of bins in the order of the scores, which all tallies that are to be merged must share.

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
        """Return a layout for scores about which nothing is known: it is finest for absolute values from 1/512 to 128.

        Parameters
        ----------
        dtype : {"float32", "float64"}
        resolution : int
            The largest number of bins, from 2**14 to 2**26. Half of them are for absolute values from 2**-9 to 2**7.
        """
        check_choice("dtype", dtype, FLOATS)
        return cls._universal(dtype, check_resolution(resolution))

    @classmethod
    @lru_cache(maxsize=16)  # the tallies of very many groups share a layout
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
    def from_sample(cls, scores: npt.ArrayLike, resolution: int = 2**20) -> ScoreBins:
        """Return a layout that is finest where a sample of the scores has most examples.

        Parameters
        ----------
        scores : array-like
            Some of the scores. The results of an exact tally do not depend on them; the error of a binned one does.
        resolution : int
            The largest number of bins, from 2**14 to 2**26.
        """
        sample = float_scores(counts.checked_scores(scores, "scores"))
        resolution = check_resolution(resolution)
        sample = sample[:: -(-sample.size // CHUNK)]
        by_share = cls._by_share(sample, resolution)
        plain = min((cls._plain(sample, resolution, even) for even in (True, False)), key=lambda b: b.crowding(sample))
        return plain if plain.crowding(sample) <= MOST_CROWDED * by_share.crowding(sample) else by_share

    @classmethod
    def _by_share(cls, sample: Array, resolution: int) -> ScoreBins:
        """Return a layout in which each cell has bins in proportion to the sampled examples in it."""
        low_bits = 8 * sample.dtype.itemsize - CELL_BITS
        cell = (ordered_keys(sample) >> low_bits).astype(np.int64) + CELLS // 2
        share = np.bincount(cell, minlength=CELLS) * ((resolution - CELLS) / sample.size)
        fineness = np.frexp(np.maximum(share, 1.0))[1] - 1
        return cls(str(sample.dtype), low_bits - np.minimum(fineness, low_bits))

    @classmethod
    def _plain(cls, sample: Array, resolution: int, even: bool) -> ScoreBins:
        """Return bins between the ends of the sample that have equal lengths, in scores (`even`) or in keys."""
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
        return self.size

    def same(self, other: ScoreBins) -> bool:
        """Whether two layouts are the same."""
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
        """The layout in the form that compiled loops read."""
        if self._layout is None:
            shifts = self.shifts.astype(np.int64)
            first_key = (np.arange(CELLS, dtype=np.int64) - CELLS // 2) << self.low_bits
            layout = compiled.Layout(self.low_bits, shifts, self._starts[:-1] - (first_key >> shifts), _even(self))
            object.__setattr__(self, "_layout", layout)
        assert self._layout is not None
        return self._layout

    def keys_of(self, code: IntArray) -> tuple[IntArray, IntArray]:
        """Return the lowest key of each bin, and log2 of the number of keys in it."""
        if code.size > CHUNK:  # a list of all bins is faster than that many searches
            cell = np.repeat(np.arange(CELLS), np.diff(self._starts))[code]
        else:
            cell = np.searchsorted(self._starts, code, side="right") - 1
        shift = self.shifts[cell].astype(np.int64)
        return ((cell - CELLS // 2) << self.low_bits) + ((code - self._starts[cell]) << shift), shift

    def __repr__(self) -> str:
        return f"ScoreBins({self.dtype}, {self.size} bins)"


def _check_shifts(shifts: Any, low_bits: int) -> Array:
    """Return the shifts of a layout, after checking that all its bins are within the limits."""
    array = np.asarray(shifts)
    if array.shape != (CELLS,) or array.dtype.kind not in "iu":
        raise InputError(f"`shifts` must be {CELLS} integers, got shape {array.shape} of {array.dtype}")
    if array.min() < 0 or array.max() > low_bits:
        raise InputError(f"`shifts` must be from 0 to {low_bits}, got {array.min()} to {array.max()}")
    bins = int(np.exp2(low_bits - array.astype(np.float64)).sum())
    if bins > MOST:
        raise InputError(f"`shifts` must make at most {MOST} bins, got {bins}")
    return array.astype(np.uint8)


def check_resolution(resolution: Any) -> int:
    """Check the largest number of bins."""
    return check_integer("resolution", resolution, FEWEST, MOST)


def check_layout(bins: Any, dtype: Any) -> str | None:
    """Return the type of scores of a layout or as given, if either is."""
    if bins is not None and not isinstance(bins, ScoreBins):
        raise InputError(f"`bins` must be ScoreBins, got {type(bins).__name__}")
    if dtype is not None:
        check_choice("dtype", dtype, FLOATS)
        if bins is not None and bins.dtype != dtype:
            raise InputError(f"`dtype` must be that of `bins`, got {dtype} and {bins.dtype}")
    return dtype if bins is None else bins.dtype


def same_layout(first: ScoreBins | None, second: ScoreBins | None) -> ScoreBins | None:
    """Return the layout of two tallies to be merged, which must be the same if both have one."""
    if first is not None and second is not None and not first.same(second):
        raise InputError(f"`other` must have the same bins to be merged, got {second!r} and {first!r}")
    return second if first is None else first


def _octaves(dtype: str) -> IntArray:
    """Return the power of two at or below the absolute values of each cell (a little less for subnormal numbers)."""
    real, integer = FLOATS[dtype]
    cell = np.arange(CELLS, dtype=np.int64) - CELLS // 2
    per_octave = np.finfo(real).nmant - (8 * np.dtype(integer).itemsize - CELL_BITS)  # log2 of the cells
    octave: IntArray = (np.where(cell < 0, -1 - cell, cell) >> per_octave) - (np.finfo(real).maxexp - 1)
    return octave


@dataclass(frozen=True, slots=True)
class _Run:
    """Neighbouring cells of the same sign whose bins have equal lengths, in scores (if `even`) or in keys.

    The bin of a score is floor(score * 2**scale), or key >> scale, plus `base`.
    """

    first: int  # the lowest key
    last: int
    even: bool
    scale: int
    base: int

    @classmethod
    def of(cls, bins: ScoreBins, negative: bool) -> _Run | None:
        """Return the run with the most bins, if it has most of the bins of this sign."""
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
    """Return the run of positive scores, and that of negative scores if it is of the same kind."""
    above, below = (_Run.of(bins, negative=negative) for negative in (False, True))
    alike = above is not None and below is not None and (above.even, above.scale) == (below.even, below.scale)
    return above, below if alike else None


def _shared_sizes(above: _Run, below: _Run) -> tuple[int, int]:
    """Return the lowest key that the runs of both signs hold, and the distance to the highest."""
    first = max(above.first, -below.last)  # the run of negative floats begins one key further from zero
    return first, min(above.last, -below.first) - first


def _even(bins: ScoreBins) -> compiled.Even | None:
    """Return the run of bins of equal lengths in scores, in the form that compiled loops read."""
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
    """Finds the bins of scores, in buffers that are allocated once."""

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

        The array is a buffer whose content lasts until the next call.
        """
        # Every step keeps the type, because NumPy is slow if it must convert on the way.
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
        """Write the bins of scores, most of which lie in a run; if they do not, return False and write nothing."""
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
            np.right_shift(bits, 8 * bits.itemsize - 1, out=second)  # -1 for negative floats
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
