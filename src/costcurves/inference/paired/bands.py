"""Two classifiers on the same examples: bands for the difference of their costs, and who is better where."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    BoolArray,
    FloatArray,
    Rng,
    check_choice,
    check_laplace,
    check_level,
    check_positive,
    frozen,
)
from costcurves.inference.bands.differences import SignedBand
from costcurves.inference.bands.error_rates import largest_cost
from costcurves.inference.bands.results import SAMPLINGS, check_pc
from costcurves.inference.paired.critical import difference_critical
from costcurves.inference.paired.limits import (
    difference_limits,
    no_difference,
    no_difference_within,
)
from costcurves.inference.paired.rates import PAIRED_METHODS
from costcurves.inference.paired.resampled import ResampledDifferences, Resamples
from costcurves.inference.rates import check_counts, critical, pointwise_level

BOOTSTRAPS = ("exact", "resample")  # the methods of differences that `PAIRED_METHODS` does not have


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DifferenceBand(SignedBand):
    """Cost of a minus cost of b with limits at each operating point; below zero, a is better.

    Attributes
    ----------
    errors : (float, float)
        The most by which the costs of a and of b can be too high because scores were binned; the limits are wider by
        both.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.paired.bands import difference_band
    >>> pc = np.linspace(0, 1, 11)
    >>> diff = difference_band(2, 30, 100, 6, 4, 100, pc, simultaneous=True)
    >>> diff
    DifferenceBand(11 points in pc [0, 1], mid-p, stratified, 95 % simultaneous)
    >>> [v.better for v in diff.significant()]
    ['undecided', 'a']
    >>> diff.p_values_at([0.0, 1.0]).round(4)
    array([0.5427, 0.    ])
    """

    _counts: tuple[FloatArray, ...] = field(repr=False)
    _sizes: tuple[float, float] = field(repr=False)
    _laplace: float = field(repr=False)
    _known: BoolArray = field(repr=False)
    _resamples: Resamples | None = field(default=None, repr=False, kw_only=True)

    def _largest(self) -> FloatArray:
        """Return the largest possible difference at each point."""
        return _largest_difference(self.pc, self._sizes, self.sampling)

    def reversed(self) -> DifferenceBand:
        """Return the band of b minus a."""
        a, b, c, d = self._counts
        return replace(self._turned(), _counts=(b, a, d, c))

    def p_values_at(self, pc: npt.ArrayLike) -> FloatArray:
        """Return the two-sided p-value of no difference at each operating point, without any adjustment.

        It is the smallest α at which the interval of this method with level 1 - α excludes zero (values below 1e-32
        are not distinguished), and 0 or 1 if the difference is known. If scores were binned, it is the largest p-value
        that their error allows. Points between those of the band use the counts of the nearest one.
        """
        wanted, flat, near = self._nearest(pc)
        counts = tuple(c[near] for c in self._counts)
        if self._resamples is None:
            p = no_difference(counts, self._sizes, flat, self.method, self.sampling, self._laplace)
        else:
            drawn = ResampledDifferences(counts, self._sizes, flat, self.sampling, self._laplace, self._resamples)
            p = drawn.p_values()
        if any(self.errors):
            options = (counts, self._sizes, flat, self.method, self.sampling, self._laplace)
            p = np.maximum(p, no_difference_within(*options, self.errors))
        if (sure := self._known[near]).any():
            net = flat * ((counts[0] - counts[1]) / self._sizes[0])
            net = net + (1 - flat) * ((counts[2] - counts[3]) / self._sizes[1])
            p = np.where(sure & (not any(self.errors)), np.where(net == 0, 1.0, 0.0), p)
        return np.asarray(p.reshape(wanted.shape))


def _largest_difference(pc: FloatArray, sizes: tuple[float, float], sampling: str) -> FloatArray:
    """Return the largest possible difference: 1, or more if the share of positives may be another one."""
    if sampling == "stratified":
        return np.ones_like(pc)
    return largest_cost(pc, sizes[0] / (sizes[0] + sizes[1]))


def difference_band(
    pos_only_a: npt.ArrayLike,
    pos_only_b: npt.ArrayLike,
    n_pos: float,
    neg_only_a: npt.ArrayLike,
    neg_only_b: npt.ArrayLike,
    n_neg: float,
    pc: npt.ArrayLike,
    *,
    level: float = DEFAULT_LEVEL,
    method: str = "mid-p",
    sampling: str = "stratified",
    simultaneous: bool = False,
    ranges: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    laplace: float = 0.0,
    effective: tuple[float, float] | None = None,
    known: npt.ArrayLike = False,
    critical_value: float | None = None,
    n_resamples: int = 2000,
    rng: Rng = 0,
) -> DifferenceBand:
    """Return a band for NE_a(pc) - NE_b(pc) from the examples that only one of the two gets wrong.

    Parameters
    ----------
    pos_only_a, pos_only_b, neg_only_a, neg_only_b : int, or arrays of shape (points,)
        Positives and negatives that only a, or only b, gets wrong at each operating point.
    n_pos, n_neg : float
    pc : array of shape (points,)
    level : float
    method : {"mid-p", "score", "agresti-min", "bonett-price", "gaussian", "exact", "resample"}
        "mid-p" combines the mid-P intervals of the discordant rates in each class (MOVER); see `paired_rate_interval`
        for the others and for why this is the default. "exact" and "resample" take quantiles of the bootstrap
        distribution.
    sampling, simultaneous, n_resamples, rng
        As for `cost_band`.
    ranges : (positives, negatives), optional
        Examples by the points at which they are discordant, `PairedCounts.ranges` of each class. `simultaneous` needs
        them if the counts change with pc.
    laplace : float
        Added to each cell: both wrong, only a, only b, neither.
    effective : (n_pos, n_neg), optional
        Effective sample sizes of weighted data.
    known : bool, or array of shape (points,)
        Where the difference is not an estimate, because each classifier predicts the same class for every case,
        whatever its score. Both limits are the difference itself there.
    critical_value : float, optional
        A simultaneous critical value that was found before, for example for all pairs by `family_critical`.

    Examples
    --------
    >>> from costcurves.inference.paired.bands import difference_band
    >>> diff = difference_band(5, 1, 20, 1, 2, 10, [0.5], level=0.9)
    >>> diff.estimate, diff.lower.round(3), diff.upper.round(3)
    (array([0.05]), array([-0.149]), array([0.241]))
    """
    level, points = check_level(level), check_pc(pc)
    method = check_choice("method", method, (*PAIRED_METHODS, *BOOTSTRAPS))
    sampling = check_choice("sampling", sampling, SAMPLINGS)
    n_pos, n_neg = check_positive("n_pos", n_pos), check_positive("n_neg", n_neg)
    laplace = check_laplace(laplace)
    given = {
        "pos_only_a": (pos_only_a, n_pos),
        "pos_only_b": (pos_only_b, n_pos),
        "neg_only_a": (neg_only_a, n_neg),
        "neg_only_b": (neg_only_b, n_neg),
    }
    arrays = []
    for name, (value, total) in given.items():
        counts = check_counts(name, value, total)[0]
        if counts.size not in (1, points.size) or counts.ndim > 1:
            raise InputError(f"`{name}` must be a number or match `pc`, got shape {counts.shape}")
        arrays.append(np.array(np.broadcast_to(counts, points.shape)))
    raw = tuple(arrays)
    for name, first, second, total in (("pos", 0, 1, n_pos), ("neg", 2, 3, n_neg)):
        if (raw[first] + raw[second] > total * (1 + 1e-12)).any():
            raise InputError(f"`{name}_only_a` + `{name}_only_b` must be at most `n_{name}`")
    sizes = (n_pos, n_neg)
    if effective is not None:
        if method in BOOTSTRAPS:
            raise InputError(f"`method` must not be {method!r} for weighted data: it resamples whole examples")
        sizes = (check_positive("effective", effective[0]), check_positive("effective", effective[1]))
        scale = (sizes[0] / n_pos, sizes[0] / n_pos, sizes[1] / n_neg, sizes[1] / n_neg)
        raw = tuple(c * s for c, s in zip(raw, scale, strict=True))
        if ranges is not None:
            ranges = (np.asarray(ranges[0]) * scale[0], np.asarray(ranges[1]) * scale[2])
    if method in BOOTSTRAPS and not all((c == np.floor(c)).all() for c in (*raw, *map(np.array, sizes))):
        raise InputError(f"`method={method!r}` must have whole counts")

    z = critical(level)
    if critical_value is not None:
        z = check_positive("critical_value", critical_value)
        simultaneous = True
    elif simultaneous:
        z = difference_critical(
            raw, sizes, points, level, method=method, sampling=sampling, laplace=laplace, ranges=ranges
        )
    resamples = None
    if method == "resample":
        resamples = Resamples.of(n_resamples, rng)
        drawn = ResampledDifferences(raw, sizes, points, sampling, laplace, resamples)
        lower, upper = drawn.limits(0.5 * (1 - pointwise_level(z)))
        estimate = difference_limits(raw, sizes, points, 1.0, "gaussian", sampling, laplace)[0]
    else:
        estimate, lower, upper = difference_limits(raw, sizes, points, z, method, sampling, laplace)
    sure = np.array(np.broadcast_to(np.asarray(known, dtype=np.bool_), points.shape))
    if sure.any():
        exact = points * ((raw[0] - raw[1]) / sizes[0]) + (1 - points) * ((raw[2] - raw[3]) / sizes[1])
        estimate, lower, upper = (np.where(sure, exact, found) for found in (estimate, lower, upper))
    largest = _largest_difference(points, sizes, sampling)
    estimate, lower, upper = (frozen(np.clip(a, -largest, largest)) for a in (estimate, lower, upper))
    return DifferenceBand(
        frozen(points), estimate, lower, upper, level, method, sampling, bool(simultaneous), float(z),
        tuple(frozen(c) for c in raw), sizes, laplace, frozen(sure), _resamples=resamples,
    )  # fmt: skip
