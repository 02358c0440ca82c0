"""The exact joint distribution of two integers that are counted in the same draws, and of weighted sums of them.

It gives exact limits of costs of two kinds of errors that share the draws (full sampling), and their tails at zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import FloatArray, IntArray
from costcurves.inference.kernel.distribution import BootstrapDistribution, exact_distribution
from costcurves.inference.kernel.lattice import bernstein, small_power
from costcurves.inference.kernel.strata import Stratum

# Places that are closer than this part of a step are the same place.
_SAME = 1e-9
# Sums of probabilities are wrong by less than this, so tails are compared with this tolerance.
_ROUNDING = 1e-13
# The number of places of a joint distribution that takes milliseconds, and the largest that is computed at all.
_FEW, _MOST = 2**17, 2**23
# Differences closer to zero than this part of a standard deviation are zero.
ZERO = 1e-9
# With more places, a distribution whose error is smaller than this is used instead.
_SMALL = 2e-4


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """The joint distribution of X and Y: `total[i, j]` is P(Y = lowest_y + i and X < lowest_x + j).

    Examples
    --------
    Two draws; each adds 1 to X or takes 1 from it, or adds 1 to Y, with probability 1/4 each.

    >>> from costcurves.inference.kernel.joint import Plane
    >>> plane = Plane.of(2, [0.25, 0.25, 0.25, 0.0])
    >>> float(plane.at_most(1.0, 1.0, 0.0).round(6)), float(plane.at_least(1.0, 1.0, 0.0).round(6))
    (0.5, 0.8125)
    >>> float(plane.upper(1.0, 1.0, 0.05)), float(plane.lower(1.0, 1.0, 0.05))
    (2.0, -2.0)
    """

    lowest_x: int
    lowest_y: int
    total: FloatArray

    @classmethod
    def of(cls, draws: int, q: npt.ArrayLike, most: float = math.inf) -> Plane | None:
        """Return the distribution for draws that are +1 or -1 of X, +1 or -1 of Y with these probabilities.

        None if the window that holds all but 1e-15 of the mass has more than `most` places.
        """
        up, down, right, left = (float(p) for p in np.asarray(q, dtype=np.float64))
        spans = [_window(draws, p, m) for p, m in ((up, down), (right, left))]
        (x, x_end), (y, y_end) = spans
        if (x_end - x + 1) * (y_end - y + 1) > most:
            return None
        from scipy.fft import irfft2, next_fast_len

        # At least three places, so that +1 and -1 are not the same place.
        lengths = [next_fast_len(max(end - start + 1, 3), real=True) for start, end in ((y, y_end), (x, x_end))]
        turn_y = 2 * np.pi / lengths[0] * np.arange(lengths[0])
        turn_x = 2 * np.pi / lengths[1] * np.arange(lengths[1] // 2 + 1)
        # One minus the transform of a draw, which is small if few draws are discordant.
        lacks_x = (up + down) * 2 * np.sin(0.5 * turn_x) ** 2 + 1j * (up - down) * np.sin(turn_x)
        lacks_y = (right + left) * 2 * np.sin(0.5 * turn_y) ** 2 + 1j * (right - left) * np.sin(turn_y)
        folded = irfft2(small_power(1.0 - np.add.outer(lacks_y, lacks_x), draws), s=lengths)
        mass = np.roll(folded, (-(y % lengths[0]), -(x % lengths[1])), (0, 1))[: y_end - y + 1, : x_end - x + 1]
        mass = np.maximum(mass, 0.0)
        total = np.zeros((mass.shape[0], mass.shape[1] + 1))
        np.cumsum(mass / mass.sum(), axis=1, out=total[:, 1:])
        return cls(x, y, total)

    def at_most(self, u: Any, v: Any, value: Any) -> FloatArray:
        """Return P(u X + v Y <= value), for weights u, v >= 0 that are not both 0."""
        return self._up_to(u, v, value, 1)

    def at_least(self, u: Any, v: Any, value: Any) -> FloatArray:
        """Return P(u X + v Y >= value)."""
        return np.asarray(1.0 - self._up_to(u, v, value, -1))

    def upper(self, u: Any, v: Any, tail: float) -> FloatArray:
        """Return the smallest value that u X + v Y exceeds with a probability of at most `tail`."""
        u, v = np.broadcast_arrays(np.asarray(u, dtype=np.float64), np.asarray(v, dtype=np.float64))
        ends_x, ends_y = self._ends()
        low, high = (u * ends_x[i] + v * ends_y[i] for i in (0, 1))
        low = low - np.maximum(u, v)
        step = np.where(np.minimum(u, v) > 0, np.minimum(u, v), np.maximum(u, v))
        for _ in range(200):
            middle = 0.5 * (low + high)
            if (high - low <= 0.25 * _SAME * step).all() or ((middle <= low) | (middle >= high)).all():
                break
            held = self.at_most(u, v, middle) >= 1.0 - tail - _ROUNDING
            high, low = np.where(held, middle, high), np.where(held, low, middle)
        return self._atom(u, v, high)

    def lower(self, u: Any, v: Any, tail: float) -> FloatArray:
        """Return the largest value that u X + v Y falls below with a probability of at most `tail`."""
        return -self._mirrored().upper(u, v, tail)

    def _mirrored(self) -> Plane:
        """Return the distribution of -X and -Y."""
        (_, x_end), (_, y_end) = self._ends()
        mass = np.diff(self.total, axis=1)[::-1, ::-1]
        return Plane(-x_end, -y_end, np.concatenate([np.zeros((mass.shape[0], 1)), np.cumsum(mass, axis=1)], axis=1))

    def _ends(self) -> tuple[tuple[int, int], tuple[int, int]]:
        rows, columns = self.total.shape
        return (self.lowest_x, self.lowest_x + columns - 2), (self.lowest_y, self.lowest_y + rows - 1)

    def _reached(self, u: Any, v: Any, value: Any, sign: int) -> tuple[FloatArray, FloatArray]:
        """Return how many places of X are at or below the value (sign 1) or below it (-1) at each Y, and the Y."""
        u, v, value = (np.asarray(a, dtype=np.float64)[..., None] for a in (u, v, value))
        y = self.lowest_y + np.arange(self.total.shape[0], dtype=np.float64)
        left = value - v * y
        with np.errstate(divide="ignore", invalid="ignore"):
            room = left / u - self.lowest_x
            reached = np.floor(room + _SAME) + 1 if sign > 0 else np.ceil(room - _SAME)
        # If X has no weight, Y alone decides.
        alone = np.where(left + sign * _SAME * v >= 0, np.inf, -np.inf)
        return np.asarray(np.where(u > 0, reached, alone), dtype=np.float64), y

    def _up_to(self, u: Any, v: Any, value: Any, sign: int) -> FloatArray:
        reached, _ = self._reached(u, v, value, sign)
        column = np.clip(reached, 0, self.total.shape[1] - 1).astype(np.intp)
        row = np.arange(self.total.shape[0])
        return np.asarray(np.clip(self.total[row, column].sum(axis=-1), 0.0, 1.0))

    def _atom(self, u: FloatArray, v: FloatArray, value: FloatArray) -> FloatArray:
        """Return the largest value of u X + v Y that is not above `value`."""
        reached, y = self._reached(u, v, value, 1)
        last = self.total.shape[1] - 2
        x = self.lowest_x + np.minimum(np.where(u[..., None] > 0, reached - 1, last), last)
        atoms = np.where(reached > 0, u[..., None] * x + v[..., None] * y, -np.inf)
        best = atoms.max(axis=-1)
        lowest = u * self.lowest_x + v * self.lowest_y
        found = np.where(np.isfinite(best), best, lowest)
        step = np.where(np.minimum(u, v) > 0, np.minimum(u, v), np.maximum(u, v))
        return np.where(np.abs(found) <= 2 * _SAME * step, 0.0, found)


def _window(draws: int, up: float, down: float) -> tuple[int, int]:
    """Return the integers between which the net number of ups lies, except with probability 1e-15."""
    mean, variance = draws * (up - down), draws * max(up + down - (up - down) ** 2, 0.0)
    reach = bernstein(variance, 1.0 + abs(up - down))
    low = max(-draws if down > 0 else 0, math.floor(mean - reach))
    high = min(draws if up > 0 else 0, math.ceil(mean + reach))
    return low, high


class SharedDraws:
    """Sums u X + v Y at each operating point, X and Y being net counts of the same draws.

    Parameters
    ----------
    draws : int
    q : array of shape (points, 4)
        Probabilities that one draw is +1 of X, -1 of X, +1 of Y, -1 of Y.
    u, v : arrays of shape (points,)
        Weights >= 0.

    Notes
    -----
    The joint distribution of X and Y is computed once for all points with the same probabilities (`Plane`), and its
    sums are exact. If it has more than 131,072 places, `exact_distribution` is used instead if its error is at most
    2e-4. Limits and probabilities of a point come from the same distribution, so that a limit is beyond zero iff the
    probability of zero or beyond is at most the tail.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.kernel.joint import SharedDraws
    >>> sums = SharedDraws(30, [[5 / 30, 1 / 30, 1 / 30, 2 / 30]], np.array([0.5 / 20]), np.array([0.5 / 10]))
    >>> low, high = sums.limits(0.05)
    >>> low.round(3), high.round(3)
    (array([-0.125]), array([0.225]))
    >>> sums.around_zero()[0].round(3)
    array([0.354])
    """

    def __init__(self, draws: int, q: npt.ArrayLike, u: FloatArray, v: FloatArray) -> None:
        self.draws, self.q, self.u, self.v = draws, np.asarray(q, dtype=np.float64), u, v

    def limits(self, tail: float) -> tuple[FloatArray, FloatArray]:
        """Return the limits that are exceeded to either side with a probability of at most `tail`."""
        low, high = np.empty(self.u.size), np.empty(self.u.size)
        for some, found in self._distributions():
            if isinstance(found, Plane):
                low[some] = found.lower(self.u[some], self.v[some], tail)
                high[some] = found.upper(self.u[some], self.v[some], tail)
            else:
                low[some], high[some] = found.quantile([tail, 1.0 - tail])
        return low, high

    def around_zero(self) -> tuple[FloatArray, FloatArray]:
        """Return the probabilities of at most zero and of at least zero."""
        below, above = np.empty(self.u.size), np.empty(self.u.size)
        for some, found in self._distributions():
            if isinstance(found, Plane):
                below[some] = found.at_most(self.u[some], self.v[some], 0.0)
                above[some] = found.at_least(self.u[some], self.v[some], 0.0)
            else:
                below[some], above[some] = zero_tails(found)
        return below, above

    def _distributions(self) -> Iterator[tuple[IntArray, Plane | BootstrapDistribution]]:
        """Yield points with the distribution that serves them."""
        rows, which = np.unique(self.q, axis=0, return_inverse=True)
        for k, row in enumerate(rows):
            members = np.flatnonzero(which.ravel() == k)
            plane = Plane.of(self.draws, row, _FEW)
            if plane is not None:
                yield members, plane
                continue
            left = []
            for j in members.tolist():
                u, v = self.u[j], self.v[j]
                found = exact_distribution(Stratum(self.draws, row, np.array([u, -u, v, -v])))
                if found.error <= _SMALL and found.resolution == 0:
                    yield np.array([j]), found
                else:
                    left.append((j, found))
            plane = Plane.of(self.draws, row, _MOST) if left else None
            for j, found in left:
                yield np.array([j]), found if plane is None else plane


def zero_tails(found: BootstrapDistribution) -> tuple[float, float]:
    """Return the probabilities of at most zero and of at least zero, up to rounding.

    Examples
    --------
    >>> from costcurves.inference.kernel.distribution import exact_distribution
    >>> from costcurves.inference.kernel.strata import Stratum
    >>> from costcurves.inference.kernel.joint import zero_tails
    >>> zero_tails(exact_distribution(Stratum(2, [0.25, 0.25], [1.0, -1.0])))
    (0.6875, 0.6875)
    """
    near = ZERO * max(found.std, 1e-300)
    return float(found.cdf(near)), 1.0 - float(found.cdf(-near))
