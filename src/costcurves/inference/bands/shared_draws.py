"""Costs of two kinds of errors that share the draws (full sampling): exact limits, and the tails at zero."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import FloatArray, IntArray
from costcurves.inference.kernel.distribution import BootstrapDistribution, exact_distribution
from costcurves.inference.kernel.plane import Plane
from costcurves.inference.kernel.strata import Stratum

# The number of places of a joint distribution that takes milliseconds, and the largest that is computed at all.
_FEW, _MOST = 2**17, 2**23
# Differences closer to zero than this part of a standard deviation are zero.
ZERO = 1e-9
# With more places, a distribution whose error is smaller than this is used instead.
_SMALL = 2e-4


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
    >>> from costcurves.inference.bands.shared_draws import SharedDraws
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
    >>> from costcurves.inference.bands.shared_draws import zero_tails
    >>> zero_tails(exact_distribution(Stratum(2, [0.25, 0.25], [1.0, -1.0])))
    (0.6875, 0.6875)
    """
    near = ZERO * max(found.std, 1e-300)
    return float(found.cdf(near)), 1.0 - float(found.cdf(-near))
