"""Quantiles of many operating points at once, by batched transforms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._validation import BoolArray, FloatArray, IntArray
from costcurves.inference._lattice import TAIL, Cells, bernstein, common_step, lagrange, power


def integer_plan(values: FloatArray) -> tuple[IntArray, FloatArray] | None:
    """Return whole multiples (cells,) and a step (points,) with values = step · multiples, or None."""
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


def integer_tables(n: int, q: FloatArray, whole: IntArray, steps: FloatArray) -> Any:
    """Return steps, first atoms (points,) and probabilities (points, window) of Σ whole · counts."""
    mean = n * (q @ whole)
    variance = n * (q @ whole.astype(np.float64) ** 2 - (q @ whole) ** 2)
    largest = float(np.abs(whole).max()) + float(np.abs(q @ whole).max())
    low, high = n * min(0, int(whole.min())), n * max(0, int(whole.max()))
    reach = bernstein(float(variance.max(initial=0.0)), largest)
    size = min(2 * math.ceil(reach) + 2, high - low + 1)
    if size > 2**14:
        return None
    length = 1 << max(1, (size - 1).bit_length())
    pmf = np.zeros((q.shape[0], length))
    pmf[:, 0] = np.maximum(1.0 - q.sum(axis=1), 0.0)
    for c, k in enumerate(whole.tolist()):
        pmf[:, k % length] += q[:, c]
    folded = np.fft.irfft(power(np.fft.rfft(pmf, axis=1), n), length, axis=1)
    first = np.clip(np.floor(mean) - math.ceil(reach), low, max(low, high - size + 1)).astype(np.int64)
    columns = (first[:, None] + np.arange(size)) % length
    mass = np.maximum(np.take_along_axis(folded, columns, axis=1), 0.0)
    return steps, first, mass / mass.sum(axis=1, keepdims=True)


def batched_quantile(level: float, rows: list[Any], mean: FloatArray, std: FloatArray) -> FloatArray:
    """Return one quantile a point of the sum of one or two scaled integer variables."""
    if len(rows) == 1:
        rows = [*rows, (np.zeros_like(rows[0][0]), np.zeros_like(rows[0][1]), np.ones((mean.size, 1)))]
    (a, i0, p1), (b, j0, p2) = sorted(rows, key=lambda r: r[2].shape[1])
    # A stratum of value zero at this point (pc = 0 or 1) has no step; any step with one atom at 0 will do.
    flat2 = b == 0
    b = np.where(flat2, 1.0, b)
    j0 = np.where(flat2, 0, j0)
    total = np.concatenate([np.zeros((mean.size, 1)), np.cumsum(p2, axis=1)], axis=1)
    total[flat2, 1:] = 1.0
    top = np.where(flat2, 1, p2.shape[1])[:, None]
    # Columns that carry no mass anywhere are not summed.
    used = np.flatnonzero(p1.max(axis=0) > 1e-17)
    p1 = np.ascontiguousarray(p1[:, used])
    shift = (a * i0)[:, None] + a[:, None] * used + (b * j0)[:, None]
    offset = np.arange(mean.size)[:, None] * total.shape[1]
    flat = total.ravel()

    def room(x: FloatArray) -> FloatArray:
        return np.asarray(np.floor((x[:, None] - shift) / b[:, None] + 1e-9))

    def cdf(x: FloatArray) -> FloatArray:
        index = np.clip(room(x) + 1, 0, top).astype(np.intp)
        return np.asarray(np.einsum("ij,ij->i", flat[index + offset], p1))

    low = shift.min(axis=1) - b
    high = shift.max(axis=1) + b * (top[:, 0] - 1)
    target = level - 1e-13
    certain = std <= 1e-12 * np.maximum(np.abs(low), np.abs(high))
    width = np.where(certain, 1.0, std)
    from scipy.special import ndtri

    def probit(p: FloatArray | float) -> FloatArray:
        return np.asarray(ndtri(np.clip(p, 1e-15, 1 - 1e-15)))

    # On the normal scale the distribution function is nearly a line, so secants close in within a few turns.
    aim = probit(target)
    y_low, y_high = np.full(mean.size, -8.0), np.full(mean.size, 8.0)
    close = 1e-5 * width
    x = np.clip(mean + width * aim, low, high)
    for turn in range(200):
        value = cdf(x)
        reached, y = value >= target, probit(value)
        high, y_high = np.where(reached, x, high), np.where(reached, y, y_high)
        low, y_low = np.where(reached, low, x), np.where(reached, y_low, y)
        if (certain | (high - low <= close)).all():
            break
        # Where atoms are far apart no bracket closes quickly, and none needs to: few atoms are in it.
        if turn % 6 == 5 and (np.clip(room(high), -1, top) - np.clip(room(low), -1, top)).sum() < 2**17:
            break
        guess = low + (high - low) * np.clip((aim - y_low) / np.maximum(y_high - y_low, 1e-9), 0.0, 1.0)
        # Aim past the root by a little, towards the end that is still far, so that it comes near as well.
        past = np.where(high - guess > guess - low, 1.0, -1.0) * 0.4 * close
        middle = 0.5 * (low + high)
        x = guess + past if turn % 4 != 3 else middle
        x = np.where((x <= low) | (x >= high), middle, x)
    return np.asarray(np.where(certain, mean, first_atom(low, high, target - cdf(low), b, shift, top, p1, p2, flat2)))


def first_atom(
    low: FloatArray,
    high: FloatArray,
    missing: FloatArray,
    step: FloatArray,
    shift: FloatArray,
    top: npt.NDArray[Any],
    p1: FloatArray,
    p2: FloatArray,
    flat2: npt.NDArray[np.bool_],
) -> FloatArray:
    """Return, for each point, the first atom in (low, high] at which the missing probability is reached."""

    def last(x: FloatArray) -> npt.NDArray[np.int64]:
        room = np.floor((x[:, None] - shift) / step[:, None] + 1e-9)
        return np.clip(room, -1, top - 1).astype(np.int64)

    before = last(low)
    count = last(high) - before
    row, column = np.nonzero(count)
    often = count[row, column]
    row, column = np.repeat(row, often), np.repeat(column, often)
    index = np.arange(row.size) - np.repeat(np.cumsum(often) - often, often) + before[row, column] + 1
    value = shift[row, column] + step[row] * index
    mass = p1[row, column] * np.where(flat2[row], 1.0, p2[row, np.minimum(index, p2.shape[1] - 1)])
    order = np.lexsort((value, row))
    row, value, mass = row[order], value[order], mass[order]
    total = np.cumsum(mass)
    start = np.searchsorted(row, np.arange(low.size))
    begun = np.concatenate([[0.0], total])[start]
    # Rounding may leave the last atom a little short; it is the answer all the same.
    enough = np.flatnonzero(total - begun[row] >= missing[row] - 1e-13)
    found = high.copy()
    found[row[enough[::-1]]] = value[enough[::-1]]
    return found


# What `lattice_quantiles` promises: levels, and places in standard deviations or parts of the largest value.
LEVEL_ERROR = 1e-3
PLACE_ERROR = (0.05, 0.02)
# Beyond four standard deviations of the smoothing normal lies less than this.
_BEYOND_FOUR = 3.2e-5


def lattice_quantiles(
    tables: list[Cells], q: FloatArray, mean: FloatArray, variance: FloatArray, length: int
) -> tuple[FloatArray, BoolArray]:
    """Return quantiles (levels, points) from one interpolated lattice a point, and which points keep the promise.

    Where they do, each quantile x of level q has F(x - r) <= q + 0.001 and F(x + r) >= q - 0.001, with F the exact
    distribution function and r the larger of 0.05 standard deviations and 2 % of the largest value of a draw.

    The lattice's distribution is smoothed with a normal of s steps and compared with the exact one, smoothed so too, by
    the integral of their transforms' difference: at most λ · |f(1-f²)(4-f²)|/120 · (ωh)^5 times the largest modulus,
    λ being the expected draws that are not of value 0. A smoothed distribution function lies between those of
    the unsmoothed one 4 s to either side.
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
