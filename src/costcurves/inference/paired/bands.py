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
from costcurves.inference.bands.error_rates import largest_cost
from costcurves.inference.bands.results import SAMPLINGS, SignedBand, check_pc
from costcurves.inference.optimism import joint_level, least_critical
from costcurves.inference.paired.critical import difference_critical
from costcurves.inference.paired.limits import (
    PairedErrors,
    difference_limits,
    no_difference,
    no_difference_within,
)
from costcurves.inference.paired.rates import PAIRED_METHODS
from costcurves.inference.paired.resampled import ResampledDifferences, Resamples
from costcurves.inference.rates import Limits, check_counts, critical, mid_p_at, pointwise_level

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
        how = (self.method, self.sampling, self._laplace, self._resamples)
        p = equal_cost_p_values(counts, self._sizes, flat, self._known[near], *how, self._widened(near))
        return np.asarray(p.reshape(wanted.shape))


def equal_cost_p_values(
    counts: PairedErrors,
    sizes: tuple[float, float],
    pc: FloatArray,
    known: BoolArray,
    method: str,
    sampling: str,
    laplace: float,
    resamples: Resamples | None,
    errors: tuple[FloatArray | float, FloatArray | float] = (0.0, 0.0),
) -> FloatArray:
    """Return the two-sided p-value of no difference for each of several counts, each at its own operating point.

    All arrays have one entry per p-value; so do `errors`, unless they are the same for all.
    """
    first, second = (np.broadcast_to(error, pc.shape) for error in errors)
    binned = np.flatnonzero((first != 0) | (second != 0))
    if resamples is None:
        p = np.ones(pc.size)
        exact = np.flatnonzero((first == 0) & (second == 0))
        p[exact] = no_difference(tuple(c[exact] for c in counts), sizes, pc[exact], method, sampling, laplace)
    else:
        p = ResampledDifferences(counts, sizes, pc, sampling, laplace, resamples).p_values()
    if binned.size:
        some = tuple(c[binned] for c in counts)
        how = method if resamples is None else "exact"
        wider = no_difference_within(some, sizes, pc[binned], how, sampling, laplace, (first[binned], second[binned]))
        p[binned] = wider if resamples is None else np.maximum(p[binned], wider)
    sure = known.copy()
    sure[binned] = False
    if sure.any():
        net = pc * ((counts[0] - counts[1]) / sizes[0])
        net = net + (1 - pc) * ((counts[2] - counts[3]) / sizes[1])
        p = np.where(sure, np.where(net == 0, 1.0, 0.0), p)
    return np.asarray(p)


def _largest_difference(pc: FloatArray, sizes: tuple[float, float], sampling: str) -> FloatArray:
    """Return the largest possible difference: 1, or more if the share of positives may be another one."""
    if sampling == "stratified":
        return np.ones_like(pc)
    return largest_cost(pc, sizes[0] / (sizes[0] + sizes[1]))


def check_method(method: str, *, weighted: bool = False) -> str:
    """Return the method of a difference after checking that it exists, and that weighted data can be answered by it."""
    method = check_choice("method", method, (*PAIRED_METHODS, *BOOTSTRAPS))
    if weighted and method in BOOTSTRAPS:
        raise InputError(f"`method` must not be {method!r} for weighted data: it resamples whole examples")
    return method


def _check_whole(method: str, counts: PairedErrors) -> None:
    """Refuse counts that are not whole where examples are resampled."""
    if method in BOOTSTRAPS and not all((c == np.floor(c)).all() for c in counts):
        raise InputError(f"`method={method!r}` must have whole counts")


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
    chosen: bool = False,
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
    chosen : bool
        Whether thresholds were chosen on these cases, for which the simultaneous critical value then allows.

    Examples
    --------
    >>> from costcurves.inference.paired.bands import difference_band
    >>> diff = difference_band(5, 1, 20, 1, 2, 10, [0.5], level=0.9)
    >>> diff.estimate, diff.lower.round(3), diff.upper.round(3)
    (array([0.05]), array([-0.149]), array([0.241]))
    """
    level, points = check_level(level), check_pc(pc)
    method = check_method(method, weighted=effective is not None)
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
        sizes = (check_positive("effective", effective[0]), check_positive("effective", effective[1]))
        scale = (sizes[0] / n_pos, sizes[0] / n_pos, sizes[1] / n_neg, sizes[1] / n_neg)
        raw = tuple(c * s for c, s in zip(raw, scale, strict=True))
        if ranges is not None:
            ranges = (np.asarray(ranges[0]) * scale[0], np.asarray(ranges[1]) * scale[2])
    _check_whole(method, (*raw, *map(np.array, sizes)))

    z = critical(level)
    if critical_value is not None:
        z = check_positive("critical_value", critical_value)
        simultaneous = True
    elif simultaneous:
        aim = joint_level(level) if chosen else level
        z = difference_critical(
            raw, sizes, points, aim, method=method, sampling=sampling, laplace=laplace, ranges=ranges
        )
        if chosen and points.size > 1:
            z = max(z, least_critical(level))
    resamples = Resamples.of(n_resamples, rng) if method == "resample" else None
    sure = np.array(np.broadcast_to(np.asarray(known, dtype=np.bool_), points.shape))
    estimate, lower, upper = band_limits(raw, sizes, points, z, sure, method, sampling, laplace, resamples)
    return DifferenceBand(
        frozen(points), frozen(estimate), frozen(lower), frozen(upper), level, method, sampling, bool(simultaneous),
        float(z), tuple(frozen(c) for c in raw), sizes, laplace, frozen(sure), _resamples=resamples,
    )  # fmt: skip


def band_limits(
    counts: PairedErrors,
    sizes: tuple[float, float],
    pc: FloatArray,
    z: float,
    known: BoolArray,
    method: str,
    sampling: str,
    laplace: float,
    resamples: Resamples | None,
    limits: Limits = mid_p_at,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return estimate, lower and upper of several counts, each at its own operating point, at critical value z."""
    if resamples is not None:
        drawn = ResampledDifferences(counts, sizes, pc, sampling, laplace, resamples)
        lower, upper = drawn.limits(0.5 * (1 - pointwise_level(z)))
        estimate = difference_limits(counts, sizes, pc, 1.0, "gaussian", sampling, laplace)[0]
    else:
        estimate, lower, upper = difference_limits(counts, sizes, pc, z, method, sampling, laplace, limits)
    if known.any():
        exact = pc * ((counts[0] - counts[1]) / sizes[0]) + (1 - pc) * ((counts[2] - counts[3]) / sizes[1])
        estimate, lower, upper = (np.where(known, exact, found) for found in (estimate, lower, upper))
    largest = _largest_difference(pc, sizes, sampling)
    estimate, lower, upper = (np.clip(a, -largest, largest) for a in (estimate, lower, upper))
    return estimate, lower, upper


def difference_bands(
    counts: PairedErrors,
    sizes: tuple[float, float],
    pc: FloatArray,
    z: float,
    known: BoolArray,
    *,
    level: float,
    method: str,
    sampling: str,
    laplace: float,
    n_resamples: int,
    rng: Rng,
    limits: Limits = mid_p_at,
) -> list[DifferenceBand]:
    """Return one simultaneous band for each row of counts of shape (pairs, points), all at critical value z.

    The counts are not checked, and those of weighted data are scaled to the effective `sizes`. Otherwise the bands are
    those of `difference_band`, found for all pairs at once. `limits` are those of a rate that "mid-p" combines.
    """
    _check_whole(method, counts)
    resamples = Resamples.of(n_resamples, rng) if method == "resample" else None
    shape = known.shape
    flat = tuple(np.ascontiguousarray(c, dtype=np.float64).ravel() for c in counts)
    how = (method, sampling, laplace, resamples, limits)
    found = band_limits(flat, sizes, np.tile(pc, shape[0]), z, known.ravel(), *how)
    estimate, lower, upper, a, b, c, d = (frozen(x.reshape(shape)) for x in (*found, *flat))
    frozen(known)
    return [
        DifferenceBand(
            pc, estimate[i], lower[i], upper[i], level, method, sampling, True, z,
            (a[i], b[i], c[i], d[i]), sizes, laplace, known[i], _resamples=resamples,
        )
        for i in range(shape[0])
    ]  # fmt: skip
