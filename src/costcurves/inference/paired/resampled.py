"""Resampled differences of two classifiers' costs: limits and p-values that come from the same resamples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from costcurves._base.progress import track
from costcurves._base.validation import FloatArray, IntArray, Rng, check_resampling, check_rng
from costcurves.inference.paired.limits import PairedErrors, difference_strata

# Differences closer to zero than this part of the largest possible difference are zero.
_ZERO = 1e-12


class Resamples(NamedTuple):
    """The number of resamples and their seed, so that the same resamples can be drawn again."""

    size: int
    seed: int

    @classmethod
    def of(cls, n_resamples: Any, rng: Rng) -> Resamples:
        """Return the resamples that a user's number and generator (or seed, or None) stand for."""
        return cls(check_resampling(n_resamples, rng), int(check_rng(rng).integers(2**63)))


class ResampledDifferences:
    """The cost of a minus the cost of b in resamples, at each operating point.

    Points with the same counts have the same resamples. Exchanging the classifiers changes only the sign of the
    differences, and exchanging the classes changes nothing: the counts are always drawn in the same one of the four
    orders.

    Parameters
    ----------
    counts, sizes, pc, sampling, laplace
        As in `difference_limits`.
    resamples : Resamples

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.paired.resampled import ResampledDifferences, Resamples
    >>> counts = tuple(np.array([float(k)]) for k in (5, 1, 1, 2))
    >>> drawn = ResampledDifferences(counts, (20, 10), np.array([0.5]), "stratified", 0.0, Resamples(2000, 1))
    >>> low, high = drawn.limits(0.05)
    >>> bool(low[0] < 0 < high[0]), bool(drawn.p_values()[0] > 0.1)
    (True, True)
    """

    def __init__(
        self,
        counts: PairedErrors,
        sizes: tuple[float, float],
        pc: FloatArray,
        sampling: str,
        laplace: float,
        resamples: Resamples,
    ) -> None:
        self._counts, self._sizes, self._pc = counts, sizes, pc
        self._sampling, self._laplace, self._resamples = sampling, laplace, resamples

    def limits(self, tail: float) -> tuple[FloatArray, FloatArray]:
        """Return the limits: of 100 resamples at a tail of 5 %, the fifth lowest and highest.

        If a tail has less than one resample, the limits are -1 and 1.
        """
        size = self._resamples.size
        rank = int(np.floor(size * tail + 1e-9))
        low, high = np.full(self._pc.size, -1.0), np.full(self._pc.size, 1.0)
        if rank == 0:
            return low, high
        for some, drawn, even in self._each():
            part = np.partition(drawn, (rank - 1, size - rank), axis=0)
            first, last = part[rank - 1], part[size - rank]
            low[some], high[some] = (0.5 * (first - last), 0.5 * (last - first)) if even else (first, last)
        return low, high

    def p_values(self) -> FloatArray:
        """Return the smallest two-sided level at which the limits exclude zero."""
        out = np.ones(self._pc.size)
        for some, drawn, even in self._each():
            if not even:
                fewer = np.minimum((drawn <= 0).sum(axis=0), (drawn >= 0).sum(axis=0))
                out[some] = np.minimum(1.0, 2 * (fewer + 1) / self._resamples.size)
        return out

    def _each(self) -> Iterator[tuple[IntArray, FloatArray, bool]]:
        """Yield points with the same counts, their resamples, and whether exchanging a and b changes nothing."""
        rows, which = np.unique(np.stack(self._counts, axis=1), axis=0, return_inverse=True)
        for k in track(range(rows.shape[0]), "resampling"):
            some = np.flatnonzero(which.ravel() == k)
            a, b, c, d = (float(x) for x in rows[k])
            n, m = self._sizes
            pos, neg = (a, b, n), (c, d, m)
            heavier = np.sign(self._pc[some] - 0.5)  # 1 where the positives weigh more, -1 where the negatives do
            for side in np.unique(heavier).tolist():
                mine = some[heavier == side]
                weights = self._pc[mine] / n, (1 - self._pc[mine]) / m
                straight, turned = (
                    max(
                        ((_turned(pos, sign), _turned(neg, sign), side), (0, 1)),
                        ((_turned(neg, sign), _turned(pos, sign), -side), (1, 0)),
                    )
                    for sign in (1, -1)
                )
                (first, second, _), order = max(straight, turned)
                nets = self._nets(first, second)
                drawn = sum(np.multiply.outer(net, weights[k]) for net, k in zip(nets, order, strict=True))
                drawn = np.where(np.abs(drawn) <= _ZERO, 0.0, drawn if straight >= turned else -drawn)
                yield mine, drawn, straight[0] == turned[0]

    def _nets(self, one: tuple[float, ...], two: tuple[float, ...]) -> tuple[IntArray, IntArray]:
        """Return by how many examples of each class a is wrong more often than b, in each resample."""
        counts = tuple(np.array([k]) for k in (*one[:2], *two[:2]))
        strata = difference_strata(counts, (one[2], two[2]), np.array([0.5]), self._sampling, self._laplace)
        whole = [int(k) for k in (*one, *two)]
        rng = np.random.default_rng([self._resamples.seed, *whole])
        drawn = []
        for s in strata:
            q = s.probabilities[0]
            table = rng.multinomial(s.draws, np.append(q, max(0.0, 1.0 - q.sum())), self._resamples.size)
            drawn += [table[:, i] - table[:, i + 1] for i in range(0, q.size, 2)]
        return drawn[0], drawn[1]


def _turned(counts: tuple[float, ...], sign: int) -> tuple[float, ...]:
    """Return the counts of one class with the two classifiers in their order, or exchanged."""
    return counts if sign > 0 else (counts[1], counts[0], counts[2])
