"""Quantiles at many operating points at once: sums of two integer variables, and lattices in batches."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import BoolArray, FloatArray, IntArray
from costcurves.counting import compiled
from costcurves.inference.kernel.lattice import TAIL, Cells, bernstein, common_step, lagrange, power

# A bracket is small enough when it holds about this many atoms, which are then listed and sorted. If many atoms
# coincide more are listed, but at most `_MANY` in all.
_FEW = 100
_MANY = 2**17
# An atom is reached at a place if the place is at most rounding below it, in steps.
_AT = 1.0 + 1e-9
# Longest stretch of counts that shares one table of binomial ratios.
_SHARED = 2**18


class Whole(NamedTuple):
    """A variable step · k at each point, k = first, first + 1, ..., with probabilities (rows, window).

    `row` is the row of each point: neighbouring operating points often share a threshold, and so a row. `third` is the
    third cumulant of k.
    """

    step: FloatArray
    first: IntArray
    mass: FloatArray
    third: FloatArray
    row: IntArray


def integer_plan(values: FloatArray) -> tuple[IntArray, FloatArray] | None:
    """Return integers (cells,) and a step (points,) with values = step · integers, or None if there are none."""
    row = values[np.argmax(np.abs(values).max(axis=1))]
    nonzero = row[row != 0]
    if nonzero.size == 0:
        return np.zeros(row.size, dtype=np.int64), np.ones(values.shape[0])
    step = common_step(nonzero)
    if step is None:
        return None
    whole = np.rint(row / step)
    if np.abs(whole).max() > 64:
        return None
    steps = values @ whole / (whole @ whole)
    if np.abs(values - steps[:, None] * whole).max() > 1e-13 * np.abs(row).max() or steps.min() < 0:
        return None
    return whole.astype(np.int64), steps


def integer_tables(n: int, q: FloatArray, whole: IntArray, steps: FloatArray) -> Whole | None:
    """Return the distribution of steps · Σ whole · counts at each point; None if its window is too long."""
    mean = n * (q @ whole)
    variance = n * (q @ whole.astype(np.float64) ** 2 - (q @ whole) ** 2)
    largest = float(np.abs(whole).max()) + float(np.abs(q @ whole).max())
    low, high = n * min(0, int(whole.min())), n * max(0, int(whole.max()))
    reach = bernstein(float(variance.max(initial=0.0)), largest)
    size = min(2 * math.ceil(reach) + 2, high - low + 1)
    if size > 2**14:
        return None
    away = np.append(whole, 0) - mean[:, None] / n
    third = n * (np.column_stack([q, 1.0 - q.sum(axis=1)]) * away**3).sum(axis=1)
    # A step of zero is a case of its own: there the variable has a single value (see `batched_quantiles`).
    new = np.append(True, (q[1:] != q[:-1]).any(axis=1) | ((steps[1:] == 0) != (steps[:-1] == 0)))
    row = np.cumsum(new) - 1
    q, mean = q[new], mean[new]
    first = np.clip(np.floor(mean) - math.ceil(reach), low, max(low, high - size + 1)).astype(np.int64)
    if whole.tolist() == [1] and np.ptp(first) + size <= _SHARED:
        mass = binomial_rows(n, q[:, 0], first, size)
    else:
        length = 1 << max(1, (size - 1).bit_length())
        pmf = np.zeros((q.shape[0], length))
        pmf[:, 0] = np.maximum(1.0 - q.sum(axis=1), 0.0)
        for c, k in enumerate(whole.tolist()):
            pmf[:, k % length] += q[:, c]
        folded = np.fft.irfft(power(np.fft.rfft(pmf, axis=1), n), length, axis=1)
        columns = (first[:, None] + np.arange(size)) % length
        mass = np.maximum(np.take_along_axis(folded, columns, axis=1), 0.0)
    mass /= mass.sum(axis=1, keepdims=True)
    return Whole(steps, first[row], mass, third, row)


def binomial_rows(n: int, p: FloatArray, first: IntArray, size: int) -> FloatArray:
    """Return binomial probabilities of first, ..., first + size - 1 at each point, up to one factor per point.

    The ratios P(k + 1)/P(k) of two points differ by their odds alone, so logarithms are taken once per count.
    """
    logs = np.zeros((p.size, size))
    if size > 1:
        start = int(first.min())
        k = np.arange(start, int(first.max()) + size - 1, dtype=np.float64)
        ratios = np.lib.stride_tricks.sliding_window_view(np.log((n - k) / (k + 1)), size - 1)
        with np.errstate(divide="ignore"):
            odds = np.clip(np.log(p) - np.log1p(-np.minimum(p, 1.0)), -700.0, 700.0)
        np.add(ratios[first - start], odds[:, None], out=logs[:, 1:])
        np.cumsum(logs, axis=1, out=logs)
        logs -= logs.max(axis=1, keepdims=True)
    return np.asarray(np.exp(logs, out=logs))


class Scratch:
    """Memory that is used again for every block of points, because fresh pages cost as much as the arithmetic."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: dict[str, npt.NDArray[Any]] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: Any = np.float64) -> npt.NDArray[Any]:
        """Return an array with any content, in the place of the last one of this name."""
        size = math.prod(shape)
        held = self._held.get(name)
        if held is None or held.size < size:
            held = self._held[name] = np.empty(size, dtype)
        return held[:size].reshape(shape)


def batched_quantiles(
    levels: FloatArray, rows: list[Whole], mean: FloatArray, std: FloatArray, scratch: Scratch
) -> FloatArray:
    """Return quantiles (levels, points) of the sum of one or two scaled integer variables; they are atoms of the sum.

    Places are measured in steps of the second variable from a central atom, so that they are integers times a ratio of
    steps, with an error of about 1e-16 of the window and not of the value.
    """
    if len(rows) == 1:
        nothing, none = np.zeros_like(mean), np.zeros_like(rows[0].first)
        rows = [*rows, Whole(nothing, none, np.ones((1, 1)), nothing, none)]
    one, two = sorted(rows, key=lambda row: row.mass.shape[1])
    # A variable of value zero at this point (pc = 0 or 1) has no step; any step with one atom at 0 will do.
    flat = two.step == 0
    unit = np.where(flat, np.where(one.step > 0, one.step, 1.0), two.step)
    total = np.zeros((two.mass.shape[0], two.mass.shape[1] + 1))
    np.cumsum(two.mass, axis=1, out=total[:, 1:])
    total[two.row[flat], 1:] = 1.0
    half = np.where(flat, 0, two.mass.shape[1] // 2)
    # Columns that carry no mass anywhere are not summed.
    used = np.flatnonzero(one.mass.max(axis=0) > 1e-16)
    centre = one.mass.shape[1] // 2
    middle = one.step * (one.first + centre) + np.where(flat, 0.0, two.step * (two.first + half))
    room = scratch.array("room", (mean.size, used.size))
    np.multiply((one.step / unit)[:, None], used - centre, out=room)
    np.subtract(half[:, None], room, out=room)
    p = np.take(one.mass[:, used], one.row, axis=0, out=scratch.array("p", room.shape), mode="clip")
    certain = std <= 1e-12 * np.abs(mean)
    spread = np.where(certain, 1.0, std / unit)
    skew = (one.step**3 * one.third + two.step**3 * two.third) / np.where(certain, np.inf, std) ** 3
    sums = _Sums(p, total, two.row, room, (mean - middle) / unit, spread, skew, scratch)
    out = np.empty((levels.size, mean.size))
    for j, level in enumerate(levels):
        column, index = sums.quantile(float(level))
        value = one.step * (one.first + used[column])
        out[j] = np.where(certain, mean, value + np.where(flat, 0.0, two.step * (two.first + index)))
    return out


class _Sums(NamedTuple):
    """Sums of two integer variables at each point; places are in steps of the second variable.

    `p` has the probabilities of the first variable, one column per atom; `total` the distribution functions of the
    second, and `row` the one of each point; `room` the number of steps that the second may go at place 0 for each atom
    of the first. The rest are mean, standard deviation and skewness.
    """

    p: FloatArray
    total: FloatArray
    row: IntArray
    room: FloatArray
    mean: FloatArray
    std: FloatArray
    skew: FloatArray
    scratch: Scratch

    def chosen(self, rows: IntArray) -> _Sums:
        """Return some of the points."""
        return _Sums(
            self.p[rows],
            self.total,
            self.row[rows],
            self.room[rows],
            self.mean[rows],
            self.std[rows],
            self.skew[rows],
            self.scratch,
        )

    def reached(self, place: FloatArray, name: str = "reached") -> IntArray:
        """Return how many atoms of the second variable are at or below a place, for each atom of the first."""
        whole: IntArray = self.scratch.array(name, self.room.shape, np.int64)
        if (fast := compiled.loops()) is not None:
            fast.reach(self.room, place + _AT, self.row, self.total, whole)
            return whole
        count = np.add(self.room, (place + _AT)[:, None], out=self.scratch.array("count", self.room.shape))
        np.clip(count, 0.0, float(self.total.shape[1] - 1), out=count)
        np.copyto(whole, count, casting="unsafe")  # rounds down: none is negative
        return whole

    def cdf(self, place: FloatArray, name: str = "reached") -> tuple[FloatArray, IntArray]:
        """Return the distribution function at a place, and how many atoms are reached there."""
        values = self.scratch.array("values", self.room.shape)
        if (fast := compiled.loops()) is not None:
            reached: IntArray = self.scratch.array(name, self.room.shape, np.int64)
            fast.reach(self.room, place + _AT, self.row, self.total, reached, values)
        else:
            reached = self.reached(place, name)
            index = self.scratch.array("index", reached.shape, np.int64)
            np.add(reached, (self.row * self.total.shape[1])[:, None], out=index)
            np.take(self.total.ravel(), index, out=values, mode="clip")  # all indices are valid; "clip" avoids a copy
        return np.asarray(np.einsum("ij,ij->i", values, self.p)), reached

    def quantile(self, level: float) -> tuple[IntArray, IntArray]:
        """Return the atom at which each point reaches a level: its column, and the index of the second variable."""
        target = level - 1e-13
        aim = float(_probit(target))
        # The quantile of Cornish and Fisher is nearly right: the nearest atoms are listed, then, for points at which
        # atoms coincide, those within one step to either side. If that fails, the quantile is searched for.
        guess = self.mean + self.std * (aim + self.skew * (aim * aim - 1) / 6)
        near = 0.5 * _FEW / self.p.shape[1]
        column, index, failed = self._atom(guess - near, guess + near, target)
        for last in (False, True):
            if failed.size == 0 or (self.p.shape[1] * failed.size > _MANY and not last):
                continue
            some = self.chosen(failed)
            ends = some._bracket(target, aim) if last else (guess[failed] - 1.01, guess[failed] + 1.01)
            column[failed], index[failed], again = some._atom(*ends, target)
            failed = failed[again]
        return column, index

    def _bracket(self, target: float, aim: float) -> tuple[FloatArray, FloatArray]:
        """Return places between which the distribution function reaches the target, with few atoms between them."""
        low, high = -self.room.max(axis=1) - 1.0, self.total.shape[1] - 1.0 - self.room.min(axis=1)
        y_low, y_high = np.full(low.size, -8.0), np.full(low.size, 8.0)
        few = _FEW / self.p.shape[1]
        place = np.clip(self.mean + self.std * aim, low, high)
        for turn in range(200):
            value, _ = self.cdf(place)
            held, y = value >= target, _probit(value)
            high, y_high = np.where(held, place, high), np.where(held, y, y_high)
            low, y_low = np.where(held, low, place), np.where(held, y_low, y)
            # If atoms coincide no bracket closes quickly, and none needs to.
            width = high - low
            if (width <= few).all() or (turn % 6 == 5 and self.p.shape[1] * (width + 1).sum() < _MANY):
                break
            # On the normal scale the distribution function is nearly a line, so a few secants are enough.
            guess = low + width * np.clip((aim - y_low) / np.maximum(y_high - y_low, 1e-9), 0.0, 1.0)
            # Aim a little past the root, towards the end that is still far away, so that it moves as well.
            place = guess + np.where(high - guess > guess - low, 0.4, -0.4) * few
            middle = 0.5 * (low + high)
            place = np.where((place <= low) | (place >= high) | (turn % 4 == 3), middle, place)
        return low, high

    def _atom(self, low: FloatArray, high: FloatArray, target: float) -> tuple[IntArray, IntArray, IntArray]:
        """Return the first atom in (low, high] at which the target is reached, and the points without such an atom."""
        value, before = self.cdf(low, "before")
        missing = target - value
        after = self.reached(high)
        cell = np.flatnonzero(np.not_equal(after, before, out=self.scratch.array("differ", after.shape, np.bool_)))
        if cell.size == 0:
            nothing = np.zeros(low.size, dtype=np.intp)
            return nothing, nothing.copy(), np.arange(low.size)
        often = after.ravel()[cell] - before.ravel()[cell]
        cell, run = np.repeat(cell, often), np.arange(often.sum()) - np.repeat(np.cumsum(often) - often, often)
        row, column = np.divmod(cell, self.p.shape[1])
        index = before.ravel()[cell] + run
        place = self.row[row] * self.total.shape[1] + index
        mass = self.p.ravel()[cell] * (self.total.ravel()[place + 1] - self.total.ravel()[place])
        part = (index - self.room.ravel()[cell] - low[row]) / (high - low)[row]
        order = np.argsort(row + 0.5 * part)
        total = np.concatenate([[0.0], np.cumsum(mass[order])])
        start = np.searchsorted(row, np.arange(low.size))
        # Rounding may leave the sum at the last atom a little short of the target; it is still the answer.
        enough = np.flatnonzero(total[1:] - total[start][row] >= missing[row] - 1e-13)
        found = np.full(low.size, -1)
        found[row[enough[::-1]]] = enough[::-1]
        at = order[np.maximum(found, 0)]
        return column[at], index[at], np.flatnonzero((found < 0) | (missing <= 0))


def _probit(p: FloatArray | float) -> FloatArray:
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(p, 1e-15, 1 - 1e-15)))


# The error bounds of `lattice_quantiles`: of levels, and of places in standard deviations or parts of the largest
# value.
LEVEL_ERROR = 1e-3
PLACE_ERROR = (0.05, 0.02)
# Beyond four standard deviations of the smoothing normal lies less than this.
_BEYOND_FOUR = 3.2e-5


def lattice_quantiles(
    tables: list[Cells], q: FloatArray, mean: FloatArray, variance: FloatArray, length: int
) -> tuple[FloatArray, BoolArray]:
    """Return quantiles (levels, points) from one interpolated lattice per point, and which points keep the error bound.

    The bound says that each quantile x of level q has F(x - r) <= q + 0.001 and F(x + r) >= q - 0.001, where F is the
    exact distribution function and r the larger of 0.05 standard deviations and 2 % of the largest value of a draw.

    The distribution of the lattice is smoothed with a normal of s steps and compared with the exact one, smoothed in
    the same way, by the integral of the difference of their transforms: at most λ · |f(1-f²)(4-f²)|/120 · (ωh)^5 times
    the largest modulus, where λ is the expected number of draws that are not of value 0. A smoothed distribution
    function lies between the values of the unsmoothed one 4 s to either side.
    """
    from scipy.special import exp1

    largest, value = np.zeros(mean.size), np.zeros(mean.size)
    low, high = np.zeros(mean.size), np.zeros(mean.size)
    for n, qs, v in tables:
        one = (qs * v).sum(axis=1)
        bottom, top = np.minimum(v.min(axis=1), 0.0), np.maximum(v.max(axis=1), 0.0)
        largest = np.maximum(largest, np.maximum(one - bottom, top - one))
        value = np.maximum(value, np.maximum(-bottom, top))
        low, high = low + n * bottom, high + n * top
    log = math.log(2 / TAIL)
    reach = largest * log / 3 + np.sqrt((largest * log / 3) ** 2 + 2 * variance * log)
    low, high = np.maximum(low, mean - reach), np.minimum(high, mean + reach)
    step = np.maximum((high - low) / (length - 128), 1e-300)
    omega = 2 * np.pi * np.arange(length // 2 + 1) / length
    wrong = np.minimum(1.40625 / 120 * omega**5, 2.0)
    product: Any = 1.0
    log_size, moved = np.zeros((mean.size, omega.size)), np.zeros(mean.size)
    rows = np.arange(mean.size)
    for n, qs, v in tables:
        pmf = np.zeros((mean.size, length))
        pmf[:, 0] = np.maximum(1.0 - qs.sum(axis=1), 0.0)
        for c in range(qs.shape[1]):
            position = v[:, c] / step
            nearest = np.rint(position)
            weights = lagrange(position - nearest) * qs[:, c]
            for offset in range(-2, 3):
                pmf[rows, (nearest.astype(np.int64) + offset) % length] += weights[offset + 2]
        transform = np.fft.rfft(pmf, axis=1)
        product = product * power(transform, n)
        share = qs.sum(axis=1)
        log_size += (n - n / max(m for m, _, _ in tables)) * np.log(
            np.minimum(np.abs(transform) + share[:, None] * wrong, 1.0)
        )
        moved += n * share
    room = np.maximum(PLACE_ERROR[0] * np.sqrt(variance), PLACE_ERROR[1] * value) / step
    width = np.clip((room - 1) / 4, 1.0, 8.0)
    smooth = np.exp(-0.5 * (width[:, None] * omega) ** 2)
    folded = np.fft.irfft(product * smooth, length, axis=1)
    first = np.floor(low / step).astype(np.int64) - 64
    columns = (first[:, None] + np.arange(length)) % length
    mass = np.take_along_axis(folded, columns, axis=1)
    negative = -np.minimum(mass, 0.0).sum(axis=1)
    gap = np.minimum(moved[:, None] * wrong * np.exp(log_size), 2.0)[:, 1:] / np.arange(1, omega.size)
    # Above the lattice's frequencies the transforms differ by at most 2.
    error = (gap * smooth[:, 1:]).sum(axis=1) / np.pi
    error += exp1(0.5 * (np.pi * width) ** 2) / np.pi + 2 * negative + _BEYOND_FOUR
    error += 4e-16 * sum(n for n, _, _ in tables) + 1e-13
    kept = ((error <= LEVEL_ERROR) & (room >= 5.0)) | (variance == 0)
    total = np.cumsum(np.maximum(mass, 0.0), axis=1)
    total /= total[:, -1:]
    out = np.empty((q.size, mean.size))
    for j, level in enumerate(q):
        at = np.minimum((total < level - 1e-13).sum(axis=1), length - 1)
        above = np.take_along_axis(total, at[:, None], axis=1)[:, 0]
        below = np.where(at > 0, np.take_along_axis(total, np.maximum(at - 1, 0)[:, None], axis=1)[:, 0], 0.0)
        part = np.where(above > below, (level - below) / np.maximum(above - below, 1e-300), 1.0)
        out[j] = step * (first + at + np.clip(part, 0.0, 1.0) - 0.5)
    return np.where(variance > 0, out, mean), kept
